"""All cells of a table in the order of its dimensions: for formats that write every number, the zeros too."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.errors import OutputError
from sudare.export.description import PublishedCube
from sudare.export.export_words import ONLY_TABLES, TOO_MANY_CELLS

if TYPE_CHECKING:
    from sudare.export.format import Publication

__all__ = ["MAX_CELLS", "all_numbers", "number_text", "require_cube", "require_dense"]

MAX_CELLS = 5_000_000
"""Of a table that is written cell by cell: such a file has some ten to hundred megabytes, more than what reads it likes."""


def require_cube(publication: Publication, name: Words) -> PublishedCube:
    """The table of a publication.

    Raises:
        OutputError: if it has records.
    """
    if not isinstance(publication, PublishedCube):
        raise OutputError(ONLY_TABLES.format(format=name))
    return publication


def require_dense(publication: Publication, name: Words, most: int = MAX_CELLS) -> PublishedCube:
    """The table of a publication that is small enough to write all of its cells.

    Raises:
        OutputError: if it has records, or too many cells.
    """
    cube = require_cube(publication, name)
    if cube.cells > most:
        raise OutputError(TOO_MANY_CELLS.format(format=name, cells=cube.cells, most=most))
    return cube


def all_numbers(cube: PublishedCube) -> Iterator[int | None]:
    """Every cell in units of ``10 ** -decimals``, the last dimension fastest; None where it is hidden."""
    values = np.zeros(cube.cells, dtype=np.int64)
    hidden = np.zeros(cube.cells, dtype=np.bool_)
    if cube.values.size:
        keys = np.ravel_multi_index(cube.places, cube.shape)
        values[keys], hidden[keys] = cube.values, cube.hidden
    if not hidden.any():
        yield from values.tolist()
        return
    for value, is_hidden in zip(values.tolist(), hidden.tolist(), strict=True):
        yield None if is_hidden else value


def number_text(value: int, decimals: int) -> str:
    """A number of units as it is written, all of its digits.

    Example:
        >>> number_text(1234, 2), number_text(-7, 0)
        ('12.34', '-7')
    """
    return str(value) if decimals == 0 else f"{Decimal(value).scaleb(-decimals):.{decimals}f}"
