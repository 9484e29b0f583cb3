"""A text in English and Japanese, for whatever is shown to people in the language they choose."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Words"]


@dataclass(frozen=True)
class Words:
    """A text in both languages.

    Example:
        >>> Words("total", "総数").explain("ja")
        '総数'
    """

    english: str
    japanese: str

    def explain(self, language: str) -> str:
        """The text in a language: Japanese for ``"ja"``, English otherwise."""
        return self.japanese if language == "ja" else self.english
