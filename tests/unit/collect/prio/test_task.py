"""Tasks and keys: written once, read strictly, and not readable by others."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sudare.collect.prio import AggregatorKeys, CollectorKeys, Task, TaskMeasurement, create_task
from sudare.errors import InputError, OutputError, ParameterError, PlanError

URLS: dict[str, Any] = {"leader_url": "http://127.0.0.1:8001", "helper_url": "https://helper.example:8002"}


def make(folder: Path, measured: TaskMeasurement | None = None, **settings: Any) -> Task:
    return create_task(folder, measured or TaskMeasurement("histogram", length=4), **{**URLS, **settings})


def test_a_task_is_written_for_each_party(tmp_path: Path) -> None:
    task = make(tmp_path / "t", minimum_batch=7, keep=0.5)
    assert Task.read(tmp_path / "t" / "task.json") == task
    assert task.keep == Fraction(1, 2)
    leader, helper = (AggregatorKeys.read(tmp_path / "t" / role, task, role) for role in ("leader", "helper"))
    collector = CollectorKeys.read(tmp_path / "t" / "collector", task)
    assert leader.verify == helper.verify
    assert leader.link_key() == helper.link_key() != leader.verify
    assert len({leader.private, helper.private, collector.private, collector.token, leader.verify}) == 5
    public = (tmp_path / "t" / "task.json").read_text()
    for secret in (leader.private, helper.private, leader.verify, collector.private, collector.token):
        assert secret.hex() not in public
        assert secret.hex() not in repr((task, leader, helper, collector))
    for path in (tmp_path / "t").glob("*/*.key"):
        assert path.stat().st_mode & 0o077 == 0
        assert path.parent.stat().st_mode & 0o077 == 0


def test_keys_are_never_overwritten(tmp_path: Path) -> None:
    make(tmp_path / "t")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(OutputError, match="not empty"):
        make(tmp_path / "t")
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        make(tmp_path / "file")


def test_keys_of_others_are_refused(tmp_path: Path) -> None:
    task, other = make(tmp_path / "a"), make(tmp_path / "b")
    with pytest.raises(InputError, match="not that of this task's helper"):
        AggregatorKeys.read(tmp_path / "a" / "leader", task, "helper")
    with pytest.raises(InputError, match="not that of this task's leader"):
        AggregatorKeys.read(tmp_path / "a" / "leader", other, "leader")
    with pytest.raises(InputError, match="collector"):
        CollectorKeys.read(tmp_path / "a" / "collector", other)
    with pytest.raises(InputError, match="cannot be read"):
        AggregatorKeys.read(tmp_path / "nowhere", task, "leader")
    secret = tmp_path / "a" / "leader" / "private.key"
    for damaged in ("xyz", secret.read_text()[:-3], ""):
        secret.write_text(damaged)
        with pytest.raises(InputError, match="is damaged") as caught:
            AggregatorKeys.read(tmp_path / "a" / "leader", task, "leader")
        assert caught.value.__cause__ is None


def test_every_setting_is_in_the_digest(tmp_path: Path) -> None:
    task = make(tmp_path / "t")
    others = [
        replace(task, identifier=bytes(32)),
        replace(task, measured=TaskMeasurement("histogram", length=5)),
        replace(task, measured=TaskMeasurement("histogram", length=4, chunk_length=1)),
        replace(task, minimum_batch=99),
        replace(task, leader_url="http://127.0.0.1:8003"),
        replace(task, helper_url="http://127.0.0.1:8003"),
        replace(task, leader_key=bytes(32)),
        replace(task, helper_key=bytes(32)),
        replace(task, collector_key=bytes(32)),
        replace(task, token_digest=bytes(32)),
        replace(task, keep=Fraction(1, 3)),
    ]
    assert len({task.digest, *(other.digest for other in others)}) == 12
    assert all(Task.from_json(other.to_json()) == other for other in others)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"format": "x"},
        {"identifier": "00"},
        {"identifier": 5},
        {"minimum_batch": 0},
        {"minimum_batch": True},
        {"measured": {"variant": "median"}},
        {"measured": {"variant": "histogram"}},
        {"measured": {"variant": "histogram", "length": 4, "extra": 1}},
        {"measured": None},
        {"keep": "1/0"},
        {"keep": "2"},
        {"keep": 0.5, "measured": {"variant": "sum", "max_measurement": 3}},
        {"unknown": 1},
        {"leader_url": "ftp://x"},
    ],
)
def test_other_files_are_not_tasks(tmp_path: Path, change: dict[str, Any]) -> None:
    content = {**json.loads(make(tmp_path / "t").to_json()), **change}
    with pytest.raises((InputError, PlanError)):
        Task.from_json(json.dumps(content))


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", "{", '"task"'])
def test_other_json_is_not_a_task(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a task file"):
        Task.from_json(text)
    with pytest.raises(InputError, match="cannot be read"):
        Task.read(tmp_path / "missing.json")


@pytest.mark.parametrize(
    "settings",
    [
        {"variant": "median"},
        {"variant": "count", "length": 3},
        {"variant": "count", "chunk_length": 3},
        {"variant": "sum"},
        {"variant": "sum", "max_measurement": 0},
        {"variant": "multihot", "length": 3, "max_weight": 4},
    ],
)
def test_what_is_measured_is_checked(settings: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        TaskMeasurement(**settings)


@pytest.mark.parametrize("url", ["", "127.0.0.1", "http://", "http://x:99999", "http://x/path", "ftp://x", None, 5])
def test_addresses_are_checked(tmp_path: Path, url: Any) -> None:
    with pytest.raises(PlanError, match="http://host:port") as caught:
        make(tmp_path / "t", leader_url=url)
    assert "アドレス" in caught.value.explain("ja")
    assert not (tmp_path / "t").exists()
