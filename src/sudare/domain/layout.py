"""Layouts: in which order the cells of a domain stand along the leaves of a tree.

A tree over a domain splits the cells in two, bit by bit. A layout says which axis each split takes: from the top,
alternately for a Morton layout, or all of the first axis before the second for a raster layout. Axes are padded to powers
of two; the padding has no cells and is never seen outside.

Before that, the cells may change places with each other (`arrangement`): along a Hilbert curve, as if at random, or near the
ends of padded axes alone (`turning`). An arrangement follows from the shape and a public key alone. One that looks at the
data, such as cells sorted by their counts, would publish what it saw: no layout can be made of it, and `sorted_layout` says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, NoReturn, Protocol, cast

import numpy as np

from sudare.bilingual import Words
from sudare.domain.turning import TurnedEnds, places_that_turn
from sudare.errors import GuaranteeError, ParameterError
from sudare.parameters import exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.domain.domain import Domain

    Keys = NDArray[np.uint64]
    Integers = NDArray[np.int64]

__all__ = [
    "Layout",
    "hilbert_layout",
    "layout_named",
    "morton_layout",
    "nodes_with_cells",
    "random_layout",
    "raster_layout",
    "sorted_layout",
]

MAX_BITS = 63
MAX_KEY = 2**64 - 1
SHUFFLE_ROUNDS = 8


@dataclass(frozen=True)
class Shuffle:
    """Cells in an order that looks random and follows from a public key.

    A Feistel network with as many bits as the cells need permutes a power of two; where it leads out of the cells it
    is applied again until it leads back. Both directions cost the same and need no table.

    Attributes:
        cells: how many cells change places.
        key: which of the orders.
    """

    cells: int
    key: int

    @cached_property
    def _settings(self) -> tuple[int, NDArray[np.uint64]]:
        """The bits of a place, and a number for each round, from the key by a counter and a mixing of bits."""
        from sudare.kernels.tables.layouts import mix_words

        counter = [(self.key + (turn + 1) * 0x9E3779B97F4A7C15) & MAX_KEY for turn in range(SHUFFLE_ROUNDS)]
        rounds = np.array(counter, dtype=np.uint64)
        mix_words(rounds)
        return axis_bits(self.cells), rounds

    def arrange(self, keys: Keys) -> Keys:
        """The places of cells in the new order."""
        return self._walk(keys, backward=False)

    def restore(self, places: Keys) -> Keys:
        """The keys of the cells at these places."""
        return self._walk(places, backward=True)

    def _walk(self, keys: Keys, *, backward: bool) -> Keys:
        from sudare.kernels.tables.layouts import shuffle

        out = np.empty(keys.size, dtype=np.uint64)
        bits, rounds = self._settings
        shuffle(np.ascontiguousarray(keys), np.uint64(self.cells), bits, rounds, backward, out)
        return out


@dataclass(frozen=True)
class HilbertCurve:
    """Cells of a square along Hilbert's curve: cells that follow each other share a side.

    Attributes:
        bits: the square has 2**bits cells a side.
    """

    bits: int

    def arrange(self, keys: Keys) -> Keys:
        """The places of cells along the curve."""
        from sudare.kernels.tables.layouts import raster_to_hilbert

        out = np.empty(keys.size, dtype=np.uint64)
        raster_to_hilbert(np.ascontiguousarray(keys), self.bits, out)
        return out

    def restore(self, places: Keys) -> Keys:
        """The keys of the cells at these places of the curve."""
        from sudare.kernels.tables.layouts import hilbert_to_raster

        out = np.empty(places.size, dtype=np.uint64)
        hilbert_to_raster(np.ascontiguousarray(places), self.bits, out)
        return out


class RowOfPlaces(Protocol):
    """An attribute whose places stand in a row, and on other axes in a tree."""

    def window_cells(self, places: tuple[Integers, ...]) -> tuple[Integers, ...]:
        """Places along the other axes."""

    def places_in_window(self, along: tuple[Integers, ...]) -> tuple[Integers, ...]:
        """The place in the row of places along the other axes."""


def _row(attribute: object) -> RowOfPlaces:
    return cast("RowOfPlaces", attribute)


@dataclass(frozen=True)
class Embedding:
    """Cells of a domain whose places stand in a row among all cells of the axes that they have in a tree.

    Attributes:
        inner: the domain, whose listed meshes, or leaves of a hierarchy, stand in a row.
        outer: the same with the window around the meshes, or the branches of the hierarchy, in place of the row.
    """

    inner: Domain
    outer: Domain

    def embed(self, keys: Keys) -> Keys:
        """The keys of cells on the whole map."""
        places = list(self.inner.places_of(keys))
        found: list[Integers] = []
        for own, other in zip(self.inner.attributes, self.outer.attributes, strict=True):
            along = tuple(places.pop(0) for _ in own.shape)
            found.extend(along if own is other else _row(own).window_cells(along))
        return self.outer.keys_at(*found)

    def restore(self, keys: Keys) -> Keys:
        """The keys of the cells that have these on the whole map."""
        places = list(self.outer.places_of(keys))
        found: list[Integers] = []
        for own, other in zip(self.inner.attributes, self.outer.attributes, strict=True):
            along = tuple(places.pop(0) for _ in other.shape)
            found.extend(along if own is other else _row(own).places_in_window(along))
        return self.inner.keys_at(*found)


@dataclass(frozen=True)
class Layout:
    """Which axis each split of the tree takes, from the top, and whether cells change places before.

    Attributes:
        lengths: places along each axis of the domain.
        axis_of_split: the axis of each split; axis a appears as often as its length has bits.
        arrangement: how the cells change places with each other first; they do not if left out.
        embedding: which of the cells there are, where they are those of listed meshes; all are if left out.
        fixed: axes whose ends are never turned: categories that the tree parts before it comes to places.
    """

    lengths: tuple[int, ...]
    axis_of_split: tuple[int, ...]
    arrangement: Shuffle | HilbertCurve | TurnedEnds | None = None
    embedding: Embedding | None = None
    fixed: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        wanted = sorted(axis for axis, length in enumerate(self.lengths) for _ in range(axis_bits(length)))
        if sorted(self.axis_of_split) != wanted:
            raise ParameterError("axis_of_split", "Layout", f"an arrangement of {wanted}", self.axis_of_split)
        if self.depth > MAX_BITS:
            raise ParameterError(
                "lengths", "Layout", f"at most {MAX_BITS} bits when padded to powers of two", self.lengths
            )
        # Exact types: an arrangement of another kind might look at the data.
        if self.arrangement is not None and type(self.arrangement) not in (Shuffle, HilbertCurve, TurnedEnds):
            raise ParameterError(
                "arrangement", "Layout", "left out, or made by a layout function", shown(self.arrangement)
            )
        if not _fits(self.arrangement, self.lengths):
            raise ParameterError("arrangement", "Layout", f"one for the shape {self.lengths}", self.arrangement)

    @property
    def depth(self) -> int:
        """How many splits lead from the whole domain to a cell."""
        return len(self.axis_of_split)

    @property
    def is_padded(self) -> bool:
        """Whether some leaves of the tree are no cells."""
        return self.embedding is not None or any(length & (length - 1) for length in self.lengths)

    @property
    def keeps_neighbours(self) -> bool:
        """Whether nodes next to each other in the tree's grid are neighbours on the map, but for a few at the ends of axes."""
        return self.arrangement is None or isinstance(self.arrangement, TurnedEnds)

    @property
    def has_ends_to_turn(self) -> bool:
        """Whether some node of a few cells is cut off by the end of an axis, and cells stand where the axes have them."""
        free = [length for axis, length in enumerate(self.lengths) if axis not in self.fixed]
        return self.arrangement is None and self.embedding is None and any(map(places_that_turn, free))

    def turned(self, key: int) -> Layout:
        """The same layout with the ends of padded axes turned by a public key; the layout itself if no axis needs it."""
        if not self.has_ends_to_turn:
            return self
        turned = TurnedEnds(self.lengths, key, self.fixed)
        return Layout(self.lengths, self.axis_of_split, turned, fixed=self.fixed)

    @cached_property
    def _positions(self) -> tuple[tuple[int, ...], ...]:
        """For each axis, the place in the tree key of each bit of its index, lowest first."""
        positions: list[list[int]] = [[] for _ in self.lengths]
        for place, axis in enumerate(reversed(self.axis_of_split)):
            positions[axis].append(place)
        return tuple(map(tuple, positions))

    @cached_property
    def _spread(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        bytes_per_axis = [max(1, -(-len(places) // 8)) for places in self._positions]
        table = np.zeros((len(self.lengths), max(bytes_per_axis), 256), dtype=np.uint64)
        values = np.arange(256, dtype=np.uint64)
        for axis, places in enumerate(self._positions):
            for bit, place in enumerate(places):
                table[axis, bit // 8] |= (values >> np.uint64(bit % 8) & np.uint64(1)) << np.uint64(place)
        return table, np.array(bytes_per_axis, dtype=np.int64)

    @cached_property
    def gather(self) -> NDArray[np.uint64]:
        """For each axis and each byte of a leaf's number, the bits of the index along the axis."""
        table = np.zeros((len(self.lengths), max(1, -(-self.depth // 8)), 256), dtype=np.uint64)
        values = np.arange(256, dtype=np.uint64)
        for axis, places in enumerate(self._positions):
            for bit, place in enumerate(places):
                table[axis, place // 8] |= (values >> np.uint64(place % 8) & np.uint64(1)) << np.uint64(bit)
        return table

    def to_tree(self, keys: Keys) -> Keys:
        """The places of cells among the leaves of the tree, from left to right."""
        from sudare.kernels.tables.layouts import raster_to_tree

        if self.embedding is not None:
            keys = self.embedding.embed(keys)
        if self.arrangement is not None:
            keys = self.arrangement.arrange(keys)
        out = np.empty(keys.size, dtype=np.uint64)
        raster_to_tree(np.ascontiguousarray(keys), np.array(self.lengths, dtype=np.uint64), *self._spread, out)
        return out

    def to_raster(self, leaves: Keys) -> Keys:
        """The keys of the cells at these leaves."""
        from sudare.kernels.tables.layouts import tree_to_raster

        out = np.empty(leaves.size, dtype=np.uint64)
        lengths = np.array(self.lengths, dtype=np.uint64)
        tree_to_raster(np.ascontiguousarray(leaves), lengths, self.gather, self.gather.shape[1], out)
        keys = out if self.arrangement is None else self.arrangement.restore(out)
        return keys if self.embedding is None else self.embedding.restore(keys)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return prod(self.lengths) if self.embedding is None else self.embedding.inner.cells

    def axes_of(self, domain: Domain) -> Domain:
        """The domain whose axes the layout splits: the one it was made for, with windows in place of lists."""
        return domain if self.embedding is None else self.embedding.outer


def _fits(arrangement: Shuffle | HilbertCurve | TurnedEnds | None, lengths: tuple[int, ...]) -> bool:
    """Whether an arrangement is one of the cells of a shape."""
    if isinstance(arrangement, Shuffle):
        return arrangement.cells == prod(lengths)
    if isinstance(arrangement, HilbertCurve):
        return lengths == (1 << arrangement.bits, 1 << arrangement.bits)
    return arrangement is None or arrangement.lengths == lengths


def _read_shape(shape: object, function: str) -> tuple[int, ...]:
    requirement = "a tuple of whole numbers >= 1, such as the shape of a domain"
    if not isinstance(shape, tuple) or not shape:
        raise ParameterError("shape", function, requirement, shown(shape))
    return tuple(exact_integer(length, "shape", function, requirement, smallest=1) for length in shape)


def axis_bits(length: int) -> int:
    """Bits of an index along an axis."""
    return (length - 1).bit_length()


def nodes_with_cells(layout: Layout) -> NDArray[np.bool_] | None:
    """For every node and leaf in heap order, whether a cell lies below it; None where this holds for all."""
    if not layout.is_padded:
        return None
    leaves = 1 << layout.depth
    has_cells = np.zeros(2 * leaves, dtype=np.bool_)
    cells = np.arange(prod(layout.lengths), dtype=np.uint64)
    has_cells[leaves + layout.to_tree(cells).astype(np.int64)] = True
    nodes = leaves
    while nodes > 1:
        has_cells[nodes // 2 : nodes] = has_cells[nodes : 2 * nodes].reshape(-1, 2).any(axis=1)
        nodes //= 2
    return has_cells


def morton_layout(shape: tuple[int, ...]) -> Layout:
    """The axes in turn, so that every block of the tree is as square as can be. Longer axes are split first.

    Args:
        shape: places along each axis.

    Example:
        >>> from sudare.domain import morton_layout
        >>> morton_layout((4, 16)).axis_of_split
        (1, 1, 0, 1, 0, 1)
    """
    shape = _read_shape(shape, "morton_layout")
    left = [axis_bits(length) for length in shape]
    splits: list[int] = []
    while any(left):
        longest = max(left)
        for axis in range(len(shape)):
            if left[axis] == longest:
                splits.append(axis)
                left[axis] -= 1
    return Layout(shape, tuple(splits))


def map_layout(domain: Domain, depth: int) -> Layout:
    """The Morton layout over the map, also where the domain lists its meshes: nodes are squares, and the rest has no cells.

    For trees that know how many cells each node has. Where the map has more halvings than this many, or there is no list, it is
    the Morton layout of the domain itself, with the meshes in a row.
    """
    from sudare.domain.mesh_list import MeshList

    if not any(isinstance(attribute, MeshList) for attribute in domain.attributes):
        return morton_layout(domain.shape)
    windows = [a.window if isinstance(a, MeshList) else a for a in domain.attributes]
    outer = type(domain)(tuple(windows))
    around = morton_layout(outer.shape)
    if around.depth > depth:
        return morton_layout(domain.shape)
    return Layout(around.lengths, around.axis_of_split, embedding=Embedding(domain, outer))


def raster_layout(shape: tuple[int, ...]) -> Layout:
    """All of the first axis, then all of the second, and so on: the cells in the order of their keys.

    Args:
        shape: places along each axis.

    Example:
        >>> from sudare.domain import raster_layout
        >>> raster_layout((4, 4)).axis_of_split
        (0, 0, 1, 1)
    """
    shape = _read_shape(shape, "raster_layout")
    return Layout(shape, tuple(axis for axis, length in enumerate(shape) for _ in range(axis_bits(length))))


def random_layout(shape: tuple[int, ...], key: int = 0) -> Layout:
    """The cells in an order that looks random, for experiments and for spreading crowded cells over the tree.

    Neighbours on the map are as far apart in the tree as any two cells. The order follows from the shape and the key,
    both public: it hides nothing, is no cipher, and adds nothing to the guarantee.

    Args:
        shape: places along each axis of the domain.
        key: which of the orders; a whole number from 0 to 2**64 - 1 that does not depend on the data.

    Example:
        >>> import numpy as np
        >>> from sudare.domain import random_layout
        >>> layout = random_layout((2, 4), key=1)
        >>> leaves = layout.to_tree(np.arange(8, dtype=np.uint64))
        >>> sorted(leaves.tolist()), layout.to_raster(leaves).tolist()
        ([0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7])
    """
    requirement = "a whole number from 0 to 2**64 - 1"
    number = exact_integer(key, "key", "random_layout", requirement, smallest=0, largest=MAX_KEY)
    shape = _read_shape(shape, "random_layout")
    return Layout(shape, raster_layout(shape).axis_of_split, Shuffle(prod(shape), number))


def hilbert_layout(shape: tuple[int, ...]) -> Layout:
    """The cells of a square map along Hilbert's curve: every block of the tree is connected.

    Args:
        shape: twice the same power of two.

    Raises:
        ParameterError: if the domain does not have two axes, or is not such a square. Padding a table to the square with
            cells that hold nobody would spend noise on them; the Morton layout takes any shape.

    Example:
        >>> import numpy as np
        >>> from sudare.domain import hilbert_layout
        >>> hilbert_layout((2, 2)).to_raster(np.arange(4, dtype=np.uint64))
        array([0, 1, 3, 2], dtype=uint64)
    """
    shape = _read_shape(shape, "hilbert_layout")
    if len(shape) != 2:
        raise ParameterError(
            "shape",
            "hilbert_layout",
            Words("of two axes: the curve fills a square", "2 軸の表（曲線は正方形を埋めるため）"),
            shape,
        )
    bits = axis_bits(max(shape))
    side = 1 << bits
    if shape != (side, side):
        requirement = Words(
            f"a square whose side is a power of two, such as {(side, side)}",
            f"一辺が 2 の累乗の正方形（例: {(side, side)}）",
        )
        raise ParameterError("shape", "hilbert_layout", requirement, shape, "The Morton layout takes any shape.")
    return Layout(shape, raster_layout(shape).axis_of_split, HilbertCurve(bits))


def sorted_layout(shape: tuple[int, ...]) -> NoReturn:
    """Refused: cells sorted by their counts are an order that was read off the data.

    Args:
        shape: places along each axis of the domain.

    Raises:
        GuaranteeError: always, with the reason.
    """
    _read_shape(shape, "sorted_layout")
    raise GuaranteeError(
        Words(
            "The order 'sorted' looks at the counts: which cell comes first is itself private data, and no noise was added "
            "to it. It exists for experiments alone (in sudare-papers) and cannot be used for a release. Use "
            "'morton', 'raster', 'hilbert' or 'random'.",
            "並び順 'sorted' は度数を見て決まります。どのセルが先に来るか自体が保護すべき情報で、"
            "ノイズは加わっていません。実験専用（sudare-papers）であり、公表には使えません。"
            "'morton'、'raster'、'hilbert'、'random' のいずれかを使ってください。",
        )
    )


def layout_named(name: str, shape: tuple[int, ...], key: int = 0) -> Layout:
    """The layout with a name, for options and files.

    Args:
        name: ``"morton"``, ``"raster"``, ``"hilbert"``, ``"random"`` or, with its key, ``"random:7"``; ``"sorted"`` is
            refused with the reason.
        shape: places along each axis of the domain.
        key: of a random layout whose name has none.

    Raises:
        ParameterError: if the name is unknown, or the shape does not suit the layout.
        GuaranteeError: for ``"sorted"``.

    Example:
        >>> from sudare.domain import layout_named, morton_layout
        >>> layout_named("morton", (4, 16)) == morton_layout((4, 16))
        True
        >>> layout_named("random:7", (4, 16)) == layout_named("random", (4, 16), key=7)
        True
    """
    plain = {"morton": morton_layout, "raster": raster_layout, "hilbert": hilbert_layout, "sorted": sorted_layout}
    keyed = re.fullmatch(r"random(?::([0-9]{1,20}))?", name) if isinstance(name, str) else None
    if keyed:
        return random_layout(shape, key if keyed[1] is None else int(keyed[1]))
    if not isinstance(name, str) or name not in plain:
        requirement = Words(
            "'morton', 'raster', 'hilbert', 'random' or 'random:KEY'",
            "'morton'、'raster'、'hilbert'、'random'、'random:KEY' のいずれか",
        )
        raise ParameterError("name", "layout_named", requirement, shown(name))
    return plain[name](shape)
