"""The automatic choice of adaptive margins: by public facts alone, and with words for what it does."""

from __future__ import annotations

import numpy as np
import pytest

import sudare
from sudare.accuracy import predict_accuracy
from sudare.releases.kinds.counts.page_words import of_mechanism
from sudare.tables.adaptive import suitability

ONE = sudare.Budget(epsilon=1)
SURVEY = sudare.Domain.of_shape((9, 16, 7, 15, 6, 5, 2, 2))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> sudare.CountTable:
    """A table of many attributes that is quickly published; more cells than are taken for many here."""
    monkeypatch.setattr(suitability, "MANY_CELLS", 500)
    domain = sudare.Domain(tuple(sudare.Category(name, ("x", "y", "z")) for name in "abcdef"))
    places = np.random.default_rng(0).integers(3, size=(6, 400))
    keys, counts = np.unique(domain.keys_at(*places), return_counts=True)
    return sudare.CountTable.from_cells(domain, keys, counts)


@pytest.mark.parametrize("budget", [ONE, sudare.Budget(rho=0.1), sudare.Budget(epsilon=1, delta=1e-6)], ids=str)
def test_which_tables(budget: sudare.Budget) -> None:
    plan = sudare.plan_table(SURVEY, budget)
    assert plan.mechanism == "adaptive-margins"
    assert plan.noise == ("laplace" if budget == ONE else "gaussian")
    assert sudare.plan_table(SURVEY, budget, with_reference=True).mechanism == "wide-tree"
    assert sudare.plan_table(SURVEY, budget, workload="cells").mechanism == "wide-tree"
    assert sudare.plan_table(sudare.Domain.of_shape((2,) * 40), budget).mechanism == "wide-tree", "too many margins"


def test_a_plan_is_carried_out(small: sudare.CountTable) -> None:
    published = sudare.publish(small, ONE)
    assert published.event.mechanism == "adaptive-margins"
    assert published.event.cost == ONE
    assert published.plan == sudare.plan_table(small.domain, ONE)
    exact = sudare.publish(small, ONE, public_total=True)
    assert (exact.event.mechanism, exact.table.total) == ("adaptive-margins", 400)
    assert sudare.publish(small, ONE, reference=small.to_dense() + 1).event.mechanism == "wide-tree"


def test_the_plan_does_not_depend_on_the_counts(small: sudare.CountTable) -> None:
    nobody = sudare.CountTable.from_cells(small.domain, [], [])
    assert sudare.plan_table(nobody, ONE) == sudare.plan_table(small, ONE)


def test_accuracy_is_tried_on_one_stand_in(small: sudare.CountTable) -> None:
    predicted = predict_accuracy(small.domain, ONE, people=400)
    assert predicted.errors[-1].kind == "total"


def test_words() -> None:
    plan = sudare.plan_table(SURVEY, ONE)
    assert "depends on the data" in plan.explain()
    assert "データに依存" in plan.explain("ja")
    assert all(reason.japanese != reason.english for reason in plan.reasons)
    assert of_mechanism(plan.mechanism).japanese != plan.mechanism
