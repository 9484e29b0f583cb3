"""Plans of any kind: what one would do, and carrying it out. The kinds that sudare brings are shown as their own commands do."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sudare.cli.commands.planning import show_release_plan
from sudare.cli.commands.releasing import carry_out_release
from sudare.cli.console.budgets import budget_values
from sudare.cli.console.charges import (
    ask_before_charging_again,
    charge_of_release,
    charges_told,
    opened_ledger,
    show_charge,
    tell_charge,
)
from sudare.cli.console.obstacles import preflight_values, tell_preflight
from sudare.cli.console.progress import progress_bars
from sudare.cli.console.showing import facts, heading, stack
from sudare.cli.console.speaking import Speaker
from sudare.cli.protection.microdata import carry_out_people
from sudare.cli.protection.protecting import carry_out_tables
from sudare.cli.series.planning import show_series_plan
from sudare.cli.series.running import carry_out_tick_of
from sudare.errors import LedgerError, PlanError

if TYPE_CHECKING:
    from sudare.releases.header import PlanHeader
    from sudare.releases.protocol import Released
    from sudare.releases.registry import Registration

__all__ = ["plan", "run"]

PlanFile = Annotated[Path, typer.Argument(metavar="PLAN.toml", show_default=False)]


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a plan is carried out.

    Attributes:
        is_dry: only show what the plan would do.
        plan_only: leave out whether data, ledger and folder are ready for it.
        out: where the result goes, in place of what the plan says.
        yes: spend without asking.
        again: spend even if the same release was made before.
        even_if_broken: show what an attack broke.
        threads: how many threads to use.
        at: of a series, when the tick begins.
    """

    is_dry: bool = False
    plan_only: bool = False
    out: Path | None = None
    yes: bool = False
    again: bool = False
    even_if_broken: bool = False
    threads: int | None = None
    at: str | None = None


def plan(
    speaker: Speaker,
    file: PlanFile,
    plan_only: Annotated[bool, typer.Option("--plan-only")] = False,
) -> None:
    """Show what a plan means, whatever kind it is of, and what is in the way of carrying it out."""
    found = _kind_if_known(file)
    if found is None or found.name == "counts":
        show_release_plan(speaker, file, plan_only=plan_only)
    else:
        _carry_out(speaker, found, file, RunOptions(is_dry=True, plan_only=plan_only))


def run(
    speaker: Speaker,
    file: PlanFile,
    out: Annotated[Path | None, typer.Option("--out", metavar="FOLDER", show_default=False)] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y")] = False,
    again: Annotated[bool, typer.Option("--again")] = False,
    even_if_broken: Annotated[bool, typer.Option("--even-if-broken")] = False,
    threads: Annotated[int | None, typer.Option("--threads", min=1, max=256, metavar="NUMBER")] = None,
    at: Annotated[str | None, typer.Option("--at", metavar="MOMENT", show_default=False)] = None,
) -> None:
    """Carry out a plan, whatever kind it is of."""
    from sudare.releases.registry import find_kind_of_plan

    options = RunOptions(out=out, yes=yes, again=again, even_if_broken=even_if_broken, threads=threads, at=at)
    found = find_kind_of_plan(file)
    if at is not None and found.name != "series":
        raise speaker.mistake("series.at_is_for_series")
    _carry_out(speaker, found, file, options)


def _kind_if_known(file: Path) -> Registration | None:
    """The kind of a plan; None if it cannot be told: reading the plan says why."""
    from sudare.releases.registry import find_kind_of_plan

    try:
        return find_kind_of_plan(file)
    except PlanError:
        return None


def _carry_out(speaker: Speaker, found: Registration, file: Path, options: RunOptions) -> None:
    if found.name == "series":
        if options.is_dry:
            show_series_plan(speaker, file, plan_only=options.plan_only)
        else:
            carry_out_tick_of(speaker, file, at=options.at, out=options.out, yes=options.yes, threads=options.threads)
    elif found.name == "counts":
        from sudare.releases.kinds.counts import read_plan

        carry_out_release(
            speaker, read_plan(file, options.out), yes=options.yes, again=options.again, threads=options.threads
        )
    elif found.name == "records":
        from sudare.releases.kinds.records import read_people_plan

        carry_out_people(
            speaker,
            read_people_plan(file, options.out),
            check=options.is_dry,
            plan_only=options.plan_only,
            yes=options.yes,
            again=options.again,
            even_if_broken=options.even_if_broken,
        )
    elif found.name == "tables":
        from sudare.releases.kinds.tables import read_table_plan

        table_plan = read_table_plan(file, options.out)
        carry_out_tables(
            speaker,
            table_plan,
            check=options.is_dry,
            plan_only=options.plan_only,
            even_if_broken=options.even_if_broken,
        )
    else:
        _carry_out_other(speaker, found, file, options)


def _carry_out_other(speaker: Speaker, found: Registration, file: Path, options: RunOptions) -> None:
    """A kind that brings no words of its own for the terminal."""
    from sudare.releases.kind import is_tick_kind
    from sudare.releases.protocol import carry_out, carry_out_tick

    kind: Any = found.load()
    read = kind.read_plan(file, options.out)
    header = kind.header(read)
    if options.is_dry:
        _show_other(speaker, found, kind, read, plan_only=options.plan_only)
        return
    with opened_ledger(header) as ledger:
        words = speaker.words
        lines: list[tuple[str, object]] = [(words("run.kind"), kind.name), (words("plan.folder"), header.folder)]
        shown: list[Any] = [heading(header.title), facts(lines)]
        before = 0
        if header.price is not None and header.ledger is not None and ledger is not None:
            charge, before = show_charge(speaker, header.price, header.ledger, ledger)
            shown.append(charge)
        speaker.show(stack(*shown))
        if header.price is not None:
            speaker.confirm("release.ask", yes=options.yes)
        asks = None
        if header.price is not None:
            asks = ask_before_charging_again(speaker, header.price.budget, yes=options.yes)
        charged_for: Any = "window" if is_tick_kind(kind) else "release"
        with charges_told(speaker, charge_of_release(header, before, charged_for)), progress_bars(speaker) as tell:
            if is_tick_kind(kind):
                made = carry_out_tick(kind, read, threads=options.threads, progress=tell, ledger=ledger)
            else:
                made = carry_out(
                    kind,
                    read,
                    again=options.again,
                    even_if_broken=options.even_if_broken,
                    threads=options.threads,
                    progress=tell,
                    ledger=ledger,
                    on_unfinished=asks,
                )
        if header.price is not None and header.ledger is not None and ledger is not None:
            entry = made.document["ledger"]["entry"]
            tell_charge(speaker, header.price, header.ledger, ledger, entry, is_repeated=made.is_repeated)
        else:
            speaker.say("run.done", style="green")
        speaker.give(_result_values(found, header, made), str(made.folder))


def _show_other(speaker: Speaker, found: Registration, kind: Any, read: Any, *, plan_only: bool) -> None:
    """What a plan of such a kind says, and what is in its way. Looks at no row."""
    from sudare.releases.preflight import find_obstacles

    header, words = kind.header(read), speaker.words
    lines: list[tuple[str, object]] = [(words("run.kind"), kind.name), (words("plan.folder"), header.folder)]
    shown: list[Any] = [heading(header.title), facts(lines)]
    with suppress(LedgerError), opened_ledger(header) as ledger:  # what is wrong with it is among what was found
        if header.price is not None and header.ledger is not None and ledger is not None:
            shown.append(show_charge(speaker, header.price, header.ledger, ledger)[0])
    preflight = None if plan_only else find_obstacles(kind, read)
    speaker.give(_plan_values(found, header) | preflight_values(preflight), stack(*shown))
    tell_preflight(speaker, preflight, header.file)


def _plan_values(found: Registration, header: PlanHeader) -> dict[str, object]:
    return {
        "plan": str(header.file),
        "kind": found.name,
        "title": header.title,
        "charge": None if header.price is None else budget_values(header.price.budget),
        "dataset": None if header.ledger is None else header.ledger.dataset,
        "folder": str(header.folder),
    }


def _result_values(found: Registration, header: PlanHeader, made: Released[Any]) -> dict[str, object]:
    charge = None if header.price is None or made.is_repeated else budget_values(header.price.budget)
    return {
        "folder": str(made.folder),
        "kind": found.name,
        "is_repeated": made.is_repeated,
        "charged": charge,
        "attacks": {report.attack: report.outcome.value for report in made.attacks},
    }
