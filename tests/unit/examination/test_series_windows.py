"""Ticks of a series as somebody reads them who averages: as sharp as the window paid for, never sharper."""

from __future__ import annotations

import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sudare import Budget
from sudare.attacks.verdicts import AttackOutcome
from sudare.domain import CountTable
from sudare.examination import examine
from sudare.examination.series_windows import PublishedWindow, average_windows, remarks_on_windows
from sudare.privacy import ReleaseEvent, Unit
from sudare.privacy.series_measurements import SeriesMeasurement
from sudare.privacy.unit import ProtectedTime
from sudare.series.planning import plan_series
from tests.unit.releases.kinds.series.crowds import Crowds, build_crowds

MAP = CountTable.from_dense(np.zeros((4, 4), dtype=np.int64)).domain


def window(event: ReleaseEvent, ticks: int, name: str = "a") -> PublishedWindow:
    return PublishedWindow(name=name, begins=f"2026-11-16T00:0{name}", event=event, ticks=frozenset(range(ticks)))


@pytest.mark.parametrize("strategy", [None, "fresh", "moves", "square-root"])
@pytest.mark.parametrize("moves", [0, 3])
def test_the_average_of_a_window_is_that_of_its_measurements(strategy: str | None, moves: int) -> None:
    """Found again by least squares: one unknown, all measured numbers of the nodes above it, noise of each level."""
    design = plan_series(MAP, Budget(rho=0.5), ticks=6, moves=moves, strategy=strategy)
    best = 0.0
    for first in range(6):
        seen = [np.array(level.strategy.coefficients, dtype=float)[: 6 - first] for level in design.levels]
        column = np.concatenate(seen)
        weights = np.concatenate([np.full(6 - first, 1 / float(level.measurement.spread)) for level in design.levels])
        best = max(best, float(column @ (weights * column)))
    assert window(design.event(), 6).sharpness() == pytest.approx(best)


@pytest.mark.parametrize("budget", [Budget(rho=0.1), Budget(rho=1), Budget(epsilon=1, delta=1e-6)])
def test_no_sound_window_is_an_alarm_however_many_ticks_it_has(budget: Budget) -> None:
    design = plan_series(MAP, budget, ticks=48, moves=2)
    looks = [window(design.event(), ticks).sharpness() for ticks in (1, 12, 48)]
    assert looks == sorted(looks)
    for count in (1, 3):
        found = average_windows([window(design.event(), 48, str(number)) for number in range(count)])
        assert found.outcome is AttackOutcome.HELD, found.verdicts[0].sentence.english
        assert len(found.verdicts) == (1 if count == 1 else count + 1)


def test_noise_that_does_not_carry_a_window_is_found() -> None:
    """The control: each tick drawn afresh with the noise of one table, as if a window were a single release."""
    design = plan_series(MAP, Budget(rho=0.1), ticks=48, moves=2, strategy="fresh")
    event = design.event()
    small = tuple(
        replace(one, spread=one.spread / 48) for one in event.measurements if isinstance(one, SeriesMeasurement)
    )
    assert len(small) == len(event.measurements)
    wrong = replace(event, measurements=event.measurements)
    object.__setattr__(wrong, "measurements", small)
    found = average_windows([window(wrong, 48)])
    assert found.outcome is AttackOutcome.BROKEN
    assert "allows" in found.verdicts[0].sentence.english
    assert average_windows([window(event, 48)]).outcome is AttackOutcome.HELD


def test_of_events_one_appearance_is_held_and_many_are_told_of() -> None:
    unit = Unit("person", time=ProtectedTime("event"))
    design = plan_series(MAP, Budget(rho=Fraction(1, 2)), ticks=16, moves=0, who=unit.who, span="event")
    one = window(design.event(), 16)
    assert average_windows([one]).outcome is AttackOutcome.HELD
    (remark,) = remarks_on_windows([one])
    assert "16 published ticks" in remark.english
    assert remarks_on_windows([window(design.event(), 1)]) == []


@pytest.fixture(scope="module")
def crowds(tmp_path_factory: pytest.TempPathFactory) -> Crowds:
    made = build_crowds(tmp_path_factory.mktemp("crowds"))
    made.run(0, 1, 3)
    return made


def test_a_tick_is_examined_with_all_that_the_ledger_knows(crowds: Crowds) -> None:
    alone = examine(crowds.tick(0))
    assert (alone.kind, alone.outcome) == ("tick", AttackOutcome.HELD)
    known = examine(crowds.tick(0), ledger=crowds.ledger, dataset="crowds")
    assert known.outcome is AttackOutcome.HELD
    assert not [remark for remark in known.remarks if "not there any more" in remark.english]
    reports = [found.report("ticks") for found in (alone, known)]
    assert all(report is not None for report in reports)
    one, three = (report.verdicts[0] for report in reports if report is not None)
    assert one.sentence.english.startswith("1 tick")
    assert three.sentence.english.startswith("3 tick")
    assert three.number < one.number, "more ticks are sharper"
    together = examine(crowds.tick(0), others=[crowds.tick(1), crowds.tick(3)])
    assert together.report("ticks") == known.report("ticks")


def test_the_report_of_a_window_stands_for_its_ticks(crowds: Crowds) -> None:
    found = examine(crowds.report)
    assert (found.kind, found.outcome) == ("series-day", AttackOutcome.HELD)
    known = examine(crowds.tick(0), ledger=crowds.ledger, dataset="crowds")
    assert found.report("ticks") == known.report("ticks")


def test_ticks_whose_folders_are_gone_were_published_all_the_same(crowds: Crowds, tmp_path: Path) -> None:
    before = examine(crowds.tick(0), ledger=crowds.ledger, dataset="crowds").report("ticks")
    shutil.move(crowds.tick(1), tmp_path / "away")
    try:
        assert examine(crowds.tick(0), ledger=crowds.ledger, dataset="crowds").report("ticks") == before
    finally:
        shutil.move(tmp_path / "away", crowds.tick(1))


def test_a_tick_that_was_changed_is_not_examined(crowds: Crowds, tmp_path: Path) -> None:
    from sudare.examination import ChangedFolderError

    shutil.copytree(crowds.tick(0), tmp_path / "tick")
    (tmp_path / "tick/table.parquet").write_bytes(b"other")
    with pytest.raises(ChangedFolderError):
        examine(tmp_path / "tick")
