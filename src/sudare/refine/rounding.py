"""Controlled rounding: whole numbers near real ones that add up to given sums.

- `controlled_rounding`: the children of every parent add up to the parent, as in one level of a hierarchy.
- `round_two_way`: the cells of a table add up to both of its margins (Cox 1987).

**One parent.** Write v = floor(v) + f with 0 <= f < 1. Raising floor(v) by one for the j-th time costs 2j - 1 - 2f in
squared distance, lowering it for the j-th time costs 2j - 1 + 2f. Both are larger for a larger j, whatever the two
f are: so everybody moves j - 1 times before anybody moves for the j-th time, and within a round the largest fractions
are raised first, or the smallest lowered first, down to 0 at most. All of it is done in whole numbers.

**Two margins.** Let every cell be floor(v) or one more. The real fractions meet the margins that are still missing, so
there are real solutions between 0 and 1; the equations of a table's margins have a totally unimodular matrix, so the
corners of the set of solutions are whole, and a linear program that minimises the squared distance (which is linear for
a choice of two numbers) ends in one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain.arguments import read_array
from sudare.errors import Described, ParameterError, SudareError
from sudare.parameters import describe_array
from sudare.refine.arguments import read_values

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]
    Values = NDArray[np.float64]

__all__ = ["controlled_rounding", "round_two_way"]

MAX_EXACT = 2**53


def controlled_rounding(values: ArrayLike, parents: ArrayLike, parent_sums: ArrayLike) -> Integers:
    """The whole numbers >= 0 nearest to values >= 0 such that the children of every parent add up to its sum.

    The values of a parent should have about its sum; the further they are from it, the further they are moved. Of equal
    fractions the first is raised, and the first is lowered.

    Args:
        values: numbers >= 0, in any order.
        parents: the parent of each value, a whole number from 0.
        parent_sums: what the children of parent 0, 1, ... must add up to, whole numbers >= 0.

    Raises:
        ParameterError: if an argument is out of range, or a parent with a positive sum has no children.

    Example:
        >>> from sudare.refine import controlled_rounding
        >>> controlled_rounding([1.5, 0.25, 2.25, 7.9], [0, 0, 0, 1], [4, 8]).tolist()
        [2, 0, 2, 8]
    """
    function = "controlled_rounding"
    array = _read_not_negative(values, function)
    sums = _read_sums(parent_sums, "parent_sums", function)
    owners = _read_parents(parents, array, sums.size, function)
    order = np.argsort(owners, kind="stable")
    flat, owner = array.reshape(-1)[order], owners[order]
    whole = np.floor(flat).astype(np.int64)
    fractions = flat - whole
    missing = sums - _sum_by(owner, whole, sums.size)
    children = np.bincount(owner, minlength=sums.size)
    if ((children == 0) & (sums > 0)).any():
        raise ParameterError("parent_sums", function, "0 for parents without children", Described("another number"))
    _raise(whole, fractions, owner, missing, children)
    _lower(whole, fractions, owner, missing)
    rounded = np.empty_like(whole)
    rounded[order] = whole
    return rounded.reshape(array.shape)


def _raise(whole: Integers, fractions: Values, owner: Integers, missing: Integers, children: Integers) -> None:
    rounds, rest = np.divmod(np.maximum(missing, 0), np.maximum(children, 1))
    whole += rounds[owner]
    whole[_rank_within(owner, -fractions) < rest[owner]] += 1


def _lower(whole: Integers, fractions: Values, owner: Integers, missing: Integers) -> None:
    """In every round all children that are positive lose one; the last round takes the smallest fractions only."""
    surplus = np.maximum(-missing, 0)
    among = np.flatnonzero(surplus[owner] > 0)
    if not among.size:
        return
    own, left = owner[among], whole[among]
    low, high = np.zeros_like(surplus), surplus.copy()
    while (low < high).any():  # the most rounds that do not take too much, by bisection
        middle = low + (high - low + 1) // 2
        fits = _sum_by(own, np.minimum(left, middle[own]), surplus.size) <= surplus
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
    left = left - np.minimum(left, low[own])
    rest = surplus - _sum_by(own, whole[among] - left, surplus.size)
    ranks = _rank_within(own, np.where(left > 0, fractions[among], 2.0))
    whole[among] = left - (ranks < rest[own])


def _rank_within(owner: Integers, keys: Values) -> Integers:
    """The place of each key among those of its parent, smallest first. Owners ascend."""
    order = np.lexsort((keys, owner))
    ranks = np.empty(owner.size, dtype=np.int64)
    ranks[order] = np.arange(owner.size) - np.searchsorted(owner, owner)
    return ranks


def _sum_by(owner: Integers, amounts: Integers, parents: int) -> Integers:
    """The sum of each parent, in whole numbers. Owners ascend."""
    running = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(amounts)])
    ends = np.searchsorted(owner, np.arange(parents + 1))
    return np.asarray(running[ends[1:]] - running[ends[:-1]])


def round_two_way(values: ArrayLike, row_sums: ArrayLike, column_sums: ArrayLike) -> Integers:
    """Whole numbers >= 0 near the values of a table of two axes that add up to both margins.

    Where the values add up to the margins themselves, each is rounded up or down to the next whole number, the nearest
    such table. Where they do not, as few steps as possible go further.

    It solves a linear program with a variable for each cell: meant for tables of up to some hundred thousand cells.

    Args:
        values: numbers >= 0 in rows and columns.
        row_sums: what each row must add up to, whole numbers >= 0.
        column_sums: what each column must add up to, whole numbers >= 0 with the same total.

    Raises:
        ParameterError: if an argument is out of range, or the margins have different totals.

    Example:
        >>> from sudare.refine import round_two_way
        >>> round_two_way([[0.5, 0.5], [0.5, 1.5]], [1, 2], [1, 2]).sum(axis=0).tolist()
        [1, 2]
    """
    function = "round_two_way"
    array = _read_not_negative(values, function)
    if array.ndim != 2:
        raise ParameterError("values", function, "a table of two axes", Described(f"{array.ndim} axes"))
    rows, columns = _read_sums(row_sums, "row_sums", function), _read_sums(column_sums, "column_sums", function)
    for name, margin, length in (("row_sums", rows, array.shape[0]), ("column_sums", columns, array.shape[1])):
        if margin.size != length:
            raise ParameterError(name, function, f"{length} numbers, as the table has", Described(f"{margin.size}"))
    if rows.sum() != columns.sum():
        raise ParameterError(
            "column_sums", function, "numbers with the same total as row_sums", Described("another total")
        )
    whole = np.floor(array).astype(np.int64)
    missing = np.concatenate([rows - whole.sum(axis=1), columns - whole.sum(axis=0)])
    fractions = array - whole
    chosen = _choose_cells(fractions, missing)
    return whole + chosen if chosen is not None else whole + _choose_steps(whole, fractions, missing)


def _choose_cells(fractions: Values, missing: Integers) -> Integers | None:
    """Which cells with a fraction go up by one; None if no choice meets the margins."""
    cells = np.flatnonzero(fractions)
    chosen = np.zeros(fractions.size, dtype=np.int64)
    if cells.size:
        steps = _solve(1 - 2 * fractions.reshape(-1)[cells], _margins(fractions.shape, cells), missing, 1.0)
        if steps is None:
            return None
        chosen[cells] = steps
    elif missing.any():
        return None
    return chosen.reshape(fractions.shape)


def _choose_steps(whole: Integers, fractions: Values, missing: Integers) -> Integers:
    """How far every cell goes up or down, where one step up is not enough."""
    cells = np.arange(whole.size)
    margins = _margins(whole.shape, cells)
    once = 1 - 2 * fractions.reshape(-1)
    # A step further costs more than all choices of the first step together can save.
    further = 4.0 * whole.size
    costs = np.concatenate([once, once + further, further - once])
    from scipy.sparse import hstack

    limits = np.concatenate([np.ones(whole.size), np.full(whole.size, np.inf), whole.reshape(-1).astype(np.float64)])
    steps = _solve(costs, hstack([margins, margins, -margins], format="csr"), missing, limits)
    if steps is None:  # any margins of equal totals have a table, but a solver works in floating point
        raise SudareError("The linear program of round_two_way was not solved exactly; scale the table down.")
    once_up, up, down = steps.reshape(3, -1)
    return np.asarray(once_up + up - down).reshape(whole.shape)


def _margins(shape: tuple[int, ...], cells: Integers) -> Any:
    """The matrix that adds up cells to rows and columns."""
    from scipy.sparse import csr_array

    row, column = np.divmod(cells, shape[1])
    equations = np.concatenate([row, shape[0] + column])
    variables = np.tile(np.arange(cells.size), 2)
    return csr_array((np.ones(2 * cells.size), (equations, variables)), shape=(sum(shape), cells.size))


def _solve(costs: Values, margins: Any, missing: Integers, limits: Values | float) -> Integers | None:
    """A corner of least cost among the steps from 0 to their limits that meet the margins; None if there are none."""
    from scipy.optimize import linprog

    highest = np.broadcast_to(limits, costs.shape)
    bounds = np.stack([np.zeros_like(costs), highest], axis=1)
    solution = linprog(costs, A_eq=margins, b_eq=missing.astype(np.float64), bounds=bounds, method="highs-ds")
    if solution.x is None:
        return None
    steps = np.rint(solution.x).astype(np.int64)
    is_exact = np.array_equal(np.rint(margins @ steps).astype(np.int64), missing)
    return steps if is_exact and (steps >= 0).all() and (steps <= highest).all() else None


def _read_not_negative(values: ArrayLike, function: str) -> Values:
    array = read_values(values, function)
    if array.min() < 0 or array.max() > MAX_EXACT:
        raise ParameterError("values", function, "numbers from 0 to 2**53", Described("others"))
    return array


def _read_sums(sums: ArrayLike, parameter: str, function: str) -> Integers:
    requirement = "whole numbers from 0 to 2**53, in one dimension"
    array = read_array(sums, parameter, function, requirement)
    if array.ndim != 1 or array.dtype.kind not in "iu" or not array.size:
        raise ParameterError(parameter, function, requirement, describe_array(array))
    if int(array.min()) < 0 or int(array.max()) > MAX_EXACT:
        raise ParameterError(parameter, function, requirement, Described("others"))
    return array.astype(np.int64)


def _read_parents(parents: ArrayLike, values: Values, count: int, function: str) -> Integers:
    requirement = f"a whole number from 0 to {count - 1} for each value"
    array = read_array(parents, "parents", function, requirement)
    if array.shape != values.shape or array.dtype.kind not in "iu":
        raise ParameterError("parents", function, requirement, describe_array(array))
    if int(array.min()) < 0 or int(array.max()) >= count:
        raise ParameterError("parents", function, requirement, Described("others"))
    return array.reshape(-1).astype(np.int64)
