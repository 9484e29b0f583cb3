"""MDAV: groups of k records that are near each other, taken from the outside in.

While 3 k records or more are left: r is the one farthest from the mean of those left, and the k nearest to r are a group;
s is the one farthest from r among the rest, and the k nearest to s are a group. With 2 k to 3 k - 1 left, there is one such
group round r, and the rest is another; with fewer, the rest is one group. Of equally far records the first counts.

Time goes by n**2 / k: each round looks at every record that is left four times.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import called, kernel

__all__ = ["group_by_distance"]


@called
def squared_distance(points: Any, row: Any, center: Any) -> Any:
    total = 0.0
    for j in range(points.shape[1]):
        difference = points[row, j] - center[j]
        total += difference * difference
    return total


@called
def farthest(points: Any, left: Any, count: Any, center: Any) -> Any:
    """The first of the rows that are left with the largest distance."""
    best, chosen = -1.0, left[0]
    for i in range(count):
        distance = squared_distance(points, left[i], center)
        if distance > best:
            best, chosen = distance, left[i]
    return chosen


@called
def take_nearest(points: Any, left: Any, count: Any, center: Any, k: Any, group: Any, groups: Any) -> Any:
    """Give a group to the k rows nearest to the center, move the others to the front, and tell how many they are."""
    distances = np.empty(k)
    nearest = np.empty(k, dtype=np.int64)
    found = 0
    for i in range(count):
        distance = squared_distance(points, left[i], center)
        if found == k and distance >= distances[k - 1]:
            continue
        if found < k:
            found += 1
        place = found - 1
        while place > 0 and distances[place - 1] > distance:
            distances[place] = distances[place - 1]
            nearest[place] = nearest[place - 1]
            place -= 1
        distances[place] = distance
        nearest[place] = left[i]
    for i in range(found):
        groups[nearest[i]] = group
    kept = 0
    for i in range(count):
        row = left[i]
        left[kept] = row
        kept += groups[row] < 0
    return kept


@kernel("int64(float64[:,::1], int64, int64[::1])", read_only=(0,))
def group_by_distance(points: Any, k: int, groups: Any) -> Any:
    """Write the group of each point and tell how many groups there are; for 1 <= k <= number of points."""
    count = points.shape[0]
    left = np.arange(count)
    center = np.empty(points.shape[1])
    groups[:] = -1
    made = 0
    while count >= 2 * k:
        center[:] = 0.0
        for i in range(count):
            for j in range(points.shape[1]):
                center[j] += points[left[i], j]
        for j in range(points.shape[1]):
            center[j] /= count
        is_last = count < 3 * k
        outermost = farthest(points, left, count, center)
        count = take_nearest(points, left, count, points[outermost], k, made, groups)
        made += 1
        if not is_last:
            opposite = farthest(points, left, count, points[outermost])
            count = take_nearest(points, left, count, points[opposite], k, made, groups)
            made += 1
    for i in range(count):
        groups[left[i]] = made
    return made + 1
