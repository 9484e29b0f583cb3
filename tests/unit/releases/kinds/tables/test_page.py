"""The page says what was done in both languages; what only the holder may know is on the holder's page alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from string import Formatter

import pytest

from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.releases.kinds.tables import page_words, read_report, read_table_plan, run_table_plan
from sudare.releases.kinds.tables.methods.registry import registered_methods
from sudare.releases.kinds.tables.page import render_table_page
from tests.unit.releases.kinds.tables.firms import COUNTS, DIMENSIONS, HEAD, RULES, SUPPRESS, WHOLE, build_firms

THREE = HEAD + DIMENSIONS + "\n[dimensions.size]\n" + RULES + SUPPRESS


def pages(folder: Path, plan: str, language: str = "en") -> tuple[str, str]:
    text = plan.replace("\n[source]", f'\nlanguage = "{language}"\n[source]', 1)
    run_table_plan(read_table_plan(build_firms(folder, text), folder / "out"), even_if_broken=True)
    found = [(folder / "out" / name).read_text(encoding="utf-8") for name in ("release.html", "confidential.html")]
    return found[0], found[1]


def test_both_pages(tmp_path: Path) -> None:
    public, own = pages(tmp_path, WHOLE)
    for page in (public, own):
        assert "What was done, and what it protects" in page
        assert "行ったことと、守られること" in page
        assert page.count('<td class="hidden">×</td>') == 12
        assert "not differential privacy" in page
        assert "<script" not in page
        assert "http://" not in page
        assert "https://" not in page
    assert "a p % rule" in public
    assert "within 10" not in public
    assert "within 10\u00a0%" in own
    assert "Confidential" not in public.replace("“confidential”", "")
    assert 'class="interval"' in own
    assert 'class="interval"' not in public


def test_the_language_it_starts_with(tmp_path: Path) -> None:
    public, _ = pages(tmp_path, WHOLE, "ja")
    assert re.search(r'id="show-ja"[^>]*checked', public)
    assert '<html lang="ja">' in public


@pytest.mark.parametrize(
    "plan",
    [COUNTS + '[protection]\nmethod = "round"\nbase = 5\n', WHOLE.replace('"suppress"', '"none"'), THREE],
    ids=["round", "none", "three dimensions"],
)
def test_other_methods(tmp_path: Path, plan: str) -> None:
    public, own = pages(tmp_path, plan)
    assert "{" not in re.sub(r"<style>.*?</style>", "", public + own, flags=re.S)


def test_titles_are_escaped(tmp_path: Path) -> None:
    public, _ = pages(tmp_path, WHOLE.replace("Firms by", "<script>alert(1)</script>"))
    assert "<script" not in public


def test_another_language_is_refused(tmp_path: Path) -> None:
    pages(tmp_path, WHOLE)
    with pytest.raises(ParameterError, match="'en' or 'ja'"):
        render_table_page(tmp_path / "out", read_report(tmp_path / "out"), language="fr")


def test_texts_have_the_same_blanks_in_both_languages() -> None:
    def blanks(text: str) -> set[str | None]:
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}

    texts: list[Mapping[str, Words]] = [page_words.TEXTS, page_words.OUTCOMES, page_words.STATUSES]
    texts += [method.attack_words for method in registered_methods()]
    texts += [vars(method.words) for method in registered_methods()]
    for catalogue in texts:
        for words in catalogue.values():
            assert blanks(words.english) == blanks(words.japanese)
            assert words.english != words.japanese
