"""What belongs to a run of the tests: lint that fails it, kernels that are compiled when they changed, its record."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tools import run_tests
from tools.run_tests import KERNELS, STAMP, main, memory, needs_compiling, record


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one test, whose lint says what it is told to."""
    for folder in (*KERNELS, ".venv"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "one.py").touch()
    (tmp_path / STAMP).touch()
    (tmp_path / "test_small.py").write_text("def test_small(): pass\n")
    (tmp_path / "Makefile").write_text("lint:\n\t@echo 'looked at'; exit $$(cat code)\n")
    (tmp_path / "code").write_text("0")
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    monkeypatch.setattr(run_tests, "needs_compiling", lambda: False)
    return tmp_path


def run_one(clone: Path, *options: str) -> int:
    return main([*options, "--", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(clone / "test_small.py")])


@pytest.mark.parametrize("code", [0, 1])
def test_lint_beside_the_tests(clone: Path, capfd: pytest.CaptureFixture[str], code: int) -> None:
    (clone / "code").write_text(str(code))
    assert bool(run_one(clone, "--lint")) == bool(code)
    said = capfd.readouterr().out
    assert "1 passed" in said
    assert said.endswith("make lint: failed\n" if code else "looked at\nmake lint: passed\n")


def test_a_test_that_fails(clone: Path) -> None:
    (clone / "test_small.py").write_text("def test_small(): assert False\n")
    assert (
        run_one(clone, "--lint", "--record", str(clone / "DEEP.md"), "--durations", str(clone / "durations.tsv")) == 1
    )
    assert "- tests: 0 passed, 1 failed, 0 skipped\n" in (clone / "DEEP.md").read_text()
    assert "\t1\tall\n" in (clone / "durations.tsv").read_text()


def test_files_are_written_to_memory_where_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_tests, "MIN_FREE_MEMORY", 1)
    assert memory(tmp_path) == tmp_path
    assert memory(tmp_path / "nowhere") is None
    monkeypatch.setattr(run_tests, "MIN_FREE_MEMORY", 1 << 60)
    assert memory(tmp_path) is None


def test_a_run_leaves_nothing_in_memory(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = tmp_path / "room"
    room.mkdir()
    (clone / "test_small.py").write_text(
        "import tempfile\n"
        "def test_small(tmp_path):\n"
        f"    assert {str(room)!r} in str(tmp_path) and {str(room)!r} in tempfile.gettempdir()\n"
        "    (tmp_path / 'large').write_text('a')\n"
    )
    monkeypatch.setattr(run_tests, "memory", lambda: room)
    assert run_one(clone) == 0
    assert list(room.iterdir()) == []


def test_kernels_are_compiled_when_one_changed(clone: Path) -> None:
    assert not needs_compiling(clone)
    later = (clone / STAMP).stat().st_mtime + 5
    os.utime(clone / KERNELS[0] / "one.py", (later, later))
    assert needs_compiling(clone)
    (clone / STAMP).unlink()
    assert needs_compiling(clone)


def test_a_record_names_its_commit(clone: Path) -> None:
    def git(*arguments: str) -> str:
        settings = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"]
        command = ["git", *settings, *arguments]
        return subprocess.run(command, cwd=clone, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "--quiet")
    git("add", "Makefile")
    git("commit", "--quiet", "--message", "one")
    head = git("rev-parse", "--short=12", "HEAD")
    page = record("Title", "make it", 600, ["tests: none"], clone)
    assert page.startswith("# Title\n\n`make it` writes this page.\n\n- date: ")
    assert f"- commit: {head}\n- duration: 10 min on " in page
    assert page.endswith("- tests: none\n")
    (clone / "Makefile").write_text("changed")
    assert f"- commit: {head} with changes\n" in record("Title", "make it", 600, [], clone)
