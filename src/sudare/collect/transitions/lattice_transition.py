"""Noise in whole steps of a grid, and with which probability it makes which report of which value.

The matrix exp(-|i - j| / t) of Laplace noise is never written out: its inverse has three diagonals, so that everything costs one
pass over the grid. That of normal noise is written out for up to 4,096 reports.

Proof: ``collect/randomizers/noisy_numbers.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.collect.transitions.grids import BoundedLaw, Grid, exp_minus_down
from sudare.collect.transitions.real_transition import RealTransition
from sudare.errors import GuaranteeError
from sudare.noise.entropy import EntropySource
from sudare.noise.exact import LatticeLaw
from sudare.noise.lattice import discrete_gaussian, discrete_laplace
from sudare.noise.sampler import Sampler

if TYPE_CHECKING:
    from sudare.collect.transitions.transition import Integers, Shares

__all__ = ["Base", "LatticeNoise", "LatticeTransition", "Method"]

Base = Literal["laplace", "normal"]
Method = Literal["inverse", "rejection"]
MAX_DENSE = 4096
MAX_SUMMED_SCALE = 10**5
TAIL = 6
"""Reports beyond this many scales outside the grid are counted with the last of them."""


@dataclass(frozen=True)
class LatticeNoise:
    """Laplace or normal noise in whole steps of a grid.

    Attributes:
        grid: the numbers that values may be.
        scale: of the noise, in the unit of the numbers.
        base: which noise.
    """

    grid: Grid
    scale: Fraction
    base: Base

    @property
    def steps(self) -> Fraction:
        """The scale in steps of the grid."""
        return self.scale / self.grid.step

    @property
    def law(self) -> LatticeLaw:
        """The noise without bounds, in steps of the grid."""
        if self.base == "laplace":
            return LatticeLaw(1 / self.steps, Fraction(0), two_sided=True)
        return LatticeLaw(Fraction(0), 1 / (2 * self.steps**2), two_sided=True)

    @property
    def sampler(self) -> Sampler:
        """Draws the noise without bounds, in steps of the grid."""
        return (
            discrete_laplace(self.steps) if self.base == "laplace" else discrete_gaussian(sigma_squared=self.steps**2)
        )

    @property
    def end_to_end(self) -> Fraction:
        """How much less likely, as a logarithm, noise from one end of the grid to the other is than none."""
        return self.law.energy(self.grid.last)


class LatticeTransition(RealTransition):
    """Noise in steps of a grid: exp(-energy) times a factor for each value and one for each report.

    Args:
        noise: before it is bounded.
        bounded: whether reports stay within the grid.
        method: how bounded noise is drawn.
    """

    def __init__(self, noise: LatticeNoise, *, bounded: bool, method: Method = "inverse") -> None:
        self._noise, self._bounded, self._method = noise, bounded, method
        self.margin = 0
        if not bounded and noise.base == "normal":
            self.margin = int(min(-(-TAIL * noise.steps // 1), MAX_DENSE // 4))
        exact = bounded or noise.base == "laplace"
        ratio = 1 / exp_minus_down(noise.end_to_end) if exact else None
        rate = exp_minus_down(2 * noise.end_to_end) if exact else Fraction(0)
        self._set_promises(noise.grid.size, noise.grid.size + 2 * self.margin, ratio, rate)

    def draw(self, places: Integers, source: EntropySource) -> Integers:
        """A report for each true value, both as places from 0 on."""
        noise, last = self._noise, self._noise.grid.last
        if not self._bounded:
            far = places + noise.sampler.draw(places.shape, source)
            return np.asarray(np.clip(far, -self.margin, last + self.margin) + self.margin)
        if self._method == "inverse":
            return BoundedLaw(noise.law, last).draw(places, source)
        flat = places.ravel()
        drawn = np.empty_like(flat)
        pending = np.arange(flat.size)
        while pending.size:
            candidates = flat[pending] + noise.sampler.draw(pending.size, source)
            inside = (candidates >= 0) & (candidates <= last)
            drawn[pending[inside]] = candidates[inside]
            pending = pending[~inside]
        return drawn.reshape(places.shape)

    @cached_property
    def _q(self) -> float:
        return float(np.exp(-1 / float(self._noise.steps)))

    @cached_property
    def _row_factors(self) -> Shares:
        """Over the sum of the weights of each row."""
        last, inverse = self._noise.grid.last, 1 / float(self._noise.steps)
        if not self._bounded:
            return np.ones(last + 1)
        up = np.arange(last + 1)
        return np.asarray(
            -np.expm1(-inverse) / (-np.expm1(-inverse * (up + 1)) - self._q * np.expm1(-inverse * up[::-1]))
        )

    @cached_property
    def _column_factors(self) -> Shares:
        columns = np.ones(self.reports)
        if not self._bounded:
            inverse = 1 / float(self._noise.steps)
            columns[:] = -np.expm1(-inverse) / (1 + self._q)
            columns[[0, -1]] = 1 / (1 + self._q)
        return columns

    def probabilities(self) -> Shares:
        """The matrix; entries have a relative error below 1e-12 down to 1e-290."""
        return self._matrix

    @cached_property
    def _matrix(self) -> Shares:  # type: ignore[override]
        if self.reports > MAX_DENSE:
            size = f"{self.reports:,} reports"
            raise GuaranteeError(
                Words(
                    f"A grid with {size} is too fine for a matrix. Take a coarser grid, or bins (`grouped`).",
                    f"{size} の格子は細かすぎて行列にできません。粗い格子か、区間（`grouped`）を使ってください。",
                )
            )
        apart = np.arange(self.reports) - self.margin - np.arange(self.values)[:, None]
        if self._noise.base == "laplace":
            weights = np.exp(-np.abs(apart) / float(self._noise.steps))
            return np.asarray(self._row_factors[:, None] * weights * self._column_factors)
        weights = np.exp(-(apart**2) * float(self._noise.law.quadratic))
        if not self._bounded:
            weights = self._with_tails(weights)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _with_tails(self, weights: Shares) -> Shares:
        """The first and the last column get the weights of all that lies beyond."""
        if self._noise.steps > MAX_SUMMED_SCALE:
            raise GuaranteeError(
                Words(
                    "The noise is too wide for the steps of the grid. Take a coarser grid.",
                    "格子の刻みに対してノイズが大きすぎます。粗い格子を使ってください。",
                )
            )
        far = np.arange(self._noise.grid.last + self.margin + int(40 * self._noise.steps) + 40, 0, -1)
        beyond = np.cumsum(np.exp(-(far.astype(np.float64) ** 2) * float(self._noise.law.quadratic)))[::-1]
        first = np.arange(self.values) + self.margin  # how far the first column is from each value
        weights[:, 0], weights[:, -1] = beyond[first - 1], beyond[first[::-1] - 1]
        return weights

    def _times_weights(self, numbers: Shares) -> Shares:
        """Times the matrix exp(-|i - j| / t), by two passes."""
        from sudare.kernels.collection.bounded import times_powers

        rows = np.ascontiguousarray(numbers, dtype=np.float64).reshape(-1, self.values)
        out = np.empty_like(rows)
        times_powers(rows, self._q, out)
        return out.reshape(np.shape(numbers))

    def _times_inverse(self, numbers: Shares, power: int = 1) -> Shares:
        """Times the inverse of the matrix exp(-|i - j| / t), or with each of its entries squared."""
        q, rest = self._q, -np.expm1(-2 / float(self._noise.steps))
        middle = np.full(self.values, (1 + q**2) / rest)
        middle[[0, -1]] = 1 / rest
        beside = -q / rest
        out = middle**power * numbers
        out[..., 1:] += beside**power * numbers[..., :-1]
        out[..., :-1] += beside**power * numbers[..., 1:]
        return np.asarray(out)

    @property
    def _is_thin(self) -> bool:
        return self._noise.base == "laplace"

    def forward(self, shares: Shares) -> Shares:
        """Shares times the matrix."""
        if not self._is_thin:
            return super().forward(shares)
        return np.asarray(self._times_weights(np.asarray(shares) * self._row_factors) * self._column_factors)

    def backward(self, weights: Shares) -> Shares:
        """The matrix times weights."""
        if not self._is_thin:
            return super().backward(weights)
        return np.asarray(self._times_weights(np.asarray(weights) * self._column_factors) * self._row_factors)

    def solve(self, shares: Shares) -> Shares:
        """Shares times the inverse."""
        if not self._is_thin:
            return super().solve(shares)
        return np.asarray(self._times_inverse(np.asarray(shares) / self._column_factors) / self._row_factors)

    def squared_inverse(self, shares: Shares) -> Shares:
        """Shares times the squares of the inverse's entries."""
        if not self._is_thin:
            return super().squared_inverse(shares)
        return np.asarray(self._times_inverse(np.asarray(shares) / self._column_factors**2, 2) / self._row_factors**2)

    def unbiased_scores(self, targets: Shares) -> Shares:
        """What to count for each report so that a true value counts its target on average."""
        if not self._is_thin:
            return super().unbiased_scores(targets)
        return np.asarray(self._times_inverse(np.asarray(targets) / self._row_factors) / self._column_factors)

    def own_squares(self) -> Shares:
        """For each true value, what one person who has it adds to the variance of its estimated number, and its square."""
        if not self._is_thin:
            return super().own_squares()
        q, rest, columns = self._q, -np.expm1(-2 / float(self._noise.steps)), self._column_factors
        squares = np.full(self.values, ((1 + q**2) / rest) ** 2)
        squares[[0, -1]] = 1 / rest**2
        squares /= columns
        squares[1:] += q * (q / rest) ** 2 / columns[:-1]
        squares[:-1] += q * (q / rest) ** 2 / columns[1:]
        return np.asarray(squares / self._row_factors)
