"""A text in English and Japanese with named blanks: the one way in which sudare carries words for people.

A text is written once, where it belongs, and is filled with values where it is used::

    AREAS = Words("areas of {cells:,} cells", "{cells:,} セルの領域")
    AREAS.format(cells=4096)

Nobody reads such a text back: what a program needs to know stands in a field of its own beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import Formatter
from typing import Literal

__all__ = ["AND", "BETWEEN_SENTENCES", "COMMA", "Language", "Worded", "Words", "blanks_of"]

Language = Literal["en", "ja"]


@dataclass(frozen=True)
class Words:
    """A text in both languages. Its blanks are filled by `format`; before that, braces are letters like others.

    Values may be numbers, texts, other `Words` and lists of these. How a number is written is part of the text
    (``{cells:,}``), so each language may write it in its own way. Two values are equal if their texts and blanks are; they
    can be keys of dictionaries and can be pickled.

    Attributes:
        en: the English text, with its blanks.
        ja: the Japanese text, with the same blanks.
        blanks: names and values of the blanks, in the order of their names; None as long as they are not filled.

    Example:
        >>> words = Words("{what} of {cells:,} cells", "{cells:,} セルの{what}")
        >>> words.format(what=Words("areas", "領域"), cells=4096).explain("ja")
        '4,096 セルの領域'
    """

    en: str
    ja: str
    blanks: tuple[tuple[str, object], ...] | None = None

    @classmethod
    def same(cls, text: object) -> Words:
        """A text that both languages share, such as a number, a name or a code."""
        return cls(str(text), str(text))

    @classmethod
    def joined(cls, parts: Iterable[object], by: Words | None = None) -> Words:
        """Several parts in a row.

        Args:
            parts: texts, numbers and other `Words`.
            by: what stands between two of them; a comma if left out.

        Example:
            >>> Words.joined([Words("ranges", "区間"), Words("cells", "セル")], AND).explain("ja")
            '区間とセル'
        """
        between = COMMA if by is None else by
        values = {f"part{number}": part for number, part in enumerate(parts)}
        names = [f"{{{name}}}" for name in values]
        return cls(between.english.join(names), between.japanese.join(names)).format(**values)

    @classmethod
    def read(cls, stored: object, otherwise: object) -> Words:
        """The words of a document, as `to_dict` wrote them; where it has none, another text in both languages."""
        if isinstance(stored, Mapping) and isinstance(stored.get("en"), str) and isinstance(stored.get("ja"), str):
            return cls(stored["en"], stored["ja"])
        return cls.same(otherwise)

    @property
    def english(self) -> str:
        """The text in English, with its blanks filled."""
        return self.explain("en")

    @property
    def japanese(self) -> str:
        """The text in Japanese, with its blanks filled."""
        return self.explain("ja")

    def explain(self, language: str) -> str:
        """The text in a language: Japanese for ``"ja"``, English otherwise."""
        text = self.ja if language == "ja" else self.en
        if self.blanks is None:
            return text
        return text.format(**{name: _in_language(value, language) for name, value in self.blanks})

    def format(self, **values: object) -> Words:
        """The same text with its blanks filled.

        Raises:
            KeyError: if a blank of the text has no value.
        """
        missing = (blanks_of(self.en) | blanks_of(self.ja)) - values.keys()
        if missing:
            raise KeyError(f"no value for the blanks {', '.join(sorted(missing))}")
        return Words(self.en, self.ja, tuple((name, _kept(value)) for name, value in sorted(values.items())))

    def to_dict(self) -> dict[str, str]:
        """Both texts, for JSON."""
        return {"en": self.english, "ja": self.japanese}

    def __str__(self) -> str:
        return self.english


COMMA = Words(", ", "、")
AND = Words(" and ", "と")
BETWEEN_SENTENCES = Words(" ", "")


class Worded:
    """Something in words: an error, a finding, a refusal.

    Attributes:
        words: in both languages.
    """

    words: Words

    @property
    def english(self) -> str:
        """The sentence in English."""
        return self.words.english

    @property
    def japanese(self) -> str:
        """The sentence in Japanese."""
        return self.words.japanese

    def explain(self, language: str) -> str:
        """The sentence in a language: Japanese for ``"ja"``, English otherwise."""
        return self.words.explain(language)


@lru_cache(maxsize=4096)
def blanks_of(text: str) -> frozenset[str]:
    """The names of the blanks of a text.

    Example:
        >>> sorted(blanks_of("{people:,} people in {cells} cells"))
        ['cells', 'people']
    """
    return frozenset(name for _, name, _, _ in Formatter().parse(text) if name is not None)


def _kept(value: object) -> object:
    """A value as it is kept: a list becomes words, so that each language joins it in its own way."""
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return Words.joined(value)
    return value


def _in_language(value: object, language: str) -> object:
    return value.explain(language) if isinstance(value, Words) else value
