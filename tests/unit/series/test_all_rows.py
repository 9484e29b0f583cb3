"""What one person spends in a window, for every sequence of rows that a person can have, over all levels and margins together."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sudare import Budget
from sudare.domain import Category, CountTable, Domain
from sudare.series.design import MarginDesign, SeriesDesign
from sudare.series.paths import Paths
from sudare.series.planning import plan_series
from sudare.tables.trees.dense_tree import places_in_tree

Squares = NDArray[np.float64]

TICKS = 4
BUDGETS = (Budget(rho=1), Budget(epsilon=1))
PLACES = CountTable.from_dense(np.zeros((2, 2), dtype=np.int64)).domain
SEXES = Domain((Category("place", ("a", "b", "c")), Category("sex", ("f", "m"))))
"""Three places and two sexes; the sums of both are measured beside the tree."""


def all_rows(design: SeriesDesign) -> NDArray[np.int64]:
    """Every sequence of rows: a cell, or none, at each tick."""
    return np.array(list(product(range(-1, design.domain.cells), repeat=design.ticks)))


def counted(design: SeriesDesign, rows: NDArray[np.int64], opts_out: int | None = None) -> NDArray[np.int64]:
    """Where each of so many people is counted, as leaves of the tree; below 0 for nowhere."""
    paths, found = Paths(design.caps, len(rows)), []
    leaves = np.where(
        rows < 0, -1, places_in_tree(design.layout, np.maximum(rows, 0).ravel().astype(np.uint64)).reshape(rows.shape)
    )
    for tick in range(design.ticks):
        gone = np.full(len(rows), opts_out is not None and tick >= opts_out)
        paths.advance(tick, np.ascontiguousarray(leaves[:, tick]), gone)
        found.append(paths.cells.copy())
    return np.maximum(np.array(found).T, -1)


def measured(design: SeriesDesign, leaves: NDArray[np.int64]) -> list[Squares]:
    """What each person adds to the measured numbers of each level, and of each margin."""
    found = []
    nodes = [(np.where(leaves < 0, -1, leaves // width), design.domain.cells) for width in design.caps.widths]
    for margin in design.margins:
        cells = design.layout.to_raster(np.maximum(leaves, 0).ravel().astype(np.uint64))
        place = design.domain.places_of(cells)[margin.axis].astype(np.int64).reshape(leaves.shape)
        nodes.append((np.where(leaves < 0, -1, place), design.domain.shape[margin.axis]))
    for (places, size), level in zip(nodes, design.measured, strict=True):
        stocks = places[:, None, :] == np.arange(size)[None, :, None]
        changes = np.diff(stocks.astype(np.float64), axis=2, prepend=0)
        c = level.strategy.coefficients
        rows = np.array(
            [[c[t - u] if t >= u else 0 for u in range(design.ticks)] for t in range(design.ticks)], dtype=np.float64
        )
        found.append((changes @ rows.T).reshape(len(leaves), -1))
    return found


def spent(design: SeriesDesign, ones: list[Squares], others: list[Squares]) -> Squares:
    """What the difference of what two people add costs: in rho, or in epsilon for Laplace noise."""
    total = np.zeros(len(ones[0]))
    for one, other, level in zip(ones, others, design.measured, strict=True):
        spread, power = float(level.measurement.spread), 2 if level.measurement.noise == "gaussian" else 1
        total += (np.abs(one - other) ** power).sum(axis=1) / (power * spread)
    return total


def numbers_of(design: SeriesDesign, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of sequences in `all_rows`."""
    base = design.domain.cells + 1
    return (rows + 1) @ base ** np.arange(design.ticks)[::-1]


def spent_in_any_window(design: SeriesDesign) -> float:
    """The most that any so many rows after each other spend in the two windows that they meet; all other rows stay."""
    rows = all_rows(design)
    paths = counted(design, rows)
    most = 0.0
    for first in range(design.ticks):
        sums = 0.0
        for is_removed in (np.arange(design.ticks) >= first, np.arange(design.ticks) < first):
            others = paths[numbers_of(design, np.where(is_removed, -1, rows))]
            pairs = np.unique(np.concatenate([paths, others], axis=1), axis=0)
            one, other = (measured(design, path) for path in np.split(pairs, 2, axis=1))
            sums += float(spent(design, one, other).max())
        most = max(most, sums)
    return most


def design_of(
    domain: Domain, budget: Budget, moves: Any, absent_after: int | None, span: Any = "person-day"
) -> SeriesDesign:
    """A design, with more levels and margins than plans of so small a table have; each is measured as cells are."""
    given: Any = {"ticks": TICKS, "absent_after": absent_after, "span": span}
    if isinstance(moves, int):
        plan = plan_series(domain, budget, moves=moves, **given)
        margins = tuple(MarginDesign(axis, plan.levels[-1]) for axis in (0, 1)) if domain is SEXES else ()
        return replace(plan, margins=margins)
    levels = [plan_series(domain, budget, moves=(0, cap), **given).levels[-1] for cap in moves]
    plan = plan_series(domain, budget, moves=(0, moves[-1]), **given)
    return replace(plan, bits=(1, 1), levels=tuple(levels))


def charged(design: SeriesDesign) -> float:
    """What all that is measured costs together, of as many windows as the unit meets."""
    measurements = [level.measurement for level in design.measured] * design.blocks
    return float(sum(one.epsilon or one.rho for one in measurements))


GIVEN: list[tuple[Domain, Any]] = [(PLACES, 0), (PLACES, 1), (PLACES, 3), (PLACES, (0, 1, 2)), (SEXES, 1), (SEXES, 2)]
IDS = ["stays", "one move", "three moves", "caps by level", "margins", "margins, two moves"]


@pytest.mark.parametrize("absent_after", [1, 2, None])
@pytest.mark.parametrize(("domain", "moves"), GIVEN, ids=IDS)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_no_rows_spend_more_than_a_window_costs(
    budget: Budget, domain: Domain, moves: Any, absent_after: int | None
) -> None:
    design = design_of(domain, budget, moves, absent_after)
    rows, most = all_rows(design), 0.0
    for opts_out in (None, 1, 3):
        added = measured(design, np.unique(counted(design, rows, opts_out), axis=0))
        most = max(most, float(spent(design, added, [np.zeros_like(one) for one in added]).max()))
    assert 0.7 < most / charged(design) <= 1 + 1e-9


@pytest.mark.parametrize("absent_after", [1, None])
@pytest.mark.parametrize(("domain", "moves"), GIVEN, ids=IDS)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_no_ticks_after_each_other_spend_more_than_two_windows_cost(
    budget: Budget, domain: Domain, moves: Any, absent_after: int | None
) -> None:
    """The price of two added paths, without more, would not be enough: other rows of the person stay and take other paths."""
    design = design_of(domain, budget, moves, absent_after, "person-window")
    assert spent_in_any_window(design) <= charged(design) * (1 + 1e-9)
    if moves == 0:
        twin = design_of(domain, budget, moves, absent_after)
        assert spent_in_any_window(twin) > 2 * charged(twin), "two windows at the price of paths that are added"
