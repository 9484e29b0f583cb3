"""Maps of people with attributes: mesh x age x sex, against whoever wants one part of it alone.

Each part of the workload (a size of area times a margin) is compared with a specialist that has the whole budget: one map for
totals, separate maps (parallel composition) for the categories of a margin. All are automatic plans of the same run. A map has
few large areas, so sizes from 64 on are compared by their exact variances, and the others by measured errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import sudare
from benchmarks.data import data_folder
from sudare.tables.planning.prediction import wide_tree_variances

SIDE = 256
CORNER = (8435, 6191)
RUNS = 6
MEASURED_SIDES = (1, 2, 4, 8, 16, 32)
PREDICTED_SIDES = (64, 128, 256)
AGES = {
    "0-14": (("T001141005", "T001141006"), None),
    "15-64": (("T001141011", "T001141012"), None),
    "65-74": (("T001141020", "T001141021"), ("T001141023", "T001141024")),
    "75-84": (("T001141023", "T001141024"), ("T001141026", "T001141027")),
    "85-": (("T001141026", "T001141027"), None),
}
BUDGETS = {
    "1": sudare.Budget(epsilon=1),
    "01": sudare.Budget(epsilon=0.1),
    "zcdp": sudare.Budget(rho=0.05),
}

TARGETS = {
    "mixed_mean_1": "at most 2.2 (256 x 256 cells of Tokyo x age 5 x sex 2, epsilon = 1: mean ratio to specialists)",
    "mixed_worst_1": "at most 3.0 (the largest of these ratios)",
    "mixed_mean_zcdp": "at most 1.55 (rho = 0.05)",
    "mixed_worst_zcdp": "at most 1.7",
    "mixed_margin_rmse_1": "RMSE of age x sex totals (a tree without margins: 14,826; separate maps: 19; flat noise: 290)",
}

Table = NDArray[np.int64]


def tokyo_by_age_and_sex() -> sudare.CountTable:
    """Meshes of 500 m around Tokyo by five age groups and sex, census 2020."""
    import pyarrow.parquet

    mesh = sudare.Mesh("KEY_CODE", "1/2", *CORNER, SIDE, SIDE)
    domain = sudare.Domain((mesh, sudare.Category("age", tuple(AGES)), sudare.Category("sex", ("male", "female"))))
    table = pyarrow.parquet.read_table(data_folder("japan_mesh500m_2020") / "full.parquet")
    rows, columns = sudare.domain.mesh_cells(table["mesh_code"].to_numpy(), mesh.level)
    rows, columns = rows - mesh.first_row, columns - mesh.first_column
    inside = (rows >= 0) & (rows < SIDE) & (columns >= 0) & (columns < SIDE)
    counts = np.zeros(domain.shape, dtype=np.int64)

    def people(name: str) -> Table:
        return np.asarray(table[name].fill_null(0).to_numpy()[inside], dtype=np.int64)

    for age, (both, less) in enumerate(AGES.values()):
        for sex in range(2):
            own = people(both[sex]) - (people(less[sex]) if less else 0)
            counts[rows[inside], columns[inside], age, sex] = np.maximum(own, 0)
    return sudare.CountTable.from_dense(counts, domain)


def run() -> dict[str, float]:
    """Ratios of errors to those of specialists, for each budget."""
    table = tokyo_by_age_and_sex()
    numbers: dict[str, float] = {}
    for label, budget in BUDGETS.items():
        plan = sudare.plan_table(table, budget)
        ours, margins = _ours(table, budget, plan)
        specialists = _specialists(table.to_dense(), budget)
        ratios = {part: float(np.sqrt(ours[part] / specialists[part])) for part in ours}
        ratios |= _predicted(plan, budget)
        numbers[f"mixed_mean_{label}"] = float(np.exp(np.mean(np.log(list(ratios.values())))))
        numbers[f"mixed_worst_{label}"] = max(ratios.values())
        numbers[f"mixed_margin_rmse_{label}"] = margins
        for (side, kept), ratio in ratios.items():
            numbers[f"mixed_{label}_side_{side}_by_{'_'.join(kept) or 'all'}"] = ratio
    return numbers


def _margins(error: Table) -> dict[tuple[str, ...], Table]:
    return {
        (): error.sum(axis=(2, 3))[..., None],
        ("age",): error.sum(axis=3),
        ("sex",): error.sum(axis=2),
        ("age", "sex"): error.reshape(SIDE, SIDE, -1),
    }


def _squares(error: Table, side: int) -> float:
    blocks = error.reshape(SIDE // side, side, SIDE // side, side, -1).sum(axis=(1, 3))
    return float((blocks.astype(np.float64) ** 2).mean())


def _ours(
    table: sudare.CountTable, budget: sudare.Budget, plan: sudare.Plan
) -> tuple[dict[tuple[int, tuple[str, ...]], float], float]:
    found: dict[tuple[int, tuple[str, ...]], float] = {}
    whole = []
    true = table.to_dense()
    for seed in range(RUNS):
        published = sudare.publish(table, budget, plan, entropy=sudare.ResearchEntropy(seed))
        error = published.to_dense() - true
        whole.append(float((error.sum(axis=(0, 1)).astype(np.float64) ** 2).mean()))
        for kept, margin in _margins(error).items():
            for side in MEASURED_SIDES:
                found[side, kept] = found.get((side, kept), 0.0) + _squares(margin, side) / RUNS
    return found, float(np.sqrt(np.mean(whole)))


def _specialists(true: Table, budget: sudare.Budget) -> dict[tuple[int, tuple[str, ...]], float]:
    """Mean squares of one map for totals, and of separate maps for categories, each with the whole budget."""
    plan = sudare.plan_table(sudare.Domain.of_shape((SIDE, SIDE)), budget)
    found: dict[tuple[int, tuple[str, ...]], float] = {}
    for kept, maps in _margins(true).items():
        errors = np.stack([_map_error(maps[..., k], budget, plan, k) for k in range(maps.shape[2])], axis=2)
        for side in MEASURED_SIDES:
            found[side, kept] = _squares(errors, side)
    return found


def _map_error(counts: Table, budget: sudare.Budget, plan: sudare.Plan, seed: int) -> Table:
    published: Any = sudare.publish(counts.copy(), budget, plan, entropy=sudare.ResearchEntropy(seed))
    return np.asarray(published.to_dense() - counts)


def _predicted(plan: sudare.Plan, budget: sudare.Budget) -> dict[tuple[int, tuple[str, ...]], float]:
    """Ratios at the largest sizes, by the exact variances of both plans."""
    of_map = sudare.plan_table(sudare.Domain.of_shape((SIDE, SIDE)), budget)
    noise = [level.deviation**2 for level in of_map.levels]
    heights = [2 * (side.bit_length() - 1) for side in PREDICTED_SIDES]
    alone = dict(
        zip(
            PREDICTED_SIDES,
            np.sqrt(wide_tree_variances(of_map.settings["bits"], noise, heights, combined=True)),
            strict=True,
        )
    )
    return {(e.side, e.margin): float(e.rmse / alone[e.side]) for e in plan.errors if e.side in alone}
