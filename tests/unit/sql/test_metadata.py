"""Metadata made in Python keep to the same rules, and come back from a file as they were."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.engines.engine import ColumnType
from sudare.errors import PlanError
from sudare.sql.metadata.file import parse_metadata
from sudare.sql.metadata.model import ColumnMetadata, Link, Metadata, TableMetadata
from sudare.sql.metadata.rules import flaw_of_name, fold
from sudare.sql.metadata.writing import is_consecutive, metadata_to_toml, toml_value

INTEGER = ColumnType("integer", 19, 0)
ID = ColumnMetadata("id", INTEGER, unique=True)
PEOPLE = TableMetadata("people", {"id": ID}, unit="id", max_rows=1)
SOUND = Metadata("person", {"people": PEOPLE})


def with_table(table: TableMetadata) -> Metadata:
    return replace(SOUND, tables={"people": PEOPLE, table.name: table})


MISTAKES: list[tuple[Any, str]] = [
    (lambda: replace(SOUND, who=""), "'name' in section [unit]"),
    (lambda: replace(SOUND, adjacency=cast("Any", "swap")), "'adjacency' in section [unit]"),
    (lambda: replace(SOUND, max_groups=True), "'max_groups' in section [unit]"),
    (lambda: replace(SOUND, version="\x07"), "'version' in the metadata"),
    (lambda: replace(SOUND, tables={}), "'tables' in the metadata"),
    (lambda: replace(SOUND, tables={"others": PEOPLE}), "'name' in section [tables.others]"),
    (lambda: with_table(TableMetadata("visit", {"x": ID}, public=True)), "'x' in section [tables.visit.columns]"),
    (lambda: with_table(TableMetadata("visit", {"id": ID}, unit="id", row_is_unit=True)), "is given twice"),
    (
        lambda: with_table(TableMetadata("visit", {"id": ID}, unit="id", link=Link("id", "people", "id"))),
        "is given twice",
    ),
    (
        lambda: with_table(TableMetadata("visit", {"id": ColumnMetadata("id", ColumnType("decimal", 5))}, public=True)),
        "'type' in",
    ),
    (
        lambda: with_table(
            TableMetadata("visit", {"id": ColumnMetadata("id", ColumnType("blob"))}, public=True)  # type: ignore[arg-type]
        ),
        "'type' in",
    ),
    (lambda: with_table(TableMetadata("visit", {"id": replace(ID, low=1)}, public=True)), "'bounds' in"),
    (lambda: with_table(TableMetadata("visit", {"id": replace(ID, values=(None,))}, public=True)), "'values' in"),
    (
        lambda: with_table(
            TableMetadata("visit", {"id": replace(ID, values=(1,), values_from=("people", "id"))}, public=True)
        ),
        "'values' in section [tables.visit.columns.id] must be a list or come from a table, not both",
    ),
    (
        lambda: with_table(
            TableMetadata("visit", {"x": ColumnMetadata("x", ColumnType("float"), 0, 1, Decimal("sNaN"))}, public=True)
        ),
        "'step' in section [tables.visit.columns.x]",
    ),
]


@pytest.mark.parametrize(("make", "message"), MISTAKES)
def test_a_mistake_in_python_is_told_in_the_words_of_the_file(make: Any, message: str) -> None:
    with pytest.raises(PlanError) as caught:
        make()
    assert message in caught.value.english
    assert caught.value.english.startswith("metadata: ")


def test_decimals_are_kept_as_decimals_whatever_they_were_given_as() -> None:
    column = ColumnMetadata("x", ColumnType("decimal", 5, 2), 0, 3, values=(1, Decimal("0E+99999")))
    assert [type(value) for value in (column.low, column.high, *(column.values or ()))] == [Decimal] * 4
    assert toml_value(column.values[1] if column.values else None) == "0"


def test_each_row_as_a_unit_means_one_row_for_each_unit() -> None:
    assert TableMetadata("t", {}, row_is_unit=True).max_rows == 1


def test_three_or_more_in_order_are_a_range() -> None:
    assert is_consecutive((1, 2, 3))
    assert is_consecutive([date(2020, 2, 28) + timedelta(days=day) for day in range(3)])
    for values in ((1, 2), (1, 3, 5), (3, 2, 1), (True, 2, 3), ("a", "b", "c"), (Decimal(1), Decimal(2), Decimal(3))):
        assert not is_consecutive(values)
    noon = datetime(2020, 1, 1, 12)
    assert not is_consecutive([noon, noon + timedelta(days=1), noon + timedelta(days=2)])


# A unit, a key or a link is a text that is not empty: a column of blanks alone can be none of them.
NAMES = st.text(min_size=1, max_size=8).filter(lambda name: flaw_of_name(name) is None and bool(name.strip()))
TABLE_NAMES = st.lists(NAMES.filter(lambda name: "." not in name), min_size=1, max_size=3).map(".".join)
WORDS = st.text(max_size=6).filter(lambda text: "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text))
WHOLE = st.integers(-(2**63), 2**63 - 1)
COUNTS = st.integers(1, 2**31)


def on_grid(scale: int) -> st.SearchStrategy[Decimal]:
    return st.integers(-(10**12) + 1, 10**12 - 1).map(lambda number: Decimal(number).scaleb(-scale))


@st.composite
def columns(draw: st.DrawFn, name: str, public: list[tuple[str, ColumnMetadata]]) -> ColumnMetadata:
    kind = draw(
        st.sampled_from(["integer", "decimal", "any decimal", "float", "boolean", "date", "timestamp", "text", "other"])
    )
    scale = draw(st.integers(0, 6))
    step: Decimal | None = None
    types = {
        "integer": INTEGER,
        "decimal": ColumnType("decimal", 12 + scale, scale),
        "any decimal": ColumnType("decimal"),
    }
    column_type = types.get(kind) or ColumnType(kind)  # type: ignore[arg-type]
    strategies: dict[str, st.SearchStrategy[Any]] = {
        "integer": WHOLE,
        "boolean": st.booleans(),
        "date": st.dates(),
        "timestamp": st.datetimes(),
        "text": WORDS,
    }
    values = strategies.get(kind, on_grid(scale))
    if kind in ("float", "any decimal"):
        step = Decimal(1).scaleb(-scale)
    low, high = None, None
    if kind not in ("boolean", "text", "other") and draw(st.booleans()):
        low, high = sorted(draw(st.lists(values, min_size=2, max_size=2, unique=True)))
    allowed, values_from = None, None
    if kind not in ("float", "other") and low is None:
        if draw(st.booleans()):
            allowed = tuple(draw(st.lists(values, min_size=1, max_size=5, unique=True)))
        else:
            same = [(table, other.name) for table, other in public if other.type.kind == column_type.kind]
            values_from = draw(st.sampled_from(same)) if same else None
    if kind == "integer" and allowed is None and values_from is None and low is None and draw(st.booleans()):
        first = draw(st.integers(-100, 100))
        allowed = tuple(range(first, first + draw(st.integers(1, 40))))
    unique = draw(st.booleans())
    frequency = None if unique else draw(st.none() | COUNTS)
    nullable = draw(st.booleans())
    step = step if low is not None else None
    return ColumnMetadata(name, column_type, low, high, step, allowed, values_from, nullable, unique, frequency)


@st.composite
def tables(
    draw: st.DrawFn, name: str, public: list[tuple[str, ColumnMetadata]], targets: list[TableMetadata]
) -> TableMetadata:
    names = draw(st.lists(NAMES, max_size=4, unique_by=fold))
    listed = {column: draw(columns(column, public)) for column in names}
    key = tuple(draw(st.lists(st.sampled_from(names), unique=True))) if names else ()
    if draw(st.booleans()):
        return TableMetadata(name, listed, public=True, key=key)
    max_rows = draw(st.none() | COUNTS)
    unit = draw(NAMES.filter(lambda column: fold(column) not in map(fold, names)))
    listed[unit] = ColumnMetadata(unit, INTEGER, unique=True)
    is_linked = draw(st.booleans())
    if is_linked and targets:
        target = draw(st.sampled_from(targets))
        to = target.unit or (target.link.column if target.link else "")
        return TableMetadata(name, listed, link=Link(unit, target.name, to), max_rows=max_rows, key=key)
    return TableMetadata(name, listed, unit=unit, max_rows=max_rows, key=key)


def end(name: str) -> str:
    return fold(name.rpartition(".")[2])


@st.composite
def all_metadata(draw: st.DrawFn) -> Metadata:
    made: dict[str, TableMetadata] = {}
    first, *names = draw(st.lists(TABLE_NAMES, min_size=1, max_size=4, unique_by=end))
    if draw(st.booleans()):
        unit = draw(NAMES)
        made[first] = TableMetadata(
            first, {unit: ColumnMetadata(unit, INTEGER, unique=True)}, unit=unit, max_rows=draw(st.none() | COUNTS)
        )
    else:
        made[first] = TableMetadata(first, {}, row_is_unit=True)
    for name in names:
        public = [(table.name, column) for table in made.values() if table.public for column in table.columns.values()]
        table = draw(
            tables(name, public, [table for table in made.values() if not table.public and not table.row_is_unit])
        )
        made[name] = (
            replace(table, unit=None, row_is_unit=True, max_rows=1) if made[first].row_is_unit and table.unit else table
        )
    adjacency: Any = draw(st.sampled_from(["add-remove", "replace"]))
    who = draw(NAMES.filter(lambda name: name.strip() and name != "?"))
    version = draw(st.just("") | NAMES.filter(lambda name: bool(name.strip())))
    return Metadata(who, made, adjacency, draw(COUNTS), version)


@settings(max_examples=120)
@given(all_metadata())
def test_what_is_written_reads_back_the_same(metadata: Metadata) -> None:
    again = parse_metadata(metadata_to_toml(metadata))
    assert again == metadata
    assert list(again.tables) == list(metadata.tables)
    assert [list(table.columns) for table in again.tables.values()] == [
        list(table.columns) for table in metadata.tables.values()
    ]
    assert metadata_to_toml(again) == metadata_to_toml(metadata)
