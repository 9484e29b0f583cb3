"""The errors of a mechanism on a table that is public: drawn several times, compared with the table itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.accuracy.groupings import Grouping
from sudare.domain import CountTable
from sudare.domain.sparse_table import SparseTable
from sudare.noise.entropy import ResearchEntropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]
    Values = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["Tried", "errors_of", "try_out"]


DENSE = 4
MIN_DENSE = 1 << 12


@dataclass(frozen=True)
class Tried:
    """What trials on one table showed of the sums of one grouping.

    Attributes:
        mean_square: of the errors, over the sums where the table has people.
        mean_error: of the same.
        systematic_square: the mean square of the sums' expected errors, estimated without bias; may be below 0 by chance.
        resolution: the standard error of the systematic square.
    """

    mean_square: float
    mean_error: float
    systematic_square: float
    resolution: float


def try_out(
    table: CountTable,
    publish_with: Callable[[ResearchEntropy], Any],
    groupings: tuple[Grouping, ...],
    runs: int,
    seed: int,
) -> list[Tried]:
    """Publish a public table several times and measure the errors of each grouping's sums.

    Args:
        table: a public table.
        publish_with: publishes it with a source of random bits.
        groupings: what is summed.
        runs: how often, at least twice.
        seed: of the first run; the next ones follow.
    """
    sums = _sums_of(table, groupings)
    for run in range(runs):
        _add(sums, publish_with(ResearchEntropy(seed + run)).table)
    return [one.measured(runs) for one in sums]


def errors_of(true: CountTable, published: SparseTable, groupings: tuple[Grouping, ...]) -> list[float]:
    """The root mean squared errors of one release, over the sums of each grouping where the true table has people.

    **Not private**: they tell about the true table.
    """
    sums = _sums_of(true, groupings)
    _add(sums, published)
    return [float(np.sqrt(one.squares.mean())) if one.squares.size else 0.0 for one in sums]


def _sums_of(table: CountTable, groupings: tuple[Grouping, ...]) -> list[_Sums]:
    places = table.domain.places_of(table.keys)
    return [_Sums.of(table, grouping, places) for grouping in groupings]


def _add(sums: list[_Sums], published: SparseTable) -> None:
    places = published.domain.places_of(published.keys)  # once for all groupings
    for one in sums:
        one.add(published, places)


class _Sums:
    """Running sums of the errors of the groups that have people, and of their squares."""

    def __init__(self, grouping: Grouping, groups: Keys, true: Values) -> None:
        self.grouping, self.groups, self.true = grouping, groups, true
        self.errors, self.squares = np.zeros(true.size), np.zeros(true.size)

    @classmethod
    def of(cls, table: CountTable, grouping: Grouping, places: Sequence[Integers]) -> _Sums:
        of_cell = grouping.group_at(places)
        if _is_dense(grouping, of_cell):
            groups = np.flatnonzero(np.bincount(of_cell.view(np.int64))).astype(np.uint64)
            return cls(grouping, groups, _added_up(of_cell, table.counts)[groups])
        groups, inverse = np.unique(of_cell, return_inverse=True)
        return cls(grouping, groups, _added_up(inverse.astype(np.uint64), table.counts, groups.size))

    def add(self, published: SparseTable, places: Sequence[Integers]) -> None:
        if not self.groups.size:
            return
        of_cell = self.grouping.group_at(places)
        if _is_dense(self.grouping, of_cell):
            sums = _added_up(of_cell, published.counts, self.grouping.groups)[self.groups]
        else:
            at = np.minimum(np.searchsorted(self.groups, of_cell), self.groups.size - 1)
            known = self.groups[at] == of_cell
            sums = _added_up(at[known].astype(np.uint64), published.counts[known], self.groups.size)
        errors = sums - self.true
        self.errors += errors
        self.squares += errors * errors

    def measured(self, runs: int) -> Tried:
        if not self.groups.size:
            return Tried(0.0, 0.0, 0.0, 0.0)
        means = self.errors / runs
        variances = np.maximum(self.squares / runs - means * means, 0.0) * runs / (runs - 1)
        systematic = means * means - variances / runs
        # The square of a mean of normal errors around 0 has the variance 2 (v / runs)^2; sums are taken as independent.
        resolution = float(np.sqrt(2 * ((variances / runs) ** 2).sum())) / means.size
        return Tried(
            float(self.squares.sum()) / runs / means.size, float(means.mean()), float(systematic.mean()), resolution
        )


def _is_dense(grouping: Grouping, of_cell: Keys) -> bool:
    """Whether a number for every group takes no more room than the cells themselves: then nothing needs to be searched."""
    return grouping.groups <= max(DENSE * of_cell.size, MIN_DENSE)


def _added_up(of_cell: Keys, counts: NDArray[np.int64], groups: int = 0) -> Values:
    """The sum of each group; sums of whole numbers below 2**53 are exact, in whatever order."""
    return np.bincount(of_cell.view(np.int64), weights=counts, minlength=groups).astype(np.float64, copy=False)
