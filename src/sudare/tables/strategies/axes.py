"""Which axes of a domain are places, along which areas are made, and which are attributes of the people there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain.attributes import Attribute, Category, Positions
from sudare.domain.branches import distinct_levels, hierarchy_layout
from sudare.domain.domain import Domain
from sudare.domain.hierarchy import Hierarchy
from sudare.domain.layout import Layout, axis_bits, map_layout, morton_layout
from sudare.tables.trees.dense_tree import MAX_DENSE_BITS as MAX_BITS
from sudare.tables.trees.short_axes import MAX_CATEGORIES, short_axes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Keys = NDArray[np.uint64]

__all__ = ["CATEGORIES_FIRST", "PlacesAndAttributes", "categories_first", "places_and_attributes"]

CATEGORIES_FIRST = "categories-first"
"""The name of the layout whose tree parts people by their attributes before it parts them by place."""

MAX_ATTRIBUTES = 4
"""So many attributes have 16 margins; beyond, groupings in areas are too many to be weighed in a moment."""

MAX_ATTRIBUTES_ALONE = 8
"""Without places there are 256 groupings then."""

MAX_CELLS_ALONE = 1 << 20


@dataclass(frozen=True)
class PlacesAndAttributes:
    """A domain as places times attributes.

    Attributes:
        domain: the whole.
        places: the axes of places, in their order.
        attributes: the axes of attributes, in their order.
        has_levels: whether the places are the leaves of a hierarchy, whose levels are looked at.
    """

    domain: Domain
    places: tuple[int, ...]
    attributes: tuple[int, ...]
    has_levels: bool = False

    @cached_property
    def of_places(self) -> Domain:
        """The domain of places alone; a single place where all axes are attributes."""
        if not self.places:
            return Domain((Positions("place", 1),))
        return Domain(tuple(a for a, axes in self._axes_of_attributes() if set(axes) <= set(self.places)))

    @cached_property
    def hierarchy(self) -> Hierarchy | None:
        """The hierarchy whose leaves the places are, where they are."""
        attributes = self.of_places.attributes
        is_one = self.has_levels and len(attributes) == 1
        return attributes[0] if is_one and isinstance(attributes[0], Hierarchy) else None

    @cached_property
    def layout(self) -> Layout:
        """Of the places: a map's, or that of the tree of a hierarchy."""
        return map_layout(self.of_places, MAX_BITS) if self.hierarchy is None else hierarchy_layout(self.of_places)

    @property
    def level_names(self) -> tuple[str, ...]:
        """Of the levels of a hierarchy; none for a map."""
        return () if self.hierarchy is None else tuple(level.name for level in distinct_levels(self.hierarchy))

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Of the attributes."""
        return tuple(self.domain.shape[axis] for axis in self.attributes)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the attributes."""
        return tuple(a.name for a, axes in self._axes_of_attributes() if axes[0] in self.attributes)

    @property
    def are_places_one(self) -> bool:
        """Whether all people are in the same place, so that they have attributes only."""
        return all(self.domain.shape[axis] == 1 for axis in self.places)

    @property
    def categories(self) -> int:
        """Cells of each place."""
        return prod(self.lengths)

    def split(self, keys: Keys) -> tuple[Keys, Integers]:
        """Of cells: the keys of their places, and their numbers within a place."""
        along = self.domain.places_of(keys)
        of_places = np.zeros(keys.size, dtype=np.uint64)
        if self.places:
            of_places = self.of_places.keys_at(*(along[axis] for axis in self.places))
        numbers = np.zeros(keys.size, dtype=np.int64)
        for axis in self.attributes:
            numbers = numbers * self.domain.shape[axis] + along[axis]
        return of_places, numbers

    def join(self, places: Keys, numbers: Integers) -> Keys:
        """The keys of cells of which the keys of places and the numbers within a place are given."""
        along: dict[int, Integers] = {}
        if self.places:
            along = dict(zip(self.places, self.of_places.places_of(places), strict=True))
        for axis in reversed(self.attributes):
            numbers, along[axis] = np.divmod(numbers, self.domain.shape[axis])
        return self.domain.keys_at(*(along[axis] for axis in range(len(self.domain.shape))))

    def _axes_of_attributes(self) -> list[tuple[Attribute, tuple[int, ...]]]:
        found, first = [], 0
        for attribute in self.domain.attributes:
            axes = tuple(range(first, first + len(attribute.shape)))
            found.append((attribute, axes))
            first += len(axes)
        return found


def places_and_attributes(domain: Domain) -> PlacesAndAttributes | None:
    """Tell the attributes of a table from its places; None where there are too many attributes.

    Categories without an order are attributes, however many, where there is no other long axis: areas of them would mean nothing.
    """
    varied = tuple(axis for axis, length in enumerate(domain.shape) if length > 1)
    by_hierarchy = _hierarchy_and_attributes(domain, varied)
    if by_hierarchy is not None:
        return by_hierarchy
    attributes = tuple(short_axes(domain))
    long = [axis for axis in varied if axis not in attributes]
    if all(_is_category(domain, axis) for axis in long) and domain.cells <= MAX_CELLS_ALONE:
        attributes, long = varied, []
    if len(attributes) > (MAX_ATTRIBUTES if long else MAX_ATTRIBUTES_ALONE):
        return None
    return PlacesAndAttributes(domain, tuple(a for a in range(len(domain.shape)) if a not in attributes), attributes)


def _hierarchy_and_attributes(domain: Domain, varied: tuple[int, ...]) -> PlacesAndAttributes | None:
    """The leaves of the largest hierarchy as places, where all else are a few attributes and the table is not too large."""
    of_axes = [attribute for attribute in domain.attributes for _ in attribute.shape]
    areas = [axis for axis in varied if isinstance(of_axes[axis], Hierarchy)]
    if not areas:
        return None
    area = max(areas, key=lambda axis: domain.shape[axis])
    others = tuple(axis for axis in varied if axis != area)
    are_short = all(domain.shape[axis] <= MAX_CATEGORIES and len(of_axes[axis].shape) == 1 for axis in others)
    if len(others) > MAX_ATTRIBUTES or not are_short:
        return None
    places = tuple(axis for axis in range(len(domain.shape)) if axis not in others)
    found = PlacesAndAttributes(domain, places, others, has_levels=True)
    fits = found.hierarchy is not None and found.categories << found.layout.depth <= 1 << MAX_BITS
    return found if fits else None


def _is_category(domain: Domain, axis: int) -> bool:
    of_axes = [attribute for attribute in domain.attributes for _ in attribute.shape]
    return isinstance(of_axes[axis], Category)


def categories_first(domain: Domain) -> Layout:
    """A layout that parts people by their attributes first, and each combination of them by place, along the Morton curve.

    A tree over it is one map for each combination, below their noisy totals. No place is so empty that people of a frequent
    category would be given to a rare one.
    """
    attributes = short_axes(domain)
    own = [axis for axis in attributes for _ in range(axis_bits(domain.shape[axis]))]
    by_place = [axis for axis in morton_layout(domain.shape).axis_of_split if axis not in attributes]
    return Layout(domain.shape, (*own, *by_place), fixed=tuple(attributes))
