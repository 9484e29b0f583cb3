"""Adaptive margins: exact costs, refusals before the first draw, large domains, workloads, margins without systematic error."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare import Budget, Category, CountTable, Domain, Published, ReleaseEvent, ResearchEntropy, Unit
from sudare.errors import GuaranteeError, ParameterError
from sudare.privacy import SelectionMeasurement, epsilon_to_rho
from sudare.tables import adaptive_margins, suits_adaptive_margins
from sudare.tables.adaptive.workload import candidates_for, read_workload
from tests.scripted import ScriptedEntropy

SHAPE = (3, 4, 2, 3, 2)
BUDGETS = [Budget(epsilon=1), Budget(rho=0.05), Budget(epsilon=1, delta=1e-6)]
NAMES = ("a", "b", "c", "d", "e")
DOMAIN = Domain(tuple(Category(name, tuple(map(str, range(n)))) for name, n in zip(NAMES, SHAPE, strict=True)))


def related(people: int = 5000, seed: int = 1) -> CountTable:
    """b follows a, d follows c and e; a is skewed."""
    generator = np.random.default_rng(seed)
    a = generator.choice(3, people, p=[0.7, 0.25, 0.05])
    b = np.where(generator.random(people) < 0.8, a, generator.integers(0, 4, people))
    c, e = generator.integers(0, 2, (2, people))
    d = np.where(generator.random(people) < 0.9, c + e, generator.integers(0, 3, people))
    return CountTable.from_cells(DOMAIN, DOMAIN.keys_at(a, b, c, d, e), np.ones(people, dtype=np.int64))


def distance(one: np.ndarray, other: np.ndarray, kept: tuple[int, ...]) -> float:
    """The l1 distance of the shares in a margin."""
    dropped = tuple(axis for axis in range(one.ndim) if axis not in kept)
    shares = [array.sum(axis=dropped) / array.sum() for array in (one, other)]
    return float(np.abs(shares[0] - shares[1]).sum())


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("rounds", [1, 12])
def test_all_looks_together_cost_the_budget_and_no_choice_is_left_out(budget: Budget, rounds: int) -> None:
    made = adaptive_margins(related(), budget, rounds=rounds, keep_measurements=True, entropy=ResearchEntropy(rounds))
    event = made.event
    choices = [m for m in event.measurements if isinstance(m, SelectionMeasurement)]
    assert made.measurements is not None
    assert len(made.measurements) == len(SHAPE) + len(choices) == len(event.measurements) - len(choices)
    assert len(choices) >= 1
    if budget.currency == "epsilon":
        assert sum(m.epsilon or 0 for m in event.measurements) == budget.epsilon
        assert {choice.rule for choice in choices} == {"permute-and-flip"}
    else:
        whole = budget.rho if budget.currency == "rho" else epsilon_to_rho(budget.epsilon, budget.delta)
        assert sum(m.rho for m in event.measurements) == whole
        assert {choice.rule for choice in choices} == {"exponential"}
    assert ReleaseEvent.from_json(event.to_json()) == event
    assert event.mechanism == "adaptive-margins"


@given(st.integers(0, 10**6), st.sampled_from(BUDGETS), st.sampled_from([1, 2, 5, 9]))
@settings(max_examples=6, deadline=None)
def test_nothing_is_spent_twice_whatever_was_drawn(seed: int, budget: Budget, rounds: int) -> None:
    """An event that claims less than its measurements cost cannot be made: that there is one is the test."""
    counts = np.random.default_rng(seed).integers(0, 3, (2, 3, 2))
    made = adaptive_margins(counts, budget, rounds=rounds, unit=Unit.with_rows(2), entropy=ResearchEntropy(seed))
    assert made.event.cost == budget
    assert made.table.counts.min(initial=1) > 0


def test_related_attributes_are_found_and_their_margins_come_out() -> None:
    table = related(20_000)
    counts = table.to_dense()
    for budget, most in ((Budget(rho=0.05), 0.05), (Budget(epsilon=1), 0.06)):
        made = adaptive_margins(table, budget, entropy=ResearchEntropy(3), keep_measurements=True)
        found = made.to_dense()
        assert found.dtype == np.int64
        assert np.mean([distance(counts, found, kept) for kept in combinations(range(5), 2)]) < most
        assert made.measurements is not None
        several = {noisy.name.split(": ")[1] for noisy in made.measurements if " x " in noisy.name}
        assert any("a x b" in name for name in several)
        assert any("d" in name and ("c" in name or "e" in name) for name in several)


def test_kept_margins_are_sums_over_the_cells_that_begin_with_their_keys() -> None:
    table = related()
    made = adaptive_margins(table, Budget(rho=0.05).times(10**4), rounds=8, keep_measurements=True)
    counts = table.to_dense()
    assert made.measurements is not None
    for noisy in made.measurements:
        places = DOMAIN.places_of(noisy.keys)
        kept = [axis for axis, name in enumerate(NAMES) if name in noisy.name.split(": ")[1].split(" x ")]
        assert all((places[axis] == 0).all() for axis in range(5) if axis not in kept)
        sums = counts.sum(axis=tuple(axis for axis in range(5) if axis not in kept))
        assert np.abs(noisy.values - sums.ravel()).max() < 3


def test_a_domain_far_larger_than_memory() -> None:
    """20 attributes of 8 values: 2**60 cells."""
    domain = Domain.of_shape((8,) * 20)
    generator = np.random.default_rng(5)
    first = generator.integers(0, 8, 3000)
    places = [first if axis < 2 else generator.integers(0, 8, 3000) for axis in range(20)]
    table = CountTable.from_cells(domain, domain.keys_at(*places), np.ones(3000, dtype=np.int64))
    pairs = [(f"axis {axis}", f"axis {axis + 1}") for axis in range(5)]
    made = adaptive_margins(table, Budget(rho=5), workload_margins=pairs, rounds=50, entropy=ResearchEntropy(2)).table
    assert isinstance(made, CountTable)
    assert abs(made.total - 3000) < 100
    found = domain.places_of(made.keys)
    assert made.counts[found[0] == found[1]].sum() > 0.8 * made.total


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_noise_is_made_for_all_cells_of_a_unit_in_one_place(adjacency: Any) -> None:
    event = adaptive_margins(related(), Budget(rho=0.05), unit=Unit(cells=3, adjacency=adjacency), rounds=2).event
    first: Any = event.measurements[0]
    assert first.l2_squared == (9 if adjacency == "add-remove" else 18)


def test_workloads() -> None:
    third, half = Fraction(1, 3), Fraction(1, 2)
    domain = Domain.of_shape((2, 3, 4))
    assert read_workload(2, domain, "f") == {clique: third for k in (1, 2) for clique in combinations(range(3), k)}
    assert read_workload([["axis 2", "axis 0"]], domain, "f") == {(0, 2): 1}
    assert read_workload({("axis 1",): half}, domain, "f") == {(1,): half}
    assert set(read_workload(None, domain, "f")) == {c for k in (1, 2, 3) for c in combinations(range(3), k)}
    weights = candidates_for({(0, 1): Fraction(3), (1, 2): Fraction(1)}, (2, 3, 4), 100).weights
    assert list(weights) == [(0,), (1,), (2,), (0, 1), (1, 2)]
    assert weights[0, 1] == 1024 > weights[1, 2] > weights[1,] > weights[0,] > weights[2,]
    assert (1, 2) not in candidates_for({(1, 2): Fraction(1)}, (2, 3, 4), 11).weights


def test_what_matters_is_measured() -> None:
    made = adaptive_margins(
        related(), Budget(rho=0.5), workload_margins={("a", "c"): 1}, rounds=10, keep_measurements=True
    )
    assert made.measurements is not None
    assert {noisy.name.split(": ")[1] for noisy in made.measurements} <= {*NAMES, "a x c"}


WRONG: list[dict[str, Any]] = [
    {"workload_margins": 0},
    {"workload_margins": 6},
    {"workload_margins": True},
    {"workload_margins": 1.5},
    {"workload_margins": "ab"},
    {"workload_margins": []},
    {"workload_margins": ["ab"]},
    {"workload_margins": [[]]},
    {"workload_margins": [["a", "z"]]},
    {"workload_margins": [["a", np.array([1, 2])]]},
    {"workload_margins": {("a", "b"): 0}},
    {"workload_margins": {("a", "b"): -1}},
    {"workload_margins": {("a", "b"): float("nan")}},
    {"rounds": 0},
    {"rounds": 2.0},
    {"margin_cells": 0},
    {"model_cells": 13},
    {"model_cells": 2**25},
    {"unit": 3},
    {"public_total": 7},
    {"conversion": "best"},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_what_is_wrong_is_refused_before_anything_is_drawn(wrong: Mapping[str, Any]) -> None:
    nothing = ScriptedEntropy([])
    with pytest.raises(ParameterError):
        adaptive_margins(related(), Budget(rho=0.1), entropy=nothing, **wrong)
    assert nothing.read == 0


@pytest.mark.parametrize("budget", [Budget(epsilon=1, delta=1e-6), Budget(rho=1), Budget(epsilon=1)], ids=str)
def test_guarantees_that_cannot_be_given(budget: Budget) -> None:
    nothing = ScriptedEntropy([])
    with pytest.raises(GuaranteeError):
        adaptive_margins(related(), Budget(rho=1), entropy=nothing, conversion="gaussian")
    with pytest.raises((GuaranteeError, ParameterError)):
        adaptive_margins(related(), budget.times(Fraction(1, 10**30)), entropy=nothing)
    with pytest.raises(ParameterError, match="cells"):
        adaptive_margins(CountTable.from_cells(Domain.of_shape((2**20, 4)), [0], [1]), budget, entropy=nothing)
    assert nothing.read == 0


def test_too_many_margins_are_refused() -> None:
    table = CountTable.from_cells(Domain.of_shape((2,) * 60), [0], [1])
    with pytest.raises(ParameterError, match="at most 65536 may be measured"):
        adaptive_margins(table, Budget(rho=1), workload_margins=4)


def runs_of(table: CountTable, runs: int, **arguments: Any) -> list[Published]:
    return [adaptive_margins(table, entropy=ResearchEntropy(seed), **arguments) for seed in range(runs)]


@pytest.mark.slow
def test_no_margin_of_one_attribute_has_a_systematic_error() -> None:
    """The mean of many releases, in standard errors; a category with few people would show what counts >= 0 do."""
    table = related(5000)
    made = runs_of(table, 24, budget=Budget(rho=0.05), rounds=6)
    counts = table.to_dense()
    for axis in range(5):
        others = tuple(other for other in range(5) if other != axis)
        errors = np.array([one.to_dense().sum(axis=others) - counts.sum(axis=others) for one in made], dtype=float)
        deviations = errors.std(axis=0, ddof=1)
        assert (np.abs(errors.mean(axis=0)) < 4.5 * deviations / 24**0.5 + 1).all()
        assert deviations.max() < 0.03 * table.total


class TestSuitability:
    SURVEY = Domain.of_shape((9, 16, 7, 15, 6, 5, 2, 2))

    def test_large_and_mostly_empty(self) -> None:
        for budget in (Budget(epsilon=1), Budget(epsilon=0.1), Budget(rho=0.001)):
            assert suits_adaptive_margins(self.SURVEY, budget, people=48_842)
        assert suits_adaptive_margins(self.SURVEY, Budget(epsilon=1))

    @pytest.mark.parametrize(
        ("shape", "people"),
        [((5, 4, 3), 1000), ((2, 3, 2, 2), 10**6), ((2, 3, 2, 2), None), ((3000, 5, 4, 3, 2), 1000)],
    )
    def test_where_others_do_better(self, shape: tuple[int, ...], people: int | None) -> None:
        answer = suits_adaptive_margins(Domain.of_shape(shape), Budget(epsilon=1), people=people)
        assert not answer
        assert len(answer.reason.english) > 20
        assert not answer.reason.japanese.isascii()

    def test_more_noise_speaks_for_it(self) -> None:
        domain = Domain.of_shape((4, 4, 4, 4, 4))
        answers = [
            bool(suits_adaptive_margins(domain, Budget(epsilon=e), people=20_000)) for e in (3, 1, 0.3, 0.1, 0.03)
        ]
        assert answers == sorted(answers)
        assert answers[0] is False
        assert answers[-1] is True
        assert suits_adaptive_margins(domain, Budget(epsilon=3), Unit.with_rows(50), people=20_000)

    def test_refused(self) -> None:
        for wrong in (
            {"domain": 3},
            {"budget": 1},
            {"unit": 1},
            {"people": -1},
            {"people": 1.5},
            {"workload_margins": 9},
        ):
            with pytest.raises(ParameterError):
                suits_adaptive_margins(**{"domain": self.SURVEY, "budget": Budget(epsilon=1), **wrong})  # type: ignore[arg-type]
