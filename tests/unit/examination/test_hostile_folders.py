"""Folders that anybody may have written: refused in words, never waited for, and never taken for safe."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from sudare.attacks.verdicts import AttackOutcome
from sudare.bilingual import Words
from sudare.cli.commands.attacking import _clean
from sudare.errors import InputError
from sudare.examination import Examination, examine, linked_tables
from sudare.examination import people as people_module
from sudare.examination.described_tables import read_described_tables
from sudare.examination.findings import NotApplied
from sudare.examination.subjects import ChangedFolderError, as_stated
from sudare.microdata.records import Records
from sudare.releases.verification import printable
from tests.unit.examination.test_people import folder_of
from tests.unit.examination.village import make_ledger, protect, release


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "release.json")
    with pytest.raises(InputError, match="neither"):
        examine(tmp_path)
    os.mkfifo(tmp_path / "table.csv")
    (tmp_path / "tables.toml").write_text('[[table]]\nfile = "table.csv"\n')
    with pytest.raises(InputError, match="cannot be read"):
        examine(tmp_path / "tables.toml")


def test_nonsense_is_the_fault_of_the_report(tmp_path: Path) -> None:
    for nonsense in (KeyError("a"), OverflowError(), TypeError(), RecursionError()):
        with pytest.raises(InputError, match="does not say what it should"), as_stated(tmp_path):
            raise nonsense
    with pytest.raises(InputError, match=r"^in words"), as_stated(tmp_path):
        raise InputError("in words", "言葉で")


def test_what_would_apply_and_was_not_run_is_undecided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = Words("too large", "大きすぎる")
    (tmp_path / "ages.csv").write_text("age,count\nyoung,7\nold,9\ntotal,16\n")
    (tmp_path / "tables.toml").write_text('[[table]]\nfile = "ages.csv"\n')
    found = examine(tmp_path / "tables.toml")
    assert found.outcome is AttackOutcome.HELD
    for is_open, outcome in ((False, AttackOutcome.HELD), (True, AttackOutcome.UNDECIDED)):
        skipped = (NotApplied("interval", words, is_open),)
        assert Examination(tmp_path, "tables", "", found.reports, skipped, ()).outcome is outcome
    monkeypatch.setattr(linked_tables, "MAX_KINDS_RECONSTRUCTED", 1)
    assert examine(tmp_path / "tables.toml").outcome is AttackOutcome.UNDECIDED


def test_a_publication_that_was_not_looked_at_leaves_it_undecided(tmp_path: Path) -> None:
    make_ledger(tmp_path)
    first, second = release(tmp_path, "first"), release(tmp_path, "second")
    ledger = str(tmp_path / "budget.db")
    assert examine(first, ledger=ledger, dataset="village").outcome is AttackOutcome.HELD
    second.rename(tmp_path / "moved")
    found = examine(first, ledger=ledger, dataset="village")
    assert found.outcome is AttackOutcome.UNDECIDED
    assert not found.is_complete


def test_records_are_not_attacked_with_tables_and_that_is_told(tmp_path: Path) -> None:
    records = folder_of(tmp_path / "records", "sex,job\n" + "m,clerk\n" * 5, epsilon=1).folder
    table = protect(tmp_path, "table", 'method = "suppress"', columns=(0, 1))
    assert not examine(table, others=[records]).is_complete
    found = examine(records, others=[table])
    assert not found.is_complete
    assert "'table' was not attacked" in " ".join(remark.english for remark in found.remarks)


def test_one_that_contradicts_hides_nothing(tmp_path: Path) -> None:
    first = protect(tmp_path, "first", 'method = "suppress"', columns=(0, 1))
    damaged = protect(tmp_path, "damaged", 'method = "suppress"', columns=(0, 1))
    document = json.loads((damaged / "release.json").read_text())
    document["dimensions"] = [[]]
    (damaged / "release.json").write_text(json.dumps(document))
    with pytest.raises(ChangedFolderError, match=r"confidential\.json"):  # the holder's file knows the report
        examine(first, others=[damaged])
    (damaged / "confidential.json").unlink()
    found = examine(first, others=[damaged])
    assert found.outcome is not AttackOutcome.HELD
    assert len([remark for remark in found.remarks if "'damaged'" in remark.english]) == 1


def test_a_folder_without_its_page_is_not_examined(tmp_path: Path) -> None:
    table = protect(tmp_path, "table", 'method = "suppress"', columns=(0, 1))
    (table / "release.html").unlink()
    with pytest.raises(ChangedFolderError, match=r"release\.html is missing"):
        examine(table)


def test_of_large_files_everybody_is_found_who_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [f"job {number}" for number in range(60)]
    subject = folder_of(tmp_path / "records", "age,job\n" + "".join(f"{n % 7},{job}\n" for n, job in enumerate(jobs)))
    ages = [f"{number % 7}.0" for number in range(60)]  # the same number in other letters
    outside = Records.of_columns({"age": [*ages, "90", "1"], "job": [*jobs, "none", "other"]})
    whole = people_module.link_outside(subject, outside, ["age", "job"])
    monkeypatch.setattr(people_module, "MAX_PUBLISHED", 9)
    monkeypatch.setattr(people_module, "MAX_OUTSIDE", 70)
    some = people_module.link_outside(subject, outside, ["age", "job"])
    assert some.summary == whole.summary
    broken = {verdict.target: verdict.sentence for verdict in whole.with_outcome(AttackOutcome.BROKEN)}
    assert len(broken) == 60
    assert {verdict.target: verdict.sentence for verdict in some.with_outcome(AttackOutcome.BROKEN)} == broken
    assert len(some.with_outcome(AttackOutcome.UNDECIDED)) == 2
    monkeypatch.setattr(people_module, "MAX_OUTSIDE", 5)
    few = people_module.link_outside(subject, outside, ["age", "job"])
    assert "60 of 62" in few.summary.english
    assert "everybody else" in {verdict.target for verdict in few.with_outcome(AttackOutcome.UNDECIDED)}


def test_agreement_counts_records_and_people() -> None:
    first = Records.of_columns({"a": ["1", "2", "2", "9"]}).column("a")
    second = Records.of_columns({"a": ["3", "2", "1", "3", "9", "9"]}).column("a")
    found = people_module._Agreement.of([(first, second)])
    assert found.records.tolist() == [1, 1, 1, 2]
    assert found.is_certain.tolist() == [True, False, False, False]
    assert found.first.tolist() == [2, 1, 1, 4]
    assert found.records.dtype == np.int64


def test_a_file_without_counts_is_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("the key is 1234\n")
    (tmp_path / "link.csv").symlink_to(Path(__file__))
    for file in ("notes.txt", "link.csv"):
        (tmp_path / "tables.toml").write_text(f'[[table]]\nfile = "{file}"\n')
        with pytest.raises(InputError) as told:
            read_described_tables(tmp_path / "tables.toml")
        assert "1234" not in told.value.english + told.value.japanese
    (tmp_path / "ages.csv").write_text("age,age,count\n")
    (tmp_path / "tables.toml").write_text('[[table]]\nfile = "ages.csv"\n')
    with pytest.raises(InputError, match="It has: age, age, count"):
        read_described_tables(tmp_path / "tables.toml")


def test_letters_that_command_a_terminal_are_not_printed() -> None:
    assert printable("東京\u3000都\x1b[2J\x9b\u202e\n") == "東京\u3000都?[2J???"
    assert _clean("a" * 900) == "a" * 900
