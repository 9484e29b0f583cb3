"""Maps with what a reader needs to read them: a title, a legend, a scale bar, and a mark where they are confidential.

The layout stands once, and is drawn by one of two pens: as SVG, for notebooks and browsers, or point by point as PNG. North is at
the top. The page of a release takes its legend and its scale bar from here, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from sudare.bilingual import Language, Words
from sudare.domain import mesh_level
from sudare.tables.letters import HEIGHT, can_draw, draw_text
from sudare.tables.maps import MapAxes, Pixels, colours_of, legend_ticks, png_file, png_of
from sudare.tables.palettes import COLD_COLOURS, COLOURS, mix_colours

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["FramedMap", "Legend", "ScaleBar", "framed_png", "framed_svg", "legends_of", "scale_bar", "undrawn_texts"]

PER_CELL = Words("People in each cell", "セルごとの人数")
PER_SQUARE = Words("People in each square of {block:,} × {block:,} cells", "{block:,} × {block:,} セルごとの人数")
LOGARITHMIC = Words("logarithmic scale", "対数目盛")
CONFIDENTIAL = Words("CONFIDENTIAL: true counts, not for publication", "機密：真の値（公表禁止）")
LENGTH_IN_CELLS = Words("{number:,} cells", "{number:,} セル")

Anchor = Literal["start", "middle", "end"]

EQUATOR_DEGREE = 111_320
"""Metres of a degree of longitude on the equator."""

INK, QUIET, FIELD, PAPER, WARNING = "#1d2733", "#59636e", "#eef2f6", "#ffffff", "#b3261e"
MARGIN, LINE = 24, 24
MIN_SIDE = 640
"""The longer side of a map in a picture, at least."""

MIN_WIDTH = 480
"""Of a picture's content, so that a legend has room."""

BAND_STEPS, BAND_HEIGHT, BAND_LENGTH = 64, 14, 440
MAX_BAR_SHARE = 0.4
TICKS_APART = 0.12


@dataclass(frozen=True, kw_only=True)
class FramedMap:
    """A map with the words around it.

    Attributes:
        pixels: the counts.
        axes: which axes of the table make the map.
        title: above it.
        note: below the title, such as the cost.
        language: of all other words.
        is_confidential: whether the counts are true ones.
    """

    pixels: Pixels
    axes: MapAxes
    title: str
    note: str = ""
    language: Language = "en"
    is_confidential: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Points of the map, without the words: whole ones for each pixel in one direction, stretched in the other."""
        rows, columns = self.pixels.counts.shape
        aspect = self.axes.width_over_height(rows, columns)
        times = -(-MIN_SIDE // max(rows, columns))
        if aspect * rows >= columns:
            return rows * times, round(aspect * rows * times)
        return round(columns * times / aspect), columns * times

    @property
    def legend_title(self) -> str:
        """What a colour stands for."""
        block = self.pixels.block
        per = PER_CELL if block == 1 else PER_SQUARE.format(block=block)
        return f"{per.explain(self.language)} · {LOGARITHMIC.explain(self.language)}"


@dataclass(frozen=True)
class Legend:
    """A band of colours.

    Attributes:
        colours: from its left end to its right one, in even steps.
        ticks: numbers with their places from 0 to 1.
        is_below: whether it shows what is below 0.
    """

    colours: tuple[str, ...]
    ticks: tuple[tuple[int, float], ...]
    is_below: bool = False


@dataclass(frozen=True)
class ScaleBar:
    """A round length.

    Attributes:
        share: of the map's width.
        words: the length with its unit.
    """

    share: float
    words: Words


def legends_of(most: float, *, has_negative: bool) -> list[Legend]:
    """The bands of a map: one, or from the largest sum below 0 to 0 in the middle, where the other one begins."""
    ticks = tuple(legend_ticks(most, apart=TICKS_APART * (2 if has_negative else 1)))
    above = Legend(COLOURS, ticks)
    if not has_negative:
        return [above]
    mirrored = tuple((-number, 1 - place) for number, place in reversed(ticks))
    return [Legend(COLD_COLOURS[::-1], mirrored, is_below=True), above]


def scale_bar(axes: MapAxes, columns: int) -> ScaleBar:
    """The longest round length (1, 2 or 5, and zeros) that takes at most two fifths of a map so many cells wide.

    Of a mesh it is one from west to east in the middle of the map, in metres; elsewhere it counts cells.
    """
    if axes.mesh is None:
        number = _round_below(max(columns * MAX_BAR_SHARE, 1))
        return ScaleBar(number / columns, LENGTH_IN_CELLS.format(number=number))
    level = mesh_level(axes.mesh.level)
    south, _, north, _ = level.bounds(axes.mesh.first_row, 0)
    middle = float(south) + float(north - south) * axes.mesh.rows / 2
    whole = columns * EQUATOR_DEGREE * math.cos(math.radians(middle)) / level.divisions
    metres = _round_below(max(whole * MAX_BAR_SHARE, 1))
    return ScaleBar(metres / whole, Words.same(f"{metres:,} m" if metres < 1000 else f"{metres // 1000:,} km"))


def framed_svg(framed: FramedMap, *, times: float = 1, has_ground: bool = True) -> str:
    """The map as SVG, whose words are text.

    Args:
        framed: the map.
        times: how large it is shown.
        has_ground: whether it stands on white; without, its words take the colour of what is around it.
    """
    pen = _SvgPen(framed, has_ground)
    width, height = _lay_out(framed, pen)
    return pen.finished(width, height, times)


def framed_png(framed: FramedMap) -> bytes:
    """The map as a PNG file.

    Texts that `undrawn_texts` names are not in the picture, but always in its description; where there are no Japanese letters,
    all other words are English.
    """
    if not can_draw(CONFIDENTIAL.explain(framed.language)):
        framed = replace(framed, language="en")
    size = _lay_out(framed, _NoPen())
    pen = _PngPen(framed, *size)
    _lay_out(framed, pen)
    description = [framed.note] if not framed.is_confidential else [CONFIDENTIAL.explain(framed.language), framed.note]
    return png_file(
        pen.points, texts={"Title": _one_line(framed.title), "Description": " · ".join(filter(None, description))}
    )


def undrawn_texts(framed: FramedMap) -> list[str]:
    """The texts of a caller that this machine has no letters for."""
    return [text for text in map(_one_line, (framed.title, framed.note)) if not can_draw(text)]


class _Pen(Protocol):
    """What a map is drawn with: points from the left and from the top."""

    def text(
        self, x: float, y: float, text: str, colour: str, *, anchor: str = "start", is_title: bool = False
    ) -> None:
        """A text whose upper edge is at y."""

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """A rectangle of one colour."""

    def picture(self, x: float, y: float, width: int, height: int) -> None:
        """The map itself."""


def _lay_out(framed: FramedMap, pen: _Pen) -> tuple[int, int]:
    """Draw a map with everything around it; its width and its height come back."""
    height, width = framed.shape
    inner, left, y = max(width, MIN_WIDTH), MARGIN, MARGIN
    if framed.is_confidential:
        pen.text(left, y, CONFIDENTIAL.explain(framed.language), WARNING, is_title=True)
        y += LINE + 8
    for text, colour, is_title in ((framed.title, INK, True), (framed.note, QUIET, False)):
        if text:
            pen.text(left, y, _one_line(text), colour, is_title=is_title)
            y += LINE + 4 * is_title
    y += 6
    edge, line = (4, WARNING) if framed.is_confidential else (1, QUIET)
    pen.box(left - edge, y - edge, width + 2 * edge, height + 2 * edge, line)
    pen.picture(left, y, width, height)
    y += height + LINE
    bar = scale_bar(framed.axes, _cells_across(framed))
    _draw_bar(pen, left, y, round(bar.share * width), bar.words.explain(framed.language))
    y += LINE + 12
    pen.text(left, y, framed.legend_title, INK)
    y += LINE
    legends = legends_of(framed.pixels.most, has_negative=framed.pixels.has_negative)
    length = min(BAND_LENGTH, inner) // len(legends)
    for number, legend in enumerate(legends):
        _draw_band(pen, left + number * length, y, length, legend, at_edge=len(legends) == 1)
    return inner + 2 * MARGIN, y + BAND_HEIGHT + LINE + MARGIN


def _one_line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _cells_across(framed: FramedMap) -> int:
    columns: int = framed.pixels.counts.shape[1]
    return columns * framed.pixels.block


def _draw_bar(pen: _Pen, x: int, y: int, length: int, text: str) -> None:
    for place, width, up in ((x, length, 0), (x, 2, 8), (x + length - 2, 2, 8)):
        pen.box(place, y + 8 - up, width, 2 + up, INK)
    pen.text(x + length + 10, y - 3, text, INK)


def _draw_band(pen: _Pen, x: float, y: float, length: float, legend: Legend, *, at_edge: bool) -> None:
    step = length / BAND_STEPS
    for number, (r, g, b) in enumerate(mix_colours(legend.colours, BAND_STEPS).astype(int).tolist()):
        start, end = round(number * step), round((number + 1) * step)
        pen.box(x + start, y, end - start, BAND_HEIGHT, f"#{r:02x}{g:02x}{b:02x}")
    for number, place in legend.ticks:
        pen.box(round(x + place * (length - 1)), y + BAND_HEIGHT, 1, 4, INK)
        anchor = "end" if at_edge and place > 0.93 else "middle"
        pen.text(x + place * length, y + BAND_HEIGHT + 7, _short(number), INK, anchor=anchor)


def _short(number: int) -> str:
    """A power of ten of either sign: 1,000 and 10,000 as they are, larger ones as 10^6."""
    sign, size = ("−" if number < 0 else ""), abs(number)
    return f"{sign}{size:,}" if size < 10**6 else f"{sign}10^{len(str(size)) - 1}"


def _round_below(most: float) -> int:
    power = int(math.pow(10, int(math.log10(most))))
    return max(times * power for times in (1, 2, 5) if times * power <= most)


class _NoPen:
    """Draws nothing: for how large a picture will be."""

    def text(
        self, x: float, y: float, text: str, colour: str, *, anchor: str = "start", is_title: bool = False
    ) -> None:
        pass

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        pass

    def picture(self, x: float, y: float, width: int, height: int) -> None:
        pass


class _SvgPen:
    """Writes SVG."""

    def __init__(self, framed: FramedMap, has_ground: bool) -> None:
        self.framed, self.has_ground = framed, has_ground
        self.parts: list[str] = []

    def text(
        self, x: float, y: float, text: str, colour: str, *, anchor: str = "start", is_title: bool = False
    ) -> None:
        size, weight = (18, ' font-weight="bold"') if is_title else (14, "")
        room = max(self.framed.shape[1], MIN_WIDTH) + MARGIN - x + MARGIN
        # Nobody can measure letters here: Latin ones are about 0.62 wide, Japanese ones 1.
        length = size * sum(0.62 if ord(letter) < 0x2000 else 1 for letter in text)
        shrunk = max(size * min(room / length, 1), 7) if text and anchor == "start" else size
        self.parts.append(
            f'<text x="{x:.1f}" y="{y + size * 0.8:.1f}" font-size="{shrunk:.4g}"{weight} text-anchor="{anchor}" '
            f'fill="{self._ink(colour)}">{escape(text)}</text>'
        )

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{self._ink(colour)}"/>'
        )

    def picture(self, x: float, y: float, width: int, height: int) -> None:
        self.box(x, y, width, height, FIELD)
        pixels = png_of(self.framed.pixels, self.framed.pixels.most)
        self.parts.append(
            f'<image x="{x:g}" y="{y:g}" width="{width}" height="{height}" preserveAspectRatio="none" '
            f'style="image-rendering:pixelated" href="data:image/png;base64,{pixels}"/>'
        )

    def finished(self, width: int, height: int, times: float) -> str:
        """The whole document."""
        ground = f'<rect width="{width}" height="{height}" fill="{PAPER}"/>' if self.has_ground else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width * times:g}" height="{height * times:g}" '
            f'style="max-width:100%;height:auto" font-family="sans-serif" shape-rendering="crispEdges" '
            f'role="img" lang="{self.framed.language}">'
            f"<title>{escape(_one_line(self.framed.title))}</title>{ground}{''.join(self.parts)}</svg>"
        )

    def _ink(self, colour: str) -> str:
        return "currentColor" if not self.has_ground and colour in (INK, QUIET) else colour


class _PngPen:
    """Sets points."""

    def __init__(self, framed: FramedMap, width: int, height: int) -> None:
        self.framed = framed
        self.points: NDArray[np.uint8] = np.full((height, width, 3), 255, dtype=np.uint8)

    def text(
        self, x: float, y: float, text: str, colour: str, *, anchor: str = "start", is_title: bool = False
    ) -> None:
        if not can_draw(text):
            return
        room = self.points.shape[1] - round(x) - 4
        scale = 2
        if anchor == "start" and draw_text(text, scale).shape[1] > room:
            scale = 1
            text = _cut(text, lambda part: draw_text(part, 1).shape[1] <= room)
        ink = draw_text(text, scale)
        if is_title:
            ink = _bold(ink)
        left = round(x - ink.shape[1] * {"start": 0, "middle": 0.5, "end": 1}[anchor])
        top = round(y) + (2 - scale) * HEIGHT // 2
        left = max(min(left, self.points.shape[1] - ink.shape[1]), 0)
        place = self.points[top : top + ink.shape[0], left : left + ink.shape[1]]
        cover = ink[: place.shape[0], : place.shape[1], None]
        place[:] = (place * (1 - cover) + np.array(_rgb(colour)) * cover).round()

    def box(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        self.points[round(y) : round(y + height), round(x) : round(x + width)] = _rgb(colour)

    def picture(self, x: float, y: float, width: int, height: int) -> None:
        pixels = self.framed.pixels
        coloured = colours_of(pixels, pixels.most, ground=_rgb(FIELD))
        rows, columns = pixels.counts.shape
        down, across = np.arange(height) * rows // height, np.arange(width) * columns // width
        self.points[round(y) : round(y) + height, round(x) : round(x) + width] = coloured[down][:, across]


def _cut(text: str, has_room: Callable[[str], bool]) -> str:
    if has_room(text):
        return text
    lengths = range(len(text) - 1, 0, -1)
    return next((f"{text[:length]}…" for length in lengths if has_room(f"{text[:length]}…")), "")


def _bold(ink: NDArray[np.float64]) -> NDArray[np.float64]:
    wide = np.pad(ink, ((0, 0), (0, 1)))
    wide[:, 1:] = np.maximum(wide[:, 1:], ink)
    return wide


def _rgb(colour: str) -> tuple[int, int, int]:
    r, g, b = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return r, g, b
