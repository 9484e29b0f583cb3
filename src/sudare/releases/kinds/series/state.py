"""What a series remembers from tick to tick, for its holder alone: who is where, what changed, and the key of the noise.

Every window has a folder of its own. Its files are written once and never changed. A tick is complete when its manifest is there,
which names all files that belong to it. Which tick is the last one is the ledger's to say: a manifest is made before the
ledger settles its tick, and the one before it is kept until then. So a process may end at any moment.

====================  ==========================================================================
``window.json``       what claimed the window (`claims`)
``key``               32 bytes from the operating system; overwritten and removed when the window ends
``tick-N.json``       the manifest of tick N
``people-N.parquet``  people who were first seen at tick N, and their numbers
``changes-N.npz``     net changes of all levels at tick N
``paths-N.npz``       where everybody is counted after tick N, and the moves that they have left
``counts-N.npz``      the memory of the estimates after tick N
``facts-N.json``      what the document of tick N says of the moment at which it was made
====================  ==========================================================================
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.errors import LedgerError
from sudare.ledger.records import BegunTick
from sudare.noise.addressed import KEY_BYTES, NoiseKey
from sudare.releases.kinds.series.document import DocumentFacts
from sudare.series.mechanism import SeriesDesign, SeriesWindow
from sudare.series.paths import LevelChanges, Paths
from sudare.storage.durable import sync_file, sync_folder
from sudare.storage.guarded_json import read_json
from sudare.storage.hashes import keyed_digest
from sudare.storage.staging import translate_errors

if TYPE_CHECKING:
    import pyarrow
    from numpy.typing import NDArray

__all__ = ["Manifest", "SavedTick", "WindowFolder"]

STATE_FORMAT = "sudare-series-state/1"
KEY = "key"
MANIFEST = re.compile(r"tick-([0-9]{6})\.json")
FACTS = "facts-{:06}.json"
PRIVATE = 0o600

LOST = Words(
    "The private state of this window after tick {tick} is not in '{folder}', or is damaged, and the ledger says that the tick "
    "was published. Bring the folder back. Without it nothing more can be published in this window; the next one begins at "
    "{next}.",
    "この期間の時点 {tick} 以降の非公開の状態が「{folder}」にないか、壊れています（台帳では公表済みです）。"
    "フォルダを戻してください。戻せない場合、この期間はこれ以上公表できません。次の期間は {next} に始まります。",
)
NO_KEY = Words(
    "The key of this window is not in '{folder}', or is another one. Bring the folder back. Without it nothing more can "
    "be published in this window; the next one begins at {next}.",
    "この期間の鍵が「{folder}」にないか、別の鍵です。フォルダを戻してください。戻せない場合、この期間はこれ以上公表できません。"
    "次の期間は {next} に始まります。",
)
OLD_LEDGER = Words(
    "The ledger does not know tick {tick}, which was begun in '{folder}': it is an old copy. Bring the present ledger back. "
    "Drawing from the same key once more could reveal people, so nothing was published.",
    "台帳に、「{folder}」で開始済みの時点 {tick} がありません。台帳が古いコピーです。現在の台帳を戻してください。"
    "同じ鍵でもう一度ノイズを引くと個人が分かるおそれがあるため、何も公表していません。",
)


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What belongs to a tick.

    Attributes:
        fingerprint: of the window.
        tick: its number.
        input_hash: keyed, of all input so far.
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
        if not isinstance(said["changes"], list) or not isinstance(said["dictionary"], list):
            return None
        return cls(**{**said, "changes": tuple(said["changes"]), "dictionary": tuple(said["dictionary"])})


@dataclass(frozen=True, eq=False)
class SavedTick:
    """What was loaded for the next tick.

    Attributes:
        manifest: of the last tick that was published; None before the first one.
        window: after that tick.
        opted_out: who had opted out by then.
    """

    manifest: Manifest | None
    window: SeriesWindow
    opted_out: NDArray[np.bool_]


class FileHistory:
    """Changes in files, of which one tick's at a time is in memory; those of the newest tick wait to be written.

    Args:
        folder: of the window.
        files: of the ticks so far.
    """

    def __init__(self, folder: Path, files: tuple[str | None, ...]) -> None:
        self._folder, self.files = folder, list(files)
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
                yield _read_changes(self._folder / name)

    def append(self, changes: tuple[LevelChanges, ...] | None, /) -> None:
        """Add the changes of the next tick."""
        self.files.append(None if changes is None else f"changes-{len(self.files):06}.npz")
        self.newest = changes


@dataclass(frozen=True, eq=False)
class WindowFolder:
    """The folder of one window.

    Args:
        folder: of the window.
        fingerprint: of the window.
        following: when the next window begins, for messages.
    """

    folder: Path
    fingerprint: str
    following: str = ""
    _files: list[str] = field(default_factory=list)

    def make(self, published: int) -> None:
        """Make the folder before the first tick; afterwards nothing is made in place of what is lost.

        Args:
            published: the last tick that was published, by the ledger; below 0 if none was.

        Raises:
            LedgerError: if the window has ticks, and no folder.
        """
        if published >= 0 and not self.folder.is_dir():
            raise self._lost(published)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def open_key(self, published: int) -> NoiseKey:
        """The key of the window; a fresh one if there is none and nothing was begun.

        Args:
            published: the last tick that was published, by the ledger; below 0 if none was.

        Raises:
            LedgerError: if the window has ticks, and no key.
        """
        path = self.folder / KEY
        if not path.exists():
            if published >= 0 or self.newest() is not None:
                raise self._lost_key()
            with translate_errors(self.folder):
                _write_private(path, NoiseKey.fresh().material())
        material = path.read_bytes()
        if len(material) != KEY_BYTES:
            raise self._lost_key()
        return NoiseKey(material)

    def newest(self) -> int | None:
        """The last tick that has a manifest; None if none has."""
        if not self.folder.is_dir():
            return None
        found = [MANIFEST.fullmatch(file.name) for file in self.folder.iterdir()]
        return max((int(one[1]) for one in found if one), default=None)

    def manifest(self, tick: int) -> Manifest:
        """The manifest of a tick.

        Raises:
            LedgerError: if it is not there, or belongs to another window.
        """
        try:
            found = Manifest.from_values(read_json(self.folder / f"tick-{tick:06}.json"))
        except (OSError, ValueError):
            found = None
        if found is None or found.tick != tick or found.fingerprint != self.fingerprint:
            raise self._lost(tick)
        return found

    def require_known(self, begun: int) -> None:
        """Refuse a ledger that is older than this state.

        Args:
            begun: the last tick that the ledger knows to have been begun or declared missing; -1 if none.

        Raises:
            LedgerError: if a tick was begun that the ledger does not know.
        """
        newest = self.newest()
        if newest is not None and newest > begun:
            raise LedgerError(OLD_LEDGER.format(tick=newest, folder=self.folder.name))

    def load(self, design: SeriesDesign, published: int) -> SavedTick:
        """What the next tick is made from.

        Args:
            design: of the window.
            published: the last tick that was published, by the ledger; below 0 if none was.

        Raises:
            LedgerError: if it is not there.
        """
        key = self.open_key(published)
        if published < 0:
            return SavedTick(
                None, SeriesWindow(design, key, history=FileHistory(self.folder, ())), np.zeros(0, np.bool_)
            )
        manifest = self.manifest(published)
        if manifest.key != key_name(key):
            raise self._lost_key()
        try:
            paths = _read_arrays(self.folder / f"paths-{published:06}.npz")
            counts = _read_arrays(self.folder / f"counts-{published:06}.npz")
            window = SeriesWindow(design, key, history=FileHistory(self.folder, manifest.changes))
            window.paths = Paths.restored(design.caps, published, paths)
            for number, estimate in enumerate(window.estimates):
                kept = {name.split(".", 1)[1]: array for name, array in counts.items() if name.startswith(f"{number}.")}
                estimate.restore(published + 1, kept)
            return SavedTick(manifest, window, paths["opted_out"])
        except (OSError, ValueError, KeyError):
            raise self._lost(published) from None

    def save(
        self,
        window: SeriesWindow,
        *,
        before: Manifest | None,
        begun: BegunTick,
        bound: str,
        newcomers: pyarrow.Table,
        opted_out: NDArray[np.bool_],
        last_opt_out: int,
    ) -> Manifest:
        """Keep a tick, on the disk. Whatever is there from an attempt at the same tick is replaced.

        Args:
            window: after the tick.
            before: the manifest of the last tick that was published.
            begun: the ledger's entry that binds the tick to its input.
            bound: `SeriesDesign.bind` of the tick, to which its noise is bound.
            newcomers: people who were first seen at the tick, and their numbers.
            opted_out: who has opted out.
            last_opt_out: the ledger's last entry by which somebody did.
        """
        tick = window.tick - 1
        history = window.history
        if not isinstance(history, FileHistory):
            raise TypeError("changes of a window that is kept are in files")
        dictionary = () if before is None else before.dictionary
        if newcomers.num_rows:
            dictionary = (*dictionary, self._write_people(tick, newcomers))
        if history.newest is not None:
            self._write_arrays(f"changes-{tick:06}.npz", _arrays_of_changes(history.newest))
        self._write_arrays(f"paths-{tick:06}.npz", {**window.paths.arrays(), "opted_out": opted_out})
        counts = {
            f"{number}.{name}": array
            for number, estimate in enumerate(window.estimates)
            for name, array in estimate.arrays().items()
        }
        self._write_arrays(f"counts-{tick:06}.npz", counts)
        manifest = Manifest(
            fingerprint=self.fingerprint,
            tick=tick,
            input_hash=begun.input_hash,
            bound=bound,
            entry=begun.number,
            entry_hash=begun.entry_hash,
            key=key_name(window.key),
            people=len(window.paths.cells),
            last_opt_out=last_opt_out,
            changes=tuple(history.files),
            dictionary=dictionary,
        )
        sync_folder(self.folder)
        _write_private(self.folder / f"tick-{tick:06}.json", manifest.to_json().encode())
        return manifest

    def keep_facts(self, tick: int, facts: DocumentFacts) -> None:
        """Keep what the document of a tick says of its moment, so that a folder that is lost can be made again."""
        _write_private(self.folder / FACTS.format(tick), json.dumps(asdict(facts)).encode())

    def facts(self, tick: int) -> DocumentFacts | None:
        """What was kept of a tick's document; None if nothing was."""
        with suppress(OSError, ValueError, TypeError):
            kept = read_json(self.folder / FACTS.format(tick))
            return DocumentFacts(**kept) if isinstance(kept, dict) else None
        return None

    def measured_changes(self, published: int) -> list[tuple[LevelChanges, ...] | None]:
        """The changes of all ticks up to one that was published, from the first; None for one that is missing.

        Raises:
            LedgerError: if the state is not there.
        """
        try:
            return list(FileHistory(self.folder, self.manifest(published).changes))
        except (OSError, ValueError, KeyError):
            raise self._lost(published) from None

    def clear_before(self, tick: int) -> None:
        """Remove what only ticks before one needed: nothing that is wanted to go on from it."""
        for file in self.folder.iterdir():
            found = re.fullmatch(r"(tick|paths|counts)-([0-9]{6})\.(json|npz)", file.name)
            if found and int(found[2]) < tick:
                file.unlink(missing_ok=True)

    def destroy_key(self) -> None:
        """Overwrite the key, and remove it. A file system or a disk may keep copies; see the how-to."""
        path = self.folder / KEY
        with suppress(FileNotFoundError):
            with path.open("r+b") as stream:
                stream.write(bytes(KEY_BYTES))
                stream.flush()
                os.fsync(stream.fileno())
            path.unlink()
            sync_folder(self.folder)

    def destroy(self) -> None:
        """Destroy the key, and remove everything."""
        self.destroy_key()
        if self.folder.is_dir():
            for file in self.folder.iterdir():
                file.unlink(missing_ok=True)
            self.folder.rmdir()
            sync_folder(self.folder.parent)

    def dictionary(self, manifest: Manifest | None) -> list[Path]:
        """The files of people and their numbers."""
        return [] if manifest is None else [self.folder / name for name in manifest.dictionary]

    def _write_people(self, tick: int, newcomers: pyarrow.Table) -> str:
        import pyarrow.parquet

        name = f"people-{tick:06}.parquet"
        temporary = _make_private(self.folder / f".{name}")
        pyarrow.parquet.write_table(newcomers, temporary, compression="zstd")
        _finish(temporary, self.folder / name)
        return name

    def _write_arrays(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        temporary = _make_private(self.folder / f".{name}")
        with temporary.open("r+b") as stream:
            np.savez(stream, **arrays)  # type: ignore[arg-type]
        _finish(temporary, self.folder / name)

    def _lost(self, tick: int) -> LedgerError:
        return LedgerError(LOST.format(tick=tick, folder=self.folder, next=self.following))

    def _lost_key(self) -> LedgerError:
        return LedgerError(NO_KEY.format(folder=self.folder, next=self.following))


def key_name(key: NoiseKey) -> str:
    """What a key is recognized by, without telling anything of it."""
    return keyed_digest(key.material(), "series key", ())


def _arrays_of_changes(changes: tuple[LevelChanges, ...]) -> dict[str, NDArray[Any]]:
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


def _read_changes(path: Path) -> tuple[LevelChanges, ...]:
    arrays = _read_arrays(path)
    ends = np.cumsum(arrays["sizes"])[:-1]
    nodes, changes = (np.split(arrays[name].astype(np.int64), ends) for name in ("nodes", "changes"))
    return tuple(LevelChanges(*level) for level in zip(nodes, changes, strict=True))


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    with np.load(path, allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


def _make_private(path: Path) -> Path:
    path.unlink(missing_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, PRIVATE))
    return path


def _write_private(path: Path, content: bytes) -> None:
    temporary = _make_private(path.with_name(f".{path.name}"))
    temporary.write_bytes(content)
    _finish(temporary, path)


def _finish(temporary: Path, path: Path) -> None:
    sync_file(temporary)
    temporary.replace(path)
    sync_folder(path.parent)
