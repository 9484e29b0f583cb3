"""What a ledger hands out."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256

from sudare.errors import Described, LedgerError, ParameterError
from sudare.privacy.budget import Budget
from sudare.privacy.unit import Unit

__all__ = ["Dataset", "Finding", "NewPublicationError", "OptOuts", "Reservation", "commitment_of", "digest_of"]


class NewPublicationError(LedgerError):
    """Something was published about a data set since its publications were looked at."""


@dataclass(frozen=True)
class Dataset:
    """A data set under a ledger, at one moment.

    Attributes:
        name: what the ledger calls it.
        total: how much may be spent on it altogether.
        unit: who is protected.
        description: in the words of whoever added it.
        spent: what releases have cost; None if nothing.
        reserved: what is set aside for releases that are not settled; None if nothing. It counts as spent.
        remaining: what is left for new releases; None if nothing.
        publications: how many results without differential privacy were noted. They cost nothing and no budget covers them.
    """

    name: str
    total: Budget
    unit: Unit
    description: str
    spent: Budget | None
    reserved: Budget | None
    remaining: Budget | None
    publications: int = 0


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
class Finding:
    """Something in a ledger that is not as it was written.

    Attributes:
        entry: the number of the entry; None if it is not about one entry.
        english: what is wrong.
        japanese: the same.
    """

    entry: int | None
    english: str
    japanese: str

    def explain(self, language: str) -> str:
        """The sentence in a language: Japanese for ``"ja"``, English otherwise."""
        return self.japanese if language == "ja" else self.english


def digest_of(salt: str, person: str) -> str:
    """The salted hash of a person's identifier: SHA-256 of the salt, a zero byte and the identifier, in UTF-8.

    Example:
        >>> digest_of("ab", "person 7")[:8]
        '357e7347'
    """
    if not isinstance(person, str) or not person:
        # The identifier itself is personal: only its type is shown.
        got = Described("an empty text" if person == "" else f"an object of type {type(person).__name__}")
        raise ParameterError("person", "opt_out", "a person's identifier as text", got)
    return sha256(f"{salt}\0{person}".encode("utf-8", "surrogatepass")).hexdigest()


def commitment_of(secret: str, salt: str) -> str:
    """What the ledger's entries say of a data set's secret and salt: enough to notice a change, nothing to guess from."""
    return sha256(f"{secret} {salt}".encode()).hexdigest()
