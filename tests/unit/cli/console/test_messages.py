"""Both languages say the same things, with the same blanks, and the locale decides which is spoken."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import sudare.cli
from sudare.bilingual import blanks_of
from sudare.cli.console.messages import Catalogue, find_language
from sudare.cli.words import MESSAGES, MODULES

CODE = Path(sudare.cli.__file__).parent


def test_no_key_stands_twice() -> None:
    assert len(MESSAGES) == sum(len(module.HELP) + len(module.SPOKEN) for module in MODULES)


@pytest.mark.parametrize("key", MESSAGES)
def test_both_languages_have_the_same_blanks(key: str) -> None:
    words = MESSAGES[key]
    assert blanks_of(words.en) == blanks_of(words.ja)
    assert words.en.strip()
    assert words.ja.strip()


@pytest.mark.parametrize("key", [key for key in MESSAGES if key.endswith(".examples") and key != "help.examples"])
def test_examples_are_the_same_commands(key: str) -> None:
    assert MESSAGES[key].en == MESSAGES[key].ja
    assert all(line.startswith("sudare ") for line in MESSAGES[key].en.splitlines())


def test_japanese_is_japanese() -> None:
    for key, words in MESSAGES.items():
        text = words.ja
        is_wording = not key.endswith(".examples") and re.search(r"[a-zA-Z]{4}", re.sub(r"\{\w+\}", "", text))
        is_name = any(name in text for name in ("Python", "Geo", "Java", "Spark", "Postgre"))
        assert not is_wording or not text.isascii() or is_name, key


def test_no_key_is_forgotten_and_none_is_unused() -> None:
    """Every key stands in the code as it is, or is one of a family that the code builds."""
    literals: set[str] = set()
    patterns: list[str] = []
    for file in CODE.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                literals.add(node.value)
            elif isinstance(node, ast.JoinedStr):
                parts = [re.escape(str(v.value)) if isinstance(v, ast.Constant) else r"[\w.-]+" for v in node.values]
                patterns.append("".join(parts))
    families = [pattern for pattern in patterns if re.fullmatch(r"[\w.\\\[\]+-]*\\\.[\w.\\\[\]+-]*", pattern)]
    for key in MESSAGES:
        assert key in literals or any(re.fullmatch(family, key) for family in families), key


def test_blanks_are_filled_in() -> None:
    assert "31" in Catalogue("en")("release.repeated", entry=31)
    assert "31" in Catalogue("ja")("release.repeated", entry=31)
    with pytest.raises(KeyError):
        Catalogue("en")("no such key")


@pytest.mark.parametrize(
    ("arguments", "environment", "expected"),
    [
        ([], {}, "en"),
        ([], {"LANG": "ja_JP.UTF-8"}, "ja"),
        ([], {"LANG": "ja_JP.UTF-8", "LC_ALL": "C"}, "en"),
        ([], {"LANG": "en_US.UTF-8", "LC_MESSAGES": "ja_JP.eucJP"}, "ja"),
        ([], {"LC_ALL": "", "LANG": "ja"}, "ja"),
        (["plan", "--lang", "ja"], {"LANG": "en_US"}, "ja"),
        (["--lang=en", "plan"], {"LANG": "ja_JP"}, "en"),
        (["plan", "--", "--lang", "ja"], {}, "en"),
        (["--lang", "fr"], {"LANG": "ja_JP"}, "ja"),
        (["--lang"], {}, "en"),
    ],
)
def test_the_language(arguments: list[str], environment: dict[str, str], expected: str) -> None:
    assert find_language(arguments, environment) == expected
