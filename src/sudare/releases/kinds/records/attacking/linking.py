"""Linkage of published records with the people behind them: who is found, how surely, and whether it is the right one.

An attacker knows the quasi-identifiers of people and looks for their records. A link is *sure* where a person and a record agree
exactly and no other does, or, where values were changed, where one record alone is nearest. Whether it is *right* only the holder
can tell, who knows whose record each is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.attacks.records.distances import KeyColumn
from sudare.attacks.records.linkage import link_records
from sudare.errors import InputError
from sudare.microdata.grouping import group
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.perturb.number_columns import read_number_column
from sudare.microdata.records import CodedColumn, Records

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MAX_FOUND", "LinkageResult", "comparable", "joint_classes", "link_exactly", "link_nearest"]

MAX_FOUND = 0.05
"""A table is refused if more than this share of its records is found, surely and rightly."""
MAX_TARGETS, MIN_TARGETS = 1_000, 200
MAX_PAIRS = 40_000_000
"""Pairs of a target and a record that are compared at most."""


@dataclass(frozen=True)
class LinkageResult:
    """How linking people with records ended.

    Attributes:
        tried: records that were looked for.
        sure: links that an attacker would be sure of.
        right: of these, right ones; None if nobody knows.
    """

    tried: int
    sure: int
    right: int | None

    @property
    def is_broken(self) -> bool:
        """Whether more than MAX_FOUND are found, and an attacker who trusts their links is right more often than wrong."""
        if self.right is None or not self.tried:
            return False
        return self.right / self.tried > MAX_FOUND and 2 * self.right > self.sure


def link_exactly(
    known: Sequence[CodedColumn],
    published: Sequence[CodedColumn],
    *,
    whose: NDArray[np.int64] | None = None,
    is_unchanged: bool = False,
) -> LinkageResult:
    """Link people and records that agree in every column while nobody else does.

    Args:
        known: what is known of people.
        published: the same columns of the records.
        whose: for each record, the place of its person among the people.
        is_unchanged: whether records have the values of their people, who are all known: then such a link is right.

    Example:
        >>> import numpy as np
        >>> from sudare.microdata.records import CodedColumn
        >>> known, published = CodedColumn.of("age", [30, 30, 41, 52]), CodedColumn.of("age", [52, 30, 41])
        >>> link_exactly([known], [published], whose=np.array([2, 0, 3]))
        LinkageResult(tried=3, sure=2, right=0)
    """
    people, records = known[0].rows, published[0].rows
    of_row = joint_classes(known, published)
    number = int(of_row.max(initial=-1)) + 1
    alike_people = np.bincount(of_row[:people], minlength=number)
    alike_records = np.bincount(of_row[people:], minlength=number)
    is_sure = (alike_people == 1) & (alike_records == 1)
    sure = int(np.count_nonzero(is_sure))
    if whose is None:
        return LinkageResult(records, sure, sure if is_unchanged else None)
    person = np.zeros(number, dtype=np.int64)
    person[of_row[:people]] = np.arange(people)
    found = is_sure[of_row[people:]]
    right = int(np.count_nonzero(person[of_row[people:]][found] == np.asarray(whose)[found]))
    return LinkageResult(records, sure, right)


def joint_classes(known: Sequence[CodedColumn], published: Sequence[CodedColumn]) -> NDArray[np.int64]:
    """The class of each row of two files that are put one below the other: rows of a class agree in every column.

    Args:
        known: columns of the first file.
        published: the same columns of the second.
    """
    both = [
        CodedColumn.of_codes(
            mine.name,
            np.concatenate([mine.codes, theirs.codes + np.int32(len(mine.labels))]),
            [label or None for label in (*mine.labels, *theirs.labels)],
        )
        for mine, theirs in zip(known, published, strict=True)
    ]
    return group(both).of_row


def link_nearest(
    known: Sequence[CodedColumn], published: Sequence[CodedColumn], *, whose: NDArray[np.int64]
) -> LinkageResult | None:
    """Link some people with the records that are nearest to them, numbers by their difference; for values that were changed.

    Args:
        known: what is known of people.
        published: the same columns of the records.
        whose: for each record, the place of its person among the people.

    Returns:
        What was found for at most MAX_TARGETS records, evenly spread over the file; None if the file is so large that not even
        MIN_TARGETS can be tried.

    Example:
        >>> import numpy as np
        >>> from sudare.microdata.records import CodedColumn
        >>> known, published = CodedColumn.of("age", [30, 41, 52]), CodedColumn.of("age", [31, 43, 50])
        >>> link_nearest([known], [published], whose=np.arange(3))
        LinkageResult(tried=3, sure=3, right=3)
    """
    records = published[0].rows
    number = min(MAX_TARGETS, records, MAX_PAIRS // max(1, records))
    if number < min(MIN_TARGETS, records):
        return None
    targets = np.linspace(0, records - 1, number).round().astype(np.int64)
    people = np.asarray(whose)[targets]
    columns = [_key_column(mine, theirs, people) for mine, theirs in zip(known, published, strict=True)]
    links = link_records(columns, truth=targets)
    alone = links.ties == 1
    right = 0 if links.right is None else int(np.count_nonzero(links.right[alone] == 1))
    return LinkageResult(int(targets.size), int(np.count_nonzero(alone)), right)


def comparable(
    names: Sequence[str],
    known: Records,
    levels: Mapping[str, int | None],
    hierarchies: Mapping[str, Generalization] | None,
) -> list[CodedColumn]:
    """The columns of people on the levels on which they were published; those that cannot be compared are left out.

    Args:
        names: of the columns.
        known: the people.
        levels: how coarse each column was published; None is as it was.
        hierarchies: that made the columns coarser.
    """
    columns = []
    for name in names:
        if name not in known.names:
            continue
        column, level = known.column(name), levels.get(name)
        if not level:
            columns.append(column)
        elif hierarchies is not None and name in hierarchies:
            columns.append(hierarchies[name].generalized(column, level))
    return columns


def _key_column(mine: CodedColumn, theirs: CodedColumn, people: NDArray[np.int64]) -> KeyColumn:
    """A column of both files: of numbers where both have nothing else, and of categories otherwise."""
    try:
        numbers = [read_number_column(column) for column in (mine, theirs)]
    except InputError:
        return KeyColumn(mine.name, _texts(mine)[people], _texts(theirs))
    first, second = (column.units / 10.0**column.decimals for column in numbers)
    return KeyColumn(mine.name, first[people], second, scale=float(first.std()) or 1.0)


def _texts(column: CodedColumn) -> NDArray[np.str_]:
    return np.array([label or "" for label in column.labels], dtype=np.str_)[column.codes]
