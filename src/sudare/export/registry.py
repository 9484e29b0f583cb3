"""All formats by name. One is loaded when it is first used: naming them loads none.

A new format is a module with an object (`sudare.export.format.ExportFormat`, or `LakeFormat`) and one line here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.parameters import shown

if TYPE_CHECKING:
    from sudare.export.format import ExportFormat, LakeFormat

__all__ = [
    "export_format_named",
    "export_format_names",
    "lake_format_named",
    "lake_format_names",
    "register_export_format",
]

_HOMES: dict[str, str] = {
    "sdmx": "sudare.export.formats.sdmx:SDMX",
    "px": "sudare.export.formats.px:PX",
    "json-stat": "sudare.export.formats.jsonstat:JSON_STAT",
    "opendp-registry": "sudare.export.formats.deployments:DEPLOYMENT_RECORD",
    "xlsx": "sudare.export.formats.excel:EXCEL",
    "gpkg": "sudare.export.formats.geopackage:GEOPACKAGE",
}
"""The module of each format, and what its object is called there."""

_LAKE_HOMES: dict[str, str] = {
    "delta": "sudare.export.formats.delta:DELTA",
    "iceberg": "sudare.export.formats.iceberg:ICEBERG",
}
"""The same of tables in lakehouses."""


def export_format_names() -> tuple[str, ...]:
    """Of all formats of files, in the order in which they are listed for people."""
    return tuple(_HOMES)


def lake_format_names() -> tuple[str, ...]:
    """Of all formats of tables in lakehouses."""
    return tuple(_LAKE_HOMES)


def export_format_named(name: str) -> ExportFormat:
    """A format by its name.

    Raises:
        ParameterError: if there is none.

    Example:
        >>> export_format_named("px").suffix
        '.px'
    """
    found: ExportFormat = _load(name, _HOMES, "export_release")
    return found


def lake_format_named(name: str) -> LakeFormat:
    """A format of tables in lakehouses by its name.

    Raises:
        ParameterError: if there is none.

    Example:
        >>> lake_format_named("delta").words.english
        'a version of a Delta table, which Spark, DuckDB and polars read'
    """
    found: LakeFormat = _load(name, _LAKE_HOMES, "commit_release")
    return found


def _load(name: str, homes: dict[str, str], function: str) -> Any:
    if name not in homes:
        listed = ", ".join(homes)
        requirement = Words(f"one of {listed}", f"{listed} のいずれか")
        raise ParameterError("format", function, requirement, shown(name))
    module, _, attribute = homes[name].partition(":")
    return getattr(import_module(module), attribute)


def register_export_format(name: str, home: str) -> None:
    """Make a format known. Repeating it changes nothing.

    Args:
        name: as it is typed.
        home: its module, a colon, and what its object is called there.

    Raises:
        ValueError: if another format has the name.
    """
    if _HOMES.get(name, home) != home:
        raise ValueError(f"the name {name!r} is taken")
    _HOMES[name] = home
