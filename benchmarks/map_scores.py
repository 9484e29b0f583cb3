"""Scores of maps of 512 x 512 cells against the papers' best, and whether any size is worse.

Scores are geometric means of RMSE relative to NN-Wavelet under rho with the papers' simple conversion at delta = 1e-6, minus 1;
ours has delta = 0 and one automatic plan. A map of 512 x 512 cells has few areas of side 128 and more, so that many runs would
say little of them: there, exact variances are compared, and the noise of the upper levels alone is drawn thousands of times
to confirm them.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sudare
from benchmarks.data import window_500m
from sudare.evaluate import error_by_area, error_of_rectangles, random_rectangles
from sudare.tables.planning.prediction import combined_noise, haar_variances, wide_tree_variances

__all__ = ["SIDES", "TARGETS", "run"]

REPEATS = 120
RECTANGLE_REPEATS = 30
UPPER_REPEATS = 4000
DELTA = 1e-6
SIDE = 512
DEPTH = 18
SIDES = [1 << bits for bits in range(9)]
SCORED_SIDES = 7
UPPER_SIDES = (128, 256, 512)
RECTANGLES = [random_rectangles((SIDE, SIDE), 4000, *sides, seed=7) for sides in ((2, 15), (16, 63), (64, 256))]
MAPS = {"tokyo": (8307, 6063), "hokkaido": (10160, 6592)}
EPSILONS = {"1": 1.0, "01": 0.1}

TARGETS = {
    "score_tokyo_1": "at most -0.48 (512 x 512 cells of 500 m, epsilon = 1)",
    "score_tokyo_01": "at most -0.46 (epsilon = 0.1)",
    "score_hokkaido_1": "at most -0.46",
    "score_hokkaido_01": "at most -0.45",
    "worst_side": "at most 0 (largest excess over the papers' best: sides 1 ... 64 measured, 128 ... 512 by exact variances)",
    "upper_excess": "at most 0.03 (sides 128, 256 and the total by 4,000 draws of the upper levels' noise; 1 % of chance each)",
}


def run() -> dict[str, float]:
    """All numbers of this benchmark."""
    numbers: dict[str, float] = {}
    excess, drawn = [], []
    for label, epsilon in EPSILONS.items():
        exact, confirmed = _upper_sides(epsilon)
        for side, ratio in zip(UPPER_SIDES, exact, strict=True):
            numbers[f"side_{side}_{label}"] = ratio - 1
        excess.append(max(exact) - 1)
        drawn.append(max(confirmed) - 1)
        for name, corner in MAPS.items():
            ratios = _ratios(window_500m(*corner, SIDE), epsilon)
            scored = np.concatenate([ratios[:SCORED_SIDES], ratios[len(SIDES) :]])
            numbers[f"score_{name}_{label}"] = float(np.exp(np.log(scored).mean())) - 1
            excess.append(float(ratios[:SCORED_SIDES].max()) - 1)
            for side, ratio in zip(SIDES, ratios, strict=False):
                numbers[f"side_{side}_{name}_{label}"] = float(ratio) - 1
    return {**numbers, "worst_side": max(excess), "upper_excess": max(drawn)}


def _ratios(true: sudare.CountTable, epsilon: float) -> NDArray[np.float64]:
    papers = _mean_squares(true, lambda: _papers_best(true, epsilon))
    ours = _mean_squares(true, lambda: sudare.publish(true, sudare.Budget(epsilon=epsilon)))
    return np.asarray(np.sqrt(ours / papers))


def _papers_best(true: Any, epsilon: float) -> sudare.Published:
    budget = sudare.Budget(epsilon=epsilon, delta=DELTA)
    return sudare.tables.nn_wavelet(true, budget, noise="gaussian", conversion="simple")


def _mean_squares(true: sudare.CountTable, publish: Any) -> NDArray[np.float64]:
    """Squared errors by side and by class of rectangles, averaged over runs."""
    by_side, by_class = np.zeros(len(SIDES)), np.zeros(len(RECTANGLES))
    for turn in range(REPEATS):
        published = publish()
        by_side += [area.rmse**2 for area in error_by_area(true, published, SIDES)]
        if turn < RECTANGLE_REPEATS:
            by_class += [error_of_rectangles(true, published, some).rmse ** 2 for some in RECTANGLES]
    return np.concatenate([by_side / REPEATS, by_class / RECTANGLE_REPEATS])


def _upper_sides(epsilon: float) -> tuple[list[float], list[float]]:
    """Ratios of our error to the papers' for large areas: by exact variances, and by drawing the noise of the upper levels."""
    plan = sudare.plan_table(sudare.Domain.of_shape((SIDE, SIDE)), sudare.Budget(epsilon=epsilon))
    noise, bits = [level.deviation**2 for level in plan.levels], plan.settings["bits"]
    heights = [2 * (side.bit_length() - 1) for side in UPPER_SIDES]
    rho = (sqrt(log(1 / DELTA) + epsilon) - sqrt(log(1 / DELTA))) ** 2
    papers = haar_variances(DEPTH, (DEPTH + 1) / (2 * rho), heights)
    exact = wide_tree_variances(bits, noise, heights, combined=True)
    drawn = [_drawn_variance(bits, noise, side) for side in UPPER_SIDES]

    def ratios(variances: list[float]) -> list[float]:
        return [sqrt(mine / best) for mine, best in zip(variances, papers, strict=True)]

    return ratios(exact), ratios(drawn)


def _drawn_variance(bits: tuple[int, ...], noise: list[float], side: int) -> float:
    """The mean squared error of areas of a side, from Laplace noise on the levels above and normal noise from those below."""
    generator = np.random.default_rng(side)
    levels = next(level for level in range(1, len(bits) + 1) if DEPTH - sum(bits[:level]) <= 12)
    below = combined_noise(bits, noise)
    estimates = []
    for level in range(levels + 1):
        nodes = 1 << sum(bits[:level])
        estimates.append(generator.laplace(0, sqrt(noise[level] / 2), (UPPER_REPEATS, nodes)))
    told = 2.0 ** bits[levels] * below[levels + 1] if levels < len(bits) else np.inf
    share = told / (told + noise[levels])
    estimates[levels] = share * estimates[levels] + (1 - share) * generator.normal(
        0, sqrt(told), estimates[levels].shape
    )
    for level in range(levels - 1, -1, -1):
        fan = 1 << bits[level]
        sums, spread = estimates[level + 1].reshape(UPPER_REPEATS, -1, fan).sum(axis=2), fan * below[level + 1]
        share = spread / (spread + noise[level])
        estimates[level] = share * estimates[level] + (1 - share) * sums
    final = estimates[0]
    for level in range(1, levels + 1):
        children = estimates[level].reshape(UPPER_REPEATS, final.shape[1], -1)
        gap = (final - children.sum(axis=2))[:, :, None] / children.shape[2]
        final = (children + gap).reshape(UPPER_REPEATS, -1)
    members = final.shape[1] >> 2 * (SIDE // side).bit_length() - 2
    return float((final.reshape(UPPER_REPEATS, -1, members).sum(axis=2) ** 2).mean())
