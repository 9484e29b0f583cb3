"""One contract for every mechanism that publishes a refined table."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sudare import (
    Budget,
    CountTable,
    Domain,
    GuaranteeError,
    ParameterError,
    ResearchEntropy,
    SudareError,
    Unit,
    morton_layout,
    nn_wavelet,
    raster_layout,
    wide_tree,
)
from tests.scripted import ScriptedEntropy

MECHANISMS = [nn_wavelet, wide_tree]
SHAPES = st.lists(st.integers(1, 9), min_size=1, max_size=3).map(tuple)
TABLES = SHAPES.flatmap(
    lambda shape: arrays.arrays(np.int64, shape, elements=st.sampled_from([0, 0, 0, 1, 2, 40, 1000]))
)
BUDGETS = [Budget(epsilon=1), Budget(epsilon=0.01), Budget(epsilon=1, delta=1e-6), Budget(rho=0.1)]


def noise_of(budget: Budget) -> Any:
    return "laplace" if budget.currency == "epsilon" else "gaussian"


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.__name__)
class TestTableMechanism:
    @settings(max_examples=40)
    @given(counts=TABLES, seed=st.integers(0, 10**6), budget=st.sampled_from(BUDGETS))
    def test_whole_non_negative_counts_within_the_domain(
        self, mechanism: Any, counts: np.ndarray, seed: int, budget: Budget
    ) -> None:
        """Also for shapes that are no powers of two: the padding gets nobody."""
        published, _ = mechanism(counts, budget, noise=noise_of(budget), entropy=ResearchEntropy(seed))
        assert published.domain == CountTable.from_dense(counts).domain
        assert (published.counts > 0).all()
        assert published.to_dense().sum() == published.total

    @settings(max_examples=25)
    @given(counts=TABLES)
    def test_with_hardly_any_noise_the_table_comes_back(self, mechanism: Any, counts: np.ndarray) -> None:
        """A scale of 1/1000: the chance of any noise at all is below exp(-900)."""
        table = CountTable.from_dense(counts)
        depth = morton_layout(table.domain.shape).depth
        levels = 1 + (depth if mechanism is nn_wavelet else len(range(0, depth, 4)))
        weights = {} if mechanism is nn_wavelet else {"weights": [1] * levels}
        exact = Budget(epsilon=1).times(1000 * levels)
        published, _ = mechanism(table, exact, **weights)
        assert published == table

    @pytest.mark.parametrize("budget", BUDGETS, ids=str)
    def test_event_costs_the_budget_given(self, mechanism: Any, budget: Budget) -> None:
        unit = Unit("household", cells=2)
        counts = np.arange(64).reshape(8, 8)
        _, event = mechanism(counts, budget, unit=unit, noise=noise_of(budget))
        assert event.cost == budget
        assert event.unit == unit
        assert event.is_private
        if budget.currency == "rho":
            assert sum(m.rho for m in event.measurements) == budget.rho
        if budget.currency == "epsilon":
            assert sum(m.epsilon for m in event.measurements) == budget.epsilon

    @pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
    def test_units_that_touch_several_cells_need_more_noise(self, mechanism: Any, adjacency: Any) -> None:
        counts = np.zeros((8, 8), dtype=int)
        one = mechanism(counts, Budget(rho=1), noise="gaussian", unit=Unit(adjacency=adjacency)).event
        three = mechanism(counts, Budget(rho=1), noise="gaussian", unit=Unit(cells=3, adjacency=adjacency)).event
        for a, b in zip(one.measurements[:-1], three.measurements[:-1], strict=True):
            assert b.sigma_squared == 9 * a.sigma_squared  # all three cells may lie in one node

    def test_the_same_seed_gives_the_same_table(self, mechanism: Any) -> None:
        counts = np.arange(256).reshape(16, 16)
        first, again, other = (
            mechanism(counts, Budget(epsilon=0.5), entropy=ResearchEntropy(s)).table for s in (1, 1, 2)
        )
        assert first == again
        assert first != other

    def test_the_table_of_a_seed_does_not_depend_on_the_number_of_threads(self, mechanism: Any) -> None:
        counts = np.random.default_rng(3).integers(0, 30, size=(300, 200))
        tables = [mechanism(counts, Budget(epsilon=1), entropy=ResearchEntropy(4), threads=t).table for t in (1, 2, 5)]
        assert tables[0] == tables[1] == tables[2]
        assert np.corrcoef(tables[0].to_dense().ravel(), counts.ravel())[0, 1] > 0.2

    @pytest.mark.parametrize("shape", [(1,), (1, 1), (2,), (1, 7), (3, 1, 2)])
    def test_tiny_domains(self, mechanism: Any, shape: tuple[int, ...]) -> None:
        for value in (0, 5):
            published, _ = mechanism(np.full(shape, value), Budget(epsilon=5))
            assert published.domain.shape == shape

    def test_an_empty_table_is_mostly_empty(self, mechanism: Any) -> None:
        published, _ = mechanism(np.zeros((64, 64), dtype=int), Budget(epsilon=20))
        assert published.total < 50

    def test_huge_counts(self, mechanism: Any) -> None:
        counts = np.zeros((4, 4), dtype=np.int64)
        counts[1, 2] = 2**60
        published, _ = mechanism(counts, Budget(epsilon=1))
        assert abs(published.total - 2**60) < 2000
        assert abs(int(published.to_dense()[1, 2]) - 2**60) < 2000

    def test_a_huge_domain_costs_by_what_is_published(self, mechanism: Any) -> None:
        domain = Domain.of_shape((2**30, 2**30))
        keys = np.array([5, 2**40 + 3, 2**59], dtype=np.uint64)
        table = CountTable.from_cells(domain, keys, [10**6, 10**6, 10**6])
        published, _ = mechanism(table, Budget(epsilon=20))
        assert set(keys.tolist()) <= set(published.keys.tolist())
        assert len(published.keys) < 10_000

    def test_layouts(self, mechanism: Any) -> None:
        counts = np.arange(64).reshape(8, 8)
        published, _ = mechanism(counts, Budget(epsilon=1), layout=raster_layout((8, 8)))
        assert published.total > 0
        for wrong in (morton_layout((8, 4)), "morton", 5):
            with pytest.raises(ParameterError, match="The 'layout' parameter"):
                mechanism(counts, Budget(epsilon=1), layout=wrong)

    @pytest.mark.parametrize(
        "table",
        [[1, 2], None, "x", np.array([-1, 2]), np.array([1.5]), np.array([np.nan]), np.array(5), np.array(["a"])],
    )
    def test_what_is_no_table(self, mechanism: Any, table: Any) -> None:
        with pytest.raises(ParameterError):
            mechanism(table, Budget(epsilon=1))

    def test_no_error_depends_on_what_is_drawn(self, mechanism: Any) -> None:
        """A scale out of range is refused before the first draw, and a total beyond the largest is cut off."""
        source = ScriptedEntropy([])  # any draw at all would raise another error
        with pytest.raises(ParameterError, match=r"number from 0\.001 to"):
            mechanism(np.zeros(16, dtype=int), Budget(epsilon=1).times(Fraction(1, 10**13)), entropy=source)
        for _ in range(20):
            mechanism(np.array([2**62, 0]), Budget(epsilon=0.002))

    def test_layout_errors_show_no_counts(self, mechanism: Any) -> None:
        with pytest.raises(ParameterError) as caught:
            mechanism(np.ones(4, dtype=int), Budget(epsilon=1), layout=np.array([424242, 0, 3, 4]))
        assert "424242" not in str(caught.value)

    def test_guarantees_that_cannot_be_given(self, mechanism: Any) -> None:
        counts = np.ones((4, 4), dtype=int)
        with pytest.raises(GuaranteeError, match="delta"):
            mechanism(counts, Budget(epsilon=1), noise="gaussian")
        for arguments in (
            {"noise": "pink"},
            {"unit": 5},
            {"entropy": 42},
            {"conversion": "gaussian", "noise": "gaussian"},
        ):
            with pytest.raises(SudareError):
                mechanism(counts, Budget(epsilon=1, delta=1e-6), **arguments)
        with pytest.raises(SudareError):
            mechanism(counts, Budget(rho=1))
        with pytest.raises(SudareError):
            mechanism(counts, 1.0)


@pytest.mark.parametrize("bits", [(4,), (4, 4, 4), (0, 8), (13,), "44", (4.0, 4), None.__class__])
def test_bits_add_up_to_the_depth(bits: Any) -> None:
    with pytest.raises(ParameterError, match="The 'bits' parameter of wide_tree"):
        wide_tree(np.ones((16, 16), dtype=int), Budget(epsilon=1), bits=bits)


@pytest.mark.parametrize("weights", [(1, 1), (1, 1, 0), (1, 1, -1), (1, 1, float("nan")), "111", (1, 1, True)])
def test_weights_are_one_for_each_level(weights: Any) -> None:
    with pytest.raises(SudareError):
        wide_tree(np.ones((16, 16), dtype=int), Budget(epsilon=1), bits=(4, 4), weights=weights)


def test_weights_divide_the_budget() -> None:
    _, event = wide_tree(np.ones((16, 16), dtype=int), Budget(epsilon=1), bits=(2, 6), weights=(1, 3, 6))
    assert [m.epsilon for m in event.measurements] == [Fraction(1, 10), Fraction(3, 10), Fraction(6, 10)]


def test_an_extreme_weight_is_refused_before_anything_is_drawn() -> None:
    with pytest.raises(ParameterError, match=r"number from 0\.001 to"):
        wide_tree(
            np.zeros(16, dtype=int), Budget(epsilon=1), bits=(4,), weights=(10**13, 1), entropy=ScriptedEntropy([])
        )
