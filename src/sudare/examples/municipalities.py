"""Municipalities and prefectures of an invented country, as a public list has them: a row for each mesh of 1 km.

A municipality is what lies nearest to its town, and a prefecture what lies nearest to its largest one. Codes begin with 91, where
Japan has no prefecture, so that no list of the two can be mistaken for the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain import CountTable, Mesh, mesh_codes
from sudare.errors import ParameterError
from sudare.parameters import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["invent_municipalities"]

FIRST_PREFECTURE = 91
PREFECTURES, TOWNS = 5, 40
APART = 7
"""Meshes of 1 km between two towns, at least."""

SHORE = 4
"""So far around inhabited meshes a municipality reaches."""


def invent_municipalities(country: CountTable) -> Any:
    """The list of the meshes of an invented country with the municipality of each.

    Columns, as in lists of the Statistics Bureau of Japan: ``都道府県市区町村コード``, ``市区町村名`` and ``基準メッシュコード``.

    Args:
        country: such as `invent_country` makes.

    Returns:
        A pyarrow table.

    Raises:
        ParameterError: if the country is none of meshes of 500 m.

    Example:
        >>> from sudare.examples import invent_country, invent_municipalities
        >>> towns = invent_municipalities(invent_country(64, people=10_000))
        >>> towns.column_names, towns.column(0)[0].as_py() // 1000
        (['都道府県市区町村コード', '市区町村名', '基準メッシュコード'], 91)
    """
    import pyarrow

    mesh = country.domain.attributes[0] if isinstance(country, CountTable) else None
    if not isinstance(mesh, Mesh) or len(country.domain.attributes) != 1:
        raise ParameterError("country", "invent_municipalities", "a table of meshes of 500 m", shown(country))
    rows, columns = country.domain.places_of(country.keys)
    people = np.zeros((-(-mesh.rows // 2) + 1, -(-mesh.columns // 2) + 1), dtype=np.int64)
    south, west = mesh.first_row // 2, mesh.first_column // 2
    np.add.at(people, ((mesh.first_row + rows) // 2 - south, (mesh.first_column + columns) // 2 - west), country.counts)
    towns = _found_towns(people)
    down, right = np.nonzero(_near(people > 0, SHORE))
    nearest = _nearest(down, right, towns)
    capitals = towns[:PREFECTURES]
    of_towns = _nearest(towns[:, 0], towns[:, 1], capitals)
    inside = [int((of_towns[:town] == of_towns[town]).sum()) + 1 for town in range(len(towns))]
    codes = (FIRST_PREFECTURE + of_towns) * 1000 + np.array(inside)
    names = np.array([f"架空市{code}" for code in codes])
    order = np.lexsort((right, down, codes[nearest]))
    meshes = mesh_codes(south + down[order], west + right[order], "3")
    columns_of_list = ("都道府県市区町村コード", "市区町村名", "基準メッシュコード")
    return pyarrow.table(
        dict(zip(columns_of_list, (codes[nearest][order], names[nearest][order], meshes), strict=True))
    )


def _found_towns(people: Integers) -> Integers:
    """The places with most people that are not too near to each other, the largest first."""
    chosen: list[tuple[int, int]] = []
    for place in np.argsort(-people, axis=None, kind="stable").tolist():
        row, column = divmod(place, people.shape[1])
        if len(chosen) == TOWNS or (chosen and not people[row, column]):
            break
        if all(max(abs(row - other), abs(column - along)) >= APART for other, along in chosen):
            chosen.append((row, column))
    return np.array(chosen, dtype=np.int64)


def _near(inhabited: NDArray[np.bool_], reach: int) -> NDArray[np.bool_]:
    near = inhabited.copy()
    for axis in (0, 1):
        known = near.copy()
        for step in range(1, reach + 1):
            for way in (step, -step):
                moved = np.roll(known, way, axis=axis)
                edge = [slice(None), slice(None)]
                edge[axis] = slice(None, way) if way > 0 else slice(way, None)
                moved[tuple(edge)] = False
                near |= moved
    return near


def _nearest(rows: Integers, columns: Integers, places: Integers) -> Integers:
    apart = (rows[:, None] - places[None, :, 0]) ** 2 + (columns[:, None] - places[None, :, 1]) ** 2
    nearest: Integers = apart.argmin(axis=1).astype(np.int64)
    return nearest
