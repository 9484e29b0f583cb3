"""A small town of invented people, and plans for them."""

from __future__ import annotations

import csv
from pathlib import Path

from sudare.ledger import open_ledger
from sudare.privacy import Budget, Unit

NAMES = ("person", "age", "sex", "zip", "illness", "wage")
ILLNESSES = ("none", "flu", "heart")
UNTOLD = "Zanzibar"
"""A value that no message may show."""

COLUMNS = """
[columns.person]
role = "identifier"

[columns.age]
role = "quasi-identifier"
intervals = { widths = [10, 20], whole = true, highest = 80 }

[columns.sex]
role = "quasi-identifier"
flat = true
values = ["f", "m"]

[columns.zip]
role = "quasi-identifier"
mask = {}

[columns.illness]
role = "sensitive"
values = ["none", "flu", "heart"]

[columns.wage]
role = "other"
"""
HEAD = """title = "A small town"
publisher = "The town"

[source]
path = "people.csv"
"""
ANONYMIZE = """
[protection]
method = "anonymize"
k = 4
"""
LEDGER = """
[budget]
epsilon = 2
delta = 1e-5

[ledger]
location = "budget.db"
dataset = "town"
"""
SAMPLED = (
    HEAD
    + """others = "drop"

[columns.age]
role = "quasi-identifier"
intervals = { widths = [50], whole = true }
level = 1

[columns.sex]
role = "other"

[protection]
method = "sampled-k-anonymity"
"""
    + LEDGER
)
MST = (
    HEAD
    + """others = "drop"

[columns.age]
role = "quasi-identifier"
bins = [0, 20, 40, 60, 80, 100]

[columns.sex]
role = "other"
values = ["f", "m"]

[protection]
method = "mst"
"""
    + LEDGER
)


def people(number: int = 240) -> list[list[str]]:
    """Rows without any chance in them."""
    return [
        [
            f"P{place}",
            str((place * 37) % 95),
            "fm"[place % 2],
            f"81{(place * 13) % 40:02}",
            ILLNESSES[(place * 7 + place // 11) % 3],
            str(200 + (place * 97) % 700),
        ]
        for place in range(number)
    ]


def build_town(folder: Path, plan: str = HEAD + COLUMNS + ANONYMIZE, rows: list[list[str]] | None = None) -> Path:
    """Write people, a plan and a ledger; gives the plan."""
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([NAMES, *(people() if rows is None else rows)])
    (folder / "plan.toml").write_text(plan, encoding="utf-8")
    if not (folder / "budget.db").exists():
        with open_ledger(folder / "budget.db", create=True) as ledger:
            ledger.add_dataset("town", Budget(epsilon=5, delta=1e-4), unit=Unit())
    return folder / "plan.toml"
