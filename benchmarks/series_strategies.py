"""What measuring changes wins over fresh noise at every tick, and whether errors are those that were predicted.

``python -m benchmarks series_strategies`` prints all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import sudare
from sudare.domain import CountTable
from sudare.examples import PeopleFlow
from sudare.noise import NoiseKey
from sudare.series.mechanism import SeriesDesign, SeriesWindow
from sudare.series.paths import Caps, Paths
from sudare.series.planning import plan_series
from sudare.series.prediction import predict_series
from sudare.series.strategies import strategy_for

__all__ = ["TARGETS", "fresh_vs_moves", "prediction_ratios", "run"]

TICKS = 144
SIDE, PEOPLE_PER_CELL = 32, 300
"""A map on which nobody is near 0, so that errors are those of noise: what the plan predicts."""

MOVING, MOVES = 0.01, 6
"""How many people move at a tick, and how many moves of each are counted where errors are compared with predictions."""

RHO = 1

TARGETS = {
    "fresh_vs_moves_144_k2": "at least 2.1 (errors of cells at the end of a day, fresh noise / ours; the formula gives 2.36)",
    "fresh_vs_moves_144_k2_day": "the same over all ticks of the day",
    "blt_vs_toeplitz": "at most 1.01 (largest deviation, buffered / all coefficients, 24 to 1,440 ticks, 0 to 8 moves)",
    "prediction_error_min": "at least 0.8 (measured / predicted, by side, the smallest)",
    "prediction_error_max": "at most 1.2 (the largest)",
    "plain_prediction_error_min": "the same without the filter for quiet places, whose prediction needs no assumption",
    "plain_prediction_error_max": "the largest of them",
}

Errors = NDArray[np.float64]


def run() -> dict[str, float]:
    """All ratios."""
    last, day = fresh_vs_moves(SIDE, TICKS)
    ratios, plain = prediction_ratios(SIDE, TICKS), prediction_ratios(SIDE, TICKS, filters=False)
    return {
        "fresh_vs_moves_144_k2": last,
        "fresh_vs_moves_144_k2_day": day,
        "blt_vs_toeplitz": buffered_vs_all((24, 144, 1440), (0, 1, 2, 4, 8)),
        **{f"prediction_error_{side}": ratio for side, ratio in ratios.items()},
        "prediction_error_min": min(ratios.values()),
        "prediction_error_max": max(ratios.values()),
        "plain_prediction_error_min": min(plain.values()),
        "plain_prediction_error_max": max(plain.values()),
    }


def fresh_vs_moves(side: int, ticks: int) -> tuple[float, float]:
    """Errors of fresh noise over those of the series: at the last ticks, and over the day.

    Nobody moves more than twice: later moves are left out of the stream, so that errors are those of noise.
    """
    flow = _flow(side, ticks)
    errors = {}
    for strategy in ("fresh", None):
        planned = plan_series(flow.domain, sudare.Budget(rho=RHO), ticks=ticks, moves=2, strategy=strategy)
        design = replace(planned, filters=False)  # what is compared is what is measured
        errors[strategy] = np.array([np.mean(one**2) for one in _errors(flow, design, limit=2)])
    last = max(1, ticks // 12)  # the noise of the last two hours is that of the last tick, to a percent
    fresh, ours = errors["fresh"], errors[None]
    return float(np.sqrt(fresh[-last:].mean() / ours[-last:].mean())), float(np.sqrt(fresh.mean() / ours.mean()))


def buffered_vs_all(lengths: Sequence[int], caps: Sequence[int]) -> float:
    """How much larger the noise is where estimates need a few numbers of memory only, at worst."""
    return max(
        strategy_for("buffered", ticks, moves).noise_factor(moves)
        / strategy_for("power", ticks, moves).noise_factor(moves)
        for ticks in lengths
        for moves in caps
    )


def prediction_ratios(side: int, ticks: int, *, filters: bool = True) -> dict[int, float]:
    """Measured over predicted errors of areas, by their side, over a day of people who move as often as the plan counts.

    Args:
        side: of the map, in cells.
        ticks: of the day.
        filters: whether quiet places are filtered; what that does is predicted from the number of people who come to or go
            from a cell at a tick, on average: the stated assumption of a plan.
    """
    flow = _flow(side, ticks)
    planned = plan_series(flow.domain, sudare.Budget(rho=RHO), ticks=ticks, moves=MOVES)
    design = replace(planned, filters=filters)
    drift = 2 * flow.moving * PEOPLE_PER_CELL if filters else None
    sides = [1 << bits for bits in range(side.bit_length()) if 1 << bits <= side // 2]
    squares: dict[int, list[float]] = {one: [] for one in sides}
    for error in _errors(flow, design, limit=MOVES):
        for one in sides:
            sums = error.reshape(side // one, one, side // one, one).sum(axis=(1, 3))
            squares[one].append(float(np.mean(sums**2)))
    predicted: dict[int, list[float]] = {one: [] for one in sides}
    for expected in predict_series(design, list(range(ticks)), drift):
        width = round(expected.cells**0.5)
        if width in predicted and width**2 == expected.cells:
            predicted[width].append(expected.deviation**2)
    return {one: float(np.sqrt(np.mean(squares[one]) / np.mean(predicted[one]))) for one in sides}


def _flow(side: int, ticks: int) -> PeopleFlow:
    country = CountTable.from_dense(np.full((side, side), PEOPLE_PER_CELL, dtype=np.int64))
    return PeopleFlow(country, moving=MOVING * TICKS / ticks, ticks=ticks, seed=5)


def _errors(flow: PeopleFlow, design: SeriesDesign, limit: int) -> list[Errors]:
    """Published minus true counts of a day of people who move so many times at most, tick by tick."""
    flow.restart()
    people = Paths(Caps(widths=(1,), moves=(limit,), absent_after=flow.ticks), flow.people)
    window = SeriesWindow(design, NoiseKey.for_research(1), flow.people)
    errors = []
    for tick, cells in enumerate(flow.day()):
        people.advance(tick, cells)
        true = np.bincount(people.cells, minlength=flow.domain.cells).reshape(flow.domain.shape)
        errors.append((window.publish(people.cells).table.to_dense() - true).astype(np.float64))
    return errors


if __name__ == "__main__":
    for key, value in run().items():
        print(f"{key:28} {value:8.3f}  {TARGETS.get(key, '')}")
