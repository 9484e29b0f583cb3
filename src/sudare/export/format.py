"""What a format of exported files is: one object, held to one contract (`tests/contracts/test_export_formats.py`).

A table in a lakehouse is no file, but a folder to which versions are committed: its formats are held to a contract of their own
(`tests/contracts/test_lake_formats.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sudare.bilingual import Words
from sudare.export.description import ExportableRows, PublishedCube

if TYPE_CHECKING:
    from sudare.export.lake_rows import LakeRows

__all__ = ["Committed", "ExportFormat", "LakeFormat", "Publication"]

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


@dataclass(frozen=True)
class Committed:
    """A release in a table of a lakehouse.

    Attributes:
        place: of the table.
        format: of the table.
        release: the SHA-256 of the release's document, and the name of its table where it has several.
        version: of the table that has it, or the number of its snapshot; None if the table's history no longer tells.
        latest: the version that the table has now.
        is_new: whether it was committed by this call, not by an earlier one.
    """

    place: str
    format: str
    release: str
    version: int | None
    latest: int
    is_new: bool


class LakeFormat(Protocol):
    """One format of tables in a lakehouse.

    All rows of a release are one commit with the release's identity. It replaces the rows of the version before; a release that
    is in the table's history is not committed again. Without the commit readers find the version before.

    Attributes:
        words: what it is, and who reads it.
    """

    @property
    def words(self) -> Words:
        """What it is, and who reads it."""

    def commit(self, rows: LakeRows, place: str) -> Committed:
        """Add a version with these rows, unless the table has or had it.

        Raises:
            OutputError: if the place is none, the table has other columns, or it cannot be written.
            MissingPackageError: if a package is missing.
        """
