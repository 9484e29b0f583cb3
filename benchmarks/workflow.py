"""The release workflow: files in, released files and a report out, against plain DuckDB on the same files."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import pyarrow
import pyarrow.parquet

import sudare
from benchmarks.data import data_folder
from benchmarks.estat_files import write_estat_folder
from benchmarks.measuring import best_seconds, in_new_process
from sudare.io import Source, read_counts
from sudare.ledger import open_ledger
from sudare.ledger.entries import Settled

PEOPLE = 100_000_000
PROCESSES = 8
PAIRS = 150
JAPAN = sudare.Domain((sudare.Mesh("KEY_CODE", "1/2", 5760, 3520, 5280, 5120),))
"""All Japan, remote islands too."""

TARGETS = {
    "release_seconds": "at most 4 (all Japan as e-Stat files -> released Parquet and report, the whole command)",
    "parquet_release_seconds": "at most 4 (the same from Parquet)",
    "read_vs_duckdb": "at most 1.2 (reading all Japan from Parquet / plain DuckDB)",
    "estat_read_seconds": "reading 151 e-Stat zip files",
    "microdata_vs_duckdb": "at most 1.1 (10^8 people -> counts / plain GROUP BY)",
    "microdata_release_vs_duckdb": "at most 1.5 (the whole command / plain GROUP BY)",
    "microdata_peak_mb": "at most 1000 (peak memory of the whole command)",
    "ledger_pairs_per_second": "at least 200 (reserve and settle, 8 processes at once, synced to the disk)",
    "ledger_lost": "0 (pairs that a process was told of and the ledger does not have, and the other way round)",
}

PLAN = """
title = "Benchmark"
[source]
{source}
[[domain]]
name = "KEY_CODE"
kind = "mesh"
level = "1/2"
area = "japan"
[budget]
epsilon = 1
[ledger]
location = "budget.db"
dataset = "benchmark"
[output]
folder = "{folder}"
[reading]
memory = "500MB"
"""
ESTAT_SOURCE = 'path = "estat"\nformat = "e-stat"\ncount = "T001141001"'
PARQUET_SOURCE = 'path = "{path}"\ncount = "population"\ncolumns = {{ KEY_CODE = "mesh_code" }}'
PEOPLE_SOURCE = 'path = "{path}"\nrows = "people"'

PEAK_CODE = """
import resource, subprocess, sys
subprocess.run({command!r}, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000)
"""


def run() -> dict[str, float]:
    """All numbers of the workflow."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        numbers = _country(folder)
        numbers |= _microdata(folder)
        numbers |= _ledger(folder)
    return numbers


def _country(folder: Path) -> dict[str, float]:
    japan = data_folder("japan_mesh500m_2020")
    write_estat_folder(japan / "full.parquet", folder / "estat")
    path = japan / "pop.parquet"
    source = Source((str(path),), "parquet", "counts", "population", {"KEY_CODE": "mesh_code"})
    estat = Source((str(folder / "estat"),), "e-stat", "counts", "T001141001")
    plain = f"SELECT mesh_code, sum(population) AS count FROM '{path}' GROUP BY mesh_code"  # noqa: S608
    seconds = best_seconds(
        {
            "read": lambda: read_counts(source, JAPAN),
            "duckdb": lambda: _plain(plain),
            "estat": lambda: read_counts(estat, JAPAN),
        },
        rounds=7,
    )
    return {
        "release_seconds": min(_release(folder, f"estat{i}", ESTAT_SOURCE) for i in range(3)),
        "parquet_release_seconds": min(
            _release(folder, f"parquet{i}", PARQUET_SOURCE.format(path=path)) for i in range(3)
        ),
        "read_vs_duckdb": seconds["read"] / seconds["duckdb"],
        "estat_read_seconds": seconds["estat"],
    }


def _plain(query: str) -> Any:
    with duckdb.connect() as connection:
        return connection.sql(query).to_arrow_table()


def _release(folder: Path, name: str, source: str) -> float:
    command = _prepare(folder, name, source)
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def _prepare(folder: Path, name: str, source: str) -> list[str]:
    """A plan and a ledger for one release; the command that carries it out."""
    location = folder / "budget.db"
    is_new = not location.exists()
    with open_ledger(location, create=True) as ledger:
        if is_new:
            ledger.add_dataset("benchmark", sudare.Budget(epsilon=19), unit=sudare.Unit("person"))
    plan = folder / f"{name}.toml"
    plan.write_text(PLAN.format(source=source, folder=name), encoding="utf-8")
    return [sys.executable, "-m", "sudare", "release", str(plan), "--yes", "--again"]


def _microdata(folder: Path) -> dict[str, float]:
    path = folder / "people.parquet"
    _write_people(path)
    os.sync()  # else the disk is busy with the file for a while, and slows whoever comes first
    source = Source((str(path),), "parquet", "people")
    plain = f"SELECT KEY_CODE, count(*) AS count FROM '{path}' GROUP BY KEY_CODE"  # noqa: S608
    numbers = count()
    seconds = best_seconds(
        {
            "read": lambda: read_counts(source, JAPAN),
            "duckdb": lambda: _plain(plain),
            "release": lambda: _release(folder, f"people{next(numbers)}", PEOPLE_SOURCE.format(path=path)),
        },
        rounds=4,
    )
    command = _prepare(folder, "people-peak", PEOPLE_SOURCE.format(path=path))
    return {
        "microdata_vs_duckdb": seconds["read"] / seconds["duckdb"],
        "microdata_release_vs_duckdb": seconds["release"] / seconds["duckdb"],
        "microdata_peak_mb": float(in_new_process(PEAK_CODE.format(command=command))),
        "microdata_duckdb_seconds": seconds["duckdb"],
    }


def _write_people(path: Path) -> None:
    """One row for each of so many people, in no order, where people live in Japan."""
    japan = pyarrow.parquet.read_table(data_folder("japan_mesh500m_2020") / "pop.parquet")
    codes, people = japan["mesh_code"].to_numpy(), japan["population"].to_numpy()
    generator = np.random.default_rng(1)
    schema = pyarrow.schema([("KEY_CODE", pyarrow.int64())])
    chances = np.cumsum(people) / people.sum()
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for _ in range(PEOPLE // 1_000_000):
            some = codes[np.searchsorted(chances, generator.random(1_000_000), side="right")]
            writer.write_table(pyarrow.table({"KEY_CODE": some}, schema=schema))


def _ledger(folder: Path) -> dict[str, float]:
    location = str(folder / "many.db")
    with open_ledger(location, create=True) as ledger:
        ledger.add_dataset("many", sudare.Budget(epsilon=10), unit=sudare.Unit("person"))
    with ProcessPoolExecutor(PROCESSES) as pool:
        list(pool.map(_spend, [(location, 2)] * PROCESSES))  # everybody has started and imported
        start = time.perf_counter()
        told = [number for numbers in pool.map(_spend, [(location, PAIRS)] * PROCESSES) for number in numbers]
        seconds = time.perf_counter() - start
    with open_ledger(location) as ledger:
        bodies = [entry.read() for entry in ledger.entries()]
        settled = [body.reservation for body in bodies if isinstance(body, Settled)]
        findings = ledger.verify()
    lost = len(set(told) - set(settled)) + (len(settled) - len(set(settled))) + len(findings)
    return {"ledger_pairs_per_second": PROCESSES * PAIRS / seconds, "ledger_lost": float(lost)}


def _spend(job: tuple[str, int]) -> list[int]:
    location, pairs = job
    unit, cost = sudare.Unit("person"), sudare.Budget(epsilon=0.001)
    noise = sudare.privacy.LaplaceMeasurement.for_budget(cost, sudare.privacy.sensitivity_of_counts(unit))
    event = sudare.ReleaseEvent("benchmark", unit, cost, (noise,), "secure")
    told = []
    with open_ledger(location) as ledger:
        for _ in range(pairs):
            reservation = ledger.reserve("many", cost, unit=unit, fingerprint="0" * 64, purpose="benchmark")
            ledger.settle(reservation, event, {})
            told.append(reservation.number)
    return told
