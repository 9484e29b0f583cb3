"""Tables protected by disclosure control: read as an outsider reads them, with all that their report gives away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sudare.examination import protected_tables
from sudare.examination.protected_tables import view_of_protected_table
from sudare.examination.subjects import Subject, open_subject
from sudare.examination.views import IncompatibleTables
from tests.unit.examination.village import COUNTS, protect


def subject(folder: Path, protection: str = 'method = "suppress"\nsecondary = false') -> Subject:
    return open_subject(protect(folder, "protected", protection))


def test_hidden_counts_lie_below_the_threshold_where_nothing_else_is_hidden(tmp_path: Path) -> None:
    view = view_of_protected_table(subject(tmp_path))
    assert view.threshold == 3
    assert set(view.leaves["age"]) == {"0-19", "20-39", "40-64", "65+"}
    assert len(view.cells) == 3 * 5 * 4
    by_label = {cell.label: cell for cell in view.cells}
    assert by_label["total"].count == 48
    for (sex, age, work), count in COUNTS.items():
        cell = by_label[f"sex {sex}, age {age}, work {work}"]
        assert cell.count == (None if count < 3 else count)
        assert cell.low <= count <= (cell.high or 0)
        assert cell.where == {"sex": frozenset({sex}), "age": frozenset({age}), "work": frozenset({work})}
    hidden = by_label["sex F, age 20-39, work farm"]
    assert (hidden.low, hidden.high) == (1, 2)


def test_other_hidden_counts_have_no_bound(tmp_path: Path) -> None:
    view = view_of_protected_table(open_subject(protect(tmp_path, "p", 'method = "suppress"', columns=(1, 2))))
    hidden = [cell for cell in view.cells if cell.count is None]
    assert len(hidden) >= 4
    assert {(cell.low, cell.high) for cell in hidden} == {(0, None)}


def test_rounded_counts_are_ranges(tmp_path: Path) -> None:
    view = view_of_protected_table(subject(tmp_path, 'method = "round"\nbase = 3'))
    assert all(cell.count is None for cell in view.cells)
    by_label = {cell.label: cell for cell in view.cells}
    for (sex, age, work), count in COUNTS.items():
        cell = by_label[f"sex {sex}, age {age}, work {work}"]
        assert cell.low <= count <= (cell.high or 0)


def test_what_is_no_table_of_counts_or_too_large_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = subject(tmp_path)
    amounts = replace(found, document={**found.document, "value": {"is_count": False}})
    with pytest.raises(IncompatibleTables, match="no table of counts"):
        view_of_protected_table(amounts)
    monkeypatch.setattr(protected_tables, "MAX_CELLS", 10)
    with pytest.raises(IncompatibleTables, match="60 cells"):
        view_of_protected_table(found)


def test_without_a_rule_three_is_taken(tmp_path: Path) -> None:
    found = subject(tmp_path)
    assert view_of_protected_table(replace(found, document={**found.document, "rules": []})).threshold == 3
