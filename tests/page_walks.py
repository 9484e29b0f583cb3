"""Walks through the local page in a real browser: what was asked of other hosts, what a policy stopped, what axe finds.

A journey opens a `PageVisit`, goes by keyboard where people go, and calls `examine` where it rests::

    with serve_folder(tmp_path) as address:
        site = enter(browser, address)
        with visit(browser, site, View("ja", 390, "dark")) as walk:
            walk.press("a[href='/ledgers']", "svg.timeline")
            walk.examine()
            walk.require_clean()
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import pytest

from tests.browser import find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["VIEWS", "PageSite", "PageVisit", "View", "enter", "open_playwright", "serve_folder", "visit"]

SECONDS = 20
MAX_TABS = 250
"""Presses of the Tab key after which something counts as out of reach."""
WIDTHS = {1280: 900, 390: 844}
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
OWN_SCHEMES = ("data", "blob", "about")


@dataclass(frozen=True)
class View:
    """Who looks: a language, the width of a window, and a colour scheme."""

    language: Literal["en", "ja"] = "en"
    width: int = 1280
    scheme: Literal["light", "dark"] = "light"

    def __str__(self) -> str:
        return f"{self.language}-{self.width}-{self.scheme}"


VIEWS = tuple(
    View(language, width, scheme)  # type: ignore[arg-type]
    for language, width, scheme in product(("en", "ja"), WIDTHS, ("light", "dark"))
)


@dataclass(frozen=True)
class PageSite:
    """Where a page is served, to whom it knows already.

    Attributes:
        root: its address.
        session: that its one-time token was exchanged for.
    """

    root: str
    session: Any


@dataclass
class PageVisit:
    """One visit.

    Attributes:
        page: of the browser.
        root: where the page is served.
        view: who looks.
        foreign: requests to other hosts.
        violations: of the content security policy.
        errors: that the console or the scripts told.
        found: what axe found, and what sticks out of the window.
        pressed: how many links and buttons were pressed.
        refused: how many requests of the journey are refused on purpose, which the console tells as errors.
    """

    page: Page
    root: str
    view: View
    foreign: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    pressed: int = 0
    refused: int = 0

    def reach(self, selector: str, *, most: int = MAX_TABS) -> None:
        """Go on with the Tab key until the first element of a selector has the focus.

        Raises:
            AssertionError: if it is not reached, or the focus cannot be seen.
        """
        # Until its style sheets are there nobody sees a page, and fields still move.
        self.page.wait_for_load_state("load")
        wanted = self.page.locator(selector).first.element_handle()
        for _ in range(most):
            if self.page.evaluate("wanted => document.activeElement === wanted", wanted):
                assert self.page.evaluate(FOCUS_IS_SEEN), f"the focus on {selector} cannot be seen"
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{selector} is not reached by the Tab key at {self.page.url}")

    def press(self, selector: str, ready: str, *, key: str = "Enter") -> None:
        """Press a link or a button by keyboard, and wait for what it leads to."""
        self.reach(selector)
        self.page.keyboard.press(key)
        self.pressed += 1
        self.page.wait_for_selector(ready, state="attached")

    def write(self, selector: str, text: str) -> None:
        """Type a text in place of what a field has."""
        self.reach(selector)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)

    def choose(self, selector: str, value: str) -> None:
        """Choose a value of a list by its arrow keys."""
        self.reach(selector)
        chosen = self.page.locator(selector).first
        self.page.keyboard.press("Home")
        while chosen.input_value() != value:
            before = chosen.input_value()
            self.page.keyboard.press("ArrowDown")
            assert chosen.input_value() != before, f"{selector} has no {value}"

    def address(self, path: str) -> str:
        """The whole address of a page."""
        return f"{self.root}{path}"

    def examine(self) -> None:
        """Let axe look at the page as it is now, and see whether anything sticks out of the window."""
        self.page.wait_for_load_state("load")  # with its style sheets, of which contrasts and sizes are made
        here = urlsplit(self.page.url).path
        result = self._axe()
        for rule in result["violations"]:
            where = "; ".join(" ".join(map(str, node["target"])) for node in rule["nodes"][:3])
            self.found.append(f"{self.view} {here}: {rule['id']} ({rule['help']}) at {where}")
        wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if wide > 0:
            self.found.append(f"{self.view} {here}: {wide} pixels wider than the window")
        if self.page.evaluate("document.documentElement.lang") != self.view.language:
            self.found.append(f"{self.view} {here}: in another language")

    def _axe(self) -> Any:
        """Run axe in a world of its own, which the policy of the page says nothing about."""
        session = self.page.context.new_cdp_session(self.page)
        try:
            tree = session.send("Page.getFrameTree")
            world = session.send("Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"]})
            place = world["executionContextId"]
            session.send("Runtime.evaluate", {"expression": _axe_source(), "contextId": place})
            rules = json.dumps({"runOnly": RULES, "resultTypes": ["violations"]})
            answer = session.send(
                "Runtime.evaluate",
                {
                    "expression": f"axe.run(document, {rules}).then(JSON.stringify)",
                    "contextId": place,
                    "awaitPromise": True,
                    "returnByValue": True,
                },
            )
        finally:
            session.detach()
        return json.loads(answer["result"]["value"])

    def require_clean(self) -> None:
        """Fail if anything was found on the way."""
        assert not self.foreign, self.foreign
        assert not self.violations, self.violations
        others = [error for error in self.errors if "status of 400" not in error]
        assert not others, others
        assert len(self.errors) <= self.refused, self.errors
        assert not self.found, "\n".join(self.found)


FOCUS_IS_SEEN = """() => {
    const style = getComputedStyle(document.activeElement), box = document.activeElement.getBoundingClientRect();
    const inside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
    return inside && document.activeElement.matches(":focus-visible") && style.outlineStyle !== "none";
}"""


def _axe_source() -> str:
    axe = pytest.importorskip("axe_playwright_python", reason="axe is not installed (pip install 'sudare[test]')")
    return (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


@contextmanager
def open_playwright() -> Iterator[Browser]:
    """The system's Chromium, driven by Playwright."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """The real command for a folder; gives the address with its token, and ends the process by its id."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "sudare", "--json", "ui", str(folder), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    ) as process:
        try:
            yield read_address(process)
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()


def read_address(process: subprocess.Popen[str]) -> str:
    """The address that a page which was just started prints."""
    assert process.stdout is not None
    text = ""
    for line in process.stdout:
        text += line
        if "token=" in line:
            return str(json.loads(line)["address"])
    raise AssertionError(f"the page did not start: {text}")


def enter(browser: Browser, address: str) -> PageSite:
    """Open an address with its token, which is used up by it, and keep the session."""
    parts = urlsplit(address)
    context = browser.new_context()
    context.new_page().goto(address)
    session = context.storage_state()
    context.close()
    return PageSite(f"{parts.scheme}://{parts.netloc}", session)


@contextmanager
def visit(browser: Browser, site: PageSite, view: View) -> Iterator[PageVisit]:
    """A visit to the first page of a site, in a window of its own."""
    host = urlsplit(site.root).netloc
    size = {"width": view.width, "height": WIDTHS[view.width]}
    context = browser.new_context(
        viewport=size,  # type: ignore[arg-type]
        color_scheme=view.scheme,
        locale={"en": "en-GB", "ja": "ja-JP"}[view.language],
        reduced_motion="reduce",
        storage_state=site.session,
    )
    context.set_default_timeout(SECONDS * 1000)
    page = context.new_page()
    walk = PageVisit(page=page, root=site.root, view=view)

    def asked(request: Any) -> None:
        to = urlsplit(request.url)
        if to.scheme not in OWN_SCHEMES and to.netloc != host:
            walk.foreign.append(request.url)

    def told(message: Any) -> None:
        if "Content Security Policy" in message.text:
            walk.violations.append(message.text)
        elif message.type == "error":
            walk.errors.append(message.text)

    context.on("request", asked)
    page.on("console", told)
    page.on("pageerror", lambda error: walk.errors.append(str(error)))
    try:
        page.goto(walk.address("/"))
        yield walk
    finally:
        context.close()
