"""The same data protected in many ways, on the same axes of use and risk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.console.progress import progress_bars
from sudare.cli.console.speaking import Speaker

if TYPE_CHECKING:
    from rich.table import Table

    from sudare.comparison import Compared

__all__ = ["compare"]

FOLDER = Path("comparison")
SHOWN = ("misplaced_two", "misplaced_all", "area", "guess_gain", "alone_found")
"""What a terminal has room for."""


def compare(
    speaker: Speaker,
    file: Annotated[Path | None, typer.Argument(metavar="PLAN.toml", show_default=False)] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FOLDER", show_default=False)] = None,
    quick: Annotated[bool, typer.Option("--quick")] = False,
    repeats: Annotated[int | None, typer.Option("--repeats", metavar="N", min=2, max=1000, show_default=False)] = None,
) -> None:
    """Compare methods of protection on a plan's people, or on an invented town."""
    from sudare.comparison import quick_plan, read_comparison_plan, run_comparison

    if (file is None) == (not quick):
        raise speaker.mistake("compare.plan_or_quick")
    if file is None:
        plan = quick_plan(out or FOLDER, repeats, language=speaker.language)
    else:
        plan = read_comparison_plan(file, out, repeats)
    with progress_bars(speaker) as tell:
        made = run_comparison(plan, tell=tell)
    if not speaker.as_json:
        speaker.show(_table(speaker, made))
    speaker.say("compare.read", style="dim")
    speaker.say("compare.truth", style="yellow")
    speaker.say("release.page", style="dim", page=made.folder / "report.html")
    speaker.give(_values(made), str(made.folder))


def _table(speaker: Speaker, made: Compared) -> Table:
    from rich.table import Table

    from sudare.comparison.reporting.page import percent
    from sudare.comparison.reporting.words import MEASURE_TITLES

    words = speaker.words
    table = Table(title=words("compare.table"), title_style="bold", box=None, pad_edge=False, header_style="dim")
    table.add_column(words("compare.method"), overflow="fold")
    table.add_column(words("compare.setting"), overflow="fold")
    for name in SHOWN:
        table.add_column(MEASURE_TITLES[name].explain(speaker.language), justify="right", overflow="fold")
    previous = ""
    for result in made.comparison.results:
        method = result.method
        title = "" if method.name == previous else method.title.explain(speaker.language)
        numbers = [percent(result.measures[name].value) for name in SHOWN]
        table.add_row(title, method.told(result.setting).explain(speaker.language), *numbers)
        previous = method.name
    return table


def _values(made: Compared) -> dict[str, object]:
    return {
        "folder": str(made.folder),
        "people": made.document["people"],
        "rare_people": made.document["rare_people"],
        "results": made.document["results"],
    }
