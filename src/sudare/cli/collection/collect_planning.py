"""Which randomizer to take, and how accurate its estimates will be: before anybody is asked."""

from __future__ import annotations

from typing import Annotated

import typer

from sudare.cli.console.budgets import read_decimal
from sudare.cli.console.showing import facts, stack, table_of
from sudare.cli.console.speaking import Speaker

__all__ = ["plan"]


def plan(
    speaker: Speaker,
    people: Annotated[int, typer.Option("--people", metavar="N", min=1, show_default=False)],
    values: Annotated[int | None, typer.Option("--values", metavar="N", min=2, show_default=False)] = None,
    low: Annotated[str | None, typer.Option("--low", metavar="NUMBER", show_default=False)] = None,
    high: Annotated[str | None, typer.Option("--high", metavar="NUMBER", show_default=False)] = None,
    epsilon: Annotated[str | None, typer.Option("--epsilon", metavar="NUMBER", show_default=False)] = None,
    k: Annotated[str | None, typer.Option("--k", metavar="NUMBER", show_default=False)] = None,
) -> None:
    """Choose a randomizer and predict the error of its estimates."""
    is_number = low is not None and high is not None
    if (values is None) != is_number or (low is None) != (high is None) or (epsilon is None) == (k is None):
        raise speaker.mistake("collect.plan_needs")
    if is_number and epsilon is None:
        raise speaker.mistake("collect.mean_needs_epsilon")
    if values is None:
        _mean(speaker, people, str(low), str(high), str(epsilon))
    else:
        _values(speaker, people, values, epsilon, k)


def _values(speaker: Speaker, people: int, values: int, epsilon: str | None, k: str | None) -> None:
    from sudare.collect.randomizers.planning import plan_collection
    from sudare.collect.transitions.rounding import cautious_digits

    made = plan_collection(
        people,
        values,
        epsilon=None if epsilon is None else read_decimal("epsilon", epsilon),
        k=None if k is None else read_decimal("k", k),
    )
    words = speaker.words
    rows = [
        [each.kind, f"{each.standard_error():,.1f}", f"{each.standard_error() / people:.2%}", f"{each.report_bits:,}"]
        for each in made.alternatives
    ]
    columns = [(words("collect.method"), False)]
    columns += [(words(f"collect.{name}"), True) for name in ("error", "share", "bits")]
    told: list[tuple[str, object]] = [(words("collect.chosen"), made.chosen.kind)]
    told.append((words("collect.epsilon"), cautious_digits(made.chosen.epsilon, up=True)))
    if made.kept is not None:
        told.append((words("collect.kept"), f"{float(made.kept):.4g}"))
    found: dict[str, object] = {
        "chosen": made.chosen.kind,
        "epsilon": made.chosen.epsilon,
        "kept": None if made.kept is None else float(made.kept),
        "alternatives": [
            {"kind": each.kind, "standard_error": each.standard_error(), "report_bits": each.report_bits}
            for each in made.alternatives
        ],
    }
    speaker.give(found, stack(facts(told), table_of(columns, rows)))


def _mean(speaker: Speaker, people: int, low: str, high: str, epsilon: str) -> None:
    from sudare.collect.randomizers.planning import plan_mean
    from sudare.collect.transitions.rounding import float_above

    made = plan_mean(
        people, read_decimal("epsilon", epsilon), low=read_decimal("low", low), high=read_decimal("high", high)
    )
    words = speaker.words
    columns = [(words("collect.method"), False), (words("collect.mean_error"), True)]
    rows = [[each.kind, f"{each.standard_error():,.4g}"] for each in made.alternatives]
    found = {
        "chosen": made.chosen.kind,
        "epsilon": float_above(made.epsilon_at_most),
        "alternatives": [{"kind": each.kind, "standard_error": each.standard_error()} for each in made.alternatives],
    }
    speaker.give(found, stack(facts([(words("collect.chosen"), made.chosen.kind)]), table_of(columns, rows)))
