"""Metadata files: everything that can be written, and a clear word for every mistake."""

from __future__ import annotations

import re
import tomllib
from datetime import date, datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from pathlib import Path

import pytest

from sudare.engines.engine import ColumnType
from sudare.errors import PlanError
from sudare.sql.metadata.file import parse_metadata, read_metadata
from sudare.sql.metadata.model import ColumnMetadata, Link, Metadata, TableMetadata

SHOP = """
version = "2026-11"

[unit]
name = "customer"
adjacency = "replace"
max_groups = 5

[tables.customer]
unit = "c_custkey"
key = ["c_custkey"]
max_rows = 1
[tables.customer.columns]
c_custkey = { type = "integer" }
c_nation = { type = "text", values = { from = "nation.n_name" } }

[tables.orders]
unit = "o_custkey->customer.c_custkey"
max_rows = 100
[tables.orders.columns]
o_orderkey = { type = "integer", unique = true }
o_custkey = { type = "integer", max_frequency = 100 }
o_day = { type = "integer", values = { first = 1, last = 31 } }

[tables.lineitem]
unit = "l_orderkey -> orders.o_orderkey"
max_rows = 300
key = ["l_orderkey", "l_linenumber"]
[tables.lineitem.columns]
l_orderkey = { type = "integer" }
l_linenumber = { type = "integer", bounds = [1, 7], step = 1 }
l_quantity = { type = "decimal(15,2)", bounds = [0, 50.5] }
l_returnflag = { type = "text", values = ["A", "N", "R"], nullable = false }
l_shipdate = { type = "date", bounds = [1992-01-01, 1998-12-31], values = { first = 1998-02-27, last = 1998-03-01 } }
l_weight = { type = "float", bounds = [0, 100], step = 0.01 }
l_any = { type = "decimal", bounds = [0, 10], step = 0.1 }
l_time = { type = "timestamp", bounds = [1992-01-01T00:00:00, 1998-12-31 23:59:59.5] }
l_gift = { type = "boolean", values = [false, true] }
l_place = { type = "other" }

[tables.nation]
public = true
key = ["n_nationkey"]
[tables.nation.columns]
n_nationkey = { type = "integer" }
n_name = { type = "text" }
"""
INTEGER = ColumnType("integer", 19, 0)
TEXT = ColumnType("text")


def columns(*listed: ColumnMetadata) -> dict[str, ColumnMetadata]:
    return {column.name: column for column in listed}


EXPECTED = Metadata(
    "customer",
    {
        "customer": TableMetadata(
            "customer",
            columns(
                ColumnMetadata("c_custkey", INTEGER), ColumnMetadata("c_nation", TEXT, values_from=("nation", "n_name"))
            ),
            unit="c_custkey",
            max_rows=1,
            key=("c_custkey",),
        ),
        "orders": TableMetadata(
            "orders",
            columns(
                ColumnMetadata("o_orderkey", INTEGER, unique=True),
                ColumnMetadata("o_custkey", INTEGER, max_frequency=100),
                ColumnMetadata("o_day", INTEGER, values=tuple(range(1, 32))),
            ),
            link=Link("o_custkey", "customer", "c_custkey"),
            max_rows=100,
        ),
        "lineitem": TableMetadata(
            "lineitem",
            columns(
                ColumnMetadata("l_orderkey", INTEGER),
                ColumnMetadata("l_linenumber", INTEGER, 1, 7, Decimal(1)),
                ColumnMetadata("l_quantity", ColumnType("decimal", 15, 2), Decimal(0), Decimal("50.5")),
                ColumnMetadata("l_returnflag", TEXT, values=("A", "N", "R"), nullable=False),
                ColumnMetadata(
                    "l_shipdate",
                    ColumnType("date"),
                    date(1992, 1, 1),
                    date(1998, 12, 31),
                    values=tuple(date(1998, 2, 27) + timedelta(days=day) for day in range(3)),
                ),
                ColumnMetadata("l_weight", ColumnType("float"), Decimal(0), Decimal(100), Decimal("0.01")),
                ColumnMetadata("l_any", ColumnType("decimal"), Decimal(0), Decimal(10), Decimal("0.1")),
                ColumnMetadata(
                    "l_time",
                    ColumnType("timestamp"),
                    datetime(1992, 1, 1),
                    datetime(1998, 12, 31, 23, 59, 59, 500_000),
                ),
                ColumnMetadata("l_gift", ColumnType("boolean"), values=(False, True)),
                ColumnMetadata("l_place", ColumnType("other")),
            ),
            link=Link("l_orderkey", "orders", "o_orderkey"),
            max_rows=300,
            key=("l_orderkey", "l_linenumber"),
        ),
        "nation": TableMetadata(
            "nation",
            columns(ColumnMetadata("n_nationkey", INTEGER), ColumnMetadata("n_name", TEXT)),
            public=True,
            key=("n_nationkey",),
        ),
    },
    "replace",
    5,
    "2026-11",
)


def table(lines: str, name: str = "visit") -> str:
    """A file with one table more than a sound one."""
    return f'[unit]\nname = "person"\n[tables.person]\nunit = "id"\nkey = ["id"]\ncolumns.id = {{ type = "integer" }}\n\
[tables.{name}]\n{lines}\n'


def column(description: str) -> str:
    """A file with one column."""
    return f'[unit]\nname = "person"\n[tables.visit]\nunit = "row"\n[tables.visit.columns]\nx = {{ {description} }}\n'


def test_everything_that_can_be_written_is_read(tmp_path: Path) -> None:
    file = tmp_path / "shop.toml"
    file.write_bytes(SHOP.encode())
    metadata = read_metadata(file)
    assert metadata == EXPECTED
    assert metadata.digest == sha256(SHOP.encode()).hexdigest()
    assert metadata.file == "shop.toml"
    assert [link.table for link in metadata.chain("lineitem")] == ["orders", "customer"]
    assert metadata.privacy_unit.who == "customer"
    assert metadata.privacy_unit.adjacency == "replace"


def test_numbers_are_of_the_type_that_the_column_has() -> None:
    lineitem = parse_metadata(SHOP, "shop.toml").tables["lineitem"].columns
    assert type(lineitem["l_linenumber"].low) is int
    assert type(lineitem["l_quantity"].low) is Decimal
    assert type(lineitem["l_weight"].high) is Decimal


def test_the_digest_is_of_the_bytes_and_no_part_of_what_is_compared() -> None:
    again = parse_metadata("# a comment\n" + SHOP, "other.toml")
    assert again == EXPECTED
    assert again.digest != parse_metadata(SHOP, "shop.toml").digest


def test_what_is_left_out_has_a_default() -> None:
    metadata = parse_metadata('unit.name = "person"\ntables.visit = { unit = "row", columns.x = { type = "text" } }')
    assert (metadata.adjacency, metadata.max_groups, metadata.version) == ("add-remove", 1, "")
    visit = metadata.tables["visit"]
    assert visit == TableMetadata("visit", {"x": ColumnMetadata("x", TEXT)}, row_is_unit=True, max_rows=1)


def test_odd_names_are_written_in_braces() -> None:
    text = """
unit.name = "person"
[tables."my schema.people"]
unit = { column = "row" }
[tables."my schema.people".columns]
row = { type = "integer", unique = true }
"a.b" = { type = "text", values = { table = "places", column = "x.y" } }
[tables.visit]
unit = { column = "p -> q", table = "my schema.people", to = "row" }
columns."p -> q" = { type = "integer" }
[tables.places]
public = true
columns."x.y" = { type = "text" }
"""
    tables = parse_metadata(text).tables
    assert tables["my schema.people"].unit == "row"
    assert not tables["my schema.people"].row_is_unit
    assert tables["my schema.people"].columns["a.b"].values_from == ("places", "x.y")
    assert tables["visit"].link == Link("p -> q", "my schema.people", "row")


def test_a_table_in_a_schema_is_linked_by_its_whole_name() -> None:
    text = table('unit = "p -> main.people.id"\ncolumns.p = { type = "integer" }').replace(
        "tables.person]", 'tables."main.people"]'
    )
    assert parse_metadata(text).tables["visit"].link == Link("p", "main.people", "id")


MISTAKES: list[tuple[str, str, str]] = [
    # file, part of the English message, part of the Japanese one
    ("", "'name' in section [unit] is missing", "[unit] の「name」がありません"),
    ('unit.name = "person"', "'tables' in the metadata must have one that is private", "誰も保護されません"),
    ('unit.name = "person"\ntables.a = { public = true }', "nobody would be protected", "誰も保護されません"),
    ('unit.name = "person"\ntables = 1', "'tables' in the metadata must be a section", "独立したセクション"),
    ('unit.name = "person"\ntables.a = 1', "'a' in section [tables] must be a section", "独立したセクション"),
    ("unit = ", "m.toml is not TOML", "TOML として読めません"),
    ("x = 1e99999999999999999999", "is not TOML: a number in it is too long", "TOML として読めません"),
    (f"x = {'9' * 5000}", "is not TOML: a number in it is too long", "TOML として読めません"),
    ("x = " + "[" * 100_000, "is not TOML: brackets are nested too deeply", "TOML として読めません"),
    ('unit.name = "\udc80"', "is not TOML: it is not UTF-8", "TOML として読めません"),
    ('unit.name = "?"', "'name' in section [unit] is still as drafted", "下書きのまま"),
    ('unit.name = "  "', "'name' in section [unit] must not be empty", "空にできません"),
    ('unit.name = "a\\u0000b"', "'name' in section [unit] must be a text", "見える文字"),
    (SHOP.replace('"2026-11"', f'"{"v" * 300}"'), "'version' in the metadata must be a text of at most 255", "文字列"),
    (SHOP.replace('"replace"', '"swap"'), "'adjacency' in section [unit] must be one of \"add-remove\"", "swap"),
    (SHOP.replace("max_groups = 5", "max_groups = 0"), "'max_groups' in section [unit] must be a whole", "の整数です"),
    (
        SHOP.replace("max_groups", "max_group"),
        "section [unit] has no key 'max_group'. Did you mean 'max_groups'",
        "キー",
    ),
    (SHOP.replace("version", "verison"), "the metadata has no key 'verison'. Did you mean 'version'", "キー"),
    (table('units = "row"'), "[tables.visit] has no key 'units'. Did you mean 'unit'", "キー"),
    (column('type = "text", valeus = ["a"]'), "[tables.visit.columns.x] has no key 'valeus'", "values"),
    # who a row belongs to
    (
        table("max_rows = 1"),
        "'unit' in section [tables.visit] is missing: name one column",
        "[tables.visit] の「unit」",
    ),
    (table('unit = "?"'), "'unit' in section [tables.visit] is still as drafted", "下書きのまま"),
    (table("unit = 3"), "'unit' in section [tables.visit] must be text", "文字列"),
    (table('unit = "id"'), "column id, which [tables.visit.columns] does not describe", "記述されていません"),
    (table('unit = "idd"\ncolumns.id = { type = "integer" }'), "Did you mean 'id'", "「id」のことですか"),
    (
        table('unit = "x"\ncolumns.x = { type = "float" }'),
        "'unit' in section [tables.visit] cannot be a column of fl",
        "float",
    ),
    (
        table('unit = "x"\ncolumns.x = { type = "text" }'),
        "is of another kind than in person",
        "種類が person と異なります",
    ),
    (table('unit = "row"'), "is of another kind than in person", "種類が person と異なります"),
    (table('public = true\nunit = "row"'), "'unit' in section [tables.visit] is for private tables", "非公開の表だけ"),
    (table("public = true\nmax_rows = 1"), "'max_rows' in section [tables.visit] is for private", "非公開の表だけ"),
    (table('public = "yes"'), "'public' in section [tables.visit] must be true or false", "true または false"),
    (table('unit = "x ->"'), "must have one arrow", "矢印一つ"),
    (table('unit = "x -> person"'), "must have one arrow", "矢印一つ"),
    (table('unit = "x -> person.id -> a.b"'), "must have one arrow", "矢印一つ"),
    (table('unit = { table = "person", to = "id" }'), "'column' in section [tables.visit.unit] is missing", "column"),
    (table('unit = { column = "x", table = "person" }'), "'to' in section [tables.visit.unit] is missing", "to"),
    (table('unit = "x -> person.id"'), "names the column x, which [tables.visit.columns]", "列 x が"),
    (table('unit = "x -> persons.id"\ncolumns.x = { type = "integer" }'), "Did you mean 'person'", "「person」"),
    (
        table('unit = "x -> person.key"\ncolumns.x = { type = "integer" }'),
        "[tables.person.columns] does not",
        "列 key が",
    ),
    (table('unit = "x -> person.id"\ncolumns.x = { type = "text" }'), "links columns of different types", "異なる型"),
    (
        table('unit = "x -> person.id"\ncolumns.x = { type = "integer" }').replace('key = ["id"]', ""),
        "leads to id, which must stand in one row only",
        "一行だけ",
    ),
    (
        table('unit = "x -> person.id"\ncolumns.x = { type = "integer" }')
        .replace('["id"]', '["id", "no"]')
        .replace("columns.id", 'columns.no = { type = "integer" }\ncolumns.id'),
        "leads to id, which must stand in one row only",
        "一行だけ",
    ),
    (
        table(
            'unit = "x -> open.id"\ncolumns.x = { type = "integer" }\n[tables.open]\npublic = true\nkey = ["id"]\n'
            'columns.id = { type = "integer" }'
        ),
        "leads to open, which is public",
        "公開の表",
    ),
    (
        table('unit = "x -> visit.x"\ncolumns.x = { type = "integer", unique = true }'),
        "'unit' in section [tables.visit] leads round in a circle",
        "循環",
    ),
    (
        table(
            'unit = "x -> b.x"\ncolumns.x = { type = "integer", unique = true }\n'
            '[tables.b]\nunit = "x -> visit.x"\ncolumns.x = { type = "integer", unique = true }'
        ),
        "leads round in a circle",
        "循環",
    ),
    (table('unit = "row"\nmax_rows = 2'), "is 1 where each row is a unit", "では 1 です"),
    *(
        (
            SHOP.replace("max_rows = 100", f"max_rows = {rows}"),
            "'max_rows' in section [tables.orders] must be",
            "max_rows",
        )
        for rows in ("0", "-1", str(2**31 + 1), "1.5", "true", '"1"')
    ),
    # names
    (table('public = true\n[tables.Visit]\nunit = "id"'), "may be the same table as visit", "同じ表かもしれません"),
    (table('public = true\n[tables."main.visit"]\nunit = "id"'), 'may be the same table as "main.visit"', "同じ表"),
    (table('public = true\n[tables."ＶＩＳＩＴ"]\nunit = "id"'), "may be the same table as visit", "同じ表"),
    (table("public = true", '"a\\u0000b"'), "has a character that cannot be seen", "見えない文字"),
    (table("public = true", '"a\\u200bb"'), "has a character that cannot be seen", "見えない文字"),
    (table("public = true", '"a..b"'), "must have 1 to 255 characters", "文字です"),
    (table("public = true", '"a.b.c.d"'), "has more than two points", "三つ以上"),
    (table("public = true", f'"{"a" * 256}"'), "must have 1 to 255 characters", "文字です"),
    (
        table('public = true\ncolumns = { x = { type = "text" }, X = { type = "text" } }'),
        "'X' in section [tables.visit.columns] differs from x only by case",
        "大文字・小文字",
    ),
    (
        table('public = true\ncolumns."a\\nb" = { type = "text" }'),
        "'\"a\\nb\"' in section [tables.visit.columns] has",
        "NUL",
    ),
    # keys
    (table('public = true\nkey = ["id"]'), "'key' in section [tables.visit] names the column id, which is not", "記述"),
    (table("public = true\nkey = []"), "'key' in section [tables.visit] must list columns", "リスト"),
    (table("public = true\nkey = [1]"), "'key' in section [tables.visit] must list columns", "リスト"),
    (table('public = true\nkey = ["x", "x"]\ncolumns.x = { type = "text" }'), "has a column twice", "二度"),
    # types
    (column(""), "'type' in section [tables.visit.columns.x] is missing", "がありません"),
    (column('type = "varchar"'), "must be one of integer, decimal, float", "varchar"),
    (column('type = "decimal(39,2)"'), "'type' in section [tables.visit.columns.x] must have 1 to 38 digits", "桁数"),
    (column('type = "decimal(2,3)"'), "must have 1 to 38 digits", "桁数"),
    (column('type = "decimal(0,0)"'), "must have 1 to 38 digits", "桁数"),
    # bounds
    (column('type = "integer", bounds = [1, 1]'), "are the same twice: every value would count as that one", "同じ値"),
    (column('type = "integer", bounds = [2, 1]'), "must have the lower one first", "小さい方を先"),
    (column('type = "integer", bounds = [1]'), "must be two values", "二つの値"),
    (column('type = "integer", bounds = [1, 2, 3]'), "must be two values", "二つの値"),
    (column('type = "integer", bounds = 3'), "must be a list", "リスト"),
    (column('type = "integer", bounds = [0, 1.5]'), "each a whole number of 64 bits", "64 ビット"),
    (column('type = "integer", bounds = [false, true]'), "each a whole number of 64 bits", "64 ビット"),
    (column(f'type = "integer", bounds = [0, {2**63}]'), "each a whole number of 64 bits", "64 ビット"),
    (column('type = "decimal(5,2)", bounds = [0, 1000]'), "each a number that fits the type", "型に収まる"),
    (column('type = "decimal(5,2)", bounds = [0, 0.001]'), "each a number that fits the type", "型に収まる"),
    (column('type = "decimal(5,2)", bounds = [0, inf]'), "each a number that fits the type", "型に収まる"),
    (column('type = "float", bounds = [nan, 1], step = 0.1'), "each a number of at most 38 digits", "38 桁"),
    (column('type = "float", bounds = [0, 1e9999999], step = 0.1'), "each a number of at most 38 digits", "38 桁"),
    (column('type = "float", bounds = [0, 1e-9999999], step = 0.1'), "each a number of at most 38 digits", "38 桁"),
    (column('type = "date", bounds = ["1992-01-01", "1993-01-01"]'), "each a date such as", "引用符なし"),
    (column('type = "date", bounds = [1992-01-01, 1992-01-02T00:00:00]'), "each a date such as", "引用符なし"),
    (column('type = "timestamp", bounds = [1992-01-01, 1993-01-01]'), "each a time such as", "日時"),
    (column('type = "timestamp", bounds = [1992-01-01T00:00:00Z, 1993-01-01T00:00:00Z]'), "without an offset", "時差"),
    (column('type = "text", bounds = ["a", "b"]'), "'bounds' in section [tables.visit.columns.x] cannot be", "型 text"),
    (column('type = "boolean", bounds = [false, true]'), "cannot be given for the type boolean", "型 boolean"),
    (column('type = "other", bounds = [0, 1]'), "cannot be given for the type other", "型 other"),
    # steps
    (column('type = "float", bounds = [0, 1]'), "'step' in section [tables.visit.columns.x] is missing: sums", "丸め"),
    (
        column('type = "decimal", bounds = [0, 1]'),
        "'step' in section [tables.visit.columns.x] is missing: sums",
        "丸め",
    ),
    *(
        (column(f'type = "float", bounds = [0, 1], step = {step}'), "must be a power of ten", "10 の累乗")
        for step in ("0", "-1", "0.02", "0.011", "0.5", "nan", "inf", "1e-99", "1e99")
    ),
    (
        column('type = "float", bounds = [0, 1], step = "0.1"'),
        "'step' in section [tables.visit.columns.x] must be a n",
        "数値",
    ),
    (column('type = "float", bounds = [0, 0.05], step = 0.1'), "must be multiples of 'step'", "倍数"),
    (column('type = "integer", bounds = [0, 15], step = 10'), "must be multiples of 'step'", "倍数"),
    (column('type = "integer", bounds = [0, 15], step = 0.1'), "is finer than the type", "細かく"),
    (column('type = "decimal(5,2)", bounds = [0, 1], step = 0.001'), "is finer than the type", "細かく"),
    (column('type = "date", step = 1'), "is for numbers only", "数値の列だけ"),
    (column('type = "float", step = 0.1'), "needs 'bounds' beside it", "「bounds」も必要"),
    # values
    (column('type = "text", values = []'), "must be 1 to 1000000", "1000000 個"),
    (column('type = "text", values = ["a", "a"]'), "has one of them twice", "二度"),
    (column('type = "decimal(5,2)", values = [1, 1.00]'), "has one of them twice", "二度"),
    (column('type = "text", values = ["a", 1]'), "must each be text in quotes", "引用符"),
    (column('type = "text", values = ["a\\u0000"]'), "must each be text in quotes", "引用符"),
    (column('type = "text", values = [["a"]]'), "must be a flat list", "入れ子のない"),
    (column('type = "text", values = "a"'), "must be a list", "リスト"),
    (column('type = "integer", values = [1, true]'), "must each be a whole number", "整数"),
    (column('type = "boolean", values = [0, 1]'), "must each be true or false", "true または false"),
    (column('type = "date", values = ["2020-01-01"]'), "must each be a date", "日付"),
    (column('type = "float", values = [1.5]'), "cannot be listed for the type float", "型 float"),
    (column('type = "other", values = ["a"]'), "cannot be listed for the type other", "型 other"),
    (column('type = "integer", bounds = [0, 5], values = [6]'), "has one outside of 'bounds'", "の外の値"),
    (column('type = "integer", values = { first = 1 }'), "must be a list, { from", "リスト"),
    (column('type = "integer", values = { first = 1, last = 2, by = 1 }'), "must be a list, { from", "リスト"),
    (column('type = "integer", values = { first = 1.5, last = 2.5 }'), "must be a list, { from", "リスト"),
    (column('type = "integer", values = { first = false, last = true }'), "must be a list, { from", "リスト"),
    (column('type = "date", values = { first = 1, last = 2020-01-01 }'), "must be a list, { from", "リスト"),
    (column('type = "text", values = { first = 1, last = 2 }'), "must each be text", "引用符"),
    (column('type = "integer", values = { first = 2, last = 1 }'), "must go up from first to last", "範囲"),
    (column('type = "integer", values = { first = 0, last = 1000000 }'), "by at most 1000000 values", "範囲"),
    (column('type = "date", values = { first = 0001-01-01, last = 9999-12-31 }'), "by at most 1000000 values", "範囲"),
    (
        column('type = "text", values = { from = "nation" }'),
        "'from' in section [tables.visit.columns.x.values]",
        "表とその列",
    ),
    (
        column('type = "text", values = { from = "nation.n" }'),
        "leads to the table nation, which is not described",
        "nation",
    ),
    (column('type = "text", values = { table = "nation" }'), "'column' in section", "column"),
    (
        column('type = "text", values = { from = "visit.x" }'),
        "must come from a public table, and visit is private",
        "非公開",
    ),
    (SHOP.replace("nation.n_name", "nation.n_nam"), "Did you mean 'n_name'", "n_name"),
    (SHOP.replace("nation.n_name", "nation.n_nationkey"), "must come from a column of the same type", "同じ型"),
    (
        SHOP.replace('n_name = { type = "text" }', 'n_name = { type = "text", values = { from = "nation.n_name" } }'),
        "are the column itself",
        "列自身",
    ),
    # promises
    (column('type = "text", unique = true, max_frequency = 1'), "says the same as 'unique'", "重複または矛盾"),
    (column('type = "text", max_frequency = 0'), "'max_frequency' in section [tables.visit.columns.x] must be", "整数"),
    (column('type = "text", unique = "yes"'), "'unique' in section [tables.visit.columns.x] must be true", "true"),
]


@pytest.mark.parametrize(("text", "english", "japanese"), MISTAKES)
def test_a_mistake_is_refused_with_file_section_and_key(text: str, english: str, japanese: str) -> None:
    with pytest.raises(PlanError, match=re.escape(english)) as caught:
        parse_metadata(text, "m.toml")
    assert caught.value.english.startswith("m.toml")
    assert caught.value.japanese.startswith("m.toml")
    assert japanese in caught.value.japanese


def test_tables_of_the_same_name_in_two_schemas_may_both_be_described() -> None:
    text = table('public = true\n[tables."b.visit"]\npublic = true', '"a.visit"')
    assert set(parse_metadata(text).tables) == {"person", "a.visit", "b.visit"}


def test_names_in_japanese_need_quotes_only() -> None:
    text = '[unit]\nname = "世帯"\n[tables."住民"]\nunit = "row"\ncolumns."氏名　漢字" = { type = "text" }'
    assert list(parse_metadata(text).tables["住民"].columns) == ["氏名　漢字"]


def test_the_largest_list_is_taken() -> None:
    text = column('type = "integer", values = { first = 1, last = 1000000 }')
    values = parse_metadata(text).tables["visit"].columns["x"].values
    assert values is not None
    assert (len(values), values[-1]) == (10**6, 10**6)


def test_a_file_that_is_not_there_or_no_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="There is no metadata file") as caught:
        read_metadata(tmp_path / "none.toml")
    assert "sudare sql describe" in caught.value.japanese
    with pytest.raises(PlanError, match="cannot be read"):
        read_metadata(tmp_path)
    (tmp_path / "cp932.toml").write_bytes("# 顧客".encode("cp932"))
    with pytest.raises(PlanError, match="it is not UTF-8"):
        read_metadata(tmp_path / "cp932.toml")


def test_the_example_of_the_module_is_sound() -> None:
    import sudare.sql.metadata.file as module

    text = str(module.__doc__).partition("\n\n")[2]
    assert set(parse_metadata(text).tables) == {"customer", "orders"}


def test_every_example_of_the_reference_is_sound() -> None:
    page = Path(__file__).parents[3] / "docs" / "reference" / "sql-metadata.md"
    examples = re.findall(r'```toml title="metadata.toml"\n(.*?)```', page.read_text(encoding="utf-8"), re.DOTALL)
    assert examples
    for example in examples:
        assert tomllib.loads(example)
        parse_metadata(example)
