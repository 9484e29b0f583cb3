"""The detail of an area: everything about its people but where they are, and estimates of it from several queries.

A query is a set of attributes; its answer for an area is the table of these attributes. Proof: ``topdown.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain.domain import Domain
from sudare.domain.hierarchy import Hierarchy, Level
from sudare.domain.table import CountTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Keys = NDArray[np.uint64]

__all__ = ["Detail", "InhabitedCells", "Query"]

Query = tuple[str, ...]
"""Names of attributes, in the order of the domain; none for the total."""


@dataclass(frozen=True)
class Detail:
    """The attributes besides the hierarchy.

    Attributes:
        names: of the attributes.
        sizes: how many values each has.
    """

    names: Query
    sizes: tuple[int, ...]

    @classmethod
    def beside(cls, area: Hierarchy, domain: Domain) -> Detail:
        """Of all attributes of a domain but its hierarchy."""
        others = [attribute for attribute in domain.attributes if attribute.name != area.name]
        return cls(tuple(a.name for a in others), tuple(prod(a.shape) for a in others))

    @property
    def cells(self) -> int:
        """How many cells the detail of one area has."""
        return prod(self.sizes)

    def sizes_of(self, query: Query) -> tuple[int, ...]:
        """The shape of the detail with the attributes that a query leaves out summed up, which leaves one place."""
        return tuple(size if name in query else 1 for name, size in zip(self.names, self.sizes, strict=True))

    def answers(self, counts: Integers, query: Query) -> Integers:
        """The answers of areas to a query, a row for each, from their details."""
        out = tuple(axis for axis, name in enumerate(self.names, start=1) if name not in query)
        sums: Integers = counts.reshape(-1, *self.sizes).sum(axis=out)
        return sums.reshape(len(counts), -1)

    def groups(self, query: Query) -> Integers:
        """Which cell of a query's answer each cell of the detail counts towards."""
        cells = np.arange(prod(self.sizes_of(query))).reshape(self.sizes_of(query))
        return np.ascontiguousarray(np.broadcast_to(cells, self.sizes)).reshape(-1)

    def estimate(self, noisy: Mapping[Query, Integers], variances: Mapping[Query, float]) -> tuple[Integers, Floats]:
        """The least-squares estimate of the detail from noisy answers with given variances.

        The answers must include the detail itself. Returns whole numbers, and fractions in [0, 1) to add to them: counts
        beyond 2**53 keep all their digits, because floats hold corrections of the size of the noise only.
        """
        base = noisy[self.names]
        correction = np.zeros((len(base), *self.sizes))
        for query, answer in noisy.items():
            if query != self.names:
                surplus = (answer - self.answers(base, query)).reshape(-1, *self.sizes_of(query))
                correction += surplus / variances[query]
        if len(noisy) > 1:
            correction = self._divide(correction, 1, (), variances)
        flat = correction.reshape(base.shape)
        whole = np.floor(flat)
        fractions = np.minimum(flat - whole, np.nextafter(1.0, 0.0))
        return base + whole.astype(np.int64), fractions

    def _divide(self, values: Floats, axis: int, kept: Query, variances: Mapping[Query, float]) -> Floats:
        """Apply the inverse of the normal matrix: parted into means and deviations, axis by axis, it is a number."""
        if axis > len(self.sizes):
            weight = sum(
                prod(size for name, size in zip(self.names, self.sizes, strict=True) if name not in query) / variance
                for query, variance in variances.items()
                if set(kept) <= set(query)
            )
            return np.asarray(values / weight)
        mean = values.mean(axis=axis, keepdims=True)
        of_means = self._divide(mean, axis + 1, kept, variances)
        return of_means + self._divide(values - mean, axis + 1, (*kept, self.names[axis - 1]), variances)


@dataclass(frozen=True)
class InhabitedCells:
    """The inhabited cells of a table, sorted by their place in the hierarchy."""

    domain: Domain
    area: Hierarchy
    detail: Detail
    places: Integers
    details: Integers
    counts: Integers

    @classmethod
    def of(cls, table: CountTable, area: Hierarchy) -> InhabitedCells:
        """Part each cell's key into its place and its cell of the detail."""
        domain, detail = table.domain, Detail.beside(area, table.domain)
        axis = cls._axis_of(domain, area)
        along = list(domain.places_of(table.keys))
        places = along.pop(axis)
        details = np.zeros(places.size, dtype=np.int64)
        for length, here in zip(cls._other_lengths(domain, axis), along, strict=True):
            details = details * length + here
        order = np.argsort(places, kind="stable")
        return cls(domain, area, detail, places[order], details[order], table.counts[order])

    @staticmethod
    def _axis_of(domain: Domain, area: Hierarchy) -> int:
        before = [attribute.name for attribute in domain.attributes].index(area.name)
        return sum(len(attribute.shape) for attribute in domain.attributes[:before])

    @staticmethod
    def _other_lengths(domain: Domain, axis: int) -> tuple[int, ...]:
        return domain.shape[:axis] + domain.shape[axis + 1 :]

    @cached_property
    def _axis(self) -> int:
        return self._axis_of(self.domain, self.area)

    def details_of(self, level: Level, nodes: Integers) -> Integers:
        """The details of ascending nodes of a level, a row for each."""
        dense = np.zeros((nodes.size, self.detail.cells), dtype=np.int64)
        if nodes.size:
            ends = level.edges[nodes[0]], level.edges[nodes[-1] + 1]
            cells = slice(*np.searchsorted(self.places, ends).tolist())
            above = level.nodes_at(self.places[cells])
            rows = np.searchsorted(nodes, above)
            wanted = nodes[np.minimum(rows, nodes.size - 1)] == above
            np.add.at(dense, (rows[wanted], self.details[cells][wanted]), self.counts[cells][wanted])
        return dense

    def keys_at(self, places: Integers, details: Integers) -> Keys:
        """Keys of cells of the domain, from their places and cells of the detail."""
        lengths = self._other_lengths(self.domain, self._axis)
        along = list(np.unravel_index(details, lengths)) if lengths else []
        along.insert(self._axis, places)
        return self.domain.keys_at(*along)
