"""Releases that are killed at any moment: nothing half is ever seen, and no budget is ever forgotten."""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest

from sudare import Budget
from sudare.errors import WeakBudgetWarning
from sudare.ledger import open_ledger
from sudare.releases.kinds.counts import read_plan, run_release, verify_release
from tests.end_to_end.killed import Doomed, release_again_and_again
from tests.unit.releases.kinds.counts.offices import open_office

ROOT = Path(__file__).resolve().parents[2]
KILLS, FEWER_KILLS = 20, 5
RELEASES = 12


@pytest.mark.slow
@pytest.mark.parametrize("kills", [FEWER_KILLS, pytest.param(KILLS, marks=pytest.mark.deep)])
def test_kill_at_any_moment(tmp_path: Path, kills: int) -> None:
    with pytest.warns(WeakBudgetWarning):
        total = Budget(epsilon=10_000)
    open_office(tmp_path, total=total)
    dice = random.Random(7)
    told = 0
    for kill in range(kills):
        process = Doomed(release_again_and_again, tmp_path / f"told{kill}", tmp_path, kill * RELEASES, RELEASES)
        process.wait_for(dice.randint(1, 3))  # from now on everything is loaded, and a release is quick
        time.sleep(dice.uniform(0, 0.3))
        told += len(process.kill())
    shown = [path for path in tmp_path.glob("release*") if path.is_dir()]
    assert told <= len(shown) <= told + kills
    assert told > kills, "the kills came too early to mean something"
    for folder in shown:
        checks = verify_release(folder, str(tmp_path / "budget.db"))
        assert {check.outcome for check in checks} == {"passed"}, [c for c in checks if c.outcome != "passed"]
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert ledger.verify() == []
        dataset = ledger.dataset("town")
        open_ones = ledger.reservations("town")
    spent = dataset.spent.epsilon if dataset.spent is not None else Fraction(0)
    reserved = dataset.reserved.epsilon if dataset.reserved is not None else Fraction(0)
    assert spent >= len(shown), "everything that can be seen is paid for"
    assert reserved == len(open_ones)
    assert spent + reserved <= told + kills, "a kill costs one release at most"
    plan = read_plan(tmp_path / "plan.toml")
    release = run_release(plan)
    assert {check.outcome for check in verify_release(release.folder, plan.ledger.location)} == {"passed"}


@pytest.mark.slow
def test_a_full_disk(tmp_path: Path) -> None:
    """Files may not grow beyond a few kilobytes: the report does not fit."""
    plan = open_office(tmp_path)
    code = (
        "import resource, sys, signal\n"
        "from sudare.releases.kinds.counts import read_plan, run_release\n"
        "from sudare.errors import OutputError\n"
        f"plan = read_plan({str(plan.file)!r})\n"
        "from sudare.releases.kinds.counts import page\n"
        "import duckdb, numba, sudare.tables\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "def limit(stage, share):\n"
        "    if stage == 'report': resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "try:\n    run_release(plan, progress=limit)\n"
        "except OutputError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=ROOT, check=False
    )
    assert "cannot be written" in done.stdout, done.stderr
    assert not (tmp_path / "release").exists()
    assert not list(tmp_path.glob(".*partial*"))
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert ledger.verify() == []
        assert ledger.dataset("town").remaining == Budget(epsilon=2), "noise was drawn"
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


@pytest.mark.slow
def test_concurrent_releases_never_exceed_the_total(tmp_path: Path) -> None:
    open_office(tmp_path, total=Budget(epsilon=3))
    processes = [
        Doomed(release_again_and_again, tmp_path / f"told{number}", tmp_path, 100 * number, RELEASES)
        for number in range(4)
    ]
    told = [len(process.end()) for process in processes]
    assert sum(told) == 3
    assert len([path for path in tmp_path.glob("release*") if path.is_dir()]) == 3
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert ledger.verify() == []
        assert ledger.dataset("town").remaining is None
