"""Commands run inside the tests' own process, and what they left behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from sudare.cli import main


@dataclass(frozen=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err.strip().splitlines()[-1])["error"]


Run = Callable[..., Answer]


def runner(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int) -> Run:
    """A way to run commands, in English, in a terminal of some width."""
    for name in ("LC_ALL", "LC_MESSAGES", "FORCE_COLOR", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    monkeypatch.setenv("COLUMNS", str(columns))

    def call(*arguments: object) -> Answer:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        shown = capsys.readouterr()
        return Answer(code, shown.out, shown.err)

    return call
