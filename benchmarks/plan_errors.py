"""Errors of automatic plans on real tables, beside what the plans predicted: one release for each table, budget and workload."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import sudare
from benchmarks.plan_tables import NamedTable
from sudare.accuracy.groupings import Grouping, Partition
from sudare.tables.strategies.axes import places_and_attributes

__all__ = ["MeasuredPart", "errors_of_part", "measure_parts"]

SEED = 1_000
PURE = [sudare.Budget(epsilon=epsilon) for epsilon in (0.01, 0.1, 1, 10)]
CONCENTRATED = [sudare.Budget(rho=rho) for rho in (5e-5, 5e-3, 0.5)]
BOTH = sudare.Budget(epsilon=1, delta=1e-6)
FEW = [PURE[1], PURE[2], CONCENTRATED[1]]
"""Budgets at which every workload is tried; and all that large tables are tried at."""

MAP_WORKLOADS: tuple[Any, ...] = ("cells", "areas", "totals", (1, 16))
CROSS_TABLE_WORKLOADS: tuple[Any, ...] = ("cells", "margins", "totals")
HISTOGRAM_WORKLOADS: tuple[Any, ...] = ("prefixes", "cells")


@dataclass(frozen=True)
class MeasuredPart:
    """One part of a workload: what was predicted, and the errors of one release.

    Attributes:
        source: of the table.
        table: its name.
        cells: how many it has.
        mechanism: what the plan chose.
        predicted: by the plan, where nothing is known of the people.
        for_people: by the plan, where their number is known to one digit.
        people: that number.
        inhabited: the root mean squared error over sums in which somebody is counted.
        everywhere: the root mean squared error over all sums.
    """

    source: str
    table: str
    cells: int
    mechanism: str
    predicted: sudare.tables.PredictedError
    for_people: sudare.tables.PredictedError
    people: int
    inhabited: float
    everywhere: float


def measure_parts(tables: Iterable[NamedTable]) -> Iterator[MeasuredPart]:
    """Publish tables once at each budget and workload, and measure every part of the workload that is not published exactly."""
    for number, one in enumerate(tables):
        cells = one.table.domain.cells
        about = int(float(f"{one.table.total:.0e}"))
        for turn, (budget, workload) in enumerate(_settings(one)):
            plan = sudare.plan_table(one.table, budget, workload=workload)
            entropy = sudare.ResearchEntropy(SEED * number + turn)
            published = sudare.publish(one.table, budget, plan, entropy=entropy, threads=1)
            for predicted, known in zip(plan.errors, plan.for_people(about).errors, strict=True):
                if predicted.rmse > 0 and (predicted.side == 1 or _has_areas(one.table.domain)):
                    found = errors_of_part(one.table, published, plan, predicted)
                    yield MeasuredPart(one.source, one.name, cells, plan.mechanism, predicted, known, about, *found)


def _settings(one: NamedTable) -> list[tuple[sudare.Budget, Any]]:
    if one.is_large:
        return [(budget, None) for budget in (PURE[0], *FEW)]
    workloads = MAP_WORKLOADS if _has_areas(one.table.domain) else CROSS_TABLE_WORKLOADS
    if len(one.table.domain.shape) == 1:
        workloads = HISTOGRAM_WORKLOADS
    usual = [(budget, None) for budget in (*PURE, *CONCENTRATED, BOTH)]
    return usual + [(budget, workload) for workload in workloads for budget in FEW]


def _has_areas(domain: sudare.Domain) -> bool:
    """Where no axis has an order, cells are all that anybody looks at: blocks of categories mean nothing."""
    return bool(domain.ordered_axes)


def errors_of_part(
    table: sudare.CountTable, published: sudare.Published, plan: sudare.Plan, part: sudare.tables.PredictedError
) -> tuple[float, float]:
    """The root mean squared errors of one part of a workload in one release: where somebody is counted, and everywhere."""
    if plan.mechanism == "histogram":
        return (
            _errors_of_all(table, published, part.name) if part.name else _errors_of_ranges(table, published, part.side)
        )
    domain = table.domain
    grouping = Grouping("area", "", part.side, tuple(_partitions(domain, plan, part)))
    if grouping.groups != part.sums:
        raise AssertionError(f"{grouping.groups} sums of side {part.side}, and not {part.sums} as the plan says")
    groups = np.concatenate([grouping.group_of(domain, t.keys) for t in (table, published.table)])
    found, place = np.unique(groups, return_inverse=True)
    true, public = place[: table.keys.size], place[table.keys.size :]
    people = np.bincount(true, weights=table.counts, minlength=found.size)
    squares = (np.bincount(public, weights=published.table.counts, minlength=found.size) - people) ** 2
    return float(np.sqrt(squares[people > 0].mean())), float(np.sqrt(squares.sum() / grouping.groups))


def _partitions(domain: sudare.Domain, plan: sudare.Plan, part: sudare.tables.PredictedError) -> Iterator[Partition]:
    parts = places_and_attributes(domain) if plan.mechanism == "margin-tree" else None
    attributes = () if parts is None else parts.attributes
    names = [attribute.name for attribute in domain.attributes for _ in attribute.shape]
    area = None if parts is None else parts.hierarchy
    for axis, length in enumerate(domain.shape):
        if area is not None and names[axis] == area.name:
            yield Partition(length, edges=area.level(part.name).edges)
            continue
        block = min(part.side ** domain.dimensions[axis], length)
        if axis in attributes:
            block = 1 if names[axis] in part.margin else length
        yield Partition(length, block)


def _errors_of_ranges(table: sudare.CountTable, published: sudare.Published, length: int) -> tuple[float, float]:
    """Over all ranges of a length, wherever they start."""
    true, public = (np.concatenate([[0], np.cumsum(one.to_dense())]) for one in (table, published))
    people = true[length:] - true[:-length]
    squares = (public[length:] - public[:-length] - people).astype(np.float64) ** 2
    return float(np.sqrt(squares[people > 0].mean())), float(np.sqrt(squares.mean()))


def _errors_of_all(table: sudare.CountTable, published: sudare.Published, name: str) -> tuple[float, float]:
    """Over all prefixes, or over all ranges of any length."""
    true, public = (np.concatenate([[0], np.cumsum(one.to_dense())]) for one in (table, published))
    departures = (public - true).astype(np.float64)
    if name == "prefixes":
        squares = departures[1:] ** 2
        return float(np.sqrt(squares[true[1:] > 0].mean())), float(np.sqrt(squares.mean()))
    # Ranges are pairs of ends. Between ends with as many people before them there is nobody.
    ends = departures.size
    every, pairs = ends * float((departures**2).sum()) - float(departures.sum()) ** 2, ends * (ends - 1) / 2
    _, place, sizes = np.unique(true, return_inverse=True, return_counts=True)
    sums, of_squares = (np.bincount(place, weights=departures**power) for power in (1, 2))
    nobody, of_nobody = float((sizes * of_squares - sums**2).sum()), float((sizes * (sizes - 1) / 2).sum())
    return float(np.sqrt((every - nobody) / (pairs - of_nobody))), float(np.sqrt(every / pairs))
