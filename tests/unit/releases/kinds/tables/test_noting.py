"""What a ledger knows of tables and records without a guarantee, and what follows for the next one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sudare.errors import InputError, LedgerError
from sudare.ledger import open_ledger
from sudare.privacy import Budget, Unit
from sudare.releases.kinds.records import read_people_plan, run_people_plan
from sudare.releases.kinds.tables import read_table_plan, run_table_plan
from sudare.storage.hashes import hash_of_file
from tests.unit.releases.kinds.records.town import ANONYMIZE, COLUMNS, HEAD, build_town
from tests.unit.releases.kinds.tables.firms import RULES, WHOLE, build_firms

NOTED = '\n[ledger]\nlocation = "budget.db"\ndataset = "firms"\n'


@pytest.fixture
def office(tmp_path: Path) -> Path:
    with open_ledger(tmp_path / "budget.db", create=True) as ledger:
        ledger.add_dataset("firms", Budget(epsilon=1), unit=Unit())
    return tmp_path


def carry_out(folder: Path, plan: str, name: str) -> tuple[str, ...]:
    return run_table_plan(read_table_plan(build_firms(folder, plan), folder / name)).lost


def test_a_publication_is_noted_at_no_cost(office: Path) -> None:
    carry_out(office, WHOLE + NOTED, "out")
    with open_ledger(office / "budget.db") as ledger:
        ((_, noted),) = ledger.publications("firms")
        assert ledger.dataset("firms").remaining == Budget(epsilon=1)
        assert ledger.verify() == []
    assert (noted.folder, noted.title) == (str(office / "out"), "Firms by region and trade")
    assert noted.document_sha256 == hash_of_file(office / "out" / "release.json")


def test_a_table_that_undoes_one_in_the_ledger_is_refused(office: Path) -> None:
    carry_out(office, WHOLE + NOTED, "before")
    lax = WHOLE.replace(RULES, "[rules]\nthreshold = 1\n")
    with pytest.raises(InputError, match="The attack 'earlier' breaks"):
        carry_out(office, lax + NOTED, "after")
    assert not (office / "after").exists()
    with open_ledger(office / "budget.db") as ledger:
        assert len(ledger.publications("firms")) == 1
    carry_out(office, lax, "unnoted")  # without the ledger nobody knows of the first: the control


def test_a_publication_that_is_gone_is_told(office: Path) -> None:
    carry_out(office, WHOLE + NOTED, "before")
    shutil.rmtree(office / "before")
    assert carry_out(office, WHOLE + NOTED, "after") == (str(office / "before"),)


def test_a_ledger_that_does_not_know_the_data(office: Path) -> None:
    with pytest.raises(LedgerError):
        carry_out(office, WHOLE + NOTED.replace('"firms"', '"others"'), "out")
    assert not (office / "out").exists()


def test_records_are_noted_too(tmp_path: Path) -> None:
    noted = '\n[ledger]\nlocation = "budget.db"\ndataset = "town"\n'
    run_people_plan(read_people_plan(build_town(tmp_path, HEAD + COLUMNS + ANONYMIZE + noted), tmp_path / "out"))
    with open_ledger(tmp_path / "budget.db") as ledger:
        ((_, entry),) = ledger.publications("town")
    assert entry.format == "sudare-people/1"
    assert entry.document_sha256 == hash_of_file(tmp_path / "out" / "release.json")


def test_records_are_not_read_if_the_ledger_cannot_be_used(tmp_path: Path) -> None:
    noted = '\n[ledger]\nlocation = "budget.db"\ndataset = "village"\n'
    plan = read_people_plan(build_town(tmp_path, HEAD + COLUMNS + ANONYMIZE + noted), tmp_path / "out")
    (tmp_path / "people.csv").unlink()
    with pytest.raises(LedgerError):
        run_people_plan(plan)
