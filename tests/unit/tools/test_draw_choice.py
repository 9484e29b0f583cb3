"""The chart of methods: as drawn by the tool, with commands that exist, in both languages."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from tools.draw_choice import QUESTIONS, draw_choice
from typer.main import get_command

from sudare.cli import build_app

ASSETS = Path(__file__).resolve().parents[3] / "docs" / "assets"


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_picture_is_the_drawn_one(language: str) -> None:
    drawn = draw_choice(language)
    assert (ASSETS / f"which-method-{language}.svg").read_text(encoding="utf-8") == drawn
    assert ElementTree.fromstring(drawn).tag.endswith("svg")  # noqa: S314


def test_every_command_exists() -> None:
    for question in QUESTIONS:
        for answer in question.answers:
            _, *names = answer.command.split()
            command = get_command(build_app("en"))
            for name in names:
                command = command.commands[name]  # type: ignore[attr-defined]
