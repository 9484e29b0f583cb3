"""A small shop: a database, its metadata and a ledger, for tests of whatever asks it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from sudare.ledger import open_ledger
from sudare.privacy import Budget, Unit
from sudare.sql.execution.connection import Connection, connect

METADATA = """
version = "1"

[unit]
name = "customer"

[tables.customer]
unit = "id"
key = ["id"]
max_rows = 1
[tables.customer.columns]
id = { type = "integer", nullable = false }
town = { type = "text", values = ["A", "B"], nullable = false }
club = { type = "text" }
age = { type = "integer", bounds = [0, 100], nullable = false }

[tables.orders]
unit = "customer"
max_rows = 5
[tables.orders.columns]
customer = { type = "integer", nullable = false }
price = { type = "decimal(12,2)", bounds = [0, 50], nullable = false }

[tables.town]
public = true
key = ["name"]
[tables.town.columns]
name = { type = "text", nullable = false }
people = { type = "integer", bounds = [0, 1000000], nullable = false }
"""

TABLES = """
CREATE TABLE customer AS SELECT i AS id, CASE WHEN i % 4 = 0 THEN 'B' ELSE 'A' END AS town,
    CASE WHEN i % 2 = 0 THEN 'chess' ELSE 'go' END AS club, i % 90 AS age FROM range(400) t(i);
CREATE TABLE orders AS SELECT i % 400 AS customer, (i % 50)::DECIMAL(12,2) AS price FROM range(1200) t(i);
CREATE TABLE town AS SELECT * FROM (VALUES ('A', 300), ('B', 100)) t(name, people);
"""

COUNT = "SELECT count(*) AS n FROM customer"
PAIRS = "SELECT count(*) AS n FROM customer a JOIN customer b ON a.age = b.age"
"""Its rows belong to two customers; 1800 of them. No age stands in more than five rows."""


def bounded_ages(most: int) -> str:
    """The metadata with a limit for how often an age stands in the data."""
    return METADATA.replace("bounds = [0, 100]", f"bounds = [0, 100], max_frequency = {most}")


def open_shop(folder: Path, total: Budget | None = None, **analysts: Budget) -> Path:
    """Make a shop in a folder: shop.duckdb, shop.toml and budget.db with the data set "shop"."""
    with duckdb.connect(str(folder / "shop.duckdb")) as database:
        database.execute(TABLES)
    (folder / "shop.toml").write_text(METADATA, encoding="utf-8")
    with open_ledger(folder / "budget.db", create=True) as ledger:
        ledger.add_dataset("shop", total or Budget(epsilon=10, delta=1e-5), unit=Unit("customer"))
        for name, own in analysts.items():
            ledger.add_dataset(f"shop/{name}", own, unit=Unit("customer"))
    return folder


def ask_shop(folder: Path, budget: Budget | None = None, **settings: Any) -> Connection:
    """Connect to a shop."""
    url = settings.pop("url", folder / "shop.duckdb")
    metadata = settings.pop("metadata", folder / "shop.toml")
    return connect(
        url,
        metadata,
        budget or Budget(epsilon=1),
        **{"ledger": folder / "budget.db", "dataset": "shop", **settings},
    )
