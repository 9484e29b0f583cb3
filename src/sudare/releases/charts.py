"""Charts as SVG that stands in the page itself: crisp at any size, and coloured by the page's style.

Texts are given in English and Japanese; both are written, and the page shows one of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from sudare.bilingual import Words
from sudare.releases.page_numbers import percent_rounded_up

__all__ = ["CurvePoint", "bar", "colour_legend", "error_curve", "promise_bars", "signed_bar"]

WIDTH, HEIGHT = 440, 290
LEFT, RIGHT, TOP, BOTTOM = 54, 14, 16, 46


@dataclass(frozen=True)
class CurvePoint:
    """The error of areas of one size.

    Attributes:
        side: cells along each axis.
        error: expected.
        low: lower end of the band.
        high: upper end of the band.
    """

    side: int
    error: float
    low: float
    high: float


def bar(share: float) -> str:
    """A bar that fills so much of its place, from 0 to 1."""
    length = 100 * min(max(share, 0.0), 1.0)
    return (
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false">'
        f'<rect class="track" width="100" height="8"/><rect class="fill" width="{length:.2f}" height="8"/></svg>'
    )


def promise_bars(false_alarm: float, best_power: float) -> list[tuple[str, str, str]]:
    """What an attacker gains by a release: the name of each text, a bar, and a share in percent.

    Args:
        false_alarm: how often they may be wrong about somebody who is not in the data; as often they are right by guessing.
        best_power: how often at most they are right with the release.
    """
    shares = (("guessing", false_alarm), ("with_release", best_power))
    return [(name, bar(share), percent_rounded_up(share)) for name, share in shares]


def signed_bar(value: float, lowest: float, highest: float) -> str:
    """A bar from 0 to a value of either sign, in a place that reaches from the lowest value to the highest."""
    start, stop = (100 * (each - lowest) / (highest - lowest) for each in sorted((0.0, value)))
    kind = "below" if value < 0 else "fill"
    return (
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false">'
        f'<rect class="track" width="100" height="8"/>'
        f'<rect class="{kind}" x="{start:.2f}" width="{stop - start:.2f}" height="8"/></svg>'
    )


def colour_legend(colours: Sequence[str], ticks: Sequence[tuple[int, float]], name: str = "shades") -> str:
    """A band of colours with numbers below it.

    Args:
        colours: in even steps from the left to the right.
        ticks: numbers with their places from 0 to 1.
        name: of the band, another one for each on a page.
    """
    stops = "".join(
        f'<stop offset="{place / (len(colours) - 1):.3f}" stop-color="{escape(colour)}"/>'
        for place, colour in enumerate(colours)
    )
    marks = "".join(_tick_below(12 + 276 * place, 16, short_number(number)) for number, place in ticks)
    return (
        '<svg class="legend" viewBox="0 0 300 36" aria-hidden="true" focusable="false">'
        f'<defs><linearGradient id="{name}">{stops}</linearGradient></defs>'
        f'<rect class="shades" x="12" y="2" width="276" height="12" rx="2" fill="url(#{name})"/>{marks}</svg>'
    )


def error_curve(
    points: Sequence[CurvePoint],
    measured: Sequence[tuple[int, float]],
    *,
    name: Words,
    across: Words,
    upwards: Words,
) -> str:
    """Expected errors against the size of areas on logarithmic axes, with a band, and measured errors as dots.

    Args:
        points: expected errors, by ascending size.
        measured: sizes and errors that were measured, where there are any.
        name: what the chart shows, for those who do not see it.
        across: title of the horizontal axis.
        upwards: title of the vertical axis.

    Returns:
        SVG; empty if there is nothing to draw.
    """
    values = [value for p in points for value in (p.low, p.error, p.high) if value > 0]
    values += [error for _, error in measured if error > 0]
    sides = sorted({p.side for p in points} | {side for side, _ in measured})
    if not values or not sides:
        return ""
    low, high = _limits(values)
    frame = _Frame(sides[0], max(sides[-1], 2 * sides[0]), low, high)
    parts = [*_grid(frame, sides), *_curve(frame, points)]
    # A true error of 0 has no place on a logarithmic axis: it is in the table beside the chart.
    dots = [(frame.x(side), frame.y(error)) for side, error in measured if error > 0]
    if dots:
        parts.append(f'<polyline class="measured" points="{_path(dots)}"/>')
        parts += [f'<circle class="measured-dot" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in dots]
    parts.append(_both(across, f'class="title" x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 8}"'))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(_both(upwards, f'class="title" transform="translate(13 {middle:.0f}) rotate(-90)"'))
    label = escape(f"{name.english} / {name.japanese}", quote=True)
    return f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


@dataclass(frozen=True)
class _Frame:
    """The drawing area: from the smallest to the largest side, and from the lowest to the highest error."""

    left: float
    right: float
    low: float
    high: float

    def x(self, side: float) -> float:
        part = math.log(side / self.left) / math.log(self.right / self.left)
        return LEFT + (WIDTH - LEFT - RIGHT) * part

    def y(self, error: float) -> float:
        part = math.log(max(error, self.low) / self.low) / math.log(self.high / self.low)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part


def _limits(values: Sequence[float]) -> tuple[float, float]:
    """Round numbers around all values: 1, 2 or 5 times a power of ten."""
    low = max(number for number in _round_numbers(min(values) / 11, min(values)) if number <= min(values))
    high = min(number for number in _round_numbers(max(values), max(values) * 11) if number >= max(values))
    return low, max(high, 2 * low)


def _round_numbers(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    return [times * 10.0**power for power in powers for times in (1, 2, 5)]


def _grid(frame: _Frame, sides: Sequence[int]) -> list[str]:
    rounds = [n for n in _round_numbers(frame.low, frame.high) if frame.low * 0.999 <= n <= frame.high * 1.001]
    if len(rounds) > 8:
        rounds = [n for n in rounds if abs(math.log10(n) - round(math.log10(n))) < 1e-6]
    parts = []
    for number in rounds:
        y = frame.y(number)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick end" x="{LEFT - 6}" y="{y + 4:.1f}">{short_number(number)}</text>')
    step = -(-len(sides) // 11)
    parts += [_tick_below(frame.x(side), HEIGHT - BOTTOM, short_number(side)) for side in sides[::step]]
    return parts


def _curve(frame: _Frame, points: Sequence[CurvePoint]) -> list[str]:
    if not points:
        return []
    upper = [(frame.x(p.side), frame.y(p.high)) for p in points]
    lower = [(frame.x(p.side), frame.y(p.low)) for p in reversed(points)]
    line = [(frame.x(p.side), frame.y(p.error)) for p in points]
    dots = [f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in line]
    return [
        f'<polygon class="band" points="{_path([*upper, *lower])}"/>',
        f'<polyline class="line" points="{_path(line)}"/>',
        *dots,
    ]


def _path(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _tick_below(x: float, y: float, text: str) -> str:
    mark = f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 2}" y2="{y + 3}"/>'
    return f'{mark}<text class="tick" x="{x:.1f}" y="{y + 16}">{text}</text>'


def _both(words: Words, attributes: str) -> str:
    """The same text twice, of which the page shows one."""
    first = attributes.replace('class="', 'class="en ', 1)
    second = attributes.replace('class="', 'class="ja ', 1)
    english, japanese = escape(words.english), escape(words.japanese)
    return f'<text lang="en" {first}>{english}</text><text lang="ja" {second}>{japanese}</text>'


def short_number(number: float) -> str:
    """A round number in few characters: 0.5, 20, 1,000, 2 M, −20."""
    if number < 0:
        return f"\N{MINUS SIGN}{short_number(-number)}"
    for limit, sign in ((1e12, " T"), (1e9, " G"), (1e6, " M")):
        if number >= limit:
            return f"{number / limit:g}{sign}"
    return f"{number:,.0f}" if number >= 1 else f"{number:g}"
