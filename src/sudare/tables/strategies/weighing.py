"""The best weights of a strategy for a workload: found by descent on closed-form variances, without a look at any count.

What is made small is the mean, over all parts of the workload, of the logarithm of the error relative to that of measuring this
part alone, and with it the largest of these ratios. For Laplace noise a grouping's variance falls with the square of its weight,
for Gaussian noise with its weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sudare.tables.strategies.variances import strategy_variances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["best_weights", "ratios_of"]

STARTS = 3
"""With Laplace noise there are several valleys; the descent begins at equal weights and at a few others."""

GOLDEN = 2.399963
STEPS = 100
FIRST_STEP = 0.25
DIFFERENCE = 1e-4
SHARPNESS = 16.0
"""How much more the worst parts of a workload count than the others."""

NEGLIGIBLE = 0.004
"""Groupings with a smaller share of the budget are not measured."""


MIN_CELLS = 0.02
"""The least share of the cells."""


def best_weights(
    bits: Sequence[int],
    lengths: Sequence[int],
    alone: Values,
    heights: Sequence[int],
    rivals: Values,
    parts: Values,
    *,
    is_laplace: bool,
    fixed_total: bool = False,
    fans: Sequence[float] | None = None,
    worst: float = 1.0,
) -> tuple[Values, Values]:
    """Weights of all groupings, and the ratios of errors that they lead to.

    Args:
        bits: how many halvings of the map make up each level.
        lengths: of the attributes.
        alone: for each level and margin, the variance of its noise if it had the whole budget.
        heights: halvings below the areas of the workload.
        rivals: for each height and margin, the variance if it alone is measured.
        parts: for each height and margin, how much it matters; 0 if it does not.
        is_laplace: the shape of the noise, else Gaussian.
        fixed_total: whether the total is public.
        fans: of a hierarchy, how many children nodes of each level have.
        worst: how much the largest ratio counts beside their mean.

    Returns:
        For each level and margin its share of the budget, and for each height and margin the ratio of errors.
    """
    shape = alone.shape

    def losses(candidates: Values) -> Values:
        shares = np.exp(candidates - candidates.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        candidates = shares.reshape(-1, *shape)
        ratios = ratios_of(bits, lengths, alone, heights, rivals, candidates, is_laplace, fixed_total, fans)
        return _loss(ratios, parts, worst)

    places = np.arange(1, alone.size + 1)
    starts = [np.zeros(alone.size), *(np.cos(GOLDEN * turn * places) for turn in range(1, STARTS))]
    _, best = min((_descended(start, losses) for start in starts), key=lambda found: found[0])
    shares = np.exp(best)
    shares = np.where(shares < NEGLIGIBLE * shares.sum(), 0.0, shares).reshape(shape)
    if fixed_total:
        shares[0, 0] = 0.0
    shares /= shares.sum()
    # Without the cells themselves nothing would tell what fewer attributes, or larger areas, do not.
    shares[-1, -1] = max(shares[-1, -1], MIN_CELLS)
    shares /= shares.sum()
    return shares, ratios_of(bits, lengths, alone, heights, rivals, shares[None], is_laplace, fixed_total, fans)[0]


def _descended(logs: Values, losses: Callable[[Values], Values]) -> tuple[float, Values]:
    """The least loss on the way down from some weights, and the weights that have it."""
    best, least = logs, np.inf
    first, second = np.zeros(logs.size), np.zeros(logs.size)
    nudges = np.concatenate([np.zeros((1, logs.size)), DIFFERENCE * np.eye(logs.size)])
    for step in range(1, STEPS + 1):
        values = losses(logs + nudges)
        if values[0] < least:
            best, least = logs, float(values[0])
        slope = (values[1:] - values[0]) / DIFFERENCE
        first, second = 0.8 * first + 0.2 * slope, 0.98 * second + 0.02 * slope**2
        pace = FIRST_STEP * (1 - step / (STEPS + 1))
        logs = logs - pace * (first / (1 - 0.8**step)) / (np.sqrt(second / (1 - 0.98**step)) + 1e-9)
        logs = np.maximum(logs - logs.max(), -9.0)
    return least, best


def ratios_of(
    bits: Sequence[int],
    lengths: Sequence[int],
    alone: Values,
    heights: Sequence[int],
    rivals: Values,
    shares: Values,
    is_laplace: bool,
    fixed_total: bool = False,
    fans: Sequence[float] | None = None,
) -> Values:
    """Ratios of errors to the rivals', for each of several candidates, height and margin."""
    precisions = shares ** (2 if is_laplace else 1) / alone
    if fixed_total:
        precisions = precisions.copy()
        precisions[:, 0, 0] = 1e12
    variances = strategy_variances(bits, lengths, np.moveaxis(precisions, 0, -1), heights, fans)
    return np.asarray(np.moveaxis(np.sqrt(variances / rivals[..., None]), -1, 0))


def _loss(ratios: Values, parts: Values, worst: float) -> Values:
    """The mean logarithm of the ratios, and a smooth largest one, for each candidate."""
    logs = np.log(np.maximum(ratios, 1e-12))
    weights = parts / parts.sum()
    mean = (logs * weights).sum(axis=(1, 2))
    return np.asarray(mean + worst * np.log((np.exp(SHARPNESS * logs) * weights).sum(axis=(1, 2))) / SHARPNESS)
