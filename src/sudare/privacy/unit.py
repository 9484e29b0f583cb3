"""Who is protected, and how much of a count table one of them can change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from sudare.bilingual import Words
from sudare.errors import EventError, ParameterError
from sudare.parameters import exact_integer, read_flag, shown

__all__ = ["Adjacency", "ProtectedTime", "Sensitivity", "Unit", "sensitivity_of_counts", "unit_of"]

Adjacency = Literal["add-remove", "replace"]
ADJACENCIES = ("add-remove", "replace")
SPANS = ("event", "person-day", "person-window")
_POSITIVE = Words("a whole number from 1 to 2**31", "1 以上 2**31 以下の整数")


@dataclass(frozen=True)
class ProtectedTime:
    """What of a unit is protected where tables are published again and again.

    | span | protected |
    |---|---|
    | `event` | one appearance in one table; fresh noise for each table is then the right answer |
    | `person-day` | everything of one unit between two resets |
    | `person-window` | everything of one unit in any so many ticks after each other |

    Args:
        span: one of these.
        ticks: how many ticks there are between two resets, or in a window; 1 for an event.

    Raises:
        ParameterError: if the span is unknown, or the number does not fit it.

    Example:
        >>> ProtectedTime("person-day", 144)
        ProtectedTime(span='person-day', ticks=144)
    """

    span: Literal["event", "person-day", "person-window"]
    ticks: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.span, str) or self.span not in SPANS:
            raise ParameterError(
                "span",
                "ProtectedTime",
                Words(f"one of {', '.join(SPANS)}", f"{', '.join(SPANS)} のいずれか"),
                shown(self.span),
            )
        largest = 1 if self.span == "event" else 2**31
        requirement = (
            Words("1 for an event, which has no length", "event では 1") if self.span == "event" else _POSITIVE
        )
        ticks = exact_integer(self.ticks, "ticks", "ProtectedTime", requirement, smallest=1, largest=largest)
        object.__setattr__(self, "ticks", ticks)

    def __str__(self) -> str:
        return self.span if self.span == "event" else f"{self.span} of {self.ticks} ticks"


@dataclass(frozen=True)
class Unit:
    """The unit of protection: what the guarantee hides is the presence, or the values, of one of these.

    Args:
        who: the protected unit in the words of the report, such as ``"person"`` or ``"household"``.
        cells: how many cells of the table one unit may be counted in.
        rows_per_cell: how often one unit may be counted in the same cell.
        rows: how often in all; ``cells * rows_per_cell`` unless a smaller number is promised.
        adjacency: two tables are neighbours if one unit was added or removed (``"add-remove"``, the default), or if one
            unit's values were replaced by any others (``"replace"``, for tables whose total is public).
        time: what of the unit is protected where tables are published again and again; left out for single tables.

    Raises:
        ParameterError: if a number is not positive or whole, or the adjacency is unknown.

    Example:
        >>> from sudare import Unit
        >>> Unit("person")
        Unit(who='person', cells=1, rows_per_cell=1, rows=1, adjacency='add-remove')
        >>> Unit.with_rows(5, who="patient").rows
        5
    """

    who: str = "person"
    cells: int = 1
    rows_per_cell: int = 1
    rows: int = cast("int", None)
    adjacency: Adjacency = "add-remove"
    time: ProtectedTime | None = None

    def __post_init__(self) -> None:
        if self.time is not None and type(self.time) is not ProtectedTime:
            raise ParameterError(
                "time", "Unit", Words("a ProtectedTime, or left out", "ProtectedTime（省略可）"), shown(self.time)
            )
        if not isinstance(self.who, str) or not self.who.strip():
            raise ParameterError(
                "who",
                "Unit",
                Words("a word for the protected unit, such as 'person'", "'person' のような、保護する単位の名前"),
                shown(self.who),
            )
        for name in ("cells", "rows_per_cell"):
            number = exact_integer(getattr(self, name), name, "Unit", _POSITIVE, smallest=1, largest=2**31)
            object.__setattr__(self, name, number)
        most = self.cells * self.rows_per_cell
        rows = most
        if self.rows is not None:
            requirement = Words(
                f"left out, or a whole number from 1 to cells * rows_per_cell = {most}",
                f"省略、または 1 以上 cells * rows_per_cell = {most} 以下の整数",
            )
            hint = "A unit with so many rows, in any cells, is Unit.with_rows(rows)."
            rows = exact_integer(self.rows, "rows", "Unit", requirement, smallest=1, largest=most, hint=hint)
        object.__setattr__(self, "rows", rows)
        if not isinstance(self.adjacency, str) or self.adjacency not in ADJACENCIES:
            raise ParameterError(
                "adjacency",
                "Unit",
                Words("'add-remove' or 'replace'", "'add-remove' または 'replace'"),
                shown(self.adjacency),
            )

    @classmethod
    def with_rows(cls, rows: int, who: str = "person", adjacency: Adjacency = "add-remove") -> Unit:
        """A unit that may have up to this many rows, spread over the cells in any way."""
        exact_integer(rows, "rows", "Unit.with_rows", _POSITIVE, smallest=1, largest=2**31)
        return cls(who, cells=rows, rows_per_cell=rows, rows=rows, adjacency=adjacency)

    def __repr__(self) -> str:
        values = self.to_dict() | ({} if self.time is None else {"time": self.time})
        return f"Unit({', '.join(f'{name}={value!r}' for name, value in values.items())})"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON; the time stands there only if there is one, as in records made before there was any."""
        values: dict[str, object] = {
            "who": self.who,
            "cells": self.cells,
            "rows_per_cell": self.rows_per_cell,
            "rows": self.rows,
            "adjacency": self.adjacency,
        }
        if self.time is not None:
            values["time"] = {"span": self.time.span, "ticks": self.time.ticks}
        return values

    @classmethod
    def from_dict(cls, values: object) -> Unit:
        """Read what `to_dict` wrote."""
        wanted = set(cls().to_dict())
        if not isinstance(values, dict) or set(values) - {"time"} != wanted:
            raise EventError(
                Words(
                    f"A unit in an event must have the fields {sorted(wanted)}. Got {values!r:.80}.",
                    f"イベント中の保護の単位の項目は {sorted(wanted)} です（記載: {values!r:.80}）。",
                )
            )
        if type(values["rows"]) is not int or values["rows"] < 1:
            raise EventError(
                Words(
                    f"The rows of a unit in an event must be at least 1. Got {values['rows']!r:.80}.",
                    f"イベント中の保護の単位の rows は 1 以上です（記載: {values['rows']!r:.80}）。",
                )
            )
        time = values.get("time", {"span": "event", "ticks": 1})
        if not isinstance(time, dict) or set(time) != {"span", "ticks"}:
            raise EventError(
                Words(
                    f"The time of a unit in an event must have the fields span and ticks. Got {time!r:.80}.",
                    f"イベント中の保護の単位の time には span と ticks の項目が必要です（記載: {time!r:.80}）。",
                )
            )
        try:
            return cls(**values | ({"time": ProtectedTime(**time)} if "time" in values else {}))
        except ParameterError as error:
            raise EventError(
                Words(
                    f"A unit in an event is not valid. {error}", f"イベント中の保護の単位が不正です。{error.japanese}"
                )
            ) from error


@dataclass(frozen=True)
class Sensitivity:
    """How far two neighbouring count tables can be apart, in whole numbers.

    Attributes:
        l1: the largest sum of absolute differences.
        l2_squared: the largest sum of squared differences.
        cells: the largest number of cells that differ.
        largest: the largest difference in one cell.
    """

    l1: int
    l2_squared: int
    cells: int
    largest: int

    def __post_init__(self) -> None:
        for name in ("cells", "largest", "l1", "l2_squared"):
            number = exact_integer(
                getattr(self, name), name, "Sensitivity", Words("a whole number >= 1", "1 以上の整数"), smallest=1
            )
            object.__setattr__(self, name, number)
        require_reachable_norm(self.l1, self.cells, self.largest, "l1", "Sensitivity")
        require_reachable_norm(self.l2_squared, self.cells, self.largest, "l2_squared", "Sensitivity")


def unit_of(
    who: str,
    adjacency: Adjacency = "add-remove",
    *,
    rows: int | None = None,
    cells: int | None = None,
    rows_per_cell: int | None = None,
) -> Unit:
    """A unit as plans and commands state it: rows alone may be in any cells; with cells, a row in each unless more are stated.

    Example:
        >>> from sudare.privacy.unit import unit_of
        >>> unit_of("person", rows=3) == Unit.with_rows(3), unit_of("person", cells=3) == Unit(cells=3)
        (True, True)
    """
    if cells is None and rows_per_cell is None:
        return Unit.with_rows(1 if rows is None else rows, who, adjacency)
    places, each = 1 if cells is None else cells, 1 if rows_per_cell is None else rows_per_cell
    return Unit(who, places, each, cast("int", rows), adjacency)


def sensitivity_of_counts(unit: Unit, *, merged: bool = False, signed: bool = False) -> Sensitivity:
    """The sensitivities of a count table, or of differences of its counts; every mechanism takes them from here.

    One unit's contribution is a vector of whole numbers, each from 0 to ``rows_per_cell``, at most ``cells`` of them
    positive, their sum at most ``rows``. The l1 norm is at most ``rows``. The sum of squares is convex, so it is
    largest where as many cells as possible are full and one takes the rest. Replacing a unit subtracts one such vector
    and adds another; because both are non-negative, every norm is largest where they do not overlap, and l1, the
    squared l2 norm and the number of cells double. The largest difference in one cell does not: a cell either loses or
    gains.

    Where cells are ``merged`` into areas, all of a unit's rows may meet in one area: it is as if ``rows_per_cell`` were
    ``rows``. The l1 sensitivity stays, the l2 sensitivity of a unit with several cells grows.

    Differences of disjoint counts (``signed``), such as left half minus right half, give contributions with signs.
    Adding or removing a unit changes none of the above. Replacing one may move it from one side of a difference to the
    other: the two contributions then meet with opposite signs, the largest difference doubles and the squared l2 norm
    quadruples.

    Args:
        unit: who is protected.
        merged: whether the table holds sums over several cells, such as the nodes of a tree.
        signed: whether the table holds differences of counts.

    Example:
        >>> from sudare import Unit
        >>> from sudare.privacy import sensitivity_of_counts
        >>> sensitivity_of_counts(Unit(adjacency="replace"))
        Sensitivity(l1=2, l2_squared=2, cells=2, largest=1)
        >>> sensitivity_of_counts(Unit(adjacency="replace"), signed=True)
        Sensitivity(l1=2, l2_squared=4, cells=2, largest=2)
        >>> sensitivity_of_counts(Unit(cells=3)).l2_squared, sensitivity_of_counts(Unit(cells=3), merged=True).l2_squared
        (3, 9)
        >>> sensitivity_of_counts(Unit.with_rows(3))
        Sensitivity(l1=3, l2_squared=9, cells=3, largest=3)
    """
    if not isinstance(unit, Unit):
        raise ParameterError("unit", "sensitivity_of_counts", "a Unit", shown(unit))
    read_flag(signed, "signed", "sensitivity_of_counts")
    read_flag(merged, "merged", "sensitivity_of_counts")
    largest = unit.rows if merged else min(unit.rows_per_cell, unit.rows)
    full_cells, rest = divmod(unit.rows, largest)
    squares = full_cells * largest**2 + rest**2
    cells = min(unit.cells, unit.rows)
    if unit.adjacency == "add-remove":
        return Sensitivity(unit.rows, squares, cells, largest)
    if signed:
        return Sensitivity(2 * unit.rows, 4 * squares, 2 * cells, 2 * largest)
    return Sensitivity(2 * unit.rows, 2 * squares, 2 * cells, largest)


def require_reachable_norm(norm: int, cells: int, largest: int, name: str, function: str) -> None:
    """Refuse an l1 norm, or a squared l2 norm, that this many differences of at most so much cannot have."""
    power = 2 if name == "l2_squared" else 1
    lowest, highest = max(cells, largest**power), cells * largest**power
    if not lowest <= norm <= highest:
        requirement = f"from {lowest} to {highest}, because {cells} cells differ by at most {largest} each"
        raise ParameterError(name, function, requirement, norm)


def read_sensitivity(value: object, function: str) -> Sensitivity:
    """A sensitivity that a caller handed in."""
    if not isinstance(value, Sensitivity):
        raise ParameterError("sensitivity", function, "a Sensitivity, from sensitivity_of_counts(unit)", shown(value))
    return value
