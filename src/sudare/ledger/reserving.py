"""A charge from its reservation to its end: what stops before anything is drawn gives it back, whatever stops it.

The step from the reservation to the code that watches over it is not torn apart by a signal, nor is giving it back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from sudare.errors import GuaranteeError, LedgerError, ParameterError
from sudare.ledger.ledger import Ledger
from sudare.ledger.records import Reservation
from sudare.noise.entropy import times_drawn
from sudare.privacy.budget import Budget
from sudare.privacy.measurements import Measurement
from sudare.privacy.unit import Unit
from sudare.system.interrupts import uninterrupted

__all__ = ["OpenCharge", "reserved"]

REFUSALS: tuple[type[BaseException], ...] = (ParameterError, GuaranteeError)
"""What a mechanism raises before it draws, and never afterwards (a contract of every mechanism)."""


class OpenCharge:
    """A cost that is reserved, and not yet settled.

    Attributes:
        reservations: one for each account, in order.
    """

    def __init__(self, reservations: Sequence[Reservation], refusals: tuple[type[BaseException], ...]) -> None:
        self.reservations = tuple(reservations)
        self._refusals = refusals
        self._drawn_before: int | None = None
        self._is_final = False

    @property
    def reservation(self) -> Reservation:
        """Of the first account."""
        return self.reservations[0]

    def begin_drawing(self) -> None:
        """From here on a failure may depend on the data, and leaves the cost spent; a refusal to draw does not."""
        self._drawn_before = times_drawn()

    def keep(self) -> None:
        """From here on nothing gives the cost back: something has been looked at that must be paid for."""
        self._is_final = True

    def is_given_back(self, error: BaseException) -> bool:
        """Whether nothing was drawn when an error came."""
        if self._is_final:
            return False
        if self._drawn_before is None:
            return True
        # A mechanism refused, or somebody ended the process, while it was still preparing to draw. That it was is looked at:
        # a refusal that came too late must not give anything back.
        return isinstance(error, (KeyboardInterrupt, *self._refusals)) and times_drawn() == self._drawn_before


@contextmanager
def reserved(
    ledger: Ledger,
    datasets: Sequence[str],
    cost: Budget,
    *,
    unit: Unit,
    fingerprint: str,
    purpose: str = "",
    measurements: Sequence[Measurement] = (),
    refusals: tuple[type[BaseException], ...] = (),
) -> Iterator[OpenCharge]:
    """Reserve a cost in every account, or in none; an error before the first draw gives it back, and is raised again.

    Args:
        ledger: that keeps the accounts.
        datasets: the accounts.
        cost: the most that the release may cost.
        unit: who the release protects.
        fingerprint: SHA-256 in hexadecimal digits of all that makes the release what it is.
        purpose: for people.
        measurements: everything that will be drawn, where that is known; see `Ledger.reserve`.
        refusals: further exceptions that are raised before the first draw only.

    Raises:
        BudgetExceededError: if an account does not allow it.
        LedgerError: if the cost is in another currency, or the release protects another unit.
    """
    with uninterrupted() as pause:
        made: list[Reservation] = []
        charge: OpenCharge | None = None
        try:
            pause.may_end_waits = True  # for a ledger that others are writing to; nothing is reserved yet
            for name in datasets:
                made.append(
                    ledger.reserve(
                        name, cost, unit=unit, fingerprint=fingerprint, purpose=purpose, measurements=measurements
                    )
                )
            charge = OpenCharge(made, (*REFUSALS, *refusals))
            pause.may_end_waits = False
            with pause.lifted():
                yield charge
        except BaseException as error:
            pause.may_end_waits = False
            if charge is None or charge.is_given_back(error):
                for reservation in made:
                    with suppress(LedgerError):
                        ledger.cancel(reservation, type(error).__name__)
            raise
