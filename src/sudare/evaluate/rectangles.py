"""Errors of rectangles anywhere in a table of two axes, as users ask for: a town, a shore, ten minutes on foot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import Figures
from sudare.domain.arguments import read_array
from sudare.domain.domain import Domain
from sudare.errors import Described, ParameterError
from sudare.evaluate.pairs import Pair, read_pair, summary
from sudare.noise.entropy import ResearchEntropy
from sudare.noise.uniform import uniform_below
from sudare.parameters import describe_array, exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]
    Values = NDArray[np.float64]

__all__ = ["RectangleError", "error_of_rectangles", "random_rectangles", "rectangles_of"]

MAX_DENSE = 1 << 26
"""Up to this many cells, sums of rectangles are read off running sums over all cells."""


@dataclass(frozen=True)
class RectangleError(Figures):
    """The errors of some rectangles.

    Attributes:
        rectangles: how many.
        rmse: the root of the mean squared error.
        mean_absolute: the mean absolute error.
        mean_error: the mean error, published minus true.
    """

    rectangles: int
    rmse: float
    mean_absolute: float
    mean_error: float


def random_rectangles(shape: tuple[int, int], count: int, smallest: int, largest: int, seed: int) -> Integers:
    """Rectangles of random sides at random places of a table of two axes.

    The logarithm of a side is uniform, rounded down to whole sides; the place is uniform among those inside the table.

    Args:
        shape: rows and columns of the table.
        count: how many rectangles.
        smallest: the shortest side.
        largest: the longest side, at most the shorter axis.
        seed: where the random numbers start; the same seed gives the same rectangles.

    Returns:
        A row for each: first row, first column, number of rows, number of columns.

    Raises:
        ParameterError: if an argument is not a whole number, or the rectangles do not fit.

    Example:
        >>> from sudare.evaluate import random_rectangles
        >>> random_rectangles((100, 100), count=3, smallest=2, largest=15, seed=1).shape
        (3, 4)
    """
    function = "random_rectangles"
    if not isinstance(shape, tuple) or len(shape) != 2:
        raise ParameterError("shape", function, Words("two lengths", "2 つの長さ"), shown(shape))
    lengths = [exact_integer(length, "shape", function, "two whole numbers >= 1", smallest=1) for length in shape]
    number = exact_integer(
        count,
        "count",
        function,
        Words("a whole number from 1 to 10**9", "1 以上 10**9 以下の整数"),
        smallest=1,
        largest=10**9,
    )
    low = exact_integer(smallest, "smallest", function, Words("a whole number >= 1", "1 以上の整数"), smallest=1)
    requirement = f"a whole number from smallest to the shorter axis, {min(lengths)}"
    high = exact_integer(largest, "largest", function, requirement, smallest=low, largest=min(lengths))
    start = exact_integer(seed, "seed", function, Words("a whole number >= 0", "0 以上の整数"), smallest=0)
    source = ResearchEntropy(start)
    logarithms = np.log(low) + _uniform((2, number), source) * np.log((high + 1) / low)
    sides = np.clip(np.exp(logarithms).astype(np.int64), low, high)
    room = np.array(lengths)[:, None] - sides + 1
    places = np.minimum((_uniform((2, number), source) * room).astype(np.int64), room - 1)
    return np.concatenate([places, sides]).T.copy()


def _uniform(shape: tuple[int, ...], source: ResearchEntropy) -> Values:
    """Numbers from 0 to below 1 that look random and follow from the seed."""
    return np.asarray((uniform_below(1 << 53, shape, source) * 2.0**-53).astype(np.float64))


def error_of_rectangles(true: Any, published: Any, rectangles: ArrayLike) -> RectangleError:
    """The errors of the sums over rectangles.

    **Not private**: see `sudare.evaluate`.

    Args:
        true: the true table, of two axes.
        published: the published table, over the same cells.
        rectangles: a row for each: first row, first column, number of rows, number of columns; `random_rectangles`
            makes them.

    Raises:
        ParameterError: if the tables have different cells or not two axes, or a rectangle is not inside.

    Example:
        >>> from sudare.evaluate import error_of_rectangles
        >>> error_of_rectangles([[4, 0], [0, 4]], [[5, 0], [0, 1]], [[0, 0, 1, 2], [0, 0, 2, 2]])
        RectangleError(rectangles=2, rmse=1.5811388300841898, mean_absolute=1.5, mean_error=-0.5)
    """
    function = "error_of_rectangles"
    pair = read_pair(true, published, function)
    if len(pair.shape) != 2:
        raise ParameterError("true", function, "a table of two axes", Described(f"{len(pair.shape)} axes"))
    return rectangles_of(pair, [_read_rectangles(rectangles, pair.shape, function)])[0]


def rectangles_of(pair: Pair, groups: list[Integers]) -> list[RectangleError]:
    """The errors of each group of rectangles."""
    sums = _sums_by_running_totals if pair.cells <= MAX_DENSE else _sums_by_rows
    ends = np.cumsum([len(group) for group in groups])
    errors = sums(pair, np.concatenate(groups))
    return [
        RectangleError(part.size, *summary(part, part.size)) for part in np.split(errors, ends[:-1].astype(np.int64))
    ]


def _sums_by_running_totals(pair: Pair, rectangles: Integers) -> Values:
    running = np.zeros((pair.shape[0] + 1, pair.shape[1] + 1))
    row, column = np.divmod(pair.keys.astype(np.int64), pair.shape[1])
    running[row + 1, column + 1] = pair.errors
    np.cumsum(running, axis=1, out=running)
    np.cumsum(running, axis=0, out=running)
    top, left, rows, columns = rectangles.T
    bottom, right = top + rows, left + columns
    return np.asarray(running[bottom, right] - running[top, right] - running[bottom, left] + running[top, left])


def _sums_by_rows(pair: Pair, rectangles: Integers) -> Values:
    """Cells are in the order of their rows: those of a rectangle's rows are one stretch, searched for its columns."""
    row, column = Domain.of_shape(pair.shape).places_of(pair.keys)
    errors = pair.errors
    sums = np.zeros(len(rectangles))
    first, last = np.searchsorted(row, rectangles[:, 0]), np.searchsorted(row, rectangles[:, 0] + rectangles[:, 2])
    for i, (start, end, left, width) in enumerate(
        zip(first.tolist(), last.tolist(), rectangles[:, 1].tolist(), rectangles[:, 3].tolist(), strict=True)
    ):
        along = column[start:end] - left
        sums[i] = errors[start:end][(along >= 0) & (along < width)].sum()
    return sums


def _read_rectangles(rectangles: ArrayLike, shape: tuple[int, ...], function: str) -> Integers:
    requirement = "rows of four whole numbers: first row, first column, number of rows, number of columns"
    array = read_array(rectangles, "rectangles", function, requirement)
    if array.ndim != 2 or array.shape[1] != 4 or not array.size or array.dtype.kind not in "iu":
        raise ParameterError("rectangles", function, requirement, describe_array(array))
    for start, side, length in ((array[:, 0], array[:, 2], shape[0]), (array[:, 1], array[:, 3], shape[1])):
        if not ((start >= 0) & (side >= 1) & (side <= length) & (start <= length - side.astype(np.int64))).all():
            raise ParameterError(
                "rectangles", function, f"inside the {shape[0]} x {shape[1]} cells", Described("others")
            )
    return array.astype(np.int64)
