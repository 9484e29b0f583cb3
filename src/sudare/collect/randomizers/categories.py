"""Randomizers for one of a few values: Warner's coins, optimal binary and k-ary response, retention, any matrix.

Proof: ``categories.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from sudare.bilingual import Words
from sudare.collect.estimation.estimates import Estimate
from sudare.collect.randomizers.batches import ReportBatch
from sudare.collect.randomizers.questions import VALUES, read_number, read_rows
from sudare.collect.randomizers.randomizer import Randomizer, are_places, not_a_label, read_places
from sudare.collect.transitions.transition import DenseTransition, Transition, UniformTransition
from sudare.errors import Described, ParameterError
from sudare.noise.entropy import EntropySource
from sudare.noise.exact import bounded_exp
from sudare.noise.sampler import read_entropy
from sudare.parameters import Rational, exact_fraction, exact_integer, shown
from sudare.privacy.budget import read_text_fraction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sudare.sections import Section

__all__ = [
    "CategoryRandomizer",
    "KaryResponse",
    "MatrixResponse",
    "Retention",
    "binary_response",
    "read_labels",
    "warner",
]

BITS = 60
"""Probabilities that come from an epsilon are multiples of 2**-60; they are rounded so that the epsilon is never exceeded."""

MAX_EPSILON = 30


class CategoryRandomizer(Randomizer):
    """A randomizer whose reports are values of the same question."""

    reports_are_values: ClassVar[bool] = True
    labels: tuple[object, ...]

    def value_labels(self) -> tuple[object, ...]:
        """The labels."""
        return self.labels

    def randomize(self, values: ArrayLike, entropy: EntropySource | None = None) -> NDArray[Any]:
        """A value for each value.

        Args:
            values: true values, each one of the labels.
            entropy: where the bits come from; the secure source by default.

        Raises:
            ParameterError: if a value is not one of the labels.
        """
        source = read_entropy(entropy, f"{type(self).__name__}.randomize")
        places = read_places(values, self.labels, "values", f"{type(self).__name__}.randomize")
        drawn = self.transition().draw(places, source)
        known = np.asarray(self.labels)
        return drawn if are_places(known) else known[drawn]

    def count(self, reports: ArrayLike) -> NDArray[np.int64]:
        """How many reports name each value."""
        from sudare.kernels.collection.responses import count_places

        function, known = f"{type(self).__name__}.estimate", np.asarray(self.labels)
        counts = np.zeros(known.size, dtype=np.int64)
        places = np.asarray(reports)
        # The kernel finds numbers that are no places by itself, so there is no need to look twice.
        if not (are_places(known) and places.dtype == np.int64 and places.flags.c_contiguous):
            places = np.ascontiguousarray(read_places(reports, self.labels, "reports", function))
        if not count_places(places.ravel(), counts):
            raise not_a_label("reports", function, self.labels)
        return counts

    def batch(self, reports: ArrayLike, function: str = "Randomizer.batch") -> ReportBatch:
        """Counts are enough."""
        counts = self.count(reports)
        return ReportBatch(int(counts.sum()), counts)

    def estimate_batch(self, batch: ReportBatch, candidates: Sequence[str] = ()) -> Estimate:
        """How many people have each value."""
        return self.estimate_counts(cast("NDArray[np.int64]", batch.counts))

    def estimate(self, reports: ArrayLike) -> Estimate:
        """How many people have each value: unbiased, nearest on the simplex, with variances.

        Args:
            reports: what was sent, one for each person.

        Raises:
            ParameterError: if a report is not one of the labels.
            GuaranteeError: if the matrix has no inverse.
        """
        return self.estimate_counts(self.count(reports))

    def estimate_counts(self, counts: ArrayLike) -> Estimate:
        """The same, from the numbers of reports of each value."""
        told = np.asarray(counts, dtype=np.float64)
        if told.shape != (len(self.labels),):
            requirement = Words(
                f"{len(self.labels)} numbers, one for each value", f"値ごとに 1 つ、{len(self.labels)} 個の数"
            )
            raise ParameterError("counts", f"{type(self).__name__}.estimate_counts", requirement, shown(counts))
        if not (np.isfinite(told).all() and told.min() >= 0):
            requirement = Words("finite numbers >= 0", "0 以上の有限の数")
            raise ParameterError("counts", f"{type(self).__name__}.estimate_counts", requirement, Described("others"))
        transition = self.transition()
        unbiased = transition.solve(told)
        # Sum over reports of their expected numbers times the squared inverse, less the number itself: `categories.md`.
        variances = np.maximum(transition.squared_inverse(told) - unbiased, 0.0)
        return Estimate(self.labels, int(told.sum()), unbiased, variances, repr(self))

    def variance(self, people: int, share: float = 0.0) -> float:
        """Of the estimated number of people with one value, the largest over the values.

        Args:
            people: how many report.
            share: of them, how many have the value; the others are spread evenly.
        """
        transition, values = self.transition(), len(self.labels)
        if isinstance(transition, UniformTransition):  # the same number in closed form
            p, q = transition.kept / transition.total, transition.other / transition.total
            excess = (transition.kept - transition.other) / transition.total
            return people * (share * p * (1 - p) + (1 - share) * q * (1 - q)) / excess**2
        truths = np.full((values, values), people * (1 - share) / (values - 1))
        np.fill_diagonal(truths, people * share)
        variances = transition.squared_inverse(transition.forward(truths)) - truths
        return float(np.diag(variances).max())

    def drawing(self) -> dict[str, object]:
        """By the two weights of a uniform transition, or by rows of weights."""
        transition = self.transition()
        if isinstance(transition, UniformTransition):
            return {"rule": "uniform", "kept": transition.kept, "other": transition.other}
        return {"rule": "rows", "weights": transition.weights().tolist()}


@dataclass(frozen=True)
class KaryResponse(CategoryRandomizer):
    """The true value with the largest probability that an epsilon allows, else one of the others, all equally likely.

    Guarantee: local epsilon, exactly that of the matrix, never above the one asked for.

    Proof: ``categories.md``.

    Args:
        labels: the values.
        epsilon_at_most: what one report may cost.

    References:
        Kairouz, Oh, Viswanath: Extremal mechanisms for local differential privacy (2014).

    Example:
        >>> from sudare.collect import KaryResponse
        >>> colours = KaryResponse(("red", "green", "blue"), 2)
        >>> reports = colours.randomize(["red"] * 1000)
        >>> bool(colours.estimate(reports).unbiased[0] > 800), float(colours.epsilon()) <= 2
        (True, True)
    """

    kind: ClassVar[str] = "kary-response"
    words: ClassVar[Words] = Words(
        "The true value, or sometimes any other one instead.",
        "真の値、または時々は代わりに他のいずれかの値を報告します。",
    )
    question_keys: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "binary-response": (*VALUES, "epsilon"),
        "kary-response": (*VALUES, "epsilon"),
    }
    labels: tuple[object, ...]
    epsilon_at_most: Fraction
    _transition: UniformTransition = field(init=False, repr=False, compare=False)

    def __init__(self, labels: Iterable[object], epsilon_at_most: Rational) -> None:
        object.__setattr__(self, "labels", read_labels(labels, "KaryResponse"))
        object.__setattr__(self, "epsilon_at_most", read_epsilon(epsilon_at_most, "KaryResponse"))
        other = other_weight(self.epsilon_at_most, len(self.labels))
        kept = (1 << BITS) - (len(self.labels) - 1) * other
        if kept <= other:
            requirement = Words(
                f"large enough for the true value to be likelier than others, in steps of 2**-{BITS}",
                f"真の値がほかの値より出やすくなる大きさ（2**-{BITS} 刻み）",
            )
            raise ParameterError("epsilon_at_most", "KaryResponse", requirement, epsilon_at_most)
        object.__setattr__(self, "_transition", UniformTransition(len(self.labels), kept, other))

    @classmethod
    def from_question(cls, method: str, section: Section) -> Randomizer:
        """Values and epsilon; a binary response has two values."""
        values, epsilon = section.items("values"), read_number(section, "epsilon")
        return binary_response(values, epsilon) if method == "binary-response" else cls(values, epsilon)

    def transition(self) -> UniformTransition:
        """With which probability each value becomes each report."""
        return self._transition

    def parameters(self) -> dict[str, object]:
        """Labels and epsilon."""
        return {"labels": list(self.labels), "epsilon": str(self.epsilon_at_most)}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """What `parameters` wrote, read again."""
        return cls(parameters["labels"], read_text_fraction(parameters["epsilon"]))


@dataclass(frozen=True)
class Retention(CategoryRandomizer):
    """Retention and replacement: the true value is kept with a probability, else replaced by any value, itself included.

    Guarantee: local epsilon = ln(1 + kept values / (1 - kept)).

    Proof: ``categories.md``.

    Args:
        labels: the values.
        kept: the probability of keeping, above 0 and below 1.

    References:
        Agrawal, Srikant, Thomas: Privacy preserving OLAP (2005).

    Example:
        >>> from fractions import Fraction
        >>> from sudare.collect import Retention
        >>> Retention(("yes", "no"), Fraction(1, 2)).transition().weights().tolist()
        [[3, 1], [1, 3]]
    """

    kind: ClassVar[str] = "retention"
    words: ClassVar[Words] = Words(
        "The true value is kept with some probability, or else drawn anew from all values.",
        "真の値を一定の確率で残し、残さないときはすべての値から引き直します。",
    )
    question_keys: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "warner": (*VALUES, "truth"),
        "retention": (*VALUES, "kept"),
    }
    labels: tuple[object, ...]
    kept: Fraction
    _transition: UniformTransition = field(init=False, repr=False, compare=False)

    def __init__(self, labels: Iterable[object], kept: Rational) -> None:
        requirement = Words("a probability above 0 and below 1", "0 より大きく 1 より小さい確率")
        share = exact_fraction(kept, "kept", "Retention", requirement)
        if not 0 < share < 1:
            raise ParameterError("kept", "Retention", requirement, kept)
        object.__setattr__(self, "labels", read_labels(labels, "Retention"))
        object.__setattr__(self, "kept", share)
        values = len(self.labels)
        other = (1 - share) / values
        weights = (share + other, other)
        scale = other.denominator * (share + other).denominator
        reduced = Fraction(int(weights[0] * scale), int(weights[1] * scale))
        object.__setattr__(self, "_transition", UniformTransition(values, reduced.numerator, reduced.denominator))

    @classmethod
    def from_question(cls, method: str, section: Section) -> Randomizer:
        """Values and the probability of keeping, or Warner's two values and probability of the truth."""
        values = section.items("values")
        if method == "warner":
            return warner(values, read_number(section, "truth") if section.has("truth") else Fraction(3, 4))
        return cls(values, read_number(section, "kept"))

    def transition(self) -> UniformTransition:
        """With which probability each value becomes each report."""
        return self._transition

    def parameters(self) -> dict[str, object]:
        """Labels and the probability of keeping."""
        return {"labels": list(self.labels), "kept": str(self.kept)}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """What `parameters` wrote, read again."""
        return cls(parameters["labels"], read_text_fraction(parameters["kept"]))


@dataclass(frozen=True)
class MatrixResponse(CategoryRandomizer):
    """Any matrix of probabilities (post-randomization, PRAM).

    Guarantee: local epsilon, that of the matrix; none if some entry is 0 and another of its column is not.

    Proof: ``categories.md``.

    Args:
        labels: the values, in the order of rows and columns.
        rows: for each value, the probability of reporting each value; rows add up to exactly 1.

    References:
        Gouweleeuw, Kooiman, Willenborg, de Wolf: Post randomisation for statistical disclosure control (1998).

    Example:
        >>> from sudare.collect import MatrixResponse
        >>> illness = MatrixResponse(("none", "flu"), [[0.9, 0.1], [0.3, 0.7]])
        >>> illness.largest_ratio()
        Fraction(7, 1)
    """

    kind: ClassVar[str] = "matrix-response"
    words: ClassVar[Words] = Words(
        "A value that is drawn by the probabilities written for the true one.",
        "真の値ごとに定めた確率で引いた値を報告します。",
    )
    question_keys: ClassVar[Mapping[str, tuple[str, ...]]] = {"matrix-response": (*VALUES, "rows")}
    labels: tuple[object, ...]
    _transition: DenseTransition = field(repr=False)

    def __init__(self, labels: Iterable[object], rows: Any) -> None:
        object.__setattr__(self, "labels", read_labels(labels, "MatrixResponse"))
        matrix = rows if isinstance(rows, DenseTransition) else DenseTransition(rows)
        if (matrix.values, matrix.reports) != (len(self.labels), len(self.labels)):
            requirement = f"a square matrix for {len(self.labels)} values"
            raise ParameterError(
                "rows", "MatrixResponse", requirement, Described(f"{matrix.values} x {matrix.reports}")
            )
        object.__setattr__(self, "_transition", matrix)

    @classmethod
    def from_question(cls, method: str, section: Section) -> Randomizer:
        """Values and rows of probabilities."""
        return cls(section.items("values"), read_rows(section))

    def transition(self) -> Transition:
        """With which probability each value becomes each report."""
        return self._transition

    def parameters(self) -> dict[str, object]:
        """Labels and the rows as whole numbers without a common divisor."""
        return {"labels": list(self.labels), "weights": self._transition.reduced().tolist()}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """What `parameters` wrote, read again."""
        return cls(parameters["labels"], DenseTransition.from_weights(parameters["weights"]))


def warner(labels: Iterable[object] = (True, False), truth: Rational = Fraction(3, 4)) -> Retention:
    """Warner's randomized response: the truth with one probability, the opposite else. Two coins give 3/4, epsilon = ln 3.

    Args:
        labels: two values.
        truth: the probability of the truth, above 1/2 and below 1.

    Example:
        >>> from sudare.collect import warner
        >>> round(float(warner().epsilon()), 4)  # ln 3
        1.0986
    """
    requirement = Words("a probability above 1/2 and below 1", "1/2 より大きく 1 より小さい確率")
    share = exact_fraction(truth, "truth", "warner", requirement)
    if not Fraction(1, 2) < share < 1:
        raise ParameterError("truth", "warner", requirement, truth)
    two = read_labels(labels, "warner")
    if len(two) != 2:
        raise ParameterError("labels", "warner", Words("two values", "2 個の値"), Described(f"{len(two)}"))
    return Retention(two, 2 * share - 1)


def binary_response(labels: Iterable[object], epsilon_at_most: Rational) -> KaryResponse:
    """The best randomized answer to a question with two values: the truth with probability e^epsilon / (1 + e^epsilon).

    Args:
        labels: two values.
        epsilon_at_most: what one report may cost.

    References:
        Holohan, Leith, Mason: Optimal differentially private mechanisms for randomised response (2017).

    Example:
        >>> from sudare.collect import binary_response
        >>> round(float(binary_response((True, False), 1).transition().probabilities()[0, 0]), 4)
        0.7311
    """
    two = read_labels(labels, "binary_response")
    if len(two) != 2:
        raise ParameterError("labels", "binary_response", Words("two values", "2 個の値"), Described(f"{len(two)}"))
    return KaryResponse(two, epsilon_at_most)


def read_labels(labels: Iterable[object], function: str) -> tuple[object, ...]:
    """Values of a question: two or more, all different, all texts, all whole numbers or all truth values."""
    requirement = Words(
        "two or more different values, all texts or all whole numbers",
        "互いに異なる 2 個以上の値（すべて文字列か、すべて整数）",
    )
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise ParameterError("labels", function, requirement, shown(labels))
    read = tuple(label.item() if isinstance(label, np.generic) else label for label in labels)
    kinds = {type(label) for label in read}
    if len(read) < 2 or len(kinds) != 1 or not kinds <= {str, int, bool} or len(set(read)) != len(read):
        raise ParameterError("labels", function, requirement, Described(f"{len(read)} values"))
    # Arrays drop the null characters at the end of a text, and hold no larger numbers.
    plain = cast("tuple[Any, ...]", read)
    if kinds == {str} and any("\0" in label or label.encode(errors="replace").decode() != label for label in plain):
        raise ParameterError(
            "labels",
            function,
            Words("texts without null and surrogate characters", "NULL 文字とサロゲートを含まない文字列"),
            Described("others"),
        )
    if kinds == {int} and not (min(plain) >= -(1 << 63) and max(plain) < 1 << 63):
        raise ParameterError(
            "labels",
            function,
            Words("whole numbers of at most 64 bits", "64 ビット以下の整数"),
            Described("larger ones"),
        )
    return read


def read_epsilon(value: Rational, function: str, parameter: str = "epsilon_at_most") -> Fraction:
    """What a report may cost: above 0, at most 30."""
    requirement = Words(f"a number above 0, at most {MAX_EPSILON}", f"0 より大きく {MAX_EPSILON} 以下の数")
    epsilon = exact_fraction(value, parameter, function, requirement)
    if not 0 < epsilon <= MAX_EPSILON:
        raise ParameterError(parameter, function, requirement, value)
    return epsilon


def other_weight(epsilon: Fraction, values: int) -> int:
    """The weight of each other value, of 2**60 in all: at least 2**60 / (e^epsilon + values - 1), so that epsilon holds."""
    exact_integer(
        values,
        "values",
        "other_weight",
        Words("a whole number from 2 to 2**31", "2 以上 2**31 以下の整数"),
        smallest=2,
        largest=1 << 31,
    )
    # 1 / (e^epsilon + values - 1) = x / (1 + (values - 1) x) with x = e^-epsilon, which grows with x.
    precision = BITS + 64
    high = bounded_exp(epsilon, precision).high
    return -((-high << BITS) // ((1 << precision) + (values - 1) * high))
