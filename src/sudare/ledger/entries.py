"""The entries of a ledger: numbered without gaps, each with the hash of the one before.

What an entry says is its body, canonical JSON of one of ten shapes. The hash of an entry covers its number, time, kind, data
set, body and the previous hash, so that anyone who keeps the last hash can tell whether anything before it changed. The time is
information only; the numbers give the order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sudare.errors import LedgerError, SudareError
from sudare.ledger.amounts import Amount
from sudare.ledger.rules import RhoFilter
from sudare.privacy.budget import Budget
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.unit import Unit

__all__ = [
    "COLUMNS",
    "KEY_OF_RULE",
    "KINDS",
    "Body",
    "Cancelled",
    "DatasetAdded",
    "Entry",
    "OptedOut",
    "PublicationNoted",
    "Reserved",
    "RuleChanged",
    "Settled",
    "TickBegun",
    "TickBody",
    "TickSettled",
    "TicksMissed",
    "hash_of",
    "key_of_window",
    "keys_of_publication",
]

KEY_OF_RULE = "rule"
"""Under which the entry of a data set's changed rule stands in the table of results."""

COLUMNS = "number, time, kind, dataset, body, previous, hash"
"""Of the table of entries, in the order of the fields of `Entry`."""


def canonical_json(values: object) -> str:
    """JSON in one spelling only: sorted keys, no spaces, ASCII."""
    return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def keys_of_publication(document_sha256: str, folder: str) -> tuple[str, str]:
    """The keys of a publication in the table of results; no fingerprint of a release looks like them.

    The first key is the usual one. The second is for a document that is noted for another folder already: two runs within one
    second may write the same bytes.
    """
    key = f"publication:{document_sha256}"
    return key, f"{key}:{sha256(folder.encode()).hexdigest()}"


def key_of_window(fingerprint: str) -> str:
    """The key of a window in the table of results: the latest entry about it stands there."""
    return f"window:{fingerprint}"


def hash_of(number: int, time: str, kind: str, dataset: str, body: str, previous: str) -> str:
    """The hash of an entry: SHA-256 of all else in it, as a JSON list, which has one reading only."""
    return sha256(canonical_json([number, time, kind, dataset, body, previous]).encode()).hexdigest()


@dataclass(frozen=True)
class DatasetAdded:
    """A data set came under the ledger."""

    total: Budget
    unit: Unit
    description: str
    commitment: str
    """SHA-256 of the data set's secret and salt, so that neither can be exchanged unnoticed."""
    rule: RhoFilter | None = None
    """By which costs add up; None for sums, as in all ledgers from before there were filters."""

    def to_json(self) -> str:
        """The body of the entry."""
        values: dict[str, object] = {
            "total": self.total.to_dict(),
            "unit": self.unit.to_dict(),
            "description": self.description,
            "commitment": self.commitment,
        }
        return canonical_json(values | ({} if self.rule is None else {"filter": self.rule.to_dict()}))

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> DatasetAdded:
        """Read the values of a body."""
        total, unit = Budget.from_dict(values["total"]), Unit.from_dict(values["unit"])
        rule = RhoFilter.from_dict(total, values["filter"]) if "filter" in values else None
        return cls(total, unit, _text(values["description"]), _text(values["commitment"]), rule)


@dataclass(frozen=True)
class Reserved:
    """A cost was set aside before a release."""

    cost: Budget
    unit: Unit
    fingerprint: str
    purpose: str
    noise: Amount | None = None
    """What the release's measurements imply, where they were known and a rho filter counts them."""
    ticks: int | None = None
    """How many ticks the window has that it is for; None for a single release."""

    def to_json(self) -> str:
        """The body of the entry."""
        values: dict[str, object] = {
            "cost": self.cost.to_dict(),
            "unit": self.unit.to_dict(),
            "fingerprint": self.fingerprint,
            "purpose": self.purpose,
        }
        values |= {} if self.noise is None else {"noise": self.noise.to_text()}
        return canonical_json(values | ({} if self.ticks is None else {"ticks": self.ticks}))

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Reserved:
        """Read the values of a body."""
        cost, unit = Budget.from_dict(values["cost"]), Unit.from_dict(values["unit"])
        noise = Amount.from_text(values["noise"]) if "noise" in values else None
        ticks = _number(values["ticks"]) if "ticks" in values else None
        return cls(cost, unit, _text(values["fingerprint"]), _text(values["purpose"]), noise, ticks)


@dataclass(frozen=True)
class Settled:
    """A release was made: its event, and what the caller wants to find again."""

    reservation: int
    event: ReleaseEvent
    result: Mapping[str, str]

    def to_json(self) -> str:
        """The body of the entry."""
        event = json.loads(self.event.to_json())
        return canonical_json({"reservation": self.reservation, "event": event, "result": dict(self.result)})

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Settled:
        """Read the values of a body."""
        event = ReleaseEvent.from_json(json.dumps(values["event"]))
        return cls(_number(values["reservation"]), event, _result(values["result"]))


@dataclass(frozen=True)
class Cancelled:
    """A reservation was given back, because no noise was drawn."""

    reservation: int
    reason: str

    def to_json(self) -> str:
        """The body of the entry."""
        return canonical_json({"reservation": self.reservation, "reason": self.reason})

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Cancelled:
        """Read the values of a body."""
        return cls(_number(values["reservation"]), _text(values["reason"]))


@dataclass(frozen=True)
class TickBegun:
    """From here on the noise of a tick may be used, for one input only.

    What stands in every entry of a window, so that nobody has to read the ones before:

    Attributes:
        window: number of the entry that reserved for the window.
        settled: how many of its ticks were settled up to here.
        gap: number of its latest entry that declared ticks missing; 0 if there is none.
    """

    window: int
    tick: int
    fingerprint: str
    input_hash: str
    """Keyed, so that it tells nothing of the input."""
    settled: int
    gap: int

    def to_json(self) -> str:
        """The body of the entry."""
        return canonical_json(vars(self))

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> TickBegun:
        """Read the values of a body."""
        window, tick, settled, gap = (_number(values[name]) for name in ("window", "tick", "settled", "gap"))
        return cls(window, tick, _text(values["fingerprint"]), _text(values["input_hash"]), settled, gap)


@dataclass(frozen=True)
class TickSettled:
    """A tick was made, at no cost of its own; see `TickBegun`."""

    window: int
    tick: int
    begun: int
    """Number of the entry that began it."""
    result: Mapping[str, str]
    settled: int
    gap: int

    def to_json(self) -> str:
        """The body of the entry."""
        return canonical_json(vars(self) | {"result": dict(self.result)})

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> TickSettled:
        """Read the values of a body."""
        window, tick, begun, settled, gap = (
            _number(values[name]) for name in ("window", "tick", "begun", "settled", "gap")
        )
        return cls(window, tick, begun, _result(values["result"]), settled, gap)


@dataclass(frozen=True)
class TicksMissed:
    """Ticks that will never be published, from the first to the last; see `TickBegun`. Its gap is the one before it."""

    window: int
    first: int
    last: int
    reason: str
    settled: int
    gap: int

    def to_json(self) -> str:
        """The body of the entry."""
        return canonical_json(vars(self))

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> TicksMissed:
        """Read the values of a body."""
        window, first, last, settled, gap = (
            _number(values[name]) for name in ("window", "first", "last", "settled", "gap")
        )
        return cls(window, first, last, _text(values["reason"]), settled, gap)


@dataclass(frozen=True)
class OptedOut:
    """Somebody is not to be counted; only a salted hash of who."""

    digest: str

    def to_json(self) -> str:
        """The body of the entry."""
        return canonical_json({"digest": self.digest})

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> OptedOut:
        """Read the values of a body."""
        return cls(_text(values["digest"]))


@dataclass(frozen=True)
class PublicationNoted:
    """Something was published about the data set without differential privacy: it costs nothing, and must not be forgotten.

    Attributes:
        document_sha256: hash of the report that stands beside it.
        format: of that report, such as ``"sudare-protected-table/1"``.
        folder: where it was published.
        title: for people.
    """

    document_sha256: str
    format: str
    folder: str
    title: str

    def to_json(self) -> str:
        """The body of the entry."""
        return canonical_json(vars(self))

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> PublicationNoted:
        """Read the values of a body."""
        return cls(*(_text(values[name]) for name in ("document_sha256", "format", "folder", "title")))


@dataclass(frozen=True)
class RuleChanged:
    """From here on the costs of a data set, those before included, add up by a rho filter."""

    rule: RhoFilter

    def to_json(self) -> str:
        """The body of the entry."""
        return canonical_json({"total": self.rule.total.to_dict(), "filter": self.rule.to_dict()})

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> RuleChanged:
        """Read the values of a body."""
        return cls(RhoFilter.from_dict(Budget.from_dict(values["total"]), values["filter"]))


TickBody = TickBegun | TickSettled | TicksMissed
Body = DatasetAdded | Reserved | Settled | Cancelled | OptedOut | PublicationNoted | RuleChanged | TickBody

KINDS: Mapping[str, type[Body]] = {
    "dataset": DatasetAdded,
    "reserve": Reserved,
    "settle": Settled,
    "cancel": Cancelled,
    "opt-out": OptedOut,
    "publish": PublicationNoted,
    "rule": RuleChanged,
    "begin-tick": TickBegun,
    "settle-tick": TickSettled,
    "miss-ticks": TicksMissed,
}


@dataclass(frozen=True)
class Entry:
    """One line of the ledger.

    Attributes:
        number: 1 for the first entry, without gaps.
        time: when, in UTC by the clock of the machine that wrote it; information only.
        kind: ``"dataset"``, ``"reserve"``, ``"settle"``, ``"cancel"``, ``"opt-out"``, ``"publish"``, ``"rule"``,
            ``"begin-tick"``, ``"settle-tick"`` or ``"miss-ticks"``.
        dataset: which data set.
        body: what it says, as canonical JSON.
        previous: the hash of the entry before.
        hash: SHA-256 of all of these.
    """

    number: int
    time: str
    kind: str
    dataset: str
    body: str
    previous: str
    hash: str

    def read(self) -> Body:
        """What the entry says.

        Raises:
            LedgerError: if the kind is unknown or the body is not of its shape.
        """
        shape = KINDS.get(self.kind)
        try:
            if shape is None:
                raise ValueError("unknown kind")
            values = json.loads(self.body)
            body = shape.from_values(values)
            # A key too many, a key twice or another spelling would not come out the same.
            if body.to_json() != self.body:
                raise ValueError("not canonical")
        except (SudareError, ValueError, TypeError, KeyError, RecursionError):
            raise LedgerError(
                f"Entry {self.number} of the ledger cannot be read; 'sudare ledger verify' tells more.",
                f"台帳の {self.number} 番の項目が読めません。'sudare ledger verify' で詳しく調べられます。",
            ) from None
        return body

    def to_json(self) -> str:
        """One line of JSON for an export."""
        return json.dumps(vars(self), sort_keys=False, ensure_ascii=False)


def _text(value: object) -> str:
    if type(value) is not str:
        raise ValueError("not text")
    return value


def _number(value: object) -> int:
    if type(value) is not int:
        raise ValueError("not a whole number")
    return value


def _result(values: Any) -> dict[str, str]:
    return {_text(name): _text(value) for name, value in dict(values).items()}
