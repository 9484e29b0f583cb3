"""Running a release: charge, read, draw, write, settle, show. In this order, so that no crash gives anything away.

1. The budget is reserved before anybody is counted. From here on it counts as spent.
2. The data is read. If it cannot be, nothing was drawn: the reservation is cancelled.
3. Noise is drawn, and the files are written out of sight. If this fails the reservation stays spent.
4. When all of it is on the disk the ledger settles the charge, with the hash of the release.
5. One rename shows the folder.

A crash after step 3 leaves a complete release out of sight. The same plan run again settles and shows it, and spends nothing.
Whether a release was made before is decided by the plan alone, never by the data: else it would be seen from outside
whether anybody had changed.
"""

from __future__ import annotations

import hmac
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, TypedDict

from sudare.accuracy import Accuracy
from sudare.domain import CountTable, SignedTable
from sudare.errors import InputError, LedgerError, PlanError, SudareError
from sudare.io import describe_source, read_counts, write_measurements, write_table
from sudare.ledger import Dataset, Ledger, Reservation, open_ledger
from sudare.ledger.reserving import OpenCharge, reserved
from sudare.privacy import ReleaseEvent, Unit
from sudare.release.document import Charge, write_document
from sudare.release.expected import accuracy_of_release
from sudare.release.folders import DOCUMENT, PAGE, SEAL, Workshop, appear, completed_beside, told
from sudare.release.hashing import hash_of_file, hash_of_public_source, keyed_hash, seal_of
from sudare.release.page import render_page
from sudare.release.plan_file import Reference, ReleasePlan
from sudare.system.interrupts import uninterrupted
from sudare.tables import Published, publish

__all__ = ["Release", "limits_of", "read_release_source", "run_release"]

SUFFIXES = {"parquet": ".parquet", "csv": ".csv", "arrow": ".arrow", "geoparquet": ".geoparquet", "geotiff": ".tif"}
ANY_TABLE = {"parquet", "csv", "arrow"}
"""Formats that hold tables over any domain."""

TABLE = "table"
MEASUREMENTS = "measurements.parquet"
MOST_ENTRIES_CHECKED = 500
"""Of a ledger, before each release: a tenth of a second."""

COLUMNS_OF_COUNTS = {"count", "counts", "population", "people", "人口", "人数", "人口総数", "総数"}
HEAVY = (
    "duckdb",
    "pyarrow.parquet",
    "sudare.kernels.mesh_codes",
    "sudare.kernels.sampling",
    "sudare.kernels.splits",
    "sudare.kernels.sorting",
    "jinja2",
)

Progress = Callable[[str, float | None], None]
"""Told what is being done (a word of STAGES), and which share of it is done where this is known."""

STAGES = ("read", "draw", "write", "report")
WAIT = "wait"
"""Told where another process makes the same release at the moment."""


@dataclass(frozen=True, eq=False)
class Release:
    """A release that has been made.

    Attributes:
        folder: where it is.
        document: what ``release.json`` says.
        table: what was published; None if the same release had been made before.
        is_repeated: whether it had been made before, so that nothing was spent.
    """

    folder: Path
    document: Mapping[str, Any]
    table: CountTable | SignedTable | None
    is_repeated: bool


def run_release(
    plan: ReleasePlan, *, again: bool = False, threads: int | None = None, progress: Progress | None = None
) -> Release:
    """Carry out a plan: charge the ledger, publish, and write the release folder with its report.

    The same plan with the same folder that was settled before is not drawn again: its folder is shown, and nothing is
    spent, also if the data has changed since. For new data name a new folder, or ask for it with ``again``.

    Args:
        plan: what to do.
        again: draw anew, and spend anew, even if the same release was settled before.
        threads: how many threads to use; as many as there are cores, at most 8, if left out.
        progress: told how far it is.

    Raises:
        BudgetExceededError: if the data set's budget does not allow it; nothing was looked at.
        LedgerError: if the ledger cannot be used.
        InputError: if the data is not what the plan says; nothing was spent.
        OutputError: if the folder exists or cannot be written.
    """
    tell = progress if progress is not None else _silent
    with open_ledger(plan.ledger.location) as ledger:
        _require_sound(ledger)
        _require_unit(plan, ledger.dataset(plan.ledger.dataset))
        secret, opted_out = ledger.secret(plan.ledger.dataset), ledger.opt_outs(plan.ledger.dataset)
        reference_hash = "" if plan.reference is None else hash_of_public_source(plan.reference.source)
        fingerprint = plan.fingerprint(reference_hash, opted_out.last_entry)
        with ledger.alone_with(plan.ledger.dataset, fingerprint, lambda: tell(WAIT, None)):
            repeated = None if again else _repeated(plan, ledger, fingerprint, secret)
            if repeated is not None:
                return repeated
            Thread(target=_load_ahead).start()
            return _make(plan, ledger, fingerprint, secret, reference_hash, threads, tell)


def _make(
    plan: ReleasePlan,
    ledger: Ledger,
    fingerprint: str,
    secret: bytes,
    reference_hash: str,
    threads: int | None,
    tell: Progress,
) -> Release:
    """Charge, read, draw, write, settle and show."""
    with Workshop.beside(plan.folder) as workshop:
        _try_formats(plan, workshop.folder)
        with reserved(
            ledger,
            [plan.ledger.dataset],
            plan.budget,
            unit=plan.unit,
            fingerprint=fingerprint,
            purpose=plan.title,
        ) as open_charge:
            charge = _charge(plan, ledger, open_charge.reservation)
            published, truth = _publish(plan, ledger, open_charge, threads, tell)
            hashes = keyed_hash(truth, secret, charge.hash), reference_hash
            with told(plan.folder):
                document = _write(plan, published, charge, workshop.folder, hashes, tell)
            text = json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"
            with uninterrupted():
                workshop.complete(text, seal_of(text, secret, open_charge.reservation.number))
                _settle_and_show(plan, ledger, open_charge.reservation, published.event, workshop.folder)
        return Release(plan.folder, document, published.table, is_repeated=False)


def _require_sound(ledger: Ledger) -> None:
    """Refuse a ledger that was changed from outside; a long one takes too long to check, and is left to its keeper."""
    findings = ledger.verify() if ledger.head()[0] <= MOST_ENTRIES_CHECKED else []
    if findings:
        raise LedgerError(
            f"The ledger was changed from outside or is damaged: {findings[0].english} `sudare ledger verify` tells more.",
            f"台帳が外部から変更されたか、壊れています: {findings[0].japanese} `sudare ledger verify` で詳しく調べられます。",
        )


def _require_unit(plan: ReleasePlan, dataset: Dataset) -> None:
    """Where rows are not bounded person by person, a plan must count with as many as the ledger says there may be."""
    stated, known = plan.unit, dataset.unit
    is_enough = (
        stated.rows >= known.rows and stated.cells >= known.cells and stated.rows_per_cell >= known.rows_per_cell
    )
    if plan.source.person is None and not is_enough:
        raise LedgerError(
            f"By the ledger, one {known.who} of '{dataset.name}' may have {_limits(known)}; the plan counts with "
            f"{_limits(stated)}. State as many under [unit], or name the column of persons.",
            f"台帳によれば「{dataset.name}」の {known.who} は{_limits_ja(known)}を持ちえますが、計画では"
            f"{_limits_ja(stated)}です。[unit] を合わせるか、個人の列を指定してください。",
        )


def _limits(unit: Unit) -> str:
    return f"up to {unit.rows} rows, in {unit.cells} cells, {unit.rows_per_cell} of them in one cell"


def _limits_ja(unit: Unit) -> str:
    return f"最大 {unit.rows} 行（{unit.cells} セル、1セルあたり {unit.rows_per_cell} 行）"


class _Limits(TypedDict, total=False):
    rows_per_person: int
    cells_per_person: int
    rows_per_cell: int


def limits_of(plan: ReleasePlan) -> _Limits:
    """What reading counts of each person, for `read_counts`: no more than the unit says, where persons are known."""
    if plan.source.person is None:
        return {}
    unit = plan.unit
    return {"rows_per_person": unit.rows, "cells_per_person": unit.cells, "rows_per_cell": unit.rows_per_cell}


def _load_ahead() -> None:
    """Load what counting and drawing need: a second of work, done while DuckDB counts."""
    for name in HEAVY:
        import_module(name)


def read_release_source(
    plan: ReleasePlan, ledger: Ledger, progress: Callable[[float, str], None] | None = None
) -> CountTable:
    """The true counts of a plan, without the people who opted out. Not private.

    A table of nobody is a table like any other: an error would tell for nothing, and for certain, that nobody is in it.
    """
    opted_out = ledger.opt_outs(plan.ledger.dataset)
    if plan.source.person is None:
        if opted_out.digests and not plan.opt_outs_removed:
            raise PlanError(
                f"{plan.file.name}: people have opted out of '{plan.ledger.dataset}', and the source names no column of persons. "
                "Name it as 'person' in [source]; or, where they were left out before, declare opt_outs_removed = true there.",
                f"{plan.file.name}: 「{plan.ledger.dataset}」から除外を申し出た人がいますが、個人の列が指定されていません。"
                "[source] に person を指定するか、既に除外済みなら opt_outs_removed = true と宣言してください。",
            )
        _refuse_counts_as_people(plan)
        truth = read_counts(plan.source, plan.domain, memory=plan.memory, progress=progress)
    else:
        truth = read_counts(
            plan.source,
            plan.domain,
            **limits_of(plan),
            opted_out=(opted_out.salt, opted_out.digests) if opted_out.digests else None,
            memory=plan.memory,
            progress=progress,
        )
    return truth


def _refuse_counts_as_people(plan: ReleasePlan) -> None:
    """Where nobody said what a row is, a column of counts would be counted as one person a row."""
    if plan.says_rows or plan.source.rows != "people":
        return
    used = {plan.source.column_of(attribute.name) for attribute in plan.domain.attributes}
    for name in describe_source(plan.source).columns:
        if name.lower() in COLUMNS_OF_COUNTS and name not in used:
            raise PlanError(
                f"{plan.file.name}: the source has a column '{name}'. If it holds counts, write count = \"{name}\" in [source]; "
                'if each row is one person all the same, write rows = "people".',
                f'{plan.file.name}: 「{name}」という列があります。人数の列なら [source] に count = "{name}" と、'
                '1行が1人なら rows = "people" と書いてください。',
            )


def _publish(
    plan: ReleasePlan, ledger: Ledger, charge: OpenCharge, threads: int | None, tell: Progress
) -> tuple[Published, CountTable]:
    """Count and draw."""
    tell("read", None)
    counted = read_release_source(plan, ledger, lambda share, _: tell("read", share))
    reference = None if plan.reference is None else _read_reference(plan, plan.reference)
    tell("draw", None)
    charge.begin_drawing()
    published = publish(
        counted,
        plan.budget,
        plan.method if plan.predicted is None else plan.predicted,
        unit=plan.unit,
        reference=reference,
        public_total=plan.public_total,
        threads=threads,
        keep_measurements=plan.measurements,
        **({} if plan.predicted is not None else dict(plan.settings)),
    )
    charge.keep()
    return published, counted


def _read_reference(plan: ReleasePlan, reference: Reference) -> CountTable:
    """The public table; one of nobody is a mistake in the plan, which may be told because it is public."""
    table = read_counts(reference.source, plan.domain, memory=plan.memory)
    if table.total == 0:
        raise InputError(
            f"{plan.file.name}: the public reference '{reference.name}' has nobody in it: its file has no rows, or where and "
            "outside leave none.",
            f"{plan.file.name}: 公開の参照表「{reference.name}」に数える人がいません。ファイルに行がないか、"
            "where や outside によってすべて除かれています。",
        )
    return table


def _try_formats(plan: ReleasePlan, folder: Path) -> None:
    """Write an empty table in formats that do not hold every table, so that it is found before anything is spent."""
    trial = folder / "trial"
    trial.mkdir()
    nobody = CountTable.from_cells(plan.domain, [], [])
    for form in set(plan.formats) - ANY_TABLE:
        write_table(nobody, trial / f"{TABLE}{SUFFIXES[form]}", format=form, count=plan.count)
    if plan.measurements:
        write_measurements([], plan.domain, trial / MEASUREMENTS)
    shutil.rmtree(trial)


def _write(
    plan: ReleasePlan,
    published: Published,
    charge: Charge,
    folder: Path,
    hashes: tuple[str, str],
    tell: Progress,
) -> dict[str, Any]:
    tell("write", None)
    files = []
    for form in plan.formats:
        files.append(write_table(published.table, folder / f"{TABLE}{SUFFIXES[form]}", format=form, count=plan.count))
    if published.measurements is not None:
        files.append(write_measurements(published.measurements, plan.domain, folder / MEASUREMENTS))
    tell("report", None)
    document = write_document(plan, published, charge, files, *hashes, _expected(plan, published))
    page = render_page(document, published.table, language=plan.language)
    (folder / PAGE).write_text(page, encoding="utf-8")
    return document


def _expected(plan: ReleasePlan, published: Published) -> Accuracy | None:
    """What errors to expect, by publishing what was published once more; None rather than a release that is lost for it."""
    try:
        return accuracy_of_release(plan, published)
    except SudareError:
        return None


def _charge(plan: ReleasePlan, ledger: Ledger, reservation: Reservation) -> Charge:
    entry = ledger.entry(reservation.number)
    remaining = ledger.dataset(plan.ledger.dataset).remaining
    location = plan.ledger.location
    public_name = "PostgreSQL" if "://" in location else Path(location).name
    left = "nothing" if remaining is None else str(remaining)
    return Charge(public_name, plan.ledger.dataset, reservation.number, entry.hash, left)


def _settle_and_show(
    plan: ReleasePlan, ledger: Ledger, reservation: Reservation, event: ReleaseEvent, folder: Path
) -> None:
    result = {
        "document_sha256": hash_of_file(folder / DOCUMENT),
        "made_in": folder.name,
        "folder": str(plan.folder),
    }
    ledger.settle(reservation, event, result)
    appear(folder, plan.folder)


def _repeated(plan: ReleasePlan, ledger: Ledger, fingerprint: str, secret: bytes) -> Release | None:
    """The same release, made before. The data is not looked at: whether something is published must not depend on it."""
    made = ledger.settlements(plan.ledger.dataset, fingerprint)
    for _, body in reversed(made):
        for folder in (plan.folder, Path(body.result["folder"])):
            if _is_whole(folder, body.result["document_sha256"]):
                return _shown(folder)
    if not plan.folder.exists():
        for _, body in reversed(made):
            hidden = plan.folder.with_name(body.result["made_in"])
            if _is_whole(hidden, body.result["document_sha256"]):
                appear(hidden, plan.folder)
                return _shown(plan.folder)
        if _settle_abandoned(plan, ledger, fingerprint, secret):
            return _shown(plan.folder)
    if made:
        raise _gone(made[-1][0].number, made[-1][1].result["folder"])
    return None


def _shown(folder: Path) -> Release:
    document = json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))
    return Release(folder, document, None, is_repeated=True)


def _settle_abandoned(plan: ReleasePlan, ledger: Ledger, fingerprint: str, secret: bytes) -> bool:
    """Settle and show a release that was complete when its process ended; its cost is reserved still.

    Only what bears the ledger's seal is taken: anybody may be able to write beside the target.
    """
    for reservation in ledger.reservations(plan.ledger.dataset):
        for folder in completed_beside(plan.folder) if reservation.fingerprint == fingerprint else []:
            text = (folder / DOCUMENT).read_bytes()
            seal = (folder / SEAL).read_text(encoding="ascii", errors="replace") if (folder / SEAL).is_file() else ""
            if not hmac.compare_digest(seal.encode(), seal_of(text, secret, reservation.number).encode()):
                continue
            event = ReleaseEvent.from_json(json.dumps(json.loads(text)["event"]))
            if event.cost == reservation.cost and _is_whole(folder, hash_of_file(folder / DOCUMENT)):
                _settle_and_show(plan, ledger, reservation, event, folder)
                return True
    return False


def _is_whole(folder: Path, document_hash: str) -> bool:
    """Whether a folder holds a document with this hash, and all files that it lists."""
    if folder.is_symlink() or not (folder / DOCUMENT).is_file() or hash_of_file(folder / DOCUMENT) != document_hash:
        return False
    document = json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))
    files = [(folder / Path(entry["name"]).name, entry["sha256"]) for entry in document["files"]]
    return all(path.is_file() and hash_of_file(path) == digest for path, digest in files)


def _gone(entry: int, folder: str) -> LedgerError:
    return LedgerError(
        f"This very release was made before (ledger entry {entry}), but its folder '{folder}' is gone or was changed. Bring "
        "it back, or draw a new one with --again, which spends the budget once more.",
        f"この公表は既に実行済みです（台帳の項目 {entry}）が、フォルダ「{folder}」が見つからないか変更されています。"
        "フォルダを戻すか、--again で新たに公表してください（予算をもう一度使います）。",
    )


def _silent(stage: str, share: float | None) -> None:
    pass
