"""Verification finds whatever was changed after a release."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sudare.errors import InputError
from sudare.releases.kinds.counts import Check, read_document, read_published_table, run_release, verify_release
from tests.unit.releases.kinds.counts.offices import open_office


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    return run_release(open_office(tmp_path)).folder


def failed(folder: Path, ledger: str | None = None) -> list[str]:
    checks: list[Check] = verify_release(folder, ledger)
    assert all(check.english and check.japanese for check in checks)
    return [check.name for check in checks if check.outcome == "failed"]


def change(folder: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    document = read_document(folder)
    edit(document)
    (folder / "release.json").write_text(json.dumps(document), encoding="utf-8")


def test_a_sound_release(folder: Path) -> None:
    assert failed(folder) == []
    assert [check.outcome for check in verify_release(folder) if check.name == "ledger"] == ["skipped"]
    assert failed(folder, str(folder.parent / "budget.db")) == []


def test_a_changed_count(folder: Path) -> None:
    lines = (folder / "table.csv").read_text().splitlines()
    lines[1] = lines[1].rsplit(",", 1)[0] + ",99999"
    (folder / "table.csv").write_text("\n".join(lines) + "\n")
    assert set(failed(folder)) == {"file table.csv", "counts"}


def test_a_negative_count(folder: Path) -> None:
    lines = (folder / "table.csv").read_text().splitlines()
    lines[1] = lines[1].rsplit(",", 1)[0] + ",-1"
    (folder / "table.csv").write_text("\n".join(lines) + "\n")
    assert "counts" in failed(folder)


def test_a_missing_file(folder: Path) -> None:
    (folder / "table.csv").unlink()
    assert "file table.csv" in failed(folder)


def test_a_changed_page(folder: Path) -> None:
    page = folder / "release.html"
    page.write_text(page.read_text(encoding="utf-8").replace("epsilon", "omega"), encoding="utf-8")
    assert failed(folder) == ["page"]
    page.unlink()
    assert failed(folder) == ["page"]


def test_a_page_of_an_earlier_version_is_not_compared(folder: Path) -> None:
    """Documents had neither a form of the page nor words in both languages."""

    def as_it_was(document: dict[str, Any]) -> None:
        del document["page_format"]
        if document["plan"] is not None:
            del document["plan"]["reasons_in_words"]
            for item in (*document["plan"]["levels"], *document["plan"]["alternatives"]):
                del item["words"]

    change(folder, as_it_was)
    (folder / "release.html").write_text("another page", encoding="utf-8")
    assert failed(folder) == []
    assert [check.outcome for check in verify_release(folder) if check.name == "page"] == ["skipped"]


def test_a_file_that_does_not_belong_there(folder: Path) -> None:
    (folder / "true\x1b[31m.csv").write_text("1")
    assert failed(folder) == ["page"]
    assert not any("\x1b" in check.english for check in verify_release(folder))


@pytest.mark.parametrize("edit", [{"files": 3}, {"domain": None}, {"files": []}, {"domain": {"attributes": [{}]}}])
def test_tables_of_damaged_documents(folder: Path, edit: dict[str, Any]) -> None:
    change(folder, lambda document: document.update(edit))
    with pytest.raises(InputError, match="sudare verify"):
        read_published_table(folder)


EDITS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a smaller cost": (lambda d: d["event"]["cost"].update(epsilon="1/2"), "cost"),
    "hidden invariants": (lambda d: d["event"].update(invariants=["total"]), "cost"),
    "research noise": (lambda d: d["event"].update(entropy="research"), "cost"),
    "another total": (lambda d: d["published"].update(total=d["published"]["total"] + 1), "counts"),
    "another domain": (lambda d: d["domain"]["attributes"][0].update(window=[0, 0, 4, 4]), "counts"),
    "no files": (lambda d: d.update(files=[]), "files"),
    "no event": (lambda d: d.pop("event"), "cost"),
    "a path upwards": (lambda d: d["files"][0].update(name="../plan.toml"), "file ../plan.toml"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_changed_document(folder: Path, edit: str) -> None:
    how, check = EDITS[edit]
    change(folder, how)
    assert check in failed(folder)
    assert "ledger" in failed(folder, str(folder.parent / "budget.db"))


def test_a_release_that_the_ledger_does_not_know(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    open_office(elsewhere)
    assert failed(folder, str(elsewhere / "budget.db")) == ["ledger"]


def test_what_is_no_release(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no release folder"):
        verify_release(tmp_path)
    (tmp_path / "release.json").write_text('{"format": "sudare-release/9"}')
    with pytest.raises(InputError, match="format"):
        verify_release(tmp_path)
