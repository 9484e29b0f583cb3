"""Columns of a file as arrays, and arrays as a file: records that are handled one by one, such as people's answers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.errors import InputError, OutputError
from sudare.io import complaints
from sudare.io.engine import fetch_arrow, identifier, numpy_of, open_engine, told
from sudare.io.formats.text_files import AUTO
from sudare.io.relations import SourceRelation, open_relation
from sudare.io.source import Source
from sudare.storage.atomic import atomically

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["read_records", "write_arrow"]

MEMORY = "1GB"


def read_records(
    path: str | Path, columns: Sequence[str], encoding: str = AUTO, *, texts: Collection[str] = ()
) -> dict[str, NDArray[Any]]:
    r"""Some columns of files: texts as texts, numbers as numbers, dates as texts like 2020-01-31.

    Where the format has no types (CSV, Excel) a column is one of numbers if all of it prints back the same as numbers: codes such
    as 007 stay texts. Rows come in any order; the fields of a row stay together.

    Args:
        path: a file, a folder or a pattern.
        columns: which columns.
        encoding: of text files; ``"auto"`` tells it file by file.
        texts: columns that are texts whatever they look like, whole numbers as their digits: what one row holds must not change
            how another is read.

    Raises:
        InputError: if a file cannot be read, or a column is missing, has empty fields, or holds something else.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.io import read_records
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "answers.csv"
        ...     _ = file.write_text("age,code\n31,007\n45,010\n")
        ...     {name: column.tolist() for name, column in read_records(file, ["age", "code"]).items()}
        {'age': [31, 45], 'code': ['007', '010']}
    """
    import duckdb

    source, wanted = Source(str(path), encoding=encoding), list(dict.fromkeys(columns))
    with open_engine(MEMORY) as connection:
        relation: SourceRelation | None = None
        try:
            relation = open_relation(source, connection)
            relation.describe(connection)
            for name in wanted:
                if name not in relation.types:
                    raise complaints.missing_column(name, list(relation.types), relation.first_file(), asked=wanted)
            relation.check_files(wanted)
            chosen = ", ".join(identifier(name) for name in wanted)
            table = fetch_arrow(connection, f"SELECT {chosen} FROM {relation.rows(connection, wanted)}")  # noqa: S608
        except duckdb.Error as failure:
            if relation is not None and relation.failure is not None:
                raise relation.failure from None
            files, kind = (relation.files, relation.kind) if relation is not None else (source.paths, "data")
            raise told(failure, files, kind, memory=MEMORY, encoding=encoding, query=False) from None
    read = {name: _plain(table[name], name, is_text=relation.is_all_text and name not in texts) for name in wanted}
    return {name: values.astype(str) if name in texts else values for name, values in read.items()}


def _plain(column: Any, name: str, *, is_text: bool) -> NDArray[Any]:
    """A column as NumPy's numbers, truth values or texts."""
    import numpy as np
    import pyarrow as pa

    if column.null_count:
        raise complaints.missing_value(name, complaints.Spot())
    kind = column.type
    if pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    elif pa.types.is_temporal(kind):
        column = column.cast(pa.string())
    elif not any(
        fits(kind)
        for fits in (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_string, _is_long_text)
    ):
        raise InputError(
            f"The column {name!r} holds neither texts nor numbers.", f"列 {name!r} は文字列でも数値でもありません。"
        )
    values = numpy_of(column)
    if values.dtype.kind != "O":
        return values
    texts = np.asarray(values.tolist(), dtype=np.str_) if values.size else np.zeros(0, dtype=np.str_)
    return _numbers_if_the_same(texts) if is_text else texts


def _is_long_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_large_string(kind))


def _numbers_if_the_same(texts: NDArray[Any]) -> NDArray[Any]:
    """Numbers, if all of them print back as the texts were written: a code such as 007 is none."""
    import numpy as np

    for kind in (np.int64, np.float64):
        try:
            numbers: NDArray[Any] = texts.astype(kind)
        except (ValueError, OverflowError):
            continue
        printed = numbers.astype(np.str_)
        # In a column with decimals a whole number may be written without them.
        is_same = (printed == texts) | ((printed == np.char.add(texts, ".0")) if kind is np.float64 else False)
        if bool(is_same.all()) and bool(np.isfinite(numbers).all()):
            return numbers
    return texts


def write_arrow(path: str | Path, table: Any, *, replace: bool = False) -> None:
    """Write a table of pyarrow to a CSV or Parquet file, by its name; whole or not at all.

    Args:
        path: of the file.
        table: of pyarrow.
        replace: whether a file that is there is replaced.

    Raises:
        OutputError: if the name ends in something else, the file exists, or it cannot be written.
    """
    target = Path(path)
    if target.suffix not in (".csv", ".parquet"):
        raise OutputError(
            f"Tables are written to .csv or .parquet, not to {target.name!r}.",
            f"表の書き出し先は .csv か .parquet です。{target.name!r} には書けません。",
        )
    with atomically(target, replace=replace) as temporary:
        if target.suffix == ".parquet":
            import pyarrow.parquet as pq

            pq.write_table(table, temporary)
        else:
            from pyarrow import csv

            csv.write_csv(table, temporary)
