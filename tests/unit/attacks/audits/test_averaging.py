"""Repeated answers wear noise off, a cell key does not wear off by repetition, and confidences mean what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sudare.attacks import AttackOutcome, NoiseLaw, answers_that_break, average_answers, average_linked_cells
from sudare.attacks.audits.averaging import _rounded_mean_is_right
from sudare.errors import ParameterError
from sudare.noise import discrete_gaussian, discrete_laplace


def test_laws_have_the_moments_of_the_noise() -> None:
    q = np.exp(-1 / 3)
    assert NoiseLaw.laplace(3).variance == pytest.approx(2 * q / (1 - q) ** 2)
    assert NoiseLaw.gaussian(4).variance == pytest.approx(16, rel=1e-6)
    assert NoiseLaw.laplace(3).mean == pytest.approx(0)
    law = NoiseLaw.laplace(2)
    for error in (0.5, 0.1, 1e-4):
        margin = law.margin(error)
        outside = law.probabilities[np.abs(law.values) > margin].sum()
        assert outside <= error < law.probabilities[np.abs(law.values) > margin - 1].sum()
    assert NoiseLaw.none().variance == 0
    assert NoiseLaw.none().log_probability([0, 1]).tolist() == [0, -np.inf]


@pytest.mark.usefixtures("repeatable_noise")
@pytest.mark.parametrize(
    ("sampler", "law"), [(discrete_laplace(4), NoiseLaw.laplace(4)), (discrete_gaussian(4), NoiseLaw.gaussian(4))]
)
def test_many_answers_break_and_one_does_not(sampler: Any, law: NoiseLaw) -> None:
    truth = np.arange(20)
    once = average_answers(truth[:, None] + sampler.draw(20).reshape(20, 1), law)
    assert once.report().outcome is AttackOutcome.HELD
    often = average_answers(truth[:, None] + sampler.draw(20 * 2000).reshape(20, 2000), law)
    assert np.array_equal(often.estimates, truth)
    assert len(often.report().with_outcome(AttackOutcome.BROKEN)) == 20


@pytest.mark.usefixtures("repeatable_noise")
def test_confidence_is_how_often_the_guess_is_right() -> None:
    cells = 4000
    truth = np.full(cells, 50)
    found = average_answers(truth[:, None] + discrete_laplace(2).draw(cells * 8).reshape(cells, 8), NoiseLaw.laplace(2))
    right = found.estimates == truth
    assert abs(right.mean() - found.confidences.mean()) < 5 * np.sqrt(0.25 / cells)
    sure = found.confidences > found.confidences.mean()
    assert right[sure].mean() > right[~sure].mean()


def test_noise_that_repeats_does_not_wear_off() -> None:
    law = NoiseLaw.of(-2, [0.1, 0.2, 0.4, 0.2, 0.1])
    found = average_answers([[12] * 1000], law, repeats_noise=True)
    assert found.distinct_answers.tolist() == [1]
    assert found.confidences[0] == pytest.approx(0.4)
    # Taken for independent noise, the same answers would seem to prove the published value: an attacker would be sure, and wrong.
    assert average_answers([[12] * 1000], law).confidences[0] > 0.999
    impossible = average_answers([[0, 100], [3, 4]], law)
    assert impossible.confidences[0] == 0.0
    assert impossible.is_explained is not None
    assert impossible.is_explained.tolist() == [False, True]
    (verdict,) = impossible.report().with_outcome(AttackOutcome.UNDECIDED)
    assert verdict.sentence.english.startswith("No true count explains")


@pytest.mark.usefixtures("repeatable_noise")
def test_answers_needed() -> None:
    law = NoiseLaw.laplace(2)
    needed = answers_that_break(law, sure=0.95)
    assert _rounded_mean_is_right(law, needed) >= 0.95 > _rounded_mean_is_right(law, needed - 1)
    means = discrete_laplace(2).draw(4000 * needed).reshape(4000, needed).mean(axis=1)
    assert (np.abs(means) < 0.5).mean() == pytest.approx(0.95, abs=5 * np.sqrt(0.05 * 0.95 / 4000))
    assert answers_that_break(NoiseLaw.none()) == 1
    assert needed < answers_that_break(law, sure=0.99) < answers_that_break(NoiseLaw.laplace(4), sure=0.99)


@pytest.mark.usefixtures("repeatable_noise")
def test_sums_wear_off_cell_keys() -> None:
    """One cell, and forty exact totals of it and one of forty noisy neighbours: forty-one noises for one count."""
    law = NoiseLaw.of(-2, [0.1, 0.2, 0.4, 0.2, 0.1])
    routes = 120
    random = np.random.default_rng(3)
    truth = np.concatenate([[17], random.integers(5, 40, routes)])
    truth = np.concatenate([truth, 17 + truth[1:]])
    noisy = truth + np.concatenate(
        [random.choice(law.values, routes + 1, p=law.probabilities), np.zeros(routes, dtype=int)]
    )
    equations = np.zeros((routes, truth.size), dtype=int)
    for route in range(routes):
        equations[route, [0, 1 + route, 1 + routes + route]] = [1, 1, -1]
    exact = np.arange(truth.size) > routes
    linked = average_linked_cells(noisy, equations, law, exact=exact)
    assert linked.estimates[0] == 17
    assert linked.confidences[0] > 0.99
    alone = average_linked_cells(noisy[:1], np.zeros((1, 1)), law)
    assert alone.confidences[0] < 0.5
    assert alone.report().outcome is AttackOutcome.HELD
    assert linked.report().outcome is AttackOutcome.BROKEN


def test_bounded_noise_leaves_intervals_that_sums_narrow() -> None:
    law = NoiseLaw.of(-2, [0.1, 0.2, 0.4, 0.2, 0.1])
    equation = [[1, -1, -1]]
    certain = average_linked_cells(
        [10, 6, 8], equation, law, exact=[True, False, False]
    )  # 4 to 8 and 6 to 10: only 4 + 6
    assert certain.estimates.tolist() == [10, 4, 6]
    assert certain.confidences.tolist() == [1, 1, 1]
    open_still = average_linked_cells([10, 6, 7], equation, law, exact=[True, False, False])
    assert open_still.confidences[1:].max() < 0.99
    wrong = average_linked_cells([10, 9, 9], equation, law, exact=[True, False, False])
    assert {verdict.outcome for verdict in wrong.report().verdicts} == {AttackOutcome.UNDECIDED}
    # A law without bounds explains everything, however rare.
    assert average_linked_cells([10, 90, 90], equation, NoiseLaw.gaussian(1)).report().outcome is AttackOutcome.HELD


def test_least_squares_is_that_of_the_textbook() -> None:
    published = np.array([49, 10, 18, 20])
    equation = np.array([[1, -1, -1, -1]])
    found = average_linked_cells(published, equation, NoiseLaw.gaussian(1), sure=0.9)
    basis = np.array([[1, 1, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    solved = basis @ np.linalg.lstsq(basis, published, rcond=None)[0]
    assert np.array_equal(found.estimates, np.round(solved))


@pytest.mark.parametrize(
    "call",
    [
        lambda: average_answers([1, 2], NoiseLaw.laplace(1)),
        lambda: average_answers([[1.5]], NoiseLaw.laplace(1)),
        lambda: average_answers([[1]], NoiseLaw.laplace(1), names=["a", "b"]),
        lambda: average_answers([[1]], NoiseLaw.laplace(1), sure=1),
        lambda: average_linked_cells([1, 2], [[1, 1, 1]], NoiseLaw.laplace(1)),
        lambda: answers_that_break(NoiseLaw.of(0, [0.5, 0.5])),
        lambda: answers_that_break(NoiseLaw.laplace(300)),
        lambda: NoiseLaw.laplace(0),
        lambda: NoiseLaw.gaussian(-1),
        lambda: NoiseLaw.of(0, [0.5]),
    ],
)
def test_mistakes_are_told(call: Any) -> None:
    with pytest.raises(ParameterError):
        call()


def test_answers_with_different_noise_are_weighed_by_it() -> None:
    wide, narrow = NoiseLaw.laplace(20), NoiseLaw.laplace(0.2)
    found = average_answers([[30, 10]], [wide, narrow])
    assert int(found.estimates[0]) == 10
    assert float(found.confidences[0]) > 0.98
    same = average_answers([[30, 10]], [narrow, narrow]), average_answers([[30, 10]], narrow)
    assert same[0].estimates.tolist() == same[1].estimates.tolist()
    assert same[0].confidences.tolist() == same[1].confidences.tolist()


def test_cut_off_answers_are_not_taken_for_counts_of_nobody() -> None:
    """A published 0 may be any noisy count below: each true count is as likely as noise that takes it down to 0."""
    law = NoiseLaw.gaussian(2)  # a Laplace law has no memory: there it makes no difference
    found = average_answers([[0]], law, floor=0)
    down = [float(law.probabilities[: -law.lowest - count + 1].sum()) for count in range(-law.lowest + 1)]
    assert int(found.estimates[0]) == 0
    assert found.confidences[0] == pytest.approx(down[0] / sum(down))
    assert abs(found.confidences[0] - average_answers([[0]], law).confidences[0]) > 0.05
    # An answer above the floor is what it is.
    assert average_answers([[5]], law, floor=0).confidences[0] == average_answers([[5]], law).confidences[0]


def test_as_many_laws_as_columns() -> None:
    law = NoiseLaw.laplace(1)
    with pytest.raises(ParameterError, match="one law, or"):
        average_answers([[1, 2]], [law])
    with pytest.raises(ParameterError, match="one law, or"):
        average_answers([[1, 2]], [law, law], repeats_noise=True)
