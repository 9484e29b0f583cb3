"""Draw the pictures about repeated releases, in both languages.

    python -m tools.draw_series [PICTURE ...]

``methods``: one area over an invented day, as published by a series and by the methods of others. ``path``: what one person's
stays add to the noise. Everything is invented, and drawn from seeds, so that the same pictures come out again.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.series_streams import OURS, AreaStream, StreamSize, baseline_tables, series_tables
from numpy.typing import NDArray
from tools.gallery_charts import LEFT, RIGHT, TOP, WIDTH, svg_page, svg_text

from sudare.bilingual import Words
from sudare.releases.charts import short_number
from sudare.series.baselines import BASELINES
from sudare.series.sensitivity import gram_of_coefficients
from sudare.series.strategies import strategy_for

Numbers = NDArray[Any]

__all__ = ["ASSETS", "CHARTS", "draw_methods", "draw_path", "file_of", "main"]

ASSETS = Path(__file__).resolve().parents[1] / "docs" / "assets"
SIZE = StreamSize(side=64, blocks=8, people=30_000, ticks=144)
SHARE, RHO, MOVES, SEED = 0.01, "0.1", 4, 3
PANEL, GAP = 96, 34
STAYS = ((0, 48), (48, 108), (108, 126), (126, 144))
"""One person's day in ticks of ten minutes: home, work, stadium, home."""

NAMES = {
    OURS: Words("sudare", "sudare"),
    "uniform": Words("Uniform: fresh noise at every tick", "Uniform: 時点ごとに新しいノイズ"),
    "sample": Words("Sample: one tick, repeated", "Sample: 1 時点だけを公表し、繰り返す"),
    "bd": Words("BD: publish on change, half of what is left", "BD: 変化したときに残りの半分で公表"),
    "ba": Words("BA: publish on change, saved shares", "BA: 変化したときに貯めた分で公表"),
    "pegasus": Words("PeGaSus: medians of stable groups", "PeGaSus: 変化の少ない区間の中央値"),
    "honaker": Words("Honaker: tree of changes", "Honaker: 変化の木"),
}
STRATEGIES = {
    "fresh": Words("stocks at every tick (fresh noise)", "時点ごとの人数（毎回新しいノイズ）"),
    "moves": Words("changes only", "変化だけ"),
    "power": Words("between the two (sudare)", "その中間（sudare）"),
}
PLACES = (Words("home", "自宅"), Words("work", "職場"), Words("stadium", "競技場"))


def file_of(name: str, language: str) -> Path:
    """Where a picture lies."""
    return ASSETS / f"series-{name}-{language}.svg"


def draw_methods(language: str, size: StreamSize = SIZE) -> str:
    """One area over a day, true and published, a panel for each method, with the error over all areas and ticks."""
    stream = AreaStream(size, SHARE, SEED)
    block = size.side // size.blocks
    row, column = stream.flow.stadium // size.side // block, stream.flow.stadium % size.side // block
    area = row * size.blocks + column
    tables: dict[str, list[tuple[Numbers, Numbers]]] = {OURS: list(series_tables(stream, RHO, MOVES))}
    tables |= {name: list(baseline_tables(stream, RHO, name, MOVES)) for name in BASELINES}
    errors = {
        name: float(np.sqrt(np.mean([np.mean((published - true) ** 2) for true, published in ticks])))
        for name, ticks in tables.items()
    }
    true = [float(one[area]) for one, _ in tables[OURS]]
    values = {name: [float(published[area]) for _, published in ticks] for name, ticks in tables.items()}
    most = max(max(true), *(max(line) for line in values.values()))
    title = Words("An area with a stadium over a day, rho = 0.1", "競技場のある区域の1日、rho = 0.1").explain(language)
    told = Words("error of all areas: {error}", "全区域の誤差: {error}")
    parts = _key(language)
    for number, (name, line) in enumerate(values.items()):
        top = TOP + 22 + number * (PANEL + GAP)
        error = told.format(error=f"{errors[name]:.1f}").explain(language)
        parts += [
            svg_text(LEFT, top + 4, NAMES[name].explain(language), "title" if name == OURS else "ink"),
            svg_text(WIDTH - RIGHT, top + 4, error, "end"),
            *_panel(top + 16, true, line, most),
        ]
    bottom = TOP + 22 + len(values) * (PANEL + GAP)
    parts += [svg_text(_across(hour / 24), bottom, f"{hour}:00", "middle") for hour in range(0, 25, 6)]
    return svg_page(WIDTH, bottom + 24, title, parts)


def _key(language: str) -> list[str]:
    true = Words("as counted (kept secret)", "実際の集計（非公開）").explain(language)
    published = Words("as published", "公表値").explain(language)
    return [
        f'<line x1="{LEFT}" y1="{TOP}" x2="{LEFT + 18}" y2="{TOP}" class="line c"/>',
        svg_text(LEFT + 24, TOP, true, "ink"),
        f'<line x1="{LEFT + 220}" y1="{TOP}" x2="{LEFT + 238}" y2="{TOP}" class="line b"/>',
        svg_text(LEFT + 244, TOP, published, "ink"),
    ]


def _panel(top: float, true: Sequence[float], published: Sequence[float], most: float) -> list[str]:
    def way(line: Sequence[float]) -> str:
        steps = len(line)
        return " ".join(
            f"{_across(tick / steps):.1f},{top + PANEL * (1 - max(value, 0) / most):.1f}"
            for tick, value in enumerate(line)
        )

    return [
        f'<line x1="{LEFT}" y1="{top + PANEL}" x2="{WIDTH - RIGHT}" y2="{top + PANEL}" class="rule"/>',
        svg_text(LEFT - 8, top, short_number(round(most, -1)), "end"),
        svg_text(LEFT - 8, top + PANEL, "0", "end"),
        f'<polyline points="{way(published)}" class="line b"/>',
        f'<polyline points="{way(true)}" class="line c"/>',
    ]


def draw_path(language: str) -> str:
    """One person's day, what it changes, and what each stay adds to the variance of a count, for three strategies."""
    title = Words("One person's day, and what it costs", "ある人の1日と、その費用").explain(language)
    parts = _stays(language)
    top = TOP + 190
    told = Words(
        "noise variance of a count at rho = 1/2, by stay", "滞在ごとの寄与で分けた集計値のノイズの分散（rho = 1/2）"
    )
    parts.append(svg_text(LEFT, top, told.explain(language), "ink"))
    shares = {name: stay_variances(name) for name in STRATEGIES}
    most = max(sum(one) for one in shares.values())
    for number, (name, one) in enumerate(shares.items()):
        y = top + 24 + number * 50
        start = float(LEFT)
        parts.append(svg_text(LEFT, y, STRATEGIES[name].explain(language)))
        for stay, value in enumerate(one):
            wide = value / most * (WIDTH - LEFT - RIGHT - 60)
            kind = ("soft", "hide", "also", "soft")[stay]
            parts.append(f'<rect x="{start:.1f}" y="{y + 10:.1f}" width="{wide:.1f}" height="18" class="{kind}"/>')
            start += wide
        parts.append(svg_text(start + 8, y + 19, short_number(round(sum(one))), "ink"))
    return svg_page(WIDTH, top + 24 + 50 * len(shares) + 16, title, parts)


def stay_variances(name: str) -> list[float]:
    """What each stay of the path adds to the variance of the last tick's count, by a strategy."""
    strategy = strategy_for(name, STAYS[-1][1], len(STAYS) - 1)
    gram = gram_of_coefficients(np.array(strategy.coefficients)).astype(np.float64)
    variance = float(strategy.deviations()[-1]) ** 2
    found = []
    for first, end in STAYS:
        if end < STAYS[-1][1]:
            found.append(variance * (gram[first, first] + gram[end, end] - 2 * gram[first, end]))
        else:
            found.append(variance * gram[first, first])
    return found


def _stays(language: str) -> list[str]:
    """A line for each place, a bar for each stay, and the changes at its ends."""
    parts = []
    for place, name in enumerate(PLACES):
        y = TOP + 22 + 44 * place
        parts.append(svg_text(LEFT - 10, y, name.explain(language), "ink end"))
        parts.append(f'<line x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}" class="rule"/>')
    last = STAYS[-1][1]
    for number, (first, end) in enumerate(STAYS):
        y = TOP + 22 + 44 * (number % 3)
        kind = ("soft", "hide", "also", "soft")[number]
        x, stop = _across(first / last), _across(end / last)
        parts.append(f'<rect x="{x:.1f}" y="{y - 10}" width="{stop - x:.1f}" height="20" class="{kind}"/>')
        parts.append(svg_text(x + 12, y - 17, "+1", "middle"))
        if end < last:
            parts.append(svg_text(stop - 12, y + 17, "\N{MINUS SIGN}1", "middle"))
    y = TOP + 22 + 44 * len(PLACES)
    parts += [svg_text(_across(hour / 24), y, f"{hour}:00", "middle") for hour in range(0, 25, 6)]
    return parts


def _across(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


CHARTS: dict[str, Callable[[str], str]] = {"methods": draw_methods, "path": draw_path}


def main() -> None:
    """Draw what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pictures", nargs="*", metavar="PICTURE", help=", ".join(CHARTS))
    asked = parser.parse_args().pictures or list(CHARTS)
    if unknown := set(asked) - set(CHARTS):
        parser.error(f"no such picture: {', '.join(sorted(unknown))}")
    for name in asked:
        for language in ("en", "ja"):
            file_of(name, language).write_text(CHARTS[name](language), encoding="utf-8")


if __name__ == "__main__":
    main()
