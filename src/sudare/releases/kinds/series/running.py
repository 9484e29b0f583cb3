"""One tick of a series: what it adds to the order of `sudare.releases.protocol`, and how a window ends.

A tick reads who is where, takes everybody's path one tick further, and draws from the window's key. The ledger has the keyed hash
of the input before anything is drawn, and says which ticks were published; the private state (`state`) follows it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain import CountTable
from sudare.errors import LedgerError
from sudare.io import read_counts, write_table
from sudare.io.headers import require_columns_of_domain
from sudare.io.loading import defaults_of
from sudare.io.person_cells import Within
from sudare.io.source import files_and_format
from sudare.ledger import Ledger, open_ledger
from sudare.ledger.records import OptOuts, WindowState
from sudare.releases.accounts import Identity
from sudare.releases.header import PlanHeader
from sudare.releases.kind import Attacked, Drawn, Run, TickKind, WindowRequest
from sudare.releases.kinds.series.claims import WindowClaim, account_name, claim_window
from sudare.releases.kinds.series.clock import Tick
from sudare.releases.kinds.series.closing import close_window, close_windows_before, require_same_plan, window_folder
from sudare.releases.kinds.series.days.report import is_report
from sudare.releases.kinds.series.days.verification import verify_day
from sudare.releases.kinds.series.document import TICK_FORMAT, TickDocument, write_tick_document
from sudare.releases.kinds.series.plan_file import SeriesPlan, TickPlan, read_series_plan
from sudare.releases.kinds.series.reading import KnownPeople, TickRows, read_tick_events, read_tick_rows
from sudare.releases.kinds.series.state import Manifest, SavedTick, WindowFolder, key_name
from sudare.releases.kinds.series.verification import verify_tick
from sudare.releases.progress import Progress
from sudare.releases.protocol import Released, carry_out_tick
from sudare.releases.verification import Check
from sudare.series.mechanism import SeriesWindow, TickTable
from sudare.series.paths import LevelChanges
from sudare.storage.durable import sync_folder
from sudare.storage.hashes import keyed_digest
from sudare.storage.staging import translate_errors
from sudare.system.memory import give_back_large_arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TICKS", "close_window", "close_windows_before", "run_tick"]

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


@dataclass(frozen=True, kw_only=True, eq=False)
class TickData:
    """What was read for a tick, and where everybody is now.

    Attributes:
        window: taken to the tick; nothing is drawn yet.
        rows: that were read; None where events are protected.
        before: the manifest of the last tick that was published.
        last_opt_out: the ledger's last entry by which somebody opted out.
        input_hash: keyed, of this input and all before it.
        bound: to which the noise is bound: `SeriesDesign.bind` of the changes.
    """

    window: SeriesWindow
    rows: TickRows | None
    before: Manifest | None
    last_opt_out: int
    input_hash: str
    bound: str


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
        folder.make(last_settled(known))
        with translate_errors(folder.folder):
            claim_window(folder.folder, _claim_of(plan, run.paid.secret), plan.series.file.name)
        saved = folder.load(plan.series.design, last_settled(known))
        if saved.manifest is not None:
            run.paid.ledger.windows.require_seen(known.window, saved.manifest.entry, saved.manifest.entry_hash)
        while saved.window.tick < plan.tick.number:
            saved.window.skip()
        if plan.series.span == "event":
            return self._read_events(plan, saved, _opt_outs(plan, run, known), run)
        manifest, window = saved.manifest, saved.window
        opt_outs = _opt_outs(plan, run, known)
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
            within=_within(plan),
            memory=plan.series.memory,
            threads=run.threads,
        )
        window.paths.grow(len(rows.cells))
        changes = window.advance(rows.cells, rows.opted_out)
        return TickData(
            window=window,
            rows=rows,
            before=manifest,
            last_opt_out=opt_outs.last_entry,
            input_hash=_input_hash(plan, run, window, manifest, (rows.cells.tobytes(), rows.opted_out.tobytes())),
            bound=_bound(plan, manifest, changes),
        )

    def _read_events(self, plan: TickPlan, saved: SavedTick, opt_outs: OptOuts, run: Run) -> TickData:
        series, window, manifest = plan.series, saved.window, saved.manifest
        if defaults_of(plan.source, files_and_format(plan.source)[1]).rows == "people":
            cells, people = read_tick_events(
                plan.source, series.domain, opt_outs, within=_within(plan), memory=series.memory, threads=run.threads
            )
        else:
            table = read_counts(plan.source, series.domain, memory=series.memory, threads=run.threads)
            cells, people = table.keys.astype(np.int64), table.counts
        changes = window.advance_counts(cells, people)
        return TickData(
            window=window,
            rows=None,
            before=manifest,
            last_opt_out=0,
            input_hash=_input_hash(plan, run, window, manifest, (cells.tobytes(), people.tobytes())),
            bound=_bound(plan, manifest, changes),
        )

    def binding(self, plan: TickPlan, data: TickData, run: Run) -> str:
        """The keyed hash of everybody's cell, of who opted out, of the key, and of all input before."""
        return data.input_hash

    def draw(self, plan: TickPlan, data: TickData, run: Run) -> Drawn[DrawnTick]:
        """Measure, estimate and refine."""
        run.tell("draw", None)
        published = data.window.draw(data.bound)
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
            bound=data.bound,
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
    """Publish one tick of a series; windows before it are closed first.

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
    give_back_large_arrays()  # a service does this tick after tick
    with open_ledger(plan.ledger.location) if ledger is None else nullcontext(ledger) as opened:
        require_same_plan(plan, tick, opened)
        close_windows_before(plan, tick.window, ledger=opened)
        made = carry_out_tick(TICKS, plan.at(tick), threads=threads, progress=progress, ledger=opened)
    _show_latest(plan, tick, made.folder)
    folder = window_folder(plan.at(tick))
    if folder.newest() == tick.number:
        folder.clear_before(tick.number)
    return made


def last_settled(known: WindowState) -> int:
    """The last tick of a window that was published; -1 if none was."""
    tick = known.last_tick
    while tick >= 0 and (known.is_missing(tick) or tick == known.open_tick):
        tick -= 1
    return tick


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


def _opt_outs(plan: TickPlan, run: Run, known: WindowState) -> OptOuts:
    """Who has opted out when the tick is begun. Whoever does so later is counted no more from the next tick on.

    A tick that is taken up again is the one that was begun: else somebody who opted out in between would leave it missing.
    """
    ledger, dataset = run.paid.ledger, run.paid.dataset
    begun = ledger.windows.begun(known.window) if known.open_tick == plan.tick.number else None
    return ledger.opt_outs(dataset, before=None if begun is None else begun.number)


def _within(plan: TickPlan) -> Within | None:
    column, tick = plan.series.time, plan.tick
    return None if column is None else Within(column, tick.begins, tick.ends)


def _bound(plan: TickPlan, before: Manifest | None, changes: Sequence[LevelChanges]) -> str:
    return plan.series.design.bind("" if before is None else before.bound, plan.tick.number, changes)


def _claim_of(plan: TickPlan, secret: bytes) -> WindowClaim:
    """What the window of a tick is carried out by."""
    began, design = plan.tick.window, plan.series.design
    return WindowClaim(
        fingerprint=plan.window_fingerprint,
        account=account_name(secret),
        design=design.digest,
        begins=began.isoformat(),
        ends=(began + plan.series.clock.window).isoformat(),
        event=design.event().to_json(),
    )


def _write_measured(published: TickTable, path: Path) -> Path:
    """What was measured of each level and then of each margin, as it was: others can estimate from it in another way.

    Noise cannot be compressed: numbers are written in as few bytes as hold the largest of their level.
    """
    numbers = (*published.measured, *published.margins)
    levels = {f"level{number}": _narrowed(level) for number, level in enumerate(numbers)}
    looked_at = ((number, nodes) for number, nodes in enumerate(published.nodes) if nodes is not None)
    levels |= {f"nodes{number}": _narrowed(nodes) for number, nodes in looked_at}
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
