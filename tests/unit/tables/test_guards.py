"""At no size, up to the whole map, is an automatic plan predicted to be worse than the papers' best; and areas anywhere."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest

from sudare.domain.domain import Domain
from sudare.domain.layout import morton_layout
from sudare.privacy.budget import Budget
from sudare.tables.planning import map_planning
from sudare.tables.planning.map_planning import MIN_LEVEL_SHARE, NAMED_GUARD
from sudare.tables.planning.plan import Plan
from sudare.tables.planning.planner import plan_table
from sudare.tables.planning.prediction import wide_tree_variances
from sudare.tables.planning.unaligned import overlaps_of, unaligned_variances
from sudare.tables.planning.weight_search import improve_weights


def errors_at_all_sizes(plan: Plan, depth: int) -> list[float]:
    """Of aligned squares from a cell to the whole map, from what will be measured."""
    noise = [level.deviation**2 for level in plan.levels]
    variances = wide_tree_variances(plan.settings["bits"], noise, range(0, depth + 1, 2), combined=True)
    return [sqrt(variance) for variance in variances]


def papers_errors(depth: int, epsilon: float) -> list[float]:
    """NN-Wavelet with Gaussian noise: eq. (13) of the paper gives rho for delta = 1e-6; one share for each of its levels."""
    rho = (sqrt(log(1e6) + epsilon) - sqrt(log(1e6))) ** 2
    noise = (depth + 1) / (2 * rho)
    variances = [noise]
    for _ in range(depth):
        variances.append((variances[-1] + noise) / 4)
    return [sqrt(variance) for variance in variances[::-2]]


@pytest.mark.parametrize("side", [64, 128, 256, 512, 1024, 2048, 4096])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_no_size_is_worse_than_the_papers_best(side: int, epsilon: float) -> None:
    plan = plan_table(Domain.of_shape((side, side)), Budget(epsilon=epsilon))
    depth = 2 * (side.bit_length() - 1)
    ours, theirs = errors_at_all_sizes(plan, depth), papers_errors(depth, epsilon)
    assert max(mine / best for mine, best in zip(ours, theirs, strict=True)) <= 1.0


@pytest.mark.parametrize("public_total", [False, True])
@pytest.mark.parametrize("shape", [(45, 22), (64, 64), (128, 128), (256, 256), (8192, 8192)])
def test_no_level_measures_next_to_nothing(shape: tuple[int, int], public_total: bool) -> None:
    """Two levels in one do as well. The total is needed in any case: of it, a little is enough."""
    plan = plan_table(Domain.of_shape(shape), Budget(epsilon=1), public_total=public_total)
    assert min(level.share for level in plan.levels if level.name != "total") >= MIN_LEVEL_SHARE


def test_levels_are_left_out_only_where_no_error_becomes_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    domain, budget = Domain.of_shape((128, 128)), Budget(epsilon=1)
    fewer = plan_table(domain, budget)
    monkeypatch.setattr(map_planning, "MIN_LEVEL_SHARE", 0.0)
    all_levels = plan_table(domain, budget)
    assert len(fewer.settings["bits"]) < len(all_levels.settings["bits"])
    both = zip(errors_at_all_sizes(fewer, 14), errors_at_all_sizes(all_levels, 14), strict=True)
    assert all(mine <= other for mine, other in both)
    assert all(mine.rmse <= other.rmse for mine, other in zip(fewer.errors, all_levels.errors, strict=True))
    # The control: levels that do measure something are needed.
    monkeypatch.setattr(map_planning, "MIN_LEVEL_SHARE", 1.0)
    assert plan_table(domain, budget).settings["bits"] == fewer.settings["bits"]


def test_whoever_says_what_matters_gets_more_of_it() -> None:
    """And still nothing is much worse than the papers' best; without any guard it would be."""
    domain, budget = Domain.of_shape((512, 512)), Budget(epsilon=1)
    plan, named = plan_table(domain, budget), plan_table(domain, budget, workload=(1, 2))
    ours, theirs = errors_at_all_sizes(named, 18), papers_errors(18, 1.0)
    assert max(mine / best for mine, best in zip(ours, theirs, strict=True)) <= 1.01 * NAMED_GUARD
    assert ours[0] < 0.8 * errors_at_all_sizes(plan, 18)[0]
    cells = errors_at_all_sizes(plan_table(domain, budget, workload="cells"), 18)
    assert max(mine / best for mine, best in zip(cells, theirs, strict=True)) > NAMED_GUARD


def naive_variance(side: int, bits: tuple[int, ...], noise: list[float], area: np.ndarray) -> float:
    """Of the sum of some cells, by generalised least squares on matrices over all measured nodes."""
    layout = morton_layout((side, side))
    leaves = layout.to_tree(np.arange(side * side, dtype=np.uint64)).astype(np.int64)
    rows, weights, height = [], [], layout.depth
    for level in range(len(bits) + 1):
        height -= bits[level - 1] if level else 0
        for node in range(1 << layout.depth - height):
            rows.append(leaves >> height == node)
            weights.append(1 / noise[level])
    measured = np.array(rows, dtype=float)
    covariance = np.linalg.inv(measured.T @ (np.array(weights)[:, None] * measured))
    return float(area.ravel() @ covariance @ area.ravel())


def test_variances_of_areas_anywhere_are_those_of_matrices() -> None:
    """The mean over rectangles of one size at all places, against inverted matrices."""
    side, bits, noise = 8, (2, 2, 2), [50.0, 9.0, 5.0, 2.0]
    variances = []
    for top in range(side - 3 + 1):
        for left in range(side - 3 + 1):
            area = np.zeros((side, side))
            area[top : top + 3, left : left + 3] = 1
            variances.append(naive_variance(side, bits, noise, area))
    shares = []
    for height in range(7):
        down, across = (height + 1) // 2, height // 2
        total = 0.0
        for top in range(side - 3 + 1):
            for left in range(side - 3 + 1):
                area = np.zeros((side, side))
                area[top : top + 3, left : left + 3] = 1
                blocks = area.reshape(side >> across, 1 << across, side >> down, 1 << down).mean(axis=(1, 3))
                total += float((blocks**2).sum())
        shares.append(total / 36)
    (found,) = unaligned_variances(bits, noise, [tuple(shares)])
    assert found == pytest.approx(np.mean(variances), rel=1e-9)


def test_overlaps_are_those_of_many_rectangles() -> None:
    generator = np.random.default_rng(3)
    overlaps = overlaps_of(morton_layout((256, 256)))
    assert len(overlaps) == 3
    lengths = np.exp(generator.uniform(np.log(16), np.log(64), (2, 20_000))).astype(int)
    starts = (generator.random((2, 20_000)) * (257 - lengths)).astype(int)
    for height in (0, 4, 8, 10):
        width = 1 << height // 2
        along = []
        for start, length in zip(starts, lengths, strict=True):
            edges = np.arange(0, 257, width)
            covered = np.clip(start[:, None] + length[:, None], edges[:-1], edges[1:]) - np.clip(
                start[:, None], edges[:-1], edges[1:]
            )
            along.append(((covered / width) ** 2).sum(axis=1))
        assert overlaps[1][height] == pytest.approx((along[0] * along[1]).mean(), rel=0.06)


def test_small_and_other_tables_have_no_rectangles() -> None:
    assert overlaps_of(morton_layout((4, 4, 4))) == []
    assert overlaps_of(morton_layout((4, 4))) == []
    assert len(overlaps_of(morton_layout((16, 16)))) == 1


def test_weights_are_improved_within_limits() -> None:
    """With costs a / w for shares w, the best shares go with the square roots of a; a limit on one of them is kept."""
    costs = np.array([1.0, 4.0, 9.0])

    def aim(weights: np.ndarray, limit: float = 1e9) -> tuple[np.ndarray, np.ndarray]:
        shares = weights / weights.sum(axis=1, keepdims=True)
        return np.log((costs / shares).sum(axis=1)), np.log(1 / shares[:, :1] / limit)

    free = improve_weights(np.ones(3), aim)
    assert free / free.sum() == pytest.approx(np.sqrt(costs) / 6, rel=1e-3)
    kept = improve_weights(np.ones(3), lambda weights: aim(weights, 2.0))
    kept /= kept.sum()
    assert kept[0] == pytest.approx(0.5, rel=1e-3)
    assert kept[2] / kept[1] == pytest.approx(1.5, rel=1e-2)


def test_the_papers_budget_warns_nobody() -> None:
    """A weak budget is warned of where it is made, and not once more for one that the caller never asked for."""
    with pytest.warns(UserWarning, match="epsilon = 100 "):
        weak = Budget(epsilon=100)
    assert plan_table(Domain.of_shape((16, 16)), weak).budget == weak  # warnings are errors
