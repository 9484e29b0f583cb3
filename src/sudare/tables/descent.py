"""What the tree mechanisms share: the nodes of a level, and budgets for the levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain.layout import Layout
from sudare.domain.table import LARGEST_TOTAL, CountTable
from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.parameters import Rational
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion, epsilon_to_rho
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, Measurement
from sudare.privacy.unit import Sensitivity
from sudare.tables.published import NoisyCounts
from sudare.tables.reading import Noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Keys = NDArray[np.uint64]

__all__ = ["Nodes", "Notes", "Tree", "descend", "measure_levels", "start"]

NODES_TO_PART = 1 << 13
PARTS = 8
"""Few enough for the work in each to outweigh the calls, enough for several threads to share it."""


@dataclass(frozen=True)
class Tree:
    """The people of a table along the leaves of a tree."""

    layout: Layout
    leaves: Keys
    sums: Integers
    """Running sums of the counts at the leaves, from 0."""

    @classmethod
    def over(cls, table: CountTable, layout: Layout) -> Tree:
        """Arrange a table's cells along the leaves."""
        leaves = layout.to_tree(table.keys)
        order = np.argsort(leaves)
        sums = np.zeros(leaves.size + 1, dtype=np.int64)
        np.cumsum(table.counts[order], out=sums[1:])
        return cls(layout, leaves[order], sums)

    @property
    def padding(self) -> tuple[bool, Keys, NDArray[np.uint64]]:
        """What the kernels need to know about leaves that are no cells."""
        return self.layout.is_padded, np.array(self.layout.lengths, dtype=np.uint64), self.layout.gather


@dataclass(frozen=True)
class Nodes:
    """The nodes of one level with a positive refined count, from left to right."""

    prefixes: Keys
    starts: Integers
    ends: Integers
    refined: Integers

    @classmethod
    def empty(cls, room: int) -> Nodes:
        """Room for so many nodes."""
        return cls(np.empty(room, dtype=np.uint64), *(np.empty(room, dtype=np.int64) for _ in range(3)))

    def between(self, first: int, last: int) -> Nodes:
        """Those from one position to before another."""
        part = slice(first, last)
        return Nodes(self.prefixes[part], self.starts[part], self.ends[part], self.refined[part])

    @classmethod
    def joined(cls, parts: list[Nodes]) -> Nodes:
        """Nodes of several parts, one after the other."""
        if not parts:
            return cls.empty(0)
        columns: Any = zip(*(part.arrays for part in parts), strict=True)
        return cls(*(np.concatenate(arrays) for arrays in columns))

    def __len__(self) -> int:
        return self.prefixes.size

    @property
    def arrays(self) -> tuple[Keys, Integers, Integers, Integers]:
        """The nodes as the kernels take them."""
        return self.prefixes, self.starts, self.ends, self.refined

    def to_table(self, table: CountTable, layout: Layout) -> CountTable:
        """The refined counts of leaves, as a table over the same domain."""
        return CountTable.from_unique_cells(table.domain, layout.to_raster(self.prefixes), self.refined)


class Notes:
    """The noisy measurements of a descent, written down while it runs where they are part of the result.

    What is measured depends on what was measured above, never on the data directly: which nodes are listed here is
    as public as their noisy counts.
    """

    def __init__(self, layout: Layout, names: Sequence[str], levels: Sequence[Measurement], *, wanted: bool) -> None:
        self.wanted = wanted
        self._layout = layout
        self._levels = dict(zip(names, levels, strict=True))
        self._taken: dict[str, list[tuple[Keys, Integers]]] = {name: [] for name in names}
        self._lock = Lock()

    def take(self, name: str, prefixes: Keys, values: Integers) -> None:
        """Write down noisy values of nodes of one level; called from several threads, in any order."""
        if self.wanted:
            with self._lock:
                self._taken[name].append((prefixes.ravel().copy(), values.ravel().copy()))

    def read(self) -> tuple[NoisyCounts, ...] | None:
        """All measurements, each level from left to right; None where they were not wanted."""
        if not self.wanted:
            return None
        return tuple(self._read_level(name, level) for name, level in self._levels.items())

    def _read_level(self, name: str, level: Measurement) -> NoisyCounts:
        taken = self._taken[name] or [(np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64))]
        prefixes, values = (np.concatenate(arrays) for arrays in zip(*taken, strict=True))
        order = np.argsort(prefixes, kind="stable")
        return NoisyCounts(name, level, self._layout.to_raster(prefixes[order]), values[order])


def start(tree: Tree, total: Measurement | None, source: EntropySource, notes: Notes) -> Nodes:
    """The root with its noisy total, cut off where counts end; no nodes at all if it is not positive.

    Where the total is public there is nothing to measure. Else this is the first draw. Nothing from here on may raise an
    error that depends on what is drawn: it would be a release without a charge. All samplers are therefore made before.
    """
    noisy = int(tree.sums[-1])
    if total is not None:
        noisy += noise_for(total).draw(None, source)
        notes.take("total", np.zeros(1, dtype=np.uint64), np.array([noisy]))
    noisy = min(noisy, LARGEST_TOTAL)
    root = Nodes.empty(1)
    root.prefixes[0], root.starts[0], root.ends[0], root.refined[0] = 0, 0, tree.leaves.size, max(noisy, 0)
    return root.between(0, int(noisy > 0))


Split = Callable[[Nodes, EntropySource], Nodes]
"""One level of a descent: the children of nodes, with noise from a source."""


def descend(nodes: Nodes, levels: Sequence[Split], source: EntropySource, threads: int) -> Nodes:
    """All levels, one after the other; from where there are enough nodes, in parts side by side.

    The parts, and the sources they draw from, do not depend on the number of threads.
    """
    left = list(levels)
    while left and len(nodes) < NODES_TO_PART:
        nodes = left.pop(0)(nodes, source)
    if not left:
        return nodes

    def finish(part: Nodes, own: EntropySource) -> Nodes:
        for level in left:
            part = level(part, own)
        return part

    edges = [len(nodes) * i // PARTS for i in range(PARTS + 1)]
    parts = [nodes.between(first, last) for first, last in pairwise(edges)]
    sources = source.spawn(PARTS)
    if threads == 1:
        return Nodes.joined([finish(part, own) for part, own in zip(parts, sources, strict=True)])
    with ThreadPoolExecutor(threads) as pool:
        return Nodes.joined(list(pool.map(finish, parts, sources)))


def measure_levels(
    budget: Budget,
    weights: Sequence[Rational],
    sensitivities: Sequence[Sensitivity],
    noise: Noise,
    conversion: Conversion,
) -> list[Measurement]:
    """A measurement for each level, which together cost exactly the budget (or the rho that it allows)."""
    if noise == "laplace":
        LaplaceMeasurement.for_budget(
            budget, sensitivities[0]
        )  # refuses what Laplace noise cannot give, with the reason
        shares = Budget._exactly(budget.epsilon, Fraction(0), None).allocate(weights)
        return [LaplaceMeasurement.for_budget(share, s) for share, s in zip(shares, sensitivities, strict=True)]
    GaussianMeasurement.for_budget(budget, sensitivities[0], conversion)  # refuses what Gaussian noise cannot give
    whole = budget
    if budget.currency == "epsilon-delta":
        whole = Budget._exactly(None, Fraction(0), epsilon_to_rho(budget.epsilon, budget.delta, conversion))
    return [
        GaussianMeasurement.for_budget(share, s)
        for share, s in zip(whole.allocate(weights), sensitivities, strict=True)
    ]
