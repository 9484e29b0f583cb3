"""Numbers in intervals: a hierarchy whose groups are exact, whatever decimals the numbers are written in."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.errors import Described, ParameterError
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.hierarchies.rules import TOP, Values, build_hierarchy
from sudare.parameters import Rational, exact_fraction, shown

__all__ = ["interval_hierarchy"]

NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]{1,3})?")
MAX_PLACES = 1100
Rule = Callable[[Fraction | int], list[str]]
"""From a number to the labels of its intervals, one for each level."""


def interval_hierarchy(
    name: str,
    values: Values,
    *,
    widths: Sequence[Rational] | None = None,
    edges: Sequence[Sequence[Rational]] | None = None,
    origin: Rational = 0,
    lowest: Rational | None = None,
    highest: Rational | None = None,
    whole: bool = False,
    top: str | None = TOP,
    missing: str | None = None,
) -> Generalization:
    """Numbers in intervals: of equal widths, or between given edges.

    Numbers are read exactly, as the decimals they are written in. An interval holds its lower end and not its upper one.

    Args:
        name: of the column.
        values: the domain, or a column of the data (see ``hierarchy_builders``).
        widths: of the intervals of each level, each a multiple of the one before.
        edges: instead of widths, the edges of each level, ascending, each level's among those of the level before. Below the
            first and from the last edge on there is one group each.
        origin: where an interval begins, with widths.
        lowest: all numbers below it are one group on every level (bottom coding), with widths.
        highest: all numbers from it on are one group on every level (top coding), with widths.
        whole: whether numbers are whole, which are written as 20-24 instead of [20, 25).
        top: the label of the last level; None to leave it out.
        missing: what missing values are called on the levels between.

    Raises:
        InputError: if a value is not a number; names its row.
        ParameterError: if the levels do not form a tree.

    Example:
        >>> from sudare.microdata.hierarchies.builders import interval_hierarchy
        >>> age = interval_hierarchy("age", range(100), widths=[5, 10], highest=90, whole=True)
        >>> age.paths()[37], age.paths()[95]
        (('37', '35-39', '30-39', '*'), ('95', '>=90', '>=90', '*'))
    """
    check_arguments(interval_hierarchy, locals(), "values", "whole", "top", "missing")
    function = "interval_hierarchy"
    if (widths is None) == (edges is None):
        raise ParameterError(
            "widths",
            function,
            Words("given, or edges, and not both", "widths か edges のどちらか一方だけを指定"),
            shown(widths),
        )
    rule: Rule
    if widths is not None:
        rule = _equal_widths(widths, origin, lowest, highest, whole, function)
    else:
        if lowest is not None or highest is not None:
            raise ParameterError(
                "edges",
                function,
                Words(
                    "without lowest and highest: its ends are these",
                    "lowest と highest を使わない指定（両端がその値になります）",
                ),
                shown(lowest),
            )
        rule = _between_edges(edges or (), whole, function)

    def groups(text: str) -> list[str]:
        number = _number(text)
        if whole and number.denominator != 1:
            raise ValueError
        return rule(number)

    if whole and any(each.denominator != 1 for each in _all_ends(widths, edges, origin, lowest, highest, function)):
        raise ParameterError(
            "whole",
            function,
            Words("False unless all widths and edges are whole", "幅と境界がすべて整数でなければ false"),
            whole,
        )
    wanted = Words("a whole number", "整数") if whole else Words("a number", "数")
    between = len(widths if widths is not None else edges or ())
    return build_hierarchy(name, values, groups, between, top, missing, wanted)


def _number(text: str) -> Fraction | int:
    if not NUMBER.fullmatch(text.strip()):
        raise ValueError
    return Fraction(text) if any(mark in text for mark in ".eE") else int(text)


def _all_ends(
    widths: Sequence[Rational] | None,
    edges: Sequence[Sequence[Rational]] | None,
    origin: Rational,
    lowest: Rational | None,
    highest: Rational | None,
    function: str,
) -> list[Fraction]:
    given: list[Any] = [*(widths or ()), *(each for level in edges or () for each in level), origin]
    given += [end for end in (lowest, highest) if end is not None]
    return [exact_fraction(each, "edges", function, Words("a number", "数")) for each in given]


def _equal_widths(
    widths: Sequence[Rational],
    origin: Rational,
    lowest: Rational | None,
    highest: Rational | None,
    whole: bool,
    function: str,
) -> Rule:
    positive = Words("numbers above 0", "0 より大きい数")
    if not isinstance(widths, Iterable) or isinstance(widths, str):
        raise ParameterError("widths", function, positive, shown(widths))
    exact = [exact_fraction(width, "widths", function, positive) for width in widths]
    if any(width <= 0 for width in exact) or any((wide / narrow).denominator != 1 for narrow, wide in pairwise(exact)):
        requirement = Words(
            "numbers above 0, each a multiple of the one before: otherwise the levels are no tree",
            "0 より大きく、それぞれが前の数の倍数（そうでなければ段階が入れ子になりません）",
        )
        raise ParameterError("widths", function, requirement, Described("others"))
    start = exact_fraction(origin, "origin", function, Words("a number", "数"))
    low = None if lowest is None else exact_fraction(lowest, "lowest", function, Words("a number", "数"))
    high = None if highest is None else exact_fraction(highest, "highest", function, Words("a number", "数"))
    if low is not None and high is not None and low >= high:
        raise ParameterError("highest", function, Words("above lowest", "lowest より大きい値"), shown(highest))
    below, above = _interval_label(None, low, whole), _interval_label(high, None, whole)

    narrowest = exact[0] if exact else Fraction(1)
    ratios = [int(width / narrowest) for width in exact]
    # floor((number - start) / narrowest) in whole numbers, which is several times as fast as with fractions.
    scale, shift = narrowest.denominator * start.denominator, narrowest.denominator * start.numerator
    step = narrowest.numerator * start.denominator

    @cache
    def label(level: int, place: int) -> str:
        begin = start + place * exact[level]
        end = begin + exact[level]
        return _interval_label(
            begin if low is None else max(begin, low), end if high is None else min(end, high), whole
        )

    def rule(number: Fraction | int) -> list[str]:
        if low is not None and number < low:
            return [below] * len(exact)
        if high is not None and number >= high:
            return [above] * len(exact)
        place = (number.numerator * scale - shift * number.denominator) // (step * number.denominator)
        return [label(level, place // ratio) for level, ratio in enumerate(ratios)]

    return rule


def _between_edges(edges: Sequence[Sequence[Rational]], whole: bool, function: str) -> Rule:
    if isinstance(edges, str) or any(isinstance(level, str) for level in edges):  # its letters would be read one by one
        raise ParameterError("edges", function, "lists of numbers, one for each level", shown(edges))
    exact = [[exact_fraction(edge, "edges", function, "numbers") for edge in level] for level in edges]
    is_ascending = all(level and all(low < high for low, high in pairwise(level)) for level in exact)
    if not exact or not is_ascending or any(not set(coarse) <= set(fine) for fine, coarse in pairwise(exact)):
        requirement = Words(
            "ascending numbers for each level, each level's among those of the one before: otherwise no tree",
            "段階ごとに小さい順の数で、前の段階の境界に含まれるもの（そうでなければ入れ子になりません）",
        )
        raise ParameterError("edges", function, requirement, Described("others"))

    labels = [[_interval_label(low, high, whole) for low, high in pairwise([None, *level, None])] for level in exact]
    return lambda number: [named[bisect_right(level, number)] for named, level in zip(labels, exact, strict=True)]


def _interval_label(low: Fraction | None, high: Fraction | None, whole: bool) -> str:
    if low is None or high is None:
        return f">={_decimal(low)}" if low is not None else f"<{_decimal(high)}" if high is not None else TOP
    if not whole:
        return f"[{_decimal(low)}, {_decimal(high)})"
    return f"{low}" if high - low == 1 else f"{low}-{high - 1}"


def _decimal(number: Fraction) -> str:
    """A number as a decimal if it is one, else as a quotient; never rounded."""
    places = next((places for places in range(MAX_PLACES) if 10**places % number.denominator == 0), None)
    if places is None:
        return str(number)
    if places == 0:
        return str(number.numerator)
    digits = str(abs(number.numerator) * 10**places // number.denominator).zfill(places + 1)
    return ("-" if number < 0 else "") + digits[:-places] + "." + digits[-places:]
