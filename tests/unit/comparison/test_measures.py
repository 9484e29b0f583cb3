from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sudare.comparison.disclosing import guess_sensitive, single_out
from sudare.comparison.membership import (
    FALSE_ALARMS,
    find_evidence,
    largest_area,
    largest_share_found,
    learn_weights,
    recognize,
)
from sudare.comparison.utility import measure_usefulness, tables_of
from sudare.comparison.views import View

from .towns import half, pairs_told_apart, town

cells = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12)


@given(cells)
def test_people_told_apart_are_pairs_in_the_right_order(given_cells: list[tuple[int, int, int]]) -> None:
    scores = np.array([one[0] for one in given_cells], dtype=np.float64)
    truth = np.array([one[1] for one in given_cells])
    register = truth + np.array([one[2] for one in given_cells])
    if truth.sum() == 0 or (register - truth).sum() == 0:
        return
    assert recognize(scores, truth, register).area == pytest.approx(pairs_told_apart(scores, truth, register))


def test_found_with_few_false_alarms_by_hand() -> None:
    # 1,000 outsiders: 5 with score 2, then 10 with score 1; 1 % is five of the ten, by lot.
    scores = np.array([2.0, 1.0, 0.0])
    truth = np.array([100, 200, 700])
    register = truth + np.array([5, 10, 985])
    assert recognize(scores, truth, register).found == pytest.approx(0.1 + 0.5 * 0.2)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_bounds_are_those_of_the_best_private_test(epsilon: float) -> None:
    """Randomized response of one bit attains epsilon: its curve is the bound."""
    honest = math.exp(epsilon) / (1 + math.exp(epsilon))
    scale = 10**6
    scores = np.array([1.0, 0.0])
    truth = np.array([round(honest * scale), round((1 - honest) * scale)])
    register = truth + truth[::-1]
    found = recognize(scores, truth, register)
    assert found.area == pytest.approx(largest_area(epsilon), abs=1e-5)
    assert found.found == pytest.approx(largest_share_found(epsilon), rel=1e-4)


def test_bounds_grow_with_delta_and_end_at_certainty() -> None:
    assert largest_share_found(1.0, 0.01) == pytest.approx(largest_share_found(1.0) + 0.01)
    assert largest_share_found(100.0) == pytest.approx(1.0)
    assert largest_share_found(0.0) == pytest.approx(FALSE_ALARMS)
    assert largest_area(0.0, 0.5) > largest_area(0.0)
    assert largest_area(1.0, 1.0) == 1.0


def test_an_attacker_learns_what_to_trust() -> None:
    register, truth = town().table, half().table
    here = register > 0
    exact, useless = (find_evidence(View.of_counts(one), register) for one in (truth, half(seed=6).table))
    rare = register[here] <= 3
    found = []
    for evidence in (exact, useless):
        weights = learn_weights([evidence], [truth[here]], register[here])
        fresh = find_evidence(View.of_counts(half(seed=7).table if evidence is exact else half(seed=8).table), register)
        found.append(recognize((fresh @ weights)[rare], half(seed=7).table[here][rare], register[here][rare]).area)
    assert found[0] > 0.9
    assert 0.35 < found[1] < 0.65  # somebody else's half tells nothing


def test_evidence_is_the_surprise_of_each_place() -> None:
    register, truth = np.array([[2, 0], [1, 4]]), np.array([[2, 0], [0, 3]])
    evidence = find_evidence(View.of_counts(truth), register)
    assert evidence.shape == (3, 18)
    # Two columns have one table, of all of them; its places hold 2, 1 and 4 people.
    assert evidence[:, 12:15].tolist() == [[0.0, 0.5, 0.0], [-0.5, 0.0, 0.0], [0.0, 0.0, 0.25]]
    assert not evidence[:, :12].any()


def test_tables_of_all_sizes() -> None:
    assert [len(tables) for tables in tables_of(2)] == [2, 0, 0, 1]
    assert tables_of(3)[1] == ((0, 1), (0, 2), (1, 2))


def test_usefulness_of_the_truth_and_of_nothing() -> None:
    truth = half().table
    exact = measure_usefulness(View.of_counts(truth), truth)
    assert set(exact.misplaced) == {0.0}
    assert exact.unanswered == 0.0
    empty = measure_usefulness(View.of_counts(np.zeros_like(truth)), truth)
    assert set(empty.misplaced) == {0.5}
    assert empty.absolute[0] > empty.absolute[1] > empty.absolute[3] > 0


def test_usefulness_asks_a_publication_for_its_own_tables() -> None:
    truth = np.array([[1, 2], [3, 4]])
    wrong, hidden = np.full((2, 2), 5.0), np.zeros((2, 2), dtype=np.bool_)

    def answer(axes: tuple[int, ...]) -> NDArray[np.float64]:
        return np.asarray(truth.sum(axis=tuple({0, 1} - set(axes))), dtype=np.float64)

    found = measure_usefulness(View(wrong, wrong, wrong, wrong, hidden, answer), truth)
    assert found.misplaced[0] == found.misplaced[3] == 0.0
    assert found.unanswered == 1.0


def test_a_group_with_one_value_gives_it_away() -> None:
    # Two areas, two values. In the first area everybody has value 0, outsiders too.
    truth = np.array([[5, 0], [2, 3]])
    register = truth + np.array([[4, 1], [3, 2]])
    found = guess_sensitive(View.of_counts(truth), truth, register)
    assert found.certain == pytest.approx(5 / 10)
    assert found.certain_outside == pytest.approx(4 / 10)
    assert found.right == pytest.approx((5 + 3) / 10)
    assert found.gain == pytest.approx(0.8 - (4 + 2) / 10)


def test_where_nothing_is_published_the_usual_value_is_guessed() -> None:
    truth = np.array([[0, 0], [9, 1]])
    register = truth + np.array([[2, 1], [0, 0]])
    assert guess_sensitive(View.of_counts(truth), truth, register).right_outside == pytest.approx(2 / 3)


def test_cells_with_one_person() -> None:
    truth = np.array([1, 1, 2, 0])
    nothing = View.of_counts(np.array([5, 5, 5, 5]))
    assert single_out(nothing, truth).found == 0.0
    assert math.isnan(single_out(nothing, truth).right)
    wrong = single_out(View.of_counts(np.array([1, 0, 1, 1])), truth)
    assert wrong.found == 0.5
    assert wrong.right == pytest.approx(1 / 3)
