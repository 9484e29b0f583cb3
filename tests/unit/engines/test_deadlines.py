from __future__ import annotations

import threading

from sudare.engines.deadlines import QueryDeadline


def test_cancels_again_until_it_is_over() -> None:
    calls, often = [], threading.Event()

    def cancel() -> None:
        calls.append(1)
        if len(calls) == 2:
            often.set()
        raise RuntimeError("what a driver may do")

    with QueryDeadline(0.01, cancel) as deadline:
        assert often.wait(30)
    assert deadline.passed
    after = len(calls)
    assert not threading.Event().wait(0.3)
    assert len(calls) == after


def test_nothing_is_cancelled_in_time() -> None:
    calls: list[int] = []
    with QueryDeadline(60, lambda: calls.append(1)) as deadline:
        pass
    assert not deadline.passed
    assert calls == []


def test_without_seconds_no_thread_starts() -> None:
    before = threading.active_count()
    with QueryDeadline(None, lambda: None):
        assert threading.active_count() == before
