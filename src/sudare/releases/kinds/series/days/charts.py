"""Curves over time as SVG that stands in the page itself, coloured by the page's style."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape

from sudare.bilingual import Words
from sudare.releases.charts import short_number

__all__ = ["TimeAxis", "round_above", "time_curve"]

LARGE, SMALL = (440, 240), (220, 140)
LEFT, RIGHT, TOP, BOTTOM = 60, 12, 10, 26
STEPS = tuple(timedelta(seconds=seconds) for seconds in (60, 300, 900, 1800, 3600, 7200, 10800, 21600, 43200))
DAY = timedelta(days=1)


@dataclass(frozen=True)
class TimeAxis:
    """The time of a window.

    Attributes:
        begins: its first moment.
        every: from one tick to the next.
        ticks: how many it has.
    """

    begins: datetime
    every: timedelta
    ticks: int

    @property
    def ends(self) -> datetime:
        """The first moment after the window."""
        return self.begins + self.every * self.ticks

    def share(self, number: float) -> float:
        """How far along the axis a tick is, from 0 to 1: at its middle."""
        return (number + 0.5) / self.ticks

    def marks(self, most: int) -> list[tuple[float, str]]:
        """Round times along the axis, at most so many and the end, with their places."""
        whole = self.ends - self.begins
        longer = [DAY * days for days in (1, 2, 7, 14, 28, 91, 364)]
        step = next((one for one in (*STEPS, *longer) if whole / one <= most), whole)
        start = datetime.combine(self.begins.date(), datetime.min.time())
        first = start + -(-(self.begins - start) // step) * step
        found, moment = [], first
        while moment <= self.ends:
            found.append(((moment - self.begins) / whole, self._text(moment, step)))
            moment += step
        return found

    def _text(self, moment: datetime, step: timedelta) -> str:
        if step >= DAY:
            return f"{moment.month}/{moment.day}"
        is_end = moment == self.ends and (moment.hour, moment.minute) == (0, 0)
        return "24:00" if is_end else f"{moment:%H:%M}"


def round_above(value: float) -> float:
    """The next number whose half is round too."""
    power = 1.0
    while power * 10 <= value:
        power *= 10
    return next(times * power for times in (1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10) if times * power >= value)


def time_curve(
    counts: Sequence[int | None],
    axis: TimeAxis,
    *,
    name: Words,
    top: float,
    bands: Sequence[float] = (),
    is_small: bool = False,
) -> str:
    """Counts against time, from 0; nothing is drawn where there is none.

    Args:
        counts: at each tick; None where none was published.
        axis: the time.
        name: what the chart shows, for those who do not see it.
        top: the count at the upper end.
        bands: how far from each count the true one is expected to be; none is drawn if left out.
        is_small: whether it is one of many.
    """
    width, height = SMALL if is_small else LARGE
    wide, high = width - LEFT - RIGHT, height - TOP - BOTTOM

    def x(share: float) -> float:
        return LEFT + wide * share

    def y(count: float) -> float:
        return TOP + high * (1 - min(max(count / top, 0.0), 1.0))

    parts = []
    for level in (0.0, top / 2, top):
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{width - RIGHT}" y1="{y(level):.1f}" y2="{y(level):.1f}"/>')
        parts.append(f'<text class="tick end" x="{LEFT - 5}" y="{y(level) + 4:.1f}">{short_number(level)}</text>')
    for share, label in axis.marks(2 if is_small else 6):
        # Labels at both ends stay within the picture.
        kind = "start" if share < 0.04 and is_small else "last" if share > 0.96 else ""
        parts.append(f'<text class="tick {kind}" x="{x(share):.1f}" y="{height - 8}">{label}</text>')
    for run in _runs(counts):
        places = [(x(axis.share(number)), number) for number in run]
        if bands:
            upper = [(across, y(float(counts[number] or 0) + bands[number])) for across, number in places]
            lower = [(across, y(float(counts[number] or 0) - bands[number])) for across, number in reversed(places)]
            parts.append(f'<polygon class="band" points="{_path([*upper, *lower])}"/>')
        line = [(across, y(float(counts[number] or 0))) for across, number in places]
        if len(line) == 1:
            parts.append(f'<circle class="dot" cx="{line[0][0]:.1f}" cy="{line[0][1]:.1f}" r="2"/>')
        else:
            parts.append(f'<polyline class="line" points="{_path(line)}"/>')
    label = escape(f"{name.english} / {name.japanese}", quote=True)
    return f'<svg class="chart" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _runs(counts: Sequence[int | None]) -> list[list[int]]:
    """The ticks that have a count, in stretches without a gap."""
    runs: list[list[int]] = []
    for number, count in enumerate(counts):
        if count is None:
            continue
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _path(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
