"""Cancelling a query that takes too long, from another thread."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from sudare.bilingual import Words
from sudare.errors import ParameterError

__all__ = ["QueryDeadline", "checked_timeout"]

SECONDS_BETWEEN_CANCELS = 0.2


def checked_timeout(timeout: float | None) -> float | None:
    """A number of seconds above 0, or None for as long as it takes."""
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout < math.inf:
        raise ParameterError(
            "timeout", "fetch", Words("a number of seconds above 0, or None", "0 より大きい秒数または None"), timeout
        )
    return float(timeout)


class QueryDeadline:
    """While it is entered, a query that goes on for longer is cancelled, again and again until it ends.

    Once may not be enough: what is cancelled can be one of several steps, and the next one begins.

    Args:
        seconds: until the first call; None for never.
        cancel: what cancels the query; called from another thread.

    Attributes:
        passed: whether the query was cancelled.
    """

    def __init__(self, seconds: float | None, cancel: Callable[[], object]) -> None:
        self.passed = False
        self._seconds = checked_timeout(seconds)
        self._cancel = cancel
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> QueryDeadline:
        if self._seconds is not None:
            self._thread = threading.Thread(target=self._watch, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self) -> None:
        wait = self._seconds
        while not self._over.wait(wait):
            self.passed = True
            with suppress(Exception):
                self._cancel()
            wait = SECONDS_BETWEEN_CANCELS
