"""Intervals of plans hold on a table by an inventor whose tables did not set them; shifted intervals do not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import sudare
from sudare.examples import invent_country

SIDE = 128
PEOPLE = (3_000, 30_000, 300_000, 3_000_000)
EPSILONS = (0.01, 0.1, 1, 10)
RUNS = 3
MIN_SHARE = 0.9
Part = tuple[sudare.tables.PredictedError, float, float]


def _releases(true: np.ndarray) -> Iterator[tuple[sudare.Plan, sudare.Plan, np.ndarray]]:
    people = int(float(f"{true.sum():.0e}"))
    budgets = [*(sudare.Budget(epsilon=epsilon) for epsilon in EPSILONS), sudare.Budget(rho=0.005)]
    for number, budget in enumerate(budgets):
        plan = sudare.plan_table(true, budget)
        for run in range(RUNS):
            entropy = sudare.ResearchEntropy(RUNS * number + run)
            published = sudare.publish(true, budget, plan, entropy=entropy, threads=1)
            yield plan, plan.for_people(people), published.to_dense()


def _measured(true: np.ndarray, published: np.ndarray) -> Iterator[tuple[int, float, float]]:
    """Root mean squared errors of aligned areas of each side, of the inhabited ones and of all."""
    for side in (1 << bits for bits in range(SIDE.bit_length())):
        blocks = [t.reshape(-1, side, SIDE // side, side).sum(axis=(1, 3)).astype(float) for t in (true, published)]
        squares = (blocks[1] - blocks[0]) ** 2
        yield side, float(np.sqrt(squares[blocks[0] > 0].mean())), float(np.sqrt(squares.mean()))


@pytest.fixture(scope="module")
def parts() -> dict[str, list[Part]]:
    """Predicted and measured errors of countries from almost empty to crowded, at all budgets and sizes."""
    found: dict[str, list[Part]] = {"unknown": [], "known": []}
    for people in PEOPLE:
        true = invent_country(SIDE, people=people).to_dense()
        for plan, known, published in _releases(true):
            errors = {side: (one, other) for side, one, other in _measured(true, published)}
            for name, made in (("unknown", plan), ("known", known)):
                found[name] += [(error, *errors[error.side]) for error in made.errors]
    return found


def _shares(parts: list[Part], shift: float = 1) -> tuple[float, float]:
    inhabited = [shift * error.low <= one <= shift * error.high for error, one, _ in parts]
    everywhere = [shift * error.all_low <= other <= shift * error.all_high for error, _, other in parts]
    return float(np.mean(inhabited)), float(np.mean(everywhere))


@pytest.mark.parametrize("people", ["unknown", "known"])
def test_intervals_hold(parts: dict[str, list[Part]], people: str) -> None:
    inhabited, everywhere = _shares(parts[people])
    assert inhabited >= MIN_SHARE
    assert everywhere >= MIN_SHARE


@pytest.mark.parametrize("people", ["unknown", "known"])
@pytest.mark.parametrize("shift", [0.5, 2])
def test_intervals_shifted_by_a_factor_of_two_do_not_hold(
    parts: dict[str, list[Part]], people: str, shift: float
) -> None:
    """The control: intervals so wide that they hold anyway would say nothing."""
    inhabited, everywhere = _shares(parts[people], shift)
    assert inhabited < MIN_SHARE
    assert everywhere < MIN_SHARE
