"""Long work in a thread of its own, so that the caller can report, and be interrupted, meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

__all__ = ["work_beside"]

SECONDS_BETWEEN_REPORTS = 0.2
Result = TypeVar("Result")


def work_beside(action: Callable[[], Result], *, report: Callable[[], object], cancel: Callable[[], object]) -> Result:
    """Do something in a thread of its own; whatever interrupts the caller cancels it, and waits for its end, first.

    Args:
        action: what takes long.
        report: called now and then in the caller's thread; if it raises, the action is cancelled.
        cancel: what ends the action soon; called again and again, as it may consist of several steps.

    Example:
        >>> work_beside(lambda: 6 * 7, report=lambda: None, cancel=lambda: None)
        42
    """
    outcome: list[Any] = []
    # No `join`: up to Python 3.12, one that is interrupted calls a thread dead that still runs.
    ended = threading.Event()

    def run() -> None:
        try:
            outcome.append((True, action()))
        except BaseException as failure:
            outcome.append((False, failure))
        finally:
            ended.set()

    worker = threading.Thread(target=run, daemon=True)
    try:
        worker.start()
        while not ended.wait(SECONDS_BETWEEN_REPORTS):
            report()
    except BaseException:
        while worker.ident is not None and not ended.is_set():
            with suppress(Exception):
                cancel()
            ended.wait(SECONDS_BETWEEN_REPORTS)
        raise
    is_done, result = outcome[0]
    if not is_done:
        raise result
    found: Result = result
    return found
