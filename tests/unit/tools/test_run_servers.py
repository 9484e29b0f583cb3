from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import run_servers
from tests.processes import start
from tests.run_servers import TestRun, shared_by_run, stop_servers


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
    stop_servers(tmp_path / "run")
    assert (tmp_path / "pretended").read_text().split() == ["started", "stopped"]
    assert not (tmp_path / "run").exists()


def test_a_run_is_begun_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(run_servers.RUN)
    run = TestRun.begin()
    assert run is not None
    assert TestRun.begin() is None
    run.end()
    assert run_servers.RUN not in os.environ
    assert not run.folder.exists()


KILLED = """
import os, signal, time
from tests.run_servers import TestRun, shared_by_run
from tests.unit.tools.test_run_servers import start_pretended, stop_pretended
run = TestRun.begin()
print(shared_by_run("pretended", start_pretended, stop_pretended), run.folder, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_servers_of_a_run_that_is_killed_are_stopped(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != run_servers.RUN}
    environment |= {"TMPDIR": str(tmp_path), "PYTHONPATH": str(run_servers.ROOT)}
    done = subprocess.run([sys.executable, "-c", KILLED], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    place, folder = map(Path, done.stdout.split())
    deadline = time.monotonic() + 60
    while folder.exists():  # the guardian removes it last
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert place.read_text().split() == ["started", "stopped"]


def test_what_did_not_start_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir()
    monkeypatch.setenv(run_servers.RUN, str(tmp_path / "run"))

    def fail() -> Path:
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011
        shared_by_run("pretended", fail, stop_pretended)
    assert shared_by_run("pretended", start_pretended, stop_pretended).read_text() == "started\n"
