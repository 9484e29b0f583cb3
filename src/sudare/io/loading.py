"""One call for every format: what a source holds, and its counts as a table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sudare.bilingual import Words
from sudare.domain import CountTable, Domain, SignedTable
from sudare.domain.domain import read_domain
from sudare.errors import ParameterError
from sudare.io.bounding import FIXED_KEY, ContributionBounds, Selection, read_selection_key
from sudare.io.counting import Defaults, PeopleLeftOut, count_rows, read_signed_rows
from sudare.io.engine import Progress, open_engine, told
from sudare.io.formats.estat import estat_columns, read_estat
from sudare.io.formats.geotiff import require_rasters
from sudare.io.relations import open_relation
from sudare.io.source import Source, SourceInfo, files_and_format
from sudare.parameters import exact_integer, shown

__all__ = ["describe_source", "read_counts", "read_signed"]

PEOPLE_FLOW = Defaults(
    "counts", count="population", mesh="mesh1kmid", separating=("year", "month", "dayflag", "timezone")
)
"""The open data on flows of people of the whole country: one row for each mesh, year, month, kind of day and time of day."""

ARGUMENTS = {"rows": "rows_per_person", "cells": "cells_per_person", "rows_per_cell": "rows_per_cell"}
DIGEST = re.compile(r"[0-9a-f]{64}")


def read_counts(
    source: Source,
    domain: Domain,
    *,
    rows_per_person: int | None = None,
    cells_per_person: int | None = None,
    rows_per_cell: int | None = None,
    opted_out: tuple[str, frozenset[str]] | None = None,
    selection_key: str = FIXED_KEY,
    memory: str = "1GB",
    threads: int | None = None,
    progress: Progress | None = None,
) -> CountTable:
    r"""Read a source into a table of counts.

    The result does not depend on the order of files or rows, nor on the number of threads.

    Args:
        source: where the data is.
        domain: the cells; its attributes are named like the columns, or ``source.columns`` says how.
        rows_per_person: how many rows of one person count, at most, where the source names a column of persons; 1 if left
            out. Which ones depends on that person's rows only.
        cells_per_person: in how many different cells a person counts, at most; in as many as there are rows if left out.
        rows_per_cell: how many rows of a person in one cell count, at most; 1 where cells are limited (then the table holds
            distinct people per cell), else as many as there are rows.
        opted_out: a salt and SHA-256 digests (hexadecimal) of salt, null character and person; their rows are left out.
        selection_key: 64 hexadecimal digits, by which it is decided which rows of a person count where there are too many. A
            release has a key of its own.
        memory: how much the engine may use; what does not fit goes to a private temporary folder.
        threads: how many threads; all processors if left out.
        progress: called with a share from 0 to 1 and a word, now and then.

    Raises:
        InputError: if a file is not what was announced; it names file, column and row, and never a count.
        ParameterError: if the arguments do not go together.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.domain import Category, Domain
        >>> from sudare.io import Source, read_counts
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "people.csv"
        ...     _ = file.write_text("id,sex\n1,f\n2,m\n3,f\n")
        ...     read_counts(Source(str(file)), Domain((Category("sex", ("f", "m")),))).to_dense()
        array([2, 1])
    """
    _check_source(source, "read_counts")
    read_domain(domain, "read_counts")
    limits = {"rows": rows_per_person, "cells": cells_per_person, "rows_per_cell": rows_per_cell}
    bounds, people = read_bounds(source, limits, opted_out)
    files, form = files_and_format(source)
    if form in ("e-stat", "people-flow", "geotiff") and source.person is not None:
        raise ParameterError(
            "person",
            "Source",
            Words(f"left out: {form} files hold counts", f"省略（{form} ファイルの中身は度数のため）"),
            source.person,
        )
    if form == "e-stat":
        return read_estat(source, domain, files, threads, progress)
    if form == "geotiff":
        from sudare.io.formats.geotiff import read_geotiff

        return read_geotiff(files, domain, CountTable)
    return count_rows(
        source,
        domain,
        defaults_of(source, form),
        chosen=Selection(bounds, read_selection_key(selection_key, "read_counts")),
        opted_out=people,
        memory=memory,
        threads=threads,
        progress=progress,
    )


def defaults_of(source: Source, form: str) -> Defaults:
    """What a format brings with it: which rows are counts, and which columns hold them."""
    return PEOPLE_FLOW if form == "people-flow" else Defaults(source.rows)


def read_signed(source: Source, domain: Domain) -> SignedTable:
    r"""Read a published signed table back: noisy counts, of which some are negative.

    Args:
        source: where it is: a file with a row for each cell that is not 0, or a raster.
        domain: the cells.

    Raises:
        InputError: if a file is not what was announced.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.domain import Domain, Positions, SignedTable
        >>> from sudare.io import Source, read_signed, write_table
        >>> table = SignedTable.from_dense([3, 0, -2], Domain((Positions("place", 3),)))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = write_table(table, Path(folder) / "signed.csv")
        ...     read_signed(Source(str(file), rows="counts"), table.domain) == table
        True
    """
    _check_source(source, "read_signed")
    read_domain(domain, "read_signed")
    files, form = files_and_format(source)
    if form == "geotiff":
        from sudare.io.formats.geotiff import read_geotiff

        return read_geotiff(files, domain, SignedTable)
    return read_signed_rows(source, domain)


def _check_source(source: object, function: str) -> None:
    if not isinstance(source, Source):
        raise ParameterError("source", function, "a Source", shown(source))


def read_bounds(
    source: Source, limits: Mapping[str, int | None], opted_out: tuple[str, frozenset[str]] | None
) -> tuple[ContributionBounds, PeopleLeftOut | None]:
    given = {name: value for name, value in limits.items() if value is not None}
    if source.person is None:
        for name, value in (*((ARGUMENTS[name], value) for name, value in given.items()), ("opted_out", opted_out)):
            if value is not None:
                requirement = Words(
                    "left out unless the source names the column of persons (person=...)",
                    "人を区別する列（person=...）がない場合は省略",
                )
                raise ParameterError(name, "read_counts", requirement, shown(value))
        return ContributionBounds(), None
    for name, value in given.items():
        exact_integer(value, ARGUMENTS[name], "read_counts", Words("a whole number >= 1", "1 以上の整数"), smallest=1)
    bounds = ContributionBounds(**given)
    if opted_out is None:
        return bounds, None
    requirement = Words(
        "a salt and a set of SHA-256 digests of 64 hexadecimal digits",
        "ソルトと、SHA-256 のハッシュ（16 進数 64 桁）の集合",
    )
    if not isinstance(opted_out, tuple) or len(opted_out) != 2 or not isinstance(opted_out[0], str):
        raise ParameterError("opted_out", "read_counts", requirement, shown(opted_out))
    digests = frozenset(str(digest).lower() for digest in opted_out[1])
    if not all(DIGEST.fullmatch(digest) for digest in digests):
        raise ParameterError("opted_out", "read_counts", requirement, shown(opted_out))
    return bounds, PeopleLeftOut(opted_out[0], digests)


def describe_source(source: Source) -> SourceInfo:
    r"""What a source holds: format, files, columns, size. The data is not read.

    Args:
        source: to look at; nothing is counted.

    Raises:
        InputError: if there are no such files, they are of several formats, or damaged.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.io import Source, describe_source
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "people.csv"
        ...     _ = file.write_text("id,sex\n1,f\n")
        ...     describe_source(Source(str(file))).columns
        ('id', 'sex')
    """
    import duckdb

    _check_source(source, "describe_source")
    files, form = files_and_format(source)
    size = sum(Path(file).stat().st_size for file in files)
    if form == "geotiff":
        require_rasters(files)
        return SourceInfo(form, files, (), size)
    if form == "e-stat":
        return SourceInfo(form, files, estat_columns(files[0]), size)
    with open_engine() as connection:
        try:
            columns = tuple(open_relation(source, connection).types)
        except duckdb.Error as failure:
            raise told(
                failure, files, form, memory="1GB", encoding=source.encoding, query=source.query is not None
            ) from None
    return SourceInfo(form, files, columns, size)
