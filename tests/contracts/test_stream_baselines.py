"""What every baseline for streams must do: stay within its budget in every window and repeat with its seed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sudare import Budget
from sudare.errors import GuaranteeError, ParameterError
from sudare.noise import ResearchEntropy
from sudare.series.baselines import BASELINES, StreamBaseline, StreamSetting, baseline_for
from sudare.series.baselines.budget_distribution import ChangeDriven

WINDOW, CELLS = 8, 12
BUDGETS = [Budget(rho=1), Budget(epsilon=2)]


def jumping(ticks: int, seed: int = 1) -> list[Any]:
    """Counts that stay the same for some ticks and then jump."""
    random = np.random.default_rng(seed)
    counts, rows = random.integers(0, 400, CELLS), []
    for _ in range(ticks):
        if random.random() < 0.3:
            counts = random.integers(0, 400, CELLS)
        rows.append(counts.copy())
    return rows


def setting(budget: Budget, **given: Any) -> StreamSetting:
    numbers: dict[str, Any] = {"cells": CELLS, "window": WINDOW, "moves": 2}
    return StreamSetting(budget=budget, **(numbers | given))


def windows_within(stream: StreamBaseline) -> bool:
    """Whether no window of ticks costs more than the budget."""
    sums = [sum(stream.spent[first : first + WINDOW], Fraction(0)) for first in range(stream.tick)]
    return all(0 <= one <= stream.setting.total for one in sums)


class GreedyStream(ChangeDriven):
    """Offers a half for publishing again and again: the control."""

    name = "greedy"

    def _offered(self) -> Fraction:
        return self.setting.share(1, 2)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("name", BASELINES)
def test_no_window_costs_more_than_the_budget(name: str, budget: Budget) -> None:
    for seed in range(5):
        stream = baseline_for(name, setting(budget), ResearchEntropy(seed))
        for counts in jumping(5 * WINDOW, seed):
            stream.release(counts)
        assert len(stream.spent) == 5 * WINDOW
        assert windows_within(stream)
        assert sum(stream.spent[:WINDOW], Fraction(0)) > 0


def test_a_method_that_spends_too_much_is_caught() -> None:
    stream = GreedyStream(setting(BUDGETS[0]), ResearchEntropy(1))
    for counts in jumping(5 * WINDOW):
        stream.release(counts)
    assert not windows_within(stream)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("name", BASELINES)
def test_the_same_seed_gives_the_same_stream(name: str, budget: Budget) -> None:
    runs = []
    for seed in (3, 3, 4):
        stream = baseline_for(name, setting(budget), ResearchEntropy(seed))
        runs.append(np.array([stream.release(counts) for counts in jumping(2 * WINDOW)]))
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])
    assert runs[0].shape == (2 * WINDOW, CELLS)


@pytest.mark.filterwarnings("ignore:A budget of")
@pytest.mark.parametrize("name", BASELINES)
def test_where_nothing_changes_and_noise_is_small_the_truth_is_published(name: str) -> None:
    stream = baseline_for(name, setting(Budget(rho=10**5)), ResearchEntropy(1))
    counts = np.arange(CELLS) * 10
    for _ in range(WINDOW):
        assert np.abs(stream.release(counts) - counts).max() <= 1


@pytest.mark.parametrize("name", BASELINES)
def test_what_is_published_stays_as_it_was(name: str) -> None:
    stream = baseline_for(name, setting(BUDGETS[0]), ResearchEntropy(1))
    rows = jumping(3)
    first = stream.release(rows[0])
    kept = first.copy()
    first += 1000
    for counts in rows[1:]:
        assert stream.release(counts).max() < 900
    assert np.array_equal(first, kept + 1000)


@pytest.mark.parametrize("name", BASELINES)
def test_counts_that_do_not_fit_are_refused(name: str) -> None:
    stream = baseline_for(name, setting(BUDGETS[0]), ResearchEntropy(1))
    for wrong in (np.zeros(CELLS + 1, dtype=np.int64), np.zeros(CELLS), [1] * CELLS):
        with pytest.raises(ParameterError, match=f"{CELLS} whole numbers"):
            stream.release(wrong)  # type: ignore[arg-type]
    assert stream.spent == []


def test_names_are_those_of_the_methods_and_unknown_ones_are_refused() -> None:
    assert all(method.name == name for name, method in BASELINES.items())
    assert [name for name, method in BASELINES.items() if method.bounds_moves] == ["honaker"]
    with pytest.raises(ParameterError, match="'name' parameter of baseline_for"):
        baseline_for("best", setting(BUDGETS[0]), ResearchEntropy(1))


@pytest.mark.parametrize("given", [{"cells": 0}, {"window": 0}, {"window": 5000}, {"moves": -1}])
def test_settings_are_refused_out_of_range(given: dict[str, int]) -> None:
    with pytest.raises(ParameterError, match=f"'{next(iter(given))}' parameter of StreamSetting"):
        setting(BUDGETS[0], **given)
    with pytest.raises(GuaranteeError, match="pure epsilon"):
        setting(Budget(epsilon=1, delta="1e-6"))
