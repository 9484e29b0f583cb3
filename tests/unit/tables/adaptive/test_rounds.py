"""Choices against naive twins: scores by plain loops, probabilities by their definitions; and what one unit changes of scores."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from math import exp, prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare import Budget, ResearchEntropy, Unit
from sudare.privacy import SelectionMeasurement, sensitivity_of_counts
from sudare.tables.adaptive.graphical_model import GraphicalModel, fit_model
from sudare.tables.adaptive.measured import Evidence, MeasuredPeople
from sudare.tables.adaptive.prices import Prices, _root_rounded_down, mean_size, prices_for
from sudare.tables.adaptive.rounds import (
    MAX_TIMES,
    WORTH,
    MeasuredMargins,
    Pulls,
    attribute_parts,
    fitted_pulls,
    round_scores,
)
from sudare.tables.adaptive.selecting import GRID, scaled_sensitivity
from sudare.tables.adaptive.workload import candidates_for
from tests.statistical.goodness import chi_square_rejects

SIZES = (3, 2, 4)
WANTED = candidates_for({(0, 1, 2): Fraction(1), (0, 1): Fraction(2)}, SIZES, 1000)
CLIQUES = list(WANTED.weights)


def prices_of(budget: Budget, unit: Unit | None = None) -> Prices:
    who = Unit() if unit is None else unit
    return prices_for(budget, "optimal", sensitivity_of_counts(who, merged=True), who, "test")


def random_people(generator: np.random.Generator, rows: int) -> tuple[list[np.ndarray], np.ndarray]:
    return [generator.integers(0, size, rows) for size in SIZES], generator.integers(1, 5, rows)


def naive_score(
    places: list[np.ndarray], numbers: np.ndarray, model: GraphicalModel, clique: tuple[int, ...], size: float
) -> int:
    """The definition: a loop over the cells of a margin, in whole numbers."""
    expected = model.marginal(clique)
    distance = 0
    for cell in product(*(range(SIZES[column]) for column in clique)):
        here = sum(
            int(number)
            for row, number in enumerate(numbers)
            if all(places[column][row] == value for column, value in zip(clique, cell, strict=True))
        )
        distance += abs(GRID * here - round(GRID * float(expected[cell])))
    return WANTED.weights[clique] * (distance - round(GRID * WORTH * size * prod(SIZES[c] for c in clique)))


@given(st.integers(0, 2**32), st.integers(0, 12), st.booleans())
@settings(max_examples=15, deadline=None)
def test_scores_are_those_of_the_naive_twin(seed: int, rows: int, is_pure: bool) -> None:
    generator = np.random.default_rng(seed)
    places, numbers = random_people(generator, rows)
    model = GraphicalModel(SIZES, 20.0, {(0, 1): generator.normal(0, 1, (3, 2)), (2,): generator.normal(0, 1, 4)})
    to_come = prices_of(Budget(epsilon=1) if is_pure else Budget(rho=0.5)).measurement(Fraction(1, 7))
    scores = round_scores(MeasuredPeople(places, SIZES, numbers), model, WANTED, CLIQUES, to_come)
    assert scores == [naive_score(places, numbers, model, clique, mean_size(to_come)) for clique in CLIQUES]


@given(st.integers(0, 2**32), st.integers(0, 20), st.integers(1, 3), st.sampled_from(["add-remove", "replace"]))
@settings(max_examples=40, deadline=None)
def test_one_unit_changes_no_score_by_more_than_stated(seed: int, rows: int, own: int, adjacency: Any) -> None:
    generator = np.random.default_rng(seed)
    unit = Unit.with_rows(own, adjacency=adjacency)
    places, numbers = random_people(generator, rows)
    added, removed = ([generator.integers(0, size, own) for size in SIZES] for _ in range(2))
    ones = np.ones(own, dtype=np.int64)
    with_one = MeasuredPeople(
        [np.append(a, b) for a, b in zip(places, added, strict=True)], SIZES, np.append(numbers, ones)
    )
    without = MeasuredPeople(places, SIZES, numbers)
    if adjacency == "replace":
        without = MeasuredPeople(
            [np.append(a, b) for a, b in zip(places, removed, strict=True)], SIZES, np.append(numbers, ones)
        )
    model = GraphicalModel(
        SIZES, 20.0, {(0, 1): generator.normal(0, 3, (3, 2)), (1, 2): generator.normal(0, 3, (2, 4))}
    )
    to_come = prices_of(Budget(rho=0.5)).measurement(Fraction(1, 9))
    pairs = zip(*(round_scores(people, model, WANTED, CLIQUES, to_come) for people in (with_one, without)), strict=True)
    stated = scaled_sensitivity(sensitivity_of_counts(unit, merged=True), max(WANTED.weights.values()))
    assert all(abs(one - other) <= stated for one, other in pairs)


def test_scores_of_counts_that_fill_a_word() -> None:
    most = 2**62
    model = GraphicalModel((2,), 3.0, {(0,): np.log([1.0, 2.0])})
    people = MeasuredPeople([np.array([0])], (2,), np.array([most]))
    alone = candidates_for({(0,): Fraction(1)}, (2,), 10)
    to_come = prices_of(Budget(rho=0.5)).measurement(Fraction(1, 2))
    (score,) = round_scores(people, model, alone, [(0,)], to_come)
    noise = round(GRID * WORTH * mean_size(to_come) * 2)
    assert score == 1024 * (GRID * (most - 1) + GRID * 2 - noise)


def naive_probabilities(scores: list[int], choice: SelectionMeasurement, sensitivity: int) -> np.ndarray:
    """By definition: weights of the exponential mechanism, or permute-and-flip over all orders of the candidates."""
    rate = float(choice.chosen_epsilon) / (2 * sensitivity)
    if choice.rule == "exponential":
        weights = np.array([exp(rate * (score - max(scores))) for score in scores])
        return np.asarray(weights / weights.sum())
    found = np.zeros(len(scores))
    orders = list(permutations(range(len(scores))))
    for order in orders:
        missed = 1.0
        for candidate in order:
            coin = exp(rate * (scores[candidate] - max(scores)))
            found[candidate] += missed * coin / len(orders)
            missed *= 1 - coin
    return found


@pytest.mark.parametrize("budget", [Budget(rho=0.5), Budget(epsilon=1)], ids=str)
def test_choices_have_the_probabilities_of_the_naive_twin(budget: Budget) -> None:
    prices = prices_of(budget)
    choice = prices.choice(Fraction(1, 3))
    sensitivity = 10
    scores = [40, 33, 0, 37, -200]
    source = ResearchEntropy(7)
    drawn = np.bincount([prices.choose(choice, scores, sensitivity, source) for _ in range(4000)], minlength=5)
    expected = naive_probabilities(scores, choice, sensitivity)
    assert not chi_square_rejects(drawn.astype(float), expected)
    assert chi_square_rejects(drawn.astype(float), naive_probabilities(scores, choice, 2 * sensitivity))


@given(st.fractions(min_value=Fraction(1, 10**40), max_value=10**6))
@settings(max_examples=50)
def test_a_choice_costs_at_most_its_part_and_hardly_less(part: Fraction) -> None:
    prices = prices_of(Budget(rho=0.5))
    cost = prices.cost_of(prices.choice(part))
    assert part * Fraction(999_999, 10**6) < cost <= part
    assert _root_rounded_down(part) ** 2 <= part
    pure = prices_of(Budget(epsilon=1))
    assert pure.cost_of(pure.choice(part)) == part


@given(st.lists(st.integers(1, 300), min_size=2, max_size=9), st.integers(1, 500), st.booleans())
@settings(max_examples=40)
def test_attributes_get_at_most_half_and_the_larger_ones_more(sizes: list[int], rounds: int, is_pure: bool) -> None:
    prices = prices_of(Budget(epsilon=1) if is_pure else Budget(rho=0.5))
    whole = tuple(range(len(sizes)))
    parts = attribute_parts(prices, candidates_for({whole[:3]: Fraction(1)}, sizes, 10**9), sizes, rounds)
    assert 0 < sum(parts) <= prices.amount / 2
    same = candidates_for({(a,): Fraction(1) for a in whole} | {(0, 1): Fraction(0)}, sizes, 10**9)
    by_size = attribute_parts(prices, same, sizes, rounds)
    assert sorted(zip(sizes, by_size, strict=True)) == sorted(
        zip(sizes, by_size, strict=True), key=lambda pair: (pair[1], pair[0])
    )


def test_people_in_numbers_are_people_in_rows() -> None:
    generator = np.random.default_rng(3)
    places, numbers = random_people(generator, 50)
    rows = MeasuredPeople([np.repeat(along, numbers) for along in places], SIZES)
    cells = MeasuredPeople(places, SIZES, numbers)
    for clique in CLIQUES:
        assert (rows.counts(clique) == cells.counts(clique)).all()
    merged = [np.array([0, 1, 1]), np.array([0, 1]), np.array([0, 0, 1, 2])]
    assert (rows.merged(merged).counts((0, 2)) == cells.merged(merged).counts((0, 2))).all()


class TestPull:
    COUNTS = np.array([[40.0, 10.0, 5.0], [10.0, 60.0, 25.0]])

    def evidence(self, variance: float) -> list[Evidence]:
        tables = {(0,): self.COUNTS.sum(axis=1), (1,): self.COUNTS.sum(axis=0), (0, 1): self.COUNTS}
        return [
            Evidence(clique, values, np.full(values.shape, 1e-2 if len(clique) == 1 else variance))
            for clique, values in tables.items()
        ]

    def test_it_draws_towards_independence_where_noise_is_large(self) -> None:
        independent = np.outer(self.COUNTS.sum(axis=1), self.COUNTS.sum(axis=0)) / 150
        found = {}
        for variance, pull in ((1.0, 0.0), (1.0, 0.05), (1000.0, 0.05), (1000.0, 100.0)):
            model = fit_model([2, 3], self.evidence(variance), 150.0, steps=3000, pull=pull)
            found[variance, pull] = np.abs(model.marginal((0, 1)) - independent).sum()
            for column in (0, 1):  # what is known well of single columns stays
                assert np.abs(model.marginal((column,)) - self.COUNTS.sum(axis=1 - column)).max() < 0.5
        assert found[1.0, 0.0] > found[1.0, 0.05] > found[1000.0, 0.05] > found[1000.0, 100.0]
        assert found[1000.0, 100.0] < 1

    def test_total_correlation_is_that_of_the_full_table(self) -> None:
        generator = np.random.default_rng(2)
        sizes = [2, 3, 2]
        potentials: dict[tuple[int, ...], np.ndarray] = {
            (0, 1): generator.normal(0, 1, (2, 3)),
            (1, 2): generator.normal(0, 1, (3, 2)),
            (2,): generator.normal(0, 1, 2),
        }
        model = GraphicalModel(sizes, 50.0, potentials)
        full = model.marginal((0, 1, 2)) / 50
        alone = [full.sum(axis=tuple(b for b in range(3) if b != a)) for a in range(3)]
        independent = np.einsum("i,j,k->ijk", *alone)
        assert abs(model.total_correlation - float((full * np.log(full / independent)).sum())) < 1e-9

    def test_the_fitted_model_is_the_best(self) -> None:
        """No small change of the table makes distance and correlation together smaller."""
        evidence, pull = self.evidence(20.0), 0.05
        best = fit_model([2, 3], evidence, 150.0, steps=5000, pull=pull).marginal((0, 1))

        def objective(table: np.ndarray) -> float:
            shares = table / table.sum()
            correlation = float((shares * np.log(shares / np.outer(shares.sum(axis=1), shares.sum(axis=0)))).sum())
            held = {(0,): table.sum(axis=1), (1,): table.sum(axis=0), (0, 1): table}
            away = sum(float(((held[item.clique] - item.values) ** 2 / item.variances).sum()) for item in evidence)
            return away / 2 + pull * 150.0 * correlation

        generator = np.random.default_rng(1)
        for _ in range(50):
            moved = best * np.exp(generator.normal(0, 0.02, best.shape))
            assert objective(moved * 150 / moved.sum()) > objective(best) - 1e-3

    def test_less_relation_speaks_for_a_stronger_one(self) -> None:
        evidence, before = self.evidence(1.0), Pulls(0.1)
        strong = fit_model([2, 3], evidence, 150.0, steps=500)
        none = np.outer(self.COUNTS.sum(axis=1), self.COUNTS.sum(axis=0)) / 150
        weak = fit_model([2, 3], [Evidence((0, 1), none, np.ones((2, 3)))], 150.0, steps=500)
        found = {name: fitted_pulls(model, evidence, before) for name, model in (("strong", strong), ("weak", weak))}
        assert found["weak"].common > found["strong"].common
        for pulls in found.values():
            assert 1 / 150 <= pulls.common <= 1
            assert 1 <= pulls.of_margin[0, 1] <= MAX_TIMES

    def test_only_what_was_measured_together_is_pulled(self) -> None:
        alone = self.evidence(1.0)[:2]
        model = fit_model([2, 3], alone, 150.0, steps=100)
        assert fitted_pulls(model, alone, Pulls(0.1)) == Pulls(0.1)

    def test_more_pull_on_a_margin_is_more_noise_in_it(self) -> None:
        seen = MeasuredMargins((2, 3), None)
        seen.evidence = self.evidence(20.0)
        more_pull = seen.fit(3000, Pulls(0.05, {(0, 1): 2.0}))
        more_noise = fit_model([2, 3], self.evidence(40.0), seen.total, steps=3000, pull=0.05)
        assert np.abs(more_pull.marginal((0, 1)) - more_noise.marginal((0, 1))).max() < 0.01
