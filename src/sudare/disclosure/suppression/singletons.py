"""Contributors who see more than outsiders: someone alone in a cell knows its value, and may undo the cells beside it.

Three dangers, each turned into something that the search for hidden cells has to respect:

- a contributor who is alone in one or several cells subtracts what they know (`lone_contributors`);
- one contributor dominates several unsafe cells of a sum: hiding just these gives away their sum, which is theirs
  (`joint_cells`);
- the hidden cells of a sum have too few contributors altogether, and their sum is known (`too_few`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.disclosure.suppression.problem import Requirement, SuppressionProblem
from sudare.errors import InputError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from sudare.disclosure.status import PrimaryCells
    from sudare.disclosure.structure import CellTable, TableSystem

    Booleans = NDArray[np.bool_]
    Integers = NDArray[np.int64]

__all__ = ["LoneContributors", "joint_cells", "lone_contributors", "too_few"]


@dataclass(frozen=True, eq=False)
class LoneContributors:
    """Contributors who are alone somewhere.

    Attributes:
        insiders: the cells that each of them knows.
        rest: for one of them and a cell that they share, what the others contribute.
    """

    insiders: tuple[tuple[int, ...], ...]
    rest: Mapping[tuple[int, int], int]


def lone_contributors(table: CellTable) -> LoneContributors:
    """Who is alone in which cells.

    If the table says who its largest contributors are, one who is alone in several cells knows them all. If not, cells
    count as one contributor's only where a sum shows it: a total with one contributor and the part that makes it up.

    Args:
        table: counts and, better, owners.

    Example:
        >>> from sudare.disclosure.structure import CellTable, Dimension, TableSystem
        >>> system = TableSystem.of_dimensions([Dimension.flat("area", ["a", "b", "c"])])
        >>> values, counts = np.array([16, 1, 5, 10]), np.array([4, 1, 1, 2])
        >>> largest = np.array([[9, 5], [1, 0], [5, 0], [9, 1]])
        >>> lone_contributors(CellTable(system, values, counts, largest)).insiders
        ((1,), (2,))
        >>> owners = np.array([[7, 3], [3, -1], [3, -1], [7, 8]])
        >>> lone_contributors(CellTable(system, values, counts, largest, owners=owners)).insiders
        ((1, 2),)
    """
    check_arguments(lone_contributors, locals(), "table")
    alone = np.flatnonzero(table.counts == 1).tolist()
    if table.owners is None:
        return LoneContributors(_linked_by_sums(table.system, table.counts), {})
    cells: dict[int, list[int]] = {}
    for cell in alone:
        cells.setdefault(int(table.owners[cell, 0]), []).append(cell)
    numbers = {owner: number for number, owner in enumerate(cells)}
    rest: dict[tuple[int, int], int] = {}
    shared = np.isin(table.owners, np.array(list(numbers), dtype=np.int64)) & (table.counts > 1)[:, None]
    for cell, place in np.argwhere(shared).tolist():
        own = int(table.largest[cell, place])
        if table.weights is not None:
            own = own * int(table.weights[cell, place]) // 10**table.weight_decimals
        rest[numbers[int(table.owners[cell, place])], cell] = max(0, int(table.values[cell]) - own)
    return LoneContributors(tuple(tuple(one) for one in cells.values()), rest)


def _linked_by_sums(system: TableSystem, counts: Integers) -> tuple[tuple[int, ...], ...]:
    """Cells with one contributor, put together where a total and a part have the same one."""
    leader = {cell: cell for cell in np.flatnonzero(counts == 1).tolist()}

    def first(cell: int) -> int:
        while leader[cell] != cell:
            cell = leader[cell]
        return cell

    for total, parts in system.sums():
        if total in leader:
            for part in parts:
                if part in leader:
                    one, other = sorted((first(total), first(part)))
                    leader[other] = one
    groups: dict[int, list[int]] = {}
    for cell in leader:
        groups.setdefault(first(cell), []).append(cell)
    return tuple(tuple(group) for group in groups.values())


def joint_cells(table: CellTable, primaries: PrimaryCells) -> tuple[Requirement, ...]:
    """Sums of unsafe cells that must remain uncertain because one contributor is the largest in each of them.

    The levels of the cells are added: the contributor's share of the sum is the sum of their shares, so what protects their
    part of each protects the whole.

    Args:
        table: with owners; without them nothing is known and nothing is asked for.
        primaries: unsafe cells and their levels.

    Example:
        >>> from sudare.disclosure.structure import CellTable, Dimension, TableSystem
        >>> from sudare.disclosure.status import PrimaryCells
        >>> system = TableSystem.of_dimensions([Dimension.flat("area", ["a", "b", "c"])])
        >>> table = CellTable(
        ...     system,
        ...     np.array([16, 1, 5, 10]),
        ...     np.array([4, 1, 1, 2]),
        ...     np.array([[9, 5], [1, 0], [5, 0], [9, 1]]),
        ...     owners=np.array([[7, 3], [3, -1], [3, -1], [7, 8]]),
        ... )
        >>> levels = np.array([0, 1, 2, 0])
        >>> joint_cells(table, PrimaryCells(np.array([1, 3, 3, 1]), levels, levels, np.zeros(4, dtype=np.int64)))
        (Requirement(cells=(1, 2), lower=3, upper=3),)
    """
    check_arguments(joint_cells, locals(), "table", "primaries")
    if table.owners is None:
        return ()
    unsafe = primaries.unsafe
    found: dict[tuple[int, ...], Requirement] = {}
    for _, parts in table.system.sums():
        groups: dict[int, list[int]] = {}
        for cell in parts:
            if unsafe[cell]:
                groups.setdefault(int(table.owners[cell, 0]), []).append(cell)
        for owner in sorted(groups):
            cells = tuple(sorted(groups[owner]))
            if owner >= 0 and len(cells) > 1:
                lower, upper = (int(levels[list(cells)].sum()) for levels in (primaries.lower, primaries.upper))
                found[cells] = Requirement(cells, lower, upper)
    return tuple(found[cells] for cells in sorted(found))


def too_few(
    problem: SuppressionProblem,
    hidden: Booleans,
    counts: Integers,
    threshold: int,
    *,
    owners: Integers | None = None,
) -> Booleans:
    """More cells to hide, so that the hidden parts of every sum have enough contributors together.

    Cheap cells first. Anyone who contributes to several parts counts once, as far as the counts and the owners show it. If all
    parts that are not empty are hidden, their sum is the total, which is published, and nothing more is asked for.

    Args:
        problem: costs, and cells that must be published.
        hidden: cells that are hidden so far.
        counts: contributors of each cell.
        threshold: how many contributors the hidden parts of a sum must have, if there are any.
        owners: numbers of the largest contributors of each cell; None if unknown.

    Returns:
        the cells to hide beyond those.

    Raises:
        InputError: too few contributors, whatever may be hidden.

    Example:
        >>> from sudare.disclosure.structure import Dimension, TableSystem
        >>> system = TableSystem.of_dimensions([Dimension.flat("area", ["a", "b", "c", "d"])])
        >>> counts = np.array([4, 1, 2, 1, 0])
        >>> problem = SuppressionProblem.of_levels(system, counts.tolist(), {1: (1, 1), 3: (1, 1)})
        >>> np.flatnonzero(too_few(problem, problem.primary, counts, 3)).tolist()
        [2]
    """
    check_arguments(too_few, locals(), "problem", "hidden", "counts", "threshold")
    if threshold < 1:
        raise ParameterError("threshold", "too_few", Words("1 or more", "1 以上"), threshold)
    chosen = hidden.copy()
    for total, parts in problem.system.sums():
        inside = [cell for cell in parts if chosen[cell]]
        if not inside or chosen[total]:
            continue
        others = [cell for cell in parts if not chosen[cell] and not problem.shown[cell]]
        for cell in sorted(others, key=lambda one: (counts[one] == 0, problem.costs[one], one)):
            if _together(counts, owners, total, parts, inside) >= threshold:
                break
            chosen[cell] = True
            inside.append(cell)
        published = any(counts[cell] and not chosen[cell] for cell in parts)
        if published and _together(counts, owners, total, parts, inside) < threshold:
            name = problem.system.label(total)
            raise InputError(
                f"The hidden parts of '{name}' have fewer contributors than the threshold, whatever else may be hidden. Lower "
                "the threshold, let more cells be hidden, or merge codes.",
                f"「{name}」の秘匿部分の提供者数は、秘匿できるセルをすべて秘匿しても閾値に届きません。"
                "閾値を下げるか、秘匿できるセルを増やすか、コードを統合してください。",
            )
    found: Booleans = chosen & ~hidden
    return found


def _together(counts: Integers, owners: Integers | None, total: int, parts: list[int], inside: list[int]) -> int:
    """How many contributors some parts of a sum have together, or fewer; the twin of `hidden_sums` for one sum."""
    added, every = int(counts[inside].sum()), int(counts[parts].sum())
    if every == counts[total]:
        return added  # nobody is in two parts
    listed = 0 if owners is None else np.unique(owners[inside][owners[inside] >= 0]).size
    return min(added, max(int(counts[inside].max()), listed, int(counts[total]) - (every - added)))
