"""Mesh statistics the way e-Stat protects them: attributes of thinly inhabited meshes are counted in a neighbour.

Who lives in a mesh stays published as a number. What they are like is published only for groups of enough people: a mesh
with fewer shows ``*``, and its attributes are added to those of the nearest mesh with enough, in the same secondary mesh
if there is one. If there is none, the nearest anywhere takes them, however far it is: a lonely mesh can be counted in
another primary mesh, and only its receiver's code tells so. Totals of every attribute stay exact. Small numbers inside a
large group are not hidden by this method.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import ShownRows
from sudare.border.signatures import check_arguments
from sudare.domain import mesh_cells, mesh_level
from sudare.errors import InputError, ParameterError
from sudare.io import atomically
from sudare.parameters import exact_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["MergedMeshes", "estat_text", "merge_meshes", "write_estat"]

AS_COUNTED, RECEIVING, SUPPRESSED = 0, 1, 2
"""HTKSYORI: how a mesh was treated."""

SECONDARY_DIGITS = 6


@dataclass(frozen=True, eq=False)
class MergedMeshes(ShownRows):
    """Meshes whose attributes stand for enough people each.

    Attributes:
        codes: mesh codes, ascending.
        open_values: columns that are published for every mesh, the population first.
        values: columns of attributes; in a suppressed mesh they are 0, and counted in its receiver.
        targets: where the attributes of each mesh are counted, as a place among the codes; its own place unless suppressed.
    """

    codes: Integers
    open_values: Mapping[str, Integers]
    values: Mapping[str, Integers]
    targets: Integers

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each mesh: its columns, what was done with it (0, 1 or 2, see `treatment`), and where it is counted."""
        return {
            "mesh": self.codes,
            **self.open_values,
            **self.values,
            "treatment": self.treatment,
            "counted_in": self.codes[self.targets],
        }

    @property
    def treatment(self) -> Integers:
        """0 as counted, 1 with the attributes of others, 2 suppressed."""
        own = np.arange(self.codes.size)
        result = np.full(self.codes.size, AS_COUNTED, dtype=np.int64)
        result[self.targets[self.targets != own]] = RECEIVING
        result[self.targets != own] = SUPPRESSED
        return result


def merge_meshes(
    codes: Integers, level: str, open_values: Mapping[str, Integers], values: Mapping[str, Integers], minimum: int
) -> MergedMeshes:
    """Merge the attributes of meshes with few people into those of neighbours.

    The receiver is the nearest mesh with enough people in the same secondary mesh. Few meshes that are enough together stay
    there, in the one with most people. Else the receiver is the nearest one wherever it is; there is no limit to the distance.

    Args:
        codes: mesh codes, one for each inhabited mesh, all different.
        level: of the codes, such as ``"1/2"``.
        open_values: columns that stay published for every mesh; the first is the population.
        values: columns of attributes.
        minimum: people that published attributes must stand for.

    Raises:
        InputError: if there are too few people altogether, a mesh with a negative count, or codes that come twice.

    Example:
        >>> codes = np.array([533946111, 533946112, 533946113])
        >>> merged = merge_meshes(codes, "1/2", {"people": np.array([520, 84, 3])}, {"men": np.array([251, 40, 2])}, 10)
        >>> merged.treatment.tolist(), merged.values["men"].tolist()
        ([1, 0, 2], [253, 40, 0])
    """
    check_arguments(merge_meshes, locals(), "codes", "open_values", "values")
    least = exact_integer(minimum, "minimum", "merge_meshes", Words("from 2 on", "2 以上"), smallest=2, largest=10**6)
    if not open_values or any(one.shape != codes.shape for one in (*open_values.values(), *values.values())):
        raise ParameterError("values", "merge_meshes", "columns with a number for each mesh", list(values))
    for name, column in (*open_values.items(), *values.items()):
        if (column < 0).any():
            code = int(codes[int(np.flatnonzero(column < 0)[0])])
            raise InputError(
                f"The mesh {code} has a negative count in the column '{name}'. Counts are 0 or more: mend its row.",
                f"メッシュ {code} の列「{name}」の件数が負です。0 以上の件数に直してください。",
            )
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    twice = np.flatnonzero(ordered[1:] == ordered[:-1])
    if twice.size:
        code = int(ordered[twice[0]])
        raise InputError(f"The mesh {code} comes twice.", f"メッシュ {code} が二度あります。")
    rows, columns = mesh_cells(ordered, level)
    blocks = ordered // 10 ** max(0, mesh_level(level).digits - SECONDARY_DIGITS)
    people = next(iter(open_values.values()))[order]
    described = np.zeros(ordered.size, dtype=np.bool_)
    for column in values.values():
        described |= column[order] > 0
    targets = _targets(rows, columns, blocks, people, described, least)
    moved = {}
    for name, column in values.items():
        sums = np.zeros(ordered.size, dtype=np.int64)
        np.add.at(sums, targets, column[order])
        moved[name] = sums
    return MergedMeshes(ordered, {name: column[order] for name, column in open_values.items()}, moved, targets)


def _targets(
    rows: Integers,
    columns: Integers,
    blocks: Integers,
    people: Integers,
    described: NDArray[np.bool_],
    least: int,
) -> Integers:
    """The place where each mesh is counted: the nearest one with enough, ties to the smaller code.

    A mesh without people is left alone only if it has no attributes, either.
    """
    targets = np.arange(rows.size, dtype=np.int64)
    few = ((people > 0) | described) & (people < least)
    homeless: list[int] = []
    starts = np.flatnonzero(np.r_[True, blocks[1:] != blocks[:-1]]) if rows.size else np.empty(0, dtype=np.int64)
    for start, end in zip(starts, np.r_[starts[1:], rows.size], strict=True):
        places = np.arange(start, end)
        small, enough = places[few[places]], places[people[places] >= least]
        if not enough.size and people[small].sum() >= least:
            # Together they are enough: the one with most people receives the others.
            enough = small[[int(np.argmax(people[small]))]]
            small = small[small != enough[0]]
        if enough.size:
            targets[small] = _nearest(rows, columns, small, enough)
        else:
            homeless.extend(small.tolist())
    if homeless:
        lost = np.array(homeless)
        receivers = np.setdiff1d(np.flatnonzero((targets == np.arange(rows.size)) & (people > 0)), lost)
        if receivers.size:
            targets[lost] = _nearest(rows, columns, lost, receivers)
        elif people[lost].sum() >= least:
            targets[lost] = lost[int(np.argmax(people[lost]))]
        else:
            raise InputError(
                "Merging cannot protect these meshes: all of them together do not reach the minimum.",
                "合算では保護できません。すべてのメッシュを合わせても下限に届きません。",
            )
    return targets


def _nearest(rows: Integers, columns: Integers, small: Integers, receivers: Integers) -> Integers:
    found = np.empty(small.size, dtype=np.int64)
    for place, mesh in enumerate(small.tolist()):
        apart = (rows[receivers] - rows[mesh]) ** 2 + (columns[receivers] - columns[mesh]) ** 2
        found[place] = receivers[int(np.argmin(apart))]
    return found


def estat_text(merged: MergedMeshes, labels: Mapping[str, str] | None = None) -> str:
    """The meshes as e-Stat writes them: two header rows, ``*`` where attributes are suppressed.

    Args:
        merged: the meshes.
        labels: a label for each column, for the second header row.

    Example:
        >>> codes = np.array([533946112, 533946113])
        >>> merged = merge_meshes(codes, "1/2", {"people": np.array([84, 3])}, {"men": np.array([40, 2])}, 10)
        >>> print(estat_text(merged).replace(chr(13), ""), end="")
        KEY_CODE,HTKSYORI,HTKSAKI,GASSAN,people,men
        ,,,,people,men
        533946112,1,,533946113,84,42
        533946113,2,533946112,,3,*
    """
    named = [*merged.open_values, *merged.values]
    wrong = [name for name in (*named, *(labels or {}).values()) if set(name) & set(',"\r\n')]
    if wrong:
        raise ParameterError(
            "labels",
            "estat_text",
            Words("names without commas, quotes and line ends", "コンマ、引用符、改行を含まない名前"),
            wrong[0],
        )
    treatment = merged.treatment
    guests: dict[int, list[str]] = {}
    for place in np.flatnonzero(treatment == SUPPRESSED).tolist():
        guests.setdefault(int(merged.targets[place]), []).append(str(merged.codes[place]))
    lines = [
        ",".join(["KEY_CODE", "HTKSYORI", "HTKSAKI", "GASSAN", *named]),
        ",".join(["", "", "", "", *((labels or {}).get(name, name) for name in named)]),
    ]
    shown = [column.tolist() for column in merged.open_values.values()]
    hidden = [column.tolist() for column in merged.values.values()]
    for place, (code, kind) in enumerate(zip(merged.codes.tolist(), treatment.tolist(), strict=True)):
        target = str(merged.codes[merged.targets[place]]) if kind == SUPPRESSED else ""
        attributes = ["*" if kind == SUPPRESSED else str(column[place]) for column in hidden]
        counted = [str(column[place]) for column in shown]
        lines.append(",".join([str(code), str(kind), target, ";".join(guests.get(place, [])), *counted, *attributes]))
    return "\r\n".join(lines) + "\r\n"


def write_estat(path: str | Path, merged: MergedMeshes, labels: Mapping[str, str] | None = None) -> None:
    """Write the meshes to a new file in cp932, as e-Stat does; see `estat_text`.

    Args:
        path: of the file.
        merged: to write.
        labels: what columns are called in the file, where that differs.

    Raises:
        OutputError: if the file exists, or cannot be written.
        ParameterError: if a label cannot be written in cp932.
    """
    try:
        text = estat_text(merged, labels).encode("cp932")
    except UnicodeEncodeError:
        raise ParameterError(
            "labels", "write_estat", Words("names that cp932 can write", "cp932 で書ける名前"), labels
        ) from None
    with atomically(path) as temporary:
        temporary.write_bytes(text)
