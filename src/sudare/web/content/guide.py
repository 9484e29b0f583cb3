"""The guided first release: five steps on invented people, told of on the pages that everybody uses.

That somebody is being guided stands in a cookie of their browser, as the language does; which step it is, follows from the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["GUIDE_COOKIE", "STEPS", "step_of"]

GUIDE_COOKIE = "sudare-guide"
STEPS = (1, 2, 3, 4, 5)
PAGES: Mapping[str, int] = {
    "home.html.jinja": 1,
    "draft.html.jinja": 2,
    "plan.html.jinja": 3,
    "job.html.jinja": 4,
    "release.html.jinja": 5,
}


def step_of(request: Request, template: str) -> int | None:
    """Which step a page is; None where nobody is guided, and on pages that are none."""
    try:
        found = SimpleCookie(request.headers.get("cookie", "")).get(GUIDE_COOKIE)
    except CookieError:
        return None
    return PAGES.get(template) if found is not None and found.value == "yes" else None
