"""Who is in the data? The attacker has a register of everybody with all columns, and the publication.

Look at any table that can be read off the publication, and at a person's place in it. M people of the register belong there, and
x of them are in the data by the reader's estimate. Half of them are expected, so x - M/2 is a surprise, and (x - M/2) / M
speaks for each of them, or against. A person's score adds up what all tables say: those of two columns, of three, and of all.

How much each says depends on the method, which the attacker knows. They draw halves of the register themselves, protect them, and
learns by least squares how much to believe: one weight for each size of table and each size of M.

They accuse everybody above a threshold. What matters is how many of those in the data they find while they wrongly accuse few of
the others; where many have the same score, they accuse some of them by lot.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.comparison.utility import tables_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.comparison.views import View

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = [
    "FALSE_ALARMS",
    "OWN_HALVES",
    "Recognition",
    "find_evidence",
    "largest_area",
    "largest_share_found",
    "learn_weights",
    "recognize",
]

FALSE_ALARMS = 0.01
"""The share of people outside the data whom the attacker accuses."""

OWN_HALVES = 3
"""That the attacker draws to learn from, if there are this many runs."""

CLASSES = 6
"""Places with 1, 2, 3-4, 5-8, 9-16, 17 and more people in the register are weighed apart."""

STIFFNESS = 1e-3
"""Of the least squares: weights that nothing is known about stay at 0."""


def find_evidence(view: View, register: Integers) -> Floats:
    """What a publication says about the people of each cell that is not empty in the register.

    Args:
        view: the publication.
        register: how many people there are in each cell.

    Returns:
        A row for each of these cells, in their order; a column for each size of table and class of places.
    """
    places = np.nonzero(register)
    columns = []
    for tables in tables_of(register.ndim)[1:]:
        surprises = np.zeros((CLASSES, places[0].size))
        for axes in tables:
            gone = tuple(axis for axis in range(register.ndim) if axis not in axes)
            people = register.sum(axis=gone)
            told = view.informed_table(axes)
            own = tuple(places[axis] for axis in axes)
            here = people[own]
            kinds = np.minimum(np.ceil(np.log2(here)).astype(np.int64), CLASSES - 1)
            surprises[kinds, np.arange(here.size)] += told[own] / here - 0.5
        columns.append(surprises)
    return np.concatenate(columns).T


def learn_weights(evidence: Sequence[Floats], truths: Sequence[Integers], register: Integers) -> Floats:
    """How much to believe each kind of evidence, from halves whose truth the attacker knows.

    Least squares over all people: 1/2 for those in the data and -1/2 for the others, from their evidence.

    Args:
        evidence: of each half, a row for each cell.
        truths: how many people of each cell are in each half.
        register: how many there are.

    Example:
        >>> one = np.array([[0.5], [-0.5]])
        >>> learn_weights([one], [np.array([3, 0])], np.array([3, 3])).round(2).tolist()
        [1.0]
    """
    size = evidence[0].shape[1]
    inner, outer = np.zeros((size, size)), np.zeros(size)
    for rows, truth in zip(evidence, truths, strict=True):
        inner += (rows * register[:, None]).T @ rows
        outer += rows.T @ (truth - register / 2)
    scale = np.sqrt(np.diag(inner))
    known = scale > 1e-6
    weights = np.zeros(size)
    matrix = inner[np.ix_(known, known)] / np.outer(scale[known], scale[known])
    matrix += STIFFNESS * np.eye(int(known.sum()))
    weights[known] = np.linalg.solve(matrix, outer[known] / scale[known]) / scale[known]
    return weights


@dataclass(frozen=True)
class Recognition:
    """How well people in the data are told from others.

    Attributes:
        area: the chance that somebody in the data has a higher score than somebody who is not; 0.5 is guessing.
        found: the share of the people in the data who are found while FALSE_ALARMS of the others are accused.
    """

    area: float
    found: float


def recognize(scores: Floats, truth: Integers, register: Integers) -> Recognition:
    """Judge scores by who is in the data.

    Args:
        scores: of the people of each cell.
        truth: how many of them are in the data.
        register: how many there are.

    Example:
        >>> recognize(np.array([0.5, -0.5]), np.array([1, 0]), np.array([1, 1]))
        Recognition(area=1.0, found=1.0)
        >>> recognize(np.array([0.0, 0.0]), np.array([1, 0]), np.array([1, 1]))
        Recognition(area=0.5, found=0.01)
    """
    values, places = np.unique(scores.ravel(), return_inverse=True)
    inside = np.bincount(places.ravel(), weights=truth.ravel(), minlength=values.size)[::-1]
    outside = np.bincount(places.ravel(), weights=(register - truth).ravel(), minlength=values.size)[::-1]
    right = np.r_[0.0, np.cumsum(inside) / max(1.0, float(inside.sum()))]
    wrong = np.r_[0.0, np.cumsum(outside) / max(1.0, float(outside.sum()))]
    area = float(np.sum((wrong[1:] - wrong[:-1]) * (right[1:] + right[:-1]) / 2))
    last = int(np.searchsorted(wrong, FALSE_ALARMS, side="right")) - 1
    found = float(right[last])
    if last + 1 < wrong.size and wrong[last + 1] > wrong[last]:
        found += float((right[last + 1] - right[last]) * (FALSE_ALARMS - wrong[last]) / (wrong[last + 1] - wrong[last]))
    return Recognition(area, found)


def largest_share_found(epsilon: float, delta: float = 0.0) -> float:
    """The most that epsilon and delta allow any attacker to find with FALSE_ALARMS.

    Example:
        >>> round(largest_share_found(1.0), 4)
        0.0272
    """
    rising = math.exp(min(epsilon, 50.0)) * FALSE_ALARMS + delta
    falling = 1 - math.exp(-epsilon) * (1 - delta - FALSE_ALARMS)
    return min(1.0, rising, falling)


def largest_area(epsilon: float, delta: float = 0.0) -> float:
    """The largest area under the curve that epsilon and delta allow.

    The best curve is straight from (0, delta) with slope exp(epsilon) to where it meets its mirror image.

    Example:
        >>> round(largest_area(1.0), 4), largest_area(0.0)
        (0.7311, 0.5)
    """
    corner = (1 - delta) / (1 + math.exp(min(epsilon, 50.0)))
    return 1 - corner * (1 - delta)
