"""Both languages of the command say the same things, with the same blanks, and nothing twice."""

from __future__ import annotations

import inspect
import re

import pytest

from sudare.bilingual import blanks_of
from sudare.cli.words import MESSAGES as OF_SUDARE
from sudare_papers import command
from sudare_papers.command_words import MESSAGES


def test_no_key_is_sudares() -> None:
    assert not MESSAGES.keys() & OF_SUDARE.keys()


@pytest.mark.parametrize("key", MESSAGES)
def test_both_languages_have_the_same_blanks(key: str) -> None:
    words = MESSAGES[key]
    assert blanks_of(words.en) == blanks_of(words.ja)
    assert words.en.strip()
    assert not words.ja.isascii()


def test_every_message_is_used() -> None:
    said = set(re.findall(r'"(reproduce\.\w+)"', inspect.getsource(command)))
    options = {f"reproduce.{name}" for name in inspect.signature(command.reproduce).parameters} - {"reproduce.speaker"}
    assert said | options == set(MESSAGES)
