"""Servers that a run of the tests starts once, whichever of its processes needs them first, and stops at its end.

The process that hears of the results of all others (the only process, without xdist) begins and ends the run. Its guardian
stops the servers: it waits for the end of a pipe, which comes even if that process is killed.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

__all__ = ["TestRun", "shared_by_run", "stop_servers"]

RUN = "SUDARE_TEST_RUN"
"""Names the folder that all processes of a run share: each server leaves its place there, and who stops it."""

ROOT = Path(__file__).resolve().parents[1]
GUARDIAN = """
import sys
sys.stdin.read()
from pathlib import Path
from tests.run_servers import stop_servers
stop_servers(Path(sys.argv[1]))
"""
SECONDS = 120


class TestRun:
    """A run that begins in this process; other processes take part in it by their environment."""

    __test__ = False

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sudare-run-"))
        os.environ[RUN] = str(self.folder)
        # A session of its own: Control-C ends the tests, and the guardian goes on until they have ended.
        self._guardian = subprocess.Popen(
            [sys.executable, "-c", GUARDIAN, str(self.folder)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    @classmethod
    def begin(cls) -> TestRun | None:
        """A new run, or None in a process that takes part in one."""
        return None if RUN in os.environ else cls()

    def end(self) -> None:
        """Stop all servers that were started since."""
        os.environ.pop(RUN, None)
        assert self._guardian.stdin is not None
        self._guardian.stdin.close()
        self._guardian.wait(timeout=SECONDS)


def stop_servers(folder: Path) -> None:
    """Stop all servers of a run, and remove its folder."""
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
