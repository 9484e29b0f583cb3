"""The kind ``subtrees``, from a plan file: what it adds to `sudare.releases.subtrees.job`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sudare.errors import LedgerError, PlanError
from sudare.ledger import Dataset
from sudare.releases.data.people import opt_outs_unknown, rows_not_bounded
from sudare.releases.kinds.subtrees.plan_file import SubtreesPlan, read_subtrees_plan
from sudare.releases.kinds.subtrees.sources import PlannedCounts
from sudare.releases.subtrees.job import SubtreeJob, SubtreesKind, require_cluster

__all__ = ["SUBTREES", "PlannedJob", "PlannedSubtrees"]


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedJob(SubtreeJob):
    """A release that a plan file describes.

    Attributes:
        planned: what the file says.
    """

    planned: SubtreesPlan


class PlannedSubtrees(SubtreesKind):
    """Tables that are drawn by the executors of a cluster, from plan files."""

    def read_plan(self, file: Path, folder: Path | None = None) -> PlannedJob:
        """Read a plan; see `sudare.releases.kinds.subtrees.plan_file`."""
        planned = read_subtrees_plan(file, folder)
        counts = PlannedCounts(planned)
        return PlannedJob(plan=planned.job, counts=counts, accept_missing=planned.accept_missing, planned=planned)

    def require_account(self, plan: SubtreeJob, dataset: Dataset) -> None:
        """Where rows are not bounded person by person, a plan must count with as many as the ledger says there may be."""
        planned = _planned(plan)
        refusal = rows_not_bounded(planned.unit, dataset) if planned.source.person is None else None
        if refusal is not None:
            raise LedgerError(refusal)

    def require_source(self, plan: SubtreeJob, *, has_opted_out: bool) -> None:
        """Refuse a cluster that cannot be reached or does not protect what it is given, and data that lacks a column."""
        planned = _planned(plan)
        if has_opted_out and planned.source.person is None and not planned.opt_outs_removed:
            raise PlanError(opt_outs_unknown(planned.header))
        with plan.counts.session() as session:
            require_cluster(plan, session)


def _planned(plan: SubtreeJob) -> SubtreesPlan:
    if not isinstance(plan, PlannedJob):
        raise TypeError("a release that no plan file describes")
    return plan.planned


SUBTREES = PlannedSubtrees()
