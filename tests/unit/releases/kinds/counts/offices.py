"""A small statistical office: invented people in a Parquet file, a ledger, and a plan."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

import sudare
from sudare import Budget, Unit
from sudare.ledger import open_ledger
from sudare.releases.kinds.counts import ReleasePlan, read_plan

WINDOW = (8560, 6400, 32, 32)
MESH = sudare.Mesh("KEY_CODE", "1/2", *WINDOW)
PLAN = """
title = "People of a town"
publisher = "Town office"
[source]
path = "people.parquet"
[[domain]]
name = "KEY_CODE"
kind = "mesh"
level = "1/2"
window = [8560, 6400, 32, 32]
[budget]
epsilon = 1
[ledger]
location = "budget.db"
dataset = "town"
[output]
folder = "release"
formats = ["parquet", "csv"]
"""


def true_counts() -> sudare.CountTable:
    dense = np.zeros((32, 32), dtype=np.int64)
    dense[8:20, 10:18] = np.arange(96).reshape(12, 8)
    return sudare.CountTable.from_dense(dense, sudare.Domain((MESH,)))


def open_office(folder: Path, total: Budget | None = None, text: str = PLAN) -> ReleasePlan:
    """Write the people, the ledger and the plan."""
    table = true_counts()
    codes = table.domain.columns_of(np.repeat(table.keys, table.counts))["KEY_CODE"]
    people = pyarrow.table({"KEY_CODE": codes, "person": [f"p{i}" for i in range(codes.size)]})
    pyarrow.parquet.write_table(people, folder / "people.parquet")
    with open_ledger(folder / "budget.db", create=True) as ledger:
        ledger.add_dataset("town", total or Budget(epsilon=3), unit=Unit("person"))
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return read_plan(folder / "plan.toml")


def remaining(folder: Path) -> Budget | None:
    with open_ledger(folder / "budget.db") as ledger:
        assert ledger.verify() == []
        return ledger.dataset("town").remaining
