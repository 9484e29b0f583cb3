"""A count table: how many people in each cell, stored for the cells that have any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain.domain import Domain, read_domain
from sudare.domain.reading import read_array
from sudare.errors import Described, ParameterError
from sudare.parameters import describe_array, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Counts = NDArray[np.int64]
    Keys = NDArray[np.uint64]

__all__ = ["CountTable"]

WORTH_A_KERNEL = 1 << 15
"""Cells from which on loading the compiled sort is worth the time."""

LARGEST_TOTAL = 2**62
LARGEST_DENSE = 1 << 34


_MAKE = "Make a table with CountTable.from_cells, which sorts, merges and checks."


@dataclass(frozen=True, eq=False)
class CountTable:
    """Counts of people: a domain, the sorted keys of its non-empty cells, and their counts.

    Make one with `from_dense`, `from_cells` or `from_frame`. Its memory is 16 bytes a non-empty cell, whatever the domain.

    Attributes:
        domain: the cells that there are.
        keys: keys of the cells that are not empty, ascending.
        counts: their counts, all positive.

    Example:
        >>> import numpy as np
        >>> from sudare.domain import CountTable
        >>> table = CountTable.from_dense(np.array([[0, 2], [5, 0]]))
        >>> table
        CountTable(shape=(2, 2), cells=4)
        >>> table.to_dense()
        array([[0, 2],
               [5, 0]])
    """

    domain: Domain
    keys: Keys
    counts: Counts

    def __post_init__(self) -> None:
        read_domain(self.domain, "CountTable")
        for name, kind in (("keys", np.uint64), ("counts", np.int64)):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != kind:
                raise ParameterError(name, "CountTable", f"an array of {kind.__name__}", describe_array(array), _MAKE)
        keys, counts = self.keys, self.counts
        is_ascending = keys.size == 0 or (bool((keys[1:] > keys[:-1]).all()) and int(keys[-1]) < self.domain.cells)
        if keys.size != counts.size or not is_ascending or not bool((counts > 0).all()):
            requirement = "ascending keys of the domain, with a positive count for each"
            raise ParameterError("keys", "CountTable", requirement, Described("others"), _MAKE)
        for array in (keys, counts):
            array.setflags(write=False)

    @classmethod
    def from_dense(cls, array: ArrayLike, domain: Domain | None = None) -> CountTable:
        """A table from an array of whole numbers, one for each cell.

        Args:
            array: the counts, of the shape of the domain.
            domain: the cells; plain positions if left out.
        """
        dense = read_array(array, "array", "CountTable.from_dense", "an array of whole numbers")
        if dense.ndim == 0:
            raise ParameterError(
                "array", "CountTable.from_dense", "an array with at least one axis", Described("one number")
            )
        cells = Domain.of_shape(dense.shape) if domain is None else read_domain(domain, "CountTable.from_dense")
        if cells.shape != dense.shape:
            raise ParameterError(
                "array", "CountTable.from_dense", f"of the domain's shape {cells.shape}", Described(str(dense.shape))
            )
        counts = _read_counts(dense.ravel(), "array", "CountTable.from_dense")
        keys = np.flatnonzero(counts)
        return cls._checked(cells, keys.astype(np.uint64), counts[keys])

    @classmethod
    def from_cells(cls, domain: Domain, keys: ArrayLike, counts: ArrayLike) -> CountTable:
        """A table from keys and counts. Keys may come in any order; counts of a repeated key are added up, zeros dropped.

        Args:
            domain: the cells.
            keys: a key for each count, from 0 to the number of cells.
            counts: whole numbers >= 0.
        """
        function = "CountTable.from_cells"
        read_domain(domain, function)
        given = read_array(keys, "keys", function, "whole numbers in one dimension")
        if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
            raise ParameterError(
                "keys", function, "whole numbers in one dimension", Described(f"an array of {given.dtype}")
            )
        if given.size and (int(given.min()) < 0 or int(given.max()) >= domain.cells):
            raise ParameterError(
                "keys", function, f"from 0 to {domain.cells - 1}, as the domain has cells", Described("others")
            )
        amounts = _read_counts(counts, "counts", function)
        if amounts.shape != given.shape:
            raise ParameterError("counts", function, "in one dimension, as many as keys", Described("another number"))
        return cls._merged(domain, given.astype(np.uint64), amounts)

    @classmethod
    def from_frame(cls, frame: Any, domain: Domain, count: str | None = None) -> CountTable:
        """A table from a pandas, polars or pyarrow frame with a column for each attribute.

        Args:
            frame: the data: one row a person, or one row a cell with its count.
            domain: the cells; its attributes are named like the columns.
            count: the column of counts; left out where each row is one person.

        Raises:
            ParameterError: if a column is missing or holds a value that does not belong to its attribute.
        """
        import narwhals

        function = "CountTable.from_frame"
        try:
            data = narwhals.from_native(frame, eager_only=True)
            names = list(data.columns)
        except (TypeError, narwhals.exceptions.NarwhalsError):
            raise ParameterError("frame", function, "a pandas, polars or pyarrow frame", shown(frame)) from None
        read_domain(domain, function)
        wanted = [attribute.name for attribute in domain.attributes] + ([count] if count is not None else [])
        missing = [name for name in wanted if name not in names]
        if missing:
            raise ParameterError(
                "frame", function, f"a frame with the columns {wanted}", Described(f"no column {missing[0]!r}")
            )
        if len(set(wanted)) < len(wanted):
            raise ParameterError("count", function, "another column than the attributes", count)
        columns = {name: data[name].to_numpy() for name in wanted}
        counts = np.ones(len(data), dtype=np.int64) if count is None else _read_counts(columns[count], count, function)
        return cls._merged(domain, domain.keys_of(columns), counts)

    @classmethod
    def from_unique_cells(cls, domain: Domain, keys: Keys, counts: Counts) -> CountTable:
        """A table from different keys of the domain, in any order, and positive counts: nothing is merged or checked.

        For results of mechanisms, where an error that depends on what was drawn would itself be a release.
        """
        from sudare.kernels.sorting import sort_cells

        return cls(domain, *sort_cells([(keys, counts)], (domain.cells - 1).bit_length()))

    @classmethod
    def _merged(cls, domain: Domain, keys: Keys, counts: Counts) -> CountTable:
        _check_total(counts, "counts", "CountTable")
        ordered, sums = _in_order(domain, keys, counts)
        is_first = np.empty(ordered.size, dtype=np.bool_)
        is_first[:1] = True
        np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
        if not is_first.all():
            starts = np.flatnonzero(is_first)
            ordered, sums = ordered[starts], np.add.reduceat(sums, starts)
        kept = sums > 0
        return cls(domain, ordered, sums) if kept.all() else cls(domain, ordered[kept], sums[kept])

    @classmethod
    def _checked(cls, domain: Domain, keys: Keys, counts: Counts) -> CountTable:
        _check_total(counts, "counts", "CountTable")
        return cls(domain, np.ascontiguousarray(keys, dtype=np.uint64), np.ascontiguousarray(counts, dtype=np.int64))

    @property
    def total(self) -> int:
        """All people counted."""
        return int(self.counts.sum())

    def to_dense(self) -> Counts:
        """An array with a place for every cell, of the domain's shape."""
        if self.domain.cells > LARGEST_DENSE:
            raise ParameterError(
                "table",
                "CountTable.to_dense",
                "a table of at most 2**34 cells",
                Described(f"{self.domain.cells} cells"),
            )
        dense = np.zeros(self.domain.cells, dtype=np.int64)
        dense[self.keys.astype(np.int64)] = self.counts
        return dense.reshape(self.domain.shape)

    def to_columns(self, count: str = "count") -> dict[str, NDArray[Any]]:
        """A column for each attribute and one for the counts, a row for each cell that is not empty."""
        columns = self.domain.columns_of(self.keys)
        if count in columns:
            raise ParameterError("count", "CountTable.to_columns", "another name than the attributes have", count)
        return {**columns, count: self.counts}

    def to_arrow(self, count: str = "count") -> Any:
        """A pyarrow table with a row for each cell that is not empty; pandas and polars read it as it is."""
        import pyarrow

        return pyarrow.table(self.to_columns(count))

    def to_sparse(self) -> Any:
        """A scipy.sparse array, for a table of two axes."""
        from scipy.sparse import coo_array

        if len(self.domain.shape) != 2:
            raise ParameterError(
                "table", "CountTable.to_sparse", "a table of two axes", Described(f"{len(self.domain.shape)} axes")
            )
        return coo_array((self.counts, self.domain.places_of(self.keys)), shape=self.domain.shape)

    @classmethod
    def from_sparse(cls, matrix: Any, domain: Domain | None = None) -> CountTable:
        """A table from a scipy.sparse matrix or array."""
        from scipy.sparse import issparse

        if not issparse(matrix):
            raise ParameterError("matrix", "CountTable.from_sparse", "a scipy.sparse matrix or array", shown(matrix))
        entries = matrix.tocoo()
        if len(entries.shape) != 2:
            raise ParameterError(
                "matrix", "CountTable.from_sparse", "a matrix of two axes", Described(f"{len(entries.shape)} axes")
            )
        shape = tuple(map(int, entries.shape))
        cells = Domain.of_shape(shape) if domain is None else read_domain(domain, "CountTable.from_sparse")
        if cells.shape != tuple(entries.shape):
            raise ParameterError(
                "matrix",
                "CountTable.from_sparse",
                f"of the domain's shape {cells.shape}",
                Described(str(entries.shape)),
            )
        counts = _read_counts(entries.data, "matrix", "CountTable.from_sparse")
        return cls._merged(cells, cells.keys_at(entries.row, entries.col), counts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CountTable):
            return NotImplemented
        same_cells = self.domain == other.domain and np.array_equal(self.keys, other.keys)
        return same_cells and np.array_equal(self.counts, other.counts)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        # Neither the total nor the number of non-empty cells: a table is not published by being shown.
        return f"CountTable(shape={self.domain.shape}, cells={self.domain.cells})"


def _read_counts(values: ArrayLike, parameter: str, function: str) -> Counts:
    """Whole, non-negative numbers of any numeric kind, as int64. Errors tell positions, never values."""
    requirement = "whole numbers from 0 to 2**62"
    array = read_array(values, parameter, function, requirement)
    if array.size == 0:
        return np.empty(array.shape, dtype=np.int64)
    if array.dtype.kind not in "iuf":
        raise ParameterError(parameter, function, requirement, Described(f"an array of {array.dtype}"))
    if array.dtype.kind == "f":
        array = array.astype(np.float64)
        wrong = ~(np.isfinite(array) & (array == np.floor(array)) & (np.abs(array) <= 2.0**53))
    else:
        wrong = array > LARGEST_TOTAL
    wrong |= array < 0
    if wrong.any():
        position = int(np.flatnonzero(wrong.ravel())[0])
        raise ParameterError(parameter, function, requirement, Described(f"another number at position {position}"))
    return array.astype(np.int64)


def _in_order(domain: Domain, keys: Keys, counts: Counts) -> tuple[Keys, Counts]:
    """Cells by ascending keys."""
    if keys.size < WORTH_A_KERNEL:
        order = np.argsort(keys, kind="stable")
        return keys[order], counts[order]
    from sudare.kernels.sorting import sort_cells

    return sort_cells([(keys, counts)], (domain.cells - 1).bit_length())


def _check_total(counts: Counts, parameter: str, function: str) -> None:
    """The total must fit, whatever order it is summed in."""
    total = (int((counts >> 32).sum()) << 32) + int((counts & (2**32 - 1)).sum())
    if total > LARGEST_TOTAL:
        raise ParameterError(
            parameter, function, "whole numbers with a total of at most 2**62", Described("a larger total")
        )
