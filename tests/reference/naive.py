"""Slow and obvious versions of everything that is fast, written from the definitions.

They share no code with the package: probabilities are closed forms or plain sums in mpmath, at a precision far beyond
what the words under test can tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import mpmath

WORD_BITS = 64
STEP_OF_SCALE = 32
"""Wide laws are cut into steps of a power of two with scale / step in [32, 64)."""


def uniform_number(words: Sequence[int]) -> Any:
    """The number in [0, 1) whose binary digits are the words."""
    total = 0
    for word in words:
        total = total << WORD_BITS | word
    return mpmath.mpf(total) / mpmath.mpf(2) ** (WORD_BITS * len(words))


def number(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def laplace_cumulative(scale: Fraction, x: int) -> Any:
    """P(X <= x) of the discrete Laplace law, in closed form."""
    q = mpmath.exp(-1 / number(scale))
    return 1 - q ** (x + 1) / (1 + q) if x >= 0 else q ** (-x) / (1 + q)


def geometric_cumulative(scale: Fraction, x: int) -> Any:
    """P(X <= x) of the geometric law, in closed form."""
    return 1 - mpmath.exp(-(x + 1) / number(scale)) if x >= 0 else mpmath.mpf(0)


class GaussianCumulative:
    """P(X <= x) of the discrete Gaussian law, by summing weights until they vanish at the working precision."""

    def __init__(self, sigma_squared: Fraction, *, one_sided: bool = False) -> None:
        reach = 1
        self.one_sided = one_sided
        while reach * reach / (2 * sigma_squared) < (mpmath.mp.prec + 10) * Fraction(7, 10):
            reach += max(1, int(sigma_squared**0.5) // 4)
        self.reach = reach
        half = [mpmath.exp(-number(Fraction(k * k) / (2 * sigma_squared))) for k in range(reach + 1)]
        weights = half if one_sided else half[:0:-1] + half
        self.lowest = 0 if one_sided else -reach
        self.sums = []
        total = mpmath.mpf(0)
        for weight in weights:
            total += weight
            self.sums.append(total)

    def __call__(self, x: int) -> Any:
        if x < self.lowest:
            return mpmath.mpf(0)
        return self.sums[min(x - self.lowest, len(self.sums) - 1)] / self.sums[-1]


def invert(cumulative: Any, words: Sequence[int]) -> int:
    """The smallest x with U < F(x), by bisection. F(x) = 0 for all x below the lowest value."""
    u = uniform_number(words)
    low, high = -1, 1
    while u >= cumulative(high):
        high *= 2
    while u < cumulative(low):
        low *= 2
    while high - low > 1:
        middle = (low + high) // 2
        if u < cumulative(middle):
            high = middle
        else:
            low = middle
    return high


def staircase_trial(
    energy: Any, step_bits: int, step: int, second: int, extension: Sequence[int], *, two_sided: bool
) -> int | None:
    """One trial of the rejection method, given the step: the value, or None if it is rejected."""
    fraction_bits = WORD_BITS - 1 - step_bits
    place = second >> fraction_bits & (1 << step_bits) - 1
    digits = second & (1 << fraction_bits) - 1
    total = digits
    for word in extension:
        total = total << WORD_BITS | word
    v = mpmath.mpf(total) / mpmath.mpf(2) ** (fraction_bits + WORD_BITS * len(extension))
    value = (step << step_bits) + place
    rise = energy(value) - energy(step << step_bits)
    if v >= mpmath.exp(-number(rise)):
        return None
    negative = second >> WORD_BITS - 1 == 1
    if not two_sided:
        return value
    if negative and value == 0:
        return None
    return -value if negative else value


def exp_minus(x: float) -> Any:
    return mpmath.exp(-mpmath.mpf(x))


def count_thresholds_below(word: int, thresholds: Sequence[int]) -> int | None:
    """What the inversion kernel looks up: how many thresholds are certainly passed, None if one is not certain."""
    if any(threshold <= word <= threshold + 1 for threshold in thresholds):
        return None
    return sum(threshold < word for threshold in thresholds)


def largest_differences(cells: int, rows_per_cell: int, rows: int, *, replace: bool) -> tuple[int, int, int, int]:
    """Sensitivities by trying every pair of contributions on enough cells for two units not to meet."""
    places = 2 * cells if replace else cells

    def contributions(length: int) -> list[tuple[int, ...]]:
        vectors: list[tuple[int, ...]] = [()]
        for _ in range(length):
            vectors = [(*v, k) for v in vectors for k in range(rows_per_cell + 1)]
        return [v for v in vectors if sum(k > 0 for k in v) <= cells and sum(v) <= rows]

    ones = contributions(places)
    zero = ((0,) * places,)
    best = [0, 0, 0, 0]
    for a in ones:
        for b in ones if replace else zero:
            d = [abs(i - j) for i, j in zip(a, b, strict=True)]
            for position, size in enumerate((sum(d), sum(k * k for k in d), sum(k > 0 for k in d), max(d))):
                best[position] = max(best[position], size)
    return best[0], best[1], best[2], best[3]


BITS_OF_LAWS = 160


def law_of_weighted_sum(terms: Sequence[tuple[str, Fraction, int, int]]) -> dict[int, int]:
    """2**160 times the probabilities of a sum of ``weight * (X_1 + ... + X_times)``, one pair of values after the other.

    Args:
        terms: ``("laplace", scale, weight, times)`` or ``("gaussian", sigma squared, weight, times)``.
    """
    law = {0: 1 << BITS_OF_LAWS}
    for kind, size, weight, times in terms:
        single = _law_of_noise(kind, size)
        for _ in range(times):
            summed: dict[int, int] = {}
            for x, p in law.items():
                for y, q in single.items():
                    key = x + weight * y
                    summed[key] = summed.get(key, 0) + p * q
            law = {x: p >> BITS_OF_LAWS for x, p in summed.items()}
    return law


def _law_of_noise(kind: str, size: Fraction) -> dict[int, int]:
    """2**160 times the probabilities of all values that have more than 10**-26 of all weight."""
    with mpmath.workdps(60):
        last = int(60 * size) + 2 if kind == "laplace" else int(11 * mpmath.sqrt(number(size))) + 2
        energies = {x: abs(x) / size if kind == "laplace" else x * x / (2 * size) for x in range(-last, last + 1)}
        weights = {x: mpmath.exp(-number(Fraction(energy))) for x, energy in energies.items()}
        whole = sum(weights.values())
        return {x: int(mpmath.ldexp(weight / whole, BITS_OF_LAWS)) for x, weight in weights.items()}


def haar_values(total: int, differences: Sequence[int]) -> list[Fraction]:
    """The exact inverse of the Haar transform of one vector: differences in heap order, place 0 not used."""
    values = [Fraction(total)]
    while len(values) < len(differences):
        halves = zip(values, differences[len(values) : 2 * len(values)], strict=True)
        values = [half for s, d in halves for half in ((s + d) / 2, (s - d) / 2)]
    return values


def haar_counts(total: int, differences: Sequence[int], coins: Sequence[int]) -> list[int]:
    """The same in whole numbers: where the halves end in 1/2, the coin of the node says which of them is rounded up."""
    counts = [total]
    while len(counts) < len(differences):
        halves = []
        for node, s in enumerate(counts, start=len(counts)):
            left = Fraction(s + differences[node], 2)
            if left.denominator == 2:
                left += Fraction(1, 2) if coins[node] else -Fraction(1, 2)
            halves += [int(left), s - int(left)]
        counts = halves
    return counts


def nearest_on_simplex(values: Sequence[int], total: int) -> list[Fraction]:
    """The nearest numbers >= 0 with a positive total: the level by trying how many of the largest stay above it."""
    ordered = sorted(values, reverse=True)
    for kept in range(len(ordered), 0, -1):
        level = Fraction(sum(ordered[:kept]) - total, kept)
        if ordered[kept - 1] > level:
            return [max(value - level, Fraction(0)) for value in values]
    raise AssertionError("no level")
