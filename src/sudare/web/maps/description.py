"""What a map is, for the script that paints it: its size and place, the errors to expect of its squares, its colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from sudare.bilingual import Language
from sudare.domain import SignedTable, mesh_level
from sudare.domain.sparse_table import SparseTable
from sudare.releases.page_numbers import label_of_places
from sudare.tables.maps import MapAxes
from sudare.tables.palettes import PALETTES, STEPS, mix_colours
from sudare.web.maps.areas import AreaAxis, AreaShapes, names_of_areas
from sudare.web.maps.layers import attributes_on_map, block_of, map_axes

__all__ = [
    "CategoryChoice",
    "MapAbout",
    "MapErrors",
    "MeshAbout",
    "category_choices",
    "describe_areas",
    "describe_map",
    "expected_errors",
    "palette_rows",
]

MAX_CHOICES = 500


class MeshAbout(TypedDict):
    """The mesh that a map is made of: its level, and where the map begins in it."""

    name: str
    divisions: int
    stages: list[int]
    digits: int
    row: int
    column: int
    metres: int


class MapErrors(TypedDict):
    """Sides of areas in cells with their errors, in each category and of all of them."""

    each: list[tuple[int, float]]
    all: list[tuple[int, float]]


class MapAbout(TypedDict):
    """What the script needs to know of a map, as JSON."""

    rows: int
    columns: int
    block: int
    aspect: float
    mesh: MeshAbout | None
    errors: MapErrors
    palettes: list[str]
    steps: int
    signed: bool
    areas: list[str] | None


@dataclass(frozen=True, kw_only=True)
class CategoryChoice:
    """An attribute beside the map, of which one category can be looked at.

    Attributes:
        key: of the form.
        name: of the attribute.
        labels: of its categories.
    """

    key: str
    name: str
    labels: tuple[str, ...]


def category_choices(table: SparseTable) -> list[CategoryChoice]:
    """The attributes beside the map. What has more categories than anybody would choose from is summed."""
    on_map = attributes_on_map(table)
    return [
        CategoryChoice(
            key=f"slice-{position}",
            name=attribute.name,
            labels=tuple(label_of_places(attribute, place, place) for place in range(attribute.shape[0])),
        )
        for position, attribute in enumerate(table.domain.attributes)
        if position not in on_map and len(attribute.shape) == 1 and 1 < attribute.shape[0] <= MAX_CHOICES
    ]


def expected_errors(document: Mapping[str, Any], kind: str = "area", name: str = "") -> list[tuple[int, float]]:
    """Sides of areas in cells, with the root mean square error that a release states for them.

    Args:
        document: of the release.
        kind: ``"area"`` in each category, ``"area of all categories"``, or ``"margin"``, which has the side 1.
        name: of the margin.
    """
    stated: Sequence[Any] = (document.get("accuracy") or {}).get("errors") or []
    rows = [
        row
        for row in stated
        if isinstance(row, Mapping) and row.get("kind") == kind and bool(row.get("side")) != bool(name)
    ]
    return sorted(
        (int(row["side"] or 1), float(row["rmse"]))
        for row in rows
        if float(row.get("rmse") or 0) > 0 and (not name or row.get("name") == name)
    )


def describe_map(table: SparseTable, document: Mapping[str, Any]) -> MapAbout:
    """What the script needs to know."""
    axes = map_axes(table)
    rows, columns = axes.shape(table.domain)
    each = expected_errors(document)
    mesh: MeshAbout | None = None
    if axes.mesh is not None:
        level = mesh_level(axes.mesh.level)
        mesh = {
            "name": axes.mesh.name,
            "divisions": level.divisions,
            "stages": list(level.stages),
            "digits": level.digits,
            "row": axes.mesh.first_row,
            "column": axes.mesh.first_column,
            "metres": level.metres,
        }
    return {
        "rows": rows,
        "columns": columns,
        "block": block_of(table),
        "aspect": axes.width_over_height(1, 1),
        "mesh": mesh,
        "errors": {"each": each, "all": expected_errors(document, "area of all categories") or each},
        "palettes": palette_rows(),
        "steps": STEPS,
        "signed": isinstance(table, SignedTable),
        "areas": None,
    }


def describe_areas(
    table: SparseTable, axis: AreaAxis, shapes: AreaShapes, document: Mapping[str, Any], language: Language
) -> MapAbout:
    """What the script needs to know of a map of areas: every mesh of an area shows what the area has."""
    level, window = shapes.level, shapes.window
    attribute = table.domain.attributes[axis.position]
    each = expected_errors(document)[:1]
    of_margin = expected_errors(document, "margin", attribute.name)
    return {
        "rows": window.rows,
        "columns": window.columns,
        "block": 1,
        "aspect": MapAxes(0, (), window).width_over_height(1, 1),
        "mesh": {
            "name": attribute.name,
            "divisions": level.divisions,
            "stages": list(level.stages),
            "digits": level.digits,
            "row": window.first_row,
            "column": window.first_column,
            "metres": level.metres,
        },
        "errors": {"each": each, "all": of_margin if len(table.domain.attributes) > 1 else each},
        "palettes": palette_rows(),
        "steps": STEPS,
        "signed": isinstance(table, SignedTable),
        "areas": names_of_areas(axis, shapes, language),
    }


def palette_rows() -> list[str]:
    """The colours of each palette from the first shade to the last, six hexadecimal digits each."""
    return [
        "".join(f"{int(r):02x}{int(g):02x}{int(b):02x}" for r, g, b in mix_colours(colours, STEPS + 1)[:STEPS])
        for colours in PALETTES.values()
    ]
