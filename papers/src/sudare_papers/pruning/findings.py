"""Which of the pruning paper's sentences hold."""

from __future__ import annotations

import numpy as np

from sudare.bilingual import Words
from sudare_papers.pruning.results import PRINTED, WAYS, Found, correlation, order_of, weight_correlation
from sudare_papers.pruning.runs import (
    AREAS,
    FROM_BEST_TO_WORST,
    KANTO_RANDOM,
    ORDERINGS,
    PAPER_HORIZONTAL,
    PAPER_TABLE_3_HORIZONTAL,
    SETTINGS,
)
from sudare_papers.report import Finding

__all__ = ["findings"]

NEAR = 5.0
"""Points that a saving may lie below the paper's to count as near."""

HIGH = 0.7
"""A correlation from here on counts as high."""


def findings(found: Found) -> tuple[Finding, ...]:
    """All of them, from what was measured for each ordering and area."""
    return (
        _same_results(found),
        _vertical_saves_more(found),
        _orders_as_in_paper(found),
        _near_the_paper(found, "vertical"),
        _near_the_paper(found, "horizontal"),
        _areas_as_in_paper(found),
        _grows_with_zeros(found),
        _grows_with_weight(found),
        _vertical_saves_more_in_ours(found),
        _vertical_saves_more_than_memory_first(found),
        _erratum(),
    )


def _same_results(found: Found) -> Finding:
    agree = [measured.agree for measured in found.values()]
    return Finding(
        Words(
            "The paper's four programs, and the two variants of them, give the same result bit by bit in all 16 settings; so "
            "do our three.",
            "論文の4つのプログラムとその変形2つの結果は、16条件すべてでビット単位で一致します。本パッケージの3つの実装の結果も"
            "互いに一致します。",
        ),
        all(agree),
        f"{sum(agree)}/{len(agree)}",
    )


def _vertical_saves_more(found: Found) -> Finding:
    margins = {
        by: {s: m.saved_by("vertical", by) - m.saved_by("horizontal", by) for s, m in found.items()}
        for by in ("medians", "means")
    }
    least = min(margins["medians"], key=lambda setting: margins["medians"][setting])
    wins = {name: sum(margin > 0 for margin in all_of.values()) for name, all_of in margins.items()}
    return Finding(
        Words(
            "The vertical program saves more than the horizontal one in all 16 settings (by medians, any margin).",
            "16条件すべてで、垂直型は水平型より時間短縮率が高くなります（中央値で判定、差の大きさは問いません）。",
        ),
        wins["medians"] == len(SETTINGS),
        f"{wins['medians']}/16 by medians, {wins['means']}/16 by means; least margin {margins['medians'][least]:+.1f} points, "
        f"{least[1]} {least[0]}",
    )


def _orders_as_in_paper(found: Found) -> Finding:
    pairs = [(way, area.name) for way in WAYS for area in AREAS]
    right = {
        by: [pair for pair in pairs if order_of(found, *pair, by) == FROM_BEST_TO_WORST] for by in ("medians", "means")
    }
    others = [
        f"{area} {way}: {' > '.join(order_of(found, way, area))}"
        for way, area in pairs
        if (way, area) not in right["medians"]
    ]
    counts = f"{len(right['medians'])}/8 by medians, {len(right['means'])}/8 by means"
    return Finding(
        Words(
            "Sorted saves most, then Morton, then raster, and random least, in all four areas with both programs (by medians).",
            "4エリアすべて、両実装で、時間短縮率はソート、Morton、ラスター、ランダムの順に高くなります（中央値で判定）。",
        ),
        not others,
        "; ".join([counts, *others]),
    )


def _near_the_paper(found: Found, way: str) -> Finding:
    differences = {setting: found[setting].saved_by(way) - PRINTED[way][setting][2] for setting in SETTINGS}
    below = [setting for setting, difference in differences.items() if difference < -NEAR]
    evidence = [
        f"{len(SETTINGS) - len(below)}/16",
        f"mean difference {np.mean(list(differences.values())):+.1f} points",
    ]
    if below:
        evidence.append(
            "below: " + ", ".join(f"{area} {ordering} {differences[ordering, area]:+.1f}" for ordering, area in below)
        )
        beyond = [s for s in below if found[s].left_out < PRINTED[way][s][2] - NEAR]
        evidence.append(f"in {len(beyond)} of these even the share of averages left out lies as far below")
    return Finding(
        Words(
            f"{WAYS[way].english.capitalize()} pruning saves at least as much as in the paper minus {NEAR:g} points in all "
            "16 settings.",
            f"{WAYS[way].japanese}の時間短縮率は、16条件すべてで「論文の値 − {NEAR:g} ポイント」以上です。",
        ),
        not below,
        "; ".join(evidence),
    )


def _areas_as_in_paper(found: Found) -> Finding:
    expected = ["hokkaido-quarter", "shikoku", "kanto"]
    others = []
    for ordering in ORDERINGS:
        order = sorted(expected, key=lambda area: -found[ordering, area].saved_by("vertical"))
        if order != expected:
            others.append(f"{ordering}: {' > '.join(order)}")
    return Finding(
        Words(
            "Of the three areas of equal size, vertical pruning saves most in Hokkaido 1/4 and least in Kanto, in all four "
            "orderings.",
            "同じ大きさの3エリアでは、4方式すべてで、垂直型の時間短縮率は北海道1/4が最も高く、関東が最も低くなります。",
        ),
        not others,
        "; ".join([f"{len(ORDERINGS) - len(others)}/4", *others]),
    )


def _grows_with_zeros(found: Found) -> Finding:
    values, paper = {}, {}
    for way in WAYS:
        for ordering in ORDERINGS:
            ours = [found[ordering, area.name] for area in AREAS]
            values[way, ordering] = correlation([m.zeros for m in ours], [m.saved_by(way) for m in ours])
            printed = [PRINTED[way][ordering, area.name][2] for area in AREAS]
            paper[way, ordering] = correlation([area.zeros for area in AREAS], printed)
    return Finding(
        Words(
            f"The time saved goes with the share of empty cells: over the four areas r is at least {HIGH} in each ordering "
            "with both programs. (The paper calls it high; in brackets what its Table 3 gives.)",
            f"時間短縮率とゼロ値含有比率には高い正の相関があります。各方式・各実装で、4エリアの相関係数は {HIGH} 以上です（論"
            "文は「高い」とのみ述べています。角括弧内は論文の表3から計算した値です）。",
        ),
        all(value >= HIGH for value in values.values()),
        ", ".join(
            f"{way} {ordering} {value:.2f} [{paper[way, ordering]:.2f}]" for (way, ordering), value in values.items()
        ),
    )


def _grows_with_weight(found: Found) -> Finding:
    equal = [setting for setting in SETTINGS if setting[1] != "hokkaido"]
    values = {}
    for way in WAYS:
        values[f"{way}, WP, three areas"] = weight_correlation(found, way, equal, relative=False)
        values[f"{way}, share, four areas"] = weight_correlation(found, way, list(SETTINGS), relative=True)
    return Finding(
        Words(
            f"The time saved goes with the weighted pruning count: r is at least {HIGH} over the three areas of equal size, "
            "and over all four if taken as a share of all averages.",
            "時間短縮率と重み付き枝刈り発生回数には高い正の相関があります。同じ大きさの3エリアで、また全演算に対する割合とす"
            f"れば4エリア全体で、相関係数は {HIGH} 以上です。",
        ),
        all(value >= HIGH for value in values.values()),
        "; ".join(f"{name} {value:.3f}" for name, value in values.items()),
    )


def _vertical_saves_more_in_ours(found: Found) -> Finding:
    wins = [m.saved("ours vertical", "ours none") > m.saved("ours horizontal", "ours none") for m in found.values()]
    return Finding(
        Words(
            "Of the kernels that releases use, the vertical one is also faster than the horizontal one in all 16 settings (by "
            "medians).",
            "本パッケージの実装でも、16条件すべてで垂直型が水平型より高速です（中央値で判定）。",
        ),
        all(wins),
        f"{sum(wins)}/16",
    )


def _vertical_saves_more_than_memory_first(found: Found) -> Finding:
    margins = {
        setting: measured.saved_by("vertical") - measured.saved("horizontal memory first", "horizontal unpruned")
        for setting, measured in found.items()
    }
    others = [f"{area} {ordering} {margin:+.1f} points" for (ordering, area), margin in margins.items() if margin <= 0]
    return Finding(
        Words(
            "Even if the horizontal program asks its memory before the average, the vertical one saves more in all 16 "
            "settings (by medians).",
            "水平型がメモリを近似係数より先に参照するようにしても、16条件すべてで垂直型のほうが時間短縮率が高くなります（中央"
            "値で判定）。",
        ),
        not others,
        "; ".join([f"{len(SETTINGS) - len(others)}/16", *others]),
    )


def _erratum() -> Finding:
    pruned, unpruned, printed = PAPER_HORIZONTAL[KANTO_RANDOM]
    computed = round(100 * (unpruned - pruned) / unpruned, 1)
    in_table_3 = PAPER_TABLE_3_HORIZONTAL[KANTO_RANDOM]
    return Finding(
        Words(
            "Erratum: for Kanto in random order, the paper's Tables 2 and 3 disagree on the horizontal saving, and neither is "
            "what follows from the printed times.",
            "論文の誤植：関東・ランダム方式の水平型の時間短縮率は表2と表3で異なり、どちらも印刷された処理時間から計算した値と"
            "一致しません。",
        ),
        len({printed, in_table_3, computed}) == 3,
        f"Table 2 {printed}, Table 3 {in_table_3}, from the times {computed}",
    )
