"""The order of steps: what a later step would undo is refused, and what an earlier one made untrue is not claimed.

A step that leaves groups of k records which are equal in some columns is undone by a later one that changes these columns, or
takes records away. A value that is changed at random is local differential privacy of a person's own value only if nothing before
it looked at that column: after a swap or a mean the value is made of others', and a choice of partners tells of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sudare.releases.kinds.records.steps.step import Step
from sudare.sections import Section

__all__ = ["looked_at_before", "require_order"]


def require_order(file: str, steps: Sequence[Step], quasi_identifiers: Sequence[str]) -> None:
    """Refuse a step that undoes one before it.

    Args:
        file: the plan's name.
        steps: in order.
        quasi_identifiers: of the plan.

    Raises:
        PlanError: names the step, and what it would undo.
    """
    for number, step in enumerate(steps):
        section = Section({}, f"steps {number + 1}", file, ("method", *step.keys))
        for place, earlier in enumerate(steps[:number], start=1):
            grouped = earlier.grouped_columns()
            if not grouped:
                continue
            if step.takes_records_away():
                section.refuse(
                    "method",
                    f'is "{step.name}", which takes records away from the groups of k that steps {place} makes: put it before',
                    f'の "{step.name}" は、steps {place} で作る k 件の等価クラスからレコードを除きます。その前に置いてください',
                )
            common = next((name for name in step.changed_columns(quasi_identifiers) if name in grouped), None)
            if common is not None:
                section.refuse(
                    "method",
                    f"is \"{step.name}\" on '{common}', which breaks the groups of k apart that steps {place} makes: put it "
                    "before, or leave it out",
                    f'の "{step.name}" は列「{common}」を変え、steps {place} で作る k 件の組を崩します。'
                    "その前に置くか、除いてください",
                )


def looked_at_before(steps: Sequence[Step], number: int, quasi_identifiers: Sequence[str]) -> bool:
    """Whether a step changes a column at random that a step before it looked at.

    Args:
        steps: in order.
        number: of the step, from 0 on.
        quasi_identifiers: of the plan.
    """
    column = steps[number].randomized_column()
    return column is not None and any(
        column in earlier.looked_at_columns(quasi_identifiers) for earlier in steps[:number]
    )
