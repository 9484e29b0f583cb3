"""Staging folders: hidden while they are filled, published whole, cleared away by whoever comes next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sudare.errors import OutputError
from sudare.storage.staging import (
    ReportStaging,
    Staging,
    clear_abandoned,
    completed_beside,
    publish_folder,
    require_free,
)


def hidden(folder: Path) -> list[Path]:
    return sorted(folder.glob(".*partial*"))


def test_a_folder_appears_whole(tmp_path: Path) -> None:
    target = tmp_path / "out" / "release"
    require_free(target)
    with Staging.beside(target) as staging:
        (staging.folder / "table.csv").write_text("a\n1\n")
        assert not target.exists()
        staging.complete(b"{}", "a seal")
        assert completed_beside(target) == [staging.folder]
        publish_folder(staging.folder, target)
    assert sorted(path.name for path in target.iterdir()) == ["release.json", "table.csv"]
    assert hidden(target.parent) == []
    with pytest.raises(OutputError, match="exists already"):
        require_free(target)
    with pytest.raises(OutputError, match="exists already"), Staging.beside(target):
        pass


def test_what_was_not_completed_is_gone(tmp_path: Path) -> None:
    def work() -> None:
        with Staging.beside(tmp_path / "release") as staging:
            (staging.folder / "table.csv").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert list(tmp_path.iterdir()) == []


def test_only_abandoned_folders_are_cleared(tmp_path: Path) -> None:
    target = tmp_path / "release"
    abandoned = tmp_path / ".release.partial-0"
    abandoned.mkdir()
    (tmp_path / ".release.partial-1").symlink_to(tmp_path)
    with Staging.beside(target) as staging:
        assert hidden(tmp_path) == sorted([staging.folder, tmp_path / ".release.partial-1"])
        clear_abandoned(target)
        assert staging.folder.is_dir(), "somebody works there"


@pytest.mark.parametrize("shape", [Staging, ReportStaging])
@pytest.mark.parametrize(("report", "is_kept"), [({}, False), ({"ledger": "budget.db"}, True)])
def test_a_complete_folder_is_kept_if_it_was_charged(
    tmp_path: Path, report: dict[str, str], is_kept: bool, shape: type[Staging]
) -> None:
    target = tmp_path / "people"
    with shape.beside(target) as staging:
        staging.complete(json.dumps(report).encode())
    clear_abandoned(target)
    assert staging.folder.is_dir() == is_kept
    assert completed_beside(target) == ([staging.folder] if is_kept else [])


def test_a_target_that_came_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "release"
    with Staging.beside(target) as staging:
        staging.complete(b"{}")
        target.mkdir()
        (target / "theirs").touch()
        with pytest.raises(OutputError, match="cannot be written"):
            publish_folder(staging.folder, target)
    assert [path.name for path in target.iterdir()] == ["theirs"]
