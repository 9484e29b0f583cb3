"""The texts of the release page in English and Japanese; the words of the planner stand in `tables.plan_words`."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words
from sudare.tables.mechanism import SettingWords
from sudare.tables.planning.plan_words import of_mechanism, of_quantity
from sudare.tables.registry import find_mechanism

__all__ = [
    "TEXTS",
    "of_draw",
    "of_mechanism",
    "of_quantity",
    "of_setting",
]

TEXTS = {
    "report": Words("Release report", "公表の報告書"),
    "not_private": Words(
        (
            "The noise was drawn from a seed, for research. Anyone who knows the seed can take it away again. Do not "
            "publish this about real people."
        ),
        (
            "ノイズは研究用にシードから生成されています。シードを知っていれば取り除けるため、"
            "実在の人に関する結果として公表しないでください。"
        ),
    ),
    "confidential": Words(
        "This page shows true data, not only what was published. Keep it where the data is kept.",
        "このページには、公表した値だけでなく真のデータも含まれています。元データと同じ管理のもとに置いてください。",
    ),
    "published_by": Words("Published by {name}", "公表者: {name}"),
    "created": Words("Created {date}", "作成日時: {date}"),
    "total": Words("Published total", "公表した合計"),
    "cells": Words("Cells in the table", "表のセル数"),
    "non_empty": Words("Cells that are not empty", "0 でないセル"),
    "above_zero": Words("Cells above 0", "正のセル"),
    "below_zero": Words("Cells below 0", "負のセル"),
    "budget": Words("Privacy budget", "プライバシー予算"),
    "mechanism": Words("Mechanism", "公表方式"),
    "promise": Words("The promise", "プライバシーの約束"),
    "promise_text": Words(
        (
            "Noise was added before anything was published. It limits what anyone can find out about one {who} from "
            "this table, whatever else they know and however they compute, now and in the future."
        ),
        (
            "公表に先立って、集計にノイズを加えています。そのため、この表から{who}について知り得ることには上限があります。"
            "この上限は、相手がほかに何を知っていても、どのような計算をしても、将来にわたって変わりません。"
        ),
    ),
    "not_promised": Words(
        "This page describes the guarantee that the same release would have with secure noise. As it is, it has none.",
        "以下は、安全な乱数でノイズを生成した場合の保証です。この結果には適用されません。",
    ),
    "adversary": Words("The most an adversary can learn", "攻撃者が知り得ることの上限"),
    "adversary_presence": Words(
        (
            "Suppose that somebody knows everything about everyone else, and tests whether one {who} was counted. If "
            "the test may give a false alarm in {alarm} of cases, it recognises the {who} in at most {power} of cases. "
            "Without this release, that would be {alarm}: guessing."
        ),
        (
            "対象の{who}を除くすべての情報を知っている攻撃者が、その{who}が集計に含まれているかどうかを判定するとします。"
            "含まれていないのに「含まれている」と誤る確率を {alarm} まで許すとき、含まれていることを正しく言い当てられる確率は"
            "最大でも {power} です。この公表がなければ、当て推量と同じ {alarm} です。"
        ),
    ),
    "adversary_values": Words(
        (
            "Suppose that somebody knows everything about everyone else, and tests whether one {who}'s data are one "
            "thing or another. If the test may give a false alarm in {alarm} of cases, it is right about the {who} in at "
            "most {power} of cases. Without this release, that would be {alarm}: guessing."
        ),
        (
            "対象の{who}を除くすべての情報を知っている攻撃者が、その{who}のデータが2つの値のどちらであるかを判定するとします。"
            "誤って一方と判断する確率を {alarm} まで許すとき、正しく言い当てられる確率は最大でも {power} です。"
            "この公表がなければ、当て推量と同じ {alarm} です。"
        ),
    ),
    "guessing": Words("by guessing, without this release", "公表がない場合（当て推量）"),
    "with_release": Words("at most, with this release", "公表がある場合の上限"),
    "unit": Words("Who is protected", "保護の単位"),
    "unit_add-remove_once": Words(
        "one {who}, present or not, who is counted once",
        "{who}の追加・削除。数えられるのは1回だけです",
    ),
    "unit_replace_once": Words(
        "one {who}, who is counted once and might be counted anywhere else",
        "{who}のデータの置き換え。数えられるのは1回だけです",
    ),
    "unit_add-remove_often": Words(
        "one {who}, present or not; counted in up to {cells} cells, up to {rows_per_cell} times in each and up to {rows} "
        "times in all",
        "{who}の追加・削除。数えられるのは最大 {cells} セル、各セル最大 {rows_per_cell} 回、合計で最大 {rows} 回",
    ),
    "unit_replace_often": Words(
        "one {who}, whose data might be any others; counted in up to {cells} cells, up to {rows_per_cell} times in each "
        "and up to {rows} times in all",
        "{who}のデータの置き換え。数えられるのは最大 {cells} セル、各セル最大 {rows_per_cell} 回、合計で最大 {rows} 回",
    ),
    "guarantee": Words("Guarantee", "保証の種類"),
    "pure": Words("pure differential privacy, {budget}", "純粋差分プライバシー（{budget}）"),
    "approximate": Words("approximate differential privacy, {budget}", "近似差分プライバシー（{budget}）"),
    "zcdp": Words(
        "zero-concentrated differential privacy (zCDP), {budget}", "ゼロ集中差分プライバシー（zCDP、{budget}）"
    ),
    "noise": Words("Noise", "ノイズ"),
    "noise_secure": Words(
        "whole numbers, drawn exactly from a cryptographic generator",
        "整数値。暗号論的な乱数から厳密に生成",
    ),
    "noise_research": Words("drawn from a seed, for research", "研究用にシードから生成"),
    "exact_none": Words(
        "No quantity was published without noise.",
        "ノイズを加えずに公表した量はありません。",
    ),
    "exact_some": Words(
        "NOT PROTECTED: published exactly, without noise: {names}.",
        "保護の対象外: 次の量はノイズを加えず、そのまま公表しています: {names}。",
    ),
    "results": Words("What was published", "公表した結果"),
    "map_published": Words("Published counts", "公表した値"),
    "map_true": Words("True counts (confidential)", "真の値（機密）"),
    "map_pixel": Words(
        (
            "Counts per pixel of {block} x {block} cells on a logarithmic scale, north at the top. "
            "Nothing is drawn where the published count is 0."
        ),
        "{block} x {block} セルを1画素とした合計（対数目盛、上が北）。公表値が 0 の画素は塗っていません。",
    ),
    "map_cell": Words(
        "Counts per cell on a logarithmic scale, north at the top. Nothing is drawn where the published count is 0.",
        "セルごとの値（対数目盛、上が北）。公表値が 0 のセルは塗っていません。",
    ),
    "signed": Words(
        (
            "Signed: noisy counts as they were drawn. Where few people live some are below 0, and as many are too "
            "high; sums over "
            "areas are right on average only if both stay. Do not set them to 0 before adding up."
        ),
        (
            "符号付きの公表: ノイズを加えた値をそのまま公表しています。人の少ない場所では負の値があり、同じ程度に過大"
            "な値もあります。"
            "両方を残して初めて領域の合計が平均的に正しくなるため、合計の前に負の値を 0 にしないでください。"
        ),
    ),
    "map_signed": Words(
        "Green colours are sums below 0, all others sums above.",
        "緑は負の合計、それ以外は正の合計です。",
    ),
    "threshold": Words(
        (
            "BIASED TOTALS: noisy counts below {threshold} are published as 0. On average, this adds {each} to "
            "every empty cell, at most {all} to the whole table, and takes some people from cells with few."
        ),
        (
            "合計に偏りがあります: ノイズを加えた値が {threshold} 未満のセルは 0 として公表しています。このため空のセ"
            "ル1つあたり平均 "
            "{each}、表全体で最大 {all} が加わり、人の少ないセルからは失われます。"
        ),
    ),
    "marginal": Words("Published counts by {name}", "「{name}」別の公表値"),
    "value": Words("Value", "値"),
    "count": Words("Count", "人数"),
    "accuracy": Words("How accurate it is", "精度"),
    "accuracy_cells": Words(
        "The published count of a single cell is expected to differ from the true one by about ±{smallest}.",
        "公表値と真の値との差は、1セルでおよそ ±{smallest} と見込まれます。",
    ),
    "accuracy_text": Words(
        (
            "Where people live, the published count of a single cell is expected to differ from the true one by about "
            "±{smallest}, that of an area of {side} x {side} cells by about ±{larger}."
        ),
        (
            "人の住む場所では、公表値と真の値との差は、1セルでおよそ ±{smallest}、"
            "{side} x {side} セルの領域でおよそ ±{larger} と見込まれます。"
        ),
    ),
    "accuracy_areas": Words(
        "Use sums over areas rather than single cells: the error grows much more slowly than the counts do.",
        "誤差の増え方は人数の増え方よりずっと緩やかなので、個々のセルよりも、領域の合計でのご利用をお勧めします。",
    ),
    "accuracy_none": Words(
        "There is no prediction for this mechanism; the noise is listed below.",
        "この方式の誤差は予測していません。加えたノイズの大きさは次の節に示します。",
    ),
    "accuracy_note": Words(
        (
            "Expected error: root mean squared error (RMSE) over the sums where people live. Mean error: published minus true, "
            "on average. Systematic part: what would still be wrong if the release were repeated very often and averaged."
        ),
        (
            "予想誤差: 人の住む所での二乗平均平方根誤差（RMSE）。平均誤差: 公表値と真の値との差の平均。"
            "系統的な部分: 何度も公表して平均しても残る誤差。"
        ),
    ),
    "basis_formula": Words(
        "Computed from the noise alone: it holds for every table.",
        "ノイズの大きさだけから計算した値で、どの表にも当てはまります。",
    ),
    "basis_stand-in": Words(
        "Found by publishing the published table itself again several times, which costs no budget.",
        "公表した表自体を同じ方法で何度か公表し直して求めた値です（予算は使いません）。",
    ),
    "basis_invented": Words(
        "Found by publishing invented tables over the same cells with about as many people.",
        "同じセルとほぼ同じ人数をもつ架空の表を公表して求めた値です。",
    ),
    "systematic_warning": Words(
        "Where the systematic part stands in bold, most of the error does not average out: counts that may not be negative "
        "move people from crowded places and large categories to empty places and small ones. Do not rely on such sums.",
        "系統的な部分が太字の合計では、誤差の大半が平均しても消えません。負の値を許さない表では、混雑した場所や大きな区分から"
        "空いた場所や小さな区分へ人数が移るためです。このような合計の利用には注意してください。",
    ),
    "sum": Words("Sum", "合計の単位"),
    "mean_error": Words("Mean error", "平均誤差"),
    "systematic": Words("Systematic part", "系統的な部分"),
    "accuracy_chart": Words(
        "Expected error against the side of an area, on logarithmic axes",
        "領域の一辺と予想誤差（両対数）",
    ),
    "measured_note": Words(
        "Measured: root mean squared error over the sums where people live, compared with the true data. Confidential.",
        "実測: 人の住む所での、真の値に対する二乗平均平方根誤差（機密）。",
    ),
    "side": Words("Side of the area (cells)", "領域の一辺（セル）"),
    "distance": Words("about", "およその長さ"),
    "expected": Words("Expected error", "予想誤差"),
    "interval": Words("95 % interval", "95 % 区間"),
    "measured_error": Words("Measured", "実測"),
    "measured": Words("What was measured", "測定の内訳"),
    "measured_text": Words(
        "The budget is divided among these noisy measurements. The published table follows from them alone.",
        "予算は次の測定に配分しています。公表した表は、ノイズを加えたこれらの測定値だけから作られています。",
    ),
    "measurement": Words("Measurement", "測定"),
    "share": Words("Share of the budget", "予算の割合"),
    "deviation": Words("Noise (standard deviation)", "ノイズ（標準偏差）"),
    "scale": Words("Scale of the noise", "ノイズの尺度"),
    "recovered": Words(
        (
            "From every noisy count {level} was taken away, and negative results became 0. What was left was divided by "
            "{divisor} and rounded to whole numbers that add up to the total. This favours few large counts over many small "
            "ones: cells with few people tend to come out too low, and empty ones are sometimes above 0. Use single cells: "
            "over areas these errors add up, sums of inhabited areas tend to be too low and those of empty ones too high."
        ),
        (
            "ノイズを加えた各値から {level} を引き、負になった値を 0 としました。残りを {divisor} で割り、"
            "合計が一致する整数に丸めています。多数の小さな値より少数の大きな値を優先するため、"
            "人の少ないセルは小さめに、空のセルの一部は 0 より大きくなります。個々のセルでのご利用をお勧めします。"
            "領域の合計ではこの誤差が積み重なり、人の多い領域では小さめに、少ない領域では大きめになります。"
        ),
    ),
    "settings": Words("Settings", "設定"),
    "why": Words("Why this way", "この方式を選んだ理由"),
    "alternatives": Words("Alternatives that were rejected", "採用しなかった方式"),
    "alternative": Words("Alternative", "方式"),
    "ratio": Words("Error, relative", "誤差の比"),
    "worst_ratio": Words("at worst", "最悪の場合"),
    "alternatives_note": Words(
        "Expected error divided by that of the method that was used: mean (geometric) over sizes of areas, and the largest.",
        "採用した方式に対する予想誤差の比。領域の大きさについての幾何平均と、最大値。",
    ),
    "reference": Words("Public reference", "参照した公開データ"),
    "reference_text": Words(
        "{name}. The publisher declares that this table was public already; it made the result more accurate, at no cost.",
        "{name}。公表者が既に公開済みと宣言した表です。予算を使わずに精度を高めるために用いています。",
    ),
    "record": Words("Record", "記録"),
    "files": Words("Files", "ファイル"),
    "file": Words("File", "ファイル名"),
    "size": Words("Size", "サイズ"),
    "ledger": Words("Budget ledger", "予算台帳"),
    "dataset": Words("Data set", "データセット"),
    "location": Words("Ledger", "台帳"),
    "entry": Words("Entry", "記帳番号"),
    "hash": Words("Hash of the ledger", "台帳のハッシュ値"),
    "remaining": Words("Budget left", "残りの予算"),
    "input": Words("Input (keyed hash)", "入力（鍵付きハッシュ値）"),
    "versions": Words("Versions", "バージョン"),
    "check": Words("How to check this release", "検証の方法"),
    "check_text": Words(
        "Download the folder of this release, and run:",
        "この公表のフォルダをダウンロードして、次のコマンドを実行してください。",
    ),
    "check_after": Words(
        "It compares every file with its hash, the table with what is said here, and the stated cost with the noise.",
        "各ファイルとハッシュ値、表とこのページの記載、ノイズの大きさと予算の消費量が、それぞれ一致することを確認します。",
    ),
    "registry": Words("All fields, for registries of deployments (English)", "登録簿向けの全項目（英語）"),
    "made_with": Words("Made with sudare {version}.", "sudare {version} で作成。"),
}

_DRAWS = {
    "discrete-laplace": Words("discrete Laplace noise", "離散ラプラスノイズ"),
    "discrete-gaussian": Words("discrete Gaussian noise", "離散ガウスノイズ"),
    "selection": Words("private choice of a margin", "周辺表の秘密な選択"),
}
_SHARED_SETTINGS = {
    "layout": SettingWords(
        name=Words("Order of the cells", "セルの並び順"),
        values={
            "morton": Words("Morton", "モートン順"),
            "raster": Words("raster, row by row", "ラスタ順（行ごと）"),
            "hilbert": Words("along Hilbert's curve", "ヒルベルト曲線順"),
            "random": Words("shuffled by a public key", "公開の鍵による無作為順"),
        },
    ),
    "noise": SettingWords(
        name=Words("Noise", "ノイズ"),
        values={"laplace": Words("Laplace", "ラプラス"), "gaussian": Words("Gaussian", "ガウス")},
    ),
    "conversion": SettingWords(name=Words("Conversion of (ε, δ)", "(ε, δ) の換算")),
}
"""Settings of many mechanisms; those of one stand in its object."""

_WEIGHTED = Words("{part} ({weight:g})", "{part}（{weight:g}）")


def of_draw(kind: str) -> Words:
    """A kind of noise, as an event names it."""
    return _DRAWS.get(kind, Words.same(kind))


def of_setting(name: str, value: object, mechanism: str) -> tuple[Words, Words]:
    """A setting of a mechanism as a plan gives it, and its value; what has no words stands as it is.

    Args:
        name: of the setting.
        value: as a document has it.
        mechanism: its name, as a document has it.
    """
    known = find_mechanism(mechanism)
    own = {} if known is None else known.setting_words
    words = own.get(name) or _SHARED_SETTINGS.get(name) or SettingWords(name=Words.same(name))
    if isinstance(value, Mapping):  # parts of a workload with their weights
        parts = [(words.values.get(str(part), Words.same(part)), weight) for part, weight in value.items()]
        return words.name, Words.joined([_WEIGHTED.format(part=part, weight=weight) for part, weight in parts])
    shown = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return words.name, words.values.get(shown, Words.same(shown))
