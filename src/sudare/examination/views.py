"""Tables of counts as an attacker reads them: for each cell, whom it counts and between which numbers its count lies.

Whatever a table is (with noise, with hidden cells, with totals and hierarchies), a cell counts a set of *leaves* in each
attribute that it names, and everybody in the others. Tables of the same people are put together by their attributes: where
two have different bins of the same numbers, each bin is cut at the edges of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from sudare.attacks.audits.laws import NoiseLaw
from sudare.attacks.tables.published_statistics import PersonDomain
from sudare.bilingual import Words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["CommonDomain", "IncompatibleTables", "TableView", "ViewCell"]

MAX_KINDS = 200_000


class IncompatibleTables(Exception):  # noqa: N818 - an outcome: tables that cannot be put together are told, not an error
    """Tables that cannot be attacked together.

    Attributes:
        words: why.
        is_open: whether they are only too large, so that nothing is decided about them.
    """

    def __init__(self, words: Words, *, is_open: bool = False) -> None:
        self.words, self.is_open = words, is_open
        super().__init__(words.english)


@dataclass(frozen=True)
class ViewCell:
    """A cell of a published table.

    Attributes:
        where: the leaves that it counts, of each attribute that it names.
        low: the least that its count can be.
        high: the largest; None if the table does not tell.
        count: as published; None if it is hidden.
        label: for people.
    """

    where: Mapping[str, frozenset[str]]
    low: int
    high: int | None
    count: int | None
    label: str


@dataclass(frozen=True)
class TableView:
    """A published table of counts.

    Attributes:
        name: for people.
        leaves: the finest values of each attribute, in order.
        cells: what is published, hidden cells included.
        edges: of attributes that are bins of numbers, the limits of their leaves, one more than leaves.
        law: of the noise of each count; None if counts are exact.
        threshold: counts from 1 to below it are too small to be known.
    """

    name: str
    leaves: Mapping[str, tuple[str, ...]]
    cells: tuple[ViewCell, ...]
    edges: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    law: NoiseLaw | None = None
    threshold: int = 3

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of a count; 0 if there is none."""
        return 0.0 if self.law is None else self.law.variance**0.5


class CommonDomain:
    """The people that several tables are about: every combination of the leaves of all their attributes.

    Args:
        views: the tables.

    Raises:
        IncompatibleTables: if an attribute has other leaves in one table than in another, and they are no bins of numbers; or
            if there are too many combinations.

    Example:
        >>> by_age = TableView("a", {"age": ("0-29", "30+")}, (), {"age": (0, 30, 120)})
        >>> by_other = TableView("b", {"age": ("0-39", "40+"), "sex": ("F", "M")}, (), {"age": (0, 40, 120)})
        >>> CommonDomain([by_age, by_other]).domain.values["age"]
        ('0 – 30', '30 – 40', '40 – 120')
    """

    def __init__(self, views: Sequence[TableView]) -> None:
        self._parts: dict[tuple[str, str], Mapping[str, tuple[str, ...]]] = {}
        leaves: dict[str, tuple[str, ...]] = {}
        for name in dict.fromkeys(name for view in views for name in view.leaves):
            leaves[name] = self._unite(name, [view for view in views if name in view.leaves])
        kinds = 1
        for own in leaves.values():
            kinds *= len(own)
        if not leaves or kinds > MAX_KINDS:
            raise IncompatibleTables(
                Words(
                    f"There are {kinds:,} combinations of values, more than the {MAX_KINDS:,} that are looked at.",
                    f"値の組合せが {kinds:,} 通りあり、調べられる {MAX_KINDS:,} 通りを超えています。",
                ),
                is_open=True,
            )
        self.domain = PersonDomain(leaves)

    def _unite(self, name: str, views: Sequence[TableView]) -> tuple[str, ...]:
        first = views[0].leaves[name]
        if all(set(view.leaves[name]) == set(first) for view in views) and not _differ(name, views):
            for view in views:
                self._parts[view.name, name] = {leaf: (leaf,) for leaf in first}
            return first
        if not all(name in view.edges for view in views):
            other = next(view for view in views if set(view.leaves[name]) != set(first))
            raise IncompatibleTables(
                Words(
                    f"'{name}' has other values in '{other.name}' than in '{views[0].name}'.",
                    f"「{name}」の値が「{other.name}」と「{views[0].name}」で異なります。",
                )
            )
        edges = sorted({edge for view in views for edge in view.edges[name]})
        pieces = [(low, high, f"{low:g} – {high:g}") for low, high in pairwise(edges)]
        for view in views:
            own = zip(view.leaves[name], pairwise(view.edges[name]), strict=True)
            self._parts[view.name, name] = {
                leaf: tuple(text for low, high, text in pieces if start <= low and high <= end)
                for leaf, (start, end) in own
            }
        return tuple(text for _, _, text in pieces)

    def where(self, view: TableView, cell: ViewCell) -> dict[str, frozenset[str]]:
        """Whom a cell of a table counts, in the leaves of all tables together; all leaves that its table has elsewhere."""
        found: dict[str, frozenset[str]] = {}
        for name, leaves in view.leaves.items():
            parts = self._parts[view.name, name]
            chosen = cell.where.get(name)
            counted = frozenset(piece for leaf in (leaves if chosen is None else chosen) for piece in parts[leaf])
            if len(counted) < len(self.domain.values[name]):
                found[name] = counted
        return found

    def members(self, view: TableView, cell: ViewCell) -> NDArray[np.bool_]:
        """Which combinations a cell of a table counts."""
        return self.domain.members(self.where(view, cell))


def _differ(name: str, views: Sequence[TableView]) -> bool:
    """Whether equal leaves stand for different numbers."""
    return len({view.edges.get(name) for view in views}) > 1
