"""What the site needs beyond its pages: a picture drawn when it is built, and two languages side by side."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page

EPSILONS = (0.1, 0.5, 1, 2)

JAPANESE = ".ja.md"
SPOKEN = {
    "Table of contents": "目次",
    "Search": "検索",
    "Initializing search": "検索の準備中",
    "Skip to content": "本文へ",
    "Back to top": "ページの先頭へ",
    "Previous": "前へ",
    "Next": "次へ",
    "Navigation": "ナビゲーション",
    "Footer": "フッター",
    "Tutorial": "チュートリアル",
    "How-to": "手順",
    "Reference": "リファレンス",
    "Explanation": "解説",
    "Start": "English",
}
"""What the theme and the headings of the list of pages say, on Japanese pages; "Start" leads to the English front page."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Draw the picture."""
    files.append(File.generated(config, "pictures/power.png", content=_png(_power())))
    return files


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Lead from each page to the next one in its language."""
    for is_japanese in (False, True):
        pages = [page for page in nav.pages if _is_japanese(page) == is_japanese]
        for number, page in enumerate(pages):
            page.previous_page = pages[number - 1] if number else None
            page.next_page = pages[number + 1] if number + 1 < len(pages) else None
    return nav


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Link a page to itself in the other language; the list of pages shows one language."""
    uri = page.file.src_uri
    other = uri.replace(JAPANESE, ".md") if _is_japanese(page) else uri.removesuffix(".md") + JAPANESE
    twin = files.get_file_from_path(other)
    if twin is None:
        return html
    language, name = ("en", "English") if _is_japanese(page) else ("ja", "日本語")
    return f'<a class="twin" lang="{language}" href="{twin.url_relative_to(page.file)}">{name}</a>\n{html}'


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Say which language a page is in, so that browsers take the right letters, and say the theme's words in it."""
    if not _is_japanese(page):
        return output
    output = output.replace('<html lang="en"', '<html lang="ja"', 1)
    for english, japanese in SPOKEN.items():
        output = re.sub(rf"(>\s*){english}(\s*<)", rf"\g<1>{japanese}\g<2>", output)
        output = re.sub(rf'((?:aria-label|placeholder)="){english}([":])', rf"\g<1>{japanese}\g<2>", output)
    return output


def _is_japanese(page: Page) -> bool:
    return page.file.src_uri.endswith(JAPANESE)


def _power() -> Any:
    """What a test of one presence can achieve."""
    import sudare

    return sudare.privacy.plot_trade_off(
        {f"epsilon = {epsilon}": sudare.Budget(epsilon=epsilon) for epsilon in EPSILONS}
    )


def _png(figure: Any) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=110)
    return stream.getvalue()
