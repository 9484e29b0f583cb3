"""Better weights for the levels of a tree, within limits: a quasi-Newton search on their logarithms.

Limits become quadratic penalties that grow from round to round. All slopes are differences, and all lengths of a step are
tried at once, so that a search is a few hundred calls on small arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["Aim", "improve_weights"]

PENALTIES = (10.0, 300.0, 1e4)
STEPS = 30
LENGTHS = 2.0 ** -np.arange(0, 18)
DIFFERENCE = 1e-4
GAIN = 1e-9
"""A step that lowers the loss by less is the last one of a round."""

MIN_WEIGHT = 0.003
"""Of the largest one: what is measured with less tells nothing."""

Aim = Callable[["Values"], "tuple[Values, Values]"]
"""For each row of weights: the loss, and by how much each limit is exceeded (negative where it is kept)."""


def improve_weights(weights: Values, aim: Aim) -> Values:
    """Weights with a smaller loss that keep the limits, or exceed them as little as they can; the largest is 1.

    Args:
        weights: to begin with, positive.
        aim: what is to become small, and what is limited.
    """
    place = np.log(weights)
    for penalty in PENALTIES:
        place = _descend(place, _penalised(aim, penalty))
    return _weights_at(place)


def _weights_at(places: Values) -> Values:
    return np.asarray(np.maximum(np.exp(places - places.max(axis=-1, keepdims=True)), MIN_WEIGHT))


def _penalised(aim: Aim, penalty: float) -> Callable[[Values], Values]:
    def losses(places: Values) -> Values:
        loss, excess = aim(_weights_at(places))
        return np.asarray(loss + penalty * (np.maximum(excess, 0.0) ** 2).sum(axis=-1))

    return losses


def _descend(place: Values, losses: Callable[[Values], Values]) -> Values:
    """The method of Broyden, Fletcher, Goldfarb and Shanno."""
    size = place.size
    steps = DIFFERENCE * np.eye(size)

    def slope(at: Values) -> Values:
        found = losses(np.concatenate([at + steps, at - steps]))
        return np.asarray((found[:size] - found[size:]) / (2 * DIFFERENCE))

    inverse = np.eye(size)
    loss, down = float(losses(place[None, :])[0]), slope(place)
    for _ in range(STEPS):
        direction = -inverse @ down
        if direction @ down >= 0:
            inverse, direction = np.eye(size), -down
        direction = direction / max(1.0, float(np.abs(direction).max()))
        tried = place + LENGTHS[:, None] * direction
        found = losses(tried)
        best = int(found.argmin())
        if not found[best] < loss - GAIN:
            break
        moved, turned = tried[best] - place, slope(tried[best]) - down
        place, loss, down = tried[best], float(found[best]), down + turned
        curved = float(moved @ turned)
        if curved > 0:
            left = np.eye(size) - np.outer(moved, turned) / curved
            inverse = left @ inverse @ left.T + np.outer(moved, moved) / curved
    return place
