"""Reconstruction, differencing and averaging of tables: what is determined is found, and what is not is not claimed."""

from __future__ import annotations

import pytest

from sudare.attacks import AttackOutcome, NoiseLaw
from sudare.attacks.verdicts import AttackReport
from sudare.examination import linked_tables
from sudare.examination.findings import NotApplied
from sudare.examination.linked_tables import average_views, difference_views, reconstruct_views, with_different_names
from sudare.examination.views import TableView, ViewCell

LEAVES = {"age": ("young", "middle", "old")}


def cell(count: int | None, *ages: str, low: int = 1, high: int | None = 2) -> ViewCell:
    where = {"age": frozenset(ages)} if ages else {}
    label = " or ".join(ages) or "all"
    return ViewCell(where, low, high, None, label) if count is None else ViewCell(where, count, count, count, label)


def table(*cells: ViewCell, name: str = "table", law: NoiseLaw | None = None) -> TableView:
    return TableView(name, LEAVES, cells, law=law)


def report_of(found: AttackReport | NotApplied) -> AttackReport:
    assert isinstance(found, AttackReport), found
    return found


class TestReconstruction:
    def test_a_hidden_count_that_is_the_rest_of_a_total_is_found(self) -> None:
        view = table(cell(9), cell(4, "young"), cell(3, "middle"), cell(None, "old"))
        report = report_of(reconstruct_views([view], seconds=20))
        broken = report.with_outcome(AttackOutcome.BROKEN)
        assert [verdict.target for verdict in broken] == ["age old"]  # the hidden cell is one kind of people
        assert "1 of 1 hidden counts are determined and small" in report.summary.english

    def test_two_hidden_counts_cover_each_other(self) -> None:
        view = table(cell(9), cell(6, "young"), cell(None, "middle"), cell(None, "old"))
        report = report_of(reconstruct_views([view], seconds=20))
        assert report.outcome is AttackOutcome.HELD
        assert "2 data set(s) fit" in report.summary.english

    def test_a_hidden_group_of_several_kinds_is_found(self) -> None:
        view = table(cell(9), cell(7, "young"), cell(None, "middle", "old"))
        report = report_of(reconstruct_views([view], seconds=20))
        assert [verdict.target for verdict in report.with_outcome(AttackOutcome.BROKEN)] == ["middle or old"]

    def test_a_large_hidden_count_is_no_break(self) -> None:
        view = table(cell(90), cell(40, "young"), cell(30, "middle"), cell(None, "old", low=0, high=None))
        assert report_of(reconstruct_views([view], seconds=20)).outcome is AttackOutcome.HELD

    def test_tables_together_tell_what_neither_does(self) -> None:
        one = table(cell(9), cell(6, "young"), cell(None, "middle"), cell(None, "old"), name="one")
        two = table(cell(7, "young", "middle"), name="two")
        assert report_of(reconstruct_views([one], seconds=20)).outcome is AttackOutcome.HELD
        report = report_of(reconstruct_views([one, two], seconds=20))
        assert {verdict.target for verdict in report.with_outcome(AttackOutcome.BROKEN)} == {"age middle", "age old"}

    def test_without_any_bound_it_does_not_apply(self) -> None:
        found = reconstruct_views([table(cell(4, "young"))], seconds=20)
        assert isinstance(found, NotApplied)
        assert "no total" in found.reason.english

    def test_large_tables_are_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(linked_tables, "MAX_KINDS_RECONSTRUCTED", 2)
        found = reconstruct_views([table(cell(4))], seconds=20)
        assert isinstance(found, NotApplied)
        assert "too large" in found.reason.english

    def test_time_that_runs_out_is_undecided(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from sudare.attacks.tables.solver import IntegerProgram, SolverFailure

        def fails(*_: object, **__: object) -> None:
            raise SolverFailure("no time")

        monkeypatch.setattr(IntegerProgram, "solutions", fails)
        view = table(cell(9), cell(None, "old"))
        assert report_of(reconstruct_views([view], seconds=1)).outcome is AttackOutcome.UNDECIDED


class TestDifferencing:
    def test_nested_areas_of_two_tables_leave_one_person(self) -> None:
        one, two = table(cell(120), name="2024"), table(cell(119, "young", "middle"), name="2025")
        report = report_of(difference_views([one, two]))
        assert report.verdicts[0].target == "2024: all - 2025: young or middle"
        assert report.outcome is AttackOutcome.BROKEN

    def test_noise_hides_the_difference(self) -> None:
        law = NoiseLaw.laplace(5)
        one, two = table(cell(120), name="a", law=law), table(cell(119, "young"), name="b", law=law)
        assert report_of(difference_views([one, two])).outcome is AttackOutcome.HELD

    def test_large_tables_are_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(linked_tables, "MAX_MEMBERSHIPS", 2)
        assert isinstance(difference_views([table(cell(4))]), NotApplied)

    def test_cells_of_one_name_are_kept_apart(self) -> None:
        view = table(cell(4, "young"), cell(4, "young"))
        assert report_of(difference_views([view])).outcome is AttackOutcome.HELD


class TestAveraging:
    def test_many_answers_wear_noise_off(self) -> None:
        law = NoiseLaw.laplace(1)
        answers = [3, 2, 4, 3, 3, 2, 3, 5, 3, 1] * 6
        views = [table(cell(count, "old"), name=f"{number}", law=law) for number, count in enumerate(answers)]
        once, often = (report_of(average_views(some)) for some in (views[:1], views))
        assert once.outcome is AttackOutcome.HELD
        assert often.outcome is AttackOutcome.BROKEN
        assert {verdict.target for verdict in often.with_outcome(AttackOutcome.BROKEN)} == {"old", "the sharpest count"}
        assert "from 60 answer(s) together" in often.summary.english

    def test_cells_of_different_releases_are_judged_by_their_own_noise(self) -> None:
        wide = table(cell(30, "old"), cell(8, "young"), name="wide", law=NoiseLaw.laplace(20))
        narrow = table(cell(10, "old"), name="narrow", law=NoiseLaw.laplace(0.1))
        report = report_of(average_views([wide, narrow, table(cell(5))]))
        by_target = {verdict.target: verdict for verdict in report.verdicts}
        assert by_target["old"].outcome is AttackOutcome.BROKEN
        assert "guessed as 10" in by_target["old"].sentence.english
        assert by_target["young"].outcome is AttackOutcome.HELD

    def test_without_noise_it_does_not_apply(self) -> None:
        assert isinstance(average_views([table(law=NoiseLaw.laplace(1))]), NotApplied)


def test_names_are_made_different() -> None:
    named = with_different_names([table(name="a"), table(name="b"), table(name="a")])
    assert [view.name for view in named] == ["a", "b", "a (2)"]
