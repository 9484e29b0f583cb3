"""Errors by the size of the true count, and what is published where nobody is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sudare.border.frames import Figures, RowTuple
from sudare.errors import Described, ParameterError
from sudare.evaluate.pairs import Pair, read_pair, summary
from sudare.parameters import exact_integer, shown

__all__ = [
    "BANDS",
    "Band",
    "BandError",
    "NonZeroShare",
    "bands_of",
    "error_by_value",
    "non_zero_share",
    "read_bands",
    "shares_of",
    "zero_cell_bias",
]

Band = tuple[int, int | None]
BANDS: tuple[Band, ...] = ((0, 0), (1, 9), (10, 99), (100, None))


@dataclass(frozen=True)
class BandError:
    """The errors of all cells whose true count is in a band.

    Attributes:
        lowest: the smallest true count of the band.
        highest: the largest; None for a band without an end.
        cells: how many cells are in it.
        mean_error: their mean error, published minus true; None if there are no such cells.
        rmse: the root of their mean squared error; None if there are no such cells.
    """

    lowest: int
    highest: int | None
    cells: int
    mean_error: float | None
    rmse: float | None


@dataclass(frozen=True)
class NonZeroShare(Figures):
    """The share of all cells that are not 0.

    Attributes:
        true: in the true table.
        published: in the published table.
    """

    true: float
    published: float


def error_by_value(true: Any, published: Any, bands: Sequence[Band] = BANDS) -> RowTuple[BandError]:
    """The errors of cells by their true counts.

    **Not private**: see `sudare.evaluate`.

    Args:
        true: the true table.
        published: the published table, over the same cells.
        bands: pairs of the smallest and the largest count of a band; None for no largest.

    Raises:
        ParameterError: if the tables have different cells, or a band is not such a pair.

    Example:
        >>> from sudare.evaluate import error_by_value
        >>> for row in error_by_value([0, 0, 5, 200], [1, 0, 5, 190]):
        ...     print(row.lowest, row.cells, row.mean_error)
        0 2 0.5
        1 1 0.0
        10 0 None
        100 1 -10.0
    """
    return bands_of(read_pair(true, published, "error_by_value"), read_bands(bands, "error_by_value"))


def bands_of(pair: Pair, bands: Sequence[Band]) -> RowTuple[BandError]:
    """The errors for each band. Cells in which both tables are 0 are counted, not looked at."""
    rows = []
    for lowest, highest in bands:
        inside = pair.true >= lowest
        if highest is not None:
            inside &= pair.true <= highest
        cells = int(np.count_nonzero(inside)) + (pair.cells - pair.keys.size if lowest == 0 else 0)
        rmse, _, mean = summary(pair.errors[inside], cells) if cells else (None, None, None)
        rows.append(BandError(lowest, highest, cells, mean, rmse))
    return RowTuple(rows)


def non_zero_share(true: Any, published: Any) -> NonZeroShare:
    """Which share of the cells is not 0, in the true and in the published table.

    **Not private**: see `sudare.evaluate`.

    Args:
        true: the true table.
        published: the published table, over the same cells.

    Example:
        >>> from sudare.evaluate import non_zero_share
        >>> non_zero_share([0, 0, 0, 7], [0, 1, 0, 6])
        NonZeroShare(true=0.25, published=0.5)
    """
    pair = read_pair(true, published, "non_zero_share")
    return shares_of(pair)


def shares_of(pair: Pair) -> NonZeroShare:
    """The share of cells that are not 0 on either side."""
    return NonZeroShare(*(int(np.count_nonzero(side)) / pair.cells for side in (pair.true, pair.published)))


def zero_cell_bias(true: Any, published: Any) -> float | None:
    """The mean published value of the cells that are truly 0; None if no cell is.

    **Not private**: see `sudare.evaluate`.

    Args:
        true: the true table.
        published: the published table, over the same cells.

    Example:
        >>> from sudare.evaluate import zero_cell_bias
        >>> zero_cell_bias([0, 0, 0, 7], [0, 3, 0, 6])
        1.0
    """
    return bands_of(read_pair(true, published, "zero_cell_bias"), ((0, 0),))[0].mean_error


def read_bands(bands: object, function: str) -> tuple[Band, ...]:
    """The bands asked for."""
    requirement = "a list of pairs (smallest, largest) of whole numbers >= 0, the largest possibly None"
    if isinstance(bands, (str, bytes, dict)) or not isinstance(bands, Sequence) or not bands:
        raise ParameterError("bands", function, requirement, shown(bands))
    read: list[Band] = []
    for band in bands:
        try:
            lowest, highest = band
            low = exact_integer(lowest, "bands", function, requirement, smallest=0, largest=2**62)
            high = None
            if highest is not None:
                high = exact_integer(highest, "bands", function, requirement, smallest=low, largest=2**62)
        except (TypeError, ValueError):  # a ParameterError is a ValueError, and might show a number of a table
            raise ParameterError("bands", function, requirement, Described("another list")) from None
        read.append((low, high))
    return tuple(read)
