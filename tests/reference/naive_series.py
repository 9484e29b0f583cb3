"""Estimates of a series from the covariance matrix of all its ticks: slow, and obvious."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudare.series.strategies import SeriesStrategy

Reals = NDArray[np.float64]

UNKNOWN = 1e7
"""The variance of a change of which nothing is known."""


def toeplitz(coefficients: Reals) -> Reals:
    n = len(coefficients)
    return np.array([[coefficients[i - j] if i >= j else 0.0 for j in range(n)] for i in range(n)])


def best_counts(
    strategy: SeriesStrategy, variance: float, drifts: Reals, measured: Reals, known: int
) -> tuple[Reals, Reals]:
    """The best linear estimates of all counts from the first so many ticks, and their variances.

    Args:
        strategy: by which changes are measured.
        variance: of the noise, in units of the scale.
        drifts: the variance of the change at each tick.
        measured: what was measured, in units of the scale; NaN for a tick that was left out.
        known: how many ticks are used.
    """
    n = strategy.ticks
    matrix, sums = toeplitz(strategy.real_coefficients()), np.tril(np.ones((n, n)))
    used = [tick for tick in range(known) if not np.isnan(measured[tick])]
    rows, prior = matrix[used], np.diag(drifts)
    inside = np.linalg.inv(rows @ prior @ rows.T + variance * np.eye(len(used)))
    gain = prior @ rows.T @ inside
    rest = np.eye(n) - gain @ rows
    covariance = rest @ prior @ rest.T + variance * gain @ gain.T
    return sums @ gain @ measured[used], np.diag(sums @ covariance @ sums.T)


def moving_people(kind: str, share: float, nodes: int, people: int, ticks: int, seed: int) -> NDArray[np.int64]:
    """Counts of places at each tick: people who stay, wander, or commute; or who all meet at place 7 for a while."""
    random = np.random.default_rng(seed)
    size = random.lognormal(0, 1.3, nodes)
    size[: nodes // 4] = 0  # nobody is ever here, but for place 7
    size /= size.sum()
    home, work = random.choice(nodes, people, p=size), random.choice(nodes, people, p=size)
    at, found = home.copy(), []
    for tick in range(ticks):
        moves = random.random(people) < share
        if kind == "wander" and tick:
            at = np.where(moves, random.choice(nodes, people, p=size), at)
        elif kind == "commute" and tick:
            at = np.where(moves, work if tick < ticks // 2 else home, at)
        elif kind == "meet" and ticks // 3 <= tick < ticks // 3 + 3:
            at = np.where(random.random(people) < 0.02, 7, at)
        elif kind == "meet" and tick >= 2 * ticks // 3:
            at = np.where((at == 7) & (random.random(people) < 0.5), home, at)
        found.append(np.bincount(at, minlength=nodes))
    return np.array(found)


def measure(strategy: SeriesStrategy, counts: NDArray[np.int64], variance: float, seed: int) -> NDArray[np.int64]:
    """What is measured of counts, with rounded normal noise."""
    changes = np.diff(counts, axis=0, prepend=0)
    rows = np.array(strategy.coefficients)
    exact = [(rows[: tick + 1][::-1, None] * changes[: tick + 1]).sum(axis=0) for tick in range(len(counts))]
    noise = np.random.default_rng(seed).normal(0, variance**0.5, counts.shape)
    return np.array(exact) + np.rint(noise).astype(np.int64)
