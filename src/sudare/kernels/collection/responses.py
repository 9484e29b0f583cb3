"""Randomized answers: one random number for each person decides the report.

Words become numbers below a total as `sudare.noise.uniform` does it: those above ``last_used`` are dropped, of the others the
remainder is taken. Where the total is a power of two nothing is dropped, and the remainder is the word's low bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import inlined, kernel

__all__ = ["count_places", "response_by_row", "uniform_response"]


@inlined
def quotient(number: Any, divisor: Any, reciprocal: Any) -> Any:
    """Of whole numbers, below 2**31 and exact: the product of floats is at most one off, and the remainder shows which way."""
    found = np.int64(np.float64(number) * reciprocal)
    rest = number - found * divisor
    return found - np.int64(rest < 0) + np.int64(rest >= divisor)


@kernel("int64(uint64[::1], uint64, uint64, int64[::1], int64, int64, int64, int64, int64[::1])", read_only=(0, 3))
def uniform_response(
    words: Any, total: int, last_used: int, places: Any, start: int, values: int, kept: int, other: int, out: Any
) -> int:
    """Of ``total`` numbers, the first ``values * min(kept, other)`` name a value each in turn.

    If the true value is the likelier one, all further numbers keep it. If not, they name one of the others in turn.

    Returns:
        How far the words reached: the place from ``start`` on that waits for the next ones.
    """
    least = min(kept, other)
    named = values * least
    by_least = 1.0 / max(least, 1)
    mask = total - np.uint64(1)
    i = start
    if total & mask == 0 and kept >= other:
        # Nothing is dropped and nothing branches.
        for j in range(words.size):
            number = np.int64(words[j] & mask)
            chosen = quotient(number, least, by_least)
            out[start + j] = chosen if number < named else places[start + j]
        return int(start + words.size)
    by_excess = 1.0 / max(other - kept, 1)
    for word in words:
        if word > last_used:
            continue
        number = np.int64(word % total)
        if number < named:
            out[i] = quotient(number, least, by_least)
        elif kept >= other:
            out[i] = places[i]
        else:
            chosen = quotient(number - named, other - kept, by_excess)
            out[i] = chosen if chosen < places[i] else chosen + 1
        i += 1
    return i


@kernel("int64(uint64[::1], uint64, uint64, int64[::1], int64, int64[:, ::1], int64[::1])", read_only=(0, 3, 5))
def response_by_row(
    words: Any, total: int, last_used: int, places: Any, start: int, running_sums: Any, out: Any
) -> int:
    """The first report whose running sum, in the row of the true value, is above the number.

    Returns:
        How far the words reached: the place from ``start`` on that waits for the next ones.
    """
    mask = total - np.uint64(1)
    is_power = total & mask == 0
    reports = running_sums.shape[1]
    i = start
    for word in words:
        if word > last_used:
            continue
        number = np.int64(word & mask) if is_power else np.int64(word % total)
        row = places[i]
        low, length = 0, reports
        while length > 1:
            half = length >> 1
            low += half if running_sums[row, low + half - 1] <= number else 0
            length -= half
        out[i] = low
        i += 1
    return i


@kernel("boolean(int64[::1], int64[::1])", read_only=(0,))
def count_places(places: Any, counts: Any) -> bool:
    """Count each place from 0 on; false, and counts of no use, if a place is outside.

    Neighbours are counted in tables of their own, so that equal ones do not wait for each other.
    """
    values = counts.size
    tables = np.zeros((4, values + 1), dtype=np.int64)
    quarter = places.size >> 2
    limit = np.uint64(values)
    for i in range(quarter):
        for j in range(4):
            tables[j, min(np.uint64(places[4 * i + j]), limit)] += 1
    for i in range(4 * quarter, places.size):
        tables[0, min(np.uint64(places[i]), limit)] += 1
    for value in range(values):
        counts[value] = tables[0, value] + tables[1, value] + tables[2, value] + tables[3, value]
    return bool(tables[:, values].sum() == 0)
