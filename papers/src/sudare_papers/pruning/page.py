"""The page about pruning: the paper's tables and figures beside ours, and our kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sudare.bilingual import Words
from sudare_papers.maps import data_in_words
from sudare_papers.pruning.findings import findings
from sudare_papers.pruning.results import (
    PRINTED,
    TITLES,
    WAYS,
    Found,
    gathered,
    order_of,
    weight_correlation,
)
from sudare_papers.pruning.runs import (
    AREAS,
    EPSILON,
    FROM_BEST_TO_WORST,
    ORDERINGS,
    PAPER_HORIZONTAL,
    PAPER_TABLE_3_HORIZONTAL,
    PAPER_VERTICAL,
    SETTINGS,
)
from sudare_papers.report import Cell, Column, Picture, Report, Table
from sudare_papers.settings import Settings

__all__ = ["report"]


def report(settings: Settings, results: Mapping[str, Any]) -> Report:
    """The page with the paper's three tables, its two figures, our kernels, and what holds.

    Args:
        settings: of the run.
        results: of all steps, by their names.
    """
    found = {
        (ordering, area): gathered([results[name] for name in results if name.startswith(f"{area} {ordering} ")])
        for ordering, area in SETTINGS
    }
    parts: tuple[Table | Picture, ...] = (
        _times_table(1, "vertical", found),
        _times_table(2, "horizontal", found),
        _savings_table(found),
        _orderings_table(found),
        _picture_of_zeros(found),
        _pruning_counts_table(found),
        _prunings_table(found),
        _picture_of_weights(found),
        _our_kernels_table(found),
        _open_choices_table(found),
    )
    return Report(
        "pruning",
        Words("Time saved by pruning the refinement", "非負精緻化の枝刈りによる時間短縮"),
        "本郷節之, 寺田雅之, 鈴木昭弘, 稲垣潤: 非負精緻化をともなう Privelet 法における演算効率化手法の性能向上, "
        "情報処理学会"
        "論文誌 (2020)",
        _introduction(settings, found),
        parts,
        findings(found),
    )


def _introduction(settings: Settings, found: Found) -> tuple[Words, ...]:
    data = data_in_words(settings)
    rounds = len(found[SETTINGS[0]].milliseconds["ours none"])
    large, small = found["raster", "hokkaido"].leaves.bit_length() - 1, found["raster", "kanto"].leaves.bit_length() - 1
    if settings.data is None:
        windows = Words(
            "The areas are windows of the invented country, those whose share of empty cells comes nearest to the "
            "paper's" + (", with half the paper's sides." if settings.is_quick else "."),
            "各エリアは架空の国から切り出したもので、ゼロ値含有比率が論文に最も近い位置を選びました。"
            + ("一辺は論文の半分です。" if settings.is_quick else ""),
        )
    else:
        windows = Words(
            "Cells are of 1 km (2 x 2 meshes of 500 m); the paper has the census of 2010. It does not print its "
            "windows, so "
            "ours were chosen by their share of empty cells: for Shikoku and Kanto the window nearest to the "
            "middle of the "
            "area whose share is the paper's, to 0.05 points. No window with all of Hokkaido has 95.0 % of empty "
            "cells (one "
            "has 92.5 %), so we took the one nearest to the middle of the island for which both Hokkaido and "
            "Hokkaido 1/4 "
            "come within one point of the paper: it has Sapporo, Asahikawa, Obihiro and Hakodate, but not the "
            "east of the "
            "island.",
            "セルは1 km（500 m メッシュ 2×2 個）です。論文は2010年の国勢調査を使っています。"
            "論文には切り出し位置が書かれていな"
            "いため、ゼロ値含有比率を手がかりに選びました。四国と関東は、"
            "比率が論文と0.05ポイント以内で一致する位置のうち、地"
            "域の中央に最も近いものです。北海道全体を含む位置では95.0 %に届かない（92.5 %程度）ため、"
            "北海道と北海道1/4の両方が"
            "論文と1ポイント以内になる位置のうち、島の中央に最も近いものを選びました。"
            "札幌・旭川・帯広・函館は含みますが、東部"
            "は含みません。",
        )
    return (
        Words(
            f"Data: {data.english}. Noise: Laplace with epsilon = {EPSILON} for each level, as in the paper, "
            "which is "
            f"{(large + 1) * EPSILON:.1f} in all for 2^{large} cells and {(small + 1) * EPSILON:.1f} for "
            f"2^{small}. It is "
            "drawn beforehand, once for each area and ordering, and all programs see the same.",
            f"データ：{data.japanese}。ノイズは論文と同じく、各階層あたり ε = {EPSILON} の Laplace "
            "ノイズです（全体では 2^"
            f"{large} セルで {(large + 1) * EPSILON:.1f}、2^{small} セルで {(small + 1) * EPSILON:.1f} "
            "になります）。エリアと"
            "並べ方ごとに一度だけ先に生成し、どのプログラムにも同じノイズを与えます。",
        ),
        windows,
        Words(
            "The paper's programs are written as it describes them, in double precision, and compiled by numba. "
            "Each starts "
            "from arrays that may hold anything, so its time includes what it must clear: the leaves in the "
            "vertical program "
            "with pruning, the memory in the horizontal one; without pruning there is nothing to clear. The "
            "programs take "
            f"turns for {rounds} rounds, twice in each, of which the second run is timed. Times are means, as in "
            "the paper. "
            "Savings are given by means and by medians; findings and pictures use the median of what each round "
            "saves, "
            "because one interruption by the machine moves a mean. Sorting looks at the data and is never private.",
            "論文のプログラムは記述どおりに倍精度で書き、numba でコンパイルしました。"
            "配列の中身は不定として始めるため、必要な"
            "初期化（垂直型の枝刈りありではリーフ、水平型の枝刈りありでは演算省略ノード数メモリ）も時間に含みます"
            "。枝刈りなし"
            f"では初期化は不要です。すべてのプログラムを交互に {rounds} 回ずつ実行しました（各回2度続けて実行し、"
            "2度目を計測し"
            "ています）。時間は論文と同じく平均です。時間短縮率は平均と中央値の両方を示し、"
            "判定と図には各回の短縮率の中央値を"
            "使います（平均は一度の割り込みでも動くためです）。ソート方式はデータを見て並べるため、"
            "差分プライバシーを満たしま"
            "せん。",
        ),
    )


def _ratio(ours: float, paper: float) -> float | None:
    return ours / paper if ours > 0 and paper > 0 else None


def _setting_columns() -> tuple[Column, ...]:
    return Column("ordering", Words("ordering", "並べ方")), Column("area", Words("area", "エリア"))


def _named(setting: tuple[str, str]) -> tuple[Cell, ...]:
    return ORDERINGS[setting[0]], TITLES[setting[1]]


def _percent(name: str, english: str, japanese: str) -> Column:
    return Column(name, Words(english, japanese), decimals=1)


def _times_table(number: int, way: str, found: Found) -> Table:
    rows = []
    for setting in SETTINGS:
        pruned, unpruned, saved = PRINTED[way][setting]
        measured = found[setting]
        ours = measured.mean(f"{way} pruned"), measured.mean(f"{way} unpruned")
        by_means, by_medians = measured.saved_by(way, "means"), measured.saved_by(way)
        row = (pruned, ours[0], ours[0] / pruned, unpruned, ours[1], ours[1] / unpruned, saved, by_means, by_medians)
        rows.append((*_named(setting), *row, _ratio(by_means, saved)))
    nodes = [(found[setting].leaves - 1, found[setting].mean(f"{way} unpruned")) for setting in SETTINGS]
    here = float(np.median([1e6 * milliseconds / number for number, milliseconds in nodes]))
    there = 1e6 * PRINTED[way]["raster", "hokkaido"][1] / (2**18 - 1)
    notes = {
        "vertical": Words(
            f"Without pruning, a node takes {here:.0f} ns here and took {there:.0f} ns in the paper. Beside so "
            "little, the "
            "processor's wrong guesses at the test for 0 count for more, most in random order, and pruning saves "
            "less.",
            f"枝刈りなしの1ノードあたりの時間は、この環境では約 {here:.0f} ns、論文では約 {there:.0f} ns です。"
            "1ノードの処理が"
            "軽いぶん、ゼロ判定での分岐予測の失敗が相対的に重くなり（特にランダム方式）、短縮率は小さくなります。",
        ),
        "horizontal": Words(
            f"Without pruning, a node takes {here:.0f} ns here and took {there:.0f} ns in the paper. The program "
            "without "
            "pruning guesses wrong, too, at the signs of details that are cut, so that nodes left out are dearer "
            "than "
            "others: this raises the saving. Clearing the memory and writing zeros to the leaves lowers it, most "
            "where "
            "nearly all is empty.",
            f"枝刈りなしの1ノードあたりの時間は、この環境では約 {here:.0f} ns、論文では約 {there:.0f} ns です。"
            "枝刈りなしのプ"
            "ログラムも、精緻化される詳細係数の符号で分岐予測に失敗するため、省略されるノードのほうが重く、"
            "これは短縮率を上げ"
            "ます。一方、メモリの初期化とリーフへのゼロの書き込みは短縮率を下げ、"
            "大部分がゼロのデータほど影響します。",
        ),
    }
    english, japanese = WAYS[way].english, WAYS[way].japanese
    columns = (
        *_setting_columns(),
        Column("paper_pruned_ms", Words("pruned, paper (ms)", "枝刈りあり・論文 (ms)"), decimals=1),
        Column("pruned_ms", Words("ours (ms)", "本実装 (ms)"), 3),
        Column("pruned_ratio", Words("ratio", "比"), 2),
        Column("paper_unpruned_ms", Words("unpruned, paper (ms)", "枝刈りなし・論文 (ms)"), decimals=1),
        Column("unpruned_ms", Words("ours (ms)", "本実装 (ms)"), 3),
        Column("unpruned_ratio", Words("ratio", "比"), 2),
        _percent("paper_saved", "saved, paper (%)", "時間短縮率・論文 (%)"),
        _percent("saved_by_means", "ours (%)", "本実装 (%)"),
        _percent("saved_by_medians", "by medians (%)", "中央値による値 (%)"),
        Column("saved_ratio", Words("ratio", "比"), 3),
    )
    title = Words(f"Table {number}: the {english} program", f"表{number}　{japanese}実装の処理時間")
    return Table(f"table{number}", title, columns, tuple(rows), notes[way])


def _savings_table(found: Found) -> Table:
    zeros = {area.name: area.zeros for area in AREAS}
    rows = []
    for setting in SETTINGS:
        measured, paper = found[setting], zeros[setting[1]]
        row: list[Cell] = [*_named(setting), paper, measured.zeros, measured.zeros / paper, measured.left_out]
        for way, printed in (
            ("vertical", PAPER_VERTICAL[setting][2]),
            ("horizontal", PAPER_TABLE_3_HORIZONTAL[setting]),
        ):
            saved = measured.saved_by(way)
            row += [printed, saved, saved - printed, _ratio(saved, printed)]
        rows.append(tuple(row))
    columns = [
        *_setting_columns(),
        _percent("paper_zeros", "empty cells, paper (%)", "ゼロ値含有比率・論文 (%)"),
        _percent("zeros", "ours (%)", "本実装 (%)"),
        Column("zeros_ratio", Words("ratio", "比"), 3),
        _percent("left_out", "averages left out (%)", "省略された演算 (%)"),
    ]
    for way, words in WAYS.items():
        columns += [
            _percent(f"paper_{way}", f"{words.english}, paper (%)", f"{words.japanese}・論文 (%)"),
            _percent(way, "ours (%)", "本実装 (%)"),
            _percent(f"{way}_points", "difference (points)", "差 (ポイント)"),
            Column(f"{way}_ratio", Words("ratio", "比"), 3),
        ]
    return Table(
        "table3",
        Words("Table 3: time saved by both programs", "表3　垂直型実装と水平型実装の時間短縮率の比較"),
        tuple(columns),
        tuple(rows),
        Words(
            "By medians. If every node took the same time and pruning itself none, the saving would be the share "
            "of averages "
            "left out. Where ours lies below, it is the cost of pruning; where the paper's lies above, its data "
            "lead to more "
            "pruning, or its program spent more time on nodes that are cut. No ratio is given where a saving is "
            "negative.",
            "中央値による値です。どのノードの処理時間も等しく、枝刈り自体に時間がかからないとすれば、"
            "短縮率は「省略された演"
            "算」の割合に等しくなります。本実装がこれを下回る分は枝刈り自体のコストです。"
            "論文の値がこれを上回るのは、論文のデ"
            "ータで枝刈りがより多く起こるか、精緻化が起こるノードの処理が論文の実装では重かったためと考えら"
            "れます。負の短縮率"
            "には比を示していません。",
        ),
    )


def _orderings_table(found: Found) -> Table:
    rows = []
    for way, words in WAYS.items():
        for area in AREAS:
            row: list[Cell] = [words, area.title]
            for ordering in FROM_BEST_TO_WORST:
                printed, saved = PRINTED[way][ordering, area.name][2], found[ordering, area.name].saved_by(way)
                row += [printed, saved, _ratio(saved, printed)]
            rows.append((*row, " > ".join(order_of(found, way, area.name))))
    columns = [Column("program", Words("program", "実装")), Column("area", Words("area", "エリア"))]
    for ordering in FROM_BEST_TO_WORST:
        words = ORDERINGS[ordering]
        columns += [
            _percent(f"paper_{ordering}", f"{words.english}, paper (%)", f"{words.japanese}・論文 (%)"),
            _percent(ordering, "ours (%)", "本実装 (%)"),
            Column(f"{ordering}_ratio", Words("ratio", "比"), 3),
        ]
    columns.append(Column("order", Words("our order", "本実装での順")))
    return Table(
        "orderings",
        Words("The four orderings", "1次元化方式の比較"),
        tuple(columns),
        tuple(rows),
        Words(
            "By medians. Where people live close together along the line, large pieces of it are empty and fall "
            "out near the "
            "root. Only sorting gathers them better than the Morton order, and it is not private.",
            "中央値による値です。1次元上で人口がまとまっているほど、広い範囲が上位の階層で一度に省略されます。"
            "Morton 方式より"
            "まとまるのはソート方式だけですが、差分プライバシーを満たしません。",
        ),
    )


def _pruning_counts_table(found: Found) -> Table:
    rows = []
    between = 0
    for setting in SETTINGS:
        measured, printed = found[setting], PAPER_VERTICAL[setting][2]
        of_level, of_total = measured.left_out, measured.left_out_of_total
        between += of_level <= printed <= of_total
        numbers = (
            sum(measured.prunings),
            measured.weighted,
            printed,
            of_level,
            of_level / printed,
            of_total,
            of_total / printed,
        )
        rows.append((*_named(setting), *numbers))
    return Table(
        "weighted_pruning_counts",
        Words("Weighted pruning counts", "重み付き枝刈り発生回数"),
        (
            *_setting_columns(),
            Column("prunings", Words("prunings", "枝刈り発生回数")),
            Column("weighted", Words("WP", "WP")),
            _percent("paper_vertical", "time saved, vertical, paper (%)", "垂直型の時間短縮率・論文 (%)"),
            _percent("left_out", "WP of all averages (%)", "全演算に対する WP の割合 (%)"),
            Column("left_out_ratio", Words("ratio", "比"), 3),
            _percent("left_out_of_total", "if 0.1 were the total epsilon (%)", "ε = 0.1 が全体の値の場合 (%)"),
            Column("left_out_of_total_ratio", Words("ratio", "比"), 3),
        ),
        tuple(rows),
        Words(
            "The paper shows WP in a figure only, so its time saved stands beside the share of averages left out, "
            "which it "
            f"should resemble. In {between} of 16 settings it lies between this share and what it would be if 0.1 "
            "were the "
            "epsilon of all levels together, with more noise. The paper's formulas give 0.1 to each level, and so "
            "do we "
            "everywhere else.",
            "論文では WP は図に示されているのみなので、近い値になるはずの時間短縮率を並べました。"
            "論文の時間短縮率は、16条件中"
            f" {between} 条件で、この割合と、ε = 0.1 "
            "を全階層の合計とみなした場合（ノイズはより大きくなります）の割合との間に"
            "あります。論文の式では各階層に 0.1 を割り当てており、本実験もほかの箇所ではすべてそれに従っています。",
        ),
    )


def _prunings_table(found: Found) -> Table:
    rows = [
        (*_named(setting), level, count)
        for setting in SETTINGS
        for level, count in enumerate(found[setting].prunings, start=1)
    ]
    columns = (*_setting_columns(), Column("level", Words("level", "階層")), Column("prunings", Words("p_h", "p_h")))
    title = Words("Prunings that begin at each level", "各階層を起点とする枝刈りの発生回数")
    return Table("prunings_by_level", title, columns, tuple(rows), is_on_page=False)


def _our_kernels_table(found: Found) -> Table:
    rows = []
    for setting in SETTINGS:
        measured, row = found[setting], list(_named(setting))
        row += [measured.mean(f"ours {program}") for program in ("none", "horizontal", "vertical")]
        for way in WAYS:
            printed, saved = PRINTED[way][setting][2], measured.saved(f"ours {way}", "ours none")
            row += [printed, saved, _ratio(saved, printed)]
        rows.append((*row, measured.mean("vertical pruned") / measured.mean("ours vertical")))
    columns = [
        *_setting_columns(),
        Column("none_ms", Words("every node (ms)", "枝刈りなし (ms)"), 3),
        Column("horizontal_ms", Words("horizontal (ms)", "水平型 (ms)"), 3),
        Column("vertical_ms", Words("vertical (ms)", "垂直型 (ms)"), 3),
    ]
    for way, words in WAYS.items():
        columns += [
            _percent(f"paper_{way}", f"saved, {words.english}, paper (%)", f"時間短縮率・{words.japanese}・論文 (%)"),
            _percent(f"{way}_saved", "ours (%)", "本実装 (%)"),
            Column(f"{way}_ratio", Words("ratio", "比"), 3),
        ]
    columns.append(
        Column(
            "faster",
            Words(
                "times faster than the paper's vertical program here",
                "論文の垂直型プログラム（この環境）に対する速度比",
            ),
            3,
        )
    )
    return Table(
        "our_kernels",
        Words("The kernels that releases use", "本パッケージの実装による結果"),
        tuple(columns),
        tuple(rows),
        Words(
            "Whole numbers, and the same noise rounded; times are means, savings by medians. These kernels have "
            "no branches "
            "that a processor could guess wrong except where they prune; the vertical one keeps a stack instead "
            "of calling "
            "itself, and works out the last two levels without asking. The one that visits every node gains most "
            "from this, "
            "so pruning saves less against it than in the paper, and costs time in random order. A release draws "
            "noise only "
            "where somebody is left; that saving is no part of this experiment.",
            "整数演算で、同じノイズを丸めて使います。時間は平均、短縮率は中央値です。"
            "枝刈りの判定以外に予測を外しうる分岐がな"
            "く、垂直型は再帰の代わりにスタックを使い、最下位の2階層は判定なしで計算します。"
            "この恩恵は全ノードを訪れる実装で最"
            "も大きいため、それに対する短縮率は論文より小さく、ランダム方式ではかえって遅くなります。"
            "実際の公開処理では人が残"
            "っている箇所でのみノイズを生成しますが、その節約はこの実験には含まれません。",
        ),
    )


def _open_choices_table(found: Found) -> Table:
    rows = []
    for setting in SETTINGS:
        measured = found[setting]
        printed = PAPER_HORIZONTAL[setting][2]
        saved = measured.saved("horizontal memory first", "horizontal unpruned")
        against = [measured.saved(f"{way} pruned", "horizontal branchless") for way in WAYS]
        row = (printed, measured.saved_by("horizontal"), saved, _ratio(saved, printed))
        rows.append((*_named(setting), *row, measured.mean("horizontal branchless"), *against))
    return Table(
        "open_choices",
        Words("What the paper leaves open, and compilers", "論文に明記されていない選択とコンパイラの影響"),
        (
            *_setting_columns(),
            _percent("paper_horizontal", "horizontal, paper (%)", "水平型・論文 (%)"),
            _percent("horizontal", "as in Table 2 (%)", "表2と同じ (%)"),
            _percent("memory_first", "memory asked first (%)", "メモリを先に参照 (%)"),
            Column("memory_first_ratio", Words("ratio", "比"), 3),
            Column("branchless_ms", Words("every node, without branches (ms)", "枝刈りなし・分岐なし (ms)"), 3),
            _percent("vertical_against_it", "vertical against it (%)", "それに対する垂直型 (%)"),
            _percent("horizontal_against_it", "horizontal against it (%)", "それに対する水平型 (%)"),
        ),
        tuple(rows),
        Words(
            "Two warnings, by medians. The paper's steps (i) to (iii) ask for the average first and then for the "
            "memory; "
            "asked the other way round, the horizontal program saves some points more. And equation (3) can be "
            "written as a "
            "minimum and a maximum, with the same result: then a compiler of today makes vector instructions of "
            "the level by "
            "level program without pruning. It becomes several times faster, and the paper's programs with "
            "pruning come near "
            "it in sorted order at best. The tables above follow the paper's words in both, a choice that was "
            "made with these "
            "figures at hand; how the paper's own programs were written and compiled is not known. Three more "
            "choices of that kind: the "
            "leaves are cleared in a loop (cleared as a block, horizontal pruning came out ahead of vertical in "
            "the sorted order of "
            "Kanto in one run, 71.6 against 69.6 %), the memory holds 32 bits a node (64 cost horizontal pruning "
            "some points), and of "
            "four forms of the recursion the one that keeps averages in an array was taken. So the lead of "
            "vertical pruning in the "
            "sorted order of Kanto, some three points, is within what such choices decide.",
            "注意点が二つあります（中央値による値）。論文の手順 (i)〜(iii) は近似係数、メモリの順に調べますが、"
            "逆の順にすると水"
            "平型の短縮率は数ポイント上がります。また、式 (3) は最小値と最大値だけで書いても結果が同じで、"
            "その場合、現在のコン"
            "パイラは枝刈りなしの水平型をベクトル命令に変換し、数倍速くなります。"
            "論文の枝刈りありのプログラムがこれに近づくの"
            "は、せいぜいソート方式の場合だけです。上の各表は、"
            "どちらも論文の記述どおりに書いたものです（この表の結果を見たう"
            "えでの選択です）。論文のプログラムが実際にどう書かれ、どうコンパイルされたかはわかりません。"
            "同様の選択がほかに三つあります。"
            "葉の初期化はループで行いました（一括で初期化すると、ある測定では関東・ソート方式で水平型が垂直型を "
            "71.6 % 対 69.6 % で"
            "上回りました）。メモリは1ノード32ビットです（64ビットでは水平型が数ポイント下がります）。"
            "再帰は4通りの書き方のうち、"
            "近似係数を配列に置くものを選びました。したがって、"
            "関東・ソート方式における垂直型の優位（約3ポイント）は、こうした選択で"
            "変わりうる程度のものです。",
        ),
    )


_COLOURS = {"sorted": "#0072B2", "Morton": "#009E73", "raster": "#E69F00", "random": "#D55E00"}
_MARKERS = {"hokkaido": "s", "shikoku": "o", "kanto": "^", "hokkaido-quarter": "D"}


def _picture_of_zeros(found: Found) -> Picture:
    def draw(figure: Any) -> None:
        for place, way in enumerate(WAYS):
            axes = figure.add_subplot(1, 2, place + 1, sharey=figure.axes[0] if place else None)
            for ordering in FROM_BEST_TO_WORST:
                areas = sorted(AREAS, key=lambda area: found[ordering, area.name].zeros)
                ours = [found[ordering, area.name] for area in areas]
                colour = _COLOURS[ordering]
                zeros = [measured.zeros for measured in ours]
                axes.plot(zeros, [measured.saved_by(way) for measured in ours], "o-", color=colour, label=ordering)
                printed = [PRINTED[way][ordering, area.name][2] for area in AREAS]
                axes.scatter([area.zeros for area in AREAS], printed, facecolors="none", edgecolors=colour, s=45)
            axes.axhline(0, color="grey", linewidth=0.8)
            axes.set(title=way, xlabel="empty cells (%)")
            axes.grid(alpha=0.3)
        figure.axes[0].set_ylabel("time saved (%)")
        figure.axes[0].legend(title="filled: ours, hollow: paper", fontsize=8, title_fontsize=8, loc="lower right")

    return Picture(
        "figure5",
        Words("Figure 5: time saved and empty cells", "図5　時間短縮率とゼロ値含有比率"),
        draw,
        (9.0, 4.4),
        Words(
            "By medians. Filled marks joined by lines are ours, hollow ones the paper's (from its Table 3).",
            "中央値による値です。線で結んだ塗りつぶしの点が本実装、中抜きの点が論文（表3）の値です。",
        ),
    )


def _picture_of_weights(found: Found) -> Picture:
    def draw(figure: Any) -> None:
        for place, (title, label, settings) in enumerate(
            (
                ("areas of equal size", "weighted pruning count WP", [s for s in SETTINGS if s[1] != "hokkaido"]),
                ("all areas", "WP, % of all averages", list(SETTINGS)),
            )
        ):
            axes = figure.add_subplot(1, 2, place + 1, sharey=figure.axes[0] if place else None)
            for way, filled in (("vertical", True), ("horizontal", False)):
                for setting in settings:
                    measured, colour = found[setting], _COLOURS[setting[0]]
                    across = measured.left_out if place else measured.weighted
                    axes.scatter(
                        across,
                        measured.saved_by(way),
                        marker=_MARKERS[setting[1]],
                        s=36,
                        facecolors=colour if filled else "none",
                        edgecolors=colour,
                    )
            r = {way: weight_correlation(found, way, settings, relative=bool(place)) for way in WAYS}
            axes.set(title=f"{title}\nr = {r['vertical']:.3f} vertical, {r['horizontal']:.3f} horizontal", xlabel=label)
            axes.title.set_fontsize(10)
            axes.axhline(0, color="grey", linewidth=0.8)
            axes.grid(alpha=0.3)
        figure.axes[0].set_ylabel("time saved (%)")
        _explain_marks(figure)

    return Picture(
        "figure6",
        Words("Figure 6: time saved and weighted pruning count", "図6　重み付き枝刈り発生回数と時間短縮率"),
        draw,
        (9.0, 5.2),
        Words(
            "By medians. WP grows with the number of cells, so areas of other sizes are compared by its share of "
            "all "
            "averages. The paper's text neither prints a coefficient nor says which areas its figure holds.",
            "中央値による値です。WP はセル数とともに大きくなるため、"
            "大きさの異なるエリアは全演算に対する割合で比べます。論文の"
            "本文には相関係数の値も、図に含まれるエリアも書かれていません。",
        ),
    )


def _explain_marks(figure: Any) -> None:
    from matplotlib.lines import Line2D

    def mark(label: str, marker: str, colour: str, filled: bool = True) -> Any:
        face = colour if filled else "none"
        return Line2D([], [], linestyle="", marker=marker, markeredgecolor=colour, markerfacecolor=face, label=label)

    marks = [mark(ordering, "o", _COLOURS[ordering]) for ordering in FROM_BEST_TO_WORST]
    marks += [mark(area.title.english, _MARKERS[area.name], "dimgrey") for area in AREAS]
    marks += [mark("vertical", "o", "dimgrey"), mark("horizontal", "o", "dimgrey", filled=False)]
    figure.legend(handles=marks, loc="outside lower center", ncols=5, fontsize=8)
