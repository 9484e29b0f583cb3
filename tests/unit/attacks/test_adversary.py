"""Attempts to be reassured falsely by the attacks: each test says in a comment what would be right."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sudare.attacks import (
    AttackOutcome,
    KeyColumn,
    NoiseLaw,
    PersonDomain,
    PublishedCell,
    PublishedCount,
    attack_by_differences,
    attack_suppressed_cells,
    audit_function,
    average_answers,
    average_linked_cells,
    find_special_uniques,
    link_records,
    membership_in_records,
    membership_in_tables,
    population_uniques,
    reconstruct,
)

# -- differencing ------------------------------------------------------------------------------------------------------


def test_a_combination_that_leaves_two_pieces_together_is_found() -> None:
    # Right: city - ward 1 - ward 2 is p and q with 2 people. Neither p nor q can be had alone, so nothing is found, and
    # the search says that it was complete: find it, or say undecided.
    cells = [
        PublishedCell("city", frozenset("abpq"), 102),
        PublishedCell("ward 1", frozenset("a"), 50),
        PublishedCell("ward 2", frozenset("b"), 50),
        PublishedCell("district", frozenset("px"), 40),
    ]
    found = attack_by_differences(cells)
    assert found.report().outcome is not AttackOutcome.HELD


def test_a_difference_that_uncovers_a_cell_published_with_noise_is_found() -> None:
    # Right: b was published with a deviation of 10 people to protect it; city - a says 1 exactly.
    cells = [
        PublishedCell("city", frozenset("ab"), 101),
        PublishedCell("a", frozenset("a"), 100),
        PublishedCell("b", frozenset("b"), 7, deviation=10.0),
    ]
    assert attack_by_differences(cells).report().outcome is AttackOutcome.BROKEN


def test_noise_that_wears_off_over_releases_is_found_for_parts_of_several_pieces() -> None:
    # Right: the mean of 100 releases of the city has a deviation of 0.1, so that city - ward is 2, legibly. It is found if
    # p and q are one piece, and not if another cell tells them apart.
    releases = [PublishedCell(f"city {number}", frozenset("apq"), 52, deviation=1.0) for number in range(100)]
    cells = [*releases, PublishedCell("ward", frozenset("a"), 50), PublishedCell("district", frozenset("px"), 40)]
    assert attack_by_differences(cells[:-1]).report().outcome is AttackOutcome.BROKEN
    assert attack_by_differences(cells).report().outcome is not AttackOutcome.HELD


# -- intervals ---------------------------------------------------------------------------------------------------------


def test_whole_numbers_that_were_not_searched_are_undecided() -> None:
    # Right: 2a + 2b + c = 5 with c up to 2 leaves c = 1 among whole numbers. A hidden cell without a bound in the same part
    # keeps the search from being made at all; c is told as held, between 0 and 2.
    equations = np.array([[2, 2, 1, 0, 0, -1], [1, 0, 0, -1, 1, 0]])
    values, hidden = np.array([1, 1, 1, 3, 2, 5]), np.array([True] * 5 + [False])
    at_most = [np.inf, np.inf, 2, np.inf, np.inf, np.inf]
    searched = attack_suppressed_cells(values, hidden, equations, at_most=at_most, whole_numbers=True)
    verdict = next(one for one in searched.report().verdicts if one.target == "cell 2")
    left = {c for a, b, c in product(range(3), repeat=3) if 2 * a + 2 * b + c == 5}
    assert left == {1}
    assert verdict.outcome is not AttackOutcome.HELD


def test_a_shortfall_within_the_slack_is_not_held() -> None:
    # Right: a must reach 1000 above its value and reaches 995, by whole-number arithmetic. Say broken, or undecided.
    found = attack_suppressed_cells(
        [10**10 + 995, 10**10, 995], [False, True, True], [[1, -1, -1]], required_upper=np.array([0, 1000, 0])
    )
    assert found.upper[0] - found.values[0] == 995
    verdict = next(one for one in found.report().verdicts if one.target == "cell 1")
    assert verdict.outcome is not AttackOutcome.HELD


def test_a_narrow_interval_of_large_numbers_is_not_called_one_value() -> None:
    # Right: a lies between 10**12 - 500 and 10**12 + 500; "nothing else fits" is false.
    values, hidden = [10**12 + 500, 10**12, 500], [False, True, True]
    found = attack_suppressed_cells(values, hidden, [[1, -1, -1]], at_most=[np.inf, np.inf, 1000])
    assert found.upper[0] - found.lower[0] == 1000
    assert not found.is_revealed[0]


# -- reconstruction, uniqueness ----------------------------------------------------------------------------------------


def test_tables_that_contradict_each_other_are_not_a_proof_of_safety() -> None:
    # Right: counts rounded to multiples of 3 and taken for exact ones fit no data set; whoever allows for the rounding finds
    # the only F. An attack on a wrong premise is undecided. (test_reconstruction asserts "held" here.)
    domain = PersonDomain({"sex": ["F", "M"]})
    females, males = {"sex": "F"}, {"sex": "M"}
    rounded = [PublishedCount(6), PublishedCount(0, where=females), PublishedCount(3, where=males)]
    allowed = [PublishedCount(5, 7), PublishedCount(0, 1, where=females), PublishedCount(2, 4, where=males)]
    assert reconstruct(domain, allowed).revealed > 0
    assert reconstruct(domain, rounded).report().outcome is not AttackOutcome.HELD


def test_a_record_that_is_unique_with_all_its_values_is_not_held() -> None:
    # Right: the first record is alone with its four values; sets of up to three were looked at. Say undecided, or look at
    # all values together once.
    rows = [
        (0, 0, 0, 0),
        *(one for one in product((0, 1), repeat=4) if sum(one) == 1),
        *(one for one in product((0, 1), repeat=4) if sum(one) == 1),
    ]
    columns = {f"attribute {place}": [row[place] for row in rows] for place in range(4)}
    assert rows.count(rows[0]) == 1
    verdict = next(one for one in find_special_uniques(columns).report().verdicts if one.target == "record 0")
    assert verdict.outcome is not AttackOutcome.HELD


def test_the_same_number_in_another_type_is_the_same_person() -> None:
    # Right: "30" and 30.0 are compared as numbers, or a sample that is not in the population is refused.
    try:
        assert population_uniques({"age": ["30"]}, {"age": [30.0, 40.0]}).tolist() == [True]
    except ValueError:
        return


# -- linkage -----------------------------------------------------------------------------------------------------------


def perturbed() -> list[KeyColumn]:
    return [
        KeyColumn("age", [30.0], [30.5, 60.0], scale=50),
        KeyColumn("income", [100.0], [101.0, 900.0], scale=1000),
    ]


def test_a_near_link_of_unknown_truth_is_undecided() -> None:
    # Right: with the truth at hand this link is broken. Without it nobody knows, which is not "held".
    assert link_records(perturbed(), truth=[0]).report().outcome is AttackOutcome.BROKEN
    assert link_records(perturbed()).report().outcome is not AttackOutcome.HELD


@pytest.mark.parametrize("truth", [None, [0, 1]])
def test_one_missing_number_does_not_hide_all_links(truth: list[int] | None) -> None:
    # Right: a record without an age is far from everybody (or refused); the two exact links remain.
    column = KeyColumn("age", [30.0, 40.0], [30.0, 40.0, float("nan")], scale=10)
    try:
        assert link_records([column], truth=truth).report().outcome is AttackOutcome.BROKEN
    except ValueError as refusal:
        assert "age" in str(refusal)  # noqa: PT017 - a refusal that names the column is right, too


def test_whole_numbers_and_floats_of_the_same_value_agree() -> None:
    # Right: 34 and 34.0 are the same age; as texts they never agree, and every person is told as held.
    column = KeyColumn("age", [34, 51, 60], [34.0, 51.0, 60.0])
    assert link_records([column], truth=[0, 1, 2]).share_right == 1.0


# -- membership --------------------------------------------------------------------------------------------------------


def test_a_test_with_too_few_people_is_undecided() -> None:
    # Right: all five members are in the file exactly, no outsider is near. The limits are too wide to show it, so nothing
    # was shown; "held" is said.
    own, others = np.arange(5.0), np.arange(5.0) * 7 + 50
    test = membership_in_records([KeyColumn("x", own, own, scale=100)], [KeyColumn("x", others, own, scale=100)])
    assert test.area.value == 1.0
    assert test.report().outcome is not AttackOutcome.HELD


def test_one_missing_number_does_not_hide_members() -> None:
    # Right: as for links; distances that are no number make all scores no number, and the test says guessing.
    own, others = np.arange(400.0), np.arange(400.0) + 5000
    file = np.append(own, np.nan)
    test = membership_in_records([KeyColumn("x", own, file, scale=100)], [KeyColumn("x", others, file, scale=100)])
    assert test.is_broken


def test_an_epsilon_shown_by_one_release_is_not_above_that_of_the_mechanism() -> None:
    # Right: noise of scale 10 on counts has epsilon 0.1. One draw of noise is one run, however many people are tried: all
    # members live in the first cell, all outsiders in the second. No bound above 0.1 may be told.
    reference = np.arange(400).reshape(-1, 1) % 2
    inside, outside = np.zeros((400, 1), dtype=np.int64), np.ones((400, 1), dtype=np.int64)
    law = NoiseLaw.laplace(10)
    test = membership_in_tables([405, 2], 400, members=inside, outsiders=outside, reference=reference, law=law)
    assert test.empirical_epsilon <= 0.1


# -- programs ----------------------------------------------------------------------------------------------------------


def test_a_program_that_publishes_its_input_is_not_held_for_want_of_a_claim() -> None:
    # Right: epsilon of at least 3 was shown; without a claim to compare with, that is broken or undecided.
    found = audit_function(lambda table: table, np.array([5, 9]), np.array([5, 10]), runs=1000)
    assert found.lower_bound > 3
    assert found.report().outcome is not AttackOutcome.HELD


def test_a_claim_that_so_few_runs_could_never_refute_is_undecided() -> None:
    # Right: 125 runs show an epsilon of about 1 at most, whatever the program; a claim of 3 was not tested.
    found = audit_function(lambda table: table, 1, 0, runs=125, claimed=3)
    assert found.report().outcome is not AttackOutcome.HELD


def test_texts_that_differ_are_outputs_that_differ() -> None:
    # Right: "*" for someone and "-" for nobody tells everything; both are read as the same number.
    assert audit_function(lambda table: {"cell": "*" if table else "-"}, 1, 0, runs=1000, claimed=0.5).is_broken


# -- averaging ---------------------------------------------------------------------------------------------------------


def test_bounded_noise_that_only_one_table_explains_is_found() -> None:
    # Right: with noise of -1 or +1, published 9 = 6 + 6 is explained by 10 = 5 + 5 alone; the normal law says 46 %.
    published, noise = (9, 6, 6), (-1, 1)
    left = {
        (a - x, b - y, c - z)
        for a, b, c in [published]
        for x, y, z in product(noise, repeat=3)
        if a - x == b - y + c - z
    }
    assert left == {(10, 5, 5)}
    found = average_linked_cells(published, [[1, -1, -1]], NoiseLaw.of(-1, [0.5, 0.0, 0.5]))
    assert found.report().outcome is not AttackOutcome.HELD


def test_answers_that_the_law_cannot_explain_are_undecided() -> None:
    # Right: noise of at most 1 cannot give 0 and 100 for one cell. The law is wrong, so nothing was tested.
    law = NoiseLaw.of(-1, [0.3, 0.4, 0.3])
    assert average_answers([[0, 100]], law).report().outcome is not AttackOutcome.HELD
