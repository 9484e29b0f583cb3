"""Statistical disclosure control: plans for tables that hide, round or perturb cells, attacked before they are shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.console.obstacles import preflight_values, tell_preflight
from sudare.cli.console.progress import progress_bars
from sudare.cli.console.showing import facts, heading, stack
from sudare.cli.console.speaking import Speaker
from sudare.cli.protection.showing_cells import hidden_cells, show_hidden_cells

if TYPE_CHECKING:
    from sudare.releases.kinds.tables import ProtectedFolder, TablePlan

__all__ = ["carry_out_tables", "protect"]


def protect(
    speaker: Speaker,
    file: Annotated[Path, typer.Argument(metavar="PLAN.toml", show_default=False)],
    out: Annotated[Path | None, typer.Option("--out", metavar="FOLDER", show_default=False)] = None,
    check: Annotated[bool, typer.Option("--check")] = False,
    even_if_broken: Annotated[bool, typer.Option("--even-if-broken")] = False,
) -> None:
    """Carry out a plan for a protected table."""
    from sudare.releases.kinds.tables import read_table_plan

    carry_out_tables(speaker, read_table_plan(file, out), check=check, even_if_broken=even_if_broken)


def carry_out_tables(
    speaker: Speaker, plan: TablePlan, *, check: bool, even_if_broken: bool, plan_only: bool = False
) -> None:
    """Show what the plan does, run it, and tell what the attacks found; or only show it."""
    from sudare.releases.kinds.tables import run_table_plan
    from sudare.releases.kinds.tables.planning.plan_file import plan_values
    from sudare.releases.kinds.tables.running import TABLES
    from sudare.releases.preflight import find_obstacles
    from sudare.storage.staging import require_free

    shown = stack(heading(plan.title), facts(_facts(speaker, plan)))
    if check:
        found = None if plan_only else find_obstacles(TABLES, plan)
        speaker.give(plan_values(plan) | preflight_values(found), shown)
        tell_preflight(speaker, found, plan.file)
        return
    require_free(plan.folder)
    speaker.show(shown)
    with progress_bars(speaker) as tell:
        made = run_table_plan(plan, even_if_broken=even_if_broken, progress=tell)
    cells = show_hidden_cells(made, plan, speaker.words)
    if cells is not None:
        speaker.show(cells)
    _tell_attacks(speaker, made)
    for folder in made.lost:
        speaker.warn_of("protect.lost", folder=folder)
    for folder in made.left_out:
        speaker.warn_of("protect.left_out", folder=folder)
    speaker.say("protect.done", style="green")
    speaker.say("release.page", style="dim", page=made.folder / "release.html")
    speaker.give(_values(made), str(made.folder))


def _facts(speaker: Speaker, plan: TablePlan) -> list[tuple[str, object]]:
    """What a plan does, in lines. Looks at no data."""
    from sudare.releases.kinds.tables.methods.registry import method_named

    words = speaker.words
    lines: list[tuple[str, object]] = [
        (words("protect.method"), method_named(plan.method).words.name.explain(words.language)),
        *((words("protect.table"), " × ".join(table.dimensions)) for table in plan.tables),
    ]
    lines += [(words("protect.rule"), rule.full.explain(words.language)) for rule in plan.rules]
    lines += [(words("protect.earlier"), folder) for folder in plan.earlier]
    if plan.ledger is not None:
        lines.append((words("balance.dataset"), plan.ledger.dataset))
    lines.append((words("plan.folder"), plan.folder))
    return lines


def _tell_attacks(speaker: Speaker, made: ProtectedFolder) -> None:
    """How the attacks ended; figures for the holder of the data."""
    from sudare.attacks.verdicts import AttackOutcome

    for report in made.attacks:
        if report.outcome is AttackOutcome.UNDECIDED:
            speaker.warn(report.summary)
        elif not speaker.as_json:
            speaker.show(report.summary.explain(speaker.language))
    if made.document["even_if_broken"]:
        speaker.warn_of("protect.was_broken")


def _values(made: ProtectedFolder) -> dict[str, object]:
    return {
        "folder": str(made.folder),
        "method": made.document["method"],
        "tables": made.document["tables"],
        "attacks": made.document["attacks"],
        "even_if_broken": made.document["even_if_broken"],
        "hidden_cells": hidden_cells(made),
        "public": ["release.json", "release.html", *(one["name"] for one in made.document["files"])],
    }
