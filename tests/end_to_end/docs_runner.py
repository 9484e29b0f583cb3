"""Runs what a documentation page shows: files are written, commands run in processes, snippets in one namespace.

- A block with a title that looks like a file name is written to the page's folder.
- A ``console`` block has commands behind ``$ `` and, where it matters, what they answer. ``...`` stands for anything, white
  space does not count, and an exit code other than 0 is announced as ``[exit code N]`` below the command's output. A line
  that is ``sudare`` and its arguments needs no shell; a real one runs all others.
- ``python`` blocks are run one after the other in the page's one namespace.
- A block whose title begins with ``Not run here:``, or says so in Japanese, is skipped; the rest of the title says why.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

from tests.processes import run_command

__all__ = ["NOT_RUN", "Block", "Command", "blocks_of", "commands_of", "fits", "plain_arguments", "run_page"]

NOT_RUN = ("Not run here:", "ここでは実行しません:")
SECONDS = 120
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w+)(?P<attributes>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$", re.M | re.S
)
TITLE = re.compile(r'title="(?P<title>[^"]*)"')
FILE_NAME = re.compile(r"[\w./-]+\.\w+")
EXIT_CODE = re.compile(r"\[exit code (\d+)\]")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        language: behind the fence.
        title: shown above it, or empty.
        text: what is in it.
        line: where it begins.
    """

    language: str
    title: str
    text: str
    line: int

    @property
    def is_file(self) -> bool:
        return FILE_NAME.fullmatch(self.title) is not None

    @property
    def is_skipped(self) -> bool:
        return self.title.startswith(NOT_RUN)


@dataclass(frozen=True)
class Command:
    """A command of a console block.

    Attributes:
        line: what is typed.
        answer: what the page says it answers; None if it says nothing.
        exit_code: what it must end with.
    """

    line: str
    answer: str | None
    exit_code: int


def blocks_of(text: str) -> list[Block]:
    """The fenced blocks of a page that name a language."""
    found = []
    for match in FENCE.finditer(text):
        title = TITLE.search(match["attributes"])
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(match["language"], title["title"] if title else "", dedent(match["text"]), line))
    return found


def commands_of(text: str) -> list[Command]:
    """The commands of a console block. A line that ends with a backslash goes on behind ``> ``."""
    commands = []
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        lines = part.splitlines()
        typed = [lines.pop(0)]
        while typed[-1].endswith("\\"):
            typed.append(lines.pop(0).removeprefix("> "))
        answer = "\n".join(lines).strip()
        announced = EXIT_CODE.search(answer)
        answer = EXIT_CODE.sub("", answer).strip()
        commands.append(Command("\n".join(typed), answer or None, int(announced[1]) if announced else 0))
    return commands


def fits(answer: str, output: str) -> bool:
    """Whether an output is what a page says, but for white space, the length of rules, and ``...``."""
    parts = [re.escape(_plain(part)) for part in answer.split("...")]
    return re.fullmatch(".*".join(parts), _plain(output), re.S) is not None


def _plain(text: str) -> str:
    return re.sub(r"─+", "─", "".join(text.split()))


def run_page(
    text: str, folder: Path, *, language: str, environment: dict[str, str] | None = None, quickly: bool = True
) -> int:
    """Run a page in a folder, and return how many commands and snippets were run.

    Args:
        text: of the page.
        folder: where its files are written.
        language: of the commands.
        environment: more of it.
        quickly: whether errors are predicted from few trials: not where the page shows them.

    Raises:
        AssertionError: if something does not go as the page says.
    """
    namespace: dict[str, Any] = {"__name__": "__page__"}
    settings = {**_environment(folder, language), **(environment or {})}
    number = 0
    for block in blocks_of(text):
        if block.is_skipped:
            continue
        if block.language == "toml":
            tomllib.loads(block.text)
        if block.is_file:
            target = folder / block.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            for command in commands_of(block.text):
                _run(command, folder, settings, block.line, quickly)
                number += 1
        elif block.language == "python":
            source = "\n" * block.line + block.text
            exec(compile(source, "page", "exec"), namespace)  # noqa: S102
            number += 1
    return number


def _environment(folder: Path, language: str) -> dict[str, str]:
    programs = folder / ".bin"
    programs.mkdir(exist_ok=True)
    for name, arguments in (("sudare", "-m sudare"), ("python", "")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments} "$@"\n')
        program.chmod(0o755)
    return {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(folder),
        "LANG": "ja_JP.UTF-8" if language == "ja" else "C.UTF-8",
        "PYTHONUTF8": "1",
        "COLUMNS": "100",
        "MPLBACKEND": "Agg",
    }


def plain_arguments(line: str) -> list[str] | None:
    """Of a line that runs ``sudare`` and has nothing else in it for a shell to do; None for all others."""
    joined = line.replace("\\\n", " ")
    outside_quotes = re.sub(r"'[^']*'|\"[^\"]*\"", "", joined)
    if (
        not joined.startswith("sudare ")
        or re.search(r"[$`\\]", joined)
        or re.search(r"[\n|&;<>()*?~#{}[\]]", outside_quotes)
    ):
        return None
    return shlex.split(joined)[1:]


def _run(command: Command, folder: Path, environment: dict[str, str], line: int, quickly: bool) -> None:
    arguments = plain_arguments(command.line)
    if arguments is not None:
        done = run_command(arguments, folder, environment, merged=True, seconds=SECONDS, quickly=quickly)
    else:
        done = subprocess.run(
            ["bash", "-c", command.line],  # noqa: S607
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    output = done.stdout
    where = f"the block at line {line}: $ {command.line}\n{output}"
    assert done.returncode == command.exit_code, f"{where}ended with {done.returncode}"
    assert command.answer is None or fits(command.answer, output), f"{where}is not\n{command.answer}"
