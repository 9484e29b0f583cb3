from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import run_servers
from tests.processes import start
from tests.run_servers import begin_run, end_run, shared_by_run


def start_pretended() -> Path:
    """Leaves a line for each start."""
    place = Path(os.environ[run_servers.RUN]).parent / "pretended"
    with place.open("a") as stream:
        stream.write("started\n")
    return place


def stop_pretended(place: Path) -> None:
    with place.open("a") as stream:
        stream.write("stopped\n")


def ask(run: str) -> None:
    """What another process of the run does."""
    os.environ[run_servers.RUN] = run
    assert shared_by_run("pretended", start_pretended, stop_pretended).name == "pretended"


def test_many_processes_start_a_server_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir()
    monkeypatch.setenv(run_servers.RUN, str(tmp_path / "run"))
    processes = [start(ask, str(tmp_path / "run")) for _ in range(4)]
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 4
    assert shared_by_run("pretended", start_pretended, stop_pretended) == tmp_path / "pretended"
    end_run(tmp_path / "run")
    assert (tmp_path / "pretended").read_text().split() == ["started", "stopped"]
    assert not (tmp_path / "run").exists()


def test_a_run_is_begun_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(run_servers.RUN)
    folder = begin_run()
    assert folder is not None
    assert begin_run() is None
    end_run(folder)
    assert run_servers.RUN not in os.environ


def test_what_did_not_start_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir()
    monkeypatch.setenv(run_servers.RUN, str(tmp_path / "run"))

    def fail() -> Path:
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011
        shared_by_run("pretended", fail, stop_pretended)
    assert shared_by_run("pretended", start_pretended, stop_pretended).read_text() == "started\n"
