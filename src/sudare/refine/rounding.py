"""Controlled rounding: whole numbers near real ones that add up to given sums.

- `controlled_rounding`: the children of every parent add up to the parent, as in one level of a hierarchy.
- `round_two_way`: the cells of a table add up to both of its margins (Cox 1987).

**One parent.** Write v = floor(v) + f with 0 <= f < 1. Raising floor(v) by one for the j-th time costs 2j - 1 - 2f in
squared distance, lowering it for the j-th time costs 2j - 1 + 2f. Both are larger for a larger j, whatever the two
f are: so everybody moves j - 1 times before anybody moves for the j-th time, and within a round the largest fractions
are raised first, or the smallest lowered first, down to 0 at most. All of it is done in whole numbers.

**Two margins.** Let every cell be floor(v) or one more. The real fractions meet the margins that are still missing, so
there are real solutions between 0 and 1; the equations of a table's margins have a totally unimodular matrix, so there
are whole ones, too. The nearest of them is a flow of least cost from columns to rows, because the squared distance is
linear for a choice of two numbers: ``kernels/two_way_rounding.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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

    It finds a flow of least cost: meant for tables of up to some hundred thousand cells.

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
    from sudare.kernels.two_way_rounding import nearest_steps

    whole = np.floor(array).astype(np.int64)
    fractions = array - whole
    missing = rows - whole.sum(axis=1), columns - whole.sum(axis=0)
    is_tall = array.shape[0] > array.shape[1]
    turn = np.transpose if is_tall else np.asarray  # ways between rows are searched, of which there should be few
    once = np.ascontiguousarray(turn(1 - 2 * fractions))
    down, (row_missing, column_missing) = np.ascontiguousarray(turn(whole)), missing[::-1] if is_tall else missing
    steps = np.zeros(once.shape, dtype=np.int64)
    only_up = np.where(turn(fractions) > 0, once, np.inf)
    order = np.argsort(only_up, axis=0, kind="stable")
    if not nearest_steps(only_up, order, np.zeros_like(steps), row_missing, column_missing, np.inf, steps):
        # A step further costs more than all choices of the first step together can save.
        steps, order = np.zeros_like(steps), np.argsort(once, axis=0, kind="stable")
        if not nearest_steps(once, order, down, row_missing, column_missing, 4.0 * whole.size, steps):
            raise SudareError(
                "There is no table of whole numbers with these sums."
            )  # any margins of equal totals have one
    return whole + np.ascontiguousarray(turn(steps))


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
