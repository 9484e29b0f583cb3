"""Local hashing: a short randomized hash of the value, under a hash function that each person draws.

A report is a seed and a number below a small range; it supports every value that the seed's hash function maps to the number. The
error is that of optimized unary encoding, but a report has the same size for any number of values. The collector pays for it:
each report is hashed with each candidate value.

Proof: ``hashing.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from sudare.bilingual import Words
from sudare.collect.randomizers.categories import BITS, other_weight, read_epsilon, read_labels
from sudare.collect.randomizers.questions import VALUES, read_number
from sudare.collect.randomizers.randomizer import Randomizer, read_places
from sudare.collect.randomizers.supports import SupportRandomizer
from sudare.collect.transitions.transition import DenseTransition, Transition, UniformTransition
from sudare.errors import Described, ParameterError
from sudare.noise.entropy import EntropySource
from sudare.noise.exact import bounded_exp
from sudare.noise.sampler import read_entropy
from sudare.parameters import Rational, describe_array, exact_integer
from sudare.privacy.budget import read_text_fraction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sudare.sections import Section

    Integers = NDArray[np.int64]
    Seeds = NDArray[np.uint64]

__all__ = ["LocalHashing"]

MAX_RANGE = 1 << 16
"""Of hash values. The best range is larger only for an epsilon above 11, where every method is nearly exact."""

HASH_BITS = 32
REPORTS_PER_THREAD = 1 << 16


@dataclass(frozen=True)
class LocalHashing(SupportRandomizer):
    """Optimized local hashing (OLH): k-ary response over the hashes of the values.

    Reports are rows of two 64-bit words: the seed, and the randomized hash.

    Guarantee: local epsilon, exactly that of the response over the hashes, never above the one asked for. It needs no assumption
    about the hash functions; that the estimate is unbiased needs one (``hashing.md``).

    Proof: ``hashing.md``.

    Args:
        labels: the values.
        epsilon_at_most: what one report may cost.

    References:
        Wang, Blocki, Li, Jha: Locally differentially private protocols for frequency estimation (2017).

    Example:
        >>> from sudare.collect import LocalHashing
        >>> towns = LocalHashing(range(1000), 3)
        >>> reports = towns.randomize([77] * 2000)
        >>> reports.shape, towns.range, int(towns.estimate(reports).unbiased.argmax())
        ((2000, 2), 21, 77)
    """

    kind: ClassVar[str] = "local-hashing"
    form: ClassVar[str] = "hashed"
    words: ClassVar[Words] = Words(
        "A short randomized hash of the true value, under a hash function that each person draws.",
        "人ごとに引いたハッシュ関数による真の値の短いハッシュを、ランダム化して報告します。",
    )
    question_keys: ClassVar[Mapping[str, tuple[str, ...]]] = {"local-hashing": (*VALUES, "epsilon")}
    labels: tuple[object, ...]
    epsilon_at_most: Fraction
    range: int = field(init=False, repr=False, compare=False)
    """How many hash values there are: the whole part of e^epsilon, plus 1."""
    response: UniformTransition = field(init=False, repr=False, compare=False)
    """From the true hash to the reported one."""

    def __init__(self, labels: Iterable[object], epsilon_at_most: Rational) -> None:
        epsilon = read_epsilon(epsilon_at_most, "LocalHashing")
        hashes = _best_range(epsilon)
        other = other_weight(epsilon, hashes)
        kept = (1 << BITS) - (hashes - 1) * other
        if kept <= other:
            requirement = Words(
                f"large enough for the true hash to be likelier than others, in steps of 2**-{BITS}",
                f"真のハッシュがほかより出やすくなる大きさ（2**-{BITS} 刻み）",
            )
            raise ParameterError("epsilon_at_most", "LocalHashing", requirement, epsilon_at_most)
        object.__setattr__(self, "labels", read_labels(labels, "LocalHashing"))
        object.__setattr__(self, "epsilon_at_most", epsilon)
        object.__setattr__(self, "range", hashes)
        object.__setattr__(self, "response", UniformTransition(hashes, kept, other))

    @classmethod
    def from_question(cls, method: str, section: Section) -> Randomizer:
        """Values and epsilon."""
        return cls(section.items("values"), read_number(section, "epsilon"))

    def truth_support(self) -> Fraction:
        """The probability that the true hash is reported."""
        return Fraction(self.response.kept, self.response.total)

    def other_support(self) -> Fraction:
        """1 / range, but for the rounding of 32-bit hashes to the range, if hashes of two values are independent."""
        each, larger = divmod(1 << HASH_BITS, self.range)
        same_hash = Fraction(larger * (each + 1) ** 2 + (self.range - larger) * each**2, 1 << 2 * HASH_BITS)
        other = Fraction(self.response.other, self.response.total)
        return other + (self.truth_support() - other) * same_hash

    def largest_ratio(self) -> Fraction:
        """Of the response over hashes: the seed tells nothing, and some seed sets any two values apart."""
        return Fraction(self.response.kept, self.response.other)

    def transition(self) -> Transition:
        """Refused: there are 2**64 seeds.

        Raises:
            ParameterError: always; `transition_given` has the matrix for one seed.
        """
        requirement = "of a randomizer whose reports can be listed, or transition_given(seed)"
        raise ParameterError("transition", "LocalHashing", requirement, Described(f"2**64 seeds x {self.range} hashes"))

    def transition_given(self, seed: int) -> DenseTransition:
        """With which probability each value becomes each hash, under one seed; its columns are the hashes."""
        word = exact_integer(seed, "seed", "transition_given", "a 64-bit word", smallest=0, largest=2**64 - 1)
        hashes = self._hashes(np.full(len(self.labels), word, dtype=np.uint64), np.arange(len(self.labels)))
        return DenseTransition.from_weights(self.response.weights()[hashes])

    def randomize(self, values: ArrayLike, entropy: EntropySource | None = None) -> Seeds:
        """A seed and a hash for each value.

        Args:
            values: true values, each one of the labels.
            entropy: where the bits come from; the secure source by default.

        Raises:
            ParameterError: if a value is not one of the labels.
        """
        source = read_entropy(entropy, "LocalHashing.randomize")
        places = read_places(values, self.labels, "values", "LocalHashing.randomize")
        seeds = source.words(places.size)
        reports = np.empty((places.size, 2), dtype=np.uint64)
        reports[:, 0] = seeds
        reports[:, 1] = self.response.draw(self._hashes(seeds, np.ascontiguousarray(places.ravel())), source)
        return reports.reshape(*places.shape, 2)

    def _hashes(self, seeds: Seeds, places: Integers) -> Integers:
        from sudare.kernels.collection.hashing import hash_places

        hashes = np.empty(places.size, dtype=np.int64)
        hash_places(seeds, places, self.range, hashes)
        return hashes

    def count(self, reports: ArrayLike, threads: int = 1) -> tuple[Integers, int]:
        """How many reports support each value, and how many reports there are.

        Args:
            reports: a seed and a hash each.
            threads: how many share the work; the result does not depend on it.
        """
        from sudare.kernels.collection.hashing import count_supports

        function = "LocalHashing.estimate"
        workers = exact_integer(
            threads,
            "threads",
            function,
            Words("a whole number from 1 to 1024", "1 以上 1024 以下の整数"),
            smallest=1,
            largest=1024,
        )
        rows = np.asarray(reports)
        if rows.dtype != np.uint64 or rows.ndim < 1 or rows.shape[-1] != 2:
            requirement = "an array of 64-bit words, a seed and a hash for each report"
            raise ParameterError("reports", function, requirement, describe_array(reports))
        rows = np.ascontiguousarray(rows).reshape(-1, 2)
        if rows.size and int(rows[:, 1].max()) >= self.range:
            raise ParameterError("reports", function, f"hashes below {self.range}", Described("a larger one"))

        def supports_in(start: int) -> Integers:
            supports = np.zeros(len(self.labels), dtype=np.int64)
            count_supports(rows[start : start + REPORTS_PER_THREAD], self.range, supports)
            return supports

        with ThreadPoolExecutor(workers) as pool:
            parts = list(pool.map(supports_in, range(0, rows.shape[0], REPORTS_PER_THREAD)))
        return np.sum([np.zeros(len(self.labels), dtype=np.int64), *parts], axis=0), rows.shape[0]

    def parameters(self) -> dict[str, object]:
        """Labels, epsilon and the range."""
        return {"labels": list(self.labels), "epsilon": str(self.epsilon_at_most), "range": self.range}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """What `parameters` wrote, read again."""
        return cls(parameters["labels"], read_text_fraction(parameters["epsilon"]))

    def drawing(self) -> dict[str, object]:
        """By the range and the two weights of the response."""
        return {"rule": "hash", "range": self.range, "kept": self.response.kept, "other": self.response.other}


def _best_range(epsilon: Fraction) -> int:
    """The whole part of e^epsilon, plus 1: the error is smallest near e^epsilon + 1. Privacy does not depend on it."""
    precision = 128
    whole = (1 << precision) // bounded_exp(epsilon, precision).high
    return min(max(whole + 1, 2), MAX_RANGE)
