"""A plan that is started twice at the same time is charged once: whoever comes second waits, and finds it made."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from sudare import Budget
from sudare.ledger import open_ledger
from sudare.releases.kinds.counts import verify_release
from tests.end_to_end.killed import Doomed, run_command_until_signal, signal_at
from tests.unit.releases.kinds.counts.offices import open_office
from tests.unit.releases.kinds.records.town import SAMPLED, build_town

pytestmark = pytest.mark.slow


def kinds(folder: Path) -> list[str]:
    with open_ledger(folder / "budget.db") as ledger:
        assert ledger.verify() == []
        return [entry.kind for entry in ledger.entries() if entry.kind != "dataset"]


def test_three_at_once_are_charged_once(tmp_path: Path) -> None:
    plan = open_office(tmp_path)
    arguments = ["release", str(plan.file), "--yes"]
    processes = [Doomed(run_command_until_signal, tmp_path / f"told{number}", arguments) for number in range(3)]
    assert [process.end()[-1] for process in processes] == 3 * ["exit 0"]
    assert kinds(tmp_path) == ["reserve", "settle"]
    checks = verify_release(tmp_path / "release", str(tmp_path / "budget.db"))
    assert {check.outcome for check in checks} == {"passed"}
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")], "nothing is left behind"


def test_records_of_people_started_twice(tmp_path: Path) -> None:
    plan = build_town(tmp_path, SAMPLED)
    arguments = ["sample", str(plan), "--out", str(tmp_path / "out"), "--yes"]
    processes = [Doomed(run_command_until_signal, tmp_path / f"told{number}", arguments) for number in range(2)]
    assert [process.end()[-1] for process in processes] == 2 * ["exit 0"]
    assert kinds(tmp_path) == ["reserve", "settle"]


def test_whoever_waits_goes_on_when_the_first_is_killed(tmp_path: Path) -> None:
    plan = open_office(tmp_path)
    arguments = ["release", str(plan.file), "--yes"]
    first = Doomed(
        signal_at, tmp_path / "first", arguments, "sudare.releases.kinds.counts.running.publish", int(signal.SIGSTOP)
    )
    first.wait_for(1)
    second = Doomed(run_command_until_signal, tmp_path / "second", arguments)
    second.wait_for(1)
    time.sleep(1)
    assert kinds(tmp_path) == ["reserve"], "the second waits"
    first.kill()
    assert second.end()[-1] == "exit 0"
    assert kinds(tmp_path) == ["reserve", "reserve", "settle"]
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert ledger.dataset("town").spent == Budget(epsilon=1)
