"""A series: its windows as films and curves, from what was published, and publishing further ticks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

from sudare.errors import InputError, PlanError
from sudare.releases.kinds.series.clock import period_in_words, read_moment
from sudare.releases.kinds.series.plan_file import SeriesPlan, read_series_plan
from sudare.releases.registry import find_kind_of_plan
from sudare.tables.palettes import STEPS
from sudare.web.command_lines import command_line
from sudare.web.content.series_film import curves_of_window, film_of, names_of_pixels, published_windows, tables_of
from sudare.web.context import Form, context_of, form_page, plain_page
from sudare.web.maps.description import palette_rows
from sudare.web.pages.plans import budget_in_words
from sudare.web.rendering import language_of, page
from sudare.web.words import TEXTS

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from sudare.releases.kinds.series.clock import Tick

__all__ = ["ROUTES", "give_film", "publish_ticks", "show_series"]


@plain_page
def show_series(request: Request) -> Response:
    """The plan of a series, its windows, and one of them as a film and curves."""
    context = context_of(request)
    file, plan = _open(request)
    name = context.workspace.name_of(file)
    windows = published_windows(plan)
    began = _window(request, plan, windows)
    film, curves = None, None
    if began is not None:
        chosen = [int(one) for one in request.query_params.getlist("area") if one.isdecimal() and len(one) < 10]
        tables = tables_of(windows[began])
        film, curves = film_of(plan, began, tables), curves_of_window(plan, began, tables, chosen)
    following = _following(plan, windows)
    return page(
        request,
        "series.html.jinja",
        commands=[command_line("plan", name), _command(name, [following])],
        file=name,
        title=plan.title,
        every=period_in_words(plan.clock.every),
        ticks=plan.clock.ticks,
        cost=budget_in_words(plan.budget),
        dataset=plan.ledger.dataset,
        windows=[(one.isoformat(), f"{one:%Y-%m-%d %H:%M}", len(found)) for one, found in windows.items()],
        began=None if began is None else began.isoformat(),
        film=film,
        curves=curves,
        following=f"{following.begins:%Y-%m-%dT%H:%M}",
        text_of_file=file.read_text(encoding="utf-8"),
    )


@plain_page
def give_film(request: Request) -> Response:
    """The frames of a window, for the script that shows them."""
    _, plan = _open(request)
    windows = published_windows(plan)
    began = _window(request, plan, windows)
    if began is None:
        raise InputError(TEXTS["series.none"])
    film = film_of(plan, began, tables_of(windows[began]))
    frames = [{"begins": one.begins, "total": one.total, "counts": one.counts} for one in film.frames]
    names = names_of_pixels(plan, film, TEXTS["map.around"], TEXTS["map.place"])
    return JSONResponse(
        {
            "rows": film.rows,
            "columns": film.columns,
            "shape": film.shape,
            "frames": frames,
            "names": [name.explain(language_of(request)) for name in names],
            "palettes": palette_rows()[:2],
            "steps": STEPS,
        }
    )


@form_page
def publish_ticks(request: Request, form: Form) -> Response:
    """Begin to publish a tick, or all of its window from it on, as `sudare run --at` does."""
    context = context_of(request)
    file = context.workspace.place(form.get("file", ""))
    plan = _read(file)
    text = form.get("at", "").strip()
    moment = read_moment(text)
    if moment is None:
        raise InputError(TEXTS["series.bad_moment"].format(value=text[:40]))
    first, now = plan.clock.tick_at(moment), datetime.now()
    plan.clock.require_over(first, now)
    last = plan.clock.ticks if form.get("whole") else first.number + 1
    ticks = [
        tick for number in range(first.number, last) if (tick := plan.clock.tick_of(first.window, number)).ends <= now
    ]
    place = f"/series?file={quote(context.workspace.name_of(file))}"
    work = _work(plan, ticks, f"{place}&window={quote(first.window.isoformat())}")
    job = context.jobs.start(plan.title, place, work, command=_command(context.workspace.name_of(file), ticks))
    return RedirectResponse(f"/job/{job.name}", status_code=303)


def _command(name: str, ticks: Sequence[Tick]) -> str:
    """The command line that publishes ticks that follow one another."""
    first, last = ticks[0], ticks[-1]
    if first == last:
        return command_line("run", name, "--at", f"{first.begins:%Y-%m-%dT%H:%M}", "--yes")
    span = ("--from", f"{first.begins:%Y-%m-%dT%H:%M}", "--until", f"{last.begins:%Y-%m-%dT%H:%M}")
    return command_line("series", "watch", name, *span, "--yes")


def _work(plan: SeriesPlan, ticks: list[Tick], result: str) -> Callable[[Callable[[str, float | None], None]], str]:
    from sudare.releases.kinds.series.running import run_tick

    def work(tell: Callable[[str, float | None], None]) -> str:
        for place, tick in enumerate(ticks):
            share = place / len(ticks)
            run_tick(plan, tick, progress=lambda stage, _, share=share: tell(stage.rpartition(".")[2], share))  # type: ignore[misc]
        return result

    return work


def _open(request: Request) -> tuple[Path, SeriesPlan]:
    file = context_of(request).workspace.place(request.query_params.get("file", ""))
    return file, _read(file)


def _read(file: Path) -> SeriesPlan:
    if find_kind_of_plan(file).name != "series":
        raise PlanError(TEXTS["journey.of_kind"])
    return read_series_plan(file)


def _window(request: Request, plan: SeriesPlan, windows: dict[datetime, list[tuple[int, Path]]]) -> datetime | None:
    text = request.query_params.get("window", "")
    if not text:
        return next(iter(windows), None)
    found = read_moment(text)
    if found is None or found not in windows:
        raise InputError(TEXTS["series.bad_moment"].format(value=text[:40]))
    return found


def _following(plan: SeriesPlan, windows: dict[datetime, list[tuple[int, Path]]]) -> Tick:
    """The tick after the latest one that was published; the first one if none was."""
    if not windows:
        return plan.clock.tick_of(plan.clock.start, 0)
    latest = next(iter(windows))
    begins = plan.clock.tick_of(latest, windows[latest][-1][0]).ends
    return plan.clock.tick_within(begins)


ROUTES = (
    Route("/series", show_series),
    Route("/series/film", give_film),
    Route("/series/run", publish_ticks, methods=["POST"]),
)
