"""Is the difference real? Two areas of a release, or one area in two releases.

Formulas: ``significance.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import erfc, gcd, sqrt
from typing import Literal

from sudare.errors import Described, ParameterError
from sudare.evaluate.significance.laws import BinomialLaw, Law, PoissonLaw
from sudare.evaluate.significance.noisy_counts import NoisyCount
from sudare.evaluate.significance.sums import LawOfSum, Term
from sudare.parameters import Rational, exact_integer, read_chance, shown

__all__ = ["Alternative", "CountComparison", "Null", "area_changed", "areas_differ", "read_significance"]

Null = Literal["counts", "rates", "shares"]
Alternative = Literal["two-sided", "greater", "less"]
NULLS, ALTERNATIVES = ("counts", "rates", "shares"), ("two-sided", "greater", "less")

MIN_SIGNIFICANCE = 1e-9
NUISANCE_SHARE = 1 / 50
"""The part of the significance that goes into a confidence interval of what both areas have in common."""

MAX_EXPOSURE = 10**9
STEPS = 18
"""Of the bisections that find the interval. It ends on the safe side at every step."""

RATES_TRIED = 9


@dataclass(frozen=True)
class CountComparison:
    """What a test of two published counts says.

    Attributes:
        difference: first minus second, each divided by its exposure.
        low: the lower end of a confidence interval, at 1 - significance, of the difference of the **true counts** (divided
            likewise): what the noise alone leaves open. What counts that vary by themselves leave open is not in it.
        high: its upper end.
        p_value: the chance of a difference as large as this one, or larger, if there were none.
        significance: the chance of a false alarm that the test was asked to keep.
        null: what "no difference" means: equal ``"counts"``, ``"rates"`` or ``"shares"``.
        is_exact: whether false alarms are kept for certain. False where a standard error stands for the law of the noise.
    """

    difference: float
    low: float
    high: float
    p_value: float
    significance: float
    null: Null
    is_exact: bool

    @property
    def is_significant(self) -> bool:
        """Whether there is a difference, with at most the stated chance of a false alarm."""
        return self.p_value <= self.significance

    def __str__(self) -> str:
        verdict = "significant" if self.is_significant else "not significant"
        how = "exact" if self.is_exact else "approximate"
        return (
            f"difference {self.difference:,.6g} ({self.low:,.6g} to {self.high:,.6g}), "
            f"p = {self.p_value:.3g} ({how}): {verdict} at {self.significance:g}"
        )


def areas_differ(
    first: NoisyCount,
    second: NoisyCount,
    *,
    null: Null = "counts",
    exposures: tuple[int, int] = (1, 1),
    alternative: Alternative = "two-sided",
    significance: Rational = 0.05,
) -> CountComparison:
    """Test whether two areas differ, from their published counts and the known noise.

    Looks at published numbers only: it costs no budget. The noise of the two counts must be independent: areas that share
    measured cells are compared without these.

    Guarantee: where both laws are known, there is no difference and the model of ``null`` holds, the p-value is at most
        the significance with at most that probability. With a standard error instead of a law it is approximate.

    Args:
        first: the count of one area.
        second: that of the other.
        null: ``"counts"``: the true counts are in the ratio of the exposures, and nothing but the noise varies. ``"rates"``:
            they vary by themselves too, as Poisson numbers, with means in this ratio. ``"shares"``: they are successes
            among ``exposures`` many people, which must be public numbers, with the same chance.
        exposures: how large the areas are, in whole numbers such as cells, or in people for ``"shares"``.
        alternative: ``"two-sided"``, ``"greater"`` if only a larger first area matters, ``"less"`` if only a smaller one.
        significance: the chance of a false alarm that is acceptable.

    Raises:
        ParameterError: if an argument is not what it should be.

    Example:
        >>> import sudare
        >>> from sudare.evaluate.significance import NoisyCount, areas_differ
        >>> sensitivity = sudare.privacy.sensitivity_of_counts(sudare.Unit())
        >>> noise = sudare.privacy.LaplaceMeasurement.for_budget(sudare.Budget(epsilon=0.1), sensitivity)
        >>> north, south = NoisyCount.of_values([131], noise), NoisyCount.of_values([82], noise)
        >>> print(areas_differ(north, south))
        difference 49 (8 to 90), p = 0.0268 (exact): significant at 0.05
    """
    return _compare("areas_differ", first, second, null, exposures, alternative, significance)


def area_changed(
    before: NoisyCount,
    after: NoisyCount,
    *,
    null: Null = "counts",
    exposures: tuple[int, int] = (1, 1),
    alternative: Alternative = "two-sided",
    significance: Rational = 0.05,
) -> CountComparison:
    """Test whether an area changed between two releases. The difference is after minus before.

    Looks at published numbers only: it costs no budget. Releases have noise of their own each; the same release read
    twice has not.

    Guarantee: as `areas_differ`.

    Args:
        before: the count in the earlier release.
        after: the count in the later one.
        null: as in `areas_differ`; ``"rates"`` where people come and go by chance.
        exposures: of before and after, such as days that were counted.
        alternative: ``"two-sided"``, ``"greater"`` for a rise, ``"less"`` for a fall.
        significance: the chance of a false alarm that is acceptable.

    Raises:
        ParameterError: if an argument is not what it should be.
    """
    swapped = exposures[::-1] if isinstance(exposures, tuple) else exposures
    return _compare("area_changed", after, before, null, swapped, alternative, significance)


def read_significance(significance: object, function: str) -> float:
    """A chance of false alarms.

    Raises:
        ParameterError: if it cannot be kept.
    """
    level = read_chance(significance, "significance", function, words="a number from 1e-9 to 0.5")
    if not MIN_SIGNIFICANCE <= level <= 0.5:
        raise ParameterError("significance", function, "a number from 1e-9 to 0.5", shown(significance))
    return level


def _compare(
    function: str,
    first: NoisyCount,
    second: NoisyCount,
    null: Null,
    exposures: tuple[int, int],
    alternative: Alternative,
    significance: Rational,
) -> CountComparison:
    for name, count in (("first", first), ("second", second)):
        if not isinstance(count, NoisyCount):
            raise ParameterError(name, function, "a NoisyCount", shown(count))
    for name, given, known in (("null", null, NULLS), ("alternative", alternative, ALTERNATIVES)):
        if not isinstance(given, str) or given not in known:
            raise ParameterError(name, function, "one of " + ", ".join(map(repr, known)), shown(given))
    level = read_significance(significance, function)
    one, other = _read_exposures(exposures, function)
    common = gcd(one, other)
    weights = other // common, -(one // common)
    contrast = first.combined(weights[0], second, weights[1])
    if contrast.noise is None:
        p_value, reach = _approximate(contrast, first, second, weights, null, (one, other), alternative, level)
    else:
        reach = (contrast.noise.lower_critical(level / 2) + 1, contrast.noise.upper_critical(level / 2) - 1)
        if null == "counts":
            p_value = _p_value(contrast.noise, contrast.value, alternative)
        else:
            p_value = _p_value_with_sampling(first, second, weights, null, (one, other), alternative, level)
    unit = weights[0] * one
    low, high = contrast.value - reach[1], contrast.value - reach[0]
    return CountComparison(
        contrast.value / unit, low / unit, high / unit, p_value, level, null, contrast.noise is not None
    )


def _p_value(law: LawOfSum, value: float, alternative: Alternative) -> float:
    above, below = float(law.at_least(value)), float(law.at_most(value))
    return {"greater": above, "less": below, "two-sided": min(1.0, 2 * min(above, below))}[alternative]


def _p_value_with_sampling(
    first: NoisyCount,
    second: NoisyCount,
    weights: tuple[int, int],
    null: Null,
    exposures: tuple[int, int],
    alternative: Alternative,
    level: float,
) -> float:
    """The largest p-value over all rates that the sum of both counts does not rule out, plus the chance that it is wrong.

    What both areas have in common, the rate, is not known. A confidence interval of it is found from the noisy sum
    of the two counts (Berger, Boos 1994).
    """
    doubt = level * NUISANCE_SHARE
    contrast, total = first.combined(weights[0], second, weights[1]), first.combined(1, second, 1)
    models = _models(null, exposures)

    def law_at(rate: float, count: NoisyCount, factors: tuple[int, int]) -> LawOfSum:
        noise = count.noise.terms if count.noise is not None else ()
        varying = [Term(law, factor) for law, factor in zip(models(rate), factors, strict=True)]
        return LawOfSum((*noise, *varying))

    largest = 1.0 if null == "shares" else _ample_rate(total, exposures, doubt)
    low = _last_rate(lambda rate: float(law_at(rate, total, (1, 1)).at_least(total.value)) <= doubt / 2, 0.0, largest)
    high = _last_rate(
        lambda rate: float(law_at(largest - rate, total, (1, 1)).at_most(total.value)) <= doubt / 2, 0.0, largest
    )
    limits = low, largest - high
    tried = [limits[0] + (limits[1] - limits[0]) * step / (RATES_TRIED - 1) for step in range(RATES_TRIED)]
    worst = max(_p_value(law_at(rate, contrast, weights), contrast.value, alternative) for rate in tried)
    return min(1.0, worst + doubt)


def _models(null: Null, exposures: tuple[int, int]) -> Callable[[float], tuple[Law, Law]]:
    if null == "rates":
        return lambda rate: (PoissonLaw(rate * exposures[0]), PoissonLaw(rate * exposures[1]))
    return lambda rate: (BinomialLaw(exposures[0], rate), BinomialLaw(exposures[1], rate))


def _ample_rate(total: NoisyCount, exposures: tuple[int, int], doubt: float) -> float:
    """A rate that the noisy sum of both counts certainly rules out."""
    reach = -total.noise.lower_critical(doubt / 8) if total.noise is not None else 0
    people = max(0.0, total.value) + reach
    return float((people + 10 * sqrt(people + 1) + 200) / sum(exposures))


def _last_rate(is_ruled_out: Callable[[float], bool], from_rate: float, to_rate: float) -> float:
    """The last rate, from one end, that is ruled out; that end itself if none is."""
    low, high = from_rate, to_rate
    for _ in range(STEPS):
        middle = (low + high) / 2
        if is_ruled_out(middle):
            low = middle
        else:
            high = middle
    return low


def _approximate(
    contrast: NoisyCount,
    first: NoisyCount,
    second: NoisyCount,
    weights: tuple[int, int],
    null: Null,
    exposures: tuple[int, int],
    alternative: Alternative,
    level: float,
) -> tuple[float, tuple[float, float]]:
    """By the normal law: a p-value, and how far the noise alone reaches."""
    variance = contrast.standard_error**2
    if null != "counts":
        rate = max(0.0, first.value + second.value) / sum(exposures)
        if null == "shares":
            rate *= max(0.0, 1 - rate)
        variance += rate * sum(weight**2 * exposure for weight, exposure in zip(weights, exposures, strict=True))
    score = contrast.value / sqrt(variance)
    above, below = 0.5 * erfc(score / sqrt(2)), 0.5 * erfc(-score / sqrt(2))
    p_value = {"greater": above, "less": below, "two-sided": min(1.0, 2 * min(above, below))}[alternative]
    reach = _normal_quantile(1 - level / 2) * contrast.standard_error
    return p_value, (-reach, reach)


def _normal_quantile(chance: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(chance)


def _read_exposures(exposures: object, function: str) -> tuple[int, int]:
    requirement = "two whole numbers from 1 to 10**9"
    if not isinstance(exposures, tuple) or len(exposures) != 2:
        raise ParameterError("exposures", function, requirement, Described("something else"))
    one, other = (
        exact_integer(exposure, "exposures", function, requirement, smallest=1, largest=MAX_EXPOSURE)
        for exposure in exposures
    )
    return one, other
