"""A table of whole numbers from a model, without a place for every cell of the domain.

Attributes are drawn one after the other, each given those it depends on. A cell with n people is split over the values of the
next attribute: a value of probability p gets floor(n p) or ceil(n p) of them, and n p on average. For this the values lie beside
each other on a line of length n, and whole numbers plus one random number between 0 and 1 say who takes which value. Cells that
agree in what the attribute depends on take these random numbers from one sequence, u, u + g, u + 2 g, ... modulo 1 with the
golden ratio g, which covers the interval evenly: so the sums over such cells come out near their expectations too. Each number
by itself is uniform, so that no margin has a systematic error against the model.

The model is made of noisy counts only, so nothing drawn here costs anything. Work and memory grow with the people, or with the
cells where there are fewer of these, never with the domain.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from sudare.noise.entropy import EntropySource
from sudare.noise.uniform import uniform_below
from sudare.tables.adaptive.graphical_model import GraphicalModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["MAX_PARCELS", "draw_counts", "split_counts"]

BITS = 31
WHOLE = 1 << BITS
"""What the probabilities of a line add up to."""

GOLDEN = 1327217885
"""The golden ratio's fraction, (sqrt(5) - 1) / 2, times 2**31; odd, so that the sequence takes every value once."""

MAX_PARCELS = 1 << 25
"""Of people that are drawn one by one: about this many cells fit into memory."""

AT_ONCE = 1 << 22
"""Cells times values that are worked on together."""


def draw_counts(model: GraphicalModel, total: int, entropy: EntropySource) -> tuple[list[Integers], Integers]:
    """The places of each attribute's value and the people, for every cell with people.

    Where there are more people and more cells than `MAX_PARCELS`, people are drawn several at a time, so that noise that says
    there are very many does not fill the memory.

    Args:
        model: the distribution of the people.
        total: how many people there are, at most 2**62.
        entropy: where the bits come from.

    Example:
        >>> import numpy as np
        >>> from sudare import ResearchEntropy
        >>> from sudare.tables.adaptive.graphical_model import GraphicalModel
        >>> from sudare.tables.adaptive.table_drawing import draw_counts
        >>> model = GraphicalModel([2, 2], 8.0, {(0, 1): np.log([[1.0, 3.0], [2.0, 2.0]])})
        >>> (a, b), people = draw_counts(model, 8, ResearchEntropy(1))
        >>> a.tolist(), b.tolist(), people.tolist()
        ([0, 0, 1, 1], [0, 1, 0, 1], [1, 3, 2, 2])
    """
    several = -(-total // MAX_PARCELS) if min(total, prod(model.sizes)) > MAX_PARCELS else 1
    drawn: dict[int, Integers] = {}
    people = np.array([total // several] if total else [], dtype=np.int64)
    for column, given, table in model.conditionals():
        lines = np.zeros(people.size, dtype=np.int64)
        for earlier in given:
            lines = lines * model.sizes[earlier] + drawn[earlier]
        parents, values, people = split_counts(table, lines, people, entropy)
        drawn = {earlier: places[parents] for earlier, places in drawn.items()}
        drawn[column] = values
    people = people * several
    if people.size:
        people[people.argmax()] += total % several
    return [drawn[column] for column in range(len(model.sizes))], people


def split_counts(
    table: NDArray[np.float64], lines: Integers, people: Integers, entropy: EntropySource
) -> tuple[Integers, Integers, Integers]:
    """Split every cell's people over the values of an attribute.

    Args:
        table: weights of the values; a line for each combination of what they depend on.
        lines: of each cell, its line.
        people: of each cell.
        entropy: where the bits come from.

    Returns:
        The cell that each new cell is a part of, its value and its people, where there are any.
    """
    starts = _starts(lines, entropy)
    width = table.shape[1]
    at_once = max(1, AT_ONCE // width)
    found: list[tuple[Integers, Integers, Integers]] = []
    for first in range(0, people.size, at_once):
        part = slice(first, first + at_once)
        names, codes = np.unique(lines[part], return_inverse=True)
        ends = np.cumsum(_whole_weights(table[names]), axis=1)[codes]
        # floor((n end + u) / WHOLE) in two halves of n: every product stays below 2**63.
        high, low = people[part] >> BITS, people[part] & (WHOLE - 1)
        bounds = high[:, None] * ends + ((low[:, None] * ends + starts[part][:, None]) >> BITS)
        counts = np.diff(bounds, axis=1, prepend=0)
        parents, values = np.nonzero(counts)
        found.append((parents + first, values, counts[parents, values]))
    if not found:
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, nothing, nothing
    parents, values, split = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    return parents, values, split


def _starts(lines: Integers, entropy: EntropySource) -> Integers:
    """A number below `WHOLE` for each cell: one drawn for its line, and steps of the golden ratio along the line's cells."""
    names, codes, sizes = np.unique(lines, return_inverse=True, return_counts=True)
    by_line = np.argsort(codes, kind="stable")
    ranks = np.empty(lines.size, dtype=np.int64)
    ranks[by_line] = np.arange(lines.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    first = uniform_below(WHOLE, names.size, entropy).astype(np.int64)
    return np.asarray((first[codes] + (ranks & (WHOLE - 1)) * GOLDEN) & (WHOLE - 1))


def _whole_weights(table: NDArray[np.float64]) -> Integers:
    """Each line as whole numbers that add up to `WHOLE`; a line without any weight is even."""
    sums = table.sum(axis=1, keepdims=True)
    is_weighed = np.isfinite(sums) & (sums > 0)
    shares = np.where(is_weighed, table / np.where(is_weighed, sums, 1.0), 1.0 / table.shape[1])
    weights: Integers = np.floor(np.clip(shares, 0.0, 1.0) * WHOLE).astype(np.int64)
    rows = np.arange(len(weights))
    weights[rows, weights.argmax(axis=1)] += WHOLE - weights.sum(axis=1)
    return weights
