"""The cells of a map: published ones for whoever looks at a release, true ones for the holder who asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sudare.bilingual import Words
from sudare.errors import InputError, SudareError, words_of_error
from sudare.releases.registry import find_kind_of_folder
from sudare.web.context import Form, context_of, form_page, plain_page
from sudare.web.maps.borders import borders_of, lists_in, pack_borders
from sudare.web.maps.layers import block_of, cells_of, published_table, slices_of, true_table
from sudare.web.maps.tiles import pack_cells
from sudare.web.rendering import language_of

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request

__all__ = ["ROUTES", "give_borders", "give_published_cells", "give_true_cells"]

BINARY = "application/octet-stream"
NOT_ASKED = Words(
    "True counts are shown only if the holder of the data says so.",
    "真値は、データの保有者が明示した場合だけ表示します。",
)
NO_COUNTS = Words("This release is no table of counts.", "この公表は度数表ではありません。")


@plain_page
def give_published_cells(request: Request) -> Response:
    """The published cells, packed as `sudare.web.maps.tiles` says."""
    folder = _folder(request, request.query_params.get("folder", ""))
    table = published_table(folder)
    fixed = slices_of(table, request.query_params)
    return Response(pack_cells(cells_of(table, fixed, block_of(table))), media_type=BINARY)


@plain_page
def give_borders(request: Request) -> Response:
    """Borders of prefectures and municipalities, packed as `sudare.web.maps.borders` says; none without a public list."""
    table = published_table(_folder(request, request.query_params.get("folder", "")))
    lists = lists_in(context_of(request).workspace)
    return Response(pack_borders(borders_of(table, lists, block_of(table))), media_type=BINARY)


@form_page
def give_true_cells(request: Request, form: Form) -> Response:
    """The true cells, for a form of our own page in which the holder says so."""
    try:
        if form.get("holder") != "yes":
            raise InputError(NOT_ASKED)
        folder = _folder(request, form.get("folder", ""))
        published = published_table(folder)
        fixed = slices_of(published, form)
        truth = true_table(context_of(request).workspace, folder)
        return Response(pack_cells(cells_of(truth, fixed, block_of(published))), media_type=BINARY)
    except SudareError as error:
        return JSONResponse({"problem": words_of_error(error).explain(language_of(request))}, status_code=400)


def _folder(request: Request, name: str) -> Path:
    folder = context_of(request).workspace.place(name)
    if find_kind_of_folder(folder).name != "counts":
        raise InputError(NO_COUNTS)
    return folder


ROUTES = (
    Route("/map/cells", give_published_cells),
    Route("/map/borders", give_borders),
    Route("/map/truth", give_true_cells, methods=["POST"]),
)
