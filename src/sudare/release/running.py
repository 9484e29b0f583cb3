"""Running a release: charge, read, draw, write, settle, show. In this order, so that no crash gives anything away.

1. The budget is reserved before anybody is counted. From here on it counts as spent.
2. The data is read. If it cannot be, nothing was drawn: the reservation is cancelled.
3. Noise is drawn, and the files are written out of sight. If this fails the reservation stays spent.
4. When all of it is on the disk the ledger settles the charge, with the hash of the release.
5. One rename shows the folder.

A crash after step 3 leaves a complete release out of sight. The same plan run again settles and shows it, and spends nothing.
Where the same plan was carried out before, people are counted first, to see whether the data is the same; that alone
releases nothing.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

from sudare.domain import CountTable
from sudare.errors import LedgerError, PlanError, SudareError
from sudare.io import read_counts, write_measurements, write_table
from sudare.ledger import Ledger, Reservation, open_ledger
from sudare.ledger.entries import Settled
from sudare.privacy import ReleaseEvent
from sudare.release.document import Charge, write_document
from sudare.release.folders import DOCUMENT, PAGE, Workshop, appear, completed_beside, told
from sudare.release.hashing import hash_of_file, hash_of_public_source, keyed_hash
from sudare.release.page import render_page
from sudare.release.plan_file import ReleasePlan
from sudare.tables import Published, publish

__all__ = ["Release", "read_release_source", "run_release"]

SUFFIXES = {"parquet": ".parquet", "csv": ".csv", "arrow": ".arrow", "geoparquet": ".geoparquet", "geotiff": ".tif"}
ANY_TABLE = {"parquet", "csv", "arrow"}
"""Formats that hold tables over any domain."""

TABLE = "table"
MEASUREMENTS = "measurements.parquet"
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
    table: CountTable | None
    is_repeated: bool


def run_release(
    plan: ReleasePlan, *, again: bool = False, threads: int | None = None, progress: Progress | None = None
) -> Release:
    """Carry out a plan: charge the ledger, publish, and write the release folder with its report.

    An identical release that was settled before is not drawn again: its folder is shown, and nothing is spent.

    Args:
        plan: what to do.
        again: draw anew, and spend anew, even if an identical release was settled before.
        threads: how many threads to use; as many as there are cores, at most 8, if left out.
        progress: told how far it is.

    Raises:
        BudgetExceededError: if the data set's budget does not allow it; nothing was looked at.
        LedgerError: if the ledger cannot be used.
        InputError: if the data is not what the plan says; nothing was spent.
        OutputError: if the folder exists or cannot be written.
    """
    tell = progress if progress is not None else _silent
    Thread(target=_load_ahead).start()
    with open_ledger(plan.ledger.location) as ledger:
        secret, opted_out = ledger.secret(plan.ledger.dataset), ledger.opt_outs(plan.ledger.dataset)
        reference_hash = "" if plan.reference is None else hash_of_public_source(plan.reference.source)
        fingerprint = plan.fingerprint(reference_hash, opted_out.last_entry)
        truth = None
        if not again and _may_be_repeated(plan, ledger, fingerprint):
            truth = _count(plan, ledger, tell)
            repeated = _repeated(plan, ledger, fingerprint, keyed_hash(truth, secret))
            if repeated is not None:
                return repeated
        with Workshop.beside(plan.folder) as workshop:
            _try_formats(plan, workshop.folder)
            reservation = ledger.reserve(
                plan.ledger.dataset, plan.budget, unit=plan.unit, fingerprint=fingerprint, purpose=plan.title
            )
            charge = _charge(plan, ledger, reservation)
            published, counted = _publish(plan, ledger, reservation, truth, threads, tell)
            input_hash = keyed_hash(counted, secret)
            with told(plan.folder):
                document = _write(plan, published, charge, workshop.folder, (input_hash, reference_hash), tell)
            workshop.complete()
            _settle_and_show(plan, ledger, reservation, input_hash, published.event, workshop.folder)
            return Release(plan.folder, document, published.table, is_repeated=False)


def _load_ahead() -> None:
    """Load what counting and drawing need: a second of work, done while DuckDB counts."""
    for name in HEAVY:
        import_module(name)


def read_release_source(
    plan: ReleasePlan, ledger: Ledger, progress: Callable[[float, str], None] | None = None
) -> CountTable:
    """The true counts of a plan, without the people who opted out. Not private."""
    opted_out = ledger.opt_outs(plan.ledger.dataset)
    if plan.source.person is None:
        if opted_out.digests and not plan.opt_outs_removed:
            raise PlanError(
                f"{plan.file.name}: people have opted out of '{plan.ledger.dataset}', and the source names no column of persons. "
                "Name it as 'person' in [source]; or, where they were left out before, declare opt_outs_removed = true there.",
                f"{plan.file.name}: 「{plan.ledger.dataset}」から除外を申し出た人がいますが、個人の列が指定されていません。"
                "[source] に person を指定するか、既に除外済みなら opt_outs_removed = true と宣言してください。",
            )
        return read_counts(plan.source, plan.domain, memory=plan.memory, progress=progress)
    return read_counts(
        plan.source,
        plan.domain,
        rows_per_person=plan.unit.rows,
        opted_out=(opted_out.salt, opted_out.digests) if opted_out.digests else None,
        memory=plan.memory,
        progress=progress,
    )


def _count(plan: ReleasePlan, ledger: Ledger, tell: Progress) -> CountTable:
    tell("read", None)
    return read_release_source(plan, ledger, lambda share, _: tell("read", share))


def _publish(
    plan: ReleasePlan,
    ledger: Ledger,
    reservation: Reservation,
    truth: CountTable | None,
    threads: int | None,
    tell: Progress,
) -> tuple[Published, CountTable]:
    """Count and draw. What fails before the first draw, or refuses to draw, gives the reservation back."""
    is_drawing = False
    try:
        counted = _count(plan, ledger, tell) if truth is None else truth
        reference = None
        if plan.reference is not None:
            reference = read_counts(plan.reference.source, plan.domain, memory=plan.memory)
        tell("draw", None)
        is_drawing = True
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
    except BaseException as error:
        # A mechanism refuses before it draws, and never afterwards (a contract of every mechanism).
        if not is_drawing or isinstance(error, SudareError):
            with suppress(LedgerError):
                ledger.cancel(reservation, type(error).__name__)
        raise
    return published, counted


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
    document = write_document(plan, published, charge, files, *hashes)
    page = render_page(document, published.table, language=plan.language)
    (folder / PAGE).write_text(page, encoding="utf-8")
    (folder / DOCUMENT).write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return document


def _charge(plan: ReleasePlan, ledger: Ledger, reservation: Reservation) -> Charge:
    entry = ledger.entry(reservation.number)
    remaining = ledger.dataset(plan.ledger.dataset).remaining
    location = plan.ledger.location
    public_name = "PostgreSQL" if "://" in location else Path(location).name
    left = "nothing" if remaining is None else str(remaining)
    return Charge(public_name, plan.ledger.dataset, reservation.number, entry.hash, left)


def _settle_and_show(
    plan: ReleasePlan, ledger: Ledger, reservation: Reservation, input_hash: str, event: ReleaseEvent, folder: Path
) -> None:
    result = {
        "document_sha256": hash_of_file(folder / DOCUMENT),
        "input": input_hash,
        "made_in": folder.name,
        "folder": str(plan.folder),
    }
    ledger.settle(reservation, event, result)
    appear(folder, plan.folder)


def _may_be_repeated(plan: ReleasePlan, ledger: Ledger, fingerprint: str) -> bool:
    """Whether such a release was made before, perhaps from other data; if so, counting first tells, and releases nothing."""
    return ledger.settled(plan.ledger.dataset, fingerprint) is not None or bool(completed_beside(plan.folder))


def _repeated(plan: ReleasePlan, ledger: Ledger, fingerprint: str, input_hash: str) -> Release | None:
    """The same release from the same data: settled before, or complete but never shown when its process ended."""
    waiting = {reservation.number: reservation for reservation in ledger.reservations(plan.ledger.dataset)}
    for folder in completed_beside(plan.folder):
        document = json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))
        reservation = waiting.get(document["ledger"]["entry"])
        is_same = document["input"]["keyed_hash"] == input_hash
        if is_same and reservation is not None and reservation.fingerprint == fingerprint:
            event = ReleaseEvent.from_json(json.dumps(document["event"]))
            _settle_and_show(plan, ledger, reservation, input_hash, event, folder)
            return Release(plan.folder, document, None, is_repeated=True)
    made = [
        (entry.number, body)
        for entry, body in ledger.settlements(plan.ledger.dataset, fingerprint)
        if body.result.get("input") == input_hash
    ]
    return _shown_again(plan, *made[-1]) if made else None


def _shown_again(plan: ReleasePlan, entry: int, made: Settled) -> Release:
    """The folder of an identical release: where it should be, or still out of sight after a crash."""
    result = made.result
    hidden = plan.folder.with_name(result["made_in"])
    for folder in (plan.folder, Path(result["folder"]), hidden):
        if (folder / DOCUMENT).is_file() and hash_of_file(folder / DOCUMENT) == result["document_sha256"]:
            if folder == hidden:
                appear(hidden, plan.folder)
                folder = plan.folder
            document = json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))
            return Release(folder, document, None, is_repeated=True)
    raise LedgerError(
        f"This very release was made before (ledger entry {entry}), but its folder '{result['folder']}' is gone or "
        "was changed. Bring it back, or draw a new one with --again, which spends the budget once more.",
        f"この公表は既に実行済みです（台帳の項目 {entry}）が、フォルダ「{result['folder']}」が"
        "見つからないか変更されています。フォルダを戻すか、--again で新たに公表してください（予算をもう一度使います）。",
    )


def _silent(stage: str, share: float | None) -> None:
    pass
