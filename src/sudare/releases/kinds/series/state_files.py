"""The private files of a window: manifests, arrays and changes, each of which says which input it was made from."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from sudare.errors import LedgerError
from sudare.series.paths import LevelChanges
from sudare.storage.durable import sync_file, sync_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "FAULTS",
    "INPUT",
    "FileHistory",
    "Manifest",
    "arrays_of_changes",
    "finish_private",
    "make_private",
    "read_arrays",
    "require_made_from",
    "write_private",
]

STATE_FORMAT = "sudare-series-state/2"
FAULTS = (OSError, ValueError, KeyError, IndexError, BadZipFile)
"""What reading a file raises that is not there, is damaged, or is another tick's. What pyarrow raises is a `ValueError`."""

PRIVATE = 0o600
INPUT = "input_hash"
"""By this name a file says which input it was made from."""


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What belongs to a tick.

    Attributes:
        fingerprint: of the window.
        tick: its number.
        input_hash: keyed, of all input so far.
        inputs: the same of each tick so far, from the first; None for one that is missing.
        bound: `SeriesDesign.bind` of the tick.
        entry: number of the ledger's entry that began the tick.
        entry_hash: of that entry.
        key: what the key is recognized by.
        people: how many people are known.
        last_opt_out: the ledger's last entry by which somebody opted out, when their numbers were looked up.
        changes: the file of each tick's changes, from the first; None for one that is missing.
        dictionary: the files of people and their numbers.
    """

    fingerprint: str
    tick: int
    input_hash: str
    inputs: tuple[str | None, ...]
    bound: str
    entry: int
    entry_hash: str
    key: str
    people: int
    last_opt_out: int
    changes: tuple[str | None, ...]
    dictionary: tuple[str, ...]

    def to_json(self) -> str:
        """As its file has it."""
        said = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return json.dumps({"format": STATE_FORMAT, **said})

    @classmethod
    def from_values(cls, values: object) -> Manifest | None:
        """From what a file says; None if it is no manifest."""
        if not isinstance(values, dict) or values.get("format") != STATE_FORMAT:
            return None
        said: dict[str, Any] = {name: values.get(name) for name in cls.__dataclass_fields__}
        lists = ("inputs", "changes", "dictionary")
        if not all(isinstance(said[name], list) for name in lists) or len(said["inputs"]) != len(said["changes"]):
            return None
        return cls(**{**said, **{name: tuple(said[name]) for name in lists}})


class FileHistory:
    """Changes in files, of which one tick's at a time is in memory; those of the newest tick wait to be written.

    Args:
        folder: of the window.
        manifest: of the last tick that was published; None before the first one.
        lost: what to raise if a file is not there, or is another tick's.
    """

    def __init__(self, folder: Path, manifest: Manifest | None, lost: LedgerError) -> None:
        self._folder, self._lost = folder, lost
        self.files: list[str | None] = [] if manifest is None else list(manifest.changes)
        self._inputs = () if manifest is None else manifest.inputs
        self.newest: tuple[LevelChanges, ...] | None = None

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[tuple[LevelChanges, ...] | None]:
        for tick, name in enumerate(self.files):
            if name is None:
                yield None
            elif self.newest is not None and tick == len(self.files) - 1:
                yield self.newest
            else:
                try:
                    yield _read_changes(self._folder / name, self._inputs[tick])
                except FAULTS:
                    raise self._lost from None

    def append(self, changes: tuple[LevelChanges, ...] | None, /) -> None:
        """Add the changes of the next tick."""
        self.files.append(None if changes is None else f"changes-{len(self.files):06}.npz")
        self.newest = changes


def arrays_of_changes(changes: tuple[LevelChanges, ...]) -> dict[str, NDArray[Any]]:
    """All levels in one array each: every tick reads those of all ticks before it."""
    return {
        "sizes": np.array([level.nodes.size for level in changes], dtype=np.int64),
        "nodes": _halved(np.concatenate([level.nodes for level in changes])),
        "changes": _halved(np.concatenate([level.changes for level in changes])),
    }


def _halved(values: NDArray[np.int64]) -> NDArray[Any]:
    """Numbers in four bytes where these hold them."""
    is_small = not values.size or max(-int(values.min()), int(values.max())) < 2**31
    return values.astype(np.int32) if is_small else values


def _read_changes(path: Path, made_from: str | None) -> tuple[LevelChanges, ...]:
    arrays = read_arrays(path, made_from)
    ends = np.cumsum(arrays["sizes"])[:-1]
    nodes, changes = (np.split(arrays[name].astype(np.int64), ends) for name in ("nodes", "changes"))
    return tuple(LevelChanges(*level) for level in zip(nodes, changes, strict=True))


def read_arrays(path: Path, made_from: str | None) -> dict[str, NDArray[Any]]:
    """The arrays of a file; a `ValueError` if it was made from another input."""
    with np.load(path, allow_pickle=False) as found:
        arrays = {name: found[name] for name in found.files}
    require_made_from(str(arrays.pop(INPUT)), made_from)
    return arrays


def require_made_from(stated: str, made_from: str | None) -> None:
    """That a file was made from the input that the manifest names."""
    if stated != made_from:
        raise ValueError("a file of another tick")


def make_private(path: Path) -> Path:
    """An empty file that its owner alone can read."""
    path.unlink(missing_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, PRIVATE))
    return path


def write_private(path: Path, content: bytes) -> None:
    """A file that its owner alone can read, on the disk."""
    temporary = make_private(path.with_name(f".{path.name}"))
    temporary.write_bytes(content)
    finish_private(temporary, path)


def finish_private(temporary: Path, path: Path) -> None:
    """Put a file that is written in its place, on the disk."""
    sync_file(temporary)
    temporary.replace(path)
    sync_folder(path.parent)
