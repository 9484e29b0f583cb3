"""What was drawn: the noisy looks at the data that a release consists of, each with its exact cost.

A measurement is made from a budget (`for_budget`), so that the noise follows from the cost, or from its noise, so that the cost
follows from it. A measurement cannot state another cost than that of its noise.

Proof: ``measurements.md`` beside this file.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from sudare.bilingual import Words
from sudare.errors import EventError, GuaranteeError, MixedCurrencyError, ParameterError
from sudare.parameters import exact_integer, shown
from sudare.privacy.budget import Budget, read_budget, read_text_fraction
from sudare.privacy.conversion import Conversion, epsilon_to_rho
from sudare.privacy.measurement import Measurement
from sudare.privacy.unit import Sensitivity, Unit, read_sensitivity, sensitivity_of_counts

__all__ = [
    "GaussianMeasurement",
    "KeyReleaseMeasurement",
    "LaplaceMeasurement",
    "Measurement",
    "ResponseMeasurement",
    "SelectionMeasurement",
    "SmoothMeasurement",
    "log_rounded_up",
    "read_measurement",
]

MIN_BETA, MAX_BETA = Fraction(1, 10**15), Fraction(100)
MAX_SMOOTH_CELLS = 10**6
SMOOTH_SLACK = Decimal(10) ** -20
"""Relative; every operation at 60 digits errs by far less, also where exp(beta) - 1 loses digits to a small beta."""


@dataclass(frozen=True)
class LaplaceMeasurement(Measurement):
    """Discrete Laplace noise on whole numbers.

    Guarantee: epsilon = l1 / scale, pure; also rho = epsilon**2 / 2.

    Args:
        scale: the noise is proportional to exp(-|x| / scale).
        l1: the l1 sensitivity of the vector it was added to.
        cells: how many entries of the vector one unit can change.
        largest: by how much each, at most.

    Example:
        >>> from sudare import Budget, Unit
        >>> from sudare.privacy import LaplaceMeasurement, sensitivity_of_counts
        >>> LaplaceMeasurement.for_budget(Budget(epsilon=0.1), sensitivity_of_counts(Unit())).scale
        Fraction(10, 1)
    """

    kind: ClassVar[str] = "discrete-laplace"
    scale: Fraction
    l1: int
    cells: int
    largest: int

    def __post_init__(self) -> None:
        self._read_number("scale")
        self._read_norm("l1")

    def covers_counts(self, unit: Unit) -> bool:
        """Whether the sensitivity that this was made for is enough for a count table about such units.

        A single number (one entry that can change) moves by the unit's rows, also where the unit is replaced.
        """
        least = sensitivity_of_counts(unit).l1
        return self.l1 >= (least if self.cells > 1 else min(least, unit.rows))

    @classmethod
    def for_budget(cls, budget: Budget, sensitivity: Sensitivity) -> LaplaceMeasurement:
        """The noise that costs exactly the budget's epsilon."""
        read_budget(budget, "LaplaceMeasurement.for_budget")
        read_sensitivity(sensitivity, "LaplaceMeasurement.for_budget")
        if budget.currency == "rho":
            hint = "Laplace noise costs rho = epsilon**2 / 2; choose the epsilon."
            raise MixedCurrencyError(
                "budget", "LaplaceMeasurement.for_budget", Words("in epsilon", "epsilon による予算"), budget, hint
            )
        return cls(sensitivity.l1 / budget.epsilon, sensitivity.l1, sensitivity.cells, sensitivity.largest)

    @property
    def epsilon(self) -> Fraction:
        """Cost in pure epsilon."""
        return self.l1 / self.scale

    @property
    def rho(self) -> Fraction:
        """Cost in rho."""
        return self.epsilon**2 / 2


@dataclass(frozen=True)
class GaussianMeasurement(Measurement):
    """Discrete Gaussian noise on whole numbers.

    Guarantee: rho = l2_squared / (2 sigma_squared). There is no pure epsilon.

    Args:
        sigma_squared: the noise is proportional to exp(-x**2 / (2 sigma_squared)).
        l2_squared: the squared l2 sensitivity of the vector it was added to.
        cells: how many entries of the vector one unit can change.
        largest: by how much each, at most.

    Example:
        >>> from sudare import Budget, Unit
        >>> from sudare.privacy import GaussianMeasurement, sensitivity_of_counts
        >>> GaussianMeasurement.for_budget(Budget(rho=0.5), sensitivity_of_counts(Unit(cells=4))).sigma_squared
        Fraction(4, 1)
    """

    kind: ClassVar[str] = "discrete-gaussian"
    sigma_squared: Fraction
    l2_squared: int
    cells: int
    largest: int

    def __post_init__(self) -> None:
        self._read_number("sigma_squared")
        self._read_norm("l2_squared")

    def covers_counts(self, unit: Unit) -> bool:
        """Whether the sensitivity that this was made for is enough for a count table about such units.

        A single number (one entry that can change) moves by the unit's rows, also where the unit is replaced.
        """
        least = sensitivity_of_counts(unit).l2_squared
        return self.l2_squared >= (least if self.cells > 1 else min(least, unit.rows**2))

    @classmethod
    def for_budget(
        cls, budget: Budget, sensitivity: Sensitivity, conversion: Conversion = "optimal"
    ) -> GaussianMeasurement:
        """The noise that costs exactly the budget's rho, or the rho that its (epsilon, delta) allows.

        Raises:
            GuaranteeError: for a pure epsilon, which Gaussian noise cannot give.
        """
        read_budget(budget, "GaussianMeasurement.for_budget")
        read_sensitivity(sensitivity, "GaussianMeasurement.for_budget")
        if budget.currency == "epsilon":
            raise GuaranteeError(
                Words(
                    f"Gaussian noise cannot give {budget} with delta = 0. "
                    "Give a delta (suggest_delta() helps) or use Laplace noise.",
                    f"ガウスノイズでは delta = 0 の {budget} を満たせません。"
                    "delta を指定するか（suggest_delta() が目安を示します）、ラプラスノイズを使ってください。",
                )
            )
        if not isinstance(conversion, str) or conversion not in ("simple", "optimal", "gaussian"):
            raise ParameterError(
                "conversion",
                "GaussianMeasurement.for_budget",
                Words("'simple' or 'optimal'", "'simple' または 'optimal'"),
                shown(conversion),
            )
        if conversion == "gaussian":
            raise GuaranteeError(
                Words(
                    "The 'gaussian' conversion holds for continuous noise, which is never drawn here. "
                    "Use 'optimal' or 'simple'.",
                    "'gaussian' の換算は連続ノイズのためのもので、ここでは使いません。'optimal' か 'simple' を使ってください。",
                )
            )
        rho = budget.rho if budget.currency == "rho" else epsilon_to_rho(budget.epsilon, budget.delta, conversion)
        if rho <= 0:
            raise GuaranteeError(
                Words(
                    f"No Gaussian noise gives {budget}: the delta leaves nothing.",
                    f"{budget} を満たすガウスノイズはありません。delta に余裕がありません。",
                )
            )
        squared = sensitivity.l2_squared
        return cls(squared / (2 * rho), squared, sensitivity.cells, sensitivity.largest)

    @property
    def epsilon(self) -> None:
        """Gaussian noise has no pure epsilon."""

    @property
    def rho(self) -> Fraction:
        """Cost in rho."""
        return self.l2_squared / (2 * self.sigma_squared)


@dataclass(frozen=True)
class SelectionMeasurement(Measurement):
    """The choice of one candidate by its score.

    Guarantee: pure epsilon. The exponential mechanism is of bounded range and costs rho = epsilon**2 / 8;
        permute-and-flip is not, and costs rho = epsilon**2 / 2.

    Args:
        chosen_epsilon: the epsilon that the choice was made with.
        rule: ``"exponential"`` or ``"permute-and-flip"``.

    Example:
        >>> from sudare.privacy import SelectionMeasurement
        >>> SelectionMeasurement(2, "exponential").rho, SelectionMeasurement(2, "permute-and-flip").rho
        (Fraction(1, 2), Fraction(2, 1))
    """

    kind: ClassVar[str] = "selection"
    chosen_epsilon: Fraction
    rule: str

    def __post_init__(self) -> None:
        self._read_number("chosen_epsilon")
        if not isinstance(self.rule, str) or self.rule not in ("exponential", "permute-and-flip"):
            raise ParameterError(
                "rule", "SelectionMeasurement", "'exponential' or 'permute-and-flip'", shown(self.rule)
            )

    @property
    def epsilon(self) -> Fraction:
        """Cost in pure epsilon."""
        return self.chosen_epsilon

    @property
    def rho(self) -> Fraction:
        """Cost in rho."""
        return self.chosen_epsilon**2 / (8 if self.rule == "exponential" else 2)


@dataclass(frozen=True)
class ResponseMeasurement(Measurement):
    """A randomized answer that a person gives in place of the true one.

    Guarantee: pure epsilon, the logarithm of the ratio, whatever the true answer is replaced by; also rho =
        epsilon**2 / 2.

    Args:
        ratio: the largest ratio of the probabilities with which two true answers give the same report.

    Example:
        >>> from sudare.privacy import ResponseMeasurement
        >>> round(float(ResponseMeasurement(3).epsilon), 6)  # two coins: ln 3
        1.098612
    """

    kind: ClassVar[str] = "randomized-response"
    ratio: Fraction

    def __post_init__(self) -> None:
        self._read_number("ratio")
        if self.ratio <= 1:
            requirement = "above 1: a report that does not depend on the answer needs no event"
            raise ParameterError("ratio", "ResponseMeasurement", requirement, self.ratio)

    @property
    def epsilon(self) -> Fraction:
        """Cost in pure epsilon: the logarithm, rounded up."""
        return log_rounded_up(self.ratio)

    @property
    def rho(self) -> Fraction:
        """Cost in rho."""
        return self.epsilon**2 / 2


@dataclass(frozen=True)
class KeyReleaseMeasurement(Measurement):
    """The keys of groups that nobody knew of before, published where a noisy count reaches a threshold.

    Guarantee: (0, delta). It stands beside the measurement of the counts themselves, which has the epsilon.

    Args:
        chance: the most that the probability can be with which a key is published that is there because of one unit
            alone.

    Example:
        >>> from sudare.privacy.measurements import KeyReleaseMeasurement
        >>> keys = KeyReleaseMeasurement(1e-6)
        >>> keys.epsilon, keys.delta
        (Fraction(0, 1), Fraction(1, 1000000))
    """

    kind: ClassVar[str] = "key-release"
    chance: Fraction

    def __post_init__(self) -> None:
        self._read_number("chance")
        _require_chance(self.chance, "KeyReleaseMeasurement")

    @property
    def epsilon(self) -> Fraction:
        """Costs no epsilon."""
        return Fraction(0)

    @property
    def rho(self) -> Fraction:
        """Costs no rho."""
        return Fraction(0)

    @property
    def delta(self) -> Fraction:
        """The probability with which a key may give somebody away."""
        return self.chance


@dataclass(frozen=True)
class SmoothMeasurement(Measurement):
    """Discrete Laplace noise whose scale follows a smooth bound of the local sensitivity.

    Guarantee: (epsilon, delta) with epsilon = slide + (exp(beta) - 1) u, where u is how far, in scales, the noise of all
    entries together goes except with probability delta; also rho = epsilon**2 / 2 with the same delta.

    Neither the bound nor the scale is part of the record, because they may depend on the data.

    Args:
        slide: the bound divided by the scale of the noise.
        beta: from one data set to a neighbour the bound changes by a factor of at most exp(beta).
        chance: delta.
        cells: how many entries get noise of that scale. How many there are must be public; the bound is that of the
            sum of their differences.

    References:
        Nissim, Raskhodnikova, Smith: Smooth sensitivity and sampling in private data analysis (2007).

    Example:
        >>> from sudare import Budget
        >>> from sudare.privacy.measurements import SmoothMeasurement
        >>> noise = SmoothMeasurement.for_budget(Budget(epsilon=1, delta=1e-6))
        >>> noise.scale_for(Fraction(100)), round(float(noise.beta), 4)
        (Fraction(200, 1), 0.0339)
    """

    kind: ClassVar[str] = "smooth-laplace"
    slide: Fraction
    beta: Fraction
    chance: Fraction
    cells: int

    def __post_init__(self) -> None:
        for name in ("slide", "beta", "chance"):
            self._read_number(name)
        _require_chance(self.chance, "SmoothMeasurement")
        if not MIN_BETA <= self.beta <= MAX_BETA:
            raise ParameterError(
                "beta", "SmoothMeasurement", Words("a number from 1e-15 to 100", "1e-15 以上 100 以下の数"), self.beta
            )
        requirement = f"a whole number from 1 to {MAX_SMOOTH_CELLS}"
        cells = exact_integer(
            self.cells, "cells", "SmoothMeasurement", requirement, smallest=1, largest=MAX_SMOOTH_CELLS
        )
        object.__setattr__(self, "cells", cells)

    @classmethod
    def for_budget(cls, budget: Budget, cells: int = 1) -> SmoothMeasurement:
        """Half of epsilon for what the result differs by, half for what the noise differs by.

        Raises:
            GuaranteeError: for a budget that is not in epsilon and delta.
        """
        read_budget(budget, "SmoothMeasurement.for_budget")
        if budget.currency != "epsilon-delta":
            raise GuaranteeError(
                Words(
                    f"Noise by a smooth bound needs an epsilon and a delta. Got {budget}.",
                    f"平滑感度によるノイズには epsilon と delta が必要です（指定: {budget}）。",
                )
            )
        reach = cls(Fraction(1), Fraction(1), budget.delta, cells)._reach()
        half = budget.epsilon / 2
        with localcontext(Context(prec=60)):
            beta = min((1 + _decimal(half) / _decimal(reach)).ln() * (1 - SMOOTH_SLACK), _decimal(MAX_BETA))
            rounded = Fraction(Context(prec=30, rounding=ROUND_FLOOR).plus(beta))
        return cls(half, rounded, budget.delta, cells)

    def scale_for(self, smooth_bound: Fraction) -> Fraction:
        """The scale of the noise."""
        return smooth_bound / self.slide

    def _reach(self) -> Fraction:
        """How many scales the noise of all entries together may be away from 0, except with probability delta."""
        return _reach_of_laplace(self.cells, self.chance)

    @property
    def epsilon(self) -> Fraction:
        """Cost in epsilon at ``delta``, rounded up."""
        with localcontext(Context(prec=60)):
            growth = (_decimal(self.beta).exp() - 1) * (1 + SMOOTH_SLACK**2)
        return self.slide + Fraction(growth) * self._reach()

    @property
    def rho(self) -> Fraction:
        """Cost in rho, apart from ``delta``."""
        return self.epsilon**2 / 2

    @property
    def delta(self) -> Fraction:
        """The probability with which the noise is further away than the guarantee holds for."""
        return self.chance


KINDS = (
    LaplaceMeasurement,
    GaussianMeasurement,
    SelectionMeasurement,
    ResponseMeasurement,
    KeyReleaseMeasurement,
    SmoothMeasurement,
)
"""The kinds of this module; `events` knows all that there are."""


def log_rounded_up(ratio: Fraction) -> Fraction:
    """The natural logarithm of a ratio >= 1, from above, at most 1e-55 of itself too large.

    Numerator and denominator are divided with 60 digits and the logarithm is taken with as many; each step is wrong by less than
    one unit of its last digit, and a unit is added for each.
    """
    with localcontext(Context(prec=60)) as context:
        quotient = context.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)).next_plus(context)
        return Fraction(quotient.ln(context).next_plus(context))


@lru_cache(maxsize=64)
def _reach_of_laplace(cells: int, chance: Fraction) -> Fraction:
    """A number u >= cells: this many draws of discrete Laplace noise of any scale t hardly ever add up to more than u t.

    Their absolute values do with probability at most ``chance``: 2 exp(-u) for one, (u/d)**d exp(d - u) for d of them.
    """
    with localcontext(Context(prec=60)) as context:
        log_chance, d = _decimal(min(chance, Fraction(1, 2))).ln(), Decimal(cells)
        if cells == 1:
            found = Decimal(2).ln() - log_chance
        else:
            low, high = d, 2 * (d - log_chance) + 2
            for _ in range(120):
                middle = (low + high) / 2
                if d * (middle / d).ln() + d - middle > log_chance:
                    low = middle
                else:
                    high = middle
            found = high
        rounded = (found * (1 + SMOOTH_SLACK)).next_plus(context)
    return max(Fraction(cells), Fraction(Context(prec=30, rounding=ROUND_CEILING).plus(rounded)))


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _require_chance(chance: Fraction, function: str) -> None:
    if chance >= 1:
        raise ParameterError("chance", function, Words("below 1: it is a probability", "1 未満（確率のため）"), chance)


def read_measurement(values: dict[str, object], kinds: tuple[type[Measurement], ...] = KINDS) -> Measurement:
    """Read what `Measurement.to_dict` wrote.

    Raises:
        EventError: if the kind is unknown, or fields are missing, unknown or out of range.
    """
    known = {kind.kind: kind for kind in kinds}
    name = values.get("kind")
    if not isinstance(name, str) or name not in known:
        raise EventError(
            Words(
                f"A measurement in an event is of the unknown kind {name!r:.80}. Known are {sorted(known)}.",
                f"イベント中の測定の種類 {name!r:.80} は不明です。使える種類: {sorted(known)}。",
            )
        )
    kind = known[name]
    wanted = {field.name: str(field.type) for field in fields(kind)}
    if set(values) - {"kind"} != set(wanted):
        raise EventError(
            Words(
                f"A {name} measurement must have the fields {sorted(wanted)}. Got {values!r:.80}.",
                f"{name} の測定の項目は {sorted(wanted)} です（記載: {values!r:.80}）。",
            )
        )
    read: dict[str, object] = {
        field: read_text_fraction(values[field]) if wanted[field] == "Fraction" else values[field] for field in wanted
    }
    try:
        return kind(**read)
    except ParameterError as error:
        raise EventError(
            Words(f"A measurement in an event is not valid. {error}", f"イベント中の測定が不正です。{error.japanese}")
        ) from error
