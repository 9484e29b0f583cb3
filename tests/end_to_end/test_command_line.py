"""The real command in a new process: exit codes, streams, colours, languages, signals, and what it loads."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sudare import Budget, Unit
from sudare.ledger import open_ledger
from tests.commands import runner
from tests.processes import run_command

PLAN = """
title = "A small town"

[source]
path = "people.csv"

[[domain]]
name = "KEY_CODE"
kind = "mesh"
level = "1/2"
corners = ["53394611", "53394647"]

[budget]
epsilon = 0.25

[ledger]
location = "budget.db"
dataset = "town"
"""
COLOUR = "\x1b["


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "FORCE_", "NO_"))}
    return {**kept, "LANG": "en_US.UTF-8", "PYTHONUTF8": "1", "TERM": "xterm-256color", **more}


def sudare(*arguments: object, folder: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sudare", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        cwd=folder,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        timeout=120,
    )


def forked(*arguments: object, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """The same in a process of its own that need not load everything: for tests that run many commands."""
    return run_command([*map(str, arguments)], folder, environment(**more))


@pytest.fixture
def town(tmp_path: Path) -> Path:
    people = [f"5339461{column}{quarter}" for column in range(1, 8) for quarter in range(1, 5) for _ in range(30)]
    (tmp_path / "people.csv").write_text("KEY_CODE\n" + "\n".join(people) + "\n", encoding="utf-8")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    with open_ledger(tmp_path / "budget.db", create=True) as ledger:
        ledger.add_dataset("town", Budget(epsilon=1), unit=Unit("person"))
    return tmp_path


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("release", "--help"), ("ledger", "--help")])
def test_help_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    code = (
        "import sys, contextlib, io\n"
        "from sudare.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    main(sys.argv[1:])\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules}))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
        timeout=60,
    )
    loaded = set(shown.stdout.split())
    assert "typer" in loaded
    heavy = {
        "numpy",
        "numba",
        "duckdb",
        "pyarrow",
        "matplotlib",
        "scipy",
        "cryptography",
        "jinja2",
        "rasterio",
        "psycopg",
    }
    assert not loaded & heavy


@pytest.mark.parametrize(("locale", "expected"), [("en_US.UTF-8", "Usage:"), ("ja_JP.UTF-8", "使い方:")])
def test_the_locale_decides_the_language(locale: str, expected: str) -> None:
    assert expected in sudare("--help", LANG=locale).stdout
    assert expected in forked("--help", folder=Path.cwd(), LANG="C", LC_ALL=locale).stdout


def test_a_terminal_that_cannot_show_japanese_stops_nothing() -> None:
    shown = sudare("mesh", "bounds", "5339", "--lang", "ja", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert shown.returncode == 0
    assert "35.3333333333" in shown.stdout
    told = sudare("mesh", "bounds", "x", "--json", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert "メッシュコード" in json.loads(told.stderr)["error"]["japanese"]


def test_shell_completion() -> None:
    shown = sudare(_SUDARE_COMPLETE="complete_bash", COMP_WORDS="sudare le", COMP_CWORD="1")
    assert shown.stdout.split() == ["ledger"]


@pytest.mark.slow
def test_a_release_from_end_to_end(tmp_path: Path) -> None:
    assert forked("init", "census", "--epsilon", "0.4", folder=tmp_path).stdout == "census/plan.toml\n"
    census = tmp_path / "census"
    people = [f"5339461{column}{quarter}" for column in range(8) for quarter in range(1, 5) for _ in range(30)]
    (census / "people.csv").write_text("KEY_CODE\n" + "\n".join(people) + "\n", encoding="utf-8")
    plan = json.loads(forked("plan", "census/plan.toml", "--json", folder=tmp_path).stdout)
    assert plan["charge"] == {"epsilon": "0.1"}
    refused = forked("release", "census/plan.toml", folder=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    made = sudare("release", "census/plan.toml", "--yes", "--threads", "2", folder=tmp_path)
    assert made.returncode == 0
    assert made.stdout.strip() == str(census / "release")
    assert COLOUR not in made.stdout + made.stderr
    again = forked("release", "census/plan.toml", "--yes", "--json", folder=tmp_path)
    assert json.loads(again.stdout)["is_repeated"] is True
    assert again.stderr == ""
    verified = forked("verify", "census/release", "--ledger", "census/budget.db", "--lang", "ja", folder=tmp_path)
    assert verified.returncode == 0
    assert "正常です" in verified.stdout
    assert forked("map", "census/release", "--out", "map.png", folder=tmp_path).stdout == "map.png\n"
    balance = json.loads(forked("ledger", "list", "census/budget.db", "--json", folder=tmp_path).stdout)
    assert balance["datasets"][0]["remaining"] == {"epsilon": "0.3"}
    (census / "release" / "table.csv").write_text("KEY_CODE,count\n", encoding="utf-8")
    assert forked("verify", "census/release", folder=tmp_path).returncode == 7


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "change", "code"),
    [
        (("polish",), None, 2),
        (("plan", "nowhere.toml"), None, 2),
        (("plan", "plan.toml"), ("epsilon", "epsilom"), 2),
        (("plan", "plan.toml"), ("0.25", "-1"), 2),
        (("release", "plan.toml", "--yes"), ("people.csv", "nobody.csv"), 3),
        (("verify", "."), None, 3),
        (("release", "plan.toml", "--yes"), ("0.25", "1.5"), 4),
        (("release", "plan.toml", "--yes"), ("budget.db", "lost.db"), 5),
        (("init", "."), None, 6),
        (("doctor", "--ledger", "people.csv"), None, 7),
    ],
)
def test_exit_codes(
    town: Path,
    arguments: tuple[str, ...],
    change: tuple[str, str] | None,
    code: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a process of its own; what it tells people in their languages is asked for without one."""
    if change is not None:
        (town / "plan.toml").write_text(PLAN.replace(*change), encoding="utf-8")
    told = forked(*arguments, "--json", folder=town)
    assert told.returncode == code, told.stderr
    assert "Traceback" not in told.stderr
    monkeypatch.chdir(town)
    in_this_process = runner(capsys, monkeypatch, columns=100)
    for language in ("en", "ja"):
        shown = in_this_process(*arguments, "--lang", language)
        assert shown.code == code, shown.err
        assert "Traceback" not in shown.err
    if code == 7:
        assert json.loads(told.stdout)["healthy"] is False
    else:
        assert told.stdout == ""
        error = json.loads(told.stderr)["error"]
        assert error["exit_code"] == code
        assert error["english"]
        assert re.search(r"[ぁ-ん]", error["japanese"])


@pytest.mark.slow
def test_a_pipe_that_closes_early_is_no_error(tmp_path: Path) -> None:
    code = f"{shlex.quote(sys.executable)} -m sudare mesh children 5339 --level 1/8 | head -n 1"
    shown = subprocess.run(
        ["/bin/sh", "-c", code], capture_output=True, text=True, check=False, env=environment(), timeout=120
    )
    assert shown.stdout == "53390000111\n"
    assert "Traceback" not in shown.stderr
    assert "Error" not in shown.stderr


def in_terminal(*arguments: object, folder: Path, answer: str = "", **more: str) -> tuple[int, str]:
    """Run the command on a terminal of its own; its exit code and all that was shown."""
    main, side = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "sudare", *map(str, arguments)],
        stdin=side,
        stdout=side,
        stderr=side,
        cwd=folder,
        env=environment(COLUMNS="100", LINES="40", **more),
        start_new_session=True,
    )
    os.close(side)
    shown = bytearray()
    try:
        if answer:
            os.write(main, answer.encode())
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            shown += part
        return process.wait(timeout=60), shown.decode("utf-8", "replace")
    finally:
        process.kill()
        process.wait(timeout=60)
        os.close(main)


@pytest.mark.slow
def test_colours_on_a_terminal_only_and_never_against_the_wish(town: Path) -> None:
    code, shown = in_terminal("ledger", "verify", "budget.db", folder=town)
    assert code == 0
    assert COLOUR in shown
    _, plain = in_terminal("ledger", "verify", "budget.db", folder=town, NO_COLOR="1")
    assert "[32m" not in plain
    assert "[1;32m" not in plain
    assert COLOUR not in sudare("ledger", "verify", "budget.db", folder=town).stdout


@pytest.mark.slow
def test_a_release_on_a_terminal_asks(town: Path) -> None:
    code, shown = in_terminal("release", "plan.toml", folder=town, answer="n\n")
    assert code == 2
    assert "Spend this and publish?" in shown
    code, shown = in_terminal("release", "plan.toml", "--lang", "ja", folder=town, answer="y\n")
    assert code == 0
    assert "ノイズの生成" in shown
    assert str(town / "release") in shown
    assert "▀" in in_terminal("map", "release", folder=town)[1]


@pytest.mark.slow
def test_control_c_tells_what_was_charged(town: Path) -> None:
    # A ledger that somebody else is writing to keeps the release waiting in the middle.
    other = sqlite3.connect(town / "budget.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    process = subprocess.Popen(
        [sys.executable, "-m", "sudare", "release", "plan.toml", "--yes", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=town,
        env=environment(),
    )
    try:
        deadline = time.monotonic() + 45
        while not list(town.glob(".release.partial-*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait(timeout=60)
        other.close()
    assert process.returncode == 130
    assert out == ""
    assert "Nothing was charged" in json.loads(err)["error"]["english"]
    assert not list(town.glob(".release*"))
