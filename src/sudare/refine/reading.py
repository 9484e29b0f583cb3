"""Reading what is to be refined: values, a total, a weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sudare.errors import ParameterError
from sudare.parameters import describe_array, exact_fraction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["read_total", "read_values", "read_weight"]


def read_values(values: ArrayLike, function: str, *, check_finite: bool = True) -> NDArray[np.float64]:
    """Finite numbers of any shape. Who looks at every number anyway may check by itself whether they are finite."""
    array = np.asarray(values)
    if array.size == 0 or array.dtype.kind not in "iuf":
        raise ParameterError("values", function, "numbers, at least one", describe_array(array))
    numbers = np.ascontiguousarray(array, dtype=np.float64)
    if check_finite and not np.isfinite(numbers).all():
        raise ParameterError("values", function, "finite numbers", describe_array(array))
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
