"""Noisy values made non-negative, with a known total.

The simplex of a total c is {b >= 0, sum b = c}. For a noisy vector z:

- `project_on_simplex`: the nearest point, max(z - theta, 0) with one theta for all.
- `negative_l2`: min ||z - b||^2 - weight ||b||^2 on the simplex (Matsumoto et al.), which favours few large values.
  For weight < 1 it is the projection of z / (1 - weight). (Their eq. 14 prints 1 - n weight, which belongs to a loss
  scaled by 1/n; the test minimises eq. 11 as printed.)
- `clip_and_scale`: cut off at 0, then scaled to the total; the baseline.

None takes longer than in proportion to the number of values.

**Sparse tables.** Of a huge table only the large noisy values need to be there. The projection depends on no value below theta,
so a caller who hands in all values above a cut-off, and says so, gets what the whole table would have given; all others are 0. If
theta turns out to be below the cut-off, values are missing, and an error says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.parameters import Rational, describe_array, exact_integer
from sudare.refine.arguments import need_lower_cut_off, read_cut_off, read_total, read_values, read_weight

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Values = NDArray[np.float64]

__all__ = ["clip_and_scale", "negative_l2", "negative_l2_by_iteration", "project_on_simplex"]

_BELOW_ONE = "a number from 0 to below 1"


def project_on_simplex(values: ArrayLike, total: Rational, *, cut_off: Rational | None = None) -> Values:
    """The nearest values >= 0 that add up to a total.

    Args:
        values: the noisy values.
        total: what they must add up to.
        cut_off: left out where all values are given; otherwise the number above which all are. The others become 0.

    Raises:
        ParameterError: if an argument is not a number, or values below the cut-off would be needed.

    Example:
        >>> from sudare.refine import project_on_simplex
        >>> project_on_simplex([5, 1, -2], 4).tolist()
        [4.0, 0.0, 0.0]
        >>> project_on_simplex([5], 4, cut_off=1).tolist()
        [4.0]
    """
    function = "project_on_simplex"
    array = read_values(values, function, check_finite=False)
    return projected(array, read_total(total, function), function, read_cut_off(cut_off, function))


def negative_l2(values: ArrayLike, total: Rational, weight: Rational, *, cut_off: Rational | None = None) -> Values:
    """The minimum of ||values - b||^2 - weight ||b||^2 over all b >= 0 with the total, for a weight from 0 to below 1.

    Args:
        values: the noisy values.
        total: what they must add up to.
        weight: how much few large values are favoured; `sudare.refine.choice` helps to choose it.
        cut_off: left out where all values are given; otherwise the number above which all are. The others become 0.

    Raises:
        ParameterError: if an argument is not a number, or values below the cut-off would be needed.

    Example:
        >>> from sudare.refine import negative_l2
        >>> negative_l2([5, 3, 1], 6, 0.5).tolist()
        [5.0, 1.0, 0.0]
    """
    function = "negative_l2"
    array, wanted = read_values(values, function, check_finite=False), read_total(total, function)
    gamma = 1 - read_weight(weight, "weight", function, _BELOW_ONE, below=1)
    # To project z / gamma on the simplex is to project z on the simplex of gamma c, and to divide what comes out.
    return projected(array, gamma * wanted, function, read_cut_off(cut_off, function), factor=1 / gamma)


def negative_l2_by_iteration(values: ArrayLike, total: Rational, weight: Rational, rounds: int = 1000) -> Values:
    """The same minimum by the paper's iteration (its eq. 13): project values + weight * b, again and again.

    It converges like weight**rounds; `negative_l2` gives the limit at once.

    Args:
        values: noisy ones.
        total: that they shall add up to.
        weight: lambda, from 0 to below 1.
        rounds: of the iteration.
    """
    function = "negative_l2_by_iteration"
    array, wanted = read_values(values, function), read_total(total, function)
    factor = read_weight(weight, "weight", function, _BELOW_ONE, below=1)
    exact_integer(rounds, "rounds", function, Words("a whole number >= 0", "0 以上の整数"), smallest=0)
    b = projected(array, wanted, function)
    for _ in range(rounds):
        following = projected(array + factor * b, wanted, function)
        if np.array_equal(following, b):
            break
        b = following
    return b


def clip_and_scale(values: ArrayLike, total: Rational) -> Values:
    """Values cut off at 0, then multiplied by one number to add up to the total.

    Args:
        values: noisy ones.
        total: that they shall add up to.

    Example:
        >>> from sudare.refine import clip_and_scale
        >>> clip_and_scale([3, 1, -2], 8).tolist()
        [6.0, 2.0, 0.0]
    """
    array, wanted = read_values(values, "clip_and_scale"), read_total(total, "clip_and_scale")
    return scaled(np.maximum(array, 0.0), wanted)


def projected(
    values: Values, wanted: float, function: str, cut_off: float | None = None, *, factor: float = 1.0
) -> Values:
    """The projection on the simplex of the wanted sum, times a factor. Looks whether the values are finite."""
    from sudare.kernels.tables.simplex import threshold_for_sum, write_above

    flat, out = values.reshape(-1), np.empty(values.size)
    # The output has room for the candidates, which are not needed any more when it is written.
    theta = threshold_for_sum(flat, wanted, out) if wanted > 0 else np.inf
    if not write_above(flat, theta, factor, out):
        raise ParameterError("values", function, Words("finite numbers", "有限の数"), describe_array(values))
    if cut_off is not None and theta < cut_off:
        raise need_lower_cut_off(function)
    return out.reshape(values.shape)


def scaled(values: Values, wanted: float) -> Values:
    """Where nothing is positive there is nothing to scale: everyone gets the same."""
    sum_now = float(values.sum())
    return values * (wanted / sum_now) if sum_now > 0 else np.full_like(values, wanted / values.size)
