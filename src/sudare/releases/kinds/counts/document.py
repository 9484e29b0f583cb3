"""``release.json``: everything that another office needs to know, and to check, about a release.

Nothing here depends on the data except through what was published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from sudare.accuracy import Accuracy
from sudare.releases.accounts import Charge
from sudare.releases.data.domains import describe_domain
from sudare.releases.documents import InputHash, Promise, ReleaseDocument, describe_head, describe_promise
from sudare.releases.kinds.counts.deployment import Deployment, describe_deployment
from sudare.releases.kinds.counts.plan_file import ReleasePlan
from sudare.spark.pins import PinRecord
from sudare.tables import Published
from sudare.tables.planning.plan import Plan
from sudare.tables.planning.predicted_error import PredictedError
from sudare.tables.published import ThresholdEffect

__all__ = ["DOCUMENT_FORMAT", "PAGE_FORMAT", "CountsDocument", "write_document"]

DOCUMENT_FORMAT = "sudare-release/1"
PAGE_FORMAT = 2
"""Raised whenever the same document gives another page, so that nobody compares a page with one of another form."""

PACKAGES = ("numpy", "numba", "pyarrow", "duckdb", "cryptography")
OF_COUNTS = (
    "HMAC-SHA256 of the reservation's hash and true counts, with a key that stays in the ledger. A plain hash would let anyone "
    "who knows all other people test who is in the data, and an unsalted one whether it has changed."
)


@dataclass(frozen=True, kw_only=True)
class MethodRecord:
    """How a table was published.

    Attributes:
        name: of the mechanism.
        settings: that the plan states.
        settled: what the mechanism decided from noisy counts.
    """

    name: str
    settings: Mapping[str, Any]
    settled: Mapping[str, Any] | None


@dataclass(frozen=True, kw_only=True)
class PublishedCounts:
    """The published table in a few numbers.

    Attributes:
        total: of all counts.
        non_empty_cells: that are published.
        count: what the column of counts is called.
        signed: whether counts may be negative.
        threshold: what a threshold did to the totals.
    """

    total: int
    non_empty_cells: int
    count: str
    signed: bool
    threshold: ThresholdEffect | None


@dataclass(frozen=True, kw_only=True)
class ReferenceRecord:
    """The public table that was used.

    Attributes:
        name: what it is called.
        sha256: of its files.
    """

    name: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class PlanRecord:
    """What the automatic plan expected.

    Attributes:
        mechanism: that was chosen.
        noise: of what kind.
        settings: of the mechanism.
        levels: what was measured, and how accurately.
        errors: to expect, for each size of area.
        people: about how many the errors were predicted for.
        alternatives: that were rejected.
        reasons: why, in English.
        reasons_in_words: the same in both languages.
    """

    mechanism: str
    noise: str
    settings: Mapping[str, Any]
    levels: Sequence[Mapping[str, Any]]
    errors: Sequence[PredictedError]
    people: int | None
    alternatives: Sequence[Mapping[str, Any]]
    reasons: Sequence[str]
    reasons_in_words: Sequence[Mapping[str, str]]


@dataclass(frozen=True, kw_only=True, eq=False)
class CountsDocument(ReleaseDocument):
    """``release.json`` of counts.

    Attributes:
        page_format: of the page that goes with it.
        deployment: what registries of deployments ask for.
        promise: what the guarantee means for one person.
        method: how it was published.
        plan: what the automatic plan expected; None where a mechanism was named.
        accuracy: which errors to expect.
        domain: the cells.
        published: the table in a few numbers.
        reference: the public table that was used.
        input: a hash that proves the true counts.
        pin: which state of the data was read; None where files of this machine were read without Spark.
        confidential: whether it is for the holder alone.
    """

    page_format: int
    deployment: Deployment
    promise: Promise
    method: MethodRecord
    plan: PlanRecord | None
    accuracy: Mapping[str, Any] | None
    domain: Mapping[str, Any]
    published: PublishedCounts
    reference: ReferenceRecord | None
    input: InputHash
    pin: PinRecord | None
    confidential: bool


def write_document(
    plan: ReleasePlan,
    published: Published,
    charge: Charge,
    files: Sequence[Path],
    keyed_input_hash: str,
    reference_hash: str,
    accuracy: Accuracy | None = None,
    *,
    pin: PinRecord | None = None,
) -> CountsDocument:
    """The document of a release."""
    event = published.event
    return CountsDocument(
        head=describe_head(DOCUMENT_FORMAT, plan.header, files, PACKAGES),
        event=event,
        ledger=charge,
        page_format=PAGE_FORMAT,
        deployment=describe_deployment(plan, published),
        promise=describe_promise(event),
        method=MethodRecord(
            name=event.mechanism,
            settings={key: _plain(value) for key, value in plan.settings.items()},
            settled=published.settled,
        ),
        plan=None if published.plan is None else _describe_plan(published.plan),
        accuracy=None if accuracy is None else accuracy.to_dict(),
        domain=describe_domain(plan.domain),
        published=PublishedCounts(
            total=published.table.total,
            non_empty_cells=int(published.table.keys.size),
            count=plan.count,
            signed=published.is_signed,
            threshold=published.threshold,
        ),
        reference=None if plan.reference is None else ReferenceRecord(name=plan.reference.name, sha256=reference_hash),
        input=InputHash(keyed_hash=keyed_input_hash, note=OF_COUNTS),
        pin=pin,
        confidential=False,
    )


def _describe_plan(plan: Plan) -> PlanRecord:
    return PlanRecord(
        mechanism=plan.mechanism,
        noise=plan.noise,
        settings={key: _plain(value) for key, value in plan.settings.items()},
        levels=[level.to_dict() for level in plan.levels],
        errors=plan.errors,
        people=plan.people,
        alternatives=[alternative.to_dict() for alternative in plan.alternatives],
        reasons=[str(reason) for reason in plan.reasons],
        reasons_in_words=[reason.to_dict() for reason in plan.reasons],
    )


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):  # a workload: parts with weights
        return {" x ".join(key) if isinstance(key, tuple) else str(key): _plain(item) for key, item in value.items()}
    return float(value) if isinstance(value, (Fraction, float)) else value
