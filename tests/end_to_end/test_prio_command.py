"""Two aggregators as commands in processes of their own: keys, reports, a result, and what happens when one is gone."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.processes import run_command

pytestmark = pytest.mark.slow

SECONDS = 60.0


def free_ports(count: int) -> list[int]:
    """Different ones: they are held until the last is found."""
    with ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def sudare(folder: Path, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    return run_command(["collect", "prio", *arguments], folder, {**os.environ, "LC_ALL": "C.UTF-8"}, typed=typed)


def serve(folder: Path, role: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "sudare", "collect", "prio", "serve", "task/task.json", "--role", role]
    command += ["--keys", f"task/{role}", "--store", f"{role}.db", "--json"]
    started = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    assert json.loads(started.stdout.readline())["role"] == role, "it tells when it listens"
    return started


def end(process: subprocess.Popen[str], how: signal.Signals) -> int:
    process.send_signal(how)
    code = process.wait(timeout=SECONDS)
    if process.stdout is not None:
        process.stdout.close()
    return code


@pytest.fixture
def task(tmp_path: Path) -> Path:
    urls = [f"http://127.0.0.1:{port}" for port in free_ports(2)]
    options = ["--variant", "histogram", "--length", "4", "--minimum", "5", "--leader", urls[0], "--helper", urls[1]]
    made = sudare(tmp_path, "create", "task", *options)
    assert made.returncode == 0, made.stderr
    return tmp_path


def test_the_whole_way(task: Path) -> None:
    helper, leader = serve(task, "helper"), serve(task, "leader")
    try:
        assert sudare(task, "send", "task/task.json", "0", "2").returncode == 0
        assert sudare(task, "send", "task/task.json", "--minimum-batch-at-least", "5", typed="2\n").returncode == 0
        assert sudare(task, "send", "task/task.json", "--minimum-batch-at-least", "6", typed="2\n").returncode == 3
        (task / "answers.csv").write_text("who,group\na,3\nb,2\nc,2\n")
        assert sudare(task, "send", "task/task.json", "--data", "answers.csv", "--column", "group").returncode == 0
        refused = sudare(task, "send", "task/task.json", "7")
        assert refused.returncode == 2
        assert "7" not in refused.stderr, "what somebody measured is not shown"
        end(helper, signal.SIGKILL)
        gone = sudare(task, "collect", "task/task.json", "--keys", "task/collector")
        assert gone.returncode == 8
        helper = serve(task, "helper")
        deadline = time.monotonic() + SECONDS
        while True:
            done = sudare(task, "collect", "task/task.json", "--keys", "task/collector", "--json")
            if done.returncode == 0 or time.monotonic() > deadline:
                break
            time.sleep(0.5)
        told = json.loads(done.stdout)
        assert told["result"] == [1, 0, 4, 1]
        assert told["reports"] == 6
        assert [each["count"] for each in told["estimates"]] == [1, 0, 4, 1]
        small = sudare(task, "collect", "task/task.json", "--keys", "task/collector")
        assert small.returncode == 8
        again = sudare(
            task, "collect", "task/task.json", "--keys", "task/collector", "--batch", str(told["batch"]), "--json"
        )
        assert json.loads(again.stdout)["result"] == [1, 0, 4, 1]
    finally:
        codes = [end(process, signal.SIGINT) for process in (leader, helper)]
    assert codes == [130, 130] or codes == [0, 0]
    assert sudare(task, "send", "task/task.json", "1").returncode == 8


@pytest.mark.parametrize(
    "arguments",
    [
        ("create", "new", "--variant", "histogram"),
        ("create", "task", "--variant", "count"),
        ("serve", "task/task.json", "--role", "boss", "--keys", "task/leader", "--store", "x.db"),
        ("serve", "task/task.json", "--role", "leader", "--keys", "nowhere", "--store", "x.db"),
        (
            "serve",
            "task/task.json",
            "--role",
            "leader",
            "--keys",
            "task/leader",
            "--store",
            "x.db",
            "--host",
            "192.0.2.1",
        ),
        ("send", "task/task.json"),
        ("send", "task/task.json", "one"),
        ("send", "nowhere.json", "1"),
        ("collect", "task/task.json", "--keys", "task/leader"),
    ],
    ids=" ".join,
)
def test_what_is_refused(task: Path, arguments: tuple[str, ...]) -> None:
    refused = sudare(task, *arguments)
    assert refused.returncode in (2, 3, 6), refused.stderr
    assert any(line.startswith("Error: ") for line in refused.stderr.splitlines()), refused.stderr
