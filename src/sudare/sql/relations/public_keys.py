"""The values of public keys that stand in public tables: which groups are published, and how many get noise."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from sqlglot import exp

from sudare.engines.engine import Engine
from sudare.errors import DatabaseError, QueryRefusedError
from sudare.privacy.measurements import SmoothMeasurement
from sudare.sql.measures.allocating import Allocation
from sudare.sql.measures.planning import MAX_GROUPS, MeasuredTable, QueryPlan
from sudare.sql.relations.capping import real_table

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PublicKeys", "public_groups", "public_keys", "require_groups"]

PublicKeys = dict[str, dict[str, "pa.Table"]]
"""The values of public keys that stand in public tables, by measured table and key."""


def public_keys(plan: QueryPlan, engine: Engine, timeout: float | None) -> PublicKeys:
    """Read the values of keys from public tables; no private row is read.

    Raises:
        QueryRefusedError: if they have too many combinations.
        DatabaseError: if the database fails.
    """
    found: PublicKeys = {}
    for table in plan.tables:
        if table.is_public or table.presence is not None:
            continue
        values = found.setdefault(table.name, {})
        for key in table.keys:
            if key.facts.values is None and key.values_from is not None:
                name, column = key.values_from
                listed = exp.select(exp.column(column, quoted=True).as_("v")).distinct().from_(real_table(name))
                values[key.name] = engine.fetch(plan.sql(listed), timeout=timeout)
        if _number_of_groups(table, values) > MAX_GROUPS:
            raise QueryRefusedError(
                "too-many-groups",
                f"The public keys have more than {MAX_GROUPS} combinations; group by fewer of them.",
                f"公開キーの組合せが {MAX_GROUPS} を超えます。グループの列を減らしてください。",
            )
    return found


def _number_of_groups(table: MeasuredTable, values: Mapping[str, pa.Table]) -> int:
    """How many groups a table with public keys has, at most."""
    return prod(
        (values[key.name].num_rows if key.name in values else len(key.facts.values or ())) + key.facts.nullable
        for key in table.keys
    )


def public_groups(plan: QueryPlan, engine: Engine, timeout: float | None = None) -> dict[str, int]:
    """How many public groups get noise that follows the data, by measured table; no private row is read.

    The more groups, the more noise; where the values stand in a public table, it is asked how many there are.

    Raises:
        QueryRefusedError: if there are too many.
        DatabaseError: if the database fails.
    """
    followed = [table for table in plan.tables if table.limits.growth is not None and table.keys]
    if not any(key.facts.values is None for table in followed for key in table.keys):
        return {}
    keys = public_keys(plan, engine, timeout)
    return {table.name: _number_of_groups(table, keys.get(table.name, {})) for table in followed}


def require_groups(plan: QueryPlan, allocation: Allocation, keys: PublicKeys) -> None:
    """Refuse noise that was made for fewer groups than there are by now.

    Raises:
        DatabaseError: if a public table has more values than when the query was prepared.
    """
    for table in plan.tables:
        for measure in table.sums:
            share = allocation.shares.get((table.name, measure.name))
            made_for = share.measurement if share is not None else None
            if not isinstance(made_for, SmoothMeasurement) or not table.keys:
                continue
            if _number_of_groups(table, keys.get(table.name, {})) > made_for.cells:
                raise DatabaseError(
                    "A public table has more values to group by than when the query was prepared; ask again.",
                    "公開表のグループの値が、クエリの準備時より増えています。もう一度問い合わせてください。",
                )
