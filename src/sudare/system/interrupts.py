"""Signals that end a process: they raise like Ctrl-C does, and wait while a step must not be torn apart.

Ctrl-C (SIGINT), the end that a service manager or a scheduler asks for (SIGTERM) and a terminal that is gone (SIGHUP) are one
and the same to a release: what was reserved is given back if nothing was drawn, and what was begun is cleared away.

Code that an exception passes through may turn it into another: an import that is torn apart ends as an ImportError, a query as
an error of the database. So a signal waits until an import is over, and what was raised is remembered: a command that fails after
a signal failed because of it (`delivered_interruption`).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

__all__ = [
    "ENDING_SIGNALS",
    "Interruption",
    "Pause",
    "delivered_interruption",
    "end_waits",
    "ended_by_signals",
    "forget_interruption",
    "uninterrupted",
    "waiting",
]

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
"""Besides SIGINT, which Python itself turns into an exception."""

SECONDS_BETWEEN_LOOKS = 0.02
MAX_SECONDS_OF_IMPORT = 20.0
"""A signal that waited so long for an import raises within it."""

IMPORT_SYSTEM = "<frozen importlib._bootstrap>"

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


_DELIVERED: list[KeyboardInterrupt] = []
"""What signals raised, the first one first; of the main thread alone."""


def delivered_interruption() -> KeyboardInterrupt | None:
    """What the first signal raised since `ended_by_signals` began, if one came: what failed afterwards failed because of it."""
    return _DELIVERED[0] if _DELIVERED else None


def forget_interruption() -> None:
    """Code that handles an interruption, such as a prompt that continues, must call this."""
    _DELIVERED.clear()


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Within this block SIGTERM and SIGHUP raise an `Interruption`. What is ignored, as under ``nohup``, stays so.

    What they and SIGINT raise is remembered, and waits until an import is over. Only the main thread can ask for it; elsewhere,
    and in forked processes, everything stays as it is. A block within a block does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    if _INTERRUPTING:
        yield
        return
    forget_interruption()
    interrupting = _Interrupting()
    _INTERRUPTING.append(interrupting)
    try:
        interrupting.begin()
        yield
    finally:
        _INTERRUPTING.remove(interrupting)
        interrupting.end()


_INTERRUPTING: list[_Interrupting] = []
"""The block that holds, if there is one; of the main thread alone."""


class _Interrupting:
    """What signals do within `ended_by_signals`."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._before: dict[int, Any] = {}
        self._waiting: int | None = None
        self._waits_since = 0.0

    def begin(self) -> None:
        usual: dict[int, Any] = dict.fromkeys(ENDING_SIGNALS, signal.SIG_DFL)
        usual[signal.SIGINT] = signal.default_int_handler
        for number, handler in usual.items():
            if signal.getsignal(number) is handler:
                self._before[number] = handler
                signal.signal(number, self._interrupt)

    def end(self) -> None:
        """Everything as before; a signal that still waits for an import raises."""
        waiting = self._waiting
        if waiting is not None:
            self._stop_waiting()
        for number, handler in self._before.items():
            if signal.getsignal(number) == self._interrupt:
                signal.signal(number, handler)
        if waiting is not None:
            _deliver(waiting)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:  # forked: not ours to clear up
            signal.signal(number, self._before[number])
            signal.raise_signal(number)
            return
        if self._must_wait(number, frame):
            return
        _deliver(number)

    def _must_wait(self, number: int, frame: FrameType | None) -> bool:
        """Whether an import is under way; then the signal comes again in a moment, by an alarm."""
        if self._waiting is None:
            if signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL or not _is_importing(frame):
                return False
            self._waiting, self._waits_since = number, time.monotonic()
            signal.signal(signal.SIGALRM, self._look_again)
        elif time.monotonic() - self._waits_since > MAX_SECONDS_OF_IMPORT or not _is_importing(frame):
            self._stop_waiting()
            return False
        signal.setitimer(signal.ITIMER_REAL, SECONDS_BETWEEN_LOOKS)
        return True

    def _look_again(self, number: int, frame: FrameType | None) -> None:
        if self._waiting is not None:
            signal.raise_signal(self._waiting)

    def _stop_waiting(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        self._waiting = None


def _deliver(number: int) -> NoReturn:
    error = KeyboardInterrupt() if number == signal.SIGINT else Interruption(number)
    _DELIVERED.append(error)
    raise error


def _is_importing(frame: FrameType | None) -> bool:
    at: FrameType | None = frame if frame is not None else sys._getframe()
    while at is not None:
        if at.f_code.co_filename == IMPORT_SYSTEM:
            return True
        at = at.f_back
    return False


_PAUSES: list[Pause] = []
"""Those that hold, the innermost last; of the main thread alone."""


def end_waits() -> None:
    """Code that waits for its turn asks this in between: a signal that came raises, if the innermost pause allows it."""
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
