"""The command ``sudare reproduce``: the papers' experiments, each with one command."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sudare.cli.console.progress import progress_bars
from sudare.cli.console.speaking import Speaker
from sudare.cli.extensions import Extension
from sudare_papers.command_words import MESSAGES

__all__ = ["REPRODUCE", "Paper", "reproduce"]


class Paper(StrEnum):
    """What can be asked for."""

    ZCDP = "zcdp"
    POWER = "power"
    PRUNING = "pruning"
    NEG_L2 = "neg-l2"
    PK = "pk"
    SURVEY = "survey"
    ALL = "all"


def reproduce(
    speaker: Speaker,
    name: Annotated[Paper, typer.Argument(metavar="NAME", show_default=False)],
    repeats: Annotated[
        int | None, typer.Option("--repeats", metavar="N", min=1, max=1_000_000, show_default=False)
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", metavar="")] = False,
    data: Annotated[Path | None, typer.Option("--data", metavar="FOLDER", show_default=False)] = None,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER")] = Path("out"),
) -> None:
    """Run a paper's experiment, or all of them."""
    from sudare_papers import experiments
    from sudare_papers.maps import data_in_words, find_data
    from sudare_papers.settings import FULL_REPEATS, QUICK_REPEATS, Settings

    settings = Settings(
        repeats=repeats or (QUICK_REPEATS if quick else FULL_REPEATS), is_quick=quick, data=find_data(data)
    )
    speaker.say("reproduce.data_used", style="dim", data=data_in_words(settings).explain(speaker.language))
    names = list(experiments.EXPERIMENTS) if name is Paper.ALL else [name.value]
    try:
        with progress_bars(speaker) as tell:
            done = experiments.reproduce(names, settings, out, speaker.language, tell)
    except KeyboardInterrupt:
        speaker.say("reproduce.stopped", style="yellow")
        raise
    findings = [(report.name, finding) for report in done.reports for finding in report.findings]
    for _, finding in findings:
        if not finding.holds:
            sentence = finding.sentence.explain(speaker.language)
            speaker.say("reproduce.failed", style="yellow", sentence=sentence, evidence=finding.evidence)
    if quick:
        speaker.say("reproduce.quick_run", style="dim")
    held = sum(finding.holds for _, finding in findings)
    speaker.say("reproduce.held", style="green", held=held, claims=len(findings))
    speaker.give(
        {
            "is_real": settings.data is not None,
            "repeats": settings.repeats,
            "pages": [str(page) for page in done.pages],
            "findings": [
                {
                    "experiment": experiment,
                    "sentence": finding.sentence.explain(speaker.language),
                    "holds": finding.holds,
                    "evidence": finding.evidence,
                }
                for experiment, finding in findings
            ],
        },
        *(str(page) for page in done.pages),
    )


REPRODUCE = Extension(function=reproduce, messages=MESSAGES)
"""What the entry point leads to."""
