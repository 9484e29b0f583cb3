"""An invented town to compare methods on without any file: districts, ages, sexes, jobs, and who was ill.

Nobody in it is real. Illness depends on age and job, districts differ in both, and some kinds of people are rare.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sudare.comparison.people import Population
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.perturb.exact_draws import draw_categories
from sudare.noise.entropy import EntropySource, ResearchEntropy

__all__ = ["invent_town"]

DISTRICTS = (("harbour", "town"), ("market", "town"), ("station", "town"), ("hill", "country"), ("forest", "country"))
AGES = (("0-19", "0-39"), ("20-39", "0-39"), ("40-59", "40+"), ("60-79", "40+"), ("80+", "40+"))
SEXES = ("female", "male")
JOBS = (("none", "none"), ("office", "work"), ("workshop", "work"), ("fishing", "work"), ("care", "work"))
ILLNESSES = ("none", "chronic", "acute")

LIVING = (30, 28, 24, 12, 6)
AGE_WEIGHTS = {"town": (20, 30, 26, 18, 6), "country": (12, 14, 26, 32, 16)}
JOB_WEIGHTS = ((96, 2, 2, 0, 0), (14, 46, 22, 6, 12), (10, 40, 28, 8, 14), (80, 6, 8, 4, 2), (100, 0, 0, 0, 0))
ILL_WEIGHTS = ((86, 4, 10), (84, 8, 8), (66, 26, 8), (46, 44, 10), (30, 58, 12))
FISHING = 3


def invent_town(people: int = 4000, seed: int = 2020) -> Population:
    """The people of an invented town, in a table of 5 districts, 5 ages, 2 sexes, 5 jobs and 3 states of health.

    Args:
        people: how many.
        seed: which town.

    Example:
        >>> invent_town(500).shape
        (5, 5, 2, 5, 3)
    """
    source = ResearchEntropy(seed)
    districts = _draw(LIVING, people, source)
    ages = np.zeros(people, dtype=np.int64)
    for kind, weights in AGE_WEIGHTS.items():
        here = np.flatnonzero(np.array([name == kind for _, name in DISTRICTS])[districts])
        ages[here] = _draw(weights, here.size, source)
    sexes = _draw((51, 49), people, source)
    jobs, illnesses = (np.zeros(people, dtype=np.int64) for _ in range(2))
    for age in range(len(AGES)):
        here = np.flatnonzero(ages == age)
        jobs[here] = _draw(JOB_WEIGHTS[age], here.size, source)
        illnesses[here] = _draw(ILL_WEIGHTS[age], here.size, source)
    # The sea is hard on those who fish: what they have is drawn once more, and the worse of both counts.
    again = np.flatnonzero(jobs == FISHING)
    illnesses[again] = np.maximum(illnesses[again], _draw((50, 35, 15), again.size, source))
    columns = (
        Generalization.of_paths("district", [(name, kind, "*") for name, kind in DISTRICTS]),
        Generalization.of_paths("age", [(name, half, "*") for name, half in AGES]),
        Generalization.of_paths("sex", [(name, "*") for name in SEXES]),
        Generalization.of_paths("job", [(name, kind, "*") for name, kind in JOBS]),
        Generalization.of_paths("illness", [(name, "*") for name in ILLNESSES]),
    )
    return Population(columns, np.stack([districts, ages, sexes, jobs, illnesses], axis=1))


def _draw(weights: tuple[int, ...], count: int, source: EntropySource) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    total = sum(weights)
    return np.asarray(draw_categories([Fraction(weight, total) for weight in weights], count, source), dtype=np.int64)
