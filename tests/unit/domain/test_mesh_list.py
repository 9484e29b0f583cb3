"""Meshes of a public list."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sudare
from sudare.domain import Category, CountTable, Domain, Mesh, MeshList, mesh_cells, mesh_codes, morton_layout
from sudare.domain.prefectures import PREFECTURES, prefecture_number
from sudare.errors import ParameterError
from sudare.tables.maps import find_map, pixels_of
from sudare.tables.planning.planner import plan_table

WINDOW = Mesh("KEY_CODE", "3", 4280, 3180, 16, 16)
CELLS = st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15)), min_size=1, max_size=60)


def codes_of(cells: list[tuple[int, int]]) -> list[int]:
    rows, columns = (np.array(along) for along in zip(*cells, strict=True))
    codes: list[int] = WINDOW.values((rows, columns)).tolist()
    return codes


@given(CELLS)
def test_places_and_values(cells: list[tuple[int, int]]) -> None:
    codes = codes_of(cells)
    listed = MeshList("KEY_CODE", "3", codes)
    assert sorted(listed.values((np.arange(listed.shape[0]),)).tolist()) == sorted(set(codes))
    assert listed.values(listed.places(codes)).tolist() == codes
    assert listed.values(listed.places([str(code) for code in codes])).tolist() == codes
    assert listed == MeshList("KEY_CODE", "3", codes[::-1])
    assert hash(listed) == hash(MeshList("KEY_CODE", "3", codes[::-1]))
    rows, columns = listed.window_cells(listed.places(codes))
    assert listed.window.values((rows, columns)).tolist() == codes
    everywhere = [(row, column) for row in range(16) for column in range(16)]
    grid = mesh_cells(codes_of(everywhere), "3")
    assert [c for c, inside in zip(codes_of(everywhere), listed.contains(*grid), strict=True) if inside] == [
        code for code in codes_of(everywhere) if code in set(codes)
    ]


@given(CELLS)
def test_a_bitmap_leads_back(cells: list[tuple[int, int]]) -> None:
    listed = MeshList("KEY_CODE", "3", codes_of(cells))
    assert MeshList.from_bitmap(listed.window, listed.to_bitmap()) == listed


@pytest.mark.parametrize("bitmap", ["", "no base64!", "AAAA", "eJwDAAAAAAE="])
def test_no_bitmap(bitmap: str) -> None:
    with pytest.raises(ParameterError, match="listed"):
        MeshList.from_bitmap(WINDOW, bitmap)


def test_the_row_follows_the_morton_curve() -> None:
    """A whole square that is aligned in the grid stands as the Morton layout has it."""
    rows, columns = np.meshgrid(np.arange(4288, 4304), np.arange(3184, 3200), indexing="ij")
    listed = MeshList("m", "3", mesh_codes(rows.ravel(), columns.ravel(), "3"))
    window_rows, window_columns = listed.window_cells((np.arange(256),))
    leaves = morton_layout((16, 16)).to_raster(np.arange(256, dtype=np.uint64))
    assert (window_rows * 16 + window_columns).tolist() == leaves.tolist()


def test_coarser_meshes_stand_for_all_in_them() -> None:
    assert MeshList("m", "1/2", [53394611]).codes.tolist() == [533946111, 533946112, 533946113, 533946114]
    assert MeshList("m", "3", [533946]).shape == (100,)
    assert MeshList("m", "1/2", ["53394611", "53394612"]).shape == (8,)


@pytest.mark.parametrize("codes", [[], [53394619, 5], [533946111], ["x"], [5339461, 5339462]])
def test_wrong_lists(codes: list[object]) -> None:
    with pytest.raises(ParameterError):
        MeshList("m", "3", codes)


def test_meshes_too_far_apart() -> None:
    ends = mesh_codes(np.array([7_000, 60_000]), np.array([7_000, 60_000]), "1/8")
    with pytest.raises(ParameterError, match="in a window of at most"):
        MeshList("m", "1/8", ends)


def test_what_is_not_listed_is_refused() -> None:
    listed = MeshList("m", "3", [53394611, 53394613])
    with pytest.raises(ParameterError, match="one of the 2 listed meshes"):
        listed.places([53394611, 53394612])


def test_a_map_of_listed_meshes_is_drawn_on_its_window() -> None:
    listed = MeshList("m", "3", codes_of([(0, 0), (3, 5), (7, 1)]))
    domain = Domain((Category("sex", ("f", "m")), listed))
    table = CountTable.from_dense(np.array([[1, 0, 2], [3, 4, 0]]), domain)
    axes = find_map(domain)
    assert axes is not None
    pixels = pixels_of(table, axes).counts
    assert pixels.shape == (8, 6)
    by_code = dict(zip(listed.codes.tolist(), [4, 4, 2], strict=True))
    for code, people in by_code.items():
        row, column = listed.window.places([code])
        assert pixels[int(row[0]), int(column[0])] == people
    assert pixels.sum() == 10


def test_areas_are_planned_as_on_a_map() -> None:
    """The plan for listed meshes is that of a square map with as many cells."""
    rows, columns = np.meshgrid(np.arange(4288, 4352), np.arange(3136, 3200), indexing="ij")
    square = Domain((Mesh("m", "3", 4288, 3136, 64, 64),))
    listed = Domain((MeshList("m", "3", mesh_codes(rows.ravel(), columns.ravel(), "3")),))
    budget = sudare.Budget(epsilon=1)
    plans = [plan_table(domain, budget) for domain in (square, listed)]
    assert plans[0].errors == plans[1].errors
    assert plans[0].settings["bits"] == plans[1].settings["bits"]


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(["wide-tree", "nn-wavelet", "topdown-bisection", "laplace", "auto"]), st.integers(30, 200))
def test_nobody_is_published_elsewhere(method: str, count: int) -> None:
    generator = np.random.default_rng(count)
    chosen = generator.choice(256, size=count, replace=False)
    listed = MeshList("m", "3", WINDOW.values((chosen // 16, chosen % 16)))
    table = CountTable.from_dense(generator.poisson(5, count), Domain((listed,)))
    published = sudare.publish(table, sudare.Budget(epsilon=1), method)
    assert set(published.table.to_columns()["m"].tolist()) <= set(listed.codes.tolist())


def test_prefectures() -> None:
    for number, (english, japanese) in PREFECTURES.items():
        spellings = [number, str(number), f"{number:02}", english, english.upper(), japanese]
        assert {prefecture_number(given) for given in spellings} == {number}
    assert (prefecture_number("京都"), prefecture_number("東京"), prefecture_number("大阪")) == (26, 13, 27)
    assert [prefecture_number(given) for given in (0, 48, "京", "北海", True, None)] == [None] * 6
