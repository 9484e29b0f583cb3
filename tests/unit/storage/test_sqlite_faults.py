"""A disk that is full, for every file that SQLite keeps: nothing is lost, and nobody is sent back to an older copy."""

from __future__ import annotations

import re
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sudare.collect.device.durable import DurableFile
from sudare.collect.prio.services.store import ReportStore
from sudare.errors import LedgerError, OutputError, UserError
from sudare.ledger import open_ledger
from sudare.microdata.pseudonyms.storage import PrivateDatabase
from sudare.privacy import Budget, Unit
from sudare.storage.sqlite_faults import FileFault, fault_of

ADVICE = re.compile(r"go back to|restore|give another path|make a new one|控えに戻して|別のパス", re.IGNORECASE)


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """No file may grow beyond a size, as by a quota; Python ignores the signal that comes with it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def write_ledger(folder: Path, number: int) -> None:
    with open_ledger(folder / "budget.db", create=True) as ledger:
        ledger.add_dataset(f"town {number}", Budget(epsilon=1), unit=Unit(), description="x" * 20_000)


def write_memory(folder: Path, number: int) -> None:
    file = DurableFile(folder / "memory.db", 7, ["CREATE TABLE words (word TEXT)"])
    try:
        with file.writing() as connection:
            connection.execute("INSERT INTO words VALUES (?)", ("x" * 20_000,))
    finally:
        file.close()


def write_store(folder: Path, number: int) -> None:
    store = ReportStore(folder / "store.db", "leader", b"\0" * 16)
    try:
        store.hold(number.to_bytes(16, "big"), bytes(20_000))
    finally:
        store.close()


def write_mapping(folder: Path, number: int) -> None:
    what, path = ("mapping", "対応表"), folder / "mapping.db"
    if not path.exists():
        PrivateDatabase.make(path, what, 7, "key", ["CREATE TABLE words (word TEXT)"])
    with PrivateDatabase(path, what, 7, "key") as file, file.writing() as connection:
        connection.execute("INSERT INTO words VALUES (?)", ("x" * 20_000,))


WRITERS: dict[str, Callable[[Path, int], None]] = {
    "ledger": write_ledger,
    "memory": write_memory,
    "mapping": write_mapping,
    "prio": write_store,
}


@pytest.mark.parametrize("name", WRITERS)
def test_no_room(tmp_path: Path, name: str) -> None:
    write = WRITERS[name]
    write(tmp_path, 0)
    told: UserError | None = None
    with files_up_to(60_000):
        for number in range(1, 20):
            try:
                write(tmp_path, number)
            except (LedgerError, OutputError) as error:
                told = error
                break
    assert told is not None, "the limit was never reached"
    assert not ADVICE.search(told.english + told.japanese), told.english
    assert "older copy" in told.english
    assert "古い控え" in told.japanese
    write(tmp_path, 99)  # the same file goes on


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("SQLITE_FULL", FileFault.NO_ROOM),
        ("SQLITE_IOERR_WRITE", FileFault.NO_ROOM),
        ("SQLITE_IOERR_FSYNC", FileFault.NO_ROOM),
        ("SQLITE_IOERR_CORRUPTFS", FileFault.DAMAGED),
        ("SQLITE_CORRUPT", FileFault.DAMAGED),
        ("SQLITE_BUSY_SNAPSHOT", FileFault.BUSY),
        ("SQLITE_CANTOPEN", FileFault.NOT_WRITABLE),
        ("", FileFault.DAMAGED),
    ],
)
def test_names(name: str, fault: FileFault) -> None:
    error = sqlite3.OperationalError("words")
    error.sqlite_errorname = name
    assert fault_of(error) is fault
