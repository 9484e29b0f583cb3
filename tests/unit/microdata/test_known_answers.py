"""The answers of ARX's tests, its benchmark and pyCANON; the cases that take no time, and all of them among the slow tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchmarks.microdata_known import known_answers

DATA = Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[4] / "shared" / "data")) / "known_answers"

needs_data = pytest.mark.skipif(not DATA.exists(), reason="needs known_answers below SUDARE_DATA (or ../shared/data)")

QUICK = (
    "anonbench",
    "pycanon",
    "arx seven",
    "arx TestUtilityMetrics 1",
    "arx TestAnonymizationKMap",
    "arx TestAnonymizationLD",
)

NOT_OFFERED = {
    "arx TestAnonymizationEntropyLDiversity 3": "Grassberger's estimate of the entropy, in ARX's own form, is not offered",
    "arx TestAnonymizationProfitability 3": "models of profit are not offered",
    "arx TestAnonymizationRiskBased 4": "population uniqueness is measured, not enforced",
}


@needs_data
def test_quick_known_answers() -> None:
    found = known_answers(DATA, lambda name: name.startswith(QUICK))
    assert len(found) >= 30
    assert [answer for answer in found if not answer.passed] == []


@needs_data
@pytest.mark.slow
def test_all_known_answers() -> None:
    found = known_answers(DATA)
    assert len(found) >= 70
    wrong = {answer.name: answer.detail for answer in found if not answer.passed}
    assert set(wrong) == set(NOT_OFFERED), wrong
    assert all(not answer.is_offered for answer in found if not answer.passed)
