"""Each erratum names a test that exists, and the tests show what the papers print to be wrong."""

from __future__ import annotations

import ast
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare import Budget, CountTable, Unit
from sudare.privacy import rho_to_epsilon, sensitivity_of_counts
from sudare.refine import negative_l2, project_on_simplex
from sudare.tables import PreparedTree, nn_wavelet, privelet
from sudare_papers import errata
from sudare_papers.erratum import Erratum

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("erratum", errata.ERRATA, ids=lambda x: f"{x.paper}, {x.place.english}")
def test_every_erratum_has_its_test(erratum: Erratum) -> None:
    file, function = erratum.test.split("::")
    functions = [
        node.name for node in ast.walk(ast.parse((ROOT / file).read_text())) if isinstance(node, ast.FunctionDef)
    ]
    assert function in functions


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_page_tells_all(language: str) -> None:
    page = errata.page(language)
    for erratum in errata.ERRATA:
        assert erratum.holds.explain(language) in page
        assert erratum.printed.explain(language) in page


def test_rho_adds_up_and_epsilon_grows_like_its_root() -> None:
    """A hundred looks of rho each: a hundred rho, and by the paper's equation about ten times the epsilon."""
    looks, rho = 100, Decimal("1e-6")
    one, all_of_them = (float(rho_to_epsilon(x, Decimal("1e-6"), "simple")) for x in (rho, looks * rho))
    assert 9.9 < all_of_them / one < 10.1
    table = CountTable.from_dense(np.full((16, 16), 5))
    _, event = nn_wavelet(table, Budget(rho=Decimal("0.09")), noise="gaussian")
    costs = [measurement.rho for measurement in event.measurements]
    assert len(costs) == 9
    assert sum(costs) <= Decimal("0.09")
    assert all(abs(float(cost) - 0.01) < 1e-9 for cost in costs)


def test_kanto_in_random_order() -> None:
    pruned, unpruned, ratio, saved = 14.9, 11.6, 128.8, -28.2
    assert round(100 - ratio, 1) == -28.8 != saved
    assert round(100 * (unpruned - pruned) / unpruned, 1) == -28.4
    extremes = [100 * (1 - a / b) for a, b in ((pruned - 0.05, unpruned + 0.05), (pruned + 0.05, unpruned - 0.05))]
    assert [round(x, 1) for x in extremes] == [-27.5, -29.4]


@pytest.mark.parametrize(("side", "total"), [(512, "1.9"), (256, "1.7")])
def test_what_a_parameter_of_each_level_costs_in_all(side: int, total: str) -> None:
    """A tree that is made for the total has noise of scale 1 / 0.1 on every level."""
    tree = PreparedTree.draw(np.ones((side, side), dtype=np.int64), Budget(epsilon=Decimal(total)))
    scales = {measurement.scale for measurement in tree.event.measurements}  # type: ignore[attr-defined]
    assert scales == {10}


def objective(b: np.ndarray, z: np.ndarray, weight: float) -> float:
    return float(((z - b) ** 2).sum() - weight * (b**2).sum())


@given(
    st.lists(st.integers(-30, 60), min_size=2, max_size=8).map(lambda x: np.array(x, dtype=float)),
    st.integers(1, 100),
    st.sampled_from([0.05, 0.1, 0.12]),
    st.integers(0, 2**32),
)
def test_gamma_is_one_minus_lambda(z: np.ndarray, total: int, weight: float, seed: int) -> None:
    """No other point of the simplex does better than the projection of z / (1 - lambda)."""
    best = project_on_simplex(z / (1 - weight), total)
    np.testing.assert_allclose(negative_l2(z, total, weight), best, atol=1e-9)
    others = np.random.default_rng(seed).dirichlet(np.full(z.size, 0.5), 20) * total
    assert all(objective(best, z, weight) <= objective(other, z, weight) + 1e-6 for other in others)


def test_the_printed_gamma_is_not_best() -> None:
    z, total, weight = np.array([9.0, 6.0, 3.0]), 12, 0.1
    printed = project_on_simplex(z / (1 - z.size * weight), total)
    assert objective(negative_l2(z, total, weight), z, weight) < objective(printed, z, weight) - 0.1


def test_lasso_on_the_simplex_is_the_projection() -> None:
    """The penalty is the same number everywhere on the simplex, so it cannot change where the smallest sum is."""
    generator = np.random.default_rng(1)
    z, total = generator.normal(0, 5, 6), 10.0
    best = project_on_simplex(z, total)
    for weight in (0.0, 1.0, 100.0):
        others = generator.dirichlet(np.full(6, 0.5), 500) * total
        values = ((others - z) ** 2).sum(axis=1) + weight * np.abs(others).sum(axis=1)
        assert ((best - z) ** 2).sum() + weight * np.abs(best).sum() <= values.min() + 1e-9


def test_what_an_exact_total_costs() -> None:
    assert sensitivity_of_counts(Unit()).l1 == 1
    assert sensitivity_of_counts(Unit(adjacency="replace")).l1 == 2


def test_the_noise_of_privelet_depends_on_cells_not_on_counts() -> None:
    for counts in (np.zeros(64, dtype=np.int64), np.full(64, 10**6)):
        _, event = privelet(counts, Budget(epsilon=1))
        (measurement,) = event.measurements
        assert measurement.scale == 7
    _, event = privelet(np.zeros(2**12, dtype=np.int64), Budget(epsilon=1))
    assert event.measurements[0].scale == 13


@pytest.mark.parametrize(
    ("low", "high", "leaving", "replaced"), [(0, 100, 100, 100), (20, 100, 100, 80), (-50, 30, 50, 80)]
)
def test_who_leaves_a_clipped_sum_takes_the_larger_limit(low: int, high: int, leaving: int, replaced: int) -> None:
    clipped = np.clip(np.arange(-300, 301), low, high)
    assert int(np.abs(clipped).max()) == leaving
    assert int(clipped.max() - clipped.min()) == replaced == high - low
