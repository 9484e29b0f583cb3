"""What a tick of a series takes: ten million people over Japan at 1 km, and whether a day's last tick takes more than its first.

Each part runs in a process of its own, so that memory is that of the series alone. A tick is timed as `sudare run` publishes it:
from the file of everybody's rows to the folder that is shown, ledger and private state included. The last tick of a day closes it
too; the day is not revised, which would take as long as all its ticks did.

``python -m benchmarks.series_ticks`` prints all of it.
"""

from __future__ import annotations

import gc
import json
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import sudare
from benchmarks.measuring import in_new_process
from sudare.domain import CountTable, Domain, Mesh
from sudare.examples import PeopleFlow, invent_country, write_people_flow
from sudare.ledger import open_ledger
from sudare.privacy.unit import ProtectedTime
from sudare.releases.kinds.series.plan_file import read_series_plan
from sudare.releases.kinds.series.running import run_tick

__all__ = ["TARGETS", "TickSize", "TickTimes", "publish_ticks", "run", "time_ticks"]

TARGETS = {
    "tick_seconds_10m": "at most 10 (one tick of 10 million people over 2048 x 2048 meshes of 1 km, two cores)",
    "tick_growth": "at most 1.2 (processor time of tick 144 / tick 2, the best of three beside each)",
    "memory_growth": "at most 1.05 (resident memory after tick 144 / after tick 2)",
    "first_tick_seconds_10m": "the first tick, at which everybody enters, and kernels are made ready",
    "tick_peak_gb": "peak memory of the ten million people's ticks",
}

PLAN = """
kind = "series"
title = "People of an invented country"
[source]
path = "rows/{{date}}T{{time}}.parquet"
person = "person"
time = "time"
[[domain]]
name = "KEY_CODE"
kind = "mesh"
level = "3"
window = [3407, 1835, {side}, {side}]
[series]
every = "{minutes} minutes"
window = "1 day"
start = 2026-11-16
protects = "person-day"
moves = 4
[budget]
rho = 1
[ledger]
location = "budget.db"
dataset = "people"
[output]
folder = "out"
revision = false
[reading]
memory = "4GB"
"""


@dataclass(frozen=True)
class TickSize:
    """How large a series is, and how many of its ticks are timed.

    Attributes:
        side: meshes along each side.
        people: how many there are.
        ticks: of a day.
        wanted: how many of them are published.
    """

    side: int
    people: int
    ticks: int = 144
    wanted: int = 144


WHOLE = TickSize(side=2048, people=10_000_000, wanted=4)
DAY = TickSize(side=512, people=1_000_000)


def run() -> dict[str, float]:
    """All numbers."""
    whole, day = time_ticks(WHOLE), time_ticks(DAY)
    return {
        "tick_seconds_10m": min(whole.seconds[1:]),
        "first_tick_seconds_10m": whole.seconds[0],
        "tick_peak_gb": whole.peak / 1e9,
        "tick_growth": min(day.processor[-3:]) / min(day.processor[1:4]),
        "memory_growth": day.resident[-1] / day.resident[1],
    }


@dataclass(frozen=True)
class TickTimes:
    """What each tick took.

    Attributes:
        seconds: by the clock.
        processor: seconds of all cores, which other processes do not change much.
        resident: memory after the tick, in bytes.
        peak: of the memory.
    """

    seconds: list[float]
    processor: list[float]
    resident: list[int]
    peak: int


def time_ticks(size: TickSize) -> TickTimes:
    """Publish ticks in a new process."""
    code = (
        "import json\nfrom dataclasses import astuple\nfrom benchmarks.series_ticks import TickSize, publish_ticks\n"
        f"print(json.dumps(astuple(publish_ticks({size!r}))))"
    )
    return TickTimes(*json.loads(in_new_process(code)))


def publish_ticks(size: TickSize) -> TickTimes:
    """Publish ticks, one after the other, in this process."""
    country = invent_country(size.side, people=size.people)
    # The same people on meshes of 1 km: a window of 2048 x 2048 holds Japan.
    mesh = Mesh("KEY_CODE", "3", 3407, 1835, size.side, size.side)
    country = CountTable.from_cells(Domain((mesh,)), country.keys, country.counts)
    flow = PeopleFlow(country, moving=0.01, ticks=size.ticks, seed=1)
    times = TickTimes([], [], [], 0)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        plan_file = folder / "series.toml"
        plan_file.write_text(PLAN.format(side=size.side, minutes=24 * 60 // size.ticks), encoding="utf-8")
        with open_ledger(folder / "budget.db", create=True) as ledger:
            unit = sudare.Unit("person", time=ProtectedTime("person-day", size.ticks))
            ledger.add_dataset("people", sudare.Budget(rho=2), unit=unit)
        plan = read_series_plan(plan_file)
        for number in range(size.wanted):
            (file,) = write_people_flow(flow, folder / "rows", ticks=1)
            tick = plan.clock.tick_of(plan.clock.start, number)
            start, used = time.perf_counter(), time.process_time()
            run_tick(plan, tick)
            times.seconds.append(time.perf_counter() - start)
            times.processor.append(time.process_time() - used)
            file.unlink()
            gc.collect()
            times.resident.append(_memory("VmRSS"))
    return replace(times, peak=_memory("VmHWM"))


def _memory(field: str) -> int:
    """What the system tells of this process's memory, in bytes."""
    lines = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return int(lines[field].split()[0]) * 1024


if __name__ == "__main__":
    for key, value in run().items():
        print(f"{key:24} {value:8.3f}  {TARGETS[key]}")
