"""How reports are laid out: in arrays, as JSON, and in columns.

A randomizer names its form, and has what the form's docstring asks for. Arrays are what it works on; JSON is for single reports;
columns are for files of many. A form is a class, listed in `FORMS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.collect.randomizers.randomizer import Randomizer
from sudare.errors import ParameterError
from sudare.parameters import describe_array

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import ArrayLike, NDArray

__all__ = ["FORMS", "ReportForm", "form_of"]

MAX_NUMBER = 1 << 62
MAX_KNOWN = 1 << 16
"""Different numbers that are looked up once when lines are read."""


class ReportForm(ABC):
    """One way to lay out reports."""

    @abstractmethod
    def array(self, reports: ArrayLike, randomizer: Randomizer) -> NDArray[Any]:
        """Reports as one array, the first axis for people.

        Raises:
            ParameterError: if they are not laid out like this.
        """

    @abstractmethod
    def to_plain(self, reports: NDArray[Any]) -> list[Any]:
        """As JSON writes each report."""

    @abstractmethod
    def reader(self, randomizer: Randomizer) -> Callable[[Any], Any]:
        """A function from one report, as JSON writes it, to a row of the array; it raises ValueError if it is no report."""

    @abstractmethod
    def types(self, randomizer: Randomizer, text: bool) -> dict[str, pa.DataType]:
        """Names and types of the columns; with ``text`` only such as a text file can hold."""

    @abstractmethod
    def to_columns(self, reports: NDArray[Any], text: bool) -> list[Any]:
        """The columns."""

    @abstractmethod
    def from_columns(self, columns: list[Any], randomizer: Randomizer, text: bool) -> NDArray[Any]:
        """The array, from columns of the right types that miss nothing.

        Raises:
            ValueError: if some row is no report.
        """

    def gathered(self, rows: list[Any], randomizer: Randomizer) -> NDArray[Any]:
        """Rows of the array put together."""
        return np.asarray(rows)


class ValueForm(ReportForm):
    """A report is a value: a text, a whole number, a truth value, or for randomizers of numbers any number."""

    def array(self, reports: ArrayLike, randomizer: Randomizer) -> NDArray[Any]:
        array = np.asarray(reports)
        labels = randomizer.value_labels()
        kinds = np.asarray(labels).dtype.kind if labels is not None else "i" if randomizer.has_whole_reports else "if"
        if array.ndim != 1 or (array.size and array.dtype.kind not in kinds):
            raise ParameterError("reports", "write_reports", "reports of the randomizer", describe_array(reports))
        return array if labels is not None else array.astype(_number_type(randomizer))

    def to_plain(self, reports: NDArray[Any]) -> list[Any]:
        return list(reports.tolist())

    def reader(self, randomizer: Randomizer) -> Callable[[Any], Any]:
        labels = randomizer.value_labels()
        if labels is None:
            return _number_reader(randomizer)
        kind, known = type(labels[0]), frozenset(labels)

        def read(plain: Any) -> Any:
            if type(plain) is not kind or plain not in known:
                raise ValueError
            return plain

        return read

    def gathered(self, rows: list[Any], randomizer: Randomizer) -> NDArray[Any]:
        labels = randomizer.value_labels()
        if labels is None:
            return np.asarray(rows, dtype=_number_type(randomizer))
        return np.asarray(rows, dtype=None if rows else np.asarray(labels).dtype)

    def types(self, randomizer: Randomizer, text: bool) -> dict[str, pa.DataType]:
        import pyarrow as pa

        labels = randomizer.value_labels()
        if labels is None:
            return {"report": pa.int64() if randomizer.has_whole_reports else pa.float64()}
        return {"report": {str: pa.string(), int: pa.int64(), bool: pa.bool_()}[type(labels[0])]}

    def to_columns(self, reports: NDArray[Any], text: bool) -> list[Any]:
        import pyarrow as pa

        return [pa.array(reports.tolist() if reports.dtype.kind == "U" else reports)]

    def from_columns(self, columns: list[Any], randomizer: Randomizer, text: bool) -> NDArray[Any]:
        labels = randomizer.value_labels()
        if labels is None:
            numbers = np.asarray(columns[0].to_numpy(zero_copy_only=False))
            _require_numbers(numbers, randomizer)
            return numbers
        if not set(columns[0].unique().to_pylist()) <= set(labels):
            raise ValueError
        if isinstance(labels[0], str):
            # Each distinct text once, however many reports there are.
            encoded = columns[0].dictionary_encode()
            known = np.asarray(encoded.dictionary.to_pylist(), dtype=np.str_)
            return np.asarray(known[encoded.indices.to_numpy()])
        return np.asarray(columns[0].to_numpy(zero_copy_only=False))


class BitsForm(ReportForm):
    """A report is a row of bytes, a bit for each label; in text, hexadecimal digits. The randomizer has `bytes_per_report`."""

    def array(self, reports: ArrayLike, randomizer: Randomizer) -> NDArray[Any]:
        array, width = np.asarray(reports), _width(randomizer)
        if array.dtype != np.uint8 or array.ndim != 2 or array.shape[1] != width:
            requirement = f"rows of {width} bytes"
            raise ParameterError("reports", "write_reports", requirement, describe_array(reports))
        return np.ascontiguousarray(array)

    def to_plain(self, reports: NDArray[Any]) -> list[Any]:
        return _digits(reports)

    def reader(self, randomizer: Randomizer) -> Callable[[Any], Any]:
        width, unused = _width(randomizer), _unused(randomizer)

        def read(plain: Any) -> bytes:
            if not isinstance(plain, str) or plain != plain.lower():
                raise ValueError
            row = bytes.fromhex(plain)
            if len(row) != width or row[-1] >> 8 - unused:
                raise ValueError
            return row

        return read

    def gathered(self, rows: list[Any], randomizer: Randomizer) -> NDArray[Any]:
        return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), _width(randomizer))

    def types(self, randomizer: Randomizer, text: bool) -> dict[str, pa.DataType]:
        import pyarrow as pa

        return {"report": pa.string() if text else pa.binary(_width(randomizer))}

    def to_columns(self, reports: NDArray[Any], text: bool) -> list[Any]:
        import pyarrow as pa

        if text:
            return [pa.array(self.to_plain(reports), pa.string())]
        kind = pa.binary(reports.shape[1])
        return [pa.FixedSizeBinaryArray.from_buffers(kind, len(reports), [None, pa.py_buffer(reports)])]

    def from_columns(self, columns: list[Any], randomizer: Randomizer, text: bool) -> NDArray[Any]:
        rows = _rows_of_bytes(columns[0], _width(randomizer), text)
        _require_clear_end(rows, randomizer)
        return rows


class HashedForm(ReportForm):
    """A report is a seed and a hash; in JSON the seed is hexadecimal, because many readers round long numbers.

    The randomizer has a `range` of hashes.
    """

    def array(self, reports: ArrayLike, randomizer: Randomizer) -> NDArray[Any]:
        array = np.asarray(reports)
        if array.dtype != np.uint64 or array.ndim != 2 or array.shape[1] != 2:
            raise ParameterError("reports", "write_reports", "rows of two 64-bit words", describe_array(reports))
        return array

    def to_plain(self, reports: NDArray[Any]) -> list[Any]:
        return [[f"{seed:016x}", value] for seed, value in reports.tolist()]

    def reader(self, randomizer: Randomizer) -> Callable[[Any], Any]:
        size = _range(randomizer)

        def read(plain: Any) -> tuple[int, int]:
            seed, value = plain if isinstance(plain, list) and len(plain) == 2 else ("", None)
            if not isinstance(seed, str) or len(seed) != 16 or seed != f"{int(seed, 16):016x}":
                raise ValueError
            if type(value) is not int or not 0 <= value < size:
                raise ValueError
            return int(seed, 16), value

        return read

    def gathered(self, rows: list[Any], randomizer: Randomizer) -> NDArray[Any]:
        return np.asarray(rows, dtype=np.uint64).reshape(len(rows), 2)

    def types(self, randomizer: Randomizer, text: bool) -> dict[str, pa.DataType]:
        import pyarrow as pa

        return {"seed": pa.uint64(), "report": pa.uint32()}

    def to_columns(self, reports: NDArray[Any], text: bool) -> list[Any]:
        import pyarrow as pa

        return [pa.array(np.ascontiguousarray(reports[:, 0])), pa.array(reports[:, 1].astype(np.uint32))]

    def from_columns(self, columns: list[Any], randomizer: Randomizer, text: bool) -> NDArray[Any]:
        rows = np.stack([column.to_numpy().astype(np.uint64) for column in columns], axis=1)
        if rows.size and int(rows[:, 1].max()) >= _range(randomizer):
            raise ValueError
        return np.asarray(rows)


class FilterForm(ReportForm):
    """A report is a cohort and a row of bytes, as of RAPPOR; in text, the bytes are hexadecimal digits.

    The randomizer has a `report_type`, an array's type with both, and refuses others in `require_reports`.
    """

    def array(self, reports: ArrayLike, randomizer: Randomizer) -> NDArray[Any]:
        array = np.asarray(reports)
        if array.dtype != _report_type(randomizer) or array.ndim != 1:
            requirement = "cohorts and bits of the randomizer"
            raise ParameterError("reports", "write_reports", requirement, describe_array(reports))
        return np.ascontiguousarray(array)

    def to_plain(self, reports: NDArray[Any]) -> list[Any]:
        return [[cohort, row] for cohort, row in zip(reports["cohort"].tolist(), _digits(reports["bits"]), strict=True)]

    def reader(self, randomizer: Randomizer) -> Callable[[Any], Any]:
        width = _report_type(randomizer)["bits"].shape[0]

        def read(plain: Any) -> tuple[int, list[int]]:
            cohort, digits = plain if isinstance(plain, list) and len(plain) == 2 else (None, None)
            if type(cohort) is not int or not 0 <= cohort < 1 << 32 or not isinstance(digits, str):
                raise ValueError
            row = bytes.fromhex(digits)
            if len(row) != width or row.hex() != digits:
                raise ValueError
            made = (cohort, list(row))
            _require_filters(np.array([made], dtype=_report_type(randomizer)), randomizer)
            return made

        return read

    def gathered(self, rows: list[Any], randomizer: Randomizer) -> NDArray[Any]:
        return np.array(rows, dtype=_report_type(randomizer))

    def types(self, randomizer: Randomizer, text: bool) -> dict[str, pa.DataType]:
        import pyarrow as pa

        width = _report_type(randomizer)["bits"].shape[0]
        return {"cohort": pa.uint32(), "report": pa.string() if text else pa.binary(width)}

    def to_columns(self, reports: NDArray[Any], text: bool) -> list[Any]:
        import pyarrow as pa

        rows = np.ascontiguousarray(reports["bits"])
        return [pa.array(reports["cohort"].astype(np.uint32)), *FORMS["bits"].to_columns(rows, text)]

    def from_columns(self, columns: list[Any], randomizer: Randomizer, text: bool) -> NDArray[Any]:
        kind = _report_type(randomizer)
        reports = np.zeros(len(columns[0]), dtype=kind)
        reports["cohort"] = columns[0].to_numpy()
        reports["bits"] = _rows_of_bytes(columns[1], kind["bits"].shape[0], text)
        _require_filters(reports, randomizer)
        return reports


FORMS: dict[str, ReportForm] = {
    "value": ValueForm(),
    "bits": BitsForm(),
    "hashed": HashedForm(),
    "filter": FilterForm(),
}
"""All forms there are, by the name that a randomizer gives."""


def form_of(randomizer: Randomizer) -> ReportForm:
    """How the reports of a randomizer are laid out."""
    return FORMS[randomizer.form]


def _number_type(randomizer: Randomizer) -> type[np.generic]:
    return np.int64 if randomizer.has_whole_reports else np.float64


def _number_reader(randomizer: Randomizer) -> Callable[[Any], Any]:
    kinds: tuple[type, ...] = (int,) if randomizer.has_whole_reports else (int, float)
    known: set[Any] = set()

    def read(plain: Any) -> Any:
        if type(plain) not in kinds or not abs(plain) < MAX_NUMBER:
            raise ValueError
        if plain not in known:
            _require_numbers(np.asarray([plain]), randomizer)
            if len(known) < MAX_KNOWN:
                known.add(plain)
        return plain

    return read


def _require_numbers(numbers: NDArray[Any], randomizer: Randomizer) -> None:
    """Numbers that are no reports are refused by the randomizer itself, which alone knows its grid."""
    randomizer.report_places(numbers, "read_reports")


def _width(randomizer: Any) -> int:
    return int(randomizer.bytes_per_report)


def _range(randomizer: Any) -> int:
    return int(randomizer.range)


def _unused(randomizer: Any) -> int:
    return 8 * _width(randomizer) - len(randomizer.labels)


def _digits(rows: NDArray[np.uint8]) -> list[str]:
    digits, width = np.ascontiguousarray(rows).tobytes().hex(), 2 * rows.shape[1]
    return [digits[start : start + width] for start in range(0, len(digits), width)]


def _rows_of_bytes(column: Any, width: int, text: bool) -> NDArray[np.uint8]:
    if text:
        plain = column.to_pylist()
        if not all(len(digits) == 2 * width for digits in plain):
            raise ValueError
        return np.frombuffer(bytes.fromhex("".join(plain)), dtype=np.uint8).reshape(-1, width)
    start = column.offset * width
    whole = np.frombuffer(column.buffers()[1], dtype=np.uint8)
    return whole[start : start + len(column) * width].reshape(-1, width)


def _report_type(randomizer: Any) -> np.dtype[Any]:
    kind: np.dtype[Any] = randomizer.report_type
    return kind


def _require_filters(reports: NDArray[Any], randomizer: Randomizer) -> None:
    randomizer.require_reports(reports, "read_reports")


def _require_clear_end(rows: NDArray[np.uint8], randomizer: Any) -> None:
    """Bits behind that of the last value are 0."""
    unused = _unused(randomizer)
    if unused and bool((rows[:, -1] >> (8 - unused)).any()):
        raise ValueError
