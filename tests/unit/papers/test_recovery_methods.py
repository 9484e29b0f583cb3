"""Short cuts for sparse results change nothing: compared with the plain way on the whole table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sudare.refine import clip_and_scale, nearest_integers, negative_l2, nonnegative_lasso, project_on_simplex
from sudare_papers.recovery.methods import (
    BANDS,
    Errors,
    Recovered,
    Truth,
    by_clipping,
    by_lasso,
    by_negative_l2,
    by_simplex,
)

Values = NDArray[np.float64]
WEIGHTS = (0.0, 0.01, 0.1, 0.5)
LASSO_WEIGHTS = (2.0, 0.5, 6.0)
RANGES = {"All": (0, 10**9), "0": (0, 0), "1-9": (1, 9), "10-99": (10, 99), ">=100": (100, 10**9)}


def dense(recovered: Recovered, size: int) -> NDArray[np.int64]:
    whole = np.zeros(size, dtype=np.int64)
    whole[recovered.cells] = recovered.counts
    return whole


def city(seed: int, cells: int = 500) -> tuple[NDArray[np.int64], Values]:
    generator = np.random.default_rng(seed)
    counts = np.where(generator.random(cells) < 0.1, np.exp(generator.uniform(0, 7, cells)), 0).astype(np.int64)
    counts[0] = 100
    return counts, counts + generator.laplace(scale=3, size=cells)


PLAIN: dict[str, tuple[Callable[[Values, int], list[Recovered]], Callable[[Values, int], list[Values]]]] = {
    "simplex": (lambda z, c: [by_simplex(z, c)], lambda z, c: [project_on_simplex(z, c)]),
    "negative l2": (
        lambda z, c: list(by_negative_l2(z, c, WEIGHTS)),
        lambda z, c: [negative_l2(z, c, weight) for weight in WEIGHTS],
    ),
    "Lasso": (
        lambda z, c: list(by_lasso(z, c, LASSO_WEIGHTS)),
        lambda z, c: [nonnegative_lasso(z, c, weight) for weight in LASSO_WEIGHTS],
    ),
    "clipping": (lambda z, c: [by_clipping(z, c)], lambda z, c: [clip_and_scale(z, c)]),
}


@pytest.mark.parametrize("method", PLAIN)
@given(seed=st.integers(0, 10**6))
def test_the_same_as_on_the_whole_table(method: str, seed: int) -> None:
    counts, noisy = city(seed)
    total = int(counts.sum())
    short, plain = PLAIN[method]
    for one, values in zip(short(noisy, total), plain(noisy, total), strict=True):
        assert np.array_equal(dense(one, counts.size), nearest_integers(values, total))
        assert one.counts.sum() == total


@given(seed=st.integers(0, 10**6))
def test_errors_by_band(seed: int) -> None:
    counts, noisy = city(seed)
    truth = Truth.of(counts.reshape(20, 25))
    recovered = by_simplex(noisy, truth.total)
    errors, differences = truth.errors(recovered), dense(recovered, counts.size) - counts
    for band, (low, high) in RANGES.items():
        inside = differences[(counts >= low) & (counts <= high)]
        if inside.size:
            assert errors.rmse_in(band) == pytest.approx(np.sqrt(np.mean(inside**2)), abs=1e-9)
            assert errors.me_in(band) == pytest.approx(np.mean(inside), abs=1e-9)
        else:
            assert np.isnan(errors.rmse_in(band))
    assert errors.rmse == errors.rmse_in("All")
    assert errors.non_zero == pytest.approx(100 * np.mean(differences + counts > 0))
    assert truth.non_zero == pytest.approx(100 * np.mean(counts > 0))
    assert truth.total == counts.sum()


def test_a_result_that_is_right_has_no_error() -> None:
    counts, _ = city(1)
    cells = np.flatnonzero(counts)
    errors = Truth.of(counts).errors(Recovered(cells, counts[cells]))
    assert isinstance(errors, Errors)
    assert errors.numbers[: 2 * len(BANDS)].tolist() == [0.0] * 10
