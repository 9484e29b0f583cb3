"""l-diversity: the sensitive values of each class differ (Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, 2007).

What it protects: the sensitive value of a person whose class is known. What it does not: values that differ but mean nearly the
same, and values that are much more frequent in a class than elsewhere.

Why coarser tables keep them, if nothing is suppressed: the entropy of a mixture is at least the smallest entropy of its parts;
and for recursive diversity, the largest count of two classes together is at most the sum of theirs, while what is left after
the l - 1 largest counts is at least the sum of what is left of each. Grassberger's estimate of an entropy is not known to do so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.errors import ParameterError
from sudare.kernels.records.distances import largest_and_tail
from sudare.microdata.grouping import Grouped, ValueHistogram
from sudare.microdata.models.model import SensitiveModel, at_most, decided, or_empty, per_class
from sudare.microdata.models.planned_model import ModelColumns, PlannedModel, at_least_two, sensitive_column
from sudare.microdata.models.record_fields import fraction_of, text_of, whole_of
from sudare.parameters import Rational, exact_fraction, exact_integer, show_fraction, shown
from sudare.sections import Section

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "DistinctDiversity",
    "EntropyDiversity",
    "RecursiveDiversity",
    "class_entropies",
    "estimated_entropies",
    "recursive_parts",
]

TWO_OR_MORE = Words("a whole number of at least 2", "2 以上の整数")
EXACT_ROWS = 20_000
"""Classes up to this size are decided with whole numbers where floats cannot."""

ESTIMATORS = ("shannon", "grassberger")
PLAN_KEYS = ("column", "l", "kind", "c")
"""Of the three models together: a plan tells them apart by ``kind``."""

DISTINCT_DIVERSITY = Words(
    "distinct {l}-diversity: at least {l} different values of {column} in each class",
    "{l}-多様性 (値の数): 各クラスに {column} の異なる値が {l} 個以上あります",
)
ENTROPY_DIVERSITY = Words(
    "entropy {l}-diversity: the {entropy} of {column} in each class is at least log {l}",
    "エントロピー {l}-多様性: 各クラスの {column} の{entropy}は log {l} 以上です",
)
ENTROPY = Words("entropy", "エントロピー")
ESTIMATED_ENTROPY = Words("entropy, by Grassberger's estimate,", "エントロピー (Grassberger の推定値)")
RECURSIVE_DIVERSITY = Words(
    "recursive ({c}, {l})-diversity: in each class, the most frequent value of {column} is less than {c} times as frequent as "
    "all from the {l}th most frequent on",
    "再帰的 ({c}, {l})-多様性: 各クラスで {column} の最も多い値は、{l} 番目以降に多い値の合計の {c} 倍より少ないです",
)


@dataclass(frozen=True)
class DistinctDiversity(SensitiveModel, PlannedModel):
    """Each class has at least l different values of the sensitive column.

    Args:
        column: the sensitive one.
        l: different values, 2 or more.

    Example:
        >>> from sudare.microdata.models import DistinctDiversity
        >>> DistinctDiversity("illness", 3).describe()
        "distinct 3-diversity: at least 3 different values of 'illness' in each class"
    """

    column: str
    l: int  # noqa: E741 - the name that everybody knows
    is_monotonic_with_suppression = True
    plan_name = "l-diversity"
    plan_kind = "distinct"
    plan_keys = PLAN_KEYS
    record_name = "distinct-l-diversity"
    record_fields = MappingProxyType({"column": text_of, "l": whole_of})

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", exact_integer(self.l, "l", "DistinctDiversity", TWO_OR_MORE, smallest=2))

    @classmethod
    def from_plan(cls, section: Section, columns: ModelColumns) -> Self:
        """With ``l``."""
        column = sensitive_column(section, columns)
        return cls(column, at_least_two(section, "l"))

    @property
    def smallest_size(self) -> int:
        """l: each value needs a row."""
        return self.l

    @property
    def smallest_distinct(self) -> int:
        """As many as asked for."""
        return self.l

    def holds(self, grouped: Grouped) -> NDArray[np.bool_]:
        """Classes with at least l values."""
        return or_empty(np.diff(self.histogram(grouped).edges) >= self.l, grouped)

    @property
    def words(self) -> Words:
        """What the model asks for."""
        return DISTINCT_DIVERSITY.format(l=self.l, column=repr(self.column))


@dataclass(frozen=True)
class EntropyDiversity(SensitiveModel, PlannedModel):
    """The entropy of each class's sensitive values is at least that of l equally frequent ones.

    The entropy of a few records is less than that of the people they are a sample of. Grassberger's estimate (2003) makes up for
    it, and so accepts more classes; a class of two records with two values counts as log 7.4. That is why at least l different
    values are asked for beside it, as Stammler, Katzenbeisser and Hamacher (2016) do.

    Args:
        column: the sensitive one.
        l: more than 1; need not be whole.
        estimator: ``"shannon"``, the entropy of the class as it stands, or ``"grassberger"``.

    Example:
        >>> from sudare.microdata.models import EntropyDiversity
        >>> EntropyDiversity("illness", 3).describe()
        "entropy 3-diversity: the entropy of 'illness' in each class is at least log 3"
    """

    column: str
    l: Fraction  # noqa: E741
    estimator: str
    plan_name = "l-diversity"
    plan_kind = "entropy"
    plan_keys = PLAN_KEYS
    record_name = "entropy-l-diversity"
    record_fields = MappingProxyType({"column": text_of, "l": fraction_of})

    def __init__(self, column: str, l: Rational, *, estimator: str = "shannon") -> None:  # noqa: E741
        check_arguments(EntropyDiversity.__init__, locals(), "estimator")
        exact = exact_fraction(l, "l", "EntropyDiversity", Words("a number above 1", "1 より大きい数"))
        if exact <= 1:
            raise ParameterError("l", "EntropyDiversity", Words("a number above 1", "1 より大きい数"), shown(l))
        if estimator not in ESTIMATORS:
            raise ParameterError(
                "estimator",
                "EntropyDiversity",
                Words("one of " + ", ".join(ESTIMATORS), f"{', '.join(ESTIMATORS)} のいずれか"),
                shown(estimator),
            )
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "l", exact)
        object.__setattr__(self, "estimator", estimator)
        object.__setattr__(self, "is_monotonic", estimator == "shannon")

    @classmethod
    def from_plan(cls, section: Section, columns: ModelColumns) -> Self:
        """With ``l``."""
        column = sensitive_column(section, columns)
        return cls(column, section.number("l"))

    @property
    def smallest_size(self) -> int:
        """As many as there must be different values."""
        return self.smallest_distinct

    @property
    def smallest_distinct(self) -> int:
        """l, rounded up: fewer values cannot have the entropy, and are not enough for its estimate."""
        return math.ceil(self.l)

    def holds(self, grouped: Grouped) -> NDArray[np.bool_]:
        """Classes with enough entropy."""
        counted = self.histogram(grouped)
        limit = math.log(self.l.numerator) - math.log(self.l.denominator)
        if self.estimator == "shannon":
            result = decided(-class_entropies(counted), -limit, lambda place: self._is_exactly_enough(counted, place))
        else:
            result = decided(
                -estimated_entropies(counted), -limit, lambda place: self._is_estimate_enough(counted, place)
            )
            result &= np.diff(counted.edges) >= self.smallest_distinct
        return or_empty(result, grouped)

    def _is_exactly_enough(self, counted: ValueHistogram, place: int) -> bool:
        """Compare powers instead of logarithms: rows^rows >= l^rows x the product of count^count."""
        counts = counted.counts[counted.edges[place] : counted.edges[place + 1]].tolist()
        rows = sum(counts)
        if len(set(counts)) <= 1:
            return len(counts) >= self.l
        if rows > EXACT_ROWS:
            return False
        common = math.gcd(*counts)
        counts, rows = [count // common for count in counts], rows // common
        product = math.prod(count**count for count in counts)
        return bool(rows**rows * self.l.denominator**rows >= self.l.numerator**rows * product)

    def _is_estimate_enough(self, counted: ValueHistogram, place: int) -> bool:
        """Decide with 50 digits: a fraction is never the logarithm of another one, so that they differ somewhere."""
        counts = counted.counts[counted.edges[place] : counted.edges[place + 1]].tolist()
        digits = Context(prec=50)
        parts = {count: _odd_sum(count, digits) for count in {*counts, sum(counts)}}
        spent = sum((count * parts[count] for count in counts), Decimal(0))
        estimate = digits.subtract(parts[sum(counts)], digits.divide(spent, Decimal(sum(counts))))
        limit = digits.ln(digits.divide(Decimal(self.l.numerator), Decimal(self.l.denominator)))
        return estimate >= limit

    @property
    def words(self) -> Words:
        """What the model asks for."""
        return ENTROPY_DIVERSITY.format(
            l=show_fraction(self.l),
            entropy=ESTIMATED_ENTROPY if self.estimator == "grassberger" else ENTROPY,
            column=repr(self.column),
        )


@dataclass(frozen=True)
class RecursiveDiversity(SensitiveModel, PlannedModel):
    """The most frequent sensitive value of a class is less than c times as frequent as all from the l-th most frequent on.

    Args:
        column: the sensitive one.
        c: above 0.
        l: 2 or more.
    """

    column: str
    c: Fraction
    l: int  # noqa: E741
    plan_name = "l-diversity"
    plan_kind = "recursive"
    plan_keys = PLAN_KEYS
    record_name = "recursive-l-diversity"
    record_fields = MappingProxyType({"column": text_of, "c": fraction_of, "l": whole_of})

    def __init__(self, column: str, c: Rational, l: int) -> None:  # noqa: E741
        exact = exact_fraction(c, "c", "RecursiveDiversity", Words("a number above 0", "0 より大きい数"))
        if exact <= 0:
            raise ParameterError("c", "RecursiveDiversity", Words("a number above 0", "0 より大きい数"), shown(c))
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "c", exact)
        object.__setattr__(self, "l", exact_integer(l, "l", "RecursiveDiversity", TWO_OR_MORE, smallest=2))

    @classmethod
    def from_plan(cls, section: Section, columns: ModelColumns) -> Self:
        """With ``c`` and ``l``."""
        column = sensitive_column(section, columns)
        return cls(column, section.number("c"), at_least_two(section, "l"))

    @property
    def smallest_size(self) -> int:
        """As many as there must be different values."""
        return self.l

    @property
    def smallest_distinct(self) -> int:
        """l: with fewer there is nothing from the l-th on."""
        return self.l

    def holds(self, grouped: Grouped) -> NDArray[np.bool_]:
        """Classes whose most frequent value is not too frequent."""
        largest, tail = recursive_parts(self.histogram(grouped), self.l)
        # largest < c tail is the opposite of tail <= largest / c.
        enough = ~at_most(tail, np.maximum(largest, 1), 1 / self.c) & (tail > 0)
        return or_empty(enough, grouped)

    @property
    def words(self) -> Words:
        """What the model asks for."""
        return RECURSIVE_DIVERSITY.format(c=show_fraction(self.c), l=self.l, column=repr(self.column))


def class_entropies(counted: ValueHistogram) -> NDArray[np.float64]:
    """The entropy of the values of each class, in nats."""
    counts = counted.counts.astype(np.float64)
    rows = np.maximum(per_class(np.add, counted.counts, counted.edges).astype(np.float64), 1.0)
    result: NDArray[np.float64] = np.log(rows) - per_class(np.add, counts * np.log(counts), counted.edges) / rows
    return result


def estimated_entropies(counted: ValueHistogram) -> NDArray[np.float64]:
    """Grassberger's estimate of the entropy behind each class, in nats.

    It is G(N) - sum of n G(n) / N over the counts n of a class of N rows. G stands for the logarithm: G(n) is -gamma - log 2 +
    2 (1 + 1/3 + 1/5 + ...) with floor(n / 2) terms. The constants cancel out, because the n add up to N; so the estimate is a
    fraction, and the sums alone are computed.
    """
    rows = per_class(np.add, counted.counts, counted.edges).astype(np.int64)
    terms = 2.0 / np.arange(1, max(int(rows.max(initial=0)), 1) + 1, 2)
    sums = np.concatenate([[0.0], np.cumsum(terms)])
    spent = per_class(np.add, counted.counts * sums[counted.counts // 2], counted.edges)
    result: NDArray[np.float64] = sums[rows // 2] - spent / np.maximum(rows, 1)
    return result


def _odd_sum(count: int, digits: Context) -> Decimal:
    """2 (1 + 1/3 + 1/5 + ...) with as many terms as there are pairs in a count."""
    total = Decimal(0)
    for odd in range(1, count - count % 2, 2):
        total = digits.add(total, digits.divide(Decimal(2), Decimal(odd)))
    return total


def recursive_parts(counted: ValueHistogram, first: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The largest count of each class, and the sum of its counts from the first-th largest on."""
    largest = np.zeros(counted.classes, dtype=np.int64)
    tail = np.zeros(counted.classes, dtype=np.int64)
    largest_and_tail(counted.edges, counted.counts, first, largest, tail)
    return largest, tail
