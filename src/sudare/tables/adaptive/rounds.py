"""Margins chosen and measured in rounds, each where the model is worst for the workload.

This is AIM's idea, with some differences. Noise is Laplace where the budget is a pure epsilon. Attributes by themselves, which
all margins stand on, get a larger part of the budget, those with many values more of it. A margin is worth measuring from the
point on where the model is wrong by `WORTH` of the noise to come, and not by all of it, because the model is pulled towards
independent attributes and so takes up only a part of the noise. How strongly it is pulled follows from what was measured
(`fitted_pulls`). And a round that has shown nothing doubles what the next ones pay, where AIM pays four times as much.

Proof: ``adaptive_margins.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from sudare.noise.entropy import EntropySource
from sudare.privacy.measurements import Measurement
from sudare.tables.adaptive.graphical_model import GraphicalModel, fit_model
from sudare.tables.adaptive.junction_tree import tree_cells
from sudare.tables.adaptive.measured import Evidence, MeasuredPeople, cells_of
from sudare.tables.adaptive.mst import estimated_total
from sudare.tables.adaptive.prices import CountMeasurement, Prices, mean_size
from sudare.tables.adaptive.selecting import GRID, l1_scores, scaled_sensitivity
from sudare.tables.adaptive.workload import CandidateMargins
from sudare.tables.trees.dense_tree import variance_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.tables.adaptive.measured import Clique

__all__ = ["MeasuredMargins", "fitted_pulls", "measure_in_rounds", "round_scores"]

CHOOSING, CHOOSING_IF_PURE = Fraction(1, 20), Fraction(1, 10)
"""Of a round's part of the budget, for the choice; the rest is for the measurement. In rho a choice is cheaper."""

WORTH = 0.3
"""Of the noise to come, from which on an error of the model is worth a measurement."""

SHARES_OF_AN_ATTRIBUTE = 4
"""Of the parts that the budget is cut into, for every attribute by itself, on average."""

MAX_FOR_ATTRIBUTES = Fraction(1, 2)

GROWTH = 2
STEPS_AT_FIRST, STEPS_OF_A_ROUND, STEPS_AT_LAST = 300, 100, 500

FIRST_PULL = 100.0
"""Times 1 / people."""

MAX_PULL = 1.0
"""With which cells differ from independence by no more than counts of chance would; 1 / people is the smallest."""

MIN_CORRELATION = 1e-3
MAX_TIMES = 4.0
"""As strongly as all others may a margin be pulled that shows little; none less strongly, because noise itself looks like a
relation."""


@dataclass(frozen=True)
class Pulls:
    """How strongly a model is pulled towards independence (`fit_model`).

    Attributes:
        common: for all margins together.
        of_margin: for some margins, how many times as strongly.
    """

    common: float
    of_margin: Mapping[Clique, float] = field(default_factory=dict)


@dataclass
class MeasuredMargins:
    """All that was seen of the data, in the order in which it was seen: nothing else reaches the model.

    Attributes:
        sizes: how many values each attribute has.
        known_total: how many people there are, where that is public.
        margins: what was measured: attributes, noisy counts and the noise.
        measurements: the record, choices too.
        evidence: the noisy counts as the model is fitted to them.
    """

    sizes: tuple[int, ...]
    known_total: int | None
    margins: list[tuple[Clique, NDArray[np.int64], CountMeasurement]] = field(default_factory=list)
    measurements: list[Measurement] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)

    def add(self, clique: Clique, noisy: NDArray[np.int64], measurement: CountMeasurement) -> None:
        """Write down a margin."""
        self.margins.append((clique, noisy, measurement))
        self.measurements.append(measurement)
        variance = np.full(noisy.shape, variance_of(measurement))
        self.evidence.append(Evidence(clique, noisy.astype(np.float64), variance))

    @property
    def total(self) -> float:
        """How many people there are, by all that is known; at least 1."""
        return max(1.0, float(self.known_total)) if self.known_total is not None else estimated_total(self.evidence)

    @property
    def total_or_nobody(self) -> float:
        """The same, or 0 where the noisy sums are nearer to that."""
        return 0.0 if self.total < 1.5 and sum(float(item.values.sum()) for item in self.evidence) <= 0 else self.total

    def fit(self, steps: int, pulls: Pulls | None = None, start: GraphicalModel | None = None) -> GraphicalModel:
        """The model of what was seen.

        To pull a margin k times as strongly is the same as to take its noise for k times as large.
        """
        if pulls is None:
            return fit_model(self.sizes, self.evidence, self.total, steps=steps, start=start)
        weighed = [
            Evidence(item.clique, item.values, item.variances * pulls.of_margin.get(item.clique, 1.0))
            for item in self.evidence
        ]
        return fit_model(self.sizes, weighed, self.total, steps=steps, start=start, pull=pulls.common)


def measure_in_rounds(
    people: MeasuredPeople,
    candidates: CandidateMargins,
    prices: Prices,
    entropy: EntropySource,
    *,
    known_total: int | None,
    rounds: int,
    model_cells: int,
    threads: int = 1,
) -> tuple[MeasuredMargins, GraphicalModel]:
    """Measure every attribute by itself, then chosen margins until the budget is used up; and the model of it all.

    Guarantee: the amount of the prices, for their unit. How many rounds there are follows from noisy results; each round
    is paid for from what is left before it begins.

    Proof: ``adaptive_margins.md`` beside this file.

    Args:
        people: the protected counts.
        candidates: margins that may be measured.
        prices: what may be spent, and what it buys.
        entropy: where the bits come from.
        known_total: how many people there are, where that is public.
        rounds: into how many parts the budget is cut at first.
        model_cells: how many cells the tables of the model may have together.
        threads: how many threads draw noise.
    """
    seen = MeasuredMargins(people.sizes, known_total)
    share = prices.amount / rounds
    left = prices.amount

    def measure(clique: Clique, measurement: CountMeasurement) -> None:
        seen.add(clique, people.noisy(clique, measurement, entropy, threads), measurement)

    for attribute, part in enumerate(attribute_parts(prices, candidates, people.sizes, rounds)):
        measure((attribute,), prices.measurement(part))
        left -= part
    model = seen.fit(STEPS_AT_FIRST if left > 0 else STEPS_AT_LAST)
    pulls = Pulls(min(FIRST_PULL / model.total, MAX_PULL))
    while left > 0:
        if left <= 2 * share:
            share = left
        left -= share
        allowed = _small_enough(candidates, model, int(model_cells * (1 - left / prices.amount)))
        for_counts, clique = share, allowed[0]
        if len(allowed) > 1:
            choice = prices.choice((CHOOSING_IF_PURE if prices.is_pure else CHOOSING) * share)
            for_counts = share - prices.cost_of(choice)
            to_come = prices.measurement(for_counts)
            seen.measurements.append(choice)
            scores = round_scores(people, model, candidates, allowed, to_come)
            sensitivity = scaled_sensitivity(prices.sensitivity, max(candidates.weights[c] for c in allowed))
            clique = allowed[prices.choose(choice, scores, sensitivity, entropy)]
        measurement = prices.measurement(for_counts)
        measure(clique, measurement)
        before = model.marginal(clique)
        model = seen.fit(STEPS_OF_A_ROUND, pulls, model)
        pulls = fitted_pulls(model, seen.evidence, pulls)
        moved = float(np.abs(model.marginal(clique) - before).sum())
        if moved <= _worth(measurement, cells_of(clique, people.sizes)):
            share *= GROWTH
    return seen, seen.fit(STEPS_AT_LAST, pulls, model)


def attribute_parts(prices: Prices, candidates: CandidateMargins, sizes: Sequence[int], rounds: int) -> list[Fraction]:
    """What the measurement of each attribute by itself costs; all that there is, where there is nothing else to measure.

    The sum of the weighed l1 norms of their noise is smallest for parts in proportion to weight times values to the power of
    2/3 (variances go with 1 / part), or 1/2 for pure epsilon (with the square of that).
    """
    power = 1 / 2 if prices.is_pure else 2 / 3
    wanted = [Fraction(round(1 + 1000 * (candidates.weights[(a,)] * size) ** power)) for a, size in enumerate(sizes)]
    together = prices.amount
    if len(candidates.weights) > 1:
        together *= min(Fraction(len(sizes) * SHARES_OF_AN_ATTRIBUTE, rounds), MAX_FOR_ATTRIBUTES)
    return [together * part / sum(wanted) for part in wanted]


def round_scores(
    people: MeasuredPeople,
    model: GraphicalModel,
    candidates: CandidateMargins,
    allowed: Sequence[Clique],
    to_come: CountMeasurement,
) -> list[int]:
    """How much is to be gained by each margin: the distance, less a part of the noise to come, times the weight.

    Sensitivity: `scaled_sensitivity` with the largest weight.
    """
    distances = l1_scores(people, model, allowed)
    return [
        candidates.weights[clique] * (distance - round(GRID * _worth(to_come, cells_of(clique, people.sizes))))
        for clique, distance in zip(allowed, distances, strict=True)
    ]


def fitted_pulls(model: GraphicalModel, evidence: Sequence[Evidence], pulls: Pulls) -> Pulls:
    """How strongly the next model is pulled towards independence, by what the last one shows.

    If cells differ from independence by about the root of m / pull, a model with D cells that the data decide has a total
    correlation of about D / (pull * people). People times correlation of a single margin is about half the sum of m t² over
    its cells, where t are its potentials, the logarithms of what it changes; so the same rule gives every margin a pull of its
    own, of which the common one is the least. D counts a cell in full where its noise is small beside that difference, and less
    where it is not. The root of the old and the new pull is taken, so that it does not swing.
    """
    precision: dict[Clique, NDArray[np.float64]] = {}
    for item in evidence:
        if len(item.clique) > 1:
            precision[item.clique] = precision.get(item.clique, np.zeros(())) + 1 / item.variances
    together = 0.0
    own_pulls: dict[Clique, float] = {}
    for clique, own in precision.items():
        expected = np.maximum(model.marginal(clique), 0.0)
        old = pulls.common * pulls.of_margin.get(clique, 1.0)
        share_beyond_sums = (own.size - sum(own.shape) + len(clique) - 1) / own.size
        decided = share_beyond_sums * float((expected * own / (expected * own + old)).sum())
        potential = model.potentials[clique]
        potential = potential - float(np.vdot(expected, potential)) / max(float(expected.sum()), 1.0)
        changed = float(np.vdot(expected, potential**2)) / 2
        if decided > 0:
            own_pulls[clique] = _between(old, decided / max(changed, MIN_CORRELATION), model.total)
        if not any(set(clique) < set(other) and own.max() < wide.max() for other, wide in precision.items()):
            together += decided
    common = pulls.common
    if together > 0:
        correlation = max(model.total_correlation, MIN_CORRELATION)
        common = _between(pulls.common, together / (model.total * correlation), model.total)
    times = {clique: min(max(pull / common, 1.0), MAX_TIMES) for clique, pull in own_pulls.items()}
    return Pulls(common, times)


def _between(old: float, new: float, people: float) -> float:
    return min(max(sqrt(old * new), MAX_PULL / people), MAX_PULL)


def _worth(to_come: CountMeasurement, cells: int) -> float:
    """The l1 distance from which on a margin is worth measuring."""
    return WORTH * mean_size(to_come) * cells


def _small_enough(candidates: CandidateMargins, model: GraphicalModel, most_cells: int) -> list[Clique]:
    """Candidates that the model's tables hold already, and those with which they stay small."""
    cliques = list(model.potentials)
    return [
        clique
        for clique in candidates.weights
        if model.tree.holder(clique) >= 0 or tree_cells([*cliques, clique], model.sizes) <= most_cells
    ]
