"""The page about Pk-anonymity by bounded noise: the checks, the errors of reconstruction, and what holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np

from sudare.bilingual import Words
from sudare_papers.pk.findings import (
    BASE_WORDS,
    DESIGN_WORDS,
    epsilon_of_k,
    findings,
    fits_of,
    ks_of,
    over,
    people_of_sizes,
)
from sudare_papers.pk.runs import (
    BASES,
    BAYES,
    BINS,
    COMPARED_BINS,
    EPSILON,
    ESTIMATORS,
    EVEN,
    HELD_OUT,
    INVENTED,
    INVERSION,
    K_PEOPLE,
    LIMIT,
    RANDOM_PART,
    RAW,
    SAME_K,
    SUMMED,
    Errors,
    adult_source,
    tables,
)
from sudare_papers.report import Cell, Column, Picture, Report, Table
from sudare_papers.settings import Settings

__all__ = ["report"]

PAPER = (
    "Ikarashi, Hasegawa, Osame, Kikuchi, Chida: A privacy preserving cross-tabulation which guarantees "
    "k-anonymity by "
    "randomization for numeric attributes (in Japanese)"
)
ESTIMATE_WORDS = {
    RAW: Words("reports as they are", "ランダム化したまま"),
    EVEN: Words("equal shares, without any data", "一様分布（データなし）"),
    INVERSION: Words("inverse matrix", "逆行列"),
    BAYES: Words("iterative Bayes, stopped early", "ベイズ反復（早めに終了）"),
    HELD_OUT: Words("iterative Bayes, held-out records", "ベイズ反復（検証用レコードで終了）"),
    LIMIT: Words("iterative Bayes, in the limit", "ベイズ反復（極限）"),
    SUMMED: Words("finer bins, summed", "細かい区間から合算"),
}
LINES = (
    ("laplace", "bounded", "#0072b2", "o", "-"), ("laplace", "beyond", "#56b4e9", "^", "--"),
    ("normal", "bounded", "#d55e00", "s", "-"), ("normal", "beyond", "#e69f00", "D", "--"),
)  # fmt: skip


def report(settings: Settings, results: Mapping[str, Any]) -> Report:
    """The checks, the experiment, and the findings."""
    errors = Errors.collect(settings, results)
    parts = (
        _rate_table(results),
        _sampler_table(results),
        _matrix_table(settings, results),
        _example_picture(results),
        _size_picture(settings, errors),
        _size_table(settings, errors),
        _k_picture(settings, errors),
        _k_table(settings, errors),
        _least_table(settings, results),
        _same_k_table(settings, errors),
        _adult_table(settings, errors),
        _all_errors(errors),
    )
    title = Words("Pk: anonymity by bounded noise", "Pk：有界ノイズ加算による Pk-匿名化")
    return Report("pk", title, PAPER, _introduction(settings), parts, findings(settings, results, errors))


def _introduction(settings: Settings) -> tuple[Words, ...]:
    people = _people_in_words(settings)
    return (
        Words(
            "The paper proves theorems and leaves the experiment to future work. So the first three tables check "
            "what it proves, "
            "and the rest is the experiment: there are no figures of the paper to compare with.",
            "論文は定理を証明し、評価実験を今後の課題としています。ここでは、はじめの3つの表で論文の定理を検証し、"
            "そのあとで評価実験を"
            "行います。実験については、論文に比較できる数値はありません。",
        ),
        Words(
            "One attribute: invented people whose numbers, 0 to 999, have two peaks (at 300 and 700, of standard "
            "deviation 100 and 80) on a "
            "level ground. A category and a "
            "number: " + people.english + f". {settings.repeats} repeats. Errors are "
            "root mean squared errors "
            "of the shares of bins or cells, against the true shares of the same people, over all bins and "
            "repeats. "
            "The CSV files have the "
            "total variation too.",
            "1属性の実験では、0～999 の値に2つの山（300 と 700、標準偏差 100 と 80）と平らな裾をもつ架空の集"
            "団を使います。カテゴリ属性"
            "×数値属性の実験のデータは、" + people.japanese + f"です。反復 {settings.repeats} 回。誤差は、"
            "区間（セル）の割合の推定値と、"
            "同じ集団の真の割合との二乗平均平方根誤差です（全区間・全反復）。CSV には全変動距離も載せています。",
        ),
        Words(
            "Noise without bounds leaves the range. Its reports are either counted in bins beyond the range "
            "(Laplace: one on each side, "
            "which loses nothing; normal: bins of the same width for two scales, and one for the rest), or clipped "
            "into the end bins; the "
            "matrix is that of the bins used. Normal noise without bounds has anonymity rate 0, so no k at all: it "
            "gets the scale of bounded "
            "normal noise, and is shown for comparison only. Matrices assume that values are spread evenly inside "
            "bins, which they are not: "
            "with few bins this leaves an error that no number of people removes.",
            "非有界ノイズの報告は値域を外れます。これを値域外の区間で数える方法（Laplace "
            "では両側1つずつで情報は失わ"
            "れません。正規では尺度の"
            "2倍まで同じ幅の区間を設け、残りを1つにまとめます）と、両端の区間に算入する方法を試し、"
            "それぞれの区間に対応する行列を使います。"
            "非有界の正規ノイズは匿名率が 0 で k を保証できないため、有界の場合と同じ尺度で参考として示します。"
            "行列は区間内の値が一様である"
            "ことを仮定しますが、実際には一様でないため、区間が少ないと人数を増やしても消えない誤差が残ります。",
        ),
        Words(
            "Estimates: the inverse matrix (right on average but for that; may be negative); the iterative Bayes "
            "method, stopped once the "
            "log-likelihood per person is within 0.001 of the largest (the default of sudare), or where a tenth of "
            "the records, held out, is "
            "explained best, or run to its limit, which is the plain reading of the paper. It starts from the "
            "reported "
            "shares mixed with equal ones, or from equal ones where there are bins beyond the range.",
            "推定法は、逆行列（上の仮定のもとで不偏、負にもなります）とベイズ反復法です。ベイズ反復法の終了条件は、"
            "1人あたりの対数尤度が"
            "最大値から 0.001 以内になったとき（sudare の既定）、取り置いた1割のレコードを最もよく説明するとき、"
            "極限まで反復する場合"
            "（論文の記述どおり）の3通りです。初期値は報告の割合と一様分布の平均で、"
            "値域外にも区間がある場合は一様分布です。",
        ),
        Words(
            "Four findings got their wording after a first run with six repeats and the same seeds: that early "
            "stopping matters (a median, "
            "where every setting had been claimed), the two about unbounded noise (one before), the scope of 'at "
            "most half', and the margin "
            "for tables. They describe these data; they are not independent evidence.",
            "所見のうち四つは、同じ乱数種による6回の試行を見たうえで文言や範囲を決めました（早めの終了の効果、"
            "非有界ノイズについての二つ、"
            "「半分以下」の範囲、表についての許容幅）。これらはこのデータの記述であり、独立な証拠ではありません。",
        ),
    )


def _people_in_words(settings: Settings) -> Words:
    if adult_source(settings) == INVENTED:
        return Words(
            "48,842 INVENTED people (the records of Adult were not at hand) with ages, educations and incomes",
            "年齢・学歴・収入をもつ架空の 48,842 人（Adult のデータがないため）",
        )
    return Words(
        "the 48,842 records of Adult (US census of 1994), age 17 to 90 in seven bins",
        "Adult（1994年米国国勢調査）の 48,842 レコード（年齢は 17～90 歳、7区間）",
    )


# The checks.


def _rate_table(results: Mapping[str, Any]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, parameter, formula, own, brute, free in results["rates"]:
        values = name.removeprefix("retention of ")
        words = BASE_WORDS.get(name, Words(f"retention, {values} values", f"維持-置換（{values} 値）"))
        texts = [None if rate is None else f"{rate:.4g}" for rate in (formula, own, brute)]
        rows.append((words, parameter, *texts, brute / formula, None if free is None else f"{free:.4g}"))
    columns = (
        Column("randomizer", Words("noise", "ノイズ")),
        Column("parameter", Words("scale / kept", "尺度／維持確率")),
        Column("paper", Words("rate, paper's formula", "匿名率（論文の式）")),
        Column("library", Words("rate, sudare", "匿名率（sudare）")),
        Column("brute_force", Words("rate, brute force", "匿名率（総当たり）")),
        Column("ratio", Words("ratio", "比"), decimals=12),
        Column("unbounded", Words("without bounds, brute force", "非有界（総当たり）")),
    )
    note = Words(
        "Range 0 to 1. Brute force goes through all u, v, u', v' of a grid that has both ends; without bounds, u' "
        "and v' run from -2 to 3. "
        "Theorem 5.1 holds for Cauchy noise too. The rates without bounds of normal noise sink to 0 the further "
        "one looks.",
        "値域は 0～1 です。総当たりでは、両端を含む格子上の u, v, u', v' をすべて調べました（非有界では u', v' を "
        "-2～3 としました）。"
        "定理 5.1 は Cauchy ノイズでも成り立ちます。非有界の正規ノイズの値は、調べる範囲を広げるほど 0 "
        "に近づきます。",
    )
    title = Words(
        "Anonymity rates: theorems 5.1 and 5.2, corollaries 5.1 and 5.2", "匿名率：定理 5.1・5.2、系 5.1・5.2"
    )
    return Table("rates", title, columns, tuple(rows), note)


def _sampler_table(results: Mapping[str, Any]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for base, method, row in fits_of(results):
        words = Words("drawn again", "反復試行") if method == "rejection" else Words("inverse of the CDF", "逆関数")
        rows.append((BASE_WORDS[base], words, int(row[0]), row[1], f"{row[2]:.1e}"))
    columns = (
        Column("noise", Words("noise", "ノイズ")),
        Column("method", Words("method", "方法")),
        Column("value", Words("true value", "真の値")),
        Column("p_value", Words("p-value", "p 値")),
        Column("control", Words("p-value of clipped noise", "p 値（端に丸めたノイズ）")),
    )
    note = Words(
        "Chi-square tests of the reports in 25 bins against the density of lemma 5.1. The control, noise clipped "
        "to "
        "the range, has "
        "another law and must be found out.",
        "25 区間に分けた報告を、補題 5.1 の密度とカイ二乗検定で比べました。対照として値域の端に丸めたノイズを使い、"
        "異なる分布と判定されることも確かめています。",
    )
    return Table(
        "samplers", Words("Both ways to draw bounded noise", "有界ノイズの2つの生成法"), columns, tuple(rows), note
    )


def _matrix_table(settings: Settings, results: Mapping[str, Any]) -> Table:
    rows = [
        (BASE_WORDS[base], bins, row[0], *(f"{value:.1e}" for value in row[1:]))
        for base in BASES
        for bins in BINS
        for row in results[f"bin matrices, {base}, {bins} bins"]
    ]
    columns = (
        Column("noise", Words("noise", "ノイズ")),
        Column("bins", Words("bins", "区間数")),
        Column("scale", Words("scale", "尺度")),
        Column("largest_relative", Words("largest relative difference", "最大の相対差")),
        Column("largest_absolute", Words("largest difference", "最大の差")),
        Column("row_sums", Words("rows from 1", "行の和と 1 の差")),
    )
    note = Words(
        "All entries against adaptive quadrature, on the range 0 to 1. Laplace: the paper's closed forms with its "
        "misprints corrected (see "
        "the errata); normal: not in the paper.",
        "すべての要素を適応的な数値積分と比べました（値域 0～1）。Laplace "
        "は論文の閉じた式の誤植を訂正したもの（正誤表参照）、"
        "正規は論文にないものです。",
    )
    return Table("matrices", Words("Matrices between bins", "区間の遷移確率行列"), columns, tuple(rows), note)


# The experiment.


def _estimate_columns(names: Sequence[str] = ESTIMATORS) -> tuple[Column, ...]:
    return tuple(Column(name, ESTIMATE_WORDS[name], 3) for name in names)


NOISE_COLUMNS = (Column("base", Words("noise", "ノイズ")), Column("design", Words("bounds", "範囲")))


def _rows(errors: Errors, designs: Sequence[str], sizes: Sequence[tuple[int, int, int]]) -> list[tuple[Any, ...]]:
    """Base, design, people, k, bins and the errors of all estimates."""
    return [
        (base, design, *size, *(errors.rmse(base, design, *size, name) for name in (*ESTIMATORS, SUMMED)))
        for size in sizes
        for base in BASES
        for design in designs
    ]


def _size_table(settings: Settings, errors: Errors) -> Table:
    sizes = [(people, 0, bins) for bins in BINS for people in people_of_sizes(settings)[-1:]]
    sizes += [(people, 0, COMPARED_BINS) for people in people_of_sizes(settings)[:-1]]
    rows = [
        (BASE_WORDS[row[0]], DESIGN_WORDS[row[1]], row[2], row[4], *row[5:])
        for row in sorted(_rows(errors, ("bounded", "beyond"), sizes), key=lambda row: (row[4], row[2]))
    ]
    columns = (
        *NOISE_COLUMNS, Column("people", Words("people", "人数")), Column("bins", Words("bins", "区間数")),
        *_estimate_columns((*ESTIMATORS, SUMMED)),
    )  # fmt: skip
    note = Words(
        f"Bounded noise of epsilon = {EPSILON} (Laplace of scale 250, normal of scale 353), and the same noise "
        "without bounds. Where there is no "
        "number the matrix is too near to a singular one; huge errors are what inversion makes of one that nearly "
        "is. The last column sums the "
        "estimate (held-out records) for 50 bins. With 1,000 people reconstruction gains nothing over the reports "
        "as "
        "they are, and with "
        "bounded normal noise of this scale hardly anything for any number of people.",
        f"有界で epsilon = {EPSILON} となるノイズ（尺度は Laplace が 250、正規が 353）と、"
        "同じノイズの非有界の場合です。数値のない欄は、行列が"
        "ほぼ特異で逆行列を使えないものです。極端に大きな値は、特異に近い行列の逆行列によるものです。最後の列は、"
        "50 区間での推定"
        "（検証用レコードで終了）を合算したものです。1,000 人では、"
        "再構築してもランダム化したままの表より正確になりません。"
        "この尺度の有界正規ノイズでは、人数が増えてもほとんど改善しません。",
    )
    return Table(
        "errors-by-people",
        Words("Error by people and bins, same noise", "人数・区間数ごとの誤差（ノイズは一定）"),
        columns,
        tuple(rows),
        note,
    )


def _k_table(settings: Settings, errors: Errors) -> Table:
    sizes = [(K_PEOPLE, k, COMPARED_BINS) for k in ks_of(settings)]
    rows = [
        (row[3], epsilon_of_k(row[2], row[3]), BASE_WORDS[row[0]], DESIGN_WORDS[row[1]], *row[5:-1])
        for row in _rows(errors, ("bounded", "beyond", "clipped"), sizes)
    ]
    columns = (
        Column("k", Words("k", "k")), Column("epsilon", Words("epsilon", "epsilon"), 3), *NOISE_COLUMNS, *_estimate_columns(),
    )  # fmt: skip
    note = Words(
        f"{K_PEOPLE:,} people, {COMPARED_BINS} bins. Epsilon, half of ln((n - 1) / (k - 1)), is that of one "
        "person's "
        "report under bounded noise.",
        f"{K_PEOPLE:,} 人、{COMPARED_BINS} 区間です。epsilon は有界ノイズの報告1件あたりの値で、ln((n - 1) / (k - "
        "1)) の半分です。",
    )
    return Table("errors-by-k", Words("Error by k, in numbers", "k ごとの誤差（数値）"), columns, tuple(rows), note)


def _same_k_table(settings: Settings, errors: Errors) -> Table:
    sizes = [(people, SAME_K, COMPARED_BINS) for people in people_of_sizes(settings)]
    rows = [
        (row[2], epsilon_of_k(row[2], row[3]), BASE_WORDS[row[0]], DESIGN_WORDS[row[1]], *row[5:-1])
        for row in _rows(errors, ("bounded", "beyond"), sizes)
    ]
    columns = (
        Column("people", Words("people", "人数")), Column("epsilon", Words("epsilon", "epsilon"), 3),
        *NOISE_COLUMNS, *_estimate_columns(),
    )  # fmt: skip
    note = Words(
        f"k = {SAME_K} for every number of people, {COMPARED_BINS} bins: more people need less noise each for the "
        "same k. What protects a person "
        "is then the crowd: her own epsilon grows like half the logarithm of the number of people.",
        f"どの人数でも k = {SAME_K}、{COMPARED_BINS} 区間です。人数が多いほど、同じ k "
        "に必要なノイズは小さくなります。その分、個人の保護は"
        "集団の大きさに頼ることになり、1人あたりの epsilon は人数の対数の半分のペースで増えます。",
    )
    return Table(
        "errors-same-k", Words("Error by people, same k", "人数ごとの誤差（k は一定）"), columns, tuple(rows), note
    )


def _least_table(settings: Settings, results: Mapping[str, Any]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for bins in (BINS[0], COMPARED_BINS):
        for base in BASES:
            for k in ks_of(settings):
                least = [results["least errors"].get(f"{base}|{design}|{k}|{bins}") for design in DESIGN_WORDS]
                if least[0] is not None:
                    rows.append((bins, BASE_WORDS[base], k, *least, least[0] / least[1] if least[1] else None))
    columns = (
        Column("bins", Words("bins", "区間数")),
        NOISE_COLUMNS[0],
        Column("k", Words("k", "k")),
        *(Column(design, words, 3) for design, words in DESIGN_WORDS.items()),
        Column("ratio", Words("bounded over unbounded", "有界／非有界"), decimals=3),
    )
    note = Words(
        f"The least error of any estimate that is right on average, by the Cramér-Rao bound, for {K_PEOPLE:,} "
        "people and values spread evenly "
        "inside bins: computed, not drawn. With 20 bins bounded Laplace noise tells more than unbounded at every "
        "k, "
        "and the more so the "
        "larger k; with 5 bins only for large k. Normal noise at the same k allows far less: its bounds take away "
        "what made unbounded normal "
        "noise informative, and what gave it rate 0.",
        f"不偏推定の誤差の下限（クラメール・ラオの限界、{K_PEOPLE:,} 人、区間内は一様）で、"
        "乱数によらず計算した値です。20 区間では、どの k でも"
        "有界の Laplace ノイズのほうが多くの情報を残し、k が大きいほど差が開きます。5 区間でそうなるのは k "
        "が大きいときだけです。同じ k の正規ノイズは"
        "はるかに不利です。有界にすると、非有界の正規ノイズの情報量の源（匿名率が 0 "
        "になる原因でもあります）が失われるためです。",
    )
    return Table("least-errors", Words("What the noise allows at best", "誤差の下限"), columns, tuple(rows), note)


def _adult_table(settings: Settings, errors: Errors) -> Table:
    names = (*ESTIMATORS, SUMMED)
    rows: list[tuple[Cell, ...]] = []
    for attribute, k, base in tables():
        found = [errors.table_rmse(attribute, k, base, name) for name in names]
        words = Words("income x age", "収入×年齢") if attribute == "income" else Words("education x age", "学歴×年齢")
        rows.append((words, k, BASE_WORDS[base], *found, over(found[names.index(BAYES)], found[0])))
    columns = (
        Column("table", Words("table", "表")),
        Column("k", Words("k", "k")),
        NOISE_COLUMNS[0],
        *_estimate_columns(names),
        Column("ratio", Words("stopped early / as they are", "早めに終了／そのまま"), decimals=3),
    )
    people = _people_in_words(settings)
    note = Words(
        f"Data: {people.english}. Retention-replacement for the category (2 incomes, 16 educations), bounded noise "
        "for the age, each with the "
        "square root of the rate that k allows. Seven bins of ages; the column of finer bins is the estimate by "
        "single years, summed.",
        f"データ：{people.japanese}。カテゴリ属性（収入2値、学歴16値）は維持-置換、年齢は有界ノイズで、k "
        "に必要な匿名率の平方根ずつを"
        "割り当てました。年齢は7区間です。「細かい区間から合算」は1歳ごとの推定を合算したものです。",
    )
    return Table(
        "category-by-number", Words("A category and a number", "カテゴリ属性×数値属性"), columns, tuple(rows), note
    )


def _all_errors(errors: Errors) -> Table:
    names = ("base", "design", "people", "k", "bins", "estimate", "rmse", "total_variation", "repeats")
    rows = [
        (*key, sqrt(float(x[:, 0].mean())), float(x[:, 1].mean()), len(x))
        for key, x in sorted(errors.one.items())
        if key[5] != RANDOM_PART
    ]
    rows += [
        (
            base,
            "bounded",
            0,
            k,
            0,
            f"{attribute} x age: {name}",
            sqrt(float(x[:, 0].mean())),
            float(x[:, 1].mean()),
            len(x),
        )
        for (attribute, k, base, name), x in sorted(errors.tables.items())
    ]
    columns = tuple(Column(name, Words(name.replace("_", " "), name)) for name in names)
    note = Words(
        f"k = 0 stands for the noise of epsilon = {EPSILON}.", f"k = 0 は epsilon = {EPSILON} のノイズを表します。"
    )
    return Table("all-errors", Words("All errors", "すべての誤差"), columns, tuple(rows), note, is_on_page=False)


# The pictures.


def _example_picture(results: Mapping[str, Any]) -> Picture:
    shares = results["example"]

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 2, sharey=True)
        for axis, base in zip(axes, BASES, strict=True):
            at = np.arange(COMPARED_BINS)
            axis.bar(at, shares["truth"], color="#cccccc", label="truth")
            axis.plot(at, shares[f"{base}|{RAW}"], ":", color="black", marker=".", label="reports as they are")
            axis.plot(
                at, shares[f"{base}|{BAYES}"], color="#0072b2", marker="o", ms=4, label="iterative Bayes, stopped early"
            )
            axis.plot(
                at,
                shares[f"{base}|{LIMIT}"],
                "--",
                color="#d55e00",
                marker="^",
                ms=4,
                label="iterative Bayes, in the limit",
            )
            axis.set_title(f"bounded {BASE_WORDS[base].english} noise, k = {SAME_K}, {K_PEOPLE:,} people", fontsize=9)
            axis.set_xlabel("bin")
            axis.set_xticks(range(0, COMPARED_BINS, 5))
            axis.grid(alpha=0.3)
        axes[0].set_ylabel("share of people")
        axes[0].set_ylim(0, 2.2 * max(shares["truth"]))
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)

    note = Words(
        "One run. In the limit the iterative Bayes method follows the noise; the axis is cut where it goes higher.",
        "1回の実行例です。極限まで反復すると、推定はノイズを追ってしまいます（縦軸は途中までを表示）。",
    )
    return Picture("example", Words("A distribution, reconstructed", "再構築した分布の例"), draw, (10, 4.2), note)


def _size_picture(settings: Settings, errors: Errors) -> Picture:
    sizes = people_of_sizes(settings)

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 2)
        for base, design, colour, mark, style in LINES:
            label = f"{BASE_WORDS[base].english}, {'bounded' if design == 'bounded' else 'unbounded'}"
            for axis, name in ((axes[0], BAYES), (axes[1], RANDOM_PART)):
                found = [errors.rmse(base, design, people, 0, COMPARED_BINS, name) for people in sizes]
                if None not in found:
                    axis.loglog(sizes, found, style, color=colour, marker=mark, ms=5, label=label)
        raw = [errors.rmse("laplace", "bounded", people, 0, COMPARED_BINS, RAW) for people in sizes]
        axes[0].loglog(sizes, raw, ":", color="black", label="reports as they are (Laplace, bounded)")
        even = [errors.rmse("laplace", "bounded", people, 0, COMPARED_BINS, EVEN) for people in sizes]
        axes[0].loglog(sizes, even, "-.", color="#999999", label="equal shares, without any data")
        start = errors.rmse("laplace", "bounded", sizes[0], 0, COMPARED_BINS, RANDOM_PART) or 1.0
        guide = [0.6 * start * sqrt(sizes[0] / people) for people in sizes]
        axes[1].loglog(sizes, guide, ":", color="black", label="slope -1/2")
        for axis, title in zip(axes, ("iterative Bayes, stopped early", "inverse matrix (random part)"), strict=True):
            axis.set_title(f"{title}; {COMPARED_BINS} bins, epsilon = {EPSILON}", fontsize=9)
            axis.set_xlabel("people")
            axis.set_ylabel("RMSE of the shares")
            axis.grid(alpha=0.3, which="both")
            axis.legend(fontsize=8)

    note = Words(
        "Laplace or normal noise, with and without bounds (with bins beyond the range). The inverse matrix of "
        "normal "
        "noise is out of reach "
        "for 20 bins.",
        "Laplace・正規、有界・非有界（値域外にも区間）の比較です。20 区間の正規ノイズでは逆行列を使えません。",
    )
    return Picture("errors-by-people", Words("Error by number of people", "人数と誤差"), draw, (11, 4.4), note)


def _k_picture(settings: Settings, errors: Errors) -> Picture:
    ks = ks_of(settings)

    def draw(figure: Any) -> None:
        axis = figure.subplots()
        for base, design, colour, mark, style in LINES:
            found = [errors.rmse(base, design, K_PEOPLE, k, COMPARED_BINS, BAYES) for k in ks]
            bounds = "bounded" if design == "bounded" else "unbounded" if base == "laplace" else "unbounded (no k)"
            axis.loglog(
                ks, found, style, color=colour, marker=mark, ms=5, label=f"{BASE_WORDS[base].english}, {bounds}"
            )
        raw = [errors.rmse("laplace", "bounded", K_PEOPLE, k, COMPARED_BINS, RAW) for k in ks]
        axis.loglog(ks, raw, ":", color="black", label="reports as they are (Laplace, bounded)")
        even = [errors.rmse("laplace", "bounded", K_PEOPLE, k, COMPARED_BINS, EVEN) for k in ks]
        axis.loglog(ks, even, "-.", color="#999999", label="equal shares, without any data")
        axis.set_xlabel("k")
        axis.set_ylabel("RMSE of the shares")
        axis.set_title(f"{K_PEOPLE:,} people, {COMPARED_BINS} bins, iterative Bayes stopped early", fontsize=9)
        axis.grid(alpha=0.3, which="both")
        axis.legend(fontsize=8)

    note = Words(
        "Unbounded normal noise guarantees no k; it has the scale of bounded normal noise with that k.",
        "非有界の正規ノイズは k を保証しません（その k の有界正規ノイズと同じ尺度です）。",
    )
    return Picture("errors-by-k", Words("Error by k", "k と誤差"), draw, (7, 4.4), note)


# The findings.
