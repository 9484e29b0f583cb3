"""A published map as a small picture."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO

import numpy as np

from sudare.domain.table import CountTable

__all__ = ["map_as_png"]

MOST_PIXELS = 256


def map_as_png(table: CountTable) -> str:
    """The counts of a table of two axes, first axis upwards, on a logarithmic scale, as base64 text."""
    from matplotlib.image import imsave

    rows, columns = table.domain.shape
    block = -(-max(rows, columns) // MOST_PIXELS)
    along, across = table.domain.places_of(table.keys)
    pixels = np.zeros((-(-rows // block), -(-columns // block)))
    np.add.at(pixels, (along // block, across // block), table.counts)
    enlarged = max(1, MOST_PIXELS // max(pixels.shape))
    shades = np.log1p(pixels).repeat(enlarged, axis=0).repeat(enlarged, axis=1)
    picture = BytesIO()
    imsave(picture, shades, origin="lower", cmap="magma_r", format="png")
    return b64encode(picture.getvalue()).decode()
