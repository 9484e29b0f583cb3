"""Subtrees on executors beside one machine: what the second mode of a release on Spark costs where both fit.

`measure_subtrees` releases a frame of counts with noise that executors draw; `ratio_to_one_machine` divides its time by that of
counts that are brought to the driver and drawn there, given the seconds of the latter.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare import Budget, Domain, Unit
from sudare.ledger import open_ledger
from sudare.releases.subtrees.cluster_settings import REQUIRED
from sudare.releases.subtrees.job import release_subtrees
from sudare.releases.subtrees.plan import SubtreePlan

__all__ = ["SubtreeTimes", "measure_subtrees", "ratio_to_one_machine"]

UNIT = Unit("person")


@dataclass(frozen=True)
class SubtreeTimes:
    """How long a release took, in seconds.

    Attributes:
        count: reading the counts, writing them and their digests.
        draw: the upper levels and all subtrees.
        whole: everything, the ledger and the files included.
        parts: how many files were published.
    """

    count: float
    draw: float
    whole: float
    parts: int


def measure_subtrees(
    counts: Any, domain: Domain, *, epsilon: float = 1, people_per_subtree: int = 1_000_000
) -> SubtreeTimes:
    """Release counts that are on Spark, and throw the release away.

    Args:
        counts: a frame of keys of cells and counts.
        domain: the cells that there are.
        epsilon: what is spent.
        people_per_subtree: how large parts may be.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        budget = Budget(epsilon=epsilon)
        with open_ledger(folder / "ledger.db", create=True) as ledger:
            ledger.add_dataset("people", budget, unit=UNIT)
        plan = SubtreePlan(
            title="benchmark",
            source="benchmark",
            domain=domain,
            budget=budget,
            dataset="people",
            ledger=folder / "ledger.db",
            folder=folder / "released",
            unit=UNIT,
            people_per_subtree=people_per_subtree,
        )
        reached: dict[str, float] = {}
        start = time.perf_counter()

        def note(stage: str, done: float | None) -> None:
            reached.setdefault(stage, time.perf_counter() - start)

        released = release_subtrees(plan, counts, accept_missing=tuple(REQUIRED), progress=note)
        whole = time.perf_counter() - start
    return SubtreeTimes(
        count=reached["bind"] - reached["count"],
        draw=reached["write"] - reached["draw"],
        whole=whole,
        parts=len(released.document["files"]),
    )


def ratio_to_one_machine(times: SubtreeTimes, one_machine: float) -> float:
    """How many times as long as on one machine.

    Args:
        times: from `measure_subtrees`.
        one_machine: seconds of the same release where the driver draws.
    """
    return times.whole / one_machine
