"""The folder of a release: filled out of sight in a staging folder, and published by one rename when all of it is there.

Until then nobody but its owner can look into it. A publisher holds the target: between the last look whether it is free and the
rename nobody else takes its name.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import ClassVar, Self

from sudare.errors import OutputError
from sudare.storage.durable import sync_file, sync_folder
from sudare.storage.guarded_json import read_json
from sudare.storage.hashes import hash_of_file
from sudare.system.interrupts import uninterrupted
from sudare.system.locks import hold_file, is_held, release_file
from sudare.system.reasons import reason_of

__all__ = [
    "DOCUMENT",
    "PAGE",
    "REPORT",
    "REPORT_PAGE",
    "SEAL",
    "ReportStaging",
    "Staging",
    "clear_abandoned",
    "completed_beside",
    "document_in",
    "document_with_hash",
    "hold_target",
    "hold_target_if_free",
    "page_beside",
    "publish_folder",
    "require_free",
    "translate_errors",
]

DOCUMENT = "release.json"
PAGE = "release.html"
REPORT = "report.json"
REPORT_PAGE = "report.html"
"""Of comparisons; and of releases without counts that were made before all kinds had the same names."""

SEAL = ".seal"
PROBE = ".mode"
"""A folder within a staging folder, for a moment, to see what permissions folders get."""


MAX_HOLD_SECONDS = 5.0
"""How long what is paid for waits for somebody who is about to show another folder in its place: a moment, usually."""

CLOSED = 0o700
"""Permissions of a folder that is not shown yet."""


class Staging:
    """A hidden folder beside the target, in which a release is made.

    The folder itself is locked while somebody works in it, so that what a killed process left behind can be told from it and
    cleared away. One that is complete and charged, with a document, is kept: its budget is spent, and it may still be
    shown. One without a charge is cleared even if it is complete: its report may be for the holder alone, and can be made again.

    Attributes:
        document_name: of the file that is written last, and stands for all others.
    """

    document_name: ClassVar[str] = DOCUMENT

    def __init__(self, target: Path) -> None:
        self.target = target
        self.folder = target.with_name(f".{target.name}.partial-{secrets.token_hex(8)}")
        self._is_complete = False

    @classmethod
    @contextmanager
    def beside(cls, target: Path) -> Iterator[Self]:
        """A staging folder for a target that does not exist yet. What was not completed in it is gone afterwards.

        Raises:
            OutputError: if the target exists, or nothing can be written beside it.
        """
        if target.exists() or target.is_symlink():
            raise OutputError(
                f"'{target}' exists already. Name another folder under [output], or move this one away.",
                f"「{target}」は既に存在します。[output] に別のフォルダを指定するか、移動してください。",
            )
        staging = cls(target)
        # A signal comes before the folder is made, while it is worked in, or after it is cleared away.
        with uninterrupted() as pause:
            with translate_errors(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                clear_abandoned(target)
                lock = _make_locked(staging.folder)
            try:
                with pause.lifted():
                    yield staging
            finally:
                if not (staging._is_complete and _is_kept(staging.folder)):
                    shutil.rmtree(staging.folder, ignore_errors=True)
                os.close(lock)

    def complete(self, document: bytes, seal: str = "") -> None:
        """Put everything on the disk, still out of sight. The document comes last: where it is, all else is."""
        with translate_errors(self.target):
            if seal:
                (self.folder / SEAL).write_text(seal, encoding="ascii")
            unnamed = self.folder / f".{self.document_name}"
            unnamed.write_bytes(document)
            for path in self.folder.iterdir():
                sync_file(path)
            unnamed.rename(self.folder / self.document_name)
            sync_folder(self.folder)
            sync_folder(self.folder.parent)
        self._is_complete = True


class ReportStaging(Staging):
    """A staging folder for what is no release: its document is a report."""

    document_name: ClassVar[str] = REPORT


def require_free(target: Path) -> None:
    """Refuse a folder that exists, before anything is read.

    Raises:
        OutputError: if it does.
    """
    if target.exists() or target.is_symlink():
        raise OutputError(
            f"'{target}' exists already, and nothing was written. Name another folder with --out or under [output], "
            "or move this one away.",
            f"「{target}」は既に存在するため、何も書き込みませんでした。--out または [output] "
            "で別のフォルダを指定するか、移動してください。",
        )


@contextmanager
def hold_target(target: Path) -> Iterator[None]:
    """Be the only one who publishes to a target; the second one waits.

    Raises:
        OutputError: if nothing can be written beside it.
    """
    path = target.with_name(f".{target.name}.lock")
    with translate_errors(target):
        handle = hold_file(path)
    try:
        yield
    finally:
        release_file(path, handle)


@contextmanager
def hold_target_if_free(target: Path) -> Iterator[None]:
    """The same for what is paid for already: nobody who holds the target, or spoils its lock, keeps it from being shown.

    Showing it is one rename, which never takes the place of another folder; the lock only spares others a false note.
    """
    path = target.with_name(f".{target.name}.lock")
    handle = None
    with suppress(OSError):
        handle = hold_file(path, seconds=MAX_HOLD_SECONDS)
    try:
        yield
    finally:
        if handle is not None:
            release_file(path, handle)


def publish_folder(folder: Path, target: Path) -> None:
    """Show a complete staging folder under its real name, at once, and bring the name to the disk.

    The caller holds the target (`hold_target`). The folder gets the permissions that folders usually have.

    Raises:
        OutputError: if it cannot be renamed, as where the target exists by now; the folder stays closed then.
    """
    with translate_errors(target):
        (folder / SEAL).unlink(missing_ok=True)
        folder.chmod(_usual_mode(folder))
        try:
            sync_folder(folder)
            folder.rename(target)
        except BaseException:
            with suppress(OSError):
                folder.chmod(CLOSED)
            raise
        sync_folder(target.parent)


def _usual_mode(folder: Path) -> int:
    """The permissions of a folder that is made here now: by the process's mask, which can be asked for in no other safe way."""
    probe = folder / PROBE
    with suppress(FileNotFoundError):
        probe.rmdir()  # of a process that was killed
    probe.mkdir(mode=0o755)
    try:
        return stat.S_IMODE(probe.stat().st_mode)
    finally:
        probe.rmdir()


def document_in(folder: Path) -> Path:
    """The document of a published folder, by the name that it was made with; where there is none, by today's name."""
    is_old = not (folder / DOCUMENT).exists() and (folder / REPORT).exists()
    return folder / (REPORT if is_old else DOCUMENT)


def document_with_hash(folder: Path, digest: str) -> Path | None:
    """The document of a folder that has a hash, whatever else lies there; None if there is none."""
    documents = (folder / name for name in (DOCUMENT, REPORT))
    return next((one for one in documents if one.is_file() and hash_of_file(one) == digest), None)


def page_beside(document: Path) -> Path:
    """The page that goes with a document."""
    return document.with_name(REPORT_PAGE if document.name == REPORT else PAGE)


def completed_beside(target: Path) -> list[Path]:
    """Complete folders that were never shown."""
    return [folder for folder in _hidden_beside(target) if document_in(folder).is_file()]


def _hidden_beside(target: Path) -> list[Path]:
    found = target.parent.glob(f".{escape(target.name)}.partial-*")
    return sorted(folder for folder in found if _is_own_folder(folder))


def _is_own_folder(folder: Path) -> bool:
    """Whether a real folder belongs to the current user and nobody else can write in it: others may have put one there."""
    try:
        about = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid() and not about.st_mode & 0o022


def _make_locked(folder: Path) -> int:
    """Make a folder and lock it; gives the handle that holds the lock."""
    while True:
        folder.mkdir(mode=CLOSED)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(handle, fcntl.LOCK_EX)
        if folder.exists():
            return handle
        os.close(handle)  # cleared away by somebody who saw it before it was locked


def _is_kept(folder: Path) -> bool:
    """Whether a hidden folder is complete and was charged, so that it may still be shown."""
    document = document_in(folder)
    try:
        said = read_json(document)
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return document.name == DOCUMENT  # whatever it is, it may have been paid for
    return isinstance(said, dict) and ("ledger" in said or (folder / SEAL).exists())


def clear_abandoned(target: Path) -> None:
    """Remove what killed processes left beside the target, unless it is complete and was charged."""
    for folder in _hidden_beside(target):
        if _is_kept(folder):
            continue
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            continue
        try:
            # If nobody is at work there; it may have been completed while the lock was asked for.
            if not is_held(lock) and not _is_kept(folder):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)


@contextmanager
def translate_errors(target: Path) -> Iterator[None]:
    """Turn what the system says while a release is written into an error that names the release."""
    try:
        yield
    except OSError as error:
        raise OutputError(
            f"The release cannot be written to '{target}': {reason_of(error).english}.",
            f"「{target}」に書き込めません: {reason_of(error).japanese}。",
        ) from None
