"""Small pictures without fonts, scripts or packages: PNG maps, and SVG charts, light or dark as the reader's system is."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from sudare.releases.charts import short_number
from sudare.tables.palettes import COLOURS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "Curve",
    "Interval",
    "cell_table",
    "curve_chart",
    "interval_chart",
    "maps_png",
    "pixels_of_png",
    "step_chart",
    "svg_page",
    "svg_text",
]

SHADES = 64
GAP = 16
"""Pixels between two maps."""

WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 70, 24, 52, 54
STYLE = """
svg { --ink: #1b2430; --quiet: #55606e; --rule: #dde2e8; --paper: #ffffff; --a: #2f6fc4; --b: #c2410c; --c: #0a7d58;
  --soft: #d5e3f5; --hide: #f3c9b5; --also: #f8e7b9; }
@media (prefers-color-scheme: dark) { svg { --ink: #e6eaf0; --quiet: #a9b3c0; --rule: #343c48; --paper: #171b21; --a: #5b9be8;
  --b: #ff9a52; --c: #3fd19c; --soft: #24364f; --hide: #6b3a22; --also: #5c4c1d; } }
text { font-family: system-ui, -apple-system, "Segoe UI", "Hiragino Sans", "Yu Gothic", "Noto Sans CJK JP", sans-serif;
  font-size: 12px; fill: var(--quiet); dominant-baseline: central; }
.paper { fill: var(--paper); } .title { font-size: 15px; font-weight: 600; fill: var(--ink); } .ink { fill: var(--ink); }
.end { text-anchor: end; } .middle { text-anchor: middle; } .rule { stroke: var(--rule); }
.line { fill: none; stroke-width: 2.2; } .a { stroke: var(--a); } .b { stroke: var(--b); } .c { stroke: var(--c); }
.fa { fill: var(--a); } .fb { fill: var(--b); }
.fc { fill: var(--c); } .soft { fill: var(--soft); } .hide { fill: var(--hide); } .also { fill: var(--also); }
""".strip()


@dataclass(frozen=True)
class Curve:
    """One line of a chart: its name, and its points."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Interval:
    """One row of a chart of estimates: its name, the true value, the estimate, and the ends of its interval."""

    name: str
    true: float
    estimate: float
    low: float
    high: float


def maps_png(tables: Sequence[NDArray[np.int64]], scale: int = 2) -> bytes:
    """Maps beside each other, south at the bottom, in the same colours: pale for nobody, darker for more people."""
    most = max(float(np.log1p(table.max())) for table in tables)
    shades = [np.ceil(np.log1p(np.maximum(table, 0)) / most * SHADES).astype(np.uint8)[::-1] for table in tables]
    large = [np.kron(shade, np.ones((scale, scale), dtype=np.uint8)) for shade in shades]
    gap = np.full((large[0].shape[0], GAP), SHADES + 1, dtype=np.uint8)
    rows = np.hstack([part for one in large for part in (gap, one)][1:])
    ends = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in COLOURS], dtype=float)
    at = np.linspace(0, len(COLOURS) - 1, SHADES)
    colours = np.stack([np.interp(at, range(len(COLOURS)), ends[:, i]) for i in range(3)], axis=1).round()
    palette = np.vstack([[[243, 244, 246]], colours, [[255, 255, 255]]]).astype(np.uint8)
    lines = b"".join(b"\0" + row.tobytes() for row in rows)
    header = struct.pack(">IIBBBBB", rows.shape[1], rows.shape[0], 8, 3, 0, 0, 0)
    parts = ((b"IHDR", header), (b"PLTE", palette.tobytes()), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_part(kind, content) for kind, content in parts)


def _part(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def pixels_of_png(png: bytes) -> NDArray[np.uint8]:
    """The shades of a picture that `maps_png` made."""
    at, parts = 8, {}
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        parts[png[at + 4 : at + 8]] = png[at + 8 : at + 8 + length]
        at += 12 + length
    columns, rows = struct.unpack(">II", parts[b"IHDR"][:8])
    return np.frombuffer(zlib.decompress(parts[b"IDAT"]), dtype=np.uint8).reshape(rows, columns + 1)[:, 1:]


def svg_text(x: float, y: float, text: str, kind: str = "") -> str:
    """A text of some classes."""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(text)}</text>'


def svg_page(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    """A picture with its title, its style and its parts."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">'
    paper = f'<rect class="paper" width="{width}" height="{height}"/>'
    return "\n".join([head, f"<style>{STYLE}</style>", paper, svg_text(18, 24, title, "title"), *parts, "</svg>\n"])


def _legend(names: Sequence[str], y: float) -> list[str]:
    parts, x = [], float(LEFT)
    for name, kind in zip(names, "abc", strict=False):
        parts += [
            f'<line x1="{x:.1f}" y1="{y}" x2="{x + 18:.1f}" y2="{y}" class="line {kind}"/>',
            svg_text(x + 24, y, name, "ink"),
        ]
        x += 48 + sum(12 if ord(letter) > 0x2E80 else 6.6 for letter in name)
    return parts


def curve_chart(title: str, across: str, up: str, curves: Sequence[Curve]) -> str:
    """Lines over logarithmic axes, the lower one in powers of two."""
    xs = sorted({x for curve in curves for x, _ in curve.points})
    ys = [y for curve in curves for _, y in curve.points]
    low, high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))

    def place(x: float, y: float) -> tuple[float, float]:
        share = (math.log2(x) - math.log2(xs[0])) / (math.log2(xs[-1]) - math.log2(xs[0]))
        level = (math.log10(y) - low) / (high - low)
        return LEFT + share * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - level * (HEIGHT - TOP - BOTTOM - 26)

    parts = _legend([curve.name for curve in curves], TOP)
    for power in range(low, high + 1):
        _, y = place(xs[0], 10.0**power)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" class="rule"/>')
        parts.append(svg_text(LEFT - 8, y, short_number(10.0**power), "end"))
    parts += [svg_text(place(x, ys[0])[0], HEIGHT - BOTTOM + 16, short_number(x), "middle") for x in xs]
    parts += [
        svg_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, across, "middle"),
        svg_text(WIDTH - RIGHT, 24, up, "end"),
    ]
    for curve, kind in zip(curves, "abc", strict=False):
        places = [place(x, y) for x, y in curve.points]
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{way}" class="line {kind}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="f{kind}"/>' for x, y in places]
    return svg_page(WIDTH, HEIGHT, title, parts)


def step_chart(title: str, across: str, names: tuple[str, str], true: Sequence[int], published: Sequence[int]) -> str:
    """Two histograms over the same bins: the true one filled, the published one as a line."""
    most = max(*true, *published)
    wide = (WIDTH - LEFT - RIGHT) / len(true)

    def level(count: float) -> float:
        return HEIGHT - BOTTOM - count / most * (HEIGHT - TOP - BOTTOM - 26)

    x, y = float(LEFT), TOP
    parts = [f'<rect x="{x}" y="{y - 6}" width="18" height="12" class="soft"/>', svg_text(x + 24, y, names[0], "ink")]
    x += 190
    parts += [f'<line x1="{x}" y1="{y}" x2="{x + 18}" y2="{y}" class="line b"/>', svg_text(x + 24, y, names[1], "ink")]
    base = level(0)
    parts += [
        f'<rect x="{LEFT + i * wide:.1f}" y="{level(count):.1f}" width="{wide:.1f}" '
        f'height="{base - level(count):.1f}" class="soft"/>'
        for i, count in enumerate(true)
    ]
    corners = [(LEFT + (i + end) * wide, level(count)) for i, count in enumerate(published) for end in (0, 1)]
    way = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    parts.append(f'<polyline points="{way}" class="line b"/>')
    parts.append(f'<line x1="{LEFT}" y1="{base:.1f}" x2="{WIDTH - RIGHT}" y2="{base:.1f}" class="rule"/>')
    step = max(1, len(true) // 8)
    parts += [svg_text(LEFT + i * wide, base + 16, str(i), "middle") for i in range(0, len(true) + 1, step)]
    parts += [svg_text(LEFT - 8, level(most), short_number(most), "end"), svg_text(LEFT - 8, base, "0", "end")]
    parts.append(svg_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, across, "middle"))
    return svg_page(WIDTH, HEIGHT, title, parts)


def interval_chart(title: str, names: tuple[str, str], rows: Sequence[Interval]) -> str:
    """Estimates with their intervals, and the true values."""
    low, high = min(0.0, *(row.low for row in rows)), max(row.high for row in rows)
    height, left = TOP + 30 + 44 * len(rows) + 20, 150

    def place(value: float) -> float:
        return left + (value - low) / (high - low) * (WIDTH - left - 40)

    parts = [
        f'<circle cx="{left}" cy="{TOP}" r="4.5" class="fa"/>',
        svg_text(left + 12, TOP, names[0], "ink"),
        f'<line x1="{left + 250}" y1="{TOP - 7}" x2="{left + 250}" y2="{TOP + 7}" class="line b"/>',
        svg_text(left + 262, TOP, names[1], "ink"),
        f'<line x1="{place(0):.1f}" y1="{TOP + 22}" x2="{place(0):.1f}" y2="{height - 20}" class="rule"/>',
    ]
    for i, row in enumerate(rows):
        y = TOP + 46 + 44 * i
        a, b, here, true = (place(value) for value in (row.low, row.high, row.estimate, row.true))
        parts += [
            svg_text(left - 14, y, row.name, "ink end"),
            f'<line x1="{a:.1f}" y1="{y}" x2="{b:.1f}" y2="{y}" class="line a"/>',
            f'<circle cx="{here:.1f}" cy="{y}" r="4.5" class="fa"/>',
            f'<line x1="{true:.1f}" y1="{y - 10}" x2="{true:.1f}" y2="{y + 10}" class="line b"/>',
            svg_text(max(b, true) + 10 if b < WIDTH - 110 else a - 60, y - 12, short_number(row.estimate)),
        ]
    return svg_page(WIDTH, height, title, parts)


def cell_table(
    title: str, keys: tuple[str, str], columns: Sequence[str], rows: Sequence[tuple[str, Sequence[tuple[str, str]]]]
) -> str:
    """A table whose cells have a text and a kind: nothing, ``hide`` or ``also``."""
    left, step, high = 130, 92, 34
    width, height = left + step * len(columns) + 24, TOP + 40 + high * (len(rows) + 1)
    parts = [svg_text(left + step * (i + 1) - 12, TOP + 16, name, "end") for i, name in enumerate(columns)]
    for number, (name, cells) in enumerate(rows):
        y = TOP + 16 + high * (number + 1)
        parts.append(svg_text(left - 14, y, name, "ink end"))
        for i, (text, kind) in enumerate(cells):
            if kind:
                parts.append(
                    f'<rect x="{left + step * i + 4}" y="{y - 14}" width="{step - 8}" height="28" rx="4" class="{kind}"/>'
                )
            parts.append(svg_text(left + step * (i + 1) - 12, y, text, "ink end"))
    y, x = height - 18, 24
    for kind, key in zip(("hide", "also"), keys, strict=True):
        parts += [f'<rect x="{x}" y="{y - 7}" width="18" height="14" rx="3" class="{kind}"/>', svg_text(x + 26, y, key)]
        x += 240
    return svg_page(width, height, title, parts)
