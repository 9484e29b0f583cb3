"""Private SQL: ask a database, see beforehand what it costs and what it means, and draft the file that says who is protected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.bilingual import Words
from sudare.cli.console.budgets import budget_in_words, remaining_in_words
from sudare.cli.console.charges import NO_CHARGE_YET, WatchedCharge, ask_before_charging_again, charges_told
from sudare.cli.console.failures import FOUND_FAULTS
from sudare.cli.console.speaking import Speaker
from sudare.cli.sql.options import (
    BudgetOptions,
    ConnectionOptions,
    Database,
    LedgerOptions,
    MethodOptions,
    QueryOptions,
    Seconds,
    SourceOptions,
    UnusedOptions,
)
from sudare.cli.sql.showing import answer_table, answer_values, price_shown, price_values
from sudare.errors import DatabaseError, OutputError

if TYPE_CHECKING:
    from sudare.ledger import Dataset, Reservation
    from sudare.sql.execution.connection import Connection
    from sudare.sql.execution.cursors import Cursor

__all__ = ["check", "describe", "explain", "price", "run", "shell"]


def run(
    speaker: Speaker,
    source: SourceOptions,
    account: LedgerOptions,
    query: QueryOptions,
    budget: BudgetOptions,
    method: MethodOptions,
    connected: ConnectionOptions,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", show_default=False)] = None,
    intervals: Annotated[bool, typer.Option("--intervals")] = False,
    again: Annotated[bool, typer.Option("--again")] = False,
    timeout: Seconds = None,
) -> None:
    """Answer a query privately."""
    sql = query.read(speaker)
    _require_writable(out)
    with connected.open(source, account, budget, method, timeout) as connection:
        cursor = ask(speaker, connection, sql, account, again=again)
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
    source: SourceOptions,
    query: QueryOptions,
    budget: BudgetOptions,
    method: MethodOptions,
    unused: UnusedOptions,
) -> None:
    """Show what a query becomes."""
    from sudare.sql.execution.connection import prepare_query
    from sudare.sql.execution.explaining import explain_query
    from sudare.sql.execution.opening import open_described
    from sudare.sql.frontend.naming import Names
    from sudare.sql.metadata.file import read_metadata

    sql = query.read(speaker)
    known = read_metadata(source.metadata)
    stated = budget.read()
    with open_described(source.database, known, reads_later=True) as engine:
        dialect = engine.dialect
        prepared = prepare_query(sql, known, Names(known, dialect), dialect, stated, method.noise, method.joins, engine)
    explained = explain_query(prepared.plan, prepared.allocation)
    speaker.give(explained.to_dict(), explained.to_text(speaker.language))


def price(
    speaker: Speaker,
    source: SourceOptions,
    account: LedgerOptions,
    query: QueryOptions,
    budget: BudgetOptions,
    method: MethodOptions,
    connected: ConnectionOptions,
    error: Annotated[str | None, typer.Option("--error", metavar="COLUMN=NUMBER", show_default=False)] = None,
) -> None:
    """Show what a query costs, and how accurate it will be."""
    from sudare.cli.console.budgets import read_decimal

    sql = query.read(speaker)
    with connected.open(source, account, budget, method, reads_later=True) as connection:
        if error is not None:
            column, _, wanted = error.rpartition("=")
            if not column:
                raise speaker.mistake("sql.no_error", text=error[:40])
            delta = None if budget.query_delta is None else read_decimal("delta", budget.query_delta)
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
    source: SourceOptions,
    account: LedgerOptions,
    budget: BudgetOptions,
    method: MethodOptions,
    connected: ConnectionOptions,
    timeout: Seconds = None,
) -> None:
    """Ask one query after the other."""
    from sudare.cli.sql.shell import talk

    with connected.open(source, account, budget, method, timeout) as connection:
        code = talk(speaker, connection, account)
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

    with open_engine(database, reads_later=True) as engine:
        text = draft(engine, table or None, speaker.language)
    if out is None:
        speaker.give({"metadata": text}, text.rstrip("\n"))
        return
    with atomically(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
    speaker.say("sql.drafted", style="green", out=out)
    speaker.give({"file": str(out)}, str(out))


def check(
    speaker: Speaker,
    source: SourceOptions,
    as_owner: Annotated[bool, typer.Option("--as-owner")] = False,
) -> None:
    """Compare the metadata with the database."""
    from sudare.sql.execution.opening import open_described
    from sudare.sql.metadata.file import read_metadata
    from sudare.sql.metadata.promises import check_promises, require_schema

    known = read_metadata(source.metadata)
    found: list[Words] = []
    with open_described(source.database, known) as engine:
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


def ask(
    speaker: Speaker,
    connection: Connection,
    sql: str,
    account: LedgerOptions,
    *,
    again: bool = False,
    tell: Callable[..., None] | None = None,
) -> Cursor:
    """Ask a query, with a sign of life on a terminal.

    Args:
        speaker: who says what happens.
        connection: to the database.
        sql: the query.
        account: where it is charged.
        again: draw and charge anew even if it was answered before.
        tell: says what became of the charge if it is interrupted; by default the error that is shown says so too.
    """
    from sudare.sql.execution.charging import purpose_of

    with charges_told(speaker, NO_CHARGE_YET, tell):
        prepared = connection.prepare(sql)
    cost = prepared.allocation.cost
    if cost is None:
        with _waiting(speaker):
            return connection.cursor().run(prepared)
    watched = WatchedCharge(
        location=account.ledger,
        dataset=account.sql_dataset,
        purpose=purpose_of(prepared.plan),
        cost=cost,
        before=connection.ledger.head()[0],
        charged_for="query",
    )
    question = ask_before_charging_again(speaker, cost, yes=False, charged_for="query")
    with charges_told(speaker, watched, tell), _waiting(speaker) as paused:

        def ask_again(left: Sequence[Reservation]) -> None:
            with paused():  # else the sign of life writes over what is typed
                question(left)

        return connection.cursor().run(prepared, again=again, on_unfinished=ask_again)


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
def _waiting(speaker: Speaker) -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """A sign of life on a terminal; gives what pauses it."""
    if speaker.as_json or not speaker.err.is_terminal:
        yield nullcontext
        return
    with speaker.err.status(speaker.words("sql.waiting")) as status:

        @contextmanager
        def paused() -> Iterator[None]:
            status.stop()
            try:
                yield
            finally:
                status.start()

        yield paused


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
