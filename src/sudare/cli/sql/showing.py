"""Answers and prices of private SQL as people and programs see them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import floor, isfinite, log10
from typing import TYPE_CHECKING, Any

from sudare.cli.console.budgets import budget_in_words, budget_values, remaining_in_words
from sudare.cli.console.showing import facts, heading, stack, table_of
from sudare.cli.console.speaking import Speaker

if TYPE_CHECKING:
    from sudare.ledger import Dataset
    from sudare.sql.execution.answers_store import NoisyTable
    from sudare.sql.execution.connection import Connection
    from sudare.sql.execution.cursors import Cursor
    from sudare.sql.execution.pricing import Price

__all__ = ["answer_table", "answer_values", "balances_shown", "price_shown", "price_values", "tables_shown"]

MAX_SHOWN = 100


def answer_table(speaker: Speaker, cursor: Cursor) -> Any:
    """An answer with the noise beside each number."""
    charged = cursor.noisy
    columns = [column.to_pylist() for column in charged.table.columns]
    numbers = [kind in ("integer", "decimal", "float") for _, kind, *_ in cursor.description or []]
    shown = min(charged.table.num_rows, MAX_SHOWN)
    empty = [False] * shown if charged.perhaps_empty is None else charged.perhaps_empty[:shown].tolist()
    rows = [
        [_marked(speaker, charged, place, row, values[row], empty[row]) for place, values in enumerate(columns)]
        for row in range(shown)
    ]
    names = [name for name, *_ in cursor.description or []]
    if charged.table.num_rows > shown:
        more = speaker.words("sql.more", count=f"{charged.table.num_rows - shown:,}")
        rows.append([more, *[""] * (len(names) - 1)])
    table = table_of(list(zip(names, numbers, strict=True)), rows)
    notes = [speaker.words("sql.perhaps_empty")] if any(empty) else []
    return stack(table, *notes, *([speaker.words("sql.rank_error")] if charged.ranks else []))


def answer_values(cursor: Cursor, balances: Sequence[Dataset]) -> dict[str, object]:
    """An answer as it stands in JSON."""
    charged = cursor.noisy
    names = [name for name, *_ in cursor.description or []]
    return {
        "columns": names,
        "rows": [[_plain(value) for value in row] for row in cursor.fetchall()],
        "error_95": {names[place]: [_known(value) for value in reach] for place, reach in charged.reaches.items()},
        "rank_error_95": {names[place]: [int(rank) for rank in ranks] for place, ranks in charged.ranks.items()},
        "perhaps_empty": cursor.perhaps_empty,
        "noise": {names[place]: [_known(value) for value in noise] for place, noise in charged.deviations.items()},
        "cost": budget_values(cursor.cost),
        "repeated": cursor.is_repeated,
        "entry": cursor.entry,
        "remaining": {balance.name: budget_values(balance.remaining) for balance in balances},
        "changes": [{"reason": change.reason, "words": change.words.english} for change in cursor.changes],
    }


def price_values(priced: Price, names: Sequence[str], left: int | None) -> dict[str, object]:
    """A price as it stands in JSON."""
    return {
        "cost": budget_values(priced.cost),
        "answered_before": priced.is_answered,
        "allowed": priced.is_allowed,
        "remaining": {name: budget_values(part) for name, part in zip(names, priced.remaining, strict=True)},
        "queries_left": left,
        "thresholds": list(priced.thresholds),
        "columns": [_column_values(column) for column in priced.columns],
    }


def price_shown(speaker: Speaker, priced: Price, names: Sequence[str], left: int | None) -> Any:
    """A price for people."""
    from sudare.sql.execution.explaining import shown_number

    words = speaker.words
    columns = [("sql.column", False), ("sql.measured", False), ("sql.mechanism", False), ("sql.scale", True)]
    columns += [("sql.error", True), ("sql.share", True)]
    rows = []
    for column in priced.columns:
        if not column.measures:
            rows.append([column.name, words("sql.exact"), "", "", "", ""])
        for place, measure in enumerate(column.measures):
            rows.append(
                [
                    column.name if place == 0 else "",
                    measure.what,
                    words(f"sql.{measure.mechanism}"),
                    "" if measure.scale is None else shown_number(measure.scale),
                    f"± {shown_number(measure.error)}"
                    + (f" {words('sql.rows')}" if measure.unit_of_error == "rows" else ""),
                    budget_in_words(measure.budget, words),
                ]
            )
    cost = budget_in_words(priced.cost, words)
    if priced.is_answered:
        cost = words("sql.answered")
    lines: list[tuple[str, object]] = [(words("sql.cost"), cost)]
    for name, part in zip(names, priced.remaining, strict=True):
        lines.append((words("sql.remaining", name=name), budget_in_words(part, words)))
    if not priced.is_allowed:
        lines.append((words("sql.not_allowed"), ""))
    if left is not None:
        lines.append((words("sql.queries_left"), left))
    lines += [(words("sql.threshold"), threshold) for threshold in priced.thresholds]
    return stack(table_of([(words(key), number) for key, number in columns], rows), facts(lines))


def balances_shown(speaker: Speaker, balances: Sequence[Dataset]) -> Any:
    """Accounts for people."""
    words = speaker.words
    names = ("balance.dataset", "balance.total", "balance.spent", "balance.reserved", "balance.remaining")
    rows = [
        [
            one.name,
            *(budget_in_words(part, words) for part in (one.total, one.spent, one.reserved)),
            remaining_in_words(one, words),
        ]
        for one in balances
    ]
    return table_of([(words(name), name != "balance.dataset") for name in names], rows)


def tables_shown(speaker: Speaker, connection: Connection) -> Any:
    """The tables that can be asked about, for people."""
    from sudare.sql.metadata.writing import type_to_text

    words = speaker.words
    parts: list[Any] = []
    for table in connection.metadata.tables.values():
        parts.append(heading(f"{table.name} ({words('sql.public_table' if table.public else 'sql.private_table')})"))
        rows = [
            [
                column.name,
                type_to_text(column.type),
                "" if column.low is None else f"{column.low} … {column.high}",
                "" if column.values is None else ", ".join(map(str, column.values[:8])),
            ]
            for column in table.columns.values()
        ]
        keys = ("sql.column", "sql.type", "sql.bounds", "sql.values")
        parts.append(table_of([(words(key), False) for key in keys], rows))
    return stack(*parts)


def _marked(speaker: Speaker, charged: NoisyTable, place: int, row: int, value: object, empty: bool) -> str:
    """A value with its error beside it, and a mark where nobody may be behind it."""
    if place in charged.ranks:
        text = _cell(value, None)
        if value is not None:
            text = f"{text} ± {int(charged.ranks[place][row]):,} {speaker.words('sql.rows')}"
        return f"{text} *" if empty else text
    if place not in charged.reaches:
        return "NULL" if value is None else _cell(value, None)
    text = _cell(value, float(charged.reaches[place][row]))
    return f"{text} *" if empty and value is not None else text


def _cell(value: object, reach: float | None) -> str:
    if value is None:
        return "–"
    places = 0 if not reach or not isfinite(reach) else max(0, 1 - floor(log10(reach)))
    if isinstance(value, float):
        text = f"{value:,.6g}" if not places else f"{value:,.{places}f}"
    else:
        text = f"{value:,}" if isinstance(value, (int, Decimal)) and not isinstance(value, bool) else str(value)
    if reach is None or not isfinite(reach):
        return text
    return f"{text} ± {reach:,.{places}f}"


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value)
    return value if isinstance(value, (int, float, str, bool)) or value is None else str(value)


def _known(value: Any) -> float | None:
    number = float(value)
    return number if number == number else None


def _column_values(column: Any) -> dict[str, object]:
    from sudare.sql.execution.explaining import measure_values

    return {
        "name": column.name,
        "error": None if column.error is None else float(column.error),
        "measures": [measure_values(measure) for measure in column.measures],
    }
