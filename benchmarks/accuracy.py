"""Accuracy of every kind of table: maps against the papers' methods, and all the others against the best that is known of them.

Each part is a benchmark of its own. Every figure is the mean of several runs.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from benchmarks import (
    all_japan,
    cell_errors,
    cross_tables,
    dense_maps,
    histograms,
    map_scores,
    margins,
    mixed,
    predictions,
    references,
    small_tables,
    sparse_maps,
    totals,
)

__all__ = ["PARTS", "TARGETS", "run"]

_MODULES: dict[str, ModuleType] = {
    "map_scores": map_scores,
    "all_japan": all_japan,
    "cell_errors": cell_errors,
    "references": references,
    "predictions": predictions,
    "totals": totals,
    "mixed": mixed,
    "histograms": histograms,
    "cross_tables": cross_tables,
    "small_tables": small_tables,
    "dense_maps": dense_maps,
    "sparse_maps": sparse_maps,
    "margins": margins,
}
PARTS: dict[str, tuple[Callable[[], dict[str, float]], dict[str, str]]] = {
    name: (module.run, module.TARGETS) for name, module in _MODULES.items()
}
"""Parts that can be run by themselves: each takes minutes."""

TARGETS = {key: words for _, targets in PARTS.values() for key, words in targets.items()}


def run() -> dict[str, float]:
    """All numbers of all parts."""
    return {key: number for part, _ in PARTS.values() for key, number in part().items()}
