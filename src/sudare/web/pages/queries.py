"""Questions in SQL: what can be asked, what it costs, the answer with its errors, and what was asked before."""

from __future__ import annotations

import shutil
from contextlib import suppress
from datetime import datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.responses import RedirectResponse
from starlette.routing import Route

from sudare.errors import InputError, OutputError, SudareError, words_of_error
from sudare.ledger import open_ledger
from sudare.parameters import show_fraction
from sudare.privacy import Budget, Unit
from sudare.web.command_lines import command_line
from sudare.web.content.asking_sql import (
    MAX_ROWS,
    SqlPlace,
    accounts_in,
    answer_rows,
    databases_in,
    history_of,
    likely_place,
    metadata_in,
    refuse_unfinished,
    sql_folder,
)
from sudare.web.context import Form, context_of, form_page, plain_page
from sudare.web.pages.plans import budget_in_words
from sudare.web.rendering import language_of, page
from sudare.web.words import TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from sudare.sql.execution.connection import Connection
    from sudare.sql.execution.pricing import Price
    from sudare.sql.metadata.model import TableMetadata
    from sudare.web.workspace import WorkFolder

__all__ = ["ROUTES", "ask_query", "make_metadata", "show_new_metadata", "show_queries"]

MAX_SQL = 20_000
MAX_PURPOSE = 200
"""Letters of a question that the ledger keeps."""
EXAMPLE = "SELECT count(*) …"
METADATA, LEDGER = "metadata.toml", "budget.db"


@plain_page
def show_queries(request: Request) -> Response:
    """What can be asked; the price of a question, when there is one."""
    workspace, given = context_of(request).workspace, dict(request.query_params)
    if "data" not in given:
        return _page(request, workspace, given)
    place, sql = _place(given), _sql(given)
    with place.connect(workspace, reads_later=True) as connection:
        if not sql:
            return _page(request, workspace, given, place=place, connection=connection)
        try:
            priced = connection.price(sql)
        except SudareError as error:
            problem = words_of_error(error)
            return _page(request, workspace, given, place=place, connection=connection, problem=problem, status=400)
        more = connection.remaining_queries(sql)
        changes = connection.prepare(sql).plan.changes
        return _page(
            request,
            workspace,
            given,
            place=place,
            connection=connection,
            priced=priced,
            more=more,
            changes=changes,
            command=place.command("price", sql),
        )


@form_page
def ask_query(request: Request, form: Form) -> Response:
    """Ask a question whose price was confirmed."""
    workspace = context_of(request).workspace
    place, sql = _place(form), _sql(form)
    with place.connect(workspace) as connection:
        prepared = connection.prepare(sql)
        priced = connection.price(sql)
        if form.get("confirmed", "") != _confirmed(priced.cost):
            raise InputError(TEXTS["queries.changed_price"])
        cursor = connection.cursor().run(prepared, on_unfinished=refuse_unfinished)
        answer = answer_rows(cursor)
        return _page(
            request,
            workspace,
            form,
            place=place,
            connection=connection,
            answer=answer,
            charged="" if cursor.cost is None else budget_in_words(cursor.cost),
            entry=cursor.entry,
            is_repeated=cursor.is_repeated,
            changes=cursor.changes,
            command=place.command("run", sql),
        )


@plain_page
def show_new_metadata(request: Request) -> Response:
    """A draft of the metadata of a file, made from its schema."""
    from sudare.engines import open_engine
    from sudare.sql.metadata.describing import describe

    name = request.query_params.get("file", "")
    file = context_of(request).workspace.place(name)
    with open_engine(file, reads_later=True) as engine:
        draft = describe(engine, language=language_of(request))
    commands = [command_line("sql", "describe", "--data", name)]
    return page(request, "queries_new.html.jinja", commands=commands, file=name, stem=file.stem, draft=draft)


@form_page
def make_metadata(request: Request, form: Form) -> Response:
    """Write metadata that somebody completed, with a new ledger: both, or nothing."""
    from sudare.sql.metadata.file import parse_metadata

    workspace = context_of(request).workspace
    file = workspace.place(form.get("file", ""))
    text = form.get("text", "").replace("\r\n", "\n")
    known = parse_metadata(text, METADATA)
    total = Budget(epsilon=_epsilon(form.get("total", "")))
    folder = workspace.free_folder(sql_folder(file.name))
    try:
        folder.mkdir()
        (folder / METADATA).write_text(text, encoding="utf-8")
        with open_ledger(folder / LEDGER, create=True) as ledger:
            ledger.add_dataset(folder.name, total, unit=Unit(known.who, adjacency=known.adjacency))
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        raise OutputError(TEXTS["problem"]) from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    named = {
        "data": workspace.name_of(file),
        "metadata": workspace.name_of(folder / METADATA),
        "account": f"{workspace.name_of(folder / LEDGER)}::{folder.name}",
    }
    return RedirectResponse(f"/queries?{urlencode(named)}", status_code=303)


def _page(
    request: Request,
    workspace: WorkFolder,
    given: Mapping[str, str],
    *,
    place: SqlPlace | None = None,
    connection: Connection | None = None,
    command: str = "",
    status: int = 200,
    priced: Price | None = None,
    **shown: object,
) -> Response:
    values: dict[str, object] = {"problem": None, "answer": None, "changes": (), "more": None}
    values |= {"charged": "", "entry": None, "is_repeated": False, "place": place, "priced": priced}
    tables: Iterable[TableMetadata] = ()
    balances: list[tuple[str, str]] = []
    lines: list[tuple[int, str, str, str, str]] = []
    databases, files, accounts = databases_in(workspace), metadata_in(workspace), accounts_in(workspace)
    likely = likely_place(databases, files, accounts)
    if place is not None and connection is not None:
        tables = connection.metadata.tables.values()
        balances = [(one.name, budget_in_words(one.remaining)) for one in connection.balances()]
        history = history_of(workspace.place(place.ledger), place.dataset)
        lines = [
            (number, _when(time), what, budget_in_words(cost), _again(place, what, cost))
            for number, time, what, cost in history
        ]
        command = command or place.command("run", given.get("sql", "") or EXAMPLE)
    elif databases:
        command = command_line("sql", "describe", "--data", likely[0])
    values |= shown
    return page(
        request,
        "queries.html.jinja",
        status=status,
        commands=[command] if command else [],
        given=given,
        databases=databases,
        metadata_files=files,
        accounts=accounts,
        likely=likely,
        tables=[_table(table) for table in tables],
        balances=balances,
        history=lines,
        epsilon="0.5" if place is None else str(place.epsilon),
        sql=given.get("sql", ""),
        max_rows=MAX_ROWS,
        confirmed="" if priced is None else _confirmed(priced.cost),
        cost="" if priced is None or priced.cost is None else budget_in_words(priced.cost),
        after=[] if priced is None else [budget_in_words(one) for one in priced.remaining],
        shared=values,
    )


def _again(place: SqlPlace, sql: str, cost: Budget) -> str:
    """Where a question of the history is shown once more, which costs nothing; empty if its text or its epsilon is not known."""
    epsilon, (first, *_) = cost.to_dict().get("epsilon", ""), sql.lower().split() or [""]
    if not epsilon or first not in ("select", "with") or len(sql) >= MAX_PURPOSE:
        return ""
    where = {"data": place.data, "metadata": place.metadata, "account": f"{place.ledger}::{place.dataset}"}
    return f"/queries?{urlencode(where | {'epsilon': show_fraction(Fraction(epsilon)), 'sql': sql})}#price"


def _table(table: TableMetadata) -> dict[str, object]:
    from sudare.sql.metadata.writing import type_to_text

    columns = [
        (
            column.name,
            type_to_text(column.type),
            "" if column.low is None else f"{column.low} … {column.high}",
            "" if column.values is None else ", ".join(map(str, column.values[:8])),
        )
        for column in list(table.columns.values())[:500]
    ]
    return {"name": table.name, "is_public": table.public, "columns": columns}


def _place(given: Mapping[str, str]) -> SqlPlace:
    ledger, _, dataset = given.get("account", "").partition("::")
    return SqlPlace(
        data=given.get("data", ""),
        metadata=given.get("metadata", ""),
        ledger=ledger,
        dataset=dataset,
        epsilon=_epsilon(given.get("epsilon", "") or "0.5"),
    )


def _sql(given: Mapping[str, str]) -> str:
    sql = given.get("sql", "").strip()
    if len(sql) > MAX_SQL:
        raise InputError(TEXTS["queries.too_long"])
    return sql


def _epsilon(text: str) -> Decimal:
    with suppress(InvalidOperation):
        value = Decimal(text.strip())
        if value.is_finite() and 0 < value <= 1000:
            return value
    raise InputError(TEXTS["queries.no_epsilon"].format(value=text[:40]))


def _confirmed(cost: Budget | None) -> str:
    return "nothing" if cost is None else str(cost)


def _when(moment: str) -> str:
    return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M}"


ROUTES = (
    Route("/queries", show_queries),
    Route("/queries/ask", ask_query, methods=["POST"]),
    Route("/queries/new", show_new_metadata),
    Route("/queries/new", make_metadata, methods=["POST"]),
)
