"""One window of a series: what is measured, what is published, and that nothing else is drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sudare import Budget, Unit
from sudare.domain import Category, CountTable, Domain
from sudare.errors import GuaranteeError, ParameterError
from sudare.noise.addressed import NoiseKey
from sudare.series.mechanism import LevelDesign, SeriesWindow
from sudare.series.planning import compare_strategies, plan_series
from sudare.series.strategies import strategy_for
from sudare.series.visiting import noise_of_level

MAP = CountTable.from_dense(np.zeros((16, 16), dtype=np.int64)).domain
KEY = NoiseKey.for_research(7)
PEOPLE, TICKS = 400, 6


def walk(seed: int = 3, people: int = PEOPLE, ticks: int = TICKS) -> list[Any]:
    """Cells of people who move now and then, and are sometimes away."""
    random = np.random.default_rng(seed)
    cells, rows = random.integers(0, 256, people), []
    for _ in range(ticks):
        cells = np.where(random.random(people) < 0.3, random.integers(0, 256, people), cells)
        rows.append(np.where(random.random(people) < 0.1, -1, cells))
    return rows


def design(budget: Budget | None = None, **given: Any) -> Any:
    return plan_series(MAP, budget or Budget(rho=5), **({"ticks": TICKS, "moves": 2} | given))


def test_the_same_key_and_rows_give_the_same_bytes() -> None:
    tables = []
    for _ in range(2):
        window = SeriesWindow(design(), NoiseKey(KEY.material(), "research"), PEOPLE)
        tables.append([window.publish(rows) for rows in walk()])
    for one, other in zip(*tables, strict=True):
        assert np.array_equal(one.table.to_dense(), other.table.to_dense())
        assert all(np.array_equal(a, b) for a, b in zip(one.measured, other.measured, strict=True))
    changed = SeriesWindow(design(), NoiseKey.for_research(8), PEOPLE).publish(walk()[0])
    assert not np.array_equal(changed.measured[-1], tables[0][0].measured[-1])


def test_what_is_measured_is_the_strategy_of_the_changes_and_the_noise_of_the_address() -> None:
    plan = design(strategy="power")
    window, shadow = SeriesWindow(plan, KEY, PEOPLE), SeriesWindow(plan, KEY, PEOPLE)
    stocks: list[list[Any]] = []
    for tick, rows in enumerate(walk()):
        measured = window.publish(rows).measured
        shadow.paths.advance(tick, shadow._places(rows))
        counted = shadow.paths.cells[shadow.paths.cells >= 0]
        stocks.append([np.bincount(counted // width, minlength=256 // width) for width in plan.caps.widths])
        for level, noisy in enumerate(measured):
            noise = noise_of_level(KEY.child("tick", tick), level, plan.depths[level], plan.levels[level].sampler)
            history = np.array([stock[level] for stock in stocks])
            changes = np.diff(history, axis=0, prepend=0)
            coefficients = plan.levels[level].strategy.coefficients
            expected = sum(coefficients[tick - u] * changes[u] for u in range(tick + 1))
            assert np.array_equal(noisy - noise, expected)


@pytest.mark.filterwarnings("ignore:A budget of")
def test_tables_are_whole_and_near_the_truth_where_noise_is_small() -> None:
    window = SeriesWindow(design(Budget(rho=10**6), moves=TICKS), KEY, PEOPLE)
    for rows in walk():
        table = window.publish(rows).table
        counted = window.paths.cells[window.paths.cells >= 0]
        truth = np.bincount(counted, minlength=256)
        places = window.design.layout.to_tree(np.arange(256, dtype=np.uint64)).astype(np.int64)
        assert np.abs(table.to_dense().reshape(-1) - truth[places]).max() <= 1
        assert table.total == truth.sum()


def test_filtered_tables_have_less_error_than_plain_ones_and_add_up() -> None:
    ticks, people = 24, 6000
    plan = design(Budget(rho=1), ticks=ticks)
    assert plan.filters
    home = np.random.default_rng(2).integers(0, 256, people)
    truth = np.bincount(home, minlength=256)
    errors = {}
    for filters in (True, False):
        window = SeriesWindow(replace(plan, filters=filters), KEY, people)
        tables = [window.publish(home).table for _ in range(ticks)]
        errors[filters] = np.array([table.to_dense().reshape(-1) - truth for table in tables])[6:]
    assert (errors[True] ** 2).mean() < 0.5 * (errors[False] ** 2).mean()
    assert abs(errors[True].sum(axis=1).mean()) < 3 * plan.levels[0].variances.max() ** 0.5
    last = plan.levels[-1]
    assert (sum(last.filtered_variances(0.1)) < last.variances)[1:].all()
    assert np.sqrt((errors[True] ** 2).mean()) < 1.2 * last.filtered_variances(0.0)[0].max() ** 0.5


def test_yesterday_refines_today_for_nothing() -> None:
    ticks, people = 6, 3000
    plan = design(Budget(rho=1), ticks=ticks)
    random = np.random.default_rng(2)
    home = (random.normal(8, 2.5, (people, 2)).clip(0, 15).astype(np.int64) * [16, 1]).sum(axis=1)
    truth = np.bincount(home, minlength=256)
    errors: dict[bool, list[float]] = {True: [], False: []}
    for seed in range(2):
        before = SeriesWindow(plan, NoiseKey.for_research(100 + seed), people)
        yesterday = [before.publish(home).table for _ in range(ticks)][-1]
        for refers in errors:
            window = SeriesWindow(plan, NoiseKey.for_research(seed), people)
            window.reference = yesterday if refers else None
            tables = [window.publish(home).table for _ in range(ticks)]
            assert all(table.to_dense().min() >= 0 for table in tables)
            errors[refers] += [float(((table.to_dense().reshape(-1) - truth) ** 2).mean()) for table in tables]
    assert np.mean(errors[True]) < 0.75 * np.mean(errors[False])


def test_a_tick_that_is_left_out_is_never_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []
    child = NoiseKey.child

    def noting(self: NoiseKey, label: str, number: int) -> NoiseKey:
        asked.append((label, number))
        return child(self, label, number)

    monkeypatch.setattr(NoiseKey, "child", noting)
    window = SeriesWindow(design(), KEY, PEOPLE)
    rows = walk()
    window.publish(rows[0])
    window.skip()
    window.publish(rows[2])
    assert {number for label, number in asked if label in ("tick", "ties")} == {0, 2}
    assert window.tick == 3


def test_an_event_states_every_level_and_what_is_paid() -> None:
    plan = design(Budget(epsilon=1, delta=1e-6))
    event = plan.event()
    assert event.cost == Budget(epsilon=1, delta=1e-6)
    assert [one.moves for one in event.measurements] == [0, *[2] * len(plan.bits)]
    pure = design(Budget(epsilon=1)).event()
    assert sum(one.epsilon or 0 for one in pure.measurements) == 1
    assert plan_series(MAP, Budget(rho=1), ticks=TICKS, moves=1, span="person-window").event().cost == Budget(rho=1)


def test_any_window_costs_two_blocks_with_paths_that_are_replaced() -> None:
    day, window = design(Budget(rho=1)), design(Budget(rho=1), span="person-window")
    assert len(window.event().measurements) == 2 * len(day.event().measurements)
    assert sum(one.rho for one in window.event().measurements) <= 1
    assert window.levels[0].measurement.rho == day.levels[0].measurement.rho / 2
    for budget, further in ((Budget(rho=1), 4), (Budget(epsilon=1), 2)):
        added, replaced = design(budget), design(budget, span="person-window")
        assert all(
            other.measurement.sensitivity == further * one.measurement.sensitivity
            for one, other in zip(added.measured, replaced.measured, strict=True)
        )
        with pytest.raises(ParameterError, match="sensitivity"):
            replace(replaced, levels=added.levels)


def test_noise_for_a_smaller_sensitivity_is_refused() -> None:
    plan = design()
    last = plan.levels[-1]
    weaker = replace(last.measurement, sensitivity=last.measurement.sensitivity - 1)
    with pytest.raises(ParameterError, match="sensitivity"):
        replace(plan, levels=(*plan.levels[:-1], LevelDesign(last.strategy, weaker)))
    stocks = LevelDesign(strategy_for("fresh", TICKS, 2), last.measurement)
    more_moves = replace(last.measurement, moves=5)
    assert replace(plan, levels=(*plan.levels[:-1], stocks)).ticks == TICKS, "stocks of a short window need less"
    with pytest.raises(ParameterError, match="sensitivity"):
        replace(plan, levels=(*plan.levels[:-1], LevelDesign(last.strategy, more_moves)))


def test_tables_without_a_tree_and_of_one_cell_are_published_too() -> None:
    for categories in (["a"], ["a", "b", "c"]):
        plan = plan_series(Domain((Category("place", tuple(categories)),)), Budget(rho=5), ticks=2, moves=1)
        window = SeriesWindow(plan, KEY, 3)
        table = window.publish(np.array([0, 0, len(categories) - 1])).table
        assert table.total in (2, 3, 4)


def test_the_comparison_puts_fresh_noise_last_for_people_who_stay() -> None:
    assert compare_strategies(48, 0)[-1].name == "moves"
    assert {choice.name for choice in compare_strategies(48, 0)[:2]} == {"power", "buffered"}


@pytest.mark.parametrize(
    "unit", [Unit(cells=2), Unit(rows_per_cell=2), Unit.with_rows(3), Unit(adjacency="replace"), Unit()], ids=str
)
def test_units_of_several_cells_a_tick_are_refused(unit: Unit) -> None:
    """A path that is in two cells at once moves what is measured further than its noise is made for."""
    plan = design()
    other = replace(unit, time=plan.unit.time if unit != Unit() else None)
    with pytest.raises(ParameterError) as refused:
        replace(plan, unit=other)
    assert "'unit'" in refused.value.words.english
    assert "one cell at a tick" in refused.value.words.english
    assert "1人を1つのセル" in refused.value.words.japanese


@pytest.mark.parametrize("budget", [Budget(rho=1), Budget(epsilon=1)], ids=["rho", "epsilon"])
def test_events_need_noise_for_the_numbers_by_which_they_are_measured(budget: Budget) -> None:
    """An appearance in ten times as fine whole numbers moves what is measured ten times as far."""
    plan = design(budget, moves=0, span="event")
    finer = [
        replace(level.strategy, coefficients=tuple(10 * one for one in level.strategy.coefficients))
        for level in plan.levels
    ]
    levels = tuple(replace(level, strategy=one) for level, one in zip(plan.levels, finer, strict=True))
    with pytest.raises(ParameterError, match="noise that is made for the sensitivity"):
        replace(plan, levels=levels)


def test_after_the_window_and_outside_the_domain_nothing_is_published() -> None:
    window = SeriesWindow(design(ticks=1), KEY, 1)
    with pytest.raises(ParameterError, match="cells"):
        window.publish(np.array([256]))
    window.publish(np.array([255]))
    for use in (lambda: window.publish(np.array([1])), window.skip):
        with pytest.raises(ParameterError, match="over"):
            use()


def test_noise_that_cannot_be_drawn_is_refused_by_the_plan() -> None:
    """And not at the first tick, when its window is paid for."""
    with pytest.raises(GuaranteeError, match="too wide") as refusal:
        plan_series(MAP, Budget(epsilon="0.001"), ticks=144, moves=2)
    assert "ノイズ" in refusal.value.japanese


def test_a_window_of_any_ticks_pays_for_two_blocks() -> None:
    plan = design(span="person-window")
    assert plan.blocks == 2
    with pytest.raises(ParameterError, match="blocks"):
        replace(plan, blocks=1)


def test_noise_that_is_bound_to_its_input_shows_no_difference_under_one_key() -> None:
    """A twin that draws both inputs from the window's key shows exactly who moved."""
    rows = walk()[0]
    other = np.where(np.arange(PEOPLE) == 5, (rows + 1) % 256, rows)
    plain, bound = [], []
    for cells in (rows, other):
        window = SeriesWindow(design(), KEY, PEOPLE)
        binding = window.design.bind("", 0, window.advance(cells))
        bound.append(window.draw(binding).measured[-1])
        plain.append(SeriesWindow(design(), KEY, PEOPLE).publish(cells).measured[-1])
    assert np.count_nonzero(plain[0] - plain[1]) <= 2
    assert np.count_nonzero(bound[0] - bound[1]) > 200
    again = SeriesWindow(design(), KEY, PEOPLE)
    binding = again.design.bind("", 0, again.advance(rows))
    assert np.array_equal(again.draw(binding).measured[-1], bound[0]), "the same input has the same noise"


def test_what_is_bound_is_all_that_is_measured() -> None:
    plan, window = design(), SeriesWindow(design(), KEY, PEOPLE)
    changes = window.advance(walk()[0])
    found = plan.bind("", 0, changes)
    others = [
        plan.bind("a", 0, changes),
        plan.bind("", 1, changes),
        plan.bind("", 0, changes[:-1]),
        design(moves=1).bind("", 0, changes),
        design(Budget(rho=4)).bind("", 0, changes),
        design(strategy="fresh").bind("", 0, changes),
    ]
    assert found not in others
    assert len(set(others)) == len(others)
