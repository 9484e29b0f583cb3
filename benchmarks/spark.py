"""Counting on Spark: a whole release against a plain ``GROUP BY`` that writes its result, on one machine, beside DuckDB.

Data are invented and lie in a temporary folder: so many rows of mesh codes of 125 m, spread over so many cells. All of one
size runs in one fresh process with one Spark. In local mode the driver is the cluster too, so that the stated peak, of Python and
Java together, is more than a driver's. ``SUDARE_SPARK_ROWS`` names another size than 10^8 rows.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from benchmarks.measuring import in_new_process

__all__ = ["TARGETS", "run"]

ROWS = int(os.environ.get("SUDARE_SPARK_ROWS", "100000000"))
ROWS_PER_CELL = 10
SHARE = 10
"""Growth is measured from so many times fewer rows, over as many times fewer cells."""

TARGETS = {
    "mode1_vs_groupby": "at most 1.3 (whole release / plain Spark GROUP BY + write; 10^8 rows, 10^7 cells)",
    "driver_peak_mb": "at most 4096 (Python and Java together)",
    "rows_per_second": "reported (whole release)",
    "growth": "reported (seconds for 10^8 rows / for 10^7)",
    "persons_vs_distinct": "reported (cells of persons bounded / plain count(DISTINCT person) by cell; 10^7 rows)",
    "duckdb_vs_spark": "reported (the same release from the same files through DuckDB / through Spark)",
}

CODE = """
import json, os, resource, sys, time
from pathlib import Path
import duckdb, numpy as np, pyarrow as pa, pyarrow.parquet as pq
from sudare import Budget, Mesh, Unit
from sudare.domain import Domain
from sudare.engines import open_engine
from sudare.ledger import open_ledger
from sudare.releases.kinds.counts import read_plan, run_release

folder, rows, cells, with_persons = Path({folder!r}), {rows}, {cells}, {with_persons}
side = 4096
mesh = Mesh("KEY_CODE", "1/8", 33280, 24960, side, side)
random = np.random.default_rng(3)
keys = np.sort(random.choice(side * side, cells, replace=False))
codes = mesh.values(np.divmod(keys, side))
pq.write_table(pa.table({{"number": np.arange(cells), "code": codes}}), folder / "codes.parquet")
data = folder / "people"
data.mkdir()
with duckdb.connect() as connection:
    connection.execute("SET threads = 2; SET preserve_insertion_order = false; SET memory_limit = '4GB'")
    connection.execute(f"SET temp_directory = '{{folder}}/spill'")
    per_file = max(1, rows // 10)
    for part in range(10):
        connection.execute(
            f"COPY (SELECT code AS KEY_CODE, CAST(hash(i + 1) % {{max(1, rows // 4)}} AS BIGINT) AS person "
            f"FROM range({{part * per_file}}, {{(part + 1) * per_file}}) AS r(i) "
            f"JOIN read_parquet('{{folder}}/codes.parquet') AS codes "
            f"ON codes.number = hash(i) % {{cells}}) TO '{{data}}/part-{{part}}.parquet' (FORMAT parquet)"
        )
with open_ledger(folder / "budget.db", create=True) as ledger:
    ledger.add_dataset("town", Budget(epsilon=100), unit=Unit("person"))
    ledger.add_dataset("walks", Budget(epsilon=100), unit=Unit("person", cells=4))

def plan(name, form, more="", unit=""):
    text = f'''
title = "{{name}}"
publisher = "A benchmark"
[source]
path = "people"
format = "{{form}}"
{{more}}
[[domain]]
name = "KEY_CODE"
kind = "mesh"
level = "1/8"
window = [33280, 24960, {{side}}, {{side}}]
[method]
name = "wide-tree"
[budget]
epsilon = 1
{{unit}}
[ledger]
location = "budget.db"
dataset = "{{'walks' if unit else 'town'}}"
[output]
folder = "{{name}}"
formats = ["parquet"]
[reading]
memory = "4GB"
'''
    (folder / f"{{name}}.toml").write_text(text)
    return read_plan(folder / f"{{name}}.toml")

def timed(job):
    start = time.perf_counter()
    job()
    return time.perf_counter() - start

def peak(process):
    lines = Path(f"/proc/{{process}}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0) / 1024  # none of what has ended

found = {{}}
with open_engine("spark:local[2]"):
    from pyspark.sql import SparkSession
    session = SparkSession.builder.getOrCreate()
    java = session.sparkContext._gateway.proc.pid
    one = session.read.parquet(str(data / "part-0.parquet"))
    one.limit(1_000_000).groupBy("KEY_CODE").count().write.parquet(str(folder / "warm"))  # neither pays for the first query
    read = lambda: session.read.parquet(str(data))
    found["groupby"] = timed(lambda: read().groupBy("KEY_CODE").count().write.parquet(str(folder / "plain")))
    found["mode1"] = timed(lambda: run_release(plan("spark", "spark")))
    if with_persons:
        from pyspark.sql import functions as F
        found["distinct"] = timed(
            lambda: read().groupBy("KEY_CODE").agg(F.count_distinct("person")).write.parquet(str(folder / "distinct"))
        )
        found["persons"] = timed(
            lambda: run_release(plan("persons", "spark", 'person = "person"', "[unit]\\ncells = 4"))
        )
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 + max(
        peak(process) for process in [java, *map(int, Path(f"/proc/{{java}}/task/{{java}}/children").read_text().split())]
    )
found["duckdb"] = timed(lambda: run_release(plan("duckdb", "parquet")))
print(json.dumps(found))
"""


def run() -> dict[str, float]:
    """All figures; the data are removed afterwards."""
    large = _measured(ROWS, with_persons=False)
    small = _measured(ROWS // SHARE, with_persons=True)
    return {
        "mode1_vs_groupby": large["mode1"] / large["groupby"],
        "driver_peak_mb": large["peak"],
        "rows_per_second": ROWS / large["mode1"],
        "growth": large["mode1"] / small["mode1"],
        "persons_vs_distinct": small["persons"] / small["distinct"],
        "duckdb_vs_spark": large["duckdb"] / large["mode1"],
        "mode1_seconds": large["mode1"],
        "groupby_seconds": large["groupby"],
        "duckdb_seconds": large["duckdb"],
        "small_mode1_vs_groupby": small["mode1"] / small["groupby"],
    }


def _measured(rows: int, *, with_persons: bool) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="sudare-bench-") as folder:
        place = str(Path(folder))
        code = CODE.format(folder=place, rows=rows, cells=max(1, rows // ROWS_PER_CELL), with_persons=with_persons)
        found: dict[str, float] = json.loads(in_new_process(code).splitlines()[-1])
    return found
