"""Publications without differential privacy: each is noted in the ledger of its data set before anybody sees it.

The note has no cost. It is there so that the next publication can be attacked together with all that came before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sudare.errors import InputError
from sudare.ledger import Ledger
from sudare.ledger.records import NewPublicationError
from sudare.storage.hashes import hash_of_file
from sudare.storage.staging import document_in

__all__ = ["Journal", "KnownFolders", "too_busy"]


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


class Journal:
    """What was published about one data set, in one format; knows nothing where there is no ledger.

    Args:
        ledger: that is open; None if nothing is noted.
        dataset: which data set in it.
        report_format: which kind is looked for and noted, such as ``"sudare-protected-table/1"``.
        is_changed: whether the public files of a folder are not those that its report lists.
    """

    def __init__(
        self, ledger: Ledger | None, dataset: str, report_format: str, is_changed: Callable[[Path], bool]
    ) -> None:
        self._ledger, self._dataset, self._format = ledger, dataset, report_format
        self._is_changed = is_changed

    def known(self) -> KnownFolders:
        """The folders that were published before. A folder whose public files were changed counts as lost.

        Raises:
            LedgerError: if the ledger does not know the data set.
        """
        if self._ledger is None:
            return KnownFolders()
        noted = [body for _, body in self._ledger.publications(self._dataset)]
        found, lost = [], []
        for body in noted:
            if body.format != self._format:
                continue
            report = document_in(Path(body.folder))
            is_there = report.is_file() and hash_of_file(report) == body.document_sha256
            if is_there and not self._is_changed(report.parent):
                found.append(report.parent)
            else:
                lost.append(body.folder)
        return KnownFolders(tuple(dict.fromkeys(found)), tuple(dict.fromkeys(lost)), len(noted))

    def note(self, report: bytes, *, folder: Path, title: str, known: KnownFolders) -> bool:
        """Note that a folder is about to be shown; nothing is noted if there is a publication that was not looked at.

        Args:
            report: the text of its report.
            folder: where it will be.
            title: for people.
            known: what was looked at.

        Returns:
            Whether it was noted.
        """
        if self._ledger is None:
            return True
        try:
            self._ledger.note_publication(
                self._dataset,
                document_sha256=hashlib.sha256(report).hexdigest(),
                report_format=self._format,
                folder=str(folder.resolve()),
                title=title,
                known=known.publications,
            )
        except NewPublicationError:
            return False
        return True

    def grown(self, known: KnownFolders) -> KnownFolders:
        """What is known now, after something was published meanwhile.

        Raises:
            InputError: if a run has noted its result and not yet shown it: it cannot be attacked.
        """
        latest = self.known()
        if set(latest.lost) - set(known.lost):
            raise too_busy()
        return latest


def too_busy() -> InputError:
    """What to say where others publish about the same data at this moment."""
    return InputError(
        "Something else about the same data is being published at this moment, so nothing was written: both have to be "
        "attacked together. Try again when it is there.",
        "同じデータについて、ほかの公表が同時に行われています。合わせて攻撃する必要があるため、何も書き込みませんでした。"
        "公表が終わってから、もう一度お試しください。",
    )
