"""Speed of private SQL: the same queries privately and plainly in the same DuckDB, and groups by keys that nobody listed."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb

from benchmarks.measuring import ROOT, best_seconds
from benchmarks.tpch import METADATA, QUERIES, tpch_database
from sudare.engines.engine import Engine
from sudare.engines.opening import open_engine
from sudare.privacy.budget import Budget
from sudare.sql.execution.answering import LeftOutLists, answer
from sudare.sql.frontend.naming import Names
from sudare.sql.frontend.parsing import parse_query
from sudare.sql.measures.allocating import allocate
from sudare.sql.measures.planning import plan_query
from sudare.sql.metadata.file import parse_metadata

SCALES = (1, 10)
KEYS, KEY_ROWS = 10_000_000, 30_000_000
ROUNDS = 7

TARGETS = {
    **{name: f"at most {most} (SF 10: ours / plain DuckDB)" for name, most in (("q1", 3), ("q5", 1.5), ("q6", 1.5))},
    **dict.fromkeys(("q14", "q19"), "at most 1.5 (SF 10: ours / plain DuckDB)"),
    **{f"{name}_sf1": "the same at SF 1" for name in QUERIES},
    "left_out_seconds": "once for each connection, SF 10: which customers have too many rows",
    "left_out_seconds_sf1": "the same at SF 1",
    "plan_ms": "at most 10 (parsing, rewriting, planning, SQL text: the slowest of the five queries)",
    "unknown_keys_vs_plain": "at most 2 (10^7 keys that nobody listed, 3 * 10^7 rows)",
}

KEY_METADATA = """
[unit]
name = "person"
[tables.visits]
unit = "row"
[tables.visits.columns]
place = { type = "integer", nullable = false }
"""


class Asking:
    """One database, asked privately."""

    def __init__(self, file: Path, metadata: str) -> None:
        self.engine: Engine = open_engine(file)
        self.metadata = parse_metadata(metadata, "benchmark")
        self.names = Names(self.metadata, self.engine.dialect)
        self.lists = LeftOutLists(self.engine)

    def privately(self, query: str, budget: Budget) -> None:
        """Everything from the text of a query to its noisy answer."""
        plan = plan_query(parse_query(query, self.engine.dialect), self.metadata, self.names)
        answer(plan, allocate(plan, budget), self.engine, self.lists)

    def plainly(self, query: str) -> None:
        """The query as it is."""
        self.engine.fetch(query)

    def plan(self, query: str) -> None:
        """Everything that is done without the data."""
        plan = plan_query(parse_query(query, self.engine.dialect), self.metadata, self.names)
        for table in plan.tables:
            if table.query is not None:
                plan.sql(table.query)


def run() -> dict[str, float]:
    """Ratios of times, measured in turns."""
    numbers: dict[str, float] = {}
    for scale in SCALES:
        numbers |= _tpch(scale, "" if scale == max(SCALES) else f"_sf{scale}")
    return numbers | _unknown_keys()


def _tpch(scale: int, suffix: str) -> dict[str, float]:
    asking = Asking(tpch_database(scale), METADATA)
    budget = Budget(epsilon=1)
    numbers = {}
    with asking.engine:
        asking.plainly(QUERIES["q1"])
        start = time.perf_counter()
        asking.privately(QUERIES["q1"], budget)
        first = time.perf_counter() - start
        for name, query in QUERIES.items():
            jobs: dict[str, Callable[[], object]] = {
                "ours": partial(asking.privately, query, budget),
                "plain": partial(asking.plainly, query),
            }
            best = best_seconds(jobs, ROUNDS)
            numbers[f"{name}{suffix}"] = best["ours"] / best["plain"]
            if name == "q1":
                numbers[f"left_out_seconds{suffix}"] = max(first - best["ours"], 0)
        plans: dict[str, Callable[[], object]] = {name: partial(asking.plan, query) for name, query in QUERIES.items()}
        numbers["plan_ms"] = 1000 * max(best_seconds(plans, 3 * ROUNDS).values())
    return numbers


def _unknown_keys() -> dict[str, float]:
    file = ROOT / ".bench" / "tpch" / "visits.duckdb"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        with duckdb.connect(str(file)) as database:
            # A number that goes through all keys in an order without pattern.
            database.execute(
                f"CREATE TABLE visits AS SELECT (hash(i) % {KEYS})::BIGINT AS place FROM range({KEY_ROWS}) AS r(i)"  # noqa: S608
            )
    asking = Asking(file, KEY_METADATA)
    query = "SELECT place, COUNT(*) AS n FROM visits GROUP BY place"
    with asking.engine:
        jobs: dict[str, Callable[[], object]] = {
            "ours": partial(asking.privately, query, Budget(epsilon=1, delta=1e-8)),
            "plain": partial(asking.plainly, query),
        }
        best = best_seconds(jobs, 3)
    return {"unknown_keys_vs_plain": best["ours"] / best["plain"]}
