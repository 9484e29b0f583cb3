"""What a plan predicts of one part of its workload: from the noise alone, and as intervals that held on real tables.

Noise alone predicts the error of areas that are inhabited everywhere. Empty surroundings and few people lower it, by
factors that depend on how many people there are for each sum, in standard deviations of the noise (`error_factors`). Which sums
come out better than on average is left to chance; with few of them, the interval is wider. See ``prediction.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.parameters import exact_integer
from sudare.tables.planning.error_factors import HISTOGRAM_FACTORS, LOADS, TREE_FACTORS, ErrorFactors
from sudare.tables.planning.plan_words import of_everybody, of_side, of_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sudare.domain.layout import Layout

__all__ = [
    "PartKind",
    "PredictedError",
    "areas_at",
    "chance_factor",
    "likely_people",
    "predict_by_factors",
    "predict_error",
    "read_people",
    "sums_that_vary",
]

PartKind = Literal["areas", "levels", "ranges", "margins"]
"""What a plan predicts errors of."""

PEOPLE_PER_CELL = (1, 10, 100)
"""Without a stated number of people, tables with this many for each cell are assumed."""

MIN_PEOPLE = 1_000
MAX_PEOPLE = 1 << 27
CHANCE = 0.05
"""On either side of an interval, by chance alone."""

MAX_SETTLED_CELLS = 1 << 22
"""Larger maps may be empty but for a part of this many cells: a country in the rectangle around it, or in a grid of the world."""

MIN_CHANCE_FACTOR = 0.05
"""One sum may come out with hardly any error; an interval that goes down to 0 would say nothing."""


@dataclass(frozen=True)
class PredictedError:
    """The error to be expected for aligned areas of one size.

    Intervals are for the root mean squared error of one release, and hold nine times out of ten.

    Attributes:
        side: cells along each axis.
        rmse: root mean squared error if every part of every area is inhabited: what noise alone predicts.
        low: over inhabited areas, those in which at least one person is counted: the lower end of the interval.
        high: the upper end.
        margin: the attributes by which the people of an area are divided; none for all of them together.
        sums: how many areas there are, in all categories of the margin.
        all_rmse: over all areas of this size, whether anybody lives there or not: the median on real tables.
        all_low: the lower end of its interval.
        all_high: the upper end.
        name: what it is where it is no aligned area: a level of a hierarchy, or all ranges or prefixes of a histogram.
    """

    side: int
    rmse: float
    low: float
    high: float
    margin: tuple[str, ...]
    sums: int
    all_rmse: float
    all_low: float
    all_high: float
    name: str = ""

    def of_what(self, language: Literal["en", "ja"] = "en", kind: PartKind = "areas") -> str:
        """What has this error, in words: an area, a level, a range or a margin, and by which attributes.

        Args:
            language: ``"en"`` or ``"ja"``.
            kind: what the plan predicts errors of.
        """
        by = " x ".join(self.margin)
        if kind == "margins":
            return by or of_everybody().explain(language)
        area = (of_sums(self.name) if self.name else of_side(self.side, is_range=kind == "ranges")).explain(language)
        return f"{area}: {by}" if by else area

    def for_people(self, people: int, cells: int, *, of_histogram: bool) -> PredictedError:
        """The same part of the workload, in a table of this many cells, predicted for about this many people."""
        new = predict_error(self.side, self.rmse, self.sums, cells, of_histogram=of_histogram, people=people)
        return replace(
            self, low=new.low, high=new.high, all_rmse=new.all_rmse, all_low=new.all_low, all_high=new.all_high
        )


def predict_error(
    side: int,
    rmse: float,
    sums: int,
    cells: int,
    *,
    margin: tuple[str, ...] = (),
    of_histogram: bool = False,
    people: int | None = None,
    name: str = "",
) -> PredictedError:
    """Predict the error of one part of a workload.

    Args:
        side: of the areas.
        rmse: what noise alone predicts.
        sums: how many areas there are, in all categories of the margin.
        cells: of the whole table.
        margin: the attributes by which the people of an area are divided.
        of_histogram: whether the areas are ranges along one axis, published as a histogram.
        people: about how many people the table will have, where that is public.
        name: what it is where it is no aligned area.

    Example:
        >>> error = predict_error(1, 10.0, 4096, 4096, people=40_960)
        >>> error.low < error.rmse < error.high, error.all_low < error.all_rmse < error.all_high < error.high
        (True, True)
    """
    factors = HISTOGRAM_FACTORS if of_histogram else TREE_FACTORS
    numbers = likely_people(cells) if people is None else (people,)
    return predict_by_factors(factors, side, rmse, sums, cells, numbers, margin, name)


def predict_by_factors(
    factors: ErrorFactors,
    side: int,
    rmse: float,
    sums: int,
    cells: int,
    people: Sequence[int],
    margin: tuple[str, ...],
    name: str = "",
) -> PredictedError:
    """The same by given factors, for each of several numbers of people: an interval around all of theirs."""
    loads = [number / sums / rmse if rmse > 0 else LOADS[-1] for number in people]
    varying = sums_that_vary(sums, rmse)
    below = rmse * chance_factor(varying, CHANCE) if varying >= 1 else 0.0
    above = rmse * chance_factor(varying, 1 - CHANCE)
    known = np.maximum(loads, LOADS[0]).tolist()
    low, high = below * min(_at(factors.inhabited_low, known)), above * max(_at(factors.inhabited_high, known))
    if sums == 1:  # where anybody is there at all, the only area is an inhabited one
        return PredictedError(side, rmse, low, high, margin, sums, rmse, low, high, name)
    middle = rmse * sorted(_at(factors.all_middle, loads))[len(loads) // 2]
    # If nobody lives outside a part of the map, its errors are those of the part, and many zeros.
    outside = min(max(cells / MAX_SETTLED_CELLS, 1.0), sums)
    crowded = [load * outside for load in loads]
    all_low = below * min(min(_at(factors.all_low, loads)), min(_at(factors.all_low, crowded)) / sqrt(outside))
    all_high = above * max(_at(factors.all_high, loads))
    return PredictedError(side, rmse, low, high, margin, sums, middle, all_low, all_high, name)


def areas_at(layout: Layout, height: int) -> int:
    """How many aligned areas, nodes of a tree with this many halvings below them, have cells.

    Where meshes are listed, these are the areas of the map around them, and no more than there are cells.
    """
    below = layout.axis_of_split[len(layout.axis_of_split) - height :]
    areas = prod(-(-length // (1 << below.count(axis))) for axis, length in enumerate(layout.lengths))
    return areas if layout.embedding is None else min(areas, layout.embedding.inner.cells)


def likely_people(cells: int) -> tuple[int, ...]:
    """How many people a table may have of which nothing is known but its cells, from the fewest to the most."""
    return tuple(sorted({min(max(per_cell * cells, MIN_PEOPLE), MAX_PEOPLE) for per_cell in PEOPLE_PER_CELL}))


def read_people(people: object, function: str) -> int:
    """About how many people a caller says that the table will have."""
    requirement = Words(
        "about how many people the table will have, a whole number from 1 to 2**40",
        "おおよその人数（1 以上 2**40 以下の整数）",
    )
    return exact_integer(people, "people", function, requirement, smallest=1, largest=2**40)


def sums_that_vary(sums: int, rmse: float) -> float:
    """How many sums are expected to be off: counts are whole, so that the square of each that is off is at least 1."""
    return sums * min(1.0, rmse**2)


def chance_factor(sums: float, quantile: float) -> float:
    """A quantile of the root mean square of this many independent normal errors of variance 1; at least one of them is assumed.

    The chi-square quantile is Wilson and Hilferty's.
    """
    spread = 2 / (9 * max(sums, 1.0))
    cube_root = 1 - spread + NormalDist().inv_cdf(quantile) * sqrt(spread)
    return max(sqrt(max(cube_root, 0.0) ** 3), MIN_CHANCE_FACTOR)


def _at(factors: Sequence[float], loads: Sequence[float]) -> list[float]:
    """Factors for loads between those of the table, along straight lines through their logarithms.

    Below the lowest load they go with the root of it: the same people among four times as many sums are half the error over all.
    """
    between = np.exp(np.interp(np.log(loads), np.log(LOADS), np.log(factors)))
    return [float(factor) for factor in between * np.sqrt(np.minimum(np.array(loads) / LOADS[0], 1.0))]
