"""The local page in a real browser: from the opened page to a release, in every language, width and colour scheme."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sudare.ledger import open_ledger
from tests.page_walks import VIEWS, View, open_playwright, serve_folder, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.slow, pytest.mark.browser]

MAX_CLICKS, MAX_SECONDS = 5, 60
FIRST = View("ja", 390, "dark")
OTHERS = tuple(view for view in VIEWS if view != FIRST)
ROWS = 'person_id,性別,age,note\n1,女,3,a b\n2,男,70,"c""d"\n3,女,40,改\n'


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_playwright() as opened:
        yield opened


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    with serve_folder(tmp_path) as address:
        yield address


def _journey(browser: Browser, address: str, view: View, example: str) -> None:
    with visit(browser, address, view) as walk:
        page, began, clicks = walk.page, time.monotonic(), 0
        walk.examine()
        for selector, ready in (
            (f"form:has(input[value='{example}']) button", "body[data-ready]"),
            ("#ask", "dialog[open]"),
            ("#run button.main", "#verify"),
        ):
            page.click(selector)
            clicks += 1
            page.wait_for_selector(ready)
            if "/release" not in page.url:
                walk.examine()
        assert "/release?folder=" in page.url
        page.wait_for_selector("#map[data-level]")
        assert (clicks <= MAX_CLICKS, time.monotonic() - began <= MAX_SECONDS) == (True, True), clicks
        page.goto(walk.address("/"))
        walk.examine()
        page.goto(walk.address("/draft?file=people.csv"))
        walk.examine()
        page.click("#draft button.main")
        page.wait_for_selector("body[data-ready]")
        walk.examine()
        walk.require_clean()


def test_from_the_opened_page_to_a_release(browser: Browser, served: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(ROWS, encoding="utf-8")
    _journey(browser, served, FIRST, "invented-country")
    with open_ledger(tmp_path / "invented-country" / "budget.db") as ledger:
        assert str(ledger.dataset("invented-country").spent) == "epsilon = 0.5"


@pytest.mark.deep
@pytest.mark.parametrize("view", OTHERS, ids=str)
def test_every_page_on_the_way_is_sound_in_every_view(
    browser: Browser, served: str, tmp_path: Path, view: View
) -> None:
    (tmp_path / "people.csv").write_text(ROWS, encoding="utf-8")
    _journey(browser, served, view, "invented-country")


@pytest.mark.deep
@pytest.mark.parametrize("view", [View("en", 1280, "light"), FIRST], ids=str)
def test_the_guided_first_release(browser: Browser, served: str, view: View) -> None:
    with visit(browser, served, view) as walk:
        page, clicks, began = walk.page, 0, time.monotonic()
        for step, selector, ready in (
            (0, "form[action='/guide'] button", "#draft"),
            (2, "#draft button.main", "body[data-ready]"),
            (3, "#ask", "dialog[open]"),
            (3, "#run button.main", "#map[data-borders]"),
        ):
            walk.examine()
            assert page.locator(".guide li.past").count() == max(step - 1, 0)
            page.click(selector)
            clicks += 1
            page.wait_for_selector(ready)
        assert (clicks <= MAX_CLICKS, time.monotonic() - began <= MAX_SECONDS) == (True, True)
        assert page.get_attribute("#map", "data-borders") == "true"
        assert page.locator(".guide li.past").count() == 4
        page.click("#verify button")
        page.wait_for_selector("body[data-checked]")
        assert page.locator(".checks .good").count() == 2
        for choice in ("error", ""):
            page.select_option("#map-second", choice)
        walk.examine()
        page.click(".guide button")
        page.wait_for_selector("form[action='/guide']")
        assert page.locator(".guide").count() == 0
        walk.require_clean()


@pytest.mark.deep
@pytest.mark.parametrize("view", [View("en", 390, "light"), View("ja", 1280, "dark")], ids=str)
def test_invented_companies_from_the_cells_to_the_release(browser: Browser, served: str, view: View) -> None:
    with visit(browser, served, view) as walk:
        page = walk.page
        page.click("form:has(input[value='invented-companies']) button")
        page.click("form:has(input[name='cells']) button")
        page.wait_for_selector("td.primary")
        walk.examine()
        page.click("td.primary a >> nth=0")
        page.wait_for_selector("#cell-facts #cell")
        walk.examine()
        page.click("form[action='/plan/carry-out'] button.main")
        page.wait_for_selector("#verify")
        page.click("#verify button")
        page.wait_for_selector("body[data-checked]")
        walk.examine()
        walk.require_clean()


def test_the_walk_would_notice(browser: Browser, served: str) -> None:
    with visit(browser, served, FIRST) as walk:
        walk.page.evaluate(
            """async () => {
                document.querySelector("main").append(document.createElement("select"));
                document.querySelector("h1").style.width = "900px";
                const script = document.createElement("script");
                script.textContent = "window.bad = 1";
                document.body.append(script);
                await fetch("http://localhost:9/", {mode: "no-cors"}).catch(() => 0);
            }"""
        )
        walk.examine()
        assert any("select-name" in found for found in walk.found)
        assert any("wider than the window" in found for found in walk.found)
        assert len(walk.violations) >= 2, "an inline script and a foreign address"


def test_the_whole_way_by_keyboard(browser: Browser, served: str, tmp_path: Path) -> None:
    def go_to(selector: str) -> None:
        for _ in range(80):
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"{selector} is not reached by the Tab key")

    with visit(browser, served, FIRST) as walk:
        page = walk.page
        go_to("form:has(input[value='invented-survey']) button")
        page.keyboard.press("Enter")
        page.wait_for_selector("body[data-ready]")
        go_to("#slider")
        before = page.input_value("#value")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        assert float(page.input_value("#value")) < float(before)
        go_to("#ask")
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog[open]")
        go_to("#run button.main")
        page.keyboard.press("Enter")
        page.wait_for_selector("#verify")
        walk.require_clean()
