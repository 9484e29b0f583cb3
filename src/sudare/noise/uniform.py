"""Uniform whole numbers below a bound, without bias.

A word is used if it falls below the largest multiple of the bound that 64 bits hold, and dropped otherwise: each of the
``bound`` remainders then has the same number of words. Less than half of the words are dropped, whatever the bound.

Proof: ``uniform.md`` beside this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sudare.noise.entropy import EntropySource
from sudare.noise.exact import WORD_BITS
from sudare.noise.sampler import read_entropy, read_size
from sudare.parameters import exact_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["uniform_below"]


def uniform_below(bound: int, size: int | tuple[int, ...], entropy: EntropySource | None = None) -> NDArray[np.uint64]:
    """Independent whole numbers from 0 to ``bound - 1``, all equally likely.

    Args:
        bound: a whole number from 1 to 2**64.
        size: how many, or the shape of the array.
        entropy: where the bits come from; the secure source by default.

    Example:
        >>> import sudare
        >>> bool((sudare.noise.uniform_below(6, 100) < 6).all())
        True
    """
    places = exact_integer(bound, "bound", "uniform_below", "a whole number from 1 to 2**64", smallest=1, largest=2**64)
    count = read_size(size, "uniform_below")
    source = read_entropy(entropy, "uniform_below")
    last_used = 2**WORD_BITS - 2**WORD_BITS % places - 1
    kept = np.empty(count, dtype=np.uint64)
    filled = 0
    while filled < count:
        words = source.words(count - filled)
        words = words[words <= np.uint64(last_used)]
        kept[filled : filled + words.size] = words % np.uint64(places) if places < 2**WORD_BITS else words
        filled += words.size
    return kept.reshape(size)
