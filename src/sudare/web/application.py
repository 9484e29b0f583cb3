"""The pages and their addresses, behind the guard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from sudare.web.context import PageContext
from sudare.web.guard import Guard, Keys
from sudare.web.pages import (
    drafts,
    guide,
    home,
    jobs,
    ledgers,
    maps,
    plans,
    queries,
    records,
    releases,
    series,
    tables,
    ways,
)
from sudare.web.workspace import WorkFolder

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["local_application"]

STATIC = Path(__file__).parent / "static"
PARTS = (home, guide, drafts, plans, jobs, releases, maps, ledgers, ways, tables, records, queries, series)
"""Each states its own addresses."""


def local_application(folder: Path, keys: Keys, port: int) -> ASGIApp:
    """The page for a folder.

    Args:
        folder: that it works in.
        keys: who may speak to it.
        port: that it will listen on.
    """
    routes = (route for part in PARTS for route in part.ROUTES)
    pages = Starlette(routes=[*routes, Mount("/static", StaticFiles(directory=STATIC))])
    pages.state.context = PageContext(workspace=WorkFolder(folder))
    return Guard(pages, keys=keys, port=port)
