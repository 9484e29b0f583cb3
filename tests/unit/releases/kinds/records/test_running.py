"""Plans are carried out whole or not at all; what is published keeps its models; what costs budget is charged once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sudare.errors import BudgetExceededError, InputError, LedgerError, OutputError, PlanError
from sudare.ledger import Ledger, open_ledger
from sudare.microdata.models import KAnonymity
from sudare.microdata.records import Records, read_people
from sudare.microdata.search.anonymizing import satisfies
from sudare.privacy import Budget, ReleaseEvent, Unit
from sudare.releases.kinds.records import read_people_plan, run_people_plan, verify_people
from sudare.releases.kinds.records import running as running_module
from sudare.releases.kinds.records.charging import without_opted_out
from sudare.releases.kinds.records.measuring import rest_of_population
from sudare.releases.kinds.records.page import render_people_page
from sudare.storage.hashes import hash_of_file
from tests.unit.releases.kinds.records.town import (
    ANONYMIZE,
    COLUMNS,
    HEAD,
    LEDGER,
    MST,
    SAMPLED,
    UNTOLD,
    build_town,
    people,
)


def run(folder: Path, text: str = HEAD + COLUMNS + ANONYMIZE, **options: Any) -> Any:
    plan = build_town(folder, text, options.pop("rows", None))
    return run_people_plan(read_people_plan(plan, folder / "out"), **options)


def spent(folder: Path) -> Budget | None:
    with open_ledger(folder / "budget.db") as ledger:
        assert ledger.verify() == []
        return ledger.dataset("town").spent


def left_behind(folder: Path) -> set[str]:
    """What is in the folder beside the inputs."""
    return {path.name for path in folder.iterdir()} - {"people.csv", "plan.toml", "budget.db", "everybody.csv"}


class TestAnonymize:
    """k-anonymity and its family."""

    def test_what_is_published_keeps_its_models(self, tmp_path: Path) -> None:
        made = run(
            tmp_path, HEAD + COLUMNS + ANONYMIZE + 'suppression = 0.1\nmodels = [{ name = "l-diversity", l = 2 }]\n'
        )
        published = read_people(tmp_path / "out" / "people.csv")
        assert satisfies(published, ["age", "sex", "zip"], [KAnonymity(4)])
        assert published.names == ("age", "sex", "zip", "illness", "wage")
        assert [model["holds"] for model in made.document["models"]] == [True, True]
        assert made.document["risks"]["before"]["k"] == 1
        assert made.document["risks"]["after"]["k"] >= 4
        assert made.document["risks"]["after"]["highest"] <= 0.25
        assert made.document["risks"]["after"]["sensitive"]["illness"]["distinct_l"] >= 2
        assert made.document["confidential"]
        assert made.document["input"]["sha256"] == hash_of_file(tmp_path / "people.csv")
        assert 0 <= made.document["utility"]["loss"] <= 1

    def test_the_report_is_what_the_folder_holds(self, tmp_path: Path) -> None:
        made = run(tmp_path)
        folder = tmp_path / "out"
        assert {path.name for path in folder.iterdir()} == {"people.csv", "release.json", "release.html"}
        document = json.loads((folder / "release.json").read_text(encoding="utf-8"))
        assert document == json.loads(json.dumps(made.document))
        assert document["files"][0]["sha256"] == hash_of_file(folder / "people.csv")
        page = (folder / "release.html").read_text(encoding="utf-8")
        assert page == render_people_page(document)
        assert page != render_people_page(document, language="ja")
        for word in ("not differential privacy", "差分プライバシーではありません", "A small town", "<svg"):
            assert word in page
        assert "src=" not in page
        assert 'href="http' not in page

    def test_parquet_local_search_and_stars(self, tmp_path: Path) -> None:
        output = '[output]\nformats = ["parquet"]\n'
        run(tmp_path, HEAD + COLUMNS + ANONYMIZE + 'search = "local"\n' + output)
        local = read_people(tmp_path / "out" / "people.parquet")
        assert local.rows == 240
        assert satisfies(local, ["age", "sex", "zip"], [KAnonymity(4)])
        (tmp_path / "b").mkdir()
        starred = run(tmp_path / "b", HEAD + COLUMNS + ANONYMIZE + 'suppression = 0.2\nsuppressed = "starred"\n')
        assert starred.document["published"]["rows"] == 240
        assert starred.document["models"][0]["holds"]

    def test_journalists_and_k_map(self, tmp_path: Path) -> None:
        everybody = people(480)
        lines = [",".join(("age", "sex", "zip")), *(",".join(row[1:4]) for row in everybody)]
        (tmp_path / "everybody.csv").write_text("\n".join(lines) + "\n")
        plan = HEAD + 'population = "everybody.csv"\n' + COLUMNS + ANONYMIZE.replace("k = 4", "")
        made = run(tmp_path, plan + 'models = [{ name = "k-map", k = 6 }]\n')
        after = made.document["risks"]["after"]
        assert made.document["models"][0]["holds"] is None
        assert after["journalist"]["highest"] <= 1 / 6
        assert after["journalist"]["highest"] <= after["highest"]

    def test_steps_before_models(self, tmp_path: Path) -> None:
        steps = """
[[steps]]
method = "swap"
columns = ["wage"]
share = 0.5
[[steps]]
method = "pram"
column = "illness"
keep = 0.7
[[steps]]
method = "noise"
column = "wage"
scale = 5
[[steps]]
method = "microaggregate"
columns = ["wage"]
k = 3
[[steps]]
method = "anonymize"
k = 3
"""
        made = run(tmp_path, HEAD + COLUMNS + steps)
        assert [step["method"] for step in made.document["steps"]][-1] == "anonymize"
        assert made.document["steps"][0]["touched"] == 0.5
        assert all(step["protects"]["japanese"] for step in made.document["steps"])
        assert made.document["models"][0]["holds"]

    @pytest.mark.parametrize(
        ("before", "is_claimed"),
        [
            ('method = "swap"\ncolumns = ["wage"]\nkind = "rank"\ndistance = 0.1', False),
            ('method = "swap"\ncolumns = ["illness"]\nshare = 0.5\nwithin = ["wage"]', False),
            ('method = "sample"\nrate = 0.5\nby = "wage"', False),
            ('method = "swap"\ncolumns = ["illness"]\nshare = 0.5', True),
            ('method = "sample"\nrate = 0.5', True),
        ],
    )
    def test_local_privacy_is_claimed_for_a_person_s_own_value_only(
        self, tmp_path: Path, before: str, is_claimed: bool
    ) -> None:
        noise = '[[steps]]\nmethod = "noise"\ncolumn = "wage"\nepsilon = 1\nbounds = [0, 1000]\ndecimals = 0\n'
        plan = HEAD + COLUMNS + f"[[steps]]\n{before}\n" + noise
        step = run(tmp_path, plan, even_if_broken=True).document["steps"][1]
        assert (step["local_epsilon"] is not None) == (step["local_rho"] is not None) == is_claimed
        assert step["protects"]["english"].startswith("Local differential privacy") == is_claimed
        assert ("局所差分プライバシーではありません" in step["protects"]["japanese"]) == (not is_claimed)

    def test_the_risk_of_starred_records_is_told(self, tmp_path: Path) -> None:
        alike = [["P", "30", "f", "8101", "flu", "1"]] * 60 + [["P", "50", "m", "8120", "flu", "1"]] * 60
        rows = [*alike, *(["Q", str(12 * place), "f", f"9{place}99", "flu", "1"] for place in range(7))]
        everybody = [["age", "sex", "zip"], *(row[1:4] for row in rows), *[["0", "f", "9099"]] * 5]
        (tmp_path / "everybody.csv").write_text("\n".join(map(",".join, everybody)) + "\n")
        plan = HEAD + 'population = "everybody.csv"\n' + COLUMNS + ANONYMIZE
        starred = 'suppression = 0.3\nsuppressed = "starred"\n'
        made = run(tmp_path, plan.replace("k = 4", "k = 6") + starred, rows=rows)
        document = made.document
        assert document["kept"]["suppressed"] == pytest.approx(7 / 127)
        assert document["models"][0]["holds"]
        assert document["risks"]["after"]["records"] == len(rows)
        assert document["risks"]["after"]["k"] == 7
        # Five more people look like one of the starred ones.
        assert document["risks"]["after"]["journalist"]["highest"] == pytest.approx(1 / 12)
        assert "published with stars" in document["steps"][0]["protects"]["english"]
        published = read_people(tmp_path / "out" / "people.csv")
        assert satisfies(published, ["age", "sex", "zip"], [KAnonymity(6)])

    def test_a_sample_alone(self, tmp_path: Path) -> None:
        made = run(tmp_path, HEAD + COLUMNS + '[protection]\nmethod = "sample"\nrows = 50\n', even_if_broken=True)
        assert made.document["published"]["rows"] == 50
        assert made.document["models"] == []


BAD_ROWS = [
    ("age", 1, UNTOLD),
    ("age", 1, ""),
    ("zip", 3, UNTOLD),
    ("zip", 3, ""),
]


class TestBadInput:
    """Nothing is written, and the message names the column and the row."""

    @pytest.mark.parametrize(("column", "place", "value"), BAD_ROWS)
    def test_values_without_a_place(self, tmp_path: Path, column: str, place: int, value: str) -> None:
        rows = people()
        rows[6][place] = value
        with pytest.raises(InputError) as caught:
            run(tmp_path, rows=rows)
        for sentence in (caught.value.english, caught.value.japanese):
            assert f"'{column}'" in sentence
            assert "7" in sentence
            assert UNTOLD not in sentence
        assert "row 7" in caught.value.english
        assert not left_behind(tmp_path)

    def test_missing_values_with_a_name(self, tmp_path: Path) -> None:
        rows = people()
        rows[6][1] = ""
        made = run(
            tmp_path, HEAD + COLUMNS.replace("highest = 80 }", 'highest = 80 }\nmissing = "?"') + ANONYMIZE, rows=rows
        )
        assert made.document["models"][0]["holds"]

    def test_values_not_in_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "sex.csv").write_text("f;*\nx;*\n")
        with pytest.raises(InputError, match="'sex' has a value in row 2 of the data") as caught:
            run(tmp_path, HEAD + COLUMNS.replace("flat = true", 'hierarchy = "sex.csv"') + ANONYMIZE)
        assert "'m'" not in caught.value.english
        assert left_behind(tmp_path) == {"sex.csv"}

    @pytest.mark.parametrize(
        ("plan", "english", "japanese"),
        [
            (ANONYMIZE.replace("4", "500"), "at least 500 records", "500 件以上"),
            (
                ANONYMIZE.replace("4", "200") + "suppression = 1\n",
                "Every record would be suppressed",
                "すべてのレコードが秘匿",
            ),
            (ANONYMIZE + 'models = [{ name = "l-diversity", l = 5 }]\n', "No choice of levels", "条件を満たせません"),
        ],
    )
    def test_models_that_cannot_hold(self, tmp_path: Path, plan: str, english: str, japanese: str) -> None:
        with pytest.raises(InputError) as caught:
            run(tmp_path, HEAD + COLUMNS + plan)
        assert english in caught.value.english
        assert japanese in caught.value.japanese
        assert "240" not in caught.value.english
        assert not left_behind(tmp_path)

    def test_two_encodings(self, tmp_path: Path) -> None:
        plan = build_town(tmp_path)
        text = (
            (tmp_path / "people.csv")
            .read_bytes()
            .replace(b"flu", "風邪".encode())
            .replace(b"heart", "心臓".encode("cp932"))
        )
        (tmp_path / "people.csv").write_bytes(text)
        with pytest.raises(InputError, match="encoding"):
            run_people_plan(read_people_plan(plan, tmp_path / "out"))
        assert not left_behind(tmp_path)

    def test_a_column_that_nobody_named(self, tmp_path: Path) -> None:
        plan = COLUMNS.replace('[columns.wage]\nrole = "other"\n', "")
        with pytest.raises(
            InputError, match=r"a column 'wage' that the plan does not name.*others = \"drop\""
        ) as caught:
            run(tmp_path, HEAD + plan + ANONYMIZE)
        assert "wage" in caught.value.japanese
        made = run(tmp_path, HEAD + 'others = "drop"\n' + plan + ANONYMIZE)
        assert "wage" not in made.document["published"]["columns"]

    def test_a_column_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"There is no column 'ages' in 'people\.csv'\. Did you mean 'age'"):
            run(tmp_path, HEAD + COLUMNS.replace("columns.age]", "columns.ages]") + ANONYMIZE)

    def test_a_folder_that_exists(self, tmp_path: Path) -> None:
        run(tmp_path)
        before = hash_of_file(tmp_path / "out" / "release.json")
        with pytest.raises(OutputError, match="exists already"):
            run(tmp_path)
        assert hash_of_file(tmp_path / "out" / "release.json") == before

    def test_a_disk_that_fails_leaves_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(running_module, "write_people", fail)
        with pytest.raises(OutputError, match="No space left"):
            run(tmp_path)
        assert not left_behind(tmp_path)


class TestPrivate:
    """Methods with a budget: reserved before reading, settled with what was written, never twice."""

    def test_sampled_groups(self, tmp_path: Path) -> None:
        made = run(tmp_path, SAMPLED)
        document = made.document
        event = ReleaseEvent.from_json(json.dumps(document["event"]))
        assert event.is_private
        assert spent(tmp_path) == Budget(epsilon=2, delta=1e-5)
        assert document["groups"]["holds"]
        published = read_people(tmp_path / "out" / "people.csv")
        assert satisfies(published, published.names, [KAnonymity(document["groups"]["k"])])
        page = (tmp_path / "out" / "release.html").read_text(encoding="utf-8")
        assert "k-anonymity alone is not differential privacy" in page

    def test_a_report_with_a_budget_tells_nothing_else_of_the_data(self, tmp_path: Path) -> None:
        document = run(tmp_path, SAMPLED).document
        assert not {"risks", "classes", "utility", "kept", "models"} & set(document)
        assert not document["confidential"]
        assert "sha256" not in document["input"]
        assert "touched" not in document["steps"][0]
        assert hash_of_file(tmp_path / "people.csv") not in json.dumps(document)
        from_the_plan = {
            "format",
            "title",
            "publisher",
            "description",
            "created",
            "utc_offset",
            "steps",
            "columns",
            "versions",
            "confidential",
        }
        from_what_was_published = {"published", "files", "groups", "values", "tables"}
        from_the_ledger = {"event", "promise", "ledger", "input"}
        assert set(document) == from_the_plan | from_what_was_published | from_the_ledger

    def test_synthetic_people(self, tmp_path: Path) -> None:
        made = run(tmp_path, MST)
        published = read_people(tmp_path / "out" / "people.csv")
        assert published.names == ("age", "sex")
        assert all(0 <= int(age) < 100 for age in published.column("age").texts())
        assert made.document["tables"] == [["age", "sex"]]
        assert sum(count for _, count in made.document["values"]["age"]) == published.rows

    def test_the_same_plan_is_free(self, tmp_path: Path) -> None:
        first = run(tmp_path, MST)
        again = run(tmp_path, MST.replace("A small town", "Another title"))
        assert again.is_repeated
        assert again.document["ledger"] == first.document["ledger"]
        assert spent(tmp_path) == Budget(epsilon=2, delta=1e-5)
        with pytest.raises(OutputError):
            run(tmp_path, MST, again=True)
        plan = read_people_plan(tmp_path / "plan.toml", tmp_path / "other")
        assert not run_people_plan(plan).is_repeated
        assert spent(tmp_path) == Budget(epsilon=4, delta=2e-5)

    def test_a_folder_that_was_changed_is_noticed(self, tmp_path: Path) -> None:
        run(tmp_path, MST)
        (tmp_path / "out" / "people.csv").write_text("age,sex\n")
        with pytest.raises(LedgerError, match="was made before"):
            run(tmp_path, MST)

    @pytest.mark.parametrize("method", ["mst", "aim", "sampled-k-anonymity", "choose_levels"])
    @pytest.mark.parametrize("why", ["no rows", "all opted out"])
    def test_nobody_is_published_like_anybody(self, tmp_path: Path, method: str, why: str) -> None:
        """An error that costs nothing would tell for certain that nobody is in the data."""
        text = SAMPLED if method == "sampled-k-anonymity" else MST.replace('"mst"', f'"{method}"')
        if method == "choose_levels":
            text = SAMPLED.replace("level = 1\n", "").replace(LEDGER, f"choose_levels = 0.2\n{LEDGER}")
        rows: list[list[str]] = []
        if why == "all opted out":
            rows, text = people(3), text.replace("[source]", '[source]\nperson = "person"')
            build_town(tmp_path)
            with open_ledger(tmp_path / "budget.db") as ledger:
                for row in rows:
                    ledger.opt_out("town", row[0])
        made = run(tmp_path, text, rows=rows)
        assert spent(tmp_path) == Budget(epsilon=2, delta=1e-5)
        assert ReleaseEvent.from_json(json.dumps(made.document["event"])).cost == Budget(epsilon=2, delta=1e-5)
        assert read_people(tmp_path / "out" / "people.csv").rows == made.document["published"]["rows"]
        assert "<html" in (tmp_path / "out" / "release.html").read_text(encoding="utf-8")
        assert {check.outcome for check in verify_people(tmp_path / "out", str(tmp_path / "budget.db"))} == {"passed"}

    def test_bad_data_costs_nothing(self, tmp_path: Path) -> None:
        for column, text in (("sex", MST), ("age", SAMPLED)):
            rows = people()
            rows[4][{"sex": 2, "age": 1}[column]] = UNTOLD
            with pytest.raises(InputError) as caught:
                run(tmp_path, text, rows=rows)
            assert f"'{column}'" in caught.value.english
            assert "5" in caught.value.english
            assert UNTOLD not in caught.value.english + caught.value.japanese
        assert spent(tmp_path) is None
        with open_ledger(tmp_path / "budget.db") as ledger:
            assert ledger.dataset("town").remaining == Budget(epsilon=5, delta=1e-4)
        assert not left_behind(tmp_path)

    def test_a_budget_that_is_not_there(self, tmp_path: Path) -> None:
        build_town(tmp_path)
        (tmp_path / "people.csv").unlink()  # nothing is looked at
        (tmp_path / "plan.toml").write_text(MST.replace("epsilon = 2", "epsilon = 20"))
        with pytest.raises(BudgetExceededError):
            run_people_plan(read_people_plan(tmp_path / "plan.toml", tmp_path / "out"))

    def test_what_fails_while_it_is_written_stays_spent(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(running_module, "write_people", fail)
        with pytest.raises(OutputError):
            run(tmp_path, MST)
        with open_ledger(tmp_path / "budget.db") as ledger:
            assert ledger.dataset("town").reserved == Budget(epsilon=2, delta=1e-5)
        assert not left_behind(tmp_path)

    def test_what_was_complete_is_shown_by_the_next_run(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def stop(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(Ledger, "settle", stop)
            with pytest.raises(KeyboardInterrupt):
                run(tmp_path, MST)
        assert not (tmp_path / "out").exists()
        again = run(tmp_path, MST)
        assert again.is_repeated
        assert (tmp_path / "out" / "release.json").is_file()
        assert spent(tmp_path) == Budget(epsilon=2, delta=1e-5)
        assert not [name for name in left_behind(tmp_path) if name != "out"]

    def test_opt_outs(self, tmp_path: Path) -> None:
        plan = build_town(tmp_path, MST)
        with open_ledger(tmp_path / "budget.db") as ledger:
            ledger.opt_out("town", "P3")
        with pytest.raises(PlanError, match="opted out") as caught:
            run_people_plan(read_people_plan(plan, tmp_path / "out"))
        assert "opt_outs_removed" in caught.value.japanese
        named = build_town(tmp_path, MST.replace('others = "drop"', 'others = "drop"\nperson = "person"'))
        read = read_people_plan(named, tmp_path / "out")
        assert read.charging is not None
        twice = Records.of_columns({"person": ["P3", "P4", "P5", "P4"], "age": [1, 2, 3, 4]})
        with open_ledger(tmp_path / "budget.db") as ledger:
            kept = without_opted_out(read, read.charging, twice, ledger)
        assert kept.column("age").texts().tolist() == ["2", "3"]
        run_people_plan(read)

    def test_a_ledger_that_knows_of_more_rows(self, tmp_path: Path) -> None:
        with open_ledger(tmp_path / "budget.db", create=True) as ledger:
            ledger.add_dataset("town", Budget(epsilon=5, delta=1e-4), unit=Unit.with_rows(3))
        with pytest.raises(LedgerError, match="may have up to 3 rows"):
            run(tmp_path, MST)


def test_the_rest_of_a_population() -> None:
    generator = np.random.default_rng(5)
    everybody = Records.of_columns({"a": generator.integers(0, 5, 300), "b": generator.integers(0, 4, 300)})
    ours = everybody.take(np.sort(generator.choice(300, 120, replace=False)))
    rest = rest_of_population(ours, everybody, ["a", "b"])
    assert rest.rows == 180

    def counted(records: Records) -> dict[tuple[str, str], int]:
        pairs = list(zip(records.column("a").texts(), records.column("b").texts(), strict=True))
        return {pair: pairs.count(pair) for pair in set(pairs)}

    together = counted(ours)
    for pair, count in counted(rest).items():
        together[pair] = together.get(pair, 0) + count
    assert together == counted(everybody)
    with pytest.raises(InputError):
        rest_of_population(everybody, ours, ["a", "b"])
