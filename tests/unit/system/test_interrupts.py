"""Signals wait where they must, raise where they may, and leave other threads and processes alone."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sudare.system import interrupts
from sudare.system.interrupts import (
    Interruption,
    delivered_interruption,
    end_waits,
    ended_by_signals,
    forget_interruption,
    uninterrupted,
    waiting,
)

pytestmark = pytest.mark.usefixtures("hangups_count")


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


ALL_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture
def torn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module that gets the signal that ``TORN_BY`` names while it is loaded."""
    (tmp_path / "torn_import.py").write_text(
        "import os, signal\nsignal.raise_signal(int(os.environ['TORN_BY']))\nWHOLE = True\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "torn_import"
    sys.modules.pop("torn_import", None)


def wait_for_signal() -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        time.sleep(0.005)


@pytest.mark.parametrize("number", ALL_SIGNALS)
def test_a_signal_waits_until_an_import_is_over(torn: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORN_BY", str(int(number)))

    def work() -> None:
        assert importlib.import_module(torn).WHOLE
        wait_for_signal()

    with pytest.raises(KeyboardInterrupt), ended_by_signals():
        work()
    assert sys.modules[torn].WHOLE
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_a_signal_that_waited_for_an_import_waits_for_a_step_too(torn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORN_BY", str(int(signal.SIGTERM)))
    steps = []

    def work() -> None:
        importlib.import_module(torn)
        with uninterrupted():
            time.sleep(10 * interrupts.SECONDS_BETWEEN_LOOKS)
            steps.append("step")
        steps.append("never")

    with pytest.raises(Interruption), ended_by_signals():
        work()
    assert steps == ["step"]


def test_a_signal_in_the_last_import_raises_at_the_end(torn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORN_BY", str(int(signal.SIGHUP)))
    monkeypatch.setattr(interrupts, "SECONDS_BETWEEN_LOOKS", 30.0)
    with pytest.raises(Interruption), ended_by_signals():
        importlib.import_module(torn)
    assert isinstance(delivered_interruption(), Interruption)
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_an_import_without_an_end_is_torn_apart(torn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "MAX_SECONDS_OF_IMPORT", 0.05)
    monkeypatch.setenv("TORN_BY", str(int(signal.SIGTERM)))
    (tmp_path / "torn_import.py").write_text(
        "import signal, time\nsignal.raise_signal(signal.SIGTERM)\ntime.sleep(20)\n", encoding="utf-8"
    )
    started = time.monotonic()
    with pytest.raises(Interruption), ended_by_signals():
        importlib.import_module(torn)
    assert time.monotonic() - started < 15


@pytest.mark.parametrize("number", ALL_SIGNALS)
def test_what_was_raised_is_remembered(number: int) -> None:
    with ended_by_signals():
        assert delivered_interruption() is None
        try:
            signal.raise_signal(number)
        except KeyboardInterrupt as error:
            raised = error
        with ended_by_signals():
            assert delivered_interruption() is raised, "a block within a block forgets nothing"
    assert delivered_interruption() is raised
    forget_interruption()
    assert delivered_interruption() is None
    with ended_by_signals(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    with ended_by_signals():
        assert delivered_interruption() is None, "it was somebody else's"


def test_a_forked_process_is_ended_as_ever() -> None:
    with ended_by_signals():
        child = os.fork()
        if child == 0:
            signal.raise_signal(signal.SIGTERM)
            os._exit(0)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGTERM
    assert delivered_interruption() is None
