"""The colours of maps, defined once: for pictures in files and notebooks, for reports, for the terminal and for the page.

Every palette runs from light to dark, so that it reads in grey and by people who see fewer colours; on a dark ground it is turned
round. Differences have two palettes that stay apart for all of them: orange above 0, blue below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["COLD_COLOURS", "COLOURS", "PALETTES", "STEPS", "mix_colours", "shades_of"]

COLOURS = ("#fde3a7", "#fbb877", "#f5875e", "#de4968", "#a8327d", "#721f81", "#411070", "#150e38")
"""From few people to many, in even steps of the logarithm; dark means many, in print too."""

COLD_COLOURS = ("#d5f0ea", "#a8dfd5", "#73c7bb", "#3fa79c", "#1f8680", "#116463", "#0b4547", "#06292c")
"""From little below 0 to much, in the same steps: green, because the others end in a dark blue."""

EXCESS_COLOURS = ("#fdeedc", "#fbd2a0", "#f3a75a", "#dd7f24", "#b65e12", "#86420b", "#562a08")
"""Differences above 0."""

SHORTFALL_COLOURS = ("#e3edf7", "#b9d3ea", "#84b2db", "#4f8cc4", "#2b69a6", "#194a7e", "#0e2e53")
"""Differences below 0."""

PALETTES: Mapping[str, tuple[str, ...]] = {
    "counts": COLOURS,
    "below": COLD_COLOURS,
    "excess": EXCESS_COLOURS,
    "shortfall": SHORTFALL_COLOURS,
}
"""In the order of the rows of the texture that the page paints with."""

STEPS = 254
"""Shades of a palette from the smallest amount to the largest; shade 0 is nothing, and is not painted."""


def mix_colours(colours: Sequence[str], number: int) -> NDArray[np.float64]:
    """So many colours between the given ones, as red, green and blue from 0 to 255."""
    given = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in colours], dtype=np.float64)
    steps, shades = np.linspace(0, 1, len(given)), np.linspace(0, 1, number)
    return np.stack([np.interp(shades, steps, given[:, part]) for part in range(3)], axis=1).round()


def shades_of(
    amounts: NDArray[np.float64], most: float, *, steps: int = STEPS, is_logarithmic: bool = True
) -> NDArray[np.float64]:
    """The shade of each amount, whatever its sign: 0 for nothing, ``steps`` for the largest.

    Args:
        amounts: counts or differences.
        most: the amount with the last shade.
        steps: how many shades there are.
        is_logarithmic: whether shades are even steps of the logarithm of 1 + amount; of the amount otherwise.
    """
    sizes = np.abs(amounts)
    whole = max(most, 1.0)
    shares = np.log1p(sizes) * (steps / np.log1p(whole)) if is_logarithmic else sizes * (steps / whole)
    return np.asarray(np.ceil(shares))
