"""Whole tables for the nodes of a tree: counts >= 0 that add up over places and over attributes, from the top.

The totals of all nodes come first. Then one attribute after the other is added: the table of each node over the attributes so far
is divided along the next one, such that the children's tables add up to their parent's, and each child's to what it had
before. Both sums are kept exactly, so that nobody is moved from one category to another, nor from one area to another
(``components.md`` beside this file).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from sudare.refine.components import ComponentTree, axes_within, centred, margin_of, subsets_of
from sudare.refine.learning.priors import learn_departures
from sudare.refine.trees import Words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]
    Counts = NDArray[np.int64]

__all__ = ["refine_tables"]

ROUNDS = 60
"""How often levels of rows and columns are found in turn, at most."""

MIN_CELLS = 200
"""What departs from an even composition is learned from at least this many cells of a level."""

SAMPLE = 2000
"""From this many of them it is learned; more take longer and tell little more."""


@dataclass(frozen=True)
class _Division:
    """The attribute that is added, and those that were there before."""

    axis: int
    before: int
    lengths: tuple[int, ...]

    @property
    def after(self) -> int:
        return self.before | 1 << self.axis

    @property
    def components(self) -> list[int]:
        """Those that the attribute brings in."""
        return [mask for mask in subsets_of(self.after) if mask >> self.axis & 1]

    def spread_over(self, mask: int) -> int:
        """Over how many cells of the new table each coordinate of a component is spread."""
        return prod(self.lengths[axis] for axis in axes_within(self.after & ~mask))

    def variance(self, of_components: Mapping[int, float]) -> float:
        """The variance of a cell of the new table, given the sums."""
        return sum(
            variance
            * prod(1 - 1 / self.lengths[axis] for axis in axes_within(mask))
            / prod(self.lengths[axis] ** 2 for axis in axes_within(self.after & ~mask))
            for mask, variance in of_components.items()
        )


def refine_tables(
    totals: Sequence[Counts],
    trees: Mapping[int, ComponentTree],
    lengths: Sequence[int],
    bits: Sequence[int],
    words: Words,
    *,
    learns: bool,
) -> Counts:
    """The tables of all leaves: a row for each leaf, then an axis for each attribute.

    Args:
        totals: the refined counts of all nodes of each level, which add up.
        trees: estimates of all components.
        lengths: of the attributes.
        bits: a node of level i has 2**bits[i] children.
        words: gives random words, which decide between equals.
        learns: whether it is learned how much the composition of areas within one differs.
    """
    tables: list[Counts] = [level.reshape(-1, *(1 for _ in lengths)) for level in totals]
    done = 0
    for axis in sorted(range(len(lengths)), key=lambda axis: (lengths[axis], axis)):
        division = _Division(axis, done, tuple(lengths))
        tables = _divided(tables, trees, division, bits, words, learns)
        done = division.after
    return tables[-1]


def _divided(
    tables: Sequence[Counts],
    trees: Mapping[int, ComponentTree],
    division: _Division,
    bits: Sequence[int],
    words: Words,
    learns: bool,
) -> list[Counts]:
    """The tables of all nodes with one attribute more, from the root."""
    divided = [_divided_root(tables[0], trees, division, words)]
    for level, step in enumerate(bits, start=1):
        divided.append(_divided_children(tables[level], divided[-1], trees, division, level, 1 << step, words, learns))
    return divided


def _divided_root(table: Counts, trees: Mapping[int, ComponentTree], division: _Division, words: Words) -> Counts:
    from sudare.kernels.tables.priors import project_children

    length = division.lengths[division.axis]
    values = np.broadcast_to(table / length, _with_axis(table.shape, division)).copy()
    for mask in division.components:
        values += trees[mask].values[0] / division.spread_over(mask)
    lines = np.ascontiguousarray(np.moveaxis(values, 1 + division.axis, -1))
    sums = np.ascontiguousarray(np.moveaxis(table, 1 + division.axis, -1).reshape(-1))
    out = np.empty((sums.size, length), dtype=np.int64)
    project_children(lines.reshape(-1, length), np.ones(out.shape), sums, words(sums.size), out)
    return np.moveaxis(out.reshape(lines.shape), -1, 1 + division.axis)


def _divided_children(
    table: Counts,
    parents: Counts,
    trees: Mapping[int, ComponentTree],
    division: _Division,
    level: int,
    fan: int,
    words: Words,
    learns: bool,
) -> Counts:
    """The tables of the nodes of a level, given what each has in all and what their parents have in each category."""
    from sudare.kernels.tables.transport import fill_tables

    values = np.broadcast_to(table / division.lengths[division.axis], _with_axis(table.shape, division)).copy()
    for mask in division.components:
        values += _met_by_parents(trees[mask], parents, mask, level, fan) / division.spread_over(mask)
    matrices = np.ascontiguousarray(_as_matrices(values, division.axis, fan))
    rows = np.ascontiguousarray(_as_matrices(table, division.axis, fan)[..., 0])
    columns = np.ascontiguousarray(np.moveaxis(parents, 1 + division.axis, -1))
    shape = matrices.shape
    matrices, rows = matrices.reshape(-1, *shape[-2:]), rows.reshape(-1, shape[-2])
    columns = columns.reshape(-1, shape[-1])
    if learns:
        spreads = {mask: _typical(trees[mask].variances[level]) * (1 - 1 / fan) for mask in division.components}
        matrices = _drawn_to_parents(matrices, rows, columns, division.variance(spreads))
    out = np.empty(matrices.shape, dtype=np.int64)
    fill_tables(matrices, rows, columns, words(rows.shape[0]), ROUNDS, out)
    return _from_matrices(out.reshape(shape), division.axis)


def _met_by_parents(tree: ComponentTree, parents: Counts, mask: int, level: int, fan: int) -> Values:
    """A component of each node, such that children add up to their parents' refined one: what is missing is shared out."""
    wanted = centred(margin_of(parents, mask).astype(np.float64), mask)
    values, variances = tree.values[level], tree.variances[level]
    children = values.reshape(-1, fan, *values.shape[1:])
    shares = variances.reshape(-1, fan) / np.maximum(variances.reshape(-1, fan).sum(axis=1, keepdims=True), 1e-30)
    missing = (wanted - children.sum(axis=1))[:, None]
    met = children + shares.reshape(*shares.shape, *(1 for _ in values.shape[1:])) * missing
    return np.asarray(met.reshape(values.shape))


def _drawn_to_parents(matrices: Values, rows: Counts, columns: Counts, variance: float) -> Values:
    """Values drawn to the composition of the area above, as far as the noisy counts of the level show that areas have it.

    How far children depart from their parents' composition is learned from all cells of the level, with heavy tails: an area that
    is unlike the one around it keeps its own counts.
    """
    people = np.maximum(columns.sum(axis=1), 1)
    expected = rows[:, :, None] * (columns / people[:, None])[:, None, :]
    used = np.flatnonzero(expected.reshape(-1) > 0)
    if used.size < MIN_CELLS or variance <= 0:
        return matrices
    given = matrices.reshape(-1)[used], np.full(used.size, variance)
    guesses = expected.reshape(-1)[used]
    judged = np.zeros(matrices.size)
    learned = learn_departures(*given, guesses, is_laplace=False, places=SAMPLE)
    judged[used] = learned.judge(*given, guesses).values
    return judged.reshape(matrices.shape)


def _typical(variances: Values) -> float:
    """The variance of nodes that have all their cells."""
    return float(variances.max(initial=0.0))


def _with_axis(shape: tuple[int, ...], division: _Division) -> tuple[int, ...]:
    lengths = list(shape)
    lengths[1 + division.axis] = division.lengths[division.axis]
    return tuple(lengths)


def _as_matrices(values: NDArray[np.generic], axis: int, fan: int) -> NDArray[np.generic]:
    """The children of each parent along one axis, the categories of an attribute along the other; both last."""
    by_parent = values.reshape(-1, fan, *values.shape[1:])
    return np.moveaxis(np.moveaxis(by_parent, 2 + axis, -1), 1, -2)


def _from_matrices(matrices: Counts, axis: int) -> Counts:
    by_parent = np.moveaxis(np.moveaxis(matrices, -2, 1), -1, 2 + axis)
    return np.ascontiguousarray(by_parent).reshape(-1, *by_parent.shape[2:])
