"""A schema with known frequencies, for tests of elastic sensitivity."""

from __future__ import annotations

from typing import Any

from sudare.engines.engine import ColumnType
from sudare.sql.metadata.model import ColumnMetadata, Metadata, TableMetadata

ANY = ColumnType("integer")


def column(name: str, frequency: int | None = None, *, public: bool = False) -> ColumnMetadata:
    return ColumnMetadata(name, ANY, max_frequency=frequency, values=(1, 2) if public else None)


def table(name: str, *columns: ColumnMetadata, **more: Any) -> TableMetadata:
    return TableMetadata(name, {each.name: each for each in columns}, **more)


SHOP = Metadata(
    "row",
    {
        each.name: each
        for each in (
            table(
                "orders",
                column("order_id", 1),
                column("order_date", public=True),
                column("customer_id", 100),
                column("product_id", 500, public=True),
                column("quantity"),
                column("order_cost"),
                row_is_unit=True,
            ),
            table("products", column("product_id", 300), column("name"), column("price"), public=True),
            table("customers", column("customer_id", 1), column("name"), column("address", 5), row_is_unit=True),
            table("recommendations", column("customer_id", 250), column("product_id", 2000), row_is_unit=True),
        )
    },
    adjacency="replace",
)
"""The schema of the known answers: each row is a unit, and a row is changed, not added."""
