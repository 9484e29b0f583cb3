"""Where a ledger is kept: the little that it asks of a database, and the choice by its location.

All that a ledger knows is in the entries. The other tables hold what follows from them, so that a charge does not have
to read everything, and are compared with the entries by `verify`. Only the secret and the salt of a data set are nowhere
else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, Protocol

from sudare.bilingual import Words
from sudare.errors import Described, LedgerError, ParameterError

__all__ = ["SCHEMA", "SCHEMA_VERSION", "LedgerStore", "Row", "Value", "open_store"]

Value = str | int | None
Row = tuple[Any, ...]

SCHEMA_VERSION = 1

SCHEMA = (
    "CREATE TABLE sudare_ledger (version INTEGER NOT NULL, identity TEXT NOT NULL)",
    """CREATE TABLE sudare_entries (number INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL,
       dataset TEXT NOT NULL, body TEXT NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL)""",
    """CREATE TABLE sudare_datasets (name TEXT PRIMARY KEY, entry INTEGER NOT NULL, spent TEXT NOT NULL,
       reserved TEXT NOT NULL, secret TEXT NOT NULL, salt TEXT NOT NULL)""",
    "CREATE TABLE sudare_reservations (number INTEGER PRIMARY KEY, closed_by INTEGER)",
    """CREATE TABLE sudare_results (dataset TEXT NOT NULL, fingerprint TEXT NOT NULL, entry INTEGER NOT NULL,
       PRIMARY KEY (dataset, fingerprint))""",
    """CREATE TABLE sudare_opt_outs (dataset TEXT NOT NULL, digest TEXT NOT NULL, entry INTEGER NOT NULL,
       PRIMARY KEY (dataset, digest))""",
)
"""Understood alike by SQLite and PostgreSQL. Each store adds triggers that refuse to change an entry."""


class LedgerStore(Protocol):
    """A database that keeps a ledger.

    Statements are written with ``?`` for each value.
    """

    def transaction(self, *, write: bool) -> AbstractContextManager[None]:
        """All or nothing. A writer is alone from beginning to end; a reader sees one moment."""

    def execute(self, statement: str, values: Sequence[Value] = ()) -> None:
        """Change something, within a transaction."""

    def fetch(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
        """Read rows, within a transaction."""

    def is_ledger(self) -> bool:
        """Whether there is a ledger, within a transaction."""

    def make_tables(self) -> None:
        """Make the tables of an empty ledger, within a transaction.

        Raises:
            LedgerError: if something else is kept there.
        """

    def not_a_ledger(self) -> LedgerError:
        """What to say where something else, or nothing, is kept."""

    def alone_with(self, work: str, on_wait: Callable[[], None] | None) -> AbstractContextManager[None]:
        """Be the only one, of all processes that use the ledger, with a piece of work; ends with the process at the latest.

        Args:
            work: what tells it from others.
            on_wait: called once if somebody is at it, before waiting for them.
        """

    def damages(self) -> list[str]:
        """What the database itself finds wrong with its files, in its own words, within a transaction."""

    def close(self) -> None:
        """Give the connection back; once is enough, twice does no harm."""


def open_store(location: str | Path, *, create: bool) -> LedgerStore:
    """The store at a location: a PostgreSQL address, or else a path of an SQLite file.

    Raises:
        LedgerError: if it cannot be opened.
        MissingPackageError: if it is PostgreSQL and psycopg is not installed.
    """
    if isinstance(location, str) and re.match(r"postgres(ql)?://", location):
        from sudare.ledger.postgres_store import PostgresStore

        return PostgresStore(location)
    if isinstance(location, str) and (scheme := re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", location)):
        raise LedgerError(
            f"A ledger is kept in an SQLite file (give its path) or in PostgreSQL (postgresql://...). "
            f"Got an address that begins with {scheme.group()!r}.",
            f"台帳は SQLite ファイル（パスで指定）か PostgreSQL（postgresql://...）に置けます。"
            f"{scheme.group()!r} で始まる場所は使えません。",
        )
    if not isinstance(location, (str, Path)) or not str(location) or "\0" in str(location):
        got = Described(f"an object of type {type(location).__name__}") if not isinstance(location, str) else location
        raise ParameterError(
            "location",
            "open_ledger",
            Words("a path, or an address such as postgresql://...", "パス、または postgresql://... のようなアドレス"),
            got,
        )
    from sudare.ledger.sqlite_store import SqliteStore

    path = Path(location)
    with suppress(RuntimeError):  # a name that begins with ~ and is nobody's home
        path = path.expanduser()
    return SqliteStore(path, create=create)
