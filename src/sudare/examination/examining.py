"""Examining what is about to be published, or was: find out what it is, run the attacks that apply, tell why others do not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from sudare.attacks.verdicts import AttackOutcome, AttackReport
from sudare.bilingual import Words
from sudare.errors import InputError, ParameterError
from sudare.examination.described_tables import read_described_tables
from sudare.examination.findings import Examination, NotApplied, Remark
from sudare.examination.known_releases import find_known_releases
from sudare.examination.linked_tables import (
    average_views,
    difference_views,
    reconstruct_views,
    sharpest_look,
    with_different_names,
)
from sudare.examination.private_tables import infer_membership, law_of_release, remarks_on, view_of_release
from sudare.examination.series_windows import (
    BOUNDED_BY_WINDOW,
    SERIES,
    SERIES_ALONE,
    PublishedWindow,
    average_windows,
    remarks_on_windows,
    windows_of,
)
from sudare.examination.subjects import Subject, as_stated, open_subject
from sudare.examination.views import CommonDomain, IncompatibleTables, TableView
from sudare.parameters import exact_fraction, exact_integer

__all__ = ["examine"]

Progress = Callable[[str, float | None], None]
"""Told what is being done, and which share of it where this is known."""

Found = AttackReport | NotApplied

NO_RECORDS = Words(
    "There are no records in the folder: it holds a table.", "フォルダにあるのは表で、個票はありません。"
)
NO_TABLE = Words("There is no table in the folder: it holds records.", "フォルダにあるのは個票で、表はありません。")
NOTHING_HIDDEN = Words(
    "No cell is hidden: every count has noise.", "秘匿セルはありません(全ての度数にノイズがあります)。"
)
ONE_TABLE = Words(
    "Needs further tables of the same people: give them with --with, or a --ledger that knows them.",
    "同じ人々についての別の表が必要です。--with、またはそれらを記録した --ledger を指定してください。",
)
BOUNDED = Words(
    "Records with a budget are nobody's: what can be learned from them is bounded by epsilon.",
    "予算を伴うレコードは実在の個人のものではなく、得られる情報は ε で抑えられています。",
)
RECORDS_ALONE = Words(
    "Records are attacked together with other records alone, without a budget and with a column that both have.",
    "個票は、予算を使わない、共通の列を持つ別の個票とだけ組み合わせて攻撃します。",
)


def examine(
    folder: str | Path,
    *,
    data: str | Path | None = None,
    population: str | Path | None = None,
    by_chance: bool = False,
    outside: str | Path | None = None,
    by: Sequence[str] = (),
    others: Iterable[str | Path] = (),
    ledger: str | None = None,
    dataset: str | None = None,
    threshold: int | None = None,
    seconds: float = 60.0,
    progress: Progress | None = None,
) -> Examination:
    r"""Attack what a folder publishes, in every way that applies to it.

    Nothing is written. What is found speaks of protected people, and is for those who decide about the publication.

    Args:
        folder: a release, a tick or a window's report of a series, protected records, or a protected table; or a TOML file that
            describes tables of counts.
        data: the people behind it, for their holder.
        population: other people like them, who are not in the data.
        by_chance: whether a fair coin decided for each person of both files whether it is in the data. Only then does how well
            they are told apart say anything against a budget.
        outside: a file of people that an attacker may have, to be looked for among records.
        by: the columns by which to look for them; the quasi-identifiers if left out.
        others: folders or descriptions of further publications about the same people.
        ledger: where it is noted what else was published about the data set.
        dataset: the name of the data set in the ledger.
        threshold: counts from 1 to below it are too small to be known; as the tables say, or 3.
        seconds: how long to search for people behind tables.
        progress: called with the stage, and the share of it that is done.

    Raises:
        InputError: if the folder is none of these, or a file is not what it should be.
        ChangedFolderError: if a folder is not as it was made.
        LedgerError: if the ledger cannot be used.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.examination import examine
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = (Path(folder) / "ages.csv").write_text("age,count\nyoung,7\nold,*\ntotal,8\n")
        ...     _ = (Path(folder) / "tables.toml").write_text('[[table]]\nfile = "ages.csv"\n')
        ...     found = examine(Path(folder) / "tables.toml")
        >>> found.outcome.value, found.report("reconstruction").verdicts[0].target
        ('broken', 'age old')
    """
    above = Words("a number above 0", "0 より大きい数")
    allowed = exact_fraction(seconds, "seconds", "examine", above)
    if not allowed > 0:
        raise ParameterError("seconds", "examine", above, seconds)
    if threshold is not None:
        exact_integer(threshold, "threshold", "examine", Words("a whole number >= 2", "2 以上の整数"), smallest=2)
    if (ledger is None) != (dataset is None):
        raise InputError(
            "A ledger and the name of a data set in it belong together: give both, or neither.",
            "台帳とデータセット名は両方指定するか、どちらも指定しないでください。",
        )
    run = _Run(Path(folder), threshold, float(allowed), progress)
    run.open_others(others, ledger, dataset)
    if run.subject is None:
        return run.on_tables()
    if run.subject.kind in SERIES:
        return run.on_series()
    if run.subject.kind == "private-table":
        return run.on_private_table(_path(data), _path(population), by_chance)
    if run.subject.kind == "protected-table":
        return run.on_protected_table()
    return run.on_people(_path(data), _path(population), by_chance, _path(outside), by)


class _Run:
    """One examination on its way."""

    def __init__(self, place: Path, threshold: int | None, seconds: float, progress: Progress | None) -> None:
        self.place, self.threshold, self.seconds = place, threshold, seconds
        self._tell = progress if progress is not None else _silent
        self._found: list[Found] = []
        self._remarks: list[Remark] = []
        self.subject: Subject | None = None
        self._own: list[TableView] = []
        self._others: list[Subject | Path] = []
        self._joined: set[Path] = set()
        self._left_out: set[Path] = set()
        self._is_complete = True
        self._windows: list[PublishedWindow] = []
        if _is_description(place):
            described = read_described_tables(place)
            self.title, self._own = described.title, list(described.views)
        else:
            self._tell("open", None)
            self.subject = open_subject(place)
            self.title = self.subject.title

    def open_others(self, others: Iterable[str | Path], ledger: str | None, dataset: str | None) -> None:
        """Open whatever else was published about the same people."""
        own = "" if self.subject is None else self.subject.document_sha256
        found: list[Subject | Path] = [
            other if _is_description(other) else open_subject(other) for other in map(Path, others)
        ]
        if ledger is not None and dataset is not None:
            known = find_known_releases(ledger, dataset, own)
            self._remarks += known.remarks
            self._is_complete = known.is_complete
            self._windows = list(known.windows)
            found += known.subjects
        # The same publication twice is not twice the evidence.
        by_hash = {one.document_sha256 if isinstance(one, Subject) else str(one.resolve()): one for one in found}
        self._others = [one for name, one in by_hash.items() if name not in (own, str(self.place.resolve()))]
        self._gather_windows()

    def _gather_windows(self) -> None:
        """The ticks of series among all that is looked at; they are attacked as windows, and no more as tables."""
        ticks = [one for one in self._others if isinstance(one, Subject) and one.kind in SERIES]
        self._others = [one for one in self._others if one not in ticks]
        if self.subject is not None and self.subject.kind in SERIES:
            ticks.append(self.subject)
        with as_stated(self.place):
            by_name = {window.name: window for window in windows_of(ticks)}
            for window in self._windows:
                known = by_name.get(window.name)
                by_name[window.name] = window if known is None else replace(window, ticks=window.ticks | known.ticks)
        self._windows = list(by_name.values())
        if self._windows:
            self._remarks += remarks_on_windows(self._windows)
            self._add("ticks", lambda: average_windows(self._windows))

    def on_series(self) -> Examination:
        """Ticks, or a whole window of them, with all that else is known."""
        subject = self._subject()
        with as_stated(subject.folder):
            self._remarks += remarks_on(subject)
        for other in self._others:
            self._leave_out(other, SERIES_ALONE)
        for attack in ("reconstruction", "differencing"):
            self._skip(attack, BOUNDED_BY_WINDOW)
        self._skip("interval", NOTHING_HIDDEN)
        for attack in ("linkage", "uniqueness", "membership"):
            self._skip(attack, NO_RECORDS)
        return self._ended(subject.kind)

    def on_tables(self) -> Examination:
        """Described tables, alone and with others."""
        views = self._views()
        self._add("reconstruction", lambda: reconstruct_views(views, seconds=self.seconds))
        self._add("differencing", lambda: difference_views(views))
        self._skip(
            "averaging", Words("No count has noise.", "ノイズのある度数はありません。"), unless=_any_noise(views)
        )
        if _any_noise(views):
            self._add("averaging", lambda: average_views(views))
        for attack in ("linkage", "uniqueness", "membership"):
            self._skip(attack, NO_RECORDS)
        return self._ended("tables")

    def on_private_table(self, data: Path | None, population: Path | None, by_chance: bool) -> Examination:
        """A release, alone and with others."""
        subject = self._subject()
        with as_stated(subject.folder):
            self._remarks += remarks_on(subject)
        views = self._views()
        if views:
            self._add("reconstruction", lambda: reconstruct_views(views, seconds=self.seconds))
            if len(views) > 1:
                self._add("differencing", lambda: difference_views(views))
            else:
                self._skip("differencing", ONE_TABLE)
            self._add("averaging", lambda: average_views(views))
        else:
            self._add("averaging", lambda: self._look_at_all(subject))
        self._add("membership", lambda: infer_membership(subject, data, population, by_chance=by_chance))
        self._skip("interval", NOTHING_HIDDEN)
        for attack in ("linkage", "uniqueness"):
            self._skip(attack, NO_RECORDS)
        return self._ended(subject.kind)

    def on_protected_table(self) -> Examination:
        """A protected table, alone and with others."""
        subject = self._subject()
        alike = [
            other
            for other in self._others
            if isinstance(other, Subject)
            and other.kind == subject.kind
            and _is_of_meshes(other) == _is_of_meshes(subject)
        ]
        self._tell("interval", None)
        self._found += self._attack_together(subject, alike)
        views = self._views()
        if views:
            self._add("reconstruction", lambda: reconstruct_views(views, seconds=self.seconds))
            if len(views) > 1:
                self._add("differencing", lambda: difference_views(views))
        if len(views) < 2:
            self._skip("differencing", ONE_TABLE)
        for attack in ("linkage", "uniqueness", "membership"):
            self._skip(attack, NO_RECORDS)
        return self._ended(subject.kind)

    def on_people(
        self,
        data: Path | None,
        population: Path | None,
        by_chance: bool,
        outside: Path | None,
        by: Sequence[str],
    ) -> Examination:
        """Records of people, with a budget or without."""
        from sudare.examination.people import infer_membership_in_records, link_outside
        from sudare.microdata.records import read_people
        from sudare.releases.kinds.records.attacking.folder_attacks import attack_folder

        subject = self._subject()
        with as_stated(subject.folder):
            self._remarks += remarks_on(subject)
        earlier = self._comparable_records(subject)
        for other in self._others:
            self._leave_out(other, RECORDS_ALONE)
        outsiders = None if outside is None else read_people(outside)
        if subject.kind == "people":
            self._tell("linkage", None)
            original = None if data is None else read_people(data)
            with as_stated(subject.folder):
                self._found += attack_folder(
                    subject.folder,
                    subject.document,
                    original=original,
                    outside=None if by else outsiders,
                    earlier=earlier,
                )
            self._skip(
                "membership", Words("Everybody in the records is in the data.", "個票の人は全員データに含まれます。")
            )
        else:
            self._add("membership", lambda: infer_membership_in_records(subject, data, population, by_chance=by_chance))
            self._skip("uniqueness", BOUNDED)
        if outsiders is not None and by:
            self._add("outside", lambda: link_outside(subject, outsiders, by))
        elif outsiders is None:
            self._skip(
                "outside",
                Words(
                    "Needs a file of known people: give it with --outside.",
                    "既知の人々のファイルが必要です(--outside)。",
                ),
            )
        for attack in ("reconstruction", "interval", "differencing"):
            self._skip(attack, NO_TABLE)
        return self._ended(subject.kind)

    def _comparable_records(self, subject: Subject) -> tuple[Path, ...]:
        """Folders of other records of the same people that can be put beside these."""
        from sudare.releases.kinds.records.attacking.earlier_records import find_comparable_records
        from sudare.releases.kinds.records.attacking.published_records import read_published_records

        alike = [other.folder for other in self._others if isinstance(other, Subject) and other.kind == "people"]
        if subject.kind != "people" or not alike:
            return ()
        with as_stated(subject.folder):
            usable, _ = find_comparable_records(read_published_records(subject.folder, subject.document), alike)
        self._joined |= set(usable)
        return usable

    def _subject(self) -> Subject:
        if self.subject is None:
            raise TypeError("there is no folder")
        return self.subject

    def _attack_together(self, subject: Subject, others: Sequence[Subject]) -> list[AttackReport]:
        """Attack a protected table with others; where not all can be put together, with each by itself.

        One that cannot be compared, or contradicts, must not hide what another one gives away.
        """
        from sudare.releases.kinds.tables.attacking.folder_attacks import attack_folder

        def attack(*earlier: Subject) -> Sequence[AttackReport]:
            with as_stated(subject.folder):
                return attack_folder(subject.folder, subject.document, earlier=[other.folder for other in earlier])

        try:
            found = attack(*others)
            self._joined |= {other.folder for other in others}
            return list(found)
        except InputError:
            if not others:
                raise
        tries = [attack()]
        joined: list[Subject] = []
        for other in others:
            try:
                tries.append(attack(other))
                joined.append(other)
            except InputError as error:
                self._leave_out(other, Words(error.english, error.japanese))
        try:
            tries.append(attack(*joined))
            self._joined |= {other.folder for other in joined}
        except InputError as error:
            for other in joined:
                self._leave_out(other, Words(error.english, error.japanese))
        return _worst_of_each(tries)

    def _views(self) -> tuple[TableView, ...]:
        """The tables of what is examined, and those of the others that can be put beside them."""
        views = list(self._own)
        if self.subject is not None:
            try:
                views += _views_of(self.subject)
            except IncompatibleTables as reason:
                for attack in ("reconstruction", "differencing"):
                    self._skip(attack, reason.words, is_open=reason.is_open)
                looked_at = {other.folder for other in self._of_same_cells()}
                for other in self._others:
                    if _place(other) not in looked_at:
                        self._leave_out(other, reason.words)
                return ()
        for other in self._others:
            try:
                further = _views_of(other)
                CommonDomain([*views, *further])  # refuses what cannot be put together
                views += further
            except IncompatibleTables as reason:
                self._leave_out(other, reason.words)
            except InputError as error:
                self._leave_out(other, Words(error.english, error.japanese))
        if self.threshold is not None:
            views = [replace(view, threshold=self.threshold) for view in views]
        return with_different_names(views)

    def _leave_out(self, other: Subject | Path, reason: Words) -> None:
        """Tell that something was not looked at, unless another attack did."""
        if _place(other) in self._joined | self._left_out:
            return
        self._is_complete = False
        self._left_out.add(_place(other))
        self._remarks.append(
            Words(
                f"'{other.name}' was not attacked together with the others: {reason.english}",
                f"「{other.name}」は他の表と合わせて攻撃していません: {reason.japanese}",
            )
        )

    def _look_at_all(self, subject: Subject) -> Found:
        """A release with too many cells, with others of the very same cells."""
        try:
            laws = [law_of_release(subject)]
        except IncompatibleTables as reason:
            return NotApplied("averaging", reason.words, reason.is_open)
        for other in self._of_same_cells():
            try:
                laws.append(law_of_release(other))
            except IncompatibleTables as reason:
                self._leave_out(other, reason.words)
        return sharpest_look(laws)

    def _of_same_cells(self) -> list[Subject]:
        """The other releases of the very same cells."""
        subject = self._subject()
        return [
            other
            for other in self._others
            if isinstance(other, Subject)
            and other.kind == subject.kind == "private-table"
            and other.document["domain"] == subject.document["domain"]
        ]

    def _add(self, attack: str, run: Callable[[], Found]) -> None:
        self._tell(attack.replace(" ", "_"), None)
        with as_stated(self.place):
            self._found.append(run())

    def _skip(self, attack: str, reason: Words, *, unless: bool = False, is_open: bool = False) -> None:
        if not unless and not any(found.attack == attack for found in self._found):
            self._found.append(NotApplied(attack, reason, is_open))

    def _ended(self, kind: str) -> Examination:
        reports = tuple(found for found in self._found if isinstance(found, AttackReport))
        skipped = tuple(found for found in self._found if isinstance(found, NotApplied))
        return Examination(self.place, kind, self.title, reports, skipped, tuple(self._remarks), self._is_complete)


def _views_of(other: Subject | Path) -> Sequence[TableView]:
    if isinstance(other, Path):
        return read_described_tables(other).views
    with as_stated(other.folder):
        if other.kind == "private-table":
            return (view_of_release(other),)
        if other.kind == "protected-table":
            from sudare.examination.protected_tables import view_of_protected_table

            return (view_of_protected_table(other),)
    raise IncompatibleTables(NO_TABLE)


def _worst_of_each(tries: Sequence[Sequence[AttackReport]]) -> list[AttackReport]:
    """Of each attack the report with the worst outcome; of equal ones the last, which had most to look at."""
    rank = {outcome: place for place, outcome in enumerate(AttackOutcome)}
    worst: dict[str, AttackReport] = {}
    for report in (report for found in tries for report in found):
        if report.attack not in worst or rank[report.outcome] <= rank[worst[report.attack].outcome]:
            worst[report.attack] = report
    return list(worst.values())


def _place(other: Subject | Path) -> Path:
    return other.folder if isinstance(other, Subject) else other


def _is_of_meshes(subject: Subject) -> bool:
    from sudare.releases.kinds.tables.methods.registry import method_of_document

    try:
        return method_of_document(subject.document).is_of_meshes
    except InputError:  # of a method that is not known here; the attack says so
        return False


def _any_noise(views: Sequence[TableView]) -> bool:
    return any(view.law is not None for view in views)


def _is_description(place: Path) -> bool:
    return place.suffix == ".toml" and not place.is_dir()


def _path(value: str | Path | None) -> Path | None:
    return None if value is None else Path(value)


def _silent(stage: str, share: float | None) -> None:
    pass
