"""The tree, and where in it keys hang.

A node down to the *anchored* level is an **anchor**: it has a key of its own, derived from its parent's. The anchored level is
fixed by the domain and the levels alone. The noise of an anchor's children is drawn under the anchor's key, and below the
anchored level the noise of every node is drawn under the key of its ancestor there. So the tree can be cut at any anchors, and
whoever has an anchor's key can draw all that is below it, and nothing else.

Proof: ``addressed_tree.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain.layout import Layout
from sudare.errors import ParameterError
from sudare.noise.additive import noise_for
from sudare.noise.addressed import NoiseKey
from sudare.noise.sampler import Sampler
from sudare.privacy.measurements import Measurement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Keys = NDArray[np.uint64]

__all__ = ["ANCHOR_BITS", "AddressedTree", "Anchor", "FamilyDraws"]

ANCHOR_BITS = 12
"""Halvings above the anchored level, at most: so many anchors make parts for a cluster of any size, and few keys to derive."""


@dataclass(frozen=True, eq=False)
class Anchor:
    """A node with its key.

    Attributes:
        level: how many levels lie above it; 0 for the root.
        prefix: its first leaf.
        key: under which all noise below it is drawn.
    """

    level: int
    prefix: int
    key: NoiseKey

    @classmethod
    def root(cls, key: NoiseKey) -> Anchor:
        """The root of the tree whose noise hangs on a key."""
        return cls(0, 0, key.child("tree", 0))


@dataclass(frozen=True)
class AddressedTree:
    """What is public about a tree: its shape and what is measured of it.

    Attributes:
        layout: the order of the cells along the leaves.
        steps: how many halvings make up each level, from the top.
        levels: what is measured of the nodes of each level, from the top; the root is not among them.
        total: what is measured of the root; None where the total is public.
    """

    layout: Layout
    steps: tuple[int, ...]
    levels: tuple[Measurement, ...]
    total: Measurement | None

    def __post_init__(self) -> None:
        if len(self.steps) != len(self.levels) or sum(self.steps) != self.layout.depth:
            raise ParameterError(
                "steps", "AddressedTree", "as many as levels, adding up to the layout's depth", self.steps
            )

    @cached_property
    def heights(self) -> tuple[int, ...]:
        """How many halvings lie below the nodes of each level, the root's first."""
        return tuple(self.layout.depth - above for above in accumulate(self.steps, initial=0))

    @cached_property
    def anchored(self) -> int:
        """The last level with anchors; it has a level below it, where there is any."""
        depth = self.layout.depth
        return max(
            (level for level, height in enumerate(self.heights[:-1]) if depth - height <= ANCHOR_BITS), default=0
        )

    @property
    def anchor_height(self) -> int:
        """How many halvings lie below the lowest anchors."""
        return self.heights[self.anchored]

    @cached_property
    def step_at(self) -> Integers:
        """For each height, how many halvings its nodes' children lie below."""
        steps = np.zeros(self.layout.depth + 1, dtype=np.int64)
        steps[list(self.heights[:-1])] = self.steps
        return steps

    @cached_property
    def samplers(self) -> tuple[Sampler, ...]:
        """The noise of the nodes of each level, from the top; the root is not among them."""
        return tuple(map(noise_for, self.levels))

    def family_level(self, level: int) -> int:
        """The level of the anchors under whose keys the noise of a level is drawn."""
        return min(level - 1, self.anchored)

    def anchors_of(self, leaves: Keys, level: int) -> Keys:
        """The prefixes of the nodes of a level above leaves."""
        height = np.uint64(self.heights[level])
        return (leaves >> height) << height

    def draws(self, level: int, keys: dict[int, NoiseKey], parents: Keys) -> Iterator[FamilyDraws]:
        """What is drawn for the children of some parents, anchor by anchor.

        Args:
            level: of the children.
            keys: of the anchors above the parents, or of the parents themselves.
            parents: prefixes, ascending.
        """
        families = self.anchors_of(parents, self.family_level(level))
        edges = np.flatnonzero(np.diff(families, prepend=families[:1] ^ np.uint64(1)))
        for first, last in pairwise([*edges.tolist(), parents.size]):
            family = int(families[first])
            yield FamilyDraws(self, level, family, keys[family], slice(first, last))


@dataclass(frozen=True, eq=False)
class FamilyDraws:
    """The draws for children of one level under one anchor's key.

    Attributes:
        tree: of the nodes.
        level: of the children.
        family: prefix of the anchor.
        key: of the anchor.
        parents: which of the parents it is for.
    """

    tree: AddressedTree
    level: int
    family: int
    key: NoiseKey
    parents: slice

    def numbers(self, prefixes: Keys, level: int) -> Integers:
        """The numbers of nodes of a level within the anchor: their addresses under its keys."""
        return ((prefixes - np.uint64(self.family)) >> np.uint64(self.tree.heights[level])).astype(np.int64)

    def counts(self, parents: Keys) -> Integers:
        """The noise of all children of parents, a row for each."""
        step = self.tree.steps[self.level - 1]
        first = self.numbers(parents, self.level)
        nodes = (first[:, None] + np.arange(1 << step)).ravel()
        key = self.key.child("counts", self.level)
        return key.draw(self.tree.samplers[self.level - 1], nodes).reshape(-1, 1 << step)

    def turns(self, parents: Keys) -> Keys:
        """For each parent the word that decides which of equal children get one more."""
        return self._words("turns", self.numbers(parents, self.level - 1), 1)[:, 0]

    def turns_of(self, parent: int, count: int) -> Keys:
        """The first words of one parent, for the rare case that the first has no fair meaning."""
        number = self.numbers(np.array([parent], dtype=np.uint64), self.level - 1)
        return self._words("turns", number, -(-count // 2))[0, :count]

    def ways(self, children: Keys, count: int) -> Keys:
        """For each child that holds one person and nobody of the data, the words that say to which leaf they go."""
        return self._words("alone", self.numbers(children, self.level), -(-count // 2))[:, :count]

    def _words(self, label: str, numbers: Integers, blocks: int) -> Keys:
        key, nodes = self.key.child(label, self.level), numbers.astype(np.uint64)
        return np.concatenate([key.blocks(nodes, block) for block in range(blocks)], axis=1)

    def anchors(self, children: Keys) -> dict[int, NoiseKey]:
        """The keys of children that are anchors themselves."""
        numbers = self.numbers(children, self.level)
        return {
            prefix: self.key.child("child", number)
            for prefix, number in zip(children.tolist(), numbers.tolist(), strict=True)
        }
