"""The command ``sudare``: plan, charge, release, report and check, in English and Japanese.

`sudare.cli.app` puts the commands together; each module named after what is done holds the commands of one kind, and
`sudare.cli.words` holds every word that is shown. Nothing heavy is loaded before a command
needs it, and nothing at all before signals are taken care of.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sudare.system.interrupts import ended_by_signals

if TYPE_CHECKING:
    from sudare.cli.app import build_app

__all__ = ["build_app", "main"]

NEW_OBJECTS_BEFORE_GARBAGE = 50_000
"""How many objects a command makes before garbage is looked for; Python's 700 take a twentieth of a release."""


def __getattr__(name: str) -> Any:
    if name != "build_app":
        raise AttributeError(f"module 'sudare.cli' has no attribute {name!r}")
    from sudare.cli import app

    return app.build_app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; see `sudare.cli.app.main`.

    Args:
        arguments: what was typed behind ``sudare``; the process's own arguments if left out.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:  # a process of its own: nearly all that it makes at first are modules, which stay
        gc.set_threshold(NEW_OBJECTS_BEFORE_GARBAGE)
    if "numpy" not in sys.modules:
        # Its matrices are small here: threads that wait for each other took a third of a release's processor time.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        with ended_by_signals():  # what the commands need takes a moment to load
            from sudare.cli import app

            return app.main(given)
    except KeyboardInterrupt as interruption:
        from sudare.cli import app

        return app.tell_interruption(app.speaker_of(given), interruption)
