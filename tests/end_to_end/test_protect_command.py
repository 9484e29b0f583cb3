"""`sudare protect`: what it writes, what it says in both languages, what it refuses; and a kill leaves nothing to be seen."""

from __future__ import annotations

import html
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sudare.releases.header import LEDGER_KEYS, OUTPUT_KEYS
from sudare.releases.kinds.tables import verify_protected
from sudare.releases.kinds.tables.planning import input_plan, plan_file, protection_plan, rule_plan
from sudare.releases.kinds.tables.planning.dimension_plan import DIMENSION_KEYS
from tests.browser import open_browser
from tests.commands import Run, runner
from tests.end_to_end.test_page_in_browser import MEASURE, PHONE, shown
from tests.unit.releases.kinds.tables.firms import COUNTS, SUPPRESS, UNTOLD, WHOLE, build_firms, firms, write_firms

ROOT = Path(__file__).resolve().parents[2]
INPUTS = {"firms.csv", "plan.toml", "region.hrc"}


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsys, monkeypatch, columns=200)


def beside(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - INPUTS


def test_a_folder(run: Run, tmp_path: Path) -> None:
    plan = build_firms(tmp_path)
    done = run("protect", plan, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert done.out == f"{tmp_path / 'out'}\n"
    assert "0 of 4 cells that must stay uncertain" in done.err
    assert "publish the others" in done.err
    told = run("protect", plan, "--out", tmp_path / "ja", "--lang", "ja")
    assert told.code == 0
    assert "セルの秘匿" in told.err
    assert "一次秘匿対象の 4 セルのうち 0 セル" in told.err
    assert all(check.outcome == "passed" for check in verify_protected(tmp_path / "out"))


def test_checking_reads_nothing(run: Run, tmp_path: Path) -> None:
    plan = build_firms(tmp_path)
    firms = tmp_path / "firms.csv"
    firms.write_text(firms.read_text().splitlines()[0] + "\nno row of these columns\n")
    done = run("protect", plan, "--check", "--json")
    assert done.code == 0
    assert done.json["method"] == "suppress"
    assert done.json["tables"] == [{"file": "table.csv", "dimensions": ["region", "trade"]}]
    assert beside(tmp_path) == set()
    assert "Nothing was spent" in run("protect", plan, "--check").err


def test_json(run: Run, tmp_path: Path) -> None:
    done = run("protect", build_firms(tmp_path), "--out", tmp_path / "out", "--json")
    assert done.err == ""
    assert done.json["public"] == ["release.json", "release.html", "table.csv"]
    assert done.json["tables"][0]["hidden"] == 12
    assert {attack["outcome"] for attack in done.json["attacks"]} == {"held"}


def test_broken(run: Run, tmp_path: Path) -> None:
    plan = build_firms(tmp_path, WHOLE + "secondary = false\n")
    refused = run("protect", plan, "--out", tmp_path / "out", "--json")
    assert refused.code == 3
    assert "The attack 'interval' breaks 4 of 4 targets" in refused.error["english"]
    assert "「interval」" in refused.error["japanese"]
    assert beside(tmp_path) == set()
    done = run("protect", plan, "--out", tmp_path / "out", "--even-if-broken")
    assert done.code == 0
    assert "because you said --even-if-broken" in done.err


def with_row(place: int, value: str) -> list[list[str]]:
    rows = firms()
    rows[6][place] = value
    return rows


CELLS = """title = "t"
[source]
rows = "cells"
path = "firms.csv"
value = "turnover"
contributors = "size"
[dimensions.region]
[rules]
threshold = 3
[protection]
method = "suppress"
"""


def cells(*rows: tuple[str, str, str]) -> list[list[str]]:
    return [["", code, "", count, "", value] for code, count, value in rows]


ADDING = (("Total", "9", "100"), ("a", "2", "60"), ("b", "7", "40"))
BAD_INPUT: list[tuple[str, str, list[list[str]] | None, int, str, str]] = [
    (
        "a table that does not add up",
        CELLS,
        cells(("Total", "9", str(UNTOLD)), *ADDING[1:]),
        3,
        "firms.csv: The table does not add up: the cell 'total'",
        "表の合計が合いません",
    ),
    (
        "every cell unsafe",
        CELLS.replace("threshold = 3", "threshold = 50"),
        cells(*ADDING),
        3,
        "Every cell of the table is unsafe",
        "すべてのセルが秘匿対象",
    ),
    ("a negative magnitude", WHOLE, with_row(5, f"-{UNTOLD}"), 3, "firms.csv: The magnitude in row 7", "7 行目"),
    (
        "a negative cell",
        CELLS,
        cells(ADDING[0], ("a", "2", f"-{UNTOLD}"), ADDING[2]),
        3,
        "'region=a' is negative",
        "負です",
    ),
    ("no number", WHOLE, with_row(5, "a lot"), 3, "firms.csv: The column 'turnover' has something in row 7", "7 行目"),
    ("an empty number", WHOLE, with_row(5, ""), 3, "in row 7 that is not a number", "7 行目"),
    ("an empty code", WHOLE, with_row(2, ""), 3, "firms.csv: The column 'trade' is empty in row 7", "7 行目が空欄"),
    ("an unknown code", WHOLE, with_row(1, "mars"), 3, "The code 'mars' of 'region' in row 7", "7 行目"),
    ("a code that has parts", WHOLE, with_row(1, "north"), 3, "records need the finest codes", "下位のコード"),
    ("a missing column", WHOLE.replace("turnover", "turnovr"), None, 3, "turnovr", "turnovr"),
    ("no rows", WHOLE, [], 3, "firms.csv", "firms.csv"),
    ("no file", WHOLE.replace("firms.csv", "frims.csv"), None, 3, "frims.csv", "frims.csv"),
    ("an unknown key", WHOLE + "serach = 1\n", None, 2, "Did you mean 'search'?", "「search」のことですか"),
    ("no hierarchy", WHOLE.replace("region.hrc", "nowhere.hrc"), None, 3, "nowhere.hrc", "nowhere.hrc"),
    ("a time-out", WHOLE + "seconds = 0.000001\n", None, 3, "time", "制限時間"),
    (
        "an earlier folder that is none",
        WHOLE + '[earlier]\nfolders = ["x"]\n',
        None,
        3,
        "no folder of protected",
        "フォルダ",
    ),
    ("no key", COUNTS + '[protection]\nmethod = "cell-key"\nkey_file = "k"\nidentifier = "firm"\n', None, 3, "k", "k"),
]


@pytest.mark.parametrize(
    ("plan", "rows", "code", "english", "japanese"),
    [case[1:] for case in BAD_INPUT],
    ids=[case[0] for case in BAD_INPUT],
)
def test_bad_input(
    run: Run, tmp_path: Path, plan: str, rows: list[list[str]] | None, code: int, english: str, japanese: str
) -> None:
    """A clear error in both languages that never shows a value, and nothing written."""
    path = build_firms(tmp_path, plan, rows)
    refused = run("protect", path, "--out", tmp_path / "out", "--json")
    assert refused.code == code, refused.err
    assert english in refused.error["english"]
    assert japanese in refused.error["japanese"]
    assert str(UNTOLD) not in refused.err
    assert beside(tmp_path) == set()


def test_a_hierarchy_with_a_gap(run: Run, tmp_path: Path) -> None:
    plan = build_firms(tmp_path)
    (tmp_path / "region.hrc").write_text("north\n@@n1\n")
    refused = run("protect", plan, "--json")
    assert refused.code == 3
    assert "Line 2 of 'region.hrc' skips a level" in refused.error["english"]
    assert beside(tmp_path) == set()


def test_infeasible_protection(run: Run, tmp_path: Path) -> None:
    """The cell must be hidden, and all others must be published."""
    plan = build_firms(
        tmp_path,
        'title = "t"\n[source]\nformat = "tau-argus"\npath = "t.asc"\nmetadata = "t.rda"\nvalue = "sales"\napriori = "t.hst"\n'
        '[[tables]]\ndimensions = ["area"]\n[rules]\nthreshold = 2\n' + SUPPRESS,
    )
    (tmp_path / "t.rda").write_text("area 1 1\n  <RECODEABLE>\nsales 2 4\n  <NUMERIC>\n")
    (tmp_path / "t.asc").write_text("a  50\nb  60\nb  70\nc  80\nc  90\n")
    (tmp_path / "t.hst").write_text(",p\nb,p\nc,p\n")
    before = beside(tmp_path)
    refused = run("protect", plan, "--out", tmp_path / "out", "--json")
    assert refused.code == 3
    assert "area=a" in refused.error["english"]
    assert "area=a" in refused.error["japanese"]
    assert beside(tmp_path) == before


@pytest.mark.parametrize("damage", ["missing", "changed", "report"])
def test_an_earlier_folder_that_is_damaged(run: Run, tmp_path: Path, damage: str) -> None:
    plan = build_firms(tmp_path)
    assert run("protect", plan, "--out", tmp_path / "before").code == 0
    table, report = tmp_path / "before" / "table.csv", tmp_path / "before" / "release.json"
    if damage == "missing":
        table.unlink()
    elif damage == "changed":
        table.write_text(table.read_text().replace("46168", "46169"))
    else:
        report.write_text(report.read_text()[:100])
    plan.write_text(WHOLE + '[earlier]\nfolders = ["before"]\n')
    refused = run("protect", plan, "--out", tmp_path / "out", "--json")
    assert refused.code == 3
    assert "before" in refused.error["english"]
    assert "before" in refused.error["japanese"]
    assert beside(tmp_path) == {"before"}


def test_a_folder_that_exists(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    refused = run("protect", build_firms(tmp_path), "--out", tmp_path / "out", "--json")
    assert refused.code == 6
    assert list((tmp_path / "out").iterdir()) == []


CHILD = """
import sys
from pathlib import Path
from sudare.releases.kinds.tables import read_table_plan, run_table_plan
folder = Path(sys.argv[1])
plan = read_table_plan(folder / "plan.toml", folder / "out")
run_table_plan(plan, progress=lambda stage, share: print(stage, flush=True))
"""


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["tables.read", "tables.protect", "tables.write", "tables.attack"])
def test_a_kill_leaves_nothing_to_be_seen(tmp_path: Path, stage: str) -> None:
    build_firms(tmp_path, COUNTS + SUPPRESS, firms(rows=4000))
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    try:
        while (line := process.stdout.readline().strip()) != stage:
            assert line
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=30)
        process.stdout.close()
    time.sleep(0.01)
    shown = {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")} - INPUTS
    assert shown <= {"out"}
    if shown:  # it was done before the signal came
        assert all(check.outcome == "passed" for check in verify_protected(tmp_path / "out"))
        return
    write_firms(tmp_path, firms())
    command = [sys.executable, "-c", CHILD, str(tmp_path)]
    done = subprocess.run(command, check=False, cwd=ROOT, timeout=60, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} - INPUTS == {"out"}, "what the killed run left is cleared away"


class TestReference:
    """The page on plans lists every key that is read, and no other."""

    PAGE = (ROOT / "docs" / "reference" / "table-plan.md").read_text(encoding="utf-8")

    def keys(self, title: str) -> set[str]:
        part = re.split(r"^## ", self.PAGE.split(f"\n## {title}\n", 1)[1], flags=re.M)[0]
        cells = [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")]
        return {key for cell in cells for key in re.findall(r"`([^`]+)`", cell)}

    def test_keys(self) -> None:
        assert self.keys("Top") == set(plan_file.TOP_KEYS) - {
            "source",
            "dimensions",
            "tables",
            "rules",
            "protection",
            "earlier",
            "ledger",
            "output",
        }
        assert self.keys("[source]") == set(input_plan.ALL_SOURCE_KEYS)
        assert self.keys("[dimensions.NAME]") == set(DIMENSION_KEYS)
        assert self.keys("[[tables]]") == set(plan_file.TABLE_KEYS)
        assert self.keys("[rules]") == {*rule_plan.RULE_KEYS, "records"}
        assert self.keys("[protection]") == set(protection_plan.protection_keys())
        assert self.keys("[earlier]") == set(plan_file.EARLIER_KEYS)
        assert self.keys("[ledger]") == set(LEDGER_KEYS)
        assert self.keys("[output]") == set(OUTPUT_KEYS)

    def test_parts_of_rules(self) -> None:
        for name, parts in rule_plan.PARTS.items():
            line = next(line for line in self.PAGE.splitlines() if line.startswith(f"| `{name}` |"))
            assert set(parts) <= set(re.findall(r"`(\w+)`", line)), name


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("name", ["release.html", "confidential.html"])
def test_the_page_fits_a_phone(run: Run, tmp_path: Path, name: str) -> None:
    browser = open_browser()
    run("protect", build_firms(tmp_path), "--out", tmp_path / "out")
    page = html.escape((tmp_path / "out" / name).read_text(encoding="utf-8"), quote=True)
    (tmp_path / "measure.html").write_text(MEASURE.format(width=PHONE, page=page), encoding="utf-8")
    found = shown(browser, (tmp_path / "measure.html").as_uri())
    numbers = dict(re.findall(r"(client|scroll|en|ja)=(\d+)", found.split('id="found"')[1]))
    assert numbers["client"] == numbers["scroll"] == str(PHONE)
    assert int(numbers["en"]) > 10
    assert numbers["ja"] == "0"
