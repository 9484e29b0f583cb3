"""Margins of short axes, brought back where counts that cannot be negative have moved people between categories.

Where noise outweighs people, a projection on counts >= 0 moves people from full places to empty ones. In a cell this is little;
added up over the cells of a category it may be more than the category has: of two categories with nine in ten and one in ten,
the smaller one was published with twice its people. The sums of the noisy cells of each category, which may be negative, tell
its size without bias. Where they contradict the refined table by more than chance allows, it is moved to them (``trees.md``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from sudare.distributions import chi_square_quantile
from sudare.refine.trees import Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]
    Counts = NDArray[np.int64]

__all__ = ["correct_margins", "meet_margin_of_lines", "meet_margins"]

ROUNDS = 40
CHANCE = 0.005
"""How likely the sums of noisy cells may at most be so far from the table's, if it has no bias, to be believed."""

MAX_EXACT = 2.0**53


def correct_margins(counts: Counts, noisy: Values, variance: float, axes: Collection[int], words: Words) -> Counts:
    """Whole counts >= 0 near given ones whose margins along some axes agree with noisy cells, if these contradict them.

    One axis after the other: people are moved along it, so that the sums over it, and with them the margins of all other axes,
    stay as they are.

    Args:
        counts: refined counts, in the shape of the table.
        noisy: noisy counts of all cells, in the same shape.
        variance: of their noise.
        axes: whose margins are looked at.
        words: gives random words.
    """
    if float(counts.sum(dtype=np.float64)) > MAX_EXACT:
        return counts
    for axis in axes:
        places = counts.shape[axis]
        lines = counts.size // places
        if places < 2 or lines < 2 or not counts.any():
            continue
        own = np.moveaxis(counts, axis, -1).reshape(-1, places).sum(axis=0).astype(np.float64)
        told = np.moveaxis(noisy, axis, -1).reshape(-1, places).sum(axis=0)
        surplus = _surplus(told, own)
        if float((surplus**2).sum()) <= lines * variance * chi_square_quantile(places - 1, CHANCE):
            continue
        counts = _moved_along(counts, axis, _possible(own + surplus), words)
    return counts


def meet_margins(counts: Counts, margins: Mapping[int, Values], words: Words) -> Counts:
    """Whole counts >= 0 near given ones whose margins along some axes are measured ones, as far as the total allows.

    As `correct_margins`, whatever the refined margins are: a measured margin has no bias, and a rule that moves only what chance
    does not explain would leave a bias as large as the noise.

    Args:
        counts: refined counts, in the shape of the table.
        margins: of each axis, its measured margin.
        words: gives random words.
    """
    if float(counts.sum(dtype=np.float64)) > MAX_EXACT:
        return counts
    for axis, told in margins.items():
        if counts.shape[axis] < 2 or counts.size == counts.shape[axis] or not counts.any():
            continue
        own = np.moveaxis(counts, axis, -1).reshape(-1, counts.shape[axis]).sum(axis=0).astype(np.float64)
        counts = _moved_along(counts, axis, _possible(own + _surplus(told, own)), words)
    return counts


def meet_margin_of_lines(lines: Counts, told: Values, words: Words) -> Counts:
    """As `meet_margins` along one axis, of a table of which only lines that have somebody are given.

    Args:
        lines: whole counts >= 0, a row for each place and a column for each category.
        told: the measured sums of the categories.
        words: gives random words.
    """
    own = lines.sum(axis=0).astype(np.float64)
    if float(own.sum()) > MAX_EXACT or lines.shape[1] < 2:
        return lines
    # A table is met to within a person for each category: what is left over would be the same at every tick of a series.
    return _moved(lines, _possible(own + _surplus(told, own)), words, float(lines.shape[1]))


def _surplus(told: Values, own: Values) -> Values:
    """By how much a margin is measured larger than it is; nothing in all, because the total is known better."""
    surplus = told - own
    return np.asarray(surplus - surplus.mean())


def _moved_along(counts: Counts, axis: int, wanted: Values, words: Words) -> Counts:
    table = np.moveaxis(counts, axis, -1)
    moved = _moved(np.ascontiguousarray(table).reshape(-1, wanted.size), wanted, words)
    return np.ascontiguousarray(np.moveaxis(moved.reshape(table.shape), -1, axis))


def _possible(margin: Values) -> Values:
    """The nearest margin >= 0 with the same sum."""
    total = margin.sum()
    order = np.sort(margin)[::-1]
    thetas = (np.cumsum(order) - total) / np.arange(1, order.size + 1)
    above = np.flatnonzero(order > thetas)
    # Of a table without people the sum is 0 but for rounding, and no place need be above.
    return np.maximum(margin - thetas[above[-1]], 0.0) if above.size else np.zeros_like(margin)


def _moved(lines: Counts, wanted: Values, words: Words, tolerance: float | None = None) -> Counts:
    """Lines with the same sums whose columns add up to about what is wanted: within a tolerance, or the root of their number.

    The nearest table is max(count - own level of the line - level of the column, 0). A column's level is raised where it has
    too much, in proportion to how many of its places are left to give.
    """
    from sudare.kernels.tables.priors import project_children

    inhabited = np.flatnonzero(lines.any(axis=1))
    if not inhabited.size:
        return lines
    given = lines[inhabited]
    sums, ones = given.sum(axis=1), np.ones(given.shape)
    out = given.copy()
    levels = np.zeros(wanted.size)
    ties = words(inhabited.size)
    # A level that is no whole number is rounded by lot in each cell. By a rule, all lines would go up or down together.
    lots = words(given.size).reshape(given.shape) * 2.0**-64
    best, least = given, np.inf
    enough = np.sqrt(inhabited.size) if tolerance is None else tolerance
    pace, before = np.ones(wanted.size), np.zeros(wanted.size)
    for _ in range(ROUNDS):
        excess = out.sum(axis=0) - wanted
        missed = float(np.abs(excess).sum())
        if missed < least:
            best, least = out.copy(), missed
        if missed <= enough:
            break
        if tolerance is not None:  # a column that went too far goes on more slowly
            pace = np.where(excess * before < 0, pace / 2, np.minimum(1.2 * pace, 1.0))
            before = excess
        levels += pace * excess / np.maximum(np.count_nonzero(out, axis=0), 0.05 * inhabited.size)
        project_children(np.floor(given - levels + lots), ones, sums, ties, out)
    result = lines.copy()
    result[inhabited] = best
    return result
