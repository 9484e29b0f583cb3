"""The first steps: a plan and a ledger to start from, and a demonstration."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sudare.bilingual import Words
from sudare.cli.console.budgets import budget_in_words, budget_values, exact_text, read_budget
from sudare.cli.console.speaking import Speaker
from sudare.errors import OutputError
from sudare.system.reasons import reason_of

if TYPE_CHECKING:
    from sudare.privacy import Budget

NO_ATTRIBUTE = Words(
    "none of its columns was recognized as one to count by; write [[domain]] sections for those that are",
    "集計に使う列を見つけられませんでした。使う列の [[domain]] を書いてください",
)

__all__ = ["demo", "init"]

PLAN, LEDGER = "plan.toml", "budget.db"
FIRST_RELEASE = Decimal("0.25")
"""The share of the total that the plan to start from spends."""

MAX_SIDE_OF_SERIES = 128
"""Cells along a side of the country whose day is shown."""


def init(
    speaker: Speaker,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", show_default=False)] = Path(),
    dataset: Annotated[str, typer.Option("--dataset")] = "my-data",
    epsilon: Annotated[str | None, typer.Option("--epsilon", metavar="NUMBER")] = None,
    delta: Annotated[str | None, typer.Option("--delta", metavar="NUMBER")] = None,
    rho: Annotated[str | None, typer.Option("--rho", metavar="NUMBER")] = None,
    from_file: Annotated[Path | None, typer.Option("--from", metavar="FILE", show_default=False)] = None,
    kind: Annotated[Literal["counts", "records", "tables"], typer.Option("--kind")] = "counts",
) -> None:
    """Write a plan to start from and a ledger with one data set."""
    if kind != "counts":
        if from_file is None or (epsilon, delta, rho) != (None, None, None):
            raise speaker.mistake("init.kind_without_budget", kind=kind)
        _init_free_of_charge(speaker, folder, from_file, kind)
        return
    from sudare.ledger import open_ledger
    from sudare.ledger.checks import read_name
    from sudare.privacy import Budget, Unit

    read_name(dataset, "init")
    total = read_budget(epsilon, delta, rho, default=Budget(epsilon=1))
    plan, ledger = folder / PLAN, folder / LEDGER
    for path in (plan, ledger):
        if path.exists() or path.is_symlink():
            raise _exists(path)
    text, open_questions = _first_plan(speaker, folder, dataset, total.times(FIRST_RELEASE), from_file)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from None
    with open_ledger(ledger, create=True) as book:
        book.add_dataset(dataset, total, unit=Unit("person"))
    _write_new(plan, text)
    speaker.say("init.done", plan=plan, ledger=ledger, dataset=dataset, total=budget_in_words(total, speaker.words))
    for column, question in open_questions.items():
        speaker.say("init.undecided", style="yellow", column=column, question=question.explain(speaker.language))
    speaker.say("init.next", style="dim", plan=plan)
    values = {"plan": str(plan), "ledger": str(ledger), "dataset": dataset, "total": budget_values(total)}
    asked = {"undecided": {column: words.to_dict() for column, words in open_questions.items()}}
    speaker.give(values | (asked if from_file is not None else {}), str(plan))


def _init_free_of_charge(speaker: Speaker, folder: Path, file: Path, kind: Literal["records", "tables"]) -> None:
    """Draft a plan of a kind that has no budget, and so no ledger."""
    from sudare.drafting.plan_files import plan_text, write_new_plan
    from sudare.drafting.record_drafts import draft_records
    from sudare.drafting.table_drafts import draft_table

    plan = folder / PLAN
    if plan.exists() or plan.is_symlink():
        raise _exists(plan)
    draft = {"records": draft_records, "tables": draft_table}[kind]
    values = draft(file, plan_folder=folder, language=speaker.language)
    if folder.is_dir():
        _write_new(plan, plan_text(values))
    else:
        write_new_plan(folder, PLAN, values)
    speaker.say("init.done_free", plan=plan)
    speaker.say("init.next", style="dim", plan=plan)
    speaker.give({"plan": str(plan)}, str(plan))


def _first_plan(
    speaker: Speaker, folder: Path, dataset: str, budget: Budget, from_file: Path | None
) -> tuple[str, dict[str, Words]]:
    """The text of a plan to start from, and what has still to be decided by column."""
    if from_file is None:
        from sudare.cli.console.templates import plan_text

        return plan_text(speaker.language, dataset, _budget_lines(budget), LEDGER), {}
    from sudare.drafting import draft_of_file, plan_text_of

    draft, _, _ = draft_of_file(
        from_file, plan_folder=folder, budget=budget, ledger=LEDGER, dataset=dataset, language=speaker.language
    )
    undecided = {one.name: one.missing for one in draft.attributes if one.missing is not None}
    if not draft.attributes:
        undecided[from_file.name] = NO_ATTRIBUTE
    return plan_text_of(draft, PLAN), undecided


def demo(
    speaker: Speaker,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER")] = Path("out/demo"),
    side: Annotated[int, typer.Option("--side", min=64, max=4096)] = 256,
    series: Annotated[bool, typer.Option("--series")] = False,
) -> None:
    """Show what sudare does on an invented country."""
    speaker.out.quiet = speaker.as_json
    if series:
        from sudare.demo_series import run_series_demo

        day = run_series_demo(out, speaker.language, min(side, MAX_SIDE_OF_SERIES), speaker.out)
        speaker.give({"folder": str(day.folder), "report": str(day.report), "seconds": day.seconds})
        return
    from sudare.demo import run_demo

    shown = run_demo(out, speaker.language, side, speaker.out)
    values = {"folder": shown.folder, "release": shown.release.folder}
    speaker.give(
        {**{name: str(path) for name, path in values.items()}, "seconds": shown.seconds, "errors": shown.errors}
    )


def _budget_lines(budget: Budget) -> str:
    return "\n".join(f"{name} = {exact_text(value)}" for name, value in budget.to_dict().items())


def _write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet, or nothing."""
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    except FileExistsError:
        raise _exists(path) from None
    except OSError as error:
        raise _unwritable(path, error) from None
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)


def _exists(path: Path) -> OutputError:
    return OutputError(
        f"'{path}' exists already, and nothing was written. Name another folder, or move it away.",
        f"「{path}」は既にあるため、何も書き込みませんでした。別のフォルダを指定するか、移動してください。",
    )


def _unwritable(path: Path, error: OSError) -> OutputError:
    return OutputError(
        f"'{path}' cannot be written: {reason_of(error).english}.",
        f"「{path}」に書き込めません: {reason_of(error).japanese}。",
    )
