"""Estimated bins of a histogram turned into whole numbers >= 0, with prefixes as they were estimated or better.

Counts are >= 0 where prefixes never fall. Given the total, the nearest prefixes that never fall are at most as far from the true
ones as the estimated prefixes are, in every single case: the true ones never fall either (``halvings.md``).

Nothing here sees the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Random = NDArray[np.uint64]

__all__ = ["rising_prefixes", "round_bins", "round_prefixes"]

MAX_PREFIX = 2.0**62
BLOCK = 64
"""Bins among which the largest fractional parts are rounded up."""


def rising_prefixes(bins: Values, total: int | None = None) -> Values:
    """The nearest prefix sums that never fall, from 0 on; the last is the total where it is known.

    Example:
        >>> import numpy as np
        >>> rising_prefixes(np.array([3.0, -2.0, 4.0])).tolist()
        [2.0, 2.0, 5.0]
    """
    from sudare.kernels.tables.halvings import rising

    prefixes, out = np.cumsum(bins), np.empty(bins.size)
    rising(prefixes, np.empty(bins.size), np.empty(bins.size, dtype=np.int64), out)
    highest = min(max(float(prefixes[-1]), 0.0), MAX_PREFIX) if total is None else float(total)
    np.clip(out, 0.0, highest, out=out)
    out[-1] = highest
    return out


def round_prefixes(prefixes: Values, word: np.uint64 | int, total: int | None = None) -> Counts:
    """Whole counts whose prefixes differ from the given ones by less than 1, and by nothing on average.

    All prefixes are moved by one random fraction and rounded down.

    Args:
        prefixes: numbers >= 0 that never fall.
        word: 64 random bits.
        total: the last prefix, where it is known.
    """
    shift = int(word) / 2**64
    whole = np.floor(np.minimum(prefixes, MAX_PREFIX) + min(shift, 1 - 2**-53)).astype(np.int64)
    if total is not None:
        whole[-1] = total
        np.minimum(whole, total, out=whole)
    return np.diff(whole, prepend=np.int64(0))


def round_bins(prefixes: Values, measured: Values, words: Random, certain: float, total: int | None = None) -> Counts:
    """Whole counts near to the bins.

    Large counts are rounded towards what was measured, which is whole and errs up and down alike. Small ones would all be
    rounded down where few people live thinly spread, so their sums are kept: blocks of 64 bins are rounded by prefixes, and the
    largest fractions in a block go up. Where the total is known, all counts are treated as small ones are.

    Args:
        prefixes: numbers >= 0 that never fall.
        measured: the noisy counts of the bins.
        words: 64 random bits, and as many for each bin: they decide between equal fractions.
        certain: the count from which on bins are large.
        total: the last prefix, where it is known.
    """
    bins = np.diff(prefixes, prepend=0.0)
    if total is None:
        is_large = bins >= certain
        moved = measured + np.trunc(bins - measured)
        large = np.where(is_large, np.clip(moved, 0.0, MAX_PREFIX), 0.0).astype(np.int64)
        bins = np.where(is_large, 0.0, bins)
        return large + _rounded_in_blocks(bins, np.cumsum(bins), words, None)
    return _rounded_in_blocks(bins, prefixes, words, total)


def _rounded_in_blocks(bins: Values, prefixes: Values, words: Random, total: int | None) -> Counts:
    ends = np.append(np.arange(BLOCK, bins.size, BLOCK), bins.size) - 1
    starts = np.append(0, ends[:-1] + 1)
    whole = np.floor(bins).astype(np.int64)
    missing = round_prefixes(prefixes[ends], words[0], total) - np.add.reduceat(whole, starts)
    block = np.arange(bins.size) // BLOCK
    # The largest fractions of each block first; of equal ones, chance takes the first.
    order = np.lexsort((words[1:], whole - bins, block))
    up = np.clip(missing, 0, ends + 1 - starts)
    whole[order] += np.arange(bins.size) - starts[block] < up[block]
    # Beyond 2**53 there are no fractions any more, and what is missing is more or less than one person a bin.
    for place in np.flatnonzero(missing != up):
        largest = starts[place] + int(np.argmax(whole[starts[place] : ends[place] + 1]))
        whole[largest] = max(whole[largest] + missing[place] - up[place], 0)
    return whole
