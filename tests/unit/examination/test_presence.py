"""Budgets are refuted by evidence only: draws of noise, or people whom coins chose."""

from __future__ import annotations

import numpy as np
import pytest

from sudare import Budget
from sudare.attacks import AttackOutcome, Rate, evaluate_membership
from sudare.bilingual import Words
from sudare.examination.presence import judge_draws, judge_membership

HOW = Words("How:", "方法:")


@pytest.mark.parametrize(
    ("found", "alarms", "outcome"),
    [(0.9, 0.05, AttackOutcome.BROKEN), (0.13, 0.05, AttackOutcome.HELD), (1.0, 1.0, AttackOutcome.HELD)],
)
def test_draws_beyond_the_bound_refute_it(found: float, alarms: float, outcome: AttackOutcome) -> None:
    report = judge_draws(Rate(found, found, found), Rate(alarms, alarms, alarms), Budget(epsilon=1), HOW)
    assert report.outcome is outcome
    assert "epsilon = 1 allows" in report.summary.english
    assert report.summary.japanese.startswith("方法:")


@pytest.mark.parametrize(
    ("budget", "shift", "by_chance", "outcome"),
    [
        (Budget(epsilon=1), 9.0, True, AttackOutcome.BROKEN),
        (Budget(epsilon=1), 9.0, False, AttackOutcome.UNDECIDED),
        (Budget(epsilon=1), 0.0, True, AttackOutcome.HELD),
        (Budget(epsilon=1), 0.0, False, AttackOutcome.HELD),
        (Budget(rho=0.001), 9.0, True, AttackOutcome.BROKEN),
        (Budget(rho=2), 0.5, True, AttackOutcome.HELD),
        (Budget(epsilon=1, delta=1e-6), 9.0, True, AttackOutcome.BROKEN),
    ],
)
def test_people_told_apart(budget: Budget, shift: float, by_chance: bool, outcome: AttackOutcome) -> None:
    draws = np.random.default_rng(7)
    test = evaluate_membership(
        draws.normal(shift, 1, 500), draws.normal(0, 1, 500), random_inclusion=by_chance, false_positive_goal=0.05
    )
    assert judge_membership(test, budget, HOW).outcome is outcome
