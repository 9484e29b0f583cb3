"""What the surroundings of a node of a map look like, and what is judged of its count by a prior that knows such surroundings.

A description has `FEATURES` numbers. It does not change when the map is turned or mirrored, and a node's own estimate has no
part in it. Counts are in standard deviations of the noise, by the inverse hyperbolic sine: even near 0, logarithmic far away.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sudare.kernels.compiling import called, kernel
from sudare.kernels.tables.surroundings import place_along

__all__ = ["FEATURES", "describe_children", "judge_by_shares", "learn_factors"]

REACH = 2
"""How far around a node its neighbours are looked at."""

OF_PLACE = 23
FEATURES = 28
"""Numbers of a description; those after the first `OF_PLACE` describe the whole level."""

MIN_SHARE = 1e-12
MIN_VARIANCE = 1e-4
MAX_VARIANCE = 3.0
"""Limits of posterior variances, relative to that of the noise."""


@called
def mirrored(index: Any, used: Any) -> Any:
    """An index beyond an end of an axis, mirrored at the last place there."""
    if index < 0:
        index = -index
    if index >= used:
        index = 2 * (used - 1) - index
    return min(max(index, 0), used - 1)


@called
def sort_four(values: Any) -> None:
    """Sort four numbers where they are."""
    for i in range(1, 4):
        value, j = values[i], i - 1
        while j >= 0 and values[j] > value:
            values[j + 1] = values[j]
            j -= 1
        values[j + 1] = value


@called
def cut_out(values: Any, deviation: Any, row_bits: Any, column_bits: Any, top: Any, left: Any, patch: Any) -> None:
    """Copy a part of a map, in standard deviations; beyond its ends it is mirrored."""
    for r in range(patch.shape[0]):
        along = row_bits[mirrored(top + r, row_bits.size)]
        for c in range(patch.shape[1]):
            node = along | column_bits[mirrored(left + c, column_bits.size)]
            patch[r, c] = values[node] / deviation


@called
def describe_neighbours(patch: Any, y: Any, x: Any, four: Any, out: Any) -> None:
    """The nodes around one, sorted so that no direction counts for more than another."""
    eight = 0.0
    for turn in range(2):
        if turn == 0:
            four[0], four[1], four[2], four[3] = patch[y, x + 1], patch[y, x - 1], patch[y + 1, x], patch[y - 1, x]
        else:
            four[0], four[1] = patch[y + 1, x + 1], patch[y + 1, x - 1]
            four[2], four[3] = patch[y - 1, x + 1], patch[y - 1, x - 1]
        sort_four(four)
        for k in range(4):
            eight += four[k]
            out[4 * turn + k] = math.asinh(four[k])
    out[8] = math.asinh(0.35 * eight)
    four[0], four[1], four[2], four[3] = patch[y, x + 2], patch[y, x - 2], patch[y + 2, x], patch[y - 2, x]
    out[9] = math.asinh(max(max(four[0], four[1]), max(four[2], four[3])))
    out[10] = math.asinh(0.5 * (four[0] + four[1] + four[2] + four[3]))
    ring = 0.0
    for k in range(-2, 3):
        ring += patch[y - 2, x + k] + patch[y + 2, x + k]
    for k in range(-1, 2):
        ring += patch[y + k, x - 2] + patch[y + k, x + 2]
    out[11] = math.asinh(0.25 * ring)


@called
def describe_parents(around: Any, r: Any, c: Any, rows: Any, columns: Any, spread: Any, out: Any) -> None:
    """The parents around, those on the child's side first; of rows and columns, the nearer end first, or the larger count."""
    up, leftward = 2 * r < rows, 2 * c < columns
    far_row, far_column = min(r, rows - 1 - r) / rows, min(c, columns - 1 - c) / columns
    row_near, row_far = around[0 if up else 2, 1], around[2 if up else 0, 1]
    column_near, column_far = around[1, 0 if leftward else 2], around[1, 2 if leftward else 0]
    if (far_row, -row_near, -row_far) > (far_column, -column_near, -column_far):
        row_near, column_near, row_far, column_far = column_near, row_near, column_far, row_far
    out[15], out[16] = math.asinh(spread * row_near), math.asinh(spread * column_near)
    out[17], out[18] = math.asinh(spread * row_far), math.asinh(spread * column_far)
    out[19] = math.asinh(spread * around[0 if up else 2, 0 if leftward else 2])
    out[20], out[21] = min(far_row, far_column), max(far_row, far_column)


@kernel(
    "void(float64[::1], int32[:], float64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], uint64[::1],"
    " int64[::1], int64[::1], float64, float64[::1], float32[:, :, ::1])",
    read_only=(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12),
)
def describe_children(
    values: Any,
    cells: Any,
    counts: Any,
    parents: Any,
    row_bits: Any,
    column_bits: Any,
    parent_row_bits: Any,
    parent_column_bits: Any,
    masks: Any,
    child_rows: Any,
    child_columns: Any,
    deviation: float,
    whole: Any,
    out: Any,
) -> None:
    """Describe the surroundings of children; those without cells are left out.

    Args:
        values: estimates of all nodes of the level; 0 without cells.
        cells: how many each of them has.
        counts: refined counts of all parents.
        parents: the numbers of those whose children are described.
        row_bits: the bits of a node's number for each row of the level's map.
        column_bits: the same for each column.
        parent_row_bits: the same for the parents' map.
        parent_column_bits: the same for its columns.
        masks: the bits of a parent's number that belong to rows and columns.
        child_rows: the row of each child within its parent.
        child_columns: the column of each child within its parent.
        deviation: of the noise, typically.
        whole: what describes the whole level.
        out: where descriptions are written, for each parent and child.
    """
    fan = child_rows.size
    rows, columns = np.int64(1), np.int64(1)
    for child in range(fan):
        rows, columns = max(rows, child_rows[child] + 1), max(columns, child_columns[child] + 1)
    patch = np.empty((rows + 2 * REACH, columns + 2 * REACH))
    around, four = np.empty((3, 3)), np.empty(4)
    for i in range(parents.size):
        row, column = place_along(np.uint64(parents[i]), masks[0]), place_along(np.uint64(parents[i]), masks[1])
        cut_out(values, deviation, row_bits, column_bits, row * rows - REACH, column * columns - REACH, patch)
        cut_out(counts, deviation, parent_row_bits, parent_column_bits, row - 1, column - 1, around)
        start = parents[i] * fan
        total, highest, second, members, parent_cells = 0.0, -np.inf, -np.inf, 0, 0
        for child in range(fan):
            if cells[start + child] > 0:
                value = values[start + child] / deviation
                total += value
                members += 1
                parent_cells += cells[start + child]
                second = max(second, min(value, highest))
                highest = max(highest, value)
        for child in range(fan):
            if cells[start + child] == 0:
                continue
            own, described = values[start + child] / deviation, out[i, child]
            r, c = child_rows[child], child_columns[child]
            describe_neighbours(patch, r + REACH, c + REACH, four, described)
            evenly = around[1, 1] * cells[start + child] / parent_cells
            described[12], described[13] = math.asinh(3.0 * evenly), math.asinh(around[1, 1])
            rest = (around[1, 1] - total + own) / math.sqrt(max(members - 1, 1))
            described[14] = math.asinh(3.0 * rest)
            describe_parents(around, r, c, rows, columns, 3.0 / members, described)
            described[22] = math.asinh(second if own >= highest else highest) if members > 1 else 0.0
            for k in range(whole.size):
                described[OF_PLACE + k] = whole[k]


@kernel("float64(float64[:, ::1], float64[:, ::1], float64, int64, float64[::1])", read_only=(0, 1))
def learn_factors(shares: Any, likelihood: Any, strength: float, rounds: int, factors: Any) -> Any:
    """How much more often each kind of count occurs than a prior says, by expectation maximisation.

    The prior of place i for kind k is shares[i, k] * factors[k], made to add up to 1.

    Args:
        shares: the prior of each place (row) for each kind of count (column).
        likelihood: of what was seen at each place, for each kind.
        strength: this many places believe in factors of 1.
        rounds: of expectation maximisation.
        factors: where the factors are written.

    Returns:
        The logarithm of the likelihood of a place, on average, after the last but one round.
    """
    places, kinds = shares.shape
    means, found, given = np.zeros(kinds), np.empty(kinds), np.empty(kinds)
    for i in range(places):
        for k in range(kinds):
            means[k] += shares[i, k] / places
    factors[:] = 1.0
    evidence = 0.0
    for _ in range(rounds):
        evidence = 0.0
        for k in range(kinds):
            found[k] = given[k] = strength * means[k]
        for i in range(places):
            whole, density = 0.0, 0.0
            for k in range(kinds):
                share = shares[i, k] * factors[k]
                whole += share
                density += share * likelihood[i, k]
            density = max(density, 1e-300)
            evidence += math.log(density / whole)
            for k in range(kinds):
                found[k] += shares[i, k] * factors[k] * likelihood[i, k] / density
                given[k] += shares[i, k] / whole
        for k in range(kinds):
            factors[k] = found[k] / max(given[k], MIN_SHARE)
    return evidence / max(places, 1)


@kernel(
    "void(float32[:, ::1], float64[::1], float64[::1], float64[:, :, ::1], float64, int64, float64[::1], float64[:, ::1],"
    " float64[::1], float64[:, ::1], float64[::1], float64[::1], float64[::1])",
    read_only=(0, 1, 2, 3, 6, 7, 8),
)
def judge_by_shares(
    scores: Any,
    values: Any,
    variances: Any,
    moments: Any,
    step: float,
    zero: int,
    group_edges: Any,
    factors: Any,
    middles: Any,
    shares: Any,
    out_values: Any,
    out_variances: Any,
    occupied: Any,
) -> None:
    """Posterior means and variances of counts, given logarithms of the prior shares of kinds of counts.

    Args:
        scores: logarithms of shares, up to a constant, for each place and kind.
        values: estimates; NaN is left out.
        variances: of them.
        moments: for each step of the value, kind and power: what the kind's counts, in standard deviations, contribute to the
            likelihood (power 0), to the mean (1) and to the mean square (2).
        step: of values, in standard deviations.
        zero: where the value 0 stands among the steps; a value beyond the last step is kept.
        group_edges: limits of groups of places, by the prior's mean.
        factors: for each group, how much more often each kind occurs than the prior says.
        middles: of the kinds of counts, for the prior's mean.
        shares: where the prior shares are written, before the factors.
        out_values: where means are written.
        out_variances: where variances are written.
        occupied: where the probability is written that somebody is there.
    """
    kinds = scores.shape[1]
    for i in range(values.size):
        if np.isnan(values[i]):
            out_values[i], out_variances[i], occupied[i] = 0.0, -1.0, 0.0
            continue
        highest = scores[i, 0]
        for k in range(1, kinds):
            highest = max(highest, scores[i, k])
        whole = 0.0
        for k in range(kinds):
            shares[i, k] = math.exp(np.float64(scores[i, k] - highest))
            whole += shares[i, k]
        mean = 0.0
        for k in range(kinds):
            shares[i, k] /= whole
            mean += shares[i, k] * middles[k]
        deviation = math.sqrt(variances[i])
        place = max(np.int64(np.rint(values[i] / deviation / step)) + zero, 0)
        if place >= moments.shape[0]:
            out_values[i], out_variances[i], occupied[i] = values[i], variances[i], 1.0
            continue
        group = 0
        while group < group_edges.size and mean >= group_edges[group]:
            group += 1
        density, first, square = 1e-300, 0.0, 0.0
        for k in range(kinds):
            share = shares[i, k] * factors[group, k]
            density += share * moments[place, k, 0]
            first += share * moments[place, k, 1]
            square += share * moments[place, k, 2]
        posterior = first / density
        spread = min(max(square / density - posterior * posterior, MIN_VARIANCE), MAX_VARIANCE)
        out_values[i], out_variances[i] = posterior * deviation, spread * variances[i]
        occupied[i] = 1.0 - shares[i, 0] * factors[group, 0] * moments[place, 0, 0] / density
