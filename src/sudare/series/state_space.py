"""A measured series as a system with a small state: what a count is now, and what earlier changes still add to measurements.

With c_j = sum over i of w_i d_i**(j - 1), what is measured at tick t is y_t = x_t + sum over i of w_i s_i + z_t, where the i-th
buffer s_i holds the earlier changes, each times d_i for every tick since. The state (count, buffers) follows the change x_t
alone, so that Kalman's filter needs one small covariance for all nodes of a kind, and a few numbers for each of them.

Derivation: ``filtering.md`` beside this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.series.strategies import SeriesStrategy, fitted_buffers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

__all__ = ["StateSpace"]

MAX_MISFIT = 0.1
"""The largest share of a coefficient that buffers may leave out, for which the noise of a plain estimate is good enough."""


@dataclass(frozen=True, eq=False)
class StateSpace:
    """The state of a node is its count, followed by its buffers. Covariances may have leading axes, one for each kind of node.

    Attributes:
        decays: what is left of each part of the state after a tick; that of the count is 1.
        weights: what each part adds to what is measured; that of the count is 0.
        noise: the variance of what is measured, in units of the scale.
        left_out: coefficients minus those of the buffers, or None if these are the same.
    """

    decays: Reals
    weights: Reals
    noise: float
    left_out: Reals | None

    @classmethod
    def of(cls, strategy: SeriesStrategy, variance: float) -> StateSpace | None:
        """The state space of a strategy; None if few buffers do not make up its coefficients.

        Args:
            strategy: by which a level is measured.
            variance: of the noise, in the whole numbers of the measurement.
        """
        buffers, left_out = strategy.buffers, None
        if buffers is None:
            real = strategy.real_coefficients()
            if not (real > 0).all():
                return None
            buffers = fitted_buffers(real)
            left_out = real - buffers.coefficients(strategy.ticks)
            if not (np.abs(left_out) <= MAX_MISFIT * real).all():
                return None
        decays, weights = np.append(1.0, buffers.decays), np.append(0.0, buffers.weights)
        return cls(decays, weights, variance / strategy.scale**2, left_out)

    @property
    def size(self) -> int:
        """How many numbers a state has."""
        return len(self.decays)

    def first(self) -> Reals:
        """The covariance after the first measured tick, of whose changes nothing was known."""
        return np.full((self.size, self.size), self.noise)

    def later(self, covariance: Reals) -> Reals:
        """The covariance a tick later, if nothing is measured and nobody moves."""
        return covariance * self.decays[:, None] * self.decays[None, :]

    def spread(self, covariance: Reals) -> Reals:
        """The variance of what is measured next, but for that of the change."""
        return self._with_measured(covariance) @ self.weights + self.noise

    def gain(self, covariance: Reals, drift: Reals) -> Reals:
        """By how much each part of the state follows what is measured beyond expectation.

        Args:
            covariance: of the state.
            drift: the variance of the change; where it is infinite, all of the surprise is a change.
        """
        with np.errstate(invalid="ignore"):
            found = (self._with_measured(covariance) * self.decays + drift[..., None]) / (
                self.spread(covariance) + drift
            )[..., None]
        return np.where(np.isinf(drift)[..., None], 1.0, found)

    def updated(self, covariance: Reals, gain: Reals, drift: Reals) -> Reals:
        """The covariance after a measured tick, in a form that holds for every gain."""
        # With e = w (s - s') + x + z: the new error is (D - gain w') (old error) + (1 - gain) x - gain z.
        left = self.decays * np.eye(self.size) - gain[..., :, None] * self.weights
        rest = 1.0 - gain
        variance = np.where(np.isinf(drift), 0.0, drift)[..., None, None]
        kept = left @ covariance @ np.swapaxes(left, -1, -2)
        return kept + variance * _square(rest) + self.noise * _square(gain)

    def predicted_variances(self, ticks: int, drift: float) -> tuple[Reals, Reals]:
        """The variance of the estimated count at each tick, if every tick is measured: from noise, and from changes that lag.

        Args:
            ticks: how many.
            drift: the variance of the change at each tick but the first, of which nothing is known.
        """
        parts = np.stack([self.first(), np.zeros((self.size, self.size))])
        known, found = np.asarray(drift), []
        for _ in range(ticks):
            found.append(parts[:, 0, 0])
            gain = self.gain(parts.sum(axis=0), known)
            noise = self.updated(parts[0], gain, np.zeros(()))
            lag = self.updated(parts.sum(axis=0), gain, known) - noise
            parts = np.stack([noise, lag])
        return np.array(found)[:, 0], np.array(found)[:, 1]

    def _with_measured(self, covariance: Reals) -> Reals:
        return np.asarray(covariance @ self.weights)


def _square(vector: Reals) -> Reals:
    return np.asarray(vector[..., :, None] * vector[..., None, :])
