"""Each baseline does what its paper says it does, on streams like the paper's, before anything is compared with it.

Errors are mean absolute errors over cells and ticks, with the papers' pure epsilon. Orders hold for each seed by a margin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest

from sudare import Budget
from sudare.noise import ResearchEntropy
from sudare.series.baselines import StreamBaseline, StreamSetting, baseline_for
from sudare.series.baselines.honaker_tree import HonakerTree

TICKS = 80
SEEDS = (1, 2)


def static(cells: int, random: Any) -> Iterable[Any]:
    return [random.integers(0, 500, cells)] * TICKS


def jumping(cells: int, random: Any) -> Iterable[Any]:
    """All counts stay the same for 40 ticks and then jump."""
    for tick in range(TICKS):
        if tick % 40 == 0:
            counts = random.integers(0, 500, cells)
        yield counts


def changing(cells: int, random: Any) -> Iterable[Any]:
    return (random.integers(0, 500, cells) for _ in range(TICKS))


@cache
def error(name: str, stream: Callable[..., Iterable[Any]], *, cells: int, window: int, seed: int) -> float:
    setting = StreamSetting(cells=cells, window=window, budget=Budget(epsilon=1))
    method = baseline_for(name, setting, ResearchEntropy(seed))
    return _mean_error(method, stream(cells, np.random.default_rng(seed)))


def _mean_error(method: StreamBaseline, rows: Iterable[Any]) -> float:
    return float(np.mean([np.abs(method.release(counts) - counts).mean() for counts in rows]))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["bd", "ba"])
def test_publishing_on_change_beats_uniform_and_sample_where_counts_jump_now_and_then(name: str, seed: int) -> None:
    """Kellaris et al. 2014, section 7."""
    given = {"cells": 200, "window": 80, "seed": seed}
    others = min(error(other, jumping, **given) for other in ("uniform", "sample"))
    assert error(name, jumping, **given) < 0.9 * others


@pytest.mark.parametrize("seed", SEEDS)
def test_absorption_is_better_where_publications_are_many_and_distribution_where_they_are_few(seed: int) -> None:
    """Kellaris et al. 2014, section 5: what BD offers falls by half with each publication."""
    many = [error(name, changing, cells=50, window=20, seed=seed) for name in ("ba", "bd")]
    few = [error(name, jumping, cells=200, window=80, seed=seed) for name in ("bd", "ba")]
    assert many[0] < 0.6 * many[1]
    assert few[0] < 0.6 * few[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_beat_noise_alone_where_counts_are_stable_and_not_where_they_change(seed: int) -> None:
    """Chen et al. 2017, section 6."""
    given = {"cells": 50, "window": 20, "seed": seed}
    assert error("pegasus", static, **given) < 0.9 * error("uniform", static, **given)
    assert error("pegasus", changing, **given) > error("uniform", changing, **given)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("window", [20, 80])
def test_one_of_the_two_trivial_methods_wins_on_static_and_on_changing_streams(window: int, seed: int) -> None:
    """Schaeler et al. 2023: Sample where nothing changes, Uniform where everything does."""
    given = {"cells": 50, "window": window, "seed": seed}
    adaptive = ("bd", "ba", "pegasus")
    assert error("sample", static, **given) < 0.5 * min(error(name, static, **given) for name in adaptive)
    assert error("uniform", changing, **given) < 0.95 * min(error(name, changing, **given) for name in adaptive)


@pytest.mark.parametrize("budget", [Budget(rho="0.5"), Budget(epsilon=1)], ids=str)
def test_the_estimate_from_below_beats_the_plain_tree(budget: Budget) -> None:
    """Honaker 2015, section 4: the variance of a sum over 2^h ticks falls to 1 / (2 - 2^-h), so by a third to a half."""
    setting = StreamSetting(cells=2000, window=128, budget=budget, moves=2)
    rows = [np.full(2000, 7)] * 128
    errors = {}
    for is_refined in (False, True):
        method = HonakerTree(setting, ResearchEntropy(1), is_refined=is_refined)
        errors[is_refined] = np.array([np.mean((method.release(counts) - counts) ** 2) for counts in rows])
    ratio = errors[True] / errors[False]
    assert 0.45 < ratio[127] < 0.56  # one sum over all ticks: 1 / (2 - 2^-7)
    assert ratio[0] == pytest.approx(1)  # one sum over one tick, and the same bits
    assert ratio.mean() < 0.75
