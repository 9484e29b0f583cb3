"""Nothing but noisy numbers tells of the data: no failure, no type, no order, no key, nothing that post-processing reaches."""

# ruff: noqa: S608 - queries of our own over data of our own

from __future__ import annotations

from pathlib import Path

import pytest

from sudare import Budget
from sudare.errors import DatabaseError, QueryRefusedError
from sudare.sql.execution.answering import LeftOutLists, answer, exact_answer
from sudare.sql.measures.allocating import allocate
from tests.unit.sql.memory_engine import MemoryEngine
from tests.unit.sql.neighbours import metadata_of, plan_of

pytestmark = pytest.mark.slow

METADATA = """
[unit]
name = "person"

[tables.a]
unit = "uid"
max_rows = 3
[tables.a.columns]
uid = { type = "integer" }
x = { type = "integer", bounds = [0, 10] }
wide = { type = "integer", bounds = [0, 10000000000] }
money = { type = "decimal(15,2)", bounds = [0, 1000000000] }
big = { type = "integer", bounds = [-9000000000000000000, 9000000000000000000] }
f = { type = "float", bounds = [-1000, 1000], step = 0.001 }
raw = { type = "float" }
s = { type = "text" }
t = { type = "text", values = ["a", "b"] }
d = { type = "date", bounds = [2026-01-01, 2026-12-31] }
ts = { type = "timestamp" }

[tables.b]
unit = "uid"
max_rows = 3
[tables.b.columns]
uid = { type = "integer" }
z = { type = "integer", bounds = [0, 5] }

[tables.sums]
public = true
[tables.sums.columns]
m0 = { type = "integer" }
k0 = { type = "text" }

[tables.listed]
public = true
[tables.listed.columns]
m0 = { type = "integer" }

[tables.histogram]
public = true
[tables.histogram.columns]
n = { type = "integer" }
"""
CREATE = """
CREATE TABLE a(uid INT, x INT, wide BIGINT, money DECIMAL(15,2), big BIGINT, f DOUBLE, raw DOUBLE, s VARCHAR, t VARCHAR, d DATE,
    ts TIMESTAMP);
CREATE TABLE b(uid INT, z INT);
CREATE TABLE sums(m0 INT, k0 VARCHAR); CREATE TABLE listed(m0 INT); CREATE TABLE histogram(n INT);
INSERT INTO a VALUES (1, 1, 5000000000, 500000000, 0, 0.5, 0.5, '1', 'a', '2026-02-03', '2026-02-03 04:05:06');
INSERT INTO b VALUES (1, 1);
"""
EVIL = """
INSERT INTO a VALUES
    (9, 0, 0, 0, 8000000000000000000, 'nan', 'inf', 'abc', 'zzz', 'infinity', 'infinity'),
    (9, -2147483648, -9223372036854775808, -9999999999999.99, -9223372036854775808, '-inf', 1e308, '', NULL, '-infinity', NULL),
    (9, 2147483647, 9223372036854775807, 9999999999999.99, 9223372036854775807, 1e308, -1e308, '1e999', 'a', '9999-07-10', NULL);
INSERT INTO b VALUES (9, 0), (9, -2147483648), (9, 2147483647);
"""
QUERIES = [
    "SELECT SUM(CAST(s AS INTEGER)) AS n FROM a",
    "SELECT SUM(LEAST(GREATEST(TRY_CAST(s AS BIGINT), 0), 9)) AS n FROM a",
    "SELECT COUNT(*) AS n FROM a WHERE CAST(s AS DATE) > DATE '2026-01-01'",
    "SELECT COUNT(*) FILTER (WHERE s) AS n FROM a",
    "SELECT COUNT_IF(s) AS n FROM a",
    "SELECT SUM(x) FILTER (WHERE s) AS n FROM a",
    "SELECT COUNT(*) AS n FROM a WHERE s",
    "SELECT COUNT(*) AS n FROM (SELECT uid, MAX(s) AS m FROM a GROUP BY uid HAVING MAX(s)) t",
    "SELECT COUNT(*) AS n FROM (SELECT uid, COUNT(*) FILTER (WHERE s) AS m FROM a GROUP BY uid) t",
    "SELECT SUM(1 / x) AS n FROM a",
    "SELECT SUM(10 // x) AS n, SUM(10 % x) AS m FROM a",
    "SELECT SUM(x / (x - 1)) AS n FROM a",
    "SELECT SUM(LN(x)) AS n, SUM(SQRT(x - 5)) AS m FROM a",
    "SELECT SUM(wide * wide) AS n FROM a",
    "SELECT SUM(money * money) AS n FROM a",
    "SELECT VARIANCE(wide) AS n FROM a",
    "SELECT VARIANCE(money) AS n, STDDEV_POP(money) AS d FROM a",
    "SELECT COVAR_POP(wide, money) AS n FROM a",
    "SELECT VARIANCE(f) AS n, SUM(f) AS s FROM a",
    "SELECT SUM(big) AS n, AVG(big) AS a FROM a",
    "SELECT VARIANCE(big) AS n FROM a",
    "SELECT MEDIAN(big) AS n FROM a",
    "SELECT MEDIAN(wide) AS n, MAX(money) AS m, MIN(f) AS l FROM a",
    "SELECT MEDIAN(f) AS n FROM a WHERE x > 100",
    "SELECT SUM(big + big) AS n FROM a",
    "SELECT SUM(ABS(big)) AS n, SUM(-big) AS m FROM a",
    "SELECT SUM(CAST(f AS INTEGER)) AS n FROM a",
    "SELECT SUM(EXTRACT(YEAR FROM d)) AS n FROM a",
    "SELECT EXTRACT(YEAR FROM ts) AS y, COUNT(*) AS n FROM a GROUP BY 1",
    "SELECT DATE_TRUNC('month', d) AS y, COUNT(*) AS n FROM a GROUP BY 1",
    "SELECT d, COUNT(*) AS n FROM a GROUP BY d",
    "SELECT raw, COUNT(*) AS n FROM a GROUP BY raw",
    "SELECT COUNT(*) AS n FROM a WHERE x = raw AND money < raw",
    "SELECT AVG(q) AS n FROM (SELECT uid, SUM(wide) / COUNT(z) AS q FROM a JOIN b USING (uid) GROUP BY uid) t".replace(
        "z)", "x)"
    ),
    "SELECT SUM(p) AS n FROM (SELECT uid, AVG(f) * MAX(x) AS p FROM a GROUP BY uid) t",
    "SELECT SUM(n * n) AS s FROM (SELECT b.uid, COUNT(*) AS n FROM a LEFT JOIN b ON a.uid = b.uid AND b.z > 9 GROUP BY b.uid) t",
    "SELECT SUM(m) AS n FROM (SELECT t, SUM(money) AS m FROM a GROUP BY t HAVING SUM(money) > 5) q",
    "SELECT t, COUNT(*) AS n FROM a GROUP BY t HAVING 1 / (COUNT(*) - 1) > 0",
    "SELECT COUNT(*) AS n FROM a WHERE x IN (SELECT m0 FROM sums)",
    "SELECT COUNT(*) AS n FROM a WHERE uid IN (SELECT uid FROM b WHERE z > 0)",
    "SELECT SUBSTR(s, 1, x) AS p, COUNT(*) AS n FROM a GROUP BY 1",
    "SELECT COUNT(*) AS n FROM a WHERE s LIKE '%a' OR UPPER(s) = 'ABC' OR LENGTH(s) > 2",
]


def outcome(query: str, database: str, folder: Path) -> str:
    """How it ends, for whoever sees no numbers: refused, failed, or a table with these columns and types."""
    try:
        plan = plan_of(query, metadata_of(METADATA, folder))
    except QueryRefusedError:
        return "refused"
    engine = MemoryEngine(CREATE + database)
    try:
        found = answer(plan, allocate(plan, Budget(epsilon=1, delta=1e-6)), engine, LeftOutLists(engine))
        return str(found.table.schema.remove_metadata())
    except Exception as error:
        return f"failed: {type(error).__name__}"


@pytest.mark.parametrize("query", QUERIES)
def test_no_failure_depends_on_a_row(query: str, tmp_path: Path) -> None:
    empty = "DELETE FROM a; DELETE FROM b;"
    found = {outcome(query, database, tmp_path) for database in ("", EVIL, empty)}
    assert len(found) == 1


@pytest.mark.parametrize(
    "query",
    [
        "SELECT SUM(CAST(s AS INTEGER)) FROM a",
        "SELECT SUM(wide * 1000000000) FROM a",
        "SELECT SUM(abs(big)) FROM a",
    ],
)
def test_a_naive_query_fails_because_of_one_row(query: str) -> None:
    """What the test above is about: run as it stands, whether it fails says whether that row is there."""
    failed = []
    for database in ("", EVIL):
        engine = MemoryEngine(CREATE + database)
        try:
            engine.fetch(query)
            failed.append(False)
        except Exception:
            failed.append(True)
    assert failed == [False, True]


REACHING = [
    "SELECT t, n, (SELECT s.m0 FROM sums s LIMIT 1) AS exact FROM (SELECT t, COUNT(*) AS n FROM a GROUP BY t) r",
    "SELECT t, n FROM (SELECT t, COUNT(*) AS n FROM a GROUP BY t) r WHERE t IN (SELECT s.k0 FROM sums s)",
    "SELECT t, COUNT(*) AS n FROM a GROUP BY t HAVING 1 IN (SELECT 1 FROM sums LIMIT 1 OFFSET 1)",
    "SELECT t, COUNT(*) AS n FROM a GROUP BY t ORDER BY (SELECT 1 FROM sums LIMIT 1)",
    "SELECT t, COUNT(*) AS n FROM a GROUP BY t HAVING 1 IN (SELECT 1 FROM listed LIMIT 1)",
    "SELECT MEDIAN(x) AS m FROM a HAVING 1 IN (SELECT 1 FROM histogram LIMIT 1)",
]


@pytest.mark.parametrize("query", REACHING)
def test_post_processing_does_not_reach_exact_tables(query: str, tmp_path: Path) -> None:
    """Exact sums stand in the memory that post-processing runs in; a table of the same name must not lead to them."""
    try:
        plan = plan_of(query, metadata_of(METADATA, tmp_path))
    except QueryRefusedError:
        return
    engine = MemoryEngine(CREATE)
    with pytest.raises(DatabaseError):
        answer(plan, allocate(plan, Budget(epsilon=1)), engine, LeftOutLists(engine))


def test_groups_are_in_an_order_that_is_their_own(tmp_path: Path) -> None:
    plan = plan_of("SELECT s, COUNT(*) AS n FROM a GROUP BY s", metadata_of(METADATA, tmp_path))
    keys = []
    for order in ("i", "-i", "hash(i)"):
        rows = f"INSERT INTO a(uid, s) SELECT i, 'key ' || i % 40 FROM range(4000) r(i) ORDER BY {order}"
        engine = MemoryEngine(CREATE + rows)
        found = answer(plan, allocate(plan, Budget(epsilon=10, delta=1e-5)), engine, LeftOutLists(engine)).table
        keys.append(found.column("s").to_pylist())
    assert keys[0] == keys[1] == keys[2] == sorted(keys[0])


def test_zeros_are_one_key(tmp_path: Path) -> None:
    """0.0 and -0.0 are one group; which of them is published must not depend on whose row came first."""
    try:
        plan = plan_of("SELECT raw, COUNT(*) AS n FROM a GROUP BY raw", metadata_of(METADATA, tmp_path))
    except QueryRefusedError:
        return
    shown = set()
    for first in ("0.0", "-0.0"):
        rows = f"DELETE FROM a; INSERT INTO a(uid, raw) VALUES (9, '{first}'::DOUBLE);"
        engine = MemoryEngine(CREATE + rows + "INSERT INTO a(uid, raw) SELECT i, 0.0 FROM range(20, 99) r(i)")
        shown.add(repr(exact_answer(plan, engine, LeftOutLists(engine)).column("raw").to_pylist()))
    assert len(shown) == 1


def test_digests_tell_quantiles_apart(tmp_path: Path) -> None:
    """An answer that is stored is handed out again to whoever asks the same; these do not ask the same."""
    metadata = metadata_of(METADATA, tmp_path)
    queries = ["MEDIAN(x)", "MAX(x)", "MIN(x)", "QUANTILE_CONT(x, 0.25)"]
    digests = {plan_of(f"SELECT {call} AS v FROM a", metadata).digest for call in queries}
    assert len(digests) == len(queries)


def test_lists_of_two_readers_of_one_database(tmp_path: Path) -> None:
    """Two readers with other limits keep lists in one connection; neither takes the other's for its own."""

    class Keeping(MemoryEngine):
        def state(self, tables: object) -> str:
            return "as it is"

        def keep(self, name: str, sql: str, *, timeout: float | None = None) -> bool:
            self._connection.execute(f'CREATE OR REPLACE TEMP TABLE "{name}" AS {sql}')
            return True

    rows = "DELETE FROM a; INSERT INTO a(uid) SELECT 7 FROM range(4); INSERT INTO a(uid) VALUES (8)"
    engine = Keeping(CREATE + rows)
    strict = plan_of("SELECT COUNT(*) AS n FROM a", metadata_of(METADATA, tmp_path))
    loose = plan_of(
        "SELECT COUNT(*) AS n FROM a", metadata_of(METADATA.replace("max_rows = 3", "max_rows = 5"), tmp_path)
    )
    first, second = LeftOutLists(engine), LeftOutLists(engine)
    counts = [
        exact_answer(plan, engine, lists).column("n").to_pylist()[0]
        for plan, lists in ((strict, first), (loose, second), (strict, first))
    ]
    assert counts == [1, 5, 1]


def test_types_do_not_depend_on_sums(tmp_path: Path) -> None:
    plan = plan_of("SELECT COUNT(*) AS n, SUM(x) AS s, AVG(f) AS a FROM a", metadata_of(METADATA, tmp_path))
    found: set[str] = set()
    for rows in ("", EVIL, "DELETE FROM a"):
        engine = MemoryEngine(CREATE + rows)
        table = answer(plan, allocate(plan, Budget(epsilon=1)), engine, LeftOutLists(engine)).table
        found.add(str(table.schema))
    assert len(found) == 1


@pytest.mark.parametrize(
    "query", ["SELECT MEDIAN(x) AS m FROM a", "SELECT t, MAX(x) AS m FROM a WHERE x > 99 GROUP BY t"]
)
def test_quantiles_of_nothing(query: str, tmp_path: Path) -> None:
    """Whether there is any row at all is one unit's secret, too."""
    plan = plan_of(query, metadata_of(METADATA, tmp_path))
    engine = MemoryEngine(CREATE + "DELETE FROM a")
    found = answer(plan, allocate(plan, Budget(epsilon=1)), engine, LeftOutLists(engine)).table
    assert found.num_rows == (3 if "GROUP" in query else 1)
