"""Commands in processes of their own, without loading everything for each: all are forked from one that has.

`python -m sudare`, which loads everything itself, is for tests of just that.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from multiprocessing import forkserver, get_context
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

__all__ = ["SECONDS", "Program", "run_command", "start"]

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 120
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""A process with threads is not forked safely."""


@cache
def _server() -> ForkServerContext:
    """From one process for all tests of this one; it ends with it."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["tests.processes", "tests.loaded"])
    before = dict(os.environ)
    os.environ |= {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]), "MPLBACKEND": "Agg", **ONE_THREAD}
    try:
        forkserver.ensure_running()
    finally:
        os.environ.clear()
        os.environ.update(before)
    return context


def start(function: Callable[..., None], *arguments: object) -> ForkServerProcess:
    """Start a function of a module in a process of its own, which does not outlive this one."""
    process = _server().Process(target=function, args=arguments, daemon=True)
    process.start()
    return process


def run_command(
    arguments: list[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    typed: str = "",
    merged: bool = False,
    seconds: float = SECONDS,
    quickly: bool = True,
) -> subprocess.CompletedProcess[str]:
    """Run ``sudare`` with arguments in a folder.

    Args:
        arguments: behind ``sudare``.
        folder: where it runs.
        environment: all of its environment.
        typed: what its standard input gives.
        merged: whether what it writes to ``stderr`` comes in ``stdout``, in order.
        seconds: after which it is stopped, and the test fails.
        quickly: whether errors are predicted from few trials, where nobody judges the prediction.

    Returns:
        Its exit code, and all that it wrote; ``stdout`` and ``stderr`` are files, and no terminals.
    """
    with tempfile.TemporaryDirectory() as place:
        streams = [Path(place) / name for name in ("in", "out", "out" if merged else "err")]
        for stream in streams:
            stream.write_text(typed if stream.name == "in" else "", encoding="utf-8")
        process = start(_command, arguments, folder, dict(environment), streams, quickly)
        process.join(seconds)
        is_late = process.is_alive()
        if is_late:
            process.kill()
            process.join()
        code = process.exitcode
        process.close()
        out, err = (stream.read_text(encoding="utf-8") for stream in streams[1:])
    assert not is_late, f"sudare {arguments} took longer than {seconds} s: {out}{err}"
    assert code is not None
    return subprocess.CompletedProcess(["sudare", *arguments], code, out, "" if merged else err)


class Program:
    """Python source that runs in a process of its own, with warnings as errors.

    Args:
        source: of a program that finds its arguments in ``sys.argv``.
        arguments: of it.
        folder: a new one, for what it writes.
    """

    def __init__(self, source: str, arguments: list[str], folder: Path) -> None:
        self._out, self._err = folder / "out", folder / "err"
        nothing = folder / "in"
        for stream in (nothing, self._out, self._err):
            stream.touch()
        self._process = start(_program, source, arguments, [nothing, self._out, self._err])

    @property
    def errors(self) -> str:
        """What it wrote to ``stderr``."""
        return self._err.read_text(encoding="utf-8")

    def wait_for(self, line: str) -> None:
        """Until it has written a first line, which must be this one."""
        deadline = time.monotonic() + SECONDS
        while "\n" not in (written := self._out.read_text(encoding="utf-8")):
            assert self._process.is_alive() and time.monotonic() < deadline, self.errors  # noqa: PT018
            time.sleep(0.005)
        assert written.startswith(f"{line}\n"), written

    @property
    def output(self) -> list[str]:
        """The whole lines that it wrote to ``stdout``; whoever is killed may leave half of one."""
        lines = self._out.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        return [line.rstrip("\n") for line in lines if line.endswith("\n")]

    def wait_for_lines(self, number: int) -> None:
        """Until it has written so many, however slow the machine is."""
        deadline = time.monotonic() + SECONDS
        while len(self.output) < number:
            assert self._process.is_alive() and time.monotonic() < deadline, self.errors  # noqa: PT018
            time.sleep(0.005)

    def wait(self, seconds: float) -> int | None:
        """Its exit code, or minus the signal that ended it; None if it is not over by then."""
        self._process.join(seconds)
        return self._process.exitcode

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.join()


def _program(source: str, arguments: list[str], streams: list[Path]) -> None:
    """What the new process does."""
    _redirect(streams)
    warnings.simplefilter("error")
    sys.argv = ["-c", *arguments]
    exec(compile(source, "program", "exec"), {"__name__": "__main__"})  # noqa: S102


def _command(
    arguments: list[str], folder: Path, environment: dict[str, str], streams: list[Path], quickly: bool
) -> None:
    """What the new process does."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    _redirect(streams)
    sys.argv = ["sudare", *arguments]
    from sudare.cli import main
    from tests.quick_plans import predict_quickly

    if quickly:
        predict_quickly()
    sys.exit(main(arguments))


def _redirect(streams: list[Path]) -> None:
    """Standard input and both outputs are files."""
    os.dup2(os.open(streams[0], os.O_RDONLY), 0)
    for number in (1, 2):
        os.dup2(os.open(streams[number], os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, buffering, encoding="utf-8", closefd=False)  # noqa: SIM115
        for number, mode, buffering in ((0, "r", -1), (1, "w", -1), (2, "w", 1))
    )
