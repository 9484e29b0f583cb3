"""One tick of a series: what it adds to the order of `sudare.releases.protocol`, and how a window ends.

A tick reads who is where, takes everybody's path one tick further, and draws from the window's key. The ledger has the keyed hash
of the input before anything is drawn, and says which ticks were published; the private state (`state`) follows it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain import CountTable
from sudare.errors import InputError, LedgerError
from sudare.io import read_counts, write_table
from sudare.io.headers import require_columns_of_domain
from sudare.io.person_cells import Within
from sudare.ledger import Ledger, open_ledger
from sudare.ledger.checks import WINDOW_CLOSED
from sudare.ledger.records import TickRefusedError, WindowState
from sudare.privacy import ReleaseEvent
from sudare.releases.accounts import Identity
from sudare.releases.header import PlanHeader
from sudare.releases.kind import Attacked, Drawn, Run, TickKind, WindowRequest
from sudare.releases.kinds.series.clock import Tick
from sudare.releases.kinds.series.days.report import is_report, make_report
from sudare.releases.kinds.series.days.verification import verify_day
from sudare.releases.kinds.series.document import TICK_FORMAT, TickDocument, write_tick_document
from sudare.releases.kinds.series.plan_file import SeriesPlan, TickPlan, read_series_plan
from sudare.releases.kinds.series.reading import KnownPeople, TickRows, read_tick_rows
from sudare.releases.kinds.series.state import Manifest, WindowFolder, key_name
from sudare.releases.kinds.series.verification import verify_tick
from sudare.releases.progress import Progress
from sudare.releases.protocol import Released, carry_out_tick
from sudare.releases.verification import Check
from sudare.series.mechanism import SeriesWindow, TickTable
from sudare.storage.durable import sync_folder
from sudare.storage.hashes import keyed_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["TICKS", "close_windows_before", "run_tick"]

TABLE = "table.parquet"
MEASUREMENTS = "measurements.npz"
LATEST = "latest"
STAGES = ("read", "draw", "write")

OLD_COPIES = Words(
    "'{folder}' has a tick that the ledger does not know: ledger and private state are old copies. Bring the present ones back. "
    "Drawing from the same key once more could reveal people, so nothing was published.",
    "「{folder}」に、台帳にない時点があります。台帳と非公開の状態が古いコピーです。現在のものを戻してください。"
    "同じ鍵でもう一度ノイズを引くと個人が分かるおそれがあるため、何も公表していません。",
)
CHANGED_PLAN = Words(
    "{file} has changed since the window that began at {window} was opened, or the data set or its folder is another one. "
    "A window is carried out by one plan: bring it back as it was, or wait for the next window, at {next}.",
    "{window} に始まった期間の途中で {file} が変更されたか、データセットまたはフォルダが異なります。"
    "1つの期間は1つの計画で実行します。計画を元に戻すか、次の期間（{next}）をお待ちください。",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class TickData:
    """What was read for a tick, and where everybody is now.

    Attributes:
        window: taken to the tick; nothing is drawn yet.
        rows: that were read; None where events are protected.
        before: the manifest of the last tick that was published.
        last_opt_out: the ledger's last entry by which somebody opted out.
        input_hash: keyed, of this input and all before it.
    """

    window: SeriesWindow
    rows: TickRows | None
    before: Manifest | None
    last_opt_out: int
    input_hash: str


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnTick:
    """What was drawn for a tick.

    Attributes:
        published: the table and what was measured for it.
        keyed_hash: of the input.
    """

    published: TickTable
    keyed_hash: str


@dataclass(frozen=True, kw_only=True, eq=False)
class WrittenTick:
    """A tick whose files are written.

    Attributes:
        table: that is published.
        document: what ``release.json`` will say.
    """

    table: CountTable
    document: TickDocument


class SeriesKind(TickKind[TickPlan, TickData, DrawnTick, WrittenTick]):
    """Tables at every tick, under one promise for a window."""

    name = "series"
    report_format = TICK_FORMAT
    refusals: tuple[type[BaseException], ...] = ()

    def read_plan(self, file: Path, folder: Path | None = None) -> TickPlan:
        """The plan at the latest tick that is over, by the wall clock."""
        series = read_series_plan(file, folder)
        return series.at(series.clock.last_over(datetime.now()))

    def header(self, plan: TickPlan) -> PlanHeader:
        """What the protocol needs to know of a tick."""
        return plan.header

    def window(self, plan: TickPlan) -> WindowRequest:
        """The window of a tick."""
        return WindowRequest(
            fingerprint=plan.window_fingerprint,
            ticks=plan.series.clock.ticks,
            tick=plan.tick.number,
            purpose=f"{plan.title} ({plan.tick.window:%Y-%m-%d %H:%M})",
            measurements=plan.series.design.event().measurements,
        )

    def identity(self, plan: TickPlan, last_opt_out: int) -> Identity:
        """The plan, the window and the tick. Opting out changes what later ticks count, not which release a tick is."""
        return Identity(fingerprint=plan.fingerprint())

    def prepare(self, plan: TickPlan, folder: Path) -> None:
        """Plan, which is refused here, before anything is reserved, if no plan can be made."""
        _ = plan.series.design

    def require_source(self, plan: TickPlan, *, has_opted_out: bool) -> None:
        """Refuse files that are not there or lack a column."""
        require_columns_of_domain(plan.source, plan.series.domain)

    def read(self, plan: TickPlan, run: Run) -> TickData:
        """Read who is where, and take everybody's path to this tick."""
        run.tell("read", None)
        folder, known = window_folder(plan), self._known(plan, run)
        _require_current(plan, folder, known)
        saved = folder.load(plan.series.design, last_settled(known))
        if saved.manifest is not None:
            run.paid.ledger.windows.require_seen(known.window, saved.manifest.entry, saved.manifest.entry_hash)
        while saved.window.tick < plan.tick.number:
            saved.window.skip()
        if plan.series.span == "event":
            return self._read_events(plan, saved.window, saved.manifest, run)
        manifest, window = saved.manifest, saved.window
        opt_outs = run.paid.ledger.opt_outs(run.paid.dataset)
        people = KnownPeople(
            files=tuple(folder.dictionary(manifest)),
            count=0 if manifest is None else manifest.people,
            opted_out=saved.opted_out,
            last_opt_out=0 if manifest is None else manifest.last_opt_out,
        )
        rows = read_tick_rows(
            plan.source,
            plan.series.domain,
            people,
            opt_outs,
            key=run.paid.secret,
            within=None if plan.series.time is None else Within(plan.series.time, plan.tick.begins, plan.tick.ends),
            memory=plan.series.memory,
            threads=run.threads,
        )
        window.paths.grow(len(rows.cells))
        window.advance(rows.cells, rows.opted_out)
        digest = _input_hash(plan, run, window, manifest, (rows.cells.tobytes(), rows.opted_out.tobytes()))
        return TickData(window=window, rows=rows, before=manifest, last_opt_out=opt_outs.last_entry, input_hash=digest)

    def _read_events(self, plan: TickPlan, window: SeriesWindow, manifest: Manifest | None, run: Run) -> TickData:
        table = read_counts(plan.source, plan.series.domain, memory=plan.series.memory, threads=run.threads)
        cells, people = table.keys.astype(np.int64), table.counts
        window.advance_counts(cells, people)
        digest = _input_hash(plan, run, window, manifest, (cells.tobytes(), people.tobytes()))
        return TickData(window=window, rows=None, before=manifest, last_opt_out=0, input_hash=digest)

    def binding(self, plan: TickPlan, data: TickData, run: Run) -> str:
        """The keyed hash of everybody's cell, of who opted out, of the key, and of all input before."""
        return data.input_hash

    def draw(self, plan: TickPlan, data: TickData, run: Run) -> Drawn[DrawnTick]:
        """Measure, estimate and refine."""
        run.tell("draw", None)
        published = data.window.draw()
        entropy = data.window.key.origin
        return Drawn(
            result=DrawnTick(published=published, keyed_hash=data.input_hash), event=plan.series.design.event(entropy)
        )

    def keep(self, plan: TickPlan, data: TickData, drawn: Drawn[DrawnTick], run: Run) -> None:
        """Keep the state of the window after this tick."""
        run.tell("write", None)
        import pyarrow

        rows = data.rows
        begun = run.paid.ledger.windows.begun(self._known(plan, run).window)
        if begun is None:
            raise TypeError("a tick that was not begun")
        window_folder(plan).save(
            data.window,
            before=data.before,
            begun=begun,
            newcomers=pyarrow.table({}) if rows is None else rows.newcomers,
            opted_out=np.zeros(0, dtype=np.bool_) if rows is None else rows.opted_out,
            last_opt_out=data.last_opt_out,
        )

    def write(self, plan: TickPlan, drawn: Drawn[DrawnTick], folder: Path, run: Run) -> WrittenTick:
        """Write the table, and what was measured for it."""
        published = drawn.result.published
        files = [write_table(published.table, folder / TABLE, format="parquet", count=plan.series.count)]
        if plan.series.measurements:
            files.append(_write_measured(published, folder / MEASUREMENTS))
        if drawn.event is None:
            raise TypeError("a tick without an event")
        document = write_tick_document(
            plan, published.table, drawn.event, run.paid.charge, files, drawn.result.keyed_hash
        )
        return WrittenTick(table=published.table, document=document)

    def report(
        self, plan: TickPlan, draft: WrittenTick, folder: Path, attacked: Attacked, *, even_if_broken: bool
    ) -> TickDocument:
        """A tick has no page of its own; its day has one."""
        return draft.document

    def fault_of(self, folder: Path) -> Check | None:
        """The first check of a folder that fails."""
        return next((check for check in self.check(folder) if check.outcome == "failed"), None)

    def check(self, folder: Path, ledger: str | None = None) -> list[Check]:
        """Check the folder of a tick (`verify_tick`), or a whole window by its report (`verify_day`)."""
        return verify_day(folder, ledger) if is_report(folder) else verify_tick(folder, ledger)

    def _known(self, plan: TickPlan, run: Run) -> WindowState:
        known = run.paid.ledger.windows.find(run.paid.dataset, plan.window_fingerprint)
        if known is None:
            raise TypeError("a tick of a window that was not opened")
        return known


TICKS = SeriesKind()


def run_tick(
    plan: SeriesPlan,
    tick: Tick,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    ledger: Ledger | None = None,
) -> Released[WrittenTick]:
    """Publish one tick of a series; windows before it are closed first, and its own after its last tick.

    Args:
        plan: of the series.
        tick: which one.
        threads: how many threads to use.
        progress: called with the stage, and the share of it that is done.
        ledger: the plan's ledger, where it is open already.

    Raises:
        BudgetExceededError: if the data set's budget does not allow the window; nothing was looked at.
        TickRefusedError: if the tick cannot be published any more.
        LedgerError: if ledger or state cannot be used.
        InputError: if the data is not there.
    """
    close_windows_before(plan, tick.window, ledger=ledger)
    _require_same_plan(plan, tick)
    made = carry_out_tick(TICKS, plan.at(tick), threads=threads, progress=progress, ledger=ledger)
    _show_latest(plan, tick, made.folder)
    folder = window_folder(plan.at(tick))
    if folder.newest() == tick.number:
        folder.clear_before(tick.number)
    return made


def close_windows_before(plan: SeriesPlan, window: datetime, *, ledger: Ledger | None = None) -> list[datetime]:
    """Close every window of a series that began before another one and has state still; gives when they began.

    See `close_window` for the order of its steps.

    Args:
        plan: of the series.
        window: those that began before this are closed.
        ledger: the plan's ledger, where it is open already.
    """
    closed = []
    for began in _windows_with_state(plan):
        if began < window:
            close_window(plan, began, ledger=ledger)
            closed.append(began)
    return closed


def close_window(plan: SeriesPlan, began: datetime, *, ledger: Ledger | None = None) -> None:
    """Close one window: its report is made, its key is destroyed, and the ledger settles it.

    In this order, each step of which can be repeated: no tick can be begun any more; the report is made from what was published;
    the key and the state are destroyed; the ledger settles, with the hash of the report. Whoever is stopped on the way closes the
    window again, and gets the same report.

    Args:
        plan: of the series.
        began: when the window did.
        ledger: the plan's ledger, where it is open already.

    Raises:
        OutputError: if the report cannot be written; nothing is destroyed then.
    """
    tick = plan.clock.tick_of(began, 0)
    folder = window_folder(plan.at(tick))
    opened = open_ledger(plan.ledger.location) if ledger is None else ledger
    try:
        known = _without_open_ticks(plan, began, opened)
        report = {} if known is None else make_report(plan, began, known, opened)
        folder.destroy()
        if known is not None and not known.is_closed:
            opened.windows.close(known.window, _event(plan), report)
        folder.remove()
    finally:
        if ledger is None:
            opened.close()


def _without_open_ticks(plan: SeriesPlan, began: datetime, ledger: Ledger) -> WindowState | None:
    """What the ledger knows of a window, each of whose ticks was settled or is missing for good from now on."""
    dataset, fingerprint = plan.ledger.dataset, plan.fingerprint(began)
    known = ledger.windows.find(dataset, fingerprint)
    if known is not None and known.to_come:
        # Somebody may settle the last tick in this very moment.
        with suppress(TickRefusedError):
            ledger.windows.miss_tick(known.window, known.window.ticks - 1, WINDOW_CLOSED)
        known = ledger.windows.find(dataset, fingerprint)
    return known


def window_folder(plan: TickPlan) -> WindowFolder:
    """The private state of the window of a tick."""
    following = plan.tick.window + plan.series.clock.window
    return WindowFolder(
        plan.series.state_of(plan.tick.window), plan.window_fingerprint, following.strftime("%Y-%m-%d %H:%M")
    )


def last_settled(known: WindowState) -> int:
    """The last tick of a window that was published; -1 if none was."""
    tick = known.last_tick
    while tick >= 0 and (known.is_missing(tick) or tick == known.open_tick):
        tick -= 1
    return tick


def _event(plan: SeriesPlan) -> ReleaseEvent:
    return plan.design.event()


def _windows_with_state(plan: SeriesPlan) -> Iterator[datetime]:
    if not plan.state.is_dir():
        return
    for folder in sorted(plan.state.glob("window-*")):
        try:
            yield datetime.strptime(folder.name, "window-%Y-%m-%dT%H%M%S")
        except ValueError:
            continue


def _require_same_plan(plan: SeriesPlan, tick: Tick) -> None:
    """Refuse a plan that was changed within a window that has begun."""
    folder = window_folder(plan.at(tick))
    newest = folder.newest()
    if newest is None:
        return
    try:
        folder.manifest(newest)
    except LedgerError:
        following = tick.window + plan.clock.window
        raise InputError(
            CHANGED_PLAN.format(
                file=plan.file.name,
                window=tick.window.strftime("%Y-%m-%d %H:%M"),
                next=following.strftime("%Y-%m-%d %H:%M"),
            )
        ) from None


def _require_current(plan: TickPlan, folder: WindowFolder, known: WindowState) -> None:
    """Refuse old copies: of the ledger, by the private state; of both, by what was published."""
    folder.require_known(known.last_tick)
    clock, tick = plan.series.clock, plan.tick
    for number in range(known.last_tick + 1, clock.ticks):
        if number == tick.number:
            continue
        later = plan.series.at(clock.tick_of(tick.window, number))
        if later.folder.exists():
            raise LedgerError(OLD_COPIES.format(folder=later.folder))


def _input_hash(
    plan: TickPlan, run: Run, window: SeriesWindow, before: Manifest | None, parts: tuple[bytes, ...]
) -> str:
    chained = "" if before is None else before.input_hash
    head = f"{plan.window_fingerprint} {plan.tick.number} {key_name(window.key)} {chained}"
    return keyed_digest(run.paid.secret, "tick", (head.encode(), *parts))


def _write_measured(published: TickTable, path: Path) -> Path:
    """What was measured of each level, as it was: others can estimate from it in another way.

    Noise cannot be compressed: numbers are written in as few bytes as hold the largest of their level.
    """
    levels = {f"level{number}": _narrowed(level) for number, level in enumerate(published.measured)}
    with path.open("wb") as stream:
        np.savez(stream, **levels)  # type: ignore[arg-type]
    return path


def _narrowed(values: NDArray[np.int64]) -> NDArray[np.signedinteger[Any]]:
    farthest = max(-int(values.min()), int(values.max())) if values.size else 0
    kinds: tuple[type[np.signedinteger[Any]], ...] = (np.int8, np.int16, np.int32)
    fitting = next((kind for kind in kinds if farthest <= np.iinfo(kind).max), np.int64)
    return values.astype(fitting)


def _show_latest(plan: SeriesPlan, tick: Tick, folder: Path) -> None:
    """Let ``latest`` lead to a tick, unless it leads to a later one."""
    link = plan.folder / LATEST
    target = os.path.relpath(folder, plan.folder)
    if link.is_symlink() and str(link.readlink()) >= target:
        return
    temporary = plan.folder / f".{LATEST}-{os.getpid()}"
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(target)
    temporary.replace(link)
    sync_folder(plan.folder)
