"""The version stands once in each distribution; whatever repeats it says the same."""

from __future__ import annotations

import datetime
import re
import tomllib
from pathlib import Path

import pytest

import sudare
import sudare_papers

ROOT = Path(__file__).parents[2]
HEADING = re.compile(r"## (\d+\.\d+\.\d+) - (\d{4}-\d{2}-\d{2})")


def test_both_distributions_have_one_version() -> None:
    assert sudare.__version__ == sudare_papers.__version__


@pytest.mark.parametrize(("folder", "module"), [(".", "sudare.version"), ("papers", "sudare_papers")])
def test_it_is_read_from_the_package(folder: str, module: str) -> None:
    settings = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in settings["project"]
    assert settings["project"]["dynamic"] == ["version"]
    assert settings["tool"]["setuptools"]["dynamic"]["version"] == {"attr": f"{module}.__version__"}


def test_the_newest_entry_of_the_changelog_and_the_citation_are_of_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## .*$", changelog, flags=re.MULTILINE)
    assert headings[0] == "## Unreleased"
    versions = [HEADING.fullmatch(heading) for heading in headings[1:]]
    assert all(versions), "a version and a date"
    found = [(tuple(map(int, one[1].split("."))), datetime.date.fromisoformat(one[2])) for one in versions if one]
    assert found == sorted(found, reverse=True)
    version, date = found[0]
    assert ".".join(map(str, version)) == sudare.__version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {sudare.__version__}\ndate-released: {date}\n" in citation
