"""The cost of publishing the groups of a random sample: each record kept by a coin, groups below k deleted.

The epsilon is chosen; the delta follows from it, from the sampling rate and from k. It is the largest, over all sizes
that a group may have, of a difference of two binomial tails. Every number below is rounded so that delta comes out too
large rather than too small.

Proof: ``microdata/perturb/sampled_k_anonymity.md`` in this package.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import ceil, comb
from typing import ClassVar

from sudare.bilingual import Words
from sudare.errors import GuaranteeError, ParameterError
from sudare.parameters import Rational, exact_fraction, exact_integer, show_fraction
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.measurements import Measurement, log_rounded_up
from sudare.privacy.unit import Unit

__all__ = [
    "SampledGroupsMeasurement",
    "changed_records",
    "largest_sampling_rate",
    "sampled_groups_delta",
    "sampled_groups_epsilon",
    "smallest_group_size",
]

DIGITS = 60
_UP, _DOWN = Context(prec=DIGITS, rounding=ROUND_CEILING), Context(prec=DIGITS, rounding=ROUND_FLOOR)
SLACK = Decimal(10) ** -40
"""More than the rounding of a handful of operations on numbers up to 10 at 60 digits."""

MIN_EPSILON, MAX_EPSILON = Fraction(1, 10**6), Fraction(8)
MIN_RATE = Fraction(1, 10**7)
MAX_K = 10**5
MAX_RECORDS = 1000
SHOWN_DIGITS = 6


@dataclass(frozen=True)
class SampledGroupsMeasurement(Measurement):
    """The groups of a random sample, with their sizes, where k or more records of the sample fall into them.

    Guarantee: (epsilon, delta) with epsilon = records * record_epsilon. For one record delta is `sampled_groups_delta`,
        which is the least there is at this epsilon; for several it is that of group privacy. Also rho = epsilon**2 / 2 with
        the same delta.

    Proof: ``microdata/perturb/sampled_k_anonymity.md`` in this package.

    Args:
        rate: the probability with which each record is kept, by a coin of its own.
        k: the fewest records of the sample that a published group has.
        record_epsilon: the epsilon of one record; at least -ln(1 - rate).
        records: by how many records two neighbouring data sets differ.

    References:
        Li, Qardaji, Su: On sampling, anonymization, and differential privacy (2012); Bild, Kuhn, Prasser: SafePub (2018).

    Example:
        >>> from sudare import Budget
        >>> from sudare.privacy.sampled_measurements import SampledGroupsMeasurement
        >>> groups = SampledGroupsMeasurement.for_budget(Budget(epsilon=1, delta=1e-6))
        >>> float(groups.rate), groups.k
        (0.63212, 58)
    """

    kind: ClassVar[str] = "sampled-groups"
    rate: Fraction
    k: int
    record_epsilon: Fraction
    records: int

    def __post_init__(self) -> None:
        function = type(self).__name__
        object.__setattr__(self, "rate", _read_rate(self.rate, function))
        object.__setattr__(self, "k", _read_k(self.k, function))
        object.__setattr__(self, "record_epsilon", _read_epsilon(self.record_epsilon, "record_epsilon", function))
        object.__setattr__(self, "records", _read_records(self.records, function))
        _require_rate(self.rate, self.record_epsilon)
        if self.delta >= 1:
            raise ParameterError(
                "k", function, Words("so large that delta is below 1", "delta が 1 未満になる大きさ"), self.k
            )

    @classmethod
    def for_budget(cls, budget: Budget, *, rate: Rational | None = None, records: int = 1) -> SampledGroupsMeasurement:
        """The smallest k that the budget allows, at a sampling rate, or at the largest one that its epsilon allows.

        Raises:
            GuaranteeError: for a budget that is not in epsilon and delta, or a rate that is too large for its epsilon.
        """
        function = "SampledGroupsMeasurement.for_budget"
        if read_budget(budget, function).currency != "epsilon-delta":
            raise GuaranteeError(
                Words(
                    f"A sample of k-anonymous groups needs an epsilon and a delta. Got {budget}.",
                    f"標本抽出付き k-匿名性には epsilon と delta が必要です（指定: {budget}）。",
                )
            )
        many = _read_records(records, function)
        epsilon = _read_epsilon(budget.epsilon / many, "budget", function)
        chosen = largest_sampling_rate(epsilon) if rate is None else _read_rate(rate, function)
        k = smallest_group_size(chosen, epsilon, budget.delta / _group_factor(epsilon, many))
        return cls(chosen, k, epsilon, many)

    @property
    def epsilon(self) -> Fraction:
        """Cost in epsilon at ``delta``."""
        return self.records * self.record_epsilon

    @property
    def rho(self) -> Fraction:
        """Cost in rho, apart from ``delta``."""
        return self.epsilon**2 / 2

    @property
    def delta(self) -> Fraction:
        """The delta, rounded up."""
        one = sampled_groups_delta(self.rate, self.k, self.record_epsilon)
        return one * _group_factor(self.record_epsilon, self.records)

    def covers_counts(self, unit: Unit) -> bool:
        """Whether the number of records that this was made for is enough for such units."""
        return self.records >= changed_records(unit)


def changed_records(unit: Unit) -> int:
    """How many records are added or removed between two neighbours: a unit that is replaced goes and comes.

    Example:
        >>> from sudare import Unit
        >>> changed_records(Unit()), changed_records(Unit(rows_per_cell=3, adjacency="replace"))
        (1, 6)
    """
    return unit.rows * (2 if unit.adjacency == "replace" else 1)


def sampled_groups_delta(rate: Rational, k: int, epsilon: Rational) -> Fraction:
    """The smallest delta at which groups of k or more records of a sample are (epsilon, delta), rounded up.

    Args:
        rate: the probability with which each record is kept; at most 1 - exp(-epsilon).
        k: the fewest records that a published group has.
        epsilon: of one record, added or removed.

    Raises:
        ParameterError: if a number is out of its range.
        GuaranteeError: if the rate is too large for the epsilon.

    Example:
        >>> from sudare.privacy.sampled_measurements import sampled_groups_delta
        >>> f"{float(sampled_groups_delta(0.5, 20, 1)):.3g}"
        '0.000108'
    """
    function = "sampled_groups_delta"
    exact_rate, exact_epsilon = _read_rate(rate, function), _read_epsilon(epsilon, "epsilon", function)
    _require_rate(exact_rate, exact_epsilon)
    return _delta(exact_rate, _read_k(k, function), exact_epsilon)


def smallest_group_size(rate: Rational, epsilon: Rational, delta: Rational) -> int:
    """The smallest k at which the groups of a sample are (epsilon, delta).

    Example:
        >>> from sudare.privacy.sampled_measurements import smallest_group_size
        >>> smallest_group_size(0.5, 1, 1e-6)
        35
    """
    function = "smallest_group_size"
    exact_rate, exact_epsilon = _read_rate(rate, function), _read_epsilon(epsilon, "epsilon", function)
    allowed = _read_delta(delta, function)
    _require_rate(exact_rate, exact_epsilon)
    high = 2
    while _delta(exact_rate, high, exact_epsilon) > allowed:
        high *= 2
        if high > MAX_K:
            raise GuaranteeError(
                Words(
                    f"No k up to {MAX_K} gives delta = {show_fraction(allowed)} at this sampling rate. "
                    "Take a smaller rate, a smaller epsilon or a larger delta.",
                    f"この抽出率では、{MAX_K} 以下のどの k でも delta = {show_fraction(allowed)} になりません。"
                    "抽出率か epsilon を小さくするか、delta を大きくしてください。",
                )
            )
    low = high // 2  # too small, or 1
    while high - low > 1:
        middle = (low + high) // 2
        if _delta(exact_rate, middle, exact_epsilon) > allowed:
            low = middle
        else:
            high = middle
    return high


def sampled_groups_epsilon(rate: Rational, k: int, delta: Rational) -> Fraction:
    """The epsilon of the groups of a sample at a delta, to six digits, rounded up.

    It is never below -ln(1 - rate), which is what a record that was not drawn costs.

    Raises:
        GuaranteeError: if no epsilon up to 8 has so small a delta.

    Example:
        >>> from sudare.privacy.sampled_measurements import sampled_groups_epsilon
        >>> float(sampled_groups_epsilon(0.5, 45, 1e-6))
        0.761631
    """
    function = "sampled_groups_epsilon"
    exact_rate, size, allowed = _read_rate(rate, function), _read_k(k, function), _read_delta(delta, function)
    least = log_rounded_up(1 / (1 - exact_rate))
    step = _unit_of_last_digit(least)
    low, high = ceil(least / step), int(MAX_EPSILON / step)
    if low > high or _delta(exact_rate, size, high * step) > allowed:
        raise GuaranteeError(
            Words(
                f"No epsilon up to {MAX_EPSILON} has delta = {show_fraction(allowed)} at this sampling rate and k. "
                "Take a smaller rate or a larger k.",
                f"この抽出率と k では、{MAX_EPSILON} 以下のどの epsilon でも delta = {show_fraction(allowed)} になりません。"
                "抽出率を小さくするか、k を大きくしてください。",
            )
        )
    while low < high:
        middle = (low + high) // 2
        if _delta(exact_rate, size, middle * step) > allowed:
            low = middle + 1
        else:
            high = middle
    return low * step


def largest_sampling_rate(epsilon: Rational) -> Fraction:
    """The largest sampling rate at an epsilon, 1 - exp(-epsilon), to six digits, rounded down.

    Example:
        >>> from sudare.privacy.sampled_measurements import largest_sampling_rate
        >>> float(largest_sampling_rate(1))
        0.63212
    """
    exact = 1 - 1 / _growth_from_below(_read_epsilon(epsilon, "epsilon", "largest_sampling_rate"))
    step = _unit_of_last_digit(exact)
    return exact // step * step


@lru_cache(maxsize=4096)
def _delta(rate: Fraction, k: int, epsilon: Fraction) -> Fraction:
    """The largest difference of tails over all thresholds J >= k, each at the group size where it is largest."""
    growth = _growth_from_below(epsilon)
    turning = 1 - (1 - rate) / growth
    with localcontext(Context(prec=DIGITS)):
        ratio, share = _decimal(turning / rate), _decimal(turning)
        decay = share * ratio.ln() - (1 - share) * _decimal(growth).ln() - SLACK
    best, threshold = Decimal(0), k
    while True:
        size = -((1 - threshold) * turning.denominator // turning.numerator) - 1
        # No threshold from here on can give more than the chance of this many heads among size + 1 coins.
        if best and _UP.exp(_UP.multiply(decay, -(size + 1))).next_plus(_UP) <= best:
            return Fraction(Context(prec=DIGITS // 2, rounding=ROUND_CEILING).plus(best))
        best = max(best, _difference_of_tails(rate, size, threshold, growth))
        threshold += 1


def _difference_of_tails(rate: Fraction, size: int, threshold: int, growth: Fraction) -> Decimal:
    """P(X' >= threshold) - growth P(X >= threshold) from above, for size + 1 and size coins.

    It is rate P(X = threshold - 1) - (growth - 1) P(X >= threshold), the first from above, the second from below.
    """
    odds = _DOWN.divide(Decimal(rate.numerator), Decimal(rate.denominator - rate.numerator))
    term = _DOWN.multiply(
        _point_probability(rate, size, threshold - 1, _DOWN),
        _DOWN.divide(_DOWN.multiply(Decimal(size - threshold + 1), odds), Decimal(threshold)),
    )
    tail, heads = Decimal(0), threshold
    while term > 0 and (tail == 0 or term > tail * SLACK):
        tail = _DOWN.add(tail, term)
        term = _DOWN.multiply(term, _DOWN.divide(_DOWN.multiply(Decimal(size - heads), odds), Decimal(heads + 1)))
        heads += 1
    above = _UP.multiply(_rounded(rate, _UP), _point_probability(rate, size, threshold - 1, _UP))
    return max(Decimal(0), _UP.subtract(above, _DOWN.multiply(_rounded(growth - 1, _DOWN), tail)))


def _point_probability(rate: Fraction, coins: int, heads: int, context: Context) -> Decimal:
    """The probability of this many heads, rounded as the context says in every step."""
    chance = context.multiply(_power(rate, heads, context), _power(1 - rate, coins - heads, context))
    return context.multiply(context.create_decimal(comb(coins, heads)), chance)


def _power(base: Fraction, exponent: int, context: Context) -> Decimal:
    """By squaring; all factors are positive, so that every rounding goes the context's way."""
    result, square = Decimal(1), _rounded(base, context)
    while exponent:
        if exponent & 1:
            result = context.multiply(result, square)
        square = context.multiply(square, square)
        exponent >>= 1
    return result


@lru_cache(maxsize=256)
def _growth_from_below(epsilon: Fraction) -> Fraction:
    """A number just below exp(epsilon); the exponential of a decimal is wrong by at most half its last digit."""
    return Fraction(_DOWN.exp(_rounded(epsilon, _DOWN)).next_minus(_DOWN))


@lru_cache(maxsize=256)
def _group_factor(epsilon: Fraction, records: int) -> Fraction:
    """1 + exp(epsilon) + ... + exp((records - 1) epsilon), from above."""
    growth = Fraction(_UP.exp(_rounded(epsilon, _UP)).next_plus(_UP))
    total, power = Decimal(1), Decimal(1)
    for _ in range(records - 1):
        power = _UP.multiply(power, _rounded(growth, _UP))
        total = _UP.add(total, power)
    return Fraction(total)


def _rounded(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _unit_of_last_digit(value: Fraction) -> Fraction:
    """The power of ten that leaves six digits of a number."""
    return Fraction(10) ** (Context(prec=20).divide(value.numerator, value.denominator).adjusted() + 1 - SHOWN_DIGITS)


def _require_rate(rate: Fraction, epsilon: Fraction) -> None:
    if (1 - rate) * _growth_from_below(epsilon) < 1:
        raise GuaranteeError(
            Words(
                f"A sampling rate of {show_fraction(rate)} needs an epsilon of at least -ln(1 - rate) for each record; "
                f"{show_fraction(epsilon)} allows a rate of {show_fraction(largest_sampling_rate(epsilon))}.",
                f"抽出率 {show_fraction(rate)} には、レコードごとに -ln(1 - 抽出率) 以上の epsilon が必要です。"
                f"epsilon = {show_fraction(epsilon)} で使える抽出率は {show_fraction(largest_sampling_rate(epsilon))} です。",
            )
        )


def _read_rate(value: object, function: str) -> Fraction:
    requirement = Words("a number from 1e-7 to below 1", "1e-7 以上 1 未満の数")
    number = exact_fraction(value, "rate", function, requirement)
    if not MIN_RATE <= number < 1:
        raise ParameterError("rate", function, requirement, value)
    return number


def _read_epsilon(value: object, parameter: str, function: str) -> Fraction:
    requirement = Words(
        "such that each record has an epsilon from 1e-6 to 8", "レコードごとの epsilon が 1e-6 以上 8 以下になる値"
    )
    number = exact_fraction(value, parameter, function, requirement)
    if not MIN_EPSILON <= number <= MAX_EPSILON:
        raise ParameterError(parameter, function, requirement, number)
    return number


def _read_delta(value: object, function: str) -> Fraction:
    requirement = Words("a number strictly between 0 and 1", "0 より大きく 1 より小さい数")
    number = exact_fraction(value, "delta", function, requirement)
    if not 0 < number < 1:
        raise ParameterError("delta", function, requirement, value)
    return number


def _read_k(value: object, function: str) -> int:
    return exact_integer(
        value,
        "k",
        function,
        Words(f"a whole number from 2 to {MAX_K}", f"2 以上 {MAX_K} 以下の整数"),
        smallest=2,
        largest=MAX_K,
    )


def _read_records(value: object, function: str) -> int:
    requirement = Words(f"a whole number from 1 to {MAX_RECORDS}", f"1 以上 {MAX_RECORDS} 以下の整数")
    return exact_integer(value, "records", function, requirement, smallest=1, largest=MAX_RECORDS)
