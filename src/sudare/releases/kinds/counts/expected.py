"""What to expect of a release: predicted from its plan before anything is spent, and from the published table afterwards."""

from __future__ import annotations

from collections.abc import Callable

from sudare.accuracy import Accuracy, predict_accuracy
from sudare.domain import CountTable
from sudare.io import read_counts
from sudare.releases.kinds.counts.plan_file import ReleasePlan
from sudare.tables import Published

__all__ = ["accuracy_of_plan", "accuracy_of_release"]


def accuracy_of_plan(plan: ReleasePlan, progress: Callable[[float], None] | None = None) -> Accuracy:
    """What to expect of a release, from its plan and its public reference alone.

    Raises:
        InputError: if the reference cannot be read.
    """
    reference = None
    if plan.reference is not None:
        reference = read_counts(plan.reference.source, plan.domain, memory=plan.memory)
    return _predict(plan, reference=reference, people=plan.people, progress=progress)


def accuracy_of_release(plan: ReleasePlan, published: Published) -> Accuracy:
    """What to expect of a release that was made, by making it again from what was published: post-processing.

    What is published looks like the truth but for its errors, so that errors of publishing it once more are like them. Those of a
    signed table are its noise alone, whatever the table: any other will do.
    """
    if isinstance(published.table, CountTable):
        return _predict(plan, reference=published.reference, stand_in=published.table)
    return _predict(plan, reference=published.reference, people=max(published.table.total, 1))


def _predict(
    plan: ReleasePlan,
    *,
    reference: CountTable | None,
    stand_in: CountTable | None = None,
    people: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Accuracy:
    return predict_accuracy(
        plan.domain,
        plan.budget,
        plan.method if plan.predicted is None else plan.predicted,
        people=people,
        stand_in=stand_in,
        reference=reference,
        unit=plan.unit,
        public_total=plan.public_total,
        progress=progress,
        **({} if plan.predicted is not None else dict(plan.settings)),
    )
