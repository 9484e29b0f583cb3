"""l-diversity: the sensitive values of each class differ (Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, 2007).

What it protects: the sensitive value of a person whose class is known. What it does not: values that differ but mean nearly the
same, and values that are much more frequent in a class than elsewhere.

Why coarser tables keep them, if nothing is suppressed: the entropy of a mixture is at least the smallest entropy of its parts;
and for recursive diversity, the largest count of two classes together is at most the sum of theirs, while what is left after
the l - 1 largest counts is at least the sum of what is left of each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sudare.errors import ParameterError
from sudare.kernels.distances import largest_and_tail
from sudare.microdata.grouping import Grouped, Histogram
from sudare.microdata.models.model import SensitiveModel, at_most, decided, or_empty, per_class
from sudare.parameters import Rational, exact_fraction, exact_integer, show_fraction, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["DistinctDiversity", "EntropyDiversity", "RecursiveDiversity", "class_entropies", "recursive_parts"]

TWO_OR_MORE = "a whole number of at least 2"
EXACT_ROWS = 20_000
"""Classes up to this size are decided with whole numbers where floats cannot."""


@dataclass(frozen=True)
class DistinctDiversity(SensitiveModel):
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", exact_integer(self.l, "l", "DistinctDiversity", TWO_OR_MORE, smallest=2))

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

    def describe(self, language: str = "en") -> str:
        """The model in words."""
        if language == "ja":
            return f"{self.l}-多様性 (値の数): 各クラスに {self.column!r} の異なる値が {self.l} 個以上あります"
        return f"distinct {self.l}-diversity: at least {self.l} different values of {self.column!r} in each class"


@dataclass(frozen=True)
class EntropyDiversity(SensitiveModel):
    """The entropy of each class's sensitive values is at least that of l equally frequent ones.

    Args:
        column: the sensitive one.
        l: more than 1; need not be whole.
    """

    column: str
    l: Fraction  # noqa: E741

    def __init__(self, column: str, l: Rational) -> None:  # noqa: E741
        exact = exact_fraction(l, "l", "EntropyDiversity", "a number above 1")
        if exact <= 1:
            raise ParameterError("l", "EntropyDiversity", "a number above 1", shown(l))
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "l", exact)

    @property
    def smallest_size(self) -> int:
        """As many as there must be different values."""
        return self.smallest_distinct

    @property
    def smallest_distinct(self) -> int:
        """l, rounded up: fewer values cannot have the entropy."""
        return math.ceil(self.l)

    def holds(self, grouped: Grouped) -> NDArray[np.bool_]:
        """Classes with enough entropy."""
        counted = self.histogram(grouped)
        limit = math.log(self.l.numerator) - math.log(self.l.denominator)
        result = decided(-class_entropies(counted), -limit, lambda place: self._is_exactly_enough(counted, place))
        return or_empty(result, grouped)

    def _is_exactly_enough(self, counted: Histogram, place: int) -> bool:
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

    def describe(self, language: str = "en") -> str:
        """The model in words."""
        number = show_fraction(self.l)
        if language == "ja":
            return f"エントロピー {number}-多様性: 各クラスの {self.column!r} のエントロピーは log {number} 以上です"
        return f"entropy {number}-diversity: the entropy of {self.column!r} in each class is at least log {number}"


@dataclass(frozen=True)
class RecursiveDiversity(SensitiveModel):
    """The most frequent sensitive value of a class is less than c times as frequent as all from the l-th most frequent on.

    Args:
        column: the sensitive one.
        c: above 0.
        l: 2 or more.
    """

    column: str
    c: Fraction
    l: int  # noqa: E741

    def __init__(self, column: str, c: Rational, l: int) -> None:  # noqa: E741
        exact = exact_fraction(c, "c", "RecursiveDiversity", "a number above 0")
        if exact <= 0:
            raise ParameterError("c", "RecursiveDiversity", "a number above 0", shown(c))
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "c", exact)
        object.__setattr__(self, "l", exact_integer(l, "l", "RecursiveDiversity", TWO_OR_MORE, smallest=2))

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

    def describe(self, language: str = "en") -> str:
        """The model in words."""
        c = show_fraction(self.c)
        if language == "ja":
            return (
                f"再帰的 ({c}, {self.l})-多様性: 各クラスで {self.column!r} の最も多い値は、{self.l} 番目以降に多い値の合計の "
                f"{c} 倍より少ないです"
            )
        return (
            f"recursive ({c}, {self.l})-diversity: in each class, the most frequent value of {self.column!r} is less than {c} "
            f"times as frequent as all from the {self.l}th most frequent on"
        )


def class_entropies(counted: Histogram) -> NDArray[np.float64]:
    """The entropy of the values of each class, in nats."""
    counts = counted.counts.astype(np.float64)
    rows = np.maximum(per_class(np.add, counted.counts, counted.edges).astype(np.float64), 1.0)
    result: NDArray[np.float64] = np.log(rows) - per_class(np.add, counts * np.log(counts), counted.edges) / rows
    return result


def recursive_parts(counted: Histogram, first: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The largest count of each class, and the sum of its counts from the first-th largest on."""
    largest = np.zeros(counted.classes, dtype=np.int64)
    tail = np.zeros(counted.classes, dtype=np.int64)
    largest_and_tail(counted.edges, counted.counts, first, largest, tail)
    return largest, tail
