"""``release.json``: everything that another office needs to know, and to check, about a release.

The part under ``deployment`` follows the fields of the registry of deployments of differential privacy that OpenDP keeps.
Nothing here depends on the data except through what was published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from sudare.accuracy import Accuracy
from sudare.privacy import ReleaseEvent
from sudare.releases.accounts import Charge
from sudare.releases.documents import InputHash, Promise, ReleaseDocument, describe_head, describe_promise
from sudare.releases.kinds.counts.domains import describe_domain
from sudare.releases.kinds.counts.plan_file import ReleasePlan
from sudare.system.clock import time_text
from sudare.tables import Published
from sudare.tables.planning.plan import Plan
from sudare.tables.published import ThresholdEffect

__all__ = ["DOCUMENT_FORMAT", "PAGE_FORMAT", "CountsDocument", "write_document"]

DOCUMENT_FORMAT = "sudare-release/1"
PAGE_FORMAT = 2
"""Raised whenever the same document gives another page, so that nobody compares a page with one of another form."""

FLAVOURS = {"epsilon": "Pure DP", "epsilon-delta": "Approximate DP", "rho": "Zero-concentrated DP"}
PACKAGES = ("numpy", "numba", "pyarrow", "duckdb", "cryptography")
POST_PROCESSING = (
    "Counts are refined to whole numbers that are not negative, and areas to the sums of their cells, from the noisy "
    "measurements alone; this costs no budget."
)
OF_COUNTS = (
    "HMAC-SHA256 of the reservation's hash and true counts, with a key that stays in the ledger. A plain hash would let anyone "
    "who knows all other people test who is in the data, and an unsalted one whether it has changed."
)
SIGNED = (
    "Noisy counts are published in whole numbers as they were drawn, negative ones too, so that every sum is right on "
    "average."
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
        input: by what the true counts can be proved.
        confidential: whether it is for the holder alone.
    """

    page_format: int
    deployment: Mapping[str, Any]
    promise: Promise
    method: MethodRecord
    plan: Mapping[str, Any] | None
    accuracy: Mapping[str, Any] | None
    domain: Mapping[str, Any]
    published: PublishedCounts
    reference: ReferenceRecord | None
    input: InputHash
    confidential: bool


def write_document(
    plan: ReleasePlan,
    published: Published,
    charge: Charge,
    files: Sequence[Path],
    keyed_input_hash: str,
    reference_hash: str,
    accuracy: Accuracy | None = None,
) -> CountsDocument:
    """The document of a release."""
    event = published.event
    return CountsDocument(
        head=describe_head(DOCUMENT_FORMAT, plan.header, files, PACKAGES),
        event=event,
        ledger=charge,
        page_format=PAGE_FORMAT,
        deployment=_deployment(plan, published),
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
        confidential=False,
    )


def _deployment(plan: ReleasePlan, published: Published) -> dict[str, Any]:
    event = published.event
    return {
        "product": {
            "name": plan.title,
            "data_curators": [plan.publisher] if plan.publisher else [],
            "description": plan.description,
            "data_product_type": "Summary statistics",
            "publication_date": time_text()[:10],
        },
        "dp_flavor": {
            "name": FLAVOURS[event.cost.currency],
            "input_metric": _input_metric(event),
            "data_domain": f"Counts of {event.unit.who}s in {plan.domain.cells:,} cells: "
            + " x ".join(attribute.name for attribute in plan.domain.attributes),
            "unprotected_quantities": list(event.invariants),
        },
        "privacy_loss": {
            "privacy_unit": event.unit.who,
            "privacy_unit_description": _unit_description(event),
            "privacy_parameters": {name: _decimal(value) for name, value in event.cost.to_dict().items()},
        },
        "model": {
            "model_name": "Central",
            "release_type": "One release",
            "data_source_type": "Static",
            "access_type": "Non-interactive",
        },
        "accounting": {
            "post_processing": "".join(
                (
                    _refinement_words(published),
                    _recovery_words(published),
                    _reference_words(plan),
                    _people_words(published),
                )
            ),
            "composition": f"{len(event.measurements)} measurements, one after the other, cost {event.cost} together; "
            f"charged to the data set {plan.ledger.dataset!r} in a ledger with hash-chained entries.",
        },
        "implementation": {
            "pre_processing_eda_hyperparameter_tuning": "None: the plan depends on domain, budget and workload alone.",
            "mechanisms": f"{event.mechanism}: discrete noise, drawn exactly from a cryptographic generator in whole numbers. "
            + "; ".join(f"{m.kind} with {_noise_words(m.to_dict())}" for m in event.measurements),
            "justification": "; ".join(map(str, published.plan.reasons))
            if published.plan
            else "Named by the plan of the release.",
        },
    }


def _refinement_words(published: Published) -> str:
    if published.is_signed:
        return SIGNED
    effect = published.threshold
    if effect is None:
        return POST_PROCESSING
    return (
        f"Noisy counts below {effect.threshold} are published as 0. Each empty cell so adds {effect.per_empty_cell:.6g} on "
        f"average, and all cells of the table together at most {effect.if_all_empty:.6g}; cells with few people lose some."
    )


def _recovery_words(published: Published) -> str:
    settled = published.settled
    if not settled:
        return ""
    return (
        f" Of every noisy count {settled['level']:.6g} was taken away, negative results became 0, the others were divided by "
        f"{settled['divisor']:.6g}, and all were rounded to whole numbers that add up to the total."
    )


def _reference_words(plan: ReleasePlan) -> str:
    return (
        f" The public table {plan.reference.name!r} was used, as the publisher declares it public."
        if plan.reference
        else ""
    )


def _people_words(published: Published) -> str:
    people = None if published.plan is None else published.plan.people
    if people is None:
        return ""
    return f" Errors were predicted for about {people:,} people, a number that the publisher declares public."


def _input_metric(event: ReleaseEvent) -> str:
    what = "added or removed" if event.unit.adjacency == "add-remove" else "replaced by another"
    return f"Number of {event.unit.who}s {what}"


def _unit_description(event: ReleaseEvent) -> str:
    unit = event.unit
    change = "adding or removing" if unit.adjacency == "add-remove" else "replacing"
    return f"Neighbouring tables differ by {change} one {unit.who}, who is counted " + (
        "once." if unit.rows == 1 else f"up to {unit.rows} times, in up to {unit.cells} cells."
    )


def _noise_words(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {_decimal(value)}" for key, value in values.items() if key not in ("kind", "version"))


def _decimal(value: object) -> str:
    """An exact fraction as a decimal where it is one, else to twelve digits."""
    try:
        number = Fraction(str(value))
    except ValueError:
        return str(value)
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.12g}"


def _describe_plan(plan: Plan) -> dict[str, Any]:
    return {
        "mechanism": plan.mechanism,
        "noise": plan.noise,
        "settings": {key: _plain(value) for key, value in plan.settings.items()},
        "levels": [level.to_dict() for level in plan.levels],
        "errors": [{**asdict(error), "margin": list(error.margin)} for error in plan.errors],
        "people": plan.people,
        "alternatives": [alternative.to_dict() for alternative in plan.alternatives],
        "reasons": [str(reason) for reason in plan.reasons],
        "reasons_in_words": [reason.to_dict() for reason in plan.reasons],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):  # a workload: parts with weights
        return {" x ".join(key) if isinstance(key, tuple) else str(key): _plain(item) for key, item in value.items()}
    return float(value) if isinstance(value, (Fraction, float)) else value
