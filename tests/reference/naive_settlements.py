"""Descriptions of a place's surroundings and posteriors of its count, one place after the other: slow and obvious."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.refine.learning.settlements import KIND_EDGES, MAX_KIND

Values = NDArray[np.float64]


def at(grid: Values, row: int, column: int) -> float:
    """A value of a map; beyond an end, the one that is as far on the inner side of the last place."""
    places = []
    for index, used in zip((row, column), grid.shape, strict=True):
        index = -index if index < 0 else index
        index = 2 * (used - 1) - index if index >= used else index
        places.append(min(max(index, 0), used - 1))
    return float(grid[places[0], places[1]])


def described(
    values: Values, cells: Any, counts: Values, row: int, column: int, rows: int, columns: int
) -> list[float]:
    """What describes one node, but for what describes the whole level.

    Args:
        values: estimates, in standard deviations, on the level's map; as far as it has cells.
        cells: of its nodes.
        counts: refined counts of the parents, in standard deviations, on their map.
        row: of the node.
        column: of the node.
        rows: of children in a parent.
        columns: of children in a parent.
    """
    cross = sorted(at(values, row + r, column + c) for r, c in ((0, 1), (0, -1), (1, 0), (-1, 0)))
    aslant = sorted(at(values, row + r, column + c) for r in (-1, 1) for c in (-1, 1))
    two = [at(values, row + r, column + c) for r, c in ((0, 2), (0, -2), (2, 0), (-2, 0))]
    square = [(r, c) for r in range(-2, 3) for c in range(-2, 3) if max(abs(r), abs(c)) == 2]
    ring = sum(at(values, row + r, column + c) for r, c in square)
    above, left = row // rows, column // columns
    parent = float(counts[above, left])
    own = [
        (r, c)
        for r in range(above * rows, min((above + 1) * rows, values.shape[0]))
        for c in range(left * columns, min((left + 1) * columns, values.shape[1]))
        if cells[r, c] > 0
    ]
    others = [float(values[place]) for place in own if place != (row, column)]
    inner_row, inner_column = row - above * rows, column - left * columns
    up, leftward = -1 if 2 * inner_row < rows else 1, -1 if 2 * inner_column < columns else 1
    far_row, far_column = (
        min(inner_row, rows - 1 - inner_row) / rows,
        min(inner_column, columns - 1 - inner_column) / columns,
    )
    along_rows = [at(counts, above + up, left), at(counts, above - up, left)]
    along_columns = [at(counts, above, left + leftward), at(counts, above, left - leftward)]
    by_columns = (far_row, [-value for value in along_rows]) > (far_column, [-value for value in along_columns])
    nearer, farther = (along_columns, along_rows) if by_columns else (along_rows, along_columns)
    spread = 3 / len(own)
    plain = [
        *cross,
        *aslant,
        0.35 * (sum(cross) + sum(aslant)),
        max(two),
        0.5 * sum(two),
        0.25 * ring,
        3 * parent * cells[row, column] / sum(cells[place] for place in own),
        parent,
        3 * (parent - sum(others)) / math.sqrt(max(len(own) - 1, 1)),
        *(spread * value for value in (nearer[0], farther[0], nearer[1], farther[1])),
        spread * at(counts, above + up, left + leftward),
    ]
    most = math.asinh(max(others)) if others else 0.0
    return [*map(math.asinh, plain), min(far_row, far_column), max(far_row, far_column), most]


def posterior(shares: Values, value: float, *, is_laplace: bool) -> tuple[float, float, float]:
    """Mean and variance of a count, and how likely somebody is there, all in standard deviations of the noise."""
    limits = [(0.0, 0.0), *zip((0.0, *KIND_EDGES), (*KIND_EDGES, MAX_KIND), strict=True)]
    counts, weights = [], []
    for share, (low, high) in zip(shares, limits, strict=True):
        points = max(1, round(4 * (high - low)))
        for point in range(points):
            count = low + (point + 0.5) * (high - low) / points
            distance = abs(value - count)
            likelihood = math.exp(-math.sqrt(2) * distance) if is_laplace else math.exp(-0.5 * distance**2)
            counts.append(count)
            weights.append(share / points * likelihood)
    whole = sum(weights)
    mean = sum(w * c for w, c in zip(weights, counts, strict=True)) / whole
    square = sum(w * c * c for w, c in zip(weights, counts, strict=True)) / whole
    return mean, square - mean * mean, 1 - weights[0] / whole
