"""Statistical power: steps, planted changes, findings that can fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sudare.evaluate.significance import areas_differ
from sudare.evaluate.significance.noisy_counts import NoisyCount
from sudare_papers.maps import tokyo
from sudare_papers.power import page, runs
from sudare_papers.settings import Settings

QUICK = Settings(repeats=3, is_quick=True, processes=1)


def test_steps_have_names_of_their_own() -> None:
    steps = runs.steps(Settings(repeats=25))
    assert len({step.name for step in steps}) == len(steps) == 4 * 9 + 3 * 4 * 3
    assert runs.map_settings(Settings()) == [("0.1", "1e-6"), ("0.01", "1e-6"), ("0.001", "1e-6")]


def test_a_change_is_planted_where_it_is_said_and_nowhere_else() -> None:
    changed, unchanged = runs._areas(QUICK, 5)
    assert not {tuple(place) for place in changed.tolist()} & {tuple(place) for place in unchanged.tolist()}
    before = tokyo(QUICK)
    grown = runs._sums(runs._with_more(before, changed, 70)) - runs._sums(before)
    assert grown[tuple(changed.T)].tolist() == [70] * len(changed)
    assert grown.sum() == 70 * len(changed)
    assert runs._sums(before)[tuple(unchanged.T)].min() >= runs.MIN_PEOPLE


def test_a_wavelet_node_changes_with_the_noise_of_both_releases() -> None:
    law, factor = runs.noise_of(runs.CHANGE, runs.PURE, "0.01", "1e-6", 18)
    assert factor == 1 << 10
    once = 19 / 0.75338  # scale of each measurement
    assert law.standard_deviation / factor == pytest.approx(
        (2 * 2 * once**2 * (1 / 3 + 2 / 3 / 4**10)) ** 0.5, rel=1e-3
    )


def test_the_approximate_limit_is_that_of_the_test() -> None:
    """The runs compare with the normal limit directly; `area_changed` says the same."""
    from statistics import NormalDist

    limit = NormalDist().inv_cdf(0.975) * 2**0.5 * 10
    for value in (limit - 0.01, limit + 0.01):
        compared = areas_differ(NoisyCount.of_estimate(value, 10), NoisyCount.of_estimate(0, 10))
        assert compared.is_significant is bool(value >= limit)


def fake(settings: Settings, good: bool) -> dict[str, Any]:
    """Results of a world in which zCDP helps wavelets only, or of one in which it does the opposite."""
    results: dict[str, Any] = {}
    for step in runs.steps(settings):
        if step.work is runs.exact_powers:
            question, _, delta = step.arguments
            helps = (question in (runs.HALVES, runs.CHANGE)) == good
            worth = {"1e-5": 70, "1e-6": 75, "1e-7": 80}[delta]
            sizes = {runs.PURE: 100, runs.SIMPLE: worth if helps else 150, runs.OPTIMAL: 60 if helps else 160}
            powers = {size: 0.8 if size == 100 else 0.99 if size < 100 else 0.3 for size in sizes.values()}
            curves = {method: [powers[size]] * len(runs.CURVE) for method, size in sizes.items()}
            results[step.name] = {"smallest": sizes, "effects": [0] * len(runs.CURVE), "curves": curves}
            continue
        method, _, _, first, last = step.arguments
        share = 0.8 if method == runs.PURE else 0.99 if good else 0.5
        row = {"found": round(100 * share), "changed": 100, "false": 4 if good else 30, "unchanged": 100}
        rows = [row | {"false_everywhere": 4, "everywhere": 100} for _ in range(first, last)]
        results[step.name] = [dict(one, false=one["false"] + number % 2) for number, one in enumerate(rows)]
    return results


def test_findings_can_hold_and_fail() -> None:
    held = [finding.holds for finding in page.report(QUICK, fake(QUICK, good=True)).findings]
    assert all(held)
    failed = page.report(QUICK, fake(QUICK, good=False)).findings
    assert [finding.holds for finding in failed] == [False] * len(failed)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_page(language: str) -> None:
    from sudare_papers.report import page_of

    report = page.report(QUICK, fake(QUICK, good=True))
    text = page_of(report, language)
    assert "NN-Wavelet" in text
    assert sum(len(part.rows) for part in report.parts if hasattr(part, "rows")) > 60


@pytest.mark.slow
def test_a_quick_run_on_a_map() -> None:
    """What is planted is found about as often as the exact power says; what is not planted is rarely named."""
    settings = Settings(repeats=4, is_quick=True, processes=1)
    rho, delta = runs.map_settings(settings)[0]
    exact = runs.exact_powers(settings, runs.CHANGE, rho, delta)
    for method in (runs.PURE, runs.OPTIMAL):
        rows = runs.detections(settings, method, rho, delta, 0, 4)
        found = np.mean([row["found"] / row["changed"] for row in rows])
        assert found == pytest.approx(exact["curves"][method][20], abs=0.12)
        assert np.mean([row["false"] / row["unchanged"] for row in rows]) < 0.12
