"""Pages in one language, made of templates whose every value is escaped."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache, partial
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse

from sudare.bilingual import BETWEEN_SENTENCES, Language, Words
from sudare.version import __version__
from sudare.web.content.guide import STEPS, step_of
from sudare.web.words import TEXTS

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.requests import Request

__all__ = ["LANGUAGE_COOKIE", "language_of", "page", "text_of"]

LANGUAGE_COOKIE = "sudare-language"
TEMPLATES = Path(__file__).parent / "templates"


def language_of(request: Request) -> Language:
    """The language that somebody chose, or that their browser asks for; Japanese first, as most who use it read it."""
    chosen = request.query_params.get("lang") or _cookie(request.headers.get("cookie", ""))
    if chosen in ("en", "ja"):
        return "ja" if chosen == "ja" else "en"
    asked = request.headers.get("accept-language", "ja").lower()
    return "en" if asked.startswith("en") else "ja"


def text_of(language: Language, name: str, /, **values: object) -> str:
    """A text of the page."""
    words = TEXTS[name]
    return (words.format(**values) if values else words).explain(language)


def page(
    request: Request,
    template: str,
    /,
    *,
    status: int = 200,
    commands: Sequence[str] = (),
    shared: Mapping[str, object] | None = None,
    **values: object,
) -> HTMLResponse:
    """A page in the language of whoever asks.

    Args:
        request: that is answered.
        template: its file.
        status: of the answer.
        commands: the command lines that do the same.
        shared: values that several templates show.
        values: that this one shows.
    """
    language = language_of(request)
    shown = {
        "language": language,
        "commands": commands,
        "version": __version__,
        "here": request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        "switch": partial(_other_language, request),
        "text": partial(text_of, language),
        "say": partial(_say, language),
        "gap": BETWEEN_SENTENCES.explain(language),
        "guide_step": step_of(request, template),
        "guide_steps": STEPS,
        **(shared or {}),
        **values,
    }
    response = HTMLResponse(_environment().get_template(template).render(shown), status_code=status)
    if request.query_params.get("lang") in ("en", "ja"):
        response.set_cookie(LANGUAGE_COOKIE, language, samesite="strict", httponly=True)
    return response


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["for_script"] = _for_script
    return environment


def _for_script(value: object) -> str:
    """Values for a script, in an attribute of an element: the template escapes them as it does any text."""
    return json.dumps(value, ensure_ascii=False)


def _say(language: Language, words: Words) -> str:
    return words.explain(language)


def _other_language(request: Request, language: str) -> str:
    return str(request.url.include_query_params(lang=language).replace(scheme="", netloc=""))


def _cookie(text: str) -> str:
    try:
        found: Mapping[str, object] = SimpleCookie(text)
    except CookieError:
        return ""
    return getattr(found.get(LANGUAGE_COOKIE), "value", "")
