"""What a format of exported files is: one object, held to one contract (`tests/contracts/test_export_formats.py`)."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from sudare.bilingual import Words
from sudare.export.description import ExportableRows, PublishedCube

__all__ = ["ExportFormat", "Publication"]

Publication = PublishedCube | ExportableRows


class ExportFormat(Protocol):
    """One format.

    A format refuses before it writes what it cannot hold. It writes a whole file to the path that it is given, which is out of
    sight; the file is shown when it is complete.

    Attributes:
        suffix: of its files, with the dot.
        words: what it is, and who reads it.
    """

    @property
    def suffix(self) -> str:
        """Of its files, with the dot."""

    @property
    def words(self) -> Words:
        """What it is, and who reads it."""

    def require_room(self, publication: Publication) -> None:
        """Refuse what the format cannot hold.

        Raises:
            OutputError: says why, and what to use instead.
        """

    def write(self, publication: Publication, path: Path) -> None:
        """Write the file."""
