"""A series as a service, and the end of its windows."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.console.charges import opened_ledger
from sudare.cli.console.speaking import Speaker
from sudare.cli.series.running import agreed_window, tell_closed, tell_left_out

if TYPE_CHECKING:
    from sudare.errors import UserError
    from sudare.releases.kinds.series.clock import Tick
    from sudare.releases.kinds.series.plan_file import SeriesPlan
    from sudare.releases.kinds.series.running import WrittenTick
    from sudare.releases.protocol import Released

__all__ = ["close", "watch"]

SeriesFile = Annotated[Path, typer.Argument(metavar="SERIES.toml", show_default=False)]


def watch(
    speaker: Speaker,
    file: SeriesFile,
    first: Annotated[str | None, typer.Option("--from", metavar="MOMENT", show_default=False)] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="MOMENT", show_default=False)] = None,
    delay: Annotated[str, typer.Option("--delay", metavar="PERIOD")] = "0 s",
    yes: Annotated[bool, typer.Option("--yes", "-y")] = False,
    threads: Annotated[int | None, typer.Option("--threads", min=1, max=256, metavar="NUMBER")] = None,
) -> None:
    """Publish tick after tick."""
    from sudare.releases.kinds.series.clock import read_period
    from sudare.releases.kinds.series.plan_file import read_series_plan
    from sudare.releases.kinds.series.watching import Watcher, watch_series
    from sudare.system.interrupts import forget_interruption

    plan = read_series_plan(file)
    period = read_period(delay) if delay != "0 s" else read_period("1 s")
    if period is None:
        raise speaker.mistake("series.bad_period")
    begins, ends = (None if one is None else _tick_at(speaker, plan, one) for one in (first, until))
    with opened_ledger(plan.header) as ledger:
        if ledger is None:
            raise TypeError("a series without a ledger")
        now = begins or plan.clock.last_over(datetime.now())
        agreed_window(speaker, plan, now, ledger, yes=yes)
    folders: list[str] = []

    def published(tick: Tick, made: Released[WrittenTick]) -> None:
        key = "series.repeated" if made.is_repeated else "series.published"
        speaker.say(key, style="green", time=_text(tick))
        tell_left_out(speaker, made)
        tell_closed(speaker, plan, tick)
        folders.append(str(made.folder))

    def left_out(tick: Tick, reason: UserError) -> None:
        speaker.warn(reason.words)

    watcher = Watcher(
        published=published, left_out=left_out, waits=lambda tick: speaker.say("series.waits", time=_text(tick))
    )
    try:
        watch_series(plan, watcher, first=begins, last=ends, delay=period, threads=threads)
    except KeyboardInterrupt:
        forget_interruption()
        speaker.say("series.stopped", style="yellow")
    speaker.give({"folders": folders}, *folders[-1:])


def close(
    speaker: Speaker,
    file: SeriesFile,
    window: Annotated[str | None, typer.Option("--window", metavar="MOMENT", show_default=False)] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y")] = False,
) -> None:
    """End windows before their last tick, or after it."""
    from sudare.releases.kinds.series.plan_file import read_series_plan
    from sudare.releases.kinds.series.running import close_window, close_windows_before

    plan = read_series_plan(file)
    if window is None:
        now = plan.clock.tick_within(datetime.now())
        closed = close_windows_before(plan, now.window)
    else:
        began = _tick_at(speaker, plan, window).window
        speaker.confirm("series.ask_close", yes=yes, time=began.strftime("%Y-%m-%d %H:%M"))
        close_window(plan, began)
        closed = [began]
    names = [began.strftime("%Y-%m-%d %H:%M") for began in closed]
    for name in names:
        speaker.say("series.closed", style="green", time=name)
    if not names:
        speaker.say("series.none_to_close")
    speaker.give({"closed": names})


def _tick_at(speaker: Speaker, plan: SeriesPlan, text: str) -> Tick:
    from sudare.releases.kinds.series.clock import read_moment

    moment = read_moment(text)
    if moment is None:
        raise speaker.mistake("series.bad_moment")
    return plan.clock.tick_at(moment)


def _text(tick: Tick) -> str:
    return tick.begins.strftime("%Y-%m-%d %H:%M")
