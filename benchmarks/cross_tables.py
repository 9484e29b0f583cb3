"""A cross table of many attributes: margins of Adult by `adaptive_margins` beside our own AIM at the same budget.

Eight attributes of Adult (1,814,400 cells, 48,842 people). The error of an order is the mean over all margins of so many
attributes of the l1 distance between true and published shares. AIM is `synthesize(method="aim")` with its usual settings, whose
workload is all pairs, or all triples if that is better on average over the orders; both are measured in the same run, and the
rows are counted as a table. Ratios are of the means over seeds; their standard errors follow from those of both means.

``python -m benchmarks.cross_tables`` prints all of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sudare
from benchmarks.data import data_folder
from sudare.microdata.records import Records, read_people
from sudare.microdata.synthetic import synthesize
from sudare.microdata.synthetic.public_columns import code_records, read_columns

__all__ = ["TARGETS", "run"]

COLUMNS = (
    "workclass",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "income>50K",
)
SEEDS = (1, 2, 3, 4, 5)
DELTA = 1e-9
EPSILONS = {"1": 1, "01": 0.1}
ORDERS = (1, 2, 3)

TARGETS = {
    **{
        f"adult_margins_vs_aim_{label}": f"at most 1.0 + 2 standard errors, the goal is 0.9 (epsilon = {epsilon}, delta = 1e-9)"
        for label, epsilon in EPSILONS.items()
    },
    **{
        f"adult_margins_vs_aim_{label}_order_{order}": f"at most 1.0 + 2 standard errors (margins of {order} attributes)"
        for label in EPSILONS
        for order in ORDERS
    },
    "adult_margin_bias": "at most 1.5 (mean errors of the attributes' values over seeds, in those that chance alone would leave)",
}

Places = list[NDArray[np.int64]]
Errors = NDArray[np.float64]


class Adult:
    """The people as a table, as records, and their true margins."""

    def __init__(self) -> None:
        folder = data_folder("adult")
        sizes = json.loads((folder / "adult_coded-domain.json").read_text())
        self.sizes = [sizes[name] for name in COLUMNS]
        self.columns: dict[str, Any] = {name: range(sizes[name]) for name in COLUMNS}
        self.public = read_columns(self.columns, (), "benchmark")
        self.records: Records = read_people(folder / "adult_coded.csv", columns=list(COLUMNS))
        places = self.places_of(self.records)
        self.domain = sudare.Domain(
            tuple(
                sudare.Category(name, tuple(str(value) for value in range(size)))
                for name, size in zip(COLUMNS, self.sizes, strict=True)
            )
        )
        people = np.ones(self.records.rows, dtype=np.int64)
        self.table = sudare.CountTable.from_cells(self.domain, self.domain.keys_at(*places), people)
        self.margins = self._margins(places, people)

    def places_of(self, records: Records) -> Places:
        """The place of each value of each column."""
        return list(code_records(records, self.public, "benchmark"))

    def _margins(self, places: Places, people: NDArray[np.int64]) -> dict[tuple[int, ...], Errors]:
        found = {}
        for order in ORDERS:
            for margin in combinations(range(len(self.sizes)), order):
                keys = np.zeros(people.size, dtype=np.int64)
                for axis in margin:
                    keys = keys * self.sizes[axis] + places[axis]
                cells = int(np.prod([self.sizes[axis] for axis in margin]))
                counts = np.bincount(keys, weights=people, minlength=cells)
                found[margin] = np.asarray(counts / max(1, int(people.sum())), dtype=np.float64)
        return found

    def errors(self, places: Places, people: NDArray[np.int64]) -> tuple[Errors, Errors]:
        """Mean l1 distances of shares by order, and the signed errors of all values of the attributes."""
        made = self._margins(places, people)
        distances = [
            np.mean(
                [np.abs(made[margin] - true).sum() for margin, true in self.margins.items() if len(margin) == order]
            )
            for order in ORDERS
        ]
        signed = np.concatenate([made[margin] - true for margin, true in self.margins.items() if len(margin) == 1])
        return np.array(distances), signed


def run(seeds: Sequence[int] = SEEDS) -> dict[str, float]:
    """Ratios to AIM's errors, errors by order, and the largest systematic error of a margin."""
    adult = Adult()
    numbers: dict[str, float] = {}
    biases = []
    for label, epsilon in EPSILONS.items():
        budget = sudare.Budget(epsilon=epsilon, delta=DELTA)
        ours, signed = _adaptive(adult, budget, seeds)
        aims = [np.array([_aim(adult, budget, width, seed) for seed in seeds]) for width in (2, 3)]
        aim = min(aims, key=lambda errors: float(errors.mean()))
        name = f"adult_margins_vs_aim_{label}"
        numbers[name], numbers[f"{name}_error"] = _ratio(ours.mean(axis=1), aim.mean(axis=1))
        for place, order in enumerate(ORDERS):
            key = f"{name}_order_{order}"
            numbers[key], numbers[f"{key}_error"] = _ratio(ours[:, place], aim[:, place])
        pure, _ = _adaptive(adult, sudare.Budget(epsilon=epsilon), seeds)
        for whose, errors in (("ours", ours), ("aim", aim), ("pure", pure)):
            for order, mean in zip(ORDERS, errors.mean(axis=0), strict=True):
                numbers[f"adult_{whose}_{label}_order_{order}"] = float(mean)
        by_chance = signed.var(axis=0, ddof=1).mean() / len(seeds)
        biases.append(float((signed.mean(axis=0) ** 2).mean() / by_chance) ** 0.5)
    numbers["adult_margin_bias"] = max(biases)
    return numbers


def _adaptive(adult: Adult, budget: sudare.Budget, seeds: Sequence[int]) -> tuple[Errors, Errors]:
    distances, signed = [], []
    for seed in seeds:
        made = sudare.tables.adaptive_margins(adult.table, budget, entropy=sudare.ResearchEntropy(seed)).table
        found = adult.errors(list(adult.domain.places_of(made.keys)), made.counts)
        distances.append(found[0])
        signed.append(found[1])
    return np.array(distances), np.array(signed)


def _aim(adult: Adult, budget: sudare.Budget, width: int, seed: int) -> Errors:
    entropy = sudare.ResearchEntropy(seed)
    made, _ = synthesize(adult.records, adult.columns, budget, "aim", workload=width, entropy=entropy)
    people = np.ones(made.records.rows, dtype=np.int64)
    return adult.errors(adult.places_of(made.records), people)[0]


def _ratio(ours: Errors, theirs: Errors) -> tuple[float, float]:
    """The ratio of two means, and its standard error (by the delta method)."""
    ratio = float(ours.mean() / theirs.mean())
    relative = [float(errors.var(ddof=1)) / errors.size / float(errors.mean()) ** 2 for errors in (ours, theirs)]
    return ratio, ratio * sum(relative) ** 0.5


if __name__ == "__main__":
    print(json.dumps(run(), indent=1))
