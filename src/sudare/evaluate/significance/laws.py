"""Laws on whole numbers by their characteristic functions: the noise of a release, and counts that vary by themselves.

A characteristic function is known in closed form for each of them, so that the law of any sum of independent terms is one
product and one Fourier transform away (`sums`).

Formulas: ``significance.md`` beside this file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log1p, pi, sinh
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.errors import GuaranteeError, ParameterError
from sudare.parameters import shown
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, Measurement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
    Complexes = NDArray[np.complex128]

__all__ = ["BinomialLaw", "GaussianLaw", "LaplaceLaw", "Law", "PoissonLaw", "law_of_noise"]

NARROW_VARIANCE = 0.05
"""Below it a discrete Gaussian law is summed over its few values, from it on over the images of its transform."""

IMAGES = 8
"""Values, or images on either side, beyond which nothing is left at that variance."""

WIDE_VARIANCE = 16
"""From it on the images have less than exp(-78) of all weight."""

SMALL_ANGLE = 0.3
LOG_NOTHING = -1e4
"""Stands for the logarithm of 0, which would make complex products undefined."""

MIN_COARSE_VARIANCE = 4
"""From it on the weights of a discrete Gaussian law add up to those of the continuous one, to 34 digits."""


class Law(ABC):
    """The law of a whole number X, seen from the whole number ``centre`` next to its mean."""

    @property
    @abstractmethod
    def centre(self) -> int:
        """The whole number that characteristic functions and moments are taken from."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance, for standard errors; of narrow Gaussian noise a bound that is 0.1 % too large at sigma = 1."""

    @abstractmethod
    def log_characteristic(self, angles: Reals) -> Complexes | Reals:
        """The logarithm of E exp(i angle (X - centre)), for angles from -pi to pi."""

    @abstractmethod
    def log_moment(self, speeds: Reals) -> Reals:
        """An upper bound of log E exp(speed (X - centre)); infinite where there is none."""

    def coarser(self, factor: int) -> Law | None:
        """A law Y with |X - factor Y| <= factor in some coupling; None where none is known."""
        return None


@dataclass(frozen=True)
class LaplaceLaw(Law):
    """Discrete Laplace noise, with weights exp(-|x| / scale)."""

    scale: Fraction

    @property
    def centre(self) -> int:
        """0."""
        return 0

    @property
    def _decay(self) -> float:
        """sinh(1 / (2 scale)); the characteristic function is 1 / (1 + (sin(angle / 2) / decay)**2)."""
        return sinh(min(float(1 / (2 * self.scale)), 700.0))

    @property
    def variance(self) -> float:
        """Of noise with these weights: 1 / (2 sinh(1 / (2 scale))**2)."""
        return 0.5 * (1 / self._decay) ** 2

    def log_characteristic(self, angles: Reals) -> Reals:
        """In closed form."""
        return np.asarray(-np.log1p((np.sin(angles / 2) / self._decay) ** 2))

    def log_moment(self, speeds: Reals) -> Reals:
        """In closed form; finite below 1 / scale."""
        below = np.abs(speeds) < float(1 / self.scale)
        ratios = np.where(below, np.sinh(np.where(below, speeds, 0.0) / 2) / self._decay, 1.0)
        with np.errstate(divide="ignore"):
            return np.where(ratios**2 < 1, -np.log1p(-(ratios**2)), inf)

    def coarser(self, factor: int) -> LaplaceLaw:
        """The noise of 1 / factor of the scale: the difference of two geometric numbers, each divided and rounded down."""
        return LaplaceLaw(self.scale / factor)


@dataclass(frozen=True)
class GaussianLaw(Law):
    """Discrete Gaussian noise, with weights exp(-x**2 / (2 sigma_squared))."""

    sigma_squared: Fraction

    @property
    def centre(self) -> int:
        """0."""
        return 0

    @property
    def variance(self) -> float:
        """Sigma squared, which the variance of the discrete law does not exceed."""
        return float(self.sigma_squared)

    def log_characteristic(self, angles: Reals) -> Reals:
        """A theta function, by whichever of its two series converges at once."""
        variance = float(self.sigma_squared)
        if variance < NARROW_VARIANCE:
            values = np.arange(1, IMAGES)
            weights = 2 * np.exp(-(values**2) / (2 * variance))
            waves = (weights[:, None] * (np.cos(values[:, None] * angles[None, :]) - 1)).sum(axis=0)
            return np.asarray(np.log1p(waves / (1 + weights.sum())))
        if variance >= WIDE_VARIANCE:
            return np.asarray(-variance * angles**2 / 2)
        images = np.zeros_like(angles)
        whole = 0.0
        for image in range(1, IMAGES):
            whole += 2 * exp(-2 * variance * (pi * image) ** 2)
            for turn in (image, -image):
                images += np.exp(-2 * np.pi * turn * variance * (np.pi * turn + angles))
        return np.asarray(-variance * angles**2 / 2 + np.log1p(images) - log1p(whole))

    def log_moment(self, speeds: Reals) -> Reals:
        """That of continuous noise, which is not below it (Canonne, Kamath, Steinke 2020)."""
        return np.asarray(speeds**2 * float(self.sigma_squared) / 2)

    def coarser(self, factor: int) -> GaussianLaw | None:
        """The noise of 1 / factor of sigma, where that is still wide."""
        coarse = self.sigma_squared / factor**2
        return GaussianLaw(coarse) if coarse >= MIN_COARSE_VARIANCE else None


@dataclass(frozen=True)
class PoissonLaw(Law):
    """A count that varies by itself, with this mean."""

    rate: float

    @property
    def centre(self) -> int:
        """The whole number next to the mean."""
        return round(self.rate)

    @property
    def variance(self) -> float:
        """The mean."""
        return self.rate

    def log_characteristic(self, angles: Reals) -> Complexes:
        """In closed form."""
        turn = self.rate * _sine_minus_angle(angles) + (self.rate - self.centre) * angles
        return np.asarray(-2 * self.rate * np.sin(angles / 2) ** 2 + 1j * turn)

    def log_moment(self, speeds: Reals) -> Reals:
        """In closed form."""
        return np.asarray(self.rate * np.expm1(speeds) - self.centre * speeds)


@dataclass(frozen=True)
class BinomialLaw(Law):
    """How many of this many succeed, each with this chance."""

    trials: int
    chance: float

    @property
    def centre(self) -> int:
        """The whole number next to the mean."""
        return round(self.trials * self.chance)

    @property
    def variance(self) -> float:
        """The mean times the chance of a failure."""
        return self.trials * self.chance * (1 - self.chance)

    def log_characteristic(self, angles: Reals) -> Complexes:
        """In closed form."""
        p = self.chance
        with np.errstate(divide="ignore"):
            inside = np.maximum(-4 * p * (1 - p) * np.sin(angles / 2) ** 2, -1.0)
            size = np.maximum(0.5 * np.log1p(inside), LOG_NOTHING)
        turn = np.arctan2(p * np.sin(angles), 1 - 2 * p * np.sin(angles / 2) ** 2)
        return np.asarray(self.trials * size + 1j * (self.trials * turn - self.centre * angles))

    def log_moment(self, speeds: Reals) -> Reals:
        """In closed form."""
        return np.asarray(self.trials * np.log1p(self.chance * np.expm1(speeds)) - self.centre * speeds)


def law_of_noise(measurement: Measurement) -> LaplaceLaw | GaussianLaw:
    """The law of the noise that a measurement states.

    Example:
        >>> import sudare
        >>> sensitivity = sudare.privacy.sensitivity_of_counts(sudare.Unit())
        >>> law_of_noise(sudare.privacy.LaplaceMeasurement.for_budget(sudare.Budget(epsilon=0.1), sensitivity)).scale
        Fraction(10, 1)
    """
    if isinstance(measurement, LaplaceMeasurement):
        return LaplaceLaw(measurement.scale)
    if isinstance(measurement, GaussianMeasurement):
        return GaussianLaw(measurement.sigma_squared)
    if isinstance(measurement, Measurement):
        raise GuaranteeError(
            Words(
                f"A {measurement.kind} measurement adds no noise to counts, so no test knows its law.",
                f"{measurement.kind} の測定は度数にノイズを加えないため、検定に使う分布がありません。",
            )
        )
    requirement = "a LaplaceMeasurement or a GaussianMeasurement"
    raise ParameterError("measurement", "law_of_noise", requirement, shown(measurement))


def _sine_minus_angle(angles: Reals) -> Reals:
    """sin(x) - x without the loss of digits that x near 0 would bring."""
    squares = angles**2
    series = -angles * squares / 6 * (1 - squares / 20 * (1 - squares / 42 * (1 - squares / 72 * (1 - squares / 110))))
    return np.where(np.abs(angles) < SMALL_ANGLE, series, np.sin(angles) - angles)
