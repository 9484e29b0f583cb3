"""A small release with a map and a category, made by a plan that lies beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sudare.domain import Category, CountTable, Domain, Mesh
from sudare.io import write_table
from sudare.ledger import open_ledger
from sudare.privacy import Budget, Unit
from sudare.releases.registry import run_plan

MESH = Mesh("KEY_CODE", "1/2", 8000, 6000, 40, 30)
DOMAIN = Domain((Category("sex", ("f", "m")), MESH))

PLAN = """
title = "Small town"
publisher = "Test"
[source]
path = "people.parquet"
rows = "counts"
count = "population"
[[domain]]
name = "sex"
kind = "category"
labels = ["f", "m"]
[[domain]]
name = "KEY_CODE"
kind = "mesh"
level = "1/2"
window = [8000, 6000, 40, 30]
[unit]
who = "person"
[budget]
epsilon = 1
[ledger]
location = "budget.db"
dataset = "town"
[output]
folder = "release"
formats = ["parquet"]
"""


def true_counts() -> CountTable:
    generator = np.random.default_rng(3)
    keys = np.unique(generator.integers(0, DOMAIN.cells, 300))
    return CountTable.from_cells(DOMAIN, keys, generator.integers(1, 500, keys.size))


def make_release(folder: Path) -> Path:
    """Publish the town of a folder; returns where the release is."""
    write_table(true_counts(), folder / "people.parquet", count="population")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    with open_ledger(folder / "budget.db", create=True) as ledger:
        ledger.add_dataset("town", Budget(epsilon=1), unit=Unit("person"))
    return run_plan(folder / "plan.toml").folder
