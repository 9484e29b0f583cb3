"""Series from the command line: plan, one tick, a service, closing; in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from sudare.ledger import open_ledger
from tests.unit.cli.conftest import Run
from tests.unit.releases.kinds.series.crowds import build_series, file_of


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return build_series(tmp_path).file


def spent(folder: Path) -> str:
    with open_ledger(folder / "budget.db") as ledger:
        return str(ledger.dataset("crowds").remaining)


def test_a_plan_tells_promise_cost_and_accuracy(run: Run, plan: Path) -> None:
    for language, words in (
        ("en", ("one person", "a table every", "fresh", "7 windows rho = 3.5", "stay where they were last counted")),
        ("ja", ("公表の間隔", "毎回新規", "7 期間 rho = 3.5", "最後に数えた場所に留まります")),
    ):
        shown = run("plan", plan, "--plan-only", "--lang", language)
        assert shown.code == 0, shown.err
        for word in words:
            assert word in shown.out
    values = run("plan", plan, "--plan-only", "--json").json
    assert values["kind"] == "series"
    assert len(values["strategies"]) == len(values["moves"])
    assert all(error["deviation"] <= error["fresh"] * 1.001 for error in values["errors"])
    assert spent(plan.parent) == "rho = 2"


def test_the_first_tick_asks_and_is_charged_and_later_ones_are_free(run: Run, plan: Path) -> None:
    refused = run("run", plan, "--at", "2026-11-16T00:00")
    assert refused.code != 0
    assert "--yes" in refused.err
    assert spent(plan.parent) == "rho = 2"
    first = run("run", plan, "--at", "2026-11-16T00:00", "--yes", "--json").json
    assert first["charged"] == {"rho": "0.5"}
    assert first["tick"]["number"] == 0
    second = run("run", plan, "--at", "2026-11-16T06:00", "--json").json
    assert second["charged"] is None
    again = run("run", plan, "--at", "2026-11-16T06:00", "--lang", "ja")
    assert again.code == 0
    assert "公表済み" in again.err
    assert spent(plan.parent) == "rho = 1.5"


@pytest.mark.parametrize(
    ("arguments", "english", "japanese"),
    [
        (("--at", "noon"), "A moment is written like", "日時は"),
        (("--at", "2026-11-16T01:00"), "is no tick", "時点ではありません"),
        (("--at", "2096-11-16T00:00"), "not over before", "終わりません"),
    ],
)
def test_moments_that_cannot_be_are_refused(
    run: Run, plan: Path, arguments: tuple[str, ...], english: str, japanese: str
) -> None:
    for language, words in (("en", english), ("ja", japanese)):
        shown = run("run", plan, *arguments, "--yes", "--lang", language)
        assert shown.code != 0
        assert words in shown.err
    assert spent(plan.parent) == "rho = 2"


def test_a_failed_tick_says_what_became_of_its_window(run: Run, plan: Path) -> None:
    file_of(plan.parent, 0).unlink()
    for language, words in (("en", "stays reserved (ledger entry 2)"), ("ja", "予約されたままです（台帳の項目 2）")):
        shown = run("run", plan, "--at", "2026-11-16T00:00", "--yes", "--lang", language)
        assert shown.code != 0
        assert words in shown.err.replace("\n", " " if language == "en" else "")
    assert spent(plan.parent) == "rho = 1.5"


def test_a_service_publishes_a_day_and_closes_it(run: Run, plan: Path) -> None:
    watched = run("series", "watch", plan, "--from", "2026-11-16T00:00", "--until", "2026-11-16T18:00", "--yes")
    assert watched.code == 0, watched.err
    assert watched.err.count("Published 2026-11-16") == 4
    assert watched.err.count("Closed the window that began at 2026-11-16 00:00") == 1
    nothing = run("series", "close", plan, "--lang", "ja")
    assert "開いている期間はありません" in nothing.err
    report = plan.parent / "out/date=2026-11-16/report"
    checked = run("verify", report, "--ledger", plan.parent / "budget.db")
    assert checked.code == 0, checked.out
    assert not list((plan.parent / "out-state").iterdir())


def test_a_window_can_be_closed_by_hand(run: Run, plan: Path) -> None:
    assert run("run", plan, "--at", "2026-11-16T00:00", "--yes").code == 0
    refused = run("series", "close", plan, "--window", "2026-11-16T00:00")
    assert "--yes" in refused.err
    closed = run("series", "close", plan, "--json").json
    assert closed == {"closed": ["2026-11-16 00:00"]}
    late = run("run", plan, "--at", "2026-11-16T06:00", "--lang", "ja")
    assert late.code != 0
    assert "閉" in late.err or "確定" in late.err


def test_a_last_tick_whose_window_cannot_be_closed_says_so(run: Run, plan: Path) -> None:
    """The tick is published; whatever lies in the place of the report is left alone."""
    (plan.parent / "out/date=2026-11-16/report").mkdir(parents=True)
    for language, words in (("en", "The tick was published"), ("ja", "この時点は公表済みです")):
        shown = run("run", plan, "--at", "2026-11-16T18:00", "--yes", "--lang", language)
        assert shown.code != 0
        said = " ".join(shown.err.split())
        assert words in (said if language == "en" else said.replace(" ", ""))
        assert "sudare series close plan.toml" in " ".join(said.split())
    (plan.parent / "out/date=2026-11-16/report").rmdir()
    closed = run("run", plan, "--at", "2026-11-16T18:00", "--lang", "ja")
    assert closed.code == 0
    assert "期間を閉じ" in closed.err


def test_at_is_for_series_alone(run: Run, town: Path) -> None:
    shown = run("run", town / "plan.toml", "--at", "2026-11-16T00:00", "--yes")
    assert shown.code != 0
    assert "--at is for plans of series" in shown.err


def test_an_attack_on_a_tick_knows_the_others_by_the_ledger(run: Run, plan: Path) -> None:
    watched = run("series", "watch", plan, "--from", "2026-11-16T12:00", "--until", "2026-11-16T18:00", "--yes")
    assert watched.code == 0, watched.err
    tick = plan.parent / "out/date=2026-11-16/time=1200"
    for language, words in (
        ("en", "over 2 published tick(s) of 1 window(s)"),
        ("ja", "公表済み 2 時点を最適に平均すると"),
    ):
        shown = run("attack", tick, "--ledger", plan.parent / "budget.db", "--dataset", "crowds", "--lang", language)
        assert shown.code == 0, shown.err
        assert words in shown.out.replace("\n", " " if language == "en" else ""), shown.out
        assert "not there any more" not in shown.out
