"""All that adaptive margins show of neighbours, choices and counts, in audits whose broken twins are caught.

Every look of a run is scored by how much likelier one table makes it than the other; no other function of an output tells two
tables apart better, and the published table follows from the looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sudare import Budget, Unit
from sudare.attacks import audit_epsilon
from sudare.noise import discrete_laplace, secure_entropy
from sudare.privacy import SelectionMeasurement, rho_to_epsilon
from sudare.privacy.unit import sensitivity_of_counts
from sudare.tables.adaptive import measured, rounds
from sudare.tables.adaptive.measured import MeasuredPeople
from sudare.tables.adaptive.prices import Prices, prices_for
from sudare.tables.adaptive.rounds import MeasuredMargins, measure_in_rounds
from sudare.tables.adaptive.workload import candidates_for
from tests.unit.tables.adaptive.test_rounds import naive_probabilities

pytestmark = pytest.mark.slow

RUNS, MANY_RUNS = 120, 2000
CHOICES = 200
DELTA = 0.2
SIZES = (2, 2)
CANDIDATES = candidates_for({(0, 1): Fraction(1)}, SIZES, 100)
EPSILON, RHO = Budget(epsilon=1), Budget(rho=1)
NEIGHBOURS: dict[str, tuple[Unit, list[int], list[int]]] = {
    "one person": (Unit(), [5, 0, 0, 2], [6, 0, 0, 2]),
    "three rows": (Unit.with_rows(3), [5, 0, 0, 2], [7, 1, 0, 2]),
    "replaced": (Unit(adjacency="replace"), [5, 0, 0, 2], [4, 0, 0, 3]),
}
"""Of each unit, counts of the four cells without it and with it."""


@pytest.fixture(autouse=True)
def _quick_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """How well the model fits is nothing that privacy depends on."""
    for name, steps in (("STEPS_AT_FIRST", 2), ("STEPS_OF_A_ROUND", 1), ("STEPS_AT_LAST", 1)):
        monkeypatch.setattr(rounds, name, steps)


def people_of(cells: Sequence[int]) -> MeasuredPeople:
    return MeasuredPeople([np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])], SIZES, np.array(cells, dtype=np.int64))


def prices_of(budget: Budget, unit: Unit) -> Prices:
    return prices_for(budget, "optimal", sensitivity_of_counts(unit, merged=True), unit, "test")


def run(people: MeasuredPeople, prices: Prices) -> MeasuredMargins:
    seen, _ = measure_in_rounds(
        people, CANDIDATES, prices, secure_entropy(), known_total=None, rounds=6, model_cells=100
    )
    return seen


class Auditor:
    """Runs the mechanism on one table, and scores what it shows against another."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.scores, self.choose = rounds.round_scores, Prices.choose
        monkeypatch.setattr(rounds, "round_scores", self._scored)
        auditor = self

        def chosen(prices: Prices, choice: SelectionMeasurement, scores: Any, sensitivity: int, entropy: Any) -> int:
            place = auditor.choose(prices, choice, scores, sensitivity, entropy)
            here, there = (naive_probabilities(s, choice, sensitivity) for s in (scores, auditor.of_other))
            auditor.ratio += float(np.log(here[place] / there[place]))
            return place

        monkeypatch.setattr(Prices, "choose", chosen)

    def _scored(self, people: MeasuredPeople, *rest: Any) -> list[int]:
        self.of_other = self.scores(self.other, *rest)
        return self.scores(people, *rest)

    def log_ratio(self, people: MeasuredPeople, other: MeasuredPeople, prices: Prices) -> float:
        self.other, self.ratio = other, 0.0
        seen = run(people, prices)
        spent = [m.epsilon if prices.is_pure else m.rho for m in seen.measurements]
        assert sum(part for part in spent if part is not None) == prices.amount
        for clique, noisy, noise in seen.margins:
            away = [np.abs(noisy - table.counts(clique)).astype(float) for table in (people, other)]
            if prices.is_pure:
                self.ratio += float((away[1] - away[0]).sum()) / float(noise.scale)  # type: ignore[union-attr]
            else:
                squares = float((away[1] ** 2 - away[0] ** 2).sum())
                self.ratio += squares / (2 * float(noise.sigma_squared))  # type: ignore[union-attr]
        return self.ratio


def refuted(name: str, budget: Budget, monkeypatch: pytest.MonkeyPatch, runs: int = RUNS) -> bool:
    """Whether an audit of all looks contradicts the budget."""
    unit, without, with_it = NEIGHBOURS[name]
    one, other = people_of(without), people_of(with_it)
    prices, auditor = prices_of(budget, unit), Auditor(monkeypatch)
    first = [auditor.log_ratio(one, other, prices) for _ in range(runs)]
    second = [-auditor.log_ratio(other, one, prices) for _ in range(runs)]
    on_grid, others = (np.rint(np.array(ratios) * 20).astype(np.int64) for ratios in (first, second))
    if prices.is_pure:
        return audit_epsilon(on_grid, others).refutes(1.0)
    return audit_epsilon(on_grid, others, delta=DELTA).refutes(float(rho_to_epsilon(budget.rho, DELTA)))


@pytest.mark.parametrize("budget", [EPSILON, RHO], ids=str)
def test_all_looks_hold_their_budget(budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not refuted("three rows", budget, monkeypatch)


@pytest.mark.deep
@pytest.mark.parametrize("budget", [EPSILON, RHO], ids=str)
@pytest.mark.parametrize("name", NEIGHBOURS)
def test_all_looks_hold_their_budget_in_many_runs(name: str, budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not refuted(name, budget, monkeypatch, MANY_RUNS)


def test_margins_with_too_little_noise_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """An eighth of the noise that the record states."""
    monkeypatch.setattr(measured, "noise_for", lambda stated: discrete_laplace(stated.scale / 8))
    assert refuted("one person", EPSILON, monkeypatch, 2 * RUNS)


@dataclass
class Choice(Exception):  # noqa: N818 - no error: it ends a run at its first choice
    """Which candidate was chosen, which was the best, and what the record says that the choice cost."""

    place: int
    best: int
    epsilon: Fraction


def first_choice(people: MeasuredPeople, prices: Prices, seed: int, monkeypatch: pytest.MonkeyPatch) -> Choice:
    """The first choice of a run, if the counts before it come out as a seed says, whatever the table is."""
    shown = np.random.default_rng(seed)
    draw = Prices.choose

    def noisy_as_shown(self: MeasuredPeople, clique: Any, *_: Any) -> np.ndarray:
        return shown.integers(0, 9, self.counts(clique).shape)

    def chosen(self: Prices, choice: SelectionMeasurement, scores: Any, *rest: Any) -> int:
        raise Choice(draw(self, choice, scores, *rest), int(np.argmax(scores)), choice.chosen_epsilon)

    with monkeypatch.context() as patch:
        patch.setattr(MeasuredPeople, "noisy", noisy_as_shown)
        patch.setattr(Prices, "choose", chosen)
        try:
            run(people, prices)
        except Choice as choice:
            return choice
    raise AssertionError("nothing was chosen")


@pytest.mark.parametrize("is_broken", [False, True])
def test_a_choice_costs_what_its_record_says_whatever_was_measured_before(
    is_broken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broken twin takes the best margin and charges no more than the private choice costs."""
    unit, without, with_it = NEIGHBOURS["one person"]
    tables, prices = [people_of(without), people_of(with_it)], prices_of(EPSILON, unit)

    def differs(seed: int) -> bool:
        return len({first_choice(people, prices, seed, monkeypatch).best for people in tables}) == 2

    worst = next(seed for seed in range(500) if differs(seed))  # counts after which one person turns the scale

    def places(people: MeasuredPeople) -> np.ndarray:
        choices = [first_choice(people, prices, worst, monkeypatch) for _ in range(CHOICES)]
        return np.array([choice.best if is_broken else choice.place for choice in choices])

    charged = first_choice(tables[0], prices, worst, monkeypatch).epsilon
    assert 0 < charged <= Fraction(1, 10)
    assert audit_epsilon(*(places(people) for people in tables)).refutes(float(charged)) is is_broken
