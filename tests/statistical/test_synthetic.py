"""Synthetic people: noise as accounted, and guarantees that hold in audits whose broken twins are caught."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sudare import Budget, Unit, discrete_gaussian, rho_to_epsilon, secure_entropy, sensitivity_of_counts
from sudare.attacks import audit_epsilon
from sudare.microdata.records import Records
from sudare.microdata.synthetic import measured, synthesize
from sudare.microdata.synthetic.measured import People
from sudare.microdata.synthetic.mst import measure_mst
from tests.statistical.goodness import chi_square_rejects, histogram

pytestmark = pytest.mark.slow

RHO = Fraction(1, 8)
DELTA = 1e-2
LOOKS, RUNS = 16_000, 500
COLUMNS: dict[str, Any] = {"a": ["x", "y"], "b": ["x", "y"]}


def less_noise(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """The broken twin: so many times less noise than the record states."""
    monkeypatch.setattr(measured, "noise_for", lambda m: discrete_gaussian(sigma_squared=m.sigma_squared / times**2))


def law(sigma_squared: Fraction, reach: int) -> np.ndarray:
    """Below -reach, each whole number from -reach to reach - 1, and from reach on."""
    wide = np.arange(-50 * reach, 50 * reach + 1)
    weights = np.exp(-(wide**2) / (2 * float(sigma_squared)))
    weights /= weights.sum()
    inside = weights[(wide >= -reach) & (wide < reach)]
    return np.concatenate([[weights[wide < -reach].sum()], inside, [weights[wide >= reach].sum()]])


@pytest.mark.parametrize("is_broken", [False, True])
def test_the_noise_of_a_marginal_is_that_of_its_record(is_broken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if is_broken:
        less_noise(monkeypatch, 2)
    people = People([np.zeros(7, dtype=np.int64), np.ones(7, dtype=np.int64)], [100, 100])
    sensitivity = sensitivity_of_counts(Unit())
    noisy, record = people.measured((0, 1), Fraction(1, 20), sensitivity, secure_entropy())
    noise = noisy - people.counts((0, 1))
    assert record.sigma_squared == 10
    probabilities = law(record.sigma_squared, 9)
    assert chi_square_rejects(histogram(noise.ravel(), list(range(-9, 10))), probabilities) is is_broken


@pytest.mark.parametrize("is_broken", [False, True])
def test_looks_at_neighbours_cannot_be_told_apart_beyond_the_budget(
    is_broken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_broken:
        less_noise(monkeypatch, 2)
    source, unit = secure_entropy(), Unit()

    def outputs(rows: int) -> np.ndarray:
        people = People([np.zeros(rows, dtype=np.int64)], [2])
        looks = (measure_mst(people, RHO, unit, sensitivity_of_counts(unit), source) for _ in range(LOOKS))
        return np.array([int(look.seen[0][1][0]) for look in looks])

    claimed = float(rho_to_epsilon(RHO, DELTA))
    assert audit_epsilon(outputs(5), outputs(6), delta=DELTA).refutes(claimed) is is_broken


@pytest.mark.parametrize("is_broken", [False, True])
def test_rows_of_neighbours_cannot_be_told_apart_beyond_the_budget(
    is_broken: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole way, records in and rows out: two columns, a choice, pairs, a model. A person with three rows is added."""
    if is_broken:
        less_noise(monkeypatch, 16)  # a few hundred runs cannot tell finer differences
    unit = Unit.with_rows(3)

    def outputs(rows: int) -> np.ndarray:
        records = Records.of_columns({"a": ["x"] * rows, "b": ["x"] * rows})
        counts = np.empty(RUNS, dtype=np.int64)
        for run in range(RUNS):
            made, event = synthesize(records, COLUMNS, Budget(rho=RHO), unit=unit)
            counts[run] = int((made.records.column("a").texts() == "x").sum())
        assert event.cost == Budget(rho=RHO)
        return counts

    claimed = float(rho_to_epsilon(RHO, DELTA))
    assert audit_epsilon(outputs(300), outputs(303), delta=DELTA).refutes(claimed) is is_broken
