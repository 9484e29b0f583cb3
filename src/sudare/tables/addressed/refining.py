"""From noisy counts to whole numbers that add up: the levels above a cut, and one subtree below it.

Both do the same on their levels. What they draw has an address (`sudare.tables.addressed.tree`), and what they make of it
follows from that and the counts alone, so that all of it together does not depend on where the tree was cut.

Proof: ``addressed_tree.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain.table import MAX_TOTAL
from sudare.errors import Described, ParameterError
from sudare.noise.additive import noise_for
from sudare.noise.addressed import NoiseKey
from sudare.tables.addressed.tree import AddressedTree, Anchor, FamilyDraws
from sudare.tables.trees.descent import Nodes, Tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Keys = NDArray[np.uint64]

__all__ = ["Cut", "Subtree", "UpperLevels", "cut_by_people", "refine_subtree", "refine_upper_levels"]

CHILDREN_AT_ONCE = 1 << 16
"""Children whose noise is held at the same time: as much as stays in a core's cache."""

Cut = Callable[[int, "Keys", "Integers"], "NDArray[np.bool_]"]
"""Which nodes of a level, given their prefixes and refined counts, become subtrees. It sees published numbers only: what it
decides may be seen, from which files there are."""


@dataclass(frozen=True, eq=False)
class Subtree:
    """A part of the tree, with all that is needed to draw it besides its counts.

    Attributes:
        anchor: its root, with the key.
        refined: how many people are published in it.
    """

    anchor: Anchor
    refined: int


@dataclass(frozen=True, eq=False)
class UpperLevels:
    """What was decided above a cut.

    Attributes:
        subtrees: those in which somebody is published, from left to right.
        leaves: where people were placed already, ascending.
        counts: how many at each.
    """

    subtrees: tuple[Subtree, ...]
    leaves: Keys = field(repr=False)
    counts: Integers = field(repr=False)


def cut_by_people(most: int) -> Cut:
    """Cut where at most this many people are published, so that subtrees take about as long as each other."""

    def cut(level: int, prefixes: Keys, refined: Integers) -> NDArray[np.bool_]:
        return refined <= most

    return cut


def refine_upper_levels(
    tree: AddressedTree, key: NoiseKey, anchors: Keys, people: Integers, cut: Cut | None = None
) -> UpperLevels:
    """Draw and refine the levels above a cut.

    Args:
        tree: what is measured.
        key: of the whole release, **bound to these counts before**; see `sudare.noise.addressed`.
        anchors: the lowest anchors, or nodes or leaves below them, with people of the data, ascending.
        people: how many each has.
        cut: which nodes become subtrees; the lowest anchors do in any case. Only these if left out.

    Raises:
        ParameterError: if the counts are not what they should be.
    """
    data = _read_counts(tree, anchors, people, 0, "refine_upper_levels")
    noisy = int(data.sums[-1])
    if tree.total is not None:
        noisy += int(key.child("total", 0).draw(noise_for(tree.total), np.zeros(1, dtype=np.int64))[0])
    root = Anchor.root(key)
    at_root = Subtree(root, min(noisy, MAX_TOTAL))
    if at_root.refined <= 0:
        return UpperLevels((), np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64))
    descent = _Descent(tree, data)
    nodes, keys = descent.begin(at_root)
    subtrees: list[Subtree] = []
    for level in range(tree.anchored + 1):
        if level == tree.anchored:
            is_cut = np.ones(len(nodes), dtype=np.bool_)
        elif cut is None:
            is_cut = np.zeros(len(nodes), dtype=np.bool_)
        else:
            is_cut = cut(level, nodes.prefixes, nodes.refined)
        found = zip(nodes.prefixes[is_cut].tolist(), nodes.refined[is_cut].tolist(), strict=True)
        subtrees += [Subtree(Anchor(level, prefix, keys[prefix]), refined) for prefix, refined in found]
        if level < tree.anchored:
            columns: Any = (column[~is_cut] for column in nodes.arrays)
            rest = Nodes(*columns)
            nodes, keys = descent.one_level(level + 1, keys, rest)
    subtrees.sort(key=lambda subtree: subtree.anchor.prefix)
    return UpperLevels(tuple(subtrees), *descent.cells())


def refine_subtree(tree: AddressedTree, subtree: Subtree, leaves: Keys, counts: Integers) -> tuple[Keys, Integers]:
    """Draw and refine all levels below an anchor, which needs the anchor's key only.

    Drawn again, with the same counts, it is the same, in whatever process and however often.

    Args:
        tree: what is measured.
        subtree: which part of it, with its key and its refined count.
        leaves: with people of the data in this part, ascending.
        counts: how many each has.

    Returns:
        The leaves where people are published, ascending, and how many at each.

    Raises:
        ParameterError: if the counts are not what they should be.
    """
    level = subtree.anchor.level
    data = _read_counts(tree, leaves, counts, subtree.anchor.prefix, "refine_subtree", tree.heights[level])
    descent = _Descent(tree, data)
    nodes, keys = descent.begin(subtree)
    for below in range(level + 1, len(tree.heights)):
        nodes, keys = descent.one_level(below, keys, nodes)
    descent.placed.append((nodes.prefixes, nodes.refined))
    return descent.cells()


class _Descent:
    """Level after level from one node down."""

    def __init__(self, tree: AddressedTree, data: Tree) -> None:
        self.tree, self.data = tree, data
        self.placed: list[tuple[Keys, Integers]] = []
        """Leaves of people that are placed already."""

    def begin(self, subtree: Subtree) -> tuple[Nodes, dict[int, NoiseKey]]:
        """A subtree's root as a node, with its key; no node if nobody is published in it."""
        root = Nodes.empty(1)
        root.prefixes[0], root.starts[0], root.ends[0] = subtree.anchor.prefix, 0, self.data.leaves.size
        root.refined[0] = subtree.refined
        return root.between(0, int(subtree.refined > 0)), {subtree.anchor.prefix: subtree.anchor.key}

    def one_level(self, level: int, keys: dict[int, NoiseKey], parents: Nodes) -> tuple[Nodes, dict[int, NoiseKey]]:
        """The children of nodes, and the keys for what is below them. Those alone in a child without people are placed."""
        step, alone_apart = self.tree.steps[level - 1], level < len(self.tree.steps)
        at_once = max(1, CHILDREN_AT_ONCE >> step)
        parts: list[Nodes] = []
        below: dict[int, NoiseKey] = keys if level > self.tree.anchored else {}
        for first in range(0, len(parents), at_once):
            some = parents.between(first, first + at_once)
            families = list(self.tree.draws(level, keys, some.prefixes))
            noise = np.concatenate([family.counts(some.prefixes[family.parents]) for family in families])
            turns = np.concatenate([family.turns(some.prefixes[family.parents]) for family in families])
            for run in _runs(turns, 1 << step):
                spare = self._spare_turns(families, some, run, turns)
                nodes, alone = self._project(some.between(run.start, run.stop), noise[run], spare, level, alone_apart)
                parts.append(nodes)
                if alone.size:
                    self._place(level, keys, alone)
                if level <= self.tree.anchored and len(nodes):
                    for family in self.tree.draws(level, keys, _parents_of(nodes.prefixes, self.tree, level)):
                        below |= family.anchors(nodes.prefixes[family.parents])
        return Nodes.joined(parts), below

    def _spare_turns(self, families: list[FamilyDraws], parents: Nodes, run: slice, turns: Keys) -> Keys:
        """The words of a run of parents, and those that stand in for one without a fair meaning, if it is a run of one."""
        from sudare.kernels.tables.splits import SPARE_WORDS

        if run.stop - run.start > 1 or not families:
            return np.concatenate([turns[run], np.zeros(SPARE_WORDS, dtype=np.uint64)])
        family = next(one for one in families if one.parents.start <= run.start < one.parents.stop)
        return family.turns_of(int(parents.prefixes[run.start]), 1 + SPARE_WORDS)

    def _project(
        self, parents: Nodes, noise: Integers, turns: Keys, level: int, alone_apart: bool
    ) -> tuple[Nodes, Keys]:
        from sudare.kernels.tables.splits import split_by_counts

        room = Nodes.empty(noise.size)
        quiet, quiet_counts = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
        pairs, alone = np.empty(0, dtype=np.uint64), np.empty(noise.size if alone_apart else 0, dtype=np.uint64)
        padded, lengths, gather = self.data.padding
        written, _, _, apart = split_by_counts(
            *(self.data.leaves, self.data.sums, *parents.arrays),
            np.ascontiguousarray(noise),
            np.ascontiguousarray(turns),
            self.tree.heights[level],
            self.tree.steps[level - 1],
            int(alone_apart),
            False,
            padded,
            *(lengths, gather),
            *(*room.arrays, quiet, quiet_counts, pairs, alone),
        )
        return room.between(0, written).copy(), alone[:apart].copy()

    def _place(self, level: int, keys: dict[int, NoiseKey], children: Keys) -> None:
        from sudare.kernels.tables.trees import FRACTION_WORDS, place_alone

        padded, lengths, gather = self.data.padding
        count = FRACTION_WORDS if padded else 1
        parents = _parents_of(children, self.tree, level)
        ways = [family.ways(children[family.parents], count) for family in self.tree.draws(level, keys, parents)]
        leaves = np.empty(children.size, dtype=np.uint64)
        heights = np.full(children.size, self.tree.heights[level], dtype=np.int64)
        words = np.ascontiguousarray(np.concatenate(ways)).reshape(-1)
        place_alone(children, heights, words, self.tree.step_at, padded, lengths, gather, leaves)
        self.placed.append((leaves, np.ones(children.size, dtype=np.int64)))

    def cells(self) -> tuple[Keys, Integers]:
        """All leaves so far with their counts, from left to right."""
        if not self.placed:
            return np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
        leaves, counts = (np.concatenate(arrays) for arrays in zip(*self.placed, strict=True))
        order = np.argsort(leaves, kind="stable")
        return leaves[order], counts[order]


def _parents_of(children: Keys, tree: AddressedTree, level: int) -> Keys:
    return tree.anchors_of(children, level - 1)


def _runs(turns: Keys, fan: int) -> list[slice]:
    """Parents whose words certainly have a fair meaning, in runs, and each of the others by itself.

    A word has none only if it lies above the last multiple of the number of choices, which is at most the number of children.
    """
    unfair = np.flatnonzero(turns >= np.uint64(2**64 - fan))
    edges = sorted({0, turns.size, *unfair.tolist(), *(unfair + 1).tolist()})
    return [slice(first, last) for first, last in pairwise(edges)]


def _read_counts(
    tree: AddressedTree, leaves: Keys, counts: Integers, first: int, function: str, height: int | None = None
) -> Tree:
    """People along the leaves; whoever hands over something else would get another noise than they think."""
    keys, people = np.ascontiguousarray(leaves, dtype=np.uint64), np.ascontiguousarray(counts, dtype=np.int64)
    last = first + (1 << (tree.layout.depth if height is None else height)) - 1
    fits = keys.ndim == people.ndim == 1 and keys.size == people.size
    if not fits or (keys.size and (int(keys[0]) < first or int(keys[-1]) > last or (keys[1:] <= keys[:-1]).any())):
        raise ParameterError("leaves", function, "leaves of this part of the tree, ascending", Described("others"))
    if people.size and int(people.min()) <= 0:
        raise ParameterError("counts", function, "a positive number for each leaf", Described("others"))
    sums = np.zeros(keys.size + 1, dtype=np.int64)
    np.cumsum(people, out=sums[1:])
    return Tree(tree.layout, keys, sums)
