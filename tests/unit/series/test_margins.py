"""Margins of a series: what is measured of them, that tables meet them, and that nobody is moved between categories."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sudare import Budget
from sudare.domain import Bins, Category, CountTable, Domain
from sudare.errors import ParameterError
from sudare.noise.addressed import NoiseKey
from sudare.series.design import MarginDesign, SeriesDesign
from sudare.series.margins import meet_measured_margins
from sudare.series.mechanism import SeriesWindow
from sudare.series.planning import plan_series
from sudare.series.smoothing import smooth_window

SIDE, TICKS = 16, 4
SHAPE = (SIDE, SIDE, 2, 5)
PLACES = CountTable.from_dense(np.zeros((SIDE, SIDE), dtype=np.int64)).domain.attributes
DOMAIN = Domain((*PLACES, Category("sex", ("f", "m")), Bins("age", (0, 20, 40, 60, 80, 100))))
RANDOM = np.random.default_rng(11)
PEOPLE = 1500


def walk(ticks: int = TICKS) -> list[Any]:
    """Cells of people of whom few are old; some move at each tick, to other places, and some have a birthday."""
    random = np.random.default_rng(6)
    place = random.integers(0, SIDE * SIDE, PEOPLE)
    sex, age = random.integers(0, 2, PEOPLE), random.choice(5, PEOPLE, p=[0.1, 0.35, 0.35, 0.18, 0.02])
    rows = []
    for _ in range(ticks):
        place = np.where(random.random(PEOPLE) < 0.1, random.integers(0, SIDE * SIDE, PEOPLE), place)
        age = np.where(random.random(PEOPLE) < 0.01, np.minimum(age + 1, 4), age)
        rows.append((place * 2 + sex) * 5 + age)
    return rows


def design(rho: int = 1, **given: Any) -> SeriesDesign:
    return plan_series(DOMAIN, Budget(rho=rho), ticks=TICKS, moves=TICKS, **given)


def test_margins_of_categories_are_planned_and_charged() -> None:
    plan = design()
    assert [margin.axis for margin in plan.margins] == [2, 3]
    assert len(plan.event().measurements) == len(plan.levels) + 2
    assert sum(measurement.rho for measurement in plan.event().measurements) == 1
    assert plan_series(Domain(PLACES), Budget(rho=1), ticks=TICKS, moves=2).margins == ()


@pytest.mark.parametrize("span", ["person-day", "person-window"])
def test_what_is_measured_of_a_margin_is_the_strategy_of_its_changes(span: Any) -> None:
    plan, key = design(span=span), NoiseKey.for_research(7)
    window = SeriesWindow(plan, key, PEOPLE)
    stocks = []
    for tick, rows in enumerate(walk()):
        window.advance(rows)
        measured = window.draw().margins
        stocks.append([np.bincount(rows // 5 % 2, minlength=2), np.bincount(rows % 5, minlength=5)])
        for place, (margin, noisy) in enumerate(zip(plan.margins, measured, strict=True)):
            nodes = np.arange(SHAPE[margin.axis])
            noise = key.child("tick", tick).child("margin", margin.axis).draw(margin.level.sampler, nodes)
            changes = np.diff(np.array([stock[place] for stock in stocks]), axis=0, prepend=0)
            coefficients = margin.level.strategy.coefficients
            assert np.array_equal(noisy - noise, sum(coefficients[tick - u] * changes[u] for u in range(tick + 1)))


@pytest.mark.filterwarnings("ignore:A budget of")
def test_events_have_margins_of_their_own_tick() -> None:
    plan = plan_series(DOMAIN, Budget(rho=1000), ticks=TICKS, moves=0, span="event")
    window = SeriesWindow(plan, NoiseKey.for_research(2))
    for rows in walk(2):
        cells, people = np.unique(rows, return_counts=True)
        window.advance_counts(cells, people)
        sums = window.draw().margins[1]
        assert np.abs(sums - np.bincount(rows % 5, minlength=5)).max() <= 1


def test_a_table_meets_its_margins_and_keeps_its_places() -> None:
    table = CountTable.from_dense(RANDOM.poisson(0.4, SHAPE), DOMAIN)
    counts = table.to_dense()
    wanted = counts.sum(axis=(0, 1, 2)) + np.array([20.0, -30.0, 10.0, 40.0, -40.0])
    moved = meet_measured_margins(table, {3: wanted}, NoiseKey.for_research(1).stream()).to_dense()
    assert np.abs(moved.sum(axis=(0, 1, 2)) - wanted).sum() <= 5
    assert np.array_equal(moved.sum(axis=3), counts.sum(axis=3))
    assert (moved >= 0).all()
    empty = CountTable.from_dense(np.zeros(SHAPE, dtype=np.int64), DOMAIN)
    assert meet_measured_margins(empty, {3: wanted}, NoiseKey.for_research(1).stream()).total == 0


def mean_errors(plan: SeriesDesign, keys: int = 12) -> Any:
    """Mean signed errors of ages over keys and ticks, and the standard errors of these means."""
    of_keys = []
    for key in range(keys):
        window = SeriesWindow(plan, NoiseKey.for_research(key), PEOPLE)
        errors = [window.publish(rows).table.to_dense().sum(axis=(0, 1, 2)) - np.bincount(rows % 5) for rows in walk()]
        of_keys.append(np.mean(errors, axis=0))
    return np.mean(of_keys, axis=0), np.std(of_keys, axis=0, ddof=1) / keys**0.5


def test_nobody_is_moved_between_ages() -> None:
    """Without measured margins the few who are old are more than chance allows: people of all cells are moved to them."""
    plan = design()
    mean, error = mean_errors(plan)
    assert (np.abs(mean) < 4 * error).all()
    assert np.abs(mean).max() < 10
    without, error = mean_errors(replace(plan, margins=()))
    assert np.abs(without / error).max() > 6
    assert np.abs(without).max() > 40


@pytest.mark.filterwarnings("ignore:A budget of")
def test_revisions_meet_margins(tmp_path: Any) -> None:
    plan = design(10)
    window = SeriesWindow(plan, NoiseKey.for_research(3), PEOPLE)
    published = [window.publish(rows) for rows in walk()]
    told = [(*one.measured, *one.margins) for one in published]
    last = {3: window.estimates[-1].counts}  # type: ignore[union-attr]
    revised = dict(smooth_window(plan, lambda tick: told[tick], tmp_path, lambda _: NoiseKey.for_research(1).stream()))
    table = revised[TICKS - 1].to_dense()
    surplus = last[3] - table.sum(axis=(0, 1, 2))
    assert np.abs(surplus - surplus.mean()).sum() <= 6


def test_margins_that_do_not_fit_are_refused() -> None:
    plan = design()
    one, other = plan.margins
    with pytest.raises(ParameterError, match="different axes"):
        replace(plan, margins=(one, one))
    with pytest.raises(ParameterError, match="different axes"):
        replace(plan, margins=(MarginDesign(9, one.level),))
    fewer = plan_series(DOMAIN, Budget(rho=1), ticks=TICKS, moves=1).margins
    with pytest.raises(ParameterError, match="moves"):
        replace(plan, margins=(fewer[0], other))
