"""Whose hidden folders are taken for one's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sudare.storage.staging import DOCUMENT, completed_beside


def hidden(tmp_path: Path, mode: int = 0o755) -> Path:
    folder = tmp_path / ".out.partial-1"
    folder.mkdir()
    (folder / DOCUMENT).write_text("{}")
    folder.chmod(mode)
    return folder


def test_a_complete_folder_of_ones_own_is_found(tmp_path: Path) -> None:
    folder = hidden(tmp_path)
    assert completed_beside(tmp_path / "out") == [folder]


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o777])
def test_a_folder_that_others_can_write_in_is_passed_over(tmp_path: Path, mode: int) -> None:
    hidden(tmp_path, mode)
    assert completed_beside(tmp_path / "out") == []


def test_a_folder_of_somebody_else_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert completed_beside(tmp_path / "out") == []


def test_a_link_is_passed_over(tmp_path: Path) -> None:
    folder = hidden(tmp_path)
    (tmp_path / ".out.partial-2").symlink_to(folder)
    assert completed_beside(tmp_path / "out") == [folder]
