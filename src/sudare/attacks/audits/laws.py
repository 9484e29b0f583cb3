"""Laws of noise as an attacker knows them: how likely each whole number is. The noise of a serious release is public.

Probabilities are floats here: an attack weighs evidence, it does not promise anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.errors import Described, ParameterError
from sudare.parameters import Rational, exact_fraction

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike, NDArray

__all__ = ["NoiseLaw"]

NEGLIGIBLE = 1e-18
MAX_SCALE = 1e6


@dataclass(frozen=True, eq=False)
class NoiseLaw:
    """The probabilities of the whole numbers from ``lowest`` on.

    Attributes:
        lowest: the first number.
        probabilities: of it and the numbers after it.
        is_bounded: whether no other number is possible; else the others are as rare as 1e-18, and left out.

    Example:
        >>> from sudare.attacks.audits.laws import NoiseLaw
        >>> coin = NoiseLaw.of(-1, [0.5, 0.0, 0.5])
        >>> coin.variance
        1.0
        >>> NoiseLaw.laplace(2).margin(0.01)
        9
    """

    lowest: int
    probabilities: NDArray[np.float64]
    is_bounded: bool = True

    @classmethod
    def of(cls, lowest: int, probabilities: ArrayLike) -> Self:
        """Any law, such as a row of a cell-key table."""
        weights = np.asarray(probabilities, dtype=np.float64)
        if weights.ndim != 1 or not weights.size or (weights < 0).any() or abs(weights.sum() - 1) > 1e-6:
            requirement = "probabilities >= 0 that add up to 1"
            raise ParameterError("probabilities", "NoiseLaw.of", requirement, Described(f"shape {weights.shape}"))
        return cls(int(lowest), weights / weights.sum())

    @classmethod
    def none(cls) -> Self:
        """No noise at all."""
        return cls(0, np.ones(1))

    @classmethod
    def laplace(cls, scale: Rational) -> Self:
        """The discrete Laplace law: weights exp(-|x| / scale)."""
        width = _read(scale, "scale", "NoiseLaw.laplace")
        reach = int(np.ceil(-np.log(NEGLIGIBLE) * width)) + 1
        return cls._of_weights(-np.abs(np.arange(-reach, reach + 1)) / width)

    @classmethod
    def gaussian(cls, sigma: Rational) -> Self:
        """The discrete Gaussian law: weights exp(-x**2 / (2 sigma**2))."""
        width = _read(sigma, "sigma", "NoiseLaw.gaussian")
        reach = int(np.ceil(np.sqrt(-2 * np.log(NEGLIGIBLE)) * width)) + 1
        return cls._of_weights(-(np.arange(-reach, reach + 1) ** 2) / (2 * width * width))

    @classmethod
    def _of_weights(cls, logarithms: NDArray[np.float64]) -> Self:
        weights = np.exp(logarithms)
        return cls(-(weights.size // 2), weights / weights.sum(), is_bounded=False)

    @property
    def values(self) -> NDArray[np.int64]:
        """The whole numbers, from the lowest on."""
        return self.lowest + np.arange(self.probabilities.size)

    @property
    def mean(self) -> float:
        """The mean."""
        return float(self.values @ self.probabilities)

    @property
    def variance(self) -> float:
        """The variance."""
        return float((self.values - self.mean) ** 2 @ self.probabilities)

    def log_probability(self, noise: ArrayLike) -> NDArray[np.float64]:
        """The logarithm of the probability of each value; minus infinity where it is impossible."""
        places = np.asarray(noise, dtype=np.int64) - self.lowest
        inside = (places >= 0) & (places < self.probabilities.size)
        with np.errstate(divide="ignore"):
            return np.where(inside, np.log(self.probabilities[np.where(inside, places, 0)]), -np.inf)

    def margin(self, error_probability: float) -> int:
        """The smallest t with P(|noise| > t) at most the given probability."""
        order = np.argsort(np.abs(self.values), kind="stable")
        sizes, inside = np.abs(self.values)[order], np.cumsum(self.probabilities[order])
        for size in np.unique(sizes):
            if 1 - inside[np.searchsorted(sizes, size, side="right") - 1] <= error_probability:
                return int(size)
        return int(sizes[-1])


def _read(value: Rational, parameter: str, function: str) -> float:
    requirement = f"a number above 0 and at most {MAX_SCALE:,.0f}"
    number = exact_fraction(value, parameter, function, requirement)
    if not 0 < number <= MAX_SCALE:
        raise ParameterError(parameter, function, requirement, value)
    return float(number)
