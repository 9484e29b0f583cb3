"""Texts of the pages on which questions are asked in SQL."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["QUERIES"]

QUERIES: Mapping[str, Words] = {
    "queries": Words.same("SQL"),
    "queries.title": Words("Ask in SQL", "SQL で問い合わせる"),
    "queries.lead": Words(
        "The price and the error of a question are shown before it is asked. A question that was asked before is free.",
        "質問の価格と誤差は、実行の前に表示されます。一度行った質問は無料です。",
    ),
    "queries.where": Words("Where", "対象"),
    "queries.data": Words("Data", "データ"),
    "queries.metadata": Words("Who is protected (metadata)", "保護の対象（メタデータ）"),
    "queries.account": Words("Charge it to", "課金先"),
    "queries.choose": Words("Use these", "これを使う"),
    "queries.nothing": Words(
        "There is no metadata file or no ledger here yet. Choose a data file on the first page and “Questions in SQL”.",
        "メタデータまたは台帳がまだありません。最初のページでデータファイルを選び、「SQL による問い合わせ」に進んでください。",
    ),
    "queries.left": Words("Left", "残り"),
    "queries.schema": Words("What can be asked about", "問い合わせできる表"),
    "queries.public": Words("public", "公開"),
    "queries.private": Words("protected", "保護対象"),
    "queries.type": Words("Type", "型"),
    "queries.bounds": Words("Bounds", "範囲"),
    "queries.values": Words("Values", "値"),
    "queries.question": Words("Question", "質問"),
    "queries.sql": Words(
        "A query with aggregates, such as SELECT count(*) AS people FROM …",
        "集計を行う SQL（例: SELECT count(*) AS people FROM …）",
    ),
    "queries.epsilon": Words("Epsilon of this question", "この質問の ε"),
    "queries.price_do": Words("See the price", "価格を確認する"),
    "queries.price": Words("Price", "価格"),
    "queries.cost": Words("Cost", "予算"),
    "queries.free": Words("nothing: it was answered before", "なし（回答済み）"),
    "queries.public_only": Words("nothing: only public tables are asked", "なし（公開の表だけを使用）"),
    "queries.after": Words("Left afterwards", "実行後の残り"),
    "queries.not_allowed": Words("The budget does not allow this question.", "残りの予算では、この質問を行えません。"),
    "queries.more": Words("Such questions left", "同じ質問の残り回数"),
    "queries.column": Words("Column", "列"),
    "queries.measured": Words("Measured", "測定"),
    "queries.noise": Words("Noise", "ノイズ"),
    "queries.error": Words("Error (95 %)", "誤差（95 %）"),
    "queries.rows_off": Words("rows", "行"),
    "queries.laplace": Words("Laplace", "ラプラス"),
    "queries.gaussian": Words("Gaussian", "ガウス"),
    "queries.exponential": Words("noisy choice", "ノイズ付きの選択"),
    "queries.meaning": Words("How the answer differs from the query as it was written", "書かれた SQL との意味の違い"),
    "queries.ask": Words("Spend {cost} and ask", "{cost} を使って質問する"),
    "queries.ask_free": Words("Ask (free)", "質問する（無料）"),
    "queries.answer": Words("Answer", "回答"),
    "queries.charged": Words("Charged: {cost} (entry {entry})", "課金: {cost}（{entry} 番）"),
    "queries.repeated": Words("Answered before: nothing was charged.", "回答済みのため、課金されていません。"),
    "queries.uncharged": Words(
        "Only public tables were asked: nothing was charged.", "公開の表だけを使ったため、課金されていません。"
    ),
    "queries.chart": Words(
        "{column}, with the interval that holds the number without noise in 95 % of cases",
        "{column}（ノイズのない値を 95 % の確率で含む区間つき）",
    ),
    "queries.cut": Words("The first {shown:,} of {total:,} rows", "{total:,} 行のうち最初の {shown:,} 行"),
    "queries.history": Words("History of this account", "この課金先の履歴"),
    "queries.no_history": Words("Nothing was asked yet.", "まだ質問はありません。"),
    "queries.changed_price": Words(
        "The price is not the one that you confirmed. Look at it once more; nothing was charged.",
        "価格が確認時と異なります。もう一度確認してください（課金されていません）。",
    ),
    "queries.no_epsilon": Words("'{value}' is no epsilon.", "「{value}」は ε として使えません。"),
    "queries.new_title": Words("Who is protected?", "誰を保護しますか"),
    "queries.new_lead": Words(
        "This draft was made from names and types of columns alone. Replace every question mark; all of it is public, so decide "
        "it without looking at the data.",
        "列の名前と型だけから作った下書きです。「?」をすべて置き換えてください。内容は公開されるため、データを見ずに決めてください。",
    ),
    "queries.draft": Words("Metadata", "メタデータ"),
    "queries.total": Words("Total epsilon of the new ledger", "新しい台帳の総予算 ε"),
    "queries.save": Words("Save and ask", "保存して質問する"),
    "queries.too_long": Words("The question is too long.", "質問が長すぎます。"),
}
