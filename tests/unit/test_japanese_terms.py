"""The Japanese of messages and documents uses the field's terms, one for each thing, as the glossary lists them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.jinja"), *(ROOT / "papers" / "src").rglob("*.py")]
)
PAGES = sorted([*(ROOT / "docs").rglob("*.ja.md"), *ROOT.glob("*.ja.md")])
GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"

TERMS = {
    "雑音": "ノイズ",
    "乱択": "ランダム化",
    "無作為化": "ランダム化",
    "同値類": "等価クラス",
    "等価類": "等価クラス",
    "守るべきセル": "一次秘匿",
    "人が見つかる可能性": "再識別リスク",
    "再特定": "再識別リスク",
    "個人の記録": "レコード",
    "人の記録": "レコード",
    "各記録": "レコード",
    "記録数": "レコード",
    "精算": "確定",
    "検察官型": "検察官モデル",
    "記者型": "ジャーナリストモデル",
    "マーケター型": "マーケターモデル",
    "硬貨": "コイン投げ",
    "従来の方法": "統計的開示抑制",
    "古典的": "統計的開示抑制",
}
"""What is not written, and the word of the glossary in its place."""

OF_RECORDS = ("releases/kinds/records/", "microdata/perturb/", "microdata/search/", "cli/words/microdata")
"""Rooms about microdata, where 記録 would be a record. Elsewhere it is a log: of a ledger, or of what was done."""


def japanese_of(path: Path) -> str:
    """What a source says to people: its texts, without docstrings and comments."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return text
    tree = ast.parse(text)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return "\n".join(str(node.value) for node in texts if id(node) not in docstrings)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def forbidden_in(text: str) -> list[str]:
    return [term for term in TERMS if term in text]


@pytest.mark.parametrize("paths", [SOURCES, PAGES], ids=["sources", "pages"])
def test_terms_of_the_field(paths: list[Path]) -> None:
    found = {name_of(path): forbidden_in(japanese_of(path)) for path in paths}
    assert {name: terms for name, terms in found.items() if terms} == {}


def test_a_record_of_microdata_is_no_log() -> None:
    inside = [path for path in SOURCES if any(room in name_of(path) for room in OF_RECORDS)]
    assert len(inside) > 40
    assert [name_of(path) for path in inside if "記録" in japanese_of(path)] == []


def test_every_term_that_is_written_instead_stands_in_the_glossary() -> None:
    glossary = GLOSSARY.read_text(encoding="utf-8")
    assert [term for term in set(TERMS.values()) if term not in glossary] == []


def test_the_laws_terms_stand_where_commands_are_explained() -> None:
    words = {
        name: (ROOT / "src/sudare/cli/words" / f"{name}.py").read_text(encoding="utf-8")
        for name in ("microdata", "pseudonyms")
    }
    assert "匿名加工情報" in words["microdata"]
    assert "仮名加工情報" in words["pseudonyms"]
    glossary = GLOSSARY.read_text(encoding="utf-8")
    for term in ("匿名加工情報", "仮名加工情報"):
        assert term in glossary


@pytest.mark.parametrize("sentence", ["ラプラス雑音を加えます", "乱択した回答", "守るべきセル 3 個"])
def test_another_word_is_found(sentence: str) -> None:
    assert forbidden_in(sentence)


def test_no_line_of_a_page_begins_with_a_mark_that_ends_one() -> None:
    broken = [name_of(path) for path in PAGES if re.search(r"^\s*[。、」）]", path.read_text(encoding="utf-8"), re.M)]
    assert broken == []
