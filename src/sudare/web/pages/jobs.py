"""Work that runs: how far it is, as it goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from starlette.responses import StreamingResponse
from starlette.routing import Route

from sudare.bilingual import Language, Words
from sudare.errors import InputError
from sudare.web.context import context_of, plain_page
from sudare.web.jobs import BackgroundJob, JobEvent
from sudare.web.rendering import language_of, page, text_of
from sudare.web.words import TEXTS

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["ROUTES", "show_job", "stream_job"]

NO_JOB = Words(
    "This page does not know that work any more. What was published is among the releases.",
    "その作業の記録はもうありません。公表されたものは「公表済み」にあります。",
)


@plain_page
def show_job(request: Request) -> Response:
    """How far the work is."""
    job = _job(request)
    commands = [job.command] if job.command else []
    return page(request, "job.html.jinja", commands=commands, job=job, event=_values(job.latest, language_of(request)))


@plain_page
def stream_job(request: Request) -> Response:
    """What happens to the work, as it happens (server-sent events)."""
    job, language = _job(request), language_of(request)
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(_sent(job, language), media_type="text/event-stream", headers=headers)


def _sent(job: BackgroundJob, language: Language) -> Iterator[str]:
    for event in job.events():
        if event is None:
            yield ": still running\n\n"
        else:
            yield f"data: {json.dumps(_values(event, language), ensure_ascii=False)}\n\n"


def _job(request: Request) -> BackgroundJob:
    job = context_of(request).jobs.find(request.path_params["name"])
    if job is None:
        raise InputError(NO_JOB)
    return job


def _values(event: JobEvent, language: Language) -> dict[str, object]:
    name = f"stage.{event.stage}" if f"stage.{event.stage}" in TEXTS else "stage.other"
    return {
        "state": event.state,
        "stage": text_of(language, "job.waiting" if event.state == "waiting" else name),
        "share": event.share,
        "result": event.result,
        "problem": "" if event.problem is None else event.problem.explain(language),
    }


ROUTES = (
    Route("/job/{name}", show_job),
    Route("/job/{name}/events", stream_job),
)
