"""What a plan means, before anything is spent: accuracy, charge, what would remain. Looks at no data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sudare.cli.budgets import balance_after, budget_in_words, budget_values, dataset_values, unit_in_words
from sudare.cli.failures import Failure, failure_of
from sudare.cli.messages import Words
from sudare.cli.showing import facts, heading, stack, table_of
from sudare.cli.speaking import Speaker
from sudare.errors import SudareError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sudare.ledger import Dataset
    from sudare.privacy import Budget
    from sudare.release import ReleasePlan

__all__ = ["Balance", "balance_facts", "balance_of", "plan", "read_balance"]

FALSE_ALARM = 0.05
METRES = {"1": 80_000, "2": 10_000, "5x": 5_000, "2x": 2_000, "3": 1_000, "1/2": 500, "1/4": 250, "1/8": 125}


def plan(speaker: Speaker, file: Annotated[Path, typer.Argument(metavar="PLAN.toml", show_default=False)]) -> None:
    """Show what a plan means."""
    from sudare.release import read_plan

    release_plan = read_plan(file)
    balance = read_balance(release_plan)
    if isinstance(balance, Failure):
        speaker.warn(balance.english, balance.japanese)
    speaker.give(_values(release_plan, balance), *_shown(release_plan, balance, speaker.words))
    speaker.say("plan.spends_nothing", style="dim", plan=file)


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


def read_balance(release_plan: ReleasePlan) -> Balance | Failure:
    """The balance of a plan's data set, or why it cannot be told."""
    from sudare.ledger import open_ledger

    try:
        with open_ledger(release_plan.ledger.location) as ledger:
            return balance_of(release_plan, ledger.dataset(release_plan.ledger.dataset))
    except SudareError as error:
        return failure_of(error)


def balance_facts(release_plan: ReleasePlan, balance: Balance, words: Words) -> RenderableType:
    """What is charged and what remains, in lines."""
    from rich.text import Text

    after = Text(budget_in_words(balance.after, words)) if balance.fits else Text(words("balance.short"), "bold red")
    return facts(
        [
            (words("balance.dataset"), balance.dataset.name),
            (words("balance.charge"), Text(budget_in_words(release_plan.budget, words), "bold")),
            (words("balance.remaining"), budget_in_words(balance.dataset.remaining, words)),
            (words("balance.after"), after),
        ]
    )


def _values(release_plan: ReleasePlan, balance: Balance | Failure) -> dict[str, Any]:
    predicted = release_plan.predicted
    ledger: dict[str, Any] = {"dataset": release_plan.ledger.dataset}
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
        "errors": [asdict(error) for error in predicted.errors] if predicted else [],
        "measurements": [asdict(level) for level in predicted.levels] if predicted else [],
        "alternatives": [asdict(other) for other in predicted.alternatives] if predicted else [],
        "reasons": list(predicted.reasons) if predicted else [],
        "invariants": list(predicted.invariants) if predicted else [],
        "ledger": ledger,
        "folder": str(release_plan.folder),
    }


def _shown(release_plan: ReleasePlan, balance: Balance | Failure, words: Words) -> list[RenderableType]:
    parts: list[RenderableType] = [heading(release_plan.title), _subject(release_plan, words), ""]
    parts += _accuracy(release_plan, words)
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
    return [stack(*parts)]


def _subject(release_plan: ReleasePlan, words: Words) -> RenderableType:
    unit, predicted = release_plan.unit, release_plan.predicted
    shape = " x ".join(f"{length:,}" for length in release_plan.domain.shape)
    from sudare.release.page_numbers import percent_rounded_up

    power = _best_power(release_plan)
    lines: list[tuple[str, object]] = [
        (words("plan.cells"), f"{release_plan.domain.cells:,} ({shape})"),
        (words("plan.protected"), unit_in_words(unit, words)),
        (
            words("plan.promise"),
            words("plan.power", who=unit.who, power=percent_rounded_up(power), alarm=f"{FALSE_ALARM:.0%}"),
        ),
        (words("plan.method"), f"{predicted.mechanism}, {predicted.noise}" if predicted else release_plan.method),
    ]
    if predicted and predicted.invariants:
        lines.append((words("plan.exact"), ", ".join(predicted.invariants)))
    lines.append((words("plan.folder"), release_plan.folder))
    return facts(lines)


def _accuracy(release_plan: ReleasePlan, words: Words) -> list[RenderableType]:
    from sudare.release import page_words
    from sudare.tables.maps import find_map

    predicted = release_plan.predicted
    parts: list[RenderableType] = [heading(words("plan.accuracy"))]
    if predicted is None:
        return [*parts, words("plan.no_prediction", method=release_plan.method)]
    metres = _metres(release_plan)
    columns = [(words("plan.side"), True), (words("plan.error"), True), (words("plan.interval"), True)]
    # Squares mean nothing where the axes are no map.
    errors = [error for error in predicted.errors if error.side == 1 or find_map(release_plan.domain) is not None]
    rows = [[f"{e.side:,}", f"± {e.rmse:,.1f}", f"{e.low:,.1f} – {e.high:,.1f}"] for e in errors]
    if metres is not None:
        columns.insert(1, (words("plan.size"), True))
        for row, error in zip(rows, errors, strict=True):
            row.insert(1, _length(metres * error.side))
    parts += [table_of(columns, rows), words("plan.inhabited")]
    if predicted.alternatives:
        parts += ["", heading(words("plan.alternatives"))]
        others = [
            [
                page_words.of_alternative(o.mechanism, o.settings).explain(words.language),
                f"x {o.ratio:.2f}",
                f"x {o.worst_ratio:.2f}",
            ]
            for o in predicted.alternatives
        ]
        names = ("plan.mechanism", "plan.ratio", "plan.worst")
        parts.append(table_of([(words(name), name in names[1:]) for name in names], others))
    if predicted.reasons:
        reasons = [page_words.of_reason(reason).explain(words.language) for reason in predicted.reasons]
        parts += [heading(words("plan.why")), *(f"- {reason}" for reason in reasons)]
    return parts


def _best_power(release_plan: ReleasePlan) -> float:
    from sudare.privacy import best_power

    return float(best_power(release_plan.budget, FALSE_ALARM))


def _metres(release_plan: ReleasePlan) -> int | None:
    """About how long a cell is, where the only attribute of the table is a mesh."""
    from sudare.domain import Mesh, mesh_level

    attributes = release_plan.domain.attributes
    if len(attributes) == 1 and isinstance(attributes[0], Mesh):
        return METRES[mesh_level(attributes[0].level).name]
    return None


def _length(metres: int) -> str:
    return f"{metres} m" if metres < 1000 else f"{metres / 1000:g} km"
