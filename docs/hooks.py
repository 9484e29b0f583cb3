"""What the site needs beyond its pages: a picture drawn when it is built, and the language of each page."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

EPSILONS = (0.1, 0.5, 1, 2)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Draw the picture."""
    files.append(File.generated(config, "pictures/power.png", content=_png(_power())))
    return files


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Say which language a page is in, so that browsers take the right letters."""
    is_japanese = page.file.src_uri.endswith(".ja.md")
    return output.replace('<html lang="en"', '<html lang="ja"', 1) if is_japanese else output


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
