"""Host, port and database of a server, and never a piece of a password."""

from __future__ import annotations

import pytest

from sudare.system.server_addresses import server_address


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGHOST", "PGPORT", "PGDATABASE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("postgresql://user:hunter2@db.example:5433/census", "db.example:5433/census"),
        ("postgresql://user:hunter2@db.example/census", "db.example:5432/census"),
        ("postgresql://user:hunter2@a:1,b:2/census", "a:1,b:2/census"),
        ("host=a,b port=5433 password=hunter2", "a:5433,b:5433"),
        ("postgresql://user:hunter2@/census?host=/run/pg", "/run/pg:5432/census"),
        ("postgresql://", "localhost:5432"),
    ],
)
def test_where_a_server_is(location: str, shown: str) -> None:
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    assert server_address(psycopg.conninfo.conninfo_to_dict(location)) == shown


@pytest.mark.parametrize("password", ["a@secret", "12/secret", "a/secret", "secret?", "12@secret/3", "se:cret@12"])
def test_no_piece_of_a_password_is_shown(password: str) -> None:
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    try:
        parts = psycopg.conninfo.conninfo_to_dict(f"postgresql://user:{password}@host/db")
    except psycopg.Error:
        return
    assert server_address(parts) in ("", "host:5432/db")


def test_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGHOST", "office")
    monkeypatch.setenv("PGPORT", "6000")
    monkeypatch.setenv("PGDATABASE", "census")
    assert server_address({}) == "office:6000/census"
