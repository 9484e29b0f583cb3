"""Every step of the page shows the command lines that do the same, and the command knows them."""

from __future__ import annotations

import html
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from typer.main import get_command

from sudare.cli.app import build_app
from tests.unit.web.asking import Answer, Asking
from tests.unit.web.test_queries import PLACE, SQL, TEXT
from tests.unit.web.test_tables import FORM, write_firms

FILE = "my firms.csv"


@cache
def _command() -> Any:
    return get_command(build_app("en"))


def commands_of(answer: Answer) -> list[str]:
    """The command lines at the foot of a page."""
    _, _, foot = answer.text.partition('<div class="command">')
    return [html.unescape(one) for one in re.findall(r"<code>(.*?)</code>", foot)]


def require_known(line: str) -> None:
    """Refuse a line that the command does not take: nothing is carried out."""
    name, *words = shlex.split(line)
    assert name == "sudare"
    command, context = _command(), None
    while hasattr(command, "commands"):
        context = command.context_class(command, info_name=name, parent=context)
        name, command, words = command.resolve_command(context, words)
    command.make_context(name, list(words), parent=context)


@pytest.fixture
def asking(tmp_path: Path) -> Asking:
    write_firms(tmp_path)
    (tmp_path / "firms.csv").rename(tmp_path / FILE)
    rows = "\n".join(f"Tokyo,{age}" for age in range(20, 80))
    (tmp_path / "visits.csv").write_text(f"city,age\n{rows}\n", encoding="utf-8")
    return Asking(tmp_path)


def test_every_page_shows_commands_that_there_are(asking: Asking) -> None:
    empty = commands_of(asking.get("/ledgers"))
    assert empty == ["sudare ledger create budget.db"]
    asking.post("/examples", {"name": "invented-survey"})
    started = asking.post("/plan/run", {"file": "invented-survey/plan.toml"})
    table = asking.post("/tables/new", FORM | {"file": FILE}).headers["location"]
    asking.post("/queries/new", {"file": "visits.csv", "text": TEXT, "total": "2"})
    file = quote(FILE)
    asked = f"/queries?{urlencode(PLACE | {'sql': SQL, 'epsilon': '0.5'})}"
    seen = list(empty)
    for target in (
        "/",
        f"/ways?file={file}",
        f"/draft?file={file}",
        f"/tables/new?file={file}",
        f"/records/new?file={file}",
        f"/queries/new?file={file}",
        "/queries",
        asked,
        "/plan?file=invented-survey/plan.toml",
        table,
        f"{table.replace('/tables?', '/tables/cell?')}&cell=0",
        started.headers["location"],
        "/ledgers",
    ):
        shown = asking.get(target)
        assert shown.status == 200, shown.text
        found = commands_of(shown)
        assert found, target
        seen += found
    asking.get(f"{started.headers['location']}/events")
    seen += commands_of(asking.get("/release?folder=invented-survey/release"))
    assert "sudare attack invented-survey/release" in seen
    assert "sudare run invented-survey/plan.toml --yes" in commands_of(asking.get(started.headers["location"]))
    assert any(shlex.split(line)[-1] == FILE for line in seen), "a name with a space is one word"
    for line in seen:
        require_known(line)


@pytest.mark.parametrize("line", ["sudare publish x.toml", "sudare run x.toml --soon", "sudare verify"])
def test_a_command_that_is_none_is_noticed(line: str) -> None:
    with pytest.raises(Exception, match=r"[Nn]o such|[Mm]issing"):
        require_known(line)
