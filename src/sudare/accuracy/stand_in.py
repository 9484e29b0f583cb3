"""A table that stands in for the one to be published: over the same cells, invented, and so public.

People are dealt out down the tree of halvings: at every split each half gets a random share of those who came so far.
Along a map or an ordered axis shares vary widely, which gives clusters within clusters as people settle; along
categories they vary little around shares that are the same everywhere. The mean share of a half is its share of the
cells, so that no place along an axis is preferred. Only occupied nodes are kept: time and memory grow with the occupied
cells, not with the domain.

The draws are for research: nothing here is about anybody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sudare.border.signatures import check_arguments
from sudare.domain import CountTable, Domain
from sudare.domain.layout import axis_bits, morton_layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Values = NDArray[np.float64]

__all__ = ["invent_table", "vary_table"]

CLUSTERED = 1.3
"""How alike the halves of an area are: the sum of the parameters of their beta law. Fitted to the share of inhabited areas of
census maps at all sizes from 1 to 64."""

NOMINAL_EVERYWHERE = 8.0
NOMINAL_HERE = 40.0
"""The same for categories: of their shares everywhere, and of the shares of one place around those."""

CHANGE = 0.15
"""By how much of itself a count changes between two censuses, about."""

MAX_CATEGORIES = 1 << 24


def invent_table(domain: Domain, people: int, seed: int, clustered: float = CLUSTERED) -> CountTable:
    """An invented table over a domain.

    Args:
        domain: the cells.
        people: how many to deal out, exactly.
        seed: which of many tables; the same arguments give the same table.
        clustered: how alike the halves of an area are; less means more clustered.
    """
    check_arguments(invent_table, locals(), "domain", "people", "seed", "clustered")
    generator = np.random.default_rng(seed)
    layout = morton_layout(domain.shape)
    is_nominal = [axis not in domain.ordered_axes for axis in range(len(domain.shape))]
    everywhere = [_shares_everywhere(length, generator) for length in domain.shape]
    starts = [np.zeros(1, dtype=np.int64) for _ in domain.shape]
    heights = [axis_bits(length) for length in domain.shape]
    counts = np.array([people], dtype=np.int64)
    for axis in layout.axis_of_split:
        heights[axis] -= 1
        half, length = 1 << heights[axis], domain.shape[axis]
        middle = starts[axis] + half
        expected = _left_share(starts[axis], middle, half, length, everywhere[axis] if is_nominal[axis] else None)
        alike = NOMINAL_HERE if is_nominal[axis] else clustered
        left = generator.binomial(counts, _vary(expected, alike, generator))
        right = counts - left
        some_left, some_right = left > 0, right > 0
        for other, places in enumerate(starts):
            beyond = middle if other == axis else places
            starts[other] = np.concatenate([places[some_left], beyond[some_right]])
        counts = np.concatenate([left[some_left], right[some_right]])
    return CountTable.from_cells(domain, domain.keys_at(*starts), counts)


def _shares_everywhere(length: int, generator: np.random.Generator) -> Values:
    """Running sums of the shares of categories."""
    if length > MAX_CATEGORIES:
        return np.empty(0)
    shares = generator.gamma(NOMINAL_EVERYWHERE / 4, size=length)
    return np.concatenate([[0.0], np.cumsum(shares / shares.sum())])


def _left_share(starts: Integers, middle: Integers, half: int, length: int, sums: Values | None) -> Values:
    """The mean share of the left halves of nodes: by their cells, or by the categories' shares."""
    ends = np.minimum(middle + half, length)
    if sums is None or not sums.size:
        whole = (ends - starts).astype(np.float64)
        return np.minimum(half / whole, 1.0)
    inner = np.minimum(middle, length)
    left, whole = sums[inner] - sums[starts], sums[ends] - sums[starts]
    return np.where(inner >= ends, 1.0, left / np.maximum(whole, 1e-300))


def _vary(expected: Values, alike: float, generator: np.random.Generator) -> Values:
    """Random shares with these means; 1 stays 1, because the other half has no cells."""
    inner = expected < 1
    shares = np.ones(expected.size)
    mean = expected[inner]
    shares[inner] = generator.beta(np.maximum(alike * mean, 1e-3), np.maximum(alike * (1 - mean), 1e-3))
    return shares


def vary_table(table: CountTable, seed: int) -> CountTable:
    """A table as a public one may have become some years later: shares of all cells change by a tenth or so, some empty out.

    Args:
        table: a public table.
        seed: which of many.
    """
    generator = np.random.default_rng(seed)
    factors = generator.gamma(1 / CHANGE**2, CHANGE**2, size=table.counts.size)
    return CountTable.from_cells(table.domain, table.keys, generator.poisson(table.counts * factors))
