"""A table by disclosure control: from a file to a plan, its cells and why they are hidden, other choices, and another try."""

from __future__ import annotations

import os.path
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import RedirectResponse
from starlette.routing import Route

from sudare.drafting import look_at_columns
from sudare.drafting.plan_files import read_values, section_of, write_new_plan, write_variant
from sudare.drafting.table_drafts import FIRST_P, FIRST_THRESHOLD, TABLE_ROLES, guess_table_roles
from sudare.errors import InputError, PlanError
from sudare.io import Source
from sudare.releases.kinds.tables.methods.registry import method_named
from sudare.releases.kinds.tables.planning.input_plan import RecordsInput
from sudare.releases.kinds.tables.planning.plan_file import TablePlan
from sudare.releases.kinds.tables.running import TABLES
from sudare.releases.registry import find_kind_of_plan
from sudare.web.command_lines import command_line
from sudare.web.content.table_cells import cells_of, compare_choices, facts_of, grids_of
from sudare.web.context import Form, context_of, form_page, plain_page
from sudare.web.pages.ways import number_in, run_values
from sudare.web.rendering import language_of, page
from sudare.web.words import TEXTS

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["ROUTES", "make_table_plan", "show_cell", "show_new_table", "show_table_plan", "try_again"]

PLAN = "plan.toml"


@plain_page
def show_table_plan(request: Request) -> Response:
    """What a plan does; its cells, and what other choices cost, when that is asked for."""
    context = context_of(request)
    file, plan = _open(request)
    name = context.workspace.name_of(file)
    method = method_named(plan.method)
    is_looking = "cells" in request.query_params and not method.is_of_meshes
    grids = grids_of(cells_of(plan).protected, [table.name for table in plan.tables]) if is_looking else []
    costs = compare_choices(plan) if is_looking and "costs" in request.query_params else []
    return page(
        request,
        "tables.html.jinja",
        commands=[command_line("protect", name, "--check"), command_line("run", name, "--yes")],
        method=method.words.name,
        is_of_meshes=method.is_of_meshes,
        rules=[one.full for one in (*plan.rules, *plan.record_rules)],
        dimensions=[one for table in plan.tables for one in table.dimensions],
        is_looking=is_looking,
        grids=grids,
        costs=costs,
        can_retry=isinstance(plan.source, RecordsInput) and len(plan.tables) == 1,
        settings=_settings(read_values(file)),
        shared=run_values(context, file, TABLES, plan),
    )


@plain_page
def show_cell(request: Request) -> Response:
    """What the holder may know of a cell."""
    file, plan = _open(request)
    text = request.query_params.get("cell", "")
    if not text.isdecimal() or len(text) > 9:
        raise InputError(TEXTS["tables.no_such_cell"])
    facts = facts_of(cells_of(plan), int(text))
    name = context_of(request).workspace.name_of(file)
    commands = [command_line("protect", name, "--check")]
    return page(request, "table_cell.html.jinja", commands=commands, file=name, facts=facts)


@form_page
def try_again(request: Request, form: Form) -> Response:
    """Write another version of a plan, with other rules, fewer spanning variables or another method."""
    workspace = context_of(request).workspace
    file = workspace.place(form.get("file", ""))
    _read(file)
    values = _changed(read_values(file), form)
    made = write_variant(file, values)
    return RedirectResponse(f"/tables?file={quote(workspace.name_of(made))}&cells=1", status_code=303)


@plain_page
def show_new_table(request: Request) -> Response:
    """The columns of a file, and what each may be in a table."""
    name = request.query_params.get("file", "")
    file = context_of(request).workspace.place(name)
    seen = look_at_columns(Source(str(file)))
    return page(
        request,
        "table_new.html.jinja",
        commands=[command_line("init", file.stem, "--from", name, "--kind", "tables")],
        file=name,
        stem=file.stem,
        columns=guess_table_roles(seen.columns),
        roles=TABLE_ROLES,
        given={"threshold": FIRST_THRESHOLD, "p": FIRST_P},
    )


@form_page
def make_table_plan(request: Request, form: Form) -> Response:
    """Write the plan that a form describes."""
    workspace = context_of(request).workspace
    file = workspace.place(form.get("file", ""))
    columns = look_at_columns(Source(str(file))).columns
    folder = workspace.free_folder(form.get("title") or file.stem)
    roles = {column.name: form.get(f"role-{place}", "out") for place, column in enumerate(columns)}
    spanning = [name for name, role in roles.items() if role == "dimension"]
    values = [name for name, role in roles.items() if role == "value"]
    holdings = [name for name, role in roles.items() if role == "holding"]
    if not spanning:
        raise InputError(TEXTS["tables.keep_one"])
    if len(values) > 1 or len(holdings) > 1:
        raise InputError(TEXTS["tables.one_value"])
    source = {"path": os.path.relpath(file, folder), "rows": "records"}
    source |= {"value": values[0]} if values else {}
    source |= {"holding": holdings[0]} if holdings else {}
    planned: dict[str, object] = {
        "kind": "tables",
        "title": form.get("title", "").strip() or file.stem,
        "publisher": form.get("publisher", "").strip() or "-",
        "language": language_of(request),
        "source": source,
        "dimensions": {name: {} for name in spanning},
        "rules": _rules({}, form, has_values=bool(values)),
        "protection": {"method": "suppress"},
    }
    plan = write_new_plan(folder, PLAN, planned)
    return RedirectResponse(f"/tables?file={quote(workspace.name_of(plan))}", status_code=303)


def _open(request: Request) -> tuple[Path, TablePlan]:
    file = context_of(request).workspace.place(request.query_params.get("file", ""))
    return file, _read(file)


def _read(file: Path) -> TablePlan:
    if find_kind_of_plan(file).name != TABLES.name:
        raise PlanError(TEXTS["journey.of_kind"])
    return TABLES.read_plan(file)


def _settings(values: dict[str, object]) -> dict[str, object]:
    rules, protection = section_of(values, "rules"), section_of(values, "protection")
    return {
        "threshold": rules.get("threshold", ""),
        "p": section_of(rules, "p_percent").get("p", ""),
        "method": protection.get("method", "suppress"),
        "cost": protection.get("cost", "value"),
        "base": protection.get("base", 5),
    }


def _changed(values: dict[str, object], form: Form) -> dict[str, object]:
    dimensions = section_of(values, "dimensions")
    kept = {name: one for place, (name, one) in enumerate(dimensions.items()) if form.get(f"keep-{place}")}
    if not kept:
        raise InputError(TEXTS["tables.keep_one"])
    changed = {**values, "dimensions": kept}
    if len(kept) < len(dimensions):
        changed.pop("tables", None)
    changed["rules"] = _rules(section_of(values, "rules"), form, has_values="value" in section_of(values, "source"))
    if form.get("method") == "round":
        base = number_in(form, "base", "tables.base", smallest=2, largest=10**6) or Decimal(5)
        changed["protection"] = {"method": "round", "base": int(base)}
    else:
        cost = form.get("cost", "value")
        changed["protection"] = {"method": "suppress", "cost": cost if cost in ("value", "count", "equal") else "value"}
    return changed


def _rules(rules: dict[str, object], form: Form, *, has_values: bool) -> dict[str, object]:
    kept = {key: value for key, value in rules.items() if key not in ("threshold", "p_percent")}
    threshold = number_in(form, "threshold", "tables.threshold", smallest=1, largest=10**6)
    p = number_in(form, "p", "tables.p_percent", largest=1000)
    if threshold is not None:
        kept["threshold"] = int(threshold)
    else:
        kept.pop("range", None)
    if p is not None and has_values:
        kept["p_percent"] = {**section_of(rules, "p_percent"), "p": p}
    return kept


ROUTES = (
    Route("/tables", show_table_plan),
    Route("/tables/cell", show_cell),
    Route("/tables/retry", try_again, methods=["POST"]),
    Route("/tables/new", show_new_table),
    Route("/tables/new", make_table_plan, methods=["POST"]),
)
