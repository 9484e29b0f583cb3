"""Flat releases against a twin written from the definition, their limits, and what they refuse."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sudare import Budget, CountTable, Domain, ResearchEntropy, Unit
from sudare.domain import SignedTable
from sudare.errors import GuaranteeError, ParameterError, SudareError
from sudare.noise import noise_for
from sudare.noise.exact import LatticeLaw
from sudare.noise.lattice import lattice_tail
from sudare.noise.skipping import Skipping, approximate_tail, keys_of_others, tail_probability
from sudare.tables.mechanisms.above_threshold import cut_off_total, effect_of
from sudare.tables.mechanisms.flat import gaussian, laplace
from tests.reference import naive
from tests.scripted import ScriptedEntropy

SHAPES = st.lists(st.integers(1, 9), min_size=1, max_size=3).map(tuple)
TABLES = SHAPES.flatmap(
    lambda shape: arrays.arrays(np.int64, shape, elements=st.sampled_from([0, 0, 0, 0, 1, 2, 40, 1000]))
)
RELEASES: list[Any] = [
    partial(laplace, budget=Budget(epsilon=1)),
    partial(laplace, budget=Budget(epsilon=0.01)),
    partial(gaussian, budget=Budget(rho=0.1)),
    partial(gaussian, budget=Budget(epsilon=1, delta=1e-6)),
]
BOTH = pytest.mark.parametrize("release", [RELEASES[0], RELEASES[2]], ids=["laplace", "gaussian"])


def law_of(measurement: Any) -> LatticeLaw:
    if measurement.kind == "discrete-laplace":
        return LatticeLaw(1 / measurement.scale, 0 * measurement.scale, two_sided=True)
    return LatticeLaw(0 * measurement.sigma_squared, 1 / (2 * measurement.sigma_squared), two_sided=True)


@settings(max_examples=60)
@given(counts=TABLES, seed=st.integers(0, 10**6), release=st.sampled_from(RELEASES))
def test_signed_tables_are_the_counts_and_the_noise_of_each_cell(counts: np.ndarray, seed: int, release: Any) -> None:
    published = release(counts, entropy=ResearchEntropy(seed), keep_measurements=True)
    noise = noise_for(published.event.measurements[0]).draw(counts.size, ResearchEntropy(seed))
    assert type(published.table) is SignedTable
    assert published.is_signed
    assert published.threshold is None
    assert np.array_equal(published.to_dense().ravel(), counts.ravel() + noise)
    assert np.array_equal(published.measurements[0].values, counts.ravel() + noise)


@settings(max_examples=60)
@given(counts=TABLES, seed=st.integers(0, 10**6), release=st.sampled_from(RELEASES))
def test_refined_counts_are_the_nearest_with_the_noisy_total(counts: np.ndarray, seed: int, release: Any) -> None:
    signed, refined = (release(counts, refine=refine, entropy=ResearchEntropy(seed)) for refine in (None, "counts"))
    assert type(refined.table) is CountTable
    assert not refined.is_signed
    assert refined.event == signed.event
    total = max(signed.table.total, 0)
    assert refined.table.total == total
    if total:
        nearest = naive.nearest_on_simplex(signed.to_dense().ravel().tolist(), total)
        assert all(abs(a - b) < 1 for a, b in zip(refined.to_dense().ravel().tolist(), nearest, strict=True))


@BOTH
def test_totals_are_right_on_average(release: Any) -> None:
    """Few people in many cells. Refined, too; from a threshold of 1 on, which cuts off at 0, they are not."""
    counts = np.zeros(4096, dtype=np.int64)
    counts[::64] = 3
    budget = Budget(epsilon=0.1) if release.func is laplace else Budget(rho=0.005)
    people, runs = int(counts.sum()), 60
    deviation = 64 * (200**0.5 if release.func is laplace else 10)
    for refine in (None, "counts"):
        totals = [
            release.func(counts, budget, refine=refine, entropy=ResearchEntropy(seed)).table.total
            for seed in range(runs)
        ]
        # A negative total is refined to 0, which adds at most half a deviation on average.
        slack = 0 if refine is None else deviation / 2
        assert abs(np.mean(totals) - people) < slack + 4.5 * deviation / runs**0.5
    effect = release.func(counts, budget, threshold=1).threshold
    cut_off = [
        release.func(counts, budget, threshold=1, entropy=ResearchEntropy(seed)).table.total for seed in range(runs)
    ]
    empty = int((counts == 0).sum())
    assert abs(np.mean(cut_off) - effect.per_empty_cell * empty - people) < 0.03 * effect.per_empty_cell * empty
    assert np.mean(cut_off) > 60 * people
    assert effect.if_all_empty == pytest.approx(4096 * effect.per_empty_cell)


@pytest.mark.parametrize("threshold", [1, 2, 7, 60])
def test_what_a_threshold_adds_to_an_empty_cell(threshold: int) -> None:
    from fractions import Fraction

    x = np.arange(-3000, 3001)
    for slope in (1.0, 0.1):
        weights = np.exp(-slope * np.abs(x))
        law = LatticeLaw(Fraction(str(slope)), Fraction(0), two_sided=True)
        expected = float((x * weights)[x >= threshold].sum() / weights.sum())
        assert effect_of(law, threshold, 10).per_empty_cell == pytest.approx(expected, rel=1e-9)
    for steep in (Fraction(1, 2), Fraction(1, 200)):
        weights = np.exp(-float(steep) * x.astype(float) ** 2)
        expected = float((x * weights)[x >= threshold].sum() / weights.sum())
        found = effect_of(LatticeLaw(Fraction(0), steep, two_sided=True), threshold, 10)
        assert found.per_empty_cell == pytest.approx(expected, rel=1e-9, abs=1e-300)
    wide = effect_of(LatticeLaw(Fraction(0), Fraction(1, 10**7), two_sided=True), threshold, 10).per_empty_cell
    x = np.arange(threshold, 10**5).astype(float)
    assert wide == pytest.approx(float((x * np.exp(-(x**2) / 10**7)).sum()) / (np.pi * 10**7) ** 0.5, rel=1e-4)


@BOTH
def test_domains_of_which_not_every_cell_can_be_published(release: Any) -> None:
    """Refused before anything is drawn; the error names a threshold that will do, and other methods."""
    large = CountTable.from_cells(Domain.of_shape((2**14, 2**15)), [1], [1])
    with pytest.raises(
        ParameterError, match=r"at most 2\*\*28 cells.*threshold=\d+.*'wide-tree'.*'negative-l2'"
    ) as caught:
        release(large, entropy=ScriptedEntropy([]))
    named = int(str(caught.value).split("threshold=")[1].split(",")[0])
    with pytest.raises(Exception, match="after 0 words"):  # the first draw: nothing was refused
        release(large, threshold=named, entropy=ScriptedEntropy([]))
    with pytest.raises(ParameterError, match=r"at most 2\*\*28 cells"):
        release(large, refine="counts", entropy=ScriptedEntropy([]))


@BOTH
def test_refinements_that_there_are_not(release: Any) -> None:
    for wrong in ("cut", 5, True, "Counts"):
        with pytest.raises(ParameterError, match="The 'refine' parameter of"):
            release(np.ones(4, dtype=int), refine=wrong, entropy=ScriptedEntropy([]))
    with pytest.raises(ParameterError, match="left out where there is a threshold"):
        release(np.ones(4, dtype=int), refine="counts", threshold=3, entropy=ScriptedEntropy([]))


@settings(max_examples=150)
@given(
    counts=TABLES,
    seed=st.integers(0, 10**6),
    release=st.sampled_from(RELEASES),
    threshold=st.sampled_from([1, 2, 5, 50, 10**6]),
)
def test_naive_twin(counts: np.ndarray, seed: int, release: Any, threshold: int) -> None:
    """Cell by cell: noise for those with people; the others by their rank among the empty ones."""
    published, event = release(counts, threshold=threshold, entropy=ResearchEntropy(seed))
    (measurement,) = event.measurements
    law, noise, source = law_of(measurement), noise_for(measurement), ResearchEntropy(seed)
    cells = counts.ravel()
    expected = np.zeros(cells.size, dtype=np.int64)
    inhabited = [key for key in range(cells.size) if cells[key] > 0]
    for key, x in zip(inhabited, noise.draw(len(inhabited), source).tolist(), strict=True):
        expected[key] = cells[key] + x if cells[key] + x >= threshold else 0
    empty = [key for key in range(cells.size) if cells[key] == 0]
    share = approximate_tail(law, threshold)
    if share > 0.25:
        if empty:
            values = noise.draw(len(empty), source)
            for key, value in zip(empty, values.tolist(), strict=True):
                expected[key] = value if value >= threshold else 0
    else:
        ranks = Skipping(partial(tail_probability, law, threshold), share).draw(len(empty), source).tolist()
        values = lattice_tail(law, threshold).draw(len(ranks), source)
        for rank, value in zip(ranks, values.tolist(), strict=True):
            expected[empty[rank]] = threshold + value
    assert np.array_equal(published.to_dense().ravel(), expected)
    assert (np.diff(published.keys.astype(np.int64)) > 0).all()


@given(
    inhabited=st.sets(st.integers(0, 40), max_size=20),
    cells=st.integers(41, 45),
)
def test_keys_of_empty_cells(inhabited: set[int], cells: int) -> None:
    empty = [key for key in range(cells) if key not in inhabited]
    keys = np.array(sorted(inhabited), dtype=np.uint64)
    assert keys_of_others(keys, np.arange(len(empty), dtype=np.uint64)).tolist() == empty


@settings(max_examples=25)
@given(counts=TABLES)
def test_with_hardly_any_noise_the_table_comes_back(counts: np.ndarray) -> None:
    table = CountTable.from_dense(counts)
    for published in (laplace(table, Budget(epsilon=1).times(1000)), gaussian(table, Budget(rho=1).times(5 * 10**5))):
        assert np.array_equal(published.to_dense(), counts)
    assert laplace(table, Budget(epsilon=1).times(1000), refine="counts").table == table
    assert laplace(table, Budget(epsilon=1).times(1000), threshold=1).table == table
    large = laplace(table, Budget(epsilon=1).times(1000), threshold=40).table
    assert np.array_equal(large.to_dense(), np.where(counts >= 40, counts, 0))


@BOTH
def test_the_event_costs_the_budget_and_measurements_are_what_is_published(release: Any) -> None:
    counts = np.arange(64).reshape(8, 8)
    unit = Unit("household", cells=2)
    published = release(counts, threshold=3, unit=unit, keep_measurements=True)
    assert published.event.cost == release.keywords["budget"]
    assert published.event.unit == unit
    assert published.event.is_private
    (kept,) = published.measurements
    assert (kept.values >= 3).all()
    assert np.array_equal(kept.keys, published.table.keys)
    assert release(counts).measurements is None


@BOTH
def test_a_huge_domain_costs_by_what_is_published(release: Any) -> None:
    keys = np.array([0, 5, 2**40 + 3, 2**60 - 1], dtype=np.uint64)
    table = CountTable.from_cells(Domain.of_shape((2**30, 2**30)), keys, [10**6] * 4)
    published = release(table, threshold=33 if release is RELEASES[0] else 18, entropy=ResearchEntropy(2)).table
    assert set(keys.tolist()) <= set(published.keys.tolist())
    assert 10 < published.keys.size < 10**5
    assert int(published.keys.max()) < 2**60
    far = release(table, threshold=1000).table
    assert np.array_equal(far.keys, keys)


@BOTH
def test_too_many_empty_cells_are_refused_and_the_error_names_the_threshold(release: Any) -> None:
    table = CountTable.from_cells(Domain.of_shape((2**28,)), [1], [1])
    release_of_few = partial(release, table, entropy=ScriptedEntropy([]))
    domain = Domain.of_shape((2**45,))
    large = CountTable.from_cells(domain, [1], [1])
    with pytest.raises(ParameterError, match=r"The 'threshold' parameter of .* must be at least") as caught:
        release(large, threshold=2, entropy=ScriptedEntropy([]))
    enough = int(str(caught.value).split("at least ")[1].split()[0])
    law = law_of(release(np.ones(2, dtype=int)).event.measurements[0])
    assert approximate_tail(law, enough) * 2**45 <= 2**28 < approximate_tail(law, enough - 1) * 2**45
    with pytest.raises(ParameterError, match=f"at least {enough} for"):
        release(large, threshold=enough - 1, entropy=ScriptedEntropy([]))
    with pytest.raises(Exception, match="after 0 words"):  # the first draw: nothing was refused
        release(large, threshold=enough, entropy=ScriptedEntropy([]))
    with pytest.raises(Exception, match="after 0 words"):
        release_of_few(threshold=1)


def test_noise_too_wide_to_skip_visits_every_cell_or_is_refused() -> None:
    budget = Budget(rho=1e-12)
    small = gaussian(np.zeros(5000, dtype=int), budget, threshold=10**6, entropy=ResearchEntropy(3)).table
    assert 200 < small.keys.size < 600  # sigma is 707,107: a share of 0.0786
    assert small.counts.min() >= 10**6
    large = CountTable.from_cells(Domain.of_shape((2**32,)), [1], [1])
    with pytest.raises(ParameterError, match="The 'budget' parameter of gaussian must be enough for a sigma"):
        gaussian(large, budget, threshold=3 * 10**6, entropy=ScriptedEntropy([]))


@BOTH
def test_seeds_threads_and_tiny_domains(release: Any) -> None:
    counts = np.random.default_rng(3).integers(0, 3, size=(1500, 1000))
    for threshold in (None, 1, 4):
        tables = [
            release(counts, threshold=threshold, entropy=ResearchEntropy(4), threads=threads).table
            for threads in (1, 2)
        ]
        assert tables[0] == tables[1]
        assert release(counts, threshold=threshold, entropy=ResearchEntropy(5)).table != tables[0]
    for shape in [(1,), (1, 1), (2,), (3, 1, 2)]:
        for value in (0, 5):
            assert release(np.full(shape, value)).table.domain.shape == shape


def test_totals_beyond_the_largest_are_cut_off_without_an_error() -> None:
    for _ in range(20):
        published = laplace(np.array([2**62 - 3, 0, 3]), Budget(epsilon=0.002), threshold=1).table
        assert 2**61 < published.total <= 2**62
        refined = laplace(np.array([2**62 - 3, 0, 3]), Budget(epsilon=0.002), refine="counts").table
        assert 2**62 - 10**5 < refined.total <= 2**62
        signed = laplace(np.array([2**62 - 3, 0, 3]), Budget(epsilon=0.002)).table
        assert abs(signed.total - 2**62) < 10**5  # without a cut


@given(st.lists(st.integers(1, 2**62), min_size=1, max_size=6))
def test_cut_off_at_the_highest_level_that_fits(counts: list[int]) -> None:
    cut = cut_off_total(np.array(counts)).tolist()
    if sum(counts) <= 2**62:
        assert cut == counts
    else:
        level = max(cut)
        assert cut == [min(count, level) for count in counts]
        assert sum(cut) <= 2**62 < sum(min(count, level + 1) for count in counts)


@BOTH
@pytest.mark.parametrize("threshold", [0, -1, 1.0, True, "5", 2**62 + 1, float("nan"), [1]])
def test_thresholds(release: Any, threshold: Any) -> None:
    with pytest.raises(ParameterError, match="The 'threshold' parameter of"):
        release(np.ones(4, dtype=int), threshold=threshold, entropy=ScriptedEntropy([]))


@BOTH
def test_the_largest_threshold(release: Any) -> None:
    assert release(np.zeros(4, dtype=int), threshold=2**62).table.keys.size == 0


def test_guarantees_that_cannot_be_given() -> None:
    counts = np.ones(4, dtype=int)
    with pytest.raises(GuaranteeError, match="delta"):
        gaussian(counts, Budget(epsilon=1))
    with pytest.raises(ParameterError, match=r"number from 0\.001 to"):
        laplace(counts, Budget(epsilon=1).times(10**6), entropy=ScriptedEntropy([]))
    wrong: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
        (laplace, (counts, Budget(rho=1)), {}),
        (laplace, (counts, 1.0), {}),
        (laplace, (counts, Budget(epsilon=1)), {"unit": 5}),
        (laplace, (counts, Budget(epsilon=1)), {"entropy": 42}),
        (gaussian, (counts, Budget(epsilon=1, delta=1e-6)), {"conversion": "gaussian"}),
        (gaussian, (counts, Budget(rho=1)), {"threads": 0}),
        (gaussian, ([1, 2], Budget(rho=1)), {}),
        (laplace, (np.array([-1, 2]), Budget(epsilon=1)), {}),
    ]
    for release, arguments, named in wrong:
        with pytest.raises(SudareError):
            release(*arguments, **named)
