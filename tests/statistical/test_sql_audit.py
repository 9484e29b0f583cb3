"""Private SQL audited from its answers alone: aggregates on neighbouring databases, and broken twins that are caught."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sudare import Budget
from sudare.attacks import audit_epsilon
from sudare.noise import discrete_laplace
from sudare.privacy.measurements import LaplaceMeasurement
from sudare.sql.execution import answering
from sudare.sql.execution.answering import LeftOutLists
from sudare.sql.measures import planning
from sudare.sql.measures.allocating import Allocation, Share, allocate
from sudare.sql.measures.planning import QueryPlan
from tests.unit.sql.memory_engine import MemoryEngine
from tests.unit.sql.neighbours import metadata_of, plan_of

pytestmark = pytest.mark.slow

RUNS, FEWER_RUNS = 400, 150
EPSILON, DELTA = Fraction(1), Fraction(1, 20)
METADATA = """
[unit]
name = "person"

[tables.a]
unit = "uid"
max_rows = 3
[tables.a.columns]
uid = { type = "integer" }
x = { type = "integer", bounds = [0, 4] }
g = { type = "text", values = ["p", "q"], nullable = false }
w = { type = "text" }
"""
CREATE = (
    "CREATE TABLE a(uid INT, x INT, g VARCHAR, w VARCHAR); INSERT INTO a SELECT i, i % 5, 'p', 'w' FROM range(12) r(i);"
)
SPREAD = "INSERT INTO a VALUES (99, 4, 'p', 'u'), (99, 4, 'q', 'u'), (99, 4, 'q', 'u')"
TOGETHER = "INSERT INTO a VALUES (99, 4, 'q', 'w'), (99, 4, 'q', 'w'), (99, 4, 'q', 'w')"
ALONE = "INSERT INTO a VALUES (99, 4, 'q', 'new'), (99, 4, 'q', 'new'), (99, 4, 'q', 'new')"
CASES = {
    "count": ("SELECT COUNT(*) AS v FROM a", SPREAD),
    "sum": ("SELECT SUM(x) AS v FROM a", TOGETHER),
    "mean": ("SELECT AVG(x) AS v FROM a", TOGETHER),
    "variance": ("SELECT VAR_POP(x) AS v FROM a", TOGETHER),
    "distinct values": ("SELECT COUNT(DISTINCT w) AS v FROM a", ALONE),
    "distinct units": ("SELECT COUNT(DISTINCT uid) AS v FROM a", SPREAD),
    "quantile": ("SELECT QUANTILE_DISC(x, 0.75) AS v FROM a", TOGETHER),
    "listed groups": ("SELECT g, COUNT(*) AS v FROM a GROUP BY g", SPREAD),
    "unknown groups": ("SELECT w, COUNT(*) AS v FROM a GROUP BY w", ALONE),
    "a join": ("SELECT COUNT(*) AS v FROM a JOIN a b ON a.uid = b.uid", SPREAD),
    "units inside": ("SELECT SUM(n) AS v FROM (SELECT uid, COUNT(*) AS n FROM a GROUP BY uid) t", SPREAD),
}


EACH_TIME = ("count", "sum", "quantile", "unknown groups", "units inside")
"""One of every way to draw and to add up. What units can change in the others is tried by brute force in every run:
``tests/unit/sql/test_sensitivities.py``."""

FINISHED = answering._finished


def audit(plan: QueryPlan, allocation: Allocation, own: str, runs: int = RUNS, before: str = "") -> float:
    """The largest epsilon that answers on the two neighbours show, from many runs of everything but the reading."""
    seen = []
    for rows in (before, own):
        engine = MemoryEngine(CREATE + rows)
        fetched = answering._fetch(plan, engine, LeftOutLists(engine), None)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(answering, "_fetch", lambda *_, kept=fetched: kept)
            patch.setattr(answering, "_finished", _without_deviations)
            codes = [_code(answering.answer(plan, allocation, engine, LeftOutLists(engine))) for _ in range(runs)]
        seen.append(np.array(codes, dtype=np.int64))
    return audit_epsilon(seen[0], seen[1], delta=float(DELTA)).lower_bound


def _without_deviations(plan: QueryPlan, _: Allocation, tables: Any, event: Any) -> Any:
    """The same answer, in less time: how far it may be from the truth is not asked for."""
    return FINISHED(plan, None, tables, event)


def _code(found: Any) -> int:
    """An answer as one number: of several groups the one that the neighbour changes most, 0 if it is not there."""
    table = found.table
    names = table.column(0).to_pylist() if table.num_columns > 1 else ["all"] * table.num_rows
    values = dict(zip(names, table.column("v").to_pylist(), strict=True))
    watched = next((name for name in ("all", "q") if name in values), "new")
    value = values.get(watched)
    return 0 if value is None else int(np.clip(round(float(value)), -20, 60)) + 21


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in EACH_TIME else pytest.mark.deep) for name in CASES]
)
def test_aggregates(name: str, tmp_path: Path) -> None:
    query, own = CASES[name]
    plan = plan_of(query, metadata_of(METADATA, tmp_path))
    budget = Budget(epsilon=EPSILON, delta=DELTA) if "unknown" in name else Budget(epsilon=EPSILON)
    assert audit(plan, allocate(plan, budget), own, FEWER_RUNS) <= EPSILON


@pytest.mark.parametrize("name", ["count", "sum", pytest.param("listed groups", marks=pytest.mark.deep)])
def test_a_quarter_of_the_noise_is_caught(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn with less noise than the event states; an event that states it cannot be made at all."""

    def quieter(share: Share) -> Any:
        assert isinstance(share.measurement, LaplaceMeasurement)
        return discrete_laplace(share.measurement.scale / 4)

    plan = plan_of(CASES[name][0], metadata_of(METADATA, tmp_path))
    monkeypatch.setattr(Share, "sampler", quieter)
    assert audit(plan, allocate(plan, Budget(epsilon=EPSILON)), TOGETHER) > EPSILON


def test_a_sensitivity_for_one_row_is_caught(tmp_path: Path) -> None:
    """Noise for units with one row each, where they may have three."""
    plan = plan_of(CASES["count"][0], metadata_of(METADATA, tmp_path))
    one_row = plan_of(CASES["count"][0], metadata_of(METADATA.replace("max_rows = 3", "max_rows = 1"), tmp_path))
    assert audit(plan, allocate(one_row, Budget(epsilon=EPSILON)), SPREAD) > EPSILON


def test_a_threshold_too_low_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query, own = CASES["unknown groups"]
    plan = plan_of(query, metadata_of(METADATA, tmp_path))
    monkeypatch.setattr("sudare.noise.thresholds._threshold", lambda *_: 2)
    assert audit(plan, allocate(plan, Budget(epsilon=EPSILON, delta=DELTA)), own) > EPSILON


REPLACED = METADATA.replace('name = "person"', 'name = "person"\nadjacency = "replace"')
FEW = "INSERT INTO a VALUES (99, 0, 'q', 'u'), (99, 0, 'q', 'u'), (99, 0, 'q', 'u')"
MANY = FEW.replace("99, 0", "99, 4")


def test_a_count_where_a_unit_is_replaced(tmp_path: Path) -> None:
    """Three rows that do not count become three that do: the count moves by three, and noise for three is enough."""
    plan = plan_of("SELECT COUNT(*) AS v FROM a WHERE x > 3", metadata_of(REPLACED, tmp_path))
    assert plan.tables[0].sums[0].sensitivity.l1 == 3
    assert audit(plan, allocate(plan, Budget(epsilon=EPSILON)), MANY, FEWER_RUNS, FEW) <= EPSILON


def test_noise_for_one_row_of_a_replaced_unit_is_caught(tmp_path: Path) -> None:
    query = "SELECT COUNT(*) AS v FROM a WHERE x > 3"
    plan = plan_of(query, metadata_of(REPLACED, tmp_path))
    one_row = plan_of(query, metadata_of(REPLACED.replace("max_rows = 3", "max_rows = 1"), tmp_path))
    assert audit(plan, allocate(one_row, Budget(epsilon=EPSILON)), MANY, RUNS, FEW) > EPSILON


SPELLED = """
[unit]
name = "person"
[tables.a]
unit = "uid"
max_rows = 1
[tables.a.columns]
uid = { type = "integer" }
f = { type = "float" }
"""


def spelling_audit(plan: QueryPlan) -> float:
    """What the look of a published key shows, where one of 40 zeros that is stored first has a sign."""
    allocation = allocate(plan, Budget(epsilon=EPSILON, delta=DELTA))
    seen = []
    for first in ("0.0", "'-0.0'"):
        engine = MemoryEngine(f"CREATE TABLE a(uid INT, f DOUBLE); INSERT INTO a VALUES (99, {first})")  # noqa: S608
        engine._connection.execute("SET threads = 1; INSERT INTO a SELECT i, 0.0 FROM range(40) r(i)")
        fetched = answering._fetch(plan, engine, LeftOutLists(engine), None)
        codes = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(answering, "_fetch", lambda *_, kept=fetched: kept)
            for _ in range(FEWER_RUNS):
                keys = answering.answer(plan, allocation, engine, LeftOutLists(engine)).table.column(0).to_pylist()
                codes.append(0 if not keys else 1 + int(np.signbit(keys[0])))
        seen.append(np.array(codes, dtype=np.int64))
    return audit_epsilon(seen[0], seen[1], delta=float(DELTA)).lower_bound


def test_the_look_of_a_key_tells_nothing(tmp_path: Path) -> None:
    plan = plan_of("SELECT f, COUNT(*) AS v FROM a GROUP BY f", metadata_of(SPELLED, tmp_path))
    assert spelling_audit(plan) == 0


def test_a_key_as_the_database_hands_it_out_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "key_form", lambda tree, facts, *_: (tree, facts))
    plan = plan_of("SELECT f, COUNT(*) AS v FROM a GROUP BY f", metadata_of(SPELLED, tmp_path))
    assert spelling_audit(plan) > EPSILON
