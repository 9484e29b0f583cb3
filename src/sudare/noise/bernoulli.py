"""Coins: fair ones, and ones that fall with probability exp(-x).

Proof: ``inversion.md`` beside this file (a coin is a cumulative distribution with one point).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from sudare.errors import ParameterError
from sudare.noise.entropy import EntropySource
from sudare.noise.exact import WORD_BITS, NextWord, bounded_exp, is_below
from sudare.noise.inversion import InversionSampler
from sudare.noise.sampler import read_entropy, read_size
from sudare.parameters import Rational, exact_fraction, show_fraction

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["bernoulli_exp", "fair_coins"]

MAX_EXPONENT = 10**6
_EXPONENT_RANGE = "a number from 0 to 10**6"


class ExponentialCoin:
    """A coin that shows True with probability exp(-exponent), exactly."""

    def __init__(self, exponent: Fraction) -> None:
        self.exponent = exponent
        name = f"bernoulli_exp({show_fraction(exponent)})"
        self._sampler = InversionSampler(0, [bounded_exp(exponent, WORD_BITS)], partial(_settle_toss, exponent), name)

    def __repr__(self) -> str:
        return repr(self._sampler)

    def draw(
        self, size: int | tuple[int, ...] | None = None, entropy: EntropySource | None = None, *, threads: int = 1
    ) -> bool | NDArray[np.bool_]:
        """Toss once, or as often as a size or shape says."""
        if size is None:
            return self._sampler.draw(None, entropy) == 0
        return np.asarray(np.equal(self._sampler.draw(size, entropy, threads=threads), 0))


def _settle_toss(exponent: Fraction, word: int, next_word: NextWord) -> int:
    return 0 if is_below(partial(bounded_exp, exponent), word, WORD_BITS, next_word) else 1


def bernoulli_exp(exponent: Rational) -> ExponentialCoin:
    """A coin that shows True with probability exp(-exponent).

    Args:
        exponent: any number from 0 to 10**6, read exactly.

    Raises:
        ParameterError: if the exponent is not such a number.

    Example:
        >>> import sudare
        >>> sudare.noise.bernoulli_exp(0).draw()
        True
    """
    exact = exact_fraction(exponent, "exponent", "bernoulli_exp", _EXPONENT_RANGE)
    if not 0 <= exact <= MAX_EXPONENT:
        raise ParameterError("exponent", "bernoulli_exp", _EXPONENT_RANGE, exponent)
    return _coin(exact)


_coin = lru_cache(maxsize=64)(ExponentialCoin)


def fair_coins(size: int | tuple[int, ...], entropy: EntropySource | None = None) -> NDArray[np.bool_]:
    """Independent fair coins, one random bit each.

    Args:
        size: how many, or the shape of an array of them.
        entropy: where chance comes from; secure if left out.

    Example:
        >>> import sudare
        >>> sudare.noise.fair_coins((2, 3)).shape
        (2, 3)
    """
    count = read_size(size, "fair_coins")
    words = read_entropy(entropy, "fair_coins").words(-(-count // WORD_BITS))
    return np.unpackbits(words.view(np.uint8), count=count).view(np.bool_).reshape(size)
