"""A ledger in one private SQLite file: every commit synced to the disk, one writer at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from sudare.bilingual import Words
from sudare.errors import LedgerError
from sudare.ledger.stores import SCHEMA, Row, Value
from sudare.storage import sqlite_file
from sudare.storage.sqlite_faults import FileFault, words_for
from sudare.storage.sqlite_file import Exposure, FileKind, PrivateSqlite
from sudare.system.locks import hold_file, release_file
from sudare.system.reasons import reason_of

__all__ = ["SqliteStore"]

APPLICATION_ID = 0x53444C47
"""Marks new ledgers; older ones have no mark and are known by their tables."""

APPEND_ONLY = tuple(
    f"""CREATE TRIGGER sudare_entries_{change.lower()} BEFORE {change} ON sudare_entries
        BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed'); END"""
    for change in ("UPDATE", "DELETE")
)


class SqliteStore:
    """A ledger in an SQLite file.

    Args:
        path: where the file is.
        create: make it, readable by its owner only, if it is not there.
    """

    def __init__(self, path: Path, *, create: bool) -> None:
        self._path = path
        try:
            _require_place(path)
        except OSError as error:
            raise _explain(path, FileFault.SYSTEM, reason_of(error)) from None
        self._file = PrivateSqlite(path, KIND, create=create)
        try:
            if not (create or self.is_ledger()):
                raise self.not_a_ledger()
        except BaseException:
            self._file.close()
            raise

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[None]:
        """All or nothing; see `Store`."""
        if write:
            with self._file.writing():
                yield
        else:
            with self._file.reading():
                yield

    def execute(self, statement: str, values: Sequence[Value] = ()) -> None:
        """Change something; see `Store`."""
        self._file.rows(statement, values)

    def fetch(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
        """Read rows; see `Store`."""
        return self._file.rows(statement, values)

    def is_ledger(self) -> bool:
        """Whether there is a ledger; see `Store`."""
        return "sudare_ledger" in self._file.tables()

    def make_tables(self) -> None:
        """Make the tables of an empty ledger; see `Store`."""
        if self._file.tables():
            raise self.not_a_ledger()
        for statement in (*SCHEMA, *APPEND_ONLY, self._file.mark):
            self.execute(statement)

    @contextmanager
    def alone_with(self, work: str, on_wait: Callable[[], None] | None) -> Iterator[None]:
        """By a locked file beside the ledger; see `Store`."""
        path = self._path.resolve()  # one ledger may have several names
        digest = sha256(work.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        lock = path.with_name(f".{path.name}.{digest}.lock")
        try:
            handle = hold_file(lock, on_wait)
        except OSError as error:
            raise _explain(self._path, FileFault.SYSTEM, reason_of(error)) from None
        try:
            yield
        finally:
            release_file(lock, handle)

    def damages(self) -> list[str]:
        """What SQLite finds wrong with the file; see `Store`."""
        return self._file.damages()

    def close(self) -> None:
        """Close the file; see `Store`."""
        self._file.close()

    def not_a_ledger(self) -> LedgerError:
        """What to say where something else is kept."""
        return _explain(self._path, FileFault.NOT_OURS, "")


def _require_place(path: Path) -> None:
    """Refuse a path at which no ledger can be, in words that say what to do."""
    if path.is_dir():
        raise LedgerError(
            f"{str(path)!r} is a folder; a ledger is a file.",
            f"{str(path)!r} はフォルダです。台帳はファイルで指定してください。",
        )
    if not path.parent.is_dir() and not path.exists():
        raise LedgerError(
            f"The folder {str(path.parent)!r} for the ledger does not exist; make it first.",
            f"台帳を置くフォルダ {str(path.parent)!r} がありません。先に作成してください。",
        )


def _explain(path: Path, fault: FileFault, detail: str | Words) -> LedgerError:
    """The message about a fault of a ledger."""
    words = WORDS.get(fault)
    if words is None:
        told = words_for(Words("ledger", "台帳"), path, fault, detail)
        return LedgerError(told.english, told.japanese)
    blanks = {
        "path": path,
        "quoted": repr(str(path)),
        "detail": detail,
        "seconds": f"{sqlite_file.MAX_WAIT_SECONDS:.0f}",
    }
    return LedgerError(words.english.format(**blanks), words.japanese.format(**blanks))


WORDS = {
    FileFault.MISSING: Words(
        "There is no ledger {quoted}. Make one with 'sudare ledger create {path}'.",
        "台帳 {quoted} がありません。'sudare ledger create {path}' で作成してください。",
    ),
    FileFault.SYSTEM: Words(
        "The ledger {quoted} cannot be used: {detail}. Check the path and its permissions.",
        "台帳 {quoted} を使えません（{detail}）。パスと権限をご確認ください。",
    ),
    FileFault.OTHER_PROCESS: Words(
        "This ledger was opened by another process; open it again in each process with open_ledger.",
        "この台帳は別のプロセスで開かれたものです。プロセスごとに open_ledger で開き直してください。",
    ),
    FileFault.NOT_OURS: Words(
        "The file {quoted} is not a ledger. Give the path of a ledger, or make a new one with 'sudare ledger create'.",
        "ファイル {quoted} は台帳ではありません。台帳のパスを指定するか、'sudare ledger create' で新しく作成してください。",
    ),
    FileFault.BUSY: Words(
        "Another program has held the ledger {quoted} for {seconds} seconds; try again later.",
        "台帳 {quoted} は {seconds} 秒以上ほかのプログラムが使用中です。後でもう一度お試しください。",
    ),
    FileFault.NOT_WRITABLE: Words(
        "The ledger {quoted} cannot be written. The file and its folder must be writable for you.",
        "台帳 {quoted} に書き込めません。ファイルとフォルダの両方に書き込み権限が必要です。",
    ),
    FileFault.DAMAGED: Words(
        "The ledger {quoted} is damaged, or was changed by another program ({detail}). Keep the file as it is. A copy does not "
        "know what was charged after it was made: before one is used, count what was published since; check it with 'sudare "
        "ledger verify'.",
        "台帳 {quoted} が壊れているか、ほかのプログラムで変更されています（{detail}）。"
        "ファイルはそのまま保管してください。控えには、その後に使った予算が記録されていません。使う前に、その後の公表を"
        "すべて数え、'sudare ledger verify' でご確認ください。",
    ),
}
"""Where a ledger has more to say than other files."""

KIND = FileKind(
    application_id=APPLICATION_ID,
    explain=_explain,
    exposure=Exposure.ALLOWED,  # several people of an office may share one
    older_table="sudare_ledger",
    is_text_mended=True,  # bytes that are no text must be found by their hash, not stop the search
)
