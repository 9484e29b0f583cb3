"""Exponentials and cumulative distributions between whole-number bounds, to any precision.

Everything here is integer arithmetic with the direction of every rounding known, so that a comparison of a uniform
number with a probability is settled only when it is certain, and with more bits otherwise. It is the slow and sure
half of every sampler: it builds the tables, and it settles the rare draw that 64-bit words cannot.

Proof: ``exact.md`` beside this file.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Bounds", "LatticeLaw", "bounded_exp", "is_below"]

WORD_BITS = 64
NextWord = Callable[[], int]
"""Gives 64 fresh uniform bits."""


class Bounds(NamedTuple):
    """Whole numbers around a real number: ``low <= value <= high``."""

    low: int
    high: int


def bounded_exp(exponent: Fraction, bits: int) -> Bounds:
    """Bounds of 2**bits * exp(-exponent), at most 2 apart, for any exponent >= 0."""
    if exponent == 0:
        return Bounds(1 << bits, 1 << bits)
    if exponent > bits + 2:  # exp(-x) < 2**-x
        return Bounds(0, 1)
    halvings = max(0, exponent.numerator.bit_length() - exponent.denominator.bit_length() + 1 + 8)
    guard = halvings + bits.bit_length() + 8
    precision = bits + guard
    scaled = (exponent.numerator << precision) // (exponent.denominator << halvings)
    # Alternating series of exp(-scaled / 2**precision), argument below 2**-8; each term is a floor.
    total, term, order = 1 << precision, 1 << precision, 0
    while term:
        order += 1
        term = (term * scaled >> precision) // order
        total += -term if order % 2 else term
    error = 2 * order + 2
    for _ in range(halvings):
        total = total * total >> precision
        error = 2 * error + 2
    return Bounds(max(0, total - error) >> guard, (total + error >> guard) + 1)


def is_below(probability: Callable[[int], Bounds], prefix: int, prefix_bits: int, next_word: NextWord) -> bool:
    """Whether a uniform number is below a probability, reading no more of its bits than it takes.

    Args:
        probability: gives bounds of 2**bits times the probability for any number of bits.
        prefix: the leading bits of the uniform number.
        prefix_bits: how many there are.
        next_word: gives the bits that follow, 64 at a time.
    """
    while True:
        low, high = probability(prefix_bits)
        if prefix + 1 <= low:
            return True
        if prefix >= high:
            return False
        prefix = prefix << WORD_BITS | next_word()
        prefix_bits += WORD_BITS


@dataclass(frozen=True)
class LatticeLaw:
    """The distribution on whole numbers x with weight exp(-(linear * |x| + quadratic * x**2)).

    Two-sided it lives on all whole numbers, else on x >= 0. With ``linear = 1/t`` it is the discrete Laplace or the
    geometric distribution of scale t; with ``quadratic = 1/(2 s**2)`` the discrete Gaussian of parameter s. The
    product of the two is as good a law: nothing below asks which one it is.
    """

    linear: Fraction
    quadratic: Fraction
    two_sided: bool

    def energy(self, value: int) -> Fraction:
        """The exponent of a value: its weight is exp(-energy)."""
        size = abs(value)
        return self.linear * size + self.quadratic * size * size

    def widened(self, factor: int) -> LatticeLaw:
        """The law on x >= 0 in which x weighs what ``factor * x`` weighs in this one."""
        return LatticeLaw(self.linear * factor, self.quadratic * factor * factor, two_sided=False)

    def half_weights(self, bits: int) -> tuple[list[Bounds], int]:
        """Bounds of 2**bits times the weights of 0, 1, 2, ..., and an upper bound for all weights after them together.

        The list ends where the lower bound of a weight has come down to 0.
        """
        one = 1 << bits
        ratio = bounded_exp(self.linear + self.quadratic, bits)
        bend = bounded_exp(2 * self.quadratic, bits)
        low, high = one, one
        ratio_low, ratio_high = ratio.low, min(ratio.high, one - 1)
        bend_low, bend_high = (bend.low, min(bend.high, one)) if self.quadratic else (one, one)
        weights = []
        while low > 0:
            weights.append(Bounds(low, high))
            low = low * ratio_low >> bits
            high = -(-high * ratio_high >> bits)
            ratio_low = ratio_low * bend_low >> bits
            ratio_high = -(-ratio_high * bend_high >> bits)
        # The ratio of a weight to the one before only falls, so a geometric series bounds the rest.
        return weights, -(-(high << bits) // (one - ratio_high))

    def cumulative(self, bits: int) -> tuple[int, list[Bounds]]:
        """The lowest value of a range, and bounds of 2**bits * P(X <= x) for x = lowest, lowest + 1, ...

        The first lower bound of a two-sided law is 0, so that no uniform number is certainly below the range.
        """
        working = bits + 16 + 3 * int(1 / (self.linear + self.quadratic)).bit_length()
        weights, rest = self.half_weights(working)
        low, high = 0, 0
        sums = []
        lowest = 0
        if self.two_sided:
            lowest = -len(weights)
            high = rest
            sums.append(Bounds(low, high))
        for x in range(lowest + self.two_sided, len(weights)):
            low += weights[abs(x)].low
            high += weights[abs(x)].high
            sums.append(Bounds(low, high))
        whole_low, whole_high = low, high + rest
        certain = 1 << bits
        return lowest, [
            Bounds((low << bits) // whole_high, min(-(-(high << bits) // whole_low), certain)) for low, high in sums
        ]

    def settle(self, prefix: int, prefix_bits: int, next_word: NextWord) -> int:
        """The value at which the cumulative distribution passes a uniform number, however many bits that takes.

        Args:
            prefix: the leading bits of the uniform number.
            prefix_bits: how many there are.
            next_word: gives the bits that follow, 64 at a time.
        """
        while True:
            lowest, bounds = _cumulative_cached(self, prefix_bits)
            index = bisect_right(bounds, prefix, key=lambda b: b.high)
            if index < len(bounds) and prefix + 1 <= bounds[index].low:
                return lowest + index
            prefix = prefix << WORD_BITS | next_word()
            prefix_bits += WORD_BITS


_cumulative_cached = lru_cache(maxsize=4)(LatticeLaw.cumulative)
