"""MST: the marginals of a spanning tree of columns.

A third of the budget measures every column by itself; values too rare to be told from noise are taken together. A third
chooses the edges of a tree, one after the other: pairs of columns that the columns by themselves explain worst. A third
measures the pairs.

Proof: ``adaptive_margins.md`` beside this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sudare.noise.entropy import EntropySource
from sudare.noise.selection import exponential_mechanism
from sudare.privacy.budget import Budget
from sudare.privacy.measurements import Measurement
from sudare.privacy.unit import Sensitivity, Unit
from sudare.tables.adaptive.graphical_model import GraphicalModel, fit_model
from sudare.tables.adaptive.measured import Evidence, MeasuredPeople
from sudare.tables.adaptive.selecting import l1_scores, scaled_sensitivity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.tables.adaptive.measured import Clique

__all__ = ["Looks", "measure_mst"]

STEPS_BY_THEMSELVES = 300


@dataclass(frozen=True, eq=False)
class Looks:
    """All that a method has seen of the data: nothing but this reaches the model.

    Attributes:
        sizes: how many values each column of the model has.
        evidence: noisy marginals of the model's columns.
        seen: the noisy marginals as they were measured: columns, counts and the variance of the noise.
        measurements: the record, in order.
        merged: for each column, the place in the model of each of its values.
        model: the last one that was fitted on the way, to start from; None if there was none.
    """

    sizes: tuple[int, ...]
    evidence: tuple[Evidence, ...]
    seen: tuple[tuple[Clique, NDArray[np.int64], Fraction], ...]
    measurements: tuple[Measurement, ...]
    merged: tuple[NDArray[np.int64], ...]
    model: GraphicalModel | None


def measure_mst(
    people: MeasuredPeople, rho: Fraction, unit: Unit, sensitivity: Sensitivity, entropy: EntropySource
) -> Looks:
    """Measure columns and a tree of pairs.

    Guarantee: rho, for the unit.

    Proof: ``adaptive_margins.md`` beside this file.

    References:
        McKenna, Miklau, Sheldon: Winning the NIST contest: a scalable and general approach to differentially private
        synthetic data (2021).
    """
    columns = len(people.sizes)
    pairs = columns - 1
    third = rho / 3
    for_columns = (third if pairs else rho) / columns
    seen: list[tuple[Clique, NDArray[np.int64], Fraction]] = []
    measurements: list[Measurement] = []
    evidence: list[Evidence] = []
    merged: list[NDArray[np.int64]] = []
    for column in range(columns):
        noisy, measurement = people.measured((column,), for_columns, sensitivity, entropy)
        seen.append(((column,), noisy, measurement.sigma_squared))
        measurements.append(measurement)
        merged.append(merge_rare(noisy, measurement.sigma_squared))
        evidence.append(merged_evidence((column,), noisy, measurement.sigma_squared, merged[-1]))
    smaller = people.merged(merged)
    if pairs:
        chosen = _choose_tree(smaller, evidence, third / pairs, unit, sensitivity, entropy)
        for clique, measurement_of_choice in chosen:
            measurements.append(measurement_of_choice)
            noisy, measurement = smaller.measured(clique, third / pairs, sensitivity, entropy)
            seen.append((clique, noisy, measurement.sigma_squared))
            measurements.append(measurement)
            variance = np.full(noisy.shape, float(measurement.sigma_squared))
            evidence.append(Evidence(clique, noisy.astype(np.float64), variance))
    return Looks(smaller.sizes, tuple(evidence), tuple(seen), tuple(measurements), tuple(merged), None)


def merge_rare(noisy: NDArray[np.int64], sigma_squared: Fraction) -> NDArray[np.int64]:
    """The new place of each value: those below three standard deviations of the noise share the last one.

    Example:
        >>> import numpy as np
        >>> from fractions import Fraction
        >>> from sudare.tables.adaptive.mst import merge_rare
        >>> merge_rare(np.array([40, 2, 30, -5]), Fraction(100)).tolist()
        [0, 2, 1, 2]
    """
    is_common = np.array([count > 0 and count * count >= 9 * sigma_squared for count in noisy.tolist()], dtype=np.bool_)
    places = np.cumsum(is_common) - 1
    return np.where(is_common, places, int(is_common.sum()))


def merged_evidence(
    clique: Clique, noisy: NDArray[np.int64], sigma_squared: Fraction, places: NDArray[np.int64]
) -> Evidence:
    """A column's noisy counts after values were taken together: sums, with the sums of the variances."""
    size = int(places.max()) + 1
    values = np.bincount(places, weights=noisy.astype(np.float64), minlength=size).astype(np.float64)
    variances = np.bincount(places, minlength=size).astype(np.float64) * float(sigma_squared)
    return Evidence(clique, values, variances)


def _choose_tree(
    people: MeasuredPeople,
    evidence: list[Evidence],
    rho_each: Fraction,
    unit: Unit,
    sensitivity: Sensitivity,
    entropy: EntropySource,
) -> list[tuple[Clique, Measurement]]:
    """Edges between columns that are not connected yet, until all are; each with its record."""
    total = estimated_total(evidence)
    model = fit_model(people.sizes, evidence, total, steps=STEPS_BY_THEMSELVES)
    candidates: list[Clique] = list(combinations(range(len(people.sizes)), 2))
    scores = dict(zip(candidates, l1_scores(people, model, candidates), strict=True))
    part = list(range(len(people.sizes)))
    chosen: list[tuple[Clique, Measurement]] = []
    while len(chosen) < len(people.sizes) - 1:
        open_pairs = [pair for pair in candidates if part[pair[0]] != part[pair[1]]]
        place, event = exponential_mechanism(
            [scores[pair] for pair in open_pairs],
            Budget(rho=rho_each),
            sensitivity=scaled_sensitivity(sensitivity),
            unit=unit,
            entropy=entropy,
        )
        pair = open_pairs[place]
        part = [part[pair[0]] if p == part[pair[1]] else p for p in part]
        chosen.append((pair, event.measurements[0]))
    return chosen


def estimated_total(evidence: list[Evidence]) -> float:
    """How many people there are, by all noisy marginals: their sums, weighed by the noise; at least 1."""
    sums = np.array([item.values.sum() for item in evidence])
    weights = np.array([1.0 / item.variances.sum() for item in evidence])
    return max(1.0, float((sums * weights).sum() / weights.sum()))
