"""Hierarchies: an attribute whose places form a tree, such as meshes in municipalities in prefectures in a country.

The places are the leaves in the order of the tree, so that every node of every level is a range of places. Who belongs
where is public: the table of parent codes is part of the plan, not of the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain.allowed_values import leaves_like
from sudare.domain.arguments import read_column
from sudare.domain.attributes import MAX_VALUES, Attribute
from sudare.domain.codes import read_codes, read_frame_columns
from sudare.errors import Described, ParameterError
from sudare.parameters import exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sudare.domain.branches import Branches

    Integers = NDArray[np.int64]

__all__ = ["Hierarchy", "Level"]

MAX_LEVELS = 64


@dataclass(frozen=True, eq=False)
class Level:
    """The nodes of a hierarchy at one depth, from left to right.

    Attributes:
        name: such as ``"prefecture"``.
        labels: the code of each node.
        edges: node i has the places from edges[i] to before edges[i + 1].
    """

    name: str
    labels: NDArray[Any]
    edges: Integers

    def __post_init__(self) -> None:
        for array in (self.labels, self.edges):
            array.setflags(write=False)

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return self.labels.size

    def nodes_at(self, places: Integers) -> Integers:
        """The node of this level above each place."""
        return np.searchsorted(self.edges, places, side="right") - 1

    def range_of(self, node: int) -> tuple[int, int]:
        """The first place of a node, and the first one after it."""
        number = exact_integer(
            node,
            "node",
            "Level.range_of",
            Words(f"from 0 to {self.nodes - 1}", f"0 以上 {self.nodes - 1} 以下"),
            smallest=0,
            largest=self.nodes - 1,
        )
        return int(self.edges[number]), int(self.edges[number + 1])

    def __repr__(self) -> str:
        return f"Level({self.name!r}, nodes={self.nodes})"


@dataclass(frozen=True, eq=False)
class Hierarchy(Attribute):
    """One axis whose places are the leaves of a tree of codes, in tree order.

    Make one with `from_parents` or `from_levels`. The first level is always one node, the root; the last one is the
    places themselves. Nodes with the same parent stand in the order in which they were first listed.

    Args:
        name: such as ``"area"``; the column that holds leaf codes.
        levels: from the root down.

    Example:
        >>> from sudare.domain import Hierarchy
        >>> area = Hierarchy.from_parents("area", {"Japan": None, "Tokyo": "Japan", "Osaka": "Japan", "Chiyoda": "Tokyo",
        ...     "Minato": "Tokyo", "Kita": "Osaka"}, level_names=("nation", "prefecture", "ward"))
        >>> area.levels
        (Level('nation', nodes=1), Level('prefecture', nodes=2), Level('ward', nodes=3))
        >>> area.places(["Kita", "Chiyoda"]), area.level("prefecture").edges.tolist()
        ((array([2, 0]),), [0, 2, 3])
    """

    levels: tuple[Level, ...]

    def __post_init__(self) -> None:
        self._read_name()
        levels = self.levels
        if not isinstance(levels, tuple) or not levels or not all(type(level) is Level for level in levels):
            raise ParameterError("levels", "Hierarchy", "made by from_parents or from_levels", shown(levels))
        names = [level.name for level in levels]
        for name in names:
            if not isinstance(name, str) or not name.strip() or names.count(name) > 1:
                raise ParameterError(
                    "levels", "Hierarchy", Words("levels with different names", "互いに異なる名前の階層"), shown(name)
                )
        self._require_nested_ranges()

    def _require_nested_ranges(self) -> None:
        finest = self.levels[-1]
        is_right = self.levels[0].nodes == 1 and np.array_equal(finest.edges, np.arange(finest.nodes + 1))
        for upper, lower in zip(self.levels, (*self.levels[1:], finest), strict=True):
            is_right &= upper.edges.size == upper.nodes + 1 and bool((np.diff(upper.edges) > 0).all())
            is_right &= bool(np.isin(upper.edges, lower.edges).all())
        if not is_right or np.unique(finest.labels).size < finest.nodes:
            requirement = Words(
                "levels whose ranges of places lie within each other, from one root to different leaves",
                "1 つの根から末端まで入れ子になる階層",
            )
            raise ParameterError("levels", "Hierarchy", requirement, Described("others"))

    @classmethod
    def from_parents(
        cls,
        name: str,
        codes_and_parents: Any,
        *,
        code: str = "code",
        parent: str = "parent",
        root: Any = None,
        level_names: Sequence[str] | None = None,
    ) -> Hierarchy:
        """A hierarchy from a table that names the parent of each code.

        A code without children is a leaf. Leaves that are not on the deepest level are extended down: they are their own
        only child on each level below.

        Args:
            name: of the attribute.
            codes_and_parents: a mapping from codes to parents; or two columns, codes and parents; or a pandas, polars or
                pyarrow frame. Codes are texts, or whole numbers. The root has None or an empty text for a parent.
            code: the frame's column of codes.
            parent: the frame's column of parents.
            root: a code to put above all codes without a parent; it need not be listed itself.
            level_names: what the levels are called, from the root down; ``"level 0"`` and so on if left out.

        Raises:
            ParameterError: if a code has two parents or is its own ancestor, a parent is not listed, or there is not one
                root; the message names the code.
        """
        function = "Hierarchy.from_parents"
        codes, parents, has_parent = _read_pairs(codes_and_parents, code, parent, function)
        if root is not None:
            top = read_codes([root], "root", function)
            if top.dtype.kind != codes.dtype.kind:
                raise ParameterError("root", function, Words("of the kind of the codes", "コードと同じ型"), shown(root))
            parents = np.where(has_parent, parents, top)
            has_parent = np.ones(codes.size, dtype=bool)
            is_listed = codes == top
            has_parent[is_listed & (parents == top)] = False
            codes, parents = np.concatenate([top, codes]), np.concatenate([top, parents])
            has_parent = np.concatenate([[False], has_parent])
        labels, parent_of = _one_parent_each(codes, parents, has_parent, function)
        ordered = _levels_from_root(labels, parent_of, function)
        wanted = tuple(f"level {depth}" for depth in range(len(ordered))) if level_names is None else level_names
        if isinstance(wanted, str) or not isinstance(wanted, Sequence) or len(wanted) != len(ordered):
            requirement = Words(
                f"{len(ordered)} names, one for each level from the root down",
                f"根から順に、階層ごとに 1 つ、{len(ordered)} 個の名前",
            )
            raise ParameterError("level_names", function, requirement, shown(wanted))
        return cls(name, _with_edges(tuple(wanted), ordered))

    @classmethod
    def from_levels(
        cls, name: str, columns: Any, levels: Sequence[str] | None = None, *, root: str = "all"
    ) -> Hierarchy:
        """A hierarchy from a table with a column for each level: each row leads from the top to a leaf.

        Codes need to be different only within a level. Where the top level has several codes, a root is put above it.

        Args:
            name: of the attribute.
            columns: a mapping from the names of levels to columns of codes, or a frame.
            levels: which of the columns, from the top to the leaves; all, in their order, if left out.
            root: what a root that is put on top, and its level, are called.

        Raises:
            ParameterError: if a code is missing, or lies below two codes of the level above; the message names it.

        Example:
            >>> from sudare.domain import Hierarchy
            >>> columns = {"prefecture": [13, 13, 27], "city": [13101, 13102, 27101]}
            >>> Hierarchy.from_levels("city", columns).levels
            (Level('all', nodes=1), Level('prefecture', nodes=2), Level('city', nodes=3))
        """
        function = "Hierarchy.from_levels"
        if isinstance(columns, Mapping):
            found = {str(key): column for key, column in columns.items()}
        else:
            found = read_frame_columns(columns, None, "columns", function)
        names = tuple(found) if levels is None else levels
        is_plain = isinstance(names, Sequence) and not isinstance(names, str) and len(names) > 0
        if not is_plain or not all(isinstance(x, str) and x in found and names.count(x) == 1 for x in names):
            requirement = Words(
                f"different names of columns among {sorted(found)}, from the top down",
                f"{sorted(found)} のうち互いに異なる列名（上の階層から順）",
            )
            raise ParameterError("levels", function, requirement, shown(levels))
        if not isinstance(root, str) or not root.strip():
            raise ParameterError("root", function, Words("a word", "語"), shown(root))
        read = {level: read_codes(found[level], level, function) for level in names}
        if len({codes.size for codes in read.values()}) > 1:
            raise ParameterError("columns", function, "columns of equal length", Described("others"))
        return cls(name, _levels_from_columns(read, root, function))

    @cached_property
    def _sorted_leaves(self) -> tuple[NDArray[Any], Integers]:
        order = np.argsort(self.levels[-1].labels, kind="stable")
        return self.levels[-1].labels[order], order

    @property
    def shape(self) -> tuple[int, ...]:
        """Places along each axis."""
        return (self.levels[-1].nodes,)

    @property
    def is_ordered(self) -> bool:
        """Whether places that follow each other are near each other: areas stand in the order of their codes."""
        return False

    def level(self, wanted: str | int) -> Level:
        """The level with a name, or at a depth: 0 is the root, -1 the leaves."""
        return self.levels[self.depth_of(wanted, "Hierarchy.level")]

    def down_to(self, wanted: str | int) -> Hierarchy:
        """The hierarchy cut off below a level, whose nodes become the places."""
        depth = self.depth_of(wanted, "Hierarchy.down_to")
        finest = self.levels[depth]
        kept = (Level(x.name, x.labels, np.searchsorted(finest.edges, x.edges)) for x in self.levels[: depth + 1])
        return Hierarchy(self.name, tuple(kept))

    def depth_of(self, wanted: object, function: str, parameter: str = "level") -> int:
        """The depth of a level that a caller named by its name or its number."""
        names = [level.name for level in self.levels]
        if isinstance(wanted, str) and wanted in names:
            return names.index(wanted)
        last = len(names) - 1
        requirement = Words(
            f"one of the levels {names}, or a number from 0 to {last}",
            f"階層 {names} のいずれか、または 0 以上 {last} 以下の番号",
        )
        if isinstance(wanted, str):
            raise ParameterError(parameter, function, requirement, wanted)
        return exact_integer(wanted, parameter, function, requirement, smallest=-len(names), largest=last) % len(names)

    @cached_property
    def branches(self) -> Branches:
        """The axes that its leaves have in a tree with its own nodes."""
        from sudare.domain.branches import Branches

        return Branches(self.name, self)

    def window_cells(self, places: tuple[Integers, ...]) -> tuple[Integers, ...]:
        """Places of leaves along the branches."""
        return self.branches.cells_of_leaves(places[0])

    def places_in_window(self, along: tuple[Integers, ...]) -> tuple[Integers, ...]:
        """The leaves at places along the branches."""
        return (self.branches.leaves_of_cells(along),)

    def places(self, values: ArrayLike) -> tuple[Integers, ...]:
        """The place of each value along each axis."""
        leaves, order = self._sorted_leaves
        is_text = leaves.dtype.kind == "U"
        allowed = leaves_like(leaves.size, leaves[0])
        column = read_column(values, self.name, allowed, "UTO" if is_text else "iu")
        if is_text and column.dtype.kind != "U":
            strange = next((i for i, value in enumerate(column.tolist()) if not isinstance(value, str)), None)
            if strange is not None:
                raise self._refuse(strange, allowed)
            column = column.astype(np.str_)
        at = np.searchsorted(leaves, column)
        at[at == leaves.size] = 0
        outside = np.flatnonzero(leaves[at] != column)
        if outside.size:
            raise self._refuse(int(outside[0]), allowed, label=column[outside[0]].item())
        return (order[at],)

    def values(self, places: tuple[Integers, ...]) -> NDArray[Any]:
        """The leaf code at each place."""
        return self.levels[-1].labels[places[0]]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return NotImplemented
        if self.name != other.name or len(self.levels) != len(other.levels):
            return False
        return all(
            a.name == b.name and np.array_equal(a.labels, b.labels) and np.array_equal(a.edges, b.edges)
            for a, b in zip(self.levels, other.levels, strict=True)
        )

    def __hash__(self) -> int:
        return hash((self.name, tuple((level.name, level.nodes) for level in self.levels)))

    def __repr__(self) -> str:
        return f"Hierarchy({self.name!r}, " + " > ".join(f"{x.name}: {x.nodes}" for x in self.levels) + ")"


_Ordered = list[tuple[Any, Any]]
"""For each level from the root, the labels in tree order and for each the position of its parent in the level above."""


def _read_pairs(
    given: Any, code: str, parent: str, function: str
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """Codes, parents, and which codes have a parent."""
    parameter = "codes_and_parents"
    columns: tuple[Any, Any]
    if isinstance(given, Mapping):
        columns = (list(given.keys()), list(given.values()))
    elif isinstance(given, (tuple, list)):
        if len(given) != 2:
            raise ParameterError(
                parameter,
                function,
                Words("two columns, codes and parents", "コードと親コードの 2 列"),
                Described(f"{len(given)} objects"),
            )
        columns = (given[0], given[1])
    else:
        found = read_frame_columns(given, (code, parent), parameter, function)
        columns = (found[code], found[parent])
    codes = read_codes(columns[0], parameter, function)
    parents, has_parent = read_codes(columns[1], parameter, function, like=codes)
    if parents.shape != codes.shape:
        raise ParameterError(
            parameter,
            function,
            Words("as many parents as codes", "コードと同数の親コード"),
            Described(f"{parents.size} and {codes.size}"),
        )
    return codes, parents, has_parent


def _one_parent_each(
    codes: NDArray[Any], parents: NDArray[Any], has_parent: NDArray[np.bool_], function: str
) -> tuple[NDArray[Any], Integers]:
    """Different codes in the order of their first listing, and the position of the parent of each; -1 for none."""
    parameter = "codes_and_parents"
    ascending, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)  # of an ascending code, in the order of first listing
    rank[np.argsort(first)] = np.arange(first.size)
    at = np.minimum(np.searchsorted(ascending, parents), ascending.size - 1)
    unlisted = np.flatnonzero(has_parent & (ascending[at] != parents))
    if unlisted.size:
        child, missing = codes[unlisted[0]].item(), parents[unlisted[0]].item()
        hint = f"List {missing!r:.60} too, or give root={missing!r:.60} if it is the root."
        got = Described(f"{child!r:.60}, whose parent {missing!r:.60} is not listed")
        raise ParameterError(
            parameter, function, Words("codes whose parents are listed", "親もコードとして載っていること"), got, hint
        )
    parent_of_row = np.where(has_parent, rank[at], -1)
    parent_of = np.empty(first.size, dtype=np.int64)
    parent_of[rank] = parent_of_row[first]
    different = np.flatnonzero(parent_of_row != parent_of[rank[inverse]])
    if different.size:
        _refuse_two_parents(codes[different[0]].item(), parameter, function)
    labels = np.empty_like(ascending)
    labels[rank] = ascending
    return labels, parent_of


def _refuse_two_parents(code: object, parameter: str, function: str) -> None:
    hint = "Keep one of its rows, such as the first."
    raise ParameterError(
        parameter,
        function,
        Words("codes with one parent each", "どのコードも親は 1 つ"),
        Described(f"{code!r:.60} with two"),
        hint,
    )


def _levels_from_root(labels: NDArray[Any], parent_of: Integers, function: str) -> _Ordered:
    parameter = "codes_and_parents"
    roots = np.flatnonzero(parent_of < 0)
    if roots.size > 1:
        two = " and ".join(f"{labels[node].item()!r:.40}" for node in roots[:2])
        hint = "Give root= a code to put above them."
        raise ParameterError(
            parameter,
            function,
            Words("codes with one root", "根は 1 つ"),
            Described(f"{roots.size}, such as {two}"),
            hint,
        )
    nodes, levels = roots, [(labels[roots], np.zeros(roots.size, dtype=np.int64))]
    has_children = np.zeros(labels.size, dtype=bool)
    has_children[parent_of[parent_of >= 0]] = True
    reached = int(roots.size)
    while has_children[nodes].any():
        if len(levels) == MAX_LEVELS:
            got = Described(f"more below {labels[nodes[0]].item()!r:.60}")
            raise ParameterError(
                parameter, function, Words(f"of at most {MAX_LEVELS} levels", f"{MAX_LEVELS} 階層以下"), got
            )
        position = np.full(labels.size, -1, dtype=np.int64)
        position[nodes] = np.arange(nodes.size)
        # Children in the order of listing; a leaf stays as its own child. Sorting by parent puts them in tree order.
        is_child = (parent_of >= 0) & (position[parent_of] >= 0)
        children = np.flatnonzero(is_child)
        leaves = nodes[~has_children[nodes]]
        below = np.concatenate([children, leaves])
        above = np.concatenate([position[parent_of[children]], position[leaves]])
        order = np.argsort(above, kind="stable")
        nodes = below[order]
        levels.append((labels[nodes], above[order]))
        reached += children.size
    if reached < labels.size:
        _refuse_cycle(labels, parent_of, function)
    return levels


def _refuse_cycle(labels: NDArray[Any], parent_of: Integers, function: str) -> None:
    """Who goes up from a code long enough without meeting a root is on a cycle."""
    up = np.where(parent_of < 0, np.arange(labels.size), parent_of)
    at = np.arange(labels.size)
    for _ in range(labels.size.bit_length()):
        up, at = up[up], up[at]
    lost = at[parent_of[at] >= 0][0]
    got = Described(f"{labels[lost].item()!r:.60}, which is its own ancestor")
    raise ParameterError(
        "codes_and_parents", function, Words("codes that lead to a root", "どのコードも親をたどれば根に至ること"), got
    )


def _levels_from_columns(columns: dict[str, NDArray[Any]], root: str, function: str) -> tuple[Level, ...]:
    names = list(columns)
    ordered: _Ordered = []
    row_of_above = np.zeros(next(iter(columns.values())).size, dtype=np.int64)  # the node above, row by row
    if np.unique(next(iter(columns.values()))).size > 1:
        names.insert(0, root)
        ordered.append((np.array([root]), np.zeros(1, dtype=np.int64)))
    for level, codes in columns.items():
        ascending, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        above = row_of_above[first]
        different = np.flatnonzero(above[inverse] != row_of_above)
        if different.size:
            _refuse_two_parents(codes[different[0]].item(), level, function)
        order = np.lexsort((first, above))
        position = np.empty(order.size, dtype=np.int64)
        position[order] = np.arange(order.size)
        ordered.append((ascending[order], above[order]))
        row_of_above = position[inverse]
    return _with_edges(tuple(names), ordered)


def _with_edges(names: tuple[str, ...], ordered: _Ordered) -> tuple[Level, ...]:
    """Ranges of places, from the leaves up: a node reaches from its first child's first place to its last one's last."""
    places = ordered[-1][0].size
    if places > MAX_VALUES:
        raise ParameterError(
            "columns",
            "Hierarchy",
            Words("of at most 2**24 leaves", "末端のコードは 2**24 個以下"),
            Described(f"{places}"),
        )
    edges = np.arange(places + 1)
    levels: list[Level] = []
    for depth in range(len(ordered) - 1, -1, -1):
        labels, above = ordered[depth]
        levels.append(Level(names[depth], labels, edges))
        if depth > 0:
            edges = edges[np.searchsorted(above, np.arange(ordered[depth - 1][0].size + 1))]
    return tuple(reversed(levels))
