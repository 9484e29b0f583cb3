"""Writing published tables and noisy measurements: sorted, without time stamps, the same bytes for the same table."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain import Attribute, Bins, Category, Domain, Mesh, MeshList, mesh_level
from sudare.domain.domain import read_domain
from sudare.domain.sparse_table import SparseTable
from sudare.errors import Described, OutputError, ParameterError
from sudare.parameters import shown
from sudare.storage.atomic import atomically

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.tables.published import NoisyCounts

__all__ = ["arrow_table", "write_measurements", "write_table"]

SUFFIXES = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".geoparquet": "geoparquet",
    ".tif": "geotiff",
    ".tiff": "geotiff",
}
ROWS_PER_GROUP = 1 << 20
MAX_OFFSET = 2**31 - 1
"""Letters in one column of texts."""


def write_table(
    table: SparseTable,
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - the word that users know
    count: str | None = None,
    replace: bool = False,
) -> Path:
    r"""Write a table: a row for each cell that is not 0, sorted; or a raster. Signed tables keep their signs.

    CSV files are UTF-8 without a byte order mark, with a header such as ``KEY_CODE,population``, so that they join on
    ``KEY_CODE`` in QGIS.

    Args:
        table: what is published.
        path: where to; the suffix tells the format (.parquet, .csv, .arrow, .geoparquet, .tif).
        format: the format, where the suffix does not tell it: parquet, csv, arrow, geoparquet or geotiff.
        count: the name of the column of counts; ``"population"`` for maps, else ``"count"``.
        replace: whether an existing file may be replaced.

    Returns:
        The path.

    Raises:
        OutputError: if it cannot be written; then nothing is.
        ParameterError: if the format cannot hold the table.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.domain import Category, CountTable, Domain
        >>> from sudare.io import write_table
        >>> table = CountTable.from_dense([3, 0], Domain((Category("ward", (101, 102)),)))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_table(table, Path(folder) / "wards.csv").read_text()
        'ward,count\n101,3\n'
    """
    if not isinstance(table, SparseTable):
        raise ParameterError("table", "write_table", "a CountTable or a SignedTable", shown(table))
    target = Path(path)
    form = _format_of(target, format)
    has_mesh = any(isinstance(attribute, (Mesh, MeshList)) for attribute in table.domain.attributes)
    name = count or ("population" if has_mesh else "count")
    if form == "geotiff":
        from sudare.io.formats.geotiff import check_raster, write_geotiff

        check_raster(table)
        with atomically(target, replace=replace) as temporary:
            write_geotiff(table, temporary)
        return target
    rows = arrow_table(table.domain, table.keys, {name: table.counts})
    if form == "geoparquet":
        from sudare.io.formats.geoparquet import with_geometry

        rows = with_geometry(table, rows)
    with atomically(target, replace=replace) as temporary:
        _write_rows(rows, temporary, form)
    return target


def write_measurements(
    measurements: Sequence[NoisyCounts], domain: Domain, path: str | Path, *, replace: bool = False
) -> Path:
    """Write noisy measurements to one Parquet or CSV file.

    The columns are name (what was measured), kind (of noise), scale (of Laplace noise; of Gaussian noise its sigma), a
    column for each attribute with the first cell of the area measured, and value.

    Args:
        measurements: as a mechanism hands them back.
        domain: of the table.
        path: a .parquet, .csv or .arrow file.
        replace: whether an existing file may be replaced.

    Returns:
        The path.

    Raises:
        OutputError: if it cannot be written; then nothing is.
    """
    import pyarrow

    read_domain(domain, "write_measurements")
    target = Path(path)
    form = _format_of(target, None)
    if form not in ("parquet", "csv", "arrow"):
        raise ParameterError(
            "path",
            "write_measurements",
            Words("a .parquet, .csv or .arrow file", ".parquet、.csv、.arrow のいずれかのファイル"),
            str(target),
        )
    keys = [np.asarray(noisy.keys, dtype=np.uint64) for noisy in measurements]
    lengths = [own.size for own in keys]
    described: dict[str, NDArray[Any]] = {
        "name": np.repeat(np.array([noisy.name for noisy in measurements], dtype=object), lengths),
        "kind": np.repeat(np.array([noisy.measurement.kind for noisy in measurements], dtype=object), lengths),
        "scale": np.repeat(np.array([_scale_of(noisy) for noisy in measurements], dtype=np.float64), lengths),
    }
    values = np.concatenate([np.empty(0, dtype=np.int64), *(noisy.values for noisy in measurements)])
    cells = arrow_table(domain, np.concatenate([np.empty(0, dtype=np.uint64), *keys]), {"value": values})
    for name in described:
        if name in cells.column_names:
            raise ParameterError(
                "domain",
                "write_measurements",
                Words(f"without an attribute named {name!r}", f"{name!r} という名前の属性がないこと"),
                Described("one"),
            )
    columns = {
        "name": _arrow_texts(described["name"].tolist()),
        "kind": _arrow_texts(described["kind"].tolist()),
        "scale": _arrow_numbers(described["scale"]),
    }
    rows = pyarrow.table({**columns, **dict(zip(cells.column_names, cells.columns, strict=True))})
    with atomically(target, replace=replace) as temporary:
        _write_rows(rows, temporary, form)
    return target


def _scale_of(noisy: NoisyCounts) -> float:
    measurement = noisy.measurement
    scale = getattr(measurement, "scale", None)
    if scale is not None:
        return float(scale)
    variance = getattr(measurement, "sigma_squared", None)
    return float("nan") if variance is None else float(variance) ** 0.5


def _format_of(target: Path, stated: str | None) -> str:
    allowed = sorted(set(SUFFIXES.values()))
    if stated is not None:
        if stated not in allowed:
            raise ParameterError(
                "format",
                "write_table",
                Words("one of " + ", ".join(allowed), f"{', '.join(allowed)} のいずれか"),
                shown(stated),
            )
        return stated
    form = SUFFIXES.get(target.suffix.lower())
    if form is None:
        raise OutputError(
            f"The suffix of {target.name!r} names no format. Use one of {', '.join(SUFFIXES)}, or state the format.",
            f"{target.name!r} の拡張子から形式がわかりません。{', '.join(SUFFIXES)} のいずれかにするか、形式を指定してください。",
        )
    return form


def arrow_table(domain: Domain, keys: NDArray[np.uint64], counts: Mapping[str, NDArray[Any]]) -> Any:
    """A pyarrow table with a column for each attribute, in types that depend on the domain only."""
    import pyarrow

    names = [attribute.name for attribute in domain.attributes]
    for name in counts:
        if name in names:
            raise ParameterError("count", "write_table", "another name than the attributes have", name)
    values = domain.columns_of(keys)
    columns = {attribute.name: _arrow_column(attribute, values[attribute.name]) for attribute in domain.attributes}
    return pyarrow.table({**columns, **{name: _arrow_numbers(numbers) for name, numbers in counts.items()}})


def _arrow_numbers(values: NDArray[Any]) -> Any:
    """Numbers as they lie in memory. ``pyarrow.array`` would load pandas to see whether it was handed a series."""
    import pyarrow

    flat = np.ascontiguousarray(values)
    return pyarrow.Array.from_buffers(pyarrow.from_numpy_dtype(flat.dtype), flat.size, [None, pyarrow.py_buffer(flat)])


def _arrow_texts(texts: list[str]) -> Any:
    """Texts as Arrow keeps them: their letters one behind the other, and where each begins. For the same reason."""
    import pyarrow

    letters = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, letters)], dtype=np.int64)
    if ends[-1] > MAX_OFFSET:
        return pyarrow.array(texts, pyarrow.string())
    parts = [None, pyarrow.py_buffer(ends.astype(np.int32)), pyarrow.py_buffer(b"".join(letters))]
    return pyarrow.Array.from_buffers(pyarrow.string(), len(texts), parts)


def _arrow_column(attribute: Attribute, values: NDArray[Any]) -> Any:
    import pyarrow

    if (
        isinstance(attribute, (Mesh, MeshList))
        and attribute.window.first_row < 10 * mesh_level(attribute.level).divisions
    ):
        # Codes of the far south begin with zeros, which only a text keeps.
        digits = mesh_level(attribute.level).digits
        return _arrow_texts([str(code).zfill(digits) for code in values.tolist()])
    if isinstance(attribute, Bins):
        is_whole = all(isinstance(edge, int) for edge in attribute.edges)
        return _arrow_numbers(values.astype(np.int64 if is_whole else np.float64))
    if not isinstance(attribute, Category):
        return _arrow_texts(values.tolist()) if values.dtype.kind in "UO" else _arrow_numbers(values)
    kind = _arrow_type(attribute.labels)
    listed = values.tolist()
    if kind is None or kind == pyarrow.string():
        return _arrow_texts(list(map(str, listed)))
    return pyarrow.array(listed, kind)


def _arrow_type(labels: tuple[Any, ...]) -> Any:
    """The type that holds all labels as they are; None where they must be written as text."""
    import pyarrow

    kinds = {type(label) for label in labels}
    plain = {str: pyarrow.string(), bool: pyarrow.bool_(), date: pyarrow.date32()}
    if len(kinds) == 1 and kinds <= set(plain):
        return plain[kinds.pop()]
    if kinds == {int} and all(-(2**63) <= label < 2**63 for label in labels):
        return pyarrow.int64()
    return pyarrow.float64() if kinds == {float} else None


def _write_rows(rows: Any, path: Path, form: str) -> None:
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    with path.open("wb") as stream:
        if form in ("parquet", "geoparquet"):
            pyarrow.parquet.write_table(rows, stream, compression="zstd", row_group_size=ROWS_PER_GROUP)
        elif form == "arrow":
            with pyarrow.ipc.new_file(stream, rows.schema) as writer:
                writer.write_table(rows, max_chunksize=ROWS_PER_GROUP)
        else:
            # pyarrow would put every name in quotation marks.
            header = io.StringIO()
            csv.writer(header, lineterminator="\n").writerow(rows.column_names)
            stream.write(header.getvalue().encode())
            pyarrow.csv.write_csv(rows, stream, pyarrow.csv.WriteOptions(include_header=False, batch_size=1 << 16))
