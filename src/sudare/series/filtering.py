"""Counts from what was measured so far, with less noise where little changes: a causal filter.

The plain estimate (`estimation`) takes every surprise for a change. Where people stay, most of it is noise. The filter takes a
part of it: as much as is best for the drift of such places, which is learned from the surprises of all nodes of a kind. A
surprise that noise and drift do not explain is a step, and is taken whole. What an area gains or loses on average is taken
whole too, so that the sum over an area is that of the plain estimate.

This is post-processing: it sees what could be published, never a true count. Derivation: ``filtering.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.errors import ParameterError
from sudare.parameters import exact_integer
from sudare.series.estimation import MAX_NODES, RunningEstimate, read_measured, restore_arrays
from sudare.series.state_space import StateSpace
from sudare.series.strategies import SeriesStrategy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
    Kinds = NDArray[np.int64]

__all__ = ["FilterStep", "FilteredEstimate", "Surprises", "area_of", "mean_of_areas"]

SIZES = 10
"""Classes of estimated counts: below the noise of a measurement, up to twice, four times, ... of it."""

AGES = 8
"""Ticks since a step that are told apart; from then on a place is settled."""

MIN_AREA, MAX_AREA, AREAS = 16, 128, 16
"""Nodes next to each other whose mean change is taken whole: a 16th of a level, from 16 to 128 of them."""

MIN_SEEN = 64
"""Nodes of a class, over the last ticks, by which its drift is judged; with fewer, every surprise is taken for a change."""

STEP = 3.5
"""Standard deviations beyond which a surprise, or a run of surprises, is a step."""

RUN = 0.75
"""What a surprise still counts a tick later in a run of surprises of one sign."""

ROUNDS = 3
TYPICAL = 3.0
"""Drift is judged by surprises within so many standard deviations, in a few rounds."""

TYPICAL_SHARE = 0.97334
"""The variance of a normal law within three standard deviations, of its whole variance."""

PRECISE = 5_000.0
"""Nodes that are enough to judge a drift by one tick; with fewer, earlier ticks count."""

LASTING = 0.9
"""What a tick still counts a tick later, at most: a day has quiet and busy hours."""

SURE = 2.0
"""Standard errors by which the drift of one tick must pass that of earlier ones to be believed alone."""


@dataclass(frozen=True, eq=False)
class FilterStep:
    """How a filter followed one tick: what a smoother needs of it.

    Attributes:
        distances: of the surprises from the means of their areas; 0 for steps.
        is_step: which nodes followed their whole surprise.
        gain: by which each part of the state followed, for each class and age.
        spread: the variance of surprises, for each class and age; infinite where all of a surprise is a change.
    """

    distances: Reals
    is_step: NDArray[np.bool_]
    gain: Reals
    spread: Reals


class Surprises:
    """What was measured of the nodes of a level beyond expectation, at one tick.

    Attributes:
        values: the surprises of all nodes of the level.
        kinds: of each node: its class of sizes times `AGES`, plus its ticks since a step.
        spread: the variance of a surprise but for the change, for each class and age.
        means: the mean of the surprises of each node's area.
        is_step: which surprises are taken whole.
    """

    def __init__(self, values: Reals, kinds: Kinds, spread: Reals) -> None:
        self.values, self.kinds, self.spread = values, kinds, spread
        self.sizes = kinds // AGES
        self.noise = spread.reshape(-1)[kinds]
        self.means: Reals = np.zeros_like(values)
        self.is_step = np.zeros(values.size, dtype=np.bool_)

    def learn(self, earlier: Reals) -> tuple[Reals, Reals]:
        """The variance of the changes of each class of sizes, steps left out, and what is remembered of it.

        Args:
            earlier: what was remembered at the tick before: sums and numbers for each class.
        """
        number = np.bincount(self.sizes, minlength=SIZES).astype(np.float64)
        now: Reals = np.zeros(SIZES)
        sums: Reals = np.zeros(SIZES)
        used = np.ones_like(self.values)
        for _ in range(ROUNDS):
            self.means = mean_of_areas(used * self.values, used)
            squares = (self.values - self.means) ** 2
            sums = np.bincount(self.sizes, used * (squares / TYPICAL_SHARE - self.noise), SIZES).astype(np.float64)
            now = np.maximum(sums / np.maximum(np.bincount(self.sizes, used, SIZES), 1), 0.0)
            used = (squares <= TYPICAL**2 * (self.noise + now[self.sizes])).astype(np.float64)
        kept = np.minimum(1 / (1 + number / PRECISE), LASTING)
        remembered = earlier * kept[:, None] + np.stack([sums, number], axis=1)
        drifts = np.maximum(remembered[:, 0] / np.maximum(remembered[:, 1], 1), 0.0)
        typical = np.bincount(self.sizes, self.noise, SIZES) / np.maximum(number, 1)
        error = (typical + now) * np.sqrt(2 / np.maximum(number, 1))
        drifts = np.maximum(drifts, now - SURE * error)
        drifts[remembered[:, 1] < MIN_SEEN] = np.inf
        return drifts, remembered

    def find_steps(self, runs: Reals, drifts: Reals) -> Reals:
        """Find surprises, and runs of surprises, that noise and drift do not explain.

        Args:
            runs: of each node, up to the tick before.
            drifts: of each class of sizes.

        Returns:
            The runs with this tick in them.
        """
        variance = self.noise + drifts[self.sizes]
        relative = (self.values - self.means) / np.sqrt(variance)
        found = RUN * runs + relative
        self.is_step = (np.abs(relative) > STEP) | (np.abs(found) > STEP / np.sqrt(1 - RUN**2))
        return found

    def taken(self, gain: Reals) -> Reals:
        """The part of each surprise that a part of the state follows.

        Args:
            gain: the share of a surprise, for each class and age.
        """
        kept_back = np.where(self.is_step, 0.0, (1 - gain).reshape(-1)[self.kinds] * (self.values - self.means))
        # What is kept back from the nodes of an area goes to all of them in equal parts: the area's sum follows everything.
        given_back = mean_of_areas(kept_back, (~self.is_step).astype(np.float64))
        return np.where(self.is_step, self.values, self.values - kept_back + given_back)


class FilteredEstimate:
    """Estimated counts of the nodes of one level, tick after tick, and how certain they are.

    Args:
        strategy: by which the level is measured; few buffers must make up its coefficients (`FilteredEstimate.suits`).
        nodes: how many nodes the level has, neighbours next to each other.
        variance: of the noise, in the whole numbers of the measurement.

    Raises:
        ParameterError: if an argument is not of this kind.

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
            requirement = "a strategy whose coefficients a few buffers make up"
            raise ParameterError("strategy", "FilteredEstimate", requirement, strategy.name)
        self.strategy, self.space, self.tick = strategy, space, 0
        self.plain = None if space.left_out is None else RunningEstimate(strategy, count)
        self.state: Reals = np.zeros((space.size, count))
        self.runs: Reals = np.zeros(count)
        self.ages = np.zeros(count, dtype=np.uint8)
        self.covariances: Reals = np.zeros((SIZES, AGES, space.size, space.size))
        self.remembered: Reals = np.zeros((SIZES, 2))
        self.has_begun = np.zeros(1, dtype=np.bool_)
        self.last_step: FilterStep | None = None
        self.plain_variances = strategy.deviations() ** 2 * variance

    @staticmethod
    def suits(strategy: SeriesStrategy) -> bool:
        """Whether a strategy can be filtered."""
        return StateSpace.of(strategy, 1.0) is not None

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """All that the estimate remembers besides its tick. These are the arrays themselves: save them before the next update."""
        names = ("state", "runs", "ages", "covariances", "remembered", "has_begun")
        plain = {} if self.plain is None else self.plain.arrays()
        return {name: getattr(self, name) for name in names} | {f"plain_{name}": row for name, row in plain.items()}

    def restore(self, tick: int, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        """Become what an estimate was when `arrays` was called; see `RunningEstimate.restore`."""
        restore_arrays(self, "FilteredEstimate.restore", tick, arrays)

    def at_tick(self, tick: int) -> None:
        """Set the tick, and with it how much is remembered."""
        self.tick = tick
        if self.plain is not None:
            self.plain.at_tick(tick)

    @property
    def counts(self) -> Reals:
        """The estimates."""
        return np.asarray(self.state[0])

    def variances(self) -> Reals:
        """Of the estimates, one for each node: of its distance from its area's mean, and of the mean, which is the plain one."""
        return self.with_areas(
            self.covariances.reshape(-1, *self.covariances.shape[2:])[self.kinds(), 0, 0], self.tick - 1
        )

    def with_areas(self, own: Reals, tick: int) -> Reals:
        """Variances of counts from those of their distances from the means of their areas."""
        area = area_of(own.size)
        in_area = np.minimum(area, own.size - np.arange(own.size) // area * area)
        return np.asarray(own + (self.plain_variances[tick] - own) / in_area)

    def update(self, measured: NDArray[np.int64]) -> Reals:
        """The counts at the next tick, given what was measured at it.

        Args:
            measured: whole numbers, one for each node.

        Raises:
            ParameterError: if the numbers do not fit, or the window is over.
        """
        self.last_step = None
        values = self._surprise(read_measured(measured, self.counts.size, "FilteredEstimate.update"))
        self.state *= self.space.decays[:, None]
        if self.has_begun[0]:
            self._follow(values)
        else:
            self.has_begun[0] = True
            self.state += values
            self.covariances[:] = self.space.first()
        self.tick += 1
        return self.counts.copy()

    def skip(self) -> Reals:
        """The counts at a tick that was not measured, and at which nobody's change is counted."""
        self._require_open()
        self.last_step = None
        if self.plain is not None:
            self.plain.skip()
        self.state *= self.space.decays[:, None]
        self.covariances = self.space.later(self.covariances)
        self.tick += 1
        return self.counts.copy()

    def _surprise(self, measured: NDArray[np.int64]) -> Reals:
        """What was measured beyond what the state lets expect."""
        self._require_open()
        surprise = np.asarray(measured / self.strategy.scale)
        for weight, row in zip(self.space.weights[1:], self.state[1:], strict=True):
            surprise -= weight * row
        if self.plain is not None and self.space.left_out is not None:
            self.plain.update(measured)
            for share, row in zip(self.space.left_out[self.tick :: -1], self.plain.memory, strict=False):
                surprise -= share * row
        return surprise

    def _follow(self, values: Reals) -> None:
        """Follow the part of each surprise that is best for its kind of place."""
        space = self.space
        surprises = Surprises(values, self.kinds(), space.spread(self.covariances))
        drifts, self.remembered = surprises.learn(self.remembered)
        self.runs = surprises.find_steps(self.runs, drifts)
        drift = np.broadcast_to(drifts[:, None], (SIZES, AGES))
        gain = space.gain(self.covariances, drift)
        for part in range(space.size):
            self.state[part] += surprises.taken(gain[..., part])
        self.last_step = FilterStep(
            np.where(surprises.is_step, 0.0, values - surprises.means),
            surprises.is_step,
            gain,
            surprises.spread + drift,
        )
        self.covariances = _older(space, self.covariances, gain, drift, surprises.kinds)
        self.ages = np.where(surprises.is_step, 0, np.minimum(self.ages + 1, AGES - 1)).astype(np.uint8)

    def kinds(self) -> Kinds:
        """The class of each node by its estimated count, times `AGES`, plus its ticks since a step."""
        doublings = np.ceil(np.log2(np.maximum(self.counts / np.sqrt(self.space.noise), 0.5)))
        return np.asarray(np.clip(doublings, 0, SIZES - 1) * AGES + self.ages, dtype=np.int64)

    def _require_open(self) -> None:
        if self.tick >= self.strategy.ticks:
            requirement = f"below {self.strategy.ticks}: the window is over"
            raise ParameterError("tick", "FilteredEstimate", requirement, self.tick)


def area_of(nodes: int) -> int:
    """How many nodes an area of a level of so many nodes has."""
    return min(max(nodes // AREAS, MIN_AREA), MAX_AREA)


def mean_of_areas(values: Reals, weights: Reals) -> Reals:
    """The sum of values over that of weights in each node's area."""
    firsts = np.arange(0, values.size, area_of(values.size))
    sums, total = np.add.reduceat(values, firsts), np.add.reduceat(weights, firsts)
    means = sums / np.where(total > 0, total, 1.0)
    return np.repeat(means, np.diff(np.append(firsts, values.size)))


def _older(space: StateSpace, covariances: Reals, gain: Reals, drift: Reals, kinds: Kinds) -> Reals:
    """The covariances of all kinds of nodes a tick later: an age further, or after a step at age 0."""
    followed = space.updated(covariances, gain, drift)
    stepped = space.updated(covariances, np.ones_like(gain), drift)
    number = np.bincount(kinds, minlength=SIZES * AGES).reshape(SIZES, AGES, 1, 1) + 1e-3
    older = np.empty_like(followed)
    older[:, 1:] = followed[:, :-1]
    older[:, -1] = (number[:, -2:] * followed[:, -2:]).sum(axis=1) / number[:, -2:].sum(axis=1)
    older[:, 0] = (number * stepped).sum(axis=1) / number.sum(axis=1)
    return older
