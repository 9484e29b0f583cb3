"""The cells of a table as rows of a frame: a column for each dimension where there is one table, else the names of the cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.border.frames import Rows

if TYPE_CHECKING:
    from sudare.disclosure.structure import TableSystem

__all__ = ["CellRows", "cell_columns", "in_units"]


def cell_columns(system: TableSystem) -> dict[str, object]:
    """What each cell of a system is about.

    Example:
        >>> from sudare.disclosure.structure import Dimension, TableSystem
        >>> cell_columns(TableSystem.of_dimensions([Dimension.flat("sex", ["f", "m"])]))
        {'sex': ['Total', 'f', 'm']}
    """
    names = {one.name for table in system.tables for one in table.dimensions}
    if len(system.tables) != 1 or names & {"value", "contributors", "status", "low", "high", "cell"}:
        return {"cell": [system.label(cell) for cell in range(system.size)]}
    dimensions = system.tables[0].dimensions
    return {
        one.name: [one.codes[place] for place in system.keys[:, axis].tolist()] for axis, one in enumerate(dimensions)
    }


def in_units(values: Any, decimals: int) -> Any:
    """Whole numbers of small units as the numbers that people know."""
    return np.asarray(values) / 10**decimals if decimals else np.asarray(values)


class CellRows(Rows):
    """A `CellTable` as rows, of which each is a cell."""

    system: TableSystem
    values: Any
    counts: Any
    decimals: int

    def frame_columns(self) -> Mapping[str, Any]:
        """What each cell is about, its true value and how many contribute to it."""
        columns = cell_columns(self.system)
        return {**columns, "value": in_units(self.values, self.decimals), "contributors": self.counts}
