"""Levels of a wide tree, from the nodes down to the leaves.

Most nodes far down a sparse tree have no people below them, and a few published ones that noise has put there. What
becomes of them follows from noise alone, and need not be drawn child by child:

- one *alone* goes to any leaf below with the same probability;
- *pairs* stay together level by level with a known probability, and part for good;
- the children of *quiet* nodes with somewhat more are decided by those few whose noise is high.

Proof: ``tables/mechanisms/wide_tree.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.noise.exact import Bounds, bounded_exp
from sudare.noise.inversion import InversionSampler
from sudare.noise.sampler import Sampler
from sudare.privacy.measurements import LaplaceMeasurement, Measurement
from sudare.tables.arguments import MechanismRequest
from sudare.tables.trees.descent import Cells, Nodes, Notes, ReadOn, Tree, Workspace, place_alone, sampler_between

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Keys = NDArray[np.uint64]

__all__ = ["Splitting", "WholeDescent", "workspace_for"]

CHILDREN_AT_ONCE = 1 << 16
"""Children whose noise is held at the same time, in each thread: as much as stays in its cache."""

HIGHEST_QUARTER = 3 << 62
"""The first word of the highest quarter of all words: both leading bits are set."""

QUIET_STEPS = range(3, 6)
QUIET_AT_ONCE = 1 << 15
GUARD_BITS = 32


@dataclass(frozen=True)
class WholeDescent:
    """All levels of a wide tree, ready to be drawn: nothing from here on can fail.

    Attributes:
        splits: the levels, from the top.
        partings: for each level, at which of those below it a pair parts that is set apart there.
    """

    splits: Sequence[Splitting]
    partings: Sequence[Sampler | None]

    @classmethod
    def through(cls, splits: Sequence[Splitting]) -> WholeDescent:
        """The descent through these levels."""
        return cls(splits, [_parting(splits[number:]) for number in range(1, len(splits) + 1)])

    def finish(self, nodes: Nodes, done: int, source: EntropySource) -> Cells:
        """The leaves below nodes that have been split this many times."""
        step_at = np.zeros(self.splits[0].step + self.splits[0].bit + 1, dtype=np.int64)
        step_at[[split.step + split.bit for split in self.splits]] = [split.step for split in self.splits]
        cells: Cells = []
        quiet: Cells = []
        for number, (split, parting) in enumerate(zip(self.splits, self.partings, strict=True), start=1):
            if number <= done:
                continue
            below, children = self.splits[number:], _Children([], [], [], [])
            limit = 0 if not below or split.notes.wanted else max(below[0].quiet_limit, 1 if parting is None else 2)
            apart = _Apart(limit, parting is not None)
            split.split(nodes, apart, source, children)
            split.split_quiet(quiet, apart, source, children)
            nodes, quiet = Nodes.joined(children.nodes), children.quiet
            if children.alone:
                prefixes = np.concatenate(children.alone)
                there = np.full(prefixes.size, split.bit, dtype=np.int64)
                cells.append(place_alone(split.tree, prefixes, there, step_at, source))
            if parting is not None and children.pairs:
                cells.append(_place_pairs(np.concatenate(children.pairs), below, parting, source))
        return [*cells, (nodes.prefixes, nodes.refined)]


class _Children(NamedTuple):
    """What is found on a level: nodes, those without people and with few published ones, prefixes of pairs and those alone."""

    nodes: list[Nodes]
    quiet: Cells
    pairs: list[Keys]
    alone: list[Keys]


class _Apart(NamedTuple):
    """Which children without people are set apart: up to which count, and whether pairs are."""

    limit: int
    pairs: bool


class _Room:
    """Where the kernels write children, again and again."""

    def __init__(self, space: Workspace, size: int) -> None:
        self.nodes = space.nodes("children", size)
        self.prefixes = space.array("quiet", size, np.uint64)
        self.pairs, self.alone = space.array("pairs", size, np.uint64), space.array("alone", size, np.uint64)
        self.refined = space.array("quiet refined", size)

    @property
    def arrays(self) -> tuple[Keys, Integers, Integers, Integers, Keys, Integers, Keys, Keys]:
        """The room as the kernels take it."""
        return (*self.nodes.arrays, self.prefixes, self.refined, self.pairs, self.alone)

    def hand_over(self, children: _Children, written: int, quiet: int, pairs: int, alone: int) -> None:
        """Add what was written to the children."""
        children.nodes.append(self.nodes.between(0, written).copy())
        children.quiet.append((self.prefixes[:quiet].copy(), self.refined[:quiet].copy()))
        children.pairs.append(self.pairs[:pairs].copy())
        children.alone.append(self.alone[:alone].copy())


@dataclass(frozen=True)
class Splitting:
    """One level of a wide tree: how nodes are split into children.

    Attributes:
        tree: the people.
        measurement: what is measured of the children.
        step: how many bits tell the children of a node apart.
        bit: how many bits are left below them.
        notes: where the noisy counts are written down.
        name: what the notes call the level.
        space: where all levels work.
    """

    tree: Tree
    measurement: Measurement
    step: int
    bit: int
    notes: Notes
    name: str
    space: Workspace
    noise: Sampler = field(init=False)
    """The noise of a child's count."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise", noise_for(self.measurement))

    def one_level(self, nodes: Nodes, source: EntropySource) -> Nodes:
        """All children of nodes."""
        children = _Children([], [], [], [])
        self.split(nodes, _Apart(0, pairs=False), source, children)
        return Nodes.joined(children.nodes)

    def split(self, nodes: Nodes, apart: _Apart, source: EntropySource, children: _Children) -> None:
        """Add the children of nodes; those without people and with few published ones go to lists of their own."""
        from sudare.kernels.tables.splits import ABSENT

        at_once = max(1, min(CHILDREN_AT_ONCE >> self.step, len(nodes)))
        drawn = self.space.array("noise", at_once << self.step).reshape(at_once, -1)
        room = _Room(self.space, drawn.size)
        for first in range(0, len(nodes), at_once):
            some = nodes.between(first, first + at_once)
            z = drawn[: len(some)]
            self.noise.fill(z, source)
            self._project(some, z, apart, source, room, children)
            if self.notes.wanted:
                is_cell = z != ABSENT
                offsets = np.arange(1 << self.step, dtype=np.uint64) << np.uint64(self.bit)
                self.notes.take(self.name, (some.prefixes[:, None] | offsets)[is_cell], z[is_cell])

    def _project(
        self,
        nodes: Nodes,
        noise: Integers,
        apart: _Apart,
        source: EntropySource,
        room: _Room,
        children: _Children,
    ) -> None:
        from sudare.kernels.tables.splits import SPARE_WORDS, split_by_counts

        ties = source.words(len(nodes) + SPARE_WORDS)
        padded, *which = self.tree.padding
        written = split_by_counts(
            *(self.tree.leaves, self.tree.sums),
            *(*nodes.arrays, noise, ties),
            self.bit,
            self.step,
            apart.limit,
            apart.pairs,
            padded,
            *(*which, *room.arrays),
        )
        room.hand_over(children, *written)

    @cached_property
    def quiet_limit(self) -> int:
        """Up to which count the highest quarter of the noise mostly tells how a node without people is split."""
        if not isinstance(self.noise, InversionSampler) or self.step not in QUIET_STEPS:
            return 0
        return max(self._noise_below(15 << 60) - self._noise_below(HIGHEST_QUARTER), 0)

    def _noise_below(self, word: int) -> int:
        """The largest noise that a smaller word can give."""
        noise = cast("InversionSampler", self.noise)
        return noise.lowest + int(np.searchsorted(noise.table.thresholds, np.uint64(word)))

    def split_quiet(self, quiet: Cells, apart: _Apart, source: EntropySource, children: _Children) -> None:
        """Add the children of nodes without people, drawing only the high noise where this is enough."""
        from sudare.kernels.tables.splits import SPARE_WORDS, leading_bits, pick_high, put_high, split_quiet

        if not quiet:
            return
        every_prefix, every_count = (np.concatenate(arrays) for arrays in zip(*quiet, strict=True))
        size = min(every_prefix.size, QUIET_AT_ONCE)
        room, drawn = _Room(self.space, size << self.step), self.space.array("noise", size << self.step)
        picked, edges = self.space.array("picked", size << self.step, np.uint8), self.space.array("edges", size + 1)
        unsettled = self.space.array("unsettled", size)
        highest = ReadOn(source, np.array([HIGHEST_QUARTER], dtype=np.uint64))
        padded, *which = self.tree.padding
        for first in range(0, every_prefix.size, QUIET_AT_ONCE):
            some = slice(first, first + QUIET_AT_ONCE)
            prefixes, refined = every_prefix[some], every_count[some]
            words = source.words(prefixes.size)
            high = drawn[: pick_high(words, self.step, picked, edges)]
            self.noise.fill(high, highest)
            *written, unknown = split_quiet(
                *(prefixes, refined, picked, edges, high),
                self._noise_below(HIGHEST_QUARTER),
                source.words(prefixes.size + SPARE_WORDS),
                self.bit,
                *apart,
                padded,
                *(*which, *room.arrays, unsettled),
            )
            room.hand_over(children, *written)
            again = unsettled[:unknown]
            nobody = np.zeros(unknown, dtype=np.int64)
            nodes = Nodes(prefixes[again], nobody, nobody, refined[again])
            # As drawn where the noise is high, and the rest of the bits for the others.
            leading, noise = (
                np.empty(unknown << self.step, dtype=np.uint64),
                np.empty((unknown, 1 << self.step), np.int64),
            )
            leading_bits(words[again], self.step, leading)
            self.noise.fill(noise, ReadOn(source, leading))
            put_high(again, picked, edges, high, noise)
            self._project(nodes, noise, apart, source, room, children)


def workspace_for(request: MechanismRequest) -> Workspace:
    """Memory for the levels of a wide tree."""
    numbers = ["noise", "children starts", "children ends", "children refined", "quiet refined"]
    return Workspace.ready(request, CHILDREN_AT_ONCE, ["children prefixes", "quiet", "pairs", "alone"], numbers)


def _place_pairs(
    prefixes: Keys, below: Sequence[Splitting], parting: Sampler, source: EntropySource
) -> tuple[Keys, Integers]:
    """The leaves of pairs in nodes without people above some levels, with their counts: 2 for those that never part."""
    from sudare.kernels.tables.splits import SPARE_WORDS, place_pairs

    levels = parting.draw(prefixes.size, source)
    tops = np.array([split.step + split.bit for split in below] + [0], dtype=np.int64)
    steps = np.array([split.step for split in below] + [0], dtype=np.int64)
    leaves, counts = np.empty(2 * prefixes.size, dtype=np.uint64), np.empty(2 * prefixes.size, dtype=np.int64)
    words = source.words(3 * prefixes.size + SPARE_WORDS)
    written = place_pairs(prefixes, levels, words, tops, steps, leaves, counts)
    return leaves[:written].copy(), counts[:written].copy()


def _parting(below: Sequence[Splitting]) -> Sampler | None:
    """At which of some levels a pair parts, their number standing for never; None where this is not known.

    It is known for Laplace noise, and where every child of a node has cells.
    """
    if not below or below[0].notes.wanted or below[0].tree.padding[0]:
        return None
    measured = [split.measurement for split in below]
    if not all(isinstance(measurement, LaplaceMeasurement) for measurement in measured):
        return None
    scales = tuple(cast("LaplaceMeasurement", measurement).scale for measurement in measured)
    return _parting_sampler(scales, tuple(1 << split.step for split in below))


@lru_cache(maxsize=64)
def _parting_sampler(scales: tuple[Fraction, ...], fans: tuple[int, ...]) -> Sampler:
    return sampler_between(partial(_parted_by, scales, fans), 0, "parting")


def _parted_by(scales: tuple[Fraction, ...], fans: tuple[int, ...], bits: int) -> list[Bounds]:
    """Bounds of 2**bits times the probability that a pair has parted by each level.

    With q = exp(-1 / scale) and n children, it parts at a level with probability (1 - q) (1 - (q / (1 + q))**(n - 1)),
    which falls with q.
    """
    work = bits + GUARD_BITS
    one = 1 << work
    lowest, highest = [], []
    for scale, fan in zip(scales, fans, strict=True):
        q = bounded_exp(1 / scale, work)
        # The power is rounded the other way, by a factor of up to 1 + fan / 2**work.
        power_high = _power(-(-q.high * one // (one + q.high)), fan - 1, work) + fan
        power_low = max(_power(q.low * one // (one + q.low), fan - 1, work), 0)
        lowest.append((one - q.high) * max(one - power_high, 0) >> work)
        highest.append(-(-(one - q.low) * (one - power_low) >> work))
    together_high = list(accumulate(lowest, lambda stay, part: -(-stay * (one - part) >> work), initial=one))[1:]
    together_low = list(accumulate(highest, lambda stay, part: stay * (one - part) >> work, initial=one))[1:]
    return [
        Bounds((one - high) >> GUARD_BITS, -(-(one - low) >> GUARD_BITS))
        for low, high in zip(together_low, together_high, strict=True)
    ]


def _power(base: int, exponent: int, bits: int) -> int:
    """base**exponent in units of 2**-bits, rounded down."""
    power = 1 << bits
    for _ in range(exponent):
        power = power * base >> bits
    return power
