"""Quantiles by the exponential mechanism: scores and sensitivities against brute force, and the accuracy that is stated."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare import Budget, ResearchEntropy, Unit
from sudare.errors import ParameterError
from sudare.sql.measures.quantiles import (
    _distances,
    choose_quantile,
    offset_for_extreme,
    rank_error,
    sensitivity_of_ranks,
)

QUANTILES = [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(2, 3), Fraction(1)]


def distances(values: list[int], candidates: int, quantile: Fraction, offset: int = 0) -> list[Fraction]:
    """From the definition: how far the wanted rank is from the ranks that a candidate has, in rows."""
    wanted = quantile * len(values) + offset
    found = []
    for candidate in range(candidates):
        lowest = sum(value < candidate for value in values)
        highest = sum(value <= candidate for value in values)
        found.append(max(Fraction(0), lowest - wanted, wanted - highest))
    return found


def counted(values: list[int]) -> tuple[np.ndarray, np.ndarray]:
    return np.unique(np.array(values, dtype=np.int64), return_counts=True)


@given(st.lists(st.integers(0, 7), max_size=20), st.sampled_from(QUANTILES), st.sampled_from([0, 3, -3]), st.booleans())
def test_distances_are_ranks(values: list[int], quantile: Fraction, offset: int, shuffled: bool) -> None:
    buckets, counts = counted(values)
    if shuffled:
        order = np.array(random.sample(range(buckets.size), buckets.size), dtype=np.int64)
        buckets, counts = buckets[order], counts[order]
    found = _distances(buckets, counts, 8, quantile, offset)
    assert [Fraction(int(each), quantile.denominator) for each in found] == distances(values, 8, quantile, offset)
    if offset == 0:
        assert min(found) == 0


def test_numbers_beyond_a_word_are_exact() -> None:
    buckets, counts = np.array([1, 5]), np.array([2**61, 2**61 + 8])
    found = _distances(buckets, counts, 7, Fraction(1, 10**6), 0)
    assert isinstance(found, list)
    total = 2**62 + 8
    assert found[0] == total
    assert found[6] == total * 10**6 - total
    assert choose_quantile(buckets, counts, 7, Fraction(1, 10**6), 1, Budget(epsilon=1))[0] == 1


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("quantile", QUANTILES, ids=str)
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_no_unit_changes_a_score_by_more(adjacency: Any, quantile: Fraction, rows: int) -> None:
    """Random data on a small grid, one unit's rows added or replaced; the bound is reached."""
    generator = random.Random(rows)
    most = Fraction(0)
    for _ in range(400):
        values = [generator.randrange(5) for _ in range(generator.randrange(12))]
        # A unit may have fewer rows; all of them at one end is where the bound is reached.
        own = [
            generator.choice([[0] * rows, [4] * rows, [generator.randrange(5)] * generator.randrange(rows + 1)])
            for _ in range(2)
        ]
        before = values + own[0] if adjacency == "replace" else values
        one, other = distances(before, 5, quantile), distances(values + own[1], 5, quantile)
        most = max(most, *(abs(a - b) for a, b in zip(one, other, strict=True)))
    assert most * quantile.denominator == sensitivity_of_ranks(quantile, rows, adjacency)


@pytest.mark.parametrize("quantile", QUANTILES, ids=str)
def test_the_stated_rank_error_holds(quantile: Fraction) -> None:
    generator = np.random.default_rng(5)
    values = np.clip(generator.normal(500, 100, 4000).astype(int), 0, 999).tolist()
    buckets, counts = counted(values)
    size, rows, epsilon, failure = 1000, 2, Fraction(1, 2), Fraction(1, 10)
    offset = {0: offset_for_extreme(size, rows, epsilon), 1: -offset_for_extreme(size, rows, epsilon)}.get(
        int(quantile) if quantile in (0, 1) else -1, 0
    )
    exact = distances(values, size, quantile, offset)
    allowed = rank_error(size, quantile, rows, epsilon, failure=failure)
    source = ResearchEntropy(11)
    chosen = [
        choose_quantile(buckets, counts, size, quantile, rows, Budget(epsilon=epsilon), offset=offset, entropy=source)[
            0
        ]
        for _ in range(200)
    ]
    assert sum(exact[choice] > allowed for choice in chosen) <= 20
    assert sum(exact[choice] > 0 for choice in chosen) > 20  # it is noisy at all
    if quantile in (0, 1):
        inside = [min(values) <= choice <= max(values) for choice in chosen]
        assert sum(inside) >= 190


def test_the_smallest_value_without_an_offset_is_lost_among_those_below_it() -> None:
    """Why there is an offset: nothing tells the smallest value from what is below it."""
    found = distances([600] * 50, 1000, Fraction(0))
    assert set(found[:601]) == {0}
    offset = offset_for_extreme(1000, 1, 1)
    found = distances([600] * 50, 1000, Fraction(0), offset)
    assert [place for place, distance in enumerate(found) if distance == 0] == [600]


def test_nothing_to_choose_by_is_no_failure() -> None:
    empty = np.array([], dtype=np.int64)
    choices = {choose_quantile(empty, empty, 4, Fraction(1, 2), 1, Budget(epsilon=1))[0] for _ in range(200)}
    assert choices == {0, 1, 2, 3}
    assert choose_quantile(empty, empty, 1, 0, 1, Budget(epsilon=1))[0] == 0


def test_budgets_in_rho_and_with_delta() -> None:
    buckets, counts = counted([1, 1, 2])
    for budget in (Budget(epsilon=1), Budget(epsilon=1, delta=1e-6), Budget(rho=Fraction(1, 8))):
        measurement = choose_quantile(buckets, counts, 4, Fraction(1, 2), 1, budget)[1]
        assert measurement.epsilon == 1
        assert measurement.rho == Fraction(1, 8)


def test_a_million_candidates_are_chosen_from() -> None:
    buckets, counts = counted([900_000] * 1000)
    assert choose_quantile(buckets, counts, 1 << 20, Fraction(1, 2), 1, Budget(epsilon=1))[0] == 900_000


def test_rank_error_falls_with_epsilon_and_grows_with_all_others() -> None:
    base = rank_error(1000, Fraction(1, 2), 2, 1)
    assert rank_error(1000, Fraction(1, 2), 2, 2) < base
    assert rank_error(10**6, Fraction(1, 2), 2, 1) > base
    assert rank_error(1000, Fraction(1, 2), 3, 1) > base
    assert rank_error(1000, Fraction(1, 2), 2, 1, failure=0.01) > base
    assert rank_error(1000, Fraction(1, 2), 2, 1, adjacency="replace") == 2 * base
    assert rank_error(1, 0, 1, 1, failure=1) == 0
    assert offset_for_extreme(1, 1, 1, failure=1) == 1


ONE = np.array([1])


@pytest.mark.parametrize(
    "change",
    [
        {"candidates": 0},
        {"candidates": 2**20 + 1},
        {"candidates": True},
        {"quantile": -0.1},
        {"quantile": 1.1},
        {"quantile": Fraction(1, 10**6 + 1)},
        {"quantile": float("nan")},
        {"rows": 0},
        {"offset": 0.5},
        {"offset": 2**41},
        {"unit": "person"},
        {"buckets": np.array([4])},
        {"buckets": np.array([-1])},
        {"buckets": np.array([1.0])},
        {"counts": np.array([-1])},
        {"counts": np.array([1, 2])},
        {"counts": np.array([2**63], dtype=np.uint64)},
        {"budget": 1},
    ],
    ids=str,
)
def test_arguments_are_what_they_should_be(change: dict[str, Any]) -> None:
    values: dict[str, Any] = {
        "buckets": ONE,
        "counts": ONE,
        "candidates": 4,
        "quantile": 0.5,
        "rows": 1,
        "budget": Budget(epsilon=1),
    } | change
    with pytest.raises(ParameterError, match=f"The '{next(iter(change))}' parameter"):
        choose_quantile(**values)


def test_repeated_buckets_are_refused() -> None:
    with pytest.raises(ParameterError, match="each once"):
        choose_quantile(np.array([1, 1]), np.array([1, 1]), 4, 0.5, 1, Budget(epsilon=1))


def test_other_arguments_are_checked_too() -> None:
    with pytest.raises(ParameterError, match="'adjacency'"):
        sensitivity_of_ranks(0.5, 1, "both")  # type: ignore[arg-type]
    for change in ({"epsilon": 0}, {"failure": 0}, {"failure": 2}, {"candidates": 0}, {"rows": 0}):
        values: dict[str, Any] = {"candidates": 4, "quantile": 0.5, "rows": 1, "epsilon": 1} | change
        with pytest.raises(ParameterError, match=f"The '{next(iter(change))}' parameter"):
            rank_error(**values)


def test_replaced_units_need_more() -> None:
    buckets, counts = counted([0] * 3 + [9] * 2)
    unit = Unit("person", adjacency="replace")
    choices = [
        choose_quantile(buckets, counts, 10, Fraction(9, 10), 1, Budget(epsilon=1), unit=unit)[0] for _ in range(50)
    ]
    assert len(set(choices)) > 1
