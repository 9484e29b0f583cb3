"""A connection to a database that answers privately: every query is paid for in a ledger before anything is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from sudare.bilingual import Words
from sudare.border.frames import RowTuple
from sudare.engines.engine import Engine
from sudare.errors import LedgerError, ParameterError, QueryRefusedError
from sudare.ledger import Dataset, Ledger, Reservation, open_ledger
from sudare.parameters import Rational, shown
from sudare.privacy.budget import Budget, read_budget
from sudare.sql.execution.answers_store import AnswerStore
from sudare.sql.execution.charging import Accounts, Charged, Joins, QueryCharge
from sudare.sql.execution.opening import open_described
from sudare.sql.frontend.naming import Names
from sudare.sql.frontend.options import Options
from sudare.sql.frontend.parsing import parse_query
from sudare.sql.measures.allocating import Allocation, Noise, allocate
from sudare.sql.measures.planning import QueryPlan, plan_query
from sudare.sql.metadata.file import read_metadata
from sudare.sql.metadata.model import Metadata
from sudare.sql.relations.public_keys import public_groups
from sudare.system.closing import Closeable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sudare.sql.execution.cursors import Cursor
    from sudare.sql.execution.explaining import Explanation
    from sudare.sql.execution.pricing import BatchPrice, Price

__all__ = ["Connection", "Prepared", "connect", "prepare_query"]

MAX_ENTRIES_CHECKED = 500
"""Of a ledger, when a connection is made: a tenth of a second."""


class Prepared:
    """A query as far as it can be taken without the data.

    Attributes:
        plan: what is measured.
        budget: what it may cost.
        noise: which noise was asked for.
        joins: how joins whose rows belong to two units are bounded.
        allocation: of the budget to the measures.
    """

    def __init__(
        self, plan: QueryPlan, budget: Budget, noise: Noise, joins: Joins, groups: Mapping[str, int] | None = None
    ) -> None:
        self.plan, self.budget, self.noise, self.joins = plan, budget, noise, joins
        self.allocation: Allocation = allocate(plan, budget, noise, groups)


def connect(
    url: str | Path | Sequence[str | Path] | SparkSession | Engine,
    metadata: str | Path | Metadata,
    budget: Budget | None = None,
    *,
    ledger: str | Path,
    dataset: str,
    analyst: str | None = None,
    answers: str | Path | None = None,
    timeout: float | None = None,
    noise: Noise = "auto",
    joins: Joins = "truncated",
    types: Mapping[str, Mapping[str, str]] | None = None,
    opt_outs_removed: bool = False,
) -> Connection:
    r"""Connect to a database so that it can be asked privately. The database is never changed.

    Args:
        url: a DuckDB file, Parquet or CSV files or a folder of them, ``postgresql://...`` or ``spark:...``; see
            `sudare.engines.open_engine`.
        metadata: the file that says who is protected, or what was read from it.
        budget: what one query may cost. A query may be given another one, or state its own in ``OPTIONS``. If left out,
            each query must do one of both.
        ledger: the ledger that every query is charged to: a file, or ``postgresql://...``.
        dataset: name of the data set there. Its unit must be the metadata's.
        analyst: who asks. The ledger then has a data set ``dataset/analyst`` with this analyst's own total, and every
            query is charged to both.
        answers: the folder that keeps answers, so that the same query asked again is free; ``LEDGER.answers`` beside a
            ledger that is a file, required for others.
        timeout: seconds after which a query in the database is cancelled. Its cost stays spent.
        noise: which noise; ``"auto"`` takes the smaller one.
        joins: how joins are bounded whose rows belong to two units. ``"truncated"`` joins the first ``max_frequency`` rows
            of each value and leaves out the rest, so that the limit holds whatever the data are. ``"elastic"`` joins all rows
            with noise that follows ``max_frequency``, which must then be true of the data as they are; it needs an epsilon
            and a delta.
        types: of columns of CSV files, by table and column, in DuckDB's words; by default those that the metadata state.
        opt_outs_removed: say True where people opted out of the data set and are no longer in the database.

    Returns:
        A connection with DB-API cursors, prices and explanations.

    Raises:
        PlanError: if the metadata have a mistake.
        DatabaseError: if the database cannot be opened.
        LedgerError: if the ledger cannot be used, or has no such account.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import sudare
        >>> folder = tempfile.TemporaryDirectory()
        >>> place = Path(folder.name)
        >>> _ = (place / "visits.csv").write_text("age\n" + "\n".join(map(str, range(20, 70))), encoding="utf-8")
        >>> text = 'unit.name = "person"\ntables.visits = {unit = "row", columns.age = {type = "text"}}'
        >>> _ = (place / "metadata.toml").write_text(text, encoding="utf-8")
        >>> with sudare.open_ledger(place / "budget.db", create=True) as ledger:
        ...     _ = ledger.add_dataset("visits", sudare.Budget(epsilon=10), unit=sudare.Unit("person"))
        >>> budget = sudare.Budget(epsilon=2)
        >>> with sudare.connect(
        ...     place / "visits.csv", place / "metadata.toml", budget, ledger=place / "budget.db", dataset="visits"
        ... ) as connection:
        ...     first = connection.execute("SELECT count(*) AS people FROM visits").fetchone()
        ...     again = connection.execute("SELECT count(*) AS people FROM visits").fetchone()
        ...     first == again, str(connection.spent())
        (True, 'epsilon = 2')
        >>> folder.cleanup()
    """
    if budget is not None:
        read_budget(budget, "connect")
    if noise not in ("auto", "laplace", "gaussian"):
        raise ParameterError(
            "noise",
            "connect",
            Words("'auto', 'laplace' or 'gaussian'", "'auto'、'laplace'、'gaussian' のいずれか"),
            shown(noise),
        )
    if joins not in ("truncated", "elastic"):
        raise ParameterError(
            "joins", "connect", Words("'truncated' or 'elastic'", "'truncated' または 'elastic'"), shown(joins)
        )
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0):
        raise ParameterError(
            "timeout",
            "connect",
            Words("a positive number of seconds, or None", "0 より大きい秒数または None"),
            shown(timeout),
        )
    if analyst is not None and (not isinstance(analyst, str) or not analyst or "/" in analyst):
        raise ParameterError("analyst", "connect", Words("a name without '/'", "'/' を含まない名前"), shown(analyst))
    if not isinstance(ledger, (str, Path)):
        raise ParameterError(
            "ledger",
            "connect",
            Words("a path or an address", "パスまたはアドレス"),
            shown(ledger),
            "Private answers need a ledger.",
        )
    known = metadata if isinstance(metadata, Metadata) else read_metadata(metadata)
    folder = _answers_folder(ledger, answers)
    opened = open_ledger(ledger)
    try:
        _require_sound(opened)
        accounts = Accounts(opened, dataset, known.privacy_unit, analyst)
        store = AnswerStore(folder, opened.secret(dataset))
        engine = url if isinstance(url, Engine) else open_described(url, known, types)
    except BaseException:
        opened.close()
        raise
    desk = QueryCharge(engine, accounts, store, timeout=timeout, opt_outs_removed=opt_outs_removed)
    return Connection(engine, known, budget, opened, accounts, desk, noise, joins)


def prepare_query(
    sql: str,
    metadata: Metadata,
    names: Names,
    dialect: str,
    budget: Budget | None,
    noise: Noise,
    joins: Joins = "truncated",
    engine: Engine | None = None,
) -> Prepared:
    """Take a query as far as it can be without private data and without a ledger.

    Args:
        sql: the query.
        metadata: of the database.
        names: of its tables and columns.
        dialect: of the query.
        budget: what it may cost. What the query itself states comes first.
        noise: which noise.
        joins: how joins whose rows belong to two units are bounded.
        engine: the database. It is asked only for how many values a public table has, where noise follows that number;
            without it the noise is made for as many as can be.

    Raises:
        QueryRefusedError: if it cannot be answered privately.
    """
    plan = plan_query(parse_query(sql, dialect), metadata, names, elastic=joins == "elastic")
    groups = None if engine is None else public_groups(plan, engine)
    return Prepared(plan, _budget_of(plan.options, budget), noise, joins, groups)


class Connection(Closeable):
    """A database that is asked privately; made by `connect`. May be used by one thread at a time.

    Attributes:
        metadata: of the database.
        budget: what a query may cost unless it says otherwise.
    """

    def __init__(
        self,
        engine: Engine,
        metadata: Metadata,
        budget: Budget | None,
        ledger: Ledger,
        accounts: Accounts,
        desk: QueryCharge,
        noise: Noise,
        joins: Joins,
    ) -> None:
        self.metadata, self.budget = metadata, budget
        self._engine, self._ledger, self._accounts, self._desk = engine, ledger, accounts, desk
        self._noise, self._joins = noise, joins
        self._names = Names(metadata, engine.dialect)
        self._is_open = True

    @property
    def dialect(self) -> str:
        """The database's SQL, as sqlglot calls it."""
        return self._engine.dialect

    @property
    def ledger(self) -> Ledger:
        """What queries are charged to; open as long as the connection is."""
        return self._ledger

    def close(self) -> None:
        """Close database and ledger; once is enough, twice does no harm."""
        self._is_open = False
        self._engine.close()
        self._ledger.close()

    def commit(self) -> None:
        """Nothing: what was charged is in the ledger at once. DB-API has it."""
        self._require_open()

    def rollback(self) -> None:
        """Nothing: what was charged stays charged. DB-API has it."""
        self._require_open()

    def cursor(self) -> Cursor:
        """A DB-API cursor."""
        from sudare.sql.execution.cursors import Cursor

        self._require_open()
        return Cursor(self)

    def execute(
        self,
        sql: str,
        parameters: Sequence[object] | None = None,
        *,
        budget: Budget | None = None,
        again: bool = False,
    ) -> Cursor:
        """Ask a query with a new cursor; see `sudare.sql.execution.cursors.Cursor.execute`."""
        return self.cursor().execute(sql, parameters, budget=budget, again=again)

    def prepare(self, sql: str, budget: Budget | None = None) -> Prepared:
        """Take a query as far as it can be without private data. Nothing is charged.

        Args:
            sql: the query.
            budget: what it may cost; by default the connection's. What the query itself states comes first.

        Raises:
            QueryRefusedError: if it cannot be answered privately.
        """
        self._require_open()
        base = self.budget if budget is None else read_budget(budget, "execute")
        return prepare_query(
            sql, self.metadata, self._names, self.dialect, base, self._noise, self._joins, self._engine
        )

    def run(
        self,
        prepared: Prepared,
        *,
        again: bool = False,
        on_unfinished: Callable[[Sequence[Reservation]], None] | None = None,
    ) -> Charged:
        """Answer a prepared query: from the store if it was answered before, else charged.

        Args:
            prepared: from `prepare`.
            again: draw and charge anew even if it was answered before.
            on_unfinished: called before anything is charged if the same query was stopped after its cost was kept; see
                `sudare.ledger.charging.charge_once`.

        Raises:
            BudgetExceededError: if the budget does not allow it; nothing was read.
            DatabaseError: if the database fails; the message says whether the cost stays spent.
            LedgerError: if the ledger cannot be used.
        """
        self._require_open()
        return self._desk.answer(
            prepared.plan,
            prepared.allocation,
            prepared.budget,
            prepared.noise,
            prepared.joins,
            again=again,
            on_unfinished=on_unfinished,
        )

    def explain(self, sql: str, budget: Budget | None = None) -> Explanation:
        """What a query becomes: the rewritten SQL, each sensitivity with its reason, the noise, and what it will mean.

        Nothing is charged, and no private row is read.
        """
        from sudare.sql.execution.explaining import explain_query

        prepared = self.prepare(sql, budget)
        return explain_query(prepared.plan, prepared.allocation)

    def price(self, sql: str, budget: Budget | None = None) -> Price:
        """What a query costs, how accurate it will be, and what is left afterwards. Charges nothing, reads no private row."""
        from sudare.sql.execution.pricing import price_query

        prepared = self.prepare(sql, budget)
        return price_query(prepared, self._accounts, self._desk)

    def price_many(self, queries: Sequence[str], budget: Budget | None = None) -> BatchPrice:
        """What several queries cost together; those that were answered before, and repeats among them, are free."""
        from sudare.sql.execution.pricing import price_batch

        return price_batch([self.prepare(sql, budget) for sql in queries], self._accounts, self._desk)

    def epsilon_for(self, sql: str, column: str, error: Rational, *, delta: Rational | None = None) -> Fraction:
        """The smallest epsilon for which a column is within an error with probability 0.95, rounded up to three digits.

        Args:
            sql: the query.
            column: of its answer; a count or a sum as it is, or a quantile (then the error is in rows).
            error: what is wanted, in the units of the column.
            delta: of the budget; by default the connection's, if that has one.

        Raises:
            ParameterError: if there is no such column, or its error is not known before it is answered.
            GuaranteeError: if no epsilon that protects anybody is enough.
        """
        from sudare.sql.execution.pricing import epsilon_for

        self._require_open()
        parsed = parse_query(sql, self.dialect)
        plan = plan_query(parsed, self.metadata, self._names, elastic=self._joins == "elastic")
        usual = None if self.budget is None or self.budget.currency != "epsilon-delta" else self.budget.delta
        groups = public_groups(plan, self._engine)
        return epsilon_for(plan, column, error, usual if delta is None else delta, self._noise, groups)

    def remaining_queries(self, sql: str, budget: Budget | None = None) -> int | None:
        """How many such queries the budgets still allow; None if they cost nothing."""
        allocation = self.prepare(sql, budget).allocation
        if allocation.cost is None:
            return None
        return self._accounts.times_left(allocation.cost, allocation.measurements)

    def balances(self) -> RowTuple[Dataset]:
        """The data set's account, and the analyst's if there is one."""
        self._require_open()
        return self._accounts.balances()

    def spent(
        self, accounting: Literal["ledger", "zcdp", "pld"] = "ledger", *, delta: Rational | None = None
    ) -> Budget | None:
        """What was spent on the data set altogether, by everybody; None if nothing was.

        Args:
            accounting: ``"ledger"``: as the ledger counts it, which is what limits queries. ``"zcdp"`` and ``"pld"``: what
                all settled releases together guarantee, at a delta, by tighter composition. ``"pld"`` holds where no
                query's budget was chosen after seeing an answer.
            delta: for ``"zcdp"`` and ``"pld"``.
        """
        from sudare.sql.execution.pricing import spending

        self._require_open()
        return spending(self._accounts, accounting, delta)

    def _require_open(self) -> None:
        if not self._is_open:
            raise ParameterError("connection", "Connection", "open", shown("a closed one"))


def _budget_of(options: Options, base: Budget | None) -> Budget:
    """The budget of a query: what it states itself comes first."""
    if options.epsilon is None and options.delta is None:
        if base is None:
            raise ParameterError(
                "budget",
                "execute",
                Words(
                    "given to connect() or to the query, such as Budget(epsilon=1)",
                    "Budget(epsilon=1) のような予算を connect() かクエリに指定",
                ),
                None,
                "A query may also state OPTIONS(epsilon = ...).",
            )
        return base
    if options.epsilon is None and (base is None or base.currency == "rho"):
        raise QueryRefusedError(
            "budget",
            "OPTIONS has a delta but no epsilon; state epsilon too.",
            "OPTIONS に delta だけがあります。epsilon も指定してください。",
        )
    epsilon = options.epsilon if options.epsilon is not None or base is None else base.epsilon
    delta: Rational | None = options.delta
    if options.delta is None and base is not None and base.currency == "epsilon-delta":
        delta = base.delta
    return Budget(epsilon=epsilon, delta=delta if delta else None)


def _answers_folder(ledger: str | Path, answers: str | Path | None) -> Path:
    if answers is not None:
        return Path(answers)
    if urlsplit(str(ledger)).scheme in ("postgresql", "postgres"):
        raise ParameterError(
            "answers",
            "connect",
            Words(
                "a folder that keeps answers, where the ledger is not a file",
                "台帳がファイルでない場合は、回答を保存するフォルダ",
            ),
            None,
        )
    path = Path(ledger)
    return path.with_name(path.name + ".answers")


def _require_sound(ledger: Ledger) -> None:
    """Refuse a ledger that was changed from outside; a long one takes too long to check, and is left to its keeper."""
    findings = ledger.verify() if ledger.head()[0] <= MAX_ENTRIES_CHECKED else []
    if findings:
        raise LedgerError(
            f"The ledger was changed from outside or is damaged: {findings[0].english} `sudare ledger verify` tells more.",
            f"台帳が外部から変更されたか、壊れています: {findings[0].japanese} `sudare ledger verify` で詳しく調べられます。",
        )
