"""A tick whose folder was lost: made again as it was, at no cost, as long as its window is open; else nothing takes its place."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from sudare.errors import LedgerError
from sudare.ledger import open_ledger
from sudare.releases.kinds.series import recreating
from sudare.releases.kinds.series.closing import close_window
from sudare.releases.registry import verify_folder
from tests.unit.releases.kinds.series.crowds import build_series, entries_of, read_plan, run, state_of, tick_at


def place_of(folder: Path, tick: int) -> Path:
    return read_plan(folder).at(tick_at(read_plan(folder), tick)).folder


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ticks 0 and 2; the one between them is missing."""
    folder = tmp_path_factory.mktemp("series")
    build_series(folder)
    run(folder, 0)
    run(folder, 2)
    return folder


@pytest.fixture
def series(published: Path, tmp_path: Path) -> Iterator[Path]:
    """In its own place, which the fingerprint has: what a test changes is brought back."""
    shutil.copytree(published, tmp_path / "copy", symlinks=True)
    yield published
    shutil.rmtree(published)
    shutil.copytree(tmp_path / "copy", published, symlinks=True)


@pytest.mark.parametrize("tick", [0, 2])
def test_a_lost_tick_is_made_again_byte_for_byte_and_costs_nothing(series: Path, tick: int) -> None:
    place = place_of(series, tick)
    before = files_of(place)
    with open_ledger(series / "budget.db") as ledger:
        noted, left = entries_of(ledger), ledger.dataset("crowds").remaining
        ledger.opt_out("crowds", "3")
    shutil.rmtree(place)
    made = run(series, tick)
    assert made.is_repeated
    assert files_of(place) == before
    assert {check.outcome for check in verify_folder(place, str(series / "budget.db"))} == {"passed"}
    with open_ledger(series / "budget.db") as ledger:
        assert [kind for kind in entries_of(ledger) if kind != "opt-out"] == noted
        assert ledger.dataset("crowds").remaining == left
    assert not list(place.parent.glob(".*partial*"))


def test_one_that_comes_out_otherwise_is_not_shown(series: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = place_of(series, 2)
    shutil.rmtree(place)
    with monkeypatch.context() as patched:
        patched.setattr(recreating, "predicted_deviations", lambda window, tick: (0.5,) * len(window.estimates))
        with pytest.raises(LedgerError, match="cannot be made again") as lost:
            run(series, 2)
    assert "--again" not in lost.value.english + lost.value.japanese
    assert "元どおりに作り直すこともできません" in lost.value.japanese
    assert not place.exists()
    assert run(series, 2).is_repeated


def test_one_that_was_changed_is_to_be_moved_away(series: Path) -> None:
    place = place_of(series, 0)
    (place / "table.parquet").write_bytes(b"other")
    with pytest.raises(LedgerError, match="Move the folder away"):
        run(series, 0)
    assert (place / "table.parquet").read_bytes() == b"other", "nothing is overwritten"
    shutil.move(place, series / "away")
    assert run(series, 0).is_repeated
    assert (place / "table.parquet").read_bytes() != b"other"


@pytest.mark.parametrize("gone", ["key", "changes-000000.npz", "facts-000002.json", "tick-000002.json"])
def test_without_the_private_state_it_stays_lost(series: Path, gone: str) -> None:
    (state_of(series) / gone).unlink()
    shutil.rmtree(place_of(series, 2))
    with pytest.raises(LedgerError, match="Bring the folder back from a copy"):
        run(series, 2)
    assert not place_of(series, 2).exists()


def test_after_its_window_it_stays_lost(series: Path) -> None:
    plan = read_plan(series)
    close_window(plan, plan.clock.start)
    shutil.rmtree(place_of(series, 2))
    with pytest.raises(LedgerError, match="window is closed"):
        run(series, 2)
