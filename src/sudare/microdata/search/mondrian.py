"""Local recoding: records in boxes of at least k, each box with its own intervals and groups (Mondrian, LeFevre et al. 2006).

The box of all records is cut in two where its widest column allows it, and so are the parts, until no cut leaves k records on
both sides. Numbers are cut between two values, as close to the middle of the records as possible; a column with a hierarchy is
cut into the groups below the one that holds the whole box. Boxes do not overlap: a record's values lie in its own box only.

What this protects: nobody can be told from fewer than k records by the recoded columns, and every class satisfies what
``allowed`` asks for. What it does not: the ends of an interval are values of the data, and where cuts are depends on all
records, so this is never differentially private, with or without sampling.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import Rows
from sudare.border.signatures import check_arguments
from sudare.errors import InputError, ParameterError
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.hierarchies.numbers import NUMBER
from sudare.microdata.records import AnyRecords, CodedColumn, Records, names_of_columns, read_people_records
from sudare.parameters import exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Longs = NDArray[np.int64]
    Floats = NDArray[np.float64]

__all__ = ["Recoding", "recode_locally"]

Allowed = Callable[["Longs"], bool]
"""Whether the records in these rows may be a class."""


@dataclass(frozen=True, eq=False)
class Recoding(Rows):
    """Records in boxes.

    Attributes:
        records: all columns; those that were recoded hold the labels of the boxes.
        of_row: the box of each row, in the order of their first rows.
        sizes: how many records each box holds.
        loss_of_columns: for each recoded column the share of its domain that a published value stands for, on average over
            records: from 0 (values as they are) to 1.
    """

    records: Records
    of_row: Longs
    sizes: Longs
    loss_of_columns: Mapping[str, float]

    def frame_columns(self) -> Mapping[str, Any]:
        """The resulting records, every column as texts."""
        return self.records.frame_columns()


class _Axis(ABC):
    """A column to cut: a code for each row, so that what may stay together has codes next to each other."""

    name: str
    codes: NDArray[np.int32]

    @abstractmethod
    def width(self, low: int, high: int) -> float:
        """The share of the domain that a box with these ends stands for, from 0 to 1."""

    @abstractmethod
    def label(self, low: int, high: int) -> str | None:
        """What is published for a box with these ends."""

    @abstractmethod
    def parts(self, box: Longs, codes: NDArray[np.int32], place: int, low: int, high: int, k: int) -> list[Longs]:
        """The rows of the box cut along this column, each part with at least k; empty if there is no such cut."""


class _Ordered(_Axis):
    """Numbers, or texts in the order of their letters."""

    def __init__(self, column: CodedColumn) -> None:
        self.name = column.name
        labels = [label for label in column.labels if label is not None]
        if len(labels) < len(column.labels):
            row = column.first_row(column.labels.index(None))
            raise InputError(
                f"The column {column.name!r} has an empty field in row {row} of the data. Fill it in, leave the row out, or give "
                "the column a hierarchy with an empty value.",
                f"列 {column.name!r} のデータ {row} 行目が空欄です。値を入れるか、行を除くか、"
                "空の値を含む階層を指定してください。",
            )
        self.is_number = all(NUMBER.fullmatch(label) for label in labels)
        keys: list[Any] = [Fraction(label) for label in labels] if self.is_number else list(labels)
        # Equal numbers may be written in two ways, such as 1 and 1.0; they are published as the first one.
        written: dict[Any, str] = {}
        for key, label in zip(keys, labels, strict=True):
            written.setdefault(key, label)
        ordered = sorted(written)
        ranks = {key: rank for rank, key in enumerate(ordered)}
        self.labels = [written[key] for key in ordered]
        # From 0 to 1, by exact arithmetic: numbers may be larger than floats are.
        places = ordered if self.is_number else range(len(ordered))
        span = places[-1] - places[0] or 1 if ordered else 1
        self.places = [float(Fraction(place - places[0]) / span) for place in places]
        self.codes = np.array([ranks[key] for key in keys], dtype=np.int32)[column.codes]

    def width(self, low: int, high: int) -> float:
        return self.places[high] - self.places[low]

    def label(self, low: int, high: int) -> str | None:
        if low == high:
            return self.labels[low]
        if self.is_number:
            return f"[{self.labels[low]}, {self.labels[high]}]"
        return "{" + ", ".join(self.labels[low : high + 1]) + "}"

    def parts(self, box: Longs, codes: NDArray[np.int32], place: int, low: int, high: int, k: int) -> list[Longs]:
        from sudare.kernels.records.mondrian import NO_CUT, balanced_cut, divide

        cut = balanced_cut(codes, place, box, 0, box.size, k)
        if cut == NO_CUT:
            return []
        divided = box.copy()
        middle = divide(codes, place, divided, 0, box.size, cut, np.empty(box.size, dtype=np.int64))
        return [divided[:middle], divided[middle:]]


class _Grouped(_Axis):
    """A column with a hierarchy, its leaves in an order in which every group is a stretch."""

    def __init__(self, column: CodedColumn, hierarchy: Generalization) -> None:
        if len(hierarchy.levels[-1]) != 1:
            requirement = f"with one group at the top, for {hierarchy.name!r}"
            raise ParameterError("hierarchies", "recode_locally", requirement, shown(None))
        self.name, self.hierarchy = column.name, hierarchy
        order = np.lexsort(hierarchy.parents)  # the last key, which is the top, counts first
        places = np.empty(order.size, dtype=np.int32)
        places[order] = np.arange(order.size, dtype=np.int32)
        self.codes = places[hierarchy.places(column)][column.codes]
        self.groups = [parents[order] for parents in hierarchy.parents]
        self.sizes = [hierarchy.sizes(level) for level in range(hierarchy.height + 1)]
        self.spare = np.zeros(order.size, dtype=np.int64)

    def _level(self, low: int, high: int) -> int:
        """The lowest level on which the box is in one group."""
        return next(level for level, groups in enumerate(self.groups) if groups[low] == groups[high])

    def width(self, low: int, high: int) -> float:
        if low == high:
            return 0.0
        level = self._level(low, high)
        return float((self.sizes[level][self.groups[level][low]] - 1) / (self.hierarchy.leaves - 1))

    def label(self, low: int, high: int) -> str | None:
        level = self._level(low, high)
        # An empty label stands for missing values.
        return self.hierarchy.levels[level][int(self.groups[level][low])] or None

    def parts(self, box: Longs, codes: NDArray[np.int32], place: int, low: int, high: int, k: int) -> list[Longs]:
        from sudare.kernels.records.mondrian import groups_fit

        groups = self.groups[self._level(low, high) - 1]
        if not groups_fit(codes, place, box, groups, k, self.spare):
            return []
        below = groups[codes[place, box]]
        order = np.argsort(below, kind="stable")
        return np.split(box[order], np.flatnonzero(np.diff(below[order])) + 1)


def recode_locally(
    records: AnyRecords,
    names: Sequence[str],
    k: int,
    *,
    hierarchies: Mapping[str, Generalization] | None = None,
    allowed: Allowed | None = None,
) -> Recoding:
    """Recode columns in boxes of at least k records.

    Args:
        records: the data.
        names: the quasi-identifiers. Columns of numbers become intervals such as [30, 39]; other columns without a hierarchy
            become sets of values that are next to each other in the order of letters.
        k: the smallest number of records in a box, at least 2.
        hierarchies: of columns that become groups of their hierarchy.
        allowed: further asked of every box: takes its rows, and tells whether they may be a class.

    Raises:
        InputError: if there are fewer than k records, a value is missing or not in its hierarchy, or all records together are not
            allowed to be a class.
        ParameterError: if k is below 2, or a column is there twice.

    Example:
        >>> from sudare.microdata.search.mondrian import recode_locally
        >>> from sudare.microdata.records import Records
        >>> people = Records.of_columns({"age": [31, 35, 52, 58, 60], "ill": ["no", "yes", "no", "no", "yes"]})
        >>> recode_locally(people, ["age"], 2).records.column("age").texts().tolist()
        ['[31, 35]', '[31, 35]', '[52, 60]', '[52, 60]', '[52, 60]']
    """
    check_arguments(recode_locally, locals(), "hierarchies", "allowed")
    records = read_people_records(records, "recode_locally")
    names = names_of_columns(names, records, "names", "recode_locally")
    function = "recode_locally"
    k = exact_integer(k, "k", function, Words("a whole number >= 2", "2 以上の整数"), smallest=2)
    known = dict(hierarchies or {})
    if isinstance(names, str) or not names or len(set(names)) != len(names):
        raise ParameterError(
            "names",
            function,
            Words("different names of columns, at least one", "互いに異なる 1 個以上の列名"),
            shown(names),
        )
    for name in known:
        if name not in names:
            raise ParameterError("hierarchies", function, "of the columns in names", name)
    if records.rows < k:
        raise InputError(
            f"There are fewer than k = {k} records, so no class can have k. Take a smaller k, or more data.",
            f"件数が k = {k} より少ないため、k 件の組は作れません。k を小さくするか、データを増やしてください。",
        )
    axes = [
        _Grouped(records.column(name), known[name]) if name in known else _Ordered(records.column(name))
        for name in names
    ]
    everybody = np.arange(records.rows, dtype=np.int64)
    if allowed is not None and not allowed(everybody):
        raise InputError(
            "Even all records in one class do not satisfy the model, so no recoding does. Ask for less.",
            "全件を一つの組にしても条件を満たさないため、どの再符号化も条件を満たしません。条件を緩めてください。",
        )
    boxes = _cut(axes, everybody, k, allowed)
    return _published(records, axes, boxes)


def _cut(axes: Sequence[_Axis], everybody: Longs, k: int, allowed: Allowed | None) -> list[Longs]:
    """The boxes that cannot be cut any further."""
    from sudare.kernels.records.mondrian import find_spans

    codes = np.ascontiguousarray(np.stack([axis.codes for axis in axes]))
    low, high = np.zeros(len(axes), dtype=np.int32), np.zeros(len(axes), dtype=np.int32)
    waiting, done = [everybody], []
    while waiting:
        box = waiting.pop()
        parts: list[Longs] = []
        if box.size >= 2 * k:
            find_spans(codes, box, 0, box.size, low, high)
            widths = [axis.width(int(low[place]), int(high[place])) for place, axis in enumerate(axes)]
            for place in sorted(range(len(axes)), key=lambda place: (-widths[place], place)):
                if low[place] == high[place]:
                    continue
                parts = axes[place].parts(box, codes, place, int(low[place]), int(high[place]), k)
                if parts and (allowed is None or all(allowed(part) for part in parts)):
                    break
                parts = []
        if parts:
            waiting.extend(reversed(parts))
        else:
            done.append(box)
    return done


def _published(records: Records, axes: Sequence[_Axis], boxes: list[Longs]) -> Recoding:
    boxes = sorted(boxes, key=lambda box: int(box.min()))
    sizes = np.array([box.size for box in boxes], dtype=np.int64)
    of_row = np.empty(records.rows, dtype=np.int64)
    for place, box in enumerate(boxes):
        of_row[box] = place
    columns, losses = [], {}
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    together = np.concatenate(boxes)
    for axis in axes:
        low = np.minimum.reduceat(axis.codes[together], starts).tolist()
        high = np.maximum.reduceat(axis.codes[together], starts).tolist()
        labels = [axis.label(first, last) for first, last in zip(low, high, strict=True)]
        columns.append(CodedColumn.of_codes(axis.name, of_row, labels))
        widths = np.array([axis.width(first, last) for first, last in zip(low, high, strict=True)])
        losses[axis.name] = float(sizes @ widths) / records.rows
    return Recoding(records.with_columns(*columns), of_row, sizes, losses)
