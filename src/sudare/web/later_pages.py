"""Pages that are loaded after the first one: whoever starts `sudare ui` looks at the first page while the others are read in."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.routing import Router

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

__all__ = ["LaterPages"]

AHEAD = 0.8
"""Seconds that are left to the first page alone."""

PACKAGES = ("duckdb", "pyarrow.compute", "pyarrow.parquet", "llvmlite.binding", "numpy.ma")
"""What reading a table needs: it takes longer to load than the table to read."""


class LaterPages:
    """Pages of modules that are loaded when one of them is asked for, or ahead of that.

    Args:
        names: of modules in `sudare.web.pages`; each states its own addresses.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._router: Router | None = None
        self._lock = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        router = await run_in_threadpool(self.load) if self._router is None else self._router
        await router(scope, receive, send)

    def load(self) -> Router:
        """The pages; the first call takes as long as their modules do."""
        with self._lock:
            if self._router is None:
                parts = [import_module(f"sudare.web.pages.{name}") for name in self._names]
                self._router = Router(routes=[route for part in parts for route in part.ROUTES])
            return self._router

    def load_ahead(self) -> None:
        """Begin to load them, without keeping anybody waiting."""
        threading.Thread(target=self._load_soon, name="sudare-pages", daemon=True).start()

    def _load_soon(self) -> None:
        time.sleep(AHEAD)
        self.load()
        for name in PACKAGES:
            with suppress(ImportError):
                import_module(name)
