"""Draw the pictures of the README and of ``docs/gallery.md``, in both languages.

    python -m tools.draw_gallery            # all but the page
    python -m tools.draw_gallery page       # the report page of a release, by Chromium

Everything is invented, and every release is drawn from a seed, so that the same pictures come out again.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tools.gallery_charts import Curve, Interval, cell_table, curve_chart, interval_chart, maps_png, step_chart

import sudare
from sudare.bilingual import Words
from sudare.evaluate import error_by_area
from sudare.examples import invent_country

__all__ = ["CHARTS", "draw_map", "file_of", "main"]

ASSETS = Path(__file__).resolve().parents[1] / "docs" / "assets"
MAP = "released-map.png"
BUDGET = sudare.Budget(epsilon=1)
SEED = 2020
SIDES = (1, 2, 4, 8, 16, 32, 64)
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def file_of(name: str, language: str) -> Path:
    """Where a chart lies."""
    return ASSETS / f"gallery-{name}-{language}.svg"


def draw_map() -> bytes:
    """The invented country as counted, and as released."""
    country = invent_country(256, people=200_000)
    published = sudare.publish(country, BUDGET, entropy=sudare.ResearchEntropy(SEED))
    return maps_png([country.to_dense(), published.to_dense()])


def draw_errors(language: str) -> str:
    """The error of areas by their size, for three mechanisms."""
    title = Words("Error by size of area", "領域の大きさと誤差")
    names = {
        "auto": Words("automatic plan", "自動の計画"),
        "nn-wavelet": Words("NN-Wavelet", "NN-Wavelet"),
        "laplace": Words("Laplace noise on each cell", "各セルにラプラスノイズ"),
    }
    country = invent_country(256, people=200_000)
    curves = []
    for method, name in names.items():
        published = sudare.publish(country, BUDGET, method, entropy=sudare.ResearchEntropy(SEED))
        errors = error_by_area(country, published, SIDES)
        curves.append(Curve(name.explain(language), [(error.side, error.rmse) for error in errors]))
    across = Words("side of the area, in cells of 500 m", "領域の一辺（500 m のセルの数）")
    up = Words("RMSE, people", "RMSE（人）")
    return curve_chart(title.explain(language), across.explain(language), up.explain(language), curves)


def draw_histogram(language: str) -> str:
    """Ages, as counted and as released."""
    generator = np.random.default_rng(SEED)
    ages = np.concatenate([generator.normal(38, 22, 6_000), generator.normal(72, 7, 2_500)])
    counts = np.bincount(ages[(ages >= 0) & (ages < 96)].astype(int), minlength=96)
    published = sudare.publish(counts, sudare.Budget(epsilon=0.2), entropy=sudare.ResearchEntropy(SEED)).to_dense()
    title = Words("A histogram, ε = 0.2", "ヒストグラム、ε = 0.2")
    names = Words("as counted (kept secret)", "実際の集計（非公開）"), Words("as released", "公表する表")
    told = names[0].explain(language), names[1].explain(language)
    across = Words("age", "年齢").explain(language)
    return step_chart(title.explain(language), across, told, counts.tolist(), published.tolist())


def draw_collection(language: str) -> str:
    """Randomized answers, and what is estimated from them."""
    answers = Words("daily,sometimes,once,never", "毎日,ときどき,以前,なし").explain(language).split(",")
    true = (2_300, 900, 1_800, 5_000)
    method = sudare.KaryResponse(answers, 1)
    given = [answer for answer, number in zip(answers, true, strict=True) for _ in range(number)]
    estimate = method.estimate(method.randomize(given, sudare.ResearchEntropy(SEED)))
    low, high = estimate.intervals(0.95)
    rows = [Interval(*row) for row in zip(answers, true, estimate.unbiased, low, high, strict=True)]
    title = Words("10,000 randomized answers, ε = 1", "ランダム化した1万人の回答、ε = 1")
    names = Words("estimate, 95 % interval", "推定値と95％区間"), Words("true number", "実際の人数")
    return interval_chart(title.explain(language), (names[0].explain(language), names[1].explain(language)), rows)


def draw_suppression(language: str) -> str:
    """A table with hidden cells: those that break a rule, and those hidden with them."""
    regions = Words("Total,North,South,West", "合計,北部,南部,西部").explain(language).split(",")
    trades = Words("Total,Mines,Shops,Boats", "合計,鉱業,商店,漁業").explain(language).split(",")
    dimensions = [sudare.Dimension.flat("region", regions[1:]), sudare.Dimension.flat("trade", trades[1:])]
    inner = np.array([[64, 120, 31], [7, 88, 45], [52, 230, 19]])
    whole = np.zeros((4, 4), dtype=np.int64)
    whole[1:, 1:] = inner
    whole[0, 1:], whole[1:, 0], whole[0, 0] = inner.sum(axis=0), inner.sum(axis=1), inner.sum()
    system, primary = sudare.disclosure.TableSystem.of_dimensions(dimensions), 9  # the mines in the south
    problem = sudare.SuppressionProblem.of_levels(system, whole.ravel().tolist(), {primary: (2, 2)})
    hidden = set(sudare.suppress(problem).certificate.hidden)
    rows = []
    for number, name in enumerate(regions):
        cells = range(4 * number, 4 * number + 4)
        kinds = ["hide" if cell == primary else "also" if cell in hidden else "" for cell in cells]
        rows.append(
            (
                name,
                [(str(whole.flat[cell]) if not kind else "×", kind) for cell, kind in zip(cells, kinds, strict=True)],
            )
        )
    title = Words("A table with hidden cells", "セルを秘匿した表")
    keys = (
        Words("primary suppression: too few", "一次秘匿: 少なすぎる"),
        Words("secondary: protects it", "二次秘匿: それを守る"),
    )
    told = keys[0].explain(language), keys[1].explain(language)
    return cell_table(title.explain(language), told, trades, rows)


CHARTS: dict[str, Callable[[str], str]] = {
    "errors": draw_errors,
    "histogram": draw_histogram,
    "collection": draw_collection,
    "suppression": draw_suppression,
}
PICTURES = ("map", *CHARTS, "page")


def photograph_page() -> None:
    """The report page of a small demonstration, in both languages, by the first browser that is installed."""
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        raise SystemExit(f"no browser found: none of {', '.join(BROWSERS)} is installed")
    from sudare.cli import main as run

    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    for language in ("en", "ja"):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place, "demo")
            if run(["--lang", language, "demo", "--out", str(folder), "--side", "256"]):
                raise SystemExit("the demonstration failed")
            picture = f"--screenshot={ASSETS / f'gallery-page-{language}.png'}"
            own = [f"--user-data-dir={place}/browser", "--window-size=860,900", "--hide-scrollbars", picture]
            page = (folder / "release" / "release.html").as_uri()
            subprocess.run([browser, *options, *own, page], check=True, capture_output=True)  # noqa: S603


def main() -> None:
    """Draw what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pictures", nargs="*", metavar="PICTURE", help=", ".join(PICTURES))
    asked = parser.parse_args().pictures or [name for name in PICTURES if name != "page"]
    if unknown := set(asked) - set(PICTURES):
        parser.error(f"no such picture: {', '.join(sorted(unknown))}")
    if "map" in asked:
        (ASSETS / MAP).write_bytes(draw_map())
    for name in CHARTS:
        if name in asked:
            for language in ("en", "ja"):
                file_of(name, language).write_text(CHARTS[name](language), encoding="utf-8")
    if "page" in asked:
        photograph_page()


if __name__ == "__main__":
    main()
