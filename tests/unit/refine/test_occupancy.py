"""Empty surroundings: used where there is enough to learn from, and nowhere else."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.refine.occupancy import FEWEST_NODES, expected_from_neighbours, use_occupancy
from sudare.refine.trees import Judge, Judgement, NoisyTree

SIZE = 4096
VARIANCE = 200.0


def one_level(deviation_squared: float = VARIANCE, cells: np.ndarray | None = None) -> NoisyTree:
    has_cells = np.ones(SIZE, dtype=np.int64) if cells is None else cells
    measured = (np.zeros(1), np.zeros(SIZE))
    return NoisyTree((12,), measured, (1.0, deviation_squared), (np.array([SIZE]), has_cells), is_laplace=True)


def place(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Half of the places are land, all inhabited; half are sea. Truth, noisy counts, and what the neighbours show."""
    truth = np.where(np.arange(SIZE) < SIZE // 2, 0, generator.integers(30, 90, size=SIZE)).astype(float)
    values = truth + generator.laplace(0, np.sqrt(VARIANCE / 2), size=SIZE)
    return truth, values, np.where(truth > 0, 60.0, 0.0) + generator.normal(0, 3, size=SIZE)


def judged(judge: Judge, parents: np.ndarray, values: np.ndarray) -> Judgement:
    judgement = judge(1, parents, values, np.full(SIZE, VARIANCE))
    assert judgement is not None
    return judgement


def test_places_among_empty_ones_are_likely_empty() -> None:
    truth, values, around = place(np.random.default_rng(1))
    before = values.copy()
    known = judged(
        use_occupancy(one_level(), lambda level: around if level == 1 else None), np.full(SIZE, 1000), values
    )
    sea = truth == 0
    assert (known.occupied[sea] < 0.5).mean() > 0.9
    assert (known.occupied[~sea] > 0.5).mean() > 0.9
    assert ((known.values - truth) ** 2)[sea].mean() < 0.2 * ((values - truth) ** 2)[sea].mean()
    assert (known.variances > 0).all()
    assert (values == before).all(), "what is handed in is not written to"


def test_surroundings_that_tell_nothing_tell_land_from_sea_less_well() -> None:
    truth, values, around = place(np.random.default_rng(2))

    def error(neighbours: np.ndarray) -> float:
        known = judged(use_occupancy(one_level(), lambda level: neighbours), np.full(SIZE, 1000), values)
        return float(((known.values - truth) ** 2).mean())

    assert error(around) < 0.8 * error(np.zeros(SIZE))


def test_the_count_above_is_part_of_the_surroundings() -> None:
    """Below areas with one person, small noisy counts are noise; below large areas they are people."""
    truth, values, _ = place(np.random.default_rng(5))
    parents = np.where(truth > 0, 1000, 1)
    nothing = np.zeros(SIZE)
    with_it = judged(use_occupancy(one_level(), lambda level: nothing), parents, values)
    without = judged(use_occupancy(one_level(), lambda level: nothing), np.full(SIZE, 1000), values)
    assert ((with_it.values - truth) ** 2).mean() < 0.8 * ((without.values - truth) ** 2).mean()


def test_places_without_cells_or_below_nobody_are_left_alone() -> None:
    _, values, around = place(np.random.default_rng(3))
    cells = np.ones(SIZE, dtype=np.int64)
    cells[:100] = 0
    parents = np.full(SIZE, 1000)
    parents[-100:] = 0
    known = judged(use_occupancy(one_level(cells=cells), lambda level: around), parents, values)
    for alone in (slice(0, 100), slice(-100, None)):
        assert (known.values[alone] == values[alone]).all()
        assert (known.variances[alone] == VARIANCE).all()
        assert (known.occupied[alone] == 1).all()
    assert (known.values != values).any()


@pytest.mark.parametrize("reason", ["few nodes", "no neighbourhood", "hardly any noise"])
def test_nothing_to_learn(reason: str) -> None:
    """The next judge is then asked."""
    _, values, around = place(np.random.default_rng(4))
    parents = np.zeros(SIZE, dtype=np.int64)
    parents[: FEWEST_NODES - 1 if reason == "few nodes" else SIZE] = 5
    variances = np.full(SIZE, 0.5 if reason == "hardly any noise" else VARIANCE)
    known = None if reason == "no neighbourhood" else around
    assert use_occupancy(one_level(), lambda level: known)(1, parents, values, variances) is None


def expected_naively(
    values: np.ndarray, cells: np.ndarray, axes: tuple[int, ...], circles: dict[int, int]
) -> np.ndarray:
    """One node after the other: the people a cell of the block of three nodes a side, without the node, times its cells."""
    lengths = [1 + int(np.argwhere(cells > 0)[:, axis].max()) for axis in range(values.ndim)]
    out = np.zeros(values.shape)
    for place in np.ndindex(*lengths):
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
        others = [other for other in product(*ranges) if other != place]
        if others:
            out[place] = sum(values[o] for o in others) * cells[place] / sum(cells[o] for o in others)
    return out


@given(
    st.lists(st.integers(1, 7), min_size=1, max_size=3),
    st.lists(st.integers(0, 3), min_size=3, max_size=3),
    st.lists(st.sampled_from(["nothing", "grid", 1, 2, 4]), min_size=3, max_size=3),
    st.integers(0, 2**32 - 1),
)
def test_neighbours_are_those_with_cells(
    lengths: list[int], beyond: list[int], kinds: list[str | int], seed: int
) -> None:
    """Against the naive twin, with any padding, also where the end of an axis cuts through the last nodes."""
    generator = np.random.default_rng(seed)
    cells = np.ones((), dtype=np.int64)
    for length in lengths:
        along = np.full(length, 4)
        along[-1] = generator.integers(1, 5)
        cells = cells[..., None] * along
    cells = np.pad(cells, [(0, more) for more, _ in zip(beyond, lengths, strict=False)])
    axes = tuple(axis for axis in range(len(lengths)) if kinds[axis] == "grid")
    circles = {axis: kind for axis, kind in enumerate(kinds[: len(lengths)]) if isinstance(kind, int)}
    values = np.where(cells > 0, generator.normal(10, 20, size=cells.shape), 1e6)
    found = expected_from_neighbours(values, cells, axes, circles)
    naive = expected_naively(values, cells, axes, circles)
    if found is None:
        assert not naive.any()
    else:
        assert np.allclose(found, naive)


@pytest.mark.parametrize(("axes", "circles"), [((0, 1), {}), ((1,), {0: 4}), ((0,), {1: 5})])
def test_ends_are_judged_by_as_many_as_the_inside(axes: tuple[int, ...], circles: dict[int, int]) -> None:
    """Even density: every node is expected to have it; and noise reaches every node from equally many others."""
    one = np.ones((8, 5), dtype=np.int64)
    even = expected_from_neighbours(np.full((8, 5), 7.0), one, axes, circles)
    assert even is not None
    assert np.allclose(even, 7)
    reached = np.zeros((8, 5))
    for place in np.ndindex(8, 5):
        noise = np.zeros((8, 5))
        noise[place] = 1
        spread = expected_from_neighbours(noise, one, axes, circles)
        assert spread is not None
        assert spread[place] == 0, "a node does not judge itself"
        reached += spread**2
    assert np.allclose(reached, 1 / 8)


def test_there_are_no_neighbours_along_categories() -> None:
    values = np.arange(12.0).reshape(3, 4)
    one = np.ones((3, 4), dtype=np.int64)
    along_the_first = expected_from_neighbours(values, one, (0,), {})
    assert along_the_first is not None
    assert np.allclose(along_the_first[0], (values[1] + values[2]) / 2)
    assert expected_from_neighbours(values, one, (), {}) is None


def test_rows_of_a_map_without_cells_do_not_end_it() -> None:
    """Listed meshes may leave out whole rows: what lies beyond still has neighbours."""
    values, cells = np.zeros((6, 4)), np.zeros((6, 4), dtype=np.int64)
    cells[[0, 1, 4, 5]] = 1
    values[[4, 5]] = 8.0
    expected = expected_from_neighbours(values, cells, (0, 1), {})
    assert expected is not None
    assert expected[4:].tolist() == [[8.0] * 4] * 2
    assert expected[:2].tolist() == [[0.0] * 4] * 2
