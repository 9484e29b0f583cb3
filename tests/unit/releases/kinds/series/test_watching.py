"""A series as a service: which ticks it publishes, waits for, makes up for and leaves out."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sudare.ledger import open_ledger
from sudare.releases.kinds.series.watching import Watcher, watch_series
from tests.unit.releases.kinds.series.crowds import build_series, file_of, run, tick_at


class Watched:
    """A clock that goes on while somebody waits, and all that was told."""

    def __init__(self, now: datetime) -> None:
        self.now, self.told = now, list[tuple[str, int]]()
        self.watcher = Watcher(
            published=lambda tick, made: self.told.append(("again" if made.is_repeated else "published", tick.number)),
            left_out=lambda tick, why: self.told.append(("left out", tick.number)),
            waits=lambda tick: self.told.append(("waits", tick.number)),
        )

    def watch(self, plan: Any, **given: Any) -> None:
        def pause(seconds: float) -> None:
            assert 0 <= seconds <= 10
            self.now += timedelta(hours=1)

        watch_series(plan, self.watcher, now=lambda: self.now, pause=pause, **given)


def test_ticks_are_published_as_they_end(tmp_path: Path) -> None:
    plan = build_series(tmp_path)
    watched = Watched(datetime(2026, 11, 16, 6))
    watched.watch(plan, last=tick_at(plan, 2))
    assert watched.told == [("published", 0), ("waits", 1), ("published", 1), ("waits", 2), ("published", 2)]


def test_ticks_that_were_left_out_are_made_up_for(tmp_path: Path) -> None:
    plan = build_series(tmp_path)
    run(tmp_path, 0)
    watched = Watched(datetime(2026, 11, 17))
    watched.watch(plan, last=tick_at(plan, 3))
    assert watched.told == [("published", 1), ("published", 2), ("published", 3)]


def test_data_that_never_comes_leaves_a_tick_out(tmp_path: Path) -> None:
    plan = build_series(tmp_path)
    file_of(tmp_path, 1).unlink()
    watched = Watched(datetime(2026, 11, 16, 6))
    watched.watch(plan, last=tick_at(plan, 2))
    assert watched.told == [("published", 0), ("waits", 1), ("left out", 1), ("published", 2)]
    with open_ledger(tmp_path / "budget.db") as ledger:
        (window,) = ledger.windows.of("crowds")
        assert window.missing == (range(1, 2),)


def test_a_window_is_closed_when_the_next_one_begins(tmp_path: Path) -> None:
    plan = build_series(tmp_path)
    watched = Watched(datetime(2026, 11, 17, 6))
    watched.watch(plan, first=tick_at(plan, 2), last=tick_at(plan, 0, day=17))
    assert watched.told == [("published", 2), ("published", 3), ("published", 0)]
    with open_ledger(tmp_path / "budget.db") as ledger:
        first, second = ledger.windows.of("crowds")
        assert (first.is_closed, second.is_closed) == (True, False)


def test_a_window_is_closed_right_after_its_last_tick(tmp_path: Path) -> None:
    plan = build_series(tmp_path)
    watched = Watched(datetime(2026, 11, 17))
    watched.watch(plan, first=tick_at(plan, 2), last=tick_at(plan, 3))
    with open_ledger(tmp_path / "budget.db") as ledger:
        (window,) = ledger.windows.of("crowds")
        assert (window.settled, window.missed, window.is_closed) == (2, 2, True)
    assert (tmp_path / "out/date=2026-11-16/report/release.json").is_file()
    assert not list((tmp_path / "out-state").iterdir())
    assert run(tmp_path, 3).is_repeated, "what was published is shown again, window closed or not"


def test_a_delay_gives_data_time_to_come(tmp_path: Path) -> None:
    plan = build_series(tmp_path)
    watched = Watched(datetime(2026, 11, 16, 7))
    watched.watch(plan, first=tick_at(plan, 0), last=tick_at(plan, 0), delay=timedelta(hours=3))
    assert watched.told == [("waits", 0), ("published", 0)]
    assert watched.now >= datetime(2026, 11, 16, 9)


def test_whoever_stops_it_loses_nothing(tmp_path: Path) -> None:
    plan = build_series(tmp_path)
    watched = Watched(datetime(2026, 11, 16, 7))

    def stop(seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watch_series(plan, watched.watcher, now=lambda: watched.now, pause=stop)
    assert watched.told == [("published", 0), ("waits", 1)]
    again = Watched(datetime(2026, 11, 16, 12))
    again.watch(plan, last=tick_at(plan, 1))
    assert again.told == [("published", 1)]
