"""The time of a place: in what people read, with its zone."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from sudare.system.clock import local_text, offset_text


@pytest.fixture
def _tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("_tokyo")
def test_moments_are_told_in_local_time_with_its_zone() -> None:
    for moment in ("2026-11-15T23:30:00Z", "2026-11-15T23:30:00.123456+00:00", "2026-11-15T23:30:00"):
        assert local_text(moment) == "2026-11-16 08:30:00+09:00"
    assert local_text("soon") == "soon"
    assert offset_text() == "+09:00"
