"""What looks at the data cost: rho with discrete Gaussian noise, or pure epsilon with discrete Laplace noise.

A budget is one amount in either currency, and every look takes a part of it. The amounts are fractions, so that the parts add up
to the whole exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, pi, sqrt

from sudare.bilingual import Words
from sudare.errors import GuaranteeError, ParameterError
from sudare.noise.entropy import EntropySource
from sudare.noise.lattice import MIN_SCALE
from sudare.noise.selection import exponential_mechanism, report_noisy_max
from sudare.parameters import shown
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion, epsilon_to_rho
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, SelectionMeasurement
from sudare.privacy.unit import Sensitivity, Unit

__all__ = ["CountMeasurement", "Prices", "mean_size", "prices_for"]

CountMeasurement = GaussianMeasurement | LaplaceMeasurement

DIGITS = 7
"""Of a choice's epsilon, where it follows from rho by a root; what is rounded off goes to the measurement."""


@dataclass(frozen=True)
class Prices:
    """A budget as one amount, and what can be bought for a part of it.

    Attributes:
        amount: all that may be spent, in rho or in epsilon.
        is_pure: whether the amount is in epsilon.
        sensitivity: of a margin, to one unit.
        unit: who is protected.
    """

    amount: Fraction
    is_pure: bool
    sensitivity: Sensitivity
    unit: Unit

    def measurement(self, part: Fraction) -> CountMeasurement:
        """The noise on a margin that a part of the amount buys; never less than can be drawn."""
        of = self.sensitivity
        if self.is_pure:
            return LaplaceMeasurement(max(of.l1 / part, MIN_SCALE), of.l1, of.cells, of.largest)
        squared = max(of.l2_squared / (2 * part), MIN_SCALE**2)
        return GaussianMeasurement(squared, of.l2_squared, of.cells, of.largest)

    def choice(self, part: Fraction) -> SelectionMeasurement:
        """The choice that a part of the amount buys, by the rule that is best for the currency; it costs at most the part."""
        if self.is_pure:
            return SelectionMeasurement(part, "permute-and-flip")
        return SelectionMeasurement(_root_rounded_down(8 * part), "exponential")

    def cost_of(self, choice: SelectionMeasurement) -> Fraction:
        """What a choice costs of the amount."""
        return choice.epsilon if self.is_pure else choice.rho

    def choose(
        self, choice: SelectionMeasurement, scores: Sequence[int], score_sensitivity: int, entropy: EntropySource
    ) -> int:
        """The place of a candidate with a high score, drawn as the choice states.

        Args:
            choice: what `choice` gave.
            scores: a whole number for each candidate.
            score_sensitivity: by how much one unit can change any of them, at most.
            entropy: where the bits come from.
        """
        rule = report_noisy_max if choice.rule == "permute-and-flip" else exponential_mechanism
        place, event = rule(
            scores,
            Budget(epsilon=1).times(
                choice.chosen_epsilon
            ),  # a part of a budget, which has warned already if it is weak
            sensitivity=score_sensitivity,
            unit=self.unit,
            entropy=entropy,
        )
        if event.measurements != (choice,):
            raise AssertionError("a choice was drawn otherwise than stated")
        return place


def prices_for(budget: Budget, conversion: Conversion, sensitivity: Sensitivity, unit: Unit, function: str) -> Prices:
    """A budget as one amount: epsilon where there is no delta, and else rho.

    Raises:
        GuaranteeError: if the delta leaves nothing, or the conversion does not hold for noise that is drawn.
    """
    if not isinstance(conversion, str) or conversion not in ("simple", "optimal", "gaussian"):
        raise ParameterError(
            "conversion", function, Words("'simple' or 'optimal'", "'simple' または 'optimal'"), shown(conversion)
        )
    if conversion == "gaussian":
        raise GuaranteeError(
            Words(
                "The 'gaussian' conversion holds for continuous noise. Use 'optimal' or 'simple'.",
                "'gaussian' の換算は連続ノイズのためのものです。'optimal' か 'simple' を使ってください。",
            )
        )
    if budget.currency == "epsilon":
        return Prices(budget.epsilon, True, sensitivity, unit)
    rho = budget.rho if budget.currency == "rho" else epsilon_to_rho(budget.epsilon, budget.delta, conversion)
    if rho <= 0:
        raise GuaranteeError(
            Words(
                f"No Gaussian noise gives {budget}: the delta leaves nothing.",
                f"{budget} を満たすガウスノイズはありません。delta に余裕がありません。",
            )
        )
    return Prices(rho, False, sensitivity, unit)


def mean_size(measurement: CountMeasurement) -> float:
    """How large the noise is on average, without its sign (of the continuous law)."""
    if isinstance(measurement, GaussianMeasurement):
        return sqrt(2 / pi * float(measurement.sigma_squared))
    return float(measurement.scale)


def _root_rounded_down(square: Fraction) -> Fraction:
    """The root with some digits, from below.

    Example:
        >>> from fractions import Fraction
        >>> from sudare.tables.adaptive.prices import _root_rounded_down
        >>> _root_rounded_down(Fraction(2)), _root_rounded_down(Fraction(2, 10**40))
        (Fraction(2828427, 2000000), Fraction(2828427, 200000000000000000000000000))
    """
    exponent = DIGITS
    while isqrt(square.numerator * 10 ** (2 * exponent) // square.denominator) < 10**DIGITS:
        exponent += 1
    return Fraction(isqrt(square.numerator * 10 ** (2 * exponent) // square.denominator), 10**exponent)
