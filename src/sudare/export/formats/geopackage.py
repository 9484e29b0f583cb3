"""A GeoPackage 1.3: a polygon for each mesh cell, its numbers, what is to be known of them, and a style for QGIS.

A GeoPackage is an SQLite file. It is written by the standard library alone. A row is a cell that is not 0, as in the
published files.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.errors import OutputError
from sudare.export import export_words as texts
from sudare.export.dense import number_text, require_cube
from sudare.export.description import PublicationHead, PublishedCube
from sudare.export.formats.qgis_style import style_of
from sudare.export.sentences import notes_of
from sudare.io.formats.geoparquet import mesh_bounds, polygons_as_wkb

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.domain import Mesh
    from sudare.export.format import Publication

__all__ = ["GEOPACKAGE"]

APPLICATION, USER_VERSION = 0x47504B47, 10300
"""The marks of a GeoPackage of version 1.3 in an SQLite file."""

JGD2011_CODE = 6668
LAYER, GEOMETRY, KEY = "cells", "geom", "fid"
RESERVED = {KEY, GEOMETRY}
JGD2011_TEXT = (
    'GEOGCS["JGD2011",DATUM["Japanese_Geodetic_Datum_2011",SPHEROID["GRS 1980",6378137,298.257222101]],'
    'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","6668"]]'
)
WGS84_TEXT = (
    'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],'
    'UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]'
)
SYSTEMS = (
    ("Undefined Cartesian", -1, "NONE", -1, "undefined"),
    ("Undefined geographic", 0, "NONE", 0, "undefined"),
    ("WGS 84", 4326, "EPSG", 4326, WGS84_TEXT),
    ("JGD2011", JGD2011_CODE, "EPSG", JGD2011_CODE, JGD2011_TEXT),
)
SCHEMA = """
CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER PRIMARY KEY, organization TEXT NOT NULL,
    organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE,
    description TEXT DEFAULT '', last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
    min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER,
    CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id));
CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL,
    srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL,
    CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name),
    CONSTRAINT uk_gc_table_name UNIQUE (table_name),
    CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name),
    CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id));
CREATE TABLE about (id INTEGER PRIMARY KEY, key TEXT NOT NULL, english TEXT NOT NULL, japanese TEXT NOT NULL);
CREATE TABLE accuracy (id INTEGER PRIMARY KEY, english TEXT NOT NULL, japanese TEXT NOT NULL, standard_error DOUBLE NOT NULL,
    low DOUBLE NOT NULL, high DOUBLE NOT NULL, confidence INTEGER NOT NULL);
CREATE TABLE layer_styles (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, f_table_catalog TEXT(256), f_table_schema TEXT(256),
    f_table_name TEXT(256), f_geometry_column TEXT(256), styleName TEXT(30), styleQML TEXT, styleSLD TEXT, useAsDefault BOOLEAN,
    description TEXT, owner TEXT(30), ui TEXT(30), update_time DATETIME);
"""


READ_BY = Words(
    "a GeoPackage of mesh cells with a style, which QGIS, ArcGIS and GDAL read",
    "メッシュの GeoPackage（スタイルつき。QGIS、ArcGIS、GDAL が読む形式）",
)


@dataclass(frozen=True)
class GeoPackage:
    """GeoPackage."""

    suffix: str = ".gpkg"
    words: Words = READ_BY

    def require_room(self, publication: Publication) -> None:
        """Refuse what has no mesh."""
        cube = require_cube(publication, Words.same("GeoPackage"))
        _mesh_of(cube)
        _columns(cube)

    def write(self, publication: Publication, path: Path) -> None:
        """Write the file."""
        cube = require_cube(publication, Words.same("GeoPackage"))
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {USER_VERSION}")
            connection.executescript(SCHEMA)
            connection.execute("BEGIN")
            _fill(connection, cube)
            connection.execute("COMMIT")


def _mesh_of(cube: PublishedCube) -> tuple[Mesh, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The window of the table's mesh, and row and column of each mesh in it."""
    if cube.mesh is None or cube.mesh_cells is None:
        raise OutputError(texts.NO_MESH)
    return cube.mesh, cube.mesh_cells


def _columns(cube: PublishedCube) -> list[str]:
    """The names of the columns besides key and geometry.

    Raises:
        OutputError: if two would be the same for SQLite, which knows no capital letters.
    """
    names = [*(one.name for one in cube.dimensions), cube.value_name]
    taken = set(RESERVED)
    for name in names:
        if name.lower() in taken or "\0" in name:
            raise OutputError(texts.SAME_COLUMN.format(name=name))
        taken.add(name.lower())
    return names


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _fill(connection: sqlite3.Connection, cube: PublishedCube) -> None:
    head, names = cube.head, _columns(cube)
    connection.executemany(
        "INSERT INTO gpkg_spatial_ref_sys (srs_name, srs_id, organization, organization_coordsys_id, definition) "
        "VALUES (?, ?, ?, ?, ?)",
        SYSTEMS,
    )
    kind = "INTEGER" if cube.decimals == 0 else "DOUBLE"
    listed = ", ".join([*(f"{_quoted(name)} TEXT NOT NULL" for name in names[:-1]), f"{_quoted(names[-1])} {kind}"])
    connection.execute(
        f"CREATE TABLE {LAYER} ({KEY} INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, {GEOMETRY} BLOB NOT NULL, {listed})"
    )
    blanks = ", ".join("?" * (len(names) + 1))
    connection.executemany(f"INSERT INTO {LAYER} VALUES (NULL, {blanks})", _features(cube))  # noqa: S608
    mesh, _ = _mesh_of(cube)
    # The bounds of the window, which is public, also where only few of its meshes are published.
    south, west, north, east = mesh_bounds(mesh, np.array([0, mesh.rows - 1]), np.array([0, mesh.columns - 1]))
    bounds = (float(west[0]), float(south[0]), float(east[1]), float(north[1]), JGD2011_CODE)
    told = " ".join(words.explain(head.language) for words in _notes(cube))
    contents: list[tuple[object, ...]] = [(LAYER, "features", head.title or LAYER, told, head.created, *bounds)]
    for name in ("about", "accuracy", "layer_styles"):
        contents.append((name, "attributes", name, "", head.created, None, None, None, None, 0))
    connection.executemany("INSERT INTO gpkg_contents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", contents)
    connection.execute(
        "INSERT INTO gpkg_geometry_columns VALUES (?, ?, 'POLYGON', ?, 0, 0)", (LAYER, GEOMETRY, JGD2011_CODE)
    )
    _tell(connection, cube)
    low, high = int(cube.values.min(initial=0)), int(cube.values.max(initial=0))
    connection.execute(
        "INSERT INTO layer_styles (f_table_catalog, f_table_schema, f_table_name, f_geometry_column, styleName, styleQML, "
        "styleSLD, useAsDefault, description, owner, ui, update_time) VALUES ('', '', ?, ?, 'sudare', ?, '', 1, ?, '', '', ?)",
        (LAYER, GEOMETRY, style_of(names[-1], low, high), head.title, head.created),
    )


def _features(cube: PublishedCube) -> Iterator[tuple[object, ...]]:
    """Polygon, codes and number of each cell that is not 0."""
    mesh, cells = _mesh_of(cube)
    south, west, north, east = mesh_bounds(mesh, *cells)
    shapes = polygons_as_wkb(south, west, north, east).to_pylist()
    # "GP", version 0, flags: an envelope of four numbers, little-endian.
    bounds = zip(west.tolist(), east.tolist(), south.tolist(), north.tolist(), strict=True)
    blobs = [
        struct.pack("<2sBBi4d", b"GP", 0, 0b11, JGD2011_CODE, *box) + shape
        for box, shape in zip(bounds, shapes, strict=True)
    ]
    places = [one.tolist() for one in cube.places]
    own = places[cube.mesh_axis]
    for number, value in enumerate(cube.values.tolist()):
        codes = (one.codes[along[number]] for one, along in zip(cube.dimensions, places, strict=True))
        shown = value if cube.decimals == 0 else float(number_text(value, cube.decimals))
        yield (blobs[own[number]], *codes, shown)


def _notes(cube: PublishedCube) -> tuple[Words, ...]:
    return (*notes_of(cube.head, cube.dimensions), texts.UNLISTED)


def _tell(connection: sqlite3.Connection, cube: PublishedCube) -> None:
    rows = [*_about(cube.head), *(("note", one) for one in _notes(cube))]
    connection.executemany(
        "INSERT INTO about (key, english, japanese) VALUES (?, ?, ?)",
        [(key, words.english, words.japanese) for key, words in rows],
    )
    connection.executemany(
        "INSERT INTO accuracy (english, japanese, standard_error, low, high, confidence) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (one.what.english, one.what.japanese, one.rmse, one.low, one.high, one.confidence)
            for one in cube.head.errors
        ],
    )


def _about(head: PublicationHead) -> Iterator[tuple[str, Words]]:
    for key in ("title", "publisher", "description", "created"):
        yield key, Words.same(getattr(head, key))
    for fact in head.facts:
        yield fact.key, fact.value


GEOPACKAGE = GeoPackage()
