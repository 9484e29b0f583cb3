"""Groupings against plain sums of an array."""

from __future__ import annotations

import numpy as np
import pytest

import sudare
from sudare.accuracy.groupings import Grouping, groupings_of

CITIES = sudare.Hierarchy.from_levels("city", {"prefecture": [1, 1, 2, 2, 2], "city": [11, 12, 21, 22, 23]})
DOMAINS = {
    "map": sudare.Domain.of_shape((12, 20)),
    "boxes": sudare.Domain.of_shape((5, 6, 7)),
    "mesh by age and sex": sudare.Domain(
        (
            sudare.Mesh("mesh", "3", 4160, 3040, 10, 12),
            sudare.Bins("age", (0, 15, 65, 120)),
            sudare.Category("sex", ("f", "m")),
        )
    ),
    "hierarchy": sudare.Domain((CITIES, sudare.Category("sex", ("f", "m")))),
    "line": sudare.Domain.of_shape((50,)),
    "one cell": sudare.Domain.of_shape((1,)),
}


def naive_sums(grouping: Grouping, dense: np.ndarray) -> np.ndarray:
    for axis, partition in enumerate(grouping.partitions):
        first, end = partition.ranges(10**9)
        parts = [dense.take(range(a, b), axis=axis).sum(axis=axis) for a, b in zip(first, end, strict=True)]
        dense = np.stack(parts, axis=axis)
    return dense.ravel()


@pytest.mark.parametrize("name", DOMAINS)
def test_sums(name: str) -> None:
    domain = DOMAINS[name]
    dense = np.random.default_rng(5).integers(0, 9, size=domain.shape)
    keys = np.arange(domain.cells, dtype=np.uint64)
    for grouping in groupings_of(domain):
        sums = np.bincount(grouping.group_of(domain, keys).astype(int), dense.ravel(), grouping.groups)
        assert np.array_equal(sums, naive_sums(grouping, dense)), grouping


@pytest.mark.parametrize("name", DOMAINS)
def test_from_the_cells_to_the_total(name: str) -> None:
    found = groupings_of(DOMAINS[name])
    assert found[0].groups == DOMAINS[name].cells
    assert found[-1].kind == "total"
    assert found[-1].groups == 1
    assert len({(g.kind, g.name, g.side) for g in found}) == len(found)


def test_every_axis_has_its_margin() -> None:
    found = [g.name for g in groupings_of(DOMAINS["mesh by age and sex"]) if g.kind == "margin"]
    assert found == ["mesh, rows", "mesh, columns", "age", "sex"]
    assert [g.groups for g in groupings_of(DOMAINS["mesh by age and sex"]) if g.kind == "categories"] == [6]


def test_areas_are_squares_of_the_map_in_each_category_and_in_all() -> None:
    found = groupings_of(DOMAINS["mesh by age and sex"])
    assert [(g.side, g.groups) for g in found if g.kind == "area"] == [(1, 720), (2, 180), (4, 54), (8, 24)]
    assert [(g.side, g.groups) for g in found if g.kind == "area of all categories"] == [
        (1, 120),
        (2, 30),
        (4, 9),
        (8, 4),
    ]


def test_levels_of_a_hierarchy() -> None:
    (level,) = (g for g in groupings_of(DOMAINS["hierarchy"]) if g.kind == "level")
    assert (level.name, level.groups) == ("city: prefecture", 2)


def test_areas_of_listed_meshes() -> None:
    """An area of side s is a run of s * s meshes, as many as a square on the map has."""
    rows, columns = np.mgrid[4280:4296, 3180:3196]
    listed = sudare.domain.MeshList("m", "3", sudare.domain.mesh_codes(rows.ravel(), columns.ravel(), "3"))
    domain = sudare.Domain((listed, sudare.Category("sex", ("f", "m"))))
    areas = {(g.kind, g.side): g for g in groupings_of(domain) if g.side is not None}
    assert areas["area", 4].groups == 16 * 2
    assert areas["area of all categories", 8].groups == 4
    assert max(side for _, side in areas) == 8
