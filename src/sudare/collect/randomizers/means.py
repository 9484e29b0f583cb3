"""Randomizers for the mean of a number: one bit (Duchi), or a number near the true one (the piecewise mechanism), both exact.

Values are points of a grid, reports are whole numbers, and all probabilities are whole-number weights that depend on the value in
such a way that the mean of the decoded reports is the mean of the values: exactly, not up to a rounding of the probabilities.

Proof: ``means.md`` beside this file.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import Figures
from sudare.collect.estimation.estimates import Estimate
from sudare.collect.randomizers.categories import read_epsilon
from sudare.collect.randomizers.questions import RANGE, read_grid, read_number
from sudare.collect.randomizers.randomizer import Randomizer
from sudare.collect.transitions.grids import Grid
from sudare.collect.transitions.mean_transitions import OneBitTransition, WindowTransition
from sudare.distributions import normal_quantile
from sudare.errors import Described, ParameterError
from sudare.noise.entropy import EntropySource
from sudare.noise.exact import bounded_exp
from sudare.noise.sampler import read_entropy
from sudare.parameters import Rational, read_chance, shown
from sudare.privacy.budget import read_text_fraction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sudare.sections import Section

__all__ = ["MeanEstimate", "MeanRandomizer", "OneBit", "Piecewise"]

MAX_POINTS = 1 << 20
TOTAL_BITS = 60
MIN_STEPS = 1024
"""A grid of fewer steps is given several reports a step, so that the window can have nearly the best width."""


@dataclass(frozen=True)
class MeanEstimate(Figures):
    """An estimated mean of all people's numbers.

    Attributes:
        people: how many reports there were.
        mean: the estimate; right on average.
        standard_error: of the estimate, estimated or known.

    Example:
        >>> from sudare.collect.randomizers.means import MeanEstimate
        >>> low, high = MeanEstimate(100, 5.0, 1.0).interval(0.95)
        >>> round(low, 2), round(high, 2)
        (3.04, 6.96)
    """

    people: int
    mean: float
    standard_error: float

    def interval(self, level: Rational = 0.95) -> tuple[float, float]:
        """Lower and upper end that hold the true mean with this probability.

        Args:
            level: above 0 and below 1.
        """
        chance = read_chance(level, "level", "MeanEstimate.interval")
        reach = normal_quantile(0.5 + chance / 2) * self.standard_error
        return self.mean - reach, self.mean + reach


@dataclass(frozen=True, init=False)
class MeanRandomizer(Randomizer):
    """A number becomes a whole number whose mean goes in a straight line with the true number.

    Args:
        grid: the numbers that values may be; values between two of them are rounded to the nearer.
        epsilon_at_most: what one report may cost.
    """

    has_mean: ClassVar[bool] = True
    grid: Grid
    epsilon_at_most: Fraction
    _transition: WindowTransition | OneBitTransition = field(init=False, repr=False, compare=False)

    def __init__(self, grid: Grid, epsilon_at_most: Rational) -> None:
        function = type(self).__name__
        if not isinstance(grid, Grid) or grid.size > MAX_POINTS:
            raise ParameterError(
                "grid", function, Words("a Grid of at most 2**20 points", "点が 2**20 個以下の格子"), shown(grid)
            )
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "epsilon_at_most", read_epsilon(epsilon_at_most, function))
        object.__setattr__(self, "_transition", self._make())
        if self._transition.likely <= self._transition.other:
            requirement = Words(
                "larger: reports would say nothing", "より大きい値（このままでは報告から何も分かりません）"
            )
            raise ParameterError("epsilon_at_most", function, requirement, epsilon_at_most)

    @classmethod
    def from_question(cls, method: str, section: Section) -> Randomizer:
        """Grid and epsilon."""
        return cls(read_grid(section), read_number(section, "epsilon"))

    def value_grid(self) -> Grid:
        """The grid."""
        return self.grid

    @abstractmethod
    def _make(self) -> WindowTransition | OneBitTransition:
        """By the subclass."""

    def transition(self) -> WindowTransition | OneBitTransition:
        """With which probability each value becomes each report."""
        return self._transition

    def randomize(self, values: ArrayLike, entropy: EntropySource | None = None) -> NDArray[Any]:
        """A whole number for each value.

        Args:
            values: numbers within the grid.
            entropy: where the bits come from; the secure source by default.

        Raises:
            ParameterError: if a value is not a number within the grid.
        """
        function = f"{type(self).__name__}.randomize"
        source = read_entropy(entropy, function)
        return self._transition.draw(self.grid.places(values, function=function), source)

    @property
    def has_whole_reports(self) -> bool:
        """They are places."""
        return True

    def require_reports(self, reports: NDArray[Any], function: str) -> None:
        """By their places."""
        self.report_places(reports, function)

    def report_places(self, reports: ArrayLike, function: str) -> NDArray[np.int64]:
        """Which column of the transition each report belongs to: reports are these places themselves.

        Raises:
            ParameterError: if a report is not one of this randomizer.
        """
        array, most = np.asarray(reports), self._transition.reports
        if array.size and (
            array.dtype.kind not in "iuf" or not ((array >= 0) & (array < most) & (array == np.rint(array))).all()
        ):
            requirement = f"whole numbers from 0 to {most - 1}"
            raise ParameterError("reports", function, requirement, Described("something else"))
        return array.astype(np.int64)

    def decode(self, reports: ArrayLike) -> NDArray[np.float64]:
        """The number that each report counts as: on average the true one.

        Raises:
            ParameterError: if a report is not one of this randomizer.
        """
        places = self.report_places(reports, f"{type(self).__name__}.decode")
        middle = float((self.grid.low + self.grid.high) / 2)
        return np.asarray(middle + float(self.report_step) * (places - (self._transition.reports - 1) / 2))

    @property
    @abstractmethod
    def report_step(self) -> Fraction:
        """How far apart the numbers are that one report and the next count as."""

    def estimate_mean(self, reports: ArrayLike) -> MeanEstimate:
        """The mean of all people's numbers, with a standard error that is not too small on average.

        Args:
            reports: what was sent, one for each person; two at least.
        """
        decoded = self.decode(reports).ravel()
        if decoded.size < 2:
            raise ParameterError(
                "reports", f"{type(self).__name__}.estimate_mean", Words("two or more", "2 以上"), Described("fewer")
            )
        return MeanEstimate(
            decoded.size, float(decoded.mean()), float(np.sqrt(self._squared_error(decoded) / decoded.size))
        )

    @abstractmethod
    def _squared_error(self, decoded: NDArray[np.float64]) -> float:
        """By the subclass."""

    def mean_variance(self, people: int, value: Rational | None = None) -> float:
        """Of the estimated mean, if all people have this value; the worst value if left out."""
        worst, best = self._moments()
        half = float(self.grid.span) / 2
        if value is None:
            return half**2 * max(worst, worst + best) / people
        place = int(
            self.grid.places([float(value)], parameter="value", function=f"{type(self).__name__}.mean_variance")[0]
        )
        at = 2 * place / self.grid.last - 1
        return half**2 * (worst + best * at**2) / people

    @abstractmethod
    def _moments(self) -> tuple[float, float]:
        """The variance of one decoded report on the scale from -1 to 1: a constant, and a multiple of the square of the value."""

    def estimate(self, reports: ArrayLike) -> Estimate:
        """How many people have each number, where the matrix allows it.

        Raises:
            GuaranteeError: if the matrix has no inverse, as that of one bit for more than two numbers.
        """
        places = self.report_places(reports, f"{type(self).__name__}.estimate")
        told = np.bincount(places.ravel(), minlength=self._transition.reports).astype(np.float64)
        unbiased = self._transition.solve(told)
        variances = np.maximum(self._transition.squared_inverse(told) - unbiased, 0.0)
        return Estimate(self.grid.labels(), int(told.sum()), unbiased, variances, repr(self))

    def variance(self, people: int, share: float = 0.0) -> float:
        """Of the estimated number of people with one number, the largest over the numbers."""
        values = self.grid.size
        truths = np.full((values, values), people * (1 - share) / max(values - 1, 1))
        np.fill_diagonal(truths, people * share)
        variances = self._transition.squared_inverse(self._transition.forward(truths)) - truths
        return float(np.diag(variances).max())

    def parameters(self) -> dict[str, object]:
        """Grid and epsilon."""
        return {"grid": self.grid.to_dict(), "epsilon": str(self.epsilon_at_most)}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """What `parameters` wrote, read again."""
        return cls(Grid.from_dict(parameters["grid"]), read_text_fraction(parameters["epsilon"]))


@dataclass(frozen=True, init=False)
class OneBit(MeanRandomizer):
    """Duchi's mechanism: a report is 0 or 1, and 1 is the likelier the larger the number.

    Guarantee: local epsilon, exactly that of the matrix, never above the one asked for.

    Proof: ``means.md``.

    Args:
        grid: the numbers that values may be; values between two of them are rounded to the nearer.
        epsilon_at_most: what one report may cost.

    References:
        Duchi, Jordan, Wainwright: Minimax optimal procedures for locally private estimation (2018).

    Example:
        >>> from sudare.collect.transitions.grids import Grid
        >>> from sudare.collect.randomizers.means import OneBit
        >>> hours = OneBit(Grid(0, 24, 1), epsilon_at_most=2)
        >>> estimate = hours.estimate_mean(hours.randomize([8] * 100_000))
        >>> abs(estimate.mean - 8) < 1, round(estimate.standard_error, 2)
        (True, 0.05)
    """

    kind: ClassVar[str] = "one-bit"
    words: ClassVar[Words] = Words(
        "0 or 1, and 1 is the likelier the larger the true number is.",
        "0 か 1 を報告します。真の数値が大きいほど 1 になりやすくなります。",
    )
    question_keys: ClassVar[Mapping[str, tuple[str, ...]]] = {"one-bit": (*RANGE, "epsilon")}

    def _make(self) -> OneBitTransition:
        bits = TOTAL_BITS - self.grid.last.bit_length()
        total, precision = 1 << bits, bits + 64
        # The weight of the unlikelier report at either end is at least total / (1 + e^epsilon), so that epsilon holds.
        high = bounded_exp(self.epsilon_at_most, precision).high
        other = -((-high << bits) // ((1 << precision) + high))
        return OneBitTransition(self.grid.size, total - other, other)

    @property
    def report_step(self) -> Fraction:
        """From the number that 0 counts as to the one that 1 counts as."""
        ends = self._transition
        return self.grid.span * (ends.likely + ends.other) / (ends.likely - ends.other)

    def _squared_error(self, decoded: NDArray[np.float64]) -> float:
        # The squares of the true numbers cannot be learned from one bit: the sample's variance is too large by their variance.
        return float(decoded.var(ddof=1))

    def _moments(self) -> tuple[float, float]:
        return float(self.report_step / self.grid.span) ** 2, -1.0

    def drawing(self) -> dict[str, object]:
        """By the weights at either end."""
        return {"rule": "line", "likely": self._transition.likely, "other": self._transition.other}


@dataclass(frozen=True, init=False)
class Piecewise(MeanRandomizer):
    """The piecewise mechanism: likely a report near the true number, else any report.

    Guarantee: local epsilon, exactly that of the matrix, never above the one asked for.

    Proof: ``means.md``.

    Args:
        grid: the numbers that values may be; values between two of them are rounded to the nearer.
        epsilon_at_most: what one report may cost.

    References:
        Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu: Collecting and analyzing multidimensional data with local differential
        privacy (2019), algorithm 2.

    Example:
        >>> from sudare.collect.transitions.grids import Grid
        >>> from sudare.collect.randomizers.means import Piecewise
        >>> hours = Piecewise(Grid(0, 24, 1), epsilon_at_most=4)
        >>> estimate = hours.estimate_mean(hours.randomize([8] * 100_000))
        >>> abs(estimate.mean - 8) < 1, estimate.standard_error < 0.02
        (True, True)
    """

    kind: ClassVar[str] = "piecewise"
    words: ClassVar[Words] = Words(
        "Likely a number near the true one, or else any number.",
        "多くは真の数値に近い数値を、そうでなければ任意の数値を報告します。",
    )
    question_keys: ClassVar[Mapping[str, tuple[str, ...]]] = {"piecewise": (*RANGE, "epsilon")}
    _transition: WindowTransition = field(init=False, repr=False, compare=False)

    def transition(self) -> WindowTransition:
        """With which probability each value becomes each report."""
        return self._transition

    def _make(self) -> WindowTransition:
        shift = -(-MIN_STEPS // self.grid.last)
        steps, precision = shift * self.grid.last, 2 * TOTAL_BITS + 64
        root, least = (
            bounded_exp(self.epsilon_at_most / 2, precision),
            bounded_exp(self.epsilon_at_most, precision).high,
        )
        # The best window is e^(-epsilon/2) times as wide as the way from the first to the last.
        width = max(1, (steps * root.low + (1 << precision - 1)) >> precision)
        other = (least << TOTAL_BITS) // ((width << precision) + steps * least)
        likely = (other << precision) // least
        return WindowTransition(self.grid.size, shift, width, likely, other)

    @property
    def report_step(self) -> Fraction:
        """From the number that one report counts as to the one that the next counts as."""
        law = self.transition()
        return self.grid.step * Fraction(law.total, (law.likely - law.other) * law.width * law.shift)

    def _squared_error(self, decoded: NDArray[np.float64]) -> float:
        """The mean variance of a report for the numbers people have; their mean square is learned from that of the reports."""
        constant, multiple = self._moments()
        middle, half = float((self.grid.low + self.grid.high) / 2), float(self.grid.span) / 2
        square = (float((((decoded - middle) / half) ** 2).mean()) - constant) / (1 + multiple)
        return half**2 * (constant + multiple * min(max(square, 0.0), 1.0))

    def _moments(self) -> tuple[float, float]:
        law = self.transition()
        reports = law.reports
        # In squares of half a step of reports: sums of (2 k - (reports - 1))**2 over all reports, and over a window amid them.
        everywhere, window = Fraction(reports * (reports**2 - 1), 3), Fraction(law.width * (law.width**2 - 1), 3)
        unit = self.report_step / self.grid.span  # of half a step of reports, on the scale from -1 to 1
        excess = law.likely - law.other
        constant = unit**2 * (law.other * everywhere + excess * window) / law.total
        slope = unit**2 * excess * law.width * (law.shift * self.grid.last) ** 2 / Fraction(law.total)
        return float(constant), float(slope - 1)

    def drawing(self) -> dict[str, object]:
        """By the window and the two weights."""
        law = self.transition()
        window = {"shift": law.shift, "width": law.width}
        return {"rule": "window", **window, "likely": law.likely, "other": law.other}
