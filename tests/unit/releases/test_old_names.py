"""Folders of records and of protected tables whose documents are called ``report.json``, as they were made before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sudare.errors import InputError
from sudare.examination.subjects import open_subject
from sudare.ledger import open_ledger
from sudare.ledger.entries import Settled
from sudare.releases.registry import find_kind_of_folder, run_plan, verify_folder
from sudare.storage.hashes import hash_of_file
from sudare.storage.staging import document_in, page_beside
from tests.contracts.test_release_kinds import NOTED, PAID, Case, account, each

PRICED = {"records with a price": PAID["records with a price"]}
NAMES = {"release.json": "report.json", "release.html": "report.html"}


def make_old(folder: Path) -> Path:
    """Name everything in a folder as it was named before; documents themselves never held their names."""
    assert b"release.json" not in (folder / "release.json").read_bytes()
    for name, old in NAMES.items():
        (folder / name).rename(folder / old)
    for page in folder.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        for name, old in NAMES.items():
            text = text.replace(name, old)
        page.write_bytes(text.encode())
    return folder


@each(PRICED | NOTED)
def test_verified_and_examined(tmp_path: Path, case: Case) -> None:
    new = run_plan(case.build(tmp_path)).folder
    subject = open_subject(new)
    old = make_old(new)
    assert find_kind_of_folder(old).name == case.kind
    checks = verify_folder(old, str(tmp_path / "budget.db"))
    assert [check for check in checks if check.outcome == "failed"] == []
    assert "page" in [check.name for check in checks if check.outcome == "passed"]
    was = open_subject(old)
    assert (was.kind, was.document_sha256, was.document) == (subject.kind, subject.document_sha256, subject.document)


@each(PRICED | NOTED)
def test_changes_are_found(tmp_path: Path, case: Case) -> None:
    old = make_old(run_plan(case.build(tmp_path)).folder)
    page = old / "report.html"
    whole = page.read_text(encoding="utf-8")
    page.write_text(whole + "<!-- -->", encoding="utf-8")
    failed = [check for check in verify_folder(old) if check.outcome == "failed"]
    assert [check.name for check in failed] == ["page"]
    assert "report.html" in failed[0].english
    page.unlink()
    with pytest.raises(InputError, match=r"report\.html is missing"):
        open_subject(old)


@each(PRICED | NOTED)
def test_a_folder_with_both_names_is_not_sound(tmp_path: Path, case: Case) -> None:
    folder = run_plan(case.build(tmp_path)).folder
    (folder / "report.json").write_bytes((folder / "release.json").read_bytes())
    assert any(check.outcome == "failed" for check in verify_folder(folder))


@each(PRICED)
def test_found_as_made_before(tmp_path: Path, case: Case) -> None:
    plan = case.build(tmp_path)
    first = run_plan(plan)
    old = make_old(first.folder)
    again = run_plan(plan)
    assert again.is_repeated
    assert (again.folder, again.document["ledger"]) == (old, first.document["ledger"])
    assert account(tmp_path)[0] == ["reserve", "settle"]


@each(PRICED)
def test_one_that_was_never_shown_is_shown(tmp_path: Path, case: Case) -> None:
    plan = case.build(tmp_path)
    old = make_old(run_plan(plan).folder)
    digest = hash_of_file(old / "report.json")
    with open_ledger(tmp_path / "budget.db") as ledger:
        settled = [body for body in (entry.read() for entry in ledger.entries()) if isinstance(body, Settled)]
    old.rename(tmp_path / settled[0].result["made_in"])
    again = run_plan(plan)
    assert again.is_repeated
    assert hash_of_file(again.folder / "report.json") == digest
    assert account(tmp_path)[0] == ["reserve", "settle"]


@each(NOTED)
def test_attacked_with_what_comes_after(tmp_path: Path, case: Case) -> None:
    plan = case.build(tmp_path)
    make_old(run_plan(plan, folder=tmp_path / "before").folder)
    made: Any = run_plan(plan)
    assert made.lost == ()
    assert "earlier" in [report.attack for report in made.attacks]


def test_names(tmp_path: Path) -> None:
    assert document_in(tmp_path).name == "release.json"
    (tmp_path / "report.json").touch()
    assert [one.name for one in (document_in(tmp_path), page_beside(document_in(tmp_path)))] == [
        "report.json",
        "report.html",
    ]
    (tmp_path / "release.json").touch()
    assert [one.name for one in (document_in(tmp_path), page_beside(document_in(tmp_path)))] == [
        "release.json",
        "release.html",
    ]
