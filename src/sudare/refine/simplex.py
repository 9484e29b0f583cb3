"""Noisy values made non-negative, with a known total.

The simplex of a total c is {b >= 0, sum b = c}. For a noisy vector z:

- `project_on_simplex`: the nearest point, max(z - theta, 0) with one theta for all.
- `negative_l2`: min ||z - b||^2 - weight ||b||^2 on the simplex (Matsumoto et al.), which favours few large values.
  For weight < 1 it is the projection of z / (1 - weight). (Their eq. 14 prints 1 - n weight, which belongs to a loss
  scaled by 1/n; the test minimises eq. 11 as printed.)
- `nonnegative_lasso`: values lowered by weight / 2 and cut off at 0, then scaled or shifted to the total.
- `clip_and_scale`: cut off at 0, then scaled to the total; the baseline.

None takes longer than in proportion to the number of values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from sudare.errors import ParameterError
from sudare.parameters import Rational, describe_array, shown
from sudare.refine.reading import read_total, read_values, read_weight

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Values = NDArray[np.float64]

__all__ = ["clip_and_scale", "negative_l2", "negative_l2_by_iteration", "nonnegative_lasso", "project_on_simplex"]

_BELOW_ONE = "a number from 0 to below 1"


def project_on_simplex(values: ArrayLike, total: Rational) -> Values:
    """The nearest values >= 0 that add up to a total.

    Example:
        >>> from sudare.refine import project_on_simplex
        >>> project_on_simplex([5, 1, -2], 4).tolist()
        [4.0, 0.0, 0.0]
    """
    array = read_values(values, "project_on_simplex", check_finite=False)
    return _projected(array, read_total(total, "project_on_simplex"))


def negative_l2(values: ArrayLike, total: Rational, weight: Rational) -> Values:
    """The minimum of ||values - b||^2 - weight ||b||^2 over all b >= 0 with the total, for a weight from 0 to below 1.

    Example:
        >>> from sudare.refine import negative_l2
        >>> negative_l2([5, 3, 1], 6, 0.5).tolist()
        [5.0, 1.0, 0.0]
    """
    array, wanted = read_values(values, "negative_l2"), read_total(total, "negative_l2")
    gamma = 1 - read_weight(weight, "weight", "negative_l2", _BELOW_ONE, below=1)
    return _projected(array / gamma, wanted)


def negative_l2_by_iteration(values: ArrayLike, total: Rational, weight: Rational, rounds: int = 1000) -> Values:
    """The same minimum by the paper's iteration (its eq. 13): project values + weight * b, again and again.

    It converges like weight**rounds; `negative_l2` gives the limit at once.
    """
    array, wanted = read_values(values, "negative_l2_by_iteration"), read_total(total, "negative_l2_by_iteration")
    factor = read_weight(weight, "weight", "negative_l2_by_iteration", _BELOW_ONE, below=1)
    b = _projected(array, wanted)
    for _ in range(rounds):
        following = _projected(array + factor * b, wanted)
        if np.array_equal(following, b):
            break
        b = following
    return b


def nonnegative_lasso(
    values: ArrayLike, total: Rational, weight: Rational, correct_by: Literal["scale", "shift"] = "scale"
) -> Values:
    """Values lowered by half the weight and cut off at 0, then brought to the total.

    Args:
        values: the noisy values.
        total: what they must add up to.
        weight: of the absolute values in the Lasso, >= 0.
        correct_by: ``"scale"`` multiplies all by one number; ``"shift"`` projects on the simplex.
    """
    function = "nonnegative_lasso"
    array, wanted = read_values(values, function), read_total(total, function)
    if not isinstance(correct_by, str) or correct_by not in ("scale", "shift"):
        raise ParameterError("correct_by", function, "'scale' or 'shift'", shown(correct_by))
    half = read_weight(weight, "weight", function, "a number from 0 to 2**53", below=2.0**53) / 2
    lowered = np.maximum(array - half, 0.0)
    return _scaled(lowered, wanted) if correct_by == "scale" else _projected(lowered, wanted)


def clip_and_scale(values: ArrayLike, total: Rational) -> Values:
    """Values cut off at 0, then multiplied by one number to add up to the total.

    Example:
        >>> from sudare.refine import clip_and_scale
        >>> clip_and_scale([3, 1, -2], 8).tolist()
        [6.0, 2.0, 0.0]
    """
    array, wanted = read_values(values, "clip_and_scale"), read_total(total, "clip_and_scale")
    return _scaled(np.maximum(array, 0.0), wanted)


def _projected(values: Values, wanted: float) -> Values:
    from sudare.kernels.simplex import threshold_for_sum, write_above

    if wanted == 0:
        return np.zeros_like(values)
    flat, out = values.reshape(-1), np.empty(values.size)
    # The output has room for the candidates, which are not needed any more when it is written.
    theta = threshold_for_sum(flat, wanted, out)
    if not np.isfinite(theta):
        raise ParameterError("values", "the projection", "finite numbers", describe_array(values))
    write_above(flat, theta, out)
    return out.reshape(values.shape)


def _scaled(values: Values, wanted: float) -> Values:
    """Where nothing is positive there is nothing to scale: everyone gets the same."""
    sum_now = float(values.sum())
    return values * (wanted / sum_now) if sum_now > 0 else np.full_like(values, wanted / values.size)
