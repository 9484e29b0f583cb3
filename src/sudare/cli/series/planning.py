"""What a plan of a series means: whom it protects for how long, what a window costs, and how accurate it will be."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.cli.console.budgets import budget_in_words, budget_values, unit_in_words
from sudare.cli.console.charges import opened_ledger, show_charge
from sudare.cli.console.obstacles import preflight_values, tell_preflight
from sudare.cli.console.showing import facts, heading, stack, table_of
from sudare.cli.console.speaking import Speaker
from sudare.errors import InputError, LedgerError, ParameterError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sudare.cli.console.messages import Catalogue
    from sudare.releases.kinds.series.clock import Tick
    from sudare.releases.kinds.series.plan_file import SeriesPlan
    from sudare.series.prediction import SeriesError

__all__ = ["show_series_plan"]

MOMENTS = 5
"""Ticks of a window for which errors are shown."""

MULTIPLES = (7, 30, 365)


def show_series_plan(speaker: Speaker, file: Path, *, plan_only: bool = False) -> None:
    """Show what a plan of a series means, and what is in its way. Looks at no row."""
    from sudare.releases.kinds.series.plan_file import read_series_plan
    from sudare.releases.kinds.series.running import TICKS
    from sudare.releases.preflight import find_obstacles
    from sudare.series.planning import compare_strategies, norm_of, plan_series
    from sudare.series.prediction import predict_series

    plan, words = read_series_plan(file), speaker.words
    design = plan.design
    moments = sorted({round(place * (design.ticks - 1) / (MOMENTS - 1)) for place in range(MOMENTS)})
    errors = predict_series(design, moments)
    fresh = plan_series(
        plan.domain,
        plan.budget,
        ticks=design.ticks,
        moves=plan.moves,
        who=plan.unit.who,
        span=plan.span,
        strategy="fresh",
    )
    beside = predict_series(fresh, moments)
    choices = (
        []
        if plan.span == "event"
        else list(compare_strategies(design.ticks, design.levels[-1].measurement.moves, norm_of(plan.budget)))
    )
    frozen = _frozen(plan, moments)
    shown: list[Any] = [heading(plan.title), _subject(plan, words), "", heading(words("series.accuracy"))]
    shown += [_errors(plan, errors, beside, moments, words), words("series.accuracy_note")]
    if frozen:
        shown.append(words("series.frozen", share=f"{frozen[-1]:.1%}", moves=f"{plan.typical_moves:g}"))
    elif plan.span != "event":
        shown.append(words("series.frozen_unknown"))
    if choices:
        rows = [[choice.name, f"{choice.deviation:.2f}"] for choice in choices]
        shown += [
            "",
            heading(words("series.strategies")),
            table_of([(words("series.strategy"), False), (words("series.factor"), True)], rows),
        ]
    else:
        shown += ["", words("series.event_is_fresh")]
    shown += ["", heading(words("plan.charge"))]
    with suppress(LedgerError), opened_ledger(plan.header) as ledger:
        if ledger is not None:
            shown.append(show_charge(speaker, plan.price, plan.ledger, ledger)[0])
    shown.append(_together(plan, words))
    tick = _tick_to_try(plan)
    found = None if plan_only else find_obstacles(TICKS, plan.at(tick))
    speaker.give(_values(plan, errors, beside, frozen) | preflight_values(found), stack(*shown))
    tell_preflight(speaker, found, file)


def _tick_to_try(plan: SeriesPlan) -> Tick:
    """The latest tick that is over; the first one of a series that has not begun."""
    try:
        return plan.clock.last_over(datetime.now())
    except InputError:
        return plan.clock.tick_at(plan.clock.start)


def _subject(plan: SeriesPlan, words: Catalogue) -> RenderableType:
    from sudare.releases.kinds.series.clock import period_in_words

    design, every, window = plan.design, period_in_words(plan.clock.every), period_in_words(plan.clock.window)
    moves = [str(level.measurement.moves) for level in design.levels]
    shape = " x ".join(f"{length:,}" for length in plan.domain.shape)
    lines: list[tuple[str, object]] = [
        (words("plan.cells"), f"{plan.domain.cells:,} ({shape})"),
        (words("plan.protected"), unit_in_words(plan.unit, words)),
        (words("series.every"), every.explain(words.language)),
        (words("series.window"), words("series.window_of", length=window, ticks=design.ticks)),
    ]
    if plan.span != "event":
        lines.append((words("series.moves"), ", ".join(moves)))
    lines += [
        (words("series.strategy"), ", ".join(level.strategy.name for level in design.levels)),
        (words("plan.folder"), plan.folder),
        (words("series.state"), plan.state),
    ]
    return facts(lines)


def _errors(
    plan: SeriesPlan, errors: list[SeriesError], fresh: list[SeriesError], moments: list[int], words: Catalogue
) -> RenderableType:
    """A row for each size of area, a column for each of a few times, and fresh noise at the end."""
    times = [plan.clock.tick_of(plan.clock.start, tick).begins.strftime("%H:%M") for tick in moments]
    columns = [(words("series.cells"), True), *((time, True) for time in times), (words("series.fresh"), True)]
    rows = []
    for start in range(0, len(errors), len(moments)):
        own = errors[start : start + len(moments)]
        rows.append(
            [
                f"{own[0].cells:,}",
                *(f"{one.deviation:,.1f}" for one in own),
                f"{fresh[start + len(moments) - 1].deviation:,.1f}",
            ]
        )
    step = max(1, -(-len(rows) // 8))
    return table_of(columns, rows[::step])


def _frozen(plan: SeriesPlan, moments: list[int]) -> list[float]:
    from sudare.series.prediction import frozen_share

    if plan.typical_moves is None or plan.span == "event":
        return []
    cap, ticks = plan.design.levels[-1].measurement.moves, plan.design.ticks
    return [frozen_share(cap, plan.typical_moves, tick / max(1, ticks - 1)) for tick in moments]


def _together(plan: SeriesPlan, words: Catalogue) -> str:
    """What several windows cost one person together."""
    parts = []
    for number in MULTIPLES:
        with suppress(ParameterError):  # a delta that grows beyond 1 promises nothing
            charge = budget_in_words(plan.budget.times(number), words)
            parts.append(words("series.so_many", number=number, charge=charge))
    return words(
        "series.together", charge=budget_in_words(plan.budget, words), listed=words("series.comma").join(parts)
    )


def _values(
    plan: SeriesPlan, errors: list[SeriesError], fresh: list[SeriesError], frozen: list[float]
) -> dict[str, object]:
    return {
        "plan": str(plan.file),
        "kind": "series",
        "title": plan.title,
        "cells": plan.domain.cells,
        "unit": plan.unit.to_dict(),
        "every_seconds": plan.clock.every.total_seconds(),
        "ticks": plan.clock.ticks,
        "strategies": [level.strategy.name for level in plan.design.levels],
        "moves": [level.measurement.moves for level in plan.design.levels],
        "errors": [
            {"cells": one.cells, "tick": one.tick, "deviation": one.deviation, "fresh": other.deviation}
            for one, other in zip(errors, fresh, strict=True)
        ],
        "frozen": frozen,
        "charge": budget_values(plan.budget),
        "dataset": plan.ledger.dataset,
        "folder": str(plan.folder),
    }
