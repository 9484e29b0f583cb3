"""Attacks before a table of people is shown: what is broken is refused, and what was never promised is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.attacks.verdicts import AttackOutcome, AttackReport
from sudare.errors import InputError
from sudare.microdata.records import CodedColumn, Records, read_people, write_people
from sudare.releases.kinds.records import read_people_plan, run_people_plan, verify_people
from sudare.releases.kinds.records.attacking.folder_attacks import attack_folder
from sudare.releases.kinds.records.attacking.linking import link_exactly, link_nearest
from sudare.releases.kinds.records.page import render_people_page
from tests.unit.releases.kinds.records.town import ANONYMIZE, COLUMNS, HEAD, MST, build_town, people

SAMPLE = '[protection]\nmethod = "sample"\nrows = 100\n'


def run(folder: Path, text: str, *, even_if_broken: bool = False, rows: list[list[str]] | None = None) -> Any:
    plan = build_town(folder, text, rows)
    return run_people_plan(read_people_plan(plan, folder / "out"), even_if_broken=even_if_broken)


def outcomes(document: Any) -> dict[str, str]:
    return {attack["attack"]: attack["outcome"] for attack in document["attacks"]}


def by_name(reports: tuple[AttackReport, ...]) -> dict[str, AttackReport]:
    return {report.attack: report for report in reports}


def left_behind(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"people.csv", "plan.toml", "budget.db"}


class TestRefusal:
    """Nothing of a broken table is written, unless it is said."""

    def test_a_plain_sample_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError) as caught:
            run(tmp_path, HEAD + COLUMNS + SAMPLE)
        assert "linkage" in caught.value.english
        assert "100 of 100 people (100.0%)" in caught.value.english
        assert "--even-if-broken" in caught.value.english
        assert 'method = "anonymize"' in caught.value.english
        assert "対応づけ" in caught.value.japanese
        assert "--even-if-broken" in caught.value.japanese
        assert not left_behind(tmp_path)

    def test_even_if_broken(self, tmp_path: Path) -> None:
        made = run(tmp_path, HEAD + COLUMNS + SAMPLE, even_if_broken=True)
        document = json.loads((tmp_path / "out" / "release.json").read_text(encoding="utf-8"))
        assert document == json.loads(json.dumps(made.document))
        assert document["even_if_broken"] is True
        assert outcomes(document) == {"uniqueness": "undecided", "linkage": "broken", "attributes": "undecided"}
        page = (tmp_path / "out" / "release.html").read_text(encoding="utf-8")
        assert "it was published all the same" in page
        assert "指定により公開されました" in page
        assert "✗" in page

    @pytest.mark.parametrize(
        "step",
        [
            'method = "swap"\ncolumns = ["zip"]\nshare = 0.1\n',
            'method = "swap"\ncolumns = ["illness"]\nshare = 0.9\n',
            'method = "pram"\ncolumn = "sex"\nkeep = 0.9\n',
            'method = "noise"\ncolumn = "age"\nscale = 1\n',
            'method = "microaggregate"\ncolumns = ["wage"]\nk = 3\n',
        ],
    )
    def test_little_perturbation_is_refused(self, tmp_path: Path, step: str) -> None:
        with pytest.raises(InputError, match="linkage"):
            run(tmp_path, HEAD + COLUMNS + "[protection]\n" + step)
        assert not left_behind(tmp_path)

    def test_noise_that_hides_exact_values_does_not_stop_the_nearest(self, tmp_path: Path) -> None:
        """No age is as it was any more, and still nearly everybody is found: a zip code and a sex go with it."""
        columns = COLUMNS.replace('role = "quasi-identifier"\nflat', 'role = "other"\nflat')
        plan = HEAD + columns + '[protection]\nmethod = "microaggregate"\ncolumns = ["age"]\nk = 3\n'
        made = run(tmp_path, plan, even_if_broken=True)
        verdicts = next(attack for attack in made.document["attacks"] if attack["attack"] == "linkage")["verdicts"]
        assert {verdict["outcome"] for verdict in verdicts if "nearest" in verdict["sentence"]["english"]} == {"broken"}

    @pytest.mark.parametrize("large", ["", "larger_than_memory = true\n"], ids=["memory", "large"])
    def test_a_model_that_promises_nothing_about_being_found(self, tmp_path: Path, large: str) -> None:
        plan = ANONYMIZE.replace("k = 4", 'models = [{ name = "t-closeness", t = 1 }]')
        with pytest.raises(InputError, match=r"linkage.*240 of 240 people \(100"):
            run(tmp_path, HEAD + large + COLUMNS + plan)
        assert not left_behind(tmp_path)

    def test_a_model_of_a_population_may_leave_records_alone(self, tmp_path: Path) -> None:
        lines = ["age,sex,zip", *(",".join(row[1:4]) for row in people() for _ in range(3))]
        (tmp_path / "everybody.csv").write_text("\n".join(lines) + "\n")
        plan = HEAD + 'population = "everybody.csv"\n' + COLUMNS + ANONYMIZE.replace("k = 4", "")
        made = run(tmp_path, plan + 'models = [{ name = "k-map", k = 3 }]\n')
        assert made.document["risks"]["after"]["k"] == 1
        assert outcomes(made.document)["linkage"] == "undecided"
        # It was checked while searching, and whoever has the file alone cannot check it again.
        assert outcomes(made.document)["models"] == "held"
        assert by_name(attack_folder(made.folder, made.document))["models"].outcome is AttackOutcome.UNDECIDED
        assert not [check for check in verify_people(made.folder) if check.outcome == "failed"]

    def test_random_values_hold(self, tmp_path: Path) -> None:
        """Quasi-identifiers that are drawn anew lead to nobody."""
        steps = "".join(
            f'[[steps]]\nmethod = "swap"\ncolumns = ["{name}"]\nshare = 1\n' for name in ("age", "sex", "zip")
        )
        made = run(tmp_path, HEAD + COLUMNS + steps)
        assert outcomes(made.document)["linkage"] != "broken"
        assert made.document["even_if_broken"] is False

    def test_few_values_hold(self, tmp_path: Path) -> None:
        """A sample in which everybody looks like many others is shown."""
        rows = [[f"P{place}", str(30 + place % 2), "fm"[place // 2 % 2], "8101", "flu", "1"] for place in range(240)]
        made = run(tmp_path, HEAD + COLUMNS + SAMPLE, rows=rows)
        assert outcomes(made.document)["uniqueness"] == "held"
        assert outcomes(made.document)["linkage"] == "held"


class TestFindings:
    """What was never promised is told, and stops nothing."""

    def test_classes_that_share_a_value(self, tmp_path: Path) -> None:
        rows = [[f"P{place}", "30", "f", f"81{place // 4:02}", f"illness {place // 8}", "1"] for place in range(80)]
        plan = HEAD + COLUMNS + ANONYMIZE
        made = run(tmp_path, plan, rows=rows)
        found = outcomes(made.document)
        assert found == {"models": "held", "uniqueness": "held", "linkage": "held", "attributes": "undecided"}
        verdict = made.document["attacks"][-1]["verdicts"][0]
        assert verdict["number"] == 80
        assert "l-diversity" in verdict["remedy"]["english"]
        (tmp_path / "b").mkdir()
        diverse = run(tmp_path / "b", plan + 'models = [{ name = "l-diversity", l = 2 }]\n', rows=rows)
        assert outcomes(diverse.document)["attributes"] == "held"

    def test_budgets_are_not_attacked(self, tmp_path: Path) -> None:
        made = run(tmp_path, MST)
        assert "attacks" not in made.document
        assert attack_folder(tmp_path / "out", made.document) == ()

    def test_no_quasi_identifiers(self, tmp_path: Path) -> None:
        columns = COLUMNS.replace('"quasi-identifier"', '"other"')
        made = run(tmp_path, HEAD + columns + SAMPLE)
        assert outcomes(made.document) == {"linkage": "undecided"}

    def test_a_number_of_few_attributes(self, tmp_path: Path) -> None:
        rows = [*people(40), ["Q", "99", "f", "8100", "flu", "1"]]
        made = run(tmp_path, HEAD + COLUMNS + SAMPLE.replace("100", "41"), even_if_broken=True, rows=rows)
        alone = next(attack for attack in made.document["attacks"] if attack["attack"] == "uniqueness")
        published = read_people(tmp_path / "out" / "people.csv")
        ages = published.column("age").texts().tolist()
        zips = published.column("zip").texts().tolist()
        expected = sum(ages.count(age) == 1 or zips.count(zip_) == 1 for age, zip_ in zip(ages, zips, strict=True))
        assert f"{expected} with 1" in alone["summary"]["english"]


class TestFolders:
    """Attacks on a folder that is there already."""

    def folder(self, tmp_path: Path, text: str = HEAD + COLUMNS + ANONYMIZE) -> tuple[Path, Any]:
        made = run(tmp_path, text)
        return tmp_path / "out", json.loads(json.dumps(made.document))

    def test_a_promise_that_is_not_kept(self, tmp_path: Path) -> None:
        folder, document = self.folder(tmp_path)
        assert by_name(attack_folder(folder, document))["models"].outcome is AttackOutcome.HELD
        lines = (folder / "people.csv").read_text().splitlines()
        (folder / "people.csv").write_text("\n".join(lines[:2]) + "\n")
        found = by_name(attack_folder(folder, document))
        assert found["models"].outcome is AttackOutcome.BROKEN
        assert found["linkage"].outcome is AttackOutcome.UNDECIDED, "nobody knows the original"

    def test_groups_of_means_that_are_too_small(self, tmp_path: Path) -> None:
        plan = HEAD + COLUMNS + '[[steps]]\nmethod = "microaggregate"\ncolumns = ["wage"]\nk = 3\n'
        plan += '[[steps]]\nmethod = "anonymize"\nk = 3\n'
        folder, document = self.folder(tmp_path, plan)
        assert by_name(attack_folder(folder, document))["models"].outcome is AttackOutcome.HELD
        records = read_people(folder / "people.csv")
        wages = [*records.column("wage").texts().tolist()[:-1], "123456"]
        write_people(folder / "people.csv", records.with_columns(CodedColumn.of("wage", wages)), replace=True)
        found = by_name(attack_folder(folder, document))["models"]
        assert [verdict.target for verdict in found.with_outcome(AttackOutcome.BROKEN)] == ["microaggregate wage"]

    def test_an_outside_file(self, tmp_path: Path) -> None:
        made = run(tmp_path, HEAD + COLUMNS + SAMPLE, even_if_broken=True)
        outside = Records.of_columns({"age": ["37", "74"], "zip": ["8113", "8126"], "name": ["A", "B"]})
        found = by_name(attack_folder(tmp_path / "out", made.document, outside=outside))["outside"]
        published = read_people(tmp_path / "out" / "people.csv")
        pairs = list(zip(published.column("age").texts(), published.column("zip").texts(), strict=True))
        assert found.verdicts[0].number == sum(pairs.count(pair) == 1 for pair in (("37", "8113"), ("74", "8126")))
        others = Records.of_columns({"shoe size": [1]})
        nothing = by_name(attack_folder(tmp_path / "out", made.document, outside=others))["outside"]
        assert nothing.outcome is AttackOutcome.UNDECIDED

    def test_the_original_without_row_numbers(self, tmp_path: Path) -> None:
        made = run(tmp_path, HEAD + COLUMNS + SAMPLE, even_if_broken=True)
        original = read_people(tmp_path / "people.csv")
        found = by_name(attack_folder(tmp_path / "out", made.document, original=original))
        assert found["linkage"].outcome is AttackOutcome.BROKEN, "a sample of what is known: alone is right"

    @pytest.mark.parametrize("key", ["files", "columns", "steps", "models"])
    def test_reports_that_say_nothing(self, tmp_path: Path, key: str) -> None:
        folder, document = self.folder(tmp_path)
        for wrong in (None, 7, [7]):
            with pytest.raises(InputError):
                attack_folder(folder, {**document, key: wrong})


@given(st.data())
def test_exact_links_are_those_of_a_naive_attacker(data: st.DataObject) -> None:
    values = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12)
    known, published = data.draw(values), data.draw(values)
    whose = data.draw(st.lists(st.integers(0, len(known) - 1), min_size=len(published), max_size=len(published)))
    found = link_exactly(
        [CodedColumn.of(str(place), [row[place] for row in known]) for place in (0, 1)],
        [CodedColumn.of(str(place), [row[place] for row in published]) for place in (0, 1)],
        whose=np.array(whose),
    )
    sure = [row for row in published if published.count(row) == known.count(row) == 1]
    right = [row for row in sure if known[whose[published.index(row)]] == row]
    assert (found.tried, found.sure, found.right) == (len(published), len(sure), len(right))


def test_a_file_that_is_too_large_is_not_compared_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sudare.releases.kinds.records.attacking.linking.MAX_PAIRS", 8)
    column = CodedColumn.of("age", [1, 2, 3])
    assert link_nearest([column], [column], whose=np.arange(3)) is None


def test_whom_nobody_looked_for_is_undecided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = HEAD + COLUMNS + '[[steps]]\nmethod = "swap"\ncolumns = ["age", "sex", "zip"]\nshare = 1\n'
    monkeypatch.setattr("sudare.releases.kinds.records.attacking.linking.MAX_PAIRS", 8)
    made = run(tmp_path, noise, even_if_broken=True)
    linkage = next(attack for attack in made.document["attacks"] if attack["attack"] == "linkage")
    assert "too large" in " ".join(verdict["sentence"]["english"] for verdict in linkage["verdicts"])
    assert linkage["outcome"] != "held"


def test_missing_values_are_compared(tmp_path: Path) -> None:
    known, published = CodedColumn.of("age", [1, None, ""]), CodedColumn.of("age", [None, 1])
    assert link_exactly([known], [published], whose=np.array([1, 0])).right == 1


def test_the_page_has_every_attack(tmp_path: Path) -> None:
    made = run(tmp_path, HEAD + COLUMNS + ANONYMIZE)
    page = render_people_page(made.document, language="ja")
    for attack in made.document["attacks"]:
        for verdict in attack["verdicts"]:
            assert verdict["sentence"]["japanese"] in page
