"""`tools/setup`: what it installs for a demonstration and for tests, by which program, and when it has nothing to do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CORE = "--editable ."
WHOLE = "--editable .[dev] --editable ./papers"

PYTHON = f"""#!/bin/sh
case "$1 $2" in
    "-c "*) exec {sys.executable} "$@" ;;
    "-m venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python && touch .venv/pip ;;
    "-m pip") [ -f .venv/pip ] || exit 1; [ "$3" = install ] && shift 2 && echo "pip $*" >> log; true ;;
esac
"""
UV = """#!/bin/sh
[ -f uv-fails ] && exit 1
[ "$1" = venv ] && mkdir -p .venv/bin && cp python .venv/bin/python
[ "$2" = install ] && echo "uv $*" >> log
true
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    (tmp_path / "papers").mkdir()
    for name in ("pyproject.toml", "papers/pyproject.toml", "constraints.txt"):
        (tmp_path / name).touch()
    shutil.copy(ROOT / "tools" / "setup", tmp_path / "setup")
    write_program(tmp_path / "python", PYTHON)
    (tmp_path / "bin").mkdir()
    for program in ("cp", "find", "id", "mkdir", "sh", "touch"):  # and no uv, wherever the machine may have one
        (tmp_path / "bin" / program).symlink_to(str(shutil.which(program)))
    return tmp_path


def write_program(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def set_up(folder: Path, *arguments: str) -> str:
    """What is installed by a run."""
    log = folder / "log"
    log.unlink(missing_ok=True)
    path = f"{folder / 'bin'}:/usr/bin:/bin"
    environment = {**os.environ, "PATH": path, "SUDARE_PYTHON": str(folder / "python")}
    done = subprocess.run(
        ["/bin/sh", "setup", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return log.read_text(encoding="utf-8").strip() if log.exists() else ""


def test_the_core_first_and_the_rest_when_it_is_needed(clone: Path) -> None:
    first = set_up(clone, "core")
    assert first.startswith("pip install")
    assert first.endswith(CORE)
    assert "--constraint constraints.txt" in first
    assert set_up(clone, "core") == ""
    assert set_up(clone).endswith(WHOLE)
    assert set_up(clone) == set_up(clone, "core") == ""


def test_all_at_once_has_the_core(clone: Path) -> None:
    assert set_up(clone).endswith(WHOLE)
    assert set_up(clone, "core") == ""


def test_other_requirements_are_installed(clone: Path) -> None:
    assert set_up(clone, "core")
    later = (clone / ".venv" / ".ready-core").stat().st_mtime + 10
    os.utime(clone / "constraints.txt", (later, later))
    assert set_up(clone, "core").endswith(CORE)


def test_uv_is_used_if_it_is_there(clone: Path) -> None:
    write_program(clone / "bin" / "uv", UV)
    first = set_up(clone, "core")
    assert first.startswith("uv pip install")
    assert first.endswith(CORE)
    assert set_up(clone).startswith("uv pip install")


def test_pip_is_used_where_uv_finds_nothing(clone: Path) -> None:
    write_program(clone / "bin" / "uv", UV)
    (clone / "uv-fails").touch()
    assert set_up(clone, "core").startswith("pip install")


def test_pip_after_uv_has_made_an_environment_without_it(clone: Path) -> None:
    write_program(clone / "bin" / "uv", UV)
    assert set_up(clone, "core").startswith("uv")
    (clone / "uv-fails").touch()
    assert set_up(clone).startswith("pip install")
