"""A series as a service: tick after tick by the wall clock, until somebody ends it.

Ticks that were left out while nobody watched are made up for as long as their data is there and no later tick was begun. Data
that is late is waited for until the next tick is over; then its tick is missing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sudare.errors import InputError, UserError
from sudare.ledger import open_ledger
from sudare.ledger.records import TickRefusedError
from sudare.releases.kinds.series.clock import Tick
from sudare.releases.kinds.series.plan_file import SeriesPlan
from sudare.releases.kinds.series.running import WrittenTick, close_windows_before, run_tick
from sudare.releases.protocol import Released

__all__ = ["Watcher", "watch_series"]

MAX_PAUSE = 10.0
"""Seconds between two looks for data that is not there yet."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Watcher:
    """Who is told what a service does.

    Attributes:
        published: called with a tick and its folder.
        left_out: called with a tick that is missing, and why.
        waits: called with the next tick, once, when there is nothing to do.
    """

    published: Callable[[Tick, Released[WrittenTick]], None]
    left_out: Callable[[Tick, UserError], None]
    waits: Callable[[Tick], None]


def watch_series(
    plan: SeriesPlan,
    watcher: Watcher,
    *,
    first: Tick | None = None,
    last: Tick | None = None,
    delay: timedelta = timedelta(0),
    threads: int | None = None,
    now: Callable[[], datetime] = datetime.now,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Publish tick after tick.

    Args:
        plan: of the series.
        watcher: who is told.
        first: the tick to begin with; by default the one after the last that the ledger knows in this window, or the latest.
        last: the tick after which to end; never if left out.
        delay: how long after the end of a tick its data is complete.
        threads: how many threads to use.
        now: the wall clock.
        pause: waits for so many seconds.

    Raises:
        BudgetExceededError: if the data set's budget does not allow the next window.
        LedgerError: if the ledger or the private state cannot be used.
    """
    tick = first or _next_tick(plan, now() - delay)
    is_told = False
    while last is None or tick <= last:
        ready = tick.ends + delay
        if now() < ready:
            if not is_told:
                watcher.waits(tick)
            is_told = True
            pause(min(MAX_PAUSE, max(0.0, (ready - now()).total_seconds())))
            continue
        is_told = False
        following = plan.clock.tick_within(tick.ends)
        try:
            watcher.published(tick, run_tick(plan, tick, threads=threads))
        except TickRefusedError as refused:
            watcher.left_out(tick, refused)
        except InputError as missing:
            if now() < following.ends + delay:
                pause(min(MAX_PAUSE, plan.clock.every.total_seconds() / 10))
                continue
            watcher.left_out(tick, missing)
        tick = following
        if tick.number == 0:
            close_windows_before(plan, tick.window)


def _next_tick(plan: SeriesPlan, moment: datetime) -> Tick:
    """The tick after the last one that the ledger knows in the present window; the latest one that is over if it knows none."""
    latest = plan.clock.last_over(moment)
    with open_ledger(plan.ledger.location) as ledger:
        known = ledger.windows.find(plan.ledger.dataset, plan.fingerprint(latest.window))
    if known is None or known.is_closed:
        return latest
    number = known.last_tick + 1 if known.open_tick is None else known.open_tick
    found = plan.clock.tick_of(latest.window, number)
    return plan.clock.tick_within(found.begins)
