"""What an attacker can work out about every hidden cell: the interval of values that agree with all that is published.

Both ends of an interval are attained by exact tables, so the true interval is never narrower than the audit says. That it
is no wider is the solver's word, where `Audit.tight` says so (``audit.md``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.border.frames import ShownRows
from sudare.disclosure.suppression.certificate import Witness
from sudare.disclosure.suppression.linear import (
    MAX_NODES,
    SolverDeadline,
    as_room,
    exact_witness,
    new_solver,
    pass_program,
)
from sudare.disclosure.suppression.problem import SuppressionProblem
from sudare.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["Audit", "audit", "undetermined"]

TOGETHER = 0.02
"""Programs for many cells at once go on while each settles this share of the ends that are open."""


NEAR = 1e-6
"""How near an exact table must come to what the solver says is the farthest."""

WORK = 3_000_000
"""Programs times cells for which ends are looked for one by one; a limit of work, not of time: the same on every run."""


@dataclass(frozen=True, eq=False)
class Audit(ShownRows):
    """The interval of every hidden cell.

    Attributes:
        cells: numbers of the hidden cells, ascending.
        low: least value that remains possible; None if there is no bound.
        high: largest value that remains possible; None if there is no bound.
        tight: whether nothing lies beyond the two ends. In very large tables only some are sought to the last; a cell that is
            reported as determined surely is.
        programs: how many linear programs were solved.
    """

    cells: tuple[int, ...]
    low: tuple[Fraction | None, ...]
    high: tuple[Fraction | None, ...]
    tight: tuple[bool, ...]
    programs: int

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each hidden cell: what everybody can work out of it."""
        return {"cell": self.cells, "low": self.low, "high": self.high, "is_tight": self.tight}

    def interval(self, cell: int) -> tuple[Fraction | None, Fraction | None]:
        """The interval of one hidden cell."""
        place = self.cells.index(cell)
        return self.low[place], self.high[place]

    @property
    def determined(self) -> tuple[int, ...]:
        """Hidden cells that anyone can work out exactly."""
        return tuple(
            cell
            for cell, low, high in zip(self.cells, self.low, self.high, strict=True)
            if low is not None and low == high
        )

    def unsafe(self, problem: SuppressionProblem) -> tuple[int, ...]:
        """Single cells whose interval does not reach the levels that the problem asks for."""
        place = {cell: number for number, cell in enumerate(self.cells)}
        found = []
        for requirement in problem.requirements:
            if len(requirement.cells) > 1:
                continue
            cell = requirement.cells[0]
            value = int(problem.values[cell])
            if cell not in place:
                found.append(cell)
                continue
            low, high = self.low[place[cell]], self.high[place[cell]]
            if (low is not None and low > value - requirement.lower) or (
                high is not None and high < value + requirement.upper
            ):
                found.append(cell)
        return tuple(found)


def audit(
    problem: SuppressionProblem,
    hidden: Booleans,
    *,
    known: Iterable[int] = (),
    witnesses: Iterable[Witness] = (),
    seconds: float | None = None,
) -> Audit:
    """The interval of every hidden cell, as an attacker would compute it.

    Args:
        problem: values, sums and what everybody knows.
        hidden: cells that are not published.
        known: hidden cells that this attacker knows all the same.
        witnesses: possible tables that were checked already, to start from.
        seconds: time limit.

    Raises:
        InputError: the time was too short.

    Example:
        >>> from sudare.disclosure.structure import Dimension, TableSystem
        >>> system = TableSystem.of_dimensions([Dimension.flat("area", ["a", "b", "c"])])
        >>> problem = SuppressionProblem.of_levels(system, [16, 1, 5, 10], {1: (1, 1)})
        >>> found = audit(problem, np.array([False, True, True, False]))
        >>> [(int(low), int(high)) for low, high in zip(found.low, found.high)]
        [(0, 6), (0, 6)]
    """
    deadline = SolverDeadline(seconds)
    open_cells = undetermined(problem, hidden, known)
    cells = np.flatnonzero(hidden)
    low: dict[int, Fraction | None] = {cell: Fraction(value) for cell, value in _pairs(cells, problem.values[cells])}
    high = dict(low)
    tight = dict.fromkeys(low, True)
    programs = 0
    # A table that differs where the attacker looks is none that remains possible to them.
    gained, lost = _reached(one for one in witnesses if _agrees(problem, open_cells, one))
    for part in _components(problem, np.flatnonzero(open_cells)):
        ends = _Ends(problem, part, deadline)
        ends.start(gained, lost)
        ends.settle()
        programs += ends.programs
        loose_up, loose_down = ends.open_ends()
        for place, cell in enumerate(part.tolist()):
            tight[cell] = not (loose_up[place] or loose_down[place])
            value = int(problem.values[cell])
            low[cell] = None if ends.endless_down[place] else value - ends.lost[place]
            high[cell] = None if ends.endless_up[place] else value + ends.gained[place]
    listed = cells.tolist()
    return Audit(
        tuple(listed),
        tuple(low[cell] for cell in listed),
        tuple(high[cell] for cell in listed),
        tuple(tight[cell] for cell in listed),
        programs,
    )


def undetermined(problem: SuppressionProblem, hidden: Booleans, known: Iterable[int] = ()) -> Booleans:
    """Hidden cells without those that follow one after the other from sums in which they alone are missing.

    Args:
        problem: the sums.
        hidden: cells that are not published.
        known: hidden cells that the attacker knows.
    """
    left = hidden & ((problem.up > 0) | (problem.down > 0))
    left[list(known)] = False
    equations = problem.system.equations
    shape = abs(equations)
    while True:
        missing = shape @ left.astype(np.int64)
        alone = np.flatnonzero(missing == 1)
        if not alone.size:
            return left
        found = np.asarray(shape[alone].sum(axis=0)).ravel() > 0
        left &= ~found


class _Ends:
    """Both ends for every cell of a connected part of the hidden cells."""

    def __init__(self, problem: SuppressionProblem, cells: Integers, deadline: SolverDeadline) -> None:
        from scipy.sparse import csc_array

        self.problem, self.cells, self.deadline = problem, cells, deadline
        columns = csc_array(problem.columns[:, cells])
        rows, renumbered = np.unique(columns.indices, return_inverse=True)
        self.matrix = csc_array(
            (columns.data.astype(np.int64), renumbered.astype(np.int32), columns.indptr), shape=(rows.size, cells.size)
        ).tocsr()
        self.down, self.up = problem.down[cells], problem.up[cells]
        self.most_up, self.most_down = _implied_rooms(self.matrix, self.down, self.up)
        size = cells.size
        self.gained: list[Fraction] = [Fraction(0)] * size
        self.lost: list[Fraction] = [Fraction(0)] * size
        self._gained, self._lost = np.zeros(size), np.zeros(size)
        self.endless_up, self.endless_down = np.zeros(size, dtype=np.bool_), np.zeros(size, dtype=np.bool_)
        self.programs = 0
        self.solver = new_solver()
        zeros = np.zeros(rows.size)
        pass_program(
            self.solver, self.matrix, np.zeros(size), (-as_room(self.down), as_room(self.up)), (zeros, zeros.copy())
        )
        self.numbers = np.arange(size, dtype=np.int32)

    def start(self, gained: dict[int, Fraction], lost: dict[int, Fraction]) -> None:
        """Take over what is known to be possible."""
        none = Fraction(0)
        self.gained = [gained.get(cell, none) for cell in self.cells.tolist()]
        self.lost = [lost.get(cell, none) for cell in self.cells.tolist()]
        self._gained = np.array([float(one) for one in self.gained])
        self._lost = np.array([float(one) for one in self.lost])

    def open_ends(self) -> tuple[Booleans, Booleans]:
        """Cells whose upper and lower end may lie further out."""
        return (self._gained < self.most_up) & ~self.endless_up, (self._lost < self.most_down) & ~self.endless_down

    def settle(self) -> None:
        """Find every end: many at once while that goes fast, then one by one."""
        way = 1.0
        stuck = 0
        while stuck < 2:
            rising, falling = self.open_ends()
            before = int(rising.sum() + falling.sum())
            if not before:
                return
            # The price of a cell is the way in which it has an open end; if both ends are open, the ways alternate.
            self.solve(-np.where(rising & falling, way, rising.astype(np.float64) - falling))
            rising, falling = self.open_ends()
            stuck = 0 if before - rising.sum() - falling.sum() > TOGETHER * before else stuck + 1
            way = -way
        unmoved = (self._gained == 0) & (self._lost == 0)
        rest = [*np.flatnonzero(unmoved).tolist(), *np.flatnonzero(~unmoved).tolist()]
        for place in rest:
            enough = self.programs * self.cells.size > WORK and (self._gained[place] > 0 or self._lost[place] > 0)
            for up in (True, False):
                if not enough and self.open_ends()[0 if up else 1][place]:
                    self.solve_one(place, up=up)

    def solve_one(self, place: int, *, up: bool) -> None:
        prices = np.zeros(self.cells.size)
        prices[place] = -1.0 if up else 1.0
        most, reached = (self.most_up, self._gained) if up else (self.most_down, self._lost)
        farthest = self.solve(prices)
        if farthest is None:
            return
        if np.isinf(farthest):
            (self.endless_up if up else self.endless_down)[place] = True
            return
        if self.problem.whole_numbers:
            farthest = float(np.floor(farthest + NEAR))
            if reached[place] < farthest:
                found = self.solve(prices, whole=True)
                farthest = farthest if found is None else min(farthest, float(np.rint(found)))
            reached = self._gained if up else self._lost
        # What the solver reaches is an end only if an exact table reaches it as well.
        if reached[place] >= farthest - NEAR * max(1.0, abs(farthest)):
            most[place] = reached[place]

    def solve(self, prices: Floats, *, whole: bool = False) -> float | None:
        """Solve one program and take over how far it moves every cell.

        Args:
            prices: of one unit of each cell.
            whole: whether only whole numbers count.

        Returns:
            how far the cells move, in terms of the prices; infinite if nothing stops them; None if the solver does not know.
        """
        import highspy

        if self.deadline.has_passed():
            raise InputError(
                "The audit of the hidden cells did not end within the time limit, so nothing is given. Allow more time.",
                "制限時間内に秘匿セルの検査が終わらなかったため、結果は出しません。制限時間を延ばしてください。",
            )
        self.programs += 1
        self.solver.changeColsCost(self.cells.size, self.numbers, prices)
        endless = (highspy.HighsModelStatus.kUnbounded, highspy.HighsModelStatus.kUnboundedOrInfeasible)
        if whole:
            self._count_in(highspy.HighsVarType.kInteger)
        for _ in range(2):
            self.solver.run()
            status = self.solver.getModelStatus()
            if status == highspy.HighsModelStatus.kOptimal or status in endless:
                break
            self.solver.clearSolver()  # it lost its way from the last answer: once more from the beginning
        proposal = np.array(self.solver.getSolution().col_value)
        if whole:
            self._count_in(highspy.HighsVarType.kContinuous)
        if status in endless:
            return float("inf")
        if status != highspy.HighsModelStatus.kOptimal:
            return None
        farthest = float(-prices @ proposal)
        rounded = np.rint(proposal).astype(np.int64)
        if (rounded <= self.up).all() and (rounded >= -self.down).all() and not (self.matrix @ rounded).any():
            for place in np.flatnonzero(rounded > self._gained).tolist():
                self.gained[place] = Fraction(int(rounded[place]))
            for place in np.flatnonzero(-rounded > self._lost).tolist():
                self.lost[place] = Fraction(-int(rounded[place]))
            self._gained, self._lost = np.maximum(self._gained, rounded), np.maximum(self._lost, -rounded)
            return farthest
        witness = exact_witness(self.problem, self.cells, proposal)
        if witness is not None:
            for place in np.searchsorted(self.cells, np.array(witness.cells)).tolist():
                change = Fraction(witness.differences[int(self.cells[place])], witness.denominator)
                self.gained[place] = max(self.gained[place], change)
                self.lost[place] = max(self.lost[place], -change)
                self._gained[place] = max(self._gained[place], float(change))
                self._lost[place] = max(self._lost[place], float(-change))
        return farthest

    def _count_in(self, kind: Any) -> None:
        self.solver.changeColsIntegrality(self.cells.size, self.numbers, np.array([kind] * self.cells.size))
        self.solver.setOptionValue("mip_max_nodes", MAX_NODES)


def _agrees(problem: SuppressionProblem, open_cells: Booleans, witness: Witness) -> bool:
    """Whether a witness changes only cells that the attacker does not know."""
    places = np.array(witness.cells, dtype=np.int64)
    inside = bool(((places >= 0) & (places < open_cells.size)).all())
    return inside and bool(open_cells[places].all()) and (witness.denominator == 1 or not problem.whole_numbers)


def _reached(witnesses: Iterable[Witness]) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
    """How far witnesses move each cell, up and down."""
    gained: dict[int, Fraction] = {}
    lost: dict[int, Fraction] = {}
    for witness in witnesses:
        for cell, one in witness.differences.items():
            change = Fraction(one, witness.denominator)
            way = gained if change > 0 else lost
            way[cell] = max(way.get(cell, Fraction(0)), abs(change))
    return gained, lost


def _implied_rooms(matrix: Any, down: Integers, up: Integers) -> tuple[Floats, Floats]:
    """How far each cell could move at most, by looking at every sum on its own."""
    rooms_up, rooms_down = as_room(up), as_room(down)
    positive, negative = matrix.maximum(0).astype(np.float64), (-matrix).maximum(0).astype(np.float64)
    most_up, most_down = rooms_up.copy(), rooms_down.copy()
    # In each sum, the rest can take away from a total what the parts can lose, and so on; infinite rooms are counted.
    endless_up, endless_down = np.isinf(rooms_up), np.isinf(rooms_down)
    finite_up, finite_down = np.where(endless_up, 0.0, rooms_up), np.where(endless_down, 0.0, rooms_down)
    rise = positive @ finite_up + negative @ finite_down, positive @ endless_up + negative @ endless_down
    fall = positive @ finite_down + negative @ finite_up, positive @ endless_down + negative @ endless_up
    edges = matrix.indptr
    for row in range(matrix.shape[0]):
        for place, sign in zip(
            matrix.indices[edges[row] : edges[row + 1]], matrix.data[edges[row] : edges[row + 1]], strict=True
        ):
            own_rise = (finite_up, endless_up) if sign > 0 else (finite_down, endless_down)
            own_fall = (finite_down, endless_down) if sign > 0 else (finite_up, endless_up)
            others_fall = np.inf if fall[1][row] - own_fall[1][place] > 0 else fall[0][row] - own_fall[0][place]
            others_rise = np.inf if rise[1][row] - own_rise[1][place] > 0 else rise[0][row] - own_rise[0][place]
            gain, loss = (others_fall, others_rise) if sign > 0 else (others_rise, others_fall)
            most_up[place] = min(most_up[place], gain)
            most_down[place] = min(most_down[place], loss)
    return most_up, most_down


def _components(problem: SuppressionProblem, cells: Integers) -> Iterator[Integers]:
    """Parts of the cells that no sum connects."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    if not cells.size:
        return
    shape = csr_array(abs(problem.columns[:, cells]))
    count, labels = connected_components(shape.T @ shape, directed=False)
    order = np.argsort(labels, kind="stable")
    for part in np.split(order, np.cumsum(np.bincount(labels, minlength=count))[:-1]):
        yield cells[part]


def _pairs(cells: Integers, values: Integers) -> Iterator[tuple[int, int]]:
    return zip(cells.tolist(), values.tolist(), strict=True)
