"""From the aggregates of a query to what is measured, and back: means, variances and covariances follow from sums.

An aggregate becomes one or several measures, shared where two aggregates need the same, and a formula over their noisy results.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from math import ceil, floor

from sqlglot import exp

from sudare.bilingual import Words
from sudare.sql.expressions.expressions import bounded, examine, on_grid
from sudare.sql.expressions.facts import Facts
from sudare.sql.expressions.formulas import (
    EPOCH,
    as_text,
    bucket_of,
    clipped,
    date_literal,
    days_between,
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
from sudare.sql.frontend.copies import copied
from sudare.sql.frontend.options import BOUNDS_PER_GROUP
from sudare.sql.frontend.refusals import name_of, refuse
from sudare.sql.measures.measures import (
    Change,
    QuantileMeasure,
    SumMeasure,
    sensitivity_of_rows,
    sensitivity_of_units,
)
from sudare.sql.measures.measuring import Measures
from sudare.sql.measures.quantiles import rows_in_groups
from sudare.sql.relations.inner_aggregates import number_bounds
from sudare.sql.relations.relations import UNIT

__all__ = ["Aggregates"]

MAX_POINTS = 1 << 20
VARIANCES = (exp.Variance, exp.VariancePop, exp.Stddev, exp.StddevPop, exp.StddevSamp)
COVARIANCES = (exp.CovarSamp, exp.CovarPop)
QUANTILES = (exp.Median, exp.Quantile, exp.PercentileCont, exp.PercentileDisc, exp.ApproxQuantile, exp.Min, exp.Max)


@dataclass(frozen=True)
class _Grid:
    """The points that a quantile is chosen among, and which of them a row has."""

    bucket: exp.Expr
    first: Fraction
    step: Fraction
    points: int
    facts: Facts


class Aggregates(Measures):
    """What the aggregates of one SELECT become."""

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
            name = self._add("COUNT(*)", exp.Sum(this=one), exp.Max(this=copied(one)), 0, change, reason)
        return next(measure for measure in self.sums if measure.name == name)

    def _count(self, call: exp.Count, condition: exp.Expr | None) -> exp.Expr:
        what = call.this
        if isinstance(what, exp.Distinct):
            return self._count_distinct(call, what, condition)
        bounds = call.meta_get(BOUNDS_PER_GROUP)
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
        tree = filtered(exp.Count(this=exp.Distinct(expressions=[copied(value)])), condition)
        inner = None
        if self.limits.groups is not None:
            inner = exp.Max(this=exp.Literal.number(1)) if condition is None else one_if(exp.Max, condition)
            tree = exp.Sum(this=result(f"u{len(self.sums)}"))
        return self._add(call.sql(), tree, inner, 0, change, reason)

    def _sum(self, call: exp.Sum, condition: exp.Expr | None) -> exp.Expr:
        seen = self._bounded(call)
        return result(self._total(call.sql(), seen, condition, bounds=call.meta_get(BOUNDS_PER_GROUP)))

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
        while scale > 0 and (high - low) * 10**scale >= MAX_POINTS:
            scale -= 1
        step = Fraction(1, 10**scale)
        while (high - low) / step >= MAX_POINTS:
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
        f"The aggregate {name_of(call)} is not offered. There are COUNT, COUNT(DISTINCT), SUM, AVG, VAR, STDDEV, COVAR, "
        "MIN, MAX, MEDIAN and quantiles.",
        f"集計関数 {name_of(call)} は使えません。COUNT・COUNT(DISTINCT)・SUM・AVG・VAR・STDDEV・COVAR・MIN・MAX・"
        "MEDIAN・分位数があります。",
    )
