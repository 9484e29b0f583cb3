"""Beginning and ending the guided first release."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.responses import RedirectResponse
from starlette.routing import Route

from sudare.domain import mesh_codes
from sudare.web.content.examples import write_country
from sudare.web.content.guide import GUIDE_COOKIE
from sudare.web.context import Form, context_of, form_page

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["ROUTES", "begin_guide", "end_guide"]

FOLDER = "first-release"
DIGITS_BELOW = 10**5
"""Of a mesh of 500 m, below those of its first-level mesh."""


@form_page
def begin_guide(request: Request, form: Form) -> Response:
    """Write the invented country, and ask what its columns are."""
    workspace = context_of(request).workspace
    folder = workspace.free_folder(FOLDER)
    folder.mkdir()
    mesh = write_country(folder)
    ends = [mesh.first_row, mesh.first_row + mesh.rows - 1], [mesh.first_column, mesh.first_column + mesh.columns - 1]
    corners = mesh_codes(*ends, mesh.level) // DIGITS_BELOW
    named = {
        "file": workspace.name_of(folder / "country.parquet"),
        "corners": ", ".join(str(code) for code in corners.tolist()),
    }
    response = RedirectResponse(f"/draft?{urlencode(named)}", status_code=303)
    response.set_cookie(GUIDE_COOKIE, "yes", samesite="strict", httponly=True)
    return response


@form_page
def end_guide(request: Request, form: Form) -> Response:
    """Go on without the guide."""
    response = RedirectResponse("/", status_code=303)
    response.delete_cookie(GUIDE_COOKIE, samesite="strict", httponly=True)
    return response


ROUTES = (
    Route("/guide", begin_guide, methods=["POST"]),
    Route("/guide/end", end_guide, methods=["POST"]),
)
