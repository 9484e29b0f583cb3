"""The answer to a person's request: one part for each file that was looked into."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["SETTLED", "FileAnswer", "PersonAnswer"]

SETTLED = ("rewritten", "nothing", "unlinkable")
"""The person is not in the file, or nobody can find the person in it again, with the mapping or without."""


@dataclass(frozen=True)
class FileAnswer:
    """What was found or done in one file.

    Attributes:
        path: the file.
        state: ``"found"``, ``"rewritten"``, ``"nothing"`` (the person is not in it), ``"missing"`` (the file is gone),
            ``"unlinkable"`` (its epoch was destroyed), ``"unknown"`` (neither made with the key nor with a named column),
            ``"unreadable"`` (damaged, or not for you to read), or ``"unwritable"`` (the person is in it still).
        rows: how many rows are the person's.
    """

    path: Path
    state: str
    rows: int = 0


@dataclass(frozen=True)
class PersonAnswer:
    """What was done for one person.

    Attributes:
        is_new: whether the register did not know of it before.
        files: one answer for each file.
        is_mapping_kept: whether a mapping still holds a person who was deleted, because it was not given, or the person may
            still be in files that were made with it.
    """

    is_new: bool
    files: tuple[FileAnswer, ...]
    is_mapping_kept: bool = False
