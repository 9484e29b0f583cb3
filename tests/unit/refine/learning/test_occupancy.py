"""Empty surroundings: used where there is enough to learn from, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.refine.learning.classes import judge_by_classes
from sudare.refine.learning.occupancy import MIN_NODES, use_occupancy
from sudare.refine.learning.priors import MIN_PLACES
from sudare.refine.trees import LevelJudgement, OpenLevel

SIZE = 4096
FAN = 64
VARIANCE = 200.0


def one_level(
    values: np.ndarray,
    parents: np.ndarray | None = None,
    variance: float = VARIANCE,
    cells: np.ndarray | None = None,
) -> OpenLevel:
    above = np.full(SIZE // FAN, 1000) if parents is None else parents
    has_cells = np.ones(SIZE, dtype=np.int32) if cells is None else cells
    return OpenLevel(1, FAN, values, np.broadcast_to(variance, (SIZE,)), has_cells, above)


def place(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Half of the places are land, all inhabited; half are sea. Truth, noisy counts, and what the neighbours show."""
    truth = np.where(np.arange(SIZE) < SIZE // 2, 0, generator.integers(30, 90, size=SIZE)).astype(float)
    values = truth + generator.laplace(0, np.sqrt(VARIANCE / 2), size=SIZE)
    return truth, values, np.where(truth > 0, 60.0, 0.0) + generator.normal(0, 3, size=SIZE)


def words(count: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 2**64, size=count, dtype=np.uint64)


def judged(level: OpenLevel, around: np.ndarray) -> LevelJudgement:
    """All children of inhabited parents, one after the other."""
    judge = use_occupancy(lambda level: lambda part: level.rows(around, part), is_laplace=True)(level)
    assert judge is not None
    known = judge(slice(None), words)
    return LevelJudgement(known.values.ravel(), known.variances.ravel())


def test_places_among_empty_ones_are_likely_empty() -> None:
    truth, values, around = place(np.random.default_rng(1))
    before = values.copy()
    sea = truth == 0
    known = judged(one_level(values), around)
    assert (known.variances[sea] < 0).mean() > 0.9
    assert (known.variances[~sea] > 0).mean() > 0.9
    assert ((known.values - truth) ** 2)[sea].mean() < 0.2 * ((values - truth) ** 2)[sea].mean()
    assert (values == before).all(), "what is handed in is not written to"


def test_surroundings_that_tell_nothing_tell_land_from_sea_less_well() -> None:
    truth, values, around = place(np.random.default_rng(2))

    def error(neighbours: np.ndarray) -> float:
        return float(((judged(one_level(values), neighbours).values - truth) ** 2).mean())

    assert error(around) < 0.8 * error(np.zeros(SIZE))


def test_the_count_above_is_part_of_the_surroundings() -> None:
    """Below areas with one person, small noisy counts are noise; below large areas they are people."""
    truth, values, _ = place(np.random.default_rng(5))
    parents = np.where(truth > 0, 1000, 1)[::FAN].copy()
    nothing = np.zeros(SIZE)
    with_it, without = judged(one_level(values, parents), nothing), judged(one_level(values), nothing)
    assert ((with_it.values - truth) ** 2).mean() < 0.8 * ((without.values - truth) ** 2).mean()


def test_places_without_cells_take_no_part_and_nobody_looks_below_nobody() -> None:
    _, values, around = place(np.random.default_rng(3))
    cells = np.ones(SIZE, dtype=np.int32)
    cells[: FAN + 30] = 0
    parents = np.full(SIZE // FAN, 1000)
    parents[[0, -2, -1]] = 0
    known = judged(one_level(values, parents, cells=cells), around)
    assert known.values.size == SIZE - 3 * FAN
    assert (known.variances[:30] < 0).all(), "of the first parent with people, 30 children have no cells"
    assert (known.variances.reshape(-1, FAN) > 0).any(axis=1).all()


@pytest.mark.parametrize("reason", ["few nodes", "no neighbourhood", "hardly any noise"])
def test_nothing_to_learn(reason: str) -> None:
    """The next judge is then asked."""
    _, values, around = place(np.random.default_rng(4))
    parents = np.zeros(SIZE // FAN, dtype=np.int64)
    parents[: MIN_NODES // FAN - 1 if reason == "few nodes" else SIZE] = 5
    level = one_level(values, parents, 0.5 if reason == "hardly any noise" else VARIANCE)
    known = None if reason == "no neighbourhood" else lambda part: level.rows(around, part)
    assert use_occupancy(lambda level: known, is_laplace=True)(level) is None


def test_few_places_and_large_counts_keep_their_measurements() -> None:
    """Of the classes of any judge."""
    generator = np.random.default_rng(6)
    scale = np.sqrt(VARIANCE / 2)
    values = generator.laplace(0, scale, size=SIZE)
    values[-5:] = [1e4, -1e4, 41 * scale, 1e12, 3e18]
    kinds = np.zeros(SIZE, dtype=np.uint16)
    kinds[: MIN_PLACES - 1] = 299

    def sort(part: slice, out: np.ndarray) -> None:
        out[:] = kinds.reshape(-1, FAN)[part]

    known = judge_by_classes(one_level(values), VARIANCE, 300, sort, is_laplace=True)(slice(None), words)
    means, variances = known.values.ravel(), known.variances.ravel()
    for kept in (slice(0, MIN_PLACES - 1), slice(-5, None)):
        assert (means[kept] == values[kept]).all()
        assert (variances[kept] == VARIANCE).all()
    assert (means[MIN_PLACES - 1 : -5] != values[MIN_PLACES - 1 : -5]).any()
