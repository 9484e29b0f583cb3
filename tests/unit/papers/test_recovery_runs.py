"""The runs of the sparse-recovery experiment: steps, draws and averages."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from sudare.refine import nearest_integers, negative_l2
from sudare_papers.recovery import runs as recovery_runs
from sudare_papers.recovery.data import synthetic_city
from sudare_papers.recovery.methods import BANDS, Errors
from sudare_papers.recovery.runs import (
    BEST_LASSO,
    LASSO,
    LASSO_WEIGHTS,
    PENALTIES,
    PROPOSED,
    WIDE,
    WIDE_PUBLIC,
    Averages,
    city_block,
    memory_of_lasso,
    steps,
    time_on_city,
)
from sudare_papers.settings import Settings

QUICK = Settings(repeats=2, is_quick=True, processes=1)


@pytest.mark.parametrize("repeats", [1, 30, 100])
def test_steps_cover_every_draw_once(repeats: int) -> None:
    found = steps(Settings(repeats=repeats))
    assert len({step.name for step in found}) == len(found)
    for epsilon, draws in (("0.1", repeats), ("1", repeats), ("10", 4 * repeats)):
        blocks = [step.arguments[1:] for step in found if step.work is city_block and step.arguments[0] == epsilon]
        assert [draw for first, last in blocks for draw in range(first, last)] == list(range(draws))
    on_country = [step.arguments[0] for step in found if step.work is recovery_runs.country_draw]
    assert on_country == list(range((repeats + 3) // 4))
    assert all(step.is_timed == step.name.startswith("time") for step in found)


def test_a_draw_by_hand() -> None:
    """The first draw at epsilon = 1, with the weight 0.005."""
    truth = synthetic_city(64).ravel()
    noisy = truth + np.random.default_rng([2025, 1, 1, 0]).laplace(scale=1, size=truth.size)
    differences = nearest_integers(negative_l2(noisy, int(truth.sum()), 0.005), int(truth.sum())) - truth
    result = Errors(np.array(city_block(QUICK, "1", 0, 1)[PROPOSED][PENALTIES.index(0.005)]))
    assert result.rmse == pytest.approx(np.sqrt(np.mean(differences**2)))
    assert result.me_in("1-9") == pytest.approx(differences[(truth > 0) & (truth < 10)].mean())


def test_blocks_add_up() -> None:
    """How draws are put together changes nothing, and results survive their file."""
    whole = city_block(QUICK, "0.1", 0, 2)
    halves = [city_block(QUICK, "0.1", draw, draw + 1) for draw in (0, 1)]
    both = Averages.over(json.loads(json.dumps(halves)), 2)
    for name, rows in whole.items():
        np.testing.assert_allclose([errors.numbers for errors in both.errors[name]], np.array(rows) / 2, atol=1e-12)
    assert city_block(replace(QUICK, seed=7), "0.1", 0, 2)[PROPOSED] != whole[PROPOSED]


def test_the_best_weight_is_taken() -> None:
    def rows(*errors: float) -> list[list[float]]:
        return [[error, *[0.0] * (2 * len(BANDS))] for error in errors]

    lasso = [*range(20, 20 - len(LASSO_WEIGHTS), -1), 3.0]
    averages = Averages.over([{PROPOSED: rows(5, 4, 6), LASSO: rows(*lasso)}], 1)
    assert (averages.of(PROPOSED).rmse, averages.weight_of(PROPOSED, "1")) == (4.0, PENALTIES[1])
    assert (averages.of(BEST_LASSO).rmse, averages.weight_of(BEST_LASSO, "10")) == (11.0, LASSO_WEIGHTS[-1] / 10)
    assert averages.of(LASSO).rmse == 3.0, "the paper's weight stands last, and is not among those to choose from"


def test_the_wide_tree_keeps_a_total_that_is_public() -> None:
    errors = Averages.over([city_block(QUICK, "0.1", 0, 2)], 2)
    assert errors.of(WIDE_PUBLIC).me_in("All") == 0
    assert errors.of(WIDE).me_in("All") != 0


def test_times_and_memory() -> None:
    assert all(time_on_city(QUICK, 64, method) > 0 for method in recovery_runs.TIMED_METHODS)
    cells = 64 * 64
    assert 8 * cells < memory_of_lasso(QUICK, 64) * 2**20 < 20 * 8 * cells
