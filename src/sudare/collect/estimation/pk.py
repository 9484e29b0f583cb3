"""Pk-anonymity: nobody can be linked to a record of a randomized table with a probability above 1/k.

An attribute has an anonymity rate: how much likelier, at worst, it is that two people gave each their own reports than that they
gave each other's. Of a whole table, k = 1 + (records - 1) times the product of the attributes' rates. Here k is computed from
randomizers, and randomizers are chosen for a wanted k, always rounded so that the table is as anonymous as stated.

Proof: ``pk.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import columns_of_frame
from sudare.border.signatures import check_arguments
from sudare.collect.randomizers.categories import Retention, read_labels
from sudare.collect.randomizers.noisy_numbers import BoundedNoise
from sudare.collect.randomizers.randomizer import Randomizer
from sudare.collect.transitions.grids import Grid, exp_minus_down
from sudare.errors import Described, GuaranteeError, ParameterError
from sudare.noise.entropy import EntropySource, entropy_name
from sudare.noise.sampler import read_entropy
from sudare.parameters import Rational, exact_fraction, exact_integer, shown
from sudare.privacy.budget import Budget
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.unit import Unit

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sudare.border.native_frames import IntoFrame

__all__ = [
    "NumberAttribute",
    "PkPlan",
    "kept_for_rate",
    "noise_for_k",
    "pk_of",
    "randomize_table",
    "rate_for_k",
    "scale_for_rate",
]

MAX_RECORDS = 1 << 48
KEPT_BITS = 30
DIGITS = 60
SCALE_DIGITS = 15


@dataclass(frozen=True)
class NumberAttribute:
    """A numeric attribute that is to get bounded noise.

    Args:
        grid: its numbers.
        base: which noise.
        method: how it is drawn.
    """

    grid: Grid
    base: Literal["laplace", "normal"] = "laplace"
    method: Literal["inverse", "rejection"] = "inverse"


@dataclass(frozen=True)
class PkPlan:
    """Randomizers for a whole table, and how anonymous they make it.

    Attributes:
        records: how many there are.
        randomizers: for each attribute.
        k: nobody is linked to a record with a probability above 1/k; rounded down.
    """

    records: int
    randomizers: Mapping[str, Randomizer]
    k: Fraction


def pk_of(records: int, randomizers: Mapping[str, Randomizer] | Iterable[Randomizer]) -> Fraction:
    """The k of a table whose attributes are randomized like this; exact, or rounded down where a rate is irrational.

    Args:
        records: how many the table has.
        randomizers: one for each attribute. Attributes that are published as they are do not exist here: they have rate 0.

    Example:
        >>> from fractions import Fraction
        >>> from sudare.collect import Retention
        >>> from sudare.collect.estimation.pk import pk_of
        >>> float(pk_of(901, [Retention(("yes", "no"), Fraction(1, 2))]))
        101.0
    """
    check_arguments(pk_of, locals(), "randomizers")
    count = _read_records(records, "pk_of")
    each = list(randomizers.values() if isinstance(randomizers, Mapping) else randomizers)
    if not each or not all(isinstance(one, Randomizer) for one in each):
        raise ParameterError("randomizers", "pk_of", "randomizers, at least one", shown(randomizers))
    return 1 + (count - 1) * reduce(lambda product, one: product * one.anonymity_rate(), each, Fraction(1))


def rate_for_k(records: int, k: Rational) -> Fraction:
    """The product of the attributes' anonymity rates that makes a table Pk-anonymous.

    Example:
        >>> from sudare.collect.estimation.pk import rate_for_k
        >>> rate_for_k(1001, 11)
        Fraction(1, 100)
    """
    count = _read_records(records, "rate_for_k")
    requirement = Words("a number above 1 and below the number of records", "1 より大きくレコード数より小さい数")
    wanted = exact_fraction(k, "k", "rate_for_k", requirement)
    if not 1 < wanted < count:
        raise ParameterError("k", "rate_for_k", requirement, k)
    return (wanted - 1) / (count - 1)


def scale_for_rate(span: Rational, rate: Rational, base: Literal["laplace", "normal"] = "laplace") -> Fraction:
    """The smallest scale of bounded noise with an anonymity rate, rounded up at the 15th digit.

    Laplace: 2 span / ln(1 / rate); normal: span / sqrt(ln(1 / rate)).

    Args:
        span: from the smallest to the largest number.
        rate: above 0 and below 1.
        base: which noise.

    Example:
        >>> from sudare.collect.estimation.pk import scale_for_rate
        >>> round(float(scale_for_rate(100, 0.01)), 3), round(float(scale_for_rate(100, 0.01, "normal")), 3)
        (43.429, 46.599)
    """
    function = "scale_for_rate"
    length = exact_fraction(span, "span", function, Words("a number above 0", "0 より大きい数"))
    if length <= 0:
        raise ParameterError("span", function, Words("a number above 0", "0 より大きい数"), span)
    if base not in ("laplace", "normal"):
        raise ParameterError("base", function, Words("'laplace' or 'normal'", "'laplace' または 'normal'"), shown(base))
    wanted = _read_rate(rate, function)
    with localcontext(Context(prec=DIGITS)) as context:
        depth = -_log_up(wanted, context)  # at most ln(1 / rate)
        width = context.divide(Decimal(length.numerator), Decimal(length.denominator)).next_plus(context)
        if base == "laplace":
            scale = context.divide(2 * width, depth).next_plus(context)
        else:
            scale = context.divide(width, depth.sqrt(context).next_minus(context)).next_plus(context)
    up = Context(prec=SCALE_DIGITS, rounding=ROUND_CEILING)
    scale = up.plus(scale)
    while _rate_of_scale(length, Fraction(scale), base) < wanted:
        scale = scale.next_plus(up)
    return Fraction(scale)


def _rate_of_scale(span: Fraction, scale: Fraction, base: str) -> Fraction:
    return exp_minus_down(2 * span / scale if base == "laplace" else (span / scale) ** 2)


def kept_for_rate(values: int, rate: Rational) -> Fraction:
    """The largest probability of keeping a value with an anonymity rate, of those with 30 binary digits.

    With r = 1 / sqrt(rate), (r - 1) / (r - 1 + values).

    Args:
        values: how many there are.
        rate: above 0 and below 1.

    Raises:
        GuaranteeError: if nothing could be kept.

    Example:
        >>> from sudare.collect.estimation.pk import kept_for_rate
        >>> kept_for_rate(2, 1 / 9) <= 0.5, round(float(kept_for_rate(2, 1 / 9)), 6)
        (True, 0.5)
    """
    count = exact_integer(
        values, "values", "kept_for_rate", Words("a whole number >= 2", "2 以上の整数"), smallest=2, largest=1 << 31
    )
    wanted = _read_rate(rate, "kept_for_rate")
    with localcontext(Context(prec=DIGITS)) as context:
        quotient = context.divide(Decimal(wanted.denominator), Decimal(wanted.numerator))
        excess = quotient.sqrt(context) - 1
        kept = int(context.divide(excess, excess + count) * (1 << KEPT_BITS)) + 1
    # The rounding of the decimals is settled by the exact rate.
    kept = min(kept, (1 << KEPT_BITS) - 1)
    while kept > 0:
        share = Fraction(kept, 1 << KEPT_BITS)
        if ((1 - share) / (1 - share + count * share)) ** 2 >= wanted:
            return share
        kept -= 1
    raise GuaranteeError(
        Words(
            "The wanted k is so near to the number of records that no value could be kept.",
            "k がレコード数に近すぎるため、どの値もそのまま残せません。",
        )
    )


def noise_for_k(
    records: int,
    k: Rational,
    attributes: Mapping[str, Grid | NumberAttribute | Iterable[object]],
    weights: Mapping[str, Rational] | None = None,
) -> PkPlan:
    """Randomizers with which a whole table is Pk-anonymous: bounded noise for numbers, retention for categories.

    The logarithm of the rate that k allows is divided among the attributes: equally, or by weights. An attribute with a larger
    weight gets less noise.

    Guarantee: Pk-anonymity with the wanted k, at least.

    Proof: ``pk.md``.

    Args:
        records: how many the table has.
        k: nobody is to be linked to a record with a probability above 1/k.
        attributes: for each its labels, or its grid (bounded Laplace noise), or a `NumberAttribute`.
        weights: for each attribute, a number above 0.

    Raises:
        ParameterError: if k is not above 1 and below the number of records.
        GuaranteeError: if nothing could be kept of some attribute.

    References:
        Ikarashi, Hasegawa, Osame, Kikuchi, Chida: equation (3), corollaries 5.1 and 5.2.

    Example:
        >>> from sudare.collect.transitions.grids import Grid
        >>> from sudare.collect.estimation.pk import noise_for_k
        >>> plan = noise_for_k(10_000, 5, {"age": Grid(0, 100, 1), "sex": ("f", "m")})
        >>> round(float(plan.randomizers["age"].scale), 2), float(plan.k) >= 5
        (51.13, True)
    """
    function = "noise_for_k"
    if not isinstance(attributes, Mapping) or not attributes:
        raise ParameterError("attributes", function, "a mapping from names to attributes", shown(attributes))
    rate = rate_for_k(records, k)
    shares = _read_weights(attributes, weights, function)
    chosen: dict[str, Randomizer] = {}
    for name, attribute in attributes.items():
        own = _power_up(rate, shares[name])
        if isinstance(attribute, (Grid, NumberAttribute)):
            number = NumberAttribute(attribute) if isinstance(attribute, Grid) else attribute
            scale = scale_for_rate(number.grid.span, own, number.base)
            chosen[name] = BoundedNoise(number.grid, scale, number.base, number.method)
        else:
            labels = read_labels(attribute, function)
            chosen[name] = Retention(labels, kept_for_rate(len(labels), own))
    reached = pk_of(records, chosen)
    if reached < exact_fraction(k, "k", function, Words("a number", "数")):
        raise ArithmeticError("The randomizers chosen for a k do not reach it.")
    return PkPlan(records, chosen, reached)


def randomize_table(
    columns: Mapping[str, ArrayLike] | IntoFrame,
    randomizers: Mapping[str, Randomizer],
    entropy: EntropySource | None = None,
) -> tuple[dict[str, NDArray[Any]], ReleaseEvent]:
    """Randomize the records of a table, each attribute by its own randomizer.

    Guarantee: one record costs the sum of what its reports cost, for replacing a person's values; the table is Pk-anonymous with
        the k of `pk_of`, if nothing else tells whose a row is. Rows keep their order: shuffle them where the order tells.

    Proof: ``pk.md``.

    Args:
        columns: for each attribute the values, all equally long.
        randomizers: for each attribute; there is none without.
        entropy: where the bits come from; the secure source by default.

    Returns:
        The randomized columns, and the event of one record.

    Raises:
        ParameterError: if columns and randomizers do not belong together, or a value is outside its domain.
        GuaranteeError: if some attribute's report has no cost that can be recorded.

    Example:
        >>> from sudare.collect.transitions.grids import Grid
        >>> from sudare.collect.estimation.pk import noise_for_k, randomize_table
        >>> plan = noise_for_k(1000, 5, {"age": Grid(0, 100, 1), "sex": ("f", "m")})
        >>> table, event = randomize_table({"age": [30, 40], "sex": ["f", "m"]}, plan.randomizers)
        >>> sorted(table), len(event.measurements)
        (['age', 'sex'], 2)
    """
    columns = columns_of_frame(columns, "columns", "randomize_table")
    function = "randomize_table"
    source = read_entropy(entropy, function)
    if not isinstance(columns, Mapping) or not isinstance(randomizers, Mapping) or not columns:
        raise ParameterError("columns", function, "a mapping from names to values, with randomizers", shown(columns))
    if set(columns) != set(randomizers):
        odd = ", ".join(sorted(str(name) for name in set(columns) ^ set(randomizers)))
        raise ParameterError(
            "randomizers", function, "given for each column and no other", Described(f"a mismatch: {odd}")
        )
    if not all(isinstance(one, Randomizer) for one in randomizers.values()):
        raise ParameterError("randomizers", function, "randomizers", Described("something else"))
    arrays = {name: np.asarray(columns[name]) for name in columns}
    if any(array.ndim != 1 for array in arrays.values()) or len({array.size for array in arrays.values()}) != 1:
        raise ParameterError(
            "columns", function, Words("lists of the same length", "同じ長さのリスト"), Described("others")
        )
    measurements = tuple(m for name in columns for m in randomizers[name].event(source).measurements)
    pure = [measurement.epsilon for measurement in measurements]
    if None in pure:
        cost = Budget(rho=sum((measurement.rho for measurement in measurements), Fraction(0)))
    else:
        cost = Budget(epsilon=sum((epsilon for epsilon in pure if epsilon is not None), Fraction(0)))
    unit = Unit("person", adjacency="replace")
    event = ReleaseEvent("randomized-table", unit, cost, measurements, entropy_name(source))
    return {name: randomizers[name].randomize(arrays[name], source) for name in columns}, event


def _read_records(records: int, function: str) -> int:
    requirement = Words("a whole number from 2 to 2**48", "2 以上 2**48 以下の整数")
    return exact_integer(records, "records", function, requirement, smallest=2, largest=MAX_RECORDS)


def _read_rate(rate: Rational, function: str) -> Fraction:
    requirement = Words("a number above 0 and below 1", "0 より大きく 1 より小さい数")
    wanted = exact_fraction(rate, "rate", function, requirement)
    if not 0 < wanted < 1:
        raise ParameterError("rate", function, requirement, rate)
    return wanted


def _read_weights(
    attributes: Mapping[str, object], weights: Mapping[str, Rational] | None, function: str
) -> dict[str, Fraction]:
    """Shares that add up to 1."""
    if weights is None:
        return {name: Fraction(1, len(attributes)) for name in attributes}
    requirement = "a number above 0 for each attribute and no other"
    if not isinstance(weights, Mapping) or set(weights) != set(attributes):
        raise ParameterError("weights", function, requirement, shown(weights))
    numbers = {name: exact_fraction(weights[name], "weights", function, requirement) for name in attributes}
    if min(numbers.values()) <= 0:
        raise ParameterError("weights", function, requirement, Described("one that is not above 0"))
    return {name: number / sum(numbers.values()) for name, number in numbers.items()}


def _log_up(rate: Fraction, context: Context) -> Decimal:
    """At least the logarithm of a rate below 1, and at most 0."""
    quotient = context.divide(Decimal(rate.numerator), Decimal(rate.denominator)).next_plus(context)
    return min(quotient.ln(context).next_plus(context), Decimal(0))


def _power_up(rate: Fraction, share: Fraction) -> Fraction:
    """At least rate**share, with 50 digits, so that the powers' product is at least the rate."""
    if share == 1:
        return rate
    with localcontext(Context(prec=DIGITS)) as context:
        depth = _log_up(rate, context)
        part = context.divide(Decimal(share.numerator), Decimal(share.denominator)).next_minus(context)
        power = context.multiply(depth, part).next_plus(context).exp(context).next_plus(context)
    return Fraction(power)
