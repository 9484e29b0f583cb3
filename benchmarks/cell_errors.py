"""Single cells, with ``workload="cells"``, against Laplace noise on each cell refined on the simplex with the true total."""

from __future__ import annotations

import numpy as np

import sudare
from benchmarks.data import data_folder, window_500m
from sudare.refine import nearest_integers, project_on_simplex

__all__ = ["TARGETS", "run"]

REPEATS = 10
EPSILONS = {"1": 1.0, "01": 0.1}

TARGETS = {
    "cells_vs_simplex": "at most 1.0 + 2 standard errors (geometric mean: 10 maps of DPBench, Tokyo, Hokkaido; both epsilons)",
    "cells_vs_simplex_worst": "the worst of these maps",
}


def run() -> dict[str, float]:
    """All numbers of this benchmark."""
    ratios: dict[str, float] = {}
    errors: list[float] = []
    for name, true in _maps().items():
        for label, epsilon in EPSILONS.items():
            ratio, standard_error = _compared(true, epsilon)
            ratios[f"cells_vs_simplex_{name}_{label}"] = ratio
            errors.append(standard_error / ratio)
    logarithms = np.log(list(ratios.values()))
    return {
        **ratios,
        "cells_vs_simplex": float(np.exp(logarithms.mean())),
        "cells_vs_simplex_standard_error": float(
            np.exp(logarithms.mean()) * np.sqrt(np.square(errors).sum()) / len(errors)
        ),
        "cells_vs_simplex_worst": float(np.exp(logarithms.max())),
    }


def _maps() -> dict[str, sudare.CountTable]:
    found = {
        path.stem.removesuffix("_256_256").lower(): sudare.CountTable.from_dense(np.load(path).astype(np.int64))
        for path in sorted((data_folder("dpbench") / "2D").glob("*.npy"))
    }
    return {**found, "tokyo": window_500m(8307, 6063, 512), "hokkaido": window_500m(10160, 6592, 512)}


def _compared(true: sudare.CountTable, epsilon: float) -> tuple[float, float]:
    """The ratio of root mean squared errors of cells, and its standard error."""
    budget, dense = sudare.Budget(epsilon=epsilon), true.to_dense()
    ours, theirs = np.empty(REPEATS), np.empty(REPEATS)
    for turn in range(REPEATS):
        published = sudare.publish(true, budget, workload="cells").table.to_dense()
        noisy, _ = sudare.add_noise(dense, budget)
        refined = nearest_integers(project_on_simplex(noisy, true.total), true.total)
        ours[turn], theirs[turn] = (((one - dense) ** 2).mean() for one in (published, refined))
    ratio = float(np.sqrt(ours.mean() / theirs.mean()))
    spread = [one.std(ddof=1) / (2 * one.mean() * np.sqrt(REPEATS)) for one in (ours, theirs)]
    return ratio, ratio * float(np.hypot(*spread))
