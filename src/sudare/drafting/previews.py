"""The first rows of a file, for whoever holds it and asks to see them. Nothing of them enters a draft."""

from __future__ import annotations

from collections.abc import Sequence

from sudare.drafting.columns import read_by_its_start
from sudare.io import Source
from sudare.io.engine import identifier, open_engine, told
from sudare.io.relations import open_relation
from sudare.io.source import files_and_format

__all__ = ["first_rows"]

MAX_TEXT = 60


def first_rows(source: Source, names: Sequence[str], number: int) -> list[list[str]]:
    """So many rows of a file as texts, long ones cut; no more of it is read.

    Raises:
        InputError: if the file cannot be read as a table.
    """
    import duckdb

    if not names:
        return []
    files, form = files_and_format(source)
    listed = ", ".join(identifier(name) for name in names)
    source = read_by_its_start(source, files, form)
    with open_engine() as connection:
        try:
            rows = open_relation(source, connection).rows(connection, list(names))
            statement = f"SELECT {listed} FROM ({rows}) LIMIT {number:d}"  # noqa: S608 - names are quoted
            found = connection.execute(statement).fetchall()
        except duckdb.Error as failure:
            raise told(failure, files, form, memory="1GB", encoding=source.encoding, query=False) from None
    return [["" if value is None else str(value)[:MAX_TEXT] for value in row] for row in found]
