"""The best choice of levels, proven: all choices form a lattice, and most of them are ruled out without a look.

A look at one choice rules out others in four ways:

- it cannot be published, and so no finer choice can;
- it can, and choices whose lower bound is not below its cost are out;
- its classes bound the cost of all coarser choices from below;
- records that must be suppressed in it must be in every finer choice, which bounds their cost from below.

The proofs are in metrics.md and in the models. The order of looks changes how many there are, not the result: of choices with
equal costs, the one with the smallest sum of levels is taken, and of those the first in the order of columns.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.errors import Described, ParameterError
from sudare.kernels.records.lattices import climb, count_finer
from sudare.microdata.search.checking import BestLevels, Checked, Checker
from sudare.microdata.search.metrics import Cost

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MAX_CHOICES", "find_optimal"]

MAX_CHOICES = 4_000_000
"""That are kept in memory one by one."""

TOLERANCE = 1e-12
"""Costs nearer than this, in parts of them, count as equal: they are sums of rounded numbers."""


def find_optimal(checker: Checker, time_limit: float | None = None) -> BestLevels:
    """Search all choices of levels.

    Args:
        checker: of the table, its models and the metric.
        time_limit: seconds after which the best choice so far is given, with what cannot be undercut.

    Raises:
        ParameterError: if there are too many choices to keep in memory.
    """
    shape = tuple(height + 1 for height in checker.tuples.heights)
    choices = int(np.prod([float(size) for size in shape]))
    if choices > MAX_CHOICES:
        got = Described("a larger one")
        requirement = Words(f"a lattice of at most {MAX_CHOICES} choices", f"選び方が {MAX_CHOICES} 通り以下の束")
        hint = "The heuristic method takes larger ones."
        raise ParameterError("hierarchies", "find_optimal", requirement, got, hint)
    return _Search(checker, shape).run(time_limit)


class _Search:
    """The state of one search."""

    def __init__(self, checker: Checker, shape: tuple[int, ...]) -> None:
        self.checker = checker
        self.shape = shape
        self.floors = checker.objective.floors()
        self.open = np.ones(shape, dtype=bool)
        levels = np.indices(shape, dtype=np.int32).reshape(len(shape), -1)
        self.sums = levels.sum(axis=0)
        order = np.lexsort((np.arange(self.sums.size), self.sums))
        rank = np.empty(self.sums.size, dtype=np.int64)
        rank[order] = np.arange(self.sums.size)
        self.rank = rank.reshape(shape)
        self.hopeful = np.zeros(shape, dtype=bool)
        self.best: Checked | None = None

    def run(self, time_limit: float | None) -> BestLevels:
        """Look at choices until none is left that could be better."""
        end = None if time_limit is None else time.monotonic() + time_limit
        top = self._look(tuple(size - 1 for size in self.shape))
        if top.is_allowed and not self.checker.is_inherited:
            # Nothing rules out finer choices here but what costs less: find that first.
            self._descend(top)
        while self.open.any():
            if end is not None and time.monotonic() > end:
                break
            self._look_along(self._chain())
        return self._found()

    def _descend(self, here: Checked) -> None:
        """Go down, always to the cheapest finer neighbour that can be published."""
        while True:
            best = here
            for column, level in enumerate(here.levels):
                finer = (*here.levels[:column], level - 1, *here.levels[column + 1 :])
                if level and self.open[finer]:
                    found = self._look(finer)
                    if found.is_allowed and found.cost < best.cost:
                        best = found
            if best is here:
                return
            here = best

    def _found(self) -> BestLevels:
        is_over = not self.open.any()
        best = self.best
        cost: Cost = (np.inf,) if best is None else best.cost
        bound = cost
        if not is_over:
            flat = self.floors[self.open]
            bound = tuple(flat[np.lexsort(flat.T[::-1])[0]].tolist())
            bound = min(bound, cost)
        levels = None if best is None else best.levels
        return BestLevels(levels, cost, bound, self.checker.checked, self.open.size, is_over)

    def _chain(self) -> list[tuple[int, ...]]:
        """From the open choice with the lowest bound upwards, always to where the most open choices lie below.

        Choices that are known not to rule out finer ones end the chain; those that merely cost too much do not, because more
        may be ruled out from there.
        """
        start = int(np.argmin(np.where(self.open, self.floors[..., 0], np.inf)))
        finer = np.empty(self.open.size, dtype=np.int32)
        sizes = np.array(self.shape, dtype=np.int64)
        count_finer(self.open.reshape(-1), sizes, finer)
        chain = np.empty(sum(self.shape) + 1, dtype=np.int64)
        length = climb(start, finer, self.hopeful.reshape(-1), sizes, chain)
        axes = np.unravel_index(chain[:length], self.shape)
        return [tuple(levels) for levels in np.stack(axes, axis=1).tolist()]

    def _look_along(self, chain: list[tuple[int, ...]]) -> None:
        """Look at choices of a chain, halving it, so that its first one is ruled out or looked at in the end.

        What fails may rule out all below it; else the search goes on below it.
        """
        low, high = 0, len(chain) - 1
        while low <= high and self.open[chain[low]]:
            middle = (low + high) // 2
            if self._look(chain[middle]).fails_below:
                low = middle + 1
            else:
                high = middle - 1

    def _look(self, levels: tuple[int, ...]) -> Checked:
        """Look at one choice, and rule out what follows from it."""
        found = self.checker.check(levels)
        self.open[levels] = False
        finer = tuple(slice(0, level + 1) for level in levels)
        coarser = tuple(slice(level, None) for level in levels)
        if found.fails_below:
            self.open[finer] = False
        if not found.fails_below:
            self.hopeful[coarser] = True
        if found.is_allowed and self._is_better(found):
            self.best = found
            self._close(tuple(slice(None) for _ in self.shape))
        objective = self.checker.objective
        floor = objective.floor_of_coarser(found.grouped)
        if floor is not None:
            np.maximum(self.floors[coarser], floor, out=self.floors[coarser])
            self._close(coarser)
        if not found.fails_below and not found.needed.all():
            floors = objective.floors_of_finer(found.grouped, found.needed)
            if floors is not None:
                self._raise_floors(finer, floors)
                self._close(finer)
        return found

    def _raise_floors(self, where: tuple[slice, ...], floors: NDArray[np.float64]) -> None:
        old = self.floors[where]
        if old.shape[-1] == 1:
            np.maximum(old, floors, out=old)
        else:
            higher = self.open[where].copy()
            higher[higher] = _is_less(old[higher], floors[higher], 0.0)
            old[higher] = floors[higher]

    def _is_better(self, found: Checked) -> bool:
        if self.best is None:
            return True
        mine, theirs = np.array(found.cost), np.array(self.best.cost)
        if _is_less(mine, theirs, TOLERANCE):
            return True
        return not _is_less(theirs, mine, TOLERANCE) and bool(self.rank[found.levels] < self.rank[self.best.levels])

    def _close(self, where: tuple[slice, ...]) -> None:
        """Rule out choices that are not better than the best one."""
        if self.best is None:
            return
        best = np.array(self.best.cost)
        open_ones = self.open[where]
        floors = self.floors[where][open_ones]
        is_less = _is_less(floors, best, TOLERANCE)
        is_first = self.rank[where][open_ones] < self.rank[self.best.levels]
        open_ones[open_ones] = is_less | (is_first & ~_is_less(best, floors, TOLERANCE))


def _is_less(left: NDArray[np.float64], right: NDArray[np.float64], tolerance: float) -> NDArray[np.bool_]:
    """Whether costs are below others, compared part by part."""
    slack = tolerance * np.maximum(1.0, np.minimum(np.abs(left), np.abs(right)))
    below, above = left < right - slack, left > right + slack
    result: NDArray[np.bool_] = below[..., -1]
    for part in range(below.shape[-1] - 2, -1, -1):
        result = below[..., part] | (~above[..., part] & result)
    return result
