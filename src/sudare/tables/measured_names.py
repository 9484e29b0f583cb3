"""What is measured: a name by which programs find a measurement, and words for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sudare.bilingual import Words
from sudare.tables.arguments import TOTAL

__all__ = [
    "MeasuredName",
    "name_areas",
    "name_blocks",
    "name_by",
    "name_cells",
    "name_level",
    "name_margin",
    "name_places",
    "name_total",
]

MAX_WRITTEN_BITS = 62
"""Larger powers of two are written as powers."""

_TOTAL = Words("total", "合計")
_CELLS = Words("single cells", "各セル")
_PLACES = Words("single places", "各地点")
_AREAS_OF_CELLS = Words("areas of {size} cells", "{size} セルの領域")
_AREAS_OF_PLACES = Words("areas of {size} places", "{size} 地点の領域")
_BLOCKS = Words("blocks of {size} cells", "{size} セルのブロック")
_MARGIN = Words("margin of axis {axis}", "第{axis}軸の周辺合計")
_BY = Words("{areas} by {attributes}", "{areas}（{attributes} 別）")


@dataclass(frozen=True, kw_only=True)
class MeasuredName:
    """What one measurement of a plan or a release is called.

    Attributes:
        name: the same in every language and version, such as ``"areas of 2**4 cells"``.
        words: for people, such as *areas of 16 cells*.
    """

    name: str
    words: Words


def name_total() -> MeasuredName:
    """All people of the table."""
    return MeasuredName(name=TOTAL, words=_TOTAL)


def name_cells() -> MeasuredName:
    """Each cell of the table."""
    return MeasuredName(name="cells", words=_CELLS)


def name_areas(height: int) -> MeasuredName:
    """Areas of a tree over cells with this many halvings below them."""
    if height == 0:
        return name_cells()
    return MeasuredName(name=f"areas of 2**{height} cells", words=_AREAS_OF_CELLS.format(size=_power(height)))


def name_blocks(height: int) -> MeasuredName:
    """Blocks of bins along an axis with this many halvings below them."""
    if height == 0:
        return name_cells()
    return MeasuredName(name=f"blocks of 2**{height} cells", words=_BLOCKS.format(size=_power(height)))


def name_places(height: int) -> MeasuredName:
    """Areas of a tree over places with this many halvings below them, where places have attributes."""
    if height == 0:
        return MeasuredName(name="places", words=_PLACES)
    return MeasuredName(name=f"areas of 2**{height} places", words=_AREAS_OF_PLACES.format(size=_power(height)))


def name_level(level: str) -> MeasuredName:
    """The areas of a level of a hierarchy, by the name that its owner gave it."""
    return MeasuredName(name=level, words=Words.same(level))


def name_margin(axis: int) -> MeasuredName:
    """The margin of an axis, which is counted from 0 here and from 1 in the name."""
    return MeasuredName(name=f"margin of axis {axis + 1}", words=_MARGIN.format(axis=axis + 1))


def name_by(areas: MeasuredName, attributes: Sequence[str]) -> MeasuredName:
    """The people of areas, by some of their attributes."""
    if not attributes:
        return areas
    by = ", ".join(attributes)
    return MeasuredName(name=f"{areas.name} by {by}", words=_BY.format(areas=areas.words, attributes=by))


def _power(bits: int) -> str:
    return f"{1 << bits:,}" if bits <= MAX_WRITTEN_BITS else f"2**{bits}"
