"""A little series: people who walk between few cells, at four ticks a day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from sudare import Budget, Unit
from sudare.ledger import open_ledger
from sudare.privacy import ProtectedTime
from sudare.releases.kinds.series.closing import close_windows_before
from sudare.releases.kinds.series.plan_file import SeriesPlan, read_series_plan
from sudare.releases.kinds.series.running import run_tick

__all__ = ["DAY", "MAP", "PLACES", "Crowds", "build_crowds"]

DAY = datetime(2026, 11, 16)
PEOPLE = 3_000
MAP = """
[[domain]]
name = "row"
kind = "positions"
length = 8
[[domain]]
name = "column"
kind = "positions"
length = 8
"""
PLACES = """
[[domain]]
name = "place"
kind = "category"
labels = ["station", "park", "stadium", "<b>market</b>"]
"""
PLAN = """
kind = "series"
title = "Crowds"
publisher = "Office"
language = "{language}"
[source]
path = "rows/{{date}}/{{time}}.parquet"
person = "person"
{domain}
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
location = "budget.db"
dataset = "crowds"
[output]
folder = "out"
"""


@dataclass(frozen=True)
class Crowds:
    """A folder with rows, plan and ledger."""

    folder: Path

    @property
    def plan(self) -> SeriesPlan:
        return read_series_plan(self.folder / "series.toml")

    @property
    def ledger(self) -> str:
        return str(self.folder / "budget.db")

    @property
    def report(self) -> Path:
        return self.folder / "out" / "date=2026-11-16" / "report"

    def tick(self, number: int) -> Path:
        return self.report.parent / f"time={6 * number:02}00"

    def run(self, *ticks: int) -> None:
        plan = self.plan
        for number in ticks:
            run_tick(plan, plan.clock.tick_of(DAY, number))

    def close(self) -> None:
        close_windows_before(self.plan, datetime(2026, 11, 17))


def build_crowds(folder: Path, domain: str = MAP, language: str = "en") -> Crowds:
    """Write rows, plan and ledger."""
    generator = np.random.default_rng(7)
    cells = generator.integers(0, 64, PEOPLE)
    rows = folder / "rows" / "2026-11-16"
    rows.mkdir(parents=True)
    names = np.array(["station", "park", "stadium", "<b>market</b>"])
    for tick in range(4):
        moving = generator.random(PEOPLE) < 0.1
        cells[moving] = generator.integers(0, 64, moving.sum())
        columns = {"row": cells // 8, "column": cells % 8} if domain == MAP else {"place": names[cells % 4]}
        table = pa.table({"person": np.arange(PEOPLE), **columns})
        pyarrow.parquet.write_table(table, rows / f"{6 * tick:02}00.parquet")
    (folder / "series.toml").write_text(PLAN.format(domain=domain, language=language), encoding="utf-8")
    unit = Unit("person", time=ProtectedTime("person-day", 4))
    with open_ledger(folder / "budget.db", create=True) as ledger:
        ledger.add_dataset("crowds", Budget(rho=2), unit=unit)
    return Crowds(folder)
