"""Carrying out a plan: show the charge, ask, run with progress, and say what was charged whatever happens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.commands.planning import balance_facts, balance_of, read_balance
from sudare.cli.console.budgets import budget_in_words, budget_values, remaining_in_words
from sudare.cli.console.charges import ask_before_charging_again, charge_of_release, charges_told
from sudare.cli.console.failures import Failure
from sudare.cli.console.progress import progress_bars
from sudare.cli.console.showing import heading
from sudare.cli.console.speaking import Speaker

if TYPE_CHECKING:
    from sudare.ledger import Ledger
    from sudare.releases.kinds.counts import Release, ReleasePlan

__all__ = ["carry_out_release", "release"]


def release(
    speaker: Speaker,
    file: Annotated[Path, typer.Argument(metavar="PLAN.toml", show_default=False)],
    yes: Annotated[bool, typer.Option("--yes", "-y")] = False,
    again: Annotated[bool, typer.Option("--again")] = False,
    threads: Annotated[int | None, typer.Option("--threads", min=1, max=256, metavar="NUMBER")] = None,
) -> None:
    """Charge the ledger and publish."""
    from sudare.releases.kinds.counts import read_plan

    carry_out_release(speaker, read_plan(file), yes=yes, again=again, threads=threads)


def carry_out_release(
    speaker: Speaker, release_plan: ReleasePlan, *, yes: bool, again: bool, threads: int | None
) -> None:
    """Show the charge, ask, run, and tell what was charged."""
    from sudare.ledger import open_ledger
    from sudare.releases.kinds.counts import run_release
    from sudare.releases.kinds.counts.running import COUNTS

    with open_ledger(release_plan.ledger.location) as ledger:
        balance = balance_of(release_plan, ledger.dataset(release_plan.ledger.dataset))
        before, _ = ledger.head()
        speaker.show(heading(release_plan.title))
        speaker.show(balance_facts(release_plan, balance, speaker.words))
        speaker.confirm("release.ask", yes=yes)
        with (
            charges_told(speaker, charge_of_release(COUNTS.header(release_plan), before)),
            progress_bars(speaker) as tell,
        ):
            made = run_release(
                release_plan,
                again=again,
                threads=threads,
                progress=tell,
                ledger=ledger,
                on_unfinished=ask_before_charging_again(speaker, release_plan.price.budget, yes=yes),
            )
        _tell_result(speaker, release_plan, made, ledger)


def _tell_result(speaker: Speaker, release_plan: ReleasePlan, made: Release, ledger: Ledger) -> None:
    after = read_balance(release_plan, ledger)
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
