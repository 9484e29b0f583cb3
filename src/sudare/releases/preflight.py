"""What stands in the way of a release, found before it is begun: nothing is spent, nothing is shown, and no row is looked at.

Whoever plans is told all at once what the release would be refused for: a ledger that is not there or cannot pay, a folder that
is taken, files that cannot be opened or lack a column. Everything is tried by the functions that the release itself calls, in the
order in which it calls them (`sudare.releases.protocol`), so that both say the same.

Looking before paying is allowed because of what is looked at: the plan, the ledger, names of files and folders, and the names and
types of columns (`sudare.io.headers`). None of them depends on who is in the data.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare.bilingual import BETWEEN_SENTENCES, Words
from sudare.errors import BudgetExceededError, GuaranteeError, OutputError, ParameterError, SudareError, UserError
from sudare.ledger import Dataset, Ledger, open_ledger
from sudare.ledger.checks import exceeded, require_same_unit
from sudare.releases.accounts import require_sound
from sudare.releases.folder_store import FolderStore
from sudare.releases.header import LedgerEntryPoint, ReleasePrice
from sudare.releases.kind import Kind
from sudare.storage.staging import require_free
from sudare.system.scratch import scratch_folder

__all__ = ["Preflight", "find_obstacles"]

NOT_WRITABLE = Words(
    "Nothing can be written in '{place}', where the release folder '{folder}' would be. Name another folder under [output], "
    "or ask for the right to write there.",
    "公表フォルダ「{folder}」を作る場所「{place}」に書き込めません。[output] に別のフォルダを指定するか、"
    "書き込み権限を確認してください。",
)
ASK_FOR_LESS = Words(
    "Write less under [budget]; a total is never raised.",
    "[budget] の値を小さくしてください（総予算を後から増やすことはできません）。",
)


@dataclass(frozen=True)
class Preflight:
    """What a release would meet.

    Attributes:
        obstacles: what it would be refused for, in the order in which it would; none if it can be carried out.
        is_made: whether the very same release was made before, so that it would be shown again at no cost.
        unfinished: ledger entries of runs of the very same plan that were stopped after their charge was kept, or are still at
            work. Carrying the plan out charges once more, and asks before it does.
    """

    obstacles: tuple[SudareError, ...] = ()
    is_made: bool = False
    unfinished: tuple[int, ...] = ()

    @property
    def is_clear(self) -> bool:
        """Whether nothing stands in the way."""
        return not self.obstacles


def find_obstacles(kind: Kind[Any, Any, Any, Any], plan: Any, ledger: Ledger | None = None) -> Preflight:
    """What stands in the way of carrying out a plan.

    Args:
        kind: of the release.
        plan: what to do.
        ledger: the plan's ledger, where it is open already.
    """
    header = kind.header(plan)
    found: list[SudareError] = []
    has_opted_out, unfinished = False, list[int]()
    if header.ledger is not None:
        with _noted(found), open_ledger(header.ledger.location) if ledger is None else nullcontext(ledger) as opened:
            dataset = opened.dataset(header.ledger.dataset)
            if header.price is not None:
                if _look_at_account(kind, plan, header.price, header.ledger, opened, dataset, found, unfinished):
                    return Preflight(is_made=True)
                has_opted_out = bool(opened.opt_outs(dataset.name).digests)
    with _noted(found):
        require_free(header.folder)
    with _noted(found):
        _require_writable(header.folder)
    with _noted(found), scratch_folder() as folder:
        kind.rehearse(plan, folder)
    with _noted(found):
        kind.require_source(plan, has_opted_out=has_opted_out)
    return Preflight(tuple(found), unfinished=tuple(unfinished))


def _look_at_account(
    kind: Kind[Any, Any, Any, Any],
    plan: Any,
    price: ReleasePrice,
    account: LedgerEntryPoint,
    ledger: Ledger,
    dataset: Dataset,
    found: list[SudareError],
    unfinished: list[int],
) -> bool:
    """Whether the release was made before; else what the account has against it, and what it holds already, is noted."""
    with _noted(found):
        require_sound(ledger)
    with _noted(found):
        require_same_unit(price.unit, dataset.unit, dataset.name)
        kind.require_account(plan, dataset)
    with _noted(found):
        fingerprint = kind.identity(plan, ledger.opt_outs(account.dataset).last_entry).fingerprint
        asked = kind.window(plan) if hasattr(kind, "window") else None
        known = None if asked is None else ledger.windows.find(account.dataset, asked.name_in(ledger, account.dataset))
        window = None if known is None else known.window
        if FolderStore[Any](ledger, account.dataset, fingerprint, kind.header(plan).folder, window).require_known():
            return not found
        if asked is not None and window is not None:  # it is reserved for, whatever is left
            ledger.windows.require_possible(window, asked.tick)
            return False
        if asked is None:
            unfinished += [one.number for one in ledger.reservations(dataset.name) if one.fingerprint == fingerprint]
    with _noted(found):
        if dataset.after([(price.budget, None)]) is None:
            refused = exceeded(dataset, price.budget, dataset.charge(price.budget, None))
            raise BudgetExceededError(Words.joined([refused.words, ASK_FOR_LESS], BETWEEN_SENTENCES))
    return False


def _require_writable(folder: Path) -> None:
    """Refuse a folder beside which nothing can be written, by the permissions of the nearest one that there is."""
    place = next((above for above in folder.absolute().parents if above.exists()), Path("/"))
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        raise OutputError(NOT_WRITABLE.format(place=place, folder=folder))


@contextmanager
def _noted(found: list[SudareError]) -> Iterator[None]:
    try:
        yield
    except (UserError, ParameterError, GuaranteeError) as error:
        found.append(error)
