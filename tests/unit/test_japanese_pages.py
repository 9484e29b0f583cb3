"""The how-to pages, the tutorial and the first page have Japanese twins that show, name and link to the same things.

The blocks of a how-to twin are those of its English page, letter by letter: what runs there need not be run here again
(``python tools/sync_twins.py`` copies them). The tutorial and the first page show Japanese output, and are run themselves.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from tools.sync_twins import BLOCK, INLINE_CODE, left_out
from tools.sync_twins import blocks_of as fenced_blocks_of

from tests.end_to_end.docs_runner import blocks_of, commands_of

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TWIN = ".ja.md"
HOW_TO = sorted(page.stem for page in (DOCS / "how-to").glob("*.md") if not page.name.endswith(TWIN))
OWN_OUTPUT = ("index", "tutorial", "explanation/privacy-promise")
EXPLAINED = (
    "explanation/framework",
    "explanation/scale",
    "explanation/series",
    "explanation/which-method",
    "gallery",
    "reference/what-is-there",
)
ENGLISH = [*OWN_OUTPUT, *EXPLAINED, *(f"how-to/{name}" for name in HOW_TO)]
JAPANESE = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob(f"*{TWIN}"))

LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s#]*)(?:#[^)\s]*)?\)")
JAPANESE_LETTER = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff]")
MAX_FOREIGN = 60
"""Characters of a paragraph without a Japanese letter: names and formulas, no sentences."""

OTHER_WORDS = ("雑音", "乱択", "無作為化", "等価類", "再特定")
"""For which the glossary has another word: ノイズ, ランダム化, 等価クラス, 再識別."""


def page_of(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def prose_of(name: str) -> str:
    """A page without its code blocks."""
    return BLOCK.sub("", page_of(name))


def headings_of(name: str) -> list[int]:
    """The levels of the headings, in order."""
    return [len(marks) for marks in re.findall(r"^(#+) ", prose_of(name), re.M)]


def rows_of(name: str) -> list[tuple[int, list[str]]]:
    """Of each row of a table: how many columns it has, and what stands in it as code."""
    rows = re.findall(r"^\|.*\|$", prose_of(name), re.M)
    return [(row.count("|"), sorted(INLINE_CODE.findall(row))) for row in rows]


def test_every_page_has_a_twin() -> None:
    assert len(HOW_TO) >= 27
    assert [f"{name}{TWIN}" for name in sorted(ENGLISH)] == JAPANESE


def test_every_twin_is_in_the_menu_below_its_page() -> None:
    listed = re.findall(r"([\w/-]+(?:\.ja)?\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M)
    neighbours = set(pairwise(listed))
    assert [name for name in ENGLISH if (f"{name}.md", f"{name}{TWIN}") not in neighbours] == []


@pytest.mark.parametrize("name", HOW_TO)
def test_how_to_pages_show_the_same_blocks(name: str) -> None:
    english, japanese = (fenced_blocks_of(page_of(f"how-to/{name}{ending}")) for ending in (".md", TWIN))
    assert english
    assert japanese == english, "run python tools/sync_twins.py"


@pytest.mark.parametrize("name", OWN_OUTPUT)
def test_pages_with_japanese_output_have_the_same_commands(name: str) -> None:
    english, japanese = (blocks_of(page_of(f"{name}{ending}")) for ending in (".md", TWIN))
    assert [(block.language, block.title) for block in japanese] == [(block.language, block.title) for block in english]
    for ours, theirs in zip(japanese, english, strict=True):
        if ours.language == "console":
            assert [(command.line, command.exit_code) for command in commands_of(ours.text)] == [
                (command.line, command.exit_code) for command in commands_of(theirs.text)
            ]
        elif ours.language == "python":
            assert ours.text == theirs.text


@pytest.mark.parametrize("name", [name for name in ENGLISH if name != "index"])
def test_tables(name: str) -> None:
    """But for the first page, whose table is a list of links."""
    assert rows_of(f"{name}{TWIN}") == rows_of(f"{name}.md")


@pytest.mark.parametrize("name", ENGLISH)
class TestTwins:
    def test_headings(self, name: str) -> None:
        assert headings_of(f"{name}{TWIN}") == headings_of(f"{name}.md")

    def test_nothing_that_is_typed_is_left_out(self, name: str) -> None:
        assert left_out(page_of(f"{name}.md"), page_of(f"{name}{TWIN}")) == []


@pytest.mark.parametrize("page", JAPANESE)
class TestJapanese:
    def test_links_lead_to_japanese_pages_where_there_are_any(self, page: str) -> None:
        folder = (DOCS / page).parent
        own = DOCS / page.replace(TWIN, ".md")
        for match in LINK.finditer(prose_of(page)):
            target = match["target"]
            if target == "" or "://" in target:
                continue
            found = (folder / target).resolve()
            assert found.is_file(), target
            if not found.name.endswith(TWIN) and found != own:
                assert not found.with_name(found.name.replace(".md", TWIN)).exists(), target

    def test_lines(self, page: str) -> None:
        """No line begins with a mark that ends or divides a sentence."""
        assert [line for line in prose_of(page).splitlines() if re.match(r"\s*[。、，．）」]", line)] == []

    def test_no_sentence_is_left_in_english(self, page: str) -> None:
        paragraphs = [part for part in re.split(r"\n\s*\n|\n(?=\s*(?:[-|#]|\d+\.) ?)", prose_of(page)) if part.strip()]
        foreign = [part for part in paragraphs if not JAPANESE_LETTER.search(part) and not set(part) <= set("|-: \n")]
        assert [part for part in foreign if len(INLINE_CODE.sub("", part).strip()) > MAX_FOREIGN] == []

    def test_one_word_for_one_thing(self, page: str) -> None:
        assert [word for word in OTHER_WORDS if word in prose_of(page)] == []
