"""Decoding: the published sample, the lasso against its conditions of optimality, least squares against plain algebra, pairs."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import nnls

from sudare.collect.rappor.association import Collected, associate
from sudare.collect.rappor.bloom import bloom_bits
from sudare.collect.rappor.design import BitCounts, CandidateTexts, count_bits, estimate_bits, weights_and_rates
from sudare.collect.rappor.rappor import Rappor
from sudare.collect.rappor.rappor_decode import _Regression, decode, estimate_all, select_candidates
from sudare.errors import GuaranteeError, ParameterError
from sudare.kernels.collection.rappor import joint_gains, nonnegative_lasso
from sudare.noise import ResearchEntropy

DATA = Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[5] / "shared" / "data")) / "rappor_sample"
RAPPOR = Rappor(32, 2, 8, f=0.25, p=0.25, q=0.75)
TEXTS = tuple(f"text {i}" for i in range(40))
SHARES = np.exp(-np.arange(40) / 6)
NUMBERS = np.floor(30_000 * SHARES / SHARES.sum()).astype(np.int64)


def collected(seed: int, rappor: Rappor = RAPPOR, unknown: int = 0) -> Any:
    values = np.repeat(np.array(TEXTS, dtype=object), NUMBERS).tolist() + [f"unknown {i}" for i in range(unknown)]
    return rappor.randomize(values, ResearchEntropy(seed))


# The published sample.


@pytest.fixture(scope="module")
def sample() -> tuple[Rappor, BitCounts, CandidateTexts]:
    if not DATA.is_dir():
        pytest.skip("the folder rappor_sample is missing: the published sample is not decoded")
    header, row = list(csv.reader((DATA / "params.csv").read_text().splitlines()))
    settings = dict(zip(header, row, strict=True))
    k, h, m = (int(settings[name]) for name in "khm")
    f, p, q = (float(settings[name]) for name in "fpq")
    rappor = Rappor(k, h, m, f, p, q)
    counts = np.array([[int(x) for x in row] for row in csv.reader((DATA / "counts.csv").read_text().splitlines())])
    rows = list(csv.reader((DATA / "map.csv").read_text().splitlines()))
    positions = [[int(x) - 1 for x in row[1:] if x] for row in rows]
    candidates = CandidateTexts.from_positions(rappor, [row[0] for row in rows], positions)
    return rappor, BitCounts(rappor, counts[:, 0], counts[:, 1:]), candidates


def printed(name: str) -> float:
    lines = (DATA / "test.csv").read_text().splitlines()
    return next(float(line.split()[-1]) for line in lines if name in line)


def test_sample_agrees_with_what_was_printed(sample: tuple[Rappor, BitCounts, CandidateTexts]) -> None:
    rappor, counts, candidates = sample
    found = decode(rappor, counts, candidates)
    assert found.candidates == printed("Candidate strings") == 300
    assert round(found.noise_variance, 3) == printed("Noise Variance")
    assert round(found.noise_deviation, 3) == printed("Theoretical Noise Std. Dev.")
    assert float(rappor.reported_if_clear) == printed("Effective p")
    assert float(rappor.reported_if_set) == printed("Effective q")
    assert rappor.largest_ratio() == printed("exp(e_1)") == 9
    assert abs(float(rappor.epsilon()) - printed(" e_1")) < 1e-9
    assert rappor.permanent_ratio() is None
    assert printed("exp(e_inf)") == float("inf")
    assert abs(rappor.detection_share(found.people) - printed("Detection frequency")) < 1e-9


def test_sample_has_texts_that_the_printed_run_missed(sample: tuple[Rappor, BitCounts, CandidateTexts]) -> None:
    """The printed run found none and left 0.988 of the variance unexplained; they are there, and fall off as exp(-i/30)."""
    rappor, counts, candidates = sample
    found = decode(rappor, counts, candidates)
    assert printed("Detected strings") == 0
    assert set(found.labels) >= {f"V_{i}" for i in range(1, 73)}
    assert len(found.labels) < 100
    assert found.explained_variance > 0.98
    assert abs(found.missing_variance) < 0.005
    assert abs(found.explained + found.others - found.people) < 5 * found.explained_error
    law = np.exp(-np.arange(1, 301) / 30)
    everything = estimate_all(rappor, counts, candidates)
    scores = (everything.unbiased - everything.people * law / law.sum()) / everything.standard_errors
    assert abs(scores).max() < 4.5
    assert 0.8 < scores.std() < 1.2
    assert abs(everything.unbiased.sum() - everything.people) < 5 * np.sqrt(everything.variances.sum())


def test_sample_is_complete(sample: tuple[Rappor, BitCounts, CandidateTexts]) -> None:
    assert json.loads((DATA / "known_answers.json").read_text())
    assert sample[1].people.sum() == 10_000_000


# Bits.


def test_counts_are_those_of_a_plain_loop() -> None:
    rappor = Rappor(70, 2, 3, 0.5, 0.5, 0.75)
    reports = rappor.randomize([f"{i}" for i in range(500)])
    counts = count_bits(rappor, reports)
    for cohort in range(3):
        rows = reports[reports["cohort"] == cohort]
        bits = np.unpackbits(rows["bits"], axis=1, bitorder="little")[:, :70]
        assert counts.people[cohort] == len(rows)
        assert (counts.ones[cohort] == bits.sum(axis=0)).all()
    halves = count_bits(rappor, reports[:123]) + count_bits(rappor, reports[123:])
    assert (halves.ones == counts.ones).all()
    assert count_bits(rappor, reports[:0]).people.sum() == 0


def test_bits_without_noise_are_exact() -> None:
    sure = Rappor(16, 2, 2, 0, 0, 1)
    reports = sure.randomize(["a"] * 3 + ["b"] * 5, cohorts=[0, 1, 0, 1, 1, 0, 1, 1])
    bits = estimate_bits(count_bits(sure, reports))
    sizes = {text: [len(set(bloom_bits(text, cohort, 2, 16))) for cohort in range(2)] for text in "ab"}
    assert bits.unbiased.sum(axis=1).tolist() == [
        2 * sizes["a"][0] + sizes["b"][0],
        sizes["a"][1] + 4 * sizes["b"][1],
    ]
    assert (bits.variances == 0).all()
    alone = Rappor(16, 2, 1, 0, 0, 1)
    exact = alone.estimate(alone.randomize(["a"] * 3 + ["b"] * 5), ["a", "b"])
    assert exact.unbiased.tolist() == pytest.approx([3, 5])
    assert exact.variances.tolist() == pytest.approx([0, 0])


# Lasso.


@pytest.mark.parametrize("background", [0.0, 0.06])
def test_lasso_is_optimal(background: float) -> None:
    """No share can be moved: gradients are at most the penalty, and equal to it where the share is not 0."""
    generator = np.random.default_rng(2)
    design = (generator.random((120, 200)) < 0.05).astype(float)
    weights, target = generator.uniform(0.5, 2, 120), design[:, :10] @ generator.uniform(0.2, 1, 10)
    target += generator.normal(0, 0.1, 120)
    penalties = generator.uniform(0.2, 0.4, 200)
    starts = np.r_[0, np.cumsum(design.sum(axis=0))].astype(np.int64)
    rows = np.concatenate([np.flatnonzero(column) for column in design.T]).astype(np.int64)
    shares, residuals = np.zeros(201), target.copy()
    sweeps = nonnegative_lasso(starts, rows, weights, penalties, background, 1e-9, 50_000, residuals, shares)
    assert sweeps < 50_000
    assert np.allclose(residuals, target - design @ shares[:-1] - background * shares[-1], atol=1e-9)
    gradients = design.T @ (weights * residuals) - penalties
    assert (gradients < 1e-6).all()
    assert (abs(gradients[shares[:-1] > 0]) < 1e-6).all()
    assert 5 <= (shares[:-1] > 0).sum() < 100
    if background:
        assert abs((weights * residuals).sum()) < 1e-5 or shares[-1] == 0


def test_lasso_without_penalty_is_non_negative_least_squares() -> None:
    counts, candidates = count_bits(RAPPOR, collected(1)), CandidateTexts.from_texts(RAPPOR, TEXTS)
    shares = select_candidates(counts, candidates, others=False, strictness=1e-7)
    weights, rates = weights_and_rates(counts)
    expected, _ = nnls(np.sqrt(weights)[:, None] * candidates.matrix().toarray(), np.sqrt(weights) * rates)
    assert np.allclose(shares[:-1], expected, atol=1e-4)


def test_selection_never_takes_more_than_half_the_rows() -> None:
    tiny = Rappor(8, 2, 2, 0.25, 0.25, 0.75)
    counts = count_bits(tiny, tiny.randomize([f"{i % 30}" for i in range(20_000)], ResearchEntropy(1)))
    candidates = CandidateTexts.from_texts(tiny, [f"{i}" for i in range(200)])
    shares = select_candidates(counts, candidates)
    assert 1 <= (shares[:-1] > 0).sum() <= 8
    assert decode(tiny, counts, candidates).candidates == 200


# Regression.


def test_regression_is_plain_weighted_least_squares() -> None:
    counts, candidates = count_bits(RAPPOR, collected(2)), CandidateTexts.from_texts(RAPPOR, TEXTS)
    fit = _Regression(counts, candidates, np.arange(40), others=True)
    weights, rates = weights_and_rates(counts)
    design = np.column_stack([candidates.matrix().toarray(), np.full(256, 1 - (31 / 32) ** 2)])
    root = np.sqrt(weights)
    expected = np.linalg.lstsq(root[:, None] * design, root * rates, rcond=None)[0]
    assert np.allclose(fit.shares, expected)


def test_decode_finds_the_common_texts_and_allows_for_others() -> None:
    reports = collected(3, unknown=6_000)
    candidates = [*TEXTS, *(f"nobody {i}" for i in range(60))]
    found = decode(RAPPOR, reports, candidates)
    assert set(found.labels) >= set(TEXTS[:6])
    assert not any(label.startswith("nobody") for label in found.labels)
    assert list(found.counts) == sorted(found.counts, reverse=True)
    true = dict(zip(TEXTS, NUMBERS, strict=True))
    low, high = found.intervals(0.9999)
    assert all(low[i] < true[label] < high[i] for i, label in enumerate(found.labels[:6]))
    assert (found.p_values <= 0.05 / 100).all()
    assert found.people == NUMBERS.sum() + 6_000
    missed = found.people - sum(true[label] for label in found.labels)
    assert abs(found.others - missed) < 4 * found.others_error
    more = decode(RAPPOR, reports, candidates, correction="fdr")
    assert set(more.labels) >= set(found.labels)
    assert decode(RAPPOR, count_bits(RAPPOR, reports), candidates).labels == found.labels


@pytest.mark.parametrize("others", [True, False])
def test_nothing_is_found_among_strangers(others: bool) -> None:
    reports = RAPPOR.randomize([f"unknown {i}" for i in range(5_000)], ResearchEntropy(3))
    found = decode(RAPPOR, reports, [f"nobody {i}" for i in range(50)], alpha=1e-9, others=others)
    assert found.labels == ()
    assert found.explained == 0
    assert found.explained_error == 0
    assert np.isfinite(found.others)


def test_candidates_that_cannot_be_told_apart() -> None:
    rappor = Rappor(16, 2, 2, 0.25, 0.25, 0.75)
    places = [[0, 1, 16, 17], [2, 3, 18, 19]]
    twins = CandidateTexts.from_positions(rappor, ["one", "two", "again"], [*places, places[0]])
    reports = rappor.randomize(["x"] * 4_000)
    with pytest.raises(GuaranteeError, match="told apart"):
        estimate_all(rappor, reports, twins)
    counts = count_bits(rappor, reports)
    fit = _Regression(counts, twins, np.arange(3), others=True)
    assert fit.chosen.tolist() == [0, 1]
    with pytest.raises(GuaranteeError, match="told apart"):
        rappor.estimate(reports, [f"{i}" for i in range(40)])


@pytest.mark.parametrize(
    "change",
    [
        {"candidates": []},
        {"candidates": ["a", "a"]},
        {"candidates": ["a", 1]},
        {"candidates": "ab"},
        {"alpha": 0.0},
        {"alpha": 1},
        {"correction": "none"},
        {"others": 1},
        {"reports": RAPPOR.randomize([])},
        {"reports": Rappor(32, 2, 4, 0.25, 0.25, 0.75).randomize(["a"] * 9, cohorts=[0] * 9)["bits"]},
        {"reports": count_bits(Rappor(32, 2, 8, 0.5, 0.25, 0.75), RAPPOR.randomize(["a"]))},
        {"candidates": CandidateTexts.from_texts(Rappor(16, 2, 8, 0.25, 0.25, 0.75), ["a"])},
    ],
)
def test_wrong_arguments_of_decode(change: dict[str, Any]) -> None:
    usual = {"rappor": RAPPOR, "reports": RAPPOR.randomize(["a"] * 9), "candidates": ["a", "b"]}
    with pytest.raises(ParameterError):
        decode(**{**usual, **change})


def test_wrong_counts_and_positions() -> None:
    rappor = Rappor(2, 1, 1, 0, 0.25, 0.75)
    for people, ones in (([1], [[2, 0]]), ([1], [[-1, 0]]), ([1, 1], [[0, 0]]), ([1.0], [[0, 0]]), ([1], [[0]])):
        with pytest.raises(ParameterError):
            BitCounts(rappor, people, ones)  # type: ignore[arg-type]
    wrong: list[list[list[int]]] = [[[2]], [[-1]], [[]], [[0], [1]]]
    for positions in wrong:
        with pytest.raises(ParameterError):
            CandidateTexts.from_positions(rappor, ["a"], positions)
    with pytest.raises(ParameterError):
        BitCounts(rappor, [1], [[0, 0]]) + BitCounts(Rappor(2, 1, 1, 0, 0.2, 0.75), [1], [[0, 0]])  # type: ignore[arg-type]


# Pairs.

PAIRS = Rappor(16, 2, 4, f=0.25, p=0.2, q=0.8)
FRUITS, TOWNS = ["apple", "pear", "plum"], ["Kyoto", "Nara"]
TRUTH = np.array([[0.3, 0.05], [0.05, 0.25], [0.1, 0.05]])


def paired(people: int, rappor: Rappor = PAIRS, unknown: float = 0.2) -> tuple[Collected, Collected, Any]:
    """People by exact numbers; those left have fruits that nobody knows, in both towns alike."""
    numbers = np.floor(people * TRUTH).astype(int)
    fruit = [FRUITS[i] for i in range(3) for j in range(2) for _ in range(numbers[i, j])]
    town = [TOWNS[j] for i in range(3) for j in range(2) for _ in range(numbers[i, j])]
    rest = int(people * unknown)
    fruit += [f"unknown {i}" for i in range(rest)]
    town += [TOWNS[i % 2] for i in range(rest)]
    true = np.zeros((4, 3))
    true[:3, :2] = numbers / len(fruit)
    true[3, :2] = rest / 2 / len(fruit)
    reports = [rappor.randomize(values, ResearchEntropy(8 + i)) for i, values in enumerate((fruit, town))]
    return Collected(rappor, reports[0], FRUITS), Collected(rappor, reports[1], TOWNS), true


def test_joint_gains_are_those_of_plain_algebra() -> None:
    generator = np.random.default_rng(1)
    one, two, shares = (
        generator.random((50, 4)),
        generator.random((50, 3)),
        generator.dirichlet(np.ones(12)).reshape(4, 3),
    )
    gains = np.empty((4, 3))
    logarithm = joint_gains(one, two, shares, gains)
    likelihoods = np.einsum("ix,xy,iy->i", one, shares, two)
    assert np.isclose(logarithm, np.log(likelihoods).sum())
    assert np.allclose(gains, np.einsum("ix,iy,i->xy", one, two, 1 / likelihoods) / 50)


def test_pairs_are_found() -> None:
    fruit, town, true = paired(40_000)
    joint = associate(fruit, town)
    assert joint.labels == (("apple", "pear", "plum", None), ("Kyoto", "Nara", None))
    assert joint.shares.sum() == pytest.approx(1)
    assert abs(joint.shares - true).max() < 0.03
    low, high = joint.intervals(0.9999)
    assert ((low <= true) & (true <= high)).all()
    # Apples go with Kyoto: not the product of the margins.
    product = np.outer(joint.shares.sum(axis=1), joint.shares.sum(axis=0))
    assert joint.shares[0, 0] > product[0, 0] + 0.05
    assert joint.counts.sum() == pytest.approx(joint.people)
    without = associate(fruit, town, errors=False)
    assert without.standard_errors is None
    with pytest.raises(ParameterError):
        without.intervals()


def test_shortfall_bounds_what_further_steps_gain() -> None:
    fruit, town, _ = paired(5_000)
    rough = associate(fruit, town, errors=False, shortfall_at_most=50.0)
    fine = associate(fruit, town, errors=False, shortfall_at_most=1e-6, gain_at_least=1e-12)
    assert fine.shortfall < rough.shortfall <= 50


@pytest.mark.parametrize(
    "change", [{"others": None}, {"errors": 1}, {"shortfall_at_most": 0.0}, {"gain_at_least": -1.0}]
)
def test_wrong_settings_of_associate(change: dict[str, Any]) -> None:
    fruit, town, _ = paired(500)
    with pytest.raises(ParameterError):
        associate(fruit, town, **change)


def test_wrong_reports_of_associate() -> None:
    fruit, town, _ = paired(500)
    for wrong in (
        Collected(PAIRS, town.reports[:-1], TOWNS),
        Collected(PAIRS, town.reports[:0], TOWNS),
        Collected(Rappor(16, 2, 3, 0.25, 0.2, 0.8), town.reports, TOWNS),
        Collected(Rappor(24, 2, 4, 0.25, 0.2, 0.8), town.reports, TOWNS),
        Collected(PAIRS, town.reports, ["Nara", "Nara"]),
        Collected(PAIRS, town.reports, [f"{i}" for i in range(2000)]),
        "reports",
    ):
        with pytest.raises(ParameterError):
            associate(fruit, wrong)  # type: ignore[arg-type]
