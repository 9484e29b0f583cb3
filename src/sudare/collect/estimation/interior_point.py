"""The maximum likelihood to the last digits, by an interior-point method, for tables of up to some thousand cells.

The iterative Bayes method slows down where cells tend to 0 and where noise makes neighbours hard to tell apart. Newton's method
does not mind the latter, and a logarithmic barrier takes care of the former: 10 to 20 steps reached a certified gap of 1e-9
on every table tried, each a linear system in all cells.

The sum of the shares minus the log-likelihood has its minimum over all shares >= 0 where the likelihood has its maximum on the
simplex, so that only the bounds remain as constraints.

Proof: ``crosstab.md`` beside this file.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from sudare.collect.estimation.likelihood import Fit, Likelihood, gap_of
from sudare.collect.transitions.kronecker import Kronecker

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["can_be_written_out", "fit_by_interior_point"]

MAX_WRITTEN_OUT = 1 << 21
"""Entries of the whole matrix, up to which it is formed here: 1,448 cells if there are as many reports."""

MAX_STEPS = 100
MIN_BARRIER = 1e-16
"""Times the cells: how far the likelihood may be from its maximum because of the barrier; far below what rounding leaves."""

MAX_HALVINGS = 30
KEPT_FROM_BOUNDARY = 0.005
SHRINKING = 0.1
NEAR_CENTRE = 10
"""Times the barrier: how well a barrier must be solved before it is lowered."""

MIN_OF_PROMISED = 1e-4
FARTHEST_FROM_CENTRE = 1e8


def can_be_written_out(operator: Kronecker) -> bool:
    """Whether the table is small enough for this method."""
    return prod(operator.values) * prod(operator.reports) <= MAX_WRITTEN_OUT


def fit_by_interior_point(likelihood: Likelihood, start: Values, tolerance: float) -> Fit:
    """The maximum likelihood.

    Args:
        likelihood: of the reports.
        start: shares above 0, such as some steps of the iterative Bayes method give.
        tolerance: of the certified gap, per person.
    """
    whole = likelihood.operator.written_out()
    told, cells = likelihood.told.ravel(), start.size
    whole, told = np.ascontiguousarray(whole[:, told > 0]), told[told > 0]
    shares = np.maximum(start.ravel(), 1e-3 / cells)
    barrier = 1e-2 / cells
    slopes = np.maximum(_gradient(whole, told, shares), barrier / shares)
    best = _fit(likelihood, shares, 0, tolerance)
    for step in range(1, MAX_STEPS + 1):
        if best.converged or barrier * cells < MIN_BARRIER:
            break
        curvature = told / (shares @ whole) ** 2
        matrix = (whole * curvature) @ whole.T
        matrix[np.diag_indices(cells)] += slopes / shares
        downhill = barrier / shares - _gradient(whole, told, shares)
        move = np.asarray(np.linalg.solve(matrix, downhill), dtype=np.float64)
        change = barrier / shares - slopes - slopes / shares * move
        shares = _line_search(whole, told, shares, move, downhill, barrier)
        slopes = slopes + min(1.0, _longest(slopes, change)) * change
        centre = barrier / shares
        slopes = np.clip(slopes, centre / FARTHEST_FROM_CENTRE, centre * FARTHEST_FROM_CENTRE)
        fit = _fit(likelihood, shares, step, tolerance)
        best = fit if fit.gap < best.gap else best
        off_centre = np.abs(shares * _gradient(whole, told, shares) - barrier).max()
        if off_centre <= NEAR_CENTRE * barrier:
            barrier *= SHRINKING
    return best


def _gradient(whole: Values, told: Values, shares: Values) -> Values:
    return np.asarray(1 - whole @ (told / (shares @ whole)))


def _longest(values: Values, change: Values) -> float:
    """The longest step that leaves all values above 0."""
    falling = change < 0
    if not falling.any():
        return np.inf
    return float((-values[falling] / change[falling]).min()) * (1 - KEPT_FROM_BOUNDARY)


def _line_search(whole: Values, told: Values, shares: Values, move: Values, downhill: Values, barrier: float) -> Values:
    """The first of full, half, quarter ... steps that lowers what is minimised; the shares as they were if none does."""

    def height(at: Values) -> float:
        return float(at.sum() - told @ np.log(at @ whole) - barrier * np.log(at).sum())

    before, promised = height(shares), float(move @ downhill)
    length = min(1.0, _longest(shares, move))
    for _ in range(MAX_HALVINGS):
        moved = shares + length * move
        if height(moved) <= before - MIN_OF_PROMISED * length * promised + 1e-14 * abs(before):
            return moved
        length /= 2
    return shares


def _fit(likelihood: Likelihood, shares: Values, steps: int, tolerance: float) -> Fit:
    whole_table = (shares / shares.sum()).reshape(likelihood.operator.values)
    expected = likelihood.expected(whole_table)
    gap = gap_of(likelihood.factors(expected))
    return Fit(whole_table, likelihood.at(expected), gap, steps, gap <= tolerance)
