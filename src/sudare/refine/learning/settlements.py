"""A prior that has seen settlements: how likely each count of a node of a map is, given what its surroundings look like.

How people settle is much the same everywhere: villages, towns, empty land between them. A small network, fitted to public maps of
other countries (``settlements.md``), takes a description of a node's surroundings and gives the probability of each kind of
count there. The network has never seen the table. Before it is used, the noisy counts of the level themselves are asked how
much more often each kind of count occurs here than it says, and whether it explains them better than one prior for all
places does.

Everything here sees noisy counts alone: post-processing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sudare.refine.learning.classes import typical_variance
from sudare.refine.trees import MIN_VARIANCE, Judge, JudgeOfLevel, LevelJudgement, OpenLevel, Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Descriptions = NDArray[np.float32]
    Integers = NDArray[np.int64]
    Keys = NDArray[np.uint64]
    Values = NDArray[np.float64]

__all__ = [
    "KIND_EDGES",
    "MapLevel",
    "Network",
    "describe_level",
    "moments_of",
    "read_network",
    "steps_of",
    "use_settlements",
]

KIND_EDGES = (0.25, 0.5, 1.0, 1.5, 2.25, 3.25, 4.75, 7.0, 10.0, 16.0)
"""Kinds of counts: nobody; then, in standard deviations of the noise, up to each of these; then more."""

MAX_KIND = 24.0
"""Where the last kind ends for the posterior; estimates that high are kept in any case."""

MIN_NODES = 500
MIN_SIDE = 16
"""Levels with fewer nodes, in all or along an axis, tell too little about themselves."""

GROUP_EDGES = (0.05, 0.2, 0.6, 1.6, 4.0)
"""Groups of places, by the prior's mean in standard deviations: each learns how often kinds of counts occur there."""

SAMPLE = 60_000
"""About this many places are asked how often kinds of counts occur."""

STRENGTH = 20.0
"""What the prior itself is worth to a group, in places."""

ROUNDS = 40
MIN_GROUP = 50
OCCUPIED = 1.04
"""Published occupied cells, relative to how many are expected to be: some of those that take part end at 0."""

MIN_DEVIATION, MAX_DEVIATION, STEPS_A_DEVIATION = -12, 14, 64
"""Estimates, in standard deviations, for which posteriors are computed beforehand."""


@dataclass(frozen=True)
class MapLevel:
    """Where the nodes of a level of a tree and their parents are on a map.

    Attributes:
        row_bits: the bits of a node's number for each row of the level's map that has cells.
        column_bits: the same for each column.
        parent_row_bits: the bits of a parent's number for each row of the parents' map.
        parent_column_bits: the same for each of its columns.
        masks: the bits of a parent's number that belong to rows and to columns.
        child_rows: the row of each child within its parent.
        child_columns: the column of each child within its parent.
    """

    row_bits: Integers
    column_bits: Integers
    parent_row_bits: Integers
    parent_column_bits: Integers
    masks: Keys
    child_rows: Integers
    child_columns: Integers

    def is_at_end(self, parents: Integers) -> NDArray[np.bool_]:
        """Which of some parents are in the first or last row or column of their map."""
        rows, columns = (parents & int(mask) for mask in self.masks)
        ends = self.parent_row_bits[[0, -1]], self.parent_column_bits[[0, -1]]
        return np.asarray(np.isin(rows, ends[0]) | np.isin(columns, ends[1]))


@dataclass(frozen=True)
class Network:
    """A small network of dense layers: from descriptions of places to logarithms of the shares of kinds of counts.

    Attributes:
        weights: of each layer.
        offsets: of each layer.
    """

    weights: tuple[Descriptions, ...]
    offsets: tuple[Descriptions, ...]

    def scores(self, descriptions: Descriptions) -> Descriptions:
        """Logarithms of shares, up to a constant, for each place and kind of count."""
        values = descriptions
        for number, (weights, offsets) in enumerate(zip(self.weights, self.offsets, strict=True)):
            for first in range(0, len(values) if number else 0, PLACES_AT_ONCE):
                some = values[first : first + PLACES_AT_ONCE]
                np.maximum(some, np.float32(LEAK) * some, out=some)
            values = values @ weights
            values += offsets
        return values


PLACES_AT_ONCE = 1 << 12
"""Places whose values are cut off in one call: as many as stay in the cache."""

LEAK = 0.01
"""The slope of a node of the network below 0."""


@lru_cache(maxsize=1)
def read_network() -> Network:
    """The network that is part of the package."""
    with np.load(Path(__file__).with_name("settlements.npz"), allow_pickle=False) as stored:
        layers = range(len(stored.files) // 2)
        weights = tuple(stored[f"weights_{layer}"] for layer in layers)
        return Network(weights, tuple(stored[f"offsets_{layer}"] for layer in layers))


def use_settlements(
    locate: Callable[[OpenLevel], MapLevel | None],
    last: int,
    *,
    is_laplace: bool,
    at_ends: Judge | None = None,
    network: Network | None = None,
) -> Judge:
    """A judge for `refine_from_top` that knows how settlements look.

    Of a place at the end of the map half of the surroundings are unknown. Whatever stands for them, the prior moves people away
    from the ends or towards them; children of parents there are left to another judge.

    Args:
        locate: where the nodes of a level are; None where they are on no map.
        last: the number of the level of cells.
        is_laplace: the shape of the noise, else Gaussian.
        at_ends: judges the children of parents at the ends of the map; by their estimates if left out.
        network: the prior; the one of the package if left out.
    """

    def judge(level: OpenLevel) -> JudgeOfLevel | None:
        place = locate(level)
        if place is None or min(place.row_bits.size, place.column_bits.size) < MIN_SIDE:
            return None
        variance = typical_variance(level, MIN_NODES)
        if variance is None or variance < 1:  # noise below one person leaves nothing to learn
            return None
        describe = describe_level(level, place, float(np.sqrt(variance)))
        prior = _Prior(level, describe, read_network() if network is None else network, is_laplace)
        learned = prior.learn()
        if learned is None:
            return None
        elsewhere = None if at_ends is None else at_ends(level)

        def judge_children(part: slice, words: Words) -> LevelJudgement:
            known = prior.judge(part, learned, keeps_few=level.number == last)
            at_end = place.is_at_end(level.inhabited[part])
            if at_end.any():
                other = level.judge_as_estimated(part) if elsewhere is None else elsewhere(part, words)
                known.values[at_end], known.variances[at_end] = other.values[at_end], other.variances[at_end]
            return known

        return judge_children

    return judge


def describe_level(level: OpenLevel, place: MapLevel, deviation: float) -> Callable[[slice], Descriptions]:
    """Descriptions of the children of some inhabited parents of a level, a row for each parent.

    Args:
        level: whose parents are refined.
        place: where its nodes are.
        deviation: of the noise, typically.
    """
    from sudare.kernels.tables.settlements import FEATURES, describe_children

    counts = level.parents.astype(np.float64)
    inhabited = counts[level.inhabited] * (3 / (deviation * level.fan))
    whole = np.array(
        [
            np.log(deviation),
            np.log2(level.fan) / 2,
            level.inhabited.size / (place.parent_row_bits.size * place.parent_column_bits.size),
            np.arcsinh(inhabited.mean()),
            np.arcsinh(np.median(inhabited)),
        ]
    )
    where = place.row_bits, place.column_bits, place.parent_row_bits, place.parent_column_bits, place.masks

    def describe(part: slice) -> Descriptions:
        parents = level.inhabited[part]
        out = np.zeros((parents.size, level.fan, FEATURES), dtype=np.float32)
        describe_children(
            level.values,
            level.cells,
            counts,
            np.ascontiguousarray(parents),
            *where,
            *(place.child_rows, place.child_columns),
            deviation,
            whole,
            out,
        )
        return out

    return describe


@dataclass(frozen=True)
class _Learned:
    """What a level tells of itself: how much more often kinds of counts occur, and from which mean on cells take part."""

    factors: Values
    threshold: float


@dataclass(frozen=True)
class _Prior:
    level: OpenLevel
    describe: Callable[[slice], Descriptions]
    network: Network
    is_laplace: bool

    def learn(self) -> _Learned | None:
        """Ask a sample of the places; None if the prior explains them no better than one prior for all places would."""
        from sudare.kernels.tables.settlements import learn_factors

        every = max(1, self.level.inhabited.size * self.level.fan // SAMPLE)
        sample = slice(None, None, every)
        factors = np.ones((len(GROUP_EDGES) + 1, len(KIND_EDGES) + 2))
        scored = self._scored(sample)
        values, variances, _ = scored
        shares, *_ = self._posteriors(scored, factors)
        steps = steps_of(values, variances)
        is_seen = ~np.isnan(values) & (steps < moments_of(self.is_laplace).shape[0])
        shares, likelihood = shares[is_seen], moments_of(self.is_laplace)[steps[is_seen], :, 0]
        if len(shares) < MIN_GROUP:
            return None
        groups = np.digitize(shares @ _middles(), GROUP_EDGES)
        evidence = 0.0
        for group in np.unique(groups):
            own = np.flatnonzero(groups == group)
            if own.size < MIN_GROUP:
                evidence += float(np.log((shares[own] * likelihood[own]).sum(axis=1) + 1e-300).sum())
                continue
            rows = np.ascontiguousarray(shares[own]), np.ascontiguousarray(likelihood[own])
            evidence += own.size * learn_factors(*rows, STRENGTH, ROUNDS, factors[group])
        alike = np.ascontiguousarray(np.broadcast_to(shares.mean(axis=0), shares.shape))
        same_everywhere = np.empty(shares.shape[1])
        if evidence <= len(shares) * learn_factors(alike, likelihood, STRENGTH, ROUNDS, same_everywhere) + 3:
            return None
        _, means, _, occupied = self._posteriors(scored, factors)
        return _Learned(factors, _threshold(means, occupied))

    def judge(self, part: slice, learned: _Learned, *, keeps_few: bool) -> LevelJudgement:
        """What is known of the children of some parents; of cells, only as many take part as are expected to be occupied."""
        scored = self._scored(part)
        values, *_ = scored
        _, means, spreads, _ = self._posteriors(scored, learned.factors)
        fan = self.level.fan
        means, spreads, absent = (array.reshape(-1, fan) for array in (means, spreads, np.isnan(values)))
        variances = np.where(absent, -1.0, np.maximum(spreads, MIN_VARIANCE))
        if keeps_few:
            ranked = np.where(absent, -np.inf, means)
            likeliest = ranked.max(axis=1, keepdims=True)
            variances[ranked < np.minimum(learned.threshold, likeliest)] = -1.0
        return LevelJudgement(np.ascontiguousarray(means), variances)

    def _scored(self, part: slice) -> tuple[Values, Values, Descriptions]:
        """Estimates, variances and the network's scores, which no learned factor changes."""
        values = self.level.values_of(part).reshape(-1)
        variances = np.ascontiguousarray(self.level.rows(self.level.variances, part).reshape(-1))
        scores = self.network.scores(self.describe(part).reshape(values.size, -1))
        return values, variances, np.ascontiguousarray(scores)

    def _posteriors(
        self, scored: tuple[Values, Values, Descriptions], factors: Values
    ) -> tuple[Values, Values, Values, Values]:
        """Prior shares, posterior means, posterior variances and how likely somebody is there."""
        from sudare.kernels.tables.settlements import judge_by_shares

        values, variances, scores = scored
        shares = np.zeros((values.size, scores.shape[1]))
        means, spreads, occupied = (np.empty(values.size) for _ in range(3))
        judge_by_shares(
            scores,
            values,
            variances,
            moments_of(self.is_laplace),
            1 / STEPS_A_DEVIATION,
            -MIN_DEVIATION * STEPS_A_DEVIATION,
            np.array(GROUP_EDGES),
            factors,
            _middles(),
            *(shares, means, spreads, occupied),
        )
        return shares, means, spreads, occupied


def _threshold(means: Values, occupied: Values) -> float:
    """The mean from which on as many places have more as are expected to be occupied."""
    keep = min(int(OCCUPIED * occupied.sum()), means.size - 1)
    return float(np.partition(means, means.size - 1 - keep)[means.size - 1 - keep])


def steps_of(values: Values, variances: Values) -> Integers:
    """Where estimates stand among those for which posteriors are computed beforehand."""
    with np.errstate(invalid="ignore", divide="ignore"):
        deviations = np.nan_to_num(values / np.sqrt(variances))
    return np.maximum(np.rint(deviations * STEPS_A_DEVIATION).astype(np.int64) - MIN_DEVIATION * STEPS_A_DEVIATION, 0)


def _limits() -> tuple[Values, Values]:
    """Where each kind of count begins and ends, but for nobody."""
    return np.array([0.0, *KIND_EDGES]), np.array([*KIND_EDGES, MAX_KIND])


@lru_cache(maxsize=1)
def _middles() -> Values:
    low, high = _limits()
    return np.concatenate([[0.0], (low + high) / 2])


@lru_cache(maxsize=2)
def moments_of(is_laplace: bool) -> Values:
    """For each estimate: likelihood, and contributions to mean and mean square, of each kind of count, evenly spread in it."""
    seen = np.arange(MIN_DEVIATION * STEPS_A_DEVIATION, MAX_DEVIATION * STEPS_A_DEVIATION + 1) / STEPS_A_DEVIATION
    moments = np.empty((seen.size, len(KIND_EDGES) + 2, 3))
    for kind, (low, high) in enumerate([(0.0, 0.0), *zip(*_limits(), strict=True)]):
        points = max(1, round(4 * (high - low)))
        counts = low + (np.arange(points) + 0.5) * (high - low) / points
        distance = seen[:, None] - counts
        likelihood = np.exp(-np.sqrt(2) * np.abs(distance)) if is_laplace else np.exp(-0.5 * distance**2)
        for power in range(3):
            moments[:, kind, power] = (likelihood * counts**power).mean(axis=1)
    moments.flags.writeable = False
    return moments
