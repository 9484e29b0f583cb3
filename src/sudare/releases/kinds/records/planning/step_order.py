"""The order of steps: what a later step would undo is refused, and what an earlier one made untrue is not claimed.

Microaggregation leaves groups of k records that are equal in its columns. A later step that changes these columns, or takes
records away, would break the groups apart. A value that is changed at random is local differential privacy of a person's own
value only if nothing before it looked at that column: after a swap or a mean the value is made of others', and a choice of
partners tells of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sudare.releases.kinds.records.planning.step_plan import (
    ALL_STEP_KEYS,
    Anonymize,
    Microaggregate,
    Noise,
    Pram,
    SampleStep,
    Step,
    Swap,
)
from sudare.sections import Section

__all__ = ["looked_at_before", "require_order"]


def require_order(file: str, steps: Sequence[tuple[str, Step]], quasi_identifiers: Sequence[str]) -> None:
    """Refuse a step that undoes one before it.

    Args:
        file: the plan's name.
        steps: each with the name of its method.
        quasi_identifiers: of the plan.

    Raises:
        PlanError: names the step, and what it would undo.
    """
    for number, (method, step) in enumerate(steps):
        section = Section({}, f"steps {number + 1}", file, ALL_STEP_KEYS)
        for place, (_, earlier) in enumerate(steps[:number], start=1):
            if not isinstance(earlier, Microaggregate):
                continue
            if _takes_records_away(step):
                section.refuse(
                    "method",
                    f'is "{method}", which takes records away from the groups of k that steps {place} makes: put it before',
                    f'の "{method}" は、steps {place} で作る k 件の組から記録を除きます。その前に置いてください',
                )
            common = next((name for name in _changed(step, quasi_identifiers) if name in earlier.columns), None)
            if common is not None:
                section.refuse(
                    "method",
                    f"is \"{method}\" on '{common}', which breaks the groups of k apart that steps {place} makes: put it before, "
                    "or leave it out",
                    f'の "{method}" は列「{common}」を変え、steps {place} で作る k 件の組を崩します。'
                    "その前に置くか、除いてください",
                )


def looked_at_before(steps: Sequence[tuple[str, Step]], number: int, quasi_identifiers: Sequence[str]) -> bool:
    """Whether a step changes a column at random that a step before it looked at.

    Args:
        steps: each with the name of its method.
        number: of the step, from 0 on.
        quasi_identifiers: of the plan.
    """
    step = steps[number][1]
    if not isinstance(step, (Noise, Pram)):
        return False
    return any(step.column in _looked_at(earlier, quasi_identifiers) for _, earlier in steps[:number])


def _takes_records_away(step: Step) -> bool:
    if isinstance(step, Anonymize):
        return step.suppressed == "removed" and step.suppression > 0
    return isinstance(step, SampleStep)


def _changed(step: Step, quasi_identifiers: Sequence[str]) -> Sequence[str]:
    """Columns whose values are others afterwards."""
    if isinstance(step, Anonymize):
        return quasi_identifiers
    if isinstance(step, (Swap, Microaggregate)):
        return step.columns
    return (step.column,) if isinstance(step, (Noise, Pram)) else ()


def _looked_at(step: Step, quasi_identifiers: Sequence[str]) -> Sequence[str]:
    """Columns on whose values it depends what becomes of other records, or of other columns."""
    if isinstance(step, SampleStep):
        return () if step.by is None else (step.by,)
    if isinstance(step, Swap):
        return (*step.columns, *step.within, *(quasi_identifiers if step.k is not None else ()))
    if isinstance(step, Microaggregate):
        return step.columns
    return (step.column,) if isinstance(step, Pram) and step.invariant else ()
