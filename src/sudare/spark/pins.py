"""Which state of the data was read, so that it can be found again.

Names, numbers and sizes of files grow with the data, so that a plain list of them would tell about people: a release states a
keyed hash of it. The version of a table of Delta and the snapshot of one of Iceberg are numbers of the lake's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sudare.storage.hashes import keyed_digest

__all__ = ["InputPin", "PinRecord", "pin_of_files"]


@dataclass(frozen=True, kw_only=True)
class PinRecord:
    """Which state of the data was read on Spark.

    Attributes:
        kind: ``"files"``, ``"delta"``, ``"iceberg"``, or ``"query"`` where nothing could be pinned.
        state: the version of a table of Delta, or the snapshot of one of Iceberg.
        keyed_hash: of the list of files with their sizes and modification tags, which itself would tell of the data.
    """

    kind: str
    state: str | None
    keyed_hash: str | None


@dataclass(frozen=True)
class InputPin:
    """What was read.

    Attributes:
        kind: ``"files"``, ``"delta"``, ``"iceberg"``, or ``"query"`` where nothing can be pinned.
        state: the version of Delta, or the snapshot of Iceberg; None for files and queries.
        files: each file's name, size and modification tag, where they are known; not private.
    """

    kind: str
    state: str | None = None
    files: tuple[str, ...] = ()

    def record(self, key: bytes, reservation: str) -> PinRecord:
        """What a release states of it, without what its files tell.

        Args:
            key: the data set's secret.
            reservation: hash of the ledger's entry that reserved the release's cost.
        """
        return PinRecord(kind=self.kind, state=self.state, keyed_hash=self.keyed_hash(key, reservation))

    def keyed_hash(self, key: bytes, reservation: str) -> str | None:
        """A hash that proves the list of files to whoever has the key; None where there is none.

        Args:
            key: the data set's secret.
            reservation: hash of the ledger's entry that reserved the release's cost.
        """
        if not self.files:
            return None
        return keyed_digest(key, "input files", (reservation.encode(), *(file.encode() for file in self.files)))


def pin_of_files(files: Sequence[str], kind: str = "files", state: str | None = None) -> InputPin:
    """The state of files: those of this machine with sizes and times, others by their names.

    Args:
        files: paths or addresses.
        kind: of the table that they make up.
        state: of that table.
    """
    return InputPin(kind, state, tuple(sorted(map(_tagged, files))))


def _tagged(file: str) -> str:
    parts = urlsplit(file)
    if parts.scheme not in ("", "file"):
        return file
    path = Path(unquote(parts.path) if parts.scheme else file)
    try:
        about = path.stat()
    except OSError:
        return str(path)
    return f"{path}\t{about.st_size}\t{about.st_mtime_ns}"
