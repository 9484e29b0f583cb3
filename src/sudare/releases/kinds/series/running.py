"""One tick of a series: what it adds to the order of `sudare.releases.protocol`, and how a window ends.

A tick reads who is where, takes everybody's path one tick further, and draws from the window's key. The ledger has the keyed hash
of the input before anything is drawn, and says which ticks were published; the private state (`state`) follows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from sudare.bilingual import Words
from sudare.domain import CountTable
from sudare.errors import LedgerError
from sudare.io.headers import require_columns_of_domain
from sudare.io.person_cells import Within
from sudare.ledger import Ledger, open_ledger
from sudare.ledger.entries import TickBegun, TickSettled
from sudare.ledger.records import OptOuts, WindowState
from sudare.releases.accounts import Identity
from sudare.releases.header import PlanHeader
from sudare.releases.kind import Attacked, Drawn, Run, TickKind, WindowRequest
from sudare.releases.kinds.series.claims import WindowClaim, account_name, claim_window
from sudare.releases.kinds.series.clock import Tick
from sudare.releases.kinds.series.closing import close_window, close_windows_before, require_same_plan, window_folder
from sudare.releases.kinds.series.days.report import is_report
from sudare.releases.kinds.series.days.verification import verify_day
from sudare.releases.kinds.series.document import (
    TICK_FORMAT,
    DocumentFacts,
    TickDocument,
    TickReference,
    write_tick_document,
)
from sudare.releases.kinds.series.plan_file import SeriesPlan, TickPlan, read_series_plan
from sudare.releases.kinds.series.reading import KnownPeople, TickRows, read_tick_events, read_tick_rows
from sudare.releases.kinds.series.recreating import predicted_deviations, recreate_tick
from sudare.releases.kinds.series.references import find_reference
from sudare.releases.kinds.series.state import SavedTick, WindowFolder, key_name
from sudare.releases.kinds.series.state_files import Manifest
from sudare.releases.kinds.series.tick_files import show_latest, write_tick_files
from sudare.releases.kinds.series.verification import verify_tick
from sudare.releases.progress import Progress, silent
from sudare.releases.protocol import Released, carry_out_tick
from sudare.releases.verification import Check
from sudare.series.mechanism import SeriesWindow, TickTable
from sudare.series.paths import LevelChanges
from sudare.storage.hashes import keyed_digest
from sudare.storage.staging import translate_errors
from sudare.system.clock import offset_text, time_text
from sudare.system.memory import give_back_large_arrays

__all__ = ["TICKS", "close_window", "close_windows_before", "run_tick"]

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
        left_out: how many rows were not counted; for the operator alone.
        before: the manifest of the last tick that was published.
        last_opt_out: the ledger's last entry by which somebody opted out.
        input_hash: keyed, of this input and all before it.
        bound: to which the noise is bound: `SeriesDesign.bind` of the changes.
    """

    window: SeriesWindow
    rows: TickRows | None
    left_out: int
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
        filtered: the deviations that the filter predicts, for each level.
        reference: the table by which the counts were refined, if the plan refers to one.
        facts: what the document says of this moment.
        left_out: how many rows were not counted; for the operator alone.
    """

    published: TickTable
    keyed_hash: str
    filtered: tuple[float, ...]
    reference: TickReference | None
    facts: DocumentFacts
    left_out: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class WrittenTick:
    """A tick whose files are written.

    Attributes:
        table: that is published.
        document: what ``release.json`` will say.
        left_out: how many rows were not counted; for the operator alone, and in no file.
    """

    table: CountTable
    document: TickDocument
    left_out: int


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
            left_out=rows.left_out,
            before=manifest,
            last_opt_out=opt_outs.last_entry,
            input_hash=_input_hash(plan, run, window, manifest, (rows.cells.tobytes(), rows.opted_out.tobytes())),
            bound=_bound(plan, manifest, changes),
        )

    def _read_events(self, plan: TickPlan, saved: SavedTick, opt_outs: OptOuts, run: Run) -> TickData:
        series, window, manifest = plan.series, saved.window, saved.manifest
        found = read_tick_events(
            plan.source, series.domain, opt_outs, within=_within(plan), memory=series.memory, threads=run.threads
        )
        cells, people = found.cells, found.people
        changes = window.advance_counts(cells, people)
        return TickData(
            window=window,
            rows=None,
            left_out=found.left_out,
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
        window, tick = data.window, plan.tick.number
        reference = find_reference(plan, run.paid.ledger, run.paid.charge.hash)
        window.reference = None if reference is None else reference.table
        published = window.draw(data.bound)
        result = DrawnTick(
            published=published,
            keyed_hash=data.input_hash,
            filtered=predicted_deviations(window, tick),
            reference=None if reference is None else reference.record,
            facts=DocumentFacts(created=time_text(), utc_offset=offset_text(), remaining=run.paid.charge.remaining),
            left_out=data.left_out,
        )
        return Drawn(result=result, event=plan.series.design.event(window.key.origin))

    def keep(self, plan: TickPlan, data: TickData, drawn: Drawn[DrawnTick], run: Run) -> None:
        """Keep the state of the window after this tick."""
        run.tell("write", None)
        import pyarrow

        rows = data.rows
        begun = run.paid.ledger.windows.begun(self._known(plan, run).window)
        if begun is None:
            raise TypeError("a tick that was not begun")
        folder = window_folder(plan)
        folder.keep_facts(plan.tick.number, drawn.result.facts)
        folder.save(
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
        if drawn.event is None:
            raise TypeError("a tick without an event")
        result = drawn.result
        files = write_tick_files(plan.series, result.published, folder)
        document = write_tick_document(
            plan,
            result.published.table,
            drawn.event,
            run.paid.charge,
            files,
            result.keyed_hash,
            filtered=result.filtered,
            reference=result.reference,
            facts=result.facts,
        )
        return WrittenTick(table=result.published.table, document=document, left_out=result.left_out)

    def recreate(self, plan: TickPlan, run: Run) -> Drawn[DrawnTick] | None:
        """A tick that was published, from the private state of its window; None if that, or its key, is not there any more."""
        ledger, series, known = run.paid.ledger, plan.series, self._known(plan, run)
        folder, last = window_folder(plan), last_settled(known)
        settled = ledger.settled(run.paid.dataset, plan.fingerprint())
        body = None if settled is None else settled.read()
        begun = ledger.entry(body.begun).read() if isinstance(body, TickSettled) else None
        facts = folder.facts(plan.tick.number)
        if known.is_closed or facts is None or not isinstance(begun, TickBegun) or plan.tick.number > last:
            return None
        reference = find_reference(plan, ledger, run.paid.charge.hash)
        try:
            made = recreate_tick(
                folder, series.design, plan.tick.number, last, None if reference is None else reference.table
            )
        except LedgerError:
            return None
        result = DrawnTick(
            published=made.published,
            keyed_hash=begun.input_hash,
            filtered=made.filtered,
            reference=None if reference is None else reference.record,
            facts=facts,
        )
        return Drawn(result=result, event=series.design.event(made.origin))

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
    """Publish one tick of a series; windows before it are closed first, and its own right after its last tick.

    A process that ends between the last tick and the end of its window leaves it to be closed: by the same tick run again, by the
    next window's first tick, or by `close_windows_before`.

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
        OutputError: if something cannot be written; where it is the report of the window, the tick was published.
    """
    give_back_large_arrays()  # a service does this tick after tick
    with open_ledger(plan.ledger.location) if ledger is None else nullcontext(ledger) as opened:
        require_same_plan(plan, tick, opened)
        close_windows_before(plan, tick.window, ledger=opened)
        made = carry_out_tick(TICKS, plan.at(tick), threads=threads, progress=progress, ledger=opened)
        show_latest(plan, tick, made.folder)
        folder = window_folder(plan.at(tick))
        if folder.newest() == tick.number:
            folder.clear_before(tick.number)
        if tick.number == plan.clock.ticks - 1 and folder.folder.is_dir():
            (progress or silent)("report", None)
            close_window(plan, tick.window, ledger=opened)
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
