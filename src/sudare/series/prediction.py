"""How accurate a series will be, by size of area and by tick, from its noise and from stated assumptions; never from the data.

Two things make a count wrong: noise, and people who moved more often than the plan counts and stay where they were last counted.
The noise of areas is that of a single table with the same noise on its levels (`sudare.tables.planning.prediction`). How many are
frozen is predicted for people who move independently of each other, so many times a window on average.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, sqrt
from typing import TYPE_CHECKING

from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.parameters import shown
from sudare.series.mechanism import SeriesDesign
from sudare.tables.planning.prediction import wide_tree_variances

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["SeriesError", "frozen_share", "predict_series"]


@dataclass(frozen=True)
class SeriesError:
    """What to expect of the areas of one size at one tick.

    Attributes:
        cells: how many an area has.
        tick: its number in the window.
        deviation: the standard deviation of the noise in a count.
    """

    cells: int
    tick: int
    deviation: float


def predict_series(design: SeriesDesign, ticks: Sequence[int], drift: float | None = None) -> list[SeriesError]:
    """The noise in counts of areas, by size and tick, for areas in which everybody is far from 0.

    Args:
        design: of the series.
        ticks: that are asked for, from 0.
        drift: the variance of the change of a cell's count from tick to tick, which is an assumption. If people come and go
            independently of each other, it is the number that comes to or goes from a cell at a tick, and areas have as many
            times more as they have cells. What filters do is predicted from it; if left out, it is left out of account.

    Example:
        >>> from sudare import Budget
        >>> from sudare.domain import Category, Domain
        >>> from sudare.series.planning import plan_series
        >>> design = plan_series(Domain((Category("place", ("a", "b")),)), Budget(rho="0.5"), ticks=24, moves=2)
        >>> [(error.cells, error.tick) for error in predict_series(design, [0, 23])]
        [(1, 0), (1, 23), (2, 0), (2, 23)]
    """
    heights = range(design.layout.depth + 1)
    noise_of, lag_of = _noise_and_lag(design, drift)
    found = {}
    for tick in ticks:
        if type(tick) is not int or not 0 <= tick < design.ticks:
            requirement = Words(f"ticks from 0 to {design.ticks - 1}", f"0 から {design.ticks - 1} までの時点")
            raise ParameterError("ticks", "predict_series", requirement, shown(tick))
        noise = [float(variances[tick]) for variances in noise_of]
        found[tick] = wide_tree_variances(design.bits, noise, heights, combined=True)
    return [
        SeriesError(1 << height, tick, sqrt(found[tick][height] + lag_of(height, tick)))
        for height in heights
        for tick in ticks
    ]


def _noise_and_lag(design: SeriesDesign, drift: float | None) -> tuple[list[Values], Callable[[int, int], float]]:
    """The variances of each level by noise, which levels tell each other of, and the lag of areas, which all levels share."""
    if drift is None or not design.filters:
        return [level.variances for level in design.levels], lambda height, tick: 0.0
    parts = [
        level.filtered_variances(drift * (1 << design.layout.depth - depth), 1 << depth)
        if depth <= design.whole_bits
        else (level.variances, level.variances * 0.0)
        for level, depth in zip(design.levels, design.depths, strict=True)
    ]

    def lag_of(height: int, tick: int) -> float:
        """Of the next finer level: what lags in its nodes lags in the area, independently of each other."""
        number = next(place for place, depth in enumerate(design.depths) if design.layout.depth - depth <= height)
        finer = design.layout.depth - design.depths[number]
        return float(parts[number][1][tick]) * (1 << height - finer)

    return [noise for noise, _ in parts], lag_of


def frozen_share(cap: int, moves_a_window: float, elapsed: float) -> float:
    """The share of people who wanted to move once more than the plan counts, by some time of a window.

    People are taken to move independently of each other, at the same rate all the time: their number of moves has a Poisson
    distribution.

    Args:
        cap: how many moves count.
        moves_a_window: of one person, on average.
        elapsed: how much of the window is over, from 0 to 1.

    Example:
        >>> round(frozen_share(4, 3.0, 1.0), 3)
        0.185
    """
    if not moves_a_window >= 0 or not 0 <= elapsed <= 1:
        requirement = Words("a number >= 0, and a share from 0 to 1", "0 以上の数と、0 から 1 までの割合")
        raise ParameterError("moves_a_window", "frozen_share", requirement, shown(moves_a_window))
    mean = moves_a_window * elapsed
    term, within = exp(-mean), 0.0
    for moves in range(cap + 1):
        within += term
        term *= mean / (moves + 1)
    return max(0.0, 1.0 - within)
