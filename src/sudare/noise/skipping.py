"""Which of very many places pass, where each passes with the same small probability: by skipping over those that do not.

Coins are not tossed for every place. A coin that falls slightly more often than needed has a run of failures whose
length is a geometric number, which is drawn exactly; each of its successes is then kept with the probability that is
missing, which is decided exactly too. Time and memory go by the places that pass.

Proof: ``skipping.md`` beside this file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from sudare.noise.entropy import EntropySource
from sudare.noise.exact import WORD_BITS, Bounds, LatticeLaw, NextWord, bounded_exp, is_below
from sudare.noise.inversion import InversionSampler
from sudare.noise.lattice import MAX_SCALE, geometric

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Skipping", "approximate_tail", "keys_of_others", "tail_probability"]

MAX_GAPS = 1 << 22
"""Gaps drawn at once."""

GUARD_BITS = 16
SCALE_BITS = 32
"""The scale of the gaps is a fraction of this many significant bits: kept coins are within 2**-30 of all."""


def tail_probability(law: LatticeLaw, threshold: int, bits: int) -> Bounds:
    """Bounds of 2**bits * P(X >= threshold) for a two-sided law, at most 2 apart.

    Args:
        law: linear or quadratic, not both. A quadratic law is summed up: time goes by its width.
        threshold: a whole number >= 1.
        bits: the precision, at least 29.
    """
    if not law.quadratic:
        work = bits + GUARD_BITS
        top, ratio = bounded_exp(law.linear * threshold, work), bounded_exp(law.linear, work)
        whole = Bounds((1 << work) + ratio.low, (1 << work) + ratio.high)
        return _rounded(_quotient(top, whole, work), GUARD_BITS)
    width_bits = int(1 / law.quadratic).bit_length() // 2 + 1
    work = bits + GUARD_BITS + 2 * width_bits
    top = bounded_exp(law.energy(threshold), work)
    over = _sum_of(LatticeLaw(law.linear + 2 * law.quadratic * threshold, law.quadratic, two_sided=False), work)
    half = _sum_of(law, work)
    whole = Bounds(2 * half.low - (1 << work), 2 * half.high - (1 << work))  # 0 is counted once
    part = Bounds(top.low * over.low >> work, -(-top.high * over.high >> work))
    return _rounded(_quotient(part, whole, work), work - bits)


def approximate_tail(law: LatticeLaw, threshold: int) -> float:
    """P(X >= threshold) to many digits where it is not tiny: for choices that bear on time, never on the distribution."""
    if not law.quadratic:
        slope = float(law.linear)
        return math.exp(-slope * threshold) / (1 + math.exp(-slope))
    if threshold > 40 * math.sqrt(float(1 / law.quadratic)) + 1:
        return 0.0
    if law.quadratic < Fraction(1, 10**6):
        return 0.5 * math.erfc((threshold - 0.5) * math.sqrt(float(law.quadratic)))
    reach = int(40 / math.sqrt(float(law.quadratic))) + 2
    weights = np.exp(-float(law.quadratic) * np.arange(reach, dtype=np.float64) ** 2)
    return float(weights[threshold:].sum() / (2 * weights.sum() - 1))


class Skipping:
    """Finds which of any number of places pass, each with the same probability, independently.

    Args:
        probability: gives bounds of 2**bits times the probability, at most 2 apart, for any number of bits from 29 on.
        roughly: the probability, roughly; at most 3/4. It bears on the time alone.

    Example:
        >>> from fractions import Fraction
        >>> from functools import partial
        >>> from sudare.noise.exact import LatticeLaw
        >>> from sudare.noise.entropy import secure_entropy
        >>> from sudare.noise.skipping import Skipping, tail_probability
        >>> law = LatticeLaw(Fraction(1), Fraction(0), two_sided=True)
        >>> rare = Skipping(partial(tail_probability, law, 30), 7e-14)
        >>> rare.draw(10**14, secure_entropy()).size < 100
        True
    """

    def __init__(self, probability: Callable[[int], Bounds], roughly: float) -> None:
        self.scale = _scale_for(probability, roughly)
        self.gaps = geometric(self.scale)
        kept = partial(_quotient_of_coins, probability, self.scale)
        self.thinning = InversionSampler(0, [kept(WORD_BITS)], partial(_settle_coin, kept), "thinning")

    def draw(self, places: int, entropy: EntropySource, *, threads: int = 1) -> NDArray[np.uint64]:
        """The places that pass, ascending, of ``places`` many, at most 2**62.

        Args:
            places: how many there are.
            entropy: where the bits come from.
            threads: how many threads draw. The result of a research source does not depend on it.
        """
        passing = []
        first = 0
        while first < places:
            wanted = 1.02 * (places - first) / float(self.scale)
            gaps = self.gaps.draw(int(min(wanted + 4 * math.sqrt(wanted) + 8, MAX_GAPS)), entropy, threads=threads)
            # No step exceeds 2**62 + 1, so sums pass the end before they could pass 2**64.
            steps = np.minimum(gaps, places).astype(np.uint64) + np.uint64(1)
            steps[0] += np.uint64(first)
            reached = np.cumsum(steps) - np.uint64(1)
            beyond = reached >= np.uint64(places)
            within = int(np.argmax(beyond)) if beyond.any() else reached.size
            candidates = reached[:within]
            passing.append(candidates[self.thinning.draw(within, entropy, threads=threads) == 0])
            first = places if within < reached.size else int(reached[-1]) + 1
        return np.concatenate(passing) if passing else np.empty(0, dtype=np.uint64)


def keys_of_others(known: NDArray[np.uint64], ranks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Keys of the cells with these ranks among those that are not known.

    Before the i-th known key there are as many others as it exceeds i.

    Args:
        known: cells that are not among the places that were drawn, ascending.
        ranks: places that pass, of all other cells in the order of their keys.
    """
    others_before = known - np.arange(known.size, dtype=np.uint64)
    return ranks + np.searchsorted(others_before, ranks, side="right").astype(np.uint64)


def _scale_for(probability: Callable[[int], Bounds], roughly: float) -> Fraction:
    """The scale of a geometric law whose chance of 0 is not below the probability, and barely above it if it can."""
    scale = MAX_SCALE
    if roughly > 0:
        exact = -1 / math.log1p(-min(roughly, 0.75))
        if exact < MAX_SCALE:
            unit = Fraction(2) ** (math.frexp(exact)[1] - SCALE_BITS)
            scale = math.floor(Fraction(exact) / unit) * unit
    bits = WORD_BITS + 2 * int(scale).bit_length()
    highest = probability(bits).high
    step = Fraction(1, 1 << SCALE_BITS - 2)
    while (1 << bits) - bounded_exp(1 / scale, bits).high < highest:
        scale *= 1 - step
        step = min(2 * step, Fraction(1, 2))
    return scale


def _quotient_of_coins(probability: Callable[[int], Bounds], scale: Fraction, bits: int) -> Bounds:
    """Bounds of 2**bits times the share of the successes to keep: probability / (1 - exp(-1 / scale))."""
    work = bits + GUARD_BITS + int(scale).bit_length()
    fail = bounded_exp(1 / scale, work)
    often = Bounds((1 << work) - fail.high, (1 << work) - fail.low)
    low, high = _rounded(_quotient(probability(work), often, work), work - bits)
    return Bounds(low, min(high, 1 << bits))


def _settle_coin(kept: Callable[[int], Bounds], word: int, next_word: NextWord) -> int:
    return 0 if is_below(kept, word, WORD_BITS, next_word) else 1


def _quotient(part: Bounds, whole: Bounds, bits: int) -> Bounds:
    """Bounds of 2**bits * part / whole, from bounds of both in the same unit."""
    return Bounds((part.low << bits) // whole.high, -(-(part.high << bits) // whole.low))


def _rounded(bounds: Bounds, bits: int) -> Bounds:
    """The same bounds with fewer bits."""
    return Bounds(bounds.low >> bits, -(-bounds.high >> bits))


@lru_cache(maxsize=16)
def _sum_of(law: LatticeLaw, bits: int) -> Bounds:
    """Bounds of 2**bits times the sum of the weights of 0, 1, 2, ..."""
    weights, rest = law.half_weights(bits)
    return Bounds(sum(weight.low for weight in weights), sum(weight.high for weight in weights) + rest)
