"""Bounds on single sensitive values of a class: alpha-k-anonymity, beta-likeness and delta-disclosure.

What they protect: that a sensitive value becomes (much) more probable once the class of a person is known. What they do not:
what the whole table tells, and conclusions from several columns together.

Each of them bounds the share of every value in a class, from above or from both sides. The share in two classes together lies
between their own, so a coarser table keeps the bounds if nothing is suppressed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.errors import ParameterError
from sudare.microdata.grouping import Grouped, ValueHistogram
from sudare.microdata.models.model import SensitiveModel, at_most, or_empty, per_class
from sudare.microdata.models.planned_model import ModelColumns, PlannedModel, at_least_two, sensitive_column
from sudare.microdata.models.record_fields import flag_of, fraction_of, text_of, whole_of
from sudare.parameters import Rational, exact_fraction, exact_integer, show_fraction, shown
from sudare.sections import Section

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["AlphaAnonymity", "BetaLikeness", "DeltaDisclosure", "relative_parts"]

ROUNDING = 1e-12
"""Logarithms are rounded; what is nearer to a limit than this, in parts of it, does not hold."""

ALPHA_ANONYMITY = Words(
    "({alpha}, {k})-anonymity: at least {k} records in each class, and no value of {column} in more than {alpha} of them",
    "({alpha}, {k})-匿名性: 各クラスは {k} 件以上で、{column} のどの値も {alpha} を超えません",
)
BETA_LIKENESS = Words(
    "{kind} {beta}-likeness: no value of {column} is more than {most} times as frequent in a class as in the whole table",
    "{kind} {beta}-類似性: 各クラスで {column} のどの値の割合も表全体の {most} 倍以下です",
)
KINDS_OF_LIKENESS = {False: Words("basic", "基本"), True: Words("enhanced", "拡張")}
DELTA_DISCLOSURE = Words(
    "{delta}-disclosure: the share of each value of {column} in a class is within a factor of exp({delta}) of that in the "
    "whole table",
    "{delta}-開示: 各クラスで {column} の値の割合は表全体の exp({delta}) 倍未満、exp(-{delta}) 倍超です",
)


@dataclass(frozen=True)
class AlphaAnonymity(SensitiveModel, PlannedModel):
    """Alpha-k-anonymity: classes of at least k rows, no sensitive value in more than alpha of them (Wong and others, 2006).

    Args:
        column: the sensitive one.
        alpha: the largest share of a value, above 0, at most 1.
        k: rows that a class needs at least, 2 or more.

    Example:
        >>> from sudare.microdata.models import AlphaAnonymity
        >>> AlphaAnonymity("illness", 0.5, 3).describe()
        "(0.5, 3)-anonymity: at least 3 records in each class, and no value of 'illness' in more than 0.5 of them"
    """

    column: str
    alpha: Fraction
    k: int
    plan_name = record_name = "alpha-k-anonymity"
    plan_keys = ("column", "alpha", "k")
    record_fields = MappingProxyType({"column": text_of, "alpha": fraction_of, "k": whole_of})

    def __init__(self, column: str, alpha: Rational, k: int) -> None:
        exact = exact_fraction(
            alpha, "alpha", "AlphaAnonymity", Words("a share above 0 and at most 1", "0 より大きく 1 以下の割合")
        )
        if not 0 < exact <= 1:
            raise ParameterError(
                "alpha",
                "AlphaAnonymity",
                Words("a share above 0 and at most 1", "0 より大きく 1 以下の割合"),
                shown(alpha),
            )
        size = exact_integer(
            k, "k", "AlphaAnonymity", Words("a whole number of at least 2", "2 以上の整数"), smallest=2
        )
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "alpha", exact)
        object.__setattr__(self, "k", size)

    @classmethod
    def from_plan(cls, section: Section, columns: ModelColumns) -> Self:
        """With ``alpha`` and ``k``."""
        column = sensitive_column(section, columns)
        return cls(column, section.number("alpha"), at_least_two(section, "k"))

    @property
    def smallest_size(self) -> int:
        """k, or more if alpha asks for more values."""
        return max(self.k, self.smallest_distinct)

    @property
    def smallest_distinct(self) -> int:
        """1 / alpha, rounded up."""
        return math.ceil(1 / self.alpha)

    def holds(self, grouped: Grouped) -> NDArray[np.bool_]:
        """Classes that are large enough and without a value that is too frequent."""
        counted = self.histogram(grouped)
        most = per_class(np.maximum, counted.counts, counted.edges).astype(np.int64)
        mixed = at_most(most, grouped.sizes, self.alpha)
        return or_empty(mixed & (grouped.sizes >= self.k), grouped)

    @property
    def words(self) -> Words:
        """What the model asks for."""
        return ALPHA_ANONYMITY.format(alpha=show_fraction(self.alpha), k=self.k, column=repr(self.column))


@dataclass(frozen=True)
class BetaLikeness(SensitiveModel, PlannedModel):
    """No sensitive value is more than 1 + beta times as frequent in a class as in the whole table (Cao and Karras, 2012).

    Args:
        column: the sensitive one.
        beta: above 0.
        enhanced: whether a value of share p in the whole table may grow by at most -log p of it as well, which keeps frequent
            values from becoming certain.
    """

    column: str
    beta: Fraction
    enhanced: bool = False
    compares_with_table = True
    plan_name = record_name = "beta-likeness"
    plan_keys = ("column", "beta", "enhanced")
    record_fields = MappingProxyType({"column": text_of, "beta": fraction_of, "enhanced": flag_of})

    def __init__(self, column: str, beta: Rational, *, enhanced: bool = False) -> None:
        check_arguments(BetaLikeness.__init__, locals(), "enhanced")
        exact = exact_fraction(beta, "beta", "BetaLikeness", Words("a number above 0", "0 より大きい数"))
        if exact <= 0:
            raise ParameterError("beta", "BetaLikeness", Words("a number above 0", "0 より大きい数"), shown(beta))
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "beta", exact)
        object.__setattr__(self, "enhanced", bool(enhanced))

    @classmethod
    def from_plan(cls, section: Section, columns: ModelColumns) -> Self:
        """With ``beta``; ``enhanced`` may be left out."""
        column = sensitive_column(section, columns)
        return cls(column, section.number("beta"), enhanced=section.flag("enhanced", False))

    def holds(self, grouped: Grouped) -> NDArray[np.bool_]:
        """Classes in which no value is too frequent."""
        counted = self.histogram(grouped)
        here, there = relative_parts(counted)
        fine = at_most(here, there, 1 + self.beta)
        if self.enhanced:
            growth = here / np.maximum(there, 1) - 1
            most = -np.log(counted.totals[counted.values] / max(int(counted.totals.sum()), 1))
            fine &= (growth <= most - ROUNDING * np.maximum(most, 1)) | (here <= there)
        return or_empty(per_class(np.add, (~fine).astype(np.int64), counted.edges) == 0, grouped)

    @property
    def words(self) -> Words:
        """What the model asks for."""
        return BETA_LIKENESS.format(
            kind=KINDS_OF_LIKENESS[self.enhanced],
            beta=show_fraction(self.beta),
            most=show_fraction(1 + self.beta),
            column=repr(self.column),
        )


@dataclass(frozen=True)
class DeltaDisclosure(SensitiveModel, PlannedModel):
    """The share of each sensitive value in a class is within a factor of exp(delta) of that in the table (Brickell, Shmatikov).

    Args:
        column: the sensitive one.
        delta: above 0.
        absent: whether values that do not occur in a class count, as in the definition: then each class needs every value. If
            not, as in some programs, nothing is known of coarser tables.
    """

    column: str
    delta: Fraction
    absent: bool = True
    compares_with_table = True
    plan_name = record_name = "delta-disclosure"
    plan_keys = ("column", "delta")
    record_fields = MappingProxyType({"column": text_of, "delta": fraction_of, "absent": flag_of})

    def __init__(self, column: str, delta: Rational, *, absent: bool = True) -> None:
        check_arguments(DeltaDisclosure.__init__, locals(), "absent")
        exact = exact_fraction(delta, "delta", "DeltaDisclosure", Words("a number above 0", "0 より大きい数"))
        if exact <= 0:
            raise ParameterError("delta", "DeltaDisclosure", Words("a number above 0", "0 より大きい数"), shown(delta))
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "delta", exact)
        object.__setattr__(self, "absent", bool(absent))
        object.__setattr__(self, "is_monotonic", bool(absent))

    @classmethod
    def from_plan(cls, section: Section, columns: ModelColumns) -> Self:
        """With ``delta``."""
        column = sensitive_column(section, columns)
        return cls(column, section.number("delta"))

    def holds(self, grouped: Grouped) -> NDArray[np.bool_]:
        """Classes in which no share differs too much."""
        counted = self.histogram(grouped)
        here, there = relative_parts(counted)
        factor = np.abs(np.log(here) - np.log(there))
        limit = float(self.delta)
        far = factor >= limit - ROUNDING * max(1.0, limit)
        fine = per_class(np.add, far.astype(np.int64), counted.edges) == 0
        if self.absent:
            fine &= np.diff(counted.edges) == np.count_nonzero(counted.totals)
        return or_empty(fine, grouped)

    @property
    def words(self) -> Words:
        """What the model asks for."""
        return DELTA_DISCLOSURE.format(delta=show_fraction(self.delta), column=repr(self.column))


def relative_parts(counted: ValueHistogram) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each entry, two whole numbers whose quotient is (share in the class) / (share in the table)."""
    rows = per_class(np.add, counted.counts, counted.edges).astype(np.int64)
    table = int(counted.totals.sum())
    return counted.counts * table, counted.totals[counted.values] * np.repeat(rows, np.diff(counted.edges))
