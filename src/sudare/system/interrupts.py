"""Signals that end a process: they raise like Ctrl-C does, and wait while a step must not be torn apart.

Ctrl-C (SIGINT), the end that a service manager or a scheduler asks for (SIGTERM) and a terminal that is gone (SIGHUP) are one
and the same to a release: what was reserved is given back if nothing was drawn, and what was begun is cleared away.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

__all__ = ["ENDING_SIGNALS", "Interruption", "Pause", "end_waits", "ended_by_signals", "uninterrupted", "waiting"]

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
"""Besides SIGINT, which Python itself turns into an exception."""

Handler = Callable[[int, FrameType | None], Any]


class Interruption(KeyboardInterrupt):
    """A signal asked the process to end; whatever handles Ctrl-C handles it.

    Attributes:
        signal_number: of the signal.
    """

    def __init__(self, signal_number: int) -> None:
        super().__init__()
        self.signal_number = signal_number

    @property
    def exit_code(self) -> int:
        """What a process ends with that a signal ended, by the custom of shells."""
        return 128 + self.signal_number


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Within this block SIGTERM and SIGHUP raise an `Interruption`. What is ignored, as under ``nohup``, stays so.

    Only the main thread can ask for it; elsewhere, and in forked processes, everything stays as it is.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    process = os.getpid()

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        if os.getpid() != process:  # forked: not ours to clear up
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        raise Interruption(number)

    usual = [number for number in ENDING_SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in usual:
            signal.signal(number, interrupt)
        yield
    finally:
        for number in usual:
            signal.signal(number, signal.SIG_DFL)


_PAUSES: list[Pause] = []
"""Those that hold, the innermost last; of the main thread alone."""


def end_waits() -> None:
    """Whoever waits for a place to begin asks this in between: a signal that came raises, if the innermost pause allows it."""
    if _PAUSES and threading.current_thread() is threading.main_thread():
        _PAUSES[-1]._raise_if_allowed()


@contextmanager
def waiting() -> Iterator[None]:
    """Within this block somebody waits, and whatever was begun is undone by an exception.

    A signal that came, or comes now, raises at once if the innermost pause allows it; for waits that cannot ask `end_waits`
    themselves, such as those for a server.
    """
    is_paused = bool(_PAUSES) and threading.current_thread() is threading.main_thread()
    if not is_paused:
        yield
        return
    pause = _PAUSES[-1]
    outer, pause._is_waited_in = pause._is_waited_in, True
    try:
        pause._raise_if_allowed()
        yield
    finally:
        pause._is_waited_in = outer


class Pause:
    """Signals that wait; made by `uninterrupted`.

    Attributes:
        may_end_waits: whether a signal may raise all the same while somebody waits and has begun nothing (`end_waits`,
            `waiting`).
    """

    may_end_waits = False

    def __init__(self) -> None:
        self._handlers: dict[int, Handler] = {}
        self._waiting: list[int] = []
        self._is_waited_in = False

    def _begin(self) -> None:
        for number in (signal.SIGINT, *ENDING_SIGNALS):
            handler = signal.getsignal(number)
            if callable(handler):  # what ends the process at once, or is ignored, raises nothing
                self._handlers[number] = handler
                signal.signal(number, self._keep)

    def _keep(self, number: int, frame: FrameType | None) -> None:
        self._waiting.append(number)
        if self._is_waited_in:
            self._raise_if_allowed()

    def _raise_if_allowed(self) -> None:
        if self.may_end_waits and self._waiting:
            number = self._waiting.pop(0)
            self._handlers[number](number, None)

    def _end(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        waiting, handlers = self._waiting, self._handlers
        self._waiting, self._handlers = [], {}
        for number in waiting[:1]:
            handlers[number](number, None)

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """Let signals in again for a while; one that came meanwhile raises here."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        try:
            self._end()
            yield
        finally:
            self._begin()


@contextmanager
def uninterrupted() -> Iterator[Pause]:
    """Within this block signals that raise wait; one that came meanwhile raises when it is over.

    Signals raise in the main thread alone, so that elsewhere there is nothing to do.

    Example:
        >>> import signal
        >>> from sudare.system.interrupts import uninterrupted
        >>> done = []
        >>> try:
        ...     with uninterrupted():
        ...         signal.raise_signal(signal.SIGINT)
        ...         done.append("all of it")
        ... except KeyboardInterrupt:
        ...     done.append("then interrupted")
        >>> done
        ['all of it', 'then interrupted']
    """
    pause = Pause()
    if threading.current_thread() is not threading.main_thread():
        yield pause
        return
    pause._begin()
    _PAUSES.append(pause)
    try:
        yield pause
    finally:
        _PAUSES.remove(pause)
        pause._end()
