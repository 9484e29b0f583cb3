"""Runs without a budget that are killed: what they leave is hidden, never taken for complete, and cleared by the next run."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sudare.ledger import Ledger, open_ledger
from sudare.privacy import Budget
from sudare.releases import protocol
from sudare.releases.kinds.records import read_people_plan, run_people_plan
from sudare.storage.staging import Staging
from tests.unit.releases.kinds.records.town import ANONYMIZE, COLUMNS, HEAD, MST, build_town

ROOT = Path(__file__).resolve().parents[2]
PLAN = HEAD + COLUMNS + ANONYMIZE

CHILD = """
import os, signal, sys
from pathlib import Path
from sudare.releases.kinds.records import read_people_plan, run_people_plan, running
from sudare.releases import protocol
from sudare.storage import staging

where = sys.argv[2]
def kill(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)
if where == "before the report has its name":
    staging.sync_file = kill
elif where == "before it is shown":
    protocol.publish_folder = kill
elif where == "while records are written":
    running.write_people = kill
elif where == "wait":
    def wait(*arguments):
        print("ready", flush=True)
        sys.stdin.read()
    protocol.publish_folder = wait
folder = Path(sys.argv[1])
run_people_plan(read_people_plan(folder / "plan.toml", folder / "out"))
"""


def child(folder: Path, where: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, str(folder), where]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def hidden(folder: Path) -> list[Path]:
    return sorted(folder.glob(".out.partial-*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "has_report"),
    [("while records are written", False), ("before the report has its name", False), ("before it is shown", True)],
)
def test_the_next_run_clears_what_a_killed_one_left(tmp_path: Path, where: str, has_report: bool) -> None:
    plan = read_people_plan(build_town(tmp_path, PLAN), tmp_path / "out")
    process = child(tmp_path, where)
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    (left,) = hidden(tmp_path)
    assert (left / "release.json").exists() == has_report
    run_people_plan(plan)
    assert (tmp_path / "out" / "release.json").is_file()
    assert hidden(tmp_path) == []


@pytest.mark.slow
def test_whoever_is_at_work_is_left_alone(tmp_path: Path) -> None:
    """A complete folder that its process has not shown yet is not cleared by another run to the same place: that one waits."""
    build_town(tmp_path, PLAN)
    first, second = child(tmp_path, "wait"), None
    try:
        assert first.stdout is not None
        assert first.stdout.readline() == "ready\n"
        (theirs,) = hidden(tmp_path)
        second = child(tmp_path, "undisturbed")
        deadline = time.monotonic() + 120
        while not all((folder / "release.json").is_file() for folder in hidden(tmp_path)) or len(hidden(tmp_path)) < 2:
            assert second.poll() is None, "it waits for the place"
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert (theirs / "release.json").is_file()
        assert not (tmp_path / "out").exists()
        first.kill()
        second.communicate(timeout=120)
        assert second.returncode == 0
    finally:
        for process in (first, second):
            if process is not None:
                process.kill()
                process.communicate(timeout=30)
    (tmp_path / "out").rename(tmp_path / "first")
    run_people_plan(read_people_plan(tmp_path / "plan.toml", tmp_path / "out"))
    assert hidden(tmp_path) == []


def test_a_report_that_cannot_be_shown_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    plan = read_people_plan(build_town(tmp_path, PLAN), tmp_path / "out")
    monkeypatch.setattr(protocol, "publish_folder", stop)
    with pytest.raises(KeyboardInterrupt):
        run_people_plan(plan)
    assert hidden(tmp_path) == []


def test_what_was_charged_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run to the same place does not clear a complete folder whose budget is spent."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    plan = read_people_plan(build_town(tmp_path, MST), tmp_path / "out")
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "settle", stop)
        with pytest.raises(KeyboardInterrupt):
            run_people_plan(plan)
    with Staging.beside(tmp_path / "out"):
        assert len(hidden(tmp_path)) == 2
    assert len(hidden(tmp_path)) == 1
    assert run_people_plan(plan).is_repeated
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert ledger.dataset("town").spent == Budget(epsilon=2, delta=1e-5)
