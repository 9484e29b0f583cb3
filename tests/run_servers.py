"""Servers that a run of the tests starts once, whichever of its processes needs them first, and stops at its end.

The process that hears of the results of all others (the only process, without xdist) begins and ends the run.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

__all__ = ["begin_run", "end_run", "shared_by_run"]

RUN = "SUDARE_TEST_RUN"
"""Names the folder that all processes of a run share: each server leaves its place there, and who stops it."""


def begin_run() -> Path | None:
    """Begin a run of the tests, in a folder; None in a process that takes part in one."""
    if RUN in os.environ:
        return None
    os.environ[RUN] = tempfile.mkdtemp(prefix="sudare-run-")
    return Path(os.environ[RUN])


def end_run(folder: Path) -> None:
    """Stop all servers that were started since the run began there."""
    os.environ.pop(RUN, None)
    try:
        for file in sorted(folder.glob("*.json")):
            started = json.loads(file.read_text(encoding="utf-8"))
            module, _, function = started["stop"].partition(":")
            getattr(import_module(module), function)(Path(started["place"]))
    finally:
        shutil.rmtree(folder)


def shared_by_run(name: str, start: Callable[[], Path], stop: Callable[[Path], None]) -> Path:
    """The place of a server, which is started if no process of this run has done so.

    Args:
        name: of the server, one in a run.
        start: starts it, and returns its place.
        stop: a function of a module, that stops what is at a place.
    """
    folder = Path(os.environ[RUN])
    file = folder / f"{name}.json"
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            started = {"place": str(start()), "stop": f"{stop.__module__}:{stop.__qualname__}"}
            file.write_text(json.dumps(started), encoding="utf-8")
    return Path(json.loads(file.read_text(encoding="utf-8"))["place"])
