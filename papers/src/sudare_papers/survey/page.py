"""The page about the survey by Kan: each example with the paper's value and ours, and which statements hold."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare_papers.maps import data_in_words
from sudare_papers.report import Cell, Column, Picture, Report, Table
from sudare_papers.settings import Settings
from sudare_papers.survey.findings import findings
from sudare_papers.survey.results import EXAMPLES, TEXT_BOUND, Measured
from sudare_papers.survey.runs import (
    EXACT_ONLY,
    LAPLACE_EPSILON,
    MAP_EPSILONS,
    OUTPUTS,
    RAPPOR,
    SENSITIVITIES,
    SIZES,
    TEXTS,
    YES_PEOPLE,
    YES_SHARE,
    bits_right,
    discrete_deviation,
    range_variances,
    report_counts,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

__all__ = ["report"]

PAPER = (
    "Kan: On the desirable protection of privacy: usefulness and limits of differential privacy, Bank of Japan, "
    "IMES Discussion Paper 2022-J-5 (in Japanese)"
)
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#999999"


def report(settings: Settings, results: Mapping[str, Any]) -> Report:
    """The examples, the measurements, and which statements hold."""
    found = Measured(settings, results)
    introduction = Words(
        "The paper is a survey: it has no experiment of its own, but examples and statements that can be checked. "
        "Each stands here with its section, the paper's value, ours, and the ratio. Exact values come from trying "
        "every small data set, every output or every function, in exact fractions. The rest is measured, "
        f"{settings.repeats} repeats. All noise is discrete. Where a map is needed: "
        f"{data_in_words(settings).english}. We chose the sizes, the epsilons and the parameters of RAPPOR "
        "ourselves, because the paper names none.",
        "この論文はサーベイであり、独自の実験はありませんが、確かめられる例や記述が数多くあります。以下では、それぞ"
        "れについて節番号、論文の値、sudare の値、比を示します。「厳密」とした値は、小さなデータベース・出力・写像"
        f"の総当たりを分数で正確に計算したものです。残りは測定値です（反復 {settings.repeats} 回）。ノイズはすべて離"
        f"散分布によるものです。地図を使う箇所のデータ：{data_in_words(settings).japanese}。表の大きさ、epsilon、"
        "RAPPOR のパラメータは論文に記載がないため、こちらで選びました。",
    )
    title = Words("Survey: the examples of the framework", "サーベイ：枠組みの例の検証")
    parts = (
        _examples(found),
        _laplace(found),
        _local(found),
        _cut_off(found),
        _range_picture(found),
        _range_table(found),
        _attack_picture(found),
        _attack_table(found),
    )
    return Report("survey", title, PAPER, (introduction,), parts, findings(found))


def _where(section: str) -> Words:
    return Words(f"section {section}".replace("n.", "note"), f"{section} 節".replace(", n. 38 節", " 節 注38"))


def _examples(found: Measured) -> Table:
    columns = (
        Column("statement", Words("statement", "記述")),
        Column("section", Words("in the paper", "論文の箇所")),
        Column("paper", Words("paper", "論文"), 5),
        Column("ours", Words("ours", "sudare"), 5),
        Column("ratio", Words("ratio", "比"), decimals=4),
    )
    rows: list[tuple[Cell, ...]] = []
    for key, section, statement in EXAMPLES:
        paper, ours = found.examples()[key]
        rows.append((statement, _where(section), paper, ours, ours / paper if paper else None))
    share, _ = found.yes_share()
    statement = Words(
        f"two coins: share of yes, estimated ({YES_PEOPLE:,} people)", f"同：「はい」の割合の推定（{YES_PEOPLE:,} 人）"
    )
    rows.insert(3, (statement, _where("4(5)"), YES_SHARE, share, share / YES_SHARE))
    note = Words(
        "All are the same but one. (u - l) s is right when values change. When a person leaves, the sum changes by "
        "up to max(|l|, |u|) s, which is the same only if one limit is 0, as in the paper's example. The paper "
        "calls s the largest number of records that clipping removes; what counts is how many rows one person has: "
        "rows of others that are clipped change nothing. The share of yes is measured, and so differs by chance.",
        "1件を除いてすべて一致します。(u - l) s は値が変わる場合の敏感度です。本人がデータから抜ける場合の変化は最"
        "大 max(|l|, |u|) s で、両者が等しくなるのは、論文の例のように片方の限界が 0 のときです。また、論文は s を"
        "「刈込みにより除外されるレコード数の上限」と説明していますが、効いてくるのは1人が持つ行数です。他人の行が"
        "刈り込まれても敏感度は変わりません。「はい」の割合のみ測定値で、偶然の誤差を含みます。",
    )
    return Table("examples", Words("Examples and statements", "例と記述"), columns, tuple(rows), note)


def _laplace(found: Measured) -> Table:
    columns = (
        Column("sensitivity", Words("sensitivity GS", "大域敏感度 GS")),
        Column("paper", Words("standard deviation, paper", "標準偏差（論文）")),
        Column("exact", Words("ours, exact", "sudare（厳密）")),
        Column("measured", Words("ours, measured", "sudare（測定）")),
        Column("ratio", Words("measured / paper", "測定 / 論文"), decimals=4),
    )
    rows = []
    for sensitivity, measured in zip(SENSITIVITIES, found.deviations().tolist(), strict=True):
        scale = sensitivity / float(LAPLACE_EPSILON)
        paper = sqrt(2) * scale
        rows.append((sensitivity, paper, discrete_deviation(scale), measured, measured / paper))
    note = Words(
        "Section 4(4) and note 36: noise of scale b = GS / epsilon has variance 2 b^2; epsilon = "
        f"{float(LAPLACE_EPSILON)} here. Discrete noise is a little smaller than the paper's continuous noise where "
        "b is small, at the same epsilon.",
        "4(4) 節と注36：尺度 b = GS / epsilon のノイズの分散は 2 b^2 です（ここでは epsilon = "
        f"{float(LAPLACE_EPSILON)}）。離散ノイズは、同じ epsilon でも、b が小さいところで論文の連続ノイズよりわずか"
        "に小さくなります。",
    )
    title = Words("Laplace noise is in proportion to the sensitivity", "ラプラス・ノイズは敏感度に比例")
    return Table("laplace", title, columns, tuple(rows), note)


def _local(found: Measured) -> Table:
    examples = found.examples()
    by_local, by_global = found.epsilons
    columns = (
        Column("noise", Words("noise by", "ノイズの基準")),
        Column("closer", Words("sensitivity at 0 0 0 0 1", "0 0 0 0 1 での敏感度"), 2),
        Column("farther", Words("at 0 0 0 1 1", "0 0 0 1 1 での敏感度"), 2),
        Column("claimed", Words("epsilon claimed", "うたわれた epsilon"), 3),
        Column("exact", Words("true loss", "真の損失")),
        Column("proved", Words("proved by the outputs: above", "出力から証明できる下限"), 3),
    )
    local = tuple(examples[name][1] for name in EXACT_ONLY)
    rows: tuple[tuple[Cell, ...], ...] = (
        (Words("local sensitivity", "局所敏感度"), *local, 1.0, Words("infinite", "無限大"), by_local),
        (Words("global sensitivity", "大域敏感度"), 1.0, 1.0, 1.0, Words("1", "1"), by_global),
    )
    outputs = f"{OUTPUTS * found.settings.repeats:,}"
    note = Words(
        "Section 4(4): noise in proportion to the local sensitivity is in general not private. The median of five "
        "numbers in [0, 1] is 0 for both data sets, which differ in one record. In the first no single change "
        "moves it: no noise, and the output is always 0. In the second one change moves it by 1: the output is "
        "seldom 0. So any output but 0 proves which one it was. Noise by the global sensitivity was tried on 0 0 0 "
        "1 1 and 0 0 1 1 1, whose medians are 0 and 1: nothing is easier to tell apart. The last column is what "
        f"{outputs} outputs of each prove, wrong with probability 1e-6 at most.",
        "4(4) 節：局所敏感度に比例するノイズを付加しても、一般に差分プライバシーは満たされません。[0, 1] の5個の数"
        "の中央値は、1レコードだけ異なる2つのデータベースのどちらでも 0 です。前者では1レコードの変更で中央値が動か"
        "ないためノイズがなく、出力は常に 0 です。後者では1レコードで 1 動くため、出力はほとんど 0 になりません。つ"
        "まり 0 以外の出力が出れば、どちらであったかが確実にわかります。大域敏感度によるノイズは、最も見分けやすい "
        f"0 0 0 1 1 と 0 0 1 1 1（中央値 0 と 1）で試しました。最後の列は、それぞれ {outputs} 回の出力から証明できる"
        "下限です（誤る確率は 1e-6 以下）。",
    )
    return Table(
        "local-sensitivity", Words("Local sensitivity alone", "局所敏感度だけでは守れない"), columns, rows, note
    )


def _cut_off(found: Measured) -> Table:
    facts = found.results["size of the map"]
    columns = (
        Column("epsilon", Words("epsilon", "epsilon")),
        Column("paper", Words("paper", "論文")),
        Column("exact", Words("people added, exact mean", "増える人数（厳密な期待値）"), 5),
        Column("measured", Words("measured", "測定"), 5),
        Column("ratio", Words("measured / exact", "測定 / 厳密"), decimals=4),
        Column("share", Words("of all people (%)", "総人口に対する割合（%）"), 3),
        Column("wavelet", Words("Privelet: people added (%)", "Privelet：増える人数（%）"), 3),
        Column("signed", Words("signed: error of the total (%)", "符号付き：合計の誤差（%）"), 2),
        Column("wavelet_signed", Words("Privelet, signed (%)", "Privelet、符号付き（%）"), 2),
        Column("empty", Words("empty cells (%)", "ゼロのセル（%）"), 3),
        Column("wavelet_empty", Words("left by Privelet (%)", "Privelet 後（%）"), 3),
        Column("refined_empty", Words("refined (%)", "非負化後（%）"), 3),
    )
    rows: list[tuple[Cell, ...]] = []
    for epsilon in MAP_EPSILONS:
        noisy, cut, _, signed, wavelet_cut, _, empty, refined_empty = map(float, found.maps(epsilon).mean(axis=0))
        exact, added, people = facts[f"bias {epsilon}"], cut - noisy, facts["people"]
        of_people = (added, wavelet_cut - signed, noisy - people, signed - people)
        shares = [100 * each / people for each in of_people]
        shares += [100 * each / facts["cells"] for each in (facts["empty"], empty, refined_empty)]
        rows.append((epsilon, Words("above 0", "正"), exact, added, added / exact, *shares))
    note = Words(
        "Note 43: setting negative counts to 0 biases a table upwards. Flat Laplace noise on every cell of the "
        "map, cut off at 0. An empty cell gains exp(-epsilon) / (1 - exp(-2 epsilon)), about 1 / (2 epsilon); a "
        "cell with c people exp(-epsilon c) times that. Privelet's noise on a cell is wider, and cutting it off adds "
        "more. Signed "
        "tables, as both mechanisms are defined, have the right total on average; so have tables that were refined to counts "
        "from the noisy total down. Note 42: Privelet loses the emptiness of the map; refined, it comes back, "
        "with more empty cells than there are where the noise is wide.",
        "注43：負値を単純にゼロに修正すると、集計表に正のバイアスが生じます。地図の全セルに単純なラプラス・ノイズを"
        "加え、負値を 0 にしました。空のセルは平均 exp(-epsilon) / (1 - exp(-2 epsilon))（およそ 1 / (2 epsilon)）"
        "だけ増え、c 人のセルではその exp(-epsilon c) 倍です。Privelet ではセルあたりのノイズが大きく、増え方も大きく"
        "なります。どちらの方式も本来は符号付きで、そのまま公表すれば合計は平均的に正しく、合計から順に非負化した表でも"
        "同じです。注42：Privelet ではデータの疎性が失われますが、非負化した表では戻ります（ノイズが大きいと、ゼロのセルは"
        "実際より多くなります）。",
    )
    title = Words("Cutting off at 0, and empty cells", "負値のゼロへの修正と疎性")
    return Table("cut-off", title, columns, tuple(rows), note)


def _range_table(found: Measured) -> Table:
    columns = (
        Column("cells", Words("cells n", "セル数 n")),
        Column("flat_exact", Words("flat, exact", "単純（厳密）")),
        Column("flat", Words("measured", "測定")),
        Column("flat_ratio", Words("ratio", "比"), decimals=3),
        Column("wavelet_exact", Words("Privelet, exact", "Privelet（厳密）")),
        Column("wavelet", Words("measured", "測定")),
        Column("wavelet_ratio", Words("ratio", "比"), decimals=3),
        Column("flat_growth", Words("flat / n", "単純 / n"), 3),
        Column("wavelet_growth", Words("Privelet / (log2 n)^3", "Privelet / (log2 n)^3"), 3),
        Column("gain", Words("flat / Privelet", "単純 / Privelet"), 3),
    )
    rows = []
    for bits in SIZES:
        exact = range_variances(found.settings, bits)
        flat, wavelet = found.ranges(bits, "flat")[0], found.ranges(bits, "privelet")[0]
        growth = (flat / (1 << bits), wavelet / bits**3, flat / wavelet)
        rows.append((1 << bits, exact[0], flat, flat / exact[0], exact[1], wavelet, wavelet / exact[1], *growth))
    note = Words(
        "Variance of sums over random ranges of a table with n cells, epsilon = 1. Section 5(1): O(n / epsilon^2) "
        "for flat noise and O((log2 n)^3 / epsilon^2) for Privelet. Measured on the signed tables as they are "
        "published; Privelet's "
        "exact value has the variance of rounding to whole numbers in it, 1/2 for each difference. The paper writes V "
        "and calls it the count; it "
        "is the number of cells. The paper prints no constants, so the ratio is that of measured to exact values. "
        "The advantage begins at some hundred cells: for smaller tables flat noise is better.",
        "n セルの表で、ランダムな区間の和の分散です（epsilon = 1）。5(1) 節：単純なノイズでは O(n / epsilon^2)、"
        "Privelet では O((log2 n)^3 / epsilon^2)。測定は公表どおりの符号付きの表によるもので、Privelet の厳密値には整"
        "数への丸めの分散（差"
        "ごとに 1/2）を含みます。論文は V を「集計値」としていますが、実際にはセルの数です。論文に"
        "定数の記載がないため、比は測定値と厳密値の比です。Privelet が有利になるのは数百セル以上からで、それより小"
        "さな表では単純なノイズの方が正確です。",
    )
    return Table("ranges", Words("Noise of sums over ranges", "区間和のノイズ"), columns, tuple(rows), note)


def _range_picture(found: Measured) -> Picture:
    def draw(figure: Any) -> None:
        axis = figure.subplots()
        cells = [1 << bits for bits in SIZES]
        exact = np.array([range_variances(found.settings, bits) for bits in SIZES])
        looks = (("flat", "flat Laplace noise", GREY, "s"), ("privelet", "Privelet", BLUE, "o"))
        for place, (way, label, colour, mark) in enumerate(looks):
            axis.loglog(cells, exact[:, place], "-", color=colour, lw=1.3, label=f"{label}, exact")
            measured = [found.ranges(bits, way)[0] for bits in SIZES]
            axis.loglog(cells, measured, mark, color=colour, ms=6, mfc="white", label=f"{label}, measured")
        start, stop = SIZES[0], np.array(SIZES)
        axis.loglog(
            cells, exact[0, 0] * np.array(cells) / cells[0], ":", color="black", lw=1, label="in proportion to n"
        )
        cubes = exact[0, 1] * (stop / start) ** 3
        axis.loglog(cells, cubes, "--", color=ORANGE, lw=1, label="in proportion to (log2 n)^3")
        axis.set_xticks(cells[::2], [f"{count:,}" for count in cells[::2]])
        axis.minorticks_off()
        axis.set_xlabel("cells of the table, n")
        axis.set_ylabel("variance of a sum over a range")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)

    note = Words(
        "Flat noise grows like the number of cells, Privelet's like a power of its logarithm.",
        "単純なノイズの分散はセル数に比例し、Privelet の分散は対数のべきでしか増えません。",
    )
    return Picture("ranges", Words("Growth of the noise", "ノイズの増え方"), draw, (6.5, 4.2), note)


def _attack_table(found: Measured) -> Table:
    columns = (
        Column("reports", Words("reports", "報告数")),
        Column("fresh_exact", Words("fresh: bits right, exact (%)", "毎回引き直し：正しいビット（厳密、%）")),
        Column("fresh_bits", Words("measured (%)", "測定（%）")),
        Column("fresh_ratio", Words("ratio", "比"), decimals=3),
        Column("fresh_filters", Words("whole filters (%)", "全ビット判明（%）"), 3),
        Column("fresh_texts", Words("texts (%)", "文字列判明（%）"), 3),
        Column("kept_exact", Words("kept: bits right, exact (%)", "恒久応答：正しいビット（厳密、%）")),
        Column("kept_bits", Words("measured (%)", "測定（%）")),
        Column("kept_ratio", Words("ratio", "比"), decimals=3),
        Column("kept_permanent", Words("permanent bits (%)", "恒久ビット（%）")),
        Column("kept_filters", Words("whole filters (%)", "全ビット判明（%）"), 3),
        Column("kept_texts", Words("texts (%)", "文字列判明（%）"), 3),
    )
    rows = []
    for place, reports in enumerate(report_counts(found.settings)):
        fresh, kept = (100 * found.attack(way)[place] for way in ("fresh", "kept"))
        exact = [100 * bits_right(reports, is_kept) for is_kept in (False, True)]
        first = (exact[0], fresh[0], fresh[0] / exact[0], fresh[2], fresh[3])
        second = (exact[1], kept[0], kept[0] / exact[1], kept[1], kept[2], kept[3])
        rows.append((reports, *map(float, (*first, *second))))
    note = Words(
        "Section 5(2): the permanent response protects from averaging; an attacker cannot be sure of B. The paper "
        "gives no numbers: the ratio is that of measured to exact values. k = 64 bits, h = 2, f = 1/2, p = 1/2, q "
        f"= 3/4; texts are guessed among {TEXTS} known ones by likelihood. One report is equally private both ways.",
        "5(2) 節：恒久的なランダム化応答は averaging attack から保護し、攻撃者は B を確定できません。論文に数値の記"
        "載がないため、比は測定値と厳密値の比です。k = 64 ビット、h = 2、f = 1/2、p = 1/2、q = 3/4。文字列は既知の "
        f"{TEXTS} 個から尤度で推測します。1回の報告の安全性はどちらの方法でも同じです。",
    )
    return Table("averaging", Words("What averaging gives away", "平均化攻撃で漏れるもの"), columns, tuple(rows), note)


def _attack_picture(found: Measured) -> Picture:
    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        counts = report_counts(found.settings)
        fresh, kept = (100 * found.attack(way) for way in ("fresh", "kept"))
        left.semilogx(counts, fresh[:, 0], "o-", color=ORANGE, label="filter B, response drawn anew")
        left.semilogx(counts, kept[:, 1], "^--", color=GREEN, label="permanent bits B', response kept")
        left.semilogx(counts, kept[:, 0], "s-", color=BLUE, label="filter B, response kept")
        left.axhline(100 - 50 * float(RAPPOR.f), color="black", lw=0.8, ls=":", label="limit 1 - f/2")
        left.set_ylabel("bits found out (%)")
        right.semilogx(counts, fresh[:, 2], "o--", color=ORANGE, mfc="white", label="whole filter, drawn anew")
        right.semilogx(counts, fresh[:, 3], "o-", color=ORANGE, label="text, drawn anew")
        right.semilogx(counts, kept[:, 3], "s-", color=BLUE, label="text, kept")
        right.semilogx(counts, kept[:, 2], "s--", color=BLUE, mfc="white", label="whole filter, kept")
        right.axhline(100 * TEXT_BOUND, color="black", lw=0.8, ls=":", label="bound for texts by epsilon")
        right.set_ylabel("people found out (%)")
        for axis in (left, right):
            axis.set_xlabel("reports of one person that are averaged")
            axis.set_xticks(counts, [f"{count:,}" for count in counts])
            axis.minorticks_off()
            axis.set_ylim(-3, 105)
            axis.grid(alpha=0.3)
            axis.legend(fontsize=7.5)

    note = Words(
        "Without the permanent response every bit comes out. With it the attacker learns the permanent bits and "
        "nothing beyond them: a bit of the filter is right with probability 1 - f/2. No attacker finds more than "
        f"{TEXT_BOUND:.0%} of equally likely texts, by the epsilon of the permanent response, 4 ln 3.",
        "恒久的な応答がなければ、すべてのビットが判明します。恒久的な応答があれば、攻撃者にわかるのは恒久ビットまで"
        "で、元のビットの正解率は 1 - f/2 にとどまります。恒久的な応答の epsilon = 4 ln 3 により、どのような攻撃者"
        f"でも文字列の正解率は {TEXT_BOUND:.0%} を超えません。",
    )
    title = Words("RAPPOR: an attacker who averages", "RAPPOR：平均化攻撃")
    return Picture("averaging", title, draw, (10, 4.2), note)
