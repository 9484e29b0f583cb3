"""A ledger in a PostgreSQL database: one writer at a time by an advisory lock, commits that wait for the disk.

Every writer first takes a lock that lasts until its transaction ends. Under READ COMMITTED each later statement sees
everything that was committed before it began, so a writer who has the lock reads the latest balance, and nobody can
change it before the writer commits. There is one lock and it is taken first, so that writers never wait for each other
in a circle. The primary key on entry numbers stands behind it: two writers could not both append.

Until it commits a transaction has done nothing. So a signal may end every wait for the server before that, for the lock as for
rows or tables that another program holds. The wait for the commit itself is never ended: nobody would know what became of it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sudare.errors import LedgerError
from sudare.extras import DATABASES, missing_package
from sudare.ledger.stores import SCHEMA, Row, Value
from sudare.system.interrupts import waiting
from sudare.system.server_addresses import server_address

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresStore"]

WRITERS_LOCK = 0x7375646172650001
"""Of all ledgers in a database; the letters "sudare" and a number."""

MAX_WAIT = 60
CONNECT_WAIT = 10
PAUSE = 0.1
"""Seconds."""

APPEND_ONLY = (
    """CREATE FUNCTION sudare_refuse_change() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'entries of a ledger are never changed'; END $$""",
    """CREATE TRIGGER sudare_entries_change BEFORE UPDATE OR DELETE OR TRUNCATE ON sudare_entries
       FOR EACH STATEMENT EXECUTE FUNCTION sudare_refuse_change()""",
)


class PostgresStore:
    """A ledger in a PostgreSQL database.

    Args:
        address: ``postgresql://user:password@host/database``, as libpq reads it.
    """

    def __init__(self, address: str) -> None:
        try:
            import psycopg
            import psycopg.conninfo
        except ImportError:
            raise missing_package("psycopg", "postgres", DATABASES.format(database="PostgreSQL")) from None
        self._errors = psycopg
        self._lock = threading.RLock()
        self._process = os.getpid()
        try:
            parts = psycopg.conninfo.conninfo_to_dict(address)
        except psycopg.Error:  # whose words repeat the address with the password
            raise LedgerError(
                "The address of the ledger cannot be read. Write it like postgresql://user:password@host:5432/database; "
                "signs such as @ and / in a password are written as %40 and %2F.",
                "台帳のアドレスが読み取れません。postgresql://user:password@host:5432/database の形で指定してください。"
                "パスワード中の @ や / は %40 や %2F と書きます。",
            ) from None
        password = parts.get("password")
        self._password = str(password) if password else None
        self._server = server_address(parts) or "PostgreSQL"
        self._address = address
        self._connection = self._connected()
        try:
            with self._translate_errors():
                # A server may be set to answer before a commit is on the disk; a ledger must not be.
                self._connection.execute(
                    "SELECT set_config('synchronous_commit', 'on', false) "
                    "WHERE current_setting('synchronous_commit') IN ('off', 'local')"
                )
                self._connection.execute(f"SET lock_timeout = '{MAX_WAIT}s'")
        except BaseException:
            self._connection.close()
            raise

    def _connected(self) -> psycopg.Connection[Row]:
        try:
            return self._errors.connect(
                self._address, autocommit=True, connect_timeout=CONNECT_WAIT, application_name="sudare ledger"
            )
        except self._errors.Error as error:
            raise self._unreachable(error) from None

    @contextmanager
    def alone_with(self, work: str, on_wait: Callable[[], None] | None) -> Iterator[None]:
        """By a lock of a session of its own, which ends with the process; see `Store`."""
        digest = sha256(work.encode("utf-8", "surrogatepass")).digest()
        key = int.from_bytes(digest[:8], "big", signed=True)
        session = self._connected()
        try:
            is_told = on_wait is None
            with self._translate_errors():
                while session.execute("SELECT pg_try_advisory_lock(%s)", (key,)).fetchone() != (True,):
                    if on_wait is not None and not is_told:
                        is_told = True
                        on_wait()
                    time.sleep(PAUSE)
            yield
        finally:
            session.close()

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[None]:
        """All or nothing; see `Store`."""
        if os.getpid() != self._process:
            raise LedgerError(
                "This ledger was opened by another process; open it again in each process with open_ledger.",
                "この台帳は別のプロセスで開かれたものです。プロセスごとに open_ledger で開き直してください。",
            )
        with self._lock:
            try:
                with self._translate_errors(), waiting():
                    if write:
                        self._connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
                        self._wait_for_other_writers()
                    else:
                        self._connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                yield
                with self._translate_errors():
                    self._connection.execute("COMMIT")
            except BaseException:
                with suppress(self._errors.Error):
                    self._connection.execute("ROLLBACK")
                raise

    def _wait_for_other_writers(self) -> None:
        self._connection.execute("SELECT pg_advisory_xact_lock(%s)", (WRITERS_LOCK,))

    def execute(self, statement: str, values: Sequence[Value] = ()) -> None:
        """Change something; see `Store`."""
        with self._translate_errors():
            self._run(statement, values)

    def fetch(self, statement: str, values: Sequence[Value] = ()) -> list[Row]:
        """Read rows; see `Store`."""
        with self._translate_errors():
            return list(self._run(statement, values).fetchall())

    def _run(self, statement: str, values: Sequence[Value]) -> psycopg.Cursor[Row]:
        # All statements are written in this package, none by a user.
        query: Any = statement.replace("?", "%s")
        with waiting():
            return self._connection.execute(query, tuple(values) or None)

    def is_ledger(self) -> bool:
        """Whether there is a ledger; see `Store`."""
        return self.fetch("SELECT to_regclass('sudare_ledger') IS NOT NULL") == [(True,)]

    def make_tables(self) -> None:
        """Make the tables of an empty ledger; see `Store`."""
        for statement in (*SCHEMA, *APPEND_ONLY):
            self.execute(statement)

    def not_a_ledger(self) -> LedgerError:
        """What to say where there is no ledger; see `Store`."""
        return LedgerError(
            "The PostgreSQL database has no ledger. Make one with 'sudare ledger create postgresql://...'.",
            "この PostgreSQL データベースに台帳がありません。'sudare ledger create postgresql://...' で作成してください。",
        )

    def damages(self) -> list[str]:
        """Nothing: a PostgreSQL server refuses to read a page whose checksum is wrong; see `Store`."""
        return []

    def close(self) -> None:
        """Close the connection; see `Store`."""
        if os.getpid() == self._process:
            with self._lock:
                self._connection.close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Say in the user's words what PostgreSQL says in its own."""
        try:
            yield
        except self._errors.Error as error:
            raise self._explained(error) from None

    def _explained(self, error: psycopg.Error) -> LedgerError:
        errors = self._errors.errors
        if isinstance(error, errors.LockNotAvailable):
            return LedgerError(
                f"Another program has held the ledger for {MAX_WAIT} seconds; try again later.",
                f"台帳は {MAX_WAIT} 秒以上ほかのプログラムが使用中です。後でもう一度お試しください。",
            )
        if isinstance(error, (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction)):
            return LedgerError(
                f"The PostgreSQL user may not do that with the ledger: {self._words(error)}.",
                f"PostgreSQL のユーザーに台帳を扱う権限がありません（{self._words(error)}）。",
            )
        if self._connection.closed:
            return self._unreachable(error)
        return LedgerError(
            f"The PostgreSQL server refused a step of the ledger: {self._words(error)}. Nothing was written.",
            f"PostgreSQL サーバーが台帳の処理を拒否しました（{self._words(error)}）。何も書き込まれていません。",
        )

    def _words(self, error: psycopg.Error) -> str:
        """The first line of what PostgreSQL says, without the password."""
        line = str(error).strip().partition("\n")[0].rstrip(".")
        return line.replace(self._password, "***") if self._password else line

    def _unreachable(self, error: psycopg.Error) -> LedgerError:
        words, server = self._words(error), self._server
        return LedgerError(
            f"The server of the ledger, {server}, cannot be reached: {words}. Check host and port, user and "
            "password, and that the server runs.",
            f"台帳のサーバー {server} に接続できません（{words}）。"
            "ホストとポート、ユーザーとパスワード、サーバーの状態をご確認ください。",
        )
