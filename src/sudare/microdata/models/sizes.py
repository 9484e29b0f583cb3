"""Models that count rows only: k-anonymity, k-map and presence.

What they protect: that nobody is singled out by the quasi-identifiers alone. What they do not: a class whose people all have
the same illness gives it away, and so does knowledge of other columns. They are not differential privacy.
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
from sudare.microdata.grouping import Grouped
from sudare.microdata.models.model import at_most, or_empty
from sudare.microdata.models.planned_model import ModelColumns, PlannedModel, at_least_two
from sudare.microdata.models.record_fields import flag_of, fraction_of, whole_of
from sudare.parameters import Rational, exact_fraction, exact_integer, show_fraction, shown
from sudare.sections import Section

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["KAnonymity", "KMap", "Presence", "estimated_k_map"]

TWO_OR_MORE = Words("a whole number of at least 2", "2 以上の整数")

K_ANONYMITY = Words(
    "{k}-anonymity: at least {k} records share each published combination of quasi-identifiers",
    "{k}-匿名性: 公開される準識別子の組はどれも {k} 件以上のレコードに共通します",
)
K_MAP = Words(
    "{k}-map: at least {k} records of the population share each published combination",
    "{k}-マップ: 公開される準識別子の組はどれも母集団の {k} 件以上に共通します",
)
PRESENCE = Words(
    "({low}, {high})-presence: of each class of the population, {low} to {high} of the records are published",
    "({low}, {high})-存在性: 母集団の各クラスのうち公開される割合は {low} 以上 {high} 以下です",
)


@dataclass(frozen=True)
class KAnonymity(PlannedModel):
    """Each row looks like at least k - 1 others (Samarati and Sweeney).

    Classes only grow when values become coarser, so a row that is safe stays so.

    Args:
        k: rows that a class needs at least, 2 or more.

    Example:
        >>> from sudare.microdata.models import KAnonymity
        >>> KAnonymity(5).describe()
        '5-anonymity: at least 5 records share each published combination of quasi-identifiers'
    """

    k: int
    is_monotonic_with_suppression = True
    plan_name = record_name = "k-anonymity"
    plan_keys = ("k",)
    record_fields = MappingProxyType({"k": whole_of})

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", exact_integer(self.k, "k", "KAnonymity", TWO_OR_MORE, smallest=2))

    @classmethod
    def from_plan(cls, section: Section, columns: ModelColumns) -> Self:
        """With ``k``."""
        return cls(at_least_two(section, "k"))

    @property
    def candidates(self) -> int:
        """As many as look alike."""
        return self.k

    @property
    def smallest_size(self) -> int:
        """As many as asked for."""
        return self.k

    def holds(self, grouped: Grouped) -> NDArray[np.bool_]:
        """Classes of at least k rows."""
        return or_empty(grouped.sizes >= self.k, grouped)

    @property
    def words(self) -> Words:
        """What the model asks for."""
        return K_ANONYMITY.format(k=self.k)


@dataclass(frozen=True)
class KMap(PlannedModel):
    """Each row looks like at least k rows of the population around the published rows (Sweeney).

    Args:
        k: rows of the population that a class needs at least, 2 or more.
    """

    k: int
    is_monotonic_with_suppression = True
    needs_population = True
    plan_name = record_name = "k-map"
    plan_keys = ("k",)
    record_fields = MappingProxyType({"k": whole_of})

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", exact_integer(self.k, "k", "KMap", TWO_OR_MORE, smallest=2))

    @classmethod
    def from_plan(cls, section: Section, columns: ModelColumns) -> Self:
        """With ``k``."""
        return cls(at_least_two(section, "k"))

    def holds(self, grouped: Grouped) -> NDArray[np.bool_]:
        """Classes with at least k rows of the population."""
        return or_empty(grouped.population >= self.k, grouped)

    def needed(self, grouped: Grouped) -> NDArray[np.bool_]:
        """The same: classes only grow when values become coarser."""
        return self.holds(grouped)

    @property
    def words(self) -> Words:
        """What the model asks for."""
        return K_MAP.format(k=self.k)


def estimated_k_map(k: int, fraction: Rational, error: Rational, *, truncated: bool = False) -> KAnonymity:
    """k-map where the population is not at hand: k'-anonymity with a k' that follows from the fraction that was sampled.

    If a class had fewer than k people in the population, and each was sampled with a probability equal to the fraction, then
    the sample would have k' or more of them with a probability below the error only: the number is about Poisson distributed
    with mean k x fraction (Pannekoek; El Emam and Dankar, 2008).

    Args:
        k: people of the population that a class needs.
        fraction: of the population that is in the table, above 0 and at most 1.
        error: probability, above 0 and below 1.
        truncated: whether classes that are not in the sample at all are left out of account (zero-truncated Poisson).

    Example:
        >>> from sudare.microdata.models import estimated_k_map
        >>> estimated_k_map(1000, 0.0001, 0.01, truncated=True).k
        3
    """
    check_arguments(estimated_k_map, locals(), "truncated")
    share = exact_fraction(
        fraction, "fraction", "estimated_k_map", Words("a number above 0 and at most 1", "0 より大きく 1 以下の数")
    )
    level = exact_fraction(
        error, "error", "estimated_k_map", Words("a number above 0 and below 1", "0 より大きく 1 より小さい数")
    )
    if not 0 < share <= 1:
        raise ParameterError(
            "fraction",
            "estimated_k_map",
            Words("a number above 0 and at most 1", "0 より大きく 1 以下の数"),
            shown(fraction),
        )
    if not 0 < level < 1:
        raise ParameterError(
            "error",
            "estimated_k_map",
            Words("a number above 0 and below 1", "0 より大きく 1 より小さい数"),
            shown(error),
        )
    people = KMap(k).k
    mean = float(people * share)
    term = math.exp(-mean)
    total, rows = (0.0, 0) if truncated else (term, 0)
    whole = 1 - math.exp(-mean) if truncated else 1.0
    while total < (1 - level) * whole and rows < people:
        rows += 1
        term *= mean / rows
        total += term
    return KAnonymity(max(2, min(people, rows + 1)))


@dataclass(frozen=True)
class Presence(PlannedModel):
    """Of each class of the population, the share that is published lies within bounds (Nergiz, Atzori and Clifton).

    So knowing that somebody is in the population tells little about whether the person is in the published table. Classes of
    the population without a published row count as well: nothing can be suppressed there, so where they fail, the whole choice
    of levels does. A class that is suppressed is published to a share of 0: with a smallest share above 0 nothing at all can be
    suppressed, for whatever model. Without suppression a coarser table keeps the bounds, because the share of two classes
    together lies between their own.

    Args:
        smallest: share, from 0 to 1.
        largest: share, from the smallest to 1.
        absent: whether classes of the population without a published row count, as in the definition. Some programs leave them
            out; then the bounds hold for classes that are published, and suppression tells who is absent.
    """

    smallest: Fraction
    largest: Fraction
    absent: bool = True
    needs_population = True
    plan_name = record_name = "presence"
    plan_keys = ("smallest", "largest")
    record_fields = MappingProxyType({"smallest": fraction_of, "largest": fraction_of, "absent": flag_of})

    def __init__(self, smallest: Rational, largest: Rational, *, absent: bool = True) -> None:
        check_arguments(Presence.__init__, locals(), "absent")
        low = exact_fraction(smallest, "smallest", "Presence", Words("a share from 0 to 1", "0 以上 1 以下の割合"))
        high = exact_fraction(
            largest, "largest", "Presence", Words("a share from the smallest one to 1", "最小の割合以上 1 以下の割合")
        )
        if not 0 <= low <= 1:
            raise ParameterError(
                "smallest", "Presence", Words("a share from 0 to 1", "0 以上 1 以下の割合"), shown(smallest)
            )
        if not low <= high <= 1:
            raise ParameterError(
                "largest",
                "Presence",
                Words("a share from the smallest one to 1", "最小の割合以上 1 以下の割合"),
                shown(largest),
            )
        object.__setattr__(self, "smallest", low)
        object.__setattr__(self, "largest", high)
        object.__setattr__(self, "absent", bool(absent))
        object.__setattr__(self, "is_monotonic", bool(absent))
        object.__setattr__(self, "needs_every_class", bool(absent) and low > 0)

    @classmethod
    def from_plan(cls, section: Section, columns: ModelColumns) -> Self:
        """With ``smallest`` and ``largest``."""
        return cls(section.number("smallest"), section.number("largest"))

    def holds(self, grouped: Grouped) -> NDArray[np.bool_]:
        """Classes whose published share lies within the bounds; also those with no row to publish are judged."""
        upper = at_most(grouped.sizes, grouped.population, self.largest)
        lower = at_most(grouped.population - grouped.sizes, grouped.population, 1 - self.smallest)
        return upper & lower if self.absent else or_empty(upper & lower, grouped)

    @property
    def words(self) -> Words:
        """What the model asks for."""
        return PRESENCE.format(low=show_fraction(self.smallest), high=show_fraction(self.largest))
