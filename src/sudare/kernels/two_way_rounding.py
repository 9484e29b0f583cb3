"""The whole table of given row and column sums that is nearest to a real one: a flow of least cost between rows.

Every cell pays ``once`` for its first step up; each step beyond costs ``further`` more, and a step down ``further`` less
``once``. At first every column takes its cheapest steps, which meets the columns' sums. Then surplus moves from rows that have
too much to rows that have too little along the cheapest ways (Dijkstra with potentials), where the way from one row to another
goes through the column in which that is cheapest. Costs are convex, so that the last table is one of least cost.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from sudare.kernels.compiling import called, kernel

__all__ = ["nearest_steps"]


@called
def price_up(step: Any, once: Any, further: Any) -> Any:
    """Of one more step from here."""
    if step == 0:
        return once
    return once + further if step > 0 else once - further


@called
def price_down(step: Any, once: Any, further: Any, whole: Any) -> Any:
    """What one step less saves; minus infinity where there is none."""
    return price_up(step - 1, once, further) if step > -whole else -inf


@called
def room_up(step: Any) -> Any:
    """How many steps up have the same price."""
    if step == 0:
        return 1
    return np.int64(2**62) if step > 0 else -step


@called
def room_down(step: Any, whole: Any) -> Any:
    """How many steps down have the same price."""
    if step == 1:
        return 1
    return step - 1 if step > 1 else whole + step


@called
def cheapest_column(steps: Any, once: Any, further: Any, whole: Any, giver: Any, taker: Any) -> Any:
    """Where moving one person from a row to another costs least, and how much."""
    best, column = inf, -1
    for k in range(steps.shape[1]):
        price = price_up(steps[taker, k], once[taker, k], further) - price_down(
            steps[giver, k], once[giver, k], further, whole[giver, k]
        )
        if price < best:
            best, column = price, k
    return best, column


@called
def fill_columns(steps: Any, once: Any, order: Any, further: Any, whole: Any, missing: Any) -> Any:
    """Give every column its cheapest steps; whether all could be given."""
    height, width = steps.shape
    for k in range(width):
        left = missing[k]
        if left >= 0:
            for place in range(height):
                i = order[place, k]
                if left > 0 and once[i, k] < inf:
                    steps[i, k] = 1
                    left -= 1
            if left > 0 and further < inf:
                steps[order[0, k], k] += left
                left = 0
        elif further < inf:
            for place in range(height - 1, -1, -1):
                i = order[place, k]
                taken = min(-left, whole[i, k])
                steps[i, k] -= taken
                left += taken
        if left != 0:
            return False
    return True


@called
def refresh(i: Any, k: Any, steps: Any, once: Any, further: Any, whole: Any, prices: Any, columns: Any) -> None:
    """Bring the prices between rows up to date after a cell has changed."""
    down = price_down(steps[i, k], once[i, k], further, whole[i, k])
    up = price_up(steps[i, k], once[i, k], further)
    for other in range(steps.shape[0]):
        if other == i:
            continue
        given = price_up(steps[other, k], once[other, k], further) - down
        if given < prices[i, other]:
            prices[i, other], columns[i, other] = given, k
        elif columns[i, other] == k:
            prices[i, other], columns[i, other] = cheapest_column(steps, once, further, whole, i, other)
        taken = up - price_down(steps[other, k], once[other, k], further, whole[other, k])
        if taken < prices[other, i]:
            prices[other, i], columns[other, i] = taken, k
        elif columns[other, i] == k:
            prices[other, i], columns[other, i] = cheapest_column(steps, once, further, whole, other, i)


@kernel(
    "boolean(float64[:, ::1], int64[:, ::1], int64[:, ::1], int64[::1], int64[::1], float64, int64[:, ::1])",
    read_only=(0, 1, 2, 3, 4),
)
def nearest_steps(
    once: Any, order: Any, whole: Any, row_missing: Any, column_missing: Any, further: Any, steps: Any
) -> Any:
    """Steps up and down from whole numbers that meet what is missing at the least cost; whether there are any.

    Args:
        once: the price of each cell's first step up; infinity where it may not change.
        order: the rows of each column, in ascending order of the price.
        whole: how far each cell may go down.
        row_missing: what the steps of each row must add up to.
        column_missing: what the steps of each column must add up to.
        further: how much more a step costs beyond the first one up; infinity if there may be none.
        steps: the result; zeros at first.
    """
    height, width = steps.shape
    if not fill_columns(steps, once, order, further, whole, column_missing):
        return False
    prices = np.full((height, height), inf)
    columns = np.full((height, height), -1, dtype=np.int64)
    for i in range(height):
        for other in range(height):
            if other != i:
                prices[i, other], columns[i, other] = cheapest_column(steps, once, further, whole, i, other)
    surplus = -row_missing.copy()
    for i in range(height):
        for k in range(width):
            surplus[i] += steps[i, k]
    potential = np.zeros(height)
    through = np.empty(height, dtype=np.int64)
    for source in range(height):
        while surplus[source] > 0:
            distance = np.full(height, inf)
            before = np.full(height, -1, dtype=np.int64)
            is_done = np.zeros(height, dtype=np.bool_)
            distance[source] = 0.0
            end = -1
            while True:
                nearest = -1
                for i in range(height):
                    if not is_done[i] and distance[i] < inf and (nearest < 0 or distance[i] < distance[nearest]):
                        nearest = i
                if nearest < 0:
                    return False
                is_done[nearest] = True
                if surplus[nearest] < 0:
                    end = nearest
                    break
                for other in range(height):
                    if not is_done[other] and prices[nearest, other] < inf:
                        way = max(prices[nearest, other] + potential[nearest] - potential[other], 0.0)
                        if distance[nearest] + way < distance[other]:
                            distance[other], before[other] = distance[nearest] + way, nearest
            for i in range(height):
                potential[i] += min(distance[i], distance[end]) if is_done[i] else distance[end]
            amount = min(surplus[source], -surplus[end])
            taker = end
            while taker != source:
                giver = before[taker]
                through[taker] = columns[giver, taker]
                k = through[taker]
                amount = min(amount, room_up(steps[taker, k]), room_down(steps[giver, k], whole[giver, k]))
                taker = giver
            surplus[source] -= amount
            surplus[end] += amount
            taker = end
            while taker != source:
                steps[before[taker], through[taker]] -= amount
                steps[taker, through[taker]] += amount
                taker = before[taker]
            taker = end
            while taker != source:
                refresh(before[taker], through[taker], steps, once, further, whole, prices, columns)
                refresh(taker, through[taker], steps, once, further, whole, prices, columns)
                taker = before[taker]
    return True
