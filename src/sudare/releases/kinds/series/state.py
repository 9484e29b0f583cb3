"""What a series remembers from tick to tick, for its holder alone: who is where, what changed, and the key of the noise.

Every window has a folder of its own. Its files are written once and never changed. A tick is complete when its manifest is there,
which names all files that belong to it. Which tick is the last one is the ledger's to say: a manifest is made before the
ledger settles its tick, and the one before it is kept until then. So a process may end at any moment. Every file names the
input that it was made from, by the keyed hash that stands in the ledger: one in the place of another is noticed.

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
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.errors import LedgerError
from sudare.ledger.records import BegunTick
from sudare.noise.addressed import KEY_BYTES, NoiseKey
from sudare.releases.kinds.series.document import DocumentFacts
from sudare.releases.kinds.series.state_files import (
    FAULTS,
    INPUT,
    FileHistory,
    Manifest,
    arrays_of_changes,
    finish_private,
    make_private,
    read_arrays,
    require_made_from,
    write_private,
)
from sudare.series.mechanism import SeriesDesign, SeriesWindow
from sudare.series.paths import LevelChanges, Paths
from sudare.storage.durable import sync_folder
from sudare.storage.guarded_json import read_json
from sudare.storage.hashes import keyed_digest
from sudare.storage.staging import translate_errors

if TYPE_CHECKING:
    import pyarrow
    from numpy.typing import NDArray

__all__ = ["SavedTick", "WindowFolder", "key_name"]

KEY = "key"
MANIFEST = re.compile(r"tick-([0-9]{6})\.json")
PEOPLE = re.compile(r"people-([0-9]{6})\.parquet")
FACTS = "facts-{:06}.json"

LOST = Words(
    "The private state of this window after tick {tick} is not in '{folder}', is damaged, or is that of another tick, and the "
    "ledger says that the tick was published. Bring the folder back. Without it nothing more can be published in this window; "
    "the next one begins at {next}.",
    "この期間の時点 {tick} 以降の非公開の状態が「{folder}」にないか、壊れているか、別の時点のものです（台帳では公表済みです）。"
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
                write_private(path, NoiseKey.fresh().material())
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
        lost = self._lost(published)
        if published < 0:
            history = FileHistory(self.folder, None, lost)
            return SavedTick(None, SeriesWindow(design, key, history=history), np.zeros(0, np.bool_))
        manifest = self.manifest(published)
        if manifest.key != key_name(key):
            raise self._lost_key()
        try:
            self._require_files(manifest)
            paths = read_arrays(self.folder / f"paths-{published:06}.npz", manifest.input_hash)
            counts = read_arrays(self.folder / f"counts-{published:06}.npz", manifest.input_hash)
            window = SeriesWindow(design, key, history=FileHistory(self.folder, manifest, lost))
            window.paths = Paths.restored(design.caps, published, paths)
            for number, estimate in enumerate(window.estimates):
                kept = {name.split(".", 1)[1]: array for name, array in counts.items() if name.startswith(f"{number}.")}
                estimate.restore(published + 1, kept)
            return SavedTick(manifest, window, paths["opted_out"])
        except FAULTS:
            raise lost from None

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
        dictionary, inputs = ((), ()) if before is None else (before.dictionary, before.inputs)
        made_from = begun.input_hash
        if newcomers.num_rows:
            dictionary = (*dictionary, self._write_people(tick, newcomers, made_from))
        if history.newest is not None:
            self._write_arrays(f"changes-{tick:06}.npz", arrays_of_changes(history.newest), made_from)
        self._write_arrays(f"paths-{tick:06}.npz", {**window.paths.arrays(), "opted_out": opted_out}, made_from)
        counts = {
            f"{number}.{name}": array
            for number, estimate in enumerate(window.estimates)
            for name, array in estimate.arrays().items()
        }
        self._write_arrays(f"counts-{tick:06}.npz", counts, made_from)
        manifest = Manifest(
            fingerprint=self.fingerprint,
            tick=tick,
            input_hash=made_from,
            inputs=(*inputs, *(None for _ in range(tick - len(inputs))), made_from),
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
        write_private(self.folder / f"tick-{tick:06}.json", manifest.to_json().encode())
        return manifest

    def keep_facts(self, tick: int, facts: DocumentFacts) -> None:
        """Keep what the document of a tick says of its moment, so that a folder that is lost can be made again."""
        write_private(self.folder / FACTS.format(tick), json.dumps(asdict(facts)).encode())

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
        return list(FileHistory(self.folder, self.manifest(published), self._lost(published)))

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

    def _require_files(self, manifest: Manifest) -> None:
        """That all files are there, and those of people are of their ticks. Changes say it of themselves when they are read.

        Raises:
            ValueError: if one is not; or what its library raises for a file that is damaged.
        """
        import pyarrow.parquet

        if not {name for name in manifest.changes if name} <= {file.name for file in self.folder.iterdir()}:
            raise ValueError("a file is gone")
        for name in manifest.dictionary:
            found = pyarrow.parquet.read_schema(self.folder / name).metadata or {}
            require_made_from(found.get(INPUT.encode(), b"").decode(), manifest.inputs[int(PEOPLE.findall(name)[0])])

    def _write_people(self, tick: int, newcomers: pyarrow.Table, made_from: str) -> str:
        import pyarrow.parquet

        name = f"people-{tick:06}.parquet"
        temporary = make_private(self.folder / f".{name}")
        told = newcomers.replace_schema_metadata({INPUT: made_from})
        pyarrow.parquet.write_table(told, temporary, compression="zstd")
        finish_private(temporary, self.folder / name)
        return name

    def _write_arrays(self, name: str, arrays: Mapping[str, NDArray[Any]], made_from: str) -> None:
        temporary = make_private(self.folder / f".{name}")
        with temporary.open("r+b") as stream:
            np.savez(stream, **arrays, **{INPUT: np.array(made_from)})  # type: ignore[arg-type]
        finish_private(temporary, self.folder / name)

    def _lost(self, tick: int) -> LedgerError:
        return LedgerError(LOST.format(tick=tick, folder=self.folder, next=self.following))

    def _lost_key(self) -> LedgerError:
        return LedgerError(NO_KEY.format(folder=self.folder, next=self.following))


def key_name(key: NoiseKey) -> str:
    """What a key is recognized by, without telling anything of it."""
    return keyed_digest(key.material(), "series key", ())
