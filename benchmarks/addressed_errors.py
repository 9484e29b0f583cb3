"""Signed errors of the addressed tree beside the plain wide tree: ``python -m benchmarks.addressed_errors RUNS`` prints them.

One table of 48 x 40 cells at epsilon 1; nobody lives in its eastern half. Noise is fresh, so figures differ a little each time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare import Budget, CountTable
from sudare.noise.addressed import NoiseKey
from sudare.tables import wide_tree
from sudare.tables.addressed.mechanism import addressed_wide_tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["measure_errors"]

SHAPE, HALF, LARGE = (48, 40), 20, 40


def _truth() -> NDArray[np.int64]:
    random = np.random.default_rng(1)
    counts = random.poisson(0.3, SHAPE) * random.integers(0, 50, SHAPE)
    counts[:, HALF:] = 0
    return counts


def _sums(errors: NDArray[np.int64], truth: NDArray[np.int64]) -> dict[str, float]:
    west = errors[:, :HALF]
    parts = {
        "total": errors,
        "west, where all live": west,
        "east, where nobody lives": errors[:, HALF:],
        "first row": errors[0],
        "last row": errors[-1],
        "first column": errors[:, 0],
        "last column, nobody": errors[:, -1],
        "last column with people": errors[:, HALF - 1],
        "first column without people": errors[:, HALF],
        "cells with people": errors[truth > 0],
        "cells of nobody, west": west[truth[:, :HALF] == 0],
        "large cells": errors[truth >= LARGE],
    }
    return {name: float(part.sum()) for name, part in parts.items()}


def measure_errors(publish: Callable[[], Any], runs: int) -> dict[str, tuple[float, float, float]]:
    """Mean error, its standard error and the root mean squared error of each sum."""
    truth = _truth()
    found = [_sums(publish().table.to_dense() - truth, truth) for _ in range(runs)]
    columns = {name: np.array([one[name] for one in found]) for name in found[0]}
    return {
        name: (float(e.mean()), float(e.std(ddof=1) / runs**0.5), float(np.sqrt((e**2).mean())))
        for name, e in columns.items()
    }


def main(runs: int) -> None:
    """Print all figures."""
    table, budget = CountTable.from_dense(_truth()), Budget(epsilon=1)
    ours = measure_errors(lambda: addressed_wide_tree(table, budget, NoiseKey.fresh()), runs)
    theirs = measure_errors(lambda: wide_tree(table, budget, estimate="plain"), runs)
    for name, (mean, error, root) in ours.items():
        other = theirs[name]
        print(
            f"{name:28}{mean:+9.1f} ± {error:4.2f}  {root:7.1f}   plain {other[0]:+9.1f} ± {other[1]:4.2f}  {other[2]:7.1f}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]))
