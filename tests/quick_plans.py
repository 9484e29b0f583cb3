"""Plans and predictions of commands in fewer steps, for tests that judge neither.

A plan follows from what is asked for alone: a process of the tests makes it once. A prediction tries its method twice on each
table, not six times. Tests of `sudare.tables.planning` and `sudare.accuracy` do without, and so does ``python -m sudare``.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from sudare.accuracy import predicting
from sudare.domain import Domain
from sudare.tables.planning import planner
from sudare.tables.planning.map_planning import plan_wide_tree

__all__ = ["predict_quickly", "quick_plans", "remembered"]

TRIALS = predicting.SLOW_RUNS


def remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, which is asked once for the same arguments: two that are written alike are the same."""
    known: dict[bytes, Any] = {}

    def answer(*arguments: Any, **named: Any) -> Any:
        written = pickle.dumps((arguments, named))
        if written not in known:
            known[written] = function(*arguments, **named)
        return known[written]

    return answer


_plan = remembered(plan_wide_tree)
_usual = predicting._read_runs


def _read_runs(runs: object, domain: Domain) -> int:
    return _usual(TRIALS if runs is None else runs, domain)


def predict_quickly() -> None:
    """For the rest of a process that runs one command."""
    predicting._read_runs = _read_runs


@pytest.fixture(autouse=True)
def quick_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """For every test of a folder whose ``conftest`` names it."""
    monkeypatch.setattr(planner, "plan_wide_tree", _plan)
    monkeypatch.setattr(predicting, "_read_runs", _read_runs)
