"""Recovery under a total: a naive twin on all cells, laws of levels and rounding, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from math import exp, floor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare import Budget, CountTable, Domain, ResearchEntropy, Unit, publish
from sudare.errors import ParameterError
from sudare.noise.exact import LatticeLaw
from sudare.noise.skipping import keys_of_others
from sudare.refine import clip_and_scale, nonnegative_lasso, project_on_simplex
from sudare.refine import negative_l2 as refined_by_negative_l2
from sudare.tables import lasso, lm, negative_l2, simplex
from sudare.tables.recovery import NoiseMoments, expected_level, predicted_area, predicted_count
from sudare.tables.recovery.descending import Descending, exact_sum
from sudare.tables.recovery.revealing import lowest_level
from sudare.tables.recovery.weights import CANDIDATES
from sudare.tables.recovery.whole import spread_evenly, whole_numbers_above
from tests.scripted import ScriptedEntropy

LAPLACE = LatticeLaw(Fraction(1, 10), Fraction(0), two_sided=True)
NARROW = LatticeLaw(Fraction(19, 10), Fraction(0), two_sided=True)
GAUSSIAN = LatticeLaw(Fraction(0), Fraction(1, 32), two_sided=True)
WIDE_GAUSSIAN = LatticeLaw(Fraction(0), Fraction(1, 800), two_sided=True)


def city(side: int = 32) -> np.ndarray:
    counts = np.zeros((side, side), dtype=np.int64)
    counts[4:10, 5:12] = np.arange(42).reshape(6, 7) * 5 + 3
    return counts


NAIVE: dict[str, Any] = {
    "simplex": (simplex, {}, lambda z, c: project_on_simplex(z, c)),
    "negative-l2": (negative_l2, {"weight": 0.125}, lambda z, c: refined_by_negative_l2(z, c, 0.125)),
    "lasso": (lasso, {"weight": 17}, lambda z, c: nonnegative_lasso(z, c, 17)),
    "lm": (lm, {}, clip_and_scale),
}


@pytest.mark.parametrize("name", NAIVE)
@pytest.mark.parametrize("is_public", [True, False])
def test_naive_twin(name: str, is_public: bool) -> None:
    """The noisy counts of all cells, refined as the paper defines it: whole numbers are within 1 of it, and add up."""
    mechanism, arguments, refine = NAIVE[name]
    counts = city()
    for seed in range(5):
        drawn: Any = {}
        published = mechanism(
            counts, Budget(epsilon=0.3), public_total=is_public, entropy=ResearchEntropy(seed), **arguments
        )
        twin = ResearchEntropy(seed)
        for measurement in published.event.measurements:
            from sudare.noise import noise_for

            size = 1 if len(drawn) < len(published.event.measurements) - 1 else counts.size
            drawn[len(drawn)] = noise_for(measurement).draw(size, twin)
        total = int(counts.sum()) if is_public else max(int(counts.sum() + drawn[0][0]), 0)
        real = refine((counts.ravel() + drawn[len(drawn) - 1]).astype(float), total)
        found = published.to_dense().ravel()
        assert found.sum() == total
        assert np.abs(found - real).max() < 1 + 1e-9
        assert published.settled is not None
        assert not (found[real < 1e-12] > 0).any()


def test_the_best_lasso_is_the_best_negative_l2() -> None:
    """They are one family: with the weight chosen by sparsity the same seed gives the same table."""
    one, other = (
        mechanism(city(), Budget(epsilon=0.3), entropy=ResearchEntropy(3)) for mechanism in (negative_l2, lasso)
    )
    assert one.table == other.table
    assert one.settled is not None
    assert other.settled is not None
    assert other.settled["weight"] == 2 * one.settled["level"]
    again = lasso(city(), Budget(epsilon=0.3), weight=other.settled["weight"], entropy=ResearchEntropy(3))
    assert np.abs(again.to_dense() - one.to_dense()).max() <= 1


def test_budget_and_sensitivity() -> None:
    noisy = simplex(city(), Budget(epsilon=1), total_share=0.25).event
    assert [m.epsilon for m in noisy.measurements] == [Fraction(1, 4), Fraction(3, 4)]
    assert noisy.invariants == ()
    public = simplex(city(), Budget(epsilon=1), public_total=True).event
    (cells,) = public.measurements
    assert public.invariants == ("total",)
    assert public.unit == Unit(adjacency="replace")
    assert (cells.scale, cells.l1) == (2, 2)  # type: ignore[attr-defined]
    (cells,) = simplex(city(), Budget(rho=0.5), noise="gaussian", public_total=True).event.measurements
    assert cells.sigma_squared == 2  # type: ignore[attr-defined]


def test_weights_are_chosen_from_public_or_noisy_numbers() -> None:
    counts = city(64)
    chosen = [
        negative_l2(counts, Budget(epsilon=0.5), public_total=True, entropy=ResearchEntropy(1), **arguments)
        for arguments in ({}, {"share_of_non_zeros": 0.01}, {"reference": counts + 0}, {"weight": 0.02})
    ]
    weights = [published.settled["weight"] for published in chosen if published.settled]
    assert all(weight in CANDIDATES for weight in weights[:3])
    assert weights[0] > 0
    assert weights[3] == pytest.approx(0.02)
    stated = publish(counts, Budget(epsilon=0.5), "negative-l2", weight="sparsity", entropy=ResearchEntropy(1))
    left_out = publish(counts, Budget(epsilon=0.5), "negative-l2", entropy=ResearchEntropy(1))
    assert stated.table == left_out.table


def test_a_reference_decides_before_the_table_is_looked_at() -> None:
    """Another protected table, the same seed: the weight is the same."""
    reference = city(64)
    weights = [
        negative_l2(counts, Budget(epsilon=0.1), reference=reference, entropy=ResearchEntropy(5)).settled
        for counts in (city(64), city(64).T.copy(), np.full((64, 64), 7))
    ]
    assert len({settled["weight"] for settled in weights if settled}) == 1


WRONG: list[tuple[Any, dict[str, Any], str]] = [
    (negative_l2, {"weight": 1}, "weight"),
    (negative_l2, {"weight": -0.1}, "weight"),
    (negative_l2, {"weight": "best"}, "weight"),
    (negative_l2, {"weight": "reference"}, "reference"),
    (negative_l2, {"weight": 0.1, "reference": city() + 0}, "reference"),
    (negative_l2, {"weight": 0.1, "share_of_non_zeros": 0.1}, "share_of_non_zeros"),
    (negative_l2, {"share_of_non_zeros": 0}, "share_of_non_zeros"),
    (negative_l2, {"share_of_non_zeros": 1.1}, "share_of_non_zeros"),
    (negative_l2, {"reference": city(16)}, "reference"),
    (lasso, {"weight": 2**53}, "weight"),
    (simplex, {"total_share": 0}, "total_share"),
    (simplex, {"total_share": 1}, "total_share"),
    (lm, {"total_share": 0.1, "public_total": True}, "total_share"),
]


@pytest.mark.parametrize(
    ("mechanism", "arguments", "named"), WRONG, ids=lambda value: getattr(value, "__name__", str(value)[:40])
)
def test_what_is_refused(mechanism: Any, arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(ParameterError) as caught:
        mechanism(city(), Budget(epsilon=1), entropy=ScriptedEntropy([]), **arguments)
    assert caught.value.parameter == named


@pytest.mark.parametrize("mechanism", [negative_l2, simplex, lasso])
@pytest.mark.parametrize("budget", [Budget(epsilon=0.5), Budget(rho=0.02)], ids=str)
def test_what_is_kept_of_a_large_table_does_not_tell_which_cells_are_inhabited(mechanism: Any, budget: Budget) -> None:
    """Many cells have one person; whether a noisy count is kept depends on it and the level alone."""
    keys = np.arange(5000, dtype=np.uint64) * np.uint64(77_777)
    table = CountTable.from_cells(Domain.of_shape((2**15, 2**15)), keys, np.where(keys % 50 == 0, 3000, 1))
    kind: Any = "gaussian" if budget.currency == "rho" else "laplace"
    published = mechanism(table, budget, noise=kind, keep_measurements=True)
    assert published.measurements is not None
    cells, level = published.measurements[-1], published.settled["level"]
    assert cells.values.min() > level > 1
    assert np.isin(keys[keys % 50 != 0], cells.keys).sum() < 100
    assert published.table.keys.size <= cells.keys.size
    assert np.isin(published.table.keys, cells.keys).all()
    assert published.table.total == max(int(published.measurements[0].values[0]), 0)


def test_large_tables_of_which_half_would_be_published_are_refused_with_the_reason() -> None:
    table = CountTable.from_cells(Domain.of_shape((2**20, 2**20)), [5], [100])
    with pytest.raises(ParameterError, match="every cell whose noise is positive"):
        lm(table, Budget(epsilon=1), entropy=ScriptedEntropy([]))
    with pytest.raises(ParameterError, match=r"at least \d+ for") as caught:
        lasso(table, Budget(epsilon=1), weight=3, entropy=ScriptedEntropy([]))
    enough = int(str(caught.value).split("at least ")[1].split()[0])
    assert lasso(table, Budget(epsilon=1), weight=enough + 30).table.keys.size < 2**20
    with pytest.raises(ParameterError, match="sigma"):
        simplex(table, Budget(rho=1e-10), noise="gaussian", entropy=ScriptedEntropy([]))


@pytest.mark.parametrize("law", [LAPLACE, NARROW, GAUSSIAN, WIDE_GAUSSIAN], ids=str)
@pytest.mark.parametrize("level", [-23.0, -4.25, -1.0, -0.5, 0.0, 0.75, 3.0, 17.5, 40.0])
def test_moments_are_sums_over_the_law(law: LatticeLaw, level: float) -> None:
    x = np.arange(-600, 601)
    weights = np.array([exp(-float(law.energy(int(k)))) if law.energy(int(k)) < 700 else 0.0 for k in x])
    weights /= weights.sum()
    noise, heights = NoiseMoments(law), np.maximum(x - level, 0)
    exact = law is not WIDE_GAUSSIAN  # taken as the normal law
    assert noise.excess(level) == pytest.approx((weights * heights).sum(), rel=1e-9 if exact else 1e-2, abs=1e-15)
    assert noise.squared_excess(level) == pytest.approx(
        (weights * heights**2).sum(), rel=1e-9 if exact else 1e-2, abs=1e-15
    )
    assert noise.tail(level) == pytest.approx(weights[x > level].sum(), rel=1e-9, abs=1e-15 if exact else 0.02)
    assert noise.variance == pytest.approx((weights * x**2).sum(), rel=1e-9 if exact else 1e-2)


NUMBERS = st.lists(st.integers(-50, 200), min_size=1, max_size=40)


@given(values=NUMBERS, wanted=st.fractions(min_value=Fraction(1, 100), max_value=5000))
def test_levels_are_those_of_the_projection(values: list[int], wanted: Fraction) -> None:
    array = np.array(values)
    descending = Descending.of(array)
    level = descending.exact_level_for(wanted)
    assert sum(max(Fraction(value) - level, Fraction(0)) for value in values) == wanted
    assert descending.level_for(float(wanted)) == pytest.approx(float(level), abs=1e-6)
    assert descending.sum_above(float(level)) == pytest.approx(float(wanted), rel=1e-6)


@settings(max_examples=60)
@given(
    values=NUMBERS,
    total=st.integers(1, 4000),
    weight=st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(9, 10)]),
    seed=st.integers(0, 1000),
)
def test_whole_numbers_add_up_and_are_near(values: list[int], total: int, weight: Fraction, seed: int) -> None:
    array = np.array(values)
    level = Descending.of(array).exact_level_for((1 - weight) * total)
    kept = array[array > floor(level)]
    whole = whole_numbers_above(kept, level, 1 - weight, total, ResearchEntropy(seed))
    assert int(whole.sum()) == total
    assert (whole >= 0).all()
    real = [(Fraction(int(value)) - level) / (1 - weight) for value in kept]
    assert all(abs(int(found) - exact) < 1 + Fraction(1, 10**9) for found, exact in zip(whole, real, strict=True))


def test_sums_beyond_64_bits() -> None:
    values = np.array([2**62, 2**62, 2**62 - 5, -7])
    assert exact_sum(values) == 3 * 2**62 - 12
    whole = whole_numbers_above(values[:3], Fraction(2**61), Fraction(3, 4), 2**62, ResearchEntropy(1))
    assert int(whole.astype(object).sum()) == 2**62 or (whole == 0).any()


def test_ranks_among_cells_that_are_not_known() -> None:
    known = np.array([0, 3, 4, 9], dtype=np.uint64)
    others = [key for key in range(14) if key not in known.tolist()]
    assert keys_of_others(known, np.arange(10, dtype=np.uint64)).tolist() == others


def test_the_lowest_level_is_public_and_bounds_what_is_kept() -> None:
    assert lowest_level(LAPLACE, 2**24) == 1
    high = lowest_level(LAPLACE, 2**60)
    assert 2**60 * NoiseMoments(LAPLACE).tail(high - 1) <= 2**24 < 2**60 * NoiseMoments(LAPLACE).tail(high - 2)


def test_totals_where_no_cell_stands_out() -> None:
    for cells, total in ((7, 3), (7, 30), (2**40, 20), (2**40, 10**6)):
        keys, counts = spread_evenly(cells, total, ResearchEntropy(2))
        assert counts.sum() == total
        assert (counts > 0).all()
        assert (np.diff(keys.astype(object)) > 0).all()


def test_predicted_bias_and_variance_are_what_is_seen() -> None:
    """Cells by their true count, over 40 runs of a city of which only total and share of non-empty cells are told."""
    counts = np.zeros(64 * 64, dtype=np.int64)
    counts[100:240] = 140
    (cells,) = simplex(counts, Budget(epsilon=0.2), public_total=True).event.measurements
    from sudare.tables.recovery import law_of

    noise = NoiseMoments(law_of(cells))
    for weight in (0.0, 0.05):
        level = expected_level(noise, counts.size, counts.sum(), 140 / 4096, 1 - weight)
        runs = [
            negative_l2(counts, Budget(epsilon=0.2), weight=weight, public_total=True, entropy=ResearchEntropy(seed))
            for seed in range(40)
        ]
        found = np.array([published.to_dense() for published in runs])
        assert np.mean([published.settled["level"] for published in runs if published.settled]) == pytest.approx(
            level, rel=0.02
        )
        for count in (0, 140):
            predicted = predicted_count(noise, level, 1 - weight, count)
            seen = found[:, counts == count]
            error = np.sqrt(predicted.variance / seen.size)
            assert abs(seen.mean() - count - predicted.bias) < 6 * error + 0.02 * abs(predicted.bias)
            assert seen.var() == pytest.approx(predicted.variance, rel=0.1)
        area = predicted_area(noise, level, 1 - weight, 1000, 140 * 100, 100)
        sums = found[:, 140:1140].sum(axis=1) - counts[140:1140].sum()
        assert abs(sums.mean() - area.bias) < 6 * np.sqrt(area.variance / 40)
        assert area.rmse >= abs(area.bias)
