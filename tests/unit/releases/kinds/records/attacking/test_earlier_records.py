"""Records are attacked together with the records that the ledger knows to have been published about the same people."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sudare.attacks.verdicts import AttackOutcome
from sudare.errors import InputError
from sudare.examination import examine
from sudare.ledger import open_ledger
from sudare.releases.kinds.records import ProtectedPeople, read_people_plan, run_people_plan, verify_people
from tests.unit.releases.kinds.records.town import ANONYMIZE, COLUMNS, HEAD, build_town

NOTED = '\n[ledger]\nlocation = "budget.db"\ndataset = "town"\n'
BY_AGE = COLUMNS.replace("highest = 80 }", "highest = 80 }\nlevel = 1").replace("mask = {}", "mask = {}\nlevel = 4")
"""Ages by ten years, and no postal codes."""
BY_ZIP = COLUMNS.replace("highest = 80 }", "highest = 80 }\nlevel = 3").replace("mask = {}", "mask = {}\nlevel = 1")
"""Postal codes to three digits, and no ages."""


def carry_out(
    folder: Path, columns: str, name: str, ledger: str = NOTED, *, even_if_broken: bool = False
) -> ProtectedPeople:
    plan = read_people_plan(build_town(folder, HEAD + columns + ANONYMIZE + ledger), folder / name)
    return run_people_plan(plan, even_if_broken=even_if_broken)


def outcome(made: ProtectedPeople, attack: str = "earlier") -> AttackOutcome | None:
    return next((report.outcome for report in made.attacks if report.attack == attack), None)


def test_records_that_undo_those_of_the_ledger_are_refused(tmp_path: Path) -> None:
    """Wages tell whose record is whose in both files; ages of one and postal codes of the other together tell who it is."""
    carry_out(tmp_path, BY_AGE, "before")
    with pytest.raises(InputError, match=r"earlier.*fewer than k = 4"):
        carry_out(tmp_path, BY_ZIP, "after")
    assert not (tmp_path / "after").exists()
    assert not list(tmp_path.glob(".*partial*"))
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert len(ledger.publications("town")) == 1
    carry_out(tmp_path, BY_ZIP, "unnoted", "")  # without the ledger nobody knows of the first: the control


def test_what_is_published_all_the_same_says_so(tmp_path: Path) -> None:
    carry_out(tmp_path, BY_AGE, "before")
    made = carry_out(tmp_path, BY_ZIP, "after", even_if_broken=True)
    assert made.document["even_if_broken"] is True
    assert outcome(made) is AttackOutcome.BROKEN
    assert {check.outcome for check in verify_people(tmp_path / "after")} <= {"passed", "skipped"}
    assert "Together with earlier records" in (tmp_path / "after" / "release.html").read_text(encoding="utf-8")


def test_the_same_again_adds_nothing(tmp_path: Path) -> None:
    carry_out(tmp_path, BY_AGE, "before")
    assert outcome(carry_out(tmp_path, BY_AGE, "after")) is AttackOutcome.HELD


def test_coarser_than_before_adds_nothing(tmp_path: Path) -> None:
    """The levels differ, and are compared by the hierarchies of the plan."""
    carry_out(tmp_path, BY_AGE, "before")
    coarser = BY_AGE.replace("level = 1", "level = 2")
    assert outcome(carry_out(tmp_path, coarser, "after")) is AttackOutcome.HELD


def test_without_a_column_that_links_both(tmp_path: Path) -> None:
    columns = BY_AGE.replace('[columns.wage]\nrole = "other"', '[columns.wage]\nrole = "identifier"')
    carry_out(tmp_path, columns, "before")
    made = carry_out(
        tmp_path, BY_ZIP.replace('[columns.wage]\nrole = "other"', '[columns.wage]\nrole = "identifier"'), "after"
    )
    assert outcome(made) is AttackOutcome.HELD


def test_what_is_gone_or_of_another_kind_is_told(tmp_path: Path) -> None:
    carry_out(tmp_path, BY_AGE, "before")
    shutil.rmtree(tmp_path / "before")
    made = carry_out(tmp_path, BY_ZIP, "after")
    assert made.lost == (str(tmp_path / "before"),)
    assert outcome(made) is None


def test_records_that_share_no_column_are_left_out(tmp_path: Path) -> None:
    other = '[columns.age]\nrole = "quasi-identifier"\nintervals = { widths = [10, 20], whole = true, highest = 80 }\n'
    (tmp_path / "b").mkdir()
    carry_out(tmp_path, BY_AGE, "before")
    rest = BY_ZIP[BY_ZIP.index("[columns.zip]") : BY_ZIP.index("[columns.illness]")]
    plan = HEAD + 'others = "drop"\n' + other + ANONYMIZE + NOTED
    run_people_plan(read_people_plan(build_town(tmp_path, plan), tmp_path / "ages"))
    plan = HEAD + 'others = "drop"\n' + rest + ANONYMIZE + NOTED
    made = run_people_plan(read_people_plan(build_town(tmp_path, plan), tmp_path / "zips"))
    assert str(tmp_path / "ages") in made.left_out


def test_attacked_again_if_something_else_was_published_meanwhile(tmp_path: Path) -> None:
    first = read_people_plan(build_town(tmp_path, HEAD + BY_AGE + ANONYMIZE + NOTED), tmp_path / "first")
    second = read_people_plan(build_town(tmp_path, HEAD + BY_ZIP + ANONYMIZE + NOTED), tmp_path / "second")
    begun: list[str] = []

    def meanwhile(stage: str, share: float | None) -> None:
        begun.append(stage)
        if stage == "attack" and begun.count("attack") == 1:
            run_people_plan(first)

    with pytest.raises(InputError, match="earlier"):
        run_people_plan(second, progress=meanwhile)
    assert begun.count("attack") == 2
    assert not (tmp_path / "second").exists()
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert len(ledger.publications("town")) == 1


def test_whoever_examines_both_sees_the_same(tmp_path: Path) -> None:
    carry_out(tmp_path, BY_AGE, "before", "")
    carry_out(tmp_path, BY_ZIP, "after", "")
    alone, both = examine(tmp_path / "after"), examine(tmp_path / "after", others=[tmp_path / "before"])
    assert alone.report("earlier") is None
    assert alone.outcome is not AttackOutcome.BROKEN
    found = both.report("earlier")
    assert found is not None
    assert found.outcome is both.outcome is AttackOutcome.BROKEN
