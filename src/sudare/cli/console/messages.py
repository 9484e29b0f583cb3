"""The words of the command in the language of its user."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Language, Words
from sudare.cli.words import MESSAGES

__all__ = ["LANGUAGES", "Catalogue", "Language", "add_messages", "find_language", "words_of"]

LANGUAGES: tuple[Language, ...] = ("en", "ja")

_ADDED: dict[str, Words] = {}
"""The messages of commands that come from other distributions."""


def words_of(key: str, **values: object) -> Words:
    """The text of a key in both languages, with its blanks filled in."""
    text = MESSAGES[key] if key in MESSAGES else _ADDED[key]  # no other distribution changes what sudare itself says
    return text.format(**values) if values else text


class Catalogue:
    """Every text of the command in one language.

    Args:
        language: ``"en"`` or ``"ja"``.

    Example:
        >>> Catalogue("en")("balance.nothing")
        'nothing'
    """

    def __init__(self, language: Language) -> None:
        self.language = language

    def __call__(self, key: str, **values: object) -> str:
        """The text of a key, with its blanks filled in."""
        return words_of(key, **values).explain(self.language)

    def __contains__(self, key: str) -> bool:
        return key in MESSAGES or key in _ADDED


def add_messages(command: str, messages: Mapping[str, Words]) -> None:
    """Make the messages of a command known that comes from another distribution. Messages of sudare itself stay as they are.

    Args:
        command: its name, with which all keys begin.
        messages: by their keys.
    """
    foreign = [key for key in messages if not key.startswith(f"{command}.")]
    if foreign:
        raise ValueError(f"messages of {command!r} must have keys that begin with its name, not {foreign[0]!r}")
    _ADDED.update(messages)


def find_language(arguments: list[str], environment: Mapping[str, str]) -> Language:
    """The language that was asked for by ``--lang``, or else by the locale.

    Needed before the arguments are read: the help is built in one language.

    Example:
        >>> find_language(["plan", "--lang=ja"], {"LANG": "en_US.UTF-8"}), find_language([], {"LANG": "ja_JP.UTF-8"})
        ('ja', 'ja')
    """
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    for place, argument in enumerate(options):
        asked = options[place + 1] if argument == "--lang" and place + 1 < len(options) else None
        if argument.startswith("--lang="):
            asked = argument.removeprefix("--lang=")
        if asked in LANGUAGES:
            return "ja" if asked == "ja" else "en"
    setting = next((environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), "")
    return "ja" if setting.lower().startswith("ja") else "en"
