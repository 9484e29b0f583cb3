"""The report of a window: made once, from what was published, before the key is destroyed and the ledger settles."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from sudare.errors import OutputError, PlanError
from sudare.ledger import open_ledger
from sudare.ledger.windows import Windows
from sudare.releases.kinds.series.days import report as report_module
from sudare.releases.kinds.series.days.verification import verify_day
from sudare.releases.kinds.series.state import WindowFolder
from sudare.storage.hashes import hash_of_file
from sudare.storage.staging import DOCUMENT
from tests.unit.releases.kinds.series.crowds import PLACES_BY_NAME, Crowds, build_crowds

MISSING = 2


@pytest.fixture(scope="module")
def crowds(tmp_path_factory: pytest.TempPathFactory) -> Crowds:
    made = build_crowds(tmp_path_factory.mktemp("crowds"))
    made.run(0, 1, 3)
    made.close()
    return made


@pytest.fixture(scope="module")
def document(crowds: Crowds) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((crowds.report / DOCUMENT).read_text(encoding="utf-8"))
    return found


def window_of(crowds: Crowds) -> Any:
    with open_ledger(crowds.ledger) as ledger:
        assert ledger.verify() == []
        [window] = ledger.windows.of("crowds")
        return window


def test_says_what_became_of_every_tick(crowds: Crowds, document: dict[str, Any]) -> None:
    assert [tick["state"] for tick in document["ticks"]] == ["published", "published", "missing", "published"]
    for tick in document["ticks"]:
        assert tick["begins"] == f"2026-11-16T{6 * tick['number']:02}:00:00"
        if tick["number"] == MISSING:
            assert "sha256" not in tick
            continue
        said = json.loads((crowds.tick(tick["number"]) / DOCUMENT).read_text(encoding="utf-8"))
        assert tick["sha256"] == hash_of_file(crowds.tick(tick["number"]) / DOCUMENT)
        assert (tick["total"], tick["non_empty_cells"]) == (
            said["published"]["total"],
            said["published"]["non_empty_cells"],
        )
        assert [size["deviations"][tick["number"]] for size in document["accuracy"]] == said["published"]["deviations"]
        assert said["event"] == document["event"]


def test_curves_are_sums_of_the_published_tables(crowds: Crowds, document: dict[str, Any]) -> None:
    with (crowds.report / "curves.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["total"] for row in rows] == [str(tick.get("total", "")) for tick in document["ticks"]]
    for area in document["areas"]:
        assert area["counts"][MISSING] is None
        name = area["name"]["english"]
        assert [row[name] for row in rows] == ["" if count is None else str(count) for count in area["counts"]]
        for number in (0, 1, 3):
            table = pyarrow.parquet.read_table(crowds.tick(number) / "table.parquet").to_pylist()
            found = sum(
                row["population"]
                for row in table
                if name == f"rows {row['row']}–{row['row']}, columns {row['column']}–{row['column']}"
            )
            assert area["counts"][number] == found


def test_windows_together_cost_the_sum(document: dict[str, Any]) -> None:
    assert [(one["windows"], one["cost"]["rho"]) for one in document["together"]] == [
        (1, "1/2"),
        (7, "7/2"),
        (30, "15"),
        (365, "365/2"),
    ]
    powers = [one["best_power"] for one in document["together"]]
    assert powers[0] == document["promise"]["best_power"]
    assert powers == sorted(powers)


def test_the_revision_has_every_published_tick_and_says_what_it_is(crowds: Crowds, document: dict[str, Any]) -> None:
    rows = pyarrow.parquet.read_table(crowds.report / "revision.parquet").to_pylist()
    totals: dict[str, int] = {}
    for row in rows:
        assert row["population"] > 0
        totals[row["begins"].isoformat()] = totals.get(row["begins"].isoformat(), 0) + row["population"]
    expected = {
        tick["begins"]: total
        for tick, total in zip(document["ticks"], document["revision"]["totals"], strict=True)
        if tick["number"] != MISSING
    }
    assert totals == expected
    assert "cost nothing" in document["revision"]["note"]["english"]
    assert "改訂値" in document["revision"]["note"]["japanese"]


def test_the_ledger_closes_the_window_with_the_hash_of_the_report(crowds: Crowds) -> None:
    window = window_of(crowds)
    assert window.is_closed
    assert (window.settled, window.missed) == (3, 1)
    with open_ledger(crowds.ledger) as ledger:
        closed = ledger.entry(window.closed_by).read()
    assert closed.result["document_sha256"] == hash_of_file(crowds.report / DOCUMENT)  # type: ignore[union-attr]
    assert not list((crowds.folder / "out-state").iterdir())


def stop(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def stop_in(owner: Any, name: str) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda monkeypatch: monkeypatch.setattr(owner, name, stop)


STOPPED = {
    "before the page": stop_in(report_module, "render_day_page"),
    "before it is shown": stop_in(report_module, "publish_folder"),
    "before the key is destroyed": stop_in(WindowFolder, "destroy_key"),
    "before the ledger settles": stop_in(Windows, "close"),
    "before the state is removed": stop_in(WindowFolder, "destroy"),
}


@pytest.mark.parametrize("where", STOPPED)
def test_a_window_that_was_stopped_while_it_closed_is_closed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    crowds = build_crowds(tmp_path)
    crowds.run(1)
    with monkeypatch.context() as patch:
        STOPPED[where](patch)
        with pytest.raises(KeyboardInterrupt):
            crowds.close()
    shown = {path.name: path.read_bytes() for path in crowds.report.iterdir()} if crowds.report.exists() else {}
    assert not shown or DOCUMENT in shown
    crowds.close()
    assert window_of(crowds).is_closed
    assert not [check for check in verify_day(crowds.report, crowds.ledger) if check.outcome == "failed"]
    for name, content in shown.items():
        assert (crowds.report / name).read_bytes() == content
    assert not list(crowds.report.parent.glob(".*"))
    assert not list((tmp_path / "out-state").iterdir())


def test_nothing_is_destroyed_where_something_else_is_in_the_place_of_the_report(tmp_path: Path) -> None:
    crowds = build_crowds(tmp_path)
    crowds.run(0)
    crowds.report.mkdir()
    (crowds.report / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="not the report of the window"):
        crowds.close()
    [state] = (tmp_path / "out-state").iterdir()
    assert (state / "key").exists()
    assert not window_of(crowds).is_closed
    (crowds.report / "notes.txt").unlink()
    crowds.report.rmdir()
    crowds.close()
    assert window_of(crowds).is_closed


def test_a_tick_that_is_gone_when_the_report_is_made_is_told_of(tmp_path: Path) -> None:
    crowds = build_crowds(tmp_path)
    crowds.run(0, 1)
    crowds.tick(0).rename(tmp_path / "away")
    crowds.close()
    said = json.loads((crowds.report / DOCUMENT).read_text(encoding="utf-8"))
    assert [tick["state"] for tick in said["ticks"]] == ["lost", "published", "missing", "missing"]
    page = (crowds.report / "release.html").read_text(encoding="utf-8")
    assert "gone or changed when this report was made" in page
    outcomes = {check.name: check.outcome for check in verify_day(crowds.report, crowds.ledger)}
    assert outcomes["tick 2026-11-16 00:00"] == "skipped"
    assert "failed" not in outcomes.values()


def test_a_window_without_a_published_tick_has_no_report(tmp_path: Path) -> None:
    crowds = build_crowds(tmp_path)
    (tmp_path / "rows" / "2026-11-16" / "0000.parquet").unlink()
    crowds.close()
    assert not crowds.report.exists()


def test_a_plan_may_want_no_revision(tmp_path: Path) -> None:
    crowds = build_crowds(tmp_path)
    plan = tmp_path / "plan.toml"
    plan.write_text(plan.read_text(encoding="utf-8") + "revision = false\n", encoding="utf-8")
    crowds.run(0)
    crowds.close()
    assert "revision" not in json.loads((crowds.report / DOCUMENT).read_text(encoding="utf-8"))
    assert not (crowds.report / "revision.parquet").exists()


def test_a_plan_chooses_the_areas_that_are_followed(tmp_path: Path) -> None:
    crowds = build_crowds(tmp_path, PLACES_BY_NAME)
    plan = tmp_path / "plan.toml"
    plan.write_text(plan.read_text(encoding="utf-8") + 'areas = ["stadium", "park"]\n', encoding="utf-8")
    crowds.run(0)
    crowds.close()
    said = json.loads((crowds.report / DOCUMENT).read_text(encoding="utf-8"))
    assert [area["name"]["english"] for area in said["areas"]] == ["stadium", "park"]
    assert "Chosen areas" in (crowds.report / "release.html").read_text(encoding="utf-8")
    assert not [check for check in verify_day(crowds.report, crowds.ledger) if check.outcome == "failed"]


def test_an_area_that_the_table_does_not_have_is_refused(tmp_path: Path) -> None:
    crowds = build_crowds(tmp_path, PLACES_BY_NAME)
    plan = tmp_path / "plan.toml"
    plan.write_text(plan.read_text(encoding="utf-8") + 'areas = ["moon"]\n', encoding="utf-8")
    with pytest.raises(PlanError, match="'areas' in section \\[output\\] 'moon' is no area"):
        _ = crowds.plan
