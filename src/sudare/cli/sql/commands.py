"""Private SQL: ask a database, see beforehand what it costs and what it means, and draft the file that says who is protected."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sudare.bilingual import Words
from sudare.cli.console.budgets import budget_in_words, read_budget, remaining_in_words
from sudare.cli.console.failures import FOUND_FAULTS
from sudare.cli.console.speaking import Speaker
from sudare.cli.sql.showing import answer_table, answer_values, price_shown, price_values
from sudare.errors import DatabaseError, OutputError
from sudare.system.regular_files import read_regular_file

if TYPE_CHECKING:
    from sudare.ledger import Dataset
    from sudare.privacy import Budget
    from sudare.sql.execution.connection import Connection
    from sudare.sql.execution.cursors import Cursor

__all__ = ["check", "describe", "explain", "price", "run", "shell"]

PLAIN: Any = {"show_default": False, "show_envvar": False}
"""The help says itself which variable counts, in its language."""

Database = Annotated[str, typer.Option("--data", metavar="DATABASE", envvar="SUDARE_SQL_DATA", **PLAIN)]
MetadataFile = Annotated[
    Path, typer.Option("--metadata", metavar="METADATA.toml", envvar="SUDARE_SQL_METADATA", **PLAIN)
]
LedgerPlace = Annotated[str, typer.Option("--ledger", metavar="LOCATION", envvar="SUDARE_SQL_LEDGER", **PLAIN)]
DatasetName = Annotated[str, typer.Option("--dataset", metavar="DATASET", envvar="SUDARE_SQL_DATASET", **PLAIN)]
Analyst = Annotated[str | None, typer.Option("--analyst", metavar="NAME", envvar="SUDARE_SQL_ANALYST", **PLAIN)]
UnusedLedger = Annotated[str | None, typer.Option("--ledger", metavar="LOCATION", **PLAIN)]
UnusedDataset = Annotated[str | None, typer.Option("--dataset", metavar="DATASET", **PLAIN)]
UnusedAnalyst = Annotated[str | None, typer.Option("--analyst", metavar="NAME", **PLAIN)]
Epsilon = Annotated[str | None, typer.Option("--epsilon", metavar="NUMBER", show_default=False)]
Delta = Annotated[str | None, typer.Option("--delta", metavar="NUMBER", show_default=False)]
Rho = Annotated[str | None, typer.Option("--rho", metavar="NUMBER", show_default=False)]
NoiseKind = Annotated[Literal["auto", "laplace", "gaussian"], typer.Option("--noise")]
JoinKind = Annotated[Literal["truncated", "elastic"], typer.Option("--joins")]
Answers = Annotated[Path | None, typer.Option("--answers", metavar="FOLDER", show_default=False)]
Seconds = Annotated[float | None, typer.Option("--timeout", metavar="SECONDS", min=0.001, show_default=False)]
OptOutsRemoved = Annotated[bool, typer.Option("--opt-outs-removed")]
QueryText = Annotated[str | None, typer.Argument(metavar="QUERY", show_default=False)]
QueryFile = Annotated[Path | None, typer.Option("--file", "-f", metavar="FILE.sql", show_default=False)]


def run(
    speaker: Speaker,
    database: Database,
    metadata: MetadataFile,
    ledger: LedgerPlace,
    sql_dataset: DatasetName,
    query: QueryText = None,
    query_file: QueryFile = None,
    query_epsilon: Epsilon = None,
    query_delta: Delta = None,
    query_rho: Rho = None,
    analyst: Analyst = None,
    noise: NoiseKind = "auto",
    joins: JoinKind = "truncated",
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", show_default=False)] = None,
    intervals: Annotated[bool, typer.Option("--intervals")] = False,
    again: Annotated[bool, typer.Option("--again")] = False,
    answers: Answers = None,
    timeout: Seconds = None,
    opt_outs_removed: OptOutsRemoved = False,
) -> None:
    """Answer a query privately."""
    from sudare.sql.execution.connection import connect

    sql = _query(speaker, query, query_file)
    _require_writable(out)
    budget = _budget(query_epsilon, query_delta, query_rho)
    with connect(
        database,
        metadata,
        budget,
        ledger=ledger,
        dataset=sql_dataset,
        analyst=analyst,
        answers=answers,
        timeout=timeout,
        noise=noise,
        joins=joins,
        opt_outs_removed=opt_outs_removed,
    ) as connection:
        cursor = ask(speaker, connection, sql, again=again)
        balances = connection.balances()
    if out is not None:
        from sudare.io import write_arrow

        write_arrow(out, cursor.to_table(intervals=intervals))
    tell_cost(speaker, cursor, balances)
    values = answer_values(cursor, balances)
    if out is not None:
        speaker.give({**values, "file": str(out)}, str(out))
    else:
        speaker.give(values, answer_table(speaker, cursor))


def explain(
    speaker: Speaker,
    database: Database,
    metadata: MetadataFile,
    query: QueryText = None,
    query_file: QueryFile = None,
    query_epsilon: Epsilon = None,
    query_delta: Delta = None,
    query_rho: Rho = None,
    noise: NoiseKind = "auto",
    joins: JoinKind = "truncated",
    ledger: UnusedLedger = None,
    sql_dataset: UnusedDataset = None,
    analyst: UnusedAnalyst = None,
) -> None:
    """What a query becomes. What only charging needs is taken and ignored, so that options can be used again as they are."""
    from sudare.sql.execution.connection import open_described, prepare_query
    from sudare.sql.execution.explaining import explain_query
    from sudare.sql.frontend.naming import Names
    from sudare.sql.metadata.file import read_metadata

    sql = _query(speaker, query, query_file)
    known = read_metadata(metadata)
    budget = _budget(query_epsilon, query_delta, query_rho)
    with open_described(database, known) as engine:
        dialect = engine.dialect
        prepared = prepare_query(sql, known, Names(known, dialect), dialect, budget, noise, joins, engine)
    explained = explain_query(prepared.plan, prepared.allocation)
    speaker.give(explained.to_dict(), explained.to_text(speaker.language))


def price(
    speaker: Speaker,
    database: Database,
    metadata: MetadataFile,
    ledger: LedgerPlace,
    sql_dataset: DatasetName,
    query: QueryText = None,
    query_file: QueryFile = None,
    query_epsilon: Epsilon = None,
    query_delta: Delta = None,
    query_rho: Rho = None,
    analyst: Analyst = None,
    noise: NoiseKind = "auto",
    joins: JoinKind = "truncated",
    error: Annotated[str | None, typer.Option("--error", metavar="COLUMN=NUMBER", show_default=False)] = None,
    answers: Answers = None,
    opt_outs_removed: OptOutsRemoved = False,
) -> None:
    """What a query costs, and how accurate it will be."""
    from sudare.cli.console.budgets import read_decimal
    from sudare.sql.execution.connection import connect

    sql = _query(speaker, query, query_file)
    budget = _budget(query_epsilon, query_delta, query_rho)
    with connect(
        database,
        metadata,
        budget,
        ledger=ledger,
        dataset=sql_dataset,
        analyst=analyst,
        answers=answers,
        noise=noise,
        joins=joins,
        opt_outs_removed=opt_outs_removed,
    ) as connection:
        if error is not None:
            column, _, wanted = error.rpartition("=")
            if not column:
                raise speaker.mistake("sql.no_error", text=error[:40])
            delta = None if query_delta is None else read_decimal("delta", query_delta)
            needed = connection.epsilon_for(sql, column.strip(), read_decimal("error", wanted), delta=delta)
            speaker.give(
                {"column": column.strip(), "error": wanted, "epsilon": float(needed)}, f"epsilon = {float(needed):g}"
            )
            return
        priced = connection.price(sql)
        left = connection.remaining_queries(sql)
        names = [balance.name for balance in connection.balances()]
    speaker.give(price_values(priced, names, left), price_shown(speaker, priced, names, left))


def shell(
    speaker: Speaker,
    database: Database,
    metadata: MetadataFile,
    ledger: LedgerPlace,
    sql_dataset: DatasetName,
    query_epsilon: Epsilon = None,
    query_delta: Delta = None,
    query_rho: Rho = None,
    analyst: Analyst = None,
    noise: NoiseKind = "auto",
    joins: JoinKind = "truncated",
    answers: Answers = None,
    timeout: Seconds = None,
    opt_outs_removed: OptOutsRemoved = False,
) -> None:
    """Ask one query after the other."""
    from sudare.cli.sql.shell import talk
    from sudare.sql.execution.connection import connect

    budget = _budget(query_epsilon, query_delta, query_rho)
    with connect(
        database,
        metadata,
        budget,
        ledger=ledger,
        dataset=sql_dataset,
        analyst=analyst,
        answers=answers,
        timeout=timeout,
        noise=noise,
        joins=joins,
        opt_outs_removed=opt_outs_removed,
    ) as connection:
        code = talk(speaker, connection)
    if code:
        raise typer.Exit(code)


def describe(
    speaker: Speaker,
    database: Database,
    table: Annotated[list[str] | None, typer.Option("--table", metavar="TABLE", show_default=False)] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="METADATA.toml", show_default=False)] = None,
) -> None:
    """Draft the metadata from the schema."""
    from sudare.engines import open_engine
    from sudare.io import atomically
    from sudare.sql.metadata.describing import describe as draft

    with open_engine(database) as engine:
        text = draft(engine, table or None)
    if out is None:
        speaker.give({"metadata": text}, text.rstrip("\n"))
        return
    with atomically(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
    speaker.say("sql.drafted", style="green", out=out)
    speaker.give({"file": str(out)}, str(out))


def check(
    speaker: Speaker,
    database: Database,
    metadata: MetadataFile,
    as_owner: Annotated[bool, typer.Option("--as-owner")] = False,
) -> None:
    """Compare the metadata with the database."""
    from sudare.sql.execution.connection import open_described
    from sudare.sql.metadata.file import read_metadata
    from sudare.sql.metadata.promises import check_promises, require_schema

    known = read_metadata(metadata)
    found: list[Words] = []
    with open_described(database, known) as engine:
        if as_owner:
            broken = check_promises(engine, known, by_the_owner_of_the_data=True)
            found = [one.words for one in broken]
        else:
            for table in known.tables:
                try:
                    require_schema(engine, known, [table])
                except DatabaseError as error:
                    found.append(error.words)
    found = list(dict.fromkeys(found))
    lines = [words.explain(speaker.language) for words in found]
    verdict = speaker.words("sql.broken", number=len(found)) if found else speaker.words("sql.sound")
    speaker.give(
        {"sound": not found, "findings": [{"english": words.english, "japanese": words.japanese} for words in found]},
        *(f"✗ {line}" for line in lines),
        verdict,
    )
    if as_owner:
        speaker.say("sql.confidential", style="bold yellow")
    if found:
        raise typer.Exit(FOUND_FAULTS)


def ask(speaker: Speaker, connection: Connection, sql: str, *, again: bool = False) -> Cursor:
    """Ask a query, with a sign of life on a terminal."""
    try:
        with _waiting(speaker):
            return connection.execute(sql, again=again)
    except KeyboardInterrupt:
        speaker.remark("sql.interrupted")
        raise


def tell_cost(speaker: Speaker, cursor: Cursor, balances: Sequence[Dataset]) -> None:
    """What a query cost, and what is left, to people."""
    words = speaker.words
    left = "; ".join(f"{one.name}: {remaining_in_words(one, words)}" for one in balances)
    if cursor.event is None:
        speaker.say("sql.public", style="dim")
    elif cursor.is_repeated:
        speaker.say("sql.repeated", style="dim", entry=cursor.entry, left=left)
    else:
        speaker.say("sql.charged", style="dim", cost=budget_in_words(cursor.cost, words), left=left)


@contextmanager
def _waiting(speaker: Speaker) -> Iterator[None]:
    if speaker.as_json or not speaker.err.is_terminal:
        yield
        return
    with speaker.err.status(speaker.words("sql.waiting")):
        yield


def _query(speaker: Speaker, query: str | None, file: Path | None) -> str:
    if query is not None and file is not None:
        raise speaker.mistake("sql.two_queries")
    if file is not None:
        try:
            return read_regular_file(file).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            raise speaker.mistake("sql.no_file", file=file) from None
    if query is not None and query != "-":
        return query
    if query is None and sys.stdin.isatty():
        raise speaker.mistake("sql.no_query")
    return sys.stdin.read()


def _budget(epsilon: str | None, delta: str | None, rho: str | None) -> Budget | None:
    """What options state; nothing is fine where the query states its own."""
    if epsilon is None and delta is None and rho is None:
        return None
    return read_budget(epsilon, delta, rho)


def _require_writable(out: Path | None) -> None:
    """Before anything is charged."""
    if out is None:
        return
    if out.suffix not in (".csv", ".parquet"):
        raise OutputError(
            f"Tables are written to .csv or .parquet, not to {out.name!r}. Nothing was charged.",
            f"表の書き出し先は .csv か .parquet です。{out.name!r} には書けません。費用は発生していません。",
        )
    if out.exists() or not out.parent.is_dir():
        raise OutputError(
            f"'{out}' exists already, or there is no such folder. Nothing was charged.",
            f"「{out}」が既にあるか、フォルダがありません。費用は発生していません。",
        )
