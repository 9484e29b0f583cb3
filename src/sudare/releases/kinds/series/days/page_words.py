"""The texts of a window's report in English and Japanese."""

from __future__ import annotations

from sudare.bilingual import Words

__all__ = ["TEXTS"]

TEXTS = {
    "report": Words("Report of a series of tables", "連続公表の報告書"),
    "not_private": Words(
        "The noise was drawn from a seed, for research. Anyone who knows the seed can take it away again. Do not publish this "
        "about real people.",
        "ノイズは研究用にシードから生成されています。シードを知っていれば取り除けるため、"
        "実在の人に関する結果として公表しないでください。",
    ),
    "published_by": Words("Published by {name}", "公表者: {name}"),
    "created": Words("Created {date}", "作成日時: {date}"),
    "window": Words("Window", "期間"),
    "from_to": Words("{begins} to {ends}", "{begins} から {ends} まで"),
    "tables": Words("Tables published", "公表した表"),
    "of_ticks": Words("{published} of {ticks}", "{ticks} 回中 {published} 回"),
    "every": Words("One table every", "公表の間隔"),
    "cells": Words("Cells in each table", "各表のセル数"),
    "mean_total": Words("Published total, on average", "公表した合計の平均"),
    "budget": Words("Cost of the whole window", "期間全体の費用"),
    "budget_event": Words("Cost of one appearance", "1回の出現の費用"),
    "promise": Words("The promise", "プライバシーの約束"),
    "promise_text": Words(
        "Noise was added before anything was published. It limits what anyone can find out about {what} from all "
        "tables of this window together, whatever else they know and however they compute, now and in the future.",
        "公表に先立って、集計にノイズを加えています。そのため、この期間のすべての表を合わせても、{what}について知り得ることには"
        "上限があります。この上限は、相手がほかに何を知っていても、どのような計算をしても、将来にわたって変わりません。",
    ),
    "what_person": Words("one {who}", "{who}"),
    "what_event": Words("one appearance of one {who}", "{who}の1回の出現"),
    "adversary": Words("The most an adversary can learn", "攻撃者が知り得ることの上限"),
    "adversary_text": Words(
        "Suppose that somebody knows everything about everyone else, and tests whether {what} was counted. If the test may "
        "give a false alarm in {alarm} of cases, it is right in at most {power} of cases. Without these tables, "
        "that would be {alarm}: guessing.",
        "ほかのすべての情報を知っている攻撃者が、{what}が集計に含まれているかどうかを判定するとします。"
        "含まれていないのに「含まれている」と誤る確率を {alarm} まで許すとき、正しく言い当てられる確率は最大でも {power} です。"
        "この公表がなければ、当て推量と同じ {alarm} です。",
    ),
    "guessing": Words("by guessing, without these tables", "公表がない場合（当て推量）"),
    "with_release": Words("at most, with all tables", "すべての表がある場合の上限"),
    "unit": Words("Who is protected", "保護の単位"),
    "unit_event": Words(
        "one appearance of one {who} in one table. Somebody who appears in many tables is protected for each "
        "appearance, not for all of them together",
        "1つの表における{who}の1回の出現。多くの表に現れる場合、保護されるのは1回ごとの出現であり、全体ではありません",
    ),
    "unit_person-day": Words(
        "one {who}, present or not, with everything from the beginning of the window to its end",
        "{who}の追加・削除。期間の始まりから終わりまでのすべてを含みます",
    ),
    "unit_person-window": Words(
        "one {who}, present or not, with everything in any {ticks} consecutive tables",
        "{who}の追加・削除。連続する任意の {ticks} 回の公表のすべてを含みます",
    ),
    "guarantee": Words("Guarantee", "保証の種類"),
    "pure": Words("pure differential privacy, {budget}", "純粋差分プライバシー（{budget}）"),
    "approximate": Words("approximate differential privacy, {budget}", "近似差分プライバシー（{budget}）"),
    "zcdp": Words(
        "zero-concentrated differential privacy (zCDP), {budget}", "ゼロ集中差分プライバシー（zCDP、{budget}）"
    ),
    "moves": Words("Moves that count", "数える移動の回数"),
    "moves_text": Words(
        "at most {moves} for each {who} in a window; after that they are counted where they were last",
        "期間中、{who}につき最大 {moves} 回。それ以降は最後に数えた場所で数えます",
    ),
    "moves_none": Words(
        "each table counts by itself who is there at its time", "各表は、その時点にいる人をそれぞれ独立に数えています"
    ),
    "noise": Words("Noise", "ノイズ"),
    "noise_secure": Words(
        "whole numbers, drawn exactly from a cryptographic generator; its key is destroyed when the window is closed",
        "整数値。暗号論的な乱数から厳密に生成。鍵は期間を閉じるときに破棄されます",
    ),
    "noise_research": Words("drawn from a seed, for research", "研究用にシードから生成"),
    "together": Words("Several windows together", "複数の期間を合わせた場合"),
    "together_text": Words(
        "The promise above is for this window. Somebody who is in the data in several windows of {length} each is protected "
        "for all of them together by the sum of their costs.",
        "上の約束は、この期間についてのものです。複数の期間（1期間は {length}）のデータに含まれる人は、"
        "費用の合計に相当する強さで保護されます。",
    ),
    "together_event": Words(
        "The promise above is for one appearance. For several appearances of the same person the costs add up.",
        "上の約束は、1回の出現についてのものです。同じ人が複数回現れる場合、費用は合計されます。",
    ),
    "windows": Words("Windows", "期間の数"),
    "appearances": Words("Appearances", "出現の回数"),
    "cost": Words("Cost", "費用"),
    "right": Words("An adversary is right in at most", "攻撃者が正しく言い当てる確率の上限"),
    "results": Words("The window in pictures", "期間の推移"),
    "total": Words("Published total", "公表した合計"),
    "total_band": Words(
        "The band shows where the true total is expected in 95 % of cases.",
        "帯は、真の合計が 95 % の場合に入ると見込まれる範囲です。",
    ),
    "gaps": Words("Where the line is broken, nothing was published.", "線の途切れている所は、公表がありません。"),
    "maps": Words("Maps", "地図"),
    "map_alt": Words(
        "Published counts at {time}. Map on a logarithmic scale, north at the top, dark means many.",
        "{time} の公表値の地図（対数目盛、上が北、濃い色ほど多い）",
    ),
    "map_pixel": Words(
        "Counts per pixel of {block} x {block} cells on a logarithmic scale, which all maps share; north at the top. Nothing is "
        "drawn where the published count is 0.",
        "{block} x {block} セルを1画素とした合計（すべての地図に共通の対数目盛、上が北）。公表値が 0 の画素は塗っていません。",
    ),
    "map_cell": Words(
        "Counts per cell on a logarithmic scale, which all maps share; north at the top. Nothing is drawn where the published "
        "count is 0.",
        "セルごとの値（すべての地図に共通の対数目盛、上が北）。公表値が 0 のセルは塗っていません。",
    ),
    "not_published": Words("not published", "公表なし"),
    "areas_map": Words("The areas with the most people", "人数の多い領域"),
    "areas_chosen": Words("Chosen areas", "選ばれた領域"),
    "areas_some": Words("The largest values of {name}", "「{name}」の人数の多い値"),
    "areas_all": Words("By {name}", "「{name}」別"),
    "areas_note": Words(
        "Which areas are shown was decided by the published counts. All curves share one scale.",
        "表示する領域は、公表値によって選んでいます。縦軸の目盛は共通です。",
    ),
    "areas_scale": Words("All curves share one scale.", "縦軸の目盛は共通です。"),
    "revision": Words("Afterwards better: the revision", "改訂値"),
    "revision_use": Words(
        "Use {file} for what lies in the past, and the tables of the ticks for what was known at the time.",
        "過去の時点の分析には {file} を、その時点で公表されていた値が必要な場合は各時点の表をお使いください。",
    ),
    "accuracy": Words("How accurate it is", "精度"),
    "accuracy_text": Words(
        "Expected difference between the published count and the counted people, by size of area and time of day.",
        "公表値と、数えた人数との差の見込み（領域の大きさと時刻別）。",
    ),
    "accuracy_note": Words(
        "Standard deviation of the measurement of areas of one size alone. All sizes were measured and brought together, which "
        "makes most errors smaller.",
        "1つの大きさの領域の測定値だけによる標準偏差です。実際には、すべての大きさの測定値を合わせて推定しているため、"
        "多くの場合、誤差はこれより小さくなります。",
    ),
    "accuracy_frozen": Words(
        "People who moved more often than is counted are not part of it.",
        "数える回数を超えて移動した人による差は含みません。",
    ),
    "area": Words("Area", "領域"),
    "area_total": Words("whole table", "表全体"),
    "area_cells": Words("area of {cells} cells", "{cells} セルの領域"),
    "area_cell": Words("single cell", "1セル"),
    "ticks": Words("The tables", "公表した表の一覧"),
    "all_published": Words("All tables of the window were published.", "期間中のすべての表を公表しました。"),
    "some_missing": Words(
        "Not published, and never to be: {ranges}.", "公表していない時点（今後も公表されません）: {ranges}。"
    ),
    "some_lost": Words(
        "Published, but gone or changed when this report was made: {ranges}.",
        "公表済みですが、この報告書の作成時に見つからなかったか、変更されていた時点: {ranges}。",
    ),
    "one_time": Words("{first}", "{first}"),
    "time_range": Words("{first} to {last} ({number} tables)", "{first} から {last}（{number}回）"),
    "show_ticks": Words("Show all {ticks} tables", "{ticks} 回分をすべて表示"),
    "time": Words("Time", "時刻"),
    "state": Words("State", "状態"),
    "published": Words("published", "公表済み"),
    "missing": Words("not published", "公表なし"),
    "lost": Words("gone or changed", "なし、または変更"),
    "non_empty": Words("Cells that are not empty", "0 でないセル"),
    "document": Words("SHA-256 of its release.json", "release.json の SHA-256"),
    "record": Words("Record", "記録"),
    "files": Words("Files", "ファイル"),
    "file": Words("File", "ファイル名"),
    "size": Words("Size", "サイズ"),
    "ledger": Words("Budget ledger", "予算台帳"),
    "dataset": Words("Data set", "データセット"),
    "location": Words("Ledger", "台帳"),
    "entry": Words("Entry", "記帳番号"),
    "remaining": Words("Budget left", "残りの予算"),
    "hash": Words("Hash of the ledger", "台帳のハッシュ値"),
    "versions": Words("Versions", "バージョン"),
    "check": Words("How to check this window", "検証の方法"),
    "check_text": Words(
        "This command checks the whole window: every table with its hashes, that none is there besides, the sums, the cost, and "
        "this page. Run it where the folders of the series are; FOLDER is the folder of this page.",
        "次のコマンドで期間全体を検証できます。各表とそのハッシュ、余分な表がないこと、合計、費用、このページを確認します。"
        "連続公表のフォルダ全体がある場所で実行してください（FOLDER はこのページのあるフォルダ）。",
    ),
    "check_after": Words(
        "With --ledger and the place of the ledger it also checks the ledger's entries of all tables.",
        "--ledger で台帳の場所を指定すると、すべての表について台帳の項目も確認します。",
    ),
    "made_with": Words("Made with sudare {version}.", "sudare {version} で作成。"),
}
