"""Histograms against HB, DAWA and noise on each bin, on the one-dimensional DPBench sets.

Every release and every peer is run here, on the same 18 histograms of 4,096 bins and at the same epsilon. Errors are root mean
squares over all ranges, all prefixes or all bins; ratios are geometric means over the sets.

- HB: blocks of every size b**i, equal shares, least squares; b by the paper's formula. Signed. (W. Qardaji, W. Yang, N. Li:
  Understanding hierarchical methods for differentially private histograms. PVLDB 2013.)
- DAWA: a partition into buckets with a quarter of epsilon, chosen by noisy deviations from the bucket's mean; then a hierarchy
  over the buckets, and an even division within each. Signed. (C. Li, M. Hay, G. Miklau, Y. Wang: A data- and workload-aware
  algorithm for range queries under differential privacy. PVLDB 2014.) The paper's hierarchy is GreedyH; HB over the buckets is
  measured too, and of both the one with the smaller error over the sets is the peer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log
from typing import TYPE_CHECKING

import numpy as np

import sudare
from benchmarks.data import data_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]
    Counts = NDArray[np.int64]

__all__ = ["TARGETS", "run"]

EPSILONS = (1.0, 0.1)
REPEATS = 30
DAWA_SHARE = 0.25
GREEDY_EVERY = 5
"""GreedyH takes ten times as long as everything else, and is run in one of so many repeats."""

GRANULARITY = 100
"""In how many steps GreedyH looks for the best share of a node."""

TARGETS = {
    "hist_range_vs_hb": "at most 0.9 (error of all ranges, geometric mean over 18 histograms and epsilon 1 and 0.1)",
    "hist_prefix_vs_hb": "at most 0.9 (the same for prefixes, with workload='prefixes')",
    "hist_range_vs_dawa": "at most 1.0",
    "hist_cell_vs_identity": "at most 1.0 (the worst histogram, with workload='cells'; noise on each bin, signed and as it is)",
}


@dataclass
class _Errors:
    """Sums of squared errors of ranges, prefixes and bins, on average over all of them."""

    squares: Values
    runs: int = 0

    @classmethod
    def none(cls) -> _Errors:
        return cls(np.zeros(3))

    def add(self, estimate: NDArray[np.float64] | Counts, truth: Counts) -> None:
        errors = np.asarray(estimate, dtype=np.float64) - truth
        cuts = np.concatenate([[0.0], np.cumsum(errors)])
        self.squares += [2 * cuts.var(ddof=1), (cuts[1:] ** 2).mean(), (errors**2).mean()]
        self.runs += 1

    @property
    def root(self) -> Values:
        return np.sqrt(self.squares / self.runs)


def run(repeats: int = REPEATS) -> dict[str, float]:
    """Ratios of errors to those of the peers, by epsilon and over both.

    Args:
        repeats: releases of each histogram by each method.
    """
    names = ("ranges", "prefixes", "cells", "identity", "hb", "dawa", "dawa-hb")
    numbers: dict[str, float] = {}
    everything: list[dict[str, Values]] = []
    for epsilon in EPSILONS:
        here = []
        for number, path in enumerate(sorted((data_folder("dpbench") / "1D").glob("*.npy"))):
            counts = np.load(path).astype(np.int64).ravel()
            found = _errors_of(counts, epsilon, np.random.default_rng((number, int(10 * epsilon))), repeats)
            here.append({name: found[name].root for name in names})
        numbers |= _ratios(here, f"_{epsilon:g}")
        everything += here
    return numbers | _ratios(everything, "")


def _ratios(errors: list[dict[str, Values]], end: str) -> dict[str, float]:
    def mean(one: str, other: str, kind: int) -> float:
        return float(np.exp(np.mean([np.log(found[one][kind] / found[other][kind]) for found in errors])))

    dawa = min(("dawa", "dawa-hb"), key=lambda name: mean(name, "hb", 0))
    cells = [found["cells"][2] / found["identity"][2] for found in errors]
    return {
        f"hist_range_vs_hb{end}": mean("ranges", "hb", 0),
        f"hist_prefix_vs_hb{end}": mean("prefixes", "hb", 1),
        f"hist_range_vs_dawa{end}": mean("ranges", dawa, 0),
        f"hist_prefix_vs_dawa{end}": mean("prefixes", dawa, 1),
        f"hist_range_worst_vs_hb{end}": max(float(found["ranges"][0] / found["hb"][0]) for found in errors),
        f"hist_cell_vs_identity{end}": float(max(cells)),
        f"hist_cell_vs_identity_mean{end}": float(np.exp(np.mean(np.log(cells)))),
        f"dawa_range_vs_hb{end}": mean("dawa", "hb", 0),
        f"dawa_with_hb_range_vs_hb{end}": mean("dawa-hb", "hb", 0),
    }


def _errors_of(counts: Counts, epsilon: float, generator: np.random.Generator, repeats: int) -> dict[str, _Errors]:
    budget = sudare.Budget(epsilon=epsilon)
    found = {name: _Errors.none() for name in ("ranges", "prefixes", "cells", "identity", "hb", "dawa", "dawa-hb")}
    deviations = deviations_of_intervals(counts)
    for repeat in range(repeats):
        for workload in ("ranges", "prefixes"):
            published = sudare.publish(counts, budget, "histogram", workload=workload, threads=1)
            found[workload].add(published.to_dense(), counts)
        published = sudare.publish(counts, budget, "histogram", workload="cells", threads=1, keep_measurements=True)
        found["cells"].add(published.to_dense(), counts)
        # With this workload each bin gets the noise of the whole budget: what was measured is what plain noise publishes.
        if published.measurements is None or [kept.name for kept in published.measurements] != ["cells"]:
            raise AssertionError("a histogram of cells measures cells alone")
        found["identity"].add(published.measurements[0].values, counts)
        found["hb"].add(hb(counts, epsilon, generator), counts)
        found["dawa-hb"].add(dawa(counts, epsilon, generator, deviations, hb_of_buckets), counts)
        if repeat % GREEDY_EVERY == 0:
            found["dawa"].add(dawa(counts, epsilon, generator, deviations, greedy_h), counts)
    return found


def hb(counts: Counts, epsilon: float, generator: np.random.Generator) -> Values:
    """Hierarchical counts with the best branching, made consistent by least squares."""
    size = counts.size
    if size == 1:
        return counts + generator.laplace(0, 1 / epsilon, 1)
    fan = _best_branching(size)
    levels = ceil(log(size) / log(fan) - 1e-9)
    leaves = np.zeros(fan**levels)
    leaves[:size] = counts
    variance, sums = 2 * (levels / epsilon) ** 2, [leaves]
    for _ in range(levels - 1):
        sums.insert(0, sums[0].reshape(-1, fan).sum(axis=1))
    noisy = [values + generator.laplace(0, levels / epsilon, values.size) for values in sums]
    values, spread = [noisy[-1]], variance
    for own in reversed(noisy[:-1]):
        spread *= fan
        share = spread / (spread + variance)
        values.insert(0, share * own + (1 - share) * values[0].reshape(-1, fan).sum(axis=1))
        spread *= 1 - share
    final = values[0]
    for below in values[1:]:
        children = below.reshape(-1, fan)
        final = (children + ((final - children.sum(axis=1)) / fan)[:, None]).ravel()
    return final[:size]


@lru_cache
def _best_branching(size: int) -> int:
    return min(range(2, size + 1), key=lambda fan: _hb_variance(size, fan))


def _hb_variance(size: int, fan: int) -> float:
    levels = ceil(log(size) / log(fan) - 1e-9)
    return (fan - 1) * levels**3 - 2 * (fan + 1) * levels**2 / 3


Hierarchy = Callable[["Counts", "Counts", float, np.random.Generator], "Values"]
"""Takes the counts of buckets, their lengths, epsilon and a generator; gives an estimate of each bucket."""


def dawa(
    counts: Counts, epsilon: float, generator: np.random.Generator, deviations: list[Values], hierarchy: Hierarchy
) -> Values:
    """A private partition, a hierarchy over its buckets, and an even division within each.

    Args:
        counts: of the bins.
        epsilon: of both steps together.
        generator: of continuous noise.
        deviations: of intervals of 1, 2, 4, ... bins, from every start (`deviations_of_intervals`).
        hierarchy: the second step.
    """
    for_partition, rest = DAWA_SHARE * epsilon, (1 - DAWA_SHARE) * epsilon
    ends = _private_partition(counts.size, deviations, for_partition, rest, generator)
    lengths = np.diff(ends)
    buckets = hierarchy(np.add.reduceat(counts, ends[:-1]), lengths, rest, generator)
    return np.repeat(buckets / lengths, lengths)


def deviations_of_intervals(counts: Counts) -> list[Values]:
    """The sum of |count - mean| of every interval of 1, 2, 4, ... bins."""
    out, length = [], 1
    while length <= counts.size:
        windows = np.lib.stride_tricks.sliding_window_view(counts, length)
        parts = np.array_split(windows, max(1, windows.size >> 20))
        out.append(np.concatenate([_deviations(part) for part in parts]))
        length *= 2
    return out


def _deviations(windows: Counts) -> Values:
    return np.asarray(np.abs(windows - windows.mean(axis=1, keepdims=True)).sum(axis=1))


def _private_partition(
    size: int, deviations: list[Values], epsilon: float, rest: float, generator: np.random.Generator
) -> Counts:
    """The ends of buckets with the smallest sum of noisy deviations (cut off at 0) and of 1 / rest for each bucket.

    A single bin never deviates and needs no noise.
    """
    costs = []
    for power, values in enumerate(deviations):
        scale = (2 - 1 / (1 << power) - 1 / size) / epsilon
        noisy = np.maximum(values + generator.laplace(0, scale, values.size), 0) if power else values
        costs.append((noisy + 1 / rest).tolist())
    best, back = [0.0], [0]
    for end in range(1, size + 1):
        lowest, start = float("inf"), 0
        for power, cost in enumerate(costs):
            first = end - (1 << power)
            if first < 0:
                break
            whole = best[first] + cost[first]
            if whole <= lowest:
                lowest, start = whole, first
        best.append(lowest)
        back.append(start)
    ends = [size]
    while ends[-1]:
        ends.append(back[ends[-1]])
    return np.array(ends[::-1], dtype=np.int64)


def hb_of_buckets(counts: Counts, lengths: Counts, epsilon: float, generator: np.random.Generator) -> Values:
    """HB, with buckets in the place of bins."""
    return hb(counts, epsilon, generator)


@dataclass(frozen=True)
class _Node:
    first: int
    last: int
    depth: int
    children: tuple[int, int] | None


def greedy_h(counts: Counts, lengths: Counts, epsilon: float, generator: np.random.Generator) -> Values:
    """Halves of halves of buckets, with shares chosen from the leaves up for all ranges of bins, and least squares."""
    nodes = _binary_tree(counts.size)
    own = _greedy_shares(nodes, lengths)
    shares, left = np.zeros(len(nodes)), np.ones(len(nodes))
    for number in range(len(nodes) - 1, -1, -1):
        children = nodes[number].children
        shares[number] = left[number] * (1 - own[number] if children else 1.0)
        for child in children or ():
            left[child] = left[number] * own[number]
    prefixes = np.concatenate([[0], np.cumsum(counts)])
    sums = prefixes[[node.last for node in nodes]] - prefixes[[node.first for node in nodes]]
    scales = 1 / (epsilon * np.maximum(shares, 1e-9))
    noisy = sums + generator.laplace(0, 1, len(nodes)) * scales
    values, variances = noisy.copy(), 2 * scales**2
    for number, node in enumerate(nodes):
        if node.children:
            a, b = node.children
            spread = variances[a] + variances[b]
            share = spread / (spread + variances[number])
            values[number] += (1 - share) * (values[a] + values[b] - values[number])
            variances[number] *= share
    buckets = np.zeros(counts.size)
    for number in range(len(nodes) - 1, -1, -1):
        children = nodes[number].children
        if children is None:
            buckets[nodes[number].first] = values[number]
            continue
        a, b = children
        missing = values[number] - values[a] - values[b]
        part = variances[a] / (variances[a] + variances[b])
        values[a] += part * missing
        values[b] += (1 - part) * missing
    return buckets


def _binary_tree(size: int) -> list[_Node]:
    """Nodes over buckets, children before their parents."""
    nodes: list[_Node] = []

    def grow(first: int, last: int, depth: int) -> int:
        children = None
        if last - first > 1:
            middle = first + (last - first) // 2
            children = grow(first, middle, depth + 1), grow(middle, last, depth + 1)
        nodes.append(_Node(first, last, depth, children))
        return len(nodes) - 1

    grow(0, size, 0)
    return nodes


def _greedy_shares(nodes: list[_Node], lengths: Counts) -> Values:
    """Which part of its share each node leaves to its children: the one with the least error of all ranges through the node."""
    after = np.concatenate([np.cumsum(lengths[::-1])[::-1], [0]])
    cuts = float(lengths.sum() + 1)
    rates = np.zeros(lengths.size)
    errors, own = np.zeros(len(nodes)), np.ones(len(nodes))
    steps = np.arange(GRANULARITY) / GRANULARITY

    def squares(first: int, last: int) -> float:
        """The sum over all ranges of bins of the square of what they take of these buckets, in proportion to ``rates``."""
        rate, length = rates[first:last], lengths[first:last].astype(np.float64)
        before = np.cumsum(rate) - rate
        linear, quadratic = (length + 1) / 2, (length + 1) * (2 * length + 1) / (6 * length)
        sums = (before * length + rate * linear).sum() + rate.sum() * after[last]
        of_squares = (before**2 * length + 2 * before * rate * linear + rate**2 * quadratic).sum()
        return float(cuts * (of_squares + rate.sum() ** 2 * after[last]) - sums**2)

    for number, node in enumerate(nodes):
        if node.children is None:
            rates[node.first] = 1.0
            errors[number] = squares(node.first, node.last)
            continue
        apart = sum(squares(nodes[child].first, nodes[child].last) for child in node.children)
        whole, total = squares(node.first, node.last), float(rates[node.first : node.last].sum())
        decay = 2.0 ** (-node.depth / 2)
        kept, given = (1 - steps) ** 2, steps**2 * decay
        below = sum(errors[child] for child in node.children)
        found = (below - ((whole - apart) * decay + apart) * given / (kept + given * total)) / kept
        chosen = int(np.argmin(found))
        part = 1 - chosen / GRANULARITY
        errors[number], own[number] = found[chosen], part
        rates[node.first : node.last] *= (1 - (1 - part) ** 2 * total / (part**2 + total * (1 - part) ** 2)) / part**2
    return own
