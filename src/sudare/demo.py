"""A first look, in the terminal: a small invented town, its noisy table, and proofs that the promise is kept.

Run it with ``make demo`` or ``python -m sudare.demo [--lang ja] [--out FOLDER]``. Everything shown is computed on the
spot.
"""

from __future__ import annotations

import argparse
import locale
import math
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import sudare
from sudare.attacks import audit_epsilon

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

__all__ = ["main"]

SIDE = 12
PUBLIC_SIZE = 20_000
"""About how many people live in the town, as anyone may know: the exact number is protected."""

DRAWS = 1 << 22
AUDIT_RUNS = 200_000

ENGLISH = {
    "help": "Show what sudare does on a small invented town.",
    "help_lang": "language of the output: en or ja (default: from the environment)",
    "help_out": "folder for the pictures and the event (default: out/demo)",
    "title": "sudare: light and air pass, faces do not",
    "town": "1. A town of {people:,} invented people on {side} x {side} cells, one person in exactly one cell",
    "true": "true counts (invented, so they may be shown)",
    "noisy": "published counts",
    "promise": "2. The promise",
    "protected": "protected",
    "unit": "one person, present or not (add-remove)",
    "budget": "budget",
    "scale": "noise",
    "scale_text": "discrete Laplace, scale {scale} (sensitivity {l1} / epsilon)",
    "power": "a test of one person's presence",
    "power_text": "with 5 % false alarms it detects the person with probability at most {power} (5 % without any release)",
    "delta": "delta for this town, if one is needed",
    "error": "3. What it costs in accuracy",
    "error_text": "root mean square error per cell: predicted {predicted:.2f}, measured {measured:.2f}",
    "total_text": "total: true {true:,}, published {noisy:,}",
    "audit": "4. The promise is tested, not only proved (one cell with 10 or 11 people, {runs:,} runs each)",
    "audit_ok": "as shipped: epsilon is at least {bound:.3f}, claimed {claim}: {verdict}",
    "audit_broken": "with half the noise, on purpose: epsilon is at least {bound:.3f}, claimed {claim}: {verdict}",
    "verdict_refuted": "the claim is false, caught",
    "verdict_consistent": "no contradiction",
    "refused": "5. What it refuses",
    "speed": "6. Exact, secure, and fast ({draws:,} draws)",
    "speed_text": "{name}: {ours:.1f} ns a draw; NumPy's inexact {peer}: {theirs:.1f} ns",
    "composed": "7. A hundred releases in a row, epsilon = 0.1 each: what they cost together at delta = 1e-6",
    "written": "Written to {folder}: {files}",
}
JAPANESE = {
    "help": "架空の小さな町で sudare の働きを見せます。",
    "help_lang": "出力の言語: en または ja（既定: 環境の設定）",
    "help_out": "図とイベントを書き出すフォルダ（既定: out/demo）",
    "title": "sudare（簾）: 光と風は通し、顔は見せない",
    "town": "1. 架空の {people:,} 人の町、{side} x {side} セル、1人は必ず1つのセルに属する",
    "true": "真の人数（架空なので表示できます）",
    "noisy": "公表する人数",
    "promise": "2. 約束",
    "protected": "保護の対象",
    "unit": "1人の有無（追加・削除）",
    "budget": "予算",
    "scale": "ノイズ",
    "scale_text": "離散ラプラス、尺度 {scale}（感度 {l1} / epsilon）",
    "power": "ある1人がいるかどうかの検定",
    "power_text": "偽陽性率 5 % のとき、検出力は高々 {power}（公表がなければ 5 %）",
    "delta": "この町で delta が必要な場合の目安",
    "error": "3. 精度への影響",
    "error_text": "セルごとの二乗平均平方根誤差: 予測 {predicted:.2f}、実測 {measured:.2f}",
    "total_text": "合計: 真値 {true:,}、公表値 {noisy:,}",
    "audit": "4. 約束は証明だけでなく試験もする（10人または11人のセル、各 {runs:,} 回）",
    "audit_ok": "そのまま: epsilon は {bound:.3f} 以上、主張は {claim}: {verdict}",
    "audit_broken": "わざとノイズを半分にすると: epsilon は {bound:.3f} 以上、主張は {claim}: {verdict}",
    "verdict_refuted": "主張は誤り（検出）",
    "verdict_consistent": "矛盾なし",
    "refused": "5. 受け付けない入力",
    "speed": "6. 厳密・安全・高速（{draws:,} 回）",
    "speed_text": "{name}: 1回 {ours:.1f} ns、NumPy の厳密でない {peer}: {theirs:.1f} ns",
    "composed": "7. epsilon = 0.1 の公表を100回続けたとき、delta = 1e-6 での合計",
    "written": "{folder} に書き出しました: {files}",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the demonstration."""
    from rich.console import Console

    first_look = argparse.ArgumentParser(add_help=False)
    first_look.add_argument("--lang", choices=("en", "ja"), default=_language())
    words = JAPANESE if first_look.parse_known_args(arguments)[0].lang == "ja" else ENGLISH
    parser = argparse.ArgumentParser(prog="python -m sudare.demo", description=words["help"])
    parser.add_argument("--lang", choices=("en", "ja"), default=_language(), help=words["help_lang"])
    parser.add_argument("--out", type=Path, default=Path("out/demo"), help=words["help_out"])
    chosen = parser.parse_args(arguments)
    try:
        chosen.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"--out: {error.strerror}: {chosen.out}")
    console = Console(highlight=False)
    console.rule(f"[bold]{words['title']}")

    town = _invented_town()
    budget = sudare.Budget(epsilon=0.5)
    unit = sudare.Unit("person")
    measurement = sudare.LaplaceMeasurement.for_budget(budget, sudare.sensitivity_of_counts(unit))
    published, event = sudare.add_noise(town, budget, unit=unit)

    _show_tables(console, words, town, published)
    _show_promise(console, words, budget, measurement)
    _show_accuracy(console, words, town, published, float(measurement.scale))
    _show_audit(console, words, measurement)
    _show_refusals(console, words)
    _show_speed(console, words)
    _show_composition(console, words)
    _write(
        console,
        words,
        chosen.out,
        event,
        {str(b): b for b in (budget, sudare.Budget(epsilon=0.1), sudare.Budget(rho=0.1))},
    )


def _invented_town() -> NDArray[np.int64]:
    """Two centres and a countryside, with invented fluctuations."""
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    density = 900 * np.exp(-((x - 4) ** 2 + (y - 5) ** 2) / 5) + 300 * np.exp(-((x - 9) ** 2 + (y - 8) ** 2) / 2)
    spread = sudare.geometric(4).draw(density.shape, sudare.ResearchEntropy(2020))
    return np.where(density > 2, density.astype(np.int64) + spread, 0)


def _show_tables(
    console: Console, words: dict[str, str], town: NDArray[np.int64], published: NDArray[np.int64]
) -> None:
    from rich.columns import Columns
    from rich.table import Table

    console.print(f"\n[bold]{words['town'].format(people=int(town.sum()), side=SIDE)}")
    tables = []
    for title, counts in ((words["true"], town), (words["noisy"], published)):
        table = Table(title=title, show_header=False, box=None, padding=(0, 0, 0, 1))
        for row in counts[::-1]:
            table.add_row(*(_cell(int(count), int(town.max())) for count in row))
        tables.append(table)
    console.print(Columns(tables, padding=(0, 4)))


def _cell(count: int, largest: int) -> str:
    shade = max(0, min(5, math.ceil(6 * math.sqrt(max(count, 0) / largest)) - 1))
    colour = ("grey42", "grey62", "gold3", "orange3", "dark_orange3", "red3")[shade]
    return f"[{colour}]{count:>4}[/]"


def _show_promise(
    console: Console, words: dict[str, str], budget: sudare.Budget, measurement: sudare.LaplaceMeasurement
) -> None:
    console.print(f"\n[bold]{words['promise']}")
    for label, value in (
        ("protected", words["unit"]),
        ("budget", str(budget)),
        ("scale", words["scale_text"].format(scale=measurement.scale, l1=measurement.l1)),
        ("power", words["power_text"].format(power=_percent_rounded_up(sudare.best_power(budget, 0.05)))),
        ("delta", f"{float(sudare.suggest_delta(PUBLIC_SIZE)):.0e}"),
    ):
        console.print(f"  [cyan]{words[label]}:[/] {value}", soft_wrap=True)


def _percent_rounded_up(share: float) -> str:
    """An upper bound must not be shown below itself."""
    return f"{math.ceil(1000 * share) / 10} %"


def _show_accuracy(
    console: Console, words: dict[str, str], town: NDArray[np.int64], published: NDArray[np.int64], scale: float
) -> None:
    console.print(f"\n[bold]{words['error']}")
    predicted = 1 / (math.sqrt(2) * math.sinh(1 / (2 * scale)))
    measured = float(np.sqrt(np.mean((published - town) ** 2)))
    console.print("  " + words["error_text"].format(predicted=predicted, measured=measured))
    console.print("  " + words["total_text"].format(true=int(town.sum()), noisy=int(published.sum())))


def _show_audit(console: Console, words: dict[str, str], measurement: sudare.LaplaceMeasurement) -> None:
    console.print(f"\n[bold]{words['audit'].format(runs=AUDIT_RUNS)}")
    for key, scale in (("audit_ok", measurement.scale), ("audit_broken", measurement.scale / 2)):
        noise = sudare.discrete_laplace(scale)
        audit = audit_epsilon(10 + noise.draw(AUDIT_RUNS), 11 + noise.draw(AUDIT_RUNS))
        claim = float(measurement.epsilon)
        colour, verdict = ("red", "refuted") if audit.refutes(claim) else ("green", "consistent")
        text = words[key].format(bound=audit.lower_bound, claim=claim, verdict=words[f"verdict_{verdict}"])
        console.print(f"  [{colour}]{text}")


def _show_refusals(console: Console, words: dict[str, str]) -> None:
    console.print(f"\n[bold]{words['refused']}")
    attempts: list[Callable[[], object]] = [
        lambda: sudare.Budget(epsilon=-1),
        lambda: sudare.Budget(epsilon=1).split([0.6, 0.6]),
        lambda: sudare.Budget(epsilon=1) + sudare.Budget(rho=0.1),
        lambda: sudare.SecureEntropy(seed=42),
    ]
    for attempt in attempts:
        try:
            attempt()
        except sudare.SudareError as error:
            console.print(f"  [yellow]{type(error).__name__}[/]: {error}", soft_wrap=True)


def _show_speed(console: Console, words: dict[str, str]) -> None:
    console.print(f"\n[bold]{words['speed'].format(draws=DRAWS)}")
    generator = np.random.default_rng()
    for noise, peer, inexact in (
        (sudare.discrete_laplace(10), "laplace", generator.laplace),
        (sudare.discrete_gaussian(10), "normal", generator.normal),
    ):
        ours = _nanoseconds(lambda noise=noise: noise.draw(DRAWS))  # type: ignore[misc]
        theirs = _nanoseconds(lambda inexact=inexact: inexact(scale=10, size=DRAWS))  # type: ignore[misc]
        console.print("  " + words["speed_text"].format(name=noise, ours=ours, peer=peer, theirs=theirs))


def _nanoseconds(run: Callable[[], object]) -> float:
    best = math.inf
    for _ in range(3):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best / DRAWS * 1e9


def _show_composition(console: Console, words: dict[str, str]) -> None:
    console.print(f"\n[bold]{words['composed']}")
    unit, budget = sudare.Unit("person"), sudare.Budget(epsilon=0.1)
    measurement = sudare.LaplaceMeasurement.for_budget(budget, sudare.sensitivity_of_counts(unit))
    event = sudare.ReleaseEvent("demo", unit, budget, (measurement,), "secure")
    for accountant in (sudare.PureAccountant(), sudare.ZcdpAccountant(), sudare.PldAccountant()):
        for _ in range(100):
            accountant.add(event)
        console.print(f"  {type(accountant).__name__}: {float(accountant.epsilon(1e-6)):.4f}")


def _write(
    console: Console,
    words: dict[str, str],
    folder: Path,
    event: sudare.ReleaseEvent,
    budgets: dict[str, sudare.Budget],
) -> None:
    sudare.plot_trade_off(budgets).savefig(folder / "trade_off.png", dpi=120)
    sudare.plot_suggested_delta(PUBLIC_SIZE).savefig(folder / "suggested_delta.png", dpi=120)
    (folder / "event.json").write_text(event.to_json() + "\n", encoding="utf-8")
    console.print("\n" + words["written"].format(folder=folder, files="trade_off.png, suggested_delta.png, event.json"))


def _language() -> str:
    setting = (
        os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or locale.getlocale()[0]
    )
    return "ja" if (setting or "").lower().startswith("ja") else "en"


if __name__ == "__main__":
    main()
