"""Rows drawn from a model, so that their counts are as near to the model's as whole numbers can be.

Columns are drawn one after the other, each given those it depends on. Rows that agree in these form a group; in a group of n
rows a value of probability p is given to floor(n p) or ceil(n p) rows, and to n p on average: the values lie beside each other
on a line of length 1, and n points at distance 1/n, the first of them placed at random, take the value they fall on
(systematic sampling). Which row of the group takes which point is decided by a fair order. Probabilities are first rounded to
multiples of 2**-31; from then on everything is in whole numbers.

The model is made of noisy counts only, so nothing drawn here costs anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sudare.microdata.perturb.exact_draws import random_order
from sudare.noise.entropy import EntropySource
from sudare.noise.uniform import uniform_below
from sudare.tables.adaptive.graphical_model import GraphicalModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places = NDArray[np.int64]

__all__ = ["MAX_ROWS", "draw_rows", "draw_values"]

MAX_ROWS = 1 << 31
WHOLE = 1 << 31
"""What the probabilities of a line add up to; times the number of rows it stays below 2**62."""


def draw_rows(model: GraphicalModel, rows: int, entropy: EntropySource) -> list[Places]:
    """The place of the value of each column, for this many rows.

    Example:
        >>> import numpy as np
        >>> from sudare import ResearchEntropy
        >>> from sudare.microdata.synthetic.drawing import draw_rows
        >>> from sudare.tables.adaptive.graphical_model import GraphicalModel
        >>> model = GraphicalModel([2, 2], 8.0, {(0, 1): np.log([[1.0, 3.0], [2.0, 2.0]])})
        >>> a, b = draw_rows(model, 8, ResearchEntropy(1))
        >>> np.bincount(2 * a + b).tolist()
        [1, 3, 2, 2]
    """
    drawn: dict[int, Places] = {}
    for column, given, table in model.conditionals():
        groups = np.zeros(rows, dtype=np.int64)
        for earlier in given:
            groups = groups * model.sizes[earlier] + drawn[earlier]
        drawn[column] = draw_values(table, groups, entropy)
    return [drawn[column] for column in range(len(model.sizes))]


def draw_values(table: NDArray[np.float64], groups: Places, entropy: EntropySource) -> Places:
    """A value for each row: with the probabilities of the line of ``table`` that the row's group names."""
    names, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    ends = np.cumsum(_whole_weights(table[names]), axis=1)
    order = random_order(groups.size, entropy)
    by_group = order[np.argsort(codes[order], kind="stable")]
    starts = np.cumsum(sizes) - sizes
    ranks = np.empty(groups.size, dtype=np.int64)
    ranks[by_group] = np.arange(groups.size) - np.repeat(starts, sizes)
    first = uniform_below(WHOLE, names.size, entropy).astype(np.int64)
    points = (ranks * WHOLE + first[codes]) // sizes[codes]
    # All lines one after the other: a point of group g lies between g and g + 1 wholes.
    offsets = np.arange(names.size, dtype=np.int64) * WHOLE
    line = (ends + offsets[:, None]).ravel()
    places: Places = np.searchsorted(line, points + offsets[codes], side="right") - codes * table.shape[1]
    return places


def _whole_weights(table: NDArray[np.float64]) -> Places:
    """Each line as whole numbers that add up to `WHOLE`; a line without any weight is even."""
    sums = table.sum(axis=1, keepdims=True)
    shares = np.where(sums > 0, table / np.where(sums > 0, sums, 1.0), 1.0 / table.shape[1])
    weights: Places = np.floor(np.clip(shares, 0.0, 1.0) * WHOLE).astype(np.int64)
    rows = np.arange(len(weights))
    weights[rows, weights.argmax(axis=1)] += WHOLE - weights.sum(axis=1)
    return weights
