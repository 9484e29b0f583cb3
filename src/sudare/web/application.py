"""The pages and their addresses, behind the guard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from sudare.web.context import PageContext
from sudare.web.guard import Guard, Keys
from sudare.web.later_pages import LaterPages
from sudare.web.pages import home, jobs
from sudare.web.workspace import WorkFolder

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["local_application"]

STATIC = Path(__file__).parent / "static"
FIRST = (home, jobs)
LATER = ("guide", "drafts", "plans", "releases", "maps", "ledgers", "ways", "tables", "records", "queries", "series")
"""Each states its own addresses. What the first page does not need is loaded while somebody looks at it."""


def local_application(folder: Path, keys: Keys, port: int, *, loads_ahead: bool = False) -> ASGIApp:
    """The page for a folder.

    Args:
        folder: that it works in.
        keys: who may speak to it.
        port: that it will listen on.
        loads_ahead: whether all pages are loaded soon, rather than when they are asked for.
    """
    routes = (route for part in FIRST for route in part.ROUTES)
    later = LaterPages(LATER)
    pages = Starlette(routes=[*routes, Mount("/static", StaticFiles(directory=STATIC)), Mount("/", later)])
    if loads_ahead:
        later.load_ahead()
    pages.state.context = PageContext(workspace=WorkFolder(folder))
    return Guard(pages, keys=keys, port=port)
