"""Noisy values made sparse by the Lasso: each brought nearer to 0 by half a weight, and to 0 if it is nearer than that.

`lasso` keeps signs, for tables of differences; `nonnegative_lasso` leaves nothing below 0, for tables of counts. Both
are then brought to the total, where there is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from sudare.errors import ParameterError
from sudare.parameters import Rational, shown
from sudare.refine.arguments import need_lower_cut_off, read_cut_off, read_total, read_values, read_weight
from sudare.refine.simplex import projected, scaled

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Values = NDArray[np.float64]

__all__ = ["lasso", "nonnegative_lasso"]

Correction = Literal["scale", "shift"]


def lasso(
    values: ArrayLike, weight: Rational, total: Rational | None = None, correct_by: Correction = "scale"
) -> Values:
    """The minimum of ||values - b||^2 + weight ||b||_1: every value nearer to 0 by half the weight.

    Args:
        values: the noisy values.
        weight: of the absolute values, >= 0.
        total: what the values must add up to afterwards; left out if that is free.
        correct_by: ``"scale"`` multiplies all by one number; ``"shift"`` adds one number to all that are not 0. If
            nothing positive is left in sum (or nothing at all), every value becomes the same.

    Example:
        >>> from sudare.refine import lasso
        >>> lasso([5, 0.5, -3], 2).tolist()
        [4.0, 0.0, -2.0]
        >>> lasso([5, 0.5, -3], 2, total=3, correct_by="shift").tolist()
        [4.5, 0.0, -1.5]
    """
    function = "lasso"
    array = read_values(values, function)
    half = _read_half(weight, function)
    _read_correction(correct_by, function)
    shrunk: Values = array - np.clip(array, -half, half)
    if total is None:
        return shrunk
    wanted = read_total(total, function)
    if correct_by == "scale":
        return scaled(shrunk, wanted)
    left = shrunk != 0
    if not left.any():
        return np.full_like(array, wanted / array.size)
    shrunk[left] += (wanted - float(shrunk.sum())) / int(left.sum())
    return shrunk


def nonnegative_lasso(
    values: ArrayLike,
    total: Rational,
    weight: Rational,
    correct_by: Correction = "scale",
    *,
    cut_off: Rational | None = None,
) -> Values:
    """Values lowered by half the weight and cut off at 0, then brought to the total.

    Args:
        values: the noisy values.
        total: what they must add up to.
        weight: of the absolute values in the Lasso, >= 0.
        correct_by: ``"scale"`` multiplies all by one number; ``"shift"`` projects on the simplex.
        cut_off: left out where all values are given; otherwise the number above which all are. The others become 0.

    Raises:
        ParameterError: if an argument is not a number, or values below the cut-off would be needed.

    Example:
        >>> from sudare.refine import nonnegative_lasso
        >>> nonnegative_lasso([5, 2, -3], 10, 2).tolist()
        [8.0, 2.0, 0.0]
    """
    function = "nonnegative_lasso"
    array, wanted, limit = read_values(values, function), read_total(total, function), read_cut_off(cut_off, function)
    _read_correction(correct_by, function)
    half = _read_half(weight, function)
    lowered = np.maximum(array - half, 0.0)
    if correct_by == "shift":
        # Those left out have been lowered too, at least to 0.
        return projected(lowered, wanted, function, None if limit is None else max(limit - half, 0.0))
    if limit is not None and (half < limit or not lowered.any()):
        raise need_lower_cut_off(function)
    return scaled(lowered, wanted)


def _read_half(weight: object, function: str) -> float:
    return read_weight(weight, "weight", function, "a number from 0 to 2**53", below=2.0**53) / 2


def _read_correction(correct_by: object, function: str) -> None:
    if not isinstance(correct_by, str) or correct_by not in ("scale", "shift"):
        raise ParameterError("correct_by", function, "'scale' or 'shift'", shown(correct_by))
