"""From a file to a plan: what was recognized is shown, corrected and written as a plan file."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import RedirectResponse
from starlette.routing import Route

from sudare.domain.mesh import MESH_LEVELS
from sudare.domain.prefectures import PREFECTURES
from sudare.domain.times import PERIODS
from sudare.drafting import ColumnRole, GuessedColumn, draft_of_file
from sudare.drafting.plan_drafts import AttributeDraft, PlanDraft, SourceDraft, TomlValue
from sudare.drafting.previews import first_rows
from sudare.drafting.public_lists import AGES, PUBLIC_LISTS
from sudare.drafting.roles import DEFAULT_LEVEL, ESTAT_KEY
from sudare.drafting.writing import write_drafted_plan
from sudare.errors import InputError
from sudare.io import Source
from sudare.ledger import open_ledger
from sudare.parameters import show_fraction
from sudare.privacy import Budget
from sudare.web.command_lines import command_line
from sudare.web.context import Form, context_of, form_page, plain_page
from sudare.web.rendering import language_of, page
from sudare.web.words import TEXTS

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from sudare.web.workspace import WorkFolder

__all__ = ["ROUTES", "make_plan", "show_draft"]

FIRST_SHARE = Decimal("0.25")
PLAN, LEDGER = "plan.toml", "budget.db"
NEW = "new"
ENCODINGS = ("auto", "utf-8", "cp932", "euc-jp", "utf-16")
ROWS_SHOWN = 5
MAX_CORNERS = 40


@plain_page
def show_draft(request: Request) -> Response:
    """What was recognized in a file, to be corrected."""
    context, name = context_of(request), request.query_params.get("file", "")
    file = context.workspace.place(name)
    draft, seen, guessed = draft_of_file(
        file, plan_folder=file.parent, budget=Budget(epsilon=1), language=language_of(request)
    )
    return page(
        request,
        "draft.html.jinja",
        commands=[command_line("init", file.stem, "--from", name)],
        file=name,
        draft=draft,
        seen=seen,
        columns=guessed or (_fixed_column(),),
        is_fixed=not guessed,
        roles=list(ColumnRole),
        levels=list(MESH_LEVELS.values()),
        default_level=DEFAULT_LEVEL,
        lists=PUBLIC_LISTS,
        periods=PERIODS,
        ages=", ".join(map(str, AGES)),
        accounts=_accounts(context.workspace),
        new=NEW,
        encodings=ENCODINGS,
        prefectures=PREFECTURES,
        corners=request.query_params.get("corners", "")[:MAX_CORNERS],
        mesh_lists=[other for other in context.workspace.data_files() if other != name],
        rows=first_rows(Source(str(file)), [column.name for column in seen.columns], ROWS_SHOWN)
        if request.query_params.get("rows") == "shown"
        else None,
    )


@form_page
def make_plan(request: Request, form: Form) -> Response:
    """Write the plan that a form describes, with a ledger if it asks for one."""
    workspace = context_of(request).workspace
    file = workspace.place(form.get("file", ""))
    folder = workspace.free_folder(form.get("title") or file.stem)
    account = form.get("account", NEW)
    ledger, dataset = (LEDGER, folder.name) if account == NEW else _named_account(workspace, account)
    total = Budget(epsilon=_number(form, "total", "draft.total"))
    guessed = draft_of_file(file, plan_folder=folder, budget=total)[2] or (_fixed_column(),)
    draft = _draft(request, form, guessed, workspace=workspace, file=file, folder=folder)
    spent = total.times(FIRST_SHARE) if account == NEW else Budget(epsilon=_number(form, "total", "draft.total"))
    location = ledger if account == NEW else str(workspace.place(ledger))
    drafted = _with_account(draft, spent, location, dataset)
    plan = write_drafted_plan(drafted, folder, PLAN, total=total if account == NEW else None)
    return RedirectResponse(f"/plan?file={quote(workspace.name_of(plan))}", status_code=303)


def _with_account(draft: PlanDraft, budget: Budget, ledger: str, dataset: str) -> PlanDraft:
    from dataclasses import replace

    return replace(draft, budget=budget, ledger=ledger, dataset=dataset)


def _accounts(workspace: WorkFolder) -> list[tuple[str, str]]:
    """Data sets of all ledgers here, with what is left of each."""
    found = []
    for location in workspace.ledgers():
        with open_ledger(workspace.place(location)) as ledger:
            for dataset in ledger.datasets():
                left = dataset.remaining
                shown = "0" if left is None else ", ".join(f"{k} = {_short(v)}" for k, v in left.to_dict().items())
                found.append((f"{location}::{dataset.name}", f"{dataset.name} ({location}): {shown}"))
    return found


def _short(value: str) -> str:
    from fractions import Fraction

    return show_fraction(Fraction(value))


def _named_account(workspace: WorkFolder, account: str) -> tuple[str, str]:
    location, _, dataset = account.partition("::")
    workspace.place(location)
    return location, dataset


def _fixed_column() -> GuessedColumn:
    """The mesh of formats whose columns are always the same."""
    from sudare.drafting.columns import ColumnShape, SeenColumn

    seen = SeenColumn(name=ESTAT_KEY, shape=ColumnShape.MESH, level=DEFAULT_LEVEL)
    return GuessedColumn(seen=seen, role=ColumnRole.MESH)


def _draft(
    request: Request,
    form: Form,
    columns: Sequence[GuessedColumn],
    *,
    workspace: WorkFolder,
    file: Path,
    folder: Path,
) -> PlanDraft:
    def named(path: Path) -> str:
        return os.path.relpath(path, folder)

    def mesh_keys(place: int) -> dict[str, TomlValue]:
        return _mesh_keys(form, place, workspace, named)

    roles = {place: _role(form, place) for place in range(len(columns))}
    by_role = {role: columns[place].seen.name for place, role in reversed(roles.items())}
    attributes = [_attribute(form, place, columns[place].seen.name, role, mesh_keys) for place, role in roles.items()]
    kept = [attribute for attribute in attributes if attribute is not None]
    mapped: dict[str, TomlValue] = {}
    points = [by_role.get(role) for role in (ColumnRole.LATITUDE, ColumnRole.LONGITUDE)]
    if any(points):
        if not all(points):
            raise InputError(TEXTS["draft.half_point"])
        place = next(place for place, role in roles.items() if role is ColumnRole.LATITUDE)
        kept.insert(0, AttributeDraft(name=ESTAT_KEY, kind="mesh", keys=mesh_keys(place)))
        mapped[ESTAT_KEY] = ",".join(str(point) for point in points)
    if not kept:
        raise InputError(TEXTS["draft.no_attribute"])
    count = by_role.get(ColumnRole.COUNT, "")
    people = form.get("people", "").replace(",", "").strip()
    rows = form.get("rows", "").strip() or "1"
    source = SourceDraft(
        path=named(file),
        rows="counts" if count or form.get("is_fixed") else "people",
        count=count,
        person="" if count else by_role.get(ColumnRole.PERSON, ""),
        columns=mapped or None,
        encoding=encoding if (encoding := form.get("encoding", "auto")) in ENCODINGS[1:] else "",
    )
    return PlanDraft(
        title=form.get("title", "").strip() or file.stem,
        publisher=form.get("publisher", "").strip() or "-",
        language=language_of(request),
        source=source,
        attributes=tuple(kept),
        left_out=tuple(columns[place].seen.name for place, role in roles.items() if role is ColumnRole.LEFT_OUT),
        unit_rows=int(_number({"rows": rows}, "rows", "draft.rows_per_person")) if source.person else 1,
        budget=Budget(epsilon=1),
        people=int(_number({"people": people}, "people", "draft.people")) if people else None,
    )


def _role(form: Form, place: int) -> ColumnRole:
    given = form.get(f"role-{place}", ColumnRole.LEFT_OUT.value)
    return ColumnRole(given) if given in list(ColumnRole) else ColumnRole.LEFT_OUT


def _attribute(
    form: Form, place: int, name: str, role: ColumnRole, mesh_keys: Callable[[int], dict[str, TomlValue]]
) -> AttributeDraft | None:
    if role is ColumnRole.MESH:
        return AttributeDraft(name=name, kind="mesh", keys=mesh_keys(place))
    if role is ColumnRole.CATEGORY:
        return AttributeDraft(name=name, kind="category", keys={"labels": _labels(form, place)})
    if role is ColumnRole.NUMBER:
        edges = form.get(f"edges-{place}", "").replace("、", ",").split(",")
        numbers = tuple(_plain(_number({"edge": edge}, "edge", "draft.edges")) for edge in edges if edge.strip())
        return AttributeDraft(name=name, kind="bins", keys={"edges": numbers})
    if role is ColumnRole.TIME:
        keys: dict[str, TomlValue] = {
            "by": form.get(f"by-{place}", PERIODS[0]),
            "from": _day(form, f"from-{place}", "draft.from"),
            "to": _day(form, f"to-{place}", "draft.to"),
            "time_zone": form.get(f"zone-{place}", "Asia/Tokyo"),
        }
        return AttributeDraft(name=name, kind="time", keys=keys)
    return None


def _mesh_keys(form: Form, place: int, workspace: WorkFolder, named: Callable[[Path], str]) -> dict[str, TomlValue]:
    """Which meshes there are: all Japan, between two, or those of a public list in prefectures and municipalities."""
    keys: dict[str, TomlValue] = {"level": form.get(f"level-{place}", DEFAULT_LEVEL)}
    area = form.get(f"area-{place}")
    if area == "corners":
        return {**keys, "corners": tuple(_listed(form.get(f"corners-{place}", "").replace(" ", ",")))}
    if area != "list":
        return {**keys, "area": "japan"}
    if form.get(f"public-{place}") != "yes":
        raise InputError(TEXTS["draft.not_public"])
    keys |= {"meshes": named(workspace.place(form.get(f"meshes-{place}", ""))), "public": True}
    for key in ("prefectures", "municipalities"):
        wanted = tuple(_listed(form.get(f"{key}-{place}", "")))
        keys |= {key: wanted} if wanted else {}
    return keys


def _listed(text: str) -> list[str]:
    """What a field lists, parted by commas of either language."""
    return [part.strip() for part in text.replace("、", ",").replace("\uff0c", ",").split(",") if part.strip()]


def _labels(form: Form, place: int) -> tuple[str, ...]:
    known = PUBLIC_LISTS.get(form.get(f"list-{place}", ""))
    if known is not None:
        return known.labels
    return tuple(line.strip() for line in form.get(f"labels-{place}", "").splitlines() if line.strip())


def _number(form: Form, key: str, field: str) -> Decimal:
    text = form.get(key, "").strip()
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite():
        raise InputError(TEXTS["draft.bad_number"].format(value=text, field=TEXTS[field]))
    return value


def _plain(value: Decimal) -> TomlValue:
    return int(value) if value == value.to_integral_value() else float(value)


def _day(form: Form, key: str, field: str) -> date:
    text = form.get(key, "").strip()
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InputError(TEXTS["draft.bad_day"].format(value=text, field=TEXTS[field])) from None


ROUTES = (
    Route("/draft", show_draft),
    Route("/draft", make_plan, methods=["POST"]),
)
