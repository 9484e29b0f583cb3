"""Whoever keeps a private SQLite file: for its owner alone, whole after a kill, and without a trace of what it forgot."""

from __future__ import annotations

import os
import random
import re
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from sudare.errors import UserError
from tests.contracts.older_private_files import OLDER_FILES, unpack_older_files
from tests.contracts.private_holders import HOLDERS, MOMENTS, Holder
from tests.processes import SECONDS, Program

ADVICE = re.compile(r"go back to|restore|give another path|make a new one|控えに戻して|別のパス", re.IGNORECASE)
FOREIGN = 0x7FFFFFF1


@pytest.fixture(params=HOLDERS)
def holder(request: pytest.FixtureRequest, tmp_path: Path) -> Holder:
    return HOLDERS[request.param](tmp_path)


@pytest.fixture
def _no_waiting() -> Iterator[None]:
    """Whoever waits for a pipe, which nobody ever writes to, is ended."""

    def stop(*_: object) -> None:
        raise TimeoutError("it waits")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def refusal(holder: Holder) -> UserError:
    """Why the file is not opened, in both languages and without a word of SQLite's own chain of errors."""
    with pytest.raises(UserError) as raised, closing(holder.open()):
        pass
    assert_plain(raised.value)
    return raised.value


def told_by(call: Callable[[], object]) -> UserError | None:
    """What somebody is told who does something, in both languages; None if it goes well."""
    try:
        call()
    except UserError as error:
        assert_plain(error)
        return error
    except Exception as error:
        raise AssertionError(f"{type(error).__name__} instead of a plain error") from error
    return None


def assert_plain(error: UserError) -> None:
    assert str(error) == error.english
    assert re.search("[ぁ-ん]", error.japanese)
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """No file may grow beyond a size, as by a quota; Python ignores the signal that comes with it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_only_the_owner_may_read_it(holder: Holder) -> None:
    before = os.umask(0)
    try:
        with closing(holder.open()) as opened:
            holder.write(opened, 1)
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in holder.files()}
    finally:
        os.umask(before)
    assert any(name.endswith("-wal") for name in modes)
    assert set(modes.values()) == {0o600}, modes


def test_a_file_that_others_may_read_is_closed_to_them_or_refused(holder: Holder) -> None:
    if holder.name == "ledger":
        pytest.skip("several people of one office may share a ledger")
    with closing(holder.open()) as opened:
        holder.write(opened, 1)
    holder.path.chmod(0o644)
    told = told_by(lambda: holder.open().close())
    if told is None:
        assert stat.S_IMODE(holder.path.stat().st_mode) == 0o600
    else:
        assert "chmod 600" in told.english
        assert "chmod 600" in told.japanese


def test_a_link_is_refused(holder: Holder) -> None:
    """What SQLite keeps beside a file would stand elsewhere, where nobody looks whether others may read it."""
    with closing(holder.open()) as opened:
        holder.write(opened, 1)
    elsewhere = holder.folder / "elsewhere"
    holder.path.rename(elsewhere)
    before = elsewhere.read_bytes()
    holder.path.symlink_to(elsewhere)
    assert "link" in refusal(holder).english
    assert elsewhere.read_bytes() == before
    holder.path.unlink()
    holder.path.symlink_to(holder.folder / "nowhere")
    refusal(holder)
    assert not (holder.folder / "nowhere").exists()


@pytest.mark.usefixtures("_no_waiting")
@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_what_is_no_file_is_refused(holder: Holder, kind: str) -> None:
    if kind == "pipe":
        os.mkfifo(holder.path)
    elif kind == "folder":
        holder.path.mkdir()
    else:
        holder.path.symlink_to("/dev/null")
    refusal(holder)
    assert holder.path.is_dir() == (kind == "folder")


def test_files_of_others_are_refused_and_left_as_they_are(holder: Holder) -> None:
    connection = sqlite3.connect(holder.path)
    connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.execute(f"PRAGMA application_id = {FOREIGN}")
    connection.close()
    holder.path.chmod(0o600)
    texts = (b"a diary, and by no means a database of any kind\n" * 100, b"short", holder.path.read_bytes())
    for content in texts:
        holder.path.write_bytes(content)
        refusal(holder)
        assert holder.path.read_bytes() == content


def test_another_application_id_is_refused(holder: Holder) -> None:
    with closing(holder.open()) as opened:
        holder.write(opened, 1)
    connection = sqlite3.connect(holder.path)
    connection.execute(f"PRAGMA application_id = {FOREIGN}")
    connection.close()
    before = holder.path.read_bytes()
    refusal(holder)
    assert holder.path.read_bytes() == before


@pytest.mark.parametrize("other", HOLDERS)
def test_files_of_one_kind_are_refused_by_all_others(holder: Holder, other: str) -> None:
    if other == holder.name:
        pytest.skip("its own")
    another = HOLDERS[other](holder.folder)
    another.open().close()
    another.path.rename(holder.path)
    before = holder.path.read_bytes()
    refusal(holder)
    assert holder.path.read_bytes() == before


def test_a_forked_process_must_open_its_own(holder: Holder) -> None:
    with closing(holder.open()) as opened:
        holder.write(opened, 1)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                holder.write(opened, 2)
                os.write(writing, b"it wrote")
            except UserError as error:
                os.write(writing, error.english.encode() + error.japanese.encode())
            except BaseException as error:
                os.write(writing, repr(error).encode())
            finally:
                with suppress(BaseException):
                    opened.close()
                os._exit(0)
        os.waitpid(child, 0)
        os.close(writing)
        with os.fdopen(reading, "rb") as stream:
            told = stream.read().decode()
        assert "process" in told
        assert "プロセス" in told
        assert not holder.has(opened, 2)
        holder.write(opened, 3)
    with closing(holder.open()) as opened:
        assert [holder.has(opened, number) for number in (1, 2, 3)] == [True, False, True]


DYING = """
import sys
from tests.contracts.private_holders import write_and_die
first = int(sys.argv[3])
write_and_die(sys.argv[1], sys.argv[2], range(first, first + int(sys.argv[4])), sys.argv[5])
"""
WRITER = """
import sys
from itertools import count
from tests.contracts.private_holders import write_until_killed
write_until_killed(sys.argv[1], sys.argv[2], count(int(sys.argv[3])))
"""


@contextmanager
def several(holder: Holder, program: str, first: int, *more: str) -> Iterator[dict[int, Program]]:
    """Processes that write to one file at the same time, by the first item of each."""
    firsts = [first, first + 100_000] if holder.many_processes else [first]
    with tempfile.TemporaryDirectory() as place:
        folders = [Path(place) / str(number) for number in firsts]
        for folder in folders:
            folder.mkdir()
        writers = {
            number: Program(program, [holder.name, str(holder.folder), str(number), *more], folder)
            for number, folder in zip(firsts, folders, strict=True)
        }
        try:
            yield writers
        finally:
            for writer in writers.values():
                writer.kill()


def assert_whole(holder: Holder, kept: list[int], new: int) -> None:
    with closing(holder.open()) as opened:
        holder.write(opened, new)
        assert all(holder.has(opened, number) for number in kept)
        assert holder.connection(opened).execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.slow
def test_a_kill_loses_nothing_and_leaves_nothing_open(holder: Holder, monkeypatch: pytest.MonkeyPatch) -> None:
    """At named moments of the fourth item, in one process or in two that write to the file at once."""
    holder.open().close()
    for place, moment in enumerate(MOMENTS):
        first, items = 1 + 1000 * place, 4
        with several(holder, DYING, first, str(items), moment) as writers:
            for writer in writers.values():
                assert writer.wait(SECONDS) == -signal.SIGKILL, writer.errors
        kept = [number for first in writers for number in range(first, first + items - 1)]
        lasts = [first + items - 1 for first in writers]
        with monkeypatch.context() as patched:
            patience(holder, patched)  # whoever was killed and still held the file would be waited for
            assert_whole(holder, kept, 10**6 + first)
        with closing(holder.open()) as opened:
            assert [holder.has(opened, last) for last in lasts] == [moment == "COMMIT after"] * len(lasts)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(5))
def test_a_kill_from_outside_loses_nothing(holder: Holder, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a process is when it has kept so many items, and perhaps more."""
    holder.open().close()
    dice = random.Random(seed)
    for first in (1, 1000):
        lines = dice.randrange(3, 40)
        with several(holder, WRITER, first) as writers:
            for writer in writers.values():
                writer.wait_for_lines(lines)
            for writer in writers.values():
                writer.kill()
            kept = [int(line) for writer in writers.values() for line in writer.output]
        assert len(kept) >= lines * len(writers)
        with monkeypatch.context() as patched:
            patience(holder, patched)
            assert_whole(holder, kept, 10**6 + first)


class NoCommit:
    """A connection whose next commit fails, as on a full disk that SQLite notices at the last moment."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection, self.failed = connection, 0

    def execute(self, statement: str, *values: Any) -> Any:
        if statement == "COMMIT" and not self.failed:
            self.failed += 1
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorname = "SQLITE_FULL"
            raise error
        return self.connection.execute(statement, *values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)


def test_a_failed_commit_leaves_no_transaction_open(holder: Holder) -> None:
    with closing(holder.open()) as opened:
        real = holder.connection(opened)
        failing = NoCommit(real)
        holder.replace_connection(opened, failing)
        with pytest.raises(UserError) as raised:
            holder.write(opened, 1)
        assert failing.failed == 1
        assert "older copy" in raised.value.english
        assert not real.in_transaction
        holder.replace_connection(opened, real)
        assert not holder.has(opened, 1)
        holder.write(opened, 2)
        assert holder.has(opened, 2)


def test_settings(holder: Holder) -> None:
    wanted = {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1, "trusted_schema": 0, "temp_store": 2}
    with closing(holder.open()) as opened:
        found = {name: holder.connection(opened).execute(f"PRAGMA {name}").fetchone()[0] for name in wanted}
    assert found == wanted


def test_what_is_deleted_is_gone_from_the_disk(holder: Holder) -> None:
    if not holder.forgets:
        pytest.skip("nothing is ever taken out")
    with closing(holder.open()) as opened:
        for number in range(1, 4):
            holder.write(opened, number)
        traces = [holder.trace(opened, number) for number in range(1, 4)]
        assert all(trace in holder.raw() for trace in traces)
        holder.forget(opened, 2)
        assert traces[1] not in holder.raw()
        assert traces[0] in holder.raw()
    assert traces[1] not in holder.raw()


READER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN")
connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
print("reading", flush=True)
sys.stdin.readline()
connection.close()
"""


@contextmanager
def somebody_reads(path: Path) -> Iterator[None]:
    """Another program, a backup for one, looks at one moment of the file."""
    command = [sys.executable, "-c", READER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "reading\n"
        yield
        reader.communicate("end\n", timeout=30)


def test_shares_that_stay_in_the_log_are_known_to_be_there(tmp_path: Path) -> None:
    """What is settled is settled, whoever reads the file; the next one to be settled empties the log."""
    holder = HOLDERS["prio"](tmp_path)
    with closing(holder.open()) as opened:
        assert opened.is_log_empty
        for number in (1, 2):
            holder.write(opened, number)
        with somebody_reads(holder.path):
            holder.forget(opened, 1)
            assert not opened.is_log_empty
            assert holder.trace(opened, 1) in holder.raw()
        holder.forget(opened, 2)
        assert opened.is_log_empty
        for number in (1, 2):
            assert holder.trace(opened, number) not in holder.raw()


def test_a_log_that_cannot_be_emptied_is_told(holder: Holder, monkeypatch: pytest.MonkeyPatch) -> None:
    if not holder.forgets or holder.name == "prio":
        pytest.skip("nothing is taken out on demand")
    monkeypatch.setattr("sudare.storage.sqlite_file.MAX_LOG_WAIT_SECONDS", 0.5)
    with closing(holder.open()) as opened:
        holder.write(opened, 1)
        trace = holder.trace(opened, 1)
        with somebody_reads(holder.path):
            with pytest.raises(UserError, match="log") as raised:
                holder.forget(opened, 1)
            assert_plain(raised.value)
            assert f"{holder.path.name}-wal" in raised.value.english
            assert "once more" in raised.value.english
            assert trace in holder.raw()
            assert not holder.has(opened, 1), "it is forgotten all the same"
        holder.forget(opened, 1)
        assert trace not in holder.raw(), "to ask once more empties the log"


def test_no_room(holder: Holder) -> None:
    with closing(holder.open()) as opened:
        holder.write(opened, 0)
    told: UserError | None = None
    kept = [0]
    with files_up_to(90_000):
        for number in range(1, 300):
            try:
                with closing(holder.open()) as opened:
                    for place in range(20):
                        holder.write(opened, 1000 * number + place)
                        kept.append(1000 * number + place)
            except UserError as error:
                told = error
                break
    assert told is not None, "the limit was never reached"
    assert_plain(told)
    assert not ADVICE.search(told.english + told.japanese), told.english
    assert "older copy" in told.english
    assert "古い控え" in told.japanese
    with closing(holder.open()) as opened:  # the same file goes on
        holder.write(opened, 10**6)
        assert all(holder.has(opened, number) for number in kept)


def use(holder: Holder) -> None:
    with closing(holder.open()) as opened:
        for number in range(12):
            holder.has(opened, number)
        holder.write(opened, 100)


def test_damage_is_told_plainly(holder: Holder) -> None:
    """Bytes that changed are harmless or found, and never end in an error of SQLite or Python; nobody is sent to an old copy."""
    with closing(holder.open()) as opened:
        for number in range(10):
            holder.write(opened, number)
    whole = holder.path.read_bytes()
    dice, found, page = random.Random(11), 0, 4096
    for trial in range(60):
        damaged = bytearray(whole)
        if trial % 3 == 0:  # a page was lost, not the first: without that one nobody knows what the file was
            start = page * dice.randrange(1, len(whole) // page)
            damaged[start : start + page] = bytes(page) if trial % 2 else dice.randbytes(page)
        elif trial % 3 == 1:
            del damaged[page * dice.randrange(1, len(whole) // page) :]
        else:
            for _ in range(30):
                damaged[dice.randrange(page, len(whole))] = dice.randrange(256)
        for file in holder.files():
            if file != holder.path:
                file.unlink()
        holder.path.write_bytes(damaged)
        told = told_by(lambda: use(holder))
        if told is not None:
            found += 1
            assert not ADVICE.search(told.english + told.japanese), told.english
    assert found > 10


def test_a_file_that_is_held_is_given_up_in_the_end(holder: Holder, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(holder.open()) as opened:
        patience(holder, monkeypatch)
        with closing(sqlite3.connect(holder.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(UserError) as raised:
                holder.write(opened, 1)
            assert_plain(raised.value)
            other.execute("ROLLBACK")
        holder.write(opened, 1)


def patience(holder: Holder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sudare.storage.sqlite_file.MAX_WAIT_SECONDS", 0.1)


@pytest.mark.parametrize("name", OLDER_FILES)
def test_files_of_older_versions_are_read(tmp_path: Path, name: str) -> None:
    unpack_older_files(name, tmp_path)
    holder = HOLDERS[name](tmp_path)
    for number in (3, 4):
        with closing(holder.open()) as opened:
            assert [holder.has(opened, kept) for kept in range(1, 6)] == [kept < number for kept in range(1, 6)]
            holder.write(opened, number)


def test_all_holders_have_older_files() -> None:
    assert OLDER_FILES.keys() == HOLDERS.keys()
