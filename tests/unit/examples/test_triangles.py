"""Neighbours by Delaunay's rule, against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from sudare.examples.triangles import delaunay_edges


@pytest.mark.parametrize("seed", range(12))
def test_the_edges_are_scipys(seed: int) -> None:
    """On a fine grid, on which hardly ever four points lie on one circle."""
    points = np.unique(np.random.default_rng(seed).integers(0, 1 << 20, (150, 2)), axis=0)
    points = np.random.default_rng(seed).permutation(points)
    corners = Delaunay(points.astype(np.float64)).simplices
    sides = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]])
    expected = sorted({(int(min(pair)), int(max(pair))) for pair in sides})
    assert delaunay_edges([(int(row), int(column)) for row, column in points]) == expected


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=25))
def test_a_crowded_grid_has_as_many_edges_as_euler_says(places: set[tuple[int, int]]) -> None:
    points = sorted(places)
    edges = delaunay_edges(points)
    assert edges == sorted(set(edges))
    joined = {0}
    for _ in points:
        joined |= {end for pair in edges for end in pair if joined & set(pair)}
    assert joined == set(range(len(points)))

    def turn(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> int:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    if all(turn(points[0], points[1], point) == 0 for point in points):
        assert len(edges) == len(points) - 1
        return
    on_hull = sum(
        any(
            all(turn(point, other, third) >= 0 for third in points)
            for other in points
            if other != point
        )
        for point in points
    )  # fmt: skip
    assert len(edges) == 3 * len(points) - 3 - on_hull


def test_points_on_one_line() -> None:
    assert delaunay_edges([(4, 4), (0, 0), (2, 2)]) == [(0, 2), (1, 2)]


def test_of_a_square_the_last_corner_gets_the_edge() -> None:
    assert (0, 3) in delaunay_edges([(0, 0), (0, 1), (1, 0), (1, 1)])
    assert (1, 3) in delaunay_edges([(0, 1), (0, 0), (1, 0), (1, 1)])
