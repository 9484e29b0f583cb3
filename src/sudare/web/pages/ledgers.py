"""What was spent, by whom and for what: the ledgers of the folder as a timeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.routing import Route

from sudare.bilingual import Language
from sudare.ledger import Dataset, Ledger, open_ledger
from sudare.ledger.entries import (
    Cancelled,
    DatasetAdded,
    Entry,
    OptedOut,
    PublicationNoted,
    Reserved,
    Settled,
    TickBegun,
    TickSettled,
    TicksMissed,
)
from sudare.web.command_lines import command_line
from sudare.web.content.spending import timeline_of
from sudare.web.context import context_of, plain_page
from sudare.web.pages.plans import budget_in_words
from sudare.web.rendering import language_of, page, text_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["ROUTES", "LedgerLine", "show_ledgers"]

MAX_LINES = 500
LEDGER = "budget.db"


@dataclass(frozen=True, kw_only=True)
class LedgerLine:
    """One entry, as it is shown.

    Attributes:
        number: of the entry.
        when: it was made, in the time of this machine.
        what: happened.
        cost: that it set aside; empty if none.
    """

    number: int
    when: str
    what: str
    cost: str


@plain_page
def show_ledgers(request: Request) -> Response:
    """All ledgers of the folder."""
    workspace, language = context_of(request).workspace, language_of(request)
    shown, commands = [], []
    for location in workspace.ledgers():
        with open_ledger(workspace.place(location)) as ledger:
            shown.append(
                {
                    "location": location,
                    "faults": ledger.verify(),
                    "head": ledger.head(),
                    "datasets": [_balance(dataset, ledger, language) for dataset in ledger.datasets()],
                }
            )
            commands.append(command_line("ledger", "verify", location))
            commands += [command_line("ledger", "show", location, one.name) for one in ledger.datasets()]
    commands = commands or [command_line("ledger", "create", LEDGER)]
    return page(request, "ledgers.html.jinja", commands=commands, ledgers=shown)


def _balance(dataset: Dataset, ledger: Ledger, language: Language) -> dict[str, object]:
    entries = list(ledger.entries(dataset.name))
    lines = [_line(entry, language) for entry in entries[-MAX_LINES:]]
    return {
        "name": dataset.name,
        "who": dataset.unit.who,
        "total": budget_in_words(dataset.total),
        "spent": budget_in_words(dataset.spent),
        "reserved": budget_in_words(dataset.reserved),
        "left": budget_in_words(dataset.remaining),
        "share": _share(dataset),
        "timeline": timeline_of(dataset, entries),
        "lines": list(reversed(lines)),
    }


def _share(dataset: Dataset) -> float:
    """Which part of the total is gone, by its first number."""
    left = dataset.remaining
    if left is None:
        return 1.0
    return float(1 - _first(left.to_dict()) / _first(dataset.total.to_dict()))


def _first(values: dict[str, str]) -> float:
    from fractions import Fraction

    return float(Fraction(next(iter(values.values()))))


def _line(entry: Entry, language: Language) -> LedgerLine:
    payload = entry.read()
    cost = ""
    if isinstance(payload, Reserved):
        what, cost = text_of(language, "ledger.reserved-entry", purpose=payload.purpose), budget_in_words(payload.cost)
    elif isinstance(payload, Settled):
        what = text_of(language, "ledger.settled", number=payload.reservation)
    elif isinstance(payload, Cancelled):
        what = text_of(language, "ledger.cancelled", number=payload.reservation)
    elif isinstance(payload, PublicationNoted):
        what = text_of(language, "ledger.noted", title=payload.title)
    elif isinstance(payload, DatasetAdded):
        what = text_of(language, "ledger.dataset-added")
    elif isinstance(payload, TickBegun):
        what = text_of(language, "ledger.tick-begun", tick=payload.tick, number=payload.window)
    elif isinstance(payload, TickSettled):
        what = text_of(language, "ledger.tick-settled", tick=payload.tick, number=payload.window)
    elif isinstance(payload, TicksMissed):
        what = text_of(language, "ledger.ticks-missed", first=payload.first, last=payload.last, reason=payload.reason)
    elif isinstance(payload, OptedOut):
        what = text_of(language, "ledger.opted-out")
    else:
        what = text_of(language, "ledger.rule-changed")
    return LedgerLine(number=entry.number, when=_local(entry.time), what=what, cost=cost)


def _local(moment: str) -> str:
    from datetime import datetime

    return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M %Z}"


ROUTES = (Route("/ledgers", show_ledgers),)
