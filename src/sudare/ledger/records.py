"""The values that a ledger returns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from typing import Any, Literal

from sudare.bilingual import Worded, Words
from sudare.border.frames import ShownRows
from sudare.errors import Described, LedgerError, ParameterError
from sudare.ledger.amounts import Amount
from sudare.ledger.rules import CompositionRule, Cost, RhoFilter
from sudare.privacy.budget import Budget
from sudare.privacy.unit import Unit

__all__ = [
    "BegunTick",
    "Dataset",
    "FilterBalance",
    "Finding",
    "NewPublicationError",
    "OptOuts",
    "Reservation",
    "TickRefusal",
    "TickRefusedError",
    "Window",
    "WindowState",
    "commitment_of",
    "digest_of",
]


class NewPublicationError(LedgerError):
    """Something was published about a data set since its publications were looked at."""


TickRefusal = Literal["published", "missing", "other input", "other plan", "beyond", "closed", "not begun"]


class TickRefusedError(LedgerError):
    """A tick cannot be begun, settled or declared missing.

    Attributes:
        kind: ``"published"`` before; ``"missing"`` for good; ``"other input"`` than it was begun with, so that it is missing
            from now on; ``"other plan"`` than it was begun with; ``"beyond"`` the end of the window; ``"closed"``, the window;
            ``"not begun"``.
    """

    def __init__(self, kind: TickRefusal, words: Words) -> None:
        super().__init__(words.english, words.japanese)
        self.kind = kind


@dataclass(frozen=True)
class Dataset(ShownRows):
    """A data set under a ledger, at one moment.

    Attributes:
        name: what the ledger calls it.
        unit: who is protected.
        description: as given when it was added.
        rule: by which costs add up to the total.
        charged: what releases have cost, as the rule counts.
        held: what is set aside for releases that are not settled, as the rule counts. It counts as spent.
        publications: how many results without differential privacy were noted. They cost nothing and no budget covers them.
    """

    name: str
    unit: Unit
    description: str
    rule: CompositionRule
    charged: Amount
    held: Amount
    publications: int = 0

    def frame_columns(self) -> Mapping[str, Any]:
        """One row: who is protected, and what was spent, is reserved and is left, in the currency of the total."""
        total, parts = self.total, {"spent": self.spent, "reserved": self.reserved, "remaining": self.remaining}
        columns: dict[str, object] = {"dataset": [self.name], "unit": [self.unit.who], "total": [str(total)]}
        for name, budget in parts.items():
            is_rho = budget is not None and budget.currency == "rho"
            columns[name] = [0.0 if budget is None else float(budget.rho if is_rho else budget.epsilon)]
            columns[f"{name}_delta"] = [0.0 if budget is None or is_rho else float(budget.delta)]
        is_rho = any(budget is not None and budget.currency == "rho" for budget in (total, *parts.values()))
        return {**columns, "currency": ["rho" if is_rho else "epsilon"], "publications": [self.publications]}

    @property
    def total(self) -> Budget:
        """How much may be spent on it altogether."""
        return self.rule.total

    @property
    def spent(self) -> Budget | None:
        """What releases have cost; None if nothing. Under a rho filter this, like the next two, is a rho."""
        return self.rule.to_budget(self.charged)

    @property
    def reserved(self) -> Budget | None:
        """What is set aside for releases that are not settled; None if nothing."""
        return self.rule.to_budget(self.held)

    @property
    def remaining(self) -> Budget | None:
        """What is left for new releases; None if nothing."""
        return self.rule.to_budget(self.left)

    @property
    def committed(self) -> Amount:
        """What is spent or set aside, as the rule counts."""
        return self.charged + self.held

    @property
    def left(self) -> Amount:
        """What is left for new releases, as the rule counts."""
        whole, committed = self.rule.limit, self.committed
        # Not by the subtraction of amounts, which may round up.
        return Amount(whole.main - committed.main, whole.delta - committed.delta)

    @property
    def filter(self) -> FilterBalance | None:
        """The balance of a rho filter in epsilon and delta; None under sums."""
        if not isinstance(self.rule, RhoFilter):
            return None
        return FilterBalance(
            self.rule, self.rule.in_epsilon(self.committed), self.rule.next_epsilon(self.left), self.left.delta
        )

    def charge(self, cost: Budget, noise: Amount | None = None) -> Amount:
        """What a cost takes; see `sudare.ledger.rules.Rule.charge`.

        Raises:
            LedgerError: if costs of this kind cannot be taken from this total.
        """
        return self.rule.charge(cost, self.name, noise)

    def after(self, costs: Iterable[Cost]) -> Amount | None:
        """What would be left after some costs; None if they are not allowed.

        Raises:
            LedgerError: if costs of this kind cannot be taken from this total.
        """
        main, delta = self.left.main, self.left.delta
        for cost, noise in costs:
            charge = self.charge(cost, noise)
            main, delta = main - charge.main, delta - charge.delta
        return Amount(main, delta) if min(main, delta) >= 0 else None


@dataclass(frozen=True)
class FilterBalance:
    """What a rho filter means in epsilon and delta.

    Attributes:
        rule: the filter.
        committed: the (epsilon, delta) of all that is spent or reserved, had it been fixed beforehand; None if nothing is.
        next_epsilon: the largest epsilon of a single pure release that still fits; None if none does.
        reserve_left: the delta that is left for releases with a delta of their own.
    """

    rule: RhoFilter
    committed: Budget | None
    next_epsilon: Fraction | None
    reserve_left: Fraction


@dataclass(frozen=True)
class Reservation:
    """A cost that is set aside, and counts as spent until it is settled or cancelled.

    Attributes:
        number: of its entry in the ledger.
        dataset: which data set.
        cost: the most that the release may cost.
        fingerprint: of the release; the same for identical releases.
    """

    number: int
    dataset: str
    cost: Budget
    fingerprint: str


@dataclass(frozen=True)
class Window:
    """A window of ticks that is reserved for as a whole.

    Attributes:
        number: of the entry that reserved for it.
        dataset: which data set.
        cost: the most that all its ticks together may cost.
        fingerprint: of the window; no other has the same.
        ticks: how many it has; the first is 0.
    """

    number: int
    dataset: str
    cost: Budget
    fingerprint: str
    ticks: int

    @property
    def reservation(self) -> Reservation:
        """What is set aside for it."""
        return Reservation(self.number, self.dataset, self.cost, self.fingerprint)


@dataclass(frozen=True)
class BegunTick:
    """A tick whose noise may be used, for the input with this hash and no other.

    Attributes:
        number: of the entry that began it.
        window: to which it belongs.
        tick: which one, from 0.
        fingerprint: of what is published at it.
        input_hash: keyed hash of its input.
        entry_hash: of the entry that began it; whoever keeps it notices an old copy of the ledger by `Windows.require_seen`.
    """

    number: int
    window: Window
    tick: int
    fingerprint: str
    input_hash: str
    entry_hash: str

    @property
    def dataset(self) -> str:
        """Which data set."""
        return self.window.dataset

    @property
    def cost(self) -> Budget:
        """Of the whole window: a tick has no cost of its own."""
        return self.window.cost


@dataclass(frozen=True)
class WindowState:
    """A window at one moment.

    Attributes:
        window: which one.
        unit: who is protected, and over which time.
        purpose: for people.
        opened_at: when, by the clock of the machine that opened it.
        last_tick: the latest tick that was begun or declared missing; -1 before the first.
        settled: how many ticks were published.
        missing: the ticks that will never be, in order.
        open_tick: the tick that was begun, and neither settled nor declared missing; None if there is none.
        closed_by: number of the entry that closed the window; None while it is open.
        charged: what it takes of the total: what is reserved for it, or was settled; None if it was given back.
    """

    window: Window
    unit: Unit
    purpose: str
    opened_at: str
    last_tick: int
    settled: int
    missing: tuple[range, ...]
    open_tick: int | None
    closed_by: int | None
    charged: Budget | None

    @property
    def is_closed(self) -> bool:
        """Whether no tick can be begun any more."""
        return self.closed_by is not None

    @property
    def is_given_back(self) -> bool:
        """Whether its reservation was given back, before any tick was named."""
        return self.is_closed and self.charged is None

    @property
    def missed(self) -> int:
        """How many ticks will never be published."""
        return sum(len(ticks) for ticks in self.missing)

    @property
    def to_come(self) -> int:
        """How many ticks may still be published, one that is begun included."""
        return 0 if self.is_closed else self.window.ticks - self.settled - self.missed

    def is_missing(self, tick: int) -> bool:
        """Whether a tick was declared missing."""
        return any(tick in ticks for ticks in self.missing)

    def to_dict(self) -> dict[str, object]:
        """Plain values, for JSON."""
        return {
            "number": self.window.number,
            "fingerprint": self.window.fingerprint,
            "purpose": self.purpose,
            "opened_at": self.opened_at,
            "unit": self.unit.to_dict(),
            "cost": self.window.cost.to_dict(),
            "charged": None if self.charged is None else self.charged.to_dict(),
            "ticks": self.window.ticks,
            "last_tick": self.last_tick,
            "settled": self.settled,
            "missing": [[ticks[0], ticks[-1]] for ticks in self.missing],
            "missed": self.missed,
            "to_come": self.to_come,
            "open_tick": self.open_tick,
            "is_closed": self.is_closed,
            "closed_by": self.closed_by,
        }


@dataclass(frozen=True)
class OptOuts:
    """Who is not to be counted, as salted hashes.

    Attributes:
        salt: of the data set; keep it as secret as the data.
        digests: of everybody who opted out.
        last_entry: number of the latest opt-out; 0 if there is none.
    """

    salt: str = field(repr=False)
    digests: frozenset[str]
    last_entry: int

    def __contains__(self, person: str) -> bool:
        """Whether a person has opted out."""
        return digest_of(self.salt, person) in self.digests


@dataclass(frozen=True)
class Finding(Worded):
    """Something in a ledger that is not as it was written.

    Attributes:
        entry: the number of the entry; None if it is not about one entry.
        words: what is wrong.
    """

    entry: int | None
    words: Words

    def to_dict(self) -> dict[str, int | str | None]:
        """Plain values, for JSON."""
        return {"entry": self.entry, "english": self.english, "japanese": self.japanese}


def digest_of(salt: str, person: str) -> str:
    """The salted hash of a person's identifier: SHA-256 of the salt, a zero byte and the identifier, in UTF-8.

    Example:
        >>> digest_of("ab", "person 7")[:8]
        '357e7347'
    """
    if not isinstance(person, str) or not person:
        # The identifier itself is personal: only its type is shown.
        got = Described("an empty text" if person == "" else f"an object of type {type(person).__name__}")
        raise ParameterError("person", "opt_out", Words("a person's identifier as text", "人の識別子の文字列"), got)
    return sha256(f"{salt}\0{person}".encode("utf-8", "surrogatepass")).hexdigest()


def commitment_of(secret: str, salt: str) -> str:
    """What the ledger's entries say of a data set's secret and salt: enough to notice a change, nothing to guess from."""
    return sha256(f"{secret} {salt}".encode()).hexdigest()
