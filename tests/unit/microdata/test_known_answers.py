"""The answers of ARX's tests, its benchmark, SafePub, pyCANON and sdcMicro; the quick ones, and all in `make test-deep`."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.microdata import all_known_answers
from benchmarks.microdata_answers import answer_all
from benchmarks.microdata_known import left_out

DATA = Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[4] / "shared" / "data")) / "known_answers"

needs_data = pytest.mark.skipif(not DATA.exists(), reason="needs known_answers below SUDARE_DATA (or ../shared/data)")

QUICK = (
    "anonbench",
    "pycanon",
    "sdcMicro",
    "arx seven",
    "arx Adult",
    "arx distinction",
    "arx TestUtilityMetrics 1",
    "arx TestAnonymizationKMap",
    "arx TestAnonymizationLD",
    "arx TestAnonymizationEntropyLD",
)


@needs_data
def test_quick_known_answers() -> None:
    found = all_known_answers(DATA, lambda name: name.startswith(QUICK))
    assert len(found) == 48
    assert [answer for answer in found if not answer.passed and not answer.is_cheaper] == []


@needs_data
@pytest.mark.deep
def test_all_known_answers() -> None:
    found = all_known_answers(DATA)
    assert [answer for answer in found if not answer.passed and not answer.is_cheaper] == []
    assert Counter(answer.name.split()[0] for answer in found) == {
        "arx": 53 + 3 + 7,  # searches, small examples, values
        "anonbench": 11,
        "pycanon": 7,
        "pycanon's": 2,
        "SafePub": 24,
        "sdcMicro": 5,
    }
    # Where everything costs nothing without suppression, the best choice is not the only one.
    assert {answer.name for answer in found if answer.other_levels} == {
        f"arx TestUtilityMetricsLoss {index}" for index in (43, 92, 99)
    }
    assert [answer.name for answer in found if answer.is_cheaper] == ["arx TestAnonymizationEntropyLDiversity 3"]


@needs_data
def test_cases_are_left_out_for_a_reason_only() -> None:
    reasons = Counter("no table" if "not there" in case.reason else case.reason for case in left_out(DATA))
    assert reasons.pop("no table") == 45
    assert sum(reasons.values()) == 6
    assert all("not portable" in reason or "no fixed value" in reason for reason in reasons)


def test_a_case_that_ends_with_an_error_counts_as_not_passed() -> None:
    def fails() -> None:
        raise ValueError("no such thing")

    (answer,) = answer_all([("a case", fails)])  # type: ignore[list-item]
    assert (answer.name, answer.passed) == ("a case", False)
    assert "no such thing" in answer.detail
