"""Plans of series: what they may say, and what each mistake is answered with, in both languages."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import pytest

from sudare.errors import PlanError
from sudare.privacy.unit import ProtectedTime
from sudare.releases.kinds.series.plan_file import READING_KEYS, SERIES_KEYS, WRITTEN_KEYS, SeriesPlan, read_series_plan
from tests.unit.releases.kinds.series.crowds import PLAN


def read(folder: Path, text: str = PLAN) -> SeriesPlan:
    (folder / "plan.toml").write_text(text.replace("LOCATION", "budget.db"), encoding="utf-8")
    return read_series_plan(folder / "plan.toml")


def test_a_plan_says_what_is_published(tmp_path: Path) -> None:
    plan = read(tmp_path)
    assert plan.unit.time == ProtectedTime("person-day", plan.clock.ticks)
    tick = plan.clock.tick_of(plan.clock.start, 2)
    at = plan.at(tick)
    assert at.folder == tmp_path / "out" / f"date={tick.date}" / f"time={tick.time}"
    assert at.source.paths == (str(tmp_path / f"rows/{tick.date}/{tick.time}.parquet"),)
    assert plan.design.ticks == plan.clock.ticks
    assert plan.design.event().cost == plan.budget


def test_fingerprints_tell_windows_ticks_and_plans_apart(tmp_path: Path) -> None:
    plan, other = read(tmp_path), read(tmp_path, PLAN.replace("moves = ", "moves = 1"))
    first, second = (plan.clock.tick_of(plan.clock.start, number) for number in (0, 1))
    next_window = plan.clock.tick_of(plan.clock.start + plan.clock.window, 0)
    ticks = {one.at(tick).fingerprint() for one in (plan, other) for tick in (first, second, next_window)}
    assert len(ticks) == 6
    assert plan.at(first).window_fingerprint == plan.at(second).window_fingerprint
    assert plan.at(first).window_fingerprint != plan.at(next_window).window_fingerprint


def test_a_query_has_the_tick_in_its_blanks(tmp_path: Path) -> None:
    query = """query = "SELECT * FROM 'all.parquet' WHERE t >= '{start}' AND t < '{end}' AND x = '{other}'\""""
    text = PLAN.replace('path = "rows/{date}/{time}.parquet"', query)
    assert query in text
    plan = read(tmp_path, text)
    at = plan.at(plan.clock.tick_at(datetime(2026, 11, 16, 6)))
    assert "t >= '2026-11-16 06:00:00' AND t < '2026-11-16 12:00:00' AND x = '{other}'" in str(at.source.query)


@pytest.mark.parametrize(
    ("old", "new", "english", "japanese"),
    [
        ('every = "6 hours"', 'every = "often"', "'every' in section [series] must be a period", "「every」"),
        (
            'window = "1 day"',
            'window = "7 hours"',
            "'window' in section [series] must be a multiple of 'every'",
            "整数倍",
        ),
        ('protects = "person-day"', 'protects = "person"', "must be one of", "いずれか"),
        ('protects = "person-day"', "", "'protects' in section [series] is missing", "がありません"),
        ("start = 2026-11-16", 'start = "tomorrow"', "must be a day or a moment without a zone", "時間帯を付けない"),
        ("start = 2026-11-16", "start = 2026-11-16T00:00:00+09:00", "without a zone", "時間帯を付けない"),
        ("moves = 2", "moves = -1", "must be a whole number from 0", "までの整数"),
        ("moves = 2", "moves = 2\nabsent_after = 9", "must be a number of ticks from 1 to 4", "時点の数"),
        ("moves = 2", "moves = 2\ntypical_moves = -1", "must be a number from 0", "までの数"),
        ("moves = 2", 'moves = 2\nstrategy = "magic"', "must be one of", "いずれか"),
        ('person = "person"', "", "One person is at many ticks", "1人は多くの時点に現れ"),
        ("{date}/{time}", "all", "must say which file is which tick's", "時点ごとのファイル"),
        ('who = "person"', 'who = "person"\nadjacency = "replace"', 'must be "add-remove"', "数えられていること自体"),
        (
            'path = "rows/{date}/{time}.parquet"',
            'format = "spark"\ntable = "rows"',
            "reads files and queries",
            "Spark の表",
        ),
        ('who = "person"', 'who = "person"\ncells = 2', "'cells' in section [unit] must be 1", "1人を1つのセル"),
        ('who = "person"', "rows_per_cell = 2", "'rows_per_cell' in section [unit] must be 1", "1人を1つのセル"),
        ('who = "person"', "rows = 3", "'rows' in section [unit] must be 1", "1人を1つのセル"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, old: str, new: str, english: str, japanese: str) -> None:
    assert old in PLAN
    with pytest.raises(PlanError) as refused:
        read(tmp_path, PLAN.replace(old, new))
    assert english in refused.value.words.english
    assert japanese in refused.value.words.japanese


def test_the_reference_lists_every_key() -> None:
    page = (Path(__file__).parents[5] / "docs/reference/series-plan.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(\w+)` \|", page, re.M))
    assert listed == {*SERIES_KEYS, *WRITTEN_KEYS, *READING_KEYS, "person", "time"}


def test_the_plan_of_the_reference_can_be_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[5] / "docs/reference/series-plan.md").read_text(encoding="utf-8")
    text = page.split('```toml title="series.toml"\n')[1].split("```")[0]
    assert read(tmp_path, text).clock.ticks == 144


def test_caps_by_level_must_fit_the_tree(tmp_path: Path) -> None:
    plan = read(tmp_path, PLAN.replace("moves = 2", "moves = [0, 1, 2, 3, 4, 5]"))
    with pytest.raises(PlanError, match="'moves'"):
        _ = plan.design
