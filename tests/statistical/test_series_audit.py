"""What one person changes in a whole window, found through the mechanism itself; twins that spend more are caught.

Drawn from one key, and bound to no input, the noise is the same, so that the difference of two windows, with a person and
without, is exactly what that person changed: its norm over sigma is the cost of this path. Over many keys, the likelihood ratio
of the two windows is taken from the measured numbers, and its mean, which zCDP bounds by rho, is compared with what is charged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sudare import Budget
from sudare.domain import CountTable
from sudare.noise.addressed import NoiseKey
from sudare.series.mechanism import LevelDesign, SeriesDesign, SeriesWindow
from sudare.series.paths import Caps, Paths
from sudare.series.planning import plan_series
from sudare.series.strategies import SeriesStrategy

MAP = CountTable.from_dense(np.zeros((4, 4), dtype=np.int64)).domain
TICKS, OTHERS, RHO = 8, 3, 1
LARGE_RHO = 5
"""With which few runs tell half more from what is charged."""
RANDOM = np.random.default_rng(5)
CROWD = RANDOM.integers(-1, 16, (TICKS, OTHERS))
CORNERS = np.array([0, 15, 3, 12])
"""Cells of different quarters of the map: whoever moves between them moves at every level but the total."""


def stays(ticks: tuple[int, ...], cells: Any) -> Any:
    """A path that is in one cell after the other, each from a tick on; nowhere before the first."""
    path = np.full(TICKS, -1)
    for tick, cell in zip(ticks, cells, strict=False):
        path[tick:] = cell
    return path


PATHS = [
    *[stays(tuple(sorted(RANDOM.choice(TICKS, 3, replace=False))), CORNERS) for _ in range(10)],
    *[stays((0, a, b), [0, 15, -1]) for a in range(1, 6) for b in range(a + 1, TICKS, 2)],  # moves and leaves
    *[CORNERS[(np.arange(TICKS) + shift) % 4] for shift in range(2)],  # moves all the time
    *[np.tile([a, b], TICKS // 2) for a, b in RANDOM.integers(0, 16, (2, 2))],  # returns to the same two places
    *RANDOM.integers(-1, 16, (4, TICKS)),
]
"""Some of all paths, through the mechanism itself; `tests/unit/series/test_all_rows.py` goes through all of shorter windows."""


def design(moves: Any = 2, rho: int = RHO) -> SeriesDesign:
    """Without filters: they come after what is measured."""
    return replace(plan_series(MAP, Budget(rho=rho), ticks=TICKS, moves=moves, absent_after=1), filters=False)


class Measuring(SeriesWindow):
    """A window whose measured numbers alone are looked at, drawn from its own key: the same noise whatever people do."""

    def measure(self, cells: Any) -> Any:
        self.advance(cells)
        return self.draw().measured

    def _refined(self, key: NoiseKey, tick: int, estimated: Any, pasts: Any = ()) -> CountTable:
        return NO_TABLE


NO_TABLE = CountTable.from_dense(np.zeros((4, 4), dtype=np.int64))


def measured(plan: SeriesDesign, key: NoiseKey, person: Any, make: Callable[..., Measuring] = Measuring) -> list[Any]:
    """All measured numbers of a window with one person more than the crowd; somebody without any row is nobody."""
    window = make(plan, key, OTHERS + 1)
    ticks = [window.measure(np.append(CROWD[tick], person[tick])) for tick in range(TICKS)]
    return [np.array([tick[level] for tick in ticks], dtype=np.float64) for level in range(len(plan.levels))]


NOBODY = np.full(TICKS, -1)


def rho_between(plan: SeriesDesign, one: list[Any], other: list[Any]) -> float:
    """The rho of the difference between measured numbers under the same keys, of one window or of several."""
    levels = plan.levels * (len(one) // len(plan.levels))
    squares = [float(((a - b) ** 2).sum()) for a, b in zip(one, other, strict=True)]
    return sum(s / (2 * float(level.measurement.spread)) for s, level in zip(squares, levels, strict=True))


def costs(plan: SeriesDesign, make: Callable[..., Measuring] = Measuring) -> list[float]:
    """The rho that each path spends, from the difference of two windows under one key."""
    key = NoiseKey.for_research(1)
    nobody = measured(plan, key, NOBODY, make)
    return [rho_between(plan, measured(plan, key, path, make), nobody) for path in PATHS]


def highest(plan: SeriesDesign, make: Callable[..., Measuring] = Measuring) -> float:
    return max(costs(plan, make))


@pytest.mark.parametrize("moves", [0, 1, 2, (2, 3, 3)], ids=str)
def test_no_path_spends_more_than_is_charged(moves: Any) -> None:
    found = highest(design(moves))
    assert found <= RHO * (1 + 1e-9)
    assert found > 0.6 * RHO, "the paths tried come near what is charged"


class _Capless(Measuring):
    """A twin in which nobody is frozen."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        caps = self.design.caps
        self.paths = Paths(Caps(widths=caps.widths, moves=(TICKS,) * len(caps.widths)), OTHERS + 1)


def with_moves(plan: SeriesDesign, moves: int) -> SeriesDesign:
    """A twin whose paths have more moves than its noise was made for: the check of the design is gone round."""
    levels = tuple(LevelDesign(level.strategy, level.measurement) for level in plan.levels)
    for level in levels[1:]:
        object.__setattr__(level, "measurement", replace(level.measurement, moves=moves))
    twin = replace(plan, learns=plan.learns)
    object.__setattr__(twin, "levels", levels)
    return twin


def narrower(plan: SeriesDesign, sensitivity: Callable[[LevelDesign], int]) -> SeriesDesign:
    """A twin with noise for another sensitivity than that of what is measured."""
    levels = []
    for level in plan.levels:
        spread = level.measurement.spread * sensitivity(level) / level.measurement.sensitivity
        twin = LevelDesign(level.strategy, level.measurement)
        object.__setattr__(twin, "measurement", replace(level.measurement, spread=spread))
        levels.append(twin)
    made = replace(plan, learns=plan.learns)
    object.__setattr__(made, "levels", tuple(levels))
    return made


def halved(strategy: SeriesStrategy) -> SeriesStrategy:
    """The strategy in half as fine whole numbers: as good a strategy, but not the one that is measured."""
    return replace(
        strategy, coefficients=tuple(-(-one // 2) for one in strategy.coefficients), scale=strategy.scale // 2
    )


def test_twins_that_spend_more_than_is_charged_are_caught() -> None:
    plan = design(1)
    assert highest(plan, _Capless) > RHO, "cap not enforced"
    assert highest(with_moves(plan, 5)) > RHO, "more moves than the noise is made for"
    exits_forgotten = narrower(plan, lambda level: level.strategy.l2_squared(level.measurement.moves, may_leave=False))
    assert highest(exits_forgotten) > RHO, "exits not counted"
    planned = plan_series(MAP, Budget(rho=RHO), ticks=TICKS, moves=8, absent_after=1, strategy="moves")
    long = replace(planned, filters=False)
    stocks = narrower(long, lambda level: TICKS)
    assert highest(stocks) > RHO, "sensitivity of stocks used for moves"
    assert highest(long) <= RHO * (1 + 1e-9)
    smaller = narrower(plan, lambda level: halved(level.strategy).l2_squared(level.measurement.moves))
    assert highest(smaller) > RHO, "sensitivity of smaller coefficients than those used"
    of_other_coefficients = narrower(plan, lambda level: level.measurement.sensitivity * 3 // 4)
    assert highest(of_other_coefficients) > RHO, "another sensitivity than that of what is measured"


def two_days(plan: SeriesDesign, first: Any, second: Any, *, keeps_paths: bool = False) -> list[Any]:
    """All measured numbers of two windows with one person more than the crowd, each window with a key of its own."""
    found, before = [], None
    for number, person in enumerate((first, second)):
        window = Measuring(plan, NoiseKey.for_research(number), OTHERS + 1)
        if keeps_paths and before is not None:
            window.paths.cells, window.paths.left = before.paths.cells.copy(), before.paths.left.copy()
        ticks = [window.measure(np.append(CROWD[tick], person[tick])) for tick in range(TICKS)]
        found += [np.array([tick[level] for tick in ticks], dtype=np.float64) for level in range(len(plan.levels))]
        before = window
    return found


def test_one_day_spends_nothing_in_the_window_of_another() -> None:
    """A twin that keeps caps and places across windows lets a person's first day change the second: more than is charged."""
    plan, second = design(1), CORNERS[np.arange(TICKS) // 6]
    nobody = two_days(plan, NOBODY, second)
    spent = costs(plan)
    worst = int(np.argmax(spent))
    assert rho_between(plan, two_days(plan, PATHS[worst], second), nobody) == pytest.approx(spent[worst])
    kept = rho_between(
        plan,
        two_days(plan, PATHS[worst], second, keeps_paths=True),
        two_days(plan, NOBODY, second, keeps_paths=True),
    )
    assert kept > RHO * (1 + 1e-9), "cap kept across windows"


def test_the_likelihood_ratio_of_a_window_has_the_mean_that_is_charged() -> None:
    """From the measured numbers of many windows under fresh keys: mean at most rho, and not much below it for the worst path."""
    plan = design(rho=LARGE_RHO)
    spent = costs(plan)
    worst, exact, runs = PATHS[int(np.argmax(spent))], max(spent), 100
    key = NoiseKey.for_research(0)
    without = measured(plan, key, NOBODY)
    with_them = measured(plan, key, worst)
    shift = [one - other for one, other in zip(with_them, without, strict=True)]
    means = measured_mean(plan, worst)
    ratios = []
    for run in range(runs):
        seen = measured(plan, NoiseKey.for_research(100 + run), worst)
        total = 0.0
        for level, y, mean, d in zip(plan.levels, seen, means, shift, strict=True):
            variance = float(level.measurement.spread)
            total += float(((y - mean + d) ** 2 - (y - mean) ** 2).sum()) / (2 * variance)
        ratios.append(total)
    spread = np.sqrt(2 * exact / runs)
    assert abs(np.mean(ratios) - exact) < 6.2 * spread
    assert np.mean(ratios) < LARGE_RHO + 6.2 * spread
    assert abs(np.mean(ratios) - 1.5 * exact) > 6.2 * spread, "half more must be noticed"


def measured_mean(plan: SeriesDesign, person: Any) -> list[Any]:
    """What is measured, without noise."""
    window = SeriesWindow(plan, NoiseKey.for_research(3), OTHERS + 1)
    found: list[list[Any]] = [[] for _ in plan.levels]
    for tick in range(TICKS):
        window.history.append(window.paths.advance(tick, window._places(np.append(CROWD[tick], person[tick]))))
        for level, design_of_level in enumerate(plan.levels):
            values = np.zeros(1 << plan.depths[level])
            for earlier, changes in enumerate(window.history):
                if changes is not None:
                    coefficient = design_of_level.strategy.coefficients[tick - earlier]
                    values[changes[level].nodes] += coefficient * changes[level].changes
            found[level].append(values)
    return [np.array(values) for values in found]
