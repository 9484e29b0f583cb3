"""The cheapest set of cells to hide, proved: a master program chooses cells, and programs of attackers find what is still unsafe.

The master chooses cells at least cost. For each requirement an attacker's program tells how far the protected sum can move
in the chosen pattern. If that is not far enough, its dual prices are a reason, in the form of an inequality that every safe
pattern satisfies (``audit.md``); the master has to respect it from then on. When nobody complains, the choice is safe, and
since all reasons were valid, nothing cheaper is. The idea is that of Fischetti and Salazar (2000).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.disclosure.suppression.certificate import Certificate
from sudare.disclosure.suppression.heuristic import protect, prove
from sudare.disclosure.suppression.linear import SolverDeadline, as_room, new_solver, pass_program
from sudare.disclosure.suppression.problem import Requirement, SuppressionProblem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["Cheapest", "cheapest"]

FINE = 2**20
"""Dual prices are rounded to multiples of 1 / FINE: any prices give a valid inequality, and these are exact numbers."""

MAX_REFUSED = 100
"""How many choices may turn out not to be proved in whole numbers."""

VIOLATED = 1e-6
"""An inequality is added if it is broken by more than this share of its right side."""


@dataclass(frozen=True, eq=False)
class Cheapest:
    """A safe pattern and what is known about cheaper ones.

    Attributes:
        certificate: of the pattern.
        cost: of the cells hidden beyond the primary ones.
        at_least: no safe pattern costs less; up to the solver's tolerance.
        cuts: inequalities that were needed.
    """

    certificate: Certificate
    cost: int
    at_least: int
    cuts: int

    @property
    def is_proved(self) -> bool:
        """Whether no safe pattern is cheaper."""
        return self.cost <= self.at_least


def cheapest(problem: SuppressionProblem, *, seconds: float | None = None) -> Cheapest:
    """The cheapest safe pattern; with a time limit, the cheapest found and how cheap any other could be.

    Args:
        problem: what must remain uncertain.
        seconds: time limit.

    Raises:
        InputError: hiding every cell would not be enough, or the time was too short for a safe answer.

    Example:
        >>> from sudare.disclosure.structure import Dimension, TableSystem
        >>> rows, columns = Dimension.flat("row", ["a", "b", "c"]), Dimension.flat("column", ["x", "y", "z"])
        >>> system = TableSystem.of_dimensions([rows, columns])
        >>> values = [45, 12, 15, 18, 6, 1, 2, 3, 15, 4, 5, 6, 24, 7, 8, 9]
        >>> found = cheapest(SuppressionProblem.of_levels(system, values, {5: (1, 1)}))
        >>> found.cost, found.is_proved
        (11, True)
    """
    deadline = SolverDeadline(seconds)
    best = protect(problem, seconds=seconds)
    size = problem.system.size
    cost = problem.cost(best.mask(size))
    attackers = _Attackers(problem)
    master = _Master(problem, attackers.candidates)
    at_least, refused = 0, 0
    whole = False
    while not deadline.has_passed() and at_least < cost:
        answer = master.solve(whole=whole, seconds=deadline.left())
        if answer is None:
            break
        chosen, bound = answer
        if not refused:  # the search for whole numbers is limited, so that what it does not find may exist
            at_least = max(at_least, bound)
        complaints = attackers.complaints(chosen, deadline)
        if complaints:
            master.add(complaints)
        elif whole:
            hidden = problem.must_hide.copy()
            hidden[attackers.candidates[chosen > 0.5]] = True
            certificate = prove(problem, hidden)
            if certificate is None and problem.whole_numbers and refused < MAX_REFUSED:
                # Safe in fractions, but not proved in whole numbers; nor would any choice with fewer cells be.
                master.add([((chosen < 0.5).astype(np.float64), 1.0)])
                refused += 1
                continue
            if certificate is None:  # the attackers' tolerance let something through that exact numbers do not
                break
            if problem.cost(hidden) < cost:
                best, cost = certificate, problem.cost(hidden)
            break
        else:
            whole = True
    return Cheapest(best, cost, min(at_least, cost), master.cuts)


class _Master:
    """Chooses candidates at least cost under the inequalities so far; in fractions first, which is fast."""

    def __init__(self, problem: SuppressionProblem, candidates: Integers) -> None:
        from scipy.sparse import csc_array

        self.size = candidates.size
        self.cuts = 0
        self.solver = new_solver()
        for option, value in (("mip_rel_gap", 0.0), ("mip_abs_gap", 0.5)):  # costs are whole numbers
            self.solver.setOptionValue(option, value)
        none = np.zeros(0)
        pass_program(
            self.solver,
            csc_array((0, self.size)),
            problem.costs[candidates].astype(np.float64),
            (np.zeros(self.size), np.ones(self.size)),
            (none, none),
        )

    def add(self, inequalities: list[tuple[Floats, float]]) -> None:
        for coefficients, right in inequalities:
            places = np.flatnonzero(coefficients).astype(np.int32)
            self.solver.addRow(right, np.inf, places.size, places, coefficients[places])
            self.cuts += 1

    def solve(self, *, whole: bool, seconds: float) -> tuple[Floats, int] | None:
        """A choice and a bound below which no choice costs; None if the time is over."""
        import highspy

        numbers = np.arange(self.size, dtype=np.int32)
        kind = highspy.HighsVarType.kInteger if whole else highspy.HighsVarType.kContinuous
        self.solver.changeColsIntegrality(self.size, numbers, np.array([kind] * self.size))
        # The solver's limit counts from its first run.
        self.solver.setOptionValue("time_limit", self.solver.getRunTime() + min(seconds, 1e30))
        self.solver.run()
        if self.solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        bound = self.solver.getInfo().mip_dual_bound if whole else self.solver.getInfo().objective_function_value
        return np.array(self.solver.getSolution().col_value), int(np.ceil(bound - 0.5))


class _Attackers:
    """One program in which the cells can move as far as the master's choice lets them."""

    def __init__(self, problem: SuppressionProblem) -> None:
        self.problem = problem
        movable = ((problem.up > 0) | (problem.down > 0)) & ~problem.shown
        self.cells: Integers = np.flatnonzero(movable | problem.must_hide)
        self.candidates: Integers = np.flatnonzero(movable & ~problem.must_hide)
        self.place = {cell: place for place, cell in enumerate(self.cells.tolist())}
        self.chosen_places = np.searchsorted(self.cells, self.candidates)
        self.matrix: Any = problem.columns[:, self.cells].tocsc().astype(np.float64)
        self.ups, self.downs = as_room(problem.up[self.cells]), as_room(problem.down[self.cells])
        self.solver = new_solver()
        self.numbers = np.arange(self.cells.size, dtype=np.int32)
        zeros = np.zeros(self.matrix.shape[0])
        pass_program(
            self.solver, self.matrix, np.zeros(self.cells.size), (-self.downs, self.ups), (zeros, zeros.copy())
        )

    def complaints(self, chosen: Floats, deadline: SolverDeadline) -> list[tuple[Floats, float]]:
        """Inequalities that the choice breaks; insiders are heard when outsiders have nothing to say."""
        found: list[tuple[Floats, float]] = []
        whole = bool((np.minimum(chosen, 1 - chosen) < 1e-6).all())
        picked = np.round(chosen) if whole else chosen
        touched = [
            self.complain(requirement, (), picked, found, whole=whole) for requirement in self.problem.requirements
        ]
        if found:
            return found
        for requirement, cells in zip(self.problem.requirements, touched, strict=True):
            for insider in sorted({one for cell in cells for one in self.problem.insiders_of.get(cell, ())}):
                asked = self.problem.against(requirement, insider)
                if asked is not None:
                    self.complain(asked, self.problem.insiders[insider], picked, found, whole=whole)
            if found and deadline.has_passed():
                break
        return found

    def complain(
        self,
        requirement: Requirement,
        known: tuple[int, ...],
        chosen: Floats,
        found: list[tuple[Floats, float]],
        *,
        whole: bool,
    ) -> set[int]:
        """Add an inequality for each way in which a requirement is not met; gives the cells that its proofs touch."""
        touched: set[int] = set()
        for sign, level in ((1, requirement.upper), (-1, requirement.lower)):
            if not level:
                continue
            answer = self.farthest(requirement.cells, sign, level, known, chosen, whole=whole)
            moved, prices, reach = answer
            touched.update(self.cells[np.abs(moved) > 1e-6].tolist())
            if reach >= level * (1 - VIOLATED):
                continue
            inequality = self.inequality(requirement.cells, sign, level, known, prices)
            coefficients, right = inequality
            if right > 0 and coefficients @ chosen < right * (1 - VIOLATED):
                found.append(inequality)
        return touched

    def farthest(
        self, target: tuple[int, ...], sign: int, level: int, known: tuple[int, ...], chosen: Floats, *, whole: bool
    ) -> tuple[Floats, Floats, float]:
        """How far the target's sum can move, up to the level; with the dual prices of the sums."""
        share = np.ones(self.cells.size)
        share[self.chosen_places] = chosen
        share[[self.place[cell] for cell in known if cell in self.place]] = 0.0
        # In fractions, rooms beyond the level would let a sliver of a cell do the work of the whole.
        ups, downs = (self.ups, self.downs) if whole else (np.minimum(self.ups, level), np.minimum(self.downs, level))
        with np.errstate(invalid="ignore"):
            ups, downs = np.where(share > 0, ups * share, 0.0), np.where(share > 0, downs * share, 0.0)
        prices = np.zeros(self.cells.size)
        prices[[self.place[cell] for cell in target]] = -sign
        if len(target) == 1:
            place = self.place[target[0]]
            (ups if sign > 0 else downs)[place] = min((ups if sign > 0 else downs)[place], level)
        self.solver.changeColsCost(prices.size, self.numbers, prices)
        self.solver.changeColsBounds(prices.size, self.numbers, -downs, ups)
        self.solver.run()
        solution = self.solver.getSolution()
        moved = np.array(solution.col_value)
        return moved, np.array(solution.row_dual), float(-prices @ moved)

    def inequality(
        self, target: tuple[int, ...], sign: int, level: int, known: tuple[int, ...], prices: Floats
    ) -> tuple[Floats, float]:
        """The reason behind a shortfall: valid for every safe pattern, whatever the prices are."""
        goal = np.zeros(self.cells.size)
        places = [self.place[cell] for cell in target]
        goal[places] = sign
        left = goal + self.matrix.T @ (np.rint(prices * FINE) / FINE)
        left[[self.place[cell] for cell in known if cell in self.place]] = 0.0
        ups, downs = self.ups, self.downs
        with np.errstate(invalid="ignore"):
            reach = np.where(left > 0, left * ups, np.where(left < 0, -left * downs, 0.0))
        coefficients = reach[self.chosen_places]
        free = np.ones(self.cells.size, dtype=np.bool_)
        free[self.chosen_places] = False
        right = level - float(reach[free].sum())
        return np.minimum(coefficients, max(right, 0.0)), right
