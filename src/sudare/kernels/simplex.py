"""The level theta at which max(z - theta, 0) adds up to a wanted sum, in linear time without sorting.

Michelot's idea: take the theta for which a set of candidates would all stay positive, drop those that are not above
it, and repeat. Each round keeps a subset, theta only rises, and the last theta is the answer. The first candidates
are the values above a guess from a sample: if they add up to at least the wanted sum above the guess, the guess is
below theta and nothing else matters.
"""

from __future__ import annotations

from typing import Any

from sudare.kernels.compiling import called, kernel

__all__ = ["threshold_for_sum", "write_above"]

SAMPLE_EVERY = 64
SMALLEST_SAMPLED = 1 << 16


@called
def descend(candidates: Any, kept: Any, wanted: float) -> Any:
    """Michelot's rounds on the first ``kept`` candidates, which are moved to the front as they survive."""
    total = 0.0
    for i in range(kept):
        total += candidates[i]
    theta = (total - wanted) / kept
    while True:
        left = 0
        total = 0.0
        for i in range(kept):
            if candidates[i] > theta:
                candidates[left] = candidates[i]
                total += candidates[i]
                left += 1
        if left in (kept, 0):
            return theta
        kept = left
        theta = (total - wanted) / kept


@kernel("float64(float64[::1], float64, float64[::1])", read_only=(0,))
def threshold_for_sum(values: Any, wanted: float, room: Any) -> Any:
    """Theta with sum(max(values - theta, 0)) = wanted, for wanted > 0; not a number if a value is not finite.

    ``room`` is as long as the values; only as much of it is written as there are candidates.
    """
    n = values.size
    if n >= SMALLEST_SAMPLED:
        sampled = 0
        for i in range(0, n, SAMPLE_EVERY):
            room[sampled] = values[i]
            sampled += 1
        guess = descend(room, sampled, wanted * sampled / n)
        while True:
            kept = 0
            above = 0.0
            infinite = 0.0
            for i in range(n):
                value = values[i]
                infinite += value - value  # 0, or not a number
                if value > guess:
                    room[kept] = value
                    above += value - guess
                    kept += 1
            if infinite != 0.0:
                return infinite
            if above >= wanted:
                return descend(room, kept, wanted)
            if kept == 0:
                break
            # What is above a level is convex in it: the tangent at a level that is too high leads to one that is not.
            guess -= (wanted - above) / kept * (1 + 1e-9) + 1e-12 * abs(guess)
    infinite = 0.0
    for i in range(n):
        infinite += values[i] - values[i]
        room[i] = values[i]
    return descend(room, n, wanted) if infinite == 0.0 else infinite


@kernel("void(float64[::1], float64, float64[::1])", read_only=(0,))
def write_above(values: Any, theta: float, out: Any) -> None:
    """max(values - theta, 0), value by value."""
    for i in range(values.size):
        out[i] = max(values[i] - theta, 0.0)
