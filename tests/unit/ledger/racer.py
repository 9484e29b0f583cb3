"""One of several processes that race for the last budget of a data set; started by the tests of the ledger.

Waits for all others, then reserves until it is refused, settling every second reservation. Writes down what it got.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

from sudare import Budget, ReleaseEvent, Unit
from sudare.errors import BudgetExceededError, LedgerError
from sudare.ledger import open_ledger
from sudare.ledger.postgres_store import PostgresStore
from sudare.ledger.sqlite_store import SqliteStore
from sudare.privacy import LaplaceMeasurement, sensitivity_of_counts


def forget_the_lock() -> None:
    """A broken twin: every statement on its own, as if a ledger were an ordinary table."""

    @contextmanager
    def no_transaction(self: object, *, write: bool) -> Iterator[None]:
        yield

    SqliteStore.transaction = no_transaction  # type: ignore[method-assign]
    PostgresStore.transaction = no_transaction  # type: ignore[method-assign]


def race(location: str, part: Fraction, folder: Path, number: int, has_lock: bool) -> None:
    """Race for parts of a budget, beginning when there is a file ``go`` in a folder; the outcome stands there afterwards."""
    if not has_lock:
        forget_the_lock()
    unit, cost = Unit("person"), Budget(epsilon=part)
    measurement = LaplaceMeasurement.for_budget(cost, sensitivity_of_counts(unit))
    event = ReleaseEvent("laplace", unit, cost, (measurement,), "secure")
    reserved = settled = errors = 0
    with open_ledger(location) as ledger:
        (folder / f"{number}.ready").touch()
        while not (folder / "go").exists():
            time.sleep(0.001)
        while errors < 100:
            try:
                reservation = ledger.reserve("census", cost, unit=unit, fingerprint=f"{reserved:064x}")
                reserved += 1
                if reserved % 2:
                    ledger.settle(reservation, event)
                    settled += 1
            except BudgetExceededError:
                break
            except LedgerError:
                errors += 1
    outcome = {"reserved": reserved, "settled": settled, "errors": errors}
    (folder / f"{number}.json").write_text(json.dumps(outcome), encoding="utf-8")
