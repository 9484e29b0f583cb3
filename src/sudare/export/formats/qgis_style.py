"""A style for QGIS: cells without a border, in the colours of sudare's maps, in even steps of the logarithm."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

from sudare.tables.palettes import COLD_COLOURS, COLOURS

__all__ = ["style_of"]


def style_of(column: str, low: int, high: int) -> str:
    """The style of a layer as QGIS writes it (QML): one class for each colour.

    Args:
        column: of the numbers.
        low: the smallest of them.
        high: the largest.

    Example:
        >>> style_of("population", 0, 100).count("<range ")
        8
    """
    colours = [
        *((-upper, -lower, colour) for lower, upper, colour in reversed(_classes(-low, COLD_COLOURS))),
        *_classes(high, COLOURS),
    ]
    ranges, symbols = [], []
    for number, (lower, upper, colour) in enumerate(colours):
        label = f"{lower:,} – {upper:,}"
        ranges.append(
            f'<range lower="{lower}" upper="{upper}" symbol="{number}" label={quoteattr(label)} render="true"/>'
        )
        red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
        symbols.append(
            f'<symbol type="fill" name="{number}" alpha="1"><layer class="SimpleFill" enabled="1">'
            f'<Option type="Map"><Option type="QString" name="color" value="{red},{green},{blue},255"/>'
            '<Option type="QString" name="outline_style" value="no"/>'
            '<Option type="QString" name="style" value="solid"/></Option></layer></symbol>'
        )
    return (
        "<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>"
        '<qgis version="3.34" styleCategories="Symbology">'
        f'<renderer-v2 type="graduatedSymbol" attr={quoteattr(_quoted(column))} graduatedMethod="GraduatedColor" '
        'symbollevels="0" enableorderby="0">'
        f"<ranges>{''.join(ranges)}</ranges><symbols>{''.join(symbols)}</symbols></renderer-v2>"
        "<layerGeometryType>2</layerGeometryType></qgis>"
    )


def _quoted(column: str) -> str:
    """A column as QGIS's expressions name it."""
    return '"' + column.replace('"', '""') + '"'


def _classes(most: int, colours: Sequence[str]) -> list[tuple[int, int, str]]:
    """Lower and upper end of each colour, from 1 to the largest number; none where there is no number."""
    if most <= 0:
        return []
    ends = [0, *(round((most + 1) ** ((step + 1) / len(colours))) - 1 for step in range(len(colours)))]
    return [(lower, max(upper, lower), colour) for lower, upper, colour in zip(ends, ends[1:], colours, strict=False)]
