"""A real browser that is started once, and shows one page after the other.

It is spoken to through a pair of pipes (its DevTools protocol), so no port is opened.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

__all__ = ["BROWSERS", "Browser", "Page", "close_browser", "find_chromium", "open_browser"]

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 60
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--hide-scrollbars",
    "--allow-file-access-from-files",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)

START = """
import fcntl, os, sys
given = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
for number, wanted in zip(given, (3, 4)):
    os.dup2(number, wanted)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""A browser reads from 3 and writes to 4, whatever numbers the pipes have here."""

_open: list[Browser] = []


def open_browser() -> Browser:
    """The browser of this process, which is started the first time; skips the test where there is none."""
    if not _open:
        _open.append(Browser(find_chromium()))
    return _open[0]


def find_chromium() -> str:
    """The browser of this system; skips the test where there is none."""
    program = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"no browser found: none of {', '.join(BROWSERS)} is installed")
    return program


def close_browser() -> None:
    """At the end of a session."""
    while _open:
        _open.pop().close()


class Browser:
    """A browser without a window.

    Args:
        program: its path.
    """

    def __init__(self, program: str) -> None:
        self._profile = tempfile.mkdtemp(prefix="sudare-browser-")
        theirs_in, self._write = os.pipe()
        self._read, theirs_out = os.pipe()
        started = [sys.executable, "-c", START, str(theirs_in), str(theirs_out), program]
        self._process = subprocess.Popen(
            [*started, *OPTIONS, f"--user-data-dir={self._profile}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs_in, theirs_out),
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._numbers = count(1)
        self._rest = b""

    def close(self) -> None:
        """End it, by its own process id if it does not end itself."""
        os.close(self._write)
        os.close(self._read)
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(timeout=SECONDS)
        shutil.rmtree(self._profile, ignore_errors=True)

    @contextmanager
    def page(self, address: str, width: int, height: int) -> Iterator[Page]:
        """A page that has been loaded, in a view of some size."""
        # A context of its own: nothing that one page leaves is there for the next.
        context = self.call("Target.createBrowserContext")["browserContextId"]
        try:
            target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
            session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            self.call("Emulation.setDeviceMetricsOverride", session, **size)
            self.call("Page.enable", session)
            self.call("Page.navigate", session, url=address)
            self._until(lambda told: told.get("method") == "Page.loadEventFired" and told.get("sessionId") == session)
            yield Page(self, session)
        finally:
            self.call("Target.disposeBrowserContext", browserContextId=context)

    def call(self, method: str, session: str | None = None, **parameters: Any) -> Any:
        """What the browser answers to a command of its protocol."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        answer = self._until(lambda told: told.get("id") == number)
        assert "error" not in answer, answer
        return answer["result"]

    def _until(self, wanted: Any) -> Any:
        deadline = time.monotonic() + SECONDS
        while True:
            while b"\0" in self._rest:
                first, _, self._rest = self._rest.partition(b"\0")
                told = json.loads(first)
                if wanted(told):
                    return told
            ready, _, _ = select.select([self._read], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                pytest.fail(f"the browser did not answer within {SECONDS} seconds")
            more = os.read(self._read, 1 << 16)
            assert more, "the browser ended"
            self._rest += more


class Page:
    """A page that is shown."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session

    def text(self) -> str:
        """The page as it is now, with what its scripts made of it."""
        expression = "document.documentElement.outerHTML"
        found = self._browser.call("Runtime.evaluate", self._session, expression=expression, returnByValue=True)
        return str(found["result"]["value"])

    def fonts(self, selector: str) -> dict[str, int]:
        """The fonts that were taken for what a selector finds, with how many letters each has drawn."""
        call, session = self._browser.call, self._session
        call("DOM.enable", session)
        call("CSS.enable", session)
        root = call("DOM.getDocument", session, depth=0)["root"]["nodeId"]
        found: dict[str, int] = {}
        for node in call("DOM.querySelectorAll", session, nodeId=root, selector=selector)["nodeIds"]:
            for font in call("CSS.getPlatformFontsForNode", session, nodeId=node)["fonts"]:
                found[font["familyName"]] = found.get(font["familyName"], 0) + round(font["glyphCount"])
        return found

    def picture(self, path: Path) -> None:
        """Write what is seen into a PNG file."""
        found = self._browser.call("Page.captureScreenshot", self._session, format="png")
        path.write_bytes(base64.b64decode(found["data"]))
