"""The survey by Kan: its examples and statements about differential privacy, each computed.

What can be decided exactly is: sensitivities by trying all small data sets, losses as exact fractions. The rest is measured:
the size of noise, what cutting off at 0 adds to tables, how the noise of sums grows with the table (Privelet), and an attacker
who averages many reports of one person (RAPPOR).

Noise comes from seeds, so nothing here is private.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import exp, log, sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sudare.attacks import audit_epsilon
from sudare.collect.randomizers.categories import Retention, warner
from sudare.collect.rappor.bloom import bloom_filter
from sudare.collect.rappor.filters import pack_filters
from sudare.collect.rappor.rappor import Rappor
from sudare.noise import ResearchEntropy, discrete_laplace
from sudare.privacy import Budget, compose, for_group
from sudare.tables import laplace, privelet
from sudare_papers.maps import tokyo
from sudare_papers.settings import Settings
from sudare_papers.steps import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

__all__ = [
    "DRAWS",
    "EXACT_ONLY",
    "LAPLACE_EPSILON",
    "MAP_EPSILONS",
    "OUTPUTS",
    "PEOPLE",
    "RAPPOR",
    "SENSITIVITIES",
    "SIZES",
    "TEXTS",
    "YES_PEOPLE",
    "YES_SHARE",
    "attack",
    "audited",
    "bias_of_cutting",
    "bits_right",
    "blocks_of",
    "clipped_sum_sensitivity",
    "discrete_deviation",
    "exact_examples",
    "global_sensitivity",
    "known_texts",
    "local_sensitivity",
    "loss_of_laplace",
    "median",
    "processed_ratios",
    "random_ranges",
    "range_errors",
    "range_variances",
    "range_weight",
    "report_counts",
    "steps",
]

BLOCK = 10
"""Repeats in a step."""

UNIT_VALUES = (Fraction(0), Fraction(1, 2), Fraction(1))
DISTANCES = (-50, 0, 30, 100, 250)
"""Values of the column that the paper's SQL example sums up; some lie outside 0 ... 100."""

SENSITIVITIES = (1, 4, 16, 64)
LAPLACE_EPSILON = Fraction(1, 2)
DRAWS, OUTPUTS = 100_000, 20_000
"""In each repeat: noise to measure, and outputs of each of two neighbours."""

YES_PEOPLE, YES_SHARE = 10_000, 0.3

CLOSER, FARTHER = (0, 0, 0, 0, 1), (0, 0, 0, 1, 1)
"""Two neighbours with the median 0: one more value to change, and the median of the second is 1."""

EXACT_ONLY = ("median, local, closer", "median, local, farther")
"""Examples for which the paper has no number."""

MAP_EPSILONS = ("1", "0.1")
REFINEMENTS: tuple[Literal["counts"] | None, ...] = (None, "counts")

SIZES = tuple(range(6, 15))
"""Of the tables for Privelet, as powers of two."""

RANGES = 200
TABLES = 50
"""Noisy tables in each repeat."""

RAPPOR = Rappor(bits=64, hashes=2, cohorts=1, f=Fraction(1, 2), p=Fraction(1, 2), q=Fraction(3, 4))
TEXTS = 100
"""How many texts the attacker chooses among, all with filters of their own."""

PEOPLE = 20
"""Attacked in each repeat."""


def steps(settings: Settings) -> list[Step]:
    """The exact examples, and what is measured, some repeats at a time."""
    single = [Step("exact examples", exact_examples), Step("size of the map", map_facts)]
    measured = [
        Step(f"{title}, repeats {first}-{last - 1}", work, (first, last))
        for title, work in (
            ("noise", noise_sums),
            ("neighbours", neighbour_outputs),
            ("cut off at 0", cut_maps),
            ("RAPPOR", attack),
        )
        for first, last in blocks_of(settings)
    ]
    ranges = [
        Step(f"ranges of 2^{bits} cells, repeats {first}-{last - 1}", range_errors, (bits, first, last))
        for bits in SIZES
        for first, last in blocks_of(settings)
    ]
    return single + measured + ranges


def blocks_of(settings: Settings) -> list[tuple[int, int]]:
    """First and last repeat of each block, the last not included."""
    return [(first, min(first + BLOCK, settings.repeats)) for first in range(0, settings.repeats, BLOCK)]


def report_counts(settings: Settings) -> tuple[int, ...]:
    """How many reports of a person the attacker has averaged when they are looked at."""
    return (1, 4, 16, 64, 256, 1024) if settings.is_quick else (1, 4, 16, 64, 256, 1024, 4096)


# What is decided exactly.


def exact_examples(_: Settings) -> dict[str, list[Any]]:
    """For each example, the paper's value and ours; None where the paper has no number.

    Example:
        >>> from sudare_papers.settings import Settings
        >>> from sudare_papers.survey.runs import exact_examples
        >>> exact_examples(Settings())["coin ratio"]
        [3.0, 3.0]
    """
    coins = warner()
    third = Budget(epsilon=Fraction(1, 3))
    pairs = [Budget(epsilon=Fraction(1, 10)), Budget(epsilon=Fraction(1, 5)), Budget(epsilon=Fraction(1, 2))]
    loose = [Budget(epsilon=Fraction(1, 2), delta=Fraction(1, 10**6))] * 4
    processed = processed_ratios(Retention(range(4), Fraction(1, 3)))
    found: dict[str, tuple[Any, Any]] = {
        "coin truth": (Fraction(3, 4), Fraction(int(coins.transition().weights()[0, 0]), coins.transition().total)),
        "coin ratio": (3, coins.largest_ratio()),
        "coin epsilon": (log(3), coins.epsilon()),
        **{f"mean {n}": (Fraction(1, n), global_sensitivity(mean, n)) for n in (2, 3, 4, 5)},
        **{f"largest {n}": (1, global_sensitivity(max, n)) for n in (2, 5)},
        **{f"clipped {s}": (100 * s, clipped_sum_sensitivity(0, 100, s)) for s in (1, 2, 3)},
        "clipped, others": (100, clipped_sum_sensitivity(0, 100, 1, others=(-50, 250, 250, 250))),
        "clipped, lower limit": (80, clipped_sum_sensitivity(20, 100, 1)),
        "clipped, leaving": (80, clipped_sum_sensitivity(20, 100, 1, is_replaced=False)),
        "laplace loss": (LAPLACE_EPSILON, max(loss_of_laplace(s, s / LAPLACE_EPSILON) for s in SENSITIVITIES)),
        "composition": (Fraction(4, 5), compose(pairs).epsilon),
        "composition, tried": (Fraction(4, 5), _loss_of_all([1 / budget.epsilon for budget in pairs])),
        "composition, delta": (Fraction(4, 10**6), compose(loose).delta),
        "levels": (1, compose([third] * 3).epsilon),
        "group": (3 * LAPLACE_EPSILON, for_group(Budget(epsilon=LAPLACE_EPSILON), people=3).epsilon),
        "group, tried": (3 * LAPLACE_EPSILON, loss_of_laplace(3, 1 / LAPLACE_EPSILON)),
        "processed": (processed[0], max(processed)),
        "processed, above": (0, sum(ratio > processed[0] for ratio in processed)),
        "median, global": (1, global_sensitivity(median, 5)),
        EXACT_ONLY[0]: (None, local_sensitivity(median, list(map(Fraction, CLOSER)), UNIT_VALUES)),
        EXACT_ONLY[1]: (None, local_sensitivity(median, list(map(Fraction, FARTHER)), UNIT_VALUES)),
    }
    return {name: [None if x is None else float(x) for x in values] for name, values in found.items()}


def mean(data: Sequence[Fraction]) -> Fraction:
    """The mean, exactly."""
    return sum(data, Fraction(0)) / len(data)


def median(data: Sequence[Fraction]) -> Fraction:
    """The middle one of an odd number of values."""
    return sorted(data)[len(data) // 2]


def global_sensitivity(query: Callable[..., Fraction], size: int) -> Fraction:
    """By how much one record changes the answer at most, over all data sets of this size with the values 0, 1/2 and 1.

    Example:
        >>> from sudare_papers.survey.runs import global_sensitivity
        >>> global_sensitivity(max, 3)
        Fraction(1, 1)
    """
    return max(local_sensitivity(query, data, UNIT_VALUES) for data in product(UNIT_VALUES, repeat=size))


def local_sensitivity(query: Callable[..., Fraction], data: Sequence[Fraction], values: Sequence[Fraction]) -> Fraction:
    """By how much one record of this data set changes the answer at most, if it can take these values."""
    answer = query(list(data))
    changed = ([*data[:place], value, *data[place + 1 :]] for place in range(len(data)) for value in values)
    return max(abs(query(neighbour) - answer) for neighbour in changed)


def clipped_sum_sensitivity(
    lower: int, upper: int, rows: int, *, others: Sequence[int] = (), is_replaced: bool = True
) -> int:
    """By how much one person with so many rows changes SUM(max(lower, min(upper, x))) at most.

    Args:
        lower: limit.
        upper: limit.
        rows: of the person.
        others: values of everybody else.
        is_replaced: whether the person's values change; else the person leaves.
    """

    def clipped_sum(values: Sequence[int]) -> int:
        return sum(max(lower, min(upper, value)) for value in values)

    sums = [clipped_sum((*others, *own)) for own in product(DISTANCES, repeat=rows)]
    return max(sums) - min(sums) if is_replaced else max(abs(total - clipped_sum(others)) for total in sums)


def loss_of_laplace(distance: int, scale: Fraction) -> Fraction:
    """The largest logarithm of P(x | 0) / P(x | distance), over all outputs x within ten times the distance."""
    return max(_loss(x, distance, scale) for x in range(-10 * distance, 10 * distance + 1))


def _loss(x: int, distance: int, scale: Fraction) -> Fraction:
    """P(x | c) is proportional to exp(-|x - c| / scale), so the logarithm of a ratio is an exact fraction."""
    return (abs(x - distance) - abs(x)) / scale


def _loss_of_all(scales: Sequence[Fraction]) -> Fraction:
    """Of several noisy counts of the same people: over all combinations of outputs."""
    outputs = product(range(-3, 4), repeat=len(scales))
    return max(sum((_loss(x, 1, s) for x, s in zip(xs, scales, strict=True)), Fraction(0)) for xs in outputs)


def processed_ratios(randomizer: Retention) -> list[Fraction]:
    """The largest ratio of a randomizer, and then those after each function from its reports to as many results."""
    weights = randomizer.transition().weights().tolist()
    reports = range(len(weights[0]))
    ratios = []
    for function in ((*reports,), *product(reports, repeat=len(reports))):
        rows = [[sum(row[x] for x in reports if function[x] == y) for y in set(function)] for row in weights]
        ratios.append(max(Fraction(a, b) for one in rows for two in rows for a, b in zip(one, two, strict=True)))
    return ratios


# What is measured.


def noise_sums(settings: Settings, first: int, last: int) -> dict[str, list[float]]:
    """Squares of Laplace noise for each sensitivity, and the estimated share of people who say yes, by repeats."""
    squares, shares, coins = [], [], warner()
    truth = np.arange(YES_PEOPLE) < YES_SHARE * YES_PEOPLE
    for number in range(first, last):
        source = ResearchEntropy(settings.seed + number)
        drawn = [discrete_laplace(s / LAPLACE_EPSILON).draw(DRAWS, source) for s in SENSITIVITIES]
        squares.append([float((noise.astype(float) ** 2).mean()) for noise in drawn])
        shares.append(float(coins.estimate(coins.randomize(truth, source)).unbiased[0]) / YES_PEOPLE)
    return {"squares": [float(x) for x in np.mean(squares, axis=0)], "shares": shares}


def neighbour_outputs(settings: Settings, first: int, last: int) -> dict[str, Any]:
    """How often each output comes from two neighbours, with noise by their own local sensitivity and by the global one.

    By the local sensitivity, the two have the same median; by the global one, medians that are as far apart as can be.
    """
    source = ResearchEntropy(settings.seed + 1_000_000 + first)
    draws = OUTPUTS * (last - first)
    noise = discrete_laplace(10)  # in tenths: epsilon = 1 and a sensitivity of 1
    # The closer one has local sensitivity 0, so it is published as it is.
    by_local = [np.zeros(draws, dtype=np.int64), noise.draw(draws, source)]
    by_global = [noise.draw(draws, source), 10 + noise.draw(draws, source)]
    return {"local": [_histogram(x) for x in by_local], "global": [_histogram(x) for x in by_global]}


def audited(histograms: Sequence[Sequence[dict[str, int]]]) -> float:
    """What outputs of two neighbours prove about epsilon, from the histograms of all blocks."""
    first, second = (
        np.concatenate([np.repeat([int(x) for x in block[side]], list(block[side].values())) for block in histograms])
        for side in (0, 1)
    )
    order = np.random.default_rng(0).permutation(first.size)  # the audit chooses by one half and judges by the other
    return audit_epsilon(first[order], second[order]).lower_bound


def map_facts(settings: Settings) -> dict[str, float]:
    """People on the map, its cells, empty cells, and what cutting off at 0 adds to the total on average, exactly."""
    dense = tokyo(settings).to_dense()
    expected = {f"bias {x}": float(bias_of_cutting(dense, float(x)).sum()) for x in MAP_EPSILONS}
    return {
        "people": float(dense.sum()),
        "cells": float(dense.size),
        "empty": float((dense == 0).sum()),
        **expected,
    }


def cut_maps(settings: Settings, first: int, last: int) -> dict[str, list[list[float]]]:
    """For each epsilon and repeat: people on the map with flat noise, when that is cut off at 0, and when it is refined.

    The same three for Privelet's map; and of that, empty cells that are left, and of the refined one.
    """
    table = tokyo(settings)
    found: dict[str, list[list[float]]] = {epsilon: [] for epsilon in MAP_EPSILONS}
    for epsilon in MAP_EPSILONS:
        budget = Budget(epsilon=Fraction(epsilon))
        for number in range(first, last):
            totals: list[float] = []
            for publish in (laplace, privelet):
                # From the same seed: the same noise, refined.
                signed, refined = (
                    publish(
                        table, budget, refine=refine, entropy=ResearchEntropy(settings.seed + 2_000_000 + number)
                    ).table
                    for refine in REFINEMENTS
                )
                cut_off = float(np.maximum(signed.counts, 0).sum())
                totals += [float(signed.total), cut_off, float(refined.total)]
            cells = table.domain.cells
            found[epsilon].append([*totals, float(cells - signed.keys.size), float(cells - refined.keys.size)])
    return found


def bias_of_cutting(counts: NDArray[np.int64], epsilon: float) -> Numbers:
    """What cutting off at 0 adds to noisy counts on average: exp(-epsilon count) times that of an empty cell.

    An empty cell gains the mean of max(0, noise) = exp(-epsilon) / (1 - exp(-2 epsilon)), about 1 / (2 epsilon).
    """
    gained: Numbers = np.exp(-epsilon * counts) * exp(-epsilon) / (1 - exp(-2 * epsilon))
    return gained


def discrete_deviation(scale: float) -> float:
    """The standard deviation of discrete Laplace noise, a little below sqrt(2) times its scale."""
    return sqrt(2 * exp(-1 / scale)) / (1 - exp(-1 / scale))


def range_errors(settings: Settings, bits: int, first: int, last: int) -> dict[str, list[float]]:
    """Mean squared error of sums over random ranges of 2**bits cells, for each noisy table; epsilon = 1."""
    cells, ends = 1 << bits, random_ranges(settings, bits)
    table, budget, noise = np.zeros(cells, dtype=np.int64), Budget(epsilon=1), discrete_laplace(1)
    found: dict[str, list[float]] = {"flat": [], "privelet": []}
    for number in range(first * TABLES, last * TABLES):
        source = ResearchEntropy(settings.seed + 3_000_000 + number)
        found["flat"].append(_mean_square(noise.draw(cells, source), ends))
        found["privelet"].append(_mean_square(privelet(table, budget, entropy=source).to_dense(), ends))
    return found


def random_ranges(settings: Settings, bits: int) -> NDArray[np.int64]:
    """Where ranges of cells begin and stop."""
    # The same for all sizes, but for the scale.
    ends = np.random.default_rng(settings.seed).random((RANGES, 2)) * ((1 << bits) + 1)
    return np.sort(ends.astype(np.int64), axis=1)


@lru_cache(maxsize=64)
def range_variances(settings: Settings, bits: int) -> tuple[float, float]:
    """The mean variance of those sums: of flat noise, exactly, and of Privelet's, with that of rounding to whole numbers.

    Rounding changes every second difference by 1 (``tables/mechanisms/privelet.md``): a variance of 1/2 beside that of the noise.
    """
    ends = random_ranges(settings, bits)
    weight = float(np.mean([range_weight(int(start), int(stop), bits) for start, stop in ends]))
    of_total = float((((ends[:, 1] - ends[:, 0]) / (1 << bits)) ** 2).mean())
    flat = float((ends[:, 1] - ends[:, 0]).mean()) * discrete_deviation(1) ** 2
    return flat, weight * discrete_deviation(bits + 1) ** 2 + (weight - of_total) / 2


def range_weight(start: int, stop: int, bits: int) -> float:
    """The variance of a sum over a range of cells, in units of that of one coefficient (``tables/mechanisms/privelet.md``)."""
    inside = np.zeros(1 << bits)
    inside[start:stop] = 1
    total = (inside.sum() / inside.size) ** 2
    for height in range(1, bits + 1):
        halves = inside.reshape(-1, 2, 1 << height - 1).sum(axis=2)
        total += (((halves[:, 0] - halves[:, 1]) / (1 << height)) ** 2).sum()
    return float(total)


def attack(settings: Settings, first: int, last: int) -> dict[str, list[list[float]]]:
    """An attacker averages reports of each person, made with a kept permanent response and with a fresh one each time.

    Returns:
        For each way of reporting, and for each number of reports: how many bits of the filter they get right, how many of the
        permanent response, how many whole filters, and how many texts among the known ones.
    """
    source = ResearchEntropy(settings.seed + 4_000_000 + first)
    people = PEOPLE * (last - first)
    cohorts = np.zeros(people, dtype=np.int64)
    codes = np.random.default_rng([settings.seed, first]).integers(0, TEXTS, people)
    filters = pack_filters(RAPPOR, codes, known_texts(), cohorts)
    known = _bits(pack_filters(RAPPOR, np.arange(TEXTS), known_texts(), np.zeros(TEXTS, dtype=np.int64)))
    permanent = RAPPOR.permanent_response(filters, source)
    truth, kept = _bits(filters), _bits(permanent)
    found: dict[str, list[list[float]]] = {"kept": [], "fresh": []}
    for way, rows in found.items():
        ones, reports = np.zeros((people, RAPPOR.bits)), 0
        low, high = _coins(way == "kept")
        for count in report_counts(settings):
            while reports < count:
                bits = permanent if way == "kept" else RAPPOR.permanent_response(filters, source)
                ones += np.unpackbits(
                    RAPPOR.report(cohorts, bits, source)["bits"], axis=1, bitorder="little", count=RAPPOR.bits
                )
                reports += 1
            guess = ones / count > float(low + high) / 2
            guessed = _guess_texts(ones, count, known, way == "kept")
            whole = (guess == truth).all(axis=1)
            rows.append([int(x.sum()) for x in (guess == truth, guess == kept, whole, guessed == codes)])
    return found


def known_texts() -> list[str]:
    """Invented texts that set two bits each, no two texts the same."""
    texts: dict[int, str] = {}
    for number in range(10 * TEXTS):
        text = f"text {number}"
        filled = bloom_filter(text, 0, RAPPOR.hashes, RAPPOR.bits)
        if filled.bit_count() == RAPPOR.hashes:
            texts.setdefault(filled, text)
    return list(texts.values())[:TEXTS]


def bits_right(reports: int, is_kept: bool) -> float:
    """The share of bits of the filter that the attacker gets right, exactly: ones among so many tosses of the bits' coins."""
    from scipy.stats import binom

    low, high = map(float, _coins(is_kept))
    limit = np.floor(reports * (low + high) / 2)
    clear_right, set_right = float(binom.cdf(limit, reports, low)), float(binom.sf(limit, reports, high))
    if is_kept:
        turned = float(RAPPOR.f) / 2
        clear_right, set_right = (
            (1 - turned) * clear_right + turned * (1 - set_right),
            (1 - turned) * set_right + turned * (1 - clear_right),
        )
    set_share = RAPPOR.hashes / RAPPOR.bits
    return (1 - set_share) * clear_right + set_share * set_right


def _coins(is_kept: bool) -> tuple[Fraction, Fraction]:
    """How often a 0 and a 1 are reported as 1: bits of the permanent response if it is kept, bits of the filter if not."""
    return (RAPPOR.p, RAPPOR.q) if is_kept else (RAPPOR.reported_if_clear, RAPPOR.reported_if_set)


def _guess_texts(ones: Numbers, count: int, known: NDArray[np.uint8], is_kept: bool) -> NDArray[np.int64]:
    """The likeliest text for each person, by the probability of everything that was seen."""
    low, high = map(float, _coins(is_kept))

    def likelihood(p: float) -> Numbers:
        return ones * log(p) + (count - ones) * log(1 - p)

    if_clear, if_set = likelihood(low), likelihood(high)
    if is_kept:
        # The permanent bit is not known either: both are possible.
        stays, turns = log(1 - float(RAPPOR.f) / 2), log(float(RAPPOR.f) / 2)
        if_clear, if_set = (
            np.logaddexp(if_clear + stays, if_set + turns),
            np.logaddexp(if_set + stays, if_clear + turns),
        )
    return np.asarray(((if_set - if_clear) @ known.T.astype(float)).argmax(axis=1))


def _bits(lanes: NDArray[np.uint64]) -> NDArray[np.uint8]:
    as_bytes = lanes.astype("<u8", copy=False).view(np.uint8).reshape(lanes.shape[0], -1)
    return np.unpackbits(as_bytes, axis=1, bitorder="little", count=RAPPOR.bits)


def _mean_square(cells: NDArray[Any], ends: NDArray[np.int64]) -> float:
    before = np.concatenate([[0.0], np.cumsum(cells, dtype=float)])
    return float(((before[ends[:, 1]] - before[ends[:, 0]]) ** 2).mean())


def _histogram(outputs: NDArray[np.int64]) -> dict[str, int]:
    values, counts = np.unique(outputs, return_counts=True)
    return dict(zip(map(str, values.tolist()), counts.tolist(), strict=True))
