"""Times in periods: hours, days or months of a span of days, or hours of the day, weekdays, hours of the week.

A moment (with an offset from UTC, or as seconds since 1970) is turned into the local time of the time zone. A time without an
offset is local already; one that comes twice when clocks are put back is the first of the two, and one that is skipped when they
are put forward is meant before the change, as Python has it (PEP 495).

Everything is looked up in tables over short steps (a quarter of an hour, usually), which divide every period, every day and every
change of the clocks. So a query can group by steps, in any engine, and needs no time zones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, lru_cache
from math import gcd
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np

from sudare.bilingual import Words
from sudare.domain.allowed_values import times_between
from sudare.domain.arguments import read_column
from sudare.domain.attributes import Attribute
from sudare.errors import ParameterError
from sudare.parameters import shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]

__all__ = ["PERIODS", "Times"]

PERIODS = ("hour", "day", "month", "hour of day", "weekday", "hour of week")
DAY, HOUR = 86_400, 3_600
MAX_STEP = 900
"""Seconds: offsets of today's time zones are multiples of it."""

MAX_STEPS = 1 << 24
EARLIEST, LATEST = date(1900, 1, 1), date(2200, 12, 31)
DAY_AND_TIME = (
    r"(?P<year>[0-9]{4})[-/](?P<month>[0-9]{1,2})[-/](?P<day>[0-9]{1,2})"
    r"(?:[T ](?P<hour>[0-9]{1,2}):(?P<minute>[0-5][0-9])(?::(?P<second>[0-5][0-9])(?:[.][0-9]+)?)?"
    r" ?(?P<offset>Z|[+-][0-9]{2}(?::?[0-5][0-9])?)?)?"
)
"""Times as texts: ISO 8601, and as spreadsheets write them (2025/4/1 9:30)."""

SECONDS = r"[0-9]{1,12}([.][0-9]+)?"
EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class Times(Attribute):
    """Times of a span of days, by hour, day, month, hour of the day, weekday or hour of the week.

    Values are shown in ISO 8601: ``2025-04-01T09:00+09:00``, ``2025-04-01``, ``2025-04``, ``09:00``, ``1`` (Monday) to ``7``,
    ``1T09:00``.

    Args:
        name: such as ``"time"``.
        by: ``"hour"``, ``"day"`` or ``"month"``: each of the span; ``"hour of day"``, ``"weekday"`` or ``"hour of week"``: 24, 7
            or 168 that come again.
        first: the first day.
        last: the last day, which belongs to the span.
        time_zone: such as ``"Asia/Tokyo"``. Where clocks are changed, a day has 23 or 25 hours.

    Example:
        >>> from datetime import date
        >>> from sudare.domain import Times
        >>> april = Times("time", "day", date(2025, 4, 1), date(2025, 4, 30), "Asia/Tokyo")
        >>> april.shape, april.places(["2025-04-02T03:00", "2025-03-31T20:00Z"])
        ((30,), (array([1, 0]),))
        >>> Times("time", "hour", date(2025, 3, 30), date(2025, 3, 30), "Europe/Paris").shape
        (23,)
    """

    by: str
    first: date
    last: date
    time_zone: str

    def __post_init__(self) -> None:
        self._read_name()
        if not isinstance(self.by, str) or self.by not in PERIODS:
            raise ParameterError(
                "by",
                "Times",
                Words("one of " + ", ".join(map(repr, PERIODS)), f"{', '.join(map(repr, PERIODS))} のいずれか"),
                shown(self.by),
            )
        for name in ("first", "last"):
            day = getattr(self, name)
            if type(day) is not date or not EARLIEST <= day <= LATEST:
                raise ParameterError(
                    name,
                    "Times",
                    Words(f"a day from {EARLIEST} to {LATEST}", f"{EARLIEST} から {LATEST} までの日付"),
                    shown(day),
                )
        if self.last < self.first:
            raise ParameterError(
                "last", "Times", Words(f"a day from {self.first} on", f"{self.first} 以後の日付"), shown(self.last)
            )
        try:
            ZoneInfo(self.time_zone)
        except (KeyError, ValueError, TypeError, OSError):
            requirement = Words("the name of a time zone, such as 'Asia/Tokyo'", "'Asia/Tokyo' のような時間帯の名前")
            raise ParameterError("time_zone", "Times", requirement, shown(self.time_zone)) from None
        if (self.end - self.start) // self.step > MAX_STEPS:
            requirement = Words(
                f"a span of at most {MAX_STEPS * self.step // DAY} days in this time zone",
                f"この時間帯で {MAX_STEPS * self.step // DAY} 日以内の期間",
            )
            raise ParameterError("last", "Times", requirement, self.last)

    @property
    def shape(self) -> tuple[int, ...]:
        """Places along each axis."""
        return (len(self.labels),)

    @property
    def has_hours(self) -> bool:
        """Whether days alone do not tell a place."""
        return "hour" in self.by

    @cached_property
    def _clock(self) -> _Clock:
        return _clock_of(self.time_zone, self.local_start, self.local_end)

    @cached_property
    def local_start(self) -> int:
        """The span's beginning by the local clock, in seconds as if it were UTC."""
        return (self.first - EPOCH).days * DAY

    @cached_property
    def local_end(self) -> int:
        """The local clock when the span is over."""
        return (self.last - EPOCH).days * DAY + DAY

    @cached_property
    def start(self) -> int:
        """The moment when the span begins, in seconds since 1970."""
        return int(self._clock.moments(np.array([self.local_start]))[0])

    @cached_property
    def end(self) -> int:
        """The moment when it is over."""
        return int(self._clock.moments(np.array([self.local_end]))[0])

    @cached_property
    def step(self) -> int:
        """Seconds that divide every period and every change of the clocks."""
        # Hours begin where the local clock says so: offsets decide, and changes of the clocks.
        numbers = [*self._clock.changes.tolist(), *self._clock.offsets.tolist(), self.start, self.end]
        return gcd(MAX_STEP, *map(int, numbers))

    @cached_property
    def _tables(self) -> tuple[Integers, Integers, tuple[str, ...]]:
        """The place of each step of moments, and of each step of the local clock; and the labels."""
        moments = np.arange(self.start, self.end, self.step, dtype=np.int64)
        offsets = self._clock.offsets_at(moments)
        local = moments + offsets
        if self.by in ("hour of day", "weekday", "hour of week"):
            clock = np.arange(self.local_start, self.local_end, self.step, dtype=np.int64)
            return self._again(local), self._again(clock), _labels_again(self.by)
        runs = _period(local, self.by)
        if self.by == "hour":
            # The same hour of the clock comes twice when it is put back.
            runs = runs * (4 * DAY) + offsets + 2 * DAY
        is_new = np.concatenate([[True], runs[1:] != runs[:-1]])
        places = np.cumsum(is_new) - 1
        firsts = np.flatnonzero(is_new)
        labels = tuple(_label(int(local[i]), int(offsets[i]), self.by) for i in firsts)
        clock = np.arange(self.local_start, self.local_end, self.step, dtype=np.int64)
        within = np.clip((self._clock.moments(clock) - self.start) // self.step, 0, places.size - 1)
        return places, places[within], labels

    def _again(self, local: Integers) -> Integers:
        """Places of local times in periods that come again. The first of January 1970 was a Thursday."""
        hour, weekday = local % DAY // HOUR, (local // DAY + 3) % 7
        return {"hour of day": hour, "weekday": weekday, "hour of week": 24 * weekday + hour}[self.by]

    @property
    def labels(self) -> tuple[str, ...]:
        """The periods in ISO 8601."""
        return self._tables[2]

    @property
    def allowed(self) -> Words:
        """What values must be."""
        return times_between(self.first, self.last)

    def places_of_steps(self, steps: Integers, *, is_moment: bool) -> Integers:
        """The places of steps since the span's beginning: of moments, or of the local clock."""
        of_moments, of_clock, _ = self._tables
        return of_moments[steps] if is_moment else of_clock[steps]

    def places(self, values: ArrayLike) -> tuple[Integers, ...]:
        """The place of each value along each axis: datetimes, ISO texts, or whole seconds since 1970."""
        column = read_column(values, self.name, self.allowed, "iufUTOM")
        listed: list[Any] = (column.astype("datetime64[s]") if column.dtype.kind == "M" else column).tolist()
        places = np.empty(len(listed), dtype=np.int64)
        for position, value in enumerate(listed):
            place = self._place_of(value)
            if place is None:
                raise self._refuse(position, self.allowed)
            places[position] = place
        return (places,)

    def _place_of(self, value: Any) -> int | None:
        seconds, is_moment = _seconds_of(value, self.has_hours)
        start, end = (self.start, self.end) if is_moment else (self.local_start, self.local_end)
        if seconds is None or not start <= seconds < end:
            return None
        step = np.array([(seconds - start) // self.step])
        return int(self.places_of_steps(step, is_moment=is_moment)[0])

    def values(self, places: tuple[Integers, ...]) -> NDArray[Any]:
        """The period at each place."""
        return np.array(self.labels)[places[0]]


def _seconds_of(value: Any, has_hours: bool) -> tuple[int | None, bool]:
    """Whole seconds since 1970 of a value, and whether it is a moment rather than a time of the local clock."""
    if isinstance(value, str):
        return _seconds_in_text(value.strip(), has_hours)
    if isinstance(value, bool) or value is None:
        return None, False
    if isinstance(value, (int, float)):
        is_whole = isinstance(value, int) or np.isfinite(value)
        return (int(value // 1) if is_whole and abs(value) < 1e12 else None), True
    if isinstance(value, datetime):
        local = value.replace(tzinfo=None, microsecond=0)
        seconds = (local - datetime(1970, 1, 1)) // timedelta(seconds=1)
        offset = value.utcoffset()
        if offset is None:
            return seconds, False
        return int((value - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)), True
    if isinstance(value, date) and not has_hours:
        return (value - EPOCH).days * DAY, False
    return None, False


def _seconds_in_text(text: str, has_hours: bool) -> tuple[int | None, bool]:
    """The same for a text: a day and a time, with an offset or without; a day alone is no hour; digits are seconds since 1970."""
    if re.fullmatch(SECONDS, text, re.ASCII):
        return int(text.split(".", 1)[0]), True
    found = re.fullmatch(DAY_AND_TIME, text, re.ASCII)
    if found is None or (has_hours and found["hour"] is None):
        return None, False
    numbers = [int(found[name] or 0) for name in ("year", "month", "day", "hour", "minute", "second")]
    try:
        seconds = (datetime(*numbers) - datetime(1970, 1, 1)) // timedelta(seconds=1)  # type: ignore[arg-type]
    except ValueError:
        return None, False
    offset = found["offset"]
    if offset is None:
        return seconds, False
    if offset == "Z":
        return seconds, True
    ahead = int(offset[1:3]) * HOUR + int(offset[3:].lstrip(":") or 0) * 60
    return (seconds - ahead if offset[0] == "+" else seconds + ahead), True


def _period(local: Integers, by: str) -> Integers:
    """A number for each hour, day or month of the local clock."""
    if by == "month":
        return local.astype("datetime64[s]").astype("datetime64[M]").astype(np.int64)
    return local // (HOUR if by == "hour" else DAY)


def _label(local: int, offset: int, by: str) -> str:
    time = datetime.fromtimestamp(local, UTC)
    if by == "hour":
        sign, size = ("-" if offset < 0 else "+"), abs(offset)
        seconds = f":{size % 60:02}" if size % 60 else ""
        return f"{time:%Y-%m-%dT%H}:00{sign}{size // HOUR:02}:{size // 60 % 60:02}{seconds}"
    return f"{time:%Y-%m-%d}" if by == "day" else f"{time:%Y-%m}"


def _labels_again(by: str) -> tuple[str, ...]:
    hours = [f"{hour:02}:00" for hour in range(24)]
    if by == "hour of day":
        return tuple(hours)
    weekdays = [str(weekday) for weekday in range(1, 8)]
    return tuple(weekdays) if by == "weekday" else tuple(f"{day}T{hour}" for day in weekdays for hour in hours)


@dataclass(frozen=True, eq=False)
class _Clock:
    """The local clock of a time zone: its offset from UTC before the first change, and from each change on."""

    changes: Integers
    offsets: Integers

    def offsets_at(self, moments: Integers) -> Integers:
        """The offset at each moment."""
        return self.offsets[np.searchsorted(self.changes, moments, side="right")]

    def moments(self, local: Integers) -> Integers:
        """The moment of each time of the local clock: where it is skipped or comes twice, by the offset before the change."""
        later = self.changes + np.maximum(self.offsets[1:], self.offsets[:-1])
        return local - self.offsets[np.searchsorted(later, local, side="right")]


@lru_cache(maxsize=64)
def _clock_of(time_zone: str, local_start: int, local_end: int) -> _Clock:
    zone = ZoneInfo(time_zone)

    def offset_at(moment: int) -> int:
        offset = datetime.fromtimestamp(moment, UTC).astimezone(zone).utcoffset()
        return 0 if offset is None else round(offset.total_seconds())

    # No clock is more than a day away from UTC, and none is changed twice a day.
    days = range(local_start - 2 * DAY, local_end + 2 * DAY + 1, DAY)
    changes, offsets = [], [offset_at(days[0])]
    for day in days[1:]:
        now = offset_at(day)
        if now == offsets[-1]:
            continue
        low, high = day - DAY, day
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if offset_at(middle) == now else (middle, high)
        changes.append(high)
        offsets.append(now)
    return _Clock(np.array(changes, dtype=np.int64), np.array(offsets, dtype=np.int64))
