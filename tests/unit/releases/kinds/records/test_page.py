"""The page says what the report says, in both languages, and lets nothing in that is not text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from sudare.errors import ParameterError
from sudare.releases.kinds.records import page_words, read_people_plan, run_people_plan
from sudare.releases.kinds.records.page import render_people_page
from tests.unit.releases.kinds.records.town import ANONYMIZE, COLUMNS, HEAD, MST, SAMPLED, build_town, people

PLANS = {
    "anonymize": HEAD + COLUMNS + ANONYMIZE + "suppression = 0.1\n",
    "local": HEAD + COLUMNS + ANONYMIZE + 'search = "local"\n',
    "sample": HEAD + COLUMNS + '[protection]\nmethod = "sample"\nrate = 0.5\n',
    "sampled": SAMPLED,
    "mst": MST,
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    made = {}
    for name, text in PLANS.items():
        folder = tmp_path_factory.mktemp(name)
        plan = read_people_plan(build_town(folder, text), folder / "out")
        made[name] = json.loads(json.dumps(run_people_plan(plan, even_if_broken=True).document))
    return made


@pytest.mark.parametrize("name", PLANS)
def test_both_languages(reports: dict[str, Any], name: str) -> None:
    english = render_people_page(reports[name])
    japanese = render_people_page(reports[name], language="ja")
    assert '<html lang="en">' in english
    assert '<html lang="ja">' in japanese
    assert english.count('class="en"') == english.count('class="ja"') > 20
    assert "<script" not in english
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", english)
    assert english.count("<svg") >= 2
    for step in reports[name]["steps"]:
        assert step["protects"]["japanese"] in japanese


def test_what_is_said_of_the_guarantee(reports: dict[str, Any]) -> None:
    for name in ("anonymize", "local", "sample"):
        page = render_people_page(reports[name])
        assert "This is not differential privacy" in page
        assert "For whoever holds the data" in page
    for name in ("sampled", "mst"):
        page = render_people_page(reports[name])
        assert "This is not differential privacy" not in page
        assert "This is differential privacy of every" in page
        assert "For whoever holds the data" not in page
        assert "How easily somebody is found" not in page
    assert "k-anonymity alone is not differential privacy" in render_people_page(reports["sampled"])


def test_texts_are_escaped(reports: dict[str, Any]) -> None:
    report = {**reports["anonymize"], "title": "<b>&\"'", "description": "<script>x</script>"}
    page = render_people_page(report)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "<b>" not in page


def test_values_are_escaped(tmp_path: Path) -> None:
    rows = people()
    for row in rows:
        row[2] = "<i>f" if row[2] == "f" else "m"
    plan = build_town(tmp_path, SAMPLED, rows)
    made = run_people_plan(read_people_plan(plan, tmp_path / "out"))
    page = (tmp_path / "out" / "release.html").read_text(encoding="utf-8")
    assert "<i>f" not in page
    if made.document["published"]["rows"]:
        assert "&lt;i&gt;f" in page


def test_a_wrong_language(reports: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="language"):
        render_people_page(reports["mst"], language="fr")


@pytest.mark.parametrize("name", page_words.TEXTS)
def test_texts_have_the_same_blanks(name: str) -> None:
    words = page_words.TEXTS[name]
    blanks = [
        {blank for _, blank, _, _ in Formatter().parse(text) if blank} for text in (words.english, words.japanese)
    ]
    assert blanks[0] == blanks[1]
    assert words.english
    assert words.japanese
