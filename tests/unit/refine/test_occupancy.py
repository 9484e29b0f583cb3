"""Empty surroundings: used where there is enough to learn from, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.refine.occupancy import FEWEST_NODES, use_occupancy
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
