"""What a killed process left in its folder is gone when the next one starts; whoever is at work is left alone."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from sudare.system import scratch
from sudare.system.scratch import PREFIX, ScratchFolder, clear_abandoned, scratch_folder
from tests.end_to_end.killed import Doomed, spill
from tests.processes import run_command


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_is_private_and_gone_afterwards(place: Path) -> None:
    with scratch_folder() as folder:
        (folder / "spilled").write_text("somebody")
        assert folder.stat().st_mode & 0o077 == 0
        clear_abandoned()
        assert folder.exists(), "somebody is at work there"
    assert list(place.iterdir()) == []


def test_what_is_not_ours_is_left_alone(place: Path) -> None:
    (place / "elsewhere").mkdir()
    (place / "elsewhere" / "kept").touch()
    (place / f"{PREFIX}link").symlink_to(place / "elsewhere")
    (place / f"{PREFIX}file").touch()
    (place / "sudare-older").mkdir()
    clear_abandoned()
    names = {path.name for path in place.iterdir()}
    assert names == {"elsewhere", f"{PREFIX}link", f"{PREFIX}file", "sudare-older"}
    assert (place / "elsewhere" / "kept").exists()


def test_a_folder_goes_with_its_last_user(place: Path) -> None:
    folder = ScratchFolder()
    path = folder.path
    del folder
    assert not path.exists()


def test_a_forked_process_removes_nothing(place: Path) -> None:
    folder = ScratchFolder()
    child = os.fork()
    if child == 0:
        folder.remove()
        os._exit(0)
    os.waitpid(child, 0)
    assert folder.path.exists()
    folder.remove()


def test_nobody_clears_away_a_folder_that_is_being_made(place: Path) -> None:
    """Another process clears away before every single line of the making."""
    lines = []

    def clear_before_each_line(frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        if frame.f_code is not scratch._made.__code__:
            return None
        if event in ("line", "return"):
            sys.settrace(None)
            clear_abandoned()
            lines.append(frame.f_lineno)
            sys.settrace(clear_before_each_line)
        return clear_before_each_line

    before = sys.gettrace()
    sys.settrace(clear_before_each_line)
    try:
        folder = ScratchFolder()
    finally:
        sys.settrace(before)
    assert len(set(lines)) > 4, "it was looked at in between"
    assert folder.path.exists()
    clear_abandoned()
    assert folder.path.exists()
    folder.remove()
    assert list(place.iterdir()) == []


def test_a_forked_process_that_ends_unlocks_nothing(place: Path) -> None:
    folder = ScratchFolder()
    child = os.fork()
    if child == 0:
        os.closerange(3, 256)
        os._exit(0)
    os.waitpid(child, 0)
    clear_abandoned()
    assert folder.path.exists()
    folder.remove()


def test_a_folder_that_cannot_be_locked_leaves_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(handle: int, operation: int) -> None:
        raise OSError("no locks here")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(OSError, match="no locks here"):
        ScratchFolder()
    assert list(place.iterdir()) == []


def test_many_processes_at_the_same_moment(place: Path) -> None:
    """Forked from one parent, as workers are: each makes folders while the others clear away."""
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                deadline = time.monotonic() + 1
                while time.monotonic() < deadline:
                    with scratch_folder() as folder:
                        (folder / "spilled").touch()
                        clear_abandoned()
                        (folder / "spilled").unlink()
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0, 0]
    assert list(place.iterdir()) == []


def test_a_killed_process(place: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    told = tmp_path_factory.mktemp("told") / "told"
    process = Doomed(spill, told, place)
    process.wait_for(1)
    (left,) = place.glob(f"{PREFIX}*")
    assert any(left.iterdir()), "it has spilled"
    clear_abandoned()
    assert left.exists(), "it is still at work"
    process.kill()
    deadline = time.monotonic() + 30
    while left.exists() and time.monotonic() < deadline:
        done = run_command(["mesh", "bounds", "533946113"], place, {**os.environ, "TMPDIR": str(place)})
        assert done.returncode == 0, done.stderr
    assert list(place.glob(f"{PREFIX}*")) == []
