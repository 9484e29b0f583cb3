"""The document of a release: typed until it is written, then text, which its hash and its seal are made of.

A kind gives a `ReleaseDocument` with fields of its own. `document_values` is the one place where any of them becomes JSON. A
document that was read from a folder is a `StatedDocument`: anybody may have written it, so nothing in it is believed unchecked.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from importlib.metadata import version
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.privacy import ReleaseEvent, best_power
from sudare.releases.accounts import Charge
from sudare.releases.header import PlanTitle
from sudare.storage.hashes import hash_of_file
from sudare.system.clock import offset_text, time_text
from sudare.version import __version__

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "INLINE",
    "DocumentHead",
    "InputHash",
    "Promise",
    "PublishedFile",
    "ReleaseDocument",
    "StatedDocument",
    "describe_file",
    "describe_head",
    "describe_promise",
    "document_text",
    "document_values",
]

INLINE: Mapping[str, bool] = {"inline": True}
"""Marks a field that is replaced by its own fields in the document."""

FALSE_ALARM = 0.05


@dataclass(frozen=True, kw_only=True)
class PublishedFile:
    """A file that a document lists.

    Attributes:
        name: in the folder.
        bytes: its size.
        sha256: its hash.
    """

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What a guarantee means for one person.

    Attributes:
        false_alarm: how often an attacker may be wrong about somebody who is not in the data.
        best_power: how often at most they are then right about somebody who is.
    """

    false_alarm: float
    best_power: float


@dataclass(frozen=True, kw_only=True)
class InputHash:
    """A hash that later proves which data a release was made from.

    Attributes:
        keyed_hash: of the data, with a key that stays in the ledger.
        note: what it is a hash of.
    """

    keyed_hash: str
    note: str


@dataclass(frozen=True, kw_only=True)
class DocumentHead:
    """What every document begins with.

    Attributes:
        format: of the document, such as ``"sudare-release/1"``.
        title: what the release is called.
        publisher: who publishes it.
        description: what it is about.
        created: when, in UTC.
        utc_offset: how far the clocks were from UTC where it was made, such as ``"+09:00"``; pages tell the time by it.
        files: that are published, with their hashes.
        versions: of sudare, Python and the packages that took part.
    """

    format: str
    title: str
    publisher: str
    description: str
    created: str
    utc_offset: str | None = None
    files: tuple[PublishedFile, ...]
    versions: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleaseDocument:
    """The part of a document that the protocol needs; a kind adds fields of its own.

    A field that is None by default is left out of the text where it is None.

    Attributes:
        head: format, title, files.
        event: what was drawn and what it costs, of a release with a price.
        ledger: what was charged for it.
    """

    head: DocumentHead = field(metadata=INLINE)
    event: ReleaseEvent | None = None
    ledger: Charge | None = None


@dataclass(frozen=True, eq=False)
class StatedDocument:
    """What the document of a folder states.

    Its methods read what every kind of document has, and raise LookupError, TypeError or ValueError where it is not there.

    Attributes:
        path: of its file.
        values: what the file says.
    """

    path: Path
    values: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """The folder that it describes."""
        return self.path.parent

    @property
    def name(self) -> str:
        """Of its file."""
        return self.path.name

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def get(self, key: str) -> Any:
        """What it states under a key; None if it states nothing."""
        return self.values.get(key)

    def file_named(self, entry: Mapping[str, Any]) -> Path:
        """The file of the folder that an entry of its list names, wherever the name leads."""
        return self.folder / Path(entry["name"]).name

    def listed_files(self) -> list[Path]:
        """The files of the folder that it lists."""
        return [self.file_named(entry) for entry in self["files"]]

    def event(self) -> ReleaseEvent:
        """The event that it states.

        Raises:
            SudareError: if its noise costs more than it states.
        """
        return ReleaseEvent.from_json(json.dumps(self["event"]))

    def is_of_this_version(self) -> bool:
        """Whether this version of sudare made it."""
        return self.made_by() == __version__

    def made_by(self) -> str:
        """The version of sudare that made it, as the document states it."""
        versions = self.get("versions")
        return str(versions.get("sudare")) if isinstance(versions, dict) else "None"


def document_values(document: DataclassInstance) -> dict[str, object]:
    """A document in plain values, as its text is read again.

    Args:
        document: a `ReleaseDocument`, or a part of one.
    """
    return _fields_of(document)


def document_text(document: DataclassInstance | Mapping[str, Any]) -> bytes:
    r"""A document as it is written.

    Args:
        document: typed, or in plain values; whole numbers of NumPy are written as whole numbers.

    Example:
        >>> document_text({"title": "町"}).decode()
        '{\n "title": "町"\n}\n'
    """
    values = document if isinstance(document, Mapping) else document_values(document)
    return json.dumps(values, ensure_ascii=False, indent=1, default=index).encode() + b"\n"


def describe_file(path: Path) -> PublishedFile:
    """Name, size and hash of a published file."""
    return PublishedFile(name=path.name, bytes=path.stat().st_size, sha256=hash_of_file(path))


def describe_head(
    report_format: str, title: PlanTitle, files: Sequence[Path], packages: Sequence[str] = ()
) -> DocumentHead:
    """The head of a document that is made now.

    Args:
        report_format: of the document.
        title: of the plan.
        files: that are published.
        packages: that took part, besides sudare and Python.
    """
    return DocumentHead(
        format=report_format,
        title=title.title,
        publisher=title.publisher,
        description=title.description,
        created=time_text(),
        utc_offset=offset_text(),
        files=tuple(describe_file(path) for path in files),
        versions={
            "sudare": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in packages},
        },
    )


def describe_promise(event: ReleaseEvent) -> Promise:
    """What the cost of an event means for one person."""
    return Promise(false_alarm=FALSE_ALARM, best_power=float(best_power(event.cost, FALSE_ALARM)))


def _fields_of(value: Any) -> dict[str, object]:
    found: dict[str, object] = {}
    for one in fields(value):
        said = getattr(value, one.name)
        if one.metadata.get("inline"):
            found |= {} if said is None else _fields_of(said)
        elif said is not None or one.default is MISSING:
            found[one.name] = _plain(said)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, ReleaseEvent):
        return json.loads(value.to_json())
    if isinstance(value, Words):
        return {"english": value.english, "japanese": value.japanese}
    if is_dataclass(value):
        return _fields_of(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
