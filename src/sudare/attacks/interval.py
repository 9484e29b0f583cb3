"""The interval attack on suppressed tables: between which values every hidden cell must lie.

Whoever knows the published cells and the sums that hold among all cells can bound each hidden one by two linear programs, and
more sharply where cells are whole numbers. A cell whose bounds meet is published, whatever is printed in its place.

This module knows nothing of how tables are protected, on purpose: it takes plain arrays and sees what an outsider sees.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.attacks.solver import IntegerProgram, Row, SolverFailure
from sudare.attacks.verdicts import AttackReport, Outcome, Verdict
from sudare.bilingual import Words
from sudare.errors import Described, InputError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["CellIntervals", "attack_suppressed_cells"]

LARGEST_VALUE = 1 << 52
"""Values up to here are whole numbers in floating point, too."""
CLOSE = 1e-6
CLOSE_OF_LARGE = 1e-9
"""How far a linear program's answer may be from the truth: the first, or this share of the largest sum if that is more."""

REMEDY = Words(
    "Hide further cells that share its sums, until the interval is as wide as it must be, or publish with noise instead.",
    "同じ合計に関わる別のセルも秘匿して区間を必要な幅まで広げるか、雑音を加えて公表してください。",
)


@dataclass(frozen=True, eq=False)
class CellIntervals:
    """Between which values hidden cells lie, for somebody who sees the published ones.

    Attributes:
        cells: the positions of the hidden cells.
        names: of these cells.
        values: what they hide.
        lower: the least value that each can have.
        upper: the largest; infinity if nothing bounds it.
        required_lower: how far below its value the interval of each cell must reach.
        required_upper: how far above.
        is_exact: whether the bounds are those of whole numbers, proved; else they are those of real numbers.
        slack: by how much the bounds of each cell may be off in floating point; 0 for whole numbers.
    """

    cells: NDArray[np.intp]
    names: tuple[str, ...]
    values: Integers
    lower: Floats
    upper: Floats
    required_lower: Integers
    required_upper: Integers
    is_exact: bool
    slack: Floats

    @property
    def is_revealed(self) -> NDArray[np.bool_]:
        """Which cells have one possible value."""
        return self.upper - self.lower <= 2 * self.slack

    @property
    def is_broken(self) -> NDArray[np.bool_]:
        """Which cells are revealed, or have an interval narrower than required."""
        too_high = self.lower > self.values - self.required_lower + self.slack
        too_low = self.upper < self.values + self.required_upper - self.slack
        return np.asarray(self.is_revealed | too_high | too_low)

    def report(self) -> AttackReport:
        """A verdict for each hidden cell."""
        broken, revealed = self.is_broken, self.is_revealed
        summary = Words(
            f"{int(broken.sum()):,} of {broken.size:,} hidden cells can be bounded too closely; {int(revealed.sum()):,} exactly.",
            f"秘匿した {broken.size:,} セルのうち {int(broken.sum()):,} セルの区間が狭すぎ、"
            f"そのうち {int(revealed.sum()):,} セルは値が確定します。",
        )
        return AttackReport.of("interval", summary, [self._verdict(place) for place in range(broken.size)])

    def _verdict(self, place: int) -> Verdict:
        low, high = _shown(self.lower[place]), _shown(self.upper[place])
        if self.is_revealed[place]:
            sentence = Words(f"The hidden value is {low}: nothing else fits.", f"秘匿した値は {low} に確定します。")
        else:
            sentence = Words(
                f"The hidden value lies between {low} and {high}.", f"秘匿した値は {low} から {high} の間にあります。"
            )
        outcome = Outcome.BROKEN if self.is_broken[place] else Outcome.HELD
        width = float(self.upper[place] - self.lower[place])
        return Verdict("interval", self.names[place], outcome, width, sentence, REMEDY)


def _shown(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:,.6g}" if value % 1 else f"{int(value):,}"


def attack_suppressed_cells(
    values: ArrayLike,
    hidden: ArrayLike,
    equations: Any,
    *,
    at_least: ArrayLike | None = None,
    at_most: ArrayLike | None = None,
    required_lower: ArrayLike | None = None,
    required_upper: ArrayLike | None = None,
    whole_numbers: bool = False,
    names: Sequence[str] | None = None,
    seconds: float = 60.0,
) -> CellIntervals:
    """Bound every hidden cell of a table, or of several linked ones, from the published cells.

    Args:
        values: the true value of every cell, as whole numbers (cents rather than euros). Hidden ones are used only to tell
            whether an interval is wide enough, never for the interval.
        hidden: which cells are not published.
        equations: a matrix, dense or sparse, of whole numbers, with a row for each sum that holds: row times values is 0.
        at_least: what everybody knows each cell to be at least; 0 if not given.
        at_most: ... at most; nothing if not given. With bounds around noisy values and every cell hidden, this attacks
            rounded tables and tables with bounded noise.
        required_lower: how far below its value each cell's interval must reach; 0 if not given.
        required_upper: how far above.
        whole_numbers: whether to look for bounds among whole numbers, which can be narrower than those of real numbers. Takes
            longer and needs OR-tools.
        names: of all cells.
        seconds: for whole numbers, how long to search; where time runs out, the bounds of real numbers stand.

    Raises:
        InputError: if the sums do not hold among the values, or the bounds exclude them.
        ParameterError: if the arrays do not fit together.

    Example:
        >>> from sudare.attacks.interval import attack_suppressed_cells
        >>> row = [[1, -1, -1, -1]]
        >>> alone = attack_suppressed_cells([10, 2, 3, 5], [False, True, False, False], row)
        >>> alone.lower.tolist(), alone.upper.tolist()
        ([2.0], [2.0])
        >>> paired = attack_suppressed_cells([10, 2, 3, 5], [False, True, False, True], row)
        >>> paired.lower.tolist(), paired.upper.tolist()
        ([0.0, 0.0], [7.0, 7.0])
    """
    table = _Table.read(values, hidden, equations, at_least, at_most)
    size = table.values.size
    labels = tuple(names) if names is not None else tuple(f"cell {place}" for place in range(size))
    if len(labels) != size:
        raise _wrong("names", f"{size} names, one for each cell", labels)
    needed = [
        _whole(array, size, parameter, 0)[table.cells]
        for array, parameter in ((required_lower, "required_lower"), (required_upper, "required_upper"))
    ]
    lower, upper, slack = table.real_bounds()
    exact = False
    if whole_numbers:
        lower, upper, exact = table.whole_bounds(lower, upper, slack, seconds)
    return CellIntervals(
        table.cells,
        tuple(labels[cell] for cell in table.cells),
        table.values[table.cells],
        lower,
        upper,
        needed[0],
        needed[1],
        is_exact=exact,
        slack=np.zeros_like(slack) if whole_numbers else slack,
    )


@dataclass(frozen=True, eq=False)
class _Table:
    """The hidden cells as unknowns: matrix times unknowns is right_side, each unknown between two bounds."""

    values: Integers
    cells: NDArray[np.intp]
    matrix: Any
    right_side: Integers
    least: Integers
    most: Floats

    @classmethod
    def read(cls, values: ArrayLike, hidden: ArrayLike, equations: Any, at_least: Any, at_most: Any) -> _Table:
        from scipy.sparse import csc_array

        numbers, mask = np.asarray(values), np.asarray(hidden)
        if numbers.ndim != 1 or not np.issubdtype(numbers.dtype, np.integer):
            raise _wrong("values", "whole numbers in one dimension", numbers)
        numbers = numbers.astype(np.int64)
        if numbers.size and np.abs(numbers).max() > LARGEST_VALUE:
            raise _wrong("values", "at most 2**52 in size; use a larger unit", numbers)
        if mask.dtype != np.bool_ or mask.shape != numbers.shape:
            raise _wrong("hidden", f"{numbers.size} times True or False, one for each cell", mask)
        matrix = csc_array(equations)
        if matrix.shape[1] != numbers.size or not np.array_equal(matrix.data, np.rint(matrix.data)):
            raise _wrong("equations", f"a matrix of whole numbers with {numbers.size} columns", matrix)
        matrix = matrix.astype(np.int64)
        if (matrix @ numbers).any():
            raise InputError(
                "The table does not add up: a sum that should hold among its cells does not. Correct the values or the sums.",
                "表の合計が合いません。セルの値または合計の関係を直してください。",
            )
        least = _whole(at_least, numbers.size, "at_least", 0)
        most = np.full(numbers.size, np.inf) if at_most is None else np.asarray(at_most, dtype=np.float64)
        if most.shape != numbers.shape or np.isnan(most).any() or (most[np.isfinite(most)] % 1).any():
            raise _wrong("at_most", f"{numbers.size} whole numbers or infinity, one for each cell", most)
        if ((numbers < least) | (numbers > most))[mask].any():
            raise InputError(
                "A hidden cell lies outside the bounds that everybody is said to know. Correct 'at_least' and 'at_most'.",
                "秘匿したセルの値が、既知とされた範囲の外にあります。'at_least' と 'at_most' を直してください。",
            )
        cells = np.flatnonzero(mask)
        right = -(matrix[:, np.flatnonzero(~mask)] @ numbers[~mask])
        return cls(numbers, cells, matrix[:, cells].tocsr(), right, least[cells], most[cells])

    def parts(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Unknowns that equations connect, with these equations."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        rows, columns = self.matrix.shape
        entries = coo_array(self.matrix)
        graph = coo_array((np.ones(entries.nnz), (entries.row, rows + entries.col)), shape=(rows + columns,) * 2)
        _, labels = connected_components(graph, directed=False)
        order = np.argsort(labels[rows:], kind="stable")
        starts = np.flatnonzero(np.diff(labels[rows:][order], prepend=-1))
        row_order = np.argsort(labels[:rows], kind="stable")
        sorted_rows = labels[:rows][row_order]
        found = []
        for unknowns in np.split(order, starts[1:]) if columns else []:
            low, high = np.searchsorted(sorted_rows, labels[rows + unknowns[0]] + np.array([0, 1]))
            found.append((np.sort(unknowns), np.sort(row_order[low:high])))
        return found

    def real_bounds(self) -> tuple[Floats, Floats, Floats]:
        """Bounds among real numbers, and by how much each may be off."""
        lower, upper = self.least.astype(np.float64), self.most.copy()
        slack = np.zeros(self.cells.size)
        for unknowns, rows in self.parts():
            low, high = self._narrow(unknowns, rows)
            lower[unknowns], upper[unknowns] = low, high
            if (low < high).any():
                largest = float(np.abs(self.right_side[rows]).max(initial=0))
                slack[unknowns] = np.where(low < high, max(CLOSE, CLOSE_OF_LARGE * largest), 0.0)
                self._linear_programs(unknowns, rows, low, high, lower, upper)
        return lower, upper, slack

    def _narrow(self, unknowns: NDArray[np.intp], rows: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Bounds by one equation at a time, exactly, until nothing changes or enough was tried."""
        lookup = {int(unknown): place for place, unknown in enumerate(unknowns)}
        low: list[int] = [int(value) for value in self.least[unknowns]]
        high: list[int | None] = [None if math.isinf(value) else int(value) for value in self.most[unknowns]]
        matrix = self.matrix
        equations = [
            (
                [lookup[int(column)] for column in matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]],
                [int(value) for value in matrix.data[matrix.indptr[row] : matrix.indptr[row + 1]]],
                int(self.right_side[row]),
            )
            for row in rows
        ]
        for _ in range(8):
            changed = False
            for places, coefficients, right in equations:
                changed |= _narrow_by(places, coefficients, right, low, high)
            if not changed:
                break
        return np.array(low, dtype=np.float64), np.array(
            [math.inf if end is None else end for end in high], dtype=np.float64
        )

    def _linear_programs(
        self,
        unknowns: NDArray[np.intp],
        rows: NDArray[np.intp],
        low: Floats,
        high: Floats,
        lower: Floats,
        upper: Floats,
    ) -> None:
        matrix, right = self.matrix[rows][:, unknowns], self.right_side[rows].astype(np.float64)
        bounds = np.column_stack([low, high])
        # Every solution found bounds all cells from inside; an end that is already reached needs no program of its own.
        inner_low, inner_high = np.full(unknowns.size, np.inf), np.full(unknowns.size, -np.inf)
        for place in np.flatnonzero(low < high):
            for sign in (1, -1):
                reached = inner_low[place] <= low[place] if sign > 0 else inner_high[place] >= high[place]
                if reached:
                    continue
                point = _extreme_point(matrix, right, bounds, int(place), sign)
                if point is None:
                    continue  # nothing bounds this end: it stays infinite
                inner_low, inner_high = np.minimum(inner_low, point), np.maximum(inner_high, point)
                if sign > 0:
                    lower[unknowns[place]] = max(low[place], point[place])
                else:
                    upper[unknowns[place]] = min(high[place], point[place])

    def whole_bounds(self, lower: Floats, upper: Floats, slack: Floats, seconds: float) -> tuple[Floats, Floats, bool]:
        """Bounds among whole numbers, and whether all of them are proved."""
        import time

        whole_low = np.ceil(lower - slack)
        whole_high = np.where(np.isinf(upper), np.inf, np.floor(upper + slack))
        deadline, proved = time.monotonic() + seconds, True
        for unknowns, rows in self.parts():
            open_places = np.flatnonzero(whole_low[unknowns] < whole_high[unknowns])
            if not open_places.size:
                continue
            if np.isinf(whole_high[unknowns]).any():
                proved = False  # nothing bounds the search
                continue
            program = self._program(unknowns, rows, whole_low, whole_high)
            try:
                ends = program.ends(open_places.tolist(), seconds=max(0.1, deadline - time.monotonic()))
            except SolverFailure:
                proved = False
                continue
            if ends is None:
                raise InputError(
                    "No whole numbers fit the published cells. Check the values and the sums.",
                    "公表されたセルを満たす整数が存在しません。値と合計の関係を確かめてください。",
                )
            for place, (low, high) in zip(open_places, ends, strict=True):
                proved &= low.is_attained and high.is_attained
                whole_low[unknowns[place]] = max(whole_low[unknowns[place]], low.value)
                whole_high[unknowns[place]] = min(whole_high[unknowns[place]], high.value)
        return whole_low, whole_high, proved

    def _program(self, unknowns: NDArray[np.intp], rows: NDArray[np.intp], low: Floats, high: Floats) -> IntegerProgram:
        matrix, equations = self.matrix[rows][:, unknowns].tocsr(), []
        for place, row in enumerate(rows):
            part = slice(matrix.indptr[place], matrix.indptr[place + 1])
            right = int(self.right_side[row])
            places, coefficients = matrix.indices[part].tolist(), matrix.data[part].tolist()
            equations.append(Row(tuple(places), tuple(coefficients), right, right))
        bounds = [tuple(int(value) for value in ends[unknowns]) for ends in (low, high)]
        return IntegerProgram(bounds[0], bounds[1], tuple(equations))


def _narrow_by(places: list[int], coefficients: list[int], right: int, low: list[int], high: list[int | None]) -> bool:
    """Narrow each cell of one equation by the bounds of the others; whether anything changed."""
    smallest: list[int | None] = []
    largest: list[int | None] = []
    for place, coefficient in zip(places, coefficients, strict=True):
        ends = (coefficient * low[place], None if high[place] is None else coefficient * (high[place] or 0))
        smallest.append(ends[0] if coefficient > 0 else ends[1])
        largest.append(ends[1] if coefficient > 0 else ends[0])
    sum_low, sum_high = _Sum.of(smallest), _Sum.of(largest)
    changed = False
    for at, (place, coefficient) in enumerate(zip(places, coefficients, strict=True)):
        others_low = sum_low.without(smallest[at])
        others_high = sum_high.without(largest[at])
        limits = (
            None if others_high is None else Fraction(right - others_high, coefficient),
            None if others_low is None else Fraction(right - others_low, coefficient),
        )
        new_low, new_high = limits if coefficient > 0 else (limits[1], limits[0])
        # Real bounds may be fractions. Rounded outwards they stay true for real numbers, too.
        if new_low is not None and math.floor(new_low) > low[place]:
            low[place], changed = math.floor(new_low), True
        end = high[place]
        if new_high is not None and (end is None or math.ceil(new_high) < end):
            high[place], changed = math.ceil(new_high), True
    return changed


def _extreme_point(matrix: Any, right: Floats, bounds: Floats, place: int, sign: int) -> Floats | None:
    """A point at which one cell is least (sign 1) or largest (-1); None if it is unbounded there."""
    from scipy.optimize import linprog

    objective = np.zeros(len(bounds))
    objective[place] = sign
    for presolve in (True, False):  # presolve may end with "infeasible or unbounded", which is no answer
        answer = linprog(
            objective, A_eq=matrix, b_eq=right, bounds=bounds, method="highs-ds", options={"presolve": presolve}
        )
        if answer.status == 0:
            return np.asarray(answer.x, dtype=np.float64)
        if answer.status == 3:
            return None
    raise SolverFailure("The linear program of a hidden cell could not be solved.")


@dataclass(frozen=True)
class _Sum:
    """The sum of ends of which some are infinite (None)."""

    finite: int
    infinite: int

    @classmethod
    def of(cls, ends: list[int | None]) -> _Sum:
        return cls(sum(end for end in ends if end is not None), ends.count(None))

    def without(self, end: int | None) -> int | None:
        """The sum of all but one of them."""
        if end is None:
            return self.finite if self.infinite == 1 else None
        return self.finite - end if self.infinite == 0 else None


def _whole(array: ArrayLike | None, size: int, parameter: str, default: int) -> Integers:
    if array is None:
        return np.full(size, default, dtype=np.int64)
    numbers = np.asarray(array)
    if numbers.shape != (size,) or not np.issubdtype(numbers.dtype, np.integer):
        raise _wrong(parameter, f"{size} whole numbers, one for each cell", numbers)
    return numbers.astype(np.int64)


def _wrong(parameter: str, requirement: str, got: Any) -> ParameterError:
    described = f"shape {got.shape}, {got.dtype}" if hasattr(got, "shape") else f"{len(got)}"
    return ParameterError(parameter, "attack_suppressed_cells", requirement, Described(described))
