"""The page about NN-Wavelet under zero-concentrated privacy: tables, pictures, and which of the paper's sentences hold."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np

from sudare.bilingual import Words
from sudare.evaluate.significance import node_noise
from sudare.privacy import Budget
from sudare_papers.maps import data_in_words, tokyo
from sudare_papers.report import Cell, Column, Finding, Picture, Report, Table
from sudare_papers.settings import Settings
from sudare_papers.zcdp.runs import (
    COMPARED_SIDES,
    DELTAS,
    FIGURE_2E,
    METHODS,
    OPTIMAL,
    PAPER_TABLE_1,
    RHOS,
    WIDE,
    ZCDP,
    Panels,
    conversion_table,
    epsilon_of,
    panel_settings,
    sides_of,
)

__all__ = ["report"]

PAPER = (
    "Ishioka, Terada: NN-Wavelet under zero-concentrated differential privacy, for large tables of counts (in Japanese)"
)
COLOURS = ("#999999", "#000000", "#cc79a7", "#e69f00", "#0072b2", "#56b4e9", "#d55e00")
MARKS = ("s", "D", "v", "^", "o", "o", "*")


def report(settings: Settings, results: Mapping[str, Any]) -> Report:
    """Table 1, the panels, and which of the paper's findings hold."""
    panels = Panels.collect(settings, results)
    table = tokyo(settings)
    empty = 1 - len(table.keys) / table.domain.cells
    rows, columns = table.domain.shape
    introduction = Words(
        f"Data: {data_in_words(settings).english}; {rows} x {columns} meshes around the largest city, {empty:.1%} "
        "of them empty. "
        f"The paper has 512 x 512 meshes of the census of 2010 around Tokyo. {settings.repeats} repeats; each "
        "point is the "
        "root mean squared error over all repeats and all aligned squares of that size. All noise is discrete.",
        f"データ：{data_in_words(settings).japanese}。最大の都市の周辺 {rows} x {columns} メッシュ（ゼロの割合 "
        f"{empty:.1%}）。論文は "
        f"2010年国勢調査の首都圏 512 x 512 メッシュを使っています。反復 {settings.repeats} 回。各点は、"
        "その大きさの整列した正方形すべてと反復すべてに"
        "わたる二乗平均平方根誤差です。ノイズはすべて離散分布によるものです。",
    )
    title = Words("zCDP: NN-Wavelet under concentrated privacy", "zCDP：集中差分プライバシーによる NN-Wavelet")
    parts = (_table_1(), _panel_picture(panels), _mean_table(panels), _gain_picture(panels), _all_points(panels))
    return Report("zcdp", title, PAPER, (introduction,), parts, _findings(panels))


def _table_1() -> Table:
    ours, optimal = conversion_table(), conversion_table("optimal")
    rows = [
        (rho, delta, paper, own, float(own) / float(paper), best)
        for rho in RHOS
        for delta, paper, own, best in zip(DELTAS, PAPER_TABLE_1[rho], ours[rho], optimal[rho], strict=True)
    ]
    columns = (
        Column("rho", Words("rho", "rho")),
        Column("delta", Words("delta", "delta")),
        Column("paper_epsilon", Words("epsilon, paper", "epsilon（論文）")),
        Column("our_epsilon", Words("epsilon, ours by eq. (13)", "epsilon（sudare、式13）")),
        Column("ratio", Words("ratio", "比"), decimals=3),
        Column("optimal_epsilon", Words("epsilon, optimal conversion", "epsilon（最適な変換）")),
    )
    note = Words(
        "The same to the digit. The last column is what the same rho is worth by the optimal conversion of "
        "Canonne, Kamath and "
        "Steinke, which is what sudare charges: the paper's equation (13) overstates every epsilon.",
        "すべての桁で一致します。最後の列は、同じ rho を Canonne・Kamath・Steinke "
        "の最適な変換で換算した値です（sudare が台帳に記す値）。論文の式 (13) は"
        "どの epsilon も大きめに見積もっています。",
    )
    return Table(
        "table-1",
        Words("Table 1: epsilon for rho and delta", "表1：rho と delta に対応する epsilon"),
        columns,
        tuple(rows),
        note,
    )


def _mean_table(panels: Panels) -> Table:
    columns = [
        Column("rho", Words("rho", "rho")),
        Column("delta", Words("delta", "delta")),
        Column("epsilon", Words("epsilon", "epsilon"), 3),
        *(Column(method, Words(method, _in_japanese(method)), 3) for method in METHODS),
    ]
    rows: list[tuple[Cell, ...]] = []
    for rho, delta in panel_settings(panels.settings):
        errors = [panels.mean_error(method, rho, delta) for method in METHODS]
        rows.append((rho, delta, float(epsilon_of(rho, delta)), *errors))
    note = Words(
        "Geometric mean of the root mean squared errors for squares of 1 to 64 cells a side. The paper shows "
        "these panels as "
        "pictures and prints no numbers, so there is no ratio to give; its sentences about them are the findings "
        "above.",
        "1辺 1～64 セルの正方形についての二乗平均平方根誤差の幾何平均です。論文はこのパネルを図のみで示し、"
        "数値を載せていないため、比はありません。"
        "図についての論文の記述は、上の「確かめられたこと」で確認しています。",
    )
    title = Words("Mean error in each panel", "各パネルの平均誤差")
    return Table("panel-means", title, tuple(columns), tuple(rows), note)


def _all_points(panels: Panels) -> Table:
    columns = (
        Column("rho", Words("rho", "rho")),
        Column("delta", Words("delta", "delta")),
        Column("epsilon", Words("epsilon", "epsilon")),
        Column("method", Words("method", "手法")),
        Column("side", Words("side", "1辺")),
        Column("rmse", Words("RMSE", "RMSE")),
    )
    rows = tuple(
        (rho, delta, float(epsilon_of(rho, delta)), method, side, float(error))
        for rho, delta in panel_settings(panels.settings)
        for method in METHODS
        for side, error in zip(sides_of(panels.settings), panels.errors(method, rho, delta), strict=True)
    )
    return Table("panels", Words("All points of the panels", "パネルの全点"), columns, rows, is_on_page=False)


def _panel_picture(panels: Panels) -> Picture:
    rhos = tuple(dict.fromkeys(rho for rho, _ in panel_settings(panels.settings)))
    deltas = tuple(dict.fromkeys(delta for _, delta in panel_settings(panels.settings)))

    def draw(figure: Any) -> None:
        axes = figure.subplots(len(rhos), len(deltas), sharex=True, sharey="row", squeeze=False)
        for row, rho in enumerate(rhos):
            for column, delta in enumerate(deltas):
                axis = axes[row][column]
                for method, colour, mark in zip(METHODS, COLOURS, MARKS, strict=True):
                    style = "--" if method in (OPTIMAL, WIDE) else "-"
                    errors = panels.errors(method, rho, delta)
                    axis.loglog(
                        sides_of(panels.settings), errors, style, color=colour, marker=mark, ms=4, lw=1.3, label=method
                    )
                axis.set_title(f"rho = {rho}, delta = {delta}, epsilon = {epsilon_of(rho, delta):.2f}", fontsize=9)
                axis.grid(alpha=0.3)
                axis.set_xticks(sides_of(panels.settings)[::2], [str(side) for side in sides_of(panels.settings)[::2]])
                axis.minorticks_off()
                if row == len(rhos) - 1:
                    axis.set_xlabel("side of the area (cells)")
                if column == 0:
                    axis.set_ylabel("RMSE (people)")
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)

    title = Words("Figure 2: error by size of area", "図2：エリアサイズごとの誤差")
    note = Words(
        "Solid lines are the paper's five methods, dashed lines are ours. The wide tree needs no delta at all.",
        "実線は論文の5手法、破線はsudare の手法です。ワイドツリーは delta を使いません。",
    )
    return Picture("panels", title, draw, (11, 3 + 2.6 * len(rhos)), note)


def _gain_picture(panels: Panels) -> Picture:
    levels = (tokyo(panels.settings).domain.cells - 1).bit_length()
    rhos = tuple(dict.fromkeys(rho for rho, _ in panel_settings(panels.settings)))
    deltas = tuple(dict.fromkeys(delta for _, delta in panel_settings(panels.settings)))

    def draw(figure: Any) -> None:
        axis = figure.subplots()
        for place, (rho, colour) in enumerate(zip(rhos, ("#0072b2", "#e69f00", "#d55e00"), strict=False)):
            gains = [100 * panels.gain(rho, delta) for delta in deltas]
            errors = [200 * panels.gain_error(rho, delta) for delta in deltas]
            places = np.arange(len(deltas)) + 0.06 * (place - 1)
            axis.errorbar(places, gains, errors, color=colour, marker="o", capsize=3, label=f"rho = {rho}")
        axis.axhline(0, color="black", lw=0.8)
        axis.set_xticks(range(len(deltas)), deltas)
        axis.set_xlabel("delta")
        axis.set_ylabel("smaller error by zCDP (%)")
        axis.legend()
        axis.grid(alpha=0.3)

    title = Words("What zCDP brings to NN-Wavelet", "zCDP による NN-Wavelet の改善")
    note = Words(
        "How much smaller the mean error of NN-Wavelet becomes with concentrated privacy at the same (epsilon, "
        "delta); bars are two "
        "standard errors. The noise itself is 2 sqrt(H + 1) / (sqrt(rho) + 2 sqrt(ln(1 / delta))) times smaller, "
        f"H = {levels} levels here, so "
        "rho hardly matters: going from 0.1 to 0.001 changes that factor by 4 % at delta = 1e-5.",
        "同じ (epsilon, delta) で集中差分プライバシーを用いたとき、NN-Wavelet "
        "の平均誤差がどれだけ小さくなるかを示します（棒は標準誤差の2倍）。"
        f"ノイズ自体は 2 sqrt(H + 1) / (sqrt(rho) + 2 sqrt(ln(1 / delta))) 倍小さくなります（ここでは H = {levels} 段）。"
        "rho の影響はわずかで、delta = 1e-5 では"
        " rho を 0.1 から 0.001 にしても、この倍率は 4 % しか変わりません。",
    )
    return Picture("gain", title, draw, (6, 3.8), note)


def _findings(panels: Panels) -> tuple[Finding, ...]:
    every = panel_settings(panels.settings)
    rhos = tuple(dict.fromkeys(rho for rho, _ in every))
    deltas = tuple(dict.fromkeys(delta for _, delta in every))
    gains = {look: panels.gain(*look) for look in every}

    worse = min(float((panels.errors("Gaussian", *x) / panels.errors("Laplace", *x)).min()) for x in every)
    sides = np.log2(sides_of(panels.settings)[:COMPARED_SIDES])
    slopes = [
        float(np.polyfit(sides, np.log2(panels.errors(method, *x)[:COMPARED_SIDES]), 1)[0])
        for method in ("Laplace", "Gaussian")
        for x in every
    ]
    least = min(gains[rho, deltas[0]] for rho in rhos)
    falls = min(gains[rho, a] - gains[rho, b] for rho in rhos for a, b in pairwise(deltas))
    parity = max(abs(gains[rho, deltas[-1]]) for rho in rhos)
    by_rho = [float(np.mean([gains[rho, delta] for delta in deltas])) for rho in rhos]
    spread = sqrt(sum(panels.gain_error(rho, delta) ** 2 for rho in (rhos[0], rhos[-1]) for delta in deltas)) / len(
        deltas
    )
    growth = max(panels.errors(ZCDP, *x)[COMPARED_SIDES - 1] / panels.errors(ZCDP, *x)[0] for x in every)
    topdown = min(panels.mean_error("Top-down", *x) / panels.mean_error("NN-Wavelet", *x) for x in every)
    wide = max(panels.mean_error(WIDE, *x) / panels.mean_error(ZCDP, *x) for x in every)
    optimal = max(panels.mean_error(OPTIMAL, *x) / panels.mean_error(ZCDP, *x) for x in every)
    return (
        Finding(
            Words("Table 1 is the same to the digit", "表1はすべての桁で一致します"),
            conversion_table() == PAPER_TABLE_1,
            "18 / 18",
        ),
        Finding(
            Words(
                "flat Gaussian noise is worse than flat Laplace noise, at least 1.5 times in every panel and for "
                "every side",
                "単純な Gaussian は単純な Laplace より、どのパネル・どの大きさでも 1.5 倍以上悪くなります",
            ),
            worse >= 1.5,
            f"{worse:.2f}",
        ),
        Finding(
            Words(
                "the error of both grows in proportion to the side (slope 1, within 0.1)",
                "両者の誤差は1辺の長さに比例します（傾き 1、許容 0.1）",
            ),
            all(abs(slope - 1) <= 0.1 for slope in slopes),
            f"{min(slopes):.3f} – {max(slopes):.3f}",
        ),
        Finding(
            Words(
                f"zCDP makes NN-Wavelet at least 5 % more accurate at the largest delta ({deltas[0]}), for every rho",
                f"delta が最大（{deltas[0]}）のとき、zCDP により NN-Wavelet の誤差はどの rho でも 5 % "
                "以上小さくなります",
            ),
            least >= 0.05,
            f"{least:.1%}",
        ),
        Finding(
            Words(
                "the larger delta, the larger the gain: by at least 1 point from each delta to the next, for every rho",
                "delta が大きいほど改善も大きくなります（どの rho でも、隣の delta より 1 ポイント以上）",
            ),
            falls >= 0.01,
            f"{100 * falls:.1f}",
        ),
        Finding(
            Words(
                f"at the smallest delta ({deltas[-1]}) both are about equal: within 10 %",
                f"delta が最小（{deltas[-1]}）のとき、両者はほぼ同等です（10 % 以内）",
            ),
            parity <= 0.1,
            f"{parity:.1%}",
        ),
        Finding(
            Words(
                f"the smaller rho, the larger the gain: the mean over delta at {rhos[-1]} is above that at "
                f"{rhos[0]} by two "
                "standard errors or more",
                f"rho が小さいほど改善が大きくなります（rho = {rhos[-1]} の delta 平均が rho = {rhos[0]} "
                "を標準誤差の2倍以上上回ります）",
            ),
            by_rho[-1] - by_rho[0] > 2 * spread,
            ", ".join(f"{rho}: {gain:.1%}" for rho, gain in zip(rhos, by_rho, strict=True)) + f", ± {spread:.1%}",
        ),
        Finding(
            Words(
                "NN-Wavelet (zCDP) keeps the growth with the area down: from 1 to 64 cells a side below 4 times "
                "in every panel, where flat "
                "noise grows 64 times",
                "NN-Wavelet（zCDP）は面積に伴う誤差の増加を抑えます（1辺 1 → 64 セルでどのパネルも 4 倍未満。"
                "単純なノイズは 64 倍）",
            ),
            growth < 4,
            f"{growth:.2f}",
        ),
        Finding(
            Words(
                "NN-Wavelet is more accurate than top-down bisection, by a tenth or more in every panel",
                "NN-Wavelet は二分割の Top-down より、どのパネルでも 1 割以上正確です",
            ),
            topdown >= 1.1,
            f"{topdown:.2f}",
        ),
        Finding(
            Words(
                "sudare: the optimal conversion takes at least 5 % off the error of NN-Wavelet (zCDP) in every panel",
                "sudare：最適な変換により、NN-Wavelet（zCDP）の誤差はどのパネルでもさらに 5 % 以上小さくなります",
            ),
            optimal <= 0.95,
            f"{optimal:.2f}",
        ),
        Finding(
            Words(
                "sudare: the wide tree has at most 0.8 of the error of NN-Wavelet (zCDP) in every panel, with delta = 0",
                "sudare：ワイドツリーの誤差は delta = 0 でも、どのパネルでも NN-Wavelet（zCDP）の 0.8 倍以下です",
            ),
            wide <= 0.8,
            f"{wide:.2f}",
        ),
        *_figure_2e(panels),
    )


def _figure_2e(panels: Panels) -> tuple[Finding, ...]:
    """The paper's sentence on the largest areas, where the run has that panel with areas of a quarter of the map."""
    largest = sides_of(panels.settings)[-1]
    domain = tokyo(panels.settings).domain
    if FIGURE_2E not in panel_settings(panels.settings) or 2 * largest != domain.shape[0]:
        return ()
    ratio, error = panels.at_largest(*FIGURE_2E)
    rho, delta = FIGURE_2E
    levels = (domain.cells - 1).bit_length()
    concentrated, pure = Budget(rho=Decimal(rho)), Budget(epsilon=epsilon_of(rho, delta))
    ours = node_noise(concentrated, levels, 2, "gaussian").standard_deviation / 4
    theirs = node_noise(pure, levels, 2, "laplace").standard_deviation / 4
    errors = [panels.errors(method, rho, delta)[-1] for method in (ZCDP, "NN-Wavelet")]
    sentence = Words(
        f"the paper says of its Fig. 2(e) (rho = {rho}, delta = {delta}) that the proposal gets worse at the largest area, and "
        f"blames noise that accumulates there: NN-Wavelet (zCDP) is worse than NN-Wavelet at squares of {largest} cells a side",
        f"論文は図2 (e)（rho = {rho}、delta = {delta}）について、最大エリアサイズでは累積したノイズの影響で"
        "提案手法の精度が悪化したと述べています："
        f"1辺 {largest} セルの正方形で NN-Wavelet（zCDP）は NN-Wavelet より悪い",
    )
    evidence = (
        f"{errors[0]:.1f} against {errors[1]:.1f}, ratio {ratio:.2f} ± {error:.2f}; the noise of such an area, from the "
        f"total and two differences, is {ours:.1f} against {theirs:.1f}"
    )
    return (Finding(sentence, ratio > 1, evidence),)


def _in_japanese(method: str) -> str:
    return {OPTIMAL: "NN-Wavelet（zCDP、最適な変換）", WIDE: "ワイドツリー（sudare、delta = 0）"}.get(method, method)
