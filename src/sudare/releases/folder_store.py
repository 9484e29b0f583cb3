"""Releases that were made before, found again beside and in their place; a `sudare.ledger.charging.ResultStore`.

A folder is believed if it is what the ledger settled, by the hash of its document; or, where its process ended before that, if it
bears the seal that only the ledger's secret can make. Anybody may be able to write beside the target.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from sudare.attacks.verdicts import AttackReport
from sudare.bilingual import Words
from sudare.errors import LedgerError
from sudare.ledger import Ledger, Reservation
from sudare.ledger.charging import Completed
from sudare.ledger.entries import Settled
from sudare.ledger.records import BegunTick, Window
from sudare.privacy import ReleaseEvent
from sudare.storage.hashes import hash_of_file, seal_of
from sudare.storage.staging import (
    SEAL,
    completed_beside,
    document_in,
    document_with_hash,
    hold_target_if_free,
    publish_folder,
)

__all__ = ["FolderStore", "Released", "completed_folder"]

DraftT = TypeVar("DraftT")

TICK_CHANGED = Words(
    "This tick was published (ledger entry {entry}), and its folder '{place}' was changed. Move the folder away and run the tick "
    "again: as long as its window is open, it is made again as it was, at no cost.",
    "この時点は公表済みです（台帳の項目 {entry}）が、フォルダ「{place}」が変更されています。フォルダを移動してから、"
    "もう一度実行してください。期間が閉じていなければ、費用なしで元どおりに作り直します。",
)
TICK_LOST = Words(
    "This tick was published (ledger entry {entry}), but its folder '{place}' is gone, and it cannot be made again as it was: "
    "its window is closed, or its private state, the table it was refined by or the versions of the software are not those of "
    "then. Bring the folder back from a copy. Nothing else takes its place: it stays published, and the report of its window "
    "tells that it is lost.",
    "この時点は公表済みです（台帳の項目 {entry}）が、フォルダ「{place}」が見つからず、元どおりに作り直すこともできません"
    "（期間が閉じているか、非公開の状態、参照した表またはソフトウェアの版が公表時と異なります）。"
    "フォルダをコピーから戻してください。代わりのものは公表できません。公表済みのまま、期間の報告書に「消失」と記載されます。",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Released(Generic[DraftT]):
    """A release that has been made.

    Attributes:
        folder: where it is.
        document: what its document says.
        is_repeated: whether it had been made before, so that nothing was spent.
        draft: what the kind wrote; None if it had been made before.
        attacks: what the attacks found; for the holder.
        lost: earlier publications that the ledger knows of, and that are not there any more, or were changed.
        left_out: those that the attacks could not compare with this one.
    """

    folder: Path
    document: Mapping[str, Any]
    is_repeated: bool
    draft: DraftT | None = None
    attacks: tuple[AttackReport, ...] = ()
    lost: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def completed_folder(
    folder: Path, target: Path, text: bytes, event: ReleaseEvent, released: Released[DraftT]
) -> Completed[Released[DraftT]]:
    """A folder that is complete and hidden; handing it out shows it.

    Args:
        folder: where it is now.
        target: where it will be.
        text: of the document that stands for all other files, as it was sealed; what is on the disk by now is settled by it.
        event: what was drawn for it.
        released: what the caller gets.
    """

    def show(entry: int) -> Released[DraftT]:
        with hold_target_if_free(target):
            publish_folder(folder, target)
        return released

    found_by = {
        "document_sha256": hashlib.sha256(text).hexdigest(),
        "made_in": folder.name,
        "folder": str(target.resolve()),
    }
    return Completed(event=event, found_by=found_by, hand_out=show)


class FolderStore(Generic[DraftT]):
    """The folders of one release.

    Args:
        ledger: that charged it.
        dataset: its account.
        fingerprint: of the release.
        target: where the release is shown.
        window: that the release is a tick of; None for a release with a reservation of its own.
        recreate: makes a tick again whose document had a hash, and shows it; None if it cannot be made.
    """

    def __init__(
        self,
        ledger: Ledger,
        dataset: str,
        fingerprint: str,
        target: Path,
        window: Window | None = None,
        recreate: Callable[[str], Released[DraftT] | None] | None = None,
    ) -> None:
        self._ledger, self._dataset, self._fingerprint, self._target = ledger, dataset, fingerprint, target
        self._window, self._recreate = window, recreate

    def find_settled(self, found_by: Mapping[str, str], entry: int) -> Released[DraftT] | None:
        """A release that the ledger settled; one that was never shown is shown now."""
        digest = found_by["document_sha256"]
        for folder in (self._target, Path(found_by["folder"])):
            if self._is_whole(folder, digest):
                return self._released(folder, digest)
        hidden = self._target.with_name(found_by["made_in"])
        if self._target.exists():
            return None
        if not self._is_whole(hidden, digest):
            return None if self._recreate is None else self._recreate(digest)
        with hold_target_if_free(self._target):
            publish_folder(hidden, self._target)
        return self._released(self._target, digest)

    def _still_open(self) -> list[Reservation | BegunTick]:
        """What was reserved for the release, or begun, and not settled."""
        if self._window is not None:
            begun = self._ledger.windows.begun(self._window)
            return [begun] if begun is not None and begun.fingerprint == self._fingerprint else []
        return [one for one in self._ledger.reservations(self._dataset) if one.fingerprint == self._fingerprint]

    def find_abandoned(self) -> Iterator[tuple[list[Reservation | BegunTick], Completed[Released[DraftT]]]]:
        """Releases that were complete when their process ended; their cost is reserved still."""
        if self._target.exists():
            return
        still_open = self._still_open()
        secret = self._ledger.secret(self._dataset) if still_open else b""
        for reservation in still_open:
            cost = reservation.window.cost if isinstance(reservation, BegunTick) else reservation.cost
            for folder in completed_beside(self._target):
                text = document_in(folder).read_bytes()
                if not self._is_sealed(folder, text, secret, reservation.number):
                    continue
                document = json.loads(text)
                event = ReleaseEvent.from_json(json.dumps(document["event"]))
                if event.cost == cost and self._is_whole(folder, hashlib.sha256(text).hexdigest()):
                    found = Released[DraftT](folder=self._target, document=document, is_repeated=True)
                    yield [reservation], completed_folder(folder, self._target, text, event, found)

    def require_known(self) -> bool:
        """Whether the release was made before, or is complete and only needs to be shown; nothing is shown by asking.

        Raises:
            LedgerError: if it was settled, and is gone or was changed.
        """
        latest = self._ledger.settled(self._dataset, self._fingerprint)
        for _, body in reversed(self._ledger.settlements(self._dataset, self._fingerprint)):
            digest, hidden = body.result["document_sha256"], self._target.with_name(body.result["made_in"])
            shown = (self._target, Path(body.result["folder"]))
            places = shown if self._target.exists() else (*shown, hidden)
            if any(self._is_whole(folder, digest) for folder in places):
                return True
        if next(self.find_abandoned(), None) is not None:
            return True
        if latest is not None:
            said = latest.read()
            raise self.complain_of_loss(latest.number, said.result if isinstance(said, Settled) else {})
        return False

    def complain_of_loss(self, entry: int, found_by: Mapping[str, str]) -> LedgerError:
        """The release was settled, and its folder is gone or was changed."""
        place = found_by.get("folder", str(self._target))
        if self._window is not None:
            return LedgerError((TICK_CHANGED if self._target.exists() else TICK_LOST).format(entry=entry, place=place))
        return LedgerError(
            f"This very release was made before (ledger entry {entry}), but its folder '{place}' is gone or was changed. Bring "
            "it back, or draw a new one with --again, which spends the budget once more.",
            f"この公表は既に実行済みです（台帳の項目 {entry}）が、フォルダ「{place}」が見つからないか変更されています。"
            "フォルダを戻すか、--again で新たに公表してください（予算をもう一度使います）。",
        )

    def _released(self, folder: Path, digest: str) -> Released[DraftT]:
        path = document_with_hash(folder, digest) or document_in(folder)
        document = json.loads(path.read_text(encoding="utf-8"))
        return Released(folder=folder, document=document, is_repeated=True)

    def _is_sealed(self, folder: Path, text: bytes, secret: bytes, number: int) -> bool:
        seal = (folder / SEAL).read_text(encoding="ascii", errors="replace") if (folder / SEAL).is_file() else ""
        return hmac.compare_digest(seal.encode(), seal_of(text, secret, number).encode())

    def _is_whole(self, folder: Path, digest: str) -> bool:
        """Whether a folder holds a document with this hash, and all files that it lists."""
        path = None if folder.is_symlink() else document_with_hash(folder, digest)
        if path is None:
            return False
        document = json.loads(path.read_text(encoding="utf-8"))
        files = [(folder / Path(entry["name"]).name, entry["sha256"]) for entry in document["files"]]
        return all(file.is_file() and hash_of_file(file) == stated for file, stated in files)
