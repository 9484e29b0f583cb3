"""A release in the words of the registry of deployments of differential privacy that OpenDP keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sudare.privacy import ReleaseEvent
from sudare.releases.kinds.counts.plan_file import ReleasePlan
from sudare.system.clock import time_text
from sudare.tables import Published

__all__ = ["Deployment", "describe_deployment"]

FLAVOURS = {"epsilon": "Pure DP", "epsilon-delta": "Approximate DP", "rho": "Zero-concentrated DP"}
POST_PROCESSING = (
    "Counts are refined to whole numbers that are not negative, and areas to the sums of their cells, from the noisy "
    "measurements alone; this costs no budget."
)
SIGNED = (
    "Noisy counts are published in whole numbers as they were drawn, negative ones too, so that every sum is right on "
    "average."
)


@dataclass(frozen=True, kw_only=True)
class _Product:
    name: str
    data_curators: tuple[str, ...]
    description: str
    data_product_type: str
    publication_date: str


@dataclass(frozen=True, kw_only=True)
class _Flavour:
    name: str
    input_metric: str
    data_domain: str
    unprotected_quantities: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _PrivacyLoss:
    privacy_unit: str
    privacy_unit_description: str
    privacy_parameters: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class _Model:
    model_name: str
    release_type: str
    data_source_type: str
    access_type: str


@dataclass(frozen=True, kw_only=True)
class _Accounting:
    post_processing: str
    composition: str


@dataclass(frozen=True, kw_only=True)
class _Implementation:
    pre_processing_eda_hyperparameter_tuning: str
    mechanisms: str
    justification: str


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """What registries of deployments ask for. The fields, and theirs, are named as the registry names them.

    Attributes:
        product: what is published.
        dp_flavor: which definition of differential privacy holds.
        privacy_loss: who is protected, and how much.
        model: who trusts whom.
        accounting: how costs add up.
        implementation: how it was done.
    """

    product: _Product
    dp_flavor: _Flavour
    privacy_loss: _PrivacyLoss
    model: _Model
    accounting: _Accounting
    implementation: _Implementation


def describe_deployment(plan: ReleasePlan, published: Published) -> Deployment:
    """The description of a release for a registry.

    Args:
        plan: what was asked for.
        published: what was published.
    """
    event = published.event
    attributes = " x ".join(attribute.name for attribute in plan.domain.attributes)
    draws = "; ".join(f"{one.kind} with {_noise_words(one.to_dict())}" for one in event.measurements)
    post_processing = (
        _refinement_words(published),
        _recovery_words(published),
        _reference_words(plan),
        _people_words(published),
    )
    return Deployment(
        product=_Product(
            name=plan.title,
            data_curators=(plan.publisher,) if plan.publisher else (),
            description=plan.description,
            data_product_type="Summary statistics",
            publication_date=time_text()[:10],
        ),
        dp_flavor=_Flavour(
            name=FLAVOURS[event.cost.currency],
            input_metric=_input_metric(event),
            data_domain=f"Counts of {event.unit.who}s in {plan.domain.cells:,} cells: {attributes}",
            unprotected_quantities=tuple(event.invariants),
        ),
        privacy_loss=_PrivacyLoss(
            privacy_unit=event.unit.who,
            privacy_unit_description=_unit_description(event),
            privacy_parameters={name: _decimal(value) for name, value in event.cost.to_dict().items()},
        ),
        model=_Model(
            model_name="Central",
            release_type="One release",
            data_source_type="Static",
            access_type="Non-interactive",
        ),
        accounting=_Accounting(
            post_processing="".join(post_processing),
            composition=f"{len(event.measurements)} measurements, one after the other, cost {event.cost} together; "
            f"charged to the data set {plan.ledger.dataset!r} in a ledger with hash-chained entries.",
        ),
        implementation=_Implementation(
            pre_processing_eda_hyperparameter_tuning="None: the plan depends on domain, budget and workload alone.",
            mechanisms=f"{event.mechanism}: discrete noise, drawn exactly from a cryptographic generator in whole numbers. "
            + draws,
            justification="; ".join(map(str, published.plan.reasons))
            if published.plan
            else "Named by the plan of the release.",
        ),
    )


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
