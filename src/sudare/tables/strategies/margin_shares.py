"""Which margins of a table without places are measured, with which shares of the budget, for a workload.

Without places a strategy is one share for each margin, and the variance of every margin a matrix times one over another matrix
times precisions. What is made small is the weighted mean logarithm of the errors relative to noise on each cell alone, with a
part of the largest: no margin is given up for a little gain elsewhere. Nothing here looks at counts. Proof: ``margin_tree.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from sudare.refine.components import axes_within, subsets_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["MarginVariances", "best_shares"]

WORST = 0.25
"""How much the largest ratio counts beside the mean of them."""

SHARPNESS = 16.0
STARTS = 5
STEPS = 300
FIRST_STEP = 0.25
GOLDEN = 2.399963
NEGLIGIBLE = 0.004
"""Margins with a smaller share, and less than a quarter of an equal one, are not measured."""

MIN_CELLS = 0.02
"""The least share of the cells."""

KNOWN = 1e30
"""The precision of a public total."""


@dataclass(frozen=True)
class MarginVariances:
    """Variances of all margins of a table from those of the noise on them, by least squares.

    Attributes:
        held: how much each component's precision gains by that of each margin.
        spread: how much each margin's variance has of each component's.
        fixed_total: whether the total is public.
    """

    held: Values
    spread: Values
    fixed_total: bool

    @classmethod
    def of(cls, lengths: Sequence[int], *, fixed_total: bool = False) -> MarginVariances:
        """For attributes with this many values each."""
        size = 1 << len(lengths)
        held, spread = np.zeros((size, size)), np.zeros((size, size))
        for margin in range(size):
            for part in subsets_of(margin):
                others = prod(lengths[axis] for axis in axes_within(margin & ~part))
                held[part, margin] = 1 / others
                spread[margin, part] = prod(1 - 1 / lengths[axis] for axis in axes_within(part)) / others**2
        return cls(held, spread, fixed_total)

    def of_components(self, precisions: Values) -> Values:
        """The precision of each component, from those of the margins' noise."""
        found = self.held @ precisions
        if self.fixed_total:
            found[0] = KNOWN
        return np.asarray(found)

    def of_margins(self, precisions: Values) -> Values:
        """The variance of each margin."""
        return np.asarray(self.spread @ (1 / np.maximum(self.of_components(precisions), 1 / KNOWN)))


def best_shares(variances: MarginVariances, alone: Values, parts: Values, power: int) -> tuple[Values, float]:
    """The share of the budget of each margin, and the loss that is smallest there; 0 for noise on each cell alone.

    Args:
        variances: of the table.
        alone: the variance of each margin's noise if it had the whole budget.
        parts: how much each margin matters.
        power: a variance falls with this power of the share: 2 for Laplace, 1 for Gaussian noise.
    """
    size = alone.size
    task = _Task(variances, alone, parts / parts.sum(), power)
    only_cells = np.where(np.arange(size) == size - 1, 1.0, 0.0)
    numbers = np.arange(1, size + 1)
    starts = [np.zeros(size), 4.0 * (only_cells - 1), *(np.cos(GOLDEN * t * numbers) for t in range(1, STARTS - 1))]
    found = [only_cells, *(task.rounded(task.descended(start)) for start in starts)]
    best = min(found, key=task.loss)
    return best, task.loss(best)


@dataclass(frozen=True)
class _Task:
    variances: MarginVariances
    alone: Values
    weights: Values
    power: int

    @property
    def flat(self) -> Values:
        """Variances of all margins by noise on each cell alone."""
        cells = np.where(np.arange(self.alone.size) == self.alone.size - 1, 1 / self.alone, 0.0)
        return self.variances.of_margins(cells)

    def loss(self, shares: Values) -> float:
        """What is made small, without its slope."""
        return self._loss(shares, self.flat)[0]

    def _loss(self, shares: Values, flat: Values) -> tuple[float, Values]:
        """The loss, and how fast it grows with each share."""
        precisions = shares**self.power / self.alone
        components = np.maximum(self.variances.of_components(precisions), 1 / KNOWN)
        found = self.variances.spread @ (1 / components)
        used = (self.weights > 0) & (flat > 1e-12)
        logs = np.where(used, 0.5 * np.log(np.maximum(found, 1e-300) / np.maximum(flat, 1e-300)), 0.0)
        raised = np.where(used, self.weights * np.exp(SHARPNESS * (logs - logs.max())), 0.0)
        loss = float(self.weights @ logs) + WORST * (float(logs.max()) + float(np.log(raised.sum())) / SHARPNESS)
        matter = np.where(used, self.weights + WORST * raised / raised.sum(), 0.0)
        by_component = -((matter / (2 * np.maximum(found, 1e-300))) @ self.variances.spread) / components**2
        if self.variances.fixed_total:
            by_component[0] = 0.0
        slope = (by_component @ self.variances.held) * self.power * shares ** (self.power - 1) / self.alone
        return loss, np.asarray(slope)

    def descended(self, logs: Values) -> Values:
        """The best shares on the way down from some."""
        flat = self.flat
        best, least = logs, np.inf
        first, second = np.zeros(logs.size), np.zeros(logs.size)
        for step in range(1, STEPS + 1):
            shares = np.exp(logs - logs.max())
            shares /= shares.sum()
            loss, slope = self._loss(shares, flat)
            if loss < least:
                best, least = shares, loss
            slope = shares * (slope - float(slope @ shares))
            first, second = 0.8 * first + 0.2 * slope, 0.98 * second + 0.02 * slope**2
            pace = FIRST_STEP * (1 - step / (STEPS + 1))
            logs = logs - pace * (first / (1 - 0.8**step)) / (np.sqrt(second / (1 - 0.98**step)) + 1e-9)
            logs = np.maximum(logs - logs.max(), -12.0)
        return best

    def rounded(self, shares: Values) -> Values:
        """Without what is hardly measured, and with enough for the cells, which tell what margins do not."""
        kept = np.where(shares < min(NEGLIGIBLE, 0.25 / shares.size), 0.0, shares)
        if self.variances.fixed_total:
            kept[0] = 0.0
        kept[-1] = max(kept[-1], MIN_CELLS)
        return np.asarray(kept / kept.sum())
