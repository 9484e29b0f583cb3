"""The same for files that are larger than memory: DuckDB reads them twice, and only counts come into memory.

The first reading groups the rows into their different combinations of quasi-identifying and sensitive values. The search runs
on these counts. The second reading replaces each value by its group, leaves out what must be suppressed, and writes the
result, which is then read once more and checked before it takes its name. Rows do not keep their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.errors import InputError, OutputError, ParameterError
from sudare.io import complaints
from sudare.io.atomic import atomically
from sudare.io.engine import fetch_arrow, identifier, literal, numpy_of, open_engine
from sudare.microdata.anonymizing import Search, check_request, satisfies, search, sensitive_names
from sudare.microdata.checking import Checked, Checker
from sudare.microdata.grouping import Tuples
from sudare.microdata.hierarchy import Generalization, without_place
from sudare.microdata.metrics import Metric
from sudare.microdata.models.model import Model
from sudare.microdata.models.sizes import KMap, Presence
from sudare.microdata.records import Records
from sudare.microdata.refusals import all_suppressed, broken, nothing_found, too_few
from sudare.parameters import Rational, shown

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

__all__ = ["AnonymizedFile", "anonymize_file"]

COUNT = "sudare count"
"""Name of the column of counts; with a space, so that it meets no usual one."""


@dataclass(frozen=True)
class AnonymizedFile:
    """A file that satisfies its models.

    Args:
        path: the file.
        models: that it satisfies.
        search: what was found.
    """

    path: Path
    models: tuple[Model, ...]
    search: Search


def anonymize_file(
    source: str | Path,
    target: str | Path,
    hierarchies: Mapping[str, Generalization],
    models: Sequence[Model],
    *,
    others: Sequence[str] | None = None,
    suppression: Rational = 0,
    metric: str | Metric = "loss",
    method: str = "optimal",
    time_limit: float | None = None,
    memory: str = "2GB",
    threads: int | None = None,
    replace: bool = False,
) -> AnonymizedFile:
    r"""Anonymize a file into another one; the target appears whole or not at all.

    Args:
        source: a .csv or .parquet file.
        target: a .csv or .parquet file.
        hierarchies: of the quasi-identifiers, by their names.
        models: all of them must hold; not k-map or presence.
        others: columns that are published as they are, besides the quasi-identifiers and the columns that models name. All
            others are, if left out: identifiers, too.
        suppression: the largest share of rows that may be left out.
        metric: what to lose little of.
        method: ``"optimal"`` or ``"heuristic"``.
        time_limit: seconds of the search.
        memory: that DuckDB may use.
        threads: that DuckDB may use.
        replace: whether the target may take the place of an existing file.

    Raises:
        InputError: if a column is missing, a value is not in its hierarchy, or nothing can be published.
        OutputError: if the target exists or cannot be written.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.microdata.hierarchy import Generalization
        >>> from sudare.microdata.large import anonymize_file
        >>> from sudare.microdata.models import KAnonymity
        >>> sex = Generalization.of_paths("sex", [("f", "*"), ("m", "*")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     people = Path(folder) / "people.csv"
        ...     _ = people.write_text("sex,ill\nf,no\nf,yes\nm,no\n")
        ...     result = anonymize_file(people, Path(folder) / "safe.csv", {"sex": sex}, [KAnonymity(2)])
        ...     (Path(folder) / "safe.csv").read_text().splitlines()[:2], dict(result.search.levels)
        (['sex,ill', '*,no'], {'sex': 1})
    """
    share = check_request(hierarchies, models, (), suppression, method, "removed")
    if method == "local" or any(isinstance(model, (KMap, Presence)) for model in models):
        raise ParameterError(
            "method", "anonymize_file", "optimal or heuristic, without k-map or presence", shown(method)
        )
    measured = metric if isinstance(metric, Metric) else Metric(metric)
    private = sensitive_names(models, ())
    with atomically(target, replace=replace) as temporary, open_engine(memory, threads) as connection:
        format_of(temporary)
        columns = _open(connection, source, "people")
        for name in [*hierarchies, *private, *(others or ())]:
            if name not in columns:
                raise complaints.missing_column(name, columns, str(source))
        if others is not None:
            columns = [name for name in columns if name in {*hierarchies, *private, *others}]
        with _told(source):
            for name, hierarchy in hierarchies.items():
                _check_values(connection, name, hierarchy)
            records, counts = _counted(connection, "people", [*hierarchies, *private])
        needs = max(model.smallest_size for model in models)
        if int(counts.sum()) < needs:
            raise too_few(needs)
        tuples = Tuples.of_rows(
            [records.column(name) for name in hierarchies],
            list(hierarchies.values()),
            [records.column(name) for name in private],
            counts=counts,
        )
        checker = Checker(tuples, models, measured, share, compare_with_published=True)
        found = search(checker, method, time_limit)
        if found.levels is None:
            raise nothing_found(found.is_optimal)
        checked = checker.check(found.levels)
        if not checked.kept.any():
            raise all_suppressed()
        with _told(source):
            _write(connection, columns, hierarchies, tuples, checked, temporary)
            _open(connection, temporary, "published")
            written, people = _counted(connection, "published", [*hierarchies, *private])
        if not satisfies(written, list(hierarchies), models, counts=people):
            raise broken()
    return AnonymizedFile(Path(target), tuple(models), Search.of(found, list(hierarchies)))


def format_of(path: str | Path) -> str:
    """How a file is read and written.

    Raises:
        OutputError: if it is neither .csv nor .parquet.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise OutputError(
            f"Large files of people are read and written as .csv or .parquet; the name ends in {suffix!r}.",
            f"大きな個票は .csv か .parquet で読み書きします。名前の末尾は {suffix!r} です。",
        )
    return suffix[1:]


@contextmanager
def _told(source: str | Path) -> Iterator[None]:
    """What DuckDB says of a failure may quote the data, so it is not passed on."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException:
        raise InputError(
            "The different combinations of values do not fit into the memory allowed. Allow more, or start from coarser values.",
            "値の組み合わせが許されたメモリに収まりません。メモリを増やすか、粗い値から始めてください。",
        ) from None
    except duckdb.Error:
        raise complaints.damaged(str(source), "CSV or Parquet") from None


def _open(connection: DuckDBPyConnection, path: str | Path, view: str) -> list[str]:
    """Make a view of a file with all values as texts; gives its columns."""
    if not Path(path).is_file():
        raise complaints.unreadable(str(path))
    file = literal(str(path))
    with _told(path):
        is_csv = format_of(path) == "csv"
        rows = f"read_csv({file}, header = true, all_varchar = true)" if is_csv else f"read_parquet({file})"
        columns: list[str] = connection.sql(f"SELECT * FROM {rows} LIMIT 0").columns  # noqa: S608 - names and texts are quoted
        texts = ", ".join(f"CAST({identifier(name)} AS VARCHAR) AS {identifier(name)}" for name in columns)
        connection.execute(f"CREATE OR REPLACE VIEW {view} AS SELECT {texts} FROM {rows}")  # noqa: S608 - names and texts are quoted
    return columns


def _check_values(connection: DuckDBPyConnection, name: str, hierarchy: Generalization) -> None:
    """Refuse a value that is not in its hierarchy, with its row."""
    column = f"coalesce({identifier(name)}, '')"
    values = [row[0] for row in connection.execute(f"SELECT DISTINCT {column} FROM people").fetchall()]  # noqa: S608 - names and texts are quoted
    unknown = sorted(set(values) - set(hierarchy.levels[0]))
    if not unknown:
        return
    connection.execute("SET preserve_insertion_order = true")
    numbered = f"SELECT row_number() OVER () AS place, {column} AS value FROM people"  # noqa: S608 - names and texts are quoted
    row = connection.execute(f"SELECT min(place) FROM ({numbered}) WHERE value = ?", [unknown[0]]).fetchone()  # noqa: S608 - names and texts are quoted
    place = row[0] if row else 0
    raise without_place(name, place, is_missing=unknown[0] == "")


def _counted(connection: DuckDBPyConnection, view: str, names: Sequence[str]) -> tuple[Records, NDArray[np.int64]]:
    """The different combinations of columns, and the number of rows of each, in an order of their own."""
    listed = ", ".join(identifier(name) for name in dict.fromkeys(names))
    # Sorted, because threads finish in any order and ties of a search must not depend on it.
    sql = f"SELECT {listed}, count(*)::BIGINT AS {identifier(COUNT)} FROM {view} GROUP BY ALL ORDER BY ALL"  # noqa: S608 - names and texts are quoted
    table = fetch_arrow(connection, sql)
    counts = numpy_of(table.column(COUNT)).astype(np.int64)
    return Records.of_arrow(table.drop_columns([COUNT])), counts


def _write(
    connection: DuckDBPyConnection,
    columns: Sequence[str],
    hierarchies: Mapping[str, Generalization],
    tuples: Tuples,
    checked: Checked,
    temporary: Path,
) -> None:
    """Write the generalized rows of all classes that are kept."""
    import duckdb
    import pyarrow as pa

    joins, labels = [], {}
    for number, ((name, hierarchy), level) in enumerate(zip(hierarchies.items(), checked.levels, strict=True)):
        leaves = list(hierarchy.levels[0])
        groups = [hierarchy.levels[level][group] for group in hierarchy.parents[level].tolist()]
        connection.register(f"levels{number}", pa.table({"leaf": leaves, "label": groups}))
        joins.append(f"JOIN levels{number} ON coalesce(people.{identifier(name)}, '') = levels{number}.leaf")
        labels[name] = f"levels{number}.label"
    gone = np.flatnonzero(~checked.kept & (checked.grouped.sizes > 0))
    if gone.size:
        table: dict[str, Any] = {}
        members = checked.grouped.members[gone]
        for number, (hierarchy, level) in enumerate(zip(hierarchies.values(), checked.levels, strict=True)):
            groups_of = hierarchy.parents[level][tuples.leaves[members, number]]
            table[f"label{number}"] = [hierarchy.levels[level][group] for group in groups_of.tolist()]
        connection.register("suppressed", pa.table(table))
        equal = " AND ".join(f"levels{number}.label = suppressed.label{number}" for number in range(len(hierarchies)))
        joins.append(f"ANTI JOIN suppressed ON {equal}")
    chosen = ", ".join(
        f"nullif({labels[name]}, '') AS {identifier(name)}" if name in labels else f"people.{identifier(name)}"
        for name in columns
    )
    form = "FORMAT csv, HEADER true" if format_of(temporary) == "csv" else "FORMAT parquet"
    query = f"SELECT {chosen} FROM people {' '.join(joins)}"  # noqa: S608 - names and texts are quoted
    try:
        connection.execute(f"COPY ({query}) TO {literal(str(temporary))} ({form})")
    except duckdb.IOException:
        raise OutputError(
            "The result could not be written: the disk is full, or a file could not be read to its end.",
            "結果を書けませんでした。ディスクに空きがないか、ファイルを最後まで読めませんでした。",
        ) from None
