"""Scans for hot spots: what they find, p-values against a slow version, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sudare import Budget, Unit
from sudare.errors import ParameterError
from sudare.evaluate.significance import LawOfSum, Term, find_hot_spots, law_of_noise
from sudare.evaluate.significance.hot_spots import _window_sums
from sudare.noise import ResearchEntropy, noise_for
from sudare.privacy import LaplaceMeasurement, sensitivity_of_counts

LAPLACE = LaplaceMeasurement.for_budget(Budget(epsilon=0.5), sensitivity_of_counts(Unit()))


def noisy_map(shape: tuple[int, ...], seed: int = 1) -> np.ndarray:
    return noise_for(LAPLACE).draw(shape, ResearchEntropy(seed))


@pytest.mark.parametrize("shape", [(7,), (5, 6), (3, 4, 3)])
def test_window_sums_by_hand(shape: tuple[int, ...]) -> None:
    numbers = noisy_map(shape).astype(float)
    for side in (1, 2, 3):
        sums = _window_sums(numbers, side)
        for corner in np.ndindex(*sums.shape):
            window = tuple(slice(first, first + side) for first in corner)
            assert sums[corner] == numbers[window].sum()


@pytest.mark.parametrize("calibration", ["monte-carlo", "bonferroni"])
def test_two_planted_hot_spots(calibration: Any) -> None:
    values = noisy_map((40, 40))
    values[3:7, 30:34] += 12
    values[20:22, 5:7] += 25
    spots = find_hot_spots(values, LAPLACE, sides=(1, 2, 4), calibration=calibration, simulations=199)
    assert {(spot.corner, spot.side) for spot in spots.found} == {((3, 30), 4), ((20, 5), 2)}
    assert spots.windows == 40**2 + 39**2 + 37**2
    assert spots.p_value == min(spot.p_value for spot in spots.found)
    assert [spot.p_value for spot in spots.found] == sorted(spot.p_value for spot in spots.found)


def test_bonferroni_by_hand() -> None:
    values = noisy_map((6, 6))
    values[2, 2] += 30
    spots = find_hot_spots(values, LAPLACE, sides=(1,), calibration="bonferroni")
    tail = float(LawOfSum((Term(law_of_noise(LAPLACE)),)).at_least(float(values[2, 2])))
    assert spots.p_value == pytest.approx(36 * tail, rel=1e-9)
    assert spots.found[0].excess == values[2, 2]


def test_expected_counts_are_taken_off() -> None:
    expected = np.arange(400).reshape(20, 20) / 7
    values = noisy_map((20, 20)) + np.rint(expected).astype(np.int64)
    quiet = find_hot_spots(values, LAPLACE, expected=expected, simulations=99)
    assert not quiet.found
    assert find_hot_spots(values, LAPLACE, simulations=99).found, "against 0, all that lives there stands out"


def test_counts_that_vary_raise_fewer_alarms() -> None:
    counts = np.random.default_rng(3).poisson(400, (20, 20))
    values = noisy_map((20, 20)) + counts
    assert find_hot_spots(values, LAPLACE, expected=400, simulations=99).found
    assert not find_hot_spots(values, LAPLACE, expected=400, varies=True, simulations=99).found
    exact = find_hot_spots(values, LAPLACE, expected=400, varies=True, calibration="bonferroni")
    assert not exact.found
    raised = values.copy()
    raised[4:8, 4:8] += 100
    for calibration in ("monte-carlo", "bonferroni"):
        spots = find_hot_spots(raised, LAPLACE, expected=400, varies=True, calibration=calibration, simulations=99)
        assert (spots.found[0].corner, spots.found[0].side) == ((4, 4), 4)


def test_the_difference_of_two_releases_has_twice_the_noise() -> None:
    after, before = noisy_map((24, 24), 1), noisy_map((24, 24), 2)
    both = find_hot_spots(after - before, [LAPLACE, LAPLACE], simulations=199)
    assert not both.found
    wrong = find_hot_spots(after - before, LAPLACE, calibration="bonferroni")
    right = find_hot_spots(after - before, [LAPLACE, LAPLACE], calibration="bonferroni")
    assert wrong.p_value < right.p_value


def test_the_same_seed_gives_the_same_p_values() -> None:
    values = noisy_map((12, 12))
    one, other = (find_hot_spots(values, LAPLACE, simulations=49, seed=9) for _ in range(2))
    assert one == other


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"sides": (9,)}, "shortest axis, 8"),
        ({"sides": (2, 2)}, "each once"),
        ({"simulations": 5}, "from 19"),
        ({"calibration": "none"}, "monte-carlo"),
        ({"expected": np.zeros((2, 2))}, "shape"),
        ({"expected": -1, "varies": True}, ">= 0"),
        ({"noise": "laplace"}, "measurement"),
        ({"values": np.zeros((8, 8))}, "whole numbers"),
    ],
)
def test_what_is_refused(arguments: dict[str, Any], words: str) -> None:
    usual: dict[str, Any] = {"values": np.zeros((8, 8), dtype=np.int64), "noise": LAPLACE, "sides": (1, 2)}
    with pytest.raises(ParameterError, match=words):
        find_hot_spots(**(usual | arguments))


def test_too_many_laws() -> None:
    rates = np.random.default_rng(1).random((70, 70)) * 9
    with pytest.raises(ParameterError, match="monte-carlo"):
        find_hot_spots(noisy_map((70, 70)), LAPLACE, expected=rates, varies=True, calibration="bonferroni")
