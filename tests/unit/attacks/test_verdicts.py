"""The worst comes first, and an attack that ran out of time is never taken for a success of the protection."""

from __future__ import annotations

import pytest

import sudare.attacks
from sudare.attacks import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words


def verdict(outcome: AttackOutcome) -> Verdict:
    return Verdict("interval", "cell 1", outcome, 1.0, Words("Found.", "発見。"), Words("Hide it.", "秘匿。"))


def test_order_and_outcome_of_a_report() -> None:
    report = AttackReport.of(
        "interval", Words("a", "b"), [verdict(each) for each in (AttackOutcome.HELD, AttackOutcome.UNDECIDED)]
    )
    assert report.outcome is AttackOutcome.UNDECIDED
    report = AttackReport.of("interval", Words("a", "b"), [*report.verdicts, verdict(AttackOutcome.BROKEN)])
    assert [each.outcome for each in report.verdicts] == list(AttackOutcome)
    assert report.outcome is AttackOutcome.BROKEN
    assert len(report.with_outcome(AttackOutcome.HELD)) == 1
    assert AttackReport.of("interval", Words("a", "b"), []).outcome is AttackOutcome.HELD


def test_remedy_is_told_unless_the_target_held() -> None:
    assert verdict(AttackOutcome.BROKEN).explain("en") == "cell 1: Found. Hide it."
    assert verdict(AttackOutcome.BROKEN).explain("ja") == "cell 1: 発見。秘匿。"
    assert verdict(AttackOutcome.HELD).explain("en") == "cell 1: Found."


def test_every_name_of_the_package_can_be_loaded() -> None:
    for name in sudare.attacks.__all__:
        assert getattr(sudare.attacks, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sudare.attacks.nothing  # type: ignore[attr-defined]
    assert "reconstruct" in dir(sudare.attacks)
