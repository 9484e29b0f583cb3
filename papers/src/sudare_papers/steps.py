"""Experiments in steps: each step's result is kept on disk, so a run can be stopped at any time and goes on where it was.

Results are lines of a file that only grows. A line is used again only if the step, its arguments, the experiment's settings
and the data are the same. A line that was cut off by a crash is left out.

Steps that compute run side by side, in one process for each core. Steps that measure time run one after the other, when
nothing else is running.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from sudare.errors import OutputError
from sudare_papers.settings import Settings

__all__ = ["Results", "Step", "Tell", "run_steps"]

Result = Any
"""Numbers, texts, lists and dictionaries of them: what JSON can hold."""

EARLIER_MODULES = {
    "sudare_papers.pk.runs": "sudare.reproduce.pk",
    "sudare_papers.power.runs": "sudare.reproduce.power.runs",
    "sudare_papers.pruning.runs": "sudare.reproduce.pruning",
    "sudare_papers.recovery.runs": "sudare.reproduce.recovery_runs",
    "sudare_papers.survey.runs": "sudare.reproduce.survey",
    "sudare_papers.zcdp.runs": "sudare.reproduce.concentrated",
}
"""Where steps stood when the papers were a part of sudare. Fingerprints keep these names: results of then are found again."""

Tell = Callable[[int, int, str], None]
"""Called with the steps done, the steps in all, and the name of the step that has just been done."""


@dataclass(frozen=True)
class Step:
    """One piece of an experiment.

    Attributes:
        name: unique within the experiment.
        work: what computes it, from the settings and the arguments; a function of a module, so that other processes find it.
        arguments: numbers and texts.
        is_timed: whether it measures time, so that nothing else may run beside it.
    """

    name: str
    work: Callable[..., Result]
    arguments: tuple[Any, ...] = ()
    is_timed: bool = False

    def run(self, settings: Settings) -> Result:
        """Its result."""
        return self.work(settings, *self.arguments)

    def fingerprint(self, settings: Settings, data: str) -> str:
        """What its result depends on, as a hash: another one means that an old result is of no use."""
        module = EARLIER_MODULES.get(self.work.__module__, self.work.__module__)
        facts = [self.name, module, self.work.__qualname__, self.arguments, settings.to_dict(), data]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Results:
    """The file with the results of an experiment."""

    file: Path

    def read(self) -> dict[str, Result]:
        """All results, by the fingerprints of their steps."""
        if not self.file.exists():
            return {}
        results = {}
        for line in self.file.read_text(encoding="utf-8").splitlines():
            try:
                fields = json.loads(line)
                results[fields["fingerprint"]] = fields["result"]
            except (ValueError, KeyError, TypeError):
                continue
        return results

    def add(self, step: Step, fingerprint: str, result: Result) -> None:
        """Keep a result; on return it is on the disk."""
        line = json.dumps({"step": step.name, "fingerprint": fingerprint, "result": result}) + "\n"
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("ab+") as file:
                if file.tell() and not _ends_with_newline(file):
                    file.write(b"\n")
                file.write(line.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as failure:
            raise OutputError(
                f"The results cannot be written to '{self.file}': {failure.strerror}.",
                f"結果を「{self.file}」に書き込めません: {failure.strerror}。",
            ) from None


def run_steps(steps: Sequence[Step], settings: Settings, results: Results, data: str, tell: Tell) -> dict[str, Result]:
    """The results of all steps, by their names; those that are kept already are not computed again.

    Args:
        steps: what to do.
        settings: of the experiment.
        results: where results are kept.
        data: what identifies the data that the steps look at.
        tell: called after each step.

    Raises:
        OutputError: if a result cannot be kept.
    """
    kept = results.read()
    prints = {step.name: step.fingerprint(settings, data) for step in steps}
    done = {step.name: kept[prints[step.name]] for step in steps if prints[step.name] in kept}
    left = [step for step in steps if step.name not in done]
    if done:
        tell(len(done), len(steps), "")
    for step, result in _computed(left, settings):
        results.add(step, prints[step.name], result)
        done[step.name] = result
        tell(len(done), len(steps), step.name)
    return done


def _computed(steps: Sequence[Step], settings: Settings) -> Iterator[tuple[Step, Result]]:
    side_by_side = [step for step in steps if not step.is_timed]
    if settings.processes == 1 or len(side_by_side) < 2:
        yield from ((step, step.run(settings)) for step in side_by_side)
    else:
        yield from _side_by_side(side_by_side, settings)
    yield from ((step, step.run(settings)) for step in steps if step.is_timed)


def _side_by_side(steps: Sequence[Step], settings: Settings) -> Iterator[tuple[Step, Result]]:
    """In other processes. An interrupt ends with the steps at hand: what they find is still kept by nobody."""
    executor = ProcessPoolExecutor(
        min(settings.processes, len(steps)), mp_context=get_context("spawn"), initializer=_ignore_interrupts
    )
    waiting = iter(steps)
    running: dict[Future[Result], Step] = {}
    try:
        while True:
            # Only a few are handed over at a time, so that an interrupt has little to wait for.
            for step in waiting:
                running[executor.submit(step.run, settings)] = step
                if len(running) >= 2 * settings.processes:
                    break
            if not running:
                return
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                yield running.pop(future), future.result()
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def _ignore_interrupts() -> None:
    """Interrupts are for the process that was started by the user; it stops the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _ends_with_newline(file: Any) -> bool:
    file.seek(-1, os.SEEK_END)
    return bool(file.read(1) == b"\n")
