"""To whom the state of a window belongs: one plan, one account, one design, from before its first tick to its end.

The first tick of a window claims its folder, by a file that is made once. A plan that was changed in the middle of the window,
another plan with the same folder, another ledger, or a sudare that would measure with other numbers finds the claim, and is
refused before it draws from the window's key. Whoever closes the window settles what the claim says, whatever the plan says then.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from sudare.bilingual import Words
from sudare.errors import EventError, InputError, LedgerError
from sudare.privacy import ReleaseEvent
from sudare.storage.durable import sync_file, sync_folder
from sudare.storage.guarded_json import read_json
from sudare.storage.hashes import keyed_digest

__all__ = ["WindowClaim", "account_name", "claim_window", "read_claim"]

CLAIM = "window.json"
CLAIM_FORMAT = "sudare-series-window/1"
PRIVATE = 0o600

CHANGED_PLAN = Words(
    "{file} has changed since the window that began at {window} was opened, or the data set or its folder is another one. "
    "A window is carried out by one plan: bring it back as it was, or wait for the end of the window, at {next}.",
    "{window} に始まった期間の途中で {file} が変更されたか、データセットまたはフォルダが異なります。"
    "1つの期間は1つの計画で実行します。計画を元に戻すか、期間の終わり（{next}）までお待ちください。",
)
OTHER_DESIGN = Words(
    "The window that began at {window} was measured with other numbers than {file} gives now, as after sudare was updated. "
    "Go on with the version that opened the window, or wait for its end, at {next}.",
    "{window} に始まった期間は、現在の {file} とは異なる係数で測定されています（sudare の更新後など）。"
    "期間を開始した版で続けるか、期間の終わり（{next}）までお待ちください。",
)
DAMAGED = Words(
    "'{path}' is damaged. Bring the private state of the window back as it was; nothing was published.",
    "「{path}」が壊れています。期間の非公開の状態を元に戻してください。何も公表していません。",
)


@dataclass(frozen=True, kw_only=True)
class WindowClaim:
    """What a window is carried out by.

    Attributes:
        fingerprint: of the window.
        account: the data set in its ledger, by `account_name`.
        design: `SeriesDesign.digest`.
        begins: the window's first moment.
        ends: the first moment after it.
        event: what the window costs, as JSON.
    """

    fingerprint: str
    account: str
    design: str
    begins: str
    ends: str
    event: str

    def release_event(self) -> ReleaseEvent:
        """What the window costs."""
        return ReleaseEvent.from_json(self.event)

    def ends_by(self, moment: datetime) -> bool:
        """Whether the window is over at a moment."""
        return datetime.fromisoformat(self.ends) <= moment

    def require(self, wanted: WindowClaim, file: str) -> None:
        """Refuse to go on by anything else than what claimed the window.

        Args:
            wanted: what a tick is to be carried out by.
            file: of the plan, for messages.

        Raises:
            InputError: if it is something else.
        """
        if (self.fingerprint, self.account) != (wanted.fingerprint, wanted.account):
            raise self.refusal(file)
        if self.design != wanted.design:
            raise self.refusal(file, OTHER_DESIGN)

    def refusal(self, file: str, words: Words = CHANGED_PLAN) -> InputError:
        """What to say to whoever did not claim the window."""
        return InputError(words.format(file=file, window=_text(self.begins), next=_text(self.ends)))


def account_name(secret: bytes) -> str:
    """What an account is recognized by, without telling anything of it: by the secret of the data set in its ledger."""
    return keyed_digest(secret, "series account", ())


def read_claim(folder: Path) -> WindowClaim | None:
    """Who claimed a window; None if nobody did.

    Raises:
        LedgerError: if the claim is damaged.
    """
    path = folder / CLAIM
    if not path.exists():
        return None
    with suppress(OSError, ValueError, EventError):
        said = read_json(path)
        names = WindowClaim.__dataclass_fields__
        if (
            isinstance(said, dict)
            and said.get("format") == CLAIM_FORMAT
            and all(type(said.get(name)) is str for name in names)
        ):
            found = WindowClaim(**{name: said[name] for name in names})
            found.release_event()
            datetime.fromisoformat(found.ends)
            return found
    raise LedgerError(DAMAGED.format(path=path))


def claim_window(folder: Path, wanted: WindowClaim, file: str) -> None:
    """Claim a window, or find that it is claimed for the same. Of two who claim at once, one succeeds.

    Args:
        folder: of the window, which is there.
        wanted: what a tick is to be carried out by.
        file: of the plan, for messages.

    Raises:
        InputError: if somebody else has claimed it.
        LedgerError: if the claim is damaged.
    """
    found = read_claim(folder)
    if found is None:
        path = folder / CLAIM
        temporary = folder / f".{CLAIM}-{os.getpid()}"
        temporary.unlink(missing_ok=True)
        handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, PRIVATE)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(json.dumps({"format": CLAIM_FORMAT, **asdict(wanted)}))
        sync_file(temporary)
        with suppress(FileExistsError):
            os.link(temporary, path)  # unlike a rename, it never takes the place of another claim
        temporary.unlink()
        sync_folder(folder)
        found = read_claim(folder)
    if found is None:
        raise LedgerError(DAMAGED.format(path=folder / CLAIM))
    found.require(wanted, file)


def _text(moment: str) -> str:
    return datetime.fromisoformat(moment).strftime("%Y-%m-%d %H:%M")
