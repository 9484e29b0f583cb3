"""How far one person's path can move a measured series: the chain formula, in whole numbers.

A person is in at most one node at a tick. Their path is an entry and then at most so many moves; leaving and coming back are
moves too. What is measured of a node is C x, where x has the node's net change at each tick and C is a matrix of public whole
numbers. With G = C'C, a stay from tick a to tick b contributes (e_a - e_b)' G (e_a - e_b), and a stay to the end e_a' G e_a. The
largest sum over all paths is found by a dynamic programme over the ticks of the moves.

Proof: ``sensitivity.md`` beside this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sudare.errors import GuaranteeError, ParameterError
from sudare.parameters import describe_array, exact_integer, read_flag

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.int64]

__all__ = [
    "gram_matrix",
    "gram_of_coefficients",
    "path_l1",
    "path_l1_of_coefficients",
    "path_l2_squared",
    "require_chain_conditions",
]

MAX_SUM = 2**62
"""No sum of the dynamic programme may pass this, so that 64-bit numbers hold all of them."""

MAX_MOVES = 1 << 16
_MOVES = f"a whole number from 0 to {MAX_MOVES}"


def gram_of_coefficients(coefficients: NDArray[np.int64]) -> Matrix:
    """G = C'C of the lower triangular Toeplitz matrix with these coefficients in its first column.

    G(i, i + d) is the sum of c_m c_(m + d) for m from 0 to n - 1 - i - d, so that one running sum gives a diagonal.

    Args:
        coefficients: whole numbers c_0, ..., c_(n - 1).

    Raises:
        ParameterError: if a sum of products would not fit into 64 bits.

    Example:
        >>> import numpy as np
        >>> gram_of_coefficients(np.array([2, 1, 0])).tolist()
        [[5, 2, 0], [2, 5, 2], [0, 2, 4]]
    """
    c = np.asarray(coefficients)
    if c.ndim != 1 or c.size == 0 or c.dtype.kind not in "iu":
        raise ParameterError(
            "coefficients", "gram_of_coefficients", "whole numbers in one dimension", describe_array(c)
        )
    if sum(int(value) ** 2 for value in c) >= MAX_SUM:
        raise ParameterError(
            "coefficients", "gram_of_coefficients", "smaller: their squares pass 2**62", describe_array(c)
        )
    n = c.size
    c = c.astype(np.int64)
    gram = np.zeros((n, n), dtype=np.int64)
    for distance in range(n):
        sums = np.cumsum(c[: n - distance] * c[distance:])[::-1]
        rows = np.arange(n - distance)
        gram[rows, rows + distance] = sums
        gram[rows + distance, rows] = sums
    return gram


def gram_matrix(rows: Matrix) -> Matrix:
    """G = C'C of any matrix of whole numbers, a row for each measured number.

    Raises:
        ParameterError: if a sum of products would not fit into 64 bits.
    """
    c = np.asarray(rows)
    if c.ndim != 2 or c.size == 0 or c.dtype.kind not in "iu":
        raise ParameterError("rows", "gram_matrix", "a matrix of whole numbers", describe_array(c))
    largest = max(abs(int(c.min())), abs(int(c.max())))
    if largest**2 * len(c) >= MAX_SUM:
        raise ParameterError("rows", "gram_matrix", "smaller: their products pass 2**62", describe_array(c))
    if largest**2 * len(c) < 2**53:  # sums of products are whole numbers that doubles hold exactly
        real = c.astype(np.float64)
        return (real.T @ real).astype(np.int64)
    whole = c.astype(np.int64)
    return whole.T @ whole


def require_chain_conditions(gram: Matrix) -> None:
    """Refuse a matrix for which returning to a node could move the result further than going to a new one.

    For a < b <= c < d, G(a, c) - G(a, d) - G(b, c) + G(b, d) <= 0 and G(a, c) <= G(b, c) must hold. Both follow from the same
    for neighbouring ticks, which is what is checked.

    Raises:
        GuaranteeError: if a condition fails.
    """
    g = _read_gram(gram, "require_chain_conditions")
    mixed = g[:-1, :-1] - g[:-1, 1:] - g[1:, :-1] + g[1:, 1:]
    rising = g[1:, :] - g[:-1, :]
    later = np.triu_indices(len(g) - 1, 1)
    if len(g) > 1 and ((mixed[later] > 0).any() or (np.triu(rising, 1) < 0).any()):
        raise GuaranteeError(
            "These coefficients do not fulfil the conditions under which the chain formula bounds paths that return to a place. "
            "Use coefficients that fall, and fall more slowly from step to step."
        )


def path_l2_squared(gram: Matrix, moves: int, *, may_leave: bool = True) -> int:
    """The squared l2 sensitivity of the measured series for one person's path, by the chain formula.

    The largest sum over t_0 < t_1 < ... of G(t_i, t_i) + G(t_i+1, t_i+1) - 2 G(t_i, t_i+1), and of G(t, t) for the last stay,
    with at most so many moves.

    Args:
        gram: G = C'C in whole numbers.
        moves: how many moves a path has after its entry, at most; leaving and coming back count.
        may_leave: whether a path may end, in addition, by one last exit that is not counted as a move.

    Raises:
        GuaranteeError: if the conditions of the formula fail.
        ParameterError: if an argument is not of this kind.

    Example:
        >>> import numpy as np
        >>> path_l2_squared(gram_of_coefficients(np.ones(144, dtype=np.int64)), 2)  # stocks: whoever stays is in all of them
        144
        >>> path_l2_squared(gram_of_coefficients(np.array([1] + [0] * 143)), 2, may_leave=False)  # changes: 2 k + 1
        5
    """
    g = _read_gram(gram, "path_l2_squared")
    count = exact_integer(moves, "moves", "path_l2_squared", _MOVES, smallest=0, largest=MAX_MOVES)
    read_flag(may_leave, "may_leave", "path_l2_squared")
    require_chain_conditions(g)
    size = np.diag(g)
    stays = size[:, None] + size[None, :] - 2 * g
    return _longest_chain(stays, size, count, may_leave)


def path_l1(rows: Matrix, moves: int, *, may_leave: bool = True) -> int:
    """The l1 sensitivity of the measured series for one person's path.

    The norm of a sum is at most the sum of the norms, so that returning to a node needs no condition.

    Args:
        rows: C in whole numbers, a row for each measured number.
        moves: how many moves a path has after its entry, at most.
        may_leave: whether a path may end by one last exit that is not counted as a move.

    Raises:
        ParameterError: if an argument is not of this kind.
    """
    c = np.asarray(rows)
    if c.ndim != 2 or c.size == 0 or c.dtype.kind not in "iu":
        raise ParameterError("rows", "path_l1", "a matrix of whole numbers", describe_array(c))
    count = exact_integer(moves, "moves", "path_l1", _MOVES, smallest=0, largest=MAX_MOVES)
    read_flag(may_leave, "may_leave", "path_l1")
    whole = c.astype(np.int64)
    stays = np.stack([np.abs(whole - whole[:, [tick]]).sum(axis=0) for tick in range(whole.shape[1])])
    return _longest_chain(stays, np.abs(whole).sum(axis=0), count, may_leave)


def path_l1_of_coefficients(coefficients: NDArray[np.int64], moves: int, *, may_leave: bool = True) -> int:
    """`path_l1` of the lower triangular Toeplitz matrix with these coefficients in its first column, in O((moves + 1) n**2).

    A stay from tick a to tick b = a + d adds the sum of |c_m| for m below d, and of |c_(m + d) - c_m| for m from 0 to n - 1 - b,
    so that one running sum gives all stays of a length.

    Args:
        coefficients: whole numbers c_0, ..., c_(n - 1).
        moves: how many moves a path has after its entry, at most.
        may_leave: whether a path may end by one last exit that is not counted as a move.

    Raises:
        ParameterError: if an argument is not of this kind.

    Example:
        >>> import numpy as np
        >>> path_l1_of_coefficients(np.array([1] + [0] * 143), 2, may_leave=False)  # changes: 2 k + 1
        5
    """
    function = "path_l1_of_coefficients"
    c = np.asarray(coefficients)
    if c.ndim != 1 or c.size == 0 or c.dtype.kind not in "iu":
        raise ParameterError("coefficients", function, "whole numbers in one dimension", describe_array(c))
    if sum(abs(int(value)) for value in c) >= MAX_SUM:
        raise ParameterError("coefficients", function, "smaller: their sum passes 2**62", describe_array(c))
    count = exact_integer(moves, "moves", function, _MOVES, smallest=0, largest=MAX_MOVES)
    read_flag(may_leave, "may_leave", function)
    c = c.astype(np.int64)
    n, sizes = c.size, np.cumsum(np.abs(c))
    stays = np.zeros((n, n), dtype=np.int64)
    for length in range(1, n):
        rows = np.arange(n - length)
        stays[rows, rows + length] = sizes[length - 1] + np.cumsum(np.abs(c[length:] - c[:-length]))[::-1]
    return _longest_chain(stays, sizes[::-1], count, may_leave)


def _longest_chain(stays: Matrix, last: NDArray[np.int64], moves: int, may_leave: bool) -> int:
    """The largest sum of stays from tick to tick and a last one, by the ticks at which a path may change.

    Args:
        stays: what a stay from one tick (row) to a later one (column) adds.
        last: what a stay from a tick to the end adds.
        moves: how many changes there are after the entry, at most.
        may_leave: whether the last stay may end.
    """
    if int(max(stays.max(), last.max())) * (moves + 2) >= MAX_SUM:
        raise ParameterError(
            "moves", "path sensitivity", "smaller, or with smaller coefficients: sums pass 2**62", moves
        )
    ticks = len(last)
    later = np.where(np.triu(np.ones((ticks, ticks), dtype=np.bool_), 1), stays, -MAX_SUM)
    best = last.copy()
    if may_leave:
        best = np.maximum(best, later.max(axis=1))
    longest = int(best.max())
    for _ in range(min(moves, ticks - 1)):
        best = np.maximum((later + best[None, :]).max(axis=1), best)
        longest = max(longest, int(best.max()))
    return longest


def _read_gram(gram: object, function: str) -> Matrix:
    g = np.asarray(gram)
    if g.ndim != 2 or g.shape[0] != g.shape[1] or g.size == 0 or g.dtype.kind not in "iu" or not np.array_equal(g, g.T):
        raise ParameterError("gram", function, "a symmetric matrix of whole numbers", describe_array(g))
    return g.astype(np.int64)
