"""The words of private SQL, in English and Japanese."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, Words] = {
    "sql.help": Words(
        "Ask a database in SQL, with a privacy guarantee. The database is never changed.\n\nEvery query is charged "
        "to a ledger before anything is read; the very same query asked again is free.",
        "プライバシー保護のもとで、データベースに SQL で問い合わせます。データベースは変更しません。\n\n"
        "費用は読み取りの前に台帳に記録されます。同じクエリをもう一度尋ねても無料です。",
    ),
    "sql.examples": Words.same(
        "sudare sql describe --data shop.duckdb --out shop.toml\nsudare sql run --data shop.duckdb --metadata "
        "shop.toml --ledger budget.db --dataset shop --epsilon 0.5 'SELECT count(*) FROM orders'"
    ),
    "sql.run.help": Words(
        "Answer a query privately: charge the ledger, let the database count, and add noise.\n\nA query that was "
        "answered before is shown again and costs nothing. One that fails in the database stays charged.",
        "費用を台帳に記録し、ノイズを加えてクエリに答えます。\n\n以前に答えたクエリは無料で再表示します。"
        "データベースで失敗したクエリの費用は戻りません。",
    ),
    "sql.run.examples": Words.same(
        "sudare sql run --epsilon 0.5 'SELECT count(*) FROM orders'\nsudare sql run --data shop.duckdb --metadata "
        "shop.toml --ledger budget.db --dataset shop --epsilon 0.5 -f query.sql --out answer.csv"
    ),
    "sql.run.out": Words(
        "Write the answer to this .csv or .parquet file.",
        "回答を書き出す .csv または .parquet ファイル。",
    ),
    "sql.run.intervals": Words(
        "In the file, put the interval and the noise of each number behind its column, and mark groups that are "
        "perhaps empty in the last one.",
        "ファイルの各列の後ろに、区間とノイズの大きさの列を加え、"
        "誰もいない可能性のあるグループの印を最後の列に付けます。",
    ),
    "sql.run.again": Words(
        "Draw, and spend, once more even if the very same query was answered before.",
        "以前に答えたクエリでも新たにノイズを引きます（予算をもう一度使います）。",
    ),
    "sql.explain.help": Words(
        "Show what a query becomes: the SQL for the database, sensitivities, noise, and every change of "
        "meaning.\n\nReads no private row and charges nothing.",
        "クエリがどう変わるかを示します（送られる SQL、感度、ノイズ、意味の違い）。\n\n非公開の行は読まず、"
        "費用もかかりません。",
    ),
    "sql.explain.examples": Words.same(
        "sudare sql explain --epsilon 1 'SELECT sum(price) FROM orders'\nsudare sql explain --data shop.duckdb "
        "--metadata shop.toml --epsilon 1 -f query.sql"
    ),
    "sql.explain.ledger": Words(
        "Ignored; allowed so that the options of run and price can be used again.",
        "使いません。run や price と同じオプションをそのまま書けるように受け付けます。",
    ),
    "sql.explain.sql_dataset": Words("Ignored, as --ledger is.", "使いません（--ledger と同様）。"),
    "sql.explain.analyst": Words("Ignored, as --ledger is.", "使いません（--ledger と同様）。"),
    "sql.price.help": Words(
        "Show what a query costs, how accurate it will be, and what would be left.\n\nReads no private row and "
        "charges nothing.",
        "クエリの費用、正確さ、残る予算を示します。\n\n非公開の行は読まず、費用もかかりません。",
    ),
    "sql.price.examples": Words.same(
        "sudare sql price --epsilon 1 'SELECT count(*) AS n FROM orders'\nsudare sql price --error n=100 'SELECT "
        "count(*) AS n FROM orders'"
    ),
    "sql.price.error": Words(
        "Find the smallest epsilon for which this column is within this number, with 95 %.",
        "この列の誤差が 95 % の確率でこの数以内になる最小のイプシロンを求めます。",
    ),
    "sql.shell.help": Words(
        "Ask one query after the other.\n\nA query ends with a semicolon. \\d lists tables, \\budget balances; "
        "\\price and \\explain stand before a query; \\q ends.",
        "続けて問い合わせます。\n\nクエリはセミコロンで終わります。\\d で表の一覧、\\budget で残高、\\price と "
        "\\explain はクエリの前に付け、\\q で終了します。",
    ),
    "sql.shell.examples": Words.same(
        "sudare sql shell --epsilon 0.1\nsudare sql shell --data shop.duckdb --metadata shop.toml --ledger "
        "budget.db --dataset shop --epsilon 0.1"
    ),
    "sql.describe.help": Words(
        "Draft the metadata file from the schema. Reads no row.\n\nThe draft has a question mark wherever a person "
        "must decide.",
        "表の構造からメタデータファイルの下書きを作ります。行は読みません。\n\n"
        "人が決めるべき箇所には疑問符が入ります。",
    ),
    "sql.describe.examples": Words.same(
        "sudare sql describe --data shop.duckdb --out shop.toml\nsudare sql describe --data "
        "postgresql://office@host/shop --table orders"
    ),
    "sql.describe.table": Words("Only this table; may be given several times.", "この表だけ。複数回指定できます。"),
    "sql.describe.out": Words("A file. Left out: stdout.", "ファイル。省略すると標準出力。"),
    "sql.check.help": Words(
        "Compare the metadata with the database. Exit code 7 if they differ.\n\nLooks at names and types alone, "
        "unless --as-owner is given.",
        "メタデータとデータベースを比べます。異なれば終了コード 7。\n\n--as-owner がなければ、名前と型だけを調べます。",
    ),
    "sql.check.examples": Words.same(
        "sudare sql check --data shop.duckdb --metadata shop.toml\nsudare sql check --data shop.duckdb --metadata "
        "shop.toml --as-owner"
    ),
    "sql.check.as_owner": Words(
        "Also read all rows and check keys, NULLs and values. The answers are exact, not private: for the owner of "
        "the data alone.",
        "すべての行を読み、キー・NULL・値も調べます。結果は正確で、保護されていません。データの所有者専用です。",
    ),
}

SPOKEN: Mapping[str, Words] = {
    "sql.two_queries": Words(
        "Give the query or a file with it, not both.",
        "クエリとファイルは、どちらか一方だけを指定してください。",
    ),
    "sql.no_query": Words(
        "There is no query: give it as an argument, with --file, or on stdin.",
        "クエリがありません。引数、--file、または標準入力で指定してください。",
    ),
    "sql.no_file": Words(
        "The file '{file}' cannot be read as text.",
        "ファイル「{file}」をテキストとして読めません。",
    ),
    "sql.no_error": Words(
        "--error takes a column and a number, such as n=100. Got '{text}'.",
        "--error には n=100 のように列名と数を指定してください。指定されたのは「{text}」です。",
    ),
    "sql.drafted": Words(
        "Wrote {out}. Replace every question mark before it is used.",
        "{out} を作りました。使う前に疑問符をすべて置き換えてください。",
    ),
    "sql.sound": Words("The metadata fit the database.", "メタデータはデータベースと一致しています。"),
    "sql.broken": Words(
        "{number} of the metadata's statements do not hold.",
        "メタデータの {number} 件の記述が成り立ちません。",
    ),
    "sql.confidential": Words(
        "This was read without noise. It is confidential: do not pass it on.",
        "ノイズなしで読んだ結果です。機密なので外部に渡さないでください。",
    ),
    "sql.public": Words(
        "Only public tables were asked: the answer is exact and free.",
        "公開の表だけを使ったため、回答は正確で、無料です。",
    ),
    "sql.repeated": Words(
        "Answered before (ledger entry {entry}): nothing was charged. Left: {left}.",
        "以前に回答済みです（台帳の項目 {entry}）。費用はかかりません。残り: {left}。",
    ),
    "sql.charged": Words("Charged {cost}. Left: {left}.", "費用 {cost}。残り: {left}。"),
    "sql.more": Words("and {count} more rows", "ほか {count} 行"),
    "sql.perhaps_empty": Words(
        "* Perhaps nobody is in this group: its noisy count is no larger than its error. Numbers other than counts "
        "and sums mean nothing then.",
        "* このグループには誰もいない可能性があります（ノイズを加えた件数が誤差以下です）。その場合、"
        "件数と合計以外の数に意味はありません。",
    ),
    "sql.rank_error": Words(
        "± rows: with 95 % no more rows lie between the number and the wanted one (for MIN and MAX: beyond it), "
        "where there are as many.",
        "± 行: 95 % の確率で、求める順位との間（MIN・MAX では外側）"
        "にある行はこの数以下です（それだけの行がある場合）。",
    ),
    "sql.column": Words("column", "列"),
    "sql.measured": Words("measured", "測る量"),
    "sql.mechanism": Words("noise", "ノイズ"),
    "sql.scale": Words("scale", "大きさ"),
    "sql.error": Words("error (95 %)", "誤差 (95 %)"),
    "sql.share": Words("cost", "費用"),
    "sql.exact": Words("exact", "正確"),
    "sql.laplace": Words("Laplace", "ラプラス"),
    "sql.gaussian": Words("Gaussian", "ガウス"),
    "sql.exponential": Words("a noisy choice", "ノイズ付きの選択"),
    "sql.rows": Words("rows", "行"),
    "sql.answered": Words("nothing: answered before", "なし（回答済み）"),
    "sql.cost": Words("cost", "費用"),
    "sql.remaining": Words("left afterwards, {name}", "実行後の残り（{name}）"),
    "sql.not_allowed": Words("The budget does not allow it.", "予算が足りません。"),
    "sql.queries_left": Words("such queries left now", "現在の残りで可能な回数"),
    "sql.threshold": Words("groups are published from", "グループを公表する下限"),
    "sql.public_table": Words("public", "公開"),
    "sql.private_table": Words("private", "非公開"),
    "sql.type": Words("type", "型"),
    "sql.bounds": Words("bounds", "範囲"),
    "sql.values": Words("values", "値"),
    "sql.waiting": Words("The database is counting ...", "データベースが集計しています…"),
    "sql.welcome": Words(
        "A query ends with a semicolon. \\d tables, \\budget, \\price QUERY; \\explain QUERY; \\q ends.",
        "クエリはセミコロンで終わります。\\d 表、\\budget 残高、\\price クエリ; \\explain クエリ; \\q 終了。",
    ),
    "sql.shell_help": Words(
        "\\d tables; \\budget what is left; \\price QUERY; \\explain QUERY; \\q end. Queries end with a semicolon.",
        "\\d 表、\\budget 残高、\\price クエリ; \\explain クエリ; \\q 終了。クエリはセミコロンで終わります。",
    ),
}
