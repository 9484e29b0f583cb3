"""What is published without differential privacy, noted in the ledger of the data set before anybody sees it.

The note has no cost. It is there so that the next publication can be attacked together with all that came before it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from sudare.ledger import open_ledger
from sudare.release.folders import REPORT
from sudare.release.hashing import hash_of_file
from sudare.release.plan_file import LedgerEntryPoint

__all__ = ["KnownFolders", "find_noted_folders", "note_report"]


@dataclass(frozen=True)
class KnownFolders:
    """What a ledger knows to have been published, in one format.

    Attributes:
        found: folders that are as they were published.
        lost: folders that are not there any more, or were changed.
        publications: how many the ledger knows altogether, in any format.
    """

    found: tuple[Path, ...] = ()
    lost: tuple[str, ...] = ()
    publications: int = 0


def find_noted_folders(ledger: LedgerEntryPoint, report_format: str) -> KnownFolders:
    """The folders that were published about a data set before, without differential privacy.

    Args:
        ledger: and the data set in it.
        report_format: which kind is looked for, such as ``"sudare-protected-table/1"``.

    Raises:
        LedgerError: if the ledger cannot be used, or does not know the data set.
    """
    with open_ledger(ledger.location) as opened:
        noted = [body for _, body in opened.publications(ledger.dataset)]
    found, lost = [], []
    for body in noted:
        if body.format != report_format:
            continue
        report = Path(body.folder) / REPORT
        if report.is_file() and hash_of_file(report) == body.document_sha256:
            found.append(report.parent)
        else:
            lost.append(body.folder)
    return KnownFolders(tuple(dict.fromkeys(found)), tuple(dict.fromkeys(lost)), len(noted))


def note_report(
    ledger: LedgerEntryPoint, report: bytes, *, report_format: str, folder: Path, title: str, known: int | None = None
) -> None:
    """Note that a folder is about to be shown.

    Args:
        ledger: and the data set in it.
        report: the text of its report.
        report_format: what kind it is.
        folder: where it will be.
        title: for people.
        known: how many publications were looked at before; None if that does not matter.

    Raises:
        NewPublicationError: if others were noted since; nothing is noted then.
        LedgerError: if the ledger cannot be used, or does not know the data set.
    """
    with open_ledger(ledger.location) as opened:
        opened.note_publication(
            ledger.dataset,
            document_sha256=hashlib.sha256(report).hexdigest(),
            report_format=report_format,
            folder=str(folder.resolve()),
            title=title,
            known=known,
        )
