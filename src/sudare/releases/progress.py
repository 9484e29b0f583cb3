"""Reports how far a release is to the caller that waits for it."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["WAIT", "Progress", "silent"]

Progress = Callable[[str, float | None], None]
"""Is given the name of the step that runs, and the share of it that is done where this is known."""

WAIT = "wait"
"""The step in which another process makes the same release."""


def silent(stage: str, share: float | None) -> None:
    """Progress that nobody looks at."""
