"""The picture: what is lost across, what an attacker gains upwards, every method a line through its settings.

Methods with a guarantee have filled dots and a solid line, others hollow squares and a dashed one, so that colour is not
needed to tell them apart. Names stand beside their lines. Errors are on a logarithmic axis; one that is smaller than the
smallest on it stands at its left end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from sudare.bilingual import Words
from sudare.comparison.reporting.labelling import Box, Canvas
from sudare.comparison.running import Comparison, Result

__all__ = ["PICTURE_STYLE", "draw_picture", "standalone"]

WIDTH, HEIGHT = 760, 500
LEFT, RIGHT, TOP, BOTTOM = 64, 20, 16, 58
NAME, SMALL = 13.0, 10.5
NOTES = LEFT + 30
"""Where it is written what each epsilon allows."""
MIN_SHOWN = 0.0005
TICKS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)

COLOURS = {
    "none": "var(--picture-ink)",
    "primary-only": "#8a8f98",
    "suppression": "#d55e00",
    "k-anonymity": "#c28a00",
    "swapping": "#c0629a",
    "cell-key": "#8c5a3c",
    "flat": "#3fa0dc",
    "nn-wavelet": "#2f6fc4",
    "wide-tree": "#0a9a6c",
    "mst": "#8b6fc9",
    "aim": "#6a3fb5",
}

PICTURE_STYLE = """
.picture { display: block; width: 100%; max-width: 60rem; height: auto; --picture-ink: var(--ink, #1b2430);
  --picture-quiet: var(--quiet, #55606e); --picture-rule: var(--rule, #dde2e8); --picture-paper: var(--paper, #ffffff); }
.picture text { font-family: -apple-system, "Segoe UI", Roboto, "Noto Sans", "Hiragino Sans", "Yu Gothic UI", Meiryo,
  "Noto Sans CJK JP", "Noto Sans JP", system-ui, sans-serif;
  font-size: 11.5px; fill: var(--picture-quiet); dominant-baseline: central; }
.picture .axis { fill: var(--picture-ink); font-size: 13px; text-anchor: middle; }
.picture .tick { text-anchor: middle; }
.picture .tick.end { text-anchor: end; }
.picture .name { font-size: 13px; font-weight: 600; paint-order: stroke; stroke: var(--picture-paper); stroke-width: 3px; }
.picture .setting { font-size: 10.5px; paint-order: stroke; stroke: var(--picture-paper); stroke-width: 3px; }
.picture .rule { stroke: var(--picture-rule); stroke-width: 1; }
.picture .allowed { stroke: var(--picture-quiet); stroke-width: 1; stroke-dasharray: 2 4; }
.picture .guess { stroke: var(--picture-quiet); stroke-width: 1.4; }
.picture .way { fill: none; stroke-width: 2; stroke-linejoin: round; }
.picture .way.open { stroke-dasharray: 6 4; }
.picture .spot { fill: var(--picture-paper); stroke-width: 2; }
""".strip()


@dataclass(frozen=True)
class _Frame:
    """Places of numbers: across from MIN_SHOWN to the largest error, upwards from the least to 1."""

    largest: float
    least: float

    def x(self, value: float) -> float:
        share = math.log(max(value, MIN_SHOWN) / MIN_SHOWN) / math.log(self.largest / MIN_SHOWN)
        return LEFT + 12 + share * (WIDTH - LEFT - RIGHT - 12)

    def y(self, value: float) -> float:
        share = (min(max(value, self.least), 1.0) - self.least) / (1 - self.least)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def draw_picture(
    comparison: Comparison, across: str, upwards: str, titles: tuple[Words, Words], *, least: float = 0.0
) -> str:
    """The picture of a comparison as SVG that stands in a page with both languages.

    Args:
        comparison: what to draw.
        across: the measure of what is lost.
        upwards: the measure of what an attacker gains, a share.
        titles: of the two axes.
        least: where the upward axis begins; for ``"area"`` 0.5, which is guessing.
    """
    results = [
        one
        for one in comparison.results
        if not math.isnan(one.measures[across].value) and not math.isnan(one.measures[upwards].value)
    ]
    largest = max([2 * MIN_SHOWN, *(one.measures[across].value for one in results)])
    frame = _Frame(largest * 1.15, least - 0.02 if least else 0.0)
    parts = [_axes(frame, titles, least)]
    if upwards == "area":
        parts.append(_bounds(frame, results))
    lines = _lines(results)
    # Dots come last: a letter that touches one must not hide it.
    parts += [_way(frame, line, across, upwards) for line in lines]
    parts += [_labels(frame, lines, across, upwards, language) for language in ("en", "ja")]
    parts += [_spots(frame, line, across, upwards) for line in lines]
    name = escape(f"{titles[1].english} / {titles[0].english}", quote=True)
    return f'<svg class="picture" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{name}">{"".join(parts)}</svg>'


def standalone(svg: str, language: str) -> str:
    """A picture as a file of its own, in one language, on white paper.

    Example:
        >>> "<style>" in standalone('<svg class="picture" viewBox="0 0 9 9"></svg>', "en")
        True
    """
    other = "ja" if language == "en" else "en"
    style = f"<style>{PICTURE_STYLE}\n.{other} {{ display: none; }}</style>"
    paper = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    head, rest = svg.split(">", 1)
    size = f' xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"'
    return f"{head}{size}>{style}{paper}{rest}\n"


def _lines(results: Sequence[Result]) -> list[list[Result]]:
    found: dict[str, list[Result]] = {}
    for one in results:
        found.setdefault(one.method.name, []).append(one)
    return list(found.values())


def _axes(frame: _Frame, titles: tuple[Words, Words], least: float) -> str:
    bottom = HEIGHT - BOTTOM
    parts = []
    steps = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0] if least else [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    for value in steps:
        y = frame.y(value)
        kind = "guess" if value == least and least else "rule"
        parts.append(f'<line class="{kind}" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="tick end" x="{LEFT - 7}" y="{y:.1f}">{value:.0%}</text>')
    for value in (tick for tick in TICKS if tick <= frame.largest):
        x = frame.x(value)
        parts.append(f'<line class="rule" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{bottom}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 13}">{value * 100:g}%</text>')
    parts.append(f'<text class="tick" x="{frame.x(0):.1f}" y="{bottom + 13}">0</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(_both(titles[0], f'class="axis" x="{middle:.0f}" y="{HEIGHT - 18}"'))
    centre = (TOP + bottom) / 2
    parts.append(_both(titles[1], f'class="axis" transform="translate(15 {centre:.0f}) rotate(-90)"'))
    return "".join(parts)


def _bounds(frame: _Frame, results: Sequence[Result]) -> str:
    """How far up each epsilon lets anybody come."""
    parts = []
    for epsilon, most in sorted({(one.setting, one.most_area) for one in results if one.most_area is not None}):
        y = frame.y(float(most or 1.0))
        if y > TOP + 6:
            words = Words(f"ε = {float(epsilon):g} allows no more", f"ε = {float(epsilon):g} の上限")
            parts.append(f'<line class="allowed" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            parts.append(_both(words, f'class="note" x="{NOTES}" y="{y - 7:.1f}"'))
    return "".join(parts)


def _places(frame: _Frame, line: Sequence[Result], across: str, upwards: str) -> list[tuple[float, float]]:
    return [(frame.x(one.measures[across].value), frame.y(one.measures[upwards].value)) for one in line]


def _way(frame: _Frame, line: Sequence[Result], across: str, upwards: str) -> str:
    if len(line) < 2:
        return ""
    kind = "closed" if line[0].method.is_private else "open"
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in _places(frame, line, across, upwards))
    return f'<polyline class="way {kind}" style="stroke:{_colour(line[0])}" points="{path}"/>'


def _spots(frame: _Frame, line: Sequence[Result], across: str, upwards: str) -> str:
    parts = []
    for one, (x, y) in zip(line, _places(frame, line, across, upwards), strict=True):
        told = f"{one.method.title.english} {one.method.told(one.setting).english}".strip()
        lost, gained = one.measures[across].value, one.measures[upwards].value
        title = f"<title>{escape(told)}: {lost:.2%}, {gained:.1%}</title>"
        if one.method.is_private:
            shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.2" style="fill:{_colour(one)}">{title}</circle>'
        else:
            corner = f'x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"'
            shape = f'<rect class="spot" {corner} style="stroke:{_colour(one)}">{title}</rect>'
        parts.append(shape)
    return "".join(parts)


def _labels(frame: _Frame, lines: Sequence[Sequence[Result]], across: str, upwards: str, language: str) -> str:
    """Names beside lines, then the settings at both ends of each; one arrangement for each language."""
    canvas = Canvas(Box(LEFT + 2, TOP, WIDTH - LEFT - RIGHT - 2, HEIGHT - TOP - BOTTOM - 2))
    places = [_places(frame, line, across, upwards) for line in lines]
    for spots in places:
        for x, y in spots:
            canvas.take(Box(x - 6, y - 6, 12, 12), 3.0)
        for start, end in pairwise(spots):
            canvas.take_line(start, end)
    if upwards == "area":
        for most in {one.most_area for line in lines for one in line if one.most_area is not None}:
            canvas.take(Box(NOTES, frame.y(most) - 14, 134, 15))
            canvas.take(Box(LEFT, frame.y(most) - 1, WIDTH, 2), 2.0)
        canvas.take(Box(LEFT, frame.y(0.5) - 2, WIDTH, 4), 3.0)
    parts = []
    for line, spots in zip(lines, places, strict=True):
        text = line[0].method.title.explain(language)
        found = canvas.place([*spots[1:-1], *spots], text, NAME, gap=9)
        if found is not None:
            parts.append(_text(text, found, f"name {language}", language, f' style="fill:{_colour(line[0])}"'))
    for line, spots in zip(lines, places, strict=True):
        for place in sorted({0, len(line) - 1}):
            text = line[place].method.told(line[place].setting).explain(language)
            found = canvas.place([spots[place]], text, SMALL, gap=8, limit=0.4) if text else None
            if found is not None:
                colour = f' style="fill:{_colour(line[0])}"'
                parts.append(_text(text, found, f"setting {language}", language, colour))
    return "".join(parts)


def _colour(result: Result) -> str:
    return COLOURS.get(result.method.name, "var(--picture-ink)")


def _text(text: str, place: tuple[float, float], kind: str, language: str, more: str = "") -> str:
    x, y = place
    return f'<text class="{kind}" lang="{language}" x="{x:.1f}" y="{y:.1f}"{more}>{escape(text)}</text>'


def _both(words: Words, attributes: str) -> str:
    """The same text twice, of which the page shows one."""
    parts = []
    for language in ("en", "ja"):
        own = attributes.replace('class="', f'class="{language} ', 1)
        parts.append(f'<text lang="{language}" {own}>{escape(words.explain(language))}</text>')
    return "".join(parts)
