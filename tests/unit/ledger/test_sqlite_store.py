"""The file of a ledger: who may read it, what is refused, what damage looks like."""

from __future__ import annotations

import io
import os
import pwd
import random
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sudare import Budget
from sudare.errors import LedgerError, ParameterError
from sudare.ledger import Ledger, open_ledger
from tests.unit.ledger.helping import PERSON, change, event_of, fingerprint

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "予算 100%?#.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with open_ledger(path, create=True) as opened:
        opened.add_dataset("census", Budget(epsilon=1), unit=PERSON)
        yield opened


def refusal(location: str | Path, *, create: bool = False) -> LedgerError:
    with pytest.raises(LedgerError) as caught:
        open_ledger(location, create=create)
    error = caught.value
    assert str(error) == error.english
    assert re.search("[ぁ-ん]", error.japanese)
    assert error.__cause__ is None
    return error


def spend(ledger: Ledger, releases: int) -> None:
    cost = Budget(epsilon=0.01)
    for number in range(releases):
        reservation = ledger.reserve("census", cost, unit=PERSON, fingerprint=fingerprint(number))
        ledger.settle(reservation, event_of(cost))


def test_only_the_owner_may_read_it(ledger: Ledger, path: Path) -> None:
    for name in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        assert stat.S_IMODE(name.stat().st_mode) == 0o600


def test_commits_are_synced(ledger: Ledger) -> None:
    with ledger._store.transaction(write=False):
        assert ledger._store.fetch("PRAGMA synchronous") == [(2,)]
        assert ledger._store.fetch("PRAGMA journal_mode") == [("wal",)]


def test_nothing_is_left_beside_a_closed_ledger(ledger: Ledger, path: Path) -> None:
    ledger.close()
    ledger.close()
    assert list(path.parent.iterdir()) == [path]
    with pytest.raises(LedgerError, match="closed"):
        ledger.datasets()


def test_a_missing_ledger(path: Path) -> None:
    error = refusal(path)
    assert "sudare ledger create" in error.english
    assert "sudare ledger create" in error.japanese
    assert not path.exists()


def test_a_missing_folder(tmp_path: Path) -> None:
    for create in (False, True):
        assert "does not exist" in refusal(tmp_path / "missing" / "budget.db", create=create).english


def test_a_folder(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path, create=True).english


@pytest.mark.parametrize("create", [False, True])
def test_other_files_are_refused_and_left_as_they_are(tmp_path: Path, create: bool) -> None:
    text, database, short = tmp_path / "data.csv", tmp_path / "other.db", tmp_path / "short"
    text.write_text("KEY_CODE,population\n" * 100)
    short.write_bytes(b"a")
    with sqlite3.connect(database) as other:
        other.execute("CREATE TABLE people (name TEXT)")
    other.close()
    for file in (text, database, short):
        before = file.read_bytes()
        assert "is not a ledger" in refusal(file, create=create).english
        assert file.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 3


def test_an_empty_file_becomes_a_ledger_only_on_demand(path: Path) -> None:
    path.touch()
    assert "is not a ledger" in refusal(path).english
    open_ledger(path, create=True).close()
    open_ledger(path).close()


def test_a_newer_ledger(ledger: Ledger, path: Path) -> None:
    change(ledger, "UPDATE sudare_ledger SET version = 2")
    ledger.close()
    for create in (False, True):
        assert "newer sudare" in refusal(path, create=create).english
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE sudare_ledger SET version = 'two'")
    connection.close()
    assert "damaged" in refusal(path).english


@pytest.mark.parametrize("location", ["mysql://localhost/ledger", "sqlite:///budget.db", "https://example.org/x"])
def test_other_addresses(location: str) -> None:
    assert "postgresql://" in refusal(location).english


@pytest.mark.parametrize("location", ["", "a\0b", 7, None])
def test_no_location(location: object) -> None:
    with pytest.raises(ParameterError):
        open_ledger(location)  # type: ignore[arg-type]


def test_a_ledger_that_is_held_is_given_up_in_the_end(
    ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sudare.storage.sqlite_file.MAX_WAIT_SECONDS", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="Another program"):
        ledger.opt_out("census", "person 17")
    assert ledger.dataset("census").remaining == Budget(epsilon=1)
    other.execute("ROLLBACK")
    other.close()
    ledger.opt_out("census", "person 17")


def test_a_forked_process_must_open_its_own(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as forked:
        forked.setattr(os, "getpid", lambda: -1)
        with pytest.raises(LedgerError, match="opened by another process"):
            ledger.datasets()
        ledger.close()
    assert len(ledger.datasets()) == 1


def test_an_error_in_the_middle_leaves_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    head = ledger.head()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as breaking:
        breaking.setattr(ledger, "_set_balance", interrupted)
        with pytest.raises(KeyboardInterrupt):
            spend(ledger, 1)
    assert ledger.head() == head
    assert ledger.verify() == []
    spend(ledger, 1)


def test_a_full_disk_is_told_and_nothing_is_half_written(ledger: Ledger) -> None:
    with ledger._store.transaction(write=False):
        ((pages,),) = ledger._store.fetch("PRAGMA page_count")
    ledger._store._file._connection.execute(f"PRAGMA max_page_count = {pages + 1}")  # type: ignore[attr-defined]
    with pytest.raises(LedgerError, match="is full"):
        spend(ledger, 100)
    ledger._store._file._connection.execute("PRAGMA max_page_count = 100000")  # type: ignore[attr-defined]
    assert ledger.verify() == []


def test_without_permission(ledger: Ledger, path: Path) -> None:
    """Root may write everything, so root's tests ask as nobody."""
    ledger.close()
    code = """
import os, sys
import sudare.ledger.sqlite_store
from sudare import Budget, Unit
from sudare.errors import LedgerError
from sudare.ledger import open_ledger
if len(sys.argv) > 2:
    os.setgid(int(sys.argv[2]))
    os.setuid(int(sys.argv[2]))
try:
    with open_ledger(sys.argv[1]) as ledger:
        ledger.add_dataset("survey", Budget(epsilon=1), unit=Unit())
except LedgerError as error:
    print(error.english)
    print(error.japanese)
"""
    identity = []
    folder = path.parent
    if os.geteuid() == 0:
        identity = [str(pwd.getpwnam("nobody").pw_uid)]
        folder = Path("/tmp") / f"sudare-permissions-{os.getpid()}"  # noqa: S108 (pytest's folders are closed to nobody)
        folder.mkdir()
    try:
        copy = folder / "budget.db"
        shutil.copy(path, copy)
        for mode, words in ((0o444, "must be writable"), (0o000, "must be writable")):
            copy.chmod(mode)
            run = subprocess.run(
                [sys.executable, "-c", code, str(copy), *identity],
                capture_output=True,
                text=True,
                check=True,
                cwd=ROOT,
                timeout=60,
            )
            assert words in run.stdout, (mode, run.stdout, run.stderr)
            assert "権限" in run.stdout
    finally:
        if folder != path.parent:
            shutil.rmtree(folder)


def test_a_torn_log_leaves_a_whole_beginning(ledger: Ledger, path: Path, tmp_path: Path) -> None:
    """A power cut may lose the end of the log; what is left is a ledger that was true at some moment."""
    spend(ledger, 5)
    head = ledger.head()
    log = Path(f"{path}-wal").read_bytes()
    seen = set()
    for cut in range(0, len(log) + 1, max(1, len(log) // 60)):
        copy = tmp_path / "copy.db"
        copy.write_bytes(path.read_bytes())
        Path(f"{copy}-wal").write_bytes(log[:cut])
        try:
            with open_ledger(copy) as torn:
                assert torn.verify() == []
                seen.add(torn.head()[0])
                assert bool(torn.verify(head)) == (torn.head() != head)
        except LedgerError as error:
            assert "is not a ledger" in str(error)  # noqa: PT017 (not even the tables had reached the disk)
        finally:
            for name in tmp_path.glob("copy.db*"):
                name.unlink()
    assert len(seen) > 5


def use_everything(ledger: Ledger) -> None:
    """Whatever is damaged, a user sees only errors that say so."""
    calls: list[Callable[[], object]] = [
        ledger.datasets,
        lambda: ledger.opt_outs("census"),
        lambda: ledger.secret("census"),
        lambda: list(ledger.entries("census")),
        lambda: ledger.settled("census", fingerprint(1)),
        lambda: ledger.reservations("census"),
        lambda: ledger.export(io.StringIO()),
        lambda: spend(ledger, 1),
    ]
    for call in calls:
        with suppress(LedgerError):
            call()


def test_flipped_bytes_are_found_or_harmless(ledger: Ledger, path: Path, tmp_path: Path) -> None:
    spend(ledger, 20)
    ledger.opt_out("census", "person 17")
    head = ledger.head()
    ledger.close()
    whole = path.read_bytes()
    copy = tmp_path / "copy.db"
    random_bytes = random.Random(7)
    found = 0
    for _ in range(150):
        place = random_bytes.randrange(len(whole))
        copy.write_bytes(whole[:place] + bytes([whole[place] ^ random_bytes.randrange(1, 256)]) + whole[place + 1 :])
        try:
            with open_ledger(copy) as damaged:
                if damaged.verify(head):
                    found += 1
                    use_everything(damaged)
                    continue
                assert damaged.dataset("census").spent == Budget(epsilon=0.2)
                assert damaged.head() == head
        except LedgerError:
            found += 1
        finally:
            for name in tmp_path.glob("copy.db*"):
                name.unlink()
    assert found > 50


def test_a_cut_file_is_told(ledger: Ledger, path: Path) -> None:
    spend(ledger, 60)
    ledger.close()
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(LedgerError, match="damaged"), open_ledger(path) as cut:
        raise LedgerError("damaged", "") if cut.verify() else AssertionError
