"""Totals of mechanisms that publish noise as it is: how far the mean of many releases is from the people there are.

Cut off at 0 these totals were 49 times too high (Privelet), or 2.6 times (flat noise).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import sudare
from sudare.examples import invent_country
from sudare.io import write_table
from sudare.ledger import open_ledger
from sudare.releases.kinds.counts import read_plan, run_release

__all__ = ["TARGETS", "run"]

SIDE, PEOPLE = 256, 196_875
REPEATS = 200
RELEASE_SIDE, RELEASE_PEOPLE = 64, 5_000
RELEASES = 20
EPSILON = 0.1

TARGETS = {
    "privelet_total_error": "at most 0.002 (|mean total - people| / people; 256 x 256 cells, epsilon = 0.1)",
    "privelet_total_z": "at most 4.5 (the same in standard errors)",
    "laplace_total_error": "at most 0.006",
    "laplace_total_z": "at most 4.5",
    "privelet_counts_total_error": "at most 0.002 (refined to counts)",
    "laplace_counts_total_error": "at most 0.006 (refined to counts)",
    "release_total_error": "at most 0.2 (`sudare release` of 5,000 people by Privelet in 64 x 64 cells, epsilon = 0.1)",
}

PLAN = """
title = "Invented people"
[source]
path = "people.parquet"
count = "population"
[[domain]]
name = "KEY_CODE"
kind = "mesh"
level = "1/2"
window = {window}
[budget]
epsilon = {epsilon}
[ledger]
location = "budget.db"
dataset = "people"
[method]
name = "privelet"
[output]
folder = "release{number}"
"""


def run() -> dict[str, float]:
    """Errors of mean totals, in people and in standard errors."""
    country = invent_country(SIDE, people=PEOPLE)
    budget = sudare.Budget(epsilon=EPSILON)
    methods: dict[str, dict[str, Any]] = {
        "privelet": {"method": "privelet"},
        "laplace": {"method": "laplace"},
        "privelet_counts": {"method": "privelet", "refine": "counts"},
        "laplace_counts": {"method": "laplace", "refine": "counts"},
    }
    numbers: dict[str, float] = {}
    for name, arguments in methods.items():
        numbers |= _mean_error(name, country, partial(sudare.publish, country, budget, **arguments))
    return {**numbers, "release_total_error": _released()}


def _mean_error(name: str, country: sudare.CountTable, release: Callable[[], sudare.Published]) -> dict[str, float]:
    errors = np.array([release().table.total - country.total for _ in range(REPEATS)], dtype=np.float64)
    rmse = float(np.sqrt((errors**2).mean()))
    return {
        f"{name}_total_error": abs(float(errors.mean())) / country.total,
        f"{name}_total_rmse": rmse / country.total,
        f"{name}_total_z": abs(float(errors.mean())) / (rmse / REPEATS**0.5),
    }


def _released() -> float:
    """The error of the mean total of releases by plan, relative to the people."""
    country = invent_country(RELEASE_SIDE, people=RELEASE_PEOPLE)
    mesh: Any = country.domain.attributes[0]
    window = [mesh.first_row, mesh.first_column, mesh.rows, mesh.columns]
    totals = []
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_table(country, folder / "people.parquet", count="population")
        with open_ledger(folder / "budget.db", create=True) as ledger:
            ledger.add_dataset("people", sudare.Budget(epsilon=RELEASES), unit=sudare.Unit("person"))
        for number in range(RELEASES):
            plan = folder / f"plan{number}.toml"
            plan.write_text(PLAN.format(window=window, epsilon=EPSILON, number=number), encoding="utf-8")
            totals.append(run_release(read_plan(plan)).document["published"]["total"])
    return abs(float(np.mean(totals)) - RELEASE_PEOPLE) / RELEASE_PEOPLE
