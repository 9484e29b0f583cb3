"""Coins, categories and orders, each drawn with exactly the stated probabilities.

**Categories.** A uniform number U in [0, 1) chooses the first category whose cumulative probability c is above U. Of U
only the leading bits are drawn: 64 of them as a whole number u leave U anywhere in [u, u + 1) / 2**64. With t =
floor(2**64 c), u < t means U < c, u > t means U >= c, and only u = t leaves it open; then 64 more bits are drawn, and so on.
Probabilities are fractions, so every t is exact. A coin is two categories.

**Orders.** Rows are sorted by a random 64-bit word each, and all words are drawn anew if two are equal. Words that are all
different are equally likely in every order, so each order of the rows is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.errors import Described, ParameterError
from sudare.noise.entropy import EntropySource
from sudare.noise.exact import WORD_BITS
from sudare.noise.sampler import read_entropy
from sudare.parameters import Rational, exact_fraction, exact_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["draw_categories", "random_order", "read_probability", "toss_coins"]

MAX_DRAWS = 1 << 40


def toss_coins(rate: Rational, count: int, entropy: EntropySource | None = None) -> NDArray[np.bool_]:
    """Independent coins that show True with a probability, exactly.

    Example:
        >>> from sudare.microdata.perturb.exact_draws import toss_coins
        >>> toss_coins(1, 3).tolist(), toss_coins(0, 3).tolist()
        ([True, True, True], [False, False, False])
    """
    exact = read_probability(rate, "rate", "toss_coins")
    return np.asarray(draw_categories([exact, 1 - exact], count, entropy) == 0)


def draw_categories(
    probabilities: Sequence[Fraction], count: int, entropy: EntropySource | None = None
) -> NDArray[np.int64]:
    """Independent places of a list of probabilities, each drawn as often as its probability says.

    Args:
        probabilities: fractions that add up to 1.
        count: how many to draw.
        entropy: where the bits come from; the secure source by default.

    Example:
        >>> from fractions import Fraction
        >>> from sudare.microdata.perturb.exact_draws import draw_categories
        >>> set(draw_categories([Fraction(1, 3), Fraction(0), Fraction(2, 3)], 1000).tolist()) <= {0, 2}
        True
    """
    function = "draw_categories"
    source = read_entropy(entropy, function)
    draws = exact_integer(
        count, "count", function, Words("a whole number >= 0", "0 以上の整数"), smallest=0, largest=MAX_DRAWS
    )
    shares = [read_probability(share, "probabilities", function) for share in probabilities]
    if sum(shares) != 1:
        raise ParameterError(
            "probabilities", function, Words("fractions that add up to 1", "合計が 1 になる分数"), Described("others")
        )
    # From where the sum has reached 1 no number is left to draw, and a category of probability 0 ends where it begins.
    ends = [end for end in accumulate(shares) if end < 1]
    limits = np.array([_floor(end, WORD_BITS) for end in ends], dtype=np.uint64)
    words = source.words(draws)
    places = np.searchsorted(limits, words, side="right").astype(np.int64)
    # A word above a limit is past the end, one below it is before the end; one at the limit is open.
    at_limit = np.flatnonzero(np.isin(words, limits)) if limits.size else np.zeros(0, dtype=np.int64)
    for i in at_limit.tolist():
        places[i] = _settle(ends, int(words[i]), source)
    return places


def _settle(ends: list[Fraction], prefix: int, source: EntropySource) -> int:
    """The category of the uniform number that begins with these bits."""
    bits = WORD_BITS
    while True:
        # The number is in [prefix, prefix + 1): certainly at or past an end <= prefix, certainly before one >= prefix + 1.
        past = bisect_right(ends, Fraction(prefix, 1 << bits))
        if past == len(ends) or ends[past] >= Fraction(prefix + 1, 1 << bits):
            return past
        prefix = prefix << WORD_BITS | source.next_word()
        bits += WORD_BITS


def _floor(value: Fraction, bits: int) -> int:
    return (value.numerator << bits) // value.denominator


def random_order(count: int, entropy: EntropySource | None = None) -> NDArray[np.int64]:
    """The numbers from 0 to ``count - 1`` in an order drawn fairly from all orders.

    Example:
        >>> from sudare.microdata.perturb.exact_draws import random_order
        >>> sorted(random_order(4).tolist())
        [0, 1, 2, 3]
    """
    size = exact_integer(
        count, "count", "random_order", Words("a whole number >= 0", "0 以上の整数"), smallest=0, largest=MAX_DRAWS
    )
    source = read_entropy(entropy, "random_order")
    while True:
        words = source.words(size)
        order = np.argsort(words)
        ordered = words[order]
        if not bool((ordered[1:] == ordered[:-1]).any()):
            return order.astype(np.int64, copy=False)


def read_probability(value: object, parameter: str, function: str) -> Fraction:
    """An exact number from 0 to 1."""
    requirement = Words("a number from 0 to 1", "0 以上 1 以下の数")
    number = exact_fraction(value, parameter, function, requirement)
    if not 0 <= number <= 1:
        raise ParameterError(parameter, function, requirement, value)
    return number
