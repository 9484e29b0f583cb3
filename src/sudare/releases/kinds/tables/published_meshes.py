"""Merged meshes as files: written for public readers, and read again as they read them."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.disclosure.merging import SUPPRESSED, MergedMeshes
from sudare.errors import InputError
from sudare.system.regular_files import read_regular_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PublishedMeshes", "mesh_text", "read_published_meshes"]

HEADER = ("mesh", "counted_in", "population")
HIDDEN, SHOWN = "hidden", "published"


@dataclass(frozen=True, eq=False)
class PublishedMeshes:
    """What a public reader has of merged meshes.

    Attributes:
        codes: of the meshes.
        targets: the mesh that the attributes of each are counted in.
        population: people in each.
        values: columns of attributes; -1 where they are counted elsewhere.
    """

    codes: tuple[int, ...]
    targets: tuple[int, ...]
    population: tuple[int, ...]
    values: Mapping[str, NDArray[np.int64]]

    def groups(self) -> dict[int, tuple[tuple[int, ...], int]]:
        """For each mesh that shows attributes, the meshes that they are of, and the people in these."""
        found: dict[int, list[int]] = {}
        people: dict[int, int] = {}
        for code, target, count in zip(self.codes, self.targets, self.population, strict=True):
            found.setdefault(target, []).append(code)
            people[target] = people.get(target, 0) + count
        return {target: (tuple(members), people[target]) for target, members in found.items()}


def mesh_text(merged: MergedMeshes) -> str:
    """The meshes as CSV: code, the mesh that its attributes are counted in, people, attributes, status.

    Example:
        >>> from sudare.disclosure.merging import merge_meshes
        >>> codes = np.array([533946112, 533946113])
        >>> merged = merge_meshes(codes, "1/2", {"people": np.array([84, 3])}, {"men": np.array([40, 2])}, 10)
        >>> print(mesh_text(merged), end="")
        mesh,counted_in,population,men,status
        533946112,533946112,84,42,published
        533946113,533946112,3,,hidden
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*HEADER, *merged.values, "status"])
    people = next(iter(merged.open_values.values())).tolist()
    columns = [column.tolist() for column in merged.values.values()]
    kinds, targets = merged.treatment.tolist(), merged.codes[merged.targets].tolist()
    for place, code in enumerate(merged.codes.tolist()):
        is_hidden = kinds[place] == SUPPRESSED
        attributes = ["" if is_hidden else column[place] for column in columns]
        writer.writerow([code, targets[place], people[place], *attributes, HIDDEN if is_hidden else SHOWN])
    return stream.getvalue()


def read_published_meshes(folder: Path, document: Mapping[str, Any]) -> PublishedMeshes:
    """Read the meshes of a folder as a public reader does.

    Raises:
        InputError: if the file is missing, or is not what the report describes.
    """
    path = folder / "table.csv"
    try:
        rows = list(csv.reader(io.StringIO(read_regular_file(path).decode(), newline="")))
        names = [str(name) for name in document["value"]["names"]]
        if rows[0] != [*HEADER, *names, "status"]:
            raise ValueError
        numbers = [[int(field) for field in row[:3]] for row in rows[1:]]
        attributes = [[-1 if field == "" else int(field) for field in row[3:-1]] for row in rows[1:]]
        for row, read in zip(rows[1:], attributes, strict=True):
            if len(row) != len(rows[0]) or row[-1] not in (HIDDEN, SHOWN):
                raise ValueError
            if any((number == -1) != (row[-1] == HIDDEN) or number < -1 for number in read):
                raise ValueError
        codes, targets, population = (tuple(column) for column in zip(*numbers, strict=True))
        if len(set(codes)) < len(codes) or not set(targets) <= set(codes) or min(population) < 0:
            raise ValueError
        table = np.array(attributes, dtype=np.int64).reshape(len(codes), len(names))
    except (OSError, ValueError, KeyError, TypeError, IndexError, OverflowError, csv.Error):
        raise InputError(
            f"'{path}' is missing, or is not the table that its report describes.",
            f"「{path}」がないか、報告書と異なります。",
        ) from None
    return PublishedMeshes(codes, targets, population, {name: table[:, place] for place, name in enumerate(names)})
