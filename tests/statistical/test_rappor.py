"""RAPPOR by chance: reports against the matrix, epsilon against audits, estimates against the truth, averaging attacks."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from sudare.attacks import audit_epsilon
from sudare.collect.rappor.association import Collected, associate
from sudare.collect.rappor.bloom import bloom_filter
from sudare.collect.rappor.design import CandidateTexts, count_bits, estimate_bits
from sudare.collect.rappor.memory import PermanentMemory
from sudare.collect.rappor.rappor import Rappor
from sudare.collect.rappor.rappor_decode import decode, estimate_all
from tests.statistical.goodness import ERROR_PROBABILITY, chi_square_rejects

SMALL = Rappor(4, 1, 1, f=0.5, p=0.25, q=0.75)
HALF_THE_NOISE = Rappor(4, 1, 1, f=0.25, p=0.125, q=0.875)


def two_texts(rappor: Rappor) -> tuple[str, str]:
    """Whose filters have no bit in common."""
    texts = [f"text {i}" for i in range(100)]
    filters = [bloom_filter(text, 0, rappor.hashes, rappor.bits) for text in texts]
    full = next(i for i, filled in enumerate(filters) if filled.bit_count() == rappor.hashes)
    other = next(i for i, x in enumerate(filters) if x.bit_count() == rappor.hashes and not x & filters[full])
    return texts[full], texts[other]


def as_numbers(reports: Any) -> Any:
    return reports["bits"].astype(np.int64) @ (1 << 8 * np.arange(reports.dtype["bits"].shape[0]))


@pytest.mark.parametrize("rappor", [SMALL, Rappor(3, 2, 1, 0.3, 0.1, 0.7)])
def test_reports_have_the_law_of_the_matrix(rappor: Rappor) -> None:
    text, _ = two_texts(Rappor(4, 1, 1, 0.5, 0.25, 0.75)) if rappor is SMALL else ("text 1", "")
    row = rappor.filters_in_rows().index(bloom_filter(text, 0, rappor.hashes, rappor.bits))
    reports = as_numbers(rappor.randomize([text] * 400_000))
    observed = np.bincount(reports, minlength=1 << rappor.bits).astype(float)
    probabilities = rappor.transition().probabilities()[row]
    assert not chi_square_rejects(observed, probabilities)
    wrong = Rappor(rappor.bits, rappor.hashes, 1, rappor.f, rappor.p + type(rappor.p)(1, 50), rappor.q)
    assert chi_square_rejects(observed, wrong.transition().probabilities()[row])


@pytest.mark.slow
def test_epsilon_of_one_report_is_not_exceeded_and_half_the_noise_is_caught() -> None:
    one, other = two_texts(SMALL)
    runs = 400_000

    def audited(rappor: Rappor) -> Any:
        return audit_epsilon(*(as_numbers(rappor.randomize([text] * runs)) for text in (one, other)))

    claimed = float(SMALL.epsilon())
    assert not audited(SMALL).refutes(claimed)
    assert audited(SMALL).lower_bound > 0.8 * claimed
    assert audited(HALF_THE_NOISE).refutes(claimed)


@pytest.mark.slow
def test_epsilon_of_the_permanent_response_is_not_exceeded_by_many_reports() -> None:
    """What 200 reports from one permanent response show together; redrawing it each time gives more away than it may."""
    rappor, runs, reports = Rappor(4, 1, 1, f=0.5, p=0.25, q=0.75), 20_000, 200
    claimed = float(rappor.permanent_epsilon())

    def seen(text: str, kept: bool) -> Any:
        """Which bits are set in most reports."""
        filled = np.full((runs, 1), bloom_filter(text, 0, 1, 4), dtype=np.uint64)
        permanent, cohorts = rappor.permanent_response(filled), np.zeros(runs, dtype=np.int64)
        sums = np.zeros((runs, 4))
        for _ in range(reports):
            source = permanent if kept else rappor.permanent_response(filled)
            sums += np.unpackbits(rappor.report(cohorts, source)["bits"], axis=1, bitorder="little")[:, :4]
        return (sums > reports / 2) @ np.array([1, 2, 4, 8])

    one, other = two_texts(rappor)
    kept = audit_epsilon(seen(one, True), seen(other, True))
    assert not kept.refutes(claimed)
    assert kept.lower_bound > 0.5 * claimed
    assert audit_epsilon(seen(one, False), seen(other, False)).refutes(claimed)


@pytest.mark.slow
def test_averaging_shows_the_filter_without_memory_and_the_permanent_response_with_it(tmp_path: Path) -> None:
    """With f = 1/2 a quarter of the bits read from kept responses are wrong, however many reports are averaged."""
    rappor, people, reports = Rappor(32, 2, 8, f=0.5, p=0.25, q=0.75), 200, 600
    names, values = [f"person {i}" for i in range(people)], ["the truth"] * people
    with PermanentMemory(tmp_path / "memory.db", rappor, "question") as memory:
        cohorts, permanent = memory.permanent(names, values)
        kept = sum(bits_of(memory.report(names, values), 32).astype(np.int64) for _ in range(reports // 10))
        kept = kept + sum(
            bits_of(rappor.report(cohorts, permanent), 32).astype(np.int64) for _ in range(reports * 9 // 10)
        )
    fresh = sum(bits_of(rappor.randomize(values, cohorts=cohorts), 32).astype(np.int64) for _ in range(reports))
    filters = [bloom_filter("the truth", cohort, 2, 32) for cohort in cohorts.tolist()]
    true = np.array([[filled >> place & 1 for place in range(32)] for filled in filters], dtype=bool)
    permanent_bits = np.unpackbits(permanent.view(np.uint8).reshape(people, -1), axis=1, bitorder="little")[:, :32] == 1
    middle = float(rappor.reported_if_set + rappor.reported_if_clear) / 2 * reports
    # Without memory: everything is read. The nearer rate is 5 deviations away at least.
    assert ((fresh > middle) == true).mean() > 0.999
    # With memory: the permanent bits are read, the true ones only as far as they agree.
    assert ((kept > middle) == permanent_bits).mean() > 0.999
    agreeing = int(((kept > middle) == true).sum())
    low, high = binom.ppf(ERROR_PROBABILITY, true.size, 0.745), binom.isf(ERROR_PROBABILITY, true.size, 0.755)
    assert low <= agreeing <= high
    # More reports of the same person do not help: the best guess of a set bit stays wrong a quarter of the time.
    assert (kept > middle)[true].mean() < 0.85


def bits_of(reports: Any, bits: int) -> Any:
    return np.unpackbits(reports["bits"], axis=1, bitorder="little")[:, :bits]


@pytest.mark.slow
def test_bit_estimates_are_unbiased_with_the_variance_they_state() -> None:
    rappor, repeats = Rappor(8, 2, 2, 0.25, 0.2, 0.7), 3_000
    values, cohorts = ["a"] * 60 + ["b"] * 40, [0] * 50 + [1] * 50
    made = [estimate_bits(count_bits(rappor, rappor.randomize(values, cohorts=cohorts))) for _ in range(repeats)]
    unbiased = np.array([each.unbiased for each in made])
    true = np.zeros((2, 8))
    for text, cohort in zip(values, cohorts, strict=True):
        filled = bloom_filter(text, cohort, 2, 8)
        true[cohort] += [filled >> place & 1 for place in range(8)]
    stated = np.mean([each.variances for each in made], axis=0)
    assert (abs(unbiased.mean(axis=0) - true) < 6.5 * np.sqrt(stated / repeats)).all()
    ratios = unbiased.var(axis=0, ddof=1) / stated
    assert (abs(ratios - 1) < 6.5 * math.sqrt(2 / repeats) * 1.1).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "rappor", [Rappor(16, 2, 4, 0.25, 0.2, 0.8), pytest.param(Rappor(32, 1, 8, 0, 0.02, 0.98), marks=pytest.mark.deep)]
)
def test_estimates_are_unbiased_and_intervals_cover(rappor: Rappor) -> None:
    """The second has next to no noise: nearly all its variance is that of drawing the cohorts."""
    texts, numbers, repeats = ["a", "b", "c", "d", "e"], np.array([700, 200, 80, 15, 5]), 1_500
    values = [text for text, number in zip(texts, numbers, strict=True) for _ in range(number)]
    candidates = CandidateTexts.from_texts(rappor, texts)
    made = [estimate_all(rappor, rappor.randomize(values), candidates) for _ in range(repeats)]
    unbiased = np.array([each.unbiased for each in made])
    errors = unbiased.std(axis=0, ddof=1)
    assert (abs(unbiased.mean(axis=0) - numbers) < 6.5 * errors / math.sqrt(repeats)).all()
    stated = np.sqrt(np.mean([each.variances for each in made], axis=0))
    assert (errors < 1.15 * stated).all()
    assert (errors > 0.8 * stated).all()
    low, high = (np.array(ends) for ends in zip(*(each.intervals(0.95) for each in made), strict=True))
    covered = ((low <= numbers) & (numbers <= high)).sum(axis=0)
    # The variance is estimated and the law only nearly normal: 0.94 is still allowed; half the width is not.
    assert (covered >= binom.ppf(ERROR_PROBABILITY, repeats, 0.94)).all()
    halves = (abs(unbiased - numbers) <= (high - low) / 4).sum(axis=0)
    assert (halves < binom.ppf(ERROR_PROBABILITY, repeats, 0.94)).any()


@pytest.mark.slow
def test_decoding_finds_no_strangers_and_its_intervals_hold_common_texts() -> None:
    """Texts far above the threshold, so that being found says nothing about the noise; people with unknown texts among them."""
    rappor, repeats = Rappor(32, 2, 8, 0.25, 0.25, 0.75), 150
    common = [f"common {i}" for i in range(5)]
    numbers = np.array([4_000, 3_500, 3_000, 2_500, 2_500])
    candidates = CandidateTexts.from_texts(rappor, [*common, *(f"nobody {i}" for i in range(95))])
    covered, strangers = 0, 0
    for repeat in range(repeats):
        values = [text for text, number in zip(common, numbers, strict=True) for _ in range(number)]
        values += [f"unknown {repeat} {i}" for i in range(2_000)]
        found = decode(rappor, rappor.randomize(values), candidates)
        assert set(found.labels) >= set(common)
        strangers += len(found.labels) > len(common)
        low, high = found.intervals(0.95)
        true = dict(zip(common, numbers, strict=True))
        covered += sum(low[i] <= true[x] <= high[i] for i, x in enumerate(found.labels) if x in true)
    assert strangers <= binom.isf(ERROR_PROBABILITY, repeats, 0.05)
    assert covered >= binom.ppf(ERROR_PROBABILITY, 5 * repeats, 0.94)
    assert covered <= binom.isf(ERROR_PROBABILITY, 5 * repeats, 0.985)


@pytest.mark.slow
def test_pairs_are_estimated_without_bias_and_intervals_cover() -> None:
    rappor, repeats = Rappor(16, 2, 4, 0.25, 0.2, 0.8), 150
    numbers = np.array([[600, 400], [300, 700]])
    fruit = [text for i, text in enumerate(("apple", "pear")) for j in range(2) for _ in range(numbers[i, j])]
    town = [text for i in range(2) for j, text in enumerate(("Kyoto", "Nara")) for _ in range(numbers[i, j])]
    made = [
        associate(
            Collected(rappor, rappor.randomize(fruit), ["apple", "pear"]),
            Collected(rappor, rappor.randomize(town), ["Kyoto", "Nara"]),
            others=False,
        )
        for _ in range(repeats)
    ]
    true = numbers / numbers.sum()
    shares = np.array([each.shares for each in made])
    errors = shares.std(axis=0, ddof=1)
    # Likeliest shares are unbiased only in the limit: a tenth of an error is allowed.
    assert (abs(shares.mean(axis=0) - true) < (6.5 / math.sqrt(repeats) + 0.1) * errors).all()
    ends = [each.intervals(0.95) for each in made]
    covered = sum(((low <= true) & (true <= high)).sum() for low, high in ends)
    assert covered >= binom.ppf(ERROR_PROBABILITY, 4 * repeats, 0.93)
    assert covered <= binom.isf(ERROR_PROBABILITY, 4 * repeats, 0.98)
