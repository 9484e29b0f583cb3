"""``release.json`` of a release that a cluster drew: nothing of it depends on the data but through what was published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare.privacy import ReleaseEvent
from sudare.releases.accounts import OpenAccount
from sudare.releases.data.domains import describe_domain
from sudare.releases.documents import InputHash, Promise, ReleaseDocument, describe_head, describe_promise
from sudare.releases.subtrees.plan import SUBTREES_FORMAT, SubtreePlan
from sudare.spark.pins import InputPin, PinRecord

__all__ = ["PublishedParts", "SubtreesDocument", "write_subtrees_document"]

PACKAGES = ("numpy", "pyarrow", "cryptography")
OF_COUNTS = (
    "HMAC-SHA256 of digests of the true counts, with a key that stays in the ledger. "
    "The ledger has it from before the noise was drawn."
)


@dataclass(frozen=True, kw_only=True)
class PublishedParts:
    """The published table in a few numbers.

    Attributes:
        total: of all counts.
        non_empty_cells: that are published.
        parts: in how many files.
        count: what is counted.
    """

    total: int
    non_empty_cells: int
    parts: int
    count: str


@dataclass(frozen=True, kw_only=True, eq=False)
class SubtreesDocument(ReleaseDocument):
    """``release.json`` of a release that a cluster drew.

    Attributes:
        promise: what the guarantee means for one person.
        published: the table in a few numbers.
        domain: the cells; a file has their keys, in the order of the domain.
        input: a hash that proves the true counts.
        pin: which state of the data was read, if it was read from a plan.
    """

    promise: Promise
    published: PublishedParts
    domain: Mapping[str, Any]
    input: InputHash
    pin: PinRecord | None = None


def write_subtrees_document(
    plan: SubtreePlan,
    event: ReleaseEvent,
    account: OpenAccount,
    files: Sequence[Path],
    published: PublishedParts,
    keyed_hash: str,
    pin: InputPin | None,
) -> SubtreesDocument:
    """The document of a release."""
    return SubtreesDocument(
        head=describe_head(SUBTREES_FORMAT, plan.header, files, PACKAGES),
        event=event,
        ledger=account.charge,
        promise=describe_promise(event),
        published=published,
        domain=describe_domain(plan.domain),
        input=InputHash(keyed_hash=keyed_hash, note=OF_COUNTS),
        pin=None if pin is None else pin.record(account.secret, account.charge.hash),
    )
