from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

from sudare.engines import ColumnType, open_engine
from sudare.engines.collations import collations_in
from sudare.errors import DatabaseError
from sudare.sql.metadata.model import ColumnMetadata, Metadata, TableMetadata
from sudare.sql.metadata.promises import require_schema

PLAIN = ColumnType("text", native="VARCHAR")
NOCASE = ColumnType("other", native="VARCHAR COLLATE nocase")
DOUBTFUL = ColumnType("other", native="VARCHAR COLLATE ?")


def described(column: str) -> Metadata:
    table = TableMetadata("t", {column: ColumnMetadata(column, ColumnType("text"))}, unit=column, max_rows=1)
    return Metadata("customer", {"t": table})


def columns(path: Path, statements: str, table: str = "t") -> dict[str, ColumnType]:
    """The columns of a table of a database file; that it has no more tables afterwards is checked as well."""
    with duckdb.connect(str(path / "a.duckdb")) as connection:
        connection.execute(statements)
    with open_engine(path / "a.duckdb") as engine:
        before = engine.tables()
        found = engine.columns(table)
        assert engine.columns(table) == found
        assert engine.tables() == before
        left = engine.fetch("SELECT count(*) AS n FROM duckdb_tables() WHERE temporary")
        assert left.to_pylist() == [{"n": 0}]
    return found


def test_a_collation_that_folds_is_no_text(tmp_path: Path) -> None:
    found = columns(
        tmp_path,
        """CREATE TABLE t (a VARCHAR COLLATE NOCASE, b VARCHAR, "x, ""y"" COLLATE (" VARCHAR DEFAULT 'COLLATE nocase',
           c VARCHAR COLLATE nocase.noaccent DEFAULT 'x', "c0 VARCHAR" TEXT COLLATE nfc NOT NULL, e ENUM ('COLLATE a', 'b'),
           f BOOLEAN, i INTEGER, CHECK (b COLLATE nocase <> 'x'), PRIMARY KEY (a))""",
    )
    assert found == {
        "a": ColumnType("other", native="VARCHAR COLLATE NOCASE"),
        "b": PLAIN,
        'x, "y" COLLATE (': PLAIN,
        "c": ColumnType("other", native="VARCHAR COLLATE nocase.noaccent"),
        "c0 VARCHAR": ColumnType("other", native="VARCHAR COLLATE nfc"),
        "e": ColumnType("text", native="ENUM('COLLATE a', 'b')"),
        "f": ColumnType("boolean", native="BOOLEAN"),
        "i": ColumnType("integer", 10, 0, "INTEGER"),
    }


@pytest.mark.parametrize("collation", ["binary", "C", "POSIX"])
def test_a_collation_that_folds_nothing_is_text(tmp_path: Path, collation: str) -> None:
    assert columns(tmp_path, f'CREATE TABLE t (a VARCHAR COLLATE "{collation}")') == {"a": PLAIN}


@pytest.mark.parametrize(
    "statements",
    [
        "CREATE TABLE t AS SELECT 'x' COLLATE nocase AS a",
        "CREATE TABLE t (b VARCHAR); ALTER TABLE t ADD COLUMN a VARCHAR COLLATE nocase; ALTER TABLE t DROP COLUMN b",
        "CREATE SCHEMA s; CREATE TABLE s.u (b VARCHAR COLLATE nocase); CREATE VIEW t AS SELECT b || 'x' AS a FROM s.u",
        "CREATE MACRO m(x) AS CAST(x AS VARCHAR) COLLATE nocase; CREATE VIEW t AS SELECT m('x') AS a",
        "CREATE VIEW t AS FROM query('SELECT ''x'' COL' || 'LATE nocase AS a')",
        "CREATE TABLE u AS SELECT {'b': 'x' COLLATE nocase} AS c; CREATE VIEW t AS SELECT c.b AS a FROM u",
    ],
)
def test_a_collation_from_elsewhere_is_found(tmp_path: Path, statements: str) -> None:
    assert columns(tmp_path, statements) == {"a": NOCASE}


def test_a_generated_column_has_the_collation_of_its_expression(tmp_path: Path) -> None:
    found = columns(
        tmp_path,
        """CREATE MACRO m(x) AS CAST(x AS VARCHAR) COLLATE nocase;
           CREATE TABLE t (b VARCHAR, a VARCHAR GENERATED ALWAYS AS (m(b)), c VARCHAR GENERATED ALWAYS AS (b || 'x'))""",
    )
    assert found == {"b": PLAIN, "a": NOCASE, "c": PLAIN}


@pytest.mark.parametrize(
    "other",
    [
        "CREATE TABLE u (b VARCHAR COLLATE nocase)",
        "CREATE VIEW u AS SELECT 'x' COLLATE nocase AS b",
        "CREATE MACRO m(x) AS CAST(x AS VARCHAR) COLLATE nocase",
        'CREATE SCHEMA s; CREATE TABLE s."with.point" (b VARCHAR COLLATE nocase)',
    ],
)
def test_views_beside_a_collation_are_in_doubt(tmp_path: Path, other: str) -> None:
    view = "CREATE VIEW t AS SELECT 'x' AS a, true AS f, CAST('b' AS ENUM ('b')) AS e"
    found = columns(tmp_path, f"{other}; {view}")
    assert found["a"] == DOUBTFUL
    assert [kind.kind for kind in found.values()] == ["other", "boolean", "text"]


def test_a_table_beside_a_collation_is_not(tmp_path: Path) -> None:
    assert columns(tmp_path, "CREATE TABLE u (b VARCHAR COLLATE nocase); CREATE TABLE t (a VARCHAR)") == {"a": PLAIN}


def test_views_without_any_collation_are_text_and_no_row_is_read(tmp_path: Path) -> None:
    statements = """CREATE TABLE u AS SELECT 'SECRET' AS a;
        CREATE VIEW t AS WITH x AS MATERIALIZED (SELECT CAST(CAST(a AS INTEGER) AS VARCHAR) AS a FROM u) SELECT * FROM x"""
    assert columns(tmp_path, statements) == {"a": PLAIN}


def test_files_are_text_wherever_they_are(tmp_path: Path) -> None:
    path = tmp_path / "collate"
    path.mkdir()
    (path / "c.csv").write_text("a\nx\n", encoding="utf-8")
    pyarrow.parquet.write_table(pa.table({"a": ["x"]}), path / "p.parquet")
    with open_engine(path) as engine:
        assert engine.columns("c") == engine.columns("p") == {"a": PLAIN}


@pytest.mark.parametrize(
    "definition",
    [
        "",
        "CREATE TEMP TABLE t(c0 VARCHAR);",
        "CREATE TEMP TABLE t(c1 VARCHAR, c0 VARCHAR);",
        "CREATE TEMP TABLE t(c0 VARCHAR, c1 VARCHAR, c2 VARCHAR);",
        "CREATE TEMP TABLE t(c0 VARCHAR, c1 VARCHAR NOT NULL);",
        "CREATE TEMP TABLE t(c0 VARCHAR, c1 VARCHAR USING folding);",
    ],
)
def test_a_definition_that_is_not_understood_is_doubted(definition: str) -> None:
    assert collations_in(definition, ["a", "b"]) == {"a": "?", "b": "?"}


def test_metadata_that_call_it_text_are_refused(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE t (a VARCHAR COLLATE nocase, b VARCHAR)")
    with open_engine(tmp_path / "a.duckdb") as engine:
        require_schema(engine, described("b"), ["t"])
        with pytest.raises(DatabaseError, match="other in the database, and text"):
            require_schema(engine, described("a"), ["t"])
