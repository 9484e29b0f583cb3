"""Levels with more visited nodes than are held in memory: refined by parts, judged by what a sample of them teaches.

Nodes are thinly spread there, and have few visited neighbours. A child is judged by its own noisy count and its parent's
refined count. Mostly one child of a parent is expected to be occupied: the likeliest takes all, which is found without arithmetic
on the others (`sudare.kernels.tables.judging.settle`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sudare.noise.entropy import EntropySource
from sudare.refine.learning.occupancy import ABOVE_EDGES
from sudare.refine.learning.priors import LearnedCounts
from sudare.tables.trees.descent import Cells, Workspace
from sudare.tables.trees.visited_level import FEW_PEOPLE, VisitedLevel, as_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Keys = NDArray[np.uint64]
    Values = NDArray[np.float64]

    Found = tuple[Keys, Integers]

__all__ = ["refine_thinly"]

SAMPLE = 1 << 15
"""Nodes from which all levels are learned, evenly taken."""

PARTS = 8
MAX_REACH = 1 << 14
"""Noisy counts up to this size are settled; where noise is wider, they are judged one by one."""

AT_ONCE = 1 << 14
"""Nodes whose descendants are refined down to the leaves before the next ones."""


def refine_thinly(
    ways: Sequence[VisitedLevel], prefixes: Keys, counts: Integers, source: EntropySource, threads: int
) -> Cells:
    """The cells below nodes that have somebody, and their counts, in pieces and in any order.

    The parts, and the sources they draw from, do not depend on the number of threads.

    Args:
        ways: the levels below the nodes.
        prefixes: of the nodes, ascending.
        counts: of the nodes.
        source: of all noise.
        threads: how many parts are refined side by side.
    """
    from sudare.kernels.tables.sorting import side_by_side

    stride = max(1, prefixes.size // SAMPLE)
    found, learned = (prefixes[::stride].copy(), counts[::stride].copy()), []
    for way in ways:
        noisy = way.measure(found[0], source)
        told = way.learn_by_parents(found[1], as_values(noisy))
        learned.append(None if told is None else (told, by_count(told)))
        found = _refine(way, learned[-1], *found, noisy, source)
    others = prefixes.size - -(-prefixes.size // stride)
    edges = [others * part // PARTS for part in range(PARTS + 1)]
    to_raster, space = ways[0].tree.layout.to_raster, Workspace([])

    def refine_part(part: tuple[tuple[int, int], EntropySource]) -> Cells:
        (start, end), own = part
        cells = []
        for first in range(start, end, AT_ONCE):
            nodes = _not_in_sample(prefixes, counts, stride, first, min(first + AT_ONCE, end))
            for way, told in zip(ways, learned, strict=True):
                nodes = _refine(way, told, *nodes, way.measure(nodes[0], own, space), own)
            cells.append((to_raster(nodes[0]), nodes[1]))
        return cells

    shares = zip(pairwise(edges), source.spawn(PARTS), strict=True)
    parts = side_by_side(refine_part, list(shares), threads)
    return [(to_raster(found[0]), found[1]), *(piece for part in parts for piece in part)]


def _not_in_sample(prefixes: Keys, counts: Integers, stride: int, first: int, last: int) -> Found:
    """Nodes that are not in the sample, which takes one node of every few, from one number of them to before another."""
    start, end = (number + number // (stride - 1) + 1 for number in (first, last - 1))
    some, is_other = slice(start, end + 1), np.ones(end + 1 - start, dtype=bool)
    is_other[-start % stride :: stride] = False
    return prefixes[some][is_other], counts[some][is_other]


def by_count(learned: LearnedCounts) -> Values:
    """How likely a place is not to be empty, for each class and each noisy count as far as the bins reach."""
    half = learned.occupied.shape[1] // 2
    reach = int(min(half * learned.bin_width, MAX_REACH))
    bins = np.rint(np.arange(-reach, reach + 1) / learned.bin_width).astype(np.int64) + half
    return np.ascontiguousarray(learned.occupied[:, bins])


def _refine(
    way: VisitedLevel,
    learned: tuple[LearnedCounts, Values] | None,
    parents: Keys,
    counts: Integers,
    noisy: Integers,
    source: EntropySource,
) -> Found:
    """The children of parents that have somebody, from left to right, and their counts."""
    from sudare.kernels.tables.judging import judge_children, list_children, settle
    from sudare.kernels.tables.priors import project_children

    words, ties = np.split(source.words(2 * parents.size), 2)
    winners, rows = np.full(parents.size, -1, dtype=np.int64), np.arange(parents.size, dtype=np.int64)
    kinds = np.zeros(parents.size, dtype=np.uint16)
    if learned is not None:
        edges = np.sqrt(way.variance) * np.array(ABOVE_EDGES)
        tables = edges, learned[0].taught, learned[1]
        rows = rows[: settle(noisy, counts, *tables, FEW_PEOPLE, words, kinds, winners, rows)]
    values = as_values(noisy[rows])
    means, spreads = np.empty(values.shape), np.empty(values.shape)
    if learned is None:
        absent = np.isnan(values)
        means, spreads = np.where(absent, 0.0, values), np.where(absent, -1.0, way.variance)
    else:
        classes = np.repeat(kinds[rows], way.fan).reshape(values.shape)
        told = learned[0]
        all_tables = told.taught, told.means, told.variances, told.occupied, told.bin_width
        above, chance = counts[rows], words[rows]
        judge_children(values, above, way.variance, classes, *all_tables, FEW_PEOPLE, chance, means, spreads)
    refined = np.empty(values.shape, dtype=np.int64)
    project_children(means, spreads, counts[rows], ties[rows], refined)
    room = parents.size - rows.size + int(np.count_nonzero(refined))
    leaves, people = np.empty(room, dtype=np.uint64), np.empty(room, dtype=np.int64)
    list_children(parents, counts, winners, refined, way.bit, leaves, people)
    return leaves, people
