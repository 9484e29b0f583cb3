"""Integers from uniform 64-bit words.

Two kernels fill an array from a buffer of words. Both stop at the first word that 64 bits cannot decide and say so; the
caller settles that draw with more bits (`sudare.noise.exact`) and calls again. By inversion from p thresholds this
happens about once in 2**63/p draws, by rejection once in 2**29 or fewer, so the way out costs nothing.

**Inversion** (`fill_by_inversion`). ``thresholds[j]`` is a lower bound, at most two words off, of 2**64 times the j-th
point of a cumulative distribution. A word above ``thresholds[j] + 1`` is certainly past the point, a word below
``thresholds[j]`` certainly before it; the two words between are undecided. The words are cut into equal cells by their
leading bits. Most cells meet at most one threshold and are settled by one comparison; the others (`SEARCH`) search
among the ``cell_threshold[cell]`` thresholds from ``search_from[cell]`` on.

**Rejection from a staircase** (`fill_by_rejection`). For distributions too wide for a table: the first word picks a
step of 2**step_bits values under a staircase that covers exp(-energy), the second gives sign, place within the step
and a uniform fraction that is compared with exp(-(energy at the place - energy at the step's start)).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import called, kernel
from sudare.kernels.exponentials import exp_minus

__all__ = ["SEARCH", "fill_by_inversion", "fill_by_rejection"]

SEARCH = -(2**31)
"""Mark of a cell that meets several thresholds."""

UNDECIDED = -1
MARGIN = 2.0**-40
"""Half-width of the band around exp(-x) in which double precision does not decide; ``noise/staircase.md`` proves 2**-43."""


@called
def search(word: Any, cell: Any, cell_index: Any, cell_threshold: Any, search_from: Any, thresholds: Any) -> Any:
    """How many thresholds lie at or below the uniform number that starts with this word, or `UNDECIDED`.

    For the words that one comparison does not settle; the kernels make that comparison themselves, because handing
    arrays to a function costs more than all the rest of a draw.
    """
    if cell_index[cell] != SEARCH:
        return np.int64(UNDECIDED)
    low = np.int64(search_from[cell])
    high = low + np.int64(cell_threshold[cell])
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
    "(uint64[::1], int64, int64[::1], int64, int64, uint64, int32[::1], uint64[::1], int32[::1], uint64[::1])"
)
def fill_by_inversion(
    words: Any,
    next_word: int,
    out: Any,
    next_out: int,
    lowest: int,
    shift: Any,
    cell_index: Any,
    cell_threshold: Any,
    search_from: Any,
    thresholds: Any,
) -> tuple[int, int, bool]:
    """Fill ``out`` from ``next_out``, a word a draw, until either array ends or a word is undecided.

    Returns:
        The next word to read, the next place to fill, and whether the word there is undecided.
    """
    count = min(words.size - next_word, out.size - next_out)
    for i in range(count):
        word = words[next_word + i]
        cell = word >> shift
        index = np.int64(cell_index[cell])
        threshold = cell_threshold[cell]
        if (index == SEARCH) | (word - threshold <= np.uint64(1)):
            index = search(word, cell, cell_index, cell_threshold, search_from, thresholds)
            if index == UNDECIDED:
                return next_word + i, next_out + i, True
            out[next_out + i] = lowest + index
        else:
            out[next_out + i] = lowest + index + np.int64(word > threshold)
    return next_word + count, next_out + count, False


@kernel(
    "Tuple((int64, int64, boolean))"
    "(uint64[::1], int64, int64[::1], int64, int64, float64, float64, boolean, uint64[::1],"
    " uint64, int32[::1], uint64[::1], int32[::1], uint64[::1])"
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
    cell_index: Any,
    cell_threshold: Any,
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
    while next_word + 1 < words.size and next_out < out.size:
        word = words[next_word]
        cell = word >> shift
        step = np.int64(cell_index[cell])
        threshold = cell_threshold[cell]
        if (step == SEARCH) | (word - threshold <= np.uint64(1)):
            step = search(word, cell, cell_index, cell_threshold, search_from, thresholds)
            if step == UNDECIDED:
                return next_word, next_out, True
        else:
            step += np.int64(word > threshold)
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
