"""Classical protection as a statistical office meets it: commands and published files only, judged by plain programs of our own.

Nothing here asks the package whether a table is safe. The intervals come from linear programs over the published CSV,
the unsafe cells from the textbook formulas, the cheapest pattern from trying all of them.
"""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import os
import random
import re
import shutil
import stat
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from scipy.optimize import linprog

from sudare.attacks import audit_function
from sudare.ledger import note_publication
from tests.commands import Answer, Run, runner
from tests.unit.releases.kinds.tables.firms import write_key

ROOT = Path(__file__).resolve().parents[2]
SLACK = 1e-6
TREE = {"hill": "inland", "lake": "inland", "coast": "sea", "port": "sea", "isle": "sea"}
HRC = "inland\n@hill\n@lake\nsea\n@coast\n@port\n@isle\n"
SUPPRESS = '[protection]\nmethod = "suppress"\n'

Code = tuple[str, ...]
Row = dict[str, str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsys, monkeypatch, columns=300)


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """The files of an office's desk, and the plan among them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "plan.toml"


def text_of(rows: Iterable[Sequence[object]]) -> str:
    return "".join(",".join(str(field) for field in row) + "\n" for row in rows)


def rows_of(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def refused(answer: Answer, folder: Path, before: set[str], code: int = 3) -> str:
    """The message in both languages of a refusal that left nothing behind."""
    assert answer.code == code, (answer.code, answer.out, answer.err)
    assert answer.out == ""
    assert names_in(folder) == before
    english, japanese = answer.error["english"], answer.error["japanese"]
    assert re.search(r"[ぁ-んァ-ヶ一-龠]", japanese), japanese
    return f"{english}\n{japanese}"


# A business survey, and what a reader of its published table can work out


@dataclass(frozen=True)
class Firm:
    name: str
    codes: Code
    turnover: int


Trees = tuple[Mapping[str, str], ...]


def survey(seed: int, number: int = 70) -> list[Firm]:
    draw = random.Random(seed)
    areas, weights = list(TREE), [6, 5, 5, 3, 1]
    return [
        Firm(
            f"Firm {place}",
            (draw.choices(areas, weights)[0], draw.choices(["dairy", "inn", "mill", "mine"], [6, 4, 5, 1])[0]),
            round(draw.paretovariate(1.0) * 120),
        )
        for place in range(number)
    ]


def flat(firms: Iterable[Firm], place: int) -> dict[str, str]:
    """The tree of a column without a hierarchy: every code right below the total."""
    return {firm.codes[place]: "Total" for firm in firms}


def area_tree() -> dict[str, str]:
    return {**TREE, "inland": "Total", "sea": "Total"}


def upward(code: str, tree: Mapping[str, str]) -> list[str]:
    path = [code]
    while path[-1] in tree:
        path.append(tree[path[-1]])
    return path


def contributions(firms: Iterable[Firm], trees: Trees) -> dict[Code, dict[str, int]]:
    """What each contributor has in each cell, totals included."""
    cells: dict[Code, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for firm in firms:
        for cell in itertools.product(*[upward(code, tree) for code, tree in zip(firm.codes, trees, strict=True)]):
            cells[cell][firm.name] += firm.turnover
    return {cell: dict(parts) for cell, parts in cells.items()}


def sums(trees: Trees) -> list[tuple[Code, list[Code]]]:
    """Every total of the table with its parts, from the hierarchies alone."""
    codes = [sorted({*tree, *tree.values()}) for tree in trees]
    found = []
    for cell in itertools.product(*codes):
        for place, tree in enumerate(trees):
            parts = [code for code, parent in tree.items() if parent == cell[place]]
            if parts:
                found.append((cell, [(*cell[:place], part, *cell[place + 1 :]) for part in parts]))
    return found


class Reader:
    """Somebody with the published table and a linear program."""

    def __init__(self, values: Mapping[Code, int | None], equations: Iterable[tuple[Code, list[Code]]]) -> None:
        self.values = dict(values)
        self.hidden = [cell for cell, value in self.values.items() if value is None]
        place = {cell: number for number, cell in enumerate(self.hidden)}
        rows, right = [], []
        for total, parts in equations:
            row, known = np.zeros(len(self.hidden)), 0
            for cell, sign in [(total, 1), *((part, -1) for part in parts)]:
                value = self.values[cell]
                if value is None:
                    row[place[cell]] += sign
                else:
                    known += sign * value
            if row.any():
                rows.append(row)
                right.append(-known)
            else:
                assert known == 0, f"what is shown of {total} does not add up"
        self.place, self.rows, self.right = place, np.array(rows), np.array(right)

    def interval(self, cell: Code, known: Mapping[Code, int] | None = None) -> tuple[float, float]:
        """The least and the largest value of a hidden cell, for someone who knows some besides."""
        bounds: list[tuple[float, float | None]] = [(0, None)] * len(self.hidden)
        for other, value in (known or {}).items():
            bounds[self.place[other]] = (value, value)
        aim = np.zeros(len(self.hidden))
        aim[self.place[cell]] = 1
        ends = []
        for sign in (1, -1):
            solved = linprog(sign * aim, A_eq=self.rows, b_eq=self.right, bounds=bounds, method="highs")
            assert solved.status in (0, 3), solved.message
            ends.append(solved.fun * sign if solved.status == 0 else float("inf"))
        return ends[0], ends[1]


def published(path: Path, dimensions: Sequence[str], value: str) -> dict[Code, int | None]:
    """A table as published; a hidden cell has a status and no value."""
    found: dict[Code, int | None] = {}
    for row in rows_of(path):
        assert (row["status"] == "hidden") == (row[value] == ""), row
        found[tuple(row[name] for name in dimensions)] = int(row[value]) if row[value] else None
    return found


def unsafe_cells(
    cells: Mapping[Code, Mapping[str, int]], threshold: int = 0, p: int = 0, span: int = 10
) -> dict[Code, float]:
    """Cells that the threshold or the p % rule protects, and how far off every guess must be."""
    found: dict[Code, float] = {}
    for cell, parts in cells.items():
        ordered = sorted(parts.values(), reverse=True)
        value = sum(ordered)
        needed = []
        if len(ordered) < threshold:
            needed.append(value * span / 100)
        if p and (rest := sum(ordered[2:])) < p / 100 * ordered[0]:
            needed.append(p / 100 * ordered[0] - rest)
        if needed:
            found[cell] = max(needed)
    return found


PLAN = """title = "Turnover by area and activity"
[source]
path = "firms.csv"
value = "turnover"
[dimensions.area]
hierarchy = "area.hrc"
[dimensions.activity]
[rules]
threshold = 3
p_percent = { p = 15 }
[protection]
method = "suppress"
"""


def firms_file(firms: Iterable[Firm]) -> str:
    return text_of([("firm", "area", "activity", "turnover"), *((f.name, *f.codes, f.turnover) for f in firms)])


def build(folder: Path, firms: Iterable[Firm], plan: str = PLAN) -> Path:
    return write(folder, {"plan.toml": plan, "firms.csv": firms_file(firms), "area.hrc": HRC})


def assert_uncertain(reader: Reader, cells: Mapping[Code, Mapping[str, int]], needed: Mapping[Code, float]) -> None:
    for cell, width in needed.items():
        assert reader.values[cell] is None, f"{cell} is unsafe and shown"
        low, high = reader.interval(cell)
        value = sum(cells[cell].values())
        assert low <= value - width + SLACK, (cell, value, width, low)
        assert high >= value + width - SLACK, (cell, value, width, high)


class TestSuppression:
    @pytest.mark.parametrize("search", ["fast", "exact"])
    @pytest.mark.parametrize("seed", [1, 2])
    def test_every_unsafe_cell_stays_uncertain(self, run: Run, tmp_path: Path, seed: int, search: str) -> None:
        firms = survey(seed)
        done = run("protect", build(tmp_path, firms, PLAN + f'search = "{search}"\n'), "--out", tmp_path / "out")
        assert done.code == 0, done.err
        trees = (area_tree(), flat(firms, 1))
        cells = contributions(firms, trees)
        shown = published(tmp_path / "out" / "table.csv", ("area", "activity"), "turnover")
        assert all(value in (None, sum(cells.get(cell, {}).values())) for cell, value in shown.items()), (
            "shown values are exact"
        )
        needed = unsafe_cells(cells, threshold=3, p=15)
        assert needed
        assert_uncertain(Reader(shown, sums(trees)), cells, needed)

    @pytest.mark.parametrize("seed", [4, 5])
    def test_nobody_who_is_alone_in_a_cell_works_out_another(self, run: Run, tmp_path: Path, seed: int) -> None:
        """Whoever is the only one in some hidden cells knows them all, and still learns no other unsafe one."""
        firms = survey(seed)
        assert run("protect", build(tmp_path, firms), "--out", tmp_path / "out").code == 0
        trees = (area_tree(), flat(firms, 1))
        cells = contributions(firms, trees)
        reader = Reader(published(tmp_path / "out" / "table.csv", ("area", "activity"), "turnover"), sums(trees))
        alone: dict[str, dict[Code, int]] = defaultdict(dict)
        for cell in reader.hidden:
            if len(cells[cell]) == 1:
                ((name, value),) = cells[cell].items()
                alone[name][cell] = value
        assert alone
        for knows in alone.values():
            for cell in unsafe_cells(cells, threshold=3, p=15):
                if cell not in knows:
                    low, high = reader.interval(cell, knows)
                    assert high - low > 1, (knows, cell, low, high)

    def test_the_exact_pattern_is_the_cheapest(self, run: Run, tmp_path: Path) -> None:
        """Every pattern of a small table is tried, and none that is safe hides less."""
        draw = random.Random(12)
        firms = [
            Firm(f"{a}{b}{number}", (a, b), draw.randrange(40, 400))
            for a, b in itertools.product("pqr", "xyz")
            for number in range(1 if (a, b) in (("p", "x"), ("q", "z")) else 5)
        ]
        plan = PLAN.replace('hierarchy = "area.hrc"\n', "").replace("p_percent = { p = 15 }\n", "")
        extra = 'singletons = false\nsearch = "exact"\n'
        assert run("protect", build(tmp_path, firms, plan + extra), "--out", tmp_path / "out").code == 0
        trees = (flat(firms, 0), flat(firms, 1))
        cells = contributions(firms, trees)
        values = {cell: sum(parts.values()) for cell, parts in cells.items()}
        needed = unsafe_cells(cells, threshold=3)
        others = [cell for cell in values if cell not in needed]

        def is_safe(hidden: set[Code]) -> bool:
            reader = Reader({c: None if c in hidden else v for c, v in values.items()}, sums(trees))
            for cell, width in needed.items():
                low, high = reader.interval(cell)
                if low > values[cell] - width + SLACK or high < values[cell] + width - SLACK:
                    return False
            return True

        patterns = [{*needed, *more} for size in range(5) for more in itertools.combinations(others, size)]
        patterns.sort(key=lambda hidden: sum(values[cell] for cell in hidden))
        cheapest = next(sum(values[cell] for cell in hidden) for hidden in patterns if is_safe(hidden))
        shown = published(tmp_path / "out" / "table.csv", ("area", "activity"), "turnover")
        assert sum(values[cell] for cell, value in shown.items() if value is None) == cheapest

    def test_linked_tables_are_one_system(self, run: Run, tmp_path: Path) -> None:
        """Two tables share the areas: a reader has both, and every sum of both."""
        draw = random.Random(3)
        firms = [Firm(f.name, (*f.codes, draw.choice(["small", "large"])), f.turnover) for f in survey(7, 60)]
        plan = PLAN.replace(
            "[rules]",
            '[dimensions.size]\n[[tables]]\nname = "acts"\ndimensions = ["area", "activity"]\n'
            '[[tables]]\nname = "sizes"\ndimensions = ["area", "size"]\n[rules]',
        )
        header = ("firm", "area", "activity", "size", "turnover")
        path = build(tmp_path, [], plan)
        (tmp_path / "firms.csv").write_text(text_of([header, *((f.name, *f.codes, f.turnover) for f in firms)]))
        done = run("protect", path, "--out", tmp_path / "out")
        assert done.code == 0, done.err
        trees = (area_tree(), flat(firms, 1), flat(firms, 2))
        cells = contributions(firms, trees)
        shown: dict[Code, int | None] = {}
        equations: list[tuple[Code, list[Code]]] = []
        for name, column, place in (("acts", "activity", 1), ("sizes", "size", 2)):
            for (area, code), value in published(
                tmp_path / "out" / f"table-{name}.csv", ("area", column), "turnover"
            ).items():
                cell = (area, code, "Total") if place == 1 else (area, "Total", code)
                assert shown.setdefault(cell, value) == value, "a cell of both tables is hidden in both or in none"
            for total, parts in sums((trees[0], trees[place])):
                whole: list[Code] = [(a, c, "Total") if place == 1 else (a, "Total", c) for a, c in (total, *parts)]
                equations.append((whole[0], whole[1:]))
        needed = {cell: width for cell, width in unsafe_cells(cells, threshold=3, p=15).items() if cell in shown}
        assert {cell for cell in needed if cell[2] != "Total"}
        assert {cell for cell in needed if cell[1] != "Total"}
        assert_uncertain(Reader(shown, equations), cells, needed)

    def test_three_dimensions_of_counts(self, run: Run, tmp_path: Path) -> None:
        """Nobody of fewer than three people is counted out of a table of counts."""
        draw = random.Random(15)
        people = [
            Firm(str(n), (draw.choice("FM"), draw.choice(["young", "old"]), draw.choices("abc", [5, 4, 2])[0]), 1)
            for n in range(60)
        ]
        plan = 'title = "t"\n[source]\npath = "p.csv"\n[dimensions.sex]\n[dimensions.age]\n[dimensions.work]\n'
        path = write(
            tmp_path,
            {
                "plan.toml": plan + "[rules]\nthreshold = 5\n" + SUPPRESS,
                "p.csv": text_of([("sex", "age", "work"), *(p.codes for p in people)]),
            },
        )
        assert run("protect", path, "--out", tmp_path / "out").code == 0
        trees = tuple(flat(people, place) for place in range(3))
        cells = contributions(people, trees)
        needed = unsafe_cells(cells, threshold=5)
        assert needed
        reader = Reader(published(tmp_path / "out" / "table.csv", ("sex", "age", "work"), "count"), sums(trees))
        for cell in needed:
            low, high = reader.interval(cell)
            assert high - low >= 1 - SLACK, (cell, low, high)

    def test_a_row_of_two_lonely_people(self, run: Run, tmp_path: Path) -> None:
        """A village where one row has 1 + 1 people: an everyday table, and hiding cells can protect it."""
        counts = {"u": (1, 1, 0), "v": (6, 5, 4), "w": (9, 5, 7)}
        rows = [(a, b) for a, row in counts.items() for b, n in zip("xyz", row, strict=True) for _ in range(n)]
        path = write(
            tmp_path,
            {
                "plan.toml": 'title = "t"\n[source]\npath = "p.csv"\n[dimensions.a]\n[dimensions.b]\n[rules]\nthreshold = 3\n'
                + SUPPRESS,
                "p.csv": text_of([("a", "b"), *rows]),
            },
        )
        done = run("protect", path, "--out", tmp_path / "out")
        assert done.code == 0, done.err

    def test_what_is_confidential_stays_so(self, run: Run, tmp_path: Path) -> None:
        """Public files have no hidden value and no parameter of the p % rule; the others are their owner's alone."""
        firms = [*survey(1), Firm("Giant", ("isle", "mine"), 31_415_926)]
        assert (
            run("protect", build(tmp_path, firms, PLAN.replace("p = 15", "p = 17.25")), "--out", tmp_path / "out").code
            == 0
        )
        for path in (tmp_path / "out").iterdir():
            text = path.read_text(encoding="utf-8")
            if path.name.startswith("confidential"):
                assert stat.S_IMODE(path.stat().st_mode) == 0o600
            else:
                assert "31415926" not in text.replace(",", "").replace("\u2009", "")
                assert "17.25" not in text


class TestSameBytes:
    """Runs, threads, hash seeds and the order of the records do not change the table."""

    @pytest.mark.slow
    @pytest.mark.deep
    def test_threads(self, tmp_path: Path) -> None:
        plan = build(tmp_path, survey(9, 90), PLAN + 'search = "exact"\n')
        texts = []
        for threads in ("1", "2"):
            count = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), threads)
            environment = {**os.environ, **count, "PYTHONHASHSEED": threads}
            out = tmp_path / f"out{threads}"
            command = [sys.executable, "-m", "sudare", "protect", str(plan), "--out", str(out)]
            done = subprocess.run(
                command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
            )
            assert done.returncode == 0, done.stderr
            texts.append({p.name: p.read_text().replace(f"out{threads}", "out") for p in out.iterdir()})
        for name in ("table.csv", "confidential-certificate.json"):
            assert texts[0][name] == texts[1][name], name
        first, second = (json.loads(text["release.json"]) for text in texts)
        assert first.pop("created") <= second.pop("created")
        assert first == second

    def test_order_of_the_records(self, run: Run, tmp_path: Path) -> None:
        firms = survey(10)
        turned = firms[::-1]
        for name, records in (("a", firms), ("b", turned)):
            assert run("protect", build(tmp_path / name, records), "--out", tmp_path / name / "out").code == 0
        for name in ("table.csv", "confidential-certificate.json"):
            assert (tmp_path / "a/out" / name).read_bytes() == (tmp_path / "b/out" / name).read_bytes()


class TestRules:
    """Status codes of tau-ARGUS against the formulas of the textbook."""

    COLUMNS = ("firm", "a", "b", "v", "ask", "holder", "weight")
    PLAN = """title = "t"
[source]
path = "p.csv"
value = "v"
[dimensions.a]
[dimensions.b]
[rules]
RULES
[protection]
method = "suppress"
[output]
formats = ["csv", "tau-argus"]
"""

    @staticmethod
    def statuses(folder: Path) -> dict[Code, int]:
        """`"code","code",value,status` lines, as tau-ARGUS writes them: `x` for hidden, `-` for empty."""
        found = {}
        for *codes, value, status in csv.reader((folder / "confidential-tau-argus.csv").read_text().splitlines()):
            assert (value == "x") == (int(status) in {3, 4, 5, 6, 9, 11}), (codes, value, status)
            assert (value == "-") == (status == "14")
            found[tuple(codes)] = int(status)
        return found

    @staticmethod
    def ordinary(without: Iterable[Code]) -> list[tuple[object, ...]]:
        """Five firms of about the same size in each cell: nothing to protect."""
        return [
            (f"{a}{b}{place}", a, b, value, "no", f"{a}{b}{place}", 1)
            for a, b in itertools.product("pqrs", "xyz")
            if (a, b) not in set(without)
            for place, value in enumerate((100, 101, 99, 98, 97))
        ]

    def protect(
        self, run: Run, folder: Path, rows: Iterable[Sequence[object]], rules: str, given: str = ""
    ) -> dict[Code, int]:
        plan = self.PLAN.replace("RULES", rules).replace('value = "v"\n', f'value = "v"\n{given}\n')
        path = write(folder, {"plan.toml": plan, "p.csv": text_of([self.COLUMNS, *rows])})
        done = run("protect", path, "--out", folder / "out")
        assert done.code == 0, done.err
        return self.statuses(folder / "out")

    def special(self, cell: str, values: Sequence[int], ask: str = "no") -> list[tuple[object, ...]]:
        return [
            (f"{cell}{n}", cell[0], cell[1], value, ask if n == 0 else "no", f"{cell}{n}", 1)
            for n, value in enumerate(values)
        ]

    def test_each_rule_has_its_code(self, run: Run, tmp_path: Path) -> None:
        unsafe = {"px": 5, "qy": 3, "rz": 6, "sx": 4}
        rows = [
            *self.ordinary([*((c[0], c[1]) for c in unsafe), ("p", "z")]),
            *self.special("px", (50, 51)),  # two firms
            *self.special("qy", (5000, 10, 9, 8)),  # one that dominates
            *self.special("rz", (0, 0, 0, 0)),  # a zero that says something about four firms
            *self.special("sx", (100, 5, 6, 7, 8), ask="yes"),  # one that asked, and has 79 %
        ]
        rules = "threshold = 3\ndominance = { n = 1, k = 90 }\nrequest = {}\nzero = true"
        codes = self.protect(run, tmp_path, rows, rules, 'request = "ask"\nasks = ["yes"]')
        assert {cell: codes[cell[0], cell[1]] for cell in unsafe} == unsafe
        assert codes["p", "z"] == 14
        assert set(codes.values()) == {1, 3, 4, 5, 6, 11, 14}
        hidden = {
            tuple(c)
            for *c, _, status in map(dict.values, rows_of(tmp_path / "out" / "table.csv"))
            if status == "hidden"
        }
        assert hidden == {cell for cell, code in codes.items() if code in (3, 4, 5, 6, 11)}

    @pytest.mark.parametrize(
        ("rules", "border"),
        [
            ("dominance = { n = 2, k = 80 }", lambda x: x[0] + x[1] > 0.8 * sum(x)),
            ("p_percent = { p = 12 }", lambda x: sum(x[2:]) < 0.12 * x[0]),
            ("p_percent = { p = 12, n = 2 }", lambda x: sum(x[3:]) < 0.12 * x[0]),
            ("pq = { p = 20, q = 60 }", lambda x: sum(x[2:]) < 20 / 60 * x[0]),
            ("threshold = 5", lambda x: len(x) < 5),
        ],
    )
    def test_primaries_are_those_of_the_formula(
        self, run: Run, tmp_path: Path, rules: str, border: Callable[[list[int]], bool]
    ) -> None:
        draw = random.Random(rules)
        rows = [
            (n, draw.choice("pqrs"), draw.choice("xyz"), round(draw.paretovariate(0.8) * 90), "no", n, 1)
            for n in range(75)
        ]
        codes = self.protect(run, tmp_path, rows, rules)
        parts: dict[Code, list[int]] = defaultdict(list)
        for _, a, b, value, *_ in rows:
            for cell in itertools.product((str(a), "Total"), (str(b), "Total")):
                parts[cell].append(int(str(value)))
        expected = {cell for cell, values in parts.items() if border(sorted(values, reverse=True))}
        assert expected
        assert {cell for cell, code in codes.items() if code in (3, 5)} == expected

    def test_holdings(self, run: Run, tmp_path: Path) -> None:
        """Five records of one holding are one contributor; without holdings they are five."""
        rows = self.ordinary([("p", "x")]) + [(n, "p", "x", 100 + n, "no", "Group", 1) for n in range(5)]
        assert self.protect(run, tmp_path / "a", rows, "threshold = 3", 'holding = "holder"')["p", "x"] == 5
        assert self.protect(run, tmp_path / "b", rows, "threshold = 3")["p", "x"] == 1

    def test_an_insider_who_is_alone_in_several_cells(self, run: Run, tmp_path: Path) -> None:
        """A holding that is the only one in two cells of a row knows both: a third must keep its neighbour uncertain."""
        rows: list[tuple[object, ...]] = self.ordinary([("p", "x"), ("p", "y"), ("q", "x"), ("q", "y")])
        rows += [(f"g{n}", "p", b, 90 + n, "no", "Group", 1) for b in "xy" for n in range(3)]
        rows += [(f"o{b}", "q", b, 250, "no", f"Other {b}", 1) for b in "xy"]
        codes = self.protect(run, tmp_path, rows, "threshold = 3", 'holding = "holder"')
        firms = [Firm(str(r[5]), (str(r[1]), str(r[2])), int(str(r[3]))) for r in rows]
        trees = (flat(firms, 0), flat(firms, 1))
        cells = contributions(firms, trees)
        reader = Reader(published(tmp_path / "out" / "table.csv", ("a", "b"), "v"), sums(trees))
        known = {cell: sum(parts.values()) for cell, parts in cells.items() if set(parts) == {"Group"}}
        assert len(known) == 2
        for cell in (("q", "x"), ("q", "y")):
            assert codes[cell] == 5
            low, high = reader.interval(cell, known)
            assert high - low > 1, (cell, low, high)

    def test_weights(self, run: Run, tmp_path: Path) -> None:
        rows = [(*row[:-1], place % 3 + 1) for place, row in enumerate(self.ordinary([]))]
        self.protect(run, tmp_path, rows, "threshold = 3", 'weight = "weight"')
        shown = published(tmp_path / "out" / "table.csv", ("a", "b"), "v")
        assert shown["Total", "Total"] == sum(int(str(row[3])) * int(str(row[6])) for row in rows)

    def test_missing_is_safe(self, run: Run, tmp_path: Path) -> None:
        rows = [*self.ordinary([]), ("one", "unknown", "x", 700, "no", "one", 1)]
        plan = self.PLAN.replace("RULES", "threshold = 3").replace(
            "[dimensions.a]", '[dimensions.a]\nmissing = ["unknown"]'
        )
        path = write(tmp_path, {"plan.toml": plan, "p.csv": text_of([self.COLUMNS, *rows])})
        assert run("protect", path, "--out", tmp_path / "out").code == 0
        assert self.statuses(tmp_path / "out")["unknown", "x"] == 1
        assert published(tmp_path / "out" / "table.csv", ("a", "b"), "v")["unknown", "x"] == 700


class TestCounts:
    """Rounding and cell keys."""

    PLAN = (
        'title = "t"\n[source]\npath = "p.csv"\n[dimensions.area]\nhierarchy = "area.hrc"\n[dimensions.work]\n'
        "[rules]\nthreshold = 3\n[protection]\n"
    )
    KEYS = 'method = "cell-key"\nkey_file = "secret.key"\nidentifier = "id"\nlargest = 4\nvariance = 2\nforbidden = 2\n'

    @staticmethod
    def people() -> list[Firm]:
        draw = random.Random(21)
        areas = [*TREE][:-1]
        return [Firm(f"P{n}", (draw.choice(areas), draw.choices("abcd", [9, 5, 3, 1])[0]), 1) for n in range(80)]

    def build(self, folder: Path, plan: str) -> Path:
        people = text_of([("id", "area", "work"), *((p.name, *p.codes) for p in self.people())])
        return write(folder, {"plan.toml": plan, "p.csv": people, "area.hrc": HRC})

    def truth(self) -> tuple[Trees, dict[Code, int]]:
        trees = (area_tree(), flat(self.people(), 1))
        cells = contributions(self.people(), trees)
        return trees, {cell: sum(cells[cell].values()) if cell in cells else 0 for cell, _ in sums(trees)} | {
            cell: sum(parts.values()) for cell, parts in cells.items()
        }

    @pytest.mark.parametrize("base", [3, 5])
    def test_rounding(self, run: Run, tmp_path: Path, base: int) -> None:
        path = self.build(tmp_path, self.PLAN + f'method = "round"\nbase = {base}\n')
        done = run("protect", path, "--out", tmp_path / "out", "--json")
        assert done.code == 0, done.err
        shown = {
            tuple(row[n] for n in ("area", "work")): int(row["count"])
            for row in rows_of(tmp_path / "out" / "table.csv")
        }
        trees, true = self.truth()
        assert {row["status"] for row in rows_of(tmp_path / "out" / "table.csv")} == {"rounded"}
        assert all(value % base == 0 for value in shown.values())
        for total, parts in sums(trees):
            assert shown[total] == sum(shown[part] for part in parts)
        assert max(abs(shown[cell] - value) for cell, value in true.items()) < 2 * base
        assert all(shown[cell] == value for cell, value in true.items() if value == 0)

    def test_cell_keys(self, run: Run, tmp_path: Path) -> None:
        """Small deviations, none of the forbidden counts, zeros stay, and the same people have the same noise everywhere."""
        path = self.build(tmp_path, self.PLAN + self.KEYS)
        write_key(tmp_path / "secret.key")
        alone = tmp_path / "areas.toml"
        alone.write_text((self.PLAN + self.KEYS).replace("[dimensions.work]\n", ""))
        for plan, name in ((path, "a"), (path, "again"), (alone, "areas")):
            done = run("protect", plan, "--out", tmp_path / name)
            assert done.code == 0, done.err
        table = (tmp_path / "a/table.csv").read_bytes()
        assert (tmp_path / "again/table.csv").read_bytes() == table
        shown: dict[Code, int] = {
            (row["area"], row["work"]): int(row["count"]) for row in rows_of(tmp_path / "a/table.csv")
        }
        _, true = self.truth()
        for cell, value in true.items():
            assert abs(shown[cell] - value) <= 4
            assert shown[cell] not in (1, 2)
            assert value > 0 or shown[cell] == 0
        assert any(shown[cell] != value for cell, value in true.items())
        for row in rows_of(tmp_path / "areas/table.csv"):
            assert int(row["count"]) == shown[row["area"], "Total"]
        write_key(tmp_path / "new.key", 1)
        path.write_text((self.PLAN + self.KEYS).replace("secret.key", "new.key"))
        done = run("protect", path, "--out", tmp_path / "other")
        assert done.code == 0, done.err
        assert (tmp_path / "other/table.csv").read_bytes() != table
        key = (tmp_path / "new.key").read_text().strip().splitlines()[-1]
        assert all(key not in file.read_text() for file in (tmp_path / "other").iterdir())


class TestMeshes:
    PLAN = """title = "Half meshes"
[source]
rows = "meshes"
path = "m.csv"
mesh = "KEY_CODE"
level = "1/2"
population = "people"
values = ["men", "old"]
[protection]
method = "merge-meshes"
minimum = 10
[output]
formats = ["csv", "e-stat"]
"""
    ROWS = (
        (533946111, 520, 251, 100), (533946112, 84, 40, 9), (533946113, 3, 2, 1), (533946114, 0, 0, 0), (533946121, 6, 3, 2),
        (533946122, 7, 4, 3), (533946123, 400, 200, 80), (533946131, 9, 5, 4), (533946132, 10, 6, 5),
    )  # fmt: skip
    HEADER = ("KEY_CODE", "people", "men", "old")

    def text(self, rows: Iterable[Sequence[object]] = ROWS) -> str:
        return text_of([self.HEADER, *rows])

    def test_as_e_stat_writes_them(self, run: Run, tmp_path: Path) -> None:
        """0 as it is, 1 with others in it, 2 counted in the mesh that HTKSAKI names; GASSAN names the same pairs."""
        path = write(tmp_path, {"plan.toml": self.PLAN, "m.csv": self.text()})
        assert run("protect", path, "--out", tmp_path / "out").code == 0
        lines = (tmp_path / "out/table-estat.csv").read_bytes().decode("cp932").splitlines()
        assert lines[0] == "KEY_CODE,HTKSYORI,HTKSAKI,GASSAN,people,men,old"
        assert lines[1].startswith(",,,,")
        rows = {row[0]: row for row in csv.reader(lines[2:])}
        true = {str(code): values for code, *values in self.ROWS}
        assert set(rows) == set(true)
        goes_to = {code: row[2] for code, row in rows.items() if row[1] == "2"}
        assert goes_to
        members: dict[str, set[str]] = defaultdict(set)
        for code, target in goes_to.items():
            members[target].add(code)
        for code, (_, kind, target, merged, people, *values) in rows.items():
            assert int(people) == true[code][0], "the population is never hidden"
            assert kind == ("2" if code in goes_to else "1" if code in members else "0")
            assert (target != "") == (kind == "2")
            assert set(filter(None, merged.split(";"))) == members[code]
            if kind == "2":
                assert values == ["*", "*"]
                assert 0 < int(people) < 10
            else:
                group = [code, *members[code]]
                assert [int(value) for value in values] == [sum(true[c][n] for c in group) for n in (1, 2)]
                assert sum(true[c][0] for c in group) >= 10 or int(people) == 0
        for row in rows_of(tmp_path / "out/table.csv"):
            assert row["counted_in"] == goes_to.get(row["mesh"], row["mesh"])
            assert (row["status"] == "hidden") == (row["mesh"] in goes_to)

    def test_the_file_is_read_again(self, run: Run, tmp_path: Path) -> None:
        """What is written as e-Stat does can be released like a file of e-Stat."""
        path = write(tmp_path, {"plan.toml": self.PLAN, "m.csv": self.text()})
        assert run("protect", path, "--out", tmp_path / "out").code == 0
        release = (
            '[source]\npath = "estat"\nformat = "e-stat"\ncount = "men"\n[[domain]]\nname = "KEY_CODE"\nkind = "mesh"\n'
            'level = "1/2"\ncorners = ["533946", "533946"]\n[budget]\nepsilon = 1\n[ledger]\nlocation = "b.db"\ndataset = "d"\n'
        )
        (tmp_path / "estat").mkdir()
        shutil.copy(tmp_path / "out/table-estat.csv", tmp_path / "estat" / "tblT001141H5339.txt")
        (tmp_path / "release.toml").write_text(
            'title = "t"\n' + release + '[output]\nfolder = "r"\nformats = ["csv"]\n'
        )
        assert run("ledger", "create", tmp_path / "b.db").code == 0
        assert run("ledger", "add", tmp_path / "b.db", "d", "--epsilon", 1).code == 0
        done = run("release", tmp_path / "release.toml", "--yes")
        assert done.code == 0, done.err

    @pytest.mark.parametrize(
        ("place", "row", "words"),
        [
            (2, (533946113, -31337, 2, 1), "negative"),
            (2, (533946113, 3, -31337, 1), "negative"),
            (2, (533946119, 3, 2, 1), "533946119"),
            (2, (533946112, 3, 2, 1), "533946112"),
            (2, (533946113, 3, "", 1), "men"),
        ],
    )
    def test_bad_meshes(self, run: Run, tmp_path: Path, place: int, row: Sequence[object], words: str) -> None:
        """The message says which row or which mesh it is about: a file has half a million of them."""
        rows = [*self.ROWS[:place], row, *self.ROWS[place + 1 :]]
        path = write(tmp_path, {"plan.toml": self.PLAN, "m.csv": self.text(rows)})
        told = refused(run("protect", path, "--out", tmp_path / "out", "--json"), tmp_path, {"plan.toml", "m.csv"})
        assert "m.csv" in told
        assert words in told
        assert "31337" not in told
        assert str(row[0]) in told or re.search(r"row 3\b|line 4\b", told), told

    def test_too_few_people_in_all(self, run: Run, tmp_path: Path) -> None:
        path = write(
            tmp_path, {"plan.toml": self.PLAN, "m.csv": self.text([(533946111, 5, 2, 1), (533946112, 3, 2, 1)])}
        )
        told = refused(run("protect", path, "--out", tmp_path / "out", "--json"), tmp_path, {"plan.toml", "m.csv"})
        assert "do not reach the minimum" in told


class TestBroken:
    """What an attack breaks is not written, unless told otherwise; then everybody is told."""

    CARELESS = PLAN + "secondary = false\n"

    def test_nothing_is_written(self, run: Run, tmp_path: Path) -> None:
        plan = build(tmp_path, survey(1), self.CARELESS)
        before = names_in(tmp_path)
        told = refused(run("protect", plan, "--out", tmp_path / "out", "--json"), tmp_path, before)
        assert "--even-if-broken" in told
        assert "nothing was written" in told
        assert run("protect", plan, "--out", tmp_path / "out", "--lang", "ja").err.count("攻撃「interval」") == 1

    def test_even_if_broken_is_told_everywhere(self, run: Run, tmp_path: Path) -> None:
        plan = build(tmp_path, survey(1), self.CARELESS)
        done = run("protect", plan, "--out", tmp_path / "out", "--even-if-broken", "--json")
        assert done.code == 0
        assert done.json["even_if_broken"] is True
        assert "broken" in {attack["outcome"] for attack in done.json["attacks"]}
        report = json.loads((tmp_path / "out/release.json").read_text())
        assert report["even_if_broken"] is True
        assert "broken" in {attack["outcome"] for attack in report["attacks"]}
        page = (tmp_path / "out/release.html").read_text()
        assert "even-if-broken" in page or "broke" in page
        assert run("attack", tmp_path / "out").code == 7
        assert "An attack broke this table" in run("protect", plan, "--out", tmp_path / "b", "--even-if-broken").err

    def test_verify_does_not_call_it_sound(self, run: Run, tmp_path: Path) -> None:
        """A reader who checks a folder that was published although it is broken learns so."""
        plan = build(tmp_path, survey(1), self.CARELESS)
        assert run("protect", plan, "--out", tmp_path / "out", "--even-if-broken").code == 0
        told = run("verify", tmp_path / "out")
        assert "broke" in told.out + told.err, told.out

    def test_a_safe_table_is_not_called_broken(self, run: Run, tmp_path: Path) -> None:
        plan = build(tmp_path, survey(1))
        done = run("protect", plan, "--out", tmp_path / "out", "--even-if-broken", "--json")
        assert done.json["even_if_broken"] is False

    def test_unprotected(self, run: Run, tmp_path: Path) -> None:
        plan = build(tmp_path, survey(1), PLAN.replace('"suppress"', '"none"'))
        refused(run("protect", plan, "--out", tmp_path / "out", "--json"), tmp_path, names_in(tmp_path))


def survey_row(change: Callable[[list[str]], object]) -> str:
    """The survey with its fifth row changed."""
    rows = [[f.name, *f.codes, str(f.turnover)] for f in survey(1)]
    change(rows[4])
    return text_of([("firm", "area", "activity", "turnover"), *rows])


def put(place: int, value: str) -> str:
    def change(row: list[str]) -> None:
        row[place] = value

    return survey_row(change)


FIFTH = r"row 5\b|line 6\b"
CELLS_PLAN = """title = "t"
[source]
rows = "cells"
path = "firms.csv"
value = "v"
contributors = "n"
[dimensions.area]
hierarchy = "area.hrc"
[rules]
threshold = 3
[protection]
method = "suppress"
"""
CELL_ROWS = {
    "Total": (40, 31899), "inland": (20, 31500), "hill": (2, 31337), "lake": (18, 163),
    "sea": (20, 399), "coast": (9, 199), "port": (6, 100), "isle": (5, 100),
}  # fmt: skip


def finished(**changes: tuple[int, int] | None) -> str:
    rows = {**CELL_ROWS, **changes}
    return text_of([("area", "n", "v"), *((code, *row) for code, row in rows.items() if row)])


BAD: dict[str, tuple[dict[str, str], int, list[str]]] = {
    "a negative magnitude": ({"firms.csv": put(3, "-31337")}, 3, ["firms.csv", FIFTH, "negative", "負"]),
    "text": ({"firms.csv": put(3, "x31337")}, 3, ["firms.csv", "turnover", FIFTH]),
    "not a number": ({"firms.csv": put(3, "nan")}, 3, ["firms.csv", "turnover", FIFTH]),
    "no value": ({"firms.csv": put(3, "")}, 3, ["firms.csv", "turnover", FIFTH]),
    "an area that is not in the hierarchy": ({"firms.csv": put(1, "moon")}, 3, ["firms.csv", FIFTH, "moon"]),
    "an area above the finest": ({"firms.csv": put(1, "sea")}, 3, ["firms.csv", FIFTH, "sea"]),
    "a field too few": ({"firms.csv": survey_row(lambda row: row.pop())}, 3, ["firms.csv", r"(row|line) [56]\b"]),
    "a field too many": ({"firms.csv": survey_row(lambda row: row.append("31337"))}, 3, ["firms.csv", r"(row|line) [56]\b"]),
    "no rows": ({"firms.csv": "firm,area,activity,turnover\n"}, 3, ["firms.csv"]),
    "an empty file": ({"firms.csv": ""}, 3, ["firms.csv"]),
    "no such file": ({"plan.toml": PLAN.replace("firms.csv", "frims.csv")}, 3, ["frims.csv"]),
    "no such column": ({"plan.toml": PLAN.replace('"turnover"', '"turnovr"')}, 3, ["turnovr", "firms.csv"]),
    "a gap in the hierarchy": ({"area.hrc": HRC.replace("@lake", "@@@lake")}, 3, ["area.hrc", r"Line 3\b"]),
    "a hierarchy that begins below": ({"area.hrc": "@hill\n"}, 3, ["area.hrc", r"Line 1\b"]),
    "a code that comes twice": ({"area.hrc": HRC + "@hill\n"}, 3, [r"area\.hrc", "hill"]),
    "the total inside the hierarchy": ({"area.hrc": "Total\n" + HRC}, 3, [r"area\.hrc", "Total"]),
    "no hierarchy": ({"plan.toml": PLAN.replace("area.hrc", "aera.hrc")}, 3, ["aera.hrc"]),
    "a key that is none": ({"plan.toml": PLAN + "serach = 1\n"}, 2, ["plan.toml", "serach", "'search'"]),
    "a method that is none": ({"plan.toml": PLAN.replace('"suppress"', '"hide"')}, 2, ["plan.toml", "method", "hide"]),
    "no TOML": ({"plan.toml": PLAN + "= 1\n"}, 2, ["plan.toml", r"line 13\b"]),
    "no rule": ({"plan.toml": PLAN.replace("threshold = 3\np_percent = { p = 15 }\n", "")}, 2, ["plan.toml", "rules"]),
    "a threshold below one": ({"plan.toml": PLAN.replace("threshold = 3", "threshold = 0")}, 2, ["plan.toml", "threshold"]),
    "a percentage above 100": ({"plan.toml": PLAN.replace("p = 15", "p = 101")}, 2, ["plan.toml", "p_percent"]),
    "no time at all": ({"plan.toml": PLAN + "seconds = 1e-7\n"}, 3, ["time limit"]),
    "no time to prove": ({"plan.toml": PLAN + 'search = "exact"\nseconds = 1e-7\n'}, 3, ["time limit"]),
    "a table that does not add up": (
        {"plan.toml": CELLS_PLAN, "firms.csv": finished(inland=(20, 31501))}, 3, ["firms.csv", "area=inland", "does not add up"],
    ),
    "a total that does not add up": (
        {"plan.toml": CELLS_PLAN, "firms.csv": finished(Total=(40, 31900))}, 3, ["firms.csv", "total", "does not add up"],
    ),
    "a cell that is missing": (
        {"plan.toml": CELLS_PLAN, "firms.csv": finished(hill=None)}, 3, ["firms.csv", "area=inland", "does not add up"],
    ),
    "a negative cell": (
        {"plan.toml": CELLS_PLAN, "firms.csv": finished(hill=(2, -31337))}, 3, ["firms.csv", "area=hill", "negative"],
    ),
    "a cell that comes twice": (
        {"plan.toml": CELLS_PLAN, "firms.csv": finished() + "hill,2,31337\n"}, 3, ["firms.csv", "area=hill", r"[Rr]ow 9\b"],
    ),
    "a value of nobody": (
        {"plan.toml": CELLS_PLAN, "firms.csv": finished(hill=(0, 31337))}, 3, ["firms.csv", "area=hill", "no contributors"],
    ),
    "everything unsafe": (
        {"plan.toml": CELLS_PLAN.replace("threshold = 3", "threshold = 90"), "firms.csv": finished()}, 3, ["unsafe"],
    ),
}  # fmt: skip


class TestBadInput:
    @pytest.mark.parametrize("name", BAD)
    def test_a_clear_error_and_nothing_written(self, run: Run, tmp_path: Path, name: str) -> None:
        files, code, words = BAD[name]
        path = build(tmp_path, survey(1))
        write(tmp_path, files)
        before = names_in(tmp_path)
        told = refused(run("protect", path, "--out", tmp_path / "out", "--json"), tmp_path, before, code)
        for word in words:
            assert re.search(word, told), (word, told)
        assert "31337" not in told, "a contribution is told"

    @pytest.mark.parametrize(
        "change",
        [
            ("threshold = 3", "threshold = 0"),
            ("p = 15", "p = 101"),
            ("p = 15", "p = 0"),
            ("p_percent = { p = 15 }", "pq = { p = 50, q = 10 }"),
            ('"suppress"', '"round"\nbase = 1'),
        ],
    )
    def test_the_japanese_sentence_is_japanese(self, run: Run, tmp_path: Path, change: tuple[str, str]) -> None:
        """Names of keys and methods may stand in it; English sentences may not."""
        told = run("protect", build(tmp_path, survey(1), PLAN.replace(*change)), "--json").error["japanese"]
        assert not re.search(r"[a-z]+ [a-z]+", told), told

    def test_a_time_out_never_gives_an_unsafe_table(self, run: Run, tmp_path: Path) -> None:
        """Whatever the limit: a safe table, or a refusal."""
        firms = survey(2, 160)
        for place, seconds in enumerate((0.002, 0.02, 0.1)):
            path = build(tmp_path / str(place), firms, PLAN + f'search = "exact"\nseconds = {seconds}\n')
            before = names_in(path.parent)
            done = run("protect", path, "--out", path.parent / "out", "--json")
            if done.code:
                refused(done, path.parent, before)
            else:
                trees = (area_tree(), flat(firms, 1))
                shown = published(path.parent / "out/table.csv", ("area", "activity"), "turnover")
                cells = contributions(firms, trees)
                assert_uncertain(Reader(shown, sums(trees)), cells, unsafe_cells(cells, threshold=3, p=15))

    def test_a_value_with_the_name_of_another_column(self, run: Run, tmp_path: Path) -> None:
        """The published table would have two columns 'status': as for a dimension of that name, another is needed."""
        path = build(tmp_path, survey(1), PLAN.replace('"turnover"', '"status"'))
        text = firms_file(survey(1)).replace("turnover", "status")
        (tmp_path / "firms.csv").write_text(text)
        done = run("protect", path, "--out", tmp_path / "out", "--json")
        if done.code == 0:
            header = (tmp_path / "out/table.csv").read_text().splitlines()[0].split(",")
            assert len(set(header)) == len(header), header
        else:
            assert done.code == 2

    def test_infeasible_protection(self, run: Run, tmp_path: Path) -> None:
        """One firm and nothing beside it to hide."""
        plan = PLAN.replace('hierarchy = "area.hrc"', "").replace("[dimensions.activity]\n", "")
        path = write(tmp_path, {"plan.toml": plan, "firms.csv": "area,turnover\nhill,31337\n"})
        told = refused(run("protect", path, "--out", tmp_path / "o", "--json"), tmp_path, {"plan.toml", "firms.csv"})
        assert "31337" not in told

    def test_the_folder_is_there_already(self, run: Run, tmp_path: Path) -> None:
        path = build(tmp_path, survey(1))
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "mine.txt").write_text("mine")
        told = refused(run("protect", path, "--out", tmp_path / "out", "--json"), tmp_path, names_in(tmp_path), 6)
        assert "out" in told
        assert names_in(tmp_path / "out") == {"mine.txt"}


class TestTauArgusFiles:
    PLAN = """title = "t"
[source]
format = "tau-argus"
path = "t.asc"
metadata = "t.rda"
value = "sales"
[[tables]]
dimensions = ["area", "act"]
[rules]
threshold = 3
[protection]
method = "suppress"
[output]
formats = ["csv", "tau-argus"]
"""
    RDA = (
        'area 1 5 99999\n <RECODEABLE>\n <TOTCODE> "All"\n <HIERARCHICAL>\n <HIERCODELIST> "area.hrc"\n <HIERLEADSTRING> "@"\n'
        "act 7 5\n <RECODEABLE>\nsales 13 8\n <NUMERIC>\n <DECIMALS> 0\n"
    )
    HRC = HRC.replace("inland", "land")

    def files(self, firms: Iterable[Firm]) -> dict[str, str]:
        lines = "".join(f"{f.codes[0]:>5} {f.codes[1]:>5} {f.turnover:8}\n" for f in firms)
        return {"plan.toml": self.PLAN, "t.asc": lines, "t.rda": self.RDA, "area.hrc": self.HRC}

    def test_files_of_tau_argus(self, run: Run, tmp_path: Path) -> None:
        """Fixed columns, .rda and .hrc: the same cells are unsafe as in the table of the same firms in CSV."""
        firms = survey(3)
        done = run("protect", write(tmp_path, self.files(firms)), "--out", tmp_path / "out")
        assert done.code == 0, done.err
        codes = TestRules.statuses(tmp_path / "out")
        tree = {code: "land" if parent == "inland" else parent for code, parent in area_tree().items()} | {
            "land": "Total"
        }
        needed = {
            ("All" if cell[0] == "Total" else cell[0], cell[1])
            for cell in unsafe_cells(
                contributions(firms, ({k: v for k, v in tree.items() if k != "inland"}, flat(firms, 1))), 3
            )
        }
        assert {cell for cell, code in codes.items() if code == 5} == needed

    @pytest.mark.parametrize(
        ("name", "old", "new", "words"),
        [
            ("area.hrc", "@lake", "@@@lake", [r"Line 3 of 'area\.hrc'"]),
            ("t.rda", "act 7 5", "act", [r"'act'", r"t\.rda|columns"]),
            ("t.rda", '"area.hrc"', '"aera.hrc"', [r"aera\.hrc"]),
            ("plan.toml", '"sales"', '"sails"', ["sails", "sales"]),
            ("plan.toml", '"t.rda"', '"u.rda"', [r"u\.rda"]),
        ],
    )
    def test_bad_files(self, run: Run, tmp_path: Path, name: str, old: str, new: str, words: list[str]) -> None:
        files = self.files(survey(3))
        path = write(tmp_path, {**files, name: files[name].replace(old, new)})
        told = refused(run("protect", path, "--out", tmp_path / "out", "--json"), tmp_path, set(files))
        for word in words:
            assert re.search(word, told), (word, told)

    @pytest.mark.parametrize(("line", "word"), [("hill,inn,q", "'q'"), ("hill,boats,u", "boats")])
    def test_an_a_priori_file_with_a_mistake(self, run: Run, tmp_path: Path, line: str, word: str) -> None:
        """The line has all its fields; what is wrong is the status, or a code that no variable has."""
        plan = self.PLAN.replace('value = "sales"', 'value = "sales"\napriori = "t.hst"')
        files = {**self.files(survey(3)), "plan.toml": plan, "t.hst": f"hill,mill,u\n{line}\n"}
        told = refused(run("protect", write(tmp_path, files), "--json"), tmp_path, set(files))
        assert "Line 2 of 't.hst'" in told
        assert word in told, told


# A village, its attackers, and the ledger that remembers

VILLAGE = {
    ("F", "young", "farm"): 1, ("F", "young", "shop"): 4, ("M", "young", "farm"): 5, ("M", "young", "shop"): 1,
    ("F", "old", "farm"): 3, ("F", "old", "shop"): 2, ("M", "old", "farm"): 4, ("M", "old", "shop"): 6,
}  # fmt: skip
KINDS = ("sex", "age", "work")
THRESHOLDS = """title = "The village"
[source]
path = "village.csv"
[dimensions.sex]
[dimensions.age]
[dimensions.work]
[rules]
threshold = 3
[protection]
method = "suppress"
secondary = false
"""
RELEASE = """title = "The village"
[source]
path = "village.csv"
rows = "people"
[[domain]]
name = "sex"
kind = "category"
labels = ["F", "M"]
[[domain]]
name = "age"
kind = "category"
labels = ["young", "old"]
[[domain]]
name = "work"
kind = "category"
labels = ["farm", "shop"]
[budget]
epsilon = 1
[ledger]
location = "budget.db"
dataset = "village"
[output]
folder = "release"
formats = ["csv"]
"""


def village(folder: Path) -> Path:
    people = [kind for kind, number in VILLAGE.items() for _ in range(number)]
    return write(folder, {
        "plan.toml": THRESHOLDS, "release.toml": RELEASE, "village.csv": text_of([KINDS, *people]),
    })  # fmt: skip


def attack_named(found: Answer, name: str) -> dict[str, object]:
    (attack,) = [attack for attack in found.json["attacks"] if attack["attack"] == name]
    return dict(attack)


def all_villages(folder: Path) -> list[tuple[int, ...]]:
    """Every village that fits the published table where hidden counts are 1 or 2: by trying them all."""
    shown = published(folder / "table.csv", KINDS, "count")
    choices = [(1, 2) if shown[kind] is None else (shown[kind],) for kind in VILLAGE]
    fits = []
    for numbers in itertools.product(*choices):
        counted: dict[Code, int] = defaultdict(int)
        for kind, number in zip(VILLAGE, numbers, strict=True):
            for cell in itertools.product(*[(code, "Total") for code in kind]):
                counted[cell] += number or 0
        if all(counted[cell] in ((1, 2) if value is None else (value,)) for cell, value in shown.items()):
            fits.append(tuple(number or 0 for number in numbers))
    return fits


class TestAttacks:
    def test_thresholds_fall_and_noise_holds(self, run: Run, tmp_path: Path) -> None:
        """The same people: a table with thresholds gives them away, a release with a budget does not."""
        plan = village(tmp_path)
        assert run("protect", plan, "--out", tmp_path / "out", "--even-if-broken").code == 0
        assert all_villages(tmp_path / "out") == [tuple(VILLAGE.values())]
        broken = run("attack", tmp_path / "out", "--json")
        assert broken.code == 7
        found = attack_named(broken, "reconstruction")
        assert found["outcome"] == "broken"
        verdicts = found["verdicts"]
        assert isinstance(verdicts, list)
        sentences = {verdict["target"]: verdict for verdict in verdicts if verdict["outcome"] == "broken"}
        for (sex, age, work), number in VILLAGE.items():
            target = f"sex {sex}, age {age}, work {work}"
            assert (target in sentences) == (number < 3), target
            if number < 3:
                assert f"Exactly {number} such" in sentences[target]["sentence"]["english"]
                assert f"{number} 人" in sentences[target]["sentence"]["japanese"]
                assert sentences[target]["remedy"]["english"]

        assert run("ledger", "create", tmp_path / "budget.db").code == 0
        assert run("ledger", "add", tmp_path / "budget.db", "village", "--epsilon", 2).code == 0
        assert run("release", tmp_path / "release.toml", "--yes").code == 0
        held = run("attack", tmp_path / "release", "--json")
        assert held.code == 0, held.out
        assert attack_named(held, "reconstruction")["outcome"] == "held"
        assert attack_named(held, "reconstruction")["broken"] == 0

        report = (tmp_path / "out/release.json").read_bytes()
        note_publication(
            tmp_path / "budget.db", "village", document_sha256=hashlib.sha256(report).hexdigest(),
            report_format="sudare-protected-table/1", folder=str(tmp_path / "out"),
        )  # fmt: skip
        listed = run("ledger", "list", tmp_path / "budget.db")
        assert "1 published without a privacy guarantee" in listed.out + listed.err
        listed = run("ledger", "list", tmp_path / "budget.db", "--lang", "ja")
        assert re.search("village.*1.*", listed.out + listed.err)
        both = run("attack", tmp_path / "release", "--ledger", tmp_path / "budget.db", "--dataset", "village", "--json")
        assert both.code == 7
        assert attack_named(both, "reconstruction")["outcome"] == "broken"
        assert run("ledger", "verify", tmp_path / "budget.db").code == 0

        shutil.rmtree(tmp_path / "out")
        lost = run("attack", tmp_path / "release", "--ledger", tmp_path / "budget.db", "--dataset", "village", "--json")
        assert str(tmp_path / "out") in lost.out + lost.err, "a publication that is not there any more is told"

    def test_two_tables_that_are_safe_alone(self, run: Run, tmp_path: Path) -> None:
        """Differencing: the second table shows a total that the first one hid."""
        counts = {"u": (2, 0, 0), "v": (6, 5, 4), "w": (9, 5, 7)}
        rows = [(a, b) for a, row in counts.items() for b, n in zip("xyz", row, strict=True) for _ in range(n)]
        head, tail = 'title = "t"\n[source]\npath = "p.csv"\n[dimensions.a]\n', "[rules]\nthreshold = {}\n" + SUPPRESS
        plan = write(tmp_path, {
            "plan.toml": head + "[dimensions.b]\n" + tail.format(3),
            "b.toml": head + tail.format(2),
            "c.toml": head + tail.format(2) + '[earlier]\nfolders = ["first"]\n',
            "p.csv": text_of([("a", "b"), *rows]),
        })  # fmt: skip
        first, second = tmp_path / "first", tmp_path / "second"
        assert run("protect", plan, "--out", first).code == 0
        told = refused(run("protect", tmp_path / "c.toml", "--out", second, "--json"), tmp_path, names_in(tmp_path))
        assert "'earlier'" in told
        assert run("protect", tmp_path / "b.toml", "--out", second).code == 0
        assert run("attack", first).code == 0
        assert run("attack", second).code == 0
        together = run("attack", first, "--with", second, "--json")
        assert together.code == 7
        assert attack_named(together, "differencing")["outcome"] == "broken"
        ledger = tmp_path / "budget.db"
        assert run("ledger", "create", ledger).code == 0
        assert run("ledger", "add", ledger, "p", "--epsilon", 1).code == 0
        for folder in (first, second):
            digest = hashlib.sha256((folder / "release.json").read_bytes()).hexdigest()
            note_publication(
                ledger, "p", document_sha256=digest, report_format="sudare-protected-table/1", folder=str(folder)
            )
        found = run("attack", first, "--ledger", ledger, "--dataset", "p", "--json")
        assert found.code == 7
        assert attack_named(found, "differencing")["outcome"] == "broken"

    def test_intervals_are_those_of_the_linear_program(self, run: Run, tmp_path: Path) -> None:
        """In a table where nothing else is hidden, what the attack finds is what the reader's program finds."""
        firms = survey(1)
        assert (
            run(
                "protect", build(tmp_path, firms, TestBroken.CARELESS), "--out", tmp_path / "out", "--even-if-broken"
            ).code
            == 0
        )
        found = attack_named(run("attack", tmp_path / "out", "--json"), "interval")
        trees = (area_tree(), flat(firms, 1))
        cells = contributions(firms, trees)
        reader = Reader(published(tmp_path / "out/table.csv", ("area", "activity"), "turnover"), sums(trees))
        expected = 0
        for cell, width in unsafe_cells(cells, threshold=3, p=15).items():
            value = sum(cells[cell].values())
            low, high = reader.interval(cell)
            expected += low > value - width + SLACK or high < value + width - SLACK
        assert found["broken"] == expected > 0

    def test_what_is_found_is_for_its_owner(self, run: Run, tmp_path: Path) -> None:
        assert run("protect", village(tmp_path), "--out", tmp_path / "out", "--even-if-broken").code == 0
        for name in ("found.html", "found.json"):
            assert run("attack", tmp_path / "out", "--out", tmp_path / name).code == 7
            assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
        told = run("attack", tmp_path / "out", "--lang", "ja")
        assert "公表してはいけません" in told.err
        assert "ちょうど 1 人" in told.out


def edit(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1))

    return change


def drop(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


TAMPERED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a value": (edit("table.csv", ",published", "1,published"), r"table\.csv"),
    "a status": (edit("table.csv", ",hidden", "5,published"), r"table\.csv"),
    "no table": (drop("table.csv"), r"table\.csv"),
    "the report": (edit("release.json", '"minimum": 3', '"minimum": 2'), r"release\.json"),
    "the title": (edit("release.json", "Turnover", "Losses"), r"release\.(json|html)"),
    "no page": (drop("release.html"), r"release\.html"),
    "a further file": (lambda folder: write(folder, {"more.csv": "1\n"}), r"more\.csv"),
}


class TestTamperedFolders:
    @pytest.fixture
    def folder(self, run: Run, tmp_path: Path) -> Path:
        assert run("protect", build(tmp_path, survey(1)), "--out", tmp_path / "out").code == 0
        assert run("verify", tmp_path / "out").code == 0
        return tmp_path / "out"

    @pytest.mark.parametrize("name", TAMPERED)
    def test_verify(self, run: Run, folder: Path, name: str) -> None:
        change, word = TAMPERED[name]
        change(folder)
        found = run("verify", folder, "--json")
        assert found.code == 7
        failed = [check for check in found.json["checks"] if check["outcome"] == "failed"]
        assert any(re.search(word, check["english"]) and re.search(word, check["japanese"]) for check in failed), failed
        shown = run("verify", folder)
        assert "NOT sound" in shown.out + shown.err

    @pytest.mark.parametrize("name", [name for name in TAMPERED if name != "a further file"])
    def test_attack(self, run: Run, folder: Path, name: str) -> None:
        """A folder whose files are not those that it was made with is not examined: exit code 7."""
        TAMPERED[name][0](folder)
        found = run("attack", folder, "--json")
        assert found.code == 7, found.out
        assert found.out == ""
        assert "not examined" in found.error["english"]
        assert "調べません" in found.error["japanese"]

    @pytest.mark.parametrize("command", ["verify", "attack"])
    @pytest.mark.parametrize("damage", ["gone", "cut"])
    def test_without_a_report(self, run: Run, folder: Path, command: str, damage: str) -> None:
        if damage == "gone":
            (folder / "release.json").unlink()
        else:
            (folder / "release.json").write_text((folder / "release.json").read_text()[:200])
        found = run(command, folder, "--json")
        assert found.code in (3, 7)
        assert "release.json" in found.error["english"], found.error["english"]

    def test_a_certificate_that_proves_nothing(self, run: Run, folder: Path) -> None:
        path = folder / "confidential-certificate.json"
        text = json.loads(path.read_text())
        text["witnesses"] = [[cells, [2 * step for step in steps], scale] for cells, steps, scale in text["witnesses"]]
        path.write_text(json.dumps({**text, "witnesses": text["witnesses"][:-1]}))
        assert run("verify", folder).code == 7

    def test_a_requirement_that_was_lowered(self, run: Run, folder: Path) -> None:
        """The proof is about what was required when the table was made, and not about less."""
        path = folder / "confidential.json"
        text = json.loads(path.read_text())
        text["requirements"] = [[cells, 0, 0] for cells, *_ in text["requirements"]]
        for cell in text["unsafe"]:
            cell["lower"] = cell["upper"] = 0
        path.write_text(json.dumps(text, indent=1))
        assert run("verify", folder).code == 7

    def test_a_certificate_that_is_gone(self, run: Run, folder: Path) -> None:
        """The other confidential files are there: it is not right to say that they are missing."""
        (folder / "confidential-certificate.json").unlink()
        found = run("verify", folder, "--json")
        (check,) = [check for check in found.json["checks"] if check["name"] == "certificate"]
        assert "confidential-certificate.json" in check["english"], check


NOISY = r"""echo >> "$0.runs"
awk -F, -v seed="$(wc -l < "$0.runs")" -v epsilon="$3" '
    function geometric() { return int(log(1 - rand()) / -epsilon) }
    BEGIN { srand(seed); for (i = 0; i < 20; i++) rand() }
    { print NR == 1 ? $0 : $1 "," $2 + geometric() - geometric() }
' "$1" > "$2"
"""
"""A program of other people that begins in a millisecond. Each run has its own noise, the same in all runs of the test."""


class TestPrograms:
    FILES: ClassVar = {
        "a.csv": "age,count\nyoung,7\nold,9\n",
        "b.csv": "age,count\nyoung,7\nold,10\n",
        "noise.sh": NOISY,
    }

    def attack(self, run: Run, folder: Path, program: str, *more: object) -> Answer:
        return run(
            "attack", "--program", program, "--on", folder / "a.csv", "--beside", folder / "b.csv", *more, "--json"
        )

    @pytest.mark.slow
    @pytest.mark.parametrize(("epsilon", "caught"), [(4, True), (1, False)])
    @pytest.mark.deep
    def test_too_little_noise(self, run: Run, tmp_path: Path, epsilon: int, caught: bool) -> None:
        """A program that claims epsilon = 1 and draws noise for 4 is found out in few runs; an honest one is not."""
        write(tmp_path, self.FILES)
        program = f"sh {tmp_path / 'noise.sh'} {{input}} {{output}} {epsilon}"
        found = self.attack(run, tmp_path, program, "--claim", 1, "--runs", 125)
        assert found.code == (7 if caught else 0), found.out
        assert found.json["outcome"] == ("broken" if caught else "held")

    @pytest.mark.parametrize(("epsilon", "caught"), [(2, True), (1, False)])
    def test_half_the_noise_in_python(self, epsilon: float, caught: bool) -> None:
        draw = np.random.default_rng(5)
        chance = 1 - np.exp(-epsilon)
        found = audit_function(
            lambda table: table + draw.geometric(chance, 2) - draw.geometric(chance, 2),
            np.array([7, 9]), np.array([7, 10]), runs=4000, claimed=1,
        )  # fmt: skip
        assert found.is_broken == caught

    @pytest.mark.parametrize("program", ["false {input} {output}", "true {input} {output}"])
    def test_a_program_that_never_writes_a_table(self, run: Run, tmp_path: Path, program: str) -> None:
        """Nothing was seen of it: that is a mistake in the command, and no held attack."""
        write(tmp_path, self.FILES)
        found = self.attack(run, tmp_path, program, "--claim", 1, "--runs", 125)
        assert found.code == 3, found.out

    def test_inputs_that_do_not_differ(self, run: Run, tmp_path: Path) -> None:
        write(tmp_path, {**self.FILES, "b.csv": self.FILES["a.csv"]})
        assert self.attack(run, tmp_path, "cp {input} {output}", "--claim", 1, "--runs", 125).code in (2, 3)

    def test_a_claim_below_zero(self, run: Run, tmp_path: Path) -> None:
        """The message is about --claim, in both languages."""
        write(tmp_path, self.FILES)
        found = self.attack(run, tmp_path, "cp {input} {output}", "--claim", "-1", "--runs", 125)
        assert found.code == 2
        assert "claim" in found.error["english"], found.error
        assert not re.search(r"[a-z]+ [a-z]+ [a-z]+", found.error["japanese"]), found.error


class TestDescribedTables:
    TABLE = (
        "age,work,count\nyoung,farm,5\nyoung,shop,*\nyoung,all,7\nold,farm,4\nold,shop,8\nold,all,12\n"
        "all,farm,9\nall,shop,10\nall,all,19\n"
    )
    TOML = 'title = "t"\nthreshold = 3\n[[table]]\nfile = "t.csv"\ntotal = "all"\n'

    def attack(self, run: Run, folder: Path, table: str, toml: str = TOML) -> Answer:
        write(folder, {"t.csv": table, "tables.toml": toml})
        return run("attack", folder / "tables.toml", "--json")

    def test_a_hidden_count_is_found(self, run: Run, tmp_path: Path) -> None:
        found = self.attack(run, tmp_path, self.TABLE)
        assert found.code == 7
        assert "Exactly 2 such people exist" in found.out

    def test_totals_of_another_name(self, run: Run, tmp_path: Path) -> None:
        """No cell is a total called 'total': the attack would see a table of unrelated cells, and must not call it safe."""
        found = self.attack(run, tmp_path, self.TABLE, self.TOML.replace('total = "all"\n', ""))
        assert found.code != 0 or "'total'" in found.err, found.out

    @pytest.mark.parametrize(
        ("old", "new", "place"),
        [
            ("old,farm,4", "old,farm,-4", "Line 5"),
            ("old,farm,4", "old,farm,x", "Line 5"),
            ("all,all,19\n", "old,farm,4\n", "Line 10"),
        ],
    )
    def test_bad_tables(self, run: Run, tmp_path: Path, old: str, new: str, place: str) -> None:
        found = self.attack(run, tmp_path, self.TABLE.replace(old, new))
        assert found.code == 3
        assert f"{place} of 't.csv'" in found.error["english"]
        assert "t.csv" in found.error["japanese"]


class TestCompare:
    PLAN = """title = "Our village"
repeats = 2
[source]
path = "people.csv"
[columns.district]
role = "area"
[columns.age]
role = "known"
[columns.work]
role = "known"
[columns.ill]
role = "sensitive"
[[methods]]
name = "none"
[[methods]]
name = "flat"
settings = [0.1, 10]
"""

    @staticmethod
    def people() -> str:
        draw = random.Random(6)
        rows = [
            (draw.choice(["north", "south"]), draw.choice(["0-19", "20-59", "60+"]), draw.choices("abcd", [9, 5, 2, 1])[0],
             draw.choice(["yes", "no"]))
            for _ in range(90)
        ]  # fmt: skip
        return text_of([("district", "age", "work", "ill"), *rows])

    def test_more_noise_less_use_less_risk(self, run: Run, tmp_path: Path) -> None:
        """Publishing the truth has no error, much noise more than little; and the same plan gives the same bytes."""
        plan = write(tmp_path, {"plan.toml": self.PLAN, "people.csv": self.people()})
        for name in ("a", "b"):
            done = run("compare", plan, "--out", tmp_path / name)
            assert done.code == 0, done.err
        assert names_in(tmp_path / "a") >= {
            "report.html",
            "report.json",
            "comparison.csv",
            "picture-en.svg",
            "picture-ja.svg",
        }
        for name in ("comparison.csv", "picture-en.svg"):
            assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
        rows = {(row["method"], row["setting"]): row for row in rows_of(tmp_path / "a/comparison.csv")}
        truth, much, little = (rows[key] for key in (("none", ""), ("flat", "0.1"), ("flat", "10.0")))
        assert float(truth["absolute_all"]) == 0
        assert float(much["absolute_all"]) > float(little["absolute_all"])
        assert float(much["found"]) < float(truth["found"])

    @pytest.mark.parametrize(
        ("old", "new", "code", "words"),
        [
            ('"area"', '"aera"', 2, ["plan.toml", "aera"]),
            ('name = "flat"', 'name = "flatt"', 2, ["plan.toml", "flatt", "'flat'"]),
            ("[columns.work]", "[columns.job]", 3, ["job", "people.csv"]),
            ('role = "sensitive"', 'role = "known"', 2, ["plan.toml", "sensitive"]),
            ("settings = [0.1, 10]", "settings = [-1]", 2, ["plan.toml", "settings|epsilon"]),
        ],
    )
    def test_bad_plans(self, run: Run, tmp_path: Path, old: str, new: str, code: int, words: list[str]) -> None:
        plan = write(tmp_path, {"plan.toml": self.PLAN.replace(old, new), "people.csv": self.people()})
        told = refused(
            run("compare", plan, "--out", tmp_path / "out", "--json"), tmp_path, {"plan.toml", "people.csv"}, code
        )
        for word in words:
            assert re.search(word, told), (word, told)
