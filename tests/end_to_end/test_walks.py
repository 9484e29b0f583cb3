"""The walks of ARCHITECTURE.md are those that a trace of the commands shows."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.test_release_kinds import build_counts, build_records, build_tables
from tests.unit.releases.kinds.series.crowds import build_series

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
BUILDERS: dict[str, Callable[[Path], Path]] = {
    "counts": build_counts,
    "records": build_records,
    "tables": build_tables,
    "series": lambda folder: build_series(folder).file,
}
OPTIONS = {"counts": ("--yes",), "series": ("--yes", "--at", "2026-11-16T00:00")}


def walk_of(kind: str) -> list[str]:
    """The modules, or packages, that the page lists for a kind, in order."""
    paragraph = re.search(rf"^\*\*{kind}\*\* (.*?)\n\n", PAGE, re.M | re.S)
    assert paragraph is not None
    paths = re.findall(r"\[`([\w/]+?)(?:\.py|/)`\]", paragraph.group(1))
    return [f"sudare.{path.replace('/', '.')}" for path in paths]


def trace(*arguments: str) -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.walks", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    walk: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return walk


@pytest.mark.parametrize("kind", BUILDERS)
def test_a_release_walks_as_the_page_says(tmp_path: Path, kind: str) -> None:
    listed = walk_of(kind)
    assert len(listed) >= 4
    walk = trace("run", str(BUILDERS[kind](tmp_path)), *OPTIONS.get(kind, ()))
    steps = walk["steps"]
    first = [
        next((place for place, step in enumerate(steps) if f"{step}.".startswith(f"{one}.")), None) for one in listed
    ]
    assert None not in first, [one for one, place in zip(listed, first, strict=True) if place is None]
    # Staging and pages are also asked before, whether a target is free; rooms of methods and steps read their part of the plan.
    asked_before = ("sudare.storage.staging", *(one for one in listed if one not in steps or one.endswith(".page")))
    in_order = [
        place for one, place in zip(listed, first, strict=True) if place is not None and one not in asked_before
    ]
    assert in_order == sorted(in_order), [one.removeprefix("sudare.") for one in listed]
    assert walk["openings"] == 1, "the ledger is opened once"
    assert not [
        name for name in walk["while_reading"] if name.endswith((".planner", ".map_planning", ".weight_search"))
    ]
