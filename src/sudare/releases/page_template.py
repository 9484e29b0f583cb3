"""Templates of pages that have every text in both languages and show one of them.

All pages fill the blocks of one shell, ``shell.html.jinja`` beside this file, and share one stylesheet, ``page.css``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sudare.bilingual import Words

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

__all__ = ["both", "page_template", "stated_words", "text"]

SHARED = Path(__file__).parent


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

    if words.english == words.japanese:
        return escape(words.english)
    return Markup('<span class="en" lang="en">{}</span><span class="ja" lang="ja">{}</span>').format(
        words.english, words.japanese
    )
