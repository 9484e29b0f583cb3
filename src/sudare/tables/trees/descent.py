"""What the tree mechanisms share: the nodes of a level, and budgets for the levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from threading import Lock, local
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain.layout import Layout
from sudare.domain.table import MAX_TOTAL, CountTable
from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.noise.exact import WORD_BITS, Bounds, NextWord
from sudare.noise.inversion import InversionSampler
from sudare.noise.sampler import Sampler
from sudare.parameters import Rational
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion, epsilon_to_rho
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, Measurement
from sudare.privacy.unit import Sensitivity
from sudare.tables.arguments import MechanismRequest, Noise
from sudare.tables.published import NoisyCounts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Keys = NDArray[np.uint64]

__all__ = [
    "Cells",
    "Nodes",
    "Notes",
    "ReadOn",
    "Tree",
    "descend",
    "measure_levels",
    "place_alone",
    "sampler_between",
    "start",
]

NODES_TO_PART = 1 << 9
PARTS = 8
"""Few enough for the work in each to outweigh the calls, enough for several threads to share it evenly."""

WORTH_A_WORKSPACE = 1 << 14
"""Cells with people from which on memory is made ready for the threads."""

CELLS_AT_ONCE = 1 << 16
"""Cells whose places are found in one call."""


@lru_cache(maxsize=8)
def with_tables(layout: Layout) -> Layout:
    """The same layout as before, if an equal one was used lately: it has its tables already."""
    return layout


@dataclass(frozen=True)
class Tree:
    """The people of a table along the leaves of a tree."""

    layout: Layout
    leaves: Keys = field(repr=False)
    sums: Integers = field(repr=False)
    """Running sums of the counts at the leaves, from 0."""

    @classmethod
    def over(cls, table: CountTable, layout: Layout, threads: int = 1) -> Tree:
        """Arrange a table's cells along the leaves."""
        from sudare.kernels.tables.sorting import side_by_side, sort_cells

        layout = with_tables(layout)
        chunks = [slice(first, first + CELLS_AT_ONCE) for first in range(0, table.keys.size, CELLS_AT_ONCE)]
        places = side_by_side(lambda chunk: (layout.to_tree(table.keys[chunk]), table.counts[chunk]), chunks, threads)
        leaves, counts = sort_cells(places, layout.depth, threads)
        sums = np.empty(leaves.size + 1, dtype=np.int64)
        sums[0] = 0
        np.cumsum(counts, out=sums[1:])
        return cls(layout, leaves, sums)

    @cached_property
    def padding(self) -> tuple[bool, Keys, NDArray[np.uint64]]:
        """What the kernels need to know about leaves that are no cells: the axes along which there are any."""
        axes = [axis for axis, length in enumerate(self.layout.lengths) if length & (length - 1)]
        lengths = np.array([self.layout.lengths[axis] for axis in axes], dtype=np.uint64)
        return bool(axes), lengths, self.layout.gather[axes]


@dataclass(frozen=True)
class Nodes:
    """The nodes of one level with a positive refined count, from left to right."""

    prefixes: Keys
    starts: Integers
    ends: Integers
    refined: Integers

    @classmethod
    def empty(cls, room: int) -> Nodes:
        """Room for this many nodes."""
        return cls(np.empty(room, dtype=np.uint64), *(np.empty(room, dtype=np.int64) for _ in range(3)))

    def between(self, first: int, last: int) -> Nodes:
        """Those from one position to before another."""
        part = slice(first, last)
        return Nodes(self.prefixes[part], self.starts[part], self.ends[part], self.refined[part])

    def copy(self) -> Nodes:
        """The same nodes in memory of their own."""
        return Nodes(self.prefixes.copy(), self.starts.copy(), self.ends.copy(), self.refined.copy())

    @classmethod
    def joined(cls, parts: list[Nodes]) -> Nodes:
        """Nodes of several parts, one after the other."""
        if len(parts) == 1:
            return parts[0]
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


class Workspace(local):
    """Arrays that each thread fills again and again: being given fresh memory takes longer than what is done in it.

    Args:
        prepared: arrays with their names for each thread that will come. They are made where memory was used before: a
            thread of its own is given fresh memory.
    """

    def __init__(self, prepared: list[dict[str, NDArray[Any]]]) -> None:
        self._arrays = prepared.pop() if prepared else {}

    @classmethod
    def ready(cls, request: MechanismRequest, size: int, words: Sequence[str], numbers: Sequence[str]) -> Workspace:
        """Arrays of words and of whole numbers for every thread of a request, if there is enough for them to do."""
        threads = min(request.threads, PARTS) if request.table.keys.size >= WORTH_A_WORKSPACE else 0
        kinds: list[tuple[str, type[np.generic]]] = [(name, np.uint64) for name in words]
        kinds += [(name, np.int64) for name in numbers]
        return cls([{name: np.empty(size, dtype=kind) for name, kind in kinds} for _ in range(threads)])

    def array(self, name: str, size: int, kind: type[np.generic] = np.int64) -> NDArray[Any]:
        """So many places of whatever was there; one name is one array."""
        held = self._arrays.get(name)
        if held is None or held.size < size:
            held = self._arrays[name] = np.empty(size, dtype=kind)
        return held[:size]

    def nodes(self, name: str, size: int) -> Nodes:
        """Room for this many nodes."""
        columns = (self.array(f"{name} {column}", size) for column in ("starts", "ends", "refined"))
        return Nodes(self.array(f"{name} prefixes", size, np.uint64), *columns)


Cells = list[tuple["Keys", "Integers"]]
"""Leaves and their refined counts, in several pieces and any order."""


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


class ReadOn(EntropySource):
    """A source of words whose first two bits were drawn before, in one place or each in its own.

    What follows a word, where a sampler reads on because 64 bits do not decide, comes from the source underneath.

    Args:
        source: where all other bits come from.
        leading: words with the two leading bits; one for all, or one for each word that will be asked for.
    """

    __slots__ = ("_leading", "_next", "_source")

    def __init__(self, source: EntropySource, leading: Keys) -> None:
        self._source, self._leading, self._next = source, leading, 0

    def fill(self, words: Keys) -> None:
        """Overwrite a contiguous array of words with the leading bits of the next ones, and fresh ones after them."""
        self._source.fill(words)
        words >>= np.uint64(2)
        words |= self._leading if self._leading.size == 1 else self._leading[self._next : self._next + words.size]
        self._next += words.size

    def next_word(self) -> int:
        """One fresh word."""
        return self._source.next_word()

    def spawn(self, count: int) -> list[EntropySource]:
        """Sources of the source underneath: the leading bits belong to this one alone."""
        return self._source.spawn(count)


def start(tree: Tree, total: Measurement | None, source: EntropySource, notes: Notes) -> Nodes:
    """The root with its noisy total, cut off where counts end; no nodes at all if it is not positive.

    Where the total is public there is nothing to measure. Else this is the first draw. Nothing from here on may raise an
    error that depends on what is drawn: it would be a release without a charge. All samplers are therefore made before.
    """
    noisy = int(tree.sums[-1])
    if total is not None:
        noisy += noise_for(total).draw(None, source)
        notes.take("total", np.zeros(1, dtype=np.uint64), np.array([noisy]))
    noisy = min(noisy, MAX_TOTAL)
    root = Nodes.empty(1)
    root.prefixes[0], root.starts[0], root.ends[0], root.refined[0] = 0, 0, tree.leaves.size, max(noisy, 0)
    return root.between(0, int(noisy > 0))


Split = Callable[[Nodes, EntropySource], Nodes]
"""One level of a descent: the children of nodes, with noise from a source."""

Finish = Callable[[Nodes, int, EntropySource], Cells]
"""All levels of a descent below the first this many: the leaves below nodes, with noise from a source."""


def descend(
    table: CountTable,
    tree: Tree,
    root: Nodes,
    levels: Sequence[Split],
    finish: Finish,
    source: EntropySource,
    threads: int,
) -> CountTable:
    """The refined table: level by level first, and from where there are enough nodes in parts side by side.

    The parts, and the sources they draw from, do not depend on the number of threads.
    """
    from sudare.kernels.tables.sorting import side_by_side, sort_cells

    nodes, done = root, 0
    while done < len(levels) and len(nodes) < NODES_TO_PART:
        nodes = levels[done](nodes, source)
        done += 1

    def cells_of(part: tuple[Nodes, EntropySource]) -> Cells:
        below, own = part
        cells = finish(below, done, own) if done < len(levels) else [(below.prefixes, below.refined)]
        return [(tree.layout.to_raster(leaves), counts) for leaves, counts in cells if leaves.size]

    if done == len(levels):
        pieces = [cells_of((nodes, source))]
    else:
        work = np.cumsum(nodes.ends - nodes.starts + 1)  # roughly: there is something to do for each cell with people
        edges = [*np.searchsorted(work, [int(work[-1]) * i // PARTS for i in range(PARTS)]).tolist(), len(nodes)]
        parts = [nodes.between(first, last) for first, last in pairwise(edges)]
        shares = [(part, own) for part, own in zip(parts, source.spawn(PARTS), strict=True) if len(part)]
        pieces = side_by_side(cells_of, shares, threads)
    bits = (table.domain.cells - 1).bit_length()
    return CountTable(table.domain, *sort_cells([cells for piece in pieces for cells in piece], bits, threads))


def place_alone(
    tree: Tree, prefixes: Keys, heights: Integers, steps: Integers, source: EntropySource
) -> tuple[Keys, Integers]:
    """The leaves of those who are alone in a node without people (`sudare.kernels.tables.trees`), with their counts of 1."""
    from sudare.kernels.tables import trees

    words = source.words(prefixes.size * (trees.FRACTION_WORDS if tree.padding[0] else 1))
    leaves = np.empty(prefixes.size, dtype=np.uint64)
    trees.place_alone(prefixes, heights, words, steps, *tree.padding, leaves)
    return leaves, np.ones(prefixes.size, dtype=np.int64)


def sampler_between(points_at: Callable[[int], list[Bounds]], lowest: int, name: str) -> Sampler:
    """Draw the value, counted from the lowest, at whose place between the points of a cumulative distribution a number falls.

    Args:
        points_at: gives bounds of 2**bits times the points, ascending, for any number of bits from 64 on.
        lowest: the value below the first point.
        name: of the sampler.
    """
    return InversionSampler(lowest, points_at(WORD_BITS), partial(_settle, points_at, lowest), name)


def _settle(points_at: Callable[[int], list[Bounds]], lowest: int, word: int, next_word: NextWord) -> int:
    """The value for a uniform number that starts with this word, read on as far as it takes."""
    bits = WORD_BITS
    while True:
        points = points_at(bits)
        if all(word >= point.high or word < point.low for point in points):
            return lowest + sum(word >= point.high for point in points)
        word, bits = word << WORD_BITS | next_word(), bits + WORD_BITS


def measure_levels(
    budget: Budget,
    weights: Sequence[Rational],
    sensitivities: Sequence[Sensitivity],
    noise: Noise,
    conversion: Conversion,
) -> list[Measurement]:
    """A measurement for each level, which together cost exactly the budget (or the rho that it allows)."""
    kind: type[LaplaceMeasurement] | type[GaussianMeasurement]
    if noise == "laplace":
        LaplaceMeasurement.for_budget(budget, sensitivities[0])  # refuses what it cannot give, with the reason
        whole, kind = Budget._exactly(budget.epsilon, Fraction(0), None), LaplaceMeasurement
    else:
        GaussianMeasurement.for_budget(budget, sensitivities[0], conversion)
        whole, kind = budget, GaussianMeasurement
        if budget.currency == "epsilon-delta":
            whole = Budget._exactly(None, Fraction(0), epsilon_to_rho(budget.epsilon, budget.delta, conversion))
    asked_for = list(zip(whole.allocate(weights), sensitivities, strict=True))
    # Levels that are alike, as in a tree with equal shares, have one measurement.
    different = {asked: kind.for_budget(*asked) for asked in dict.fromkeys(asked_for)}
    return [different[asked] for asked in asked_for]
