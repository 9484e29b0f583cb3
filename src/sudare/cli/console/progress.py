"""How far long work has come: bars for people, lines for files, nothing for programs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sudare.cli.console.messages import Catalogue
from sudare.cli.console.speaking import Speaker

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["progress_bars"]

SECONDS_BETWEEN_LINES = 60.0
"""Where progress is written to a file."""


@contextmanager
def progress_bars(speaker: Speaker) -> Iterator[Callable[[str, float | None], None]]:
    """A bar for each stage on a terminal, nothing to a program; in a file a line for each, and for long ones one a minute."""
    if speaker.as_json:
        yield lambda stage, share: None
        return
    if not speaker.err.is_terminal:
        told: dict[str, float] = {}

        def tell_line(stage: str, share: float | None) -> None:
            if stage not in told:
                speaker.say(f"stage.{stage}")
            elif share is not None and time.monotonic() >= told[stage] + SECONDS_BETWEEN_LINES:
                speaker.say("stage.share", stage=speaker.words(f"stage.{stage}"), share=f"{share:.0%}")
            else:
                return
            told[stage] = time.monotonic()

        yield tell_line
        return
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        SpinnerColumn(finished_text="[green]✓"),
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        _remaining(speaker.words),
    )
    with Progress(*columns, console=speaker.err) as progress:
        tasks: dict[str, TaskID] = {}

        def tell(stage: str, share: float | None) -> None:
            if stage not in tasks:
                _finish(progress, tasks)
                tasks[stage] = progress.add_task(speaker.words(f"stage.{stage}"), total=None)
            if share is not None:
                progress.update(tasks[stage], total=1.0, completed=min(max(share, 0.0), 1.0))

        yield tell
        _finish(progress, tasks)


def _remaining(words: Catalogue) -> Any:
    """A column with the time that is left, where it can be told."""
    from rich.progress import Task, TimeRemainingColumn
    from rich.text import Text

    class Remaining(TimeRemainingColumn):
        def render(self, task: Task) -> Text:
            if task.finished or not task.time_remaining:
                return Text()
            return Text.assemble(words("stage.left"), " ", super().render(task))

    return Remaining(compact=True)


def _finish(progress: Progress, tasks: Mapping[str, TaskID]) -> None:
    for task in tasks.values():
        progress.update(task, total=1.0, completed=1.0)
