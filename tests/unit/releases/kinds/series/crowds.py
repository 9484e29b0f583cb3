"""A little series for tests: people who walk over sixteen places, or over a map, in a window of four ticks."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sudare import Budget, Unit
from sudare.ledger import Ledger, open_ledger
from sudare.privacy import ProtectedTime
from sudare.releases.kinds.series.plan_file import SeriesPlan, read_series_plan
from sudare.releases.kinds.series.running import close_windows_before, run_tick
from sudare.releases.protocol import Released

__all__ = [
    "DAY",
    "KEY",
    "MAP",
    "PEOPLE",
    "PLACES_BY_NAME",
    "TICKS",
    "Crowds",
    "build_crowds",
    "build_series",
    "cells_at",
    "entries_of",
    "file_of",
    "published",
    "put_back",
    "read_plan",
    "run",
    "state_of",
    "tick_at",
    "write_rows",
]

TICKS, PEOPLE, PLACES = 4, 60, 16
DAY = Unit("person", time=ProtectedTime("person-day", TICKS))
KEY = bytes(range(32))
PLAN = """
kind = "series"
title = "Crowds"
[source]
path = "rows/{date}/{time}.parquet"
person = "person"
[[domain]]
name = "cell"
kind = "positions"
length = 16
[unit]
who = "person"
[series]
every = "6 hours"
window = "1 day"
start = 2026-11-16
protects = "person-day"
moves = 2
[budget]
rho = 0.5
[ledger]
location = "LOCATION"
dataset = "crowds"
[output]
folder = "out"
"""


CROWD, SIDE = 3_000, 8
MAP = """[[domain]]
name = "row"
kind = "positions"
length = 8
[[domain]]
name = "column"
kind = "positions"
length = 8
"""
NAMES = ("station", "park", "stadium", "<b>market</b>")
PLACES_BY_NAME = """[[domain]]
name = "place"
kind = "category"
labels = ["station", "park", "stadium", "<b>market</b>"]
"""
LINE = """[[domain]]
name = "cell"
kind = "positions"
length = 16
"""


def build_series(
    folder: Path, text: str = PLAN, *, location: str = "budget.db", key: bytes | None = None, unit: Unit = DAY
) -> SeriesPlan:
    """Data, plan and ledger of a series; with a key, so that its first day is the same wherever it is carried out."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "plan.toml"
    file.write_text(text.replace("LOCATION", location), encoding="utf-8")
    place = location if "://" in location else folder / location
    with open_ledger(place, create=True) as ledger:
        ledger.add_dataset("crowds", Budget(rho=2), unit=unit)
    for day in (16, 17):
        for tick in range(TICKS):
            write_rows(folder, tick, day=day)
    if key is not None:
        state = folder / "out-state" / "window-2026-11-16T000000"
        state.mkdir(mode=0o700, parents=True)
        (state / "key").write_bytes(key)
    return read_plan(folder)


def cells_at(tick: int, day: int = 16) -> Any:
    """Where people are: some of them move at every tick."""
    cells = np.random.default_rng(day).integers(0, PLACES, PEOPLE)
    for number in range(1, tick + 1):
        random = np.random.default_rng(100 * day + number)
        cells = np.where(random.random(PEOPLE) < 0.3, random.integers(0, PLACES, PEOPLE), cells)
    return cells


def file_of(folder: Path, tick: int, day: int = 16) -> Path:
    return folder / f"rows/2026-11-{day}/{tick * 6:02}00.parquet"


def write_rows(folder: Path, tick: int, persons: Any = None, cells: Any = None, *, day: int = 16, **more: Any) -> None:
    """The file of a tick; that of the people who walk if nothing is said."""
    file = file_of(folder, tick, day)
    file.parent.mkdir(parents=True, exist_ok=True)
    people = np.arange(PEOPLE) if persons is None else persons
    pq.write_table(pa.table({"person": people, "cell": cells_at(tick, day) if cells is None else cells, **more}), file)


def read_plan(folder: Path) -> SeriesPlan:
    return read_series_plan(folder / "plan.toml")


def tick_at(plan: SeriesPlan, tick: int, day: int = 16) -> Any:
    return plan.clock.tick_at(datetime(2026, 11, day, tick * 6))


def run(folder: Path, tick: int, day: int = 16, **given: Any) -> Released[Any]:
    plan = read_plan(folder)
    return run_tick(plan, tick_at(plan, tick, day), **given)


def published(folder: Path, day: int = 16) -> dict[int, tuple[bytes, ...]]:
    """The bytes of every published tick."""
    found = {}
    for tick in range(TICKS):
        place = folder / f"out/date=2026-11-{day}/time={tick * 6:02}00"
        if place.is_dir():
            found[tick] = tuple((place / name).read_bytes() for name in ("table.parquet", "measurements.npz"))
    return found


def state_of(folder: Path, day: int = 16) -> Path:
    return folder / f"out-state/window-2026-11-{day}T000000"


def entries_of(ledger: Ledger) -> list[str]:
    return [entry.kind for entry in ledger.entries() if entry.kind != "dataset"]


def put_back(copy: Path, place: Path) -> None:
    """An old copy of a file or a folder in the place of what is there now."""
    if place.is_dir():
        shutil.rmtree(place)
        shutil.copytree(copy, place)
    else:
        for file in place.parent.glob(f"{place.name}-*"):
            file.unlink()
        shutil.copy(copy, place)


@dataclass(frozen=True)
class Crowds:
    """A folder with rows, plan and ledger of a day on a map, or of places that have names."""

    folder: Path

    @property
    def plan(self) -> SeriesPlan:
        return read_plan(self.folder)

    @property
    def ledger(self) -> str:
        return str(self.folder / "budget.db")

    @property
    def report(self) -> Path:
        return self.folder / "out" / "date=2026-11-16" / "report"

    def tick(self, number: int) -> Path:
        return self.report.parent / f"time={6 * number:02}00"

    def run(self, *ticks: int) -> None:
        for number in ticks:
            run(self.folder, number)

    def close(self) -> None:
        close_windows_before(self.plan, datetime(2026, 11, 17))


def build_crowds(folder: Path, domain: str = MAP, language: str = "en") -> Crowds:
    """Rows, plan and ledger of a day of many people."""
    head = f'title = "Crowds"\npublisher = "Office"\nlanguage = "{language}"'
    build_series(folder, PLAN.replace('title = "Crowds"', head).replace(LINE, domain))
    generator = np.random.default_rng(7)
    cells = generator.integers(0, SIDE**2, CROWD)
    for tick in range(TICKS):
        moving = generator.random(CROWD) < 0.1
        cells[moving] = generator.integers(0, SIDE**2, moving.sum())
        columns = {"row": cells // SIDE, "column": cells % SIDE}
        if domain != MAP:
            columns = {"place": np.array(NAMES)[cells % len(NAMES)]}
        pq.write_table(pa.table({"person": np.arange(CROWD), **columns}), file_of(folder, tick))
    return Crowds(folder)
