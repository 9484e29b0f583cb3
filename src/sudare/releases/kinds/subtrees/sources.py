"""People in Spark, bounded and counted by cell, as a frame: cells are found on executors, and no count comes to the driver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from sudare.errors import PlanError, SudareError
from sudare.io.loading import read_bounds
from sudare.releases.accounts import OpenAccount
from sudare.releases.data.people import opt_outs_unknown, selection_key
from sudare.releases.kinds.subtrees.plan_file import SubtreesPlan
from sudare.spark.frames import OpenReading, open_reading
from sudare.spark.pins import InputPin

__all__ = ["PlannedCounts"]


@dataclass(frozen=True, eq=False)
class PlannedCounts:
    """The counts that a plan names.

    Attributes:
        plan: of the release.
    """

    plan: SubtreesPlan
    _open: list[OpenReading] = field(default_factory=list, repr=False)

    @contextmanager
    def session(self) -> Iterator[Any]:
        """A session of our own, with a view of the data."""
        with ExitStack() as stack:
            if not self._open:
                self._open.append(stack.enter_context(open_reading(self.plan.source, self.plan.domain)))
                stack.callback(self._open.clear)
            yield self._open[0].session

    def frame(self, session: Any, account: OpenAccount) -> tuple[Any, InputPin | None]:
        """Keys of cells and counts.

        Args:
            session: from `session`.
            account: whose cost is reserved.

        Raises:
            PlanError: if the plan does not say how those who opted out are left out.
        """
        plan, reading = self.plan, self._open[0]
        gone = account.ledger.opt_outs(account.dataset)
        is_known = plan.source.person is not None
        if gone.digests and not plan.opt_outs_removed and not is_known:
            raise PlanError(opt_outs_unknown(plan.header))
        unit = plan.unit
        limits = {"rows": unit.rows, "cells": unit.cells, "rows_per_cell": unit.rows_per_cell} if is_known else {}
        bounds, people = read_bounds(
            plan.source, limits, (gone.salt, gone.digests) if gone.digests and is_known else None
        )
        return reading.counts(bounds, selection_key(account.secret, account.charge.hash), people), reading.pin

    def explain(self, failure: Exception) -> SudareError:
        """Which column has a value that its attribute does not have, or that Spark failed."""
        return self._open[0].explain(failure)
