"""The private SQLite file itself; what all who keep one have in common is tried in `tests/contracts/test_private_files.py`."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sudare.bilingual import Words
from sudare.errors import OutputError
from sudare.storage import sqlite_file
from sudare.storage.sqlite_faults import SENTENCES, FileFault, words_for
from sudare.storage.sqlite_file import Exposure, FileKind, PrivateSqlite, make_whole_file

SCHEMA = ("CREATE TABLE words (word TEXT)",)


class FaultError(OutputError):
    """A fault, to be looked at."""

    fault: FileFault


def explain(path: Path, fault: FileFault, detail: str | Words) -> FaultError:
    words = words_for(Words("diary", "日記"), path, fault, detail)
    error = FaultError(words.english, words.japanese)
    error.fault = fault
    return error


KIND = FileKind(application_id=7, explain=explain)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "日記 100%?#.db"


@pytest.fixture
def file(path: Path) -> Iterator[PrivateSqlite]:
    with closing(PrivateSqlite(path, KIND, create=True, schema=SCHEMA)) as opened:
        yield opened


def fault_at(path: Path, kind: FileKind = KIND, *, create: bool = False) -> FileFault:
    with pytest.raises(FaultError) as raised:
        PrivateSqlite(path, kind, create=create).close()
    return raised.value.fault


def test_a_missing_file_is_made_on_demand_only(path: Path) -> None:
    assert fault_at(path) is FileFault.MISSING
    assert not path.exists()
    PrivateSqlite(path, KIND, create=True, schema=SCHEMA).close()
    PrivateSqlite(path, KIND).close()


def test_an_unmarked_file_is_known_by_a_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE words (word TEXT)")
    assert fault_at(path, create=True) is FileFault.NOT_OURS
    older = FileKind(application_id=7, explain=explain, older_table="words")
    PrivateSqlite(path, older).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 8")
    assert fault_at(path, older) is FileFault.NOT_OURS


def test_a_file_that_another_fills_while_it_is_looked_at_is_taken(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = PrivateSqlite._is_ours
    fillers: list[threading.Thread] = []

    def look_and_let_another_fill_it(file: PrivateSqlite) -> bool:
        is_ours = looks(file)
        if not fillers:
            fillers.append(threading.Thread(target=lambda: open_and_close(path)))
            fillers[0].start()
            fillers[0].join(0.3)  # it may have to wait until the look is over
        return is_ours

    monkeypatch.setattr(PrivateSqlite, "_is_ours", look_and_let_another_fill_it)
    open_and_close(path)
    fillers[0].join(30)
    assert not fillers[0].is_alive()
    with closing(PrivateSqlite(path, KIND)) as opened:
        assert opened.tables() == {"words"}


def open_and_close(path: Path) -> None:
    PrivateSqlite(path, KIND, create=True, schema=SCHEMA).close()


def test_who_may_read_it(file: PrivateSqlite, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.close()
    path.chmod(0o640)
    refused = FileKind(application_id=7, explain=explain, exposure=Exposure.REFUSED)
    assert fault_at(path, refused) is FileFault.OPEN_TO_OTHERS
    PrivateSqlite(path, FileKind(application_id=7, explain=explain, exposure=Exposure.ALLOWED)).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    with monkeypatch.context() as others:
        others.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
        assert fault_at(path) is FileFault.OPEN_TO_OTHERS
    PrivateSqlite(path, KIND).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_error_of_the_caller_is_passed_on_and_undone(file: PrivateSqlite) -> None:
    def fail(error: BaseException) -> None:
        with file.writing() as connection:
            connection.execute("INSERT INTO words VALUES ('lost')")
            raise error

    for error in (KeyboardInterrupt(), OSError("the caller's own"), ValueError()):
        with pytest.raises(type(error)):
            fail(error)
        assert file.rows("SELECT * FROM words") == []
    with pytest.raises(FaultError) as raised, file.writing() as connection:
        connection.execute("INSERT INTO nowhere VALUES (1)")
    assert raised.value.fault is FileFault.DAMAGED


def test_a_writer_within_a_writer_spoils_nothing(file: PrivateSqlite) -> None:
    with file.writing() as connection:
        connection.execute("INSERT INTO words VALUES ('outer')")
        with pytest.raises(FaultError), file.writing():
            pass
        with file.reading():
            assert file.rows("SELECT * FROM words") == [("outer",)]
    assert file.rows("SELECT * FROM words") == [("outer",)]


def test_a_reader_sees_one_moment(file: PrivateSqlite, path: Path) -> None:
    with closing(PrivateSqlite(path, KIND)) as other, file.reading():
        before = file.state()
        with other.writing() as connection:
            connection.execute("INSERT INTO words VALUES ('news')")
        assert file.rows("SELECT * FROM words") == []
        assert file.state() == before
    assert file.rows("SELECT * FROM words") == [("news",)]
    assert file.state() != before


def test_the_log_is_emptied_or_said_not_to_be(file: PrivateSqlite, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "MAX_LOG_WAIT_SECONDS", 0.05)
    with file.writing() as connection:
        connection.execute("INSERT INTO words VALUES ('secret')")
    with closing(PrivateSqlite(path, KIND)) as other, other.reading():
        with file.writing() as connection:
            connection.execute("DELETE FROM words")
        assert not file.is_log_emptied()
        with pytest.raises(FaultError, match=r"-wal.*once more") as raised:
            file.empty_log()
        assert raised.value.fault is FileFault.LOG_KEPT
    file.empty_log()
    assert file.is_log_emptied()
    log = path.with_name(f"{path.name}-wal")
    assert log.stat().st_size == 0
    assert b"secret" not in path.read_bytes()


def test_a_file_is_made_whole_or_not_at_all(path: Path) -> None:
    with pytest.raises(FaultError) as raised:
        make_whole_file(path, KIND, [("CREATE TABLE words (word TEXT)", ()), ("INSERT INTO nowhere VALUES (1)", ())])
    assert raised.value.fault is FileFault.DAMAGED
    assert list(path.parent.iterdir()) == []
    make_whole_file(path, KIND, [("CREATE TABLE words (word TEXT)", ()), ("INSERT INTO words VALUES (?)", ("yes",))])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]
    with closing(PrivateSqlite(path, KIND)) as made:
        assert made.rows("SELECT word FROM words") == [("yes",)]
    with pytest.raises(FaultError) as raised:
        make_whole_file(path, KIND, [])
    assert raised.value.fault is FileFault.EXISTS
    with pytest.raises(FaultError) as raised:
        make_whole_file(path.with_name("missing") / "x.db", KIND, [])
    assert raised.value.fault is FileFault.NOT_MADE


def test_threads_take_turns(file: PrivateSqlite) -> None:
    def write() -> None:
        for number in range(20):
            with file.writing() as connection:
                connection.execute("INSERT INTO words VALUES (?)", (str(number),))

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert file.rows("SELECT count(*) FROM words") == [(80,)]


def test_every_fault_has_words_in_both_languages() -> None:
    assert SENTENCES.keys() | {FileFault.NO_ROOM} == set(FileFault)
    for fault in FileFault:
        words = words_for(Words("diary", "日記"), Path("a{b}.db"), fault, "DETAIL")
        for text in (words.english, words.japanese):
            assert "a{b}.db" in text
            assert "{what" not in text
        assert "日記" in words.japanese
        assert ("DETAIL" in words.english) == ("DETAIL" in words.japanese)


def test_storage_needs_the_standard_library_only() -> None:
    """Devices use it: nothing else is loaded, by any of its modules."""
    code = """
import importlib, pkgutil, sys
before = {name.partition(".")[0] for name in sys.modules}
import sudare.storage
for module in pkgutil.walk_packages(sudare.storage.__path__, "sudare.storage."):
    importlib.import_module(module.name)
print(sorted({name.partition(".")[0] for name in sys.modules} - before - set(sys.stdlib_module_names)))
print(sorted(name for name in sys.modules if name.startswith("sudare.") and name.split(".")[1] not in
    ("storage", "system", "errors", "bilingual", "border", "lazy", "moved_names", "renamed", "version")))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.splitlines() == ["['sudare']", "[]"]
