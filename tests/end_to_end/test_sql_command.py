"""`sudare sql` in real processes: an answer, a repeat, a shell on a pipe, and a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sudare.ledger import open_ledger
from sudare.privacy import Budget
from tests.processes import run_command
from tests.unit.sql.shops import COUNT, open_shop

pytestmark = pytest.mark.slow


def sudare(*arguments: object, given: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "LANG": "C.UTF-8", "COLUMNS": "120"}
    return run_command(list(map(str, arguments)), Path.cwd(), environment, typed=given)


def place(folder: Path) -> list[object]:
    files: list[object] = ["--data", folder / "shop.duckdb", "--metadata", folder / "shop.toml"]
    return [*files, "--ledger", folder / "budget.db", "--dataset", "shop", "--epsilon", "1"]


def test_a_question_and_its_repeat(tmp_path: Path) -> None:
    open_shop(tmp_path)
    first = sudare("sql", "run", *place(tmp_path), "--json", COUNT)
    assert first.returncode == 0, first.stderr
    again: Any = json.loads(sudare("sql", "run", *place(tmp_path), "--json", given=COUNT).stdout)
    assert again["repeated"]
    assert again["rows"] == json.loads(first.stdout)["rows"]
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert ledger.dataset("shop").spent == Budget(epsilon=1)
        assert ledger.verify() == []


def test_a_shell_on_a_pipe(tmp_path: Path) -> None:
    open_shop(tmp_path)
    done = sudare("sql", "shell", *place(tmp_path), given=f"\\d\n{COUNT};\n{COUNT};\n\\budget\n\\q\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("±") == 2
    assert "nothing was charged" in done.stderr


def test_exit_codes(tmp_path: Path) -> None:
    open_shop(tmp_path, Budget(epsilon=0.5))
    assert sudare("sql", "run", *place(tmp_path), "SELECT * FROM customer").returncode == 9
    assert sudare("sql", "run", *place(tmp_path), COUNT).returncode == 4
    (tmp_path / "shop.duckdb").write_bytes(b"no database")
    assert sudare("sql", "run", *place(tmp_path), COUNT).returncode == 10


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
def test_a_terminal(tmp_path: Path) -> None:
    """Somebody types a query over two lines, and leaves by the end of the input."""
    import pty
    import select
    import time

    open_shop(tmp_path)
    command = [sys.executable, "-m", "sudare", "sql", "shell", *map(str, place(tmp_path))]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "LANG": "C.UTF-8", "TERM": "xterm"}
    )
    os.close(theirs)
    seen = b""

    def wait_for(words: bytes) -> None:
        nonlocal seen
        end = time.monotonic() + 60
        while words not in seen and time.monotonic() < end:
            if select.select([ours], [], [], 1)[0]:
                seen += os.read(ours, 4096)
        assert words in seen, seen

    try:
        wait_for(b"sudare> ")
        os.write(ours, b"SELECT count(*) AS n\n")
        wait_for(b"...> ")
        os.write(ours, b"FROM customer;\n")
        wait_for(b"Charged")
        os.write(ours, b"\\q\n")
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait(timeout=30)
        os.close(ours)
