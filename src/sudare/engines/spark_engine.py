"""Spark SQL: through a session of our own, or a copy of one that there is.

What keeps it from changing anything: each query stands inside ``SELECT * FROM (...)``, so that it cannot be a command, and
settings are made in a copy of the session, which has the same tables and temporary views. Files cannot be read by their
names in a query. What Spark logs of a failure may quote data: a Spark that was started here logs nothing; one that was
there before writes its own logs, for those who run it.
"""

from __future__ import annotations

import logging
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from urllib.parse import parse_qsl

from sudare.engines import complaints
from sudare.engines.column_types import spark_type
from sudare.engines.complaints import attempt
from sudare.engines.deadlines import QueryDeadline
from sudare.engines.engine import ColumnType, Engine
from sudare.engines.files import FileTable, find_tables
from sudare.engines.java import java_for_spark
from sudare.engines.names import backquoted, public_name, quoted_path
from sudare.engines.results import same_types
from sudare.engines.spark_jobs import TaggedJob, is_connect, wait_for
from sudare.errors import DatabaseError
from sudare.extras import DATABASES, missing_package
from sudare.system.scratch import ScratchFolder

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SparkEngine"]

Result = TypeVar("Result")

SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.runSQLOnFiles": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.variable.substitute": "false",  # else ${...} in a text would be replaced
}
COUNTING = frozenset({"spark.sql.ansi.enabled", "spark.sql.session.timeZone"})
"""What queries of sudare's own need; the others matter where an analyst writes the query."""

LOOPBACK = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
START = {
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "8",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Where PySpark writes the whole of an error, values and all."""


@dataclass
class _Spark:
    """A Spark that was started here, and how many engines use it."""

    session: Any
    folder: ScratchFolder
    users: int = 0


_one_at_a_time = threading.Lock()
_started: list[_Spark] = []
"""The last one; a process has one Spark at most."""


class SparkEngine(Engine):
    """Spark SQL; made by `open_engine`.

    Args:
        session: a copy that is ours alone.
        address: where the data is.
        started: the Spark that was started here, if it was.
    """

    dialect: ClassVar[str] = "spark"

    def __init__(self, session: Any, address: str, started: _Spark | None = None) -> None:
        self._session: Any = session
        self._address = address
        self._started = started

    @classmethod
    def at(cls, location: str, *, for_counting: bool = False) -> SparkEngine:
        """Start Spark, or use the one that runs in this process.

        Args:
            location: ``spark:local`` or ``spark://host:port``, perhaps with ``?path=folder``; or ``sc://host:port`` of a
                server of Spark Connect.
            for_counting: see `over_session`.

        Raises:
            DatabaseError: if it does not start, or one that works elsewhere runs in this process.
            MissingPackageError: if PySpark is not installed.
        """
        needed = COUNTING if for_counting else frozenset(SETTINGS)
        if location.startswith("sc://"):
            return cls(_set(_connected(location), location, needed), location)
        address, _, query = location.partition("?")
        options = dict(parse_qsl(query, keep_blank_values=True))
        master = address if address.startswith("spark://") else address.removeprefix("spark:")
        if set(options) - {"path"} or not (master.startswith("spark://") or _is_local(master)):
            raise complaints.wrong_location(
                f"The address {location!r} of Spark is not known. Write spark:local, spark:local[4] or spark://host:port, and "
                "?path=folder behind it for tables that are Parquet files.",
                f"Spark のアドレス {location!r} は使えません。spark:local、spark:local[4]、spark://host:port のいずれかを指定し、"
                "Parquet ファイルの表には ?path=フォルダ を続けてください。",
            )
        tables = find_tables([options["path"]]) if "path" in options else []
        session, started = attempt(lambda: _take(master), lambda _: complaints.cannot_connect(address))
        try:
            engine = cls(_copy_of(session, address, needed), location, started)
            for table in tables:
                engine._register(table)
        except BaseException:
            _give_back(started)
            raise
        return engine

    @classmethod
    def over_session(cls, session: Any, *, for_counting: bool = False) -> SparkEngine:
        """Use a session that there is, with its tables and the temporary views that it has now.

        Args:
            session: a SparkSession, in this process or of Spark Connect.
            for_counting: whether it runs queries of sudare's own alone, so that settings which a server keeps to itself may stay.

        Raises:
            DatabaseError: if it is stopped, or does not take a setting that is needed.
        """
        return cls(_copy_of(session, "spark", COUNTING if for_counting else frozenset(SETTINGS)), "spark")

    @property
    def address(self) -> str:
        """Where the data is; see `Engine`."""
        return self._address

    def tables(self) -> list[str]:
        """Names of all tables and views; see `Engine`."""
        return self._told(lambda session: sorted(_names(session)))

    def columns(self, table: str) -> dict[str, ColumnType]:
        """The columns of a table; see `Engine`."""
        if table not in self.tables():
            raise complaints.no_such_table(self._address, table)
        fields = self._told(lambda session: session.table(quoted_path(table, "`")).schema.fields)
        return {field.name: spark_type(field.dataType.simpleString()) for field in fields}

    def fetch(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        """Run one query; see `Engine`."""
        job = TaggedJob(self._live())
        deadline = QueryDeadline(timeout, job.cancel)

        def run(session: Any) -> pa.Table:
            with job:
                return same_types(_arrow(session, sql))

        def tell(_: Exception) -> DatabaseError:
            if deadline.passed and timeout is not None:
                return complaints.timed_out(self._address, timeout)
            return complaints.failed(self._address)

        with deadline:
            return self._told(run, tell)

    def count(self, sql: str, progress: Callable[[float], object]) -> pa.Table:
        """Run a query in a thread of its own, so that the caller can report and be interrupted; whole numbers keep their widths.

        Args:
            sql: one SELECT.
            progress: called with the share of the tasks that are done, now and then. If it raises, or a signal does, the
                query is cancelled.
        """
        job = TaggedJob(self._live())
        return self._told(lambda session: wait_for(lambda: _arrow(session, sql), job, progress))

    def use(self, action: Callable[[Any], Result]) -> Result:
        """Do something with the session, which is ours alone; a failure is told in our own words."""
        return self._told(action)

    def state(self, tables: Sequence[str]) -> str | None:
        """None: others may write at any time; see `Engine`."""
        return None

    def close(self) -> None:
        """Leave the session, and stop Spark if it was started here and nobody else uses it; see `Engine`."""
        if self._session is not None:
            session, self._session = self._session, None
            if is_connect(session):
                with _quiet(), suppress(Exception):  # the server may be gone
                    session.stop()
            _give_back(self._started)

    def _register(self, table: FileTable) -> None:
        if table.format != "parquet":
            raise complaints.wrong_location(
                f"Spark is offered for Parquet files only; {str(table.path)!r} is none. Open it with DuckDB instead: "
                "give the path alone.",
                f"Spark で開けるのは Parquet ファイルだけです ({str(table.path)!r})。"
                "パスだけを指定して DuckDB で開いてください。",
            )
        read = str(table.path).replace("\\", "\\\\")
        for sign in "{}[]*?":
            read = read.replace(sign, "\\" + sign)
        self._told(
            lambda session: session.read.parquet(read).createOrReplaceTempView(backquoted(table.name)),
            lambda _: complaints.cannot_connect(str(table.path)),
        )

    def _live(self) -> Any:
        if self._session is None:
            raise complaints.closed(self._address)
        return self._session

    def _told(
        self, action: Callable[[Any], Result], tell: Callable[[Exception], DatabaseError] | None = None
    ) -> Result:
        session = self._live()
        with _quiet():
            return attempt(lambda: action(session), tell or (lambda _: complaints.failed(self._address)))


def _is_local(master: str) -> bool:
    threads = master.removeprefix("local[").removesuffix("]")
    return master == "local" or (master == f"local[{threads}]" and (threads == "*" or threads.isdecimal()))


@contextmanager
def _quiet() -> Iterator[None]:
    """While it is entered, PySpark writes nothing of an error to the standard error."""
    found = [logging.getLogger(name) for name in LOGGERS]
    before = [logger.disabled for logger in found]
    for logger in found:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(found, before, strict=True):
            logger.disabled = disabled


def _names(session: Any) -> Iterator[str]:
    current = session.catalog.currentDatabase()
    for table in session.catalog.listTables(current):
        name = public_name(current, table.name, bare=True)
        if name is not None:
            yield name
    for database in session.catalog.listDatabases():
        if database.name != current:
            for table in session.catalog.listTables(database.name):
                name = None if table.isTemporary else public_name(database.name, table.name, bare=False)
                if name is not None:
                    yield name


def _arrow(session: Any, sql: str) -> pa.Table:
    return session.sql(f"SELECT * FROM (\n{sql}\n)").toArrow()  # noqa: S608


def _copy_of(session: Any, address: str, needed: frozenset[str] = frozenset(SETTINGS)) -> Any:
    """A session with the same tables and views, whose settings are its own."""

    def copy() -> Any:
        if is_connect(session):
            copied = session.cloneSession()
        else:
            from pyspark.sql import SparkSession

            copied = SparkSession(session.sparkContext, session._jsparkSession.cloneSession())
        return copied

    with _quiet():
        copied = attempt(copy, lambda _: complaints.cannot_connect(address))
    return _set(copied, address, needed)


def _set(session: Any, address: str, needed: frozenset[str]) -> Any:
    """A session of our own, with its settings."""

    def put() -> Any:
        for name, value in SETTINGS.items():
            try:
                session.conf.set(name, value)
            except Exception:
                if name in needed:
                    raise
        return session

    with _quiet():
        return attempt(put, lambda _: complaints.cannot_connect(address))


def _connected(address: str) -> Any:
    """A session on a server of Spark Connect."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of versions of pandas, which is not used
        try:
            from pyspark.sql.connect.session import SparkSession
        except ImportError:
            raise missing_package("pyspark", "spark", DATABASES.format(database="Spark Connect")) from None
    builder: Any = SparkSession.builder
    with _quiet():
        return attempt(lambda: builder.remote(address).create(), lambda _: complaints.cannot_connect(address))


def _take(master: str) -> tuple[Any, _Spark | None]:
    """The Spark of this process, started if there is none; and what to give back, if it was started here."""
    try:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    except ImportError:
        raise missing_package("pyspark", "spark", DATABASES.format(database="Spark")) from None
    with _one_at_a_time:
        running: Any = SparkContext._active_spark_context
        if running is None:
            _started[:] = [_start(master)]
        elif running.master != _master(master) and not (running.master.startswith("local") and _is_local(master)):
            raise complaints.wrong_location(
                "Another Spark runs in this process; stop it, or give its session instead of an address.",
                "このプロセスでは別の Spark が動いています。停止するか、アドレスの代わりにそのセッションを渡してください。",
            )
        ours = [spark for spark in _started if running is None or spark.session.sparkContext is running]
        if not ours:
            return SparkSession.builder.getOrCreate(), None
        ours[0].users += 1
        return ours[0].session, ours[0]


def _start(master: str) -> _Spark:
    from pyspark.sql import SparkSession

    folder = ScratchFolder()
    # What does not fit into memory goes there too, and not beside other files for everybody's temporary ones.
    places = dict.fromkeys(("spark.sql.warehouse.dir", "spark.local.dir"), str(folder.path))
    settings = START | SETTINGS | places | (LOOPBACK if _is_local(master) else {})
    builder: Any = SparkSession.builder.master(_master(master)).appName("sudare")
    for name, value in settings.items():
        builder = builder.config(name, value)
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT) if is_main else None
    try:
        with java_for_spark(), _quiet():
            session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        if handler is not None:  # Spark's own would cancel everybody's jobs
            signal.signal(signal.SIGINT, handler)
    except BaseException:
        folder.remove()
        raise
    return _Spark(session, folder)


def _master(master: str) -> str:
    return "local[*]" if master == "local" else master


def _give_back(spark: _Spark | None) -> None:
    """Stop Spark if it was started here and this was its last user."""
    if spark is None:
        return
    with _one_at_a_time, _quiet():
        spark.users -= 1
        if spark.users == 0:
            _started[:] = [other for other in _started if other is not spark]
            with suppress(Exception):  # it may have been stopped by others
                spark.session.stop()
            spark.folder.remove()
