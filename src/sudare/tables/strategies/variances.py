"""Variances of every area and every margin that a strategy publishes, from its noise alone.

They are those of generalised least squares over all groupings, where nobody is cut off at 0. Proof: ``margin_tree.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from sudare.refine.components import axes_within, subsets_of
from sudare.tables.planning.prediction import level_variances, wide_tree_variances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["component_noise", "margins_of_components", "strategy_variances"]

UNKNOWN = 1e30
"""The variance of what was not measured."""


def strategy_variances(
    bits: Sequence[int],
    lengths: Sequence[int],
    precisions: Values,
    heights: Sequence[int],
    fans: Sequence[float] | None = None,
) -> Values:
    """The variance of each area and margin.

    Args:
        bits: how many halvings of the map make up each level.
        lengths: of the attributes.
        precisions: for each level, from the root, and each margin, numbered by its mask: one over the variance of the noise, 0
            where it is not measured. Further axes are candidates.
        heights: halvings below the areas asked for.
        fans: of a hierarchy, how many children nodes of each level have; heights then are those of its levels.

    Returns:
        An axis of heights, one of margins, and those of the candidates.
    """
    of_components = {
        mask: np.stack(_of_areas(bits, list(noise), heights, fans))
        for mask, noise in component_noise(lengths, precisions).items()
    }
    return margins_of_components(lengths, of_components)


def component_noise(lengths: Sequence[int], precisions: Values) -> dict[int, Values]:
    """For each component, the variance of its noise on each level, from what all margins tell of it."""
    masks = range(1 << len(lengths))
    found = {}
    for mask in masks:
        known = sum(
            precisions[:, holder] / prod(lengths[axis] for axis in axes_within(holder & ~mask))
            for holder in masks
            if not mask & ~holder
        )
        found[mask] = np.asarray(1 / np.maximum(known, 1 / UNKNOWN))
    return found


def margins_of_components(lengths: Sequence[int], of_components: Mapping[int, Values]) -> Values:
    """The variance of each margin, as the second axis, from those of all components."""
    margins = []
    for mask in range(1 << len(lengths)):
        parts = []
        for part in subsets_of(mask):
            kept = prod(1 - 1 / lengths[axis] for axis in axes_within(part))
            spread = prod(lengths[axis] ** 2 for axis in axes_within(mask & ~part))
            parts.append(of_components[part] * (kept / spread))
        margins.append(sum(parts))
    return np.stack([np.asarray(margin) for margin in margins], axis=1)


def _of_areas(
    bits: Sequence[int], noise: list[Values], heights: Sequence[int], fans: Sequence[float] | None
) -> list[Values]:
    if fans is None:
        return wide_tree_variances(bits, noise, heights, combined=True)
    of_levels = dict(
        zip([sum(bits[level:]) for level in range(len(bits) + 1)], level_variances(fans, noise), strict=True)
    )
    return [of_levels[height] for height in heights]
