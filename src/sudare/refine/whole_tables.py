"""A whole table >= 0 near a least-squares estimate, whose margins stay where they are (``components.md`` beside this file).

Counts that cannot be negative add people wherever few are. The nearest table >= 0 by squares of cells takes them back from all
cells alike, and so from the large categories: each margin gets a bias that grows with the number of its cells. Here components
are weighed by how many cells share in each of their coordinates: what is cut off at 0 is taken back within the same margins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain.table import MAX_TOTAL
from sudare.refine.components import ComponentTree, axes_within
from sudare.refine.trees import Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]
    Counts = NDArray[np.int64]

__all__ = ["nearest_above_zero", "round_table", "whole_table"]

ROUNDS = 120
RELAXATION = 1.6
CLOSE = 0.01
"""Rounds end where no cell moves by more than this part of the cells' noise."""

HELD = 10
"""How much more firmly the total and the margins of single attributes are held."""

FIXED = 1e9
"""How much more than anything else a public total weighs."""

MIN_VARIANCE = 1e-12
TIES = 1e-6
MAX_MOVES = 1 << 12


def whole_table(
    trees: Mapping[int, ComponentTree], lengths: Sequence[int], words: Words, total: int | None = None
) -> Counts:
    """Whole counts >= 0 from the estimates of all components of one table.

    Args:
        trees: of each component, its estimate in the first and only node.
        lengths: of the attributes.
        words: gives random words.
        total: of all people, where it is public.
    """
    cells = prod(lengths)
    estimate, weights = np.zeros(tuple(lengths)), np.empty(1 << len(lengths))
    for mask, tree in trees.items():
        shared = cells // prod(lengths[axis] for axis in axes_within(mask))
        estimate += tree.values[0][0] / shared
        # A coordinate of the cells' table is one of the margin's over the root of the cells that share in it.
        precision = shared / max(float(tree.variances[0][0]), MIN_VARIANCE)
        weights[mask] = precision * shared * (HELD if mask.bit_count() <= 1 else 1)
    scale = weights[-1]
    weights /= scale
    people = min(max(round(float(estimate.sum())), 0), MAX_TOTAL) if total is None else total
    if total is not None:
        estimate += (total - estimate.sum()) / cells
        weights[0] = FIXED
    nearest = nearest_above_zero(estimate, weights, CLOSE / np.sqrt(scale))
    return round_table(nearest, people, words)[None]


def nearest_above_zero(estimate: Values, weights: Values, close: float) -> Values:
    """The table >= 0 with the least sum, over all components, of weight times squared distance to the estimate.

    By the alternating direction method: the table without bounds, where components do not mix, and its cut at 0 in turn.

    Args:
        estimate: a table.
        weights: of the components, numbered by their masks, positive.
        close: rounds end where no cell moves by more.
    """
    if estimate.min(initial=0.0) >= 0:
        return estimate
    step = float(np.exp(np.log(weights).mean()))
    pulled = _weighed(estimate, weights / (weights + step))
    kept = step / (weights + step)
    bounded, gap = np.maximum(estimate, 0.0), np.zeros(estimate.shape)
    for _ in range(ROUNDS):
        free = pulled + _weighed(bounded - gap, kept)
        free = RELAXATION * free + (1 - RELAXATION) * bounded
        before, bounded = bounded, np.maximum(free + gap, 0.0)
        gap += free - bounded
        if np.abs(bounded - before).max() <= close and np.abs(free - bounded).max() <= 10 * close:
            break
    return bounded


def _weighed(values: Values, factors: Values, axis: int = 0, mask: int = 0) -> Values:
    """Each component of a table times its factor: an axis after the other is parted into means and deviations."""
    if axis == values.ndim:
        return np.asarray(values * factors[mask])
    means = values.mean(axis=axis, keepdims=True)
    of_means = _weighed(means, factors, axis + 1, mask)
    return np.asarray(of_means + _weighed(values - means, factors, axis + 1, mask | 1 << axis))


def round_table(values: Values, people: int, words: Words) -> Counts:
    """Whole counts >= 0 near values >= 0, this many people in all, such that margins hardly move.

    Cells are gone through with the shortest axis changing last. Fractions are added up from a random start, and each time a whole
    one is reached the cell there goes up: no cell has a bias, and sums of cells that follow each other move by less than one.
    Then margins of the other axes are settled.
    """
    order = sorted(range(values.ndim), key=lambda axis: (values.shape[axis], axis))
    turned = np.transpose(values, order)
    amount = float(values.sum())
    flat = np.full(turned.size, people / turned.size) if amount <= 0 else turned.reshape(-1) * (people / amount)
    whole = np.floor(flat)
    steps = np.floor(np.cumsum(flat - whole) + (int(words(1)[0]) >> 11) * 2.0**-53)
    counts = whole.astype(np.int64) + np.diff(steps, prepend=0.0).astype(np.int64)
    missing = people - int(counts.sum())
    if missing:  # the last fraction, and what floating point left over
        place = int(np.argmax(flat - counts)) if missing > 0 else int(np.argmax(counts))
        counts[place] = max(int(counts[place]) + missing, 0)
    # What is equal is decided by lot.
    above = (counts - flat + TIES * words(flat.size) * 2.0**-64).reshape(turned.shape)
    rounded = counts.reshape(turned.shape)
    for axis in range(1, values.ndim):
        lines = np.moveaxis(rounded, axis, 0)
        settled = np.ascontiguousarray(lines).reshape(len(lines), -1)
        excess = np.ascontiguousarray(np.moveaxis(above, axis, 0)).reshape(settled.shape)
        _settle(settled, excess)
        rounded = np.moveaxis(settled.reshape(lines.shape), 0, axis)
        above = np.moveaxis(excess.reshape(lines.shape), 0, axis)
    return np.ascontiguousarray(np.transpose(rounded, np.argsort(order)))


def _settle(counts: Counts, above: Values) -> None:
    """Move people between rows, each within its column, until no two sums of rows are off by more than one, in place.

    Of all columns that one is taken whose cells come nearest to their values.

    Args:
        counts: rounded, a row for each place along an axis.
        above: by how much each is above its value.
    """
    gaps = above.sum(axis=1)
    for _ in range(MAX_MOVES):
        high, low = int(gaps.argmax()), int(gaps.argmin())
        if gaps[high] - gaps[low] <= 1:
            return
        gain = np.where(counts[high] > 0, above[high] - above[low], -np.inf)
        line = int(gain.argmax())
        if not np.isfinite(gain[line]):
            return
        for place, change in ((high, -1), (low, 1)):
            counts[place, line] += change
            above[place, line] += change
            gaps[place] += change
