"""The durable ledger of privacy budgets.

Read `opening` and `ledger` (reserve, settle, cancel), then `entries` (what is written, and its hashes), `amounts` (what adds up),
`verification`, and the page of guarantees ``ledger.md``. `stores` is all that a database must do; `sqlite_store` and
`postgres_store` do it.
"""

from sudare.ledger.entries import Entry
from sudare.ledger.ledger import Ledger
from sudare.ledger.opening import note_publication, open_ledger
from sudare.ledger.records import Dataset, Finding, OptOuts, Reservation

__all__ = ["Dataset", "Entry", "Finding", "Ledger", "OptOuts", "Reservation", "note_publication", "open_ledger"]
