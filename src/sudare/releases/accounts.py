"""The account that a release is charged to: what is looked at before it is used, and what reports say of the charge."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from sudare.errors import LedgerError
from sudare.ledger import Ledger, Reservation
from sudare.releases.header import LedgerEntryPoint

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Charge", "Identity", "OpenAccount", "describe_charge", "require_sound"]

MAX_ENTRIES_CHECKED = 500
"""Of a ledger, before each release: a tenth of a second."""


@dataclass(frozen=True)
class Charge:
    """What the ledger says about a release before it is drawn.

    Attributes:
        location: which ledger.
        dataset: which data set.
        entry: number of the reservation.
        hash: of the ledger up to there.
        remaining: what is left of the budget after it.
    """

    location: str
    dataset: str
    entry: int
    hash: str
    remaining: str


@dataclass(frozen=True, kw_only=True)
class Identity:
    """What makes a release what it is. The data is no part of it.

    Attributes:
        fingerprint: SHA-256 in hexadecimal digits; the same for plans that ask for the same at the same cost in the same folder.
        public_files: hashes of public files that belong to it, by what they are for.
    """

    fingerprint: str
    public_files: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenAccount:
    """The account of a release whose cost is reserved.

    Attributes:
        ledger: that is open.
        dataset: the account.
        secret: the data set's key, for keyed hashes of what is read.
        identity: of the release.
        charge: for the report.
    """

    ledger: Ledger
    dataset: str
    secret: bytes
    identity: Identity
    charge: Charge


def require_sound(ledger: Ledger) -> None:
    """Refuse a ledger that was changed from outside; a long one takes too long to check, and is left to its keeper.

    Raises:
        LedgerError: if it was.
    """
    findings = ledger.verify() if ledger.head()[0] <= MAX_ENTRIES_CHECKED else []
    if findings:
        raise LedgerError(
            f"The ledger was changed from outside or is damaged: {findings[0].english} `sudare ledger verify` tells more.",
            f"台帳が外部から変更されたか、壊れています: {findings[0].japanese} `sudare ledger verify` で詳しく調べられます。",
        )


def describe_charge(entry_point: LedgerEntryPoint, ledger: Ledger, reservation: Reservation) -> Charge:
    """What the ledger says of a reservation, for the report."""
    remaining = ledger.dataset(entry_point.dataset).remaining
    left = "nothing" if remaining is None else str(remaining)
    entry = ledger.entry(reservation.number)
    return Charge(entry_point.public_name, entry_point.dataset, reservation.number, entry.hash, left)
