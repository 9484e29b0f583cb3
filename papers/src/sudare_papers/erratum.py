"""One place in a paper that is wrong, or left unsaid."""

from __future__ import annotations

from dataclasses import dataclass

from sudare.bilingual import Words

__all__ = ["Erratum"]


@dataclass(frozen=True)
class Erratum:
    """One place in a paper.

    Attributes:
        paper: its short name.
        place: where in it.
        printed: what it says.
        holds: what is right, and why.
        test: the test that shows it, as ``file::function``.
    """

    paper: str
    place: Words
    printed: Words
    holds: Words
    test: str
