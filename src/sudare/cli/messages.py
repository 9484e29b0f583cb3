"""Words in the user's language: one catalogue for each, with the same keys and the same blanks."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Literal

__all__ = ["CATALOGUES", "Language", "Words", "find_language"]

Language = Literal["en", "ja"]

CATALOGUES: Mapping[Language, str] = {"en": "sudare.cli.english", "ja": "sudare.cli.japanese"}


class Words:
    """The words of one language.

    Args:
        language: ``"en"`` or ``"ja"``.

    Example:
        >>> Words("en")("balance.nothing")
        'nothing'
    """

    def __init__(self, language: Language) -> None:
        self.language = language
        self._texts: Mapping[str, str] = import_module(CATALOGUES[language]).MESSAGES

    def __call__(self, key: str, **values: object) -> str:
        """The text of a key, with its blanks filled in."""
        text = self._texts[key]
        return text.format(**values) if values else text

    def __contains__(self, key: str) -> bool:
        return key in self._texts


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
        if asked in CATALOGUES:
            return "ja" if asked == "ja" else "en"
    setting = next((environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), "")
    return "ja" if setting.lower().startswith("ja") else "en"
