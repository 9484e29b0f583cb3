"""Calls of compiled code with Python's arrays and numbers.

The code itself looks whether each array has the type, the number of axes and the layout it was compiled for, and reads its
parts: see ``tools/prepare_kernels.py``. While it runs, other threads do too.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from operator import index
from typing import Any

import numpy as np

__all__ = ["callable_at"]

DONE = (0, -2)
"""What code returns that ended as it should, with a result or with none."""

NOT_AN_ARRAY = 1000
"""From this status on, the number of the argument is added that is not the array it should be."""


def callable_at(address: int, name: str, arguments: Sequence[str], results: Sequence[str]) -> Callable[..., Any]:
    """A function of Python for code at an address.

    Args:
        address: of the entry.
        name: of the kernel, for errors.
        arguments: of an array the type of its items and the number of its axes, such as ``"float642"``; of a number its type.
        results: the types of what it returns; nothing, one number or several.
    """
    arrays = {i: np.dtype(kind[:-1]) for i, kind in enumerate(arguments) if kind not in NUMBERS}
    numbers = [(i, NUMBERS[kind][1]) for i, kind in enumerate(arguments) if kind in NUMBERS]
    kinds = [NUMBERS[kind][0] if kind in NUMBERS else ctypes.py_object for kind in arguments]
    entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *kinds)(address)
    known = (ctypes.c_void_p * (len(arguments) + 1))()
    known[0] = id(np.ndarray)
    for i, dtype in arrays.items():
        known[i + 1] = id(dtype)
    room = ctypes.c_uint64 * max(len(results), 1)
    expected = len(arguments)

    def call(*given: Any) -> Any:
        if len(given) != expected:
            raise TypeError(f"{name} takes {expected} arguments. Got {len(given)}.")
        handed = list(given)
        for i, convert in numbers:
            handed[i] = convert(handed[i])
        result = room()
        status = entry(result, known, *handed)
        while status >= NOT_AN_ARRAY:
            place = status - NOT_AN_ARRAY
            handed[place] = _as_known(handed[place], arrays[place], place, name)
            status = entry(result, known, *handed)
        if status not in DONE:
            raise MemoryError(f"{name} ran out of memory.")
        if not results:
            return None
        values = [READ[kind](word) for kind, word in zip(results, result, strict=True)]
        return values[0] if len(values) == 1 else tuple(values)

    call.kept = (known, arrays)  # type: ignore[attr-defined]
    return call


def _as_known(given: Any, dtype: Any, place: int, name: str) -> Any:
    """The same array under the very type object that code knows: a subclass, or another name of the same type of items."""
    if isinstance(given, np.ndarray) and given.dtype == dtype:
        plain = np.asarray(given).view(dtype)
        if type(given) is not np.ndarray or given.dtype is not dtype:
            return plain
    shown = f"{given.dtype}{list(given.shape)}" if isinstance(given, np.ndarray) else type(given).__name__
    raise TypeError(f"No matching definition of {name} for argument {place + 1}: {shown}")


def _signed(value: Any) -> int:
    number = index(value)
    if -(1 << 63) <= number < 1 << 63:
        return number
    raise OverflowError("int too big to convert")


def _unsigned(value: Any) -> int:
    number = index(value)
    if 0 <= number < 1 << 64:
        return number
    raise OverflowError("int too big to convert, or negative")


NUMBERS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "int64": (ctypes.c_int64, _signed),
    "uint64": (ctypes.c_uint64, _unsigned),
    "float64": (ctypes.c_double, float),
    "bool": (ctypes.c_uint8, bool),
}

READ: dict[str, Callable[[int], Any]] = {
    "int64": lambda word: word - (1 << 64) if word >> 63 else word,
    "uint64": lambda word: word,
    "float64": lambda word: ctypes.c_double.from_buffer(ctypes.c_uint64(word)).value,
    "bool": lambda word: bool(word & 0xFF),
}
