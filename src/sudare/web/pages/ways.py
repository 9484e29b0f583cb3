"""What may become of a data file, and carrying out a plan of any kind."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse
from starlette.routing import Route

from sudare.errors import InputError, OutputError
from sudare.releases.kind import DataT, DraftT, Kind, PlanT, ResultT
from sudare.releases.preflight import find_obstacles
from sudare.releases.registry import find_kind_of_plan
from sudare.storage.staging import DOCUMENT
from sudare.web.command_lines import command_line
from sudare.web.context import Form, PageContext, context_of, form_page, plain_page
from sudare.web.pages.plans import budget_in_words
from sudare.web.plan_pages import start_plan, unfinished_runs
from sudare.web.rendering import page
from sudare.web.words import TEXTS

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from sudare.releases.header import PlanHeader

__all__ = ["ROUTES", "carry_out_plan", "number_in", "run_values", "show_ways"]

WAYS = (("counts", "/draft"), ("records", "/records/new"), ("tables", "/tables/new"), ("queries", "/queries/new"))


@plain_page
def show_ways(request: Request) -> Response:
    """The ways to publish from a file."""
    name = request.query_params.get("file", "")
    folder = context_of(request).workspace.place(name).stem
    lines = (
        command_line("init", folder, "--from", name),
        command_line("init", folder, "--from", name, "--kind", "records"),
        command_line("init", folder, "--from", name, "--kind", "tables"),
        command_line("sql", "describe", "--data", name),
    )
    return page(request, "ways.html.jinja", file=name, commands=lines, ways=WAYS)


@form_page
def carry_out_plan(request: Request, form: Form) -> Response:
    """Begin to carry out a plan, as `sudare run` does."""
    context = context_of(request)
    file = context.workspace.place(form.get("file", ""))
    kind = find_kind_of_plan(file).load()
    header = kind.header(kind.read_plan(file))
    result = f"/series?file={context.workspace.name_of(file)}" if kind.name == "series" else ""
    job = start_plan(context, file, header.title, result=result, once_more=form.get("once-more") == "yes")
    return RedirectResponse(f"/job/{job.name}", status_code=303)


def run_values(
    context: PageContext, file: Path, kind: Kind[PlanT, DataT, ResultT, DraftT], plan: PlanT
) -> dict[str, object]:
    """What the part of a page needs that carries a plan out: what is in the way, what it costs, and what the file says."""
    header: PlanHeader = kind.header(plan)
    found = find_obstacles(kind, plan)
    is_made = (header.folder / DOCUMENT).is_file() and context.workspace.holds(header.folder)
    is_over = is_made and not found.is_made and all(isinstance(one, OutputError) for one in found.obstacles)
    return {
        "file": context.workspace.name_of(file),
        "title": header.title,
        "publisher": header.publisher,
        "obstacles": () if is_over else found.obstacles,
        "is_over": is_over,
        "is_made": found.is_made,
        "unfinished": unfinished_runs(context, file, found),
        "cost": "" if header.price is None else budget_in_words(header.price.budget),
        "dataset": "" if header.ledger is None else header.ledger.dataset,
        "release": context.workspace.name_of(header.folder) if is_made else "",
        "text_of_file": file.read_text(encoding="utf-8"),
    }


def number_in(form: Form, key: str, field: str, *, smallest: int = 0, largest: int = 10**9) -> Decimal | None:
    """A number of a form; None where nothing was typed.

    Raises:
        InputError: if it is none, or out of bounds.
    """
    text = form.get(key, "").strip()
    if not text:
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or not smallest <= value <= largest:
        raise InputError(TEXTS["journey.bad_number"].format(value=text[:40], field=TEXTS[field]))
    return value


ROUTES = (
    Route("/ways", show_ways),
    Route("/plan/carry-out", carry_out_plan, methods=["POST"]),
)
