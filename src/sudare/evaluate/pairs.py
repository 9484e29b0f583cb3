"""A true and a published table, side by side in the cells where either has something."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain.arguments import read_array
from sudare.domain.domain import Domain
from sudare.domain.sparse_table import SparseTable
from sudare.errors import Described, ParameterError
from sudare.parameters import describe_array, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]
    Values = NDArray[np.float64]

__all__ = ["Pair", "read_pair", "summary"]

MAX_VALUE = 2.0**62


@dataclass(frozen=True, eq=False)
class Pair:
    """Two tables over the same cells.

    Attributes:
        shape: places along each axis.
        keys: cells in which one of them is not 0, ascending.
        true: the true counts there.
        published: the published values there.
    """

    shape: tuple[int, ...]
    keys: Keys
    true: Values
    published: Values

    @property
    def cells(self) -> int:
        """How many cells there are, the empty ones too."""
        return prod(self.shape)

    @property
    def errors(self) -> Values:
        """Published minus true."""
        return np.asarray(self.published - self.true)


def read_pair(true: Any, published: Any, function: str) -> Pair:
    """Read two tables.

    Counts are read as floating-point numbers: beyond 2**53 they are not exact, which no error measure would show.
    """
    one, other = _Table.read(true, "true", function), _Table.read(published, "published", function)
    if one.domain is not None and other.domain is not None and one.domain != other.domain:
        raise ParameterError("published", function, "a table over the same domain", Described("another domain"))
    if one.shape != other.shape:
        raise ParameterError("published", function, f"of the shape {one.shape}", Described(str(other.shape)))
    if one.values.size and one.values.min() < 0:
        raise ParameterError("true", function, "counts >= 0", Described("others"))
    return _side_by_side(one, other)


def _side_by_side(one: _Table, other: _Table) -> Pair:
    keys = np.concatenate([one.keys, other.keys])
    keys.sort(kind="stable")  # two sorted runs: merged in one pass
    is_first = np.ones(keys.size, dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    keys = keys[is_first]
    sides = []
    for table in (one, other):
        values = np.zeros(keys.size)
        values[np.searchsorted(keys, table.keys)] = table.values
        sides.append(values)
    return Pair(one.shape, keys, *sides)


def summary(errors: Values, number: int) -> tuple[float, float, float]:
    """Root mean square, mean absolute and mean error over this many places; those not listed have no error."""
    squares, absolute, plain = float(errors @ errors), float(np.abs(errors).sum()), float(errors.sum())
    return sqrt(squares / number), absolute / number, plain / number


@dataclass(frozen=True, eq=False)
class _Table:
    """The cells of one table that are not 0, in the order of their keys."""

    domain: Domain | None
    shape: tuple[int, ...]
    keys: Keys
    values: Values

    @classmethod
    def read(cls, given: Any, parameter: str, function: str) -> _Table:
        table = given if isinstance(given, SparseTable) else getattr(given, "table", given)
        if isinstance(table, SparseTable):
            return cls(table.domain, table.domain.shape, table.keys, table.counts.astype(np.float64))
        requirement = "a CountTable, a SignedTable, an array of numbers, or what a mechanism returned"
        if not isinstance(table, (np.ndarray, list, tuple)):
            raise ParameterError(parameter, function, requirement, shown(given))
        array = read_array(table, parameter, function, requirement)
        if array.ndim == 0 or not array.size or array.dtype.kind not in "iuf":
            raise ParameterError(parameter, function, requirement, describe_array(array))
        flat = np.ascontiguousarray(array).reshape(-1)
        keys = np.flatnonzero(flat)
        values = flat[keys].astype(np.float64)
        if not (np.abs(values) <= MAX_VALUE).all():
            raise ParameterError(parameter, function, "finite numbers up to 2**62", Described("others"))
        return cls(None, array.shape, keys.astype(np.uint64), values)
