"""Prices: what is told before a query is what happens afterwards."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from sudare.errors import GuaranteeError, MixedCurrencyError, ParameterError, PlanError
from sudare.ledger import open_ledger
from sudare.privacy import Budget
from sudare.sql.execution.pricing import BatchPrice
from tests.unit.sql.shops import COUNT, PAIRS, ask_shop, bounded_ages, open_shop

SUM = "SELECT town, count(*) AS n, sum(age) AS s, avg(age) AS a, median(age) AS m FROM customer GROUP BY town"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return open_shop(tmp_path, ann=Budget(epsilon=3))


class TestPrice:
    def test_columns(self, shop: Path) -> None:
        with ask_shop(shop) as connection:
            columns = {column.name: column for column in connection.price(SUM).columns}
        assert columns["town"].measures == ()
        (counted,) = columns["n"].measures
        assert (counted.mechanism, counted.unit_of_error) == ("laplace", "value")
        assert columns["n"].error == counted.error
        assert columns["a"].error is None
        assert len(columns["a"].measures) == 2
        (chosen,) = columns["m"].measures
        assert (chosen.mechanism, chosen.scale, chosen.unit_of_error) == ("exponential", None, "rows")
        parts = {measure.what: measure.budget for column in columns.values() for measure in column.measures}
        assert sum((part.epsilon for part in parts.values()), Fraction(0)) == 1

    def test_what_is_left(self, shop: Path) -> None:
        with ask_shop(shop, analyst="ann") as connection:
            price = connection.price(COUNT)
            assert (price.cost, price.is_allowed, price.is_answered) == (Budget(epsilon=1), True, False)
            connection.execute(COUNT)
            assert price.remaining == tuple(one.remaining for one in connection.balances())
            again = connection.price(COUNT)
            assert (again.cost, again.is_answered) == (None, True)
            assert again.remaining == price.remaining
            too_much = connection.price("SELECT count(*) AS n FROM orders", Budget(epsilon=2.5))
            assert not too_much.is_allowed
            assert too_much.remaining == price.remaining
        with open_ledger(shop / "budget.db") as ledger:
            assert [entry.kind for entry in ledger.entries()].count("reserve") == 2, "prices charge nothing"

    def test_thresholds(self, shop: Path) -> None:
        with ask_shop(shop, Budget(epsilon=1, delta=1e-6)) as connection:
            (threshold,) = connection.price("SELECT club, count(*) AS n FROM customer GROUP BY club").thresholds
        assert threshold > 10

    @pytest.mark.slow
    def test_elastic_joins(self, shop: Path) -> None:
        (shop / "shop.toml").write_text(bounded_ages(50), encoding="utf-8")
        with ask_shop(shop, Budget(epsilon=1, delta=1e-6), joins="elastic") as connection:
            (column,) = connection.price(PAIRS).columns
            assert column.error is not None
            assert (column.measures[0].mechanism, column.measures[0].scale) == ("laplace", 202)
            epsilon = connection.epsilon_for(PAIRS, "n", column.error)
            assert 0.98 < epsilon <= 1
            cursor = connection.execute(PAIRS)
            assert cursor.noisy.deviations[0][0] == pytest.approx(2**0.5 * 202)

    @pytest.mark.deep
    def test_the_smallest_epsilon_that_elastic_joins_can_have(self, shop: Path) -> None:
        """Noise for it takes long to find: its smooth bound is one of many million distances."""
        (shop / "shop.toml").write_text(bounded_ages(50), encoding="utf-8")
        with ask_shop(shop, Budget(epsilon=1, delta=1e-6), joins="elastic") as connection:
            assert 1e-7 < connection.epsilon_for(PAIRS, "n", 10**20) < 1e-6

    def test_gaussian_noise(self, shop: Path) -> None:
        with ask_shop(shop, Budget(epsilon=1, delta=1e-6), noise="gaussian") as connection:
            (measure,) = connection.price(COUNT).columns[0].measures
        assert measure.mechanism == "gaussian"
        assert measure.scale is not None
        assert float(measure.error) == pytest.approx(measure.scale * 1.96 + 1, rel=1e-3)

    def test_public_tables_are_free(self, shop: Path) -> None:
        with ask_shop(shop) as connection:
            price = connection.price("SELECT count(*) AS n FROM town")
            assert (price.cost, price.is_answered, price.columns[0].measures) == (None, False, ())
            assert connection.remaining_queries("SELECT count(*) AS n FROM town") is None

    def test_opt_outs_are_told_here_too(self, shop: Path) -> None:
        with open_ledger(shop / "budget.db") as ledger:
            ledger.opt_out("shop", "1")
        with ask_shop(shop) as connection, pytest.raises(PlanError):
            connection.price(COUNT)


class TestBatch:
    def test_repeats_are_free(self, shop: Path) -> None:
        with ask_shop(shop) as connection:
            connection.execute(COUNT)
            orders = "SELECT count(*) AS n FROM orders"
            batch = connection.price_many([COUNT, orders, orders, "SELECT count(*) AS n FROM town"])
        assert batch.costs == (None, Budget(epsilon=1), None, None)
        assert batch.total == Budget(epsilon=1)
        assert batch.remaining == (Budget(epsilon=8, delta=1e-5),)

    def test_all_together_may_be_too_much(self, shop: Path) -> None:
        queries = [COUNT.replace("customer", "customer WHERE age > 1".replace("1", str(age))) for age in range(11)]
        with ask_shop(shop) as connection:
            assert not connection.price_many(queries).is_allowed
            assert connection.price_many(queries[:10]).is_allowed
            assert connection.price_many(queries[:10]).remaining == (None,)

    def test_nothing(self) -> None:
        assert BatchPrice((None,), True, ()).total is None
        with pytest.raises(MixedCurrencyError):
            _ = BatchPrice((Budget(epsilon=1), Budget(rho=1)), True, ()).total


class TestEpsilonFor:
    @pytest.mark.parametrize("error", [1.5, 10, 100, 12345])
    def test_smallest(self, shop: Path, error: float) -> None:
        with ask_shop(shop) as connection:
            found = connection.epsilon_for(COUNT, "n", error)
            enough = connection.price(COUNT, Budget(epsilon=found)).columns[0].error
            less = connection.price(COUNT, Budget(epsilon=found * Fraction(99, 100))).columns[0].error
        assert enough is not None
        assert less is not None
        assert enough <= error < less
        digits = f"{float(found):.12g}".replace(".", "").strip("0").partition("e")[0]
        assert len(digits) <= 3

    def test_quantiles_in_rows(self, shop: Path) -> None:
        with ask_shop(shop) as connection:
            assert connection.epsilon_for("SELECT median(age) AS m FROM customer", "m", 20) < 2

    def test_a_delta(self, shop: Path) -> None:
        sql = "SELECT club, count(*) AS n FROM customer GROUP BY club"
        with ask_shop(shop) as connection:
            assert connection.epsilon_for(sql, "n", 10, delta=1e-6) > 0

    def test_refused(self, shop: Path) -> None:
        with ask_shop(shop) as connection:
            for column, error in (("town", 1), ("a", 1), ("x", 1), ("n", 0), ("n", -1)):
                with pytest.raises(ParameterError):
                    connection.epsilon_for(SUM, column, error)
            with pytest.raises(GuaranteeError):
                connection.epsilon_for(SUM, "n", 1e-9)


class TestSpent:
    @pytest.mark.slow  # dp-accounting is loaded
    def test_three_ways(self, shop: Path) -> None:
        with ask_shop(shop, Budget(epsilon=0.05)) as connection:
            assert connection.spent() is None
            assert connection.spent("pld", delta=1e-6) is None
            for age in range(20):
                connection.execute("SELECT count(*) AS n FROM customer WHERE age > ?", [age])
            by_ledger = connection.spent()
            assert by_ledger == Budget(epsilon=1)
            zcdp, pld = connection.spent("zcdp", delta=1e-5), connection.spent("pld", delta=1e-5)
        assert zcdp is not None
        assert pld is not None
        assert pld.epsilon <= zcdp.epsilon < 1
        assert pld.delta == Fraction(1, 10**5)

    def test_what_failed_counts_in_full(self, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with ask_shop(shop) as connection:
            connection.execute(COUNT)

            def fail(sql: str, **_: object) -> None:
                raise RuntimeError

            monkeypatch.setattr(connection._engine, "fetch", fail)
            with pytest.raises(Exception, match="stays spent"):
                connection.execute("SELECT count(*) AS n FROM orders")
            assert connection.spent() == Budget(epsilon=2)
            found = connection.spent("zcdp", delta=1e-6)
        assert found is not None
        assert found.epsilon == 2

    def test_wrong_arguments(self, shop: Path) -> None:
        with ask_shop(shop) as connection:
            for accounting, delta in (("zcdp", None), ("pld", 0), ("pld", 1), ("magic", 0.1)):
                with pytest.raises(ParameterError):
                    connection.spent(accounting, delta=delta)  # type: ignore[arg-type]


def test_how_many_are_left(shop: Path) -> None:
    with ask_shop(shop, Budget(epsilon=0.7)) as connection:
        assert connection.remaining_queries(COUNT) == 14
    with ask_shop(shop, Budget(epsilon=0.7), analyst="ann") as connection:
        assert connection.remaining_queries(COUNT) == 4
    with ask_shop(shop, Budget(epsilon=0.1, delta=4e-6)) as connection:
        assert connection.remaining_queries("SELECT club, count(*) AS n FROM customer GROUP BY club") == 2
        assert connection.remaining_queries(COUNT) == 100, "Laplace noise takes no delta, and is charged none"
