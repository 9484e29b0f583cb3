"""The whole way, on an invented country: plan, charge, release, report, check, and what would have been worse.

Run it with ``make demo`` or ``sudare demo [--lang ja] [--out FOLDER]``. Everything shown is computed on the spot. The country is
invented, so its true counts may be shown and compared.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sudare
from sudare.bilingual import Words
from sudare.errors import BudgetExceededError, OutputError
from sudare.evaluate import error_by_area
from sudare.examples import invent_country
from sudare.io import write_table
from sudare.ledger import open_ledger
from sudare.releases.kinds.counts import Release, ReleasePlan, read_plan, run_release
from sudare.releases.registry import verify_folder
from sudare.system.reasons import reason_of

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Demonstration", "heading", "prepare", "run_demo", "say", "show_checks"]

SIDES = (1, 4, 16, 64, 256)
PEOPLE_PER_CELL = 3
MARK = ".sudare-demo"
WRITTEN = {"country.parquet", "plan.toml", "second.toml", "budget.db", "budget.db-wal", "budget.db-shm", "release"}
DATASET = "invented-country"
TOTAL = sudare.Budget(epsilon=1.5)
SPENT = sudare.Budget(epsilon=1)

LOOK = Words("Look at it: {page}", "ご覧ください: {page}")
TEXTS: Mapping[str, Words] = {
    "title": Words("sudare: light and air pass, faces do not", "sudare（簾）: 光と風は通し、顔は見せない"),
    "country": Words("1. An invented country", "1. 架空の国"),
    "country_text": Words(
        "{people:,} people in {inhabited:,} of {side} x {side} cells of 500 m, written to {file}",
        "500 m メッシュ {side} x {side} のうち {inhabited:,} セルに {people:,} 人。{file} に書き出しました",
    ),
    "plan": Words("2. The plan, before anything is spent", "2. 計画（まだ予算は使いません）"),
    "plan_text": Words(
        "{file} asks for {budget} per {who}; the ledger has {left} left. Expected: {mechanism}",
        "{file} は {who} あたり {budget} を使います。台帳の残りは {left}。方式の予定: {mechanism}",
    ),
    "side": Words("area (cells a side)", "区域（1辺のセル数）"),
    "expected": Words("expected error", "予想される誤差"),
    "release": Words("3. The release", "3. 公表"),
    "release_text": Words(
        "charged, drawn, written and settled in {seconds:.1f} s: {total:,} people in {cells:,} cells",
        "予約・ノイズ付加・書き出し・確定まで {seconds:.1f} 秒: {cells:,} セルに {total:,} 人",
    ),
    "compare": Words(
        "4. Compared with the truth (possible here only, because the country is invented): root mean square error",
        "4. 真値との比較（架空の国なので可能です）: 二乗平均平方根誤差",
    ),
    "method_auto": Words("sudare (auto)", "sudare（自動）"),
    "method_laplace": Words("flat Laplace", "単純なラプラス"),
    "method_laplace_simplex": Words("flat Laplace, no negative counts", "単純なラプラス（負値なし）"),
    "method_nn": Words.same("NN-Wavelet"),
    "again": Words("5. The same plan once more", "5. 同じ計画をもう一度"),
    "again_text": Words(
        "was settled before: the same folder is shown, and nothing is spent",
        "確定済みのため、同じフォルダを示すだけで予算は使いません",
    ),
    "more": Words("6. Another release from the same people", "6. 同じ人々からもう1つ公表すると"),
    "verify": Words("7. Checked as another office would", "7. 他の機関が行うのと同じ検査"),
    "try": Words("Change {plan} and run: sudare plan {plan}", "{plan} を書き換えて試せます: sudare plan {plan}"),
    "plan_title": Words("Population of an invented country", "架空の国の人口"),
    "publisher": Words("Office of Invented Statistics", "架空統計局"),
}

PLAN = """\
title = "{title}"
publisher = "{publisher}"
language = "{language}"

[source]
path = "country.parquet"
count = "population"

[[domain]]
name = "KEY_CODE"
kind = "mesh"
level = "1/2"
window = {window}

[unit]
who = "person"

[budget]
epsilon = 1

[ledger]
location = "budget.db"
dataset = "{dataset}"

[output]
folder = "{folder}"
formats = ["parquet", "csv"]
measurements = {measurements}
"""


@dataclass(frozen=True)
class Demonstration:
    """What a demonstration left behind.

    Attributes:
        folder: everything is in here.
        release: the release.
        errors: root mean squared error by method and side.
        seconds: how long the release took.
    """

    folder: Path
    release: Release
    errors: dict[str, dict[int, float]]
    seconds: float


def run_demo(folder: Path, language: str, side: int, console: Console) -> Demonstration:
    """Go the whole way in a folder, which is emptied of an earlier demonstration first.

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
    plan = _write_plan(folder, words, language, country)
    heading(console, words["country"])
    say(
        console,
        words["country_text"],
        people=country.total,
        inhabited=country.keys.size,
        side=f"{side:,}",
        file=folder / "country.parquet",
    )
    _show_plan(console, words, plan)
    start = time.perf_counter()
    release = run_release(plan)
    seconds = time.perf_counter() - start
    published = release.document["published"]
    heading(console, words["release"])
    say(console, words["release_text"], seconds=seconds, total=published["total"], cells=published["non_empty_cells"])
    errors = _show_comparison(console, words, country, release)
    heading(console, words["again"])
    if run_release(plan).is_repeated:
        say(console, words["again_text"])
    _show_refusal(console, words, plan, language)
    show_checks(console, words["verify"], release.folder, plan.ledger.location, language)
    say(console, words["try"], plan=plan.file)
    return Demonstration(folder, release, errors, seconds)


def prepare(folder: Path, written: Collection[str]) -> None:
    """Empty the folder of an earlier demonstration. Only one that says so is touched: a ledger must never be lost.

    Args:
        folder: of the demonstration.
        written: the names of what a demonstration leaves there.

    Raises:
        OutputError: if it holds anything else, or cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()) and not (folder / MARK).is_file():
            raise OutputError(
                f"'{folder}' is not empty, and no demonstration made it. Name an empty folder.",
                f"「{folder}」は空ではなく、実演で作られたものでもありません。空のフォルダを指定してください。",
            )
        for path in folder.iterdir():
            if path.name in written:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        (folder / MARK).touch()
    except OSError as error:
        raise OutputError(
            f"'{folder}' cannot be written: {reason_of(error).english}.",
            f"「{folder}」に書き込めません: {reason_of(error).japanese}。",
        ) from None


def _write_plan(folder: Path, words: dict[str, str], language: str, country: sudare.CountTable) -> ReleasePlan:
    write_table(country, folder / "country.parquet", count="population")
    mesh: Any = country.domain.attributes[0]
    values = {
        "title": words["plan_title"],
        "publisher": words["publisher"],
        "language": language,
        "window": [mesh.first_row, mesh.first_column, mesh.rows, mesh.columns],
        "dataset": DATASET,
    }
    for name, output, measurements in (("plan.toml", "release", "false"), ("second.toml", "second", "true")):
        text = PLAN.format(**values, folder=output, measurements=measurements)
        (folder / name).write_text(text, encoding="utf-8")
    with open_ledger(folder / "budget.db", create=True) as ledger:
        ledger.add_dataset(DATASET, TOTAL, unit=sudare.Unit("person"))
    return read_plan(folder / "plan.toml")


def _show_plan(console: Console, words: dict[str, str], plan: ReleasePlan) -> None:
    from rich.table import Table

    with open_ledger(plan.ledger.location) as ledger:
        left = ledger.dataset(DATASET).remaining
    predicted = plan.predicted
    if predicted is None:
        return
    heading(console, words["plan"])
    say(
        console,
        words["plan_text"],
        file=plan.file,
        budget=plan.budget,
        who=plan.unit.who,
        left=left,
        mechanism=f"{predicted.mechanism}, {predicted.noise}",
    )
    table = Table(box=None, padding=(0, 2))
    table.add_column(words["side"], justify="right")
    table.add_column(words["expected"], justify="right")
    for error in predicted.errors:
        if error.side in SIDES:
            table.add_row(f"{error.side:,}", f"{error.rmse:,.1f}  ({error.low:,.1f} - {error.high:,.1f})")
    console.print(table)


def _show_comparison(
    console: Console, words: dict[str, str], country: sudare.CountTable, release: Release
) -> dict[str, dict[int, float]]:
    """Rivals publish the same table at the same cost; only the invented country makes this possible."""
    from rich.table import Table

    rivals: dict[str, Callable[[], Any]] = {
        "auto": lambda: release.table,
        "nn": lambda: sudare.tables.nn_wavelet(country, SPENT).table,
        "laplace": lambda: sudare.tables.laplace(country, SPENT).table,
        "laplace_simplex": lambda: sudare.tables.laplace(country, SPENT, refine="counts").table,
    }
    sides = [side for side in SIDES if side <= country.domain.shape[0]]
    errors = {
        name: {row.side: row.rmse for row in error_by_area(country, publish(), sides)}
        for name, publish in rivals.items()
    }
    table = Table(box=None, padding=(0, 2))
    table.add_column("")
    for side in sides:
        table.add_column(f"{side} x {side}", justify="right")
    for name, by_side in errors.items():
        cells = []
        for side in sides:
            best = min(other[side] for other in errors.values())
            text = f"{by_side[side]:,.1f}"
            cells.append(f"[green]{text}[/]" if by_side[side] == best else text)
        table.add_row(words[f"method_{name}"], *cells)
    heading(console, words["compare"])
    console.print(table)
    return errors


def _show_refusal(console: Console, words: dict[str, str], plan: ReleasePlan, language: str) -> None:
    second = plan.file.with_name("second.toml")
    heading(console, words["more"])
    try:
        run_release(read_plan(second))
    except BudgetExceededError as error:
        say(console, "[yellow]{text}", text=error.explain(language))
    finally:
        second.unlink()


def show_checks(console: Console, title: str, folder: Path, ledger: str, language: str) -> None:
    """Check a release as another office would, tell each check, and where to look at it.

    Args:
        console: where it is told.
        title: of this step.
        folder: of the release.
        ledger: where the ledger is.
        language: ``"en"`` or ``"ja"``.
    """
    heading(console, title)
    outcomes = {
        "passed": ("green", Words("passed", "合格")),
        "failed": ("red", Words("failed", "不合格")),
        "skipped": ("yellow", Words("skipped", "省略")),
    }
    for check in verify_folder(folder, ledger):
        text = check.japanese if language == "ja" else check.english
        colour, outcome = outcomes[check.outcome]
        line = f"[{colour}]{outcome.explain(language)}[/] {{name}}: {{text}}"
        say(console, line, name=check.words.explain(language), text=text)
    console.print()
    say(console, "[bold]" + LOOK.explain(language), page=folder / "release.html")


def heading(console: Console, text: str) -> None:
    """Tell what comes next."""
    console.print(f"\n[bold]{text}")


def say(console: Console, sentence: str, **values: Any) -> None:
    """Tell a sentence with values in its blanks."""
    from rich.markup import escape

    shown = {name: escape(str(value)) if isinstance(value, (str, Path)) else value for name, value in values.items()}
    console.print("  " + sentence.format(**shown), soft_wrap=True, highlight=False)
