"""Work in a thread of its own: its result, its failure, and its end before an interrupt is told."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from sudare.system.beside import work_beside


class Slow:
    """Work that goes on until it is cancelled so many times."""

    def __init__(self, steps: int = 1) -> None:
        self.steps, self.cancelled, self.is_running = steps, 0, False

    def __call__(self) -> None:
        self.is_running = True
        deadline = time.monotonic() + 20
        while self.cancelled < self.steps and time.monotonic() < deadline:
            time.sleep(0.01)
        self.is_running = False

    def cancel(self) -> None:
        self.cancelled += 1
        if self.cancelled == 1:
            raise OSError("it is not there yet")


def nothing() -> None:
    pass


def test_a_result_and_a_failure() -> None:
    assert work_beside(lambda: [1, 2], report=nothing, cancel=nothing) == [1, 2]
    with pytest.raises(ZeroDivisionError):
        work_beside(lambda: 1 // 0, report=nothing, cancel=nothing)


def test_the_caller_reports_meanwhile() -> None:
    threads = []
    work_beside(lambda: time.sleep(0.5), report=lambda: threads.append(threading.current_thread()), cancel=nothing)
    assert threads
    assert set(threads) == {threading.current_thread()}


@pytest.mark.parametrize("steps", [1, 3])
def test_an_interrupt_while_it_waits_ends_the_work_first(steps: int) -> None:
    """A thread whose `join` is interrupted is called dead while it runs: nobody would cancel it."""
    slow = Slow(steps)

    def interrupt() -> None:
        while not slow.is_running:
            time.sleep(0.01)
        time.sleep(0.05)  # the caller waits by now
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    with pytest.raises(KeyboardInterrupt):
        work_beside(slow, report=nothing, cancel=slow.cancel)
    watcher.join()
    assert slow.cancelled == steps
    assert not slow.is_running


def test_a_report_that_fails_ends_the_work_first() -> None:
    slow = Slow()
    with pytest.raises(ZeroDivisionError):
        work_beside(slow, report=lambda: 1 // 0, cancel=slow.cancel)
    assert slow.cancelled
    assert not slow.is_running
