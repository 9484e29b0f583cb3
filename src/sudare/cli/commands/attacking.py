"""Attacking what is about to be published: folders, tables that somebody describes, and programs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sudare.bilingual import Words
from sudare.cli.console.budgets import read_decimal
from sudare.cli.console.failures import FOUND_FAULTS, Failure
from sudare.cli.console.progress import progress_bars
from sudare.cli.console.showing import facts, heading, stack
from sudare.cli.console.speaking import Speaker

if TYPE_CHECKING:
    from sudare.attacks.verdicts import AttackReport, Verdict
    from sudare.examination import Examination

__all__ = ["attack"]

MAX_SHOWN = 5
"""Verdicts of each attack, the worst first."""

MAX_LETTERS = 2_000
STYLES = {"broken": "bold red", "undecided": "yellow", "held": "green"}


def attack(
    speaker: Speaker,
    folder: Annotated[Path | None, typer.Argument(metavar="FOLDER", show_default=False)] = None,
    data: Annotated[Path | None, typer.Option("--data", metavar="FILE", show_default=False)] = None,
    population: Annotated[Path | None, typer.Option("--population", metavar="FILE", show_default=False)] = None,
    by_chance: Annotated[bool, typer.Option("--by-chance")] = False,
    outside: Annotated[Path | None, typer.Option("--outside", metavar="FILE", show_default=False)] = None,
    by: Annotated[str | None, typer.Option("--by", metavar="COLUMNS", show_default=False)] = None,
    others: Annotated[list[Path] | None, typer.Option("--with", metavar="FOLDER", show_default=False)] = None,
    ledger: Annotated[str | None, typer.Option("--ledger", metavar="LOCATION", show_default=False)] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", metavar="DATASET", show_default=False)] = None,
    threshold: Annotated[int | None, typer.Option("--threshold", min=2, metavar="NUMBER", show_default=False)] = None,
    program: Annotated[str | None, typer.Option("--program", metavar="COMMAND", show_default=False)] = None,
    on: Annotated[Path | None, typer.Option("--on", metavar="FILE", show_default=False)] = None,
    beside: Annotated[Path | None, typer.Option("--beside", metavar="FILE", show_default=False)] = None,
    runs: Annotated[int, typer.Option("--runs", min=125, metavar="NUMBER")] = 1000,
    claim: Annotated[str | None, typer.Option("--claim", metavar="EPSILON", show_default=False)] = None,
    delta: Annotated[str, typer.Option("--delta", metavar="NUMBER")] = "0",
    error_probability: Annotated[str, typer.Option("--error-probability", metavar="NUMBER")] = "0.001",
    seconds: Annotated[float | None, typer.Option("--seconds", min=1.0, metavar="NUMBER", show_default=False)] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", show_default=False)] = None,
) -> None:
    """Run the attacks that apply, and say what they found."""
    from sudare.examination import ChangedFolderError

    if (folder is None) == (program is None):
        raise speaker.mistake("attack.one")
    if out is not None and out.suffix not in (".json", ".html"):
        raise speaker.mistake("attack.suffix", out=out)
    if (ledger is None) != (dataset is None):
        raise speaker.mistake("attack.ledger_and_dataset")
    if by_chance and (data is None or population is None):
        raise speaker.mistake("attack.chance_alone")
    if by is not None and outside is None:
        raise speaker.mistake("attack.by_alone")
    _require_free(out)
    if program is not None:
        if on is None or beside is None:
            raise speaker.mistake("attack.two_inputs")
        given = (data, population, outside, by, others, ledger, threshold)
        if any(value is not None for value in given):
            raise speaker.mistake("attack.program_alone")
        claimed = None if claim is None else float(read_decimal("claim", claim))
        chances = [float(read_decimal(*each)) for each in (("delta", delta), ("error-probability", error_probability))]
        examination = _examine_program(
            speaker, program, (on, beside), runs=runs, claimed=claimed, chances=chances, seconds=seconds or 3600.0
        )
    else:
        if on is not None or beside is not None or claim is not None:
            raise speaker.mistake("attack.needs_program")
        from sudare.examination import examine

        try:
            with progress_bars(speaker) as tell:
                examination = examine(
                    folder or Path(),
                    data=data,
                    population=population,
                    by_chance=by_chance,
                    outside=outside,
                    by=_listed(by),
                    others=others or (),
                    ledger=ledger,
                    dataset=dataset,
                    threshold=threshold,
                    seconds=seconds or 60.0,
                    progress=lambda stage, share: tell(f"attack_{stage}", share),
                )
        except ChangedFolderError as changed:
            failure = Failure("input", Words(_clean(changed.english), _clean(changed.japanese)), FOUND_FAULTS)
            raise typer.Exit(speaker.tell_failure(failure)) from None
    _tell(speaker, examination, out)


def _examine_program(
    speaker: Speaker,
    program: str,
    inputs: tuple[Path, Path],
    *,
    runs: int,
    claimed: float | None,
    chances: Sequence[float],
    seconds: float,
) -> Examination:
    """Run a program many times on two neighbouring inputs, and bound its epsilon from below."""
    from sudare.attacks.audits.programs import audit_command
    from sudare.examination import Examination

    try:
        command = shlex.split(program)
    except ValueError:
        command = []
    if not any("{input}" in word for word in command) or not any("{output}" in word for word in command):
        raise speaker.mistake("attack.command")
    with progress_bars(speaker) as tell:
        audit = audit_command(
            command,
            *inputs,
            runs=runs,
            claimed=claimed,
            delta=chances[0],
            error_probability=chances[1],
            seconds=seconds,
            progress=lambda share: tell("attack_runs", share),
        )
    name = Path(command[0]).name
    if audit.failures:
        speaker.warn_of("attack.failures", number=audit.failures)
    return Examination(Path(command[0]), "program", name, (audit.report(name),), (), ())


def _tell(speaker: Speaker, examination: Examination, out: Path | None) -> None:
    from sudare.attacks.verdicts import AttackOutcome
    from sudare.examination.page import CONFIDENTIAL

    speaker.warn(CONFIDENTIAL)
    if out is not None:
        _write(speaker, examination, out)
    speaker.give(examination.to_dict(), stack(*_shown(speaker, examination)))
    if examination.outcome is AttackOutcome.BROKEN:
        raise typer.Exit(FOUND_FAULTS)


def _shown(speaker: Speaker, examination: Examination) -> list[Any]:
    from rich.text import Text

    from sudare.examination.findings import KINDS
    from sudare.examination.page import name_of

    words, language = speaker.words, speaker.language
    parts: list[Any] = [
        heading(_clean(examination.title)),
        facts([(words("attack.what"), KINDS[examination.kind].explain(language))]),
    ]
    for report in examination.reports:
        parts += ["", _heading(speaker, report), _clean(report.summary.explain(language))]
        parts += [_verdict(speaker, verdict) for verdict in _worst(report)[:MAX_SHOWN]]
        left = len(_worst(report)) - MAX_SHOWN
        if left > 0:
            parts.append(Text(words("attack.more", number=f"{left:,}"), "dim"))
        for remedy in dict.fromkeys(verdict.remedy.explain(language) for verdict in _worst(report)[:MAX_SHOWN]):
            parts.append(Text(words("attack.remedy", remedy=_clean(remedy)), "dim"))
    if examination.remarks:
        remarks = [_clean(remark.explain(language)) for remark in examination.remarks]
        parts += ["", heading(words("attack.remarks")), *remarks]
    if examination.not_applied:
        lines = [
            (name_of(each.attack).explain(language), _clean(each.reason.explain(language)))
            for each in examination.not_applied
        ]
        parts += ["", heading(words("attack.not_applied")), facts(lines)]
    parts += ["", _ending(speaker, examination)]
    return parts


def _clean(text: str) -> str:
    """A text for a terminal that quotes what a folder says, which anybody may have written."""
    from sudare.releases.verification import printable

    return printable(text, MAX_LETTERS)


def _heading(speaker: Speaker, report: AttackReport) -> Any:
    from rich.text import Text

    from sudare.attacks.verdicts import AttackOutcome
    from sudare.examination.page import MARKS, OUTCOMES, name_of

    numbers = {outcome.value: f"{len(report.with_outcome(outcome)):,}" for outcome in AttackOutcome}
    return Text.assemble(
        (f"{MARKS[report.outcome]} ", STYLES[report.outcome.value]),
        (f"{name_of(report.attack).explain(speaker.language)}: ", "bold"),
        (OUTCOMES[report.outcome].explain(speaker.language), STYLES[report.outcome.value]),
        f"  {speaker.words('attack.numbers', **numbers)}",
    )


def _worst(report: AttackReport) -> tuple[Verdict, ...]:
    """The verdicts that call for something: those that held are in the JSON."""
    return tuple(verdict for verdict in report.verdicts if verdict.outcome.value != "held")


def _verdict(speaker: Speaker, verdict: Verdict) -> Any:
    from rich.padding import Padding
    from rich.text import Text

    from sudare.examination.page import MARKS

    text = Text.assemble(
        (f"{MARKS[verdict.outcome]} {_clean(verdict.target)}", STYLES[verdict.outcome.value]),
        f": {_clean(verdict.sentence.explain(speaker.language))}",
    )
    return Padding(text, (0, 0, 0, 2))


def _ending(speaker: Speaker, examination: Examination) -> Any:
    from rich.text import Text

    from sudare.examination.page import TEXTS, ending_of

    outcome = examination.outcome
    sentence = TEXTS[ending_of(examination)].explain(speaker.language)
    if outcome.value == "broken":
        return Text(speaker.words("attack.broken", sentence=sentence), STYLES["broken"])
    return Text.assemble(
        (speaker.words("attack.ended", sentence=sentence), STYLES[outcome.value]),
        TEXTS["held_note"].explain(speaker.language),
    )


def _write(speaker: Speaker, examination: Examination, out: Path) -> None:
    from sudare.examination import render_examination
    from sudare.io import atomically

    if out.suffix == ".html":
        text = render_examination(examination, language=speaker.language)
    else:
        text = json.dumps(examination.to_dict(), ensure_ascii=False, indent=1) + "\n"
    with atomically(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
        temporary.chmod(0o600)
    speaker.say("attack.wrote", style="dim", out=out)


def _require_free(out: Path | None) -> None:
    """Before attacks take their time."""
    if out is not None and (out.exists() or not out.resolve().parent.is_dir()):
        from sudare.io import atomically

        with atomically(out):
            pass


def _listed(text: str | None) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in (text or "").split(",") if part.strip()))
