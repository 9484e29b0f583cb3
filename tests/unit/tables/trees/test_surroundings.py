"""The nodes around each node of a level of which every node is measured."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.domain.layout import Layout, morton_layout
from sudare.tables.trees.dense_tree import cells_of_nodes, places_in_tree
from sudare.tables.trees.surroundings import MAP_AXES, DenseSurroundings, last_places
from tests.reference.naive_trees import expected_around


def expected_on_map(
    layout: Layout,
    axes: Sequence[int],
    above: int,
    values: np.ndarray,
    cells: np.ndarray | None = None,
    *,
    planes: bool = False,
) -> np.ndarray:
    """What is expected of all cells of a layout, in the shape of its padded map; the tree has one level above them."""
    padded = Layout(tuple(1 << (length - 1).bit_length() for length in layout.lengths), layout.axis_of_split)
    order = places_in_tree(padded, np.arange(1 << layout.depth, dtype=np.uint64))
    of_leaves, leaf_cells = np.zeros(1 << layout.depth), np.array(cells_of_nodes(layout, (layout.depth,))[-1])
    of_leaves[order] = values.ravel()
    if cells is not None:
        leaf_cells[order] = cells.ravel()
    near = DenseSurroundings(layout, above, layout.depth - above, tuple(axes), last_places(layout))
    expected = near.expect_of(of_leaves, leaf_cells, np.arange(1 << above), planes=planes).ravel()
    naive = expected_around(of_leaves, leaf_cells, layout, (above, layout.depth - above), axes, 2, planes=planes)
    assert expected == pytest.approx(np.zeros(expected.size) if naive is None else naive, abs=1e-9)
    assert not near.is_empty or naive is None
    return np.asarray(expected[order].reshape(padded.lengths))


def on_plane(
    values: np.ndarray, cells: np.ndarray, place: tuple[int, ...], axes: Sequence[int], lengths: Sequence[int]
) -> float | None:
    """Normal equations, solved; None inside, in small maps and beside nodes without cells."""
    if min(lengths[a] for a in axes) < 5 or not any(place[a] in (0, lengths[a] - 1) for a in axes):
        return None
    along = [range(first, first + 5) for first in (min(max(place[a] - 2, 0), lengths[a] - 5) for a in axes)]
    block = [
        tuple(dict(zip(axes, at, strict=True)).get(a, own) for a, own in enumerate(place)) for at in product(*along)
    ]
    if any(cells[other] == 0 for other in block):
        return None
    others = [other for other in block if other != place]
    offsets = np.array([[1, *(other[a] - place[a] for a in axes)] for other in others], dtype=float)
    weights = offsets @ np.linalg.solve(offsets.T @ offsets, [1.0, 0.0, 0.0])
    around = sum(weight * cells[other] for weight, other in zip(weights, others, strict=True))
    people = sum(weight * values[other] for weight, other in zip(weights, others, strict=True))
    return float(people * cells[place] / around) if around > 0 else None


def expected_naively(
    values: np.ndarray, cells: np.ndarray, axes: Sequence[int], circles: dict[int, int], planes: bool
) -> np.ndarray:
    """One node after the other: the people a cell of the block of three nodes a side, without the node, times its cells.

    At an end of a map, if there is room and planes are wanted: the plane through a block of five, at the node.
    """
    lengths = [1 + int(np.argwhere(cells > 0)[:, axis].max()) for axis in range(values.ndim)]
    out = np.zeros(values.shape)
    for place in np.ndindex(*lengths):
        is_wanted = planes and len(axes) == MAP_AXES and cells[place] > 0
        plane = on_plane(values, cells, place, axes, lengths) if is_wanted else None
        if plane is not None:
            out[place] = plane
            continue
        ranges: list[set[int]] = []
        for axis, (index, length) in enumerate(zip(place, lengths, strict=True)):
            if axis in axes:
                first = min(max(index - 1, 0), max(length - 3, 0))
                ranges.append(set(range(first, min(first + 3, length))))
            elif axis in circles:
                circle = [other for other in range(length) if other // circles[axis] == index // circles[axis]]
                at = circle.index(index)
                ranges.append({circle[(at + step) % len(circle)] for step in (-1, 0, 1)})
            else:
                ranges.append({index})
        others = [other for other in product(*ranges) if other != place and cells[other] > 0]
        if others and cells[place] > 0:
            out[place] = sum(values[o] for o in others) * cells[place] / sum(cells[o] for o in others)
    return out


@given(
    st.lists(st.integers(1, 7), min_size=1, max_size=4),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.booleans(),
    st.booleans(),
    st.data(),
    st.integers(0, 2**32 - 1),
)
def test_neighbours_are_those_with_cells(
    lengths: list[int], ordered: list[bool], has_holes: bool, planes: bool, data: st.DataObject, seed: int
) -> None:
    """Against the naive twins, with any order of halvings and any padding, also where cells are missing anywhere."""
    generator = np.random.default_rng(seed)
    splits = data.draw(st.permutations(morton_layout(tuple(lengths)).axis_of_split))
    layout = Layout(tuple(lengths), tuple(splits))
    above = data.draw(st.integers(0, layout.depth))
    axes = [axis for axis in range(len(lengths)) if ordered[axis]]
    padding = [(0, (1 << (length - 1).bit_length()) - length) for length in lengths]
    cells = generator.integers(0 if has_holes else 1, 5, size=lengths, dtype=np.int32)
    cells[tuple(length - 1 for length in lengths)] = 3  # so that the last place of every axis has cells
    cells = np.pad(cells, padding)
    values = np.where(cells > 0, generator.normal(10, 20, size=cells.shape), 1e6)
    here = layout.axis_of_split[above:]
    circles = {axis: 1 << here.count(axis) for axis in axes} if len(axes) > MAP_AXES else {}
    found = expected_on_map(layout, axes, above, values, cells, planes=planes)
    naive = expected_naively(values, cells, [] if circles else axes, circles, planes)
    assert found == pytest.approx(naive, abs=1e-9)


def noise_in_expectations(shape: tuple[int, ...], axes: tuple[int, ...], *, planes: bool = False) -> np.ndarray:
    """The variance of what is expected of each node, where every node has noise of variance 1."""
    layout = morton_layout(shape)
    padding = [(0, (1 << (length - 1).bit_length()) - length) for length in shape]
    inside = tuple(slice(0, length) for length in shape)
    even = expected_on_map(layout, axes, 0, np.pad(np.full(shape, 7.0), padding), planes=planes)
    assert np.allclose(even[inside], 7)
    reached = np.zeros(shape)
    for place in np.ndindex(*shape):
        noise = np.zeros(shape)
        noise[place] = 1
        spread = expected_on_map(layout, axes, 0, np.pad(noise, padding), planes=planes)[inside]
        assert spread[place] == 0, "a node does not judge itself"
        reached += spread**2
    return reached


@pytest.mark.parametrize(
    ("shape", "axes"), [((8, 5), (0, 1)), ((8, 5, 3), (0, 1)), ((3, 3), (0, 1)), ((8, 4, 4), (0, 1, 2))]
)
def test_ends_are_judged_by_as_many_as_the_inside(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    """Even density: every node is expected to have it; and noise reaches every node from equally many others."""
    assert np.allclose(noise_in_expectations(shape, axes), 1 / (3 ** len(axes) - 1))


@pytest.mark.parametrize("shape", [(8, 6), (7, 5, 2)])
def test_planes_judge_the_ends_as_surely_as_the_inside(shape: tuple[int, ...]) -> None:
    """Noise at the ends is that inside, up to 10 % of it, except near the corners."""
    reached = noise_in_expectations(shape, (0, 1), planes=True)
    assert np.allclose(reached[1:-1, 1:-1], 1 / 8)
    rows, columns = shape[:2]
    for ends in (reached[[0, -1], 2 : columns - 2], reached[2 : rows - 2][:, [0, -1]]):
        assert (ends >= 1 / 8).all()
        assert (ends < 1.1 / 8).all()
    assert reached.max() == pytest.approx(1 / 4)


def test_planes_continue_a_slope_to_the_ends() -> None:
    """More people inland: nodes at the ends are expected to have as many as the slope says, not as many as those inland."""
    shape = (16, 11)
    values = 50 + 3.0 * np.arange(shape[0])[:, None] - 2.0 * np.arange(shape[1])
    layout, padded = morton_layout(shape), np.pad(values, [(0, 0), (0, 5)])
    expected = expected_on_map(layout, (0, 1), 2, padded, planes=True)[:, : shape[1]]
    assert expected == pytest.approx(values)


@pytest.mark.parametrize("kind", ["slope", "crowded"])
def test_planes_are_preferred_where_they_foretell_the_noisy_counts(kind: str) -> None:
    """On a slope they do; crowded places further inland let them expect fewer than nobody."""
    generator = np.random.default_rng(2)
    layout = morton_layout((32, 32))
    from_end = np.minimum(np.arange(32), np.arange(32)[::-1])[:, None] + np.zeros((32, 32))
    true = 4.0 * from_end if kind == "slope" else 200.0 * (np.minimum(from_end, from_end.T) == 4)
    leaves = np.empty(1024)
    leaves[places_in_tree(layout, np.arange(1024, dtype=np.uint64))] = (
        true + generator.laplace(0, 3, true.shape)
    ).ravel()
    near = DenseSurroundings(layout, 6, 4, (0, 1), last_places(layout))
    cells = np.ones(1024, dtype=np.int32)
    assert near.prefers_planes(leaves, np.full(1024, 18.0), cells, np.arange(64)) == (kind == "slope")
    assert not near.prefers_planes(leaves, np.full(1024, 18.0), cells, np.arange(0)), "nobody to ask"


def test_there_are_no_neighbours_along_categories() -> None:
    values = np.arange(16.0).reshape(4, 4)
    layout = morton_layout((4, 4))
    along_the_first = expected_on_map(layout, (0,), 1, values)
    assert np.allclose(along_the_first[0], (values[1] + values[2]) / 2)
    assert DenseSurroundings(layout, 1, 3, (), last_places(layout)).is_empty
    assert not DenseSurroundings(layout, 1, 3, (0,), last_places(layout)).is_empty


def test_rows_of_a_map_without_cells_do_not_end_it() -> None:
    """Listed meshes may leave out whole rows: what lies beyond still has neighbours."""
    values, cells = np.zeros((8, 4)), np.zeros((8, 4), dtype=np.int32)
    cells[[0, 1, 4, 5]] = 1
    values[[4, 5]] = 8.0
    expected = expected_on_map(Layout((6, 4), morton_layout((6, 4)).axis_of_split), (0, 1), 2, values, cells)
    assert expected[4:6].tolist() == [[8.0] * 4] * 2
    assert expected[:2].tolist() == [[0.0] * 4] * 2
