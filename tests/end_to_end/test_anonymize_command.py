"""`sudare anonymize`, `sample`, `synthesize`, `risk` and `hierarchy`: what they write, what they say, and what they refuse."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sudare
from sudare.domain import CountTable, Domain, Mesh
from sudare.ledger import open_ledger
from sudare.microdata.models.registry import all_model_keys
from sudare.microdata.records import read_people
from sudare.privacy import Budget
from sudare.releases.header import BUDGET_KEYS, LEDGER_KEYS, OUTPUT_KEYS
from sudare.releases.kinds.counts import read_plan, run_release
from sudare.releases.kinds.records.planning import plan_file
from sudare.releases.kinds.records.planning.hierarchy_plan import RULE_KEYS
from sudare.releases.kinds.records.steps.registry import registered_steps
from tests.browser import open_browser
from tests.commands import Run, runner
from tests.end_to_end.test_page_in_browser import MEASURE, PHONE, shown
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

INPUTS = {"people.csv", "plan.toml", "budget.db"}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsys, monkeypatch, columns=200)


def beside(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - INPUTS


class TestAnonymize:
    """From a plan to a folder."""

    def test_a_folder(self, run: Run, tmp_path: Path) -> None:
        plan = build_town(tmp_path)
        done = run("anonymize", plan, "--out", tmp_path / "out")
        assert done.code == 0, done.err
        assert done.out == f"{tmp_path / 'out'}\n"
        assert "4-anonymity" in done.err
        assert "not differential privacy" in done.err
        told = run("anonymize", plan, "--out", tmp_path / "ja", "--lang", "ja")
        assert "差分プライバシーではありません" in told.err
        assert "レコードの保護" in told.err

    def test_checking_reads_nothing(self, run: Run, tmp_path: Path) -> None:
        plan = build_town(tmp_path)
        people = tmp_path / "people.csv"
        people.write_text(people.read_text().splitlines()[0] + "\nno row of these columns\n")
        done = run("anonymize", plan, "--check", "--json")
        assert done.code == 0
        assert done.json["methods"] == ["anonymize"]
        assert done.json["columns"]["person"] == "identifier"
        assert beside(tmp_path) == set()

    def test_json(self, run: Run, tmp_path: Path) -> None:
        done = run("anonymize", build_town(tmp_path), "--out", tmp_path / "out", "--json")
        assert done.err == ""
        assert done.json["published"]["rows"] == 240
        assert done.json["confidential_report"]

    def test_the_plan_may_name_the_folder(self, run: Run, tmp_path: Path) -> None:
        plan = build_town(tmp_path, HEAD + COLUMNS + ANONYMIZE + '[output]\nfolder = "here"\nformats = ["parquet"]\n')
        assert run("anonymize", plan).code == 0
        assert (tmp_path / "here" / "people.parquet").is_file()


def with_row(place: int, value: str) -> list[list[str]]:
    rows = people()
    rows[6][place] = value
    return rows


WHOLE = HEAD + COLUMNS + ANONYMIZE
BAD_INPUT: list[tuple[str, str, list[list[str]] | None, int, str, str]] = [
    ("a value that is not in its hierarchy", WHOLE, with_row(1, UNTOLD), 3, "'age' has a value in row 7", "7 行目"),
    ("a missing value", WHOLE, with_row(3, ""), 3, "'zip' has an empty field in row 7", "7 行目が空欄"),
    (
        "a value that is not in its file",
        WHOLE.replace("flat = true", 'hierarchy = "tree.csv"'),
        with_row(2, UNTOLD),
        3,
        "'sex' has a value in row 7",
        "7 行目",
    ),
    (
        "a hierarchy that is no tree",
        WHOLE.replace("flat = true", 'hierarchy = "no-tree.csv"'),
        None,
        3,
        "'no-tree.csv' has a mistake in line 2, column 3",
        "2 行 3 列目",
    ),
    (
        "ragged levels",
        WHOLE.replace("flat = true", 'hierarchy = "ragged.csv"'),
        None,
        3,
        "'ragged.csv' has a mistake in line 2",
        "2 行",
    ),
    ("k below 2", WHOLE.replace("k = 4", "k = 1"), None, 2, "'k' in section [protection] must be at least 2", "2 以上"),
    ("k above n", WHOLE.replace("k = 4", "k = 241"), None, 3, "at least 241 records", "241 件以上"),
    (
        "a sensitive column that is a quasi-identifier",
        WHOLE + 'models = [{ name = "l-diversity", column = "sex", l = 2 }]\n',
        None,
        2,
        "names 'sex', which is a quasi-identifier",
        "準識別子です",
    ),
    (
        "everything suppressed",
        WHOLE.replace("k = 4", "k = 200\nsuppression = 1"),
        None,
        3,
        "Every record would be suppressed",
        "すべてのレコードが秘匿",
    ),
    ("an unknown key", WHOLE.replace("role", "rule", 1), None, 2, "'role' in section [columns.person]", "「role」"),
    ("a file that is not there", WHOLE.replace("people.csv", "nobody.csv"), None, 3, "nobody.csv", "nobody.csv"),
    ("another encoding", WHOLE, with_row(4, "\udcff"), 3, "encoding", "文字コード"),
]


@pytest.mark.parametrize(
    ("plan", "rows", "code", "english", "japanese"),
    [case[1:] for case in BAD_INPUT],
    ids=[case[0] for case in BAD_INPUT],
)
def test_bad_input(
    run: Run, tmp_path: Path, plan: str, rows: list[list[str]] | None, code: int, english: str, japanese: str
) -> None:
    is_broken = rows is not None and rows[6][4] == "\udcff"
    file = build_town(tmp_path, plan, with_row(4, "BROKEN") if is_broken else rows)
    if is_broken:
        data = (tmp_path / "people.csv").read_bytes()
        (tmp_path / "people.csv").write_bytes(data.replace(b"BROKEN", b"\xff"))
    trees = {"tree.csv": "f;*\nm;*\n", "no-tree.csv": "f;x;*\nm;x;+\n", "ragged.csv": "f;x;*\nm;*\n"}
    for name, text in trees.items():
        (tmp_path / name).write_text(text)
    done = run("anonymize", file, "--out", tmp_path / "out", "--json")
    assert done.code == code
    assert done.out == ""
    assert english in done.error["english"]
    assert japanese in done.error["japanese"]
    assert UNTOLD not in done.err
    assert "240" not in done.err.replace(str(tmp_path), "")
    assert beside(tmp_path) == set(trees)


def test_bad_input_in_japanese(run: Run, tmp_path: Path) -> None:
    file = build_town(tmp_path, rows=with_row(1, UNTOLD))
    done = run("anonymize", file, "--out", tmp_path / "out", "--lang", "ja")
    assert done.code == 3
    assert "エラー:" in done.err
    assert "7 行目" in done.err
    assert UNTOLD not in done.err
    assert beside(tmp_path) == set()


class TestAttacks:
    """What an attack breaks is not shown."""

    PLAN = HEAD + COLUMNS + '[protection]\nmethod = "swap"\ncolumns = ["zip"]\nshare = 0.05\n'

    def test_a_broken_table_is_refused(self, run: Run, tmp_path: Path) -> None:
        done = run("anonymize", build_town(tmp_path, self.PLAN), "--out", tmp_path / "out", "--json")
        assert done.code == 3
        assert done.out == ""
        assert "an attack on the result succeeded (linkage)" in done.error["english"]
        assert "--even-if-broken" in done.error["japanese"]
        assert beside(tmp_path) == set()

    def test_even_if_broken(self, run: Run, tmp_path: Path) -> None:
        plan = build_town(tmp_path, self.PLAN)
        done = run("anonymize", plan, "--out", tmp_path / "out", "--even-if-broken")
        assert done.code == 0
        assert "An attack broke this table" in done.err
        assert "are alone with their quasi-identifiers" in done.err
        told = run("anonymize", plan, "--out", tmp_path / "b", "--even-if-broken", "--json")
        assert told.json["attacks"]["linkage"] == "broken"
        assert told.json["even_if_broken"] is True

    def test_a_table_that_holds(self, run: Run, tmp_path: Path) -> None:
        done = run("anonymize", build_town(tmp_path), "--out", tmp_path / "out", "--json")
        assert done.json["attacks"]["linkage"] == "held"
        assert done.json["even_if_broken"] is False

    def test_a_sample_without_a_plan(self, run: Run, tmp_path: Path) -> None:
        build_town(tmp_path)
        file = tmp_path / "people.csv"
        done = run("sample", file, "--rows", 5, "--out", tmp_path / "a.csv", "--even-if-broken")
        assert done.code == 2
        assert beside(tmp_path) == set()


def test_verify(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    run("anonymize", build_town(tmp_path), "--out", folder)
    done = run("verify", folder)
    assert done.code == 0, done.out
    assert "promised models" in done.out
    assert "The release is sound." in done.out
    told = run("verify", folder, "--lang", "ja")
    assert "約束した条件" in told.out
    with (folder / "people.csv").open("a") as stream:
        stream.write("0-9,f,8101,flu,1\n")
    assert run("verify", folder, "--json").json["sound"] is False
    assert run("verify", folder).code == 7
    run("synthesize", build_town(tmp_path, MST), "--out", tmp_path / "mst", "--yes")
    private = run("verify", tmp_path / "mst", "--ledger", tmp_path / "budget.db", "--json")
    assert private.code == 0, private.out
    assert {check["outcome"] for check in private.json["checks"]} == {"passed"}


def test_a_folder_that_exists_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    done = run("anonymize", build_town(tmp_path), "--out", tmp_path / "out", "--json")
    assert done.code == 6
    assert list((tmp_path / "out").iterdir()) == []


class TestBudget:
    """Methods that cost."""

    def test_nobody_is_asked_twice(self, run: Run, tmp_path: Path) -> None:
        plan = build_town(tmp_path, SAMPLED)
        refused = run("sample", plan, "--out", tmp_path / "out")
        assert refused.code == 2
        assert "--yes" in refused.err
        assert run("sample", plan, "--check").code == 0
        done = run("sample", plan, "--out", tmp_path / "out", "--yes")
        assert done.code == 0, done.err
        assert "epsilon = 2, delta = 0.00001 was charged" in done.err
        again = run("anonymize", plan, "--out", tmp_path / "out", "--yes", "--json")
        assert again.json["is_repeated"]
        with open_ledger(tmp_path / "budget.db") as ledger:
            assert ledger.dataset("town").spent == Budget(epsilon=2, delta=1e-5)

    def test_synthetic_people(self, run: Run, tmp_path: Path) -> None:
        plan = build_town(tmp_path, MST)
        assert "use `sudare synthesize`" in run("anonymize", plan, "--out", tmp_path / "out").err
        done = run("synthesize", plan, "--out", tmp_path / "out", "--yes", "--json")
        assert done.code == 0, done.err
        assert done.json["charged"] == {"epsilon": "2", "delta": "0.00001"}
        assert read_people(tmp_path / "out" / "people.csv").names == ("age", "sex")

    def test_bad_data_costs_nothing_and_says_so(self, run: Run, tmp_path: Path) -> None:
        plan = build_town(tmp_path, MST, with_row(2, UNTOLD))
        done = run("synthesize", plan, "--out", tmp_path / "out", "--yes")
        assert done.code == 3
        assert "row 7" in done.err
        assert "Nothing was charged." in done.err
        assert UNTOLD not in done.err
        assert beside(tmp_path) == set()

    def test_too_little_budget(self, run: Run, tmp_path: Path) -> None:
        plan = build_town(tmp_path, MST.replace("epsilon = 2", "epsilon = 50"))
        assert run("synthesize", plan, "--out", tmp_path / "out", "--yes", "--json").code == 4

    def test_another_method_has_no_budget(self, run: Run, tmp_path: Path) -> None:
        done = run("anonymize", build_town(tmp_path, WHOLE + LEDGER), "--json")
        assert done.code == 2
        assert "not differential privacy" in done.error["english"]


class TestSample:
    """Without a plan."""

    def test_a_share_a_number_and_strata(self, run: Run, tmp_path: Path) -> None:
        build_town(tmp_path)
        file = tmp_path / "people.csv"
        done = run("sample", file, "--rows", 30, "--out", tmp_path / "a.csv", "--json")
        assert done.json["rows"] == 30
        assert read_people(tmp_path / "a.csv").rows == 30
        done = run("sample", file, "--rate", "1/4", "--by", "sex", "--out", tmp_path / "b.parquet")
        assert done.code == 0
        sexes = read_people(tmp_path / "b.parquet").column("sex").texts().tolist()
        assert (sexes.count("f"), sexes.count("m")) == (30, 30)
        assert run("sample", file, "--rows", 5, "--by", "illness", "--out", tmp_path / "c.csv").code == 0
        assert read_people(tmp_path / "c.csv").rows == 15
        assert run("sample", file, "--rate", "0.5", "--out", tmp_path / "d.csv").code == 0
        assert 60 < read_people(tmp_path / "d.csv").rows < 180

    @pytest.mark.parametrize(
        ("arguments", "code", "english"),
        [
            (["--out", "x.csv"], 2, "--rate or --rows"),
            (["--rate", "0.5", "--rows", "3", "--out", "x.csv"], 2, "--rate or --rows"),
            (["--rate", "0.5"], 2, "--out"),
            (["--rate", "3/2", "--out", "x.csv"], 2, "no share"),
            (["--rate", "1/0", "--out", "x.csv"], 2, "no share"),
            (["--rows", "500", "--out", "x.csv"], 3, "larger than the table"),
            (["--rate", "0.5", "--by", "sec", "--out", "x.csv"], 3, "There is no column 'sec'. None of the columns"),
            (["--rate", "0.5", "--out", "x.doc"], 6, ".csv"),
        ],
    )
    def test_mistakes(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, english: str
    ) -> None:
        build_town(tmp_path)
        monkeypatch.chdir(tmp_path)
        done = run("sample", "people.csv", *arguments, "--json")
        assert done.code == code
        assert english in done.error["english"]
        assert beside(tmp_path) == set()

    def test_a_plan_says_itself(self, run: Run, tmp_path: Path) -> None:
        plan = build_town(tmp_path, HEAD + COLUMNS + '[protection]\nmethod = "sample"\nrows = 20\n')
        assert run("sample", plan, "--rate", "0.5", "--out", tmp_path / "out").code == 2
        assert run("sample", plan, "--out", tmp_path / "out", "--even-if-broken").code == 0
        assert read_people(tmp_path / "out" / "people.csv").rows == 20
        assert run("sample", build_town(tmp_path), "--out", tmp_path / "b").code == 2


@pytest.mark.slow
def test_people_of_a_release(run: Run, tmp_path: Path) -> None:
    mesh = Mesh("KEY_CODE", "3", first_row=4240, first_column=3120, rows=4, columns=4)
    table = CountTable.from_dense(np.arange(16).reshape(4, 4) * 3, Domain((mesh,)))
    codes = [
        code
        for code, count in zip(mesh.values(np.divmod(np.arange(16), 4)), range(0, 48, 3), strict=True)
        for _ in range(count)
    ]
    (tmp_path / "people.csv").write_text("KEY_CODE\n" + "\n".join(map(str, codes)) + "\n")
    assert table.total == len(codes)
    (tmp_path / "plan.toml").write_text(
        'title = "t"\n[source]\npath = "people.csv"\nrows = "people"\n[[domain]]\nname = "KEY_CODE"\nkind = "mesh"\nlevel = "3"\n'
        'window = [4240, 3120, 4, 4]\n[budget]\nepsilon = 1\n[ledger]\nlocation = "budget.db"\ndataset = "town"\n'
    )
    with open_ledger(tmp_path / "budget.db", create=True) as ledger:
        ledger.add_dataset("town", Budget(epsilon=1), unit=sudare.Unit())
    released = run_release(read_plan(tmp_path / "plan.toml"))
    assert released.table is not None
    for place, extra in ((tmp_path / "release", ["--points"]), (tmp_path / "release" / "table.parquet", [])):
        out = tmp_path / f"synthetic-{len(extra)}.csv"
        done = run("synthesize", "--from-table", place, "--out", out, *extra, "--json")
        assert done.code == 0, done.err
        assert done.json["rows"] == released.table.total
        assert read_people(out).rows == released.table.total
    assert run("synthesize", "--from-table", tmp_path, "--out", tmp_path / "x.csv").code == 3
    assert run("synthesize", "--out", tmp_path / "x.csv").code == 2


class TestRisk:
    """For whoever holds the data."""

    def test_figures(self, run: Run, tmp_path: Path) -> None:
        build_town(tmp_path)
        done = run(
            "risk", tmp_path / "people.csv", "--quasi-identifiers", "sex, zip", "--sensitive", "illness", "--json"
        )
        assert done.code == 0
        assert done.json["k"] >= 1
        assert done.json["sensitive"]["illness"]["distinct_l"] >= 1
        assert "not for publication" in json.loads(done.err)["warning"]["english"]
        shown = run("risk", tmp_path / "people.csv", "-q", "sex", "--population", tmp_path / "people.csv")
        assert "journalist" in shown.out
        assert "not for publication" in shown.err
        assert "公表するものではありません" in run("risk", tmp_path / "people.csv", "-q", "sex", "--lang", "ja").err

    @pytest.mark.parametrize(
        ("arguments", "code", "english"),
        [
            (["-q", ","], 2, "at least one column"),
            (["-q", "age,illness", "--sensitive", "illness"], 2, "cannot be both"),
            (["-q", "aeg"], 3, "There is no column 'aeg'"),
        ],
    )
    def test_mistakes(self, run: Run, tmp_path: Path, arguments: list[str], code: int, english: str) -> None:
        build_town(tmp_path)
        done = run("risk", tmp_path / "people.csv", *arguments, "--json")
        assert done.code == code
        assert english in done.error["english"]


class TestHierarchy:
    """Drafts and checks."""

    def test_a_draft_and_its_check(self, run: Run, tmp_path: Path) -> None:
        build_town(tmp_path)
        file, out = tmp_path / "people.csv", tmp_path / "age.csv"
        done = run(
            "hierarchy", "build", file, "age", "--intervals", "10,20", "--whole", "--highest", "80", "--out", out
        )
        assert done.code == 0, done.err
        checked = run("hierarchy", "check", out, "--data", file, "--column", "age", "--json")
        assert checked.code == 0
        assert checked.json["height"] == 3
        assert run("hierarchy", "build", file, "zip", "--mask", "--out", tmp_path / "zip.csv").code == 0
        assert run("hierarchy", "build", file, "sex", "--flat", "--out", tmp_path / "sex.csv").code == 0
        assert "level" in run("hierarchy", "check", tmp_path / "zip.csv").out
        wrong = run("hierarchy", "check", out, "--data", file, "--column", "wage", "--json")
        assert wrong.code == 3
        assert "'wage' has a value in row" in wrong.error["english"]

    def test_mistakes(self, run: Run, tmp_path: Path) -> None:
        build_town(tmp_path)
        file, out = tmp_path / "people.csv", tmp_path / "x.csv"
        assert run("hierarchy", "build", file, "age", "--out", out).code == 2
        assert run("hierarchy", "build", file, "age", "--mask", "--flat", "--out", out).code == 2
        assert run("hierarchy", "build", file, "age", "--intervals", "a", "--out", out).code == 2
        assert run("hierarchy", "build", file, "sex", "--intervals", "5", "--out", out).code == 3
        assert run("hierarchy", "build", file, "sex", "--dates", "month", "--out", out).code == 3
        assert run("hierarchy", "check", file, "--data", file).code == 2
        assert not out.exists()


class TestReference:
    """The page on plans lists every key that is read, and no other."""

    PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "microdata-plan.md").read_text(
        encoding="utf-8"
    )

    def rows(self, heading: str) -> dict[str, str]:
        """The names in the first cell of each row of a part of the page, with the rest of the row."""
        part = re.split(r"^## ", self.PAGE, flags=re.M)
        text = next(each for each in part if each.startswith(heading))
        lines = [line[1:-1].split("|", 1) for line in text.splitlines() if line.startswith("| `")]
        return {name: rest for first, rest in lines for name in re.findall(r"`([^`]+)`", first)}

    def test_sections(self) -> None:
        tables = {"source", "columns", "protection", "steps", "unit", "budget", "ledger", "output"}
        assert set(self.rows("Top")) == set(plan_file.TOP_KEYS) - tables
        assert set(self.rows("[source]")) == set(plan_file.RECORD_KEYS)
        assert set(self.rows("[columns.NAME]")) == set(plan_file.COLUMN_KEYS)
        assert set(self.rows("[output]")) == set(OUTPUT_KEYS)
        charged = {*BUDGET_KEYS, *plan_file.UNIT_KEYS, *LEDGER_KEYS}
        assert set(self.rows("[budget]")) == charged

    def test_rules_methods_and_models(self) -> None:
        columns = self.rows("[columns.NAME]")
        for rule, keys in RULE_KEYS.items():
            assert set(re.findall(r"`([a-z_]+)`", columns[rule])) == set(keys)
        methods = self.rows("[protection]")
        assert set(methods) == {"method", *(step.name for step in registered_steps())}
        for step in registered_steps():
            assert set(step.keys) <= set(re.findall(r"`([a-z_]+)\b", methods[step.name])), step.name
        models = self.rows("models")
        assert set(models) == set(all_model_keys())
        for name, keys in all_model_keys().items():
            assert set(keys) == set(re.findall(r"`([a-z_]+)`", models[name])), name


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("plan", [WHOLE, SAMPLED], ids=["anonymize", "sampled"])
def test_nothing_of_the_page_sticks_out_on_a_phone(run: Run, tmp_path: Path, plan: str, language: str) -> None:
    browser = open_browser()
    file = build_town(tmp_path, plan.replace("[source]", f'language = "{language}"\n\n[source]'))
    assert run("anonymize", file, "--out", tmp_path / "out", "--yes").code == 0
    page = (tmp_path / "out" / "release.html").read_text(encoding="utf-8")
    measure = tmp_path / "measure.html"
    measure.write_text(MEASURE.format(width=PHONE, page=html.escape(page, quote=True)), encoding="utf-8")
    found = shown(browser, measure.as_uri())
    numbers = dict(re.findall(r"(client|scroll|en|ja)=(\d+)", found.split('id="found"')[1]))
    assert numbers["client"] == numbers["scroll"] == str(PHONE)
    assert int(numbers[language]) > 20
    assert numbers[{"en": "ja", "ja": "en"}[language]] == "0"


@pytest.mark.slow
def test_real_processes(tmp_path: Path) -> None:
    plan = build_town(tmp_path)
    environment = {**os.environ, "LANG": "ja_JP.UTF-8", "LC_ALL": "", "PYTHONUTF8": "1", "COLUMNS": "120"}

    def sudare_command(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "sudare", *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env=environment,
        )

    done = sudare_command("anonymize", plan, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "完了しました" in done.stderr
    assert read_people(tmp_path / "out" / "people.csv").rows == 240
    again = sudare_command("anonymize", plan, "--out", tmp_path / "out")
    assert again.returncode == 6
    assert "既に存在する" in again.stderr
