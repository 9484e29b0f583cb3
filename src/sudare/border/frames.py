"""Frames in and frames out: what holds rows becomes a frame, a text or a table in a notebook, and any frame becomes columns.

Frames of pandas, polars and pyarrow, relations of DuckDB and, with narwhals, frames of other packages are taken; none of these
packages is loaded before somebody asks for a frame.
"""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from html import escape
from typing import Any, Literal, TypeVar, cast
from unicodedata import east_asian_width

from sudare.bilingual import Words
from sudare.border.native_frames import is_frame, native_frame
from sudare.errors import Described, InputError, ParameterError
from sudare.extras import DATA_FRAMES, missing_package
from sudare.parameters import exact_integer, shown

__all__ = [
    "A_FRAME",
    "FRAME_KINDS",
    "Figures",
    "FrameKind",
    "RowList",
    "RowTuple",
    "Rows",
    "ShownRows",
    "arrow_of_frame",
    "as_frame",
    "column_list",
    "columns_of_frame",
    "is_frame",
    "text_width",
]

FrameKind = Literal["pandas", "polars", "pyarrow"]
FRAME_KINDS = ("pandas", "polars", "pyarrow")
MAX_ROWS_SHOWN = 40
MAX_WHOLE = 1e15
"""Floats beyond are not written with all their digits."""
A_FRAME = "a frame of pandas, polars or pyarrow"
"""What is asked for where a frame is."""

NO_COLUMN = Words(
    "The column {column} of the frame holds values that are neither texts nor numbers nor dates. Turn it into texts first.",
    "データフレームの列 {column} に、文字列・数値・日付以外の値があります。先に文字列に変換してください。",
)
Item = TypeVar("Item")


def arrow_of_frame(frame: object, parameter: str, function: str) -> Any:
    """A frame of any kind as a table of pyarrow.

    Args:
        frame: of pandas, polars, pyarrow, DuckDB or another package that narwhals knows.
        parameter: name of the parameter that it was handed in for.
        function: name of the function that has it.

    Raises:
        ParameterError: if it is no frame, or a column has a name that is no text.
        MissingPackageError: if it is a frame of a package that needs narwhals, which is not installed.
        InputError: if a column holds objects of several kinds.

    Example:
        >>> import pyarrow as pa
        >>> arrow_of_frame(pa.table({"age": [31, 45]}), "frame", "Records").column_names
        ['age']
    """
    import pyarrow as pa

    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    if isinstance(frame, pa.Table):
        return frame
    given = list(getattr(frame, "columns", ())) if type(frame).__name__ == "DataFrame" else []
    if any(name in given[:place] for place, name in enumerate(given)):
        raise ParameterError(parameter, function, "a frame without two columns of one name", Described("another"))
    data = native_frame(frame, is_lazy_allowed=True)
    if data is None:
        raise ParameterError(parameter, function, A_FRAME, shown(frame))
    for place, name in enumerate(data.names):
        if not isinstance(name, str):
            requirement = "a frame whose columns have texts for names"
            raise ParameterError(parameter, function, requirement, Described(f"another name for column {place + 1}"))
    columns = {}
    for place, name in enumerate(data.names):
        try:
            columns[name] = data.to_arrow(name)
        except (pa.ArrowException, TypeError, ValueError):
            raise InputError(NO_COLUMN.format(column=place + 1)) from None
    return pa.table(columns)


def columns_of_frame(value: Any, parameter: str, function: str) -> Mapping[str, Any]:
    """The columns of a frame as arrays by their names; whatever is no frame stays as it is.

    Args:
        value: what was handed in.
        parameter: name of the parameter that it was handed in for.
        function: name of the function that has it.

    Example:
        >>> import pyarrow as pa
        >>> columns_of_frame(pa.table({"age": [31, 45]}), "columns", "f")["age"].tolist()
        [31, 45]
    """
    if not is_frame(value):
        return cast("Mapping[str, Any]", value)
    table = arrow_of_frame(value, parameter, function)
    return {name: table.column(name).to_numpy() for name in table.column_names}


def as_frame(columns: Mapping[str, Any], kind: FrameKind | None, function: str) -> Any:
    """Columns as a frame.

    Args:
        columns: arrays or sequences of plain values, by their names, all of one length.
        kind: ``"pandas"``, ``"polars"`` or ``"pyarrow"``; None for pandas where it is installed, else pyarrow.
        function: name of the function that was asked.

    Raises:
        ParameterError: if there is no such kind.
        MissingPackageError: if its package is not installed.

    Example:
        >>> as_frame({"cell": ["a", "b"], "count": [3, 1]}, "pyarrow", "f").to_pylist()
        [{'cell': 'a', 'count': 3}, {'cell': 'b', 'count': 1}]
    """
    import pyarrow as pa

    if kind is not None and (not isinstance(kind, str) or kind not in FRAME_KINDS):
        raise ParameterError("kind", function, "'pandas', 'polars' or 'pyarrow'", shown(kind))
    arrow = pa.table({name: _arrow_column(values) for name, values in columns.items()})
    if kind == "pyarrow":
        return arrow
    try:
        if kind == "polars":
            import polars

            return polars.from_arrow(arrow)
        import pandas  # noqa: F401 - pyarrow would fail in words of its own

        return arrow.to_pandas()
    except ImportError:
        if kind is None:
            return arrow
        raise missing_package(kind, None, DATA_FRAMES.format(library=kind)) from None


def _arrow_column(values: Any) -> Any:
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray) or hasattr(values, "dtype"):
        return values
    plain = [_plain(value) for value in values]
    try:
        return pa.array(plain)
    except (pa.ArrowException, TypeError, OverflowError):  # values of several kinds, such as labels 1 and "other"
        return pa.array([None if value is None else str(value) for value in plain])


def _plain(value: object) -> object:
    """What a frame may hold: exact numbers become floats, words English, members of an enumeration their values."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, (Fraction, Decimal)):
        return float(value)
    if isinstance(value, Words):
        return value.english
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (tuple, list, frozenset)):
        return ", ".join(str(_plain(each)) for each in value)
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "ndim", 1) == 0 else str(value)


class Rows:
    """What holds rows: `to_frame` gives them to programs, `to_text` to people. Whoever has rows says which, once.

    Example:
        >>> class Wards(Rows):
        ...     def frame_columns(self):
        ...         return {"ward": ["north", "south"], "people": [1200, 31]}
        >>> print(Wards().to_text())
        ward   people
        north   1,200
        south      31
        >>> Wards().to_frame("pyarrow").num_rows
        2
    """

    __slots__ = ()

    def frame_columns(self) -> Mapping[str, Any]:
        """The columns of the frame, all of one length: arrays, or sequences of plain values."""
        raise NotImplementedError

    def to_frame(self, kind: FrameKind | None = None) -> Any:
        """The rows as a frame.

        Args:
            kind: ``"pandas"``, ``"polars"`` or ``"pyarrow"``; left out, pandas where it is installed, else pyarrow.

        Raises:
            ParameterError: if there is no such kind.
            MissingPackageError: if its package is not installed.
        """
        return as_frame(self.frame_columns(), kind, f"{type(self).__name__}.to_frame")

    def to_text(self, most_rows: int = MAX_ROWS_SHOWN) -> str:
        """The rows as lines of text, under the names of their columns.

        Args:
            most_rows: further ones are counted.
        """
        number = exact_integer(
            most_rows, "most_rows", f"{type(self).__name__}.to_text", "a whole number >= 0", smallest=0
        )
        table, rest = self._texts(number)
        lines = aligned(table)
        return "\n".join([*lines, f"... and {rest:,} more rows"] if rest else lines)

    def _texts(self, most_rows: int) -> tuple[list[tuple[list[str], bool]], int]:
        """Columns of texts with their headings, each with whether it holds numbers; and how many rows are left out."""
        columns = self.frame_columns()
        length = max((len(values) for values in columns.values()), default=0)
        table = []
        for name, values in columns.items():
            listed = column_list(values[:most_rows])
            are_numbers = all(value is None or _is_number(value) for value in listed) and any(
                value is not None for value in listed
            )
            table.append(([name, *map(_shown_text, listed)], are_numbers))
        return table, max(0, length - most_rows)


class ShownRows(Rows):
    """Rows that are not protected data, or that their holder wants to see: printed, and shown as a table in notebooks."""

    __slots__ = ()

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        table, rest = self._texts(MAX_ROWS_SHOWN)
        heads = "".join(f"<th>{escape(texts[0])}</th>" for texts, _ in table)
        places = ["right" if are_numbers else "left" for _, are_numbers in table]
        rows = [
            "".join(
                f"<td style='text-align:{place}'>{escape(text)}</td>" for text, place in zip(row, places, strict=True)
            )
            for row in zip(*(texts[1:] for texts, _ in table), strict=True)
        ]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        more = f"<p>... and {rest:,} more rows</p>" if rest else ""
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{more}"


class Figures(ShownRows):
    """A result of a few named figures, a data class: its frame has a row for each."""

    __slots__ = ()

    def frame_columns(self) -> Mapping[str, Any]:
        """The names and values of the figures; None where one is no number."""
        fields = [field.name for field in dataclasses.fields(cast("Any", self))]
        values = {name: getattr(self, name) for name in fields}
        kept = {
            name: value
            for name, value in values.items()
            if value is None or isinstance(value, bool) or _is_number(value)
        }
        return {
            "figure": list(kept),
            "value": [None if value is None else float(value) for value in kept.values()],
        }


class _ListedRows(ShownRows):
    """Rows that are data classes of one kind, listed."""

    __slots__ = ()

    def frame_columns(self) -> Mapping[str, Any]:
        """A column for each field, in which a further data class gives its own fields; or what the rows say themselves."""
        rows = [_fields_of(row) for row in cast("Iterable[Any]", self)]
        return {name: [row.get(name) for row in rows] for name in (rows[0] if rows else {})}


class RowTuple(_ListedRows, tuple[Item, ...]):
    """A tuple of results of one kind, which is also a frame.

    Example:
        >>> from sudare.evaluate import error_by_area
        >>> errors = error_by_area([[1, 2], [3, 4]], [[1, 2], [3, 5]])
        >>> errors.to_frame("pyarrow").column_names[:2], isinstance(errors, tuple)
        (['side', 'areas'], True)
    """

    __slots__ = ()


class RowList(_ListedRows, list[Item]):
    """A list of results of one kind, which is also a frame."""

    __slots__ = ()


def _fields_of(row: Any) -> dict[str, object]:
    if isinstance(row, Rows):
        return {name: values[0] for name, values in row.frame_columns().items()}
    fields: dict[str, object] = {}
    for field in dataclasses.fields(row):
        value = getattr(row, field.name)
        if dataclasses.is_dataclass(value) and not isinstance(value, (type, Words)):
            fields.update(_fields_of(value))
        else:
            fields[field.name] = value
    return fields


def aligned(columns: Sequence[tuple[Sequence[str], bool]]) -> list[str]:
    """Lines of columns, each as wide as its widest text; numbers end, and texts begin, at the same place."""
    widths = [max(map(text_width, texts), default=0) for texts, _ in columns]
    lines = []
    for row in zip(*(texts for texts, _ in columns), strict=True):
        cells = []
        for text, width, (_, are_numbers) in zip(row, widths, columns, strict=True):
            gap = " " * (width - text_width(text))
            cells.append(gap + text if are_numbers else text + gap)
        lines.append("  ".join(cells).rstrip())
    return lines


def text_width(text: str) -> int:
    """Of a text on a screen, where Japanese letters are twice as wide."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def column_list(values: Any) -> list[Any]:
    """A column as plain values."""
    if hasattr(values, "to_pylist"):
        return cast("list[Any]", values.to_pylist())
    return cast("list[Any]", values.tolist()) if hasattr(values, "tolist") else [_plain(value) for value in values]


def _is_number(value: object) -> bool:
    return isinstance(value, (numbers.Real, Decimal)) and not isinstance(value, (bool, Enum))


def _shown_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if value.is_integer() and abs(value) < MAX_WHOLE:
            return f"{value:,.0f}"
        return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)
