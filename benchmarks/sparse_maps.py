"""Sparse maps of more than 2**24 cells, which are too large to be measured as a whole: accuracy against the papers' best.

Scores are geometric means, over aligned squares of sides 1 to 64, of RMSE relative to NN-Wavelet under rho with the papers'
simple conversion at delta = 1e-6, minus 1; ours has delta = 0 and the automatic plan. Beside them stand scores of windows of the
same map, which are measured as a whole, and of the same plan without learning.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sudare
from benchmarks.data import germany_100m, japan_in_a_wide_window
from benchmarks.measuring import in_new_process
from sudare.evaluate import error_by_area

__all__ = ["TARGETS", "run"]

DELTA = 1e-6
SIDES = [1 << bits for bits in range(9)]
SCORED_SIDES = 7
REPEATS = 3
EPSILONS = {"1": 1.0, "01": 0.1, "001": 0.01}
GERMANY = {"first_row": 28891, "first_column": 41813, "rows": 4500, "columns": 4500}
"""From the Alps' foreland to the Harz: 20 million cells of 100 m, 7 % of them inhabited; more than 2**24 when padded."""

WINDOWS = [(row, column) for row in (0, 1500, 3000) for column in (0, 1500, 3000)]
WINDOW_SIDE = 512

TARGETS = {
    "norway_like_1": "at most -0.35 (Germany, 4500 x 4500 cells of 100 m, epsilon = 1)",
    "norway_like_01": "at most -0.35 (epsilon = 0.1)",
    "norway_like_001": "at most -0.35 (epsilon = 0.01)",
    "japan_wide_1": "at most -0.35 (all Japan in 8192 x 8192 cells of 500 m, epsilon = 1)",
    "japan_wide_01": "at most -0.35 (epsilon = 0.1)",
    "japan_wide_001": "at most -0.35 (epsilon = 0.01)",
    "diffuse_occupied": "at most 2 (published / true occupied cells: 10^6 cells of 1 to 20 people anywhere in 2^40)",
    "sparse_seconds": "at most 10 (processor time; 10^7 cells of 1 to 20 people anywhere in 2^40, epsilon = 1)",
    "sparse_gb": "at most 1 (peak memory above the table's)",
}

MEMORY_OF = """
def memory(field):
    lines = dict(line.split(":") for line in open("/proc/self/status") if ":" in line)
    return int(lines[field].split()[0]) * 1024 / 1e9
"""

MEMORY_CODE = (
    """
import sudare
from benchmarks.sparse_maps import GERMANY
from benchmarks.data import germany_100m
"""
    + MEMORY_OF
    + """
table, budget = germany_100m(**GERMANY), sudare.Budget(epsilon=1)
settings = {{**sudare.plan_table(table, budget).settings, "estimate": "{estimate}"}}
small = sudare.CountTable.from_cells(table.domain, table.keys[:3000], table.counts[:3000])
sudare.tables.wide_tree(small, budget, **settings)
open("/proc/self/clear_refs", "w").write("5")
before = memory("VmRSS")
sudare.tables.wide_tree(table, budget, **settings)
print(memory("VmHWM") - before)
"""
)

DIFFUSE_CODE = (
    """
import time
import numpy as np, sudare
"""
    + MEMORY_OF
    + """
generator = np.random.default_rng(1)
domain, budget = sudare.Domain.of_shape((1 << 20, 1 << 20)), sudare.Budget(epsilon=1)
keys = np.unique(generator.integers(0, 1 << 40, size={cells}, dtype=np.uint64))
table = sudare.CountTable.from_cells(domain, keys, generator.integers(1, 21, size=keys.size))
sudare.publish(sudare.CountTable.from_cells(domain, keys[:3000], np.full(3000, 20)), budget, threads=1)
open("/proc/self/clear_refs", "w").write("5")
before, start = memory("VmRSS"), time.process_time()
published = sudare.publish(table, budget, threads=1)
print(time.process_time() - start, memory("VmHWM") - before, published.table.keys.size / keys.size)
"""
)


def run() -> dict[str, float]:
    """All numbers of this benchmark."""
    numbers: dict[str, float] = {}
    germany = germany_100m(**GERMANY)
    for name, true in {"norway_like": germany, "japan_wide": japan_in_a_wide_window()}.items():
        for label, epsilon in EPSILONS.items():
            numbers |= {f"{key}_{label}": value for key, value in _compared(name, true, epsilon).items()}
    for label, epsilon in EPSILONS.items():
        numbers[f"windows_{label}"] = float(np.mean([_score_of_window(*corner, epsilon) for corner in WINDOWS]))
    for label, estimate in {"": "learned", "_plain": "plain"}.items():
        numbers[f"norway_like{label}_gb"] = float(in_new_process(MEMORY_CODE.format(estimate=estimate)))
    _, _, numbers["diffuse_occupied"] = map(float, in_new_process(DIFFUSE_CODE.format(cells=10**6)).split())
    found = map(float, in_new_process(DIFFUSE_CODE.format(cells=10**7)).split())
    numbers["sparse_seconds"], numbers["sparse_gb"], numbers["sparse_occupied"] = found
    return numbers


def _compared(name: str, true: sudare.CountTable, epsilon: float) -> dict[str, float]:
    """The score of the automatic plan, occupied cells and time, and those of the same plan without learning."""
    budget = sudare.Budget(epsilon=epsilon)
    plan = sudare.plan_table(true, budget)
    without = replace(plan, settings={**plan.settings, "estimate": "plain"})
    papers, _, _ = _measured(true, lambda: _papers_best(true, epsilon), REPEATS)
    numbers: dict[str, float] = {}
    for label, chosen in {"": plan, "_plain": without}.items():
        ours, occupied, seconds = _measured(true, partial(sudare.publish, true, budget, chosen, threads=1), REPEATS)
        ratios = np.sqrt(ours / papers)
        numbers[f"{name}{label}"] = _score(ratios)
        numbers[f"{name}{label}_worst_side"] = float(ratios.max()) - 1
        numbers[f"{name}{label}_occupied"] = occupied
        numbers[f"{name}{label}_seconds"] = seconds
    return numbers


def _score_of_window(row: int, column: int, epsilon: float) -> float:
    first_row, first_column = GERMANY["first_row"] + row, GERMANY["first_column"] + column
    true = germany_100m(first_row, first_column, WINDOW_SIDE, WINDOW_SIDE)
    budget = sudare.Budget(epsilon=epsilon)
    papers, _, _ = _measured(true, lambda: _papers_best(true, epsilon), 4 * REPEATS)
    ours, _, _ = _measured(true, lambda: sudare.publish(true, budget, threads=1), 4 * REPEATS)
    return _score(np.sqrt(ours / papers))


def _score(ratios: NDArray[np.float64]) -> float:
    return float(np.exp(np.log(ratios[:SCORED_SIDES]).mean())) - 1


def _papers_best(true: sudare.CountTable, epsilon: float) -> sudare.Published:
    budget = sudare.Budget(epsilon=epsilon, delta=DELTA)
    return sudare.tables.nn_wavelet(true, budget, noise="gaussian", conversion="simple")


def _measured(
    true: sudare.CountTable, publish: Callable[[], Any], repeats: int
) -> tuple[NDArray[np.float64], float, float]:
    """Mean squared errors by side, published cells relative to the true ones, and the shortest time."""
    squares, occupied, fastest = np.zeros(len(SIDES)), 0.0, float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        published = publish()
        fastest = min(fastest, time.perf_counter() - start)
        squares += [area.rmse**2 for area in error_by_area(true, published, SIDES)]
        occupied += published.table.keys.size / true.keys.size
    return squares / repeats, occupied / repeats, fastest
