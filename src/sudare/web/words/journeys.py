"""Texts that the journeys beside count tables share."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["JOURNEYS"]

JOURNEYS: Mapping[str, Words] = {
    "journey.ways": Words("Other ways to publish", "他の公表方法"),
    "journey.ways_title": Words("What shall become of this file?", "このファイルをどのように公表しますか"),
    "journey.counts": Words("Counts with differential privacy", "差分プライバシーによる度数表"),
    "journey.counts_help": Words(
        "How many people there are, by area, time or category. Comes with a guarantee.",
        "地域・時間・区分別の人数。プライバシーの保証があります。",
    ),
    "journey.records": Words("Anonymized records", "匿名化した個票"),
    "journey.records_help": Words(
        "A row for each person, with values made coarser until nobody stands out (k-anonymity and more). No guarantee.",
        "1人1行のデータ。誰も目立たなくなるまで値を粗くします（k-匿名性など）。プライバシーの保証はありません。",
    ),
    "journey.tables": Words("A table by disclosure control", "秘匿処理をした統計表"),
    "journey.tables_help": Words(
        "Totals of counts or amounts, with unsafe cells hidden or rounded. No guarantee.",
        "件数や金額の集計表。安全でないセルを秘匿または丸めます。プライバシーの保証はありません。",
    ),
    "journey.queries": Words("Questions in SQL", "SQL による問い合わせ"),
    "journey.queries_help": Words(
        "Ask one question after another; each has a price and an error. Comes with a guarantee.",
        "質問を1つずつ行います。質問ごとに価格と誤差が示されます。プライバシーの保証があります。",
    ),
    "journey.take": Words("Take this way", "この方法で進む"),
    "journey.run": Words("Carry it out", "実行する"),
    "journey.run_priced": Words("Spend {cost} and carry it out", "{cost} を使って実行する"),
    "journey.free": Words("This costs no privacy budget.", "プライバシー予算は使いません。"),
    "journey.no_guarantee": Words(
        "This is not differential privacy. The result is attacked before it is shown, and refused if an attack succeeds.",
        "これは差分プライバシーではありません。表示の前に結果への攻撃を試し、成功した場合は公表しません。",
    ),
    "journey.method": Words("Method", "手法"),
    "journey.dataset": Words("Charged to", "課金先"),
    "journey.confidential": Words("CONFIDENTIAL: for the holder of the data alone", "秘: データ保有者のみ"),
    "journey.variants_note": Words(
        "Your plan stays as it is: the change is written as a new plan beside it.",
        "元の計画はそのまま残り、変更は隣に新しい計画として書かれます。",
    ),
    "journey.bad_number": Words(
        "'{value}' under “{field}” is no number.", "「{field}」の「{value}」は数ではありません。"
    ),
    "journey.of_kind": Words("This plan is of another kind.", "この計画は別の種類のものです。"),
    "journey.over": Words(
        "This plan was carried out, and its result is kept as it is. Another version of it gets a folder of its own.",
        "この計画は実行済みで、結果はそのまま保存されています。別の版には別のフォルダが使われます。",
    ),
    "journey.see_release": Words("See the release", "公表済みの結果を見る"),
    "ledger.timeline": Words("Spent over time", "使用の推移"),
    "ledger.timeline_picture": Words(
        "Sum of the stated costs over time, up to the total: {number} charges",
        "記載された費用の合計の推移と総予算（{number} 件）",
    ),
    "ledger.timeline_note": Words(
        "Steps are the costs as they were stated. What is left is told by the ledger's own rule of composition, above.",
        "段差は記載された費用です。残りの予算は台帳の合成規則による値（上の表）を見てください。",
    ),
    "ledger.state.settled": Words("released", "公表済み"),
    "ledger.state.reserved": Words("set aside", "予約中"),
    "ledger.state.cancelled": Words("given back", "取消"),
    "ledger.state.noted": Words("published without a price", "費用なしの公表"),
    "ledger.by_purpose": Words("For what", "用途別"),
    "ledger.purpose": Words("Purpose", "用途"),
    "ledger.times": Words("Times", "回数"),
    "ledger.share_of_total": Words("Share of the total", "総予算に対する割合"),
    "ledger.analyst": Words("account of {who}", "{who} の口座"),
    "ledger.head": Words(
        "{number:,} entries; the last one has the hash {hash}", "記録 {number:,} 件、最後のハッシュ {hash}"
    ),
    "ledger.noted": Words("Published without a price: {title}", "費用なしの公表: {title}"),
    "stage.protect": Words("protecting the cells", "秘匿処理"),
    "journey.working": Words("Working …", "処理中…"),
}
