"""What a collector keeps of reports: their counts where those are enough, else the reports themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ReportBatch"]


@dataclass(frozen=True, eq=False)
class ReportBatch:
    """Checked reports of one randomizer.

    Attributes:
        people: how many reported.
        counts: what an estimate needs, one number for each value; those of two batches add up. None where counts are not enough.
        reports: the reports, batch after batch, where there are no counts.
    """

    people: int
    counts: NDArray[np.int64] | None = None
    reports: tuple[NDArray[Any], ...] = ()

    def all_reports(self) -> NDArray[Any]:
        """The reports in one array."""
        return np.concatenate(self.reports)
