"""Naive twins of histograms: dense matrices instead of passes through a tree, and formulas as they are written in books."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

__all__ = ["blocks_matrix", "covariance_of_bins", "departures_of", "posterior_of_bins", "rising_by_definition"]


def blocks_matrix(bins: int, height: int) -> np.ndarray:
    """A row for each block of a height, with a 1 for each of its bins."""
    places = np.arange(bins) >> height
    return np.array(places[None, :] == np.arange(places[-1] + 1)[:, None], dtype=float)


def departures_of(bins: int, height: int) -> np.ndarray:
    """A row for each node of a height: its left half less that half's share of the node. 0 for a node with one half alone."""
    nodes, halves = blocks_matrix(bins, height), blocks_matrix(bins, height - 1)
    out = np.zeros_like(nodes)
    for i, node in enumerate(nodes):
        left = halves[2 * i]
        out[i] = left - node * (left.sum() / node.sum())
    return out


def posterior_of_bins(
    bins: int,
    measured: Mapping[int, np.ndarray],
    variances: Mapping[int, float],
    spreads: Mapping[int, np.ndarray],
    total: float | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of all bins, by one dense system of normal equations."""
    precision, weighted = np.zeros((bins, bins)), np.zeros(bins)
    for height, values in measured.items():
        rows = blocks_matrix(bins, height)
        precision += rows.T @ rows / variances[height]
        weighted += rows.T @ values / variances[height]
    for height, spread in spreads.items():
        rows = departures_of(bins, height)
        precision += rows.T @ (rows / spread[:, None])
    covariance = np.linalg.inv(precision)
    mean = covariance @ weighted
    if total is not None:
        along = covariance.sum(axis=1)
        mean = mean + along * (total - mean.sum()) / along.sum()
        covariance = covariance - np.outer(along, along) / along.sum()
    return mean, covariance


def covariance_of_bins(steps: tuple[int, ...], noise: tuple[float, ...]) -> np.ndarray:
    """Of least squares over the total and all levels. A variance of infinity is not measured, one of 0 is known."""
    depth = sum(steps)
    heights = [depth, *(depth - sum(steps[: level + 1]) for level in range(len(steps)))]
    known = {height: variance for height, variance in zip(heights, noise, strict=True) if 0 < variance < np.inf}
    zeros = {height: np.zeros(1 << (depth - height)) for height in known}
    return posterior_of_bins(1 << depth, zeros, known, {}, 0.0 if noise[0] == 0 else None)[1]


def rising_by_definition(values: np.ndarray) -> np.ndarray:
    """The nearest row that never falls: at each place, the highest over all starts of the lowest mean up to any end."""
    size = values.size
    return np.array(
        [max(min(values[a : b + 1].mean() for b in range(i, size)) for a in range(i + 1)) for i in range(size)]
    )
