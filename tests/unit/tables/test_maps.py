"""Maps: every person is on them once, north is up, and the picture is a PNG that others read."""

from __future__ import annotations

import time
from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from matplotlib.image import imread

from sudare.domain import Bins, Category, CountTable, Domain, Mesh, SignedTable
from sudare.tables.maps import MAX_PIXELS, MapAxes, find_map, legend_ticks, pixels_of, png_of

MESH = Mesh("KEY_CODE", "1/2", 8000, 6000, 20, 30)


def test_finds_the_mesh_among_other_attributes() -> None:
    sex = Category("sex", ("f", "m"))
    assert find_map(Domain((sex, MESH))) == MapAxes(1, (1,), MESH)
    assert find_map(Domain((MESH, sex))) == MapAxes(0, (0,), MESH)
    assert find_map(Domain.of_shape((8, 9))) == MapAxes(0, (0, 1), None)
    for other in (Domain.of_shape((7, 9)), Domain.of_shape((9,)), Domain((sex, Bins("age", (0, 15, 99))))):
        assert find_map(other) is None


@pytest.mark.parametrize("shape", [(8, 8), (1024, 10), (1025, 10), (10, 3000), (5000, 5000)])
def test_coarsening_keeps_everybody(shape: tuple[int, int]) -> None:
    generator = np.random.default_rng(1)
    keys = np.unique(generator.integers(0, shape[0] * shape[1], 500))
    table = CountTable.from_cells(Domain.of_shape(shape), keys, generator.integers(1, 100, keys.size))
    pixels = pixels_of(table, MapAxes(0, (0, 1), None))
    assert pixels.counts.sum() == table.total
    assert max(pixels.counts.shape) <= MAX_PIXELS
    assert pixels.counts.shape == tuple(-(-length // pixels.block) for length in shape)
    row, column = divmod(int(keys[7]), shape[1])
    assert pixels.counts[row // pixels.block, column // pixels.block] >= table.counts[7]


def test_sums_over_other_attributes() -> None:
    domain = Domain((Category("sex", ("f", "m")), MESH))
    table = CountTable.from_cells(domain, domain.keys_at([0, 1, 1], [3, 3, 4], [5, 5, 6]), [10, 20, 7])
    axes = find_map(domain)
    assert axes is not None
    counts = pixels_of(table, axes).counts
    assert counts[3, 5] == 30
    assert counts[4, 6] == 7
    assert counts.sum() == 37


def test_picture_has_north_at_the_top_and_nothing_where_nobody_is() -> None:
    dense = np.zeros((8, 10), dtype=np.int64)
    dense[0, 0], dense[7, 9], dense[7, 0] = 1, 1000, 10
    table = CountTable.from_dense(dense)
    picture = imread(BytesIO(b64decode(png_of(pixels_of(table, MapAxes(0, (0, 1), None)), 1000))), format="png")
    assert picture.shape == (8, 10, 4)
    is_drawn = picture[..., 3] > 0
    assert {tuple(place) for place in np.argwhere(is_drawn)} == {(7, 0), (0, 9), (0, 0)}
    few, some, many = (picture[place][:3].sum() for place in ((7, 0), (0, 0), (0, 9)))
    assert few > some > many  # dark means many


def test_a_signed_map_is_green_below_0() -> None:
    dense = np.zeros((8, 10), dtype=np.int64)
    dense[0, 0], dense[7, 9], dense[7, 0], dense[0, 9] = 1, 1000, -1, -1000
    pixels = pixels_of(SignedTable.from_dense(dense), MapAxes(0, (0, 1), None))
    assert pixels.has_negative
    assert pixels.most == 1000
    picture = imread(BytesIO(b64decode(png_of(pixels, pixels.most))), format="png")
    assert {tuple(place) for place in np.argwhere(picture[..., 3] > 0)} == {(7, 0), (0, 9), (0, 0), (7, 9)}
    for place, is_green in (((7, 0), False), ((0, 9), False), ((0, 0), True), ((7, 9), True)):
        red, green, _ = picture[place][:3].tolist()
        assert (green > red) is is_green
    for few, many in (((7, 0), (0, 9)), ((0, 0), (7, 9))):
        assert picture[few][:3].sum() > picture[many][:3].sum()


def test_an_empty_table_gives_an_empty_picture() -> None:
    table = CountTable.from_dense(np.zeros((8, 8), dtype=np.int64))
    picture = imread(BytesIO(b64decode(png_of(pixels_of(table, MapAxes(0, (0, 1), None)), 0))), format="png")
    assert picture.shape == (8, 8, 4)
    assert not picture[..., 3].any()


def test_meshes_are_drawn_as_wide_as_they_are() -> None:
    axes = find_map(Domain((MESH,)))
    assert axes is not None
    # 20 rows of 1/240 degree and 30 columns of 1/160 degree at latitude 33.4.
    assert axes.width_over_height(20, 30) == pytest.approx(30 / 160 * np.cos(np.radians(8010 / 240)) / (20 / 240))
    assert MapAxes(0, (0, 1), None).width_over_height(20, 30) == 1.5


@pytest.mark.parametrize("most", [0, 1, 9, 10, 12345, 1e9, 2.0**62])
def test_legend_has_few_ascending_numbers(most: float) -> None:
    ticks = legend_ticks(most)
    assert 1 <= len(ticks) <= 9
    places = [place for _, place in ticks]
    assert places == sorted(set(places))
    assert 0 < places[0] <= places[-1] <= 1
    assert all(number <= max(most, 1) for number, _ in ticks)


@pytest.mark.slow
def test_a_map_of_all_japan_is_drawn_at_once() -> None:
    generator = np.random.default_rng(1)
    keys = np.unique(generator.integers(0, 4096**2, 460_000))
    table = CountTable.from_cells(Domain.of_shape((4096, 4096)), keys, generator.integers(1, 3000, keys.size))
    start = time.perf_counter()
    pixels = pixels_of(table, MapAxes(0, (0, 1), None))
    png_of(pixels, float(pixels.counts.max()))
    assert time.perf_counter() - start < 5  # usually 0.2 s; an array of all cells twice over would show here
