"""What a ledger knows of a data set is found again, or told to be missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sudare import Budget, Unit
from sudare.errors import LedgerError
from sudare.examination import open_subject
from sudare.examination.known_releases import find_known_releases
from sudare.ledger import note_publication, open_ledger
from tests.unit.examination.test_subjects import report_folder
from tests.unit.examination.village import make_ledger, release
from tests.unit.ledger.helping import event_of, fingerprint


def test_releases_and_noted_publications_are_found(tmp_path: Path) -> None:
    location = make_ledger(tmp_path)
    first, second = release(tmp_path, "first"), release(tmp_path, "second", columns=(0, 1))
    noted = open_subject(report_folder(tmp_path / "noted"))
    note_publication(
        location, "village", document_sha256=noted.document_sha256, report_format="sudare-people/1", folder=noted.folder
    )
    own = open_subject(first)
    known = find_known_releases(location, "village", own.document_sha256)
    assert [subject.folder for subject in known.subjects] == [second, noted.folder]
    assert known.remarks == ()


def test_what_is_gone_changed_or_a_query_is_told(tmp_path: Path) -> None:
    location = make_ledger(tmp_path)
    first, second = release(tmp_path, "first"), release(tmp_path, "second", columns=(0, 1))
    third = release(tmp_path, "third", columns=(2,))
    shutil.rmtree(first)
    (second / "table.csv").write_text("")
    shutil.rmtree(third)
    report_folder(third)  # another publication in the same place
    with open_ledger(location) as ledger:
        reserved = ledger.reserve("village", Budget(epsilon=1), unit=Unit("person"), fingerprint=fingerprint(1))
        ledger.settle(reserved, event_of(Budget(epsilon=1)), {"answer": "abc"})
    known = find_known_releases(location, "village", "")
    assert known.subjects == ()
    told = [remark.english for remark in known.remarks]
    assert len(told) == 4
    assert all(str(folder) in sentence for folder, sentence in zip((first, second, third), told, strict=False))
    assert "1 answered question(s)" in told[-1]


def test_an_unknown_data_set(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="no data set 'town'"):
        find_known_releases(make_ledger(tmp_path), "town", "")
