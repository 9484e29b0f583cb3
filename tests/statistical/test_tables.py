"""Tables: lazy descent has the distribution of the eager one, and guarantees hold in audits whose broken twins are caught."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from sudare import Budget, Unit, discrete_laplace, fair_coins, nn_wavelet, wide_tree
from sudare.attacks import audit_epsilon

pytestmark = pytest.mark.slow

RUNS = 8000
ERROR_PROBABILITY = 1e-9
COUNTS = np.array([2, 0, 0, 1])


def two_samples_differ(one: np.ndarray, other: np.ndarray) -> bool:
    """Chi-square for two samples of equal size; outcomes seen fewer than 20 times together are merged."""
    values, codes = np.unique(np.concatenate([one, other]), return_inverse=True)
    a = np.bincount(codes[: one.size], minlength=values.size).astype(float)
    b = np.bincount(codes[one.size :], minlength=values.size).astype(float)
    rare = a + b < 20
    a, b = np.append(a[~rare], a[rare].sum()), np.append(b[~rare], b[rare].sum())
    used = a + b > 0
    statistic = float(((a - b)[used] ** 2 / (a + b)[used]).sum())
    return statistic > float(chi2.isf(ERROR_PROBABILITY, int(used.sum()) - 1))


def code(table: np.ndarray) -> int:
    return int(sum(min(int(count), 9) * 10**i for i, count in enumerate(table)))


def eager_nn_wavelet(epsilon: float) -> int:
    """All noise and all coins drawn first, pruned or not; then the refinement."""
    scale = 3 / epsilon
    noise = discrete_laplace(scale)
    x_total, x_root, x_left, x_right = noise.draw(4).tolist()
    coins = fair_coins(3).tolist()
    total = max(0, int(COUNTS.sum()) + x_total)

    def halve(s: int, d: int, coin: int) -> tuple[int, int]:
        left = (s + min(max(d, -s), s) + coin) // 2
        return left, s - left

    left, right = halve(total, int(COUNTS[:2].sum() - COUNTS[2:].sum()) + x_root, coins[0])
    a, b = halve(left, int(COUNTS[0] - COUNTS[1]) + x_left, coins[1])
    c, d = halve(right, int(COUNTS[2] - COUNTS[3]) + x_right, coins[2])
    return code(np.array([a, b, c, d]))


def lazy_nn_wavelet(epsilon: float) -> int:
    return code(nn_wavelet(COUNTS, Budget(epsilon=epsilon)).table.to_dense())


def test_lazy_is_eager() -> None:
    eager = np.array([eager_nn_wavelet(3) for _ in range(RUNS)])
    lazy = np.array([lazy_nn_wavelet(3) for _ in range(RUNS)])
    other = np.array([lazy_nn_wavelet(4) for _ in range(RUNS)])
    assert not two_samples_differ(eager, lazy)
    assert two_samples_differ(eager, other)


CASES = [
    (np.array([3, 0, 0, 0]), np.array([4, 0, 0, 0]), Unit()),
    (np.array([0, 2, 1, 0]), np.array([0, 1, 1, 1]), Unit(adjacency="replace")),
]


@pytest.mark.parametrize("mechanism", [nn_wavelet, wide_tree], ids=lambda m: m.__name__)
@pytest.mark.parametrize(("one", "other", "unit"), CASES, ids=["add-remove", "replace"])
def test_audit_holds_and_catches_a_broken_twin(mechanism: Any, one: np.ndarray, other: np.ndarray, unit: Unit) -> None:
    """The broken twin spends a multiple of the claimed budget, which is what less noise means."""
    epsilon = 1

    def outputs(counts: np.ndarray, spend: float) -> np.ndarray:
        return np.array(
            [code(mechanism(counts, Budget(epsilon=spend), unit=unit).table.to_dense()) for _ in range(RUNS)]
        )

    assert not audit_epsilon(outputs(one, epsilon), outputs(other, epsilon)).refutes(epsilon)
    assert audit_epsilon(outputs(one, 6 * epsilon), outputs(other, 6 * epsilon)).refutes(epsilon)
