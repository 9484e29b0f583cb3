"""What decoding begins with: how often each bit was reported in each cohort, and which bits each candidate text sets.

Proof: ``rappor_decode.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.collect.rappor.bloom import bloom_bits
from sudare.collect.rappor.rappor import Rappor
from sudare.errors import Described, ParameterError
from sudare.extras import DECODED_RAPPOR, optional_module
from sudare.parameters import shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]
    Values = NDArray[np.float64]

__all__ = [
    "BitCounts",
    "BitEstimates",
    "CandidateTexts",
    "background_rate",
    "count_bits",
    "estimate_bits",
    "noise_of_clear_bit",
    "weights_and_rates",
]

BLOCK = 1 << 18
"""Reports are unpacked in blocks of this size."""

MIN_NOISE = 1e-9


@dataclass(frozen=True, eq=False)
class BitCounts:
    """How many people of each cohort reported, and how many of them reported each bit as 1.

    Counts of two sets of reports are added with ``+``.

    Args:
        rappor: the randomizer of the reports.
        people: a number for each cohort.
        ones: a row for each cohort, a column for each bit.
    """

    rappor: Rappor
    people: Integers
    ones: Integers

    def __post_init__(self) -> None:
        rappor = self.rappor
        people, ones = (_read_counts(getattr(self, name), name) for name in ("people", "ones"))
        if people.shape != (rappor.cohorts,) or ones.shape != (rappor.cohorts, rappor.bits):
            requirement = f"numbers for {rappor.cohorts} cohorts and {rappor.bits} bits"
            raise ParameterError("ones", "BitCounts", requirement, Described(f"an array of shape {ones.shape}"))
        if (ones < 0).any() or (ones > people[:, None]).any():
            raise ParameterError("ones", "BitCounts", "numbers from 0 to those of people", Described("others"))
        object.__setattr__(self, "people", people)
        object.__setattr__(self, "ones", ones)

    def __add__(self, other: BitCounts) -> BitCounts:
        if not isinstance(other, BitCounts):
            return NotImplemented
        if other.rappor != self.rappor:
            requirement = "counts of the same randomizer"
            raise ParameterError("other", "BitCounts.__add__", requirement, Described("those of another"))
        return BitCounts(self.rappor, self.people + other.people, self.ones + other.ones)


@dataclass(frozen=True, eq=False)
class BitEstimates:
    """How many people of each cohort have each bit in their filter.

    Attributes:
        unbiased: a row for each cohort, a column for each bit; right on average, possibly below 0.
        variances: unbiased estimates of their variances over the randomizing.
    """

    unbiased: Values
    variances: Values


def count_bits(rappor: Rappor, reports: ArrayLike) -> BitCounts:
    """Add up reports.

    Args:
        rappor: the randomizer they came from.
        reports: an array of its `report_type`.

    Raises:
        ParameterError: if they are of another randomizer.

    Example:
        >>> from sudare.collect.rappor.rappor import Rappor
        >>> from sudare.collect.rappor.design import count_bits
        >>> rappor = Rappor(8, 2, 4, f=0.5, p=0.5, q=0.75)
        >>> int(count_bits(rappor, rappor.randomize(["yes", "no"])).people.sum())
        2
    """
    from sudare.kernels.collection.rappor import count_ones

    people = np.zeros(rappor.cohorts, dtype=np.int64)
    ones = np.zeros((rappor.cohorts, rappor.bits), dtype=np.int64)
    array = np.asarray(reports)
    for start in range(0, max(array.size, 1), BLOCK):
        block = array[start : start + BLOCK] if array.ndim == 1 else array
        count_ones(*rappor.read_reports(block, "reports", "count_bits"), people, ones)
    return BitCounts(rappor, people, ones)


def estimate_bits(counts: BitCounts) -> BitEstimates:
    """How many people of each cohort have each bit: (ones - p* people) / (q* - p*).

    Example:
        >>> from sudare.collect.rappor.rappor import Rappor
        >>> from sudare.collect.rappor.design import BitCounts, estimate_bits
        >>> counts = BitCounts(Rappor(2, 1, 1, f=0, p=0.25, q=0.75), [100], [[75, 40]])
        >>> estimate_bits(counts).unbiased.tolist()
        [[100.0, 30.0]]
    """
    set_, clear = float(counts.rappor.reported_if_set), float(counts.rappor.reported_if_clear)
    people = counts.people[:, None].astype(np.float64)
    unbiased = (counts.ones - clear * people) / (set_ - clear)
    noise = unbiased * set_ * (1 - set_) + (people - unbiased) * clear * (1 - clear)
    return BitEstimates(unbiased, noise / (set_ - clear) ** 2)


@dataclass(frozen=True, eq=False)
class CandidateTexts:
    """Texts that people may have, and the bits that each sets in each cohort.

    Row ``cohort * bits + bit`` of the design has a one for each candidate that sets the bit in the cohort.

    Attributes:
        labels: the texts.
        starts: where the rows of each candidate begin in `rows`; one more number for the end.
        rows: candidate after candidate, in rising order.
        size: how many rows there are in all.
    """

    labels: tuple[str, ...]
    starts: Integers
    rows: Integers
    size: int

    @classmethod
    def from_texts(cls, rappor: Rappor, texts: Iterable[str]) -> CandidateTexts:
        """Hash texts as the people's clients do.

        Args:
            rappor: lengths, cohorts and rule.
            texts: one or more, all different.

        Raises:
            ParameterError: if something is no text, or comes twice.
        """
        labels = _read_labels(texts)
        positions = [
            {
                cohort * rappor.bits + bit
                for cohort in range(rappor.cohorts)
                for bit in bloom_bits(label, cohort, rappor.hashes, rappor.bits, rappor.rule)
            }
            for label in labels
        ]
        return cls._from_sets(labels, positions, rappor.cohorts * rappor.bits)

    @classmethod
    def from_positions(
        cls, rappor: Rappor, labels: Iterable[str], positions: Sequence[Iterable[int]]
    ) -> CandidateTexts:
        """From bits that somebody else has hashed.

        Args:
            rappor: lengths and cohorts.
            labels: names of the candidates.
            positions: for each, its ``cohort * bits + bit``, from 0 on; twice is once.
        """
        names, size = _read_labels(labels), rappor.cohorts * rappor.bits
        sets = [set(map(int, places)) for places in positions]
        if len(sets) != len(names) or not all(places and min(places) >= 0 and max(places) < size for places in sets):
            requirement = f"for each label some whole numbers from 0 to {size - 1:,}"
            raise ParameterError("positions", "Candidates.from_positions", requirement, Described("others"))
        return cls._from_sets(names, sets, size)

    @classmethod
    def _from_sets(cls, labels: tuple[str, ...], positions: Sequence[set[int]], size: int) -> CandidateTexts:
        starts = np.cumsum([0, *map(len, positions)], dtype=np.int64)
        rows = np.array([row for places in positions for row in sorted(places)], dtype=np.int64)
        return cls(labels, starts, rows, size)

    def matrix(self) -> Any:
        """The design: a SciPy matrix in compressed rows, a column for each candidate."""
        sparse = optional_module("scipy.sparse", "rappor", DECODED_RAPPOR)
        ones = np.ones(self.rows.size)
        return sparse.csc_array((ones, self.rows, self.starts), shape=(self.size, len(self.labels))).tocsr()


def weights_and_rates(counts: BitCounts) -> tuple[Values, Values]:
    """For each row of the design its weight, the cohort's share of people, and the estimated share of people with the bit."""
    people = np.maximum(counts.people, 1)[:, None]
    weights = np.repeat(counts.people / counts.people.sum(), counts.rappor.bits)
    return weights, np.ascontiguousarray((estimate_bits(counts).unbiased / people).ravel())


def background_rate(rappor: Rappor) -> float:
    """How often a bit is set by texts that nobody knows: by h hashes that are uniform."""
    return float(1 - (1 - 1 / rappor.bits) ** rappor.hashes)


def noise_of_clear_bit(rappor: Rappor) -> float:
    """The variance of one person's part in the estimate of a bit that the person does not have."""
    set_, clear = float(rappor.reported_if_set), float(rappor.reported_if_clear)
    return max(clear * (1 - clear), MIN_NOISE) / (set_ - clear) ** 2


def _read_labels(texts: Iterable[str]) -> tuple[str, ...]:
    requirement = Words("one or more texts, all different", "互いに異なる 1 個以上の文字列")
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise ParameterError("candidates", "CandidateTexts", requirement, shown(texts))
    labels = tuple(str(text) if isinstance(text, np.str_) else text for text in texts)
    if not labels or not all(type(label) is str for label in labels) or len(set(labels)) != len(labels):
        raise ParameterError("candidates", "CandidateTexts", requirement, Described(f"{len(labels)} values"))
    return labels


def _read_counts(values: ArrayLike, name: str) -> Integers:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise ParameterError(name, "BitCounts", "whole numbers", Described(f"an array of {array.dtype}"))
    return array.astype(np.int64)
