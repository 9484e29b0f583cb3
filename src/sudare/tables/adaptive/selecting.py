"""How badly a model explains a marginal, as a whole number that one person changes little.

The score is the l1 distance between the people's counts and the model's. The model's counts are rounded to a grid *before* the
distance is taken: the model is public, so this moves scores but not what one person can change of them.

Proof: ``adaptive_margins.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sudare.privacy.unit import Sensitivity
from sudare.tables.adaptive.graphical_model import GraphicalModel
from sudare.tables.adaptive.measured import MeasuredPeople

if TYPE_CHECKING:
    from sudare.tables.adaptive.measured import Clique

__all__ = ["GRID", "l1_scores", "scaled_sensitivity"]

GRID = 1 << 10
"""Scores count in steps of 1/1024 of a person."""

MAX_EXPECTED = 2.0**62
"""People that a model may expect in a cell; more are cut off."""


def l1_scores(people: MeasuredPeople, model: GraphicalModel, cliques: Sequence[Clique]) -> list[int]:
    """For each clique `GRID` times the l1 distance between the people's counts and the model's rounded ones.

    Sensitivity: `scaled_sensitivity`.
    """
    return [_distance(people, model, clique) for clique in cliques]


def scaled_sensitivity(sensitivity: Sensitivity, weight: int = 1) -> int:
    """The most that one unit can change of a score times a weight."""
    return sensitivity.l1 * GRID * weight


def _distance(people: MeasuredPeople, model: GraphicalModel, clique: Clique) -> int:
    expected = np.nan_to_num(model.marginal(clique), nan=0.0, posinf=MAX_EXPECTED)
    whole = np.floor(np.clip(expected, 0.0, MAX_EXPECTED))
    # In steps of the grid the model expects `whole` times GRID and these; apart, because counts may fill a word alone.
    steps = np.rint(np.clip(expected - whole, 0.0, 1.0) * GRID).astype(np.int64)
    apart = people.counts(clique) - whole.astype(np.int64)
    signs = np.where(apart > 0, -1, 1)
    distances = np.abs(apart)
    # Added in halves of 32 bits: no sum can run over, whatever the counts are.
    low, high = distances & 0xFFFFFFFF, distances >> 32
    return GRID * ((int(high.sum()) << 32) + int(low.sum())) + int((signs * steps).sum())
