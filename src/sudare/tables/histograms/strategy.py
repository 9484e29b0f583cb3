"""Which blocks of a histogram are measured, and with which share of the budget, for ranges, prefixes or cells.

A strategy measures the total and levels of blocks: each level cuts every block of the one above into 2**step blocks. With least
squares over all levels the variance of every prefix and range is a weighted sum of one number for each level, so the mean over
all of them is a closed form, and so is the best share of each level given the others. Nothing here looks at counts.
Proof: ``histogram.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Values = NDArray[np.float64]

__all__ = [
    "BlockStrategy",
    "HistogramWorkload",
    "WeightedWorkload",
    "best_strategy",
    "cell_variance",
    "prefix_variance",
    "range_variance",
    "range_variance_of_length",
    "total_variance",
]

HistogramWorkload = Literal["ranges", "prefixes", "cells"]
WeightedWorkload = HistogramWorkload | Mapping[HistogramWorkload, float]
"""One thing that matters, or several with weights: the weighted geometric mean of their variances is made small."""

MAX_STEP = 12
"""A block is cut into at most 2**12 blocks."""

MAX_LEVELS = 12
FEW_LEVELS = 7
"""Up to this many levels, their halvings may differ by one from the even ones, and by two up to five levels."""

REWEIGHTINGS = 6
"""Rounds in which the parts of a workload are weighed anew, each by how accurate it is so far."""

MAX_TRIED = 24
"""Ways to cut a depth into levels that are tried for several workloads at once, the most even ones."""

ROUNDS = 25
"""Rounds in which shares are improved; each comes closer by a constant factor."""

MIN_SHARE = 0.02
"""A level that would get less than this share is not worth being measured."""

KEPT_BY_HALVING = 0.9
"""How much of its variance a level is taken to keep after shrinkage, for each halving above it. Small blocks gain more by what is
learned of all of them than large ones do. It was chosen on the DPBench histograms; 1 would choose levels for noise alone."""

MAX_STARTS = 4096
"""Ranges of one length are looked at from at most this many starts, evenly taken."""


@dataclass(frozen=True)
class BlockStrategy:
    """What is measured of a histogram.

    Attributes:
        steps: how many halvings make up each level, from the top.
        shares: in which proportion the total and each level get the budget. The total's is 0 where it is not measured:
            it is public, or the sum of the blocks tells it well enough.
    """

    steps: tuple[int, ...]
    shares: tuple[float, ...]


def best_strategy(
    cells: int, workload: WeightedWorkload, noise: Literal["laplace", "gaussian"], *, public_total: bool = False
) -> BlockStrategy:
    """The strategy with the smallest mean variance over a workload, or over several the smallest weighted geometric mean of them.

    Args:
        cells: how many bins the histogram has.
        workload: ``"ranges"`` between any two bins, ``"prefixes"`` from the first bin on, or ``"cells"``; or weights of some.
        noise: a level's variance falls with the square of its share for Laplace noise, else with the share.
        public_total: whether the total is known and costs nothing.
    """
    depth = max(cells - 1, 0).bit_length()
    power = 2 if noise == "laplace" else 1
    if isinstance(workload, str):
        return _best_of_depth(depth, workload, power, public_total)
    weights = tuple(sorted(workload.items()))
    if len(weights) == 1:
        return _best_of_depth(depth, weights[0][0], power, public_total)
    return _best_mixture(depth, weights, power, public_total)


def prefix_variance(steps: Sequence[int], noise: Sequence[float]) -> float:
    """The variance of a prefix, on average over all prefixes, from one bin to all of them.

    Args:
        steps: how many halvings make up each level.
        noise: the variance of the noise on the total (0 if it is public, infinite if it is not measured) and on each level.
    """
    return _mean_variance(steps, noise, "prefixes")


def range_variance(steps: Sequence[int], noise: Sequence[float]) -> float:
    """The variance of a range, on average over all ranges of bins that follow each other.

    Args:
        steps: how many halvings make up each level.
        noise: the variance of the noise on the total (0 if it is public, infinite if it is not measured) and on each level.
    """
    return _mean_variance(steps, noise, "ranges")


def range_variance_of_length(steps: Sequence[int], noise: Sequence[float], length: int) -> float:
    """The variance of a range of this many bins, on average over where it starts.

    Args:
        steps: how many halvings make up each level.
        noise: the variance of the noise on the total (0 if it is public) and on each level.
        length: how many bins, from 1 to all of them.
    """
    size = 1 << sum(steps)
    starts = np.unique(np.linspace(0, size - length, min(size - length + 1, MAX_STARTS)).astype(np.int64))
    return float(_of_ranges(steps, noise, starts, starts + length).mean())


def cell_variance(steps: Sequence[int], noise: Sequence[float]) -> float:
    """The variance of one bin."""
    own = _upward(np.array(steps, dtype=np.int64), np.array(noise, dtype=np.float64))
    final = float(own[0])
    for step, u in zip(steps, own[1:], strict=True):
        fan = 1 << step
        final = float(u) * (1 - 1 / fan) + final / fan**2
    return final


def total_variance(steps: Sequence[int], noise: Sequence[float]) -> float:
    """The variance of the total."""
    return float(_upward(np.array(steps, dtype=np.int64), np.array(noise, dtype=np.float64))[0])


def _mean_variance(steps: Sequence[int], noise: Sequence[float], workload: HistogramWorkload) -> float:
    levels = np.array(steps, dtype=np.int64)
    return float(_importance(levels, workload) @ _upward(levels, np.array(noise, dtype=np.float64)))


def _upward(steps: NDArray[np.int64], noise: Values) -> Values:
    """The variance of the total and of each level's blocks from what was measured of them and below them.

    Both arrays may have rows, one for each of several strategies.
    """
    own = noise.copy()
    for level in range(steps.shape[-1] - 1, -1, -1):
        own[..., level] = _combined(own[..., level], 2.0 ** steps[..., level] * own[..., level + 1])
    return own


def _combined(own: Values, children: Values) -> Values:
    """The variance of two independent estimates together. An infinite one tells nothing, one of 0 everything."""
    with np.errstate(divide="ignore"):
        return np.asarray(1 / (1 / own + 1 / children))


def _importance(steps: NDArray[np.int64], workload: HistogramWorkload) -> Values:
    """What a unit of variance of the total and of each level's blocks adds to the mean variance of a workload."""
    depth = steps.sum(axis=-1, keepdims=True)
    heights = depth - np.cumsum(steps, axis=-1)
    fan, width, size = 2.0**steps, 2.0**heights, 2.0**depth
    ends = (width - 1) * (2 * width - 1) / (6 * width**2) - (fan * width - 1) * (2 * fan * width - 1) / (
        6 * fan * width**2
    )
    inside = (fan - 1) / 2 + ends
    if workload == "cells":
        below = np.cumprod(fan[..., ::-1], axis=-1)[..., ::-1]
        shared = np.concatenate([below[..., 1:], np.ones_like(width[..., :1])], axis=-1)
        return np.concatenate([1 / size**2, (1 - 1 / fan) / shared**2], axis=-1)
    if workload == "prefixes":
        return np.concatenate([(size + 1) * (2 * size + 1) / (6 * size**2), inside], axis=-1)
    # Over all pairs of cuts, the squared differences of prefixes add up to cuts * (sum of squares) - (square of the sum).
    cuts, nodes = size + 1, size / (fan * width)
    of_total = cuts * cuts * (2 * size + 1) / (6 * size) - (cuts / 2) ** 2
    of_levels = cuts * size * inside - size * size / nodes * (fan * fan - 1) / (12 * fan)
    return np.asarray(np.concatenate([of_total, of_levels], axis=-1) / (size * cuts / 2))


def _of_ranges(steps: Sequence[int], noise: Sequence[float], first: ArrayLike, last: ArrayLike) -> Values:
    """The variance of each range from one cut to another, later one."""
    own, height = _upward(np.array(steps, dtype=np.int64), np.array(noise, dtype=np.float64)), sum(steps)
    starts, ends = np.asarray(first, dtype=np.int64), np.asarray(last, dtype=np.int64)
    variance = own[0] * ((ends - starts) / (1 << height)) ** 2
    for step, u in zip(steps, own[1:], strict=True):
        fan, node = 1 << step, 1 << height
        height -= step
        (at, i, c), (until, j, d) = (_place(cuts, node, 1 << height) for cuts in (starts, ends))
        apart = i + c**2 - (i + c) ** 2 / fan + j + d**2 - (j + d) ** 2 / fan
        squares = np.where(i == j, (d - c) ** 2, (1 - c) ** 2 + (j - i - 1) + d**2)
        variance = variance + u * np.where(at == until, squares - (j + d - i - c) ** 2 / fan, apart)
    return np.asarray(variance)


def _place(cuts: NDArray[np.int64], node: int, child: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Values]:
    """In which node a cut is, how many of its children lie before it, and which part of the next."""
    inside = cuts % node
    return cuts // node, inside // child, inside % child / child


@lru_cache(maxsize=256)
def _best_of_depth(depth: int, workload: HistogramWorkload, power: int, public_total: bool) -> BlockStrategy:
    if depth == 0:
        return BlockStrategy((), (1.0,))
    fewest = -(-depth // MAX_STEP)
    if workload == "cells":
        # Whatever else were measured would take from the cells.
        return BlockStrategy((depth,), (0.0, 1.0))
    found = []
    # With Laplace noise the best levels have three or four halvings; with Gaussian noise more levels are hardly ever worse.
    numbers = range(depth // 4, depth // 3 + 2) if power == 2 else range(FEW_LEVELS, MAX_LEVELS + 1)
    for levels in sorted({min(max(number, fewest), depth) for number in numbers}):
        steps = _candidates(depth, levels)
        for first in ("public",) if public_total else ("measured", "unknown"):
            variances, shares = _best_shares(steps, workload, power, first)
            best = int(np.argmin(variances))
            found.append((float(variances[best]), tuple(steps[best].tolist()), tuple(shares[best].tolist())))
    _, chosen, shares_of_best = min(found)
    return BlockStrategy(chosen, tuple(round(share, 4) for share in shares_of_best))


@lru_cache(maxsize=256)
def _best_mixture(
    depth: int, weights: tuple[tuple[HistogramWorkload, float], ...], power: int, public_total: bool
) -> BlockStrategy:
    """The strategy for several workloads at once, each with its weight."""
    if depth == 0:
        return BlockStrategy((), (1.0,))
    found = []
    for levels in range(-(-depth // MAX_STEP), min(depth, FEW_LEVELS if power == 2 else MAX_LEVELS) + 1):
        steps = _candidates(depth, levels)[:MAX_TRIED]
        for first in ("public",) if public_total else ("measured", "unknown"):
            means, shares = _best_shares_of_mixture(steps, weights, power, first)
            best = int(np.argmin(means))
            found.append((float(means[best]), tuple(steps[best].tolist()), tuple(shares[best].tolist())))
    _, chosen, shares_of_best = min(found)
    return BlockStrategy(chosen, tuple(round(share, 4) for share in shares_of_best))


def _best_shares_of_mixture(
    steps: NDArray[np.int64], weights: tuple[tuple[HistogramWorkload, float], ...], power: int, first: str
) -> tuple[Values, Values]:
    """For each row of steps the best shares, and the weighted mean logarithm of the variances that they give.

    A logarithm lies below each of its tangents: the sum of variances, each over what it was before, is made small again and
    again, and the mean logarithm falls with it.
    """
    each = [_shrunk(steps, workload) for workload, _ in weights]
    matter = np.array([weight for _, weight in weights]) / sum(weight for _, weight in weights)
    importance = sum(weight * one / one.sum(axis=1, keepdims=True) for weight, one in zip(matter, each, strict=True))
    for _ in range(REWEIGHTINGS):
        means, shares = _shares_for(np.asarray(importance), steps, power, first)
        variances = [(one * _upward(steps, _noise_of(shares, power, first))).sum(axis=1) for one in each]
        importance = sum(w * one / v[:, None] for w, one, v in zip(matter, each, variances, strict=True))
    logs = sum(weight * np.log(variance) for weight, variance in zip(matter, variances, strict=True))
    return np.where(np.isinf(means), np.inf, logs), shares


def _best_shares(
    steps: NDArray[np.int64], workload: HistogramWorkload, power: int, first: str
) -> tuple[Values, Values]:
    """The best shares for each row of steps, and the mean variance that they give."""
    return _shares_for(_shrunk(steps, workload), steps, power, first)


def _shrunk(steps: NDArray[np.int64], workload: HistogramWorkload) -> Values:
    """The importance of levels, less what shrinkage takes of it."""
    importance = _importance(steps, workload)
    importance[:, 1:] *= KEPT_BY_HALVING ** (np.cumsum(steps, axis=1) - steps)
    return importance


def _noise_of(shares: Values, power: int, first: str) -> Values:
    """The variance of the noise on the total and on each level, with the whole budget taken as 1."""
    noise = np.full(shares.shape, 0.0 if first == "public" else np.inf)
    free = slice(0 if first == "measured" else 1, None)
    noise[:, free] = shares[:, free] ** -float(power)
    return noise


def _shares_for(importance: Values, steps: NDArray[np.int64], power: int, first: str) -> tuple[Values, Values]:
    """The best shares for each row of steps, where it is given what a level's variance adds to what is to be small.

    A sum of c / share**power is smallest where each share goes like c**(1 / (power + 1)). What c is depends a little on the
    shares, so this is repeated; c / share**power is the level's variance times how fast the mean variance grows with it.
    """
    free = slice(0 if first == "measured" else 1, None)
    noise = np.full(importance.shape, 0.0 if first == "public" else np.inf)
    shares = np.zeros(importance.shape)
    shares[:, free] = 1 / importance[:, free].shape[1]
    for _ in range(ROUNDS):
        noise[:, free] = shares[:, free] ** -float(power)
        own = _upward(steps, noise)
        growth = importance.copy()
        for level in range(steps.shape[1]):
            fan = 2.0 ** steps[:, level]
            with np.errstate(invalid="ignore"):
                by_children = own[:, level] / (fan * own[:, level + 1])
                by_own = np.where(np.isinf(noise[:, level]), 0.0, 1 - by_children)
            growth[:, level + 1] += growth[:, level] * by_children**2 * fan
            growth[:, level] *= by_own**2
        shares[:, free] = (growth[:, free] * noise[:, free] * shares[:, free] ** power) ** (1 / (power + 1))
        shares[:, free] = np.maximum(shares[:, free], MIN_SHARE / 10 * shares.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
    noise[:, free] = shares[:, free] ** -float(power)
    variances = (importance * _upward(steps, noise)).sum(axis=1)
    return np.where((shares[:, free] < MIN_SHARE).any(axis=1), np.inf, variances), shares


def _candidates(depth: int, levels: int) -> NDArray[np.int64]:
    """Ways to cut a depth into levels of about the same number of halvings, the most even one first."""
    usual = depth / levels
    reach = 2 if levels <= FEW_LEVELS - 2 else 1 if levels <= FEW_LEVELS else 0
    lowest, highest = max(1, int(usual) - reach), min(MAX_STEP, -int(-usual // 1) + reach)
    rows = np.zeros((1, 0), dtype=np.int64)
    for level in range(levels):
        rows = np.hstack(
            [np.repeat(rows, highest - lowest + 1, axis=0), np.tile(np.arange(lowest, highest + 1), len(rows))[:, None]]
        )
        left, rest = depth - rows.sum(axis=1), levels - level - 1
        rows = rows[(left >= rest * lowest) & (left <= rest * highest)]
    return rows[np.argsort(((rows - usual) ** 2).sum(axis=1), kind="stable")]
