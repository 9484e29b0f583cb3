"""What the site needs beyond its pages: pictures drawn when it is built, and the language of each page.

The pictures show an invented country, so the true counts may be seen beside the published ones.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

SIDE, PEOPLE, EPSILON = 256, 200_000, 1
EPSILONS = (0.1, 0.5, 1, 2)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Draw the pictures."""
    for name, figure in (("maps.png", _maps()), ("power.png", _power())):
        files.append(File.generated(config, f"pictures/{name}", content=_png(figure)))
    return files


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Say which language a page is in, so that browsers take the right letters."""
    is_japanese = page.file.src_uri.endswith(".ja.md")
    return output.replace('<html lang="en"', '<html lang="ja"', 1) if is_japanese else output


def _maps() -> Any:
    """The invented country, before and after."""
    import numpy as np
    from matplotlib.figure import Figure

    import sudare
    from sudare.examples import invent_country

    country = invent_country(SIDE, people=PEOPLE)
    published = sudare.publish(country, sudare.Budget(epsilon=EPSILON))
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    axes = figure.subplots(1, 2)
    for place, table, title in (
        (axes[0], country, "as counted (kept secret)"),
        (axes[1], published.table, f"as published, epsilon = {EPSILON}"),
    ):
        counts = np.ma.masked_equal(table.to_dense(), 0)
        place.imshow(np.log1p(counts), origin="lower", cmap="viridis", interpolation="nearest")
        place.set_title(title)
        place.set_xticks([])
        place.set_yticks([])
        place.set_facecolor("0.95")
    return figure


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
