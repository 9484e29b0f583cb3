"""Numbers plus noise, on a grid: bounded noise, which stays on it, and noise without bounds.

Bounded noise is Laplace or normal noise that is drawn again until the number stays within the range. It has the anonymity rate of
the noise that it is made of or a better one (normal noise has none by itself), a pure epsilon for either, and reports that are
values, so that tables can be reconstructed from them. Noise without bounds leaves the mean where it is.

Proof: ``noisy_numbers.md`` beside this file.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from sudare.bilingual import Words
from sudare.collect.estimation.estimates import Estimate
from sudare.collect.randomizers.means import MeanEstimate
from sudare.collect.randomizers.questions import RANGE, read_grid, read_number
from sudare.collect.randomizers.randomizer import Randomizer
from sudare.collect.transitions.grids import MAX_BOUNDED_POINTS, Grid
from sudare.collect.transitions.lattice_transition import Base, LatticeNoise, LatticeTransition, Method
from sudare.collect.transitions.real_transition import RealTransition
from sudare.errors import Described, GuaranteeError, ParameterError
from sudare.noise.entropy import EntropySource, entropy_name
from sudare.noise.lattice import MAX_SCALE, MIN_SCALE
from sudare.noise.sampler import read_entropy
from sudare.parameters import Rational, exact_fraction, shown
from sudare.privacy.budget import Budget, read_text_fraction
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, Measurement
from sudare.privacy.unit import Unit

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sudare.collect.estimation.crosstab import CrossTab
    from sudare.collect.estimation.pk import NumberAttribute
    from sudare.collect.transitions.transition import Integers
    from sudare.sections import Section

__all__ = ["BoundedNoise", "NumberRandomizer", "UnboundedNoise"]

MAX_EPSILON = 100_000
MAX_RECORDED = 138
"""The logarithm of the largest ratio that an event takes, rounded down."""

MAX_TRIALS = 100


@dataclass(frozen=True, init=False)
class NumberRandomizer(Randomizer):
    """A number plus noise in steps of a grid.

    Args:
        grid: the numbers that values may be; values between two of them are rounded to the nearer.
        scale: of the noise, in the unit of the numbers: Laplace noise has density exp(-|x| / scale), normal noise
            exp(-x**2 / (2 scale**2)), but for a factor.
        base: which noise.
    """

    has_mean: ClassVar[bool] = True
    is_bounded: ClassVar[bool]
    grid: Grid
    scale: Fraction
    base: Base

    def __init__(self, grid: Grid, scale: Rational, base: Base = "laplace") -> None:
        function = type(self).__name__
        if not isinstance(grid, Grid):
            raise ParameterError("grid", function, "a Grid", shown(grid))
        if not isinstance(base, str) or base not in ("laplace", "normal"):
            raise ParameterError(
                "base", function, Words("'laplace' or 'normal'", "'laplace' または 'normal'"), shown(base)
            )
        requirement = Words(
            "a number above 0, from 0.001 to 10**12 steps of the grid",
            "0 より大きい数（格子の刻みの 0.001 倍以上 10**12 倍以下）",
        )
        size = exact_fraction(scale, "scale", function, requirement)
        if not MIN_SCALE <= size / grid.step <= MAX_SCALE:
            raise ParameterError("scale", function, requirement, scale)
        for name, value in (("grid", grid), ("scale", size), ("base", base)):
            object.__setattr__(self, name, value)

    def value_grid(self) -> Grid:
        """The grid."""
        return self.grid

    def attribute_for_k(self) -> NumberAttribute:
        """The grid, with noise of the same base."""
        from sudare.collect.estimation.pk import NumberAttribute

        return NumberAttribute(self.grid, self.base)

    @property
    def noise(self) -> LatticeNoise:
        """The noise before it is bounded."""
        return LatticeNoise(self.grid, self.scale, self.base)

    @property
    def steps(self) -> Fraction:
        """The scale in steps of the grid."""
        return self.noise.steps

    @abstractmethod
    def transition(self) -> RealTransition:
        """With which probability each value becomes each report."""

    @abstractmethod
    def report_places(self, reports: ArrayLike, function: str) -> Integers:
        """Which column of the transition each report belongs to.

        Raises:
            ParameterError: if a report is not one of this randomizer.
        """

    def require_reports(self, reports: NDArray[Any], function: str) -> None:
        """By their places."""
        self.report_places(reports, function)

    def count(self, reports: ArrayLike) -> NDArray[np.int64]:
        """How many reports belong to each column of the transition."""
        places = self.report_places(reports, f"{type(self).__name__}.count")
        return np.bincount(places.ravel(), minlength=self.transition().reports).astype(np.int64)

    def estimate(self, reports: ArrayLike) -> Estimate:
        """How many people have each number of the grid.

        Raises:
            ParameterError: if a report is not one of this randomizer.
            GuaranteeError: if the matrix cannot be inverted, as that of normal noise; see `fit`.
        """
        told = self.count(reports).astype(np.float64)
        transition = self.transition()
        unbiased = transition.solve(told)
        variances = np.maximum(transition.squared_inverse(told) - unbiased, 0.0)
        return Estimate(self.grid.labels(), int(told.sum()), unbiased, variances, repr(self))

    def fit(self, reports: ArrayLike, tolerance: float = 1e-5) -> CrossTab:
        """The distribution of the numbers that explains the reports best, by the iterative Bayes method; needs no inverse.

        Args:
            reports: what was sent, one for each person.
            tolerance: stop once the log-likelihood per person is within this of the largest possible one.
        """
        from sudare.collect.estimation.crosstab import RandomizedAttribute, iterative_bayes

        attribute = RandomizedAttribute("number", self.transition(), self.grid.labels())
        return iterative_bayes(self.count(reports), [attribute], tolerance=tolerance)

    def variance(self, people: int, share: float = 0.0) -> float:
        """Of the estimated number of people with one number, the largest over the numbers."""
        transition = self.transition()
        even = people * (1 - share) / self.grid.last
        spread = transition.squared_inverse(transition.forward(np.full(self.grid.size, even)))
        own = people * share
        return float((spread + (own - even) * transition.own_squares() - own).max())

    @property
    def has_whole_reports(self) -> bool:
        """Whether all reports are whole numbers."""
        return self.grid.is_whole

    def drawing(self) -> dict[str, object]:
        """By coins with probability exp(-x), which need the scale in steps only: see `sudare.collect.device.numbers`."""
        scale = [self.steps.numerator, self.steps.denominator]
        return {"rule": "noise", "base": self.base, "steps": scale, "within": self.is_bounded}

    def parameters(self) -> dict[str, object]:
        """Grid, scale and base."""
        return {"grid": self.grid.to_dict(), "scale": str(self.scale), "base": self.base}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """What `parameters` wrote, read again."""
        return cls(Grid.from_dict(parameters["grid"]), read_text_fraction(parameters["scale"]), parameters["base"])


@dataclass(frozen=True, init=False)
class BoundedNoise(NumberRandomizer):
    """Noise that is drawn again until the number stays within the grid.

    Guarantee: local epsilon = span / scale (Laplace) or span**2 / (2 scale**2) (normal), exactly; anonymity rate exp(-2 epsilon).

    Proof: ``noisy_numbers.md``.

    Args:
        grid: the numbers that values may be, at most 2**20; values between two of them are rounded to the nearer.
        scale: of the noise, in the unit of the numbers.
        base: which noise is bounded.
        method: ``"inverse"`` looks one random word up in the cumulative probabilities, whatever the value; ``"rejection"`` draws
            again as the paper says, in a time that tells something about the value. The reports have the same law, so that the
            method is no part of what a randomizer is: specifications leave it out.

    Raises:
        ParameterError: if the scale is too small for any guarantee, or too large for drawing again.

    References:
        Ikarashi, Hasegawa, Osame, Kikuchi, Chida: sections 5.1 to 5.3.

    Example:
        >>> from sudare.collect.transitions.grids import Grid
        >>> from sudare.collect.randomizers.noisy_numbers import BoundedNoise
        >>> ages = BoundedNoise(Grid(0, 100, 1), scale=50)
        >>> reports = ages.randomize([17, 40, 99])
        >>> reports.dtype, bool((reports >= 0).all()), ages.epsilon()
        (dtype('int64'), True, Fraction(2, 1))
    """

    kind: ClassVar[str] = "bounded-noise"
    words: ClassVar[Words] = Words(
        "The true number plus noise, drawn again until it stays within the range.",
        "真の数値に、範囲に収まるまで引き直したノイズを加えます。",
    )
    question_keys: ClassVar[Mapping[str, tuple[str, ...]]] = {"bounded-noise": (*RANGE, "scale", "base", "draw")}
    reports_are_values: ClassVar[bool] = True
    is_bounded: ClassVar[bool] = True
    method: Method = field(compare=False)
    _transition: LatticeTransition = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        grid: Grid,
        scale: Rational,
        base: Base = "laplace",
        method: Method = "inverse",
    ) -> None:
        super().__init__(grid, scale, base)
        if not isinstance(method, str) or method not in ("inverse", "rejection"):
            raise ParameterError(
                "method",
                "BoundedNoise",
                Words("'inverse' or 'rejection'", "'inverse' または 'rejection'"),
                shown(method),
            )
        if grid.size > MAX_BOUNDED_POINTS:
            raise ParameterError(
                "grid",
                "BoundedNoise",
                Words("a Grid of at most 2**20 points", "点が 2**20 個以下の格子"),
                Described(f"{grid.size:,}"),
            )
        if self.noise.end_to_end > MAX_EPSILON:
            requirement = Words("large enough for an epsilon of at most 100,000", "epsilon が 100,000 以下になる大きさ")
            raise ParameterError("scale", "BoundedNoise", requirement, scale)
        object.__setattr__(self, "method", method)
        object.__setattr__(self, "_transition", LatticeTransition(self.noise, bounded=True, method=method))
        if method == "rejection" and self.steps > MAX_TRIALS * grid.size:
            requirement = Words(
                f"at most {MAX_TRIALS} times the range where noise is drawn again",
                f"ノイズを引き直す場合は範囲の {MAX_TRIALS} 倍以下",
            )
            raise ParameterError("scale", "BoundedNoise", requirement, scale, "Use method='inverse'.")

    @classmethod
    def from_question(cls, method: str, section: Section) -> Randomizer:
        """Grid, scale, base, and how it is drawn."""
        base: Any = section.choice("base", ("laplace", "normal"), "laplace")
        draw: Any = section.choice("draw", ("inverse", "rejection"), "inverse")
        return cls(read_grid(section), read_number(section, "scale"), base, draw)

    def transition(self) -> RealTransition:
        """With which probability each value becomes each report."""
        return self._transition

    def epsilon(self) -> Fraction:
        """What one report costs the person who gives it, exactly."""
        return self.noise.end_to_end

    def event(self, entropy: EntropySource | None = None) -> ReleaseEvent:
        """The record of one report.

        Raises:
            GuaranteeError: if epsilon is above 138, which protects nobody and is not recorded.
        """
        if self.noise.end_to_end > MAX_RECORDED:
            raise GuaranteeError(
                Words(
                    "The noise is so small that its epsilon is above 138, which protects nobody.",
                    "ノイズが小さすぎて epsilon が 138 を超え、誰も保護されません。",
                )
            )
        return super().event(entropy)

    def randomize(self, values: ArrayLike, entropy: EntropySource | None = None) -> NDArray[Any]:
        """A number of the grid for each value.

        Args:
            values: numbers within the grid.
            entropy: where the bits come from; the secure source by default.

        Raises:
            ParameterError: if a value is not a number within the grid.
        """
        function = "BoundedNoise.randomize"
        source = read_entropy(entropy, function)
        return self.grid.values(self._transition.draw(self.grid.places(values, function=function), source))

    def report_places(self, reports: ArrayLike, function: str) -> Integers:
        """Where each report stands on the grid."""
        return self.grid.places(reports, between="refuse", parameter="reports", function=function)

    def estimate_mean(self, reports: ArrayLike) -> MeanEstimate:
        """The mean of all people's numbers: unbiased, with the standard error for their fixed numbers.

        The error grows with the scale in steps, because the ends of the grid must make up for all that does not pass them: for
        means, noise without bounds, `OneBit` or `Piecewise` are better.

        Raises:
            GuaranteeError: if the matrix cannot be inverted, as that of normal noise.
        """
        places = self.report_places(reports, "BoundedNoise.estimate_mean").ravel()
        if places.size < 2:
            raise ParameterError(
                "reports", "BoundedNoise.estimate_mean", Words("two or more", "2 以上"), Described("fewer")
            )
        # In steps from the middle of the grid, which keeps squares small.
        centred = np.arange(self.grid.size) - self.grid.last / 2
        scores, squares = (self._transition.unbiased_scores(np.asarray(x)) for x in (centred, centred**2))
        spread = float((scores[places] ** 2 - squares[places]).mean())
        middle, step = float((self.grid.low + self.grid.high) / 2), float(self.grid.step)
        error = step * np.sqrt(max(spread, 0.0) / places.size)
        return MeanEstimate(places.size, middle + step * float(scores[places].mean()), float(error))


@dataclass(frozen=True, init=False)
class UnboundedNoise(NumberRandomizer):
    """Noise without bounds: reports may lie outside the grid, in whole steps.

    Guarantee: Laplace noise has local epsilon = span / scale and anonymity rate exp(-2 epsilon); normal noise has
        rho = span**2 / (2 scale**2), no epsilon, and rate 0.

    Proof: ``noisy_numbers.md``.

    Args:
        grid: the numbers that values may be; values between two of them are rounded to the nearer.
        scale: of the noise, in the unit of the numbers.
        base: which noise.

    References:
        Ghosh, Roughgarden, Sundararajan (2009); Canonne, Kamath, Steinke (2020).

    Example:
        >>> from sudare.collect.transitions.grids import Grid
        >>> from sudare.collect.randomizers.noisy_numbers import UnboundedNoise
        >>> ages = UnboundedNoise(Grid(0, 100, 1), scale=50)
        >>> estimate = ages.estimate_mean(ages.randomize([40] * 100_000))
        >>> abs(estimate.mean - 40) < 3, round(estimate.standard_error, 3)
        (True, 0.224)
    """

    kind: ClassVar[str] = "unbounded-noise"
    words: ClassVar[Words] = Words(
        "The true number plus noise, which may lead beyond the range.",
        "真の数値にノイズを加えます。範囲の外に出ることもあります。",
    )
    question_keys: ClassVar[Mapping[str, tuple[str, ...]]] = {"unbounded-noise": (*RANGE, "scale", "base")}
    is_bounded: ClassVar[bool] = False
    _transition: LatticeTransition = field(init=False, repr=False, compare=False)

    def __init__(self, grid: Grid, scale: Rational, base: Base = "laplace") -> None:
        super().__init__(grid, scale, base)
        if base == "laplace" and self.noise.end_to_end > MAX_EPSILON:
            raise ParameterError(
                "scale",
                "UnboundedNoise",
                Words("large enough for an epsilon of at most 100,000", "epsilon が 100,000 以下になる大きさ"),
                scale,
            )
        object.__setattr__(self, "_transition", LatticeTransition(self.noise, bounded=False))

    @classmethod
    def from_question(cls, method: str, section: Section) -> Randomizer:
        """Grid, scale and base."""
        base: Any = section.choice("base", ("laplace", "normal"), "laplace")
        return cls(read_grid(section), read_number(section, "scale"), base)

    def transition(self) -> RealTransition:
        """With which probability each value becomes each report; far reports are counted with the last that has a column.

        For Laplace noise all reports beyond an end are counted with that end, which loses nothing: they are equally likely, in
        proportion, for all values.
        """
        return self._transition

    def epsilon(self) -> Fraction:
        """What one report costs the person who gives it, exactly.

        Raises:
            GuaranteeError: for normal noise, which has rho only; see `event`.
        """
        if self.base == "normal":
            raise GuaranteeError(
                Words(
                    "Normal noise without bounds has no pure epsilon; its event states rho.",
                    "範囲を限らない正規ノイズに純粋な epsilon はありません。費用はイベントの rho にあります。",
                )
            )
        return self.noise.end_to_end

    def event(self, entropy: EntropySource | None = None) -> ReleaseEvent:
        """The record of one report, in epsilon or in rho."""
        source = read_entropy(entropy, "UnboundedNoise.event")
        # A grid of one step is measured in half steps: an event wants the sensitivity of two counts at least.
        unit = 2 if self.grid.last == 1 else 1
        distance, size = self.grid.last * unit, self.steps * unit
        measurement: Measurement
        if self.base == "laplace":
            measurement = LaplaceMeasurement(size, distance, 1, distance)
            cost = Budget(epsilon=measurement.epsilon)
        else:
            measurement = GaussianMeasurement(size**2, distance**2, 1, distance)
            cost = Budget(rho=measurement.rho)
        return ReleaseEvent(self.kind, Unit("person", adjacency="replace"), cost, (measurement,), entropy_name(source))

    def randomize(self, values: ArrayLike, entropy: EntropySource | None = None) -> NDArray[Any]:
        """A number for each value, in whole steps from the grid, possibly outside it.

        Args:
            values: numbers within the grid.
            entropy: where the bits come from; the secure source by default.

        Raises:
            ParameterError: if a value is not a number within the grid.
        """
        function = "UnboundedNoise.randomize"
        source = read_entropy(entropy, function)
        places = self.grid.places(values, function=function)
        return self.grid.values(places + self.noise.sampler.draw(places.shape, source))

    def report_places(self, reports: ArrayLike, function: str) -> Integers:
        """Which column of the transition each report belongs to."""
        numbers = np.asarray(reports)
        if numbers.size and (numbers.dtype.kind not in "iuf" or not np.isfinite(numbers).all()):
            raise ParameterError("reports", function, "numbers", Described("something else"))
        position = (numbers.astype(np.float64) - float(self.grid.low)) / float(self.grid.step)
        margin = self._transition.margin
        found = np.clip(np.rint(position), -margin, self.grid.last + margin)
        inside = np.abs(position) < 2.0**40
        if (np.abs(position - np.rint(position))[inside] > 0.01).any():
            requirement = "in whole steps from the grid"
            raise ParameterError("reports", function, requirement, Described("some between the steps"))
        return np.asarray(found + margin, dtype=np.int64)

    def estimate_mean(self, reports: ArrayLike) -> MeanEstimate:
        """The mean of the reports, which is that of the numbers on average; its standard error is known beforehand."""
        self.report_places(reports, "UnboundedNoise.estimate_mean")
        numbers = np.asarray(reports, dtype=np.float64).ravel()
        if not numbers.size:
            raise ParameterError(
                "reports", "UnboundedNoise.estimate_mean", Words("one or more", "1 以上"), Described("none")
            )
        return MeanEstimate(numbers.size, float(numbers.mean()), float(np.sqrt(self.mean_variance(numbers.size))))

    def mean_variance(self, people: int) -> float:
        """Of the estimated mean: the variance of the noise, whatever the numbers are."""
        size = float(self.steps)
        if self.base == "laplace":
            return float(self.grid.step) ** 2 / (2 * np.sinh(0.5 / size) ** 2) / people if size > 0.002 else 0.0
        if size >= 2:  # the discrete law's variance differs by less than exp(-78)
            return float(self.scale) ** 2 / people
        at = np.arange(1, 100)
        weights = np.exp(-(at**2) / (2 * size**2))
        return float(self.grid.step) ** 2 * float(2 * (at**2 * weights).sum() / (1 + 2 * weights.sum())) / people
