"""A sum of floats depends on the order of its rows, and on whether a row is there in ways that no bound tells. Ours does not."""

# ruff: noqa: S608 - queries of our own over data of our own

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tests.unit.sql.memory_engine import MemoryEngine
from tests.unit.sql.neighbours import Measuring, excess, metadata_of, plan_of

METADATA = """
[unit]
name = "person"

[tables.a]
unit = "uid"
max_rows = 1
[tables.a.columns]
uid = { type = "integer" }
f = { type = "float", bounds = [-1, 1], step = 0.001 }
"""
CREATE = "CREATE TABLE a(uid INT, f DOUBLE);"
# Each of these is within the bounds. Added one after the other to 2**53, the ones are lost; added first, they are not.
LARGE = "INSERT INTO a SELECT i, 9007199254740992.0 FROM range(100, 101) r(i);"
ONES = "INSERT INTO a SELECT i, 1.0 FROM range(1000) r(i) WHERE i <> 100;"
QUERIES = [
    "SELECT SUM(f) AS s FROM a",
    "SELECT AVG(f) AS s FROM a",
    "SELECT VARIANCE(f) AS s FROM a",
    "SELECT SUM(f * f - f / 3) AS s FROM a",
    "SELECT SUM(m) AS s FROM (SELECT uid, AVG(f) AS m FROM a GROUP BY uid) t",
    "SELECT COUNT(m) AS s FROM (SELECT uid > 500 AS h, SUM(f) AS m FROM a GROUP BY 1) t",
]


def naive(rows: str) -> float:
    """What a database says of the same bounded values, summed as floats in the order of the rows."""
    engine = MemoryEngine(f"SET threads = 1; {CREATE}{rows}")
    clipped = "CASE WHEN f > 9007199254740992 THEN 9007199254740992 WHEN f < -1 THEN -1 ELSE f END"
    return float(engine.fetch(f"SELECT SUM({clipped}) AS s FROM a").column("s").to_pylist()[0])


def test_a_naive_sum_tells_the_order_of_the_rows() -> None:
    assert naive(LARGE + ONES) != naive(ONES + LARGE)


def test_a_naive_sum_moves_by_more_than_one_unit_adds() -> None:
    """The unit in front adds 2**53, and takes all others away with it: noise for its own share does not hide that."""
    without, with_it = naive(ONES), naive(LARGE + ONES)
    assert Fraction(with_it) - Fraction(without) != Fraction(9007199254740992)


@pytest.mark.parametrize("query", QUERIES)
def test_our_sums_do_not_depend_on_the_order(query: str, tmp_path: Path) -> None:
    plan = plan_of(query, metadata_of(METADATA, tmp_path))
    rows = (
        "SELECT i, CASE WHEN i % 3 = 0 THEN 1e16 WHEN i % 7 = 0 THEN 'nan' ELSE i / 997 - 0.3 END FROM range(2000) r(i)"
    )
    sides = [MemoryEngine(f"{CREATE}INSERT INTO a {rows} ORDER BY {order}") for order in ("i", "-i", "hash(i)")]
    found = [Measuring(plan, engine).now() for engine in sides]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("value", ["9007199254740992.0", "1e308", "'inf'", "'nan'", "-1e-320", "0.1"])
def test_a_unit_moves_our_sums_by_its_share_alone(query: str, value: str, tmp_path: Path) -> None:
    plan = plan_of(query, metadata_of(METADATA, tmp_path))
    others = "INSERT INTO a SELECT i, i / 7 - 100 FROM range(1400) r(i);"
    own = f"INSERT INTO a VALUES (5000, {value});"
    sides = [MemoryEngine(CREATE + rows) for rows in (others, own + others)]
    one, other = (Measuring(plan, engine).now() for engine in sides)
    assert not excess(plan, one, other)
