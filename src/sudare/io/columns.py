"""From a column to places along an attribute's axes: what SQL selects of it, and how the distinct values are understood.

Mesh codes, labels and positions are grouped as they stand in the data; there are few different ones, and NumPy places
them. Numbers in bins are placed by SQL already, by the same comparisons as `Bins.places` makes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain import Attribute, Bins, Category, CountTable, Hierarchy, Mesh, MeshList, Positions, mesh_level
from sudare.domain.allowed_values import WHOLE_NUMBERS, labels_like, numbers_between, whole_numbers_between
from sudare.domain.grids.inspire import InspireGrid
from sudare.domain.mesh import other_level
from sudare.domain.sparse_table import SparseTable
from sudare.errors import InputError, ParameterError
from sudare.io import complaints
from sudare.io.engine import identifier, literal, numpy_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = [
    "AttributeColumn",
    "WrongValueError",
    "count_expression",
    "exact_text",
    "family_of",
    "first_refused",
    "number_of_text",
    "places_of_count_columns",
]

MAX_EDGES_IN_SQL = 1024
"""Finer bins are placed by NumPy, from the distinct numbers."""

MAX_COUNT_COLUMNS = 10_000
TEXTS_NUMBERS_OR_DATES = Words("texts, numbers or dates", "文字、数値または日付")
MESH_CODES = Words("mesh codes", "メッシュコード")
NUMBERS = Words("numbers", "数値")
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


class WrongValueError(Exception):
    """A distinct value that its attribute does not have; the caller knows where to look for its row."""

    def __init__(self, value: Any, allowed: Words, *, is_label: bool, hint: Words | None = None) -> None:
        super().__init__("a value that the attribute does not have")
        self.value = value
        self.allowed = allowed
        self.is_label = is_label
        self.hint = hint


def family_of(kind: str) -> str:
    """What DuckDB's type holds: text, integer, real, date, boolean, or other."""
    base = kind.split("(", 1)[0]
    if base in ("VARCHAR", "ENUM"):
        return "text"
    if base.endswith("INT") or base in ("INTEGER", "UINTEGER"):
        return "integer"
    if base in ("FLOAT", "DOUBLE", "DECIMAL"):
        return "real"
    if base == "DATE" or base.startswith("TIMESTAMP"):
        return "date"
    return "boolean" if base == "BOOLEAN" else "other"


def exact_text(column: str, kind: str) -> str:
    """A column of which only the same texts are equal.

    A database may hold a collation under which 'ad' is 'AD'. It then hands out one spelling for both, that of some row:
    one person would decide in which cell all the others are counted.
    """
    is_text = family_of(kind) == "text" and not kind.startswith("ENUM")
    return f'{column} COLLATE "binary"' if is_text else column


@dataclass(frozen=True)
class AttributeColumn:
    """The column that holds an attribute.

    Attributes:
        attribute: what it means.
        name: the column's name.
        kind: DuckDB's type of it.
    """

    attribute: Attribute
    name: str
    kind: str

    @property
    def names(self) -> tuple[str, ...]:
        """Every column that is read for it."""
        return (self.name,)

    @property
    def is_missing(self) -> str:
        """The SQL condition for rows with an empty field."""
        return f"{identifier(self.name)} IS NULL"

    def check_type(self, file: str | None) -> None:
        """Refuse types that cannot hold the attribute's values."""
        family, attribute = family_of(self.kind), self.attribute
        if family == "other":
            raise complaints.wrong_type(self.name, self.kind, TEXTS_NUMBERS_OR_DATES, file)
        if family in ("date", "boolean") and not isinstance(attribute, (Category, Hierarchy)):
            wanted = MESH_CODES if isinstance(attribute, (Mesh, MeshList)) else NUMBERS
            raise complaints.wrong_type(self.name, self.kind, wanted, file)

    @property
    def is_placed_by_sql(self) -> bool:
        """Whether the expression gives places, with -1 for numbers outside."""
        return isinstance(self.attribute, Bins) and len(self.attribute.edges) <= MAX_EDGES_IN_SQL

    @property
    def raw(self) -> str:
        """The column as its values are compared: numbers for bins (NaN stands for what is none), else as it is."""
        column = identifier(self.name)
        if not isinstance(self.attribute, Bins):
            return f"CAST({column} AS VARCHAR)" if self.kind.startswith("ENUM") else exact_text(column, self.kind)
        family = family_of(self.kind)
        if family == "text":
            return number_of_text(column)
        if family == "integer":
            # Whole numbers beyond 2**53 are outside of all bins, but would be rounded into one.
            exact = f"{column} BETWEEN -9007199254740992 AND 9007199254740992"
            return f"CASE WHEN {column} IS NULL THEN NULL WHEN {exact} THEN CAST({column} AS DOUBLE) ELSE 'nan'::DOUBLE END"
        return f"CAST({column} AS DOUBLE)"

    @property
    def grouped_kind(self) -> str:
        """DuckDB's type of what rows are grouped by."""
        if self.is_placed_by_sql:
            return "INTEGER"
        if isinstance(self.attribute, Bins):
            return "DOUBLE"
        return "VARCHAR" if self.kind.startswith("ENUM") else self.kind

    def grouped(self, raw: str) -> str:
        """The expression to group by, from the name that `raw` was given."""
        if not self.is_placed_by_sql:
            return raw
        edges = self.attribute.edges  # type: ignore[attr-defined]
        inside = _inside(raw, edges)
        return f"CASE WHEN {raw} IS NULL THEN NULL WHEN {inside} THEN {_halving(raw, edges, 0, len(edges) - 1)} ELSE -1 END"

    def places(self, values: Any) -> tuple[Integers, ...]:
        """The places of values as they came out of SQL, a pyarrow array without gaps.

        Raises:
            WrongValueError: if one does not belong to the attribute.
        """
        if self.is_placed_by_sql:
            places = numpy_of(values).astype(np.int64)
            if places.size and places.min() < 0:
                raise self._outside_bins()
            return (places,)
        if isinstance(self.attribute, Bins):
            numbers = numpy_of(values)
            try:
                return self.attribute.places(numbers)
            except ParameterError:
                raise self._outside_bins() from None
        if isinstance(self.attribute, (Mesh, MeshList, Positions)):
            return _places_of_codes(self.attribute, values)
        if isinstance(self.attribute, InspireGrid):
            return _places_of_ids(self.attribute, values)
        return _places_of_labels(self.attribute, values)

    def inside(self, values: Any) -> NDArray[np.bool_]:
        """Which mesh codes are in the domain; a code that breaks the rules of its digits is a mistake all the same."""
        mesh = self.attribute
        if isinstance(mesh, InspireGrid):
            rows, columns = _places_of_ids(mesh.everywhere, values)
            return mesh.contains(rows, columns)
        if not isinstance(mesh, (Mesh, MeshList)):
            return np.ones(len(values), dtype=bool)
        everywhere = Mesh(mesh.name, mesh.level, 0, 0, *(2 * [mesh.level.cells_per_side]))  # type: ignore[union-attr]
        rows, columns = _places_of_codes(everywhere, values)
        return mesh.contains(rows, columns)

    def _outside_bins(self) -> WrongValueError:
        edges = self.attribute.edges  # type: ignore[attr-defined]
        return WrongValueError(None, numbers_between(edges[0], edges[-1]), is_label=False)

    def finds(self, value: Any) -> str:
        """The SQL condition for rows with a wrong value."""
        if isinstance(self.attribute, Bins):
            return f"NOT ({_inside(f'({self.raw})', self.attribute.edges)})"
        if isinstance(value, bool):
            return f"{self.raw} = {value}"
        if isinstance(value, float):
            return f"{self.raw} = {_number(value)}"
        return f"CAST({self.raw} AS VARCHAR) = {literal(str(value))}"


def number_of_text(column: str) -> str:
    """The number that a text shows; not a number where it shows none."""
    number = f"TRY_CAST({column} AS DOUBLE)"
    return f"CASE WHEN {column} IS NOT NULL AND {number} IS NULL THEN 'nan'::DOUBLE ELSE {number} END"


def _number(value: float) -> str:
    return f"{float(value)!r}::DOUBLE" if math.isfinite(value) else f"'{value}'::DOUBLE"


def _inside(raw: str, edges: Sequence[float]) -> str:
    # Statistics of a Parquet file leave out what is not a number, and DuckDB believes them: it has to be asked for.
    return f"NOT isnan({raw}) AND {raw} >= {_number(edges[0])} AND {raw} < {_number(edges[-1])}"


def _halving(raw: str, edges: Sequence[float], low: int, high: int) -> str:
    """Which of the bins from low to before high: nested comparisons, as deep as the logarithm of their number."""
    if high - low == 1:
        return str(low)
    middle = (low + high) // 2
    left, right = _halving(raw, edges, low, middle), _halving(raw, edges, middle, high)
    return f"CASE WHEN {raw} < {_number(edges[middle])} THEN {left} ELSE {right} END"


def count_expression(column: str, kind: str, file: str | None, table: type[SparseTable] = CountTable) -> str:
    """The count of a row, one below the lowest where it is none that a table has, NULL where there is none."""
    name, family = identifier(column), family_of(kind)
    wrong = f"CAST({table.lowest - 1} AS BIGINT)"
    if family == "integer":
        is_whole = f"{name} BETWEEN {table.lowest} AND {table.highest}"
        return f"CASE WHEN {is_whole} THEN CAST({name} AS BIGINT) WHEN {name} IS NOT NULL THEN {wrong} END"
    if family == "real":
        is_number = f"NOT isnan(CAST({name} AS DOUBLE))"
        lowest = max(table.lowest, -(2**53))
        is_whole = f"{is_number} AND {name} >= {lowest} AND {name} <= 9007199254740992 AND {name} = floor({name})"
        return f"CASE WHEN {is_whole} THEN CAST({name} AS BIGINT) WHEN {name} IS NOT NULL THEN {wrong} END"
    if family == "text":
        whole = f"TRY_CAST(split_part(trim({name}), '.', 1) AS BIGINT)"
        sign = "-?" if table.lowest < 0 else ""
        form = f"regexp_full_match(trim({name}), '{sign}[0-9]{{1,19}}([.]0*)?')"
        is_whole = f"{form} AND {whole} BETWEEN {table.lowest} AND {table.highest}"
        return f"CASE WHEN {is_whole} THEN {whole} WHEN {name} IS NOT NULL THEN {wrong} END"
    raise complaints.wrong_type(column, kind, complaints.numbers_of(table), file)


def _places_of_codes(attribute: Mesh | MeshList | Positions, values: Any) -> tuple[Integers, ...]:
    """Places of mesh codes or positions, which may be whole numbers, floats without a fraction, or text."""
    numbers = _whole_numbers(attribute, values)
    try:
        return attribute.places(numbers)
    except ParameterError as refusal:
        position = first_refused(numbers, attribute.places)
        value, allowed = values[position].as_py(), refusal.requirement_words
        if isinstance(attribute, Positions):
            raise WrongValueError(value, allowed, is_label=False) from None
        raise WrongValueError(value, allowed, is_label=True, hint=other_level(value, attribute.level)) from None


def _places_of_ids(grid: InspireGrid, values: Any) -> tuple[Integers, ...]:
    """Places of cells of an INSPIRE grid, each different id read once."""
    encoded = values.dictionary_encode()
    ids = np.array([None if value is None else str(value) for value in encoded.dictionary.to_pylist()], dtype=object)
    if not ids.size:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    try:
        rows, columns = grid.places(ids)
    except ParameterError as refusal:
        value = ids[first_refused(ids, grid.places)]
        raise WrongValueError(value, refusal.requirement_words, is_label=True) from None
    indices = numpy_of(encoded.indices)
    return rows[indices], columns[indices]


def _whole_numbers(attribute: Mesh | MeshList | Positions, values: Any) -> NDArray[Any]:
    import pyarrow
    import pyarrow.compute

    if pyarrow.types.is_string(values.type) or pyarrow.types.is_large_string(values.type):
        # A mesh code with leading zeros is a text, and stays one.
        shape = "^[0-9]{1,18}$"
        if not isinstance(attribute, Positions):
            shape = f"^[1-9][0-9]{{{mesh_level(attribute.level).digits - 1}}}$"
        plain = pyarrow.compute.match_substring_regex(values, shape)
        if not pyarrow.compute.all(plain, min_count=0).as_py():
            if not isinstance(attribute, Positions):
                return np.array(values.to_pylist(), dtype=np.str_)
            position = pyarrow.compute.index(plain, False).as_py()
            allowed = whole_numbers_between(0, attribute.length - 1)
            raise WrongValueError(values[position].as_py(), allowed, is_label=False)
    try:
        whole: NDArray[Any] = numpy_of(values.cast(pyarrow.int64()))
    except pyarrow.ArrowInvalid:
        wrong = next(value for value in values.to_pylist() if not _is_whole(value))
        raise WrongValueError(wrong, WHOLE_NUMBERS, is_label=False) from None
    return whole


def _is_whole(value: Any) -> bool:
    return math.isfinite(value) and value == int(value) and -(2**63) <= value < 2**63


def first_refused(values: NDArray[Any], places: Callable[[Any], Any]) -> int:
    """The position of the first value that is refused, by halving."""
    low, high = 0, values.size
    while high - low > 1:
        middle = (low + high) // 2
        try:
            places(values[low:middle])
            low = middle
        except ParameterError:
            high = middle
    return low


def _places_of_labels(attribute: Attribute, values: Any) -> tuple[Integers, ...]:
    """Places of labels: each different value is looked up once."""
    encoded = values.dictionary_encode()
    labels = list(attribute.labels) if isinstance(attribute, Category) else _leaves(attribute)
    exact = {label: label for label in labels}
    by_text: dict[str, object] = {}
    for label in labels:
        by_text.setdefault(_text_of(label), label)
        if isinstance(label, bool):
            by_text |= {str(label): label, str(label).upper(): label}
    has_numbers = any(isinstance(label, (int, float)) for label in labels)
    allowed = labels_like(len(labels), labels[0])
    try:
        distinct_values = encoded.dictionary.to_pylist()
    except (ValueError, OverflowError):  # a date before the year 1 or after 9999, or of nanoseconds
        raise WrongValueError(None, allowed, is_label=False) from None
    found = []
    for value in distinct_values:
        if isinstance(value, datetime) and value.time() == time():
            # Many programs write days as midnights.
            value = value.date()
        label = exact.get(value, by_text.get(_text_of(value)))
        if label is None and has_numbers and isinstance(value, str) and NUMBER.fullmatch(value):
            label = exact.get(float(value))
        if label is None:
            raise WrongValueError(value, allowed, is_label=True)
        found.append(label)
    if not found:
        return (np.empty(0, dtype=np.int64),)
    distinct = np.empty(len(found), dtype=object)
    distinct[:] = found
    (places,) = attribute.places(distinct)
    return (places[numpy_of(encoded.indices)],)


def places_of_count_columns(attribute: Attribute, columns: Mapping[str, str]) -> list[tuple[int, str]]:
    """The place of each value of an attribute that stands in several columns, with its column of counts.

    Values are named as a text file shows them, bins by their lower limits.

    Raises:
        InputError: if a column is for something else than a value of the attribute, or a value has none.
    """
    if len(attribute.shape) != 1 or attribute.shape[0] > MAX_COUNT_COLUMNS:
        raise InputError(
            f"The attribute {attribute.name!r} cannot stand in several columns of counts: it has too many values, or is a map.",
            f"属性 {attribute.name!r} は複数の列に分けられません。値が多すぎるか、地図です。",
        )
    values = attribute.values((np.arange(attribute.shape[0]),)).tolist()
    texts = [_text_of(int(value) if isinstance(value, float) and value.is_integer() else value) for value in values]
    for value in columns:
        if value not in texts:
            raise complaints.no_such_value(attribute.name, value, texts)
    for text in texts:
        if text not in columns:
            raise complaints.no_column_of_value(attribute.name, text)
    return [(place, columns[text]) for place, text in enumerate(texts)]


def _leaves(attribute: Attribute) -> list[Any]:
    if not isinstance(attribute, Hierarchy):
        raise InputError(
            f"The attribute {attribute.name!r} is of a kind that files are not read into.",
            f"属性 {attribute.name!r} の種類はファイルからの読み取りに対応していません。",
        )
    labels: list[Any] = attribute.levels[-1].labels.tolist()
    return labels


def _text_of(label: Any) -> str:
    """A label as a text file shows it."""
    if isinstance(label, bool):
        return "true" if label else "false"
    return label.isoformat() if isinstance(label, date) else str(label)
