"""Junction trees: how a model of many columns is cut into tables that touch in a tree.

Columns are numbers, a set of them is a whole number with a bit for each. Columns are eliminated one after the other, each
time the one whose neighbourhood has the fewest cells; the neighbourhoods that are in no other are the tables, and a spanning
tree with the largest overlaps joins them (Koller, Friedman: Probabilistic graphical models, chapter 10).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sudare.tables.adaptive.measured import Clique

__all__ = ["JunctionTree", "junction_tree", "tree_cells"]


@dataclass(frozen=True)
class JunctionTree:
    """Tables of columns, joined into one tree for each connected part of the model.

    Attributes:
        cliques: the columns of each table, ascending; a parent stands before its children.
        parents: the table that each table hangs on; -1 for the root of a part.
        separators: the columns that a table shares with its parent; none for a root.
    """

    cliques: tuple[Clique, ...]
    parents: tuple[int, ...]
    separators: tuple[Clique, ...]

    def holder(self, clique: Iterable[int]) -> int:
        """The first table that has all these columns; -1 if none has."""
        wanted = set(clique)
        return next((place for place, table in enumerate(self.cliques) if wanted <= set(table)), -1)


def junction_tree(cliques: Iterable[Clique], sizes: Sequence[int]) -> JunctionTree:
    """The tree of a model whose tables must hold all these cliques, and every column.

    Example:
        >>> from sudare.tables.adaptive.junction_tree import junction_tree
        >>> tree = junction_tree([(0, 1), (1, 2)], sizes=[2, 2, 2, 2])
        >>> tree.cliques, tree.parents, tree.separators
        (((0, 1), (1, 2), (3,)), (-1, 0, -1), ((), (1,), ()))
    """
    tables = [_columns(table) for table in sorted(_maximal(_eliminated(cliques, sizes)), key=_columns)]
    edges = sorted(
        (-len(set(tables[a]) & set(tables[b])), a, b)
        for a, b in combinations(range(len(tables)), 2)
        if set(tables[a]) & set(tables[b])
    )
    part = list(range(len(tables)))
    neighbours: dict[int, list[int]] = {place: [] for place in part}
    for _, a, b in edges:
        if part[a] != part[b]:
            part = [part[a] if p == part[b] else p for p in part]
            neighbours[a].append(b)
            neighbours[b].append(a)
    order: list[int] = []
    parent: dict[int, int] = {}
    for root in range(len(tables)):
        if root not in parent:
            parent[root] = -1
            order.append(root)
            for place in order:  # grows while it is walked: every table after its parent
                for other in neighbours[place]:
                    if other not in parent:
                        parent[other] = place
                        order.append(other)
    new = {old: place for place, old in enumerate(order)}
    parents = tuple(new.get(parent[old], -1) for old in order)
    listed = tuple(tables[old] for old in order)
    separators = tuple(
        () if up < 0 else tuple(sorted(set(table) & set(listed[up]))) for table, up in zip(listed, parents, strict=True)
    )
    return JunctionTree(listed, parents, separators)


def tree_cells(cliques: Iterable[Clique], sizes: Sequence[int]) -> int:
    """How many cells the tables of the junction tree have together."""
    cells = 0
    for table in _maximal(_eliminated(cliques, sizes)):
        product = 1
        for column in _columns(table):
            product *= sizes[column]
        cells += product
    return cells


def _eliminated(cliques: Iterable[Clique], sizes: Sequence[int]) -> list[int]:
    """The neighbourhood of each column at the time when it is eliminated, itself included."""
    near = [1 << column for column in range(len(sizes))]
    for clique in cliques:
        together = sum(1 << column for column in clique)
        for column in clique:
            near[column] |= together

    def cells(columns: int) -> int:
        product = 1
        for column in _columns(columns):
            product *= sizes[column]
        return product

    cost = {column: cells(near[column]) for column in range(len(sizes))}
    found = []
    while cost:
        column = min(cost, key=lambda candidate: (cost[candidate], candidate))
        del cost[column]
        found.append(near[column])
        rest = near[column] & ~(1 << column)
        for other in _columns(rest):
            before = near[other]
            near[other] = (before | rest) & ~(1 << column)
            if near[other] != before:
                cost[other] = cells(near[other])
    return found


def _maximal(tables: list[int]) -> list[int]:
    different = sorted(set(tables), key=int.bit_count, reverse=True)
    kept: list[int] = []
    for table in different:
        if not any(table & ~larger == 0 for larger in kept):
            kept.append(table)
    return kept


def _columns(table: int) -> Clique:
    return tuple(column for column in range(table.bit_length()) if table >> column & 1)
