"""Numbers in documents that anybody may have written: taken only if they are what they should be."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["MAX_UNITS", "cell_numbers", "whole_number"]

MAX_UNITS = 2**60
"""Sums of two such numbers are exact in 64 bits."""


def whole_number(value: object, least: int = 0, most: int = MAX_UNITS) -> int:
    """A whole number within bounds.

    Raises:
        ValueError: for anything else, such as a fraction, a text or a number beyond the bounds.

    Example:
        >>> whole_number(7)
        7
        >>> whole_number(10**30)
        Traceback (most recent call last):
        ...
        ValueError: not a whole number from 0 to 1152921504606846976
    """
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"not a whole number from {least} to {most}")
    return value


def cell_numbers(values: Iterable[object], size: int) -> tuple[int, ...]:
    """Numbers of cells of a table.

    Args:
        values: what a document says.
        size: how many cells there are.

    Raises:
        ValueError: if one of them is no cell.

    Example:
        >>> cell_numbers([2, 0], 3)
        (2, 0)
    """
    return tuple(whole_number(value, 0, size - 1) for value in values)
