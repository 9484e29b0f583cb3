"""A good choice of levels where there are too many to keep in memory, with a lower bound of the loss.

A descent from the coarsest choice finds a good one soon. Then boxes of choices, all between a finest and a coarsest one, are
taken in the order of their lower bounds: a look at the coarsest choice of a box rules it out, or bounds its cost, or gives a
better choice; what is left is cut in two. When the time is over, the lowest bound of the boxes that are left is a bound for
everything that was not looked at. If nothing is left before, the choice is the best one.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterator

from sudare.microdata.search.checking import BestLevels, Checked, Checker
from sudare.microdata.search.metrics import Cost

__all__ = ["descend", "find_good"]

TOLERANCE = 1e-12

Levels = tuple[int, ...]


def descend(checker: Checker, end: float | None = None) -> Checked | None:
    """From the coarsest choice down, always to the cheapest finer neighbour that can be published; None if the first cannot.

    Args:
        checker: of the table, its models and the metric.
        end: time by the monotonic clock at which to stop.
    """
    here = checker.check(checker.tuples.heights)
    if not here.is_allowed:
        return None
    while True:
        best = here
        for levels in _finer(here.levels):
            if end is not None and time.monotonic() > end:
                return best
            found = checker.check(levels)
            if found.is_allowed and found.cost < best.cost:
                best = found
        if best is here:
            return here
        here = best


def _finer(levels: Levels) -> Iterator[Levels]:
    for column, level in enumerate(levels):
        if level:
            yield (*levels[:column], level - 1, *levels[column + 1 :])


def find_good(checker: Checker, time_limit: float = 10.0) -> BestLevels:
    """Search for a cheap choice of levels within a time limit.

    Args:
        checker: of the table, its models and the metric.
        time_limit: seconds.
    """
    end = time.monotonic() + time_limit
    best = descend(checker, end)
    heights = checker.tuples.heights
    bottom = (0,) * len(heights)
    objective = checker.objective
    boxes: list[tuple[Cost, int, Levels, Levels, Checked | None]] = [
        (objective.floor(bottom), 0, bottom, heights, None)
    ]
    number = 1
    is_over = True
    while boxes:
        if best is not None and not _is_less(boxes[0][0], best.cost):
            break
        if time.monotonic() > end:
            is_over = False
            break
        bound, _, low, high, top = heapq.heappop(boxes)
        top = top or checker.check(high)
        if top.fails_below:
            continue
        if top.is_allowed and (best is None or _is_less(top.cost, best.cost)):
            best = top
        if low == high:
            continue
        bound = max(bound, objective.floor_between(low, top.grouped, top.needed))
        if best is not None and not _is_less(bound, best.cost):
            continue
        column = max(range(len(low)), key=lambda place: (high[place] - low[place]) / (heights[place] + 1))
        middle = (low[column] + high[column]) // 2
        lower_high = (*high[:column], middle, *high[column + 1 :])
        upper_low = (*low[:column], middle + 1, *low[column + 1 :])
        heapq.heappush(boxes, (bound, number, low, lower_high, None))
        heapq.heappush(boxes, (max(bound, objective.floor(upper_low)), number + 1, upper_low, high, top))
        number += 2
    choices = math.prod(height + 1 for height in heights)
    if best is None:
        cost: Cost = (math.inf,)
        return BestLevels(None, cost, cost if is_over else boxes[0][0], checker.checked, choices, is_over)
    lowest = best.cost if is_over else min(best.cost, boxes[0][0])
    return BestLevels(best.levels, best.cost, lowest, checker.checked, choices, is_over)


def _is_less(left: Cost, right: Cost) -> bool:
    """Whether a cost is below another by more than rounding."""
    for mine, theirs in zip(left, right, strict=False):
        slack = TOLERANCE * max(1.0, min(abs(mine), abs(theirs)))
        if mine < theirs - slack:
            return True
        if mine > theirs + slack:
            return False
    return False
