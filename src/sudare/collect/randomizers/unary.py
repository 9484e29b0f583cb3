"""Unary encoding: a bit for each value, of which the true one is set, and every bit is randomized by itself.

Two rules. *Symmetric*: a set bit stays set, and a clear bit stays clear, with the same probability. *Optimized*: a set bit
is a fair coin, a clear bit is set as rarely as epsilon allows; values that few people have are then estimated best. The
error does not grow with the number of values, the report does: a bit for each.

Proof: ``unary.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.collect.randomizers.categories import BITS, other_weight, read_epsilon, read_labels
from sudare.collect.randomizers.questions import VALUES, read_number
from sudare.collect.randomizers.randomizer import Randomizer, read_places
from sudare.collect.randomizers.supports import SupportRandomizer
from sudare.collect.transitions.transition import Transition
from sudare.errors import Described, ParameterError
from sudare.noise.entropy import EntropySource
from sudare.noise.exact import WORD_BITS
from sudare.noise.sampler import read_entropy
from sudare.parameters import Rational, describe_array, shown
from sudare.privacy.budget import read_text_fraction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sudare.sections import Section

    Bytes = NDArray[np.uint8]
    Integers = NDArray[np.int64]
    Shares = NDArray[np.float64]

__all__ = ["UnaryResponse", "UnaryTransition", "fill_biased"]

LANES = 1 << 13
"""Coins are tossed in blocks of this many words of 64, which stay in the processor's cache."""

MAX_WRITTEN = 16
"""Values whose matrix, with a column for each of 2**values reports, is written out."""


@dataclass(frozen=True)
class UnaryResponse(SupportRandomizer):
    """One randomized bit for each value.

    Reports are rows of ``ceil(values / 8)`` bytes; bit v of a report is bit ``v % 8`` of byte ``v // 8``, and bits behind the
    last value are 0.

    Guarantee: local epsilon, exactly that of the two probabilities, never above the one asked for.

    Proof: ``unary.md``.

    Args:
        labels: the values.
        epsilon_at_most: what one report may cost.
        rule: ``"optimized"`` (OUE) or ``"symmetric"`` (SUE, basic one-time RAPPOR).

    References:
        Wang, Blocki, Li, Jha: Locally differentially private protocols for frequency estimation (2017).

    Example:
        >>> from sudare.collect import UnaryResponse
        >>> towns = UnaryResponse(range(20), 2)
        >>> reports = towns.randomize([7] * 5000)
        >>> reports.shape, int(towns.estimate(reports).unbiased.argmax())
        ((5000, 3), 7)
    """

    kind: ClassVar[str] = "unary-response"
    form: ClassVar[str] = "bits"
    words: ClassVar[Words] = Words(
        "A bit for each value, that of the true one set; every bit is randomized by itself.",
        "値ごとに1ビットを置いて真の値のビットだけを立て、各ビットを別々にランダム化します。",
    )
    question_keys: ClassVar[Mapping[str, tuple[str, ...]]] = {"unary-response": (*VALUES, "epsilon", "rule")}
    labels: tuple[object, ...]
    epsilon_at_most: Fraction
    rule: Literal["optimized", "symmetric"] = "optimized"
    truth: int = field(init=False, repr=False, compare=False)
    """The true value's bit is set with this probability, in steps of 2**-60."""
    other: int = field(init=False, repr=False, compare=False)
    """Each other bit is set with this probability, in steps of 2**-60."""

    def __init__(
        self,
        labels: Iterable[object],
        epsilon_at_most: Rational,
        rule: Literal["optimized", "symmetric"] = "optimized",
    ) -> None:
        check_arguments(UnaryResponse.__init__, locals(), "rule")
        if rule not in ("optimized", "symmetric"):
            raise ParameterError(
                "rule",
                "UnaryResponse",
                Words("'optimized' or 'symmetric'", "'optimized' または 'symmetric'"),
                shown(rule),
            )
        epsilon = read_epsilon(epsilon_at_most, "UnaryResponse")
        other = other_weight(epsilon if rule == "optimized" else epsilon / 2, 2)
        truth = 1 << (BITS - 1) if rule == "optimized" else (1 << BITS) - other
        if truth <= other:
            requirement = Words(
                f"large enough for the true value to be likelier than others, in steps of 2**-{BITS}",
                f"真の値がほかの値より出やすくなる大きさ（2**-{BITS} 刻み）",
            )
            raise ParameterError("epsilon_at_most", "UnaryResponse", requirement, epsilon_at_most)
        object.__setattr__(self, "labels", read_labels(labels, "UnaryResponse"))
        object.__setattr__(self, "epsilon_at_most", epsilon)
        object.__setattr__(self, "rule", rule)
        object.__setattr__(self, "truth", truth)
        object.__setattr__(self, "other", other)

    @classmethod
    def from_question(cls, method: str, section: Section) -> Randomizer:
        """Values, epsilon and rule."""
        rule: Any = section.choice("rule", ("optimized", "symmetric"), "optimized")
        return cls(section.items("values"), read_number(section, "epsilon"), rule)

    @property
    def bytes_per_report(self) -> int:
        """Eight values each."""
        return -(-len(self.labels) // 8)

    def truth_support(self) -> Fraction:
        """The probability that the true value's bit is set."""
        return Fraction(self.truth, 1 << BITS)

    def other_support(self) -> Fraction:
        """The probability that another value's bit is set."""
        return Fraction(self.other, 1 << BITS)

    def largest_ratio(self) -> Fraction:
        """Of a report with the bit of one value set and that of the other clear."""
        p, q = self.truth_support(), self.other_support()
        return p * (1 - q) / (q * (1 - p))

    def transition(self) -> UnaryTransition:
        """With which probability each value becomes each report, for 16 values at most."""
        return UnaryTransition(len(self.labels), self.truth, self.other)

    def randomize(self, values: ArrayLike, entropy: EntropySource | None = None) -> Bytes:
        """A row of bytes for each value.

        Args:
            values: true values, each one of the labels.
            entropy: where the bits come from; the secure source by default.

        Raises:
            ParameterError: if a value is not one of the labels.
        """
        source = read_entropy(entropy, "UnaryResponse.randomize")
        places = read_places(values, self.labels, "values", "UnaryResponse.randomize")
        return _draw_bits(places, len(self.labels), self.truth, self.other, source)

    def count(self, reports: ArrayLike) -> tuple[Integers, int]:
        """How many reports have the bit of each value set, and how many reports there are."""
        from sudare.kernels.collection.bits import count_bytes

        rows = np.asarray(reports)
        if rows.dtype != np.uint8 or rows.ndim < 1 or rows.shape[-1] != self.bytes_per_report:
            requirement = f"an array of bytes, {self.bytes_per_report} for each report"
            raise ParameterError("reports", "UnaryResponse.estimate", requirement, describe_array(reports))
        rows = np.ascontiguousarray(rows).reshape(-1, self.bytes_per_report)
        histogram = np.zeros((self.bytes_per_report, 256), dtype=np.int64)
        count_bytes(rows, histogram)
        bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(np.int64)
        counts = (histogram @ bits).ravel()
        if counts[len(self.labels) :].any():
            requirement = "reports with no bit set behind that of the last value"
            raise ParameterError("reports", "UnaryResponse.estimate", requirement, Described("others"))
        return counts[: len(self.labels)], rows.shape[0]

    def parameters(self) -> dict[str, object]:
        """Labels, epsilon and the rule."""
        return {"labels": list(self.labels), "epsilon": str(self.epsilon_at_most), "rule": self.rule}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """What `parameters` wrote, read again."""
        return cls(parameters["labels"], read_text_fraction(parameters["epsilon"]), parameters["rule"])

    def drawing(self) -> dict[str, object]:
        """By the two weights of a bit."""
        return {"rule": "bits", "truth": self.truth, "other": self.other, "total_bits": BITS}


@dataclass(frozen=True)
class UnaryTransition(Transition):
    """The matrix of independent bits. Report x is the number whose bit v is that of value v.

    Weights are products of one weight for each bit, so they outgrow 64 bits: they are Python's whole numbers.

    Attributes:
        values: how many there are.
        truth: weight of a set bit for the true value, of 2**60.
        other: weight of a set bit for another value, of 2**60.

    Example:
        >>> from sudare.collect import UnaryResponse
        >>> matrix = UnaryResponse(("a", "b"), 1, "symmetric").transition()
        >>> matrix.reports, float(matrix.largest_ratio()) <= 2.718281828459046
        (4, True)
    """

    values: int
    truth: int
    other: int

    @property
    def reports(self) -> int:  # type: ignore[override]
        """One for each set of values."""
        return int(2**self.values)

    @property
    def total(self) -> int:  # type: ignore[override]
        """What a row adds up to."""
        return int(2 ** (BITS * self.values))

    @cached_property
    def _bits(self) -> NDArray[np.bool_]:
        """A row for each report, a column for each value."""
        if self.values > MAX_WRITTEN:
            requirement = f"at most {MAX_WRITTEN} values where the matrix is written out, with 2**values columns"
            hint = "The probabilities of support and the largest ratio are there for any number of values."
            raise ParameterError("labels", "UnaryTransition", requirement, Described(f"{self.values}"), hint)
        return np.asarray(np.arange(self.reports)[:, None] >> np.arange(self.values) & 1, dtype=bool)

    def weights(self) -> Any:
        """The matrix written out."""
        whole, rows = 1 << BITS, []
        for value in range(self.values):
            row = np.ones(self.reports, dtype=object)
            for bit in range(self.values):
                weight = self.truth if bit == value else self.other
                row *= np.where(
                    self._bits[:, bit], np.array(weight, dtype=object), np.array(whole - weight, dtype=object)
                )
            rows.append(row)
        return np.array(rows, dtype=object)

    @cached_property
    def _probabilities(self) -> Shares:
        return np.array([[weight / self.total for weight in row] for row in self.weights()], dtype=np.float64)

    def probabilities(self) -> Shares:
        """The matrix as floats; rows add up to 1."""
        return self._probabilities

    def largest_ratio(self) -> Fraction:
        """In closed form."""
        whole = 1 << BITS
        return Fraction(self.truth * (whole - self.other), self.other * (whole - self.truth))

    def anonymity_rate(self) -> Fraction:
        """In closed form."""
        return 1 / self.largest_ratio() ** 2

    def draw(self, places: Integers, source: EntropySource) -> Integers:
        """A report for each true value, as a number."""
        self._bits  # noqa: B018, refuses many values before anything is drawn
        rows = _draw_bits(places, self.values, self.truth, self.other, source)
        return np.asarray(rows @ (1 << 8 * np.arange(rows.shape[-1])), dtype=np.int64)

    @cached_property
    def _inverse(self) -> Shares:
        p, q = self.truth / (1 << BITS), self.other / (1 << BITS)
        return np.asarray((self._bits - q) / (p - q), dtype=np.float64)

    def forward(self, shares: Shares) -> Shares:
        """Shares times the matrix."""
        return np.asarray(shares @ self._probabilities)

    def backward(self, weights: Shares) -> Shares:
        """The matrix times weights."""
        return np.asarray(weights @ self._probabilities.T)

    def solve(self, shares: Shares) -> Shares:
        """From how many reports support each value: one of many inverses, and the one that estimates use."""
        return np.asarray(shares @ self._inverse)

    def squared_inverse(self, shares: Shares) -> Shares:
        """Shares times the squares of the inverse's entries."""
        return np.asarray(shares @ self._inverse**2)


def fill_biased(out: NDArray[np.uint64], weight: int, source: EntropySource, bits: int = BITS) -> None:
    """Overwrite words with independent bits, each 1 with probability exactly ``weight / 2**bits``.

    Args:
        out: contiguous words.
        weight: from 0 to ``2**bits``.
        source: where random words come from: about seven for each word of the result, and only those needed.
        bits: at most 60.
    """
    from sudare.kernels.collection.bits import compare_digit

    everything = np.uint64(2**WORD_BITS - 1)
    if weight == 1 << bits:
        out[:] = everything
        return
    out[:] = 0
    size = min(LANES, out.size)
    words, undecided, lanes = np.empty(size, np.uint64), np.empty(size, np.uint64), np.empty(size, np.int32)
    # Behind the last digit that is 1 nothing can fall below the probability any more.
    last = (weight & -weight).bit_length() - 1 if weight else bits
    for start in range(0, out.size, LANES):
        block = out[start : start + LANES]
        undecided[:] = everything
        lanes[: block.size] = np.arange(block.size)
        active = block.size
        for place in range(bits - 1, last - 1, -1):
            source.fill(words[:active])
            active = compare_digit(words[:active], bool(weight >> place & 1), lanes, active, undecided, block)
            if not active:
                break


def _draw_bits(places: Integers, values: int, truth: int, other: int, source: EntropySource) -> Bytes:
    """All bits as if no value were true, then a coin for the bit of each person's true value."""
    from sudare.kernels.collection.bits import place_true_bits

    people, width = places.size, -(-values // 8)
    words = np.empty(-(-people * width // 8), dtype=np.uint64)
    fill_biased(words, other, source)
    coins = np.empty(-(-people // WORD_BITS), dtype=np.uint64)
    fill_biased(coins, truth, source)
    reports = words.view(np.uint8)[: people * width].reshape(people, width)
    place_true_bits(reports, np.ascontiguousarray(places.ravel()), coins, values)
    return reports.reshape(*places.shape, width)
