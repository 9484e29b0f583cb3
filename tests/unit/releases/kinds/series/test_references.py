"""Published tables of earlier windows that make a tick more accurate, and what its document says of them and of its errors."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sudare.ledger import open_ledger
from sudare.releases.kinds.series.references import find_reference
from sudare.series.filtering import FilteredEstimate
from sudare.series.mechanism import SeriesWindow
from sudare.storage.hashes import hash_of_file
from tests.unit.releases.kinds.series.crowds import PLAN, TICKS, build_series, read_plan, run, tick_at


def refer_to(text: str) -> str:
    return PLAN.replace("moves = 2", f'moves = 2\nreference = "{text}"')


def place_of(folder: Path, tick: int, day: int = 16) -> Path:
    return folder / f"out/date=2026-11-{day}/time={tick * 6:02}00"


def said_of(folder: Path, tick: int, day: int = 17) -> Any:
    return json.loads((place_of(folder, tick, day) / "release.json").read_text(encoding="utf-8"))


def found(folder: Path, tick: int, day: int = 17, window_hash: str = "") -> Any:
    plan = read_plan(folder)
    with open_ledger(folder / "budget.db") as ledger:
        return find_reference(plan.at(tick_at(plan, tick, day)), ledger, window_hash)


@pytest.fixture(scope="module")
def yesterday(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole day but one tick, of a plan that refers to the day before."""
    folder = tmp_path_factory.mktemp("series")
    build_series(folder, refer_to("yesterday"))
    for tick in (0, 1, 3):
        run(folder, tick)
    return folder


def test_a_plan_that_refers_to_nothing_says_nothing(tmp_path: Path) -> None:
    build_series(tmp_path)
    assert "reference" not in run(tmp_path, 0).document
    assert found(tmp_path, 0, 16) is None


def test_the_first_day_has_no_yesterday_and_is_published(yesterday: Path) -> None:
    for tick in (0, 1, 3):
        assert said_of(yesterday, tick, 16)["reference"] == {"asked": "yesterday"}


def test_the_table_of_the_same_time_yesterday_is_handed_over(yesterday: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = []
    original: Callable[..., Any] = SeriesWindow.draw

    def drawing(window: SeriesWindow, bound: str | None = None) -> Any:
        given.append(window.reference)
        return original(window, bound)

    monkeypatch.setattr(SeriesWindow, "draw", drawing)
    run(yesterday, 1, 17)
    run(yesterday, 2, 17)
    document = place_of(yesterday, 1) / "release.json"
    stated = {"asked": "yesterday", "begins": "2026-11-16T06:00:00", "sha256": hash_of_file(document)}
    assert said_of(yesterday, 1)["reference"] == stated
    assert given[0] is not None
    assert given[0].total == json.loads(document.read_text(encoding="utf-8"))["published"]["total"]
    assert said_of(yesterday, 2)["reference"] == {"asked": "yesterday"}, "tick 2 of yesterday is missing"
    assert given[1] is None


def test_the_last_table_before_a_window_serves_all_its_ticks(tmp_path: Path) -> None:
    build_series(tmp_path, refer_to("last"))
    assert found(tmp_path, 0, 16).table is None
    for tick in (0, 2):
        run(tmp_path, tick)
    assert found(tmp_path, 3, 16).table is None, "never one of the same window"
    assert {found(tmp_path, tick, 17).record.begins for tick in range(TICKS)} == {"2026-11-16T12:00:00"}


@pytest.mark.parametrize("name", ["table.parquet", "release.json"])
def test_a_table_that_the_ledger_did_not_settle_is_not_taken(yesterday: Path, name: str) -> None:
    """Only what was published: not what lies in its place."""
    file = place_of(yesterday, 3) / name
    whole = file.read_bytes()
    assert found(yesterday, 3).table is not None
    file.write_bytes(whole.replace(b'"Crowds"', b'"Others"') if name == "release.json" else whole + b" ")
    assert found(yesterday, 3).table is None
    file.write_bytes(whole)
    shutil.move(place_of(yesterday, 3), yesterday / "away")
    assert found(yesterday, 3).table is None
    shutil.move(yesterday / "away", place_of(yesterday, 3))


def test_the_folder_of_a_release_can_be_named_by_the_tick(yesterday: Path, tmp_path: Path) -> None:
    """As where a series is begun anew elsewhere; a table of the same window is none, whatever leads to it."""
    other = refer_to(f"{yesterday}/out/date=2026-11-16/time={{time}}")
    build_series(tmp_path, other)
    assert found(tmp_path, 0).record.asked == "release"
    assert found(tmp_path, 0).table is not None
    assert found(tmp_path, 2).table is None
    window = json.loads((place_of(yesterday, 0) / "release.json").read_text(encoding="utf-8"))["ledger"]["hash"]
    assert found(tmp_path, 0, window_hash=window).table is None
    run(tmp_path, 0, 17)
    assert said_of(tmp_path, 0)["reference"]["begins"] == "2026-11-16T00:00:00"


def test_a_reference_makes_another_window(tmp_path: Path) -> None:
    fingerprints: list[str] = []
    for text in (PLAN, refer_to("yesterday"), refer_to("last")):
        if not fingerprints:
            build_series(tmp_path, text)
        (tmp_path / "plan.toml").write_text(text.replace("LOCATION", "budget.db"), encoding="utf-8")
        plan = read_plan(tmp_path)
        fingerprints.append(plan.fingerprint(plan.clock.start))
    assert len(set(fingerprints)) == 3


def test_deviations_of_filtered_counts_are_those_of_the_filter(yesterday: Path) -> None:
    """Found again from the published measurements alone, tick after tick."""
    design = read_plan(yesterday).design
    estimates = [
        level.estimate(1 << depth, filters=design.filters)
        for level, depth in zip(design.levels, design.depths, strict=True)
    ]
    assert any(isinstance(estimate, FilteredEstimate) for estimate in estimates)
    for tick in range(TICKS):
        if not place_of(yesterday, tick).exists():
            for estimate in estimates:
                estimate.skip()
            continue
        with np.load(place_of(yesterday, tick) / "measurements.npz") as measured:
            for number, estimate in enumerate(estimates):
                estimate.update(measured[f"level{number}"].astype(np.int64))
        published = said_of(yesterday, tick, 16)["published"]
        for number, estimate in enumerate(estimates):
            stated, plain = published["filtered_deviations"][number], published["deviations"][number]
            if isinstance(estimate, FilteredEstimate):
                assert stated == round(float(np.mean(estimate.variances())) ** 0.5, 3)
            else:
                assert stated == plain
    assert published["filtered_deviations"] != published["deviations"]
