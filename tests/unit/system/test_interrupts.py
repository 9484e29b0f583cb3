"""Signals wait where they must, raise where they may, and leave other threads and processes alone."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from sudare.system.interrupts import Interruption, end_waits, ended_by_signals, uninterrupted, waiting


@pytest.fixture(autouse=True)
def usual_handler() -> Iterator[None]:
    """Python's own: another test of the same process may have started Spark, which sets its own."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_an_exception(number: int) -> None:
    before = signal.getsignal(number)
    with pytest.raises(Interruption) as caught, ended_by_signals():
        signal.raise_signal(number)
    assert caught.value.exit_code == 128 + number
    assert isinstance(caught.value, KeyboardInterrupt)
    assert signal.getsignal(number) is before


def test_a_signal_waits_until_the_step_is_over() -> None:
    steps = []

    def work() -> None:
        with ended_by_signals():
            with uninterrupted():
                signal.raise_signal(signal.SIGTERM)
                steps.append("step")
            steps.append("never")

    with pytest.raises(Interruption):
        work()
    assert steps == ["step"]


def test_a_signal_raises_where_the_pause_is_lifted() -> None:
    steps = []
    with ended_by_signals(), uninterrupted() as pause:
        signal.raise_signal(signal.SIGHUP)
        try:
            with pause.lifted():
                steps.append("never")
        except Interruption:
            signal.raise_signal(signal.SIGHUP)
            steps.append("cleared away")
        with pytest.raises(Interruption), pause.lifted():
            pass
    assert steps == ["cleared away"]


def test_pauses_within_pauses() -> None:
    steps = []

    def work() -> None:
        with uninterrupted():
            with uninterrupted():
                signal.raise_signal(signal.SIGINT)
            steps.append("the inner one ends nothing")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert steps == ["the inner one ends nothing"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_are_left_alone() -> None:
    before = signal.getsignal(signal.SIGTERM)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            with ended_by_signals(), uninterrupted() as pause, pause.lifted():
                assert signal.getsignal(signal.SIGTERM) is before
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert failures == []


@pytest.mark.parametrize("allowed", [True, False])
def test_who_waits_to_begin_is_interrupted_where_that_is_allowed(allowed: bool) -> None:
    steps = []

    def wait() -> None:
        with uninterrupted() as pause:
            pause.may_end_waits = allowed
            signal.raise_signal(signal.SIGINT)
            end_waits()
            steps.append("went on")

    with pytest.raises(KeyboardInterrupt):
        wait()
    assert steps == ([] if allowed else ["went on"])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("allowed", [True, False])
@pytest.mark.parametrize("moment", ["before", "within", "within another"])
def test_who_waits_for_a_server_is_interrupted_at_once_where_that_is_allowed(allowed: bool, moment: str) -> None:
    reached: list[str] = []

    def wait() -> None:
        with uninterrupted() as pause:
            pause.may_end_waits = allowed
            if moment == "before":
                signal.raise_signal(signal.SIGINT)
            with waiting():
                if moment == "within another":
                    with waiting():
                        reached.append("inner")
                if moment != "before":
                    signal.raise_signal(signal.SIGINT)
                reached.append("waited")
            reached.append("after")

    with pytest.raises(KeyboardInterrupt):
        wait()
    assert reached == ["inner"] * (moment == "within another") + ([] if allowed else ["waited", "after"])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_only_a_wait_is_ended_at_once() -> None:
    reached: list[str] = []

    def wait_and_commit() -> None:
        with uninterrupted() as pause:
            pause.may_end_waits = True
            with waiting():
                reached.append("waited")
            signal.raise_signal(signal.SIGINT)
            reached.append("committed")

    with pytest.raises(KeyboardInterrupt):
        wait_and_commit()
    assert reached == ["waited", "committed"]


def test_waiting_changes_nothing_without_a_pause() -> None:
    with waiting(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
