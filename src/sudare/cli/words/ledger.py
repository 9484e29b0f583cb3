"""The words of budgets and ledgers, in English and Japanese."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, Words] = {
    "ledger.help": Words(
        "Keep privacy budgets: what may be spent on each data set, and what was.",
        "プライバシー予算の台帳: データセットごとに使える予算と、使った予算。",
    ),
    "ledger.examples": Words.same(
        "sudare ledger create budget.db\nsudare ledger add budget.db census --epsilon 2\nsudare ledger list budget.db"
    ),
    "ledger.create.help": Words("Make an empty ledger.", "空の台帳を作ります。"),
    "ledger.create.examples": Words.same(
        "sudare ledger create budget.db\nsudare ledger create postgresql://office@host/budgets"
    ),
    "ledger.add.help": Words(
        "Bring a data set under the ledger, with all that may ever be spent on it.\n\nA total is never changed.",
        "データセットを台帳に登録します。\n\n将来にわたって使える総予算を決めます。後から変更できません。",
    ),
    "ledger.add.examples": Words.same(
        "sudare ledger add budget.db census --epsilon 2\nsudare ledger add budget.db visits --rho 0.5 --who "
        "patient --rows 3\nsudare ledger add budget.db queries --epsilon 1 --delta 1e-6 --rho-filter\n"
        "sudare ledger add budget.db crowds --rho 1 --protects person-day --ticks 144"
    ),
    "ledger.add.dataset": Words("What the data set is called from now on.", "データセットの名前。"),
    "ledger.add.who": Words("Who is protected.", "保護する単位。"),
    "ledger.add.rows": Words(
        "How many rows one of them may have, in any cells; 1 if nothing is stated.",
        "1単位が持ちうる行数（どのセルでも）。指定がなければ 1。",
    ),
    "ledger.add.cells": Words(
        "In how many cells of a table one of them may be counted.",
        "1単位が数えられる表のセルの数。",
    ),
    "ledger.add.rows_per_cell": Words(
        "How often in the same cell; once if --cells is stated.",
        "同じセルで数えられる回数。--cells があれば 1。",
    ),
    "ledger.add.replace": Words(
        "Neighbouring tables differ by a replaced person: for releases with a public total.",
        "隣接する表を「1人の置き換え」とします。合計を公開する公表のために使います。",
    ),
    "ledger.add.protects": Words(
        "For repeated releases: event (one appearance), person-day (a whole window) or person-window (any so many ticks).",
        "繰り返し公表する場合の保護範囲: event（1回の出現）、person-day（1期間の全体）、person-window（連続する時点）。",
    ),
    "ledger.add.ticks": Words(
        "With --protects: how many ticks a window has.",
        "--protects のとき、1期間の時点の数。",
    ),
    "ledger.add.rho_filter": Words(
        "Keep a total in epsilon and delta as a sum of rhos: room for many more small releases.",
        "イプシロンとデルタの総予算をローの合計で管理します。小さい公表をより多く行えます。",
    ),
    "ledger.add.reserve": Words(
        "With --rho-filter: the part of delta for releases with a delta of their own. By default half.",
        "--rho-filter のとき、固有のデルタを持つ公表のために残すデルタ。既定は半分。",
    ),
    "ledger.add.description": Words("A description for people.", "説明文。"),
    "ledger.rho-filter.help": Words(
        "Count the costs of a data set by a rho filter from now on, those before included.\n\nThe total stays what "
        "it is. Decide this without looking at what was released. It is not changed back.",
        "以後、費用をローのフィルターで数えます。\n\n過去の分も含めて数え直します。総予算は変わりません。"
        "公表された結果を見ずに決めてください。元に戻すことはできません。",
    ),
    "ledger.rho-filter.examples": Words.same("sudare ledger rho-filter budget.db census"),
    "ledger.rho-filter.reserve": Words(
        "The part of delta for releases with a delta of their own. By default half; it can be chosen only while "
        "nothing is spent.",
        "固有のデルタを持つ公表のために残すデルタ。既定は半分。予算を使う前だけ指定できます。",
    ),
    "ledger.list.help": Words("List all data sets with their balances.", "すべてのデータセットと残高を表示します。"),
    "ledger.list.examples": Words.same("sudare ledger list budget.db\nsudare ledger list budget.db --json"),
    "ledger.show.help": Words(
        "Show a data set: its balance, its entries, and its windows of ticks.",
        "データセットの残高、項目、繰り返し公表の期間を表示します。",
    ),
    "ledger.show.examples": Words.same("sudare ledger show budget.db census"),
    "ledger.verify.help": Words(
        "Check that nothing in a ledger was changed.\n\nExit code 7 if something was.",
        "台帳が改変されていないことを検査します。\n\n改変があれば終了コードは 7 です。",
    ),
    "ledger.verify.examples": Words.same(
        "sudare ledger verify budget.db\nsudare ledger verify budget.db --known 42:3f0a..."
    ),
    "ledger.verify.known": Words(
        "An earlier end of the ledger that was kept elsewhere; it must still be there.",
        "別の場所に控えておいた以前の末尾。今も台帳に残っているかを検査します。",
    ),
    "ledger.export.help": Words(
        "Write all entries as JSON lines, with hashes, without secrets.",
        "すべての項目を JSON Lines で書き出します。\n\nハッシュを含み、秘密情報は含みません。",
    ),
    "ledger.export.examples": Words.same(
        "sudare ledger export budget.db > entries.jsonl\nsudare ledger export budget.db --out entries.jsonl"
    ),
    "ledger.export.out": Words("A file. Left out: stdout.", "ファイル。省略すると標準出力。"),
    "ledger.opt-out.help": Words(
        "Note that a person is not to be counted any more. Only a salted hash is kept.",
        "今後数えないでほしい人を記録します。\n\nソルト付きハッシュだけを保存します。",
    ),
    "ledger.opt-out.examples": Words.same(
        "sudare ledger opt-out budget.db census 1234567\nsudare ledger opt-out budget.db census - < people.txt"
    ),
    "ledger.opt-out.person": Words(
        "The person's identifier as it stands in the data; - reads one a line from stdin.",
        "データにあるとおりの識別子。- なら標準入力から1行に1人ずつ読みます。",
    ),
}

SPOKEN: Mapping[str, Words] = {
    "budget.missing": Words(
        "Give the budget by --epsilon (with --delta or without), or by --rho.",
        "予算を --epsilon（必要なら --delta も）または --rho で指定してください。",
    ),
    "budget.no_number": Words(
        "--{name} must be a number such as 0.5 or 1e-6. Got '{text}'.",
        "--{name} は 0.5 や 1e-6 のような数値です（指定: 「{text}」）。",
    ),
    "balance.dataset": Words("data set", "データセット"),
    "balance.total": Words("total", "総予算"),
    "balance.spent": Words("spent", "使用済み"),
    "balance.reserved": Words("reserved", "予約中"),
    "balance.remaining": Words("remaining", "残り"),
    "balance.filter_left": Words(
        "{left} (a single pure release: {most} at most; delta {delta} in reserve)",
        "{left}（純粋なイプシロンの公表は 1 件あたり {most} まで、予備のデルタ {delta}）",
    ),
    "balance.rule": Words("rule", "規則"),
    "balance.committed": Words("spent or reserved, in epsilon", "使用済みと予約中（イプシロン換算）"),
    "balance.publications": Words("published besides", "その他の公表"),
    "balance.charge": Words("this release", "今回の公表"),
    "balance.after": Words("afterwards", "実行後の残り"),
    "balance.nothing": Words("nothing", "なし"),
    "balance.unknown": Words("not known, see the error", "不明（エラーを参照）"),
    "balance.short": Words("not enough for a new release", "新しい公表には不足しています"),
    "charged.nothing": Words("Nothing was charged.", "予算は使われていません。"),
    "charged.not_begun": Words(
        "Nothing was charged. The same command starts anew.",
        "予算は使われていません。同じコマンドで最初から実行できます。",
    ),
    "charged.given_back": Words(
        "Nothing was charged: no noise had been drawn, so the charge was given back (entry {entry}). The same command starts "
        "anew.",
        "予算は使われていません。ノイズを生成する前に止まったため、費用は戻されました（項目 {entry}）。"
        "同じコマンドで最初から実行できます。",
    ),
    "charged.reserved": Words(
        "The ledger holds the charge of this release as spent (entry {entry}): noise may have been drawn. Nothing was published. "
        "The same command asks before it charges once more; where nobody can be asked, it needs --again.",
        "この公表の費用は、台帳で使用済みとして扱われます（項目 {entry}）。ノイズが生成された可能性があるためです。"
        "公表はされていません。同じコマンドをもう一度実行すると、再び予算を使う前に確認します"
        "（確認できない環境では --again が必要です）。",
    ),
    "charged.window_reserved": Words(
        "The ledger holds the charge of this release as spent (entry {entry}): noise may have been drawn. Nothing was published. "
        "The same command goes on with the same counts and the same noise, at no further cost.",
        "この公表の費用は、台帳で使用済みとして扱われます（項目 {entry}）。ノイズが生成された可能性があるためです。"
        "公表はされていません。同じコマンドをもう一度実行すると、同じ度数と同じノイズで再開します（追加の費用はかかりません）。",
    ),
    "charged.before": Words(
        "An earlier run of this very plan was stopped after noise may have been drawn (ledger entry {entries}). Its charge stays "
        "spent, and nothing was published. Going on charges {charge} once more.",
        "同じ計画の以前の実行が、ノイズが生成された可能性のある段階で止まっています（台帳の項目 {entries}）。"
        "その費用は使用済みのままで、公表はされていません。続けると、さらに {charge} を使います。",
    ),
    "charged.before_in_scripts": Words(
        "An earlier run of this very plan was stopped after noise may have been drawn (ledger entry {entries}). Its charge stays "
        "spent, and nothing was published. To charge {charge} once more, add --again.",
        "同じ計画の以前の実行が、ノイズが生成された可能性のある段階で止まっています（台帳の項目 {entries}）。"
        "その費用は使用済みのままで、公表はされていません。さらに {charge} を使って実行するには、--again を付けてください。",
    ),
    "charged.ask_again": Words("Spend it once more and publish?", "もう一度予算を使って公表しますか。"),
    "charged.settled": Words(
        "The release was charged and is complete (entry {entry}); the same command shows it, free.",
        "この公表は記帳され、完成しています（項目 {entry}）。同じコマンドで、予算を使わずに表示できます。",
    ),
    "charged.unknown": Words(
        "The ledger cannot be read now: 'sudare ledger show' tells whether something was charged.",
        "台帳を読めないため、予算が使われたかどうかは 'sudare ledger show' で確認してください。",
    ),
    "charged.query_given_back": Words(
        "Nothing was charged: no row had been read, so the charge was given back (entry {entry}). The same query can be asked "
        "again.",
        "予算は使われていません。行を読む前に止まったため、費用は戻されました（項目 {entry}）。"
        "同じクエリをもう一度実行できます。",
    ),
    "charged.query_reserved": Words(
        "The cost of the query stays spent (entry {entry}): the database may have been read. No answer was given. The same query "
        "asks before it charges once more; where nobody can be asked, it needs `sudare sql run --again`.",
        "データベースが読まれた可能性があるため、クエリの費用は消費されたままです（項目 {entry}）。回答は得られていません。"
        "同じクエリをもう一度実行すると、再び予算を使う前に確認します"
        "（確認できない環境では `sudare sql run --again` が必要です）。",
    ),
    "charged.query_before": Words(
        "This very query was stopped earlier, when the database may have been read (ledger entry {entries}). Its cost stays "
        "spent, and no answer was given. Going on charges {charge} once more.",
        "同じクエリの以前の実行が、データベースが読まれた可能性のある段階で止まっています（台帳の項目 {entries}）。"
        "その費用は消費されたままで、回答は得られていません。続けると、さらに {charge} を使います。",
    ),
    "charged.query_before_in_scripts": Words(
        "This very query was stopped earlier, when the database may have been read (ledger entry {entries}). Its cost stays "
        "spent, and no answer was given. To charge {charge} once more, ask with `sudare sql run --again`.",
        "同じクエリの以前の実行が、データベースが読まれた可能性のある段階で止まっています（台帳の項目 {entries}）。"
        "その費用は消費されたままで、回答は得られていません。さらに {charge} を使って実行するには、"
        "`sudare sql run --again` を使ってください。",
    ),
    "charged.query_ask_again": Words("Spend it once more and answer?", "もう一度予算を使って回答を得ますか。"),
    "charged.query_settled": Words(
        "The query was charged and its answer is kept (entry {entry}); the same query shows it, free.",
        "クエリの費用は記帳され、回答は保存されています（項目 {entry}）。同じクエリで、予算を使わずに表示できます。",
    ),
    "ledger.entry": Words("entry", "項目"),
    "ledger.time": Words("time", "日時"),
    "ledger.kind": Words("kind", "種類"),
    "ledger.says": Words("what it says", "内容"),
    "ledger.description": Words("description", "説明"),
    "ledger.created": Words("Made the ledger {location}.", "台帳 {location} を作成しました。"),
    "ledger.added": Words("Added '{dataset}' with {total} in all.", "「{dataset}」を総予算 {total} で登録しました。"),
    "ledger.filtered": Words("Costs add up by a {rule}.", "費用の数え方: {rule}。"),
    "ledger.rule_filter": Words(
        "rho filter: rho up to {rho}; of delta, {conversion} for the conversion and {reserve} in reserve",
        "ローのフィルター（ローの上限 {rho}、デルタのうち換算用 {conversion}、予備 {reserve}）",
    ),
    "ledger.filter_counts": Words(
        "What was spent before counts by it too. Left: {left}. If this was decided after looking at results, the "
        "guarantee is delta = {delta} at worst.",
        "これまでの消費もこの規則で数えます。残り: {left}。公表された結果を見て決めた場合、保証は最悪で delta = "
        "{delta} になります。",
    ),
    "ledger.empty": Words(
        "{location} has no data sets yet; 'sudare ledger add' adds one.",
        "{location} にはまだデータセットがありません。'sudare ledger add' で登録できます。",
    ),
    "ledger.publications": Words(
        "'{dataset}': {number} published without a privacy guarantee, which no budget covers.",
        "「{dataset}」には、予算の対象外の（プライバシー保証のない）公表が {number} 件あります。",
    ),
    "ledger.no_guarantee": Words(
        "{number} without a privacy guarantee, which no budget covers",
        "プライバシー保証のない公表 {number} 件（予算の対象外）",
    ),
    "ledger.exported": Words("Wrote {number} entries.", "{number} 件の項目を書き出しました。"),
    "ledger.opted_out": Words(
        "Noted for '{dataset}': {number} opted out.",
        "「{dataset}」に {number} 人の除外を記録しました。",
    ),
    "ledger.spelling": Words(
        "Person number {number} has blanks around it, or characters that cannot be printed. Write it exactly as in "
        "the data. Nobody was opted out.",
        "{number} 番目の識別子の前後に空白があるか、印字できない文字が含まれています。"
        "データと同じ表記で書いてください。誰も除外されていません。",
    ),
    "ledger.nobody": Words("No identifier was given.", "識別子が指定されていません。"),
    "ledger.bad_head": Words(
        "--known must be a number, a colon and 64 hexadecimal digits, as 'sudare ledger verify' shows them.",
        "--known には、'sudare ledger verify' が表示する「番号:64桁の16進数」を指定してください。",
    ),
    "ledger.sound": Words(
        "All {number} entries are as they were written.",
        "{number} 件の項目はすべて書かれたままです。",
    ),
    "ledger.unsound": Words("The ledger was CHANGED: {number} findings.", "台帳が改変されています: {number} 件。"),
    "ledger.keep_head": Words(
        "Keep this elsewhere, for --known next time: {head}",
        "次回の --known のために、別の場所に控えてください: {head}",
    ),
    "ledger.windows": Words("Windows of repeated releases", "繰り返し公表の期間"),
    "ledger.purpose": Words("what for", "用途"),
    "ledger.published": Words("published", "公表"),
    "ledger.missing": Words("missing", "欠測"),
    "ledger.to_come": Words("to come", "残り"),
    "ledger.cost": Words("cost", "費用"),
    "ledger.closed": Words("closed", "終了"),
    "ledger.each_window": Words(
        "Each window costs {cost}; {number} so far: {together}. This is the promise to somebody who was in all of them.",
        "1期間の費用は {cost}、これまでの {number} 期間の合計は {together} です。すべての期間に現れる人への保証はこの合計です。",
    ),
    "ledger.all_windows": Words(
        "{number} windows so far cost {together}. This is the promise to somebody who was in all of them.",
        "これまでの {number} 期間の費用の合計は {together} です。すべての期間に現れる人への保証はこの合計です。",
    ),
    "ledger.tick_entries": Words(
        "{number} entries about single ticks are not listed here; 'sudare ledger export' has them.",
        "個々の時点についての {number} 件の項目は省略しています（'sudare ledger export' で出力できます）。",
    ),
    "ledger.ticks_without_protects": Words(
        "--ticks belongs to --protects person-day or person-window.",
        "--ticks は --protects person-day または person-window とともに指定してください。",
    ),
    "ledger.protects_needs_ticks": Words(
        "--protects {span} needs --ticks, the number of ticks of a window.",
        "--protects {span} には、1期間の時点の数 --ticks が必要です。",
    ),
    "entry.dataset": Words("data set", "登録"),
    "entry.reserve": Words("reserved", "予約"),
    "entry.settle": Words("settled", "確定"),
    "entry.cancel": Words("cancelled", "取消"),
    "entry.opt-out": Words("opted out", "除外"),
    "entry.publish": Words("published", "公表"),
    "entry.rule": Words("rule", "規則"),
    "entry.says_window": Words("a window of {ticks} ticks: {said}", "{ticks} 時点の期間: {said}"),
    "entry.says_rule": Words(
        "costs add up by a rho filter from now on, those before included: rho up to {rho}",
        "以後、過去の分も含めてローのフィルターで数えます（上限 {rho}）",
    ),
    "entry.says_total": Words("{budget} in all", "総予算 {budget}"),
    "entry.says_cost": Words("{budget} for {purpose}", "{budget}: {purpose}"),
    "entry.says_settled": Words(
        "of entry {reservation}: {budget}, {mechanism}",
        "項目 {reservation} を確定: {budget}、{mechanism}",
    ),
    "entry.says_cancelled": Words("of entry {reservation}: {reason}", "項目 {reservation} を取消: {reason}"),
    "entry.says_nothing": Words("a salted hash", "ソルト付きハッシュ"),
    "entry.says_published": Words(
        "without a guarantee: {title}, in {folder}",
        "プライバシー保証なし: {title}（{folder}）",
    ),
}
