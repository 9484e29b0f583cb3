"""The runs of the sparse-recovery experiment: errors on the city and on the country, times, and the memory of the Lasso.

Each draw has its own seed, so results depend neither on how draws are put into steps nor on the number of processes. Noise is
continuous, as in the paper; the wide tree and the negative-l2 release draw their own, which is discrete.

**What is timed**: for each draw, the noise, the recovery and the whole numbers. Where a weight is searched, all ten weights, with
the error of each. A release is timed from its table to the published one, its choice of a weight included. The true table and the
plan of the wide tree are made beforehand, and one draw is not counted. Seconds are those of the processor, on one thread: what
else the machine does counts less that way, but it still counts where much memory is read, as in the wide tree's largest tables.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain import CountTable
from sudare.domain.sparse_table import SparseTable
from sudare.noise import ResearchEntropy
from sudare.privacy import Budget
from sudare.tables import plan_table, publish
from sudare_papers.recovery.data import country, synthetic_city
from sudare_papers.recovery.methods import (
    Errors,
    Recovered,
    Truth,
    by_clipping,
    by_lasso,
    by_negative_l2,
    by_simplex,
)
from sudare_papers.settings import Settings
from sudare_papers.steps import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["EPSILONS", "Averages", "Outcome", "steps"]

EPSILONS = ("0.1", "1", "10")
COUNTRY_EPSILON = "0.1"
TIMED_EPSILON = "1"

PROPOSED, SIMPLEX, LASSO, CLIP = "negative l2", "simplex", "non-negative Lasso", "clip and scale"
BEST_LASSO, FIXED = "non-negative Lasso, best weight", "negative l2, fixed weight"
NOISE_ALONE, WIDE, WIDE_PUBLIC = "Laplace noise alone", "wide tree", "wide tree, public total"
RELEASED, RELEASED_PUBLIC = "negative-l2 release", "negative-l2 release, public total"

PENALTIES = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
"""Weights of the negative l2 penalty. The paper's times tell that it tried about ten."""

LASSO_WEIGHTS = (3.0, 3.5, 4.0, 4.25, 4.5, 4.75, 5.0, 5.5, 6.0, 7.0)
"""Weights of the Lasso, times the scale of the noise."""

PAPERS_LASSO_WEIGHTS = {"0.1": 2 * 4096 * 10 ** (-7 / 3) * 0.1, "1": 2 * 4096 * 10 ** (-10 / 3), "10": 4.25}
"""Times the scale of the noise: those that give the paper's figures. See `page` for where they come from."""

MORE_DRAWS = {"0.1": 1, "1": 1, "10": 4}
"""At epsilon = 10 a draw has only a few cells wrong, so that the mean needs more draws to be as exact."""

BLOCK = 25
TIMED_METHODS = (PROPOSED, FIXED, SIMPLEX, LASSO, CLIP, WIDE, RELEASED_PUBLIC)
SIDES, QUICK_SIDES = (64, 256, 1024, 4096), (64, 256, 1024)
MAX_TIMED_DRAWS = {64: 100, 256: 100, 1024: 20, 4096: 2}
"""Draws that are timed at each size; the mean of fewer is as good where one takes long."""

COUNTRY_STEPS = ("country", "country wide tree", "country release")
CITY_STREAM, COUNTRY_STREAM, TIME_STREAM = 1, 2, 3


def steps(settings: Settings) -> list[Step]:
    """All there is to compute."""
    found = []
    for epsilon in EPSILONS:
        draws = draws_of(settings, epsilon)
        for first in range(0, draws, BLOCK):
            last = min(first + BLOCK, draws)
            found.append(Step(f"city {epsilon} {first}-{last}", city_block, (epsilon, first, last)))
    for draw in range(country_draws(settings)):
        found.append(Step(f"country {draw}", country_draw, (draw,)))
        found.append(Step(f"country wide tree {draw}", country_wide, (draw,)))
        found.append(Step(f"country release {draw}", country_release, (draw,)))
    for side in sides_of(settings):
        found.append(Step(f"memory {side}", memory_of_lasso, (side,)))
        found += [Step(f"time {side} {name}", time_on_city, (side, name), is_timed=True) for name in TIMED_METHODS]
    found += [Step(f"time country {name}", time_on_country, (name,), is_timed=True) for name in TIMED_METHODS]
    return found


def draws_of(settings: Settings, epsilon: str) -> int:
    """How often noise is drawn on the city."""
    return settings.repeats * MORE_DRAWS[epsilon]


def country_draws(settings: Settings) -> int:
    """A quarter of the repeats, as in the paper."""
    return ceil(settings.repeats / 4)


def sides_of(settings: Settings) -> tuple[int, ...]:
    """Of the cities that are timed."""
    return QUICK_SIDES if settings.is_quick else SIDES


def timed_draws(settings: Settings, side: int) -> int:
    """How many draws are timed on a city."""
    return min(settings.repeats, MAX_TIMED_DRAWS[side])


@dataclass(frozen=True, eq=False)
class Averages:
    """Mean errors over all draws, for each method and each of its weights.

    Attributes:
        errors: by method, in the order of its weights.
    """

    errors: Mapping[str, Sequence[Errors]]

    @classmethod
    def over(cls, sums: Sequence[Mapping[str, Any]], draws: int) -> Averages:
        """From sums over some of the draws each."""
        names = dict.fromkeys(name for some in sums for name in some)
        added = {name: np.sum([some[name] for some in sums if name in some], axis=0) for name in names}
        return cls({name: [Errors(row / draws) for row in rows] for name, rows in added.items()})

    @classmethod
    def on_city(cls, settings: Settings, results: Mapping[str, Any], epsilon: str) -> Averages:
        """From the results of all steps."""
        blocks = [result for name, result in results.items() if name.startswith(f"city {epsilon} ")]
        return cls.over(blocks, draws_of(settings, epsilon))

    @classmethod
    def on_country(cls, settings: Settings, results: Mapping[str, Any]) -> Averages:
        """From the results of all steps."""
        draws = range(country_draws(settings))
        blocks = [results[f"{name} {draw}"] for draw in draws for name in COUNTRY_STEPS]
        return cls.over(blocks, len(draws))

    def of(self, method: str) -> Errors:
        """Those of a method, with the weight that has the smallest mean error where several were tried."""
        if method == LASSO:
            return self.errors[LASSO][-1]
        tried = self.errors[LASSO][:-1] if method == BEST_LASSO else self.errors[method]
        return min(tried, key=lambda errors: errors.rmse)

    def weight_of(self, method: str, epsilon: str) -> float | None:
        """The weight that `of` takes; None for methods without one."""
        if method == LASSO:
            return PAPERS_LASSO_WEIGHTS[epsilon] / float(epsilon)
        if method == BEST_LASSO:
            return LASSO_WEIGHTS[self.errors[LASSO].index(self.of(method))] / float(epsilon)
        return PENALTIES[self.errors[method].index(self.of(method))] if method == PROPOSED else None


@dataclass(frozen=True, eq=False)
class Outcome:
    """All results, as the page needs them.

    Attributes:
        settings: of the run.
        city: mean errors on the city, by epsilon.
        country: mean errors on the country.
        times: seconds for one draw, by side of the city (0 for the country) and method.
        memory: of the Lasso in MiB, by side of the city.
    """

    settings: Settings
    city: Mapping[str, Averages]
    country: Averages
    times: Mapping[tuple[int, str], float]
    memory: Mapping[int, float]

    @classmethod
    def collect(cls, settings: Settings, results: Mapping[str, Any]) -> Outcome:
        """From the results of all steps by name."""
        sides = sides_of(settings)
        times = {(side, name): float(results[f"time {side} {name}"]) for side in sides for name in TIMED_METHODS}
        times |= {(0, name): float(results[f"time country {name}"]) for name in TIMED_METHODS}
        city = {epsilon: Averages.on_city(settings, results, epsilon) for epsilon in EPSILONS}
        memory = {side: float(results[f"memory {side}"]) for side in sides}
        return cls(settings, city, Averages.on_country(settings, results), times, memory)

    @property
    def is_like_the_papers(self) -> bool:
        """Whether the country is the paper's."""
        return self.settings.data is not None and not self.settings.is_quick


def city_block(settings: Settings, epsilon: str, first: int, last: int) -> dict[str, list[list[float]]]:
    """Sums of the errors over some draws on the city of 64 x 64 cells."""
    truth, table = _city(64)
    tree, tree_with_total = WideTree.plan(table, epsilon), WideTree.plan(table, epsilon, knows_total=True)
    sums: dict[str, Values] = {}
    for draw in range(first, last):
        seed = [settings.seed, CITY_STREAM, EPSILONS.index(epsilon), draw]
        noisy = _noisy(truth, epsilon, seed)
        errors = _errors(truth, noisy, epsilon)
        errors[WIDE] = _rows(truth, [tree.publish(ResearchEntropy(_number(seed)))])
        errors[WIDE_PUBLIC] = _rows(truth, [tree_with_total.publish(ResearchEntropy(_number(seed)))])
        for name, knows_total in ((RELEASED, False), (RELEASED_PUBLIC, True)):
            errors[name] = _rows(truth, [release(table, epsilon, _number(seed), knows_total=knows_total)])
        errors[NOISE_ALONE] = _errors_of_noise(truth, noisy)
        sums = {name: sums[name] + rows if sums else rows for name, rows in errors.items()}
    return {name: rows.tolist() for name, rows in sums.items()}


def country_draw(settings: Settings, draw: int) -> dict[str, list[list[float]]]:
    """Errors of one draw on the country, of all methods of the paper."""
    truth = _country(settings)
    noisy = _noisy(truth, COUNTRY_EPSILON, [settings.seed, COUNTRY_STREAM, draw])
    return {name: rows.tolist() for name, rows in _errors(truth, noisy, COUNTRY_EPSILON).items()}


def country_wide(settings: Settings, draw: int) -> dict[str, list[list[float]]]:
    """Errors of one draw on the country, of the wide tree."""
    tree = WideTree.plan(country(settings), COUNTRY_EPSILON)
    recovered = tree.publish(ResearchEntropy(_number([settings.seed, COUNTRY_STREAM, draw])))
    return {WIDE: _rows(_country(settings), [recovered]).tolist()}


def country_release(settings: Settings, draw: int) -> dict[str, list[list[float]]]:
    """Errors of one draw on the country, of the negative-l2 releases."""
    seed = _number([settings.seed, COUNTRY_STREAM, draw])
    return {
        name: _rows(
            _country(settings), [release(country(settings), COUNTRY_EPSILON, seed, knows_total=knows_total)]
        ).tolist()
        for name, knows_total in ((RELEASED, False), (RELEASED_PUBLIC, True))
    }


def release(table: CountTable, epsilon: str, seed: int, *, knows_total: bool) -> Recovered:
    """The negative-l2 mechanism, its weight chosen by sparsity.

    With epsilon for adding or removing a person, a part of it for the total; if the total is public, with 2 epsilon for replacing
    one, which is noise of scale 1 / epsilon.
    """
    budget = Budget(epsilon=Decimal(epsilon) * (2 if knows_total else 1))
    published = publish(
        table, budget, "negative-l2", public_total=knows_total, entropy=ResearchEntropy(seed), threads=1
    ).table
    return Recovered(published.keys.astype(np.int64), published.counts)


def time_on_city(settings: Settings, side: int, method: str) -> float:
    """Seconds for one draw on the city of this size, mean over some."""
    draws = timed_draws(settings, side)
    return _timed(settings, *_city(side), method, TIMED_EPSILON, draws)


def time_on_country(settings: Settings, method: str) -> float:
    """Seconds for one draw on the country, mean over some."""
    draws = min(country_draws(settings), MAX_TIMED_DRAWS[4096])
    return _timed(settings, _country(settings), country(settings), method, COUNTRY_EPSILON, draws)


def memory_of_lasso(settings: Settings, side: int) -> float:
    """The most memory in MiB that one draw of the Lasso needs, the search for a weight included, besides the true table."""
    truth, table = _city(side)
    seed = [settings.seed, TIME_STREAM, 0]
    _work(LASSO, *_city(64), TIMED_EPSILON)(seed)  # whatever is loaded, before
    work = _work(LASSO, truth, table, TIMED_EPSILON)
    tracemalloc.start()
    try:
        work(seed)
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


@dataclass(frozen=True, eq=False)
class WideTree:
    """Our mechanism on a table, planned for single cells.

    Attributes:
        publish_from: a source of noise gives the published table.
    """

    publish_from: Callable[[ResearchEntropy], SparseTable]

    @classmethod
    def plan(cls, table: CountTable, epsilon: str, *, knows_total: bool = False) -> WideTree:
        """With epsilon for adding or removing a person; if the total is public, with 2 epsilon for replacing one."""
        budget = Budget(epsilon=Decimal(epsilon) * (2 if knows_total else 1))
        plan = plan_table(table, budget, workload="cells", public_total=knows_total)

        def publish_from(source: ResearchEntropy) -> SparseTable:
            return publish(table, budget, plan, public_total=knows_total, entropy=source, threads=1).table

        return cls(publish_from)

    def publish(self, source: ResearchEntropy) -> Recovered:
        """One draw."""
        published = self.publish_from(source)
        return Recovered(published.keys.astype(np.int64), published.counts)


def _errors(truth: Truth, noisy: Values, epsilon: str) -> dict[str, Values]:
    """Of each method of the paper, a row for each weight; the last weight of the Lasso is the paper's."""
    scale, total = 1 / float(epsilon), truth.total
    weights = [weight * scale for weight in (*LASSO_WEIGHTS, PAPERS_LASSO_WEIGHTS[epsilon])]
    return {
        PROPOSED: _rows(truth, by_negative_l2(noisy, total, PENALTIES)),
        SIMPLEX: _rows(truth, [by_simplex(noisy, total)]),
        LASSO: _rows(truth, by_lasso(noisy, total, weights)),
        CLIP: _rows(truth, [by_clipping(noisy, total)]),
    }


def _rows(truth: Truth, results: Iterable[Recovered]) -> Values:
    return np.array([truth.errors(one).numbers for one in results])


def _errors_of_noise(truth: Truth, noisy: Values) -> Values:
    """Those of the noisy values as they are: neither whole nor >= 0."""
    errors = noisy - truth.counts
    groups = [np.ones(errors.size, dtype=bool), *(truth.bands == band for band in range(len(truth.sizes)))]
    roots = [float(np.sqrt(np.mean(errors[group] ** 2))) for group in groups]
    return np.array([[*roots, *(float(errors[group].mean()) for group in groups), 100.0]])


def _timed(settings: Settings, truth: Truth, table: CountTable, method: str, epsilon: str, draws: int) -> float:
    work = _work(method, truth, table, epsilon)
    work([settings.seed, TIME_STREAM, 0])  # whatever is compiled or loaded, before
    started = time.process_time()
    for draw in range(draws):
        work([settings.seed, TIME_STREAM, 1 + draw])
    return (time.process_time() - started) / draws


def _work(method: str, truth: Truth, table: CountTable, epsilon: str) -> Callable[[list[int]], object]:
    """What is timed, for one draw."""
    total, scale = truth.total, 1 / float(epsilon)
    if method == WIDE:
        tree = WideTree.plan(table, epsilon)
        return lambda seed: tree.publish(ResearchEntropy(_number(seed)))
    if method == RELEASED_PUBLIC:
        return lambda seed: release(table, epsilon, _number(seed), knows_total=True)
    works: dict[str, Callable[[Values], object]] = {
        PROPOSED: lambda noisy: _rows(truth, by_negative_l2(noisy, total, PENALTIES)),
        FIXED: lambda noisy: list(by_negative_l2(noisy, total, PENALTIES[5:6])),
        SIMPLEX: lambda noisy: by_simplex(noisy, total),
        LASSO: lambda noisy: _rows(truth, by_lasso(noisy, total, [weight * scale for weight in LASSO_WEIGHTS])),
        CLIP: lambda noisy: by_clipping(noisy, total),
    }
    work = works[method]
    return lambda seed: work(_noisy(truth, epsilon, seed))


def _noisy(truth: Truth, epsilon: str, seed: Sequence[int]) -> Values:
    noisy = np.random.default_rng(seed).laplace(scale=1 / float(epsilon), size=truth.counts.size)
    noisy += truth.counts
    return noisy


def _number(seed: Sequence[int]) -> int:
    """One number from several, for sources that take one."""
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


@lru_cache(maxsize=2)
def _city(side: int) -> tuple[Truth, CountTable]:
    city = synthetic_city(side)
    return Truth.of(city), CountTable.from_dense(city)


@lru_cache(maxsize=1)
def _country(settings: Settings) -> Truth:
    return Truth.of(country(settings).to_dense())
