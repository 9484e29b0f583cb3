"""Counting through DuckDB against counting by hand."""

# ruff: noqa: S608 - queries over files of the test

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.domain import Bins, Category, CountTable, Domain, Mesh
from sudare.errors import InputError, ParameterError
from sudare.io import Source, read_counts

MESH = Mesh("KEY_CODE", "3", 4280, 3180, 10, 10)
CODES = MESH.values((np.arange(10), np.arange(10))).tolist()
EDGES = (0, 0.1, 15, 65, 120)
DOMAIN = Domain((MESH, Category("sex", ("f", "m")), Bins("age", EDGES)))

People = list[dict[str, Any]]
AGES = st.one_of(st.sampled_from([0.0, 0.1, 15.0, 65.0, 119.999]), st.floats(0, 119.5))
PERSONS = st.fixed_dictionaries(
    {
        "person": st.integers(1, 6),
        "KEY_CODE": st.sampled_from(CODES),
        "sex": st.sampled_from(["f", "m"]),
        "age": AGES,
    }
)


def counted_by_hand(people: People, domain: Domain = DOMAIN) -> CountTable:
    names = [attribute.name for attribute in domain.attributes]
    counter: Counter[int] = Counter()
    for person in people:
        (key,) = domain.keys_of({name: [person[name]] for name in names}).tolist()
        counter[key] += 1
    keys = np.array([*counter], dtype=np.int64)
    return CountTable.from_cells(domain, keys, np.array([*counter.values()], dtype=np.int64))


def write(people: People, path: Path) -> str:
    schema = pyarrow.schema([("person", "int64"), ("KEY_CODE", "int64"), ("sex", "string"), ("age", "float64")])
    table = pyarrow.Table.from_pylist(people, schema)
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=3)
    else:
        rows = [",".join(str(person[name]) for name in schema.names) for person in people]
        path.write_text("\n".join(["person,KEY_CODE,sex,age", *rows]) + "\n")
    return str(path)


@settings(max_examples=12)
@given(
    people=st.lists(PERSONS, max_size=20), suffix=st.sampled_from([".csv", ".parquet"]), threads=st.sampled_from([1, 2])
)
def test_counts_as_a_counter_does(people: People, suffix: str, threads: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(people, Path(folder) / f"people{suffix}")
        assert read_counts(Source(path), DOMAIN, threads=threads) == counted_by_hand(people)


@settings(max_examples=6)
@given(people=st.lists(PERSONS, max_size=25), kept=st.integers(1, 3), data=st.data())
def test_order_of_rows_and_files_does_not_matter(people: People, kept: int, data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(people))
    cut = data.draw(st.integers(0, len(people)))
    with tempfile.TemporaryDirectory() as folder:
        one = write(people, Path(folder) / "people.parquet")
        first, second = (write(part, Path(folder) / name) for part, name in (
            (shuffled[:cut], "z.parquet"), (shuffled[cut:], "a.parquet")))  # fmt: skip
        whole = read_counts(Source(one, person="person"), DOMAIN, rows_per_person=kept)
        parted = read_counts(Source((first, second), person="person"), DOMAIN, rows_per_person=kept, threads=1)
    assert whole == parted
    assert whole.total == sum(min(kept, n) for n in Counter(person["person"] for person in people).values())


@settings(max_examples=6)
@given(people=st.lists(PERSONS, min_size=1, max_size=15))
def test_one_person_changes_only_their_own_rows(people: People) -> None:
    others = [person for person in people if person["person"] != people[0]["person"]]
    own = [person for person in people if person["person"] == people[0]["person"]]
    with tempfile.TemporaryDirectory() as folder:
        tables = [
            read_counts(Source(write(part, Path(folder) / f"{number}.parquet"), person="person"), DOMAIN)
            for number, part in enumerate((people, others, own))
        ]
    assert np.array_equal(tables[0].to_dense(), tables[1].to_dense() + tables[2].to_dense())
    assert tables[2].total == 1


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_people_who_opted_out_are_left_out(suffix: str, tmp_path: Path) -> None:
    people = [{"person": n, "KEY_CODE": CODES[0], "sex": "f", "age": 20.0 + n} for n in (1, 2, 2, 30)]
    path = write(people, tmp_path / f"people{suffix}")
    salt = "it's salt"
    digests = frozenset(hashlib.sha256(f"{salt}\0{person}".encode()).hexdigest() for person in ("2", "99"))
    table = read_counts(Source(path, person="person"), DOMAIN, opted_out=(salt, digests))
    assert table == counted_by_hand([people[0], people[3]])


@settings(max_examples=12)
@given(
    edges=st.lists(st.floats(-1e6, 1e6) | st.integers(-(2**53), 2**53), min_size=2, max_size=9, unique=True),
    whole=st.booleans(),
    data=st.data(),
)
def test_bins_are_those_of_the_attribute(edges: list[float], whole: bool, data: st.DataObject) -> None:
    edges = sorted(set(map(float, edges)))
    if len(edges) < 2:
        return
    bins = Bins("x", tuple(edges))
    near = [*edges[:-1], *(np.nextafter(edge, -np.inf) for edge in edges[1:])]
    values = data.draw(st.lists(st.sampled_from(near) | st.floats(edges[0], edges[-1], exclude_max=True), max_size=8))
    column = np.array(values, dtype=np.float64)
    if whole:
        column = np.ceil(column)
        column = column[column < edges[-1]].astype(np.int64)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"x": column}), path)
        domain = Domain((bins,))
        table = read_counts(Source(str(path)), domain, threads=1)
    assert np.array_equal(table.to_dense(), np.bincount(bins.places(column)[0], minlength=len(edges) - 1))


def test_many_bins_are_placed_by_numpy(tmp_path: Path) -> None:
    bins = Bins("x", tuple(range(3000)))
    path = tmp_path / "x.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": [0.0, 2998.5, 7.0, 7.9]}), path)
    table = read_counts(Source(str(path)), Domain((bins,)))
    assert table.keys.tolist() == [0, 7, 2998]
    assert table.counts.tolist() == [1, 2, 1]


def test_counts_of_single_years_are_added_up_in_bins(tmp_path: Path) -> None:
    path = tmp_path / "ages.csv"
    path.write_text("age,count\n3,10\n4,5\n15,2\n")
    table = read_counts(Source(str(path), rows="counts"), Domain((Bins("age", (0, 15, 65)),)))
    assert table.to_dense().tolist() == [15, 2]


def test_a_query_over_files(tmp_path: Path) -> None:
    people = [
        {"person": 1, "KEY_CODE": CODES[0], "sex": "f", "age": 20.0},
        {"person": 2, "KEY_CODE": CODES[1], "sex": "m", "age": 5.0},
    ]
    path = write(people, tmp_path / "people.parquet")
    query = f"SELECT KEY_CODE, sex, age FROM '{path}' WHERE age < 18 -- children"
    assert read_counts(Source(query=query), DOMAIN) == counted_by_hand(people[1:])


def test_a_query_over_a_database(tmp_path: Path) -> None:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT 'f' AS sex, 1 AS n UNION ALL SELECT 'm', 2")
    domain = Domain((Category("sex", ("f", "m")),))
    counts = Source(str(path), query="SELECT sex, n AS count FROM people;", rows="counts")
    assert read_counts(counts, domain).to_dense().tolist() == [1, 2]
    assert read_counts(Source(str(path)), domain).to_dense().tolist() == [1, 1]


@pytest.mark.parametrize("query", ["DROP TABLE people", "SELECT 1; SELECT 2", "SELEC 1", "SET threads = 1"])
def test_only_one_select_is_run(query: str, tmp_path: Path) -> None:
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT 'f' AS sex")
    with pytest.raises(InputError, match="query cannot be run"):
        read_counts(Source(str(path), query=query), Domain((Category("sex", ("f", "m")),)))


def test_columns_of_other_names_and_where(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("Geschlecht,year\nf,2020\nm,2020\nf,2021\n")
    source = Source(str(path), columns={"sex": "Geschlecht"}, where={"year": 2020})
    assert read_counts(source, Domain((Category("sex", ("f", "m")),))).to_dense().tolist() == [1, 1]
    text = Source(str(path), columns={"sex": "Geschlecht"}, where={"year": "2021"})
    assert read_counts(text, Domain((Category("sex", ("f", "m")),))).to_dense().tolist() == [1, 0]


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("sex\r\n男\r\n女\r\n男\r\n".encode("cp932"), "cp932"),
        ("sex\n男\n女\n男\n".encode("euc_jp"), "euc_jp"),
        ("sex\n男\n女\n男\n".encode("utf-8-sig"), "utf-8"),
        ('"sex"\n"男"\n"女"\n男'.encode(), "utf-8"),
    ],
)
def test_encodings_and_line_ends(content: bytes, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    table = read_counts(Source(str(path), encoding=encoding), Domain((Category("sex", ("女", "男")),)))
    assert table.to_dense().tolist() == [1, 2]


def test_files_with_columns_in_another_order(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("sex,count\nf,1\n")
    (tmp_path / "b.csv").write_text("count,sex,note\n2,m,x\n")
    table = read_counts(Source(str(tmp_path), rows="counts"), Domain((Category("sex", ("f", "m")),)))
    assert table.to_dense().tolist() == [1, 2]


def test_mesh_codes_may_be_texts_or_floats(tmp_path: Path) -> None:
    expected = CountTable.from_cells(Domain((MESH,)), [0, 11], [2, 1])
    codes = [CODES[0], CODES[1], CODES[0]]
    for number, column in enumerate((codes, [str(code) for code in codes], [float(code) for code in codes])):
        path = tmp_path / f"{number}.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"KEY_CODE": column}), path)
        assert read_counts(Source(str(path)), Domain((MESH,))) == expected


def test_file_names_with_special_characters(tmp_path: Path) -> None:
    for name in ("it's [1] *.parquet", "it's [1] *.csv"):
        path = tmp_path / name
        write([{"person": 1, "KEY_CODE": CODES[0], "sex": "f", "age": 20.0}], path)
        assert read_counts(Source(str(path)), DOMAIN).total == 1


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_name_that_is_also_a_pattern_means_the_file(suffix: str, tmp_path: Path) -> None:
    person = {"person": 1, "KEY_CODE": CODES[0], "sex": "f", "age": 20.0}
    path = write([person], tmp_path / f"a*{suffix}")
    write([person] * 5, tmp_path / f"ab{suffix}")
    assert read_counts(Source(path), DOMAIN).total == 1


def test_progress_ends_at_one(tmp_path: Path) -> None:
    path = write([{"person": 1, "KEY_CODE": CODES[0], "sex": "f", "age": 20.0}], tmp_path / "people.parquet")
    reports: list[float] = []
    read_counts(Source(path), DOMAIN, progress=lambda share, _: reports.append(share))
    assert reports == sorted(reports)
    assert (reports[0], reports[-1]) == (0.0, 1.0)


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    path = write([{"person": 1, "KEY_CODE": 5, "sex": "f", "age": 20.0}], tmp_path / "people.parquet")
    with pytest.raises(InputError):
        read_counts(Source(path), DOMAIN)
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"rows_per_person": 2},
        {"opted_out": ("salt", frozenset())},
        {"memory": "lots"},
        {"threads": 0},
    ],
)
def test_arguments_must_go_together(arguments: dict[str, Any], tmp_path: Path) -> None:
    path = write([], tmp_path / "people.parquet")
    with pytest.raises(ParameterError):
        read_counts(Source(path), DOMAIN, **arguments)


def test_digests_must_be_digests(tmp_path: Path) -> None:
    path = write([], tmp_path / "people.parquet")
    with pytest.raises(ParameterError, match="64 hexadecimal"):
        read_counts(Source(path, person="person"), DOMAIN, opted_out=("salt", frozenset({"abc"})))


@pytest.mark.slow
def test_much_data_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT range // 2 AS person, (range * 7919) % 100000 AS place FROM range(6000000)) TO '{path}'"
        )
    domain = Domain.of_shape((100_000,))
    source = Source(str(path), person="person", columns={"axis 0": "place"})
    table = read_counts(source, domain, rows_per_person=2, memory="150MB", threads=2)
    assert table.total == 6_000_000
    assert np.array_equal(table.counts, np.full(100_000, 60))


@pytest.mark.parametrize("rows", ["people", "counts"])
def test_meshes_outside_of_the_window_can_be_left_out(rows: str, tmp_path: Path) -> None:
    path = tmp_path / "map.csv"
    path.write_text(f"KEY_CODE,count\n{CODES[0]},1\n64414277,1\n{CODES[1]},1\n")
    domain = Domain((MESH,))
    shown = {"people": "a value", "counts": "'64414277'"}[rows]  # of people, it is where somebody lives
    with pytest.raises(InputError, match=rf"{shown} in 'map.csv', row 3"):
        read_counts(Source(str(path), rows=rows), domain)
    kept = read_counts(Source(str(path), rows=rows, outside="leave out"), domain)
    assert kept == CountTable.from_cells(domain, [0, 11], [1, 1])
    path.write_text(f"KEY_CODE,count\n{CODES[0]},1\n64414,1\n")
    shown = {"people": "a value", "counts": "'64414'"}[rows]
    with pytest.raises(InputError, match=rf"{shown} in 'map.csv', row 3"):
        read_counts(Source(str(path), rows=rows, outside="leave out"), domain)


def test_columns_named_like_our_own(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("v0,a0,p,n,nobody\nf,1,x,5,1\nm,2,x,5,1\nf,1,y,5,1\n")
    names = {"sex": "a0", "kind": "v0"}
    domain = Domain((Category("sex", (1, 2)), Category("kind", ("f", "m"))))
    source = Source(str(path), columns=names, person="p", where={"n": 5, "v0": "f"})
    assert read_counts(source, domain).to_dense().tolist() == [[2, 0], [0, 0]]
    assert read_counts(Source(str(path), columns=names), domain).to_dense().tolist() == [[2, 0], [0, 1]]
    by_count = Source(str(path), rows="counts", count="n", columns=names, where={"p": "x"})
    assert read_counts(by_count, domain).to_dense().tolist() == [[5, 0], [0, 5]]


def test_folders_that_tell_values(tmp_path: Path) -> None:
    for year in (2020, 2021):
        (tmp_path / f"year={year}").mkdir()
        pyarrow.parquet.write_table(
            pyarrow.table({"sex": ["f"] * (year - 2019)}), tmp_path / f"year={year}" / "a.parquet"
        )
    (tmp_path / "_SUCCESS").touch()
    domain = Domain((Category("year", (2020, 2021)), Category("sex", ("f", "m"))))
    assert read_counts(Source(str(tmp_path)), domain).to_dense().tolist() == [[1, 0], [2, 0]]


def test_days_written_as_midnights(tmp_path: Path) -> None:
    days = [datetime(2020, 10, 1), datetime(2020, 10, 2), datetime(2020, 10, 1)]
    path = tmp_path / "days.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"day": days}), path)
    domain = Domain((Category("day", (date(2020, 10, 1), date(2020, 10, 2))),))
    assert read_counts(Source(str(path)), domain).to_dense().tolist() == [2, 1]


@pytest.mark.parametrize(
    ("column", "labels"),
    [
        (pyarrow.array(["f", "m", "f"]).dictionary_encode(), ("f", "m")),
        (pyarrow.array(["f", "m", "f"], pyarrow.large_string()), ("f", "m")),
        (pyarrow.array([1, 2, 1], pyarrow.uint8()), (1, 2)),
        (pyarrow.array([1, 2, 1], pyarrow.int64()), ("1", "2")),
        (pyarrow.array(["1", "2", "1"]), (1, 2)),
        (pyarrow.array([1.0, 2.0, 1.0]), (1, 2)),
        (pyarrow.array([True, False, True]), (True, False)),
        (pyarrow.array(["True", "FALSE", "true"]), (True, False)),
        (pyarrow.array([date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 1)]), (date(2020, 1, 1), date(2020, 1, 2))),
        (pyarrow.array(["2020-01-01", "2020-01-02", "2020-01-01"]), (date(2020, 1, 1), date(2020, 1, 2))),
    ],
)
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_labels_of_every_type(column: Any, labels: tuple[Any, ...], suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"labels.{suffix}"
    table = pyarrow.table({"label": column})
    if suffix == "parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        with pyarrow.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    assert read_counts(Source(str(path)), Domain((Category("label", labels),))).to_dense().tolist() == [2, 1]


@pytest.mark.parametrize("kind", ["int8", "uint16", "int64", "uint64", "float32", "float64", "decimal128(12, 3)"])
def test_counts_of_every_type(kind: str, tmp_path: Path) -> None:
    if kind.startswith("decimal"):
        counts = pyarrow.array([Decimal(0), Decimal(100)], pyarrow.decimal128(12, 3))
    else:
        counts = pyarrow.array([0, 100], kind)
    path = tmp_path / "counts.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"sex": ["f", "m"], "count": counts}), path)
    source = Source(str(path), rows="counts")
    assert read_counts(source, Domain((Category("sex", ("f", "m")),))).to_dense().tolist() == [0, 100]


@pytest.mark.parametrize("content", ["sex", "sex\n", "sex,age\n", "\ufeffsex\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp932", "utf-16"])
def test_a_header_without_rows_is_nobody(content: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(content.lstrip("" if encoding == "utf-8" else "\ufeff").encode(encoding))
    assert read_counts(Source(str(path), encoding=encoding), Domain((Category("sex", ("f", "m")),))).total == 0


WIDE = {"sex": {"f": "women", "m": "men"}}


@pytest.mark.parametrize("columns", [{}, {"sex": {"f": "women", "m": "men"}}])
def test_where_that_keeps_nothing_is_nobody(columns: dict[str, Any], tmp_path: Path) -> None:
    """Rows without people are often left out of tables of counts: whether any row is kept tells whether anybody is there."""
    path = tmp_path / "counts.csv"
    path.write_text("sex,year,count,women,men\nf,2020,3,1,2\n")
    source = Source(str(path), rows="counts", columns=columns, where={"year": 2031})
    assert read_counts(source, Domain((Category("sex", ("f", "m")),))).total == 0


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_an_attribute_in_several_columns_of_counts(form: str, tmp_path: Path) -> None:
    """Wide tables are read as if they had been made long before."""
    domain = Domain((Bins("age", (0, 15, 65, 120)), Category("sex", ("f", "m")), Category("ward", ("a", "b"))))
    wide = pyarrow.table({"ward": ["a", "b", "a"], "age": [3, 70, 30], "men": [5, 0, 2], "women": [1, 7, 0]})
    long = pyarrow.table(
        {
            "ward": ["a", "b", "a"] * 2,
            "age": [3, 70, 30] * 2,
            "sex": ["m"] * 3 + ["f"] * 3,
            "count": [5, 0, 2, 1, 7, 0],
        }
    )
    tables = []
    for name, table in (("wide", wide), ("long", long)):
        path = tmp_path / f"{name}.{form}"
        pyarrow.csv.write_csv(table, path) if form == "csv" else pyarrow.parquet.write_table(table, path)
        tables.append(read_counts(Source(str(path), rows="counts", columns=WIDE if name == "wide" else {}), domain))
    assert tables[0] == tables[1]
    by_age = {"age": {"0": "men", "15": "women"}}
    ages = Domain((Bins("age", (0, 15.0, 65)), Category("ward", ("a", "b"))))
    path = tmp_path / "once.csv"
    path.write_text("ward,men,women\na,1,2\nb,3,4\n")
    assert read_counts(Source(str(path), rows="counts", columns=by_age), ages).to_dense().tolist() == [[1, 3], [2, 4]]


def test_mistakes_in_several_columns_of_counts(tmp_path: Path) -> None:
    path, domain = tmp_path / "wide.csv", Domain((Category("ward", ("a", "b")), Category("sex", ("f", "m"))))
    for content, message in (
        ("ward,men,women\na,424242,x\n", "'women' must hold whole numbers .*row 2"),
        ("ward,men,women\na,424242,\n", "'women' has an empty field in .*row 2"),
        ("ward,men\na,424242\n", "no column 'women'"),
        ("ward,men,women\na,424242,1\na,1,1\n", "Several rows hold a count for ward = a"),
    ):
        path.write_text(content)
        with pytest.raises(InputError, match=message) as caught:
            read_counts(Source(str(path), rows="counts", columns=WIDE), domain)
        assert "424242" not in caught.value.explain("en") + caught.value.explain("ja")
    with pytest.raises(InputError, match="no attribute of this name"):
        read_counts(Source(str(path), rows="counts", columns=WIDE), Domain((Category("ward", ("a", "b")),)))
    for arguments, message in (
        ({"columns": WIDE}, "'rows' parameter of Source must be 'counts' where 'sex'"),
        (
            {"columns": WIDE, "rows": "counts", "count": "men"},
            "'count' parameter of Source must be left out where 'sex'",
        ),
        ({"columns": WIDE | {"age": {"1": "x"}}, "rows": "counts"}, "for one attribute only"),
        (
            {"columns": {"sex": {"f": "men", "m": "men"}}, "rows": "counts"},
            "a column of its own for each value of 'sex'",
        ),
        ({"columns": {"sex": {}}, "rows": "counts"}, "'columns' parameter"),
    ):
        with pytest.raises(ParameterError, match=message):
            Source("a.csv", **arguments)


LIMITS: tuple[dict[str, Any], ...] = ({}, {"rows_per_person": 1}, {"cells_per_person": 2, "rows_per_cell": 2})


@pytest.mark.parametrize("limits", LIMITS, ids=["people", "rows", "cells"])
@pytest.mark.parametrize("newcomer_first", [False, True])
def test_one_persons_spelling_moves_nobody(tmp_path: Path, limits: dict[str, Any], newcomer_first: bool) -> None:
    """Under a collation that folds, a database hands out one spelling for all: that of the row that was stored first."""
    people = [(f"p{number}", "ad") for number in range(50)]
    newcomer = [("P7", "AD")]
    rows = [*newcomer, *people] if newcomer_first else [*people, *newcomer]
    file = tmp_path / "people.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE t (id VARCHAR COLLATE NOCASE, diagnosis VARCHAR COLLATE NOCASE)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
    source = Source(str(file), query="SELECT * FROM t", person="id" if limits else None)
    counted = read_counts(source, Domain((Category("diagnosis", ("ad", "AD")),)), **limits)
    assert counted.to_dense().tolist() == [50, 1]
