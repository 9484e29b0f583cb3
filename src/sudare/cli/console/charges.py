"""What is charged for a plan of any kind: shown before it is spent, and reported whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sudare.cli.console.budgets import balance_after, budget_in_words, remaining_in_words
from sudare.cli.console.showing import facts
from sudare.cli.console.speaking import Speaker
from sudare.errors import SudareError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sudare.ledger import Entry, Ledger, Reservation
    from sudare.privacy import Budget
    from sudare.releases.header import LedgerEntryPoint, PlanHeader, ReleasePrice

__all__ = [
    "NO_CHARGE_YET",
    "WatchedCharge",
    "ask_before_charging_again",
    "charge_of_release",
    "charges_told",
    "opened_ledger",
    "show_charge",
    "tell_charge",
]

ChargedFor = Literal["release", "query", "window"]
SAME_FOR_ALL = ("nothing", "not_begun", "unknown")
"""What is said in the same words of a release and of a query."""


@dataclass(frozen=True, kw_only=True)
class WatchedCharge:
    """What the ledger will say of a charge, so that it is found there whatever stops its process.

    Attributes:
        location: of the ledger; None where there is none.
        dataset: the account.
        purpose: as the reservation states it.
        cost: what is charged; None if nothing is.
        before: number of the ledger's latest entry before it was begun.
        charged_for: what it pays for.
    """

    location: str | Path | None
    dataset: str
    purpose: str
    cost: Budget | None
    before: int
    charged_for: ChargedFor


NO_CHARGE_YET = WatchedCharge(location=None, dataset="", purpose="", cost=None, before=0, charged_for="query")
"""While a query is still being read."""


def charge_of_release(header: PlanHeader, before: int, charged_for: ChargedFor = "release") -> WatchedCharge:
    """The charge of a plan.

    Args:
        header: of the plan.
        before: number of the ledger's latest entry before it was begun.
        charged_for: what it pays for.
    """
    return WatchedCharge(
        location=None if header.ledger is None else header.ledger.location,
        dataset="" if header.ledger is None else header.ledger.dataset,
        purpose=header.title,
        cost=None if header.price is None else header.price.budget,
        before=before,
        charged_for=charged_for,
    )


def opened_ledger(header: PlanHeader) -> AbstractContextManager[Ledger | None]:
    """The ledger of a plan with a price, open for all that follows; None for plans without one.

    Raises:
        LedgerError: if it cannot be opened.
    """
    from sudare.ledger import open_ledger

    if header.price is None or header.ledger is None:
        return nullcontext(None)
    return open_ledger(header.ledger.location)


def show_charge(
    speaker: Speaker, price: ReleasePrice, account: LedgerEntryPoint, ledger: Ledger
) -> tuple[RenderableType, int]:
    """What is charged and what would remain, in lines; and the number of the ledger's latest entry.

    Raises:
        LedgerError: if the ledger cannot be used, or protects another unit.
    """
    from sudare.ledger.checks import require_same_unit

    dataset = ledger.dataset(account.dataset)
    before, _ = ledger.head()
    require_same_unit(price.unit, dataset.unit, dataset.name)
    fits, after = balance_after(dataset, price.budget)
    words = speaker.words
    lines: list[tuple[str, object]] = [
        (words("balance.dataset"), dataset.name),
        (words("balance.charge"), budget_in_words(price.budget, words)),
        (words("balance.remaining"), remaining_in_words(dataset, words)),
        (words("balance.after"), budget_in_words(after, words) if fits else words("balance.short")),
    ]
    return facts(lines), before


def tell_charge(
    speaker: Speaker, price: ReleasePrice, account: LedgerEntryPoint, ledger: Ledger, entry: int, *, is_repeated: bool
) -> None:
    """What was charged, and what is left."""
    if is_repeated:
        speaker.say("release.repeated", style="yellow", entry=entry)
        return
    left = remaining_in_words(ledger.dataset(account.dataset), speaker.words)
    charge = budget_in_words(price.budget, speaker.words)
    speaker.say("release.done", style="green", charge=charge, entry=entry, left=left)


@contextmanager
def charges_told(speaker: Speaker, watched: WatchedCharge, tell: Callable[..., None] | None = None) -> Iterator[None]:
    """Whatever stops what is charged, say what the ledger says was charged for it.

    An error of a query says itself what it cost; of queries only interruptions are told.

    Args:
        speaker: who says it.
        watched: the charge.
        tell: says words of the catalogue; by default they are added to the error that is about to be shown.
    """
    tell = speaker.remark if tell is None else tell
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        is_ended = isinstance(error, KeyboardInterrupt)
        if not is_ended and watched.charged_for == "query":
            raise
        try:
            state, number = _charge_since(watched)
        except SudareError:
            state, number = "unknown", None
        if is_ended and state == "nothing":
            state = "not_begun" if number is None else "given_back"
        tell(_key(watched.charged_for, state), entry=number)
        raise


def ask_before_charging_again(
    speaker: Speaker, cost: Budget, *, yes: bool, charged_for: ChargedFor = "release"
) -> Callable[[Sequence[Reservation]], None]:
    """What to do where earlier runs of the same were stopped after their charge was kept: say so, and ask.

    Whoever said ``--yes`` agreed to one charge, not to a second one; so does a script, which needs ``--again`` for it.

    Args:
        speaker: who says it.
        cost: what would be charged once more.
        yes: whether a charge was agreed to beforehand.
        charged_for: what it pays for.
    """

    def ask(left: Sequence[Reservation]) -> None:
        charge = budget_in_words(cost, speaker.words)
        values = {"entries": [one.number for one in left], "charge": charge}
        if yes or not speaker.is_interactive:
            raise speaker.mistake(_key(charged_for, "before_in_scripts"), **values)
        speaker.warn_of(_key(charged_for, "before"), **values)
        speaker.confirm(_key(charged_for, "ask_again"), yes=False)

    return ask


def _key(charged_for: ChargedFor, state: str) -> str:
    """Of the words of the catalogue."""
    if state in SAME_FOR_ALL or charged_for == "release" or (charged_for == "window" and state != "reserved"):
        return f"charged.{state}"
    return f"charged.{charged_for}_{state}"


def _charge_since(watched: WatchedCharge) -> tuple[str, int | None]:
    """What became of the reservation that was made, if one was."""
    from sudare.ledger import open_ledger

    if watched.location is None:
        return "nothing", None
    with open_ledger(watched.location) as ledger:
        new = [entry for entry in ledger.entries(watched.dataset) if entry.number > watched.before]
    for reserved in reversed([entry for entry in new if _is_own(entry, watched)]):
        closed = [entry for entry in new if _closes(entry, reserved.number)]
        if not closed:
            return "reserved", reserved.number
        return ("settled" if closed[0].kind == "settle" else "nothing"), reserved.number
    return "nothing", None


def _is_own(entry: Entry, watched: WatchedCharge) -> bool:
    from sudare.ledger.entries import Reserved

    body = entry.read()
    is_ours = isinstance(body, Reserved) and body.purpose == watched.purpose
    return is_ours and watched.cost is not None and getattr(body, "cost", None) == watched.cost


def _closes(entry: Entry, reservation: int) -> bool:
    return entry.kind in ("settle", "cancel") and getattr(entry.read(), "reservation", None) == reservation
