"""The first page: files, plans and releases of the folder, an upload, and finished examples."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

from sudare.bilingual import Words
from sudare.errors import InputError, OutputError, SudareError, words_of_error
from sudare.storage.atomic import atomically
from sudare.web.command_lines import command_line
from sudare.web.content.examples import EXAMPLES
from sudare.web.context import Form, context_of, form_page, plain_page
from sudare.web.rendering import language_of, page
from sudare.web.workspace import DATA_SUFFIXES, safe_name

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["ROUTES", "open_example", "show_home", "take_upload"]

SPACE_LEFT = 1 << 28
"""Bytes that an upload leaves free on the disk."""

NO_SPACE = Words("There is not enough space for this file on the disk.", "ディスクの空きが足りません。")
CUT_OFF = Words(
    "The file did not arrive whole. Try again.", "ファイルを最後まで受け取れませんでした。もう一度試してください。"
)
NO_DATA_FILE = Words(
    "'{name}' is no sort of file that can be read. Take one of: {suffixes}.",
    "「{name}」は読めない種類のファイルです。使えるのは {suffixes} です。",
)
NO_EXAMPLE = Words("There is no such example.", "その例はありません。")


@plain_page
def show_home(request: Request) -> Response:
    """What is in the folder, and what can be done with it."""
    context = context_of(request)
    workspace = context.workspace
    files = workspace.data_files()
    first = files[0] if files else "people.csv"
    return page(
        request,
        "home.html.jinja",
        commands=[command_line("init", Path(first).stem, "--from", first), command_line("demo")],
        folder=workspace.root.name,
        files=files,
        plans=workspace.plans(),
        releases=workspace.releases(),
        examples=EXAMPLES,
        running=context.jobs.running(),
        suffixes=",".join(DATA_SUFFIXES),
    )


@form_page
def open_example(request: Request, form: Form) -> Response:
    """Write a finished example, and show its plan."""
    example = EXAMPLES.get(form.get("name", ""))
    if example is None:
        raise InputError(NO_EXAMPLE)
    workspace = context_of(request).workspace
    plan = example.write(workspace.free_folder(form["name"]), language_of(request))
    return RedirectResponse(f"/plan?file={quote(workspace.name_of(plan))}", status_code=303)


async def take_upload(request: Request) -> Response:
    """Copy a file that was dropped on the page into the folder, under a name of its own; half a file leaves nothing."""
    workspace = context_of(request).workspace
    wish = safe_name(Path(request.path_params["name"]).name)
    language = language_of(request)
    try:
        if not wish.lower().endswith(DATA_SUFFIXES):
            raise InputError(NO_DATA_FILE.format(name=wish, suffixes=list(DATA_SUFFIXES)))
        target = workspace.free_place(wish)
        await _copy(request, target)
    except SudareError as error:
        return JSONResponse({"problem": words_of_error(error).explain(language)}, status_code=400)
    return JSONResponse({"next": f"/draft?file={quote(workspace.name_of(target))}"})


async def _copy(request: Request, target: Path) -> None:
    stated = request.headers.get("content-length", "")
    wanted = int(stated) if stated.isdigit() else 0
    if shutil.disk_usage(target.parent).free < wanted + SPACE_LEFT:
        raise OutputError(NO_SPACE)
    received = 0
    try:
        with atomically(target) as part:  # two tabs may bring the same file: the first that is whole takes the name
            part.chmod(0o600)
            with part.open("wb") as stream:
                async for chunk in request.stream():
                    stream.write(chunk)
                    received += len(chunk)
            if received != wanted:
                raise InputError(CUT_OFF)
    except ClientDisconnect:
        raise InputError(CUT_OFF) from None


ROUTES = (
    Route("/", show_home),
    Route("/examples", open_example, methods=["POST"]),
    Route("/files/{name}", take_upload, methods=["PUT"]),
)
