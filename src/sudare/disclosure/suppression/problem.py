"""What must be uncertain to whom: the cells to hide, how far an attacker's intervals must reach, what they know already.

An attacker sees every cell that is not hidden and knows every sum. They also know a smallest and a largest value of each
cell from elsewhere. What remains possible to them are the tables ``values + d`` with

    A d = 0,   d = 0 on the cells that they see,   smallest <= values + d <= largest.

A requirement holds if among them is one where the sum of its cells is `lower` below the truth, or less, and one where it
is `upper` above, or more. An insider knows some hidden cells too, because they are their only contributor. Of counts everybody
knows that they are whole numbers, and that hidden ones are not 0, since empty cells are published.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.disclosure.status import CellJudgement, CellStatus, PrimaryCells
from sudare.errors import InputError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csc_array

    from sudare.disclosure.structure import CellTable, TableSystem

    Integers = NDArray[np.int64]
    Booleans = NDArray[np.bool_]

__all__ = ["MAX_VALUE", "UNKNOWN", "Requirement", "SuppressionProblem"]

MAX_VALUE = 2**46
"""Values beyond would not be exact enough in the solver, whose answers are only proposals; whole numbers of 14 digits."""

UNKNOWN = 2**60
"""The largest value of a cell of which nobody knows a bound; minus this for the smallest."""


@dataclass(frozen=True)
class Requirement:
    """How uncertain the sum of some cells must remain.

    Args:
        cells: one cell, or several of which only the sum matters.
        lower: how far below the truth the attacker's interval must reach.
        upper: how far above.
    """

    cells: tuple[int, ...]
    lower: int
    upper: int


@dataclass(frozen=True, eq=False)
class SuppressionProblem:
    """A table, what must be hidden in it, and what attackers know. Make one with `of_table`.

    Attributes:
        system: the cells and their sums.
        values: exact, in the table's units.
        costs: of hiding each cell, from 0 on.
        primary: cells that must be hidden.
        shown: cells that must be published.
        smallest: what everybody knows to be the least possible value of each cell.
        largest: likewise the largest; `UNKNOWN` if nothing is known.
        requirements: what must remain uncertain.
        insiders: for each contributor who is alone in some cells, those cells.
        insider_share: percent of the protection levels that must hold against insiders; at least one unit always.
        insider_rest: for an insider and a cell that they contribute to among others, what the others contribute. They can
            look for no more than that, so no more is asked for against them.
        whole_numbers: whether everybody knows that the values are whole numbers of units, so that only tables of whole
            numbers count as possible.
        forced: cells that are hidden to protect others whatever the search finds; None for none.
        judgements: tables over the same cells, each with its rules: no sum of hidden cells that is published may be
            unsafe by them; see `hidden_sums`.

    Example:
        >>> from sudare.disclosure.structure import Dimension, TableSystem
        >>> system = TableSystem.of_dimensions([Dimension.flat("area", ["a", "b", "c"])])
        >>> problem = SuppressionProblem.of_levels(system, [16, 1, 5, 10], {1: (1, 1)})
        >>> problem.primary.tolist(), problem.requirements
        ([False, True, False, False], (Requirement(cells=(1,), lower=1, upper=1),))
    """

    system: TableSystem
    values: Integers
    costs: Integers
    primary: Booleans
    shown: Booleans
    smallest: Integers
    largest: Integers
    requirements: tuple[Requirement, ...]
    insiders: tuple[tuple[int, ...], ...] = field(default=())
    insider_share: int = 100
    insider_rest: Mapping[tuple[int, int], int] = field(default_factory=dict)
    whole_numbers: bool = False
    forced: Booleans | None = None
    judgements: tuple[CellJudgement, ...] = ()

    def __post_init__(self) -> None:
        for name in ("values", "costs", "primary", "shown", "smallest", "largest"):
            array = getattr(self, name)
            if array.shape != (self.system.size,):
                raise ParameterError(name, "SuppressionProblem", "one entry for each cell", array.shape)
            array.setflags(write=False)
        if self.forced is not None and self.forced.shape != (self.system.size,):
            raise ParameterError("forced", "SuppressionProblem", "one entry for each cell", self.forced.shape)
        if (self.costs < 0).any():
            raise ParameterError("costs", "SuppressionProblem", Words("0 or more", "0 以上"), "a cost below 0")
        if not 0 < self.insider_share <= 100:
            raise ParameterError(
                "insider_share", "SuppressionProblem", Words("from 1 to 100", "1 以上 100 以下"), self.insider_share
            )
        if np.abs(self.values).max(initial=0) > MAX_VALUE or self.costs.max(initial=0) > MAX_VALUE:
            raise InputError(
                f"A value or a cost of the table is above {MAX_VALUE:,} units. Write the values in a larger unit.",
                f"表の値または費用が {MAX_VALUE:,} 単位を超えています。より大きな単位で表してください。",
            )
        for cell in np.flatnonzero((self.values < self.smallest) | (self.values > self.largest))[:1]:
            name = self.system.label(int(cell))
            raise InputError(
                f"The value of the cell '{name}' is outside of what everybody is said to know about it. If magnitudes can "
                "be negative, give a smallest value below them.",
                f"セル「{name}」の値が、既知とされる範囲の外にあります。負の値がありうる場合は、下限をそれより小さくしてください。",
            )
        for cell in np.flatnonzero(self.must_hide & self.shown)[:1]:
            name = self.system.label(int(cell))
            raise InputError(
                f"The cell '{name}' must be hidden, and must be published all the same. Decide for one of the two.",
                f"セル「{name}」は秘匿対象ですが、公表必須とも指定されています。どちらか一方にしてください。",
            )
        for requirement in self.requirements:
            if not requirement.cells or min(requirement.lower, requirement.upper) < 0:
                raise ParameterError(
                    "requirements", "SuppressionProblem", "of some cells, levels from 0 on", requirement
                )
        self.system.check(self.values)

    @classmethod
    def of_levels(
        cls,
        system: TableSystem,
        values: Sequence[int],
        levels: dict[int, tuple[int, int]],
        *,
        costs: Sequence[int] | None = None,
        shown: Sequence[int] = (),
        insiders: tuple[tuple[int, ...], ...] = (),
        whole_numbers: bool = True,
    ) -> SuppressionProblem:
        """A problem from protection levels by cell; nothing is known of a cell but that it is whole and not negative.

        Args:
            system: the cells and their sums.
            values: of each cell.
            levels: for each cell to hide, how far the interval must reach below and above.
            costs: of hiding each cell; its value if left out.
            shown: cells that must be published.
            insiders: for each contributor who is alone in some cells, those cells.
            whole_numbers: whether everybody knows that the values are whole.
        """
        numbers = np.array(values, dtype=np.int64)
        primary, fixed = np.zeros(system.size, dtype=np.bool_), np.zeros(system.size, dtype=np.bool_)
        primary[list(levels)] = True
        fixed[list(shown)] = True
        return cls(
            system,
            numbers,
            np.abs(numbers) if costs is None else np.array(costs, dtype=np.int64),
            primary,
            fixed,
            np.zeros(system.size, dtype=np.int64),
            np.full(system.size, UNKNOWN, dtype=np.int64),
            tuple(Requirement((cell,), *levels[cell]) for cell in sorted(levels)),
            insiders,
            whole_numbers=whole_numbers,
        )

    @classmethod
    def of_table(
        cls,
        table: CellTable,
        primaries: PrimaryCells,
        *,
        costs: Integers | None = None,
        smallest: Integers | None = None,
        largest: Integers | None = None,
        insiders: tuple[tuple[int, ...], ...] = (),
        unions: tuple[Requirement, ...] = (),
        insider_share: int = 100,
        insider_rest: Mapping[tuple[int, int], int] | None = None,
        whole_numbers: bool | None = None,
        judgements: tuple[CellJudgement, ...] | None = None,
    ) -> SuppressionProblem:
        """The problem of a table whose unsafe cells are known. Empty cells are published: everybody knows they are empty.

        Cells that someone decided to hide beforehand (status 11 and 12) are hidden.

        A sliding level (the width of the interval) is asked for above the truth, beyond what the other two ask for: a
        little more than needed.

        Args:
            table: exact values.
            primaries: unsafe cells and their protection levels.
            costs: of hiding each cell; its value if left out.
            smallest: what everybody knows to be the least value of each cell; `CellTable.least` if left out.
            largest: likewise the largest; unknown if left out.
            insiders: from `singletons.lone_contributors`.
            unions: sums of cells that must remain uncertain, from `singletons.joint_cells`.
            insider_share: percent of the protection levels that must hold against insiders.
            insider_rest: from `singletons.lone_contributors`.
            whole_numbers: whether everybody knows that the values are whole; if left out, whether they are counts.
            judgements: tables and rules by which sums of hidden cells are judged; those of the primaries if left out.

        Raises:
            InputError: an unsafe cell asks for no protection at all, or a cell must be both hidden and published.
        """
        size = table.system.size
        unsafe = primaries.unsafe
        for cell in np.flatnonzero(unsafe & (primaries.upper == 0) & (primaries.lower + primaries.sliding == 0))[:1]:
            name = table.system.label(int(cell))
            raise InputError(
                f"The cell '{name}' is unsafe, but both of its protection levels are 0, so that it could be worked out. Give "
                "it a level of one unit or more.",
                f"セル「{name}」は秘匿対象ですが、保護水準が上下とも 0 で、推定されてしまいます。"
                "1 単位以上の水準にしてください。",
            )
        if smallest is None:
            smallest = table.least
        asked = [
            Requirement((cell,), low, max(high, slide - low))
            for cell, low, high, slide in zip(
                np.flatnonzero(unsafe).tolist(),
                primaries.lower[unsafe].tolist(),
                primaries.upper[unsafe].tolist(),
                primaries.sliding[unsafe].tolist(),
                strict=True,
            )
        ]
        return cls(
            table.system,
            np.array(table.values, dtype=np.int64),
            np.abs(table.values) if costs is None else np.array(costs, dtype=np.int64),
            unsafe.copy(),
            (primaries.status == CellStatus.EMPTY) | primaries.must_publish,
            np.array(smallest, dtype=np.int64),
            np.full(size, UNKNOWN, dtype=np.int64) if largest is None else np.array(largest, dtype=np.int64),
            (*asked, *unions),
            insiders,
            insider_share,
            insider_rest or {},
            table.is_frequency if whole_numbers is None else whole_numbers,
            primaries.hidden_by_hand,
            primaries.judgements if judgements is None else judgements,
        )

    def requiring(self, more: tuple[Requirement, ...]) -> SuppressionProblem:
        """The same problem with more that must remain uncertain.

        Args:
            more: put after the requirements so far, whose numbers stay.
        """
        return replace(self, requirements=(*self.requirements, *more))

    @cached_property
    def must_hide(self) -> Booleans:
        """Cells that are hidden in every pattern: the unsafe ones, and those that someone decided to hide."""
        chosen: Booleans = self.primary if self.forced is None else self.primary | self.forced
        return chosen

    @cached_property
    def down(self) -> Integers:
        """How far each cell can be below its value."""
        room: Integers = self.values - self.smallest
        room.setflags(write=False)
        return room

    @cached_property
    def up(self) -> Integers:
        """How far each cell can be above its value."""
        room: Integers = self.largest - self.values
        room.setflags(write=False)
        return room

    @cached_property
    def insiders_of(self) -> dict[int, tuple[int, ...]]:
        """Numbers of the insiders who know a cell, for every cell that some insider knows."""
        found: dict[int, list[int]] = {}
        for number, known in enumerate(self.insiders):
            for cell in known:
                found.setdefault(cell, []).append(number)
        return {cell: tuple(numbers) for cell, numbers in found.items()}

    def against(self, requirement: Requirement, insider: int | None) -> Requirement | None:
        """What a requirement asks for against an insider; None if they know one of its cells, so that it is not theirs to find.

        Args:
            requirement: one of the problem's.
            insider: number of the insider; None for an outsider.
        """
        if insider is None:
            return requirement
        if not set(self.insiders[insider]).isdisjoint(requirement.cells):
            return None
        share = self.insider_share
        rest = min(self.insider_rest.get((insider, cell), UNKNOWN) for cell in requirement.cells)
        lower, upper = (min(-(-level * share // 100), rest) for level in (requirement.lower, requirement.upper))
        return Requirement(requirement.cells, lower, upper)

    @cached_property
    def columns(self) -> csc_array:
        """The matrix of sums, stored by cell."""
        columns = self.system.equations.tocsc()
        columns.sort_indices()
        return columns

    @cached_property
    def _by_cell(self) -> tuple[list[int], list[int], list[int]]:
        columns = self.columns
        return columns.indptr.tolist(), columns.indices.tolist(), columns.data.tolist()

    def sums_of(self, cell: int) -> Iterator[tuple[int, int]]:
        """The sums that a cell is in, each with its sign there: 1 for the total, -1 for a part."""
        edges, rows, signs = self._by_cell
        return zip(rows[edges[cell] : edges[cell + 1]], signs[edges[cell] : edges[cell + 1]], strict=True)

    def cost(self, hidden: Booleans) -> int:
        """What hiding cells costs beyond those that must be hidden."""
        return sum(self.costs[hidden & ~self.must_hide].tolist())
