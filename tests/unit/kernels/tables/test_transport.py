"""Tables with given sums: exact sums, whole numbers >= 0, and nearest to the values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from sudare.kernels.tables.transport import fill_tables, nearest_real_table


def filled(values: np.ndarray, rows: np.ndarray, columns: np.ndarray, word: int = 0, rounds: int = 200) -> np.ndarray:
    out = np.empty(values.shape, dtype=np.int64)
    words = np.full(len(values), word, dtype=np.uint64)
    fill_tables(np.ascontiguousarray(values, dtype=np.float64), rows, columns, words, rounds, out)
    return out


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 6),
    st.integers(1, 5),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.3, 5.0, 1e4, 1e9]),
    st.sampled_from([0.1, 3.0, 1e5, 1e15]),
)
def test_sums_are_met_exactly(height: int, width: int, seed: int, spread: float, people: float) -> None:
    generator = np.random.default_rng(seed)
    true = generator.poisson(generator.gamma(0.3, people / 0.3, size=(3, height, width)))
    values = true + spread * generator.standard_cauchy(true.shape)
    rows, columns = true.sum(axis=2), true.sum(axis=1)
    for rounds in (1, 60):
        found = filled(values, rows, columns, int(generator.integers(2**63)), rounds)
        assert (found >= 0).all()
        assert np.array_equal(found.sum(axis=2), rows)
        assert np.array_equal(found.sum(axis=1), columns)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 5), st.integers(1, 4), st.integers(0, 2**32))
def test_a_table_that_fits_is_kept(height: int, width: int, seed: int) -> None:
    true = np.random.default_rng(seed).poisson(2.0, size=(1, height, width))
    assert np.array_equal(filled(true, true.sum(axis=2), true.sum(axis=1)), true)


@pytest.mark.parametrize("seed", range(12))
def test_the_real_table_is_the_nearest_one(seed: int) -> None:
    """Against a general solver for the same problem."""
    generator = np.random.default_rng(seed)
    true = generator.poisson(4.0, size=(3, 4)).astype(float)
    values = true + generator.normal(0, 6, size=true.shape)
    rows, columns = true.sum(axis=1).astype(np.int64), true.sum(axis=0).astype(np.int64)
    table = np.empty(values.shape)
    nearest_real_table(values, rows, columns, 4000, table)
    sums = np.vstack([np.kron(np.eye(3), np.ones(4)), np.kron(np.ones(3), np.eye(4))])[:-1]
    wanted = np.concatenate([rows, columns])[:-1]  # the last sum follows from the others
    best = minimize(
        lambda b: float(((b - values.ravel()) ** 2).sum()),
        true.ravel(),
        jac=lambda b: 2 * (b - values.ravel()),
        bounds=[(0, None)] * 12,
        constraints={"type": "eq", "fun": lambda b: sums @ b - wanted, "jac": lambda b: sums},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert best.success
    # Columns are met to a quarter of a person, so that the distance may be a little smaller than the best.
    assert float(((table - values) ** 2).sum()) == pytest.approx(best.fun, rel=0.05)
    assert np.abs(table.sum(axis=0) - columns).max() < 0.25
    assert np.abs(table - best.x.reshape(3, 4)).max() < 0.5


def test_equals_take_turns() -> None:
    """Two people in two rows and two columns, nothing known of where: either diagonal, by the word."""
    square = np.array([[1, 1]]), np.array([[1, 1]])
    seen = {filled(np.zeros((1, 2, 2)), *square, word)[0].tobytes() for word in (0, 1, 1 << 32, 1 + (1 << 32))}
    assert len(seen) == 2, "both diagonals"
