"""The attacks see what a public reader sees; and whatever is written, an independent program finds no interval too narrow."""

from __future__ import annotations

import csv
import json
import math
import os
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from sudare.attacks.tables.solver import SolverFailure
from sudare.attacks.verdicts import AttackOutcome
from sudare.errors import InputError
from sudare.releases.kinds.tables import attack_folder, read_report, read_table_plan, run_table_plan
from sudare.releases.kinds.tables.attacking import insider_attacks, interval_attacks
from sudare.releases.kinds.tables.confidential import CERTIFICATE, CONFIDENTIAL
from tests.unit.releases.kinds.tables.firms import DIMENSIONS, HEAD, RULES, SUPPRESS, WHOLE, build_firms, firms
from tests.unit.releases.kinds.tables.test_running import LINKED


def interval_of(folder: Path, report: dict[str, object], target: dict[str, str]) -> tuple[float, float]:
    """The values that a hidden cell can have, from the files alone: every cell an unknown, every sum an equation."""
    places: dict[tuple[tuple[str, str], ...], int] = {}
    bounds: list[tuple[float, float | None]] = []
    equations: list[tuple[int, list[int]]] = []
    trees = {one["name"]: one for one in report["dimensions"]}  # type: ignore[attr-defined]

    def cell(codes: dict[str, str]) -> int:
        key = tuple(sorted((name, code) for name, code in codes.items() if code != trees[name]["codes"][0]))
        if key not in places:
            places[key] = len(places)
            bounds.append((0, None))
        return places[key]

    for table in report["tables"]:  # type: ignore[attr-defined]
        with (folder / table["file"]).open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                codes = {name: row[name] for name in table["dimensions"]}
                here = cell(codes)
                value = row[str(report["value"]["name"])]  # type: ignore[index]
                if value:
                    bounds[here] = (float(value), float(value))
                for name, tree in ((name, trees[name]) for name in table["dimensions"]):
                    own = tree["codes"].index(codes[name])
                    parts = [code for code, parent in zip(tree["codes"], tree["parents"], strict=True) if parent == own]
                    if parts:
                        equations.append((here, [cell({**codes, name: part}) for part in parts]))
    matrix = np.zeros((len(equations), len(places)))
    for number, (total, parts) in enumerate(equations):
        matrix[number, total] += 1
        for part in parts:
            matrix[number, part] -= 1
    aim = np.zeros(len(places))
    aim[cell(target)] = 1
    ends = []
    for sign in (1, -1):
        answer = linprog(sign * aim, A_eq=matrix, b_eq=np.zeros(len(equations)), bounds=bounds, method="highs")
        assert answer.status in (0, 3)
        ends.append(sign * answer.fun if answer.status == 0 else -sign * math.inf)
    return ends[0], ends[1]


def require_wide(out: Path) -> int:
    """Every unsafe cell's interval reaches as far as promised; how many there are."""
    report = read_report(out)
    own = json.loads((out / CONFIDENTIAL).read_text(encoding="utf-8"))
    values = dict(zip(own["cells"]["numbers"], own["cells"]["values"], strict=True))
    for one in own["unsafe"]:
        target = dict(part.split("=") for part in one["name"].split(", ")) if one["name"] != "total" else {}
        low, high = interval_of(out, report, target)
        value, slack = values[one["cell"]], 1e-6 * (1 + values[one["cell"]])
        assert low <= value - one["lower"] + slack
        assert high >= value + one["upper"] - slack
    return len(own["unsafe"])


@pytest.mark.parametrize("plan", [WHOLE, WHOLE + 'search = "exact"\n', LINKED], ids=["fast", "exact", "linked"])
def test_intervals_are_as_wide_as_promised(tmp_path: Path, plan: str) -> None:
    run_table_plan(read_table_plan(build_firms(tmp_path, plan), tmp_path / "out"))
    assert require_wide(tmp_path / "out") > 3


def test_the_independent_program_finds_narrow_ones(tmp_path: Path) -> None:
    """A control: without further cells the intervals are points."""
    plan = read_table_plan(build_firms(tmp_path, WHOLE + "secondary = false\n"), tmp_path / "out")
    run_table_plan(plan, even_if_broken=True)
    with pytest.raises(AssertionError):
        require_wide(tmp_path / "out")


@pytest.mark.slow
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(8, 60),
    rules=st.sampled_from(["threshold = 3", "p_percent = { p = 20 }", "dominance = { n = 1, k = 60 }\nthreshold = 2"]),
    cost=st.sampled_from(["value", "count", "equal"]),
)
def test_whatever_is_written_is_wide(tmp_path: Path, seed: int, rows: int, rules: str, cost: str) -> None:
    plan = HEAD + DIMENSIONS + f"\n[rules]\n{rules}\n" + SUPPRESS + f'cost = "{cost}"\n'
    path = build_firms(tmp_path, plan, firms(seed, rows))
    out = tmp_path / f"out-{random.Random(f'{seed} {rows} {rules} {cost}').random()}"
    try:
        run_table_plan(read_table_plan(path, out))
    except InputError:
        assert not out.exists()
        return
    require_wide(out)
    shutil.rmtree(out)


class TestFolders:
    """The same attacks for readers and for the holder."""

    def made(self, folder: Path, plan: str = WHOLE) -> Path:
        run_table_plan(read_table_plan(build_firms(folder, plan), folder / "out"), even_if_broken=True)
        return folder / "out"

    def test_a_public_reader(self, tmp_path: Path) -> None:
        """Without the holder's file, a cell is broken if its value is certain."""
        safe, bare = self.made(tmp_path), tmp_path / "public"
        shutil.copytree(safe, bare, ignore=shutil.ignore_patterns("confidential*"))
        reports = attack_folder(bare, read_report(bare))
        assert [report.attack for report in reports] == ["interval"]
        assert reports[0].outcome is AttackOutcome.HELD

    @pytest.mark.parametrize("name", ["table\0.csv", "pipe.csv"])
    def test_a_report_that_names_no_file(self, tmp_path: Path, name: str) -> None:
        """A NUL is part of no name, and a pipe would keep its reader waiting for ever."""
        out = self.made(tmp_path)
        os.mkfifo(out / "pipe.csv")
        document = json.loads(json.dumps(read_report(out)))
        document["tables"][0]["file"] = name
        with pytest.raises(InputError, match="is missing or cannot be read"):
            attack_folder(out, document)

    def test_a_public_reader_of_what_is_broken(self, tmp_path: Path) -> None:
        out = self.made(tmp_path, WHOLE + "secondary = false\n")
        for name in (CONFIDENTIAL, "confidential.html"):
            (out / name).unlink()
        reports = attack_folder(out, read_report(out))
        assert reports[0].outcome is AttackOutcome.BROKEN
        assert all(verdict.number == 0 for verdict in reports[0].verdicts)

    @pytest.mark.parametrize("damage", ["missing", "header", "status", "value", "twice", "short"])
    def test_a_damaged_table(self, tmp_path: Path, damage: str) -> None:
        out = self.made(tmp_path)
        lines = (out / "table.csv").read_text().splitlines(keepends=True)
        if damage == "missing":
            (out / "table.csv").unlink()
        else:
            changed = {
                "header": ["x,y,z,w\n", *lines[1:]],
                "status": [*lines[:1], lines[1].replace("published", "hidden"), *lines[2:]],
                "value": [*lines[:1], lines[1].replace("46168", "4e9999"), *lines[2:]],
                "twice": [*lines, lines[3]],
                "short": lines[:-1],
            }[damage]
            assert changed != lines
            (out / "table.csv").write_text("".join(changed))
        with pytest.raises(InputError, match=r"table\.csv"):
            attack_folder(out, read_report(out))

    @pytest.mark.parametrize("text", ["{", '{"format": "x"}', "[]"])
    def test_a_damaged_holder_file(self, tmp_path: Path, text: str) -> None:
        out = self.made(tmp_path)
        (out / CONFIDENTIAL).write_text(text)
        with pytest.raises(InputError, match="damaged, or belongs to another table"):
            attack_folder(out, read_report(out))

    @pytest.mark.parametrize(
        "document", [{}, {"method": "suppress"}, {"method": "round", "dimensions": [], "tables": []}]
    )
    def test_a_report_that_says_nothing(self, tmp_path: Path, document: dict[str, object]) -> None:
        with pytest.raises(InputError, match="report"):
            attack_folder(tmp_path, document)

    def test_large_tables_by_subtraction_and_proof(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        safe = self.made(tmp_path)
        monkeypatch.setattr(interval_attacks, "MAX_UNKNOWNS", 3)
        monkeypatch.setattr(insider_attacks, "MAX_WORK_OF_INSIDERS", 3)
        reports = attack_folder(safe, read_report(safe))
        assert [report.outcome for report in reports] == [AttackOutcome.HELD] * 2
        assert "certificate" in reports[0].verdicts[0].sentence.english
        (safe / CERTIFICATE).unlink()
        reports = attack_folder(safe, read_report(safe))
        assert [report.outcome for report in reports] == [AttackOutcome.UNDECIDED] * 2
        shutil.rmtree(safe)
        monkeypatch.setattr(interval_attacks, "MAX_UNKNOWNS", 2)
        broken = self.made(tmp_path, WHOLE + "secondary = false\n")
        assert attack_folder(broken, read_report(broken))[0].outcome is AttackOutcome.BROKEN
        shutil.rmtree(broken)
        rounded = self.made(tmp_path, WHOLE.replace('"suppress"', '"round"\nbase = 2'))
        assert attack_folder(rounded, read_report(rounded))[0].outcome is AttackOutcome.BROKEN

    def test_a_solver_that_gives_up(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Undecided, and never taken for safe; the certificate still proves what it proves."""

        def fail(*_: object, **__: object) -> None:
            raise SolverFailure

        safe = self.made(tmp_path)
        monkeypatch.setattr(interval_attacks, "attack_suppressed_cells", fail)
        assert {report.outcome for report in attack_folder(safe, read_report(safe))} == {AttackOutcome.HELD}
        (safe / CERTIFICATE).unlink()
        assert {report.outcome for report in attack_folder(safe, read_report(safe))} == {AttackOutcome.UNDECIDED}

    def test_a_finer_table_before(self, tmp_path: Path) -> None:
        """A cell that is hidden now follows from another table about the same firms."""
        rules = HEAD + DIMENSIONS + "\n[dimensions.size]\n" + RULES
        other = rules.replace("p_percent = { p = 10 }", "zero = true").replace("threshold = 3\n", "")
        before = other + '[[tables]]\ndimensions = ["region", "trade", "size"]\n' + '[protection]\nmethod = "none"\n'
        run_table_plan(read_table_plan(build_firms(tmp_path, before), tmp_path / "before"), even_if_broken=True)
        run_table_plan(read_table_plan(build_firms(tmp_path, WHOLE), tmp_path / "out"))
        reports = attack_folder(tmp_path / "out", read_report(tmp_path / "out"), earlier=[tmp_path / "before"])
        assert reports[0].outcome is AttackOutcome.HELD
        assert reports[-1].attack == "earlier"
        assert reports[-1].outcome is AttackOutcome.BROKEN
        assert len(reports[-1].with_outcome(AttackOutcome.BROKEN)) == 4

    @pytest.mark.parametrize("has_holder_file", [True, False])
    def test_a_table_that_undoes_an_earlier_one(self, tmp_path: Path, has_holder_file: bool) -> None:
        """By its own rule nothing is unsafe now; but what was hidden before would be shown."""
        run_table_plan(read_table_plan(build_firms(tmp_path, WHOLE), tmp_path / "before"))
        if not has_holder_file:
            (tmp_path / "before" / CONFIDENTIAL).unlink()
        lax = WHOLE.replace(RULES, "[rules]\nthreshold = 1\n") + '[earlier]\nfolders = ["before"]\n'
        plan = read_table_plan(build_firms(tmp_path, lax), tmp_path / "out")
        with pytest.raises(InputError, match=f"The attack 'earlier' breaks {4 if has_holder_file else 12} of"):
            run_table_plan(plan)

    def test_an_earlier_table_that_hides_other_cells(self, tmp_path: Path) -> None:
        """Two safe tables of the same data with different hidden cells are not safe together."""
        run_table_plan(read_table_plan(build_firms(tmp_path, WHOLE), tmp_path / "one"))
        other = WHOLE + 'cost = "equal"\nsearch = "exact"\n'
        run_table_plan(read_table_plan(build_firms(tmp_path, other), tmp_path / "two"))
        texts = [(tmp_path / name / "table.csv").read_text() for name in ("one", "two")]
        assert texts[0] != texts[1]
        reports = attack_folder(tmp_path / "two", read_report(tmp_path / "two"), earlier=[tmp_path / "one"])
        assert reports[-1].outcome is AttackOutcome.BROKEN
