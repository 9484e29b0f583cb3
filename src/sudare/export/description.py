"""What is published, as every format needs it: typed, without a place on a disk, made from a release folder alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Language, Words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sudare.domain import Mesh

__all__ = ["ErrorOfSums", "ExportableRows", "Fact", "PublicationHead", "PublishedCube", "SpanningDimension"]


@dataclass(frozen=True)
class Fact:
    """Something to know about a release.

    Attributes:
        key: a short name for programs.
        label: the same for people.
        value: in both languages.
    """

    key: str
    label: Words
    value: Words


@dataclass(frozen=True)
class ErrorOfSums:
    """How far published sums of one kind are expected to be from the true ones.

    Attributes:
        what: is summed.
        rmse: the root of the mean squared error: the standard error of such a sum.
        low: the lower end of the interval that it is expected in for one release.
        high: the upper end.
        confidence: of the interval, in percent.
        is_of_cells: whether these are the cells themselves.
    """

    what: Words
    rmse: float
    low: float
    high: float
    confidence: int
    is_of_cells: bool


@dataclass(frozen=True, kw_only=True)
class PublicationHead:
    """What is told with every publication.

    Attributes:
        name: of the folder, for names of files and identifiers.
        title: as the plan has it.
        publisher: likewise.
        description: likewise.
        created: when it was published, in UTC, such as ``"2026-04-01T09:00:00Z"``.
        language: that the title is written in.
        guarantee: what protects the people in it, in sentences.
        facts: for a cover sheet.
        errors: from the cells to the total, where they were predicted.
        deployment: what a registry of deployments asks for, as the document states it; None without differential privacy.
        versions: of the software that made it.
    """

    name: str
    title: str
    publisher: str
    description: str
    created: str
    language: Language
    guarantee: tuple[Words, ...]
    facts: tuple[Fact, ...]
    errors: tuple[ErrorOfSums, ...] = ()
    deployment: Mapping[str, Any] | None = None
    versions: Mapping[str, str]

    @property
    def other_language(self) -> Language:
        """The language that the title is not written in."""
        return "en" if self.language == "ja" else "ja"

    @property
    def error_of_cells(self) -> ErrorOfSums | None:
        """The expected error of a single cell, where it was predicted."""
        return next((one for one in self.errors if one.is_of_cells), None)


@dataclass(frozen=True, kw_only=True)
class SpanningDimension:
    """One side of a table.

    Attributes:
        name: as the plan has it.
        codes: of its values; no two are the same.
        labels: of the same values, for people.
        is_geographic: whether its values are places.
        is_time: whether they are points of time.
        parents: the place of the value that each one is part of, -1 at the top; None where no value is part of another.
        is_partial: whether the domain has further values, which all are published as 0.
    """

    name: str
    codes: tuple[str, ...]
    labels: tuple[str, ...]
    is_geographic: bool = False
    is_time: bool = False
    parents: tuple[int, ...] | None = None
    is_partial: bool = False

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, kw_only=True, eq=False)
class PublishedCube:
    """A published table. Cells that are not listed are 0.

    Attributes:
        head: title, publisher, guarantee.
        dimensions: that span it.
        value_name: what the numbers are.
        decimals: digits after the point.
        places: of the listed cells along each dimension, in ascending order of the cells.
        values: of the listed cells, in units of ``10 ** -decimals``; 0 where hidden.
        hidden: which of the listed cells are not shown.
        mesh: where the first geographic dimension is a mesh, its window.
        mesh_axis: which dimension it is.
        mesh_cells: row and column of each of its values in the window.
    """

    head: PublicationHead
    dimensions: tuple[SpanningDimension, ...]
    value_name: str
    decimals: int
    places: tuple[NDArray[np.int64], ...]
    values: NDArray[np.int64]
    hidden: NDArray[np.bool_]
    mesh: Mesh | None = None
    mesh_axis: int = -1
    mesh_cells: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Values of each dimension."""
        return tuple(len(one) for one in self.dimensions)

    @property
    def cells(self) -> int:
        """All cells, the listed ones and those that are 0."""
        return prod(self.shape)


@dataclass(frozen=True, kw_only=True, eq=False)
class ExportableRows:
    """Published records.

    Attributes:
        head: title, publisher, guarantee.
        columns: names of the columns.
        rows: as the published file has them.
    """

    head: PublicationHead
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
