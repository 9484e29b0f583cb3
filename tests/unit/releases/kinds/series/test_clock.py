"""The clock of a series: windows and ticks by the wall clock."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.errors import InputError
from sudare.releases.kinds.series.clock import SeriesClock, period_in_words, read_moment, read_period

START = datetime(2026, 11, 16)
CLOCK = SeriesClock(START, timedelta(minutes=10), 144)


@given(st.integers(0, 10**7), st.integers(1, 3600), st.integers(1, 2000))
def test_every_moment_belongs_to_one_tick(seconds: int, every: int, ticks: int) -> None:
    clock = SeriesClock(START, timedelta(seconds=every), ticks)
    moment = START + timedelta(seconds=seconds)
    tick = clock.tick_within(moment)
    assert tick.begins <= moment < tick.ends
    assert 0 <= tick.number < ticks
    assert tick.begins == tick.window + tick.number * clock.every
    assert (tick.window - START) % clock.window == timedelta(0)
    assert clock.tick_of(tick.window, tick.number) == tick == clock.tick_at(tick.begins)
    assert clock.last_over(tick.ends) == tick


@pytest.mark.parametrize(
    ("moment", "english", "japanese"),
    [
        (datetime(2026, 11, 15, 23, 50), "before the series begins", "開始"),
        (datetime(2026, 11, 16, 8, 5), "The nearest one before it is 2026-11-16T08:00", "直前の時点: 2026-11-16T08:00"),
    ],
)
def test_a_moment_that_is_no_tick_is_refused(moment: datetime, english: str, japanese: str) -> None:
    with pytest.raises(InputError) as refused:
        CLOCK.tick_at(moment)
    assert english in refused.value.words.english
    assert japanese in refused.value.words.japanese


def test_a_tick_that_is_not_over_is_refused() -> None:
    tick = CLOCK.tick_at(datetime(2026, 11, 16, 8))
    CLOCK.require_over(tick, tick.ends)
    with pytest.raises(InputError, match="not over before 2026-11-16T08:10"):
        CLOCK.require_over(tick, tick.ends - timedelta(seconds=1))


def test_periods_and_moments_are_read_as_people_write_them() -> None:
    for text in ("10 minutes", "10min", "600 s", " 10 M "):
        assert read_period(text) == timedelta(minutes=10)
    for text in ("", "soon", "0 s", "-1 day", "1.5 hours", "1 fortnight"):
        assert read_period(text) is None
    shown = [period_in_words(timedelta(seconds=s)) for s in (86400, 172800, 3600, 7200, 600, 90)]
    assert [words.english for words in shown] == ["1 day", "2 days", "1 hour", "2 hours", "10 min", "90 s"]
    assert [words.japanese for words in shown] == ["1 日", "2 日", "1 時間", "2 時間", "10 分", "90 秒"]
    assert read_moment("2026-11-16T08:10") == datetime(2026, 11, 16, 8, 10)
    assert read_moment("2026-11-16T08:10+09:00") is None
    assert read_moment("today") is None


def test_names_of_folders_sort_as_ticks_do() -> None:
    ticks = [CLOCK.tick_of(START, number) for number in range(144)]
    assert sorted((tick.date, tick.time) for tick in ticks) == [(tick.date, tick.time) for tick in ticks]
    assert ticks[49].blanks() == {
        "date": "2026-11-16",
        "time": "0810",
        "start": "2026-11-16 08:10:00",
        "end": "2026-11-16 08:20:00",
        "tick": "49",
    }
