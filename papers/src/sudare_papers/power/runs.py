"""How large a difference must be to be found in a released table, under epsilon and under zCDP at equal (epsilon, delta).

The settings are the panels of Ishioka and Terada: rho and delta, with epsilon by their equation (13). False alarms are kept at
5 %; what counts is how many real differences are missed. Powers are exact, from the laws of the noise. Then maps are
released by NN-Wavelet before and after a planted change, and the change is looked for in the refined tables.

Noise comes from seeds, so nothing here is private.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from math import log2, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain import CountTable
from sudare.domain.sparse_table import SparseTable
from sudare.evaluate.significance import (
    LawOfSum,
    Term,
    flat_noise,
    halves_noise,
    node_noise,
    power_curve,
    smallest_detectable,
)
from sudare.noise import ResearchEntropy
from sudare.privacy import Budget
from sudare.tables import nn_wavelet, plan_table, publish
from sudare_papers.maps import tokyo
from sudare_papers.settings import Settings
from sudare_papers.steps import Step
from sudare_papers.zcdp.runs import epsilon_of, panel_settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Blocks = NDArray[np.int64]

__all__ = [
    "CELLS",
    "CHANGE",
    "CURVE",
    "HALVES",
    "HOT_SPOT",
    "LEVEL",
    "METHODS",
    "OPTIMAL",
    "PURE",
    "QUESTIONS",
    "SIDE",
    "SIMPLE",
    "WIDE",
    "Detections",
    "Powers",
    "cell_levels",
    "map_settings",
    "noise_of",
    "steps",
]

LEVEL, POWER = 0.05, 0.8
PURE, SIMPLE, OPTIMAL = "epsilon", "zCDP", "zCDP, optimal conversion"
METHODS = (PURE, SIMPLE, OPTIMAL)
WIDE = "wide tree (sudare), epsilon"
MAP_METHODS = (*METHODS, WIDE)

SIDE = 16
"""Of the areas whose change is looked for, in cells."""

CELLS, HOT_SPOT, HALVES, CHANGE = "two cells", "hot spot", "two halves", "change"
QUESTIONS = (CELLS, HOT_SPOT, HALVES, CHANGE)
HOT_SIDE, MAP_SIDE, HOT_SIDES = 4, 64, (1, 2, 4, 8)
CURVE = tuple(i / 20 for i in range(61))
"""Sizes of a difference, in multiples of the smallest one that epsilon finds with the power 0.8; rounded to whole people."""

AREAS = 48
"""Areas that change, and as many that do not, in every repeat."""

Release = Callable[[CountTable, ResearchEntropy], SparseTable]
MIN_PEOPLE = 500
BLOCK = 10


def budget_of(method: str, rho: str, delta: str) -> tuple[Budget, Any, Any]:
    """The budget, the noise and the conversion of a method in a panel."""
    epsilon = epsilon_of(rho, delta)
    if method == PURE:
        return Budget(epsilon=epsilon), "laplace", "optimal"
    if method == SIMPLE:
        return Budget(rho=Decimal(rho)), "gaussian", "simple"
    return Budget(epsilon=epsilon, delta=Decimal(delta)), "gaussian", "optimal"


def noise_of(question: str, method: str, rho: str, delta: str, levels: int) -> tuple[LawOfSum, int]:
    """The noise in the number that answers a question, and the factor that made it a whole number."""
    budget, noise, conversion = budget_of(method, rho, delta)
    if question == CELLS:
        return flat_noise(budget, noise, cells=2, conversion=conversion), 1
    if question == HOT_SPOT:
        return flat_noise(budget, noise, cells=HOT_SIDE**2, conversion=conversion), 1
    if question == HALVES:
        return halves_noise(budget, levels, noise, conversion=conversion), 1
    depth = levels - 2 * round(log2(SIDE))
    once = node_noise(budget, levels, depth, noise, conversion=conversion)
    return LawOfSum(tuple(Term(term.law, term.weight, 2) for term in once.terms)), 1 << depth


def level_of(question: str) -> float:
    """The chance of a false alarm of one test; of a hot spot that of one window among all, on either side."""
    if question != HOT_SPOT:
        return LEVEL
    return 2 * LEVEL / sum((MAP_SIDE - side + 1) ** 2 for side in HOT_SIDES)


def cell_levels(settings: Settings) -> int:
    """H: the logarithm to base 2 of the number of cells of the map."""
    return (tokyo(settings).domain.cells - 1).bit_length()


def steps(settings: Settings) -> list[Step]:
    """Exact powers for each question in each panel, and repeats of each method on the map."""
    exact = [
        Step(f"{question}, rho {rho}, delta {delta}", exact_powers, (question, rho, delta))
        for rho, delta in panel_settings(settings)
        for question in QUESTIONS
    ]
    blocks = [(first, min(first + BLOCK, settings.repeats)) for first in range(0, settings.repeats, BLOCK)]
    on_maps = [
        Step(
            f"{method}, rho {rho}, delta {delta}, repeats {first}-{last - 1}",
            detections,
            (method, rho, delta, first, last),
        )
        for rho, delta in map_settings(settings)
        for method in MAP_METHODS
        for first, last in blocks
    ]
    return exact + on_maps


def map_settings(settings: Settings) -> list[tuple[str, str]]:
    """Rho and delta of the runs on the map: one delta for each rho."""
    every = panel_settings(settings)
    deltas = list(dict.fromkeys(delta for _, delta in every))
    return [(rho, delta) for rho, delta in every if delta == deltas[len(deltas) // 2]]


def exact_powers(settings: Settings, question: str, rho: str, delta: str) -> dict[str, Any]:
    """The smallest difference that each method finds with the power 0.8, and the curves of their powers."""
    level = level_of(question)
    laws = {method: noise_of(question, method, rho, delta, cell_levels(settings)) for method in METHODS}
    smallest = {method: _people(law, factor, level) for method, (law, factor) in laws.items()}
    effects = np.rint(np.array(CURVE) * smallest[PURE])
    curves = {method: power_curve(law, effects * factor, level) for method, (law, factor) in laws.items()}
    rounded = {method: np.round(curve, 5).tolist() for method, curve in curves.items()}
    return {"smallest": smallest, "effects": effects.astype(int).tolist(), "curves": rounded}


def _people(law: LawOfSum, factor: int, level: float) -> int:
    """The smallest number of people that is found with the power 0.8."""
    return -(-smallest_detectable(law, POWER, level) // factor)


def detections(settings: Settings, method: str, rho: str, delta: str, first: int, last: int) -> list[dict[str, int]]:
    """For each repeat: of the areas that changed and of those that did not, how many the test of the refined tables names."""
    before = tokyo(settings)
    release, standard_error = _release(settings, method, rho, delta)
    law, factor = noise_of(CHANGE, PURE, rho, delta, cell_levels(settings))
    effect = _people(law, factor, LEVEL)
    return [
        _detections(settings, before, release, standard_error, effect, settings.seed + number)
        for number in range(first, last)
    ]


def _detections(
    settings: Settings,
    before: CountTable,
    release: Release,
    standard_error: float,
    effect: int,
    seed: int,
) -> dict[str, int]:
    changed, unchanged = _areas(settings, seed)
    after = _with_more(before, changed, effect)
    old, new = (_sums(release(table, ResearchEntropy(2 * seed + i))) for i, table in enumerate((before, after)))
    # The approximate test of `area_changed`: refined counts with a standard error.
    limit = NormalDist().inv_cdf(1 - LEVEL / 2) * sqrt(2) * standard_error
    named = np.abs(new - old) >= limit
    everywhere = named.size - changed.shape[0]
    return {
        "found": int(named[tuple(changed.T)].sum()),
        "changed": len(changed),
        "false": int(named[tuple(unchanged.T)].sum()),
        "unchanged": len(unchanged),
        "false_everywhere": int(named.sum() - named[tuple(changed.T)].sum()),
        "everywhere": int(everywhere),
    }


@lru_cache(maxsize=4)
def _release(settings: Settings, method: str, rho: str, delta: str) -> tuple[Release, float]:
    """What releases a map, and the standard error that it states for the count of an area."""
    if method == WIDE:
        budget = budget_of(PURE, rho, delta)[0]
        plan = plan_table(tokyo(settings), budget)
        stated = next(error.rmse for error in plan.errors if error.side == SIDE)
        return lambda table, source: publish(table, budget, plan, entropy=source).table, stated
    spent, noise, conversion = budget_of(method, rho, delta)
    law, factor = noise_of(CHANGE, method, rho, delta, cell_levels(settings))

    def release(table: CountTable, source: ResearchEntropy) -> SparseTable:
        return nn_wavelet(table, spent, noise=noise, conversion=conversion, entropy=source).table

    return release, law.standard_deviation / factor / sqrt(2)


@lru_cache(maxsize=2)
def _inhabited(settings: Settings) -> Blocks:
    """Places of the areas with people enough that refinement leaves the noise as it is."""
    return np.argwhere(_sums(tokyo(settings)) >= MIN_PEOPLE)


def _areas(settings: Settings, seed: int) -> tuple[Blocks, Blocks]:
    """Areas that will change, and areas that will not."""
    inhabited = _inhabited(settings)
    chosen = np.random.default_rng([seed, SIDE]).permutation(len(inhabited))
    half = min(AREAS, len(inhabited) // 2)
    return inhabited[chosen[:half]], inhabited[chosen[half : 2 * half]]


def _sums(table: SparseTable) -> Blocks:
    rows, columns = table.domain.shape
    blocks: Blocks = table.to_dense().reshape(rows // SIDE, SIDE, columns // SIDE, SIDE).sum(axis=(1, 3))
    return blocks


def _with_more(table: CountTable, blocks: Blocks, people: int) -> CountTable:
    """The map with so many people more in the most crowded cell of each of these areas."""
    dense = table.to_dense()
    for row, column in blocks.tolist():
        area = dense[row * SIDE : (row + 1) * SIDE, column * SIDE : (column + 1) * SIDE]
        area[np.unravel_index(int(area.argmax()), area.shape)] += people
    places = np.flatnonzero(dense)
    return CountTable.from_unique_cells(table.domain, places.astype(np.uint64), dense.ravel()[places])


@dataclass(frozen=True)
class Powers:
    """Exact powers.

    Attributes:
        settings: of the run.
        found: by question, rho and delta: the results of the steps.
    """

    settings: Settings
    found: Mapping[tuple[str, str, str], dict[str, Any]]

    @classmethod
    def collect(cls, settings: Settings, results: Mapping[str, Any]) -> Powers:
        """From the results of the steps."""
        exact = [step for step in steps(settings) if step.work is exact_powers]
        return cls(settings, {step.arguments[:3]: results[step.name] for step in exact})

    def smallest(self, question: str, method: str, rho: str, delta: str) -> int:
        """The smallest difference that is found with the power 0.8."""
        return int(self.found[question, rho, delta]["smallest"][method])

    def effects(self, question: str, rho: str, delta: str) -> list[int]:
        """The differences of the curves, in people."""
        return list(self.found[question, rho, delta]["effects"])

    def curve(self, question: str, method: str, rho: str, delta: str) -> list[float]:
        """Powers at these differences."""
        return list(self.found[question, rho, delta]["curves"][method])

    def missed(self, question: str, method: str, rho: str, delta: str) -> float:
        """The share of false negatives at the difference that epsilon finds with the power 0.8."""
        return 1 - self.curve(question, method, rho, delta)[CURVE.index(1.0)]

    def gain(self, question: str, method: str, rho: str, delta: str) -> float:
        """By how much of itself the smallest difference becomes smaller than under epsilon."""
        return 1 - self.smallest(question, method, rho, delta) / self.smallest(question, PURE, rho, delta)


@dataclass(frozen=True)
class Detections:
    """What the tests of refined maps named, in the repeats of one method and panel.

    Attributes:
        rows: the counts of each repeat.
    """

    rows: tuple[Mapping[str, int], ...]

    @classmethod
    def collect(cls, settings: Settings, results: Mapping[str, Any], method: str, rho: str, delta: str) -> Detections:
        """From the results of the steps."""
        own = [
            step for step in steps(settings) if step.work is detections and step.arguments[:3] == (method, rho, delta)
        ]
        return cls(tuple(row for step in own for row in results[step.name]))

    def share(self, named: str, of: str) -> tuple[float, float]:
        """A share over all repeats, and its standard error from repeat to repeat."""
        shares = np.array([row[named] / row[of] for row in self.rows])
        spread = float(shares.std(ddof=1) / sqrt(shares.size)) if shares.size > 1 else float("nan")
        return float(shares.mean()), spread

    @property
    def found(self) -> tuple[float, float]:
        """The share of changes that were found."""
        return self.share("found", "changed")

    @property
    def false_alarms(self) -> tuple[float, float]:
        """The share of unchanged inhabited areas that were named."""
        return self.share("false", "unchanged")

    @property
    def false_everywhere(self) -> tuple[float, float]:
        """The share of all unchanged areas that were named."""
        return self.share("false_everywhere", "everywhere")
