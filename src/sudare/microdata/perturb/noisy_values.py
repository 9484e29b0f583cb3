"""Exact discrete noise on the numbers of single records.

The noise is drawn on whole units of the last decimal: discrete Laplace or discrete Gaussian. On a number of each record
this is **not** differential privacy of the table. If the numbers are kept within bounds that were fixed beforehand, it is
*local* differential privacy of that number: two possible numbers are at most the width of the bounds apart, so the
probabilities of any published number differ by a factor of at most exp(width / scale) for Laplace noise (epsilon = width /
scale); for Gaussian noise rho = width**2 / (2 sigma**2) (``privacy/measurements.md``, with a sensitivity of the width).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.errors import Described, InputError, ParameterError
from sudare.microdata.perturb.number_columns import MAX_DECIMALS, MAX_UNITS, NumberColumn, read_number_column
from sudare.microdata.perturb.outcomes import Outcome, share_changed
from sudare.microdata.records import AnyRecords, read_people_records
from sudare.noise.entropy import EntropySource
from sudare.noise.lattice import discrete_gaussian, discrete_laplace
from sudare.noise.sampler import Sampler, read_entropy
from sudare.parameters import Rational, exact_fraction, exact_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["add_noise_to_numbers"]

UNBOUNDED = Words(
    "A published number is near the person's own, and with a probability of {share} the same. Who knows the number itself finds "
    "the record no more often than that; who knows it roughly does find it. Numbers far from all others stay recognisable. "
    "Without bounds there is no differential privacy, not even of this number.",
    "公表された数値は本人の値に近く、一致する確率は{share}です。正確な値からレコードにたどり着けるのはその程度ですが、"
    "おおよその値からはたどれます。ほかから大きく離れた数値は見分けがつきます。範囲を定めていないため、"
    "この数値についても差分プライバシーではありません。",
)
"""What noise without bounds protects."""

ABOUT = Words("about {percent:.2g} %", "約 {percent:.2g} %")
HARDLY_EVER = Words("less than 0.01 %", "0.01 % 未満")

MAX_UNCHANGED = 0.5
"""Noise without bounds that leaves a number as it is with a larger probability than this is refused."""

_LOCAL = Words(
    "Local differential privacy of this number with the stated epsilon or rho: this limits what whoever sees the published "
    "number learns about which number within the bounds is the person's; it is little where epsilon is about 1 or less. It holds "
    "if each person has one record. Who is in the table, whether a number is missing, and all other columns are not protected; "
    "it is no differential privacy of the table.",
    "この数値について、示した epsilon または rho の局所差分プライバシーです。"
    "公表された数値から、範囲内のどの値が本人のものかについて分かることは、この値で抑えられ、epsilon が 1 程度以下なら僅かです。"
    "一人一レコードのとき成り立ちます。表に誰がいるか、値が欠けているか、およびほかの列は保護されません。表の差分プライバシーではありません。",
)
_KEEPS = Words(
    "All other columns; the mean of the column in expectation (of the numbers moved into the bounds, where there are any).",
    "ほかの列はすべて元のままです。この列の平均は期待値として保たれます (範囲を定めた場合は、範囲内に移した値の平均)。",
)


def add_noise_to_numbers(
    records: AnyRecords,
    column: str,
    *,
    epsilon: Rational | None = None,
    scale: Rational | None = None,
    sigma: Rational | None = None,
    bounds: tuple[Rational, Rational] | None = None,
    decimals: int | None = None,
    entropy: EntropySource | None = None,
) -> Outcome:
    """Add independent noise to each number of a column.

    Exactly one of epsilon (Laplace noise, with bounds), scale (Laplace) and sigma (Gaussian) is given.

    Args:
        records: the table.
        column: of numbers; missing values stay missing.
        epsilon: of local differential privacy of the number.
        scale: of discrete Laplace noise, in the unit of the column.
        sigma: of discrete Gaussian noise, in the unit of the column.
        bounds: the smallest and largest number, fixed without the data; others are moved to the nearer bound before the
            noise. What is published may lie beyond them.
        decimals: how many digits behind the point are kept, fixed without the data; needed with bounds, else those of the
            column.
        entropy: where the bits come from; the secure source by default.

    Raises:
        InputError: names the column and the first row without a plain number; or if there are no bounds, and the noise is so
            small that most numbers would stay as they are.
        ParameterError: if the noise is not stated in exactly one way, or bounds are missing.

    Example:
        >>> from sudare.microdata.perturb.noisy_values import add_noise_to_numbers
        >>> from sudare.microdata.records import Records
        >>> people = Records.of_columns({"age": [31, 45, None, 62]})
        >>> noisy = add_noise_to_numbers(people, "age", scale=20, bounds=(0, 100), decimals=0)
        >>> noisy.local_epsilon, noisy.records.column("age").texts().tolist()[2]
        (Fraction(5, 1), None)
    """
    records = read_people_records(records, "add_noise_to_numbers")
    function = "add_noise_to_numbers"
    source = read_entropy(entropy, function)
    stated = [name for name, value in (("epsilon", epsilon), ("scale", scale), ("sigma", sigma)) if value is not None]
    if len(stated) != 1:
        got = Described(" and ".join(stated) or "none of them")
        raise ParameterError(
            "scale",
            function,
            Words(
                "given, or epsilon or sigma in its place, and no two of them",
                "scale、epsilon、sigma のうち一つだけを指定",
            ),
            got,
        )
    if bounds is not None and decimals is None:
        hint = "The digits of the data may tell of a person, and no epsilon would hold."
        raise ParameterError(
            "decimals", function, Words("given where bounds are", "bounds を指定するときは必要"), None, hint
        )
    if epsilon is not None and bounds is None:
        raise ParameterError("bounds", function, Words("given where epsilon is", "epsilon を指定するときは必要"), None)
    numbers = _rounded(read_number_column(records.column(column), with_missing=True), decimals, function)
    limits = None if bounds is None else _read_bounds(bounds, numbers.decimals, function)
    width = None if limits is None else limits[1] - limits[0]
    amount = _read_amount({"epsilon": epsilon, "scale": scale, "sigma": sigma}[stated[0]], stated[0], function)
    unit = Fraction(10**numbers.decimals)
    if stated[0] == "sigma":
        sigma_in_units = amount * unit
        unchanged = _zero_of_gaussian(float(sigma_in_units))
        noise: Sampler = discrete_gaussian(sigma_in_units)
        local_epsilon, local_rho = None, None if width is None else width**2 / (2 * sigma_in_units**2)
    else:
        scale_in_units = width / amount if stated[0] == "epsilon" and width is not None else amount * unit
        unchanged = math.tanh(1 / (2 * float(scale_in_units)))
        noise = discrete_laplace(scale_in_units)
        local_epsilon = None if width is None else width / scale_in_units
        local_rho = None if local_epsilon is None else local_epsilon**2 / 2
    if limits is None and unchanged > MAX_UNCHANGED:
        raise InputError(
            f"The noise is small beside the last digit of column {column!r}: most numbers would stay as they are. Take a larger "
            f"{stated[0]}, or more decimals.",
            f"列 {column!r} の最後の桁に比べてノイズが小さく、ほとんどの数値が元のままになります。{stated[0]} を大きくするか、"
            "小数の桁数を増やしてください。",
        )
    units = numbers.units if limits is None else np.clip(numbers.units, limits[0], limits[1])
    result = records.with_columns(numbers.to_column(units + noise.draw(units.size, source)))
    present = int(np.count_nonzero(~numbers.is_missing))
    return Outcome(
        result,
        "gaussian-values" if stated[0] == "sigma" else "laplace-values",
        _plain(unchanged) if limits is None else _LOCAL,
        _KEEPS,
        Fraction(present, records.rows) if records.rows else Fraction(0),
        share_changed(records, result),
        local_epsilon,
        local_rho,
    )


def _zero_of_gaussian(sigma: float) -> float:
    """The probability that discrete Gaussian noise is 0."""
    if sigma > 10:
        return 1 / (sigma * math.sqrt(2 * math.pi))  # as far as a float can tell
    return 1 / sum(math.exp(-((unit / sigma) ** 2) / 2) for unit in range(-400, 401))


def _plain(unchanged: float) -> Words:
    """What noise without bounds protects, with the probability that it is 0."""
    return UNBOUNDED.format(share=ABOUT.format(percent=100 * unchanged) if unchanged >= 0.0001 else HARDLY_EVER)


def _rounded(numbers: NumberColumn, decimals: int | None, function: str) -> NumberColumn:
    """The numbers with another number of decimals, halves rounded to even."""
    if decimals is None:
        return numbers
    requirement = Words(f"a whole number from 0 to {MAX_DECIMALS}", f"0 以上 {MAX_DECIMALS} 以下の整数")
    wanted = exact_integer(decimals, "decimals", function, requirement, smallest=0, largest=MAX_DECIMALS)
    if wanted >= numbers.decimals:
        factor = 10 ** (wanted - numbers.decimals)
        if numbers.units.size and int(np.abs(numbers.units).max()) * factor > MAX_UNITS:
            raise InputError(
                f"The numbers of column {numbers.name!r} have more than 15 digits with {wanted} decimals. Take fewer decimals.",
                f"列 {numbers.name!r} は小数 {wanted} 桁では 15 桁を超えます。小数の桁数を減らしてください。",
            )
        units: NDArray[np.int64] = numbers.units * factor
    else:
        step = 10 ** (numbers.decimals - wanted)
        whole, rest = numbers.units // step, numbers.units % step
        units = whole + ((2 * rest > step) | ((2 * rest == step) & (whole % 2 == 1)))
    return NumberColumn(numbers.name, units, numbers.is_missing, wanted)


def _read_bounds(bounds: object, decimals: int, function: str) -> tuple[int, int]:
    requirement = Words(
        "two numbers, the smaller one first, with no more decimals than stated",
        "2 つの数（小さい方が先、小数の桁数は指定まで）",
    )
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise ParameterError("bounds", function, requirement, Described("another object"))
    low, high = (exact_fraction(bound, "bounds", function, requirement) * 10**decimals for bound in bounds)
    if low >= high or low.denominator != 1 or high.denominator != 1 or max(abs(low), abs(high)) > MAX_UNITS:
        raise ParameterError("bounds", function, requirement, Described(f"{bounds[0]} and {bounds[1]}"))
    return int(low), int(high)


def _read_amount(value: object, parameter: str, function: str) -> Fraction:
    number = exact_fraction(value, parameter, function, Words("a positive number", "0 より大きい数"))
    if number <= 0:
        raise ParameterError(parameter, function, Words("a positive number", "0 より大きい数"), value)
    return number
