"""Mesh codes (JIS X 0410): of a point, their bounds, what they are part of and what is part of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer

from sudare.cli.console.speaking import Speaker

if TYPE_CHECKING:
    from sudare.domain.mesh import MeshLevel

__all__ = ["bounds", "children", "code", "parent"]

BY_DIGITS: dict[int, str] = {4: "1", 6: "2", 7: "5x", 8: "3", 9: "1/2", 10: "1/4", 11: "1/8"}
LEVEL_OF_TWOS = "2x"
MAX_CHILDREN = 640**2

Code = Annotated[str, typer.Argument(metavar="CODE", show_default=False)]
ToLevel = Annotated[str, typer.Option("--level", "-l", metavar="LEVEL", show_default=False)]


@dataclass(frozen=True)
class _Cell:
    level: MeshLevel
    row: int
    column: int


def code(
    speaker: Speaker,
    latitude: Annotated[float, typer.Argument(metavar="LATITUDE", show_default=False)],
    longitude: Annotated[float, typer.Argument(metavar="LONGITUDE", show_default=False)],
    level: Annotated[str, typer.Option("--level", "-l", metavar="LEVEL")] = "3",
) -> None:
    """The mesh that a point lies in."""
    from sudare.domain.mesh import mesh_cells_of_points

    wanted = _typed_level(speaker, level)
    rows, columns = mesh_cells_of_points([latitude], [longitude], wanted)
    text = _text(_Cell(wanted, int(rows[0]), int(columns[0])))
    speaker.give({"code": text, "level": wanted.name}, text)


def bounds(speaker: Speaker, code: Code) -> None:
    """South, west, north and east of a mesh."""
    from sudare.cli.console.showing import facts

    cell = _read(speaker, code)
    names = ("south", "west", "north", "east")
    edges = dict(zip(names, cell.level.bounds(cell.row, cell.column), strict=True))
    speaker.give(
        {"code": code, "level": cell.level.name, **{name: float(edge) for name, edge in edges.items()}},
        facts((speaker.words(f"mesh.{name}"), _degrees(edge)) for name, edge in edges.items()),
    )


def parent(speaker: Speaker, code: Code, level: ToLevel) -> None:
    """The larger mesh that a mesh is part of."""
    cell, coarse = _read(speaker, code), _typed_level(speaker, level)
    ratio = _ratio(speaker, fine=cell.level, coarse=coarse)
    text = _text(_Cell(coarse, cell.row // ratio, cell.column // ratio))
    speaker.give({"code": code, "parent": text, "level": coarse.name}, text)


def children(speaker: Speaker, code: Code, level: ToLevel) -> None:
    """The smaller meshes that a mesh is made of, south-west first."""
    import numpy as np

    from sudare.domain.mesh import mesh_codes

    cell, fine = _read(speaker, code), _typed_level(speaker, level)
    ratio = _ratio(speaker, fine=fine, coarse=cell.level)
    columns = np.arange(cell.column * ratio, (cell.column + 1) * ratio)
    # Row by row: so few at once need no compiled loops, which take longer to load.
    rows = (np.full(ratio, row) for row in range(cell.row * ratio, (cell.row + 1) * ratio))
    texts = [f"{number:0{fine.digits}d}" for row in rows for number in mesh_codes(row, columns, fine).tolist()]
    speaker.give({"code": code, "children": texts, "level": fine.name}, "\n".join(texts))


def _typed_level(speaker: Speaker, text: str) -> MeshLevel:
    """The level of a name or a size, as plans take it.

    Raises:
        UsageError: if it is neither.
    """
    from sudare.domain.mesh import MESH_LEVELS, mesh_level
    from sudare.errors import ParameterError

    try:
        return mesh_level(text)
    except ParameterError:
        levels = ", ".join(f"{level.name} ({level.size})" for level in MESH_LEVELS.values())
        raise speaker.mistake("mesh.no_level", text=text[:40], levels=levels) from None


def _read(speaker: Speaker, code: str) -> _Cell:
    """The cell of a code, whose level follows from its length (and its last digit, where it has nine)."""
    from sudare.domain.mesh import mesh_cells, mesh_level

    if not (code.isascii() and code.isdigit() and len(code) in BY_DIGITS):
        raise speaker.mistake("mesh.no_code", code=code[:40])
    level = mesh_level(LEVEL_OF_TWOS if len(code) == 9 and code.endswith("5") else BY_DIGITS[len(code)])
    rows, columns = mesh_cells([code], level)
    return _Cell(level, int(rows[0]), int(columns[0]))


def _ratio(speaker: Speaker, *, fine: MeshLevel, coarse: MeshLevel) -> int:
    """How many cells of one level lie along a side of another's."""
    if fine.divisions % coarse.divisions:
        raise speaker.mistake("mesh.no_part", fine=fine.name, coarse=coarse.name)
    return fine.divisions // coarse.divisions


def _text(cell: _Cell) -> str:
    from sudare.domain.mesh import mesh_codes

    number = int(mesh_codes([cell.row], [cell.column], cell.level)[0])
    return f"{number:0{cell.level.digits}d}"


def _degrees(edge: Fraction) -> str:
    return f"{float(edge):.10f}".rstrip("0").rstrip(".")
