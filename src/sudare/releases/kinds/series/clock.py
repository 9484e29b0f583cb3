"""The clock of a series: which window and which tick a moment belongs to, by the wall clock and nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from sudare.bilingual import Words
from sudare.errors import InputError

__all__ = ["SeriesClock", "Tick", "period_in_words", "read_moment", "read_period"]

MOMENT = "%Y-%m-%dT%H:%M"
PERIOD = re.compile(r"\s*(?P<number>[1-9][0-9]{0,5})\s*(?P<name>[a-z]+)\s*")
SECONDS = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86400),
}
UNITS_OF_TIME = (
    (86400, Words("{number} day", "{number} 日"), Words("{number} days", "{number} 日")),
    (3600, Words("{number} hour", "{number} 時間"), Words("{number} hours", "{number} 時間")),
    (60, Words("{number} min", "{number} 分"), Words("{number} min", "{number} 分")),
    (1, Words("{number} s", "{number} 秒"), Words("{number} s", "{number} 秒")),
)
"""Seconds of each, and how one of it and several are called."""

NO_TICK = Words(
    "{moment} is no tick: ticks begin every {every}, from {start} on. The nearest one before it is {nearest}.",
    "{moment} は時点ではありません。時点は {start} から {every} ごとです（直前の時点: {nearest}）。",
)
TOO_EARLY = Words(
    "{moment} is before the series begins, which is at {start}.", "{moment} は系列の開始（{start}）より前です。"
)
NOT_OVER = Words(
    "The tick of {moment} is not over before {end}; it is {now} now. Nothing was published.",
    "{moment} の時点は {end} まで終わりません（現在 {now}）。何も公表していません。",
)


@dataclass(frozen=True, order=True)
class Tick:
    """One tick of a series.

    Attributes:
        begins: its first moment, which is its name.
        window: when its window begins.
        number: in the window, from 0.
        ends: the first moment after it.
    """

    begins: datetime
    window: datetime
    number: int
    ends: datetime

    @property
    def date(self) -> str:
        """The day, for folders."""
        return self.begins.strftime("%Y-%m-%d")

    @property
    def time(self) -> str:
        """The time of day, for folders: such as ``0810``, with seconds where there are any."""
        return self.begins.strftime("%H%M%S" if self.begins.second else "%H%M")

    def blanks(self) -> dict[str, str]:
        """What may stand in braces in a path or a query."""
        return {
            "date": self.date,
            "time": self.time,
            "start": self.begins.isoformat(sep=" "),
            "end": self.ends.isoformat(sep=" "),
            "tick": str(self.number),
        }


@dataclass(frozen=True)
class SeriesClock:
    """When the ticks of a series are. Times are those of the wall clock, without a zone.

    Args:
        start: of the first window.
        every: from one tick to the next.
        ticks: of a window; the next window begins after them.

    Example:
        >>> from datetime import datetime, timedelta
        >>> clock = SeriesClock(datetime(2026, 11, 16), timedelta(minutes=10), 144)
        >>> tick = clock.tick_at(datetime(2026, 11, 17, 8, 10))
        >>> tick.number, tick.window.isoformat(), tick.time
        (49, '2026-11-17T00:00:00', '0810')
    """

    start: datetime
    every: timedelta
    ticks: int

    @property
    def window(self) -> timedelta:
        """How long a window is."""
        return self.every * self.ticks

    def tick_at(self, moment: datetime) -> Tick:
        """The tick that begins at a moment.

        Raises:
            InputError: if none does.
        """
        found = self.tick_within(moment)
        if found.begins != moment:
            raise InputError(
                NO_TICK.format(
                    moment=_text(moment),
                    every=period_in_words(self.every),
                    start=_text(self.start),
                    nearest=_text(found.begins),
                )
            )
        return found

    def tick_within(self, moment: datetime) -> Tick:
        """The tick that a moment belongs to.

        Raises:
            InputError: if the series has not begun then.
        """
        if moment < self.start:
            raise InputError(TOO_EARLY.format(moment=_text(moment), start=_text(self.start)))
        place = (moment - self.start) // self.every
        window, number = divmod(place, self.ticks)
        begins = self.start + place * self.every
        return Tick(begins, self.start + window * self.window, number, begins + self.every)

    def tick_of(self, window: datetime, number: int) -> Tick:
        """A tick by its number in a window."""
        begins = window + number * self.every
        return Tick(begins, window, number, begins + self.every)

    def last_over(self, now: datetime) -> Tick:
        """The latest tick that is over.

        Raises:
            InputError: if none is.
        """
        return self.tick_within(now - self.every)

    def require_over(self, tick: Tick, now: datetime) -> None:
        """Refuse a tick that has not ended.

        Raises:
            InputError: if it has not.
        """
        if now < tick.ends:
            raise InputError(
                NOT_OVER.format(moment=_text(tick.begins), end=_text(tick.ends), now=_text(now.replace(microsecond=0)))
            )


def read_period(text: str) -> timedelta | None:
    """A period in words, such as ``"10 minutes"``, ``"10min"`` or ``"1 day"``; None if it is none.

    Example:
        >>> read_period("10 minutes").total_seconds(), read_period("soon")
        (600.0, None)
    """
    found = PERIOD.fullmatch(text.lower())
    if found is None or found["name"] not in SECONDS:
        return None
    return timedelta(seconds=int(found["number"]) * SECONDS[found["name"]])


def period_in_words(period: timedelta) -> Words:
    """A period in the largest unit that it is a multiple of."""
    seconds = round(period.total_seconds())
    size, one, many = next(unit for unit in UNITS_OF_TIME if seconds % unit[0] == 0)
    number = seconds // size
    return (one if number == 1 else many).format(number=number)


def read_moment(text: str) -> datetime | None:
    """A moment such as ``2026-11-16T08:10``; None if it is none, or has a zone."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if found.tzinfo is not None or found.microsecond else found


def _text(moment: datetime) -> str:
    return moment.strftime(MOMENT + (":%S" if moment.second else ""))
