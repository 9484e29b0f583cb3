"""What the documents show of `sudare.collect` is part of it, and described in its reference."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sudare.collect

DOCS = Path(__file__).resolve().parents[3] / "docs"
IMPORTED = re.compile(r"from sudare\.collect\.([\w.]+) import ([\w, ]+)")
NAMED = re.compile(r"`(\w+)(?:\([^`]*)?`\s+of\s+`sudare\.collect\.([\w.]+)`")
ROOMS = {"prio"}
"""Packages of their own."""


def shown() -> set[tuple[str, str]]:
    """Modules and names of them, from all pages."""
    found = set()
    for page in DOCS.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        found |= {(home, name.strip()) for home, names in IMPORTED.findall(text) for name in names.split(",")}
        found |= {(home, name) for name, home in NAMED.findall(text)}
    return {(home, name) for home, name in found if home.split(".")[0] not in ROOMS}


def test_something_is_shown() -> None:
    assert {
        ("rappor.rappor_decode", "decode"),
        ("rappor.design", "count_bits"),
        ("rappor.association", "associate"),
    } <= shown()


@pytest.mark.parametrize(("home", "name"), sorted(shown()))
def test_what_is_shown_is_exported(home: str, name: str) -> None:
    assert name in sudare.collect.__all__
    assert name in dir(sudare.collect)
    module = __import__(f"sudare.collect.{home}", fromlist=[name])
    assert getattr(sudare.collect, name) is getattr(module, name)


def test_everything_is_exported_once() -> None:
    assert sudare.collect.__all__ == sorted(set(sudare.collect.__all__))
    for name in sudare.collect.__all__:
        assert getattr(sudare.collect, name) is not None


def test_modules_of_rappor_are_described() -> None:
    page = (DOCS / "reference" / "api" / "collect.md").read_text(encoding="utf-8")
    for home in sorted({home for home, _ in shown() if home.startswith("rappor.")}):
        assert f"::: sudare.collect.{home}\n" in page
