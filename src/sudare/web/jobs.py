"""Work that takes longer than an answer: releases, attacks. It goes on when the page is closed, and can be looked at again.

A job runs in a thread of its own and one at a time, as two releases from one page would only slow each other down. What it did to
the budget stands in the ledger, not here: a process that is killed leaves what the command would leave.
"""

from __future__ import annotations

import queue
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from sudare.bilingual import Words
from sudare.errors import SudareError, words_of_error

__all__ = ["INTERNAL", "BackgroundJob", "JobEvent", "Jobs"]

State = Literal["waiting", "running", "done", "failed"]
MAX_KEPT = 100
HEARTBEAT = 10.0
"""Seconds after which somebody who listens hears that the job still runs."""

Work = Callable[[Callable[[str, float | None], None]], str]
"""Is given what tells its progress, and returns where its result is."""

INTERNAL = Words(
    "Something went wrong inside sudare ({name}). What was charged stands in the ledger; run the command to see more.",
    "sudare の内部で問題が起きました（{name}）。課金の状況は台帳で確認できます。詳しくはコマンドで実行してください。",
)


@dataclass(frozen=True, kw_only=True)
class JobEvent:
    """Something that happened to a job.

    Attributes:
        state: of the job after it.
        stage: what it is doing, by the name of the step.
        share: of the step that is done; None if unknown.
        result: where the result is, when it is done.
        problem: what went wrong, when it failed.
    """

    state: State
    stage: str = ""
    share: float | None = None
    result: str = ""
    problem: Words | None = None


@dataclass(eq=False, kw_only=True)
class BackgroundJob:
    """One piece of work.

    Attributes:
        name: by which the page asks for it; nobody can guess it.
        title: for people.
        work: what is done.
        origin: the page that it was started from.
        command: the command line that does the same; empty if there is none.
    """

    name: str
    title: str
    work: Work
    origin: str
    command: str = ""
    latest: JobEvent = field(default_factory=lambda: JobEvent(state="waiting"))
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def tell(self, event: JobEvent) -> None:
        """Note an event, and wake whoever listens."""
        with self._changed:
            self.latest = event
            self._changed.notify_all()

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.latest.state in ("done", "failed")

    def events(self) -> Iterator[JobEvent | None]:
        """Events from now on until the job is over; None now and then while nothing happens."""
        seen: JobEvent | None = None
        while True:
            with self._changed:
                if self.latest is seen:
                    self._changed.wait(HEARTBEAT)
                current = self.latest
            yield None if current is seen else current
            if current.state in ("done", "failed"):
                return
            seen = current

    def run(self) -> None:
        """Do the work; what goes wrong becomes an event."""
        self.tell(JobEvent(state="running"))
        try:
            result = self.work(lambda stage, share: self.tell(JobEvent(state="running", stage=stage, share=share)))
        except SudareError as error:
            self.tell(JobEvent(state="failed", problem=words_of_error(error)))
        except Exception as error:
            self.tell(JobEvent(state="failed", problem=INTERNAL.format(name=type(error).__name__)))
        else:
            self.tell(JobEvent(state="done", result=result))


class Jobs:
    """All jobs of a process, done one after the other by a thread that ends with the process."""

    def __init__(self) -> None:
        self._known: dict[str, BackgroundJob] = {}
        self._waiting: queue.Queue[BackgroundJob] = queue.Queue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def start(self, title: str, origin: str, work: Work, *, command: str = "") -> BackgroundJob:
        """Begin a job, or wait for the one before it. The same work of the same page is not begun twice at a time."""
        with self._lock:
            for job in self._known.values():
                if job.origin == origin and job.title == title and not job.is_over:
                    return job
            name = secrets.token_urlsafe(12)
            job = BackgroundJob(name=name, title=title, work=work, origin=origin, command=command)
            self._known[job.name] = job
            for name in [name for name, old in self._known.items() if old.is_over][
                : max(0, len(self._known) - MAX_KEPT)
            ]:
                del self._known[name]
            self._waiting.put(job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="sudare-jobs", daemon=True)
                self._thread.start()
        return job

    def find(self, name: str) -> BackgroundJob | None:
        """A job by its name."""
        return self._known.get(name)

    def running(self) -> list[BackgroundJob]:
        """Jobs that are not over."""
        return [job for job in list(self._known.values()) if not job.is_over]

    def _work(self) -> None:
        while True:
            job = self._waiting.get()
            with suppress(Exception):
                job.run()
