"""A day of an invented country, published every half hour: plan, ticks, what they say, the report of the day, and its check.

Run it with ``sudare demo --series [--lang ja] [--out FOLDER]``. The people are invented, so their true counts may be compared.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import sudare
from sudare.bilingual import Words
from sudare.demo import heading, prepare, say, show_checks
from sudare.examples import PeopleFlow, invent_country, write_people_flow
from sudare.ledger import open_ledger
from sudare.privacy.unit import ProtectedTime
from sudare.releases.kinds.series.plan_file import SeriesPlan, read_series_plan
from sudare.releases.kinds.series.running import run_tick
from sudare.series.planning import plan_series
from sudare.series.prediction import predict_series

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["SeriesDemonstration", "run_series_demo"]

PEOPLE_PER_CELL = 3
TICKS = 48
MOVES = 4
DATASET = "invented-people"
WRITTEN = {"rows", "series.toml", "budget.db", "budget.db-wal", "budget.db-shm", "series", "series-state"}

TEXTS: Mapping[str, Words] = {
    "title": Words("sudare: a day in tables, under one promise", "sudare（簾）: 一つの保証で、1日を表に"),
    "people": Words("1. Invented people on their way", "1. 架空の人々の1日"),
    "people_text": Words(
        "{people:,} people over {side} x {side} cells, at {ticks} ticks: home, work, errands, a stadium. One file each in "
        "{folder}",
        "{side} x {side} セルに {people:,} 人、{ticks} 時点（自宅、職場、用事、競技場）。{folder} "
        "に1時点1ファイルで書き出しました",
    ),
    "plan": Words("2. The plan, before anything is spent", "2. 計画（まだ予算は使いません）"),
    "plan_text": Words(
        "{budget} for the whole day of a person, who may move {moves} times. A count of one cell is off by {error:.1f}; fresh "
        "noise "
        "at every tick, for the same budget: {fresh:.1f}",
        "1人の1日全体で {budget}、移動は {moves} 回まで。1セルの誤差は {error:.1f}（同じ予算で毎回新しいノイズを加えると "
        "{fresh:.1f}）",
    ),
    "ticks": Words("3. A table every half hour", "3. 30分ごとの表"),
    "ticks_text": Words(
        "{ticks} tables and the report of the day in {seconds:.1f} s; charged once, before the first",
        "{ticks} 個の表と1日の報告書を {seconds:.1f} 秒で公表（費用は最初の時点の前に1回だけ）",
    ),
    "compare": Words(
        "4. Compared with the truth (possible here only): everybody, and the most crowded place",
        "4. 真値との比較（架空なので可能です）: 総数と、最も混む場所",
    ),
    "time": Words("time", "時刻"),
    "total": Words("people", "総数"),
    "total_true": Words("true", "真値"),
    "place": Words("place", "場所"),
    "again": Words("5. The same tick once more", "5. 同じ時点をもう一度"),
    "again_text": Words("it is shown again, and nothing is spent", "同じフォルダを示すだけで、予算は使いません"),
    "close": Words("6. The end of the day", "6. 1日の終わり"),
    "close_text": Words(
        "the last tick has closed the window: a report was written, the key of the noise was destroyed, and the ledger settled",
        "最後の時点の直後に期間を閉じ、報告書を書き、ノイズの鍵を破棄し、台帳に確定しました",
    ),
    "verify": Words("7. The day, checked as another office would", "7. 他の機関が行うのと同じ、1日の検査"),
    "plan_title": Words("People of an invented country, every half hour", "架空の国の人々（30分ごと）"),
}

PLAN = """\
kind = "series"
title = "{title}"
language = "{language}"

[source]
path = "rows/{{date}}T{{time}}.parquet"
person = "person"
time = "time"

[[domain]]
name = "KEY_CODE"
kind = "mesh"
level = "1/2"
window = {window}

[unit]
who = "person"

[series]
every = "30 minutes"
window = "1 day"
start = 2026-11-16
protects = "person-day"
moves = {moves}
typical_moves = 2.5

[budget]
rho = 1

[ledger]
location = "budget.db"
dataset = "{dataset}"

[output]
folder = "series"
"""


@dataclass(frozen=True)
class SeriesDemonstration:
    """What a demonstration left behind.

    Attributes:
        folder: everything is in here.
        report: of the day.
        seconds: that all ticks took, and the report.
    """

    folder: Path
    report: Path
    seconds: float


def run_series_demo(folder: Path, language: str, side: int, console: Console) -> SeriesDemonstration:
    """Go the whole day in a folder, which is emptied of an earlier demonstration first.

    Args:
        folder: where everything is written.
        language: ``"en"`` or ``"ja"``.
        side: cells along a side of the country, a power of two.
        console: where it is told.

    Raises:
        OutputError: if the folder holds anything but an earlier demonstration, or cannot be written.
    """
    words = {name: text.explain(language) for name, text in TEXTS.items()}
    prepare(folder, WRITTEN)
    console.rule(f"[bold]{words['title']}")
    country = invent_country(side, people=PEOPLE_PER_CELL * side**2)
    flow = PeopleFlow(country, moving=0.02, ticks=TICKS, seed=1)
    heading(console, words["people"])
    write_people_flow(flow, folder / "rows")
    say(console, words["people_text"], people=country.total, side=side, ticks=TICKS, folder=folder / "rows")
    plan = _write_plan(folder, words, language, country)
    _show_plan(console, words, plan)
    start = time.perf_counter()
    ticks = [plan.clock.tick_of(plan.clock.start, number) for number in range(TICKS)]
    with open_ledger(plan.ledger.location) as ledger:
        made = [run_tick(plan, tick, ledger=ledger) for tick in ticks]
    seconds = time.perf_counter() - start
    heading(console, words["ticks"])
    say(console, words["ticks_text"], ticks=TICKS, seconds=seconds)
    tables = [one.draft.table for one in made if one.draft is not None]
    _show_comparison(console, words, flow, tables)
    heading(console, words["again"])
    if run_tick(plan, ticks[-1]).is_repeated:
        say(console, words["again_text"])
    heading(console, words["close"])
    say(console, words["close_text"])
    report = plan.folder / f"date={ticks[0].date}" / "report"
    show_checks(console, words["verify"], report, plan.ledger.location, language)
    return SeriesDemonstration(folder, report, seconds)


def _write_plan(folder: Path, words: dict[str, str], language: str, country: sudare.CountTable) -> SeriesPlan:
    mesh = country.domain.attributes[0]
    if not isinstance(mesh, sudare.Mesh):
        raise TypeError("an invented country is a map")
    window = [mesh.first_row, mesh.first_column, mesh.rows, mesh.columns]
    text = PLAN.format(title=words["plan_title"], language=language, window=window, moves=MOVES, dataset=DATASET)
    (folder / "series.toml").write_text(text, encoding="utf-8")
    with open_ledger(folder / "budget.db", create=True) as ledger:
        unit = sudare.Unit("person", time=ProtectedTime("person-day", TICKS))
        ledger.add_dataset(DATASET, sudare.Budget(rho=3), unit=unit)
    return read_series_plan(folder / "series.toml")


def _show_plan(console: Console, words: dict[str, str], plan: SeriesPlan) -> None:
    fresh = plan_series(plan.domain, plan.budget, ticks=TICKS, moves=plan.moves, strategy="fresh")
    error, afresh = (predict_series(design, [TICKS - 1])[0].deviation for design in (plan.design, fresh))
    heading(console, words["plan"])
    say(console, words["plan_text"], budget=plan.budget, moves=MOVES, error=error, fresh=afresh)


def _show_comparison(
    console: Console, words: dict[str, str], flow: PeopleFlow, tables: list[sudare.CountTable]
) -> None:
    from rich.table import Table

    flow.restart()
    truths = [np.bincount(cells[cells >= 0], minlength=tables[0].domain.cells) for cells in flow.day()]
    place = int(np.argmax(np.max(truths, axis=0)))
    table = Table(box=None, padding=(0, 2))
    for name in ("time", "total", "total_true", "place", "total_true"):
        table.add_column(words[name], justify="right")
    for tick in range(0, TICKS, TICKS // 8):
        dense = tables[tick].to_dense().reshape(-1)
        truth = truths[tick]
        counts = (int(dense.sum()), int(truth.sum()), int(dense[place]), int(truth[place]))
        table.add_row(f"{tick // 2:02}:{tick % 2 * 30:02}", *(f"{count:,}" for count in counts))
    heading(console, words["compare"])
    console.print(table)
