"""Staging folders: hidden while they are filled, published whole, cleared away by whoever comes next."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from sudare.errors import OutputError
from sudare.storage.staging import (
    ReportStaging,
    Staging,
    clear_abandoned,
    completed_beside,
    hold_target,
    publish_folder,
    require_free,
)
from sudare.system.locks import is_held


@pytest.fixture
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


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


@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077, 0o002, 0o000], indirect=True, ids=oct)
def test_nobody_else_looks_into_it_before_it_is_shown(tmp_path: Path, umask: int) -> None:
    target = tmp_path / "release"
    with Staging.beside(target) as staging:
        assert mode(staging.folder) == 0o700
        (staging.folder / "table.csv").write_text("a\n1\n")
        staging.complete(b"{}", "a seal")
        assert mode(staging.folder) == 0o700
        publish_folder(staging.folder, target)
    assert mode(target) == 0o755 & ~umask
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("umask", [0o022], indirect=True, ids=oct)
def test_what_cannot_be_shown_stays_closed(tmp_path: Path, umask: int) -> None:
    target = tmp_path / "release"
    with Staging.beside(target) as staging:
        staging.complete(b'{"ledger": {}}')
        target.touch()
        with pytest.raises(OutputError, match="cannot be written"):
            publish_folder(staging.folder, target)
    assert mode(staging.folder) == 0o700
    assert sorted(tmp_path.iterdir()) == [staging.folder, target]


def test_a_target_has_one_holder(tmp_path: Path) -> None:
    target, lock = tmp_path / "release", tmp_path / ".release.lock"
    with hold_target(target):
        handle = os.open(lock, os.O_RDWR)
        assert is_held(handle)
        os.close(handle)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OutputError, match="cannot be written"), hold_target(tmp_path / "nowhere" / "release"):
        pass


def test_what_is_sealed_is_kept_whatever_its_document_says(tmp_path: Path) -> None:
    with Staging.beside(tmp_path / "release") as staging:
        staging.complete(b'{"event": {}}', "a seal")
    assert staging.folder.is_dir()
    clear_abandoned(tmp_path / "release")
    assert staging.folder.is_dir()
