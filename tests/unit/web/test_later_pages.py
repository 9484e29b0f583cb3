"""The first page is there before the others are loaded, and all of them answer."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sudare.web import later_pages
from sudare.web.application import LATER
from sudare.web.later_pages import LaterPages
from tests.unit.web.asking import Asking

HEAVY = (
    "numpy",
    "pyarrow",
    "duckdb",
    "sudare.releases.kinds",
    "sudare.microdata",
    "sudare.disclosure",
    "sudare.tables",
)


def test_the_application_is_light() -> None:
    line = f"import sys, sudare.web.application; print([name for name in {HEAVY!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_every_part_is_loaded_once_with_all_its_addresses() -> None:
    pages = LaterPages(LATER)
    first = pages.load()
    assert pages.load() is first
    assert {"/draft", "/plan", "/release", "/tables", "/records", "/queries", "/series", "/ledgers"} <= {
        getattr(route, "path", "") for route in first.routes
    }


def test_parts_are_loaded_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(later_pages, "AHEAD", 0)
    loaded = threading.Event()
    pages = LaterPages(("ways",))
    monkeypatch.setattr(pages, "load", loaded.set)
    pages.load_ahead()
    assert loaded.wait(30)


def test_an_address_that_is_none_is_still_none(tmp_path: Path) -> None:
    asking = Asking(tmp_path)
    assert asking.get("/ledgers").status == 200
    assert asking.get("/no-such-page").status == 404
    assert asking.get("/draft/..%2f").status == 404
