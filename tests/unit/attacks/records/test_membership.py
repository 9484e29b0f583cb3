"""Membership is told from many exact tables, not from the same tables with noise; its confidence limits are exact ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest

from sudare.attacks import (
    AttackOutcome,
    KeyColumn,
    NoiseLaw,
    evaluate_membership,
    membership_in_records,
    membership_in_tables,
)
from sudare.errors import ParameterError
from sudare.noise import discrete_laplace

TABLES = 500


def cells_of_people(people: int) -> NDArray[np.int64]:
    """Where each person is in each of 500 tables of two cells, some of them rare."""
    random = np.random.default_rng(2)
    common = random.uniform(0.05, 0.95, TABLES)
    return np.asarray((random.random((people, TABLES)) < common) + 2 * np.arange(TABLES), dtype=np.int64)


CELLS = cells_of_people(1500)
GROUPS: dict[str, Any] = {"members": CELLS[:100], "outsiders": CELLS[100:700], "reference": CELLS[700:]}
COUNTS = np.bincount(CELLS[:100].ravel(), minlength=2 * TABLES)


def test_exact_tables_tell_members() -> None:
    test = membership_in_tables(COUNTS, 100, **GROUPS)
    assert test.area.value > 0.9
    assert test.true_positives.low > test.false_positives.high
    assert test.empirical_epsilon == 0  # nothing is known about how they came to be members
    report = test.report()
    assert report.outcome is AttackOutcome.BROKEN
    assert "0.5 is guessing" in report.summary.english


@pytest.mark.usefixtures("repeatable_noise")
def test_noise_of_one_budget_hides_them() -> None:
    noisy = COUNTS + discrete_laplace(TABLES).draw(COUNTS.size)  # epsilon 1 for all tables together
    test = membership_in_tables(noisy, 100, law=NoiseLaw.laplace(TABLES), **GROUPS)
    assert abs(test.area.value - 0.5) < 0.15
    assert not test.is_broken
    assert test.empirical_epsilon == 0
    assert test.report().outcome is AttackOutcome.HELD


@pytest.mark.usefixtures("repeatable_noise")
def test_a_little_noise_does_not() -> None:
    noisy = COUNTS + discrete_laplace(1).draw(COUNTS.size)  # as if each table were alone
    assert membership_in_tables(noisy, 100, law=NoiseLaw.laplace(1), **GROUPS).area.value > 0.9


def test_copied_synthetic_records_give_members_away_and_independent_ones_do_not() -> None:
    random = np.random.default_rng(4)
    people = random.normal(size=(600, 4))
    members, outsiders = people[:300], people[300:]

    def columns(first: NDArray[np.float64], synthetic: NDArray[np.float64]) -> list[KeyColumn]:
        return [KeyColumn(str(column), first[:, column], synthetic[:, column], scale=3) for column in range(4)]

    copies = members + random.normal(scale=0.01, size=members.shape)
    leaking = membership_in_records(columns(members, copies), columns(outsiders, copies))
    assert leaking.area.value > 0.95
    assert leaking.is_broken
    fresh = random.normal(size=(300, 4))
    sound = membership_in_records(columns(members, fresh), columns(outsiders, fresh))
    assert not sound.is_broken


def test_coins_show_epsilon_and_only_coins() -> None:
    random = np.random.default_rng(3)
    is_in = random.random(600) < 0.5
    people = CELLS[:600]
    counts = np.bincount(people[is_in].ravel(), minlength=2 * TABLES)
    groups: dict[str, Any] = {"members": people[is_in], "outsiders": people[~is_in], "reference": CELLS[600:]}
    shown = membership_in_tables(counts, int(is_in.sum()), random_inclusion=True, **groups)
    assert shown.empirical_epsilon > 1
    assert membership_in_tables(counts, int(is_in.sum()), **groups).empirical_epsilon == 0


def test_an_epsilon_that_coins_show_is_rarely_above_the_true_one() -> None:
    # Randomized response: each person's coin is reported truly with odds of exp(epsilon). No test does better.
    random = np.random.default_rng(7)
    too_large = 0
    for _ in range(200):
        is_in = random.random(300) < 0.5
        told = np.where(random.random(300) < np.exp(0.5) / (1 + np.exp(0.5)), is_in, ~is_in) + random.random(300) / 9
        test = evaluate_membership(told[is_in], told[~is_in], confidence=0.9, random_inclusion=True)
        too_large += test.empirical_epsilon > 0.5
    assert too_large <= 25  # 5 % of 200 expected at most: the lower limit has half of the error


def test_too_few_people_decide_nothing_and_many_do() -> None:
    random = np.random.default_rng(5)
    few = evaluate_membership(random.random(8), random.random(8))
    assert not few.is_broken
    assert not few.excludes_a_working_test
    assert few.report().outcome is AttackOutcome.UNDECIDED
    assert "Too few people" in few.report().verdicts[0].sentence.english
    many = evaluate_membership(random.random(2000), random.random(2000))
    assert many.excludes_a_working_test
    assert many.report().outcome is AttackOutcome.HELD
    with pytest.raises(ParameterError, match="not a number"):
        evaluate_membership([np.nan, 1], [1, 2])


def test_limits_and_area_are_those_of_the_textbook() -> None:
    inside, outside = [1.0, 3.0, 3.0, 9.0], [0.0, 3.0, 2.0, 5.0, 1.0, 1.0]
    test = evaluate_membership(inside, outside, false_positive_goal=0.34, confidence=0.9)
    pairs = [(a > b) + 0.5 * (a == b) for a in inside for b in outside]
    assert test.area.value == pytest.approx(np.mean(pairs))
    assert test.threshold == 1.0  # of 0, 2, 1 one may be above
    exact = binomtest(3, 4).proportion_ci(0.9, method="exact")
    assert (test.true_positives.low, test.true_positives.high) == pytest.approx((exact.low, exact.high))
    assert test.false_positives.value == pytest.approx(2 / 3)  # of 3, 5, 1
    assert evaluate_membership([1, 1], [0, 0, 0]).true_positives.high == 1.0


def test_blind_scores_are_rarely_called_broken() -> None:
    random = np.random.default_rng(9)
    broken = sum(
        evaluate_membership(random.random(50), random.random(100), confidence=0.9).is_broken for _ in range(200)
    )
    assert broken < 40  # expected: below 10 % of 200 for the area, fewer for the rates


@pytest.mark.parametrize(
    "changes",
    [
        {"people": 0},
        {"members": CELLS[:0]},
        {"outsiders": CELLS[:5, :3]},
        {"reference": CELLS[:5] + 1},
        {"confidence": 1},
        {"false_positive_goal": 0},
        {"released": [COUNTS]},
    ],
)
def test_mistakes_are_told(changes: dict[str, Any]) -> None:
    arguments = GROUPS | {"released": COUNTS, "people": 100} | changes
    with pytest.raises(ParameterError):
        membership_in_tables(arguments.pop("released"), arguments.pop("people"), **arguments)
