"""Which page shows a plan of which kind, and how any plan is carried out as work that goes on without the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from sudare.bilingual import Words
from sudare.errors import InputError
from sudare.releases.registry import find_kind_of_plan
from sudare.web.command_lines import command_line
from sudare.web.context import PageContext, context_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from sudare.ledger import Reservation
    from sudare.releases.preflight import Preflight
    from sudare.web.jobs import BackgroundJob

__all__ = ["PAGES", "page_of_kind", "start_plan", "unfinished_runs"]

UNFINISHED = Words(
    "An earlier run of this very plan was stopped after noise may have been drawn (ledger entry {entries}). Its charge stays "
    "spent, and nothing was published. Nothing was charged for this request; the page of the plan asks whether to pay once more.",
    "同じ計画の以前の実行が、ノイズが生成された可能性のある段階で止まっています（台帳の項目 {entries}）。"
    "その費用は使用済みのままで、公表はされていません。この要求では予算は消費されていません。もう一度予算を使うかどうかは、計画の画面で選べます。",
)
PAGES = {"tables": "/tables", "records": "/records", "series": "/series"}
"""The pages of the kinds that have one of their own."""


def page_of_kind(request: Request) -> str:
    """The address that shows the plan of a request; empty if its kind has no page of its own."""
    workspace = context_of(request).workspace
    file = workspace.place(request.query_params.get("file", ""))
    address = PAGES.get(find_kind_of_plan(file).name, "")
    return address and f"{address}?file={quote(workspace.name_of(file))}"


def unfinished_runs(context: PageContext, file: Path, found: Preflight) -> tuple[int, ...]:
    """Ledger entries of runs of a plan that were stopped after their charge was kept; none while this page carries it out."""
    origin = _origin(context, file)
    return () if any(job.origin == origin for job in context.jobs.running()) else found.unfinished


def _origin(context: PageContext, file: Path) -> str:
    return f"/plan?file={quote(context.workspace.name_of(file))}"


def start_plan(
    context: PageContext, file: Path, title: str, *, result: str = "", once_more: bool = False
) -> BackgroundJob:
    """Begin to carry out a plan of any kind, as `sudare run` does.

    Args:
        context: of the page.
        file: the plan.
        title: for people.
        result: where to look when it is done; the release by default.
        once_more: whether somebody agreed to pay once more for a plan whose earlier run was stopped after its charge was kept.
    """

    def work(tell: Callable[[str, float | None], None]) -> str:
        from sudare.releases.registry import run_plan

        made = run_plan(
            file,
            progress=lambda stage, share: tell(stage.rpartition(".")[2], share),
            on_unfinished=None if once_more else _refuse_unfinished,
        )
        return result or f"/release?folder={quote(context.workspace.name_of(made.folder))}"

    command = command_line("run", context.workspace.name_of(file), "--yes")
    return context.jobs.start(title, _origin(context, file), work, command=command)


def _refuse_unfinished(left: Sequence[Reservation]) -> None:
    """Nothing is charged twice by a click that agreed to one charge."""
    raise InputError(UNFINISHED.format(entries=", ".join(str(one.number) for one in left)))
