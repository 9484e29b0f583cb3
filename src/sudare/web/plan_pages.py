"""Which page shows a plan of which kind, and how any plan is carried out as work that goes on without the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from sudare.releases.registry import find_kind_of_plan
from sudare.web.command_lines import command_line
from sudare.web.context import PageContext, context_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from sudare.web.jobs import BackgroundJob

__all__ = ["PAGES", "page_of_kind", "start_plan"]

PAGES = {"tables": "/tables", "records": "/records", "series": "/series"}
"""The pages of the kinds that have one of their own."""


def page_of_kind(request: Request) -> str:
    """The address that shows the plan of a request; empty if its kind has no page of its own."""
    workspace = context_of(request).workspace
    file = workspace.place(request.query_params.get("file", ""))
    address = PAGES.get(find_kind_of_plan(file).name, "")
    return address and f"{address}?file={quote(workspace.name_of(file))}"


def start_plan(context: PageContext, file: Path, title: str, *, result: str = "") -> BackgroundJob:
    """Begin to carry out a plan of any kind, as `sudare run` does.

    Args:
        context: of the page.
        file: the plan.
        title: for people.
        result: where to look when it is done; the release by default.
    """
    name = context.workspace.name_of(file)

    def work(tell: Callable[[str, float | None], None]) -> str:
        from sudare.releases.registry import run_plan

        made = run_plan(file, progress=lambda stage, share: tell(stage.rpartition(".")[2], share))
        return result or f"/release?folder={quote(context.workspace.name_of(made.folder))}"

    return context.jobs.start(title, f"/plan?file={quote(name)}", work, command=command_line("run", name, "--yes"))
