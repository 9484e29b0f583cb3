"""What Spark is pointed at: tables, paths, queries, Delta; which state was read; whole releases, and what interrupts them."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from sudare import Budget
from sudare.domain import Category, Domain
from sudare.engines import Engine
from sudare.errors import DatabaseError, InputError, ParameterError, PlanError
from sudare.io import Source, read_counts
from sudare.releases.kinds.counts import run_release, verify_release
from sudare.spark import InputPin, count_on_spark
from sudare.spark.checking import find_faults
from tests.contracts.sql_servers import running_servers
from tests.unit.releases.kinds.counts.offices import PLAN, open_office, remaining, true_counts

pytestmark = [pytest.mark.slow, pytest.mark.spark]

SEX = Domain((Category("sex", ("f", "m")),))
ON_SPARK = PLAN.replace("[source]", '[source]\nformat = "spark"\ncluster = "spark:local[2]"\nperson = "person"')


@pytest.fixture(scope="module")
def running() -> Iterator[Engine]:
    with running_servers() as servers:
        yield servers.spark()


def test_a_query_and_a_view(running: Engine) -> None:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.getOrCreate()
    query = "SELECT explode(array('f', 'f', 'm')) AS sex"
    assert count_on_spark(Source(format="spark", query=query), SEX).table.to_dense().tolist() == [2, 1]
    session.sql(query).createOrReplaceTempView("some_people")
    try:
        found = count_on_spark(Source(format="spark", table="some_people"), SEX)
    finally:
        session.catalog.dropTempView("some_people")
    assert found.table.to_dense().tolist() == [2, 1]
    assert found.pin == InputPin("query")
    with pytest.raises(DatabaseError):
        count_on_spark(Source(format="spark", table="nowhere"), SEX)
    with pytest.raises(DatabaseError):
        count_on_spark(Source(format="spark", query="DROP TABLE x"), SEX)


def test_files_are_pinned_and_their_sizes_stay_secret(running: Engine, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pyarrow.parquet.write_table(pa.table({"sex": ["f", "m"]}), path)
    source = Source(str(path), "spark")
    first = count_on_spark(source, SEX).pin
    assert first.kind == "files"
    assert first.files[0].split("\t")[1] == str(path.stat().st_size)
    assert count_on_spark(source, SEX).pin == first
    pyarrow.parquet.write_table(pa.table({"sex": ["f", "m", "m"]}), path)
    assert count_on_spark(source, SEX).pin != first
    assert first.keyed_hash(b"key", "one") != first.keyed_hash(b"key", "two")
    with pytest.raises(InputError, match="has no Parquet files"):
        count_on_spark(Source(str(tmp_path / "nothing"), "spark"), SEX)


def test_a_table_of_delta_is_read_at_one_version(running: Engine, tmp_path: Path) -> None:
    deltalake = pytest.importorskip("deltalake", reason="deltalake is not installed: tables of Delta are not tested")
    place = str(tmp_path / "lake")
    deltalake.write_deltalake(place, pa.table({"sex": ["f", "m"]}))
    deltalake.write_deltalake(place, pa.table({"sex": ["m"]}), mode="append")
    found = count_on_spark(Source(place, "spark"), SEX)
    assert found.table.to_dense().tolist() == [1, 2]
    assert (found.pin.kind, found.pin.state) == ("delta", "1")
    deltalake.write_deltalake(place, pa.table({"sex": ["m"]}), mode="overwrite")  # older files are still there
    found = count_on_spark(Source(place, "spark"), SEX)
    assert (found.table.to_dense().tolist(), found.pin.state) == ([0, 1], "2")


@pytest.mark.parametrize(
    "layout",
    [
        {"format": "spark"},
        {"format": "spark", "table": "a", "query": "SELECT 1"},
        {"format": "spark", "table": "a", "rows": "counts"},
        {"format": "csv", "path": "a.csv", "table": "a"},
        {"path": "a.csv", "cluster": "spark:local"},
    ],
)
def test_parts_that_do_not_go_together(layout: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Source(**layout)
    with pytest.raises(InputError, match="count_on_spark"):
        read_counts(Source(format="spark", table="a"), SEX)


def test_a_release_from_a_plan(running: Engine, tmp_path: Path) -> None:
    plan = open_office(tmp_path, text=ON_SPARK)
    told: list[tuple[str, float | None]] = []
    document = run_release(plan, progress=lambda stage, share: told.append((stage, share))).document
    assert document["pin"]["kind"] == "files"
    assert len(document["pin"]["keyed_hash"]) == 64
    assert "people.parquet\\t" not in json.dumps(document)
    assert abs(document["published"]["total"] - true_counts().total) < 200
    assert ("read", 0.0) in told
    assert ("read", 1.0) in told
    assert {check.outcome for check in verify_release(tmp_path / "release", plan.ledger.location)} == {"passed"}
    assert run_release(plan).is_repeated
    again = tmp_path / "again"
    again.mkdir()
    with pytest.raises(PlanError):
        open_office(again, text=ON_SPARK.replace('path = "people.parquet"', ""))


@pytest.mark.deep
def test_control_c_cancels_the_job_and_gives_the_charge_back(running: Engine, tmp_path: Path) -> None:
    from pyspark.sql import SparkSession

    slow = "SELECT CAST(id AS STRING) AS KEY_CODE, CAST(id AS STRING) AS person FROM range(20000000000)"
    plan = open_office(tmp_path, text=ON_SPARK.replace('path = "people.parquet"', f'query = "{slow}"'))
    tracker = SparkSession.builder.getOrCreate().sparkContext.statusTracker()

    def interrupt() -> None:
        while not tracker.getActiveStageIds():
            time.sleep(0.05)
        signal.pthread_kill(main, signal.SIGINT)

    main = threading.get_ident()
    watcher = threading.Thread(target=interrupt)
    watcher.start()
    with pytest.raises(KeyboardInterrupt):
        run_release(plan)
    watcher.join()
    deadline = time.monotonic() + 20
    while tracker.getActiveStageIds() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not tracker.getActiveStageIds(), "the job goes on"
    assert remaining(tmp_path) == Budget(epsilon=3)
    assert not (tmp_path / "release").exists()


def test_the_doctor_asks_a_session(running: Engine) -> None:
    kept, version = find_faults("spark:local[2]")
    assert kept == []
    assert version[0] in "456789"
    with pytest.raises(DatabaseError):
        find_faults("spark:local[2]?unknown=1")
