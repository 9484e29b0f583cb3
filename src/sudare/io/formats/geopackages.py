"""GeoPackage (.gpkg): the one layer of a file, its attributes as text; points also as X (longitude) and Y (latitude).

Attributes come as text, as those of a CSV file do: what they mean is told by the plan, never by other rows. Columns X and Y are
added where the layer has points in degrees and no such columns of its own. The file is opened to be read and never changed.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from sudare.bilingual import Words
from sudare.errors import InputError
from sudare.io import complaints
from sudare.io.formats.workbooks import as_text

__all__ = ["geopackage_columns", "rows_of_geopackage"]

KIND = "GeoPackage"
DEGREES = (4326, 4612, 6668, 6697, 4979)
"""WGS 84 and Japan's geodetic datums: coordinates are longitude and latitude."""

ENVELOPES = (0, 32, 48, 48, 64)
"""Bytes of the envelope of a geometry, by its sort."""

POINTS = (1, 1001, 2001, 3001)
LAYERS = Words(
    "'{file}' has {number} layers ({names}); one is needed. Save the layer in a file of its own.",
    "「{file}」にはレイヤが {number} 個あります（{names}）。使うレイヤだけを1つのファイルに保存してください。",
)


@dataclass(frozen=True, kw_only=True)
class Layer:
    """The layer of a file.

    Attributes:
        name: of its table.
        columns: that hold attributes, in their order.
        geometry: the column of geometries whose points are in degrees; None if there is none.
    """

    name: str
    columns: tuple[str, ...]
    geometry: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that can be asked for."""
        return self.columns if self.geometry is None else (*self.columns, "X", "Y")


def geopackage_columns(file: str) -> tuple[str, ...]:
    """The columns of the layer.

    Raises:
        InputError: if it is no GeoPackage, or has not one layer.
    """
    with _opened(file) as database:
        return _layer_of(database, file).names


def rows_of_geopackage(file: str, needed: Sequence[str]) -> Iterator[tuple[str | None, ...]]:
    """The needed columns of each row, as text.

    Raises:
        InputError: if the file is damaged.
    """
    with _opened(file) as database:
        layer = _layer_of(database, file)
        asks_for_points = layer.geometry is not None and not {"X", "Y"}.isdisjoint(needed)
        wanted = [*layer.columns, layer.geometry] if asks_for_points and layer.geometry else [*layer.columns]
        listed = ", ".join(_quoted(name) for name in wanted) or "NULL"
        places = {name: place for place, name in enumerate(layer.columns)}
        for row in database.execute(f"SELECT {listed} FROM {_quoted(layer.name)}"):  # noqa: S608 - names are quoted
            point = _point(row[-1]) if asks_for_points else (None, None)
            values = {"X": point[0], "Y": point[1]} if layer.geometry is not None else {}
            yield tuple(values[name] if name in values else _value(row[places[name]]) for name in needed)


def _value(value: object) -> str | None:
    return None if isinstance(value, bytes) else as_text(value)


def _point(blob: object) -> tuple[str | None, str | None]:
    """Longitude and latitude of a point, as text; None for whatever is none."""
    if not isinstance(blob, bytes) or len(blob) < 8 or blob[:2] != b"GP" or (blob[3] >> 1) & 7 >= len(ENVELOPES):
        return None, None
    start = 8 + ENVELOPES[(blob[3] >> 1) & 7]
    if len(blob) < start + 21 or blob[start] > 1:
        return None, None
    order = "<" if blob[start] else ">"
    kind, x, y = struct.unpack_from(f"{order}Idd", blob, start + 1)
    return (repr(x), repr(y)) if kind in POINTS and isfinite(x) and isfinite(y) else (None, None)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def _opened(file: str) -> Iterator[sqlite3.Connection]:
    try:
        with closing(sqlite3.connect(f"{Path(file).resolve().as_uri()}?mode=ro", uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            yield database
    except sqlite3.Error:
        raise complaints.damaged(file, KIND) from None


def _layer_of(database: sqlite3.Connection, file: str) -> Layer:
    listed = database.execute(
        "SELECT table_name FROM gpkg_contents WHERE data_type IN ('features', 'attributes') ORDER BY table_name"
    ).fetchall()
    names = [str(name) for (name,) in listed]
    if len(names) != 1:
        said = LAYERS.format(file=Path(file).name, number=len(names), names=", ".join(names[:10]) or "-")
        raise InputError(said)
    columns = [str(row[1]) for row in database.execute(f"PRAGMA table_info({_quoted(names[0])})")]
    if not columns:
        raise complaints.damaged(file, KIND)
    geometries = _geometries(database, names[0])
    attributes = tuple(name for name in columns if name not in geometries)
    in_degrees = [name for name, reference in geometries.items() if reference in DEGREES and name in columns]
    has_room = {"x", "y"}.isdisjoint(name.casefold() for name in attributes)
    return Layer(name=names[0], columns=attributes, geometry=in_degrees[0] if in_degrees and has_room else None)


def _geometries(database: sqlite3.Connection, table: str) -> dict[str, int]:
    """The columns of geometries of a table, with the numbers of their reference systems."""
    if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'gpkg_geometry_columns'").fetchone():
        return {}
    found = database.execute(
        "SELECT g.column_name, COALESCE(s.organization_coordsys_id, g.srs_id) FROM gpkg_geometry_columns AS g "
        "LEFT JOIN gpkg_spatial_ref_sys AS s ON s.srs_id = g.srs_id WHERE g.table_name = ?",
        (table,),
    )
    return {str(name): int(reference) for name, reference in found}
