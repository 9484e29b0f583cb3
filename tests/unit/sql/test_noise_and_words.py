"""No more noise than is needed, an error beside every noisy number, and messages in words that who asks knows."""

# ruff: noqa: S608 - queries of our own over data of our own

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare import Budget
from sudare.errors import DatabaseError, QueryRefusedError
from sudare.ledger import open_ledger
from sudare.privacy import Unit
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement
from sudare.sql.execution.answering import LeftOutLists, answer
from sudare.sql.execution.connection import connect
from sudare.sql.frontend.naming import Names
from sudare.sql.frontend.parsing import parse_query
from sudare.sql.measures.allocating import allocate
from sudare.sql.measures.measures import sensitivity_of_rows, sensitivity_of_units
from sudare.sql.measures.planning import QueryPlan, plan_query
from sudare.sql.measures.quantiles import choose_quantile, offset_for_extreme, rank_error
from sudare.sql.metadata.file import parse_metadata
from sudare.sql.metadata.model import Metadata
from sudare.sql.relations.public_keys import public_groups
from tests.unit.sql.memory_engine import MemoryEngine
from tests.unit.sql.shops import ask_shop, open_shop

PEOPLE = """
[unit]
name = "person"
adjacency = "{adjacency}"
[tables.t]
unit = "id"
max_rows = {rows}
[tables.t.columns]
id = {{ type = "integer" }}
g = {{ type = "text", values = ["a", "b", "c"], nullable = false }}
x = {{ type = "integer", bounds = [-2, 5], nullable = false }}
"""


def people(adjacency: str = "add-remove", rows: int = 1) -> Metadata:
    return parse_metadata(PEOPLE.format(adjacency=adjacency, rows=rows), "people.toml")


def plan_of(query: str, metadata: Metadata, *, elastic: bool = False, dialect: str = "duckdb") -> QueryPlan:
    return plan_query(parse_query(query, dialect), metadata, Names(metadata, dialect), elastic=elastic)


class TestReplacing:
    """A unit that is replaced takes its rows away and brings as many: a count moves by one of both, not by their sum."""

    @pytest.mark.parametrize("rows", [1, 3])
    @pytest.mark.parametrize("query", ["SELECT COUNT(*) AS n FROM t", "SELECT COUNT(*) AS n FROM t WHERE x > 3"])
    def test_a_single_count(self, rows: int, query: str) -> None:
        for adjacency in ("add-remove", "replace"):
            (measure,) = plan_of(query, people(adjacency, rows)).tables[0].sums
            assert (measure.sensitivity.l1, measure.sensitivity.l2_squared) == (rows, rows**2)

    def test_units_are_counted_once(self) -> None:
        (measure,) = plan_of("SELECT COUNT(DISTINCT id) AS n FROM t", people("replace", 3)).tables[0].sums
        assert measure.sensitivity.l1 == 1

    @pytest.mark.parametrize("rows", [1, 3])
    def test_groups_keep_two(self, rows: int) -> None:
        (measure,) = plan_of("SELECT g, COUNT(*) AS n FROM t GROUP BY g", people("replace", rows)).tables[0].sums
        assert (measure.sensitivity.l1, measure.sensitivity.l2_squared) == (2 * rows, 2 * rows**2)

    def test_the_noise_is_that_of_adding_and_removing(self) -> None:
        plans = [plan_of("SELECT COUNT(*) AS n FROM t", people(adjacency)) for adjacency in ("add-remove", "replace")]
        shares = [next(iter(allocate(plan, Budget(epsilon=1)).shares.values())) for plan in plans]
        scales = [share.measurement.scale for share in shares if isinstance(share.measurement, LaplaceMeasurement)]
        assert scales == [1, 1]
        grouped = plan_of("SELECT g, COUNT(*) AS n FROM t GROUP BY g", people("replace"))
        (share,) = allocate(grouped, Budget(rho=0.5)).shares.values()
        assert isinstance(share.measurement, GaussianMeasurement)
        assert share.measurement.sigma_squared == 2

    def test_it_is_answered(self) -> None:
        engine = MemoryEngine("CREATE TABLE t AS SELECT i AS id, 'a' AS g, 1 AS x FROM range(50) r(i)")
        for query in (
            "SELECT COUNT(*) AS n FROM t",
            "SELECT COUNT(DISTINCT id) AS n FROM t",
            "SELECT SUM(x) AS n FROM t",
        ):
            for budget in (Budget(epsilon=2), Budget(rho=2)):
                plan = plan_of(query, people("replace"))
                found = answer(plan, allocate(plan, budget), engine, LeftOutLists(engine))
                assert found.event is not None
                assert found.event.cost == budget

    @given(
        st.integers(1, 3), st.integers(-3, 3), st.integers(0, 4), st.integers(1, 3), st.data(),
    )  # fmt: skip
    @settings(max_examples=150, deadline=None)
    def test_no_two_units_are_further_apart(
        self, rows: int, low: int, width: int, groups: int, data: st.DataObject
    ) -> None:
        """Any rows of one unit against any of another, over groups: within what is stated."""
        row = st.tuples(st.integers(0, groups - 1), st.integers(low, low + width))
        one, other = (data.draw(st.lists(row, max_size=rows)) for _ in range(2))
        change = np.zeros(groups, dtype=np.int64)
        for sign, listed in ((1, one), (-1, other)):
            for place, value in listed:
                change[place] += sign * value
        stated = sensitivity_of_rows(rows, low, low + width, grouped=groups > 1, adjacency="replace")
        assert np.abs(change).sum() <= stated.l1
        assert (change**2).sum() <= stated.l2_squared
        assert np.abs(change).max() <= stated.largest

    def test_what_is_stated_is_reached(self) -> None:
        """The control: nothing smaller would do."""
        for rows, (low, high) in product((1, 2, 4), ((0, 1), (-2, 5), (-1, 1), (2, 3))):
            ends = [0, rows * low, rows * high]
            single = max(abs(a - b) for a in ends for b in ends)
            assert sensitivity_of_rows(rows, low, high, grouped=False, adjacency="replace").l1 == single
            largest = max(map(abs, ends))
            stated = sensitivity_of_rows(rows, low, high, grouped=True, adjacency="replace")
            assert (stated.l1, stated.l2_squared) == (2 * largest, max(2 * largest**2, single**2))
        assert sensitivity_of_units(1, 0, 1, grouped=False, adjacency="replace").l1 == 1


PAIRS = """
[unit]
name = "visit"
[tables.visit]
unit = "row"
[tables.visit.columns]
shop = { type = "integer", max_frequency = 5 }
town = { type = "text", nullable = false, values = VALUES }
[tables.towns]
public = true
key = ["name"]
[tables.towns.columns]
name = { type = "text", nullable = false }
"""
TOWNS = ["A", "B", "C", "D"]
JOINED = "SELECT a.town, COUNT(*) AS n FROM visit AS a JOIN visit AS b ON a.shop = b.shop GROUP BY a.town"


class TestElasticHistograms:
    def test_values_of_a_public_table_get_the_noise_of_listed_ones(self) -> None:
        budget = Budget(epsilon=1, delta=1e-6)
        rows = "CREATE TABLE visit (shop INT, town VARCHAR); CREATE TABLE towns (name VARCHAR);"
        engine = MemoryEngine(rows + "INSERT INTO towns VALUES ('A'), ('B'), ('C'), ('D')")
        scales = []
        for values in ('["A", "B", "C", "D"]', '{ from = "towns.name" }'):
            plan = plan_of(JOINED, parse_metadata(PAIRS.replace("VALUES", values), "m.toml"), elastic=True)
            allocation = allocate(plan, budget, groups=public_groups(plan, engine))
            (share,) = allocation.shares.values()
            scales.append(share.scale)
            table = answer(plan, allocation, engine, LeftOutLists(engine)).table
            assert table.column("town").to_pylist() == TOWNS
        assert scales[0] == scales[1]
        # Nobody asked how many there are: as many as there can be, which takes far more noise.
        (most,) = allocate(plan, budget).shares.values()
        assert scales[1] is not None
        assert most.scale is not None
        assert most.scale > 1000 * scales[1]

    def test_a_single_count_needs_no_more_noise_where_a_unit_is_replaced(self) -> None:
        listed = PAIRS.replace("VALUES", '["A", "B", "C", "D"]')
        replaced = listed.replace('name = "visit"', 'name = "visit"\nadjacency = "replace"', 1)
        single = "SELECT COUNT(*) AS n FROM visit AS a JOIN visit AS b ON a.shop = b.shop"
        for query, ratio in ((single, 1), (JOINED, 2)):
            sizes = [
                plan_of(query, parse_metadata(text, "m.toml"), elastic=True).tables[0].sums[0].sensitivity.l1
                for text in (listed, replaced)
            ]
            assert sizes[1] == ratio * sizes[0]

    def test_more_groups_than_the_noise_was_made_for_are_refused(self) -> None:
        engine = MemoryEngine("CREATE TABLE visit (shop INT, town VARCHAR); CREATE TABLE towns (name VARCHAR)")
        engine._connection.execute("INSERT INTO towns VALUES ('A'), ('B')")
        metadata = parse_metadata(PAIRS.replace("VALUES", '{ from = "towns.name" }'), "m.toml")
        plan = plan_of(JOINED, metadata, elastic=True)
        allocation = allocate(plan, Budget(epsilon=1, delta=1e-6), groups=public_groups(plan, engine))
        engine._connection.execute("INSERT INTO towns VALUES ('C')")
        engine.asked.clear()
        with pytest.raises(DatabaseError, match="more values"):
            answer(plan, allocation, engine, LeftOutLists(engine))
        assert not any("visit" in query for query in engine.asked)

    def test_a_connection_asks_how_many_there_are(self, tmp_path: Path) -> None:
        with duckdb.connect(str(tmp_path / "shop.duckdb")) as database:
            database.execute(
                "CREATE TABLE visit AS SELECT i % 50 AS shop, chr((65 + i % 4)::INT) AS town FROM range(200) r(i)"
            )
            database.execute("CREATE TABLE towns AS SELECT chr((65 + i)::INT) AS name FROM range(4) r(i)")
        with open_ledger(tmp_path / "budget.db", create=True) as ledger:
            ledger.add_dataset("shop", Budget(epsilon=10, delta=1e-4), unit=Unit("visit"))
        metadata = parse_metadata(PAIRS.replace("VALUES", '{ from = "towns.name" }'), "m.toml")
        with connect(
            tmp_path / "shop.duckdb",
            metadata,
            Budget(epsilon=1, delta=1e-6),
            ledger=tmp_path / "budget.db",
            dataset="shop",
            joins="elastic",
        ) as connection:
            (column,) = [column for column in connection.price(JOINED).columns if column.measures]
            assert column.error is not None
            assert column.error < 2000
            assert [row[0] for row in connection.execute(JOINED)] == TOWNS


class TestErrorsOfChoices:
    """A median is as far off as rows lie between it and the wanted one; that is stated, and holds."""

    QUERY = "SELECT town, COUNT(*) AS n, MEDIAN(age) AS m, MIN(age) AS lo FROM customer GROUP BY town ORDER BY town"

    def test_they_have_an_error_in_rows(self, tmp_path: Path) -> None:
        open_shop(tmp_path)
        with ask_shop(tmp_path) as connection:
            cursor = connection.execute(self.QUERY)
            price = {column.name: column.error for column in connection.price(self.QUERY).columns}
            names = cursor.to_table(intervals=True).column_names
            ranks = cursor.noisy.ranks
            again = connection.execute(self.QUERY)
        assert names == [
            "town",
            "n",
            "n_low",
            "n_high",
            "n_noise",
            "m",
            "m_rank_error",
            "lo",
            "lo_rank_error",
            "perhaps_empty",
        ]
        assert {place: set(values) for place, values in ranks.items()} == {2: {price["m"]}, 3: {price["lo"]}}
        assert again.is_repeated
        assert {place: list(values) for place, values in again.noisy.ranks.items()} == {
            place: list(values) for place, values in ranks.items()
        }

    def test_the_error_of_an_extreme_counts_the_rows_that_are_aimed_past(self) -> None:
        plan = plan_of("SELECT MIN(x) AS a, MEDIAN(x) AS b FROM t", people())
        low, middle = allocate(plan, Budget(epsilon=2)).shares.values()
        assert middle.error == rank_error(8, Fraction(1, 2), 1, 1)
        assert low.error == rank_error(8, 0, 1, 1) + offset_for_extreme(8, 1, 1)

    @pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 2), Fraction(9, 10), Fraction(1)])
    def test_it_holds_in_nineteen_of_twenty_draws(self, share: Fraction) -> None:
        points, runs = 100, 200
        counts = np.full(points, 7, dtype=np.int64)
        offset = 0
        stated = rank_error(points, share, 1, 1)
        if share in (0, 1):
            offset = offset_for_extreme(points, 1, 1)
            stated += offset
        away = 0
        for _ in range(runs):
            place, _ = choose_quantile(
                np.arange(points), counts, points, share, 1, Budget(epsilon=1), offset=offset if share < 1 else -offset
            )
            wanted, below, not_above = float(share) * 700, 7 * place, 7 * place + 7
            away += max(wanted - not_above, below - wanted, 0) > stated
        # 26 of 200 or more at a chance of 1/20 each happen once in a hundred thousand.
        assert away < 26

    def test_groups_that_nobody_may_be_in_are_marked_by_their_noisy_count(self, tmp_path: Path) -> None:
        open_shop(tmp_path)
        text = (tmp_path / "shop.toml").read_text(encoding="utf-8").replace('["A", "B"]', '["A", "B", "C", "D"]')
        (tmp_path / "shop.toml").write_text(text, encoding="utf-8")
        with ask_shop(tmp_path, Budget(epsilon=2)) as connection:
            cursor = connection.execute(self.QUERY)
            found = cursor.perhaps_empty
            reach = cursor.noisy.reaches[1]
            counts = cursor.table.column("n").to_pylist()
            assert found == [count <= error for count, error in zip(counts, reach, strict=True)]
            assert found[:2] == [False, False]
            assert connection.execute(self.QUERY).perhaps_empty == found
            assert "empty-groups" not in [change.reason for change in cursor.changes]
            alone = connection.execute("SELECT town, MEDIAN(age) AS m FROM customer GROUP BY town")
            assert alone.perhaps_empty is None
            assert "empty-groups" in [change.reason for change in alone.changes]
            some = connection.execute(self.QUERY.replace("ORDER BY town", "HAVING COUNT(*) > 1000"))
            assert some.perhaps_empty == []

    @pytest.mark.parametrize(
        "query",
        [
            "WITH r AS ({}) SELECT town, n * 2 AS twice FROM r",
            "SELECT max(n) AS most FROM ({}) AS r",
            "SELECT a.town, b.n FROM ({}) AS a JOIN ({}) AS b ON a.town = b.town",
            "SELECT town, n FROM ({}) AS r ORDER BY n LIMIT 1",
            "{} UNION ALL {}",
            "SELECT DISTINCT n FROM ({}) AS r",
        ],
    )
    def test_what_is_done_with_groups_afterwards_is_answered(self, query: str) -> None:
        grouped = "SELECT g AS town, COUNT(*) AS n FROM t GROUP BY g"
        engine = MemoryEngine("CREATE TABLE t AS SELECT i AS id, 'a' AS g, 1 AS x FROM range(50) r(i)")
        try:
            plan = plan_of(query.replace("{}", grouped), people())
        except QueryRefusedError:
            assert "max" in query
            return
        found = answer(plan, allocate(plan, Budget(epsilon=2)), engine, LeftOutLists(engine))
        assert found.perhaps_empty is None
        assert found.table.num_rows >= 1


NAMED = [
    ("duckdb", "SELECT strpos(g, 'a') AS k, COUNT(*) AS n FROM t GROUP BY 1", "STRPOS"),
    ("duckdb", "SELECT strpos(CAST(COUNT(*) AS VARCHAR), 'a') AS k FROM t", "STRPOS"),
    ("duckdb", "SELECT my_function(COUNT(*)) AS k FROM t", "MY_FUNCTION"),
    ("duckdb", "SELECT COUNT(*) AS n FROM t WHERE my_function(g)", "MY_FUNCTION"),
    ("duckdb", "SELECT any_value(g) AS k FROM t", "ANY_VALUE"),
    ("duckdb", "SELECT string_agg(g, ',') AS k FROM t", "STRING_AGG"),
    ("postgres", "SELECT string_agg(g, ',') AS k FROM t", "STRING_AGG"),
    ("postgres", "SELECT position('a' in g) AS k, COUNT(*) AS n FROM t GROUP BY 1", "POSITION"),
    ("spark", "SELECT instr(g, 'a') AS k, COUNT(*) AS n FROM t GROUP BY 1", "INSTR"),
    ("spark", "SELECT collect_list(g) AS k FROM t", "COLLECT_LIST"),
    ("duckdb", "SELECT COUNT(*) << 2 AS k FROM t", "<<"),
    ("duckdb", "SELECT approx_count_distinct(g) AS k FROM t", "APPROX_COUNT_DISTINCT"),
]


class TestWords:
    @pytest.mark.filterwarnings("ignore::sudare.errors.WeakBudgetWarning")
    def test_a_budget_that_protects_nobody_is_not_to_be_raised(self, tmp_path: Path) -> None:
        open_shop(tmp_path, Budget(epsilon=10_000))
        query = "SELECT COUNT(*) AS n FROM customer"
        with ask_shop(tmp_path) as connection:
            with pytest.raises(QueryRefusedError) as caught:
                connection.execute(query, budget=Budget(epsilon=5000))
            assert caught.value.reason == "noise-too-small"
            assert "Lower epsilon" in caught.value.english
            assert "下げて" in caught.value.japanese
            with pytest.raises(QueryRefusedError) as caught:
                connection.execute(query, budget=Budget(epsilon=1e-20))
            assert caught.value.reason == "noise-too-large"
            assert "Raise epsilon" in caught.value.english
            assert connection.spent() is None

    def test_the_key_for_bounds_is_the_one_that_there_is(self) -> None:
        with pytest.raises(QueryRefusedError) as caught:
            plan_of("SELECT SUM(id) AS n FROM t", people())
        assert "bounds = [low, high]" in caught.value.english
        assert "bounds = [" in caught.value.japanese
        parse_metadata(PEOPLE.format(adjacency="replace", rows=1).replace("[-2, 5]", "[0, 1]"), "m.toml")

    @pytest.mark.parametrize(("dialect", "query", "name"), NAMED, ids=[query[:40] for _, query, _ in NAMED])
    def test_functions_are_called_as_they_were_written(self, dialect: str, query: str, name: str) -> None:
        with pytest.raises(QueryRefusedError) as caught:
            plan_of(query, people(), dialect=dialect)
        for text in (caught.value.english, caught.value.japanese):
            assert name in text
            for word in (
                "ANONYMOUS",
                "STRPOSITION",
                "STR_POSITION",
                "GROUPCONCAT",
                "GROUP_CONCAT",
                "ANYVALUE",
                "T0",
                "M0",
            ):
                assert word not in text.upper()
