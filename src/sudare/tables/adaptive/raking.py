"""The last step of a model: margins of single attributes as all measurements together say, without regard to signs.

Counts that cannot be negative take people from large values and give them to small ones, a little in every cell of a noisy
margin; over the cells of a value this adds up to a systematic error. Sums of noisy counts as they were measured have none. So
each attribute's margin is estimated from all noisy margins that contain it, signs and all, and the model is raked to these
estimates: its potentials of single attributes are changed until its margins agree, and nothing else of it is. All of this is
post-processing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sudare.refine.simplex import project_on_simplex
from sudare.tables.adaptive.graphical_model import GraphicalModel
from sudare.tables.adaptive.measured import Evidence

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["attribute_estimates", "raked"]

MAX_SWEEPS = 40
ENOUGH = 1e-3
"""Relative change of a margin with people, below which all agree."""

MIN_SHARE = 1e-12
"""Of the people, that a value keeps in the model."""


def attribute_estimates(evidence: Sequence[Evidence], sizes: Sequence[int], total: float) -> list[NDArray[np.float64]]:
    """For each attribute, the people of its values: sums of all noisy margins, weighed by their noise; >= 0, with the total.

    What is below 0 is cut off by the nearest margin that has the total; this is the one step that knows of signs.
    """
    found = []
    for attribute, size in enumerate(sizes):
        sums, weights = np.zeros(size), np.zeros(size)
        for item in evidence:
            if attribute in item.clique:
                others = tuple(axis for axis, column in enumerate(item.clique) if column != attribute)
                weight = 1 / item.variances.sum(axis=others)
                sums += weight * item.values.sum(axis=others)
                weights += weight
        # In shares, because a total may be larger than the projection takes.
        found.append(total * np.asarray(project_on_simplex(sums / weights / total, 1), dtype=np.float64))
    return found


def raked(model: GraphicalModel, targets: Sequence[NDArray[np.float64]]) -> GraphicalModel:
    """The model with these margins of single attributes (iterative proportional fitting).

    Example:
        >>> import numpy as np
        >>> from sudare.tables.adaptive.graphical_model import GraphicalModel
        >>> from sudare.tables.adaptive.raking import raked
        >>> model = GraphicalModel([2, 2], 10.0, {(0, 1): np.log([[4.0, 1.0], [1.0, 4.0]])})
        >>> fitted = raked(model, [np.array([7.0, 3.0]), np.array([5.0, 5.0])])
        >>> fitted.marginal((0,)).round(3).tolist(), fitted.marginal((1,)).round(3).tolist()
        ([7.0, 3.0], [5.0, 5.0])
    """
    least = MIN_SHARE * model.total
    for _ in range(MAX_SWEEPS):
        moved = 0.0
        for attribute, target in enumerate(targets):
            change = np.log(np.maximum(target, least)) - np.log(np.maximum(model.marginal((attribute,)), least))
            potentials = dict(model.potentials)
            potentials[(attribute,)] = potentials.get((attribute,), np.zeros(target.size)) + change
            model = GraphicalModel(model.sizes, model.total, potentials)
            moved = max(moved, float(np.abs(change[target > ENOUGH * model.total]).max(initial=0.0)))
        if moved <= ENOUGH:
            break
    return model
