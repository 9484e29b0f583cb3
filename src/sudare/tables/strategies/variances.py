"""Variances of every area and every margin that a strategy publishes, from its noise alone.

They are those of generalised least squares over all groupings, where nobody is cut off at 0. Proof: ``margin_tree.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from sudare.refine.components import axes_within, subsets_of
from sudare.tables.prediction import wide_tree_variances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["strategy_variances"]

UNKNOWN = 1e30
"""The variance of what was not measured."""


def strategy_variances(
    bits: Sequence[int], lengths: Sequence[int], precisions: Values, heights: Sequence[int]
) -> Values:
    """The variance of each area and margin.

    Args:
        bits: how many halvings of the map make up each level.
        lengths: of the attributes.
        precisions: for each level, from the root, and each margin, numbered by its mask: one over the variance of the noise, 0
            where it is not measured. Further axes are candidates.
        heights: halvings below the areas asked for.

    Returns:
        An axis of heights, one of margins, and those of the candidates.
    """
    masks = range(1 << len(lengths))
    of_components = {}
    for mask in masks:
        known = sum(
            precisions[:, holder] / prod(lengths[axis] for axis in axes_within(holder & ~mask))
            for holder in masks
            if not mask & ~holder
        )
        noise = list(1 / np.maximum(known, 1 / UNKNOWN))
        of_components[mask] = np.stack(wide_tree_variances(bits, noise, heights, combined=True))
    margins = []
    for mask in masks:
        parts = []
        for part in subsets_of(mask):
            kept = prod(1 - 1 / lengths[axis] for axis in axes_within(part))
            spread = prod(lengths[axis] ** 2 for axis in axes_within(mask & ~part))
            parts.append(of_components[part] * (kept / spread))
        margins.append(sum(parts))
    return np.stack([np.asarray(margin) for margin in margins], axis=1)
