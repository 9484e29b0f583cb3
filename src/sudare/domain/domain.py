"""The domain of a table: the product of its attributes, and the number of each of its cells.

Cells are numbered row by row: the last axis counts fastest (NumPy's C order). This number is a cell's key. A domain may
have up to 2**62 cells; nothing here takes space in proportion to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain.attributes import Attribute, Positions
from sudare.errors import Described, ParameterError
from sudare.parameters import shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]
    Keys = NDArray[np.uint64]

__all__ = ["MAX_CELLS", "Domain"]

MAX_CELLS = 1 << 62


@dataclass(frozen=True)
class Domain:
    """The cells that a table may have counts in.

    Args:
        attributes: what describes a cell, in the order of the axes.

    Raises:
        ParameterError: if there are no attributes, two have the same name, or there are more than 2**62 cells.

    Example:
        >>> from sudare.domain import Bins, Category, Domain
        >>> domain = Domain((Category("sex", ("f", "m")), Bins("age", (0, 15, 65, 120))))
        >>> domain.shape, domain.cells
        ((2, 3), 6)
        >>> domain.keys_of({"sex": ["m", "f"], "age": [70, 3]})
        array([5, 0], dtype=uint64)
    """

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        try:
            attributes = tuple(self.attributes)
        except TypeError:
            raise ParameterError(
                "attributes", "Domain", Words("a list of attributes", "属性のリスト"), shown(self.attributes)
            ) from None
        if not attributes or not all(isinstance(attribute, Attribute) for attribute in attributes):
            raise ParameterError(
                "attributes",
                "Domain",
                Words("attributes, at least one", "1 個以上の属性"),
                Described(f"{len(attributes)} objects"),
            )
        names = [attribute.name for attribute in attributes]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ParameterError(
                "attributes", "Domain", Words("attributes with different names", "互いに異なる名前の属性"), twice
            )
        object.__setattr__(self, "attributes", attributes)
        if self.cells > MAX_CELLS:
            raise ParameterError(
                "attributes",
                "Domain",
                Words("a product of at most 2**62 cells", "セル数が 2**62 以下になる組合せ"),
                self.cells,
            )

    @classmethod
    def of_shape(cls, shape: tuple[int, ...]) -> Domain:
        """A domain of plain positions, as an array of that shape has."""
        if not isinstance(shape, tuple) or not shape:
            raise ParameterError("shape", "Domain.of_shape", "a tuple of lengths", shown(shape))
        return cls(tuple(Positions(f"axis {axis}", length) for axis, length in enumerate(shape)))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Places along each axis of all attributes."""
        return tuple(length for attribute in self.attributes for length in attribute.shape)

    @cached_property
    def dimensions(self) -> tuple[int, ...]:
        """For each axis, in how many dimensions it runs: an area of side s is s to this power places long along it."""
        return tuple(number for attribute in self.attributes for number in attribute.dimensions)

    @cached_property
    def ordered_axes(self) -> tuple[int, ...]:
        """The axes along which neighbours are near each other: all but those of categories and hierarchies."""
        ordered = [attribute.is_ordered for attribute in self.attributes for _ in attribute.shape]
        return tuple(axis for axis, is_ordered in enumerate(ordered) if is_ordered)

    @cached_property
    def cells(self) -> int:
        """How many cells there are."""
        return prod(self.shape)

    def keys_at(self, *places: ArrayLike) -> Keys:
        """Keys of cells given by their places along each axis."""
        keys = np.zeros(np.asarray(places[0]).shape, dtype=np.uint64)
        for length, along in zip(self.shape, places, strict=True):
            keys = keys * np.uint64(length) + np.asarray(along).astype(np.uint64)
        return keys

    def places_of(self, keys: Keys) -> tuple[Integers, ...]:
        """The places along each axis of the cells with these keys."""
        rest = np.asarray(keys, dtype=np.uint64)
        places: list[Integers] = []
        for length in reversed(self.shape):
            quotient = rest // np.uint64(length)
            places.append((rest - quotient * np.uint64(length)).astype(np.int64))
            rest = quotient
        return tuple(reversed(places))

    def keys_of(self, columns: Mapping[str, ArrayLike]) -> Keys:
        """Keys of cells given by a column of values for each attribute.

        Raises:
            ParameterError: if a column is missing, or a value does not belong to its attribute.
        """
        places: list[Integers] = []
        for attribute in self.attributes:
            if attribute.name not in columns:
                wanted = [a.name for a in self.attributes]
                raise ParameterError("columns", "Domain.keys_of", f"the columns {wanted}", sorted(map(str, columns)))
            places.extend(attribute.places(columns[attribute.name]))
        lengths = sorted({along.size for along in places})
        if len(lengths) > 1:
            raise ParameterError("columns", "Domain.keys_of", "columns of equal length", Described("different lengths"))
        return self.keys_at(*places)

    def columns_of(self, keys: Keys) -> dict[str, NDArray[Any]]:
        """The value of each attribute for the cells with these keys."""
        places = list(self.places_of(keys))
        columns = {}
        for attribute in self.attributes:
            own = tuple(places.pop(0) for _ in attribute.shape)
            columns[attribute.name] = attribute.values(own)
        return columns


def read_domain(value: object, function: str) -> Domain:
    """A domain that a caller handed in."""
    if not isinstance(value, Domain):
        raise ParameterError("domain", function, "a Domain", shown(value))
    return value
