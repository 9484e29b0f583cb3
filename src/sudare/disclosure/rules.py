"""Which cells of a table must not be published, and how uncertain an attacker must remain about them.

Each rule names the cells that it finds unsafe and their protection levels, computed exactly: a percentage is a fraction,
a magnitude a whole number of units. The formulas, and what they protect against, are in ``rules.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from sudare.attacks.refusals import ToldParameterError, required
from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.disclosure.status import CellJudgement, CellStatus, PrimaryCells
from sudare.disclosure.structure import CellTable, TableSystem
from sudare.errors import InputError, ParameterError
from sudare.parameters import Rational, exact_fraction, exact_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Exact = NDArray[Any]
    """Python integers in an array: products of magnitudes, weights and percentages need more than 64 bits."""

__all__ = [
    "Dominance",
    "MinimumFrequency",
    "PPercent",
    "PriorPosterior",
    "Request",
    "Rule",
    "ZeroCells",
    "cells_with_code",
    "primary_cells",
    "strictest",
]

MAX_CONTRIBUTORS = 100

MAX_LEVEL = 2**60
"""Levels beyond are of no use: no table holds such values."""

STRICTNESS = (
    CellStatus.UNSAFE_RULE,
    CellStatus.UNSAFE_REQUEST,
    CellStatus.UNSAFE_FREQUENCY,
    CellStatus.UNSAFE_ZERO,
    CellStatus.UNSAFE_SINGLETON,
    CellStatus.UNSAFE_SINGLETON_MANUAL,
    CellStatus.UNSAFE_MANUAL,
    CellStatus.SECONDARY_MANUAL,
    CellStatus.SECONDARY,
    CellStatus.PROTECTED,
    CellStatus.SAFE_MANUAL,
    CellStatus.SAFE,
    CellStatus.ZERO,
    CellStatus.EMPTY,
)
"""Of two judgements of a cell, the one that comes first here holds."""


class Rule(Protocol):
    """A rule for unsafe cells."""

    @property
    def status(self) -> CellStatus:
        """What a cell becomes that this rule finds unsafe."""
        ...

    @property
    def largest_needed(self) -> int:
        """How many of the largest contributions of each cell the rule looks at."""
        ...

    def assess(self, table: CellTable) -> tuple[Flags, Exact]:
        """Which cells are unsafe, and their protection levels in units of the table; cells without contributors are safe."""
        ...


@dataclass(frozen=True)
class MinimumFrequency:
    """A cell needs a minimum number of contributors.

    With sampling weights, the sum of the weights is compared, as tau-ARGUS does.

    Args:
        minimum: cells with fewer contributors are unsafe, but not empty ones.
        range_percent: the protection level, in percent of the cell's value; at least one unit.

    Example:
        >>> MinimumFrequency(3).largest_needed
        0
    """

    minimum: int
    range_percent: Rational = 10
    status: ClassVar[CellStatus] = CellStatus.UNSAFE_FREQUENCY
    largest_needed: ClassVar[int] = 0

    def __post_init__(self) -> None:
        _whole(self.minimum, "minimum", "MinimumFrequency")
        _percent(self.range_percent, "range_percent", "MinimumFrequency", largest=None)

    def assess(self, table: CellTable) -> tuple[Flags, Exact]:
        """Which cells are unsafe, and their protection levels."""
        if table.weighted_counts is None:
            few = table.counts < self.minimum
        else:
            few = table.weighted_counts < self.minimum * 10**table.weight_decimals
        return few & ~table.empty, _share(table.values, self.range_percent, "MinimumFrequency")


@dataclass(frozen=True)
class Dominance:
    """The n, k % rule: unsafe if the n largest contributions make up more than k % of the total.

    Args:
        n: how many contributors.
        k: percentage, more than 0 and at most 100.

    Example:
        >>> Dominance(n=2, k=75).largest_needed
        2
    """

    n: int
    k: Rational
    status: ClassVar[CellStatus] = CellStatus.UNSAFE_RULE

    def __post_init__(self) -> None:
        _whole(self.n, "n", "Dominance")
        _positive_percent(self.k, "k", "Dominance")

    @property
    def largest_needed(self) -> int:
        """How many of the largest contributions the rule looks at."""
        return self.n

    def assess(self, table: CellTable) -> tuple[Flags, Exact]:
        """Which cells are unsafe, and their protection levels."""
        limit = _percent(self.k, "k", "Dominance")
        weight_unit = _weight_unit(table)
        # Unsafe if largest / weight_unit > limit * value; the level is largest / (weight_unit * limit) - value.
        excess = _largest_sum(table, self.n) * limit.denominator - _exact(table.values) * (
            limit.numerator * weight_unit
        )
        unsafe = (excess > 0).astype(np.bool_) & ~table.empty
        return unsafe, _rounded_up(excess, limit.numerator * weight_unit)


@dataclass(frozen=True)
class PriorPosterior:
    """The p-q rule: unsafe if someone who knew all others within q % can work out the largest contribution within p %.

    A coalition of the next n largest contributors subtracts what it knows of itself from the total.

    Args:
        p: how close is too close, in percent of the largest contribution.
        q: how well everybody can guess everybody's contribution beforehand, in percent; more than p.
        n: contributors in the coalition.

    Example:
        >>> PriorPosterior(p=60, q=80).largest_needed
        2
    """

    p: Rational
    q: Rational
    n: int = 1
    status: ClassVar[CellStatus] = CellStatus.UNSAFE_RULE

    def __post_init__(self) -> None:
        _whole(self.n, "n", "PriorPosterior")
        near, prior = (_percent(value, name, "PriorPosterior", None) for value, name in ((self.p, "p"), (self.q, "q")))
        if not 0 < near < prior:
            wanted = Words("more than 0 and less than q", "0 より大きく q より小さい数")
            raise ToldParameterError("p", "PriorPosterior", wanted, self.p)

    @property
    def largest_needed(self) -> int:
        """How many of the largest contributions the rule looks at."""
        return self.n + 1

    def assess(self, table: CellTable) -> tuple[Flags, Exact]:
        """Which cells are unsafe, and their protection levels."""
        ratio = _percent(self.p, "p", "PriorPosterior", None) / _percent(self.q, "q", "PriorPosterior", None)
        return _posterior(table, ratio, self.n)


@dataclass(frozen=True)
class PPercent:
    """The p % rule: unsafe if a contributor can work out the largest contribution of another within p %.

    It is the p-q rule of an attacker who knows nothing beforehand, q = 100.

    Args:
        p: how close is too close, in percent of the largest contribution.
        n: contributors in the coalition.

    Example:
        >>> PPercent(15)
        PPercent(p=15, n=1)
    """

    p: Rational
    n: int = 1
    status: ClassVar[CellStatus] = CellStatus.UNSAFE_RULE

    def __post_init__(self) -> None:
        _whole(self.n, "n", "PPercent")
        _positive_percent(self.p, "p", "PPercent")

    @property
    def largest_needed(self) -> int:
        """How many of the largest contributions the rule looks at."""
        return self.n + 1

    def assess(self, table: CellTable) -> tuple[Flags, Exact]:
        """Which cells are unsafe, and their protection levels."""
        return _posterior(table, _percent(self.p, "p", "PPercent"), self.n)


@dataclass(frozen=True)
class ZeroCells:
    """A cell of value 0 that has contributors says of each of them that it contributes nothing: unsafe.

    Args:
        level: the protection level, in units of the table.
    """

    level: int = 1
    status: ClassVar[CellStatus] = CellStatus.UNSAFE_ZERO
    largest_needed: ClassVar[int] = 0

    def __post_init__(self) -> None:
        _whole(self.level, "level", "ZeroCells", largest=2**62)

    def assess(self, table: CellTable) -> tuple[Flags, Exact]:
        """Which cells are unsafe, and their protection levels."""
        return (table.values == 0) & ~table.empty, _exact(np.full(table.system.size, self.level, dtype=np.int64))


@dataclass(frozen=True)
class Request:
    """A contributor who asked for it is protected where it is the largest one and more than a percentage of the cell.

    Args:
        percent: of the cell's value.
        range_percent: the protection level, in percent of the cell's value.
    """

    percent: Rational = 70
    range_percent: Rational = 10
    status: ClassVar[CellStatus] = CellStatus.UNSAFE_REQUEST
    largest_needed: ClassVar[int] = 1

    def __post_init__(self) -> None:
        _percent(self.percent, "percent", "Request")
        _percent(self.range_percent, "range_percent", "Request", largest=None)

    def assess(self, table: CellTable) -> tuple[Flags, Exact]:
        """Which cells are unsafe, and their protection levels."""
        if table.requests is None:
            raise InputError(
                "The request rule needs to know who asked for protection. Give the column of requests.",
                "要請規則には、保護を求めたレコードの列が必要です。要請の列を指定してください。",
            )
        limit = _percent(self.percent, "percent", "Request")
        excess = _exact(table.largest[:, 0]) * limit.denominator - _exact(table.values) * limit.numerator
        unsafe = table.requests[:, 0] & (excess > 0).astype(np.bool_) & ~table.empty
        return unsafe, _share(table.values, self.range_percent, "Request")


def primary_cells(table: CellTable, rules: Sequence[Rule], *, safe: Flags | None = None) -> PrimaryCells:
    """Apply rules to a table.

    A cell that several rules find unsafe gets the status that tau-ARGUS would give it, and the largest of their protection
    levels. The lower level is the same, but never reaches below what everybody knows: 0, and for counts `CellTable.least`,
    since empty cells are published.

    Args:
        table: with enough of the largest contributions for the rules.
        rules: any of this module's; at least one.
        safe: cells that are never unsafe, such as those of a missing code; see `cells_with_code`.

    Raises:
        InputError: if the table holds negative magnitudes, or too few of the largest contributions.

    Example:
        >>> from sudare.disclosure.cell_table import Contributions, aggregate
        >>> from sudare.disclosure.structure import Dimension
        >>> trade = Dimension.flat("trade", ["mines", "shops"])
        >>> codes = {"trade": ["mines", "mines", "shops", "shops", "shops"]}
        >>> table = aggregate([trade], codes, Contributions(np.array([95, 5, 40, 50, 30])))
        >>> cells = primary_cells(table, [PPercent(15), MinimumFrequency(2)])
        >>> cells.status.tolist(), cells.upper.tolist()
        ([1, 3, 1], [0, 15, 0])
    """
    check_arguments(primary_cells, locals(), "table", "rules", "safe")
    if not rules:
        raise ParameterError("rules", "primary_cells", Words("one rule or more", "1 個以上の規則"), rules)
    if (table.largest < 0).any() or (table.values < 0).any():
        raise InputError(
            "The table holds negative magnitudes. The rules are for magnitudes from 0 on.",
            "表に負の数量があります。規則は 0 以上の数量のためのものです。",
        )
    needed = max(rule.largest_needed for rule in rules)
    if needed > table.known_width:
        raise InputError(
            f"The rules look at the {needed} largest contributions of each cell, and the table holds fewer. "
            f"Make the table with largest={needed}, or give so many columns of largest contributions (<MAXSCORE>).",
            f"規則には各セルの上位 {needed} 件の寄与が必要です。"
            f"表を largest={needed} で作るか、上位の寄与の列 (<MAXSCORE>) を {needed} 本与えてください。",
        )
    size = table.system.size
    status = np.where(table.empty, CellStatus.EMPTY, CellStatus.SAFE).astype(np.int64)
    levels = _exact(np.zeros(size, dtype=np.int64))
    never = np.zeros(size, dtype=np.bool_) if safe is None else safe
    for rule in sorted(rules, key=lambda one: -one.status):  # the smallest number is written last, and stays
        unsafe, level = rule.assess(table)
        unsafe = unsafe & ~never
        status[unsafe] = rule.status
        levels[unsafe] = np.maximum(levels[unsafe], np.maximum(level[unsafe], 1))
    if size and max(levels.tolist()) > MAX_LEVEL:
        raise InputError(
            "A rule asks for protection levels too large to be computed. Take a larger k, or smaller percentages.",
            "規則の求める保護水準が大きすぎて計算できません。k を大きくするか、百分率を小さくしてください。",
        )
    upper = levels.astype(np.int64)
    lower = np.minimum(upper, np.maximum(table.values - table.least, 0))
    return PrimaryCells(
        status, lower, upper, np.zeros(size, dtype=np.int64), (CellJudgement(table, tuple(rules), safe),)
    )


def strictest(*results: PrimaryCells) -> PrimaryCells:
    """Several judgements of the same cells as one: unsafe if any says so, with the largest levels.

    This is how rules for records and rules for holdings are used together.

    Args:
        *results: of the same cells.

    Example:
        >>> one = PrimaryCells(np.array([1, 5]), np.array([0, 2]), np.array([0, 2]), np.array([0, 0]))
        >>> two = PrimaryCells(np.array([1, 3]), np.array([0, 1]), np.array([0, 4]), np.array([0, 0]))
        >>> both = strictest(one, two)
        >>> both.status.tolist(), both.lower.tolist(), both.upper.tolist()
        ([1, 3], [0, 2], [0, 4])
    """
    if not results or len({one.status.shape for one in results}) != 1:
        raise ParameterError("results", "strictest", "judgements of the same cells", results)
    ranks = np.zeros(max(CellStatus) + 1, dtype=np.int64)
    ranks[list(STRICTNESS)] = np.arange(len(STRICTNESS))
    first = np.minimum.reduce([ranks[one.status] for one in results])
    return PrimaryCells(
        np.array(STRICTNESS, dtype=np.int64)[first],
        np.maximum.reduce([one.lower for one in results]),
        np.maximum.reduce([one.upper for one in results]),
        np.maximum.reduce([one.sliding for one in results]),
        tuple(judgement for one in results for judgement in one.judgements),
    )


def cells_with_code(system: TableSystem, dimension: str, codes: Iterable[str]) -> Flags:
    """Which cells are about certain codes, such as the missing ones: ``primary_cells(..., safe=...)``.

    Args:
        system: the cells.
        dimension: name of the dimension.
        codes: of the dimension.

    Example:
        >>> from sudare.disclosure.structure import Dimension
        >>> system = TableSystem.of_dimensions([Dimension.flat("act", ["01", "00"])])
        >>> cells_with_code(system, "act", ["00"]).tolist()
        [False, False, True]
    """
    check_arguments(cells_with_code, locals(), "system", "dimension", "codes")
    wanted = {(dimension, code) for code in codes}
    return np.array([any(pair in wanted for pair in name) for name in system.names], dtype=np.bool_)


def _whole(value: object, name: str, function: str, largest: int = MAX_CONTRIBUTORS) -> int:
    with required(Words(f"a whole number from 1 to {largest}", f"1 から {largest} までの整数")):
        return exact_integer(
            value,
            name,
            function,
            Words(f"a whole number from 1 to {largest}", f"1 以上 {largest} 以下の整数"),
            smallest=1,
            largest=largest,
        )


def _percent(value: object, name: str, function: str, largest: int | None = 100) -> Fraction:
    """A percentage as a fraction of one."""
    wanted = Words("a percentage from 0 on", "0 以上の百分率")
    if largest is not None:
        wanted = Words(f"a percentage from 0 to {largest}", f"0 から {largest} までの百分率")
    with required(wanted):
        number = exact_fraction(value, name, function, wanted.english)
        if number < 0 or (largest is not None and number > largest):
            raise ParameterError(name, function, wanted, value)
    return number / 100


def _positive_percent(value: object, name: str, function: str) -> None:
    if _percent(value, name, function) == 0:
        raise ToldParameterError(name, function, Words("more than 0", "0 より大きい数"), value)


def _exact(array: NDArray[np.int64]) -> Exact:
    return array.astype(object)


def _weight_unit(table: CellTable) -> int:
    return 1 if table.weights is None else 10**table.weight_decimals


def _largest_sum(table: CellTable, n: int) -> Exact:
    """The n largest contributions together, times the unit of the weights.

    A sampled contributor of weight w stands for w contributors of the same size, of which at most n are counted. With weights
    below 1, more than n of the sampled ones are needed.
    """
    if table.weights is None:
        together: Exact = _exact(table.largest[:, :n]).sum(axis=1)
        return together
    total = _exact(np.zeros(table.system.size, dtype=np.int64))
    left = np.full(table.system.size, n * _weight_unit(table), dtype=np.int64)
    for rank in range(table.known_width):
        taken = np.minimum(table.weights[:, rank], left)
        total = total + _exact(table.largest[:, rank]) * _exact(taken)
        left = left - taken
    if ((left > 0) & (table.counts > table.known_width)).any():
        raise InputError(
            f"Some weights are so small that the {table.known_width} largest contributions of a cell do not make up the "
            f"{n} that a rule looks at. Make the table with a larger `largest`.",
            f"ウェイトが小さく、セルの上位 {table.known_width} 件の寄与では規則に必要な {n} 件分に足りません。"
            "表をより大きな largest で作ってください。",
        )
    return total


def _posterior(table: CellTable, ratio: Fraction, n: int) -> tuple[Flags, Exact]:
    """Unsafe if ratio * x1 > value - (x1 + ... + x_{n+1}); the level is the difference."""
    weight_unit = _weight_unit(table)
    known = _largest_sum(table, n + 1) - _exact(table.values) * weight_unit
    excess = _exact(table.largest[:, 0]) * (ratio.numerator * weight_unit) + known * ratio.denominator
    unsafe = (excess > 0).astype(np.bool_) & ~table.empty
    return unsafe, _rounded_up(excess, ratio.denominator * weight_unit)


def _rounded_up(numerators: Exact, denominator: int) -> Exact:
    quotients: Exact = -(-numerators // denominator)
    return quotients


def _share(values: NDArray[np.int64], percent: object, function: str) -> Exact:
    share = _percent(percent, "range_percent", function, None)
    return _rounded_up(_exact(values) * share.numerator, share.denominator)
