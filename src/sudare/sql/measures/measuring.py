"""Measures of one SELECT: sums over rows or over units, each with its sensitivity and the reason for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor

from sqlglot import exp

from sudare.bilingual import Words
from sudare.privacy.unit import Adjacency, Sensitivity
from sudare.sql.expressions.expressions import bounded, examine, on_grid
from sudare.sql.expressions.facts import Examined, Facts
from sudare.sql.expressions.formulas import (
    as_text,
    clipped,
    decimal_literal,
    decimal_type,
    filtered,
)
from sudare.sql.frontend.copies import copied
from sudare.sql.frontend.refusals import refuse
from sudare.sql.measures.measures import (
    Change,
    QuantileMeasure,
    SumMeasure,
    coarsened,
    sensitivity_of_rows,
    sensitivity_of_units,
)
from sudare.sql.relations.elastic import Growth
from sudare.sql.relations.filtering import require_condition
from sudare.sql.relations.inner_aggregates import number_bounds, scale_of
from sudare.sql.relations.interpretation import Core, Reader

__all__ = ["Limits", "Measures"]

DIGITS_OF_PRODUCTS = 12
"""Digits of a factor where products are summed: a product then has 24, and 10**14 of them fit."""
WIDTH_OF_FACTORS = 19
"""Digits of a factor's type: DuckDB keeps products of narrower decimals in 18 digits, and fails where they need more."""


@dataclass(frozen=True)
class Limits:
    """How contributions are bounded in one measured table.

    Attributes:
        rows: how many rows one unit can change; None if there is no limit.
        groups: in how many groups one unit counts; None where rows are summed.
        grouped: whether there are groups.
        groups_of_unit: in how many groups the rows of one unit can be at all; None if in any number.
        adjacency: of the unit.
        growth: how many rows one unit can change at each distance from the data as they are, where nothing else limits them.
    """

    rows: int | None
    groups: int | None
    grouped: bool
    groups_of_unit: int | None
    adjacency: Adjacency
    growth: Growth | None = None


@dataclass
class Measures:
    """Collects what is measured for one SELECT.

    Attributes:
        reader: of the query.
        core: FROM and WHERE of the SELECT.
        limits: on contributions.
        sums: what is summed, in order.
        quantiles: what is chosen.
        changes: in which ways answers mean something else.
    """

    reader: Reader
    core: Core
    limits: Limits
    sums: list[SumMeasure] = field(default_factory=list)
    quantiles: list[QuantileMeasure] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    _plain_sums: set[exp.Expr] = field(default_factory=set)
    _seen: dict[exp.Expr, Examined] = field(default_factory=dict)
    _gridded: dict[tuple[int, int], exp.Expr] = field(default_factory=dict)

    def _rows(
        self,
        what: str,
        condition: exp.Expr | None,
        present: exp.Expr | None = None,
        bounds: tuple[object, object] | None = None,
    ) -> str:
        tree = filtered(exp.Count(this=exp.Star() if present is None else copied(present)), condition)
        is_row_count = condition is None and present is None
        if self.limits.groups is not None:
            low, high = self._unit_bounds(bounds, Fraction(0), Fraction(1), 0, what)
            return self._add_clipped(what, tree, low, high, 0, is_row_count=is_row_count)
        if self.limits.growth is not None:
            return self._add_elastic(what, tree, self.limits.growth, (0, 1), 0, is_row_count=is_row_count)
        rows = self._require_rows(None)
        change = sensitivity_of_rows(rows, 0, 1, grouped=self.limits.grouped, adjacency=self.limits.adjacency)
        reason = Words(f"one unit can change {rows} rows", f"1 単位が変えるのは {rows} 行")
        return self._add(what, tree, None, 0, change, reason, is_row_count=is_row_count)

    def _total(
        self,
        what: str,
        seen: Examined,
        condition: exp.Expr | None,
        *,
        centre: Fraction = Fraction(0),
        scale: int | None = None,
        bounds: tuple[object, object] | None = None,
    ) -> str:
        digits = self._scale_for(seen) if scale is None else scale
        value = self._on_grid(seen, digits)
        if centre:
            value = exp.Sub(this=value, expression=decimal_literal(centre, digits))
        low, high = (bound - centre for bound in number_bounds(seen.facts))
        tree = filtered(exp.Sum(this=value), condition)
        lowest, highest = floor(low * 10**digits), ceil(high * 10**digits)
        if self.limits.groups is not None:
            one, two = self._unit_bounds(bounds, low, high, digits, what)
            return self._add_clipped(what, tree, one, two, digits)
        if self.limits.growth is not None:
            return self._add_elastic(what, tree, self.limits.growth, (lowest, highest), digits)
        rows = self._require_rows(None)
        change = sensitivity_of_rows(
            rows, lowest, highest, grouped=self.limits.grouped, adjacency=self.limits.adjacency
        )
        largest = as_text(Fraction(max(abs(lowest), abs(highest)), 10**digits))
        reason = Words(
            f"one unit can change {rows} rows, each of which adds {largest} at most, up or down",
            f"1 単位が変えるのは {rows} 行で、各行が加えるのは絶対値で最大 {largest}",
        )
        return self._add(what, tree, None, digits, change, reason)

    def _products(
        self,
        what: str,
        first: tuple[Examined, Fraction, int],
        second: tuple[Examined, Fraction, int],
        condition: exp.Expr | None,
    ) -> str:
        factors, spans = [], []
        for seen, centre, scale in (first, second):
            value = self._on_grid(seen, scale)
            shifted = exp.Sub(this=value, expression=decimal_literal(centre, scale))
            factors.append(exp.cast(shifted, exp.DataType.build(f"decimal({WIDTH_OF_FACTORS}, {scale})"), copy=False))
            low, high = (bound - centre for bound in number_bounds(seen.facts))
            spans.append((floor(low * 10**scale), ceil(high * 10**scale)))
        digits = first[2] + second[2]
        ends = [one * two for one in spans[0] for two in spans[1]]
        least, most = 0 if first[0] is second[0] else min(ends), max(ends)
        tree = filtered(exp.Sum(this=exp.Mul(this=factors[0], expression=factors[1])), condition)
        if self.limits.groups is not None:
            one, two = self._unit_bounds(None, Fraction(least, 10**digits), Fraction(most, 10**digits), digits, what)
            return self._add_clipped(what, tree, one, two, digits)
        rows = self._require_rows(None)
        change = sensitivity_of_rows(rows, least, most, grouped=self.limits.grouped, adjacency=self.limits.adjacency)
        reason = Words(
            f"one unit can change {rows} rows, each of which adds a product of bounded numbers",
            f"1 単位が変えるのは {rows} 行で、各行が加えるのは範囲の決まった数の積",
        )
        return self._add(what, tree, None, digits, change, reason)

    def _unit_bounds(
        self, given: tuple[object, object] | None, low: Fraction, high: Fraction, scale: int, what: str
    ) -> tuple[int, int]:
        """What one unit may add to one group, in whole numbers of the grid: as the query says, or as its rows allow."""
        if given is not None:
            one, two = (Fraction(str(bound)) for bound in given)
        elif self.limits.rows is not None:
            one, two = min(low, Fraction(0)) * self.limits.rows, max(high, Fraction(0)) * self.limits.rows
        else:
            refuse(
                None,
                "no-contribution-bounds",
                f"Nothing limits what one unit adds to {what:.60}: write contribution_bounds_per_group => (low, high) in it, or "
                "state max_rows for the tables in the metadata.",
                f"{what:.60} に一単位が加える量の上限がありません。contribution_bounds_per_group => (下限, 上限) を書くか、"
                "メタデータで表の max_rows を指定してください。",
            )
        return floor(one * 10**scale), ceil(two * 10**scale)

    def _add_clipped(
        self, what: str, inner: exp.Expr, low: int, high: int, scale: int, *, is_row_count: bool = False
    ) -> str:
        groups = self.limits.groups or 1
        if self.limits.groups_of_unit is not None:
            groups = min(groups, self.limits.groups_of_unit)
        change = sensitivity_of_units(groups, low, high, grouped=self.limits.grouped, adjacency=self.limits.adjacency)
        bounds = " to ".join(as_text(Fraction(bound, 10**scale)) for bound in (low, high))
        reason = Words(
            f"one unit adds from {bounds} to each of {groups} groups",
            f"1 単位は {groups} グループのそれぞれに {bounds} を加える",
        )
        held = exp.column(f"u{len(self.sums)}", quoted=True)
        ends = [
            exp.cast(decimal_literal(Fraction(bound, 10**scale), scale), decimal_type(scale), copy=False)
            for bound in (low, high)
        ]
        tree = exp.Sum(this=clipped(held, *ends))
        return self._add(what, tree, inner, scale, change, reason, is_row_count=is_row_count)

    def _add_elastic(
        self,
        what: str,
        tree: exp.Expr,
        growth: Growth,
        ends: tuple[int, int],
        scale: int,
        *,
        is_row_count: bool = False,
    ) -> str:
        # What one row can do: where a unit is replaced, as many rows go as come.
        each = sensitivity_of_rows(1, *ends, grouped=self.limits.grouped, adjacency=self.limits.adjacency).l1
        size = each * growth(0)
        reason = Words(
            f"rows of two units are joined; one unit can change {growth(0)} rows in the data as they are",
            f"二つの保護単位の行が結合され、現在のデータで 1 単位が変えるのは {growth(0)} 行",
        )
        now = Sensitivity(size, size**2, 1, size)
        for known in self.sums:
            if known.tree == tree and known.scale == scale:
                return known.name
        name = f"m{len(self.sums)}"
        self.sums.append(
            SumMeasure(name, what, tree, None, scale, 0, now, reason, is_row_count, growth=growth.times(each))
        )
        return name

    def _add(
        self,
        what: str,
        tree: exp.Expr,
        inner: exp.Expr | None,
        scale: int,
        change: Sensitivity,
        reason: Words,
        *,
        is_row_count: bool = False,
    ) -> str:
        coarse, change = coarsened(change)
        for known in self.sums:
            # What is clipped for each unit has a tree with a name of its own; its reason has the bounds.
            same = known.tree == tree if inner is None else known.inner == inner and known.reason == reason
            if (
                same
                and (known.inner is None) == (inner is None)
                and (known.scale, known.sensitivity) == (scale, change)
            ):
                return known.name
        name = f"m{len(self.sums)}"
        self.sums.append(SumMeasure(name, what, tree, inner, scale, coarse, change, reason, is_row_count))
        return name

    def _bounded(self, call: exp.Expr, value: exp.Expr | None = None) -> Examined:
        wanted = call.this if value is None else value
        if wanted not in self._seen:
            self._seen[wanted] = bounded(wanted, self.reader.lookup(self.core.scope), self.reader.dialect)
        return self._seen[wanted]

    def _on_grid(self, seen: Examined, scale: int) -> exp.Expr:
        place = (id(seen), scale)
        if place not in self._gridded:
            self._gridded[place] = on_grid(seen, scale, self.reader.dialect)
        return copied(self._gridded[place])

    def _condition(self, condition: exp.Expr) -> exp.Expr:
        seen = examine(condition, self.reader.lookup(self.core.scope), self.reader.dialect)
        require_condition(seen.facts, condition)
        return seen.sql

    def _scale(self, value: exp.Expr, facts: Facts) -> int:
        if isinstance(value, exp.Column):
            digits = self.reader.field(value, self.core.scope).digits
            if digits is not None:
                return digits
        return scale_of(facts)

    def _scale_for(self, seen: Examined) -> int:
        if seen.facts.scale is None:
            columns = list(seen.sql.find_all(exp.Column))
            if columns and len({(one.table, one.name) for one in columns}) == 1:
                return self._scale(columns[0], seen.facts)
        return scale_of(seen.facts)

    def _product_scale(self, seen: Examined) -> int:
        low, high = number_bounds(seen.facts)
        digits = len(str(ceil(max(high - low, Fraction(1)))))
        if digits > DIGITS_OF_PRODUCTS:
            refuse(
                None,
                "too-wide",
                f"Variances need bounds that are less than 10**{DIGITS_OF_PRODUCTS} apart; state narrower ones, or "
                "divide the number.",
                f"分散は範囲の幅が 10**{DIGITS_OF_PRODUCTS} 未満の数で使えます。範囲を狭めるか、数を割ってください。",
            )
        return max(min(self._scale_for(seen), DIGITS_OF_PRODUCTS - digits), 0)

    def _centre(self, seen: Examined) -> Fraction:
        """The middle of the bounds, on the grid: sums of what is left have half the sensitivity."""
        low, high = number_bounds(seen.facts)
        scale = min(self._scale_for(seen), self._product_scale(seen))
        return Fraction(round((low + high) / 2 * 10**scale), 10**scale)

    def _require_rows(self, node: exp.Expr | None) -> int:
        if self.limits.growth is not None:
            refuse(
                node,
                "elastic-aggregate",
                "With elastic joins only COUNT(*), COUNT and SUM are offered, and AVG, which is made of them. Choose truncated "
                "joins (joins='truncated') and state max_frequency for the columns that are compared.",
                "elastic の結合で使えるのは COUNT、SUM と、それらから求める AVG だけです。"
                "joins='truncated' を選び、比較する列の max_frequency を指定してください。",
            )
        if self.limits.rows is None:
            refuse(
                node,
                "no-max-rows",
                "Nothing limits how many rows one unit has here. State max_rows for the tables in the metadata.",
                "一単位の行数に上限がありません。メタデータで表の max_rows を指定してください。",
            )
        return self.limits.rows
