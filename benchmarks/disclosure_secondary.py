"""Hiding cells: the enterprise example of tau-ARGUS by cost and time, and a hierarchical table of 100,000 cells by time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.disclosure_known import enterprise_table
from sudare.disclosure.cell_table import Contributions, aggregate
from sudare.disclosure.rules import PPercent, primary_cells
from sudare.disclosure.structure import CellTable, Dimension
from sudare.disclosure.suppression.problem import SuppressionProblem
from sudare.disclosure.suppression.secondary import Suppression, suppress
from sudare.disclosure.suppression.singletons import lone_contributors

__all__ = ["EnterpriseFigures", "LargeFigures", "enterprise", "enterprise_problem", "large", "large_table"]


@dataclass(frozen=True)
class EnterpriseFigures:
    """The table act x product; costs are turnover, as tau-ARGUS counts them.

    Attributes:
        enterprise_cost: of the cells hidden to protect others, safe against lone contributors too.
        enterprise_cells: how many they are.
        enterprise_seconds: for search, certificate and audit.
        outsiders_cost: cheapest pattern found against outsiders only; sums of hidden cells are judged too.
        outsiders_at_least: no pattern that is safe against outsiders costs less.
        outsiders_seconds: for the exact method.
    """

    enterprise_cost: float
    enterprise_cells: int
    enterprise_seconds: float
    outsiders_cost: float
    outsiders_at_least: float
    outsiders_seconds: float


@dataclass(frozen=True)
class LargeFigures:
    """A hierarchical table of 100,000 cells.

    Attributes:
        large_cells: of the table.
        large_primary: unsafe cells.
        large_secondary: cells hidden to protect them.
        large_seconds: for search, certificate and audit.
    """

    large_cells: int
    large_primary: int
    large_secondary: int
    large_seconds: float


def enterprise_problem(
    known: Path, spanning: tuple[str, ...] = ("act", "product"), *, insiders: bool = True
) -> SuppressionProblem:
    """A table of the enterprise example as a problem."""
    table, cells = enterprise_table(known, spanning)
    if not insiders:
        return SuppressionProblem.of_table(table, cells)
    lone = lone_contributors(table)
    return SuppressionProblem.of_table(table, cells, insiders=lone.insiders, insider_rest=lone.rest)


def enterprise(known: Path, *, exact_seconds: float = 60.0) -> EnterpriseFigures:
    """Measure the enterprise example.

    Args:
        known: the folder known_answers.
        exact_seconds: time limit of the exact method.
    """
    found, seconds = _timed(enterprise_problem(known))
    exact, exact_took = _timed(enterprise_problem(known, insiders=False), exact_seconds=exact_seconds)
    return EnterpriseFigures(
        found.cost / 100,
        int(found.secondary.sum()),
        seconds,
        exact.cost / 100,
        exact.at_least / 100,
        exact_took,
    )


def large_table(records: int = 1_000_000) -> CellTable:
    """Regions x trades x size classes, 111 x 91 x 11 cells, some regions and trades much larger than others."""
    random = np.random.default_rng(20201001)
    dimensions = (_tree("region", 10, 10), _tree("trade", 10, 8), Dimension.flat("size", [f"s{n}" for n in range(10)]))
    codes = {}
    for dimension in dimensions:
        leaves = [dimension.codes[place] for place in dimension.leaves]
        weights = random.permutation(np.arange(1.0, len(leaves) + 1) ** -0.5)
        codes[dimension.name] = random.choice(np.array(leaves), size=records, p=weights / weights.sum())
    turnover = np.maximum(1, np.rint(np.exp(random.normal(5.0, 1.0, records)))).astype(np.int64)
    return aggregate(dimensions, codes, Contributions(turnover))


def large(table: CellTable | None = None) -> LargeFigures:
    """Measure the large table."""
    chosen = large_table() if table is None else table
    problem = SuppressionProblem.of_table(chosen, primary_cells(chosen, [PPercent(10)]))
    found, seconds = _timed(problem)
    return LargeFigures(problem.system.size, int(problem.primary.sum()), int(found.secondary.sum()), seconds)


def _timed(problem: SuppressionProblem, exact_seconds: float | None = None) -> tuple[Suppression, float]:
    start = time.perf_counter()
    found = suppress(problem) if exact_seconds is None else suppress(problem, method="exact", seconds=exact_seconds)
    return found, time.perf_counter() - start


def _tree(name: str, groups: int, parts: int) -> Dimension:
    return Dimension.of_tree(
        name, {f"{group}": {f"{group}.{part}": {} for part in range(parts)} for group in range(groups)}
    )
