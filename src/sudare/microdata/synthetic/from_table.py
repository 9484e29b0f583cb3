"""Synthetic people drawn from a table that was released: counting them gives the table back exactly.

One row for each person counted, with the values of the cell; inside bins a number, and if wanted inside a mesh a point, drawn
fairly. A released table is public, so this costs nothing, and it tells nothing that the table does not tell: that two people are
in one row file does not make them a household, and a point says no more than its mesh.

Rows come in the order of the cells, a batch at a time: memory does not grow with the number of people.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.domain import Attribute, Bins, CountTable, Mesh, MeshList
from sudare.errors import OutputError, ParameterError
from sudare.microdata.synthetic.public_columns import numbers_in_bins, whole_edges
from sudare.noise.entropy import EntropySource
from sudare.noise.sampler import read_entropy
from sudare.noise.uniform import uniform_below
from sudare.parameters import exact_integer, read_flag, shown
from sudare.storage.atomic import atomically

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places = tuple[NDArray[np.int64], ...]

__all__ = ["people_of_table", "write_people_of_table"]

ROWS_AT_ONCE = 1 << 18
MAX_ROWS_AT_ONCE = 1 << 24
GRID = 1 << 20
"""Points along each side of a mesh."""

LATITUDE, LONGITUDE = "latitude", "longitude"


def people_of_table(
    table: CountTable,
    *,
    points: bool = False,
    rows_at_once: int = ROWS_AT_ONCE,
    entropy: EntropySource | None = None,
) -> Iterator[Any]:
    """Rows of nobody, as many as the table counts, with the values of their cells.

    Guarantee: none of its own, and none is used up: the rows are made of the table alone. If the table is private, so are
    they; if it holds true counts, the rows are as revealing as it is.

    Args:
        table: counts that were released.
        points: whether to add a point, ``latitude`` and ``longitude``, drawn fairly from a grid inside the mesh. The table
            must have one mesh.
        rows_at_once: how many rows a batch has.
        entropy: where the bits come from; the secure source by default.

    Returns:
        Batches of pyarrow, a column for each attribute: mesh codes and labels as they are, for bins a number inside.

    Raises:
        ParameterError: if it is not a table of counts, or has no mesh for the points.

    Example:
        >>> from sudare.domain import Category, CountTable, Domain
        >>> from sudare.microdata.synthetic import people_of_table
        >>> released = CountTable.from_dense([2, 1], Domain((Category("sex", ("f", "m")),)))
        >>> [batch.to_pydict() for batch in people_of_table(released)]
        [{'sex': ['f', 'f', 'm']}]
    """
    function = "people_of_table"
    if not isinstance(table, CountTable):
        raise ParameterError("table", function, "a CountTable of released counts", shown(table))
    read_flag(points, "points", function)
    exact_integer(
        rows_at_once,
        "rows_at_once",
        function,
        Words(f"a whole number from 1 to {MAX_ROWS_AT_ONCE}", f"1 以上 {MAX_ROWS_AT_ONCE} 以下の整数"),
        smallest=1,
        largest=MAX_ROWS_AT_ONCE,
    )
    if points:
        _mesh_of(table, function)
    for attribute in table.domain.attributes:
        if isinstance(attribute, Bins):
            whole_edges(_decimal_edges(attribute))
    return _batches(table, points, rows_at_once, read_entropy(entropy, function))


def write_people_of_table(
    path: str | Path,
    table: CountTable,
    *,
    points: bool = False,
    replace: bool = False,
    entropy: EntropySource | None = None,
) -> int:
    """Write rows of nobody to a .csv or .parquet file, whole or not at all, and return how many.

    Args:
        path: where the file shall appear.
        table: counts that were released.
        points: whether to add a point inside the mesh.
        replace: whether the file may take the place of another.
        entropy: where the bits come from; the secure source by default.

    Raises:
        OutputError: if the name ends in something else, the file exists, or it cannot be written.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.domain import Category, CountTable, Domain
        >>> from sudare.microdata.synthetic import write_people_of_table
        >>> released = CountTable.from_dense([2, 1], Domain((Category("sex", ("f", "m")),)))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_people_of_table(Path(folder) / "people.parquet", released)
        3
    """
    check_arguments(write_people_of_table, locals(), "path", "replace")
    suffix = Path(path).suffix
    if suffix not in (".csv", ".parquet"):
        raise OutputError(
            f"The name {Path(path).name!r} must end in .csv or .parquet.",
            f"ファイル名 {Path(path).name!r} の末尾は .csv か .parquet にしてください。",
        )
    batches = people_of_table(table, points=points, entropy=entropy)
    written = 0
    with atomically(path, replace=replace) as temporary, temporary.open("wb") as stream:
        empty = _batch(table, points, np.zeros(0, dtype=np.uint64), read_entropy(None, "write_people_of_table"))
        with _writer(stream, empty.schema, is_csv=suffix == ".csv") as writer:
            for batch in batches:
                writer.write_batch(batch)
                written += batch.num_rows
    return written


def _writer(stream: io.BufferedWriter, schema: Any, *, is_csv: bool) -> Any:
    if is_csv:
        import pyarrow.csv

        return pyarrow.csv.CSVWriter(stream, schema)
    import pyarrow.parquet

    return pyarrow.parquet.ParquetWriter(stream, schema)


def _batches(table: CountTable, points: bool, rows_at_once: int, source: EntropySource) -> Iterator[Any]:
    ends = np.cumsum(table.counts)
    for start in range(0, table.total, rows_at_once):
        stop = min(start + rows_at_once, table.total)
        first, last = np.searchsorted(ends, [start, stop - 1], side="right").tolist()
        cells = slice(first, last + 1)
        # Of the first and the last cell perhaps only some people.
        begins = np.maximum(ends[cells] - table.counts[cells], start)
        people = np.minimum(ends[cells], stop) - begins
        yield _batch(table, points, np.repeat(table.keys[cells], people), source)


def _batch(table: CountTable, points: bool, keys: NDArray[np.uint64], source: EntropySource) -> Any:
    import pyarrow as pa

    places = list(table.domain.places_of(keys))
    columns: dict[str, pa.Array] = {}
    for attribute in table.domain.attributes:
        own = tuple(places.pop(0) for _ in attribute.shape)
        columns[attribute.name] = pa.array(_values(attribute, own, source))
        if points and isinstance(attribute, (Mesh, MeshList)):
            cells = attribute.window_cells(own)
            columns[LATITUDE], columns[LONGITUDE] = (pa.array(d) for d in _points(attribute.window, cells, source))
    return pa.record_batch(columns)


def _values(attribute: Attribute, places: Places, source: EntropySource) -> NDArray[Any]:
    if not isinstance(attribute, Bins):
        return attribute.values(places)
    numbers, digits = numbers_in_bins(_decimal_edges(attribute), places[0], source)
    # One division of two exact doubles: the nearest double, on the right side of every edge.
    return numbers if digits == 0 else numbers.astype(np.float64) / 10.0**digits


def _decimal_edges(bins: Bins) -> list[Decimal]:
    return [Decimal(str(edge)) for edge in bins.edges]


def _points(mesh: Mesh, places: Places, source: EntropySource) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The middles of fairly drawn squares of a grid inside each mesh.

    A mesh is 1/n of two thirds of a degree high and 1/n of a degree wide. Numerators are whole numbers below 2**53, so one
    division gives the double nearest to the point, which is far further from the mesh's border than that is from the point.
    """
    divisions = _divisions(mesh)
    draw: Callable[[], NDArray[np.int64]] = lambda: uniform_below(GRID, places[0].size, source).astype(np.int64)  # noqa: E731
    north = 2 * ((places[0] + mesh.first_row) * GRID + draw()) + 1
    east = 2 * ((places[1] + mesh.first_column) * GRID + draw()) + 1
    latitudes = north / float(3 * divisions * GRID)
    longitudes = (east + 200 * divisions * GRID) / float(2 * divisions * GRID)
    return latitudes, longitudes


def _divisions(mesh: Mesh) -> int:
    from sudare.domain.mesh import mesh_level

    return mesh_level(mesh.level).divisions


def _mesh_of(table: CountTable, function: str) -> None:
    names = [attribute.name for attribute in table.domain.attributes]
    meshes = [attribute for attribute in table.domain.attributes if isinstance(attribute, (Mesh, MeshList))]
    if len(meshes) != 1 or LATITUDE in names or LONGITUDE in names:
        requirement = f"left out, unless the table has one mesh and no column {LATITUDE!r} or {LONGITUDE!r}"
        raise ParameterError("points", function, requirement, True)
