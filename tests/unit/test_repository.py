"""What contributors find beside the code: it can be read, and says what the Makefile and the package say."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from sudare.version import __version__

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_run_make_targets_and_nothing_else(path: Path) -> None:
    jobs = read(path)["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    assert commands
    assert all(command.split()[0] == "make" and command.split()[1] in TARGETS for command in commands)
    assert all(job["timeout-minutes"] for job in jobs.values())


def test_hooks_run_what_lint_runs() -> None:
    (local,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    lint = re.search(r"^lint:.*\n\t(.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert lint is not None
    for hook in local["hooks"]:
        assert hook["entry"].split()[0] in lint.group(1), hook["id"]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_forms_can_be_read(path: Path) -> None:
    form = read(path)
    if path.name != "config.yml":
        fields = [part["attributes"]["label"] for part in form["body"] if part["type"] != "markdown"]
        assert form["name"]
        assert len(fields) == len(set(fields)) > 0


def test_the_citation_has_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    cited = read(ROOT / "CITATION.cff")
    assert cited["version"] == __version__
    assert cited["license"] == project["license"]
