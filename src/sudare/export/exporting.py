"""One call: a release folder in, a file of any format out, whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sudare.errors import OutputError
from sudare.export.export_words import INSIDE
from sudare.export.folders import describe_folder
from sudare.export.registry import export_format_named
from sudare.storage.atomic import atomically

__all__ = ["Exported", "export_release"]


@dataclass(frozen=True)
class Exported:
    """A file that was written.

    Attributes:
        file: where it is.
        format: its format.
        bytes: its size.
    """

    file: Path
    format: str
    bytes: int


def export_release(
    format: str,  # noqa: A002 - the word that users know
    folder: str | Path,
    *,
    out: str | Path | None = None,
    table: str | None = None,
) -> Exported:
    """Write a published release in a format that other offices read.

    Title, publisher, dimensions and what protects the people in it come from the release. Nothing is read but its published
    files; neither the data nor a ledger is opened.

    Args:
        format: sdmx, px, json-stat, opendp-registry, xlsx or gpkg.
        folder: of the release.
        out: the file; beside the folder, with its name and the format's suffix, if left out.
        table: which of several tables, by its name.

    Returns:
        What was written.

    Raises:
        InputError: if it is no release, its files are not those that it lists, or there is no such table.
        OutputError: if the format cannot hold it, or the file exists or cannot be written; then nothing is.
        ParameterError: if there is no such format.
        MissingPackageError: if a package is missing.
    """
    chosen = export_format_named(format)
    place = Path(folder)
    target = usual_target(place, chosen.suffix) if out is None else Path(out)
    if target.resolve().is_relative_to(place.resolve()):
        raise OutputError(INSIDE.format(file=target))
    publication = describe_folder(place, table)
    chosen.require_room(publication)
    with atomically(target) as temporary:
        chosen.write(publication, temporary)
    return Exported(target, format, target.stat().st_size)


def usual_target(folder: Path, suffix: str) -> Path:
    """The file beside a folder that has its name."""
    place = folder.resolve()
    return place.with_name(place.name + suffix)
