"""A whole day is checked by its report: whatever is changed, taken away or added is found."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sudare.errors import InputError
from sudare.ledger import open_ledger
from sudare.releases.registry import find_kind_of_folder, verify_folder
from sudare.storage.hashes import hash_of_file
from sudare.storage.staging import DOCUMENT
from tests.unit.releases.kinds.series.crowds import Crowds, build_crowds


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Crowds:
    made = build_crowds(tmp_path_factory.mktemp("sound"))
    made.run(0, 1, 3)
    made.close()
    return made


@pytest.fixture
def crowds(sound: Crowds, tmp_path: Path) -> Crowds:
    shutil.copytree(sound.folder / "out", tmp_path / "out", symlinks=True)
    shutil.copy(sound.ledger, tmp_path / "budget.db")
    return Crowds(tmp_path)


def failed(crowds: Crowds, ledger: str | None = None) -> set[str]:
    return {check.name for check in verify_folder(crowds.report, ledger) if check.outcome == "failed"}


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    said = json.loads(path.read_text(encoding="utf-8"))
    change(said)
    path.write_text(json.dumps(said, ensure_ascii=False, indent=1), encoding="utf-8")


def test_a_day_that_is_as_it_was_is_sound(crowds: Crowds) -> None:
    assert find_kind_of_folder(crowds.report).name == "series"
    assert find_kind_of_folder(crowds.tick(0)).name == "series"
    checks = {check.name: check for check in verify_folder(crowds.report, crowds.ledger)}
    assert {check.outcome for check in checks.values()} == {"passed"}
    assert {"window", "cost", "ticks", "other-ticks", "curves", "revision", "page", "ledger"} <= set(checks)
    assert checks["window"].english == "3 of 4 ticks published, 1 missing"
    assert all(check.english != check.japanese for check in checks.values())


def test_a_tick_is_sound_by_itself_and_in_the_ledger(crowds: Crowds) -> None:
    assert {check.outcome for check in verify_folder(crowds.tick(1), crowds.ledger)} == {"passed"}
    edit(crowds.tick(1) / DOCUMENT, lambda said: said.update(title="Another"))
    assert "ledger" in {
        check.name for check in verify_folder(crowds.tick(1), crowds.ledger) if check.outcome == "failed"
    }


def test_a_tick_may_be_there_that_is_of_another_window(crowds: Crowds) -> None:
    shutil.copytree(crowds.tick(0), crowds.folder / "out" / "date=2026-11-17" / "time=0000")
    assert failed(crowds) == set()


def remove_tick(crowds: Crowds) -> None:
    shutil.rmtree(crowds.tick(1))


def add_tick(crowds: Crowds) -> None:
    shutil.copytree(crowds.tick(1), crowds.tick(2))


def add_odd_tick(crowds: Crowds) -> None:
    (crowds.report.parent / "time=soon").mkdir()


def change_table(crowds: Crowds) -> None:
    shutil.copy(crowds.tick(0) / "table.parquet", crowds.tick(1) / "table.parquet")


def change_measurements(crowds: Crowds) -> None:
    shutil.copy(crowds.tick(0) / "measurements.npz", crowds.tick(1) / "measurements.npz")


def change_tick_document(crowds: Crowds) -> None:
    edit(crowds.tick(1) / DOCUMENT, lambda said: said["published"].update(total=1))


def swap_ticks(crowds: Crowds) -> None:
    """Both documents have the hashes that the report states: of each other."""
    crowds.tick(0).rename(crowds.folder / "away")
    crowds.tick(1).rename(crowds.tick(0))
    (crowds.folder / "away").rename(crowds.tick(1))

    def swap(said: dict[str, Any]) -> None:
        first, second = said["ticks"][:2]
        for name in ("sha256", "total", "non_empty_cells"):
            first[name], second[name] = second[name], first[name]

    edit(crowds.report / DOCUMENT, swap)


def change_page(crowds: Crowds) -> None:
    page = crowds.report / "release.html"
    page.write_text(page.read_text(encoding="utf-8").replace("Office", "Nobody"), encoding="utf-8")


def add_file(crowds: Crowds) -> None:
    (crowds.report / "more.csv").write_text("1\n")


def change_curves(crowds: Crowds) -> None:
    path = crowds.report / "curves.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("06:00:00,", "06:00:00,1"), encoding="utf-8")
    digest = hash_of_file(path)
    edit(crowds.report / DOCUMENT, lambda said: said["files"][0].update(sha256=digest))


def change_revision(crowds: Crowds) -> None:
    path = crowds.report / "revision.parquet"
    shutil.copy(crowds.tick(0) / "table.parquet", path)
    digest = hash_of_file(path)
    edit(crowds.report / DOCUMENT, lambda said: said["files"][1].update(sha256=digest))


def say(change: Callable[[dict[str, Any]], object]) -> Callable[[Crowds], None]:
    return lambda crowds: edit(crowds.report / DOCUMENT, change)


TAMPERED: dict[str, tuple[Callable[[Crowds], None], str]] = {
    "a tick that was taken away": (remove_tick, "tick 2026-11-16 06:00"),
    "a tick that was added": (add_tick, "other-ticks"),
    "something that calls itself a tick": (add_odd_tick, "other-ticks"),
    "a changed table": (change_table, "tick 2026-11-16 06:00"),
    "changed measurements": (change_measurements, "tick 2026-11-16 06:00"),
    "a changed document of a tick": (change_tick_document, "tick 2026-11-16 06:00"),
    "ticks that changed places": (swap_ticks, "tick 2026-11-16 06:00"),
    "a changed page": (change_page, "page"),
    "a file that was added": (add_file, "page"),
    "changed curves": (change_curves, "curves"),
    "a changed revision": (change_revision, "revision"),
    "a changed hash": (say(lambda said: said["ticks"][1].update(sha256="0" * 64)), "tick 2026-11-16 06:00"),
    "a changed total": (say(lambda said: said["ticks"][1].update(total=1)), "tick 2026-11-16 06:00"),
    "a tick that is said to be missing": (
        say(
            lambda said: said["ticks"].__setitem__(
                1, {**said["ticks"][2], "number": 1, "begins": "2026-11-16T06:00:00"}
            )
        ),
        "other-ticks",
    ),
    "a tick that is left out": (say(lambda said: said["ticks"].pop()), "window"),
    "ticks in another order": (say(lambda said: said["ticks"].reverse()), "window"),
    "a folder elsewhere": (say(lambda said: said["ticks"][1].update(folder="../../etc")), "window"),
    "another window": (say(lambda said: said["window"].update(begins="2026-11-17T00:00:00")), "window"),
    "a window that is no time": (say(lambda said: said.update(window=[])), "window"),
    "a cheaper week": (say(lambda said: said["together"][1]["cost"].update(rho="1/2")), "cost"),
    "a lower cost": (say(lambda said: said["event"]["cost"].update(rho="1/100")), "cost"),
    "a smaller error": (
        say(lambda said: said["accuracy"][0]["deviations"].__setitem__(1, 0.1)),
        "tick 2026-11-16 06:00",
    ),
    "another area": (say(lambda said: said["areas"].pop()), "curves"),
}


@pytest.mark.parametrize("told", [{"number": 0}, {"number": "1"}, {}, None])
def test_a_tick_that_tells_another_number_is_not_in_the_ledger(crowds: Crowds, told: object) -> None:
    edit(crowds.tick(1) / DOCUMENT, lambda said: said.update(tick=told))
    ledger = next(check for check in verify_folder(crowds.tick(1), crowds.ledger) if check.name == "ledger")
    assert ledger.outcome == "failed"


@pytest.mark.parametrize("how", TAMPERED)
def test_whatever_is_changed_is_found(crowds: Crowds, how: str) -> None:
    tamper, found_by = TAMPERED[how]
    tamper(crowds)
    assert found_by in failed(crowds)


def test_the_ledger_knows_the_report(crowds: Crowds) -> None:
    edit(crowds.report / DOCUMENT, lambda said: said.update(title="Another"))
    assert "ledger" in failed(crowds, crowds.ledger)


def test_a_window_that_is_not_closed_is_told_of(sound: Crowds, tmp_path: Path) -> None:
    shutil.copytree(sound.folder / "out", tmp_path / "out", symlinks=True)
    with open_ledger(tmp_path / "other.db", create=True):
        pass
    assert failed(Crowds(tmp_path), str(tmp_path / "other.db")) == {"ledger"}


def test_a_report_without_its_series_is_unsound(crowds: Crowds, tmp_path: Path) -> None:
    alone = tmp_path / "elsewhere" / "date=2026-11-16" / "report"
    shutil.copytree(crowds.report, alone)
    names = {check.name for check in verify_folder(alone) if check.outcome == "failed"}
    assert "tick 2026-11-16 00:00" in names


def test_a_damaged_document_is_refused_as_a_report(crowds: Crowds) -> None:
    path = crowds.report / DOCUMENT
    path.write_text(path.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    with pytest.raises(InputError):
        verify_folder(crowds.report)
