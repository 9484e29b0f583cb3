"""Estimates of whole trees: against dense least squares, and whole numbers that add up whatever was measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.kernels.tables.judging import judge_children
from sudare.refine.trees import (
    Estimates,
    LevelJudgement,
    NoisyTree,
    OpenLevel,
    _told_by_children,
    least_squares,
    refine_from_top,
    use_reference,
)


def words(count: int) -> np.ndarray:
    """Stands for random words where ties do not matter: of equals, the first."""
    return np.zeros(count, dtype=np.uint64)


BITS = [(1,), (2, 1), (1, 1, 1), (3,), (2, 2), ()]


def sums(leaves: np.ndarray, bits: tuple[int, ...]) -> list[np.ndarray]:
    """Of the nodes of every level, from the root."""
    return [leaves.reshape(1 << sum(bits[:level]), -1).sum(axis=1) for level in range(len(bits) + 1)]


def noisy_tree(
    leaves: np.ndarray,
    bits: tuple[int, ...],
    generator: np.random.Generator,
    *,
    cells: np.ndarray | None = None,
    deviation: float = 10.0,
    total: int | None = None,
    is_laplace: bool = False,
) -> NoisyTree:
    """Measurements with normal noise; more of it on higher levels."""
    has_cells = np.ones(leaves.size, dtype=np.int64) if cells is None else cells
    deviations = [deviation * (1 + 0.5 * (len(bits) - level)) for level in range(len(bits) + 1)]
    measured: list[Any] = [
        of_level + generator.normal(0, spread, size=of_level.size)
        for of_level, spread in zip(sums(leaves * (has_cells > 0), bits), deviations, strict=True)
    ]
    if total is not None:
        measured[0] = None
    variances = tuple(spread**2 for spread in deviations)
    return NoisyTree(bits, tuple(measured), variances, tuple(sums(has_cells, bits)), is_laplace, total)


def dense_solution(tree: NoisyTree, level: int, node: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Leaves below a node by generalised least squares of all measurements at and below it: cells, estimate, covariance."""
    depth = sum(tree.bits)
    width = 1 << depth - sum(tree.bits[:level])
    leaves = np.arange(node * width, (node + 1) * width)
    used = leaves[tree.cells[-1][leaves] > 0]
    rows, values, variances = [], [], []
    for below in range(level, len(tree.bits) + 1):
        own_width = 1 << depth - sum(tree.bits[:below])
        measured = tree.measured[below]
        if measured is None:
            continue
        for other in range(node * width // own_width, (node + 1) * width // own_width):
            row = (used // own_width == other).astype(float)
            if row.any():
                rows.append(row)
                values.append(measured[other])
                variances.append(tree.variances[below])
    design, weights = np.array(rows), 1 / np.array(variances)
    covariance = np.linalg.inv(design.T @ (weights[:, None] * design))
    return used, covariance @ design.T @ (weights * np.array(values)), covariance


def padded(generator: np.random.Generator, size: int) -> np.ndarray:
    cells = np.ones(size, dtype=np.int64)
    cells[1:][generator.random(size - 1) < 0.35] = 0
    return cells


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6), bits=st.sampled_from(BITS), has_padding=st.booleans(), is_public=st.booleans())
def test_least_squares_of_each_node(seed: int, bits: tuple[int, ...], has_padding: bool, is_public: bool) -> None:
    generator = np.random.default_rng(seed)
    size = 1 << sum(bits)
    leaves = generator.integers(0, 100, size=size)
    cells = padded(generator, size) if has_padding else None
    total = int(leaves.sum()) if is_public and bits else None
    tree = noisy_tree(leaves, bits, generator, cells=cells, total=total)
    estimates = least_squares(tree)
    for level, (values, variances) in enumerate(zip(estimates.values, estimates.variances, strict=True)):
        for node in range(values.size):
            if tree.cells[level][node] == 0:
                assert (values[node], variances[node]) == (0, 0)
                continue
            _, estimate, covariance = dense_solution(tree, level, node)
            assert values[node] == pytest.approx(estimate.sum())
            assert variances[node] == pytest.approx(covariance.sum())


@pytest.mark.parametrize("bits", BITS[:-1])
@pytest.mark.parametrize("seed", range(4))
def test_where_nothing_is_cut_off_the_result_is_least_squares_of_the_whole_tree(
    bits: tuple[int, ...], seed: int
) -> None:
    """Rounding moves a node by less than 1 on each level; the measured leaves themselves are far away."""
    generator = np.random.default_rng(seed)
    leaves = generator.integers(10**5, 2 * 10**5, size=1 << sum(bits))
    tree = noisy_tree(leaves, bits, generator, deviation=900)
    refined = refine_from_top(tree, least_squares(tree), words)
    _, estimate, _ = dense_solution(tree, 0, 0)
    rounding = len(bits) + 1
    assert np.abs(refined - estimate).max() < rounding
    measured = tree.measured[-1]
    assert measured is not None
    assert np.abs(measured - estimate).max() > 3 * rounding


@settings(max_examples=60)
@given(data=st.data(), bits=st.sampled_from(BITS), seed=st.integers(0, 10**6))
def test_counts_are_whole_non_negative_and_add_up(data: st.DataObject, bits: tuple[int, ...], seed: int) -> None:
    """Level by level: the children of a node are what its refinement without them gave. Up to 2**62, with padding."""
    generator = np.random.default_rng(seed)
    size = 1 << sum(bits)
    largest = data.draw(st.sampled_from([0, 3, 1000, 2**40, 2**60 // size]))
    leaves = generator.integers(0, largest + 1, size=size)
    cells = padded(generator, size) if data.draw(st.booleans()) else None
    is_public = data.draw(st.booleans())
    people = leaves if cells is None else leaves * (cells > 0)
    tree = noisy_tree(leaves, bits, generator, cells=cells, total=int(people.sum()) if is_public else None)
    tree = NoisyTree(bits, tree.measured, tree.variances, tree.cells, False, int(people.sum()) if is_public else None)
    estimates = least_squares(tree) if bits or not is_public else Estimates((np.zeros(1),), (np.zeros(1),))
    levels = []
    for upto in range(len(bits) + 1):
        cut = NoisyTree(
            bits[:upto],
            tree.measured[: upto + 1],
            tree.variances[: upto + 1],
            tree.cells[: upto + 1],
            False,
            tree.total,
        )
        levels.append(
            refine_from_top(cut, Estimates(estimates.values[: upto + 1], estimates.variances[: upto + 1]), words)
        )
    for upper, lower, step in zip(levels, levels[1:], bits, strict=False):
        assert (lower.reshape(-1, 1 << step).sum(axis=1) == upper).all()
    assert levels[-1].dtype == np.int64
    assert levels[-1].min() >= 0
    if cells is not None:
        assert not levels[-1][cells == 0].any()
    if is_public:
        assert levels[0].tolist() == [people.sum()]


def test_a_total_beyond_the_largest_is_cut_off() -> None:
    tree = NoisyTree(
        (1,), (np.array([1e25]), np.array([1e25, -1e25])), (1.0, 1.0), (np.array([2]), np.ones(2, int)), True
    )
    assert refine_from_top(tree, least_squares(tree), words).tolist() == [2**62, 0]


def test_a_negative_total_is_nobody() -> None:
    tree = NoisyTree(
        (1,), (np.array([-9.0]), np.array([5.0, -9.0])), (1.0, 1.0), (np.array([2]), np.ones(2, int)), True
    )
    assert refine_from_top(tree, least_squares(tree), words).tolist() == [0, 0]


def judged(values: list[float], occupied: list[float], cells: list[int], total: int) -> list[int]:
    """Children of one node, about which a judge knows how likely they are to be occupied."""
    estimate = np.array(values, dtype=float)
    tree = NoisyTree(
        (2,), (None, estimate), (0.0, 1.0), (np.array([sum(cells)]), np.array(cells)), is_laplace=False, total=total
    )

    def judge(level: OpenLevel) -> Any:
        assert (level.number, level.parents.tolist()) == (1, [total])

        def judge_all(part: slice, words: Any) -> LevelJudgement:
            return judged_as(level.values_of(part), np.array(values, dtype=float), np.array(occupied), words(1))

        return judge_all

    estimates = Estimates((np.array([float(total)]), estimate), (np.zeros(1), np.ones(4)))
    return [int(count) for count in refine_from_top(tree, estimates, words, judge)]


def judged_as(values: np.ndarray, means: np.ndarray, occupied: np.ndarray, chance: np.ndarray) -> LevelJudgement:
    """Every child has a class of its own, whose means and likelihoods of being occupied are given; variances are 1."""
    parents, fan = values.shape
    classes = np.tile(np.arange(fan, dtype=np.uint16), (parents, 1))
    tables: list[Any] = [np.repeat(of_class[:, None], 3, axis=1) for of_class in (means, np.ones(fan), occupied)]
    known = LevelJudgement(np.empty(values.shape), np.empty(values.shape))
    counts, taught = np.ones(parents, dtype=np.int64), np.ones(fan, dtype=np.bool_)
    out = known.values, known.variances
    judge_children(values, counts, 1.0, classes, taught, tables[0], tables[1], tables[2], 1e3, 0, chance, *out)
    return known


@pytest.mark.parametrize(("likely", "taking"), [(0.2, 2), (0.05, 1), (0.49, 5)])
def test_of_equally_unlikely_children_chance_takes_some(likely: float, taking: int) -> None:
    """As many of ten as are expected to be occupied, at least one; child 9 has no cells."""
    parents, fan = 4000, 11
    values = np.zeros((parents, fan))
    values[:, 9] = np.nan
    chance = np.random.default_rng(1).integers(0, 2**64, size=parents, dtype=np.uint64)
    found = judged_as(values, np.zeros(fan), np.full(fan, likely), chance).variances > 0
    assert (found.sum(axis=1) == taking).all()
    often, share = found.sum(axis=0), taking / 10
    assert often[9] == 0
    # The chance that any of ten binomial counts is so far off is below 1e-9.
    assert np.abs(np.delete(often, 9) - parents * share).max() < 7 * np.sqrt(parents * share * (1 - share))


def test_children_that_are_likely_empty_get_nothing() -> None:
    assert judged([5, 5, 5, 5], [0.1, 0.9, 0.9, 0.1], [1] * 4, 20) == [0, 10, 10, 0]


def test_as_many_unlikely_children_take_part_as_are_expected_to() -> None:
    """Three times 0.4 speak for one of them: the likeliest."""
    assert judged([5, 5, 5, 5], [0.9, 0.4, 0.41, 0.4], [1] * 4, 20) == [10, 0, 10, 0]


def test_where_all_are_likely_empty_somebody_takes_part() -> None:
    assert judged([9, 1, 8, 0], [0.1, 0.0, 0.2, 0.0], [1] * 4, 21) == [0, 0, 21, 0]
    assert judged([9, 1, 8, 0], [0.0] * 4, [0, 1, 1, 1], 21) == [0, 5, 12, 4]
    assert sum(judged([-9, -1, -8, -3], [0.0] * 4, [0, 1, 0, 1], 7)) == 7
    assert judged([9, 1, 8, 3], [0.3] * 4, [1] * 4, 0) == [0] * 4


def naive_told(shares: np.ndarray, values: np.ndarray, noise: np.ndarray, spreads: np.ndarray) -> tuple[float, float]:
    """The count of which the children have these shares, from the covariance as ``trees.md`` writes it."""
    covariance = np.diag(noise + spreads) - np.outer(spreads, spreads) / spreads.sum()
    inverse = np.linalg.inv(covariance)
    information = shares @ inverse @ shares
    return float(shares @ inverse @ values / information), float(1 / information)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), fan=st.sampled_from([2, 4, 8]), has_padding=st.booleans())
def test_what_children_tell_by_their_shares(seed: int, fan: int, has_padding: bool) -> None:
    generator = np.random.default_rng(seed)
    nodes = 40
    cells = np.ones((nodes, fan), dtype=np.int32)
    if has_padding:
        cells[:, 1:][generator.random((nodes, fan - 1)) < 0.2] = 0
    shares = generator.dirichlet(np.full(fan, 0.5), size=nodes) * (cells > 0)
    shares /= shares.sum(axis=1, keepdims=True)
    values = generator.normal(50, 40, size=(nodes, fan)) * (cells > 0)
    noise = np.where(cells > 0, generator.uniform(1, 9, size=(nodes, fan)), 0)
    spreads = generator.uniform(0.01, 50, size=(nodes, fan))
    told = [
        naive_told(*(row[keep] for row in rows))
        for *rows, keep in zip(shares, values, noise, spreads, cells > 0, strict=True)
    ]
    # The parents' own measurements agree with what they are told, so that nothing speaks against its certainty.
    own = np.array([estimate for estimate, _ in told])
    tree = NoisyTree(
        (0, fan.bit_length() - 1),
        (None, own, values.ravel()),
        (0.0, 1e9, 1.0),
        (np.array([nodes]), cells.sum(axis=1), cells.ravel()),
        is_laplace=False,
    )
    got = _told_by_children(tree, 2, values.ravel(), noise.ravel(), shares.ravel(), spreads.ravel(), fan)
    plain, plain_variance = values.sum(axis=1), noise.sum(axis=1)
    for node, (estimate, variance) in enumerate(told):
        assert variance <= plain_variance[node] * (1 + 1e-9)  # the shares add what the plain sum does not know
        wanted = (estimate, variance) if variance < plain_variance[node] * (1 - 1e-9) else None
        if wanted is not None:
            assert got[0][node] == pytest.approx(estimate, rel=1e-6, abs=1e-6)
            assert got[1][node] == pytest.approx(variance, rel=1e-6)
        else:
            assert got[0][node] == pytest.approx(plain[node], abs=1e-3)


def test_certainty_that_the_parents_contradict_is_lowered() -> None:
    """Shares that are certain, but wrong: the parents' own measurements show it, and the plain sums are kept."""
    nodes, fan = 60, 4
    generator = np.random.default_rng(4)
    values = generator.normal(100, 3, size=nodes * fan)
    shares = np.tile([0.9, 0.05, 0.04, 0.01], nodes)
    tree = NoisyTree(
        (0, 2),
        (None, values.reshape(nodes, fan).sum(axis=1), values),
        (0.0, 9.0, 9.0),
        (np.array([nodes]), np.full(nodes, fan), np.ones(nodes * fan, dtype=np.int32)),
        is_laplace=False,
    )
    narrow = np.full(values.size, 1e-3)
    told, variance = _told_by_children(tree, 2, values, np.full(values.size, 9.0), shares, narrow, fan)
    assert told == pytest.approx(values.reshape(nodes, fan).sum(axis=1))
    assert variance == pytest.approx(np.full(nodes, 36.0))


def people_and_tree(seed: int) -> tuple[np.ndarray, NoisyTree]:
    generator = np.random.default_rng(seed)
    leaves = generator.poisson(generator.gamma(0.4, 60, size=1024))
    return leaves, noisy_tree(leaves, (2, 4, 4), generator, deviation=15)


@pytest.mark.parametrize("seed", range(3))
def test_a_reference_that_foretells_helps_and_a_shuffled_one_changes_nothing(seed: int) -> None:
    leaves, tree = people_and_tree(seed)
    plain = refine_from_top(tree, least_squares(tree), words)

    def with_reference(reference: np.ndarray) -> np.ndarray:
        estimates, judge = use_reference(tree, tuple(sums(reference, tree.bits)))
        return refine_from_top(tree, estimates, words, judge)

    def error(published: np.ndarray) -> float:
        return float(np.sqrt(((published - leaves) ** 2).mean()))

    assert error(with_reference(leaves)) < 0.4 * error(plain)
    assert (with_reference(np.random.default_rng(7).permutation(leaves)) == plain).all()
    assert (with_reference(np.zeros(1024, dtype=np.int64)) == plain).all()


def test_parents_that_have_nobody_in_the_reference_are_left_to_another_judge() -> None:
    """Of them it tells nothing; by default, estimates do."""
    generator = np.random.default_rng(8)
    leaves = generator.integers(0, 900, size=1024)
    tree = noisy_tree(leaves, (5, 5), generator, deviation=300.0)
    public = leaves.copy()
    public[:256] = 0
    noisy = tree.measured[2]
    assert noisy is not None
    level = OpenLevel(2, 32, noisy, np.full(1024, 300.0**2), tree.cells[2], sums(leaves, tree.bits)[1])
    other = level.judge_as_estimated(slice(None))
    stamped = LevelJudgement(other.values + 1000, other.variances + 1)
    for elsewhere, expected in ((None, other), (lambda _: None, other), (lambda _: lambda *_: stamped, stamped)):
        _, judge = use_reference(tree, tuple(sums(public, tree.bits)), elsewhere)
        judge_children = judge(level)
        assert judge_children is not None
        known = judge_children(slice(None), words)
        assert (known.values[:8] == expected.values[:8]).all()
        assert (known.variances[:8] == expected.variances[:8]).all()
        assert (known.values[8:] != other.values[8:]).all()
        assert (known.variances[8:] < other.variances[8:]).all()


def test_a_reference_is_not_judged_by_few_nodes() -> None:
    generator = np.random.default_rng(5)
    leaves = generator.integers(0, 900, size=16)
    tree = noisy_tree(leaves, (2, 2), generator)
    estimates, judge = use_reference(tree, tuple(sums(leaves, tree.bits)))
    for got, plain in zip(estimates.values, least_squares(tree).values, strict=True):
        assert (got == plain).all()
    level = OpenLevel(2, 4, np.ones(16), np.ones(16), tree.cells[2], np.full(4, 9))
    assert judge(level) is None
