"""Reading columns of codes: texts or whole numbers, with or without gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from sudare.bilingual import Words
from sudare.border.native_frames import native_frame
from sudare.domain.arguments import read_array
from sudare.errors import Described, ParameterError
from sudare.parameters import describe_array, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["read_codes", "read_frame_columns"]

_REQUIREMENT = Words(
    "codes, all texts or all whole numbers of at most 64 bits, at least one",
    "1 個以上のコード（すべて文字列か、すべて 64 ビット以下の整数）",
)


@overload
def read_codes(values: Any, parameter: str, function: str) -> NDArray[Any]: ...
@overload
def read_codes(
    values: Any, parameter: str, function: str, *, like: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.bool_]]: ...
def read_codes(
    values: Any, parameter: str, function: str, *, like: NDArray[Any] | None = None
) -> NDArray[Any] | tuple[NDArray[Any], NDArray[np.bool_]]:
    """Codes as an array of texts or of int64.

    With ``like``, the codes must be of its kind and some may be missing (None, an empty text, not a number): also
    returns which are there. Errors name positions, and never take a number for a text or the other way round.
    """
    if isinstance(values, (list, tuple)):
        # NumPy would turn a list of numbers and texts into texts.
        array: NDArray[Any] = np.fromiter(values, dtype=object, count=len(values))
    else:
        array = read_array(values, parameter, function, _REQUIREMENT)
    if array.ndim != 1 or array.size == 0:
        got = Described("none") if array.ndim == 1 else describe_array(array)
        raise ParameterError(parameter, function, _REQUIREMENT, got)
    present = np.ones(array.size, dtype=bool)
    if array.dtype.kind in "OT":
        listed = array.tolist()
        present = np.array([not _is_missing(value) for value in listed])
        array = _array_of([value for value in listed if not _is_missing(value)], present, parameter, function)
    elif array.dtype.kind == "f":
        present = ~np.isnan(array)
        # A column of whole numbers with gaps is one of floats in many frames.
        is_whole = np.isfinite(array[present]) & (np.floor(array[present]) == array[present])
        if not (is_whole & (np.abs(array[present]) <= 2.0**53)).all():
            raise ParameterError(parameter, function, _REQUIREMENT, Described("other numbers"))
        array = np.where(present, array, 0).astype(np.int64)
    elif array.dtype.kind == "U":
        present = array != ""
    elif array.dtype.kind not in "iu" or (array.dtype.kind == "u" and int(array.max()) >= 2**63):
        raise ParameterError(parameter, function, _REQUIREMENT, describe_array(array))
    codes = array if array.dtype.kind == "U" else array.astype(np.int64)
    if like is not None:
        if present.any() and codes.dtype.kind != like.dtype.kind:
            raise ParameterError(
                parameter,
                function,
                Words("codes and parents of one kind", "コードと親コードは同じ型"),
                Described("texts and numbers"),
            )
        return (codes if present.any() else np.zeros(codes.size, dtype=like.dtype)), present
    if not present.all():
        position = int(np.flatnonzero(~present)[0])
        raise ParameterError(parameter, function, _REQUIREMENT, Described(f"none at position {position}"))
    return codes


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value) or (isinstance(value, float) and value != value)


def _array_of(values: list[Any], present: NDArray[np.bool_], parameter: str, function: str) -> NDArray[Any]:
    """Texts or whole numbers, with an empty text or 0 in the gaps."""
    if all(isinstance(value, str) for value in values):
        if any("\0" in value for value in values):
            raise ParameterError(parameter, function, _REQUIREMENT, Described("a text with a null character"))
        texts = np.array(values, dtype=np.str_)
        out = np.zeros(present.size, dtype=texts.dtype if values else "U1")
        out[present] = texts
        return out
    is_plain = all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in values)
    if not is_plain or not all(-(2**63) <= int(v) < 2**63 for v in values):
        raise ParameterError(parameter, function, _REQUIREMENT, Described("a mixture"))
    numbers = np.zeros(present.size, dtype=np.int64)
    numbers[present] = values
    return numbers


def read_frame_columns(
    frame: Any, names: tuple[str, ...] | None, parameter: str, function: str
) -> dict[str, NDArray[Any]]:
    """Columns of a pandas, polars or pyarrow frame; all of them if no names are given."""
    data = native_frame(frame)
    if data is None:
        raise ParameterError(parameter, function, "columns, or a pandas, polars or pyarrow frame", shown(frame))
    found = list(data.names)
    wanted = found if names is None else list(names)
    missing = [name for name in wanted if name not in found]
    if missing:
        raise ParameterError(
            parameter, function, f"a frame with the columns {wanted}", Described(f"no column {missing[0]!r}")
        )
    return {name: data.to_numpy(name) for name in wanted}
