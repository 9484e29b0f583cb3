"""The words of series, in English and Japanese."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["HELP", "SPOKEN"]

PLAN_OF_SERIES = Words("The plan of a series.", "系列の計画ファイル。")

HELP: Mapping[str, Words] = {
    "series.help": Words(
        "Tables that are published again and again about the same people, under one promise for a whole window.",
        "同じ人々の表を、期間全体の一つの保証のもとで公表し続けます。",
    ),
    "series.examples": Words.same("sudare series watch series.toml --yes\nsudare series close series.toml"),
    "series.watch.help": Words(
        "Publish a series tick after tick, as a service.\n\nTicks that were left out while nobody watched are made up for as "
        "long as no "
        "later one was begun. Data that is late is waited for until the next tick is over. Ctrl-C or SIGTERM ends the service at "
        "a safe point: nothing that was published is lost, and nothing is charged twice. The window is charged for once, "
        "before its "
        "first tick.",
        "系列を時点ごとに公表し続けます（常駐）。\n\n停止中に抜けた時点は、後の時点が始まっていなければ補います。"
        "データの到着が遅れたときは、次の時点が終わるまで待ちます。Ctrl-C または SIGTERM で安全に終了します"
        "（公表済みのものは失われず、二重に課金されません）。費用は期間の最初の時点の前に1回だけ予約されます。",
    ),
    "series.watch.examples": Words.same(
        "sudare series watch series.toml --yes\nsudare series watch series.toml --delay '5 minutes'\n"
        "sudare series watch series.toml --from 2026-11-16T00:00 --until 2026-11-16T23:50 --yes"
    ),
    "series.watch.file": PLAN_OF_SERIES,
    "series.watch.first": Words(
        "The tick to begin with. By default the one after the last in this window, or the latest that is over.",
        "最初の時点。省くと、この期間の最後の次の時点（なければ、終わった最新の時点）です。",
    ),
    "series.watch.until": Words("The tick after which to end.", "この時点を公表したら終了します。"),
    "series.watch.delay": Words(
        "How long after the end of a tick its data is complete, such as '5 minutes'.",
        "時点の終わりからデータが揃うまでの時間（例: '5 minutes'）。",
    ),
    "series.watch.yes": Words(
        "Don't ask before a window is charged for; needed where there is no terminal.",
        "期間の費用を予約する前に確認しません。端末のない環境では必要です。",
    ),
    "series.watch.threads": Words("How many threads to use.", "使うスレッド数。"),
    "series.close.help": Words(
        "End windows of a series: write the report of the day, destroy the key and the private state, and settle in the "
        "ledger.\n\nA window is "
        "closed by its last tick; this is for one whose last tick is missing, or whose closing was stopped. The first tick of "
        "the next window closes such ones too.",
        "期間を終え、報告書を書き、鍵を破棄し、台帳に確定します。\n\n"
        "期間は最後の時点の公表直後に自動的に閉じられます。最後の時点が欠けた場合や、途中で止まった場合に使います"
        "（次の期間の最初の時点でも閉じられます）。",
    ),
    "series.close.examples": Words.same(
        "sudare series close series.toml\nsudare series close series.toml --window 2026-11-16T00:00 --yes"
    ),
    "series.close.file": PLAN_OF_SERIES,
    "series.close.window": Words(
        "A window that is not over yet, by its beginning: its ticks to come are missing then. By default all that are over.",
        "まだ終わっていない期間を、その開始日時で指定します（残りの時点は欠測になります）。省くと、終わった期間すべてです。",
    ),
    "series.close.yes": Words("Don't ask.", "確認しません。"),
}

SPOKEN: Mapping[str, Words] = {
    "series.done": Words(
        "Published {time}, tick {number} of {ticks} (window: ledger entry {entry}).",
        "{time} を公表しました（{ticks} 時点中の {number} 番目、期間は台帳の項目 {entry}）。",
    ),
    "series.published": Words("Published {time}.", "{time} を公表しました。"),
    "series.repeated": Words(
        "{time} was published before; it is shown again, at no cost.", "{time} は公表済みです（費用なしで表示します）。"
    ),
    "series.waits": Words("Waiting for {time} to be over.", "{time} の終わりを待っています。"),
    "series.stopped": Words(
        "Stopped at a safe point. Start again to go on; what was published stays, and nothing is charged twice.",
        "安全な時点で停止しました。再び始めると続きから行います（公表済みのものは残り、二重に課金されません）。",
    ),
    "series.closed": Words(
        "Closed the window that began at {time}; its key is destroyed.",
        "{time} に始まった期間を閉じ、鍵を破棄しました。",
    ),
    "series.none_to_close": Words("No window is over and still open.", "終わったまま開いている期間はありません。"),
    "series.bad_moment": Words(
        "A moment is written like 2026-11-16T08:10, without a zone.",
        "日時は 2026-11-16T08:10 のように、時間帯を付けずに書きます。",
    ),
    "series.bad_period": Words("A period is written like '5 minutes'.", "期間は '5 minutes' のように書きます。"),
    "series.at_is_for_series": Words(
        "--at is for plans of series; this plan publishes one release.",
        "--at は系列の計画用です。この計画は1回の公表です。",
    ),
    "series.ask": Words(
        "Charge {charge} for the whole window, and publish?", "期間全体の費用 {charge} を予約して公表しますか"
    ),
    "series.ask_close": Words(
        "Close the window that began at {time}, for good?", "{time} に始まった期間を閉じますか（元に戻せません）"
    ),
    "series.left_out": Words(
        "{rows:,} rows were left out: of other times, without a person or a place, or no rows at all. The number is exact and "
        "for you alone; do not publish it.",
        "{rows:,} 行を除外しました（時刻が範囲外、個人または場所がない、行として読めない）。"
        "この数は正確な値です。公表しないでください。",
    ),
    "series.unclosed": Words(
        "The tick was published. Its window is not closed yet (ledger entry {entry}): `sudare series close {file}` closes it; "
        "so does the next window's first tick.",
        "この時点は公表済みですが、期間はまだ閉じていません（台帳の項目 {entry}）。`sudare series close {file}` "
        "または次の期間の最初の時点で閉じられます。",
    ),
    "series.window_stays": Words(
        "The budget of the window stays reserved (ledger entry {entry}); its other ticks cost nothing more.",
        "期間の予算は予約されたままです（台帳の項目 {entry}）。他の時点に追加の費用はかかりません。",
    ),
    "series.tick_begun": Words(
        "The tick was begun. Run it again with the same data to finish it, at no cost; with other data it would be missing for "
        "good "
        "(window: ledger entry {entry}).",
        "この時点は開始済みです。同じデータで再実行すれば費用なしで完了します。"
        "別のデータでは欠測として確定します（期間: 台帳の項目 {entry}）。",
    ),
    "series.window": Words("window", "期間"),
    "series.window_from": Words("{ticks} ticks from {time}", "{time} から {ticks} 時点"),
    "series.window_of": Words("{length}, {ticks} ticks", "{length}（{ticks} 時点）"),
    "series.every": Words("a table every", "公表の間隔"),
    "series.moves": Words("moves that count, by level", "数える移動の回数（階層別）"),
    "series.strategy": Words("strategy", "方式"),
    "series.strategies": Words("Strategies, error of one level", "方式の比較（1階層の誤差）"),
    "series.factor": Words("relative error", "相対誤差"),
    "series.state": Words("private state", "非公開の状態"),
    "series.accuracy": Words(
        "Predicted error of a count, by size of area and time", "予想誤差（領域の大きさと時刻別）"
    ),
    "series.accuracy_note": Words(
        "Standard deviation of the noise, where people are. The last column is fresh noise at every tick, for the same budget.",
        "人のいる所でのノイズの標準偏差です。最後の列は、同じ予算で毎回新しいノイズを加えた場合です。",
    ),
    "series.cells": Words("cells", "セル数"),
    "series.fresh": Words("fresh", "毎回新規"),
    "series.frozen": Words(
        "If people move {moves} times a window on average, independently of each other, {share} of them have moved more often "
        "than "
        "counts by its end, and stay where they were last counted.",
        "1期間に平均 {moves} 回、互いに独立に移動すると仮定すると、期間の終わりには {share} の人が上限を超え、"
        "最後に数えた場所に留まります。",
    ),
    "series.frozen_unknown": Words(
        "People who move more often than counts stay where they were last counted. State typical_moves in [series] to see how "
        "many.",
        "上限より多く移動した人は、最後に数えた場所に留まります。[series] に typical_moves を書くと、その割合を予測します。",
    ),
    "series.event_is_fresh": Words(
        "One appearance is protected, and each is in one table alone: fresh noise at every tick is the right answer. Somebody "
        "who "
        "appears at many ticks has that many times the risk.",
        "保護されるのは1回の出現で、それぞれ1つの表にしか現れないため、毎回新しいノイズが適切です。"
        "多くの時点に現れる人のリスクは、その回数倍になります。",
    ),
    "series.together": Words(
        "Each window costs {charge}. Somebody who is in all of them has the promise of the sum: {listed}.",
        "1期間の費用は {charge} です。すべての期間に現れる人への保証は合計です: {listed}。",
    ),
    "series.so_many": Words("{number} windows {charge}", "{number} 期間 {charge}"),
    "series.comma": Words(", ", "、"),
}
