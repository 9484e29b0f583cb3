"""One call: a release folder in, a new version of a table in a lakehouse, by one commit or not at all."""

from __future__ import annotations

from pathlib import Path

from sudare.errors import OutputError
from sudare.export.export_words import INSIDE
from sudare.export.format import Committed
from sudare.export.lake_rows import read_rows
from sudare.export.registry import lake_format_named

__all__ = ["commit_release"]


def commit_release(
    format: str,  # noqa: A002 - the word that users know
    folder: str | Path,
    *,
    out: str | Path,
    table: str | None = None,
) -> Committed:
    """Commit the rows of a published release to a table of a lakehouse, as a version that replaces the one before.

    A release that the table has or had is not committed again, so that a call can be repeated. Until the commit, and if there is
    none, readers find the version before. Nothing is read but published files.

    Args:
        format: delta or iceberg.
        folder: of the release.
        out: the table. Of Delta a folder, or an address such as ``s3://bucket/people``; of Iceberg ``WAREHOUSE/NAMESPACE.TABLE``,
            or ``CATALOG:NAMESPACE.TABLE`` with a catalog of your configuration of pyiceberg.
        table: which of several tables of the release, by its name.

    Returns:
        Which version of the table has the release.

    Raises:
        InputError: if it is no release, its files are not those that it lists, or there is no such table.
        OutputError: if the place is none, the table has other columns, or it cannot be written; then nothing is committed.
        ParameterError: if there is no such format.
        MissingPackageError: if a package is missing.
    """
    chosen = lake_format_named(format)
    source, place = Path(folder), str(out)
    if "://" not in place and Path(place).resolve().is_relative_to(source.resolve()):
        raise OutputError(INSIDE.format(file=place))
    return chosen.commit(read_rows(source, table), place)
