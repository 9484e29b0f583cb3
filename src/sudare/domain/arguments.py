"""Reading arrays that a caller handed in: refuse what would be misread, and never show a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.errors import Described, ParameterError
from sudare.parameters import describe_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["read_array", "read_column"]


def read_array(values: ArrayLike, parameter: str, function: str, requirement: str | Words) -> NDArray[Any]:
    """An array of any shape; refuses ragged lists, and masks, which would be lost without a word."""
    if isinstance(values, np.ma.MaskedArray):
        raise ParameterError(parameter, function, requirement, Described("a masked array"))
    try:
        return np.asarray(values)
    except (ValueError, OverflowError):
        raise ParameterError(parameter, function, requirement, Described("a ragged list")) from None


def read_column(values: ArrayLike, parameter: str, requirement: str | Words, kinds: str) -> NDArray[Any]:
    """A column of a table: one dimension, of certain kinds of numbers."""
    array = read_array(values, parameter, "this table", requirement)
    if array.ndim != 1 or (array.size and array.dtype.kind not in kinds):
        raise ParameterError(parameter, "this table", requirement, describe_array(array))
    return array
