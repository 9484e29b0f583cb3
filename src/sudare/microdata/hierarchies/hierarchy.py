"""Value hierarchies: how the values of a column become coarser, level by level.

Level 0 is the value itself, the highest level the coarsest. Each group of a level lies in one group of the next: the groups
form a tree, so what is published on a level never splits what is published on a coarser one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.errors import Described, InputError, ParameterError
from sudare.microdata.records import CodedColumn
from sudare.parameters import exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Generalization", "without_place"]


@dataclass(frozen=True, eq=False)
class Generalization:
    """A value hierarchy of one column.

    Args:
        name: of the column.
        levels: the labels of the groups of each level; those of level 0 are the values (leaves). An empty leaf stands for
            missing values.
        parents: for each level, the group of each leaf; those of level 0 are the leaves themselves.

    Raises:
        ParameterError: if the levels do not fit together, or a group lies in two groups of the next level.

    Example:
        >>> from sudare.microdata.hierarchies.hierarchy import Generalization
        >>> age = Generalization.of_paths("age", [("34", "<50", "*"), ("45", "<50", "*"), ("66", ">=50", "*")])
        >>> age.height, age.levels[1], age.parents[1].tolist()
        (2, ('<50', '>=50'), [0, 0, 1])
    """

    name: str
    levels: tuple[tuple[str, ...], ...]
    parents: tuple[NDArray[np.int32], ...]

    def __post_init__(self) -> None:
        function = "Generalization"
        if not isinstance(self.name, str):
            raise ParameterError("name", function, "a text", shown(self.name))
        levels = tuple(tuple(labels) for labels in self.levels)
        if not levels or not levels[0]:
            raise ParameterError(
                "levels",
                function,
                Words("at least one level with at least one value", "1 個以上の値をもつ 1 個以上の段階"),
                Described("none"),
            )
        if any(len(set(labels)) != len(labels) for labels in levels):
            raise ParameterError(
                "levels",
                function,
                Words("different labels on each level", "各段階で互いに異なるラベル"),
                Described("a label twice"),
            )
        if len(self.parents) != len(levels):
            raise ParameterError("parents", function, "one array for each level", Described(f"{len(self.parents)}"))
        parents = tuple(np.array(groups, dtype=np.int32) for groups in self.parents)
        leaves = len(levels[0])
        for level, groups in enumerate(parents):
            size = len(levels[level])
            if groups.shape != (leaves,) or set(np.unique(groups).tolist()) != set(range(size)):
                requirement = "the group of each leaf, each group with a leaf"
                raise ParameterError("parents", function, requirement, Described(f"others on level {level}"))
            if level == 0 and not np.array_equal(groups, np.arange(leaves)):
                raise ParameterError("parents", function, "the leaves themselves on level 0", Described("others"))
            if level > 0:
                self._check_nested(levels[level - 1], parents[level - 1], groups, level)
            groups.flags.writeable = False
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "parents", parents)

    def _check_nested(
        self, labels: tuple[str, ...], finer: NDArray[np.int32], coarser: NDArray[np.int32], level: int
    ) -> None:
        first = np.zeros(len(labels), dtype=np.int32)
        first[finer] = coarser
        split = np.flatnonzero(first[finer] != coarser)
        if split.size:
            requirement = Words(
                "a tree: each group in one group of the next level",
                "木（どの区分も次の段階の 1 つの区分に含まれること）",
            )
            got = Described(
                f"{labels[finer[split[0]]]!r} of level {level - 1}, which is in two groups of level {level}"
            )
            raise ParameterError("parents", "Generalization", requirement, got)

    @classmethod
    def of_paths(cls, name: str, paths: Sequence[Sequence[str]]) -> Generalization:
        """A hierarchy of lines as ARX writes them: a value, its group on level 1, on level 2, ... up to the top.

        Raises:
            ParameterError: if lines have different lengths, a value is there twice, or the groups form no tree.
        """
        heights = {len(path) for path in paths}
        if len(heights) != 1 or 0 in heights:
            raise ParameterError(
                "paths",
                "Generalization.of_paths",
                Words("lines of one length", "同じ長さの行"),
                Described("other lines"),
            )
        levels: list[tuple[str, ...]] = []
        parents: list[NDArray[np.int32]] = []
        for labels in zip(*paths, strict=True):
            places: dict[str, int] = {}
            groups = [places.setdefault(label, len(places)) for label in labels]
            levels.append(tuple(places))
            parents.append(np.array(groups, dtype=np.int32))
        if len(levels[0]) != len(paths):
            requirement = Words("one line for each value", "値ごとに 1 行")
            raise ParameterError("paths", "Generalization.of_paths", requirement, Described("a value twice"))
        return cls(name, tuple(levels), tuple(parents))

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.levels) - 1

    @property
    def leaves(self) -> int:
        """How many values there are."""
        return len(self.levels[0])

    def paths(self) -> list[tuple[str, ...]]:
        """For each leaf its label on every level."""
        columns = [
            [labels[group] for group in groups.tolist()]
            for labels, groups in zip(self.levels, self.parents, strict=True)
        ]
        return list(zip(*columns, strict=True))

    def sizes(self, level: int) -> NDArray[np.int64]:
        """How many leaves each group of a level holds."""
        return np.bincount(self.parents[self._level(level, "sizes")], minlength=len(self.levels[level])).astype(
            np.int64
        )

    def places(self, column: CodedColumn) -> NDArray[np.int32]:
        """The leaf of every label of a column.

        Raises:
            InputError: if a value is not in the hierarchy; names the column and the first row of data with it, never the value.
        """
        known = {label: place for place, label in enumerate(self.levels[0])}
        found = np.array([known.get("" if label is None else label, -1) for label in column.labels], dtype=np.int32)
        if found.size and found.min() < 0:
            missing = int(np.argmin(found))
            label, row = column.labels[missing], column.first_row(missing)
            raise without_place(column.name, row, is_missing=not label)
        return found

    def generalized(self, column: CodedColumn, level: int) -> CodedColumn:
        """The column on a level: each value replaced by its group. Level 0 is the column as it is; empty texts are missing.

        Raises:
            InputError: if a value is not in the hierarchy.
            ParameterError: if the hierarchy has no such level.

        Example:
            >>> from sudare.microdata.hierarchies.hierarchy import Generalization
            >>> from sudare.microdata.records import CodedColumn
            >>> age = Generalization.of_paths("age", [("34", "<50", "*"), ("45", "<50", "*"), ("66", ">=50", "*")])
            >>> age.generalized(CodedColumn.of("age", ["66", "34", "45"]), 1).texts().tolist()
            ['>=50', '<50', '<50']
        """
        level = self._level(level, "generalized")
        places = self.places(column)
        if level == 0:
            return column.with_one_missing()
        labels = self.levels[level]
        return column.relabelled([labels[group] or None for group in self.parents[level][places].tolist()])

    def _level(self, level: int, function: str) -> int:
        requirement = Words(
            f"a level of the hierarchy of {self.name!r}, from 0 to {self.height}",
            f"{self.name!r} の階層の段階（0 以上 {self.height} 以下）",
        )
        return exact_integer(level, "level", function, requirement, smallest=0, largest=self.height)


def without_place(name: str, row: int, *, is_missing: bool) -> InputError:
    """A value of a row is not in the hierarchy of its column; the message does not name the value."""
    value, value_ja = ("an empty field", "空欄") if is_missing else ("a value", "値")
    empty, empty_ja = (" (an empty value may be listed as well)", "(空の値も書けます)") if is_missing else ("", "")
    return InputError(
        f"The column {name!r} has {value} in row {row} of the data which is not in its hierarchy. Add it there{empty}, or "
        "correct the data.",
        f"列 {name!r} のデータ {row} 行目の{value_ja}が階層にありません。階層に加えるか{empty_ja}、データを直してください。",
    )
