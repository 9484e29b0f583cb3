# ruff: noqa: S608 (queries are put together from names that the tests chose)
from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

from sudare.engines import Engine, open_engine
from sudare.errors import DatabaseError


def write(path: Path, **columns: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pa.table(columns), path)
    return path


def answer(engine: Engine, sql: str) -> list[Any]:
    return [tuple(row.values()) for row in engine.fetch(sql).to_pylist()]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT i, 'word ' || i AS w FROM range(3) AS r (i)")
        connection.execute("CREATE SCHEMA side; CREATE TABLE side.u (d DECIMAL(9, 3)); INSERT INTO side.u VALUES (1.5)")
        connection.execute('CREATE TABLE "with.point" (i INTEGER); CREATE VIEW v AS SELECT sum(i) AS s FROM t')
        connection.execute('CREATE VIEW named AS SELECT * FROM "my shop".main.t')
    return path


def write_elsewhere(path: Path) -> bool:
    """Whether another process could write to a database file."""
    program = (
        f"import duckdb; c = duckdb.connect({str(path)!r}); c.execute('INSERT INTO t VALUES (9, NULL)'); c.close()"
    )
    return subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60).returncode == 0


class TestDatabaseFile:
    def test_tables_and_views_of_all_schemas(self, file: Path) -> None:
        with open_engine(file) as engine:
            assert engine.tables() == ["named", "side.u", "t", "v"]
            assert engine.columns("side.u")["d"].native == "DECIMAL(9,3)"
            assert list(engine.columns("v")) == ["s"]
            assert answer(engine, "SELECT s FROM v") == [(3,)]
            assert answer(engine, "SELECT count(*) FROM named") == [(3,)]
            assert answer(engine, "SELECT count(*) FROM side.u") == [(1,)]

    def test_all_ways_to_write_its_name(self, file: Path) -> None:
        addresses = set()
        link = file.with_name("link.duckdb")
        link.symlink_to(file)
        for location in (file, str(file), f"duckdb://{file}", os.path.relpath(file), link):
            with open_engine(location) as engine:
                assert "t" in engine.tables()
                addresses.add(engine.address)
        assert addresses == {f"duckdb://{file}"}

    @pytest.mark.parametrize("stem", ["memory", "temp", "system", "main", "it's"])
    def test_names_of_files_that_mean_something_to_duckdb(self, tmp_path: Path, stem: str) -> None:
        with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
            connection.execute("CREATE TABLE t AS SELECT 1 AS i")
        (tmp_path / "x.duckdb").rename(tmp_path / f"{stem}.db")
        with open_engine(tmp_path / f"{stem}.db") as engine:
            assert engine.tables() == ["t"]
            assert answer(engine, "SELECT i FROM t") == [(1,)]

    def test_a_schema_with_the_name_of_the_file(self, tmp_path: Path) -> None:
        with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
            connection.execute(
                "CREATE TABLE t AS SELECT 1 AS i; CREATE SCHEMA SHOP; CREATE TABLE shop.shop.t AS SELECT 2 AS i"
            )
        with open_engine(tmp_path / "shop.duckdb") as engine:
            assert engine.tables() == ["SHOP.t", "t"]
            assert answer(engine, 'SELECT i FROM t UNION ALL SELECT i FROM "SHOP".t ORDER BY i') == [(1,), (2,)]
            assert list(engine.columns("SHOP.t")) == ["i"]

    def test_nobody_else_writes_while_it_is_open(self, file: Path) -> None:
        with open_engine(file) as engine:
            state = engine.state(["t"])
            assert not write_elsewhere(file)
            assert engine.state(["t"]) == state
        assert write_elsewhere(file)
        with open_engine(file) as engine:
            assert engine.state(["t"]) != state

    def test_a_change_that_the_lock_did_not_prevent_is_noticed(self, file: Path) -> None:
        with open_engine(file) as engine:
            open_engine(file).close()  # which ends the lock of the first one
            if not write_elsewhere(file):
                pytest.skip("the lock lasted")
            for ask in (
                lambda: engine.fetch("SELECT 1 AS x"),
                lambda: engine.state(["t"]),
                lambda: engine.keep("k", "SELECT 1"),
            ):
                with pytest.raises(DatabaseError, match="was changed"):
                    ask()

    def test_a_log_beside_the_file_is_read_and_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "a.duckdb"
        program = (
            f"import duckdb, os; c = duckdb.connect({str(path)!r}); c.execute('CREATE TABLE t AS SELECT 1 AS i'); "
            "c.execute('CHECKPOINT'); c.execute('INSERT INTO t VALUES (2)'); os._exit(0)"
        )
        subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
        log = path.with_name("a.duckdb.wal")
        before = path.read_bytes(), log.read_bytes()
        with open_engine(path) as engine:
            assert answer(engine, "SELECT sum(i) FROM t") == [(3,)]
        assert (path.read_bytes(), log.read_bytes()) == before

    def test_a_file_that_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "a.duckdb").write_bytes(b"SECRET" * 10_000)
        for name in ("a.duckdb", "missing.duckdb", "missing.db"):
            with pytest.raises(DatabaseError, match="cannot be opened") as raised:
                open_engine(tmp_path / name)
            assert raised.value.__context__ is None
        assert not (tmp_path / "missing.duckdb").exists()

    def test_a_view_of_other_files_cannot_be_read(self, tmp_path: Path) -> None:
        other = write(tmp_path / "other.parquet", x=[1])
        with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
            connection.execute(f"CREATE VIEW v AS SELECT * FROM read_parquet('{other}'); CREATE TABLE t (i INTEGER)")
        with open_engine(tmp_path / "a.duckdb") as engine:
            for query in ("SELECT * FROM v", f"SELECT * FROM '{other}'", f"SELECT * FROM read_text('{other}')"):
                with pytest.raises(DatabaseError):
                    engine.fetch(query)

    def test_unknown_tables_have_no_state(self, file: Path) -> None:
        with open_engine(file) as engine, pytest.raises(DatabaseError, match="has no table 'T'"):
            engine.state(["T"])


class TestParquet:
    def test_the_state_follows_the_files_of_the_table(self, tmp_path: Path) -> None:
        write(tmp_path / "a.parquet", x=[1])
        write(tmp_path / "b.parquet", x=[1])
        write(tmp_path / "parts" / "0.parquet", x=[1])
        with open_engine(tmp_path) as engine:
            first = {table: engine.state([table]) for table in engine.tables()}
            assert None not in first.values()
            write(tmp_path / "new.tmp", x=[2])
            (tmp_path / "new.tmp").replace(tmp_path / "a.parquet")
            assert engine.state(["a"]) != first["a"]
            assert engine.state(["b"]) == first["b"]
            assert engine.state(["a", "b"]) != " ".join(str(first[table]) for table in ("a", "b"))
            assert answer(engine, "SELECT x FROM a") == [(2,)]
            write(tmp_path / "parts" / "1.parquet", x=[5])
            assert engine.state(["parts"]) != first["parts"]
            assert answer(engine, "SELECT sum(x) FROM parts") == [(6,)]
            (tmp_path / "parts" / "1.parquet").unlink()
            assert engine.state(["parts"]) == first["parts"]

    def test_folders_with_signs_of_patterns(self, tmp_path: Path) -> None:
        write(tmp_path / "a [1] {2} *" / "it's? [x]" / "0.parquet", x=[1])
        write(tmp_path / "a [1] {2} *" / "it's? [x]" / ".left out.parquet", y=["SECRET"])
        write(tmp_path / "a [1] {2} *" / "single [*].parquet", x=[2])
        with open_engine(tmp_path / "a [1] {2} *") as engine:
            assert engine.tables() == ["it's? [x]", "single [*]"]
            assert answer(engine, 'SELECT x FROM "it\'s? [x]" UNION ALL SELECT x FROM "single [*]" ORDER BY x') == [
                (1,),
                (2,),
            ]

    def test_a_file_in_another_type_is_refused(self, tmp_path: Path) -> None:
        write(tmp_path / "t" / "0.parquet", x=[1])
        write(tmp_path / "t" / "1.parquet", x=["SECRET"])
        with pytest.raises(DatabaseError, match="different columns or types"):
            open_engine(tmp_path)
        (tmp_path / "t" / "1.parquet").unlink()
        with open_engine(tmp_path) as engine:
            assert engine.columns("t")["x"].kind == "integer"
            write(tmp_path / "t" / "0.parquet", x=["SECRET"])
            assert engine.columns("t")["x"].kind == "text"
            write(tmp_path / "t" / "1.parquet", x=[1])
            with pytest.raises(DatabaseError, match="different columns or types"):
                engine.columns("t")

    def test_a_file_that_is_gone_or_damaged(self, tmp_path: Path) -> None:
        file = write(tmp_path / "t.parquet", x=["SECRET"])
        with open_engine(file) as engine:
            file.write_bytes(b"PAR1 SECRET PAR1")
            for ask in (lambda: engine.fetch("SELECT * FROM t"), lambda: engine.columns("t")):
                with pytest.raises(DatabaseError) as raised:
                    ask()
                assert "SECRET" not in str(raised.value)
            file.unlink()
            with pytest.raises(DatabaseError):
                engine.fetch("SELECT * FROM t")
        with pytest.raises(DatabaseError):
            open_engine(tmp_path)

    def test_other_files_cannot_be_read_or_written(self, tmp_path: Path) -> None:
        write(tmp_path / "open" / "t.parquet", x=[1])
        write(tmp_path / "open" / "parts" / "0.parquet", x=[1])
        other = write(tmp_path / "other.parquet", x=[1])
        with open_engine(tmp_path / "open") as engine:
            for query in (
                f"SELECT * FROM read_parquet('{other}')",
                f"SELECT * FROM read_parquet('{tmp_path}/open/../other.parquet')",
                f"SELECT * FROM read_parquet('{tmp_path}/open/parts/../../other.parquet')",
                f"SELECT * FROM glob('{tmp_path}/*')",
                "SELECT * FROM read_csv('/etc/passwd')",
            ):
                with pytest.raises(DatabaseError):
                    engine.fetch(query)

    def test_try_cast_gives_null(self, tmp_path: Path) -> None:
        write(tmp_path / "t.parquet", w=["1", "SECRET", None])
        with open_engine(tmp_path) as engine:
            assert sorted(answer(engine, "SELECT TRY_CAST(w AS INTEGER) AS i FROM t"), key=str) == [
                (1,),
                (None,),
                (None,),
            ]


class TestCsv:
    def text(self, tmp_path: Path, content: str, name: str = "t.csv") -> Path:
        (tmp_path / name).write_text(content, encoding="utf-8")
        return tmp_path / name

    def test_all_columns_are_text_unless_told(self, tmp_path: Path) -> None:
        path = self.text(tmp_path, 'a,"b c",d\n01,1.50,2026-11-16\n,"x, ""y""",\n')
        with open_engine(path) as engine:
            assert {kind.kind for kind in engine.columns("t").values()} == {"text"}
            assert answer(engine, "SELECT * FROM t ORDER BY a") == [
                ("01", "1.50", "2026-11-16"),
                (None, 'x, "y"', None),
            ]
        with open_engine(path, types={"t": {"a": "BIGINT", "b c": "decimal(9, 2)", "d": "DATE"}}) as engine:
            assert [kind.kind for kind in engine.columns("t").values()] == ["integer", "decimal", "date"]
            assert answer(engine, 'SELECT sum(a), sum("b c"), count(d) FROM t') == [(1, pytest.approx(1.5), 1)]

    def test_a_cast_never_fails_on_a_value(self, tmp_path: Path) -> None:
        path = self.text(tmp_path, "a,b\n1,2\nSECRET-VALUE,SECRET-VALUE\n99999999999999999999999,3\n")
        with open_engine(path, types={"t": {"a": "INTEGER"}}) as engine:
            assert answer(engine, "SELECT sum(a), count(a), count(*) FROM t") == [(1, 1, 3)]
            assert answer(engine, "SELECT sum(x) FROM (SELECT TRY_CAST(b AS INTEGER) AS x FROM t)") == [(5,)]
            assert sorted(answer(engine, "SELECT TRY_CAST(b AS INTEGER) AS x FROM t"), key=str) == [(2,), (3,), (None,)]

    def test_it_is_read_once(self, tmp_path: Path) -> None:
        path = self.text(tmp_path, "a\n1\n")
        with open_engine(path) as engine:
            state = engine.state(["t"])
            path.write_text("other\n5\n", encoding="utf-8")
            assert answer(engine, "SELECT a FROM t") == [("1",)]
            assert engine.state(["t"]) == state
        with open_engine(path) as engine:
            assert engine.state(["t"]) != state

    @pytest.mark.parametrize("line", ["SECRET", "SECRET,1,2", '"SECRET', "SECRET\x00,\xff"])
    def test_a_line_that_cannot_be_read_is_found_when_it_is_opened(self, tmp_path: Path, line: str) -> None:
        (tmp_path / "t.csv").write_bytes(f"a,b\n1,2\n{line}\n".encode("latin-1"))
        with pytest.raises(DatabaseError, match="cannot be read as CSV") as raised:
            open_engine(tmp_path)
        assert "SECRET" not in str(raised.value)
        assert raised.value.__context__ is None

    def test_gzip_and_tabs(self, tmp_path: Path) -> None:
        (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(b"a\tb,c\n1\t2\n"))
        with open_engine(tmp_path) as engine:
            assert answer(engine, 'SELECT a, "b,c" FROM t') == [("1", "2")]

    @pytest.mark.parametrize(
        ("types", "words"),
        [
            ({"u": {"a": "BIGINT"}}, "no table of CSV files"),
            ({"t": {"b": "BIGINT"}}, "does not have"),
            ({"t": {"a": "NONSENSE"}}, "is not known"),
            ({"t": {"a": "BIGINT); DROP TABLE t; --"}}, "is not known"),
            ({"t": {"a": "BIGINT[]"}}, "is not known"),
        ],
    )
    def test_types_that_are_none(self, tmp_path: Path, types: dict[str, dict[str, str]], words: str) -> None:
        path = self.text(tmp_path, "a\n1\n")
        with pytest.raises(DatabaseError, match=words):
            open_engine(path, types=types)


def test_variables_of_the_program_are_no_tables(tmp_path: Path) -> None:
    write(tmp_path / "t.parquet", x=[1])
    secret = pa.table({"x": [1]})
    with open_engine(tmp_path) as engine, pytest.raises(DatabaseError):
        engine.fetch("SELECT * FROM secret")
    assert secret.num_rows == 1


@pytest.mark.parametrize("sql", ["SELECT 1::UHUGEINT AS x", "SELECT 1::BIGNUM AS x"])
def test_numbers_that_arrow_cannot_hold_are_refused(tmp_path: Path, sql: str) -> None:
    write(tmp_path / "t.parquet", x=[1])
    with open_engine(tmp_path) as engine, pytest.raises(DatabaseError, match="not offered"):
        engine.fetch(sql)


def test_what_does_not_fit_in_memory_goes_to_a_private_folder_that_is_removed(tmp_path: Path) -> None:
    write(tmp_path / "t.parquet", x=[1])
    with open_engine(tmp_path) as engine:
        ((folder,),) = answer(engine, "SELECT current_setting('temp_directory') AS f")
        assert Path(folder).is_dir()
        assert Path(folder).stat().st_mode & 0o077 == 0
    assert not Path(folder).exists()


def test_nanoseconds_of_parquet_files_become_microseconds(tmp_path: Path) -> None:
    """A time that nanoseconds cannot hold would make a query fail as soon as a row is compared with it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    times = pa.array([0, 2**62], pa.timestamp("ns"))
    pq.write_table(pa.table({"seen": times}), tmp_path / "visits.parquet")
    with open_engine(tmp_path / "visits.parquet") as engine:
        assert engine.columns("visits")["seen"].native == "TIMESTAMP"
        found = engine.fetch("SELECT count(*) AS n FROM visits WHERE seen < TIMESTAMP '3000-01-01'")
        assert found.column("n").to_pylist() == [2]
