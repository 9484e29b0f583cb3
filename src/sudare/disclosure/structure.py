"""The cells of a table and every sum that must hold among them: one table, or several that share cells.

A reader of published tables knows these sums. Anyone who hides a cell must look at all of them together, so the sums of all
linked tables are one matrix `A` with ``A @ x == 0`` for the true values x: +1 for a total, -1 for each of its parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sudare.border.signatures import check_arguments
from sudare.disclosure.cell_rows import CellRows
from sudare.errors import InputError, ParameterError
from sudare.extras import TABLE_PROTECTION, optional_module
from sudare.parameters import shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from scipy.sparse import csr_array

    Integers = NDArray[np.int64]

__all__ = ["CellName", "CellTable", "CodeTree", "Dimension", "Table", "TableSystem"]

CellName = tuple[tuple[str, str], ...]
"""What a cell is about: pairs of a dimension and a code, sorted, totals left out. The grand total is the empty tuple."""

CodeTree: TypeAlias = "dict[str, CodeTree]"
"""Codes, each with those below it."""

MAX_CELLS = 20_000_000


@dataclass(frozen=True, eq=False)
class Dimension:
    """One spanning variable: a tree of codes. Code 0 is the total; every code stands after its parent.

    Args:
        name: such as ``"region"``.
        codes: all different, in depth-first order, the total first.
        parents: position of each code's parent; -1 for the total.

    Example:
        >>> region = Dimension("region", ("Total", "north", "n1", "n2", "south"), (-1, 0, 1, 1, 0))
        >>> region.children(1)
        (2, 3)
        >>> Dimension.flat("sex", ["f", "m"]).codes
        ('Total', 'f', 'm')
    """

    name: str
    codes: tuple[str, ...]
    parents: tuple[int, ...]

    def __post_init__(self) -> None:
        check_arguments(Dimension, vars(self), "name", "codes", "parents")
        if not self.codes or len(self.codes) != len(self.parents) or self.parents[0] != -1:
            raise ParameterError("parents", "Dimension", "one position for each code, -1 for the first", self.parents)
        if len(set(self.codes)) != len(self.codes):
            twice = next(code for place, code in enumerate(self.codes) if code in self.codes[:place])
            raise InputError(
                f"The code {twice!r} stands twice in the dimension {self.name!r}. Give each code one place.",
                f"次元 {self.name!r} にコード {twice!r} が二度あります。各コードは一か所だけに書いてください。",
            )
        if any(not 0 <= parent < place for place, parent in enumerate(self.parents) if place):
            raise ParameterError("parents", "Dimension", "positions before their children", self.parents)

    @classmethod
    def flat(cls, name: str, codes: Sequence[str] | str, total: str = "Total") -> Dimension:
        """A total and its parts, without levels between them."""
        check_arguments(Dimension.flat, locals(), "codes", "total")
        return cls(name, (total, *codes), (-1, *([0] * len(codes))))

    @classmethod
    def of_tree(cls, name: str, tree: Mapping[str, Any], total: str = "Total") -> Dimension:
        """A dimension from nested mappings; an empty or missing mapping ends a branch.

        Example:
            >>> Dimension.of_tree("region", {"north": {"n1": {}, "n2": {}}, "south": {}}).parents
            (-1, 0, 1, 1, 0)
        """
        check_arguments(Dimension.of_tree, locals(), "tree", "total")
        codes, parents = [total], [-1]

        def descend(branches: Mapping[str, Any], parent: int) -> None:
            if not isinstance(branches, Mapping):
                raise ParameterError("tree", "Dimension.of_tree", "mappings of codes within mappings", shown(branches))
            for code, below in branches.items():
                codes.append(code)
                parents.append(parent)
                descend(below or {}, len(codes) - 1)

        descend(tree, 0)
        return cls(name, tuple(codes), tuple(parents))

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def _children(self) -> tuple[tuple[int, ...], ...]:
        below: list[list[int]] = [[] for _ in self.codes]
        for place, parent in enumerate(self.parents):
            if place:
                below[parent].append(place)
        return tuple(map(tuple, below))

    @cached_property
    def position(self) -> dict[str, int]:
        """Where each code stands."""
        return {code: place for place, code in enumerate(self.codes)}

    def extended(self, codes: Iterable[str]) -> Dimension:
        """The dimension with further codes right below the total; those that it has already are left out."""
        fresh = [code for code in dict.fromkeys(codes) if code not in self.position]
        return Dimension(self.name, (*self.codes, *fresh), (*self.parents, *([0] * len(fresh))))

    def children(self, code: int) -> tuple[int, ...]:
        """Positions of the codes right below one; empty for a leaf."""
        return self._children[code]

    @cached_property
    def inner(self) -> tuple[int, ...]:
        """Positions of all codes that have children."""
        return tuple(place for place, below in enumerate(self._children) if below)

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """Positions of all codes without children."""
        return tuple(place for place, below in enumerate(self._children) if not below)

    def path(self, code: int) -> tuple[int, ...]:
        """A code and everything above it, up to the total."""
        steps = [code]
        while self.parents[steps[-1]] >= 0:
            steps.append(self.parents[steps[-1]])
        return tuple(steps)

    @cached_property
    def depth(self) -> tuple[int, ...]:
        """How far each code is below the total."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(0 if parent < 0 else depths[parent] + 1)
        return tuple(depths)


@dataclass(frozen=True, eq=False)
class Table:
    """One table of a system: its dimensions, and which cell of the system stands at each combination of codes.

    Attributes:
        dimensions: the spanning variables.
        cells: one axis for each dimension, in the order of its codes.
    """

    dimensions: tuple[Dimension, ...]
    cells: Integers

    def __post_init__(self) -> None:
        self.cells.setflags(write=False)


@dataclass(frozen=True, eq=False)
class TableSystem:
    """The cells of one table, or of several linked ones, and every sum that must hold among them.

    Make one with `of_dimensions` or `of_sums`, and link with `linked_with`.

    Attributes:
        names: what each cell is about. Cells of two tables with the same name are the same cell.
        equations: matrix with one row for each sum; +1 for the total, -1 for each part.
        tables: the tables that were put together; empty for a system of plain sums.

    Example:
        >>> sex, area = Dimension.flat("sex", ["f", "m"]), Dimension.flat("area", ["a", "b"])
        >>> system = TableSystem.of_dimensions([sex, area])
        >>> system.size, system.equations.shape
        (9, (6, 9))
        >>> system.label(system.cell(sex="f"))
        'sex=f'
        >>> linked = system.linked_with(TableSystem.of_dimensions([sex, Dimension.flat("age", ["young", "old"])]))
        >>> linked.size  # the three totals by sex are shared
        15
    """

    names: tuple[CellName, ...]
    equations: csr_array
    tables: tuple[Table, ...] = ()

    @classmethod
    def of_dimensions(cls, dimensions: Sequence[Dimension]) -> TableSystem:
        """All combinations of codes, the last dimension running fastest."""
        check_arguments(TableSystem.of_dimensions, locals(), "dimensions")
        dimensions = tuple(dimensions)
        if not dimensions or len({one.name for one in dimensions}) != len(dimensions):
            raise ParameterError("dimensions", "TableSystem.of_dimensions", "dimensions of different names", dimensions)
        shape = tuple(map(len, dimensions))
        size = int(np.prod(shape, dtype=object))
        if size > MAX_CELLS:
            raise InputError(
                f"The table would have {size:,} cells; at most {MAX_CELLS:,} fit. Leave out a variable or a level.",
                f"表のセルが {size:,} 個になります。上限は {MAX_CELLS:,} 個です。変数か階層を減らしてください。",
            )
        cells = np.arange(size, dtype=np.int64).reshape(shape)
        parents, parts = [], []
        for axis, dimension in enumerate(dimensions):
            along = np.moveaxis(cells, axis, 0).reshape(len(dimension), -1)
            for code in dimension.inner:
                below = along[list(dimension.children(code))]
                parents.extend(along[code].tolist())
                parts.extend(below.T.tolist())
        names = tuple(_cell_names(dimensions))
        return cls(names, _sum_matrix(parents, parts, size), (Table(dimensions, cells),))

    @classmethod
    def of_sums(cls, names: Sequence[CellName | str], sums: Iterable[tuple[int, Sequence[int]]]) -> TableSystem:
        """A system of plain sums: pairs of a total and its parts, all positions among the names.

        Example:
            >>> TableSystem.of_sums(["all", "a", "b"], [(0, [1, 2])]).equations.toarray().tolist()
            [[1, -1, -1]]
        """
        cells = tuple((("cell", name),) if isinstance(name, str) else name for name in names)
        if len(set(cells)) != len(cells):
            raise ParameterError("names", "TableSystem.of_sums", "all different", cells)
        listed = [(int(total), [int(part) for part in parts]) for total, parts in sums]
        for total, parts in listed:
            if not parts or not all(0 <= cell < len(cells) for cell in (total, *parts)):
                raise ParameterError("sums", "TableSystem.of_sums", "pairs of a cell and its parts", (total, parts))
        return cls(cells, _sum_matrix([one[0] for one in listed], [one[1] for one in listed], len(cells)))

    def linked_with(self, other: TableSystem, pairs: Iterable[tuple[int, int]] = ()) -> TableSystem:
        """Both systems as one. Cells of the same name become one cell, and so do the pairs.

        The cells of this system keep their numbers; those that only the other one has follow. A sum that both have is
        kept once. Codes of a dimension that both have must mean the same in both.

        Args:
            other: about the same units and the same magnitude.
            pairs: cells that are the same under different names: here, there.
        """
        moved = self.places_of(other, pairs)
        names = list(self.names)
        names.extend(name for cell, name in enumerate(other.names) if moved[cell] >= self.size)
        parents, parts = [], []
        seen: set[tuple[int, ...]] = set()
        for total, below in (*self.sums(), *other.sums(moved)):
            key = (total, *sorted(below))
            if key not in seen and below != [total]:
                seen.add(key)
                parents.append(total)
                parts.append(below)
        tables = self.tables + tuple(Table(one.dimensions, moved[one.cells]) for one in other.tables)
        return TableSystem(tuple(names), _sum_matrix(parents, parts, len(names)), tables)

    def places_of(self, other: TableSystem, pairs: Iterable[tuple[int, int]] = ()) -> Integers:
        """The number that each cell of another system gets when both are linked; from `size` on for cells that are new here."""
        moved = np.array([self.places.get(name, -1) for name in other.names], dtype=np.int64)
        for here, there in pairs:
            if not (0 <= here < self.size and 0 <= there < other.size):
                raise ParameterError("pairs", "TableSystem.linked_with", "cells of both systems", (here, there))
            moved[there] = here
        fresh = np.flatnonzero(moved < 0)
        moved[fresh] = self.size + np.arange(fresh.size)
        return moved

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.names)

    def sums(self, renumbered: Integers | None = None) -> list[tuple[int, list[int]]]:
        """Every sum as a total and its parts."""
        cells = self.equations.indices if renumbered is None else renumbered[self.equations.indices]
        numbers, signs, edges = cells.tolist(), self.equations.data.tolist(), self.equations.indptr.tolist()
        found = []
        for start, end in pairwise(edges):
            row = list(zip(numbers[start:end], signs[start:end], strict=True))
            found.append((next(cell for cell, sign in row if sign > 0), [cell for cell, sign in row if sign < 0]))
        return found

    @cached_property
    def places(self) -> dict[CellName, int]:
        """The cell of each name."""
        return {name: cell for cell, name in enumerate(self.names)}

    def cell(self, **codes: str) -> int:
        """The cell with these codes; dimensions not named are totals."""
        name = tuple(sorted(codes.items()))
        if name not in self.places:
            raise ParameterError("codes", "TableSystem.cell", "codes of a cell, totals left out", codes)
        return self.places[name]

    def label(self, cell: int) -> str:
        """A cell in words, such as ``"area=a, sex=f"``; ``"total"`` for the grand total."""
        return ", ".join(f"{dimension}={code}" for dimension, code in self.names[cell]) or "total"

    @cached_property
    def keys(self) -> Integers:
        """Positions of the codes of every cell, one row for each; for a system of one table."""
        if len(self.tables) != 1:
            raise ParameterError("keys", "TableSystem", "asked of a system of one table", len(self.tables))
        grids = np.indices(self.tables[0].cells.shape, dtype=np.int64)
        return grids.reshape(len(self.tables[0].dimensions), -1).T

    @cached_property
    def is_total(self) -> NDArray[np.bool_]:
        """Which cells are the total of some sum."""
        found = np.zeros(self.size, dtype=np.bool_)
        found[self.equations.indices[self.equations.data > 0]] = True
        return found

    def failing(self, values: ArrayLike) -> Integers:
        """Numbers of the sums that do not hold, computed exactly."""
        numbers = np.asarray(values)
        if numbers.dtype.kind in "iu" and _widest(numbers) < 2**62 // max(1, self._longest):
            gaps = self.equations @ numbers.astype(np.int64)
        else:
            exact = numbers.tolist()
            gaps = np.array([exact[total] != sum(exact[part] for part in parts) for total, parts in self.sums()])
        return np.flatnonzero(gaps)

    @cached_property
    def _longest(self) -> int:
        return int(np.diff(self.equations.indptr).max(initial=0))

    def check(self, values: ArrayLike) -> None:
        """Refuse values that do not add up.

        Raises:
            InputError: with the total that its parts do not make up.
        """
        wrong = self.failing(values)
        if wrong.size:
            row = slice(self.equations.indptr[wrong[0]], self.equations.indptr[wrong[0] + 1])
            cells, signs = self.equations.indices[row], self.equations.data[row]
            total, first, last = (self.label(int(one)) for one in (cells[signs > 0][0], *cells[signs < 0][[0, -1]]))
            raise InputError(
                f"The table does not add up: the cell '{total}' is not the sum of its parts '{first}' to '{last}'. "
                "Mend the values, or the hierarchy if it puts the parts in the wrong place.",
                f"表の合計が合いません。セル「{total}」が内訳「{first}」から「{last}」までの和と異なります。値または階層を直してください。",
            )

    def __repr__(self) -> str:
        return f"TableSystem(cells={self.size}, sums={self.equations.shape[0]}, tables={len(self.tables)})"


@dataclass(frozen=True, eq=False)
class CellTable(CellRows):
    """A magnitude or frequency table, exact: whole numbers in units of ``10 ** -decimals``.

    Contributors are what the rules protect: records, or holdings if the table was made of them.

    Attributes:
        system: the cells and their sums.
        values: of each cell; with sampling weights, the weighted total.
        counts: contributors of each cell, not weighted.
        largest: shape (cells, m), m >= 2: the largest contributions of each cell, descending, not weighted; 0 where there
            are fewer contributors.
        decimals: digits after the point of values and contributions.
        weights: shape (cells, m): sampling weights of the largest contributors, in units of ``10 ** -weight_decimals``;
            None if every contributor stands for itself.
        weight_decimals: digits after the point of the weights.
        weighted_counts: sum of the weights of all contributors of each cell, in the units of the weights.
        owners: shape (cells, m): numbers of the largest contributors, the same number for the same one in every cell; -1
            where there are fewer. None if unknown.
        requests: shape (cells, m): which of the largest contributors asked for protection; None if nobody was asked.
        largest_known: how many of the largest contributions are known in truth; None if all m are. Rules that look at
            more are refused.
        frequencies: whether the values are counts of records; None to say so if they equal the counts of contributors.

    Example:
        >>> system = TableSystem.of_dimensions([Dimension.flat("area", ["a", "b"])])
        >>> table = CellTable(system, np.array([12, 5, 7]), np.array([3, 1, 2]), np.array([[5, 4], [5, 0], [4, 3]]))
        >>> table.empty.tolist()
        [False, False, False]
    """

    system: TableSystem
    values: Integers
    counts: Integers
    largest: Integers
    decimals: int = 0
    weights: Integers | None = None
    weight_decimals: int = 0
    weighted_counts: Integers | None = None
    owners: Integers | None = None
    requests: NDArray[np.bool_] | None = None
    largest_known: int | None = None
    frequencies: bool | None = None

    def __post_init__(self) -> None:
        size = self.system.size
        if self.values.shape != (size,) or self.counts.shape != (size,):
            raise ParameterError("values and counts", "CellTable", "one number for each cell", self.values.shape)
        if self.largest.ndim != 2 or self.largest.shape[0] != size or self.largest.shape[1] < 2:
            raise ParameterError("largest", "CellTable", "two or more numbers for each cell", self.largest.shape)
        for name in ("weights", "owners", "requests"):
            array = getattr(self, name)
            if array is not None and array.shape != self.largest.shape:
                raise ParameterError(name, "CellTable", "of the same shape as largest", array.shape)
        if self.largest_known is not None and not 0 <= self.largest_known <= self.largest.shape[1]:
            raise ParameterError("largest_known", "CellTable", "at most the width of largest", self.largest_known)
        if (self.weights is None) != (self.weighted_counts is None):
            raise ParameterError(
                "weighted_counts", "CellTable", "given if and only if weights are", self.weight_decimals
            )
        for name in ("values", "counts", "largest", "weights", "weighted_counts", "owners", "requests"):
            if (array := getattr(self, name)) is not None:
                array.setflags(write=False)

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Which cells nobody contributes to."""
        found: NDArray[np.bool_] = self.counts == 0
        return found

    @property
    def known_width(self) -> int:
        """How many of the largest contributions of each cell are known."""
        return self.largest.shape[1] if self.largest_known is None else self.largest_known

    @property
    def is_frequency(self) -> bool:
        """Whether the values are counts: whole numbers, 1 or more in every cell that is not empty."""
        if self.decimals or self.weights is not None:
            return False
        if self.frequencies is not None:
            return self.frequencies
        return bool((self.values == self.counts).all())

    @cached_property
    def least(self) -> Integers:
        """What everybody knows to be the least possible value of each cell, because empty cells are published as empty.

        A count that is not empty is 1 or more, and a total is at least what its parts are: the number of innermost cells
        below it that are not empty. Magnitudes are 0 or more.
        """
        found = np.zeros(self.system.size, dtype=np.int64)
        if not self.is_frequency:
            return found
        found[~self.empty] = 1
        equations = self.system.equations
        parts = (-equations).maximum(0)
        rows = np.repeat(np.arange(equations.shape[0]), np.diff(equations.indptr))[equations.data > 0]
        totals = equations.indices[equations.data > 0]
        while True:
            before = found.copy()
            np.maximum.at(found, totals, (parts @ found)[rows])
            if (found == before).all():
                return found

    def check(self) -> None:
        """Refuse a table whose values do not add up; counts need not, as a holding counts once in each cell."""
        self.system.check(self.values)


def _widest(numbers: NDArray[Any]) -> int:
    return max(abs(int(numbers.min())), abs(int(numbers.max()))) if numbers.size else 0


def _cell_names(dimensions: tuple[Dimension, ...]) -> Iterable[CellName]:
    order = sorted(range(len(dimensions)), key=lambda axis: dimensions[axis].name)
    choices: list[list[CellName]] = [
        [((one.name, code),) if place else () for place, code in enumerate(one.codes)] for one in dimensions
    ]
    for parts in product(*choices):
        name: CellName = ()
        for axis in order:
            name += parts[axis]
        yield name


def _sum_matrix(totals: Sequence[int], parts: Sequence[Sequence[int]], size: int) -> csr_array:
    """The matrix of sums; every row has its total first."""
    sparse = optional_module("scipy.sparse", "solver", TABLE_PROTECTION)
    lengths = np.fromiter((len(below) + 1 for below in parts), dtype=np.int64, count=len(parts))
    edges = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.empty(int(edges[-1]), dtype=np.int64)
    signs = np.full(indices.size, -1, dtype=np.int64)
    signs[edges[:-1]] = 1
    place = 0
    for total, below in zip(totals, parts, strict=True):
        indices[place] = total
        indices[place + 1 : place + 1 + len(below)] = below
        place += len(below) + 1
    matrix: csr_array = sparse.csr_array((signs, indices, edges), shape=(len(parts), size))
    return matrix
