"""Commands run inside the tests' own process, and what they left behind."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from sudare.cli import app, extensions, main
from sudare.cli.console.messages import Language


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


command_built_anew = app.command_of
_known: dict[object, Any] = {}


def _known_command(language: Language, given: Sequence[str]) -> Any:
    """Built once for all that begin alike; to build it takes longer than many commands do. Those of others may come and go."""
    names = {name for _, name, _ in app.COMMANDS} - set(extensions.HOMES) | {path.split()[0] for path in app.GROUPS}
    if not given or given[0] not in names or any(variable in os.environ for variable in extensions.COMPLETIONS):
        return command_built_anew(language, given)
    key = language, given[0]
    if key not in _known:
        _known[key] = command_built_anew(language, given)
    return _known[key]


Run = Callable[..., Answer]


def runner(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int) -> Run:
    """A way to run commands, in English, in a terminal of some width."""
    for name in ("LC_ALL", "LC_MESSAGES", "FORCE_COLOR", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(app, "command_of", _known_command)

    def call(*arguments: object) -> Answer:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        shown = capsys.readouterr()
        return Answer(code, shown.out, shown.err)

    return call
