"""The sparse-recovery paper's tables come out as printed, and its order of methods with them."""

from __future__ import annotations

import numpy as np
import pytest

from sudare import ParameterError
from sudare.reproduce import Comparison, compare_methods, synthetic_city
from sudare.reproduce.sparse_recovery import BEST_LASSO, LASSO


@pytest.mark.parametrize("side", [64, 256, 1024])
def test_the_city(side: int) -> None:
    city = synthetic_city(side)
    assert city.shape == (side, side)
    assert city[side // 2, side // 2] == city.max() == 1000
    assert np.mean(city > 0) == pytest.approx(0.0333, rel=0.02)
    assert np.array_equal(city[1:, 1:], city[:0:-1, :0:-1]), "the same in all directions"


def test_sides_that_are_refused() -> None:
    with pytest.raises(ParameterError, match="side"):
        synthetic_city(63)


@pytest.fixture(scope="module", name="compared")
def _compared() -> dict[tuple[str, float], Comparison]:
    found = [*compare_methods(60, epsilons=(0.1, 1.0)), *compare_methods(400, epsilons=(10.0,))]
    return {(one.method, one.epsilon): one for one in found}


@pytest.mark.slow
def test_tables_1_and_2(compared: dict[tuple[str, float], Comparison]) -> None:
    """Both tables within 5 %. The six figures of the Lasso only guard its fitted weights; the other 18 had none to fit."""
    for (method, _), one in compared.items():
        if method != BEST_LASSO:
            assert one.rmse == pytest.approx(one.paper_rmse, rel=0.05), one
            assert one.non_zero == pytest.approx(one.paper_non_zero, rel=0.05), one


@pytest.mark.slow
def test_the_papers_order_and_what_it_missed(compared: dict[tuple[str, float], Comparison]) -> None:
    for epsilon in (0.1, 1.0):
        errors = [compared[name, epsilon].rmse for name in ("negative l2", "simplex", LASSO, "clip and scale")]
        assert errors == sorted(errors)
        assert compared[BEST_LASSO, epsilon].rmse < 0.95 * compared[LASSO, epsilon].rmse, "its weight was not the best"
        assert compared["negative l2", epsilon].rmse < 1.02 * compared[BEST_LASSO, epsilon].rmse
