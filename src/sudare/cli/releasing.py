"""Carrying out a plan: show the charge, ask, run with progress, and say what was charged whatever happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.budgets import budget_in_words, budget_values, remaining_in_words
from sudare.cli.failures import Failure
from sudare.cli.planning import balance_facts, balance_of, read_balance
from sudare.cli.progress import progress_bars
from sudare.cli.showing import heading
from sudare.cli.speaking import Speaker
from sudare.errors import SudareError

if TYPE_CHECKING:
    from sudare.ledger import Entry
    from sudare.release import Release, ReleasePlan

__all__ = ["release"]


def release(
    speaker: Speaker,
    file: Annotated[Path, typer.Argument(metavar="PLAN.toml", show_default=False)],
    yes: Annotated[bool, typer.Option("--yes", "-y")] = False,
    again: Annotated[bool, typer.Option("--again")] = False,
    threads: Annotated[int | None, typer.Option("--threads", min=1, max=256, metavar="NUMBER")] = None,
) -> None:
    """Charge the ledger and publish."""
    from sudare.ledger import open_ledger
    from sudare.release import read_plan, run_release

    release_plan = read_plan(file)
    with open_ledger(release_plan.ledger.location) as ledger:
        balance = balance_of(release_plan, ledger.dataset(release_plan.ledger.dataset))
        before, _ = ledger.head()
    speaker.show(heading(release_plan.title))
    speaker.show(balance_facts(release_plan, balance, speaker.words))
    speaker.confirm("release.ask", yes=yes)
    with _charges_told(speaker, release_plan, before), progress_bars(speaker) as tell:
        made = run_release(release_plan, again=again, threads=threads, progress=tell)
    _tell_result(speaker, release_plan, made)


def _tell_result(speaker: Speaker, release_plan: ReleasePlan, made: Release) -> None:
    after = read_balance(release_plan)
    remaining = None if isinstance(after, Failure) else after.dataset.remaining
    charge, words = made.document["ledger"], speaker.words
    if made.is_repeated:
        speaker.say("release.repeated", style="yellow", entry=charge["entry"])
    else:
        left = words("balance.unknown") if isinstance(after, Failure) else remaining_in_words(after.dataset, words)
        charged = budget_in_words(release_plan.budget, speaker.words)
        speaker.say("release.done", style="green", charge=charged, entry=charge["entry"], left=left)
    speaker.say("release.page", style="dim", page=made.folder / "release.html")
    speaker.give(
        {
            "folder": str(made.folder),
            "is_repeated": made.is_repeated,
            "charged": None if made.is_repeated else budget_values(release_plan.budget),
            "dataset": release_plan.ledger.dataset,
            "entry": charge["entry"],
            "remaining": budget_values(remaining),
            "published": made.document["published"],
        },
        str(made.folder),
    )


@contextmanager
def _charges_told(speaker: Speaker, release_plan: ReleasePlan, before: int) -> Iterator[None]:
    """Whatever stops a release, say what the ledger says was charged for it."""
    try:
        yield
    except (Exception, KeyboardInterrupt):
        try:
            state, number = _charge_since(release_plan, before)
        except SudareError:
            speaker.remark("charged.unknown")
        else:
            speaker.remark(f"charged.{state}", entry=number)
        raise


def _charge_since(release_plan: ReleasePlan, before: int) -> tuple[str, int | None]:
    """What became of the reservation that this release made, if it made one."""
    from sudare.ledger import open_ledger

    with open_ledger(release_plan.ledger.location) as ledger:
        new = [entry for entry in ledger.entries(release_plan.ledger.dataset) if entry.number > before]
    for reserved in reversed([entry for entry in new if _is_own(entry, release_plan)]):
        closed = [entry for entry in new if _closes(entry, reserved.number)]
        if not closed:
            return "reserved", reserved.number
        return ("settled" if closed[0].kind == "settle" else "nothing"), reserved.number
    return "nothing", None


def _is_own(entry: Entry, release_plan: ReleasePlan) -> bool:
    from sudare.ledger.entries import Reserved

    body = entry.read()
    return isinstance(body, Reserved) and body.purpose == release_plan.title and body.cost == release_plan.budget


def _closes(entry: Entry, reservation: int) -> bool:
    return entry.kind in ("settle", "cancel") and getattr(entry.read(), "reservation", None) == reservation
