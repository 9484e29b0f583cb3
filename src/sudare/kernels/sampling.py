"""Integers from uniform 64-bit words.

Two kernels fill an array from a buffer of words. Both stop at the first word that 64 bits cannot decide and say so; the
caller settles that draw with more bits (`sudare.noise.exact`) and calls again. By inversion from p thresholds this
happens about once in 2**63/p draws, by rejection once in 2**29 or fewer, so the way out costs nothing.

**Inversion** (`fill_by_inversion`). ``thresholds[j]`` is a lower bound, at most two words off, of 2**64 times the j-th
point of a cumulative distribution. A word above ``thresholds[j] + 1`` is certainly past the point, a word below
``thresholds[j]`` certainly before it; the two words between are undecided. The words are cut into equal cells by their
leading bits. A cell is one number: the leading 48 bits of the one word to compare with, and how many thresholds lie below
the cell (plus `COUNT_FROM`). Most cells meet at most one threshold, and one comparison settles all words that are not next to it;
the others have the count `SEARCH`, and are searched from ``search_from[cell]`` to ``search_from[cell + 1]``.

**Rejection from a staircase** (`fill_by_rejection`). For distributions too wide for a table: the first word picks a
step of 2**step_bits values under a staircase that covers exp(-energy), the second gives sign, place within the step
and a uniform fraction that is compared with exp(-(energy at the place - energy at the step's start)).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import called, kernel
from sudare.kernels.exponentials import exp_minus

__all__ = ["COUNT_BITS", "COUNT_FROM", "SEARCH", "fill_by_inversion", "fill_by_rejection", "try_by_rejection"]

COUNT_BITS = 16
"""Bits of a cell that count thresholds. One number a cell is read faster than two, and half as many bytes stay in the cache."""

SEARCH, COUNT_FROM = 0, 3
"""The count of a cell that meets several thresholds, and what is added to other counts, of which the lowest is -1: one question,
whether anything is below 2, then tells both these cells and words next to a threshold from all others."""

UNDECIDED = -1
MARGIN = 2.0**-40
"""Half-width of the band around exp(-x) in which double precision does not decide; ``noise/staircase.md`` proves 2**-43."""


@called
def search(word: Any, cell: Any, search_from: Any, thresholds: Any) -> Any:
    """How many thresholds lie at or below the uniform number that starts with this word, or `UNDECIDED`.

    For the words that one comparison does not settle; the kernels make that comparison themselves, because handing
    arrays to a function costs more than all the rest of a draw.
    """
    low, high = np.int64(search_from[cell]), np.int64(search_from[cell + np.uint64(1)])
    while low < high:
        middle = (low + high) >> 1
        if thresholds[middle] < word:
            low = middle + 1
        else:
            high = middle
    if low > 0 and word - thresholds[low - 1] <= np.uint64(1):
        return np.int64(UNDECIDED)
    if low < thresholds.size and thresholds[low] == word:
        return np.int64(UNDECIDED)
    return low


@kernel(
    "Tuple((int64, int64, boolean))"
    "(uint64[::1], int64, int64[::1], int64, int64, uint64, uint64[::1], int32[::1], uint64[::1])"
)
def fill_by_inversion(
    words: Any,
    next_word: int,
    out: Any,
    next_out: int,
    lowest: int,
    shift: Any,
    cells: Any,
    search_from: Any,
    thresholds: Any,
) -> tuple[int, int, bool]:
    """Fill ``out`` from ``next_out``, a word a draw, until either array ends or a word is undecided.

    Returns:
        The next word to read, the next place to fill, and whether the word there is undecided.
    """
    given, wanted = words[next_word:], out[next_out:]
    count: Any = min(given.size, wanted.size)
    by, count_mask = np.uint64(COUNT_BITS), np.uint64((1 << COUNT_BITS) - 1)
    for i in range(np.uint64(count)):  # unsigned: a signed place might count from the end, and asking takes time
        word = given[i]
        packed = cells[word >> shift]
        leading, threshold, below = word >> by, packed >> by, packed & count_mask
        if min(leading - threshold, below) <= np.uint64(1):
            index = search(word, word >> shift, search_from, thresholds)
            if index == UNDECIDED:
                count = np.int64(i)
                return next_word + count, next_out + count, True
            wanted[i] = lowest + index
        else:
            wanted[i] = lowest - COUNT_FROM + np.int64(below) + np.int64(leading > threshold)
    return next_word + count, next_out + count, False


@kernel(
    "Tuple((int64, int64, boolean))"
    "(uint64[::1], int64, int64[::1], int64, int64, float64, float64, boolean, uint64[::1],"
    " uint64, uint64[::1], int32[::1], uint64[::1])"
)
def fill_by_rejection(
    words: Any,
    next_word: int,
    out: Any,
    next_out: int,
    step_bits: int,
    linear: float,
    quadratic: float,
    two_sided: bool,
    sure_below: Any,
    shift: Any,
    cells: Any,
    search_from: Any,
    thresholds: Any,
) -> tuple[int, int, bool]:
    """Fill ``out`` from ``next_out``, two words a trial, until either array ends or a trial is undecided.

    The energy of the value y >= 0 is ``linear * y + quadratic * y**2``. A fraction (in units of
    2**-(63 - step_bits)) below ``sure_below[step]`` is accepted wherever in the step the place is.

    Returns:
        The next word to read, the next place to fill, and whether the trial there is undecided.
    """
    fraction_bits = np.uint64(63 - step_bits)
    fraction_mask = (np.uint64(1) << fraction_bits) - np.uint64(1)
    place_mask = (np.uint64(1) << np.uint64(step_bits)) - np.uint64(1)
    unit = 2.0 ** (63 - step_bits)
    two_sides = np.int64(two_sided)
    by, count_mask = np.uint64(COUNT_BITS), np.uint64((1 << COUNT_BITS) - 1)
    while next_word + 1 < words.size and next_out < out.size:
        word = words[next_word]
        packed = cells[word >> shift]
        leading, threshold, below = word >> by, packed >> by, packed & count_mask
        if min(leading - threshold, below) <= np.uint64(1):
            step = search(word, word >> shift, search_from, thresholds)
            if step == UNDECIDED:
                return next_word, next_out, True
        else:
            step = np.int64(below) - COUNT_FROM + np.int64(leading > threshold)
        second = words[next_word + 1]
        fraction = second & fraction_mask
        place = np.int64((second >> fraction_bits) & place_mask)
        start = step << step_bits
        if fraction >= sure_below[step]:
            rise = place * (linear + quadratic * (2.0 * start + place))
            chance = exp_minus(rise)
            if fraction >= (chance + MARGIN) * unit:
                next_word += 2
                continue
            if fraction >= (chance - MARGIN) * unit - 1.0:
                return next_word, next_out, True
        value = start + place
        negative = np.int64(second >> np.uint64(63)) & two_sides
        next_word += 2
        if (value | (1 - negative)) == 0:
            continue
        out[next_out] = (value ^ -negative) + negative
        next_out += 1
    return next_word, next_out, False


@kernel(
    "void(uint64[:, ::1], int64[::1], boolean[::1], boolean[::1], int64, float64, float64, boolean, uint64[::1],"
    " uint64, uint64[::1], int32[::1], uint64[::1])"
)
def try_by_rejection(
    words: Any,
    out: Any,
    accepted: Any,
    undecided: Any,
    step_bits: int,
    linear: float,
    quadratic: float,
    two_sided: bool,
    sure_below: Any,
    shift: Any,
    cells: Any,
    search_from: Any,
    thresholds: Any,
) -> None:
    """One trial of `fill_by_rejection` from the two words of each row, which keeps its place in ``out``."""
    for row in range(len(words)):
        _, filled, stopped = fill_by_rejection(
            words[row],
            0,
            out[row : row + 1],
            0,
            step_bits,
            linear,
            quadratic,
            two_sided,
            sure_below,
            shift,
            cells,
            search_from,
            thresholds,
        )
        accepted[row], undecided[row] = filled == 1, stopped
