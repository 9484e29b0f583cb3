"""Attributes: the properties that describe a cell of a table.

An attribute has one axis, or two for a mesh, and knows the value of each place along it. All are immutable.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain.allowed_values import labels_like, meshes_within, numbers_between, whole_numbers_between
from sudare.domain.arguments import read_column
from sudare.domain.mesh import MeshLevel, mesh_cells, mesh_codes, mesh_level
from sudare.errors import Described, ParameterError
from sudare.parameters import exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]

__all__ = ["Attribute", "Bins", "Category", "Mesh", "Positions"]

MAX_AXIS_LENGTH = 1 << 62
MAX_VALUES = 1 << 24


@dataclass(frozen=True)
class Attribute(ABC):
    """A named property of the people counted."""

    name: str

    def _read_name(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ParameterError(
                "name",
                type(self).__name__,
                Words("a word, such as the name of a column", "列の名前のような語"),
                shown(self.name),
            )

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Places along each axis."""

    @property
    def is_ordered(self) -> bool:
        """Whether places that follow each other are near each other, so that the neighbours of a place tell about it."""
        return True

    @property
    def dimensions(self) -> tuple[int, ...]:
        """For each axis, in how many dimensions it runs: 1, or 2 for an axis that fills a map."""
        return (1,) * len(self.shape)

    @abstractmethod
    def places(self, values: ArrayLike) -> tuple[Integers, ...]:
        """The place of each value along each axis.

        Raises:
            ParameterError: if a value does not belong to the attribute; the message names the attribute and the position.
        """

    @abstractmethod
    def values(self, places: tuple[Integers, ...]) -> NDArray[Any]:
        """The value at each place."""

    def _refuse(self, position: int, allowed: Words, label: object = None) -> ParameterError:
        """Names a label, which is a word of the user's plan, but no measured value."""
        got = "another value" if label is None else f"{label!r:.60}"
        return ParameterError(self.name, "this table", allowed, Described(f"{got} at position {position}"))


@dataclass(frozen=True)
class Positions(Attribute):
    """Places without meaning beyond their number: 0, 1, 2, ...

    Args:
        name: what they are called.
        length: how many there are.
    """

    length: int

    def __post_init__(self) -> None:
        self._read_name()
        exact = exact_integer(
            self.length,
            "length",
            "Positions",
            Words("a whole number from 1 to 2**62", "1 以上 2**62 以下の整数"),
            smallest=1,
            largest=MAX_AXIS_LENGTH,
        )
        object.__setattr__(self, "length", exact)

    @property
    def shape(self) -> tuple[int, ...]:
        """Places along each axis."""
        return (self.length,)

    def places(self, values: ArrayLike) -> tuple[Integers, ...]:
        """The place of each value along each axis."""
        allowed = whole_numbers_between(0, self.length - 1)
        array = read_column(values, self.name, allowed, "iu")
        outside = np.flatnonzero((array < 0) | (array >= self.length))
        if outside.size:
            raise self._refuse(int(outside[0]), allowed)
        return (array.astype(np.int64),)

    def values(self, places: tuple[Integers, ...]) -> NDArray[Any]:
        """The value at each place."""
        return places[0]


@dataclass(frozen=True)
class Category(Attribute):
    """One of several values without an order.

    Args:
        name: such as ``"sex"``.
        labels: the values, all different, as they stand in the data.

    Example:
        >>> from sudare.domain import Category
        >>> Category("sex", ("female", "male")).shape
        (2,)
    """

    labels: tuple[Any, ...]

    def __post_init__(self) -> None:
        self._read_name()
        if isinstance(self.labels, (str, bytes)) or not isinstance(self.labels, Sequence):
            raise ParameterError("labels", "Category", Words("a list of values", "値のリスト"), shown(self.labels))
        labels = tuple(label.item() if isinstance(label, np.generic) else label for label in self.labels)
        is_plain = all(isinstance(label, (str, int, float, date)) for label in labels)
        if not is_plain or not 1 <= len(labels) <= MAX_VALUES or len(set(labels)) < len(labels):
            requirement = Words(
                "different texts, numbers or dates, at least one", "互いに異なる 1 個以上の文字列・数・日付"
            )
            raise ParameterError("labels", "Category", requirement, Described(f"{len(labels)} values"))
        object.__setattr__(self, "labels", labels)

    @property
    def shape(self) -> tuple[int, ...]:
        """Places along each axis."""
        return (len(self.labels),)

    @property
    def is_ordered(self) -> bool:
        """Whether places that follow each other are near each other: labels stand in any order."""
        return False

    def places(self, values: ArrayLike) -> tuple[Integers, ...]:
        """The place of each value along each axis."""
        allowed = labels_like(len(self.labels), self.labels[0])
        place_of = {label: place for place, label in enumerate(self.labels)}
        listed: list[Any] = read_column(values, self.name, allowed, "biufUTOM").tolist()
        places = np.empty(len(listed), dtype=np.int64)
        for position, value in enumerate(listed):
            place = place_of.get(value) if isinstance(value, Hashable) else None
            if place is None:
                raise self._refuse(position, allowed, label=value)
            places[position] = place
        return (places,)

    def values(self, places: tuple[Integers, ...]) -> NDArray[Any]:
        """The value at each place."""
        labels = np.empty(len(self.labels), dtype=object)
        labels[:] = self.labels
        kinds = {type(label) for label in self.labels}
        if kinds == {int} or (kinds == {str} and not any("\0" in label for label in self.labels)):
            labels = np.array(self.labels)
        return labels[places[0]]


@dataclass(frozen=True)
class Bins(Attribute):
    """Numbers in bins that follow each other; bin i holds edges[i] <= value < edges[i + 1].

    Args:
        name: such as ``"age"``.
        edges: the limits of the bins, ascending, one more than bins.

    Example:
        >>> from sudare.domain import Bins
        >>> Bins("age", (0, 15, 65, 120)).places([14, 15, 80])
        (array([0, 1, 2]),)
    """

    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        self._read_name()
        allowed = Words(
            "at least two ascending, finite numbers, whole ones up to 2**53",
            "小さい順に並べた 2 個以上の有限の数（整数は 2**53 まで）",
        )
        try:
            edges = tuple(self.edges)
            is_plain = all(isinstance(e, (int, float)) and not isinstance(e, bool) and abs(e) <= 2**53 for e in edges)
        except TypeError:
            raise ParameterError("edges", "Bins", allowed, shown(self.edges)) from None
        if not is_plain or not 2 <= len(edges) <= MAX_VALUES or not all(a < b for a, b in pairwise(edges)):
            raise ParameterError("edges", "Bins", allowed, Described(f"{len(edges)} that are not"))
        object.__setattr__(self, "edges", edges)

    @property
    def shape(self) -> tuple[int, ...]:
        """Places along each axis."""
        return (len(self.edges) - 1,)

    def places(self, values: ArrayLike) -> tuple[Integers, ...]:
        """The place of each value along each axis."""
        allowed = numbers_between(self.edges[0], self.edges[-1])
        column = read_column(values, self.name, allowed, "fiu")
        # One type for edges and values, and the bin itself tells whether a value is inside.
        places = np.searchsorted(np.asarray(self.edges, dtype=np.float64), column.astype(np.float64), side="right") - 1
        outside = np.flatnonzero((places < 0) | (places >= len(self.edges) - 1) | ~(np.abs(column) <= 2.0**53))
        if outside.size:
            raise self._refuse(int(outside[0]), allowed)
        return (places.astype(np.int64),)

    def values(self, places: tuple[Integers, ...]) -> NDArray[Any]:
        """The lower limit of the bin at each place."""
        return np.array(self.edges[:-1])[places[0]]


@dataclass(frozen=True)
class Mesh(Attribute):
    """A window of the regional mesh grid; its values are mesh codes, its two axes south to north and west to east.

    Args:
        name: such as ``"KEY_CODE"``.
        level: the level of the meshes, such as ``"1/2"``.
        first_row: the southernmost row of the window.
        first_column: its westernmost column.
        rows: how many rows.
        columns: how many columns.

    Example:
        >>> from sudare.domain import Mesh
        >>> tokyo = Mesh("KEY_CODE", "1/2", first_row=8307, first_column=6063, rows=512, columns=512)
        >>> tokyo.places([533946113])
        (array([256]), array([299]))
    """

    level: str | MeshLevel
    first_row: int
    first_column: int
    rows: int
    columns: int

    def __post_init__(self) -> None:
        self._read_name()
        level = mesh_level(self.level, "Mesh")
        object.__setattr__(self, "level", level)
        side = level.cells_per_side
        for first, length in (("first_row", "rows"), ("first_column", "columns")):
            start = exact_integer(
                getattr(self, first),
                first,
                "Mesh",
                Words(f"a whole number from 0 to {side - 1}", f"0 以上 {side - 1} 以下の整数"),
                smallest=0,
                largest=side - 1,
            )
            most = side - start
            count = exact_integer(
                getattr(self, length),
                length,
                "Mesh",
                Words(f"a whole number from 1 to {most}", f"1 以上 {most} 以下の整数"),
                smallest=1,
                largest=most,
            )
            object.__setattr__(self, first, start)
            object.__setattr__(self, length, count)

    @classmethod
    def covering(cls, name: str, codes: ArrayLike, level: str | MeshLevel) -> Mesh:
        """The smallest window that contains all the codes. The codes must be public: the window is.

        Example:
            >>> from sudare.domain import Mesh
            >>> Mesh.covering("KEY_CODE", [53394611, 53394622], "3").shape
            (2, 2)
        """
        rows, columns = mesh_cells(codes, level)
        if rows.size == 0:
            raise ParameterError(
                "codes", "Mesh.covering", Words("at least one mesh code", "1 個以上のメッシュコード"), Described("none")
            )
        first_row, first_column = int(rows.min()), int(columns.min())
        return cls(
            name, level, first_row, first_column, int(rows.max()) - first_row + 1, int(columns.max()) - first_column + 1
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Places along each axis."""
        return (self.rows, self.columns)

    @property
    def window(self) -> Mesh:
        """The window itself."""
        return self

    @property
    def allowed(self) -> Words:
        """What values must be."""
        return meshes_within(self.rows, self.columns)

    def contains(self, rows: Integers, columns: Integers) -> NDArray[np.bool_]:
        """Which cells of the whole grid are in the window."""
        in_rows = (rows >= self.first_row) & (rows < self.first_row + self.rows)
        return in_rows & (columns >= self.first_column) & (columns < self.first_column + self.columns)

    def places_of_cells(self, rows: Integers, columns: Integers) -> tuple[Integers, ...]:
        """The places of cells of the whole grid that are in the window."""
        return rows - self.first_row, columns - self.first_column

    def window_cells(self, places: tuple[Integers, ...]) -> tuple[Integers, Integers]:
        """Rows and columns of places in the window."""
        return places[0], places[1]

    def places(self, values: ArrayLike) -> tuple[Integers, ...]:
        """The place of each value along each axis."""
        rows, columns = mesh_cells(values, self.level)
        outside = np.flatnonzero(~self.contains(rows, columns))
        if outside.size:
            raise self._refuse(int(outside[0]), self.allowed, label=np.asarray(values).ravel()[outside[0]].item())
        return self.places_of_cells(rows, columns)

    def values(self, places: tuple[Integers, ...]) -> NDArray[Any]:
        """The mesh code at each place."""
        return mesh_codes(places[0] + self.first_row, places[1] + self.first_column, self.level)
