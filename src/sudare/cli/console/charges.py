"""What is charged for a plan of any kind: shown before it is spent, and reported whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from sudare.cli.console.budgets import balance_after, budget_in_words, remaining_in_words
from sudare.cli.console.showing import facts
from sudare.cli.console.speaking import Speaker
from sudare.errors import SudareError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sudare.ledger import Entry, Ledger, Reservation
    from sudare.releases.header import LedgerEntryPoint, PlanHeader, ReleasePrice

__all__ = ["ask_before_charging_again", "charges_told", "opened_ledger", "show_charge", "tell_charge"]


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
def charges_told(speaker: Speaker, header: PlanHeader, before: int) -> Iterator[None]:
    """Whatever stops a release, say what the ledger says was charged for it.

    Args:
        speaker: who says it.
        header: of the plan.
        before: number of the ledger's latest entry before it was begun.
    """
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        try:
            state, number = _charge_since(header, before)
        except SudareError:
            speaker.remark("charged.unknown")
        else:
            is_ended = isinstance(error, KeyboardInterrupt)
            if is_ended and state == "nothing":
                state = "not_begun" if number is None else "given_back"
            speaker.remark(f"charged.{state}", entry=number)
        raise


def ask_before_charging_again(
    speaker: Speaker, price: ReleasePrice, *, yes: bool
) -> Callable[[Sequence[Reservation]], None]:
    """What to do where earlier runs of the same plan were stopped after their charge was kept: say so, and ask.

    Whoever said ``--yes`` agreed to one charge, not to a second one; so does a script, which needs ``--again`` for it.
    """

    def ask(left: Sequence[Reservation]) -> None:
        charge = budget_in_words(price.budget, speaker.words)
        values = {"entries": [one.number for one in left], "charge": charge}
        if yes or not speaker.is_interactive:
            raise speaker.mistake("charged.before_in_scripts", **values)
        speaker.warn_of("charged.before", **values)
        speaker.confirm("release.ask_again", yes=False)

    return ask


def _charge_since(header: PlanHeader, before: int) -> tuple[str, int | None]:
    """What became of the reservation that this release made, if it made one."""
    from sudare.ledger import open_ledger

    if header.ledger is None:
        return "nothing", None
    with open_ledger(header.ledger.location) as ledger:
        new = [entry for entry in ledger.entries(header.ledger.dataset) if entry.number > before]
    for reserved in reversed([entry for entry in new if _is_own(entry, header)]):
        closed = [entry for entry in new if _closes(entry, reserved.number)]
        if not closed:
            return "reserved", reserved.number
        return ("settled" if closed[0].kind == "settle" else "nothing"), reserved.number
    return "nothing", None


def _is_own(entry: Entry, header: PlanHeader) -> bool:
    from sudare.ledger.entries import Reserved

    body = entry.read()
    is_ours = isinstance(body, Reserved) and body.purpose == header.title
    return is_ours and header.price is not None and getattr(body, "cost", None) == header.price.budget


def _closes(entry: Entry, reservation: int) -> bool:
    return entry.kind in ("settle", "cancel") and getattr(entry.read(), "reservation", None) == reservation
