"""The site has two languages: a page leads to pages in its own one, and to its twin."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def hooks() -> Any:
    spec = importlib.util.spec_from_file_location("site_hooks", ROOT / "docs" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def page(uri: str) -> Any:
    return SimpleNamespace(file=SimpleNamespace(src_uri=uri), previous_page=None, next_page=None)


def test_pages_lead_to_pages_in_their_language() -> None:
    pages = [page(name) for name in ("a.md", "a.ja.md", "b.md", "c.md", "c.ja.md")]
    hooks().on_nav(SimpleNamespace(pages=pages), None, None)
    assert [one.next_page and one.next_page.file.src_uri for one in pages] == ["b.md", "c.ja.md", "c.md", None, None]
    assert [one.previous_page and one.previous_page.file.src_uri for one in pages] == [
        None,
        None,
        "a.md",
        "b.md",
        "a.ja.md",
    ]


def test_the_themes_words_are_japanese_on_japanese_pages_only() -> None:
    html = '<html lang="en"><label>\n Table of contents\n</label><input placeholder="Search"><p>How-to do</p>'
    said = hooks().on_post_page(html, page("a.ja.md"), None)
    assert said == '<html lang="ja"><label>\n 目次\n</label><input placeholder="検索"><p>How-to do</p>'
    assert hooks().on_post_page(html, page("a.md"), None) == html


def test_a_page_links_to_its_twin() -> None:
    twin = SimpleNamespace(url_relative_to=lambda file: "a.ja.html")
    files = SimpleNamespace(get_file_from_path={"a.ja.md": twin}.get)
    assert (
        hooks().on_page_content("<h1>", page("a.md"), None, files)
        == '<a class="twin" lang="ja" href="a.ja.html">日本語</a>\n<h1>'
    )
    assert hooks().on_page_content("<h1>", page("b.md"), None, files) == "<h1>"
