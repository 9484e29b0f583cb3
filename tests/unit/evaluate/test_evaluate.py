"""Measures of exactness against dense twins, and the laws they keep."""

from __future__ import annotations

import json
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import sudare.evaluate.areas
import sudare.evaluate.rectangles
from sudare import Budget, CountTable, Domain, Published, ResearchEntropy
from sudare.errors import ParameterError
from sudare.evaluate import (
    error_by_area,
    error_by_value,
    error_of_rectangles,
    measure_errors,
    non_zero_share,
    random_rectangles,
    zero_cell_bias,
)
from sudare.tables import nn_wavelet

SHAPES = arrays.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=9)


@st.composite
def pairs(draw: st.DrawFn, dimensions: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Two sparse tables of the same shape."""
    shape = draw(SHAPES) if dimensions is None else draw(st.tuples(*[st.integers(1, 12)] * dimensions))
    cells = st.one_of(st.just(0), st.integers(0, 300))
    table = arrays.arrays(np.int64, shape, elements=cells)
    return draw(table), draw(table)


def area_errors(true: np.ndarray, published: np.ndarray, side: int) -> np.ndarray:
    """The naive twin: pad with nothing, cut into boxes, add up."""
    padding = [(0, -length % side) for length in true.shape]
    errors = np.pad((published - true).astype(np.float64), padding)
    for axis in range(errors.ndim):
        blocks = (*errors.shape[:axis], errors.shape[axis] // side, side, *errors.shape[axis + 1 :])
        errors = errors.reshape(blocks).sum(axis=axis + 1)
    return errors


def both_kinds(true: np.ndarray, published: np.ndarray) -> list[tuple[Any, Any]]:
    tables = CountTable.from_dense(true), CountTable.from_dense(published)
    return [(true, published), tables, (tables[0], published), (true, tables[1])]


@pytest.mark.parametrize("dense_share", [0, 8, 10**6])
@given(tables=pairs(), sides=st.lists(st.integers(1, 10), min_size=1, max_size=4))
def test_areas(dense_share: int, tables: tuple[np.ndarray, np.ndarray], sides: list[int]) -> None:
    """Both ways of adding up, areas in any order of sides, whether they divide one another or not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sudare.evaluate.areas, "DENSE_SHARE", dense_share)
        for pair in both_kinds(*tables):
            rows = error_by_area(*pair, sides=sides)
            assert [row.side for row in rows] == sides
            for row in rows:
                errors = area_errors(*tables, row.side)
                assert row.areas == errors.size
                assert row.rmse == pytest.approx(np.sqrt((errors**2).mean()))
                assert row.mean_absolute == pytest.approx(np.abs(errors).mean())
                assert row.mean_error == pytest.approx(errors.mean())


@given(pairs())
def test_values(tables: tuple[np.ndarray, np.ndarray]) -> None:
    true, published = tables
    bands = ((0, 0), (0, 5), (1, 9), (10, None), (1000, None))
    for pair in both_kinds(true, published):
        for row in error_by_value(*pair, bands=bands):
            inside = (true >= row.lowest) & ((true <= row.highest) if row.highest is not None else True)
            assert row.cells == inside.sum()
            if not row.cells:
                assert row.mean_error is None
                assert row.rmse is None
                continue
            errors = (published - true)[inside]
            assert row.mean_error == pytest.approx(errors.mean())
            assert row.rmse == pytest.approx(np.sqrt((errors**2.0).mean()))
        shares = non_zero_share(*pair)
        assert (shares.true, shares.published) == pytest.approx(((true > 0).mean(), (published > 0).mean()))
        expected = published[true == 0].mean() if (true == 0).any() else None
        assert zero_cell_bias(*pair) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize("largest_dense", [0, 1 << 26])
@given(tables=pairs(dimensions=2), seed=st.integers(0, 1000))
def test_rectangles(largest_dense: int, tables: tuple[np.ndarray, np.ndarray], seed: int) -> None:
    true, published = tables
    shape = cast("tuple[int, int]", true.shape)
    rectangles = random_rectangles(shape, 20, 1, min(shape), seed)
    sums = np.array([(published - true)[t : t + h, s : s + w].sum() for t, s, h, w in rectangles])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sudare.evaluate.rectangles, "MAX_DENSE", largest_dense)
        for pair in both_kinds(true, published):
            row = error_of_rectangles(*pair, rectangles)
            assert row.rectangles == 20
            assert row.rmse == pytest.approx(np.sqrt((sums**2.0).mean()))
            assert row.mean_absolute == pytest.approx(np.abs(sums).mean())
            assert row.mean_error == pytest.approx(sums.mean())


@given(pairs())
def test_laws(tables: tuple[np.ndarray, np.ndarray]) -> None:
    one, other = tables
    same = measure_errors(one, one)
    assert all((row.rmse, row.mean_absolute, row.mean_error) == (0, 0, 0) for row in same.areas)
    assert same.total_error == 0
    assert same.non_zero_share.true == same.non_zero_share.published
    forward, backward = (error_by_area(*pair, sides=(1, 3, 10**6)) for pair in ((one, other), (other, one)))
    for row, mirrored in zip(forward, backward, strict=True):
        assert row.rmse == mirrored.rmse
        assert row.mean_error == -mirrored.mean_error
        assert abs(row.mean_error) <= row.mean_absolute * (1 + 1e-12) <= row.rmse * (1 + 1e-9)
    whole = forward[-1]
    assert (whole.areas, whole.mean_error) == (1, other.sum() - one.sum())


def test_random_rectangles_cover_their_range() -> None:
    rectangles = random_rectangles((300, 400), 20_000, 16, 63, seed=1)
    for start, side, length in ((0, 2, 300), (1, 3, 400)):
        sides = rectangles[:, side]
        assert (sides.min(), sides.max()) == (16, 63)
        assert rectangles[:, start].min() == 0
        assert (rectangles[:, start] + sides).max() == length
        # Uniform in the logarithm: half of the sides are below the geometric mean.
        assert np.mean(sides < 32) == pytest.approx(np.log(32 / 16) / np.log(64 / 16), abs=0.02)
    assert np.array_equal(rectangles, random_rectangles((300, 400), 20_000, 16, 63, seed=1))
    assert not np.array_equal(rectangles, random_rectangles((300, 400), 20_000, 16, 63, seed=2))


def test_huge_domains_take_no_memory() -> None:
    domain = Domain.of_shape((1 << 30, 1 << 30))
    true = CountTable.from_cells(domain, [5, 1 << 59], [10, 20])
    published = CountTable.from_cells(domain, [6, 1 << 59], [10, 15])
    rows = error_by_area(true, published, sides=(1, 2, 1 << 10))
    assert [row.areas for row in rows] == [1 << 60, 1 << 58, 1 << 40]
    assert rows[0].rmse == pytest.approx(np.sqrt(225 / 2**60))
    assert rows[2].rmse == pytest.approx(np.sqrt(25 / 2**40))
    assert error_by_value(true, published)[0].cells == (1 << 60) - 2
    assert error_of_rectangles(true, published, [[0, 0, 1, 6], [0, 0, 1, 7]]).mean_error == -5
    assert measure_errors(true, published).rectangles[0].errors.rectangles == 4000


def test_real_and_negative_values_are_published_too() -> None:
    assert error_by_area([3, 0], [2.5, -1.0])[0].mean_error == -0.75


def test_report() -> None:
    public = np.zeros((80, 70), dtype=np.int64)
    public[:20, :20] = 50
    published = nn_wavelet(public, Budget(epsilon=1), entropy=ResearchEntropy(1))
    assert isinstance(published, Published)
    report = measure_errors(public, published)
    assert report == measure_errors(public, published.table)
    assert report.areas == error_by_area(public, published)
    assert report.bands == error_by_value(public, published)
    assert report.zero_cell_bias == zero_cell_bias(public, published)
    assert report.non_zero_share == non_zero_share(public, published)
    assert [(row.smallest, row.largest) for row in report.rectangles] == [(2, 15), (16, 63)]
    assert json.loads(json.dumps(report.to_dict()))["areas"][0]["side"] == 1
    text = str(report)
    assert "not private" in text
    assert all(len(line) < 100 for line in text.splitlines())
    shown = report._repr_html_()
    assert shown.count("<table>") == 4
    assert "not private" in shown
    axes = report.plot().axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert list(axes.lines[0].get_ydata()) == [row.rmse for row in report.areas]
    assert measure_errors(public, public).plot().axes[0].get_yscale() == "symlog"
    assert measure_errors(public.ravel(), public.ravel()).rectangles == ()


@pytest.mark.parametrize(
    ("true", "published", "match"),
    [
        ([1, 2], [1, 2, 3], "The 'published' parameter"),
        ([1, 2], [[1, 2]], "The 'published' parameter"),
        ([1, -2], [1, 2], "The 'true' parameter"),
        ([1, 2], [1, float("nan")], "The 'published' parameter"),
        ([1, 2], [1, float("inf")], "The 'published' parameter"),
        ([1, 2], np.ma.masked_array([1, 2], [True, False]), "The 'published' parameter"),
        ([1, 2], [True, False], "The 'published' parameter"),
        ([], [], "The 'true' parameter"),
        (5, 5, "The 'true' parameter"),
        (None, [1], "The 'true' parameter"),
        ([1, 2], "table", "The 'published' parameter"),
    ],
)
def test_tables_that_are_refused(true: Any, published: Any, match: str) -> None:
    for measure in (error_by_area, error_by_value, non_zero_share, zero_cell_bias, measure_errors):
        with pytest.raises(ParameterError, match=match):
            measure(true, published)


def test_different_domains_are_refused() -> None:
    one = CountTable.from_dense(np.ones(3, dtype=np.int64))
    other = CountTable.from_dense(np.ones(3, dtype=np.int64), Domain((sudare.Category("sex", ("a", "b", "c")),)))
    with pytest.raises(ParameterError, match="the same domain"):
        error_by_area(one, other)


@pytest.mark.parametrize("sides", [[], [0], [1.5], [True], 4, "12", [424242, -1], {4: 5}])
def test_sides_that_are_refused(sides: Any) -> None:
    with pytest.raises(ParameterError, match="The 'sides' parameter") as caught:
        error_by_area([1, 2], [1, 2], sides=sides)
    assert "424242" not in str(caught.value)


@pytest.mark.parametrize("bands", [[], [(1,)], [(2, 1)], [(0.5, 1)], [3], "ab", 5, [(None, 1)]])
def test_bands_that_are_refused(bands: Any) -> None:
    with pytest.raises(ParameterError, match="The 'bands' parameter"):
        error_by_value([1, 2], [1, 2], bands=bands)


@pytest.mark.parametrize(
    "rectangles",
    [[], [[0, 0, 1]], [[0, 0, 0, 1]], [[0, 0, 3, 1]], [[-1, 0, 1, 1]], [[1, 0, 2, 1]], [[0.0, 0.0, 1.0, 1.0]]],
)
def test_rectangles_that_are_refused(rectangles: Any) -> None:
    with pytest.raises(ParameterError, match="The 'rectangles' parameter"):
        error_of_rectangles([[1, 2], [3, 4]], [[1, 2], [3, 4]], rectangles)
    with pytest.raises(ParameterError, match="two axes"):
        error_of_rectangles([1, 2], [1, 2], [[0, 0, 1, 1]])


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"shape": (5,)}, "shape"),
        ({"shape": (5, 0)}, "shape"),
        ({"count": 0}, "count"),
        ({"smallest": 0}, "smallest"),
        ({"largest": 1}, "largest"),
        ({"largest": 6}, "largest"),
        ({"seed": -1}, "seed"),
        ({"seed": True}, "seed"),
    ],
)
def test_random_rectangles_that_are_refused(arguments: dict[str, Any], parameter: str) -> None:
    working: dict[str, Any] = {"shape": (5, 6), "count": 3, "smallest": 2, "largest": 4, "seed": 1}
    with pytest.raises(ParameterError, match=f"The '{parameter}' parameter of random_rectangles"):
        random_rectangles(**{**working, **arguments})
