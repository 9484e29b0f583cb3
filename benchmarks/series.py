"""Repeated releases: what a series wins over fresh noise at every tick, over the methods of others, and what a tick takes.

Parts can be run by themselves: ``python -m benchmarks series_margins``, ``series_strategies``, ``series_streams``,
``series_ticks``.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from benchmarks import series_margins, series_strategies, series_streams, series_ticks

__all__ = ["PARTS", "TARGETS", "run"]

_MODULES: dict[str, ModuleType] = {
    "series_margins": series_margins,
    "series_strategies": series_strategies,
    "series_streams": series_streams,
    "series_ticks": series_ticks,
}
PARTS: dict[str, tuple[Callable[[], dict[str, float]], dict[str, str]]] = {
    name: (module.run, module.TARGETS) for name, module in _MODULES.items()
}
TARGETS = {key: words for _, targets in PARTS.values() for key, words in targets.items()}


def run() -> dict[str, float]:
    """All numbers of all parts."""
    return {key: number for part, _ in PARTS.values() for key, number in part().items()}
