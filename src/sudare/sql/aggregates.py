"""From the aggregates of a query to what is measured, and back: means, variances and covariances follow from sums.

An aggregate becomes one or several measures, shared where two aggregates need the same, and a formula over their noisy results.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from math import ceil, floor

from sqlglot import exp

from sudare.bilingual import Words
from sudare.privacy.unit import Adjacency, Sensitivity
from sudare.sql.elastic import Growth
from sudare.sql.expressions import bounded, examine, on_grid
from sudare.sql.facts import Examined, Facts
from sudare.sql.filtering import require_condition
from sudare.sql.formulas import (
    EPOCH,
    as_text,
    bucket_of,
    clipped,
    date_literal,
    days_between,
    decimal_literal,
    decimal_type,
    double_of,
    filtered,
    if_at_least,
    is_known,
    one_if,
    ratio,
    result,
    spread,
    within,
)
from sudare.sql.inner_aggregates import number_bounds, scale_of
from sudare.sql.measures import (
    Change,
    QuantileMeasure,
    SumMeasure,
    coarsened,
    sensitivity_of_rows,
    sensitivity_of_units,
)
from sudare.sql.options import BOUNDS_PER_GROUP
from sudare.sql.quantiles import rows_in_groups
from sudare.sql.reading import Core, Reader
from sudare.sql.refusals import refuse
from sudare.sql.relations import UNIT

__all__ = ["Aggregates", "Limits"]

MOST_POINTS = 1 << 20
DIGITS_OF_PRODUCTS = 12
"""Digits of a factor where products are summed: a product then has 24, and 10**14 of them fit."""
WIDTH_OF_FACTORS = 19
"""Digits of a factor's type: DuckDB keeps products of narrower decimals in 18 digits, and fails where they need more."""
VARIANCES = (exp.Variance, exp.VariancePop, exp.Stddev, exp.StddevPop, exp.StddevSamp)
COVARIANCES = (exp.CovarSamp, exp.CovarPop)
QUANTILES = (exp.Median, exp.Quantile, exp.PercentileCont, exp.PercentileDisc, exp.ApproxQuantile, exp.Min, exp.Max)


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


@dataclass(frozen=True)
class _Grid:
    """The points that a quantile is chosen among, and which of them a row has."""

    bucket: exp.Expr
    first: Fraction
    step: Fraction
    points: int
    facts: Facts


@dataclass
class Aggregates:
    """Collects what the aggregates of one SELECT need.

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

    def announce(self, node: exp.Expr) -> None:
        """Note the sums that a query asks for by name, so that means can share them."""
        for call in node.find_all(exp.Sum):
            self._plain_sums.add(call.this)

    def formula(self, node: exp.Expr) -> exp.Expr:
        """What an aggregate is, in terms of measures.

        Args:
            node: the aggregate, with FILTER or WITHIN GROUP if it has them.
        """
        call, condition = node, None
        if isinstance(node, exp.Filter):
            call = node.this
            condition = self._condition(node.expression.this)
        if isinstance(call, exp.WithinGroup):
            return self._quantile(call.this, condition, call.expression)
        if isinstance(call, exp.Count):
            return self._count(call, condition)
        if isinstance(call, exp.CountIf):
            both = self._condition(call.this)
            return result(self._rows(call.sql(), both if condition is None else exp.and_(condition, both, copy=False)))
        if isinstance(call.this, exp.Distinct) or isinstance(call.expression, exp.Distinct):
            refuse(
                call,
                "distinct-sum",
                "Of DISTINCT values only COUNT is offered: whether a value counts depends on others. Group for each unit first.",
                "DISTINCT は COUNT でだけ使えます（値を数えるかが他の人に左右されるため）。先に保護単位ごとに集計してください。",
            )
        if isinstance(call, exp.Sum):
            return self._sum(call, condition)
        if isinstance(call, exp.Avg):
            return self._mean(call, condition)
        if isinstance(call, VARIANCES):
            return self._variance(call, condition)
        if isinstance(call, COVARIANCES):
            return self._covariance(call, condition)
        if isinstance(call, QUANTILES) and not (
            isinstance(call, (exp.Min, exp.Max)) and (call.expressions or call.args.get("count"))
        ):
            return self._quantile(call, condition, None)
        return _refuse_aggregate(call)

    def presence(self) -> SumMeasure:
        """What says whether a group is there: its rows, or its units where contributions are bounded for each unit."""
        if self.limits.groups is None:
            name = self._rows("COUNT(*)", None)
        else:
            change = sensitivity_of_units(self.limits.groups, 0, 1, grouped=True, adjacency=self.limits.adjacency)
            groups = self.limits.groups
            reason = Words(
                f"one unit counts once, in {groups} groups", f"1 単位は {groups} グループで 1 回ずつ数えられる"
            )
            one = exp.Literal.number(1)
            name = self._add("COUNT(*)", exp.Sum(this=one), exp.Max(this=one.copy()), 0, change, reason)
        return next(measure for measure in self.sums if measure.name == name)

    # What aggregates become

    def _count(self, call: exp.Count, condition: exp.Expr | None) -> exp.Expr:
        what = call.this
        if isinstance(what, exp.Distinct):
            return self._count_distinct(call, what, condition)
        bounds = call.meta.get(BOUNDS_PER_GROUP)
        if what is None or isinstance(what, exp.Star):
            return result(self._rows(call.sql(), condition, bounds=bounds))
        seen = examine(what, self.reader.lookup(self.core.scope), self.reader.dialect)
        present = seen.sql if seen.facts.nullable else None
        return result(self._rows(call.sql(), condition, present, bounds))

    def _count_distinct(self, call: exp.Count, what: exp.Distinct, condition: exp.Expr | None) -> exp.Expr:
        if len(what.expressions) != 1:
            refuse(
                call,
                "distinct-columns",
                "COUNT(DISTINCT ...) takes one column.",
                "COUNT(DISTINCT ...) には 1 列だけを指定してください。",
            )
        value = what.expressions[0]
        if isinstance(value, exp.Column):
            known = self.reader.field(value, self.core.scope)
            if self.core.relation.owned and known.identifies == UNIT:
                return result(self._units(call, value, condition))
        rows = self._require_rows(call)
        if self.limits.groups is not None:
            refuse(
                call,
                "distinct-for-units",
                "Where contributions are bounded for each unit, only units can be counted with DISTINCT. Leave the bounds of "
                "contributions out, or count units.",
                "保護単位ごとに寄与を制限する場合、DISTINCT で数えられるのは保護単位だけです。"
                "max_groups_contributed などを外すか、保護単位を数えてください。",
            )
        seen = examine(value, self.reader.lookup(self.core.scope), self.reader.dialect)
        tree = filtered(exp.Count(this=exp.Distinct(expressions=[seen.sql])), condition)
        change = sensitivity_of_rows(rows, 0, 1, grouped=self.limits.grouped, adjacency=self.limits.adjacency)
        reason = Words(
            f"one unit can change {rows} rows, each of which adds one value at most",
            f"1 単位が変えるのは {rows} 行で、各行が加える値は最大一つ",
        )
        return result(self._add(call.sql(), tree, None, 0, change, reason))

    def _units(self, call: exp.Count, value: exp.Column, condition: exp.Expr | None) -> str:
        groups = 1
        if self.limits.grouped:
            known = [n for n in (self.limits.groups, self.limits.groups_of_unit, self.limits.rows) if n is not None]
            groups = min(known) if known else self._require_rows(call)
        change = sensitivity_of_units(groups, 0, 1, grouped=self.limits.grouped, adjacency=self.limits.adjacency)
        reason = Words(f"one unit counts once, in {groups} groups", f"1 単位は {groups} グループで 1 回ずつ数えられる")
        tree = filtered(exp.Count(this=exp.Distinct(expressions=[value.copy()])), condition)
        inner = None
        if self.limits.groups is not None:
            inner = exp.Max(this=exp.Literal.number(1)) if condition is None else one_if(exp.Max, condition)
            tree = exp.Sum(this=result(f"u{len(self.sums)}"))
        return self._add(call.sql(), tree, inner, 0, change, reason)

    def _sum(self, call: exp.Sum, condition: exp.Expr | None) -> exp.Expr:
        seen = self._bounded(call)
        return result(self._total(call.sql(), seen, condition, bounds=call.meta.get(BOUNDS_PER_GROUP)))

    def _mean(self, call: exp.Avg, condition: exp.Expr | None) -> exp.Expr:
        what = call.sql()
        seen = self._bounded(call)
        low, high = number_bounds(seen.facts)
        present = seen.sql if seen.facts.nullable else None
        count = self._rows(what, condition, present)
        if call.this in self._plain_sums:
            total, centre = self._total(what, seen, condition), Fraction(0)
        else:
            centre = self._centre(seen)
            total = self._total(what, seen, condition, centre=centre)
        mean = exp.Add(this=ratio(result(total), result(count)), expression=double_of(centre))
        return if_at_least(count, 1, within(mean, low, high))

    def _variance(self, call: exp.Expr, condition: exp.Expr | None) -> exp.Expr:
        what = call.sql()
        seen = self._bounded(call)
        centre, scale = self._centre(seen), self._product_scale(seen)
        present = seen.sql if seen.facts.nullable else None
        count = self._rows(what, condition, present)
        total = self._total(what, seen, condition, centre=centre, scale=scale)
        squares = self._products(what, (seen, centre, scale), (seen, centre, scale), condition)
        whole = isinstance(call, (exp.VariancePop, exp.StddevPop))
        variance = spread(squares, total, total, count, whole=whole)
        positive = exp.Greatest(this=variance, expressions=[exp.Literal.number(0)], ignore_nulls=True)
        root = isinstance(call, (exp.Stddev, exp.StddevPop, exp.StddevSamp))
        return if_at_least(count, 1 if whole else 2, exp.Sqrt(this=positive) if root else positive)

    def _covariance(self, call: exp.Expr, condition: exp.Expr | None) -> exp.Expr:
        what = call.sql()
        first, second = self._bounded(call), self._bounded(call, call.expression)
        if first.facts.nullable or second.facts.nullable:
            both = exp.and_(is_known(first.sql), is_known(second.sql), copy=False)
            condition = both if condition is None else exp.and_(condition, both, copy=False)
        parts = [(seen, self._centre(seen), self._product_scale(seen)) for seen in (first, second)]
        count = self._rows(what, condition)
        totals = [self._total(what, seen, condition, centre=centre, scale=scale) for seen, centre, scale in parts]
        products = self._products(what, parts[0], parts[1], condition)
        whole = isinstance(call, exp.CovarPop)
        return if_at_least(count, 1 if whole else 2, spread(products, totals[0], totals[1], count, whole=whole))

    def _quantile(self, call: exp.Expr, condition: exp.Expr | None, order: exp.Expr | None) -> exp.Expr:
        value, share = _value_and_share(call, order)
        rows = self._require_rows(call)
        grid = self._date_grid(value) or self._number_grid(value)
        reason = Words(
            f"one unit can change {rows} rows, which move the rank of a value by {rows}",
            f"1 単位が変えるのは {rows} 行で、値の順位が {rows} 動く",
        )
        if self.limits.grouped:
            rows = rows_in_groups(rows, share, self.limits.adjacency)
        name = f"q{len(self.quantiles)}"
        self.quantiles.append(
            QuantileMeasure(
                name,
                call.sql(),
                grid.bucket,
                grid.first,
                grid.step,
                grid.points,
                share,
                condition,
                rows,
                grid.facts,
                reason,
            )
        )
        exact = grid.facts.kind == "date" or grid.step == Fraction(1, 10 ** (grid.facts.scale or 0))
        if not exact or grid.facts.kind == "float":
            step = as_text(grid.step)
            words = Words(
                f"{call.sql():.60}: chosen among multiples of {step}", f"{call.sql():.60}: {step} の倍数から選ばれます"
            )
            self.changes.append(Change("grid", words))
        return result(name)

    def _number_grid(self, value: exp.Expr) -> _Grid:
        """The points that a number is chosen among."""
        seen = bounded(value, self.reader.lookup(self.core.scope), self.reader.dialect)
        low, high = number_bounds(seen.facts)
        scale = self._scale(value, seen.facts)
        while scale > 0 and (high - low) * 10**scale >= MOST_POINTS:
            scale -= 1
        step = Fraction(1, 10**scale)
        while (high - low) / step >= MOST_POINTS:
            step *= 10
        first = floor(low / step) * step
        bucket = bucket_of(on_grid(seen, scale, self.reader.dialect), first, step)
        return _Grid(bucket, first, step, ceil((high - first) / step) + 1, seen.facts)

    def _date_grid(self, value: exp.Expr) -> _Grid | None:
        """The days that a date is chosen among; None if it is no date."""
        seen = examine(value, self.reader.lookup(self.core.scope), self.reader.dialect)
        low, high = seen.facts.low, seen.facts.high
        if seen.facts.kind != "date":
            return None
        if not isinstance(low, date) or not isinstance(high, date):
            refuse(
                value,
                "no-bounds",
                "Dates need bounds here: state them for the column in the metadata.",
                "ここでは日付の範囲が必要です。メタデータで列の bounds を指定してください。",
            )
        bucket = days_between(
            date_literal(low), clipped(seen.sql, date_literal(low), date_literal(high)), self.reader.dialect
        )
        return _Grid(bucket, Fraction((low - EPOCH).days), Fraction(1), (high - low).days + 1, seen.facts)

    # Measures

    def _rows(
        self,
        what: str,
        condition: exp.Expr | None,
        present: exp.Expr | None = None,
        bounds: tuple[object, object] | None = None,
    ) -> str:
        tree = filtered(exp.Count(this=exp.Star() if present is None else present.copy()), condition)
        is_row_count = condition is None and present is None
        if self.limits.groups is not None:
            low, high = self._unit_bounds(bounds, Fraction(0), Fraction(1), 0, what)
            return self._add_clipped(what, tree, low, high, 0, is_row_count=is_row_count)
        if self.limits.growth is not None:
            return self._add_elastic(what, tree, self.limits.growth, 1, 0)
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
            return self._add_elastic(what, tree, self.limits.growth, max(abs(lowest), abs(highest), 1), digits)
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

    def _add_elastic(self, what: str, tree: exp.Expr, growth: Growth, largest: int, scale: int) -> str:
        # A unit that is replaced takes its rows away and brings others.
        each = largest * (2 if self.limits.adjacency == "replace" else 1)
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
        self.sums.append(SumMeasure(name, what, tree, None, scale, 0, now, reason, growth=growth.times(each)))
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

    # What they need

    def _bounded(self, call: exp.Expr, value: exp.Expr | None = None) -> Examined:
        wanted = call.this if value is None else value
        if wanted not in self._seen:
            self._seen[wanted] = bounded(wanted, self.reader.lookup(self.core.scope), self.reader.dialect)
        return self._seen[wanted]

    def _on_grid(self, seen: Examined, scale: int) -> exp.Expr:
        place = (id(seen), scale)
        if place not in self._gridded:
            self._gridded[place] = on_grid(seen, scale, self.reader.dialect)
        return self._gridded[place].copy()

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
        if self.limits.rows is None:
            refuse(
                node,
                "no-max-rows",
                "Nothing limits how many rows one unit has here. State max_rows for the tables in the metadata.",
                "一単位の行数に上限がありません。メタデータで表の max_rows を指定してください。",
            )
        return self.limits.rows


def _value_and_share(call: exp.Expr, order: exp.Expr | None) -> tuple[exp.Expr, Fraction]:
    """What a quantile is of, and which one it is."""
    if isinstance(call, exp.Min):
        return call.this, Fraction(0)
    if isinstance(call, exp.Max):
        return call.this, Fraction(1)
    if isinstance(call, exp.Median):
        return call.this, Fraction(1, 2)
    if order is not None:
        ordered = order.expressions[0] if isinstance(order, exp.Order) and len(order.expressions) == 1 else None
        if not isinstance(ordered, exp.Ordered):
            return _refuse_aggregate(call), Fraction(0)
        share = _share(call.this, call)
        return ordered.this, 1 - share if ordered.args.get("desc") else share
    level = (
        call.args.get("quantile")
        if isinstance(call, (exp.Quantile, exp.ApproxQuantile))
        else call.args.get("expression")
    )
    return call.this, _share(level, call)


def _share(level: exp.Expr | None, call: exp.Expr) -> Fraction:
    share = Fraction(level.this) if isinstance(level, exp.Literal) and not level.is_string else Fraction(-1)
    if 0 <= share <= 1:
        return share.limit_denominator(10**6)
    return refuse(
        call,
        "quantile-share",
        "A quantile needs a number from 0 to 1 that stands in the query, such as 0.5.",
        "分位数には 0.5 のような 0 から 1 までの定数を指定してください。",
    )


def _refuse_aggregate(call: exp.Expr) -> exp.Expr:
    refuse(
        call,
        "aggregate",
        f"The aggregate {call.key.upper():.40} is not offered. There are COUNT, COUNT(DISTINCT), SUM, AVG, VAR, STDDEV, COVAR, "
        "MIN, MAX, MEDIAN and quantiles.",
        f"集計関数 {call.key.upper():.40} は使えません。COUNT・COUNT(DISTINCT)・SUM・AVG・VAR・STDDEV・COVAR・MIN・MAX・"
        "MEDIAN・分位数があります。",
    )
