"""The folder of protected records: filled out of sight, and shown by one rename when all of it is there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path

from sudare.errors import OutputError
from sudare.release.folders import LOCK, SEAL, Workshop, sync_folder, told

__all__ = ["PAGE", "PEOPLE", "REPORT", "PeopleWorkshop", "completed_beside", "require_free"]

PEOPLE = "people"
REPORT = "report.json"
PAGE = "report.html"


class PeopleWorkshop(Workshop):
    """A hidden folder beside the target, in which records are protected; complete where it holds a report."""

    def complete(self, document: bytes, seal: str = "") -> None:
        """Put everything on the disk, still out of sight. The report comes last: where it is, all else is."""
        with told(self.target):
            (self.folder / LOCK).unlink(missing_ok=True)
            if seal:
                (self.folder / SEAL).write_text(seal, encoding="ascii")
            unnamed = self.folder / f".{REPORT}"
            unnamed.write_bytes(document)
            for path in self.folder.iterdir():
                _sync(path)
            unnamed.rename(self.folder / REPORT)
            sync_folder(self.folder)
            sync_folder(self.folder.parent)
        self._is_complete = True

    @classmethod
    @contextmanager
    def beside(cls, target: Path) -> Iterator[PeopleWorkshop]:
        """A workshop for a target that does not exist yet. What was not completed in it is gone afterwards."""
        with super().beside(target) as workshop:
            if not isinstance(workshop, cls):
                raise TypeError("the workshop is another one")
            yield workshop


def require_free(target: Path) -> None:
    """Refuse a folder that exists, before anything is read.

    Raises:
        OutputError: if it does.
    """
    if target.exists() or target.is_symlink():
        raise OutputError(
            f"'{target}' exists already, and nothing was written. Name another folder with --out or under [output], "
            f"or move this "
            "one away.",
            f"「{target}」は既に存在するため、何も書き込みませんでした。--out または [output] "
            f"で別のフォルダを指定するか、移動してください。",
        )


def completed_beside(target: Path) -> list[Path]:
    """Complete folders that were never shown."""
    found = target.parent.glob(f".{escape(target.name)}.partial-*")
    return sorted(
        folder for folder in found if folder.is_dir() and not folder.is_symlink() and (folder / REPORT).is_file()
    )


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
