"""Randomized answers from the command line: reports, estimates, tables and Pk-anonymity."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.unit.cli.conftest import Answer, Run

pytestmark = pytest.mark.slow

SURVEY = """
title = "Health"

[[question]]
name = "smoker"
method = "kary-response"
values = ["yes", "no"]
epsilon = 3

[[question]]
name = "district"
method = "retention"
values = ["01", "02", "03"]
kept = 0.9

[[question]]
name = "age"
method = "bounded-noise"
low = 0
high = 100
step = 10
scale = 20

[[question]]
name = "hours"
method = "one-bit"
low = 0
high = 24
step = "1/2"
epsilon = 2
"""
PEOPLE = 4000


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """A folder with a questionnaire and invented answers."""
    (tmp_path / "survey.toml").write_text(SURVEY, encoding="utf-8")
    rows = [(("yes", "no", "no")[i % 3], f"0{i % 3 + 1}", 10 * (i % 3) + 20, 7.5 + i % 2) for i in range(PEOPLE)]
    with (tmp_path / "answers.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [("id", "smoker", "district", "age", "hours"), *((i, *r) for i, r in enumerate(rows))]
        )
    return tmp_path


def randomized(run: Run, folder: Path, name: str = "reports.parquet", *more: object) -> Path:
    target = folder / name
    answer = run("collect", "randomize", folder / "survey.toml", folder / "answers.csv", "--out", target, *more)
    assert answer.code == 0, answer.err
    return target


def refused(answer: Answer, code: int, *words: str) -> None:
    assert answer.code == code, answer.err
    assert not answer.out
    flat = " ".join(answer.err.split())
    for word in words:
        assert word in flat, answer.err
    assert "Traceback" not in flat


def simple(folder: Path, method: str, keys: str, name: str = "x") -> None:
    text = f'[[question]]\nname = "{name}"\nmethod = "{method}"\n{keys}\n'
    (folder / "survey.toml").write_text(text, encoding="utf-8")


def test_randomizing_writes_reports_only(run: Run, survey: Path) -> None:
    target = survey / "reports.parquet"
    answer = run("collect", "randomize", survey / "survey.toml", survey / "answers.csv", "--out", target)
    assert answer.code == 0
    assert answer.out.strip() == str(target)
    assert "4,000 people to 4 questions" in answer.err
    assert "epsilon = " in answer.err
    assert "--memory" in answer.err
    table = pq.read_table(target)
    assert table.column_names == ["smoker", "district", "age", "hours"]
    assert table.num_rows == PEOPLE
    assert set(table["district"].to_pylist()) == {"01", "02", "03"}


def test_randomizing_for_programs_and_in_japanese(run: Run, survey: Path) -> None:
    files = ("collect", "randomize", survey / "survey.toml", survey / "answers.csv")
    answer = run(*files, "--out", survey / "one.parquet", "--json")
    assert answer.err == ""
    assert answer.json["people"] == PEOPLE
    assert answer.json["epsilons"]["age"] == 5
    assert answer.json["epsilon"] == pytest.approx(sum(answer.json["epsilons"].values()))
    answer = run(*files, "--out", survey / "two.parquet", "--lang", "ja")
    assert answer.code == 0
    assert any(ord(character) > 0x3000 for character in answer.err)


def test_rows_are_shuffled(run: Run, tmp_path: Path) -> None:
    """With hardly any noise each report is the answer: only the order can hide whose it is."""
    simple(tmp_path, "kary-response", f"values = {list(range(300))}\nepsilon = 30")
    (tmp_path / "answers.csv").write_text("x\n" + "".join(f"{i}\n" for i in range(300)), encoding="utf-8")
    orders = [pq.read_table(randomized(run, tmp_path, f"{name}.parquet"))["x"].to_numpy() for name in ("one", "two")]
    for order in orders:
        assert np.unique(order).size > 290
        assert (order == np.arange(300)).sum() < 30
    assert (orders[0] == orders[1]).sum() < 30


def test_answers_of_a_parquet_file(run: Run, survey: Path) -> None:
    table = pa.table({"smoker": ["yes"], "district": ["01"], "age": [20], "hours": [7.5]})
    pq.write_table(table, survey / "answers.parquet")
    target = survey / "reports.csv"
    answer = run("collect", "randomize", survey / "survey.toml", survey / "answers.parquet", "--out", target)
    assert answer.code == 0
    header = target.read_text(encoding="utf-8").splitlines()[0]
    assert header.startswith('"smoker_v1_')


def test_memories_keep_what_was_reported(run: Run, survey: Path) -> None:
    text = SURVEY.replace('step = "1/2"', "step = 1").replace("7.5", "7")
    (survey / "survey.toml").write_text(text, encoding="utf-8")
    content = (survey / "answers.csv").read_text(encoding="utf-8").splitlines()[:60]
    (survey / "answers.csv").write_text("\n".join(content) + "\n", encoding="utf-8")
    kept = ("--memory", survey / "kept.db", "--person", "id")
    one, two = (pq.read_table(randomized(run, survey, f"{name}.parquet", *kept)) for name in ("one", "two"))
    assert sorted(map(str, one.to_pylist())) == sorted(map(str, two.to_pylist()))
    fresh = pq.read_table(randomized(run, survey, "three.parquet"))
    assert sorted(map(str, one.to_pylist())) != sorted(map(str, fresh.to_pylist()))


def test_memories_that_cannot_be(run: Run, survey: Path) -> None:
    files = ("collect", "randomize", survey / "survey.toml", survey / "answers.csv", "--out", survey / "r.csv")
    refused(run(*files, "--memory", survey / "kept.db"), 2, "belong together")
    refused(run(*files, "--person", "id"), 2, "belong together")
    refused(run(*files, "--memory", survey / "kept.db", "--person", "idd"), 3, "Did you mean 'id'")
    refused(run(*files, "--memory", survey / "survey.toml", "--person", "id"), 3, "not a memory")
    assert not (survey / "r.csv").exists()


def test_one_odd_row_changes_nobody_elses_report(run: Run, survey: Path) -> None:
    """Ids that look like numbers are the same people when somebody's id does not."""
    import sqlite3

    files = ("collect", "randomize", survey / "survey.toml", survey / "answers.csv")
    memory = ("--memory", survey / "kept.db", "--person", "id")
    assert run(*files, "--out", survey / "one.csv", *memory).code == 0

    def kept() -> int:
        with sqlite3.connect(survey / "kept.db") as connection:
            return int(connection.execute("SELECT count(*) FROM answers").fetchone()[0])

    before = kept()
    lines = (survey / "answers.csv").read_text(encoding="utf-8").splitlines()
    odd = ",".join(["A7", *lines[1].split(",")[1:]])
    (survey / "answers.csv").write_text("\n".join([*lines, odd]) + "\n", encoding="utf-8")
    assert run(*files, "--out", survey / "two.csv", *memory).code == 0
    assert kept() - before == len(lines[0].split(",")) - 1, "one person more, and no second report of anybody"


def test_answers_that_are_not_allowed(run: Run, survey: Path) -> None:
    files = ("collect", "randomize", survey / "survey.toml", survey / "answers.csv", "--out", survey / "r.csv")
    good = (survey / "answers.csv").read_text(encoding="utf-8")
    for row, words in (
        ("9,secret-987,01,20,7", "An answer to 'smoker'"),
        ("9,yes,1,20,7", "An answer to 'district'"),
        ("9,yes,01,987,7", "An answer to 'age'"),
        ("9,yes,01,old,7", "An answer to 'age'"),
        ("9,yes,01,,7", "'age' has an empty field"),
    ):
        (survey / "answers.csv").write_text(f"{good}{row}\n", encoding="utf-8")
        answer = run(*files)
        refused(answer, 3, words)
        assert "987" not in answer.err
    kept = run(*files, "--memory", survey / "kept.db", "--person", "id", "--lang", "ja")
    assert kept.code == 3
    assert not (survey / "r.csv").exists()


def test_numbers_are_read_as_questions_want_them(run: Run, tmp_path: Path) -> None:
    """Texts that look like numbers for a question with texts, and the other way round."""
    simple(tmp_path, "retention", 'values = ["1", "2"]\nkept = 0.5')
    (tmp_path / "answers.csv").write_text("x\n1\n2\n", encoding="utf-8")
    randomized(run, tmp_path, "texts.csv")
    simple(tmp_path, "bounded-noise", "low = 0\nhigh = 2\nstep = 0.25\nscale = 1")
    (tmp_path / "answers.csv").write_text("x\n1.50\n2\n", encoding="utf-8")
    randomized(run, tmp_path, "numbers.csv")
    simple(tmp_path, "warner", "values = [true, false]")
    (tmp_path / "answers.csv").write_text("x\ntrue\nfalse\n", encoding="utf-8")
    randomized(run, tmp_path, "truths.csv")


def test_files_that_cannot_be(run: Run, survey: Path) -> None:
    data, out = survey / "answers.csv", survey / "reports.parquet"
    refused(run("collect", "randomize", survey / "no.toml", data, "--out", out), 2, "There is no questionnaire")
    refused(run("collect", "randomize", survey / "survey.toml", survey / "no.csv", "--out", out), 3, "no.csv")
    refused(
        run("collect", "randomize", survey / "survey.toml", data, "--out", survey / "r.xlsx"), 6, ".csv or .parquet"
    )
    out.write_text("mine")
    refused(run("collect", "randomize", survey / "survey.toml", data, "--out", out), 6, "exists")
    assert out.read_text() == "mine"
    refused(run("collect", "estimate", out), 3, "cannot be read as reports")
    refused(run("collect", "estimate", survey / "no.parquet"), 3, "cannot be read as reports")
    refused(run("collect", "estimate", data), 3, "Give the questionnaire with --questions")
    refused(
        run("collect", "estimate", data, "--questions", survey / "survey.toml"), 3, "There are no reports to 'smoker'"
    )
    pq.write_table(pa.table({"smoker": ["yes"]}), survey / "other.parquet")
    refused(run("collect", "estimate", survey / "other.parquet"), 3, "does not say how its answers were randomized")
    answer = run("collect", "estimate", survey / "other.parquet", "--json")
    assert answer.error["kind"] == "input"
    assert "ランダム化" in answer.error["japanese"]


def by_value(answer: Answer, question: str) -> dict[str, Any]:
    return {row["value"]: row for row in answer.json["estimates"] if row["question"] == question}


@pytest.mark.parametrize("name", ["reports.parquet", "reports.csv"])
def test_estimates(run: Run, survey: Path, name: str) -> None:
    reports = randomized(run, survey, name)
    questions = ("--questions", survey / "survey.toml") if name.endswith("csv") else ()
    answer = run("collect", "estimate", reports, *questions, "--json", "--level", "0.9999")
    assert answer.code == 0
    assert answer.json["people"] == PEOPLE
    smoker = by_value(answer, "smoker")
    assert sum(row["constrained"] for row in smoker.values()) == pytest.approx(PEOPLE)
    for value, true in (("yes", 1334), ("no", 2666)):
        assert abs(smoker[value]["unbiased"] - true) < 6 * smoker[value]["standard_error"]
        assert smoker[value]["low"] < smoker[value]["unbiased"] < smoker[value]["high"]
    for question, mean in (("age", 30), ("hours", 8)):
        row = by_value(answer, question)["mean"]
        assert abs(row["unbiased"] - mean) < 6 * row["standard_error"]
        assert row["constrained"] is None


def test_estimates_for_people(run: Run, survey: Path) -> None:
    reports = randomized(run, survey)
    answer = run("collect", "estimate", reports)
    assert answer.code == 0
    for words in ("smoker (kary-response)", "standard error", "interval (95 %)", "mean", "yes"):
        assert words in answer.out
    answer = run("collect", "estimate", reports, "--lang", "ja")
    assert "標準誤差" in answer.out
    target = survey / "estimates.csv"
    assert run("collect", "estimate", reports, "--out", target).code == 0
    with target.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["value"] for row in rows] == ["yes", "no", "01", "02", "03", "mean", "mean"]
    refused(run("collect", "estimate", reports, "--out", target), 6, "exists")
    assert run("collect", "estimate", reports, "--level", "1.5").code == 2


def test_many_values_are_cut_short_for_people(run: Run, tmp_path: Path) -> None:
    simple(tmp_path, "kary-response", f"values = {list(range(50))}\nepsilon = 3")
    (tmp_path / "answers.csv").write_text("x\n" + "7\n" * 500, encoding="utf-8")
    answer = run("collect", "estimate", randomized(run, tmp_path))
    assert "and 10 more" in answer.out


def test_normal_noise_is_estimated_without_an_inverse(run: Run, tmp_path: Path) -> None:
    simple(tmp_path, "bounded-noise", 'low = 0\nhigh = 20\nstep = 1\nscale = 6\nbase = "normal"')
    (tmp_path / "answers.csv").write_text("x\n" + "5\n" * 3000, encoding="utf-8")
    reports = randomized(run, tmp_path)
    answer = run("collect", "estimate", reports, "--json")
    assert answer.code == 0, answer.err
    rows = answer.json["estimates"]
    assert [row["value"] for row in rows] == list(range(21))
    assert rows[0]["unbiased"] is None
    assert sum(row["constrained"] for row in rows) == pytest.approx(3000)
    assert sum(row["value"] * row["constrained"] for row in rows) / 3000 == pytest.approx(5, abs=1.5)
    assert run("collect", "estimate", reports).code == 0


def test_texts_by_rappor_need_candidates(run: Run, tmp_path: Path) -> None:
    simple(tmp_path, "rappor", "bits = 32\nhashes = 2\ncohorts = 4\nf = 0.25\np = 0.25\nq = 0.75")
    (tmp_path / "answers.csv").write_text("x\n" + "7\n" * 3000, encoding="utf-8")
    (tmp_path / "texts.txt").write_text("7\n8\n\n", encoding="utf-8")
    asked = ("collect", "estimate", randomized(run, tmp_path))
    refused(run(*asked), 2, "name the texts to look for with --candidates")
    refused(run(*asked, "--candidates", tmp_path / "no.txt"), 3, "no.txt' cannot be opened")
    answer = run(*asked, "--candidates", tmp_path / "texts.txt", "--json")
    assert answer.code == 0, answer.err
    rows = by_value(answer, "x")
    assert set(rows) == {"7", "8"}
    assert rows["7"]["unbiased"] > 2500


def test_another_questionnaire_is_refused(run: Run, survey: Path) -> None:
    parquet, text = randomized(run, survey), randomized(run, survey, "reports.csv")
    (survey / "survey.toml").write_text(SURVEY.replace("epsilon = 3", "epsilon = 2"), encoding="utf-8")
    for reports in (parquet, text):
        answer = run("collect", "estimate", reports, "--questions", survey / "survey.toml")
        refused(answer, 3, "'smoker'", "another questionnaire")


def test_texts_with_any_characters_survive_a_text_file(run: Run, tmp_path: Path) -> None:
    simple(tmp_path, "kary-response", 'values = ["a,b", "line\\nbreak", "null", ""]\nepsilon = 20')
    pq.write_table(pa.table({"x": ["a,b", "line\nbreak", "null", ""] * 20}), tmp_path / "answers.parquet")
    target = tmp_path / "reports.csv"
    files = (tmp_path / "survey.toml", tmp_path / "answers.parquet")
    assert run("collect", "randomize", *files, "--out", target).code == 0
    answer = run("collect", "estimate", target, "--questions", files[0], "--json")
    assert {row["value"] for row in answer.json["estimates"]} == {"a,b", "line\nbreak", "null", ""}


@pytest.mark.parametrize("method", ["bayes", "inversion", "likelihood"])
def test_tables_of_several_questions(run: Run, survey: Path, method: str) -> None:
    reports = randomized(run, survey)
    answer = run("collect", "crosstab", reports, "--by", "smoker", "--by", "district", "--method", method, "--json")
    assert answer.code == 0, answer.err
    cells = {(row["smoker"], row["district"]): row for row in answer.json["cells"]}
    assert len(cells) == 6
    assert sum(row["people"] for row in cells.values()) == pytest.approx(PEOPLE)
    # The first of three smokes and lives in the first district.
    assert cells["yes", "01"]["people"] == pytest.approx(1334, abs=250)
    assert cells["yes", "02"]["people"] < 250
    assert all(row["low"] <= row["high"] for row in cells.values())


def test_tables_with_numbers(run: Run, survey: Path) -> None:
    reports = randomized(run, survey)
    answer = run("collect", "crosstab", reports, "--by", "age", "--json")
    assert [row["age"] for row in answer.json["cells"]] == list(range(0, 101, 10))
    answer = run(
        "collect", "crosstab", reports, "--by", "smoker", "--by", "age", "--bins", "age=60,20,30,999", "--json"
    )
    assert answer.code == 0, answer.err
    assert {row["age"] for row in answer.json["cells"]} == {"0–10", "20–20", "30–50", "60–100"}
    assert sum(row["people"] for row in answer.json["cells"]) == pytest.approx(PEOPLE)


def test_tables_for_people_and_files(run: Run, survey: Path) -> None:
    reports, target = randomized(run, survey), survey / "table.csv"
    answer = run("collect", "crosstab", reports, "--by", "smoker", "--by", "age", "--out", target)
    assert answer.code == 0
    assert "smoker" in answer.out
    with target.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 22
    assert list(rows[0]) == ["smoker", "age", "people", "low", "high"]
    answer = run("collect", "crosstab", reports, "--by", "district", "--by", "age", "--by", "smoker", "--lang", "ja")
    assert "--out" in answer.err
    assert any(ord(character) > 0x3000 for character in answer.err)


@pytest.mark.parametrize("method", ["bayes", "inversion", "likelihood"])
def test_tables_for_people_show_intervals_of_their_own_method(run: Run, survey: Path, method: str) -> None:
    options = ("--by", "smoker", "--by", "district", "--method", method, "--level", "0.9")
    reports = randomized(run, survey)
    answer = run("collect", "crosstab", reports, *options)
    assert answer.out.strip().split("\n")[0].split() == ["smoker", "district", "people", "interval", "(90", "%)"], (
        "no errors of inversion"
    )
    assert "with probability 90 %" in answer.err
    assert ("standard errors of the unbiased" in " ".join(answer.err.split())) == (method == "inversion")
    cells = run("collect", "crosstab", reports, *options, "--json").json["cells"]
    largest = max(cells, key=lambda cell: cell["people"])
    assert f"{largest['low']:,.1f} … {largest['high']:,.1f}" in answer.out


def test_stated_epsilons_are_rounded_up(run: Run, tmp_path: Path) -> None:
    simple(tmp_path, "bounded-noise", "low = 0\nhigh = 10\nstep = 1\nscale = 30")
    (tmp_path / "answers.csv").write_text("x\n" + "4\n" * 5, encoding="utf-8")
    files = (tmp_path / "survey.toml", tmp_path / "answers.csv", "--out", tmp_path / "r.csv")
    told = run("collect", "randomize", *files, "--json").json
    assert told["epsilons_exact"] == {"x": "1/3"}
    assert Fraction(told["epsilon"]) == Fraction(told["epsilons"]["x"]) >= Fraction(1, 3), (
        "the nearest float is smaller"
    )
    assert "epsilon = 0.3334:" in run("collect", "randomize", *files[:-1], tmp_path / "again.csv").err


def test_questions_named_like_columns(run: Run, tmp_path: Path) -> None:
    simple(tmp_path, "kary-response", 'values = ["a", "b"]\nepsilon = 3', "people")
    (tmp_path / "answers.csv").write_text("people\na\nb\n" * 1 + "a\n" * 50, encoding="utf-8")
    answer = run("collect", "crosstab", randomized(run, tmp_path), "--by", "people", "--json")
    assert [row["people (question)"] for row in answer.json["cells"]] == ["a", "b"]


def test_large_numbers_have_bins_of_their_own(run: Run, tmp_path: Path) -> None:
    simple(tmp_path, "bounded-noise", "low = 1000000\nhigh = 1000010\nstep = 1\nscale = 5")
    (tmp_path / "answers.csv").write_text("x\n" + "1000004\n" * 50, encoding="utf-8")
    reports = randomized(run, tmp_path)
    answer = run("collect", "crosstab", reports, "--by", "x", "--bins", "x=1000003,1000006", "--json")
    assert [row["x"] for row in answer.json["cells"]] == ["1000000–1000002", "1000003–1000005", "1000006–1000010"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--by", "smokr"], "There is no question 'smokr'"),
        (["--by", "hours"], "'hours' (one-bit) cannot be crossed"),
        (["--by", "smoker", "--bins", "smoker=1,2"], "only numbers with bounded noise"),
        (["--by", "hours", "--bins", "hours=1,2"], "only numbers with bounded noise"),
        (["--by", "age", "--bins", "age=200"], "No edge of the bins of 'age'"),
        (["--by", "age", "--bins", "age=nan"], "No edge of the bins of 'age'"),
        (["--by", "age", "--bins", "age"], "Bins are written like"),
        (["--by", "age", "--bins", "age=20,x"], "Bins are written like"),
        (["--by", "smoker", "--bins", "age=20"], "There is no question 'age'"),
        (["--by", "smoker", "--method", "magic"], "There is no method 'magic'"),
        (["--by", "smoker", "--by", "smoker"], "twice"),
        ([], "--by"),
    ],
)
def test_tables_that_cannot_be(run: Run, survey: Path, options: list[str], words: str) -> None:
    refused(run("collect", "crosstab", randomized(run, survey), *options), 2, words)


def test_pk(run: Run, survey: Path) -> None:
    answer = run("collect", "pk", survey / "survey.toml", "--records", "10000", "--json")
    assert answer.code == 0
    rates = answer.json["rates"]
    assert set(rates) == {"smoker", "district", "age", "hours"}
    assert answer.json["k"] == pytest.approx(1 + 9999 * np.prod(list(rates.values())))
    shown = run("collect", "pk", survey / "survey.toml", "--records", "10000")
    assert "anonymity rate" in shown.out
    assert "匿名" in run("collect", "pk", survey / "survey.toml", "--records", "10000", "--lang", "ja").out


@pytest.mark.parametrize("base", ["laplace", "normal"])
def test_suggested_noise_reaches_the_k(run: Run, tmp_path: Path, base: str) -> None:
    number = f'low = 0\nhigh = 100\nstep = 1\nbase = "{base}"\nscale = '
    simple(tmp_path, "bounded-noise", f"{number}50")
    text = (tmp_path / "survey.toml").read_text(encoding="utf-8")
    text += '[[question]]\nname = "y"\nmethod = "retention"\nvalues = ["a", "b", "c"]\nkept = 0.5\n'
    (tmp_path / "survey.toml").write_text(text, encoding="utf-8")
    asked = ("collect", "pk", tmp_path / "survey.toml", "--records", "5000")
    answer = run(*asked, "--k", "20", "--json")
    assert answer.code == 0, answer.err
    suggested = answer.json["suggested"]
    assert suggested["x"]["method"] == "bounded-noise"
    assert suggested["y"]["parameter"] == "kept"
    text = text.replace("scale = 50", f"scale = {suggested['x']['value']}")
    text = text.replace("kept = 0.5", f"kept = {suggested['y']['value']}")
    (tmp_path / "survey.toml").write_text(text, encoding="utf-8")
    assert 20 <= run(*asked, "--json").json["k"] < 20.1
    shown = run(*asked, "--k", "20")
    assert "Noise for k = 20" in shown.out
    assert "retention" in shown.out


def test_pk_that_cannot_be(run: Run, survey: Path) -> None:
    asked = ("collect", "pk", survey / "survey.toml")
    refused(run(*asked), 2, "--records")
    refused(run(*asked, "--records", "1"), 2, "--records")
    refused(run(*asked, "--records", "100", "--k", "100"), 2, "below the number of records")
    refused(run(*asked, "--records", "100", "--k", "1"), 2, "above 1")
    refused(run(*asked, "--records", "100", "--k", "nan"), 2, "--k")
    simple(survey, "rappor", "bits = 16\nhashes = 2\ncohorts = 4\nf = 0.5\np = 0.5\nq = 0.75")
    refused(run(*asked, "--records", "100", "--k", "10"), 2, "No noise can be suggested for 'x' (rappor)")
