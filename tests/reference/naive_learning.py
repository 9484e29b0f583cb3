"""The learned descent through the visited nodes of a tree, written from its definition with dictionaries: slow and obvious."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sudare import CountTable
from sudare.domain import Layout
from sudare.kernels.tables.priors import project_children
from sudare.noise import EntropySource, noise_for
from sudare.privacy import Measurement
from sudare.refine.learning.occupancy import ABOVE_EDGES, AROUND_EDGES
from sudare.refine.learning.priors import bins_of, learn_counts
from sudare.refine.learning.trust import LevelEvidence, departures_if_trusted
from sudare.tables.trees.dense_tree import variance_of
from sudare.tables.trees.visited_level import FAINT_CELLS, FAINT_NODES, FEW_PEOPLE, PARENTS_AT_ONCE

Node = tuple[int, ...]
"""Places along all axes, in nodes of a level."""


class NaiveDescent:
    """A table published level by level from the top.

    Args:
        table: the people.
        layout: of the tree.
        bits: halvings of each level.
        levels: measurements of the total, unless it is public, and of each level.
        source: of all words, in the order in which the fast version asks for them.
        fewest: nodes of a level from which on anything is learned there.
        reference: a public table over the same domain.
    """

    def __init__(
        self,
        table: CountTable,
        layout: Layout,
        bits: Sequence[int],
        levels: Sequence[Measurement],
        source: EntropySource,
        fewest: int,
        reference: CountTable | None = None,
    ) -> None:
        self.table, self.layout, self.bits, self.source, self.fewest = table, layout, list(bits), source, fewest
        self.of_total = levels[0] if len(levels) > len(bits) else None
        self.levels = list(levels[-len(bits) :])
        self.ordered = table.domain.ordered_axes
        self.people = _people(table)
        self.foretold = None if reference is None else _people(reference)
        self.trusted: set[int] = set()

    def widths(self, level: int) -> list[int]:
        """How many halvings are left below a level along each axis."""
        below = self.layout.axis_of_split[sum(self.bits[:level]) :]
        return [below.count(axis) for axis in range(len(self.layout.lengths))]

    def cells(self, node: Node, level: int) -> int:
        """How many cells a node has."""
        product = 1
        for place, length, width in zip(node, self.layout.lengths, self.widths(level), strict=True):
            product *= max(min(1 << width, length - (place << width)), 0)
        return product

    def children(self, node: Node, level: int) -> list[Node]:
        """The children of a node, which are nodes of a level, in the order of the tree."""
        nodes = [node]
        start = sum(self.bits[: level - 1])
        for axis in self.layout.axis_of_split[start : start + self.bits[level - 1]]:
            nodes = [
                tuple(2 * place + half if other == axis else place for other, place in enumerate(one))
                for one in nodes
                for half in (0, 1)
            ]
        return nodes

    def counts(self, people: Sequence[tuple[Node, int]], level: int) -> dict[Node, int]:
        """How many people are in each node of a level that has any."""
        widths, counts = self.widths(level), dict[Node, int]()
        for places, count in people:
            node = tuple(place >> width for place, width in zip(places, widths, strict=True))
            counts[node] = counts.get(node, 0) + count
        return counts

    def measure(self, parents: Sequence[Node], level: int) -> dict[Node, list[float]]:
        """Noisy counts of the children; NaN for those without cells."""
        counts = self.counts(self.people, level)
        fan = 1 << self.bits[level - 1]
        noise = np.empty(len(parents) * fan, dtype=np.int64)
        noise_for(self.levels[level - 1]).fill(noise, self.source)
        measured = {}
        for row, parent in zip(noise.reshape(-1, fan).tolist(), parents, strict=True):
            measured[parent] = [
                counts.get(child, 0) + value if self.cells(child, level) else float("nan")
                for child, value in zip(self.children(parent, level), row, strict=True)
            ]
        return measured

    def neighbours(self, node: Node, level: int) -> list[Node]:
        """The nodes by which a node is judged."""
        used = [-(-length >> width) for length, width in zip(self.layout.lengths, self.widths(level), strict=True)]
        blocks: list[list[int]] = []
        here = self.layout.axis_of_split[sum(self.bits[: level - 1]) : sum(self.bits[:level])]
        for axis, place in enumerate(node):
            if axis not in self.ordered:
                blocks.append([place])
            elif len(self.ordered) <= 2:
                first = max(min(place - 1, used[axis] - 3), 0)
                blocks.append(list(range(first, min(first + 3, used[axis]))))
            else:
                size = 1 << here.count(axis)
                first = place // size * size
                members = min(size, used[axis] - first)
                turned = [(place - first + turn) % members for turn in (0, -1, 1)[: min(members, 3)]]
                blocks.append([first + other for other in turned])
        nodes: list[Node] = [()]
        for block in blocks:
            nodes = [(*one, place) for one in nodes for place in block]
        return [one for one in nodes if one != node]

    def edges(self, node: Node, level: int) -> int:
        """Along how many axes of a map a node stands at an end of its parent, where not all nodes do."""
        if len(self.ordered) > 2:
            return 0
        here = self.layout.axis_of_split[sum(self.bits[: level - 1]) : sum(self.bits[:level])]
        sizes = {axis: 1 << here.count(axis) for axis in self.ordered}
        return sum(size > 2 and node[axis] % size in (0, size - 1) for axis, size in sizes.items())

    def expected(self, values: dict[Node, float], level: int) -> dict[Node, float]:
        """What its surroundings let expect of each node with cells; nobody is where nothing was visited."""
        found = {}
        for node, value in values.items():
            if not np.isnan(value):
                around = self.neighbours(node, level)
                people = sum(values.get(other, 0.0) for other in around)
                cells = sum(self.cells(other, level) for other in around)
                found[node] = people * self.cells(node, level) / cells if cells else 0.0
        return found

    def by_reference(
        self, parents: dict[Node, int], rows: Any, spreads: Any, level: int
    ) -> dict[tuple[int, int], tuple[float, float]] | None:
        """Posterior means and variances of children whose parents are in the reference; None where it is not believed."""
        if self.foretold is None:
            return None
        foretold, places, told = self.counts(self.foretold, level), [], []
        for i, (parent, count) in enumerate(parents.items()):
            children = [foretold.get(child, 0) for child in self.children(parent, level)]
            present = [j for j in range(len(children)) if not np.isnan(rows[i, j])]
            if sum(children):
                places += [(i, j) for j in present]
                told += [(count, count * (children[j] / sum(children)), count / len(present)) for j in present]
        above, expected, evenly = np.array(told, dtype=float).reshape(-1, 3).T.copy()
        values, variances = (np.array([array[place] for place in places]) for array in (rows, spreads))
        is_laplace = self.levels[level - 1].kind == "discrete-laplace"
        evidence = LevelEvidence(values, variances, above, expected, evenly, is_laplace)
        departures = departures_if_trusted(evidence, is_trusted_above=level - 1 in self.trusted)
        self.trusted.discard(level)
        if departures is None:
            return None
        self.trusted.add(level)
        posterior = departures.judge(values, variances, expected)
        return dict(zip(places, zip(posterior.values, posterior.variances, strict=True), strict=True))

    def refine(
        self, parents: dict[Node, int], values: dict[Node, list[float]], variances: Any, typical: float, level: int
    ) -> dict[Node, list[int]]:
        """Counts of children that add up to their parents'."""
        fan = 1 << self.bits[level - 1]
        rows, spreads = np.array([values[parent] for parent in parents]), np.array([variances[p] for p in parents])
        is_laplace = self.levels[level - 1].kind == "discrete-laplace"
        judged = self.by_reference(parents, rows, spreads, level)
        foretold = {i for i, _ in judged or {}}
        learns = len(foretold) < len(parents) and bool(self.ordered) and rows.size >= self.fewest and typical >= 1
        if learns:
            flat = {
                c: v for parent in parents for c, v in zip(self.children(parent, level), values[parent], strict=True)
            }
            around, deviation = self.expected(flat, level), np.sqrt(typical)
            width, half = bins_of(typical)
            kinds = np.zeros(rows.shape, dtype=int)
            bins = np.zeros(rows.shape, dtype=int)
            occurrences = np.zeros((3 * (len(AROUND_EDGES) + 1) * (len(ABOVE_EDGES) + 1), 2 * half + 1))
            for i, (parent, count) in enumerate(parents.items()):
                for j, child in enumerate(self.children(parent, level)):
                    if np.isnan(rows[i, j]):
                        continue
                    kinds[i, j] = self.edges(child, level) * (len(AROUND_EDGES) + 1)
                    kinds[i, j] += np.digitize(around[child] / deviation, AROUND_EDGES)
                    kinds[i, j] = kinds[i, j] * (len(ABOVE_EDGES) + 1) + np.digitize(count / deviation, ABOVE_EDGES)
                    bins[i, j] = np.rint(rows[i, j] / width) + half
                    if abs(rows[i, j]) <= half * width:
                        occurrences[kinds[i, j], bins[i, j]] += 1
            faint = FAINT_CELLS * min(1.0, width / FEW_PEOPLE) if level == len(self.bits) else FAINT_NODES
            learned = learn_counts(occurrences, typical, is_laplace=is_laplace, faint=faint)
        refined = np.empty(rows.shape, dtype=np.int64)
        counts = np.array(list(parents.values()), dtype=np.int64)
        for first in range(0, len(parents), PARENTS_AT_ONCE):
            words = self.source.words(2 * counts[first : first + PARENTS_AT_ONCE].size)
            for i in range(first, min(first + PARENTS_AT_ONCE, len(parents))):
                means, spread = np.zeros(fan), np.full(fan, -1.0)
                likely: dict[int, float] = {}
                for j in range(fan):
                    if np.isnan(rows[i, j]):
                        continue
                    means[j], spread[j] = (judged or {}).get((i, j), (rows[i, j], spreads[i, j]))
                    if learns and i not in foretold:
                        spread[j] = typical
                        if learned.taught[kinds[i, j]] and abs(rows[i, j]) <= half * width:
                            at = kinds[i, j], bins[i, j]
                            means[j], spread[j] = learned.means[at], max(learned.variances[at], 1e-9)
                            if learned.occupied[at] < 0.5:
                                likely[j] = float(learned.occupied[at])
                taking = {j for j in range(fan) if not np.isnan(rows[i, j]) and j not in likely}
                more = min(round(sum(likely.values())), int(counts[i]) // FEW_PEOPLE - len(taking))
                more = max(more, 0 if taking else 1)
                word = int(words[2 * (i - first)])
                ranked = sorted(likely, key=lambda j: -likely[j] * (1 + _chance(word, j) * 1e-9))
                taking |= {j for j in ranked[:more] if likely[j] > 0}
                taking = taking or set(likely)
                for j in likely:
                    spread[j] = spread[j] if j in taking else -1.0
                project_children(
                    means[None], spread[None], counts[i : i + 1], words[2 * (i - first) + 1 :][:1], refined[i : i + 1]
                )
        return {parent: row.tolist() for parent, row in zip(parents, refined, strict=True)}

    def run(self) -> dict[Node, int]:
        """The cells with somebody."""
        root = tuple(0 for _ in self.layout.lengths)
        pending, total = None, float(self.table.total)
        if self.of_total is not None:
            total += noise_for(self.of_total).draw(None, self.source)
            pending = self.measure([root], 1)
            total = self.combined(total, variance_of(self.of_total), pending[root], 1)[0]
        parents = {root: round(max(total, 0.0))} if total > 0 and round(total) > 0 else {}
        for level in range(1, len(self.bits) + 1):
            noisy = self.measure(list(parents), level) if pending is None else pending
            own = variance_of(self.levels[level - 1])
            fan = 1 << self.bits[level - 1]
            variances = {parent: [own] * fan for parent in parents}
            refined = self.refine(parents, noisy, variances, own, level)
            if level == len(self.bits):
                return self.occupied(refined, level)
            first = self.occupied(refined, level)
            ahead = self.measure(list(first), level + 1)
            values, weights = {parent: list(row) for parent, row in noisy.items()}, []
            for parent in parents:
                for j, child in enumerate(self.children(parent, level)):
                    if child in first:
                        told = self.combined(values[parent][j], own, ahead[child], level + 1)
                        values[parent][j], variances[parent][j] = told
                        weights.append(told[1] / own)
            typical = own * (float(np.median(weights)) if 2 * len(first) > len(parents) * fan else 1.0)
            refined = self.refine(parents, values, variances, typical, level)
            parents = self.occupied(refined, level)
            late = self.measure([node for node in parents if node not in first], level + 1)
            pending = {node: ahead[node] if node in first else late[node] for node in parents}
        return parents

    def combined(self, value: float, variance: float, below: Sequence[float], level: int) -> tuple[float, float]:
        """A node's own measurement and the sum of its children's, weighted by their variances."""
        present = [one for one in below if not np.isnan(one)]
        spread = len(present) * variance_of(self.levels[level - 1])
        weight = spread / (spread + variance)
        return weight * value + (1 - weight) * sum(present), weight * variance

    def occupied(self, refined: dict[Node, list[int]], level: int) -> dict[Node, int]:
        """Children with somebody, in the order of the tree."""
        return {
            child: count
            for parent, row in refined.items()
            for child, count in zip(self.children(parent, level), row, strict=True)
            if count
        }


def _people(table: CountTable) -> list[tuple[Node, int]]:
    """Cells with somebody, and how many."""
    places = np.stack(np.unravel_index(table.keys.astype(np.int64), table.domain.shape), axis=1)
    return list(zip(map(tuple, places.tolist()), table.counts.tolist(), strict=True))


def _chance(word: int, child: int) -> float:
    """A number from 0 to 1 that differs for each child: SplitMix64 from a random word."""
    most = (1 << 64) - 1
    word = word + (child + 1) * 0x9E3779B97F4A7C15 & most
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & most
    word = (word ^ word >> 27) * 0x94D049BB133111EB & most
    return float((word ^ word >> 31) / 2**64)
