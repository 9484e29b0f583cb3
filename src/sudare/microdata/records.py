"""A table of people in memory: every column as whole numbers and the texts they stand for.

Whatever groups, generalizes or swaps records compares numbers; a text is looked at once for each different value. Nothing is
guessed: a column holds the texts that the file holds, 007 stays 007, and an empty field is a missing value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from sudare.border.frames import A_FRAME, Rows, arrow_of_frame, is_frame
from sudare.border.signatures import check_arguments
from sudare.column_names import are_evident, first_repeated, listed_columns, shown_column
from sudare.errors import Described, InputError, ParameterError
from sudare.io.formats.text_files import AUTO
from sudare.microdata.people_files import read_texts, write_texts
from sudare.parameters import describe_array, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.border.native_frames import IntoFrame

__all__ = [
    "AnyRecords",
    "CodedColumn",
    "Records",
    "names_of_columns",
    "read_people",
    "read_people_records",
    "write_people",
]

AnyRecords: TypeAlias = "Records | Mapping[str, Iterable[object]] | IntoFrame"
"""What functions take for records."""

A_TABLE = 'Such as Records(frame) or Records({"age": [31, 45], "sex": ["f", "m"]}).'
MAX_BYTES = 2**31 - 1
"""That Arrow's short texts hold in one piece."""


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """One column of a table of people.

    Args:
        name: as the header has it.
        codes: for each row, the place of its text among the labels; cannot be written to.
        labels: different texts in the order of their first appearance, each in at least one row; None is a missing value.

    Example:
        >>> from sudare.microdata.records import CodedColumn
        >>> sex = CodedColumn.of("sex", ["f", "m", None, "f"])
        >>> sex.labels, sex.codes.tolist()
        (('f', 'm', None), [0, 1, 2, 0])
    """

    name: str
    codes: NDArray[np.int32]
    labels: tuple[str | None, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ParameterError("name", "CodedColumn", "a text", shown(self.name))
        labels = tuple(self.labels)
        if len(set(labels)) != len(labels) or not all(label is None or isinstance(label, str) for label in labels):
            raise ParameterError("labels", "CodedColumn", "different texts, or None", Described("others"))
        codes = self.codes
        requirement = f"an array of int32 of one dimension, from 0 to {len(labels) - 1}"
        if not isinstance(codes, np.ndarray) or codes.ndim != 1 or codes.dtype != np.int32:
            raise ParameterError("codes", "CodedColumn", requirement, describe_array(codes))
        if codes.size and (int(codes.min()) < 0 or int(codes.max()) >= len(labels)):
            raise ParameterError("codes", "CodedColumn", requirement, Described("others"))
        if codes.flags.writeable or not codes.flags.c_contiguous:
            codes = np.array(codes, dtype=np.int32, order="C")
            codes.flags.writeable = False
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "labels", labels)

    @classmethod
    def of(cls, name: str, values: Iterable[object]) -> CodedColumn:
        """A column of values of any kind, as the texts they print as; None and not-a-number are missing."""
        check_arguments(CodedColumn.of, locals(), "values")
        places: dict[str | None, int] = {}
        listed = values.tolist() if isinstance(values, np.ndarray) else values
        codes = [places.setdefault(_text(value), len(places)) for value in listed]
        return cls(name, np.array(codes, dtype=np.int32), tuple(places))

    @classmethod
    def of_codes(cls, name: str, codes: NDArray[Any], labels: Sequence[str | None]) -> CodedColumn:
        """A column of codes of labels in any order, some of which may be equal or in no row.

        Example:
            >>> import numpy as np
            >>> from sudare.microdata.records import CodedColumn
            >>> column = CodedColumn.of_codes("age", np.array([2, 0, 2]), ["old", "middle", "young"])
            >>> column.labels, column.codes.tolist()
            (('young', 'old'), [0, 1, 0])
        """
        rows = codes.size
        if rows and (int(codes.min()) < 0 or int(codes.max()) >= len(labels)):
            raise ParameterError("codes", "CodedColumn.of_codes", "places of the labels", Described("others"))
        first = np.full(len(labels), rows, dtype=np.int64)
        first[codes[::-1]] = np.arange(rows - 1, -1, -1)
        order = np.argsort(first, kind="stable")[: int(np.count_nonzero(first < rows))]
        places: dict[str | None, int] = {}
        new = np.zeros(len(labels), dtype=np.int32)
        for place in order.tolist():
            new[place] = places.setdefault(labels[place], len(places))
        return cls(name, _protected(new[codes]), tuple(places))

    @property
    def rows(self) -> int:
        """How many rows."""
        return int(self.codes.size)

    def texts(self) -> NDArray[np.object_]:
        """The labels of the rows."""
        labels = np.empty(len(self.labels), dtype=object)
        labels[:] = self.labels
        return labels[self.codes] if self.labels else labels

    def take(self, rows: NDArray[np.int64]) -> CodedColumn:
        """Some rows, in the order given; labels of no row go."""
        return CodedColumn.of_codes(self.name, self.codes[rows], self.labels)

    def relabelled(self, labels: Sequence[str | None]) -> CodedColumn:
        """The column with another text for each of its labels; labels that become equal become one.

        Example:
            >>> from sudare.microdata.records import CodedColumn
            >>> CodedColumn.of("age", [31, 35, 42]).relabelled(["30-39", "30-39", "40-49"]).codes.tolist()
            [0, 0, 1]
        """
        if len(labels) != len(self.labels):
            requirement = f"one for each of the {len(self.labels)} labels of the column"
            raise ParameterError("labels", "relabelled", requirement, Described(f"{len(labels)} labels"))
        # Old labels are in the order of their first appearance, so the new ones are as well.
        places: dict[str | None, int] = {}
        new = np.array([places.setdefault(label, len(places)) for label in labels], dtype=np.int32)
        return CodedColumn(self.name, _protected(new[self.codes]), tuple(places))

    def with_one_missing(self) -> CodedColumn:
        """The column with an empty text as what it is to people: a missing value.

        Example:
            >>> from sudare.microdata.records import CodedColumn
            >>> CodedColumn.of("ill", ["", "no", None]).with_one_missing().labels
            (None, 'no')
        """
        return self.relabelled([label or None for label in self.labels]) if "" in self.labels else self

    def first_row(self, place: int) -> int:
        """The first row with a label, from 1 on as people count the rows of data."""
        return int(np.argmax(self.codes == place)) + 1


def _protected(codes: NDArray[np.int32]) -> NDArray[np.int32]:
    codes.flags.writeable = False
    return codes


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    is_no_number = value != value
    return None if is_no_number else str(value)


class Records(Rows):
    """A table of people in memory, which never changes.

    Args:
        columns: a frame of pandas, polars, pyarrow or DuckDB, a mapping of names to values, or columns that are coded already.
        has_known_names: whether somebody wrote the names, so that errors may show them. The first row of a file may hold
            a person.

    Raises:
        ParameterError: if the columns are none of these, or not of one length and with different names.
        InputError: if a column of a frame holds lists or the like.

    Example:
        >>> import pyarrow as pa
        >>> Records(pa.table({"age": [31, 45], "sex": ["f", "m"]})).names
        ('age', 'sex')
        >>> from sudare.microdata.records import Records
        >>> people = Records.of_columns({"age": [31, 45, 31], "sex": ["f", "m", None]})
        >>> people.names, people.rows, people.column("sex").labels
        (('age', 'sex'), 3, ('f', 'm', None))
    """

    __slots__ = ("_columns", "_has_known_names", "names", "rows")

    def __init__(
        self,
        columns: Sequence[CodedColumn] | Mapping[str, Iterable[object]] | IntoFrame,
        *,
        has_known_names: bool = False,
    ) -> None:
        check_arguments(Records.__init__, locals(), "has_known_names")
        listed, were_named = _read_columns(columns)
        self._columns = {column.name: column for column in listed}
        self._has_known_names = has_known_names or were_named
        self.names: tuple[str, ...] = tuple(self._columns)
        self.rows: int = listed[0].rows if listed else 0
        if len(self.names) != len(listed):
            raise ParameterError("columns", "Records", "of different names", Described("a name that is there twice"))
        if any(column.rows != self.rows for column in listed):
            raise ParameterError("columns", "Records", "of one length", Described("columns of different lengths"))

    def __repr__(self) -> str:
        # Never the data, nor how many rows there are.
        return f"Records({', '.join(self.names)})"

    @property
    def columns(self) -> tuple[CodedColumn, ...]:
        """All columns, in order."""
        return tuple(self._columns.values())

    def column(self, name: str) -> CodedColumn:
        """One column.

        Raises:
            InputError: if there is none of this name; it tells the name that was probably meant.
        """
        check_arguments(Records.column, locals(), "name")
        if name not in self._columns:
            are_values = any(column.name in column.labels for column in self.columns)
            asked = self.names if self._has_known_names else ()
            listed = listed_columns(str(name), self.names, asked, are_values=are_values)
            raise InputError(
                f"There is no column {name!r}.{listed.english}", f"列 {name!r} がありません。{listed.japanese}"
            )
        return self._columns[name]

    @classmethod
    def of_columns(cls, columns: Mapping[str, Iterable[object]]) -> Records:
        """A table of values of any kind, as the texts they print as; None and not-a-number are missing."""
        if not isinstance(columns, Mapping):
            raise ParameterError(
                "columns", "Records.of_columns", "a mapping of names to values", shown(columns), A_TABLE
            )
        return cls(_coded(columns), has_known_names=True)

    @classmethod
    def of_arrow(cls, table: Any, asked: Sequence[str] = ()) -> Records:
        """A table of pyarrow; numbers and dates become the texts that pyarrow prints.

        Args:
            table: of pyarrow.
            asked: the columns that were asked for by name, if any were.

        Raises:
            InputError: if a column holds lists or the like, or two columns have one name.

        Example:
            >>> import pyarrow as pa
            >>> from sudare.microdata.records import Records
            >>> Records.of_arrow(pa.table({"age": [31, None]})).column("age").labels
            ('31', None)
        """
        names: list[str] = table.column_names
        place = first_repeated(names)
        if place is not None:
            shown_name = shown_column(place, names, ())
            raise InputError(
                f"The table has two columns of one name ({shown_name.english}). Give each column a name of its own.",
                f"表に同じ名前の列が二つあります（{shown_name.japanese}）。列の名前を区別してください。",
            )
        for place, kind in enumerate(table.schema.types):
            if _is_no_text(kind):
                shown_name = shown_column(place, names, asked)
                raise InputError(
                    f"The column {shown_name.english} holds neither texts nor numbers.",
                    f"列 {shown_name.japanese} は文字列でも数値でもありません。",
                )
        columns = [_of_arrow(name, column) for name, column in zip(names, table.columns, strict=True)]
        return cls(columns, has_known_names=are_evident(names, asked))

    def frame_columns(self) -> Mapping[str, Any]:
        """All columns as texts; a missing value is None."""
        return {name: _to_arrow(column) for name, column in self._columns.items()}

    def to_arrow(self) -> Any:
        """All columns as texts, in a table of pyarrow."""
        import pyarrow as pa

        return pa.table({name: _to_arrow(column) for name, column in self._columns.items()})

    def take(self, rows: NDArray[np.int64]) -> Records:
        """Some rows, in the order given."""
        return self._with([column.take(rows) for column in self.columns])

    def with_columns(self, *columns: CodedColumn) -> Records:
        """The table with columns replaced where it has the name, and else appended."""
        return self._with(list((self._columns | {column.name: column for column in columns}).values()))

    def without(self, *names: str) -> Records:
        """The table without some columns, which it must have."""
        gone = {self.column(name).name for name in names}
        return self._with([column for column in self.columns if column.name not in gone])

    def _with(self, columns: Sequence[CodedColumn]) -> Records:
        return Records(columns, has_known_names=self._has_known_names)


def read_people_records(records: Any, function: str, parameter: str = "records") -> Records:
    """Records, or whatever they can be made of.

    Args:
        records: `Records`, a frame, or a mapping of names to values.
        function: name of the function that was handed them.
        parameter: name of its parameter.

    Raises:
        ParameterError: if they are none of these.
    """
    if isinstance(records, Records):
        return records
    if is_frame(records) or isinstance(records, Mapping):
        return Records(records)
    raise ParameterError(parameter, function, f"Records, or {A_FRAME}", shown(records), A_TABLE)


def names_of_columns(names: object, records: Records, parameter: str, function: str) -> tuple[str, ...]:
    """The names of some columns of a table.

    Args:
        names: as the user typed them.
        records: the table.
        parameter: that they were typed for.
        function: that has it.

    Raises:
        ParameterError: if they are no texts.
        InputError: if the table has no such column.
    """
    requirement = "names of columns"
    if not isinstance(names, Iterable) or isinstance(names, (str, bytes, Mapping)) or is_frame(names):
        raise ParameterError(parameter, function, requirement, shown(names), 'Such as ["age", "sex"].')
    listed = tuple(names)
    for name in listed:
        if not isinstance(name, str):
            raise ParameterError(parameter, function, requirement, shown(name), 'Such as ["age", "sex"].')
        records.column(name)
    return listed


def _read_columns(columns: Any) -> tuple[Sequence[CodedColumn], bool]:
    """Columns of whatever was handed in, and whether somebody wrote their names."""
    if is_frame(columns):
        return Records.of_arrow(arrow_of_frame(columns, "columns", "Records"), ()).columns, True
    if isinstance(columns, Mapping):
        return _coded(columns), True
    is_listed = isinstance(columns, Iterable) and not isinstance(columns, (str, bytes))
    listed = tuple(columns) if is_listed else ()
    if not is_listed or not all(isinstance(column, CodedColumn) for column in listed):
        requirement = f"{A_FRAME}, a mapping of names to values, or columns that are coded already"
        wrong = next((column for column in listed if not isinstance(column, CodedColumn)), columns)
        raise ParameterError("columns", "Records", requirement, _type_of(wrong), A_TABLE)
    return listed, False


def _coded(columns: Mapping[str, Iterable[object]]) -> list[CodedColumn]:
    coded = []
    for name, values in columns.items():
        if not isinstance(values, Iterable) or isinstance(values, (str, bytes, Mapping)):
            requirement = "a mapping of names to values, one for each person"
            raise ParameterError("columns", "Records", requirement, _type_of(values), A_TABLE)
        coded.append(CodedColumn.of(name, values))
    return coded


def _type_of(value: object) -> Described:
    """What an error message says of a value that may be somebody's: its type alone."""
    return Described(f"an object of type {type(value).__name__}")


def _is_no_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _of_arrow(name: str, column: Any) -> CodedColumn:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    elif pa.types.is_null(kind):
        column = column.cast(pa.string())
    encoded = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
    encoded = encoded.dictionary_encode(null_encoding="encode")
    if encoded.num_chunks == 0:
        return CodedColumn(name, np.zeros(0, dtype=np.int32), ())
    # Texts are made for the different values only, and all pieces share those of the last one.
    labels = encoded.chunk(encoded.num_chunks - 1).dictionary.cast(pa.string()).to_pylist()
    if pa.types.is_floating(kind):
        labels = [None if label == "nan" else label for label in labels]
    codes = np.concatenate([np.from_dlpack(piece.indices) for piece in encoded.chunks]).astype(np.int32, copy=False)
    if len(set(labels)) < len(labels):
        return CodedColumn.of_codes(name, codes, labels)
    return CodedColumn(name, _protected(codes), tuple(labels))


def _to_arrow(column: CodedColumn) -> Any:
    import pyarrow as pa

    lengths = np.array([0 if label is None else len(label.encode()) for label in column.labels], dtype=np.int64)
    is_long = column.rows > 0 and int(lengths[column.codes].sum()) > MAX_BYTES
    labels = pa.array(column.labels, pa.large_string() if is_long else pa.string())
    return labels.take(pa.Array.from_buffers(pa.int32(), column.rows, [None, pa.py_buffer(column.codes)]))


def read_people(
    path: str | Path,
    *,
    encoding: str = AUTO,
    columns: Sequence[str] | None = None,
    format: str = "auto",  # noqa: A002 - the word that users know
) -> Records:
    r"""Read people from CSV files (commas, semicolons, tabs or bars, with a header), Parquet or Arrow files.

    Rows stay in order: of the file, and of the files' names where there are several. Fields stay as they are written; an empty
    one is missing.

    Args:
        path: a file, a folder or a pattern.
        encoding: of text files; ``"auto"`` tells it file by file.
        columns: which columns, in this order; all if left out.
        format: ``"csv"``, ``"parquet"`` or ``"arrow"``; ``"auto"`` tells it from the files' names.

    Raises:
        InputError: if a file cannot be read, is in another encoding or in two, a row has more or fewer fields than the header,
            or a column is missing.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.microdata.records import read_people
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "people.csv"
        ...     _ = file.write_text("age;zip\n31;00781\n;81667\n")
        ...     read_people(file).column("zip").texts().tolist()
        ['00781', '81667']
    """
    check_arguments(read_people, locals(), "format")
    return Records.of_arrow(read_texts(path, encoding=encoding, columns=columns, form=format), columns or ())


def write_people(path: str | Path, records: AnyRecords, *, replace: bool = False) -> None:
    r"""Write people to a .csv (commas, UTF-8) or .parquet file; whole or not at all.

    Args:
        path: of the file; its ending tells the format.
        records: to write: Records, a frame, or a mapping of names to values.
        replace: whether a file that is there is replaced.

    Raises:
        OutputError: if the name ends in something else, the file exists, or it cannot be written.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.microdata.records import Records, write_people
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_people(Path(folder) / "people.csv", Records.of_columns({"age": [31, None], "name": ["a,b", "c"]}))
        ...     (Path(folder) / "people.csv").read_text()
        'age,name\n31,"a,b"\n,c\n'
    """
    check_arguments(write_people, locals(), "path", "replace")
    records = read_people_records(records, "write_people")
    labels = (label for column in records.columns for label in column.labels)
    write_texts(path, records.to_arrow(), labels, replace=replace)
