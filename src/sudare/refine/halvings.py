"""Noisy counts of blocks of bins, combined into one estimate of every bin of a histogram.

Every block is halved down to the bins. How far the halves depart from an even division is learned from all departures of the
same height (empirical Bayes): where neighbouring bins are alike, what departs is mostly noise, and where a few stand out, these
keep their measurement. Given the spread of each departure, one pass up and one down find the best estimate of all bins.

Nothing here sees the data. Time is in proportion to the number of bins. Formulas: ``halvings.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["NoisyBlocks", "estimate_bins", "least_squares_of_bins"]

PASSES = 2
"""How often spreads are learned; more passes change nothing that can be seen."""

ABSOLUTE = np.geomspace(0.05, 4000, 14)
"""Spreads of departures, in standard deviations of the noise."""

RELATIVE = np.geomspace(0.003, 1, 10)
"""Spreads of departures, as shares of the node's count."""

CLASS_EDGES = (0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256)
"""Limits of the classes of nodes by their counts, in standard deviations of the noise."""

ROUNDS = 10
SAMPLE = 12_000
"""Weights are learned from at most this many nodes of a height, evenly taken."""

BELIEF = 3.0
"""What the weights learned at the height below are worth, in nodes."""

STRENGTH = 10.0
"""What the weights of all nodes of a height are worth to a class of them, in nodes."""


@dataclass(frozen=True)
class NoisyBlocks:
    """Measured counts of blocks of bins.

    Attributes:
        bins: how many there are.
        measured: noisy counts by the height of the blocks: the block i of height h has the bins from i * 2**h on. Bins (height 0)
            are always measured.
        variances: of the noise of each height.
        total: the sum of all bins, where it is public.
    """

    bins: int
    measured: Mapping[int, Values]
    variances: Mapping[int, float]
    total: int | None = None

    @property
    def depth(self) -> int:
        """How many halvings lead from all bins to one."""
        return max(self.bins - 1, 0).bit_length()

    def nodes(self, height: int) -> int:
        """How many blocks of a height there are."""
        return (self.bins - 1 >> height) + 1

    def last_share(self, height: int) -> float:
        """Which share of its bins the last block of a height has in its left half."""
        inside = self.bins - (self.nodes(height) - 1 << height)
        return min(1 << height - 1, inside) / inside


def estimate_bins(blocks: NoisyBlocks) -> Values:
    """An estimate of every bin from all measurements, with departures from even divisions shrunk as far as they are noise."""
    spreads = _unknown(blocks)
    for _ in range(PASSES):
        seen = _Departures.of(blocks)
        _pass(blocks, spreads, seen)
        spreads = _learned(blocks, seen)
    return _pass(blocks, spreads, None)


def least_squares_of_bins(blocks: NoisyBlocks) -> Values:
    """The best linear unbiased estimate of every bin from all measurements."""
    return _pass(blocks, _unknown(blocks), None)


@dataclass(frozen=True)
class _Departures:
    """What was seen of the departures of all nodes, by height from 1 on."""

    values: list[Values]
    noise: list[Values]
    counts: list[Values]

    @classmethod
    def of(cls, blocks: NoisyBlocks) -> _Departures:
        sizes = [blocks.nodes(height) for height in range(1, blocks.depth + 1)]
        values, noise, counts = ([np.empty(size) for size in sizes] for _ in range(3))
        return cls(values, noise, counts)


def _unknown(blocks: NoisyBlocks) -> list[Values]:
    return [np.full(blocks.nodes(height), np.inf) for height in range(1, blocks.depth + 1)]


def _pass(blocks: NoisyBlocks, spreads: list[Values], seen: _Departures | None) -> Values:
    """Final estimates of all bins, given the spread of each node's departure.

    Args:
        blocks: the measurements.
        spreads: by height from 1 on.
        seen: where to write what was seen of the departures.
    """
    from sudare.kernels.tables.halvings import divide_nodes, join_halves

    values = [np.ascontiguousarray(blocks.measured[0], dtype=np.float64)]
    variances = [np.full(blocks.bins, blocks.variances[0])]
    for height in range(1, blocks.depth + 1):
        value, variance = np.empty(blocks.nodes(height)), np.empty(blocks.nodes(height))
        join_halves(values[-1], variances[-1], spreads[height - 1], blocks.last_share(height), value, variance)
        if height in blocks.measured:
            share = variance / (variance + blocks.variances[height])
            value += share * (blocks.measured[height] - value)
            variance *= 1 - share
        values.append(value)
        variances.append(variance)
    final, uncertain = values[-1], variances[-1]
    if blocks.total is not None:
        final, uncertain = np.array([float(blocks.total)]), np.zeros(1)
    for height in range(blocks.depth, 0, -1):
        nodes = blocks.nodes(height)
        departures = np.empty(nodes) if seen is None else seen.values[height - 1]
        noise = np.empty(nodes) if seen is None else seen.noise[height - 1]
        below, below_uncertain = np.empty(values[height - 1].size), np.empty(values[height - 1].size)
        divide_nodes(
            values[height - 1],
            variances[height - 1],
            spreads[height - 1],
            final,
            uncertain,
            blocks.last_share(height),
            below,
            below_uncertain,
            departures,
            noise,
        )
        if seen is not None:
            seen.counts[height - 1][:] = np.maximum(final, 0)
        final, uncertain = below, below_uncertain
        values.pop()
        variances.pop()
    return final


def _learned(blocks: NoisyBlocks, seen: _Departures) -> list[Values]:
    """The spread of every node's departure, from the lowest height up: each begins with what the one below has learned."""
    components = ABSOLUTE.size + RELATIVE.size
    believed = np.full(components, 1 / components)
    spreads = []
    for values, noise, counts in zip(seen.values, seen.noise, seen.counts, strict=True):
        pairs = values.size - int(np.isinf(noise[-1]))  # the last node may have one half alone
        spread = np.full(values.size, np.inf)
        if pairs:
            spread[:pairs], believed = _learned_at(values[:pairs], noise[:pairs], counts[:pairs], believed)
        spreads.append(spread)
    return spreads


def _learned_at(departures: Values, noise: Values, counts: Values, believed: Values) -> tuple[Values, Values]:
    """Spreads of departures at one height, and the weights of all components there."""
    from sudare.kernels.tables.halvings import densities_of_departures, spreads_of_departures
    from sudare.kernels.tables.priors import learn_weights

    deviation = float(np.sqrt(np.median(noise)))
    absolute = ABSOLUTE * deviation
    classes = np.digitize(counts / deviation, CLASS_EDGES)
    sample = slice(None, None, max(1, departures.size // SAMPLE))
    some, kinds = np.ascontiguousarray(departures[sample]), classes[sample]
    densities = np.empty((some.size, absolute.size + RELATIVE.size))
    noise_of_some, counts_of_some = (np.ascontiguousarray(array[sample]) for array in (noise, counts))
    densities_of_departures(some, noise_of_some, counts_of_some, deviation, absolute, RELATIVE, densities)
    pooled = np.empty(believed.size)
    learn_weights(densities, np.ones(some.size), ROUNDS, believed, BELIEF, pooled)
    weights = np.tile(pooled, (len(CLASS_EDGES) + 1, 1))
    for kind in np.unique(kinds):
        own = densities[kinds == kind]
        learn_weights(own, np.ones(len(own)), ROUNDS, pooled, STRENGTH, weights[kind])
    spreads = np.empty(departures.size)
    spreads_of_departures(departures, noise, counts, classes, deviation, absolute, RELATIVE, weights, spreads)
    return spreads, pooled
