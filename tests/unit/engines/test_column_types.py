from __future__ import annotations

import pytest

from sudare.engines.column_types import duckdb_type, postgres_type, spark_type


@pytest.mark.parametrize(
    ("native", "expected"),
    [
        ("TINYINT", ("integer", 3, 0)),
        ("BIGINT", ("integer", 19, 0)),
        ("HUGEINT", ("other", None, None)),
        ("UBIGINT", ("other", None, None)),
        ("UINTEGER", ("integer", 10, 0)),
        ("TIMESTAMP_NS", ("other", None, None)),
        ("DECIMAL(38,3)", ("decimal", 38, 3)),
        ("FLOAT", ("float", None, None)),
        ("TIMESTAMP WITH TIME ZONE", ("timestamp", None, None)),
        ("ENUM('a', 'INTEGER')", ("text", None, None)),
        ("ENUM('a')[]", ("other", None, None)),
        ("BIGINT[]", ("other", None, None)),
        ("STRUCT(a BIGINT)", ("other", None, None)),
        ("DECIMAL(5,2)[]", ("other", None, None)),
        ("UUID", ("other", None, None)),
        ("TIME", ("other", None, None)),
        ("BLOB", ("other", None, None)),
        ("bigint", ("other", None, None)),
    ],
)
def test_types_of_duckdb(native: str, expected: tuple[str, int | None, int | None]) -> None:
    found = duckdb_type(native)
    assert (found.kind, found.digits, found.scale) == expected
    assert found.native == native


@pytest.mark.parametrize(
    ("name", "modifier", "expected"),
    [
        ("int2", -1, ("integer", 5, 0)),
        ("int8", -1, ("integer", 19, 0)),
        ("numeric", (38 << 16 | 10) + 4, ("decimal", 38, 10)),
        ("numeric", -1, ("decimal", None, None)),
        ("numeric", (2 << 16 | (2048 - 3)) + 4, ("decimal", 5, 0)),  # numeric(2, -3): up to 99000
        ("numeric", (3 << 16 | 5) + 4, ("decimal", 5, 5)),  # numeric(3, 5): up to 0.00999
        ("varchar", 14, ("text", None, None)),
        ("timestamptz", -1, ("timestamp", None, None)),
        ("_int4", -1, ("other", None, None)),
        ("money", -1, ("other", None, None)),
        ("jsonb", -1, ("other", None, None)),
        ("bpchar", 8, ("other", None, None)),
        ("citext", -1, ("other", None, None)),
    ],
)
def test_types_of_postgres(name: str, modifier: int, expected: tuple[str, int | None, int | None]) -> None:
    found = postgres_type(name, modifier, name)
    assert (found.kind, found.digits, found.scale) == expected


def test_labels_of_postgres_are_text() -> None:
    assert postgres_type("mood", -1, "mood", is_enum=True).kind == "text"
    assert postgres_type("mood", -1, "mood").kind == "other"


def test_a_collation_that_folds_is_named() -> None:
    found = postgres_type("text", -1, "text", folding='a "b"')
    assert (found.kind, found.native) == ("other", 'text COLLATE "a ""b"""')


@pytest.mark.parametrize(
    ("native", "expected"),
    [
        ("int", ("integer", 10, 0)),
        ("bigint", ("integer", 19, 0)),
        ("decimal(38,18)", ("decimal", 38, 18)),
        ("double", ("float", None, None)),
        ("varchar(10)", ("text", None, None)),
        ("char(3)", ("text", None, None)),
        ("string", ("text", None, None)),
        ("string collate UTF8_LCASE", ("other", None, None)),
        ("varchar(10) collate UTF8_LCASE", ("other", None, None)),
        ("timestamp_ntz", ("timestamp", None, None)),
        ("array<int>", ("other", None, None)),
        ("struct<a:int>", ("other", None, None)),
        ("binary", ("other", None, None)),
        ("void", ("other", None, None)),
    ],
)
def test_types_of_spark(native: str, expected: tuple[str, int | None, int | None]) -> None:
    found = spark_type(native)
    assert (found.kind, found.digits, found.scale) == expected
