"""One contract for every mechanism that publishes a table, and for every way in which it can be called."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import isqrt
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import chi2, norm

from sudare import (
    Budget,
    Category,
    CountTable,
    Domain,
    Hierarchy,
    Published,
    ReleaseEvent,
    ResearchEntropy,
    Unit,
    publish,
)
from sudare.domain import SignedTable, layout_named, morton_layout, raster_layout
from sudare.errors import GuaranteeError, ParameterError, SudareError
from sudare.evaluate import measure_errors
from sudare.privacy import GaussianMeasurement, SelectionMeasurement
from sudare.tables import (
    adaptive_margins,
    gaussian,
    histogram,
    laplace,
    lasso,
    lm,
    margin_tree,
    negative_l2,
    nn_wavelet,
    privelet,
    simplex,
    table_at_level,
    topdown,
    topdown_bisection,
    wide_tree,
)
from sudare.tables.registry import mechanism_names
from sudare.tables.trees import lazy_learning, thin_levels, visited_level
from sudare.tables.trees.dense_tree import variance_of
from tests.scripted import ScriptedEntropy

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Case:
    """A mechanism, and what it takes and promises.

    Attributes:
        call: the mechanism with its settings.
        kinds: of noise that it adds.
        names_noise: whether the kind is chosen by an argument.
        is_refined: counts are refined from a noisy total, so that the sum does not grow with the number of empty cells.
        is_signed: noisy counts are published as they are, negative ones too.
        is_cut_off: noisy counts below a threshold are published as 0, and nothing makes up for it.
        is_modelled: the table is drawn from a model of margins that were chosen on the way: with hardly any noise it is near
            to the counts, and choices stand in the event too.
        takes_total: whether the total can be public.
        takes_layout: whether it takes a layout.
        is_lazy: whether its cost does not grow with the domain.
        measures: names of what it measures on a 4 x 4 table, or how they begin; None where a plan decides.
    """

    call: Callable[..., Published]
    kinds: tuple[str, ...] = ("laplace", "gaussian")
    names_noise: bool = True
    is_refined: bool = True
    takes_total: bool = True
    takes_layout: bool = True
    is_lazy: bool = False
    measures: tuple[str, ...] | None = None
    is_signed: bool = False
    is_cut_off: bool = False
    is_modelled: bool = False

    def __call__(self, table: Any, budget: Any, **arguments: Any) -> Published:
        if self.names_noise and isinstance(budget, Budget):
            arguments.setdefault("noise", kind_of(budget))
        return self.call(table, budget, **arguments)

    def budgets(self) -> list[Budget]:
        return [budget for budget in BUDGETS if kind_of(budget) in self.kinds]


def kind_of(budget: Budget) -> str:
    return "laplace" if budget.currency == "epsilon" else "gaussian"


def with_public_reference(table: Any, budget: Budget, **arguments: Any) -> Published:
    """A reference that depends on the shape alone: more people towards the end."""
    shape = table.domain.shape if isinstance(table, CountTable) else np.shape(table)
    size = int(np.prod(shape, dtype=object)) if shape else 0
    small = size <= 2**20 and isinstance(table, (CountTable, np.ndarray)) and size > 0
    reference = np.arange(size).reshape(shape) if small else None
    return wide_tree(table, budget, reference=reference, **arguments)


def learned_lazily(table: Any, budget: Budget, **arguments: Any) -> Published:
    """As if the table were too large to be measured as a whole."""
    with (
        patch.object(sys.modules["sudare.tables.mechanisms.wide_tree"], "MAX_DENSE_BITS", -1),
        patch.object(visited_level, "MIN_NODES", 30),
    ):
        return wide_tree(table, budget, estimate="learned", **arguments)


def learned_by_parts(table: Any, budget: Budget, **arguments: Any) -> Published:
    """As if there were too many visited nodes, too."""
    with patch.object(lazy_learning, "MAX_CHILDREN", 4), patch.object(thin_levels, "SAMPLE", 4):
        return learned_lazily(table, budget, **arguments)


def weighed_on_a_reference(table: Any, budget: Budget, **arguments: Any) -> Published:
    """A reference that depends on the shape alone: a hundred people in the first cell."""
    shape = table.domain.shape if isinstance(table, CountTable) else np.shape(table)
    is_table = isinstance(table, (CountTable, np.ndarray)) and len(shape) > 0
    reference = CountTable.from_cells(Domain.of_shape(shape), [0], [100]) if is_table else None
    return negative_l2(table, budget, reference=reference, **arguments)


def by_hierarchy(table: Any, budget: Budget, **arguments: Any) -> Published:
    return topdown(with_hierarchy(table), budget, **arguments)


def with_hierarchy(table: Any) -> Any:
    """The same counts over a domain whose first axis has three levels: all, groups of about the root of its length, places."""
    if isinstance(table, np.ndarray) and table.ndim:
        table = CountTable.from_dense(table)
    if isinstance(table, CountTable):
        domain = table.domain
        length = domain.shape[0]
        groups = np.arange(length) // (isqrt(length) or 1)
        area = Hierarchy.from_levels("area", {"group": groups, "area": np.arange(length)})
        table = CountTable(Domain((area, *domain.attributes[1:])), table.keys, table.counts)
    return table


def tree_of_hierarchy(table: Any, budget: Budget, **arguments: Any) -> Published:
    """As above where the rest of the axes are short enough to be attributes; else as it is."""
    shape = table.domain.shape if isinstance(table, CountTable) else np.shape(table)
    is_small = len(shape) > 0 and shape[0] <= 2**16 and max(shape[1:], default=1) <= 64
    return margin_tree(with_hierarchy(table) if is_small else table, budget, **arguments)


def as_categories(table: Any) -> Any:
    """The same counts over attributes without places, where they are few enough for that."""
    if isinstance(table, np.ndarray) and table.ndim:
        table = CountTable.from_dense(table)
    if isinstance(table, CountTable) and max(table.domain.shape) <= 64 and len(table.domain.attributes) <= 8:
        attributes = (Category(a.name, tuple(range(length))) for a, length in zip_shape(table.domain))
        return CountTable(Domain(tuple(attributes)), table.keys, table.counts)
    return table


def zip_shape(domain: Domain) -> list[tuple[Any, int]]:
    return list(zip(domain.attributes, domain.shape, strict=True))


def attributes_alone(table: Any, budget: Budget, **arguments: Any) -> Published:
    return margin_tree(as_categories(table), budget, **arguments)


HALVES = ("total", *(f"halves of areas of 2**{height} cells" for height in (4, 3, 2, 1)))
AREAS = ("total", "areas of 2**3 cells", "areas of 2**2 cells", "areas of 2**1 cells", "cells")
LEVELS = ("total", "total by axis 1", "group", "group by axis 1", "area", "cells")
CASES = {
    "nn_wavelet": Case(nn_wavelet, is_lazy=True, measures=HALVES),
    "nn_wavelet, vertical": Case(partial(nn_wavelet, pruning="vertical"), measures=HALVES),
    "nn_wavelet, horizontal": Case(partial(nn_wavelet, pruning="horizontal"), measures=HALVES),
    "nn_wavelet, none": Case(partial(nn_wavelet, pruning="none"), measures=HALVES),
    "wide_tree": Case(wide_tree, is_lazy=True, measures=("total", "cells")),
    "wide_tree, least squares": Case(
        partial(wide_tree, estimate="least-squares"), is_lazy=True, measures=("total", "cells")
    ),
    "wide_tree, learned": Case(partial(wide_tree, estimate="learned"), is_lazy=True, measures=("total", "cells")),
    "wide_tree, learned lazily": Case(learned_lazily, is_lazy=True, measures=("total", "cells")),
    "wide_tree, learned by parts": Case(learned_by_parts, is_lazy=True, measures=("total", "cells")),
    "wide_tree, reference": Case(with_public_reference, is_lazy=True, measures=("total", "cells")),
    "margin_tree": Case(margin_tree, takes_layout=False, measures=("total", "cells")),
    "margin_tree, least squares": Case(
        partial(margin_tree, estimate="least-squares"), takes_layout=False, measures=("total", "cells")
    ),
    "margin_tree, attributes alone": Case(attributes_alone, takes_layout=False, measures=("total", "cells")),
    "margin_tree, hierarchy": Case(tree_of_hierarchy, takes_layout=False, measures=LEVELS),
    "topdown_bisection": Case(topdown_bisection, is_lazy=True, measures=AREAS),
    "topdown": Case(by_hierarchy, takes_total=False, takes_layout=False, measures=()),
    "laplace": Case(laplace, ("laplace",), False, False, False, False, measures=("cells",), is_signed=True),
    "laplace, threshold": Case(
        partial(laplace, threshold=1), ("laplace",), False, False, False, False, measures=("cells",), is_cut_off=True
    ),
    "laplace, counts": Case(
        partial(laplace, refine="counts"), ("laplace",), False, False, False, False, measures=("cells",)
    ),
    "gaussian": Case(gaussian, ("gaussian",), False, False, False, False, measures=("cells",), is_signed=True),
    "gaussian, threshold": Case(
        partial(gaussian, threshold=1), ("gaussian",), False, False, False, False, measures=("cells",), is_cut_off=True
    ),
    "gaussian, counts": Case(
        partial(gaussian, refine="counts"), ("gaussian",), False, False, False, False, measures=("cells",)
    ),
    "privelet": Case(privelet, is_refined=False, takes_total=False, measures=("Haar coefficients",), is_signed=True),
    "privelet, counts": Case(
        partial(privelet, refine="counts"), is_refined=False, takes_total=False, measures=("Haar coefficients",)
    ),
    "negative_l2": Case(negative_l2, takes_layout=False, is_lazy=True, measures=("total", "cells")),
    "negative_l2, reference": Case(
        weighed_on_a_reference, takes_layout=False, is_lazy=True, measures=("total", "cells")
    ),
    "simplex": Case(simplex, takes_layout=False, is_lazy=True, measures=("total", "cells")),
    "lasso": Case(lasso, takes_layout=False, is_lazy=True, measures=("total", "cells")),
    "lasso, weight": Case(partial(lasso, weight=0.001), takes_layout=False, measures=("total", "cells")),
    "lm": Case(lm, takes_layout=False, measures=("total", "cells")),
    "histogram": Case(histogram, takes_layout=False, measures=("cells",)),
    "histogram, prefixes": Case(
        partial(histogram, workload="prefixes"), takes_layout=False, measures=("blocks of 2**3 cells", "cells")
    ),
    "histogram, cells": Case(
        partial(histogram, workload="cells"), is_refined=False, takes_layout=False, measures=("cells",)
    ),
    "adaptive_margins": Case(
        partial(adaptive_margins, rounds=4), names_noise=False, takes_layout=False, is_modelled=True
    ),
    "publish": Case(publish, names_noise=False, takes_layout=False, is_lazy=True),
}
ALL = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))


def those(chosen: Callable[[Case], bool]) -> pytest.MarkDecorator:
    some = {name: case for name, case in CASES.items() if chosen(case)}
    return pytest.mark.parametrize("case", some.values(), ids=list(some))


def test_every_mechanism_is_among_them() -> None:
    assert set(mechanism_names()) <= {name.partition(",")[0].replace("_", "-") for name in CASES}


SHAPES = st.lists(st.integers(1, 9), min_size=1, max_size=3).map(tuple)
TABLES = SHAPES.flatmap(
    lambda shape: arrays.arrays(np.int64, shape, elements=st.sampled_from([0, 0, 0, 1, 2, 40, 1000]))
)
MODEL_PRECISION = 1e-3
"""Of the people, how far a model may stay from what it is fitted to."""

BUDGETS = [Budget(epsilon=1), Budget(epsilon=0.01), Budget(epsilon=1, delta=1e-6), Budget(rho=0.1)]


def noise_of(event: ReleaseEvent) -> list[Any]:
    """The measurements of an event that add noise to counts: all but choices."""
    return [m for m in event.measurements if not isinstance(m, SelectionMeasurement)]


def least_noise(case: Case, table: np.ndarray) -> Budget:
    """A budget with which the smallest scale is just above the smallest that samplers take, 1/1000.

    Gaussian noise is narrow enough much earlier: with a sigma of 1/8 a draw is other than 0 once in 10**13.
    """
    if "laplace" not in case.kinds:
        return Budget(rho=1).times(32)
    scales: list[Any] = [m.scale for m in noise_of(case(table, Budget(epsilon=1)).event)]
    return Budget(epsilon=1).times(Fraction(min(scales)) * 900)


def require_the_same_with_any_threads(case: Case, shape: tuple[int, int]) -> None:
    counts = np.random.default_rng(3).integers(0, 300, size=shape)
    budget = case.budgets()[0]
    tables = [case(counts, budget, entropy=ResearchEntropy(4), threads=t).table for t in (1, 2, 5)]
    assert tables[0] == tables[1] == tables[2]
    assert np.corrcoef(tables[0].to_dense().ravel(), counts.ravel())[0, 1] > 0.2


@those(lambda case: not case.is_modelled)
def test_the_table_of_a_seed_does_not_depend_on_the_number_of_threads(case: Case) -> None:
    require_the_same_with_any_threads(case, (150, 100))


@those(lambda case: case.is_modelled)
@pytest.mark.parametrize("shape", [(30, 20), pytest.param((150, 100), marks=pytest.mark.deep)], ids=str)
def test_the_model_of_a_seed_does_not_depend_on_the_number_of_threads(case: Case, shape: tuple[int, int]) -> None:
    require_the_same_with_any_threads(case, shape)


@ALL
class TestTableMechanism:
    @settings(max_examples=12)
    @given(counts=TABLES, seed=st.integers(0, 10**6), data=st.data())
    def test_whole_non_negative_counts_within_the_domain(
        self, case: Case, counts: np.ndarray, seed: int, data: st.DataObject
    ) -> None:
        """Also for shapes that are no powers of two: the padding gets nobody. Signed tables are of a type of their own."""
        budget = data.draw(st.sampled_from(case.budgets()))
        published, _ = case(counts, budget, entropy=ResearchEntropy(seed))
        assert published.domain.shape == counts.shape
        assert published.counts.dtype == np.int64
        assert type(published) is (SignedTable if case.is_signed else CountTable)
        assert (published.counts != 0).all() if case.is_signed else (published.counts > 0).all()
        assert published.to_dense().sum() == published.total

    @settings(max_examples=8)
    @given(counts=TABLES)
    def test_with_hardly_any_noise_the_table_comes_back(self, case: Case, counts: np.ndarray) -> None:
        published, _ = case(counts, least_noise(case, counts))
        apart = np.abs(published.to_dense() - counts)
        assert apart.max() <= (1 + counts.sum() * MODEL_PRECISION if case.is_modelled else 0)

    def test_event_costs_the_budget_given(self, case: Case) -> None:
        unit = Unit("household", cells=2)
        counts = np.arange(64).reshape(8, 8)
        for budget in case.budgets():
            event = case(counts, budget, unit=unit).event
            assert event.cost == budget
            assert event.unit == unit
            assert event.is_private
            assert event.invariants == ()
            spent: list[Any] = list(event.measurements)
            if budget.currency == "rho":
                assert sum(m.rho for m in spent) == budget.rho
            if budget.currency == "epsilon":
                assert sum(m.epsilon for m in spent) == budget.epsilon

    @pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
    def test_units_that_touch_several_cells_need_more_noise(self, case: Case, adjacency: Any) -> None:
        counts = np.zeros((4, 4), dtype=int)
        budget = case.budgets()[-1]

        def noise(unit: Unit) -> list[Any]:
            # Without a plan of its own: one for wider noise may divide the budget otherwise.
            settings = {"method": "nn-wavelet"} if case.call is publish else {}
            event = case(counts, budget, unit=unit, **settings).event
            return [getattr(m, "sigma_squared", None) or m.scale**2 for m in noise_of(event)]

        one, three = noise(Unit(adjacency=adjacency)), noise(Unit(cells=3, adjacency=adjacency))
        for a, b in zip(one, three, strict=True):
            assert b in (3 * a, 9 * a)  # cells one by one, or all three in one node
        if case.is_refined:
            assert three[0] == 9 * one[0]

    def test_the_same_seed_gives_the_same_table(self, case: Case) -> None:
        counts = np.arange(256).reshape(16, 16)
        budget = case.budgets()[0]
        first, again, other = (case(counts, budget, entropy=ResearchEntropy(s)) for s in (1, 1, 2))
        assert first.table == again.table
        assert first.table != other.table
        assert not first.event.is_private

    @pytest.mark.parametrize("shape", [(1,), (1, 1), (2,), (1, 7), (3, 1, 2)])
    def test_tiny_domains(self, case: Case, shape: tuple[int, ...]) -> None:
        for value in (0, 5):
            for budget in case.budgets()[:1]:
                assert case(np.full(shape, value), budget).table.domain.shape == shape

    def test_a_table_without_cells_that_are_not_empty(self, case: Case) -> None:
        """What noise makes of the total is left; a cut at 0 publishes many empty cells."""
        budget = Budget(epsilon=20) if "laplace" in case.kinds else Budget(rho=5)
        published = case(CountTable.from_cells(Domain.of_shape((64, 64)), [], []), budget)
        if not case.is_cut_off:
            assert abs(published.table.total) < 50

    def test_huge_counts(self, case: Case) -> None:
        counts = np.zeros((4, 4), dtype=np.int64)
        counts[1, 2] = 2**60
        budget = Budget(epsilon=1) if "laplace" in case.kinds else Budget(rho=1)
        published = case(counts, budget)
        assert abs(published.table.total - 2**60) < 5000
        assert abs(int(published.to_dense()[1, 2]) - 2**60) < (2**60 * MODEL_PRECISION if case.is_modelled else 5000)

    def test_totals_at_the_end_of_what_can_be_counted(self, case: Case) -> None:
        """Counts have a largest total: noise that would lead beyond is cut off, without an error. Signed tables need no cut."""
        budget = Budget(epsilon=0.002) if "laplace" in case.kinds else Budget(rho=0.000002)
        totals = [case(np.array([2**62, 0]), budget).table.total for _ in range(10)]
        assert (max(totals) > 2**62) if case.is_signed else (max(totals) <= 2**62)
        assert min(totals) > 2**61

    @pytest.mark.parametrize(
        "table",
        [[1, 2], None, "x", np.array([-1, 2]), np.array([1.5]), np.array([np.nan]), np.array(5), np.array(["a"])],
    )
    def test_what_is_no_table(self, case: Case, table: Any) -> None:
        with pytest.raises(ParameterError):
            case(table, case.budgets()[0])

    def test_arguments_are_refused_before_anything_is_drawn(self, case: Case) -> None:
        """The source has no words: a draw would raise another error."""
        source, counts, budget = ScriptedEntropy([]), np.ones((4, 4), dtype=int), case.budgets()[0]
        wrong: list[dict[str, Any]] = [
            {"unit": 5},
            {"threads": 0},
            {"threads": 1.5},
            {"keep_measurements": "yes"},
            {"public_total": 17},
            {"public_total": "yes"},
            {"layout": "spiral"},
            {"layout": "sorted"},
        ]
        if case.names_noise:
            wrong.append({"noise": "pink"})
        for arguments in wrong:
            with pytest.raises((SudareError, TypeError)) as caught:
                case(counts, budget, entropy=source, **arguments)
            takes = {"public_total": case.takes_total, "layout": case.takes_layout}.get(next(iter(arguments)), True)
            # Python itself refuses what a function has no parameter for.
            refused = GuaranteeError if arguments.get("layout") == "sorted" else ParameterError
            assert isinstance(caught.value, refused) or not takes
            assert source.read == 0
        with pytest.raises(SudareError):
            case(counts, 1.0, entropy=source)
        for tiny in (Budget(epsilon=1), Budget(rho=1)):
            if kind_of(tiny) in case.kinds:
                with pytest.raises(SudareError):
                    case(counts, tiny.times(Fraction(1, 10**26)), entropy=source)
        assert source.read == 0
        with pytest.raises(ParameterError, match="The 'entropy' parameter"):
            case(counts, budget, entropy=42)

    def test_measurements_are_kept_on_request(self, case: Case) -> None:
        counts = np.arange(16).reshape(4, 4) * 50
        budget = case.budgets()[0]
        assert case(counts, budget).measurements is None
        published = case(counts, budget, keep_measurements=True)
        kept = published.measurements
        assert kept is not None
        assert [m.measurement for m in kept] == noise_of(published.event)
        if case.measures:
            assert tuple(m.name for m in kept) == case.measures
        assert len({m.name for m in kept}) == len(kept)
        for noisy in kept:
            assert noisy.keys.size == noisy.values.size > 0
            assert noisy.keys.max() < 16

    def test_measurements_are_the_truth_and_the_noise_stated(self, case: Case) -> None:
        """With hardly any noise they are the truth, here the total and the cells; with noise they are not."""
        counts = np.arange(1, 17).reshape(4, 4) * 50
        for budget, is_exact in ((least_noise(case, counts), True), (case.budgets()[0], False)):
            kept = case(counts, budget, keep_measurements=True).measurements
            assert kept is not None
            # What a plan gives to the total is less than it needs to be exact; the cells are always measured well.
            cells = [m for m in kept if m.name == "cells" or m.name.endswith("axis 1 by area")]
            for noisy in cells:
                found = dict(zip(noisy.keys.tolist(), noisy.values.tolist(), strict=True))
                assert (found == dict(enumerate(counts.ravel().tolist()))) is is_exact
            totals = [m for m in kept if m.name == "total" and case.call is not publish]
            for noisy in totals:
                assert (noisy.values.tolist() == [counts.sum()]) or not is_exact

    def test_guarantees_that_cannot_be_given(self, case: Case) -> None:
        counts = np.ones((4, 4), dtype=int)
        if case.names_noise:
            with pytest.raises(GuaranteeError, match="delta"):
                case(counts, Budget(epsilon=1), noise="gaussian")
            with pytest.raises(SudareError):
                case(counts, Budget(rho=1), noise="laplace")
            with pytest.raises(SudareError):
                case(counts, Budget(epsilon=1, delta=1e-6), noise="gaussian", conversion="gaussian")
        elif case.kinds == ("laplace",):
            with pytest.raises(SudareError, match="epsilon"):
                case(counts, Budget(rho=1))
        elif case.kinds == ("gaussian",):
            with pytest.raises(GuaranteeError, match="delta"):
                case(counts, Budget(epsilon=1))


@those(lambda case: case.is_signed)
class TestSignedTables:
    """Noise as it is drawn: the total is right on average, with exactly the variance that the noise gives it."""

    def test_the_total_has_no_bias_and_the_variance_stated(self, case: Case) -> None:
        counts, runs = np.zeros((16, 8), dtype=np.int64), 800
        counts[3, 4] = 5
        budget = Budget(rho=0.5) if "gaussian" in case.kinds else Budget(epsilon=1)
        made = [case(counts, budget, entropy=ResearchEntropy(seed)) for seed in range(runs)]
        measurement: Any = made[0].event.measurements[0]
        # A sum of noise on all cells, or Privelet's one noisy total where nothing is padded.
        added = 1 if case is CASES["privelet"] else counts.size
        variance = added * float(variance_of(measurement))
        errors = np.array([one.table.total - 5 for one in made], dtype=float)
        assert abs(errors.mean()) < norm.isf(1e-7) * (variance / runs) ** 0.5
        statistic = float((errors**2).sum()) / variance
        low, high = chi2.ppf(1e-7, runs), chi2.isf(1e-7, runs)
        assert low < statistic < high
        assert not low < statistic / 1.6 < high
        cut_off = np.mean([np.maximum(one.to_dense(), 0).sum() - 5 for one in made])
        assert cut_off > 4 * norm.isf(1e-7) * (variance / runs) ** 0.5

    def test_below_0_as_often_as_above(self, case: Case) -> None:
        counts = np.zeros((64, 64), dtype=np.int64)
        table = case(counts, case.budgets()[-1], entropy=ResearchEntropy(3)).table
        negative = float((table.counts < 0).mean())
        assert 0.4 < negative < 0.6

    def test_it_is_written_shown_and_evaluated(self, case: Case) -> None:
        counts = np.zeros((16, 16), dtype=np.int64)
        published = case(counts, case.budgets()[0])
        assert published.is_signed
        assert "Negative cells" in published._repr_html_()
        assert published.to_frame("pyarrow")["count"].to_pylist() == published.table.counts.tolist()
        assert measure_errors(counts, published).total_error == published.table.total
        with pytest.raises(ParameterError, match="a CountTable"):
            case(published.table, case.budgets()[0])
        with pytest.raises(ParameterError, match="The 'reference' parameter"):
            publish(counts, Budget(epsilon=1), reference=published.table)  # type: ignore[arg-type]


@those(lambda case: case.takes_total)
class TestPublicTotal:
    @settings(max_examples=10)
    @given(counts=TABLES.filter(lambda counts: counts.size > 1), seed=st.integers(0, 10**6))
    def test_it_is_exact(self, case: Case, counts: np.ndarray, seed: int) -> None:
        for given_total in (True, int(counts.sum())):
            published = case(counts, Budget(epsilon=0.3), public_total=given_total, entropy=ResearchEntropy(seed))
            assert published.table.total == counts.sum()
            assert published.event.invariants == ("total",)

    def test_it_is_said_and_costs_the_budget(self, case: Case) -> None:
        counts = np.arange(64).reshape(8, 8)
        for budget in case.budgets():
            published = case(counts, budget, public_total=True, unit=Unit("household", cells=2), keep_measurements=True)
            event, kept = published.event, published.measurements
            assert event.unit == Unit("household", cells=2, adjacency="replace")
            assert event.cost == budget
            assert kept is not None
            assert "total" not in [noisy.name for noisy in kept]

    def test_another_number_is_refused_without_saying_the_right_one(self, case: Case) -> None:
        counts = np.full((4, 4), 26515)
        for wrong in (424241, 424239, 0):
            with pytest.raises(ParameterError, match="The 'public_total' parameter") as caught:
                case(counts, Budget(epsilon=1), public_total=wrong, entropy=ScriptedEntropy([]))
            assert "424240" not in str(caught.value)

    def test_one_cell_alone_has_nothing_to_hide_behind(self, case: Case) -> None:
        with pytest.raises(ParameterError, match="public_total"):
            case(np.array([7]), Budget(epsilon=1), public_total=True)

    def test_nobody_at_all(self, case: Case) -> None:
        assert case(np.zeros((4, 4), dtype=int), Budget(epsilon=1), public_total=0).table.total == 0


@those(lambda case: case.takes_layout)
def test_layouts(case: Case) -> None:
    counts = np.arange(64).reshape(8, 8)
    for name in ("morton", "raster", "hilbert", "random", "random:18446744073709551615"):
        by_name, direct = (
            case(counts, Budget(epsilon=1), layout=layout, entropy=ResearchEntropy(1))
            for layout in (name, layout_named(name, (8, 8)))
        )
        assert by_name.table == direct.table
    assert case(counts, Budget(epsilon=1), layout=raster_layout((8, 8))).table.total > 0
    with pytest.raises(GuaranteeError, match="looks at the counts"):
        case(counts, Budget(epsilon=1), layout="sorted", entropy=ScriptedEntropy([]))
    with pytest.raises(ParameterError, match=r"square.*Morton layout takes any shape"):
        case(counts[:, :6], Budget(epsilon=1), layout="hilbert", entropy=ScriptedEntropy([]))
    for wrong in (morton_layout((8, 4)), "random:x", "random:18446744073709551616", 5, np.array([424242, 0, 3, 4])):
        with pytest.raises(ParameterError, match="The 'layout' parameter") as caught:
            case(counts, Budget(epsilon=1), layout=wrong)
        assert "424242" not in str(caught.value)


@those(lambda case: case.is_refined)
def test_sums_agree_at_every_level(case: Case) -> None:
    """The published total is the noisy one cut off at 0, where the levels below have no say in it."""
    counts = np.arange(64).reshape(8, 8)
    for seed in range(5):
        for people in (counts, np.zeros_like(counts)):
            published = case(people, Budget(epsilon=1), entropy=ResearchEntropy(seed), keep_measurements=True)
            kept = {noisy.name: noisy for noisy in published.measurements or ()}
            alone = case in (
                CASES["nn_wavelet"],
                CASES["nn_wavelet, none"],
                CASES["wide_tree"],
                CASES["topdown_bisection"],
            )
            if alone:
                assert published.table.total == max(0, int(kept["total"].values[0]))
            if case is CASES["topdown"]:
                for level in ("all", "group", "area"):
                    assert table_at_level(published, level).total == published.table.total


def huge_table() -> CountTable:
    keys = np.array([5, 2**40 + 3, 2**59], dtype=np.uint64)
    return CountTable.from_cells(Domain.of_shape((2**30, 2**30)), keys, [10**6, 10**6, 10**6])


@those(lambda case: case.is_lazy)
def test_a_huge_domain_costs_by_what_is_published(case: Case) -> None:
    table = huge_table()
    published, _ = case(table, Budget(epsilon=20))
    assert set(table.keys.tolist()) <= set(published.keys.tolist())
    assert len(published.keys) < 10_000


@those(lambda case: not case.is_lazy and case.call is not by_hierarchy)
def test_a_huge_domain_is_refused_where_every_cell_would_be_visited(case: Case) -> None:
    """Before anything is drawn, and before the memory is asked for."""
    budget = Budget(epsilon=20) if "laplace" in case.kinds else Budget(rho=5)
    with pytest.raises(ParameterError, match="cells"):
        case(huge_table(), budget, entropy=ScriptedEntropy([]))


@pytest.mark.parametrize("shape", [(16,), (5, 7), (3, 3, 3), (1,)])
@pytest.mark.parametrize("public_total", [False, True])
def test_eager_orders_give_the_same_table_for_the_same_noise(shape: tuple[int, ...], public_total: bool) -> None:
    if shape == (1,) and public_total:
        return
    counts = np.random.default_rng(6).integers(0, 9, size=shape)
    for seed in range(5):
        tables = [
            nn_wavelet(
                counts,
                Budget(epsilon=1),
                pruning=pruning,
                public_total=public_total,
                entropy=ResearchEntropy(seed),
            ).table
            for pruning in ("vertical", "horizontal", "none")
        ]
        assert tables[0] == tables[1] == tables[2]


def test_on_small_tables_there_is_nothing_to_learn() -> None:
    """Fewer than 500 places: learned estimates are those of least squares, and other ones where there are more."""

    def both(side: int) -> list[Any]:
        counts = np.zeros((side, side), dtype=np.int64)
        counts[:, : side // 2] = 40
        ways: list[Any] = ["least-squares", "learned"]
        return [wide_tree(counts, Budget(epsilon=0.1), estimate=way, entropy=ResearchEntropy(8)).table for way in ways]

    small, large = both(16), both(64)
    assert small[0] == small[1]
    assert large[0] != large[1]


@pytest.mark.parametrize("bits", [(4,), (4, 4, 4), (0, 8), (13,), "44", (4.0, 4), None.__class__])
def test_bits_add_up_to_the_depth(bits: Any) -> None:
    with pytest.raises(ParameterError, match="The 'bits' parameter of wide_tree"):
        wide_tree(np.ones((16, 16), dtype=int), Budget(epsilon=1), bits=bits)


@pytest.mark.parametrize("weights", [(1, 1), (1, 1, 0), (1, 1, -1), (1, 1, float("nan")), "111", (1, 1, True)])
def test_weights_are_one_for_each_level(weights: Any) -> None:
    with pytest.raises(SudareError):
        wide_tree(np.ones((16, 16), dtype=int), Budget(epsilon=1), bits=(4, 4), weights=weights)


def test_weights_divide_the_budget() -> None:
    event = wide_tree(np.ones((16, 16), dtype=int), Budget(epsilon=1), bits=(2, 6), weights=(1, 3, 6)).event
    spent: list[Any] = list(event.measurements)
    assert [m.epsilon for m in spent] == [Fraction(1, 10), Fraction(3, 10), Fraction(6, 10)]


def test_an_extreme_weight_is_refused_before_anything_is_drawn() -> None:
    with pytest.raises(ParameterError, match=r"number from 0\.001 to"):
        wide_tree(
            np.zeros(16, dtype=int), Budget(epsilon=1), bits=(4,), weights=(10**13, 1), entropy=ScriptedEntropy([])
        )


@pytest.mark.parametrize("estimate", ["exact", None, 3, ["plain"]])
def test_estimates_that_there_are_not(estimate: Any) -> None:
    with pytest.raises(ParameterError, match="The 'estimate' parameter of wide_tree"):
        wide_tree(np.ones(4, dtype=int), Budget(epsilon=1), estimate=estimate)


def test_a_reference_costs_nothing_and_has_the_shape_of_the_table() -> None:
    counts = np.random.default_rng(2).integers(0, 90, size=(16, 16))
    events = [
        wide_tree(counts, Budget(rho=0.1), noise="gaussian", estimate="least-squares", reference=reference).event
        for reference in (None, counts.copy(), CountTable.from_dense(counts))
    ]
    assert events[0] == events[1] == events[2]
    assert all(isinstance(m, GaussianMeasurement) for m in events[0].measurements)
    wrong: list[Any] = [
        counts,
        counts[:8],
        counts.ravel(),
        CountTable.from_dense(counts[:, :4]),
        "last census",
        -counts - 1,
    ]
    for reference in wrong:
        with pytest.raises(ParameterError) as caught:
            wide_tree(counts, Budget(epsilon=1), reference=reference, entropy=ScriptedEntropy([]))
        assert caught.value.parameter in ("reference", "array")
