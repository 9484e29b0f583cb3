"""Texts of the page with the plan and its slider."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["PLANS"]

PLANS: Mapping[str, Words] = {
    "plan.lead": Words(
        "Nothing is spent yet. Move the slider: less epsilon protects people better, more makes the counts more accurate.",
        "まだ予算は使っていません。スライダーを動かしてください。ε を小さくすると保護が強く、大きくすると度数が正確になります。",
    ),
    "plan.slider": Words("Epsilon of this release", "この公表の ε"),
    "plan.slider_rho": Words("Rho of this release", "この公表の ρ"),
    "plan.or_error": Words("Or say the error you want", "または希望する誤差から決める"),
    "plan.wished": Words("Typical error of at most", "典型的な誤差の上限"),
    "plan.wished_for": Words("for", "対象"),
    "plan.set": Words("Set", "設定"),
    "plan.too_small": Words(
        "No epsilon up to {limit} gives so small an error.", "ε を {limit} まで増やしても、その誤差にはなりません。"
    ),
    "plan.errors": Words("What to expect", "予想される誤差"),
    "plan.sums": Words("Sums over", "合計の対象"),
    "plan.typical": Words("typical error", "典型的な誤差"),
    "plan.interval": Words("95 % between", "95 % の範囲"),
    "plan.chart": Words(
        "Typical error by size of area, for the epsilon of the slider",
        "区域の大きさ別の典型的な誤差（スライダーの ε の場合）",
    ),
    "plan.means": Words("What it means for one person", "1人にとっての意味"),
    "plan.power": Words(
        "Whoever knows everybody else finds out at best with a chance of {power} that one person is counted here, where mere "
        "guessing has {alarm}.",
        "他の全員のデータを知る人でも、ある1人が集計に含まれることを見抜ける確率は最大 {power} です（当て推量では {alarm}）。",
    ),
    "plan.affords": Words(
        "The data set still affords {number} releases like this one.",
        "このデータでは、同じ公表をあと {number} 回行えます。",
    ),
    "plan.affords_none": Words("The data set does not afford this release.", "残りの予算では、この公表を行えません。"),
    "plan.affords_many": Words(
        "The data set still affords more than {number} releases like this one.",
        "このデータでは、同じ公表を {number} 回以上行えます。",
    ),
    "plan.alternatives": Words("Methods side by side", "方法の比較"),
    "plan.alternatives_note": Words(
        "Errors of other methods at the same epsilon, as multiples of those above: over all sizes and margins, and where each "
        "compares worst.",
        "同じ ε での他の方法の誤差（上の値に対する倍率）。全ての大きさ・周辺表の幾何平均と、最も不利な場合です。",
    ),
    "plan.method": Words("Method", "方法"),
    "plan.this_one": Words("this plan", "この計画"),
    "plan.typical_ratio": Words("error, times", "誤差（倍）"),
    "plan.worst_ratio": Words("at worst, times", "最も不利な場合（倍）"),
    "plan.chosen": Words("Chosen: {method}", "選ばれた方法: {method}"),
    "plan.obstacles": Words("This is in the way", "実行の妨げ"),
    "plan.clear": Words("Nothing is in the way.", "実行を妨げるものはありません。"),
    "plan.was_made": Words(
        "This very release was made before: it is shown again and costs nothing.",
        "同じ公表が既にあります。改めて表示するだけで、予算は使いません。",
    ),
    "plan.unfinished": Words(
        "A run of this very plan was stopped after noise may have been drawn, or is still at work (ledger entry {entries}). Its "
        "charge stays spent. Carrying the plan out now charges once more.",
        "同じ計画の以前の実行が、ノイズが生成された可能性のある段階で止まっているか、まだ実行中です（台帳の項目 {entries}）。"
        "その費用は使用済みのままです。今実行すると、さらに予算を使います。",
    ),
    "plan.once_more": Words("Pay once more", "もう一度予算を使う"),
    "plan.release": Words("Release …", "公表する…"),
    "plan.confirm_title": Words("Spend this?", "予算を使いますか"),
    "plan.confirm_charge": Words("Charged to “{dataset}”", "課金先「{dataset}」"),
    "plan.confirm_left": Words("Left now", "現在の残り"),
    "plan.confirm_note": Words(
        "What is spent is never given back once noise is drawn.", "ノイズを生成した後は、予算は戻りません。"
    ),
    "plan.free": Words("nothing: this very release was made before", "なし（同じ公表が既にあります）"),
    "plan.another": Words(
        "This plan was released already. With another budget it is released once more, as another version with a folder of "
        "its own.",
        "この計画は公表済みです。予算を変えた場合は、別の版として別のフォルダに公表します。",
    ),
    "plan.confirm": Words("Spend and release", "予算を使って公表する"),
    "plan.cancel": Words("Not yet", "やめる"),
    "plan.facts": Words("The plan", "計画"),
    "plan.cells": Words("Cells", "セル"),
    "plan.unit": Words("Protected", "保護の対象"),
    "plan.source": Words("Data", "データ"),
    "plan.folder": Words("Release folder", "公表フォルダ"),
    "plan.file": Words("Plan file", "計画ファイル"),
    "plan.see_file": Words("Show the plan file", "計画ファイルを表示"),
    "plan.unknown_budget": Words("The ledger cannot be read: {reason}", "台帳を読めません: {reason}"),
    "job.title": Words("Working on it", "実行中"),
    "job.waiting": Words("Waiting for the work before it", "順番を待っています"),
    "job.leave": Words(
        "You may close this page: the work goes on, and the result will be among the releases.",
        "このページを閉じても作業は続きます。結果は「公表済み」に表示されます。",
    ),
    "job.failed": Words("It did not finish", "完了しませんでした"),
    "job.again": Words("Back to the plan", "計画に戻る"),
    "job.done": Words("Done", "完了"),
    "job.see": Words("See the result", "結果を見る"),
    "stage.reserve": Words("setting the budget aside", "予算を予約"),
    "stage.wait": Words("waiting for the same release elsewhere", "同じ公表の完了を待機"),
    "stage.read": Words("reading the data", "データの読み込み"),
    "stage.draw": Words("drawing noise", "ノイズの生成"),
    "stage.write": Words("writing files", "ファイルの書き出し"),
    "stage.attack": Words("attacking the result", "結果への攻撃"),
    "stage.report": Words("writing the report", "報告書の作成"),
    "stage.settle": Words("settling the charge", "予算の確定"),
    "stage.other": Words("working", "処理中"),
}
