"""Anonymizing files that are larger than memory: DuckDB reads them twice, and only counts come into memory.

The first reading groups the rows into their different combinations of quasi-identifying and sensitive values (`large_counts`).
The search runs on these counts. The second reading replaces each value by its group, leaves out what must be suppressed, and
writes the result, which is then read once more and checked before it takes its name. Rows do not keep their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.errors import OutputError, ParameterError
from sudare.io.engine import identifier, literal
from sudare.microdata.grouping import Tuples
from sudare.microdata.hierarchies.hierarchy import Generalization, without_place
from sudare.microdata.models.model import Model
from sudare.microdata.refusals import all_suppressed, broken, nothing_found, too_few
from sudare.microdata.search.anonymizing import Search, check_request, satisfies, search, sensitive_names
from sudare.microdata.search.checking import Checked, Checker
from sudare.microdata.search.large_counts import Counted, LargeFile, format_of, open_large, told_of, view_of
from sudare.microdata.search.metrics import Metric
from sudare.microdata.search.pinned_levels import check_pins, pinned_columns, pinned_hierarchies, with_pins
from sudare.parameters import Rational, shown
from sudare.storage.atomic import atomically

__all__ = ["AnonymizedFile", "anonymize_file", "anonymize_large"]


@dataclass(frozen=True, eq=False)
class AnonymizedFile:
    """A file that satisfies its models.

    Args:
        path: the file.
        models: that it satisfies.
        search: what was found.
        before: the combinations of quasi-identifiers, and of columns that models name, in the given file.
        after: the same of the written one.
    """

    path: Path
    models: tuple[Model, ...]
    search: Search
    before: Counted
    after: Counted


def anonymize_file(
    source: str | Path,
    target: str | Path,
    hierarchies: Mapping[str, Generalization],
    models: Sequence[Model],
    *,
    others: Sequence[str] | None = None,
    levels: Mapping[str, int] | None = None,
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
        levels: of columns that are decided beforehand; the search chooses those of the others.
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
        >>> from sudare.microdata.hierarchies.hierarchy import Generalization
        >>> from sudare.microdata.search.large import anonymize_file
        >>> from sudare.microdata.models import KAnonymity
        >>> sex = Generalization.of_paths("sex", [("f", "*"), ("m", "*")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     people = Path(folder) / "people.csv"
        ...     _ = people.write_text("sex,ill\nf,no\nf,yes\nm,no\n")
        ...     result = anonymize_file(people, Path(folder) / "safe.csv", {"sex": sex}, [KAnonymity(2)])
        ...     (Path(folder) / "safe.csv").read_text().splitlines()[:2], dict(result.search.levels)
        (['sex,ill', '*,no'], {'sex': 1})
    """
    check_arguments(
        anonymize_file,
        locals(),
        "source",
        "target",
        "hierarchies",
        "models",
        "others",
        "levels",
        "metric",
        "method",
        "time_limit",
        "replace",
    )
    with open_large(source, memory=memory, threads=threads) as people:
        return anonymize_large(
            people,
            target,
            hierarchies,
            models,
            others=others,
            levels=levels,
            suppression=suppression,
            metric=metric,
            method=method,
            time_limit=time_limit,
            replace=replace,
        )


def anonymize_large(
    people: LargeFile,
    target: str | Path,
    hierarchies: Mapping[str, Generalization],
    models: Sequence[Model],
    *,
    before: Counted | None = None,
    others: Sequence[str] | None = None,
    levels: Mapping[str, int] | None = None,
    suppression: Rational = 0,
    metric: str | Metric = "loss",
    method: str = "optimal",
    time_limit: float | None = None,
    replace: bool = False,
) -> AnonymizedFile:
    """The same for a file that is open already.

    Args:
        people: the file.
        target: see `anonymize_file`, as for what follows.
        hierarchies: of the quasi-identifiers.
        models: all of them must hold.
        before: its combinations of quasi-identifiers and of columns that models name, if they were counted already.
        others: columns that are published as they are.
        levels: of columns that are decided beforehand.
        suppression: the largest share of rows that may be left out.
        metric: what to lose little of.
        method: ``"optimal"`` or ``"heuristic"``.
        time_limit: seconds of the search.
        replace: whether the target may take the place of an existing file.

    Raises:
        InputError: if a column is missing, a value is not in its hierarchy, or nothing can be published.
        OutputError: if the target exists or cannot be written.
    """
    share = check_request(hierarchies, models, (), suppression, method, "removed")
    if method == "local" or any(model.needs_population for model in models):
        raise ParameterError(
            "method",
            "anonymize_file",
            Words(
                "optimal or heuristic, without k-map or presence",
                "optimal または heuristic（k-map と presence は使えません）",
            ),
            shown(method),
        )
    pins = dict(levels or {})
    check_pins(pins, hierarchies, "anonymize_file")
    measured = metric if isinstance(metric, Metric) else Metric(metric)
    private = sensitive_names(models, ())
    wanted = [*hierarchies, *private, *(others or ())]
    people.require(wanted)
    columns = [name for name in people.columns if others is None or name in wanted]
    people.require(columns)
    with atomically(target, replace=replace) as temporary:
        format_of(temporary)
        counted = people.count([*hierarchies, *private]) if before is None else before
        for name, hierarchy in hierarchies.items():
            _check_values(people, counted, name, hierarchy)
        needs = max(model.smallest_size for model in models)
        if counted.people < needs:
            raise too_few(needs)
        searched = pinned_hierarchies(hierarchies, pins)
        records = counted.records.with_columns(*pinned_columns(counted.records, hierarchies, pins))
        tuples = Tuples.of_rows(
            [records.column(name) for name in hierarchies],
            list(searched.values()),
            [records.column(name) for name in private],
            counts=counted.counts,
        )
        checker = Checker(tuples, models, measured, share, compare_with_published=True)
        found = search(checker, method, time_limit)
        if found.levels is None:
            raise nothing_found(found.is_optimal)
        checked = checker.check(found.levels)
        if not checked.kept.any():
            raise all_suppressed()
        result = with_pins(Search.of(found, list(hierarchies), checker), pins)
        with told_of(people.path):
            _write(people, columns, hierarchies, result.levels, tuples, checked, temporary)
        after = view_of(people.connection, temporary, "published").count([*hierarchies, *private])
        if not satisfies(after.records, list(hierarchies), models, counts=after.counts):
            raise broken()
    return AnonymizedFile(Path(target), tuple(models), result, counted, after)


def _check_values(people: LargeFile, counted: Counted, name: str, hierarchy: Generalization) -> None:
    """Refuse a value that is not in its hierarchy, with its row."""
    known = set(hierarchy.levels[0])
    unknown = sorted(label or "" for label in counted.records.column(name).labels if (label or "") not in known)
    if unknown:
        raise without_place(name, people.first_row(name, unknown[0]), is_missing=unknown[0] == "")


def _write(
    people: LargeFile,
    columns: Sequence[str],
    hierarchies: Mapping[str, Generalization],
    levels: Mapping[str, int],
    tuples: Tuples,
    checked: Checked,
    temporary: Path,
) -> None:
    """Write the generalized rows of all classes that are kept."""
    import duckdb
    import pyarrow as pa

    connection = people.connection
    joins, labels = [], {}
    for number, (name, hierarchy) in enumerate(hierarchies.items()):
        leaves, level = list(hierarchy.levels[0]), levels[name]
        groups = [hierarchy.levels[level][group] for group in hierarchy.parents[level].tolist()]
        connection.register(f"levels{number}", pa.table({"leaf": leaves, "label": groups}))
        joins.append(f"JOIN levels{number} ON coalesce({people.view}.{identifier(name)}, '') = levels{number}.leaf")
        labels[name] = f"levels{number}.label"
    gone = np.flatnonzero(~checked.kept & (checked.grouped.sizes > 0))
    if gone.size:
        table: dict[str, list[str]] = {}
        members = checked.grouped.members[gone]
        for number, (hierarchy, level) in enumerate(zip(tuples.hierarchies, checked.levels, strict=True)):
            groups_of = hierarchy.parents[level][tuples.leaves[members, number]]
            table[f"label{number}"] = [hierarchy.levels[level][group] for group in groups_of.tolist()]
        connection.register("suppressed", pa.table(table))
        equal = " AND ".join(f"levels{number}.label = suppressed.label{number}" for number in range(len(hierarchies)))
        joins.append(f"ANTI JOIN suppressed ON {equal}")
    chosen = ", ".join(
        f"nullif({labels[name]}, '') AS {identifier(name)}" if name in labels else f"{people.view}.{identifier(name)}"
        for name in columns
    )
    form = "FORMAT csv, HEADER true" if format_of(temporary) == "csv" else "FORMAT parquet"
    query = f"SELECT {chosen} FROM {people.view} {' '.join(joins)}"  # noqa: S608 - names and texts are quoted
    try:
        connection.execute(f"COPY ({query}) TO {literal(str(temporary))} ({form})")
    except duckdb.IOException:
        raise OutputError(
            "The result could not be written: the disk is full, or a file could not be read to its end.",
            "結果を書けませんでした。ディスクに空きがないか、ファイルを最後まで読めませんでした。",
        ) from None
