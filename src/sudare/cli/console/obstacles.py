"""What stands in the way of a plan, told to whoever looked at it: each obstacle with how to mend it, and an exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sudare.cli.console.failures import failure_of
from sudare.cli.console.speaking import Speaker

if TYPE_CHECKING:
    from sudare.releases.preflight import Preflight

__all__ = ["preflight_values", "tell_preflight"]


def preflight_values(found: Preflight | None) -> dict[str, object]:
    """What was found, as it stands in JSON; nothing where nobody looked."""
    if found is None:
        return {}
    return {
        "ready": found.is_clear,
        "made_before": found.is_made,
        "unfinished": list(found.unfinished),
        "obstacles": [failure_of(error).to_dict() for error in found.obstacles],
    }


def tell_preflight(speaker: Speaker, found: Preflight | None, file: Path) -> None:
    """Say how to carry a plan out; or what is in the way, and end with the exit code that carrying it out would end with.

    Args:
        speaker: who says it.
        found: what was found; None where nobody looked.
        file: the plan.

    Raises:
        typer.Exit: if something is in the way.
    """
    import typer

    if found is None:
        speaker.say("plan.alone", style="dim")
        return
    if found.is_made:
        speaker.say("plan.made_before", style="dim", plan=file)
        return
    if found.unfinished:
        speaker.warn_of("plan.unfinished", entries=list(found.unfinished))
    if found.is_clear:
        speaker.say("plan.spends_nothing", style="dim", plan=file)
        return
    codes = [speaker.tell_failure(failure_of(error)) for error in found.obstacles]
    speaker.say("plan.in_the_way", style="bold", plan=file, number=len(codes))
    raise typer.Exit(codes[0])
