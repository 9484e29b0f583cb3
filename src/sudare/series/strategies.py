"""What is measured of a series: a running sum taken apart into two factors, in public whole numbers.

A table at tick t is the running sum of all changes up to t. Measured is neither the running sums A x nor the changes x, but
some C x between the two; the running sums are then estimated as A C^-1 (C x + z). With C = (1 - shift)^-a, a = 0 measures
changes, whose noise adds up over the day; a = 1 measures stocks, and whoever stays is in all of them; a = 1/2 is the square
root of the running sum. The more often people may move, the larger the best a. It is another one for Gaussian noise, whose cost
is by the l2 norm of a path, than for Laplace noise, whose cost is by its l1 norm.

Coefficients are whole numbers. Sensitivities are computed from these, so that rounding costs nothing in privacy.

Proof: ``sensitivity.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from sudare.errors import ParameterError
from sudare.parameters import exact_integer, shown
from sudare.series.sensitivity import MAX_SUM, gram_of_coefficients, path_l1_of_coefficients, path_l2_squared

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

__all__ = ["STRATEGIES", "Buffers", "Norm", "SeriesStrategy", "best_power", "fitted_buffers", "strategy_for"]

Norm = Literal["l2", "l1"]
"""By which norm of a path noise is chosen: l2 for Gaussian noise, l1 for Laplace noise."""

MAX_TICKS = 4096
MAX_MOVES = 1024
SCALE_BITS = 24
"""Coefficients are whole multiples of 2**-24 of the first one, unless sums would pass 64 bits."""

BUFFERS = 6
"""Terms of a rational strategy; errors are within 0.1 % of the coefficients it stands for, up to 4,096 ticks."""

SLOWEST, FASTEST = 0.3, 0.7
"""Rates of decay of a rational strategy: from 0.3 / ticks to 0.7, evenly in their logarithms."""

BAND = 0.5
"""Length of the band of the banded strategy, in windows."""

POWER_STEPS = 30
FIRST_POWERS = 11
"""Powers from 0 to 1 that are tried first for Laplace noise, for which there can be two minima: one of them may be stocks."""


@dataclass(frozen=True, eq=False)
class Buffers:
    """Coefficients as a sum of geometric sequences: c_0 = 1, c_j = sum of weights * decays**(j - 1).

    Attributes:
        weights: one for each sequence.
        decays: from 0 to 1.
    """

    weights: Reals
    decays: Reals

    def coefficients(self, ticks: int) -> Reals:
        """The first coefficients."""
        steps = np.arange(ticks - 1)
        later = (self.decays[None, :] ** steps[:, None]) @ self.weights
        return np.concatenate([[1.0], later])


@dataclass(frozen=True, eq=False)
class SeriesStrategy:
    """A strategy for one level of a series.

    Attributes:
        name: of the strategy.
        coefficients: the first column of C, whole numbers; C is lower triangular and the same along each diagonal.
        scale: the whole number S that stands for 1.
        buffers: the sum of geometric sequences whose rounded values the coefficients are; None if they are none, and
            estimates need all that was measured before.
    """

    name: str
    coefficients: tuple[int, ...]
    scale: int
    buffers: Buffers | None = None

    @property
    def ticks(self) -> int:
        """How many ticks a window has."""
        return len(self.coefficients)

    def l2_squared(self, moves: int, *, may_leave: bool = True) -> int:
        """The squared l2 sensitivity of what is measured, by the chain formula on the whole numbers."""
        return _l2_squared(self.coefficients, moves, may_leave)

    def l1(self, moves: int, *, may_leave: bool = True) -> int:
        """The l1 sensitivity of what is measured."""
        return _l1(self.coefficients, moves, may_leave)

    def real_coefficients(self) -> Reals:
        """The coefficients by which running sums are estimated, in units of the scale."""
        if self.buffers is not None:
            return self.buffers.coefficients(self.ticks)
        return np.array(self.coefficients, dtype=np.float64) / self.scale

    def response(self) -> Reals:
        """How much of the noise of a tick, in units of the scale, is in the estimate so many ticks later."""
        return np.cumsum(_inverse(self.real_coefficients()))

    def deviations(self) -> Reals:
        """The standard deviation of the estimated count at each tick, for noise of standard deviation 1 on what is measured."""
        return np.sqrt(np.cumsum(self.response() ** 2)) / self.scale

    def noise_factor(self, moves: int, *, may_leave: bool = True, norm: Norm = "l2") -> float:
        """The largest standard deviation of a count, by which strategies are compared: at rho = 1/2, or at epsilon = 1 in l1."""
        if norm == "l1":
            return float(self.deviations().max()) * sqrt(2) * self.l1(moves, may_leave=may_leave)
        return float(self.deviations().max()) * sqrt(self.l2_squared(moves, may_leave=may_leave))

    def rounding_share(self) -> float:
        """The largest share of a count by which an estimate is off because coefficients are rounded."""
        real = self.real_coefficients() * self.scale
        error = np.convolve(self.response(), np.array(self.coefficients) - real)[: self.ticks] / self.scale
        return float(np.abs(error).max())


def strategy_for(name: str, ticks: int, moves: int, norm: Norm = "l2") -> SeriesStrategy:
    """A strategy by its name.

    | name | measures |
    |---|---|
    | `fresh` | stocks: every tick anew |
    | `moves` | changes |
    | `square-root` | the square root of the running sum |
    | `power` | the power of the running sum that fits so many moves |
    | `buffered` | the same as a sum of geometric sequences: estimates need a few numbers of memory |
    | `banded` | the same over the last few ticks only |

    Args:
        name: one of these.
        ticks: how many ticks a window has, at most 4,096.
        moves: how many moves a path has, at most.
        norm: of a path, by which the noise will be chosen.

    Raises:
        ParameterError: if an argument is not of this kind.

    Example:
        >>> for name in ("fresh", "moves", "square-root", "power"):
        ...     print(f"{name:12} {strategy_for(name, 144, 2).noise_factor(2):5.2f}")
        fresh        12.00
        moves        29.39
        square-root   5.37
        power         5.08
    """
    n = exact_integer(ticks, "ticks", "strategy_for", f"from 1 to {MAX_TICKS}", smallest=1, largest=MAX_TICKS)
    k = exact_integer(moves, "moves", "strategy_for", f"from 0 to {MAX_MOVES}", smallest=0, largest=MAX_MOVES)
    if not isinstance(name, str) or name not in STRATEGIES:
        raise ParameterError("name", "strategy_for", f"one of {sorted(STRATEGIES)}", shown(name))
    if norm not in ("l2", "l1"):
        raise ParameterError("norm", "strategy_for", "'l2' or 'l1'", shown(norm))
    return STRATEGIES[name](n, k, norm)


@lru_cache(maxsize=256)
def best_power(ticks: int, moves: int, norm: Norm = "l2") -> float:
    """The power of the running sum whose largest error is smallest for paths of so many moves, by golden section.

    In l2 from 1/2 for people who never move up to 1 for people who move at every tick. In l1 the powers are smaller for people
    who seldom move, and 1, which is fresh noise, from fewer moves on.
    """
    low, high, ratio = 0.3, 1.0, (5**0.5 - 1) / 2
    ends: dict[float, float] = {}

    def error(power: float) -> float:
        return _rounded("power", _power_coefficients(ticks, power), moves).noise_factor(moves, norm=norm)

    if norm == "l1":
        ends = {power: error(power) for power in np.linspace(0, 1, FIRST_POWERS).tolist()}
        first, step = min(ends, key=lambda power: ends[power]), 1 / (FIRST_POWERS - 1)
        low, high = max(0.0, first - step), min(1.0, first + step)
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = error(left), error(right)
    for _ in range((POWER_STEPS if ticks <= 288 else POWER_STEPS // 2) // (1 if norm == "l2" else 3)):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = error(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = error(right)
    found = round((low + high) / 2, 4)
    # At 1 the l1 error falls at once: stocks cost their length, however often a path moves.
    return min((found, *ends), key=lambda power: ends.get(power, min(at_left, at_right)))


def _power_coefficients(ticks: int, power: float) -> Reals:
    """The coefficients of (1 - shift)**-power."""
    steps = np.arange(1, ticks)
    return np.concatenate([[1.0], np.cumprod((steps - 1 + power) / steps)])


def _fresh(ticks: int, moves: int, norm: Norm) -> SeriesStrategy:
    return SeriesStrategy("fresh", (1,) * ticks, 1, Buffers(np.ones(1), np.ones(1)))


def _moves(ticks: int, moves: int, norm: Norm) -> SeriesStrategy:
    return SeriesStrategy("moves", (1,) + (0,) * (ticks - 1), 1, Buffers(np.zeros(0), np.zeros(0)))


def _square_root(ticks: int, moves: int, norm: Norm) -> SeriesStrategy:
    return _rounded("square-root", _power_coefficients(ticks, 0.5), moves)


def _power(ticks: int, moves: int, norm: Norm) -> SeriesStrategy:
    return _rounded("power", _power_coefficients(ticks, best_power(ticks, moves, norm)), moves)


def _buffered(ticks: int, moves: int, norm: Norm) -> SeriesStrategy:
    wanted = _power_coefficients(ticks, best_power(ticks, moves, norm))
    buffers = fitted_buffers(wanted)
    return _rounded("buffered", buffers.coefficients(ticks), moves, buffers)


def _banded(ticks: int, moves: int, norm: Norm) -> SeriesStrategy:
    """The coefficients times a line that falls to 0 at the end of the band."""
    band = max(1, round(ticks * BAND))
    line = np.maximum(1.0 - np.arange(ticks) / band, 0.0)
    return _rounded("banded", _power_coefficients(ticks, best_power(ticks, moves, norm)) * line, moves)


STRATEGIES: dict[str, Callable[[int, int, Norm], SeriesStrategy]] = {
    "fresh": _fresh,
    "moves": _moves,
    "square-root": _square_root,
    "power": _power,
    "buffered": _buffered,
    "banded": _banded,
}


def fitted_buffers(wanted: Reals) -> Buffers:
    """A few geometric sequences that add up to the coefficients, by least squares of relative errors."""
    ticks = len(wanted)
    if ticks < 3:
        return Buffers(wanted[1:], np.zeros(ticks - 1))
    if wanted[-1] == 1.0:
        return Buffers(np.ones(1), np.ones(1))
    if wanted[1] == 0.0:
        return Buffers(np.zeros(0), np.zeros(0))
    count = min(BUFFERS, ticks - 1)
    decays = np.exp(-np.exp(np.linspace(np.log(SLOWEST / ticks), np.log(FASTEST), count)))
    places = np.unique(np.round(np.exp(np.linspace(0, np.log(ticks - 1), 200))).astype(np.int64))
    while True:
        sequences = decays[None, :] ** (places[:, None] - 1) / wanted[places, None]
        weights = np.linalg.lstsq(sequences, np.ones(len(places)), rcond=None)[0]
        if (
            weights > 0
        ).all():  # then the steps between coefficients fall from the second one on; the first must be the largest
            return Buffers(
                np.asarray(weights, dtype=np.float64) * min(1.0, 1.0 / float(weights @ (2.0 - decays))), decays
            )
        decays = decays[weights > weights.min()]


def _rounded(name: str, coefficients: Reals, moves: int, buffers: Buffers | None = None) -> SeriesStrategy:
    """Whole numbers in place of real ones, as fine as sums of 64 bits allow."""
    squares = float((coefficients**2).sum())
    bits = SCALE_BITS
    while squares * 2.0 ** (2 * bits) * 4 * (moves + 3) >= MAX_SUM:
        bits -= 1
    scale = 1 << bits
    # The steps between coefficients are rounded, not the coefficients: steps that fall still fall when they are rounded, and
    # then the conditions of the chain formula hold.
    steps = np.round(np.append(coefficients[:-1] - coefficients[1:], coefficients[-1]) * scale)
    whole = np.cumsum(steps[::-1])[::-1]
    return SeriesStrategy(name, tuple(int(value) for value in whole), scale, buffers)


def _inverse(coefficients: Reals) -> Reals:
    """The first column of the inverse of the lower triangular Toeplitz matrix."""
    inverse = np.zeros(len(coefficients))
    inverse[0] = 1.0 / coefficients[0]
    for tick in range(1, len(coefficients)):
        inverse[tick] = -(coefficients[1 : tick + 1] @ inverse[tick - 1 :: -1]) / coefficients[0]
    return inverse


@lru_cache(maxsize=512)
def _l2_squared(coefficients: tuple[int, ...], moves: int, may_leave: bool) -> int:
    return path_l2_squared(gram_of_coefficients(np.array(coefficients)), moves, may_leave=may_leave)


@lru_cache(maxsize=64)
def _l1(coefficients: tuple[int, ...], moves: int, may_leave: bool) -> int:
    return path_l1_of_coefficients(np.array(coefficients), moves, may_leave=may_leave)
