"""The confidential folder of a release on its way: counts, subkeys and parts, for their owner alone, and gone when it is settled.

================  ======================================================================================================
``counts/``       leaves and true counts, written once by the cluster
``counts.json``   what they are (`counts_manifest`); where it is, the counts are complete
``pin.json``      which state of the data they are of
``keys/``         for each subtree the file that its task reads: subkey, refined count, digests
``parts/``        what tasks wrote, a file for each attempt; the driver names one of each subtree
================  ======================================================================================================

All machines of the cluster see the folder under the same path, and act for the same user. **Who is kept out:** other users of
these machines, and whoever reads the plans, event logs, user interface, shuffle and spill files of Spark: no key is ever in
them. **Who is not:** the user for whom Spark works and the administrators of these machines and of the file system, who can
read the true counts anyway.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from sudare.noise.addressed import NoiseKey
from sudare.releases.subtrees.counts_manifest import CountsManifest
from sudare.spark.pins import InputPin
from sudare.storage.atomic import unique_text
from sudare.storage.durable import sync_folder
from sudare.tables.addressed.refining import Subtree
from sudare.tables.addressed.tree import Anchor

__all__ = ["ConfidentialFolder", "TaskOrder", "destroy_file", "read_order", "write_private_file"]

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700


def write_private_file(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read, whole or not at all, and bring it to the disk."""
    temporary = path.with_name(f".{unique_text()}.part")
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.rename(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def destroy_file(path: Path) -> None:
    """Overwrite a small file, and remove it; one that is gone already does no harm."""
    with suppress(FileNotFoundError):
        with path.open("r+b") as stream:
            stream.write(bytes(os.fstat(stream.fileno()).st_size))
            stream.flush()
            os.fsync(stream.fileno())
        path.unlink()
        sync_folder(path.parent)


@dataclass(frozen=True, eq=False)
class TaskOrder:
    """What a task needs to know besides the counts.

    Attributes:
        subtree: with its key and its refined count.
        digests: of the counts of each lowest anchor with people, by its prefix.
    """

    subtree: Subtree
    digests: Mapping[str, str]


def order_name(level: int, prefix: int) -> str:
    """The name of a subtree, in names of files."""
    return f"{level}-{prefix:016x}"


def read_order(folder: Path, level: int, prefix: int) -> TaskOrder:
    """What the task of a subtree reads on its machine.

    Raises:
        OSError: if the folder is not there.
    """
    said = json.loads((folder / "keys" / order_name(level, prefix)).read_bytes())
    anchor = Anchor(level, prefix, NoiseKey(bytes.fromhex(said["key"]), said["origin"]))
    return TaskOrder(Subtree(anchor, said["refined"]), said["digests"])


class ConfidentialFolder:
    """The folder of one release.

    Args:
        target: where the release will be published; the folder is hidden beside it.
        fingerprint: of the release.
    """

    def __init__(self, target: Path, fingerprint: str) -> None:
        self.path = target.absolute().with_name(f".{target.name}.confidential-{fingerprint[:16]}")
        self.counts, self.keys, self.parts = (self.path / name for name in ("counts", "keys", "parts"))

    def open(self) -> None:
        """Make what is not there yet."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        for folder in (self.path, self.keys, self.parts):
            folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
            folder.chmod(PRIVATE_FOLDER)

    def manifest(self) -> CountsManifest | None:
        """Of the counts, if they are complete."""
        try:
            return CountsManifest.from_json((self.path / "counts.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None

    def pin(self) -> InputPin | None:
        """Which state of the data the counts are of, as `keep_pin` kept it."""
        try:
            said = json.loads((self.path / "pin.json").read_bytes())
        except FileNotFoundError:
            return None
        return InputPin(said["kind"], said["state"], tuple(said["files"]))

    def keep_pin(self, pin: InputPin | None) -> None:
        """Keep which state of the data is counted; a list of files tells of the data."""
        if pin is not None:
            write_private_file(self.path / "pin.json", json.dumps(asdict(pin)).encode())

    def forget_counts(self) -> None:
        """Remove counts that are not complete."""
        shutil.rmtree(self.counts, ignore_errors=True)

    def files_of_counts(self) -> tuple[tuple[str, int], ...]:
        """Names and sizes of the files that hold the counts."""
        return tuple(sorted((file.name, file.stat().st_size) for file in self.counts.glob("*.parquet")))

    def keep(self, manifest: CountsManifest) -> None:
        """The counts are complete from now on."""
        write_private_file(self.path / "counts.json", manifest.to_json().encode())

    def give_order(self, order: TaskOrder) -> None:
        """Write what the task of a subtree reads."""
        anchor = order.subtree.anchor
        said = {
            "key": anchor.key.material().hex(),
            "origin": anchor.key.origin,
            "refined": order.subtree.refined,
            "digests": dict(order.digests),
        }
        write_private_file(self.keys / order_name(anchor.level, anchor.prefix), json.dumps(said).encode())

    def destroy(self) -> None:
        """Overwrite the subkeys, and remove everything; twice does no harm."""
        if self.keys.is_dir():
            for file in self.keys.iterdir():
                destroy_file(file)
        shutil.rmtree(self.path, ignore_errors=True)
