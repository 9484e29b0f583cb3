"""Private SQL on the command line."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from sudare.cli.console.speaking import Speaker
from sudare.cli.sql.shell import statements
from sudare.ledger import open_ledger
from sudare.privacy import Budget
from tests.unit.cli.conftest import Answer, Run
from tests.unit.sql.shops import COUNT, METADATA, PAIRS, bounded_ages, open_shop

pytestmark = pytest.mark.slow

TOWNS = "SELECT town, count(*) AS n FROM customer GROUP BY town ORDER BY town"
Ask = Callable[..., Answer]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return open_shop(tmp_path, ann=Budget(epsilon=1.5))


@pytest.fixture
def ask(run: Run, shop: Path) -> Ask:
    """A command of the group with everything that it needs but a query."""

    def call(command: str, *more: object) -> Answer:
        given: list[object] = ["--data", shop / "shop.duckdb"]
        if command != "describe":
            given += ["--metadata", shop / "shop.toml"]
        if command in ("run", "price", "shell"):
            given += ["--ledger", shop / "budget.db", "--dataset", "shop"]
        return run("sql", command, *given, *more)

    return call


def spent(shop: Path, name: str = "shop") -> Budget | None:
    with open_ledger(shop / "budget.db") as ledger:
        return ledger.dataset(name).spent


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


class TestRun:
    def test_people_see_noise_beside_numbers(self, ask: Ask) -> None:
        shown = ask("run", "--epsilon", 1, TOWNS)
        assert shown.code == 0
        assert "town" in shown.out
        assert shown.out.count(" ± ") == 2
        assert "Charged epsilon = 1. Left: shop: epsilon = 9" in shown.err

    def test_programs_get_everything(self, ask: Ask, shop: Path) -> None:
        found = ask("run", "--epsilon", 1, TOWNS, "--json").json
        assert found["columns"] == ["town", "n"]
        assert [row[0] for row in found["rows"]] == ["A", "B"]
        assert len(found["noise"]["n"]) == len(found["error_95"]["n"]) == 2
        assert found["cost"] == {"epsilon": "1"}
        assert found["remaining"]["shop"]["epsilon"] == "9"
        assert found["changes"]
        again = ask("run", "--epsilon", 1, TOWNS, "--json").json
        assert again["repeated"]
        assert again["cost"] is None
        assert again["rows"] == found["rows"]
        assert spent(shop) == Budget(epsilon=1)

    def test_the_group_of_nulls_has_a_name(self, ask: Ask, shop: Path) -> None:
        text = METADATA.replace('["A", "B"], nullable = false', '["A", "B"]')
        (shop / "shop.toml").write_text(text, encoding="utf-8")
        shown = ask("run", "--epsilon", 1, "SELECT town, count(*) AS n FROM customer GROUP BY town")
        assert [line.split()[0] for line in shown.out.splitlines() if "±" in line] == ["A", "B", "NULL"]
        found = ask("run", "--epsilon", 1, "SELECT town, count(*) AS n FROM customer GROUP BY town", "--json").json
        assert [row[0] for row in found["rows"]] == ["A", "B", None]

    def test_choices_have_an_error_in_rows_and_empty_groups_a_mark(self, ask: Ask, shop: Path) -> None:
        text = METADATA.replace('["A", "B"]', '["A", "B", "C", "D", "E"]')
        (shop / "shop.toml").write_text(text, encoding="utf-8")
        query = "SELECT town, count(*) AS n, median(age) AS m FROM customer GROUP BY town"
        for language, rows, note in (("en", "rows", "Perhaps nobody"), ("ja", "行", "誰もいない可能性")):
            shown = ask("run", "--epsilon", 4, query, "--lang", language)
            lines = {line.split()[0]: line for line in shown.out.splitlines() if "±" in line}
            assert all(rows in lines[town] for town in "ABCDE")
            assert not any("*" in lines[town] for town in "AB")
            assert any("*" in lines[town] for town in "CDE")
            assert note in shown.out
        found = ask("run", "--epsilon", 4, query, "--json").json
        assert set(found["rank_error_95"]) == {"m"}
        assert found["perhaps_empty"][:2] == [False, False]
        assert any(found["perhaps_empty"])

    def test_repeats_are_told(self, ask: Ask) -> None:
        ask("run", "--epsilon", 1, COUNT)
        assert "nothing was charged" in ask("run", "--epsilon", 1, COUNT).err
        assert "費用はかかりません" in ask("run", "--epsilon", 1, COUNT, "--lang", "ja").err
        assert "Charged" in ask("run", "--epsilon", 1, COUNT, "--again").err

    def test_public_tables(self, ask: Ask) -> None:
        shown = ask("run", "--epsilon", 1, "SELECT sum(people) AS people FROM town")
        assert "400" in shown.out
        assert "exact and free" in shown.err

    def test_a_query_from_a_file_or_stdin(self, ask: Ask, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (shop / "query.sql").write_text(COUNT + ";\n", encoding="utf-8")
        first = ask("run", "--epsilon", 1, "-f", shop / "query.sql", "--json").json
        typed(monkeypatch, COUNT)
        assert ask("run", "--epsilon", 1, "--json").json["rows"] == first["rows"]
        typed(monkeypatch, COUNT)
        assert ask("run", "--epsilon", 1, "-", "--json").json["rows"] == first["rows"]

    @pytest.mark.parametrize("suffix", [".csv", ".parquet"])
    def test_files(self, ask: Ask, shop: Path, suffix: str) -> None:
        out = shop / f"answer{suffix}"
        shown = ask("run", "--epsilon", 1, TOWNS, "--out", out, "--intervals")
        assert shown.out.strip() == str(out)
        import duckdb

        found = duckdb.read_csv(str(out)) if suffix == ".csv" else duckdb.read_parquet(str(out))
        assert found.columns == ["town", "n", "n_low", "n_high", "n_noise", "perhaps_empty"]

    def test_a_file_that_cannot_be_written_is_told_before_the_charge(self, ask: Ask, shop: Path) -> None:
        (shop / "there.csv").write_text("")
        for name in ("answer.xlsx", "there.csv", "nowhere/answer.csv"):
            shown = ask("run", "--epsilon", 1, COUNT, "--out", shop / name)
            assert shown.code == 6
            assert "Nothing was charged" in shown.err
        assert spent(shop) is None

    def test_analysts(self, ask: Ask, shop: Path) -> None:
        assert ask("run", "--epsilon", 1, COUNT, "--analyst", "ann").code == 0
        shown = ask("run", "--epsilon", 1, TOWNS, "--analyst", "ann")
        assert shown.code == 4
        assert "shop/ann" in shown.err
        assert spent(shop, "shop/ann") == spent(shop) == Budget(epsilon=1)
        assert ask("run", "--epsilon", 1, COUNT, "--analyst", "zoe").code == 5

    def test_a_budget_in_the_query(self, ask: Ask, shop: Path) -> None:
        sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.25, privacy_unit_column = id) count(*) AS n FROM customer"
        assert ask("run", sql).code == 0
        assert spent(shop) == Budget(epsilon=0.25)
        assert ask("run", COUNT).code == 2


class TestFailures:
    def test_a_refused_query(self, ask: Ask, shop: Path) -> None:
        shown = ask("run", "--epsilon", 1, "SELECT id FROM customer")
        assert shown.code == 9
        assert "aggregates" in shown.err
        told = ask("run", "--epsilon", 1, "SELECT row_number() OVER () FROM customer", "--json").error
        assert (told["kind"], told["exit_code"]) == ("query", 9)
        assert told["reason"]
        assert told["line"] == 1
        assert spent(shop) is None

    def test_a_database_that_is_not_there(self, run: Run, shop: Path) -> None:
        place = ["--metadata", shop / "shop.toml", "--ledger", shop / "budget.db", "--dataset", "shop"]
        shown = run("sql", "run", "--data", shop / "nowhere.duckdb", *place, "--epsilon", "1", COUNT, "--json")
        assert shown.error["kind"] == "database"
        assert shown.code == 10

    def test_a_budget_that_is_spent(self, ask: Ask) -> None:
        assert ask("run", "--epsilon", 11, COUNT).code == 4

    def test_what_is_not_typed_may_be_set(self, run: Run, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert run("sql", "run", "--epsilon", "1", COUNT).code == 2
        for name, value in (("DATA", "shop.duckdb"), ("METADATA", "shop.toml"), ("LEDGER", "budget.db")):
            monkeypatch.setenv(f"SUDARE_SQL_{name}", str(shop / value))
        monkeypatch.setenv("SUDARE_SQL_DATASET", "shop")
        assert run("sql", "run", "--epsilon", "1", COUNT).code == 0

    @pytest.mark.parametrize("more", [["-f", "nowhere.sql"], [COUNT, "-f", "nowhere.sql"]])
    def test_no_query(self, ask: Ask, more: list[str]) -> None:
        assert ask("run", "--epsilon", 1, *more).code == 2

    def test_nobody_types_a_query(self, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        monkeypatch.setattr("sys.stdin", Terminal())
        assert "There is no query" in ask("run", "--epsilon", 1).err


EARLY, LATE = "require_schema", "answer"


def interrupt(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"sudare.sql.execution.charging.{moment}", stop)


def reserved(shop: Path) -> Budget | None:
    with open_ledger(shop / "budget.db") as ledger:
        return ledger.dataset("shop").reserved


class TestInterrupted:
    @pytest.mark.parametrize(
        ("moment", "english", "japanese"),
        [
            (EARLY, "no row had been read, so the charge was given back (entry 3)", "費用は戻されました（項目 3）"),
            (LATE, "No answer was given. The same query asks before it charges once more", "回答は得られていません"),
        ],
    )
    def test_what_became_of_the_charge_is_told(
        self, ask: Ask, monkeypatch: pytest.MonkeyPatch, moment: str, english: str, japanese: str
    ) -> None:
        interrupt(monkeypatch, moment)
        shown = ask("run", "--epsilon", 1, COUNT, "--json")
        assert shown.code == 130
        assert english in shown.error["english"]
        assert japanese in shown.error["japanese"]

    def test_nothing_is_charged_for_a_query_that_is_being_read(
        self, ask: Ask, shop: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def stop(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("sudare.sql.execution.connection.plan_query", stop)
        shown = ask("run", "--epsilon", 1, COUNT)
        assert shown.code == 130
        assert "Nothing was charged. The same command starts anew." in " ".join(shown.err.split())
        assert reserved(shop) is None

    def test_after_an_early_one_nothing_is_asked(self, ask: Ask, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as patched:
            interrupt(patched, EARLY)
            assert ask("run", "--epsilon", 1, COUNT).code == 130
        assert reserved(shop) is None
        assert ask("run", "--epsilon", 1, COUNT).code == 0
        assert spent(shop) == Budget(epsilon=1)

    def test_after_a_late_one_a_script_must_say_again(
        self, ask: Ask, shop: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as patched:
            interrupt(patched, LATE)
            assert ask("run", "--epsilon", 1, COUNT).code == 130
        refused = ask("run", "--epsilon", 1, COUNT, "--json")
        assert refused.code == 2
        assert "ledger entry 3" in refused.error["english"]
        assert "epsilon = 1 once more" in refused.error["english"]
        assert "`sudare sql run --again` を使ってください" in refused.error["japanese"]
        assert (spent(shop), reserved(shop)) == (None, Budget(epsilon=1))
        assert ask("run", "--epsilon", 2, COUNT).code == 0, "another query"
        assert ask("run", "--epsilon", 1, COUNT, "--again").code == 0
        assert ask("run", "--epsilon", 1, COUNT, "--json").json["repeated"]
        assert (spent(shop), reserved(shop)) == (Budget(epsilon=3), Budget(epsilon=1))

    @pytest.mark.parametrize(("answer", "code", "paid"), [("y", 0, Budget(epsilon=1)), ("n", 2, None)])
    def test_after_a_late_one_a_person_is_asked(
        self, ask: Ask, shop: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int, paid: Budget | None
    ) -> None:
        with monkeypatch.context() as patched:
            interrupt(patched, LATE)
            assert ask("run", "--epsilon", 1, COUNT).code == 130
        monkeypatch.setattr(Speaker, "is_interactive", True)
        monkeypatch.setattr("builtins.input", lambda *_: answer)
        shown = ask("run", "--epsilon", 1, COUNT)
        assert shown.code == code
        assert "charges epsilon = 1 once more" in " ".join(shown.err.split())
        assert spent(shop) == paid

    def test_the_shell_says_the_same_and_goes_on(self, ask: Ask, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as patched:
            interrupt(patched, LATE)
            typed(patched, f"{COUNT};\nSELECT nothing FROM nowhere;")
            told = " ".join(ask("shell", "--epsilon", 1).err.split())
        assert told.count("stays spent (entry 3)") == 1, "and not once more with what fails afterwards"
        typed(monkeypatch, COUNT)
        assert "was stopped earlier" in ask("shell", "--epsilon", 1).err
        assert (spent(shop), reserved(shop)) == (None, Budget(epsilon=1))


class TestExplainAndPrice:
    def test_explain(self, ask: Ask, shop: Path) -> None:
        shown = ask("explain", "--epsilon", 1, TOWNS)
        assert "sensitivity 1" in shown.out
        assert "max" not in shown.err
        assert "感度 1" in ask("explain", "--epsilon", 1, TOWNS, "--lang", "ja").out
        assert ask("explain", "--epsilon", 1, TOWNS, "--json").json["tables"][0]["measures"]
        assert spent(shop) is None

    def test_explain_takes_the_options_of_run(self, ask: Ask, shop: Path) -> None:
        plain = ask("explain", "--epsilon", 1, TOWNS)
        more = ("--ledger", shop / "nowhere.db", "--dataset", "nothing", "--analyst", "nobody")
        shown = ask("explain", "--epsilon", 1, TOWNS, *more)
        assert (shown.code, shown.out) == (0, plain.out)
        assert not (shop / "nowhere.db").exists()

    def test_joins_of_two_units(self, ask: Ask, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (shop / "shop.toml").write_text(bounded_ages(50), encoding="utf-8")
        budget = ("--epsilon", 1, "--delta", "1e-6")
        assert "50 rows for each value" in ask("explain", *budget, PAIRS).out
        assert "50 rows for each value" in ask("explain", *budget, "--joins", "truncated", PAIRS).out
        assert "101 rows can change today" in ask("explain", *budget, "--joins", "elastic", PAIRS).out
        assert "現在 101 行" in ask("explain", *budget, "--joins", "elastic", PAIRS, "--lang", "ja").out
        assert "202" in ask("price", *budget, "--joins", "elastic", PAIRS).out
        typed(monkeypatch, f"\\explain {PAIRS};")
        assert "101 rows can change today" in ask("shell", *budget, "--joins", "elastic").out
        assert spent(shop) is None
        assert ask("run", *budget, "--joins", "elastic", PAIRS, "--json").json["cost"] == {
            "epsilon": "1",
            "delta": "0.000001",
        }
        assert ask("run", *budget, "--joins", "elastic", PAIRS, "--json").json["repeated"]
        assert not ask("run", *budget, PAIRS, "--json").json["repeated"]
        assert ask("run", "--epsilon", 1, "--joins", "elastic", PAIRS, "--json").error["reason"] == "two-units"
        assert ask("run", *budget, "--joins", "loose", PAIRS).code == 2

    def test_price(self, ask: Ask, shop: Path) -> None:
        shown = ask("price", "--epsilon", 1, TOWNS, "--analyst", "ann")
        for words in ("Laplace", "±", "left afterwards, shop/ann", "epsilon = 0.5", "such queries left now", "1"):
            assert words in shown.out
        found = ask("price", "--epsilon", 1, TOWNS, "--json").json
        assert found["queries_left"] == 10
        assert found["allowed"]
        assert not ask("price", "--epsilon", 100, TOWNS, "--json").json["allowed"]
        assert "does not allow" in ask("price", "--epsilon", 15, TOWNS).out
        ask("run", "--epsilon", 1, TOWNS)
        assert "answered before" in ask("price", "--epsilon", 1, TOWNS).out
        assert spent(shop) == Budget(epsilon=1)

    def test_the_epsilon_for_an_error(self, ask: Ask) -> None:
        assert ask("price", COUNT, "--error", "n=100").out.startswith("epsilon = 0.03")
        assert ask("price", COUNT, "--error", "n=100", "--json").json["epsilon"] < 0.04
        assert ask("price", COUNT, "--error", "100").code == 2
        assert ask("price", COUNT, "--error", "n=many").code == 2


class TestDescribeAndCheck:
    def test_describe(self, ask: Ask, shop: Path) -> None:
        assert "[tables.customer]" in ask("describe").out
        only = ask("describe", "--table", "orders").out
        assert "[tables.orders]" in only
        assert "customer]" not in only
        assert ask("describe", "--out", shop / "draft.toml").out.strip() == str(shop / "draft.toml")
        assert ask("describe", "--out", shop / "draft.toml").code == 6
        assert ask("describe", "--table", "nothing").code == 2

    def test_check(self, ask: Ask, shop: Path) -> None:
        shown = ask("check")
        assert (shown.code, shown.err) == (0, "")
        wrong = METADATA.replace('age = { type = "integer"', 'age = { type = "float", step = 1')
        wrong = wrong.replace('values = ["A", "B"]', 'values = ["A", "C"]')
        (shop / "shop.toml").write_text(wrong, encoding="utf-8")
        shown = ask("check")
        assert shown.code == 7
        assert "age" in shown.out
        assert "town" not in shown.out
        owner = ask("check", "--as-owner")
        assert owner.code == 7
        assert "town" in owner.out
        assert "confidential" in owner.err
        assert len(ask("check", "--as-owner", "--json").json["findings"]) == 2


class TestShell:
    def test_a_conversation(self, ask: Ask, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        typed(
            monkeypatch,
            "\\d\n\\budget\n\nSELECT count(*)\n  AS n\nFROM customer;\n"
            f"\\price {TOWNS};\n\\explain {TOWNS};\n\\what\n;\n\\q\nSELECT never;\n",
        )
        shown = ask("shell", "--epsilon", 1)
        assert shown.code == 0
        for words in (
            "customer (private)",
            "town (public)",
            "0 … 100",
            "epsilon = 10",
            " ± ",
            "Laplace",
            "sensitivity 1",
        ):
            assert words in shown.out
        assert "Charged epsilon = 1" in shown.err
        assert "\\budget what is left" in shown.err
        assert "never" not in shown.out + shown.err
        assert spent(shop) == Budget(epsilon=1)

    def test_failures_end_nothing_but_are_the_exit_code(self, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
        typed(monkeypatch, "\n".join(["SELECT id FROM customer;", COUNT]))
        shown = ask("shell", "--epsilon", 1)
        assert shown.code == 9
        assert "Charged" in shown.err

    def test_programs(self, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
        import json

        typed(monkeypatch, f"\\d\n\\budget\n\\price {COUNT};\n\\explain {COUNT};\n{COUNT};")
        lines = [json.loads(line) for line in ask("shell", "--epsilon", 1, "--json").out.splitlines()]
        assert [set(line) & {"tables", "balances", "allowed", "post", "rows"} for line in lines] == [
            {"tables"},
            {"balances"},
            {"allowed"},
            {"tables", "post"},
            {"rows"},
        ]

    @pytest.mark.parametrize(
        ("lines", "expected"),
        [
            (["a;", "b", "c;"], ["a", "b\nc"]),
            (["", "  ", "\\q"], ["\\q"]),
            (["a", "\\q", ";"], ["a\n\\q"]),
            (["left over"], ["left over"]),
            ([], []),
        ],
    )
    def test_statements(self, lines: list[str], expected: list[str]) -> None:
        given = iter([*lines, None])
        assert list(statements(lambda goes_on: next(given))) == expected
