"""Tables are put together by whom their cells count, or told to be about different things."""

from __future__ import annotations

import pytest

from sudare.attacks.audits.laws import NoiseLaw
from sudare.examination import views as module
from sudare.examination.views import CommonDomain, IncompatibleTables, TableView, ViewCell


def cell(**where: str) -> ViewCell:
    return ViewCell({name: frozenset(leaves.split("/")) for name, leaves in where.items()}, 0, 9, 5, "cell")


SEXES = {"sex": ("F", "M")}


def test_a_cell_counts_everybody_in_attributes_that_it_does_not_name() -> None:
    by_sex = TableView("by sex", SEXES, ())
    by_age = TableView("by age", {"age": ("young", "old"), "sex": ("M", "F")}, ())
    common = CommonDomain([by_sex, by_age])
    assert common.domain.names == ("sex", "age")
    assert common.domain.values["sex"] == ("F", "M")
    assert common.where(by_sex, cell(sex="F")) == {"sex": frozenset({"F"})}
    assert common.where(by_sex, cell()) == {}
    assert int(common.members(by_sex, cell(sex="F")).sum()) == 2
    assert int(common.members(by_age, cell(sex="F", age="old")).sum()) == 1


def test_bins_are_cut_at_the_edges_of_both_tables() -> None:
    first = TableView("first", {"age": ("0-29", "30+")}, (), {"age": (0, 30, 120)})
    second = TableView("second", {"age": ("0-39", "40-64")}, (), {"age": (0, 40, 65)})
    common = CommonDomain([first, second])
    assert common.domain.values["age"] == ("0 – 30", "30 – 40", "40 – 65", "65 – 120")
    assert common.where(second, cell(age="0-39")) == {"age": frozenset({"0 – 30", "30 – 40"})}
    # A table counts nobody outside its own bins.
    assert common.where(second, cell()) == {"age": frozenset({"0 – 30", "30 – 40", "40 – 65"})}


def test_equal_names_of_different_bins_are_different() -> None:
    first = TableView("first", {"age": ("a", "b")}, (), {"age": (0, 30, 120)})
    second = TableView("second", {"age": ("a", "b")}, (), {"age": (0, 40, 120)})
    assert len(CommonDomain([first, second]).domain.values["age"]) == 3


def test_other_values_of_an_attribute_are_told() -> None:
    other = TableView("other", {"sex": ("woman", "man")}, ())
    with pytest.raises(IncompatibleTables, match="'sex' has other values in 'other'") as told:
        CommonDomain([TableView("by sex", SEXES, ()), other])
    assert "「sex」" in told.value.words.japanese


def test_too_many_kinds_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_KINDS", 3)
    with pytest.raises(IncompatibleTables, match="4 combinations"):
        CommonDomain([TableView("a", {"a": ("1", "2"), "b": ("1", "2")}, ())])


def test_deviation() -> None:
    assert TableView("exact", SEXES, ()).deviation == 0
    assert TableView("noisy", SEXES, (), law=NoiseLaw.laplace(10)).deviation == pytest.approx(14.14, rel=0.01)
