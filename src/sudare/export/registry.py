"""All formats by name. One is loaded when it is first used: naming them loads none.

A new format is a module with an object (`sudare.export.format.ExportFormat`) and one line here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.parameters import shown

if TYPE_CHECKING:
    from sudare.export.format import ExportFormat

__all__ = ["export_format_named", "export_format_names", "register_export_format"]

_HOMES: dict[str, str] = {
    "sdmx": "sudare.export.formats.sdmx:SDMX",
    "px": "sudare.export.formats.px:PX",
    "json-stat": "sudare.export.formats.jsonstat:JSON_STAT",
    "opendp-registry": "sudare.export.formats.deployments:DEPLOYMENT_RECORD",
    "xlsx": "sudare.export.formats.excel:EXCEL",
    "gpkg": "sudare.export.formats.geopackage:GEOPACKAGE",
}
"""The module of each format, and what its object is called there."""


def export_format_names() -> tuple[str, ...]:
    """Of all formats, in the order in which they are listed for people."""
    return tuple(_HOMES)


def export_format_named(name: str) -> ExportFormat:
    """A format by its name.

    Raises:
        ParameterError: if there is none.

    Example:
        >>> export_format_named("px").suffix
        '.px'
    """
    if name not in _HOMES:
        listed = ", ".join(_HOMES)
        requirement = Words(f"one of {listed}", f"{listed} のいずれか")
        raise ParameterError("format", "export_release", requirement, shown(name))
    module, _, attribute = _HOMES[name].partition(":")
    found: ExportFormat = getattr(import_module(module), attribute)
    return found


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
