"""A cheap set of cells to hide, fast: one requirement after the other, then a pass that shows what is not needed.

Each requirement gets the cheapest change of the table that proves it, found by a small linear program in which hidden
cells are nearly free; the cells that change are hidden. One change proves more than it was made for, so most requirements
need no program at all. Afterwards, dear cells are given up one by one where the proofs can do without them.

Nothing here has to be believed: the result is a certificate, checked exactly before it is handed out.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import count
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from sudare.disclosure.suppression.certificate import Certificate, Witness
from sudare.disclosure.suppression.hidden_sums import unsafe_sums
from sudare.disclosure.suppression.linear import DeviationProgram, SolverDeadline, exact_witness
from sudare.disclosure.suppression.neighbourhoods import Neighbourhoods
from sudare.disclosure.suppression.pattern import Key, Pattern
from sudare.disclosure.suppression.problem import SuppressionProblem
from sudare.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["protect", "prove"]

SMALL = 4_000
"""Up to this many cells every program looks at the whole table; beyond, at the neighbourhood of one requirement."""

SMALL_IN_COUNTS = 1_000
"""Likewise for counts: a hidden count of 1 can only rise, so that far more programs are needed."""

NEAREST = 200
"""In a larger block, this many of the nearest cells are tried before."""

NEIGHBOURHOODS = (2_000, 20_000)
"""Sizes of neighbourhoods, tried one after the other, before the whole table."""

WITNESSES_TRIED = 40
"""How many witnesses of other requirements are tried before a program is solved."""

WHOLE_NEIGHBOURHOODS = (200, 600, 2_000)
"""Sizes of neighbourhoods in which whole numbers are looked for, which takes much longer than fractions."""

TINY = 1e-9
"""What the solver calls 0."""

ROUNDS = 3
"""How often prices follow the last answer, so that a price per unit comes near to a price per cell."""

HIDDEN_PRICE = 1e-3
"""Of a unit in a cell that is hidden already, in terms of a usual price: not 0, so that changes stay small."""

CLEANING = 2_000
"""How many programs may be solved in a large table to give up cells. A limit of work, not of time: the same on every run."""

PATIENCE = 6
"""How often cells that were hidden because of an unsafe sum are given up again."""


def protect(
    problem: SuppressionProblem, *, seconds: float | None = None, start: Certificate | None = None
) -> Certificate:
    """Hide cheap cells until everything that must be uncertain is, and no hidden part of a sum is unsafe; with the proof.

    Args:
        problem: what must remain uncertain, and by which rules sums of hidden cells are judged.
        seconds: time limit. Once there is a safe answer, the best so far is given; before, the problem is refused.
        start: cells to hide in any case, and tables known to remain possible; nothing is given up again.

    Raises:
        InputError: hiding every cell would not be enough, or the time was too short for a safe answer.

    Example:
        >>> from sudare.disclosure.structure import Dimension, TableSystem
        >>> rows, columns = Dimension.flat("row", ["a", "b", "c"]), Dimension.flat("column", ["x", "y", "z"])
        >>> system = TableSystem.of_dimensions([rows, columns])
        >>> values = [45, 12, 15, 18, 6, 1, 2, 3, 15, 4, 5, 6, 24, 7, 8, 9]
        >>> found = protect(SuppressionProblem.of_levels(system, values, {5: (1, 1)}))
        >>> [system.label(cell) for cell in found.hidden]
        ['column=x, row=a', 'column=y, row=a', 'column=x, row=b', 'column=y, row=b']
    """
    search = _Search(problem, SolverDeadline(seconds))
    if start is not None:
        search.begin_with(start)
    search.hide_until_safe()
    if start is None:
        search.give_up_cells()
    search.mend_sums(patience=PATIENCE if start is None else 0)
    return search.pattern.certificate()


def prove(problem: SuppressionProblem, hidden: Booleans, *, seconds: float | None = None) -> Certificate | None:
    """The certificate of a given pattern; None if the pattern is not safe.

    Args:
        problem: what must remain uncertain.
        hidden: cells that are not published.
        seconds: time limit.

    Raises:
        InputError: the time was too short.
    """
    if (hidden & problem.shown).any() or (problem.must_hide & ~hidden).any():
        return None
    search = _Search(problem, SolverDeadline(seconds), hidden)
    if not search.hide_until_safe(refuse=False):
        return None
    search.pattern.hidden[:] = hidden
    return search.pattern.certificate()


class _Look:
    """Where to look for a witness, and for what.

    Args:
        program: the cells that may change.
        cells: whose sum has to.
        banned: cells that the attacker knows.
        allowed: cells that may be hidden.
    """

    def __init__(
        self, program: DeviationProgram, cells: tuple[int, ...], banned: tuple[int, ...], allowed: Booleans
    ) -> None:
        self.program = program
        self.cells = cells
        self.closed: Booleans = ~allowed[program.cells]
        self.closed[[program.place[cell] for cell in banned if cell in program.place]] = True


class _Search:
    def __init__(self, problem: SuppressionProblem, deadline: SolverDeadline, only: Booleans | None = None) -> None:
        self.problem = problem
        self.deadline = deadline
        self.pattern = Pattern(problem, problem.must_hide.copy() if only is None else only.copy())
        movable = ((problem.up > 0) | (problem.down > 0)) & ~problem.shown
        self.candidates = movable if only is None else movable & only
        self.by_cell: dict[int, list[Witness]] = {}
        self.stretch: dict[Witness, tuple[Fraction, Fraction]] = {}
        self.scope: Integers = np.flatnonzero(self.candidates)
        self.whole: DeviationProgram | None = None
        self.is_small = self.scope.size <= (SMALL_IN_COUNTS if problem.whole_numbers else SMALL)
        self.looks_far = True
        self.programs = 0
        self.usual = float(np.median(problem.costs[movable])) or 1.0 if movable.any() else 1.0
        self.near = Neighbourhoods(problem, self.candidates, self.usual)

    # -- proving ---------------------------------------------------------------------------------------------------

    def hide_until_safe(self, *, refuse: bool = True, first: int = 0) -> bool:
        """Prove the requirements from a first one on, against the outsider, then against every insider; False if one fails."""
        asked = self.problem.requirements
        order = sorted(
            range(first, len(asked)), key=lambda number: (-max(asked[number].lower, asked[number].upper), number)
        )
        for number in order:
            if not self.prove_and_hide((number, -1), refuse=refuse):
                return False
        for number in order if self.problem.insiders else ():
            for insider in self.insiders_at(number, self.pattern.proofs[number, -1]):
                if not self.prove_and_hide((number, insider), refuse=refuse):
                    return False
        return True

    def begin_with(self, start: Certificate) -> None:
        """Hide what a certificate hides, and remember the tables that it knows."""
        self.pattern.hidden[list(start.hidden)] = True
        for witness in start.witnesses:
            self.remember(witness)

    def mend_sums(self, patience: int) -> None:
        """Judge the hidden part of every sum; what is unsafe must become uncertain, too.

        Cells that the first rounds hide are given up again where that is possible. Later rounds only hide more, and each
        hides something, because an unsafe sum is known exactly before and is not any more afterwards: so they end.
        """
        for turn in count():
            more = unsafe_sums(self.problem, self.pattern.hidden)
            if not more:
                return
            before = self.pattern.hidden.copy()
            first = len(self.problem.requirements)
            self.problem = self.pattern.problem = self.problem.requiring(more)
            self.scope, self.whole, self.looks_far = np.flatnonzero(self.candidates), None, True
            self.hide_until_safe(first=first)
            if turn < patience:
                self.give_up_cells(self.pattern.hidden & ~before)

    def insiders_at(self, number: int, pair: tuple[Witness, Witness]) -> list[int]:
        """Insiders who know a cell that the proof against the outsider needs, and no cell of the requirement."""
        requirement = self.problem.requirements[number]
        touched = {cell for witness in pair for cell in witness.cells}
        found = {insider for cell in touched for insider in self.problem.insiders_of.get(cell, ())}
        return sorted(one for one in found if self.problem.against(requirement, one) is not None)

    def prove_and_hide(self, key: Key, *, refuse: bool) -> bool:
        """Prove one requirement, and hide the cells that the proof needs."""
        if self.deadline.has_passed():
            raise InputError(
                "No safe pattern was found within the time limit, so nothing is given. Allow more time.",
                "制限時間内に安全な秘匿パターンが見つからなかったため、結果は出しません。制限時間を延ばしてください。",
            )
        pair = self.witnesses_for(key, self.pattern.hidden, self.candidates)
        if pair is None:
            if refuse:
                self.refuse(key)
            return False
        self.keep(key, pair)
        return True

    def keep(self, key: Key, pair: tuple[Witness, Witness]) -> None:
        """Take over a proof and hide what it needs."""
        self.pattern.proofs[key] = pair
        for witness in pair:
            self.pattern.hidden[list(witness.cells)] = True
            self.remember(witness)

    def remember(self, witness: Witness) -> None:
        """Keep a witness for other requirements."""
        if witness not in self.stretch:
            self.stretch[witness] = self.room_for(witness, 1), self.room_for(witness, -1)
            for cell in witness.cells:
                if self.problem.primary[cell]:
                    self.by_cell.setdefault(cell, []).append(witness)

    def room_for(self, witness: Witness, sign: int) -> Fraction:
        """By how much a witness, or its mirror image, can be multiplied before a cell leaves its bounds."""
        up, down = self.problem.up, self.problem.down
        return min(
            (
                Fraction(int((up if one * sign > 0 else down)[cell]) * witness.denominator, abs(one))
                for cell, one in witness.differences.items()
            ),
            default=Fraction(1),
        )

    def refuse(self, key: Key) -> None:
        name = " + ".join(self.problem.system.label(cell) for cell in self.problem.requirements[key[0]].cells)
        if key[1] < 0:
            raise InputError(
                f"The cell '{name}' cannot be protected, even if every cell that may be hidden is. Lower its protection "
                "level, let more cells be hidden, or merge codes.",
                f"秘匿できるセルをすべて秘匿しても、セル「{name}」を保護できません。"
                "保護水準を下げるか、秘匿できるセルを増やすか、コードを統合してください。",
            )
        known = self.problem.system.label(self.problem.insiders[key[1]][0])
        raise InputError(
            f"The cell '{name}' cannot be protected against the only contributor of '{known}', even if every cell that may "
            "be hidden is. Let more cells be hidden, merge codes, or leave insiders out of the problem.",
            f"秘匿できるセルをすべて秘匿しても、「{known}」の唯一の報告者に対してセル「{name}」を保護できません。"
            "秘匿できるセルを増やすか、コードを統合するか、内部者を考慮から外してください。",
        )

    def witnesses_for(self, key: Key, hidden: Booleans, allowed: Booleans) -> tuple[Witness, Witness] | None:
        """Witnesses below and above; they may change allowed cells only, and change few that are not hidden."""
        number, insider = key
        requirement = self.problem.against(self.problem.requirements[number], None if insider < 0 else insider)
        if requirement is None:
            return None
        banned = () if insider < 0 else self.problem.insiders[insider]
        levels = (-requirement.lower, requirement.upper)
        known = [self.known_witness(requirement.cells, level, banned, allowed & hidden) for level in levels]
        if known[0] is not None and known[1] is not None:
            return known[0], known[1]
        if not allowed[list(requirement.cells)].all():
            return None
        highest = max(requirement.lower, requirement.upper)
        for program in self.programs_around(requirement.cells, highest, hidden, allowed):
            look = _Look(program, requirement.cells, banned, allowed)
            both = self.cheapest(look, highest, hidden, mirrored=True)
            if both is not None:
                return both.scaled(Fraction(-1)), both
            now_hidden, found = hidden, list(known)
            for place, level in enumerate(levels):
                if found[place] is None:
                    one = found[place] = self.cheapest(look, level, now_hidden, mirrored=False)
                    if one is None:
                        break
                    now_hidden = now_hidden.copy()
                    now_hidden[list(one.cells)] = True
            if found[0] is not None and found[1] is not None:
                return found[0], found[1]
        return None

    def known_witness(
        self, cells: tuple[int, ...], level: int, banned: tuple[int, ...], allowed: Booleans
    ) -> Witness | None:
        """A witness that was found before and, stretched or mirrored, does here too."""
        if level == 0:
            return Witness((), ())
        for witness in self.by_cell.get(cells[0], [])[-WITNESSES_TRIED:]:
            change = witness.change(cells)
            if not change or not allowed[list(witness.cells)].all():
                continue
            if any(cell in witness.differences for cell in banned):
                continue
            enough = change >= level if level > 0 else change <= level
            if enough:
                return witness
            factor = level / change
            if self.problem.whole_numbers:
                factor = Fraction(ceil(abs(factor)) * (1 if factor > 0 else -1))
            if abs(factor) <= self.stretch[witness][0 if factor > 0 else 1]:
                return witness.scaled(factor)
        return None

    def cheapest(self, look: _Look, level: int, hidden: Booleans, *, mirrored: bool) -> Witness | None:
        """The cheapest witness within a program: prices per unit follow the answers, to come near to prices per cell."""
        problem, program, around = self.problem, look.program, look.program.cells
        costs = np.where(hidden[around], 0, problem.costs[around]) / self.usual
        rooms = np.clip(np.minimum(program.gains, program.losses), 1.0, abs(level))
        prices = np.maximum(costs / rooms, HIDDEN_PRICE / abs(level))
        # The price of one unit is small against the tolerance of the solver where levels are large.
        prices *= abs(level)
        best: tuple[float, Witness] | None = None
        for turn in range(ROUNDS):
            self.programs += 1
            proposal = program.cheapest(prices, look.cells, level, mirrored=mirrored, closed=look.closed)
            if proposal is None:
                break
            witness = exact_witness(problem, around, proposal, look.cells, level)
            if problem.whole_numbers and not _does(witness, look.cells, level):
                witness = self.whole_witness(look, level, hidden, prices, proposal, mirrored=mirrored)
            if witness is None or not _does(witness, look.cells, level):
                break
            changed = list(witness.cells)
            cost = float(problem.costs[changed][~hidden[changed]].sum())
            if best is None or cost < best[0]:
                best = cost, witness
            elif turn:
                break
            if cost == 0:
                break
            moved = np.abs(proposal)
            prices = np.where(
                moved > 0.5, np.maximum(costs * abs(level) / np.maximum(moved, 1.0), HIDDEN_PRICE), prices
            )
        return None if best is None else best[1]

    def whole_witness(
        self, look: _Look, level: int, hidden: Booleans, prices: Floats, proposal: Floats, *, mirrored: bool
    ) -> Witness | None:
        """A witness of whole numbers: among the cells of an answer in fractions and those nearest; None if it takes long."""
        program = look.program
        allowed = np.zeros(self.problem.system.size, dtype=np.bool_)
        allowed[program.cells[~look.closed]] = True
        near = np.zeros_like(allowed)
        near[program.cells[np.abs(proposal) > TINY]] = True
        for size in WHOLE_NEIGHBOURHOODS:
            near[self.near.around(look.cells, abs(level), hidden, allowed, size)] = True
            part = near[program.cells]
            cells = program.cells[part]
            inner = DeviationProgram(self.problem, cells)
            found = inner.cheapest(prices[part], look.cells, level, mirrored=mirrored, whole=True)
            witness = None if found is None else exact_witness(self.problem, cells, found)
            if _does(witness, look.cells, level) or mirrored:
                return witness
            if cells.size == int(allowed.sum()):
                break
        return None

    # -- neighbourhoods --------------------------------------------------------------------------------------------

    def programs_around(
        self, cells: tuple[int, ...], level: int, hidden: Booleans, allowed: Booleans
    ) -> Iterator[DeviationProgram]:
        """Programs to look in, small ones first; a small table has one, which remembers its last answer."""
        if self.is_small:
            if self.whole is None:
                self.whole = DeviationProgram(self.problem, self.scope)
            yield self.whole
            return
        total = int(allowed.sum())
        block = self.near.block(cells)
        if block is not None:
            block = block[allowed[block]]
            if block.size > NEAREST:
                inside = np.zeros_like(allowed)
                inside[block] = True
                yield DeviationProgram(self.problem, self.near.around(cells, level, hidden, inside, NEAREST))
            yield DeviationProgram(self.problem, block)
        if not self.looks_far:
            yield DeviationProgram(self.problem, self.near.around(cells, level, hidden, allowed, NEAREST))
            return
        for size in NEIGHBOURHOODS:
            if size < total:
                yield DeviationProgram(self.problem, self.near.around(cells, level, hidden, allowed, size))
        yield DeviationProgram(self.problem, np.flatnonzero(allowed))

    # -- giving up cells -------------------------------------------------------------------------------------------

    def give_up_cells(self, among: Booleans | None = None) -> None:
        """Publish hidden cells again where the proofs can do without, dear ones first.

        Args:
            among: which cells to try; None for all.
        """
        problem, pattern = self.problem, self.pattern
        self.scope, self.whole = np.flatnonzero(pattern.hidden & self.candidates), None
        # In a large table, that there is no other proof far away would take long to find out each time.
        self.looks_far = False
        self.programs = 0
        uses: dict[int, set[Key]] = {}
        for key, pair in pattern.proofs.items():
            for cell in {*pair[0].cells, *pair[1].cells}:
                uses.setdefault(cell, set()).add(key)
        chosen = pattern.hidden & ~problem.must_hide
        extra = np.flatnonzero(chosen if among is None else chosen & among).tolist()
        for cell in sorted(extra, key=lambda one: (-int(problem.costs[one]), one)):
            tired = self.deadline.has_passed() or (not self.is_small and self.programs > CLEANING)
            if tired and uses.get(cell):
                continue
            trial = self.proofs_without(cell, uses.get(cell, set()))
            if trial is None:
                continue
            pattern.hidden[cell] = False
            for key, new in trial.items():
                if key in pattern.proofs:
                    for used in {one for witness in pattern.proofs[key] for one in witness.cells}:
                        uses[used].discard(key)
                if new is None:
                    pattern.proofs.pop(key, None)
                    continue
                self.keep(key, new)
                for used in {*new[0].cells, *new[1].cells}:
                    uses.setdefault(used, set()).add(key)

    def proofs_without(self, cell: int, affected: set[Key]) -> dict[Key, tuple[Witness, Witness] | None] | None:
        """New proofs for those that need a cell, None for those no longer needed; None if there is no way."""
        hidden = self.pattern.hidden.copy()
        hidden[cell] = False
        allowed = hidden & self.candidates
        trial: dict[Key, tuple[Witness, Witness] | None] = {}
        pair: tuple[Witness, Witness] | None
        for number in sorted({key[0] for key in affected}):
            if (number, -1) in affected:
                pair = self.witnesses_for((number, -1), hidden, allowed)
                if pair is None:
                    return None
                trial[number, -1] = pair
            outside = trial.get((number, -1)) or self.pattern.proofs[number, -1]
            needed = self.insiders_at(number, outside)
            for insider in needed:
                key = (number, insider)
                if key in self.pattern.proofs and key not in affected:
                    continue
                pair = self.witnesses_for(key, hidden, allowed)
                if pair is None:
                    return None
                trial[key] = pair
            for key in affected:
                if key[0] == number and key[1] >= 0 and key[1] not in needed:
                    trial[key] = None
        return trial


def _does(witness: Witness | None, cells: tuple[int, ...], level: int) -> bool:
    """Whether a witness moves the sum of some cells as far as a level asks for."""
    return witness is not None and witness.change(cells) * (1 if level > 0 else -1) >= abs(level)
