"""A shell for private SQL: a query goes on until a semicolon, a line that begins with a backslash is a command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from sudare.cli.console.failures import failure_of
from sudare.cli.console.speaking import Speaker
from sudare.cli.sql import commands as shown
from sudare.cli.sql import showing
from sudare.cli.sql.options import LedgerOptions
from sudare.errors import SudareError
from sudare.system.interrupts import Interruption, delivered_interruption, forget_interruption

if TYPE_CHECKING:
    from sudare.sql.execution.connection import Connection

__all__ = ["talk"]

PROMPT, MORE = "sudare> ", "   ...> "


def talk(speaker: Speaker, connection: Connection, account: LedgerOptions) -> int:
    """Answer whatever is typed until it ends.

    Args:
        speaker: who says what happens.
        connection: to the database.
        account: where queries are charged.

    Returns:
        0 to somebody at a terminal; to a program the exit code of the last thing that failed.
    """
    is_person = sys.stdin.isatty()
    if is_person:
        with suppress(ImportError):  # where it is there, lines can be edited and come back
            import_module("readline")
        speaker.say("sql.welcome", style="dim")
    failed = 0
    for statement in statements(_lines(speaker, is_person)):
        charge: list[_ChargeNote] = []

        def note(key: str, charge: list[_ChargeNote] = charge, **values: object) -> None:
            charge.append(_ChargeNote(key=key, values=values))

        try:
            if not _do(speaker, connection, account, statement, note):
                break
        except Interruption:
            for one in charge:
                speaker.remark(one.key, **one.values)
            raise
        except KeyboardInterrupt:
            forget_interruption()
            speaker.say("failure.interrupted")
            for one in charge:
                speaker.say(one.key, "", **one.values)
        except SudareError as error:
            if delivered_interruption() is not None:
                raise
            failed = speaker.tell_failure(failure_of(error))
    return 0 if is_person else failed


@dataclass(frozen=True, kw_only=True)
class _ChargeNote:
    """What became of a charge: a text by its key, and what stands in its blanks."""

    key: str
    values: Mapping[str, object]


def statements(lines: Callable[[bool], str | None]) -> Iterator[str]:
    r"""Queries and commands from lines.

    Args:
        lines: returns the next line; its argument says whether a statement goes on; None at the end.

    Example:
        >>> given = iter(["SELECT", "1;", "\\q", None])
        >>> list(statements(lambda goes_on: next(given)))
        ['SELECT\n1', '\\q']
    """
    waiting: list[str] = []
    while (line := lines(bool(waiting))) is not None:
        if not waiting and not line.strip():
            continue
        is_short = not waiting and line.strip() in ("\\q", "\\d", "\\budget", "\\?")
        waiting.append(line)
        if is_short or line.rstrip().endswith(";"):
            yield "\n".join(waiting).strip().removesuffix(";").rstrip()
            waiting = []
    if waiting:
        yield "\n".join(waiting).strip()


def _lines(speaker: Speaker, is_person: bool) -> Callable[[bool], str | None]:
    def read(goes_on: bool) -> str | None:
        if not is_person:
            line = sys.stdin.readline()
            return line.rstrip("\r\n") if line else None
        while True:
            try:
                return input(MORE if goes_on else PROMPT)
            except EOFError:
                return None
            except Interruption:
                raise
            except KeyboardInterrupt:
                forget_interruption()
                speaker.say("failure.interrupted")

    return read


def _do(
    speaker: Speaker, connection: Connection, account: LedgerOptions, statement: str, note: Callable[..., None]
) -> bool:
    """Carry out one statement; False at the end."""
    word, _, rest = statement.partition(" ")
    word = word.strip().partition("\n")[0]
    if not statement.startswith("\\"):
        cursor = shown.ask(speaker, connection, statement, account, tell=note)
        balances = connection.balances()
        speaker.give(showing.answer_values(cursor, balances), showing.answer_table(speaker, cursor))
        shown.tell_cost(speaker, cursor, balances)
    elif word == "\\q":
        return False
    elif word == "\\d":
        names = list(connection.metadata.tables)
        speaker.give({"tables": names}, showing.tables_shown(speaker, connection))
    elif word == "\\budget":
        balances = connection.balances()
        from sudare.cli.console.budgets import dataset_values

        values = {"balances": [dataset_values(one) for one in balances]}
        speaker.give(values, showing.balances_shown(speaker, balances))
    elif word == "\\price" and rest.strip():
        priced = connection.price(rest)
        names = [balance.name for balance in connection.balances()]
        left = connection.remaining_queries(rest)
        speaker.give(showing.price_values(priced, names, left), showing.price_shown(speaker, priced, names, left))
    elif word == "\\explain" and rest.strip():
        explained = connection.explain(rest)
        speaker.give(explained.to_dict(), explained.to_text(speaker.language))
    else:
        speaker.say("sql.shell_help")
    return True
