"""Folders are checked without the data and without a solver; whatever was changed in them is found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sudare.errors import InputError
from sudare.releases.kinds.tables import read_table_plan, run_table_plan, verify_protected
from sudare.releases.kinds.tables.confidential import CERTIFICATE, CONFIDENTIAL
from tests.unit.releases.kinds.tables.firms import build_firms


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("firms")
    run_table_plan(read_table_plan(build_firms(folder), folder / "out"))
    return folder / "out"


@pytest.fixture
def out(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "out")
    return tmp_path / "out"


def outcomes(folder: Path) -> dict[str, str]:
    return {check.name: check.outcome for check in verify_protected(folder)}


def test_sound(out: Path) -> None:
    assert outcomes(out) == dict.fromkeys(["file table.csv", "tables", "page", "confidential", "certificate"], "passed")


def test_what_is_published(out: Path) -> None:
    for path in out.glob("confidential*"):
        path.unlink()
    found = outcomes(out)
    assert found["confidential"] == found["certificate"] == "skipped"
    assert "failed" not in found.values()


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_changed_value(out: Path) -> None:
    change(out / "table.csv", "46168", "46169")
    found = outcomes(out)
    assert found["file table.csv"] == found["tables"] == found["page"] == "failed"


def test_a_value_that_was_shown_later(out: Path) -> None:
    lines = (out / "table.csv").read_text(encoding="utf-8")
    line = next(one for one in lines.splitlines() if one.endswith(",,hidden"))
    change(out / "table.csv", line, line.replace(",,hidden", ",7,published"))
    assert outcomes(out)["tables"] == "failed"
    assert outcomes(out)["certificate"] == "failed"


def test_a_changed_report(out: Path) -> None:
    change(out / "release.json", "invented country", "real country")
    found = outcomes(out)
    assert found["page"] == found["confidential"] == "failed"


@pytest.mark.parametrize("name", ["release.html"])
def test_a_changed_page(out: Path, name: str) -> None:
    change(out / name, "Every value that is shown is exact", "Nothing is exact")
    assert outcomes(out)["page"] == "failed"


def test_another_file(out: Path) -> None:
    (out / "more.csv").write_text("x")
    assert outcomes(out)["page"] == "failed"


def test_a_missing_table(out: Path) -> None:
    (out / "table.csv").unlink()
    found = outcomes(out)
    assert found["file table.csv"] == found["tables"] == found["certificate"] == "failed"


def test_a_changed_certificate(out: Path) -> None:
    certificate = json.loads((out / CERTIFICATE).read_text(encoding="utf-8"))
    certificate["witnesses"][0][1][0] += 1
    (out / CERTIFICATE).write_text(json.dumps(certificate), encoding="utf-8")
    assert outcomes(out)["certificate"] == "failed"


def test_a_certificate_of_other_levels(out: Path) -> None:
    """The levels come from the holder's file, not from the certificate: higher ones are not proved."""
    own = json.loads((out / CONFIDENTIAL).read_text(encoding="utf-8"))
    own["requirements"][0][2] *= 1000
    (out / CONFIDENTIAL).write_text(json.dumps(own), encoding="utf-8")
    assert outcomes(out)["certificate"] == "failed"


def test_confidential_files_that_others_can_read(out: Path) -> None:
    (out / CONFIDENTIAL).chmod(0o644)
    assert outcomes(out)["confidential"] == "failed"


@pytest.mark.parametrize("text", ["", "{}", '{"format": "sudare-people/1"}'])
def test_no_such_folder(tmp_path: Path, text: str) -> None:
    (tmp_path / "release.json").write_text(text)
    with pytest.raises(InputError, match=r"release\.json"):
        verify_protected(tmp_path)


@pytest.mark.parametrize("key", ["files", "tables", "dimensions", "value", "method", "versions", "settings"])
@pytest.mark.parametrize("value", [None, [1], {"a": 1}])
def test_hostile_reports(out: Path, key: str, value: object) -> None:
    """A report may hold anything: a check fails, and nothing else happens."""
    report = json.loads((out / "release.json").read_text(encoding="utf-8"))
    report[key] = value
    (out / "release.json").write_text(json.dumps(report), encoding="utf-8")
    assert key == "settings" or "failed" in outcomes(out).values()


def test_reports_that_lack_something(out: Path) -> None:
    whole = json.loads((out / "release.json").read_text(encoding="utf-8"))
    for key in set(whole) - {"format"}:
        report = {name: value for name, value in whole.items() if name != key}
        (out / "release.json").write_text(json.dumps(report), encoding="utf-8")
        assert "failed" in outcomes(out).values(), key
