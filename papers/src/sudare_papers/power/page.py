"""The page about statistical power: what zCDP brings to whoever analyses released tables."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from sudare.bilingual import Words
from sudare_papers.maps import data_in_words, tokyo
from sudare_papers.power.runs import (
    CELLS,
    CHANGE,
    HALVES,
    HOT_SPOT,
    METHODS,
    OPTIMAL,
    PURE,
    QUESTIONS,
    SIDE,
    SIMPLE,
    WIDE,
    Detections,
    Powers,
    cell_levels,
    map_settings,
)
from sudare_papers.report import Cell, Column, Finding, Picture, Report, Table
from sudare_papers.settings import Settings
from sudare_papers.zcdp.runs import epsilon_of, panel_settings

__all__ = ["report"]

PAPER = (
    "Ishioka, Terada: NN-Wavelet under zero-concentrated differential privacy, for large tables of counts (in Japanese), "
    "its future work (section 5)"
)
COLOURS = {PURE: "#e69f00", SIMPLE: "#0072b2", OPTIMAL: "#56b4e9"}
QUESTION_WORDS = {
    CELLS: Words("two cells of a flat table differ", "単純な方式の表で、2つのセルが異なる"),
    HOT_SPOT: Words(
        "a hot spot of 4 x 4 cells in a flat table of 64 x 64", "単純な方式の 64 x 64 の表に、4 x 4 セルの集中がある"
    ),
    HALVES: Words("two halves of an area differ, NN-Wavelet", "エリアの2つの半分が異なる（NN-Wavelet）"),
    CHANGE: Words(
        "an area of 16 x 16 cells changed between two releases, NN-Wavelet before refinement",
        "16 x 16 セルのエリアが2回の公表の間に変化した（NN-Wavelet、補正前）",
    ),
}
METHOD_WORDS = {
    PURE: Words("epsilon-DP", "epsilon-DP"),
    SIMPLE: Words("zCDP", "zCDP"),
    OPTIMAL: Words("zCDP, optimal conversion", "zCDP（最適な変換）"),
    WIDE: Words("wide tree (sudare), epsilon-DP", "ワイドツリー（sudare、epsilon-DP）"),
}


def report(settings: Settings, results: Mapping[str, Any]) -> Report:
    """Smallest detectable differences, false negatives, power curves, tests on released maps."""
    powers = Powers.collect(settings, results)
    on_maps = {
        (method, *look): Detections.collect(settings, results, method, *look)
        for look in map_settings(settings)
        for method in (*METHODS, WIDE)
    }
    levels = cell_levels(settings)
    rows, columns = tokyo(settings).domain.shape
    introduction = (
        Words(
            "The paper leaves open how far zCDP raises the power of statistical tests at a given significance level: how many "
            "real differences an analyst of the released table misses, at the same share of false alarms and the same "
            "(epsilon, delta). It prints no numbers, so there is no ratio to give. Settings are those of its panels, with "
            f"epsilon by its equation (13) and {levels} levels of halving; false alarms are kept at 5 %. Powers are exact: they "
            "follow from the laws of the discrete noise, convolved (`sudare.evaluate.significance`).",
            "論文は、特定の有意水準における検出力が zCDP によりどれだけ高まるか、つまり偽陽性を抑えたまま、同じ (epsilon, delta) "
            "で偽陰性をどれだけ減らせるかを今後の課題としています（数値がないため、比はありません）。設定は論文のパネルと同じで、"
            f"epsilon は式 (13)、二分割は {levels} 段、偽陽性は 5 % です。検出力は離散ノイズの分布の畳み込みによる正確な値です"
            "（`sudare.evaluate.significance`）。",
        ),
        Words(
            f"Maps: {data_in_words(settings).english}; {rows} x {columns} meshes around the largest city, released twice, "
            f"{settings.repeats} repeats. In between, some inhabited areas of {SIDE} x {SIDE} cells get as many people more as "
            "NN-Wavelet with epsilon finds with the power 0.8. The refined tables are tested with the standard error "
            "that each method states beforehand (approximate tests). The limits in our findings were chosen after a quick run.",
            f"地図：{data_in_words(settings).japanese}。最大の都市の周辺 {rows} x {columns} メッシュを2回公表し、"
            f"{settings.repeats} 回反復します。その間に、人の住む {SIDE} x {SIDE} セルのエリアの一部で、"
            "epsilon の NN-Wavelet が検出力 0.8 で見つける人数だけ人口を増やします。"
            "補正後の表を、各手法が事前に示す標準誤差で検定します（近似的な検定）。"
            "所見の限界値は、試行の後に決めました。",
        ),
    )
    title = Words("Statistical power: what zCDP brings to analysts", "検出力：zCDP が分析者にもたらすもの")
    parts = (
        _smallest_table(powers),
        _missed_table(powers),
        _curves(powers),
        _map_table(settings, powers, on_maps),
        _all_points(powers),
    )
    return Report("power", title, PAPER, introduction, parts, _findings(settings, powers, on_maps))


def _smallest_table(powers: Powers) -> Table:
    columns = (
        Column("question", Words("what is to be found", "見つけたいもの")),
        Column("rho", Words("rho", "rho")),
        Column("delta", Words("delta", "delta")),
        Column("epsilon", Words("epsilon", "epsilon"), 3),
        *(Column(f"smallest_{method}", METHOD_WORDS[method], 3) for method in METHODS),
        Column("ratio", Words("zCDP / epsilon", "zCDP / epsilon"), decimals=2),
        Column("optimal_ratio", Words("optimal / epsilon", "最適な変換 / epsilon"), decimals=2),
    )
    rows: list[tuple[Cell, ...]] = []
    for question in QUESTIONS:
        for look in panel_settings(powers.settings):
            sizes = [powers.smallest(question, method, *look) for method in METHODS]
            ratios = [size / sizes[0] for size in sizes[1:]]
            rows.append((QUESTION_WORDS[question], *look, float(epsilon_of(*look)), *sizes, *ratios))
    note = Words(
        "People by which the true counts must differ to be found with the power 0.8, at 5 % false alarms (of the hot spot: 5 % "
        "for all windows of sides 1, 2, 4 and 8 of the map together). Flat tables are measured once, and there Laplace noise "
        "is the better one; NN-Wavelet measures every person once in each level, and there zCDP is.",
        "検出力 0.8、偽陽性 5 %（集中の検出では、地図上の1辺 1・2・4・8 のすべての窓を合わせて 5 %）で"
        "見つけるのに必要な、真の人数の差です。"
        "単純な方式は1回だけ測定するため Laplace ノイズが有利で、NN-Wavelet は各段で全員を1回ずつ測定するため zCDP が有利です。",
    )
    title = Words("The smallest difference that is found", "検出できる最小の差")
    return Table("smallest", title, columns, tuple(rows), note)


def _missed_table(powers: Powers) -> Table:
    columns = (
        Column("question", Words("what is to be found", "見つけたいもの")),
        Column("rho", Words("rho", "rho")),
        Column("delta", Words("delta", "delta")),
        *(Column(f"missed_{method}", METHOD_WORDS[method], decimals=3) for method in METHODS),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (QUESTION_WORDS[question], *look, *(powers.missed(question, method, *look) for method in METHODS))
        for question in (HALVES, CHANGE)
        for look in panel_settings(powers.settings)
    )
    note = Words(
        "The share of real differences that are missed, where the difference is as large as epsilon finds with the power 0.8.",
        "epsilon が検出力 0.8 で見つける大きさの差について、見落とす割合（偽陰性率）です。",
    )
    title = Words("False negatives at 5 % false alarms", "偽陽性 5 % のときの偽陰性")
    return Table("false-negatives", title, columns, rows, note)


def _curves(powers: Powers) -> Picture:
    looks = map_settings(powers.settings)

    def draw(figure: Any) -> None:
        axes = figure.subplots(2, len(looks), sharey=True, squeeze=False)
        for row, question in enumerate((HALVES, CELLS)):
            for column, look in enumerate(looks):
                axis = axes[row][column]
                effects = powers.effects(question, *look)
                for method in METHODS:
                    curve = powers.curve(question, method, *look)
                    axis.plot(effects, curve, color=COLOURS[method], label=METHOD_WORDS[method].english)
                axis.axhline(0.05, color="black", lw=0.6, ls=":")
                axis.grid(alpha=0.3)
                what = "two halves, NN-Wavelet" if question == HALVES else "two cells, flat"
                axis.set_title(f"{what}: rho = {look[0]}, delta = {look[1]}", fontsize=9)
                axis.set_xlabel("true difference (people)")
                if column == 0:
                    axis.set_ylabel("power")
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)

    title = Words("Power against the true difference", "真の差と検出力")
    note = Words(
        "At 5 % false alarms (dotted), with the same (epsilon, delta) in each panel.",
        "偽陽性 5 %（点線）。各パネルで (epsilon, delta) は共通です。",
    )
    return Picture("curves", title, draw, (3.7 * len(looks), 6.2), note)


def _map_table(settings: Settings, powers: Powers, on_maps: Mapping[tuple[str, str, str], Detections]) -> Table:
    columns = (
        Column("rho", Words("rho", "rho")),
        Column("delta", Words("delta", "delta")),
        Column("method", Words("method", "手法")),
        Column("exact", Words("power, exact, before refinement", "検出力（補正前、正確な値）"), decimals=3),
        Column("found", Words("changes found", "検出率"), decimals=3),
        Column("found_error", Words("±", "±"), decimals=3),
        Column("false", Words("false alarms, inhabited areas", "偽陽性（人の住むエリア）"), decimals=3),
        Column("false_error", Words("±", "±"), decimals=3),
        Column("false_everywhere", Words("false alarms, all areas", "偽陽性（全エリア）"), decimals=3),
    )
    rows: list[tuple[Cell, ...]] = []
    for look in map_settings(settings):
        for method in (*METHODS, WIDE):
            seen = on_maps[(method, *look)]
            exact = None if method == WIDE else 1 - powers.missed(CHANGE, method, *look)
            rows.append((*look, METHOD_WORDS[method], exact, *seen.found, *seen.false_alarms, seen.false_everywhere[0]))
    note = Words(
        "Shares of areas named by the test of a change at 5 %, over all repeats; ± is the standard error. Refinement moves "
        "counts towards 0 where few people live, so that fewer areas are named there. The standard error of NN-Wavelet is "
        "that of its noise before refinement; that of the wide tree is the one that its plan predicts.",
        "5 % の検定で変化ありとされたエリアの割合です（± は標準誤差）。人の少ない場所では補正により値が 0 に近づくため、"
        "変化ありとされるエリアが減ります。"
        "NN-Wavelet の標準誤差は補正前のノイズのもの、ワイドツリーの標準誤差は計画が予測した値です。",
    )
    title = Words("A change looked for on released maps", "公表した地図での変化の検出")
    return Table("maps", title, columns, tuple(rows), note)


def _all_points(powers: Powers) -> Table:
    columns = tuple(
        Column(name, Words(name, name)) for name in ("question", "rho", "delta", "method", "difference", "power")
    )
    rows = tuple(
        (question, *look, method, effect, power)
        for question in QUESTIONS
        for look in panel_settings(powers.settings)
        for method in METHODS
        for effect, power in zip(powers.effects(question, *look), powers.curve(question, method, *look), strict=True)
    )
    return Table("all-curves", Words("All points of the curves", "曲線の全点"), columns, rows, is_on_page=False)


def _findings(
    settings: Settings, powers: Powers, on_maps: Mapping[tuple[str, str, str], Detections]
) -> tuple[Finding, ...]:
    every = panel_settings(settings)
    rhos = tuple(dict.fromkeys(rho for rho, _ in every))
    deltas = tuple(dict.fromkeys(delta for _, delta in every))
    flat = min(
        powers.smallest(question, OPTIMAL, *look) / powers.smallest(question, PURE, *look)
        for question in (CELLS, HOT_SPOT)
        for look in every
    )
    at_largest = max(powers.missed(q, SIMPLE, rho, deltas[0]) for q in (HALVES, CHANGE) for rho in rhos)
    falls = min(
        powers.gain(HALVES, SIMPLE, rho, a) - powers.gain(HALVES, SIMPLE, rho, b)
        for rho in rhos
        for a, b in pairwise(deltas)
    )
    gains = [powers.gain(HALVES, SIMPLE, *look) for look in every]
    optimal = max(powers.missed(question, OPTIMAL, *look) for question in (HALVES, CHANGE) for look in every)
    wavelets = [on_maps[(method, *look)] for look in map_settings(settings) for method in METHODS]
    too_many = [seen.false_alarms[0] - 0.05 - 4 * _or_large(seen.false_alarms[1]) for seen in wavelets]
    apart = [
        abs(on_maps[(method, *look)].found[0] - (1 - powers.missed(CHANGE, method, *look)))
        for look in map_settings(settings)
        for method in METHODS
    ]
    tree = min(on_maps[(WIDE, *look)].found[0] for look in map_settings(settings))
    tree_alarms = [on_maps[(WIDE, *look)].false_alarms[0] for look in map_settings(settings)]
    return (
        Finding(
            Words(
                "in flat tables zCDP lowers the power: even with the optimal conversion a difference of two cells, or a hot "
                "spot, must be at least 1.2 times as large in every panel",
                "単純な方式の表では zCDP により検出力が下がります（最適な変換でも、2セルの差や集中は、"
                "どのパネルでも 1.2 倍以上の大きさが必要です）",
            ),
            flat >= 1.2,
            f"{flat:.2f}",
        ),
        Finding(
            Words(
                f"in NN-Wavelet zCDP lowers false negatives: at the largest delta ({deltas[0]}) from 20 % to at most 12 %, for "
                "every rho, by the paper's own conversion",
                f"NN-Wavelet では zCDP により偽陰性が減ります（delta = {deltas[0]} では、論文の変換でも、"
                "どの rho でも 20 % から 12 % 以下になります）",
            ),
            at_largest <= 0.12,
            f"{at_largest:.1%}",
        ),
        Finding(
            Words(
                "the larger delta, the larger the gain in power: the smallest difference that is found falls from each delta to "
                "the next larger one, for every rho",
                "delta が大きいほど検出力の改善も大きくなります（どの rho でも、検出できる最小の差は"
                " delta が大きいほど小さくなります）",
            ),
            falls > 0,
            f"{min(gains):.1%} – {max(gains):.1%}",
        ),
        Finding(
            Words(
                "sudare: with the optimal conversion at most 15 % are missed in every panel, where epsilon misses 20 %",
                "sudare：最適な変換では、epsilon が 20 % を見落とす差について、見落としはどのパネルでも 15 % 以下です",
            ),
            optimal <= 0.15,
            f"{optimal:.1%}",
        ),
        Finding(
            Words(
                "on refined maps of NN-Wavelet the tests keep 5 % of false alarms (within four standard errors)",
                "補正後の NN-Wavelet の地図でも、検定の偽陽性は 5 % に保たれます（標準誤差の4倍以内）",
            ),
            max(too_many) <= 0,
            ", ".join(f"{seen.false_alarms[0]:.1%}" for seen in wavelets),
        ),
        Finding(
            Words(
                "and find changes as often as the exact power says, within 5 points",
                "また、変化を見つける割合は正確な検出力と 5 ポイント以内で一致します",
            ),
            max(apart) <= 0.05,
            f"{100 * max(apart):.1f}",
        ),
        Finding(
            Words(
                "sudare: the wide tree with epsilon alone finds at least 95 % of these changes in every panel, without any delta",
                "sudare：ワイドツリーは epsilon のみ（delta なし）で、どのパネルでもこれらの変化の 95 % 以上を見つけます",
            ),
            tree >= 0.95,
            f"{tree:.1%}",
        ),
        Finding(
            Words(
                "sudare: with the standard error that its plan predicts, tests of the wide tree raise at most 7.5 % of false "
                "alarms in inhabited areas",
                "sudare：計画が予測する標準誤差を使うと、ワイドツリーの検定の偽陽性は、人の住むエリアで 7.5 % 以下です",
            ),
            max(tree_alarms) <= 0.075,
            ", ".join(f"{share:.1%}" for share in tree_alarms),
        ),
    )


def _or_large(error: float) -> float:
    """A standard error; of a single repeat, one that excuses everything."""
    return error if error == error else 1.0
