"""What each method protects, what it keeps, and what it does not do, in plain words for readers of a report."""

from __future__ import annotations

from sudare.bilingual import Words

__all__ = ["KEEPS", "LIMITS", "METHOD_NAMES", "NO_SECONDARY", "NO_SINGLETONS", "PROTECTS"]

METHOD_NAMES = {
    "suppress": Words("Cell suppression", "セルの秘匿"),
    "round": Words("Controlled rounding", "加法性を保つ丸め"),
    "cell-key": Words("Cell keys", "セルキー法"),
    "merge-meshes": Words("Merged meshes", "メッシュの合算"),
    "none": Words("No protection", "保護なし"),
}
PROTECTS = {
    "suppress": Words(
        "Cells that would say too much about few contributors are hidden. Further cells are hidden with them, so that nobody can "
        "work out the first ones from totals: each stays uncertain within an interval that was required beforehand.",
        "少数の提供者の情報が現れるセルを秘匿し、合計からの引き算で求められないよう、ほかのセルもあわせて秘匿しています。"
        "守るべき各セルの値は、あらかじめ定めた幅の範囲で不確かなままです。",
    ),
    "round": Words(
        "Every cell was rounded to a multiple of {base}, so that small numbers cannot be read exactly. The rounded table "
        "adds up.",
        "すべてのセルを {base} の倍数に丸めているため、小さな数を正確に読み取れません。丸めた後も合計は一致します。",
    ),
    "cell-key": Words(
        "Every count has small noise of at most {largest_deviation}, drawn from a secret key and the people in the cell. The "
        "same cell has the same noise wherever it is published, so that asking again tells nothing.",
        "すべての件数に、秘密の鍵とセルの構成員から決まる小さな雑音（最大 {largest_deviation}）を加えています。"
        "同じセルの雑音はどこでも同じなので、繰り返し尋ねても何もわかりません。",
    ),
    "merge-meshes": Words(
        "The attributes of meshes with fewer than {minimum} people are counted in a neighbour, so that published attributes "
        "always stand for at least {minimum} people.",
        "人口 {minimum} 人未満のメッシュの属性は近くのメッシュに合算しており、"
        "公表される属性は常に {minimum} 人以上についてのものです。",
    ),
    "none": Words("Nothing: the table is published as it is.", "何も保護していません。表はそのまま公表されています。"),
}
KEEPS = {
    "suppress": Words("Every value that is shown is exact.", "公表している値はすべて正確です。"),
    "round": Words(
        "All sums hold. Each value is near the true one, by at most {reach}.",
        "合計はすべて一致します。各値と真の値の差は最大 {reach} です。",
    ),
    "cell-key": Words(
        "Counts are right on average. Sums of published cells differ a little from published totals.",
        "件数は平均的に正しい値です。公表したセルの和は、公表した合計と少し異なります。",
    ),
    "merge-meshes": Words(
        "The population of every mesh, and every total over merged meshes.",
        "各メッシュの人口と、合算したメッシュ全体の合計。",
    ),
    "none": Words("Everything.", "すべて。"),
}
LIMITS = {
    "suppress": Words(
        "Not covered: likelihoods within an interval, contributors who pool what they know, knowledge from elsewhere, and other "
        "tables about the same data that were not protected together with this one.",
        "対象外: 範囲内での値の起こりやすさ、複数の提供者が知識を持ち寄る場合、ほかからの知識、"
        "この表と一緒に保護していない同じデータの別の表。",
    ),
    "round": Words(
        "Not covered: other tables about the same data that are not rounded to the same values, and knowledge from elsewhere. A "
        "multiple of the base may be the exact value.",
        "対象外: 同じ値に丸めていない同じデータの別の表、ほかからの知識。基数の倍数は、元の値そのものであることがあります。",
    ),
    "cell-key": Words(
        "Not covered: differences of many tables, because the noise is small and bounded. Whoever has the key can undo "
        "the noise.",
        "対象外: 多数の表の差し引き（雑音は小さく有界なため）。鍵をもつ人は雑音を取り除けます。",
    ),
    "merge-meshes": Words(
        "Not covered: what a large share of the people in a mesh have in common, and tables with other merged meshes.",
        "対象外: メッシュの大半の人に共通すること、合算の仕方が異なる別の表。",
    ),
    "none": Words(
        "Whatever the table tells about a few contributors, it tells everybody.",
        "少数の提供者について表からわかることは、誰にでもわかります。",
    ),
}
NO_SINGLETONS = Words(
    " Nor does it cover contributors who are alone in a cell, and subtract what they know.",
    "また、一者だけのセルの提供者が、自分の値を差し引いて推定することも対象外です。",
)
NO_SECONDARY = Words(
    "Cells that would say too much about few contributors are hidden, and no others: whatever follows from the totals is not "
    "protected.",
    "少数の提供者の情報が現れるセルだけを秘匿しています。合計からの引き算でわかる値は保護していません。",
)
