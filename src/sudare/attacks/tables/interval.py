"""The interval attack on suppressed tables: between which values every hidden cell must lie.

Anyone who knows the published cells and the sums that hold among all cells can bound each hidden one by two linear programs, and
more sharply where cells are whole numbers. A cell whose bounds meet is published, whatever is printed in its place.

This module knows nothing of how tables are protected, on purpose: it takes plain arrays and sees what an outsider sees.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.attacks.tables.narrowing import Equation, narrow_together
from sudare.attacks.tables.solver import IntegerProgram, Row, SolverFailure
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.border.frames import Rows
from sudare.border.signatures import check_arguments
from sudare.errors import Described, InputError, ParameterError
from sudare.extras import TABLE_ATTACKS, optional_module
from sudare.parameters import shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["CellIntervals", "attack_suppressed_cells"]

MAX_VALUE = 1 << 52
"""Values up to here are whole numbers in floating point, too."""
CLOSE = 1e-6
CLOSE_OF_LARGE = 1e-9
"""How far a linear program's answer may be from the truth: the first, or this share of the largest sum if that is more."""

REMEDY = Words(
    "Hide further cells that share its sums, until the interval is as wide as it must be, or publish with noise instead.",
    "同じ合計に関わる別のセルも秘匿して区間を必要な幅まで広げるか、ノイズを加えて公表してください。",
)
NOT_FINISHED = Words(
    "Among whole numbers the interval may be narrower: that search was not finished.",
    "整数に限れば区間はより狭いかもしれません（その探索は終わっていません）。",
)
TOO_CLOSE = Words(
    "With values this large, floating point cannot tell whether that is enough.",
    "値が大きいため、浮動小数点の精度では十分かどうか判断できません。",
)
LESS_THAN_ONE = 0.25
"""An interval narrower than twice this has room for one whole number."""


@dataclass(frozen=True, eq=False)
class CellIntervals(Rows):
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
        slack: by how much the bounds of each cell may be off in floating point; 0 for whole numbers, and where exact arithmetic
            finds the same bounds.
        is_unproved: where bounds among whole numbers were asked for, and the search for those of a cell was not finished: they
            may be narrower. None if there is no such cell.
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
    is_unproved: NDArray[np.bool_] | None = None

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each hidden cell: what it hides, and what an attacker can tell of it."""
        return {
            "cell": self.names,
            "value": self.values,
            "low": self.lower,
            "high": self.upper,
            "is_revealed": self.is_revealed,
            "is_broken": self.is_broken,
        }

    @property
    def is_revealed(self) -> NDArray[np.bool_]:
        """Which cells have one possible value."""
        return self.upper - self.lower <= 2 * np.minimum(self.slack, LESS_THAN_ONE)

    @property
    def is_broken(self) -> NDArray[np.bool_]:
        """Which cells are revealed, or have an interval narrower than required."""
        too_high = self.lower > self.values - self.required_lower + self.slack
        too_low = self.upper < self.values + self.required_upper - self.slack
        return np.asarray(self.is_revealed | too_high | too_low)

    @property
    def is_doubtful(self) -> NDArray[np.bool_]:
        """Which cells may be broken: within what bounds may be off, or because the search was not finished."""
        allowed = np.minimum(self.slack, CLOSE)
        too_high = self.lower > self.values - self.required_lower + allowed
        too_low = self.upper < self.values + self.required_upper - allowed
        perhaps = too_high | too_low | (self.upper - self.lower <= 2 * self.slack)
        if self.is_unproved is not None:
            perhaps = perhaps | self.is_unproved
        return np.asarray(perhaps & ~self.is_broken)

    def report(self) -> AttackReport:
        """A verdict for each hidden cell."""
        broken, revealed, doubtful = self.is_broken, self.is_revealed, self.is_doubtful
        summary = Words(
            f"{int(broken.sum()):,} of {broken.size:,} hidden cells can be bounded too closely; {int(revealed.sum()):,} exactly.",
            f"秘匿した {broken.size:,} セルのうち {int(broken.sum()):,} セルの区間が狭すぎ、"
            f"そのうち {int(revealed.sum()):,} セルは値が確定します。",
        )
        outcomes = [
            AttackOutcome.BROKEN if is_broken else AttackOutcome.UNDECIDED if is_doubtful else AttackOutcome.HELD
            for is_broken, is_doubtful in zip(broken, doubtful, strict=True)
        ]
        return AttackReport.of(
            "interval",
            summary,
            [self._verdict(place, outcomes[place], is_revealed=bool(revealed[place])) for place in range(broken.size)],
        )

    def _verdict(self, place: int, outcome: AttackOutcome, *, is_revealed: bool) -> Verdict:
        low, high = _shown(self.lower[place]), _shown(self.upper[place])
        if is_revealed:
            sentence = Words(f"The hidden value is {low}: nothing else fits.", f"秘匿した値は {low} に確定します。")
        else:
            sentence = Words(
                f"The hidden value lies between {low} and {high}.", f"秘匿した値は {low} から {high} の間にあります。"
            )
        if outcome is AttackOutcome.UNDECIDED:
            unproved = self.is_unproved is not None and bool(self.is_unproved[place])
            doubt = NOT_FINISHED if unproved else TOO_CLOSE
            sentence = Words(f"{sentence.english} {doubt.english}", sentence.japanese + doubt.japanese)
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
        >>> from sudare.attacks.tables.interval import attack_suppressed_cells
        >>> row = [[1, -1, -1, -1]]
        >>> alone = attack_suppressed_cells([10, 2, 3, 5], [False, True, False, False], row)
        >>> alone.lower.tolist(), alone.upper.tolist()
        ([2.0], [2.0])
        >>> paired = attack_suppressed_cells([10, 2, 3, 5], [False, True, False, True], row)
        >>> paired.lower.tolist(), paired.upper.tolist()
        ([0.0, 0.0], [7.0, 7.0])
    """
    check_arguments(attack_suppressed_cells, locals(), "equations", "at_most", "whole_numbers", "names")
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
    exact, unproved = False, None
    if whole_numbers:
        lower, upper, unproved = table.whole_bounds(lower, upper, slack, seconds)
        exact = not unproved.any()
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
        is_unproved=None if exact else unproved,
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
        sparse = optional_module("scipy.sparse", "solver", TABLE_ATTACKS)
        numbers, mask = np.asarray(values), np.asarray(hidden)
        if numbers.ndim != 1 or not np.issubdtype(numbers.dtype, np.integer):
            raise _wrong("values", "whole numbers in one dimension", numbers)
        numbers = numbers.astype(np.int64)
        if numbers.size and np.abs(numbers).max() > MAX_VALUE:
            raise _wrong("values", "at most 2**52 in size; use a larger unit", numbers)
        if mask.dtype != np.bool_ or mask.shape != numbers.shape:
            raise _wrong("hidden", f"{numbers.size} times True or False, one for each cell", mask)
        try:
            matrix = sparse.csc_array(equations)
        except (TypeError, ValueError):
            requirement = f"a matrix of whole numbers with {numbers.size} columns"
            raise ParameterError("equations", "attack_suppressed_cells", requirement, shown(equations)) from None
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
                close = max(CLOSE, CLOSE_OF_LARGE * largest)
                self._linear_programs(unknowns, rows, (low, high), (lower, upper), close)
                is_sure = (lower[unknowns] == low) & (upper[unknowns] == high)
                slack[unknowns] = np.where(is_sure, 0.0, close)
        return lower, upper, slack

    def _narrow(self, unknowns: NDArray[np.intp], rows: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Bounds by one equation at a time, exactly, until nothing changes or enough was tried."""
        matrix = self.matrix[rows][:, unknowns].tocsr()
        equations: list[Equation] = [
            (
                matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]].tolist(),
                matrix.data[matrix.indptr[row] : matrix.indptr[row + 1]].tolist(),
                int(self.right_side[rows[row]]),
            )
            for row in range(rows.size)
        ]
        given: list[int | None] = [None if math.isinf(value) else int(value) for value in self.most[unknowns]]
        low, high = narrow_together(self.least[unknowns].tolist(), given, equations)
        return np.array(low, dtype=np.float64), np.array(
            [math.inf if end is None else end for end in high], dtype=np.float64
        )

    def _linear_programs(
        self,
        unknowns: NDArray[np.intp],
        rows: NDArray[np.intp],
        outer: tuple[Floats, Floats],
        ends: tuple[Floats, Floats],
        close: float,
    ) -> None:
        """Find the ends of all unknowns within outer bounds, and write them down."""
        matrix, right = self.matrix[rows][:, unknowns], self.right_side[rows]
        (low, high), bounds = outer, np.column_stack(outer)
        # Every solution found bounds all cells from inside; an end that is already reached needs no program of its own.
        inner_low, inner_high = np.full(unknowns.size, np.inf), np.full(unknowns.size, -np.inf)
        for place in np.flatnonzero(low < high):
            for sign in (1, -1):
                reached = inner_low[place] <= low[place] if sign > 0 else inner_high[place] >= high[place]
                if reached:
                    continue
                point = _extreme_point(matrix, right.astype(np.float64), bounds, int(place), sign)
                if point is None:
                    continue  # nothing bounds this end: it stays infinite
                # A solution that is one of whole numbers, by exact arithmetic, is not off by anything.
                whole = np.rint(point)
                if (
                    np.abs(whole - point).max() <= close
                    and ((whole >= low) & (whole <= high)).all()
                    and np.array_equal(matrix @ whole.astype(np.int64), right)
                ):
                    point = whole
                inner_low, inner_high = np.minimum(inner_low, point), np.maximum(inner_high, point)
                if sign > 0:
                    ends[0][unknowns[place]] = max(low[place], point[place])
                else:
                    ends[1][unknowns[place]] = min(high[place], point[place])

    def whole_bounds(
        self, lower: Floats, upper: Floats, slack: Floats, seconds: float
    ) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Bounds among whole numbers, and for which cells they are not proved to be the narrowest."""
        import time

        whole_low = np.ceil(lower - slack) + 0.0  # not minus 0
        whole_high = np.where(np.isinf(upper), np.inf, np.floor(upper + slack))
        deadline, unproved = time.monotonic() + seconds, np.zeros(lower.size, dtype=np.bool_)
        for unknowns, rows in self.parts():
            open_places = np.flatnonzero(whole_low[unknowns] < whole_high[unknowns])
            if not open_places.size:
                continue
            capped = whole_high.copy()
            is_capped = bool(np.isinf(capped[unknowns]).any())
            if is_capped:  # a search needs bounds; whatever is found within them exists without them, too
                capped[np.isinf(capped)] = self._wide_enough(unknowns, rows, whole_low, whole_high)
            program = self._program(unknowns, rows, whole_low, capped)
            try:
                ends = program.ends(open_places.tolist(), seconds=max(0.1, deadline - time.monotonic()))
            except SolverFailure:
                unproved[unknowns[open_places]] = True
                continue
            if ends is None and is_capped:
                unproved[unknowns[open_places]] = True
                continue
            if ends is None:
                raise InputError(
                    "No whole numbers fit the published cells. Check the values and the sums.",
                    "公表されたセルを満たす整数が存在しません。値と合計の関係を確かめてください。",
                )
            for place, (low, high) in zip(unknowns[open_places], ends, strict=True):
                if not is_capped:
                    unproved[place] = not (low.is_attained and high.is_attained)
                    whole_low[place], whole_high[place] = (
                        max(whole_low[place], low.value),
                        min(whole_high[place], high.value),
                    )
                    continue
                # The bounds of real numbers stand; they are proved if whole numbers reach them. An end without a bound has none
                # among whole numbers, either: a direction of whole numbers leads there from every solution.
                reached = [
                    low.is_attained and low.value == whole_low[place],
                    math.isinf(whole_high[place]) or (high.is_attained and high.value == whole_high[place]),
                ]
                unproved[place] = not all(reached)
        return whole_low, whole_high, unproved

    def _wide_enough(self, unknowns: NDArray[np.intp], rows: NDArray[np.intp], low: Floats, high: Floats) -> float:
        """A bound for the search where there is none: well above all numbers that the part is about."""
        ends = np.concatenate([low[unknowns], high[unknowns], self.right_side[rows]])
        return min(float(MAX_VALUE), 1000 + 4 * float(np.abs(ends[np.isfinite(ends)]).max(initial=0)))

    def _program(self, unknowns: NDArray[np.intp], rows: NDArray[np.intp], low: Floats, high: Floats) -> IntegerProgram:
        matrix, equations = self.matrix[rows][:, unknowns].tocsr(), []
        for place, row in enumerate(rows):
            part = slice(matrix.indptr[place], matrix.indptr[place + 1])
            right = int(self.right_side[row])
            places, coefficients = matrix.indices[part].tolist(), matrix.data[part].tolist()
            equations.append(Row(tuple(places), tuple(coefficients), right, right))
        bounds = [tuple(int(value) for value in ends[unknowns]) for ends in (low, high)]
        return IntegerProgram(bounds[0], bounds[1], tuple(equations))


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
