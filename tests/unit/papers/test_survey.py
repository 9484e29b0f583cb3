"""The survey: its examples by hand, formulas against brute force, and findings that can fail."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log
from typing import Any

import numpy as np
import pytest

from sudare.collect.randomizers.categories import Retention
from sudare_papers.report import Table, page_of
from sudare_papers.settings import Settings
from sudare_papers.survey import page as survey_page
from sudare_papers.survey import results as survey_results
from sudare_papers.survey import runs as survey
from sudare_papers.survey.runs import (
    EXACT_ONLY,
    RAPPOR,
    SENSITIVITIES,
    SIZES,
    attack,
    audited,
    bias_of_cutting,
    bits_right,
    blocks_of,
    clipped_sum_sensitivity,
    discrete_deviation,
    exact_examples,
    global_sensitivity,
    known_texts,
    local_sensitivity,
    loss_of_laplace,
    median,
    processed_ratios,
    random_ranges,
    range_errors,
    range_variances,
    range_weight,
    report_counts,
)

QUICK = Settings(repeats=2, is_quick=True, processes=1)


class TestExactExamples:
    def test_the_papers_values(self) -> None:
        found = exact_examples(QUICK)
        assert found["coin epsilon"] == [pytest.approx(log(3), abs=1e-15)] * 2
        assert found["mean 4"] == [0.25, 0.25]
        assert found["clipped 3"] == [300, 300]
        differing = [name for name, (paper, ours) in found.items() if paper not in (None, ours)]
        assert [name for name in differing if abs(found[name][0] - found[name][1]) > 1e-12] == ["clipped, leaving"]

    def test_every_example_is_on_the_page(self) -> None:
        keys = {key for key, _, _ in survey_results.EXAMPLES}
        assert keys == set(exact_examples(QUICK)) - set(EXACT_ONLY)

    def test_sensitivities(self) -> None:
        assert global_sensitivity(sum, 3) == 1
        assert global_sensitivity(lambda data: data[0] * data[1], 2) == 1
        three = [Fraction(0), Fraction(0), Fraction(1)]
        assert local_sensitivity(median, three, (Fraction(0), Fraction(1, 4))) == Fraction(1, 4)
        assert local_sensitivity(median, three, (Fraction(0), Fraction(1))) == 1

    def test_a_clipped_sum(self) -> None:
        assert clipped_sum_sensitivity(-10, 10, 2) == 40
        assert clipped_sum_sensitivity(-10, 10, 2, is_replaced=False) == 20

    def test_the_loss_of_laplace_noise(self) -> None:
        assert loss_of_laplace(4, Fraction(8)) == Fraction(1, 2)
        assert loss_of_laplace(4, Fraction(4)) == 1, "half the noise, twice the loss"

    def test_post_processing(self) -> None:
        ratios = processed_ratios(Retention(("a", "b"), Fraction(1, 2)))
        # As it is; then everything to 0, as it is, exchanged, everything to 1.
        assert ratios == [3, 1, 3, 3, 1]


class TestFormulas:
    @pytest.mark.parametrize("scale", [0.7, 2.0, 9.0])
    def test_the_deviation_of_discrete_noise(self, scale: float) -> None:
        places = np.arange(-400, 401)
        weights = np.exp(-np.abs(places) / scale)
        assert discrete_deviation(scale) ** 2 == pytest.approx((weights * places**2).sum() / weights.sum())

    @pytest.mark.parametrize(("count", "epsilon"), [(0, 1.0), (3, 0.5), (10, 0.1)])
    def test_what_cutting_off_adds(self, count: int, epsilon: float) -> None:
        places = np.arange(-900, 901)
        weights = np.exp(-epsilon * np.abs(places))
        cut = (np.maximum(count + places, 0) * weights).sum() / weights.sum()
        assert bias_of_cutting(np.array([count]), epsilon)[0] == pytest.approx(cut - count)

    def test_weights_of_ranges(self) -> None:
        """By the inverse of the transform's matrix."""
        bits = 4
        cells = 1 << bits
        rows = [np.ones(cells)]
        for height in range(1, bits + 1):
            for first in range(0, cells, 1 << height):
                row = np.zeros(cells)
                row[first : first + (1 << height)] = np.repeat([1, -1], 1 << height - 1)
                rows.append(row)
        inverse = np.linalg.inv(np.array(rows))
        for start, stop in ((0, 16), (0, 1), (3, 11), (5, 6), (7, 7)):
            assert range_weight(start, stop, bits) == pytest.approx((inverse[start:stop].sum(axis=0) ** 2).sum())

    def test_ranges(self) -> None:
        ends = random_ranges(QUICK, 6)
        assert ends.min() >= 0
        assert ends.max() <= 64
        assert (ends[:, 0] <= ends[:, 1]).all()
        assert range_variances(QUICK, 7)[0] == pytest.approx(2 * range_variances(QUICK, 6)[0], rel=0.02)

    def test_one_report(self) -> None:
        """Its bits are those of the report."""
        right = [1 - float(RAPPOR.reported_if_clear), float(RAPPOR.reported_if_set)]
        expected = np.average(right, weights=[RAPPOR.bits - RAPPOR.hashes, RAPPOR.hashes])
        assert bits_right(1, is_kept=False) == bits_right(1, is_kept=True) == pytest.approx(expected)

    def test_very_many_reports(self) -> None:
        assert bits_right(10**5, is_kept=False) == pytest.approx(1)
        assert bits_right(10**5, is_kept=True) == pytest.approx(0.75)

    def test_texts_can_be_told_apart(self) -> None:
        assert len(set(known_texts())) == survey.TEXTS


class TestSteps:
    def test_names(self) -> None:
        settings = Settings(repeats=25)
        every = survey.steps(settings)
        assert len({step.name for step in every}) == len(every) == 2 + 3 * (4 + len(SIZES))
        assert blocks_of(settings) == [(0, 10), (10, 20), (20, 25)]

    def test_the_same_again(self) -> None:
        assert range_errors(QUICK, 6, 0, 1) == range_errors(QUICK, 6, 0, 1)
        assert range_errors(QUICK, 6, 0, 1) != range_errors(QUICK, 6, 1, 2)
        assert attack(QUICK, 0, 1) == attack(QUICK, 0, 1)

    def test_an_attack(self) -> None:
        found = attack(QUICK, 0, 2)
        bits = 2 * survey.PEOPLE * RAPPOR.bits
        fresh, kept = found["fresh"][-1], found["kept"][-1]
        assert len(found["fresh"]) == len(report_counts(QUICK))
        assert fresh[0] >= bits - 2
        assert kept[1] >= bits - 2
        assert 0.7 < kept[0] / bits < 0.8

    def test_the_audit(self) -> None:
        same = {"0": 5000, "1": 5000}
        assert audited([[same, same]]) == 0
        assert audited([[{"0": 10_000}, same]]) > 5


def test_findings_can_fail() -> None:
    """A world in which everything is the other way round."""
    results: dict[str, Any] = {}
    for step in survey.steps(QUICK):
        if step.work is exact_examples:
            results[step.name] = {key: [1.0, 2.0] for key in (*(x[0] for x in survey_results.EXAMPLES), *EXACT_ONLY)}
            results[step.name][survey_results.DIFFERS] = [2.0, 1.0]
        elif step.work is survey.map_facts:
            results[step.name] = {"people": 9.0, "cells": 9.0, "empty": 3.0, "bias 1": 2.0, "bias 0.1": 2.0}
        elif step.work is survey.noise_sums:
            results[step.name] = {"squares": [1.0] * len(SENSITIVITIES), "shares": [0.5, 0.5]}
        elif step.work is survey.neighbour_outputs:
            results[step.name] = {way: [{"0": 500, "1": 500}] * 2 for way in ("local", "global")}
        elif step.work is survey.cut_maps:
            results[step.name] = {epsilon: [[5e6, 4e6, 5e6] * 2 + [3.0, 3.0]] * 2 for epsilon in survey.MAP_EPSILONS}
        elif step.work is attack:
            few = [[1, 1, 2 * survey.PEOPLE, 2 * survey.PEOPLE]] * len(report_counts(QUICK))
            results[step.name] = {"kept": few, "fresh": [[0, 0, 0, 0]] * len(few)}
        else:
            variance = float(4 ** step.arguments[0])
            results[step.name] = {"flat": [variance, variance + 1], "privelet": [variance, variance + 1]}
    report = survey_page.report(QUICK, results)
    held = [finding.sentence.english for finding in report.findings if finding.holds]
    assert len(held) == 1, held
    assert "no range of 64 cells" in held[0], "the exact bound needs no results"


@pytest.mark.slow
def test_the_papers_statements_hold() -> None:
    settings = Settings(repeats=4, is_quick=True, processes=1)
    results = {step.name: step.run(settings) for step in survey.steps(settings)}
    report = survey_page.report(settings, results)
    assert not [finding.sentence.english for finding in report.findings if not finding.holds]
    assert "ln 3" in page_of(report, "en")
    assert "局所敏感度" in page_of(report, "ja")
    for part in report.parts:
        if isinstance(part, Table):
            assert part.to_csv().count("\n") == len(part.rows) + 1
        else:
            assert part.to_png().startswith(b"\x89PNG")


def test_the_bound_for_texts() -> None:
    assert pytest.approx(81 / (81 + 99)) == survey_results.TEXT_BOUND
    assert exp(float(RAPPOR.permanent_epsilon())) == pytest.approx(81)
