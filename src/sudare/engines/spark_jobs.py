"""What runs on Spark, by a tag: how far it is, and how it is cancelled. In this process, or through Spark Connect."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from sudare.system.beside import work_beside

__all__ = ["TaggedJob", "is_connect", "wait_for"]

GROUP = "spark.jobGroup.id"
Result = TypeVar("Result")


def is_connect(session: Any) -> bool:
    """Whether a session is one of Spark Connect, where there is no Java in this process."""
    return not hasattr(session, "_jsparkSession")


class TaggedJob:
    """All that one thread runs on a session while it is entered.

    Args:
        session: of Spark.
    """

    def __init__(self, session: Any) -> None:
        self._session = session
        self._tag = f"sudare-{uuid.uuid4().hex}"
        self._share = 0.0
        self._ended = False
        self._context = None if is_connect(session) else session.sparkContext
        self._group: str | None = None

    def __enter__(self) -> TaggedJob:
        if self._context is None:
            self._session.addTag(self._tag)
            self._session.registerProgressHandler(self._note)
        else:
            self._context.setInterruptOnCancel(True)  # of this thread's jobs: else a task goes on until it looks
            self._context.addJobTag(self._tag)
            # Stages are told of groups of jobs, and not of tags.
            self._group = self._context.getLocalProperty(GROUP)
            self._context.setLocalProperty(GROUP, self._tag)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        if self._context is None:
            self._session.removeProgressHandler(self._note)
            self._session.removeTag(self._tag)
        else:
            self._context.setLocalProperty(GROUP, self._group)
            self._context.removeJobTag(self._tag)

    def cancel(self) -> None:
        """End it; from any thread."""
        if self._context is None:
            self._session.interruptTag(self._tag)
        else:
            self._context.cancelJobsWithTag(self._tag)

    def share(self) -> float:
        """The share of the tasks known so far that are done, stage by stage; never less than before."""
        if self._context is not None and not self._ended:
            with suppress(Exception):  # a job that ends meanwhile is no longer known
                self._note(self._stages())
        return self._share

    def _stages(self) -> list[Any]:
        tracker: Any = self._context.statusTracker()  # type: ignore[union-attr]
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(self._tag)]
        stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
        return [stage for stage in stages if stage is not None]

    def _note(self, stages: Any = None, **_: object) -> None:
        known = list(stages or [])
        done = sum(getattr(stage, "num_completed_tasks", getattr(stage, "numCompletedTasks", 0)) for stage in known)
        tasks = sum(getattr(stage, "num_tasks", getattr(stage, "numTasks", 0)) for stage in known)
        if tasks:
            self._share = max(self._share, min(0.99, done / tasks))


def wait_for(action: Callable[[], Result], job: TaggedJob, progress: Callable[[float], object]) -> Result:
    """Do something in a thread of its own, reporting from the caller's; whatever interrupts the caller cancels the job first.

    Args:
        action: that runs the job.
        job: for its share, and to cancel it.
        progress: called with the share that is done.
    """

    def run() -> Result:
        with job:
            return action()

    return work_beside(run, report=lambda: progress(job.share()), cancel=job.cancel)
