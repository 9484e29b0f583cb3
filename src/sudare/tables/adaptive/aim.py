"""AIM: marginals chosen one after the other, each where the model is worst for the workload.

Every round chooses a marginal by how far the model is from it, measures it, and fits the model anew. Rounds begin cheap; when a
round has shown nothing that noise could not have shown, the next ones pay four times as much (half the noise).

Proof: ``adaptive_margins.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from sudare.noise.entropy import EntropySource
from sudare.noise.selection import exponential_mechanism
from sudare.privacy.budget import Budget
from sudare.privacy.measurements import Measurement
from sudare.privacy.unit import Sensitivity, Unit
from sudare.tables.adaptive.graphical_model import GraphicalModel, fit_model
from sudare.tables.adaptive.junction_tree import tree_cells
from sudare.tables.adaptive.measured import Evidence, MeasuredPeople, cells_of
from sudare.tables.adaptive.mst import Looks, estimated_total
from sudare.tables.adaptive.selecting import GRID, l1_scores, scaled_sensitivity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.tables.adaptive.measured import Clique

__all__ = ["measure_aim", "weigh_candidates"]

MEASURING = Fraction(9, 10)
"""Of a round's budget, for the measurement; the rest is for the choice."""

STEPS_OF_A_ROUND = 100
STEPS_AT_FIRST = 300


def weigh_candidates(workload: Sequence[Clique], columns: int) -> dict[Clique, int]:
    """All marginals that may be measured, with a weight: how many columns they share with the workload's marginals.

    These are the workload's marginals, everything inside them, and every column by itself.

    Example:
        >>> from sudare.tables.adaptive.aim import weigh_candidates
        >>> weigh_candidates([(0, 1), (1, 2)], columns=3)
        {(0,): 1, (1,): 2, (2,): 1, (0, 1): 3, (1, 2): 3}
    """
    candidates: set[Clique] = {(column,) for column in range(columns)}
    for clique in workload:
        for length in range(1, len(clique) + 1):
            candidates.update(combinations(clique, length))
    wanted = [set(clique) for clique in workload]
    return {
        clique: max(1, sum(len(other & set(clique)) for other in wanted))
        for clique in sorted(candidates, key=lambda clique: (len(clique), clique))
    }


def measure_aim(
    people: MeasuredPeople,
    candidates: Mapping[Clique, int],
    rho: Fraction,
    unit: Unit,
    sensitivity: Sensitivity,
    entropy: EntropySource,
    *,
    rounds: int,
    model_cells: int,
) -> Looks:
    """Choose and measure marginals until the budget is used up.

    Guarantee: rho, for the unit. How many rounds there are follows from noisy results; each round is paid for from
    what is left before it begins.

    Proof: ``adaptive_margins.md`` beside this file.

    References:
        McKenna, Mullins, Sheldon, Miklau: AIM: an adaptive and iterative mechanism for differentially private synthetic data
        (2022).
    """
    columns = len(people.sizes)
    seen: list[tuple[Clique, NDArray[np.int64], Fraction]] = []
    measurements: list[Measurement] = []
    evidence: list[Evidence] = []
    share = rho / max(rounds, columns + 1)
    left = rho

    def measure(clique: Clique, cost: Fraction) -> None:
        noisy, measurement = people.measured(clique, cost, sensitivity, entropy)
        seen.append((clique, noisy, measurement.sigma_squared))
        measurements.append(measurement)
        variance = np.full(noisy.shape, float(measurement.sigma_squared))
        evidence.append(Evidence(clique, noisy.astype(np.float64), variance))

    for column in range(columns):
        measure((column,), MEASURING * share)
        left -= MEASURING * share
    model = fit_model(people.sizes, evidence, estimated_total(evidence), steps=STEPS_AT_FIRST)
    while left > 0:
        if left <= 2 * share:
            share = left
        left -= share
        for_measuring, for_choosing = MEASURING * share, (1 - MEASURING) * share
        deviation = sqrt(sensitivity.l2_squared / (2 * for_measuring))
        allowed = _small_enough(candidates, model, int(model_cells * (1 - left / rho)))
        scores = _scores(people, model, allowed, candidates, deviation)
        place, event = exponential_mechanism(
            scores,
            Budget(rho=for_choosing),
            sensitivity=scaled_sensitivity(sensitivity, max(candidates[clique] for clique in allowed)),
            unit=unit,
            entropy=entropy,
        )
        measurements.extend(event.measurements)
        clique = allowed[place]
        measure(clique, for_measuring)
        before = model.marginal(clique)
        model = fit_model(people.sizes, evidence, estimated_total(evidence), steps=STEPS_OF_A_ROUND, start=model)
        moved = float(np.abs(model.marginal(clique) - before).sum())
        if moved <= _of_noise_alone(deviation, cells_of(clique, people.sizes)):
            share *= 4
    plain = tuple(np.arange(size, dtype=np.int64) for size in people.sizes)
    return Looks(people.sizes, tuple(evidence), tuple(seen), tuple(measurements), plain, model)


def _scores(
    people: MeasuredPeople,
    model: GraphicalModel,
    cliques: Sequence[Clique],
    weights: Mapping[Clique, int],
    deviation: float,
) -> list[int]:
    """How much is to be gained: the distance, less what the noise of the measurement would add, times the weight."""
    distances = l1_scores(people, model, cliques)
    return [
        weights[clique] * (distance - round(GRID * _of_noise_alone(deviation, cells_of(clique, people.sizes))))
        for clique, distance in zip(cliques, distances, strict=True)
    ]


def _of_noise_alone(deviation: float, cells: int) -> float:
    """The expected l1 norm of so much noise."""
    return sqrt(2 / pi) * deviation * cells


def _small_enough(candidates: Mapping[Clique, int], model: GraphicalModel, most_cells: int) -> list[Clique]:
    """Candidates that the model's tables hold already, and those with which they stay small."""
    cliques = list(model.potentials)
    return [
        clique
        for clique in candidates
        if model.tree.holder(clique) >= 0 or tree_cells([*cliques, clique], model.sizes) <= most_cells
    ]
