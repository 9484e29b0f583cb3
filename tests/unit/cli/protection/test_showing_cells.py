"""What `sudare protect` prints of hidden cells: primary or secondary, and every rule that a cell breaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import Run, runner
from tests.unit.releases.kinds.tables.firms import WHOLE, build_firms

PLAN = WHOLE.replace("threshold = 3", "threshold = 3\ndominance = { n = 1, k = 80 }")
ALONE = "region=n2, trade=mines"
"""One firm is in this cell: it breaks the threshold as well as the rules about shares."""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsys, monkeypatch, columns=200)


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return build_firms(tmp_path, PLAN)


@pytest.mark.parametrize(
    ("language", "primary", "secondary", "rules"),
    [
        ("en", "primary", "secondary", "at least 3 contributors; a dominance rule; a p % rule"),
        ("ja", "一次秘匿", "二次秘匿", "提供者が 3 以上、占有率の規則、p % 規則"),
    ],
)
def test_cells_are_marked(run: Run, plan: Path, language: str, primary: str, secondary: str, rules: str) -> None:
    shown = run("protect", plan, "--lang", language)
    assert shown.code == 0, shown.err
    (line,) = (line for line in shown.err.splitlines() if line.strip().startswith(ALONE))
    assert primary in line
    assert rules in line
    assert [line for line in shown.err.splitlines() if "region=north, trade=mines" in line and secondary in line]


def test_every_rule_that_a_cell_breaks_is_listed_the_threshold_first(run: Run, plan: Path) -> None:
    """By its status a cell of one contributor was under dominance alone."""
    cells = run("protect", plan, "--json").json["hidden_cells"]
    own = json.loads((plan.parent / "protected" / "confidential.json").read_text(encoding="utf-8"))
    (alone,) = (one for one in own["unsafe"] if one["name"] == ALONE)
    assert alone["rules"] == ["threshold", "dominance", "p_percent"]
    assert {"cell": ALONE, "rules": alone["rules"]} in cells["primary"]
    for name, count in cells["primary_by_rule"].items():
        assert count == sum(name in one["rules"] for one in cells["primary"])
    assert len(cells["secondary"]) == own["secondary"] == len(own["secondary_cells"])
    assert all(one["rules"] for one in cells["primary"])


def test_the_page_of_the_holder_lists_them_and_the_public_one_does_not(run: Run, plan: Path) -> None:
    folder = Path(run("protect", plan, "--json").json["folder"])
    own, public = ((folder / name).read_text(encoding="utf-8") for name in ("confidential.html", "release.html"))
    for words in ("一次秘匿</span>", "二次秘匿</span>", "Rules that it breaks"):
        assert words in own
        assert words not in public
    assert "secondary_cells" not in (folder / "release.json").read_text(encoding="utf-8")


def test_a_method_that_hides_nothing_lists_nothing(run: Run, plan: Path) -> None:
    text = PLAN.replace('method = "suppress"', 'method = "round"\nbase = 5')
    plan.write_text(text, encoding="utf-8")
    made = run("protect", plan, "--even-if-broken", "--json")
    assert made.code == 0, made.err
    assert made.json["hidden_cells"] is None
