"""Counts on Spark are those of DuckDB: of every kind of column, for any partitions, with and without adaptive execution."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare import Budget, ResearchEntropy, publish
from sudare.domain import Attribute, Bins, Category, Domain, Mesh, Positions, Times
from sudare.engines import Engine
from sudare.errors import InputError
from sudare.io import Source, read_counts, write_table
from sudare.io.bounding import FIXED_KEY, SPARK, RowOrder
from sudare.io.bounding.encoding import encoded
from sudare.spark import count_on_spark
from tests.contracts.sql_servers import running_servers
from tests.reference import naive_row_order
from tests.unit.io.test_bounding_order import AWKWARD, KINDS, TEXTS

pytestmark = [pytest.mark.slow, pytest.mark.spark]

MESH = Mesh("KEY_CODE", "3", 4240, 3120, 80, 80)
SEX = Category("sex", ("f", "m"))
AGE = Bins("age", (0, 20, 60, 120))
POINTS = {"KEY_CODE": "lat,lon"}
LIMITS: list[dict[str, int]] = [
    {},
    {"rows_per_person": 2},
    {"cells_per_person": 2},
    {"cells_per_person": 3, "rows_per_cell": 2, "rows_per_person": 4},
]
KEY = "7b" * 32


@pytest.fixture(scope="module")
def running() -> Iterator[Engine]:
    with running_servers() as servers:
        yield servers.spark()


@pytest.fixture
def session(running: Engine) -> Any:
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate()


def people(seed: int = 5, number: int = 800) -> pa.Table:
    """Many points lie on borders of meshes, where exact arithmetic decides."""
    random = np.random.default_rng(seed)
    latitude, longitude = 35.6 + random.random(number) * 0.1, 139.7 + random.random(number) * 0.1
    latitude[:200] = 35.6 + random.integers(0, 12, 200) / 120
    longitude[100:300] = 139.7 + random.integers(0, 8, 200) / 80
    return pa.table(
        {
            "id": random.integers(0, 150, number),
            "lat": latitude,
            "lon": longitude,
            "sex": random.choice(["f", "m"], number),
            "age": pa.array(random.integers(0, 119, number), pa.int32()),
        }
    )


def written(table: pa.Table, folder: str | Path, parts: int = 3) -> str:
    place = Path(tempfile.mkdtemp(dir=folder)) / "people"
    place.mkdir()
    step = -(-max(table.num_rows, 1) // parts)
    for part in range(parts):
        pyarrow.parquet.write_table(table.slice(part * step, step), place / f"part-{part}.parquet")
    return str(place)


def both(path: str, domain: Domain, limits: dict[str, Any], **layout: Any) -> tuple[Any, Any]:
    person: dict[str, Any] = {"person": "id"} if limits or "opted_out" in layout else {}
    more: dict[str, Any] = {"selection_key": KEY}
    if "opted_out" in layout:
        more["opted_out"] = layout.pop("opted_out")
    expected = read_counts(Source(path, "parquet", **layout, **person), domain, **limits, **more)
    return expected, count_on_spark(Source(path, "spark", **layout, **person), domain, **limits, **more).table


@pytest.mark.parametrize("limits", [LIMITS[0], LIMITS[3]], ids=str)
def test_the_same_counts_as_duckdb(running: Engine, limits: dict[str, Any], tmp_path: Path) -> None:
    domain = Domain((MESH, SEX, AGE))
    path = written(people(), tmp_path)
    expected, found = both(path, domain, limits, columns=POINTS)
    assert found == expected
    assert found.total > 0
    if limits:
        assert found.total < 800
        assert (
            count_on_spark(Source(path, "spark", person="id", columns=POINTS), domain, **limits, selection_key="0" * 64)
        ).table != expected, "another key keeps other rows"


def test_any_partitions_and_plans_give_the_same_bytes(session: Any, tmp_path: Path) -> None:
    """The release's file too, from the same noise."""
    domain, table = Domain((MESH, SEX)), people()
    source = Source(written(table, tmp_path), "parquet", person="id", columns=POINTS)
    expected = read_counts(source, domain, cells_per_person=2, selection_key=KEY)

    def bytes_of(counts: Any) -> str:
        published = publish(counts, Budget(epsilon=1), "wide_tree", entropy=ResearchEntropy(4))
        file = write_table(published.table, tmp_path / "table.parquet", replace=True)
        return hashlib.sha256(file.read_bytes()).hexdigest()

    rows = session.createDataFrame(table)
    frame_source = Source(format="spark", table="-", person="id", columns=POINTS)
    before = session.conf.get("spark.sql.adaptive.enabled")
    try:
        for partitions, adaptive in ((1, "true"), (2, "false"), (4, "true")):
            session.conf.set("spark.sql.adaptive.enabled", adaptive)
            found = count_on_spark(
                frame_source, domain, rows.repartition(partitions), cells_per_person=2, selection_key=KEY
            )
            assert found.table == expected
            assert bytes_of(found.table) == bytes_of(expected)
    finally:
        session.conf.set("spark.sql.adaptive.enabled", before)


def test_whoever_opted_out_is_left_out(running: Engine, tmp_path: Path) -> None:
    digests = frozenset(hashlib.sha256(f"it's \\ salt\0{person}".encode()).hexdigest() for person in range(40))
    path = written(people(), tmp_path)
    for limits in LIMITS[1:2]:
        expected, found = both(path, Domain((SEX,)), limits, opted_out=("it's \\ salt", digests))
        assert found == expected
        assert found != both(path, Domain((SEX,)), limits)[0]


MOMENTS = [datetime(2026, 4, 1, tzinfo=UTC) + timedelta(minutes=37 * step, microseconds=step) for step in range(60)]
HALF = Times("at", "hour", MOMENTS[0].date(), MOMENTS[0].date() + timedelta(days=1), "Asia/Tokyo")
COLUMNS: list[tuple[str, Attribute, pa.Array, dict[str, Any]]] = [
    ("texts", Category("a", ("x", "あ", "1")), pa.array(["x", "あ", "1", "あ"] * 15), {}),
    ("codes", MESH, pa.array(MESH.values((np.arange(60), np.arange(60)))), {}),
    ("codes as texts", MESH, pa.array(map(str, MESH.values((np.arange(60), np.arange(60))))), {}),
    ("positions", Positions("a", 70), pa.array(range(60)), {}),
    ("truths", Category("a", (True, False)), pa.array([True, False, True] * 20), {}),
    ("floats in bins", Bins("a", (0, 0.1, 0.3, 1)), pa.array([0.1, 0.3 - 1e-17, 0.2, 0.0, -0.0] * 12), {}),
    ("texts in bins", Bins("a", (0, 0.1, 0.3, 1)), pa.array(["0.1", " .25", "1e-1", "+0.0", "0."] * 12), {}),
    ("decimals in bins", Bins("a", (0, 1, 5)), pa.array([Decimal("0.99"), Decimal("1.00")] * 30), {}),
    ("fine bins", Bins("a", tuple(range(2000))), pa.array([0.5, 1998.5, 7.0] * 20), {}),
    ("days", Category("a", (MOMENTS[0].date(),)), pa.array([MOMENTS[0].date()] * 60), {}),
    ("moments", HALF, pa.array(MOMENTS[:38] + MOMENTS[:22], pa.timestamp("us", "UTC")), {}),
    ("clocks", HALF, pa.array([m.replace(tzinfo=None) for m in MOMENTS[:30]] * 2, pa.timestamp("us")), {}),
    ("seconds", HALF, pa.array([int(m.timestamp()) for m in MOMENTS[:30]] * 2), {}),
    ("where", Category("a", ("x", "y")), pa.array(["x", "y", "it's \\"] * 20), {"where": {"a": "x", "id": 3}}),
]


def test_several_kinds_of_columns_at_once(running: Engine, tmp_path: Path) -> None:
    """The short form of the test below."""
    chosen = [column for column in COLUMNS if column[0] in ("texts", "texts in bins", "decimals in bins", "clocks")]
    attributes = tuple(replace(column[1], name=f"x{place}") for place, column in enumerate(chosen))
    columns = {f"x{place}": column[2] for place, column in enumerate(chosen)}
    path = written(pa.table({"id": [f"p{row % 7}" for row in range(60)], **columns}), tmp_path)
    expected, found = both(path, Domain(attributes), {"rows_per_person": 3})
    assert found == expected
    assert found.total == 21


@pytest.mark.deep
@pytest.mark.parametrize(("attribute", "values", "layout"), [c[1:] for c in COLUMNS], ids=[c[0] for c in COLUMNS])
def test_every_kind_of_column(
    running: Engine, attribute: Attribute, values: pa.Array, layout: dict[str, Any], tmp_path: Path
) -> None:
    table = pa.table(
        {"id": [f"p{row % 7}" if "where" not in layout else str(row % 7) for row in range(60)], "a": values}
    )
    layout = {"columns": {attribute.name: "a"}, **layout}
    path = written(table, tmp_path)
    for limits in ({}, {"rows_per_person": 3}, {"cells_per_person": 2}):
        expected, found = both(path, Domain((attribute,)), dict(limits), **layout)
        assert found == expected
        assert found.total > 0


def test_the_order_is_the_twins(running: Engine) -> None:
    """Every kind of value, with those that are hard to write as text."""
    from pyspark.sql import SparkSession

    session = SparkSession.builder.getOrCreate().newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.conf.set("spark.sql.ansi.enabled", "true")
    hard: dict[str, list[Any]] = {
        "DOUBLE": [*AWKWARD, float("nan"), float("inf"), float("-inf")]
        + [2.0**power * share for power in range(-1070, 1023, 31) for share in (1.0, 1 - 2**-53)],
        "VARCHAR": ["", "'", "あ", "t1:a", "n"],
        "BIGINT": [-(2**63), 2**63 - 1, 0],
        "DECIMAL(20,9)": [Decimal(number).scaleb(-9) for number in (1, -1, 0, 10**19, 123_456_789)],
    }

    @settings(max_examples=2, deadline=None)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        for kind, (form, strategy) in KINDS.items():
            drawn = TEXTS if kind == "VARCHAR" else strategy
            values = [None, *hard.get(kind, ()), *data.draw(st.lists(drawn, max_size=4))]
            rows = session.createDataFrame(pa.table({"p": range(len(values)), "a": pa.array(values, form)}))
            rows.createOrReplaceTempView("held")
            placed = RowOrder([("p", "BIGINT"), ("a", kind)], FIXED_KEY, SPARK).placed("held", "place")
            text = encoded("a", kind, SPARK)
            found = session.sql(f"SELECT p, {text} AS text, place FROM {placed} AS placed").collect()  # noqa: S608
            known = pa.array(values, form).to_pylist()
            for row in found:
                assert row.text == naive_row_order.encoded(known[row.p])
                assert row.place == naive_row_order.place_of(FIXED_KEY, [row.p, known[row.p]], ["BIGINT", kind])

    check()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sex": ["f", None]}, "'sex' has an empty field"),
        ({"sex": ["f", "SECRET"]}, "'sex' has a value"),
        ({"id": [1, None]}, "'id' has an empty field"),
        ({"sex": [[1], [2]]}, "'sex'"),
    ],
    ids=["nobody", "wrong", "no person", "no text"],
)
def test_mistakes_are_told_without_the_value(
    running: Engine, change: dict[str, Any], message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = written(pa.table({"id": [1, 2], "sex": ["f", "m"], **change}), tmp_path, parts=1)
    each: tuple[dict[str, Any], ...] = ({"rows_per_person": 1}, {"cells_per_person": 2})
    for limits in each:
        with pytest.raises(InputError, match=message) as caught:
            count_on_spark(Source(path, "spark", person="id"), Domain((SEX,)), **limits)
        assert "SECRET" not in str(caught.value) + "".join(capfd.readouterr())


@pytest.mark.parametrize(
    ("values", "attribute"),
    [
        (pa.array(["2026-04-01T00:00", "2026-04-01T01:00"]), HALF),
        (pa.array([Decimal("1"), Decimal("2")], pa.decimal128(38, 10)), Bins("at", (0, 5))),
    ],
    ids=["texts of times", "wide decimals"],
)
def test_what_engines_may_read_otherwise_is_refused(
    running: Engine, values: pa.Array, attribute: Attribute, tmp_path: Path
) -> None:
    path = written(pa.table({"at": values}), tmp_path, parts=1)
    with pytest.raises(InputError, match="'at'"):
        count_on_spark(Source(path, "spark"), Domain((attribute,)))
