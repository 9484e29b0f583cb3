"""The whole call: exact costs, refusals before the first draw, sensitivity of scores, a model that agrees with its marginals."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare import Budget, ReleaseEvent, ResearchEntropy, Unit
from sudare.domain import Bins
from sudare.errors import GuaranteeError, InputError, MissingPackageError, ParameterError
from sudare.microdata.records import Records
from sudare.microdata.synthetic import Synthetic, synthesize
from sudare.privacy import epsilon_to_rho, sensitivity_of_counts
from sudare.privacy.measurements import GaussianMeasurement, SelectionMeasurement
from sudare.tables.adaptive.aim import weigh_candidates
from sudare.tables.adaptive.graphical_model import GraphicalModel
from sudare.tables.adaptive.measured import MeasuredPeople
from sudare.tables.adaptive.mst import merge_rare
from sudare.tables.adaptive.selecting import GRID, l1_scores, scaled_sensitivity
from tests.scripted import ScriptedEntropy

COLUMNS: dict[str, Any] = {"a": ["x", "y", "z"], "b": [0, 1], "c": [0, 1], "d": ["p", "q", "r", "s"]}


def people(rows: int = 400, seed: int = 1) -> Records:
    """d follows a, c follows b, the rest is chance."""
    generator = np.random.default_rng(seed)
    a, b = generator.integers(0, 3, rows), generator.integers(0, 2, rows)
    flip = generator.random(rows) < 0.1
    return Records.of_columns(
        {"a": np.array(["x", "y", "z"])[a], "b": b, "c": b ^ flip, "d": np.array(["p", "q", "r", "s"])[a + flip]}
    )


def made(method: Any, budget: Budget | None = None, seed: int = 1, **more: Any) -> tuple[Synthetic, ReleaseEvent]:
    return synthesize(people(), COLUMNS, budget or Budget(rho=1), method, entropy=ResearchEntropy(seed), **more)


@pytest.mark.parametrize("method", ["mst", "aim"])
@pytest.mark.parametrize("budget", [Budget(rho=0.3), Budget(rho=Fraction(1, 7)), Budget(epsilon=1, delta=1e-9)])
def test_the_event_covers_all_looks_and_wastes_nothing(method: str, budget: Budget) -> None:
    _, event = made(method, budget)
    rho = budget.rho if budget.currency == "rho" else epsilon_to_rho(budget.epsilon, budget.delta)
    spent = sum(measurement.rho for measurement in event.measurements)
    assert isinstance(spent, Fraction)
    assert rho * (1 - Fraction(1, 10**12)) < spent <= rho
    assert event.cost == budget
    assert event.mechanism == method
    assert ReleaseEvent.from_json(event.to_json()) == event


def test_mst_splits_in_thirds_exactly() -> None:
    _, event = made("mst", Budget(rho=1))
    noise = [m.rho for m in event.measurements if isinstance(m, GaussianMeasurement)]
    assert noise == [Fraction(1, 12)] * 4 + [Fraction(1, 9)] * 3
    assert sum(isinstance(m, SelectionMeasurement) for m in event.measurements) == 3


def test_aim_measures_every_column_first_and_then_anneals() -> None:
    result, event = made("aim", Budget(rho=2))
    assert [marginal.columns for marginal in result.marginals[:4]] == [("a",), ("b",), ("c",), ("d",)]
    costs = [m.rho for m in event.measurements if isinstance(m, GaussianMeasurement)]
    assert costs[:4] == [Fraction(9, 10) * 2 / 64] * 4
    assert all(later >= earlier for earlier, later in pairwise(costs[3:-1]))
    assert costs[-1] > costs[0]


@pytest.mark.parametrize("rounds", [1, 5, 40])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_aim_never_spends_more_whatever_the_rounds(rounds: int, seed: int) -> None:
    _, event = made("aim", Budget(rho=Fraction(1, 3)), seed, rounds=rounds)
    assert sum(measurement.rho for measurement in event.measurements) <= Fraction(1, 3)


@pytest.mark.parametrize("method", ["mst", "aim"])
@pytest.mark.parametrize(
    ("unit", "l1", "squared"),
    [(Unit(), 1, 1), (Unit.with_rows(3), 3, 9), (Unit(adjacency="replace"), 2, 2), (Unit(cells=2), 2, 4)],
)
def test_a_unit_with_several_rows_gets_the_noise_it_needs(method: str, unit: Unit, l1: int, squared: int) -> None:
    result, event = made(method, unit=unit)
    for measurement in event.measurements:
        if isinstance(measurement, GaussianMeasurement):
            assert measurement.l2_squared == squared
    assert event.unit == unit
    assert scaled_sensitivity(sensitivity_of_counts(unit, merged=True)) == l1 * GRID
    assert {m.sigma_squared for m in result.marginals} == {
        m.sigma_squared for m in event.measurements if isinstance(m, GaussianMeasurement)
    }


@pytest.mark.parametrize("method", ["mst", "aim"])
def test_the_same_seed_gives_the_same_people(method: str) -> None:
    one, other = (made(method, seed=5)[0] for _ in range(2))
    assert one.records.to_arrow().equals(other.records.to_arrow())
    assert not one.records.to_arrow().equals(made(method, seed=6)[0].records.to_arrow())


@pytest.mark.parametrize("method", ["mst", "aim"])
def test_people_model_and_measured_marginals_agree(method: str) -> None:
    result, _ = made(method, Budget(rho=5), rows=4000)
    assert result.records.rows == 4000
    assert set(result.records.column("d").labels) <= {"p", "q", "r", "s"}
    names = [column.name for column in result.columns]
    for marginal in result.marginals:
        clique = tuple(names.index(name) for name in marginal.columns)
        if len(clique) == 1:
            continue
        expected = result.model.marginal(clique)
        assert marginal.counts.shape == expected.shape
        deviation = float(marginal.sigma_squared) ** 0.5
        assert np.abs(expected - marginal.counts).max() < 6 * deviation + 3
    # What depends on each other in the data does in the rows.
    texts = {name: result.records.column(name).texts() for name in names}
    assert (texts["b"] == texts["c"]).mean() > 0.8


def test_rows_are_as_many_as_the_noisy_counts_say() -> None:
    result, _ = made("mst", Budget(rho=5))
    assert abs(result.records.rows - 400) < 40
    assert result.records.rows == round(result.model.total)


def test_nobody_and_one_column_work_too() -> None:
    nobody = Records.of_columns({"a": []})
    result, event = synthesize(nobody, {"a": ["x", "y"]}, Budget(rho=1), entropy=ResearchEntropy(1), rows=3)
    assert result.records.rows == 3
    assert sum(m.rho for m in event.measurements) == 1


def test_rare_values_share_a_place_and_come_back_as_one_of_them() -> None:
    assert merge_rare(np.array([90, 1, 80, 70]), Fraction(1)).tolist() == [0, 3, 1, 2]
    assert merge_rare(np.array([1, 2, -9]), Fraction(1)).tolist() == [0, 0, 0]
    assert merge_rare(np.array([3, 30]), Fraction(1)).tolist() == [0, 1]
    records = Records.of_columns({"v": ["0"] * 500 + ["1"] * 500, "w": ["0", "1"] * 500})
    columns = {"v": range(50), "w": range(2)}
    result, _ = synthesize(records, columns, Budget(rho=1), rows=1000, entropy=ResearchEntropy(3))
    kept = result.model.sizes[0]
    assert 3 <= kept < 8  # two values that people have, one place for the rest, and perhaps a few that noise lifted
    pair = result.marginals[-1]
    assert pair.counts.shape == (kept, 2)
    assert pair.places[0][:2].tolist() == [0, 1]
    assert np.bincount(pair.places[0]).tolist() == [1] * (kept - 1) + [51 - kept]
    values = np.array([int(text) for text in result.records.column("v").texts()])
    assert 900 < int((values < 2).sum()) < 1000


def test_bins_come_back_as_numbers_inside() -> None:
    records = Records.of_columns({"age": list(range(100)) * 4})
    result, _ = synthesize(records, {"age": Bins("age", (0, 20, 100))}, Budget(rho=1), entropy=ResearchEntropy(1))
    ages = np.array([int(text) for text in result.records.column("age").texts()])
    assert set(ages.tolist()) <= set(range(100))
    assert 0.1 < (ages < 20).mean() < 0.3


@given(st.integers(0, 2**32), st.integers(0, 30), st.integers(1, 3), st.sampled_from(["add-remove", "replace"]))
@settings(max_examples=60, deadline=None)
def test_one_unit_changes_no_score_by_more_than_stated(seed: int, rows: int, own: int, adjacency: Any) -> None:
    generator = np.random.default_rng(seed)
    sizes = [3, 2, 4]
    columns = [generator.integers(0, size, rows + own) for size in sizes]
    before = [column[:rows] for column in columns]
    if adjacency == "replace":
        before = [
            np.append(column[:rows], generator.integers(0, size, own))
            for column, size in zip(columns, sizes, strict=True)
        ]
    potentials: dict[tuple[int, ...], Any] = {
        (0, 1): generator.normal(0, 5, (3, 2)),
        (1, 2): generator.normal(0, 5, (2, 4)),
    }
    model = GraphicalModel(sizes, float(generator.gamma(1, 20)), potentials)
    cliques = [(0,), (0, 1), (0, 2), (0, 1, 2)]
    one, other = (l1_scores(MeasuredPeople(table, sizes), model, cliques) for table in (before, columns))
    stated = scaled_sensitivity(sensitivity_of_counts(Unit.with_rows(own, adjacency=adjacency), merged=True))
    assert all(abs(x - y) <= stated for x, y in zip(one, other, strict=True))
    assert all(type(score) is int for score in one)


def test_the_stated_sensitivity_of_a_score_is_reached() -> None:
    model = GraphicalModel([2], 0.001, {(0,): np.zeros(2)})
    one, other = (l1_scores(MeasuredPeople([np.zeros(n, dtype=np.int64)], [2]), model, [(0,)])[0] for n in (5, 8))
    assert other - one == 3 * GRID


def test_scores_are_distances() -> None:
    model = GraphicalModel([2, 2], 40.0, {(0, 1): np.zeros((2, 2))})
    rows = MeasuredPeople([np.array([0, 0, 1]), np.array([0, 0, 1])], [2, 2])
    assert l1_scores(rows, model, [(0, 1)]) == [GRID * (8 + 10 + 10 + 9)]


def test_weights_count_columns_shared_with_the_workload() -> None:
    assert weigh_candidates([(0, 1, 2)], 4) == {
        (0,): 1, (1,): 1, (2,): 1, (3,): 1, (0, 1): 2, (0, 2): 2, (1, 2): 2, (0, 1, 2): 3,
    }  # fmt: skip


def test_a_workload_of_named_tables_decides_what_is_measured() -> None:
    result, _ = made("aim", workload=[("c", "b")])
    assert {marginal.columns for marginal in result.marginals} <= {("a",), ("b",), ("c",), ("d",), ("b", "c")}
    assert ("b", "c") in {marginal.columns for marginal in result.marginals}


def test_the_model_stays_as_small_as_asked() -> None:
    result, _ = made("aim", Budget(rho=5), model_cells=12, workload=3)
    assert sum(table.size for table in result.model.tables) <= 12


UNTOUCHED: list[tuple[dict[str, Any], type[Exception]]] = [
    ({"budget": Budget(epsilon=1)}, GuaranteeError),
    ({"budget": 1}, ParameterError),
    ({"columns": None}, ParameterError),
    ({"columns": {"a": ["x", "y", "z"]}}, InputError),
    ({"columns": {**COLUMNS, "a": ["x", "y"]}}, InputError),
    ({"columns": {**COLUMNS, "e": ["x"]}}, InputError),
    ({"records": [1, 2]}, ParameterError),
    ({"method": "magic"}, ParameterError),
    ({"method": None}, ParameterError),
    ({"rows": 0}, ParameterError),
    ({"rows": 1.5}, ParameterError),
    ({"unit": "person"}, ParameterError),
    ({"engine": "jax"}, ParameterError),
    ({"workload": 2}, ParameterError),
    ({"conversion": "gaussian"}, ParameterError),
    ({"method": "aim", "workload": 0}, ParameterError),
    ({"method": "aim", "workload": 5}, ParameterError),
    ({"method": "aim", "workload": "ab"}, ParameterError),
    ({"method": "aim", "workload": [("a", "nope")]}, ParameterError),
    ({"method": "aim", "workload": [()]}, ParameterError),
    ({"method": "aim", "rounds": 0}, ParameterError),
    ({"method": "aim", "model_cells": 0}, ParameterError),
    ({"method": "aim", "marginal_cells": 10**9}, ParameterError),
    (
        {"columns": {**COLUMNS, "a": ["x", "y", "z", *range(5000)], "d": ["p", "q", "r", "s", *range(5000)]}},
        ParameterError,
    ),
]


@pytest.mark.parametrize(("wrong", "error"), UNTOUCHED)
def test_what_is_wrong_is_refused_before_anything_is_drawn(wrong: dict[str, Any], error: type[Exception]) -> None:
    nothing = ScriptedEntropy([])
    arguments: dict[str, Any] = {"records": people(), "columns": COLUMNS, "budget": Budget(rho=1), "entropy": nothing}
    with pytest.raises(error):
        synthesize(**{**arguments, **wrong})
    assert nothing.read == 0


def test_without_mbi_the_extra_is_named_before_anything_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "mbi" else real(name))
    nothing = ScriptedEntropy([])
    with pytest.raises(MissingPackageError, match=r"sudare\[synth\]") as failure:
        synthesize(people(), COLUMNS, Budget(rho=1), engine="mbi", entropy=nothing)
    assert "sudare[synth]" in failure.value.japanese
    assert nothing.read == 0


def test_neither_mbi_nor_jax_is_loaded_unless_asked_for() -> None:
    code = "import sys, sudare.microdata.synthetic.synthesizing; assert not {'mbi', 'jax'} & set(sys.modules)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("mbi") is None, reason="needs the extra synth")
def test_mbi_fits_as_well_without_a_warning() -> None:
    """One model alone: the rest of `test_mbi_finds_the_same_model_without_a_warning`."""
    code = """
import numpy as np
from sudare.tables.adaptive.graphical_model import fit_model, loss_of
from sudare.microdata.synthetic.mbi_model import fit_with_mbi
from sudare.tables.adaptive.measured import Evidence

unequal = Evidence((0, 2), np.arange(6.0).reshape(3, 2), np.array([[1.0, 1.0], [4.0, 1.0], [4.0, 1.0]]))
evidence = [unequal, Evidence((1,), np.array([9.0]), np.ones(1))]
theirs, ours = fit_with_mbi([3, 1, 2], evidence, 15.0, steps=500), fit_model([3, 1, 2], evidence, 15.0, steps=500)
assert abs(loss_of(theirs, evidence) - loss_of(ours, evidence)) < 0.01
import jax
assert not jax.config.jax_enable_x64, "settings of the process are as they were"
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=300)


@pytest.mark.deep
@pytest.mark.skipif(importlib.util.find_spec("mbi") is None, reason="needs the extra synth")
def test_mbi_finds_the_same_model_without_a_warning() -> None:
    """In a process of its own, because JAX's threads stay for good and warn of every later fork."""
    code = """
import numpy as np
from sudare import Budget, ResearchEntropy
from sudare.microdata.synthetic import synthesize
from sudare.tables.adaptive.graphical_model import fit_model, loss_of
from sudare.microdata.synthetic.mbi_model import fit_with_mbi
from sudare.tables.adaptive.measured import Evidence
from tests.unit.microdata.synthetic.test_synthesize import COLUMNS, people

made, event = synthesize(people(), COLUMNS, Budget(rho=1), engine="mbi", entropy=ResearchEntropy(1))
again, _ = synthesize(people(), COLUMNS, Budget(rho=1), engine="numpy", entropy=ResearchEntropy(1))
assert made.tables == again.tables
for clique in made.model.tree.cliques:
    assert np.abs(made.model.marginal(clique) - again.model.marginal(clique)).max() < 1.0
unequal = Evidence((0, 2), np.arange(6.0).reshape(3, 2), np.array([[1.0, 1.0], [4.0, 1.0], [4.0, 1.0]]))
evidence = [unequal, Evidence((1,), np.array([9.0]), np.ones(1))]
theirs, ours = fit_with_mbi([3, 1, 2], evidence, 15.0, steps=500), fit_model([3, 1, 2], evidence, 15.0, steps=500)
assert abs(loss_of(theirs, evidence) - loss_of(ours, evidence)) < 0.01
import jax
assert not jax.config.jax_enable_x64, "settings of the process are as they were"
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=300)
