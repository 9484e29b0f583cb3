"""From a plan file to a folder that a cluster drew: the counts are DuckDB's, and the noise has one input."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from sudare import Budget, Unit
from sudare.engines import Engine
from sudare.errors import DatabaseError, InputError, PlanError
from sudare.io import Source, read_counts
from sudare.ledger import open_ledger
from sudare.noise.addressed import NoiseKey
from sudare.releases.data.people import selection_key
from sudare.releases.kinds.subtrees.plan_file import EXECUTOR_KEYS, METHOD_KEYS
from sudare.releases.preflight import find_obstacles
from sudare.releases.registry import find_kind_of_folder, find_kind_of_plan, run_plan, verify_folder
from sudare.releases.subtrees.cluster_settings import REQUIRED
from sudare.releases.subtrees.document import PublishedParts
from sudare.releases.subtrees.job import read_cells
from sudare.tables.addressed.mechanism import addressed_wide_tree
from tests.contracts.sql_servers import running_servers
from tests.contracts.subtree_runs import KEY

pytestmark = [pytest.mark.slow, pytest.mark.spark]

PLAN = """
kind = "subtrees"
title = "A map"
[source]
format = "spark"
cluster = "spark:local[2]"
path = "people.parquet"
person = "id"
columns = { place = "at" }
[[domain]]
name = "place"
kind = "positions"
length = 4096
[[domain]]
name = "sex"
kind = "category"
labels = ["f", "m"]
[unit]
cells = 2
[budget]
epsilon = 1
[ledger]
location = "budget.db"
dataset = "people"
[executors]
people_per_subtree = 100
"""
UNIT = Unit("person", cells=2)


@pytest.fixture(scope="module")
def running() -> Iterator[Engine]:
    with running_servers() as servers:
        yield servers.spark()


def office(folder: Path, text: str = PLAN, **columns: Any) -> Path:
    random = np.random.default_rng(2)
    given = {
        "id": random.integers(0, 200, 900),
        "at": random.integers(0, 60, 900),
        "sex": random.choice(["f", "m"], 900),
    }
    pyarrow.parquet.write_table(pa.table(given | columns), folder / "people.parquet")
    with open_ledger(folder / "budget.db", create=True) as ledger:
        ledger.add_dataset("people", Budget(epsilon=3), unit=UNIT)
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return folder / "plan.toml"


def entries(folder: Path) -> list[str]:
    with open_ledger(folder / "budget.db") as ledger:
        assert ledger.verify() == []
        return [entry.kind for entry in ledger.entries() if entry.kind != "dataset"]


@pytest.mark.parametrize("limit", ["cells = 2", pytest.param("rows = 3", marks=pytest.mark.deep)])
def test_a_plan_gives_what_one_machine_gives(
    running: Engine, limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NoiseKey, "fresh", classmethod(lambda cls: NoiseKey(KEY)))
    unit = UNIT if limit == "cells = 2" else Unit.with_rows(3)
    file = office(tmp_path, PLAN.replace("cells = 2", limit))
    if unit != UNIT:
        (tmp_path / "budget.db").unlink()
        with open_ledger(tmp_path / "budget.db", create=True) as ledger:
            ledger.add_dataset("people", Budget(epsilon=3), unit=unit)
    kind: Any = find_kind_of_plan(file).load()
    plan = kind.read_plan(file)
    if unit == UNIT:
        assert find_obstacles(kind, plan).is_clear
    told: list[tuple[str, float | None]] = []
    made = run_plan(file, progress=lambda stage, share: told.append((stage, share)))
    assert [stage for stage, share in told if share is None] == ["count", "bind", "write"]
    with open_ledger(tmp_path / "budget.db") as ledger:
        key = selection_key(ledger.secret("people"), ledger.entry(made.document["ledger"]["entry"]).hash)
    limits: dict[str, Any] = {
        "rows_per_person": unit.rows,
        "cells_per_person": unit.cells,
        "rows_per_cell": unit.rows_per_cell,
    }
    source = Source(str(tmp_path / "people.parquet"), "parquet", person="id", columns={"place": "at"})
    counts = read_counts(source, plan.planned.domain, **limits, selection_key=key)
    expected = addressed_wide_tree(counts, Budget(epsilon=1), NoiseKey(KEY), unit=unit).table
    found = read_cells(made.folder, plan.planned.domain)
    assert found.keys.tobytes() == expected.keys.tobytes()
    assert found.counts.tobytes() == expected.counts.tobytes()
    assert made.document["published"]["total"] == found.total
    assert made.document["pin"]["kind"] == "files"
    assert "people.parquet" not in json.dumps(made.document)
    assert find_kind_of_folder(made.folder).name == "subtrees"
    assert {check.outcome for check in verify_folder(made.folder, str(tmp_path / "budget.db"))} == {"passed"}
    assert run_plan(file).is_repeated
    assert entries(tmp_path) == ["reserve", "begin-tick", "settle-tick", "settle"]
    part = max(made.folder.glob("cells-*.parquet"))
    pyarrow.parquet.write_table(pa.table({"key": [1, 1], "count": [1, 1]}), part)
    failed = {check.name for check in verify_folder(made.folder) if check.outcome == "failed"}
    assert failed == {f"file {part.name}", "counts"}
    stated = made.folder / "release.json"
    stated.write_text(stated.read_text(encoding="utf-8").replace('"title": "', '"title": "Another '), encoding="utf-8")
    checks = verify_folder(made.folder, str(tmp_path / "budget.db"))
    assert "ledger" in {check.name for check in checks if check.outcome == "failed"}


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"sex": ["f", "SECRET"] * 450}, "'sex' has a value"),
        pytest.param({"sex": ["f", None] * 450}, "'sex' has an empty field", marks=pytest.mark.deep),
        pytest.param({"id": [1, None] * 450}, "'id' has an empty field", marks=pytest.mark.deep),
    ],
    ids=["wrong", "missing", "nobody"],
)
def test_mistakes_give_the_charge_back_and_tell_no_value(
    running: Engine, columns: dict[str, Any], said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = office(tmp_path, **columns)
    with pytest.raises(InputError, match=said) as caught:
        run_plan(file)
    assert "SECRET" not in str(caught.value) + "".join(capfd.readouterr())
    assert entries(tmp_path) == ["reserve", "cancel"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_run_that_is_stopped_before_noise_is_bound_costs_nothing(running: Engine, tmp_path: Path) -> None:
    file = office(tmp_path)

    def stop(stage: str, share: float | None) -> None:
        if stage == "bind":
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            run_plan(file, progress=stop)
    assert entries(tmp_path) == ["reserve", "cancel"] * 2
    assert not run_plan(file).is_repeated
    assert run_plan(file).is_repeated
    assert entries(tmp_path)[4:] == ["reserve", "begin-tick", "settle-tick", "settle"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('format = "spark"\n', 'format = "parquet"\n', "cluster"),
        ("[executors]", '[executors]\naccept_missing = ["spark.ui"]', "accept_missing"),
        ("people_per_subtree = 100", "people_per_subtree = 0", "people_per_subtree"),
        ("[unit]", '[method]\nname = "margins"\n[unit]', "name"),
        ("[unit]", "[method]\nbits = [99]\n[unit]", "bits"),
    ],
)
def test_plans_that_cannot_be(before: str, after: str, said: str, tmp_path: Path) -> None:
    file = office(tmp_path, PLAN.replace(before, after))
    with pytest.raises(PlanError, match=said):
        run_plan(file)
    assert entries(tmp_path) == []


def test_the_reference_lists_all_keys_and_fields() -> None:
    text = (Path(__file__).parents[3] / "docs/reference/subtrees.md").read_text(encoding="utf-8")
    names = {*METHOD_KEYS, *EXECUTOR_KEYS, *REQUIRED, *(f"published.{field.name}" for field in fields(PublishedParts))}
    assert [name for name in sorted(names) if not re.search(rf"\b{re.escape(name)}\b", text)] == []


def test_a_cluster_that_is_not_there_is_found_before(running: Engine, tmp_path: Path) -> None:
    file = office(tmp_path, PLAN.replace("spark:local[2]", "spark://127.0.0.1:1"))
    kind: Any = find_kind_of_plan(file).load()
    (obstacle,) = find_obstacles(kind, kind.read_plan(file)).obstacles
    assert isinstance(obstacle, DatabaseError)


def command(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """The command in a process of its own, which has loaded nothing before."""
    return subprocess.Popen(
        [sys.executable, "-m", "sudare", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.deep
def test_the_command_in_a_fresh_process(tmp_path: Path) -> None:
    office(tmp_path)
    for arguments in (
        ("plan", "plan.toml"),
        ("run", "plan.toml", "--yes"),
        ("verify", "release", "--ledger", "budget.db"),
    ):
        with command(tmp_path, *arguments) as process:
            _, told = process.communicate()
            assert process.returncode == 0, told
    assert entries(tmp_path) == ["reserve", "begin-tick", "settle-tick", "settle"]


@pytest.mark.deep
def test_control_c_cancels_the_job_and_gives_the_charge_back(tmp_path: Path) -> None:
    slow = "SELECT id % 7 AS id, id % 60 AS at, 'f' AS sex FROM range(200000000000)"
    office(tmp_path, PLAN.replace('path = "people.parquet"', f'query = "{slow}"'))
    with command(tmp_path, "run", "plan.toml", "--yes") as process:
        assert process.stderr is not None
        while "Counting people on the cluster" not in process.stderr.readline():
            assert process.poll() is None
        time.sleep(10)  # wherever it is by then, nothing is drawn
        process.send_signal(signal.SIGINT)
        _, told = process.communicate()
        assert process.returncode == 130, told
    assert entries(tmp_path) == ["reserve", "cancel"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
