"""Asking a query of the corpus: its spelling in each dialect, its plan, and whether two results are the same."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from math import isclose, isnan
from typing import Any

import pyarrow as pa
import sqlglot
from sqlglot import exp

from sudare.engines import Engine
from sudare.sql.execution.answering import LeftOutLists
from sudare.sql.execution.local import whole_numbers
from sudare.sql.frontend.naming import Names
from sudare.sql.frontend.parsing import parse_query
from sudare.sql.measures.planning import QueryPlan, plan_query
from tests.sql_corpus.accepted import Accepted
from tests.sql_corpus.schema import METADATA, NOTES, ROWS_METADATA

__all__ = ["Asking", "differences", "excess", "measured_numbers", "plain_text", "rows_of", "without_unit", "written"]

RELATIVE = 1e-9


def written(text: str, dialect: str) -> str:
    """A query in DuckDB's spelling, in another dialect."""
    if dialect == "duckdb" or (dialect == "spark" and "WITHIN GROUP" in text):
        # sqlglot would make an approximation of it, although Spark knows the standard's quantiles.
        return text
    return sqlglot.transpile(text, read="duckdb", write=dialect)[0]


def plain_text(entry: Accepted, dialect: str) -> str:
    """The query that the database itself answers."""
    if entry.plain is None and entry.verbatim:
        return entry.sql
    return written(entry.sql if entry.plain is None else entry.plain, dialect)


class Asking:
    """A database with the tables of the corpus."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.lists = LeftOutLists(engine)
        self._names = {
            by_row: Names(data, engine.dialect) for by_row, data in ((False, METADATA), (True, ROWS_METADATA))
        }

    def plan(self, entry: Accepted) -> QueryPlan:
        text = entry.sql if entry.verbatim else written(entry.sql, self.engine.dialect)
        metadata = ROWS_METADATA if entry.by_row else METADATA
        return plan_query(parse_query(text, self.engine.dialect), metadata, self._names[entry.by_row])


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def differences(entry: Accepted, answer: pa.Table, plain: pa.Table) -> list[str]:
    """In which ways an answer without noise is not the plain result; empty if it is the same.

    Numbers agree to a relative 1e-9, or to the last digit of a decimal that the database has rounded itself. A sum over
    nothing is 0 here and NULL there. Groups of public keys that nobody is in are additional rows of 0, NULL and text.
    """
    found, expected = rows_of(answer), rows_of(plain)
    if len(answer.column_names) != len(plain.column_names):
        return [f"{len(answer.column_names)} columns instead of {len(plain.column_names)}"]
    if entry.keys:
        listed = {_key(row, entry.keys): row for row in expected}
        more = [row for row in found if _key(row, entry.keys) not in listed]
        found = [row for row in found if _key(row, entry.keys) in listed]
        full = [row for row in more if not all(_is_nothing(value) for value in row[entry.keys :])]
        if full:
            return [f"rows too many: {full}"]
    if not entry.ordered:
        found.sort(key=lambda row: _key(row, entry.keys or len(row)))
        expected.sort(key=lambda row: _key(row, entry.keys or len(row)))
    if len(found) != len(expected):
        return [f"{len(found)} rows instead of {len(expected)}"]
    return [
        f"row {number}, column {plain.column_names[place]}: {mine!r} instead of {theirs!r}"
        for number, (one, two) in enumerate(zip(found, expected, strict=True))
        for place, (mine, theirs) in enumerate(zip(one, two, strict=True))
        if not _same(mine, theirs, entry.tolerance)
    ]


def measured_numbers(plan: QueryPlan, engine: Engine) -> list[dict[tuple[str, ...], tuple[int, ...]]]:
    """The whole numbers that noise is added to, by group, for each measured table."""
    result: list[dict[tuple[str, ...], tuple[int, ...]]] = []
    for table in plan.tables:
        if table.query is None:
            result.append({})
            continue
        whole: exp.Select = table.query.copy()
        for listed in plan.left_out.values():
            whole = whole.with_(exp.to_identifier(listed.name, quoted=True), as_=listed.query.copy())
        fetched = engine.fetch(plan.sql(whole))
        keys = [[_word(value) for value in fetched.column(key.name).to_pylist()] for key in table.keys]
        sums = [whole_numbers(fetched.column(measure.name), measure.scale).tolist() for measure in table.sums]
        groups = list(zip(*keys, strict=True)) if keys else [()]
        result.append(dict(zip(groups, zip(*sums, strict=True), strict=True)))
    return result


def _key(row: tuple[Any, ...], keys: int) -> tuple[str, ...]:
    return tuple(_word(value) for value in row[:keys])


def _word(value: object) -> str:
    """A value as text, the same for all types that databases give it."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int | float | Decimal):
        return f"{float(value):.9g}"
    if isinstance(value, datetime):
        return str(value.date()) if (value.hour, value.minute, value.second) == (0, 0, 0) else str(value)
    return str(value)


def _is_nothing(value: object) -> bool:
    return value is None or isinstance(value, str) or value == 0 or (isinstance(value, float) and isnan(value))


def _same(mine: object, theirs: object, tolerance: float) -> bool:
    if mine is None or theirs is None:
        return mine == theirs or (theirs is None and mine == 0)
    if isinstance(mine, bool) or isinstance(theirs, bool):
        return mine is theirs
    if isinstance(mine, int | float | Decimal) and isinstance(theirs, int | float | Decimal):
        if not isinstance(mine, float) and not isinstance(theirs, float) and not tolerance:
            return mine == theirs
        reach = tolerance
        if isinstance(theirs, Decimal):
            reach = max(reach, 0.51 * 10.0 ** int(theirs.as_tuple().exponent))
        return isclose(mine, theirs, rel_tol=RELATIVE, abs_tol=max(reach, 1e-12))
    if isinstance(mine, date) and isinstance(theirs, date):
        return _word(mine) == _word(theirs)
    return type(mine) is type(theirs) and mine == theirs


def without_unit(tables: dict[str, pa.Table], unit: int) -> dict[str, pa.Table]:
    """The same database without all rows of one customer: a neighbour."""
    named = {"referrals": "referrer", "coupons": "holder", "surveys": "person", "Loans": "CustomerId", NOTES: "顧客"}
    named |= dict.fromkeys(("customers", "orders", "visits", "clicks"), "customer_id")
    found = dict(tables)
    for name, column in named.items():
        found[name] = _kept(tables[name], column, {unit})
    gone = _values(tables["orders"], "order_id") - _values(found["orders"], "order_id")
    for name in ("items", "parcels"):
        found[name] = _kept(tables[name], "order_id", gone)
    lost = _values(tables["parcels"], "parcel_id") - _values(found["parcels"], "parcel_id")
    found["scans"] = _kept(tables["scans"], "parcel_id", lost)
    return found


def excess(plan: QueryPlan, engine: Engine, neighbour: Engine) -> list[str]:
    """Where one unit changes more than the sensitivity says; empty if it never does."""
    pairs = zip(plan.tables, measured_numbers(plan, engine), measured_numbers(plan, neighbour), strict=True)
    found = []
    for table, mine, theirs in pairs:
        for place, measure in enumerate(table.sums):
            size, zeros = 10**measure.coarse, (0,) * len(table.sums)
            changes = [
                abs(mine.get(key, zeros)[place] // size - theirs.get(key, zeros)[place] // size)
                for key in mine.keys() | theirs.keys()
            ]
            total, squares, most = sum(changes), sum(change**2 for change in changes), max(changes, default=0)
            stated = measure.sensitivity
            if total > stated.l1 or squares > stated.l2_squared or most > stated.largest:
                found.append(f"{measure.what}: {total} in all, {most} at most, but stated is {stated}")
    return found


def _values(table: pa.Table, column: str) -> set[Any]:
    return set(table.column(column).to_pylist())


def _kept(table: pa.Table, column: str, gone: set[Any]) -> pa.Table:
    return table.filter(pa.array([value not in gone for value in table.column(column).to_pylist()]))
