"""What plans say of the data: where it is, and how it is laid out."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

from sudare.errors import ParameterError
from sudare.io import FORMATS, Source
from sudare.io.source import SPARK
from sudare.releases.header import SOURCE_KEYS
from sudare.sections import Section

__all__ = ["TABLE_KEYS", "plain_value", "read_source_section", "source_facts"]

TABLE_KEYS = (*SOURCE_KEYS, "rows", "count", "columns", "query", "person", "where", "outside", "table", "cluster")
ROWS = ("people", "counts")


def read_source_section(section: Section, base: Path) -> Source:
    """Where data is, by a section ``[source]``, or one like it.

    Args:
        section: whose keys are those of `TABLE_KEYS`; others were taken before.
        base: from which relative paths are meant.

    Raises:
        PlanError: if something in it cannot be; the message names the key.
    """
    given = section.items("path") if section.has("path") and not section.is_text("path") else None
    if given is None:
        given = [section.text("path")] if section.has("path") else []
    if not all(isinstance(item, str) and item for item in given):
        section.refuse(
            "path", "must be a file, a folder or a list of them", "はファイルかフォルダ、またはそのリストです"
        )
    query = section.text("query") if section.has("query") else None
    table = section.text("table") if section.has("table") else None
    cluster = section.text("cluster") if section.has("cluster") else None
    if not given and query is None and table is None:
        section.refuse("path", "is missing", "がありません")
    where = {key: plain_value(value) for key, value in section.mapping("where").items()}
    said = section.mapping("columns")
    columns = {name: column for name, column in said.items() if isinstance(column, (str, dict))}
    if len(columns) < len(said):
        section.refuse(
            "columns",
            "must give a column's name for each attribute, or columns of counts by its values, such as "
            '{ sex = { male = "T001141002", female = "T001141003" } }',
            "は属性ごとの列名、または値ごとの人数の列です"
            '（例: { sex = { male = "T001141002", female = "T001141003" } }）',
        )
    is_spread = any(isinstance(column, dict) for column in columns.values())
    form = section.choice("format", ("auto", *FORMATS, SPARK), "auto")
    count = section.text("count") if section.has("count") else None
    by_default = (
        "counts" if count is not None or is_spread or form in ("e-stat", "people-flow", "geotiff") else "people"
    )
    rows = section.choice("rows", ROWS, by_default)
    person = section.text("person") if section.has("person") else None
    encoding = section.text("encoding", "auto")
    outside = section.choice("outside", ("refuse", "leave out"), "refuse")
    section.finish()
    paths = tuple(item if form == SPARK and "://" in item else str(base / item) for item in given)
    try:
        return Source(paths, form, rows, count, columns, query, person, encoding, where, outside, table, cluster)
    except ParameterError as error:
        section.refuse_parameter(error.parameter, error)


def source_facts(source: Source) -> dict[str, object]:
    """What makes a source what it is, besides its files, for fingerprints."""
    on_spark = {} if source.format != SPARK else {"table": source.table, "cluster": source.cluster}
    return {
        **on_spark,
        "format": source.format,
        "rows": source.rows,
        "count": source.count,
        "columns": dict(source.columns),
        "query": source.query,
        "person": source.person,
        "outside": source.outside,
        "where": {key: str(value) for key, value in source.where.items()},
    }


def plain_value(value: Any) -> Any:
    """Decimals as floats, which mechanisms read as the decimals that were typed; lists as tuples."""
    if isinstance(value, Decimal):
        return float(value)
    return tuple(plain_value(item) for item in value) if isinstance(value, list) else value
