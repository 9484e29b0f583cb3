# ruff: noqa: S608 (queries are put together from names that the tests chose)
from __future__ import annotations

import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from sudare.engines import Engine, open_engine
from sudare.engines.spark_jobs import GROUP, TaggedJob
from sudare.errors import DatabaseError
from tests.contracts.sql_servers import running_servers

pytestmark = [pytest.mark.slow, pytest.mark.spark]


@pytest.fixture(scope="module")
def running() -> Iterator[Engine]:
    with running_servers() as servers:
        yield servers.spark()


@pytest.fixture
def session(running: Engine) -> Any:
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate()


def answer(engine: Engine, sql: str) -> list[Any]:
    return [tuple(row.values()) for row in engine.fetch(sql).to_pylist()]


def test_a_session_keeps_its_own_settings_and_views(session: Any) -> None:
    session.conf.set("spark.sql.ansi.enabled", "false")
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    session.sql("SELECT 1 AS i, CAST(2.5 AS DECIMAL(9, 2)) AS d").createOrReplaceTempView("mine")
    with open_engine(session) as engine:
        assert engine.tables() == ["mine"]
        assert engine.columns("mine")["d"].native == "decimal(9,2)"
        assert answer(engine, "SELECT d FROM mine") == [(Decimal("2.50"),)]
        assert answer(engine, "SELECT current_timezone() AS z") == [("UTC",)]
        with pytest.raises(DatabaseError):
            engine.fetch("SELECT 1 / 0 AS x")
    assert session.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    assert session.sql("SELECT 1 / 0 AS x").collect()[0].x is None
    session.conf.set("spark.sql.ansi.enabled", "true")
    session.catalog.dropTempView("mine")


def test_engines_share_one_spark_and_do_not_see_each_other(running: Engine, tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pa.table({"x": [1, 2]}), tmp_path / "t.parquet")
    with open_engine(f"spark:local?path={tmp_path}") as engine:
        assert engine.tables() == ["t"]
        assert answer(engine, "SELECT sum(x) AS s FROM t") == [(3,)]
        assert running.tables() == []
    assert answer(running, "SELECT 1 AS x") == [(1,)]


def test_how_far_a_job_is_can_be_asked(session: Any) -> None:
    context = session.sparkContext
    context.setLocalProperty(GROUP, "of somebody else")
    job = TaggedJob(session)
    with job:
        assert session.range(100).repartition(4).distinct().count() == 100
        for _ in range(600):  # what has ended is told to who asks a little later
            if job.share() > 0:
                break
            time.sleep(0.1)
        assert 0 < job.share() < 1
    assert context.getLocalProperty(GROUP) == "of somebody else"
    context.setLocalProperty(GROUP, None)


def test_products_of_decimals_are_never_rounded(running: Engine) -> None:
    small, wide = "CAST('1.23456789' AS DECIMAL(10, 8))", "CAST('0.12345678901234567' AS DECIMAL(18, 17))"
    assert answer(running, f"SELECT {small} * {wide} AS x") == [
        (Decimal("1.23456789") * Decimal("0.12345678901234567"),)
    ]
    widest = "CAST('1." + "0" * 29 + "1' AS DECIMAL(38, 30))"
    with pytest.raises(DatabaseError):
        running.fetch(f"SELECT {widest} * {widest} AS x")


def test_texts_are_not_replaced(running: Engine) -> None:
    assert answer(running, "SELECT '${spark.app.name} ${env:HOME}' AS x") == [("${spark.app.name} ${env:HOME}",)]


def test_files_cannot_be_named_in_a_query(running: Engine, tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pa.table({"x": [1, 2]}), tmp_path / "t.parquet")
    with pytest.raises(DatabaseError):
        running.fetch(f"SELECT * FROM parquet.`{tmp_path}/t.parquet`")


def test_tables_are_compared_with_upper_and_lower_case(running: Engine, tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pa.table({"x": [1], "X": [2]}), tmp_path / "T.parquet")
    with open_engine(f"spark:local?path={tmp_path}") as engine:
        assert list(engine.columns("T")) == ["x", "X"]
        assert answer(engine, "SELECT X, x FROM T") == [(2, 1)]
        with pytest.raises(DatabaseError, match="has no table"):
            engine.columns("t")


def test_text_files_are_not_for_spark(running: Engine, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(DatabaseError, match="Parquet files only"):
        open_engine(f"spark:local?path={tmp_path}")
    assert answer(running, "SELECT 1 AS x") == [(1,)]


def test_another_spark_in_this_process_is_told(running: Engine) -> None:
    with pytest.raises(DatabaseError, match="Another Spark"):
        open_engine("spark://127.0.0.1:1")


def test_a_damaged_file_is_told_without_its_contents(
    running: Engine, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.parquet").write_bytes(b"PAR1 SECRET PAR1")
    with pytest.raises(DatabaseError, match="cannot be opened") as raised:
        open_engine(f"spark:local?path={tmp_path}")
    assert raised.value.__context__ is None
    assert "SECRET" not in str(raised.value) + "".join(capfd.readouterr())
