"""Help stands beside the fields of every form, in both languages, and every text of help is used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sudare.web.words import TEXTS
from tests.unit.web.asking import Asking
from tests.unit.web.test_tables import write_firms

TEMPLATES = Path(__import__("sudare.web").web.__file__).parent / "templates"
USED = {
    name for file in TEMPLATES.glob("*.jinja") for name in re.findall(r'help\("([a-z-]+)"', file.read_text("utf-8"))
}


def test_every_text_of_help_is_used_and_there() -> None:
    assert {name.removeprefix("help.") for name in TEXTS if name.startswith("help.")} == USED


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("page", ["/draft", "/records/new", "/tables/new"])
def test_fields_with_a_label_have_help_beside_them(tmp_path: Path, page: str, language: str) -> None:
    write_firms(tmp_path)
    text = Asking(tmp_path, language=language).get(f"{page}?file=firms.csv").text
    form = text[text.index('<section aria-labelledby="about">') :]
    labels = re.findall(r"<label[ >].*?</label>(.{0,40})", form, re.DOTALL)
    assert len(labels) >= 2
    assert all('<details class="help">' in after for after in labels), page
    assert ("Help: " if language == "en" else "説明: ") in text
