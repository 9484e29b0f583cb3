"""Reading what is to be refined: values, a total, a weight, a cut-off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.errors import Described, ParameterError
from sudare.parameters import describe_array, exact_fraction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["need_lower_cut_off", "read_cut_off", "read_total", "read_values", "read_weight"]


def read_values(values: ArrayLike, function: str, *, check_finite: bool = True) -> NDArray[np.float64]:
    """Finite numbers of any shape. Who looks at every number anyway may check by itself whether they are finite."""
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):
        raise ParameterError("values", function, "numbers, at least one", Described("a ragged list")) from None
    if isinstance(values, np.ma.MaskedArray):
        raise ParameterError("values", function, "numbers without a mask", Described("a masked array"))
    if array.size == 0 or array.dtype.kind not in "iuf":
        raise ParameterError("values", function, "numbers, at least one", describe_array(array))
    numbers = np.ascontiguousarray(array, dtype=np.float64)
    if check_finite and not np.isfinite(numbers).all():
        raise ParameterError("values", function, Words("finite numbers", "有限の数"), describe_array(array))
    return numbers


def read_total(total: object, function: str) -> float:
    """A finite number >= 0."""
    requirement = "a number from 0 to 2**53"
    exact = exact_fraction(total, "total", function, requirement)
    if not 0 <= exact <= 2**53:
        raise ParameterError("total", function, requirement, total)
    return float(exact)


def read_weight(weight: object, parameter: str, function: str, requirement: str, *, below: float) -> float:
    """A number from 0 to below a limit."""
    exact = exact_fraction(weight, parameter, function, requirement)
    if not 0 <= exact < below:
        raise ParameterError(parameter, function, requirement, weight)
    return float(exact)


def read_cut_off(cut_off: object, function: str) -> float | None:
    """The number above which all values were handed in; None if all were."""
    if cut_off is None:
        return None
    return float(exact_fraction(cut_off, "cut_off", function, "a number, or left out if all values are given"))


def need_lower_cut_off(function: str) -> ParameterError:
    """Values below the cut-off belong to the result, and nobody knows them."""
    return ParameterError(
        "cut_off",
        function,
        "so low that what lies below it becomes 0",
        Described("a higher one"),
        "Hand in more values, with a lower cut-off.",
    )
