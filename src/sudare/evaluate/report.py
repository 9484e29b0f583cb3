"""All measures of accuracy in one object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from sudare.border.frames import Rows
from sudare.evaluate.areas import AreaError, areas_of, read_sides
from sudare.evaluate.pairs import Pair, read_pair
from sudare.evaluate.rectangles import RectangleError, random_rectangles, rectangles_of
from sudare.evaluate.values import BANDS, Band, BandError, NonZeroShare, bands_of, read_bands, shares_of
from sudare.extras import FIGURES, optional_module

__all__ = ["RECTANGLE_CLASSES", "Evaluation", "SidesError", "measure_errors"]

RECTANGLE_CLASSES = ((2, 15), (16, 63), (64, 256))
"""Shortest and longest sides of the random rectangles of each class."""

RECTANGLES = 4000
SEED = 20200101
CAUTION = "Compared with the true counts: not private."


@dataclass(frozen=True)
class SidesError:
    """The errors of random rectangles with sides in a range.

    Attributes:
        smallest: the shortest side.
        largest: the longest side.
        errors: their errors.
    """

    smallest: int
    largest: int
    errors: RectangleError


@dataclass(frozen=True)
class Evaluation(Rows):
    """How accurate a published table is. **Not private**: see `sudare.evaluate`.

    Attributes:
        shape: places along each axis.
        total_error: people published minus people counted.
        areas: errors by the side of aligned areas.
        bands: errors by the true count of a cell.
        rectangles: errors of random rectangles, where the table has two axes long enough.
        non_zero_share: the share of cells that are not 0, before and after.
        zero_cell_bias: the mean published value of cells that are truly 0.
    """

    shape: tuple[int, ...]
    total_error: float
    areas: tuple[AreaError, ...]
    bands: tuple[BandError, ...]
    rectangles: tuple[SidesError, ...]
    non_zero_share: NonZeroShare
    zero_cell_bias: float | None

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return asdict(self)

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each size of area, band of true counts, and range of sides: what, how many, and the errors of it."""
        rows: list[tuple[str, str, int, float | None, float | None, float | None]] = [
            ("area", str(row.side), row.areas, row.rmse, row.mean_absolute, row.mean_error) for row in self.areas
        ]
        rows += [("true count", _band(row), row.cells, row.rmse, None, row.mean_error) for row in self.bands]
        for row in self.rectangles:
            found = row.errors
            sides = f"{row.smallest} to {row.largest}"
            rows.append(("rectangle", sides, found.rectangles, found.rmse, found.mean_absolute, found.mean_error))
        names = ("of", "size", "number", "rmse", "mean_absolute", "mean_error")
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}

    def _sections(self) -> list[tuple[list[str], list[list[str]]]]:
        """Tables of text: a heading and rows each."""
        shares = self.non_zero_share
        sections = [
            (
                ["", "true", "published"],
                [
                    ["cells that are not 0", f"{shares.true:.3%}", f"{shares.published:.3%}"],
                    ["mean count where nobody is", "0", _number(self.zero_cell_bias)],
                ],
            ),
            (
                ["side of areas", "areas", "RMSE", "mean absolute", "mean error"],
                [
                    [str(row.side), f"{row.areas:,}", *map(_number, (row.rmse, row.mean_absolute, row.mean_error))]
                    for row in self.areas
                ],
            ),
            (
                ["true count", "cells", "RMSE", "mean error"],
                [[_band(row), f"{row.cells:,}", *map(_number, (row.rmse, row.mean_error))] for row in self.bands],
            ),
        ]
        if self.rectangles:
            lines = [
                [
                    f"{row.smallest} to {row.largest}",
                    f"{row.errors.rectangles:,}",
                    *map(_number, (row.errors.rmse, row.errors.mean_absolute, row.errors.mean_error)),
                ]
                for row in self.rectangles
            ]
            sections.append((["sides of rectangles", "number", "RMSE", "mean absolute", "mean error"], lines))
        return sections

    def __str__(self) -> str:
        shape = " x ".join(map(str, self.shape))
        text = [f"{shape} cells; error of the total: {_number(self.total_error)}. {CAUTION}"]
        for heading, rows in self._sections():
            widths = [max(map(len, column)) for column in zip(heading, *rows, strict=True)]
            text.append("")
            for row in (heading, *rows):
                cells = [row[0].ljust(widths[0])]
                cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
                text.append("  ".join(cells).rstrip())
        return "\n".join(text)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        parts = [f"<p>{escape(str(self).splitlines()[0])}</p>"]
        for heading, rows in self._sections():
            head = "".join(f"<th>{escape(cell)}</th>" for cell in heading)
            body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
            parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
        return f"<div>{''.join(parts)}</div>"

    def plot(self) -> Any:
        """A matplotlib figure: the RMSE against the side of areas, both on logarithmic axes."""
        figure = optional_module("matplotlib.figure", "report", FIGURES).Figure(figsize=(6, 4), layout="constrained")
        axes = figure.add_subplot()
        sides = [row.side for row in self.areas]
        errors = [row.rmse for row in self.areas]
        axes.plot(sides, errors, marker="o", label="aligned areas")
        if self.rectangles:
            middle = [(row.smallest * row.largest) ** 0.5 for row in self.rectangles]
            axes.plot(middle, [row.errors.rmse for row in self.rectangles], marker="s", label="random rectangles")
            axes.legend()
        axes.set_xscale("log", base=2)
        # A logarithmic axis has no place for the errors of an exact table, which are 0.
        axes.set_yscale("log" if all(error > 0 for error in errors) else "symlog")
        axes.set_xlabel("side (cells)")
        axes.set_ylabel("RMSE (people)")
        axes.set_title(CAUTION)
        return figure


def measure_errors(
    true: Any, published: Any, sides: Sequence[int] | None = None, bands: Sequence[Band] = BANDS
) -> Evaluation:
    """Compare a published table with the true one, in all ways that this package knows.

    **Not private**: see `sudare.evaluate`. The random rectangles are the same at every call.

    Args:
        true: the true table: a CountTable, or an array of counts.
        published: the published one: a table, an array of numbers, or what a mechanism returned.
        sides: sides of the aligned areas; 1, 2, 4, ..., 256 if left out.
        bands: bands of the true count.

    Raises:
        ParameterError: if the tables have different cells, or an argument is not what is asked for.

    Example:
        >>> import numpy as np, sudare
        >>> from sudare.evaluate import measure_errors
        >>> public = np.full((8, 8), 100)
        >>> evaluation = measure_errors(public, sudare.tables.nn_wavelet(public, sudare.Budget(epsilon=1)))
        >>> [row.side for row in evaluation.areas]
        [1, 2, 4, 8]
    """
    function = "measure_errors"
    pair = read_pair(true, published, function)
    lengths, counts = read_sides(sides, pair.shape, function), read_bands(bands, function)
    return Evaluation(
        shape=pair.shape,
        total_error=float(pair.errors.sum()),
        areas=areas_of(pair, lengths),
        bands=bands_of(pair, counts),
        rectangles=_random_rectangles(pair),
        non_zero_share=shares_of(pair),
        zero_cell_bias=bands_of(pair, ((0, 0),))[0].mean_error,
    )


def _random_rectangles(pair: Pair) -> tuple[SidesError, ...]:
    if len(pair.shape) != 2:
        return ()
    classes = [(low, high) for low, high in RECTANGLE_CLASSES if high <= min(pair.shape)]
    if not classes:
        return ()
    shape = (pair.shape[0], pair.shape[1])
    groups = [random_rectangles(shape, RECTANGLES, low, high, SEED + low) for low, high in classes]
    errors = rectangles_of(pair, groups)
    return tuple(SidesError(low, high, row) for (low, high), row in zip(classes, errors, strict=True))


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.4g}"


def _band(row: BandError) -> str:
    if row.highest is None:
        return f"{row.lowest} or more"
    return str(row.lowest) if row.lowest == row.highest else f"{row.lowest} to {row.highest}"
