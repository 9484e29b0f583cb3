"""What a plan reads: records, a finished table, files of tau-ARGUS, or meshes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sudare.domain import mesh_level
from sudare.errors import ParameterError
from sudare.releases.header import SOURCE_KEYS
from sudare.releases.kinds.tables.planning.dimension_plan import texts_of
from sudare.sections import Section

__all__ = [
    "ALL_SOURCE_KEYS",
    "SHAPES",
    "ArgusInput",
    "CellsInput",
    "Input",
    "MeshInput",
    "RecordsInput",
    "read_input",
]

ARGUS = "tau-argus"
FORMATS = ("auto", "csv", "parquet", "arrow", "xlsx", "gpkg", ARGUS)
SHAPES: dict[str, tuple[str, ...]] = {
    "records": (*SOURCE_KEYS, "value", "decimals", "weight", "holding", "request", "asks"),
    "cells": (*SOURCE_KEYS, "value", "decimals", "contributors", "largest"),
    ARGUS: ("path", "format", "metadata", "value", "holdings", "weights", "apriori"),
    "meshes": (*SOURCE_KEYS, "mesh", "level", "population", "values"),
}
"""What may be said of each sort of rows, and of files of tau-ARGUS, whose metadata tells what their rows are."""

ROWS = tuple(name for name in SHAPES if name != ARGUS)
ALL_SOURCE_KEYS = (
    *SOURCE_KEYS,
    "rows",
    *dict.fromkeys(key for keys in SHAPES.values() for key in keys if key not in SOURCE_KEYS),
)
MAX_DECIMALS = 9


@dataclass(frozen=True)
class RecordsInput:
    """A file with a row for each record.

    Attributes:
        path: CSV, Parquet or Arrow.
        encoding: of text files.
        value: the column of magnitudes; None for a table of counts.
        decimals: digits after the point; None for as many as the data has.
        weight: the column of sampling weights.
        holding: the column that says who contributes, where records belong to holdings.
        request: the column that says who asked for protection, and the texts in it that mean so.
        asks: these texts.
        format: of the file, ``"auto"`` where its name tells it.
    """

    path: Path
    encoding: str
    value: str | None
    decimals: int | None
    weight: str | None
    holding: str | None
    request: str | None
    asks: tuple[str, ...]
    format: str = "auto"


@dataclass(frozen=True)
class CellsInput:
    """A finished table with a row for each cell, totals included; cells without a row are empty.

    Attributes:
        path: CSV, Parquet or Arrow; None if every table names its own.
        encoding: of text files.
        value: the column of values.
        decimals: digits after the point; None for as many as the data has.
        contributors: the column of the number of contributors; None if the values are counts of contributors.
        largest: the columns of the largest contributions, the largest first.
        format: of the file, ``"auto"`` where its name tells it.
    """

    path: Path | None
    encoding: str
    value: str
    decimals: int | None
    contributors: str | None
    largest: tuple[str, ...]
    format: str = "auto"


@dataclass(frozen=True)
class ArgusInput:
    """Files of tau-ARGUS.

    Attributes:
        path: records (.asc) or a table (.tab).
        metadata: the .rda file.
        value: the variable of magnitudes; None for a table of counts.
        holdings: whether the variable marked <HOLDING> says who contributes.
        weights: whether the variable marked <WEIGHT> weighs the records.
        apriori: an .hst file.
    """

    path: Path
    metadata: Path
    value: str | None
    holdings: bool
    weights: bool
    apriori: Path | None

    @property
    def is_table(self) -> bool:
        """Whether it is a finished table."""
        return self.path.suffix.lower() == ".tab"


@dataclass(frozen=True)
class MeshInput:
    """Meshes, with the people and the attributes of each.

    Attributes:
        path: CSV, Parquet or Arrow.
        encoding: of text files.
        mesh: the column of mesh codes.
        level: of the codes, such as ``"1/2"``.
        population: the column of people, published for every mesh.
        values: columns of attributes.
        format: of the file, ``"auto"`` where its name tells it.
    """

    path: Path
    encoding: str
    mesh: str
    level: str
    population: str
    values: tuple[str, ...]
    format: str = "auto"


Input = RecordsInput | CellsInput | ArgusInput | MeshInput


def read_input(section: Section, base: Path, *, tables_have_paths: bool) -> Input:
    """Read ``[source]``.

    Args:
        section: of the plan.
        base: the folder that paths are meant from.
        tables_have_paths: whether each of the tables names a file of its own.

    Raises:
        PlanError: if it says what cannot be, or a key of other rows.
    """
    form = section.choice("format", FORMATS, "auto")
    if form == ARGUS and section.has("rows"):
        section.refuse("rows", 'must be left out with format = "tau-argus"', 'は format = "tau-argus" では不要です')
    shape = ARGUS if form == ARGUS else section.choice("rows", ROWS, ROWS[0])
    for key in ALL_SOURCE_KEYS:
        if section.has(key) and key not in SHAPES[shape]:
            owners = " / ".join(_as_typed(name) for name, keys in SHAPES.items() if key in keys)
            section.refuse(key, f"belongs to {owners}", f"は {owners} のキーです")
    readers: dict[str, Callable[[], Input]] = {
        "records": lambda: _read_records(section, base, form),
        "cells": lambda: _read_cells(section, base, form, tables_have_paths),
        ARGUS: lambda: _read_argus(section, base),
        "meshes": lambda: _read_meshes(section, base, form),
    }
    found = readers[shape]()
    section.finish()
    return found


def _as_typed(shape: str) -> str:
    return f'format = "{shape}"' if shape == ARGUS else f'rows = "{shape}"'


def _read_records(section: Section, base: Path, form: str) -> RecordsInput:
    path, encoding = base / section.text("path"), section.text("encoding", "auto")
    value, decimals = _optional(section, "value"), _decimals(section)
    weight, holding, request = (_optional(section, key) for key in ("weight", "holding", "request"))
    asks = texts_of(section, "asks") if section.has("asks") else ()
    if weight is not None and holding is not None:
        section.refuse(
            "holding",
            "cannot stand beside 'weight': a holding's records would have to carry one weight",
            "は「weight」と同時に使えません",
        )
    if (request is None) != (not asks):
        section.refuse(
            "request", "and 'asks' go together: the column, and the texts that mean yes", "と「asks」は一緒に指定します"
        )
    return RecordsInput(path, encoding, value, decimals, weight, holding, request, asks, form)


def _read_cells(section: Section, base: Path, form: str, tables_have_paths: bool) -> CellsInput:
    path = None if tables_have_paths and not section.has("path") else base / section.text("path")
    encoding, value, decimals = section.text("encoding", "auto"), section.text("value"), _decimals(section)
    contributors = _optional(section, "contributors")
    largest = texts_of(section, "largest") if section.has("largest") else ()
    if largest and contributors is None:
        section.refuse("contributors", "is needed with 'largest'", "が「largest」には必要です")
    return CellsInput(path, encoding, value, decimals, contributors, largest, form)


def _read_argus(section: Section, base: Path) -> ArgusInput:
    path, metadata = base / section.text("path"), base / section.text("metadata")
    value = _optional(section, "value")
    holdings, weights = section.flag("holdings", False), section.flag("weights", False)
    apriori = base / section.text("apriori") if section.has("apriori") else None
    found = ArgusInput(path, metadata, value, holdings, weights, apriori)
    if found.is_table and value is None:
        section.refuse("value", "is needed for a .tab file", "が .tab ファイルには必要です")
    if found.is_table and (holdings or weights):
        key = "holdings" if holdings else "weights"
        section.refuse(
            key, "is for records, not for a .tab file", "はレコードのためのもので、.tab ファイルには使えません"
        )
    return found


def _read_meshes(section: Section, base: Path, form: str) -> MeshInput:
    path, encoding = base / section.text("path"), section.text("encoding", "auto")
    mesh, level = section.text("mesh"), section.text("level")
    try:
        level = mesh_level(level).name
    except ParameterError as error:
        wanted = error.requirement_words
        section.refuse("level", f"must be {wanted.english}", f"は{wanted.japanese}")
    values = texts_of(section, "values")
    population = section.text("population")
    if population in values:
        section.refuse(
            "values", f"names '{population}', which is the population", f"に人口の列「{population}」があります"
        )
    return MeshInput(path, encoding, mesh, level, population, values, form)


def _optional(section: Section, key: str) -> str | None:
    return section.text(key) if section.has(key) else None


def _decimals(section: Section) -> int | None:
    if not section.has("decimals"):
        return None
    digits = section.whole("decimals")
    if not 0 <= digits <= MAX_DECIMALS:
        section.refuse("decimals", f"must be from 0 to {MAX_DECIMALS}", f"は 0 から {MAX_DECIMALS} までです")
    return digits
