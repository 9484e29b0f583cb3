"""The texts of the page of a comparison, in English and Japanese."""

from __future__ import annotations

from sudare.bilingual import Words

__all__ = ["TEXTS"]

TEXTS: dict[str, Words] = {
    "kind": Words("Comparison of methods", "保護方法の比較"),
    "by": Words("Compared by {name}", "作成: {name}"),
    "for_holder": Words("For research, or for whoever holds the data.", "研究用、またはデータ保有者用です。"),
    "for_holder_text": Words(
        "Every figure is measured by the truth, and all noise was drawn from a seed. No budget was spent, and nothing "
        "here is a release. Do not publish it about protected data.",
        "数値はすべて真のデータと比べて測り、ノイズはシードから生成しました。予算は使っておらず、公表物ではありません。"
        "保護すべきデータについての結果は公表しないでください。",
    ),
    "invented": Words("Nobody in these data is real.", "このデータに実在の人はいません。"),
    "people": Words("People in the file", "ファイルの人数"),
    "cells": Words("Cells of the table", "表のセル数"),
    "rare": Words("Rare people", "珍しい人"),
    "settings": Words("Methods and settings", "方法と設定"),
    "settings_value": Words("{methods} methods, {settings} settings", "{methods} 方法、{settings} 設定"),
    "picture": Words("The picture", "図"),
    "picture_lead": Words(
        "Each method is a line through its settings. To the left: what a reader learns is right. Down: an attacker "
        "learns less. The lower left corner is where one would like to be.",
        "線は一つの方法、点はその設定です。左ほど読み手の得る数値が正しく、下ほど攻撃者の得る情報が少なくなります。左下"
        "が理想です。",
    ),
    "picture_marks": Words(
        "Filled dots and solid lines: differential privacy, where a dotted line shows the most that any attacker can "
        "reach with that epsilon. Hollow squares and dashed lines: no guarantee; a better attack may do better. An "
        "error of 0 stands at the left end.",
        "塗りつぶした点と実線は差分プライバシーの方法で、点線はその ε でどの攻撃者も超えられない上限です。白抜きの四角"
        "と破線の方法に保証はなく、より巧妙な攻撃ではもっと見破られることがあります。誤差 0 は左端に置きます。",
    ),
    "more_pictures": Words("Other axes", "ほかの軸"),
    "more_lead": Words(
        "The same methods for finer tables, and for people who are the only ones of their kind.",
        "より細かい表の場合と、組合せがただ一人の人の場合です。",
    ),
    "table": Words("The figures", "数値"),
    "table_lead": Words(
        "Mean over the runs, with its standard error below; everything in percent. ≤ is the most that epsilon allows.",
        "実行の平均と、その下に標準誤差を示します（単位はすべて %）。≤ は ε による上限です。",
    ),
    "method": Words("method", "方法"),
    "setting": Words("setting", "設定"),
    "runs": Words("{number} runs", "{number} 回"),
    "lost": Words("People misplaced in tables of ...", "誤配置（表の大きさ別）"),
    "shown": Words("In cells", "セル"),
    "presence": Words("Rare people", "珍しい人"),
    "value": Words("Value: gain", "機微な値: 差"),
    "alone": Words("Only ones", "唯一の人"),
    "most": Words("≤ {value}", "≤ {value}"),
    "read": Words("How to read it", "読み方"),
    "read_data": Words(
        "Of the {people} people in the file, a fair coin decides for each whether they are in the data; methods see these "
        "people only. The others are people like them who are not. Every run draws anew, and all methods get the same "
        "halves.",
        "ファイルの {people} 人それぞれについて、公平なコイン投げでデータに含めるかどうかを決め、各方法はその人たちだけを見ま"
        "す。残りは、同じような、データにいない人です。実行ごとに引き直し、どの方法にも同じ半数を与えます。",
    ),
    "read_lost": Words(
        "Misplaced: whatever is published becomes a reader's best table of counts. Half of the sum of its errors, as a "
        "share of all people, is how many are counted in the wrong place. Above 100% where noise adds people who do "
        "not exist.",
        "誤配置: 公表されたものから読み手が作る最良の集計表を真の表と比べ、絶対誤差の合計の半分を全人数で割った値です。"
        "誤った場所に数えられた人の割合を表します。ノイズで実在しない人が増えると 100% を超えます。",
    ),
    "read_presence": Words(
        "Told apart: the attacker has a register of everybody and asks who is in the data. Of one rare person who is, "
        "and one who is not, they name the right one so often; 50% is guessing. Found: the share of rare people in the "
        "data whom they find while they wrongly accuse {alarms} of the others. Rare: at most {rare} people alike in the "
        "register.",
        "見分け: 攻撃者は全員の名簿を持ち、誰がデータにいるかを推測します。データにいる珍しい人といない珍しい人を一人ず"
        "つ示されて、正しく見分ける割合です（50% は当て推量）。発見: データにいない人の {alarms} を誤って疑う条件で、デ"
        "ータにいる珍しい人を見つける割合です。珍しい人とは、名簿で同じ組合せが {rare} 人以下の人です。",
    ),
    "read_value": Words(
        "Sensitive value: they know all columns but the last and guess it. What they would guess about people outside "
        "the data just as well is no breach; the gain is how much better they do about those inside. Certain: where "
        "one value only is left.",
        "機微な値: 最後の列以外をすべて知る攻撃者が最後の列を推測します。データにいない人についても同じように当たるなら"
        "侵害ではないため、データにいる人の的中率との差を示します。断定は、可能な値が一つだけ残る場合です。",
    ),
    "read_alone": Words(
        "Only one of a kind: of those who are alone in their cell, the share of whom the publication says so; and how "
        "often that is right.",
        "唯一の人: セルにただ一人の人のうち、公表物がそう示す割合と、その指摘が正しい割合です。",
    ),
    "not": Words("What it does not show", "示していないこと"),
    "not_attacks": Words(
        "These attacks are simple. For methods without a guarantee a better one may find more; for the others epsilon "
        "is the limit, whatever the attacker knows and does.",
        "ここでの攻撃は単純なものです。保証のない方法では、より巧妙な攻撃でもっと多くが分かるかもしれません。保証のある"
        "方法では、攻撃者が何を知り何をしても ε が上限です。",
    ),
    "not_again": Words(
        "One publication by itself. With a second table of the same people, differences, averages or a reconstruction, "
        "methods without a guarantee lose more than is seen here.",
        "一回の公表だけを見ています。同じ人たちの別の表との差分、平均、再構成と組み合わせると、保証のない方法ではここに"
        "見える以上のことが漏れます。",
    ),
    "not_variants": Words(
        "One common variant of each method: hidden cells in one table with subtotals where empty cells are shown, "
        "global recoding with at most 5% of the records left out, areas exchanged between records drawn fairly, cell "
        "keys on every table with zeros kept. Others lie elsewhere.",
        "各方法の一般的な形を一つずつ比べています。小計のある一つの表の秘匿（空のセルは表示）、レコードの 5% まで除く大域的"
        "な一般化、無作為に選んだレコードどうしの地域のスワッピング、0 を保つ全表のセルキー法です。"
        "ほかの形なら図の位置は変わります"
        "。",
    ),
    "record": Words("Record", "記録"),
    "source": Words("Data", "データ"),
    "columns": Words("Columns (values)", "列（値の数）"),
    "seed": Words("Seed", "シード"),
    "files": Words(
        "All figures are in comparison.csv and report.json.",
        "すべての数値は comparison.csv と report.json にあります。",
    ),
    "no_file": Words("an invented town", "架空の町"),
    "made_with": Words("Made with sudare {version}", "sudare {version} で作成"),
}
