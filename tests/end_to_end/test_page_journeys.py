"""The local page in a real browser: every journey by keyboard alone, in every language, width and colour scheme."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sudare.ledger import open_ledger
from tests.end_to_end.page_steps import JOURNEYS, MAX_PRESSED, MAX_SECONDS, fill_folder
from tests.page_walks import VIEWS, PageSite, View, enter, open_playwright, serve_folder, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.slow, pytest.mark.browser]

FIRST = {
    "counts": View("ja", 390, "dark"),
    "records": View("en", 390, "light"),
    "tables": View("ja", 1280, "dark"),
    "queries": View("en", 1280, "dark"),
    "series": View("ja", 390, "light"),
}
"""The view in which each journey is walked every time; in all others in depth."""

CHARGED = {
    "counts": ("invented-country", "epsilon = 0.5"),
    "queries": ("visits-sql", "epsilon = 0.5"),
    "series": ("flow", "rho = 0.5"),
}
"""Which folder has the ledger of a journey, and what was spent in it afterwards."""

OTHERS = [(journey, view) for view in VIEWS for journey in JOURNEYS if view != FIRST[journey]]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_playwright() as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("page")
    fill_folder(made)
    return made


@pytest.fixture(scope="module")
def site(browser: Browser, folder: Path) -> Iterator[PageSite]:
    """One process serves all journeys, as one page serves all windows that somebody opens."""
    with serve_folder(folder) as address:
        yield enter(browser, address)


def spent_in(folder: Path, place: str) -> set[str]:
    """What was spent, by the ledgers of all folders of a name."""
    found = set()
    for file in folder.glob(f"{place}*/budget.db"):
        with open_ledger(file) as ledger:
            found |= {str(dataset.spent) for dataset in ledger.datasets()}
    return found


@pytest.mark.parametrize("journey", JOURNEYS)
def test_every_journey_by_keyboard(browser: Browser, site: PageSite, folder: Path, journey: str) -> None:
    with visit(browser, site, FIRST[journey]) as walk:
        JOURNEYS[journey](walk)
        walk.require_clean()
    if journey in CHARGED:
        place, cost = CHARGED[journey]
        assert spent_in(folder, place) == {cost}, "every release is paid for, and once"


@pytest.mark.deep
@pytest.mark.parametrize(("journey", "view"), OTHERS, ids=str)
def test_every_journey_in_every_view(browser: Browser, site: PageSite, journey: str, view: View) -> None:
    with visit(browser, site, view) as walk:
        JOURNEYS[journey](walk)
        walk.require_clean()


@pytest.mark.deep
@pytest.mark.parametrize("view", [View("en", 1280, "light"), View("ja", 390, "dark")], ids=str)
def test_the_guided_first_release(browser: Browser, site: PageSite, view: View) -> None:
    with visit(browser, site, view) as walk:
        page, began = walk.page, time.monotonic()
        for step, selector, ready in (
            (0, "form[action='/guide'] button", "#draft"),
            (2, "#draft button.main", "body[data-ready]"),
            (3, "#ask", "dialog[open]"),
            (3, "#run button.main", "#map[data-borders]"),
        ):
            walk.examine()
            assert page.locator(".guide li.past").count() == max(step - 1, 0)
            walk.press(selector, ready)
        assert (walk.pressed <= MAX_PRESSED, time.monotonic() - began <= MAX_SECONDS) == (True, True)
        assert page.get_attribute("#map", "data-borders") == "true"
        assert page.locator(".guide li.past").count() == 4
        walk.press("#verify button", "body[data-checked]")
        assert page.locator(".checks .good").count() == 2
        for choice in ("error", ""):
            walk.choose("#map-second", choice)
        walk.examine()
        walk.press(".guide button", "form[action='/guide']")
        assert page.locator(".guide").count() == 0
        walk.require_clean()


def test_the_walk_would_notice(browser: Browser, site: PageSite) -> None:
    with visit(browser, site, FIRST["counts"]) as walk:
        walk.page.evaluate(
            """async () => {
                document.querySelector("main").append(document.createElement("select"));
                document.querySelector("h1").style.width = "900px";
                const script = document.createElement("script");
                script.textContent = "window.bad = 1";
                document.body.append(script);
                document.querySelector("nav a").tabIndex = -1;
                document.querySelector("#upload").style.outline = "none";
                await fetch("http://localhost:9/", {mode: "no-cors"}).catch(() => 0);
            }"""
        )
        walk.examine()
        assert any("select-name" in found for found in walk.found)
        assert any("wider than the window" in found for found in walk.found)
        assert len(walk.violations) >= 2, "an inline script and a foreign address"
        with pytest.raises(AssertionError, match="cannot be seen"):
            walk.reach("#upload")
        with pytest.raises(AssertionError, match="not reached"):
            walk.reach("nav a", most=20)
