"""Signed errors of a series with several attributes: totals, sexes, ages, strips of the map, the first and the last tick.

A map with two sexes and nine ages, in which a cell has half a person: noise outweighs people, and whatever moves people from
full places to empty ones shows in the sums. Errors are those against what is counted, so that people beyond the cap, who are
counted where they were, do not hide them. Beside it: a table of its own at every tick, for the same budget in all, which is the
simplest alternative.

A bias is the mean of signed errors over keys and ticks, divided by the root of their mean square; of several categories the
largest. With so many keys, chance alone gives 0.1 to 0.2 for the largest of eleven; at one tick 0.3.

Empty areas of a map are looked at by themselves: what is published is never below 0, so that where nobody is there are some
people too many, whatever method is used. Beside it: separate tables, and noise on every cell that is cut off at 0.

``python -m benchmarks series_margins`` prints all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

import sudare
from sudare.domain import Bins, Category, CountTable, Domain
from sudare.examples import PeopleFlow, invent_country
from sudare.noise import NoiseKey, ResearchEntropy
from sudare.series.mechanism import SeriesDesign, SeriesWindow
from sudare.series.planning import plan_series

__all__ = ["TARGETS", "AttributeFlow", "EmptyAreas", "bias", "people_in_empty_areas", "run", "series_errors"]

SIDE, PEOPLE, TICKS, MOVES, RHO = 64, 40_000, 24, 3, 1
SEXES, AGES = 2, 9
STRIPS = 8
KEYS, FRESH_KEYS = 64, 4
FRESH_EVERY = 4
"""Separate tables of all ticks are alike: one of so many is made."""

TARGETS = {
    "series_total_bias": "at most 0.2 (of the total, absolute)",
    "series_margin_bias": "at most 0.2 (of the people of each sex and of each age, the largest)",
    "series_margin_bias_first_tick": "the same at the first tick, whose keys are fewer",
    "series_margin_bias_last_tick": "the same at the last tick",
    "series_strip_people": "mean signed error of strips of 8 rows or columns, the largest, in people; none can be below 0",
    "fresh_strip_people": "the same of separate fresh tables",
    "series_age_edge_people": "mean signed error of the youngest and the oldest, the larger, in people",
    "fresh_margin_bias": "of separate fresh tables",
    "series_vs_fresh_margins": "below 1 (root mean squared errors of sexes and ages, the series / separate fresh tables)",
    "series_vs_fresh_strips": "below 1 (of strips of the map)",
    "series_vs_fresh_cells": "below 1 (of cells)",
    "series_empty_area_people": "mean published people of areas of 16 x 16 cells where nobody ever is, on a map of 128 x 128",
    "fresh_empty_area_people": "the same of separate tables, each with its share of the budget",
    "clipped_empty_area_people": "the same of noise on every cell at every tick, cut off at 0",
}

Counts = NDArray[np.int64]
Errors = NDArray[np.float64]
"""One for each key, tick, row, column, sex and age."""


class AttributeFlow:
    """People who move over a map, each with a sex and an age.

    Args:
        people: how many.
        ticks: of the day.
        moving: the share of them that moves at a tick.
    """

    def __init__(self, people: int = PEOPLE, ticks: int = TICKS, moving: float = 0.01) -> None:
        country = invent_country(SIDE, people=people)
        self.flow = PeopleFlow(country, moving=moving, ticks=ticks, seed=4)
        edges = tuple(range(0, 10 * AGES + 1, 10))
        self.domain = Domain((*country.domain.attributes, Category("sex", ("f", "m")), Bins("age", edges)))
        random = np.random.default_rng(3)
        shares = np.array([9, 10, 11, 13, 15, 16, 14, 9, 3.0])
        self._sex = random.integers(0, SEXES, self.flow.people)
        self._age = random.choice(AGES, self.flow.people, p=shares / shares.sum())

    def day(self) -> Iterator[NDArray[np.int64]]:
        """The cell of each person, tick after tick."""
        self.flow.restart()
        for cells in self.flow.day():
            yield np.where(cells >= 0, (cells * SEXES + self._sex) * AGES + self._age, -1)


@dataclass(frozen=True)
class EmptyAreas:
    """A map whose empty areas are looked at.

    Attributes:
        side: of the map, in cells.
        area: side of an area, in cells.
        people: who live there.
        ticks: of the day.
        rho: for the day.
        keys: how many days are drawn.
    """

    side: int = 128
    area: int = 16
    people: int = 80_000
    ticks: int = TICKS
    rho: Fraction = Fraction(1, 10)
    keys: int = 2


def people_in_empty_areas(size: EmptyAreas, *, learns: bool = True) -> dict[str, float]:
    """How many people are published of an area where nobody is all day, on average, by method.

    Args:
        size: of the map.
        learns: whether the series learns which places are likely to be empty.
    """
    flow = PeopleFlow(invent_country(size.side, people=size.people), moving=0.01, ticks=size.ticks, seed=4)
    planned = plan_series(flow.domain, sudare.Budget(rho=size.rho), ticks=size.ticks, moves=MOVES)
    design = replace(planned, learns=learns)
    deviation = float(size.ticks / (2 * size.rho)) ** 0.5
    truths: list[Counts] = []
    tables: dict[str, list[Counts]] = {"series": [], "fresh": [], "clipped": []}
    for key in range(size.keys):
        window = SeriesWindow(design, NoiseKey.for_research(key), flow.people)
        source, random = ResearchEntropy(key), np.random.default_rng(key)
        flow.restart()
        for tick, cells in enumerate(flow.day()):
            tables["series"].append(window.publish(cells).table.to_dense())
            counted = _counted(window)
            truths.append(counted)
            if tick % FRESH_EVERY:
                continue
            table = CountTable.from_cells(flow.domain, np.arange(counted.size, dtype=np.uint64), counted.reshape(-1))
            fresh = sudare.publish(table, sudare.Budget(rho=size.rho / size.ticks), entropy=source)
            tables["fresh"].append(fresh.table.to_dense())
            noisy = counted + np.rint(random.normal(0, deviation, counted.shape)).astype(np.int64)
            tables["clipped"].append(np.maximum(noisy, 0))
    is_empty = _areas(truths, size.area).sum(axis=0) == 0
    return {name: float(_areas(found, size.area)[:, is_empty].mean()) for name, found in tables.items()}


def _areas(tables: list[Counts], side: int) -> Counts:
    maps = np.array(tables)
    rows, columns = (length // side for length in maps.shape[1:])
    areas: Counts = maps.reshape(len(maps), rows, side, columns, side).sum(axis=(2, 4))
    return areas


def run() -> dict[str, float]:
    """All numbers."""
    flow = AttributeFlow()
    design = plan_series(flow.domain, sudare.Budget(rho=RHO), ticks=TICKS, moves=MOVES)
    ours = np.stack([series_errors(flow, design, key) for key in range(KEYS)])
    fresh = np.stack([_fresh_errors(flow, design, key) for key in range(FRESH_KEYS)])
    ages = ours.sum(axis=(2, 3, 4)).mean(axis=(0, 1))
    found = {
        "series_total_bias": bias(ours.sum(axis=(2, 3, 4, 5))),
        "series_margin_bias": bias(*_margins(ours)),
        "series_margin_bias_first_tick": bias(*_margins(ours[:, :1])),
        "series_margin_bias_last_tick": bias(*_margins(ours[:, -1:])),
        "series_strip_people": _mean_error(*_strips(ours)),
        "fresh_strip_people": _mean_error(*_strips(fresh)),
        "series_age_edge_people": float(max(ages[[0, -1]], key=abs)),
        "fresh_margin_bias": bias(*_margins(fresh)),
    }
    for name, parts in (("margins", _margins), ("strips", _strips), ("cells", lambda errors: [errors])):
        found[f"series_vs_fresh_{name}"] = _root(parts(ours)) / _root(parts(fresh))
    people = people_in_empty_areas(EmptyAreas())
    return found | {f"{name}_empty_area_people": number for name, number in people.items()}


def series_errors(flow: AttributeFlow, design: SeriesDesign, key: int) -> Errors:
    """Published minus counted people of all cells, tick by tick."""
    window = SeriesWindow(design, NoiseKey.for_research(key), flow.flow.people)
    errors = []
    for cells in flow.day():
        published = window.publish(cells).table.to_dense()
        errors.append((published - _counted(window)).astype(np.float64))
    return np.array(errors)


def _fresh_errors(flow: AttributeFlow, design: SeriesDesign, key: int) -> Errors:
    """The same of a table of its own at every tick, whose share of the budget is one of so many."""
    budget, source = sudare.Budget(rho=Fraction(RHO, design.ticks)), ResearchEntropy(key)
    window = SeriesWindow(design, NoiseKey.for_research(key), flow.flow.people)
    errors = []
    for cells in flow.day():
        window.advance(cells)
        counted = _counted(window)
        table = CountTable.from_cells(flow.domain, np.arange(counted.size, dtype=np.uint64), counted.reshape(-1))
        release = sudare.publish(table, budget, entropy=source)
        errors.append((release.table.to_dense() - counted).astype(np.float64))
    return np.array(errors)


def _counted(window: SeriesWindow) -> NDArray[np.int64]:
    layout, domain = window.design.layout, window.design.domain
    leaves = np.bincount(window.paths.cells[window.paths.cells >= 0], minlength=1 << layout.depth)
    places = layout.to_tree(np.arange(domain.cells, dtype=np.uint64)).astype(np.int64)
    return leaves[places].reshape(domain.shape)


def _margins(errors: Errors) -> list[Errors]:
    return [errors.sum(axis=(2, 3, 5)), errors.sum(axis=(2, 3, 4))]


def _strips(errors: Errors) -> list[Errors]:
    maps = errors.sum(axis=(4, 5))
    width = SIDE // STRIPS
    rows, columns = maps.sum(axis=3), maps.sum(axis=2)
    return [one.reshape(*one.shape[:2], STRIPS, width).sum(axis=3) for one in (rows, columns)]


def bias(*errors: Errors) -> float:
    """The largest mean of signed errors of any part, over the root of their mean square; keys and ticks are the first axes."""
    ratios = [np.abs(one.mean(axis=(0, 1))) / np.sqrt((one**2).mean(axis=(0, 1))) for one in errors]
    return float(max(np.max(ratio) for ratio in ratios))


def _mean_error(*errors: Errors) -> float:
    """The largest mean of signed errors of any part."""
    return float(max(np.abs(one.mean(axis=(0, 1))).max() for one in errors))


def _root(parts: list[Errors]) -> float:
    return float(np.sqrt(np.mean([np.mean(one**2) for one in parts])))


if __name__ == "__main__":
    for key, value in run().items():
        print(f"{key:32} {value:8.3f}  {TARGETS.get(key, '')}")
