"""A graphical model: the distribution of highest entropy with certain marginals, as tables of a junction tree.

The model is a product of one factor for each clique (`potentials` are the logarithms), and all its marginals follow from the
junction tree's tables by sums. Fitting looks for potentials whose marginals are nearest to the noisy ones, in squared
distances weighed by the noise: mirror descent with momentum, which begins anew where it has overshot; one exact pass over the
tree for each step. Where noise is large beside the counts, the nearest model would take noise for a relation between columns; a
pull towards independent columns weighs against that.

Everything here sees noisy counts only: it is post-processing, so doubles are fine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import log, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.tables.adaptive.junction_tree import JunctionTree, junction_tree
from sudare.tables.adaptive.measured import Evidence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.tables.adaptive.measured import Clique

    Table = NDArray[np.float64]

__all__ = ["GraphicalModel", "fit_model", "loss_of"]

MAX_GAP = 600.0
"""Between two potentials; exp(-600) is still a normal double."""

FIRST_RATE, MIN_RATE = 4.0, 1e-12
"""Of the steps, in units of 1 / (people x largest weight of a cell), for which plain descent is sure to go down."""

MIN_SHARE = 1e-300
"""Of a value, whose logarithm is taken."""

FEW_CELLS = 16
"""Behind an axis, up to which adding by a matrix is faster than by a loop."""

ENOUGH = 1e-6
"""Share of the loss (of 1, if it is smaller: one unit is far within the noise) that must be gained in one of five steps."""


class GraphicalModel:
    """A distribution of people over all combinations of the columns' values.

    Attributes:
        sizes: how many values each column has.
        total: how many people the marginals add up to.
        potentials: for each clique, the logarithms of its factor.
        tree: the junction tree.
        tables: the marginals of the tree's cliques.
    """

    def __init__(self, sizes: Sequence[int], total: float, potentials: Mapping[Clique, Table]) -> None:
        self.sizes = tuple(sizes)
        self.total = total
        self.potentials = dict(potentials)
        self.tree = junction_tree(potentials, sizes)
        assigned = _assigned(self.tree, self.potentials)
        self.tables, self._log_sum = _calibrated(self.tree, self.sizes, assigned, total, self.potentials)

    @property
    def total_correlation(self) -> float:
        """The divergence from independent columns with the same marginals of one column, in nats a person."""
        sums = sum(float(np.vdot(self.marginal(clique), table)) for clique, table in self.potentials.items())
        of_columns = 0.0
        for column in range(len(self.sizes)):
            shares = np.maximum(self.marginal((column,)) / self.total, MIN_SHARE)
            of_columns += float((shares * np.log(shares)).sum())
        return sums / self.total - self._log_sum - of_columns

    def conditionals(self) -> Iterator[tuple[int, tuple[int, ...], NDArray[np.float64]]]:
        """What one column after the other depends on, so that a row can be drawn value by value.

        Yields:
            A column, the columns before it that it depends on, and weights: a line for each combination of their values.
        """
        seen: set[int] = set()
        for place, clique in enumerate(self.tree.cliques):
            given = list(self.tree.separators[place])
            for column in clique:
                if column in seen:
                    continue
                together = tuple(sorted((*given, column)))
                axes = [together.index(earlier) for earlier in (*given, column)]
                yield column, tuple(given), self.marginal(together).transpose(axes).reshape(-1, self.sizes[column])
                seen.add(column)
                given.append(column)

    def marginal(self, clique: Clique) -> Table:
        """How many people the model expects in each combination of some columns' values; columns ascending.

        Columns of different parts of the model are independent of each other.
        """
        held = self.tree.holder(clique)
        if held >= 0:
            return _summed(self.tables[held], self.tree.cliques[held], clique)
        result: tuple[Table, Clique] = (np.array(self.total), ())
        for root, up in enumerate(self.tree.parents):
            if up < 0:
                values, columns = self._upwards(root, frozenset(clique))
                if columns:
                    result = _product(*result, values / self.total, columns, set(clique))
        return _in_order(*result)

    def _upwards(self, place: int, wanted: frozenset[int]) -> tuple[Table, Clique]:
        """The table of a place times those below, given its separator, summed over all that is not wanted above."""
        table, columns = self.tables[place], self.tree.cliques[place]
        separator = self.tree.separators[place]
        below = [
            self._upwards(child, wanted)
            for child in range(place + 1, len(self.tree.parents))
            if self.tree.parents[child] == place
        ]
        below = [(values, held) for values, held in below if set(held) - set(columns)]
        if not below and not (wanted & set(columns)) - set(separator):
            # Nothing wanted further down: given the separator it adds up to 1.
            return np.array(1.0), ()
        kept = set(separator) | wanted
        for number, (values, held) in enumerate(below):
            later = {column for _, other in below[number + 1 :] for column in other}
            table, columns = _product(table, columns, values, held, kept | later)
        keep = tuple(column for column in columns if column in kept)
        table = _summed(table, columns, keep)
        if separator:
            inner = _summed(self.tables[place], self.tree.cliques[place], separator)
            share = np.divide(1.0, inner, out=np.zeros_like(inner), where=inner > 0)
            table, keep = _product(table, keep, share, separator, set(keep))
        return table, keep


def fit_model(
    sizes: Sequence[int],
    evidence: Sequence[Evidence],
    total: float,
    *,
    steps: int,
    start: GraphicalModel | None = None,
    pull: float = 0.0,
) -> GraphicalModel:
    """The model whose marginals are nearest to the evidence.

    With a pull, what is made small is half the squared distance plus ``pull * total`` times the model's total correlation: its
    divergence (in nats) from independent columns with its own marginals of one column. A cell that m people are expected in
    is so taken to differ from independence by about the root of m / pull.

    Args:
        sizes: how many values each column has.
        evidence: noisy marginals; every column must be in one.
        total: how many people there are, by what is known.
        steps: how many steps to take at most.
        start: a model of some of the same cliques to start from.
        pull: how strongly towards independent columns; every column must then be measured by itself.

    References:
        McKenna, Sheldon, Miklau: Graphical-model based estimation and inference for differential privacy (2019),
        algorithm 1; O'Donoghue, Candes: Adaptive restart for accelerated gradient schemes (2015).

    Example:
        >>> import numpy as np
        >>> from sudare.tables.adaptive.graphical_model import fit_model
        >>> from sudare.tables.adaptive.measured import Evidence
        >>> seen = Evidence((0, 1), np.array([[30.0, 10.0], [-1.0, 61.0]]), np.ones((2, 2)))
        >>> fit_model([2, 2], [seen], 100.0, steps=500).marginal((0,)).round().tolist()
        [39.0, 61.0]
    """
    old = {} if start is None else start.potentials
    cliques = sorted({item.clique for item in evidence})
    potentials = {
        clique: old.get(clique, np.zeros(tuple(sizes[column] for column in clique))).copy() for clique in cliques
    }
    tree = junction_tree(cliques, sizes)
    assigned = _assigned(tree, potentials)

    def explained(of: Mapping[Clique, Table]) -> tuple[float, dict[Clique, Table]]:
        tables, log_sum = _calibrated(tree, sizes, assigned, total, of)
        held = {clique: _summed(tables[place], tree.cliques[place], clique) for clique, place in assigned.items()}
        loss, slope = _loss(held, evidence)
        if pull > 0:
            loss += pull * _add_pull(of, held, log_sum, total, pull, slope)
        return loss, slope

    sharpest = max(float((1 / item.variances).max()) for item in evidence)
    rate = FIRST_RATE / (total * sharpest)
    ahead = potentials
    loss, slope = explained(ahead)
    pace, idle = 0, 0
    for _ in range(steps):
        new = {clique: _levelled(ahead[clique] - rate * slope[clique]) for clique in cliques}
        momentum = pace / (pace + 3)
        tried = {clique: new[clique] + momentum * (new[clique] - potentials[clique]) for clique in cliques}
        new_loss, new_slope = explained(tried)
        if not new_loss <= loss:
            # Too fast: begin again from the best place, and with smaller steps if there was no momentum to blame.
            if pace <= 1:
                rate /= 2
            potentials, pace = ahead, 0
            if rate * total * sharpest < MIN_RATE:
                break
            continue
        idle = idle + 1 if loss - new_loss <= ENOUGH * max(new_loss, 1.0) else 0
        potentials, ahead, loss, slope = new, tried, new_loss, new_slope
        pace += 1
        if idle >= 5:
            break
    return GraphicalModel(sizes, total, ahead)


def loss_of(model: GraphicalModel, evidence: Sequence[Evidence]) -> float:
    """Half the sum of the squared distances between model and evidence, in standard deviations of the noise."""
    return _loss({item.clique: model.marginal(item.clique) for item in evidence}, evidence)[0]


def _loss(marginals: Mapping[Clique, Table], evidence: Sequence[Evidence]) -> tuple[float, dict[Clique, Table]]:
    loss = 0.0
    slope: dict[Clique, Table] = {}
    for item in evidence:
        distance = marginals[item.clique] - item.values
        pull = distance / item.variances
        loss += 0.5 * float(np.vdot(distance, pull))
        slope[item.clique] = slope[item.clique] + pull if item.clique in slope else pull
    return loss, slope


def _add_pull(
    potentials: Mapping[Clique, Table],
    marginals: Mapping[Clique, Table],
    log_sum: float,
    total: float,
    pull: float,
    slope: dict[Clique, Table],
) -> float:
    """Add the slope of the pull, and return the people times the total correlation.

    The logarithm of a cell's probability is the sum of its potentials less ``log_sum``; that of independent columns is the sum
    of the logarithms of the marginals of one column. Their difference is the slope, cell by cell; its mean is the correlation.
    """
    correlation = -total * log_sum
    for clique, potential in potentials.items():
        beyond = potential
        if len(clique) == 1:
            beyond = potential - np.log(np.maximum(marginals[clique] / total, MIN_SHARE))
        correlation += float(np.vdot(marginals[clique], beyond))
        slope[clique] = slope[clique] + pull * beyond
    return correlation


def _levelled(table: Table) -> Table:
    """Potentials with the same meaning and a largest one of 0, none so far below that it would vanish."""
    return np.asarray(np.maximum(table - table.max(), -MAX_GAP))


def _assigned(tree: JunctionTree, cliques: Mapping[Clique, Table]) -> dict[Clique, int]:
    return {clique: tree.holder(clique) for clique in cliques}


def _calibrated(
    tree: JunctionTree,
    sizes: Sequence[int],
    assigned: Mapping[Clique, int],
    total: float,
    potentials: Mapping[Clique, Table],
) -> tuple[list[Table], float]:
    """The marginals of the tree's cliques: sums towards the roots, then back (belief propagation, in logarithms).

    Also the logarithm of the sum over all cells of the product of all factors.
    """
    beliefs = [np.zeros(tuple(sizes[column] for column in clique)) for clique in tree.cliques]
    for clique, place in assigned.items():
        beliefs[place] += _spread(potentials[clique], clique, tree.cliques[place])
    sent: list[Table] = [np.array(0.0)] * len(beliefs)
    for place in range(len(beliefs) - 1, -1, -1):
        up = tree.parents[place]
        if up >= 0:
            sent[place] = _log_sum(beliefs[place], tree.cliques[place], tree.separators[place])
            beliefs[up] += _spread(sent[place], tree.separators[place], tree.cliques[up])
    tables: list[Table] = []
    log_sum = 0.0
    for place, belief in enumerate(beliefs):
        up = tree.parents[place]
        if up >= 0:
            separator = tree.separators[place]
            inner = _summed(tables[up], tree.cliques[up], separator)
            # A table that is right up to a factor for each value of the separator: give it the parent's sums.
            belief = np.exp(belief - _spread(sent[place], separator, tree.cliques[place]))
            tables.append(belief * _spread(inner, separator, tree.cliques[place]))
        else:
            highest = belief.max()
            belief = np.exp(belief - highest)
            tables.append(belief * (total / belief.sum()))
            log_sum += float(highest) + log(belief.sum())
    return tables, log_sum


def _spread(table: Table, columns: Clique, over: Clique) -> Table:
    """The table with an axis of length 1 for each further column."""
    if columns == over:
        return table
    shape, axis = [], 0
    for column in over:
        is_there = axis < len(columns) and columns[axis] == column
        shape.append(table.shape[axis] if is_there else 1)
        axis += is_there
    return table.reshape(shape)


def _axes_without(columns: Clique, keep: Clique) -> tuple[int, ...]:
    return tuple(axis for axis, column in enumerate(columns) if column not in keep)


def _summed(table: Table, columns: Clique, keep: Clique) -> Table:
    """Sums over the columns that are not kept: runs of neighbouring axes together, as products with matrices of ones.

    NumPy's own sums over axes between others take many times as long.
    """
    result, shape = table, list(table.shape)
    axis = len(columns) - 1
    while axis >= 0:
        if columns[axis] in keep:
            axis -= 1
            continue
        stop = axis + 1
        while axis > 0 and columns[axis - 1] not in keep:
            axis -= 1
        before, own, after = prod(shape[:axis]), prod(shape[axis:stop]), prod(shape[stop:])
        if after == 1:
            result = result.reshape(before, own) @ np.ones(own)
        elif before == 1:
            result = np.ones(own) @ result.reshape(own, after)
        elif after <= FEW_CELLS:
            result = result.reshape(before, own * after) @ _adding(own, after)
        else:
            result = result.reshape(before, own, after).sum(axis=1)
        del shape[axis:stop]
        axis -= 1
    return result.reshape(shape)


@lru_cache(maxsize=64)
def _adding(own: int, after: int) -> Table:
    """A matrix that adds up entries whose places agree modulo ``after``."""
    return np.tile(np.eye(after), (own, 1))


def _log_sum(table: Table, columns: Clique, keep: Clique) -> Table:
    axes = _axes_without(columns, keep)
    highest = table.max(axis=axes, keepdims=True)
    sums = np.log(np.exp(table - highest).sum(axis=axes, keepdims=True)) + highest
    return np.asarray(sums.squeeze(axis=axes))


def _product(a: Table, of_a: Clique, b: Table, of_b: Clique, keep: set[int]) -> tuple[Table, Clique]:
    """Two tables multiplied, summed over the columns that are not to be kept."""
    result = tuple(column for column in sorted({*of_a, *of_b}) if column in keep)
    local = {column: axis for axis, column in enumerate(sorted({*of_a, *of_b}))}
    axes = [[local[column] for column in columns] for columns in (of_a, of_b, result)]
    einsum: Any = np.einsum  # its stubs know texts only, which have too few letters for many columns
    return np.asarray(einsum(a, axes[0], b, axes[1], axes[2], optimize=True)), result


def _in_order(table: Table, columns: Clique) -> Table:
    return table.transpose(np.argsort(columns)) if columns else table
