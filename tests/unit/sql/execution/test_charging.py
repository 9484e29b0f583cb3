"""Every query is paid for before anything is read, once, whatever happens in between."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sudare.errors import (
    BudgetExceededError,
    DatabaseError,
    GuaranteeError,
    LedgerError,
    OutputError,
    PlanError,
    QueryRefusedError,
)
from sudare.ledger import Dataset, Ledger, open_ledger
from sudare.privacy import Budget, Unit
from sudare.sql.execution import charging
from sudare.sql.execution.answers_store import AnswerStore
from sudare.sql.execution.charging import fingerprint_of
from sudare.sql.execution.connection import Connection
from tests.unit.sql.shops import COUNT, METADATA, ask_shop, open_shop

ROOT = Path(__file__).resolve().parents[4]


def account(folder: Path, name: str = "shop") -> Dataset:
    with open_ledger(folder / "budget.db") as ledger:
        assert ledger.verify() == []
        return ledger.dataset(name)


def spent(folder: Path, name: str = "shop") -> Fraction:
    """Settled and reserved together."""
    found = account(folder, name)
    return sum((part.epsilon for part in (found.spent, found.reserved) if part is not None), Fraction(0))


def reserved(folder: Path, name: str = "shop") -> Fraction:
    found = account(folder, name).reserved
    return Fraction(0) if found is None else found.epsilon


class TestOrder:
    def test_an_answer_is_charged_and_settled(self, tmp_path: Path) -> None:
        open_shop(tmp_path)
        with ask_shop(tmp_path) as connection:
            cursor = connection.execute(COUNT)
            assert cursor.cost == Budget(epsilon=1)
            assert not cursor.is_repeated
            assert abs(cursor.fetchone()[0] - 400) < 60  # type: ignore[index]
        assert account(tmp_path).spent == Budget(epsilon=1)
        assert account(tmp_path).reserved is None

    def test_a_refused_query_costs_nothing(self, tmp_path: Path) -> None:
        open_shop(tmp_path)
        with ask_shop(tmp_path) as connection, pytest.raises(QueryRefusedError):
            connection.execute("SELECT * FROM customer")
        assert spent(tmp_path) == 0

    def test_nothing_is_read_beyond_the_budget(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        open_shop(tmp_path, Budget(epsilon=1.5))
        with ask_shop(tmp_path) as connection:
            connection.execute(COUNT)
            asked: list[str] = []
            monkeypatch.setattr(connection._engine, "fetch", lambda sql, **_: asked.append(sql))
            monkeypatch.setattr(connection._engine, "columns", lambda table: asked.append(table))
            with pytest.raises(BudgetExceededError):
                connection.execute("SELECT count(*) AS n FROM orders")
            assert asked == []
        assert spent(tmp_path) == 1

    def test_a_failing_database_leaves_the_cost_spent(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        open_shop(tmp_path)
        with ask_shop(tmp_path) as connection:

            def fail(sql: str, **_: object) -> None:
                raise DatabaseError("It is gone.", "消えました。")

            monkeypatch.setattr(connection._engine, "fetch", fail)
            with pytest.raises(
                DatabaseError, match=r"It is gone\. The cost of the query \(epsilon = 1\) stays spent"
            ) as told:
                connection.execute(COUNT)
            assert "消費されたまま" in told.value.japanese
        assert reserved(tmp_path) == 1

    def test_an_unexpected_error_tells_nothing_of_its_words(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        open_shop(tmp_path)
        with ask_shop(tmp_path) as connection:

            def fail(sql: str, **_: object) -> None:
                raise RuntimeError("Taro Yamada has 7 orders")

            monkeypatch.setattr(connection._engine, "fetch", fail)
            with pytest.raises(DatabaseError, match="RuntimeError") as told:
                connection.execute(COUNT)
            assert "Taro" not in str(told.value) + told.value.japanese
            assert told.value.__cause__ is None
            assert told.value.__suppress_context__
        assert reserved(tmp_path) == 1

    def test_a_schema_that_differs_is_given_back(self, tmp_path: Path) -> None:
        open_shop(tmp_path)
        with duckdb.connect(str(tmp_path / "shop.duckdb")) as database:
            database.execute("ALTER TABLE customer ALTER town TYPE BLOB")
        with ask_shop(tmp_path) as connection, pytest.raises(DatabaseError, match="town"):
            connection.execute(COUNT)
        assert spent(tmp_path) == 0

    def test_an_answer_that_cannot_be_kept_stays_spent(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        open_shop(tmp_path)

        def fail(*_: object) -> None:
            raise OutputError("The disk is full.", "空きがありません。")

        monkeypatch.setattr(AnswerStore, "write", fail)
        with ask_shop(tmp_path) as connection, pytest.raises(OutputError, match=r"full.*stays spent"):
            connection.execute(COUNT)
        assert reserved(tmp_path) == 1

    def test_noise_that_cannot_be_drawn_is_free(self, tmp_path: Path) -> None:
        open_shop(tmp_path)
        with ask_shop(tmp_path, Budget(epsilon=1e-14)) as connection, pytest.raises(QueryRefusedError) as told:
            connection.execute(COUNT)
        assert told.value.reason == "noise-too-large"
        assert spent(tmp_path) == 0

    def test_public_tables_are_free_and_exact(self, tmp_path: Path) -> None:
        open_shop(tmp_path)
        with ask_shop(tmp_path) as connection:
            cursor = connection.execute("SELECT sum(people) AS people FROM town")
            assert cursor.fetchall() == [(400,)]
            assert (cursor.cost, cursor.event, cursor.entry) == (None, None, None)
        assert spent(tmp_path) == 0


class TestRepeats:
    def test_the_same_query_is_free_and_the_same(self, tmp_path: Path) -> None:
        open_shop(tmp_path)
        with ask_shop(tmp_path) as connection:
            first = connection.execute(COUNT)
            again = connection.execute("select COUNT( * ) as n from Customer -- the same")
            assert again.is_repeated
            assert again.cost is None
            assert again.table.equals(first.table)
            assert again.event == first.event
            assert again.entry == first.entry
        with ask_shop(tmp_path) as connection:
            assert connection.execute(COUNT).table.equals(first.table)
        assert spent(tmp_path) == 1

    @pytest.mark.slow
    def test_bytes_of_another_process_are_the_same(self, tmp_path: Path) -> None:
        open_shop(tmp_path)
        with ask_shop(tmp_path) as connection:
            kept = connection.execute("SELECT town, avg(age) AS a FROM customer GROUP BY town").table
        code = """
import sys
from pathlib import Path
from typing import Any
from tests.unit.sql.shops import ask_shop
with ask_shop(Path(sys.argv[1])) as connection:
    cursor = connection.execute("SELECT town, avg(age) AS a FROM customer GROUP BY town")
    print(cursor.is_repeated, cursor.fetchall())
"""
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)],
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=60,
            check=True,
        )
        rows = list(zip(*(column.to_pylist() for column in kept.columns), strict=True))
        assert done.stdout.strip() == f"True {rows}"

    @pytest.mark.parametrize(
        "settings",
        [
            {"budget": Budget(epsilon=0.9)},
            {"noise": "laplace"},
            {"joins": "elastic"},
            {"metadata": METADATA.replace('version = "1"', 'version = "2"')},
            {"metadata": METADATA.replace("max_rows = 1\n", "max_rows = 2\n")},
        ],
    )
    def test_other_questions_are_other_answers(self, tmp_path: Path, settings: dict[str, object]) -> None:
        open_shop(tmp_path)
        if "metadata" in settings:
            (tmp_path / "other.toml").write_text(str(settings["metadata"]), encoding="utf-8")
            settings = {"metadata": tmp_path / "other.toml"}
        with ask_shop(tmp_path) as connection:
            connection.execute(COUNT)
        with ask_shop(tmp_path, **settings) as connection:  # type: ignore[arg-type]
            assert not connection.execute(COUNT).is_repeated

    def test_quantiles_that_differ_in_their_share_alone_are_different(self, tmp_path: Path) -> None:
        open_shop(tmp_path)
        with ask_shop(tmp_path) as connection:
            low, high = (
                connection.prepare("SELECT quantile_cont(age, 0.1) AS q FROM customer".replace("0.1", share))
                for share in ("0.1", "0.9")
            )
            prints = [fingerprint_of(one.plan, one.budget, one.noise, one.joins, "x", "shop") for one in (low, high)]
        assert prints[0] != prints[1]

    def test_again_draws_and_charges_anew(self, tmp_path: Path) -> None:
        open_shop(tmp_path)
        with ask_shop(tmp_path, Budget(epsilon=0.01)) as connection:
            seen = [connection.execute(COUNT, again=True).fetchone() for _ in range(6)]
            assert len(set(seen)) > 1
            assert connection.execute(COUNT).fetchone() == seen[-1], "the latest is handed out"
        assert spent(tmp_path) == Fraction(6, 100)

    def test_an_answer_that_was_changed_is_not_handed_out(self, tmp_path: Path) -> None:
        open_shop(tmp_path)
        with ask_shop(tmp_path) as connection:
            connection.execute(COUNT)
            (file,) = (tmp_path / "budget.db.answers").glob("*.arrow")
            content = bytearray(file.read_bytes())
            content[len(content) // 2] ^= 1
            file.write_bytes(bytes(content))
            with pytest.raises(LedgerError, match="answered before"):
                connection.execute(COUNT)
            file.unlink()
            with pytest.raises(LedgerError, match="again=True"):
                connection.execute(COUNT)
            assert not connection.execute(COUNT, again=True).is_repeated
            assert connection.execute(COUNT).is_repeated
        assert spent(tmp_path) == 2

    def test_an_earlier_answer_serves_where_the_latest_is_gone(self, tmp_path: Path) -> None:
        open_shop(tmp_path)
        with ask_shop(tmp_path) as connection:
            first = connection.execute(COUNT).fetchone()
            later = connection.execute(COUNT, again=True)
            number = max(int(file.stem.split("-")[1]) for file in (tmp_path / "budget.db.answers").glob("*.arrow"))
            (file,) = (tmp_path / "budget.db.answers").glob(f"*-{number}-*.arrow")
            file.unlink()
            found = connection.execute(COUNT)
            assert found.fetchone() == first
            assert found.entry != later.entry

    def test_whoever_asks_the_same_at_once_waits(self, tmp_path: Path) -> None:
        open_shop(tmp_path)
        answers: list[object] = []

        def ask() -> None:
            with ask_shop(tmp_path) as connection:
                answers.append(connection.execute(COUNT).fetchone())

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
        assert len(answers) == 4
        assert len(set(answers)) == 1
        assert spent(tmp_path) == 1
        assert not list((tmp_path / "budget.db.answers").glob(".*.lock"))


class TestAnalysts:
    def test_both_accounts_are_charged(self, tmp_path: Path) -> None:
        open_shop(tmp_path, ann=Budget(epsilon=1.5))
        with ask_shop(tmp_path, analyst="ann") as connection:
            connection.execute(COUNT)
            assert [one.name for one in connection.balances()] == ["shop", "shop/ann"]
            with pytest.raises(BudgetExceededError, match="shop/ann"):
                connection.execute("SELECT count(*) AS n FROM orders")
        assert [spent(tmp_path), spent(tmp_path, "shop/ann")] == [1, 1]
        assert [reserved(tmp_path), reserved(tmp_path, "shop/ann")] == [0, 0]

    def test_the_data_sets_total_holds_for_all_together(self, tmp_path: Path) -> None:
        open_shop(tmp_path, Budget(epsilon=1), ann=Budget(epsilon=9), bob=Budget(epsilon=9))
        with ask_shop(tmp_path, analyst="ann") as connection:
            connection.execute(COUNT)
        with ask_shop(tmp_path, analyst="bob") as connection:
            with pytest.raises(BudgetExceededError, match="'shop'"):
                connection.execute("SELECT count(*) AS n FROM orders")
            assert connection.execute(COUNT).is_repeated, "what another analyst paid for is free"
        assert spent(tmp_path, "shop/bob") == 0

    def test_filters_and_sums_side_by_side(self, tmp_path: Path) -> None:
        """Each account counts by its own rule: the data set's as rhos, the analyst's as epsilons."""
        open_shop(tmp_path)
        customer, total = Unit("customer"), Budget(epsilon=1, delta=1e-6)
        with open_ledger(tmp_path / "budget.db") as ledger:
            ledger.add_dataset("store", total, unit=customer, rho_filter=True)
            ledger.add_dataset("store/ann", Budget(epsilon=0.05), unit=customer)
        settings: dict[str, Any] = {"dataset": "store", "analyst": "ann"}
        with ask_shop(tmp_path, Budget(epsilon=0.02), **settings) as connection:
            assert connection._accounts.times_left(Budget(epsilon=0.02)) == 2
            price = connection.price(COUNT)
            assert price.is_allowed
            assert [part is not None and part.currency for part in price.remaining] == ["rho", "epsilon"]
            for age in (30, 40):
                connection.execute(f"SELECT count(*) AS n FROM customer WHERE age < {age}")  # noqa: S608
            with pytest.raises(BudgetExceededError, match="store/ann"):
                connection.execute(COUNT)
            whole = connection.spent()
            assert whole == Budget(rho=Fraction(4, 10**4))
        with ask_shop(tmp_path, Budget(epsilon=0.02), dataset="store") as connection:
            # The data set's own account has room for 114 such queries; under sums it would be 50.
            assert connection._accounts.times_left(Budget(epsilon=0.02)) == 112
            with open_ledger(tmp_path / "budget.db") as ledger:
                ledger.reserve("store", Budget(epsilon=0.01, delta=1e-7), unit=customer, fingerprint="0" * 64)
            told = connection.spent("zcdp", delta=1e-6)
            assert told is not None
            with pytest.raises(GuaranteeError, match="never settled exceed the delta"):
                connection.spent("zcdp", delta=1e-8)
        kept = account(tmp_path, "store").filter
        assert kept is not None
        assert kept.reserve_left == Fraction(4, 10**7)

    def test_a_filter_sets_aside_what_the_noise_implies(self, tmp_path: Path) -> None:
        """Gaussian noise planned in (epsilon, delta) would not fit if epsilon**2 / 2 were set aside for it."""
        open_shop(tmp_path)
        with open_ledger(tmp_path / "budget.db") as ledger:
            total = Budget(epsilon=1, delta=1e-6)
            ledger.add_dataset("store", total, unit=Unit("customer"), rho_filter=True)
        budget = Budget(epsilon=0.5, delta=1e-8)
        with ask_shop(tmp_path, budget, dataset="store", noise="gaussian") as connection:
            price, left = connection.price(COUNT), connection.remaining_queries(COUNT)
            assert price.is_allowed
            cursor = connection.execute(COUNT)
            assert cursor.event is not None
            rho = cursor.event.measurements[0].rho
            (remaining,) = price.remaining
            assert account(tmp_path, "store").remaining == remaining
            assert left == account(tmp_path, "store").rule.limit.main // rho
            assert connection.spent() == Budget(rho=rho)

    def test_an_analyst_without_a_budget(self, tmp_path: Path) -> None:
        open_shop(tmp_path)
        with pytest.raises(LedgerError, match="sudare ledger add LEDGER shop/zoe"):
            ask_shop(tmp_path, analyst="zoe")

    def test_another_unit_is_refused(self, tmp_path: Path) -> None:
        open_shop(tmp_path)
        with open_ledger(tmp_path / "budget.db") as ledger:
            ledger.add_dataset("others", Budget(epsilon=1), unit=Unit("household"))
        with pytest.raises(LedgerError, match="household"):
            ask_shop(tmp_path, dataset="others")


class TestOptOuts:
    def test_a_declaration_is_needed(self, tmp_path: Path) -> None:
        open_shop(tmp_path)
        with ask_shop(tmp_path) as connection:
            before = connection.execute(COUNT)
        with open_ledger(tmp_path / "budget.db") as ledger:
            ledger.opt_out("shop", "17")
        with ask_shop(tmp_path) as connection, pytest.raises(PlanError, match="opt_outs_removed"):
            connection.execute(COUNT)
        with ask_shop(tmp_path, opt_outs_removed=True) as connection:
            assert connection.execute(COUNT).entry != before.entry, "answers with those who left are not handed out"


@pytest.mark.slow
class TestKilled:
    """kill -9 between any two steps: nothing is read without being paid for, and nothing is paid for twice."""

    CHILD = """
import os, signal, sys
from pathlib import Path
from typing import Any
from sudare.ledger import charging as ledger_charging
from sudare.sql.execution import charging
from sudare.sql.execution.answers_store import AnswerStore
from tests.unit.sql.shops import COUNT, ask_shop

def dies(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def dies_after(function):
    def wrapped(*given, **named):
        function(*given, **named)
        dies()
    return wrapped

place = sys.argv[2]
if place == "after reserve":
    charging.require_schema = dies
elif place == "while drawing":
    charging.answer = dies
elif place == "after write":
    AnswerStore.write = dies_after(AnswerStore.write)
elif place == "between settlements":
    ledger = charging.Ledger
    ledger.settle = dies_after(ledger.settle)
elif place == "after settle":
    ledger_charging.settle_in_all = dies_after(ledger_charging.settle_in_all)
with ask_shop(Path(sys.argv[1]), analyst="ann") as connection:
    connection.execute(COUNT)
"""

    @pytest.mark.parametrize(
        ("place", "is_finished"),
        [
            ("after reserve", False),
            ("while drawing", False),
            ("after write", True),
            ("between settlements", True),
            ("after settle", True),
        ],
    )
    def test_budget_is_right(self, tmp_path: Path, place: str, is_finished: bool) -> None:
        open_shop(tmp_path, ann=Budget(epsilon=5))
        command = [sys.executable, "-c", self.CHILD, str(tmp_path), place]
        ended = subprocess.run(command, cwd=ROOT, timeout=60, check=False, stderr=subprocess.PIPE)
        assert ended.returncode == -signal.SIGKILL, ended.stderr
        assert [spent(tmp_path), spent(tmp_path, "shop/ann")] == [1, 1], "what may have been drawn is spent"
        with ask_shop(tmp_path, analyst="ann") as connection:
            assert connection.execute(COUNT).is_repeated is is_finished
            once_more = connection.execute(COUNT)
        assert once_more.is_repeated
        assert spent(tmp_path) == spent(tmp_path, "shop/ann") == (1 if is_finished else 2)

    def test_a_foreign_file_is_not_settled(self, tmp_path: Path) -> None:
        """Whoever can write to the folder of answers, but does not have the ledger's secret, gets nothing settled."""
        open_shop(tmp_path, ann=Budget(epsilon=5))
        command = [sys.executable, "-c", self.CHILD, str(tmp_path), "after write"]
        subprocess.run(command, cwd=ROOT, timeout=60, check=False)
        (file,) = (tmp_path / "budget.db.answers").glob("*.arrow")
        file.rename(file.with_name(file.name.replace(file.stem.split("-")[2], "0" * 64)))
        with ask_shop(tmp_path, analyst="ann") as connection:
            assert not connection.execute(COUNT).is_repeated
        assert spent(tmp_path) == 2


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_charged(tmp_path: Path) -> None:
    open_shop(tmp_path)
    (tmp_path / "answers").write_text("a file")
    with pytest.raises(OutputError, match="nothing was charged"):
        ask_shop(tmp_path, answers=tmp_path / "answers")
    assert spent(tmp_path) == 0


def test_the_order_of_the_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_shop(tmp_path)
    steps: list[str] = []

    def noted(owner: object, name: str) -> None:
        function = getattr(owner, name)

        def wrapped(*given: object, **named: object) -> object:
            steps.append(name)
            return function(*given, **named)

        monkeypatch.setattr(owner, name, wrapped)

    noted(Ledger, "reserve")
    noted(charging, "require_schema")
    noted(charging, "answer")
    noted(AnswerStore, "write")
    noted(Ledger, "settle")
    with ask_shop(tmp_path) as connection:
        connection.execute(COUNT)
    assert steps == ["reserve", "require_schema", "answer", "write", "settle"]


def test_connections_are_made_by_connect_alone() -> None:
    """There is no way around the ledger: a connection cannot be made without accounts."""
    with pytest.raises(TypeError):
        Connection()  # type: ignore[call-arg]
