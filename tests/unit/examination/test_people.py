"""Records of people: linked by chosen columns, and synthetic ones told apart within the bound of their budget."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from sudare import Budget
from sudare.attacks import AttackOutcome
from sudare.attacks.verdicts import AttackReport
from sudare.errors import InputError
from sudare.examination.findings import NotApplied
from sudare.examination.people import infer_membership_in_records, link_outside
from sudare.examination.subjects import Subject, open_subject
from sudare.microdata.records import Records
from tests.unit.ledger.helping import event_of


def folder_of(folder: Path, text: str, *, epsilon: float | None = None) -> Subject:
    folder.mkdir()
    (folder / "people.csv").write_text(text)
    digest = sha256(text.encode()).hexdigest()
    report = {"format": "sudare-people/1", "title": "", "files": [{"name": "people.csv", "sha256": digest}]}
    if epsilon is not None:
        report["event"] = json.loads(event_of(Budget(epsilon=epsilon)).to_json())
    (folder / "report.json").write_text(json.dumps(report))
    return open_subject(folder)


PUBLISHED = "sex,age,illness\nF,34,none\nM,51,flu\nM,20,none\nM,20,flu\n"


def test_people_are_linked_by_chosen_columns(tmp_path: Path) -> None:
    subject = folder_of(tmp_path / "f", PUBLISHED)
    outside = Records.of_columns({"name": ["Ann", "Bob", "Cat"], "sex": ["F", "M", "M"], "age": [34, 51, 20]})
    report = link_outside(subject, outside, ["sex", "age"])
    outcomes = {verdict.target: verdict.outcome for verdict in report.verdicts}
    assert report.attack == "outside"
    assert (outcomes["row 1"], outcomes["row 2"]) == (AttackOutcome.BROKEN, AttackOutcome.BROKEN)
    assert outcomes["row 3"] is not AttackOutcome.BROKEN  # two records are like this one


def test_numbers_are_compared_by_their_difference(tmp_path: Path) -> None:
    subject = folder_of(tmp_path / "f", PUBLISHED)
    outside = Records.of_columns({"age": [35, 50]})
    report = link_outside(subject, outside, ["age"])
    assert [verdict.sentence.english.split(" at ")[0] for verdict in report.verdicts] == [
        "Linked with record 0",
        "Linked with record 1",
    ]


def test_a_record_with_a_budget_is_not_called_found(tmp_path: Path) -> None:
    subject = folder_of(tmp_path / "f", PUBLISHED, epsilon=1)
    report = link_outside(subject, Records.of_columns({"sex": ["F"], "age": [34]}), ["sex", "age"])
    assert report.outcome is AttackOutcome.UNDECIDED


def test_columns_that_are_not_there_are_told(tmp_path: Path) -> None:
    subject = folder_of(tmp_path / "f", PUBLISHED)
    outside = Records.of_columns({"sex": ["F"]})
    with pytest.raises(InputError, match="no column 'age' in the outside file"):
        link_outside(subject, outside, ["sex", "age"])
    with pytest.raises(InputError, match="no column 'zip' in the published file"):
        link_outside(subject, outside, ["zip"])


class TestMembership:
    def write(self, path: Path, ages: range) -> Path:
        path.write_text("age\n" + "\n".join(str(1000 * age) for age in ages))
        return path

    def test_copied_people_refute_the_budget(self, tmp_path: Path) -> None:
        """Records that are those of the data, published as if they were synthetic."""
        subject = folder_of(tmp_path / "f", "age\n" + "\n".join(str(1000 * age) for age in range(300)), epsilon=0.1)
        data = self.write(tmp_path / "data.csv", range(300))
        others = self.write(tmp_path / "others.csv", range(1000, 1300))
        report = infer_membership_in_records(subject, data, others, by_chance=True)
        assert isinstance(report, AttackReport)
        assert report.outcome is AttackOutcome.BROKEN
        assert "Coins decided who is in" in report.summary.english
        without_coins = infer_membership_in_records(subject, data, others)
        assert isinstance(without_coins, AttackReport)
        assert without_coins.outcome is AttackOutcome.UNDECIDED  # the others may be different people

    def test_records_of_nobody_hold(self, tmp_path: Path) -> None:
        subject = folder_of(tmp_path / "f", "age\n5\n7\n", epsilon=0.1)
        data = self.write(tmp_path / "data.csv", range(0, 300, 2))
        others = self.write(tmp_path / "others.csv", range(1, 300, 2))
        report = infer_membership_in_records(subject, data, others)
        assert isinstance(report, AttackReport)
        assert report.outcome is AttackOutcome.HELD

    def test_what_is_needed_is_told(self, tmp_path: Path) -> None:
        subject = folder_of(tmp_path / "f", "age\n5\n7\n", epsilon=1)
        data = self.write(tmp_path / "data.csv", range(3))
        assert isinstance(infer_membership_in_records(subject, data, None), NotApplied)
        single = self.write(tmp_path / "single.csv", range(1))
        assert isinstance(infer_membership_in_records(subject, data, single), NotApplied)
        (tmp_path / "other.csv").write_text("zip\n1\n2\n")
        with pytest.raises(InputError, match="no column 'age' in the file of other people"):
            infer_membership_in_records(subject, data, tmp_path / "other.csv")

    def test_missing_values_are_categories(self, tmp_path: Path) -> None:
        subject = folder_of(tmp_path / "f", "age,sex\n5,F\n,M\n", epsilon=1)
        for name in ("data", "others"):
            (tmp_path / f"{name}.csv").write_text("age,sex\n5,F\n,M\n7,F\n")
        report = infer_membership_in_records(subject, tmp_path / "data.csv", tmp_path / "others.csv")
        assert isinstance(report, AttackReport)
