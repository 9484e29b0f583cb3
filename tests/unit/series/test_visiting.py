"""Levels of which only some nodes are looked at: the same numbers as if all were, and tables that follow where people go."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sudare import Budget
from sudare.domain import CountTable, Domain, Mesh
from sudare.errors import ParameterError
from sudare.noise.addressed import NoiseKey
from sudare.series import visiting
from sudare.series.mechanism import SeriesDesign, SeriesWindow
from sudare.series.planning import plan_series
from sudare.series.visiting import VisitedEstimate, noise_of_level, noise_of_nodes

SIDE, PEOPLE, TICKS = 32, 300, 8
MAP = CountTable.from_dense(np.zeros((SIDE, SIDE), dtype=np.int64)).domain
PADDED = CountTable.from_dense(np.zeros((SIDE, 27), dtype=np.int64)).domain
BOUND = ["%064x" % (tick + 1) for tick in range(TICKS)]


def walk(cells: int = SIDE * SIDE, ticks: int = TICKS) -> list[Any]:
    """People in a few places, all of whom go to other places in the middle of the day."""
    random = np.random.default_rng(3)
    here, there = random.integers(0, cells, (2, 6))
    group = random.integers(0, 6, PEOPLE)
    rows = [np.where(random.random(PEOPLE) < 0.05, random.integers(0, cells, PEOPLE), here[group])]
    for tick in range(1, ticks):
        moved = np.where(random.random(PEOPLE) < 0.02, random.integers(0, cells, PEOPLE), rows[-1])
        rows.append(there[group] if tick == ticks // 2 else moved)
    return rows


def design(domain: Domain = MAP, rho: int = 5, whole_bits: int = 4, **given: Any) -> SeriesDesign:
    plan = plan_series(domain, Budget(rho=rho), **({"ticks": TICKS, "moves": 6} | given))
    return replace(plan, whole_bits=whole_bits)


def twin_of(plan: SeriesDesign) -> SeriesDesign:
    """The same with every node looked at, and without filters."""
    return replace(plan, whole_bits=24, filters=False)


def run(window: SeriesWindow, tick: int, rows: Any, *, bound: bool) -> Any:
    if window.design.is_of_events:
        window.advance_counts(*np.unique(rows, return_counts=True))
    else:
        window.advance(rows)
    return window.draw(BOUND[tick] if bound else None)


@pytest.mark.parametrize(
    ("given", "bound", "kept"),
    [({}, True, 1), ({"strategy": "power"}, False, 2), ({"span": "event", "moves": 0}, False, 1)],
    ids=["bound", "power", "events"],
)
def test_what_is_looked_at_is_what_all_nodes_would_have(
    given: Any, bound: bool, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes that come late, or come again after they were left behind, have the numbers of a window that keeps all of them."""
    monkeypatch.setattr(visiting, "KEPT_TICKS", kept)
    plan = design(**given)
    key = NoiseKey.for_research(5)
    window, twin = SeriesWindow(plan, key, PEOPLE), SeriesWindow(twin_of(plan), key, PEOPLE)
    whole, looked_at = plan.whole_levels, set()
    for tick, rows in enumerate(walk()):
        if tick == 3:
            window.skip()
            twin.skip()
            continue
        ours, theirs = run(window, tick, rows, bound=bound), run(twin, tick, rows, bound=bound)
        for number, level in enumerate(window.estimates[whole:], start=whole):
            assert isinstance(level, VisitedEstimate)
            nodes = ours.nodes[number]
            assert nodes.size > 0
            assert np.array_equal(ours.measured[number], theirs.measured[number][nodes])
            expected = twin.estimates[number].counts  # type: ignore[union-attr]
            assert np.array_equal(level.arrays()["counts"], expected[level.nodes])
        assert ours.nodes[-1].size < SIDE * SIDE / 2
        looked_at |= set(ours.nodes[-1].tolist())
    assert len(looked_at) > window.estimates[-1].nodes.size, "some were left behind"  # type: ignore[union-attr]


def test_the_noise_of_some_nodes_is_theirs_among_all() -> None:
    plan = design()
    key, sampler = NoiseKey.for_research(2), plan.levels[-1].sampler
    nodes = np.array([0, 5, 17, 600, 1023])
    assert np.array_equal(noise_of_nodes(key, 3, 10, sampler, nodes), noise_of_level(key, 3, 10, sampler)[nodes])
    assert np.array_equal(noise_of_nodes(key, 1, 4, sampler, nodes[:2]), noise_of_level(key, 1, 4, sampler)[nodes[:2]])


@pytest.mark.filterwarnings("ignore:A budget of")
@pytest.mark.parametrize("domain", [MAP, PADDED], ids=["whole", "padded"])
def test_tables_follow_people_to_places_that_were_empty(domain: Domain) -> None:
    """With little noise tables are right at every tick, also below nodes that were never looked at before."""
    plan = design(domain, rho=10**5, moves=TICKS)
    window = SeriesWindow(plan, NoiseKey.for_research(1), PEOPLE)
    for rows in walk(domain.cells):
        table = window.publish(rows).table.to_dense().reshape(-1)
        assert np.array_equal(table, np.bincount(rows, minlength=domain.cells))


def test_full_places_lose_nobody_to_what_is_not_looked_at() -> None:
    """Counts >= 0 give some of the people of full places to empty ones. Leaving out subtrees must not add to it."""
    plan, rows = design(rho=1, moves=2), walk()[:1] * 2
    full = np.bincount(rows[0], minlength=SIDE * SIDE) > 10
    differences, totals = [], []
    for key in range(12):
        found = []
        for one in (plan, twin_of(plan)):
            window = SeriesWindow(one, NoiseKey.for_research(key), PEOPLE)
            found.append([window.publish(cells).table.to_dense().reshape(-1) for cells in rows][-1])
        differences.append(found[0][full].sum() - found[1][full].sum())
        totals.append(found[0].sum() - PEOPLE)
    for signed in (differences, totals):
        assert abs(np.mean(signed)) < 4 * np.std(signed, ddof=1) / len(signed) ** 0.5
    assert abs(np.mean(differences)) < 3


def test_a_window_that_is_resumed_gives_the_same_bytes() -> None:
    plan, key, rows = design(), NoiseKey.for_research(4), walk()
    window = SeriesWindow(plan, key, PEOPLE)
    tables = [run(window, tick, one, bound=True) for tick, one in enumerate(rows)]
    first = SeriesWindow(plan, key, PEOPLE)
    for tick, one in enumerate(rows[:5]):
        run(first, tick, one, bound=True)
    resumed = SeriesWindow(plan, key, PEOPLE, history=first.history)
    resumed.paths = first.paths
    for old, new in zip(first.estimates, resumed.estimates, strict=True):
        new.restore(5, {name: array.copy() for name, array in old.arrays().items()})
    for tick, one in enumerate(rows[5:], start=5):
        found = run(resumed, tick, one, bound=True)
        assert np.array_equal(found.table.to_dense(), tables[tick].table.to_dense())
        assert all(np.array_equal(a, b) for a, b in zip(found.measured, tables[tick].measured, strict=True))


def test_arrays_of_others_are_refused() -> None:
    plan = design()
    window = SeriesWindow(plan, NoiseKey.for_research(4), PEOPLE)
    window.publish(walk()[0])
    kept = window.estimates[-1].arrays()
    for name, wrong in (
        ("counts", kept["counts"][:-1]),
        ("bounds", kept["bounds"][:0]),
        ("nodes", kept["nodes"][::-1]),
    ):
        with pytest.raises(ParameterError, match="arrays"):
            VisitedEstimate(plan.levels[-1]).restore(1, {**kept, name: wrong})


def test_a_domain_beyond_what_is_looked_at_as_a_whole_is_planned_and_published() -> None:
    country = Domain((Mesh("KEY_CODE", "1/2", 0, 0, 8192, 8192),))
    plan = plan_series(country, Budget(rho=5), ticks=4, moves=2)
    assert plan.is_visited
    assert plan.layout.depth == 26
    window = SeriesWindow(plan, NoiseKey.for_research(1), 2000)
    cells = np.repeat(np.array([5, 8192 * 8192 - 1]), 1000)
    for _ in range(2):
        table = window.publish(cells).table
        assert abs(table.total - 2000) < 100
    visited = [level for level in window.estimates if isinstance(level, VisitedEstimate)]
    assert len(visited) == len(plan.levels) - plan.whole_levels
    assert sum(int(level.nodes.size) for level in visited) < 100_000
    with pytest.raises(ParameterError, match="whole_bits"):
        replace(plan, whole_bits=30)
