"""Folders are told apart, and one that is not as it was made is not examined."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from sudare.errors import InputError
from sudare.examination import ChangedFolderError, open_subject
from tests.unit.examination.village import make_ledger, release


def report_folder(folder: Path, **values: Any) -> Path:
    folder.mkdir()
    (folder / "people.csv").write_text("age\n30\n")
    digest = sha256((folder / "people.csv").read_bytes()).hexdigest()
    report = {"format": "sudare-people/1", "title": "", "files": [{"name": "people.csv", "sha256": digest}], **values}
    (folder / "report.json").write_text(json.dumps(report))
    return folder


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({}, "people"),
        ({"event": {}}, "private-people"),
        ({"format": "sudare-protected-table/1"}, "protected-table"),
    ],
)
def test_reports_are_told_apart(tmp_path: Path, values: dict[str, Any], kind: str) -> None:
    folder = report_folder(tmp_path / "folder", **values)
    subject = open_subject(folder)
    assert subject.kind == kind
    assert (subject.name, subject.title) == ("folder", "folder")
    assert subject.document_sha256 == sha256((folder / "report.json").read_bytes()).hexdigest()


def test_what_is_none_of_them_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="neither release") as nothing:
        open_subject(tmp_path)
    assert not isinstance(nothing.value, ChangedFolderError)
    for text in (
        "no json",
        "[]",
        '{"format": "another/1", "files": []}',
        '{"format": "sudare-people/1"}',
        '{"format": "sudare-people/1", "files": []}',
    ):
        (tmp_path / "report.json").write_text(text)
        with pytest.raises(InputError, match="damaged"):
            open_subject(tmp_path)


def test_missing_and_changed_files_are_told(tmp_path: Path) -> None:
    folder = report_folder(tmp_path / "folder")
    (folder / "people.csv").write_text("age\n31\n")
    with pytest.raises(ChangedFolderError, match="the hash of people"):
        open_subject(folder)
    (folder / "people.csv").unlink()
    with pytest.raises(ChangedFolderError, match="is missing") as error:
        open_subject(folder)
    assert "people.csv" in error.value.japanese


def test_a_changed_release_is_told(tmp_path: Path) -> None:
    location = make_ledger(tmp_path)
    folder = release(tmp_path)
    assert open_subject(folder, location).kind == "private-table"
    table = folder / "table.csv"
    table.write_text(table.read_text() + '"F","0-19","shop",500\n')
    with pytest.raises(ChangedFolderError, match=r"not as it was released, .* table.csv was changed"):
        open_subject(folder)
