"""Running a release: charge, read, draw, write, settle, show. In this order, so that no crash gives anything away.

1. The budget is reserved before the data is looked at. From here on it counts as spent.
2. The data is read. If it cannot be, nothing was drawn: the reservation is cancelled.
3. Noise is drawn, and the files are written out of sight. If this fails the reservation stays spent.
4. When all of it is on the disk the ledger settles the charge, with the hash of the release.
5. One rename shows the folder.

A crash after step 3 leaves a complete release out of sight. The same plan run again settles and shows it, and spends nothing.
"""

from __future__ import annotations

import hashlib
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
from sudare.io import fingerprint_of, read_counts, write_measurements, write_table
from sudare.ledger import Entry, Ledger, Reservation, open_ledger
from sudare.ledger.entries import Settled
from sudare.privacy import ReleaseEvent
from sudare.release.document import Charge, write_document
from sudare.release.folders import DOCUMENT, PAGE, Workshop, appear, completed_beside, told
from sudare.release.page import render_page
from sudare.release.plan_file import ReleasePlan
from sudare.tables import Published, publish

__all__ = ["Release", "read_release_source", "run_release"]

SUFFIXES = {"parquet": ".parquet", "csv": ".csv", "arrow": ".arrow", "geoparquet": ".geoparquet", "geotiff": ".tif"}
TABLE = "table"
MEASUREMENTS = "measurements.parquet"
HEAVY = (
    "duckdb",
    "sudare.kernels.mesh_codes",
    "sudare.kernels.sampling",
    "sudare.kernels.splits",
    "sudare.kernels.sorting",
)
NOT_SECRET = b"public reference"

Progress = Callable[[str, float | None], None]
"""Told what is being done (a word of STAGES), and which share of it is done where this is known."""

STAGES = ("hash", "read", "draw", "write", "report")


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
        ledger.dataset(plan.ledger.dataset)
        tell("hash", None)
        input_hash = fingerprint_of(plan.source, ledger.secret(plan.ledger.dataset))
        reference_hash = "" if plan.reference is None else fingerprint_of(plan.reference.source, NOT_SECRET)
        fingerprint = plan.fingerprint(input_hash, reference_hash, ledger.opt_outs(plan.ledger.dataset).last_entry)
        settled = None if again else ledger.settled(plan.ledger.dataset, fingerprint)
        if settled is not None:
            return _shown_again(plan, settled)
        unfinished = None if again else _finish_abandoned(plan, ledger, fingerprint)
        if unfinished is not None:
            return unfinished
        with Workshop.beside(plan.folder) as workshop:
            _try_formats(plan, workshop.folder)
            reservation = ledger.reserve(
                plan.ledger.dataset, plan.budget, unit=plan.unit, fingerprint=fingerprint, purpose=plan.title
            )
            charge = _charge(plan, ledger, reservation)
            published = _publish(plan, ledger, reservation, threads, tell)
            with told(plan.folder):
                document = _write(plan, published, charge, workshop.folder, input_hash, reference_hash, tell)
            workshop.complete()
            _settle_and_show(plan, ledger, reservation, published.event, workshop.folder)
            return Release(plan.folder, document, published.table, is_repeated=False)


def _load_ahead() -> None:
    """Load what counting and drawing need: a second of work, done while the input is hashed and counted."""
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


def _publish(
    plan: ReleasePlan, ledger: Ledger, reservation: Reservation, threads: int | None, tell: Progress
) -> Published:
    """Read and draw. What fails before the first draw, or refuses to draw, gives the reservation back."""
    is_drawing = False
    try:
        tell("read", None)
        truth = read_release_source(plan, ledger, lambda share, _: tell("read", share))
        reference = None
        if plan.reference is not None:
            reference = read_counts(plan.reference.source, plan.domain, memory=plan.memory)
        tell("draw", None)
        is_drawing = True
        return publish(
            truth,
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


def _try_formats(plan: ReleasePlan, folder: Path) -> None:
    """Write an empty table in every format, so that one that cannot hold the table is found before anything is spent."""
    trial = folder / "trial"
    trial.mkdir()
    nobody = CountTable.from_cells(plan.domain, [], [])
    for form in plan.formats:
        write_table(nobody, trial / f"{TABLE}{SUFFIXES[form]}", format=form, count=plan.count)
    if plan.measurements:
        write_measurements([], plan.domain, trial / MEASUREMENTS)
    shutil.rmtree(trial)


def _write(
    plan: ReleasePlan,
    published: Published,
    charge: Charge,
    folder: Path,
    input_hash: str,
    reference_hash: str,
    tell: Progress,
) -> dict[str, Any]:
    tell("write", None)
    files = []
    for form in plan.formats:
        files.append(write_table(published.table, folder / f"{TABLE}{SUFFIXES[form]}", format=form, count=plan.count))
    if published.measurements is not None:
        files.append(write_measurements(published.measurements, plan.domain, folder / MEASUREMENTS))
    tell("report", None)
    document = write_document(plan, published, charge, files, input_hash, reference_hash)
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
    plan: ReleasePlan, ledger: Ledger, reservation: Reservation, event: ReleaseEvent, folder: Path
) -> None:
    result = {"document_sha256": _hash_of(folder / DOCUMENT), "made_in": folder.name, "folder": str(plan.folder)}
    ledger.settle(reservation, event, result)
    appear(folder, plan.folder)


def _finish_abandoned(plan: ReleasePlan, ledger: Ledger, fingerprint: str) -> Release | None:
    """Show a release that was complete when its process ended, before it was settled; its budget is reserved still."""
    waiting = {reservation.number: reservation for reservation in ledger.reservations(plan.ledger.dataset)}
    for folder in completed_beside(plan.folder):
        document = json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))
        reservation = waiting.get(document["ledger"]["entry"])
        if reservation is not None and reservation.fingerprint == fingerprint:
            event = ReleaseEvent.from_json(json.dumps(document["event"]))
            _settle_and_show(plan, ledger, reservation, event, folder)
            return Release(plan.folder, document, None, is_repeated=True)
    return None


def _shown_again(plan: ReleasePlan, settled: Entry) -> Release:
    """The folder of an identical release: where it should be, or still out of sight after a crash."""
    made = settled.read()
    result = made.result if isinstance(made, Settled) else {}
    hidden = plan.folder.with_name(result["made_in"])
    for folder in (plan.folder, Path(result["folder"]), hidden):
        if (folder / DOCUMENT).is_file() and _hash_of(folder / DOCUMENT) == result["document_sha256"]:
            if folder == hidden:
                appear(hidden, plan.folder)
                folder = plan.folder
            document = json.loads((folder / DOCUMENT).read_text(encoding="utf-8"))
            return Release(folder, document, None, is_repeated=True)
    raise LedgerError(
        f"This very release was made before (ledger entry {settled.number}), but its folder '{result['folder']}' is gone or "
        "was changed. Bring it back, or draw a new one with --again, which spends the budget once more.",
        f"この公表は既に実行済みです（台帳の項目 {settled.number}）が、フォルダ「{result['folder']}」が"
        "見つからないか変更されています。フォルダを戻すか、--again で新たに公表してください（予算をもう一度使います）。",
    )


def _hash_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _silent(stage: str, share: float | None) -> None:
    pass
