"""Sums of hidden cells that everybody can work out, judged like cells: total minus published parts is the hidden part.

Hiding the cells of a sum gives away what they add up to if their total is published. A rule that a cell must satisfy must
be satisfied by that sum as well, or its contributors work each other out though every cell alone is uncertain: X with 100
in one hidden cell and 50 in the next, where Y and Z have 10 each, is known to Y within 10. ``audit.md`` says which sums
are looked at, and which are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.disclosure.structure import CellTable, TableSystem
from sudare.disclosure.suppression.problem import Requirement, SuppressionProblem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.disclosure.status import CellJudgement

    Booleans = NDArray[np.bool_]
    Integers = NDArray[np.int64]

__all__ = ["unsafe_sums"]


def unsafe_sums(problem: SuppressionProblem, hidden: Booleans) -> tuple[Requirement, ...]:
    """Sums of hidden cells that follow from what is published and are unsafe by the rules of the table.

    Args:
        problem: with its judgements; without them nothing is known and nothing is found.
        hidden: cells that are not published.

    Returns:
        what must remain uncertain about each of them, in a fixed order.

    Example:
        >>> from sudare.disclosure.cell_table import Contributions, aggregate
        >>> from sudare.disclosure.rules import PPercent, primary_cells
        >>> from sudare.disclosure.structure import Dimension
        >>> who, where = list("XXYZPQR"), list("abbbccc")
        >>> contributions = Contributions(np.array([100, 50, 10, 10, 300, 300, 300]), holdings=who)
        >>> table = aggregate([Dimension.flat("area", ["a", "b", "c"])], {"area": where}, contributions)
        >>> problem = SuppressionProblem.of_table(table, primary_cells(table, [PPercent(10)]))
        >>> unsafe_sums(problem, np.array([False, True, True, False]))
        (Requirement(cells=(1, 2), lower=5, upper=5),)
    """
    if not problem.judgements:
        return ()
    asked: dict[tuple[int, ...], int] = {}
    sums = _Sums(problem.system, hidden)
    # A cell that is hidden alone is known, and so is what its own hidden parts add up to.
    known = [sums.parts_of_published(2), sums.one_step_down(sums.parts_of_published(1))]
    for judgement in problem.judgements:
        for one in known:
            for members, level in _judged(judgement, sums, one):
                asked[members] = max(level, asked.get(members, 1))
    return tuple(
        Requirement(members, min(asked[members], sum(problem.down[list(members)].tolist())), asked[members])
        for members in sorted(asked)
    )


@dataclass(frozen=True, eq=False)
class _Known:
    """Sums of hidden cells whose value is known.

    Attributes:
        rows: the sum in the system that each of them comes from.
        below: the sum that one of its parts was replaced by; -1 without.
        places: of the known sum that each of the cells is in, ascending.
        cells: hidden cells.
    """

    rows: Integers
    below: Integers
    places: Integers
    cells: Integers

    def only(self, kept: Booleans) -> _Known:
        """Some of them."""
        inside = kept[self.places]
        numbers = np.cumsum(kept) - 1
        return _Known(self.rows[kept], self.below[kept], numbers[self.places[inside]], self.cells[inside])

    def members(self, place: int) -> tuple[int, ...]:
        """The cells of one of them."""
        low, high = np.searchsorted(self.places, [place, place + 1])
        return tuple(sorted(self.cells[low:high].tolist()))


class _Sums:
    """The sums of a system as columns of pairs, and which of their cells are hidden."""

    def __init__(self, system: TableSystem, hidden: Booleans) -> None:
        equations = system.equations
        self.count = int(equations.shape[0])
        rows = np.repeat(np.arange(self.count), np.diff(equations.indptr))
        is_part = equations.data < 0
        self.hidden = hidden
        self.rows: Integers = rows[is_part]
        self.parts: Integers = equations.indices[is_part].astype(np.int64)
        self.totals: Integers = np.zeros(self.count, dtype=np.int64)
        self.totals[rows[~is_part]] = equations.indices[~is_part]

    def parts_of_published(self, at_least: int) -> _Known:
        """The hidden parts of every sum with a published total, where there are this many."""
        inside = self.hidden[self.parts] & ~self.hidden[self.totals[self.rows]]
        inside &= (np.bincount(self.rows[inside], minlength=self.count) >= at_least)[self.rows]
        rows, places = np.unique(self.rows[inside], return_inverse=True)
        return _Known(rows, np.full(rows.size, -1), places, self.parts[inside])

    def one_step_down(self, known: _Known) -> _Known:
        """The same sums with one hidden part replaced by its own hidden parts, where that leaves two cells or more."""
        inside = self.hidden[self.parts] & self.hidden[self.totals[self.rows]]
        edges = np.searchsorted(self.rows[inside], np.arange(self.count + 1))
        parts = self.parts[inside]
        # The sums with hidden parts that each hidden total has.
        lower = np.flatnonzero(np.diff(edges) > 0)
        lower = lower[np.argsort(self.totals[lower], kind="stable")]
        starts = np.searchsorted(self.totals[lower], known.cells, side="left")
        ends = np.searchsorted(self.totals[lower], known.cells, side="right")
        bounds = np.searchsorted(known.places, np.arange(known.rows.size + 1)).tolist()
        rows, below, groups = [], [], []
        for pair in np.flatnonzero(ends > starts).tolist():
            place, cell = int(known.places[pair]), int(known.cells[pair])
            others = known.cells[bounds[place] : bounds[place + 1]]
            others = others[others != cell]
            for row in lower[starts[pair] : ends[pair]].tolist():
                group = np.concatenate([others, parts[edges[row] : edges[row + 1]]])
                if np.unique(group).size == group.size > 1:  # a cell in both would count twice
                    rows.append(int(known.rows[place]))
                    below.append(row)
                    groups.append(group)
        places = np.repeat(np.arange(len(groups)), [group.size for group in groups])
        cells = np.concatenate(groups) if groups else np.zeros(0, dtype=np.int64)
        return _Known(np.array(rows, dtype=np.int64), np.array(below, dtype=np.int64), places, cells)

    def are_more(self, known: _Known, published: Booleans) -> Booleans:
        """Whether each known sum differs from a total and from a sum with one step less, by some cells that are published."""
        some = np.zeros(self.count + 1, dtype=np.bool_)
        some[self.rows[published[self.parts]]] = True
        some[-1] = True  # for sums without a second one
        found: Booleans = some[known.rows] & some[known.below]
        return found

    def contributors(self, known: _Known, counts: Integers, owners: Integers | None) -> Integers:
        """How many contributors each known sum has, or fewer: anyone who is in two of its cells counts once.

        If the contributors of all parts are as many as those of the total, nobody is in two parts, and they are added. If
        not, there are at least as many as in one part, as are listed by number, and as the total has without the others.
        """
        every = np.zeros(self.count + 1, dtype=np.int64)
        np.add.at(every, self.rows, counts[self.parts])
        total = np.append(counts[self.totals], 0)
        size = known.rows.size
        added, most, listed = (np.zeros(size, dtype=np.int64) for _ in range(3))
        np.add.at(added, known.places, counts[known.cells])
        np.maximum.at(most, known.places, counts[known.cells])
        if owners is not None:
            numbers = owners[known.cells]
            pairs = np.stack([np.repeat(known.places, numbers.shape[1]), numbers.reshape(-1)])
            np.add.at(listed, np.unique(pairs[:, pairs[1] >= 0], axis=1)[0], 1)
        rest = np.where(known.below < 0, total[known.rows] - (every[known.rows] - added), 0)
        at_least = np.minimum(added, np.maximum(np.maximum(most, listed), rest))
        is_disjoint = (every[known.rows] == total[known.rows]) & (every[known.below] == total[known.below])
        found: Integers = np.where(is_disjoint, added, at_least)
        return found


def _judged(judgement: CellJudgement, sums: _Sums, known: _Known) -> list[tuple[tuple[int, ...], int]]:
    """The known sums that a judgement finds unsafe, with their levels."""
    table = judgement.table
    # If all that is published of a sum is empty, its hidden part is the total, which is published and was judged.
    kept = sums.are_more(known, ~sums.hidden & ~table.empty)
    if judgement.safe is not None:
        # A sum of cells that are never unsafe is not, either.
        doubtful = np.zeros(known.rows.size, dtype=np.bool_)
        doubtful[known.places[~judgement.safe[known.cells]]] = True
        kept &= doubtful
    if not kept.any():
        return []
    left = known.only(kept)
    together = _table_of(left, table, sums.contributors(left, table.counts, table.owners))
    levels: dict[int, int] = {}
    for rule in judgement.rules:
        unsafe, level = rule.assess(together)
        for place in np.flatnonzero(unsafe).tolist():
            levels[place] = max(1, int(level[place]), levels.get(place, 1))
    return [(left.members(place), level) for place, level in sorted(levels.items())]


def _table_of(known: _Known, table: CellTable, counts: Integers) -> CellTable:
    """A table whose cells are the known sums: what a contributor has in several of their cells is added up."""
    size, width = known.rows.size, table.largest.shape[1]
    cells, places = known.cells, known.places

    def added(column: Integers) -> Integers:
        total = np.zeros(size, dtype=np.int64)
        np.add.at(total, places, column[cells])
        return total

    listed, place = table.largest[cells].reshape(-1), np.repeat(places, width)
    owners = np.arange(listed.size) if table.owners is None else table.owners[cells].reshape(-1)
    weights = None if table.weights is None else table.weights[cells].reshape(-1)
    requests = None if table.requests is None else table.requests[cells].reshape(-1)
    there = np.arange(width) < np.minimum(table.counts[cells], table.known_width)[:, None]
    units = np.flatnonzero(there.reshape(-1) & (owners >= 0))
    amounts = listed[units]
    if weights is None and units.size:
        # One entry for each contributor of each sum. With weights, records contribute, and each to one part only.
        units = units[np.lexsort((owners[units], place[units]))]
        starts = np.flatnonzero(np.r_[True, (np.diff(place[units]) != 0) | (np.diff(owners[units]) != 0)])
        amounts = np.add.reduceat(listed[units], starts)
        if requests is not None:
            requests = requests.copy()
            requests[units[starts]] = np.logical_or.reduceat(requests[units], starts)
        units = units[starts]
    ranked = np.lexsort((owners[units], -amounts, place[units]))
    where = place[units][ranked]
    rank = np.arange(where.size) - np.searchsorted(where, where)
    top = rank < width

    def spread(entries: NDArray[Any], fill: int = 0) -> NDArray[Any]:
        full = np.full((size, width), fill, dtype=entries.dtype)
        full[where[top], rank[top]] = entries[ranked][top]
        return full

    return CellTable(
        TableSystem.of_sums([f"known sum {number}" for number in range(size)], []),
        added(table.values),
        counts,
        spread(amounts),
        table.decimals,
        weights=None if weights is None else spread(weights[units]),
        weight_decimals=table.weight_decimals,
        weighted_counts=None if table.weighted_counts is None else added(table.weighted_counts),
        owners=spread(owners[units], -1),
        requests=None if requests is None else spread(requests[units]),
        largest_known=table.largest_known,
    )
