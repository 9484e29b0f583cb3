"""Whole numbers within bounds under linear constraints: all solutions, or what each variable can be in them.

The search is CP-SAT's. It runs in a process of its own (`solver_process`), started at the first question and ended with
this one; a question has a time limit, and a solver that does not keep it is ended from outside.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.errors import SudareError
from sudare.extras import TABLE_ATTACKS, missing_package

__all__ = ["End", "IntegerProgram", "Ranges", "Row", "Solutions", "SolverFailure"]

GRACE_SECONDS = 30.0
"""How much longer than its limit a question may take before the solver is ended: loading and the last step need time."""


class SolverFailure(SudareError):  # noqa: N818 - it is an outcome that callers turn into "undecided"
    """The solver ended without an answer: out of time or of memory."""


@dataclass(frozen=True)
class Row:
    """A linear constraint: low <= sum of coefficients times variables <= high.

    Args:
        places: of its variables.
        coefficients: whole numbers, one for each place.
        low: the least value allowed.
        high: the largest.
        switch: the place of a 0-1 variable; the constraint holds where it is 1. None: always.
    """

    places: tuple[int, ...]
    coefficients: tuple[int, ...]
    low: int
    high: int
    switch: int | None = None


@dataclass(frozen=True)
class Solutions:
    """Solutions of a program.

    Attributes:
        values: one row for each.
        is_complete: whether these are all.
    """

    values: NDArray[np.int64]
    is_complete: bool


@dataclass(frozen=True)
class Ranges:
    """What each variable can be over all solutions.

    Attributes:
        exists: whether there is any solution; None if time ran out before one was found.
        least: the least value of each variable.
        largest: the same where a variable has only one value; else a larger value that it has in some solution.
        is_complete: whether this is proved; else variables may have further values, also smaller ones.
    """

    exists: bool | None
    least: NDArray[np.int64]
    largest: NDArray[np.int64]
    is_complete: bool


@dataclass(frozen=True)
class End:
    """An end of a variable's range.

    Attributes:
        value: no solution goes beyond it.
        is_attained: whether some solution reaches it, for certain.
    """

    value: int
    is_attained: bool


@dataclass(frozen=True)
class IntegerProgram:
    """Variables with bounds, and constraints.

    Args:
        low: the least value of each variable.
        high: the largest.
        rows: the constraints.
    """

    low: tuple[int, ...]
    high: tuple[int, ...]
    rows: tuple[Row, ...]

    def solutions(self, shown: int, *, limit: int, seconds: float) -> Solutions:
        """Every solution up to a limit; of each, the first ``shown`` variables (the others must follow from them)."""
        answer = _ask(self._task("enumerate", shown, seconds) | {"limit": limit}, seconds)
        return Solutions(
            np.array(answer["solutions"], dtype=np.int64).reshape(-1, shown), is_complete=bool(answer["is_complete"])
        )

    def ranges(self, shown: int, *, seconds: float, effort: float = 1.0) -> Ranges:
        """The least value of each of the first ``shown`` variables over all solutions, and whether it is the only one."""
        answer = _ask(self._task("ranges", shown, seconds) | {"effort": effort}, seconds)
        return Ranges(
            answer["exists"],
            np.array(answer["least"], dtype=np.int64),
            np.array(answer["largest"], dtype=np.int64),
            is_complete=bool(answer["is_complete"]),
        )

    def ends(self, places: Sequence[int], *, seconds: float) -> list[tuple[End, End]] | None:
        """The least and the largest value of each of the given variables; None if there is no solution."""
        answer = _ask(self._task("optimize", 0, seconds) | {"places": [int(place) for place in places]}, seconds)
        return [(End(*low), End(*high)) for low, high in answer["ends"]] if answer["exists"] else None

    def _task(self, name: str, shown: int, seconds: float) -> dict[str, object]:
        rows = [(row.places, row.coefficients, row.low, row.high, row.switch) for row in self.rows]
        return {
            "task": name,
            "shown": shown,
            "seconds": seconds,
            "low": self.low,
            "high": self.high,
            "rows": rows,
        }


@dataclass
class _Solver:
    """The process that answers."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    process: subprocess.Popen[bytes] | None = None
    owner: int = 0

    def ask(self, task: dict[str, object], seconds: float) -> dict[str, Any]:
        with self.lock:
            process = self._running()
            if process.stdin is None or process.stdout is None:  # pragma: no cover - both are pipes
                raise SolverFailure("The solver has no pipes.")
            try:
                process.stdin.write(json.dumps(task).encode() + b"\n")
                process.stdin.flush()
                line = self._read_line(process, seconds + GRACE_SECONDS)
            except (BrokenPipeError, OSError):
                line = b""
            except BaseException:
                self.end()  # an answer that nobody waits for must not be taken for that of the next question
                raise
            if not line.endswith(b"\n"):
                self.end()
                raise SolverFailure("The solver ended without an answer.")
            answer: dict[str, Any] = json.loads(line)
            if "mistake" in answer:
                raise RuntimeError(answer["mistake"])
            return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self.process is None or self.process.poll() is not None or self.owner != os.getpid():
            self.end()  # closes the pipes of one that is gone
            # -P: the folder of the script holds modules of the package, which must not hide others of the same name.
            script = Path(__file__).with_name("solver_process.py")
            self.process = subprocess.Popen(  # noqa: S603 - our own file, run by this interpreter
                [sys.executable, "-P", str(script)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            self.owner = os.getpid()
        return self.process

    @staticmethod
    def _read_line(process: subprocess.Popen[bytes], seconds: float) -> bytes:
        deadline, parts = time.monotonic() + seconds, []
        descriptor = process.stdout.fileno() if process.stdout else -1
        while time.monotonic() < deadline:
            ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
            if ready:
                part = os.read(descriptor, 1 << 20)
                parts.append(part)
                if not part or part.endswith(b"\n"):
                    break
        return b"".join(parts)

    def end(self) -> None:
        if self.process is not None and self.owner == os.getpid():
            self.process.kill()
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    pipe.close()
        self.process = None


_solver = _Solver()
atexit.register(_solver.end)


def _ask(task: dict[str, object], seconds: float) -> dict[str, Any]:
    if find_spec("ortools") is None:
        raise missing_package("ortools", "solver", TABLE_ATTACKS)
    return _solver.ask(task, seconds)
