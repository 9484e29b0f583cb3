"""The pages and their addresses, behind the guard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sudare.web.context import PageContext
from sudare.web.guard import Guard, Keys
from sudare.web.pages.drafts import make_plan, show_draft
from sudare.web.pages.home import open_example, show_home, take_upload
from sudare.web.pages.jobs import show_job, stream_job
from sudare.web.pages.ledgers import show_ledgers
from sudare.web.pages.plans import run_plan_file, show_curves, show_plan, show_point
from sudare.web.pages.releases import attack_release, give_file, show_release, verify_release_folder
from sudare.web.workspace import WorkFolder

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["local_application"]

STATIC = Path(__file__).parent / "static"


def local_application(folder: Path, keys: Keys, port: int) -> ASGIApp:
    """The page for a folder.

    Args:
        folder: that it works in.
        keys: who may speak to it.
        port: that it will listen on.
    """
    pages = Starlette(
        routes=[
            Route("/", show_home),
            Route("/examples", open_example, methods=["POST"]),
            Route("/files/{name}", take_upload, methods=["PUT"]),
            Route("/draft", show_draft),
            Route("/draft", make_plan, methods=["POST"]),
            Route("/plan", show_plan),
            Route("/plan/curves", show_curves),
            Route("/plan/point", show_point),
            Route("/plan/run", run_plan_file, methods=["POST"]),
            Route("/job/{name}", show_job),
            Route("/job/{name}/events", stream_job),
            Route("/release", show_release),
            Route("/release/file", give_file),
            Route("/release/verify", verify_release_folder, methods=["POST"]),
            Route("/release/attack", attack_release, methods=["POST"]),
            Route("/ledgers", show_ledgers),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
    )
    pages.state.context = PageContext(workspace=WorkFolder(folder))
    return Guard(pages, keys=keys, port=port)
