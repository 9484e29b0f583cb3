"""What count tables and signed tables share: whole numbers over the cells of a domain, stored where they are not 0."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from sudare.border.frames import Rows
from sudare.border.native_frames import native_frame
from sudare.domain.arguments import read_array
from sudare.domain.domain import Domain, read_domain
from sudare.errors import Described, ParameterError
from sudare.extras import SPARSE_ARRAYS, optional_module
from sudare.parameters import describe_array, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Counts = NDArray[np.int64]
    Keys = NDArray[np.uint64]

__all__ = ["SparseTable", "exact_sum"]

WORTH_A_KERNEL = 1 << 15
"""Cells from which on loading the compiled sort is worth the time."""

MAX_DENSE = 1 << 34


@dataclass(frozen=True, eq=False)
class SparseTable(Rows):
    """Whole numbers of a domain's cells: the sorted keys of those that are not 0, and their values.

    Its memory is 16 bytes a cell that is not 0, whatever the domain. Subclasses say which numbers are allowed.

    Attributes:
        domain: the cells that there are.
        keys: keys of the cells that are not 0, ascending.
        counts: their values.
    """

    domain: Domain
    keys: Keys
    counts: Counts

    lowest: ClassVar[int]
    """The smallest number that a cell may have."""

    highest: ClassVar[int]
    numbers: ClassVar[str]
    """Which numbers are allowed, in words."""

    def __post_init__(self) -> None:
        kind = type(self).__name__
        make = f"Make a table with {kind}.from_cells, which sorts, merges and checks."
        read_domain(self.domain, kind)
        for name, number in (("keys", np.uint64), ("counts", np.int64)):
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype != number:
                raise ParameterError(name, kind, f"an array of {number.__name__}", describe_array(array), make)
        keys, counts = self.keys, self.counts
        is_ascending = keys.size == 0 or (bool((keys[1:] > keys[:-1]).all()) and int(keys[-1]) < self.domain.cells)
        is_allowed = (counts != 0) & (counts >= self.lowest)
        if keys.size != counts.size or not is_ascending or not bool(is_allowed.all()):
            which = "positive count" if self.lowest == 0 else "count other than 0"
            requirement = f"ascending keys of the domain, with a {which} for each"
            raise ParameterError("keys", kind, requirement, Described("others"), make)
        for array in (keys, counts):
            array.setflags(write=False)

    @classmethod
    def from_dense(cls, array: ArrayLike, domain: Domain | None = None) -> Self:
        """A table from an array of whole numbers, one for each cell.

        Args:
            array: the counts, of the shape of the domain.
            domain: the cells; plain positions if left out.
        """
        function = f"{cls.__name__}.from_dense"
        dense = read_array(array, "array", function, "an array of whole numbers")
        if dense.ndim == 0:
            raise ParameterError("array", function, "an array with at least one axis", Described("one number"))
        cells = Domain.of_shape(dense.shape) if domain is None else read_domain(domain, function)
        if cells.shape != dense.shape:
            raise ParameterError("array", function, f"of the domain's shape {cells.shape}", Described(str(dense.shape)))
        counts = cls._read_counts(dense.ravel(), "array", function)
        cls._check_total(counts)
        return cls.from_cell_values(cells, counts)

    @classmethod
    def from_cell_values(cls, domain: Domain, values: Counts) -> Self:
        """A table from an allowed number for every cell, in the order of the keys; nothing is checked.

        For results of mechanisms, where an error that depends on what was drawn would itself be a release.
        """
        keys = np.flatnonzero(values)
        return cls(domain, keys.astype(np.uint64), np.ascontiguousarray(values[keys], dtype=np.int64))

    @classmethod
    def from_cells(cls, domain: Domain, keys: ArrayLike, counts: ArrayLike) -> Self:
        """A table from keys and counts. Keys may come in any order; counts of a repeated key are added up, zeros dropped.

        Args:
            domain: the cells.
            keys: a key for each count, from 0 to the number of cells.
            counts: whole numbers, such as the table may have.
        """
        function = f"{cls.__name__}.from_cells"
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
        amounts = cls._read_counts(counts, "counts", function)
        if amounts.shape != given.shape:
            raise ParameterError("counts", function, "in one dimension, as many as keys", Described("another number"))
        return cls._merged(domain, given.astype(np.uint64), amounts)

    @classmethod
    def from_frame(cls, frame: Any, domain: Domain, count: str | None = None) -> Self:
        """A table from a pandas, polars or pyarrow frame with a column for each attribute.

        Args:
            frame: the data: one row a person, or one row a cell with its count.
            domain: the cells; its attributes are named like the columns.
            count: the column of counts; left out where each row is one person.

        Raises:
            ParameterError: if a column is missing or holds a value that does not belong to its attribute.
        """
        function = f"{cls.__name__}.from_frame"
        data = native_frame(frame)
        if data is None:
            raise ParameterError("frame", function, "a pandas, polars or pyarrow frame", shown(frame))
        read_domain(domain, function)
        wanted = [attribute.name for attribute in domain.attributes] + ([count] if count is not None else [])
        missing = [name for name in wanted if name not in data.names]
        if missing:
            raise ParameterError(
                "frame", function, f"a frame with the columns {wanted}", Described(f"no column {missing[0]!r}")
            )
        if len(set(wanted)) < len(wanted):
            raise ParameterError("count", function, "another column than the attributes", count)
        columns = {name: data.to_numpy(name) for name in wanted}
        ones = np.ones(len(data), dtype=np.int64)
        counts = ones if count is None else cls._read_counts(columns[count], count, function)
        return cls._merged(domain, domain.keys_of(columns), counts)

    @classmethod
    def from_unique_cells(cls, domain: Domain, keys: Keys, counts: Counts) -> Self:
        """A table from different keys of the domain, in any order, and allowed counts: nothing is merged or checked.

        For results of mechanisms, where an error that depends on what was drawn would itself be a release.
        """
        from sudare.kernels.tables.sorting import sort_cells

        return cls(domain, *sort_cells([(keys, counts)], (domain.cells - 1).bit_length()))

    @classmethod
    def _merged(cls, domain: Domain, keys: Keys, counts: Counts) -> Self:
        cls._check_total(counts)
        ordered, sums = _in_order(domain, keys, counts)
        is_first = np.empty(ordered.size, dtype=np.bool_)
        is_first[:1] = True
        np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
        if not is_first.all():
            starts = np.flatnonzero(is_first)
            cls._check_sums(counts)
            ordered, sums = ordered[starts], np.add.reduceat(sums, starts)
        kept = sums != 0
        return cls(domain, ordered, sums) if kept.all() else cls(domain, ordered[kept], sums[kept])

    @classmethod
    def _check_total(cls, counts: Counts) -> None:
        """Refuse counts whose total the table cannot have."""

    @classmethod
    def _check_sums(cls, counts: Counts) -> None:
        """Refuse counts of which some may add up to more than 64 bits hold."""

    @classmethod
    def _read_counts(cls, values: ArrayLike, parameter: str, function: str) -> Counts:
        """Allowed whole numbers of any numeric kind, as int64. Errors tell positions, never values."""
        array = read_array(values, parameter, function, cls.numbers)
        if array.size == 0:
            return np.empty(array.shape, dtype=np.int64)
        if array.dtype.kind not in "iuf":
            raise ParameterError(parameter, function, cls.numbers, Described(f"an array of {array.dtype}"))
        if array.dtype.kind == "f":
            array = array.astype(np.float64)
            wrong = ~(np.isfinite(array) & (array == np.floor(array)) & (np.abs(array) <= 2.0**53))
        else:
            wrong = array > cls.highest
        wrong |= array < cls.lowest
        if wrong.any():
            position = int(np.flatnonzero(wrong.ravel())[0])
            raise ParameterError(parameter, function, cls.numbers, Described(f"another number at position {position}"))
        return array.astype(np.int64)

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return exact_sum(self.counts)

    def to_dense(self) -> Counts:
        """An array with a place for every cell, of the domain's shape."""
        if self.domain.cells > MAX_DENSE:
            raise ParameterError(
                "table",
                f"{type(self).__name__}.to_dense",
                "a table of at most 2**34 cells",
                Described(f"{self.domain.cells} cells"),
            )
        dense = np.zeros(self.domain.cells, dtype=np.int64)
        dense[self.keys.astype(np.int64)] = self.counts
        return dense.reshape(self.domain.shape)

    def frame_columns(self) -> Mapping[str, Any]:
        """A column for each attribute and one named ``count``, a row for each cell that is not 0."""
        return self.to_columns()

    def to_columns(self, count: str = "count") -> dict[str, NDArray[Any]]:
        """A column for each attribute and one for the counts, a row for each cell that is not 0."""
        columns = self.domain.columns_of(self.keys)
        if count in columns:
            function = f"{type(self).__name__}.to_columns"
            raise ParameterError("count", function, "another name than the attributes have", count)
        return {**columns, count: self.counts}

    def to_arrow(self, count: str = "count") -> Any:
        """A pyarrow table with a row for each cell that is not 0; pandas and polars read it as it is."""
        import pyarrow

        return pyarrow.table(self.to_columns(count))

    def to_sparse(self) -> Any:
        """A scipy.sparse array, for a table of two axes."""
        if len(self.domain.shape) != 2:
            function = f"{type(self).__name__}.to_sparse"
            got = Described(f"{len(self.domain.shape)} axes")
            raise ParameterError("table", function, "a table of two axes", got)
        sparse = optional_module("scipy.sparse", None, SPARSE_ARRAYS)
        return sparse.coo_array((self.counts, self.domain.places_of(self.keys)), shape=self.domain.shape)

    @classmethod
    def from_sparse(cls, matrix: Any, domain: Domain | None = None) -> Self:
        """A table from a scipy.sparse matrix or array."""
        function = f"{cls.__name__}.from_sparse"
        sparse = sys.modules.get("scipy.sparse")  # a caller with such a matrix has loaded it
        if sparse is None or not sparse.issparse(matrix):
            raise ParameterError("matrix", function, "a scipy.sparse matrix or array", shown(matrix))
        entries = matrix.tocoo()
        if len(entries.shape) != 2:
            got = Described(f"{len(entries.shape)} axes")
            raise ParameterError("matrix", function, "a matrix of two axes", got)
        shape = tuple(map(int, entries.shape))
        cells = Domain.of_shape(shape) if domain is None else read_domain(domain, function)
        if cells.shape != tuple(entries.shape):
            got = Described(str(entries.shape))
            raise ParameterError("matrix", function, f"of the domain's shape {cells.shape}", got)
        counts = cls._read_counts(entries.data, "matrix", function)
        return cls._merged(cells, cells.keys_at(entries.row, entries.col), counts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparseTable) or type(other) is not type(self):
            return NotImplemented
        same_cells = self.domain == other.domain and np.array_equal(self.keys, other.keys)
        return same_cells and np.array_equal(self.counts, other.counts)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        # Neither the total nor the number of cells that are not 0: a table is not published by being shown.
        return f"{type(self).__name__}(shape={self.domain.shape}, cells={self.domain.cells})"


def exact_sum(counts: Counts) -> int:
    """The sum of any 64-bit numbers: their halves are added up apart, which 2**31 numbers cannot make overflow."""
    return (int((counts >> 32).sum()) << 32) + int((counts & (2**32 - 1)).sum())


def _in_order(domain: Domain, keys: Keys, counts: Counts) -> tuple[Keys, Counts]:
    """Cells by ascending keys."""
    if keys.size < WORTH_A_KERNEL:
        order = np.argsort(keys, kind="stable")
        return keys[order], counts[order]
    from sudare.kernels.tables.sorting import sort_cells

    return sort_cells([(keys, counts)], (domain.cells - 1).bit_length())
