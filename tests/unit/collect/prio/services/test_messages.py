"""Messages come back as they were, and nothing else is read as a message."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.collect.prio import ReportRefusedError
from sudare.collect.prio.services.messages import (
    Collection,
    CollectRequest,
    Job,
    JobAnswer,
    JobItem,
    ReportOutcome,
    ShareAnswer,
    ShareRequest,
    UploadedReport,
    purpose_of_aggregate,
    purpose_of_input,
)

TASK = bytes(range(32))
NONCE = b"n" * 16
MESSAGES: list[Any] = [
    UploadedReport(NONCE, b"public", b"", b"helper"),
    Job(3, (JobItem(NONCE, b"p", b"h", b"v"), JobItem(bytes(16), b"", b"", b""))),
    Job(2**64 - 1, ()),
    JobAnswer((ReportOutcome(NONCE, b"m" * 32), ReportOutcome(NONCE, None), ReportOutcome(NONCE, b""))),
    ShareRequest(1, 2, bytes(32)),
    ShareAnswer(b"sealed"),
    CollectRequest(7),
    Collection(1, 2, 3, bytes(32), b"a", b"bc"),
]
EACH = pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)


@EACH
def test_messages_come_back(message: Any) -> None:
    assert type(message).unpack(message.pack(TASK), TASK) == message


@EACH
def test_cut_or_longer_messages_are_refused(message: Any) -> None:
    data = message.pack(TASK)
    for wrong in [*(data[:i] for i in range(len(data))), data + b"\0"]:
        with pytest.raises(ReportRefusedError):
            type(message).unpack(wrong, TASK)


@EACH
def test_other_versions_tasks_and_kinds_are_refused(message: Any) -> None:
    data = message.pack(TASK)
    for place in range(38):
        changed = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        with pytest.raises(ReportRefusedError, match="another kind, version or task"):
            type(message).unpack(changed, TASK)
    for other in MESSAGES:
        if type(other) is not type(message):
            with pytest.raises(ReportRefusedError):
                type(other).unpack(data, TASK)


@EACH
@given(data=st.data())
def test_damaged_messages_are_refused_or_other_messages(message: Any, data: st.DataObject) -> None:
    raw = bytearray(message.pack(TASK))
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] ^= data.draw(st.integers(1, 255))
    try:
        read = type(message).unpack(bytes(raw), TASK)
    except ReportRefusedError:
        return
    assert read != message
    assert read.pack(TASK) == bytes(raw), "there is only one way to write a message"


def test_a_promise_of_many_items_costs_nothing() -> None:
    head = Job(1, ()).pack(TASK)[:-8]
    with pytest.raises(ReportRefusedError):
        Job.unpack(head + (2**60).to_bytes(8, "little"), TASK)


def test_purposes_differ_in_every_part() -> None:
    found = {
        purpose_of_input(role, task, nonce, public)
        for role in ("leader", "helper")
        for task in (TASK, bytes(32))
        for nonce in (NONCE, bytes(16))
        for public in (b"", b"p")
    }
    found |= {
        purpose_of_aggregate(role, TASK, batch, n, bytes(32)) for role in "lh" for batch in (0, 1) for n in (0, 1)
    }
    assert len(found) == 24
