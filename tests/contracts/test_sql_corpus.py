"""The corpus of refused queries: each with its reason and place, told in two languages, with nothing of the data."""
# ruff: noqa: S608 (a query is put together from a name that stands here)

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sudare import Budget
from sudare.engines import Engine, open_engine
from sudare.errors import QueryRefusedError
from sudare.sql.execution.answering import LeftOutLists, answer
from sudare.sql.frontend.naming import Names
from sudare.sql.frontend.parsing import parse_query
from sudare.sql.measures.allocating import allocate
from sudare.sql.measures.planning import plan_query
from sudare.sql.metadata.file import parse_metadata
from tests.contracts.sql_servers import Servers, location_of, running_servers
from tests.sql_corpus.accepted import ACCEPTED
from tests.sql_corpus.asking import Asking
from tests.sql_corpus.refused import REFUSED, Refused
from tests.sql_corpus.schema import MARKER, METADATA, TOML, shop, shop_with_violations, write_tables
from tests.unit.sql.refused_statements import REFUSED_STATEMENTS

NAMES = {dialect: Names(METADATA, dialect) for dialect in ("duckdb", "postgres", "spark")}
CASES = [
    pytest.param(
        entry, dialect, id=f"{number}-{entry.reason}-{dialect}", marks=[] if dialect == "duckdb" else [pytest.mark.slow]
    )
    for number, entry in enumerate(REFUSED)
    for dialect in entry.dialects
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A database with words that no message may show, and with rows that break every promise."""
    folder: Path = write_tables(shop_with_violations(), tmp_path_factory.mktemp("corpus") / "shop")
    with running_servers() as servers, open_engine(_location(folder, servers)) as opened:
        yield opened


def _location(folder: Path, servers: Servers) -> str:
    return location_of("duckdb", folder, servers)


def _refusal(entry: Refused, dialect: str, engine: Engine) -> QueryRefusedError:
    with pytest.raises(QueryRefusedError) as caught:  # noqa: PT012 - where it is refused is part of the entry
        plan = plan_query(parse_query(entry.sql, dialect), METADATA, NAMES[dialect])
        assert entry.stage != "plan", "it was planned"
        allocation = allocate(plan, Budget(epsilon=1))
        assert entry.stage != "allocate", "it got a budget"
        answer(plan, allocation, engine, LeftOutLists(engine))
    return caught.value


@pytest.mark.parametrize(("entry", "dialect"), CASES)
def test_queries_are_refused(entry: Refused, dialect: str, engine: Engine) -> None:
    if entry.stage == "answer" and dialect != "duckdb":
        pytest.skip("answered in one database only")
    error = _refusal(entry, dialect, engine)
    assert error.reason == entry.reason, str(error)
    assert (error.line is not None and error.column is not None) == entry.placed
    if error.line is not None and error.column is not None:
        lines = entry.sql.split("\n")
        assert 1 <= error.line <= len(lines)
        assert 1 <= error.column <= len(lines[error.line - 1]) + 1
    assert error.english.strip()
    assert error.japanese.strip()
    assert error.english != error.japanese
    assert any(ord(letter) > 0x3000 for letter in error.japanese)


@pytest.mark.parametrize(("entry", "dialect"), CASES)
def test_no_message_shows_the_data(
    entry: Refused, dialect: str, engine: Engine, capfd: pytest.CaptureFixture[str]
) -> None:
    if entry.stage == "answer" and dialect != "duckdb":
        pytest.skip("answered in one database only")
    with pytest.raises(QueryRefusedError) as caught:
        _answered(entry, dialect, engine)
    shown = "".join([*traceback.format_exception(caught.value), repr(vars(caught.value)), *capfd.readouterr()])
    assert MARKER not in shown


def _answered(entry: Refused, dialect: str, engine: Engine) -> None:
    plan = plan_query(parse_query(entry.sql, dialect), METADATA, NAMES[dialect])
    answer(plan, allocate(plan, Budget(epsilon=1)), engine, LeftOutLists(engine))


@pytest.mark.parametrize("name", ["sums", "listed", "histogram", "values_k0", "t0"])
def test_results_cannot_be_mixed_with_what_is_computed_with(name: str) -> None:
    """A described table may be called as one of our own is, in which exact numbers stand for a moment."""
    table = f'[tables.{name}]\npublic = true\n[tables.{name}.columns]\nk0 = {{ type = "text" }}\nm0 = {{ type = "integer" }}\n'
    metadata = parse_metadata(f"{TOML}\n{table}")
    text = (
        "WITH r AS (SELECT city, COUNT(*) AS n FROM customers GROUP BY city) "
        f"SELECT r.city, r.n, (SELECT s.m0 FROM {name} AS s WHERE s.k0 = r.city) AS x FROM r"
    )
    with pytest.raises(QueryRefusedError):
        plan_query(parse_query(text, "duckdb"), metadata, Names(metadata, "duckdb"))


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.deep)])
def test_every_accepted_query_is_answered_where_nobody_is(tmp_path: Path, step: int) -> None:
    """An error would tell that the tables are empty."""
    folder = write_tables({name: table.slice(0, 0) for name, table in shop().items()}, tmp_path / "shop")
    with running_servers() as servers, open_engine(_location(folder, servers)) as nobody:
        asking = Asking(nobody)
        for entry in ACCEPTED[::step]:
            if "duckdb" in entry.dialects:
                plan = asking.plan(entry)
                answer(plan, allocate(plan, Budget(epsilon=1, delta=1e-6)), nobody, asking.lists)


def test_the_corpora_are_large_and_have_no_repeats() -> None:
    assert len(ACCEPTED) >= 200
    assert len(REFUSED) >= 100
    for names in ([entry.name for entry in ACCEPTED], [entry.sql for entry in REFUSED]):
        assert [name for name, times in Counter(names).items() if times > 1] == []
    reasons = {entry.reason for entry in REFUSED} | {reason for _, _, reason, _, _ in REFUSED_STATEMENTS}
    assert len(reasons) >= 60


def test_every_accepted_query_is_planned_in_a_moment() -> None:
    for entry in ACCEPTED:
        if "duckdb" in entry.dialects and not entry.by_row:
            assert plan_query(parse_query(entry.sql, "duckdb"), METADATA, NAMES["duckdb"]).columns
