"""A plan, its slider, and the way from it to a release."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

from sudare.bilingual import Language, Words
from sudare.drafting import with_budget
from sudare.drafting.plan_files import read_values, section_of, write_variant
from sudare.errors import InputError, PlanError, SudareError, words_of_error
from sudare.ledger import Dataset, open_ledger
from sudare.parameters import show_fraction
from sudare.privacy import Budget
from sudare.releases.kinds.counts import ReleasePlan, read_plan
from sudare.releases.preflight import find_obstacles
from sudare.releases.registry import find_kind_of_plan
from sudare.storage.atomic import atomically
from sudare.storage.staging import DOCUMENT
from sudare.web.command_lines import command_line
from sudare.web.content.predictions import GRID, MAX_RELEASES, BudgetPoint, budget_at, curves_of, point_of
from sudare.web.context import Form, context_of, form_page, plain_page
from sudare.web.plan_pages import page_of_kind, start_plan, unfinished_runs
from sudare.web.rendering import language_of, page

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["ROUTES", "budget_in_words", "run_plan_file", "show_curves", "show_plan", "show_point"]

OTHER_KIND = Words(
    "Plans of this kind are carried out by the command `sudare run {file}`.",
    "この種類の計画はコマンド `sudare run {file}` で実行してください。",
)
NO_BUDGET = Words("'{value}' is no budget.", "「{value}」は予算として使えません。")
AT_WORK = Words(
    "'{title}' is being carried out with another budget, from another window of this page. Wait until it is done; nothing was "
    "charged for this request.",
    "「{title}」は、別のウィンドウから別の予算で実行中です。終わるまでお待ちください。この要求では予算は消費されていません。",
)
BY_HAND = Words(
    "The budget of this plan stands in a way that only its author can change: change it in the file.",
    "この計画の予算は書き方が特殊なため、ファイルを直接書き換えてください。",
)


@plain_page
def show_plan(request: Request) -> Response:
    """What a plan means, with a slider for its budget."""
    elsewhere = page_of_kind(request)
    if elsewhere:
        return RedirectResponse(elsewhere, status_code=303)
    opened, workspace = _open(request), context_of(request).workspace
    found = find_obstacles(find_kind_of_plan(opened.file).load(), opened.plan)
    plan = opened.plan
    return page(
        request,
        "plan.html.jinja",
        commands=[command_line("plan", opened.name), command_line("run", opened.name, "--yes")],
        file=opened.name,
        plan=plan,
        text_of_file=opened.file.read_text(encoding="utf-8"),
        source=", ".join(workspace.short_name(Path(path)) for path in plan.source.paths) or plan.source.query,
        folder=workspace.short_name(plan.folder),
        shape=" × ".join(f"{length:,}" for length in plan.domain.shape),
        value=_value_of(plan.budget),
        is_rho=plan.budget.currency == "rho",
        dataset=opened.dataset,
        ledger_problem=opened.problem,
        left=None if opened.dataset is None else budget_in_words(opened.dataset.remaining),
        obstacles=found.obstacles,
        is_made=found.is_made,
        has_release=(plan.folder / DOCUMENT).is_file(),
        is_clear=found.is_clear,
        unfinished=unfinished_runs(context_of(request), opened.file, found),
        low=float(GRID[0]),
        high=float(GRID[-1]),
        max_releases=MAX_RELEASES,
        is_planned=plan.method == "auto",
    )


@plain_page
def show_curves(request: Request) -> Response:
    """Errors at every mark of the slider."""
    opened, language = _open(request), language_of(request)
    return JSONResponse([_values(point, language) for point in curves_of(opened.plan, opened.dataset)])


@plain_page
def show_point(request: Request) -> Response:
    """Errors at the budget where the slider rests."""
    opened, language = _open(request), language_of(request)
    point = point_of(opened.plan, opened.dataset, _read_value(request.query_params.get("value", "")))
    return JSONResponse(_values(point, language))


@form_page
def run_plan_file(request: Request, form: Form) -> Response:
    """Write the budget into the plan, and begin to carry it out."""
    context = context_of(request)
    file = context.workspace.place(form.get("file", ""))
    plan = _read_counts(file)
    wanted = budget_at(plan.budget, _read_value(form["value"])) if "value" in form else plan.budget
    origin = f"/plan?file={quote(context.workspace.name_of(file))}"
    with context.starting:  # another tab may ask for the same at another price: what runs is what its own form said
        if wanted != _read_counts(file).budget:
            if any(job.origin == origin for job in context.jobs.running()):
                raise InputError(AT_WORK.format(title=plan.title))
            file = _with_budget(file, plan, wanted)
        job = start_plan(context, file, plan.title, once_more=form.get("once-more") == "yes")
    return RedirectResponse(f"/job/{job.name}", status_code=303)


@dataclass(frozen=True, kw_only=True)
class _OpenPlan:
    """A plan that is looked at, with its account."""

    name: str
    file: Path
    plan: ReleasePlan
    dataset: Dataset | None
    problem: Words | None


def _open(request: Request) -> _OpenPlan:
    workspace, name = context_of(request).workspace, request.query_params.get("file", "")
    file = workspace.place(name)
    plan = _read_counts(file)
    dataset, problem = None, None
    try:
        with open_ledger(plan.ledger.location) as ledger:
            dataset = ledger.dataset(plan.ledger.dataset)
    except SudareError as error:
        problem = words_of_error(error)
    return _OpenPlan(name=workspace.name_of(file), file=file, plan=plan, dataset=dataset, problem=problem)


def _read_counts(file: Path) -> ReleasePlan:
    if find_kind_of_plan(file).name != "counts":
        raise PlanError(OTHER_KIND.format(file=file.name))
    return read_plan(file)


def _with_budget(file: Path, plan: ReleasePlan, budget: Budget) -> Path:
    """The plan with another budget: the same file, or another version where a release stands that it describes."""
    if not (plan.folder / DOCUMENT).is_file():
        _write_budget(file, budget)
        return file
    values = read_values(file)
    value = Decimal(_value_of(budget))
    return write_variant(file, {**values, "budget": {**section_of(values, "budget"), budget.currency: value}})


def _write_budget(file: Path, budget: Budget) -> None:
    text = file.read_text(encoding="utf-8")
    try:
        changed = with_budget(text, budget)
    except ValueError:
        raise PlanError(BY_HAND) from None
    with atomically(file, replace=True) as place:
        place.write_text(changed, encoding="utf-8")


def _read_value(text: str) -> Decimal:
    with suppress(InvalidOperation):
        value = Decimal(text.strip())
        if value.is_finite() and 0 < value <= 1000:
            return value
    raise InputError(NO_BUDGET.format(value=text[:40]))


def _value_of(budget: Budget) -> str:
    return show_fraction(budget.rho if budget.currency == "rho" else budget.epsilon, digits=12).lstrip("~")


def budget_in_words(budget: Budget | None) -> str:
    """A budget as the page shows it."""
    if budget is None:
        return "0"
    letters = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}
    return ", ".join(f"{letters[key]} = {show_fraction(Fraction(value))}" for key, value in budget.to_dict().items())


def _values(point: BudgetPoint, language: Language) -> dict[str, object]:
    return {
        "value": point.value,
        "power": point.power,
        "releases": point.releases,
        "method": point.method.explain(language),
        "parts": [
            {
                "name": part.name.explain(language),
                "group": part.group.explain(language),
                "label": part.label.explain(language),
                "side": part.side,
                "rmse": part.rmse,
                "low": part.low,
                "high": part.high,
            }
            for part in point.parts
        ],
        "alternatives": [
            {"name": other.name.explain(language), "ratio": other.ratio, "worst": other.worst_ratio}
            for other in point.alternatives
        ],
    }


ROUTES = (
    Route("/plan", show_plan),
    Route("/plan/curves", show_curves),
    Route("/plan/point", show_point),
    Route("/plan/run", run_plan_file, methods=["POST"]),
)
