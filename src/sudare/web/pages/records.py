"""Records: from a file to a plan, the lattice of choices, the risk before and after, ten rows, and another version."""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import RedirectResponse
from starlette.routing import Route

from sudare.drafting import look_at_columns
from sudare.drafting.plan_files import read_values, section_of, write_new_plan, write_variant
from sudare.drafting.record_drafts import FIRST_K, FIRST_SUPPRESSION
from sudare.errors import PlanError, SudareError, words_of_error
from sudare.io import Source
from sudare.releases.kinds.records.planning.column_plan import ROLES
from sudare.releases.kinds.records.planning.plan_file import PeoplePlan
from sudare.releases.kinds.records.running import RECORDS
from sudare.releases.registry import find_kind_of_plan
from sudare.web.command_lines import command_line
from sudare.web.content.record_choices import LevelChoice, SolutionLattice, is_searched, lattice_of, view_of
from sudare.web.content.record_forms import (
    MODELS,
    RULES,
    column_sections,
    fields_of_plan,
    guessed_fields,
    model_fields,
    protection_of,
)
from sudare.web.context import Form, context_of, form_page, plain_page
from sudare.web.pages.ways import number_in, run_values
from sudare.web.rendering import language_of, page
from sudare.web.words import TEXTS

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["ROUTES", "change_records_plan", "make_records_plan", "show_new_records", "show_records_plan", "take_levels"]

PLAN = "plan.toml"
WIDTH, HEIGHT, MARGIN = 640, 240, 30


@plain_page
def show_records_plan(request: Request) -> Response:
    """What a plan does; risks and choices, and rows, when that is asked for."""
    context = context_of(request)
    file, plan = _open(request)
    name, values = context.workspace.name_of(file), read_values(file)
    weights = _weights(request, plan)
    is_looking = "risks" in request.query_params and is_searched(plan)
    view, lattice, problem = None, None, None
    if is_looking:
        try:
            lattice, view = lattice_of(plan, weights), view_of(plan)
        except SudareError as error:
            problem = words_of_error(error)
    return page(
        request,
        "records.html.jinja",
        commands=[command_line("anonymize", name, "--check"), command_line("run", name, "--yes")],
        steps=[step.words for step in plan.steps],
        models=[model.words for step in plan.steps for model in step.promised_models],
        columns=plan.columns,
        is_searched=is_searched(plan),
        is_looking=is_looking,
        view=view,
        lattice=lattice,
        dots=[] if lattice is None else dots_of(lattice),
        problem=problem,
        has_rows="rows" in request.query_params,
        weights=weights,
        query="".join(f"&weight-{place}={weights[one]}" for place, one in enumerate(plan.quasi_identifiers)),
        fields=fields_of_plan(values),
        given=model_fields(values),
        shared=_choices() | run_values(context, file, RECORDS, plan),
    )


@form_page
def take_levels(request: Request, form: Form) -> Response:
    """Write another version of a plan in which the levels of quasi-identifiers are decided."""
    workspace = context_of(request).workspace
    file = workspace.place(form.get("file", ""))
    plan, values = _read(file), read_values(file)
    named = section_of(values, "columns")
    columns = {name: section_of(named, name) for name in named}
    for place, name in enumerate(plan.quasi_identifiers):
        level = number_in(form, f"level-{place}", "records.level", largest=100)
        if level is not None:
            columns[name]["level"] = int(level)
    made = write_variant(file, {**values, "columns": columns})
    return RedirectResponse(f"/records?file={quote(workspace.name_of(made))}&risks=1", status_code=303)


@form_page
def change_records_plan(request: Request, form: Form) -> Response:
    """Write another version of a plan, with other roles, hierarchies or models."""
    workspace = context_of(request).workspace
    file = workspace.place(form.get("file", ""))
    _read(file)
    values = read_values(file)
    fields = fields_of_plan(values)
    changed = {
        **values,
        "columns": column_sections(form, fields, section_of(values, "columns")),
        "protection": protection_of(form, fields, values),
    }
    made = write_variant(file, changed)
    return RedirectResponse(f"/records?file={quote(workspace.name_of(made))}", status_code=303)


@plain_page
def show_new_records(request: Request) -> Response:
    """The columns of a file, and what each may be."""
    name = request.query_params.get("file", "")
    file = context_of(request).workspace.place(name)
    fields = guessed_fields(look_at_columns(Source(str(file))).columns)
    return page(
        request,
        "records_new.html.jinja",
        commands=[command_line("init", file.stem, "--from", name, "--kind", "records")],
        file=name,
        stem=file.stem,
        fields=fields,
        given={"k": str(FIRST_K), "suppression": str(FIRST_SUPPRESSION)},
        shared=_choices(),
    )


@form_page
def make_records_plan(request: Request, form: Form) -> Response:
    """Write the plan that a form describes."""
    workspace = context_of(request).workspace
    file = workspace.place(form.get("file", ""))
    fields = guessed_fields(look_at_columns(Source(str(file))).columns)
    folder = workspace.free_folder(form.get("title") or file.stem)
    planned = {
        "kind": "records",
        "title": form.get("title", "").strip() or file.stem,
        "publisher": form.get("publisher", "").strip() or "-",
        "language": language_of(request),
        "source": {"path": os.path.relpath(file, folder)},
        "columns": column_sections(form, fields, {}),
        "protection": protection_of(form, fields, {}),
    }
    plan = write_new_plan(folder, PLAN, planned)
    return RedirectResponse(f"/records?file={quote(workspace.name_of(plan))}", status_code=303)


def dots_of(lattice: SolutionLattice) -> list[dict[str, object]]:
    """Where the choices of a lattice stand in its picture: coarser ones to the right, the best of equally coarse ones below."""
    highest = max(1, sum(lattice.heights))
    by_height: dict[int, list[LevelChoice]] = {}
    for node in sorted(lattice.nodes, key=lambda node: (not node.is_allowed, node.loss, node.levels)):
        by_height.setdefault(sum(node.levels), []).append(node)
    tallest = max(len(nodes) for nodes in by_height.values())
    step = min(18.0, (HEIGHT - 2 * MARGIN) / max(1, tallest))
    best = lattice.best[0].levels if lattice.best else None
    return [
        {
            "x": round(MARGIN + (WIDTH - 2 * MARGIN) * height / highest, 1),
            "y": round(HEIGHT - MARGIN - step * place, 1),
            "kind": "best" if node.levels == best else "allowed" if node.is_allowed else "refused",
            "name": ", ".join(f"{name} {level}" for name, level in zip(lattice.names, node.levels, strict=True)),
        }
        for height, nodes in by_height.items()
        for place, node in enumerate(nodes)
    ]


def _choices() -> dict[str, object]:
    return {"roles": ROLES, "rules": RULES, "model_names": MODELS}


def _weights(request: Request, plan: PeoplePlan) -> dict[str, float]:
    given = dict(request.query_params)
    found = {}
    for place, name in enumerate(plan.quasi_identifiers):
        weight = number_in(given, f"weight-{place}", "records.weights", largest=1000)
        found[name] = 1.0 if weight is None else float(weight)
    return found


def _open(request: Request) -> tuple[Path, PeoplePlan]:
    file = context_of(request).workspace.place(request.query_params.get("file", ""))
    return file, _read(file)


def _read(file: Path) -> PeoplePlan:
    if find_kind_of_plan(file).name != RECORDS.name:
        raise PlanError(TEXTS["journey.of_kind"])
    return RECORDS.read_plan(file)


ROUTES = (
    Route("/records", show_records_plan),
    Route("/records/levels", take_levels, methods=["POST"]),
    Route("/records/change", change_records_plan, methods=["POST"]),
    Route("/records/new", show_new_records),
    Route("/records/new", make_records_plan, methods=["POST"]),
)
