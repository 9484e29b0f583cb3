"""What the margins of a table tell of each other: components that do not mix, each with its own tree.

A table over some attributes is a sum of components, one for each set T of them: what the attributes of T explain together and
fewer do not. A margin over the attributes S holds just the components of the sets within S, and noise that is alike in all
its cells stays alike within each component. So generalised least squares over any margins, in any levels of a tree, is
one least-squares tree for each component (``components.md`` beside this file).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]
    Cells = NDArray[np.integer[Any]]

__all__ = ["ComponentTree", "NoisyMargin", "axes_within", "centred", "estimate_components", "margin_of", "subsets_of"]


def axes_within(mask: int) -> tuple[int, ...]:
    """The attributes that a mask stands for: attribute i where bit i is set."""
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


def subsets_of(mask: int) -> Iterable[int]:
    """All masks within a mask, the empty one and itself included."""
    part = mask
    while True:
        yield part
        if part == 0:
            return
        part = (part - 1) & mask


@dataclass(frozen=True)
class NoisyMargin:
    """A margin of every node of a level, with noise.

    Attributes:
        level: of the tree, 0 for the root.
        mask: over which attributes.
        values: a row for each node, then an axis for each attribute, of length 1 for those that are summed up.
        variance: of the noise of each value.
    """

    level: int
    mask: int
    values: Values
    variance: float


@dataclass(frozen=True)
class ComponentTree:
    """Estimates of one component for all nodes, from everything at and below each node.

    Attributes:
        measured: of each level, the component as measured, before levels are combined; None where it was not.
        noise: the variance of each of these, for every coordinate.
        values: of each level, the estimates.
        variances: of each level, the variances of the nodes' estimates; 0 for nodes without cells.
    """

    measured: tuple[Values | None, ...]
    noise: tuple[float, ...]
    values: tuple[Values, ...]
    variances: tuple[Values, ...]


def centred(values: Values, mask: int) -> Values:
    """Values less their means along the attributes of a mask: the component of just these."""
    for axis in axes_within(mask):
        values = values - values.mean(axis=1 + axis, keepdims=True)
    return values


def margin_of(values: NDArray[np.generic], mask: int) -> NDArray[np.generic]:
    """Sums over all attributes that are not in a mask; their axes stay, with length 1."""
    axes = tuple(1 + axis for axis in range(values.ndim - 1) if not mask >> axis & 1 and values.shape[1 + axis] > 1)
    return np.asarray(values.sum(axis=axes, keepdims=True)) if axes else values


def estimate_components(
    margins: Sequence[NoisyMargin], lengths: Sequence[int], bits: Sequence[int], cells: Sequence[Cells]
) -> Mapping[int, ComponentTree]:
    """The trees of all components that were measured, by generalised least squares.

    Args:
        margins: what was measured; the cells themselves among it.
        lengths: of the attributes.
        bits: a node of level i has 2**bits[i] children.
        cells: how many places each node of each level has; 0 for padding.
    """
    trees: dict[int, ComponentTree] = {}
    for mask in range(1 << len(lengths)):
        measured, noise = _combined(margins, lengths, mask, len(bits) + 1)
        trees[mask] = _least_squares(measured, noise, bits, cells)
    return trees


def _combined(
    margins: Sequence[NoisyMargin], lengths: Sequence[int], mask: int, levels: int
) -> tuple[list[Values | None], list[float]]:
    """Of each level, a component from all margins that hold it, each with the weight of its precision."""
    sums: list[Values | None] = [None] * levels
    precisions = [0.0] * levels
    for margin in margins:
        if mask & ~margin.mask:
            continue
        summed_up = prod(lengths[axis] for axis in axes_within(margin.mask & ~mask))
        precision = 1 / (margin.variance * summed_up)
        own = precision * centred(np.asarray(margin_of(margin.values, mask), dtype=np.float64), mask)
        before = sums[margin.level]
        sums[margin.level] = own if before is None else before + own
        precisions[margin.level] += precision
    measured = [None if total is None else total / p for total, p in zip(sums, precisions, strict=True)]
    return measured, [1 / p if p else 0.0 for p in precisions]


def _least_squares(
    measured: Sequence[Values | None], noise: Sequence[float], bits: Sequence[int], cells: Sequence[Cells]
) -> ComponentTree:
    """From the leaves upwards: each node's own measurement and the sum of its children's estimates."""
    leaves = measured[-1]
    if leaves is None:
        raise AssertionError("the cells of a table are always measured")
    has_cells = cells[-1] > 0
    values = [np.where(_beside(has_cells, leaves), leaves, 0.0)]
    variances = [np.where(has_cells, noise[-1], 0.0)]
    for level in range(len(bits) - 1, -1, -1):
        fan = 1 << bits[level]
        below = values[0].reshape(-1, fan, *values[0].shape[1:]).sum(axis=1)
        spread = variances[0].reshape(-1, fan).sum(axis=1)
        own = measured[level]
        if own is not None:
            weight = spread / np.maximum(spread + noise[level], 1e-30)
            below = below + _beside(weight, below) * (own - below)
            spread = weight * noise[level]
        has_cells = cells[level] > 0
        values.insert(0, np.where(_beside(has_cells, below), below, 0.0))
        variances.insert(0, np.where(has_cells, spread, 0.0))
    return ComponentTree(tuple(measured), tuple(noise), tuple(values), tuple(variances))


def _beside(of_nodes: NDArray[np.generic], values: Values) -> NDArray[np.generic]:
    """Numbers of nodes in a shape that meets values with axes of attributes."""
    return of_nodes.reshape(-1, *(1 for _ in values.shape[1:]))
