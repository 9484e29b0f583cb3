"""Which randomizer to take, and how large its error will be: before anybody is asked.

Every error follows in closed form from the number of people, the number of values and epsilon.

Formulas: ``planning.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import erf, erfc, exp, expm1, floor, log, log2, sqrt
from typing import Any

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import ShownRows
from sudare.collect.randomizers.categories import KaryResponse, Retention, read_epsilon
from sudare.collect.randomizers.randomizer import Randomizer
from sudare.collect.transitions.rounding import cautious_digits, float_above
from sudare.errors import Described, GuaranteeError, ParameterError
from sudare.parameters import Rational, exact_fraction, exact_integer, shown
from sudare.privacy.measurements import log_rounded_up

__all__ = ["CollectionPlan", "MeanPlan", "MeanPrediction", "Prediction", "plan_collection", "plan_mean"]

MAX_PEOPLE = 1 << 53
SEED_BITS = 64
SURE = 1.6448536269514722
"""A normal variable is above this with probability 5 %."""


@dataclass(frozen=True)
class Prediction:
    """What one randomizer would give.

    Attributes:
        kind: the randomizer's name.
        epsilon: what one report costs; the smallest float that is not below it.
        people: how many report.
        values: how many values the question has.
        truth_support: the probability that a report supports the true value.
        other_support: the probability that it supports another value.
        report_bits: the size of a report.
    """

    kind: str
    epsilon: float
    people: int
    values: int
    truth_support: float
    other_support: float
    report_bits: int

    def standard_error(self, share: float = 0.0) -> float:
        """Of the estimated number of people with one value, if a share of all people have it."""
        p, q = self.truth_support, self.other_support
        return sqrt(self.people * (share * p * (1 - p) + (1 - share) * q * (1 - q))) / (p - q)

    @property
    def largest_error(self) -> float:
        """The expected largest error over all values, in people, if no value is frequent."""
        # By name: a prediction is made before there is a randomizer, and these are the two whose estimates add up.
        if self.values == 2 and self.kind in ("kary-response", "retention"):
            return self.standard_error(0.5) * sqrt(2 / np.pi)  # both errors are the same number
        return self.standard_error(1 / self.values) * _largest_of_normals(self.values)

    @property
    def detectable_share(self) -> float:
        """The share of people who must have a value for it to be told from one that nobody has.

        At this share an estimate is, with probability 95 %, above what a value that nobody has exceeds with probability 5 %. 1 if
        no share is enough.
        """
        critical = SURE * self.standard_error(0.0) / self.people
        share = critical
        for _ in range(100):
            share = min(critical + SURE * self.standard_error(min(share, 1.0)) / self.people, 1.0)
        return share


@dataclass(frozen=True)
class CollectionPlan(ShownRows):
    """A chosen randomizer and what it was chosen from.

    Attributes:
        chosen: the prediction for the randomizer to take.
        alternatives: for all that were compared, the best first.
        epsilon_at_most: what one report may cost; None for a plan by k.
        kept: the probability of keeping the true value, for a plan by k.
        k: the anonymity reached, for a plan by k.
    """

    chosen: Prediction
    alternatives: tuple[Prediction, ...]
    epsilon_at_most: Fraction | None = None
    kept: Fraction | None = None
    k: Fraction | None = None

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each randomizer, and whether it is the chosen one."""
        listed = self.alternatives
        return {
            "randomizer": [each.kind for each in listed],
            "is_chosen": [each is self.chosen for each in listed],
            "epsilon": [each.epsilon for each in listed],
            "standard_error": [each.standard_error() for each in listed],
            "largest_error": [each.largest_error for each in listed],
            "detectable_share": [each.detectable_share for each in listed],
            "report_bits": [each.report_bits for each in listed],
        }

    def randomizer(self, labels: Iterable[object]) -> Randomizer:
        """The randomizer that was chosen.

        Args:
            labels: the values, as many as were planned for.
        """
        listed = tuple(labels)
        if len(listed) != self.chosen.values:
            requirement = f"{self.chosen.values} values, as planned"
            raise ParameterError("labels", "CollectionPlan.randomizer", requirement, Described(f"{len(listed)}"))
        if self.kept is not None:
            return Retention(listed, self.kept)
        if self.epsilon_at_most is None:
            raise GuaranteeError(
                Words(
                    "This plan has neither an epsilon nor a probability of keeping.",
                    "この計画には epsilon も、値をそのまま残す確率もありません。",
                )
            )
        return _MAKERS[self.chosen.kind](listed, self.epsilon_at_most)

    def to_text(self, most_rows: int = 40) -> str:
        """A table of the alternatives, the chosen one first.

        Args:
            most_rows: further ones are left out.
        """
        heads = ("randomizer", "epsilon", "standard error", "largest error", "detectable share", "bits a report")
        rows = [heads]
        for each in self.alternatives:
            mark = "* " if each is self.chosen else "  "
            numbers = (
                cautious_digits(each.epsilon, up=True),
                f"{each.standard_error():,.1f}",
                f"{each.largest_error:,.1f}",
            )
            rows.append((mark + each.kind, *numbers, f"{each.detectable_share:.3%}", f"{each.report_bits:,}"))
        return _aligned(rows[: most_rows + 1])


def plan_collection(
    people: int,
    values: int,
    *,
    epsilon: Rational | None = None,
    k: Rational | None = None,
    records: int | None = None,
    largest_report_bits: int = 8192,
) -> CollectionPlan:
    """The randomizer with the smallest predicted error for a question with some values.

    Args:
        people: how many report.
        values: how many values the question has.
        epsilon: what one report may cost.
        k: in place of epsilon: nobody is to be linked to a record with a probability above 1/k, where this is the only attribute
            of the records; `sudare.collect.estimation.pk.noise_for_k` divides a k among several.
        records: how many are published together, for a wanted k; all people if left out.
        largest_report_bits: randomizers with longer reports are not taken, though listed.

    Raises:
        ParameterError: if both or neither of epsilon and k are given, or something is out of range.

    Example:
        >>> from sudare.collect.randomizers.planning import plan_collection
        >>> plan = plan_collection(1_000_000, 4, epsilon=1)
        >>> plan.chosen.kind, round(plan.chosen.standard_error())
        ('kary-response', 1264)
        >>> plan_collection(1_000_000, 100, epsilon=1).chosen.kind
        'unary-response-optimized'
    """
    function = "plan_collection"
    requirement = Words(f"a whole number from 1 to {MAX_PEOPLE}", f"1 以上 {MAX_PEOPLE} 以下の整数")
    number = exact_integer(people, "people", function, requirement, smallest=1, largest=MAX_PEOPLE)
    if (epsilon is None) == (k is None):
        raise ParameterError(
            "epsilon",
            function,
            Words("given if k is not, and left out if k is", "epsilon か k のどちらか一方だけを指定"),
            shown(epsilon),
        )
    size = _read_values(values)
    if k is not None:
        return _plan_for_k(number, size, k, number if records is None else records)
    limit = exact_integer(
        largest_report_bits, "largest_report_bits", function, Words("a whole number >= 1", "1 以上の整数"), smallest=1
    )
    cost = read_epsilon(
        exact_fraction(epsilon, "epsilon", function, Words("a number above 0", "0 より大きい数")), function, "epsilon"
    )
    predictions = sorted(
        _predictions(number, size, float_above(cost)), key=lambda each: (each.standard_error(), each.kind)
    )
    allowed = [each for each in predictions if each.report_bits <= limit]
    if not allowed:
        got = Described(f"{limit}, where the shortest report has {min(each.report_bits for each in predictions)}")
        raise ParameterError(
            "largest_report_bits",
            function,
            Words("enough for one of the randomizers", "いずれかのランダム化器が使える大きさ"),
            got,
        )
    ordered = (allowed[0], *(each for each in predictions if each is not allowed[0]))
    return CollectionPlan(allowed[0], ordered, epsilon_at_most=cost)


def _predictions(people: int, values: int, epsilon: float) -> list[Prediction]:
    grown, half = exp(epsilon), exp(epsilon / 2)
    hashes = max(floor(grown) + 1, 2)
    number_bits = max(1, (values - 1).bit_length())
    return [
        Prediction(
            "kary-response",
            epsilon,
            people,
            values,
            grown / (grown + values - 1),
            1 / (grown + values - 1),
            number_bits,
        ),
        Prediction("unary-response-optimized", epsilon, people, values, 0.5, 1 / (grown + 1), values),
        Prediction("unary-response-symmetric", epsilon, people, values, half / (half + 1), 1 / (half + 1), values),
        Prediction(
            "local-hashing",
            epsilon,
            people,
            values,
            grown / (grown + hashes - 1),
            1 / hashes,
            SEED_BITS + max(1, floor(log2(hashes - 1)) + 1),
        ),
    ]


def _plan_for_k(people: int, values: int, k: Rational, records: int) -> CollectionPlan:
    """Retention with the largest probability of keeping that reaches k."""
    from sudare.collect.estimation.pk import kept_for_rate, rate_for_k

    kept = kept_for_rate(values, rate_for_k(records, k))
    other = (1 - kept) / values
    ratio = (kept + other) / other
    bits = max(1, (values - 1).bit_length())
    prediction = Prediction(
        "retention", float_above(log_rounded_up(ratio)), people, values, float(kept + other), float(other), bits
    )
    return CollectionPlan(prediction, (prediction,), kept=kept, k=1 + (records - 1) / ratio**2)


@dataclass(frozen=True)
class MeanPrediction:
    """What one randomizer of numbers would give.

    Attributes:
        kind: the randomizer's name.
        people: how many report.
        span: from the smallest to the largest number.
        constant: the variance of one report for a number in the middle, on the scale from -1 to 1.
        multiple: of the square of the number (on that scale), which is added to the variance.
    """

    kind: str
    people: int
    span: float
    constant: float
    multiple: float

    def standard_error(self, spread: float | None = None) -> float:
        """Of the estimated mean.

        Args:
            spread: the root mean square of the numbers, on the scale where low is -1 and high is 1; the worst if left out.
        """
        square = (1.0 if self.multiple > 0 else 0.0) if spread is None else spread**2
        return self.span / 2 * sqrt((self.constant + self.multiple * square) / self.people)


@dataclass(frozen=True)
class MeanPlan(ShownRows):
    """A chosen randomizer of numbers.

    Attributes:
        chosen: the prediction for the randomizer to take.
        alternatives: for all that were compared, the best first.
        epsilon_at_most: what one report may cost.
    """

    chosen: MeanPrediction
    alternatives: tuple[MeanPrediction, ...]
    epsilon_at_most: Fraction

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each randomizer, and whether it is the chosen one."""
        listed = self.alternatives
        return {
            "randomizer": [each.kind for each in listed],
            "is_chosen": [each is self.chosen for each in listed],
            "standard_error": [each.standard_error() for each in listed],
            "standard_error_in_the_middle": [each.standard_error(0.0) for each in listed],
        }

    def randomizer(self, grid: Any) -> Randomizer:
        """The randomizer that was chosen, for the numbers of a `Grid`."""
        # By name: a plan compares these very methods, each by a formula of its own.
        from sudare.collect.randomizers.means import OneBit, Piecewise
        from sudare.collect.randomizers.noisy_numbers import UnboundedNoise

        if self.chosen.kind == "one-bit":
            return OneBit(grid, self.epsilon_at_most)
        if self.chosen.kind == "piecewise":
            return Piecewise(grid, self.epsilon_at_most)
        return UnboundedNoise(grid, grid.span / self.epsilon_at_most)

    def to_text(self, most_rows: int = 40) -> str:
        """A table of the alternatives, the chosen one first.

        Args:
            most_rows: further ones are left out.
        """
        rows = [("randomizer", "standard error of the mean, at most", "for numbers in the middle")]
        for each in self.alternatives:
            mark = "* " if each is self.chosen else "  "
            rows.append((mark + each.kind, f"{each.standard_error():.4g}", f"{each.standard_error(0.0):.4g}"))
        return _aligned(rows[: most_rows + 1])


def plan_mean(
    people: int, epsilon: Rational, *, low: Rational = -1, high: Rational = 1, spread: float | None = None
) -> MeanPlan:
    """The randomizer with the smallest predicted error of a mean.

    Args:
        people: how many report.
        epsilon: what one report may cost.
        low: the smallest number.
        high: the largest number.
        spread: the root mean square of the numbers, on the scale where low is -1 and high is 1; the worst case if left out.

    Example:
        >>> from sudare.collect.randomizers.planning import plan_mean
        >>> plan_mean(10_000, 1).chosen.kind, plan_mean(10_000, 3).chosen.kind
        ('one-bit', 'piecewise')
    """
    function = "plan_mean"
    requirement = Words(f"a whole number from 1 to {MAX_PEOPLE}", f"1 以上 {MAX_PEOPLE} 以下の整数")
    number = exact_integer(people, "people", function, requirement, smallest=1, largest=MAX_PEOPLE)
    cost = read_epsilon(epsilon, function, "epsilon")
    ends = [
        exact_fraction(each, name, function, Words("a number", "数")) for each, name in ((low, "low"), (high, "high"))
    ]
    if ends[0] >= ends[1]:
        raise ParameterError("high", function, Words("above low", "low より大きい値"), shown(high))
    if spread is not None and (not isinstance(spread, (int, float)) or not 0 <= spread <= 1):
        raise ParameterError("spread", function, Words("a number from 0 to 1", "0 以上 1 以下の数"), shown(spread))
    span, grown, half = float(ends[1] - ends[0]), exp(float(cost)), expm1(float(cost) / 2)
    predictions = [
        MeanPrediction("one-bit", number, span, ((grown + 1) / expm1(float(cost))) ** 2, -1.0),
        MeanPrediction("piecewise", number, span, (half + 4) / (3 * half**2), 1 / half),
        MeanPrediction("unbounded-noise", number, span, 8 / float(cost) ** 2, 0.0),
    ]
    predictions.sort(key=lambda each: (each.standard_error(spread), each.kind))
    return MeanPlan(predictions[0], tuple(predictions), cost)


GAUSS_POINTS, GAUSS_PIECES = 16, 32
NEVER_BEYOND = 9.0
"""How far the largest of many normal variables may go beyond where it is expected; the rest has a chance below 1e-18."""


@lru_cache(maxsize=64)
def _largest_of_normals(number: int) -> float:
    """The expected largest absolute value among independent standard normal variables."""

    def above(x: float) -> float:
        beyond = erfc(x / sqrt(2))
        if beyond < 0.5:
            return float(-np.expm1(number * np.log1p(-beyond)))
        within = erf(x / sqrt(2))
        return 1.0 - within**number

    middle = sqrt(2 * log(2 * number + 1))
    nodes, weights = np.polynomial.legendre.leggauss(GAUSS_POINTS)
    edges = np.linspace(0, middle + NEVER_BEYOND, GAUSS_PIECES + 1)
    half = (edges[1] - edges[0]) / 2
    points = (edges[:-1, None] + half * (1 + nodes)).ravel().tolist()
    return float(half * np.tile(weights, GAUSS_PIECES) @ [above(point) for point in points])


def _read_values(values: Any) -> int:
    requirement = Words("a whole number from 2 to 2**31", "2 以上 2**31 以下の整数")
    return exact_integer(values, "values", "plan_collection", requirement, smallest=2, largest=1 << 31)


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            text.ljust(width) if not place else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _make_unary(rule: str) -> Callable[[tuple[object, ...], Fraction], Randomizer]:
    def make(labels: tuple[object, ...], epsilon: Fraction) -> Randomizer:
        from sudare.collect.randomizers.unary import UnaryResponse

        return UnaryResponse(labels, epsilon, rule)  # type: ignore[arg-type]

    return make


def _make_hashing(labels: tuple[object, ...], epsilon: Fraction) -> Randomizer:
    from sudare.collect.randomizers.hashing import LocalHashing

    return LocalHashing(labels, epsilon)


# By name: a plan compares these very methods, each by a formula of its own; others may be as good, and are not advised.
_MAKERS: dict[str, Callable[[tuple[object, ...], Fraction], Randomizer]] = {
    "kary-response": KaryResponse,
    "unary-response-optimized": _make_unary("optimized"),
    "unary-response-symmetric": _make_unary("symmetric"),
    "local-hashing": _make_hashing,
}
