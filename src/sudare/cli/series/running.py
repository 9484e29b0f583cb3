"""One tick of a series, for people and for schedulers."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.cli.console.budgets import budget_in_words, budget_values
from sudare.cli.console.charges import opened_ledger, show_charge
from sudare.cli.console.progress import progress_bars
from sudare.cli.console.showing import facts, heading, stack
from sudare.cli.console.speaking import Speaker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sudare.ledger import Ledger
    from sudare.releases.kinds.series.clock import Tick
    from sudare.releases.kinds.series.plan_file import SeriesPlan
    from sudare.releases.kinds.series.running import WrittenTick
    from sudare.releases.protocol import Released

__all__ = ["agreed_window", "carry_out_tick_of", "find_tick", "tell_closed", "tell_left_out", "window_told"]


def carry_out_tick_of(
    speaker: Speaker, file: Path, *, at: str | None, out: Path | None, yes: bool, threads: int | None
) -> None:
    """Publish one tick of a plan: the one that begins at a moment, or the latest that is over."""
    from sudare.releases.kinds.series.plan_file import read_series_plan
    from sudare.releases.kinds.series.running import run_tick

    plan = read_series_plan(file, out)
    tick = find_tick(speaker, plan, at)
    with opened_ledger(plan.header) as ledger:
        if ledger is None:
            raise TypeError("a series without a ledger")
        is_new = agreed_window(speaker, plan, tick, ledger, yes=yes)
        with window_told(speaker, plan, tick), progress_bars(speaker) as tell:
            made = run_tick(plan, tick, threads=threads, progress=tell, ledger=ledger)
    time, entry = tick.begins.strftime("%Y-%m-%d %H:%M"), made.document["ledger"]["entry"]
    if made.is_repeated:
        speaker.say("series.repeated", style="yellow", time=time)
    else:
        speaker.say(
            "series.done", style="green", time=time, number=tick.number + 1, ticks=plan.clock.ticks, entry=entry
        )
    tell_left_out(speaker, made)
    tell_closed(speaker, plan, tick)
    charged = budget_values(plan.budget) if is_new and not made.is_repeated else None
    values = {
        "folder": str(made.folder),
        "kind": "series",
        "tick": made.document["tick"],
        "is_repeated": made.is_repeated,
        "charged": charged,
    }
    speaker.give(values, str(made.folder))


def find_tick(speaker: Speaker, plan: SeriesPlan, at: str | None) -> Tick:
    """The tick that begins at a moment; the latest that is over if none is stated."""
    from sudare.releases.kinds.series.clock import read_moment

    now = datetime.now()
    if at is None:
        return plan.clock.last_over(now)
    moment = read_moment(at)
    if moment is None:
        raise speaker.mistake("series.bad_moment")
    tick = plan.clock.tick_at(moment)
    plan.clock.require_over(tick, now)
    return tick


def agreed_window(speaker: Speaker, plan: SeriesPlan, tick: Tick, ledger: Ledger, *, yes: bool) -> bool:
    """Whether a tick opens its window, which is charged for; then it is shown, and somebody has to agree."""
    if ledger.windows.find(plan.ledger.dataset, plan.fingerprint(tick.window)) is not None:
        return False
    words = speaker.words
    lines: list[tuple[str, object]] = [
        (
            words("series.window"),
            words("series.window_from", time=tick.window.strftime("%Y-%m-%d %H:%M"), ticks=plan.clock.ticks),
        ),
        (words("plan.folder"), plan.folder),
    ]
    shown: list[Any] = [heading(plan.title), facts(lines), show_charge(speaker, plan.price, plan.ledger, ledger)[0]]
    speaker.show(stack(*shown))
    speaker.confirm("series.ask", yes=yes, charge=budget_in_words(plan.budget, words))
    return True


def tell_left_out(speaker: Speaker, made: Released[WrittenTick]) -> None:
    """Say to the operator how many rows were not counted. No file has it: it is exact."""
    if made.draft is not None and made.draft.left_out:
        speaker.warn_of("series.left_out", rows=made.draft.left_out)


def tell_closed(speaker: Speaker, plan: SeriesPlan, tick: Tick) -> None:
    """Say that a window was closed by its last tick."""
    if tick.number == plan.clock.ticks - 1 and not plan.state_of(tick.window).exists():
        speaker.say("series.closed", style="green", time=tick.window.strftime("%Y-%m-%d %H:%M"))


@contextmanager
def window_told(speaker: Speaker, plan: SeriesPlan, tick: Tick) -> Iterator[None]:
    """Whatever stops a tick, say what became of its window."""
    from sudare.errors import SudareError
    from sudare.ledger import open_ledger

    try:
        yield
    except (Exception, KeyboardInterrupt):
        try:
            with open_ledger(plan.ledger.location) as ledger:
                known = ledger.windows.find(plan.ledger.dataset, plan.fingerprint(tick.window))
        except SudareError:
            speaker.remark("charged.unknown")
            raise
        if known is None:
            speaker.remark("charged.not_begun")
        elif known.last_tick == tick.number and known.open_tick is None and not known.is_missing(tick.number):
            speaker.remark("series.unclosed", entry=known.window.number, file=plan.file.name)
        elif known.open_tick == tick.number:
            speaker.remark("series.tick_begun", entry=known.window.number)
        else:
            speaker.remark("series.window_stays", entry=known.window.number)
        raise
