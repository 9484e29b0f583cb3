"""Dates and timestamps: EXTRACT, DATE_TRUNC, plus and minus an INTERVAL, days between two dates."""

from __future__ import annotations

import calendar
from dataclasses import replace
from datetime import date, datetime, timedelta
from fractions import Fraction

from sqlglot import exp

from sudare.sql.expressions.arithmetic import calculate
from sudare.sql.expressions.rules import ExpressionScope, rule
from sudare.sql.expressions.safe_expression import SafeExpression, cast_to, constant, no_bounds, operand, refuse_kind
from sudare.sql.frontend.refusals import refuse

__all__ = ["shifted", "truncated"]

MAX_VALUES = 10_000
MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86_400, "WEEK": 7 * 86_400}
PARTS: dict[str, tuple[int, int]] = {
    "YEAR": (1, 9999),
    "QUARTER": (1, 4),
    "MONTH": (1, 12),
    "WEEK": (1, 53),
    "DAY": (1, 31),
    "DOY": (1, 366),
    "DOW": (0, 6),
    "ISODOW": (1, 7),
    "HOUR": (0, 23),
    "MINUTE": (0, 59),
}
SAME_PARTS = {
    "DAYOFWEEK": "DOW",
    "DAYOFYEAR": "DOY",
    "DAYOFMONTH": "DAY",
    "DAYOFWEEK_ISO": "ISODOW",
    "WEEKOFYEAR": "WEEK",
}
_BY_CLASS: dict[type[exp.Expr], str] = {
    exp.Year: "YEAR",
    exp.Quarter: "QUARTER",
    exp.Month: "MONTH",
    exp.Week: "WEEK",
    exp.WeekOfYear: "WEEK",
    exp.Day: "DAY",
    exp.DayOfMonth: "DAY",
    exp.DayOfYear: "DOY",
    exp.DayOfWeek: "DOW",
    exp.DayOfWeekIso: "ISODOW",
    exp.Hour: "HOUR",
    exp.Minute: "MINUTE",
}


def _moment(scope: ExpressionScope, node: exp.Expr) -> SafeExpression:
    """A part that must be a date or a timestamp, held within its bounds or within the years 1 to 9999."""
    form = scope.form(node, True)
    if form.kind not in ("date", "timestamp"):
        refuse_kind(node, "not-a-date", "a date or a timestamp", "日付か日時")
    return form


@rule(exp.Extract)
def _extract(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    return _part(scope, node, str(node.this.name), node.expression)


@rule(*_BY_CLASS)
def _part_function(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    if node.args.get("mode") is not None:
        refuse(node, "unknown-function", "Write the week without a mode.", "週の数え方の指定は使えません。")
    return _part(scope, node, _BY_CLASS[type(node)], node.this)


@rule(exp.TsOrDsToDate)
def _to_date(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    """Spark's parser marks arguments that must be dates; they must be ones already."""
    return _moment(scope, node.this)


def _part(scope: ExpressionScope, node: exp.Expr, name: str, value: exp.Expr) -> SafeExpression:
    unit = SAME_PARTS.get(name.upper(), name.upper())
    if unit not in PARTS:
        refuse(
            node,
            "unknown-function",
            f"Of a date these parts can be taken: {', '.join(PARTS)}.",
            f"日付から取り出せるのは {', '.join(PARTS)} です。",
        )
    form = _moment(scope, value)
    if unit in ("HOUR", "MINUTE") and form.kind == "date":
        refuse_kind(node, "not-a-date", "a timestamp; a date has no time", "日時 (日付には時刻がありません) ")
    low, high = PARTS[unit]
    if unit == "DOW" and scope.dialect == "spark":
        low, high = 1, 7
    known = form.has_interval
    if known:
        first, last = form.span
        if unit == "YEAR":
            low, high = first.year, last.year
        elif first.year == last.year and unit in ("MONTH", "QUARTER"):
            months = first.month, last.month
            low, high = months if unit == "MONTH" else ((months[0] + 2) // 3, (months[1] + 2) // 3)
    if unit == "ISODOW" and scope.dialect == "spark":
        refuse(node, "unknown-function", "Spark writes this part as DOW.", "Spark では DOW を使ってください。")
    sql = cast_to(exp.Extract(this=exp.Var(this=unit), expression=form.sql), "BIGINT")
    result = SafeExpression(sql, "integer", nullable=form.nullable, scale=0, stored="bigint")
    if unit == "YEAR" and not known:
        return result
    return replace(result, low=Fraction(low), high=Fraction(high), values=tuple(range(low, high + 1)))


@rule(exp.TimestampTrunc, exp.DateTrunc)
def _truncation(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    if node.args.get("zone") is not None:
        refuse(
            node, "unknown-function", "Write DATE_TRUNC without a time zone.", "DATE_TRUNC に時間帯は指定できません。"
        )
    unit = _unit(node, node.args.get("unit"))
    form = _moment(scope, node.this)
    allowed = ["YEAR", "QUARTER", "MONTH", "WEEK", "DAY"] + (["HOUR", "MINUTE"] if form.kind == "timestamp" else [])
    if unit not in allowed:
        refuse(
            node,
            "unknown-function",
            f"Here DATE_TRUNC knows {', '.join(allowed)}.",
            f"ここの DATE_TRUNC に使えるのは {', '.join(allowed)} です。",
        )
    moment = form.sql if form.kind == "timestamp" else cast_to(form.sql, "TIMESTAMP")
    sql: exp.Expr = exp.TimestampTrunc(this=moment, unit=exp.Var(this=unit))
    if form.kind == "date":
        sql = cast_to(sql, "DATE")
    if not form.has_interval:
        return replace(form, sql=sql, values=None, constant=None)
    low, high = (truncated(edge, unit) for edge in form.span)
    return replace(form, sql=sql, low=low, high=high, values=_steps(low, high, unit), constant=None)


def truncated(moment: date, unit: str) -> date:
    """The beginning of the year, quarter, month, week, day, hour or minute.

    Example:
        >>> truncated(date(2024, 5, 15), "QUARTER"), truncated(date(2024, 5, 15), "WEEK")
        (datetime.date(2024, 4, 1), datetime.date(2024, 5, 13))
    """
    if isinstance(moment, datetime):
        if unit in ("HOUR", "MINUTE"):
            return moment.replace(minute=0 if unit == "HOUR" else moment.minute, second=0, microsecond=0)
        moment = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit in MONTHS:
        month = (moment.month - 1) // MONTHS[unit] * MONTHS[unit] + 1
        return moment.replace(month=month, day=1)
    return moment - timedelta(days=moment.weekday()) if unit == "WEEK" else moment


def _steps(low: date, high: date, unit: str) -> tuple[date, ...] | None:
    """All beginnings from one to another, if they are not too many."""
    if unit in MONTHS:
        many = ((high.year - low.year) * 12 + high.month - low.month) // MONTHS[unit]
    else:
        many = int((high - low).total_seconds() // SECONDS[unit])
    if many >= MAX_VALUES:
        return None
    return tuple(_moved(low, step, unit) for step in range(many + 1))


def _moved(moment: date, many: int, unit: str) -> date:
    """A date or timestamp this many units later; the last day of the month where that month is shorter."""
    if unit in MONTHS:
        month = moment.year * 12 + moment.month - 1 + many * MONTHS[unit]
        year, month = divmod(month, 12)
        if not 1 <= year <= 9999:
            raise OverflowError
        return moment.replace(year=year, month=month + 1, day=min(moment.day, calendar.monthrange(year, month + 1)[1]))
    return moment + timedelta(seconds=SECONDS[unit] * many)


@rule(exp.Add, exp.Sub)
def _plus_minus(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    """Plus and minus, of numbers or of dates."""
    sign = 1 if type(node) is exp.Add else -1
    left, right = node.this, node.expression
    if type(left) is exp.Interval and sign == 1:
        left, right = right, left
    if type(right) is exp.Interval:
        many, unit = _interval(scope, right)
        return shifted(_moment(scope, left), many * sign, unit, node)
    first, second = scope.form(left, True), scope.form(right, True)
    if first.kind == second.kind == "date" and sign == -1:
        return _days_between(first, second, node)
    if first.kind == "date" and type(second.constant) is int and abs(second.constant) < 10_000_000:
        return shifted(first, second.constant * sign, "DAY", node)
    for form, part in ((first, left), (second, right)):
        if not form.is_number:
            refuse_kind(part, "not-a-number", "a number", "数")
        if not form.has_interval:
            no_bounds(part)
    return calculate(type(node), first, second, node, scope.dialect)


@rule(exp.DateAdd, exp.DateSub, exp.TsOrDsAdd)
def _date_add(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    sign = -1 if type(node) is exp.DateSub else 1
    if type(node.expression) is exp.Interval:
        many, unit = _interval(scope, node.expression)
    else:
        given = node.args.get("unit")
        many, unit = scope.whole(node.expression, -9_999_999, 9_999_999), "DAY" if given is None else _unit(node, given)
    return shifted(_moment(scope, node.this), many * sign, unit, node)


@rule(exp.AddMonths)
def _add_months(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    return shifted(_moment(scope, node.this), scope.whole(node.expression, -120_000, 120_000), "MONTH", node)


@rule(exp.DateDiff)
def _date_difference(scope: ExpressionScope, node: exp.Expr, clip: bool) -> SafeExpression:
    unit = node.args.get("unit")
    if unit is not None and _unit(node, unit) != "DAY":
        refuse(
            node,
            "unknown-function",
            "Differences of dates are counted in days. Divide them, or subtract years taken with EXTRACT.",
            "日付の差は日数で数えます。割り算をするか、EXTRACT で取り出した年を引いてください。",
        )
    first, second = _moment(scope, node.this), _moment(scope, node.expression)
    if not first.kind == second.kind == "date":
        refuse_kind(node, "not-a-date", "two dates; write CAST(x AS DATE)", "2 つの日付 (CAST(x AS DATE)) ")
    return _days_between(first, second, node)


def _days_between(later: SafeExpression, earlier: SafeExpression, node: exp.Expr) -> SafeExpression:
    sql = exp.DateDiff(this=later.sql, expression=earlier.sql, unit=exp.Var(this="DAY"), date_part_boundary=True)
    result = SafeExpression(
        cast_to(sql, "BIGINT"), "integer", scale=0, nullable=later.nullable or earlier.nullable, stored="bigint"
    )
    if not (later.has_interval and earlier.has_interval):
        return result
    least, most = later.span[0] - earlier.span[1], later.span[1] - earlier.span[0]
    return replace(result, low=Fraction(least.days), high=Fraction(most.days))


def shifted(form: SafeExpression, many: int, unit: str, node: exp.Expr) -> SafeExpression:
    """A date or a timestamp, this many units later.

    Args:
        form: held within its bounds.
        many: how many; negative for earlier.
        unit: such as ``"DAY"``.
        node: where it stands in the query.
    """
    if form.kind == "date" and unit not in ("DAY", "WEEK", *MONTHS):
        refuse_kind(node, "not-a-date", "a timestamp; write CAST(x AS TIMESTAMP)", "日時 (CAST(x AS TIMESTAMP)) ")
    if not form.has_interval:
        no_bounds(node)
    try:
        low, high = (_moved(edge, many, unit) for edge in form.span)
    except (OverflowError, ValueError):
        refuse(
            node,
            "too-wide",
            "This date can lie outside the years 1 to 9999.",
            "この日付は西暦 1 年から 9999 年の外になることがあります。",
        )
    if form.constant is not None:
        return constant(low)
    if unit == "QUARTER":
        many, unit = many * 3, "MONTH"
    step = exp.Interval(this=exp.Literal.string(str(many)), unit=exp.Var(this=unit))
    sql = cast_to(exp.Add(this=operand(form.sql), expression=step), "DATE" if form.kind == "date" else "TIMESTAMP")
    return replace(form, sql=sql, low=low, high=high, values=None)


def _interval(scope: ExpressionScope, node: exp.Expr) -> tuple[int, str]:
    given, unit = node.this, node.args.get("unit")
    text = "" if given is None else str(given.name if type(given) is exp.Literal else "")
    if type(given) in (exp.Paren, exp.Neg):
        text = str(scope.whole(given, -9_999_999, 9_999_999))
    digits = text.strip().removeprefix("-").removeprefix("+")
    if unit is None or not digits.isascii() or not digits.isdecimal() or len(digits) > 9:
        refuse(
            node,
            "not-a-constant",
            "Write intervals as INTERVAL '3' MONTH, with a whole number.",
            "期間は INTERVAL '3' MONTH のように整数で書いてください。",
        )
    name = _unit(node, unit)
    if name not in MONTHS and name not in SECONDS:
        refuse(node, "not-a-constant", "Intervals are counted in seconds to years.", "期間の単位は秒から年までです。")
    return int(text), name


def _unit(node: exp.Expr, unit: exp.Expr | None) -> str:
    """The name of a unit, in the singular."""
    if not isinstance(unit, exp.Var | exp.Literal):
        refuse(
            node,
            "not-a-constant",
            "Here a unit such as 'month' must be written out.",
            "ここには 'month' のような単位をそのまま書いてください。",
        )
    name = str(unit.name).upper()
    return name[:-1] if name.endswith("S") else name
