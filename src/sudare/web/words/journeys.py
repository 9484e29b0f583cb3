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
    "journey.see_release": Words("See the release", "公表済みの結果を見る"),
    "stage.protect": Words("protecting the cells", "秘匿処理"),
    "journey.working": Words("Working …", "処理中…"),
}
