"""The folder of a release: filled out of sight, and shown by one rename when all of it is there."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path

from sudare.errors import OutputError

__all__ = ["DOCUMENT", "PAGE", "SEAL", "Workshop", "appear", "completed_beside", "sync_folder", "told"]

DOCUMENT = "release.json"
PAGE = "release.html"
SEAL = ".seal"
LOCK = ".lock"


class Workshop:
    """A hidden folder beside the target, in which a release is made.

    It is locked while somebody works in it, so that what a killed process left behind can be told from it and cleared
    away. One that is complete, with a document, is kept: its budget is spent, and it may still be shown.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self.folder = target.with_name(f".{target.name}.partial-{secrets.token_hex(8)}")
        self._is_complete = False

    @classmethod
    @contextmanager
    def beside(cls, target: Path) -> Iterator[Workshop]:
        """A workshop for a target that does not exist yet. What was not completed in it is gone afterwards.

        Raises:
            OutputError: if the target exists, or nothing can be written beside it.
        """
        if target.exists() or target.is_symlink():
            raise OutputError(
                f"'{target}' exists already. Name another folder under [output], or move this one away.",
                f"「{target}」は既に存在します。[output] に別のフォルダを指定するか、移動してください。",
            )
        workshop = cls(target)
        with told(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            clear_abandoned(target)
            workshop.folder.mkdir(mode=0o755)
            lock = os.open(workshop.folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield workshop
        finally:
            if not workshop._is_complete:
                shutil.rmtree(workshop.folder, ignore_errors=True)
            os.close(lock)

    def complete(self, document: bytes, seal: str) -> None:
        """Put everything on the disk, still out of sight. The document comes last: where it is, all else is."""
        with told(self.target):
            (self.folder / LOCK).unlink(missing_ok=True)
            (self.folder / SEAL).write_text(seal, encoding="ascii")
            unnamed = self.folder / f".{DOCUMENT}"
            unnamed.write_bytes(document)
            for path in self.folder.iterdir():
                _sync(path)
            unnamed.rename(self.folder / DOCUMENT)
            sync_folder(self.folder)
            sync_folder(self.folder.parent)
        self._is_complete = True


def appear(folder: Path, target: Path) -> None:
    """Show a complete folder under its real name, at once."""
    with told(target):
        (folder / SEAL).unlink(missing_ok=True)
        folder.rename(target)
        sync_folder(target.parent)


def completed_beside(target: Path) -> list[Path]:
    """Complete folders that were never shown."""
    return [folder for folder in _hidden_beside(target) if (folder / DOCUMENT).is_file()]


def _hidden_beside(target: Path) -> list[Path]:
    found = target.parent.glob(f".{escape(target.name)}.partial-*")
    return sorted(folder for folder in found if folder.is_dir() and not folder.is_symlink())


def clear_abandoned(target: Path) -> None:
    """Remove what killed processes left unfinished beside the target."""
    for folder in _hidden_beside(target):
        if (folder / DOCUMENT).exists():
            continue
        try:
            lock = os.open(folder / LOCK, os.O_RDWR)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # somebody is at work there
            pass
        finally:
            os.close(lock)


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on the disk."""
    _sync(folder)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def told(target: Path) -> Iterator[None]:
    """Turn what the system says while a release is written into an error that names the release."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"The release cannot be written to '{target}': {error.strerror}.",
            f"「{target}」に書き込めません: {error.strerror}。",
        ) from None
