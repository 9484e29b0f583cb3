"""One of several processes that race for the last budget of a data set; started by the tests of the ledger.

Waits for a line, then reserves until it is refused, settling every second reservation. Writes down what it got.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager

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


def race(location: str, numerator: int, denominator: int) -> dict[str, int]:
    from fractions import Fraction

    unit, cost = Unit("person"), Budget(epsilon=Fraction(numerator, denominator))
    measurement = LaplaceMeasurement.for_budget(cost, sensitivity_of_counts(unit))
    event = ReleaseEvent("laplace", unit, cost, (measurement,), "secure")
    reserved = settled = errors = 0
    with open_ledger(location) as ledger:
        print("ready", flush=True)
        sys.stdin.readline()
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
    return {"reserved": reserved, "settled": settled, "errors": errors}


if __name__ == "__main__":
    if sys.argv[4:] == ["without-lock"]:
        forget_the_lock()
    print(json.dumps(race(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))), flush=True)
