"""Synthetic people: noise as accounted, and guarantees that hold in audits whose broken twins are caught."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax

from sudare import Budget, ReleaseEvent, Unit
from sudare.attacks import audit_epsilon
from sudare.microdata.records import Records
from sudare.microdata.synthetic import synthesize
from sudare.noise import EntropySource, discrete_gaussian, secure_entropy
from sudare.noise.selection import exponential_mechanism
from sudare.privacy import rho_to_epsilon, sensitivity_of_counts
from sudare.privacy.measurements import GaussianMeasurement, SelectionMeasurement
from sudare.tables.adaptive import aim, measured
from sudare.tables.adaptive.measured import MeasuredPeople
from sudare.tables.adaptive.mst import Looks, measure_mst
from tests.statistical.goodness import chi_square_rejects, histogram

pytestmark = pytest.mark.slow

RHO = Fraction(1)
DELTA = 0.2
"""With so large a delta half the noise is caught in a few thousand runs; a smaller one would need ten times as many."""
LOOKS, RUNS = 4_000, 150
AIM_RUNS = [
    (1, 500),
    (4, 500),
    pytest.param(1, 600, marks=pytest.mark.deep),
    pytest.param(2, 2_800, marks=pytest.mark.deep),
]
"""How many times less noise, and runs: of the honest mechanism, of a twin with a quarter of the noise, and of one with half."""
CHOICES = 250
ROUNDS = 4
COLUMNS: dict[str, Any] = {"a": ["x", "y"], "b": ["x", "y"]}


def less_noise(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """The broken twin: so many times less noise than the record states."""
    monkeypatch.setattr(measured, "noise_for", lambda m: discrete_gaussian(sigma_squared=m.sigma_squared / times**2))


def law(sigma_squared: Fraction, reach: int) -> np.ndarray:
    """Below -reach, each whole number from -reach to reach - 1, and from reach on."""
    wide = np.arange(-50 * reach, 50 * reach + 1)
    weights = np.exp(-(wide**2) / (2 * float(sigma_squared)))
    weights /= weights.sum()
    inside = weights[(wide >= -reach) & (wide < reach)]
    return np.concatenate([[weights[wide < -reach].sum()], inside, [weights[wide >= reach].sum()]])


@pytest.mark.parametrize("is_broken", [False, True])
def test_the_noise_of_a_marginal_is_that_of_its_record(is_broken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if is_broken:
        less_noise(monkeypatch, 2)
    people = MeasuredPeople([np.zeros(7, dtype=np.int64), np.ones(7, dtype=np.int64)], [100, 100])
    sensitivity = sensitivity_of_counts(Unit())
    noisy, record = people.measured((0, 1), Fraction(1, 20), sensitivity, secure_entropy())
    noise = noisy - people.counts((0, 1))
    assert record.sigma_squared == 10
    probabilities = law(record.sigma_squared, 9)
    assert chi_square_rejects(histogram(noise.ravel(), list(range(-9, 10))), probabilities) is is_broken


@pytest.mark.parametrize("is_broken", [False, True])
def test_looks_at_neighbours_cannot_be_told_apart_beyond_the_budget(
    is_broken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_broken:
        less_noise(monkeypatch, 2)
    source, unit = secure_entropy(), Unit()
    sensitivity = sensitivity_of_counts(unit)

    def outputs(rows: int) -> np.ndarray:
        people = MeasuredPeople([np.zeros(rows, dtype=np.int64)], [2])
        looks = (measure_mst(people, RHO, unit, sensitivity, source) for _ in range(LOOKS))
        return np.array([int(look.seen[0][1][0]) for look in looks])

    claimed = float(rho_to_epsilon(RHO, DELTA))
    assert audit_epsilon(outputs(5), outputs(6), delta=DELTA).refutes(claimed) is is_broken


@pytest.mark.parametrize("is_broken", [False, True])
def test_rows_of_neighbours_cannot_be_told_apart_beyond_the_budget(
    is_broken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole way, records in and rows out: two columns, a choice, pairs, a model. A person with three rows is added."""
    if is_broken:
        less_noise(monkeypatch, 16)  # a few hundred runs cannot tell finer differences
    unit, rho = Unit.with_rows(3), RHO / 8

    def outputs(rows: int) -> np.ndarray:
        records = Records.of_columns({"a": ["x"] * rows, "b": ["x"] * rows})
        counts = np.empty(RUNS, dtype=np.int64)
        for run in range(RUNS):
            made, event = synthesize(records, COLUMNS, Budget(rho=rho), unit=unit)
            counts[run] = int((made.records.column("a").texts() == "x").sum())
        assert event.cost == Budget(rho=rho)
        return counts

    claimed = float(rho_to_epsilon(rho, DELTA))
    assert audit_epsilon(outputs(300), outputs(303), delta=DELTA).refutes(claimed) is is_broken


def tables(*rows: int) -> list[MeasuredPeople]:
    """Two columns of two values; everybody is alike."""
    return [MeasuredPeople([np.zeros(count, dtype=np.int64)] * 2, [2, 2]) for count in rows]


def run_aim(people: MeasuredPeople, source: EntropySource) -> Looks:
    unit = Unit()
    sensitivity = sensitivity_of_counts(unit, merged=True)
    candidates = aim.weigh_candidates([(0, 1)], columns=2)
    return aim.measure_aim(people, candidates, RHO, unit, sensitivity, source, rounds=ROUNDS, model_cells=1 << 20)


@pytest.fixture
def _quick_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """How well the model fits is nothing that privacy depends on."""
    monkeypatch.setattr(aim, "STEPS_AT_FIRST", 2)
    monkeypatch.setattr(aim, "STEPS_OF_A_ROUND", 1)


class Auditor:
    """Scores all that AIM shows, choices and counts, by how much likelier one table makes it than the other.

    No other function of an output tells two tables apart better. Which rows are drawn afterwards follows from what is scored.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.scores, self.choose = aim._scores, exponential_mechanism
        self.source = secure_entropy()
        monkeypatch.setattr(aim, "_scores", self._scored)
        monkeypatch.setattr(aim, "exponential_mechanism", self._chosen)

    def _scored(self, people: MeasuredPeople, *rest: Any) -> list[int]:
        self.of_other = self.scores(self.other, *rest)
        return self.scores(people, *rest)

    def _chosen(self, scores: Sequence[int], budget: Budget, **rest: Any) -> tuple[int, ReleaseEvent]:
        place, event = self.choose(scores, budget, **rest)
        (record,) = event.measurements
        assert isinstance(record, SelectionMeasurement)
        factor = float(record.chosen_epsilon) / (2 * rest["sensitivity"])
        here, there = (log_softmax(factor * np.array(values)) for values in (scores, self.of_other))
        self.ratio += float(here[place] - there[place])
        return place, event

    def log_ratio(self, people: MeasuredPeople, other: MeasuredPeople) -> float:
        """One run on a table: how much likelier its output is than on the other one."""
        self.other, self.ratio = other, 0.0
        looks = run_aim(people, self.source)
        assert sum(record.rho for record in looks.measurements) <= RHO
        for clique, noisy, sigma_squared in looks.seen:
            here, there = (((noisy - table.counts(clique)) ** 2).sum() for table in (people, other))
            self.ratio += float(there - here) / (2 * float(sigma_squared))
        return self.ratio


@pytest.mark.usefixtures("_quick_fit")
@pytest.mark.parametrize(("times", "runs"), AIM_RUNS)
def test_all_that_aim_shows_of_neighbours_cannot_be_told_apart_beyond_the_budget(
    times: int, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if times > 1:
        less_noise(monkeypatch, times)
    auditor = Auditor(monkeypatch)
    few, more = tables(5, 6)
    first = [auditor.log_ratio(few, more) for _ in range(runs)]
    second = [-auditor.log_ratio(more, few) for _ in range(runs)]
    on_grid, others = (np.rint(np.array(ratios) * 20).astype(np.int64) for ratios in (first, second))
    claimed = float(rho_to_epsilon(RHO, DELTA))
    assert audit_epsilon(on_grid, others, delta=DELTA).refutes(claimed) is (times > 1)


@dataclass
class Choice(Exception):  # noqa: N818 - no error: it ends a run at its first choice
    """Which candidate was chosen, which was the best, and what the record says that the choice cost."""

    place: int
    best: int
    rho: Fraction


def first_choice(people: MeasuredPeople, seed: int, source: EntropySource, monkeypatch: pytest.MonkeyPatch) -> Choice:
    """The first choice of a run, if the counts before it come out as a seed says, whatever the table is."""
    shown = np.random.default_rng(seed)

    def measured_as_shown(self: MeasuredPeople, clique: Any, rho: Fraction, *rest: Any) -> Any:
        record = GaussianMeasurement(1 / (2 * rho), 1, 1, 1)
        return shown.integers(0, 9, self.counts(clique).shape), record

    def chosen(scores: Sequence[int], budget: Budget, **rest: Any) -> Any:
        place, event = exponential_mechanism(scores, budget, **rest)
        raise Choice(place, int(np.argmax(scores)), sum((record.rho for record in event.measurements), Fraction(0)))

    with monkeypatch.context() as patch:
        patch.setattr(MeasuredPeople, "measured", measured_as_shown)
        patch.setattr(aim, "exponential_mechanism", chosen)
        try:
            run_aim(people, source)
        except Choice as choice:
            return choice
    raise AssertionError("nothing was chosen")


@pytest.mark.usefixtures("_quick_fit")
@pytest.mark.parametrize("is_broken", [False, True])
def test_a_choice_of_aim_costs_what_its_record_says_whatever_was_measured_before(
    is_broken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broken twin takes the best marginal and pays for it no more than the record of the private choice says."""
    source = secure_entropy()
    few, more = tables(5, 6)

    def differs(seed: int) -> bool:
        best = {first_choice(people, seed, source, monkeypatch).best for people in (few, more)}
        return len(best) == 2

    worst = next(seed for seed in range(500) if differs(seed))  # counts after which one person turns the scale

    def places(people: MeasuredPeople) -> np.ndarray:
        runs = [first_choice(people, worst, source, monkeypatch) for _ in range(CHOICES)]
        return np.array([run.best if is_broken else run.place for run in runs])

    charged = first_choice(few, worst, source, monkeypatch).rho
    assert 0 < charged <= RHO / 10
    claimed = float(rho_to_epsilon(charged, DELTA))
    assert audit_epsilon(places(few), places(more), delta=DELTA).refutes(claimed) is is_broken
