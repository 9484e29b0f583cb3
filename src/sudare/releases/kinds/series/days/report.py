"""Making the report of a window: from what its ticks published, when no tick can be added any more.

It looks at published files, the plan and the ledger, and at nothing else; so it costs nothing, and can be made at any time. What
a process left that was killed on the way is cleared away and made again; what was shown stays as it is.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain import CountTable
from sudare.errors import InputError, OutputError
from sudare.ledger import Ledger
from sudare.ledger.entries import TickSettled
from sudare.ledger.records import WindowState
from sudare.releases.accounts import Charge, describe_charge
from sudare.releases.data.domains import describe_domain
from sudare.releases.documents import (
    StatedDocument,
    describe_head,
    describe_promise,
    document_text,
    document_values,
)
from sudare.releases.folder_store import FolderStore
from sudare.releases.kinds.series.clock import Tick
from sudare.releases.kinds.series.days.areas import areas_of, largest_areas
from sudare.releases.kinds.series.days.document import (
    CURVES,
    DAY_FORMAT,
    LOST,
    MISSING,
    PUBLISHED,
    AreaCurve,
    DayDocument,
    DayTick,
    WindowRecord,
    costs_together,
    curves_text,
    expected_errors,
    folder_of_tick,
    report_name,
)
from sudare.releases.kinds.series.days.page import render_day_page, shown_ticks
from sudare.releases.kinds.series.days.revision import write_revision
from sudare.releases.kinds.series.plan_file import SeriesPlan
from sudare.releases.kinds.series.verification import read_tick_document, read_tick_table
from sudare.releases.verification import UnsoundError
from sudare.storage.guarded_json import read_json, read_stated
from sudare.storage.hashes import hash_of_file
from sudare.storage.staging import (
    DOCUMENT,
    PAGE,
    Staging,
    completed_beside,
    hold_target,
    publish_folder,
    translate_errors,
)
from sudare.system.regular_files import read_regular_file

__all__ = ["is_report", "make_report", "read_day_document", "report_folder"]

REPORT_FOLDER = Words("report of a series", "連続公表の報告書")
PACKAGES = ("numpy", "pyarrow", "duckdb")
IN_THE_WAY = Words(
    "'{folder}' is there, and is not the report of the window that began at {window}. Move it away: the window is closed when "
    "its report can be written.",
    "「{folder}」が既にありますが、{window} に始まった期間の報告書ではありません。移動してください。"
    "報告書を書き込めるようになると、期間を閉じます。",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class _ReadTick:
    """A tick of the window: what the report says of it, and its table if it is there."""

    entry: DayTick
    table: CountTable | None = None


def report_folder(plan: SeriesPlan, began: datetime) -> Path:
    """Where the report of a window is."""
    return plan.folder / f"date={began:%Y-%m-%d}" / report_name(began)


def is_report(folder: Path) -> bool:
    """Whether a folder is a window's report, by what its document says; a damaged one is taken for what it names."""
    path = folder / DOCUMENT
    try:
        said = read_json(path)
    except OSError:
        return False
    except ValueError:
        return f'"{DAY_FORMAT}"'.encode() in read_regular_file(path)
    return isinstance(said, dict) and said.get("format") == DAY_FORMAT


def read_day_document(folder: str | Path) -> dict[str, object]:
    """What ``release.json`` of a window's report says.

    Raises:
        InputError: if it is missing, damaged, or of a version that this sudare does not know.
    """
    return read_stated(Path(folder) / DOCUMENT, DAY_FORMAT, REPORT_FOLDER)


def make_report(plan: SeriesPlan, began: datetime, known: WindowState, ledger: Ledger) -> Mapping[str, str]:
    """Publish the report of a window, unless it is there already.

    Args:
        plan: of the series.
        began: when the window did.
        known: what the ledger knows of the window; every tick is settled or missing by now.
        ledger: that is open.

    Returns:
        What the ledger keeps of it; nothing if no tick was published.

    Raises:
        OutputError: if it cannot be written, or something else is in its place.
    """
    if not known.settled:
        return {}
    target = report_folder(plan, began)
    with translate_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
    charge = describe_charge(plan.ledger, ledger, known.window.reservation)
    with hold_target(target):
        if target.exists() or target.is_symlink():
            _require_own(target, began, charge)
        else:
            _publish(plan, began, known, ledger, charge, target)
    return {"document_sha256": hash_of_file(target / DOCUMENT), "folder": str(target.resolve())}


def _require_own(target: Path, began: datetime, charge: Charge) -> None:
    """Refuse what is in the place of a report, and is none of this window."""
    with suppress(InputError, LookupError, TypeError):
        said: Any = read_day_document(target)
        if (said["window"]["begins"], said["ledger"]["hash"]) == (began.isoformat(), charge.hash):
            return
    raise OutputError(IN_THE_WAY.format(folder=target, window=began.strftime("%Y-%m-%d %H:%M")))


def _publish(
    plan: SeriesPlan, began: datetime, known: WindowState, ledger: Ledger, charge: Charge, target: Path
) -> None:
    # Whoever makes a report holds its place: what is complete here and was not shown, a killed process left.
    for abandoned in completed_beside(target):
        shutil.rmtree(abandoned, ignore_errors=True)
    with Staging.beside(target) as staging:
        with translate_errors(target):
            document = _write(plan, began, known, ledger, charge, staging.folder)
        staging.complete(document_text(document))
        publish_folder(staging.folder, target)


def _write(
    plan: SeriesPlan, began: datetime, known: WindowState, ledger: Ledger, charge: Charge, folder: Path
) -> DayDocument:
    """Write the files of a report; gives its document."""
    clock, design = plan.clock, plan.design
    areas = areas_of(plan.domain, plan.areas)
    sums = np.zeros((areas.number, clock.ticks), dtype=np.int64)
    entries: list[DayTick] = []
    kept: dict[int, CountTable] = {}
    shown = set(shown_ticks({"ticks": range(clock.ticks)}))
    for number in range(clock.ticks):
        found = _read_tick(plan, clock.tick_of(began, number), known, ledger)
        entries.append(found.entry)
        if found.table is not None:
            sums[:, number] = areas.sums(found.table)
            if number in shown:
                kept[number] = found.table
    is_there = [entry.state == PUBLISHED for entry in entries]
    curves = tuple(
        AreaCurve(
            name=areas.name(area),
            counts=tuple(int(count) if there else None for count, there in zip(sums[area], is_there, strict=True)),
        )
        for area in largest_areas(areas, sums)
    )
    plain = [document_values(entry) for entry in entries], [document_values(curve) for curve in curves]
    (folder / CURVES).write_bytes(curves_text(*plain))
    revision = write_revision(plan, entries, folder)
    files = [folder / CURVES, *([] if revision is None else [folder / revision.file])]
    event = design.event()
    document = DayDocument(
        head=describe_head(DAY_FORMAT, plan.header, files, PACKAGES),
        event=event,
        ledger=charge,
        promise=describe_promise(event),
        window=WindowRecord(
            begins=began.isoformat(),
            ends=(began + clock.window).isoformat(),
            ticks=clock.ticks,
            every=round(clock.every.total_seconds()),
            moves=tuple(level.measurement.moves for level in design.levels),
            strategies=tuple(level.strategy.name for level in design.levels),
        ),
        ticks=tuple(entries),
        together=costs_together(event.cost),
        accuracy=expected_errors(design),
        areas=curves,
        chosen=plan.areas,
        count=plan.count,
        domain=describe_domain(plan.domain),
        revision=revision,
    )
    page = render_day_page(document_values(document), kept, language=plan.language)
    (folder / PAGE).write_text(page, encoding="utf-8")
    return document


def _read_tick(plan: SeriesPlan, tick: Tick, known: WindowState, ledger: Ledger) -> _ReadTick:
    """A tick as the ledger settled it. One that was settled, and not shown because its process ended, is shown now."""
    entry = DayTick(number=tick.number, begins=tick.begins.isoformat(), state=MISSING)
    at = plan.at(tick)
    settled = ledger.settled(plan.ledger.dataset, at.fingerprint())
    body = None if settled is None else settled.read()
    if settled is None or not isinstance(body, TickSettled):
        return _ReadTick(entry=entry)
    entry = replace(entry, folder=folder_of_tick(tick.begins), sha256=body.result["document_sha256"], state=LOST)
    store = FolderStore[None](ledger, plan.ledger.dataset, at.fingerprint(), at.folder, known.window)
    released = store.find_settled(body.result, settled.number)
    if released is None or released.folder != at.folder:
        return _ReadTick(entry=entry)
    try:
        table = read_tick_table(StatedDocument(at.folder / DOCUMENT, read_tick_document(at.folder)))
    except (InputError, UnsoundError):
        return _ReadTick(entry=entry)
    entry = replace(entry, state=PUBLISHED, total=int(table.total), non_empty_cells=int(table.keys.size))
    return _ReadTick(entry=entry, table=table)
