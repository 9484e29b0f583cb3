"""Proposals from a linear program: cheap or extreme tables that remain possible, in floating point.

The solver (HiGHS, one thread, fixed seed) only proposes. What it says is taken over after `exact_witness` has turned it into
exact numbers that are checked without it.
"""

from __future__ import annotations

import time
from fractions import Fraction
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.disclosure.suppression.certificate import Witness
from sudare.disclosure.suppression.problem import UNKNOWN, SuppressionProblem
from sudare.extras import TABLE_PROTECTION, optional_module

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["MAX_NODES", "DeviationProgram", "SolverDeadline", "as_room", "exact_witness", "new_solver", "pass_program"]

MAX_NODES = 100
"""Of the solver's tree for whole numbers. A limit of work, not of time: the same on every run."""

NEAR_ENOUGH = 0.05
"""How much dearer than the cheapest one an answer of whole numbers may be."""

TARGET = -1
"""The row of the target's sum among the rows of sums."""

NEAR = 1e-4
"""Numbers of a vertex that are this near to a bound are on it: vertices of sums have small denominators."""


class SolverDeadline:
    """A time limit; None for none. Nothing but whether it has passed depends on the clock."""

    def __init__(self, seconds: float | None) -> None:
        self.end = None if seconds is None else time.monotonic() + seconds

    def has_passed(self) -> bool:
        """Whether the time is over."""
        return self.end is not None and time.monotonic() >= self.end

    def left(self) -> float:
        """Seconds that remain; infinite without a limit."""
        return float("inf") if self.end is None else max(0.0, self.end - time.monotonic())


def new_solver() -> Any:
    """A silent HiGHS that answers the same on every run.

    Raises:
        MissingPackageError: highspy is not installed.
    """
    solver = optional_module("highspy", "solver", TABLE_PROTECTION).Highs()
    # What presolve prints, which are numbers of the table, is printed even if the solver is told to be silent.
    options = ("output_flag", False), ("threads", 1), ("parallel", "off"), ("random_seed", 0), ("presolve", "off")
    for option, value in options:
        solver.setOptionValue(option, value)
    return solver


def pass_program(
    solver: Any, matrix: Any, prices: Floats, bounds: tuple[Floats, Floats], rows: tuple[Floats, Floats]
) -> None:
    """Give a solver the program: minimise prices times x, with bounds on x and on the rows of ``matrix @ x``."""
    import highspy
    from scipy.sparse import csc_array

    columns = csc_array(matrix)
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = columns.shape
    program.col_cost_ = prices
    program.col_lower_, program.col_upper_ = bounds
    program.row_lower_, program.row_upper_ = rows
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = columns.indptr.astype(np.int32)
    program.a_matrix_.index_ = columns.indices.astype(np.int32)
    program.a_matrix_.value_ = columns.data.astype(np.float64)
    solver.passModel(program)


class DeviationProgram:
    """Differences from the true table that remain possible when some cells may change.

    Every cell has two columns, what it gains and what it loses, so that changing it can have a price.

    Args:
        problem: the table.
        cells: that may change, ascending.
    """

    def __init__(self, problem: SuppressionProblem, cells: Integers) -> None:
        from scipy.sparse import csc_array, hstack

        self.problem = problem
        self.cells = cells
        self.place = {cell: place for place, cell in enumerate(cells.tolist())}
        self.gains = as_room(problem.up[cells])
        self.losses = as_room(problem.down[cells])
        chosen = _columns_of(problem, cells)
        size = cells.size
        self._numbers = np.arange(2 * size, dtype=np.int32)
        self._solver = new_solver()
        rows = np.zeros(chosen.shape[0])
        upper = np.concatenate([self.gains, self.losses])
        pass_program(
            self._solver,
            hstack([chosen, csc_array(-chosen)]),
            np.zeros(2 * size),
            (np.zeros(2 * size), upper),
            (rows, rows.copy()),
        )

    def cheapest(
        self,
        prices: Floats,
        target: tuple[int, ...],
        level: int,
        *,
        mirrored: bool = False,
        closed: NDArray[np.bool_] | None = None,
        whole: bool = False,
    ) -> Floats | None:
        """The cheapest differences that raise the sum of the target cells by a level; None if there are none.

        Args:
            prices: of one unit of change in each cell.
            target: cells whose sum must rise; it falls if the level is negative.
            level: by how much.
            mirrored: whether the opposite differences must be possible too.
            closed: which of the cells may not change.
            whole: whether every difference must be a whole number. Then the target may move further than the level, and the
                answer need not be the cheapest: the work is limited.
        """
        import highspy

        size = self.cells.size
        gains, losses = self.gains.copy(), self.losses.copy()
        if mirrored:
            gains = losses = np.minimum(gains, losses)
            losses = losses.copy()
        if closed is not None:
            gains[closed] = losses[closed] = 0.0
        places = [self.place[cell] for cell in target]
        bottoms = np.zeros(2 * size)
        if len(places) == 1:
            way, other = (gains, losses) if level > 0 else (losses, gains)
            if way[places[0]] < abs(level):
                return None
            if not whole:
                way[places[0]] = abs(level)
            other[places[0]] = 0.0
            bottoms[places[0] + (0 if level > 0 else size)] = abs(level)
        self._solver.changeColsCost(2 * size, self._numbers, np.concatenate([prices, prices]))
        self._solver.changeColsBounds(2 * size, self._numbers, bottoms, np.concatenate([gains, losses]))
        extra = len(places) > 1
        if extra:
            columns = np.array([*places, *(place + size for place in places)], dtype=np.int32)
            signs = np.array([1.0] * len(places) + [-1.0] * len(places))
            low, high = (level, np.inf) if level > 0 else (-np.inf, level)
            ends = (low, high) if whole else (level, level)
            self._solver.addRow(float(ends[0]), float(ends[1]), columns.size, columns, signs)
        if whole:
            self._whole_numbers(highspy.HighsVarType.kInteger)
        self._solver.run()
        found: Floats | None = None
        solved = self._solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        some = highspy.SolutionStatus.kSolutionStatusFeasible
        if solved or (whole and self._solver.getInfo().primal_solution_status == some):
            both = np.array(self._solver.getSolution().col_value)
            found = both[:size] - both[size:]
        if whole:
            self._whole_numbers(highspy.HighsVarType.kContinuous)
        if extra:
            last = self._solver.getNumRow() - 1
            self._solver.deleteRows(1, np.array([last], dtype=np.int32))
        return found

    def _whole_numbers(self, kind: Any) -> None:
        columns = self._numbers.size
        self._solver.changeColsIntegrality(columns, self._numbers, np.array([kind] * columns))
        options = ("mip_max_nodes", MAX_NODES), ("mip_rel_gap", NEAR_ENOUGH), ("mip_heuristic_effort", 0.0)
        for option, value in options:
            self._solver.setOptionValue(option, value)


def exact_witness(
    problem: SuppressionProblem,
    cells: Integers,
    proposal: Floats,
    target: tuple[int, ...] = (),
    level: int = 0,
) -> Witness | None:
    """An exact table near a proposal of the solver: rounded if that is possible, else the vertex itself in fractions.

    Numbers of the proposal on a bound or at zero are rounded; the others follow from the sums, and from the level of the
    target. At a vertex they are determined by them.

    Args:
        problem: the table.
        cells: of the proposal.
        proposal: differences from the true table.
        target: cells whose sum differs by the level exactly.
        level: of the target.

    Returns:
        a witness whose sums and bounds hold exactly, of whole numbers if the problem's are; None if there is none near.
    """
    rounded = np.rint(proposal).astype(np.int64)
    whole = Witness.of({cell: one for cell, one in zip(cells.tolist(), rounded.tolist(), strict=True) if one})
    is_possible = whole.is_possible(problem)
    if is_possible and np.abs(proposal - rounded).max(initial=0.0) <= NEAR:
        return whole
    if problem.whole_numbers:
        return whole if is_possible else None
    known: dict[int, Fraction] = {}
    unknown: list[int] = []
    for cell, number, near in zip(cells.tolist(), proposal.tolist(), rounded.tolist(), strict=True):
        on_bound = near in (0, int(problem.up[cell]), -int(problem.down[cell])) and abs(number - near) <= NEAR
        if on_bound:
            if near:
                known[cell] = Fraction(near)
        else:
            unknown.append(cell)
    solved = _solve_sums(problem, known, unknown, target, level)
    found = None if solved is None else Witness.of(known | solved)
    if found is not None and found.is_possible(problem):
        return found
    return whole if is_possible else None


def _solve_sums(
    problem: SuppressionProblem,
    known: dict[int, Fraction],
    unknown: list[int],
    target: tuple[int, ...],
    level: int,
) -> dict[int, Fraction] | None:
    """Numbers of the unknown cells from the sums they are in; None if the sums do not determine them or contradict."""
    rows: dict[int, dict[int, Fraction]] = {}
    right: dict[int, Fraction] = {}
    for cell in unknown:
        for row, sign in problem.sums_of(cell):
            rows.setdefault(row, {})[cell] = Fraction(sign)
    for cell, number in known.items():
        for row, sign in problem.sums_of(cell):
            right[row] = right.get(row, Fraction(0)) - sign * number
    moving = set(unknown)
    if not moving.isdisjoint(target):
        rows[TARGET] = {cell: Fraction(1) for cell in target if cell in moving}
        right[TARGET] = level - sum((known.get(cell, Fraction(0)) for cell in target), Fraction(0))
    users: dict[int, set[int]] = {cell: set() for cell in unknown}
    for row, entries in rows.items():
        for cell in entries:
            users[cell].add(row)
    order: list[tuple[int, dict[int, Fraction], Fraction]] = []
    waiting = set(rows)
    queue = [(len(entries), row) for row, entries in rows.items()]
    heapify(queue)
    # Rows with few unknowns first: the matrix of sums is nearly triangular, so hardly any row fills up.
    while queue:
        length, row = heappop(queue)
        if row not in waiting or length != len(rows[row]):
            continue
        waiting.discard(row)
        entries, value = rows[row], right.get(row, Fraction(0))
        if not entries:
            if value:
                return None
            continue
        pivot = min(entries, key=lambda one: (len(users[one]), one))
        order.append((pivot, entries, value))
        for other in sorted(users[pivot] - {row}):
            if other not in waiting:
                continue
            factor = rows[other][pivot] / entries[pivot]
            for cell, entry in entries.items():
                left = rows[other].get(cell, Fraction(0)) - factor * entry
                if left:
                    rows[other][cell] = left
                    users[cell].add(other)
                else:
                    rows[other].pop(cell, None)
                    users[cell].discard(other)
            right[other] = right.get(other, Fraction(0)) - factor * value
            heappush(queue, (len(rows[other]), other))
    solved: dict[int, Fraction] = {}
    for pivot, entries, value in reversed(order):
        if any(cell not in solved for cell in entries if cell != pivot):
            return None
        rest = sum((entry * solved[cell] for cell, entry in entries.items() if cell != pivot), Fraction(0))
        solved[pivot] = (value - rest) / entries[pivot]
    return solved if len(solved) == len(unknown) else None


def as_room(rooms: Integers) -> Floats:
    """Rooms for the solver: infinite where nothing is known."""
    return np.where(rooms >= UNKNOWN // 2, np.inf, rooms.astype(np.float64))


def _columns_of(problem: SuppressionProblem, cells: Integers) -> Any:
    """The matrix of sums for some cells, without the sums that none of them is in."""
    from scipy.sparse import csc_array

    columns = csc_array(problem.columns[:, cells])
    rows, renumbered = np.unique(columns.indices, return_inverse=True)
    return csc_array(
        (columns.data.astype(np.float64), renumbered.astype(np.int32), columns.indptr), shape=(rows.size, cells.size)
    )
