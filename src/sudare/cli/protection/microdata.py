"""Protecting the records of people: plans that anonymize, sample or synthesize them, and what each of them costs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sudare.bilingual import Words
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
from sudare.cli.protection.showing_records import result_of_records, show_result_of_records
from sudare.errors import InputError, LedgerError

if TYPE_CHECKING:
    from fractions import Fraction

    from sudare.ledger import Ledger
    from sudare.releases.header import PlanHeader
    from sudare.releases.kinds.records import PeoplePlan, ProtectedPeople

__all__ = ["anonymize", "carry_out_people", "sample", "synthesize"]

PlanFile = Annotated[Path, typer.Argument(metavar="PLAN.toml", show_default=False)]
OutFolder = Annotated[Path | None, typer.Option("--out", metavar="FOLDER", show_default=False)]
Check = Annotated[bool, typer.Option("--check")]
Yes = Annotated[bool, typer.Option("--yes", "-y")]
Again = Annotated[bool, typer.Option("--again")]
EvenIfBroken = Annotated[bool, typer.Option("--even-if-broken")]
Encoding = Annotated[str, typer.Option("--encoding", metavar="NAME")]


def anonymize(
    speaker: Speaker,
    file: PlanFile,
    out: OutFolder = None,
    check: Check = False,
    yes: Yes = False,
    again: Again = False,
    even_if_broken: EvenIfBroken = False,
) -> None:
    """Carry out a plan for a table of people."""
    from sudare.releases.kinds.records import read_people_plan

    plan = read_people_plan(file, out)
    if "anonymize" not in plan.steps[0].commands:
        raise speaker.mistake("people.use_synthesize", method=plan.steps[0].name)
    carry_out_people(speaker, plan, check=check, yes=yes, again=again, even_if_broken=even_if_broken)


def sample(
    speaker: Speaker,
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False)],
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", show_default=False)] = None,
    rate: Annotated[str | None, typer.Option("--rate", metavar="SHARE", show_default=False)] = None,
    rows: Annotated[int | None, typer.Option("--rows", metavar="NUMBER", min=1, show_default=False)] = None,
    by: Annotated[str | None, typer.Option("--by", metavar="COLUMN", show_default=False)] = None,
    encoding: Encoding = "auto",
    check: Check = False,
    yes: Yes = False,
    again: Again = False,
    even_if_broken: EvenIfBroken = False,
) -> None:
    """Draw some records, fairly; or carry out a plan that does."""
    if file.suffix == ".toml":
        from sudare.releases.kinds.records import read_people_plan

        if rate is not None or rows is not None or by is not None:
            raise speaker.mistake("people.sample_plan")
        plan = read_people_plan(file, out)
        if "sample" not in plan.steps[0].commands:
            raise speaker.mistake("people.use_anonymize", method=plan.steps[0].name)
        carry_out_people(speaker, plan, check=check, yes=yes, again=again, even_if_broken=even_if_broken)
        return
    if even_if_broken:
        raise speaker.mistake("people.broken_plan")
    if out is None:
        raise speaker.mistake("people.no_out")
    if (rate is None) == (rows is None):
        raise speaker.mistake("people.rate_or_rows")
    _sample_file(speaker, file, out, None if rate is None else _share(speaker, rate), rows, by, encoding)


def synthesize(
    speaker: Speaker,
    file: Annotated[Path | None, typer.Argument(metavar="PLAN.toml", show_default=False)] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="PLACE", show_default=False)] = None,
    from_table: Annotated[Path | None, typer.Option("--from-table", metavar="RELEASE", show_default=False)] = None,
    points: Annotated[bool, typer.Option("--points")] = False,
    check: Check = False,
    yes: Yes = False,
    again: Again = False,
) -> None:
    """Draw rows of nobody: from records with a budget, or from a table that was released."""
    if (file is None) == (from_table is None):
        raise speaker.mistake("people.plan_or_table")
    if from_table is not None:
        if out is None:
            raise speaker.mistake("people.no_out")
        _people_of_release(speaker, from_table, out, points)
        return
    from sudare.releases.kinds.records import read_people_plan

    plan = read_people_plan(file or Path(), out)
    if points:
        raise speaker.mistake("people.points")
    if "synthesize" not in plan.steps[0].commands:
        raise speaker.mistake("people.use_anonymize", method=plan.steps[0].name)
    carry_out_people(speaker, plan, check=check, yes=yes, again=again)


def carry_out_people(
    speaker: Speaker,
    plan: PeoplePlan,
    *,
    check: bool,
    yes: bool,
    again: bool,
    even_if_broken: bool = False,
    plan_only: bool = False,
) -> None:
    """Show what the plan does, ask before it spends, run it, and tell what was found or charged; or only show it."""
    from sudare.releases.kinds.records.folders import require_free
    from sudare.releases.kinds.records.running import RECORDS

    header = RECORDS.header(plan)
    if check:
        _check_plan(speaker, plan, plan_only=plan_only)
        return
    if plan.charging is None:
        require_free(plan.folder)
    with opened_ledger(header) as ledger:
        _carry_out(speaker, plan, header, ledger, yes, again, even_if_broken)


def _check_plan(speaker: Speaker, plan: PeoplePlan, *, plan_only: bool) -> None:
    """Show what the plan does and would cost, and what is in its way. Looks at no row."""
    from sudare.releases.kinds.records.running import RECORDS
    from sudare.releases.preflight import find_obstacles

    header = RECORDS.header(plan)
    found = None if plan_only else find_obstacles(RECORDS, plan)
    shown: list[Any] = [heading(plan.title), facts(_facts(speaker, plan))]
    with suppress(LedgerError), opened_ledger(header) as ledger:  # what is wrong with it is among what was found
        if header.price is not None and header.ledger is not None and ledger is not None:
            shown.append(show_charge(speaker, header.price, header.ledger, ledger)[0])
    speaker.give(_plan_values(plan) | preflight_values(found), stack(*shown))
    tell_preflight(speaker, found, plan.file)


def _carry_out(
    speaker: Speaker,
    plan: PeoplePlan,
    header: PlanHeader,
    ledger: Ledger | None,
    yes: bool,
    again: bool,
    even_if_broken: bool,
) -> None:
    from sudare.releases.kinds.records import run_people_plan

    before = 0
    shown: list[Any] = [heading(plan.title), facts(_facts(speaker, plan))]
    if header.price is not None and header.ledger is not None and ledger is not None:
        charge, before = show_charge(speaker, header.price, header.ledger, ledger)
        shown.append(charge)
    speaker.show(stack(*shown))
    if header.price is None or header.ledger is None or ledger is None:
        with progress_bars(speaker) as tell:
            made = run_people_plan(plan, even_if_broken=even_if_broken, progress=tell)
        speaker.show(show_result_of_records(made, speaker.words))
        _tell_attacks(speaker, made)
        for folder in made.lost:
            speaker.warn_of("people.earlier_lost", folder=folder)
        for folder in made.left_out:
            speaker.warn_of("people.earlier_left_out", folder=folder)
        speaker.say("people.not_private", style="yellow")
    else:
        speaker.confirm("release.ask", yes=yes)
        with charges_told(speaker, charge_of_release(header, before)), progress_bars(speaker) as tell:
            asks = ask_before_charging_again(speaker, header.price.budget, yes=yes)
            made = run_people_plan(plan, again=again, progress=tell, ledger=ledger, on_unfinished=asks)
        entry = made.document["ledger"]["entry"]
        tell_charge(speaker, header.price, header.ledger, ledger, entry, is_repeated=made.is_repeated)
    speaker.say("release.page", style="dim", page=made.folder / "release.html")
    speaker.give(_result_values(plan, made), str(made.folder))


def _tell_attacks(speaker: Speaker, made: ProtectedPeople) -> None:
    """What attacks found that is not refused; figures for the holder of the data."""
    for attack in made.document["attacks"]:
        for verdict in attack["verdicts"]:
            if verdict["outcome"] == "undecided" and not speaker.as_json:
                speaker.warn(Words(verdict["sentence"]["english"], verdict["sentence"]["japanese"]))
    if made.document["even_if_broken"]:
        speaker.warn_of("people.even_if_broken")


def _facts(speaker: Speaker, plan: PeoplePlan) -> list[tuple[str, object]]:
    """What a plan does, in lines. Looks at no data."""
    words = speaker.words
    lines: list[tuple[str, object]] = [
        (words("people.methods"), " → ".join(step.words.explain(words.language) for step in plan.steps)),
        (words("people.published"), ", ".join(plan.published)),
    ]
    gone = [name for name in plan.columns if name not in plan.published]
    if gone:
        lines.append((words("people.left_out"), ", ".join(gone)))
    for step in plan.steps:
        lines += [(words("people.model"), model.describe(words.language)) for model in step.promised_models]
    lines.append((words("plan.folder"), plan.folder))
    return lines


def _plan_values(plan: PeoplePlan) -> dict[str, object]:
    return {
        "plan": str(plan.file),
        "title": plan.title,
        "methods": [step.name for step in plan.steps],
        "columns": {name: column.role for name, column in plan.columns.items()},
        "charge": None if plan.charging is None else budget_values(plan.charging.budget),
        "folder": str(plan.folder),
    }


def _result_values(plan: PeoplePlan, made: ProtectedPeople) -> dict[str, object]:
    values: dict[str, object] = {
        "folder": str(made.folder),
        "methods": [step.name for step in plan.steps],
        "published": made.document["published"],
        "confidential_report": made.document["confidential"],
    }
    if plan.charging is None:
        values["attacks"] = {attack["attack"]: attack["outcome"] for attack in made.document["attacks"]}
        values["even_if_broken"] = made.document["even_if_broken"]
        values["result"] = result_of_records(made)
    if plan.charging is not None:
        values |= {
            "is_repeated": made.is_repeated,
            "charged": None if made.is_repeated else budget_values(plan.charging.budget),
            "dataset": plan.charging.ledger.dataset,
            "entry": made.document["ledger"]["entry"],
        }
    return values


def _sample_file(
    speaker: Speaker, file: Path, out: Path, rate: Fraction | None, rows: int | None, by: str | None, encoding: str
) -> None:
    from sudare.microdata.perturb.sampling import PROTECTS, sample_by_coins, sample_of_size, sample_of_strata
    from sudare.microdata.records import read_people, write_people

    with progress_bars(speaker) as tell:
        tell("load", None)
        records = read_people(file, encoding=encoding)
        tell("protect", None)
        if by is not None:
            strata = records.column(by).labels
            made = sample_of_strata(records, by, dict.fromkeys(strata, rows) if rows is not None else rate or 0)
        elif rows is not None:
            made = sample_of_size(records, rows)
        else:
            made = sample_by_coins(records, rate or 0)
        tell("save", None)
        write_people(out, made.records)
    speaker.say("people.sampled", style="green", out=out)
    if not speaker.as_json:
        speaker.show(PROTECTS.explain(speaker.language))
    speaker.give({"out": str(out), "method": made.method, "rows": made.records.rows}, str(out))


def _people_of_release(speaker: Speaker, release: Path, out: Path, points: bool) -> None:
    from sudare.domain import CountTable, Mesh, MeshList
    from sudare.microdata.synthetic import write_people_of_table
    from sudare.releases.kinds.counts import read_published_table

    folder = release if release.is_dir() else release.parent
    table = read_published_table(folder)
    if not isinstance(table, CountTable):
        raise InputError(
            f"'{folder}' holds a signed table: no people can be drawn from counts below 0. Publish whole numbers from "
            "0 on, such as "
            'with refine = "counts" in [method].',
            f'「{folder}」は符号付きの表です。負の値から個票は作れません。[method] の refine = "counts" などで'
            "非負の整数として公表してください。",
        )
    meshes = [attribute for attribute in table.domain.attributes if isinstance(attribute, (Mesh, MeshList))]
    if points and len(meshes) != 1:
        raise InputError(
            f"--points needs a table with one mesh, and '{folder}' has {len(meshes)}.",
            f"--points にはメッシュが一つの表が必要です（「{folder}」のメッシュは {len(meshes)} 個）。",
        )
    with progress_bars(speaker) as tell:
        tell("save", None)
        written = write_people_of_table(out, table, points=points)
    speaker.say("people.drawn", style="green", rows=f"{written:,}", release=folder)
    speaker.give({"out": str(out), "rows": written, "release": str(folder)}, str(out))


def _share(speaker: Speaker, text: str) -> Fraction:
    from fractions import Fraction

    try:
        share = Fraction(text)
    except (ValueError, ZeroDivisionError):
        share = Fraction(-1)
    if not 0 <= share <= 1:
        raise speaker.mistake("people.no_share", text=text[:40])
    return share
