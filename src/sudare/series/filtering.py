"""Counts from what was measured so far, with less noise where little changes: a causal filter.

The plain estimate (`estimation`) takes every surprise for a change. Most of it is noise where people stay. The filter
takes a part of it: as much as is best for the drift of such places, which is learned from the surprises themselves, all
nodes of a kind together. A surprise that noise and drift do not explain is a step, and is taken whole. What a kind of place gains
or loses on average is taken whole too, so that sums over places of a kind are those of the plain estimate.

This is post-processing: it sees what could be published, never a true count. Derivation: ``filtering.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

import numpy as np

from sudare.errors import ParameterError
from sudare.parameters import describe_array, exact_integer
from sudare.series.estimation import MAX_NODES, RunningEstimate
from sudare.series.state_space import StateSpace
from sudare.series.strategies import SeriesStrategy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
    Kinds = NDArray[np.int64]

__all__ = ["FilteredEstimate"]

SIZES = 10
"""Classes of estimated counts: below the noise, and up to twice, four times, ... of it."""

AGES = 8
"""Ticks since a step that are told apart; from then on a place is settled."""

MIN_NODES = 32
"""Nodes of a class by which its drift is judged; with fewer, every surprise is taken for a change."""

AREA = 128
"""Nodes next to each other whose mean change is taken whole."""

ROUNDS = 3
RUN = 0.75
STEP = 3.5
"""Standard deviations beyond which a surprise is a step."""

PRECISE = 5_000.0
"""Nodes that are enough to judge a drift by one tick; with fewer, earlier ticks count."""

SURE = 2.0
"""Standard errors by which the drift of one tick must pass that of earlier ones to be believed alone."""


class FilteredEstimate:
    """Estimated counts of the nodes of one level, tick after tick, and how certain they are.

    Args:
        strategy: by which the level is measured; few buffers must make up its coefficients (`FilteredEstimate.suits`).
        nodes: how many nodes the level has.
        variance: of the noise, in the whole numbers of the measurement.

    Attributes:
        counts: the estimates.
        tick: the number of the next tick.

    Example:
        >>> import numpy as np
        >>> from sudare.series.strategies import strategy_for
        >>> estimate = FilteredEstimate(strategy_for("fresh", 3, 0), 2, 4.0)
        >>> estimate.update(np.array([5, 7])).tolist(), estimate.variances().tolist()
        ([5.0, 7.0], [4.0, 4.0])
    """

    def __init__(self, strategy: SeriesStrategy, nodes: int, variance: float) -> None:
        count = exact_integer(nodes, "nodes", "FilteredEstimate", "at least 1", smallest=1, largest=MAX_NODES)
        space = StateSpace.of(strategy, variance)
        if space is None:
            raise ParameterError("strategy", "FilteredEstimate", "one that buffers make up", strategy.name)
        self.strategy, self.space = strategy, space
        self.plain = None if space.left_out is None else RunningEstimate(strategy, count)
        self.tick = 0
        self.state: Reals = np.zeros((space.size, count))
        self.ages = np.zeros(count, dtype=np.uint8)
        self.covariances: Reals = np.zeros((SIZES, AGES, space.size, space.size))
        self.drifts: Reals = np.zeros((SIZES, 2))
        self.started = np.zeros(1, dtype=np.bool_)
        self.runs: Reals = np.zeros(count)
        self._areas = np.arange(0, count, AREA)
        self._lengths = np.diff(np.append(self._areas, count))

    @staticmethod
    def suits(strategy: SeriesStrategy) -> bool:
        """Whether a strategy can be filtered."""
        return StateSpace.of(strategy, 1.0) is not None

    @property
    def counts(self) -> Reals:
        """The estimates."""
        return self.state[0]

    def variances(self) -> Reals:
        """Of the estimates, one for each node."""
        return np.asarray(self.covariances[self._sizes(), self.ages, 0, 0])

    def update(self, measured: NDArray[np.int64]) -> Reals:
        """The counts at the next tick, given what was measured at it.

        Args:
            measured: whole numbers, one for each node.

        Raises:
            ParameterError: if the numbers do not fit, or the window is over.
        """
        surprise = self._surprise(measured)
        if not self.started[0]:
            self.started[0] = True
            self.state += surprise
            self.covariances[:] = self.space.first()
        else:
            self._follow(surprise)
        self.tick += 1
        return self.counts

    def skip(self) -> Reals:
        """The counts at a tick that was not measured, and at which nobody's change is counted."""
        if self.tick >= self.strategy.ticks:
            raise self._is_over()
        if self.plain is not None:
            self.plain.skip()
        self.state *= self.space.decays[:, None]
        self.covariances = self.space.later(self.covariances)
        self.tick += 1
        return self.counts

    def _surprise(self, measured: NDArray[np.int64]) -> Reals:
        """What was measured beyond what the state lets expect."""
        if (
            not isinstance(measured, np.ndarray)
            or measured.shape != self.counts.shape
            or measured.dtype.kind not in "iu"
        ):
            requirement = f"{self.counts.size} whole numbers"
            found = describe_array(np.asarray(measured))
            raise ParameterError("measured", "FilteredEstimate.update", requirement, found)
        if self.tick >= self.strategy.ticks:
            raise self._is_over()
        surprise = measured / self.strategy.scale
        for weight, row in zip(self.space.weights[1:], self.state[1:], strict=True):
            surprise -= weight * row
        if self.plain is not None and self.space.left_out is not None:
            self.plain.update(measured)
            for share, row in zip(self.space.left_out[self.tick :: -1], self.plain.memory, strict=False):
                surprise -= share * row
        return np.asarray(surprise)

    def _follow(self, surprise: Reals) -> None:
        """Take the part of each surprise that is best for its kind of place, and all of those that are steps."""
        space = self.space
        kinds = self._sizes() * AGES + self.ages
        spread = space.spread(self.covariances)
        means, drifts = self._learned(surprise, kinds, spread)
        gain = space.gain(self.covariances, np.broadcast_to(drifts[:, None], spread.shape))
        distance = surprise - means
        deviation = np.sqrt(spread + drifts[:, None]).reshape(-1)[kinds]
        with np.errstate(invalid="ignore"):
            self.runs = RUN * self.runs + np.where(np.isinf(deviation), 0.0, distance / deviation)
        is_step = (np.abs(distance) > STEP * deviation) | (np.abs(self.runs) > STEP / np.sqrt(1 - RUN**2))
        distance[is_step] = 0.0
        number = np.maximum(np.add.reduceat((~is_step).astype(np.float64), self._areas), 1.0)
        for part in range(space.size):
            row = self.state[part]
            row *= space.decays[part]
            row += surprise
            kept_back = (1 - gain[..., part]).reshape(-1)[kinds] * distance
            # What is kept back from an area is given to it again, so that its sum is what it is without a filter.
            mean = np.add.reduceat(kept_back, self._areas) / number
            row -= np.where(is_step, 0.0, kept_back - np.repeat(mean, self._lengths))
        self._grow_older(gain, drifts, kinds, is_step)

    def _learned(self, surprise: Reals, kinds: Kinds, spread: Reals) -> tuple[Reals, Reals]:
        """The mean of each area's surprises, and the variance of changes for each class of sizes; steps are left out."""
        sizes, noise = kinds // AGES, spread.reshape(-1)[kinds]
        number = np.bincount(sizes, minlength=SIZES)
        now, sums = np.full(SIZES, np.inf), np.zeros(SIZES)
        means, used = np.zeros_like(surprise), np.ones_like(surprise)
        for _ in range(ROUNDS):
            means = self._means(surprise, used)
            squares = (surprise - means) ** 2
            sums = np.bincount(sizes, used * (squares / KEPT - noise), SIZES)
            now = np.maximum(sums / np.maximum(np.bincount(sizes, used, SIZES), 1), 0.0)
            used = (squares <= LIMIT**2 * (noise + now[sizes])).astype(np.float64)
        forgotten = 1 / (1 + number / PRECISE)
        self.drifts = forgotten[:, None] * self.drifts + np.stack([sums, number], axis=1)
        drifts = np.maximum(self.drifts[:, 0] / np.maximum(self.drifts[:, 1], 1), 0.0)
        typical = np.bincount(sizes, noise, SIZES) / np.maximum(number, 1)
        error = (typical + now) * np.sqrt(2 / np.maximum(number, 1))
        drifts = np.maximum(drifts, now - SURE * error)
        drifts[number < MIN_NODES] = np.inf
        return means, drifts

    def _means(self, surprise: Reals, weights: Reals) -> Reals:
        """The weighted mean of the surprises of each node's area."""
        total = np.add.reduceat(weights, self._areas)
        sums = np.add.reduceat(weights * surprise, self._areas)
        means = sums / np.where(total > 0, total, 1.0)
        return np.repeat(means, self._lengths)

    def _grow_older(self, gain: Reals, drifts: Reals, kinds: Kinds, is_step: NDArray[np.bool_]) -> None:
        """The covariances of all kinds a tick later, and each node's ticks since its last step."""
        space = self.space
        drift = np.broadcast_to(drifts[:, None], gain.shape[:-1])
        followed = space.updated(self.covariances, gain, drift)
        stepped = space.updated(self.covariances, np.ones_like(gain), drift)
        number = np.bincount(kinds, minlength=SIZES * AGES).reshape(SIZES, AGES, 1, 1) + 1e-3
        older = np.empty_like(followed)
        older[:, 1:] = followed[:, :-1]
        last = number[:, -2:] * followed[:, -2:]
        older[:, -1] = last.sum(axis=1) / number[:, -2:].sum(axis=1)
        older[:, 0] = (number * stepped).sum(axis=1) / number.sum(axis=1)
        self.covariances = older
        self.ages = np.where(is_step, 0, np.minimum(self.ages + 1, AGES - 1)).astype(np.uint8)

    def _sizes(self) -> Kinds:
        """The class of each node, by its estimated count."""
        with np.errstate(divide="ignore"):
            doubled = np.log2(np.maximum(self.counts / np.sqrt(self.space.noise), 0.5))
        return np.clip(np.ceil(doubled), 0, SIZES - 1).astype(np.int64)

    def _is_over(self) -> ParameterError:
        requirement = f"below {self.strategy.ticks}: the window is over"
        return ParameterError("tick", "FilteredEstimate", requirement, self.tick)
LIMIT=3.0
KEPT=0.9733
