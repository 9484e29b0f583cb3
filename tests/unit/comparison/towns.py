"""Small invented data that the tests of comparisons share."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from sudare.comparison.invented import invent_town
from sudare.comparison.methods import METHODS
from sudare.comparison.people import Population, Sample
from sudare.comparison.running import Chosen, Comparison, compare
from sudare.noise.entropy import ResearchEntropy

HALF = Fraction(1, 2)


@lru_cache(maxsize=4)
def town(people: int = 1000) -> Population:
    return invent_town(people)


@lru_cache(maxsize=4)
def half(people: int = 1000, seed: int = 5) -> Sample:
    return town(people).draw(HALF, ResearchEntropy(seed))


@lru_cache(maxsize=1)
def small_comparison() -> Comparison:
    """Cheap methods with few settings; most tests look at this one."""
    wanted = {"none": (), "primary-only": ("3",), "k-anonymity": ("3", "30"), "swapping": ("0.5",), "cell-key": ("5",)}
    private = {"flat": ("0.1", "1", "10"), "wide-tree": ("0.1", "10")}
    chosen = [
        Chosen(METHODS[name], tuple(map(Fraction, settings)) or METHODS[name].settings, 6)
        for name, settings in {**wanted, **private}.items()
    ]
    return compare(town(), chosen, seed=3)


def measured(comparison: Comparison, method: str, setting: str, measure: str) -> float:
    found = [one for one in comparison.results if one.method.name == method and one.setting == Fraction(setting)]
    return found[0].measures[measure].value


def pairs_told_apart(
    scores: np.ndarray[tuple[int], np.dtype[np.float64]],
    truth: np.ndarray[tuple[int], np.dtype[np.int64]],
    register: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> float:
    """The chance that one in the data has a higher score than one who is not, pair by pair."""
    inside = np.repeat(scores, truth)
    outside = np.repeat(scores, register - truth)
    higher = sum(float((one > outside).sum() + 0.5 * (one == outside).sum()) for one in inside)
    return higher / (inside.size * outside.size)
