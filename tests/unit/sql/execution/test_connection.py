"""Connecting: what is needed, which budget a query gets, and that nothing goes around the ledger."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import sudare
from sudare.errors import DatabaseError, LedgerError, ParameterError, PlanError, QueryRefusedError
from sudare.ledger import open_ledger
from sudare.privacy import Budget, Unit
from sudare.sql.execution.connection import connect
from sudare.sql.metadata.file import parse_metadata
from tests.unit.sql.memory_engine import MemoryEngine
from tests.unit.sql.shops import COUNT, METADATA, PAIRS, TABLES, ask_shop, bounded_ages, open_shop


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return open_shop(tmp_path)


class TestWhatIsNeeded:
    def test_a_ledger(self, shop: Path) -> None:
        with pytest.raises(TypeError):
            connect(shop / "shop.duckdb", shop / "shop.toml", Budget(epsilon=1))  # type: ignore[call-arg]
        with pytest.raises(ParameterError, match="need a ledger"):
            ask_shop(shop, ledger=None)
        with pytest.raises(LedgerError):
            ask_shop(shop, ledger=shop / "nowhere.db")

    def test_a_data_set_of_the_ledger(self, shop: Path) -> None:
        with pytest.raises(LedgerError, match="Did you mean 'shop'"):
            ask_shop(shop, dataset="shopp")

    def test_metadata(self, shop: Path) -> None:
        with pytest.raises(PlanError, match="There is no metadata file"):
            ask_shop(shop, metadata=shop / "nowhere.toml")

    def test_a_database(self, shop: Path) -> None:
        with pytest.raises(DatabaseError):
            ask_shop(shop, url=shop / "nowhere.duckdb")

    def test_a_folder_for_answers_beside_a_ledger_elsewhere(self, shop: Path) -> None:
        with pytest.raises(ParameterError, match="answers"):
            ask_shop(shop, ledger="postgresql://office@nowhere.invalid/budgets")

    @pytest.mark.parametrize(
        "settings",
        [
            {"noise": "none"},
            {"joins": "loose"},
            {"timeout": 0},
            {"timeout": True},
            {"analyst": "a/b"},
            {"analyst": ""},
            {"budget": 1},
        ],
    )
    def test_arguments(self, shop: Path, settings: dict[str, Any]) -> None:
        with pytest.raises(ParameterError):
            ask_shop(shop, **settings)

    def test_a_sound_ledger(self, shop: Path) -> None:
        import sqlite3

        with ask_shop(shop) as connection:
            connection.execute(COUNT)
        with sqlite3.connect(shop / "budget.db") as store:
            store.execute("UPDATE sudare_datasets SET spent = '0 0'")
        store.close()
        with pytest.raises(LedgerError, match="changed from outside"):
            ask_shop(shop)


class TestDatabases:
    def test_an_engine(self, shop: Path) -> None:
        engine = MemoryEngine(TABLES)
        with ask_shop(shop, url=engine) as connection:
            assert connection.dialect == "duckdb"
            assert not connection.execute(COUNT).is_repeated

    def test_columns_of_csv_files_have_the_types_of_the_metadata(self, tmp_path: Path) -> None:
        folder = tmp_path / "data"
        folder.mkdir()
        rows = "\n".join(f"{i},{i % 7}.50,2026-01-0{i % 9 + 1},x" for i in range(300))
        (folder / "sales.csv").write_text(f"id,price,day,note\n{rows}\n", encoding="utf-8")
        metadata = parse_metadata(
            """
unit.name = "customer"
[tables.sales]
unit = "id"
max_rows = 1
[tables.sales.columns]
id = { type = "integer" }
price = { type = "decimal(8,2)", bounds = [0, 10] }
day = { type = "date" }
note = { type = "text" }
"""
        )
        with open_ledger(tmp_path / "budget.db", create=True) as ledger:
            ledger.add_dataset("shop", Budget(epsilon=10), unit=Unit("customer"))
        for url in (folder, folder / "sales.csv", [folder / "sales.csv"]):
            with ask_shop(tmp_path, Budget(epsilon=5), url=url, metadata=metadata) as connection:
                sql = "SELECT sum(price) AS s FROM sales WHERE day < DATE '2026-01-05'"
                (found,) = connection.execute(sql, budget=Budget(epsilon=3)).fetchone()  # type: ignore[misc]
                assert abs(float(found) - 467) < 60
        # The price of the same query at another address is not the same question.

    def test_closing_twice_does_no_harm(self, shop: Path) -> None:
        connection = ask_shop(shop)
        connection.close()
        connection.close()
        for use in (connection.cursor, connection.balances, connection.spent, connection.commit, connection.rollback):
            with pytest.raises(ParameterError, match="open"):
                use()


class TestBudgets:
    def test_the_query_comes_first(self, shop: Path) -> None:
        stated = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.25, privacy_unit_column = id) count(*) AS n FROM customer"
        with ask_shop(shop, Budget(epsilon=1)) as connection:
            assert connection.prepare(COUNT).budget == Budget(epsilon=1)
            assert connection.prepare(COUNT, Budget(rho=0.1)).budget == Budget(rho=0.1)
            assert connection.prepare(stated).budget == Budget(epsilon=0.25)
            assert connection.prepare(stated, Budget(epsilon=2, delta=1e-6)).budget == Budget(epsilon=0.25, delta=1e-6)
            only_delta = stated.replace("epsilon = 0.25", "delta = 1e-7")
            assert connection.prepare(only_delta).budget == Budget(epsilon=1, delta=1e-7)
            with pytest.raises(QueryRefusedError, match="epsilon"):
                connection.prepare(only_delta, Budget(rho=0.1))

    def test_a_connection_without_a_budget(self, shop: Path) -> None:
        with connect(shop / "shop.duckdb", shop / "shop.toml", ledger=shop / "budget.db", dataset="shop") as connection:
            with pytest.raises(ParameterError, match="budget"):
                connection.execute(COUNT)
            assert connection.execute(COUNT, budget=Budget(epsilon=1)).cost == Budget(epsilon=1)

    def test_unknown_groups_take_a_delta(self, shop: Path) -> None:
        sql = "SELECT club, count(*) AS n FROM customer GROUP BY club"
        with ask_shop(shop) as connection:
            with pytest.raises(QueryRefusedError, match="delta"):
                connection.execute(sql)
            found = connection.execute(sql, budget=Budget(epsilon=1, delta=1e-6)).fetchall()
            assert {club for club, _ in found} == {"chess", "go"}


class TestJoinsOfTwoUnits:
    @pytest.mark.parametrize(
        ("joins", "most", "expected"), [("truncated", 5, 1800), ("truncated", 3, 90 * 3 * 3), ("elastic", 5, 1800)]
    )
    def test_rows_are_left_out_or_not(self, shop: Path, joins: str, most: int, expected: int) -> None:
        (shop / "shop.toml").write_text(bounded_ages(most), encoding="utf-8")
        with ask_shop(shop, Budget(epsilon=9, delta=1e-6), joins=joins) as connection:
            cursor = connection.execute(PAIRS)
            (found,) = cursor.fetchone() or (None,)
            assert isinstance(found, int)
            assert abs(found - expected) < 100
            # Noise that follows the data takes a delta; Laplace noise takes none.
            cost = Budget(epsilon=9, delta=1e-6) if joins == "elastic" else Budget(epsilon=9)
            assert cursor.cost == connection.spent() == cost
            assert connection.execute(PAIRS).is_repeated

    def test_one_way_is_no_repeat_of_the_other(self, shop: Path) -> None:
        (shop / "shop.toml").write_text(bounded_ages(5), encoding="utf-8")
        for joins in ("truncated", "elastic"):
            with ask_shop(shop, Budget(epsilon=1, delta=1e-6), joins=joins) as connection:
                assert not connection.price(PAIRS).is_answered
                assert not connection.execute(PAIRS).is_repeated
                assert connection.price(PAIRS).is_answered

    def test_truncated_is_usual(self, shop: Path) -> None:
        (shop / "shop.toml").write_text(bounded_ages(5), encoding="utf-8")
        with ask_shop(shop) as connection:
            assert connection.prepare(PAIRS).joins == "truncated"
            assert connection.explain(PAIRS).tables[0].measures[0].sensitivity == 2 * 5 + 2 * 5

    @pytest.mark.parametrize("budget", [Budget(epsilon=1), Budget(rho=0.1)])
    def test_elastic_takes_epsilon_and_delta(self, shop: Path, budget: Budget) -> None:
        (shop / "shop.toml").write_text(bounded_ages(5), encoding="utf-8")
        with ask_shop(shop, budget, joins="elastic") as connection:
            for ask in (connection.execute, connection.explain, connection.price):
                with pytest.raises(QueryRefusedError, match="delta") as told:
                    ask(PAIRS)
                assert told.value.reason == "two-units"
            assert connection.spent() is None
            assert connection.explain(COUNT).cost == budget, "other queries need none"

    @pytest.mark.parametrize("joins", ["truncated", "elastic"])
    def test_nothing_is_joined_without_a_limit(self, shop: Path, joins: str) -> None:
        with ask_shop(shop, Budget(epsilon=1, delta=1e-6), joins=joins) as connection:
            with pytest.raises(QueryRefusedError, match="max_frequency") as told:
                connection.execute(PAIRS)
            assert told.value.reason == "two-units"

    def test_elastic_noise_that_cannot_be_drawn_is_free(self, shop: Path) -> None:
        (shop / "shop.toml").write_text(bounded_ages(5), encoding="utf-8")
        with ask_shop(shop, Budget(epsilon=1e-6, delta=1e-6), joins="elastic") as connection:
            with pytest.raises(QueryRefusedError) as told:
                connection.execute(PAIRS)
            assert told.value.reason == "noise-too-large"
            assert connection.spent() is None


def test_connect_is_exported() -> None:
    assert sudare.connect is connect
    assert "connect" in sudare.__all__
    assert sudare.errors.QueryRefusedError is QueryRefusedError
    assert sudare.errors.DatabaseError is DatabaseError


def test_metadata_of_another_spelling_are_the_same_unit(shop: Path) -> None:
    (shop / "other.toml").write_text(METADATA.replace('"customer"\n', '"household"\n', 1), encoding="utf-8")
    with pytest.raises(LedgerError, match="household"):
        ask_shop(shop, metadata=shop / "other.toml")


@pytest.mark.slow
def test_the_package_loads_nothing_before_it_is_used() -> None:
    code = "import sys, sudare.sql; print('sqlglot' in sys.modules, 'duckdb' in sys.modules, sudare.sql.paramstyle)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["False", "False", "qmark"]
