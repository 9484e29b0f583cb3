"""A series beside what others proposed for streams, on the same people, with the same unit and the same rho.

An invented day of 144 ticks, counted in areas, with a share of people who move at a tick from none to a tenth. Errors are root
mean squared errors over all areas and ticks against the true counts: noise, what is out of date, and people who are frozen where
they were last counted are all in them. Counts of all methods are cut off at 0. How many moves the series allows is chosen as a
plan would: by its predicted noise, and by how many people would be frozen on another invented day, of another seed.

``python -m benchmarks.series_streams`` prints every method on every stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

import sudare
from sudare.domain import Category, CountTable, Domain
from sudare.examples import PeopleFlow, invent_country
from sudare.noise import NoiseKey, ResearchEntropy
from sudare.series.baselines import BASELINES, StreamSetting, baseline_for
from sudare.series.mechanism import SeriesWindow
from sudare.series.paths import Caps, Paths
from sudare.series.planning import plan_series

__all__ = ["OURS", "SHARES", "TARGETS", "AreaStream", "StreamErrors", "StreamSize", "compare_streams", "run"]

Counts = NDArray[np.int64]

SHARES = (0.0, 0.001, 0.01, 0.05, 0.1)
RHOS = ("0.1", "1")
MOVES = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
SEED, TWIN_SEED = 11, 12
MIN_SHARE = 0.01
"""From this share of people on who move at a tick, the series has to win on every stream."""

OURS = "series"
TRIVIAL = ("uniform", "sample")

TARGETS = {
    "vs_uniform_and_sample": "below 1 (error / that of the better of Uniform and Sample, geometric mean of all streams and rhos)",
    "vs_uniform_and_sample_moving": "below 1 (the worst stream of those where at least 1 % of the people move at a tick)",
    "vs_bd": "below 1 (budget distribution, Kellaris et al. 2014)",
    "vs_ba": "below 1 (budget absorption, the same)",
    "vs_pegasus": "below 1 (Chen et al. 2017)",
    "vs_honaker": "below 1 (a binary tree with the estimate from below, Honaker 2015; the same moves)",
}
for _share in SHARES:
    _what = "nobody ever moves: shown as it is" if not _share else f"{_share:.1%} of the people move at a tick"
    TARGETS[f"vs_uniform_and_sample_{_share:g}"] = _what if _share < MIN_SHARE else f"below 1 ({_what})"


@dataclass(frozen=True)
class StreamSize:
    """How large the streams are.

    Attributes:
        side: cells along each side of the country.
        blocks: areas along each side.
        people: how many live there.
        ticks: of the day.
    """

    side: int = 64
    blocks: int = 16
    people: int = 100_000
    ticks: int = 144


@dataclass(frozen=True)
class StreamErrors:
    """What came out on one stream.

    Attributes:
        share: of the people who move at a tick.
        rho: for the day.
        moves: how many the series allowed.
        errors: of each method.
    """

    share: float
    rho: str
    moves: int
    errors: dict[str, float]

    def ratio(self, *others: str) -> float:
        """The error of the series, divided by the best of these."""
        return self.errors[OURS] / min(self.errors[other] for other in others)


def run() -> dict[str, float]:
    """All ratios."""
    found = compare_streams(StreamSize())
    numbers = {"vs_uniform_and_sample": _mean([one.ratio(*TRIVIAL) for one in found])}
    numbers["vs_uniform_and_sample_moving"] = max(one.ratio(*TRIVIAL) for one in found if one.share >= MIN_SHARE)
    for share in SHARES:
        listed = [one.ratio(*TRIVIAL) for one in found if one.share == share]
        numbers[f"vs_uniform_and_sample_{share:g}"] = _mean(listed)
    for name in BASELINES:
        if name not in TRIVIAL:
            numbers[f"vs_{name}"] = _mean([one.ratio(name) for one in found])
    return numbers


def compare_streams(
    size: StreamSize, shares: tuple[float, ...] = SHARES, rhos: tuple[str, ...] = RHOS
) -> list[StreamErrors]:
    """All methods on all streams."""
    found = []
    for share in shares:
        stream, twin = AreaStream(size, share, SEED), AreaStream(size, share, TWIN_SEED)
        for rho in rhos:
            moves = chosen_moves(twin, rho)
            errors = {OURS: series_error(stream, rho, moves)}
            errors |= {name: baseline_error(stream, rho, name, moves) for name in BASELINES}
            found.append(StreamErrors(share, rho, moves, errors))
    return found


class AreaStream:
    """The areas of all people at each tick, again and again."""

    def __init__(self, size: StreamSize, share: float, seed: int) -> None:
        self.size = size
        self.flow = PeopleFlow(_country(size), moving=share, ticks=size.ticks, seed=seed)
        self.areas = size.blocks**2
        self.domain = Domain((Category("area", tuple(f"{area:05}" for area in range(self.areas))),))

    def day(self) -> Iterator[Counts]:
        """The area of each person, tick after tick."""
        self.flow.restart()
        block = self.size.side // self.size.blocks
        for cells in self.flow.day():
            rows, columns = cells // self.size.side // block, cells % self.size.side // block
            yield np.where(cells >= 0, rows * self.size.blocks + columns, -1)

    def counted(self, places: Counts) -> Counts:
        """How many people are in each area."""
        return np.bincount(places[places >= 0], minlength=self.areas)

    def bounded(self, moves: int) -> Iterator[tuple[Counts, Counts]]:
        """True counts, and those of people whose moves are limited."""
        paths = Paths(Caps(widths=(1,), moves=(moves,), absent_after=self.size.ticks), self.flow.people)
        for tick, places in enumerate(self.day()):
            paths.advance(tick, places)
            yield self.counted(places), self.counted(paths.cells)


def chosen_moves(twin: AreaStream, rho: str) -> int:
    """The limit with the smallest predicted error: noise by formula, frozen people as on another day."""
    best, least = 0, np.inf
    for moves in MOVES:
        design = plan_series(twin.domain, sudare.Budget(rho=rho), ticks=twin.size.ticks, moves=moves)
        noise = float(np.mean(design.levels[-1].variances))
        if noise > least:
            break
        frozen = float(np.mean([np.mean((true - bounded) ** 2) for true, bounded in twin.bounded(moves)]))
        if noise + frozen < least:
            best, least = moves, noise + frozen
    return best


def series_error(stream: AreaStream, rho: str, moves: int, seed: int = 1) -> float:
    """Of the series as it is published."""
    return _root([published - true for true, published in series_tables(stream, rho, moves, seed)])


def series_tables(stream: AreaStream, rho: str, moves: int, seed: int = 1) -> Iterator[tuple[Counts, Counts]]:
    """True and published counts at each tick."""
    design = plan_series(stream.domain, sudare.Budget(rho=rho), ticks=stream.size.ticks, moves=moves)
    window = SeriesWindow(design, NoiseKey.for_research(seed), stream.flow.people)
    for places in stream.day():
        yield stream.counted(places), window.publish(places).table.to_dense().reshape(-1)


def baseline_error(stream: AreaStream, rho: str, name: str, moves: int, seed: int = 1) -> float:
    """Of a method of others, on the same people."""
    return _root([published - true for true, published in baseline_tables(stream, rho, name, moves, seed)])


def baseline_tables(
    stream: AreaStream, rho: str, name: str, moves: int, seed: int = 1
) -> Iterator[tuple[Counts, NDArray[np.float64]]]:
    """True and published counts at each tick; a method that needs a limit of moves has that of the series."""
    setting = StreamSetting(
        cells=stream.areas, window=stream.size.ticks, budget=sudare.Budget(rho=rho), moves=min(moves, 1024)
    )
    method = baseline_for(name, setting, ResearchEntropy(seed))
    rows = stream.bounded(moves) if method.bounds_moves else ((one, one) for one in map(stream.counted, stream.day()))
    for true, counted in rows:
        yield true, np.maximum(method.release(counted), 0)


@cache
def _country(size: StreamSize) -> CountTable:
    return invent_country(size.side, people=size.people)


def _root(errors: list[NDArray[np.float64]] | list[Counts]) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))


def _mean(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


if __name__ == "__main__":
    for found in compare_streams(StreamSize()):
        listed = "  ".join(f"{name} {error:7.2f}" for name, error in found.errors.items())
        print(f"{found.share:6.1%} rho {found.rho:4} moves {found.moves:3}  {listed}", flush=True)
