"""Folders that the first edition made are still sound: what changed since is how pages are worded, and that is said.

The three folders were written by version 0.1.0, as it was before anything of 0.2.0, from invented people and firms.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sudare import __version__
from sudare.releases.registry import verify_folder

FOLDERS = Path(__file__).parent / "made_by_0_1_0"
KINDS = ("counts", "records", "tables")


@pytest.fixture(params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of a folder that version 0.1.0 made."""
    copy = Path(shutil.copytree(FOLDERS / request.param, tmp_path / request.param))
    for path in copy.glob("confidential*"):
        path.chmod(0o600)  # as it was made; repositories do not keep permissions
    return copy


def document_of(folder: Path) -> Path:
    (found,) = [path for path in folder.iterdir() if path.name in ("release.json", "report.json")]
    return found


def outcomes(folder: Path) -> dict[str, str]:
    return {check.name: check.outcome for check in verify_folder(folder)}


def test_it_verifies_and_says_that_its_page_was_not_compared(folder: Path) -> None:
    checks = verify_folder(folder)
    assert not [check for check in checks if check.outcome == "failed"]
    (page,) = [check for check in checks if check.name == "page"]
    assert page.outcome == "skipped"
    for sentence in (page.english, page.japanese):
        assert "sudare 0.1.0" in sentence
        assert f"sudare {__version__}" in sentence


def test_its_page_would_fail_if_this_version_had_made_it(folder: Path) -> None:
    """The comparison that is left out is one that tells pages apart: the words of 0.1.0 are others."""
    document = json.loads(document_of(folder).read_text(encoding="utf-8"))
    document["versions"]["sudare"] = __version__
    document_of(folder).write_text(json.dumps(document), encoding="utf-8")
    is_compared = document_of(folder).name == "report.json"  # of counts, the form of the page changed, too
    assert outcomes(folder)["page"] == ("failed" if is_compared else "skipped")


def test_what_its_document_does_not_list_is_found(folder: Path) -> None:
    (folder / "names.csv").write_text("name\n", encoding="utf-8")
    assert outcomes(folder)["page"] == "failed"


def test_a_changed_file_is_found(folder: Path) -> None:
    (published,) = folder.glob("[pt]*.csv")
    published.write_bytes(published.read_bytes().replace(b"e", b"a", 1))
    assert outcomes(folder)[f"file {published.name}"] == "failed"
