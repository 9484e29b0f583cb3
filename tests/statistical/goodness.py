"""Chi-square tests with exact quantiles.

Every test here draws from the secure source, so that it is a new sample each time. ``ERROR_PROBABILITY`` is the chance that a
correct sampler fails one test; the suite has fewer than 200, so a false alarm is expected in fewer than one run in five million.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

ERROR_PROBABILITY = 1e-9
MIN_EXPECTED = 100.0


def chi_square_rejects(observed: NDArray[np.float64], probabilities: NDArray[np.float64]) -> bool:
    """Whether counts contradict probabilities. Cells with few expected counts are merged with their neighbours first."""
    total = observed.sum()
    merged_observed, merged_expected = [0.0], [0.0]
    for count, probability in zip(observed, probabilities, strict=True):
        if merged_expected[-1] >= MIN_EXPECTED:
            merged_observed.append(0.0)
            merged_expected.append(0.0)
        merged_observed[-1] += count
        merged_expected[-1] += probability * total
    if merged_expected[-1] < MIN_EXPECTED and len(merged_expected) > 1:
        for merged in (merged_observed, merged_expected):
            rest = merged.pop()
            merged[-1] += rest
    o, e = np.array(merged_observed), np.array(merged_expected)
    if len(e) == 1:
        return False
    statistic = float(((o - e) ** 2 / e).sum())
    return statistic > float(chi2.isf(ERROR_PROBABILITY, len(e) - 1))


def histogram(values: NDArray[np.int64], edges: Sequence[int]) -> NDArray[np.float64]:
    """How many values lie below the first edge, between two edges (the lower one included), and from the last edge on."""
    return np.bincount(np.searchsorted(np.asarray(edges), values, side="right"), minlength=len(edges) + 1).astype(float)
