"""A toy mechanism: noise on each cell, and small results left out. It shows all that a new one takes: this module, and one line.

A plan of it::

    [method]
    name = "toy"
    least = 3
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain.table import CountTable
from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.parameters import exact_integer
from sudare.privacy.budget import Budget
from sudare.privacy.measurements import LaplaceMeasurement
from sudare.privacy.unit import Unit, sensitivity_of_counts
from sudare.tables.arguments import read_request
from sudare.tables.mechanism import Mechanism, PlannedCall, SettingWords, SizeLimit
from sudare.tables.published import NoisyCounts, Published

__all__ = ["HOME", "TOY", "leave_out_small"]

MAX_CELLS = 1 << 16


def leave_out_small(
    table: CountTable,
    budget: Budget,
    *,
    least: int = 1,
    unit: Unit | None = None,
    entropy: EntropySource | None = None,
    threads: int = 1,
    keep_measurements: bool = False,
) -> Published:
    """Publish noisy counts that are at least so large, and 0 for the others."""
    request = read_request(
        "toy", table, budget, unit=unit, entropy=entropy, threads=threads, keep_measurements=keep_measurements
    )
    smallest = _read_least(least)
    measurement = LaplaceMeasurement.for_budget(request.budget, sensitivity_of_counts(request.unit))
    event = request.state("toy", [measurement], "optimal")
    domain = request.table.domain
    noisy = noise_for(measurement).draw(domain.cells, request.source, threads=request.threads)
    noisy[request.table.keys] += request.table.counts
    keys = np.flatnonzero(noisy >= smallest).astype(np.uint64)
    kept = (NoisyCounts("cells", measurement, np.arange(domain.cells, dtype=np.uint64), noisy),)
    measured = kept if request.keeps_measurements else None
    return Published(CountTable(domain, keys, noisy[keys]), event, measurements=measured)


def _read_least(least: object) -> int:
    return exact_integer(least, "least", "toy", "a whole number from 1 to 1000", smallest=1, largest=1000)


def _check(call: PlannedCall) -> None:
    _read_least(call.settings.get("least", 1))


def _all_cells(shape: Sequence[int], settings: Mapping[str, Any]) -> int:
    return prod(shape)


TOY = Mechanism(
    name="toy",
    function=leave_out_small,
    words=Words("toy mechanism", "おもちゃの方式"),
    noises=("laplace",),
    limit=SizeLimit(
        max_cells=MAX_CELLS,
        visited=_all_cells,
        words=Words(
            'cannot be "{name}" for {cells:,} cells', "を「{name}」にできるのは小さな表だけです（指定: {cells:,}）"
        ),
    ),
    check=_check,
    setting_words={
        "least": SettingWords(name=Words("Smallest toy", "最小のおもちゃ"), values={"7": Words("seven", "七")})
    },
)
HOME = "tests.contracts.toy_mechanism:TOY"
