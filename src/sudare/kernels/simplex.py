"""The level theta at which max(z - theta, 0) adds up to a wanted sum, in linear time without sorting.

Michelot's idea: start from all values, take the theta for which they would all stay positive, drop those that are not
above it, and repeat. Each round keeps a subset, theta only rises, and the last theta is the answer. Most values drop
out in the first rounds; the survivors are moved to the front, so that a round costs what is left.
"""

from __future__ import annotations

from typing import Any

from sudare.kernels.compiling import kernel

__all__ = ["threshold_for_sum"]


@kernel("float64(float64[::1], float64, float64[::1])", read_only=(0,))
def threshold_for_sum(values: Any, wanted: float, survivors: Any) -> float:
    """Theta with sum(max(values - theta, 0)) = wanted, for wanted > 0.

    ``survivors`` is room for as many values; only as much of it is written as survives the first cut.
    """
    n = values.size
    largest = values[0]
    for i in range(n):
        largest = max(largest, values[i])
    # No value at or below (largest - wanted) can stay positive: cut there first.
    cut = largest - wanted
    kept = 0
    total = 0.0
    for i in range(n):
        if values[i] > cut:
            survivors[kept] = values[i]
            total += values[i]
            kept += 1
    theta = (total - wanted) / kept
    while True:
        left = 0
        total = 0.0
        for i in range(kept):
            if survivors[i] > theta:
                survivors[left] = survivors[i]
                total += survivors[i]
                left += 1
        if left == kept or left == 0:
            return theta
        kept = left
        theta = (total - wanted) / kept
