"""How much to take away, and what to divide by: every recovery under a total is max(noisy - level, 0) / divisor.

- Projection on the simplex has the divisor 1, the negative l2 penalty 1 - weight: the level follows from the total.
- The Lasso has the level weight / 2, and LM the level 0: the divisor follows from the total.

So they are one family with one free number, and the best of it for negative l2 is the best for the Lasso. It may be chosen on
a public reference, or from how sparse the table is (`least_error_weight`), which is read off the noisy counts: for the level
theta of the projection, what the noise of N empty cells adds above theta, N E max(X - theta, 0), is what the projection
takes away from the K others, theta each. So K is about N E max(X - theta, 0) / theta, and the error of every divisor follows.

Formulas: ``recovery.md`` beside this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain.table import CountTable
from sudare.noise.entropy import EntropySource
from sudare.privacy.measurements import Measurement
from sudare.tables.recovery.descending import Descending
from sudare.tables.recovery.moments import NoiseMoments
from sudare.tables.recovery.revealing import NoisyCells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["CANDIDATES", "ReferenceChoice", "choice_on_reference", "least_error_weight"]

CANDIDATES = (0.0, *(float(f"{weight:.3g}") for weight in np.geomspace(1e-5, 0.6, 96)))
"""Weights of the negative l2 penalty that are compared, in steps of an eighth."""

REPEATS = 5
"""How often noise is simulated on a reference."""


@dataclass(frozen=True)
class ReferenceChoice:
    """The best weight on a reference.

    Attributes:
        weight: of the negative l2 penalty.
        level: what it took away from each noisy count, mean over the simulations.
    """

    weight: float
    level: float


def least_error_weight(noisy: Descending, noise: NoiseMoments, cells: int, total: int, share: float | None) -> float:
    """The weight of the negative l2 penalty with the smallest expected squared error, 0 where none helps.

    Args:
        noisy: at least all noisy counts that projection leaves above 0.
        noise: on every cell.
        cells: how many there are.
        total: of the recovered table, >= 1.
        share: of non-empty cells, where it is public knowledge; else it is estimated.
    """
    level = noisy.level_for(total)
    if level <= 0:
        return 0.0
    non_zeros = cells * noise.excess(level) / level if share is None else share * cells
    non_zeros = min(max(non_zeros, 1.0), float(cells), float(total))
    squares = _sum_of_squares(noisy, noise, cells, level) - non_zeros * noise.variance
    squares = max(squares, total**2 / non_zeros)
    errors = []
    for weight in CANDIDATES:
        theta = noisy.level_for((1 - weight) * total)
        # An inhabited cell is off by (weight * count - theta + noise) / divisor.
        shifts = weight**2 * squares - 2 * weight * theta * total + non_zeros * theta**2
        inhabited = max(shifts, 0.0) + non_zeros * noise.variance
        errors.append((inhabited + cells * noise.squared_excess(theta)) / (1 - weight) ** 2)
    return CANDIDATES[int(np.argmin(errors))]


def _sum_of_squares(noisy: Descending, noise: NoiseMoments, cells: int, level: float) -> float:
    """Of the true counts and their noise, above a level: less what empty cells are expected to add."""
    first = noisy.first_above(level)
    large = noisy.values[first:].astype(np.float64)
    empty = noise.squared_excess(level) + 2 * level * noise.excess(level) + level**2 * noise.tail(level)
    return float((noisy.times[first:] * large**2).sum()) - cells * empty


def choice_on_reference(
    reference: CountTable, measurement: Measurement, source: EntropySource, threads: int, *, max_visited: int
) -> ReferenceChoice:
    """The weight with the smallest mean squared error where the same noise is added to a public table.

    Nothing of the protected table is looked at.
    """
    if not reference.total:
        return ReferenceChoice(0.0, 0.0)
    errors, levels = np.zeros(len(CANDIDATES)), np.zeros(len(CANDIDATES))
    for _ in range(REPEATS):
        drawn = NoisyCells.draw(reference, measurement, source, threads, max_visited=max_visited)
        drawn = drawn.revealed_for(reference.total)
        found = np.array(_errors_by_weight(drawn, reference))
        errors += found[:, 0]
        levels += found[:, 1] / REPEATS
    best = int(np.argmin(errors))
    return ReferenceChoice(CANDIDATES[best], float(levels[best]))


def _errors_by_weight(drawn: NoisyCells, reference: CountTable) -> list[tuple[float, float]]:
    """The squared error, without what no weight changes, and the level of each candidate: from sums over equal noisy counts."""
    noisy = Descending.of(drawn.values)
    places = noisy.places_of(drawn.values[np.searchsorted(drawn.keys, reference.keys)])
    people: Values = np.bincount(places, reference.counts, noisy.values.size).astype(np.float64)
    values = noisy.values.astype(np.float64)
    squares, both, people = (_from_each_on(each) for each in (noisy.times * values**2, people * values, people))
    found = []
    for weight in CANDIDATES:
        divisor = 1 - weight
        theta = noisy.level_for(divisor * reference.total)
        first = noisy.first_above(theta)
        published = squares[first] - 2 * theta * noisy.sums[first] + noisy.counts[first] * theta**2
        found.append((published / divisor**2 - 2 * (both[first] - theta * people[first]) / divisor, theta))
    return found


def _from_each_on(amounts: Values) -> Values:
    """Sums of each amount and all after it; 0 at the end."""
    return np.concatenate([np.cumsum(amounts[::-1])[::-1], np.zeros(1)])
