"""The level theta at which max(z - theta, 0) adds up to a wanted sum, in linear time without sorting.

Michelot's idea: take the theta for which a set of candidates would all stay positive, drop those that are not above
it, and repeat. Each round keeps a subset, theta only rises, and the last theta is the answer. The first candidates
are the values above a guess from a sample: if they add up to at least the wanted sum above the guess, the guess is
below theta and nothing else matters.

Candidates are gathered without a branch: every value is written at the next free place, which moves on only if the
value counts. A branch would be guessed wrong for many of them, because nearly all values are noise.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from sudare.kernels.compiling import called, kernel

__all__ = ["threshold_for_sum", "write_above"]

SAMPLE_EVERY = 64
MIN_SAMPLED = 1 << 16
SPREADS = 2.0
"""By how many standard deviations of the sampled sum the guess is lowered: too high a guess costs another pass."""


@called
def sum_of_first(values: Any, count: Any) -> Any:
    """Their sum in four parts, because an addition that waits for the one before takes four times as long."""
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    rest = count % 4
    for i in range(rest, count, 4):
        one += values[i]
        two += values[i + 1]
        three += values[i + 2]
        four += values[i + 3]
    for i in range(rest):
        one += values[i]
    return (one + two) + (three + four)


@called
def descend(candidates: Any, kept: Any, wanted: float) -> Any:
    """Michelot's rounds on the first ``kept`` candidates, which are moved to the front as they survive."""
    theta = (sum_of_first(candidates, kept) - wanted) / kept
    while True:
        left = 0
        for i in range(kept):
            value = candidates[i]
            candidates[left] = value
            left += value > theta
        if left in (kept, 0):
            return theta
        kept = left
        theta = (sum_of_first(candidates, kept) - wanted) / kept


@called
def guess_by_sample(values: Any, wanted: float, room: Any) -> Any:
    """A level that is most likely a little below theta."""
    sampled = 0
    for i in range(0, values.size, SAMPLE_EVERY):
        room[sampled] = values[i]
        sampled += 1
    guess = descend(room, sampled, wanted * sampled / values.size)
    above = 0
    squares = 0.0
    for i in range(0, values.size, SAMPLE_EVERY):
        height = max(values[i] - guess, 0.0)
        above += height > 0.0
        squares += height * height
    # One step along the tangent raises the sampled sum by this many of its standard deviations.
    return guess - SPREADS * sqrt(squares) / max(above, 1)


@kernel("float64(float64[::1], float64, float64[::1])", read_only=(0,))
def threshold_for_sum(values: Any, wanted: float, room: Any) -> Any:
    """Theta with sum(max(values - theta, 0)) = wanted, for finite values and wanted > 0.

    ``room`` is as long as the values; only as much of it is written as there are candidates. If a value is not finite
    the result means nothing; `write_above` tells.
    """
    n = values.size
    if n >= MIN_SAMPLED:
        guess = guess_by_sample(values, wanted, room)
        while True:
            kept = 0
            for i in range(n):
                value = values[i]
                room[kept] = value
                kept += value > guess
            if kept == 0:
                break
            above = sum_of_first(room, kept) - kept * guess
            if above >= wanted:
                return descend(room, kept, wanted)
            # What is above a level is convex in it: the tangent at a level that is too high leads to one that is not.
            guess -= (wanted - above) / kept * (1 + 1e-9) + 1e-12 * abs(guess)
    for i in range(n):
        room[i] = values[i]
    return descend(room, n, wanted)


@kernel("boolean(float64[::1], float64, float64, float64[::1])", read_only=(0,))
def write_above(values: Any, theta: float, factor: float, out: Any) -> Any:
    """max(values - theta, 0) * factor, value by value; tells whether all values were finite."""
    odd = 0
    for i in range(values.size):
        value = values[i]
        odd += value - value != 0.0
        out[i] = max(value - theta, 0.0) * factor
    return odd == 0
