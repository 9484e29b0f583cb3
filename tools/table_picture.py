"""One picture of a release as SVG: what was measured on the left, what was predicted and what came out on the right.

The picture stands for itself: no fonts, no scripts, and its own paper, light or dark as the reader's system is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from sudare.comparison.reporting.labelling import width_of
from sudare.releases.charts import short_number

__all__ = ["Bar", "Heading", "Panels", "Row", "draw_panels"]

WIDTH = 760
LEFT, SPLIT, RIGHT = 18, 292, 742
"""Where the left panel begins, where the right one does, and where it ends."""

TOP = 118
BAR_STEP, ROW_STEP, MAX_ROW_STEP = 30, 17, 30
AXIS = 44
"""Below the rows, for the axis."""

BAR_LENGTH = 150
LABEL, SMALL = 11.5, 10.5
SHORTER = 0.88
"""Of the room that `width_of` keeps for a text, what Latin letters take of it at most."""

STYLE = """
svg { --ink: #1b2430; --quiet: #55606e; --rule: #dde2e8; --paper: #ffffff; --bar: #2f6fc4; --choice: #c28a00;
  --wide: #d5e3f5; --narrow: #9dbfe8; --dot: #0a7d58; --off: #d55e00; --other: #8a6d3b; }
@media (prefers-color-scheme: dark) { svg { --ink: #e6eaf0; --quiet: #a9b3c0; --rule: #343c48; --paper: #171b21; --bar: #5b9be8;
  --choice: #e0ad3a; --wide: #24364f; --narrow: #3b5f8f; --dot: #3fd19c; --off: #ff9a52; --other: #cfae74; } }
text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; font-size: 11.5px; fill: var(--quiet);
  dominant-baseline: central; }
.paper { fill: var(--paper); } .title { font-size: 15px; font-weight: 600; fill: var(--ink); }
.head { font-size: 13px; font-weight: 600; fill: var(--ink); } .name { fill: var(--ink); }
.group { fill: var(--ink); font-weight: 600; } .small { font-size: 10.5px; } .end { text-anchor: end; }
.middle { text-anchor: middle; } .rule { stroke: var(--rule); stroke-width: 1; } .bar { fill: var(--bar); }
.choice { fill: var(--choice); } .wide { fill: var(--wide); } .narrow { fill: var(--narrow); }
.noise { stroke: var(--ink); stroke-width: 2; } .dot { fill: var(--dot); fill-opacity: 0.75; }
.off { fill: none; stroke: var(--off); stroke-width: 1.6; } .other { fill: var(--other); fill-opacity: 0.75; }
""".strip()


@dataclass(frozen=True)
class Bar:
    """One measurement.

    Attributes:
        name: what was measured.
        share: of the budget, from 0 to 1, for the measurement and its choice.
        deviation: the standard deviation of its noise.
        choice: of the share, what was paid for choosing it.
    """

    name: str
    share: float
    deviation: float
    choice: float = 0.0


@dataclass(frozen=True)
class Heading:
    """A line above several rows."""

    text: str


@dataclass(frozen=True)
class Row:
    """One part of the workload.

    Attributes:
        label: what is summed.
        errors: of each release.
        noise: what noise alone predicts, where there is a prediction.
        wide: the interval that the plan states where nothing is known of the people.
        narrow: the one that it states where about their number is known.
        is_other: whether the releases are those of another method.
    """

    label: str
    errors: tuple[float, ...]
    noise: float | None = None
    wide: tuple[float, float] | None = None
    narrow: tuple[float, float] | None = None
    is_other: bool = False


@dataclass(frozen=True)
class Panels:
    """All that a picture shows.

    Attributes:
        title: of the picture.
        subtitle: table, people, budget, mechanism and releases.
        bars: what was measured.
        bars_note: below the heading of the left panel.
        rows: parts of the workload, with headings between them.
        heading: of the right panel.
        rows_note: below it.
        across: what the axis shows, with its unit.
        notes: lines below the panels.
    """

    title: str
    subtitle: str
    bars: Sequence[Bar]
    bars_note: str
    rows: Sequence[Row | Heading]
    heading: str
    rows_note: str
    across: str
    notes: Sequence[str]


def draw_panels(panels: Panels) -> str:
    """The picture as a file of its own."""
    bars_end = TOP + BAR_STEP * len(panels.bars)
    step = min(max(ROW_STEP, (bars_end - TOP - AXIS) // len(panels.rows)), MAX_ROW_STEP)
    bottom = max(bars_end, TOP + step * len(panels.rows) + AXIS)
    legend, legend_lines = _legend(panels, bottom + 20)
    notes = bottom + 20 + 18 * legend_lines
    height = notes + 16 * len(panels.notes) + 2
    parts = [
        f'<rect class="paper" width="{WIDTH}" height="{height}"/>',
        _text("title", LEFT, 24, panels.title),
        _text("", LEFT, 46, panels.subtitle),
        _text("head", LEFT, 76, "What was measured"),
        _text("small", LEFT, 94, panels.bars_note),
        *_bars(panels.bars),
        _text("head", SPLIT, 76, panels.heading),
        _text("small", SPLIT, 94, panels.rows_note),
        *_rows(panels, step),
        legend,
        *(_text("small", LEFT, notes + 16 * line, note) for line, note in enumerate(panels.notes)),
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'role="img" aria-label="{escape(panels.title, quote=True)}">'
    )
    return "\n".join([head, f"<title>{escape(panels.title)}</title>", f"<style>{STYLE}</style>", *parts, "</svg>", ""])


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _bars(bars: Sequence[Bar]) -> list[str]:
    """Bars from 0; the longest has the whole length."""
    longest = max(bar.share for bar in bars)
    parts = []
    for place, bar in enumerate(bars):
        y = TOP + BAR_STEP * place
        whole, chosen = (BAR_LENGTH * share / longest for share in (bar.share, bar.choice))
        parts.append(_text("name", LEFT, y, bar.name))
        parts.append(f'<rect class="bar" x="{LEFT}" y="{y + 9}" width="{max(whole, 1):.1f}" height="9"/>')
        if chosen:
            parts.append(f'<rect class="choice" x="{LEFT}" y="{y + 9}" width="{max(chosen, 1):.1f}" height="9"/>')
        parts.append(_text("small", LEFT + whole + 7, y + 13.5, f"{bar.share:.1%}, ± {bar.deviation:,.1f}"))
    return parts


@dataclass(frozen=True)
class _Axis:
    """A logarithmic axis. What is below its low end stands at that end."""

    left: float
    low: float
    high: float

    def x(self, value: float) -> float:
        share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return self.left + (RIGHT - 8 - self.left) * share

    @property
    def ticks(self) -> list[float]:
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        inside = [times * 10.0**power for power in powers for times in (1, 2, 5)]
        return [tick for tick in inside if self.low * 0.999 <= tick <= self.high * 1.001]


def _axis(rows: Sequence[Row | Heading]) -> _Axis:
    shown = [row for row in rows if isinstance(row, Row)]
    labels = max(SHORTER * width_of(row.label, LABEL) for row in shown)
    values = [value for row in shown for value in (*row.errors, row.noise or 0.0)]
    values += [value for row in shown for ends in (row.wide, row.narrow) if ends is not None for value in ends]
    positive = [value for value in values if value > 0]
    return _Axis(SPLIT + labels + 14, min(positive) / 1.1, max(positive) * 1.1)


def _rows(panels: Panels, step: float) -> list[str]:
    axis, end = _axis(panels.rows), TOP + step * len(panels.rows)
    parts = []
    for tick in axis.ticks:
        x = axis.x(tick)
        parts.append(f'<line class="rule" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 8}" y2="{end - 3}"/>')
        parts.append(_text("middle small", x, end + 10, short_number(tick)))
    parts.append(_text("middle", (axis.left + RIGHT - 8) / 2, end + 29, panels.across))
    for place, row in enumerate(panels.rows):
        y = TOP + step * place
        if isinstance(row, Heading):
            parts.append(_text("group", SPLIT, y + 1, row.text))
        else:
            parts += _row(axis, row, y)
    return parts


def _row(axis: _Axis, row: Row, y: float) -> list[str]:
    parts = [_text("end", axis.left - 8, y, row.label)]
    for kind, ends, tall in (("wide", row.wide, 12), ("narrow", row.narrow, 7)):
        if ends is not None:
            low, high = (axis.x(value) for value in ends)
            corner = f'x="{low:.1f}" y="{y - tall / 2:.1f}" width="{high - low:.1f}" height="{tall}"'
            parts.append(f'<rect class="{kind}" {corner}/>')
    if row.noise is not None:
        x = axis.x(row.noise)
        parts.append(f'<line class="noise" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 7}" y2="{y + 7}"/>')
    for error in row.errors:
        kind = "off" if is_off(row, error) else "other" if row.is_other else "dot"
        parts.append(f'<circle class="{kind}" cx="{axis.x(error):.1f}" cy="{y}" r="2.7"/>')
    return parts


def is_off(row: Row, error: float) -> bool:
    """Whether an error is outside the interval that the plan stated."""
    return row.wide is not None and not row.wide[0] <= error <= row.wide[1]


def _legend(panels: Panels, y: float) -> tuple[str, int]:
    """What the signs mean, and how many lines that takes."""
    rows = [row for row in panels.rows if isinstance(row, Row)]
    signs: list[tuple[str, str]] = []
    if any(row.noise is not None for row in rows):
        signs += [
            ('<line class="noise" x1="8" x2="8" y1="-7" y2="7"/>', "noise alone"),
            ('<rect class="wide" y="-6" width="16" height="12"/>', "predicted, 9 releases of 10"),
            ('<rect class="narrow" y="-3.5" width="16" height="7"/>', "the same, number of people known"),
        ]
    signs.append(('<circle class="dot" cx="8" r="2.7"/>', "one release"))
    if any(row.is_other for row in rows):
        signs.append(('<circle class="other" cx="8" r="2.7"/>', "one release with flat noise"))
    if any(is_off(row, error) for row in rows for error in row.errors):
        signs.append(('<circle class="off" cx="8" r="2.7"/>', "one outside"))
    if any(bar.choice for bar in panels.bars):
        signs.append(('<rect class="choice" y="-4.5" width="16" height="9"/>', "paid for choosing the margin"))
    parts, x, line = [], float(LEFT), 0
    for sign, words in signs:
        width = 22 + SHORTER * width_of(words, SMALL) + 10
        if x + width > RIGHT + 10:
            x, line = float(LEFT), line + 1
        place = f'<g transform="translate({x:.1f} {y + 18 * line:.1f})">'
        parts.append(f'{place}{sign}<text class="small" x="22" y="0">{escape(words)}</text></g>')
        x += width
    return "".join(parts), line + 1
