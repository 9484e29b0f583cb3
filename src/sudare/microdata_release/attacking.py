"""Cheap attacks on a table of people, run before it is shown to anybody.

- models: does every class keep what the plan promises, counted from the written file alone?
- uniqueness: who is alone with the quasi-identifiers, and with how few of them?
- linkage: who among the people is found in the file, surely and rightly?
- attributes: which classes give a sensitive value away, because all of a class share it?

What counts as **broken**, and is refused: a promise that the file does not keep; and that more than MOST_FOUND of its records are
found surely and rightly by whoever knows the quasi-identifiers, who is then more often right than wrong. Only k-map and presence
allow that: they promise something about a population around the records. (With k-anonymity nobody is found surely.) What a
method never promised to prevent is told with its number and left to the holder (undecided): k-anonymity without l-diversity
leaves classes whose people share a value, and swapping leaves some records that are alone.

Tables with a budget are not attacked here, and never refused: what an attack finds there is bounded beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.attacks.verdicts import AttackReport, Outcome, Verdict
from sudare.bilingual import Words
from sudare.errors import InputError
from sudare.microdata.anonymizing import satisfies
from sudare.microdata.grouping import group, histogram
from sudare.microdata.hierarchy import Generalization
from sudare.microdata.large_counts import open_large
from sudare.microdata.models.model import Model, per_class
from sudare.microdata.records import Records, read_people
from sudare.microdata_release import attack_words as words
from sudare.microdata_release.document import record_of_words
from sudare.microdata_release.linking import Found, comparable, link_exactly, link_nearest
from sudare.microdata_release.model_record import model_of_record

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["attack_folder", "record_of_attacks", "require_unbroken"]

LARGEST_SUBSET = 3
MOST_WORK = 20_000_000
"""Rows times subsets of quasi-identifiers that are grouped at most."""
CHANGING = ("swap", "pram", "microaggregate", "noise")
LARGEST = 10**15
NOT_SHOWN = Words(
    "It compares with more than the file, which alone cannot show it.",
    "ファイル以外との比較を要するため、ファイルだけからは確かめられません。",
)
NOT_NEAREST = Words(
    "The file is too large to look for the nearest record of anybody: only exact matches were looked for.",
    "ファイルが大きいため、最も近いレコードは探さず、完全に一致するレコードだけを探しました。",
)
MAKE_ANEW = Words(
    "Ask whoever holds the records to make the file anew from its plan: that checks it.",
    "元データの保有者が計画から作り直せば確かめられます。",
)


@dataclass(frozen=True, eq=False)
class _Table:
    """What a folder publishes, and what its report says of it.

    Attributes:
        records: of the file; where counts are given, its different combinations.
        counts: how many people each row stands for; None is one.
        name: of the file.
        quasi: the quasi-identifiers.
        sensitive: the sensitive columns.
        levels: how coarse each column was published.
        steps: method and settings.
        models: the name of each that is promised, and the model itself where the file alone can show it.
        uniform: for each sensitive column, people in classes that share a value, where they were counted already.
    """

    records: Records
    counts: Integers | None
    name: str
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    levels: Mapping[str, int | None]
    steps: tuple[tuple[str, Mapping[str, Any]], ...]
    models: tuple[tuple[str, Model | None], ...]
    uniform: Mapping[str, int] | None

    @property
    def people(self) -> int:
        return self.records.rows if self.counts is None else int(self.counts.sum())

    def changed(self, name: str) -> bool:
        """Whether a step changed the values of a column, by chance or by means of several people's."""
        return any(
            method in CHANGING and (settings.get("column") == name or name in (settings.get("columns") or ()))
            for method, settings in self.steps
        )


def attack_folder(
    folder: Path,
    document: Mapping[str, Any],
    *,
    original: Records | None = None,
    whose: Integers | None = None,
    hierarchies: Mapping[str, Generalization] | None = None,
    outside: Records | None = None,
) -> tuple[AttackReport, ...]:
    """Attack the published file of a folder.

    Args:
        folder: of records of people.
        document: what its ``report.json`` says, or will say.
        original: the records as they were, for whoever holds them.
        whose: for each published record, the row of its person in ``original``.
        hierarchies: that made quasi-identifiers coarser; without them these columns cannot be compared with ``original``. Only
            whoever is just making the file has them, and has checked while searching what the file alone cannot show.
        outside: other people's file, with columns of the same names; whether a link with it is right nobody knows.

    Returns:
        A report of each attack; none for a table with a budget.

    Raises:
        InputError: if the folder has not what its report says.
    """
    if "event" in document:
        return ()
    table = _read(folder, document)
    is_being_made = hierarchies is not None
    reports = [_attack_models(table, is_being_made)] if table.models or _microaggregations(table) else []
    if table.quasi and table.people:
        sizes = group([table.records.column(name) for name in table.quasi], table.counts).sizes
        reports += [_find_alone(table, sizes), _link(table, sizes, original, whose, hierarchies)]
        if outside is not None:
            reports.append(_link_outside(table, outside, hierarchies))
        if table.sensitive:
            reports.append(_find_homogeneous(table))
    elif table.people:
        verdict = words.verdict("linkage", table.name, Outcome.UNDECIDED, 0, words.NO_QUASI, words.NAME_QUASI)
        reports.append(AttackReport.of("linkage", words.NO_QUASI, [verdict]))
    return tuple(reports)


def require_unbroken(reports: Sequence[AttackReport]) -> None:
    """Refuse a table that an attack broke.

    Raises:
        InputError: says which attack, on how many, and what would stop it; no value.
    """
    for report in reports:
        for verdict in report.with_outcome(Outcome.BROKEN):
            raise InputError(
                f"Nothing was published, because an attack on the result succeeded ({report.attack}): "
                f"{verdict.target}: {verdict.sentence.english} {verdict.remedy.english} "
                "To publish it all the same, say --even-if-broken.",
                f"結果への攻撃（{words.ATTACKS[report.attack].japanese}）が成功したため、何も公開しませんでした。"
                f"{verdict.target}: {verdict.sentence.japanese}{verdict.remedy.japanese}"
                f"それでも公開する場合は --even-if-broken を指定してください。",
            )


def record_of_attacks(reports: Sequence[AttackReport]) -> list[dict[str, Any]]:
    """The attacks as plain values, for a report."""
    return [
        {
            "attack": report.attack,
            "outcome": report.outcome.value,
            "summary": record_of_words(report.summary),
            "verdicts": [
                {
                    "target": verdict.target,
                    "outcome": verdict.outcome.value,
                    "number": verdict.number,
                    "sentence": record_of_words(verdict.sentence),
                    "remedy": record_of_words(verdict.remedy),
                }
                for verdict in report.verdicts
            ],
        }
        for report in reports
    ]


def _read(folder: Path, document: Mapping[str, Any]) -> _Table:
    try:
        name = Path(document["files"][0]["name"]).name
        columns = [column for column in document["columns"] if column["published"]]
        steps = tuple((str(step["method"]), _settings(step)) for step in document["steps"])
        models = tuple((str(one["model"]["name"]), model_of_record(one["model"])) for one in document["models"])
        role = {str(column["name"]): str(column["role"]) for column in columns}
        levels = {str(column["name"]): column["level"] for column in columns}
        is_large = bool(document.get("larger_than_memory"))
        if not (folder / name).is_file():  # such as a pipe, on which a reader would wait forever
            raise ValueError("no file")
    except InputError:  # a model that is none
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise InputError(
            f"The report of '{folder}' does not say what it should; `sudare verify` tells more.",
            f"「{folder}」のレポートの内容が不正です。`sudare verify` で確認できます。",
        ) from None
    quasi = tuple(name for name in role if role[name] == "quasi-identifier")
    sensitive = tuple(name for name in role if role[name] == "sensitive")
    counts, uniform = None, None
    if is_large:
        named = [model.sensitive for _, model in models if model is not None and model.sensitive is not None]
        with open_large(folder / name) as file:
            counted = file.count([*quasi, *named])
            uniform = {column: file.rows_in_uniform_classes(quasi, column) for column in sensitive}
        records, counts = counted.records, counted.counts
    else:
        records = read_people(folder / name)
    for column in role if counts is None else quasi:
        records.column(column)
    return _Table(records, counts, name, quasi, sensitive, levels, steps, models, uniform)


def _settings(step: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a step, of which those are as they should be that are looked at here.

    Raises:
        ValueError: if they are not.
    """
    settings = dict(step["settings"])
    if step["method"] in CHANGING:
        column, columns, k = settings.get("column"), settings.get("columns"), settings.get("k")
        listed = columns if isinstance(columns, list | tuple) else []
        is_right = (column is None or isinstance(column, str)) and all(isinstance(name, str) for name in listed)
        if step["method"] == "microaggregate":
            is_right = is_right and len(listed) > 0 and type(k) is int and 0 < k <= LARGEST
        if not is_right or (columns is not None and columns is not listed):
            raise ValueError("settings")
    return settings


def _microaggregations(table: _Table) -> list[Mapping[str, Any]]:
    return [settings for method, settings in table.steps if method == "microaggregate"]


def _attack_models(table: _Table, is_being_made: bool) -> AttackReport:
    """Count what the file holds against what is promised."""
    verdicts = []
    for name, model in table.models:
        if model is None and is_being_made:
            verdicts.append(words.verdict("models", name, Outcome.HELD, 0, words.SEARCHED, words.MODEL_REMEDY))
        elif model is None:
            verdicts.append(words.verdict("models", name, Outcome.UNDECIDED, 0, NOT_SHOWN, MAKE_ANEW))
        elif satisfies(table.records, table.quasi, [model], counts=table.counts):
            verdicts.append(words.verdict("models", name, Outcome.HELD, 0, words.KEPT, words.MODEL_REMEDY))
        else:
            verdicts.append(words.verdict("models", name, Outcome.BROKEN, 1, words.NOT_KEPT, words.MODEL_REMEDY))
    for settings in _microaggregations(table):
        columns, k = list(settings["columns"]), settings["k"]
        groups = [columns] if settings.get("kind") == "multivariate" else [[name] for name in columns]
        small = sum(int(_small(table, names, k).sum()) for names in groups)
        outcome, sentence = (Outcome.BROKEN, words.small_groups(small, k)) if small else (Outcome.HELD, words.KEPT)
        verdicts.append(
            words.verdict(
                "models", f"microaggregate {', '.join(columns)}", outcome, small, sentence, words.MODEL_REMEDY
            )
        )
    broken = sum(verdict.outcome is Outcome.BROKEN for verdict in verdicts)
    return AttackReport.of("models", words.models_summary(broken, len(verdicts)), verdicts)


def _small(table: _Table, names: Sequence[str], k: int) -> Integers:
    sizes = group([table.records.column(name) for name in names], table.counts).sizes
    return sizes[sizes < k]


def _find_alone(table: _Table, sizes: Integers) -> AttackReport:
    """Who is alone with all quasi-identifiers, and with one, two or three of them."""
    alone = int(np.count_nonzero(sizes == 1))
    with_few = _alone_with_few(table) if alone else {}
    sentence = words.alone(alone, table.people, with_few)
    outcome = Outcome.UNDECIDED if alone else Outcome.HELD
    verdict = words.verdict("uniqueness", table.name, outcome, alone, sentence, words.COARSER)
    return AttackReport.of("uniqueness", sentence, [verdict])


def _alone_with_few(table: _Table) -> dict[int, int]:
    """How many records are alone with some one, two, or three quasi-identifiers."""
    columns = [table.records.column(name) for name in table.quasi]
    is_alone = np.zeros(table.records.rows, dtype=np.bool_)
    found: dict[int, int] = {}
    work = 0
    for size in range(1, min(LARGEST_SUBSET, len(columns) - 1) + 1):
        work += table.records.rows * comb(len(columns), size)
        if work > MOST_WORK:
            break
        for chosen in combinations(columns, size):
            classes = group(chosen, table.counts)
            is_alone |= classes.sizes[classes.of_row] == 1
        found[size] = int(np.count_nonzero(is_alone))
    return found


def _link(
    table: _Table,
    sizes: Integers,
    original: Records | None,
    whose: Integers | None,
    hierarchies: Mapping[str, Generalization] | None,
) -> AttackReport:
    """Look for the people of the records as they were."""
    smallest = int(sizes.min())
    if smallest >= 2:
        sentence = words.in_classes(smallest, sizes.size / table.people)
        verdict = words.verdict("linkage", table.name, Outcome.HELD, smallest, sentence, words.COARSER)
        return AttackReport.of("linkage", sentence, [verdict])
    if table.counts is not None:
        # Classes are published whole or not at all: whoever is alone here was alone there.
        alone = int(np.count_nonzero(sizes == 1))
        found = Found(table.people, alone, alone)
        return AttackReport.of("linkage", words.exactly(found), [_verdict_of_links(table, found, words.exactly(found))])
    known = [] if original is None else comparable(table.quasi, original, table.levels, hierarchies)
    if original is None or not known:
        verdict = words.verdict("linkage", table.name, Outcome.UNDECIDED, 0, words.NO_ORIGINAL, words.COARSER)
        return AttackReport.of("linkage", words.NO_ORIGINAL, [verdict])
    published = [table.records.column(column.name) for column in known]
    truth = whose if whose is not None else _same_rows(table, original)
    is_unchanged = all(method == "sample" for method, _ in table.steps)
    found = link_exactly(known, published, whose=truth, is_unchanged=is_unchanged)
    verdicts = [_verdict_of_links(table, found, words.exactly(found))]
    if truth is not None and any(table.changed(column.name) for column in known):
        near = link_nearest(known, published, whose=truth)
        if near is not None:
            verdicts.append(_verdict_of_links(table, near, words.nearest(near)))
        else:
            verdicts.append(words.verdict("linkage", table.name, Outcome.UNDECIDED, 0, NOT_NEAREST, words.COARSER))
    worst = AttackReport.of("linkage", words.exactly(found), verdicts).verdicts[0]
    return AttackReport.of("linkage", worst.sentence, verdicts)


def _same_rows(table: _Table, original: Records) -> Integers | None:
    """Whose record each is, where every record is still there in its order."""
    keeps_rows = all(method in CHANGING for method, _ in table.steps)
    return np.arange(original.rows) if keeps_rows and original.rows == table.records.rows else None


def _verdict_of_links(table: _Table, found: Found, sentence: Words) -> Verdict:
    outcome = Outcome.HELD if not found.sure or found.right == 0 else Outcome.UNDECIDED
    if found.is_broken and not any(name in ("k-map", "presence") for name, _ in table.models):
        outcome = Outcome.BROKEN
    number = found.sure if found.right is None else found.right
    return words.verdict("linkage", table.name, outcome, number, sentence, words.COARSER)


def _link_outside(table: _Table, outside: Records, hierarchies: Mapping[str, Generalization] | None) -> AttackReport:
    known = comparable(table.quasi, outside, table.levels, hierarchies) if table.counts is None else []
    if not known:
        verdict = words.verdict("outside", table.name, Outcome.UNDECIDED, 0, words.NOTHING_SHARED, words.NAME_QUASI)
        return AttackReport.of("outside", words.NOTHING_SHARED, [verdict])
    found = link_exactly(known, [table.records.column(column.name) for column in known])
    sentence = words.matched(found)
    outcome = Outcome.UNDECIDED if found.sure else Outcome.HELD
    return AttackReport.of(
        "outside", sentence, [words.verdict("outside", table.name, outcome, found.sure, sentence, words.COARSER)]
    )


def _find_homogeneous(table: _Table) -> AttackReport:
    """Classes in which everybody has the same sensitive value."""
    classes = group([table.records.column(name) for name in table.quasi], table.counts)
    verdicts, told = [], 0
    for name in table.sensitive:
        if table.uniform is not None:
            people = table.uniform[name]
        else:
            counted = histogram(classes, table.records.column(name))
            most = per_class(np.maximum, counted.counts, counted.edges)
            people = int(classes.sizes[most == classes.sizes].sum())
        told += people
        is_changed = people > 0 and table.changed(name)
        sentence = words.changed(people, name) if is_changed else words.homogeneous(people, table.people, name)
        outcome = Outcome.UNDECIDED if people else Outcome.HELD
        verdicts.append(words.verdict("attributes", name, outcome, people, sentence, words.DIVERSE))
    return AttackReport.of("attributes", words.attributes_summary(told, len(table.sensitive)), verdicts)
