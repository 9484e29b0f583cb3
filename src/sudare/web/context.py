"""What all pages share: the folder, the jobs, and how a request is read and a mistake is shown."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from sudare.bilingual import Words
from sudare.errors import InputError, SudareError, words_of_error
from sudare.web.jobs import INTERNAL, Jobs
from sudare.web.rendering import page
from sudare.web.workspace import WorkFolder

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["Form", "PageContext", "context_of", "form_page", "plain_page"]

MAX_FORM = 1 << 20
TOO_LARGE = Words("The form is too large.", "入力が大きすぎます。")
UNREADABLE = Words("The form cannot be read.", "入力を読み取れません。")

Form = dict[str, str]


@dataclass(eq=False, kw_only=True)
class PageContext:
    """What the pages of a process work with.

    Attributes:
        workspace: the folder.
        jobs: what runs.
        starting: is held while a plan is changed and its work begun.
    """

    workspace: WorkFolder
    jobs: Jobs = field(default_factory=Jobs)
    starting: threading.Lock = field(default_factory=threading.Lock)


def context_of(request: Request) -> PageContext:
    """What the pages of this process work with."""
    context: PageContext = request.app.state.context
    return context


def plain_page(answer: Callable[[Request], Response]) -> Callable[[Request], Awaitable[Response]]:
    """A page that may refuse: what is wrong is said in the language of the page."""

    @wraps(answer)
    async def answering(request: Request) -> Response:
        return await run_in_threadpool(_answered, request, lambda: answer(request))

    return answering


def form_page(answer: Callable[[Request, Form], Response]) -> Callable[[Request], Awaitable[Response]]:
    """What becomes of a form that was sent."""

    @wraps(answer)
    async def answering(request: Request) -> Response:
        body = b""
        try:
            async for part in request.stream():
                body += part
                if len(body) > MAX_FORM:
                    return page(request, "problem.html.jinja", status=413, problem=TOO_LARGE, back="/")
        except ClientDisconnect:  # whoever sent half a form is gone, and nothing has begun
            return page(request, "problem.html.jinja", status=400, problem=UNREADABLE, back="/")
        return await run_in_threadpool(_answered, request, lambda: answer(request, _read(body)))

    return answering


def _read(body: bytes) -> Form:
    try:
        return dict(parse_qsl(body.decode("utf-8"), keep_blank_values=True, strict_parsing=bool(body)))
    except ValueError:
        raise InputError(UNREADABLE) from None


def _way_back(request: Request) -> str:
    """The page of ours that somebody came from; the first one if that is not known, or is the one that did not work."""
    try:
        came = urlsplit(request.headers.get("referer", ""))
    except ValueError:
        return "/"
    target = came.path + (f"?{came.query}" if came.query else "")
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    is_ours = came.scheme == "http" and came.netloc == request.url.netloc and came.path.startswith("/")
    return target if is_ours and not came.path.startswith("//") and target != here else "/"


def _answered(request: Request, answer: Callable[[], Response]) -> Response:
    try:
        return answer()
    except SudareError as error:
        return page(request, "problem.html.jinja", status=400, problem=words_of_error(error), back=_way_back(request))
    except Exception as error:  # a plain sentence, where the server would answer in a language of its own
        problem = INTERNAL.format(name=type(error).__name__)
        return page(request, "problem.html.jinja", status=500, problem=problem, back="/")
