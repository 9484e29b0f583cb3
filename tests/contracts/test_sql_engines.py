"""Every query of the corpus on every database: without noise it is the plain query, with noise it costs what it should."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sudare import Budget
from sudare.engines import Engine, open_engine
from sudare.errors import QueryRefusedError
from sudare.noise.entropy import SecureEntropy
from sudare.sql.execution.answering import answer, exact_answer
from sudare.sql.measures.allocating import allocate
from tests.contracts.sql_servers import EngineName, Servers, location_of, running_servers
from tests.sql_corpus.accepted import ACCEPTED, Accepted
from tests.sql_corpus.asking import Asking, differences, excess, measured_numbers, plain_text, without_unit
from tests.sql_corpus.schema import shop, shop_with_violations, write_tables

DIALECTS: dict[EngineName, str] = {"duckdb": "duckdb", "postgresql": "postgres", "spark": "spark"}
BY_NAME = {entry.name: entry for entry in ACCEPTED}
SAME_EVERYWHERE = ["all-at-once", "group-all-aggregates", "join-chain-public", "per-person-status", "bigquery-groups"]


QUICK = 8
"""One query in so many runs in `make unit`, on DuckDB."""


def _cases(every: dict[EngineName, int]) -> list[Any]:
    """Pairs of a database and a query: one in so many in `make test`, some of those in `make unit`, all others deep."""
    cases = []
    for name, step in every.items():
        entries = [entry for entry in ACCEPTED if DIALECTS[name] in entry.dialects]
        for i, entry in enumerate(entries):
            marks = (
                [] if name == "duckdb" and i % QUICK == 0 else [pytest.mark.slow if i % step == 0 else pytest.mark.deep]
            )
            if name == "spark":
                marks.append(pytest.mark.spark)
            cases.append(pytest.param(name, entry, id=f"{name}-{entry.name}", marks=marks))
    return cases


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with running_servers() as started:
        yield started


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory, servers: Servers) -> Iterator[_Databases]:
    folder = write_tables(shop(), tmp_path_factory.mktemp("corpus") / "shop")
    with _Databases(folder, servers) as found:
        yield found


@pytest.fixture(scope="module")
def violated(tmp_path_factory: pytest.TempPathFactory, servers: Servers) -> Iterator[_Databases]:
    folder = write_tables(shop_with_violations(), tmp_path_factory.mktemp("violated") / "shop")
    with _Databases(folder, servers) as found:
        yield found


class _Databases:
    """Opens each database when it is first asked."""

    def __init__(self, folder: Path, servers: Servers) -> None:
        self._folder, self._servers = folder, servers
        self._open: dict[EngineName, tuple[Engine, Asking]] = {}

    def __enter__(self) -> _Databases:
        return self

    def __exit__(self, *_: object) -> None:
        for engine, _asking in self._open.values():
            engine.close()

    def __getitem__(self, name: EngineName) -> Asking:
        if name not in self._open:
            engine = open_engine(location_of(name, self._folder, self._servers))
            self._open[name] = engine, Asking(engine)
        return self._open[name][1]


@pytest.mark.parametrize(("name", "entry"), _cases({"duckdb": 4, "postgresql": 8, "spark": 64}))
def test_without_noise_it_is_the_plain_query(databases: _Databases, name: EngineName, entry: Accepted) -> None:
    asking = databases[name]
    plan = asking.plan(entry)
    assert plan.is_public == entry.public
    assert plan.needs_delta == entry.delta
    found = exact_answer(plan, asking.engine, asking.lists)
    plain = asking.engine.fetch(plain_text(entry, asking.engine.dialect))
    assert found.column_names == plain.column_names
    assert differences(entry, found, plain) == []


@pytest.mark.parametrize(("name", "entry"), _cases({"duckdb": 4, "postgresql": 15, "spark": 120}))
def test_with_noise_it_costs_the_budget(databases: _Databases, name: EngineName, entry: Accepted) -> None:
    asking = databases[name]
    plan = asking.plan(entry)
    budget = Budget(epsilon=10, delta=1e-6) if entry.delta else Budget(epsilon=10)
    found = answer(plan, allocate(plan, budget), asking.engine, asking.lists, entropy=SecureEntropy())
    assert found.table.column_names == list(plan.columns)
    if entry.public or entry.free:
        assert found.event is None
    else:
        assert found.event is not None
        assert found.event.cost == budget
        assert found.event.entropy == "secure"
    if not entry.keys:
        assert found.table.num_rows == 1


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.deep] if place > 1 else []) for place, name in enumerate(SAME_EVERYWHERE)],
)
def test_noise_is_added_to_the_same_numbers_everywhere(databases: _Databases, name: str) -> None:
    # Noise depends on the budget and the sensitivity alone: the same whole numbers have the same distribution.
    plans = {database: databases[database].plan(BY_NAME[name]) for database in DIALECTS}
    numbers = {database: measured_numbers(plan, databases[database].engine) for database, plan in plans.items()}
    assert numbers["duckdb"] == numbers["postgresql"] == numbers["spark"]
    assert any(any(values) for table in numbers["duckdb"] for values in table.values())
    measures = {
        database: [
            (measure.scale, measure.coarse, measure.sensitivity) for table in plan.tables for measure in table.sums
        ]
        for database, plan in plans.items()
    }
    assert measures["duckdb"] == measures["postgresql"] == measures["spark"]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "entry"), _cases({"postgresql": 12, "spark": 120}))
def test_rows_that_break_promises_make_nothing_fail(violated: _Databases, name: EngineName, entry: Accepted) -> None:
    if "duckdb" not in entry.dialects:
        pytest.skip("compared with DuckDB")
    if name == "spark" and re.search(r"AS (INTEGER|BIGINT)\)", entry.sql):
        pytest.skip("a cast to a whole number rounds in DuckDB and cuts in Spark")
    plans = [violated[database].plan(entry) for database in ("duckdb", name)]
    asked = [violated[database] for database in ("duckdb", name)]
    ours, theirs = (measured_numbers(plan, one.engine) for plan, one in zip(plans, asked, strict=True))
    assert ours == theirs
    for plan, one in zip(plans, asked, strict=True):
        assert exact_answer(plan, one.engine, one.lists).column_names == list(plan.columns)


LONELY = 300
"""A customer without orders who visits; 59 others have no orders and do not visit."""
SWAYED = {
    "a NULL among the units": "SELECT COUNT(*) AS n FROM customers WHERE customer_id NOT IN "
    "(SELECT o.customer_id FROM visits v LEFT JOIN orders o ON v.customer_id = o.customer_id)",
    "a group of all who have nothing": "SELECT SUM(p.n) AS s FROM (SELECT o.customer_id, COUNT(*) AS n FROM customers c "
    "LEFT JOIN orders o ON c.customer_id = o.customer_id GROUP BY o.customer_id) AS p WHERE p.n > 59",
    "all who have nothing, chosen": "SELECT COUNT(*) AS n FROM customers WHERE customer_id IN (SELECT o.customer_id FROM "
    "customers c LEFT JOIN orders o ON c.customer_id = o.customer_id GROUP BY o.customer_id HAVING COUNT(*) > 59)",
}


@pytest.mark.parametrize("name", SWAYED)
def test_nobody_decides_about_others(name: str, tmp_path: Path, servers: Servers) -> None:
    tables = shop()
    for table, kept in (("orders", range(1, 241)), ("visits", (7, LONELY))):
        owners = tables[table].column("customer_id").to_pylist()
        tables[table] = tables[table].filter(pa.array([owner in kept for owner in owners]))
    entry = Accepted(name, SWAYED[name], name)
    with _neighbours(tables, LONELY, tmp_path, servers) as (asking, other):
        try:
            plan = asking.plan(entry)
        except QueryRefusedError:
            return
        assert excess(plan, asking.engine, other.engine) == []


@pytest.mark.slow
@pytest.mark.parametrize(("make", "unit"), [(shop, 3), (shop_with_violations, 8)])
@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.deep)])
def test_one_unit_changes_no_more_than_is_stated(
    make: Any, unit: int, step: int, tmp_path: Path, servers: Servers
) -> None:
    found = {}
    with _neighbours(make(), unit, tmp_path, servers) as (asking, other):
        for entry in ACCEPTED[unit % step :: step]:
            if "duckdb" in entry.dialects and not entry.by_row:
                found[entry.name] = excess(asking.plan(entry), asking.engine, other.engine)
    assert {name: problems for name, problems in found.items() if problems} == {}


@contextmanager
def _neighbours(
    tables: dict[str, pa.Table], unit: int, folder: Path, servers: Servers
) -> Iterator[tuple[Asking, Asking]]:
    places = [
        location_of("duckdb", write_tables(data, folder / name), servers)
        for name, data in (("with", tables), ("without", without_unit(tables, unit)))
    ]
    with open_engine(places[0]) as engine, open_engine(places[1]) as neighbour:
        yield Asking(engine), Asking(neighbour)
