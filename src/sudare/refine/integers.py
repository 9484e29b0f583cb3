"""The nearest whole numbers with a given total."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.errors import Described, ParameterError
from sudare.parameters import exact_integer
from sudare.refine.arguments import read_values

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["nearest_integers"]


def nearest_integers(values: ArrayLike, total: int) -> NDArray[np.int64]:
    """The whole numbers >= 0 with the total that are nearest to values >= 0 with (about) that total.

    Every value is rounded down, and what is missing goes to the largest fractional parts, one each; of equal ones, to
    the first.

    Args:
        values: numbers >= 0 whose sum is within half their number of the total, such as a projection on the simplex
            gives.
        total: what the whole numbers must add up to.

    Raises:
        ParameterError: if a value is negative, or the sum is too far from the total.

    Example:
        >>> from sudare.refine import nearest_integers
        >>> nearest_integers([1.5, 0.25, 2.25], 4).tolist()
        [2, 0, 2]
    """
    function = "nearest_integers"
    array = read_values(values, function)
    wanted = exact_integer(
        total,
        "total",
        function,
        Words("a whole number from 0 to 2**53", "0 以上 2**53 以下の整数"),
        smallest=0,
        largest=2**53,
    )
    if array.min() < 0:
        raise ParameterError("values", function, "numbers >= 0", Described("others"))
    whole = np.floor(array).astype(np.int64)
    missing = wanted - int(whole.sum())
    if not 0 <= missing <= array.size:
        raise ParameterError("values", function, "numbers that add up to the total", Described("another sum"))
    if missing:
        flat = whole.reshape(-1)
        fractions = array.reshape(-1) - flat
        # The missing-th largest fractional part, found without sorting all of them.
        limit = np.partition(fractions, array.size - missing)[array.size - missing]
        above = fractions > limit
        flat[above] += 1
        tied = np.flatnonzero(fractions == limit)[: missing - int(above.sum())]
        flat[tied] += 1
    return whole
