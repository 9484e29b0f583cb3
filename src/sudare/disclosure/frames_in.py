"""Records as they come: frames and mappings as columns, and names of columns as dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.border.frames import A_FRAME, arrow_of_frame, is_frame
from sudare.disclosure.structure import Dimension
from sudare.errors import InputError, ParameterError
from sudare.parameters import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["read_columns", "read_dimensions"]


def read_columns(records: object, parameter: str, function: str) -> dict[str, object]:
    """The columns of records, by their names.

    Args:
        records: a frame of pandas, polars, pyarrow or DuckDB, or a mapping.
        parameter: name of the parameter that they were handed in for.
        function: name of the function that has it.

    Raises:
        ParameterError: if they are neither.

    Example:
        >>> import pyarrow as pa
        >>> read_columns(pa.table({"sex": ["f", "m"]}), "codes", "aggregate")["sex"].tolist()
        ['f', 'm']
    """
    if is_frame(records):
        table = arrow_of_frame(records, parameter, function)
        return {name: _objects(table.column(name).to_pylist()) for name in table.column_names}
    requirement = f"{A_FRAME}, or a mapping of names to columns"
    if not isinstance(records, Mapping):
        raise ParameterError(parameter, function, requirement, shown(records))
    for column in records.values():
        if not isinstance(column, Iterable) or isinstance(column, (str, bytes, Mapping)):
            raise ParameterError(parameter, function, requirement, shown(column) if column is None else type(column))
    return dict(records)


def _objects(values: list[Any]) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def read_dimensions(dimensions: object, columns: Mapping[str, Any], function: str) -> tuple[Dimension, ...]:
    """Dimensions, of which some may be names of columns: then the codes are those that are in the column, sorted.

    Args:
        dimensions: one or several.
        columns: of the records, by their names.
        function: that was handed them.

    Raises:
        ParameterError: if there are none, or one is neither a dimension nor a column.
        InputError: if a column has a missing value.

    Example:
        >>> read_dimensions(["sex"], {"sex": ["m", "f", "m"]}, "aggregate")[0].codes
        ('Total', 'f', 'm')
    """
    requirement = "dimensions, or names of columns"
    if isinstance(dimensions, (Dimension, str)):
        dimensions = (dimensions,)
    if not isinstance(dimensions, Iterable) or isinstance(dimensions, Mapping) or is_frame(dimensions):
        hint = 'Such as [Dimension.flat("sex", ["f", "m"]), "area"].'
        raise ParameterError("dimensions", function, requirement, shown(dimensions), hint)
    found = []
    for one in dimensions:
        if isinstance(one, str) and one in columns:
            codes = list(dict.fromkeys(np.asarray(columns[one], dtype=object).tolist()))
            if any(code is None or code != code for code in codes):
                raise InputError(
                    f"The column {one!r} has missing values. Give each record a code, such as 'unknown'.",
                    f"列 {one!r} に欠損値があります。すべてのレコードに「不明」などのコードを入れてください。",
                )
            found.append(Dimension.flat(one, sorted(map(str, codes))))
        elif isinstance(one, Dimension):
            found.append(one)
        else:
            listed = ", ".join(map(repr, columns))
            raise ParameterError(
                "dimensions", function, requirement, shown(one), f"The records have the columns {listed}."
            )
    if not found:
        raise ParameterError("dimensions", function, requirement, dimensions)
    return tuple(found)
