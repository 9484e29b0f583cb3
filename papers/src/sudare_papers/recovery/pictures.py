"""Pictures of the sparse-recovery experiment: the city, the map, and errors by the size of the true count."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare_papers.recovery.data import country, synthetic_city
from sudare_papers.recovery.methods import BANDS
from sudare_papers.recovery.runs import BEST_LASSO, CLIP, LASSO, PROPOSED, SIMPLEX, WIDE, Averages
from sudare_papers.report import Picture
from sudare_papers.settings import Settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["picture_of_bands", "picture_of_city", "picture_of_country"]

STYLES = {
    PROPOSED: ("Proposed", "#0072b2"),
    SIMPLEX: ("Simplex", "#e69f00"),
    LASSO: ("NNL", "#cc79a7"),
    BEST_LASSO: ("NNL, best weight", "#56b4e9"),
    CLIP: ("LM", "#999999"),
    WIDE: ("ours: wide tree", "#d55e00"),
}
"""Colours that colour-blind people can tell apart."""

PIXELS = 1024
MESH_HEIGHT = 0.82
"""Height over width of a mesh in the middle of Japan: 15 seconds of latitude, 22.5 of longitude."""


def picture_of_city() -> Picture:
    """Figure 1."""

    def draw(figure: Any) -> None:
        _draw_map(figure, synthetic_city(64), "people in a cell")

    return Picture("figure-1", Words("Figure 1: the synthetic city", "図1：人工の都市データ"), draw, (5.0, 4.2))


def picture_of_country(settings: Settings, note: Words) -> Picture:
    """Figure 5."""

    def draw(figure: Any) -> None:
        dense = country(settings).to_dense()
        step = max(1, dense.shape[0] // PIXELS)
        rows, columns = (length // step for length in dense.shape)
        blocks = dense.reshape(rows, step, columns, step).sum(axis=(1, 3))
        _draw_map(figure, blocks, f"people in {step} x {step} cells" if step > 1 else "people in a cell", MESH_HEIGHT)

    return Picture("figure-5", Words("Figure 5: the map", "図5：地図データ"), draw, (6.4, 4.4), note)


def picture_of_bands(name: str, title: Words, averages: Averages, shown: str, note: Words | None = None) -> Picture:
    """Figures 2, 3, 4 and 6: RMSE and ME by band, a bar for each method."""

    def draw(figure: Any) -> None:
        above, below = figure.subplots(2, 1, sharex=True)
        methods = [method for method in STYLES if method in averages.errors or method == BEST_LASSO]
        width = 0.84 / len(methods)
        places = np.arange(len(BANDS))
        for number, method in enumerate(methods):
            errors = averages.of(method)
            label, colour = STYLES[method]
            at = places + (number - (len(methods) - 1) / 2) * width
            above.bar(at, [errors.rmse_in(band) for band in BANDS], width, color=colour, label=label)
            below.bar(at, [errors.me_in(band) for band in BANDS], width, color=colour)
        above.set_yscale("log")
        above.set_ylabel("RMSE")
        above.set_title(shown)
        above.legend(ncols=3, fontsize="small", loc="upper left")
        low, high = above.get_ylim()
        above.set_ylim(low, high * 12)  # room for the legend
        # Small and large biases of both signs in one picture.
        smallest = min(averages.of(SIMPLEX).rmse_in(band) for band in BANDS)
        below.set_yscale("symlog", linthresh=10.0 ** floor(log10(smallest / 4)))
        low, high = below.get_ylim()
        below.set_ylim(2 * low, 2 * high)
        below.axhline(0, color="black", linewidth=0.8)
        below.set_ylabel("mean error")
        below.set_xticks(places, BANDS)
        below.set_xlabel("true count of the cell")

    return Picture(name, title, draw, (7.4, 6.0), note)


def _draw_map(figure: Any, counts: NDArray[np.int64], label: str, height: float = 1.0) -> None:
    from matplotlib.colors import LogNorm

    axes = figure.subplots()
    shown = np.ma.masked_equal(counts, 0)
    axes.set_facecolor("#e8eef2")
    norm = LogNorm(vmin=1)
    image = axes.imshow(shown, origin="lower", cmap="inferno_r", norm=norm, aspect=height, interpolation="nearest")
    axes.set_xticks([])
    axes.set_yticks([])
    figure.colorbar(image, ax=axes, label=f"{label} (grey: none)")
