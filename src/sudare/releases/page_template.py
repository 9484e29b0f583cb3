"""Templates of pages that have every text in both languages and show one of them.

All pages fill the blocks of one shell, ``shell.html.jinja`` beside this file, and share one stylesheet, ``page.css``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sudare.bilingual import Words

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

__all__ = ["both", "page_template", "stated_words", "text", "unbroken"]

SHARED = Path(__file__).parent
NO_BREAK = "\u00a0"
_KEPT_TOGETHER = re.compile(
    r"(?<=\d) (?=(?:%|m|km|kB|MB|GB|B)(?![A-Za-z]))|(?<=[εδρ]) (?==)|(?<=[εδρ] =) (?=\S)"
    r"|(?<=\d) (?=[–×] ?\d)|(?<=[±–×]) (?=\d)"
)
"""Spaces within a number with its unit, a budget, a range or a product."""


def page_template(name: str, folders: Sequence[Path], texts: Mapping[str, Words]) -> Template:
    """A template in which ``text`` and ``both`` write in both languages.

    Args:
        name: of its file.
        folders: where it and what it includes may be, besides the shell; they hold templates of this package alone.
        texts: of the page, by name.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # Everything that is put in is escaped.
    environment = Environment(
        loader=FileSystemLoader([*folders, SHARED]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["text"] = partial(text, texts)
    environment.globals["both"] = both
    environment.filters["unbroken"] = unbroken
    return environment.get_template(name)


def stated_words(values: Mapping[str, str]) -> Words:
    """A text in both languages, as a document states it.

    Raises:
        KeyError: if it lacks one of them; likewise TypeError if it is no such text.
    """
    return Words(values["english"], values["japanese"])


def text(texts: Mapping[str, Words], name: str, /, **values: object) -> Markup:
    """A text of the page in both languages; values may be Words."""
    return both(texts[name].format(**values))


def both(words: Words) -> Markup:
    """Both languages, of which the page shows one; once if they are the same."""
    from markupsafe import Markup, escape

    english, japanese = unbroken(words.english), unbroken(words.japanese)
    if english == japanese:
        return escape(english)
    return Markup('<span class="en" lang="en">{}</span><span class="ja" lang="ja">{}</span>').format(english, japanese)


def unbroken(text: str) -> str:
    """A text whose numbers stay with their units, and budgets with their letters, where a line is broken.

    Example:
        >>> unbroken("at most 8.3 % with ε = 0.5").replace(NO_BREAK, "_")
        'at most 8.3_% with ε_=_0.5'
    """
    return _KEPT_TOGETHER.sub(NO_BREAK, text)
