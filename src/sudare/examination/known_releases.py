"""What a ledger knows to have been published about a data set, with and without a budget; and the folders of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sudare.bilingual import Words
from sudare.errors import InputError
from sudare.examination.findings import Remark
from sudare.examination.subjects import Subject, open_subject
from sudare.ledger import open_ledger
from sudare.ledger.entries import PublicationNoted, Settled

__all__ = ["KnownReleases", "find_known_releases"]


@dataclass(frozen=True)
class KnownReleases:
    """Other publications about the same people.

    Attributes:
        subjects: those whose folders are there, as the ledger knows them.
        remarks: which could not be looked at.
        is_complete: whether the folders of all are there.
    """

    subjects: tuple[Subject, ...]
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
    answers = 0
    with open_ledger(location) as ledger:
        for entry in ledger.entries(dataset):
            body = entry.read() if entry.kind in ("settle", "publish") else None
            if isinstance(body, PublicationNoted):
                places[body.document_sha256] = body.folder
            elif isinstance(body, Settled) and "document_sha256" in body.result and "folder" in body.result:
                places[body.result["document_sha256"]] = body.result["folder"]
            elif isinstance(body, Settled):
                answers += 1
    subjects, remarks = [], []
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
    return KnownReleases(tuple(subjects), tuple(remarks), is_complete)
