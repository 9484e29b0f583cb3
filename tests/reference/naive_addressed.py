"""The addressed wide tree, node by node: every key, every draw and every projection by itself."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np

from sudare.domain.table import MAX_TOTAL
from sudare.noise.additive import noise_for
from sudare.noise.addressed import NoiseKey
from sudare.tables.addressed.tree import AddressedTree


def naive_addressed(tree: AddressedTree, key: NoiseKey, people: dict[int, int]) -> dict[int, int]:
    """Published counts by leaf."""
    layout = tree.layout
    cells = {int(leaf) for leaf in layout.to_tree(np.arange(layout.cells, dtype=np.uint64))}
    published: dict[int, int] = {}

    def below(level: int, prefix: int) -> range:
        return range(prefix, prefix + (1 << tree.heights[level]))

    def count(level: int, prefix: int) -> int:
        return sum(people.get(leaf, 0) for leaf in below(level, prefix))

    def has_cells(level: int, prefix: int) -> bool:
        return any(leaf in cells for leaf in below(level, prefix))

    def key_of(level: int, prefix: int) -> NoiseKey:
        own = key.child("tree", 0)
        for upper in range(1, level + 1):
            own = own.child("child", (prefix >> tree.heights[upper]) & ((1 << tree.steps[upper - 1]) - 1))
        return own

    def number(of_level: int, prefix: int, anchor_level: int) -> int:
        return (prefix & ((1 << tree.heights[anchor_level]) - 1)) >> tree.heights[of_level]

    def words(label: str, level: int, node: int, anchor: NoiseKey, blocks: int) -> list[int]:
        own = anchor.child(label, level)
        return [int(word) for i in range(blocks) for word in own.blocks(np.array([node], dtype=np.uint64), i)[0]]

    def place(prefix: int, level: int, drawn: list[int]) -> None:
        if not layout.is_padded:
            leaf = prefix | drawn[0] & ((1 << tree.heights[level]) - 1)
            published[leaf] = published.get(leaf, 0) + 1
            return
        fraction = Fraction(sum(word << 64 * i for i, word in enumerate(drawn[:4])), 1 << 256)
        while level < len(tree.steps):
            inside = [c for c in children(level, prefix) if has_cells(level + 1, c)]
            fraction *= len(inside)
            prefix, fraction, level = inside[int(fraction)], fraction % 1, level + 1
        published[prefix] = published.get(prefix, 0) + 1

    def children(level: int, prefix: int) -> list[int]:
        return [prefix | c << tree.heights[level + 1] for c in range(1 << tree.steps[level])]

    def split(level: int, prefix: int, s: int) -> None:
        if s == 0:
            return
        if level == len(tree.steps):
            published[prefix] = published.get(prefix, 0) + s
            return
        anchor_level = min(level, tree.anchored)
        anchor_prefix = prefix >> tree.heights[anchor_level] << tree.heights[anchor_level]
        anchor, sampler = key_of(anchor_level, anchor_prefix), noise_for(tree.levels[level])
        noisy = {}
        for child in children(level, prefix):
            at = np.array([number(level + 1, child, anchor_level)])
            noise = int(anchor.child("counts", level + 1).draw(sampler, at)[0])
            if has_cells(level + 1, child):
                noisy[child] = count(level + 1, child) + noise
        above = sorted(noisy)
        while True:
            theta = Fraction(sum(noisy[child] for child in above) - s, len(above))
            if all(noisy[child] > theta for child in above):
                break
            above = [child for child in above if noisy[child] > theta]
        t = ceil(theta)
        rest, n = s - sum(noisy[child] - t for child in above), len(above)
        turn = 0
        if rest:
            drawn = words("turns", level + 1, number(level, prefix, anchor_level), anchor, 8)
            turn = next(word for word in drawn if word < 2**64 - 2**64 % n) % n
        for k, child in enumerate(above):
            refined = noisy[child] - t + ((turn + k) % n < rest)
            if refined == 1 and level + 1 < len(tree.steps) and count(level + 1, child) == 0:
                node = number(level + 1, child, anchor_level)
                place(child, level + 1, words("alone", level + 1, node, anchor, 2))
            else:
                split(level + 1, child, refined)

    total = sum(people.values())
    if tree.total is not None:
        total += int(key.child("total", 0).draw(noise_for(tree.total), np.zeros(1, dtype=np.int64))[0])
    split(0, 0, max(min(total, MAX_TOTAL), 0))
    return published
