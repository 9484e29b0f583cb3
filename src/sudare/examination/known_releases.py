"""What a ledger knows to have been published about a data set, with and without a budget; and the folders of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sudare.bilingual import Words
from sudare.errors import InputError
from sudare.examination.findings import Remark
from sudare.examination.series_windows import PublishedWindow
from sudare.examination.subjects import Subject, open_subject
from sudare.ledger import open_ledger
from sudare.ledger.entries import Entry, PublicationNoted, Reserved, Settled, TickSettled
from sudare.releases.documents import StatedDocument
from sudare.releases.kinds.series.verification import read_tick_document
from sudare.storage.hashes import hash_of_file
from sudare.storage.staging import DOCUMENT

LOOKED_AT = ("reserve", "settle", "publish", "settle-tick")
NO_TICK = Words(
    "The ledger knows of ticks (window: entry {entry}) whose folders are not there any more, or were changed: they were not "
    "attacked.",
    "台帳にある時点（期間: 項目 {entry}）のフォルダが見つからないか変更されているため、攻撃の対象に含まれていません。",
)

__all__ = ["KnownReleases", "find_known_releases"]


@dataclass(frozen=True)
class KnownReleases:
    """Other publications about the same people.

    Attributes:
        subjects: those whose folders are there, as the ledger knows them.
        windows: of series, with all ticks that the ledger knows to have been published, whether or not their folders are there.
        remarks: which could not be looked at.
        is_complete: whether the folders of all are there.
    """

    subjects: tuple[Subject, ...]
    windows: tuple[PublishedWindow, ...]
    remarks: tuple[Remark, ...]
    is_complete: bool


def find_known_releases(location: str, dataset: str, besides: str) -> KnownReleases:
    """Open the folders of everything that a ledger knows about a data set.

    Args:
        location: of the ledger.
        dataset: which data set.
        besides: the hash of the document that is examined anyway.

    Raises:
        LedgerError: if the ledger cannot be used, or has no such data set.
    """
    places: dict[str, str] = {}
    reserved: dict[int, Entry] = {}
    settled: dict[int, list[TickSettled]] = {}
    closed: dict[int, Settled] = {}
    answers = 0
    with open_ledger(location) as ledger:
        for entry in ledger.entries(dataset):
            body = entry.read() if entry.kind in LOOKED_AT else None
            if isinstance(body, Reserved) and body.ticks is not None:
                reserved[entry.number] = entry
            elif isinstance(body, TickSettled):
                settled.setdefault(body.window, []).append(body)
            elif isinstance(body, Settled) and body.reservation in reserved:
                closed[body.reservation] = body
            elif isinstance(body, PublicationNoted):
                places[body.document_sha256] = body.folder
            elif isinstance(body, Settled) and "document_sha256" in body.result and "folder" in body.result:
                places[body.result["document_sha256"]] = body.result["folder"]
            elif isinstance(body, Settled):
                answers += 1
    windows, unknown = _windows(reserved, settled, closed)
    subjects, remarks = [], list(unknown)
    for digest, folder in places.items():
        if digest == besides:
            continue
        try:
            subject = open_subject(Path(folder))
            if subject.document_sha256 != digest:
                raise InputError("another one", "別のもの")
            subjects.append(subject)
        except InputError:
            remarks.append(
                Words(
                    f"The ledger knows of a publication in '{folder}' that is not there any more, or was changed: it was not "
                    "attacked.",
                    f"台帳にある公表「{folder}」は見つからないか変更されているため、攻撃の対象に含まれていません。",
                )
            )
    is_complete = not remarks
    if answers:
        remarks.append(
            Words(
                f"The ledger has {answers:,} answered question(s) besides, which are not looked at here.",
                f"台帳にはこのほか {answers:,} 件の質問への回答があり、ここでは調べていません。",
            )
        )
    return KnownReleases(tuple(subjects), windows, tuple(remarks), is_complete)


def _windows(
    reserved: Mapping[int, Entry], settled: Mapping[int, Sequence[TickSettled]], closed: Mapping[int, Settled]
) -> tuple[tuple[PublishedWindow, ...], list[Remark]]:
    """The windows of which ticks were published. The noise of one that is open stands in the documents of its ticks."""
    windows, unknown = [], []
    for number, ticks in settled.items():
        entry, numbers = reserved[number], [tick.tick for tick in ticks]
        document = next(filter(None, (_document_of(tick) for tick in ticks)), None)
        if number not in closed and document is None:
            unknown.append(NO_TICK.format(entry=number))
            continue
        event = closed[number].event if document is None else document.event()
        begins = entry.time if document is None else str(document["tick"]["window"])
        windows.append(PublishedWindow(name=entry.hash, begins=begins, event=event, ticks=frozenset(numbers)))
    return tuple(windows), unknown


def _document_of(tick: TickSettled) -> StatedDocument | None:
    """The document of a tick, if it is there as the ledger settled it."""
    path = Path(tick.result.get("folder", "")) / DOCUMENT
    if not path.is_file() or hash_of_file(path) != tick.result.get("document_sha256"):
        return None
    with suppress(InputError):
        return StatedDocument(path, read_tick_document(path.parent))
    return None
