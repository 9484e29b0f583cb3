"""What a plan reads: records, a finished table, files of tau-ARGUS, or meshes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sudare.domain import mesh_level
from sudare.errors import SudareError
from sudare.releases.kinds.tables.planning.dimension_plan import texts_of
from sudare.sections import Section

__all__ = [
    "ALL_INPUT_KEYS",
    "KINDS",
    "ArgusInput",
    "CellsInput",
    "Input",
    "MeshInput",
    "RecordsInput",
    "read_input",
]

KINDS: dict[str, tuple[str, ...]] = {
    "records": (
        "path",
        "encoding",
        "value",
        "decimals",
        "weight",
        "holding",
        "request",
        "asks",
    ),
    "cells": ("path", "encoding", "value", "decimals", "contributors", "largest"),
    "tau-argus": ("path", "metadata", "value", "holdings", "weights", "apriori"),
    "meshes": ("path", "encoding", "mesh", "level", "population", "values"),
}
"""What each kind of input may say."""

ALL_INPUT_KEYS = ("kind", *dict.fromkeys(key for keys in KINDS.values() for key in keys))
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
    """

    path: Path
    encoding: str
    value: str | None
    decimals: int | None
    weight: str | None
    holding: str | None
    request: str | None
    asks: tuple[str, ...]


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
    """

    path: Path | None
    encoding: str
    value: str
    decimals: int | None
    contributors: str | None
    largest: tuple[str, ...]


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
    """

    path: Path
    encoding: str
    mesh: str
    level: str
    population: str
    values: tuple[str, ...]


Input = RecordsInput | CellsInput | ArgusInput | MeshInput


def read_input(section: Section, base: Path, *, tables_have_paths: bool) -> Input:
    """Read ``[input]``.

    Args:
        section: of the plan.
        base: the folder that paths are meant from.
        tables_have_paths: whether each of the tables names a file of its own.

    Raises:
        PlanError: if it says what cannot be, or a key of another kind.
    """
    kind = section.choice("kind", tuple(KINDS), "records")
    for key in ALL_INPUT_KEYS[1:]:
        if section.has(key) and key not in KINDS[kind]:
            owners = " / ".join(f'"{name}"' for name, keys in KINDS.items() if key in keys)
            section.refuse(key, f"belongs to kind {owners}", f"は kind {owners} のキーです")
    readers: dict[str, Callable[[], Input]] = {
        "records": lambda: _read_records(section, base),
        "cells": lambda: _read_cells(section, base, tables_have_paths),
        "tau-argus": lambda: _read_argus(section, base),
        "meshes": lambda: _read_meshes(section, base),
    }
    found = readers[kind]()
    section.finish()
    return found


def _read_records(section: Section, base: Path) -> RecordsInput:
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
    return RecordsInput(path, encoding, value, decimals, weight, holding, request, asks)


def _read_cells(section: Section, base: Path, tables_have_paths: bool) -> CellsInput:
    path = None if tables_have_paths and not section.has("path") else base / section.text("path")
    encoding, value, decimals = section.text("encoding", "auto"), section.text("value"), _decimals(section)
    contributors = _optional(section, "contributors")
    largest = texts_of(section, "largest") if section.has("largest") else ()
    if largest and contributors is None:
        section.refuse("contributors", "is needed with 'largest'", "が「largest」には必要です")
    return CellsInput(path, encoding, value, decimals, contributors, largest)


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
        section.refuse(key, "is for records, not for a .tab file", "は記録のためのもので、.tab ファイルには使えません")
    return found


def _read_meshes(section: Section, base: Path) -> MeshInput:
    path, encoding = base / section.text("path"), section.text("encoding", "auto")
    mesh, level = section.text("mesh"), section.text("level")
    try:
        mesh_level(level)
    except SudareError as error:
        section.refuse("level", f"is no mesh level: {error}", f"はメッシュの段階ではありません: {error}")
    values = texts_of(section, "values")
    population = section.text("population")
    if population in values:
        section.refuse(
            "values", f"names '{population}', which is the population", f"に人口の列「{population}」があります"
        )
    return MeshInput(path, encoding, mesh, level, population, values)


def _optional(section: Section, key: str) -> str | None:
    return section.text(key) if section.has(key) else None


def _decimals(section: Section) -> int | None:
    if not section.has("decimals"):
        return None
    digits = section.whole("decimals")
    if not 0 <= digits <= MAX_DECIMALS:
        section.refuse("decimals", f"must be from 0 to {MAX_DECIMALS}", f"は 0 から {MAX_DECIMALS} までです")
    return digits
