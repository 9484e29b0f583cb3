"""Flat releases and Privelet: distributions against exact probabilities, audits with broken twins, errors of range sums.

Cells of a flat release are independent, so a table of many rows is as many runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, norm

from sudare import Budget, ResearchEntropy, Unit
from sudare.attacks import audit_epsilon
from sudare.domain import morton_layout
from sudare.noise.skipping import Skipping
from sudare.privacy import rho_to_epsilon
from sudare.refine.signed import counts_down_a_tree, counts_with_total
from sudare.tables.mechanisms.flat import gaussian, laplace
from sudare.tables.mechanisms.privelet import privelet
from tests.reference import naive
from tests.statistical.goodness import ERROR_PROBABILITY, chi_square_rejects

pytestmark = pytest.mark.slow

RUNS = 300_000
REFINED = 15_000
MAX_COUNT = 120


def noisy_law(release: Any, spent: Any) -> np.ndarray:
    """Probabilities of the noise -K..K, by the definition."""
    x = np.arange(-400, 401)
    weights = np.exp(-np.abs(x) * float(spent)) if release is laplace else np.exp(-(x**2) * float(spent))
    return np.asarray(weights / weights.sum())


def published_law(noise: np.ndarray, count: int, threshold: int) -> np.ndarray:
    """Probabilities of the published value of a cell: 0 for none, else from the threshold on; the last one for all above."""
    law = np.zeros(MAX_COUNT + 1)
    for x, probability in zip(range(-400, 401), noise, strict=True):
        value = count + x if count + x >= threshold else 0
        law[min(value, MAX_COUNT)] += probability
    return law


CASES: list[Any] = [
    (laplace, Budget(epsilon=1), 1.0),
    (laplace, Budget(epsilon=0.25), 0.25),
    (gaussian, Budget(rho=0.02), 0.02),  # sigma = 5: exp(-x**2 / 50)
    (gaussian, Budget(rho=0.1), 0.1),
]
NAMES = [f"{release.__name__} {budget}" for release, budget, _ in CASES]


def contradicts(seen: np.ndarray, law: np.ndarray) -> bool:
    """Chi-square, with everything from where fewer than 100 cells are expected as one outcome."""
    rest = np.flatnonzero(law[::-1].cumsum()[::-1] * seen.sum() >= 100).max()
    return chi_square_rejects(np.append(seen[:rest], seen[rest:].sum()), np.append(law[:rest], law[rest:].sum()))


@pytest.mark.parametrize(("release", "budget", "spent"), CASES, ids=NAMES)
@pytest.mark.parametrize("threshold", [1, 3, 5])
def test_lazy_is_eager_cell_by_cell(release: Any, budget: Budget, spent: float, threshold: int) -> None:
    """Every third cell has two people; both kinds have the distribution of noise on every cell, and not another one."""
    counts = np.zeros(2 * RUNS, dtype=np.int64)
    counts[::3] = 2
    values = np.minimum(release(counts, budget, threshold=threshold).to_dense(), MAX_COUNT)
    for people in (0, 2):
        seen = np.bincount(values[counts == people], minlength=MAX_COUNT + 1).astype(float)
        assert not contradicts(seen, published_law(noisy_law(release, spent), people, threshold))
        assert contradicts(seen, published_law(noisy_law(release, 1.1 * spent), people, threshold))


def pairs_differ_from_independent(passes: np.ndarray, probability: float) -> bool:
    """Chi-square of the four outcomes of disjoint pairs of neighbouring cells."""
    pairs = 2 * passes[0::2].astype(np.int64) + passes[1::2]
    p, q = probability, 1 - probability
    return chi_square_rejects(np.bincount(pairs, minlength=4).astype(float), np.array([q * q, q * p, p * q, p * p]))


@pytest.mark.parametrize(("release", "budget", "spent"), CASES[1:3], ids=NAMES[1:3])
def test_passing_cells_are_spread_evenly_and_independently(release: Any, budget: Budget, spent: float) -> None:
    threshold, cells = 6, 2_000_000
    p = published_law(noisy_law(release, spent), 0, threshold)[1:].sum()
    inhabited = np.zeros(cells, dtype=np.int64)
    inhabited[::7] = 10**6  # their ranks must be jumped over
    passes = release(inhabited, budget, threshold=threshold).to_dense()[inhabited == 0] > 0
    usable = passes[: passes.size // 100 * 100]
    assert not pairs_differ_from_independent(usable, p)
    assert pairs_differ_from_independent(np.repeat(usable[: usable.size // 2], 2), p)
    by_place = usable.reshape(100, -1).sum(axis=1)
    expected = usable.size / 100 * p
    statistic = float(((by_place - expected) ** 2 / (expected * (1 - p))).sum())
    assert chi2.ppf(ERROR_PROBABILITY, 100) < statistic < chi2.isf(ERROR_PROBABILITY, 100)


def test_thinning_matters() -> None:
    """Without dropping what is too many, the same gaps give too many; with it they do not."""
    from fractions import Fraction

    from sudare.noise.entropy import secure_entropy
    from sudare.noise.exact import Bounds

    share = Fraction(1, 20)
    skipping = Skipping(lambda bits: Bounds((1 << bits) // 20, (1 << bits) // 20 + 1), 0.06)
    places = 4_000_000
    kept = skipping.draw(places, secure_entropy()).size
    law = np.array([float(share), 1 - float(share)])
    assert not chi_square_rejects(np.array([kept, places - kept], dtype=float), law)
    often = 1 - np.exp(-1 / float(skipping.scale))
    assert chi_square_rejects(np.array([kept * often / float(share), places - kept * often / float(share)]), law)


def runs_of(
    release: Any, counts: list[int], unit: Unit, budget: Budget, threshold: int | None, refine: str | None = None
) -> np.ndarray:
    """Each row of the table is a run; its two cells are one outcome. A refinement must look at one row at a time."""
    table = np.tile(np.array(counts), (RUNS, 1))
    values = release(table, budget, unit=unit, threshold=threshold).to_dense()
    if refine is not None:
        starts = np.random.default_rng(1).integers(0, 2**63, RUNS, dtype=np.int64)
        values = np.array(
            [counts_with_total(row, 2 * int(start)) for row, start in zip(values[:REFINED], starts, strict=False)]
        )
    values = np.clip(values, -60, 60)
    return np.asarray(values[:, 0] * 1000 + values[:, 1])


NEIGHBOURS: list[Any] = [
    ([0, 0], [1, 0], Unit()),
    ([3, 0], [4, 0], Unit()),
    ([1, 0], [0, 1], Unit(adjacency="replace")),
    ([0, 0], [1, 1], Unit(cells=2)),
]


@pytest.mark.parametrize(("one", "other", "unit"), NEIGHBOURS, ids=str)
@pytest.mark.parametrize("threshold", [None, 1, 3])
def test_audit_of_laplace(one: list[int], other: list[int], unit: Unit, threshold: int | None) -> None:
    """The broken twin has half the noise, that of twice the budget.

    Above a higher threshold one person moved from cell to cell shows less than epsilon; the twin there has a third.
    """
    broken = 3 if threshold == 3 and unit.adjacency == "replace" else 2

    def audit(budget: Budget) -> Any:
        return audit_epsilon(*(runs_of(laplace, counts, unit, budget, threshold) for counts in (one, other)))

    assert not audit(Budget(epsilon=1)).refutes(1)
    assert audit(Budget(epsilon=broken)).refutes(1)


@pytest.mark.parametrize(("one", "other", "unit"), NEIGHBOURS, ids=str)
def test_audit_of_gaussian(one: list[int], other: list[int], unit: Unit) -> None:
    """The broken twin has half the noise, that of four times the rho."""
    delta = 0.01
    claimed = float(rho_to_epsilon(0.25, delta))

    def audit(budget: Budget) -> Any:
        outputs = (runs_of(gaussian, counts, unit, budget, None) for counts in (one, other))
        return audit_epsilon(*outputs, delta=delta)

    assert not audit(Budget(rho=0.25)).refutes(claimed)
    assert audit(Budget(rho=1)).refutes(claimed)


def test_audit_of_refined_counts() -> None:
    """Refining towards the noisy total tells no more. The twin that refines towards the true one gives a person away."""

    def refined_to_the_truth(counts: list[int]) -> np.ndarray:
        noisy = laplace(np.tile(np.array(counts), (REFINED, 1)), Budget(epsilon=1)).to_dense()
        noisy[:, 1] += sum(counts) - noisy.sum(axis=1)
        return np.asarray(np.array([counts_with_total(row, 1) for row in noisy]) @ np.array([1000, 1]))

    one, other = ([3, 0], [4, 0])
    views = [runs_of(laplace, counts, Unit(), Budget(epsilon=1), None, "counts") for counts in (one, other)]
    assert not audit_epsilon(*views).refutes(1)
    assert audit_epsilon(refined_to_the_truth(one), refined_to_the_truth(other)).refutes(1)


def test_audit_catches_a_release_of_inhabited_cells_only() -> None:
    """The twin that forgets the empty cells tells who is alone in one."""

    def forgetful(counts: list[int]) -> np.ndarray:
        table = np.tile(np.array(counts), (RUNS, 1))
        values = laplace(table, Budget(epsilon=1)).to_dense() * (table > 0)
        return np.asarray(np.clip(values, -60, 60) @ np.array([1000, 1]))

    assert audit_epsilon(forgetful([0, 0]), forgetful([1, 0])).refutes(1)


@pytest.mark.parametrize(
    ("one", "other", "unit", "runs"),
    [
        pytest.param(np.array([3, 0]), np.array([4, 0]), Unit(), 1500, id="add-remove"),
        *(
            pytest.param(*case, marks=pytest.mark.deep, id=name)
            for name, case in {
                "replace": (np.array([3, 1, 0, 0]), np.array([3, 0, 1, 0]), Unit(adjacency="replace"), 2500),
                "replace, one axis of one": (
                    np.array([[2], [1]]),
                    np.array([[3], [0]]),
                    Unit(adjacency="replace"),
                    1500,
                ),
                "two axes": (np.array([[0, 2], [1, 0]]), np.array([[0, 2], [1, 1]]), Unit(), 5000),
            }.items()
        ),
    ],
)
def test_audit_of_privelet(one: np.ndarray, other: np.ndarray, unit: Unit, runs: int) -> None:
    """Through the likelihood of the noisy coefficients, which no other view can beat. The broken twin has half the noise."""
    claimed = 2.5
    from sudare.tables.mechanisms.privelet import haar_coefficients

    depths = tuple((length - 1).bit_length() for length in one.shape)
    places = np.arange(one.size, dtype=np.uint64)
    change = haar_coefficients(places, other.ravel(), depths) - haar_coefficients(places, one.ravel(), depths)
    centre = haar_coefficients(places, one.ravel(), depths)

    def views(counts: np.ndarray, spend: float) -> np.ndarray:
        outputs = []
        for _ in range(runs):
            published = privelet(counts, Budget(epsilon=spend), unit=unit, keep_measurements=True)
            assert published.measurements is not None
            noisy = published.measurements[0].values
            outputs.append(int((np.abs(noisy - centre) - np.abs(noisy - centre - change)).sum()))
        return np.array(outputs)

    assert not audit_epsilon(views(one, claimed), views(other, claimed)).refutes(claimed)
    assert audit_epsilon(views(one, 2 * claimed), views(other, 2 * claimed)).refutes(claimed)


def test_variance_of_a_range_sum_of_privelet() -> None:
    """Of the signed table as published: the variance that the weights of the coefficients give, with that of rounding.

    Rounding changes a difference by 1 where sum and difference are not both even or both odd, which is half of the time.
    """
    depth, runs = 6, 4000
    first, last = 5, 44
    weights = np.array(
        [
            float(sum(naive.haar_values(place == 0, [int(place == other) for other in range(2**depth)])[first:last]))
            for place in range(2**depth)
        ]
    )
    assert abs(weights[0] - (last - first) / 2**depth) < 1e-12
    assert (weights**2).sum() <= 1 + depth / 2
    counts = np.full(2**depth, 1000)
    sums = []
    for _ in range(runs):
        published = privelet(counts, Budget(rho=0.5), noise="gaussian")
        sums.append(published.to_dense()[first:last].sum())
    noise = float(published.event.measurements[0].sigma_squared)  # type: ignore[attr-defined]
    assert noise == depth + 1
    # Sums of discrete Gaussians this wide are normal to many digits.
    expected = noise * float((weights**2).sum()) + float((weights[1:] ** 2).sum()) / 2
    statistic = float(((np.array(sums) - 1000 * (last - first)) ** 2).sum()) / expected
    low, high = chi2.ppf(ERROR_PROBABILITY, runs), chi2.isf(ERROR_PROBABILITY, runs)
    assert low < statistic < high
    assert not low < 1.5 * statistic < high


@pytest.mark.parametrize("shape", [(37,), (12, 24), (3, 5, 7)], ids=str)
@pytest.mark.parametrize("refine", [None, "counts"])
def test_margins_of_privelet_have_no_bias(shape: tuple[int, ...], refine: Any) -> None:
    """Of every axis, at its ends as inside, also where lengths are no powers of two; people enough that nothing is below 0.

    Each z-score is below the quantile that all of them together exceed with the error probability.
    """
    runs = 400
    counts = np.full(shape, 10_000)
    made = [privelet(counts, Budget(epsilon=3), refine=refine).to_dense() for _ in range(runs)]
    errors = np.array(made) - counts
    scores = []
    for axis in range(len(shape)):
        gone = tuple(other + 1 for other in range(len(shape)) if other != axis)
        margin = errors.sum(axis=gone)
        scores += (margin.mean(axis=0) / margin.std(axis=0) * runs**0.5).tolist()
    limit = norm.isf(ERROR_PROBABILITY / 2 / len(scores))
    assert np.abs(scores).max() < limit
    tilted = errors + 0.3 * errors.std(axis=0)  # what a bias of three tenths of a deviation would be
    assert np.abs(tilted.mean(axis=0) / tilted.std(axis=0) * runs**0.5).max() > limit


@pytest.mark.parametrize("shape", [(64, 13), (16, 16, 4), (12, 24)], ids=str)
def test_short_axes_of_refined_privelet_have_no_end_that_gains(shape: tuple[int, ...]) -> None:
    """Where noise outweighs people: the mean error of each place's sum is small beside its deviation.

    The twin goes down the padded tree alone, as the first version did, and gives too much to the last place.
    """
    runs, counts = 250, np.full(shape, 10)

    def worst(twin: bool) -> float:
        margins = []
        for seed in range(runs):
            source = ResearchEntropy(seed)
            refine: Any = None if twin else "counts"
            values = privelet(counts, Budget(epsilon=0.3), refine=refine, entropy=source).to_dense()
            if twin:
                values = counts_down_a_tree(values.ravel(), morton_layout(shape), source).reshape(shape)
            margins.append((values - counts).sum(axis=tuple(range(len(shape) - 1))))
        errors = np.array(margins, dtype=float)
        return float(np.abs(errors.mean(axis=0) / np.sqrt((errors**2).mean(axis=0))).max())

    # Of a mean over so many runs, chance makes up to 4.5 deviations.
    assert worst(twin=False) < 0.1 + 4.5 / runs**0.5
    if shape == (64, 13):
        assert worst(twin=True) > 0.5
