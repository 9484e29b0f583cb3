"""The cells of a map: published ones for whoever looks at a release, true ones for the holder who asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sudare.bilingual import Words
from sudare.errors import InputError, SudareError, words_of_error
from sudare.releases.registry import find_kind_of_folder
from sudare.tables.maps import find_map
from sudare.web.context import Form, context_of, form_page, plain_page
from sudare.web.maps.areas import amounts_of, area_shapes, find_areas
from sudare.web.maps.borders import borders_in, borders_of, lists_in, pack_borders
from sudare.web.maps.layers import block_of, cells_of, published_table, slices_of, true_table
from sudare.web.maps.tiles import pack_cells
from sudare.web.rendering import language_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from starlette.requests import Request

    from sudare.domain.sparse_table import SparseTable

__all__ = ["ROUTES", "give_borders", "give_published_cells", "give_shapes", "give_true_cells"]

BINARY = "application/octet-stream"
NOT_ASKED = Words(
    "True counts are shown only if the holder of the data says so.",
    "真値は、データの保有者が明示した場合だけ表示します。",
)
NO_SHAPES = Words(
    "No public list in this folder names the meshes of these areas.",
    "このフォルダに、これらの地域のメッシュを示す公開の一覧がありません。",
)
NO_COUNTS = Words("This release is no table of counts.", "この公表は度数表ではありません。")


@plain_page
def give_published_cells(request: Request) -> Response:
    """The published cells, packed as `sudare.web.maps.tiles` says."""
    folder = _folder(request, request.query_params.get("folder", ""))
    table = published_table(folder)
    return _layer(table, table, slices_of(table, request.query_params))


@plain_page
def give_shapes(request: Request) -> Response:
    """The number of the area of each mesh, for a map of areas, packed as cells are."""
    table = published_table(_folder(request, request.query_params.get("folder", "")))
    axis = find_areas(table.domain)
    shapes = None if axis is None else area_shapes(axis, lists_in(context_of(request).workspace))
    if shapes is None:
        raise InputError(NO_SHAPES)
    return Response(pack_cells(shapes.cells), media_type=BINARY)


@plain_page
def give_borders(request: Request) -> Response:
    """Borders of prefectures and municipalities, packed as `sudare.web.maps.borders` says; none without a public list."""
    table = published_table(_folder(request, request.query_params.get("folder", "")))
    lists = lists_in(context_of(request).workspace)
    axis = find_areas(table.domain) if find_map(table.domain) is None else None
    if axis is not None:
        shapes = area_shapes(axis, lists)
        return Response(pack_borders(borders_in(None if shapes is None else shapes.window, lists)), media_type=BINARY)
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
        return _layer(truth, published, fixed)
    except SudareError as error:
        return JSONResponse({"problem": words_of_error(error).explain(language_of(request))}, status_code=400)


def _layer(table: SparseTable, published: SparseTable, fixed: Mapping[int, int]) -> Response:
    """The cells of a map, or the numbers of its areas."""
    axis = find_areas(table.domain) if find_map(table.domain) is None else None
    if axis is not None:
        return Response(amounts_of(table, axis, fixed), media_type=BINARY)
    return Response(pack_cells(cells_of(table, fixed, block_of(published))), media_type=BINARY)


def _folder(request: Request, name: str) -> Path:
    folder = context_of(request).workspace.place(name)
    if find_kind_of_folder(folder).name != "counts":
        raise InputError(NO_COUNTS)
    return folder


ROUTES = (
    Route("/map/cells", give_published_cells),
    Route("/map/shapes", give_shapes),
    Route("/map/borders", give_borders),
    Route("/map/truth", give_true_cells, methods=["POST"]),
)
