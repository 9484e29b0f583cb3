"""Folders of protected records can be checked by whoever has them; whatever was changed is found."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sudare.errors import InputError
from sudare.ledger import open_ledger
from sudare.releases.kinds.records import read_people_plan, run_people_plan
from sudare.releases.kinds.records.page import render_people_page
from sudare.releases.kinds.records.verification import verify_people
from sudare.storage.hashes import hash_of_file
from tests.unit.releases.kinds.records.town import ANONYMIZE, COLUMNS, HEAD, MST, SAMPLED, build_town, people

MODELS = 'suppression = 0.1\nmodels = [{ name = "l-diversity", l = 2 }, { name = "t-closeness", t = 0.9 }]\n'
PLANS = {
    "anonymize": HEAD + COLUMNS + ANONYMIZE + MODELS,
    "large": HEAD + "larger_than_memory = true\n" + COLUMNS + ANONYMIZE + MODELS,
    "local": HEAD + COLUMNS + ANONYMIZE + 'search = "local"\n[output]\nformats = ["parquet"]\n',
    "sample": HEAD + COLUMNS + '[protection]\nmethod = "sample"\nrate = 0.5\n',
    "sampled": SAMPLED.replace("epsilon = 2", "epsilon = 3"),
    "mst": MST,
}
Change = Callable[[dict[str, Any]], None]


def make(folder: Path, text: str) -> Path:
    plan = read_people_plan(build_town(folder, text, people(1200)), folder / "out")
    run_people_plan(plan, even_if_broken=True)
    return folder / "out"


def outcomes(folder: Path, ledger: str | None = None) -> dict[str, str]:
    return {check.name: check.outcome for check in verify_people(folder, ledger)}


def failed(folder: Path, ledger: str | None = None) -> set[str]:
    return {name for name, outcome in outcomes(folder, ledger).items() if outcome == "failed"}


def rewrite(folder: Path, change: Change) -> None:
    """Change the report as somebody would who knows how the rest is made."""
    document = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    change(document)
    for file in document["files"] if isinstance(document.get("files"), list) else []:
        file["sha256"] = hash_of_file(folder / file["name"])
    (folder / "release.json").write_text(json.dumps(document), encoding="utf-8")
    with suppress(KeyError, TypeError):
        (folder / "release.html").write_text(render_people_page(document), encoding="utf-8")


@pytest.mark.parametrize("name", PLANS)
def test_what_was_made_is_sound(tmp_path: Path, name: str) -> None:
    folder = make(tmp_path, PLANS[name])
    found = outcomes(folder, str(tmp_path / "budget.db"))
    assert "failed" not in found.values(), found
    is_private = name in ("sampled", "mst")
    assert found["ledger"] == ("passed" if is_private else "skipped")
    assert found["page"] == "passed"
    assert found["published"] == "passed"
    if is_private:
        assert found["cost"] == "passed"
        assert ("groups" in found) == (name == "sampled")
        assert outcomes(folder)["ledger"] == "skipped"
    else:
        assert found["models"] == ("skipped" if name == "sample" else "passed")
        assert found["attacks"] == "passed"


def test_a_file_that_was_changed(tmp_path: Path) -> None:
    folder = make(tmp_path, PLANS["anonymize"])
    lines = (folder / "people.csv").read_text().splitlines()
    (folder / "people.csv").write_text("\n".join(lines[:-1]) + "\n")
    assert "file people.csv" in failed(folder)
    assert "published" in failed(folder)
    (folder / "people.csv").unlink()
    assert "file people.csv" in failed(folder)


def test_promises_are_counted_anew(tmp_path: Path) -> None:
    """Whoever changes file, hashes and page alike still cannot keep the promise."""
    folder = make(tmp_path, PLANS["anonymize"])
    lines = (folder / "people.csv").read_text().splitlines()
    first = lines[1].split(",")
    lines[1] = ",".join(["17", *first[1:]])
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    rewrite(folder, lambda document: None)
    assert failed(folder) >= {"models", "attacks"}


def stated(key: str, value: Any) -> Change:
    def change(document: dict[str, Any]) -> None:
        document[key] = value

    return change


def raise_k(document: dict[str, Any]) -> None:
    document["models"][0]["model"]["k"] = 500


def tell_more(document: dict[str, Any]) -> None:
    document["models"][0]["english"] = "500-anonymity"


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (raise_k, "models"),
        (tell_more, "models"),
        (stated("models", None), "models"),
        (stated("models", [{"english": "x", "japanese": "x", "holds": True}]), "models"),
        (stated("published", {"rows": 1, "columns": []}), "published"),
        (stated("attacks", []), "attacks"),
        (stated("files", []), "files"),
        (stated("files", 7), "files"),
        (stated("columns", 7), "published"),
    ],
)
def test_reports_that_were_changed(tmp_path: Path, change: Change, check: str) -> None:
    folder = make(tmp_path, PLANS["anonymize"])
    rewrite(folder, change)
    assert check in failed(folder)


def test_a_broken_table_must_say_so(tmp_path: Path) -> None:
    folder = make(tmp_path, PLANS["sample"])
    assert not failed(folder)
    rewrite(folder, stated("even_if_broken", False))
    assert failed(folder) == {"attacks"}


def test_an_identifier_that_was_left_in(tmp_path: Path) -> None:
    folder = make(tmp_path, PLANS["anonymize"])
    text = (folder / "people.csv").read_text().splitlines()
    (folder / "people.csv").write_text("\n".join([f"person,{text[0]}", *(f"P,{line}" for line in text[1:])]) + "\n")

    def name_it(document: dict[str, Any]) -> None:
        document["published"]["columns"].insert(0, "person")

    rewrite(folder, name_it)
    checks = {check.name: check for check in verify_people(folder)}
    assert checks["published"].outcome == "failed"
    assert "'person'" in checks["published"].english


class TestBudget:
    """What was charged."""

    def test_a_cost_that_is_too_small(self, tmp_path: Path) -> None:
        folder = make(tmp_path, MST)

        def cheaper(document: dict[str, Any]) -> None:
            document["event"]["cost"]["epsilon"] = "1/10"

        rewrite(folder, cheaper)
        assert failed(folder, str(tmp_path / "budget.db")) >= {"cost", "ledger"}

    def test_a_report_that_hides_its_cost(self, tmp_path: Path) -> None:
        folder = make(tmp_path, MST)
        rewrite(folder, lambda document: document.pop("event") and None)
        assert "cost" in failed(folder)

    def test_groups_that_are_too_small(self, tmp_path: Path) -> None:
        folder = make(tmp_path, PLANS["sampled"])
        lines = (folder / "people.csv").read_text().splitlines()
        assert len(lines) > 100
        (folder / "people.csv").write_text("\n".join([*lines[:-1], "0-49,x"]) + "\n")
        rewrite(folder, lambda document: None)
        assert "groups" in failed(folder)

    def test_rows_where_none_are_stated(self, tmp_path: Path) -> None:
        plan = read_people_plan(build_town(tmp_path, SAMPLED, people(20)), tmp_path / "out")
        assert run_people_plan(plan).document["published"]["rows"] == 0
        assert not failed(tmp_path / "out")
        (tmp_path / "out" / "people.csv").write_text("age,sex\n0-49,f\n")
        rewrite(tmp_path / "out", lambda document: None)
        assert failed(tmp_path / "out") >= {"published", "groups"}

    def test_another_ledger(self, tmp_path: Path) -> None:
        folder = make(tmp_path, MST)
        with open_ledger(tmp_path / "other.db", create=True):
            pass
        assert failed(folder, str(tmp_path / "other.db")) == {"ledger"}


def test_folders_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is missing"):
        verify_people(tmp_path)
    (tmp_path / "release.json").write_text("[]")
    with pytest.raises(InputError, match="format"):
        verify_people(tmp_path)


def test_a_file_that_is_not_listed(tmp_path: Path) -> None:
    folder = make(tmp_path, PLANS["anonymize"])
    (folder / "notes.txt").write_text("hello")
    assert failed(folder) == {"page"}


def test_a_hostile_size_of_groups_is_told(tmp_path: Path) -> None:
    folder = make(tmp_path, PLANS["sampled"])
    document = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    part = next(part for part in document["event"]["measurements"] if "k" in part)
    wrong: list[object] = [[], "many", 10**30, None]
    for value in wrong:
        part["k"] = value
        (folder / "release.json").write_text(json.dumps(document), encoding="utf-8")
        assert failed(folder)
    for value in [float("inf"), 10**400]:
        part["k"] = value
        (folder / "release.json").write_text(json.dumps(document), encoding="utf-8")
        with pytest.raises(InputError, match="is no JSON"):
            verify_people(folder)


def test_what_a_report_leaves_out_is_a_failed_check(tmp_path: Path) -> None:
    folder = make(tmp_path, PLANS["anonymize"])
    document = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    for key in ("confidential", "title", "files", "columns"):
        left = {name: value for name, value in document.items() if name != key}
        (folder / "release.json").write_text(json.dumps(left), encoding="utf-8")
        assert failed(folder)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    folder = make(tmp_path, PLANS["anonymize"])
    name = json.loads((folder / "release.json").read_text(encoding="utf-8"))["files"][0]["name"]
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert {f"file {name}", "published", "models", "attacks"} <= failed(folder)
    (folder / "release.json").unlink()
    os.mkfifo(folder / "release.json")
    with pytest.raises(InputError):
        verify_people(folder)


def test_what_a_report_says_reaches_no_terminal_as_commands(tmp_path: Path) -> None:
    folder = make(tmp_path, PLANS["anonymize"])
    document = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    document["models"][0]["english"] = "\x1b[2J"
    (folder / "release.json").write_text(json.dumps(document), encoding="utf-8")
    told = [check for check in verify_people(folder) if check.name == "models"]
    assert told[0].outcome == "failed"
    assert "\x1b" not in told[0].english
