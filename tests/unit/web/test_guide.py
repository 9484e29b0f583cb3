"""The guided first release: five steps on the pages that everybody uses, and no trace of it for others."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from sudare.web.content.guide import STEPS
from tests.unit.web.asking import PORT, Answer, Asking


def guided(asking: Asking, target: str) -> Answer:
    cookie = f"sudare-{PORT}={asking.keys.session}; sudare-guide=yes"
    return asking.get(target, cookie=cookie)


def step_shown(answer: Answer) -> str:
    found = re.search(r'<li aria-current="step">([^<]*)</li>', answer.text)
    return found[1] if found else ""


@pytest.mark.parametrize(
    ("language", "names"),
    [("en", ["Say what the columns are", "Choose epsilon"]), ("ja", ["列の意味を確かめる", "ε を決める"])],
)
def test_from_the_first_step_to_the_plan(tmp_path: Path, language: str, names: list[str]) -> None:
    asking = Asking(tmp_path, language=language)
    assert step_shown(asking.get("/")) == ""
    assert 'action="/guide"' in asking.get("/").text
    begun = asking.post("/guide", {})
    assert begun.status == 303
    assert "sudare-guide=yes" in begun.headers["set-cookie"]
    assert "samesite=strict" in begun.headers["set-cookie"].lower()
    draft = guided(asking, begun.headers["location"])
    assert step_shown(draft) == names[0]
    form = {
        name: html.unescape(value)
        for name, value in re.findall(r'<input[^>]*name="([^"]*)" value="([^"]*)"', draft.text)
    }
    selects = re.findall(r'<select name="([^"]*)".*?</select>', draft.text, re.DOTALL)
    for name in selects:
        body = re.search(rf'<select name="{name}".*?</select>', draft.text, re.DOTALL)
        assert body is not None
        options = re.findall(r'<option(?: value="([^"]*)")?( selected)?>([^<]*)', body[0])
        chosen = next((one for one in options if one[1]), options[0])
        form[name] = html.unescape(chosen[0] or chosen[2])
    assert form["area-0"] == "corners"
    form.pop("public-0", None)
    made = asking.post("/draft", form)
    assert made.status == 303, made.text
    plan = guided(asking, made.headers["location"])
    assert step_shown(plan) == names[1]
    assert step_shown(asking.get(made.headers["location"])) == ""


def test_the_guide_ends(tmp_path: Path) -> None:
    asking = Asking(tmp_path)
    assert step_shown(guided(asking, "/")) == "Choose data"
    ended = asking.post("/guide/end", {})
    assert ended.status == 303
    assert re.search(r'sudare-guide="?"?;.*(Max-Age=0|expires)', ended.headers["set-cookie"], re.IGNORECASE)


def test_pages_that_are_no_step_say_nothing(tmp_path: Path) -> None:
    asking = Asking(tmp_path)
    assert 'class="guide"' not in guided(asking, "/ledgers").text
    assert asking.get("/", cookie=f"sudare-{PORT}={asking.keys.session}; sudare-guide=<b>").text.count("<aside") == 0


def test_every_step_has_its_texts() -> None:
    from sudare.web.words import TEXTS

    assert all(f"guide.{part}.{step}" in TEXTS for step in STEPS for part in ("name", "text"))
