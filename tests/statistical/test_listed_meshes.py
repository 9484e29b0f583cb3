"""Listed meshes against the whole rectangle: nobody in the sea, and no sum is worse."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from sudare import Budget, Category, CountTable, Domain, Mesh, ResearchEntropy, publish
from sudare.domain import MeshList
from sudare.domain.layout import map_layout, morton_layout
from sudare.errors import WeakBudgetWarning
from sudare.tables.trees.dense_tree import MAX_DENSE_BITS
from sudare.tables.trees.short_axes import short_axes

SIDE, RUNS, FEWER_RUNS = 64, 40, 10
WINDOW = Mesh("KEY_CODE", "3", 4280, 3180, SIDE, SIDE)


def coast() -> tuple[MeshList, np.ndarray]:
    """An invented bay: land around water, most people at the shore, and whose land it is."""
    rows, columns = np.mgrid[:SIDE, :SIDE]
    distance = np.hypot(rows - 27.3, columns - 33.7)
    land = distance > 17
    people = np.random.default_rng(5).poisson(60 * np.exp(-(distance - 17) / 5))
    listed = MeshList("KEY_CODE", "3", WINDOW.values(np.nonzero(land)))
    own = listed.window_cells((np.arange(listed.shape[0]),))
    first = listed.window.first_row - WINDOW.first_row, listed.window.first_column - WINDOW.first_column
    return listed, people[own[0] + first[0], own[1] + first[1]]


def errors_of(
    listed: MeshList, people: np.ndarray, areas: dict[str, np.ndarray], epsilon: float, runs: int
) -> tuple[dict[str, dict[str, np.ndarray]], float]:
    """Signed errors of sums, for the list and for the rectangle around it; and how many people that one puts in the sea."""
    rows, columns = listed.window_cells((np.arange(people.size),))
    whole, window = Domain((listed,)), Domain((listed.window,))
    table = CountTable.from_dense(people, whole)
    around = CountTable.from_cells(window, window.keys_at(rows, columns), people)
    found: dict[str, dict[str, np.ndarray]] = {}
    in_the_sea = []
    for name, truth in (("list", table), ("rectangle", around)):
        sums: dict[str, list[np.ndarray]] = {area: [] for area in areas}
        for run in range(runs):
            published = publish(truth, Budget(epsilon=epsilon), entropy=ResearchEntropy(run)).table
            counts = published.to_dense()
            if name == "rectangle":
                in_the_sea.append(published.total - int(counts[rows, columns].sum()))
                counts = counts[rows, columns]
            for area, numbers in areas.items():
                sums[area].append(np.bincount(np.unique(numbers, return_inverse=True)[1], weights=counts - people))
        found[name] = {area: np.array(errors) for area, errors in sums.items()}
    return found, float(np.mean(in_the_sea))


@pytest.mark.slow
@pytest.mark.parametrize("runs", [FEWER_RUNS, pytest.param(RUNS, marks=pytest.mark.deep)])
def test_a_list_is_nowhere_worse_than_the_rectangle(runs: int) -> None:
    listed, people = coast()
    rows, columns = listed.window_cells((np.arange(people.size),))
    areas = {
        "cells": np.arange(people.size),
        "squares": rows // 8 * 100 + columns // 8,
        "quarters": (rows > 27) * 2 + (columns > 33),
    }
    errors, in_the_sea = errors_of(listed, people, areas, 0.5, runs)
    assert in_the_sea > 50
    for area in areas:
        assert (errors["list"][area] ** 2).mean() < 1.05 * (errors["rectangle"][area] ** 2).mean()
    assert (errors["list"]["quarters"] ** 2).mean() < 0.5 * (errors["rectangle"]["quarters"] ** 2).mean()
    # People are lost to the sea on the rectangle; on the list no quarter gains or loses.
    signed = {name: sums["quarters"] for name, sums in errors.items()}
    scores = {n: e.mean(axis=0) / (e.std(axis=0, ddof=1) / np.sqrt(runs)) for n, e in signed.items()}
    assert np.abs(scores["list"]).max() < 4.5
    assert scores["rectangle"].min() < -8 * np.sqrt(runs / RUNS)


def test_listed_meshes_are_no_categories() -> None:
    """Margins of categories are brought back one by one; meshes of a list are a map, however few there are."""
    few = MeshList("KEY_CODE", "3", WINDOW.values((np.arange(9), np.arange(9))))
    assert short_axes(Domain((few,))) == []
    assert short_axes(Domain((few, Category("sex", ("f", "m"))))) == [1]


def test_layouts_of_listed_meshes() -> None:
    listed, people = coast()
    domain = Domain((listed,))
    layout = map_layout(domain, MAX_DENSE_BITS)
    keys = np.arange(people.size, dtype=np.uint64)
    leaves = layout.to_tree(keys)
    assert len(set(leaves.tolist())) == people.size
    assert np.array_equal(layout.to_raster(leaves), keys)
    # The list has the order of the tree, but from the window's corner rather than the whole grid's.
    window = Domain((listed.window,))
    on_map = window.keys_at(*listed.window_cells((keys.astype(np.int64),)))
    assert np.array_equal(leaves, morton_layout(window.shape).to_tree(on_map))
    assert map_layout(domain, 4) == morton_layout(domain.shape)
    assert map_layout(window, MAX_DENSE_BITS) == morton_layout(window.shape)


@pytest.mark.parametrize("estimate", ["plain", "least-squares", "learned"])
def test_measurements_are_of_listed_meshes(estimate: str) -> None:
    """Every area that is noted begins with a mesh of the list, and areas without meshes are not noted."""
    listed, people = coast()
    domain = Domain((listed,))
    truth = CountTable.from_dense(people, domain)
    layout = map_layout(domain, MAX_DENSE_BITS) if estimate != "plain" else morton_layout(domain.shape)
    with pytest.warns(WeakBudgetWarning):
        budget = Budget(epsilon=1_000)
    published = publish(
        truth,
        budget,
        "wide-tree",
        estimate=estimate,
        keep_measurements=True,
        entropy=ResearchEntropy(1),
    )
    assert published.measurements is not None
    assert np.array_equal(published.to_dense(), people)
    if estimate == "plain":
        return
    leaves = np.sort(layout.to_tree(np.arange(people.size, dtype=np.uint64)))
    for measured, height in zip(published.measurements, (layout.depth, 8, 4, 0), strict=True):
        nodes = np.unique(leaves >> np.uint64(height), return_index=True)[1]
        assert np.array_equal(np.sort(layout.to_tree(measured.keys)), leaves[nodes])


@pytest.mark.deep
@pytest.mark.parametrize("epsilon", [0.1, 1])
def test_prefectures_of_the_census(epsilon: float) -> None:
    """Kanto and its coast at 1 km: sums of prefectures, municipalities, squares and cells."""
    data = Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[3] / "shared" / "data"))
    if not (data / "japan_mesh1km_domain").is_dir():
        pytest.skip("needs the list of meshes and the census")
    table = pyarrow.parquet.read_table(data / "japan_mesh1km_domain" / "mesh_city.parquet")
    meshes, first = np.unique(table["mesh_code"].to_numpy(), return_index=True)
    cities = table["city_code"].to_numpy()[first]
    kanto = np.isin(meshes // 10_000, [5238, 5239, 5240, 5338, 5339, 5340, 5438, 5439, 5440])
    listed = MeshList("KEY_CODE", "3", meshes[kanto])
    city = cities[np.searchsorted(meshes, listed.codes)]
    census = pyarrow.parquet.read_table(data / "japan_mesh500m_2020" / "pop.parquet")
    whole = Domain((MeshList("KEY_CODE", "3", meshes),))
    keys = whole.keys_of({"KEY_CODE": census["mesh_code"].to_numpy() // 10})
    everybody = CountTable.from_cells(whole, keys, census["population"].to_numpy().astype(np.int64)).to_dense()
    people = everybody[whole.keys_of({"KEY_CODE": listed.codes}).astype(np.int64)]
    rows, columns = listed.window_cells((np.arange(people.size),))
    areas = {
        "cells": np.arange(people.size),
        "municipalities": city,
        "prefectures": city // 1000,
        "squares": rows // 16 * 1000 + columns // 16,
        "other squares": (rows + 7) // 16 * 1000 + (columns + 7) // 16,
    }
    errors, in_the_sea = errors_of(listed, people, areas, epsilon, 10)
    assert in_the_sea > 250 / epsilon, "else the rectangle would not be the worse choice"
    for area in areas:
        assert (errors["list"][area] ** 2).mean() < 1.1 * (errors["rectangle"][area] ** 2).mean()
    assert (errors["list"]["prefectures"] ** 2).mean() < 0.5 * (errors["rectangle"]["prefectures"] ** 2).mean()
