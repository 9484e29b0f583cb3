"""The page shows everything in both languages, escapes what it quotes, and says that it is not for publication."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from sudare.attacks import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.examination import Examination, NotApplied, render_examination
from sudare.examination.page import MAX_SHOWN, ending_of


def examination(outcome: AttackOutcome = AttackOutcome.BROKEN, verdicts: int = 1) -> Examination:
    made = [
        Verdict("interval", f"cell <{place}>", outcome, math.nan, Words("Found.", "発見。"), Words("Hide.", "秘匿。"))
        for place in range(verdicts)
    ]
    report = AttackReport.of("interval", Words("Summary.", "要約。"), made)
    skipped = NotApplied("strange attack", Words("No reason.", "理由なし。"))
    return Examination(
        Path("some/folder"), "protected-table", "A <title>", (report,), (skipped,), (Words("Besides.", "補足。"),)
    )


def test_everything_is_on_the_page() -> None:
    page = render_examination(examination())
    for text in (
        "A &lt;title&gt;",
        "cell &lt;0&gt;",
        "Summary.",
        "要約。",
        "Hide.",
        "strange attack",
        "No reason.",
        "Besides.",
        "not for publication",
        "公表してはいけません",
        "An attack broke it",
    ):
        assert text in page
    assert "<title>A &lt;title&gt;</title>" in page
    assert "http" not in page.replace("http-equiv", "")


def test_both_languages_and_no_others() -> None:
    assert 'id="show-ja" aria-label="日本語" checked' in render_examination(examination(), language="ja")
    with pytest.raises(ParameterError, match="language"):
        render_examination(examination(), language="fr")


def test_what_held_needs_no_remedy_and_is_no_proof() -> None:
    page = render_examination(examination(AttackOutcome.HELD))
    assert "Hide." not in page
    assert "no proof of safety" in page


def test_many_verdicts_are_counted() -> None:
    page = render_examination(examination(verdicts=MAX_SHOWN + 7))
    assert f"cell &lt;{MAX_SHOWN}&gt;" not in page
    assert "7 more in the JSON" in page


def test_values_for_programs() -> None:
    made = examination(verdicts=2).to_dict()
    values = json.loads(json.dumps(made, allow_nan=False))
    assert values == made
    assert values["confidential"] is True
    assert (values["outcome"], values["attacks"][0]["broken"]) == ("broken", 2)
    assert values["attacks"][0]["verdicts"][0]["number"] is None


def test_nothing_that_applied_is_not_taken_for_safety() -> None:
    nothing = Examination(Path("f"), "private-people", "t", (), (), ())
    assert nothing.outcome is AttackOutcome.UNDECIDED
    assert ending_of(nothing) == "outcome_none"
    assert nothing.report("interval") is None
