"""What a plan means, before anything is spent: accuracy, charge, what would remain, what is in the way. Looks at no row."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from sudare.bilingual import Words
from sudare.cli.console.budgets import (
    balance_after,
    budget_in_words,
    budget_values,
    dataset_values,
    remaining_in_words,
    unit_in_words,
)
from sudare.cli.console.failures import Failure, failure_of
from sudare.cli.console.messages import Catalogue, words_of
from sudare.cli.console.obstacles import preflight_values, tell_preflight
from sudare.cli.console.progress import progress_bars
from sudare.cli.console.showing import facts, heading, stack, table_of
from sudare.cli.console.speaking import Speaker
from sudare.errors import InputError, SudareError
from sudare.parameters import plain_number, show_fraction

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sudare.accuracy import Accuracy
    from sudare.ledger import Dataset, Ledger
    from sudare.privacy import Budget, DeltaAdvice
    from sudare.releases.kinds.counts import ReleasePlan
    from sudare.tables import Plan

__all__ = ["Balance", "balance_facts", "balance_of", "read_balance", "show_release_plan"]

FALSE_ALARM = 0.05
HOUSEHOLD = 4
MAX_GROUP_EPSILON = 50
"""Beyond it nothing is left of a guarantee for a group."""


def show_release_plan(speaker: Speaker, file: Path, *, plan_only: bool = False) -> None:
    """Show what a plan for counts means, and what is in its way."""
    from sudare.releases.kinds.counts import read_plan
    from sudare.releases.kinds.counts.running import COUNTS
    from sudare.releases.preflight import find_obstacles

    release_plan = read_plan(file)
    balance = read_balance(release_plan)
    if plan_only and isinstance(balance, Failure):
        speaker.warn(balance.words)
    accuracy = _predict(release_plan, speaker)
    advice = _advice_on_delta(release_plan)
    if advice.is_dangerous:
        speaker.warn_of("plan.delta_dangerous", **_delta_values(advice))
    found = None if plan_only else find_obstacles(COUNTS, release_plan)
    values = _values(release_plan, balance, accuracy) | preflight_values(found)
    speaker.give(values, *_shown(release_plan, balance, accuracy, speaker.words))
    tell_preflight(speaker, found, file)


def _predict(release_plan: ReleasePlan, speaker: Speaker) -> Accuracy:
    """What to expect. A reference that cannot be read yet is left out, and a remark says so."""
    from sudare.releases.kinds.counts.expected import accuracy_of_plan

    with progress_bars(speaker) as tell:
        tell("predict", None)
        try:
            return accuracy_of_plan(release_plan, lambda share: tell("predict", share))
        except InputError as error:
            if release_plan.reference is None:
                raise
            speaker.warn(words_of("plan.without_reference", reason=error.words))
            return accuracy_of_plan(replace(release_plan, reference=None), lambda share: tell("predict", share))


@dataclass(frozen=True)
class Balance:
    """What a plan would do to the budget of its data set.

    Attributes:
        dataset: as it is now.
        fits: whether the budget allows the cost.
        after: what would remain; None if nothing.
    """

    dataset: Dataset
    fits: bool
    after: Budget | None


def balance_of(release_plan: ReleasePlan, dataset: Dataset) -> Balance:
    """What a plan would do to a data set's budget.

    Raises:
        LedgerError: if the plan protects another unit, or its cost cannot be taken from this kind of budget.
    """
    from sudare.ledger.checks import require_same_unit

    require_same_unit(release_plan.unit, dataset.unit, dataset.name)
    return Balance(dataset, *balance_after(dataset, release_plan.budget))


def read_balance(release_plan: ReleasePlan, ledger: Ledger | None = None) -> Balance | Failure:
    """The balance of a plan's data set, or why it cannot be told; from the ledger, where it is open already."""
    from sudare.ledger import open_ledger

    try:
        with open_ledger(release_plan.ledger.location) if ledger is None else nullcontext(ledger) as opened:
            return balance_of(release_plan, opened.dataset(release_plan.ledger.dataset))
    except SudareError as error:
        return failure_of(error)


def balance_facts(release_plan: ReleasePlan, balance: Balance, words: Catalogue) -> RenderableType:
    """What is charged and what remains, in lines."""
    from rich.text import Text

    after = Text(budget_in_words(balance.after, words)) if balance.fits else Text(words("balance.short"), "bold red")
    return facts(
        [
            (words("balance.dataset"), balance.dataset.name),
            (words("balance.charge"), Text(budget_in_words(release_plan.budget, words), "bold")),
            (words("balance.remaining"), remaining_in_words(balance.dataset, words)),
            (words("balance.after"), after),
        ]
    )


def _values(release_plan: ReleasePlan, balance: Balance | Failure, accuracy: Accuracy) -> dict[str, object]:
    from sudare.tables.publishing import publishes_signed

    predicted = release_plan.predicted
    ledger: dict[str, object] = {"dataset": release_plan.ledger.dataset}
    if isinstance(balance, Failure):
        ledger["error"] = balance.to_dict()
    else:
        ledger |= dataset_values(balance.dataset) | {"allows": balance.fits, "after": budget_values(balance.after)}
    return {
        "plan": str(release_plan.file),
        "title": release_plan.title,
        "cells": release_plan.domain.cells,
        "shape": list(release_plan.domain.shape),
        "unit": release_plan.unit.to_dict(),
        "charge": budget_values(release_plan.budget),
        "best_power": _best_power(release_plan),
        "method": release_plan.method,
        "mechanism": predicted.mechanism if predicted else release_plan.method,
        "noise": predicted.noise if predicted else None,
        "signed": publishes_signed(release_plan.method, release_plan.settings),
        "errors": [error.to_dict() for error in accuracy.errors],
        "area_errors": [asdict(error) for error in predicted.errors] if predicted else [],
        "basis": accuracy.basis,
        "people": list(accuracy.people),
        "measurements": [level.to_dict() for level in predicted.levels] if predicted else [],
        "alternatives": [other.to_dict() for other in predicted.alternatives] if predicted else [],
        "reasons": [str(reason) for reason in predicted.reasons] if predicted else [],
        "reasons_in_words": [reason.to_dict() for reason in predicted.reasons] if predicted else [],
        "invariants": list(predicted.invariants) if predicted else [],
        "delta": _advice_on_delta(release_plan).to_dict() | {"is_used": _uses_delta(release_plan)},
        "ledger": ledger,
        "folder": str(release_plan.folder),
    }


def _shown(
    release_plan: ReleasePlan, balance: Balance | Failure, accuracy: Accuracy, words: Catalogue
) -> list[RenderableType]:
    parts: list[RenderableType] = [heading(release_plan.title), _subject(release_plan, words), ""]
    parts += _accuracy(release_plan, accuracy, words)
    parts += ["", heading(words("plan.charge"))]
    if isinstance(balance, Failure):
        parts.append(
            facts(
                [
                    (words("balance.charge"), budget_in_words(release_plan.budget, words)),
                    (words("balance.remaining"), words("balance.unknown")),
                ]
            )
        )
    else:
        parts.append(balance_facts(release_plan, balance, words))
    parts += ["", *_delta(release_plan, words)]
    return [stack(*parts)]


def _advice_on_delta(release_plan: ReleasePlan) -> DeltaAdvice:
    """From the plan alone: the number of people is the public one that it states, or none."""
    from sudare.privacy import advise_delta

    return advise_delta(release_plan.budget, release_plan.people)


def _uses_delta(release_plan: ReleasePlan) -> bool:
    """Whether the noise is one that a delta makes smaller."""
    from sudare.tables.registry import mechanism_named

    if release_plan.predicted is not None:
        return release_plan.predicted.noise == "gaussian"
    mechanism = mechanism_named(release_plan.method)
    return mechanism.noise_for(release_plan.budget, release_plan.settings) == "gaussian"


def _delta(release_plan: ReleasePlan, words: Catalogue) -> list[RenderableType]:
    """Which delta to take, and why."""
    from sudare.privacy.composition import growth_of_delta

    advice = _advice_on_delta(release_plan)
    values = _delta_values(advice)
    size = words("plan.delta_for" if advice.people else "plan.delta_for_any", **values)
    currency = release_plan.budget.currency
    lines = [words(f"plan.delta_{currency.replace('-', '_')}", size=size, **values)]
    if currency == "epsilon-delta":
        if not _uses_delta(release_plan):
            lines.append(words("plan.delta_unused"))
        elif advice.noise_ratio is not None:
            lines.append(words("plan.delta_costs", noise=f"{advice.noise_ratio - 1:.0%}", **values))
        if release_plan.budget.epsilon <= MAX_GROUP_EPSILON:
            growth = float(growth_of_delta(release_plan.budget.epsilon, HOUSEHOLD))
            lines.append(
                words("plan.delta_group", members=HOUSEHOLD, who=release_plan.unit.who, growth=f"{growth:,.1f}")
            )
    if advice.people is None and currency != "epsilon":
        lines.append(words("plan.delta_people"))
    return [heading("delta"), *(f"- {line}" for line in lines)]


def _delta_values(advice: DeltaAdvice) -> dict[str, str]:
    return {
        "people": f"{advice.people or 0:,}",
        "suggested": plain_number(f"{float(advice.suggested):.0e}"),
        "given": show_fraction(advice.given or Fraction(0)),
        "exposed": f"{float(advice.exposed or 0):,.3g}",
        "epsilon": f"{float(advice.epsilon or 0):.3g}",
    }


def _subject(release_plan: ReleasePlan, words: Catalogue) -> RenderableType:
    unit, predicted = release_plan.unit, release_plan.predicted
    shape = " x ".join(f"{length:,}" for length in release_plan.domain.shape)
    from sudare.privacy.guarantee_words import of_one_unit
    from sudare.releases.page_numbers import percent_rounded_up
    from sudare.tables.planning.plan_words import of_quantity
    from sudare.tables.publishing import publishes_signed

    power = _best_power(release_plan)
    lines: list[tuple[str, object]] = [
        (words("plan.cells"), f"{release_plan.domain.cells:,} ({shape})"),
        (words("plan.protected"), unit_in_words(unit, words)),
        (
            words("plan.promise"),
            words(
                "plan.power",
                who=of_one_unit(unit.who),
                power=percent_rounded_up(power),
                alarm=percent_rounded_up(FALSE_ALARM),
            ),
        ),
        (words("plan.method"), _method(release_plan).explain(words.language)),
    ]
    if publishes_signed(release_plan.method, release_plan.settings):
        lines.append((words("plan.counts"), words("plan.signed")))
    if predicted and predicted.invariants:
        quantities = [Words(name, of_quantity(name).ja) for name in predicted.invariants]
        lines.append((words("plan.exact"), Words.joined(quantities).explain(words.language)))
    lines.append((words("plan.folder"), release_plan.folder))
    return facts(lines)


def _method(release_plan: ReleasePlan) -> Words:
    """How the table is published. In English, names stand as plans spell them."""
    from sudare.tables.planning.plan_words import of_mechanism, other_noise

    if release_plan.predicted is None:
        return Words(release_plan.method, of_mechanism(release_plan.method).ja)
    mechanism, noise = release_plan.predicted.mechanism, release_plan.predicted.noise
    return Words.joined([Words(mechanism, of_mechanism(mechanism).ja), Words(noise, other_noise(noise).japanese)])


def _accuracy(release_plan: ReleasePlan, accuracy: Accuracy, words: Catalogue) -> list[RenderableType]:
    predicted = release_plan.predicted
    language, metres = words.language, _metres(release_plan)
    columns = [(name, place > 0) for place, name in enumerate(accuracy.headings(language))]
    rows = accuracy.rows(language)
    if metres is not None:
        columns.insert(1, (words("plan.size"), True))
        for row, error in zip(rows, accuracy.errors, strict=True):
            row.insert(1, "" if error.side is None else _length(metres * error.side))
    parts: list[RenderableType] = [heading(words("plan.accuracy")), table_of(columns, rows)]
    parts += [accuracy.basis_in_words(language), accuracy.note(language)]
    if accuracy.basis == "invented" and release_plan.people is None:
        parts.append(words("plan.state_people"))
    if predicted is not None and predicted.errors:
        is_map = predicted.kind_of_parts == "areas" and release_plan.workload is None
        parts += _all_areas(predicted, metres, words) if is_map else _parts(release_plan, predicted, metres, words)
    if predicted is not None and predicted.alternatives:
        parts += ["", heading(words("plan.alternatives"))]
        others = [
            [
                o.words.explain(language),
                f"x {o.ratio:.2f}",
                f"x {o.worst_ratio:.2f}",
            ]
            for o in predicted.alternatives
        ]
        names = ("plan.mechanism", "plan.ratio", "plan.worst")
        parts.append(table_of([(words(name), name in names[1:]) for name in names], others))
    if predicted is not None and predicted.reasons:
        reasons = [reason.explain(language) for reason in predicted.reasons]
        parts += [heading(words("plan.why")), *(f"- {reason}" for reason in reasons)]
    return parts


def _all_areas(predicted: Plan, metres: int | None, words: Catalogue) -> list[RenderableType]:
    """What the plan says of all areas of each size, inhabited or not."""
    of_everybody = [error for error in predicted.errors if not error.margin] or predicted.errors
    rows = []
    for error in of_everybody:
        size = [] if metres is None else [_length(metres * error.side)]
        ends = f"{error.all_low:,.1f} - {error.all_high:,.1f}"
        rows.append([f"{error.side:,}", *size, f"± {error.all_rmse:,.1f}", ends])
    names = ["plan.side", *([] if metres is None else ["plan.size"]), "plan.typical", "plan.interval"]
    table = table_of([(words(name), True) for name in names], rows)
    return ["", heading(words("plan.all_areas")), table, words("plan.all_areas_note")]


def _parts(release_plan: ReleasePlan, predicted: Plan, metres: int | None, words: Catalogue) -> list[RenderableType]:
    """What the plan says of each part of its workload, where people are and everywhere."""
    rows = []
    for error in predicted.errors:
        size = [] if metres is None else ["" if error.name else _length(metres * error.side)]
        ends = [f"{error.low:,.1f} - {error.high:,.1f}", f"{error.all_low:,.1f} - {error.all_high:,.1f}"]
        rows.append([error.of_what(words.language, predicted.kind_of_parts), *size, f"{error.rmse:,.1f}", *ends])
    sizes = [] if metres is None else ["plan.size"]
    names = ["plan.part", *sizes, "plan.noise_alone", "plan.with_people", "plan.everywhere"]
    table = table_of([(words(name), name != "plan.part") for name in names], rows)
    title = words("plan.parts" if release_plan.workload is None else "plan.workload")
    return ["", heading(title), table, words("plan.parts_note")]


def _best_power(release_plan: ReleasePlan) -> float:
    from sudare.privacy import best_power

    return float(best_power(release_plan.budget, FALSE_ALARM))


def _metres(release_plan: ReleasePlan) -> int | None:
    """About how long a cell is, where the only attribute of the table is a mesh."""
    from sudare.domain import Mesh, MeshList, mesh_level

    attributes = release_plan.domain.attributes
    if len(attributes) == 1 and isinstance(attributes[0], (Mesh, MeshList)):
        return mesh_level(attributes[0].level).metres
    return None


def _length(metres: int) -> str:
    return f"{metres} m" if metres < 1000 else f"{metres / 1000:g} km"
