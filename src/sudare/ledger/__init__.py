"""The durable ledger of privacy budgets.

Read `opening`, `ledger` (reserve, settle, cancel), `reserving` (what gives a charge back) and `charging` (the order of everything
that is charged, once), then `entries` (what is written, and its hashes), `amounts` and `rules` (what adds up, and to how much),
`windows` (repeated releases, tick by tick), `verification`, and the pages of guarantees ``ledger.md`` and ``filters.md``. `book`
reads and appends entries; `stores` is all that a database must do; `sqlite_store` and `postgres_store` do it.
"""

from sudare.ledger.entries import Entry
from sudare.ledger.ledger import Ledger
from sudare.ledger.opening import note_publication, open_ledger
from sudare.ledger.records import (
    BegunTick,
    Dataset,
    Finding,
    OptOuts,
    Reservation,
    TickRefusedError,
    Window,
    WindowState,
)
from sudare.ledger.windows import Windows

__all__ = [
    "BegunTick",
    "Dataset",
    "Entry",
    "Finding",
    "Ledger",
    "OptOuts",
    "Reservation",
    "TickRefusedError",
    "Window",
    "WindowState",
    "Windows",
    "note_publication",
    "open_ledger",
]
